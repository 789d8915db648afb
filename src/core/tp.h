/* SPDX-License-Identifier: MIT */
/* State of those features of SCPS-TP that need memory; few connections use them. */
#ifndef SCPS_CORE_TP_H
#define SCPS_CORE_TP_H

#include <scps/comp.h>
#include <scps/wire.h>

#include "core/corruption.h"
#include "core/rcv_marks.h"
#include "core/resume.h"

struct scps_conn;

/* The protocol number in the pseudo-header with which the peer computes the checksum of compressed
 * segments: 105, 6 or 106, or 0 while none is known. Only stack/comp.c assigns its fields. */
struct scps_comp_sum {
    uint8_t agreed; /* the number with which the checksums of the peer's segments are right */
    uint8_t newest; /* number in the compressed segment being processed; 0 if it is no evidence */
    uint8_t good;   /* how many segments with the agreed number had a right checksum, up to 2 */
    /* since the last segment whose checksum was right with `agreed`, segments with different other
     * numbers have arrived */
    bool mixed;
    /* Segments in a row whose checksum is right with a number that is not the agreed one: that
     * number, how many there were (at most UINT8_MAX), and when the first of them came */
    uint8_t other, others;
    uint16_t mark; /* checksum of the last segment that was not a duplicate */
    scps_time other_at;
    scps_time mark_at; /* arrival time of the segment with checksum `mark`; 0: there was none */
};

/* octets: the longest extended option, 36 beside the normal one of 4, without kind and length */
#define SCPS_XCAPS_MAX 34u

/* State of features of SCPS-TP that need memory; a connection without any of them has NULL. */
struct scps_conn_scps {
    /* Connection ids of compressed headers (protocol 105): the stack gives ours, which is never
     * 0 */
    uint8_t conn_id, peer_id;
    bool heard; /* a segment with peer_id has arrived for this connection */
    /* the next segment without data leaves with TCP's header, although headers are compressed */
    bool plain_next;
    /* next connection to which the peer gave the same id: connid.c */
    struct scps_conn *same_id;
    struct scps_comp_tx comp_tx;
    struct scps_comp_rx comp_rx;
    struct scps_comp_sum comp_sum;
    uint64_t comp_out, comp_in;             /* number of segments with a compressed header */
    uint64_t comp_saved_out, comp_saved_in; /* octets saved compared with TCP headers */
    struct scps_corruption corruption;
    struct scps_binding binding[SCPS_BINDINGS]; /* extended capabilities that are in force */
    uint8_t xcaps[SCPS_XCAPS_MAX];              /* extended capabilities as sent */
    /* marks in the peer's stream (rcv_marks.h); NULL: it had neither ends of records nor holes
     * given up */
    struct scps_rcv_marks *marks;
    /* octets that this end gave up sending: the first ranges of them */
    struct scps_rangeset given_up;
    /* in an outage: segments received before this time were in flight when the link failed, and do
     * not end the outage */
    scps_time deaf_until;
    struct scps_resume resume; /* state of careful resume, valid where scps_sender.resumes is set */
};

/* Requires that the next segment without data is sent with TCP's header; tp may be NULL: then all
 * segments are. */
static inline void scps_tp_plain_next(struct scps_conn_scps *tp)
{
    if (tp)
        tp->plain_next = true;
}
/* Returns true once after that. */
static inline bool scps_tp_take_plain(struct scps_conn_scps *tp)
{
    bool plain = tp->plain_next;

    tp->plain_next = false;
    return plain;
}

/* Returns the marks in the peer's stream; NULL: it had neither ends of records nor holes yet. */
static inline struct scps_rcv_marks *scps_tp_marks(const struct scps_conn_scps *tp)
{
    return tp ? tp->marks : NULL;
}

#endif
