/* SPDX-License-Identifier: MIT */
/* Which packet leaves next: connections in turn, datagrams between them, answers to strangers. */
#include "stack/stack.h"

#include "base/bytes.h"

/* A device that cuts trains itself gets the segments behind a full one with it, as far as they may
 * leave now. */
static SCPS_NOINLINE void gso_coalesce(struct scps_conn *c, struct scps_seg *seg)
{
    const uint32_t size = seg->len, room = UINT16_MAX - SCPS_MAX_HEADERS;
    struct scps_seg next;

    if (size != c->agreed.mss || c->agreed.caps & SCPS_CAP_COM)
        return;
    while (seg->len + size <= room && scps_conn_follow(c, seg, &next)) {
        seg->flags |=
            next.flags; /* PSH and FIN belong to the last one, where the device puts them */
        seg->ack = next.ack;
        seg->wnd = next.wnd;
        seg->gso = (uint16_t)size;
        seg->len += next.len;
        if (next.len < size)
            break;
    }
}

/* What goes before all packets: connections that have ended, timers. */
static SCPS_NOINLINE void output_housekeeping(struct scps_stack *st)
{
    if (st->env.dead)
        scps_stack_reap(st);
    if (scps_stack_timers_due(st))
        scps_stack_serve_timers(st);
}

/* Whose turn it is: routes that have a rate go before what has none, which could leave them
 * nothing; among themselves in turn. Of a route with a rate the one at the head, if the credit is
 * there. */
static SCPS_NOINLINE struct scps_ready_queue *open_turns(struct scps_stack *st,
                                                         struct scps_nif *nif)
{
    scps_time now = st->env.now;

    for (struct scps_shaper **at = &nif->pipes, *p; (p = *at); at = &p->next) {
        scps_gate_serve(&p->gate, now);
        if (!p->turns.head || scps_dgram_first(p) || !scps_gate_open(&p->gate, p->turns.head, now))
            continue;
        scps_stack_last(at);
        return &p->turns;
    }
    return &nif->turns;
}

/* c, whose turn it was, sends nothing: because its packet waits for credit, which it does at the
 * head, or on its own account. Returns whose turn it is now. */
static SCPS_NOINLINE struct scps_ready_queue *pass(struct scps_stack *st, struct scps_nif *nif,
                                                   struct scps_conn *c)
{
    if (c->turns->gate->asked != c) {
        scps_gate_passed(c->turns->gate, c);
        scps_conn_dequeue(c);
    }
    return open_turns(st, nif);
}

/* The next segment of the connections that may have one, in turn. */
static SCPS_NOINLINE int segment(struct scps_stack *st, struct scps_nif *nif, struct scps_pkt *out)
{
    struct scps_ready_queue *t = nif->pipes ? open_turns(st, nif) : &nif->turns;
    struct scps_conn *c;
    struct scps_seg seg;

    while ((c = t->head)) {
        bool over = true;
        if (!scps_conn_output(c, &seg)) {
            if (t->gate)
                t = pass(st, nif, c);
            else
                scps_conn_dequeue(c);
            continue;
        }
        if (nif->nif->flags & SCPS_NETIF_GSO && !t->gate)
            gso_coalesce(c, &seg);
        scps_ipout(st, c, &seg, nif->nif->flags & SCPS_NETIF_NO_CSUM, out);
        if (t->gate)
            over = scps_gate_left(t->gate, c, st->env.now, (uint32_t)(out->len + out->payload_len));
        if (t->gate && over && nif->n_dgrams)
            scps_dgram_yield(t);
        if (scps_conn_quiet(c, seg.len > 0))
            scps_conn_dequeue(c);
        else if (over && c != t->tail)
            scps_ready_queue_next(t);
        st->count.packets_out++;
        st->count.bytes_out += out->len + out->payload_len;
        if (seg.flags & SCPS_RST)
            scps_conn_bury(c);
        return 1;
    }
    return 0;
}

/* Datagrams wait, too: each kind goes first every other time. */
static SCPS_NOINLINE int output_alternate(struct scps_stack *st, struct scps_nif *nif,
                                          struct scps_pkt *out)
{
    nif->after_dgram = !nif->after_dgram;
    if (nif->after_dgram && scps_dgram_output(st, nif, out))
        return 1;
    if ((nif->turns.head || nif->pipes) && segment(st, nif, out))
        return 1;
    return scps_dgram_output(st, nif, out);
}

/* Not only connections, or not only theirs to send. Answers to strangers leave when nobody else has
 * anything, and every SCPS_ANSWER_SHARE-th time else. */
static SCPS_NOINLINE int output_slow(struct scps_stack *st, struct scps_nif *nif,
                                     struct scps_pkt *out)
{
    output_housekeeping(st);
    if (nif->n_answers && nif->since_answer >= SCPS_ANSWER_SHARE - 1 &&
        scps_answer_output(st, nif, out))
        return 1;
    if (nif->n_dgrams ? output_alternate(st, nif, out)
                      : (nif->turns.head || nif->pipes) && segment(st, nif, out)) {
        if (nif->since_answer < SCPS_ANSWER_SHARE)
            nif->since_answer++;
        return 1;
    }
    return nif->n_answers && scps_answer_output(st, nif, out);
}

int scps_stack_output(struct scps_stack *st, struct scps_netif *netif, scps_time now,
                      struct scps_pkt *out)
{
    struct scps_nif *nif = scps_nif_of(netif);

    if (out->cap < SCPS_MAX_HEADERS) /* whatever is due has headers that fit there */
        return SCPS_ERR_ROOM;
    /* asked once more than it gives, by every driver after every packet: no frame for that */
    scps_stack_clock(st, now);
    if (st->env.dead || scps_stack_timers_due(st) || nif->others)
        return output_slow(st, nif, out);
    return nif->turns.head ? segment(st, nif, out) : 0;
}
