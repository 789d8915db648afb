/* SPDX-License-Identifier: MIT */
/* Best effort, sender (BETS: docs/SCPS-TP.md section 7): data that does not arrive is given up in
 * the end and reported; data that arrives is delivered complete, in order and at its position. Best
 * effort is in force when both SYNs offered it. No option announces a gap: each end decides by
 * itself. The receiver's side is betsrx.c.
 *
 * A segment at SND.UNA that has been sent as often as allowed is given up when it is lost again:
 * SND.UNA moves past it and past the data behind it that the peer has reported. When SND.UNA has
 * not moved for bets_lifetime, all data that had been sent when it last moved is given up at once;
 * data sent later is given up after at most the same time again. The connection does not end for
 * lack of answers while there is data to give up. The peer's acknowledgements are then below
 * SND.UNA, but the windows in them still count. A FIN is never given up. During an outage (the link
 * is down: as a signal has reported, or as this end infers from timeouts; snd_outage.c) no data is
 * resent or given up, and when it ends, the lifetime of the outstanding data begins anew.
 */
#include "core/bets.h"

#include "base/bytes.h"
#include "core/betsrx.h"
#include "core/tx.h"

bool scps_bets_pass(struct scps_bets *b, const struct scps_scoreboard *sb, scps_off una,
                    scps_off edge, scps_off *ack)
{
    if (*ack != una || una != b->gave_up_to)
        return false;
    for (uint32_t i = sb->head; i != sb->tail; i++) {
        const struct scps_sent_segment *r = scps_sb_at(sb, i);
        if (r->state != SCPS_SENT_ARRIVED || r->flags & SCPS_SENT_FIN || r->from + r->len > edge)
            break;
        *ack = r->from + r->len;
    }
    b->gave_up_to = *ack;
    return *ack != una;
}

scps_off scps_bets_give_up(struct scps_bets *b, struct scps_scoreboard *sb, scps_off una,
                           scps_time now, scps_off *end)
{
    if (una != b->gave_up_to)
        b->peer_una = una;
    b->gave_up_to = scps_sb_give_up(sb, end);
    b->gave_up_at = now;
    return b->gave_up_to;
}

/* Called when the peer's window opens. The octets that window probes carried lay beyond the window,
 * so the peer had to refuse them (RFC 9293 section 3.10.7.4, first step). So the probes do not
 * count as transmissions, after bets_retries of which best effort gives the octets up, and their
 * lifetime (bets_lifetime: the time without progress after which this end gives data up) begins
 * now; otherwise this end would give them up on a path that loses nothing. */
void scps_bets_window_opened(struct scps_bets *b, struct scps_sent_segment *probe, scps_time now)
{
    scps_sb_forget_probes(probe);
    b->gave_up_at = now;
}

/* Returns true if segment r was resent `retries` times or more; window probes do not count. */
static bool retries_used_up(const struct scps_sent_segment *r, unsigned retries)
{
    /* r->resends counts all transmissions but the first. A segment that began as a window probe has
     * at most one resend when the peer's window opens, however many probes were sent
     * (scps_sb_forget_probes()). The next resend is its first transmission within the window. So
     * two resends do not count. */
    unsigned probes = r->flags & SCPS_SENT_PROBE ? 2 : 0;

    return r->resends >= probes + retries;
}

bool scps_bets_is_due(const struct scps_scoreboard *sb, scps_off edge, scps_off old,
                      uint32_t retries)
{
    const struct scps_sent_segment *r = scps_bets_oldest(sb, edge);

    return r && (r->from < old || (r->state == SCPS_SENT_LOST && retries_used_up(r, retries)));
}

/* Returns the oldest unacknowledged segment, or NULL if it must not be given up (bets.h). One that
 * ends at the right edge of the peer's window is never given up, but resent until it arrives: the
 * peer, which accepts nothing behind it, would never notice the missing octets and give them up,
 * too, and its window would not advance. */
const struct scps_sent_segment *scps_bets_oldest(const struct scps_scoreboard *sb, scps_off edge)
{
    const struct scps_sent_segment *r = scps_sb_count(sb) ? scps_sb_at(sb, sb->head) : NULL;

    if (!r || r->state == SCPS_SENT_ARRIVED || r->from + r->len >= edge)
        return NULL;
    return r->len > (r->flags & SCPS_SENT_FIN ? 1u : 0) ? r : NULL;
}

scps_time scps_bets_until(const struct scps_sender *s)
{
    scps_dur life = s->ctx.cfg->c.bets_lifetime;

    if (!life || !scps_bets_keeps_open(s))
        return SCPS_NEVER;
    return SCPS_MAX(s->tx->progress_at, s->tx->bets.gave_up_at) + life;
}

scps_time scps_bets_arm(struct scps_sender *s)
{
    struct scps_bets *b = &s->tx->bets;
    scps_time since = SCPS_MAX(s->tx->progress_at, b->gave_up_at);

    if (since != b->life_since) {
        b->life_since = since;
        b->life_nxt = s->snd.nxt;
    }
    return scps_bets_until(s);
}

scps_off scps_bets_old(const struct scps_sender *s)
{
    return s->ctx.env->now >= scps_bets_until(s) ? SCPS_MAX(s->tx->bets.life_nxt, s->snd.una + 1)
                                                 : 0;
}

bool scps_bets_keeps_open(const struct scps_sender *s)
{
    return s->agreed.caps & SCPS_CAP_BETS && s->established &&
           scps_bets_oldest(&s->tx->sb, s->snd.edge);
}

/* Best effort: an acknowledgement proves that a segment has arrived only if it comes before the
 * peer can have given the segment up. The peer's timer for a hole starts when something sent behind
 * the hole arrives, so no acknowledgement after giving up comes earlier than one round trip plus
 * that timer. The round trip is taken as SRTT less four times RTTVAR, or the minimum RTT if that is
 * more. The peer's timer is not known: this end assumes that of the SCPS reference implementation,
 * or its own (bets_timeout) if that is shorter. An acknowledgement of data that this end has given
 * up proves nothing. */
bool scps_bets_is_arrival(const struct scps_sender *s, scps_off una, scps_time sent)
{
    /* The time, less 1 µs, after which the peer may give a hole up: this end's bets_timeout, but at
     * most SCPS_BETS_WAIT_MIN, 1.05 s, the receive timer of the SCPS reference implementation. 1 is
     * subtracted first so that bets_timeout 0 (not configured) wraps to the largest number, and
     * SCPS_MIN() selects SCPS_BETS_WAIT_MIN - 1. */
    uint64_t own = (uint64_t)s->ctx.cfg->c.bets_timeout - 1;
    scps_dur age = s->ctx.env->now - sent - (scps_dur)SCPS_MIN(own, SCPS_BETS_WAIT_MIN - 1);

    return !(s->agreed.caps & SCPS_CAP_BETS) ||
           (una > s->tx->bets.gave_up_to &&
            (age <= s->rtt.srtt - 4 * s->rtt.rttvar || age <= scps_rtt_min(&s->rtt)));
}
