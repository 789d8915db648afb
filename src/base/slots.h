/* SPDX-License-Identifier: MIT */
/* An allocator in one piece of memory of fixed size, which is divided into blocks whose sizes and
 * numbers are known beforehand. A block is free or in use; blocks are never split, joined or moved,
 * so there is no fragmentation, and a request costs at most a search through the sizes. */
#ifndef SCPS_BASE_SLOTS_H
#define SCPS_BASE_SLOTS_H

#include <scps/alloc.h>

#define SCPS_SLOT_SIZES 64u /* largest number of different block sizes */

struct scps_slot_size {
    uint64_t size, count; /* size in bytes, a multiple of 16; count: number of such blocks */
    /* first free block, which holds the address of the next; NULL: none is free */
    void *free;
};

/* Invariant: sizes[0] to sizes[n - 1] are all different. */
struct scps_slots {
    struct scps_slot_size sizes[SCPS_SLOT_SIZES];
    uint32_t n;
    bool too_many; /* true: more different sizes were planned than the array `sizes` has room for */
};

/* Adds `count` blocks of size bytes to the plan. Before the first call *s must be zeroed. */
void scps_slots_plan(struct scps_slots *s, uint64_t size, uint64_t count);
/* Returns the bytes of all planned blocks together; UINT64_MAX: more than a size_t can count. */
uint64_t scps_slots_bytes(const struct scps_slots *s);
/* Divides mem into the planned blocks. mem has scps_slots_bytes() bytes and is aligned to 16. */
void scps_slots_begin(struct scps_slots *s, void *mem);
/* Returns an allocator that returns a free block of the requested size, rounded up to 16; NULL if
 * there is none. */
struct scps_alloc scps_slots_alloc(struct scps_slots *s);

#endif
