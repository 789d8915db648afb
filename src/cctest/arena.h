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
    bool delayed;      /* strictly delayed acknowledgements (F0) */
    scps_dur detour;   /* so much longer is the round trip of flows 1, 3, 5 and 7; 0: as the rest */
    scps_time step_at; /* 0: nothing changes */
    const char *step;  /* in the words of scps_link_update, both directions */
    scps_time step_back; /* then this undoes it; 0: never */
    const char *back;
    /* what came of it */
    /* Bytes that have arrived in all, at each sample: also those above a hole, which an application
     * reads later, so that no span has more of them than the link carries in it. */
    uint64_t received[SCPS_CCT_FLOWS][SCPS_CCT_SAMPLES];
    uint64_t read[SCPS_CCT_SAMPLES];     /* bytes that the reader of flow 0 has got, in order */
    uint64_t wait_sum[SCPS_CCT_SAMPLES]; /* µs in the queue, of the packets of it */
    uint32_t waits[SCPS_CCT_SAMPLES], wait_ms[SCPS_CCT_WAITS]; /* packets; histogram from warm on */
    uint32_t offered[SCPS_CCT_SAMPLES], dropped[SCPS_CCT_SAMPLES];
    scps_time warm; /* the histogram begins here */
    unsigned samples;
};
/* 0; SCPS_ERR_NOMEM, or what the stack said of the controller. */
int scps_cct_arena(struct scps_cct_arena *a);
/* Bits a second of flow f between two times; every flow: f = n. */
double scps_cct_rate(const struct scps_cct_arena *a, unsigned f, scps_time from, scps_time to);
/* Bits a second that the reader of flow 0 got between two times: also what arrived before and
 * waited above a hole, so it can be more than the link carries. */
double scps_cct_read(const struct scps_cct_arena *a, scps_time from, scps_time to);
/* Mean wait in the queue, ms. */
double scps_cct_wait(const struct scps_cct_arena *a, scps_time from, scps_time to);
/* Lost of what was offered. */
double scps_cct_loss(const struct scps_cct_arena *a, scps_time from, scps_time to);
/* The wait that a part of the packets does not exceed, ms. */
double scps_cct_wait_quantile(const struct scps_cct_arena *a, double part);
/* The first time from `from` on at which flow f gets at least bps over `span`; SCPS_NEVER. */
scps_time scps_cct_when(const struct scps_cct_arena *a, unsigned f, scps_time from, scps_dur span,
                        double bps);

#endif
