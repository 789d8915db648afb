/* SPDX-License-Identifier: MIT */
/* The buffer through which scps_ttcp reads and writes data. Option -l sets its size, bytes. It
 * begins -O bytes (offset) behind an address that is a multiple of -A (alignment). */
#ifndef SCPS_TTCP_BUFFER_H
#define SCPS_TTCP_BUFFER_H

#include <stddef.h>
#include <stdint.h>

struct ttcp_buffer {
    /* the buffer, `size` bytes; it begins `offset` bytes (-O) behind a multiple of `align` (-A) */
    uint8_t *data;
    size_t size;
    void *block; /* the allocated block that contains the buffer, for free() */
};

/* Allocates a buffer of `size` bytes whose address is a multiple of `align` plus `offset`. Returns
 * 0, or SCPS_ERR_NOMEM. */
int ttcp_buffer_init(struct ttcp_buffer *b, size_t size, size_t align, size_t offset);
void ttcp_buffer_fini(struct ttcp_buffer *b);
/* Reads each of the len bytes at p, as an application would (-T). Returns `sum` changed by every
 * byte, so that the compiler cannot remove the reads. */
uint64_t ttcp_touch(uint64_t sum, const uint8_t *p, size_t len);

#endif
