/* SPDX-License-Identifier: MIT */
/* A segment, into the figures of its connection.
 *
 * take, at the end of this file, is the list of the steps; each is a function above it. In all of
 * them h is the direction the segment belongs to, o the other one, x what the steps have found out
 * of the segment so far.
 *
 * The figures that carry tcptrace's names follow its rules to the letter, in its order of
 * evaluation, because several depend on it (the window of the previous packet, say). docs/TRACE.md
 * defines each, and lists where we differ on purpose. Sequence numbers are unwrapped to 64 bits on
 * arrival; only the comparisons that tcptrace makes on 32 bits stay there.
 *
 * Sources: RFC 9293, 7323, 2018, 2883, 3168.
 */
#include "trace/segment.h"

#include "trace/held.h"

/* What is known of a segment before it is looked at: PLAIN ones acknowledge, and perhaps push and
 * have timestamps. */
enum kind { ANY, WATCHED, PLAIN_DATA, PLAIN_ACK };

struct step {
    struct scps_trace *t;
    const struct packet *k;
    const struct segment *s;
    struct flow *f;
    int dir;
    scps_time now;
    bool odd; /* may have options, or flags, that a plain segment has not */
    uint16_t flags;
    bool syn, fin, ack;
    uint32_t len;        /* payload */
    uint64_t win;        /* offered */
    uint64_t first, end; /* payload, unwrapped */
    uint64_t top;        /* end, SYN and FIN counted */
    uint64_t ack64;      /* unwrapped in the other direction's space; 0: none */
    /* what became of it */
    uint32_t again; /* octets sent before */
    bool resent;
    bool probe; /* of a window of zero */
    bool ooo, keepalive, dup_below;
    enum cause cause; /* of sending it again */
    scps_dur sample;  /* round trip it completes, or -1 */
};

/* ---- the header ---- */

static SCPS_WITHIN void window(struct step *x, const struct half *h, const struct half *o)
{
    x->win = 0;
    if (TR_LIKELY(x->ack || x->syn)) {
        x->win = x->s->wnd;
        if (h->ws && o->ws && !x->syn)
            x->win <<= h->wscale;
    }
}

static SCPS_WITHIN void silence(const struct step *x, struct half *h)
{
    if (TR_LIKELY(h->packets) || h->rst_count) {
        if (x->now - h->last_time > h->idle_max)
            h->idle_max = x->now - h->last_time;
    }
    h->last_time = x->now;
}

/* Octets start at 2^32 + the first number seen, so that earlier ones stay positive. */
static SCPS_WITHIN void begin_at(struct half *h, uint32_t seq)
{
    h->seq_known = true;
    h->ref = h->isn64 = ((uint64_t)1 << 32) + seq;
}

static SCPS_WITHIN uint64_t place(struct half *h, uint32_t seq)
{
    if (TR_UNLIKELY(!h->seq_known)) {
        begin_at(h, seq);
        return h->ref;
    }
    return scps_tr_unwrap(h->ref, seq);
}

static SCPS_WITHIN void position(struct step *x, struct half *h, struct half *o)
{
    if (TR_UNLIKELY(x->syn) && !h->packets)
        begin_at(h, x->s->seq);
    x->first = place(h, x->s->seq);
    x->end = x->first + x->len;
    x->top = x->end + x->fin + x->syn;
    if (TR_LIKELY(x->top > h->ref))
        h->ref = x->top;
    x->ack64 = x->ack ? place(o, x->s->ack) : 0;
    if (TR_UNLIKELY(!h->syn_count && !h->packets))
        h->sent_hi = x->first;
}

static SCPS_WITHIN void flags(const struct step *x, struct half *h, struct half *o)
{
    const struct segment *s = x->s;
    if (TR_UNLIKELY(x->syn)) {
        if (h->syn_count && h->syn != s->seq)
            h->bad = true;
        h->syn_count++;
        h->syn = s->seq;
        o->ack = s->seq; /* as tcptrace does */
    }
    if (TR_UNLIKELY(x->fin)) {
        if (h->fin_count && h->fin != s->seq + x->len)
            h->bad = true;
        h->fin_count++;
        h->fin = s->seq + x->len;
    }
    if (TR_UNLIKELY(x->flags & SCPS_RST))
        h->rst_count++;
}

