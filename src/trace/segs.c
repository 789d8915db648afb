/* SPDX-License-Identifier: MIT */
/* Records of what one direction has sent: which bytes are new, which were sent before, and which
 * segment an acknowledgement answers.
 *
 *      blocks: acknowledged, merged        chunks: not acknowledged, as first sent
 *      [=========)   [=====)               [--)[--)[--)   [--)[--)
 *
 * The rules are those of tcptrace's figures, so that counts are equal:
 *   - bytes are "sent again" when a recorded segment covers them; a segment that fills a gap below
 *     a recorded one, and ends below that one's end, is out of order;
 *   - a segment gives a round-trip sample when an acknowledgement ends exactly at its end, it was
 *     sent once, and nothing below it was sent later (otherwise it counts as post-loss, ambiguous,
 *     or cumulatively acknowledged);
 *   - sequence space is divided into quadrants of 2^30: segments are cut at their borders, blocks
 *     are not merged across them, and data two quadrants back is discarded.
 * tcptrace searches a list for each packet; here the search is by bisection, and usually ends after
 * one comparison.
 *
 * Memory: at most MAX_CHUNKS chunks of up to CHUNK segments, and the blocks of blocks.c, for each
 * direction. Beyond that the lowest are discarded, and counted.
 */
#include "trace/flow.h"

#define CHUNK      64u
#define MAX_CHUNKS 65536u

static size_t chunk_size(uint32_t cap)
{
    return sizeof(struct chunk) + cap * sizeof(struct seg);
}

static void chunk_free(struct scps_trace *t, struct chunk *c)
{
    scps_tr_free(t, c, chunk_size(c->cap));
}

static struct chunk *chunk_new(struct scps_trace *t, uint32_t cap)
{
    struct chunk *c = scps_tr_alloc(t, chunk_size(cap));
    if (c)
        c->cap = (uint16_t)cap;
    return c;
}

void scps_tr_segs_free(struct scps_trace *t, struct conn_dir *h)
{
    struct segs *s = &h->segs;
    for (uint32_t i = 0; i < s->n; i++)
        chunk_free(t, s->c[s->head + i]);
    scps_tr_free(t, s->c, s->cap * sizeof *s->c);
    scps_tr_free(t, s->b, s->capb * sizeof *s->b);
    memset(s, 0, sizeof *s);
}

/* Makes room for a pointer to a chunk at index i (0 to n) of the array of chunks. Returns false if
 * there is no memory. */
static bool chunk_slot(struct scps_trace *t, struct segs *s, uint32_t i)
{
    if (s->head + s->n == s->cap) {
        if (s->head > s->cap / 2) {
            memmove(s->c, s->c + s->head, s->n * sizeof *s->c);
            s->head = 0;
        } else {
            uint32_t cap = s->cap ? s->cap * 2 : 1;
            void *p = scps_tr_grow(t, s->c, s->cap * sizeof *s->c, cap * sizeof *s->c);
            if (!p)
                return false;
            s->c = p;
            s->cap = cap;
        }
    }
    memmove(s->c + s->head + i + 1, s->c + s->head + i, (s->n - i) * sizeof *s->c);
    s->n++;
    return true;
}

static void drop_first_chunk(struct scps_trace *t, struct segs *s)
{
    chunk_free(t, s->c[s->head]);
    s->head++;
    if (--s->n == 0)
        s->head = 0;
}

/* Returns chunk i (from 0) with room for one more segment at its end; NULL: it is full, or no
 * memory. */
static struct chunk *chunk_room(struct scps_trace *t, struct segs *s, uint32_t i)
{
    struct chunk *c = s->c[s->head + i];
    if (c->off + c->n < c->cap)
        return c;
    if (c->off) {
        memmove(c->s, c->s + c->off, c->n * sizeof *c->s);
        c->off = 0;
        if (c->n < c->cap)
            return c;
    }
    if (c->cap >= CHUNK)
        return NULL;
    uint32_t cap = SCPS_MIN(CHUNK, c->cap * 2u);
    struct chunk *d = scps_tr_grow(t, c, chunk_size(c->cap), chunk_size(cap));
    if (!d)
        return NULL;
    d->cap = (uint16_t)cap;
    return s->c[s->head + i] = d;
}

