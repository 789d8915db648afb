/* SPDX-License-Identifier: MIT */
/* The emulator: two ends, a channel each way, and the loop that keeps their times. */
#ifndef SCPS_LINK_EMU_H
#define SCPS_LINK_EMU_H

#include "scps_link/end.h"
#include "scps_link/late.h"
#include "scps_link/truth.h"

#include <ev.h>

struct control;

struct link_dir {
    struct scps_channel *ch;
    struct link_end *to;
    struct late late, late_now;  /* since the start; since the last interval line */
    uint64_t undelivered;        /* the device would not take them */
    struct scps_link_stats last; /* at the last interval line */
};

struct emu {
    const struct link_options *o;
    struct link_end end[2];
    struct link_dir dir[2]; /* a to b, b to a */
    struct truth *truth;
    struct scps_link_tables **tables; /* of all changes: the channels point into the latest */
    size_t ntables;
    struct control *control;
    struct ev_loop *ev;
    int timer_fd;
    scps_time armed; /* what timer_fd is set to, since start; SCPS_NEVER: nothing */
    scps_time retry; /* a device was full: not before, since start */
    scps_time start, last_line;
    scps_time epoch; /* real time less the monotonic clock */
    bool realtime;   /* the scheduler granted it */
    bool failed;
    ev_io readable[2], timer;
    ev_signal sigint, sigterm;
    ev_timer interval, end_time;
};

/* Sets everything up. 0, or -1 with one line in msg; close it either way. */
int emu_open(struct emu *e, const struct link_options *o, char msg[LINK_MSGLEN]);
/* Until the time is over, a signal, stop, or a failure (then e->failed, and it has been said). */
void emu_run(struct emu *e);
void emu_stop(struct emu *e);
/* The channels' time: since the start. */
scps_time emu_now(const struct emu *e);
/* Takes tables (may be NULL), for as long as the channels live. 0, or -1 without memory: they are
 * freed. */
int emu_keep(struct emu *e, struct scps_link_tables *tables);
/* Ends the log and the captures. 0, or -1 when something of them could not be written, which has
 * been said. */
int emu_close(struct emu *e);

#endif
