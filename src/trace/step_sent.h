/* SPDX-License-Identifier: MIT */
/* Functions that analyze_segment() of segment.c calls, one after the other, to analyse the data of
 * one captured segment, sent for the first time or again. They are in this header, most of them
 * inline, because analyze_segment() is compiled four times, for the kinds of segment of enum kind
 * (segment.c): any segment while the application has set the callback scps_trace_config.on_packet;
 * else data or a bare acknowledgement with no flags but ACK and PSH and no options but timestamps;
 * or any other segment. */
#ifndef SCPS_TRACE_STEP_SENT_H
#define SCPS_TRACE_STEP_SENT_H

#include "trace/held.h"
#include "trace/step.h"
#include "trace/why.h"

/* Called for a segment with data that h has sent before: determines why it was sent again and, with
 * a log of the link, whether that was necessary. */
static SCPS_ALWAYS_INLINE void explain(struct step *x, struct conn_dir *h, const struct conn_dir *o,
                                       const struct resend *re)
{
    const struct segment *s = x->s;
    x->cause = scps_tr_why_resent(x->t, h, o, x->first, x->end, re, x->syn, s->o.has_ts, s->o.tsval,
                                  x->now);
    if (x->t->truth && x->len)
        scps_tr_truth_judge(x->t, x->f, x->dir, h, s->seq, x->len);
}

/* Processes octets first to end - 1 of h, which were not captured before and are not next in order:
 * they leave a gap, fill one, or were acknowledged before they were captured. Returns true if the
 * data is the retransmission of data lost before the capture point, and not only out of order. */
static SCPS_NOINLINE bool out_of_place(struct scps_trace *t, struct conn_dir *h,
                                       const struct conn_dir *o, uint64_t first, uint64_t end,
                                       const struct opts *opt, struct resend *re)
{
    if (first > h->sent_hi && end > o->ack_hi) {
        scps_tr_gap_opened(t, h, o, h->sent_hi, first, opt->has_ts, opt->tsval, t->now);
        return false;
    }
    scps_tr_rare(t, h)->gap_fills++;
    bool repair = scps_tr_gap_repaired(h, o, first, end, opt->has_ts, opt->tsval, t->now, re);
    if (repair)
        scps_tr_rare(t, h)->repaired++;
    else
        scps_tr_rare(t, h)->reordered++;
    return repair;
}

/* Counts the octets of payload in the segment that were not captured before. */
static SCPS_ALWAYS_INLINE void unique(const struct step *x, struct conn_dir *h)
{
    int64_t n = x->len, before = x->again;
    before -= x->syn && h->syn_count > 1;
    before -= x->fin && h->fin_count > 1;
    if (before < n)
        h->unique_bytes += (uint64_t)(n - before);
}

/* Records a segment with data, SYN or FIN in the figures of its direction h. o: the opposite
 * direction. */
static SCPS_ALWAYS_INLINE void sent(struct step *x, struct conn_dir *h, const struct conn_dir *o)
{
    if (TR_UNLIKELY(o->win_last == 0 && o->packets > 0 && !x->syn)) {
        x->probe = true;
        scps_tr_rare(x->t, h)->zwnd_pkts++;
        scps_tr_rare(x->t, h)->zwnd_bytes += x->len;
        return;
    }
    struct resend re = {0};
    bool ooo = false;
    x->again = scps_tr_segs_add(x->t, h, x->first, x->len + x->syn + x->fin, x->now, &ooo, &re);
    x->ooo = ooo;
    x->keepalive = x->len <= 1 && !x->syn && !x->fin && !(x->flags & SCPS_RST) &&
                   x->first + 1 == h->sent_hi && x->again && o->ack_hi >= h->sent_hi;
    bool repair = x->again && !x->keepalive;
    if (TR_UNLIKELY(!x->again && !x->syn &&
                    (x->first != h->sent_hi || x->end + x->fin <= o->ack_hi)))
        repair = out_of_place(x->t, h, o, x->first, x->end + x->fin, &x->s->o, &re);
    /* A copy that the network made (dup_below) was not sent again, so no cause is determined for
     * it. */
    if (TR_UNLIKELY(repair) && !x->dup_below)
        explain(x, h, o, &re);
    if (ooo)
        h->ooo_pkts++;
    unique(x, h);
}

/* Records whether the segment ends at the right edge of the window, and whether it is shorter than
 * a full one because the application had written no more. */
static SCPS_ALWAYS_INLINE void sent_within(const struct step *x, struct conn_dir *h,
                                           const struct conn_dir *o)
{
    uint64_t edge = o->win_edge;
    if (TR_UNLIKELY(edge && x->end == edge && !x->syn && !x->fin))
        h->window_full++;
    if (!x->again)
        h->last_short = x->len != h->full && x->len % h->full != 0;
    h->last_sent_at = x->now;
}

static SCPS_ALWAYS_INLINE void sequence_space(struct step *x, struct conn_dir *h,
                                              const struct conn_dir *o)
{
    const bool takes = x->len || x->syn || x->fin;
    if (takes)
        sent(x, h, o);
    else if (TR_UNLIKELY(x->first + 1 == h->sent_hi) && o->ack_hi >= h->sent_hi)
        /* An empty segment with SEG.SEQ = SND.NXT - 1, when the peer has acknowledged all data, is
         * a keep-alive. A bare acknowledgement that h sent before its FIN has that number, too,
         * since the FIN occupies SND.NXT - 1. If it arrives out of order, behind the FIN, it is
         * recognised by a SEG.ACK below an earlier SEG.ACK of h. */
        x->keepalive = x->ack && x->ack64 >= h->ack_hi && !(x->flags & SCPS_RST);
    /* Data that is sent again may carry the TSval of data sent before, so only new data is timed. A
     * SYN is timed again: its copies are at least a retransmission timeout apart. */
    if (takes && (!x->again || x->syn) && !(x->len && x->probe) && x->s->o.has_ts)
        scps_tr_ts_sent(h, x->s->o.tsval, x->now);
    if (TR_UNLIKELY(x->keepalive))
        scps_tr_rare(x->t, h)->keepalives++;
    if (x->len && !x->probe)
        sent_within(x, h, o);
}

#endif