static SCPS_WITHIN void time_passes(const struct step *x, struct half *h, struct half *o)
{
    if (x->now > x->f->spent_at) {
        scps_dur dt = x->now - x->f->spent_at;
        scps_tr_spend(h, dt);
        scps_tr_spend(o, dt);
        x->f->spent_at = x->now;
    }
}

/* Options that are not on every segment. */
static void seldom_options(struct scps_trace *t, struct flow *f, int dir, const struct segment *s,
                           struct half *h, struct half *o, bool syn)
{
    if (s->o.has_mss) {
        h->mss = s->o.mss;
        scps_tr_full_segment(h, o);
        scps_tr_full_segment(o, h);
    }
    if (s->o.has_ws) {
        h->wscale = SCPS_MIN(s->o.ws, 14);
        h->ws = true;
        if (!syn && !o->ws)
            h->wscale = 0;
    }
    if (s->o.sack_ok)
        h->sack_ok = true;
    if (s->o.bad)
        scps_tr_seldom(t, h)->bad_options++;
    if (s->o.caps && syn) {
        h->caps_seen = true;
        h->caps = s->o.caps_bits;
        h->caps_id = s->o.caps_id;
        h->xcaps_len = s->o.xcaps_len;
        if (s->o.caps_bits & SCPS_CAP_COM)
            scps_tr_comp_learn(t, f, dir, s->o.caps_id);
    }
    if (s->o.record && !syn)
        scps_tr_seldom(t, h)->records++;
    if (s->o.corruption)
        scps_tr_seldom(t, h)->corruption++;
    if (s->compressed)
        scps_tr_seldom(t, h)->comp_pkts++;
}

static SCPS_WITHIN void options(const struct step *x, struct half *h, struct half *o)
{
    if (TR_UNLIKELY(x->s->o.has_ts && !h->ts)) {
        h->ts = true;
        scps_tr_full_segment(h, o);
        scps_tr_full_segment(o, h);
    }
    if (TR_UNLIKELY(h->ws != o->ws) && !x->syn)
        h->wscale = o->wscale = 0;
    if (x->odd)
        seldom_options(x->t, x->f, x->dir, x->s, h, o, x->syn);
}

static SCPS_WITHIN void data(const struct step *x, struct half *h, const struct half *o)
{
    const uint32_t len = x->len;
    h->data_pkts++;
    if (x->flags & SCPS_PSH)
        h->push_pkts++;
    h->data_bytes += len;
    if (TR_UNLIKELY(x->flags & SCPS_URG)) {
        scps_tr_seldom(x->t, h)->urg_pkts++;
        scps_tr_seldom(x->t, h)->urg_bytes += x->s->urp;
    }
    if (TR_UNLIKELY(len > h->max_seg)) {
        h->max_seg = len;
        scps_tr_full_segment(h, o);
    }
    if (!h->min_seg || len < h->min_seg)
        h->min_seg = len;
    if (h->data_pkts == 1)
        h->first_data = x->now;
    h->last_data = x->now;
    if (len > x->s->saved) {
        h->trunc_bytes += len - x->s->saved;
        h->trunc_segs++;
    }
}

/* ---- the packet ---- */

/* The same packet again, by IP identification and sequence number among the last few? A print and
 * the one give the other. */
static SCPS_WITHIN bool hw_dup(struct half *h, uint16_t id, uint32_t seq)
{
    uint32_t print = seq ^ id * 0x9e3779b1u, hit = 0;
    for (uint32_t i = 0; i < HWDUPS; i++)
        hit |= h->hwdup[i] == print;
    if (TR_UNLIKELY(hit) && id && seq)
        for (uint32_t i = 0; i < HWDUPS; i++)
            if (h->hwdup[i] == print && h->hwdup_id[i] == id) {
                h->hwdups++;
                return true;
            }
    h->hwdup[h->hwdup_ix] = print;
    h->hwdup_id[h->hwdup_ix] = id;
    h->hwdup_ix = (h->hwdup_ix + 1) % HWDUPS;
    return false;
}

static SCPS_WITHIN void packet(struct step *x, struct half *h)
{
    const struct packet *k = x->k;
    h->packets++;
    h->wire_bytes += k->total;
    h->latest_seq = x->s->seq + x->len;
    if (h->win_scaled)
        h->win_scaled_pkts++;
    x->dup_below = k->version == 4 && hw_dup(h, k->id, x->s->seq);
    if (TR_UNLIKELY(k->tos & 3) && (k->tos & 3) == SCPS_ECN_CE)
        scps_tr_seldom(x->t, h)->ce++;
    if (TR_UNLIKELY(x->flags & (SCPS_ECE | SCPS_CWR)) && !x->syn) {
        scps_tr_seldom(x->t, h)->ece += (x->flags & SCPS_ECE) != 0;
        scps_tr_seldom(x->t, h)->cwr += (x->flags & SCPS_CWR) != 0;
    }
}

