/* SPDX-License-Identifier: MIT */
/* One direction of a link: rate, queue, delay, errors, duplication and reordering, settled when a packet is offered.
 *
 *     offer ──> waiting ──> line ──> delay ──> arrival
 *               (queue)    8 n / rate
 *
 * First in, first out: the moment a packet comes, its start on the line (when the one before it has left), its end
 * and its arrival are known, and so is what the errors do to it.  Nothing happens between then and its arrival, so
 * there is no event for it.  What is kept:
 *
 *   - for each packet that has to wait, when it starts and its size, so that the length of the queue is known later:
 *     entries are dropped when the next packet comes and finds them started;
 *   - for each packet that will arrive, a record in one byte ring, in order of arrival:
 *
 *         | at 8 | len 4 | hollow 4 | len bytes of packet, to a multiple of 8 |      at = -1: go on at the start
 *
 *   - in a small heap beside it, those that do not keep the order: held back on purpose, or overtaking after the
 *     delay became shorter.  At one arrival time the ring goes before the heap.
 *
 * Line time is exact: microseconds and a numerator over the rate in bit/s, so no fraction is lost over any number of
 * packets.  Only the arrival is rounded, up: the last bit is there.
 *
 * Errors.  The frame is the framing bytes, then the IP packet; its first ber_exempt bytes are not at risk.  Damage is
 * one draw a frame (loss.c).  With `flip` the damaged bits are flipped and the packet delivered, except that damage to
 * framing bytes loses the frame, as a framing that cannot be read, and so does damage to hollow bytes, which have no
 * bits to flip: both count as dropped_ber.  The line is busy with a lost packet all the same.  A second copy is
 * made behind the line: it costs no line time, has the same damage and arrives right behind the first one, or
 * before it when reordering holds the first one back.
 *
 * Every chance has a stream of draws of its own, one draw for each packet that gets onto the line, so switching one
 * on leaves the others' outcomes as they were.
 */
#include "sim/link.h"

#include "base/bytes.h"

#include <assert.h>
#include <string.h>

#if defined(__GNUC__)
#define SELDOM __attribute__((noinline, cold))
#else
#define SELDOM
#endif

#define BITS_US     UINT64_C(8000000) /* a byte in units of 1/rate us */
#define MAX_DELAY   (INT64_MAX / 1024)
#define MAX_FRAMING 65535u

#define ROUND(n) (((n) + 7) & ~(size_t)7)

/* Not a number fails every comparison, and so is refused. */
static bool is_chance(double p)
{
    return p >= 0 && p <= 1;
}

static bool makes_sense(const struct scps_link_config *c)
{
    return c->delay >= 0 && c->delay <= MAX_DELAY && c->reorder_delay >= 0 &&
           c->reorder_delay <= MAX_DELAY && c->ber >= 0 && c->ber < 1 && is_chance(c->loss) &&
           is_chance(c->dup) && is_chance(c->reorder) && c->overhead <= MAX_FRAMING &&
           c->rate_bps <= UINT64_MAX / 2;
}

static void seed(struct scps_linkdir *d)
{
    struct scps_prng r;

    /* A generator seeded with both numbers hands each stream a seed that shows no relation to its neighbours'. */
    scps_prng_seed(&r, d->cfg.seed ^ d->stream * UINT64_C(0x9e3779b97f4a7c15));
    scps_prng_seed(&d->r_ber, scps_prng_next(&r));
    scps_prng_seed(&d->r_flip, scps_prng_next(&r));
    scps_prng_seed(&d->r_loss, scps_prng_next(&r));
    scps_prng_seed(&d->r_dup, scps_prng_next(&r));
    scps_prng_seed(&d->r_reorder, scps_prng_next(&r));
}

static void settle(struct scps_linkdir *d)
{
    for (int i = 0; i < SCPS_LINK_SIZES; i++)
        d->size[i].frame = UINT32_MAX;
    scps_ber_init(&d->ber, d->cfg.ber);
    d->loss = scps_chance(d->cfg.loss);
    d->dup = scps_chance(d->cfg.dup);
    d->reorder = scps_chance(d->cfg.reorder);
    d->chancy = d->ber.on || d->loss || d->dup || d->reorder;
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
    settle(d);
    seed(d);
    return 0;
}