static bool append(struct scps_trace *t, struct segs *s, const struct seg *x)
{
    struct chunk *c = NULL;
    if (s->n) {
        c = s->c[s->head + s->n - 1];
        /* The segments of a chunk are moved to its start only when that makes room for many
         * more. */
        if (c->off + c->n == c->cap)
            c = c->cap == CHUNK && c->off < CHUNK / 2 ? NULL : chunk_room(t, s, s->n - 1);
    }
    if (TR_UNLIKELY(!c)) {
        if (s->n >= MAX_CHUNKS) {
            t->tot.segments_forgotten += s->c[s->head]->n;
            drop_first_chunk(t, s);
        }
        if (!(c = chunk_new(t, s->n ? CHUNK : 1)))
            return false;
        if (!chunk_slot(t, s, s->n)) {
            chunk_free(t, c);
            return false;
        }
        s->c[s->head + s->n - 1] = c;
    }
    c->s[c->off + c->n++] = *x;
    return true;
}

/* Finds the first recorded segment that ends above pos. Sets *ci to the index of its chunk, and *si
 * to its index among the chunk's segments. Returns false if there is none. */
static bool find_seg(const struct segs *s, uint64_t pos, uint32_t *ci, uint32_t *si)
{
    uint32_t lo = 0, hi = s->n;
    if (hi == 1 && !s->c[s->head]->n)
        return false; /* The last chunk is kept even when it is empty, so it may hold no segment. */
    /* This loop searches for the first chunk whose last segment ends above pos. */
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        const struct chunk *c = s->c[s->head + mid];
        if (scps_tr_seg_end(&c->s[c->off + c->n - 1]) > pos)
            hi = mid;
        else
            lo = mid + 1;
    }
    if (lo == s->n)
        return false;
    const struct chunk *c = s->c[s->head + lo];
    uint32_t a = 0, b = c->n;
    while (a < b) {
        uint32_t mid = (a + b) / 2;
        if (scps_tr_seg_end(&c->s[c->off + mid]) > pos)
            b = mid;
        else
            a = mid + 1;
    }
    *ci = lo;
    *si = a;
    return true;
}

/* Inserts segment x in the order of sequence numbers. Returns false without memory. */
static bool insert(struct scps_trace *t, struct segs *s, const struct seg *x)
{
    uint32_t ci, si;
    s->top = SCPS_MAX(s->top, scps_tr_seg_end(x));
    if (!find_seg(s, x->first, &ci, &si))
        return append(t, s, x);
    struct chunk *c = chunk_room(t, s, ci);
    if (!c) { /* Chunk ci is full: if it has the largest size, it is split. */
        c = s->c[s->head + ci];
        if (c->cap < CHUNK)
            return false; /* chunk_room() had no memory to make the chunk larger. */
        if (s->n >= MAX_CHUNKS) {
            t->tot.segments_forgotten += s->c[s->head]->n;
            drop_first_chunk(t, s);
            return insert(t, s, x);
        }
        struct chunk *d = chunk_new(t, CHUNK);
        if (!d)
            return false;
        if (!chunk_slot(t, s, ci + 1)) {
            chunk_free(t, d);
            return false;
        }
        s->c[s->head + ci + 1] = d;
        uint32_t keep = c->n / 2u;
        d->n = (uint16_t)(c->n - keep);
        memcpy(d->s, c->s + c->off + keep, d->n * sizeof *d->s);
        c->n = (uint16_t)keep;
        if (si > keep) {
            si -= keep;
            c = d;
        }
    }
    struct seg *at = c->s + c->off + si;
    memmove(at + 1, at, (c->n - si) * sizeof *at);
    *at = *x;
    c->n++;
    return true;
}

scps_time scps_tr_segs_resent_at(const struct segs *s, uint64_t from, uint64_t to, scps_time before)
{
    scps_time latest = 0;
    uint32_t ci, si;
    if (!find_seg(s, from, &ci, &si))
        return 0;
    for (; ci < s->n; ci++, si = 0) {
        const struct chunk *c = s->c[s->head + ci];
        for (; si < c->n; si++) {
            const struct seg *x = &c->s[c->off + si];
            if (x->first >= to)
                return latest;
            if (x->retrans && x->at <= before)
                latest = SCPS_MAX(latest, x->at);
        }
    }
    return latest;
}

/* Begins a new quadrant of sequence numbers (2^30 octets): data that lies two quadrants back is
 * removed. */
