/* SPDX-License-Identifier: MIT */
/* A binary min-heap of items, each with a time as its key. An item stores its index in the heap, so
 * its key can be changed in O(log n). */
#ifndef SCPS_BASE_HEAP_H
#define SCPS_BASE_HEAP_H

#include <scps/alloc.h>
#include <stddef.h>

#define SCPS_HEAP_NONE UINT32_MAX

struct scps_heap_node {
    scps_time key;
    void *item;
};
struct scps_heap {
    struct scps_heap_node *v;
    uint32_t n, cap;
    scps_time min; /* the smallest key, that of v[0]; SCPS_NEVER when the heap is empty */
    size_t slot_at;
    struct scps_alloc alloc;
};

/* Initialises a heap. slot_at: offset of a uint32_t in each item, in which the heap stores the
 * item's index; SCPS_HEAP_NONE when the item is not in the heap. */
void scps_heap_init(struct scps_heap *h, const struct scps_alloc *a, size_t slot_at);
void scps_heap_fini(struct scps_heap *h);
/* Allocates room for n items in all. Returns 0 or SCPS_ERR_NOMEM; after 0, scps_heap_set() cannot
 * fail for up to n items. */
int scps_heap_reserve(struct scps_heap *h, uint32_t n);
/* Inserts item with key, or changes its key. Returns 0 or SCPS_ERR_NOMEM. Items with equal keys are
 * removed in no particular order; if order matters, the caller must make the keys different. */
int scps_heap_move(struct scps_heap *h, scps_time key, void *item);
static inline int scps_heap_set(struct scps_heap *h, scps_time key, void *item)
{
    uint32_t i = *(uint32_t *)(void *)((char *)item + h->slot_at);
    uint64_t kid = 2 * (uint64_t)i + 1;

    if (i != SCPS_HEAP_NONE && (i == 0 || h->v[(i - 1) / 2].key <= key) &&
        (kid >= h->n || (key <= h->v[kid].key && (kid + 1 >= h->n || key <= h->v[kid + 1].key)))) {
        /* The item keeps its place, because the heap order holds with the new key, too. */
        h->v[i].key = key;
        h->min = h->v[0].key;
        return 0;
    }
    return scps_heap_move(h, key, item);
}
/* Removes an item from the heap; does nothing if the item is not in it. */
void scps_heap_remove(struct scps_heap *h, void *item);
static inline scps_time scps_heap_min(const struct scps_heap *h)
{
    return h->min;
}

#endif
