/* SPDX-License-Identifier: MIT */
/* One end of a transfer, over TUN or IP in UDP, in real time.
 *
 * Everything happens in the libev loop of the stack, to which watchers for standard input, the
 * output, signals and the times of --time, --interval and --timeout are added. Input and output are
 * watched only while they are not ready. A large send buffer is filled in pieces, and packets are
 * sent and received between two pieces.
 */
#include "common/late_signal.h"
#include "scps_ttcp/real.h"

#include <scps/error.h>

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* Largest number of bytes that a sender writes before the event loop sends and receives packets
 * again; to write them takes about 0.2 ms. */
#define AT_ONCE (128u << 10)

/* not 0: SIGINT or SIGTERM came when the event loop had ended */
static volatile sig_atomic_t late;

static void on_late(int number)
{
    (void)number;
    late = 1;
}

/* Returns the time at which an end with datagrams (-u) must run again even if nothing arrives, µs;
 * SCPS_NEVER: none. */
static scps_time next_run(const struct ttcp_real *x)
{
    return !x->o->udp ? SCPS_NEVER : x->sends ? x->flow->sender.d.next : x->flow->receiver.d.next;
}

static void watch_while(struct ttcp_real *x, ev_io *w, bool waiting)
{
    if (waiting)
        ev_io_start(scps_loop_ev(x->loop), w);
    else
        ev_io_stop(scps_loop_ev(x->loop), w);
}

/* Called after each step of the transfer (an event of the stack, input that can be read, output
 * that can be written, a timer): decides whether the run is over, and which descriptors to
 * watch. */
static void check(struct ttcp_real *x)
{
    struct ev_loop *ev = scps_loop_ev(x->loop);

    if (!x->finished)
        ttcp_real_finish_done(x);
    else if (x->o->udp || ttcp_real_over(x))
        scps_loop_stop(x->loop);
    if (x->finished)
        return;
    for (size_t k = 0; k < x->n_flows; k++)
        if (x->flow[k].sender.more)
            ev_timer_start(ev, &x->more);
    /* Only the first flow may wait for a descriptor, because ttcp_options_parse() refuses runs with
     * several flows in which an end reads input from a descriptor or writes its output to one. */
    watch_while(x, &x->input, x->flow->sender.waiting);
    watch_while(x, &x->output, x->flow->receiver.waiting);
    if (next_run(x) != SCPS_NEVER) {
        ev_timer_stop(ev, &x->later);
        ev_timer_set(&x->later, (double)(next_run(x) - scps_sysclock_now()) / 1e6, 0);
        ev_timer_start(ev, &x->later);
    }
}

/* Starts the transfer's clock at the end that listens, and at both ends with -u. at: time 0 of the
 * clock, µs: the SYN of the first connection arrived; with -u, the first datagram arrived or is
 * about to be sent, normally the short "guard" datagram that the sender sends before the data. */
static void begin(struct ttcp_real *x, scps_time at)
{
    x->begun = true;
    x->t0 = x->watch.t0 = at;
    if (x->o->interval != 0)
        ev_timer_start(scps_loop_ev(x->loop), &x->interval);
}

static void run_datagrams(struct ttcp_real *x, const struct scps_event *e)
{
    scps_time now = scps_sysclock_now();
    struct ttcp_flow *f = x->flow;

    if (x->finished)
        return;
    if (!x->sends)
        ttcp_receiver_run(&f->receiver, now);
    else if (e != NULL)
        ttcp_sender_event(&f->sender, e, now);
    else
        ttcp_sender_run(&f->sender, now);
    if (!x->begun && !x->sends && f->receiver.d.begun)
        begin(x, f->receiver.opened);
    check(x);
}

static void require(struct ttcp_real *x, const struct scps_conn *c)
{
    if (!x->finished && !ttcp_result_require(x->r, c))
        /* ttcp_result_require() has set the outcome already, so TTCP_DONE does not replace it. */
        ttcp_real_finish(x, TTCP_DONE, NULL);
}

