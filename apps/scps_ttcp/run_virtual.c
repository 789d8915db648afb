/* SPDX-License-Identifier: MIT */
/* Both ends in this process, over a virtual link, in virtual time.
 *
 *     sender 10.0.0.1  --- --link, --pcap | --pcap-peer --->  receiver 10.0.0.2
 *
 * The world is run in slices so that an interrupt is seen and the progress line moves. A slice ends
 * where an interval, --time or --timeout does, or after some virtual time chosen so that a slice
 * takes a moment of the wall clock; where slices end changes nothing in the history.
 *
 * A transfer is over when the FIN is acknowledged and the receiver has read the end of the stream.
 * The world then goes on until both connections are closed, so that a capture shows all of it, but
 * every figure was taken before. A run of datagrams is over when nothing moves any more.
 */
#include "scps_ttcp/outage.h"
#include "scps_ttcp/run.h"

#include "common/seed.h"
#include "scps_ttcp/truth.h"
#include "scps_ttcp/watch.h"

#include <scps/error.h>
#include <scps/sim.h>
#include <scps/wire.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct run {
    const struct ttcp_options *o;
    struct ttcp_result *r;
    struct scps_world *w;
    struct scps_link *link;
    struct scps_host *tx_host, *rx_host;
    struct scps_netif *taps[2];
    struct ttcp_verify verify;
    struct ttcp_input in;
    struct ttcp_output out;
    struct ttcp_sender sender;
    struct ttcp_receiver receiver;
    struct ttcp_watch tx_watch, rx_watch;
    struct ttcp_progress progress;
    struct ttcp_truth truth;
    struct ttcp_sums sums; /* -u */
    scps_time next;        /* when the sender is run again for its next guard */
    bool last_look;        /* it is done: what is under way still counts */
    bool finished;         /* what is measured is over */
};

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
    (void)sig;
    interrupted = 1;
}

static scps_time now_of(void *ctx)
{
    return scps_world_now(ctx);
}

/* What no protocol could beat on this link with these packets and at this rate, in bit/s; 0 when
 * nothing limits it. Rounded, so that the last bits of a division are not part of the result. */
static uint64_t limit(const struct run *x)
{
    double bps;
    uint64_t unit;

    const struct scps_info *i = &x->r->tx.info;
    uint64_t rate = x->o->rate_bps;
    uint32_t headers = (x->o->family == 6 ? 40 : 20) + 20 + (i->timestamps ? 12 : 0);

    if (i->caps & SCPS_CAP_COM) /* of a full data segment */
        headers -= i->timestamps ? 16 : 12;

    if (x->o->route_bps != 0 && (rate == 0 || x->o->route_bps < rate))
        rate = x->o->route_bps;
    if (x->sender.written == 0 || x->o->udp)
        return 0;
    bps = scps_link_limit(&x->o->fwd, &x->o->back, x->sender.written, i->snd_mss, headers, rate);
    unit = bps < 1e6 ? 1 : 1000; /* the slowest lines have little more than that */
    return (uint64_t)(bps / (double)unit + 0.5) * unit;
}

/* Takes all figures at the moment the transfer ends, however it ends. */
static void finish(struct run *x)
{
    if (x->finished)
        return;
    x->finished = true;
    x->r->elapsed = scps_world_now(x->w);
    if (x->o->interval != 0) {
        const struct ttcp_interval *i =
            ttcp_result_interval(x->r, &x->sender, &x->receiver, x->r->elapsed);

        if (i != NULL && !x->o->json)
            ttcp_report_interval(x->r, i, stderr);
    }
    if (x->o->udp)
        ttcp_output_flush(&x->out, true);
    if (x->sender.conn != NULL || x->o->udp)
        ttcp_result_sender(x->r, &x->sender, scps_host_stack(x->tx_host), 0);
    ttcp_result_receiver(x->r, &x->receiver, scps_host_stack(x->rx_host), 0);
    scps_link_get_stats(x->link, 0, &x->r->fwd);
    scps_link_get_stats(x->link, 1, &x->r->back);
    if (x->o->udp) {
        x->r->compared = !x->o->hollow;
        x->r->intact = !x->receiver.d.differs;
    } else if (!x->o->hollow && (x->receiver.eof || x->verify.differs)) {
        x->r->compared = true;
        x->r->intact = !x->verify.differs && x->verify.len == 0 &&
                       x->verify.skipped == x->receiver.missing &&
                       x->verify.matched + x->verify.skipped == x->sender.written;
    }
    ttcp_result_judge(x->r, &x->sender, &x->receiver);
    if (x->sender.closed && !x->o->echo) /* it is a stream's */
        x->r->limit_bps = limit(x);
}

static void run_sender(void *ctx);

