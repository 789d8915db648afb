/* SPDX-License-Identifier: MIT */
/* The neighbour cache: MAC addresses and whether they are still valid (RFC 4861 section 7.3.2). ARP
 * uses the same states, with unicast requests (RFC 1122 section 2.3.2.1). */
#ifndef SCPS_LINK_NEIGH_H
#define SCPS_LINK_NEIGH_H

#include <scps/ether.h>

enum scps_nbr_state {
    NBR_FREE,
    NBR_INCOMPLETE, /* the station requests the neighbour's MAC address by multicast or broadcast */
    NBR_REACHABLE,  /* the neighbour has replied within the configured time */
    NBR_STALE,      /* the neighbour's last reply is older, but its MAC address is still used */
    /* a packet was sent to the MAC address since it became stale: a request will follow */
    NBR_DELAY,
    NBR_PROBE /* the station sends requests to the neighbour, by unicast */
};

struct scps_nbr {
    struct scps_addr addr;
    enum scps_nbr_state state;
    uint8_t mac[6]; /* MAC address of the neighbour; not valid in NBR_INCOMPLETE */
    uint32_t tries; /* number of requests without a reply */
    /* time at which the state ends, or the next request is due, µs; SCPS_NEVER: none is due */
    scps_time when;
    /* number that grows with each use of any entry: the entry with the lowest number is replaced
     * first; 0: no packet was sent to the neighbour */
    uint64_t used;
    uint8_t *held;   /* buffer for a packet that waits for the reply */
    size_t held_len; /* length of the packet at `held`, octets; 0: no packet waits */
};

struct scps_nbrs {
    const struct scps_ether_config *cfg;
    struct scps_nbr *v; /* array of cfg->neighbours entries */
    uint64_t uses;
};

/* Returns the entry of an address; NULL: there is none. */
struct scps_nbr *scps_nbr_find(struct scps_nbrs *t, const struct scps_addr *a);
/* Adds an entry for a new address, in state NBR_INCOMPLETE with its first request due at now, in
 * place of a free one, or of the one not used for longest; when no entry is free, at most a quarter
 * of them, at least one, can be in NBR_INCOMPLETE. *lost is set if the replaced entry had a packet
 * waiting. */
struct scps_nbr *scps_nbr_add(struct scps_nbrs *t, const struct scps_addr *a, scps_time now,
                              bool *lost);
/* Adds an entry for a new address that asked for this station, in place of a free entry or of one
 * to which no packet was sent. Returns NULL if there is none: otherwise a station that asks in
 * the names of many addresses would displace the neighbours in use. */
struct scps_nbr *scps_nbr_add_asking(struct scps_nbrs *t, const struct scps_addr *a, scps_time now);
/* Records that a packet is sent to the neighbour now. */
void scps_nbr_use(struct scps_nbrs *t, struct scps_nbr *n, scps_time now);
/* Records a neighbour's MAC address. solicited: the address came in the reply to a request. */
void scps_nbr_learn(struct scps_nbrs *t, struct scps_nbr *n, const uint8_t mac[6], bool solicited,
                    scps_time now);
/* Returns the next entry that is due at now, in its new state; NULL: there is none. For
 * NBR_INCOMPLETE and NBR_PROBE a request must be sent now; an entry in NBR_FREE has been given
 * up. */
struct scps_nbr *scps_nbr_due(struct scps_nbrs *t, scps_time now);
scps_time scps_nbr_deadline(const struct scps_nbrs *t);

#endif
