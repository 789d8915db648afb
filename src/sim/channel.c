/* SPDX-License-Identifier: MIT */
/* One direction of a link in public: link.c for drivers that keep their own time, and what became of each packet.
 *
 * The fate is read off the direction's counters, which move exactly once a packet: the model has one account of what it
 * does, and this is a view of it.
 */
#include "base/bytes.h"
#include "sim/link.h"

struct scps_channel {
    struct scps_linkdir dir;
};

static const char *const fate_name[SCPS_FATE_COUNT] = {"delivered", "flip", "ber", "loss", "queue"};

const char *scps_fate_name(enum scps_fate f)
{
    return (unsigned)f < SCPS_FATE_COUNT ? fate_name[f] : "?";
}

struct scps_channel *scps_channel_new(const struct scps_link_config *cfg, uint64_t stream,
                                      const struct scps_alloc *alloc)
{
    struct scps_alloc a = alloc && alloc->alloc ? *alloc : scps_alloc_default();
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

int scps_channel_change(struct scps_channel *ch, const struct scps_link_config *cfg)
{
    return scps_linkdir_change(&ch->dir, cfg);
}

const struct scps_link_config *scps_channel_config(const struct scps_channel *ch)
{
    return &ch->dir.cfg;
}

/* When the packet arrives that was offered last: the newest in the heap, if one has come since, else the ring's end. */
static scps_time arrival(const struct scps_linkdir *d, uint64_t held_before)
{
    if (d->held_seq == held_before)
        return d->last_at;
    for (uint32_t i = 0; i < d->held_n; i++)
        if (d->held[i].seq == held_before)
            return d->held[i].at;
    return SCPS_NEVER;
}

int scps_channel_offer(struct scps_channel *ch, scps_time now, const struct scps_pkt *pkt,
                       struct scps_verdict *v)
{
    const struct scps_link_stats was = ch->dir.st, *is = &ch->dir.st;
    uint64_t held = ch->dir.held_seq;
    int rc = scps_linkdir_offer(&ch->dir, now, pkt);

    if (!v)
        return rc;
    *v = (struct scps_verdict){.arrival = SCPS_NEVER,
                               .duplicated = is->duplicated != was.duplicated,
                               .reordered = is->reordered != was.reordered};
    if (is->dropped_queue != was.dropped_queue)
        v->fate = SCPS_FATE_QUEUE;
    else if (is->dropped_ber != was.dropped_ber)
        v->fate = SCPS_FATE_BER;
    else if (rc != 0 || is->dropped_loss != was.dropped_loss)
        v->fate = SCPS_FATE_LOSS;
    else
        v->fate = is->flipped != was.flipped ? SCPS_FATE_FLIPPED : SCPS_FATE_DELIVERED;
    if (v->fate <= SCPS_FATE_FLIPPED)
        v->arrival = arrival(&ch->dir, held);
    return rc;
}

scps_time scps_channel_next(const struct scps_channel *ch)
{
    return ch->dir.next;
}

void scps_channel_peek(const struct scps_channel *ch, struct scps_pkt *pkt)
{
    scps_linkdir_peek(&ch->dir, pkt);
}

void scps_channel_pop(struct scps_channel *ch)
{
    scps_linkdir_pop(&ch->dir);
}

void scps_channel_stats(const struct scps_channel *ch, scps_time now, struct scps_link_stats *out)
{
    scps_linkdir_stats(&ch->dir, now, out);
}

uint64_t scps_channel_queue(const struct scps_channel *ch, scps_time now, uint32_t *packets)
{
    const struct scps_linkdir *d = &ch->dir;
    uint64_t bytes = d->wait_bytes;
    uint32_t n = d->wait_n;

    /* those that have started since the last offer are no longer waiting */
    for (uint32_t i = 0; n > 0; i++, n--) {
        const struct scps_link_waiting *w = &d->wait[(d->wait_head + i) & (d->wait_cap - 1)];
        if (w->start > now)
            break;
        bytes -= w->frame;
    }
    if (packets)
        *packets = n;
    return bytes;
}
