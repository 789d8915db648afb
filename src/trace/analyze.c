/* SPDX-License-Identifier: MIT */
/* One packet at a time: from the frame to the figures of its connection.
 *
 *      frame -> link.c -> IP (and IP in UDP) -> TCP, or a compressed header -> flow -> figures
 *
 * The figures that carry tcptrace's names follow its rules to the letter, in its order of evaluation, because
 * several depend on it (the window of the previous packet, say).  docs/TRACE.md defines each, and lists where we
 * differ on purpose.  Sequence numbers are unwrapped to 64 bits on arrival; only the comparisons that tcptrace
 * makes on 32 bits stay there.
 *
 * This is the path every packet takes, so it parses by itself what wire/ would parse into larger structures: one
 * branch finds the ordinary header with timestamps, everything else goes through the option loop.
 *
 * Sources: RFC 9293, 7323, 2018, 2883, 3168; CCSDS 714.0-B-2 for kinds 20 to 23 and protocol 105.
 */
#define _GNU_SOURCE /* getentropy */
#include "trace/flow.h"

#include <stdlib.h>
#include <unistd.h>

struct packet {
    const uint8_t *ip;
    uint32_t cap;   /* captured bytes from ip on */
    uint32_t total; /* of the IP packet */
    uint8_t version, proto, tos;
    uint16_t id; /* IPv4 */
    const uint8_t *th;
    uint32_t th_cap;  /* captured bytes from th on */
    uint32_t seg_len; /* TCP header and payload on the wire */
    bool fragment;
};

struct opts {
    bool has_ts, has_mss, has_ws, sack_ok, caps, snack, record, corruption, bad, com;
    uint8_t ws, nsack, caps_bits, caps_id, xcaps_len;
    uint16_t mss, snack_off, snack_size;
    uint8_t snack_vec_len;
    const uint8_t *snack_vec;
    uint32_t tsval, tsecr;
    struct scps_sack sack[SCPS_SACK_MAX]; /* last: the first nsack mean something */
};

/* ---- IP --------------------------------------------------------------------------------------------- */

static int bad_ip(struct scps_trace *t)
{
    t->tot.bad_ip++;
    return 1;
}

static int cut_short(struct scps_trace *t)
{
    t->tot.truncated++;
    return 1;
}

static int parse_ip(struct scps_trace *t, struct packet *k, uint32_t left)
{
    const uint8_t *p = k->ip;
    uint32_t hdr;
    if (TR_UNLIKELY(k->cap < 20))
        return cut_short(t);
    if (TR_LIKELY(p[0] >> 4 == 4)) {
        hdr = (p[0] & 15u) * 4;
        k->total = scps_get16(p + 2);
        if (k->total == 0)
            k->total = left; /* segmentation was left to the network card */
        if (TR_UNLIKELY(hdr < 20 || k->total < hdr))
            return bad_ip(t);
        k->version = 4;
        k->tos = p[1];
        k->id = scps_get16(p + 4);
        k->proto = p[9];
        uint32_t frag = scps_get16(p + 6);
        if (TR_UNLIKELY(frag & 0x3fff)) {
            t->tot.fragments++;
            k->fragment = true;
            if (frag & 0x1fff) {
                t->tot.other_protocol++;
                return 1;
            }
        }
    } else if (p[0] >> 4 == 6) {
        if (k->cap < 40)
            return cut_short(t);
        hdr = 40;
        uint32_t plen = scps_get16(p + 4);
        k->total = plen ? 40 + plen : left;
        k->version = 6;
        k->tos = (uint8_t)(p[0] << 4 | p[1] >> 4);
        uint8_t next = p[6];
        for (int i = 0; i < 16; i++) {
            if (next != 0 && next != 43 && next != 44 && next != 60 && next != 51 && next != 135)
                break;
            if (hdr + 8 > k->cap)
                return cut_short(t);
            uint32_t ext = next == 44   ? 8
                           : next == 51 ? (p[hdr + 1] + 2u) * 4
                                        : (p[hdr + 1] + 1u) * 8;
            if (next == 44) {
                t->tot.fragments++;
                k->fragment = true;
                if (scps_get16(p + hdr + 2) & 0xfff8) {
                    t->tot.other_protocol++;
                    return 1;
                }
            }
            next = p[hdr];
            hdr += ext;
        }
        k->proto = next;
        if (hdr > k->total)
            return bad_ip(t);
    } else {
        return bad_ip(t);
    }
    if (hdr > k->cap)
        return cut_short(t);
    k->th = p + hdr;
    k->th_cap = SCPS_MIN(k->cap, k->total) - hdr;
    k->seg_len = k->total - hdr;
    return 0;
}

static void addresses(const struct packet *k, struct flow_key *key)
{
    memset(key, 0, sizeof *key);
    key->version = k->version;
    uint32_t n = k->version == 4 ? 4 : 16, at = k->version == 4 ? 12 : 8;
    memcpy(key->a, k->ip + at, n);
    memcpy(key->b, k->ip + at + n, n);
}

