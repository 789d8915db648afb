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
#include "scps_ttcp/run.h"

#include "common/seed.h"
#include "scps_ttcp/watch.h"

#include <scps/error.h>
#include <scps/io.h>

#include <arpa/inet.h>
#include <errno.h>
#include <ev.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

#define AT_ONCE (128u << 10) /* bytes written before packets have their turn: some 0.2 ms */

struct run {
    const struct ttcp_options *o;
    struct ttcp_result *r;
    struct scps_stack *st;
    struct scps_loop *loop;
    struct scps_netif *top, *tap;
    bool sends;
    struct ttcp_input in;
    struct ttcp_output out;
    struct ttcp_sender sender;
    struct ttcp_receiver receiver;
    struct ttcp_watch watch;
    struct ttcp_progress progress;
    scps_time t0; /* the SYN: sent, or arrived */
    bool begun;   /* t0 means something */
    bool finished;
    ev_io input, output;
    ev_signal sigint, sigterm;
    ev_timer interval, stop_sending, give_up, tick, linger, more, later;
};

static struct ttcp_sender *sender_of(struct run *x)
{
    return x->sends ? &x->sender : NULL;
}

static struct ttcp_receiver *receiver_of(struct run *x)
{
    return x->sends ? NULL : &x->receiver;
}

static bool over(const struct run *x)
{
    return x->sends ? x->sender.over : x->receiver.over;
}

/* When this end of -u is to be run again without anything happening; SCPS_NEVER. */
static scps_time next_run(const struct run *x)
{
    return !x->o->udp ? SCPS_NEVER : x->sends ? x->sender.d.next : x->receiver.d.next;
}

static struct scps_conn *own_conn(const struct run *x)
{
    return x->sends ? x->sender.conn : x->receiver.conn;
}

/* Or does it wait? */
static bool connects(const struct run *x)
{
    return x->sends != x->o->reverse;
}

static void report_interval(struct run *x, scps_time now)
{
    const struct ttcp_interval *i;

    if (!x->begun)
        return;
    i = ttcp_result_interval(x->r, sender_of(x), receiver_of(x), now - x->t0);
    if (i == NULL || x->o->json)
        return;
    ttcp_progress_clear(&x->progress);
    ttcp_report_interval(x->r, i, stderr);
}

/* Takes all figures, then stays until the connection is closed properly or resets it. */
static void finish(struct run *x, enum ttcp_outcome outcome, const char *why)
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
    ttcp_result_judge(x->r, sender_of(x), receiver_of(x));
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
static void check(struct run *x)
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
static void begin(struct run *x, scps_time at)
{
    x->begun = true;
    x->t0 = x->watch.t0 = at;
    if (x->o->interval != 0)
        ev_timer_start(scps_loop_ev(x->loop), &x->interval);
}

static void run_datagrams(struct run *x, const struct scps_event *e)
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
    struct run *x = ctx;
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
    struct run *x = w->data;

    (void)revents;
    ev_io_stop(EV_A_ w);
    ttcp_sender_run(&x->sender, scps_sysclock_now());
    check(x);
    scps_loop_kick(x->loop);
}

static void on_more(EV_P_ ev_timer *w, int revents)
{
    struct run *x = w->data;

    (void)loop;
    (void)revents;
    ttcp_sender_run(&x->sender, scps_sysclock_now());
    check(x);
    scps_loop_kick(x->loop);
}

static void on_output(EV_P_ ev_io *w, int revents)
{
    struct run *x = w->data;

    (void)revents;
    ev_io_stop(EV_A_ w);
    ttcp_receiver_run(&x->receiver, scps_sysclock_now());
    check(x);
    scps_loop_kick(x->loop);
}

static void on_interrupt(EV_P_ ev_signal *w, int revents)
{
    struct run *x = w->data;

    (void)loop;
    (void)revents;
    if (x->finished) /* while lingering: the result stands */
        scps_loop_stop(x->loop);
    else
        finish(x, TTCP_INTERRUPTED, "interrupted");
}

