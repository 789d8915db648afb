/* SPDX-License-Identifier: MIT */
/* Compares what a receiver reads with what its sender in the same process wrote: written bytes are
 * kept until they are read, and then compared byte by byte. */
#ifndef SCPS_TTCP_VERIFY_H
#define SCPS_TTCP_VERIFY_H

#include <scps/types.h>

/* A ring of the bytes that the sender has taken from its input and the receiver has not read from
 * the connection yet, and the results of comparing what the receiver reads with these bytes. All
 * zeros: an empty ring without memory. */
struct ttcp_verify {
    uint8_t *ring;
    /* cap: size of the ring, 0 or a power of two; start: index of its oldest byte; len: number of
     * bytes in it */
    size_t cap, start, len;
    uint64_t matched; /* number of bytes that were compared and are equal */
    uint64_t skipped; /* bytes that the receiver reported as missing */
    /* true: the byte that follows the `matched` ones differs from what was sent, or was never
     * sent */
    bool differs;
};

void ttcp_verify_fini(struct ttcp_verify *v);
/* Keeps a copy of the len bytes at data, which the sender writes. Returns 0, or SCPS_ERR_NOMEM. */
int ttcp_verify_sent(struct ttcp_verify *v, const void *data, size_t len);
/* Compares the len bytes at data, which the receiver has read, with the oldest of the kept bytes,
 * and removes those from the ring. Returns true if they are equal; false if any byte differs, and
 * in every call after that. */
bool ttcp_verify_got(struct ttcp_verify *v, const void *data, size_t len);
/* Skips len bytes that the receiver reports as missing. Returns false if the sender never sent that
 * many. */
bool ttcp_verify_skip(struct ttcp_verify *v, uint64_t len);

#endif