/* Is it IP in UDP? Ours and the reference implementation's carry a whole IP packet, nothing before or after. */
static bool parse_udp(const struct packet *k, uint32_t *inner)
{
    if (k->th_cap < 8 + 20)
        return false;
    const uint8_t *p = k->th + 8;
    uint32_t len = scps_get16(k->th + 4);
    if (len < 8 + 20 || len > k->seg_len)
        return false;
    len -= 8;
    if (p[0] >> 4 == 4) {
        uint32_t hdr = (p[0] & 15u) * 4;
        if (hdr < 20 || hdr + 28 > k->th_cap || scps_get16(p + 2) != len)
            return false;
        if (p[9] != SCPS_IPPROTO_TCP && p[9] != SCPS_IPPROTO_SCPS_TP &&
            p[9] != SCPS_IPPROTO_SCPS_COMP)
            return false;
        if (scps_cksum_fold(scps_cksum_add(0, p, hdr)) != 0)
            return false;
    } else if (p[0] >> 4 == 6) {
        if (k->th_cap < 8 + 40 || 40u + scps_get16(p + 4) != len)
            return false;
        if (p[6] != SCPS_IPPROTO_TCP && p[6] != SCPS_IPPROTO_SCPS_TP &&
            p[6] != SCPS_IPPROTO_SCPS_COMP)
            return false;
    } else {
        return false;
    }
    *inner = (uint32_t)(p - k->ip);
    return true;
}

/* ---- options ----------------------------------------------------------------------------------------- */

static void parse_sack(const uint8_t *b, uint32_t len, struct opts *o)
{
    for (o->nsack = 0; len >= 8 && o->nsack < SCPS_SACK_MAX; b += 8, len -= 8) {
        o->sack[o->nsack].left = scps_get32(b);
        o->sack[o->nsack++].right = scps_get32(b + 4);
    }
}

/* Timestamps alone, as everybody writes them? */
static inline bool parse_timestamps(const uint8_t *p, uint32_t len, struct opts *o)
{
    if (TR_UNLIKELY(len != 12 || scps_get32(p) != 0x0101080a))
        return false;
    o->tsval = scps_get32(p + 4);
    o->tsecr = scps_get32(p + 8);
    return true;
}

/* The options of p[0..len). Zero length or one beyond the end stops; a known kind of the wrong length is skipped. */
static void parse_options(const uint8_t *p, uint32_t len, struct opts *o)
{
    for (uint32_t i = 0; i < len;) {
        uint8_t kind = p[i];
        if (kind == 0)
            return;
        if (kind == 1) {
            i++;
            continue;
        }
        if (i + 2 > len || p[i + 1] < 2 || i + p[i + 1] > len) {
            o->bad = true;
            return;
        }
        uint32_t n = p[i + 1];
        const uint8_t *b = p + i + 2;
        switch (kind) {
        case SCPS_OPT_MSS:
            if (n == 4) {
                o->has_mss = true;
                o->mss = scps_get16(b);
            } else {
                o->bad = true;
            }
            break;
        case SCPS_OPT_WSCALE:
            if (n == 3) {
                o->has_ws = true;
                o->ws = b[0];
            } else {
                o->bad = true;
            }
            break;
        case SCPS_OPT_SACK_OK:
            o->sack_ok = true;
            break;
        case SCPS_OPT_SACK:
            if (n < 10 || (n - 2) % 8)
                o->bad = true;
            parse_sack(b, n - 2, o);
            break;
        case SCPS_OPT_TS:
            if (n == 10) {
                o->has_ts = true;
                o->tsval = scps_get32(b);
                o->tsecr = scps_get32(b + 4);
            } else {
                o->bad = true;
            }
            break;
        case SCPS_OPT_CAPS:
            if (n == 4 && !o->caps) {
                o->caps = true;
                o->caps_bits = b[0];
                o->caps_id = b[1];
            } else if (n > 4) {
                o->xcaps_len = (uint8_t)(n - 2);
            } else if (n < 4) {
                o->bad = true;
            }
            break;
        case SCPS_OPT_SNACK:
            if (n >= 6) {
                o->snack = true;
                o->snack_off = scps_get16(b);
                o->snack_size = scps_get16(b + 2);
                o->snack_vec = b + 4;
                o->snack_vec_len = (uint8_t)(n - 6);
            } else {
                o->bad = true;
            }
            break;
        case SCPS_OPT_RECORD:
            if (n == 2)
                o->record = true;
            else
                o->bad = true;
            break;
        case SCPS_OPT_CORRUPTION:
            if (n == 2)
                o->corruption = true;
            else
                o->bad = true;
            break;
        default:
            break;
        }
        i += n;
    }
}

/* ---- a segment ------------------------------------------------------------------------------------------ */

struct segment {
    uint16_t flags, wnd, urp;
    uint32_t seq, ack, len; /* len: payload on the wire */
    uint32_t saved;         /* payload captured */
    const uint8_t *opt;
    uint32_t opt_len;
    struct opts o;
    bool compressed;
};

static inline uint64_t unwrap(uint64_t ref, uint32_t x)
{
    return ref + (uint64_t)(int64_t)(int32_t)(x - (uint32_t)ref);
}

/* Octets start at 2^32 + the first number seen, so that earlier ones stay positive. */
static inline uint64_t place(struct half *h, uint32_t seq)
{
    if (TR_UNLIKELY(!h->seq_known)) {
        h->seq_known = true;
        h->ref = h->isn64 = ((uint64_t)1 << 32) + seq;
        return h->ref;
    }
    return unwrap(h->ref, seq);
}

/* The same packet again, by IP identification and sequence number among the last few? A print and the one give the other. */
static inline bool hw_dup(struct half *h, uint16_t id, uint32_t seq)
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

static bool is_dsack(const struct segment *s)
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

