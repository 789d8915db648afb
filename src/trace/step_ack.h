/* SPDX-License-Identifier: MIT */
/* Functions that analyze_segment() of segment.c calls, one after the other, to analyse the
 * acknowledgement, the window and the SACK and SNACK options of one captured segment. They are
 * inline in this header because analyze_segment() is compiled four times, for the kinds of segment
 * of enum kind (segment.c): any segment while the application has set the callback
 * scps_trace_config.on_packet; else data or a bare acknowledgement with no flags but ACK and PSH
 * and no options but timestamps; or any other segment. */
#ifndef SCPS_TRACE_STEP_ACK_H
#define SCPS_TRACE_STEP_ACK_H

#include "trace/held.h"
#include "trace/step.h"
#include "trace/why.h"

/* Counts how many segments an acknowledgement of direction h acknowledges: SEG.ACK advanced by
 * `moved` octets, and full segments have `unit` octets. */
static SCPS_ALWAYS_INLINE void segs_per_ack(struct conn_dir *h, uint32_t unit, uint64_t moved)
{
    uint64_t segs = moved <= unit ? 1 : moved <= 2 * unit ? 2 : (moved + unit - 1) / unit;
    h->acks_adv++;
    h->acked_segs += segs;
    if (segs <= 1)
        h->acks_one++;
    else if (segs == 2)
        h->acks_two++;
    else
        h->acks_more++;
}

/* Called when SEG.ACK is above all earlier ones: records it in h, the direction that acknowledges,
 * and in o, the direction whose data was acknowledged. */
static SCPS_ALWAYS_INLINE void advance(const struct step *x, struct conn_dir *h, struct conn_dir *o)
{
    const struct opts *opt = &x->s->o;
    const uint64_t una = h->ack_hi, moved = una ? x->ack64 - una : 0;
    h->ack_hi = x->ack64;
    h->ack_at = x->now;
    o->dup_run = 0;
    if (opt->has_ts)
        scps_tr_ts_echoed(x->t, o, opt->tsecr, x->now);
    if (o->why && o->why->open)
        scps_tr_why_acked(o, una, x->ack64, h->caps & o->caps & SCPS_CAP_BETS, opt->has_ts,
                          opt->tsecr);
    if (o->sacked.n)
        scps_rangeset_trim(&o->sacked, x->ack64);
    if (moved && o->data_pkts) {
        scps_tr_round_acked(x->t, o, x->ack64, x->now);
        if (x->len == 0 && moved > 1)
            segs_per_ack(h, o->full, moved);
    }
}

static SCPS_ALWAYS_INLINE void answer(struct step *x, struct conn_dir *h, struct conn_dir *o)
{
    bool dup = x->s->ack == h->ack && x->len == 0 && x->win == h->win_last && o->owin_tot > 0;
    uint64_t dup_before = o->dupacks;
    if (dup || TR_UNLIKELY(x->ack64 != o->segs.settled))
        x->sample = scps_tr_segs_ack(x->t, o, x->ack64, x->now, dup);
    if (x->s->ack == o->syn + 1 && o->syn_count == 1)
        o->rtt_3whs = o->rtt_newest;
    if (TR_UNLIKELY(o->segs.top && x->ack64 > o->segs.top))
        scps_tr_rare(x->t, h)->acks_beyond++;
    if (x->ack64 > h->ack_hi)
        advance(x, h, o);
    else if (x->ack64 < h->ack_hi)
        scps_tr_rare(x->t, h)->acks_old++;
    else if (x->len == 0 && !x->syn && !x->fin && h->sent_hi <= x->first &&
             (o->dupacks != dup_before || (x->win == h->win_last && o->sent_hi > x->ack64)))
        o->dup_run++;
    if (TR_UNLIKELY(x->win != h->win_last) && x->len == 0 && x->win && x->s->ack == h->ack &&
        h->sent_hi <= x->first && !(x->flags & (SCPS_SYN | SCPS_FIN | SCPS_RST)))
        scps_tr_rare(x->t, h)->win_updates++;
}

