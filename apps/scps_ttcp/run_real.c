/* SPDX-License-Identifier: MIT */
/* One end of a transfer, over TUN or IP in UDP, in real time.
 *
 * Everything happens in one libev loop: the stack's, to which watchers for standard input, the
 * output, signals and the user's times are added. Input that is not ready and output that is slow
 * are watched only while they are. A large send buffer is filled a piece at a time, so that packets
 * leave, and acknowledgements are heard, meanwhile.
 *
 * After the figures are taken the process stays for a moment: a sender until the peer has closed,
 * too (or 2 s and four RTO have passed), a receiver until its own FIN is acknowledged (likewise),
 * so that neither leaves the other repeating itself into nothing. A transfer that failed here is
 * reset, so that the peer hears of it.
 */
#include "scps_ttcp/real.h"

#include <scps/error.h>

#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define AT_ONCE (128u << 10) /* bytes written before packets have their turn: some 0.2 ms */

static struct ttcp_receiver *receiver_of(struct ttcp_real *x)
{
    return x->sends ? NULL : &x->receiver;
}

static bool over(const struct ttcp_real *x)
{
    return x->sends ? x->sender.over : x->receiver.over;
}

/* When this end of -u is to be run again without anything happening; SCPS_NEVER. */
static scps_time next_run(const struct ttcp_real *x)
{
    return !x->o->udp ? SCPS_NEVER : x->sends ? x->sender.d.next : x->receiver.d.next;
}

static struct scps_conn *own_conn(const struct ttcp_real *x)
{
    return x->sends ? x->sender.conn : x->receiver.conn;
}

static void report_interval(struct ttcp_real *x, scps_time now)
{
    const struct ttcp_interval *i;

    if (!x->begun)
        return;
    i = ttcp_result_interval(x->r, ttcp_real_sender(x), receiver_of(x), now - x->t0);
    if (i == NULL || x->o->json)
        return;
    ttcp_progress_clear(&x->progress);
    ttcp_report_interval(x->r, i, stderr);
}

/* Takes all figures, then stays until the connection is closed properly or resets it. */
static void finish(struct ttcp_real *x, enum ttcp_outcome outcome, const char *why)
{
    scps_time now = scps_sysclock_now();
    struct scps_conn *c = own_conn(x);
    scps_dur stay = SCPS_SEC(2);
    struct scps_info info;

    if (x->finished)
        return;
    x->finished = true;
    if (x->o->interval != 0)
        report_interval(x, now);
    x->r->elapsed = x->begun ? now - x->t0 : 0;
    if (x->sends)
        ttcp_result_sender(x->r, &x->sender, x->st, x->t0);
    else
        ttcp_result_receiver(x->r, &x->receiver, x->st, x->t0);
    ttcp_result_judge(x->r, ttcp_real_sender(x), receiver_of(x));
    if (outcome != TTCP_DONE)
        ttcp_result_fail(x->r, outcome, "%s", why);
    ev_io_stop(scps_loop_ev(x->loop), &x->input);
    ev_timer_stop(scps_loop_ev(x->loop), &x->more);
    if (over(x) || c == NULL) {
        scps_loop_stop(x->loop);
        return;
    }
    if (x->r->outcome != TTCP_DONE) {
        scps_conn_abort(c); /* the reset leaves in this turn of the loop */
        x->sender.conn = x->receiver.conn = NULL;
        scps_loop_kick(x->loop);
        scps_loop_stop(x->loop);
        return;
    }
    scps_conn_info(c, &info);
    if (4 * info.rto > stay)
        stay = 4 * info.rto;
    ev_timer_set(&x->linger, (double)stay / 1e6, 0);
    ev_timer_start(scps_loop_ev(x->loop), &x->linger);
}

/* After anything that may have changed: is it over, and what is to be waited for? */
static void check(struct ttcp_real *x)
{
    struct ev_loop *ev = scps_loop_ev(x->loop);

    if (!x->finished) {
        if (x->sends ? x->sender.err != 0 || x->sender.closed
                     : x->receiver.err != 0 || x->receiver.eof)
            finish(x, TTCP_DONE, NULL);
    } else if (over(x)) {
        scps_loop_stop(x->loop);
    }
    if (x->finished)
        return;
    if (x->sends && x->sender.more)
        ev_timer_start(ev, &x->more);
    if (x->sends && x->sender.waiting)
        ev_io_start(ev, &x->input);
    else
        ev_io_stop(ev, &x->input);
    if (!x->sends && x->receiver.waiting)
        ev_io_start(ev, &x->output);
    else
        ev_io_stop(ev, &x->output);
    if (next_run(x) != SCPS_NEVER) {
        ev_timer_stop(ev, &x->later);
        ev_timer_set(&x->later, (double)(next_run(x) - scps_sysclock_now()) / 1e6, 0);
        ev_timer_start(ev, &x->later);
    }
}