/* The sender has a guard to send later. */
static void look_at_guards(struct run *x)
{
    if (x->sender.d.next == SCPS_NEVER || x->sender.d.next == x->next)
        return;
    x->next = x->sender.d.next;
    if (scps_world_at(x->w, x->next, run_sender, x) != 0)
        x->sender.err = SCPS_ERR_NOMEM;
}

/* The sender of datagrams is done: the run ends when nothing is under way any more. */
static void see_arrivals(void *ctx)
{
    struct run *x = ctx;
    struct scps_link_stats s;

    scps_link_get_stats(x->link, 0, &s);
    if (s.in_flight == 0) {
        finish(x);
        scps_world_stop(x->w);
    } else if (scps_world_at(x->w, scps_world_now(x->w) + SCPS_MS(10), see_arrivals, x) != 0) {
        x->sender.err = SCPS_ERR_NOMEM;
    }
}

static void check(struct run *x)
{
    if (x->o->udp)
        look_at_guards(x);
    if (x->o->udp && x->sender.closed && !x->last_look) {
        x->last_look = true;
        see_arrivals(x);
    }
    if (x->finished) {
        if (x->sender.over && x->receiver.over)
            scps_world_stop(x->w);
        return;
    }
    if (x->sender.err != 0 || x->receiver.err != 0 || x->verify.differs ||
        (x->sender.closed && x->receiver.eof && !x->o->udp)) {
        finish(x);
        scps_world_stop(x->w); /* back to the slices: is closing worth watching? */
    }
}

static void run_sender(void *ctx)
{
    struct run *x = ctx;

    ttcp_sender_run(&x->sender, scps_world_now(x->w));
    scps_host_kick(x->tx_host);
    check(x);
}

static void on_event(struct scps_host *h, const struct scps_event *ev, void *ctx)
{
    struct run *x = ctx;
    scps_time now = scps_world_now(x->w);

    if (ev->dgram != NULL && h == x->rx_host)
        ttcp_receiver_run(&x->receiver, now);
    else if (h == x->tx_host && (ev->kind == SCPS_EV_ACCEPT || ev->conn == x->sender.conn))
        ttcp_sender_event(&x->sender, ev, now);
    else if (h == x->rx_host && (ev->kind == SCPS_EV_ACCEPT || ev->conn == x->receiver.conn))
        ttcp_receiver_event(&x->receiver, ev, now);
    if ((ev->kind == SCPS_EV_CONNECTED || ev->kind == SCPS_EV_ACCEPT) && x->o->require != 0) {
        struct scps_conn *c = h == x->tx_host ? x->sender.conn : x->receiver.conn;

        if (c != NULL && !ttcp_result_require(x->r, c)) {
            finish(x);
            scps_world_stop(x->w);
        }
    }
    check(x);
}

static struct scps_host *host(struct run *x, const char *name, uint64_t salt,
                              struct ttcp_watch *watch)
{
    struct scps_stack_config cfg = scps_stack_config_default();

    seed_pair(x->o->seed, salt, cfg.seed);
    cfg.checksum_hints = x->o->checksum_hints;
    if (x->o->memory_limit_set)
        cfg.memory_limit = x->o->memory_limit;
    cfg.observer = ttcp_watch_observer(watch);
    return scps_world_host(x->w, name, &cfg, on_event, x);
}

static bool tap(struct run *x, int end, const char *path)
{
    if (path == NULL)
        return true;
    x->taps[end] = ttcp_capture(x->r, path, 0, now_of, x->w);
    if (x->taps[end] == NULL)
        return false;
    if (scps_link_filter(x->link, end, x->taps[end]) == 0)
        return true;
    ttcp_result_fail(x->r, TTCP_FAILED, "%s: cannot capture here", path);
    return false;
}

/* -u: the endpoints, and the first guard on its way. 0 or an error. */
static int open_datagrams(struct run *x, const struct scps_endpoint *own,
                          const struct scps_endpoint *to)
{
    struct scps_stack *st = scps_host_stack(x->tx_host);
    struct scps_endpoint any = {.port = to->port};
    int err = ttcp_rate_datagrams(x->o, st, scps_link_netif(x->link, 0), &to->addr);

    if (err == 0)
        err = ttcp_dgram_receive_start(&x->receiver, &x->out, scps_host_stack(x->rx_host), &any);
    if (err == 0)
        err = ttcp_dgram_send_start(&x->sender, &x->in, st, own, to, 0);
    if (err != 0)
        return err;
    x->sender.d.sums = x->receiver.d.sums = &x->sums;
    ttcp_sender_run(&x->sender, 0);
    look_at_guards(x);
    return 0;
}

