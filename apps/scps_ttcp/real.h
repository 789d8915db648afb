/* SPDX-License-Identifier: MIT */
/* One end of a transfer in real time: its state, which real_open.c initialises, run_real.c uses
 * and real_finish.c evaluates at the end. */
#ifndef SCPS_TTCP_REAL_H
#define SCPS_TTCP_REAL_H

#include "scps_ttcp/flow.h"
#include "scps_ttcp/progress.h"
#include "scps_ttcp/run.h"
#include "scps_ttcp/watch.h"

#include <scps/io.h>

#include <ev.h>

struct ttcp_real {
    const struct ttcp_options *o;
    struct ttcp_result *r;
    struct scps_stack *st;
    struct scps_loop *loop;
    struct scps_netif *top, *tap;
    bool sends; /* true: this end sends (-t) */
    /* array of flows: first one for each connection; with --bidir, behind these, one more for each
     * connection, for the data in the opposite direction */
    struct ttcp_flow *flow;
    size_t n_flows;
    struct ttcp_end *end; /* array with this process's end of each connection */
    /* number of connections that this end has accepted so far; 0 at the end that connects */
    size_t came;
    struct ttcp_watch watch;
    struct ttcp_progress progress;
    scps_time started; /* time at which the device was opened, µs; --timeout counts from here */
    scps_time t0;      /* time 0 of the transfer: the first SYN was sent or arrived, µs */
    bool begun;        /* true: t0 is valid */
    bool finished;
    ev_io input, output;
    ev_signal sigint, sigterm;
    ev_timer interval, stop_sending, give_up, tick, linger, more, later, look;
};

/* Returns true if this end opens the connections, false if it listens for them. */
static inline bool ttcp_real_connects(const struct ttcp_real *x)
{
    return x->sends != x->o->reverse;
}

typedef void ttcp_real_event_fn(struct scps_loop *l, const struct scps_event *e, void *ctx);

/* Makes the flows (not for --server), and opens the device, the stack and its event loop, which
 * calls on_event with ctx for each event of the stack. Returns false, with the reason in x->r, on
 * failure. */
bool ttcp_real_open(struct ttcp_real *x, ttcp_real_event_fn *on_event, void *ctx);
/* Starts the transfer: opens the connections, or listens for them; with -u opens the datagram
 * endpoint. Returns false, with the reason in x->r, on failure. */
bool ttcp_real_begin(struct ttcp_real *x);
/* Listens at the address and port that the options give. backlog: largest number of connections
 * that wait to be accepted. Returns NULL, with the reason in x->r, on failure. */
struct scps_listener *ttcp_real_listen(struct ttcp_real *x, unsigned backlog);
/* At the end that listens: returns true if some, but not all, of the connections of -P have
 * arrived, and writes prefix and how many are missing to msg. Otherwise, and at the end that
 * connects, returns false with msg unchanged. */
bool ttcp_real_missing(const struct ttcp_real *x, const char *prefix, char msg[TTCP_MSGLEN]);
/* Returns the part of --timeout that is left since the device was opened, µs; 0: there is no
 * limit. */
scps_dur ttcp_real_time_left(const struct ttcp_real *x);
/* Returns the reason, in words, why the run did not end within --timeout: msg, or a constant. */
const char *ttcp_real_late(const struct ttcp_real *x, char msg[TTCP_MSGLEN]);

/* ---- functions in real_finish.c, which end a transfer ---- */

/* Returns true if every connection has closed. Connections that never arrived do not count. */
bool ttcp_real_over(const struct ttcp_real *x);
/* Ends an interval of the option --interval at now, µs, and prints its figures to standard error,
 * unless --json was given. Does nothing before the transfer has begun. */
void ttcp_real_interval(struct ttcp_real *x, scps_time now);
/* Ends the transfer: copies the figures of every flow, as the sender or receiver in this process
 * has them, to its result. Afterwards the process waits until the connections are closed; if the
 * transfer has failed, it resets them at once. why: error message; NULL if the outcome is
 * TTCP_DONE. */
void ttcp_real_finish(struct ttcp_real *x, enum ttcp_outcome outcome, const char *why);
/* Finishes each flow that is done; finishes the run when all flows are done or one has failed. */
void ttcp_real_finish_done(struct ttcp_real *x);

#endif
