/* SPDX-License-Identifier: MIT */
/* The neighbour cache: MAC addresses and whether they are still valid (RFC 4861 section 7.3.2). ARP
 * uses the same states, with unicast requests (RFC 1122 section 2.3.2.1). */
#ifndef SCPS_LINK_NEIGH_H
#define SCPS_LINK_NEIGH_H

#include <scps/ether.h>

enum scps_nbr_state {
    NBR_FREE,
    NBR_INCOMPLETE, /* the MAC address is unknown and requested by multicast or broadcast */
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

/* Returns the entry of IP address a in the neighbour cache; NULL: there is none. */
struct scps_nbr *scps_nbr_find(struct scps_nbrs *t, const struct scps_addr *a);
/* Adds an entry for address a, to which a packet is to be sent, in state NBR_INCOMPLETE with its
 * first request due at now, µs. It replaces a free entry, otherwise the one to which no packet was
 * sent for longest; but if a quarter of all entries or more is in NBR_INCOMPLETE, the oldest of
 * these. *lost: the replaced entry had a packet waiting, which is lost. */
struct scps_nbr *scps_nbr_add(struct scps_nbrs *t, const struct scps_addr *a, scps_time now,
                              bool *lost);
/* Adds an entry for address a, from which a request for this station has come, in place of a free
 * entry or of one to which no packet was ever sent. Returns NULL if there is none, so that requests
 * from many forged addresses do not displace neighbours in use. */
struct scps_nbr *scps_nbr_add_asking(struct scps_nbrs *t, const struct scps_addr *a, scps_time now);
/* Records that a packet is sent to neighbour n at now, µs. A stale entry changes to NBR_DELAY. */
void scps_nbr_use(struct scps_nbrs *t, struct scps_nbr *n, scps_time now);
/* Records the MAC address of neighbour n. solicited: the address came in the reply to a request of
 * this station, so the neighbour is reachable. */
void scps_nbr_learn(struct scps_nbrs *t, struct scps_nbr *n, const uint8_t mac[6], bool solicited,
                    scps_time now);
/* Called until it returns NULL: returns an entry whose time `when` has come by now, µs, in its new
 * state. In NBR_INCOMPLETE and NBR_PROBE the caller must send a request; NBR_FREE: the entry was
 * removed, because no request got a reply. */
struct scps_nbr *scps_nbr_due(struct scps_nbrs *t, scps_time now);
scps_time scps_nbr_deadline(const struct scps_nbrs *t);

#endif
