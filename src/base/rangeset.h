/* SPDX-License-Identifier: MIT */
/* Disjoint, non-adjacent ranges [from, to) of 64-bit offsets in ascending order, in one array.
 * Appending, extending the last and taking from the front are O(1); elsewhere O(log n) to find. */
#ifndef SCPS_BASE_RANGESET_H
#define SCPS_BASE_RANGESET_H

#include <scps/alloc.h>

struct scps_range {
    scps_off from, to;
};
struct scps_rangeset {
    struct scps_range *v; /* v[head .. head+n-1] */
    uint32_t head, n, cap, max;
};

/* At most max ranges are kept. No memory is taken until the first add. */
void scps_rangeset_init(struct scps_rangeset *s, uint32_t max);
void scps_rangeset_fini(struct scps_rangeset *s, const struct scps_alloc *a);
/* Places that scps_rangeset_reserve takes for max ranges: an odd number, which doubling never
 * gives, so that a set whose memory is fixed is known by it. */
static inline uint32_t scps_rangeset_places(uint32_t max)
{
    return max | 1;
}
/* Takes the memory for max ranges at once: the set never grows, and no add is refused for want of
 * memory. Precondition: it has none yet. 0 or SCPS_ERR_NOMEM. */
int scps_rangeset_reserve(struct scps_rangeset *s, const struct scps_alloc *a);
/* Adds [from, to), merging. Returns 1 when anything was new, 0 when all was there, SCPS_ERR_LIMIT
 * when one range too many would be needed, SCPS_ERR_NOMEM. *merged (may be NULL): the range it is
 * now part of. */
int scps_rangeset_add(struct scps_rangeset *s, const struct scps_alloc *a, scps_off from,
                      scps_off to, struct scps_range *merged);
/* Removes everything below off. */
void scps_rangeset_trim(struct scps_rangeset *s, scps_off off);
/* Index (0 = lowest) of the first range with to > off; n if none. */
uint32_t scps_rangeset_find(const struct scps_rangeset *s, scps_off off);
static inline const struct scps_range *scps_rangeset_at(const struct scps_rangeset *s, uint32_t i)
{
    return &s->v[s->head + i];
}
/* Bytes in all ranges: O(n). */
uint64_t scps_rangeset_total(const struct scps_rangeset *s);

#endif
