/* SPDX-License-Identifier: MIT */
/* An allocator that counts the memory it has given out and refuses requests beyond a limit. */
#include "base/budget.h"

static void *budget_alloc(void *ctx, size_t n)
{
    const struct scps_budget_part *p = ctx;
    struct scps_budget *b = p->of;
    void *mem;

    if (b->used > p->ceiling || n > p->ceiling - b->used) {
        b->refused++;
        return NULL;
    }
    mem = b->owner.alloc(b->owner.ctx, n);
    if (!mem)
        return NULL;
    b->used += n;
    if (b->used > b->peak)
        b->peak = b->used;
    return mem;
}

static void budget_free(void *ctx, void *mem, size_t n)
{
    struct scps_budget *b = ((const struct scps_budget_part *)ctx)->of;

    b->used -= n;
    b->owner.free(b->owner.ctx, mem, n);
}

void scps_budget_init(struct scps_budget *b, const struct scps_alloc *owner, uint64_t limit)
{
    if (!limit)
        limit = UINT64_MAX;
    *b = (struct scps_budget){
        .owner = *owner,
        .all = {b, limit},
        .later = {b, limit - limit / 8},
        .beyond = limit - limit / 4,
    };
}

struct scps_alloc scps_budget_alloc(struct scps_budget_part *p)
{
    return (struct scps_alloc){budget_alloc, budget_free, p};
}

uint64_t scps_budget_left(const struct scps_budget *b)
{
    return b->beyond > b->used ? b->beyond - b->used : 0;
}

struct scps_budget_part scps_budget_share(struct scps_budget *b, uint64_t own)
{
    uint64_t left = scps_budget_left(b);

    return (struct scps_budget_part){b, b->used + (left > own ? (left - own) / 2 : 0)};
}
