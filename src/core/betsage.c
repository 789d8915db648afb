/* SPDX-License-Identifier: MIT */
/* Best effort, sender: decides which segment can be given up, and when it is too old; bets.c gives
 * it up. */
#include "core/bets.h"

#include "base/bytes.h"
#include "core/tx.h"

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

scps_time scps_bets_until(const struct scps_look *l)
{
    scps_dur life = l->x->cfg->c.bets_lifetime;

    if (!life || !scps_bets_keeps_open(l))
        return SCPS_NEVER;
    return SCPS_MAX(l->tx->progress_at, l->tx->gave_up_at) + life;
}

scps_time scps_bets_arm(const struct scps_look *l)
{
    struct scps_tx *tx = l->tx;
    scps_time since = SCPS_MAX(tx->progress_at, tx->gave_up_at);

    if (since != tx->life_since) {
        tx->life_since = since;
        tx->life_nxt = l->snd->nxt;
    }
    return scps_bets_until(l);
}

bool scps_bets_keeps_open(const struct scps_look *l)
{
    return l->agreed->caps & SCPS_CAP_BETS && l->established &&
           scps_bets_oldest(&l->tx->sb, l->snd->edge);
}
