/* SPDX-License-Identifier: MIT */
/* Rate control of a route (docs/SCPS-TP.md section 4.5): one token bucket, which the connections of
 * the route share.
 *
 *      connections with something to send     the one at the head is asked; if the credit does
 *      [ a ] [ c ] [ f ] ...                  not cover its packet whole it stays there, and the
 *        |                                    gate is closed until it does
 *      credit covers its packet? ---> sent and charged; after its share the next one follows
 *
 * Everything that a connection sends is charged: data, retransmissions, acknowledgements, SYNs and
 * resets, each with its IP length and the overhead below IP. Datagrams (stack/dgram_out.c) are
 * charged, too. Replies to packets that belong to no connection have a limit of their own.
 *
 * The rate is shared fairly in bytes: each time that a connection is served, it may send as much as
 * the largest packet costs, and what it sends beyond that is deducted the next time (deficit round
 * robin in which a connection pays its debt afterwards, so that no packet's size need be known
 * before it is built). Since the connection at the head waits for its own packet, large packets are
 * not starved by small ones.
 *
 * The minimum rate is a second token bucket. A connection whose congestion window is full is queued
 * for it; when the bucket holds enough for a full packet, the first connection in that queue may
 * send one segment more. All packets of the route are charged to this bucket, too, so it raises a
 * route up to the minimum and adds nothing beyond that to what the windows allow. The SCPS
 * reference implementation has the same bucket: when it holds enough, the connection that is the
 * first to try to send does so without a test of its congestion window.
 */
#include "core/gate.h"

#include "base/bytes.h"
#include "core/snd.h"
#include "core/tx.h"

/* Upper bound of the length of a packet without data, bytes. A connection may build its next packet
 * only when the token bucket of its route (RFC 2475 section 2.3.3.3) holds at least this cost. */
#define BARE 100

void scps_gate_set(struct scps_gate *g, scps_time now, const struct scps_route *r, uint32_t mtu)
{
    uint32_t burst;

    g->over = r->overhead;
    g->quantum = scps_gate_cost(g, mtu);
    burst = r->burst ? r->burst : 4 * g->quantum;
    scps_pacer_set(&g->rate, now, r->rate, burst);
    scps_pacer_set(&g->floor, now, r->min_rate, burst);
    g->asked = NULL;
}

uint32_t scps_gate_cost(const struct scps_gate *g, uint32_t len)
{
    const struct scps_overhead *o = &g->over;
    uint32_t n = len + o->pre;

    if (o->block > 1)
        n = (n + o->block - 1) / o->block * o->block;
    return n + o->post + o->packet;
}

bool scps_gate_covers(struct scps_gate *g, struct scps_sender *s, scps_time now, uint32_t len)
{
    g->opens = scps_gate_when(g, now, len);
    if (g->opens <= now)
        return true;
    g->asked = s;
    return false;
}

bool scps_gate_open(struct scps_gate *g, struct scps_sender *s, scps_time now)
{
    if (g->asked == s && now < g->opens)
        return false;
    g->asked = NULL;
    if (scps_gate_covers(g, s, now, BARE))
        return true;
    scps_snd_routed(s);
    return false;
}

static inline void pay(struct scps_gate *g, scps_time now, uint32_t cost)
{
    scps_pacer_spend(&g->rate, cost);
    if (g->floor.rate) {
        scps_pacer_when(&g->floor, now, 0);
        scps_pacer_spend(&g->floor, cost);
        scps_pacer_forgive(&g->floor);
    }
}

scps_time scps_gate_when(struct scps_gate *g, scps_time now, uint32_t len)
{
    return scps_pacer_when(&g->rate, now, scps_gate_cost(g, len));
}

scps_time scps_gate_asks(struct scps_gate *g, scps_time now, uint32_t len)
{
    scps_time at = scps_gate_when(g, now, SCPS_MAX(len, BARE));

    return SCPS_MAX(at, g->opens);
}

uint32_t scps_gate_pay(struct scps_gate *g, scps_time now, uint32_t len)
{
    uint32_t cost = scps_gate_cost(g, len);

    pay(g, now, cost);
    return cost;
}

bool scps_gate_left(struct scps_gate *g, struct scps_sender *s, scps_time now, uint32_t len)
{
    uint32_t cost = scps_gate_cost(g, len);

    pay(g, now, cost);
    scps_gate_passed(g, s);
    /* If s has more to send, the route's rate counts as the reason why it sends nothing
     * (SCPS_HOLD_ROUTE) until s may build its next segment. */
    scps_snd_routed(s);
    if (!s->tx)
        return true;
    s->tx->share -= (int32_t)cost;
    if (s->tx->share > 0)
        return false;
    s->tx->share += (int32_t)g->quantum;
    return true;
}

/* ---- functions for the minimum rate of a route: it lets connections send whose congestion window
 * is full ---- */

void scps_gate_passed(struct scps_gate *g, struct scps_sender *s)
{
    if (g->permitted == s)
        g->permitted = NULL;
}

bool scps_gate_permits(struct scps_gate *g, struct scps_sender *s)
{
    struct scps_tx *tx = s->tx;

    if (g->permitted == s)
        return true;
    if (!g->floor.rate || tx->floor_queued)
        return false;
    tx->floor_queued = true;
    tx->floor_next = NULL;
    tx->floor_prev = g->wait_tail;
    if (g->wait_tail)
        g->wait_tail->tx->floor_next = s;
    else
        g->wait_head = s;
    g->wait_tail = s;
    return false;
}

void scps_gate_forget(struct scps_sender *s)
{
    struct scps_gate *g = s->queue ? s->queue->gate : NULL;
    struct scps_tx *tx = s->tx;

    if (!g)
        return;
    if (g->asked == s)
        g->asked = NULL;
    scps_gate_passed(g, s);
    if (!tx || !tx->floor_queued)
        return;
    *(tx->floor_prev ? &tx->floor_prev->tx->floor_next : &g->wait_head) = tx->floor_next;
    *(tx->floor_next ? &tx->floor_next->tx->floor_prev : &g->wait_tail) = tx->floor_prev;
    tx->floor_queued = false;
}

scps_time scps_gate_floor_due(struct scps_gate *g, scps_time now)
{
    return g->wait_head && !g->permitted ? scps_pacer_when(&g->floor, now, g->quantum) : SCPS_NEVER;
}

void scps_gate_serve(struct scps_gate *g, scps_time now)
{
    struct scps_sender *s = g->wait_head;

    if (scps_gate_floor_due(g, now) > now)
        return;
    scps_gate_forget(s);
    g->permitted = s;
    scps_sender_wake(s);
}