/* ---- functions that process the window and the SACK blocks of the captured segment ---- */

static SCPS_ALWAYS_INLINE void window_advertised(const struct step *x, struct conn_dir *h,
                                                 const struct conn_dir *o)
{
    const uint64_t win = x->win;
    h->win_last = win;
    if (TR_UNLIKELY(!x->ack && !x->syn))
        return;
    if (win > h->win_max)
        h->win_max = win;
    if (TR_UNLIKELY(!h->win_scaled && win > 0 && h->ws && o->ws && !x->syn)) {
        h->win_scaled = true;
        h->win_min = h->win_max = win;
        h->win_tot = 0;
        h->win_scaled_pkts = 1;
    } else if (win > 0 && (h->win_min == 0 || win < h->win_min)) {
        h->win_min = win;
    }
    h->win_tot += win;
}

static SCPS_ALWAYS_INLINE void pure_ack(const struct step *x, struct conn_dir *h)
{
    h->pureack_pkts++;
    h->pureack_bytes += x->k->total;
    if (h->pureack_at && x->now >= h->pureack_at) {
        scps_dur gap = x->now - h->pureack_at;
        if (!h->ackgap.n || gap < h->ackgap.min)
            h->ackgap.min = gap;
        h->ackgap.max = SCPS_MAX(h->ackgap.max, gap);
        h->ackgap.sum += (double)gap;
        h->ackgap.n++;
    }
    h->pureack_at = x->now;
}

/* Returns true if the first block of the SACK option of s is a DSACK (RFC 2883), which reports data
 * that arrived twice: it lies below SEG.ACK, or within or across the second block. */
static SCPS_ALWAYS_INLINE bool is_dsack(const struct segment *s)
{
    const struct scps_sack *a = &s->o.sack[0], *b = &s->o.sack[1];
    if ((int32_t)(a->right - s->ack) <= 0)
        return true;
    if (s->o.nsack < 2)
        return false;
    int32_t ll = (int32_t)(a->left - b->left), rr = (int32_t)(a->right - b->right);
    if (rr <= 0 && ll >= 0)
        return true;
    return (ll <= 0 && (int32_t)(a->right - b->left) > 0) ||
           (rr >= 0 && (int32_t)(a->left - b->right) < 0);
}

/* Counts the SACK blocks of a segment and passes them to why.c, which determines from them why data
 * of direction o was sent again. */
static SCPS_ALWAYS_INLINE void take_sack(const struct step *x, struct conn_dir *h,
                                         struct conn_dir *o)
{
    const struct segment *s = x->s;
    const struct scps_sack *b = s->o.sack;
    bool d = is_dsack(s);
    h->num_sacks++;
    h->sack_blocks += s->o.nsack;
    h->max_sack_blocks = SCPS_MAX(h->max_sack_blocks, s->o.nsack);
    if (d) {
        h->num_dsacks++;
        scps_tr_why_dsack(o, scps_tr_unwrap(o->ref, b->left), scps_tr_unwrap(o->ref, b->right));
    }
    for (uint32_t i = d; i < s->o.nsack; i++)
        scps_tr_why_sack(x->t, o, scps_tr_unwrap(o->ref, b[i].left),
                         scps_tr_unwrap(o->ref, b[i].right), x->now);
}

static SCPS_ALWAYS_INLINE void acknowledgement(const struct step *x, struct conn_dir *h,
                                               struct conn_dir *o, struct scps_trace_seen *seen)
{
    h->win_edge = x->ack64 + x->win;
    if (TR_UNLIKELY(x->win == 0))
        h->zero_win++;
    h->ack_pkts++;
    if (x->len == 0 && !x->syn && !x->fin)
        pure_ack(x, h);
    if (x->odd && x->s->o.nsack)
        take_sack(x, h, o);
    if (x->odd && x->s->o.snack && !x->syn)
        scps_tr_take_snack(x->t, h, o, x->s, x->ack64, seen);
    h->ack = x->s->ack;
}

#endif
