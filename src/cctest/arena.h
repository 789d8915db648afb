/* SPDX-License-Identifier: MIT */
/* Runs whole TCP connections (flows) of this stack over one simulated link, and records every tenth
 * of a second what has arrived and how long packets waited in the queue of the link. */
#ifndef SCPS_CCTEST_ARENA_H
#define SCPS_CCTEST_ARENA_H

#include <scps/cctest.h>
#include <scps/sim.h>

enum { SCPS_CCT_FLOWS = 8, SCPS_CCT_SAMPLES = 1500, SCPS_CCT_WAITS = 4096 };
#define SCPS_CCT_EVERY SCPS_MS(100)

struct scps_cct_flow {
    const struct scps_cc_ops *ops;
    /* values of the controller's parameters, in the order of ops->params; NULL: the defaults */
    const int64_t *param;
    scps_time start;
};
struct scps_cct_arena {
    /* The caller sets the following fields before it calls scps_cct_arena(). */
    const char *link; /* description of the link, for scps_link_parse() */
    scps_dur time;
    struct scps_cct_flow flow[SCPS_CCT_FLOWS];
    unsigned n;
    /* true: receivers send an ACK only when the delayed-ACK timer expires (acknowledgement mode F0
     * of SCPS-TP) */
    bool delayed;
    /* time that is added to the round trip of the flows with index 1, 3, 5 and 7, µs; 0: none */
    scps_dur detour;
    scps_time step_at;   /* time at which the link changes, µs; 0: it does not */
    const char *step;    /* change of both directions of the link, as text for scps_link_update() */
    scps_time step_back; /* time at which the change `back` is made, µs; 0: none is made */
    const char *back;
    /* results of scps_cct_arena() */
    /* received[f][i]: bytes of flow f that have arrived at its receiver by sample time i, including
     * those above a gap in the sequence numbers, which the application reads later. So the
     * difference of two samples is never more than the link carries between both. */
    uint64_t received[SCPS_CCT_FLOWS][SCPS_CCT_SAMPLES];
    /* read[i]: bytes that the receiving application of flow 0 has read by sample time i, in
     * order */
    uint64_t read[SCPS_CCT_SAMPLES];
    /* wait_sum[i], waits[i]: of the packets that hosts put into the queue of the link between
     * sample times i and i + 1 and that were not lost: the sum of the times, µs, from being put
     * into the queue until the last bit was sent, and the number of these packets */
    uint64_t wait_sum[SCPS_CCT_SAMPLES];
    /* wait_ms[k]: number of packets for which that time was k ms, of all packets put into the queue
     * at the time `warm` or later; its last element also counts longer times */
    uint32_t waits[SCPS_CCT_SAMPLES], wait_ms[SCPS_CCT_WAITS];
    /* offered[i], dropped[i]: numbers of all packets, and of lost packets, that hosts put into the
     * queue of the link between sample times i and i + 1 */
    uint32_t offered[SCPS_CCT_SAMPLES], dropped[SCPS_CCT_SAMPLES];
    scps_time warm; /* time, µs, from which on packets are counted in the histogram wait_ms */
    unsigned samples;
};
/* Runs the flows of *a and fills in its results. Returns 0; SCPS_ERR_NOMEM, or the SCPS_ERR_* with
 * which the stack has refused a controller or its parameters. */
int scps_cct_arena(struct scps_cct_arena *a);
/* Returns the rate, bit/s, at which new octets of flow f (from 0) arrived at its receiver between
 * two times, µs; if f is a->n, the sum of all flows. */
double scps_cct_rate(const struct scps_cct_arena *a, unsigned f, scps_time from, scps_time to);
/* Returns the rate, bit/s, at which the receiving application of flow 0 read between two times, µs.
 * Bytes that arrived earlier, and waited because bytes before them were missing, count when they
 * are read, so the result can be higher than the rate of the link. */
double scps_cct_read(const struct scps_cct_arena *a, scps_time from, scps_time to);
/* Returns the mean time, ms, that packets spent in the queue and in transmission, until their last
 * bit was sent: the mean of the packets that were put into the queue between two times, µs, and not
 * lost. */
double scps_cct_wait(const struct scps_cct_arena *a, scps_time from, scps_time to);
/* Returns the share (0 to 1) of the packets offered to the link between two times, µs, that were
 * lost. */
double scps_cct_loss(const struct scps_cct_arena *a, scps_time from, scps_time to);
/* Returns a quantile of the histogram wait_ms: the time in queue and transmission, ms, that the
 * share `part` (0 to 1; 0.95 for the 95th percentile) of its packets does not exceed. */
double scps_cct_wait_quantile(const struct scps_cct_arena *a, double part);
/* Returns the first time from `from` on at which flow f has a rate of at least bps, bit/s, over the
 * time `span`; SCPS_NEVER: at no time. */
scps_time scps_cct_when(const struct scps_cct_arena *a, unsigned f, scps_time from, scps_dur span,
                        double bps);

#endif
