/* SPDX-License-Identifier: MIT */
/* Sizes of a connection's rings and lists in a stack with fixed memory
 * (scps_stack_config.fixed_memory), where they have their largest size from the beginning. */
#ifndef SCPS_CORE_FIXED_H
#define SCPS_CORE_FIXED_H

#include <scps/conn.h>

struct scps_fixed {
    /* upper limits of the configurations of all connections, with every default filled in */
    struct scps_conn_config most;
    /* largest value that the setting mss of a connection may have: payload and TCP options of a
     * full segment, bytes */
    uint32_t mss;
    /* sizes of the rings of the send and the receive buffer, bytes, powers of two; 0: the buffer
     * counts bytes and stores none */
    uint32_t sndring, rcvring;
    /* slack of the send buffer, bytes: room for the largest segment that crosses its end */
    uint32_t slack;
    /* number of segments in flight for which the scoreboard has room, a power of two */
    uint32_t sent;
    /* largest number of ranges of out-of-order data (received, with octets missing before it) that
     * a connection can store */
    uint32_t holes;
    /* largest number of ends of application records that a connection can store in each direction;
     * 0: no connection marks records */
    uint32_t marks;
    /* largest number of ranges in the list of data that the sender has given up instead of
     * resending it, as best effort permits; 0: no connection offers best effort */
    uint32_t given_up;
};

/* Computes the sizes in *f, so that each connection whose configuration does not exceed c
 * (scps_fixed_allows()) has enough memory. Precondition: scps_config_resolve() has replaced each 0
 * in c that stands for a default. */
void scps_fixed_init(struct scps_fixed *f, const struct scps_conn_config *c);
/* In a stack with fixed memory: returns true if a connection with configuration c fits into the
 * memory that f provides for each connection. Its sndbuf, rcvbuf, mss, records, bets and compress
 * must not exceed those of f, its controller's state must have the same size as that of f->most,
 * and it may store octets (not be hollow) or use snack_delay only if f->most does. Precondition:
 * scps_config_resolve() has replaced each 0 in c that stands for a default. */
bool scps_fixed_allows(const struct scps_fixed *f, const struct scps_conn_config *c);

#endif
