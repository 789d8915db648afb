/* SPDX-License-Identifier: MIT */
/* One direction of a link: queue, line, propagation.
 *
 *     offer ──> waiting ──> line ──> delay ──> arrival
 *               (queue)    8 n / rate
 *
 * All packets are in one byte ring in the order they came, each a record of a multiple of 8 bytes
 *
 *     | at 8 | len 4 | hollow 4 | frame 4 | number, whole 4 | len bytes of packet |
 *
 *     head                   line                  tail
 *      | on the line or on the way | waiting        |
 *
 * and what happens to them moves two marks and no byte. The line starts a packet when the one
 * before has left; then its end, its arrival and its fate are settled at the settings of that
 * moment, and the verdict is told. Nobody is woken for that: it is made up for
 * (scps_linkdir_advance) when the next packet comes, arrives, or somebody asks, always before
 * anything that could make a difference, so how often it is asked makes none. Only when nothing is
 * on the way and something waits, or the delay has shrunk, is the line itself the next thing to
 * look at.
 *
 * A lost packet leaves a record marked as gone. Those that do not keep the order go to a small heap
 * beside the ring: held back on purpose, or overtaking after the delay became shorter. At one
 * arrival time the ring goes before the heap.
 *
 * Line time is exact: microseconds and a numerator over the rate in bit/s, so no fraction is lost
 * over any number of packets, also when the rate steps under way. Only the arrival is rounded, up:
 * the last bit is there.
 *
 * The line is busy with a lost packet all the same. A second copy is made behind the line: it costs
 * no line time, has the same damage and arrives right behind the first one, or before it when
 * reordering holds the first one back. Jitter keeps the order: a packet that would overtake arrives
 * with the one before.
 */
#include "sim/link.h"

#include "base/bytes.h"
#include "base/wide.h"
#include "sim/framing.h"
#include "sim/plan.h"

#include <assert.h>
#include <string.h>

#if defined(__GNUC__)
#define SELDOM __attribute__((noinline, cold))
#else
#define SELDOM
#endif

#define BITS_US      UINT64_C(8000000) /* a byte in units of 1/rate us */
#define MAX_DELAY    (INT64_MAX / 1024)
#define MAX_FRAMING  65535u
#define MAX_INTERVAL SCPS_SEC(3600) /* its square fits 64 bits */

#define ROUND(n) (((n) + 7) & ~(size_t)7)

/* Not a number fails every comparison, and so is refused. */
static bool is_chance(double p)
{
    return p >= 0 && p <= 1;
}

static bool is_delay(scps_dur d)
{
    return d >= 0 && d <= MAX_DELAY;
}

static bool burst_makes_sense(const struct scps_burst *b)
{
    if (b->good || b->bad)
        return is_delay(b->good) && is_delay(b->bad) && b->good > 0 && b->bad > 0 && b->ber >= 0 &&
               b->ber < 1;
    return is_chance(b->to_bad) && is_chance(b->to_good) && b->ber >= 0 && b->ber < 1 &&
           (b->ber <= 0 || b->to_bad + b->to_good > 0);
}

/* Something must get through, at least 1 bit/s on average, or a queue would wait for ever. */
static bool rates_make_sense(const struct scps_steps *s)
{
    if (s->n == 0)
        return true;
    if (!scps_steps_ok(s, UINT64_MAX / 2))
        return false;
    return s->period ? scps_steps_sum(s) >= (uint64_t)s->period : s->v[s->n - 1].value > 0;
}

static bool makes_sense(const struct scps_link_config *c)
{
    return is_delay(c->delay) && is_delay(c->reorder_delay) && is_delay(c->jitter) && c->ber >= 0 &&
           c->ber < 1 && is_chance(c->loss) && is_chance(c->dup) && is_chance(c->reorder) &&
           c->overhead <= MAX_FRAMING && c->rate_bps <= UINT64_MAX / 2 &&
           (unsigned)c->framing < SCPS_FRAMING_COUNT && burst_makes_sense(&c->burst) &&
           is_delay(c->codel_target) && c->codel_interval >= 0 &&
           c->codel_interval <= MAX_INTERVAL && (c->codel_target > 0) == (c->codel_interval > 0) &&
           rates_make_sense(&c->rates) && scps_steps_ok(&c->delays, MAX_DELAY) &&
           scps_spans_ok(&c->outages);
}

