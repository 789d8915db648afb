/* SPDX-License-Identifier: MIT */
/* The neighbour cache: MAC addresses and whether they are still valid (RFC 4861 section 7.3.2). ARP
 * uses the same states, with unicast requests (RFC 1122 section 2.3.2.1). */
#ifndef SCPS_LINK_NEIGH_H
#define SCPS_LINK_NEIGH_H

#include <scps/ether.h>

enum scps_nbr_state {
    NBR_FREE,
    NBR_INCOMPLETE, /* address requested by multicast or broadcast */
    NBR_REACHABLE,  /* answered not long ago */
    NBR_STALE,      /* the answer is old, but still used */
    NBR_DELAY,      /* used since it became stale: a request follows soon */
    NBR_PROBE       /* asked, by unicast */
};

struct scps_nbr {
    struct scps_addr addr;
    enum scps_nbr_state state;
    uint8_t mac[6]; /* not in NBR_INCOMPLETE */
    uint32_t tries; /* questions without an answer */
    /* time at which the state ends, or the next request is due; SCPS_NEVER: at no time */
    scps_time when;
    /* number of the last use of the entry; the entry with the least is replaced first */
    uint64_t used;
    uint8_t *held;   /* room for a packet */
    size_t held_len; /* length of the packet that waits for the answer; 0: none */
};

struct scps_nbrs {
    const struct scps_ether_config *cfg;
    struct scps_nbr *v; /* cfg->neighbours of them */
    uint64_t uses;
};

/* NULL: not known. */
struct scps_nbr *scps_nbr_find(struct scps_nbrs *t, const struct scps_addr *a);
/* Adds an entry for a new address, NBR_INCOMPLETE with its first request due at now, in place of
 * the one not used for longest. *lost is set if that held a packet. */
struct scps_nbr *scps_nbr_add(struct scps_nbrs *t, const struct scps_addr *a, scps_time now,
                              bool *lost);
/* Records that a packet is sent to the neighbour now. */
void scps_nbr_use(struct scps_nbrs *t, struct scps_nbr *n, scps_time now);
/* Records a neighbour's MAC address; solicited: it is the answer to a request. */
void scps_nbr_learn(struct scps_nbrs *t, struct scps_nbr *n, const uint8_t mac[6], bool solicited,
                    scps_time now);
/* Returns the next entry whose time has come, in its new state; NULL: none. NBR_INCOMPLETE and
 * NBR_PROBE need a request now, NBR_FREE has been given up. */
struct scps_nbr *scps_nbr_due(struct scps_nbrs *t, scps_time now);
scps_time scps_nbr_deadline(const struct scps_nbrs *t);

#endif
