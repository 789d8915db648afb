/* SPDX-License-Identifier: MIT */
/* The receive buffer: a ring that octets enter at their final place, so reassembly moves nothing.
 *
 *      read          next         ooo[0]          ooo[1]
 *       |=============|............|======|........|====|
 *        readable       missing      held beyond a hole
 *
 * Memory begins small and doubles as octets arrive that need it.
 */
#include "core/rcvbuf.h"
#include "base/bytes.h"
#include <scps/error.h>

#define FIRST_CAP 8192u

static const struct scps_rangeset nothing;

void scps_rcvbuf_init(struct scps_rcvbuf *b, scps_off first, bool hollow, uint32_t max_holes)
{
    *b = (struct scps_rcvbuf){.max_holes = max_holes & INT32_MAX,
                              .hollow = hollow,
                              .read = first,
                              .next = first,
                              .ooo = &nothing};
}

/* The set as its owner may change it. NULL: there is none, and no memory for one. */
static struct scps_rangeset *own(struct scps_rcvbuf *b, const struct scps_alloc *a)
{
    struct scps_rangeset *s;

    if (b->ooo != &nothing)
        return (struct scps_rangeset *)b->ooo;
    s = a->alloc(a->ctx, sizeof *s);
    if (s) {
        scps_rangeset_init(s, b->max_holes);
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
        struct scps_rangeset *s = own(b, a);
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
static SCPS_APART void store_parts(uint8_t *mem, uint32_t cap, scps_off off, const uint8_t *src,
                                   size_t len)
{
    while (len) {
        uint32_t at = (uint32_t)off & (cap - 1);
        size_t run = SCPS_MIN(len, cap - at);
        if (src)
            memcpy(mem + at, src, run);
        else
            memset(mem + at, 0, run);
        src = src ? src + run : NULL;
        off += run;
        len -= run;
    }
}

static inline void store(uint8_t *mem, uint32_t cap, scps_off off, const uint8_t *src, size_t len)
{
    uint32_t at = (uint32_t)off & (cap - 1);

    if (src && len <= cap - at)
        memcpy(mem + at, src, len);
    else
        store_parts(mem, cap, off, src, len);
}

static void move(const struct scps_rcvbuf *b, uint8_t *mem, uint32_t cap, scps_off from,
                 scps_off to)
{
    while (from < to) {
        uint32_t at = (uint32_t)from & (b->cap - 1);
        size_t run = SCPS_MIN(to - from, b->cap - at);
        store(mem, cap, from, b->mem + at, run);
        from += run;
    }
}

static bool grow(struct scps_rcvbuf *b, const struct scps_alloc *a, uint64_t need)
{
    uint32_t cap = b->cap ? b->cap : FIRST_CAP;
    uint8_t *mem;

    while (cap < need)
        cap *= 2;
    mem = a->alloc(a->ctx, cap);
    if (!mem)
        return false;
    if (b->mem) {
        move(b, mem, cap, b->read, b->next);
        for (uint32_t i = 0; i < b->ooo->n; i++) {
            const struct scps_range *r = scps_rangeset_at(b->ooo, i);
            move(b, mem, cap, r->from, r->to);
        }
    }
    release(b, a);
    b->mem = mem;
    b->cap = cap;
    return true;
}

/* The left edge moves over the ranges it has reached. Returns it. */
static SCPS_APART scps_off join(struct scps_rcvbuf *b, const struct scps_alloc *a)
{
    /* a segment that covers one hole and more may swallow several ranges */
    while (b->ooo->n && scps_rangeset_at(b->ooo, 0)->from <= b->next) {
        b->next = SCPS_MAX(b->next, scps_rangeset_at(b->ooo, 0)->to);
        scps_rangeset_trim(own(b, a), b->next);
    }
    return b->next;
}

int scps_rcvbuf_put(struct scps_rcvbuf *b, const struct scps_alloc *a, scps_off off,
                    const uint8_t *data, uint32_t len, struct scps_range *range)
{
    struct scps_range run = {off, off + len};
    bool in_order = off == b->next;
    int fresh = 1;

    if (!b->hollow && run.to - b->read > b->cap && !grow(b, a, run.to - b->read))
        return SCPS_ERR_NOMEM;
    if (in_order) {
        b->next = run.to;
        if (b->ooo->n)
            run.to = join(b, a);
    } else {
        struct scps_rangeset *s = own(b, a);
        fresh = s ? scps_rangeset_add(s, a, run.from, run.to, &run) : SCPS_ERR_NOMEM;
        if (fresh < 0)
            return fresh;
    }
    if (!b->hollow && fresh)
        store(b->mem, b->cap, off, data, len);
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
    store(b->mem, b->cap, off, data, len);
    return 0;
}

void scps_rcvbuf_jump(struct scps_rcvbuf *b, const struct scps_alloc *a, scps_off to)
{
    b->next = to;
    if (b->ooo->n)
        join(b, a);
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
            uint32_t at = (uint32_t)(off + done) & (b->cap - 1);
            size_t run = SCPS_MIN(len - done, b->cap - at);
            memcpy(to + done, b->mem + at, run);
            done += run;
        }
    }
    if (!peek)
        b->read += len;
    return len;
}

const uint8_t *scps_rcvbuf_front(const struct scps_rcvbuf *b, size_t *len)
{
    uint32_t at;

    *len = 0;
    if (b->hollow || b->next == b->read)
        return NULL;
    at = (uint32_t)b->read & (b->cap - 1);
    *len = (size_t)SCPS_MIN(b->next - b->read, b->cap - at);
    return b->mem + at;
}
