/* SPDX-License-Identifier: MIT */
/* Best effort (BETS: docs/SCPS-TP.md section 7): octets that arrive are delivered complete, in
 * order and at their position; octets that do not arrive are given up in the end and reported. It
 * is in force when both SYNs offered it. No option announces a gap: each end decides by itself.
 *
 * Receiver. When everything in order has been read and something waits beyond a hole, a timer
 * starts. When it expires, the acknowledgement moves past the hole, at once and in every mode, and
 * reading stops there until the application has called scps_conn_hole(): octets behind a hole are
 * never returned as if there were none. Until then, octets of the hole that arrive late still fill
 * it, from either side. Holes that were known when the timer started have waited as long when
 * reading reaches them, so they are given up without a further wait. The reference implementation
 * waits again for each one, which on a bad link without a return path takes a second for each hole.
 * At most one hole is given up and not yet reported.
 *
 * Sender. A segment at SND.UNA that would have to be sent once more than allowed is given up:
 * SND.UNA moves past it and past what the peer has reported behind it. When SND.UNA has not moved
 * for bets_lifetime, all that had been sent when it last moved is given up at once; what was sent
 * later has at most as much time again. The connection does not end for lack of answers while there
 * is data to give up. The peer's acknowledgements are then below our SND.UNA, but the windows in
 * them still count.
 *
 * A FIN is never given up, and ends the stream only when the hole before it has been reported. The
 * time of an outage does not count at either end.
 */
#include <assert.h>

#include "core/conn.h"
#include "core/fixed.h"

#include "base/bytes.h"

#define KEPT_RANGES 4096u

/* ---- receiver ---- */

/* Returns the end of the hole at RCV.NXT behind which octets or the FIN have arrived; 0: there is
 * no hole. What a faulty peer sends beyond its FIN does not count. */
static scps_off beyond(const struct scps_receive *rcv, const struct scps_rx *rx)
{
    scps_off fin = rx ? rx->fin_at : 0, to = fin;

    if (rcv->fin)
        return 0;
    if (rcv->in.ooo->n) {
        to = scps_rangeset_at(rcv->in.ooo, 0)->from;
        to = fin ? SCPS_MIN(fin, to) : to;
    }
    return to > rcv->in.next ? to : 0;
}

static scps_off highest(const struct scps_receive *rcv, const struct scps_rx *rx)
{
    uint32_t n = rcv->in.ooo->n;
    scps_off to = n ? scps_rangeset_at(rcv->in.ooo, n - 1)->to : 0;

    return rx ? SCPS_MAX(to, rx->fin_at) : to;
}

/* Gives up the hole at RCV.NXT, which ends at `to`. */
static void jump(struct scps_conn *c, scps_off to)
{
    struct scps_rcv_marks *m = scps_tp_marks(c->s.tp);

    assert(to > c->rcv.in.next && c->rcv.in.read == c->rcv.in.next && m->hole.from == m->hole.to);
    scps_marks_stop(m);
    scps_marks_lose(m, c->rcv.in.next, to);
    c->s.ctx.st->holes++;
    c->s.ctx.st->bytes_missing += m->hole.to - m->hole.from;
    SCPS_OBSERVE_CONN(c, GAVE_UP, m->hole.from, m->hole.to, 1, 0);
    scps_rcv_jump(c, m->hole.to);
    scps_conn_notify(c, SCPS_EV_HOLE);
    scps_conn_notify(c, SCPS_EV_READABLE);
}

static scps_dur bets_hole_timeout(const struct scps_conn_config *cfg, scps_dur srtt)
{
    if (cfg->bets_timeout)
        return cfg->bets_timeout;
    return SCPS_MAX(SCPS_BETS_WAIT_MIN, 2 * SCPS_MAX(cfg->expected_rtt, srtt));
}

/* Returns the end of the hole for which the reader waits, having read everything before it. 0:
 * there is none, or no retransmission can come. */
static scps_off awaited(const struct scps_conn *c)
{
    if (c->rcv.in.read != c->rcv.in.next || c->s.todo.bits & SCPS_TODO_OUTAGE ||
        c->state == SCPS_CLOSED)
        return 0;
    return beyond(&c->rcv, c->rcv.rx);
}

void scps_bets_wait(struct scps_conn *c)
{
    struct scps_rcv_marks *m = scps_tp_marks(c->s.tp);
    scps_off to = awaited(c);

    if (!to) {
        scps_marks_stop(m);
        return;
    }
    /* Set the timer again: the peer may give up the hole, too, and send nothing more. */
    if (scps_conn_need_marks(&c->s)) {
        scps_env_starved(c->s.ctx.env);
        return;
    }
    m = scps_tp_marks(c->s.tp);
    if (to <= m->old) {
        jump(c, to);
    } else if (m->due == SCPS_NEVER || m->due_for != c->rcv.in.next) {
        m->due_for = c->rcv.in.next;
        m->known = highest(&c->rcv, c->rcv.rx);
        scps_marks_wait(m, c->s.ctx.env->now + bets_hole_timeout(&c->s.ctx.cfg->c, c->s.rtt.srtt));
        scps_timer_due(&c->s.ctx, m->due);
    }
}

void scps_bets_timer(struct scps_conn *c)
{
    struct scps_rcv_marks *m = scps_tp_marks(c->s.tp);
    scps_off to = awaited(c);

    scps_marks_stop(m);
    /* The hole for which the timer was set has been filled. */
    if (!to || m->due_for != c->rcv.in.next) {
        scps_bets_wait(c);
        return;
    }
    m->old = m->known;
    jump(c, to);
}

