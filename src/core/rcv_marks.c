/* SPDX-License-Identifier: MIT */
/* Marks in the receive buffer, across which one read by the application does not go: the ends of
 * the peer's records (SCPS-TP record boundaries), and holes. Here a hole is a range of octets that
 * has not arrived, and that this receiver has given up: with best effort (BETS of SCPS-TP) it waits
 * for missing octets for the time bets_timeout, once the application has read all data before them,
 * and then moves RCV.NXT past them.
 *
 *      read          end of a record     hole                    next
 *       |==================|=============|.......................|
 *        a read gives this, then this,    is reported, then skipped
 *
 * A connection whose peer sends no records and without best effort has no marks.
 */
#include "core/rcv_marks.h"

#include <assert.h>

#include "base/bytes.h"

void scps_marks_init(struct scps_rcv_marks *m, uint32_t most)
{
    *m = (struct scps_rcv_marks){.wait = {.due = SCPS_NEVER}};
    scps_rangeset_init(&m->ends, most);
}

void scps_marks_fini(struct scps_rcv_marks *m, const struct scps_alloc *a)
{
    scps_rangeset_fini(&m->ends, a);
}

int scps_marks_record(struct scps_rcv_marks *m, const struct scps_conn_ctx *x, scps_off next,
                      scps_off from, scps_off end)
{
    int got = SCPS_ERR_LIMIT;

    /* A quarter of the places for ends of records is left to segments at RCV.NXT: their records can
     * be read, and reading frees places. Without that, records beyond a hole could fill the list
     * for ever. */
    if (from == next || m->ends.n < m->ends.max / 4 * 3)
        got = scps_rangeset_add(&m->ends, &x->env->alloc, end - 1, end, NULL);
    if (got < 0) {
        scps_conn_ctx_drop(
            x, got == SCPS_ERR_LIMIT ? SCPS_DROP_TOO_MANY_RECORDS : SCPS_DROP_NO_BUFFER, NULL);
        return got;
    }
    if (got) {
        x->st->records_in++;
        SCPS_OBSERVE2(x, RECORD, end, 1);
    }
    return 0;
}

/* Returns the offset behind the record to which octet `from` belongs; UINT64_MAX: its end is not
 * known. */
static scps_off record_end(const struct scps_rcv_marks *m, scps_off from)
{
    uint32_t i = scps_rangeset_find(&m->ends, from);

    if (i == m->ends.n)
        return UINT64_MAX;
    return SCPS_MAX(scps_rangeset_at(&m->ends, i)->from, from) + 1;
}

static bool hole(const struct scps_rcv_marks *m)
{
    return m->hole.from < m->hole.to;
}

uint64_t scps_marks_ready(const struct scps_rcv_marks *m, const struct scps_rcvbuf *in)
{
    scps_off to = SCPS_MIN(hole(m) ? m->hole.from : in->next, record_end(m, in->read));

    return to - in->read;
}

bool scps_marks_ahead(const struct scps_rcv_marks *m, const struct scps_rcvbuf *in)
{
    return hole(m) || record_end(m, in->read) <= in->next;
}

void scps_marks_lose(struct scps_rcv_marks *m, scps_off from, scps_off to)
{
    assert(!hole(m) && from < to);
    m->hole = (struct scps_range){from, to};
}

bool scps_marks_repair(struct scps_rcv_marks *m, scps_off from, scps_off to)
{
    if (from == m->hole.from)
        m->hole.from = to;
    else
        m->hole.to = from;
    return !hole(m);
}

bool scps_marks_late(struct scps_rcv_marks *m, const struct scps_conn_ctx *x,
                     struct scps_rcvbuf *in, struct scps_late_data late)
{
    const struct scps_range *h = &m->hole;
    scps_off from = late.from, to = late.to;
    const uint8_t *data = late.data;

    if (to <= h->from || from >= h->to)
        return false;
    late.record = late.record && to <= h->to;
    if (from < h->from) {
        data = data ? data + (h->from - from) : NULL;
        from = h->from;
    }
    to = SCPS_MIN(to, h->to);
    /* Data that would split the hole in two is ignored. */
    if ((from != h->from && to != h->to) ||
        (late.record && scps_marks_record(m, x, in->next, from, to)) ||
        scps_rcvbuf_fill(in, &x->env->alloc, from, data, (uint32_t)(to - from),
                         scps_receive_max_holes(x->cfg->c.rcvbuf)))
        return false;
    if (scps_marks_repair(m, from, to))
        x->st->holes--;
    x->st->bytes_missing -= to - from;
    SCPS_OBSERVE2(x, RECEIVED, from, to - from);
    return true;
}

bool scps_marks_at_hole(const struct scps_rcv_marks *m, const struct scps_rcvbuf *in)
{
    return hole(m) && m->hole.from == in->read;
}

void scps_marks_read(struct scps_rcv_marks *m, const struct scps_rcvbuf *in, uint64_t n)
{
    if (m->ended)
        m->torn = false;
    m->ended = record_end(m, in->read - n) == in->read;
    scps_rangeset_trim(&m->ends, in->read);
}

void scps_marks_pass(struct scps_rcv_marks *m, struct scps_rcvbuf *in)
{
    scps_rcvbuf_skip(in, m->hole.to);
    m->hole = (struct scps_range){0};
    m->ended = false;
    m->torn = true;
    scps_rangeset_trim(&m->ends, in->read);
}