/* ---- what it sends: for the first time, or not ---- */

/* Why is this being repaired? */
static SCPS_WITHIN void explain(struct step *x, struct half *h, const struct half *o,
                                const struct resend *re)
{
    const struct segment *s = x->s;
    x->cause = scps_tr_why_resent(x->t, h, o, x->first, x->end, re, x->syn, s->o.has_ts, s->o.tsval,
                                  x->now);
    if (x->t->truth && x->len)
        scps_tr_truth_judge(x->t, x->f, x->dir, h, s->seq, x->len);
}

/* Data that is not next: it leaves a gap, it fills one, or it had been acknowledged before it was
 * seen. True if it is the repair of something lost before it got here, and not merely overtaken on
 * the way. */
static SCPS_APART bool out_of_place(struct scps_trace *t, struct half *h, const struct half *o,
                                    uint64_t first, uint64_t end, const struct opts *opt,
                                    struct resend *re)
{
    if (first > h->sent_hi && end > o->ack_hi) {
        scps_tr_why_gap_opened(t, h, o, h->sent_hi, first, opt->has_ts, opt->tsval, t->now);
        return false;
    }
    scps_tr_seldom(t, h)->gap_fills++;
    bool repair = scps_tr_why_gap(h, o, first, end, opt->has_ts, opt->tsval, t->now, re);
    if (repair)
        scps_tr_seldom(t, h)->repaired++;
    else
        scps_tr_seldom(t, h)->reordered++;
    return repair;
}

/* Octets nobody has seen before; SYN and FIN are none. */
static SCPS_WITHIN void unique(const struct step *x, struct half *h)
{
    int64_t n = x->len, before = x->again;
    before -= x->syn && h->syn_count > 1;
    before -= x->fin && h->fin_count > 1;
    if (before < n)
        h->unique_bytes += (uint64_t)(n - before);
}

