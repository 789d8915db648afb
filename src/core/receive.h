/* SPDX-License-Identifier: MIT */
/* The receive sequence space of a connection (RFC 9293 section 3.3.1), in offsets of the peer's
 * stream: 0 is its SYN.  The octets are in the buffer (rcvbuf.h).
 *
 * Invariant: in.read <= in.next. The peer's FIN adds one to RCV.NXT (scps_receive_next) when all
 * data before it has arrived and `fin` is set; in.next never counts it. Only this file assigns the
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
    /* state for data that has arrived beyond a hole (octets missing from RCV.NXT on); NULL: none is
     * allocated; memory.c allocates and frees it */
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
/* Returns how many ranges of octets a receive buffer of rcvbuf octets may store beyond holes (a
 * hole: octets that are missing below others that have arrived): rcvbuf / 1024, at least 1024. That
 * is enough if every other segment of 512 octets or more is missing. */
static inline uint32_t scps_receive_max_holes(uint32_t rcvbuf)
{
    uint32_t n = rcvbuf / 1024;

    return n > 1024 ? n : 1024;
}

#endif
