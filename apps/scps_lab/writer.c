/* SPDX-License-Identifier: MIT */
/* A simulated application that writes data to a flow's connection: at the rate app-rate from
 * app-from to app-until after the flow's start, at other times as much as the connection takes.
 * While the rate is limited, it writes once in every millisecond of virtual time. */
#include "scps_lab/writer.h"

#include <scps/error.h>

#define STEP SCPS_MS(1)

static bool is_limited(const struct lab_writer *w, scps_dur since)
{
    const struct lab_flow *f = w->flow;

    return since >= f->app_from && (!f->app_until || since < f->app_until);
}

static int64_t refill(void *ctx, void *buf, size_t len)
{
    struct lab_writer *w = ctx;
    scps_dur since = scps_world_now(w->world) - w->begin;
    uint64_t due;

    /* On a hollow connection (bytes are counted, not stored) the bytes at buf are not read. */
    (void)buf;
    if (!is_limited(w, since))
        return (int64_t)len;
    due = (uint64_t)((double)w->flow->app_bps / 8e6 * (double)(since - w->flow->app_from));
    if (due <= w->given)
        return SCPS_ERR_AGAIN;
    if (len > due - w->given)
        len = (size_t)(due - w->given);
    w->given += len;
    return (int64_t)len;
}

static void tick(void *ctx)
{
    struct lab_writer *w = ctx;
    scps_time now = scps_world_now(w->world);

    if (!w->source->conn)
        return;
    scps_bulk_source_run(w->source);
    scps_host_kick(w->host);
    if (is_limited(w, now - w->begin) && scps_world_at(w->world, now + STEP, tick, w) != 0)
        w->source->err = SCPS_ERR_NOMEM;
}

bool lab_writer_attach(struct lab_writer *w)
{
    if (!w->flow->app_bps)
        return true;
    w->source->refill = refill;
    w->source->ctx = w;
    return scps_world_at(w->world, w->begin + w->flow->app_from, tick, w) == 0;
}