void scps_bets_late(struct scps_conn *c, scps_off from, scps_off to, const uint8_t *data,
                    bool record)
{
    struct scps_rcv_marks *m = scps_tp_marks(c->s.tp);
    const struct scps_range *h = &m->hole;

    if (to <= h->from || from >= h->to)
        return;
    record = record && to <= h->to;
    if (from < h->from) {
        data = data ? data + (h->from - from) : NULL;
        from = h->from;
    }
    to = SCPS_MIN(to, h->to);
    if ((from != h->from && to != h->to) || /* The data would split the hole in two. */
        (record && !scps_conn_keep_record(&c->s, c->rcv.in.next, from, to)) ||
        scps_rcvbuf_fill(&c->rcv.in, &c->s.ctx.env->alloc, from, data, (uint32_t)(to - from),
                         scps_receive_max_holes(c->s.ctx.cfg->c.rcvbuf)))
        return;
    if (scps_marks_repair(m, from, to))
        c->s.ctx.st->holes--;
    c->s.ctx.st->bytes_missing -= to - from;
    SCPS_OBSERVE_CONN(c, RECEIVED, from, to - from, 0, 0);
    scps_conn_notify(c, SCPS_EV_READABLE);
}

/* ---- sender ---- */

bool scps_bets_pass(struct scps_tx *tx, scps_off una, scps_off edge, scps_off *ack)
{
    struct scps_scoreboard *sb = &tx->sb;

    if (*ack != una || una != tx->gave_up_to)
        return false;
    for (uint32_t i = sb->head; i != sb->tail; i++) {
        const struct scps_sent_segment *r = scps_sb_at(sb, i);
        if (r->state != SCPS_SENT_ARRIVED || r->flags & SCPS_SENT_FIN || r->from + r->len > edge)
            break;
        *ack = r->from + r->len;
    }
    tx->gave_up_to = *ack;
    return *ack != una;
}

static void give_up(struct scps_conn *c)
{
    struct scps_tx *tx = c->s.tx;
    struct scps_rangeset *list = !scps_conn_need_tp(&c->s) ? &c->s.tp->given_up : NULL;
    scps_off from = c->s.snd.una, end;

    if (from != tx->gave_up_to)
        tx->peer_una = from;
    tx->gave_up_to = scps_sb_give_up(&tx->sb, &end);
    scps_send_acked(&c->s.snd, tx->gave_up_to);
    tx->gave_up_at = c->s.ctx.env->now;
    /* The silence that ends the connection (R2) counts from now on, for a FIN that remains. */
    scps_rto_silent_since(&tx->rto, c->s.ctx.env->now);
    if (list && !list->max) {
        const struct scps_fixed *fixed = c->s.ctx.env->fixed;
        scps_rangeset_init(list, fixed ? fixed->given_up : KEPT_RANGES);
        if (fixed)
            /* cannot fail, because the plan of fixed memory includes it */
            (void)scps_rangeset_reserve(list, &c->s.ctx.env->alloc);
    }
    if (list) /* The list has the first ranges only; the sum counts all. */
        scps_rangeset_add(list, &c->s.ctx.env->alloc, from, end, NULL);
    c->s.ctx.st->bytes_given_up += end - from;
    SCPS_OBSERVE_CONN(c, GAVE_UP, from, end, 0, 0);
    scps_sndbuf_release(&tx->buf, c->s.snd.una);
    scps_recovery_forget(&tx->rec);
    if (scps_recovery_passed(&tx->rec, c->s.snd.una)) {
        scps_cc_change(&c->s, scps_conn_cc(c), SCPS_CC_RECOVERED);
        SCPS_OBSERVE_CONN(c, RECOVERY, 0, c->s.snd.una, c->s.ctl.cwnd, c->s.ctl.ssthresh);
    }
    scps_conn_notify(c, SCPS_EV_GAVE_UP);
    if (c->s.small.wanted)
        scps_conn_room(c);
    if (c->s.snd.una < c->s.snd.nxt) {
        scps_snd_arm_rtx(&c->s);
        return;
    }
    scps_rto_stop(tx);
    if (c->s.snd.una == scps_send_fin_end(&c->s.snd)) {
        scps_conn_notify(c, SCPS_EV_DRAINED);
        scps_timer_set(&c->s.ctx, &tx->trim_timer, c->s.ctx.env->now + 2 * c->s.rtt.rto);
    }
}

/* As long as the window was closed, what a window probe carried has not been sent at all: the peer
 * had to refuse it (RFC 9293 section 3.10.7.4, first step: octets beyond the window are not
 * acceptable). To give it up when the window opens would lose octets on a path that loses none, so
 * neither the probes nor the time that they took count. */
void scps_bets_window_opened(struct scps_tx *tx, struct scps_sent_segment *probe, scps_time now)
{
    scps_sb_forget_probes(probe);
    tx->gave_up_at = now;
}

/* Returns true if r has been sent again as often as it may be. */
static bool had_its_tries(const struct scps_sent_segment *r, const struct scps_conn_config *cfg)
{
    unsigned probes = r->flags & SCPS_SENT_PROBE ? 2 : 0; /* scps_sb_forget_probes() */

    return r->resends >= probes + cfg->bets_retries;
}

void scps_bets_send(struct scps_conn *c)
{
    scps_off old = 0;
    const struct scps_sent_segment *r;

    /* Reached when at least the oldest segment has exceeded its lifetime. */
    if (c->s.ctx.env->now >= scps_bets_until(&c->s))
        old = SCPS_MAX(c->s.tx->life_nxt, c->s.snd.una + 1);
    while (c->s.established && (r = scps_bets_oldest(&c->s.tx->sb, c->s.snd.edge)) &&
           (r->from < old || (r->state == SCPS_SENT_LOST && had_its_tries(r, &c->s.ctx.cfg->c))))
        give_up(c);
}
