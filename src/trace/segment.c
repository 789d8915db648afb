/* SPDX-License-Identifier: MIT */
/* Adds a segment to the figures of its connection.
 *
 * analyze_segment(), at the end of this file, calls the steps in order; each is a function above
 * it, in step_sent.h or in step_ack.h. In all of them h is the direction of the segment, o the
 * opposite direction, x what the steps have found about the segment so far.
 *
 * The figures with tcptrace's names follow its rules exactly, in its order of evaluation, because
 * several depend on it (for example on the window of the previous packet). docs/SCPS_TRACE.md
 * defines each, and lists deliberate differences. Sequence numbers are unwrapped to 64 bits on
 * arrival; only the comparisons that tcptrace makes on 32 bits are made on 32 bits.
 *
 * Sources: RFC 9293, 7323, 2018, 2883, 3168.
 */
#include "trace/segment.h"

#include "trace/held.h"
#include "trace/step_ack.h"
#include "trace/step_sent.h"
#include "trace/why.h"

/* The compiler makes one copy of analyze_segment() for each kind of segment. PLAIN_DATA, PLAIN_ACK:
 * segments with or without data that have only the flags ACK and PSH, and no options but
 * timestamps. WATCHED: any segment, while scps_trace_config.on_packet is set. ANY: all others. */
enum kind { ANY, WATCHED, PLAIN_DATA, PLAIN_ACK };

/* ---- steps of analyze_segment() that read only the TCP header ---- */

static SCPS_ALWAYS_INLINE void window(struct step *x, const struct conn_dir *h,
                                      const struct conn_dir *o)
{
    x->win = 0;
    if (TR_LIKELY(x->ack || x->syn)) {
        x->win = x->s->wnd;
        if (h->ws && o->ws && !x->syn)
            x->win <<= h->wscale;
    }
}

static SCPS_ALWAYS_INLINE void silence(const struct step *x, struct conn_dir *h)
{
    if (TR_LIKELY(h->packets) || h->rst_count) {
        if (x->now - h->last_time > h->idle_max)
            h->idle_max = x->now - h->last_time;
    }
    h->last_time = x->now;
}

/* Sets the start of h's 64-bit (unwrapped) sequence numbers: 2^32 plus the first number seen, seq,
 * so that lower numbers that come later are not negative. */
static SCPS_ALWAYS_INLINE void begin_at(struct conn_dir *h, uint32_t seq)
{
    h->seq_known = true;
    h->ref = h->isn64 = ((uint64_t)1 << 32) + seq;
}

static SCPS_ALWAYS_INLINE uint64_t place(struct conn_dir *h, uint32_t seq)
{
    if (TR_UNLIKELY(!h->seq_known)) {
        begin_at(h, seq);
        return h->ref;
    }
    return scps_tr_unwrap(h->ref, seq);
}

/* Called for a SYN of direction h if no data, SYN or FIN of h was captured before: the sequence
 * numbers of h begin at SEG.SEQ of this SYN. Bare acknowledgements and resets of h that were
 * captured before may belong to an old connection on the same ports, such as an acknowledgement
 * that answers a SYN (RFC 9293 section 3.5.1). So if the highest SEG.ACK of h so far acknowledges
 * what the opposite direction o has not sent, that SEG.ACK and the window of h are forgotten. */
static SCPS_NOINLINE void begin_with_syn(const struct step *x, struct conn_dir *h,
                                         const struct conn_dir *o)
{
    begin_at(h, x->s->seq);
    h->sent_hi = h->ref;
    if (h->ack_hi > o->segs.top)
        h->ack_hi = h->win_edge = 0;
}

static SCPS_ALWAYS_INLINE void position(struct step *x, struct conn_dir *h, struct conn_dir *o)
{
    if (TR_UNLIKELY(x->syn) && !h->segs.top)
        begin_with_syn(x, h, o);
    x->first = place(h, x->s->seq);
    x->end = x->first + x->len;
    x->top = x->end + x->fin + x->syn;
    /* The number of a reset may be one that the other side has acknowledged wrongly (RFC 9293
     * section 3.10.7.3), so it says nothing of what was sent. */
    if (TR_LIKELY(x->top > h->ref) && !(x->flags & SCPS_RST))
        h->ref = x->top;
    x->ack64 = x->ack ? place(o, x->s->ack) : 0;
    if (TR_UNLIKELY(!h->syn_count && !h->packets))
        h->sent_hi = x->first;
}

