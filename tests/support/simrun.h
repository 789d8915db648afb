/* SPDX-License-Identifier: MIT */
/* One bulk transfer over one simulated link, with every packet it took: for the scenarios of
 * tests/sim. */
#ifndef SIMRUN_H
#define SIMRUN_H

#include <scps/conn.h>
#include <scps/sim.h>
#include <scps/traffic.h>

enum simrun_data {
    SIMRUN_PATTERN, /* the ttcp pattern, checked byte by byte where it arrives */
    SIMRUN_ZEROS,   /* zeros that are stored, sent and checked */
    SIMRUN_HOLLOW   /* zeros that are not there */
};

struct simrun_config {
    const char *link; /* as scps_link_parse reads it */
    uint64_t seed;
    uint64_t size;
    enum simrun_data data;
    const char *cc;   /* as scps_cc_parse reads it; NULL: the default */
    uint64_t rate;    /* bytes/s */
    uint32_t buffers; /* both ends; 0: the default */
    uint32_t mtu;     /* 0: 1500 */
    bool v6;
    uint32_t record;                      /* octets a record; 0: none */
    bool snack;                           /* offered by both, the long form too */
    bool bets;                            /* likewise best effort */
    bool compress;                        /* likewise compressed headers */
    scps_dur bets_timeout, bets_lifetime; /* 0: the defaults */
    uint8_t bets_retries;
    bool ack_every, ack_delayed; /* instead of every other segment */
    scps_dur ack_delay;          /* 0: the default */
    bool no_timestamps;          /* RFC 7323 off */
    bool both_known;             /* each end takes the other's buffer for granted (first_window) */
    uint64_t ack_budget;         /* bytes/s; framing counts */
    uint32_t ack_budget_pps;     /* packets/s */
    scps_time limit;             /* virtual time after which it has failed; 0: none */
    void (*tune)(struct scps_conn_config *); /* the rest of both ends' configuration; may be NULL */
};

struct simrun {
    scps_time acked;     /* from the SYN to the acknowledgement of the sender's FIN; -1: never */
    scps_time delivered; /* to the last byte, in the receiver's hands; -1: never */
    uint64_t received;
    uint64_t records, record_min, record_max, torn; /* as the receiver read them */
    uint64_t holes, missing;                        /* as it was told of them */
    bool intact; /* all of it but what is missing, each byte as it was sent and where it belongs */
    int err;     /* of either end */
    /* every packet leaving or reaching a host: time, end, direction, headers, length */
    uint64_t digest, packets;
    struct scps_link_config fwd, back;
    struct scps_link_stats there, here;
    struct scps_info sender, receiver;
    struct scps_stack_stats stack[2];
};

void simrun(const struct simrun_config *cfg, struct simrun *r);
/* The physical limit of the run as a time, µs. */
scps_time simrun_limit(const struct simrun_config *cfg, const struct simrun *r);

#endif