static scps_time line_time(uint64_t bytes, uint64_t rate)
{
    return rate ? (scps_time)scps_muldiv(bytes, BITS_US, rate) : 0;
}

int scps_linkdir_change(struct scps_linkdir *d, const struct scps_link_config *cfg)
{
    uint64_t was = d->cfg.rate_bps, rate = cfg->rate_bps;
    bool reseed = cfg->seed != d->cfg.seed;

    if (!makes_sense(cfg))
        return SCPS_ERR_INVAL;
    if (was != rate) { /* the part of a microsecond, in the new rate's measure */
        d->free_frac = was ? scps_muldiv(d->free_frac, rate, was) : 0;
        d->line_us += line_time(d->line_bytes, was);
        d->line_bytes = 0;
    }
    d->cfg = *cfg;
    settle(d);
    if (reseed)
        seed(d);
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
    give_back(d, d->wait, d->wait_cap * sizeof *d->wait);
    give_back(d, d->ring, d->ring_cap);
    give_back(d, d->scratch, d->scratch_cap);
    d->held = NULL;
    d->wait = NULL;
    d->ring = d->scratch = NULL;
    d->held_n = d->held_cap = d->wait_n = d->wait_cap = d->scratch_cap = 0;
    d->ring_cap = 0;
    d->head = d->tail = 0;
    d->next = SCPS_NEVER;
}

/* ---- sizes ---- */