static void on_interval(EV_P_ ev_timer *w, int revents)
{
    struct run *x = w->data;

    (void)loop;
    (void)revents;
    if (!x->finished)
        report_interval(x, scps_sysclock_now());
}

static void on_stop_sending(EV_P_ ev_timer *w, int revents)
{
    struct run *x = w->data;

    (void)loop;
    (void)revents;
    ttcp_input_stop(&x->in);
    ttcp_sender_run(&x->sender, scps_sysclock_now());
    check(x);
    scps_loop_kick(x->loop);
}

static void on_give_up(EV_P_ ev_timer *w, int revents)
{
    struct run *x = w->data;

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
    struct run *x = w->data;

    (void)loop;
    (void)revents;
    if (x->begun && !x->finished)
        ttcp_progress_show(&x->progress, x->r, sender_of(x), receiver_of(x),
                           scps_sysclock_now() - x->t0);
}

static void on_later(EV_P_ ev_timer *w, int revents)
{
    struct run *x = w->data;

    (void)loop;
    (void)revents;
    run_datagrams(x, NULL);
    scps_loop_kick(x->loop);
}

static void on_linger(EV_P_ ev_timer *w, int revents)
{
    struct run *x = w->data;

    (void)loop;
    (void)revents;
    scps_loop_stop(x->loop);
}

static void timer(struct run *x, ev_timer *t, void (*cb)(EV_P_ ev_timer *, int), scps_dur after,
                  bool again)
{
    ev_timer_init(t, cb, (double)after / 1e6, again ? (double)after / 1e6 : 0);
    t->data = x;
    if (after > 0)
        ev_timer_start(scps_loop_ev(x->loop), t);
}

static void watch_all(struct run *x)
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
    if (!connects(x)) /* its clock starts when somebody connects */
        ev_timer_stop(ev, &x->interval);
    timer(x, &x->stop_sending, on_stop_sending, x->o->time, false);
    timer(x, &x->give_up, on_give_up, x->o->timeout, false);
    timer(x, &x->tick, on_tick, x->progress.on ? SCPS_MS(100) : 0, true);
    timer(x, &x->linger, on_linger, 0, false);
    timer(x, &x->more, on_more, 0, false);
    timer(x, &x->later, on_later, 0, false);
}

static void unwatch_all(struct run *x)
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

/* ---- opening ---- */

static bool has_family(const struct scps_ifopts *o, uint8_t family)
{
    for (unsigned i = 0; i < o->naddr; i++)
        if (o->addr[i].addr.family == family)
            return true;
    return false;
}

/* HOST as an address of a family we have. */
static bool resolve(struct run *x, struct scps_addr *out)
{
    const struct ttcp_options *o = x->o;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
    bool found = false;
    int rc;

    if (scps_addr_parse(o->host, out) == 0) {
        found = o->family == 0 || o->family == out->family;
        if (!found)
            ttcp_result_fail(x->r, TTCP_FAILED, "%.100s is not an IPv%u address: drop -%u", o->host,
                             o->family, o->family);
        return found;
    }
    rc = getaddrinfo(o->host, NULL, &hints, &list);
    if (rc != 0) {
        ttcp_result_fail(x->r, TTCP_FAILED, "%.100s: %s: give its address", o->host,
                         gai_strerror(rc));
        return false;
    }
    for (const struct addrinfo *a = list; a != NULL && !found; a = a->ai_next) {
        uint8_t family = a->ai_family == AF_INET ? 4 : a->ai_family == AF_INET6 ? 6 : 0;

        if (family == 0 || (o->family != 0 && o->family != family) || !has_family(&o->ifs, family))
            continue;
        memset(out, 0, sizeof(*out));
        out->family = family;
        if (family == 4)
            memcpy(out->b, &((const struct sockaddr_in *)(const void *)a->ai_addr)->sin_addr, 4);
        else
            memcpy(out->b, &((const struct sockaddr_in6 *)(const void *)a->ai_addr)->sin6_addr, 16);
        found = true;
    }
    freeaddrinfo(list);
    if (!found)
        ttcp_result_fail(x->r, TTCP_FAILED,
                         "%.100s has no address of the family of --addr: give one that has",
                         o->host);
    return found;
}

