/* SPDX-License-Identifier: MIT */
/* The token bucket (gate) of a route with a rate, which limits what its connections send together;
 * gate.c has the rules. */
#ifndef SCPS_CORE_GATE_H
#define SCPS_CORE_GATE_H

#include <scps/conn.h>
#include <scps/stack.h>

#include "core/pacer.h"

struct scps_sender;

struct scps_gate {
    /* token bucket of the route's rate, bytes/s, which its connections share; rate.rate 0: no
     * limit */
    struct scps_pacer rate;
    /* token bucket of the route's minimum rate, bytes/s: when it holds enough, a connection may
     * send a segment although its congestion window is full; floor.rate 0: no minimum rate */
    struct scps_pacer floor;
    struct scps_overhead over;
    /* bytes by which a connection's share grows each time it gets to the head of the ready queue
     * (the quantum of deficit round robin): the cost of the largest packet */
    uint32_t quantum;
    /* the connection at the head of the queue, if its next packet costs more than the token bucket
     * `rate` holds; NULL: there is none */
    struct scps_sender *asked;
    /* time, µs, at which the token bucket holds enough for the packet that is next: that of the
     * connection `asked`, or a datagram, which goes before all connections; a time not after `now`:
     * no packet waits */
    scps_time opens;
    /* queue of the connections whose congestion windows are full, in the order in which the route's
     * minimum rate (scps_route.min_rate) lets each send one segment beyond its window */
    struct scps_sender *wait_head, *wait_tail;
    /* connection that may send one segment now although its congestion window is full, because the
     * token bucket of the minimum rate holds enough; NULL: none */
    struct scps_sender *permitted;
};

/* Returns true if acknowledgements without data are limited in rate: by the settings ack_budget and
 * ack_budget_pps, or by the rate of their route (g NULL: the route has none). */
static inline bool scps_gate_budgets(const struct scps_conn_config *cfg, const struct scps_gate *g)
{
    return cfg->ack_budget || cfg->ack_budget_pps || (g && g->rate.rate);
}
/* Sets the rates, burst and overhead of route r in the route's token bucket (the gate). mtu: the
 * MTU of the route's link, bytes. */
void scps_gate_set(struct scps_gate *g, scps_time now, const struct scps_route *r, uint32_t mtu);
/* Returns the number of bytes that an IP packet of len bytes is charged: its length and the
 * overhead of the route. */
uint32_t scps_gate_cost(const struct scps_gate *g, uint32_t len);
/* Returns true if the route's token bucket holds enough for a packet of s with len bytes. If not,
 * returns false and sets g->opens; until that time no connection of the route may send. */
bool scps_gate_covers(struct scps_gate *g, struct scps_sender *s, scps_time now, uint32_t len);
/* Called for the connection s at the head of the ready queue. Returns true if the route's token
 * bucket holds enough for its next packet, so that s may build it. */
bool scps_gate_open(struct scps_gate *g, struct scps_sender *s, scps_time now);
/* Charges a packet of len bytes that s has sent to the route's token bucket. Returns true if s has
 * sent its share (quantum) of bytes, so that the next connection in the ready queue follows. */
bool scps_gate_left(struct scps_gate *g, struct scps_sender *s, scps_time now, uint32_t len);
/* Returns the time, µs, at which the route's token bucket holds enough for a packet of len bytes; a
 * time not after `now`: it holds enough now. */
scps_time scps_gate_when(struct scps_gate *g, scps_time now, uint32_t len);
/* Returns the earliest time, µs, at which a connection may send a packet of len bytes: when the
 * route's token bucket holds enough for that packet (or for the largest packet without data, if
 * that costs more), but not before g->opens, at which it holds enough for a packet that already
 * waits. */
scps_time scps_gate_asks(struct scps_gate *g, scps_time now, uint32_t len);
/* Charges to the route's token buckets a packet of len bytes that no connection sends: a UDP
 * datagram or a reply. Returns its cost, bytes: len and the route's overhead. */
uint32_t scps_gate_pay(struct scps_gate *g, scps_time now, uint32_t len);
/* Records that the next packet of the route is a UDP datagram, not a segment, and that the route's
 * token bucket holds enough for it at `when`, µs. */
static inline void scps_gate_datagram_next(struct scps_gate *g, scps_time when)
{
    g->asked = NULL;
    g->opens = when;
}
/* Called when s has had its chance to send: if s was permitted one segment beyond its full
 * congestion window by the minimum rate, that permission ends, used or not. */
void scps_gate_passed(struct scps_gate *g, struct scps_sender *s);
/* For s, whose congestion window is full: returns true if the minimum rate permits s one segment
 * now. Otherwise returns false and, if the route has a minimum rate, queues s for that. */
bool scps_gate_permits(struct scps_gate *g, struct scps_sender *s);
/* If the minimum rate permits a segment now, wakes the connection that has waited for it
 * longest. */
void scps_gate_serve(struct scps_gate *g, scps_time now);
/* Removes s, which is closed or gets another route, from the queue of the minimum rate. */
void scps_gate_forget(struct scps_sender *s);
/* Returns the time, µs, at which the token bucket of the route's minimum rate lets the next
 * connection whose congestion window is full send one segment; SCPS_NEVER if no connection waits
 * for that, or one is permitted already. */
scps_time scps_gate_floor_due(struct scps_gate *g, scps_time now);

#endif
