/* SPDX-License-Identifier: MIT */
/* The buffer through which scps_ttcp reads and writes data; option -l sets its size. As in the
 * program ttcp, the user chooses its address (-A, -O), because page and cache boundaries affect the
 * speed of copying. */
#include "scps_ttcp/buffer.h"

#include <scps/error.h>

#include <stdlib.h>
#include <string.h>

int ttcp_buffer_init(struct ttcp_buffer *b, size_t size, size_t align, size_t offset)
{
    size_t gap;

    memset(b, 0, sizeof(*b));
    b->block = malloc(size + align + offset);
    if (b->block == NULL)
        return SCPS_ERR_NOMEM;
    gap = (size_t)((uintptr_t)b->block % align);
    b->data = (uint8_t *)b->block + (gap != 0 ? align - gap : 0) + offset;
    b->size = size;
    return 0;
}

void ttcp_buffer_fini(struct ttcp_buffer *b)
{
    free(b->block);
    memset(b, 0, sizeof(*b));
}

uint64_t ttcp_touch(uint64_t sum, const uint8_t *p, size_t len)
{
    for (size_t i = 0; i < len; i++)
        sum = sum * 31 + p[i];
    return sum;
}
