/* SPDX-License-Identifier: MIT */
/* The receive buffer: a ring into which octets are copied at their final place, so reassembly moves
 * nothing.
 *
 *      read          next         ooo[0]          ooo[1]
 *       |=============|............|======|........|====|
 *        readable       missing      held beyond a hole
 *
 *       |<------------- ring: cap ------------->|  pages ...
 *
 * The ring is small at first and grows as needed. Whenever all octets have been read, the next one
 * goes to the front of the ring: with a reader that keeps up, the octets stay in a few kilobytes,
 * in the processor's cache, however large the ring has grown.
 *
 * The ring doubles only while it is at most DENSE times as large as the octets stored. An octet too
 * far ahead for that goes into a page (base/pages.h), so that memory is proportional to what has
 * arrived, not to how far ahead it is. An existing page holds all stored octets of its part of the
 * stream; all other octets are in the ring. When enough has arrived, the ring grows and replaces
 * the pages.
 */
#include "core/rcvbuf.h"
#include "base/bytes.h"
#include "base/pages.h"
#include <scps/error.h>

#define FIRST_CAP 8192u
#define DENSE     2u

/* State of out-of-order data (received above RCV.NXT, with octets before it missing) and of pages
 * (memory apart from the ring, for octets too far ahead for the ring). It is allocated when
 * out-of-order data first arrives, or when data in order does not fit the ring and there is no
 * memory for a larger ring; with fixed memory, when the connection opens. */
struct beyond {
    /* ranges of out-of-order octets, received with octets missing before them; first member,
     * because scps_rcvbuf.ooo points to it */
    struct scps_rangeset set;
    struct scps_pages pages;
    /* `settled` and `held` are valid while scps_rcvbuf.paged is set (some octets are in pages).
     * settle() updates both and frees the pages that the application has read. Octets that arrive
     * are added to `held` at once; octets that are read leave the buffer, and settle() subtracts
     * those read since its last call. */
    scps_off settled; /* scps_rcvbuf.read at the last call of settle() */
    uint64_t held;    /* number of octets stored, without those read before that call */
};

static const struct scps_rangeset nothing;

void scps_rcvbuf_init(struct scps_rcvbuf *b, scps_off first, bool hollow)
{
    *b = (struct scps_rcvbuf){.hollow = hollow, .read = first, .next = first, .ooo = &nothing};
}

/* Returns the buffer's own set of ranges, which may be changed. Precondition: the state of
 * out-of-order data is allocated (b->ooo is not &nothing). */
static struct beyond *own(const struct scps_rcvbuf *b)
{
    return (struct beyond *)b->ooo;
}

static struct beyond *need(struct scps_rcvbuf *b, const struct scps_alloc *a, uint32_t max)
{
    struct beyond *y;

    if (b->ooo != &nothing)
        return own(b);
    y = a->alloc(a->ctx, sizeof *y);
    if (y) {
        scps_rangeset_init(&y->set, max);
        scps_pages_init(&y->pages);
        y->settled = b->read;
        y->held = 0;
        b->ooo = &y->set;
    }
    return y;
}

size_t scps_rcvbuf_beyond_size(void)
{
    return sizeof(struct beyond);
}

int scps_rcvbuf_reserve(struct scps_rcvbuf *b, const struct scps_alloc *a, uint32_t cap,
                        uint32_t max_holes)
{
    struct beyond *y = need(b, a, max_holes);

    if (!y || scps_rangeset_reserve(&y->set, a))
        return SCPS_ERR_NOMEM;
    if (!cap)
        return 0;
    b->mem = a->alloc(a->ctx, cap);
    if (!b->mem)
        return SCPS_ERR_NOMEM;
    b->cap = cap;
    return 0;
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
        struct beyond *y = own(b);
        scps_rangeset_fini(&y->set, a);
        scps_pages_fini(&y->pages, a);
        a->free(a->ctx, y, sizeof *y);
        b->ooo = &nothing;
        b->paged = false;
    }
}

void scps_rcvbuf_trim(struct scps_rcvbuf *b, const struct scps_alloc *a)
{
    if (b->read == b->next && b->ooo->n == 0)
        scps_rcvbuf_fini(b, a);
}

