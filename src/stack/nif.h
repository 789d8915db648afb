/* SPDX-License-Identifier: MIT */
/* A netif as the stack sees it, and the shapers of its routes.
 *
 * Invariants: a shaper is in the list of one netif from scps_nif_add_shaper() to
 * scps_nif_remove_shaper(); `others` is set while anything but the connections in the netif's ready
 * queue has packets. Only nif.h and nif.c assign the lists and `others`; kept.h, lastflow.h,
 * reply.c, output.c and the files of dgram.h assign the other fields.
 */
#ifndef SCPS_STACK_NIF_H
#define SCPS_STACK_NIF_H

#include <scps/netif.h>
#include <scps/wire.h>

#include "base/recring.h"
#include "core/gate.h"
#include "core/pacer.h"
#include "core/turns.h"
#include "stack/kept.h"
#include "stack/lastflow.h"

struct scps_conn;
struct scps_dgram;

/* Ready queue of endpoints whose oldest datagram waits for the same link or route. */
struct scps_dgram_turns {
    struct scps_dgram *head, *tail;
};

/* The rate at which connections and datagrams use a link; replies get what they leave. */
struct scps_usage {
    scps_time since;  /* time of the last measurement, µs */
    uint64_t sent;    /* bytes that connections and datagrams had sent by then, with framing */
    uint64_t answers; /* bytes of replies so far, with framing */
    uint64_t rate;    /* highest recent rate, bytes/s */
};

/* Queue of replies to packets of no connection: resets, ICMP, SYN cookies. */
struct scps_answers {
    struct scps_recring queue;
    /* token bucket: the share of replies in the route's or the device's rate */
    struct scps_pacer share;
};

/* The rate of a route and the connections, datagrams and replies that share it. */
struct scps_shaper {
    struct scps_gate gate;
    struct scps_answers answers;
    struct scps_ready_queue turns;
    struct scps_dgram_turns dgrams;
    bool for_dgrams; /* true: datagrams, if any wait, are served before connections */
    int32_t share;   /* bytes that this kind may still send before the other kind is served */
    struct scps_shaper *next; /* next shaper on the list of the shapers of the same link */
};

/* Sends segment seg of c as values, for a device that needs no octets of the headers
 * (sim/values.h). Returns the length of the packet; 0: it was not sent, and goes as octets. */
typedef size_t scps_values_fn(struct scps_netif *netif, const struct scps_conn *c,
                              const struct scps_seg *seg);
#define SCPS_NETIF_VALUES (1u << 31) /* flag of the netif: scps_nif.values is set */

/* What the stack stores for one netif (network interface); scps_netif.stack_priv points to it. */
struct scps_nif {
    struct scps_netif *nif;
    struct scps_ready_queue turns;
    /* list of the shapers of those routes through this netif that have a rate */
    struct scps_shaper *pipes;
    struct scps_dgram_turns dgrams; /* endpoints whose datagrams use no route with a rate */
    uint32_t n_dgrams;           /* number of endpoints in this queue and in those of the shapers */
    bool after_dgram;            /* the last packet was a datagram, while both kinds waited */
    struct scps_answers answers; /* queue of replies through routes without a rate */
    struct scps_usage usage;
    uint32_t n_answers;   /* number of replies that wait here and in the shapers */
    uint8_t since_answer; /* packets sent since the last reply, at most SCPS_ANSWER_SHARE */
    bool others; /* something else than connections may have packets, see scps_nif_others() */
    scps_values_fn *values; /* with SCPS_NETIF_VALUES */
    struct scps_lastflow last;
    struct scps_kept kept;
};

static inline struct scps_nif *scps_nif_of(const struct scps_netif *nif)
{
    return nif->stack_priv;
}

/* Initialises *nif as the stack's view of netif. */
void scps_nif_attach(struct scps_nif *nif, struct scps_stack *st, struct scps_netif *netif);
/* Removes the netif from the stack; its owner may close it afterwards. No packet is left to be sent
 * through *nif, which may be attached again. Precondition: the packets and replies that *nif stored
 * were freed. */
void scps_nif_detach(struct scps_nif *nif);

/* Adds p, whose fields are zero, to the list of nif's shapers. */
void scps_nif_add_shaper(struct scps_nif *nif, struct scps_shaper *p);
/* Removes p from the list of nif's shapers. */
void scps_nif_remove_shaper(struct scps_nif *nif, struct scps_shaper *p);
/* Moves p to the end of the list of nif's shapers, so that the others are served first. */
void scps_nif_shaper_served(struct scps_nif *nif, struct scps_shaper *p);

/* Records that something else than the connections in the ready queue has packets. */
static inline void scps_nif_set_others(struct scps_nif *nif)
{
    nif->others = true;
}
/* Returns true if something else than the connections in nif's ready queue may have packets: a
 * packet that the device refused, routes with a rate, datagrams, or replies. */
static inline bool scps_nif_others(struct scps_nif *nif)
{
    if (nif->others)
        nif->others = nif->kept.pending || nif->pipes || nif->n_dgrams || nif->n_answers;
    return nif->others;
}
/* Returns true if there may be packets for the link. Without netif operations the driver fetches
 * packets with scps_stack_output(). */
static inline bool scps_nif_busy(struct scps_nif *nif)
{
    return (nif->turns.head || scps_nif_others(nif)) && nif->nif->ops;
}

#endif
