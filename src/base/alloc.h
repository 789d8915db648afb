/* SPDX-License-Identifier: MIT */
#ifndef SCPS_BASE_ALLOC_H
#define SCPS_BASE_ALLOC_H

#include <scps/alloc.h>

/* Returns the allocator that the caller gave, or the default allocator, malloc() and free(), if the
 * caller gave NULL or one without functions. */
static inline struct scps_alloc scps_alloc_or_default(const struct scps_alloc *given)
{
    return given && given->alloc ? *given : scps_alloc_default();
}

#endif
