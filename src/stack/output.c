/* SPDX-License-Identifier: MIT */
/* Chooses the next packet to send. The connections that have something to send take turns; a turn
 * is one packet or, on a route with a rate limit, as many bytes as the largest packet is charged
 * (gate.c). Datagrams alternate with segments of connections, and replies to packets that belong to
 * no connection come last. */
#include "stack/stack.h"

#include "base/bytes.h"

/* For a device with segmentation offload (GSO): appends to seg the next full segments of c that may
 * be sent now. */
static SCPS_NOINLINE void gso_coalesce(struct scps_conn *c, struct scps_seg *seg)
{
    const uint32_t size = seg->len, room = UINT16_MAX - SCPS_MAX_HEADERS;
    struct scps_seg next;

    if (size != c->s.agreed.mss || c->s.agreed.caps & SCPS_CAP_COM)
        return;
    while (seg->len + size <= room && scps_conn_follow(c, seg, &next)) {
        /* seg becomes one large packet, which the device splits into segments. The device sets PSH
         * and FIN only in the last of them. */
        seg->flags |= next.flags;
        seg->ack = next.ack;
        seg->wnd = next.wnd;
        seg->gso = (uint16_t)size;
        seg->len += next.len;
        if (next.len < size)
            break;
    }
}

/* Called before a packet is chosen: frees connections that have ended, and processes the timers
 * that are due. */
static SCPS_NOINLINE void output_housekeeping(struct scps_stack *st)
{
    if (st->env.dead)
        scps_stack_reap(st);
    if (scps_stack_timers_due(st))
        scps_stack_serve_timers(st);
}

/* Returns the ready queue of nif from which the next segment is taken. Queues of routes with a rate
 * come before the queue of nif itself, whose connections have no rate limit and could use all the
 * time. A route's queue is returned if its token bucket permits the next packet of its first
 * connection; after that the route goes to the end of the list of routes, so that routes take
 * turns. */
static SCPS_NOINLINE struct scps_ready_queue *open_queue(struct scps_stack *st,
                                                         struct scps_nif *nif)
{
    scps_time now = st->env.now;

    for (struct scps_shaper *p = nif->shapers; p; p = p->next) {
        scps_gate_serve(&p->gate, now);
        if (!p->ready.head || scps_dgram_first(p) || !scps_gate_open(&p->gate, p->ready.head, now))
            continue;
        scps_nif_shaper_served(nif, p);
        return &p->ready;
    }
    return &nif->ready;
}

/* Called when it was the turn of connection c, on a route with a rate, and c sent nothing. If c
 * waits for the token bucket of its route, it stays first in the queue; otherwise it has nothing to
 * send and is removed. Returns the ready queue from which the next segment is taken. */
static SCPS_NOINLINE struct scps_ready_queue *pass(struct scps_stack *st, struct scps_nif *nif,
                                                   struct scps_conn *c)
{
    if (c->s.queue->gate->asked != &c->s) {
        scps_gate_passed(c->s.queue->gate, &c->s);
        scps_sender_dequeue(&c->s);
    }
    return open_queue(st, nif);
}

/* Netif flags of devices that segment by themselves (GSO), or take segments as structures. */
#define SPECIAL (SCPS_NETIF_GSO | SCPS_NETIF_VALUES)

/* For a device with one of the flags SPECIAL: lets it take segment seg of c as a structure, or
 * makes seg longer for GSO. Returns the length of the packet if the device has sent it; 0: the
 * caller must make the packet. */
static inline size_t special_device(struct scps_nif *nif, const struct scps_ready_queue *t,
                                    struct scps_conn *c, struct scps_seg *seg)
{
    if (nif->nif->flags & SCPS_NETIF_VALUES)
        return nif->values(nif->nif, c, seg);
    if (!t->gate)
        gso_coalesce(c, seg);
    return 0;
}

/* Charges a packet of c, len bytes, to the token bucket of its route, which has a rate limit.
 * Returns true if c has sent its share of bytes (the quantum of deficit round robin), so that the
 * next connection in t, the route's ready queue, follows. */
static SCPS_NOINLINE bool charge(struct scps_stack *st, struct scps_nif *nif,
                                 struct scps_ready_queue *t, struct scps_conn *c, size_t len)
{
    bool over = scps_gate_left(t->gate, &c->s, st->env.now, (uint32_t)len);

    if (over && nif->n_dgrams)
        scps_dgram_yield(t);
    return over;
}

/* Called when c has sent a segment with these flags, a SYN or a reset, in a packet of len bytes:
 * frees a connection that has ended with the reset. A SYN-ACK of a half-open connection is not
 * traffic of connections, but was charged to the token bucket of replies to unknown peers when it
 * became due. */
static SCPS_NOINLINE void syn_or_reset_left(struct scps_nif *nif, struct scps_conn *c,
                                            unsigned flags, size_t len)
{
    if (flags & SCPS_RST)
        scps_conn_queue_for_free(c);
    else if (scps_conn_listener(c))
        scps_usage_leave_out(&nif->usage, len);
}

