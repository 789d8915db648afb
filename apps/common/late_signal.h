/* SPDX-License-Identifier: MIT */
/* SIGINT and SIGTERM between the end of a run and the end of the program, while devices are closed
 * (which takes milliseconds for a TUN device) and the report is written. libev restores the default
 * action of a signal when its watcher stops, which would end the program without its report. */
#ifndef SCPS_COMMON_LATE_SIGNAL_H
#define SCPS_COMMON_LATE_SIGNAL_H

#include <ev.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

/* From now on the first SIGINT and the first SIGTERM call handler, and the next one has its default
 * action again, so that a program whose report cannot be written (to a pipe that nobody reads, for
 * example) can still be ended. System calls that a signal interrupts are restarted, also those that
 * SIGHUP interrupts if hangup_init() has given it a handler. */
static inline void late_signal(void (*handler)(int))
{
    struct sigaction act;

    memset(&act, 0, sizeof act);
    act.sa_handler = handler;
    act.sa_flags = SA_RESTART | SA_RESETHAND;
    sigemptyset(&act.sa_mask);
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    if (sigaction(SIGHUP, NULL, &act) == 0 && act.sa_handler != SIG_DFL &&
        act.sa_handler != SIG_IGN) {
        act.sa_flags |= SA_RESTART;
        sigaction(SIGHUP, &act, NULL);
    }
}

/* Handler for late_signal() that does nothing: the first signal has no effect. */
static inline void late_signal_ignore(int number)
{
    (void)number;
}

/* Stops the watchers of SIGINT and SIGTERM in ev and calls late_signal(handler). Both signals are
 * blocked meanwhile, so that neither meets the default action in between. */
static inline void late_signal_after(struct ev_loop *ev, ev_signal *sigint, ev_signal *sigterm,
                                     void (*handler)(int))
{
    sigset_t both, old;

    sigemptyset(&both);
    sigaddset(&both, SIGINT);
    sigaddset(&both, SIGTERM);
    sigprocmask(SIG_BLOCK, &both, &old);
    ev_signal_stop(ev, sigint);
    ev_signal_stop(ev, sigterm);
    late_signal(handler);
    sigprocmask(SIG_SETMASK, &old, NULL);
}

#endif
