/* SPDX-License-Identifier: MIT */
/* Runs a transfer whose both ends are in this process, over a virtual link, in virtual time.
 *
 *     sender 10.0.0.1  --- --link, --pcap | --pcap-peer --->  receiver 10.0.0.2
 *
 * The simulation is run in slices so that the program can react to SIGINT or SIGTERM and update the
 * progress line. A slice ends where an interval of --interval, --time or --timeout ends, or after a
 * virtual time chosen so that a slice takes a fraction of a second of real time. The results do not
 * depend on the slices.
 *
 * A transfer is over when the FIN is acknowledged and the receiver has read the end of the stream.
 * The simulation then continues until both ends of the connection are closed, so that a capture
 * shows the whole connection; the figures of the report were recorded before. A run of datagrams is
 * over when no packet is on the way any more.
 */
#include "scps_ttcp/virtual.h"

#include "common/late_signal.h"
#include "scps_ttcp/outage.h"
#include "scps_ttcp/run.h"

#include <scps/error.h>
#include <scps/wire.h>

#include <signal.h>
#include <string.h>

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
    (void)sig;
    interrupted = 1;
}

/* Returns the physical limit of the transfer over this link, bit/s, for all connections together;
 * 0: nothing limits it, or the limit is not computed. It is rounded, so that errors of
 * floating-point division do not show. */
static uint64_t limit(const struct ttcp_virtual *x)
{
    double bps;
    uint64_t unit, written = 0;
    const struct scps_info *i = &x->r->tx.info;
    /* -R limits each connection, so together they have n_flows times this rate. */
    uint64_t rate = x->o->rate_bps * x->n_flows;
    uint32_t headers = (x->o->family == 6 ? 40 : 20) + 20 + (i->timestamps ? 12 : 0);

    /* With SCPS header compression, a full segment has a compressed header in place of the TCP
     * header: 8 octets, or 16 with timestamps. The IP header is not compressed. */
    if (i->caps & SCPS_CAP_COM)
        headers -= i->timestamps ? 16 : 12;
    if (x->o->route_bps != 0 && (rate == 0 || x->o->route_bps < rate))
        rate = x->o->route_bps;
    for (size_t k = 0; k < x->n_flows; k++) {
        if (!x->flow[k].sender.closed)
            return 0;
        written += x->flow[k].sender.written;
    }
    /* The physical limit (the highest goodput that the link allows) is computed only for streams in
     * one direction, so there is none with datagrams (-u), echo (-e) or --bidir, or if nothing was
     * sent. */
    if (written == 0 || x->o->udp || x->o->echo || x->o->bidir)
        return 0;
    bps = scps_link_limit(&x->o->fwd, &x->o->back, written, i->snd_mss, headers, rate);
    /* The physical limit is rounded to 1000 bit/s, or to 1 bit/s if it is below 1 Mbit/s, where
     * 1000 bit/s would be too coarse. */
    unit = bps < 1e6 ? 1 : 1000;
    return (uint64_t)(bps / (double)unit + 0.5) * unit;
}

static struct scps_stack *sending_stack(const struct ttcp_virtual *x, const struct ttcp_flow *f)
{
    return scps_host_stack(f->r->back ? x->rx_host : x->tx_host);
}

static struct scps_stack *receiving_stack(const struct ttcp_virtual *x, const struct ttcp_flow *f)
{
    return scps_host_stack(f->r->back ? x->tx_host : x->rx_host);
}

/* Records all figures of a flow when it ends, whether it succeeded or not. */
static void finish_flow(struct ttcp_virtual *x, struct ttcp_flow *f)
{
    if (f->finished)
        return;
    f->finished = true;
    f->r->elapsed = scps_world_now(x->w);
    if (x->o->udp)
        ttcp_output_flush(&f->out, true);
    if (f->sender.conn != NULL || x->o->udp)
        ttcp_result_sender(f->r, &f->sender, sending_stack(x, f), 0);
    ttcp_result_receiver(f->r, &f->receiver, receiving_stack(x, f), 0);
    if (x->o->udp) {
        f->r->compared = !x->o->hollow;
        f->r->intact = !f->receiver.d.differs;
    } else if (!x->o->hollow && (f->receiver.eof || f->verify.differs)) {
        f->r->compared = true;
        f->r->intact = !f->verify.differs && f->verify.len == 0 &&
                       f->verify.skipped == f->receiver.missing &&
                       f->verify.matched + f->verify.skipped == f->sender.written;
    }
    /* The link's counters are read before ttcp_result_judge(), whose message depends on whether the
     * link has damaged packets. */
    scps_link_get_stats(x->link, 0, &f->r->link_fwd);
    ttcp_result_judge(f->r, &f->sender, &f->receiver);
}

