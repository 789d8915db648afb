/* SPDX-License-Identifier: MIT */
/* Runs the channel model in real time.
 *
 *   end a readable -> read a batch, with arrival times -> channel a2b --+
 *   end b readable -> read a batch, with arrival times -> channel b2a --+-> packets that are due
 *   timerfd: the earliest arrival --------------------------------------+   -> the other end
 *
 * The model computes when each packet arrives, and this file delivers the packet at that time. A
 * timerfd has a resolution of 1 µs, whereas libev's own timers have 1 ms; when a packet is read,
 * the timerfd is set again only if this packet has to arrive before the time for which the timerfd
 * is set. At most BATCH packets are read in a row, so that packets that are due do not wait behind
 * a flood of new ones. While no packet is on the way and there is nothing to read, the process
 * wakes only once in TICK.
 *
 * The lateness of a packet is the time at which it is passed to the kernel minus its arrival time
 * in the model: the emulator's own error, which the reports show. Most of it comes from the
 * scheduler, so the process asks for real-time scheduling at the lowest priority; the kernel keeps
 * a share of each second for other processes (sched_rt_runtime_us).
 *
 * The channel model counts a packet's time from the moment at which this program reads the packet.
 * The kernel does not tell how long the packet has waited in the device before, so a second timerfd
 * samples it: it expires once in TICK, and each expiry is handled as late as a packet that comes at
 * that moment is read.
 */
#include "scps_link/emu.h"
#include "scps_link/control.h"
#include "scps_link/report.h"

#include <scps/error.h>

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* largest number of packets read from a device, or delivered, before the event loop continues with
 * its other watchers (libev) */
#define BATCH 32
#define RETRY SCPS_MS(1)
/* interval at which it is measured how late packets are read, µs */
#define TICK SCPS_MS(10)

/* Returns the present time on the clock of the channel model: µs since the emulation began. The
 * times in the tables of the link's description (such as outages) count from the same moment. */
scps_time emu_now(const struct emu *e)
{
    return scps_sysclock_now() - e->start;
}

/* ---- output: functions that write packets to a device when their time of arrival has come ---- */

static void wake_at(struct emu *e, scps_time when)
{
    struct itimerspec it = {{0}};
    /* timerfd takes a value of 0 as "off", so an absolute time is set. If it has passed already,
     * the timer expires at once. */
    scps_time at = e->start + when;

    if (when >= e->armed)
        return;
    it.it_value.tv_sec = at / 1000000;
    it.it_value.tv_nsec = at % 1000000 * 1000;
    timerfd_settime(e->timer_fd, TFD_TIMER_ABSTIME, &it, NULL);
    e->armed = when;
}

static scps_time earliest(const struct emu *e)
{
    scps_time a = scps_channel_next(e->dir[0].ch), b = scps_channel_next(e->dir[1].ch);

    return a < b ? a : b;
}

/* Writes every packet whose arrival time in the channel model has passed (at most BATCH packets) to
 * the device of the end at which it arrives, in the order of the arrival times of both directions.
 * Then sets the timer for the next arrival. */
static void deliver(struct emu *e)
{
    for (unsigned n = 0; n < BATCH; n++) {
        struct link_dir *d =
            &e->dir[scps_channel_next(e->dir[1].ch) < scps_channel_next(e->dir[0].ch)];
        scps_time now = emu_now(e);
        struct scps_pkt pkt;
        int rc;

        if (e->retry > now || scps_channel_next(d->ch) > now)
            break;
        if (!scps_channel_peek(d->ch, now, &pkt))
            /* No packet has arrived: the channel only updated its own state at this time. */
            continue;
        rc = link_end_send(d->to, &pkt);
        if (rc == SCPS_ERR_AGAIN) {
            e->retry = now + RETRY;
            break;
        }
        if (rc != 0)
            d->undelivered++;
        late_add(&d->late, now - pkt.at);
        late_add(&d->late_now, now - pkt.at);
        scps_channel_pop(d->ch);
    }
    if (earliest(e) != SCPS_NEVER)
        wake_at(e, earliest(e) > e->retry ? earliest(e) : e->retry);
}

/* ---- input: functions that read packets from the devices ---- */

