/* SPDX-License-Identifier: MIT */
/* The observer of a stack: exact moments for the sender, every note in words for -d, and --qlog. */
#ifndef SCPS_TTCP_WATCH_H
#define SCPS_TTCP_WATCH_H

#include "scps_ttcp/flow.h"

#include <stdio.h>

struct ttcp_watch {
    bool acked;               /* This stack has senders, which need the notes of acknowledgements */
    struct ttcp_end *senders; /* The first end that sends; NULL: none yet */
    FILE *debug;              /* -d; NULL */
    char role;                /* 't' or 'r' */
    scps_time t0;             /* Time 0 of the printed times */
    FILE *qlog_file;          /* --qlog; NULL */
    struct qlog *qlog;        /* The qlog, open from the first note on; NULL before */
    bool qlog_failed;
};

/* Opens the file of --qlog, if given. Returns false with the reason in r. */
bool ttcp_watch_qlog(struct ttcp_watch *w, const struct ttcp_options *o, struct ttcp_result *r);
/* Ends the qlog; r says if part of it could not be written. */
void ttcp_watch_close(struct ttcp_watch *w, const struct ttcp_options *o, struct ttcp_result *r);

/* An observer that asks for no more notes than w needs. w must outlive the stack. */
struct scps_observer ttcp_watch_observer(struct ttcp_watch *w);

#endif
