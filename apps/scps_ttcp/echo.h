/* SPDX-License-Identifier: MIT */
/* Option -e: the sender writes a block and waits until the receiver has sent all of it back before
 * it writes the next one. It compares the bytes and measures the time. */
#ifndef SCPS_TTCP_ECHO_H
#define SCPS_TTCP_ECHO_H

#include <scps/conn.h>

struct ttcp_echo { /* State of option -e at the sender; all zeros before the first block is sent. */
    /* block that was sent and has not returned completely, in the input's buffer; NULL: the
     * connection is hollow (bytes are counted, not stored) */
    const uint8_t *block;
    size_t len, back; /* len: bytes of the block; back: bytes of it that have returned */
    scps_time began;
    uint64_t count, bytes; /* number of blocks and of bytes that have returned so far */
    scps_dur min, max, sum;
    /* true: the peer has returned a byte that differs from the byte sent at that position */
    bool differs;
    /* true: the peer closed the connection before it had sent back the whole block that this end
     * wrote last */
    bool ended;
};

/* Called at `now`, µs, before the sender writes a block of len bytes (at least 1): records that the
 * block is outstanding until the receiver has sent all of it back. block NULL: the connection is
 * hollow (--hollow: bytes are counted, not stored), so only the number of bytes is compared. */
void ttcp_echo_begin(struct ttcp_echo *e, const uint8_t *block, size_t len, scps_time now);
/* Returns true if the sender has written a block of which the receiver has not yet sent all bytes
 * back, so that the sender must not write the next one. */
static inline bool ttcp_echo_waits(const struct ttcp_echo *e)
{
    return e->back < e->len;
}
/* Reads the bytes that the receiver has sent back over connection c, and compares them with the
 * block that the sender wrote last (ttcp_echo_begin()). Returns 0; SCPS_ERR_INVAL if they differ,
 * or the peer has closed the connection before the whole block returned; or the error of the
 * read. */
int ttcp_echo_read(struct ttcp_echo *e, struct scps_conn *c, scps_time now);

#endif
