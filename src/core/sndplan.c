/* SPDX-License-Identifier: MIT */
/* Decides whether a new segment may be sent now: the rules of small segments, of the route's
 * minimum rate and of a restart after an idle time (sndplan.h).
 *
 * Small segments: Nagle's rule in Minshall's form (one small segment may be outstanding), and RFC
 * 9293 section 3.8.6.2.1 against silly windows. With cork set, a small segment waits 200 ms at
 * most, as with Linux's TCP_CORK.
 */
#include "core/sndplan.h"

#define CORK_MAX SCPS_MS(200)

SCPS_NOINLINE bool scps_plan_gate_permits(struct scps_sender *s)
{
    if (s->queue->gate &&
        !scps_recovery_only_probes(s->tx, s->snd.nxt - s->snd.una, s->agreed.mss) &&
        scps_gate_permits(s->queue->gate, s))
        return true;
    /* The segment is held back by the congestion window, so the window counts as used, even if the
     * application has written little: the controller may raise it (RFC 7661). */
    scps_cc_limited(&s->use, true);
    scps_snd_hold(s, s->tx->rec.episode == SCPS_EPISODE_FAST ? SCPS_HOLD_RECOVERY : SCPS_HOLD_CWND);
    return false;
}

SCPS_NOINLINE bool scps_plan_small(struct scps_sender *s, uint32_t len, uint64_t usable)
{
    struct scps_tx *tx = s->tx;
    bool all = s->snd.nxt + len == s->snd.end;

    if (!all && usable < s->agreed.mss && scps_send_worth(&s->snd, s->agreed.mss, len))
        return true; /* The segment uses all that the peer's window permits, so it need not wait. */
    if (!all) {
        /* The segment waits: the window will soon permit a larger one, or the override timeout
         * sends this one. */
        scps_snd_hold(s, SCPS_HOLD_PEER_WINDOW);
        if (s->snd.una == s->snd.nxt && !(s->todo.bits & SCPS_TODO_PERSIST)) {
            scps_persist_begin(s);
            scps_persist_arm_override(s);
        }
        return false;
    }
    scps_plan_ran_dry(tx, scps_plan_window(s));
    if (s->snd.shut || s->small.bits & SCPS_SMALL_PUSH)
        return true;
    if (s->small.bits & (SCPS_SMALL_CORK | SCPS_SMALL_MORE)) {
        if (!scps_timer_runs(&tx->cork_timer))
            scps_timer_set(&s->ctx, &tx->cork_timer, s->ctx.env->now + CORK_MAX);
        scps_snd_hold(s, SCPS_HOLD_CORK);
        return false;
    }
    if (s->small.bits & SCPS_SMALL_NODELAY || tx->small_end <= s->snd.una)
        return true;
    scps_snd_hold(s, SCPS_HOLD_NAGLE);
    return false;
}

/* Called where the pacer spreads the congestion window over a round trip. Returns how many bytes a
 * segment with len octets of data takes from the token bucket of the pacer. That is len: headers do
 * not count, as they do not in the window. With headers included, a window of small segments would
 * take longer than a round trip to send, would never be full, and so would not grow. If the
 * configured rate, which counts whole packets, is to be observed, too (pace_share is not 0), the
 * result is larger for small segments: as many bytes as the pacer adds in the time that the packet
 * takes at the configured rate. */
SCPS_NOINLINE uint32_t scps_plan_window_cost(const struct scps_sender *s, uint32_t len)
{
    uint32_t share = s->tx->pace_share, packet;

    if (!share)
        return len;
    packet = scps_cc_packet(s, len);
    return SCPS_MAX(len, (uint32_t)((uint64_t)packet * share >> 32) + 1);
}

/* Restarts from the initial window. After a time of one RTO without sending, the old congestion
 * window is no evidence of the path's capacity (RFC 5681 section 4.1). */
SCPS_NOINLINE void scps_plan_restart(struct scps_sender *s, void *cc)
{
    if (s->snd.una > 1 && s->ctx.env->now - s->tx->sent_at > s->rtt.rto) {
        scps_cc_change(s, cc, SCPS_CC_IDLE);
    }
}
