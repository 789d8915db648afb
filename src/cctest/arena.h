/* SPDX-License-Identifier: MIT */
/* Whole connections of this stack over one simulated link, watched every tenth of a second. */
#ifndef SCPS_CCTEST_ARENA_H
#define SCPS_CCTEST_ARENA_H

#include <scps/cctest.h>
#include <scps/sim.h>

enum { SCPS_CCT_FLOWS = 8, SCPS_CCT_SAMPLES = 1500, SCPS_CCT_WAITS = 4096 };
#define SCPS_CCT_EVERY SCPS_MS(100)

struct scps_cct_flow {
    const struct scps_cc_ops *ops;
    const int64_t *param; /* NULL: the defaults */
    scps_time start;
};
struct scps_cct_arena {
    /* what is asked for */
    const char *link; /* in the words of scps_link_parse */
    scps_dur time;
    struct scps_cct_flow flow[SCPS_CCT_FLOWS];
    unsigned n;
    bool delayed;        /* strictly delayed acknowledgements (F0) */
    scps_dur detour;     /* extra round trip of flows 1, 3, 5 and 7, µs; 0: none */
    scps_time step_at;   /* 0: nothing changes */
    const char *step;    /* change of the link in the words of scps_link_update, both directions */
    scps_time step_back; /* time at which that change is undone; 0: never */
    const char *back;
    /* what came of it */
    /* Total bytes that have arrived at each sample time, also those above a hole, which an
     * application reads later. So no span shows more of them than the link carries in it. */
    uint64_t received[SCPS_CCT_FLOWS][SCPS_CCT_SAMPLES];
    uint64_t read[SCPS_CCT_SAMPLES];     /* bytes that the reader of flow 0 has read, in order */
    uint64_t wait_sum[SCPS_CCT_SAMPLES]; /* sum of the waits of all packets in the queue, µs */
    /* packets that waited; histogram of the waits from `warm` on, ms */
    uint32_t waits[SCPS_CCT_SAMPLES], wait_ms[SCPS_CCT_WAITS];
    uint32_t offered[SCPS_CCT_SAMPLES], dropped[SCPS_CCT_SAMPLES];
    scps_time warm; /* the histogram begins here */
    unsigned samples;
};
/* Runs the arena. Returns 0; SCPS_ERR_NOMEM, or the error with which the stack refused the
 * controller. */
int scps_cct_arena(struct scps_cct_arena *a);
/* Returns the rate of flow f between two times, bit/s; f = n: of all flows. */
double scps_cct_rate(const struct scps_cct_arena *a, unsigned f, scps_time from, scps_time to);
/* Returns the rate, bit/s, at which the reader of flow 0 read between two times. It includes
 * bytes that arrived before and waited above a hole, so it can be more than the link carries. */
double scps_cct_read(const struct scps_cct_arena *a, scps_time from, scps_time to);
/* Returns the mean wait in the queue, ms. */
double scps_cct_wait(const struct scps_cct_arena *a, scps_time from, scps_time to);
/* Returns the share of packets lost. */
double scps_cct_loss(const struct scps_cct_arena *a, scps_time from, scps_time to);
/* Returns the wait, ms, that a share of the packets does not exceed. */
double scps_cct_wait_quantile(const struct scps_cct_arena *a, double part);
/* Returns the first time from `from` on at which flow f reaches bps over `span`; SCPS_NEVER: at no
 * time. */
scps_time scps_cct_when(const struct scps_cct_arena *a, unsigned f, scps_time from, scps_dur span,
                        double bps);

#endif
