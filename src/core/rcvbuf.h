/* SPDX-License-Identifier: MIT */
/* The receive buffer: octets that have arrived, in order or beyond a hole, and were not read. */
#ifndef SCPS_CORE_RCVBUF_H
#define SCPS_CORE_RCVBUF_H

#include <string.h>

#include "base/rangeset.h"

struct scps_rcvbuf {
    uint8_t *mem;       /* the ring; NULL: there is none */
    uint32_t cap;       /* a power of two; scps_rcvbuf_place() maps an octet into the ring */
    uint32_t zero : 30; /* offset, modulo cap, of the octet at mem[0] */
    bool hollow : 1;    /* octets are counted only, not stored */
    bool paged : 1;     /* some octets lie in pages, because they are too far ahead for the ring */
    scps_off read;      /* offset of the next octet that the application reads */
    scps_off next;      /* first octet missing */
    const struct scps_rangeset
        *ooo; /* octets held beyond next; a shared empty set as long as there are none */
};

void scps_rcvbuf_init(struct scps_rcvbuf *b, scps_off first, bool hollow);
void scps_rcvbuf_fini(struct scps_rcvbuf *b, const struct scps_alloc *a);
/* Allocates a ring of cap octets (a power of two; 0: no ring, octets are only counted) and the list
 * of at most max_holes ranges beyond holes. Precondition: the buffer has neither yet. Returns 0 or
 * SCPS_ERR_NOMEM. */
int scps_rcvbuf_reserve(struct scps_rcvbuf *b, const struct scps_alloc *a, uint32_t cap,
                        uint32_t max_holes);
/* Returns the bytes that scps_rcvbuf_reserve() allocates besides the ring and the ranges. */
size_t scps_rcvbuf_beyond_size(void);
/* Stores the octets [off, off+len) (data NULL: zeros), all of them at or beyond `next` and within
 * the caller's window. Returns 1 if any of them was new, 0 if all had arrived before,
 * SCPS_ERR_NOMEM, or SCPS_ERR_LIMIT: there would be more than max_holes ranges (max_holes must be
 * the same in each call). *range (may be NULL): the contiguous octets, in order or beyond a hole,
 * of which these are now a part. */
int scps_rcvbuf_put(struct scps_rcvbuf *b, const struct scps_alloc *a, scps_off off,
                    const uint8_t *data, uint32_t len, uint32_t max_holes,
                    struct scps_range *range);
/* Fills [off, off+len), which lies below `next` and was not read, with octets that were missing.
 * max_holes as in scps_rcvbuf_put(). Returns 0 or SCPS_ERR_NOMEM. */
int scps_rcvbuf_fill(struct scps_rcvbuf *b, const struct scps_alloc *a, scps_off off,
                     const uint8_t *data, uint32_t len, uint32_t max_holes);
/* Gives up the octets missing below `to`: `next` moves there, and then over the data that follows
 * contiguously. */
void scps_rcvbuf_jump(struct scps_rcvbuf *b, scps_off to);
/* Moves the reading position to `to`, at most `next`: the octets before it never arrived. */
void scps_rcvbuf_skip(struct scps_rcvbuf *b, scps_off to);
/* Discards the octets held beyond `next`, so that there is memory for missing ones. RFC 2018
 * section 8 permits it: the peer keeps a copy of all data that has not been acknowledged
 * cumulatively. */
void scps_rcvbuf_renege(struct scps_rcvbuf *b, const struct scps_alloc *a);
/* Copies up to len octets to dst (NULL: skips) and consumes them unless peek. Returns their
 * number. */
size_t scps_rcvbuf_read(struct scps_rcvbuf *b, void *dst, size_t len, bool peek);
/* Returns the contiguous octets at the reading position, and their number in *len; NULL if the
 * octets are only counted or there are none. */
const uint8_t *scps_rcvbuf_front(const struct scps_rcvbuf *b, size_t *len);
/* Frees the memory if the buffer is empty. */
void scps_rcvbuf_trim(struct scps_rcvbuf *b, const struct scps_alloc *a);
/* Returns how many bytes the buffer has allocated. */
size_t scps_rcvbuf_memory(const struct scps_rcvbuf *b);
/* Returns the index in mem of octet off. Precondition: the ring reaches that far, and no page
 * contains the octet. */
static inline uint32_t scps_rcvbuf_place(const struct scps_rcvbuf *b, scps_off off)
{
    return ((uint32_t)off - b->zero) & (b->cap - 1);
}
/* Fast path of scps_rcvbuf_put(): stores octets that follow directly on the last ones that have
 * arrived, in order or beyond a hole, where there is contiguous room. Returns false, with nothing
 * stored, in any other case. */
static inline bool scps_rcvbuf_append(struct scps_rcvbuf *b, scps_off off, const uint8_t *data,
                                      uint32_t len)
{
    const struct scps_rangeset *ooo = b->ooo;
    scps_off *end = ooo->n ? &ooo->v[ooo->head + ooo->n - 1].to : &b->next;

    if (off != *end)
        return false;
    if (b->hollow || b->paged) {
        if (b->paged)
            return false;
    } else {
        uint32_t at = scps_rcvbuf_place(b, off);
        if (!data || len > b->cap - at || off + len - b->read > b->cap)
            return false;
        memcpy(b->mem + at, data, len);
    }
    *end += len;
    return true;
}
static inline uint64_t scps_rcvbuf_ready(const struct scps_rcvbuf *b)
{
    return b->next - b->read;
}

#endif