static void on_arrived(struct link_end *from, const struct scps_pkt *pkt)
{
    struct emu *e = from->ctx;
    int dir = from == &e->end[1];
    /* pkt->at is the time at which reading of a batch of packets began; this packet may have
     * arrived later, so the time is read again. */
    scps_time now = emu_now(e);

    /* The result is ignored: if there is no memory, the channel counts the packet as lost. */
    scps_channel_offer(e->dir[dir].ch, now, pkt);
}

static void on_readable(EV_P_ ev_io *w, int revents)
{
    struct emu *e = w->data;
    struct link_end *from = &e->end[w == &e->readable[1]];
    int rc = scps_io_read(&from->nif, scps_sysclock_now(), BATCH);

    (void)revents;
    if (rc < 0) {
        fprintf(stderr, "scps_link: device %s has gone: was it deleted?\n", link_end_device(from));
        e->failed = true;
        ev_break(EV_A_ EVBREAK_ALL);
        return;
    }
    deliver(e);
}

static void on_timer(EV_P_ ev_io *w, int revents)
{
    struct emu *e = w->data;
    uint64_t times;

    (void)loop;
    (void)revents;
    /* EAGAIN: after the timer had expired, and before this callback ran, the timer was set to a
     * later time. It will expire again then, so there is nothing to do now. */
    if (read(e->timer_fd, &times, sizeof times) < 0 && errno == EAGAIN)
        return;
    e->armed = SCPS_NEVER;
    deliver(e);
}

/* Adds to e->read_late how late each expiry of tick_fd is handled. While the process was stopped,
 * or waited for a processor, the timer has expired several times. */
static void on_tick(EV_P_ ev_io *w, int revents)
{
    struct emu *e = w->data;
    uint64_t times;

    (void)loop;
    (void)revents;
    if (read(e->tick_fd, &times, sizeof times) != sizeof times)
        return;
    for (scps_time now = emu_now(e); times > 0; times--) {
        e->ticked += TICK;
        late_add(&e->read_late, now - e->ticked);
    }
}

static void on_signal(EV_P_ ev_signal *w, int revents)
{
    (void)w;
    (void)revents;
    ev_break(EV_A_ EVBREAK_ALL);
}

static void on_end_time(EV_P_ ev_timer *w, int revents)
{
    (void)w;
    (void)revents;
    ev_break(EV_A_ EVBREAK_ALL);
}

static void on_interval(EV_P_ ev_timer *w, int revents)
{
    (void)loop;
    (void)revents;
    report_interval(w->data, stderr);
}

/* ---- functions that open, run and close the emulator ---- */

static bool ask_for_realtime(void)
{
    struct sched_param p = {.sched_priority = sched_get_priority_min(SCHED_FIFO)};

    return sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &p) == 0;
}

static scps_time epoch_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_REALTIME, &ts);
    return (scps_time)ts.tv_sec * 1000000 + ts.tv_nsec / 1000 - scps_sysclock_now();
}

static int same_mtu(const struct emu *e, char *msg)
{
    uint32_t a = e->end[0].nif.mtu, b = e->end[1].nif.mtu;

    if (a == b)
        return 0;
    snprintf(msg, LINK_MSGLEN,
             "the MTU of device %s is %u, that of %s %u: give --mtu N, which sets both",
             link_end_device(&e->end[0]), a, link_end_device(&e->end[1]), b);
    return -1;
}

int emu_open(struct emu *e, const struct link_options *o, char msg[LINK_MSGLEN])
{
    memset(e, 0, sizeof *e);
    e->o = o;
    e->armed = SCPS_NEVER;
    e->timer_fd = e->tick_fd = -1;
    e->epoch = epoch_now();
    for (int i = 0; i < 2; i++)
        e->end[i].ns = e->end[i].home = -1;
    /* The control socket is opened first, because two emulators that were started with the same
     * options most likely collide at it. */
    if (o->ctl && !(e->control = control_open(o->ctl, e, msg)))
        return -1;
    if (o->truth && !(e->truth = truth_open(o->truth, msg, LINK_MSGLEN)))
        return -1;
    for (int i = 0; i < 2; i++) {
        if (link_end_open(&e->end[i], &o->end[i], &o->end[!i], o->mtu, e->epoch, on_arrived, e,
                          msg) != 0)
            return -1;
        e->dir[i].to = &e->end[!i];
        e->dir[i].ch = scps_channel_new(&o->dir[i], (uint64_t)i, NULL);
        if (!e->dir[i].ch) {
            snprintf(msg, LINK_MSGLEN, "out of memory");
            return -1;
        }
    }
    if (same_mtu(e, msg) != 0)
        return -1;
    e->ev = ev_loop_new(EVFLAG_AUTO);
    e->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    e->tick_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (!e->ev || e->timer_fd < 0 || e->tick_fd < 0) {
        snprintf(msg, LINK_MSGLEN, "no event loop: %s", strerror(errno));
        return -1;
    }
    return 0;
}

