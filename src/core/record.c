/* SPDX-License-Identifier: MIT */
/* Record boundaries (option 22: docs/SCPS-TP.md section 3.1).
 *
 * A boundary belongs to an octet, the last one of a record.
 *
 * Sender: the ends of records in data that was not sent yet are stored beside the send buffer. A
 * segment never contains octets of two records; a segment that ends a record carries the option and
 * PSH. Once it is sent, the end is a flag of its scoreboard record (SCPS_SENT_RECORD), and stays at
 * the last octet when that record is split for retransmission. A segment that ends a record is sent
 * at once, in spite of Nagle's rule and cork. If the octets of the record fit into a full segment
 * and the option does not, the last few octets are sent in a segment of their own.
 *
 * Receiver (rcv_marks.c): the end of a record is stored before the segment that ends it. If there
 * is no room for the end, the segment is dropped, so no octet is delivered whose boundary is lost.
 *
 * The ends are stored as ranges of octets, so many consecutive records of one octet take one range.
 */
#include "core/record.h"

#include "base/bytes.h"

int scps_record_write(struct scps_rangeset *ends, const struct scps_conn_ctx *x, scps_off end)
{
    /* In a stack with fixed memory (all memory of a connection is allocated when it opens) the
     * limit is set already, by scps_conn_need_tx(). */
    if (!ends->max)
        /* Two ranges are at least one octet apart, so the size of the send buffer limits their
         * number. */
        scps_rangeset_init(ends, UINT32_MAX);
    if (scps_rangeset_add(ends, &x->env->alloc, end - 1, end, NULL) < 0)
        return SCPS_ERR_NOMEM;
    x->st->records_out++;
    SCPS_OBSERVE2(x, RECORD, end, 0);
    return 0;
}

uint32_t scps_record_cut(const struct scps_rangeset *ends, scps_off nxt, uint32_t mss, uint32_t len,
                         uint32_t *flags, uint32_t *full)
{
    uint64_t left = scps_rangeset_at(ends, 0)->from + 1 - nxt;
    uint32_t most = mss - SCPS_RECORD_ROOM;

    if (left > len)
        return len;
    *full = (uint32_t)SCPS_MIN(left, most);
    if (left <= most)
        *flags |= SCPS_SENT_RECORD;
    return *full;
}