static bool down_at_times(const struct scps_link_config *c)
{
    return c->outages.n || c->outages.inverse;
}

static void seed(struct scps_linkdir *d)
{
    struct scps_prng r;
    uint64_t s[7];

    /* A generator seeded with both numbers hands each stream a seed that shows no relation to its
     * neighbours'. */
    scps_prng_seed(&r, d->cfg.seed ^ d->stream * UINT64_C(0x9e3779b97f4a7c15));
    for (int i = 0; i < 7; i++)
        s[i] = scps_prng_next(&r);
    scps_errors_seed(&d->err, s[0], s[1], s[2], s[5]);
    scps_prng_seed(&d->r_dup, s[3]);
    scps_prng_seed(&d->r_reorder, s[4]);
    scps_prng_seed(&d->r_jitter, s[6]);
}

/* afresh: the burst process begins anew, at now. */
static void settle(struct scps_linkdir *d, bool afresh, scps_time now)
{
    for (int i = 0; i < SCPS_LINK_SIZES; i++)
        d->size[i].frame = UINT32_MAX;
    scps_errors_set(&d->err, &d->cfg, afresh, now);
    d->dup = scps_chance(d->cfg.dup);
    d->reorder = scps_chance(d->cfg.reorder);
    d->simple = d->err.simple && !d->dup && !d->reorder && !d->cfg.jitter && !d->cfg.delays.n;
    d->narrow = d->cfg.queue_bytes || d->cfg.queue_packets;
    d->direct = !d->cfg.codel_interval && !(d->cfg.hold && down_at_times(&d->cfg));
}

int scps_linkdir_init(struct scps_linkdir *d, const struct scps_link_config *cfg, uint64_t stream,
                      const struct scps_alloc *a)
{
    if (!makes_sense(cfg))
        return SCPS_ERR_INVAL;
    memset(d, 0, sizeof *d);
    d->cfg = *cfg;
    d->alloc = *a;
    d->stream = stream;
    d->next = SCPS_NEVER;
    seed(d);
    settle(d, true, 0);
    return 0;
}

static scps_time line_time(uint64_t bytes, uint64_t rate)
{
    return rate ? (scps_time)scps_muldiv(bytes, BITS_US, rate) : 0;
}

static inline void find_next(struct scps_linkdir *d);

/* The rate at t; 0: infinite, or, from a table, none. */
static uint64_t rate_at(const struct scps_link_config *c, scps_time t, scps_time *until)
{
    if (c->rates.n)
        return scps_steps_at(&c->rates, t, until);
    *until = SCPS_NEVER;
    return c->rate_bps;
}

int scps_linkdir_change(struct scps_linkdir *d, scps_time now, const struct scps_link_config *cfg)
{
    const struct scps_burst *a = &d->cfg.burst, *b = &cfg->burst;
    bool afresh = cfg->seed != d->cfg.seed || a->good != b->good || a->bad != b->bad ||
                  (a->ber > 0) != (b->ber > 0);
    scps_time until;

    if (!makes_sense(cfg))
        return SCPS_ERR_INVAL;
    scps_linkdir_advance(d, now);
    uint64_t was = rate_at(&d->cfg, d->free_us, &until), rate = rate_at(cfg, d->free_us, &until);
    if (was != rate) /* the part of a microsecond, in the new rate's measure */
        d->free_frac = was ? scps_muldiv(d->free_frac, rate, was) : 0;
    if (d->cfg.rate_bps != cfg->rate_bps) {
        d->line_us += line_time(d->line_bytes, d->cfg.rate_bps);
        d->line_bytes = 0;
    }
    if (d->free_us > d->sent_us && d->free_us > now) { /* it waits for the link, not for a frame */
        d->free_us = SCPS_MAX(d->sent_us + 1, now);
        d->free_frac = 0;
    }
    if (cfg->seed != d->cfg.seed) {
        d->cfg.seed = cfg->seed;
        seed(d);
    }
    if (cfg->framing != d->cfg.framing)
        d->framing_carry = 0;
    d->cfg = *cfg;
    settle(d, afresh, now);
    scps_linkdir_advance(d, now); /* the link may be up now that was not */
    return 0;
}