/* The unit of SNACK fields: the sender's MSS option less its timestamps, plus what compression saves (sheet 2.1). */
static uint32_t snack_unit(const struct half *sender, const struct half *receiver)
{
    int32_t mss = sender->mss       ? (int32_t)sender->mss
                  : sender->max_seg ? (int32_t)sender->max_seg
                                    : 536;
    bool ts = sender->ts && receiver->ts;
    bool com = sender->caps_seen && receiver->caps_seen && (sender->caps & SCPS_CAP_COM) &&
               (receiver->caps & SCPS_CAP_COM);
    if (!sender->mss)
        return (uint32_t)mss; /* SYN not seen: the largest segment is the unit */
    mss -= com ? (ts ? -4 : -12) : ts ? 12 : 0;
    return (uint32_t)SCPS_MAX(mss, 1);
}

static void take_snack(struct scps_trace *t, struct half *h, struct half *o,
                       const struct segment *s, uint64_t ack, struct scps_trace_seen *seen)
{
    uint32_t unit = snack_unit(o, h);
    tr_seldom(t, h)->snack_pkts++;
    if (s->o.snack_vec_len)
        tr_seldom(t, h)->snack_long++;
    uint64_t from = ack + (uint64_t)s->o.snack_off * unit;
    uint64_t to = from + (uint64_t)s->o.snack_size * unit;
    uint64_t holes = 0;
    if (s->o.snack_size == 0 || from >= o->segs.top) {
        tr_seldom(t, h)->snack_ignored++;
    } else {
        uint64_t end = SCPS_MIN(to, o->segs.top);
        tr_seldom(t, h)->snack_bytes += end - from;
        holes++;
        tr_why_snack(t, o, from, end, t->now);
        if (seen) {
            seen->snack_from = from - o->isn64;
            seen->snack_to = end - o->isn64;
        }
    }
    /* long form: one bit a block after the first hole, 0 missing, only those below the last received count */
    uint32_t bits = 0;
    for (uint32_t i = 0; i < s->o.snack_vec_len * 8u; i++)
        if (s->o.snack_vec[i / 8] >> (7 - i % 8) & 1)
            bits = i + 1;
    for (uint32_t i = 0; i < bits; i++) {
        if (s->o.snack_vec[i / 8] >> (7 - i % 8) & 1)
            continue;
        uint32_t j = i;
        while (j < bits && !(s->o.snack_vec[j / 8] >> (7 - j % 8) & 1))
            j++;
        uint64_t f = to + (uint64_t)i * unit, e = SCPS_MIN(to + (uint64_t)j * unit, o->segs.top);
        if (f < e) {
            tr_seldom(t, h)->snack_bytes += e - f;
            holes++;
            tr_why_snack(t, o, f, e, t->now);
        }
        i = j;
    }
    tr_seldom(t, h)->snack_holes += holes;
}

/* Payload of a full segment of h: the smaller MSS of the two SYNs less timestamps, unless it never sends that much. A
 * capture before segmentation offload shows multiples of it. */
static void full_segment(struct half *h, const struct half *o)
{
    uint32_t mss = h->mss && h->mss < o->mss ? h->mss : o->mss, ts = h->ts && o->ts ? 12 : 0;
    if (mss <= ts + 1 || h->max_seg < mss - ts)
        h->full = SCPS_MAX(h->max_seg, 1u);
    else
        h->full = mss - ts;
}

/* The time since the last packet, for whatever held h back then and what it had outstanding. */
static inline void spend(struct half *h, scps_dur dt)
{
    h->share[h->limit] += dt;
    if (h->out_now) {
        h->out_area += (double)(int64_t)h->out_now * (double)dt;
        h->out_time += dt;
    }
}

/* What direction h has outstanding from now on, and what holds it back. */
static inline void reckon(struct half *h, const struct half *o)
{
    if (!h->data_pkts)
        return;
    uint64_t una = o->ack_hi ? o->ack_hi : h->isn64;
    uint64_t out = h->sent_hi > una ? h->sent_hi - una : 0;
    uint64_t room = o->win_edge > h->sent_hi ? o->win_edge - h->sent_hi : 0;
    h->out_now = out;
    h->out_max = SCPS_MAX(h->out_max, out);
    if (TR_UNLIKELY(h->fin_count) && out == 0)
        h->limit = LIMIT_NONE;
    else if (TR_UNLIKELY(room < h->full) && (out || room == 0))
        h->limit = LIMIT_WINDOW;
    else if (out == 0 || h->last_short)
        h->limit = LIMIT_APP;
    else
        h->limit = LIMIT_CONGESTION;
}