static SCPS_ALWAYS_INLINE void flags(const struct step *x, struct conn_dir *h, struct conn_dir *o)
{
    const struct segment *s = x->s;
    if (TR_UNLIKELY(x->syn)) {
        if (h->syn_count && h->syn != s->seq)
            h->bad = true;
        h->syn_count++;
        h->syn = s->seq;
        /* At a SYN, tcptrace sets its record of the opposite direction's last SEG.ACK to SEG.SEQ.
         * This is done here, too, so that duplicate acknowledgements and outstanding data are
         * counted equally. */
        o->ack = s->seq;
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

static SCPS_ALWAYS_INLINE void time_passes(const struct step *x, struct conn_dir *h,
                                           struct conn_dir *o)
{
    if (x->now > x->f->spent_at) {
        scps_dur dt = x->now - x->f->spent_at;
        scps_tr_spend(h, dt);
        scps_tr_spend(o, dt);
        x->f->spent_at = x->now;
    }
}

/* Processes the options that most segments do not have: those of the SYN, such as MSS and window
 * scale, options that could not be parsed, and some SCPS options. */
static void rare_options(struct scps_trace *t, struct flow *f, int dir, const struct segment *s,
                         struct conn_dir *h, struct conn_dir *o, bool syn)
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
        scps_tr_rare(t, h)->bad_options++;
    if (s->o.caps && syn) {
        h->caps_seen = true;
        h->caps = s->o.caps_bits;
        h->caps_id = s->o.caps_id;
        h->xcaps_len = s->o.xcaps_len;
        if (s->o.caps_bits & SCPS_CAP_COM)
            scps_tr_comp_learn(t, f, dir, s->o.caps_id);
    }
    if (s->o.record && !syn)
        scps_tr_rare(t, h)->records++;
    if (s->o.corruption)
        scps_tr_rare(t, h)->corruption++;
    if (s->compressed)
        scps_tr_rare(t, h)->comp_pkts++;
}

static SCPS_ALWAYS_INLINE void options(const struct step *x, struct conn_dir *h, struct conn_dir *o)
{
    if (TR_UNLIKELY(x->s->o.has_ts && !h->ts)) {
        h->ts = true;
        scps_tr_full_segment(h, o);
        scps_tr_full_segment(o, h);
    }
    if (TR_UNLIKELY(h->ws != o->ws) && !x->syn)
        h->wscale = o->wscale = 0;
    if (x->odd)
        rare_options(x->t, x->f, x->dir, x->s, h, o, x->syn);
}

static SCPS_ALWAYS_INLINE void data(const struct step *x, struct conn_dir *h,
                                    const struct conn_dir *o)
{
    const uint32_t len = x->len;
    h->data_pkts++;
    if (x->flags & SCPS_PSH)
        h->push_pkts++;
    h->data_bytes += len;
    if (TR_UNLIKELY(x->flags & SCPS_URG)) {
        scps_tr_rare(x->t, h)->urg_pkts++;
        scps_tr_rare(x->t, h)->urg_bytes += x->s->urp;
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

/* ---- steps of analyze_segment() that read the IP header, too ---- */

/* Returns true, and counts it, if one of the last HWDUPS packets of direction h had the same IPv4
 * identification and sequence number, so that this packet is a copy made by the network or the
 * capture, not by the sender. */
static SCPS_ALWAYS_INLINE bool hw_dup(struct conn_dir *h, uint16_t id, uint32_t seq)
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

static SCPS_ALWAYS_INLINE void packet(struct step *x, struct conn_dir *h)
{
    const struct packet *k = x->k;
    h->packets++;
    h->wire_bytes += k->total;
    h->latest_seq = x->s->seq + x->len;
    if (h->win_scaled)
        h->win_scaled_pkts++;
    x->dup_below = k->version == 4 && hw_dup(h, k->id, x->s->seq);
    if (TR_UNLIKELY(k->tos & 3) && (k->tos & 3) == SCPS_ECN_CE)
        scps_tr_rare(x->t, h)->ce++;
    if (TR_UNLIKELY(x->flags & (SCPS_ECE | SCPS_CWR)) && !x->syn) {
        scps_tr_rare(x->t, h)->ece += (x->flags & SCPS_ECE) != 0;
        scps_tr_rare(x->t, h)->cwr += (x->flags & SCPS_CWR) != 0;
    }
}

/* ---- steps of analyze_segment() that compute windows and outstanding data ---- */

static SCPS_ALWAYS_INLINE void initial_window(const struct step *x, struct conn_dir *h,
                                              struct conn_dir *o)
{
    if (TR_UNLIKELY(!o->data_acked && x->ack && o->syn + 1 != x->s->ack))
        o->data_acked = true;
    if (TR_UNLIKELY(!h->data_acked && x->len) && !x->resent) {
        h->initwin_bytes += x->len;
        h->initwin_segs++;
    }
}

/* Returns the outstanding data after a data segment of h, bytes, computed as tcptrace does (one
 * more than SND.NXT - SND.UNA), and updates its statistics. */
static SCPS_ALWAYS_INLINE uint64_t outstanding(const struct step *x, struct conn_dir *h,
                                               const struct conn_dir *o)
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

/* ---- functions that fill in what the user's callback scps_trace_config.on_packet gets ---- */

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

static SCPS_ALWAYS_INLINE void show(const struct step *x, const struct scps_trace_pkt *p,
                                    const struct conn_dir *h, const struct conn_dir *o,
                                    struct scps_trace_seen *v)
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

/* ---- the function that calls all steps for a segment, in order ---- */

/* Processes segment s of connection f; h is its direction, o the opposite one. The function is
 * instantiated four times, once for each value of enum kind (plain segments with data, plain ones
 * without, any segment while on_packet is set, all others), so that code which a kind does not need
 * is not compiled. */
static SCPS_ALWAYS_INLINE void analyze_segment(struct scps_trace *t, const struct scps_trace_pkt *p,
                                               const struct packet *k, const struct segment *s,
                                               struct flow *f, struct conn_dir *restrict h,
                                               struct conn_dir *restrict o, const enum kind kind)
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
    if (x.top > h->sent_hi && !x.probe && !(x.flags & SCPS_RST))
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
    struct conn_dir *h = &f->h[dir], *o = &f->h[!dir];
    if (TR_UNLIKELY(t->cfg.on_packet))
        analyze_segment(t, p, k, s, f, h, o, WATCHED);
    else if (TR_UNLIKELY(!s->plain))
        analyze_segment(t, p, k, s, f, h, o, ANY);
    else if (s->len)
        analyze_segment(t, p, k, s, f, h, o, PLAIN_DATA);
    else
        analyze_segment(t, p, k, s, f, h, o, PLAIN_ACK);
}
