/* SPDX-License-Identifier: MIT */
/* The emulator: two ends, a channel each way, and the loop that delivers packets at their times. */
#ifndef SCPS_LINK_EMU_H
#define SCPS_LINK_EMU_H

#include "scps_link/delay_hist.h"
#include "scps_link/end.h"
#include "scps_link/truth.h"

#include <ev.h>

struct control;

struct link_dir {
    struct scps_channel *ch;
    struct link_end *to;
    /* Histograms of lateness: the time from the arrival that the channel model computed until the
     * packet was written to the device. late: all packets since the start; late_now: those since
     * the last line that --interval printed. */
    struct late late, late_now;
    uint64_t undelivered;        /* number of packets that the device refused to take */
    struct scps_link_stats last; /* counters of the link when --interval last printed a line */
};

struct emu {
    const struct link_options *o;
    struct link_end end[2];
    /* channel and state of the two directions: [0] from end a to end b, [1] from b to a */
    struct link_dir dir[2];
    struct truth *truth;
    /* the tables of all changes of the link so far; the channels use the latest */
    struct scps_link_tables **tables;
    size_t ntables;
    struct control *control;
    struct ev_loop *ev;
    int timer_fd;
    /* Time for which timer_fd is set, µs since the start; SCPS_NEVER: it is not set */
    scps_time armed;
    /* time before which nothing is sent, because a device was full, µs since the start */
    scps_time retry;
    scps_time start, last_line;
    scps_time epoch; /* wall-clock time minus the monotonic clock, µs */
    bool realtime;   /* true: the kernel has granted real-time scheduling */
    bool failed;
    ev_io readable[2], timer;
    ev_signal sigint, sigterm;
    ev_timer interval, end_time;
};

/* Opens both ends, the channels and the control socket. Returns 0, or -1 with one line in msg; call
 * emu_close() in either case. */
int emu_open(struct emu *e, const struct link_options *o, char msg[LINK_MSGLEN]);
/* Runs until the given time has passed, a signal, the command stop, or a failure, which has been
 * printed and sets e->failed. */
void emu_run(struct emu *e);
void emu_stop(struct emu *e);
/* Returns the time of the channels, µs since the start of the emulation. */
scps_time emu_now(const struct emu *e);
/* Takes ownership of tables, which may be NULL, and frees them together with the channels. Returns
 * 0, or -1 if memory is short; then the tables have been freed already. */
int emu_keep(struct emu *e, struct scps_link_tables *tables);
/* Ends the log and the captures. Returns 0, or -1 when part of them could not be written, which has
 * been printed. */
int emu_close(struct emu *e);

#endif