/* Passes each connection that has arrived to a struct ttcp_end that has none yet. Closes the
 * listener when all -P connections have arrived; the stack then answers further SYNs with
 * resets. */
static void on_accept(struct ttcp_real *x, struct scps_listener *l, scps_time now)
{
    struct scps_conn *c;

    while (x->came < x->o->streams && !x->finished && (c = scps_accept(l)) != NULL) {
        struct ttcp_end *e = &x->end[x->came++];

        scps_conn_set_user(c, e);
        ttcp_end_accept(e, c, now);
        if (!x->begun)
            begin(x, e->tx != NULL ? e->tx->syn : e->rx->opened);
        require(x, c);
    }
    if (x->came == x->o->streams)
        scps_listener_close(l);
}

static void on_event(struct scps_loop *l, const struct scps_event *e, void *ctx)
{
    struct ttcp_real *x = ctx;
    scps_time now = scps_sysclock_now();

    (void)l;
    if (e->dgram != NULL) {
        run_datagrams(x, e);
        return;
    }
    if (e->kind == SCPS_EV_ACCEPT)
        on_accept(x, e->listener, now);
    else if (e->conn != NULL && e->user != NULL)
        ttcp_end_event(e->user, e, now);
    if (e->kind == SCPS_EV_CONNECTED && e->conn != NULL)
        require(x, e->conn);
    check(x);
}

static void run_senders(struct ttcp_real *x)
{
    for (size_t k = 0; k < x->n_flows; k++)
        if (x->flow[k].r->has_tx)
            ttcp_sender_run(&x->flow[k].sender, scps_sysclock_now());
    check(x);
    scps_loop_kick(x->loop);
}

static void on_input(EV_P_ ev_io *w, int revents)
{
    (void)revents;
    ev_io_stop(EV_A_ w);
    run_senders(w->data);
}

static void on_more(EV_P_ ev_timer *w, int revents)
{
    (void)loop;
    (void)revents;
    run_senders(w->data);
}

static void on_output(EV_P_ ev_io *w, int revents)
{
    struct ttcp_real *x = w->data;

    (void)revents;
    ev_io_stop(EV_A_ w);
    ttcp_receiver_run(&x->flow->receiver, scps_sysclock_now());
    check(x);
    scps_loop_kick(x->loop);
}

static void on_interrupt(EV_P_ ev_signal *w, int revents)
{
    struct ttcp_real *x = w->data;
    char msg[TTCP_MSGLEN];

    (void)loop;
    (void)revents;
    /* If x->finished, the figures of all flows have been recorded, and the run only waits for the
     * connections to close: the signal ends this wait. */
    if (x->finished)
        scps_loop_stop(x->loop);
    else
        ttcp_real_finish(x, TTCP_INTERRUPTED,
                         ttcp_real_missing(x, "interrupted: ", msg) ? msg : "interrupted");
}

static void on_interval(EV_P_ ev_timer *w, int revents)
{
    struct ttcp_real *x = w->data;

    (void)loop;
    (void)revents;
    if (!x->finished)
        ttcp_real_interval(x, scps_sysclock_now());
}

static void on_stop_sending(EV_P_ ev_timer *w, int revents)
{
    struct ttcp_real *x = w->data;

    (void)loop;
    (void)revents;
    for (size_t k = 0; k < x->n_flows; k++)
        ttcp_input_stop(&x->flow[k].in);
    run_senders(x);
}

static void on_give_up(EV_P_ ev_timer *w, int revents)
{
    struct ttcp_real *x = w->data;
    char msg[TTCP_MSGLEN];

    (void)loop;
    (void)revents;
    if (x->finished)
        return;
    ttcp_real_finish(x, TTCP_TIMED_OUT, ttcp_real_late(x, msg));
}