static void give_back(struct scps_linkdir *d, void *p, size_t size)
{
    if (p)
        d->alloc.free(d->alloc.ctx, p, size);
}

void scps_linkdir_fini(struct scps_linkdir *d)
{
    for (uint32_t i = 0; i < d->held_cap; i++)
        give_back(d, d->held[i].buf, d->held[i].cap);
    give_back(d, d->held, d->held_cap * sizeof *d->held);
    give_back(d, d->ring, d->ring_cap);
    give_back(d, d->scratch, d->scratch_cap);
    d->held = NULL;
    d->ring = d->scratch = NULL;
    d->held_n = d->held_cap = d->wait_n = d->scratch_cap = 0;
    d->ring_cap = 0;
    d->head = d->line = d->tail = 0;
    d->next = SCPS_NEVER;
}

/* ---- sizes ---- */

static SELDOM void size_learn(struct scps_linkdir *d, struct scps_link_size *s, uint32_t frame)
{
    uint32_t risk = frame > d->cfg.ber_exempt ? frame - d->cfg.ber_exempt : 0;

    s->frame = frame;
    s->bits = risk * 8;
    s->survive = scps_ber_survive(&d->err.ber, s->bits);
    s->us = 0;
    s->frac = 0;
    if (d->cfg.rate_bps) {
        s->us = (scps_time)(frame * BITS_US / d->cfg.rate_bps);
        s->frac = frame * BITS_US % d->cfg.rate_bps;
    }
}

static inline const struct scps_link_size *size_of(struct scps_linkdir *d, uint32_t frame)
{
    struct scps_link_size *s = &d->size[frame >> 2 & (SCPS_LINK_SIZES - 1)];

    if (s->frame != frame)
        size_learn(d, s, frame);
    return s;
}

/* ---- the ring ---- */

/* A record at pos, behind what only marks the ring's end; pos is not tail. */
static inline uint64_t ring_at(const struct scps_linkdir *d, uint64_t pos)
{
    return scps_link_record_at(d, pos)->at == SCPS_LINK_WRAP ? (pos | (d->ring_cap - 1)) + 1 : pos;
}

static inline uint64_t ring_behind(const struct scps_link_record *r, uint64_t pos)
{
    return pos + sizeof *r + ROUND(r->len);
}

/* Leaves the head at a packet that arrives, or at the line. */
static inline void ring_skip(struct scps_linkdir *d)
{
    while (d->head != d->line) {
        uint64_t pos = ring_at(d, d->head);
        const struct scps_link_record *r = scps_link_record_at(d, pos);
        d->head = pos;
        if (pos == d->line || r->at != SCPS_LINK_GONE)
            break;
        d->head = ring_behind(r, pos);
    }
    if (d->head == d->tail)
        d->head = d->line = d->tail = 0; /* keeps to the warm end of the ring */
}

/* Does the line come before what arrives next? */
static inline void look_at_line(struct scps_linkdir *d)
{
    if (d->wait_n && d->free_us != SCPS_NEVER) {
        scps_time soonest = d->free_us + (d->free_frac > 0) + (d->cfg.delays.n ? 0 : d->cfg.delay);
        if (soonest < d->next) {
            d->next = soonest;
            d->what = SCPS_LINK_LINE;
            d->behind = false;
        }
    }
}

static inline void find_next(struct scps_linkdir *d)
{
    d->behind = d->head != d->line && !d->held_n;
    d->next = d->head != d->line ? scps_link_record_at(d, d->head)->at : SCPS_NEVER;
    d->what = SCPS_LINK_ARRIVES;
    if (d->held_n && d->held[0].at < d->next) {
        d->next = d->held[0].at;
        d->what = SCPS_LINK_HELD;
    }
    look_at_line(d);
}

