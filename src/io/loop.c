/* SPDX-License-Identifier: MIT */
/* The event loop in real time: libev waits, and scps_pump() runs the stack's timers and sends, as
 * it does in virtual time, too.
 *
 *   descriptor readable -> read a batch, one arrival time ->+
 *   timer                                                 ->+-> events -> on_event -> pump -> flush
 *   scps_loop_kick                                        ->+     ^_____________________|      |
 *                                                                   while there are any      sleep
 *
 * At most BATCH packets are read before output is sent, so that acknowledgements are sent while
 * many packets arrive. libev calls the reader again at once when more packets are waiting.
 *
 * The stack's deadlines are set on a timerfd: libev's own timers have the resolution of
 * epoll_wait(), a millisecond, whereas pacing needs microseconds. A system call sets the timerfd
 * again only when the deadline moves earlier. When the deadline moves later, the timerfd keeps the
 * old one: an iteration without work now and then costs less than a system call for every
 * acknowledgement that restarts the retransmission timer.
 *
 * A device that refused a packet is watched for writability, or is tried again after LATER, 1 ms,
 * if a write fails with ENOBUFS, because then its descriptor is reported as writable all the time.
 * A device that has vanished is removed from the stack.
 */
#include "io/iodev.h"
#include <scps/clock.h>

#include <errno.h>
#include <ev.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define BATCH 64 /* largest number of packets that are read from a device before output is sent */
/* largest number of rounds (passing events to the application, then scps_pump()) in one call,
 * before libev can call other watchers */
#define ROUNDS 16
#define LATER  SCPS_MS(1)
/* If the stack's deadline has passed by more than this, µs, the process is assumed to have been
 * stopped or not scheduled meanwhile (see catch_up()). */
#define STALL SCPS_MS(1)

struct port {
    struct port *next;
    struct scps_loop *loop;
    struct scps_iodev *dev;
    struct scps_netif *top;
    ev_io readable, writable;
    /* time at which a send is tried again after ENOBUFS, µs; SCPS_NEVER: no try is pending */
    scps_time retry;
    /* true: a filter between the stack and the device (such as PPP or Ethernet) has timers */
    bool timed;
};

struct scps_loop {
    struct ev_loop *ev;
    bool own_ev;
    struct scps_stack *st;
    void (*on_event)(struct scps_loop *l, const struct scps_event *e, void *ctx);
    void *ctx;
    struct scps_clock clock;
    int timer_fd;
    ev_io timer;
    scps_time armed; /* time for which timer_fd is set, µs; SCPS_NEVER: it is not set */
    scps_time wake;  /* time at which scps_pump() asked to be called again, µs */
    scps_time until;
    struct port *ports;
    bool turning, again, running, stop;
    int err;
};

/* ---- functions of the clock that is passed to scps_pump() ---- */

static scps_time clock_now(void *ctx)
{
    (void)ctx;
    return scps_sysclock_now();
}

static void clock_wake_at(void *ctx, scps_time when)
{
    ((struct scps_loop *)ctx)->wake = when;
}

static void arm(struct scps_loop *l)
{
    scps_time when = l->wake < l->until ? l->wake : l->until;
    for (const struct port *p = l->ports; p; p = p->next) {
        if (p->retry < when)
            when = p->retry;
        if (p->timed) {
            scps_time filters = scps_netif_deadline(p->top);
            when = filters < when ? filters : when;
        }
    }
    if (when >= l->armed)
        return;
    /* A value of zero would disarm the timer; a time in the past expires at once. */
    if (when < 1)
        when = 1;
    struct itimerspec it = {
        .it_value = {.tv_sec = when / 1000000, .tv_nsec = when % 1000000 * 1000}};
    timerfd_settime(l->timer_fd, TFD_TIMER_ABSTIME, &it, NULL);
    l->armed = when;
}

/* ---- functions of one iteration of the loop ---- */

static unsigned drain(struct scps_loop *l)
{
    struct scps_event e;
    unsigned n = 0;
    while (scps_stack_event(l->st, &e)) {
        n++;
        if (l->on_event)
            l->on_event(l, &e, l->ctx);
    }
    return n;
}

static void lose(struct scps_loop *l, struct port *p)
{
    ev_io_stop(l->ev, &p->readable);
    ev_io_stop(l->ev, &p->writable);
    l->err = p->dev->failed;
    scps_stack_remove_netif(l->st, p->top);
    for (struct port **at = &l->ports; *at; at = &(*at)->next)
        if (*at == p) {
            *at = p->next;
            break;
        }
    free(p);
}