static bool build(struct run *x)
{
    const struct ttcp_options *o = x->o;
    bool v6 = o->family == 6;
    struct scps_link_config fwd = o->fwd, back = o->back;
    struct scps_conn_config tx = ttcp_conn_config(o, true), rx = ttcp_conn_config(o, false);
    struct scps_endpoint to = {.port = o->port}, any = {.port = o->port},
                         own = {.port = o->own_port};
    struct scps_addr a;
    struct scps_listener *l;
    struct scps_conn *c;
    struct scps_host *waits, *connects;
    struct scps_route route;
    uint64_t seeds[2];
    int err = SCPS_ERR_NOMEM;

    scps_addr_parse(v6 ? "fd00::1" : "10.0.0.1", &a);
    scps_addr_parse(v6 ? "fd00::2" : "10.0.0.2", &to.addr);
    seed_pair(o->seed, 0, seeds);
    fwd.seed = seeds[0];
    back.seed = seeds[1];
    x->w = scps_world_new(NULL);
    if (x->w == NULL)
        goto fail;
    x->tx_watch =
        (struct ttcp_watch){.sender = &x->sender, .debug = o->debug ? stderr : NULL, .role = 't'};
    x->rx_watch = (struct ttcp_watch){.debug = o->debug ? stderr : NULL, .role = 'r'};
    if (!ttcp_watch_qlog(&x->tx_watch, o, x->r))
        return false;
    x->tx_host = host(x, "sender", 1, &x->tx_watch);
    x->rx_host = host(x, "receiver", 2, &x->rx_watch);
    if (x->tx_host == NULL || x->rx_host == NULL)
        goto fail;
    x->link = scps_world_link(x->w, x->tx_host, &a, x->rx_host, &to.addr, v6 ? 64 : 24, o->mtu,
                              &fwd, &back);
    if (x->link == NULL)
        goto fail;
    if (!tap(x, 0, o->pcap) || !tap(x, 1, o->pcap_peer) ||
        !ttcp_truth_open(&x->truth, o, x->link, x->r))
        return false;
    if (o->udp) {
        err = open_datagrams(x, &own, &to);
        if (err != 0)
            goto fail;
        return true;
    }
    waits = o->reverse ? x->tx_host : x->rx_host;
    connects = o->reverse ? x->rx_host : x->tx_host;
    if (ttcp_route(o, &to.addr, scps_link_netif(x->link, 0), &route) &&
        (err = scps_stack_add_route(scps_host_stack(x->tx_host), &route)) != 0)
        goto fail;
    if (o->reverse)
        to.addr = a;
    l = scps_listen(scps_host_stack(waits), o->reverse ? &tx : &rx, &any, 1, &err);
    if (l == NULL)
        goto fail;
    c = scps_connect(scps_host_stack(connects), o->reverse ? &rx : &tx, &own, &to, &err);
    if (c == NULL)
        goto fail;
    if (o->reverse) {
        ttcp_sender_listen(&x->sender, l, &x->in);
        ttcp_receiver_connect(&x->receiver, c, &x->out, 0);
    } else {
        ttcp_receiver_start(&x->receiver, l, &x->out);
        ttcp_sender_start(&x->sender, c, &x->in, 0);
    }
    return true;
fail:
    ttcp_result_fail(x->r, TTCP_FAILED, "cannot set up the virtual link: %s%s", scps_strerror(err),
                     err == SCPS_ERR_NOMEM ? ": give smaller buffers with -b" : "");
    return false;
}

static scps_time earlier(scps_time a, scps_time b)
{
    return a < b ? a : b;
}

/* True when the transfer is over or has been given up. */
static bool turned(struct run *x, scps_time *next_interval, scps_time *stop_sending)
{
    const struct ttcp_options *o = x->o;
    scps_time now = scps_world_now(x->w);

    if (interrupted) {
        finish(x);
        ttcp_result_fail(x->r, TTCP_INTERRUPTED, "interrupted");
        return true;
    }
    if (o->timeout != 0 && now >= o->timeout && !x->finished) {
        finish(x);
        ttcp_result_fail(
            x->r, TTCP_TIMED_OUT,
            "not done within --timeout: give it longer, or see -v for what held it up");
        return true;
    }
    if (x->finished)
        return true;
    if (now >= *next_interval) {
        const struct ttcp_interval *i = ttcp_result_interval(x->r, &x->sender, &x->receiver, now);

        ttcp_progress_clear(&x->progress);
        if (i != NULL && !o->json)
            ttcp_report_interval(x->r, i, stderr);
        *next_interval += o->interval;
    }
    if (now >= *stop_sending) {
        *stop_sending = SCPS_NEVER;
        ttcp_input_stop(&x->in);
        ttcp_sender_run(&x->sender, now);
        scps_host_kick(x->tx_host);
    }
    ttcp_progress_show(&x->progress, x->r, &x->sender, &x->receiver, now);
    return false;
}

/* By choice the ends are told when the link goes and comes: what holds from now on. Returns when
 * that changes. */
