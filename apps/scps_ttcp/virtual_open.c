/* SPDX-License-Identifier: MIT */
/* Opens what a run over a virtual link needs: hosts, link, captures, and both ends of every
 * connection. */
#include "scps_ttcp/virtual.h"

#include "common/seed.h"
#include "scps_ttcp/run.h"

#include <scps/error.h>

#include <stdlib.h>

static scps_time now_of(void *ctx)
{
    return scps_world_now(ctx);
}

static struct scps_host *host(struct ttcp_virtual *x, const char *name, uint64_t salt,
                              struct ttcp_watch *watch)
{
    struct scps_stack_config cfg = scps_stack_config_default();
    struct scps_host *h = NULL;
    char msg[TTCP_MSGLEN];

    seed_pair(x->o->seed, salt, cfg.seed);
    cfg.checksum_hints = x->o->checksum_hints;
    if (x->o->memory_limit_set)
        cfg.memory_limit = x->o->memory_limit;
    cfg.observer = ttcp_watch_observer(watch);
    if (ttcp_config_check(x->o, &cfg, msg)) {
        h = scps_world_host(x->w, name, &cfg, x->on_event, x);
        snprintf(msg, sizeof(msg), "out of memory for the simulated %s", name);
    }
    if (h == NULL)
        ttcp_result_fail(x->r, TTCP_FAILED, "%s", msg);
    return h;
}

static bool tap(struct ttcp_virtual *x, int end, const char *path)
{
    if (path == NULL)
        return true;
    x->taps[end] = ttcp_capture(x->r, path, 0, now_of, x->w);
    if (x->taps[end] == NULL)
        return false;
    if (scps_link_filter(x->link, end, x->taps[end]) == 0)
        return true;
    ttcp_result_fail(x->r, TTCP_FAILED, "%s: no memory to capture: leave out the capture", path);
    return false;
}

/* For -u: opens the datagram endpoints of sender and receiver, and sends the guard datagram before
 * the data, a short one whose arrival starts the receiver's clock. Returns 0, or an error
 * (SCPS_ERR_*). */
static int open_datagrams(struct ttcp_virtual *x, const struct scps_endpoint *own,
                          const struct scps_endpoint *to)
{
    struct scps_stack *st = scps_host_stack(x->tx_host);
    struct scps_endpoint any = {.port = to->port};
    struct ttcp_flow *f = x->flow;
    int err = ttcp_rate_datagrams(x->o, st, scps_link_netif(x->link, 0), &to->addr);

    if (err == 0)
        err = ttcp_dgram_receive_start(&f->receiver, &f->out, scps_host_stack(x->rx_host), &any);
    if (err == 0)
        err = ttcp_dgram_send_start(&f->sender, &f->in, st, own, to, 0);
    if (err != 0)
        return err;
    f->sender.d.sums = f->receiver.d.sums = &x->sums;
    ttcp_sender_run(&f->sender, 0);
    return 0;
}

/* Opens the listener at the receiver's host and the connections at the transmitter's host; with -Q
 * the listener is at the transmitter's host and the receiver's host connects. Returns 0, or an
 * error (SCPS_ERR_*). */
static int open_connections(struct ttcp_virtual *x, const struct scps_endpoint *own,
                            const struct scps_endpoint *to)
{
    const struct ttcp_options *o = x->o;
    struct scps_conn_config tx = ttcp_conn_config(o, true), rx = ttcp_conn_config(o, false);
    struct scps_endpoint any = {.port = o->port}, local = *own;
    struct scps_host *waits = o->reverse ? x->tx_host : x->rx_host;
    struct scps_host *connects = o->reverse ? x->rx_host : x->tx_host;
    struct ttcp_end *e = o->reverse ? x->rx_end : x->tx_end;
    int err = 0;

    for (size_t k = 0; k < o->streams; k++) {
        struct ttcp_flow *f = &x->flow[k], *back = o->bidir ? &x->flow[o->streams + k] : NULL;

        ttcp_end_init(&x->tx_end[k], f, back);
        ttcp_end_init(&x->rx_end[k], back, f);
        if (k > 0) {
            x->tx_end[k - 1].next = &x->tx_end[k];
            x->rx_end[k - 1].next = &x->rx_end[k];
        }
    }
    if (scps_listen(scps_host_stack(waits), o->reverse ? &tx : &rx, &any, o->streams, &err) == NULL)
        return err;
    for (size_t k = 0; k < o->streams; k++) {
        struct scps_conn *c =
            scps_connect(scps_host_stack(connects), o->reverse ? &rx : &tx, &local, to, &err);

        if (c == NULL)
            return err;
        scps_conn_set_user(c, &e[k]);
        ttcp_end_connect(&e[k], c, 0);
        if (local.port != 0)
            local.port++;
    }
    return 0;
}