static void on_tick(EV_P_ ev_timer *w, int revents)
{
    struct ttcp_real *x = w->data;

    (void)loop;
    (void)revents;
    if (x->begun && !x->finished)
        ttcp_progress_show(&x->progress, x->flow, x->n_flows, scps_sysclock_now() - x->t0);
}

static void on_later(EV_P_ ev_timer *w, int revents)
{
    struct ttcp_real *x = w->data;

    (void)loop;
    (void)revents;
    run_datagrams(x, NULL);
    scps_loop_kick(x->loop);
}

/* Checks whether the peer has terminated a PPP link. Called by a timer, because no event reports
 * that: the connections and the interface still exist. */
static void on_look(EV_P_ ev_timer *w, int revents)
{
    struct ttcp_real *x = w->data;

    (void)loop;
    (void)revents;
    if (!x->begun || x->finished || scps_ifopts_trouble(x->top) == NULL)
        return;
    for (size_t k = 0; k < x->n_flows; k++)
        ttcp_flow_fail(&x->flow[k], SCPS_ERR_LINKDOWN);
    check(x);
}

static void on_linger(EV_P_ ev_timer *w, int revents)
{
    struct ttcp_real *x = w->data;

    (void)loop;
    (void)revents;
    scps_loop_stop(x->loop);
}

static void timer(struct ttcp_real *x, ev_timer *t, void (*cb)(EV_P_ ev_timer *, int),
                  scps_dur after, bool again)
{
    ev_timer_init(t, cb, (double)after / 1e6, again ? (double)after / 1e6 : 0);
    t->data = x;
    if (after > 0)
        ev_timer_start(scps_loop_ev(x->loop), t);
}

static void watch_all(struct ttcp_real *x)
{
    struct ev_loop *ev = scps_loop_ev(x->loop);

    ev_io_init(&x->input, on_input, x->flow->in.fd, EV_READ);
    ev_io_init(&x->output, on_output, x->flow->out.fd, EV_WRITE);
    x->input.data = x->output.data = x;
    ev_signal_init(&x->sigint, on_interrupt, SIGINT);
    ev_signal_init(&x->sigterm, on_interrupt, SIGTERM);
    x->sigint.data = x->sigterm.data = x;
    ev_signal_start(ev, &x->sigint);
    ev_signal_start(ev, &x->sigterm);
    ev_now_update(ev); /* Opening a device may have taken long, so libev's time is updated. */
    timer(x, &x->interval, on_interval, x->o->interval, true);
    /* The intervals of --interval, each of which ends with a line of figures, count from the first
     * SYN. If this end listens, that SYN has not arrived yet, and begin() starts the timer when it
     * does. */
    if (!ttcp_real_connects(x))
        ev_timer_stop(ev, &x->interval);
    timer(x, &x->stop_sending, on_stop_sending, x->o->time, false);
    timer(x, &x->give_up, on_give_up, ttcp_real_time_left(x), false);
    timer(x, &x->tick, on_tick, x->progress.on ? SCPS_MS(100) : 0, true);
    timer(x, &x->linger, on_linger, 0, false);
    timer(x, &x->more, on_more, 0, false);
    timer(x, &x->later, on_later, 0, false);
    timer(x, &x->look, on_look, x->o->ifs.ppp_config.passive ? SCPS_MS(100) : 0, true);
}

static void unwatch_all(struct ttcp_real *x)
{
    struct ev_loop *ev = scps_loop_ev(x->loop);

    ev_io_stop(ev, &x->input);
    ev_io_stop(ev, &x->output);
    late_signal_after(ev, &x->sigint, &x->sigterm, on_late);
    ev_timer_stop(ev, &x->interval);
    ev_timer_stop(ev, &x->stop_sending);
    ev_timer_stop(ev, &x->give_up);
    ev_timer_stop(ev, &x->tick);
    ev_timer_stop(ev, &x->linger);
    ev_timer_stop(ev, &x->more);
    ev_timer_stop(ev, &x->later);
    ev_timer_stop(ev, &x->look);
}

