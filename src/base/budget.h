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
/* Returns a part for one user of memory (such as a connection) that has `own` bytes already. The
 * user may allocate (left - own) / 2 bytes more, where left is what is not in use of 3/4 of the
 * limit; nothing if own is larger than left. So each of n users gets at least one part in n + 1,
 * and a new user always gets something (Choudhury and Hahne, dynamic queue length thresholds,
 * 1998). */
struct scps_budget_part scps_budget_share(struct scps_budget *b, uint64_t own);

#endif
