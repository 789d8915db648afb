/* SPDX-License-Identifier: MIT */
/* Handles SIGHUP, which the kernel sends when the program's terminal, or the remote login in which
 * it was started, has closed. */
#ifndef SCPS_COMMON_HANGUP_H
#define SCPS_COMMON_HANGUP_H

#include <signal.h>
#include <stddef.h>
#include <string.h>

static inline void hangup_terminates(int number)
{
    (void)number;
    raise(SIGTERM);
}

/* Called first in main. From then on SIGHUP has the effect of SIGTERM, so that a program which ends
 * with a report, a whole capture and a reset to its peer on SIGTERM does the same when its terminal
 * closes. A program that ignores SIGHUP, because nohup(1) started it, continues to do so. */
static inline void hangup_init(void)
{
    struct sigaction act;

    if (sigaction(SIGHUP, NULL, &act) != 0 || act.sa_handler != SIG_DFL)
        return;
    memset(&act, 0, sizeof act);
    act.sa_handler = hangup_terminates;
    sigemptyset(&act.sa_mask);
    sigaction(SIGHUP, &act, NULL);
}

#endif
