/* SPDX-License-Identifier: MIT */
/* UDP socket addresses of both families, and the table in which a tunnel without a remote endpoint
 * records behind which of them each inner IP address is. */
#ifndef SCPS_IO_UDPPEER_H
#define SCPS_IO_UDPPEER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include <scps/types.h>

#define SCPS_UDP_PEERS 64

union scps_udpsock {
    struct sockaddr sa;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
};

/* Returns the length of the address for the system's calls, bytes. */
socklen_t scps_udpsock_len(const union scps_udpsock *s);
bool scps_udpsock_equal(const union scps_udpsock *a, const union scps_udpsock *b);
/* Sets *s to endpoint e. family: 4 or 6, that of the socket; if e has no address, *s gets the
 * address of this family that is all zeros. */
void scps_udpsock_set(const struct scps_endpoint *e, uint8_t family, union scps_udpsock *s);

struct scps_udppeer {
    struct scps_addr inner; /* inner source address of packets from this peer */
    union scps_udpsock outer;
    /* value of the table's counter `heard` when the last packet of this peer arrived; if the table
     * is full, a new peer replaces the one with the smallest value */
    uint64_t heard;
};

/* The peers from which packets have come, with the inner address and the outer UDP endpoint of
 * each. All zeros: none has come. */
struct scps_udppeers {
    struct scps_udppeer peer[SCPS_UDP_PEERS];
    struct scps_udppeer *last; /* the peer of the last packet; NULL: none has come */
    uint64_t heard;            /* number of packets recorded so far */
};

/* Records that the IP packet of len bytes at p has come from the outer endpoint `from`. Bytes that
 * are no IP packet are ignored. */
void scps_udppeers_learn(struct scps_udppeers *t, const uint8_t *p, size_t len,
                         const union scps_udpsock *from);
/* Returns the outer endpoint for the IP packet at p, of which at least the header is in the len
 * bytes there: that of the last packet whose inner source was this packet's destination; if none
 * was, that of the last packet of all; NULL: no packet has come. The result is valid until the next
 * call of scps_udppeers_learn(). */
const union scps_udpsock *scps_udppeers_find(const struct scps_udppeers *t, const uint8_t *p,
                                             size_t len);

#endif
