/* SPDX-License-Identifier: MIT */
/* The neighbour cache: MAC addresses and whether they are still valid (RFC 4861 section 7.3.2). ARP
 * uses the same states, with unicast requests (RFC 1122 section 2.3.2.1). */
#ifndef SCPS_LINK_NEIGH_H
#define SCPS_LINK_NEIGH_H

#include <scps/ether.h>

enum scps_nbr_state {
    NBR_FREE,
    NBR_INCOMPLETE, /* the MAC address is unknown and requested by multicast or broadcast */
    /* the neighbour has replied to a request, and the configured time since then has not passed */
    NBR_REACHABLE,
    /* the configured time since the last reply has passed, or the MAC address was learnt from a
     * message that was no reply to this station; packets are still sent to that address */
    NBR_STALE,
    /* a packet was sent to the MAC address since it became stale; if no reply arrives by `when`, a
     * request (state NBR_PROBE) follows */
    NBR_DELAY,
    NBR_PROBE /* the station sends requests to the neighbour, by unicast */
};

struct scps_nbr {
    struct scps_addr addr;
    enum scps_nbr_state state;
    uint8_t mac[6]; /* MAC address of the neighbour; not valid in NBR_INCOMPLETE */
    uint32_t tries; /* number of requests without a reply */
    /* time at which the state ends or the next request is sent, µs; SCPS_NEVER: neither happens by
     * time */
    scps_time when;
    /* value of scps_nbrs.uses, which counts packets, when the last packet was sent to this
     * neighbour; the entry with the lowest value is replaced first; 0: no packet was sent to it */
    uint64_t used;
    /* buffer for one packet, which is sent when the neighbour's MAC address is known */
    uint8_t *held;
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
 * these. Sets *lost to true if a packet waited in the replaced entry; that packet is lost. */
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
/* Moves one entry whose time `when` has come by now, µs, to its next state, and returns the entry;
 * NULL: no entry is due. The caller repeats the call until NULL. If the new state is NBR_INCOMPLETE
 * or NBR_PROBE, the caller must send a request; if it is NBR_FREE, the entry was removed, because
 * no request got a reply. */
struct scps_nbr *scps_nbr_due(struct scps_nbrs *t, scps_time now);
scps_time scps_nbr_deadline(const struct scps_nbrs *t);

#endif