size_t scps_rcvbuf_memory(const struct scps_rcvbuf *b)
{
    const struct beyond *y = b->ooo != &nothing ? own(b) : NULL;

    return b->cap +
           (y ? sizeof *y + y->set.cap * sizeof *y->set.v + scps_pages_memory(&y->pages) : 0);
}

/* ---- functions that store octets: in the ring or, if its size does not reach so far from the
 * reading position, in pages of SCPS_PAGE octets ---- */

/* Stores len octets from offset off on in the ring, in two parts if they cross its end; src NULL:
 * zeros. */
static SCPS_NOINLINE void store_parts(struct scps_rcvbuf *b, scps_off off, const uint8_t *src,
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

/* Adds to the buffer the page (SCPS_PAGE octets of the stream, stored apart from the ring) that
 * contains offset off, and copies into it those of its octets that the ring holds. */
static uint8_t *make_page(struct scps_rcvbuf *b, scps_off off)
{
    scps_off begin = off - off % SCPS_PAGE, from = SCPS_MAX(begin, b->read);
    scps_off end = SCPS_MIN(begin + SCPS_PAGE, b->read + b->cap);
    uint8_t *page = scps_pages_make(&own(b)->pages, off);

    while (from < end) {
        uint32_t at = scps_rcvbuf_place(b, from);
        size_t run = SCPS_MIN(end - from, b->cap - at);
        memcpy(page + (from - begin), b->mem + at, run);
        from += run;
    }
    b->paged = true;
    return page;
}

/* Stores len octets from offset off on: in a page (memory apart from the ring) if their page
 * exists, else in the ring if it reaches that far, else in new pages, for which make_room() has
 * reserved memory. src NULL: stores zeros. */
static SCPS_NOINLINE void store_paged(struct scps_rcvbuf *b, scps_off off, const uint8_t *src,
                                      size_t len)
{
    while (len) {
        uint32_t at = (uint32_t)(off % SCPS_PAGE);
        size_t run = SCPS_MIN(len, SCPS_PAGE - at);
        uint8_t *page = b->paged ? scps_pages_find(&own(b)->pages, off) : NULL;
        if (!page && off + run - b->read > b->cap)
            page = make_page(b, off);
        if (!page)
            store_parts(b, off, src, run);
        else if (src)
            memcpy(page + at, src, run);
        else
            memset(page + at, 0, run);
        src = src ? src + run : NULL;
        off += run;
        len -= run;
    }
}

static inline void store(struct scps_rcvbuf *b, scps_off off, const uint8_t *src, size_t len)
{
    uint32_t at = scps_rcvbuf_place(b, off);

    if (b->paged || off + len - b->read > b->cap)
        store_paged(b, off, src, len);
    else if (src && len <= b->cap - at)
        memcpy(b->mem + at, src, len);
    else
        store_parts(b, off, src, len);
}

/* Returns the address of octet off in a buffer of which some octets lie in pages (blocks of
 * SCPS_PAGE octets apart from the ring, for octets too far ahead for it; b->paged). *run: on input
 * the octets wanted, on return how many of them are contiguous there. Returns NULL if neither a
 * page nor the ring has room for octet off, so that it never arrived. */
static SCPS_NOINLINE const uint8_t *locate_paged(const struct scps_rcvbuf *b, scps_off off,
                                                 size_t *run)
{
    uint32_t in_page = (uint32_t)(off % SCPS_PAGE), at = scps_rcvbuf_place(b, off);
    const uint8_t *page = scps_pages_find(&own(b)->pages, off);

    *run = SCPS_MIN(*run, SCPS_PAGE - in_page);
    if (page)
        return page + in_page;
    if (off - b->read >= b->cap)
        return NULL;
    *run = SCPS_MIN(*run, SCPS_MIN(b->cap - at, b->read + b->cap - off));
    return b->mem + at;
}

/* ---- functions that enlarge the ring ---- */

static void move(const struct scps_rcvbuf *b, struct scps_rcvbuf *to, scps_off off, scps_off end)
{
    while (off < end) {
        uint32_t at = scps_rcvbuf_place(b, off);
        size_t run = (size_t)(end - off);
        const uint8_t *from;
        if (b->paged) {
            from = locate_paged(b, off, &run);
        } else {
            run = SCPS_MIN(run, b->cap - at);
            from = b->mem + at;
        }
        if (from)
            store_parts(to, off, from, run);
        off += run;
    }
}

/* Replaces the ring by one of at least `need` octets, and moves all stored octets into it. Returns
 * false, with nothing changed, if there is no memory. */
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
    if (b->mem || b->paged) {
        move(b, &big, b->read, b->next);
        for (uint32_t i = 0; i < b->ooo->n; i++) {
            const struct scps_range *r = scps_rangeset_at(b->ooo, i);
            move(b, &big, r->from, r->to);
        }
    }
    if (b->ooo != &nothing)
        scps_pages_fini(&own(b)->pages, a);
    release(b, a);
    big.paged = false;
    *b = big;
    return true;
}

