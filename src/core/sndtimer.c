/* SPDX-License-Identifier: MIT */
/* What the timers of the sending side do: nothing outstanding was acknowledged in time, or a window
 * that is shut is to be probed.
 */
#include "core/snd.h"

#include "base/bytes.h"
#include "core/conn.h"

void scps_snd_begin_persist(struct scps_conn *c)
{
    scps_todo_add(&c->todo, SCPS_TODO_PERSIST);
    scps_heard_since_persist(&c->heard);
    scps_rto_silent_since(&c->tx->rto, c->ctx.env->now);
    scps_snd_arm_persist(c);
}

SCPS_NOINLINE void scps_snd_end_persist(struct scps_tx *tx, struct scps_todo *todo)
{
    scps_todo_done(todo, SCPS_TODO_PERSIST);
    scps_rto_answered(&tx->rto);
    scps_rto_stop(tx);
}

SCPS_NOINLINE void scps_snd_window_changed(struct scps_conn *c)
{
    /* The window is open; a probe that the peer did not accept is resent first. */
    if (c->tx && c->snd.edge > c->snd.una) {
        struct scps_ack_result sum = {0};
        scps_todo_done(&c->todo, SCPS_TODO_PROBE);
        if (scps_send_awaits_override(&c->snd, c->agreed.mss) && !c->tx->ends.n) {
            /* The backoff does not restart with each octet of window. */
            scps_rto_answered(&c->tx->rto);
            scps_rto_arm_override(&c->ctx, c->tx, c->rtt.rto);
            return;
        }
        scps_snd_end_persist(c->tx, &c->todo);
        if (scps_sb_count(&c->tx->sb))
            scps_sb_lose(&c->tx->sb, c->tx->sb.head, &sum);
    }
}

static bool user_timed_out(const struct scps_conn_ctx *x, const struct scps_tx *tx,
                           bool established)
{
    const scps_dur limit = x->cfg->c.user_timeout;

    return limit && established && x->env->now - tx->progress_at >= limit;
}

/* Decides whether the connection times out. A user timeout decides alone. */
static bool timed_out(struct scps_conn *c)
{
    const struct scps_look l = scps_conn_look(c);

    if (c->ctx.cfg->c.user_timeout && c->established)
        return user_timed_out(&c->ctx, c->tx, c->established != 0);
    return scps_snd_silent_too_long(c, c->ctx.cfg->c.rto_max) && !scps_bets_keeps_open(&l);
}

/* Returns true if the retransmission waits for the rate: then no answer is overdue, and only a
 * user timeout continues. The rate is the route's if this connection is not served yet, or was
 * held by it, and otherwise its own. *at: when the rate permits the packet, headers included.
 * The timer runs from then; otherwise it would expire repeatedly on a slow line. */
static bool waits_for_rate(const struct scps_conn *c, scps_time *at)
{
    const struct scps_scoreboard *sb = &c->tx->sb;
    bool queued = c->hold == SCPS_HOLD_ROUTE || c->ready;
    struct scps_gate *g = queued && c->turns ? c->turns->gate : NULL;

    if (sb->inflight || !sb->lost || (c->hold != SCPS_HOLD_PACE && !g) ||
        user_timed_out(&c->ctx, c->tx, c->established != 0))
        return false;
    *at = g ? scps_gate_asks(
                  g, c->ctx.env->now,
                  scps_agreed_packet(&c->agreed, c->remote.family, scps_sb_at(sb, sb->head)->len))
            : c->tx->pace_timer.at;
    if (*at == SCPS_NEVER || *at < c->ctx.env->now)
        *at = c->ctx.env->now;
    return true;
}

