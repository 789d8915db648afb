/* SPDX-License-Identifier: MIT */
/* State of features of SCPS-TP that need memory, which few connections have. */
#ifndef SCPS_CORE_TP_H
#define SCPS_CORE_TP_H

#include <scps/comp.h>
#include <scps/wire.h>

#include "core/corruption.h"
#include "core/rcv_marks.h"
#include "core/resume.h"

struct scps_conn;

/* The protocol number in the pseudo-header of the peer's compressed segments: 105, 6 or 106, and 0
 * where none is known. Owned by stack/comp.c. */
struct scps_comp_sum {
    uint8_t agreed; /* number of the newest good segment */
    uint8_t newest; /* of the compressed segment being processed; 0 if it is no evidence */
    uint8_t good;   /* good segments with the agreed number, up to 2 */
    bool mixed;     /* different numbers have been seen since the last good segment */
    /* Segments in a row whose checksum is right with a number that is not the agreed one: that
     * number, how many there were (at most UINT8_MAX), and when the first of them came */
    uint8_t other, others;
    uint16_t mark; /* checksum of the last segment that was no copy */
    scps_time other_at;
    scps_time mark_at; /* time of the segment that `mark` is of; 0: there was none */
};

/* octets: the longest extended option, 36 beside the normal one of 4, without kind and length */
#define SCPS_XCAPS_MAX 34u

/* State of features of SCPS-TP that need memory; a connection without any of them has NULL. */
struct scps_conn_scps {
    /* Connection ids of compressed headers (protocol 105): the stack gives ours, which is never
     * 0 */
    uint8_t conn_id, peer_id;
    bool heard; /* peer_id names this connection */
    /* the next segment without data leaves with TCP's header, although headers are compressed */
    bool plain_next;
    /* next connection with the same id of the peer: connid.c */
    struct scps_conn *same_id;
    struct scps_comp_tx comp_tx;
    struct scps_comp_rx comp_rx;
    struct scps_comp_sum comp_sum;
    uint64_t comp_out, comp_in;             /* segments */
    uint64_t comp_saved_out, comp_saved_in; /* octets saved against TCP headers */
    struct scps_corruption corruption;
    struct scps_binding binding[SCPS_BINDINGS]; /* in force */
    uint8_t xcaps[SCPS_XCAPS_MAX];              /* as they left */
    /* NULL: the peer's stream had neither records nor holes */
    struct scps_rcv_marks *marks;
    struct scps_rangeset given_up; /* octets that this end gave up sending: the first ranges */
    /* in an outage: segments received before this time were in flight when the link went, and do
     * not end the outage */
    scps_time deaf_until;
    struct scps_resume resume; /* where `resumes` is set */
};

/* The next segment without data leaves with TCP's header; tp may be NULL: all segments do. */
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

/* Returns the marks; NULL: the peer's stream had neither records nor holes yet. */
static inline struct scps_rcv_marks *scps_tp_marks(const struct scps_conn_scps *tp)
{
    return tp ? tp->marks : NULL;
}

#endif
