/* SPDX-License-Identifier: MIT */
/* -e: a block goes out, comes back, and only then the next one leaves. The sender's side: is it the
 * same, and how long did it take. */
#ifndef SCPS_TTCP_ECHO_H
#define SCPS_TTCP_ECHO_H

#include <scps/conn.h>

struct ttcp_echo {        /* all zero is the beginning */
    const uint8_t *block; /* lent until it is back; NULL: hollow */
    size_t len, back;     /* bytes of it; of them returned */
    scps_time began;
    uint64_t count, bytes; /* blocks and bytes returned so far */
    scps_dur min, max, sum;
    bool differs; /* the byte behind these is another one */
    bool ended;   /* the peer closed with a block outstanding */
};

/* A block of len > 0 bytes is about to be written. */
void ttcp_echo_begin(struct ttcp_echo *e, const uint8_t *block, size_t len, scps_time now);
/* Is one outstanding? */
static inline bool ttcp_echo_waits(const struct ttcp_echo *e)
{
    return e->back < e->len;
}
/* Reads what has come. 0; SCPS_ERR_INVAL: it differs, or ended; or what reading says. */
int ttcp_echo_read(struct ttcp_echo *e, struct scps_conn *c, scps_time now);

#endif