/* Options that are not on every segment. */
static void take_options(struct scps_trace *t, struct flow *f, int dir, const struct segment *s,
                         struct half *h, struct half *o, bool syn)
{
    if (s->o.has_mss) {
        h->mss = s->o.mss;
        full_segment(h, o);
        full_segment(o, h);
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
        tr_seldom(t, h)->bad_options++;
    if (s->o.caps && syn) {
        h->caps_seen = true;
        h->caps = s->o.caps_bits;
        h->caps_id = s->o.caps_id;
        h->xcaps_len = s->o.xcaps_len;
        if (s->o.caps_bits & SCPS_CAP_COM)
            tr_comp_learn(t, f, dir, s->o.caps_id);
    }
    if (s->o.record && !syn)
        tr_seldom(t, h)->records++;
    if (s->o.corruption)
        tr_seldom(t, h)->corruption++;
    if (s->compressed)
        tr_seldom(t, h)->comp_pkts++;
}

static void see(struct scps_trace *t, const struct scps_trace_pkt *p, const struct packet *k,
                const struct segment *s, const struct flow *f, int dir, struct scps_trace_seen *v)
{
    v->pkt = p;
    v->packet = t->tot.packets;
    v->conn = f->number;
    v->b2a = dir;
    v->ip = k->ip;
    v->ip_len = k->cap;
    v->proto = k->proto;
    struct scps_endpoint *e[2] = {dir ? &v->dst : &v->src, dir ? &v->src : &v->dst};
    const uint8_t *addr[2] = {f->key.a, f->key.b};
    for (int i = 0; i < 2; i++) {
        e[i]->addr.family = f->key.version;
        memcpy(e[i]->addr.b, addr[i], 16);
        e[i]->port = i ? f->key.pb : f->key.pa;
    }
    v->flags = s->flags;
    v->seq = s->seq;
    v->ack = s->ack;
    v->len = s->len;
    v->opt = s->opt_len ? s->opt : NULL;
    v->opt_len = s->opt_len;
}

/* What is known of a segment before it is looked at: PLAIN ones acknowledge, and perhaps push and have timestamps. */
enum kind { ANY, WATCHED, PLAIN_DATA, PLAIN_ACK };

/* One segment of connection f. There are four of this function, one for each kind: what cannot be is left out of it. */
static inline __attribute__((always_inline)) void
one_segment(struct scps_trace *t, const struct scps_trace_pkt *p, const struct packet *k,
            const struct segment *s, struct flow *f, struct half *restrict h,
            struct half *restrict o, const enum kind kind)
{
    const int dir = h == &f->h[1];
    const scps_time now = t->now;
    const bool watch = kind == WATCHED, odd = kind == ANY || watch;
    const uint16_t flags = odd ? s->flags : (s->flags & SCPS_PSH) | SCPS_ACK;
    const bool syn = flags & SCPS_SYN, fin = flags & SCPS_FIN, ack = flags & SCPS_ACK;
    const uint32_t len = kind == PLAIN_ACK ? 0 : s->len;
    if (kind == PLAIN_DATA && !len)
        __builtin_unreachable();
    struct scps_trace_seen seen;
    f->last = now;
    f->packets++;

    /* windows */
    uint64_t win = 0;
    if (TR_LIKELY(ack || syn)) {
        win = s->wnd;
        if (h->ws && o->ws && !syn)
            win <<= h->wscale;
    }
    /* silence */
    if (TR_LIKELY(h->packets) || h->rst_count) {
        if (now - h->last_time > h->idle_max)
            h->idle_max = now - h->last_time;
    }
    h->last_time = now;

    /* where it lies */
    if (TR_UNLIKELY(syn) && !h->packets) {
        h->seq_known = true;
        h->ref = h->isn64 = ((uint64_t)1 << 32) + s->seq;
    }
    uint64_t first = place(h, s->seq), end = first + len;
    if (TR_LIKELY(end + fin + syn > h->ref))
        h->ref = end + fin + syn;
    uint64_t ack64 = ack ? place(o, s->ack) : 0;
    if (TR_UNLIKELY(!h->syn_count && !h->packets))
        h->sent_hi = first;

    if (TR_UNLIKELY(syn)) {
        if (h->syn_count && h->syn != s->seq)
            h->bad = true;
        h->syn_count++;
        h->syn = s->seq;
        o->ack = s->seq; /* as tcptrace does */
    }
    if (TR_UNLIKELY(fin)) {
        if (h->fin_count && h->fin != s->seq + len)
            h->bad = true;
        h->fin_count++;
        h->fin = s->seq + len;
    }
    if (TR_UNLIKELY(flags & SCPS_RST))
        h->rst_count++;

    if (now > f->spent_at) {
        scps_dur dt = now - f->spent_at;
        spend(h, dt);
        spend(o, dt);
        f->spent_at = now;
    }

    /* options */
    if (TR_UNLIKELY(s->o.has_ts && !h->ts)) {
        h->ts = true;
        full_segment(h, o);
        full_segment(o, h);
    }
    if (TR_UNLIKELY(h->ws != o->ws) && !syn)
        h->wscale = o->wscale = 0;
    if (odd)
        take_options(t, f, dir, s, h, o, syn);

    /* data */
    if (len) {
        h->data_pkts++;
        if (flags & SCPS_PSH)
            h->push_pkts++;
        h->data_bytes += len;
        if (TR_UNLIKELY(flags & SCPS_URG)) {
            tr_seldom(t, h)->urg_pkts++;
            tr_seldom(t, h)->urg_bytes += s->urp;
        }
        if (TR_UNLIKELY(len > h->max_seg)) {
            h->max_seg = len;
            full_segment(h, o);
        }
        if (!h->min_seg || len < h->min_seg)
            h->min_seg = len;
        if (h->data_pkts == 1)
            h->first_data = now;
        h->last_data = now;
        if (len > s->saved) {
            h->trunc_bytes += len - s->saved;
            h->trunc_segs++;
        }
    }
    h->packets++;
    h->wire_bytes += k->total;
    h->latest_seq = s->seq + len;
    if (h->win_scaled)
        h->win_scaled_pkts++;
    bool dup_below = k->version == 4 && hw_dup(h, k->id, s->seq);
    if (TR_UNLIKELY(k->tos & 3) && (k->tos & 3) == SCPS_ECN_CE)
        tr_seldom(t, h)->ce++;
    if (TR_UNLIKELY(flags & (SCPS_ECE | SCPS_CWR)) && !syn) {
        tr_seldom(t, h)->ece += (flags & SCPS_ECE) != 0;
        tr_seldom(t, h)->cwr += (flags & SCPS_CWR) != 0;
    }

