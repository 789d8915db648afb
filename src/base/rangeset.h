/* SPDX-License-Identifier: MIT */
/* Disjoint, non-adjacent ranges [from, to) of 64-bit offsets in ascending order, in one array.
 * Appending, extending the last range and removing from the front cost O(1), finding a range O(log
 * n). */
#ifndef SCPS_BASE_RANGESET_H
#define SCPS_BASE_RANGESET_H

#include <scps/alloc.h>

#include "base/bytes.h"

struct scps_range {
    scps_off from, to;
};
struct scps_rangeset {
    struct scps_range *v; /* the array; the ranges are v[head] to v[head+n-1] */
    uint32_t head, n, cap, max;
};

/* Initialises a set of at most max ranges. The first add allocates memory. */
void scps_rangeset_init(struct scps_rangeset *s, uint32_t max);
void scps_rangeset_fini(struct scps_rangeset *s, const struct scps_alloc *a);
/* Returns how many elements of the array scps_rangeset_reserve() allocates for max ranges: an odd
 * number. An array that grows by doubling always has an even number, so an odd capacity shows that
 * the memory of the set is fixed and must not grow. */
static inline uint32_t scps_rangeset_places(uint32_t max)
{
    return max | 1;
}
/* Allocates the memory for max ranges at once, so that the set never grows later and no
 * scps_rangeset_add() fails for lack of memory. Precondition: the set has no memory yet. Returns 0
 * or SCPS_ERR_NOMEM. */
int scps_rangeset_reserve(struct scps_rangeset *s, const struct scps_alloc *a);
/* Adds [from, to), merging it with ranges that it overlaps or touches. Returns 1 when a part of
 * [from, to) was new, 0 when the set contained all of it, SCPS_ERR_LIMIT when the set would have
 * more ranges than scps_rangeset_init() allowed (max), or SCPS_ERR_NOMEM. *merged (may be NULL)
 * becomes the range of the set that now contains [from, to). */
int scps_rangeset_add(struct scps_rangeset *s, const struct scps_alloc *a, scps_off from,
                      scps_off to, struct scps_range *merged);
/* Removes all octets below off from the set. */
void scps_rangeset_trim(struct scps_rangeset *s, scps_off off);
/* Returns the index (0 = lowest) of the first range with to > off; n if there is none. */
uint32_t scps_rangeset_find(const struct scps_rangeset *s, scps_off off);
static SCPS_INLINE_SPEED const struct scps_range *scps_rangeset_at(const struct scps_rangeset *s,
                                                                   uint32_t i)
{
    return &s->v[s->head + i];
}
/* Returns the number of octets in all ranges; costs O(n). */
uint64_t scps_rangeset_total(const struct scps_rangeset *s);

#endif
