/* SPDX-License-Identifier: MIT */
/* Test allocator: returns NULL after `left` allocations; `out` counts the bytes in use. */
#ifndef SCPS_TEST_POOR_H
#define SCPS_TEST_POOR_H

#include <stdlib.h>

struct poor {
    unsigned left; /* number of allocations that still succeed */
    size_t out;    /* bytes allocated and not freed */
};

static inline void *poor_alloc(void *ctx, size_t n)
{
    struct poor *p = ctx;

    if (p->left == 0)
        return NULL;
    p->left--;
    p->out += n;
    return malloc(n);
}

static inline void poor_free(void *ctx, void *p, size_t n)
{
    ((struct poor *)ctx)->out -= n;
    free(p);
}

#endif
