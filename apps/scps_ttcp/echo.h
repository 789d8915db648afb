/* SPDX-License-Identifier: MIT */
/* -e: a block goes out and comes back before the next one is sent. The sender's side compares what
 * comes back and measures the time. */
#ifndef SCPS_TTCP_ECHO_H
#define SCPS_TTCP_ECHO_H

#include <scps/conn.h>

struct ttcp_echo {        /* A zeroed struct is ready for use. */
    const uint8_t *block; /* The block under way, lent until it has come back; NULL: hollow */
    size_t len, back;     /* len: bytes of the block; back: bytes of it that have returned */
    scps_time began;
    uint64_t count, bytes; /* blocks and bytes returned so far */
    scps_dur min, max, sum;
    bool differs; /* The byte behind the returned ones differs from the one sent */
    bool ended;   /* The peer closed while a block was outstanding */
};

/* A block of len > 0 bytes is about to be written. */
void ttcp_echo_begin(struct ttcp_echo *e, const uint8_t *block, size_t len, scps_time now);
/* Returns true while a block is outstanding. */
static inline bool ttcp_echo_waits(const struct ttcp_echo *e)
{
    return e->back < e->len;
}
/* Reads what has returned. Returns 0; SCPS_ERR_INVAL when it differs or the peer has closed; or the
 * error of the read. */
int ttcp_echo_read(struct ttcp_echo *e, struct scps_conn *c, scps_time now);

#endif
