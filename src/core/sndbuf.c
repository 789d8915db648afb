/* SPDX-License-Identifier: MIT */
/* The send buffer: a ring in which the octets of every segment are contiguous.
 *
 *      0        slack                               cap      cap + slack
 *      |---------|-----------------------------------|---------|
 *      octets of [0, slack) are written twice ------> the copy
 *
 * The payload of a packet points into this ring, so a segment that crosses the ring's end must be
 * contiguous, too: the first `slack` octets of the ring are stored again behind its end. Writing
 * that copy costs slack octets for each pass through the ring. The ring is small at first and
 * doubles as needed.
 */
#include "core/sndbuf.h"
#include "base/bytes.h"

#include <scps/error.h>

#define FIRST_CAP 8192u

void scps_sndbuf_init(struct scps_sndbuf *b, scps_off first, uint32_t max_seg)
{
    *b = (struct scps_sndbuf){.slack = max_seg, .from = first, .to = first};
}

void scps_sndbuf_fini(struct scps_sndbuf *b, const struct scps_alloc *a)
{
    if (b->mem)
        a->free(a->ctx, b->mem, (size_t)b->cap + b->slack);
    b->mem = NULL;
    b->cap = 0;
}

void scps_sndbuf_trim(struct scps_sndbuf *b, const struct scps_alloc *a)
{
    if (b->from == b->to)
        scps_sndbuf_fini(b, a);
}

int scps_sndbuf_reserve(struct scps_sndbuf *b, const struct scps_alloc *a, uint32_t cap)
{
    b->mem = a->alloc(a->ctx, (size_t)cap + b->slack);
    if (!b->mem)
        return SCPS_ERR_NOMEM;
    b->cap = cap;
    return 0;
}

/* Copies those of the len octets at index `at` that lie among the first `slack` octets of the ring
 * to the copy behind the ring's end. */
static void twice(uint8_t *mem, uint32_t cap, uint32_t slack, uint32_t at, size_t len)
{
    if (at < slack)
        memcpy(mem + cap + at, mem + at, SCPS_MIN(len, slack - at));
}

/* Copies len octets to the place of offset off in the ring. Precondition: they do not cross the
 * ring's end. */
static void place(uint8_t *mem, uint32_t cap, uint32_t slack, scps_off off, const void *src,
                  size_t len)
{
    uint32_t at = (uint32_t)off & (cap - 1);

    if (src)
        memcpy(mem + at, src, len);
    else
        memset(mem + at, 0, len);
    twice(mem, cap, slack, at, len);
}

/* Enlarges the ring to `need` octets. If there is no memory for that, takes a smaller ring that is
 * larger than the one in use. */
static void grow(struct scps_sndbuf *b, const struct scps_alloc *a, uint64_t need)
{
    uint32_t least = b->cap ? b->cap : FIRST_CAP / 2, cap = 2 * least;
    uint8_t *mem;

    while (cap < need || cap < b->slack)
        cap *= 2;
    while (!(mem = a->alloc(a->ctx, (size_t)cap + b->slack)))
        if ((cap /= 2) <= least || cap < b->slack)
            return;
    for (scps_off off = b->from; off < b->to;) {
        uint32_t old = (uint32_t)off & (b->cap - 1), new = (uint32_t)off &(cap - 1);
        size_t run = SCPS_MIN(b->cap - old, cap - new);
        run = SCPS_MIN(run, b->to - off);
        place(mem, cap, b->slack, off, b->mem + old, run);
        off += run;
    }
    scps_sndbuf_fini(b, a);
    b->mem = mem;
    b->cap = cap;
}

SCPS_NOINLINE_SIZE size_t scps_sndbuf_write(struct scps_sndbuf *b, const struct scps_alloc *a,
                                            const void *buf, size_t len, bool hollow)
{
    const uint8_t *src = buf;
    size_t done = 0;

    if (hollow) {
        b->to += len;
        return len;
    }
    if (b->to - b->from + len > b->cap)
        grow(b, a, b->to - b->from + len);
    len = (size_t)SCPS_MIN(len, b->cap - (b->to - b->from));
    while (done < len) {
        size_t run = SCPS_MIN(len - done, b->cap - ((uint32_t)b->to & (b->cap - 1)));
        place(b->mem, b->cap, b->slack, b->to, src ? src + done : NULL, run);
        b->to += run;
        done += run;
    }
    return done;
}

size_t scps_sndbuf_room(struct scps_sndbuf *b, const struct scps_alloc *a, size_t len, uint8_t **at)
{
    size_t run;

    if (b->to - b->from + len > b->cap)
        grow(b, a, b->to - b->from + len);
    run = b->cap - (size_t)(b->to - b->from);
    if (!run)
        return 0;
    run = SCPS_MIN(run, b->cap - ((uint32_t)b->to & (b->cap - 1)));
    *at = b->mem + ((uint32_t)b->to & (b->cap - 1));
    return SCPS_MIN(run, len);
}

void scps_sndbuf_filled(struct scps_sndbuf *b, size_t len)
{
    twice(b->mem, b->cap, b->slack, (uint32_t)b->to & (b->cap - 1), len);
    b->to += len;
}

const uint8_t *scps_sndbuf_at(const struct scps_sndbuf *b, scps_off off)
{
    return b->mem ? b->mem + ((uint32_t)off & (b->cap - 1)) : NULL;
}
