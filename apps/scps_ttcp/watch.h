/* SPDX-License-Identifier: MIT */
/* The observer of a stack: exact times for the sender, every note in words for -d, and --qlog. */
#ifndef SCPS_TTCP_WATCH_H
#define SCPS_TTCP_WATCH_H

#include "scps_ttcp/flow.h"

#include <stdio.h>

struct ttcp_watch {
    bool acked; /* true: this stack has senders, which need the notes of acknowledgements */
    struct ttcp_end *senders; /* list of the ends that send; NULL: there is none yet */
    FILE *debug;              /* -d: file to which the notes are written; NULL: none */
    char role;                /* role of the end: 't' or 'r' */
    scps_time t0;             /* time 0 of the printed times, µs */
    FILE *qlog_file;          /* file of --qlog; NULL: none */
    struct qlog *qlog;        /* the qlog, which is opened at the first note; NULL: not open yet */
    bool qlog_failed;
};

/* Opens the file of --qlog, if given. Returns false with the reason in r. */
bool ttcp_watch_qlog(struct ttcp_watch *w, const struct ttcp_options *o, struct ttcp_result *r);
/* Ends the qlog; the result r says if part of it could not be written. */
void ttcp_watch_close(struct ttcp_watch *w, const struct ttcp_options *o, struct ttcp_result *r);

/* Returns an observer that asks only for the notes that w needs. w must outlive the stack. */
struct scps_observer ttcp_watch_observer(struct ttcp_watch *w);

#endif
