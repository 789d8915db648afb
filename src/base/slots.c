/* SPDX-License-Identifier: MIT */
/* The allocator of a stack with fixed memory: gives out blocks from one piece of memory.
 * scps_slots_plan() was given their sizes and numbers before that memory was taken (slots.h). */
#include "base/slots.h"

#include <string.h>

#define ALIGN UINT64_C(16)

static uint64_t rounded(uint64_t size)
{
    if (size < sizeof(void *))
        size = sizeof(void *);
    return (size + ALIGN - 1) / ALIGN * ALIGN;
}

static struct scps_slot_size *find_size(struct scps_slots *s, uint64_t size)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->sizes[i].size == size)
            return &s->sizes[i];
    return NULL;
}

void scps_slots_plan(struct scps_slots *s, uint64_t size, uint64_t count)
{
    struct scps_slot_size *z;

    if (!size || !count)
        return;
    size = rounded(size);
    z = find_size(s, size);
    if (!z && s->n == SCPS_SLOT_SIZES) {
        s->too_many = true;
        return;
    }
    if (!z) {
        z = &s->sizes[s->n++];
        *z = (struct scps_slot_size){size, 0, NULL};
    }
    z->count += count;
}

uint64_t scps_slots_bytes(const struct scps_slots *s)
{
    uint64_t total = 0;

    for (uint32_t i = 0; i < s->n; i++) {
        const struct scps_slot_size *z = &s->sizes[i];
        if (z->count > (UINT64_MAX / 2 - total) / z->size)
            return UINT64_MAX;
        total += z->size * z->count;
    }
    return s->too_many || total > SIZE_MAX / 2 ? UINT64_MAX : total;
}

void scps_slots_begin(struct scps_slots *s, void *mem)
{
    uint8_t *at = mem;

    for (uint32_t i = 0; i < s->n; i++) {
        struct scps_slot_size *z = &s->sizes[i];
        z->free = NULL;
        for (uint64_t k = 0; k < z->count; k++, at += z->size) {
            memcpy(at, &z->free, sizeof z->free);
            z->free = at;
        }
    }
}

static void *slots_alloc(void *ctx, size_t size)
{
    struct scps_slot_size *z = find_size(ctx, rounded(size));
    void *p = z ? z->free : NULL;

    if (p)
        memcpy(&z->free, p, sizeof z->free);
    return p;
}

static void give_back(void *ctx, void *p, size_t size)
{
    struct scps_slot_size *z = find_size(ctx, rounded(size));

    /* z is never NULL here, because a block in use has one of the planned sizes. */
    if (z) {
        memcpy(p, &z->free, sizeof z->free);
        z->free = p;
    }
}

struct scps_alloc scps_slots_alloc(struct scps_slots *s)
{
    return (struct scps_alloc){slots_alloc, give_back, s};
}
