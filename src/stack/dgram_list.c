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
    d->ev_next = NULL;
    if (st->ev_dgrams)
        st->ev_dgrams_last->ev_next = d;
    else
        st->ev_dgrams = d;
    st->ev_dgrams_last = d;
}

void scps_dgram_clear_event(struct scps_dgram *d, enum scps_event_kind kind)
{
    d->events &= (uint16_t) ~(1u << kind);
}

static void untell(struct scps_dgram *d)
{
    struct scps_stack *st = d->st;
    struct scps_dgram **at = &st->ev_dgrams, *before = NULL;

    if (!d->queued)
        return;
    for (; *at != d; at = &(*at)->ev_next)
        before = *at;
    *at = d->ev_next;
    if (st->ev_dgrams_last == d)
        st->ev_dgrams_last = before;
    d->queued = false;
}

bool scps_dgram_event(struct scps_stack *st, struct scps_event *ev)
{
    struct scps_dgram *d;

    while ((d = st->ev_dgrams)) {
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

static struct scps_dgram_queue *ready_queue_of(const struct scps_dgram *d)
{
    return d->shaper ? &d->shaper->dgrams : &d->nif->dgrams;
}

void scps_dgram_make_ready(struct scps_dgram *d)
{
    struct scps_dgram_queue *t = ready_queue_of(d);

    d->ready = true;
    d->ready_next = NULL;
    if (t->head)
        t->tail->ready_next = d;
    else
        t->head = d;
    t->tail = d;
    d->nif->n_dgrams++;
    scps_nif_set_others(d->nif);
}

void scps_dgram_dequeue(struct scps_dgram *d)
{
    struct scps_dgram_queue *t;
    struct scps_dgram **at, *before = NULL;

    if (!d->ready)
        return;
    t = ready_queue_of(d);
    for (at = &t->head; *at != d; at = &(*at)->ready_next)
        before = *at;
    *at = d->ready_next;
    if (t->tail == d)
        t->tail = before;
    d->nif->n_dgrams--;
    d->ready = false;
}