/* Builds the next segment of the connections that are ready, which take turns. Returns 1 with a
 * packet in *out, 0 if there is nothing to send, or SCPS_OUTPUT_SENT if a simulated device has
 * already taken the segment as a structure, so that *out has no packet. */
static SCPS_NOINLINE int segment(struct scps_stack *st, struct scps_nif *nif, struct scps_pkt *out)
{
    struct scps_ready_queue *t = nif->shapers ? open_queue(st, nif) : &nif->ready;
    struct scps_conn *c;
    struct scps_seg seg;

    while ((c = scps_conn_of(t->head))) {
        if (!scps_conn_output(c, &seg)) {
            if (t->gate)
                t = pass(st, nif, c);
            else
                scps_sender_dequeue(&c->s);
            continue;
        }
        const unsigned flags = nif->nif->flags;
        size_t len = flags & SPECIAL ? special_device(nif, t, c, &seg) : 0;
        int made = SCPS_OUTPUT_SENT;
        if (!len) {
            made = 1;
            scps_ipout(st, c, &seg, flags & SCPS_NETIF_NO_CSUM, out);
            len = out->len + out->payload_len;
        }
        bool over = !t->gate || charge(st, nif, t, c, len);
        if (scps_sender_quiet(&c->s, seg.len > 0))
            scps_sender_dequeue(&c->s);
        else if (over && &c->s != t->tail)
            scps_ready_queue_next(t);
        scps_usage_sent(&nif->usage, len);
        if (seg.flags & (SCPS_RST | SCPS_SYN))
            syn_or_reset_left(nif, c, seg.flags, len);
        return made;
    }
    return 0;
}

static int datagram(struct scps_stack *st, struct scps_nif *nif, struct scps_pkt *out)
{
    if (!scps_dgram_output(st, nif, out))
        return 0;
    scps_usage_sent(&nif->usage, out->len + out->payload_len);
    return 1;
}

static int answer(struct scps_stack *st, struct scps_nif *nif, struct scps_pkt *out)
{
    if (!scps_answer_output(st, nif, out))
        return 0;
    nif->since_answer = 0;
    st->count.replies_out++;
    st->count.reply_bytes_out += out->len + out->payload_len;
    return 1;
}

/* Called while datagrams wait: builds a datagram or a segment of a connection in *out; the two
 * kinds take turns at being tried first. Returns 1 with a packet in *out, SCPS_OUTPUT_SENT if a
 * simulated device has already taken a segment, and 0 if there is nothing to send.
 * Before that, frees the datagram endpoints that the application has closed and that have sent
 * everything. At the front of a route's queue such an endpoint would count as a waiting datagram
 * (scps_dgram_first), and keep the route's segments waiting in the turn of datagrams, although
 * scps_stack_deadline() has reported that one is due. */
static SCPS_NOINLINE int output_alternate(struct scps_stack *st, struct scps_nif *nif,
                                          struct scps_pkt *out)
{
    scps_dgram_drop_closed(nif);
    nif->after_dgram = !nif->after_dgram;
    if (nif->after_dgram && datagram(st, nif, out))
        return 1;
    int n = segment(st, nif, out);
    return n ? n : datagram(st, nif, out);
}

/* Slow path of scps_stack_output(), for timers, replies, datagrams and routes with a rate. A reply
 * (to a packet that belongs to no connection) is sent when nothing else can be sent, and otherwise
 * as every SCPS_ANSWER_SHARE-th packet. */
static SCPS_NOINLINE int output_slow(struct scps_stack *st, struct scps_nif *nif,
                                     struct scps_pkt *out)
{
    int n = 0;

    output_housekeeping(st);
    if (nif->since_answer >= SCPS_ANSWER_SHARE - 1 && answer(st, nif, out))
        return 1;
    if (nif->n_dgrams)
        n = output_alternate(st, nif, out);
    else
        n = segment(st, nif, out);
    if (n) {
        if (nif->since_answer < SCPS_ANSWER_SHARE)
            nif->since_answer++;
        return n;
    }
    return answer(st, nif, out);
}

int scps_output_now(struct scps_stack *st, struct scps_nif *nif, struct scps_pkt *out)
{
    if (st->env.dead || scps_stack_timers_due(st) || nif->others)
        return output_slow(st, nif, out);
    return nif->ready.head ? segment(st, nif, out) : 0;
}

int scps_stack_output(struct scps_stack *st, struct scps_netif *netif, scps_time now,
                      struct scps_pkt *out)
{
    struct scps_nif *nif = scps_nif_of(netif);

    /* The headers of every packet fit into SCPS_MAX_HEADERS bytes. */
    if (out->cap < SCPS_MAX_HEADERS)
        return SCPS_ERR_ROOM;
    if (netif->stack != st)
        return SCPS_ERR_INVAL;
    /* Every driver calls this function until it returns 0. The case that nothing is to be sent is
     * common, so this function ends with a tail call and needs no stack frame of its own. */
    scps_stack_clock(st, now);
    return scps_output_now(st, nif, out);
}