/* Ends the transfer: records the figures of all flows that have not ended. */
static void finish(struct ttcp_virtual *x)
{
    if (x->finished)
        return;
    x->finished = true;
    if (x->o->interval != 0)
        ttcp_flows_interval(x->flow, x->n_flows, scps_world_now(x->w), !x->o->json);
    for (size_t k = 0; k < x->n_flows; k++)
        finish_flow(x, &x->flow[k]);
    scps_link_get_stats(x->link, 0, &x->r->link_fwd);
    scps_link_get_stats(x->link, 1, &x->r->link_back);
    ttcp_result_gather(x->r);
    x->r->limit_bps = limit(x);
}

static void run_sender(void *ctx);

/* With -u: sets a timer for the next guard datagram, if the sender has one to send. Guard datagrams
 * are short ones by which the sender tells the receiver that the data has ended; the sender repeats
 * them because they may be lost. */
static void look_at_guards(struct ttcp_virtual *x)
{
    struct ttcp_sender *s = &x->flow->sender;

    if (s->d.next == SCPS_NEVER || s->d.next == x->next)
        return;
    x->next = s->d.next;
    if (scps_world_at(x->w, x->next, run_sender, x) != 0)
        s->err = SCPS_ERR_NOMEM;
}

/* With -u, called when the sender has finished: ends the run if no packet is on the link any more;
 * otherwise checks again after 10 ms of virtual time. */
static void see_arrivals(void *ctx)
{
    struct ttcp_virtual *x = ctx;
    struct scps_link_stats s;

    scps_link_get_stats(x->link, 0, &s);
    if (s.in_flight == 0) {
        finish(x);
        scps_world_stop(x->w);
    } else if (scps_world_at(x->w, scps_world_now(x->w) + SCPS_MS(10), see_arrivals, x) != 0) {
        x->flow->sender.err = SCPS_ERR_NOMEM;
    }
}

static bool all_over(const struct ttcp_virtual *x)
{
    for (size_t k = 0; k < x->o->streams; k++)
        if (!ttcp_end_over(&x->tx_end[k]) || !ttcp_end_over(&x->rx_end[k]))
            return false;
    return true;
}

static bool failed(const struct ttcp_flow *f)
{
    return f->sender.err != 0 || f->receiver.err != 0 || f->verify.differs;
}

static void check(struct ttcp_virtual *x)
{
    bool done = !x->o->udp;

    if (x->o->udp)
        look_at_guards(x);
    if (x->o->udp && x->flow->sender.closed && !x->last_look) {
        x->last_look = true;
        see_arrivals(x);
    }
    if (x->finished) {
        if (all_over(x))
            scps_world_stop(x->w);
        return;
    }
    for (size_t k = 0; k < x->n_flows; k++) {
        struct ttcp_flow *f = &x->flow[k];

        if (failed(f)) {
            done = true;
            break;
        }
        if (!f->sender.closed || !f->receiver.eof)
            done = false;
        else if (x->n_flows > 1)
            finish_flow(x, f);
    }
    if (done) {
        finish(x);
        /* scps_world_run() returns now, so that its caller decides whether to continue until the
         * connections are closed. */
        scps_world_stop(x->w);
    }
}

static void run_senders(struct ttcp_virtual *x)
{
    for (size_t k = 0; k < x->n_flows; k++)
        ttcp_sender_run(&x->flow[k].sender, scps_world_now(x->w));
    scps_host_kick(x->tx_host);
    if (x->o->bidir)
        scps_host_kick(x->rx_host);
}

static void run_sender(void *ctx)
{
    run_senders(ctx);
    check(ctx);
}

/* Returns the end to which connection c, accepted at the transmitter (at_tx) or the receiver,
 * belongs. It is found by the peer's port, because SYNs may arrive in another order than they were
 * sent. NULL: none. */
static struct ttcp_end *end_for(struct ttcp_virtual *x, bool at_tx, const struct scps_conn *c)
{
    struct ttcp_end *own = at_tx ? x->tx_end : x->rx_end, *other = at_tx ? x->rx_end : x->tx_end;
    struct scps_endpoint remote, local;

    scps_conn_remote(c, &remote);
    for (size_t k = 0; k < x->o->streams; k++) {
        scps_conn_local(other[k].conn, &local);
        if (local.port == remote.port && own[k].conn == NULL)
            return &own[k];
    }
    return NULL;
}

