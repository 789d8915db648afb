/* SPDX-License-Identifier: MIT */
/* One transfer, as scps_ttcp --link makes it: see glue.h. */
#include "common/seed.h"
#include "common/slice.h"
#include "glue_priv.h"
#include "scps_ttcp/option_table.h"

#include <scps/error.h>
#include <scps/trace.h>
#include <scps/traffic.h>
#include <scps/wire.h>

#include <stdlib.h>
#include <string.h>

struct py_transfer {
    struct ttcp_options o;
    struct scps_world *w;
    struct scps_host *host[2];
    struct scps_bulk_source source;
    struct scps_bulk_sink sink;
    struct py_listener listener[2];
    struct py_kept notes, packets[2], all;
    struct scps_info info[2];
    struct py_result r;
    uint64_t taken;
    bool seen[2];
    scps_dur slice;
    struct scps_netif *tap; /* NULL: no capture */
    bool tapped;            /* the link owns it */
};

struct py_transfer *py_transfer_new(void)
{
    struct py_transfer *t = calloc(1, sizeof(*t));
    char msg[TTCP_MSGLEN];

    if (t == NULL)
        return NULL;
    t->o.conn = ttcp_begins();
    t->o.link = true;
    t->o.length = 8192;
    t->o.pattern = true;
    t->notes.size = sizeof(struct py_note);
    t->all.size = t->packets[0].size = t->packets[1].size = sizeof(struct py_packet);
    if (py_transfer_cc(t, "vj", msg, sizeof(msg)) != 0 ||
        py_transfer_link(t, TTCP_DEFAULT_LINK, msg, sizeof(msg)) != 0) {
        py_transfer_free(t);
        return NULL;
    }
    return t;
}

/* Frees the world with everything in it, the capture included, once it is attached. */
static void give_back(struct py_transfer *t)
{
    scps_bulk_source_fini(&t->source);
    if (t->tap != NULL && !t->tapped)
        scps_netif_close(t->tap);
    t->tap = NULL;
    scps_world_free(t->w);
    t->w = NULL;
}

void py_transfer_free(struct py_transfer *t)
{
    if (t == NULL)
        return;
    give_back(t);
    scps_link_tables_free(t->o.tables);
    free(t->notes.v);
    free(t->packets[0].v);
    free(t->packets[1].v);
    free(t->all.v);
    free(t);
}

int py_transfer_set(struct py_transfer *t, int i, int64_t value, char *msg, size_t msglen)
{
    const int err = py_setting_allowed(i, value, msg, msglen);

    if (err == 0)
        ttcp_set(&t->o, (enum setting_id)i, value);
    return err;
}

int py_transfer_cc(struct py_transfer *t, const char *text, char *msg, size_t msglen)
{
    const locale_t before = py_c_numbers();
    const int err = scps_cc_parse(text, &t->o.cc, t->o.cc_param, msg, msglen);

    uselocale(before);
    return err;
}

int py_transfer_link(struct py_transfer *t, const char *spec, char *msg, size_t msglen)
{
    struct scps_link_tables *old = t->o.tables;
    const locale_t before = py_c_numbers();
    const int err =
        scps_link_parse_tables(spec, NULL, &t->o.fwd, &t->o.back, &t->o.tables, msg, msglen);

    uselocale(before);
    if (err == 0)
        scps_link_tables_free(old);
    return err;
}

void py_transfer_shape(struct py_transfer *t, uint64_t bytes, uint32_t chunk, uint64_t seed,
                       uint32_t mtu, uint64_t rate, uint32_t buffer, int ipv6, int hollow)
{
    struct ttcp_options *o = &t->o;

    t->source.total = bytes;
    t->source.chunk = chunk;
    t->source.hollow = o->hollow = hollow != 0;
    o->seed = seed;
    o->mtu = mtu;
    o->rate_bps = rate;
    o->buffer = buffer;
    o->family = ipv6 ? 6 : 4;
}

static int take(void *ctx, const void *data, size_t len)
{
    struct py_transfer *t = ctx;

    if (data != NULL && !scps_pattern_check(data, len, t->taken))
        t->r.intact = 0;
    t->taken += len;
    return 0;
}

/* The figures of the moment; a connection is asked while it is there. */
static void look(struct py_transfer *t, int end, const struct scps_conn *c)
{
    scps_conn_info(c, &t->info[end]);
    t->seen[end] = true;
}

