/* SPDX-License-Identifier: MIT */
/* The caller's allocator. Memory is taken at open and when a pool or buffer grows, not per
 * packet. */
#ifndef SCPS_ALLOC_H
#define SCPS_ALLOC_H

#include <scps/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct scps_alloc {
    /* Returns size bytes aligned for any object, not zeroed, or NULL. */
    void *(*alloc)(void *ctx, size_t size);
    /* Takes back p of exactly the size it was asked for. p is never NULL. */
    void (*free)(void *ctx, void *p, size_t size);
    void *ctx;
};

/* malloc and free. What an all-zero scps_alloc in a configuration stands for. */
SCPS_API struct scps_alloc scps_alloc_default(void);

#ifdef __cplusplus
}
#endif
#endif
