/* SPDX-License-Identifier: MIT */
/* The receive buffer: octets that have arrived, in order or out of order (beyond a hole: octets
 * before them are missing), and have not been read. */
#ifndef SCPS_CORE_RCVBUF_H
#define SCPS_CORE_RCVBUF_H

#include <string.h>

#include "base/rangeset.h"

struct scps_rcvbuf {
    uint8_t *mem; /* the ring; NULL: none is allocated */
    /* size of the ring, octets, a power of two; scps_rcvbuf_place() maps an offset into it */
    uint32_t cap;
    uint32_t zero : 30; /* offset of the octet at mem[0], modulo the size of the ring */
    /* true: the stream is hollow, so octets are counted and not stored */
    bool hollow : 1;
    /* true: some octets are stored in pages, because they are too far ahead for the ring */
    bool paged : 1;
    scps_off read; /* offset of the next octet that the application reads */
    scps_off next; /* offset of the first missing octet: RCV.NXT, where a FIN does not count */
    const struct scps_rangeset
        *ooo; /* ranges of octets beyond `next`; a shared empty set while there are none */
};

void scps_rcvbuf_init(struct scps_rcvbuf *b, scps_off first, bool hollow);
void scps_rcvbuf_fini(struct scps_rcvbuf *b, const struct scps_alloc *a);
/* Allocates the ring of cap octets (a power of two; 0: no ring, for a hollow stream, whose octets
 * are counted and not stored) and the list of at most max_holes ranges of out-of-order octets.
 * Precondition: neither is allocated yet. Returns 0 or SCPS_ERR_NOMEM. */
int scps_rcvbuf_reserve(struct scps_rcvbuf *b, const struct scps_alloc *a, uint32_t cap,
                        uint32_t max_holes);
/* Returns the size, bytes, of a receive buffer's state of out-of-order data (received, with octets
 * missing before it), without the array of its ranges and without pages. */
size_t scps_rcvbuf_beyond_size(void);
/* Stores the octets [off, off+len) (data NULL: zeros), all of them at or beyond `next` and within
 * the caller's window. Returns 1 if any of them was new, 0 if all had arrived before,
 * SCPS_ERR_NOMEM, or SCPS_ERR_LIMIT: there would be more than max_holes ranges (max_holes must be
 * the same in each call). *range (may be NULL) becomes the contiguous range that now contains them,
 * in order or out of order. */
int scps_rcvbuf_put(struct scps_rcvbuf *b, const struct scps_alloc *a, scps_off off,
                    const uint8_t *data, uint32_t len, uint32_t max_holes,
                    struct scps_range *range);
/* Best effort: stores octets [off, off+len), which arrive late in a hole (missing octets) that this
 * receiver gave up: they lie below `next` (RCV.NXT) and were not read. max_holes as in
 * scps_rcvbuf_put(). Returns 0 or SCPS_ERR_NOMEM. */
int scps_rcvbuf_fill(struct scps_rcvbuf *b, const struct scps_alloc *a, scps_off off,
                     const uint8_t *data, uint32_t len, uint32_t max_holes);
/* Best effort: moves `next` (RCV.NXT) to `to`, giving up the octets that are missing below it, and
 * then over the data that follows contiguously. */
void scps_rcvbuf_jump(struct scps_rcvbuf *b, scps_off to);
/* Best effort: moves the reading position to `to`, at most `next` (RCV.NXT), past octets that never
 * arrived. */
void scps_rcvbuf_skip(struct scps_rcvbuf *b, scps_off to);
/* Discards the octets that have arrived out of order (above `next`), to free memory for octets in
 * order. RFC 2018 section 8 permits it: the peer keeps a copy of all data that has not been
 * acknowledged cumulatively. */
void scps_rcvbuf_renege(struct scps_rcvbuf *b, const struct scps_alloc *a);
/* Discards the octets that have arrived out of order (above `next`), and keeps the memory. */
void scps_rcvbuf_drop_beyond(struct scps_rcvbuf *b);
/* Copies up to len octets to dst (NULL: copies nothing). Removes them from the buffer unless `peek`
 * is set. Returns their number. */
size_t scps_rcvbuf_read(struct scps_rcvbuf *b, void *dst, size_t len, bool peek);
/* Returns the address of the octets at the reading position, and in *len how many of them are
 * contiguous. Returns NULL if there are none, or if the stream is hollow (octets are counted, not
 * stored). */
const uint8_t *scps_rcvbuf_front(const struct scps_rcvbuf *b, size_t *len);
/* Frees the memory if the buffer is empty. */
void scps_rcvbuf_trim(struct scps_rcvbuf *b, const struct scps_alloc *a);
/* Returns how many bytes the buffer has allocated. */
size_t scps_rcvbuf_memory(const struct scps_rcvbuf *b);
/* Returns the index in mem of octet off. Precondition: the ring reaches to off, and no page
 * contains the octet. */
static inline uint32_t scps_rcvbuf_place(const struct scps_rcvbuf *b, scps_off off)
{
    return ((uint32_t)off - b->zero) & (b->cap - 1);
}
/* Fast path of scps_rcvbuf_put(): if the octets directly follow RCV.NXT or, if there are
 * out-of-order octets, their highest range, and fit into the ring without wrapping, stores them and
 * returns true. Otherwise returns false, with nothing stored. */
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