/* The clock starts: the SYN, or with -u the first guard, was sent or heard. */
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

    if (x->finished)
        return;
    if (!x->sends)
        ttcp_receiver_run(&x->receiver, now);
    else if (e != NULL)
        ttcp_sender_event(&x->sender, e, now);
    else
        ttcp_sender_run(&x->sender, now);
    if (!x->begun && !x->sends && x->receiver.d.begun)
        begin(x, x->receiver.opened);
    check(x);
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
    if (e->kind == SCPS_EV_ACCEPT || (e->conn != NULL && e->conn == own_conn(x))) {
        if (x->sends)
            ttcp_sender_event(&x->sender, e, now);
        else
            ttcp_receiver_event(&x->receiver, e, now);
        if (!x->begun && own_conn(x) != NULL)
            begin(x, x->sends ? x->sender.syn : x->receiver.opened);
    }
    if ((e->kind == SCPS_EV_CONNECTED || e->kind == SCPS_EV_ACCEPT) && !x->finished &&
        own_conn(x) != NULL && !ttcp_result_require(x->r, own_conn(x)))
        finish(x, TTCP_DONE, NULL); /* the outcome is set */
    check(x);
}

static void on_input(EV_P_ ev_io *w, int revents)
{
    struct ttcp_real *x = w->data;

    (void)revents;
    ev_io_stop(EV_A_ w);
    ttcp_sender_run(&x->sender, scps_sysclock_now());
    check(x);
    scps_loop_kick(x->loop);
}

static void on_more(EV_P_ ev_timer *w, int revents)
{
    struct ttcp_real *x = w->data;

    (void)loop;
    (void)revents;
    ttcp_sender_run(&x->sender, scps_sysclock_now());
    check(x);
    scps_loop_kick(x->loop);
}

static void on_output(EV_P_ ev_io *w, int revents)
{
    struct ttcp_real *x = w->data;

    (void)revents;
    ev_io_stop(EV_A_ w);
    ttcp_receiver_run(&x->receiver, scps_sysclock_now());
    check(x);
    scps_loop_kick(x->loop);
}

static void on_interrupt(EV_P_ ev_signal *w, int revents)
{
    struct ttcp_real *x = w->data;

    (void)loop;
    (void)revents;
    if (x->finished) /* while lingering: the result stands */
        scps_loop_stop(x->loop);
    else
        finish(x, TTCP_INTERRUPTED, "interrupted");
}

static void on_interval(EV_P_ ev_timer *w, int revents)
{
    struct ttcp_real *x = w->data;

    (void)loop;
    (void)revents;
    if (!x->finished)
        report_interval(x, scps_sysclock_now());
}

static void on_stop_sending(EV_P_ ev_timer *w, int revents)
{
    struct ttcp_real *x = w->data;

    (void)loop;
    (void)revents;
    ttcp_input_stop(&x->in);
    ttcp_sender_run(&x->sender, scps_sysclock_now());
    check(x);
    scps_loop_kick(x->loop);
}

static void on_give_up(EV_P_ ev_timer *w, int revents)
{
    struct ttcp_real *x = w->data;

    (void)loop;
    (void)revents;
    if (x->finished)
        return;
    finish(x, TTCP_TIMED_OUT,
           !x->begun ? "nobody connected within --timeout: give it longer, or see the other end"
           : x->sends && !x->sender.connected
               ? "no answer within --timeout: is a receiver (-r) running there?"
           : x->sends && ttcp_echo_waits(&x->sender.echo)
               ? "no echo within --timeout: is -e given there, too?"
               : "not done within --timeout: give it longer, or see -v for what held it up");
}

static void on_tick(EV_P_ ev_timer *w, int revents)
{
    struct ttcp_real *x = w->data;

    (void)loop;
    (void)revents;
    if (x->begun && !x->finished)
        ttcp_progress_show(&x->progress, x->r, ttcp_real_sender(x), receiver_of(x),
                           scps_sysclock_now() - x->t0);
}

