/* SPDX-License-Identifier: MIT */
/* The memory of an analysis: every byte that a connection uses is counted against the limit that
 * the caller has configured (max_memory). */
#include "trace/flow.h"
#include "trace/why.h"

#include <stdlib.h>

void *scps_tr_alloc(struct scps_trace *t, size_t size)
{
    void *p = calloc(1, size);
    if (p) {
        t->mem += size;
        t->mem_peak = SCPS_MAX(t->mem_peak, t->mem);
    }
    return p;
}

void scps_tr_free(struct scps_trace *t, void *p, size_t size)
{
    if (!p)
        return;
    t->mem -= size;
    free(p);
}

void *scps_tr_grow(struct scps_trace *t, void *p, size_t from, size_t to)
{
    void *q = realloc(p, to);
    if (q) {
        t->mem = t->mem - from + to;
        t->mem_peak = SCPS_MAX(t->mem_peak, t->mem);
    }
    return q;
}

struct conn_rare *scps_tr_rare(struct scps_trace *t, struct conn_dir *h)
{
    if (!h->rare)
        h->rare = scps_tr_alloc(t, sizeof *h->rare);
    return h->rare ? h->rare : &t->lost;
}

struct why *scps_tr_why_of(struct scps_trace *t, struct conn_dir *h)
{
    if (!h->why)
        h->why = scps_tr_alloc(t, sizeof *h->why);
    return h->why;
}

static void *range_alloc(void *ctx, size_t size)
{
    return scps_tr_alloc(ctx, size);
}

static void range_free(void *ctx, void *p, size_t size)
{
    scps_tr_free(ctx, p, size);
}

struct scps_alloc scps_tr_range_alloc(struct scps_trace *t)
{
    return (struct scps_alloc){.alloc = range_alloc, .free = range_free, .ctx = t};
}
