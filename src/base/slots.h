/* SPDX-License-Identifier: MIT */
/* An allocator for memory of a fixed size: blocks of sizes that are known beforehand, so many of
 * each, all of them in one piece of memory. A block is free or taken; nothing is split, joined or
 * moved, so there is no fragmentation, and a request costs a search through the sizes at most.
 */
#ifndef SCPS_BASE_SLOTS_H
#define SCPS_BASE_SLOTS_H

#include <scps/alloc.h>

#define SCPS_SLOT_SIZES 64u /* different sizes at most */

struct scps_slot_size {
    uint64_t size, count; /* bytes, a multiple of 16; blocks of it */
    void *free;           /* the first free one, which holds the address of the next */
};

/* Invariant: sizes[0] to sizes[n - 1] are all different. */
struct scps_slots {
    struct scps_slot_size sizes[SCPS_SLOT_SIZES];
    uint32_t n;
    bool too_many; /* more different sizes were planned than there is room for */
};

/* Plans count more blocks of size bytes. All zero is the beginning of a plan. */
void scps_slots_plan(struct scps_slots *s, uint64_t size, uint64_t count);
/* What all that was planned takes, bytes; UINT64_MAX: more than can be addressed. */
uint64_t scps_slots_bytes(const struct scps_slots *s);
/* Makes the blocks that were planned of mem, which has scps_slots_bytes() and is aligned to 16. */
void scps_slots_begin(struct scps_slots *s, void *mem);
/* Its alloc gives a free block of exactly that size, rounded up to 16; NULL: there is none. */
struct scps_alloc scps_slots_alloc(struct scps_slots *s);

#endif