/* The same after a packet was offered: it goes behind those on the way. */
static inline void find_next_offered(struct scps_linkdir *d)
{
    if (d->behind && !d->held_n)
        look_at_line(d);
    else
        find_next(d);
}

static SELDOM int ring_grow(struct scps_linkdir *d, size_t need)
{
    size_t cap = d->ring_cap ? d->ring_cap * 2 : 16384;
    uint64_t to = 0, line = 0;
    uint8_t *v;

    while (cap < (d->tail - d->head) + 2 * need && cap)
        cap *= 2;
    if (!cap) /* 4 GiB, where addresses have 32 bits */
        return SCPS_ERR_NOMEM;
    v = d->alloc.alloc(d->alloc.ctx, cap);
    if (!v)
        return SCPS_ERR_NOMEM;
    while (d->head != d->tail) {
        uint64_t pos = ring_at(d, d->head);
        const struct scps_link_record *r = scps_link_record_at(d, pos);
        if (d->head == d->line || pos == d->line)
            line = to;
        memcpy(v + to, r, sizeof *r + r->len);
        to += sizeof *r + ROUND(r->len);
        d->head = ring_behind(r, pos);
    }
    if (d->line == d->tail)
        line = to;
    give_back(d, d->ring, d->ring_cap);
    d->ring = v;
    d->ring_cap = cap;
    d->head = 0;
    d->line = line;
    d->tail = to;
    return 0;
}

/* Where a record of `need` bytes goes; grows and wraps as it must. NULL: no memory. */
static inline struct scps_link_record *ring_room(struct scps_linkdir *d, size_t need)
{
    for (;;) {
        size_t used = (size_t)(d->tail - d->head), at = d->tail & (d->ring_cap - 1);
        size_t to_end = d->ring_cap - at;
        if (need <= to_end && used + need <= d->ring_cap)
            return scps_link_record_at(d, d->tail);
        if (need > to_end && used + to_end + need <= d->ring_cap) {
            scps_link_record_at(d, d->tail)->at =
                SCPS_LINK_WRAP; /* to_end is a multiple of 8: there is room for this */
            d->tail += to_end;
            return scps_link_record_at(d, d->tail);
        }
        if (ring_grow(d, need) != 0)
            return NULL;
    }
}

static inline bool held_before(const struct scps_link_held *a, const struct scps_link_held *b)
{
    return a->at < b->at || (a->at == b->at && a->seq < b->seq);
}

static void held_swap(struct scps_linkdir *d, uint32_t i, uint32_t k)
{
    struct scps_link_held t = d->held[i];
    d->held[i] = d->held[k];
    d->held[k] = t;
}

/* A place with room for len bytes behind the last one. NULL: no memory. */
static SELDOM struct scps_link_held *held_room(struct scps_linkdir *d, uint32_t len)
{
    if (d->held_n == d->held_cap) {
        uint32_t cap = d->held_cap ? d->held_cap * 2 : 16;
        struct scps_link_held *v =
            d->held_cap > UINT32_MAX / 4 ? NULL : d->alloc.alloc(d->alloc.ctx, cap * sizeof *v);
        if (!v)
            return NULL;
        if (d->held)
            memcpy(v, d->held, d->held_n * sizeof *v);
        memset(v + d->held_n, 0, (cap - d->held_n) * sizeof *v);
        give_back(d, d->held, d->held_cap * sizeof *d->held);
        d->held = v;
        d->held_cap = cap;
    }
    struct scps_link_held *h = &d->held[d->held_n];
    if (h->cap < len) {
        uint32_t cap = len < 256 ? 256 : len;
        uint8_t *p = d->alloc.alloc(d->alloc.ctx, cap);
        if (!p)
            return NULL;
        give_back(d, h->buf, h->cap);
        h->buf = p;
        h->cap = cap;
    }
    return h;
}

static inline void copy_packet(uint8_t *to, const struct scps_pkt *pkt)
{
    memcpy(to, pkt->data, pkt->len);
    if (pkt->payload)
        memcpy(to + pkt->len, pkt->payload, pkt->payload_len);
}

