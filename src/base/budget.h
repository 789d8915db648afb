/* SPDX-License-Identifier: MIT */
/* A limit for all memory taken through an allocator, with lower limits for some purposes.
 *
 * A part of a budget is an allocator that refuses beyond its own ceiling. Purposes that can wait
 * have a lower ceiling, so that the rest is left for those that cannot. All parts share one count,
 * and memory that one part has allocated may be freed through any other.
 */
#ifndef SCPS_BASE_BUDGET_H
#define SCPS_BASE_BUDGET_H

#include <scps/alloc.h>

struct scps_budget;

struct scps_budget_part {
    struct scps_budget *of;
    /* ceiling, bytes: the part refuses requests with which all parts together would use more */
    uint64_t ceiling;
};

/* Invariant: used <= all.ceiling, and used is the sum of what was allocated and not freed. */
struct scps_budget {
    struct scps_alloc owner; /* the allocator of the caller, which provides the memory */
    /* used: bytes in use by all parts; peak: the largest value of used so far */
    uint64_t used, peak;
    uint64_t refused;            /* number of allocations that were refused because of a ceiling */
    struct scps_budget_part all; /* the part whose ceiling is the limit itself */
    /* the part with a ceiling of 7/8 of the limit, for requests that can be repeated later */
    struct scps_budget_part later;
    /* ceiling of the parts that scps_budget_share() returns, bytes: 3/4 of the limit */
    uint64_t beyond;
};

/* Initialises b with a limit in bytes; 0: no limit. b must not move afterwards, because allocators
 * point to it. */
void scps_budget_init(struct scps_budget *b, const struct scps_alloc *owner, uint64_t limit);
/* Returns an allocator that allocates as part p. p must outlive the allocator. */
struct scps_alloc scps_budget_alloc(struct scps_budget_part *p);
/* Returns how many bytes are left below three quarters of the limit. */
uint64_t scps_budget_left(const struct scps_budget *b);
/* Returns the part for a purpose that has `own` bytes already: up to 3/4 of the limit it may take
 * half of what is left, less `own`. So each of n purposes gets at least one part in n + 1, and a
 * new one always gets something (Choudhury and Hahne, dynamic queue length thresholds, 1998). */
struct scps_budget_part scps_budget_share(struct scps_budget *b, uint64_t own);

#endif
