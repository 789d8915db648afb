/* SPDX-License-Identifier: MIT */
/* A limit for all memory taken through an allocator, with lower limits for some purposes.
 *
 * A part of a budget is an allocator that refuses a request if all parts together would then use
 * more than the part's ceiling. Uses of memory that can be repeated later have a lower ceiling, so
 * that memory is left for uses that cannot wait. All parts share one count, and memory that was
 * allocated through one part may be freed through another.
 */
#ifndef SCPS_BASE_BUDGET_H
#define SCPS_BASE_BUDGET_H

#include <scps/alloc.h>

struct scps_budget;

/* A part of a memory budget: the context of an allocator (scps_budget_alloc()) with a ceiling. */
struct scps_budget_part {
    struct scps_budget *of; /* the budget, which counts the memory of all its parts together */
    /* bytes; an allocation through this part is refused if the memory in use of the whole budget
     * would then exceed the ceiling */
    uint64_t ceiling;
};

/* A budget of memory. Invariant: `used` never exceeds the limit given to scps_budget_init(), which
 * is all.ceiling, and is the sum of what was allocated and not freed. */
struct scps_budget {
    struct scps_alloc owner; /* the allocator of the caller, which provides the memory */
    /* used: bytes allocated through all parts of the budget and not freed (a part: an allocator
     * with a ceiling of its own, struct scps_budget_part); peak: the largest value of used so
     * far */
    uint64_t used, peak;
    uint64_t refused; /* number of allocations that were refused because of a ceiling */
    /* for allocations that cannot be repeated later, such as data received in order: its ceiling is
     * the whole limit given to scps_budget_init() */
    struct scps_budget_part all;
    /* for allocations that can be repeated later (new connections, growing send buffers): its
     * ceiling is 7/8 of the limit given to scps_budget_init() */
    struct scps_budget_part later;
    /* 3/4 of the limit given to scps_budget_init(), bytes: what scps_budget_share() divides among
     * the connections that store data received beyond a hole (octets missing at RCV.NXT) */
    uint64_t beyond;
};

/* Initialises b with a limit in bytes; 0: no limit. b must not move afterwards, because allocators
 * point to it. */
void scps_budget_init(struct scps_budget *b, const struct scps_alloc *owner, uint64_t limit);
/* Returns an allocator that takes its memory from the budget of part p and refuses requests beyond
 * the ceiling of p. p must outlive the allocator. */
struct scps_alloc scps_budget_alloc(struct scps_budget_part *p);
/* Returns 3/4 of the limit of budget b less the memory in use, bytes; 0: that much is in use. */
uint64_t scps_budget_left(const struct scps_budget *b);
/* Returns a struct scps_budget_part for one user of memory (a connection that stores data beyond a
 * hole) that has `own` bytes already: through it the user may allocate (left - own) / 2 bytes more,
 * where left is what scps_budget_left() returns; nothing if own is larger than left. So each of n
 * equal users gets up to 1/(n + 1) of 3/4 of the limit, and a new user always gets something
 * (Choudhury and Hahne, dynamic queue length thresholds, 1998). */
struct scps_budget_part scps_budget_share(struct scps_budget *b, uint64_t own);

#endif
