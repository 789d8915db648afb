/* SPDX-License-Identifier: MIT */
/* What was written is kept until it is read at the other end, and compared byte for byte. */
#ifndef SCPS_TTCP_VERIFY_H
#define SCPS_TTCP_VERIFY_H

#include <scps/types.h>

struct ttcp_verify { /* all zero is the beginning */
    uint8_t *ring;
    size_t cap, start, len; /* cap is 0 or a power of two */
    uint64_t matched;       /* bytes compared so far, all equal unless differs */
    uint64_t skipped;       /* bytes that were told to be missing */
    bool differs;           /* the byte behind all these is not what was sent, or was never sent */
};

void ttcp_verify_fini(struct ttcp_verify *v);
/* Keeps a copy. 0, or SCPS_ERR_NOMEM. */
int ttcp_verify_sent(struct ttcp_verify *v, const void *data, size_t len);
/* Compares with the oldest that were sent and forgets those. False from the first difference on. */
bool ttcp_verify_got(struct ttcp_verify *v, const void *data, size_t len);
/* len bytes are missing here. False if so many were never sent. */
bool ttcp_verify_skip(struct ttcp_verify *v, uint64_t len);

#endif
