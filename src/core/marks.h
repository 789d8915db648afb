/* SPDX-License-Identifier: MIT */
/* What the peer's stream has besides octets: ends of records, and a hole that was given up.
 *
 * Invariant: a mark belongs to an octet that has not been read, and reading never crosses a mark or
 * a hole.  bets.c alone assigns due, due_for, known and old.
 */
#ifndef SCPS_CORE_MARKS_H
#define SCPS_CORE_MARKS_H

#include "core/ctx.h"
#include "core/rcvbuf.h"

struct scps_rcv_marks {
    struct scps_rangeset ends; /* octets not read that end a record */
    bool ended;                /* so did the last one read */
    bool torn;                 /* a hole lies in the record being read, or before it */
    /* bets.c */
    struct scps_range hole; /* given up, and the application not told; empty: none */
    scps_time due;          /* the hole at due_for is given up; SCPS_NEVER: nobody waits for one */
    scps_off due_for;       /* RCV.NXT when due was set: a repair since makes due void */
    scps_off known, old; /* end of what had arrived when waiting began; and when it last was over */
};

/* At most `most` ends of records are kept. */
void scps_marks_init(struct scps_rcv_marks *m, uint32_t most);
void scps_marks_fini(struct scps_rcv_marks *m, const struct scps_alloc *a);
/* Octets [from, end), about to be stored, end a record; next: RCV.NXT. 0, SCPS_ERR_NOMEM, or
 * SCPS_ERR_LIMIT: too many are kept. If it is not 0 they must be dropped. */
int scps_marks_record(struct scps_rcv_marks *m, const struct scps_conn_ctx *x, scps_off next,
                      scps_off from, scps_off end);
/* How much one read may give; and it gave the n octets before in->read. */
uint64_t scps_marks_ready(const struct scps_rcv_marks *m, const struct scps_rcvbuf *in);
void scps_marks_read(struct scps_rcv_marks *m, const struct scps_rcvbuf *in, uint64_t n);
/* Is there anything ahead that a read does not cross? */
bool scps_marks_ahead(const struct scps_rcv_marks *m, const struct scps_rcvbuf *in);
/* [from, to) is given up. Precondition: there is no hole yet. */
void scps_marks_lose(struct scps_rcv_marks *m, scps_off from, scps_off to);
/* Of the hole [from, to), which begins or ends where it does, has arrived after all. True: no hole
 * is left. */
bool scps_marks_repair(struct scps_rcv_marks *m, scps_off from, scps_off to);
/* Does reading stand at a hole? Then pass over it. */
bool scps_marks_at_hole(const struct scps_rcv_marks *m, const struct scps_rcvbuf *in);
void scps_marks_pass(struct scps_rcv_marks *m, struct scps_rcvbuf *in);
/* Nobody waits for a hole; m may be NULL. Or somebody does, and it is given up at `due`. */
static inline void scps_marks_stop(struct scps_rcv_marks *m)
{
    if (m)
        m->due = SCPS_NEVER;
}
static inline void scps_marks_wait(struct scps_rcv_marks *m, scps_time due)
{
    m->due = due;
}
/* Octets missing in a hole that the application was not told of; m may be NULL. */
static inline uint64_t scps_marks_hole_len(const struct scps_rcv_marks *m)
{
    return m ? m->hole.to - m->hole.from : 0;
}

#endif