static void on_accept(struct ttcp_virtual *x, bool at_tx, struct scps_listener *l)
{
    struct scps_conn *c;
    struct ttcp_end *e;

    while ((c = scps_accept(l)) != NULL) {
        e = end_for(x, at_tx, c);
        if (e == NULL) {
            /* This cannot happen: an end waits at this host for each connection that the opposite
             * host opens. */
            scps_conn_abort(c);
            continue;
        }
        scps_conn_set_user(c, e);
        ttcp_end_accept(e, c, scps_world_now(x->w));
        if (x->o->require != 0 && !ttcp_result_require(x->r, c)) {
            finish(x);
            scps_world_stop(x->w);
        }
    }
}

static void on_event(struct scps_host *h, const struct scps_event *ev, void *ctx)
{
    struct ttcp_virtual *x = ctx;
    scps_time now = scps_world_now(x->w);
    bool at_tx = h == x->tx_host;

    if (ev->dgram != NULL && !at_tx)
        ttcp_receiver_run(&x->flow->receiver, now);
    else if (ev->dgram != NULL)
        ttcp_sender_event(&x->flow->sender, ev, now);
    else if (ev->kind == SCPS_EV_ACCEPT)
        on_accept(x, at_tx, ev->listener);
    else if (ev->conn != NULL && ev->user != NULL)
        ttcp_end_event(ev->user, ev, now);
    if (ev->kind == SCPS_EV_CONNECTED && x->o->require != 0 &&
        !ttcp_result_require(x->r, ev->conn)) {
        finish(x);
        scps_world_stop(x->w);
    }
    check(x);
}

static scps_time earlier(scps_time a, scps_time b)
{
    return a < b ? a : b;
}

/* Called at the end of each slice of virtual time: handles SIGINT and SIGTERM, and the options
 * --timeout, --interval and --time if their time has come. Returns true if the transfer is over or
 * has been ended early. */
static bool turned(struct ttcp_virtual *x, scps_time *next_interval, scps_time *stop_sending)
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
        ttcp_progress_clear(&x->progress);
        ttcp_flows_interval(x->flow, x->n_flows, now, !o->json);
        *next_interval += o->interval;
    }
    if (now >= *stop_sending) {
        *stop_sending = SCPS_NEVER;
        for (size_t k = 0; k < x->n_flows; k++)
            ttcp_input_stop(&x->flow[k].in);
        run_senders(x);
    }
    ttcp_progress_show(&x->progress, x->flow, x->n_flows, now);
    return false;
}

/* If --outage ends in ",signal" or ",plan": signals to both stacks whether the link is up at `now`,
 * µs. Returns the time of the next change, µs; SCPS_NEVER: none. */
static scps_time tell_outage(struct ttcp_virtual *x, scps_time now)
{
    const struct scps_spans *s = &x->o->fwd.outages;
    struct scps_signal sig = {.kind = SCPS_SIGNAL_LINK_UP};
    struct scps_host *hosts[2] = {x->tx_host, x->rx_host};
    scps_time change;
    bool out;

    if (x->o->outage_signal == TTCP_SIGNAL_NONE)
        return SCPS_NEVER;
    out = ttcp_outage_at(s, now, &change);
    if (out) {
        sig.kind = SCPS_SIGNAL_LINK_DOWN;
        sig.until = x->o->outage_signal == TTCP_SIGNAL_WITH_END ? change : SCPS_NEVER;
    }
    for (int i = 0; i < 2; i++) {
        scps_stack_signal(scps_host_stack(hosts[i]), now, &sig);
        scps_host_kick(hosts[i]);
    }
    return change;
}

static void drive(struct ttcp_virtual *x)
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
        /* The simulation has no more events, so its virtual time would not advance to `until`. */
        if (!x->finished && !interrupted && scps_world_now(x->w) < until) {
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
    /* The simulation continues until both ends have closed, so that the capture shows all FINs and
     * their acknowledgements. It does not wait for the end of TIME-WAIT. */
    if (x->r->outcome == TTCP_DONE && !o->udp)
        for (int i = 0; i < 64 && !all_over(x) && !interrupted; i++)
            scps_world_run(x->w, scps_world_now(x->w) + SCPS_SEC(1) + o->fwd.delay + o->back.delay);
}

void ttcp_run_virtual(const struct ttcp_options *o, struct ttcp_result *r)
{
    struct ttcp_virtual x = {.o = o, .r = r, .on_event = on_event, .stop_now = &interrupted};
    struct sigaction act;

    r->virtual_time = r->has_tx = r->has_rx = true;
    memset(&act, 0, sizeof(act));
    act.sa_handler = on_signal;
    sigemptyset(&act.sa_mask);
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);

    ttcp_progress_init(&x.progress);
    if (ttcp_virtual_open(&x)) {
        if (o->udp)
            look_at_guards(&x);
        drive(&x);
    }
    ttcp_progress_clear(&x.progress);
    /* The report follows whatever signal comes now; with --compare the next run ends at once. */
    late_signal(on_signal);
    ttcp_virtual_close(&x);
}
