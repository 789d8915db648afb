/* SPDX-License-Identifier: MIT */
/* Provides the default allocator, malloc() and free(), for callers that give none. */
#include <scps/alloc.h>
#include <stdlib.h>

static void *default_alloc(void *ctx, size_t size)
{
    (void)ctx;
    return malloc(size);
}

static void default_free(void *ctx, void *p, size_t size)
{
    (void)ctx;
    (void)size;
    free(p);
}

struct scps_alloc scps_alloc_default(void)
{
    return (struct scps_alloc){default_alloc, default_free, NULL};
}