/* What opening failed with, in words. */
static bool refused(struct run *x, int err)
{
    switch (err) {
    case SCPS_ERR_UNREACH:
        ttcp_result_fail(x->r, TTCP_FAILED,
                         "%.100s: no route: give --addr a /LEN that covers it, or --gateway",
                         x->o->host);
        break;
    case SCPS_ERR_ADDRNOTAVAIL:
        ttcp_result_fail(x->r, TTCP_FAILED,
                         "no address of this stack fits: give --addr one of the family of HOST, "
                         "and -H one of --addr");
        break;
    case SCPS_ERR_MSGSIZE:
        ttcp_result_fail(x->r, TTCP_FAILED,
                         "-l %zu: such a datagram does not fit the device's MTU of %u, and none is "
                         "cut (-u): give a smaller one",
                         x->o->length, x->top->mtu);
        break;
    default:
        ttcp_result_fail(x->r, TTCP_FAILED, "cannot %s: %s", connects(x) ? "connect" : "listen",
                         scps_strerror(err));
        break;
    }
    return false;
}

/* -u: the endpoint of this end. */
static bool open_datagrams(struct run *x)
{
    const struct ttcp_options *o = x->o;
    struct scps_endpoint local = {.addr = o->source, .port = x->sends ? o->own_port : o->port};
    struct scps_endpoint remote = {.port = o->port};
    int err;

    if (!x->sends) {
        if (local.addr.family == 0)
            local.addr.family = o->family;
        err = ttcp_dgram_receive_start(&x->receiver, &x->out, x->st, &local);
        return err == 0 || refused(x, err);
    }
    if (!resolve(x, &remote.addr))
        return false;
    err = ttcp_rate_datagrams(o, x->st, x->top, &remote.addr);
    if (err == 0)
        err =
            ttcp_dgram_send_start(&x->sender, &x->in, x->st, &local, &remote, scps_sysclock_now());
    return err == 0 || refused(x, err);
}

static bool connect_or_listen(struct run *x)
{
    const struct ttcp_options *o = x->o;
    struct scps_conn_config cfg = ttcp_conn_config(o, x->sends);
    struct scps_endpoint local = {.addr = o->source, .port = connects(x) ? o->own_port : 0};
    struct scps_endpoint remote = {.port = o->port};
    char addr[SCPS_ADDR_STRLEN];
    int err = 0;

    if (connects(x)) {
        struct scps_route route;
        struct scps_conn *c;

        if (!resolve(x, &remote.addr))
            return false;
        if (ttcp_route(o, &remote.addr, x->top, &route) &&
            (err = scps_stack_add_route(x->st, &route)) != 0) {
            ttcp_result_fail(x->r, TTCP_FAILED, "cannot set the rate of the route: %s",
                             scps_strerror(err));
            return false;
        }
        x->t0 = x->watch.t0 = scps_sysclock_now();
        c = scps_connect(x->st, &cfg, &local, &remote, &err);
        if (c != NULL) {
            if (x->sends)
                ttcp_sender_start(&x->sender, c, &x->in, x->t0);
            else
                ttcp_receiver_connect(&x->receiver, c, &x->out, x->t0);
            x->begun = true;
            return true;
        }
    } else {
        struct scps_listener *l;

        local.port = o->port;
        if (local.addr.family == 0)
            local.addr.family = o->family; /* every address of that family */
        l = scps_listen(x->st, &cfg, &local, 1, &err);
        if (l != NULL) {
            if (x->sends)
                ttcp_sender_listen(&x->sender, l, &x->in);
            else
                ttcp_receiver_start(&x->receiver, l, &x->out);
            if (o->verbose > 0)
                fprintf(stderr, "ttcp-%c: waiting on port %u of %s\n", x->sends ? 't' : 'r',
                        o->port, scps_addr_format(&o->ifs.addr[0].addr, addr));
            return true;
        }
    }
    return refused(x, err);
}