/* Called after scps_pump(): sends the packets that the devices have collected, watches devices that
 * are full, and removes devices that have vanished. */
static void look_after(struct scps_loop *l)
{
    struct port *next;
    for (struct port *p = l->ports; p; p = next) {
        struct scps_iodev *d = p->dev;
        next = p->next;
        if (d->flush && !d->failed)
            d->flush(d);
        if (d->failed) {
            lose(l, p);
            /* The connections of the removed device now have error events, so one more round has to
             * pass these events to the application. */
            l->again = true;
            continue;
        }
        if (d->block == SCPS_IO_POLL)
            ev_io_start(l->ev, &p->writable);
        else if (d->block == SCPS_IO_LATER && p->retry == SCPS_NEVER)
            p->retry = scps_sysclock_now() + LATER;
    }
}

/* If the process did not run for a while, timers are overdue, and packets that would have stopped
 * them wait in the devices. So this function reads these packets first, at most ROUNDS batches from
 * each device. Otherwise a connection would time out, or retransmit, although the acknowledgements
 * have arrived. */
static void catch_up(struct scps_loop *l)
{
    if (scps_stack_deadline(l->st) >= scps_sysclock_now() - STALL)
        return;
    for (struct port *p = l->ports; p; p = p->next)
        for (unsigned i = 0; i < ROUNDS; i++)
            if (p->dev->failed || p->dev->read(p->dev, scps_sysclock_now(), BATCH) <= 0)
                break;
}

static void advance_filters(struct scps_loop *l)
{
    for (struct port *p = l->ports; p; p = p->next) {
        if (!p->timed)
            continue;
        scps_netif_advance(p->top, scps_sysclock_now());
        for (const struct scps_netif *n = p->top; n; n = n->lower)
            if (n->flags & SCPS_NETIF_GONE)
                p->dev->failed = SCPS_ERR_LINKDOWN;
    }
}

static void run_iteration(struct scps_loop *l)
{
    /* The application's on_event(), which an iteration has called, has asked for output by
     * scps_loop_kick(). No second iteration begins inside the first; the first calls scps_pump()
     * once more. */
    if (l->turning) {
        l->again = true;
        return;
    }
    l->turning = true;
    unsigned round = 0;
    catch_up(l);
    drain(l);
    do {
        l->again = false;
        advance_filters(l);
        scps_pump(l->st, &l->clock);
        look_after(l);
    } while ((drain(l) || l->again) && ++round < ROUNDS);
    if (round == ROUNDS)
        l->wake = scps_sysclock_now();
    l->turning = false;
    if (!l->ports && l->err)
        scps_loop_stop(l);
    arm(l);
}

static void free_again(struct port *p)
{
    p->dev->block = SCPS_IO_FREE;
    p->retry = SCPS_NEVER;
    scps_netif_ready(p->top);
}

static void on_timer(EV_P_ ev_io *w, int revents)
{
    (void)revents;
    struct scps_loop *l = w->data;
    uint64_t times;
    /* read() fails with EAGAIN if the timer expired but was set again before this call. */
    if (read(l->timer_fd, &times, sizeof times) < 0 && errno == EAGAIN)
        return;
    l->armed = SCPS_NEVER;
    scps_time now = scps_sysclock_now();
    for (struct port *p = l->ports; p; p = p->next)
        if (p->retry <= now)
            free_again(p);
    run_iteration(l);
    if (l->running && l->until <= now)
        ev_break(EV_A_ EVBREAK_ONE);
}

static void on_readable(EV_P_ ev_io *w, int revents)
{
    (void)loop;
    (void)revents;
    struct port *p = w->data;
    /* If read() fails, it sets p->dev->failed, and look_after() then removes the device. */
    p->dev->read(p->dev, scps_sysclock_now(), BATCH);
    run_iteration(p->loop);
}

static void on_writable(EV_P_ ev_io *w, int revents)
{
    (void)revents;
    struct port *p = w->data;
    ev_io_stop(EV_A_ w);
    free_again(p);
    run_iteration(p->loop);
}

/* ---- functions of the public interface ---- */

