/* SPDX-License-Identifier: MIT */
/* The send buffer: octets that the application wrote and the peer has not acknowledged. */
#ifndef SCPS_CORE_SNDBUF_H
#define SCPS_CORE_SNDBUF_H

#include <scps/alloc.h>

struct scps_sndbuf {
    /* the ring; NULL: none is allocated, because the buffer is empty, or because the stream is
     * hollow: its octets are counted and not stored, and stand for zeros */
    uint8_t *mem;
    /* size of the ring, octets, a power of two; octet off lies at mem[off & (cap - 1)] */
    uint32_t cap;
    /* The first `slack` octets of the ring are repeated behind its end, so that every segment is
     * contiguous. */
    uint32_t slack;
    scps_off from, to; /* octets [from, to) of the stream are stored */
};

/* Initialises b. The first octet will have offset `first`, and a segment has at most max_seg
 * octets. */
void scps_sndbuf_init(struct scps_sndbuf *b, scps_off first, uint32_t max_seg);
void scps_sndbuf_fini(struct scps_sndbuf *b, const struct scps_alloc *a);
/* Allocates a ring of cap octets (a power of two, at least max_seg). Precondition: b has none yet.
 * Returns 0 or SCPS_ERR_NOMEM. */
int scps_sndbuf_reserve(struct scps_sndbuf *b, const struct scps_alloc *a, uint32_t cap);
/* Appends len octets (buf NULL: zeros; hollow true: the octets are counted, not stored). The caller
 * observes the limit of the buffer. Returns the number appended, which is less than len when memory
 * is short (0: none). */
size_t scps_sndbuf_write(struct scps_sndbuf *b, const struct scps_alloc *a, const void *buf,
                         size_t len, bool hollow);
/* Returns how many octets, up to len, the application may write directly behind the last octet,
 * contiguously, and sets *at to their address; 0: memory was refused. The ring grows as in
 * scps_sndbuf_write(). The caller checks the limit of the buffer (sndbuf). Precondition: the stream
 * is not hollow (counted, not stored). */
size_t scps_sndbuf_room(struct scps_sndbuf *b, const struct scps_alloc *a, size_t len,
                        uint8_t **at);
/* Appends the first len octets of the place that scps_sndbuf_room() returned, after the caller has
 * written them there. */
void scps_sndbuf_filled(struct scps_sndbuf *b, size_t len);
/* Removes the last len octets written. */
static inline void scps_sndbuf_unwrite(struct scps_sndbuf *b, size_t len)
{
    b->to -= len;
}
/* Returns the address of len contiguous octets from offset off on; len is at most max_seg, the
 * largest segment (scps_sndbuf_init()). NULL if the stream is hollow, so that its octets are
 * counted and not stored. The address is valid until the next write or release. */
const uint8_t *scps_sndbuf_at(const struct scps_sndbuf *b, scps_off off);
/* Releases all octets below off, because they are acknowledged or given up. */
static inline void scps_sndbuf_release(struct scps_sndbuf *b, scps_off off)
{
    if (off > b->from)
        b->from = off < b->to ? off : b->to;
}
/* Frees the memory if the buffer is empty. */
void scps_sndbuf_trim(struct scps_sndbuf *b, const struct scps_alloc *a);

#endif