static inline uint32_t stored(const struct scps_pkt *pkt)
{
    return (uint32_t)(pkt->len + (pkt->payload ? pkt->payload_len : 0));
}

static SELDOM int hold(struct scps_linkdir *d, scps_time at, const struct scps_link_record *r)
{
    struct scps_link_held *h = held_room(d, r->len);
    uint32_t i;

    if (!h)
        return SCPS_ERR_NOMEM;
    h->at = at;
    h->seq = d->held_seq++;
    h->len = r->len;
    h->hollow = r->hollow;
    h->whole = r->whole;
    memcpy(h->buf, r + 1, r->len);
    for (i = d->held_n++; i > 0 && held_before(&d->held[i], &d->held[(i - 1) / 2]); i = (i - 1) / 2)
        held_swap(d, i, (i - 1) / 2);
    return 0;
}

static SELDOM void unhold(struct scps_linkdir *d)
{
    uint32_t i = 0;

    held_swap(d, 0, --d->held_n); /* its buffer stays behind the last one */
    for (;;) {
        uint32_t k = 2 * i + 1;
        if (k >= d->held_n)
            break;
        if (k + 1 < d->held_n && held_before(&d->held[k + 1], &d->held[k]))
            k++;
        if (!held_before(&d->held[k], &d->held[i]))
            break;
        held_swap(d, i, k);
        i = k;
    }
}

/* ---- verdicts ---- */

static void count_fate(struct scps_linkdir *d, enum scps_fate fate)
{
    struct scps_link_stats *st = &d->st;

    switch (fate) {
    case SCPS_FATE_FLIPPED:
        st->flipped++;
        return;
    case SCPS_FATE_BER:
        st->dropped_ber++;
        break;
    case SCPS_FATE_LOSS:
        st->dropped_loss++;
        break;
    case SCPS_FATE_QUEUE:
        st->dropped_queue++;
        break;
    case SCPS_FATE_CODEL:
        st->dropped_codel++;
        break;
    case SCPS_FATE_OUTAGE:
        st->dropped_outage++;
        break;
    case SCPS_FATE_BURST:
        st->dropped_burst++;
        break;
    case SCPS_FATE_VECTOR:
        st->dropped_vector++;
        break;
    default:
        return;
    }
    st->in_flight--;
}

static SELDOM void tell(struct scps_linkdir *d, struct scps_verdict *v)
{
    d->tell(d->tell_ctx, v);
}

/* The packet is lost before it gets onto the line; r, or pkt for one that has no record. */
static SELDOM void refuse(struct scps_linkdir *d, scps_time offered, uint64_t number,
                          const struct scps_pkt *pkt, enum scps_fate fate)
{
    struct scps_verdict v = {number, offered, SCPS_NEVER, SCPS_NEVER, SCPS_NEVER, fate, false, pkt};

    count_fate(d, fate);
    if (d->tell)
        tell(d, &v);
}

static struct scps_pkt packet_of(struct scps_link_record *r)
{
    return (struct scps_pkt){.data = (uint8_t *)(r + 1),
                             .len = r->len,
                             .cap = r->len,
                             .payload_len = r->hollow,
                             .at = r->at};
}

/* Of the record's number, whose high bits are those of the packets offered. */
static uint64_t number_of(const struct scps_linkdir *d, const struct scps_link_record *r)
{
    return d->st.offered - (((uint32_t)d->st.offered - r->number) & INT32_MAX);
}

/* ---- the line ---- */

/* The next frame leaves from free_us and free_frac on; afterwards they are where it ends. */
static inline void occupy(struct scps_linkdir *d, const struct scps_link_size *s)
{
    d->free_us += s->us;
    d->free_frac += s->frac;
    if (d->free_frac >= d->cfg.rate_bps && d->cfg.rate_bps > 0) {
        d->free_frac -= d->cfg.rate_bps;
        d->free_us++;
    }
    d->line_bytes += s->frame;
}