struct scps_loop *scps_loop_new(struct ev_loop *ev, struct scps_stack *st,
                                void (*on_event)(struct scps_loop *l, const struct scps_event *e,
                                                 void *ctx),
                                void *ctx)
{
    struct scps_loop *l;

    if (scps_stack_is_predictable(st)) {
        errno = EINVAL;
        return NULL;
    }
    l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->own_ev = !ev;
    l->ev = ev ? ev : ev_loop_new(EVFLAG_AUTO);
    l->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (!l->ev || l->timer_fd < 0) {
        if (l->timer_fd >= 0)
            close(l->timer_fd);
        if (l->own_ev && l->ev)
            ev_loop_destroy(l->ev);
        free(l);
        return NULL;
    }
    l->st = st;
    l->on_event = on_event;
    l->ctx = ctx;
    l->clock = (struct scps_clock){clock_now, clock_wake_at, l};
    l->armed = l->wake = l->until = SCPS_NEVER;
    ev_io_init(&l->timer, on_timer, l->timer_fd, EV_READ);
    l->timer.data = l;
    /* The timer has the highest priority, so that packets whose time has come are sent before more
     * input is read. */
    ev_set_priority(&l->timer, EV_MAXPRI);
    ev_io_start(l->ev, &l->timer);
    return l;
}

int scps_loop_add(struct scps_loop *l, struct scps_netif *top)
{
    struct scps_iodev *d = scps_iodev_of(top);
    if (!d)
        return SCPS_ERR_INVAL;
    struct port *p = calloc(1, sizeof *p);
    if (!p)
        return SCPS_ERR_NOMEM;
    for (const struct scps_netif *n = top; n; n = n->lower)
        p->timed = p->timed || (n->ops && n->ops->advance);
    /* A filter that has timers (such as PPP) may set its MTU in this call, so the call comes before
     * scps_stack_add_netif(), which checks the MTU. */
    if (p->timed)
        scps_netif_advance(top, scps_sysclock_now());
    int err = scps_stack_add_netif(l->st, top);
    if (err) {
        free(p);
        return err;
    }
    p->loop = l;
    p->dev = d;
    p->top = top;
    p->retry = SCPS_NEVER;
    ev_io_init(&p->readable, on_readable, d->fd, EV_READ);
    ev_io_init(&p->writable, on_writable, d->fd, EV_WRITE);
    p->readable.data = p->writable.data = p;
    ev_io_start(l->ev, &p->readable);
    p->next = l->ports;
    l->ports = p;
    return 0;
}

void scps_loop_kick(struct scps_loop *l)
{
    run_iteration(l);
}

void scps_loop_run(struct scps_loop *l, scps_time until)
{
    l->running = true;
    l->until = until;
    run_iteration(l);
    while (!l->stop && scps_sysclock_now() < until)
        ev_run(l->ev, EVRUN_ONCE);
    l->running = l->stop = false;
    l->until = SCPS_NEVER;
}

void scps_loop_stop(struct scps_loop *l)
{
    l->stop = true;
    if (l->running)
        ev_break(l->ev, EVBREAK_ONE);
}

struct ev_loop *scps_loop_ev(struct scps_loop *l)
{
    return l->ev;
}

struct scps_stack *scps_loop_stack(const struct scps_loop *l)
{
    return l->st;
}

int scps_loop_error(const struct scps_loop *l)
{
    return l->err;
}

/* Called when the loop is freed: gives a device that has refused a packet time, at most
 * SCPS_IO_DRAIN, to accept the packets that wait, above all the resets of aborted connections.
 * Connections that still send would keep the device full, so in the second half of that time
 * nothing new is sent. So there is room for the frames that closing the link afterwards may
 * send. */
static void let_go(struct scps_loop *l, struct port *p)
{
    struct scps_iodev *d = p->dev;

    while (d->block != SCPS_IO_FREE && scps_iodev_room(d)) {
        free_again(p);
        if (d->flush)
            d->flush(d);
        if (scps_sysclock_now() < d->wait_until - SCPS_IO_DRAIN / 2)
            scps_pump(l->st, &l->clock);
        if (d->flush)
            d->flush(d);
    }
}

void scps_loop_free(struct scps_loop *l)
{
    if (!l)
        return;
    for (struct port *p = l->ports; p; p = p->next)
        if (p->dev->block != SCPS_IO_FREE && !p->dev->failed)
            let_go(l, p);
    while (l->ports) {
        struct port *p = l->ports;
        l->ports = p->next;
        ev_io_stop(l->ev, &p->readable);
        ev_io_stop(l->ev, &p->writable);
        free(p);
    }
    ev_io_stop(l->ev, &l->timer);
    close(l->timer_fd);
    if (l->own_ev)
        ev_loop_destroy(l->ev);
    free(l);
}
