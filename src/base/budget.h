/* SPDX-License-Identifier: MIT */
/* A limit for all memory that goes through an allocator, and what may be taken for what up to it.
 *
 * A part of a budget is an allocator that refuses beyond its ceiling: what can wait has a lower
 * ceiling, so that the rest is left for what cannot. All parts take from one count, and what one
 * has taken any other may give back. */
#ifndef SCPS_BASE_BUDGET_H
#define SCPS_BASE_BUDGET_H

#include <scps/alloc.h>

struct scps_budget;

struct scps_budget_part {
    struct scps_budget *of;
    uint64_t ceiling; /* bytes in use, of all parts together, up to which this one allocates */
};

/* Invariant: used <= all.ceiling, and used is the sum of what was taken and not given back. */
struct scps_budget {
    struct scps_alloc owner;       /* where the memory comes from */
    uint64_t used, peak;           /* bytes; peak: the most there was in use */
    uint64_t refused;              /* allocations refused because of a ceiling */
    struct scps_budget_part all;   /* up to the limit */
    struct scps_budget_part later; /* up to 7/8 of it: for what can be asked for again */
    uint64_t beyond;               /* 3/4 of it: for scps_budget_share */
};

/* limit in bytes; 0: none. The budget must not move afterwards. */
void scps_budget_init(struct scps_budget *b, const struct scps_alloc *owner, uint64_t limit);
/* An allocator for p, which must outlive it. */
struct scps_alloc scps_budget_alloc(struct scps_budget_part *p);
/* Bytes left up to three quarters of the limit. */
uint64_t scps_budget_left(const struct scps_budget *b);
/* What somebody who has taken `own` bytes may take now up to three quarters of the limit: half of
 * what then is left, less its own. So each of n takers gets one part in n + 1 at least, and a new
 * one always finds something (Choudhury and Hahne, dynamic queue length thresholds, 1998). */
struct scps_budget_part scps_budget_share(struct scps_budget *b, uint64_t own);

#endif