/* Frees the pages whose octets the application has read. Subtracts from `held`, the number of
 * octets stored and not read, those read since the last call, and sets `settled` to the present
 * reading position. */
static void settle(struct scps_rcvbuf *b)
{
    struct beyond *y = own(b);

    y->held -= b->read - y->settled;
    if (y->held)
        scps_pages_drop_range(&y->pages, y->settled - y->settled % SCPS_PAGE, b->read);
    else
        scps_pages_clear(&y->pages);
    y->settled = b->read;
    b->paged = y->pages.used > 0;
}

/* Makes room for octets [from, to) if the ring does not reach them, or if the buffer already has
 * pages, which are stored apart from the ring. The ring grows if it would be filled densely enough;
 * otherwise pages are reserved. Returns 0 or SCPS_ERR_NOMEM. */
static SCPS_NOINLINE int make_room(struct scps_rcvbuf *b, const struct scps_alloc *a, scps_off from,
                                   scps_off to, uint32_t max_holes)
{
    uint32_t n = b->ooo->n;
    scps_off end = SCPS_MAX(to, n ? scps_rangeset_at(b->ooo, n - 1)->to : b->next);
    uint64_t span = end - b->read, held;
    struct beyond *y;

    if (b->paged)
        settle(b);
    if (!b->paged && span <= b->cap)
        return 0;
    held = b->paged ? own(b)->held : b->next - b->read + scps_rangeset_total(b->ooo);
    if (span > b->cap && (span <= FIRST_CAP || span <= DENSE * (held + (to - from))) &&
        grow(b, a, span))
        return 0;
    y = need(b, a, max_holes);
    if (!y)
        return SCPS_ERR_NOMEM;
    y->held = held;
    y->settled = b->read;
    return scps_pages_reserve(&y->pages, a,
                              (uint32_t)((to - 1) / SCPS_PAGE - from / SCPS_PAGE) + 1);
}

void scps_rcvbuf_renege(struct scps_rcvbuf *b, const struct scps_alloc *a)
{
    if (b->ooo->n && b->read == b->next)
        scps_rcvbuf_fini(b, a);
    else
        scps_rcvbuf_drop_beyond(b);
}

void scps_rcvbuf_drop_beyond(struct scps_rcvbuf *b)
{
    struct beyond *y;
    scps_off end;

    if (!b->ooo->n)
        return;
    y = own(b);
    end = scps_rangeset_at(b->ooo, b->ooo->n - 1)->to;
    if (b->paged) {
        settle(b);
        y->held -= scps_rangeset_total(b->ooo);
        scps_pages_drop_range(&y->pages, b->next, end + SCPS_PAGE);
        b->paged = y->pages.used > 0;
    }
    scps_rangeset_trim(&y->set, end);
}

/* Returns how many octets of range r are stored already, out of order. */
static uint64_t overlap(const struct scps_rangeset *ooo, const struct scps_range *r)
{
    uint64_t total = 0;

    for (uint32_t i = scps_rangeset_find(ooo, r->from); i < ooo->n; i++) {
        const struct scps_range *h = scps_rangeset_at(ooo, i);
        if (h->from >= r->to)
            break;
        total += SCPS_MIN(h->to, r->to) - SCPS_MAX(h->from, r->from);
    }
    return total;
}