static void on_transfer_event(struct scps_host *h, const struct scps_event *ev, void *ctx)
{
    struct py_transfer *t = ctx;
    const scps_time now = scps_world_now(t->w);
    const bool was_eof = t->sink.eof, was_closed = t->source.closed;

    if (h == t->host[0] && ev->conn != NULL)
        scps_bulk_source_event(&t->source, ev);
    else if (h == t->host[1] && ev->kind == SCPS_EV_ACCEPT && t->sink.conn == NULL)
        scps_bulk_sink_start(&t->sink, scps_accept(ev->listener));
    else if (h == t->host[1] && ev->conn != NULL && ev->conn == t->sink.conn)
        scps_bulk_sink_event(&t->sink, ev);
    if (t->sink.eof && !was_eof) {
        t->r.delivered = now;
        scps_conn_shutdown(t->sink.conn);
    }
    if (t->source.closed && !was_closed)
        t->r.elapsed = now;
    if (t->source.err != 0 || t->sink.err != 0)
        t->r.err = t->source.err != 0 ? t->source.err : t->sink.err;
    if (t->r.err != 0 || (t->source.closed && t->sink.eof)) {
        if (t->source.conn != NULL)
            look(t, 0, t->source.conn);
        if (t->sink.conn != NULL)
            look(t, 1, t->sink.conn);
        scps_world_stop(t->w);
    }
}

static void see_forward(void *ctx, const struct scps_verdict *v)
{
    py_keep_packet(&((struct py_transfer *)ctx)->packets[0], 0, v);
}

static void see_back(void *ctx, const struct scps_verdict *v)
{
    py_keep_packet(&((struct py_transfer *)ctx)->packets[1], 1, v);
}

static struct scps_host *transfer_host(struct py_transfer *t, int end, uint64_t mask)
{
    struct scps_stack_config cfg = scps_stack_config_default();

    seed_pair(t->o.seed, (uint64_t)end + 1, cfg.seed);
    t->listener[end] = (struct py_listener){&t->notes, (uint32_t)end};
    if (mask != 0)
        cfg.observer = (struct scps_observer){py_on_note, &t->listener[end], mask};
    return scps_world_host(t->w, end == 0 ? "sender" : "receiver", &cfg, on_transfer_event, t);
}

/* Hosts, link and connection. 0 or an error. */
static int build(struct py_transfer *t, uint64_t mask, int packets)
{
    const struct ttcp_options *o = &t->o;
    const struct scps_conn_config tx = ttcp_conn_config(o, true), rx = ttcp_conn_config(o, false);
    struct scps_link_config fwd = o->fwd, back = o->back;
    struct scps_endpoint to = {.port = 5001}, any = {.port = 5001};
    struct scps_addr a;
    struct scps_link *l;
    struct scps_conn *c;
    uint64_t seeds[2];
    int err = SCPS_ERR_NOMEM;

    scps_addr_parse(o->family == 6 ? "fd00::1" : "10.0.0.1", &a);
    scps_addr_parse(o->family == 6 ? "fd00::2" : "10.0.0.2", &to.addr);
    seed_pair(o->seed, 0, seeds);
    fwd.seed = seeds[0];
    back.seed = seeds[1];
    t->host[0] = transfer_host(t, 0, mask);
    t->host[1] = transfer_host(t, 1, mask);
    if (t->host[0] == NULL || t->host[1] == NULL)
        return err;
    l = scps_world_link(t->w, t->host[0], &a, t->host[1], &to.addr, o->family == 6 ? 64 : 24,
                        o->mtu, &fwd, &back);
    if (l == NULL)
        return err;
    if (t->tap != NULL) {
        err = scps_link_filter(l, 0, t->tap);
        if (err != 0)
            return err;
        t->tapped = true;
    }
    if (packets) {
        scps_link_observe(l, 0, see_forward, t);
        scps_link_observe(l, 1, see_back, t);
    }
    if (scps_listen(scps_host_stack(t->host[1]), &rx, &any, 1, &err) == NULL)
        return err;
    c = scps_connect(scps_host_stack(t->host[0]), &tx, NULL, &to, &err);
    if (c == NULL)
        return err;
    t->sink = (struct scps_bulk_sink){.take = take, .ctx = t};
    err = scps_bulk_source_start(&t->source, c);
    scps_host_kick(t->host[1]);
    scps_host_kick(t->host[0]);
    return err;
}

static uint64_t limit_of(const struct py_transfer *t)
{
    const struct scps_info *i = &t->info[0];
    uint32_t headers = (t->o.family == 6 ? 40 : 20) + 20 + (i->timestamps ? 12 : 0);

    if (i->caps & SCPS_CAP_COM)
        headers -= i->timestamps ? 16 : 12;
    return (uint64_t)(scps_link_limit(&t->o.fwd, &t->o.back, t->source.total, i->snd_mss, headers,
                                      t->o.rate_bps) +
                      0.5);
}

