/* SPDX-License-Identifier: MIT */
/* A netif as the stack sees it, and the shapers of its routes.
 *
 * Invariants: a shaper is in the list of one netif from scps_nif_add_shaper() to
 * scps_nif_remove_shaper(); `others` is set while anything but the connections in the netif's
 * ready queue has packets. Only nif.h and nif.c assign the lists and `others`; kept.h, lastflow.h,
 * reply.c, output.c and the files of dgram.h have the other fields.
 */
#ifndef SCPS_STACK_NIF_H
#define SCPS_STACK_NIF_H

#include <scps/netif.h>

#include "base/recring.h"
#include "core/gate.h"
#include "core/pacer.h"
#include "core/turns.h"
#include "stack/kept.h"
#include "stack/lastflow.h"

struct scps_dgram;

/* Queue of endpoints whose oldest datagram waits for the same link or route. */
struct scps_dgram_turns {
    struct scps_dgram *head, *tail;
};

/* Rate at which connections and datagrams use a link; answers get what they leave. */
struct scps_usage {
    scps_time since;  /* time of the last measurement */
    uint64_t sent;    /* their bytes up to that time, as counted on the line */
    uint64_t answers; /* bytes of answers so far, as counted on the line */
    uint64_t rate;    /* highest recent rate, bytes/s */
};

/* Queue of answers to packets of no connection: resets, ICMP, SYN cookies. */
struct scps_answers {
    struct scps_recring queue;
    struct scps_pacer share; /* token bucket: their share of the route's or the device's rate */
};

/* The rate of a route and the connections, datagrams and answers that share it. */
struct scps_shaper {
    struct scps_gate gate;
    struct scps_answers answers;
    struct scps_ready_queue turns;
    struct scps_dgram_turns dgrams;
    bool for_dgrams;          /* datagrams, if any wait, are served before connections */
    int32_t share;            /* bytes that they may still send in this turn */
    struct scps_shaper *next; /* of the same link */
};

/* A netif as the stack sees it: netif->stack_priv. */
struct scps_nif {
    struct scps_netif *nif;
    struct scps_ready_queue turns;
    struct scps_shaper *pipes;      /* routes with a rate */
    struct scps_dgram_turns dgrams; /* endpoints that no route's rate holds back */
    uint32_t n_dgrams;              /* endpoints in this queue and in those of the shapers */
    bool after_dgram;               /* a datagram was served last, when both kinds waited */
    struct scps_answers answers;    /* answers through routes without a rate */
    struct scps_usage usage;
    uint32_t n_answers;   /* answers that wait here and in the shapers */
    uint8_t since_answer; /* packets sent since the last answer, at most SCPS_ANSWER_SHARE */
    bool others;          /* see scps_nif_others */
    struct scps_lastflow last;
    struct scps_kept kept;
};

static inline struct scps_nif *scps_nif_of(const struct scps_netif *nif)
{
    return nif->stack_priv;
}

/* Makes *nif the stack's view of netif. */
void scps_nif_attach(struct scps_nif *nif, struct scps_stack *st, struct scps_netif *netif);
/* Forgets the netif, which its owner may close afterwards. Nothing is left to send through *nif,
 * which may be attached again. Precondition: what *nif held was freed. */
void scps_nif_detach(struct scps_nif *nif);

/* Enters p, whose fields are zero, into the list of nif's shapers. */
void scps_nif_add_shaper(struct scps_nif *nif, struct scps_shaper *p);
/* Removes p from the list of nif's shapers. */
void scps_nif_remove_shaper(struct scps_nif *nif, struct scps_shaper *p);
/* Moves p to the end of the list of nif's shapers: the others are served first. */
void scps_nif_shaper_served(struct scps_nif *nif, struct scps_shaper *p);

/* Records that something other than the connections in the ready queue has packets. */
static inline void scps_nif_set_others(struct scps_nif *nif)
{
    nif->others = true;
}
/* Returns true if something other than the connections in nif's ready queue may have packets: a
 * packet that the device refused, routes with a rate, datagrams, answers. */
static inline bool scps_nif_others(struct scps_nif *nif)
{
    if (nif->others)
        nif->others = nif->kept.pending || nif->pipes || nif->n_dgrams || nif->n_answers;
    return nif->others;
}
/* Returns true if there is anything to do for the link. Without netif operations the driver fetches
 * packets with scps_stack_output. */
static inline bool scps_nif_busy(struct scps_nif *nif)
{
    return (nif->turns.head || scps_nif_others(nif)) && nif->nif->ops;
}

#endif