/* The same while the rate steps. The frame's bits pay each stretch at its own rate. */
static SELDOM void occupy_stepwise(struct scps_linkdir *d, uint32_t frame)
{
    uint64_t need = frame * BITS_US; /* below 2^55 */
    scps_time from = d->free_us;

    for (;;) {
        const struct scps_steps *rates = &d->cfg.rates;
        scps_time until;
        if (rates->period && d->free_us % rates->period == 0 && d->free_frac == 0) {
            uint64_t round = scps_steps_sum(rates), whole = (need - 1) / round;
            need -= whole * round; /* however short the period */
            d->free_us += (scps_time)whole * rates->period;
        }
        uint64_t rate = scps_steps_at(rates, d->free_us, &until);
        uint64_t room = scps_muldiv((uint64_t)(until - d->free_us), rate, 1);
        if (rate && need + d->free_frac <= room) {
            need += d->free_frac;
            d->free_us += (scps_time)(need / rate);
            d->free_frac = need % rate;
            break;
        }
        need -= room > d->free_frac ? room - d->free_frac : 0;
        d->free_us = until;
        d->free_frac = 0;
    }
    d->line_us += d->free_us - from;
}

struct saving {
    struct scps_linkdir *d;
    const struct scps_link_record *r;
    bool done;
};

/* Keeps the packet as it came for the verdict. Without memory the verdict shows it damaged. */
static SELDOM void save(void *ctx)
{
    struct saving *s = ctx;
    struct scps_linkdir *d = s->d;

    if (!d->tell)
        return;
    if (d->scratch_cap < s->r->len) {
        uint32_t cap = s->r->len < 2048 ? 2048 : s->r->len;
        uint8_t *p = d->alloc.alloc(d->alloc.ctx, cap);
        if (!p)
            return;
        give_back(d, d->scratch, d->scratch_cap);
        d->scratch = p;
        d->scratch_cap = cap;
    }
    memcpy(d->scratch, s->r + 1, s->r->len);
    s->done = true;
}

/* The record at the line has left it; first is when its first bit did, s its size. Settles its
 * fate. */
static SELDOM void settle_packet(struct scps_linkdir *d, struct scps_link_record *r,
                                 const struct scps_link_size *s, scps_time first, scps_time end)
{
    struct scps_frame f = {s->frame,           s->bits, s->survive, first, end,
                           (uint8_t *)(r + 1), r->len,  r->hollow};
    struct saving kept = {d, r, false};
    struct scps_pkt pkt = packet_of(r);
    struct scps_verdict v = {.number = number_of(d, r),
                             .offered = r->at,
                             .left = end,
                             .arrival = SCPS_NEVER,
                             .copy = SCPS_NEVER,
                             .pkt = &pkt};
    bool twice = scps_chance_hit(d->dup, &d->r_dup),
         late = scps_chance_hit(d->reorder, &d->r_reorder);
    scps_time at =
        end + (d->cfg.delays.n ? (scps_dur)scps_steps_between(&d->cfg.delays, end) : d->cfg.delay);

    v.fate = scps_errors_judge(&d->err, &d->cfg, &f, save, &kept);
    if (d->cfg.jitter) {
        at += (scps_dur)scps_prng_below(&d->r_jitter, (uint64_t)d->cfg.jitter + 1);
        if (d->head != d->line && at < d->last_at)
            at = d->last_at;
    }
    if (v.fate == SCPS_FATE_FLIPPED)
        r->whole = false;
    r->frame = 0; /* the copies that arrive from here */
    if (v.fate <= SCPS_FATE_FLIPPED) {
        bool behind = d->head != d->line && at < d->last_at; /* of those on the way */
        scps_dur by = d->cfg.reorder_delay;
        v.arrival = at;
        if (late) {
            v.arrival += by ? by : SCPS_MAX(4 * (d->cfg.rates.n ? end - first : s->us), SCPS_MS(1));
            v.reordered = true;
        }
        if ((late || behind) && hold(d, v.arrival, r) != 0) {
            v.fate = SCPS_FATE_LOSS;
            v.arrival = SCPS_NEVER;
            v.reordered = false;
        } else if (!late && !behind) {
            r->frame = 1;
        }
        if (twice && v.fate <= SCPS_FATE_FLIPPED && (!behind || hold(d, at, r) == 0)) {
            r->frame += !behind;
            v.copy = at;
            d->st.duplicated++;
            d->st.in_flight++;
        }
        d->st.reordered += v.reordered;
    }
    count_fate(d, v.fate);
    if (r->frame > 0) {
        r->at = at;
        d->last_at = at;
    } else {
        r->at = SCPS_LINK_GONE;
    }
    if (kept.done)
        pkt.data = d->scratch;
    pkt.at = v.offered;
    if (d->tell)
        tell(d, &v);
}

