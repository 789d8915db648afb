/* SPDX-License-Identifier: MIT */
/* Helpers of fuzz targets that drive a running stack: they read orders from the octets of the
 * input, and provide an allocator that counts memory and may fail. */
#ifndef SCPS_FUZZ_FEED_H
#define SCPS_FUZZ_FEED_H

#include "fuzz.h"

struct feed {
    const uint8_t *p, *end;
};

/* Returns the next octet of the input; 0 when the input is over. */
static inline uint8_t get8(struct feed *in)
{
    return in->p < in->end ? *in->p++ : 0;
}

static inline uint16_t get16(struct feed *in)
{
    uint8_t hi = get8(in);

    return (uint16_t)(hi << 8 | get8(in));
}

struct memory {
    size_t live;         /* The number of bytes in use. */
    unsigned fail_after; /* The number of allocations until one fails; 0: none fails. */
};

/* An allocation function for struct scps_alloc whose context is a struct memory. */
static inline void *counted_alloc(void *ctx, size_t size)
{
    struct memory *m = ctx;
    size_t *p;

    if (m->fail_after && !--m->fail_after)
        return NULL;
    p = malloc(size + 16);
    if (!p)
        return NULL;
    p[0] = size;
    m->live += size;
    return p + 16 / sizeof *p;
}

static inline void counted_free(void *ctx, void *mem, size_t size)
{
    struct memory *m = ctx;
    size_t *p = (size_t *)mem - 16 / sizeof *p;

    MUST(mem != NULL && p[0] == size);
    m->live -= size;
    free(p);
}

#endif
