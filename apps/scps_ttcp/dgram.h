/* SPDX-License-Identifier: MIT */
/* -u: the two ends of a run of datagrams, as in ttcp.
 *
 *     guard | datagram | datagram | ... | datagram | guard guard guard guard
 *
 * A guard is a datagram of 4 octets or fewer: the first one starts the receiver's clock, the next
 * one stops it. This program's guards have four octets: "scps" before the data; behind it the
 * number of datagrams sent (modulo 2^32, network order), four times at intervals in case some are
 * lost. Other programs use only their length.
 *
 * With the pattern (-s), each datagram that has room for it begins with
 *
 *    0  "scpsttcp"
 *    8  its number, from 1                  both 64 bits, network order
 *   16  when it was sent, microseconds of the sender's clock
 *   24  the pattern for its place in the stream
 *
 * Data from standard input is sent unchanged.
 */
#ifndef SCPS_TTCP_DGRAM_H
#define SCPS_TTCP_DGRAM_H

#include "scps_ttcp/input.h"
#include "scps_ttcp/output.h"

#include <scps/dgram.h>

/* octets of the longest guard: a short datagram that the sender sends before or behind the data to
 * start or stop the receiver's clock */
#define TTCP_GUARD 4u
/* number of guard datagrams that the sender sends behind the data to mark its end; several, so that
 * at least one arrives */
#define TTCP_GUARDS 4u
#define TTCP_STAMP  24u
#define TTCP_DGRAM  65507u /* octets of the largest payload of a UDP datagram over IPv4 */
/* time, µs, between two of the TTCP_GUARDS guard datagrams with which the sender marks the end of
 * the data */
#define TTCP_APART SCPS_MS(100)
/* longest time, µs, for which the receiver still counts late data datagrams after the first guard
 * datagram behind the data (a short one with which the sender marks the end) has arrived */
#define TTCP_STRAGGLE SCPS_MS(500)
/* time, µs, without any datagram after which the receiver ends, because the guard datagrams, which
 * mark the end of the data, were lost or the sender has stopped */
#define TTCP_SILENCE SCPS_SEC(10)
/* number of datagram numbers, counted downwards from the highest one received, for which the
 * receiver records whether the datagram has arrived; it recognises duplicates only among these */
#define TTCP_WINDOW 65536u

/* Writes v to p as a number of `octets` octets in network byte order. */
static inline void ttcp_put(uint8_t *p, unsigned octets, uint64_t v)
{
    for (; octets > 0; v >>= 8)
        p[--octets] = (uint8_t)v;
}

static inline uint64_t ttcp_get(const uint8_t *p, unsigned octets)
{
    uint64_t v = 0;

    for (unsigned i = 0; i < octets; i++)
        v = v << 8 | p[i];
    return v;
}

/* Checksums of all datagrams sent, with which those that arrive are compared; only over a virtual
 * link, where both ends are in one process. at: index at which the next search begins. */
struct ttcp_sums {
    uint64_t *v; /* checksums of the datagrams, in the order in which they were sent */
    size_t n, cap, at;
};

struct ttcp_dsend {
    /* datagram endpoint of the sender; NULL: the run does not use datagrams */
    struct scps_dgram *dgram;
    struct ttcp_sums *sums; /* checksums of the datagrams sent; NULL: none are kept */
    /* input that was not sent yet: the next datagram, and what was read beyond it */
    uint8_t *buf;
    /* have: number of bytes in buf; len: length, bytes, of the datagram at the start of buf, which
     * waits because the stack's queue was full; 0: no datagram waits */
    size_t have, len;
    bool last;     /* true: the input has ended, so no more datagrams follow those in buf */
    uint64_t sent; /* number of datagrams sent, without guard datagrams */
    /* number of guard datagrams (the short ones that end the run) sent so far behind the data */
    unsigned guards;
    /* true: the guard datagram before the data, which starts the receiver's clock, has been sent */
    bool started;
    /* time, µs, of the last event SCPS_EV_DRAINED, by which the stack reports that it has sent all
     * datagrams of its send queue */
    scps_time left;
    /* time at which the sender has to run again even without an event, µs; SCPS_NEVER: none */
    scps_time next;
};

struct ttcp_drecv {
    struct scps_dgram *dgram;
    struct ttcp_sums *sums;
    uint8_t *buf;
    /* the rest of the last received datagram, rest_len bytes, which the output has not accepted
     * yet */
    const uint8_t *rest;
    size_t rest_len;
    /* begun: a datagram has arrived; ours: the sender is an scps_ttcp, as its guard datagrams show;
     * numbered: a datagram with a number has arrived; timed: one with its time of sending has
     * arrived, so `transit` is valid */
    bool begun, ours, numbered, timed;
    /* number of guard datagrams that have arrived behind the data: short datagrams with which the
     * sender marks the end of the data */
    unsigned guards;
    bool silent;  /* true: the run ended because nothing arrived for TTCP_SILENCE */
    bool differs; /* true: a datagram arrived whose content the sender never sent */
    /* number of data datagrams that the sender has sent, modulo 2^32, as its guard datagrams (the
     * short ones behind the data) report it; 0: unknown */
    uint64_t sent_by_peer;
    uint64_t packets, out_of_order, duplicates, highest;
    uint64_t seen[TTCP_WINDOW / 64];
    int64_t transit;
    uint64_t jitter; /* jitter estimate in sixteenths of a microsecond (RFC 3550 appendix A.8) */
    scps_time last;  /* arrival time of the newest datagram, µs */
    struct scps_endpoint peer, own; /* sender and receiver of the first datagram */
    scps_time next;
};

struct ttcp_sender;
struct ttcp_receiver;

/* Opens the sender's datagram endpoint, connected to `to`, with the local endpoint `own` (port 0:
 * any), and starts to send the input `in`. Returns 0, or an error (SCPS_ERR_*). */
int ttcp_dgram_send_start(struct ttcp_sender *s, struct ttcp_input *in, struct scps_stack *st,
                          const struct scps_endpoint *own, const struct scps_endpoint *to,
                          scps_time now);
void ttcp_dgram_send_run(struct ttcp_sender *s, scps_time now);
void ttcp_dgram_send_event(struct ttcp_sender *s, const struct scps_event *ev, scps_time now);
void ttcp_dgram_send_fini(struct ttcp_sender *s);

int ttcp_dgram_receive_start(struct ttcp_receiver *r, struct ttcp_output *out,
                             struct scps_stack *st, const struct scps_endpoint *at);
void ttcp_dgram_receive_run(struct ttcp_receiver *r, scps_time now);
void ttcp_dgram_receive_fini(struct ttcp_receiver *r);

/* Returns the checksum (64-bit FNV-1a hash) of a datagram of len octets at p, which struct
 * ttcp_sums stores. */
uint64_t ttcp_sum(const uint8_t *p, size_t len);
/* Returns how many data datagrams the sender has sent, as far as the receiver knows: the number in
 * a guard datagram (a short one with which the sender marks the end of the data); if none has
 * arrived, the highest datagram number received; 0: unknown. Never less than the number of
 * datagrams received, unless it is 0. */
uint64_t ttcp_dgram_expected(const struct ttcp_drecv *d);

#endif