    /* sent before? */
    bool resent = false, probe = false, ooo = false, keepalive = false;
    uint32_t again = 0;
    enum cause cause = CAUSE_NONE;
    if (len || syn || fin) {
        int64_t n = len + syn + fin, cnt = 0;
        if (TR_UNLIKELY(o->win_last == 0 && o->packets > 0 && !syn)) {
            probe = true;
            tr_seldom(t, h)->zwnd_pkts++;
            tr_seldom(t, h)->zwnd_bytes += len;
        } else {
            struct resend re = {0};
            again = tr_segs_add(t, h, first, (uint32_t)n, now, &ooo, &re);
            cnt = again;
            keepalive = len <= 1 && !syn && !fin && !(flags & SCPS_RST) &&
                        first + 1 == h->sent_hi && again && o->ack_hi >= h->sent_hi;
            if (TR_UNLIKELY(again && !keepalive)) {
                cause = tr_why_resent(t, h, o, first, end, &re, syn, s->o.has_ts, s->o.tsval, now);
                if (t->truth && len)
                    tr_truth_judge(t, f, dir, h, s->seq, len);
            } else if (TR_UNLIKELY(!again && !syn &&
                                   (first < h->sent_hi || end + fin <= o->ack_hi))) {
                /* fills a gap, or had been acknowledged before it was seen: overtaken on the way, or the repair of
                 * something lost before it got here */
                tr_seldom(t, h)->gap_fills++;
                scps_dur path = SCPS_MAX(h->rtt.min, o->rtt.min);
                if (tr_why_gap(h, o, first, end + fin, path, now)) {
                    tr_seldom(t, h)->repaired++;
                    cause =
                        tr_why_resent(t, h, o, first, end, &re, syn, s->o.has_ts, s->o.tsval, now);
                    if (t->truth && len)
                        tr_truth_judge(t, f, dir, h, s->seq, len);
                } else {
                    tr_seldom(t, h)->reordered++;
                }
            }
        }
        if (ooo)
            h->ooo_pkts++;
        if (syn) {
            n--;
            if (h->syn_count > 1)
                cnt--;
        }
        if (fin) {
            n--;
            if (h->fin_count > 1)
                cnt--;
        }
        if (!probe && cnt < n)
            h->unique_bytes += (uint64_t)(n - cnt);
        if (!len && !again && s->o.has_ts)
            tr_ts_sent(h, s->o.tsval, now);
    } else if (TR_UNLIKELY(first + 1 == h->sent_hi) && o->ack_hi >= h->sent_hi) {
        /* without data; but an older acknowledgement was overtaken by the FIN */
        keepalive = ack && ack64 >= h->ack_hi && !(flags & SCPS_RST);
    }
    if (len && !again && !probe && s->o.has_ts)
        tr_ts_sent(h, s->o.tsval, now);
    if (TR_UNLIKELY(keepalive))
        tr_seldom(t, h)->keepalives++;
    if (len && !probe) {
        uint64_t edge = o->win_edge;
        if (TR_UNLIKELY(edge && end == edge && !syn && !fin))
            h->window_full++;
        if (!again)
            h->last_short = len != h->full && len % h->full != 0;
        h->last_sent_at = now;
    }

    /* what an acknowledgement answers */
    scps_dur sample = -1;
    if (TR_LIKELY(ack)) {
        bool dup = s->ack == h->ack && len == 0 && win == h->win_last && o->owin_tot > 0;
        uint64_t dup_before = o->dupacks;
        if (dup || TR_UNLIKELY(ack64 != o->segs.settled))
            sample = tr_segs_ack(t, o, ack64, now, dup);
        if (s->ack == o->syn + 1 && o->syn_count == 1)
            o->rtt_3whs = o->rtt_newest;
        if (TR_UNLIKELY(o->segs.top && ack64 > o->segs.top))
            tr_seldom(t, h)->acks_beyond++;
        if (ack64 > h->ack_hi) {
            uint64_t moved = h->ack_hi ? ack64 - h->ack_hi : 0;
            h->ack_hi = ack64;
            o->dup_run = 0;
            if (s->o.has_ts)
                tr_ts_echoed(t, o, s->o.tsecr, now);
            if (o->why && o->why->open)
                tr_why_acked(o, ack64, s->o.has_ts, s->o.tsecr);
            if (o->sacked.n)
                scps_rangeset_trim(&o->sacked, ack64);
            if (moved && o->data_pkts) {
                tr_round_acked(t, o, ack64, now);
                uint32_t unit = o->full;
                uint64_t segs = moved <= unit       ? 1
                                : moved <= 2 * unit ? 2
                                                    : (moved + unit - 1) / unit;
                if (len == 0 && moved > 1) {
                    h->acks_adv++;
                    h->acked_segs += segs;
                    if (segs <= 1)
                        h->acks_one++;
                    else if (segs == 2)
                        h->acks_two++;
                    else
                        h->acks_more++;
                }
            }
        } else if (ack64 < h->ack_hi) {
            tr_seldom(t, h)->acks_old++;
        } else if (len == 0 && !syn && !fin && h->sent_hi <= first &&
                   (o->dupacks != dup_before || (win == h->win_last && o->sent_hi > ack64))) {
            o->dup_run++;
        }
        if (TR_UNLIKELY(win != h->win_last) && len == 0 && win && s->ack == h->ack &&
            h->sent_hi <= first && !(flags & (SCPS_SYN | SCPS_FIN | SCPS_RST)))
            tr_seldom(t, h)->win_updates++;
    }