/* 0, or what the stack says of this transfer. */
static int settle(struct py_transfer *t)
{
    struct ttcp_options *o = &t->o;

    if (!o->given
             [SETTING_expected_rtt]) { /* as scps_ttcp: a packet over, an acknowledgement back */
        o->conn.expected_rtt = o->fwd.delay + o->back.delay;
        if (o->fwd.rate_bps != 0)
            o->conn.expected_rtt += (scps_dur)((uint64_t)scps_link_frame_bytes(&o->fwd, o->mtu) *
                                               8 * 1000000 / o->fwd.rate_bps);
        if (o->back.rate_bps != 0)
            o->conn.expected_rtt += (scps_dur)((uint64_t)scps_link_frame_bytes(&o->back, 60) * 8 *
                                               1000000 / o->back.rate_bps);
    }
    if (o->cc->needs_rate && o->rate_bps == 0)
        o->rate_bps = o->fwd.rate_bps;
    return o->cc->needs_rate && o->rate_bps == 0 ? SCPS_ERR_NORATE : 0;
}

static scps_time now_of(void *ctx)
{
    return scps_world_now(ctx);
}

int py_transfer_begin(struct py_transfer *t, uint64_t note_mask, int packets, const char *pcap,
                      char *msg, size_t msglen)
{
    int err = settle(t);

    t->r = (struct py_result){.elapsed = -1, .delivered = -1, .intact = 1};
    t->slice = SLICE_FIRST;
    t->w = scps_world_new(NULL);
    if (t->w != NULL && pcap != NULL) {
        t->tap = scps_tap_open(pcap, 0, 0, now_of, t->w, msg, msglen);
        if (t->tap == NULL)
            return SCPS_ERR_SYSTEM;
    }
    if (err == 0)
        err = t->w != NULL ? build(t, note_mask, packets) : SCPS_ERR_NOMEM;
    if (err != 0)
        snprintf(msg, msglen, "%s%s", scps_strerror(err),
                 err == SCPS_ERR_NORATE ? ": this controller sends at a set rate: give rate" : "");
    return err;
}

static bool is_over(const struct py_transfer *t)
{
    return t->r.err != 0 || (t->source.closed && t->sink.eof);
}

int py_transfer_run(struct py_transfer *t, int64_t timeout)
{
    const scps_time now = scps_world_now(t->w);

    if (!is_over(t) && now < timeout)
        t->slice = slice_next(t->slice, scps_world_run(t->w, slice_end(now, t->slice, timeout)));
    return !is_over(t) && scps_world_now(t->w) < timeout;
}

int py_transfer_end(struct py_transfer *t, char *msg, size_t msglen)
{
    struct scps_stack_stats s[2];
    int err = 0;

    for (int end = 0; end < 2; end++)
        scps_stack_get_stats(scps_host_stack(t->host[end]), &s[end]);
    t->r.packets = s[0].packets_out + s[1].packets_out;
    if (!t->seen[0] && t->source.conn != NULL && t->source.err == 0)
        look(t, 0, t->source.conn);
    if (!t->seen[1] && t->sink.conn != NULL && t->sink.err == 0)
        look(t, 1, t->sink.conn);
    t->r.bytes = t->sink.received;
    t->r.done = t->source.closed && t->sink.eof;
    t->r.limit_bps = t->r.done ? limit_of(t) : 0;
    t->r.intact = t->r.intact && t->r.done && t->sink.received == t->source.total;
    if (!py_merge_packets(t->packets, &t->all) || t->notes.lost)
        err = SCPS_ERR_NOMEM;
    else if (t->tap != NULL)
        err = scps_tap_error(t->tap);
    if (err != 0)
        snprintf(msg, msglen, "%s",
                 err == SCPS_ERR_NOMEM ? scps_strerror(err)
                                       : "the capture could not be written: is the disk full?");
    give_back(t);
    return err;
}

void py_transfer_result(const struct py_transfer *t, struct py_result *out)
{
    *out = t->r;
}

void py_transfer_figures(const struct py_transfer *t, int end, int64_t *out)
{
    py_figures_of(&t->info[end], out);
}

const struct py_note *py_transfer_notes(const struct py_transfer *t, size_t *n)
{
    *n = t->notes.n;
    return t->notes.v;
}

const struct py_packet *py_transfer_packets(const struct py_transfer *t, size_t *n)
{
    *n = t->all.n;
    return t->all.v;
}