/* Moves b->next over the ranges that have become contiguous with it. Returns the new b->next. */
static SCPS_NOINLINE scps_off join(struct scps_rcvbuf *b)
{
    /* A segment that fills a hole may reach across several ranges. */
    while (b->ooo->n && scps_rangeset_at(b->ooo, 0)->from <= b->next) {
        b->next = SCPS_MAX(b->next, scps_rangeset_at(b->ooo, 0)->to);
        scps_rangeset_trim(&own(b)->set, b->next);
    }
    return b->next;
}

int scps_rcvbuf_put(struct scps_rcvbuf *b, const struct scps_alloc *a, scps_off off,
                    const uint8_t *data, uint32_t len, uint32_t max_holes, struct scps_range *range)
{
    struct scps_range run = {off, off + len};
    bool in_order = off == b->next, far;
    uint64_t anew = len;
    int fresh = 1;

    far = !b->hollow && (b->paged || run.to - b->read > b->cap);
    if (far) {
        if (make_room(b, a, off, run.to, max_holes))
            return SCPS_ERR_NOMEM;
        anew -= overlap(b->ooo, &run);
    }
    if (in_order) {
        b->next = run.to;
        if (b->ooo->n)
            run.to = join(b);
    } else {
        struct beyond *y = need(b, a, max_holes);
        fresh = y ? scps_rangeset_add(&y->set, a, run.from, run.to, &run) : SCPS_ERR_NOMEM;
        if (fresh < 0)
            return fresh;
    }
    if (!b->hollow && fresh)
        store(b, off, data, len);
    if (b->paged)
        own(b)->held += anew;
    if (range)
        *range = run;
    return fresh;
}

int scps_rcvbuf_fill(struct scps_rcvbuf *b, const struct scps_alloc *a, scps_off off,
                     const uint8_t *data, uint32_t len, uint32_t max_holes)
{
    if (b->hollow)
        return 0;
    if ((b->paged || off + len - b->read > b->cap) && make_room(b, a, off, off + len, max_holes))
        return SCPS_ERR_NOMEM;
    store(b, off, data, len);
    if (b->paged)
        own(b)->held += len;
    return 0;
}

void scps_rcvbuf_jump(struct scps_rcvbuf *b, scps_off to)
{
    b->next = to;
    if (b->ooo->n)
        join(b);
}

void scps_rcvbuf_skip(struct scps_rcvbuf *b, scps_off to)
{
    if (b->paged) {
        settle(b);
        scps_pages_drop_range(&own(b)->pages, b->read - b->read % SCPS_PAGE, to);
        own(b)->settled = to;
    }
    b->read = to;
}

/* Copies len octets from the reading position on to `to`, in a buffer of which some octets lie in
 * pages apart from the ring (b->paged). */
static SCPS_NOINLINE void copy_paged(const struct scps_rcvbuf *b, uint8_t *to, size_t len)
{
    for (size_t done = 0, run; done < len; done += run) {
        run = len - done;
        const uint8_t *from = locate_paged(b, b->read + done, &run);
        memcpy(to + done, from, run);
    }
}

size_t scps_rcvbuf_read(struct scps_rcvbuf *b, void *dst, size_t len, bool peek)
{
    uint8_t *to = dst;
    scps_off off = b->read;

    len = (size_t)SCPS_MIN(len, b->next - b->read);
    if (to && (b->hollow || b->paged)) {
        if (b->hollow)
            memset(to, 0, len);
        else
            copy_paged(b, to, len);
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
    /* There may be no memory although RCV.NXT is above the reading position: the stream is hollow
     * (octets are counted, not stored), or best effort gave up a hole behind which only the FIN has
     * arrived, so that no octet is stored. */
    if (b->next == b->read || !(b->mem || b->paged))
        return NULL;
    if (b->paged) {
        *len = (size_t)(b->next - b->read);
        return locate_paged(b, b->read, len);
    }
    at = scps_rcvbuf_place(b, b->read);
    *len = (size_t)SCPS_MIN(b->next - b->read, b->cap - at);
    return b->mem + at;
}
