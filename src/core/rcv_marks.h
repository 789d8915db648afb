/* SPDX-License-Identifier: MIT */
/* Marks in the peer's stream: ends of application records, and, if best effort was agreed, a hole
 * that was given up: missing octets for which this receiver no longer waits.
 *
 * Invariant: a mark belongs to an octet that has not been read, and one read never crosses the end
 * of a record or a hole. betsrx.c decides when a hole is given up.
 */
#ifndef SCPS_CORE_RCV_MARKS_H
#define SCPS_CORE_RCV_MARKS_H

#include "core/betsrx.h"
#include "core/ctx.h"
#include "core/rcvbuf.h"

struct scps_rcv_marks {
    struct scps_rangeset ends; /* octets not read yet that are the last of an application record */
    bool ended;                /* true: the octet that was read last ended a record */
    /* true: a hole that was given up lies within the record being read, or directly before it */
    bool torn;
    /* the hole (missing octets) that this receiver gave up and has not reported to the application
     * yet; empty: there is none */
    struct scps_range hole;
    /* best effort: the wait of the application, which has read all data before the hole at RCV.NXT,
     * until the hole is filled or given up */
    struct scps_betsrx wait;
};

/* Initialises m; at most `most` ends of records can be stored. */
void scps_marks_init(struct scps_rcv_marks *m, uint32_t most);
void scps_marks_fini(struct scps_rcv_marks *m, const struct scps_alloc *a);
/* Records that octets [from, end), about to be stored, end a record; next: RCV.NXT. Returns 0,
 * SCPS_ERR_NOMEM, or SCPS_ERR_LIMIT: too many ends are stored. On an error, which is counted as a
 * drop, the caller must drop the octets. */
int scps_marks_record(struct scps_rcv_marks *m, const struct scps_conn_ctx *x, scps_off next,
                      scps_off from, scps_off end);
/* Returns how many octets one read may return now: up to the end of an application record, RCV.NXT,
 * or the beginning of a hole that this receiver gave up under best effort: missing octets, which
 * scps_conn_hole() reports, so that the next read begins behind them. */
uint64_t scps_marks_ready(const struct scps_rcv_marks *m, const struct scps_rcvbuf *in);
/* The same as scps_marks_ready(). m NULL: there are neither record ends nor holes, so the result is
 * all octets up to RCV.NXT. */
static inline uint64_t scps_marks_readable(const struct scps_rcv_marks *m,
                                           const struct scps_rcvbuf *in)
{
    return m ? scps_marks_ready(m, in) : scps_rcvbuf_ready(in);
}
/* Records that a read returned the n octets before in->read. */
void scps_marks_read(struct scps_rcv_marks *m, const struct scps_rcvbuf *in, uint64_t n);
/* Returns true if a read can return all that it ever will: the octets in order reach the end of a
 * record, or a hole that was given up, so later data is left to another read. The end of a record
 * that lies behind missing data does not count. */
bool scps_marks_ahead(const struct scps_rcv_marks *m, const struct scps_rcvbuf *in);
/* Best effort: records that this receiver gives up the hole [from, to), octets that are missing.
 * Precondition: no hole is recorded that was not reported to the application. */
void scps_marks_lose(struct scps_rcv_marks *m, scps_off from, scps_off to);
/* Records that the octets [from, to), at the beginning or the end of m->hole, the missing octets
 * that this receiver gave up under best effort, have arrived after all. Returns true if the hole is
 * filled. */
bool scps_marks_repair(struct scps_rcv_marks *m, scps_off from, scps_off to);
/* Returns true if the next octet to read is the first of the hole that this receiver gave up
 * (missing octets) and has not reported to the application yet. */
bool scps_marks_at_hole(const struct scps_rcv_marks *m, const struct scps_rcvbuf *in);
/* Called when scps_conn_hole() has reported to the application the hole that this receiver gave up
 * under best effort (missing octets): moves the reading position from the beginning of that hole to
 * its end. */
void scps_marks_pass(struct scps_rcv_marks *m, struct scps_rcvbuf *in);
/* Best effort: stops the timer by which this receiver would give up the octets missing at RCV.NXT
 * (a hole), without giving them up. m NULL: no such timer runs. */
static inline void scps_marks_stop(struct scps_rcv_marks *m)
{
    if (m)
        scps_betsrx_stop(&m->wait);
}
/* Best effort: data that arrives below RCV.NXT, octets [from, to). It may fill a hole that this
 * receiver gave up, missing octets past which it has moved RCV.NXT. */
struct scps_late_data {
    scps_off from, to;
    /* the octets; NULL: the stream is hollow, so octets are counted and not stored */
    const uint8_t *data;
    bool record; /* true: the last of these octets ends a record */
};
/* Best effort: called for data below RCV.NXT. Stores in `in` those octets of `late` that lie in
 * m->hole, the missing octets that this receiver gave up (past which it moved RCV.NXT) and has not
 * reported to the application yet, but only if they reach its beginning or its end. Returns true if
 * it stored any, so that the hole is smaller or filled. */
bool scps_marks_late(struct scps_rcv_marks *m, const struct scps_conn_ctx *x,
                     struct scps_rcvbuf *in, struct scps_late_data late);
/* Returns the length, octets, of the hole that this receiver gave up under best effort (missing
 * octets) and has not reported to the application yet; 0, also if m is NULL: there is none. */
static inline uint64_t scps_marks_hole_len(const struct scps_rcv_marks *m)
{
    return m ? m->hole.to - m->hole.from : 0;
}

#endif
