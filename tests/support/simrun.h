/* SPDX-License-Identifier: MIT */
/* One bulk transfer over one simulated link, with every packet it took: for the scenarios of
 * tests/sim. */
#ifndef SIMRUN_H
#define SIMRUN_H

#include <scps/conn.h>
#include <scps/sim.h>
#include <scps/traffic.h>

enum simrun_data {
    SIMRUN_PATTERN, /* data is the ttcp pattern, which the receiver checks byte by byte */
    SIMRUN_ZEROS,   /* data is zeros, which are stored, sent and checked */
    SIMRUN_HOLLOW   /* data is hollow: zeros that are not stored */
};

struct simrun_config {
    const char *link;  /* description of the link, for scps_link_parse() */
    const char *later; /* description of the link from later_at on; NULL: it does not change */
    scps_time later_at;
    uint64_t seed;
    uint64_t size;
    enum simrun_data data;
    const char *cc;   /* controller, for scps_cc_parse(); NULL: the default */
    uint64_t rate;    /* rate limit of the sender, bytes/s */
    uint32_t buffers; /* size of the buffers at both ends, bytes; 0: the default */
    uint32_t mtu;     /* MTU, bytes; 0: 1500 */
    bool v6;
    uint32_t record;                      /* length of a record, octets; 0: no records */
    bool snack;                           /* both ends offer SNACK, the long form too */
    bool bets;                            /* both ends offer best effort */
    bool compress;                        /* both ends offer header compression */
    scps_dur bets_timeout, bets_lifetime; /* bets_timeout and bets_lifetime, µs; 0: the defaults */
    uint8_t bets_retries;
    /* acknowledgement mode, in place of acknowledging every other segment */
    bool ack_every, ack_delayed;
    scps_dur ack_delay; /* longest wait of a delayed acknowledgement, µs; 0: the default */
    bool no_timestamps; /* do not offer timestamps (RFC 7323) */
    bool both_known;    /* first_window at each end is the size of the other end's receive buffer */
    uint64_t ack_budget;     /* ack_budget, bytes/s, framing counted */
    uint32_t ack_budget_pps; /* ack_budget_pps, packets/s */
    scps_time limit;         /* virtual time at which the run has failed, µs; 0: none */
    /* changes the configuration of both ends further; may be NULL */
    void (*tune)(struct scps_conn_config *);
};

struct simrun {
    /* time from the SYN to the acknowledgement of the sender's FIN, µs; -1: it was not
     * acknowledged */
    scps_time acked;
    scps_time delivered; /* time until the receiver has read the last byte, µs; -1: it has not */
    uint64_t received;
    uint64_t records, record_min, record_max, torn; /* records that the receiver read */
    /* best effort: holes that were reported to the receiver's application, and bytes missing in
     * them */
    uint64_t holes, missing;
    bool intact; /* every byte that is not in a hole arrived, as it was sent and at its position */
    int err;     /* SCPS_ERR_* of either end; 0: none */
    /* digest: hash over every packet sent or received by a host (time, end, direction, headers,
     * length); packets: their number */
    uint64_t digest, packets;
    uint32_t largest; /* of those packets, bytes from the IP header on */
    struct scps_link_config fwd, back;
    struct scps_link_stats there, here;
    struct scps_info sender, receiver;
    struct scps_stack_stats stack[2];
};

void simrun(const struct simrun_config *cfg, struct simrun *r);
/* Returns the time, µs, that the physical limit of the link allows for the run. */
scps_time simrun_limit(const struct simrun_config *cfg, const struct simrun *r);

#endif
