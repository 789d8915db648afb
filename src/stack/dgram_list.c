/* SPDX-License-Identifier: MIT */
/* Lists of datagram endpoints: all by port, those with events, and those ready to send. */
#include "stack/dgram.h"

struct scps_dgram *scps_dgram_each(const struct scps_stack *st, const struct scps_dgram *d)
{
    uint32_t i = 0;

    if (!st->dgrams)
        return NULL;
    if (d) {
        if (d->next)
            return d->next;
        i = d->local.port % SCPS_DGRAM_BUCKETS + 1;
    }
    for (; i < SCPS_DGRAM_BUCKETS; i++)
        if (st->dgrams->bucket[i])
            return st->dgrams->bucket[i];
    return NULL;
}

void scps_dgram_notify(struct scps_dgram *d, enum scps_event_kind kind)
{
    struct scps_stack *st = d->st;

    if (d->closed)
        return;
    d->events |= (uint16_t)(1u << kind);
    if (d->queued)
        return;
    d->queued = true;
    scps_queue_add(&st->ev_dgrams, &d->ev_link);
}

void scps_dgram_clear_event(struct scps_dgram *d, enum scps_event_kind kind)
{
    d->events &= (uint16_t) ~(1u << kind);
}

static void untell(struct scps_dgram *d)
{
    if (!d->queued)
        return;
    scps_queue_remove(&d->st->ev_dgrams, &d->ev_link);
    d->queued = false;
}

static struct scps_dgram *first_with_event(const struct scps_stack *st)
{
    struct scps_queue_link *l = st->ev_dgrams.first;

    return l ? (struct scps_dgram *)((char *)l - offsetof(struct scps_dgram, ev_link)) : NULL;
}

bool scps_dgram_event(struct scps_stack *st, struct scps_event *ev)
{
    struct scps_dgram *d;

    while ((d = first_with_event(st))) {
        if (d->events) {
            unsigned kind = 0;
            while (!(d->events >> kind & 1))
                kind++;
            d->events &= (uint16_t)(d->events - 1);
            *ev = (struct scps_event){.kind = (enum scps_event_kind)kind,
                                      .dgram = d,
                                      .user = d->user,
                                      .err = kind == SCPS_EV_ERROR ? d->err : 0};
            return true;
        }
        untell(d);
    }
    return false;
}

static void unlink_from(struct scps_dgram **at, const struct scps_dgram *d)
{
    while (*at != d)
        at = &(*at)->next;
    *at = d->next;
}

void scps_dgram_free(struct scps_dgram *d)
{
    struct scps_stack *st = d->st;
    const struct scps_alloc *a = &st->env.alloc;

    scps_dgram_dequeue(d);
    untell(d);
    if (d->closed)
        unlink_from(&st->dgrams->closed, d);
    scps_recring_fini(&d->in, a);
    scps_recring_fini(&d->out, a);
    a->free(a->ctx, d, sizeof *d);
}

void scps_dgram_enter(struct scps_dgram *d)
{
    struct scps_dgram **first = scps_dgram_bucket(d->st, d->local.port);

    d->next = *first;
    *first = d;
    d->st->dgrams->n++;
}

void scps_dgram_close(struct scps_dgram *d)
{
    struct scps_stack *st = d->st;

    unlink_from(scps_dgram_bucket(st, d->local.port), d);
    st->dgrams->n--;
    if (!d->ready) {
        scps_dgram_free(d);
        return;
    }
    untell(d);
    scps_recring_fini(&d->in, &st->env.alloc);
    d->closed = true;
    d->next = st->dgrams->closed;
    st->dgrams->closed = d;
}

static struct scps_queue *ready_queue_of(const struct scps_dgram *d)
{
    return d->shaper ? &d->shaper->dgrams : &d->nif->dgrams;
}

void scps_dgram_make_ready(struct scps_dgram *d)
{
    d->ready = true;
    scps_queue_add(ready_queue_of(d), &d->ready_link);
    d->nif->n_dgrams++;
    scps_nif_set_others(d->nif);
}

void scps_dgram_dequeue(struct scps_dgram *d)
{
    if (!d->ready)
        return;
    scps_queue_remove(ready_queue_of(d), &d->ready_link);
    d->nif->n_dgrams--;
    d->ready = false;
}
