/* SPDX-License-Identifier: MIT */
/* The receive sequence space of a connection (RFC 9293 section 3.3.1), in offsets of the peer's
 * stream: 0 is its SYN.  The octets are in the buffer (rcvbuf.h).
 *
 * Invariant: in.read <= in.next, and the FIN counts once it is in order. Only this file assigns the
 * fields, except rx and the fields of the buffer.
 */
#ifndef SCPS_CORE_RECEIVE_H
#define SCPS_CORE_RECEIVE_H

#include "base/bytes.h"
#include "core/rcvbuf.h"

struct scps_rx;

struct scps_receive {
    uint32_t irs; /* IRS: the sequence number of offset 0, which is the peer's SYN */
    /* payload of the largest segment received, octets; at least the smaller of 536 and the MSS that
     * this end announced */
    uint16_t mss;
    bool fin; /* true: the peer's FIN has arrived in order */
    struct scps_rcvbuf in;
    /* state of data beyond a hole; NULL: there is none; memory.c allocates and frees it */
    struct scps_rx *rx;
};

static inline void scps_receive_begin(struct scps_receive *r, uint32_t irs)
{
    r->irs = irs;
}
static inline void scps_receive_fin(struct scps_receive *r)
{
    r->fin = true;
}
/* Called for a segment with `size` octets of payload that has arrived: raises r->mss, the largest
 * payload so far, to `size` if that is larger. */
static inline void scps_receive_segment(struct scps_receive *r, uint32_t size)
{
    if (size > r->mss)
        r->mss = (uint16_t)(size < UINT16_MAX ? size : UINT16_MAX);
}
/* Returns RCV.NXT, the offset of the next missing octet; a FIN that has arrived in order counts as
 * one. */
static inline scps_off scps_receive_next(const struct scps_receive *r)
{
    return r->in.next + r->fin;
}
/* Returns the right edge of the window that a receive buffer of rcvbuf octets permits now, but at
 * least the edge announced. */
static SCPS_INLINE_SPEED scps_off scps_receive_edge(const struct scps_receive *r, uint32_t rcvbuf,
                                                    scps_off announced)
{
    scps_off full = r->in.read + rcvbuf;
    scps_off edge = (full > r->in.next ? full : r->in.next) + r->fin;

    return edge > announced ? edge : announced;
}
/* Returns the largest number of ranges that are stored beyond holes: one for every other full
 * segment of the window, at least 1024. */
static inline uint32_t scps_receive_max_holes(uint32_t rcvbuf)
{
    uint32_t n = rcvbuf / 1024;

    return n > 1024 ? n : 1024;
}

#endif
