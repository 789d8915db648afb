/* SPDX-License-Identifier: MIT */
/* Record boundaries (option 22: docs/SCPS-TP.md section 3.1).
 *
 * A boundary belongs to an octet, the last one of a record.
 *
 * Sender.  The marks of what was not sent yet are kept beside the send buffer.  A segment ends at a
 * mark at the latest and then carries the option and PSH; from there on the mark is its scoreboard
 * record's (SCPS_SENT_RECORD), whose end stays where it is however the record is cut up for
 * resending.  A segment that ends a record is as large as it can become, so it waits for nothing
 * (Nagle, cork).  Where octets fit and the option does not, the last few go alone.
 *
 * Receiver (rcv_marks.c).  The mark is taken before its segment: no octet is given out whose
 * boundary could not be kept.
 *
 * Marks are ranges of marked octets: records of one octet, and a peer that marks each octet, cost
 * one range in all.
 */
#include "core/record.h"

#include "base/bytes.h"

int scps_record_write(struct scps_rangeset *ends, const struct scps_conn_ctx *x, scps_off end)
{
    if (!ends->max) /* With a fixed memory scps_conn_need_tx() has set the limit already. */
        /* A range has at least two octets, so the send buffer is the limit. */
        scps_rangeset_init(ends, UINT32_MAX);
    if (scps_rangeset_add(ends, &x->env->alloc, end - 1, end, NULL) < 0)
        return SCPS_ERR_NOMEM;
    x->st->records_out++;
    SCPS_OBSERVE(x, RECORD, end, 0, 0, 0);
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