/* Makes a result, an input and an output for each flow, and both ends of each connection. Returns
 * false, with the reason in x->r, on failure. */
static bool make_flows(struct ttcp_virtual *x)
{
    const struct ttcp_options *o = x->o;
    size_t n = o->bidir ? 2 * o->streams : o->streams;

    x->flow = calloc(n, sizeof(*x->flow));
    x->tx_end = calloc(2 * (size_t)o->streams, sizeof(*x->tx_end));
    if (x->flow == NULL || x->tx_end == NULL)
        goto fail;
    x->rx_end = x->tx_end + o->streams;
    for (size_t k = 0; k < n; k++) {
        struct ttcp_result *r = k == 0 ? x->r : ttcp_result_add(x->r);

        if (r == NULL)
            goto fail;
        r->has_tx = r->has_rx = true;
        r->back = k >= o->streams;
        r->id = n > 1 ? (unsigned)(k % o->streams) + 1 : 0;
        x->flow[k].r = r;
        x->n_flows = k + 1;
        if (ttcp_flow_open(&x->flow[k], o, !o->hollow && !o->udp, x->stop_now) != 0)
            return false;
    }
    return true;
fail:
    ttcp_result_fail(x->r, TTCP_FAILED, "out of memory: give a smaller -P");
    return false;
}

static bool build(struct ttcp_virtual *x)
{
    const struct ttcp_options *o = x->o;
    bool v6 = o->family == 6;
    struct scps_link_config fwd = o->fwd, back = o->back;
    struct scps_endpoint to = {.port = o->port}, own = {.port = o->own_port};
    struct scps_addr a;
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
    x->tx_watch = (struct ttcp_watch){
        .acked = true, .senders = x->tx_end, .debug = o->debug ? stderr : NULL, .role = 't'};
    x->rx_watch = (struct ttcp_watch){
        .acked = o->bidir, .senders = x->rx_end, .debug = o->debug ? stderr : NULL, .role = 'r'};
    if (!ttcp_watch_qlog(&x->tx_watch, o, x->r))
        return false;
    x->tx_host = host(x, "sender", 1, &x->tx_watch);
    x->rx_host = host(x, "receiver", 2, &x->rx_watch);
    if (x->tx_host == NULL || x->rx_host == NULL)
        return false;
    x->link = scps_world_link(x->w, x->tx_host, &a, x->rx_host, &to.addr, v6 ? 64 : 24, o->mtu,
                              &fwd, &back);
    if (x->link == NULL)
        goto fail;
    if (!tap(x, 0, o->pcap) || !tap(x, 1, o->pcap_peer) ||
        !ttcp_truth_open(&x->truth, o, x->link, x->r))
        return false;
    err = 0;
    if (!o->udp && ttcp_route(o, &to.addr, scps_link_netif(x->link, 0), &route))
        err = scps_stack_add_route(scps_host_stack(x->tx_host), &route);
    if (o->reverse)
        to.addr = a;
    if (err == 0)
        err = o->udp ? open_datagrams(x, &own, &to) : open_connections(x, &own, &to);
    if (err == 0)
        return true;
fail:
    ttcp_result_fail(x->r, TTCP_FAILED, "cannot set up the virtual link: %s%s", scps_strerror(err),
                     err != SCPS_ERR_NOMEM ? ""
                     : o->memory_limit_set
                         ? ": give a larger --memory-limit, or smaller buffers with -b"
                         : ": give smaller buffers with -b");
    return false;
}

bool ttcp_virtual_open(struct ttcp_virtual *x)
{
    return make_flows(x) && build(x);
}

void ttcp_virtual_close(struct ttcp_virtual *x)
{
    ttcp_capture_check(x->r, x->taps[0], x->o->pcap);
    ttcp_capture_check(x->r, x->taps[1], x->o->pcap_peer);
    ttcp_truth_close(&x->truth, x->o, x->r);
    ttcp_watch_close(&x->tx_watch, x->o, x->r);
    for (size_t k = 0; k < x->n_flows; k++)
        ttcp_path_save(&x->flow[k].sender.path, x->o, x->flow[k].sender.conn, x->r);
    if (x->w != NULL)
        scps_world_free(x->w);
    for (size_t k = 0; k < x->n_flows; k++)
        ttcp_flow_fini(&x->flow[k]);
    ttcp_result_gather(x->r);
    free(x->flow);
    free(x->tx_end);
    free(x->sums.v);
}