static void enter_quad(struct scps_trace *t, struct segs *s, uint64_t q)
{
    s->quad = q;
    s->quad_at = scps_tr_blocks_discard(s, q);
    while (s->n) {
        struct chunk *c = s->c[s->head];
        while (c->n && TR_QUAD(c->s[c->off].first) + 1 < q) {
            c->off++;
            c->n--;
        }
        if (c->n)
            break;
        drop_first_chunk(t, s);
    }
}

static inline void touch_quad(struct scps_trace *t, struct segs *s, uint64_t pos)
{
    if (TR_UNLIKELY(TR_QUAD(pos) > s->quad))
        enter_quad(t, s, TR_QUAD(pos));
}

static void resent_delay(struct scps_trace *t, struct conn_dir *h, struct seg *x, scps_time now)
{
    scps_dur d = SCPS_MAX(now - x->at, 0);
    scps_tr_rare(t, h)->retr_max = SCPS_MAX(scps_tr_rare(t, h)->retr_max, x->retrans);
    scps_tr_dist_add(&scps_tr_rare(t, h)->retr, d);
    x->at = now;
}

/* Called for a captured packet that repeats octets of segment x, which is not acknowledged, or (x
 * NULL) of the acknowledged range b: counts one more transmission. At the first call for the
 * packet, re->last_at gets the time of the last transmission of x, or of the latest one in b,
 * before this packet. */
static void count_copy(struct scps_trace *t, struct conn_dir *h, struct seg *x, struct block *b,
                       scps_time now, struct resend *re)
{
    struct segs *s = &h->segs;
    if (!re->any) {
        re->any = true;
        re->last_at = x ? x->at : b->at;
        re->retrans = x ? x->retrans : 0;
        re->acked = b != NULL;
    }
    if (x) {
        if (x->retrans < UINT16_MAX)
            x->retrans++;
        resent_delay(t, h, x, now);
    } else {
        b->at = now;
        if (TR_QUAD(b->first) == s->quad)
            s->quad_at = SCPS_MAX(s->quad_at, now);
    }
}

/* Called when a captured packet sends again the octets from segment i of chunk c on, up to `end`.
 * Adds 1 to the number of retransmissions of each segment that follows segment i without a gap and
 * ends below `end`. Returns the end of the last one, or of segment i if there is none. One packet
 * may cover tens of thousands of small segments, so none of these is searched for. */
static uint64_t copy_following(struct chunk *c, uint32_t i, uint64_t end)
{
    struct seg *x = &c->s[c->off + i], *const last = &c->s[c->off + c->n - 1];
    while (x < last && x[1].first == scps_tr_seg_end(x) && scps_tr_seg_end(x + 1) < end) {
        x++;
        if (x->retrans < UINT16_MAX)
            x->retrans++;
    }
    return scps_tr_seg_end(x);
}

static uint32_t add_piece(struct scps_trace *t, struct conn_dir *h, uint64_t first, uint32_t len,
                          scps_time now, bool *ooo, struct resend *re)
{
    struct segs *s = &h->segs;
    uint64_t cur = first, end = first + len, q = TR_QUAD(first);
    uint32_t again = 0;
    bool split = false;
    for (;;) {
        /* Each pass takes the lowest record that ends above cur: a segment that is not
         * acknowledged, x, or a block (a range of acknowledged data), b. The pointer to the other
         * kind is NULL; both NULL: nothing is recorded above cur. Octets from cur on that lie below
         * the record are new, and are inserted as a segment; octets within the record are counted
         * as sent again. */
        uint32_t ci = 0, si = 0, bi = scps_tr_blocks_find(s, cur);
        bool is_seg = find_seg(s, cur, &ci, &si);
        struct seg *x = is_seg ? &s->c[s->head + ci]->s[s->c[s->head + ci]->off + si] : NULL;
        struct block *b = bi < s->nb ? &s->b[bi] : NULL;
        if (x && b && b->first <= x->first)
            x = NULL;
        if (x)
            b = NULL;
        uint64_t efirst = x ? x->first : b ? b->first : 0;
        uint64_t eend = x ? scps_tr_seg_end(x) : b ? b->end : 0;
        if ((!x && !b) || TR_QUAD(efirst) != q) {
            struct seg n = {.first = cur, .len = (uint32_t)(end - cur), .at = now};
            insert(t, s, &n);
            return again;
        }
        if (cur < efirst) {
            if (end < eend)
                *ooo = true;
            uint64_t upto = SCPS_MIN(end, efirst);
            struct seg n = {.first = cur, .len = (uint32_t)(upto - cur), .at = now};
            insert(t, s, &n);
            if (end <= efirst)
                return again;
            cur = efirst;
            /* The insertion may have moved the memory to which x and b point, so the loop finds
             * both again. */
            continue;
        }
        if (!split)
            count_copy(t, h, x, b, now, re);
        else if (x && x->retrans < UINT16_MAX)
            x->retrans++;
        if (re->acked && x)
            re->acked = false;
        if (end <= eend)
            return again + (uint32_t)(end - cur);
        split = true;
        again += (uint32_t)(eend - cur);
        cur = eend;
        if (x) {
            uint64_t covered = copy_following(s->c[s->head + ci], si, end);
            again += (uint32_t)(covered - cur);
            cur = covered;
        }
    }
}

