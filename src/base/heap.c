/* SPDX-License-Identifier: MIT */
/* A binary min-heap in one array. Each item stores its index, so its key can be changed in place.
 *
 *        v[0]              key of v[i] <= key of v[2i+1] and v[2i+2]
 *     v[1]   v[2]          the slot in v[i].item is i
 *
 * Memory is doubled when needed and freed only at the end.
 */
#include "base/heap.h"

#include <assert.h>
#include <scps/error.h>
#include <string.h>

void scps_heap_init(struct scps_heap *h, const struct scps_alloc *a, size_t slot_at)
{
    h->v = NULL;
    h->n = h->cap = 0;
    h->min = SCPS_NEVER;
    h->slot_at = slot_at;
    h->alloc = *a;
}

static inline uint32_t *slot_at(void *item, size_t at)
{
    return (uint32_t *)(void *)((char *)item + at);
}

static inline uint32_t *slot_of(const struct scps_heap *h, void *item)
{
    return slot_at(item, h->slot_at);
}

void scps_heap_fini(struct scps_heap *h)
{
    for (uint32_t i = 0; i < h->n; i++)
        *slot_of(h, h->v[i].item) = SCPS_HEAP_NONE;
    if (h->v)
        h->alloc.free(h->alloc.ctx, h->v, h->cap * sizeof *h->v);
    h->v = NULL;
    h->n = h->cap = 0;
    h->min = SCPS_NEVER;
}

int scps_heap_reserve(struct scps_heap *h, uint32_t n)
{
    if (n <= h->cap)
        return 0;
    uint64_t cap = h->cap ? h->cap : 16;
    while (cap < n)
        cap *= 2;
    if (cap > SCPS_HEAP_NONE || cap > SIZE_MAX / sizeof *h->v)
        return SCPS_ERR_NOMEM;
    struct scps_heap_node *v = h->alloc.alloc(h->alloc.ctx, (size_t)cap * sizeof *v);
    if (!v)
        return SCPS_ERR_NOMEM;
    if (h->v) {
        memcpy(v, h->v, h->n * sizeof *v);
        h->alloc.free(h->alloc.ctx, h->v, h->cap * sizeof *v);
    }
    h->v = v;
    h->cap = (uint32_t)cap;
    return 0;
}

static inline void put_node(struct scps_heap *h, uint32_t i, struct scps_heap_node node)
{
    h->v[i] = node;
    *slot_of(h, node.item) = i;
}

/* Inserts node at the free place i or above: moves parents down until the parent's key is not
 * greater than node's key, and puts node there. */
static void up(struct scps_heap *h, uint32_t i, struct scps_heap_node node)
{
    while (i) {
        uint32_t parent = (i - 1) / 2;
        if (h->v[parent].key <= node.key)
            break;
        put_node(h, i, h->v[parent]);
        i = parent;
    }
    put_node(h, i, node);
}

static void down(struct scps_heap *h, uint32_t i, struct scps_heap_node node)
{
    struct scps_heap_node *v = h->v;
    /* n and slot_at are copied to local variables, because the compiler must assume that storing an
     * item's slot may change h, and would load them again. */
    const size_t n = h->n, at = h->slot_at;

    for (size_t child; (child = 2 * (size_t)i + 1) < n; i = (uint32_t)child) {
        if (child + 1 < n)
            child += v[child + 1].key < v[child].key;
        if (node.key <= v[child].key)
            break;
        v[i] = v[child];
        *slot_at(v[i].item, at) = i;
    }
    put_node(h, i, node);
}

static void place(struct scps_heap *h, uint32_t i, struct scps_heap_node node)
{
    if (i && node.key < h->v[(i - 1) / 2].key)
        up(h, i, node);
    else
        down(h, i, node);
}

int scps_heap_move(struct scps_heap *h, scps_time key, void *item)
{
    struct scps_heap_node node = {key, item};
    uint32_t i = *slot_of(h, item);

    if (i == SCPS_HEAP_NONE) {
        if (h->n == h->cap) {
            int err = scps_heap_reserve(h, h->n + 1);
            if (err)
                return err;
        }
        up(h, h->n++, node);
    } else {
        assert(i < h->n && h->v[i].item == item);
        place(h, i, node);
    }
    h->min = h->v[0].key;
    return 0;
}

void scps_heap_remove(struct scps_heap *h, void *item)
{
    uint32_t *slot = slot_of(h, item), i = *slot;

    if (i == SCPS_HEAP_NONE)
        return;
    assert(i < h->n && h->v[i].item == item);
    *slot = SCPS_HEAP_NONE;
    struct scps_heap_node last = h->v[--h->n];
    if (i < h->n)
        place(h, i, last);
    h->min = h->n ? h->v[0].key : SCPS_NEVER;
}