/* Called when the run is over: waits until the output has accepted all bytes that were read, or
 * until SIGINT or SIGTERM. */
static void drain_output(struct ttcp_real *x)
{
    struct ttcp_output *out = &x->flow->out;
    int err;

    if (x->sends || x->flow->receiver.out_failed || out->used >= out->have ||
        x->r->outcome == TTCP_INTERRUPTED)
        return;
    while ((err = ttcp_output_flush(out, true)) == SCPS_ERR_AGAIN && !late) {
        struct pollfd p = {.fd = out->fd, .events = POLLOUT};

        poll(&p, 1, 200);
    }
    if (err == SCPS_ERR_AGAIN)
        ttcp_result_fail(x->r, TTCP_INTERRUPTED,
                         "interrupted: %.200s has not taken the last %zu bytes", out->name,
                         (size_t)(out->have - out->used));
    else if (err != 0)
        ttcp_result_fail(x->r, TTCP_FAILED, "%.200s: %s: write elsewhere", out->name,
                         strerror(out->sys_errno));
}

static uint64_t us_of(const struct timeval *t)
{
    return (uint64_t)t->tv_sec * 1000000 + (uint64_t)t->tv_usec;
}

/* Runs the loop until the transfer is over and the connections are closed. */
static void run_loop(struct ttcp_real *x)
{
    for (size_t k = 0; k < x->n_flows; k++)
        x->flow[k].sender.at_once = AT_ONCE;
    watch_all(x);
    if (x->o->udp && x->sends) {
        begin(x, scps_sysclock_now());
        run_datagrams(x, NULL);
    }
    scps_loop_kick(x->loop);
    scps_loop_run(x->loop, SCPS_NEVER);
    if (!x->finished) /* The loop ended by itself, because the device has gone. */
        ttcp_real_finish(x, TTCP_FAILED, "the device has gone: bring it back and start again");
    unwatch_all(x);
    ttcp_progress_clear(&x->progress);
    for (size_t k = 0; k < x->n_flows; k++)
        ttcp_result_told(x->flow[k].r, &x->flow[k].sender);
    drain_output(x);
}

static void close_all(struct ttcp_real *x)
{
    ttcp_capture_check(x->r, x->tap, x->o->pcap);
    ttcp_watch_close(&x->watch, x->o, x->r);
    for (size_t k = 0; k < x->n_flows; k++)
        ttcp_path_save(&x->flow[k].sender.path, x->o, x->flow[k].sender.conn, x->r);
    scps_loop_free(x->loop);
    if (x->st != NULL)
        scps_stack_free(x->st);
    if (x->top != NULL)
        scps_netif_close(x->top);
    for (size_t k = 0; k < x->n_flows; k++)
        ttcp_flow_fini(&x->flow[k]);
    ttcp_result_gather(x->r);
    free(x->flow);
    free(x->end);
}

void ttcp_run_real(const struct ttcp_options *o, struct ttcp_result *r)
{
    struct ttcp_real x = {.o = o, .r = r, .sends = o->action == TTCP_TRANSMIT};
    struct timespec wall;
    struct rusage used;

    clock_gettime(CLOCK_REALTIME, &wall);
    r->wall_start = (scps_time)wall.tv_sec * 1000000 + wall.tv_nsec / 1000;
    r->has_tx = x.sends;
    r->has_rx = !x.sends;
    ttcp_progress_init(&x.progress);
    if (ttcp_real_open(&x, on_event, &x) && ttcp_real_begin(&x))
        run_loop(&x);
    if (getrusage(RUSAGE_SELF, &used) == 0) {
        r->cpu_user_us = us_of(&used.ru_utime);
        r->cpu_system_us = us_of(&used.ru_stime);
    }
    close_all(&x);
}