uint32_t scps_tr_segs_add(struct scps_trace *t, struct conn_dir *h, uint64_t first, uint32_t len,
                          scps_time now, bool *ooo, struct resend *re)
{
    struct segs *s = &h->segs;
    uint64_t last = first + len - 1;
    if (TR_UNLIKELY(first < s->settled))
        s->settled = 0;
    touch_quad(t, s, first);
    if (TR_UNLIKELY(TR_QUAD(first) != TR_QUAD(last))) {
        uint32_t n1 = (uint32_t)((TR_QUAD(last) << 30) - first);
        uint32_t again = add_piece(t, h, first, n1, now, ooo, re);
        touch_quad(t, s, last);
        return again + add_piece(t, h, first + n1, len - n1, now, ooo, re);
    }
    if (TR_LIKELY(first >= s->top)) {
        struct seg n = {.first = first, .len = len, .at = now};
        s->top = first + len;
        append(t, s, &n);
        return 0;
    }
    return add_piece(t, h, first, len, now, ooo, re);
}

scps_dur scps_tr_segs_ack(struct scps_trace *t, struct conn_dir *h, uint64_t ack, scps_time now,
                          bool dup)
{
    struct segs *s = &h->segs;
    scps_dur sample = -1;
    uint64_t q = TR_QUAD(ack);
    touch_quad(t, s, ack);
    /* b: the block (range of acknowledged data) that contains octet `ack` - 1. b->acked is the
     * number of acknowledgements of exactly b's end in a row: 1, and one more for each duplicate;
     * 4: the third duplicate. An acknowledgement that is no duplicate, or is within b, sets it to 1
     * again. */
    if (s->nb) {
        struct block *b = &s->b[s->nb - 1];
        if (TR_UNLIKELY(b->first >= ack)) {
            uint32_t i = scps_tr_blocks_find(s, ack - 1);
            b = i < s->nb && s->b[i].first < ack ? &s->b[i] : NULL;
        }
        if (b && TR_QUAD(b->first) == q) {
            if (dup && b->end == ack) {
                h->dupacks++;
                if (++b->acked == 4)
                    h->triple_dupacks++;
            } else {
                b->acked = 1;
            }
        }
    }
    scps_time newest = TR_LIKELY(q == s->quad) ? s->quad_at : scps_tr_blocks_latest_in(s, q);
    while (s->n) {
        struct chunk *c = s->c[s->head];
        struct seg *x = &c->s[c->off];
        if (!c->n || x->first >= ack)
            break;
        newest = SCPS_MAX(newest, x->at);
        if (TR_LIKELY(TR_QUAD(x->first) == q) && scps_tr_seg_end(x) == ack)
            sample = scps_tr_rtt_acked(t, h, x, now, newest > x->at);
        else
            h->rtt_cumack++;
        scps_tr_blocks_add(t, s, x);
        if (TR_QUAD(x->first) == s->quad)
            s->quad_at = SCPS_MAX(s->quad_at, x->at);
        c->off++;
        if (--c->n == 0) {
            /* The last chunk is not freed, because the next segments will use it. */
            if (s->n == 1) {
                c->off = 0;
                break;
            }
            drop_first_chunk(t, s);
        }
    }
    s->settled = dup ? 0 : ack;
    return sample;
}
