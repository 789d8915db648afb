/* SPDX-License-Identifier: MIT */
/* Compares a stream at both ends in one process: what was written is kept until it is read, and
 * then compared byte by byte. */
#ifndef SCPS_TTCP_VERIFY_H
#define SCPS_TTCP_VERIFY_H

#include <scps/types.h>

/* A ring of the bytes that were written and not compared yet, and the results of the comparison;
 * all zeros: an empty ring without memory. */
struct ttcp_verify {
    uint8_t *ring;
    /* size of the ring, index of its first byte, number of bytes in it; cap is 0 or a power of
     * two */
    size_t cap, start, len;
    uint64_t matched; /* bytes compared so far, all equal unless differs */
    uint64_t skipped; /* bytes that the receiver reported as missing */
    /* true: the byte behind the compared ones differs from what was sent, or was never sent */
    bool differs;
};

void ttcp_verify_fini(struct ttcp_verify *v);
/* Keeps a copy of what was written. Returns 0, or SCPS_ERR_NOMEM. */
int ttcp_verify_sent(struct ttcp_verify *v, const void *data, size_t len);
/* Compares what was read with the oldest bytes kept, and removes those. Returns false from the
 * first difference on. */
bool ttcp_verify_got(struct ttcp_verify *v, const void *data, size_t len);
/* Skips len bytes that the receiver reports as missing. Returns false if the sender never sent that
 * many. */
bool ttcp_verify_skip(struct ttcp_verify *v, uint64_t len);

#endif
