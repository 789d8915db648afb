/* SPDX-License-Identifier: MIT */
/* The allocator (functions in the place of malloc() and free()) that a program gives to the
 * library. The library takes memory from it when a stack, a connection or another object is opened
 * and when a pool or buffer grows, but never for a single packet. */
#ifndef SCPS_ALLOC_H
#define SCPS_ALLOC_H

#include <scps/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct scps_alloc {
    /* Allocates size bytes, aligned for any object and not zeroed. Returns NULL when there is no
     * memory. */
    void *(*alloc)(void *ctx, size_t size);
    /* Frees p, which alloc returned for a request of exactly size bytes. p is never NULL. */
    void (*free)(void *ctx, void *p, size_t size);
    void *ctx;
};

/* Returns the allocator that uses malloc() and free(). A configuration whose scps_alloc is all zero
 * gets this allocator. */
SCPS_API struct scps_alloc scps_alloc_default(void);

#ifdef __cplusplus
}
#endif
#endif
