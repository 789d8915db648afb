/* SPDX-License-Identifier: MIT */
/* One run of a cell: its links and flows in a world of their own, in virtual time. */
#ifndef SCPS_LAB_JOB_H
#define SCPS_LAB_JOB_H

#include "common/setup.h"

/* What became of one flow. A copy is a flow of its own. */
struct lab_outcome {
    const struct lab_flow *flow;
    char name[LAB_NAME + 8]; /* NAME, or NAME.2 when there are copies */
    char status[24];         /* "ok", "timeout", or the error that ended it ("reset") */
    scps_time start,
        /* Times that the measure begins and ends: the first SYN, and the acknowledgement of the FIN
         * or the end of the run */
        end;
    uint64_t bytes; /* delivered to the receiver by then */
    uint64_t missing, records,
        /* Best effort: whole records delivered by then, and records with holes */
        torn;
    struct scps_info info; /* What scps_conn_info() of the sender said at that moment */
};
struct lab_result {
    struct lab_outcome *flow;
    size_t n;
    struct scps_link_stats (*link)[2]; /* each link's directions, at the end */
    scps_time end;
};
/* What else to do with a run; every member may be NULL or 0. */
struct lab_watch {
    const char *pcap; /* Capture of the first link, at its end a; NULL: none */
    const char *qlog; /* Prefix of the qlog files, one for each flow's sender: QLOG-FLOW.qlog */
    void *ctx;        /* for the functions */
    /* Called for each note of the kinds in note_mask (1 << kind) */
    void (*on_note)(void *ctx, const char *host, const struct scps_note *n);
    uint64_t note_mask;
    /* Called for what became of each packet of the first link; dir 0: from a to b */
    void (*on_verdict)(void *ctx, int dir, const struct scps_verdict *v);
    /* Called each `every` µs for each flow that has begun and not ended. received: by then, at the
     * receiver. */
    void (*on_sample)(void *ctx, scps_time now, const struct lab_outcome *o, uint64_t received,
                      const struct scps_info *i);
    scps_dur every;
    /* Called now and then, ten times a second or more often; false ends the run */
    bool (*go_on)(void *ctx);
    char msg[LAB_MSGLEN]; /* why lab_job returned false */
};

/* Runs the setup. Equal setups and seeds give equal results on every machine. Returns false when it
 * could not be set up, with the reason in w->msg. Call lab_result_free() in either case. */
bool lab_job(const struct lab_setup *s, uint64_t seed, struct lab_watch *w, struct lab_result *r);
void lab_result_free(struct lab_result *r);
/* The figure a flow is judged by, in Mbit/s: its bytes over the time of the measure. 0 unless the
 * status is "ok". */
double lab_goodput(const struct lab_outcome *o);
/* Returns the packets that a direction lost, for whatever reason. */
uint64_t lab_dropped(const struct scps_link_stats *l);

#endif
