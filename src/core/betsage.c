/* SPDX-License-Identifier: MIT */
/* Best effort, sender: decides which segment can be given up, and when it is too old; bets.c gives
 * it up. */
#include "core/conn.h"

#include "base/bytes.h"

/* What fills the peer's window up to its right edge is not given up: the peer would take nothing
 * that stands behind, would never learn that something is missing, and its window would never move.
 * That segment is sent again until it arrives; then the receiver's timer passes the hole before it.
 */
const struct scps_sent_segment *scps_bets_oldest(const struct scps_scoreboard *sb, scps_off edge)
{
    const struct scps_sent_segment *r = scps_sb_count(sb) ? scps_sb_at(sb, sb->head) : NULL;

    if (!r || r->state == SCPS_SENT_ARRIVED || r->from + r->len >= edge)
        return NULL;
    return r->len > (r->flags & SCPS_SENT_FIN ? 1u : 0) ? r : NULL;
}

scps_time scps_bets_until(const struct scps_conn *c)
{
    scps_dur life = c->ctx.cfg->c.bets_lifetime;

    if (!life || !(c->agreed.caps & SCPS_CAP_BETS) || !c->established ||
        !scps_bets_oldest(&c->tx->sb, c->snd.edge))
        return SCPS_NEVER;
    return SCPS_MAX(c->tx->progress_at, c->tx->gave_up_at) + life;
}

scps_time scps_bets_arm(struct scps_conn *c)
{
    struct scps_tx *tx = c->tx;
    scps_time since = SCPS_MAX(tx->progress_at, tx->gave_up_at);

    if (since != tx->life_since) {
        tx->life_since = since;
        tx->life_nxt = c->snd.nxt;
    }
    return scps_bets_until(c);
}

bool scps_bets_keeps_open(const struct scps_conn *c)
{
    return c->agreed.caps & SCPS_CAP_BETS && c->established &&
           scps_bets_oldest(&c->tx->sb, c->snd.edge);
}