void scps_snd_probe_timeout(struct scps_conn *c)
{
    const struct scps_conn_config *cfg = &c->ctx.cfg->c;

    /* A window may stay closed for ever as long as the peer answers; but after the application
     * has closed it ends like a silence (RFC 6429 section 3), or peers could pile such
     * connections up. */
    if (c->heard.persist && !c->released)
        scps_rto_silent_since(&c->tx->rto, c->ctx.env->now);
    scps_heard_since_persist(&c->heard);
    if (cfg->user_timeout ? user_timed_out(&c->ctx, c->tx, c->established != 0)
                          : scps_snd_silent_too_long(c, cfg->persist_max)) {
        scps_conn_reset(c, scps_snd_silence_err(c->soft_err));
        return;
    }
    scps_rto_back_off(&c->tx->rto);
    scps_todo_add(&c->todo, SCPS_TODO_PROBE);
    scps_conn_wake(c);
    scps_snd_arm_persist(c);
}

/* Nothing has answered: the SYN, or what should have been answered by now, is lost. */
static void presume_lost(struct scps_conn *c, bool handshake)
{
    struct scps_tx *tx = c->tx;

    if (handshake) {
        struct scps_ack_result sum = {0};
        c->syn_lost = true;
        scps_sb_lose(&tx->sb, tx->sb.head, &sum);
    } else {
        if (scps_sb_at(&tx->sb, tx->sb.head)->state == SCPS_SENT_ARRIVED) {
            /* The peer has discarded what it reported above SND.UNA. */
            scps_sb_renege(&tx->sb);
            scps_sackin_forget(&tx->sackin);
        }
        scps_recovery_timeout(c);
        scps_rto_keep(&tx->rto);
    }
}

void scps_snd_timeout(struct scps_conn *c)
{
    const struct scps_conn_config *cfg = &c->ctx.cfg->c;
    bool handshake = c->state == SCPS_SYN_SENT || c->state == SCPS_SYN_RECEIVED;
    struct scps_tx *tx = c->tx;
    const struct scps_look l = scps_conn_look(c);
    scps_time leaves;

    if (c->snd.una == c->snd.nxt)
        return;
    /* Best effort: not a timeout, but the end of the segment's lifetime. */
    if (c->ctx.env->now >= scps_bets_until(&l)) {
        scps_bets_send(c);
        if (c->snd.una < c->snd.nxt)
            scps_snd_arm_rtx(c);
        scps_conn_wake(c);
        return;
    }
    if (waits_for_rate(c, &leaves)) {
        scps_snd_arm_rtx_from(c, leaves);
        return;
    }
    scps_conn_ctx_need_stats(&c->ctx);
    c->ctx.st->timeouts++;
    SCPS_OBSERVE_CONN(c, RTO, c->snd.una, c->rtt.rto, c->tx->rto.backoff, tx->sb.inflight);
    if (!c->tx->rto.backoff) /* This is the first timeout in a row. */
        scps_rto_silent_since(&tx->rto, c->ctx.env->now - c->rtt.rto);
    if (cfg->outage_after && c->tx->rto.backoff >= cfg->outage_after && !handshake) {
        scps_outage_begin(c, SCPS_NEVER, true);
        return;
    }
    if (timed_out(c)) {
        int err = scps_snd_silence_err(c->soft_err);
        if (handshake)
            scps_conn_finish(c, err);
        else
            scps_conn_reset(c, err);
        return;
    }
    presume_lost(c, handshake);
    scps_rto_back_off(&c->tx->rto);
    if (c->agreed.caps & SCPS_CAP_COM &&
        scps_conn_doubts_comp(c)) /* Without memory it is sent as it is. */
        scps_sb_split_head(
            &tx->sb, &c->ctx.env->alloc,
            scps_agreed_any_payload(&c->agreed,
                                    scps_sb_at(&tx->sb, tx->sb.head)->flags & SCPS_SENT_RECORD));
    if (c->state == SCPS_SYN_SENT && c->tx->rto.backoff == cfg->caps_tries && !c->plain &&
        scps_conn_offers(c))
        scps_conn_plainly(c, SCPS_PLAIN_FELL_BACK);
    scps_snd_arm_rtx(c);
    scps_conn_wake(c);
}