/* Starts the timer that measures how late packets are read, which first expires TICK after
 * e->start. */
static void start_ticks(struct emu *e)
{
    scps_time first = e->start + TICK;
    struct itimerspec it = {
        .it_value = {.tv_sec = first / 1000000, .tv_nsec = first % 1000000 * 1000},
        .it_interval = {.tv_nsec = TICK * 1000},
    };

    timerfd_settime(e->tick_fd, TFD_TIMER_ABSTIME, &it, NULL);
    ev_io_init(&e->tick, on_tick, e->tick_fd, EV_READ);
    e->tick.data = e;
    ev_io_start(e->ev, &e->tick);
}

static void watch_devices(struct emu *e)
{
    for (int i = 0; i < 2; i++) {
        ev_io_init(&e->readable[i], on_readable, scps_io_fd(e->end[i].tun), EV_READ);
        e->readable[i].data = e;
        ev_io_start(e->ev, &e->readable[i]);
    }
    ev_io_init(&e->timer, on_timer, e->timer_fd, EV_READ);
    e->timer.data = e;
    /* Packets that are due are delivered before further ones are read. */
    ev_set_priority(&e->timer, EV_MAXPRI);
    ev_io_start(e->ev, &e->timer);
    ev_signal_init(&e->sigint, on_signal, SIGINT);
    ev_signal_init(&e->sigterm, on_signal, SIGTERM);
    ev_signal_start(e->ev, &e->sigint);
    ev_signal_start(e->ev, &e->sigterm);
    if (e->o->time) {
        ev_timer_init(&e->end_time, on_end_time, (double)e->o->time / 1e6, 0);
        ev_timer_start(e->ev, &e->end_time);
    }
    if (e->o->interval) {
        double every = (double)e->o->interval / 1e6;
        ev_timer_init(&e->interval, on_interval, every, every);
        e->interval.data = e;
        ev_timer_start(e->ev, &e->interval);
    }
    if (e->control)
        control_watch(e->control, e->ev);
}

void emu_run(struct emu *e)
{
    if (e->o->realtime)
        e->realtime = ask_for_realtime();
    e->start = e->last_line = scps_sysclock_now();
    for (int i = 0; e->truth && i < 2; i++)
        truth_watch(e->truth, e->dir[i].ch, i, e->epoch + e->start);
    watch_devices(e);
    start_ticks(e);
    if (!e->o->quiet)
        report_start(e, stderr);
    ev_run(e->ev, 0);
}

void emu_stop(struct emu *e)
{
    ev_break(e->ev, EVBREAK_ALL);
}

int emu_keep(struct emu *e, struct scps_link_tables *tables)
{
    struct scps_link_tables **v;

    if (!tables)
        return 0;
    v = realloc(e->tables, (e->ntables + 1) * sizeof *v);
    if (!v) {
        scps_link_tables_free(tables);
        return -1;
    }
    e->tables = v;
    e->tables[e->ntables++] = tables;
    return 0;
}

int emu_close(struct emu *e)
{
    char msg[LINK_MSGLEN];
    int rc = 0;

    control_close(e->control);
    if (truth_close(e->truth, msg, sizeof msg) != 0) {
        fprintf(stderr, "scps_link: %s\n", msg);
        rc = -1;
    }
    for (int i = 0; i < 2; i++) {
        if (link_end_close(&e->end[i], msg) != 0) {
            fprintf(stderr, "scps_link: %s\n", msg);
            rc = -1;
        }
        scps_channel_free(e->dir[i].ch);
    }
    for (size_t i = 0; i < e->ntables; i++)
        scps_link_tables_free(e->tables[i]);
    free(e->tables);
    if (e->timer_fd >= 0)
        close(e->timer_fd);
    if (e->tick_fd >= 0)
        close(e->tick_fd);
    if (e->ev)
        ev_loop_destroy(e->ev);
    return rc;
}
