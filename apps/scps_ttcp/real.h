/* SPDX-License-Identifier: MIT */
/* One end of a transfer in real time: its state, which real_open.c initialises and run_real.c
 * uses. */
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
    /* one flow for each connection; with --bidir those of the other direction follow */
    struct ttcp_flow *flow;
    size_t n_flows;
    struct ttcp_end *end; /* array of this end of each connection */
    /* number of connections that this end has accepted so far; 0 at the end that connects */
    size_t came;
    struct ttcp_watch watch;
    struct ttcp_progress progress;
    scps_time started; /* time at which the device was opened, µs; --timeout counts from here */
    scps_time t0;      /* time at which the SYN was sent or arrived, µs */
    bool begun;        /* true: t0 is valid */
    bool finished;
    ev_io input, output;
    ev_signal sigint, sigterm;
    ev_timer interval, stop_sending, give_up, tick, linger, more, later, look;
};

/* Returns true if this end connects, false if it listens. */
static inline bool ttcp_real_connects(const struct ttcp_real *x)
{
    return x->sends != x->o->reverse;
}

typedef void ttcp_real_event_fn(struct scps_loop *l, const struct scps_event *e, void *ctx);

/* Makes the flows (not for --server), opens the device, the stack and its loop, which calls
 * on_event with x for the stack's events. Returns false, with the reason in x->r, on failure. */
bool ttcp_real_open(struct ttcp_real *x, ttcp_real_event_fn *on_event, void *ctx);
/* Connects or listens; with -u opens the datagram endpoint. Returns false, with the reason in x->r,
 * on failure. */
bool ttcp_real_begin(struct ttcp_real *x);
/* Listens at the port that the options give. Returns NULL, with the reason in x->r, on failure. */
struct scps_listener *ttcp_real_listen(struct ttcp_real *x, unsigned backlog);
/* Returns true if some, but not all, of the connections of -P have arrived, and writes that to msg,
 * behind prefix. Otherwise, and at the end that connects, returns false with msg unchanged. */
bool ttcp_real_missing(const struct ttcp_real *x, const char *prefix, char msg[TTCP_MSGLEN]);
/* Returns the part of --timeout that is left after the link was opened, µs; 0: there is no
 * limit. */
scps_dur ttcp_real_time_left(const struct ttcp_real *x);
/* Returns the reason, in words, why the run did not end within --timeout: msg, or a constant. */
const char *ttcp_real_late(const struct ttcp_real *x, char msg[TTCP_MSGLEN]);

#endif
