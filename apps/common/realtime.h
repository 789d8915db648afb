/* SPDX-License-Identifier: MIT */
/* Functions for scps_echo and scps_httpd: open a stack in real time on the interface that the user
 * chose, and run its event loop until SIGINT or SIGTERM. */
#ifndef SCPS_COMMON_REALTIME_H
#define SCPS_COMMON_REALTIME_H

#include <errno.h>
#include <ev.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/late_signal.h"

#include <scps/io.h>
#include <scps/scps.h>

struct realtime {
    struct scps_stack *stack;
    struct scps_loop *loop;
    struct scps_netif *dev;
    ev_signal sig[2];
    scps_time began;
    bool interrupted;
    /* true: the link layer (such as PPP) was not open within the time scps_ifopts.patience */
    bool late;
};

static inline void realtime_signal(EV_P_ ev_signal *w, int revents)
{
    struct realtime *rt = w->data;
    (void)revents;
    (void)loop;
    rt->interrupted = true;
    scps_loop_stop(rt->loop);
}

/* Opens the network interface, the stack and the event loop of *rt, which must be zeroed. on_event
 * is called with ctx for each event of the stack. On failure prints one line on stderr that begins
 * with the program's name, and returns false. Call realtime_close() in either case. */
static inline bool
realtime_open(struct realtime *rt, const char *program, struct scps_ifopts *ifopts,
              void (*on_event)(struct scps_loop *, const struct scps_event *, void *), void *ctx)
{
    char msg[SCPS_IO_MSGLEN];
    int err;
    struct scps_stack_config sc = scps_stack_config_default();
    sc.now = rt->began = scps_sysclock_now();
    if (scps_entropy(sc.seed, sizeof sc.seed)) {
        fprintf(stderr, "%s: no random numbers: %s\n", program, strerror(errno));
        return false;
    }
    rt->stack = scps_stack_open(&sc, msg, sizeof msg);
    if (!rt->stack) {
        fprintf(stderr, "%s: cannot open the stack: %s\n", program, msg);
        return false;
    }
    rt->loop = scps_loop_new(NULL, rt->stack, on_event, ctx);
    if (!rt->loop) {
        fprintf(stderr, "%s: no memory or descriptor for the loop: close something\n", program);
        return false;
    }
    rt->dev = scps_ifopts_open(ifopts, msg);
    err = rt->dev ? scps_ifopts_attach(ifopts, rt->loop, rt->dev, msg) : SCPS_ERR_SYSTEM;
    if (err) {
        fprintf(stderr, "%s: %s\n", program, msg);
        rt->late = err == SCPS_ERR_TIMEDOUT;
        return false;
    }
    for (int i = 0; i < 2; i++) {
        ev_signal_init(&rt->sig[i], realtime_signal, i ? SIGTERM : SIGINT);
        rt->sig[i].data = rt;
        ev_signal_start(scps_loop_ev(rt->loop), &rt->sig[i]);
    }
    return true;
}

/* Returns true if connections can have configuration *c. Otherwise prints to stderr which field of
 * it is refused, after the program's name, and returns false. */
static inline bool realtime_takes(const char *program, const struct scps_conn_config *c)
{
    char msg[SCPS_IO_MSGLEN];

    if (scps_conn_config_check(c, msg, sizeof msg) == 0)
        return true;
    fprintf(stderr, "%s: the connections' configuration: %s\n", program, msg);
    return false;
}

/* Runs the event loop until SIGINT, SIGTERM or scps_loop_stop(), at most for `time` after the
 * start, µs; 0: no limit. */
static inline void realtime_run(struct realtime *rt, scps_dur time)
{
    scps_loop_run(rt->loop, time ? rt->began + time : SCPS_NEVER);
}

/* Returns the reason, with a remedy, why the last device of the loop has gone. */
static inline const char *realtime_lost(const struct realtime *rt, bool server)
{
    const char *trouble = scps_ifopts_trouble(rt->dev);
    static char text[200];

    if (!trouble)
        return "the device has vanished: was it deleted?";
    snprintf(text, sizeof text, "the PPP link is over: %s%s", trouble,
             server ? ": a server waits for the next peer with --ppp DEVICE,passive" : "");
    return text;
}

/* Closes what realtime_open() opened. SIGINT and SIGTERM no longer have an effect on the exit
 * status, except that a second one of these signals ends the program at once. */
static inline void realtime_close(struct realtime *rt)
{
    if (rt->loop)
        late_signal_after(scps_loop_ev(rt->loop), &rt->sig[0], &rt->sig[1], late_signal_ignore);
    scps_loop_free(rt->loop);
    if (rt->stack)
        scps_stack_free(rt->stack);
    if (rt->dev)
        scps_netif_close(rt->dev);
}

/* Parses the value of the option --time, a number of seconds or a number with a unit, into *out,
 * µs. Returns false if s is neither. */
static inline bool realtime_seconds(const char *s, scps_dur *out)
{
    static const struct {
        const char *name;
        double us;
    } units[] = {{"", 1e6}, {"us", 1}, {"ms", 1e3}, {"s", 1e6}, {"min", 6e7}, {"h", 3.6e9}};
    char *end;
    double v = strtod(s, &end), us = 0;

    for (size_t i = 0; end != s && !strpbrk(s, "xX") && i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].name) == 0)
            us = v * units[i].us;
    if (!(us >= 1 && us < 1e15))
        return false;
    *out = (scps_dur)us;
    return true;
}

#endif