/* A segment that takes up sequence numbers. */
static SCPS_WITHIN void sent(struct step *x, struct half *h, const struct half *o)
{
    if (TR_UNLIKELY(o->win_last == 0 && o->packets > 0 && !x->syn)) {
        x->probe = true;
        scps_tr_seldom(x->t, h)->zwnd_pkts++;
        scps_tr_seldom(x->t, h)->zwnd_bytes += x->len;
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
    if (TR_UNLIKELY(repair))
        explain(x, h, o, &re);
    if (ooo)
        h->ooo_pkts++;
    unique(x, h);
}

/* The limits it was sent within: the window, and what the application had. */
static SCPS_WITHIN void sent_within(const struct step *x, struct half *h, const struct half *o)
{
    uint64_t edge = o->win_edge;
    if (TR_UNLIKELY(edge && x->end == edge && !x->syn && !x->fin))
        h->window_full++;
    if (!x->again)
        h->last_short = x->len != h->full && x->len % h->full != 0;
    h->last_sent_at = x->now;
}

static SCPS_WITHIN void sequence_space(struct step *x, struct half *h, const struct half *o)
{
    const bool takes = x->len || x->syn || x->fin;
    if (takes)
        sent(x, h, o);
    else if (TR_UNLIKELY(x->first + 1 == h->sent_hi) && o->ack_hi >= h->sent_hi)
        /* without data; but an older acknowledgement was overtaken by the FIN */
        x->keepalive = x->ack && x->ack64 >= h->ack_hi && !(x->flags & SCPS_RST);
    if (takes && !x->again && !(x->len && x->probe) && x->s->o.has_ts)
        scps_tr_ts_sent(h, x->s->o.tsval, x->now);
    if (TR_UNLIKELY(x->keepalive))
        scps_tr_seldom(x->t, h)->keepalives++;
    if (x->len && !x->probe)
        sent_within(x, h, o);
}

/* ---- what an acknowledgement answers ---- */

/* An acknowledgement of moved octets more, in segments of unit. */
static SCPS_WITHIN void segs_per_ack(struct half *h, uint32_t unit, uint64_t moved)
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

/* It says something new. */
static SCPS_WITHIN void advance(const struct step *x, struct half *h, struct half *o)
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

static SCPS_WITHIN void answer(struct step *x, struct half *h, struct half *o)
{
    bool dup = x->s->ack == h->ack && x->len == 0 && x->win == h->win_last && o->owin_tot > 0;
    uint64_t dup_before = o->dupacks;
    if (dup || TR_UNLIKELY(x->ack64 != o->segs.settled))
        x->sample = scps_tr_segs_ack(x->t, o, x->ack64, x->now, dup);
    if (x->s->ack == o->syn + 1 && o->syn_count == 1)
        o->rtt_3whs = o->rtt_newest;
    if (TR_UNLIKELY(o->segs.top && x->ack64 > o->segs.top))
        scps_tr_seldom(x->t, h)->acks_beyond++;
    if (x->ack64 > h->ack_hi)
        advance(x, h, o);
    else if (x->ack64 < h->ack_hi)
        scps_tr_seldom(x->t, h)->acks_old++;
    else if (x->len == 0 && !x->syn && !x->fin && h->sent_hi <= x->first &&
             (o->dupacks != dup_before || (x->win == h->win_last && o->sent_hi > x->ack64)))
        o->dup_run++;
    if (TR_UNLIKELY(x->win != h->win_last) && x->len == 0 && x->win && x->s->ack == h->ack &&
        h->sent_hi <= x->first && !(x->flags & (SCPS_SYN | SCPS_FIN | SCPS_RST)))
        scps_tr_seldom(x->t, h)->win_updates++;
}

/* ---- what it offers and reports ---- */

static SCPS_WITHIN void window_advertised(const struct step *x, struct half *h,
                                          const struct half *o)
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

static SCPS_WITHIN void pure_ack(const struct step *x, struct half *h)
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

/* Is the first block of a SACK option a report of something that arrived twice? */
static SCPS_WITHIN bool is_dsack(const struct segment *s)
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

/* Evidence for why.c, which asks later why something was sent again. */
static SCPS_WITHIN void take_sack(const struct step *x, struct half *h, struct half *o)
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

static SCPS_WITHIN void acknowledgement(const struct step *x, struct half *h, struct half *o,
                                        struct scps_trace_seen *seen)
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

/* ---- windows in use ---- */

static SCPS_WITHIN void initial_window(const struct step *x, struct half *h, struct half *o)
{
    if (TR_UNLIKELY(!o->data_acked && x->ack && o->syn + 1 != x->s->ack))
        o->data_acked = true;
    if (TR_UNLIKELY(!h->data_acked && x->len) && !x->resent) {
        h->initwin_bytes += x->len;
        h->initwin_segs++;
    }
}

/* Outstanding data, tcptrace's reckoning: what an acknowledgement names counts as one octet.
 * Returns it. */
static SCPS_WITHIN uint64_t outstanding(const struct step *x, struct half *h, const struct half *o)
{
    if (TR_UNLIKELY(x->syn || x->ooo || x->resent))
        return h->owin_prev;
    uint32_t v = o->ack == 0 ? x->len : x->s->seq + x->len - ((uint32_t)o->ack - 1);
    uint64_t owin = TR_UNLIKELY(v > INT32_MAX) ? 0 : v;
    if (owin > h->owin_max)
        h->owin_max = owin;
    if (owin > 0 && (h->owin_min == 0 || owin < h->owin_min))
        h->owin_min = owin;
    h->owin_tot += owin;
    if (h->owin_count++ && x->now > h->owin_at)
        h->owin_wavg += h->owin_prev * (uint64_t)(x->now - h->owin_at) / 1000000;
    h->owin_at = x->now;
    h->owin_prev = owin;
    return owin;
}

/* ---- for who watches ---- */

static void show_ends(struct scps_trace_seen *v, const struct flow_key *key, int dir)
{
    struct scps_endpoint *e[2] = {dir ? &v->dst : &v->src, dir ? &v->src : &v->dst};
    const uint8_t *addr[2] = {key->a, key->b};
    for (int i = 0; i < 2; i++) {
        e[i]->addr.family = key->version;
        memcpy(e[i]->addr.b, addr[i], 16);
        e[i]->port = i ? key->pb : key->pa;
    }
}

static SCPS_WITHIN void show(const struct step *x, const struct scps_trace_pkt *p,
                             const struct half *h, const struct half *o, struct scps_trace_seen *v)
{
    const struct segment *s = x->s;
    *v = (struct scps_trace_seen){.pkt = p,
                                  .packet = x->t->tot.packets,
                                  .conn = x->f->number,
                                  .b2a = x->dir,
                                  .ip = x->k->ip,
                                  .ip_len = x->k->cap,
                                  .proto = x->k->proto,
                                  .flags = s->flags,
                                  .seq = s->seq,
                                  .ack = s->ack,
                                  .len = s->len,
                                  .opt = s->opt_len ? s->opt : NULL,
                                  .opt_len = s->opt_len,
                                  .rexmit = x->resent,
                                  .out_of_order = x->ooo,
                                  .probe = x->probe,
                                  .hw_dup = x->dup_below,
                                  .keepalive = x->keepalive,
                                  .cause = x->cause ? scps_tr_cause_name(x->cause) : NULL,
                                  .rtt = x->sample,
                                  .win = x->win,
                                  .off = x->first - h->isn64,
                                  .ack_off = x->ack ? x->ack64 - o->isn64 : 0};
    show_ends(v, &x->f->key, x->dir);
}

/* ---- all of it ---- */

/* One segment of connection f. There are four of this function, one for each kind: what cannot be
 * is left out of it. */
static SCPS_WITHIN void take(struct scps_trace *t, const struct scps_trace_pkt *p,
                             const struct packet *k, const struct segment *s, struct flow *f,
                             struct half *restrict h, struct half *restrict o, const enum kind kind)
{
    const bool watch = kind == WATCHED, odd = kind == ANY || watch;
    const uint16_t fl = odd ? s->flags : (s->flags & SCPS_PSH) | SCPS_ACK;
    struct step x = {.t = t,
                     .k = k,
                     .s = s,
                     .f = f,
                     .dir = h == &f->h[1],
                     .now = t->now,
                     .odd = odd,
                     .flags = fl,
                     .syn = fl & SCPS_SYN,
                     .fin = fl & SCPS_FIN,
                     .ack = fl & SCPS_ACK,
                     .len = kind == PLAIN_ACK ? 0 : s->len,
                     .sample = -1};
    struct scps_trace_seen seen;
    if (kind == PLAIN_DATA && !x.len)
        __builtin_unreachable();

    f->last = x.now;
    f->packets++;
    window(&x, h, o);
    silence(&x, h);
    position(&x, h, o);
    flags(&x, h, o);
    time_passes(&x, h, o);
    options(&x, h, o);
    if (x.len)
        data(&x, h, o);
    packet(&x, h);
    sequence_space(&x, h, o);
    if (TR_LIKELY(x.ack))
        answer(&x, h, o);
    if (x.again) {
        x.resent = true;
        h->rexmit_pkts++;
        h->rexmit_bytes += x.again;
    }
    if (x.top > h->sent_hi && !x.probe)
        h->sent_hi = x.top;
    if (watch)
        show(&x, p, h, o, &seen);

    if (TR_UNLIKELY(x.flags & SCPS_RST)) {
        if (x.ack) {
            h->ack_pkts++;
            h->win_edge = x.ack64 + x.win;
        }
    } else {
        window_advertised(&x, h, o);
        if (TR_LIKELY(x.ack))
            acknowledgement(&x, h, o, watch ? &seen : NULL);
        initial_window(&x, h, o);
        uint64_t owin = outstanding(&x, h, o);
        scps_tr_reckon(h, o);
        scps_tr_reckon(o, h);
        if (x.len)
            scps_tr_round_sent(h, h->out_now);
        if (watch)
            seen.owin = owin;
    }
    if (watch)
        t->cfg.on_packet(t->cfg.ctx, &seen);
}

void scps_tr_segment(struct scps_trace *t, const struct scps_trace_pkt *p, const struct packet *k,
                     const struct segment *s, struct flow *f, int dir)
{
    struct half *h = &f->h[dir], *o = &f->h[!dir];
    if (TR_UNLIKELY(t->cfg.on_packet))
        take(t, p, k, s, f, h, o, WATCHED);
    else if (TR_UNLIKELY(!s->plain))
        take(t, p, k, s, f, h, o, ANY);
    else if (s->len)
        take(t, p, k, s, f, h, o, PLAIN_DATA);
    else
        take(t, p, k, s, f, h, o, PLAIN_ACK);
}