/* Settles the fate of the packet at the line, which has just left it. */
static inline void settle_simple(struct scps_linkdir *d, struct scps_link_record *r,
                                 const struct scps_link_size *s, scps_time at)
{
    enum scps_fate fate = scps_errors_simple(&d->err, s->survive);

    if (fate == SCPS_FATE_DELIVERED) {
        d->last_at = r->at = at;
        r->frame = 1;
    } else {
        r->at = SCPS_LINK_GONE;
        count_fate(d, fate);
    }
}

/* The packet at pos goes onto the line. */
static inline void start(struct scps_linkdir *d, struct scps_link_record *r, uint64_t pos)
{
    const struct scps_link_size *s = size_of(d, r->frame);
    scps_time first = d->free_us;

    if (d->cfg.rates.n)
        occupy_stepwise(d, s->frame);
    else
        occupy(d, s);
    d->sent_us = d->free_us;
    if (d->head == d->line)
        d->head = pos;
    d->line = pos;
    scps_time end = d->free_us + (d->free_frac > 0), at = end + d->cfg.delay;
    if (d->simple && !d->tell && (d->head == d->line || at >= d->last_at))
        settle_simple(d, r, s, at);
    else
        settle_packet(d, r, s, first, end);
}

/* The record at pos has left the queue, one way or another. */
static inline void leave(struct scps_linkdir *d, const struct scps_link_record *r, uint64_t pos)
{
    if (d->head == d->line)
        d->head = pos;
    d->line = ring_behind(r, pos);
    if (r->at == SCPS_LINK_GONE)
        ring_skip(d);
}

/* Should the packet at the head of the queue go? It has just been taken from it. */
static SELDOM bool codel_drops(struct scps_linkdir *d, struct scps_link_record *r, scps_time now)
{
    if (!scps_codel_drop(&d->codel, d->cfg.codel_target, d->cfg.codel_interval, now, now - r->at,
                         d->wait_bytes, d->largest))
        return false;
    struct scps_pkt pkt = packet_of(r);
    scps_time offered = r->at;
    r->at = SCPS_LINK_GONE;
    refuse(d, offered, number_of(d, r), &pkt, SCPS_FATE_CODEL);
    return true;
}

/* When the line is free, from t on: not in an outage, if it knows. */
static SELDOM void wait_for_link(struct scps_linkdir *d)
{
    scps_time up;

    if (d->free_us == SCPS_NEVER) /* down for good, until a change */
        return;
    up = scps_spans_up(&d->cfg.outages, d->free_us);
    if (up != d->free_us) {
        d->free_us = up;
        d->free_frac = 0;
    }
}

static inline void drain(struct scps_linkdir *d, scps_time now)
{
    while (d->wait_n) {
        if (d->cfg.hold && down_at_times(&d->cfg))
            wait_for_link(d);
        scps_time begin = d->free_us + (d->free_frac > 0);
        if (begin > now)
            break;
        uint64_t pos = ring_at(d, d->line);
        struct scps_link_record *r = scps_link_record_at(d, pos);
        d->wait_n--;
        d->wait_bytes -= r->frame;
        if (!d->cfg.codel_interval || !codel_drops(d, r, begin))
            start(d, r, pos);
        leave(d, r, pos);
    }
}

