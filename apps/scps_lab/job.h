/* SPDX-License-Identifier: MIT */
/* One run of a cell (a combination of swept values): its links and flows in a simulated world of
 * their own, in virtual time. */
#ifndef SCPS_LAB_JOB_H
#define SCPS_LAB_JOB_H

#include "common/setup.h"

/* The result of one flow. Each copy of a flow has a result of its own. */
struct lab_outcome {
    const struct lab_flow *flow;
    char name[LAB_NAME + 8]; /* name of the flow; NAME.2 for the second copy */
    char status[24]; /* how the flow ended: "ok", "timeout", or the error, such as "reset" */
    scps_time start,
        /* Times at which the measurement begins and ends, µs: the first SYN; the acknowledgement of
         * the FIN, or the end of the run */
        end;
    /* bytes that the receiving application has read by the end of the measurement */
    uint64_t bytes;
    uint64_t missing, records,
        /* Best effort: whole records that the receiver has read by the end of the measurement, and
         * records with holes */
        torn;
    struct scps_info info; /* scps_conn_info() of the sender at the end of the measurement */
};
struct lab_result {
    struct lab_outcome *flow;
    size_t n;
    /* counters of both directions of each link, at the end of the run */
    struct scps_link_stats (*link)[2];
    scps_time end;
};
/* Further outputs of a run; every member may be NULL or 0. */
struct lab_watch {
    const char *pcap; /* name of a capture file of the first link, at its end a; NULL: none */
    const char *qlog; /* Prefix of the qlog files, one for each flow's sender: QLOG-FLOW.qlog */
    void *ctx;        /* first argument of the functions below */
    /* Called for each observer event of the kinds in note_mask (bit 1 << kind). */
    void (*on_note)(void *ctx, const char *host, const struct scps_note *n);
    uint64_t note_mask;
    /* Called with the fate of each packet of the first link; dir 0: from a to b. */
    void (*on_verdict)(void *ctx, int dir, const struct scps_verdict *v);
    /* Called every `every` µs for each flow that has begun and not ended. received: bytes that its
     * receiver has got. */
    void (*on_sample)(void *ctx, scps_time now, const struct lab_outcome *o, uint64_t received,
                      const struct scps_info *i);
    scps_dur every;
    /* Called at least ten times a second of real time. Returns false to end the run. NULL: no
     * call. */
    bool (*go_on)(void *ctx);
    bool refused;         /* a file could not be opened, so nothing ran */
    char msg[LAB_MSGLEN]; /* reason why lab_job() returned false */
};

/* Runs the setup. Equal setups and seeds give equal results on every machine. Returns false when it
 * could not be set up, with the reason in w->msg. Call lab_result_free() in either case. */
bool lab_job(const struct lab_setup *s, uint64_t seed, struct lab_watch *w, struct lab_result *r);

/* ---- functions in result.c, which compute figures from a result ---- */

/* Frees the memory to which *r points, and sets *r to zeros. */
void lab_result_free(struct lab_result *r);
/* Returns the goodput of a flow, Mbit/s: its bytes divided by the time of the measurement. 0 unless
 * the status is "ok". */
double lab_goodput(const struct lab_outcome *o);
/* Returns how many packets a direction lost, for whatever reason. */
uint64_t lab_dropped(const struct scps_link_stats *l);

#endif