static scps_time now_of(void *ctx)
{
    (void)ctx;
    return scps_sysclock_now();
}

static bool open_all(struct run *x)
{
    const struct ttcp_options *o = x->o;
    struct scps_stack_config cfg = scps_stack_config_default();
    char msg[SCPS_IO_MSGLEN];
    struct scps_netif *dev;
    int err;

    err = x->sends ? ttcp_input_init(&x->in, o, NULL, NULL) : ttcp_output_init(&x->out, o, NULL);
    if (err == SCPS_ERR_SYSTEM) {
        ttcp_result_fail(x->r, TTCP_FAILED, "%.200s: %s: write elsewhere", x->out.name,
                         strerror(x->out.sys_errno));
        return false;
    }
    if (err != 0) {
        ttcp_result_fail(x->r, TTCP_FAILED, "out of memory: give a smaller -l");
        return false;
    }
    if (o->memory_limit_set)
        cfg.memory_limit = o->memory_limit;
    if (o->seed_set) {
        seed_pair(o->seed, x->sends ? 1 : 2, cfg.seed);
    } else if (scps_entropy(cfg.seed, sizeof(cfg.seed)) != 0) {
        ttcp_result_fail(x->r, TTCP_FAILED, "no randomness from the kernel: %s: give --seed",
                         strerror(errno));
        return false;
    }
    dev = scps_ifopts_open(&o->ifs, msg);
    if (dev == NULL) {
        ttcp_result_fail(x->r, TTCP_FAILED, "%s", msg);
        return false;
    }
    x->top = dev;
    if (o->pcap != NULL) {
        x->tap = ttcp_capture(x->r, o->pcap, x->r->wall_start - scps_sysclock_now(), now_of, NULL);
        if (x->tap == NULL)
            return false;
        x->top = scps_netif_push(dev, x->tap);
    }
    x->watch = (struct ttcp_watch){sender_of(x), o->debug ? stderr : NULL, x->sends ? 't' : 'r', 0};
    cfg.checksum_hints = o->checksum_hints;
    cfg.observer = ttcp_watch_observer(&x->watch);
    cfg.now = scps_sysclock_now();
    x->st = scps_stack_new(&cfg);
    x->loop = x->st != NULL ? scps_loop_new(NULL, x->st, on_event, x) : NULL;
    if (x->loop == NULL) {
        ttcp_result_fail(x->r, TTCP_FAILED, "out of memory or descriptors: close something");
        return false;
    }
    if (scps_ifopts_attach(&o->ifs, x->loop, x->top, msg) != 0) {
        ttcp_result_fail(x->r, TTCP_FAILED, "%s", msg);
        return false;
    }
    return true;
}

/* ---- the run ---- */

/* The connection is over, and the output's reader was slow: nothing else is to be done, so wait for
 * it. */
static void drain_output(struct run *x)
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
    struct run x = {.o = o, .r = r, .sends = o->action == TTCP_TRANSMIT};
    struct timespec wall;
    struct rusage used;

    clock_gettime(CLOCK_REALTIME, &wall);
    r->wall_start = (scps_time)wall.tv_sec * 1000000 + wall.tv_nsec / 1000;
    r->has_tx = x.sends;
    r->has_rx = !x.sends;
    x.out.fd = -1;
    ttcp_progress_init(&x.progress);
    if (open_all(&x) && (o->udp ? open_datagrams(&x) : connect_or_listen(&x))) {
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