/* Everything that leaves the queue by now. */
static inline void run_line(struct scps_linkdir *d, scps_time now)
{
    if (d->wait_n && (d->free_us + (d->free_frac > 0) <= now || d->cfg.hold))
        drain(d, now);
}

void scps_linkdir_advance(struct scps_linkdir *d, scps_time now)
{
    run_line(d, now);
    find_next(d);
}

static inline bool queue_full(const struct scps_linkdir *d, uint32_t frame)
{
    return (d->cfg.queue_bytes && d->wait_bytes + frame > d->cfg.queue_bytes) ||
           (d->cfg.queue_packets && d->wait_n >= d->cfg.queue_packets);
}

/* ---- in and out ---- */

int scps_linkdir_offer(struct scps_linkdir *d, scps_time now, const struct scps_pkt *pkt)
{
    const uint32_t bytes = (uint32_t)(pkt->len + pkt->payload_len), len = stored(pkt);
    const uint32_t frame =
        d->cfg.overhead +
        (d->cfg.framing ? scps_framing_bytes(d->cfg.framing, pkt, &d->framing_carry) : bytes);
    struct scps_link_record *r;

    assert(pkt->len + pkt->payload_len <= 1u << 20);
    run_line(d, now);
    if (!d->wait_n && (d->free_us < now || (d->free_us == now && d->free_frac == 0))) {
        d->free_us = now;
        d->free_frac = 0;
        if (d->cfg.hold && down_at_times(&d->cfg))
            wait_for_link(d);
    }
    const bool waits = d->wait_n || d->free_us > now || d->free_frac > 0;
    d->st.offered++;
    d->st.offered_bytes += bytes;
    d->st.in_flight++;
    if (frame > d->largest)
        d->largest = frame;
    if (waits && d->narrow && queue_full(d, frame)) {
        refuse(d, now, d->st.offered, pkt, SCPS_FATE_QUEUE);
        find_next(d);
        return 0;
    }
    r = ring_room(d, sizeof *r + ROUND(len));
    if (!r) {
        refuse(d, now, d->st.offered, pkt, SCPS_FATE_LOSS);
        find_next(d);
        return SCPS_ERR_NOMEM;
    }
    r->at = now;
    r->len = len;
    r->hollow = pkt->payload ? 0 : (uint32_t)pkt->payload_len;
    r->frame = frame;
    r->number = d->st.offered & INT32_MAX;
    r->whole = pkt->csum_ok;
    copy_packet((uint8_t *)(r + 1), pkt);
    d->tail += sizeof *r + ROUND(len);
    if (!waits && d->direct) {
        uint64_t pos = d->tail - (sizeof *r + ROUND(len));
        start(d, r, pos);
        leave(d, r, pos);
    } else {
        d->wait_n++;
        d->wait_bytes += frame;
        if (waits && d->wait_bytes > d->st.max_queue_bytes)
            d->st.max_queue_bytes = d->wait_bytes;
        if (!waits)
            run_line(d, now);
    }
    find_next_offered(d);
    return 0;
}

void scps_linkdir_pop(struct scps_linkdir *d)
{
    scps_time now = d->next;

    assert(d->next != SCPS_NEVER && d->what != SCPS_LINK_LINE);
    if (d->what == SCPS_LINK_HELD) {
        d->st.delivered_bytes += d->held[0].len + d->held[0].hollow;
        unhold(d);
    } else {
        struct scps_link_record *r = scps_link_record_at(d, d->head);
        d->st.delivered_bytes += r->len + r->hollow;
        if (--r->frame == 0) {
            d->head = ring_behind(r, d->head);
            ring_skip(d);
        }
    }
    d->st.delivered++;
    d->st.in_flight--;
    run_line(d, now);
    find_next(d);
}

void scps_linkdir_stats(struct scps_linkdir *d, scps_time now, struct scps_link_stats *out)
{
    scps_linkdir_advance(d, now);
    *out = d->st;
    out->busy = d->line_us + line_time(d->line_bytes, d->cfg.rate_bps);
    if (d->sent_us > now) /* from now on without a pause */
        out->busy -= d->sent_us - now;
}
