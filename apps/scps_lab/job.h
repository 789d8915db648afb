/* SPDX-License-Identifier: MIT */
/* One run of a cell (a combination of swept values): its links and flows in a simulated world of
 * their own, in virtual time. */
#ifndef SCPS_LAB_JOB_H
#define SCPS_LAB_JOB_H

#include "common/setup.h"

/* The result of one flow. A flow that the scenario starts several times (key "copies") has one
 * result for each copy. */
struct lab_outcome {
    const struct lab_flow *flow;
    char name[LAB_NAME + 8]; /* name of the flow; NAME.2 for the second copy */
    char status[24]; /* how the flow ended: "ok", "timeout", or the error, such as "reset" */
    /* virtual times, µs, at which the measurement begins (the first SYN is sent) and ends (the FIN
     * is acknowledged, or the flow has failed or was ended) */
    scps_time start, end;
    /* bytes that the receiving application has read by the end of the measurement */
    uint64_t bytes;
    /* For a flow with best effort (SCPS-TP: the receiver skips data that does not arrive in time),
     * counts at the end of the measurement: bytes that the receiver skipped (missing); records that
     * it read without missing bytes (records) and with missing bytes (torn). */
    uint64_t missing, records, torn;
    struct scps_info info; /* scps_conn_info() of the sender at the end of the measurement */
};
struct lab_result {
    struct lab_outcome *flow;
    size_t n;
    /* For each link, the counters of its directions at the end of the run: [0] from end a to end b,
     * [1] from b to a. */
    struct scps_link_stats (*link)[2];
    scps_time end;
};
/* Outputs of a run besides its result. Each member may be NULL or 0, which means no such output. */
struct lab_watch {
    /* file to which the packets at end a of the first link are captured; NULL: none */
    const char *pcap;
    /* beginning of the names of qlog files, one for each flow's sender: QLOG-FLOW.qlog; NULL:
     * none */
    const char *qlog;
    void *ctx; /* first argument of the functions below */
    /* Called for each observer event of the hosts' stacks whose kind is in note_mask (bit 1 <<
     * kind). host: name of the host. */
    void (*on_note)(void *ctx, const char *host, const struct scps_note *n);
    uint64_t note_mask;
    /* Called for each packet that is sent over the first link of the scenario file, with its fate:
     * delivered, damaged or dropped. dir 0: from host a of the link to its host b; 1: from b to
     * a. */
    void (*on_verdict)(void *ctx, int dir, const struct scps_verdict *v);
    /* Called every `every` µs of virtual time for each flow that has begun and not ended. received:
     * bytes that the receiving application has read; i: state of the sender's connection. */
    void (*on_sample)(void *ctx, scps_time now, const struct lab_outcome *o, uint64_t received,
                      const struct scps_info *i);
    scps_dur every;
    /* Called about ten times a second of real time. The function returns true to continue, or false
     * to end the run. NULL: the run is never ended early. */
    bool (*go_on)(void *ctx);
    bool refused;         /* true: a file for output could not be opened, so nothing was run */
    char msg[LAB_MSGLEN]; /* reason why lab_job() returned false */
};

/* Runs one simulation of s, the links and flows of a cell (one combination of swept values). Equal
 * setups and seeds give equal results on every machine. Returns false, with the reason in w->msg,
 * if the run could not be set up, was stopped, or a file could not be written. Call
 * lab_result_free() in either case. */
bool lab_job(const struct lab_setup *s, uint64_t seed, struct lab_watch *w, struct lab_result *r);

/* ---- functions in result.c, which compute figures from a result ---- */

/* Frees the memory to which *r points, and sets *r to zeros. */
void lab_result_free(struct lab_result *r);
/* Returns the goodput of a flow, Mbit/s: o->bytes divided by the time from o->start to o->end; 0 if
 * the flow failed (its status is not "ok"). */
double lab_goodput(const struct lab_outcome *o);
/* Returns how many packets one direction of a link has dropped: by errors, full queues and outages
 * together. */
uint64_t lab_dropped(const struct scps_link_stats *l);

#endif
