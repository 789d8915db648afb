/* SPDX-License-Identifier: MIT */
/* The link emulator: two ends with a TUN device each, a channel (simulated link direction) each
 * way, and the event loop that delivers packets at the times that the channels compute. */
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
    /* number of packets that the kernel refused to take from the emulator (for any reason but a
     * full queue) */
    uint64_t undelivered;
    /* counters of this direction at the time at which --interval last printed a line */
    struct scps_link_stats last;
};

struct emu {
    const struct link_options *o;
    struct link_end end[2];
    /* channel and state of the two directions: [0] from end a to end b, [1] from b to a */
    struct link_dir dir[2];
    struct truth *truth;
    /* memory of the tables (such as times of outages) of the initial link configuration and of all
     * later changes; the configurations of the channels point into it */
    struct scps_link_tables **tables;
    size_t ntables;
    struct control *control;
    struct ev_loop *ev;
    int timer_fd;
    /* time, µs since the start of the emulation (emu_now()), at which timer_fd will wake the event
     * loop to deliver packets; SCPS_NEVER: the timer is not set */
    scps_time armed;
    /* time, µs since the start of the emulation, before which no packet is delivered, because the
     * queue of a device was full at the last attempt */
    scps_time retry;
    /* timer that samples how long packets wait in a device until they are read; ticked: the time,
     * µs since the start, of its last expiry that was handled; read_late: how late the expiries
     * were handled */
    int tick_fd;
    scps_time ticked;
    struct late read_late;
    scps_time start, last_line;
    scps_time epoch; /* wall-clock time minus the monotonic clock, µs */
    bool realtime;   /* true: the kernel has granted real-time scheduling */
    bool failed;
    ev_io readable[2], timer, tick;
    ev_signal sigint, sigterm;
    ev_timer interval, end_time;
};

/* Opens what the emulator needs: the TUN devices of the two ends of the emulated link, a channel
 * (simulated link direction) each way, the control socket (--ctl) and the ground-truth log
 * (--truth). Returns 0, or -1 with one line in msg; call emu_close() in either case. */
int emu_open(struct emu *e, const struct link_options *o, char msg[LINK_MSGLEN]);
/* Runs the emulator until the time of the option --time has passed, SIGINT or SIGTERM comes, a
 * client sends the command stop, or a device fails. After a failure of a device e->failed is true,
 * and a message was printed. */
void emu_run(struct emu *e);
void emu_stop(struct emu *e);
/* Returns the present time for the channels, µs since the start of the emulation. */
scps_time emu_now(const struct emu *e);
/* Takes ownership of the tables of a link configuration (NULL: none): emu_close() frees them.
 * Returns 0. If there is no memory, frees the tables at once and returns -1. */
int emu_keep(struct emu *e, struct scps_link_tables *tables);
/* Closes the emulator, its ground-truth log and its captures. Returns 0; or -1, after a message, if
 * a part of the log or of a capture could not be written. */
int emu_close(struct emu *e);

#endif
