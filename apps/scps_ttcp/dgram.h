/* SPDX-License-Identifier: MIT */
/* -u: the two ends of a run of datagrams, as ttcp has it.
 *
 *     guard | datagram | datagram | ... | datagram | guard guard guard guard
 *
 * A guard is a datagram of 4 octets or fewer: the first starts the receiver's clock, the next one
 * ends it. Ours have four octets: "scps" in front, the number of datagrams sent (modulo 2^32,
 * network order) behind, four times at intervals in case some are lost. Other programs look at
 * their length alone.
 *
 * Of the pattern (-s) each datagram that has room for it begins with
 *
 *      0  "scpsttcp"
 *      8  its number, from 1          both 64 bits, network order
 *     16  when it was sent, microseconds of the sender's clock
 *     24  the pattern as it stands there
 *
 * What is read from standard input is sent as it is.
 */
#ifndef SCPS_TTCP_DGRAM_H
#define SCPS_TTCP_DGRAM_H

#include "scps_ttcp/input.h"
#include "scps_ttcp/output.h"

#include <scps/dgram.h>

#define TTCP_GUARD  4u /* octets of the largest guard */
#define TTCP_GUARDS 4u /* behind the data */
#define TTCP_STAMP  24u
#define TTCP_DGRAM  65507u       /* octets of the largest datagram */
#define TTCP_APART  SCPS_MS(100) /* between guards */
#define TTCP_STRAGGLE                                                                              \
    SCPS_MS(500) /* so long after the first guard at the end datagrams still count */
#define TTCP_SILENCE SCPS_SEC(10) /* then the end was lost, or there will be none */
#define TTCP_WINDOW  65536u       /* numbers behind the highest of which each is remembered */

/* A number of so many octets, network order. */
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

/* What was sent, so that what arrives can be looked up: for both ends in one process. */
struct ttcp_sums {
    uint64_t *v; /* of each datagram, in order */
    size_t n, cap, at;
};

struct ttcp_dsend {
    struct scps_dgram *dgram; /* NULL: this is no run of datagrams */
    struct ttcp_sums *sums;   /* NULL: nobody asks */
    uint8_t *buf;             /* what is to leave: a datagram, and what was read beyond it */
    size_t have, len;         /* bytes in it; of them of the one that was refused, 0 none */
    bool last;                /* no more input */
    uint64_t sent;            /* datagrams, without guards */
    unsigned guards;          /* that have been sent behind them */
    bool started;             /* the one before them has */
    scps_time left;           /* when the queue was last empty */
    scps_time next;           /* to be run again then; SCPS_NEVER */
};

struct ttcp_drecv {
    struct scps_dgram *dgram;
    struct ttcp_sums *sums;
    uint8_t *buf;
    const uint8_t *rest; /* what the output has not taken yet */
    size_t rest_len;
    bool begun, ours /* the sender is one like this */, numbered, timed;
    unsigned guards; /* behind the data */
    bool silent;     /* ended for want of anything to hear */
    bool differs;    /* a datagram that was never sent so */
    uint64_t told;   /* how many the guards say were sent */
    uint64_t packets, out_of_order, duplicates, highest;
    uint64_t seen[TTCP_WINDOW / 64];
    int64_t transit;
    uint64_t jitter;                /* in sixteenths of a microsecond (RFC 3550 appendix A.8) */
    scps_time last;                 /* arrival of the newest */
    struct scps_endpoint peer, own; /* of the first */
    scps_time next;
};

struct ttcp_sender;
struct ttcp_receiver;

/* Opens the endpoint, connected to `to`, from own (port 0: any); sums as above. 0 or an error. */
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

/* Of a datagram, for ttcp_sums. */
uint64_t ttcp_sum(const uint8_t *p, size_t len);
/* How many were sent as far as the receiver can tell; 0: it cannot. */
uint64_t ttcp_dgram_expected(const struct ttcp_drecv *d);

#endif
