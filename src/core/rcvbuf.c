/* SPDX-License-Identifier: MIT */
/* The receive buffer: a ring that octets enter at their final place, so reassembly moves nothing.
 *
 *      read          next         ooo[0]          ooo[1]
 *       |=============|............|======|........|====|
 *        readable       missing      held beyond a hole
 *
 * Memory begins small and doubles as octets arrive that need it.  Whenever all has been read the next octet goes to its
 * front: a reader that keeps up stays within the few kilobytes that the processor has at hand, however large the ring
 * once had to be.
 */
#include "core/rcvbuf.h"
#include "base/bytes.h"
#include <scps/error.h>

#define FIRST_CAP 8192u

static const struct scps_rangeset nothing;

void scps_rcvbuf_init(struct scps_rcvbuf *b, scps_off first, bool hollow)
{
    *b = (struct scps_rcvbuf){.hollow = hollow, .read = first, .next = first, .ooo = &nothing};
}

/* The set as its owner may change it; there is one. */
static struct scps_rangeset *own(struct scps_rcvbuf *b)
{
    return (struct scps_rangeset *)b->ooo;
}

static struct scps_rangeset *need(struct scps_rcvbuf *b, const struct scps_alloc *a, uint32_t max)
{
    struct scps_rangeset *s;

    if (b->ooo != &nothing)
        return own(b);
    s = a->alloc(a->ctx, sizeof *s);
    if (s) {
        scps_rangeset_init(s, max);
        b->ooo = s;
    }
    return s;
}

static void release(struct scps_rcvbuf *b, const struct scps_alloc *a)
{
    if (b->mem)
        a->free(a->ctx, b->mem, b->cap);
    b->mem = NULL;
    b->cap = 0;
}

void scps_rcvbuf_fini(struct scps_rcvbuf *b, const struct scps_alloc *a)
{
    release(b, a);
    if (b->ooo != &nothing) {
        struct scps_rangeset *s = own(b);
        scps_rangeset_fini(s, a);
        a->free(a->ctx, s, sizeof *s);
        b->ooo = &nothing;
    }
}

void scps_rcvbuf_trim(struct scps_rcvbuf *b, const struct scps_alloc *a)
{
    if (b->read == b->next && b->ooo->n == 0)
        scps_rcvbuf_fini(b, a);
}

/* Round the ring's end, or zeros. */
static SCPS_APART void store_parts(struct scps_rcvbuf *b, scps_off off, const uint8_t *src,
                                   size_t len)
{
    while (len) {
        uint32_t at = scps_rcvbuf_place(b, off);
        size_t run = SCPS_MIN(len, b->cap - at);
        if (src)
            memcpy(b->mem + at, src, run);
        else
            memset(b->mem + at, 0, run);
        src = src ? src + run : NULL;
        off += run;
        len -= run;
    }
}

static inline void store(struct scps_rcvbuf *b, scps_off off, const uint8_t *src, size_t len)
{
    uint32_t at = scps_rcvbuf_place(b, off);

    if (src && len <= b->cap - at)
        memcpy(b->mem + at, src, len);
    else
        store_parts(b, off, src, len);
}

static void move(const struct scps_rcvbuf *b, struct scps_rcvbuf *to, scps_off off, scps_off end)
{
    while (off < end) {
        uint32_t at = scps_rcvbuf_place(b, off);
        size_t run = SCPS_MIN(end - off, b->cap - at);
        store(to, off, b->mem + at, run);
        off += run;
    }
}

static bool grow(struct scps_rcvbuf *b, const struct scps_alloc *a, uint64_t need)
{
    struct scps_rcvbuf big = *b;

    big.cap = b->cap ? b->cap : FIRST_CAP;
    while (big.cap < need)
        big.cap *= 2;
    big.zero = (uint32_t)b->read & (big.cap - 1);
    big.mem = a->alloc(a->ctx, big.cap);
    if (!big.mem)
        return false;
    if (b->mem) {
        move(b, &big, b->read, b->next);
        for (uint32_t i = 0; i < b->ooo->n; i++) {
            const struct scps_range *r = scps_rangeset_at(b->ooo, i);
            move(b, &big, r->from, r->to);
        }
    }
    release(b, a);
    *b = big;
    return true;
}

/* The left edge moves over the ranges it has reached. Returns it. */
static SCPS_APART scps_off join(struct scps_rcvbuf *b)
{
    /* a segment that covers one hole and more may swallow several ranges */
    while (b->ooo->n && scps_rangeset_at(b->ooo, 0)->from <= b->next) {
        b->next = SCPS_MAX(b->next, scps_rangeset_at(b->ooo, 0)->to);
        scps_rangeset_trim(own(b), b->next);
    }
    return b->next;
}

int scps_rcvbuf_put(struct scps_rcvbuf *b, const struct scps_alloc *a, scps_off off,
                    const uint8_t *data, uint32_t len, uint32_t max_holes, struct scps_range *range)
{
    struct scps_range run = {off, off + len};
    bool in_order = off == b->next;
    int fresh = 1;

    if (!b->hollow && run.to - b->read > b->cap && !grow(b, a, run.to - b->read))
        return SCPS_ERR_NOMEM;
    if (in_order) {
        b->next = run.to;
        if (b->ooo->n)
            run.to = join(b);
    } else {
        struct scps_rangeset *s = need(b, a, max_holes);
        fresh = s ? scps_rangeset_add(s, a, run.from, run.to, &run) : SCPS_ERR_NOMEM;
        if (fresh < 0)
            return fresh;
    }
    if (!b->hollow && fresh)
        store(b, off, data, len);
    if (range)
        *range = run;
    return fresh;
}

int scps_rcvbuf_fill(struct scps_rcvbuf *b, const struct scps_alloc *a, scps_off off,
                     const uint8_t *data, uint32_t len)
{
    if (b->hollow)
        return 0;
    if (b->next - b->read > b->cap && !grow(b, a, b->next - b->read))
        return SCPS_ERR_NOMEM;
    store(b, off, data, len);
    return 0;
}

void scps_rcvbuf_jump(struct scps_rcvbuf *b, scps_off to)
{
    b->next = to;
    if (b->ooo->n)
        join(b);
}

size_t scps_rcvbuf_read(struct scps_rcvbuf *b, void *dst, size_t len, bool peek)
{
    uint8_t *to = dst;
    scps_off off = b->read;

    len = (size_t)SCPS_MIN(len, b->next - b->read);
    if (to && b->hollow) {
        memset(to, 0, len);
    } else if (to) {
        size_t done = 0;
        while (done < len) {
            uint32_t at = scps_rcvbuf_place(b, off + done);
            size_t run = SCPS_MIN(len - done, b->cap - at);
            memcpy(to + done, b->mem + at, run);
            done += run;
        }
    }
    if (!peek) {
        b->read += len;
        if (b->read == b->next && !b->ooo->n)
            b->zero = (uint32_t)b->next & (b->cap - 1);
    }
    return len;
}

const uint8_t *scps_rcvbuf_front(const struct scps_rcvbuf *b, size_t *len)
{
    uint32_t at;

    *len = 0;
    if (b->hollow || b->next == b->read)
        return NULL;
    at = scps_rcvbuf_place(b, b->read);
    *len = (size_t)SCPS_MIN(b->next - b->read, b->cap - at);
    return b->mem + at;
}