static SELDOM void size_learn(struct scps_linkdir *d, struct scps_link_size *s, uint32_t frame)
{
    uint32_t risk = frame > d->cfg.ber_exempt ? frame - d->cfg.ber_exempt : 0;

    s->frame = frame;
    s->bits = risk * 8;
    s->survive = scps_ber_survive(&d->ber, s->bits);
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

/* ---- the queue ---- */

static inline void queue_advance(struct scps_linkdir *d, scps_time now)
{
    while (d->wait_n) {
        const struct scps_link_waiting *w = &d->wait[d->wait_head];
        if (w->start > now)
            break;
        d->wait_bytes -= w->frame;
        d->wait_head = (d->wait_head + 1) & (d->wait_cap - 1);
        d->wait_n--;
    }
}

static SELDOM int queue_grow(struct scps_linkdir *d)
{
    uint32_t cap = d->wait_cap ? d->wait_cap * 2 : 64;
    struct scps_link_waiting *v;

    if (d->wait_cap > UINT32_MAX / 4)
        return SCPS_ERR_NOMEM;
    v = d->alloc.alloc(d->alloc.ctx, cap * sizeof *v);
    if (!v)
        return SCPS_ERR_NOMEM;
    for (uint32_t i = 0; i < d->wait_n; i++)
        v[i] = d->wait[(d->wait_head + i) & (d->wait_cap - 1)];
    give_back(d, d->wait, d->wait_cap * sizeof *d->wait);
    d->wait = v;
    d->wait_cap = cap;
    d->wait_head = 0;
    return 0;
}

static inline bool queue_full(const struct scps_linkdir *d, uint32_t frame)
{
    return (d->cfg.queue_bytes && d->wait_bytes + frame > d->cfg.queue_bytes) ||
           (d->cfg.queue_packets && d->wait_n >= d->cfg.queue_packets);
}

/* ---- on the way ---- */

/* The head is at a record, or the ring is empty. */
static inline void ring_skip(struct scps_linkdir *d)
{
    if (d->head != d->tail && scps_link_record_at(d, d->head)->at == SCPS_LINK_WRAP)
        d->head = (d->head | (d->ring_cap - 1)) + 1;
}

static inline void find_next(struct scps_linkdir *d)
{
    scps_time ring = d->head != d->tail ? scps_link_record_at(d, d->head)->at : SCPS_NEVER;

    d->next_held = d->held_n && d->held[0].at < ring;
    d->next = d->next_held ? d->held[0].at : ring;
}

static SELDOM int ring_grow(struct scps_linkdir *d, size_t need)
{
    size_t cap = d->ring_cap ? d->ring_cap * 2 : 16384;
    uint64_t to = 0;
    uint8_t *v;

    while (cap < (d->tail - d->head) + 2 * need)
        cap *= 2;
    v = d->alloc.alloc(d->alloc.ctx, cap);
    if (!v)
        return SCPS_ERR_NOMEM;
    while (d->head != d->tail) {
        struct scps_link_record *r = scps_link_record_at(d, d->head);
        size_t n = sizeof *r + ROUND(r->len);
        memcpy(v + to, r, sizeof *r + r->len);
        to += n;
        d->head += n;
        ring_skip(d);
    }
    give_back(d, d->ring, d->ring_cap);
    d->ring = v;
    d->ring_cap = cap;
    d->head = 0;
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

static SELDOM int hold(struct scps_linkdir *d, scps_time at, const struct scps_pkt *pkt)
{
    struct scps_link_held *h = held_room(d, stored(pkt));
    uint32_t i;

    if (!h)
        return SCPS_ERR_NOMEM;
    h->at = at;
    h->seq = d->held_seq++;
    h->len = stored(pkt);
    h->hollow = pkt->payload ? 0 : (uint32_t)pkt->payload_len;
    copy_packet(h->buf, pkt);
    for (i = d->held_n++; i > 0 && held_before(&d->held[i], &d->held[(i - 1) / 2]); i = (i - 1) / 2)
        held_swap(d, i, (i - 1) / 2);
    if (at < d->next)
        find_next(d);
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

static inline int on_the_way(struct scps_linkdir *d, scps_time at, const struct scps_pkt *pkt)
{
    uint32_t len = stored(pkt);
    size_t need = sizeof(struct scps_link_record) + ROUND(len);
    struct scps_link_record *r;

    if (d->head == d->tail)
        d->last_at = at;
    else if (at < d->last_at)
        return hold(d, at, pkt);
    r = ring_room(d, need);
    if (!r)
        return SCPS_ERR_NOMEM;
    d->last_at = r->at = at;
    r->len = len;
    r->hollow = pkt->payload ? 0 : (uint32_t)pkt->payload_len;
    copy_packet((uint8_t *)(r + 1), pkt);
    d->tail += need;
    if (at <= d->next)
        find_next(d);
    return 0;
}

/* ---- errors ---- */

/* Flips bits of pkt, which is in the scratch buffer in one piece but for hollow bytes. draw gave the damage away.
 * Returns false when the packet cannot be delivered. */
static SELDOM bool flip_bits(struct scps_linkdir *d, const struct scps_link_size *s, uint64_t draw,
                             const struct scps_pkt *pkt)
{
    uint32_t exempt = SCPS_MIN(d->cfg.ber_exempt, s->frame), at = 0;
    bool readable = true;

    for (;;) {
        at += scps_ber_run(&d->ber, draw, s->bits - at);
        if (at >= s->bits)
            return readable;
        uint32_t byte = exempt + at / 8;
        if (byte < d->cfg.overhead || byte - d->cfg.overhead >= pkt->len)
            readable = false;
        else
            pkt->data[byte - d->cfg.overhead] ^= (uint8_t)(0x80 >> at % 8);
        if (++at >= s->bits)
            return readable;
        draw = scps_prng_next(&d->r_flip);
    }
}

static SELDOM int scratch_copy(struct scps_linkdir *d, const struct scps_pkt *pkt,
                               struct scps_pkt *copy)
{
    uint32_t len = stored(pkt);

    if (d->scratch_cap < len) {
        uint32_t cap = len < 2048 ? 2048 : len;
        uint8_t *p = d->alloc.alloc(d->alloc.ctx, cap);
        if (!p)
            return SCPS_ERR_NOMEM;
        give_back(d, d->scratch, d->scratch_cap);
        d->scratch = p;
        d->scratch_cap = cap;
    }
    copy_packet(d->scratch, pkt);
    *copy = *pkt;
    copy->data = d->scratch;
    copy->len = len;
    if (pkt->payload)
        copy->payload_len = 0;
    copy->payload = NULL;
    return 0;
}

/* ---- in and out ---- */

int scps_linkdir_offer(struct scps_linkdir *d, scps_time now, const struct scps_pkt *pkt)
{
    const uint64_t rate = d->cfg.rate_bps;
    const uint32_t bytes = (uint32_t)(pkt->len + pkt->payload_len);
    const uint32_t frame = bytes + d->cfg.overhead;
    const struct scps_link_size *s = size_of(d, frame);
    struct scps_pkt damaged;
    bool bad = false, twice = false, late = false;
    int rc;

    assert(pkt->len + pkt->payload_len <= 1u << 20);
    queue_advance(d, now);
    if (d->free_us < now || (d->free_us == now && d->free_frac == 0)) {
        d->free_us = now;
        d->free_frac = 0;
    } else {
        if (queue_full(d, frame)) {
            d->st.offered++;
            d->st.offered_bytes += bytes;
            d->st.dropped_queue++;
            return 0;
        }
        if (d->wait_n == d->wait_cap && queue_grow(d) != 0)
            return SCPS_ERR_NOMEM;
        d->wait[(d->wait_head + d->wait_n++) & (d->wait_cap - 1)] =
            (struct scps_link_waiting){d->free_us + (d->free_frac > 0), frame};
        d->wait_bytes += frame;
        if (d->wait_bytes > d->st.max_queue_bytes)
            d->st.max_queue_bytes = d->wait_bytes;
    }
    d->st.offered++;
    d->st.offered_bytes += bytes;
    d->free_us += s->us;
    d->free_frac += s->frac;
    if (d->free_frac >= rate && rate > 0) {
        d->free_frac -= rate;
        d->free_us++;
    }
    d->line_bytes += frame;

    scps_time at = d->free_us + (d->free_frac > 0) + d->cfg.delay;
    if (d->chancy) {
        uint64_t draw = d->ber.on ? scps_prng_next(&d->r_ber) : 0;
        bool lost = scps_chance_hit(d->loss, &d->r_loss);
        twice = scps_chance_hit(d->dup, &d->r_dup);
        late = scps_chance_hit(d->reorder, &d->r_reorder);
        if (lost) {
            d->st.dropped_loss++;
            return 0;
        }
        if (draw >= s->survive && d->ber.on) {
            bad = true;
            if (!d->cfg.flip || scratch_copy(d, pkt, &damaged) != 0 ||
                !flip_bits(d, s, draw, &damaged)) {
                d->st.dropped_ber++;
                return 0;
            }
            pkt = &damaged;
        }
    }
    if (late) {
        scps_dur by = d->cfg.reorder_delay;
        rc = hold(d, at + (by ? by : SCPS_MAX(4 * s->us, SCPS_MS(1))), pkt);
    } else {
        rc = on_the_way(d, at, pkt);
    }
    if (rc != 0) {
        d->st.dropped_loss++; /* no memory: it was on the line, and is lost */
        return rc;
    }
    d->st.in_flight++;
    d->st.reordered += late;
    d->st.flipped += bad;
    if (twice && on_the_way(d, at, pkt) == 0) {
        d->st.duplicated++;
        d->st.in_flight++;
    }
    return 0;
}

void scps_linkdir_pop(struct scps_linkdir *d)
{
    assert(d->next != SCPS_NEVER);
    if (d->next_held) {
        d->st.delivered_bytes += d->held[0].len + d->held[0].hollow;
        unhold(d);
    } else {
        const struct scps_link_record *r = scps_link_record_at(d, d->head);
        d->st.delivered_bytes += r->len + r->hollow;
        d->head += sizeof *r + ROUND(r->len);
        if (d->head == d->tail)
            d->head = d->tail = 0; /* keeps to the warm end of the ring */
        else
            ring_skip(d);
    }
    d->st.delivered++;
    d->st.in_flight--;
    find_next(d);
}

void scps_linkdir_stats(const struct scps_linkdir *d, scps_time now, struct scps_link_stats *out)
{
    *out = d->st;
    out->busy = d->line_us + line_time(d->line_bytes, d->cfg.rate_bps);
    if (d->free_us > now) /* from now on without a pause */
        out->busy -= d->free_us - now;
}
