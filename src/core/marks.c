/* SPDX-License-Identifier: MIT */
/* What the peer's stream has besides octets, for the one who reads it: ends of records, and holes that were given up.
 *
 *      read          end of a record     hole                    next
 *       |==================|=============|.......................|
 *        a read gives this, then this,    is told, then passed over
 *
 * A connection that met neither owns none of it.
 */
#include "core/conn.h"

#include "base/bytes.h"

#define MIN_ENDS 1024u

int scps_marks_need(struct scps_conn *c)
{
    const struct scps_alloc *a = &c->ctx.env->alloc;
    struct scps_marks *m;

    if (c->ctx.st->marks)
        return 0;
    if (scps_conn_ctx_need_stats(
            &c->ctx)) /* a FIN alone may stand beyond a hole before there was any data */
        return SCPS_ERR_NOMEM;
    m = a->alloc(a->ctx, sizeof *m);
    if (!m)
        return SCPS_ERR_NOMEM;
    *m = (struct scps_marks){.due = SCPS_NEVER};
    /* what they weigh stays below what the octets do */
    scps_rangeset_init(&m->ends,
                       SCPS_MAX(MIN_ENDS, c->ctx.cfg->c.rcvbuf / sizeof(struct scps_range)));
    c->ctx.st->marks = m;
    return 0;
}

void scps_marks_free(struct scps_conn *c)
{
    const struct scps_alloc *a = &c->ctx.env->alloc;
    struct scps_marks *m = c->ctx.st->marks;

    if (!m)
        return;
    scps_rangeset_fini(&m->ends, a);
    a->free(a->ctx, m, sizeof *m);
    c->ctx.st->marks = NULL;
}

/* Where the record that octet `from` belongs to ends; UINT64_MAX: not known. */
static scps_off record_end(const struct scps_marks *m, scps_off from)
{
    uint32_t i = scps_rangeset_find(&m->ends, from);

    if (i == m->ends.n)
        return UINT64_MAX;
    return SCPS_MAX(scps_rangeset_at(&m->ends, i)->from, from) + 1;
}

static bool hole(const struct scps_marks *m)
{
    return m->hole.from < m->hole.to;
}

uint64_t scps_marks_ready(const struct scps_conn *c)
{
    const struct scps_marks *m = c->ctx.st->marks;
    scps_off to = SCPS_MIN(hole(m) ? m->hole.from : c->in.next, record_end(m, c->in.read));

    return to - c->in.read;
}

bool scps_conn_stops(const struct scps_conn *c)
{
    const struct scps_marks *m = c->ctx.st->marks;

    return m && (hole(m) || record_end(m, c->in.read) != UINT64_MAX);
}

bool scps_marks_at_hole(const struct scps_conn *c)
{
    return hole(c->ctx.st->marks) && c->ctx.st->marks->hole.from == c->in.read;
}

void scps_marks_read(struct scps_conn *c, uint64_t n)
{
    struct scps_marks *m = c->ctx.st->marks;

    if (m->ended)
        m->torn = false;
    m->ended = record_end(m, c->in.read - n) == c->in.read;
    scps_rangeset_trim(&m->ends, c->in.read);
}

void scps_marks_pass(struct scps_conn *c)
{
    struct scps_marks *m = c->ctx.st->marks;

    scps_rcvbuf_skip(&c->in, m->hole.to);
    m->hole = (struct scps_range){0};
    m->ended = false;
    m->torn = true;
    scps_rangeset_trim(&m->ends, c->in.read);
}
