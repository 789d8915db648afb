/* SPDX-License-Identifier: MIT */
/* Marks in the peer's stream: ends of records, and a hole that was given up.
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
    /* the hole that was given up and not reported to the application yet; empty: there is none */
    struct scps_range hole;
    struct scps_betsrx wait; /* best effort: the reader's wait for the next hole */
};

/* Initialises m; at most `most` ends of records can be stored. */
void scps_marks_init(struct scps_rcv_marks *m, uint32_t most);
void scps_marks_fini(struct scps_rcv_marks *m, const struct scps_alloc *a);
/* Records that octets [from, end), about to be stored, end a record; next: RCV.NXT. Returns 0,
 * SCPS_ERR_NOMEM, or SCPS_ERR_LIMIT: too many ends are stored. On an error, which is counted as a
 * drop, the caller must drop the octets. */
int scps_marks_record(struct scps_rcv_marks *m, const struct scps_conn_ctx *x, scps_off next,
                      scps_off from, scps_off end);
/* Returns how many octets one read may return now: up to the end of a record, the beginning of a
 * hole that was given up, or RCV.NXT. */
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
/* Records that the hole [from, to) is given up. Precondition: no other hole is marked. */
void scps_marks_lose(struct scps_rcv_marks *m, scps_off from, scps_off to);
/* Records that the octets [from, to), at the beginning or the end of the hole, have arrived after
 * all. Returns true if the hole is filled. */
bool scps_marks_repair(struct scps_rcv_marks *m, scps_off from, scps_off to);
/* Returns true if the next octet to read is the first of a hole that was given up. */
bool scps_marks_at_hole(const struct scps_rcv_marks *m, const struct scps_rcvbuf *in);
/* Called when the application has been informed of the hole that was given up: moves the reading
 * position from the beginning of that hole to its end. */
void scps_marks_pass(struct scps_rcv_marks *m, struct scps_rcvbuf *in);
/* Ends the reader's wait for a hole without giving the hole up. m NULL: there is no wait. */
static inline void scps_marks_stop(struct scps_rcv_marks *m)
{
    if (m)
        scps_betsrx_stop(&m->wait);
}
/* Data that arrives late, below RCV.NXT: the octets [from, to). */
struct scps_late_data {
    scps_off from, to;
    /* the octets; NULL: the stream is hollow, so octets are counted and not stored */
    const uint8_t *data;
    bool record; /* true: the last of these octets ends a record */
};
/* Stores in `in` those octets of `late` that adjoin either end of the hole that was given up and
 * not reported to the application yet. Returns true if there are any, so that the hole has become
 * smaller or is filled. */
bool scps_marks_late(struct scps_rcv_marks *m, const struct scps_conn_ctx *x,
                     struct scps_rcvbuf *in, struct scps_late_data late);
/* Returns the number of octets in the hole that was given up and not reported to the application
 * yet; 0: no such hole. m NULL: no hole either. */
static inline uint64_t scps_marks_hole_len(const struct scps_rcv_marks *m)
{
    return m ? m->hole.to - m->hole.from : 0;
}

#endif
