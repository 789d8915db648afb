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
/* Takes a ring of cap octets (a power of two; 0: none, the buffer is hollow) and the list of
 * max_holes ranges beyond holes at once. Precondition: it has neither yet. Returns 0 or
 * SCPS_ERR_NOMEM. */
int scps_rcvbuf_reserve(struct scps_rcvbuf *b, const struct scps_alloc *a, uint32_t cap,
                        uint32_t max_holes);
/* Returns the bytes that scps_rcvbuf_reserve takes beside the ring and the ranges. */
size_t scps_rcvbuf_beyond_size(void);
/* Stores [off, off+len) (data NULL: zeros), all of it at or beyond next and within the caller's
 * window. Returns 1 if anything was new, 0 if all was here, SCPS_ERR_NOMEM, SCPS_ERR_LIMIT (more
 * than max_holes ranges; max_holes must not vary). *range (may be NULL): the run of octets, in
 * or out of order, that these are now part of. */
int scps_rcvbuf_put(struct scps_rcvbuf *b, const struct scps_alloc *a, scps_off off,
                    const uint8_t *data, uint32_t len, uint32_t max_holes,
                    struct scps_range *range);
/* Fills [off, off+len), below next and not read, with octets that were missing. max_holes as for
 * scps_rcvbuf_put. 0 or SCPS_ERR_NOMEM. */
int scps_rcvbuf_fill(struct scps_rcvbuf *b, const struct scps_alloc *a, scps_off off,
                     const uint8_t *data, uint32_t len, uint32_t max_holes);
/* Gives up what is missing below `to`: next moves there, and over what is held from there on. */
void scps_rcvbuf_jump(struct scps_rcvbuf *b, scps_off to);
/* Moves reading to `to`, at most next: the octets before it never arrived. */
void scps_rcvbuf_skip(struct scps_rcvbuf *b, scps_off to);
/* Discards what is held beyond next, so that there is memory for what is missing. RFC 2018 section
 * 8 permits it: the peer keeps a copy of all that has not been acknowledged cumulatively. */
void scps_rcvbuf_renege(struct scps_rcvbuf *b, const struct scps_alloc *a);
/* Copies up to len octets to dst (NULL: skips) and consumes them unless peek. Returns their
 * number. */
size_t scps_rcvbuf_read(struct scps_rcvbuf *b, void *dst, size_t len, bool peek);
/* Returns the contiguous octets at the front; NULL if hollow or empty. */
const uint8_t *scps_rcvbuf_front(const struct scps_rcvbuf *b, size_t *len);
/* Frees the memory when nothing is held. */
void scps_rcvbuf_trim(struct scps_rcvbuf *b, const struct scps_alloc *a);
/* Returns the bytes taken from the allocator. */
size_t scps_rcvbuf_memory(const struct scps_rcvbuf *b);
/* Returns the index in mem of octet off, if the ring reaches so far and no page has it. */
static inline uint32_t scps_rcvbuf_place(const struct scps_rcvbuf *b, scps_off off)
{
    return ((uint32_t)off - b->zero) & (b->cap - 1);
}
/* Fast path of scps_rcvbuf_put: octets right behind the last that have arrived, in order or
 * beyond a hole, with contiguous room. Returns false, with nothing stored, in any other case. */
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