static void on_later(EV_P_ ev_timer *w, int revents)
{
    struct ttcp_real *x = w->data;

    (void)loop;
    (void)revents;
    run_datagrams(x, NULL);
    scps_loop_kick(x->loop);
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

    ev_io_init(&x->input, on_input, x->in.fd, EV_READ);
    ev_io_init(&x->output, on_output, x->out.fd, EV_WRITE);
    x->input.data = x->output.data = x;
    ev_signal_init(&x->sigint, on_interrupt, SIGINT);
    ev_signal_init(&x->sigterm, on_interrupt, SIGTERM);
    x->sigint.data = x->sigterm.data = x;
    ev_signal_start(ev, &x->sigint);
    ev_signal_start(ev, &x->sigterm);
    ev_now_update(ev); /* opening a device may have taken a while */
    timer(x, &x->interval, on_interval, x->o->interval, true);
    if (!ttcp_real_connects(x)) /* its clock starts when somebody connects */
        ev_timer_stop(ev, &x->interval);
    timer(x, &x->stop_sending, on_stop_sending, x->o->time, false);
    timer(x, &x->give_up, on_give_up, x->o->timeout, false);
    timer(x, &x->tick, on_tick, x->progress.on ? SCPS_MS(100) : 0, true);
    timer(x, &x->linger, on_linger, 0, false);
    timer(x, &x->more, on_more, 0, false);
    timer(x, &x->later, on_later, 0, false);
}

static void unwatch_all(struct ttcp_real *x)
{
    struct ev_loop *ev = scps_loop_ev(x->loop);

    ev_io_stop(ev, &x->input);
    ev_io_stop(ev, &x->output);
    ev_signal_stop(ev, &x->sigint);
    ev_signal_stop(ev, &x->sigterm);
    ev_timer_stop(ev, &x->interval);
    ev_timer_stop(ev, &x->stop_sending);
    ev_timer_stop(ev, &x->give_up);
    ev_timer_stop(ev, &x->tick);
    ev_timer_stop(ev, &x->linger);
    ev_timer_stop(ev, &x->more);
    ev_timer_stop(ev, &x->later);
}

/* The connection is over, and the output's reader was slow: nothing else is to be done, so wait for
 * it. */
static void drain_output(struct ttcp_real *x)
{
    int err;

    if (x->sends || x->receiver.out_failed || x->out.used >= x->out.have ||
        x->r->outcome == TTCP_INTERRUPTED)
        return;
    while ((err = ttcp_output_flush(&x->out, true)) == SCPS_ERR_AGAIN) {
        struct pollfd p = {.fd = x->out.fd, .events = POLLOUT};

        poll(&p, 1, 200);
    }
    if (err != 0)
        ttcp_result_fail(x->r, TTCP_FAILED, "%.200s: %s: write elsewhere", x->out.name,
                         strerror(x->out.sys_errno));
}

static uint64_t us_of(const struct timeval *t)
{
    return (uint64_t)t->tv_sec * 1000000 + (uint64_t)t->tv_usec;
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
    x.out.fd = -1;
    ttcp_progress_init(&x.progress);
    if (ttcp_real_open(&x, on_event) && ttcp_real_begin(&x)) {
        x.sender.at_once = AT_ONCE;
        watch_all(&x);
        if (o->udp && x.sends) {
            begin(&x, scps_sysclock_now());
            run_datagrams(&x, NULL);
        }
        scps_loop_kick(x.loop);
        scps_loop_run(x.loop, SCPS_NEVER);
        if (!x.finished) /* the loop ended by itself: the device has gone */
            finish(&x, TTCP_FAILED, "the device has gone: bring it back and start again");
        unwatch_all(&x);
        ttcp_progress_clear(&x.progress);
        drain_output(&x);
    }
    if (getrusage(RUSAGE_SELF, &used) == 0) {
        r->cpu_user_us = us_of(&used.ru_utime);
        r->cpu_system_us = us_of(&used.ru_stime);
    }
    ttcp_capture_check(r, x.tap, o->pcap);
    ttcp_watch_close(&x.watch, o, r);
    if (!x.sends && ttcp_output_fini(&x.out) != 0)
        ttcp_result_fail(r, TTCP_FAILED, "%.200s: %s: what was written may be incomplete",
                         x.out.name, strerror(x.out.sys_errno));
    scps_loop_free(x.loop);
    if (x.st != NULL)
        scps_stack_free(x.st);
    if (x.top != NULL)
        scps_netif_close(x.top);
    ttcp_dgram_send_fini(&x.sender);
    ttcp_dgram_receive_fini(&x.receiver);
    ttcp_input_fini(&x.in);
}
