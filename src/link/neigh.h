/* SPDX-License-Identifier: MIT */
/* The neighbour cache: who is where, and is that still so (RFC 4861 section 7.3.2). ARP uses the
 * same states, with unicast questions (RFC 1122 section 2.3.2.1). */
#ifndef SCPS_LINK_NEIGH_H
#define SCPS_LINK_NEIGH_H

#include <scps/ether.h>

enum scps_nbr_state {
    NBR_FREE,
    NBR_INCOMPLETE, /* asked for, by multicast or broadcast */
    NBR_REACHABLE,  /* answered not long ago */
    NBR_STALE,      /* answered longer ago; used as it is */
    NBR_DELAY,      /* used since it became stale: asked soon */
    NBR_PROBE       /* asked, by unicast */
};

struct scps_nbr {
    struct scps_addr addr;
    enum scps_nbr_state state;
    uint8_t mac[6];  /* not in NBR_INCOMPLETE */
    uint32_t tries;  /* questions without an answer */
    scps_time when;  /* the state ends, or the next question is due; SCPS_NEVER: at no time */
    uint64_t used;   /* counts uses of the cache: the least is the one to forget */
    uint8_t *held;   /* room for a packet */
    size_t held_len; /* of the packet that waits for the answer; 0: none */
};

struct scps_nbrs {
    const struct scps_ether_config *cfg;
    struct scps_nbr *v; /* cfg->neighbours of them */
    uint64_t uses;
};

/* NULL: not known. */
struct scps_nbr *scps_nbr_find(struct scps_nbrs *t, const struct scps_addr *a);
/* A new entry for an address that is not there, NBR_INCOMPLETE with its first question due at now,
 * in place of the one not used for longest. *lost is set when that had a packet. */
struct scps_nbr *scps_nbr_add(struct scps_nbrs *t, const struct scps_addr *a, scps_time now,
                              bool *lost);
/* A packet is sent to it now. */
void scps_nbr_use(struct scps_nbrs *t, struct scps_nbr *n, scps_time now);
/* It said where it is; solicited: because it was asked. */
void scps_nbr_learn(struct scps_nbrs *t, struct scps_nbr *n, const uint8_t mac[6], bool solicited,
                    scps_time now);
/* The next entry whose time has come; NULL: none. Its state has moved on: NBR_INCOMPLETE and
 * NBR_PROBE want a question now, NBR_FREE has been given up. */
struct scps_nbr *scps_nbr_due(struct scps_nbrs *t, scps_time now);
scps_time scps_nbr_deadline(const struct scps_nbrs *t);

#endif