    if (again) {
        resent = true;
        h->rexmit_pkts++;
        h->rexmit_bytes += again;
    }
    if (end + fin + syn > h->sent_hi && !probe)
        h->sent_hi = end + fin + syn;

    if (watch) {
        seen = (struct scps_trace_seen){.rexmit = resent,
                                        .out_of_order = ooo,
                                        .probe = probe,
                                        .hw_dup = dup_below,
                                        .keepalive = keepalive,
                                        .cause = cause ? tr_cause_name(cause) : NULL,
                                        .rtt = sample,
                                        .win = win,
                                        .off = first - h->isn64,
                                        .ack_off = ack ? ack64 - o->isn64 : 0};
        see(t, p, k, s, f, dir, &seen);
    }

    if (TR_UNLIKELY(flags & SCPS_RST)) {
        if (ack) {
            h->ack_pkts++;
            h->win_edge = ack64 + win;
        }
        if (watch)
            t->cfg.on_packet(t->cfg.ctx, &seen);
        return;
    }

    /* windows advertised */
    h->win_last = win;
    if (TR_LIKELY(ack || syn)) {
        if (win > h->win_max)
            h->win_max = win;
        if (TR_UNLIKELY(!h->win_scaled && win > 0 && h->ws && o->ws && !syn)) {
            h->win_scaled = true;
            h->win_min = h->win_max = win;
            h->win_tot = 0;
            h->win_scaled_pkts = 1;
        } else if (win > 0 && (h->win_min == 0 || win < h->win_min)) {
            h->win_min = win;
        }
        h->win_tot += win;
    }
    if (TR_LIKELY(ack)) {
        h->win_edge = ack64 + win;
        if (TR_UNLIKELY(win == 0))
            h->zero_win++;
        h->ack_pkts++;
        if (len == 0 && !syn && !fin) {
            h->pureack_pkts++;
            h->pureack_bytes += k->total;
            if (h->pureack_at && now >= h->pureack_at) {
                scps_dur gap = now - h->pureack_at;
                if (!h->ackgap.n || gap < h->ackgap.min)
                    h->ackgap.min = gap;
                h->ackgap.max = SCPS_MAX(h->ackgap.max, gap);
                h->ackgap.sum += (double)gap;
                h->ackgap.n++;
            }
            h->pureack_at = now;
        }
        if (odd && s->o.nsack) {
            h->num_sacks++;
            h->sack_blocks += s->o.nsack;
            h->max_sack_blocks = SCPS_MAX(h->max_sack_blocks, s->o.nsack);
            bool d = is_dsack(s);
            if (d) {
                h->num_dsacks++;
                tr_why_dsack(o, unwrap(o->ref, s->o.sack[0].left),
                             unwrap(o->ref, s->o.sack[0].right));
            }
            for (uint32_t i = d; i < s->o.nsack; i++)
                tr_why_sack(t, o, unwrap(o->ref, s->o.sack[i].left),
                            unwrap(o->ref, s->o.sack[i].right), now);
        }
        if (odd && s->o.snack && !syn)
            take_snack(t, h, o, s, ack64, watch ? &seen : NULL);
        h->ack = s->ack;
    }

    /* first window */
    if (TR_UNLIKELY(!o->data_acked && ack && o->syn + 1 != s->ack))
        o->data_acked = true;
    if (TR_UNLIKELY(!h->data_acked && len) && !resent) {
        h->initwin_bytes += len;
        h->initwin_segs++;
    }

    /* outstanding data, tcptrace's reckoning: what an acknowledgement names counts as one octet */
    uint64_t owin = 0;
    if (TR_LIKELY(!syn && !ooo && !resent)) {
        uint32_t v = o->ack == 0 ? len : s->seq + len - ((uint32_t)o->ack - 1);
        owin = TR_UNLIKELY(v > INT32_MAX) ? 0 : v;
        if (owin > h->owin_max)
            h->owin_max = owin;
        if (owin > 0 && (h->owin_min == 0 || owin < h->owin_min))
            h->owin_min = owin;
        h->owin_tot += owin;
        if (h->owin_count++ && now > h->owin_at)
            h->owin_wavg += h->owin_prev * (uint64_t)(now - h->owin_at) / 1000000;
        h->owin_at = now;
        h->owin_prev = owin;
    } else {
        owin = h->owin_prev;
    }

