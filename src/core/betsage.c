/* SPDX-License-Identifier: MIT */
/* Best effort, sender: decides which segment can be given up, and when it is too old; bets.c gives
 * it up. */
#include "core/bets.h"

#include "base/bytes.h"
#include "core/tx.h"

/* A segment that fills the peer's window up to its right edge is not given up: the peer would
 * accept nothing behind it, would never learn that something is missing, and its window would never
 * advance. Such a segment is resent until it arrives; then the receiver's timer passes the hole
 * before it. */
const struct scps_sent_segment *scps_bets_oldest(const struct scps_scoreboard *sb, scps_off edge)
{
    const struct scps_sent_segment *r = scps_sb_count(sb) ? scps_sb_at(sb, sb->head) : NULL;

    if (!r || r->state == SCPS_SENT_ARRIVED || r->from + r->len >= edge)
        return NULL;
    return r->len > (r->flags & SCPS_SENT_FIN ? 1u : 0) ? r : NULL;
}

scps_time scps_bets_until(struct scps_sender *s)
{
    scps_dur life = s->ctx.cfg->c.bets_lifetime;

    if (!life || !scps_bets_keeps_open(s))
        return SCPS_NEVER;
    return SCPS_MAX(s->tx->progress_at, s->tx->gave_up_at) + life;
}

scps_time scps_bets_arm(struct scps_sender *s)
{
    struct scps_tx *tx = s->tx;
    scps_time since = SCPS_MAX(tx->progress_at, tx->gave_up_at);

    if (since != tx->life_since) {
        tx->life_since = since;
        tx->life_nxt = s->snd.nxt;
    }
    return scps_bets_until(s);
}

bool scps_bets_keeps_open(struct scps_sender *s)
{
    return s->agreed.caps & SCPS_CAP_BETS && s->established &&
           scps_bets_oldest(&s->tx->sb, s->snd.edge);
}

/* The receiver's timer for a hole starts when something that was sent behind the hole arrives. The
 * peer's timer is not known: it is assumed to be that of the reference implementation, or ours if
 * that is shorter. An acknowledgement of data that this end has given up is no evidence. */
bool scps_bets_is_arrival(struct scps_sender *s, scps_off una, scps_time sent)
{
    scps_dur wait = s->ctx.cfg->c.bets_timeout;

    wait = wait ? SCPS_MIN(wait, SCPS_BETS_WAIT_MIN) : SCPS_BETS_WAIT_MIN;
    return una > s->tx->gave_up_to && s->ctx.env->now - sent < scps_rtt_min(&s->rtt) + wait;
}
