/* SPDX-License-Identifier: MIT */
/* The state that the stack keeps for a netif (network interface), and the shapers (rate limiters)
 * of its routes.
 *
 * Invariants: a shaper is in the list of one netif from scps_nif_add_shaper() to
 * scps_nif_remove_shaper(). `others` is true while packets wait that do not come from connections
 * in `ready`: datagrams, replies, a packet that the device has refused, and packets of routes with
 * a rate. Only nif.h and nif.c assign the lists and `others`; kept.h, lastflow.h, usage.h, reply.c,
 * output.c and the files of dgram.h assign the other fields.
 */
#ifndef SCPS_STACK_NIF_H
#define SCPS_STACK_NIF_H

#include <scps/netif.h>
#include <scps/wire.h>

#include "base/queue.h"
#include "base/recring.h"
#include "core/gate.h"
#include "core/pacer.h"
#include "core/ready_queue.h"
#include "stack/kept.h"
#include "stack/lastflow.h"
#include "stack/usage.h"

struct scps_conn;
struct scps_dgram;

/* Queue of replies to packets that belong to no connection: resets, ICMP messages, SYN cookies. */
struct scps_answers {
    struct scps_recring queue;
    /* Token bucket that limits the replies, and the SYN-ACKs of half-open connections, to a share
     * of a rate: that of their route if it has one, otherwise that of the device or, if none is
     * known, that of what connections and datagrams send now (table in reply.c). */
    struct scps_pacer share;
};

/* The rate of a route (a token bucket), and the connections, datagrams and replies that share
 * it. */
struct scps_shaper {
    struct scps_gate gate;
    struct scps_answers answers;
    struct scps_ready_queue ready;
    /* queue of the datagram endpoints whose oldest datagram is to be sent through this route; the
     * first endpoint sends one datagram, then the next one follows */
    struct scps_queue dgrams;
    /* true: datagrams, if any wait, are sent before segments of connections; false: connections, if
     * any have something to send, come first */
    bool for_dgrams;
    int32_t share; /* bytes that datagrams may still send before connections come first */
    struct scps_shaper *next; /* next shaper on the list of the shapers of the same link */
};

/* Sends segment seg of c as a structure instead of a packet, for a simulated device that needs no
 * octets of the headers (sim/values.h). Returns the length of the packet; 0: the segment was not
 * sent and must be sent as a packet. */
typedef size_t scps_values_fn(struct scps_netif *netif, const struct scps_conn *c,
                              const struct scps_seg *seg);
/* flag of scps_netif.flags: the simulated device takes segments of this stack as a struct scps_seg,
 * by the function scps_nif.values, instead of as packets */
#define SCPS_NETIF_VALUES (1u << 31)

/* What the stack stores for one netif (network interface); scps_netif.stack_priv points to it. */
struct scps_nif {
    struct scps_netif *nif;
    struct scps_ready_queue ready;
    /* list of the shapers (rate limiters) of those routes through this netif that have a rate */
    struct scps_shaper *shapers;
    /* queue of the datagram endpoints whose oldest datagram is sent through a route without a rate
     * limit */
    struct scps_queue dgrams;
    uint32_t n_dgrams; /* number of endpoints in the queue `dgrams` and in those of the shapers */
    /* inverted before each packet while datagrams wait; true: a datagram is tried first for this
     * packet, then a segment of a connection; false: the segment is tried first */
    bool after_dgram;
    /* queue of replies to packets that belong to no connection (resets, ICMP messages, SYN
     * cookies), which are sent through routes without a rate limit */
    struct scps_answers answers;
    /* measures the rate, bytes/s, at which connections and datagrams send through this netif;
     * replies may use only what is left of the device's rate */
    struct scps_usage usage;
    /* number of replies (resets, ICMP messages, SYN cookies: packets that answer packets of no
     * connection) that wait in the queue `answers` and in those of the routes with a rate limit
     * (shapers) */
    uint32_t n_answers;
    /* number of packets that output_slow() has sent for connections and datagrams since the last
     * reply (a reset, ICMP message or SYN cookie that answers a packet of no connection), at most
     * SCPS_ANSWER_SHARE; when it is SCPS_ANSWER_SHARE - 1 or more, a waiting reply is sent before
     * other packets */
    uint8_t since_answer;
    /* false: the only packets that wait for this netif are those of connections in `ready`, the
     * queue of the connections with something to send through routes without a rate limit. true:
     * others may wait, too: a packet that the device has refused, datagrams, replies, or packets of
     * routes with a rate limit; scps_nif_others() finds out. */
    bool others;
    /* function by which a simulated device takes the segments that output.c sends as structures
     * instead of packets; valid if scps_netif.flags has SCPS_NETIF_VALUES */
    scps_values_fn *values;
    struct scps_lastflow last;
    struct scps_kept kept;
    struct scps_nif *next; /* next element of the list of the stack's netifs, which never shrinks */
};

static inline struct scps_nif *scps_nif_of(const struct scps_netif *nif)
{
    return nif->stack_priv;
}

/* Appends nif to the list of the stack's netifs that begins at *first. */
void scps_nif_append(struct scps_nif **first, struct scps_nif *nif);
/* Initialises *nif, which is in the list of netifs, as the state that the stack keeps for netif,
 * which the application adds at time `now`, µs. */
void scps_nif_attach(struct scps_nif *nif, struct scps_stack *st, struct scps_netif *netif,
                     scps_time now);
/* Removes the netif from the stack, so that its owner may close it afterwards. No packet can be
 * sent through *nif then; *nif may be attached again. Precondition: the caller has freed the
 * replies (resets, ICMP messages, SYN cookies) that wait in *nif, the packet that the device has
 * refused, and the shapers. */
void scps_nif_detach(struct scps_nif *nif);

/* Adds shaper p of a route (its rate limiter), whose fields are zero, to the list of nif's
 * shapers. */
void scps_nif_add_shaper(struct scps_nif *nif, struct scps_shaper *p);
/* Removes p from the list of nif's shapers. */
void scps_nif_remove_shaper(struct scps_nif *nif, struct scps_shaper *p);
/* Moves shaper p to the end of the list of nif's shapers, so that packets of the other shapers are
 * sent before its next one. */
void scps_nif_shaper_served(struct scps_nif *nif, struct scps_shaper *p);

/* Records that a packet waits which does not come from a connection in nif->ready: a datagram, a
 * reply to a packet of no connection, a packet that the device has refused (SCPS_ERR_AGAIN), or one
 * of a route with a rate limit. */
static inline void scps_nif_set_others(struct scps_nif *nif)
{
    nif->others = true;
}
/* Returns true if there may be packets that do not come from connections in nif's ready queue: one
 * that the device refused, packets of routes with a rate, datagrams, or replies. */
static inline bool scps_nif_others(struct scps_nif *nif)
{
    if (nif->others)
        nif->others = nif->kept.pending || nif->shapers || nif->n_dgrams || nif->n_answers;
    return nif->others;
}
/* Returns true if scps_pump() has to send packets for this netif. False for a netif without
 * operations, whose driver fetches packets by scps_stack_output(). */
static inline bool scps_nif_busy(struct scps_nif *nif)
{
    return (nif->ready.head || scps_nif_others(nif)) && nif->nif->ops;
}

#endif