    reckon(h, o);
    reckon(o, h);
    if (len)
        tr_round_sent(h, h->out_now);
    if (watch) {
        seen.owin = owin;
        t->cfg.on_packet(t->cfg.ctx, &seen);
    }
}

static inline void segment(struct scps_trace *t, const struct scps_trace_pkt *p,
                           const struct packet *k, const struct segment *s, struct flow *f, int dir,
                           bool plain)
{
    struct half *h = &f->h[dir], *o = &f->h[!dir];
    if (TR_UNLIKELY(t->cfg.on_packet))
        one_segment(t, p, k, s, f, h, o, WATCHED);
    else if (TR_UNLIKELY(!plain))
        one_segment(t, p, k, s, f, h, o, ANY);
    else if (s->len)
        one_segment(t, p, k, s, f, h, o, PLAIN_DATA);
    else
        one_segment(t, p, k, s, f, h, o, PLAIN_ACK);
}

/* ---- TCP and compressed headers --------------------------------------------------------------------------- */

static int tcp_packet(struct scps_trace *t, const struct scps_trace_pkt *p, struct packet *k)
{
    if (TR_UNLIKELY(k->th_cap < 20)) {
        t->tot.truncated++;
        return 1;
    }
    const uint8_t *h = k->th;
    uint32_t off = (h[12] >> 4) * 4u;
    if (TR_UNLIKELY(off < 20 || off > k->seg_len)) {
        t->tot.bad_tcp++;
        return 1;
    }
    struct segment s;
    s.seq = scps_get32(h + 4);
    s.ack = scps_get32(h + 8);
    s.flags = h[13];
    s.wnd = scps_get16(h + 14);
    s.urp = scps_get16(h + 18);
    s.len = k->seg_len - off;
    s.saved = k->th_cap > off ? k->th_cap - off : 0;
    s.opt = h + 20;
    s.opt_len = SCPS_MIN(off, k->th_cap) - 20;
    s.compressed = false;
    bool plain = !t->cfg.on_packet && (s.flags & ~SCPS_PSH) == SCPS_ACK &&
                 (s.opt_len == 0 || parse_timestamps(s.opt, s.opt_len, &s.o));
    if (TR_UNLIKELY(!plain)) {
        memset(&s.o, 0, offsetof(struct opts, sack));
        parse_options(s.opt, s.opt_len, &s.o);
    } else { /* all a plain segment is asked for */
        s.o.has_ts = s.opt_len != 0;
        s.o.tsval = s.o.has_ts ? s.o.tsval : 0;
    }
    if (TR_UNLIKELY(off > k->th_cap))
        t->tot.truncated++; /* options cut: the header itself is whole */
    int dir;
    struct flow *f = NULL;
    if (TR_LIKELY(k->version == 4)) {
        struct flow_quick q;
        memcpy(&q.addrs, k->ip + 12, 8);
        memcpy(&q.ports, h, 4);
        f = tr_flow_quick(t, &q, s.flags, &dir);
    }
    if (TR_UNLIKELY(!f)) {
        struct flow_key key;
        addresses(k, &key);
        key.pa = scps_get16(h);
        key.pb = scps_get16(h + 2);
        f = tr_flow_find(t, &key, s.flags, s.seq, &dir);
        if (!f)
            return SCPS_ERR_NOMEM;
    }
    t->tot.tcp_packets++;
    segment(t, p, k, &s, f, dir, plain);
    struct half *x = &f->h[dir];
    if (TR_UNLIKELY(x->caps_seen)) { /* compressed headers leave out what did not change */
        x->c = (struct comp_state){.seq = s.seq,
                                   .ack = s.ack,
                                   .wnd = s.wnd,
                                   .tsval = s.o.tsval,
                                   .tsecr = s.o.tsecr,
                                   .known = true};
    }
    return 0;
}

enum {
    C_MORE = 0x80,
    C_TS1 = 0x40,
    C_TS2 = 0x20,
    C_RB = 0x10,
    C_SNACK = 0x08,
    C_PUSH = 0x04,
    C_S = 0x02,
    C_A = 0x01,
    C2_OPTS = 0x80,
    C2_PAD = 0x40,
    C2_URG = 0x20,
    C2_RST = 0x04,
    C2_FIN = 0x01
};

struct cursor {
    const uint8_t *p;
    uint32_t left;
    bool bad;
};

static uint32_t take(struct cursor *c, uint32_t n)
{
    uint32_t v = 0;
    if (c->left < n) {
        c->bad = true;
        return 0;
    }
    for (uint32_t i = 0; i < n; i++)
        v = v << 8 | c->p[i];
    c->p += n;
    c->left -= n;
    return v;
}

/* Spec sheet 8.2: every field is absolute, what is left out keeps its last value. */
static int compressed_packet(struct scps_trace *t, const struct scps_trace_pkt *p, struct packet *k)
{
    struct cursor c = {.p = k->th, .left = k->th_cap};
    uint32_t id = take(&c, 1), b1 = take(&c, 1), b2 = b1 & C_MORE ? take(&c, 1) : 0;
    if (c.bad) {
        t->tot.truncated++;
        return 1;
    }
    int dir;
    struct flow_key key;
    addresses(k, &key);
    struct flow *f = tr_comp_find(t, &key, (uint8_t)id, &dir);
    if (!f || !f->h[dir].c.known) {
        t->tot.unknown_compressed++;
        return 1;
    }
    struct half *h = &f->h[dir];
    struct segment s = {.flags = SCPS_ACK, .compressed = true};
    struct comp_state v = h->c;
    if (b2 & C2_URG) {
        s.urp = (uint16_t)take(&c, 2);
        s.flags |= SCPS_URG;
    }
    if (b1 & C_A) {
        v.wnd = (uint16_t)take(&c, 2);
        v.ack = take(&c, 4);
    }
    if (b1 & C_S)
        v.seq = take(&c, 4);
    if (b1 & C_TS1)
        v.tsval = take(&c, 4);
    if (b1 & C_TS2)
        v.tsecr = take(&c, 4);
    if (b1 & C_SNACK) {
        s.o.snack = true;
        s.o.snack_off = (uint16_t)take(&c, 2);
        s.o.snack_size = (uint16_t)take(&c, 2);
    }
    if (b2 & C2_OPTS) {
        uint32_t n = take(&c, 1);
        if (n > c.left || n > 40) {
            c.bad = true;
        } else {
            s.opt = c.p;
            s.opt_len = n;
            parse_options(c.p, n, &s.o);
            c.p += n;
            c.left -= n;
        }
    }
    if (b2 & C2_PAD)
        take(&c, 1);
    take(&c, 2); /* checksum */
    uint32_t hdr = (uint32_t)(c.p - k->th);
    if (c.bad || hdr > k->seg_len) {
        if (k->th_cap < k->seg_len)
            t->tot.truncated++;
        else
            t->tot.bad_compressed++;
        return 1;
    }
    if (b1 & C_PUSH)
        s.flags |= SCPS_PSH;
    if (b1 & C_RB)
        s.o.record = true;
    if (b2 & C2_RST)
        s.flags |= SCPS_RST;
    if (b2 & C2_FIN)
        s.flags |= SCPS_FIN;
    s.seq = v.seq;
    s.ack = v.ack;
    s.wnd = v.wnd;
    s.len = k->seg_len - hdr;
    s.saved = k->th_cap - hdr;
    if (b1 & (C_TS1 | C_TS2)) {
        s.o.has_ts = true;
        s.o.tsval = v.tsval;
        s.o.tsecr = v.tsecr;
    }
    h->c = v;
    t->tot.tcp_packets++;
    t->tot.compressed++;
    segment(t, p, k, &s, f, dir, false);
    return 0;
}

int scps_trace_packet(struct scps_trace *t, const struct scps_trace_pkt *p)
{
    t->tot.packets++;
    t->tot.bytes += p->caplen;
    if (TR_UNLIKELY(t->tot.packets == 1)) {
        t->tot.first = p->at;
        t->now = p->at;
    }
    if (TR_UNLIKELY(p->at < t->now))
        t->tot.time_backwards++;
    t->now = p->at;
    if (p->at > t->tot.last)
        t->tot.last = p->at;

    int off = tr_link_ip(t, p->link, p->data, p->caplen);
    if (TR_UNLIKELY(off < 0))
        return 1;
    struct packet k;
    uint32_t at = (uint32_t)off;
    for (int depth = 0;; depth++) {
        if (TR_UNLIKELY(at >= p->caplen)) {
            t->tot.truncated++;
            return 1;
        }
        k.fragment = false;
        k.ip = p->data + at;
        k.cap = p->caplen - at;
        int bad = parse_ip(t, &k, SCPS_MAX(p->len, p->caplen) - at);
        if (TR_UNLIKELY(bad))
            return bad;
        if (TR_LIKELY(k.proto == SCPS_IPPROTO_TCP || k.proto == SCPS_IPPROTO_SCPS_TP))
            return tcp_packet(t, p, &k);
        if (k.proto == SCPS_IPPROTO_SCPS_COMP)
            return compressed_packet(t, p, &k);
        uint32_t inner;
        if (k.proto != SCPS_IPPROTO_UDP || t->cfg.no_udp || depth || !parse_udp(&k, &inner)) {
            t->tot.other_protocol++;
            return 1;
        }
        t->tot.encapsulated++;
        at += inner;
    }
}

/* ---- lifetime ----------------------------------------------------------------------------------------------- */

struct scps_trace *scps_trace_new(const struct scps_trace_config *cfg)
{
    struct scps_trace *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    if (cfg)
        t->cfg = *cfg;
    t->free = t->last_flow = FLOW_NONE;
    /* keys of the hash: results do not depend on them */
    if (getentropy(t->seed, sizeof t->seed) != 0) {
        t->seed[0] = (uint64_t)(uintptr_t)t ^ 0x243f6a8885a308d3u;
        t->seed[1] = (uint64_t)(uintptr_t)&t ^ 0x13198a2e03707344u;
    }
    t->seed[1] |= 1;
    return t;
}

void scps_trace_free(struct scps_trace *t)
{
    if (!t)
        return;
    tr_flows_free(t);
    tr_free(t, t->comp, t->capcomp * sizeof *t->comp);
    tr_truth_free(t);
    free(t);
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void scps_trace_finish(struct scps_trace *t)
{
    if (t->finished)
        return;
    t->finished = true;
    /* the silence at the end, of connections still open */
    uint64_t *v = malloc((size_t)(t->live ? t->live : 1) * sizeof *v);
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->nflows; i++) {
        struct flow *f = tr_flow(t, i);
        if (!f->used)
            continue;
        if (v)
            v[n++] = (uint64_t)f->number << 32 | i;
        bool fins = f->h[0].fin_count && f->h[1].fin_count;
        if (fins || f->h[0].rst_count || f->h[1].rst_count)
            continue;
        for (int d = 0; d < 2; d++)
            if (f->h[d].packets && t->now - f->h[d].last_time > f->h[d].idle_max)
                f->h[d].idle_max = t->now - f->h[d].last_time;
    }
    if (!v)
        return;
    qsort(v, n, sizeof *v, by_number);
    t->order = tr_alloc(t, (size_t)SCPS_MAX(n, 1u) * sizeof *t->order);
    for (uint32_t i = 0; t->order && i < n; i++)
        t->order[i] = (uint32_t)v[i];
    free(v);
}

void scps_trace_totals(const struct scps_trace *t, struct scps_trace_totals *out)
{
    *out = t->tot;
}

uint32_t scps_trace_conns(const struct scps_trace *t)
{
    return t->order ? t->live : 0;
}

int scps_trace_conn(const struct scps_trace *t, uint32_t i, struct scps_trace_conn *out)
{
    if (!t->order || i >= t->live)
        return SCPS_ERR_INVAL;
    tr_report(t, tr_flow(t, t->order[i]), out);
    return 0;
}

uint64_t scps_trace_memory(const struct scps_trace *t, uint64_t *peak)
{
    if (peak)
        *peak = t->mem_peak;
    return t->mem;
}
