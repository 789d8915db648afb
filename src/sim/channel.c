/* SPDX-License-Identifier: MIT */
/* The public functions scps_channel_*() of one direction of a simulated link (link.c), for programs
 * that use it without a simulated world (world.c) and pass the time to each call, such as
 * scps_link, which runs in real time. */
#include "sim/link.h"

#include "base/alloc.h"
#include "base/sized.h"

struct scps_channel {
    struct scps_linkdir dir;
};

static const char *const fate_name[SCPS_FATE_COUNT] = {
    "delivered", "flip", "ber", "loss", "queue", "codel", "outage", "burst", "vector"};

const char *scps_fate_name(enum scps_fate f)
{
    return (unsigned)f < SCPS_FATE_COUNT ? fate_name[f] : "?";
}

uint64_t scps_link_dropped(const struct scps_link_stats *s, enum scps_fate f)
{
    switch (f) {
    case SCPS_FATE_BER:
        return s->dropped_ber;
    case SCPS_FATE_LOSS:
        return s->dropped_loss;
    case SCPS_FATE_QUEUE:
        return s->dropped_queue;
    case SCPS_FATE_CODEL:
        return s->dropped_codel;
    case SCPS_FATE_OUTAGE:
        return s->dropped_outage;
    case SCPS_FATE_BURST:
        return s->dropped_burst;
    case SCPS_FATE_VECTOR:
        return s->dropped_vector;
    default:
        return 0;
    }
}

struct scps_channel *scps_channel_new(const struct scps_link_config *cfg, uint64_t stream,
                                      const struct scps_alloc *alloc)
{
    struct scps_alloc a = scps_alloc_or_default(alloc);
    struct scps_channel *ch = a.alloc(a.ctx, sizeof *ch);

    if (ch && scps_linkdir_init(&ch->dir, cfg, stream, &a) != 0) {
        a.free(a.ctx, ch, sizeof *ch);
        ch = NULL;
    }
    return ch;
}

void scps_channel_free(struct scps_channel *ch)
{
    if (!ch)
        return;
    struct scps_alloc a = ch->dir.alloc;
    scps_linkdir_fini(&ch->dir);
    a.free(a.ctx, ch, sizeof *ch);
}

void scps_channel_observe(struct scps_channel *ch, scps_verdict_fn *fn, void *ctx)
{
    ch->dir.verdict_fn = fn;
    ch->dir.verdict_ctx = ctx;
}

int scps_channel_change(struct scps_channel *ch, scps_time now, const struct scps_link_config *cfg)
{
    return scps_linkdir_change(&ch->dir, now, cfg);
}

const struct scps_link_config *scps_channel_config(const struct scps_channel *ch)
{
    return &ch->dir.cfg;
}

int scps_channel_offer(struct scps_channel *ch, scps_time now, const struct scps_pkt *pkt)
{
    return scps_linkdir_offer(&ch->dir, now, pkt);
}

scps_time scps_channel_next(const struct scps_channel *ch)
{
    return ch->dir.next;
}

bool scps_channel_peek(struct scps_channel *ch, scps_time now, struct scps_pkt *pkt)
{
    return scps_linkdir_peek(&ch->dir, now, pkt);
}

void scps_channel_pop(struct scps_channel *ch)
{
    scps_linkdir_pop(&ch->dir);
}

void scps_channel_stats_sized(struct scps_channel *ch, scps_time now, struct scps_link_stats *out,
                              size_t size)
{
    struct scps_link_stats own;

    scps_linkdir_stats(&ch->dir, now, &own);
    scps_sized_give(out, size, &own, sizeof own);
}

uint64_t scps_channel_queue(struct scps_channel *ch, scps_time now, uint32_t *packets)
{
    scps_linkdir_advance(&ch->dir, now);
    if (packets)
        *packets = ch->dir.wait_n;
    return ch->dir.wait_bytes;
}
