/* SPDX-License-Identifier: MIT */
/* Record boundaries (option 22: CCSDS 714.0-B-2 through the spec sheet, section 3.1).
 *
 * A boundary belongs to an octet, the last one of a record.
 *
 * Sender.  The marks of what was not sent yet are kept beside the send buffer.  A segment ends at a mark at the latest
 * and then carries the option and PSH; from there on the mark is its scoreboard record's (SCPS_SENT_RECORD), whose end
 * stays where it is however the record is cut up for resending.  A segment that ends a record is as large as it can
 * become, so it waits for nothing (Nagle, cork).  Where octets fit and the option does not, the last few go alone.
 *
 * Receiver.  The mark is taken before its segment: no octet is given out whose boundary could not be kept.  A quarter
 * of what is kept is for segments in order: reading them makes room again.
 *
 * Marks are ranges of marked octets: records of one octet, and a peer that marks each octet, cost one range in all.
 */
#include "core/conn.h"

#include "base/bytes.h"

int scps_record_write(struct scps_conn *c, scps_off end)
{
    struct scps_rangeset *ends = &c->tx->ends;

    if (!ends->max)
        scps_rangeset_init(ends, UINT32_MAX); /* two octets a range: the send buffer is the limit */
    if (scps_rangeset_add(ends, &c->ctx.env->alloc, end - 1, end, NULL) < 0)
        return SCPS_ERR_NOMEM;
    c->ctx.st->records_out++;
    SCPS_NOTE_IT(c, RECORD, end, 0, 0, 0);
    return 0;
}

uint32_t scps_record_cut(const struct scps_conn *c, uint32_t len, uint32_t *flags, uint32_t *full)
{
    uint64_t left = scps_rangeset_at(&c->tx->ends, 0)->from + 1 - c->nxt;
    uint32_t most = c->mss - SCPS_RECORD_ROOM;

    if (left > len)
        return len;
    *full = (uint32_t)SCPS_MIN(left, most);
    if (left <= most)
        *flags |= SCPS_SENT_RECORD;
    return *full;
}

bool scps_record_arrived(struct scps_conn *c, scps_off from, scps_off end)
{
    struct scps_marks *m;
    int got = SCPS_ERR_LIMIT;

    if (scps_marks_need(c)) {
        scps_conn_drop(c, SCPS_DROP_NO_BUFFER, NULL);
        return false;
    }
    m = c->ctx.st->marks;
    if (from == c->in.next || m->ends.n < m->ends.max / 4 * 3)
        got = scps_rangeset_add(&m->ends, &c->ctx.env->alloc, end - 1, end, NULL);
    if (got < 0) {
        scps_conn_drop(c, got == SCPS_ERR_LIMIT ? SCPS_DROP_TOO_MANY_RECORDS : SCPS_DROP_NO_BUFFER,
                       NULL);
        return false;
    }
    if (got) {
        c->ctx.st->records_in++;
        SCPS_NOTE_IT(c, RECORD, end, 1, 0, 0);
    }
    return true;
}
