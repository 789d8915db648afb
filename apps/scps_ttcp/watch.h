/* SPDX-License-Identifier: MIT */
/* The observer of a stack's events: the exact times of acknowledgements for the sender, each event
 * as a line of text for -d, and --qlog. */
#ifndef SCPS_TTCP_WATCH_H
#define SCPS_TTCP_WATCH_H

#include "scps_ttcp/flow.h"

#include <stdio.h>

struct ttcp_watch {
    /* true: this stack has senders, which need the observer events of acknowledgements */
    bool acked;
    struct ttcp_end *senders; /* list of the ends that send; NULL: there is none yet */
    FILE *debug;              /* -d: file to which the observer events are written; NULL: none */
    /* role of this stack's end in the transfer, which -d prints with each event: 't': transmitter
     * of the data; 'r': receiver */
    char role;
    scps_time t0;    /* time 0 of the printed times, µs */
    FILE *qlog_file; /* file of --qlog; NULL: none */
    /* the qlog, which is opened at the first observer event; NULL: not open yet */
    struct qlog *qlog;
    bool qlog_failed;
};

/* If --qlog was given, opens its file. Returns false, with the reason in r, on failure. */
bool ttcp_watch_qlog(struct ttcp_watch *w, const struct ttcp_options *o, struct ttcp_result *r);
/* Ends the qlog, if any; r gets an error if a part of it could not be written. */
void ttcp_watch_close(struct ttcp_watch *w, const struct ttcp_options *o, struct ttcp_result *r);

/* Returns an observer for a stack's configuration, which receives only the kinds of events that w
 * needs. w must stay valid as long as the stack. */
struct scps_observer ttcp_watch_observer(struct ttcp_watch *w);

#endif