static scps_time tell_outage(struct run *x, scps_time now)
{
    const struct scps_spans *s = &x->o->fwd.outages;
    struct scps_signal sig = {.kind = SCPS_SIGNAL_LINK_UP};
    struct scps_host *hosts[2] = {x->tx_host, x->rx_host};
    scps_time change;
    bool out;

    if (x->o->outage_told == TTCP_NOT_TOLD)
        return SCPS_NEVER;
    out = ttcp_outage_at(s, now, &change);
    if (out) {
        sig.kind = SCPS_SIGNAL_LINK_DOWN;
        sig.until = x->o->outage_told == TTCP_TOLD_END ? change : SCPS_NEVER;
    }
    for (int i = 0; i < 2; i++) {
        scps_stack_signal(scps_host_stack(hosts[i]), now, &sig);
        scps_host_kick(hosts[i]);
    }
    return change;
}

static void drive(struct run *x)
{
    const struct ttcp_options *o = x->o;
    scps_time next_interval = o->interval != 0 ? o->interval : SCPS_NEVER;
    scps_time stop_sending = o->time != 0 ? o->time : SCPS_NEVER;
    scps_time give_up = o->timeout != 0 ? o->timeout : SCPS_NEVER;
    scps_time next_outage = tell_outage(x, 0);
    scps_dur slice = SCPS_MS(100);

    scps_host_kick(x->rx_host);
    scps_host_kick(x->tx_host);
    while (!turned(x, &next_interval, &stop_sending)) {
        scps_time now = scps_world_now(x->w), wall = scps_sysclock_now();
        scps_time until =
            earlier(earlier(next_interval, stop_sending), earlier(give_up, now + slice));

        until = earlier(until, next_outage);
        scps_world_run(x->w, until);
        if (scps_world_now(x->w) >= next_outage)
            next_outage = tell_outage(x, scps_world_now(x->w));
        if (!x->finished && !interrupted && scps_world_now(x->w) < until) { /* no event is left */
            finish(x);
            ttcp_result_fail(x->r, TTCP_FAILED,
                             "nothing is under way and nothing is awaited any more: report this "
                             "with its --seed and --link");
        }
        wall = scps_sysclock_now() - wall;
        if (wall > SCPS_MS(50) && slice > 1000)
            slice /= 2;
        else if (wall < SCPS_MS(5) && slice < SCPS_SEC(3600))
            slice *= 2;
    }
    /* Let both sides close, for the capture; TIME-WAIT is not waited for. */
    if (x->r->outcome == TTCP_DONE && !o->udp)
        for (int i = 0; i < 64 && !(x->sender.over && x->receiver.over) && !interrupted; i++)
            scps_world_run(x->w, scps_world_now(x->w) + SCPS_SEC(1) + o->fwd.delay + o->back.delay);
}

void ttcp_run_virtual(const struct ttcp_options *o, struct ttcp_result *r)
{
    struct run x = {.o = o, .r = r};
    struct sigaction act, old_int, old_term;
    struct ttcp_verify *verify;
    int err;

    r->virtual_time = r->has_tx = r->has_rx = true;
    memset(&act, 0, sizeof(act));
    act.sa_handler = on_signal;
    sigemptyset(&act.sa_mask);
    sigaction(SIGINT, &act, &old_int);
    sigaction(SIGTERM, &act, &old_term);

    ttcp_progress_init(&x.progress);
    verify = o->hollow || o->udp ? NULL : &x.verify;
    err = ttcp_input_init(&x.in, o, verify, &interrupted);
    if (err == 0)
        err = ttcp_output_init(&x.out, o, verify);
    if (err == SCPS_ERR_SYSTEM)
        ttcp_result_fail(r, TTCP_FAILED, "%.200s: %s: write elsewhere", x.out.name,
                         strerror(x.out.sys_errno));
    else if (err != 0)
        ttcp_result_fail(r, TTCP_FAILED, "out of memory: give a smaller -l");
    else if (build(&x))
        drive(&x);
    ttcp_progress_clear(&x.progress);
    ttcp_capture_check(r, x.taps[0], o->pcap);
    ttcp_capture_check(r, x.taps[1], o->pcap_peer);
    ttcp_truth_close(&x.truth, o, r);
    ttcp_watch_close(&x.tx_watch, o, r);
    if (ttcp_output_fini(&x.out) != 0)
        ttcp_result_fail(r, TTCP_FAILED, "%.200s: %s: what was written may be incomplete",
                         x.out.name, strerror(x.out.sys_errno));
    if (x.w != NULL)
        scps_world_free(x.w);
    ttcp_dgram_send_fini(&x.sender);
    ttcp_dgram_receive_fini(&x.receiver);
    free(x.sums.v);
    ttcp_input_fini(&x.in);
    ttcp_verify_fini(&x.verify);
    sigaction(SIGINT, &old_int, NULL);
    sigaction(SIGTERM, &old_term, NULL);
}
