/* SPDX-License-Identifier: MIT */
/* What a host lends its connections: memory, the time, a heap of deadlines, queues. */
#ifndef SCPS_CORE_ENV_H
#define SCPS_CORE_ENV_H

#include <scps/alloc.h>
#include <scps/conn.h>
#include <scps/observe.h>

#include "base/budget.h"
#include "base/heap.h"
#include "base/rangeset.h"

struct scps_conn;
struct scps_marks;

struct scps_conn_stats { /* those of scps_info that nothing else tells */
    uint64_t segs_out, segs_in, data_segs_out, data_segs_in, bytes_sent, bytes_resent,
        bytes_duplicate;
    uint32_t resent_segs, timeouts, recoveries, spurious, dupacks_in, sacks_in, sacks_out,
        dsacks_in, dsacks_out, snacks_in, snacks_out, acks_out, acks_held, probes_out, ooo_segs,
        reordered, paws_drops, challenges, tlp_probes, zero_windows_in, zero_windows_out,
        ecn_echoes, cc_corrected;
    uint64_t max_cwnd;
    scps_time first_sent, first_received, last_sent, last_received, last_ack_received, fin_acked;
    scps_dur last_rtt;
    scps_time hold_since;
    scps_dur holds[SCPS_HOLD_COUNT];
    uint64_t records_out, records_in;
    uint32_t holes;                /* given up on the receiving side */
    uint64_t bytes_missing;        /* in them */
    uint64_t bytes_given_up;       /* by the sending side */
    struct scps_rangeset given_up; /* the ranges */
    struct scps_marks *marks;      /* NULL: the peer's stream had none */
};

/* What a host lends its connections. */
struct scps_env {
    struct scps_budget budget;     /* of all that follows */
    struct scps_alloc alloc;       /* up to the limit: for what cannot wait */
    struct scps_alloc alloc_later; /* for new connections and growing send buffers */
    struct scps_observer obs;
    scps_time now;
    uint64_t key[2]; /* secret */
    struct scps_heap deadlines;
    /* When connections that were refused memory are to try again; SCPS_NEVER: none was. */
    scps_time memory_at;
    struct scps_conn *ev_head, *ev_tail; /* connections with something to tell */
    struct scps_conn *dead; /* nobody owns them and they have ended: for the stack to free */
    uint32_t challenge_limit, challenge_left; /* RFC 5961 section 7, this second's */
    scps_time challenge_since;
    uint64_t challenges;
    uint64_t drops[SCPS_DROP_COUNT];
    struct scps_conn_stats
        nobody; /* where connections count that have carried no data yet: never read */
    /* A passive open has succeeded: the stack queues it for accept. */
    void (*established)(struct scps_env *env, struct scps_conn *c);
    /* An active one has, but not before capabilities were left out of the SYN. */
    void (*fell_back)(struct scps_env *env, const struct scps_conn *c);
};

#endif
