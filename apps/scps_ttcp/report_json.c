/* SPDX-License-Identifier: MIT */
/* The result in iperf3's shape, so that what reads iperf3's documents reads ours, plus what only we
 * know.
 *
 * iperf3's keys mean what they mean there, with three refinements. end.sum_sent runs from the SYN
 * to the acknowledgement of the FIN, and its bytes are acknowledged ones. end.sum_received of a
 * sender alone is what the peer acknowledged. snd_cwnd is never beyond the peer's window, because
 * pure rate control has none of its own. In virtual time nothing here depends on the machine or the
 * hour: no timestamp, no system_info, no CPU time.
 *
 * docs/schema/scps_ttcp.schema.json describes all of it; what differs with -u is in report_udp.c.
 */
#include "scps_ttcp/option_table.h"
#include "scps_ttcp/report_parts.h"
#include "scps_ttcp/units.h"

#include <scps/error.h>
#include <scps/scps.h>
#include <scps/wire.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

static void rate(struct json *j, uint64_t bytes, scps_dur us)
{
    json_uint(j, "bits_per_second", units_bps(bytes, us));
}

static void endpoint(struct json *j, const char *host_key, const char *port_key,
                     const struct scps_endpoint *e)
{
    char addr[SCPS_ADDR_STRLEN];

    json_str(j, host_key, scps_addr_format(&e->addr, addr));
    json_uint(j, port_key, e->port);
}

static void connected(struct json *j, const struct ttcp_side *s, bool udp)
{
    if (!s->open || (s->info.established == 0 && !udp))
        return;
    json_open(j, NULL, '{');
    json_uint(j, "socket", s->id);
    endpoint(j, "local_host", "local_port", &s->local);
    endpoint(j, "remote_host", "remote_port", &s->remote);
    json_close(j, '}');
}

static void real_world(struct json *j, const struct ttcp_result *r)
{
    struct utsname u;
    char text[512];
    time_t seconds = (time_t)(r->wall_start / 1000000);
    struct tm tm;

    if (uname(&u) == 0) {
        snprintf(text, sizeof(text), "%s %s %s %s %s", u.sysname, u.nodename, u.release, u.version,
                 u.machine);
        json_str(j, "system_info", text);
    }
    gmtime_r(&seconds, &tm);
    strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &tm);
    json_open(j, "timestamp", '{');
    json_str(j, "time", text);
    json_uint(j, "timesecs", (uint64_t)seconds);
    json_close(j, '}');
}

static void test_start(struct json *j, const struct ttcp_result *r)
{
    const struct ttcp_options *o = r->opt;
    bool counted = r->has_tx && o->pattern && o->count != UINT64_MAX;

    json_open(j, "test_start", '{');
    json_str(j, "protocol", o->udp ? "UDP" : "TCP");
    json_uint(j, "num_streams", 1);
    json_uint(j, "blksize", o->length);
    json_uint(j, "omit", 0);
    json_seconds(j, "duration", o->time);
    json_uint(j, "bytes", counted ? ttcp_pattern_total(o) : 0);
    json_uint(j, "blocks", counted ? o->count : 0);
    json_uint(j, "reverse", o->reverse);
    json_uint(j, "tos", o->conn.tos);
    json_uint(j, "target_bitrate", o->rate_bps);
    json_close(j, '}');
}

static void link_config(struct json *j, const char *key, const struct scps_link_config *c)
{
    char text[SCPS_LINK_TEXTLEN];

    json_open(j, key, '{');
    json_str(j, "text", scps_link_print(c, text));
    json_uint(j, "rate_bps", c->rate_bps);
    json_us(j, "delay_us", c->delay);
    json_uint(j, "queue_bytes", c->queue_bytes);
    json_uint(j, "queue_packets", c->queue_packets);
    json_uint(j, "overhead", c->overhead);
    snprintf(text, sizeof(text), "%.9g", c->ber);
    json_raw(j, "ber", text);
    snprintf(text, sizeof(text), "%.9g", c->loss);
    json_raw(j, "loss", text);
    json_close(j, '}');
}

/* Capabilities by the names of the spec; null when there was no handshake. */
static void capabilities(struct json *j, const char *key, uint8_t caps)
{
    static const struct {
        uint8_t bit;
        const char *name;
    } names[] = {{SCPS_CAP_BETS, "bets"},
                 {SCPS_CAP_SNACK1, "snack1"},
                 {SCPS_CAP_SNACK2, "snack2"},
                 {SCPS_CAP_COM, "com"},
                 {SCPS_CAP_NLTS, "nlts"}};

    json_open(j, key, '[');
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (caps & names[i].bit)
            json_str(j, NULL, names[i].name);
    json_close(j, ']');
}

static void controller(struct json *j, const struct ttcp_options *o)
{
    const struct scps_cc_param *p = o->cc->params;

    json_str(j, "cc", o->cc->name);
    json_open(j, "cc_params", '{');
    for (size_t i = 0; p != NULL && p[i].name != NULL; i++) {
        char text[24];

        snprintf(text, sizeof(text), "%" PRId64, o->cc_param[i]);
        json_raw(j, p[i].name, text);
    }
    json_close(j, '}');
}

/* What the handshake settled on; null where there was none. */
static void agreed(struct json *j, const struct ttcp_side *own)
{
    if (own->open && own->info.established != 0) {
        json_bool(j, "sack", own->info.sack);
        json_bool(j, "timestamps", own->info.timestamps);
        json_bool(j, "wscale", own->info.wscale);
        json_bool(j, "snack", own->info.caps & SCPS_CAP_SNACK1);
        json_open(j, "capabilities", '{');
        capabilities(j, "offered", own->info.caps_offered);
        capabilities(j, "peer", own->info.caps_peer);
        capabilities(j, "in_force", own->info.caps);
        json_close(j, '}');
        json_open(j, "features", '{');
        for (int f = 0; f < SCPS_FEATURE_COUNT; f++)
            json_str(j, scps_feature_name((enum scps_feature)f),
                     scps_why_name((enum scps_why)own->info.why[f]));
        json_close(j, '}');
        json_uint(j, "pmtu", own->info.pmtu);
    } else {
        json_null(j, "sack");
        json_null(j, "timestamps");
        json_null(j, "wscale");
        json_null(j, "snack");
        json_null(j, "capabilities");
        json_null(j, "features");
        json_null(j, "pmtu");
    }
}

void ttcp_json_seed(struct json *j, const struct ttcp_result *r)
{
    if (r->virtual_time || r->opt->seed_set)
        json_uint(j, "seed", r->opt->seed);
    else
        json_null(j, "seed");
}

void ttcp_json_link(struct json *j, const struct ttcp_result *r)
{
    if (!r->virtual_time)
        return;
    json_open(j, "link", '{');
    json_str(j, "spec", r->opt->link_spec);
    link_config(j, "forward", &r->opt->fwd);
    link_config(j, "back", &r->opt->back);
    json_close(j, '}');
}

static void overhead(struct json *j, const struct ttcp_options *o)
{
    static const struct scps_addr any = {.family = 4};
    struct scps_route route;

    if (!ttcp_route(o, &any, NULL, &route)) {
        json_null(j, "overhead");
        return;
    }
    json_open(j, "overhead", '{');
    json_uint(j, "packet", route.overhead.packet);
    json_uint(j, "pre", route.overhead.pre);
    json_uint(j, "block", route.overhead.block);
    json_uint(j, "post", route.overhead.post);
    json_close(j, '}');
}

/* As --binding has them. */
static void bindings(struct json *j, const char *name, const struct scps_binding *b)
{
    char text[8 + 2 * SCPS_BINDING_MAX];

    json_open(j, name, '[');
    for (int i = 0; i < SCPS_BINDINGS; i++) {
        int n = snprintf(text, sizeof(text), "%u:", b[i].id);

        for (unsigned k = 0; k < b[i].len; k++)
            n += snprintf(text + n, sizeof(text) - (size_t)n, "%02x", b[i].data[k]);
        if (b[i].len != 0)
            json_str(j, NULL, text);
    }
    json_close(j, ']');
}

/* Every setting, whether it was given or not. */
static void config(struct json *j, const struct scps_conn_config *c)
{
    json_open(j, "config", '{');
    for (int i = 0; i < SETTINGS; i++) {
        const struct setting *s = &settings[i];
        const int64_t v = setting_get(s, c);
        char key[SETTING_NAME + 4], word[SETTING_NAME];

        snprintf(key, sizeof(key), "%s%s", s->name,
                 s->kind == TIME   ? "_us"
                 : s->kind == RATE ? "_bps"
                                   : "");
        if (s->kind == FLAG)
            json_bool(j, key, v != 0);
        else if (s->kind == CHOICE)
            json_str(j, key, setting_word_at(s, v, word));
        else
            json_uint(j, key, (uint64_t)v * (s->kind == RATE ? 8 : 1));
    }
    json_close(j, '}');
}

/* The configuration of this end, in force or, when there was no connection, as it would have
 * been. */
static struct scps_conn_config own_config(const struct ttcp_result *r)
{
    const struct ttcp_side *own = r->has_tx ? &r->tx : &r->rx;

    return own->open ? own->config : ttcp_conn_config(r->opt, r->has_tx);
}

static void start_scps(struct json *j, const struct ttcp_result *r)
{
    const struct ttcp_options *o = r->opt;
    const struct ttcp_side *own = r->has_tx ? &r->tx : &r->rx;
    const struct scps_conn_config c = ttcp_conn_config(o, r->has_tx), resolved = own_config(r);

    json_open(j, "scps", '{');
    controller(j, o);
    json_str(j, "ack_mode", ttcp_ack_mode_name(o->conn.ack_mode));
    json_us(j, "ack_delay_us", o->conn.ack_delay);
    json_uint(j, "rate_bps", o->rate_bps);
    json_uint(j, "burst", c.burst);
    ttcp_json_seed(j, r);
    json_bool(j, "virtual_time", r->virtual_time);
    json_bool(j, "hollow", o->hollow);
    json_bool(j, "nodelay", o->conn.nodelay);
    json_us(j, "expected_rtt_us", o->conn.expected_rtt);
    json_uint(j, "first_window", c.first_window);
    json_str(j, "loss_cause", scps_loss_cause_name(c.loss_cause));
    json_str(j, "recovery", scps_recovery_name(c.recovery));
    json_uint(j, "dupthresh", c.dupthresh);
    json_bool(j, "holes_at_once", c.holes_at_once);
    json_uint(j, "ack_budget_bps", c.ack_budget * 8);
    json_uint(j, "ack_budget_pps", c.ack_budget_pps);
    json_uint(j, "route_rate_bps", o->route_bps);
    json_uint(j, "min_rate_bps", o->min_bps);
    overhead(j, o);
    json_uint(j, "comp_proto", c.comp_proto);
    bindings(j, "bindings_offered", o->conn.binding);
    if (own->open && own->info.established != 0)
        bindings(j, "bindings", own->info.binding);
    else
        json_null(j, "bindings");
    config(j, &resolved);
    agreed(j, own);
    ttcp_json_link(j, r);
    json_close(j, '}');
}

static void start(struct json *j, const struct ttcp_result *r)
{
    const struct ttcp_options *o = r->opt;
    const struct ttcp_side *own = r->has_tx ? &r->tx : &r->rx;
    const struct scps_conn_config c = own_config(r);

    json_open(j, "start", '{');
    json_open(j, "connected", '[');
    connected(j, own, o->udp);
    json_close(j, ']');
    json_str(j, "version", "scps_ttcp " SCPS_VERSION);
    if (!r->virtual_time)
        real_world(j, r);
    if (r->has_tx && (o->host != NULL || own->open)) {
        json_open(j, "connecting_to", '{');
        if (o->host != NULL) {
            json_str(j, "host", o->host);
            json_uint(j, "port", o->port);
        } else {
            endpoint(j, "host", "port", &own->remote);
        }
        json_close(j, '}');
    } else if (!r->has_tx && own->open) {
        json_open(j, "accepted_connection", '{');
        endpoint(j, "host", "port", &own->remote);
        json_close(j, '}');
    }
    if (o->udp) {
        json_uint(j, "sock_bufsize", o->buffer);
        test_start(j, r);
        ttcp_json_udp_scps(j, r);
        json_close(j, '}');
        return;
    }
    json_uint(j, "tcp_mss_default", own->open ? own->info.snd_mss : 0);
    json_uint(j, "sock_bufsize", o->buffer);
    json_uint(j, "sndbuf_actual", c.sndbuf);
    json_uint(j, "rcvbuf_actual", c.rcvbuf);
    test_start(j, r);
    start_scps(j, r);
    json_close(j, '}');
}

static void interval_item(struct json *j, const struct ttcp_result *r, const char *key,
                          const struct ttcp_interval *i, bool stream)
{
    uint64_t bytes = r->has_tx ? i->acked : i->delivered;

    json_open(j, key, '{');
    if (stream)
        json_uint(j, "socket", r->has_tx ? r->tx.id : r->rx.id);
    json_seconds(j, "start", i->start);
    json_seconds(j, "end", i->end);
    json_seconds(j, "seconds", i->end - i->start);
    json_uint(j, "bytes", bytes);
    rate(j, bytes, i->end - i->start);
    if (r->has_tx)
        json_uint(j, "retransmits", i->retransmits);
    if (stream) {
        if (r->has_tx) {
            json_uint(j, "snd_cwnd", i->cwnd);
            json_uint(j, "snd_wnd", i->snd_wnd);
        }
        json_us(j, "rtt", i->rtt);
        json_us(j, "rttvar", i->rttvar);
        json_uint(j, "pmtu", i->pmtu);
    }
    json_bool(j, "omitted", false);
    json_bool(j, "sender", r->has_tx);
    json_close(j, '}');
}

static void interval(struct json *j, const struct ttcp_result *r, const struct ttcp_interval *i)
{
    json_open(j, NULL, '{');
    json_open(j, "streams", '[');
    interval_item(j, r, NULL, i, true);
    json_close(j, ']');
    interval_item(j, r, "sum", i, false);
    json_open(j, "scps", '{');
    if (r->has_tx) {
        json_uint(j, "enqueued_bytes", i->enqueued);
        json_uint(j, "acked_bytes", i->acked);
        json_uint(j, "inflight", i->inflight);
    }
    if (r->has_rx) {
        json_uint(j, "delivered_bytes", i->delivered);
        json_uint(j, "holes", i->holes);
    }
    json_str(j, "hold", scps_hold_name(i->hold));
    json_close(j, '}');
    json_close(j, '}');
}

/* One of end.sum_sent, end.sum_received and the two in end.streams. */
static void sum(struct json *j, const struct ttcp_result *r, const char *key, bool sent,
                bool stream)
{
    uint64_t bytes = sent ? r->acked_bytes : ttcp_received_bytes(r);
    scps_dur us = sent ? ttcp_sent_time(r) : ttcp_received_time(r);

    json_open(j, key, '{');
    if (stream)
        json_uint(j, "socket", r->has_tx ? r->tx.id : r->rx.id);
    json_seconds(j, "start", 0);
    json_seconds(j, "end", us);
    json_seconds(j, "seconds", us);
    json_uint(j, "bytes", bytes);
    rate(j, bytes, us);
    if (sent && r->has_tx)
        json_uint(j, "retransmits", r->tx.info.resent_segs);
    if (sent && r->has_tx && stream) {
        json_us(j, "min_rtt", r->tx.info.min_rtt);
        json_us(j, "mean_rtt", r->tx.info.srtt);
    }
    json_bool(j, "sender", r->has_tx);
    json_close(j, '}');
}

static void timing(struct json *j, const struct ttcp_result *r)
{
    json_open(j, "timing", '{');
    json_us(j, "connect_us", r->connect);
    json_us(j, "first_byte_us", r->first_byte);
    json_us(j, "enqueued_us", r->enqueued);
    json_us(j, "acked_us", r->acked);
    json_us(j, "delivered_us", r->delivered);
    json_us(j, "close_us", r->closed);
    json_close(j, '}');
}

void ttcp_json_drops(struct json *j, const char *key, const struct ttcp_side *s)
{
    json_open(j, key, '{');
    for (int d = SCPS_DROP_NONE + 1; d < SCPS_DROP_COUNT; d++)
        json_uint(j, scps_drop_name((enum scps_drop)d), s->stack.drops[d]);
    json_close(j, '}');
}

static void tcp(struct json *j, const char *key, const struct ttcp_side *s)
{
    const struct scps_info *i = &s->info;

    json_open(j, key, '{');
    json_uint(j, "segments_sent", i->segs_out);
    json_uint(j, "segments_received", i->segs_in);
    json_uint(j, "data_segments_sent", i->data_segs_out);
    json_uint(j, "data_segments_received", i->data_segs_in);
    json_uint(j, "retransmits", i->resent_segs);
    json_uint(j, "bytes_sent", i->bytes_sent);
    json_uint(j, "bytes_resent", i->bytes_resent);
    json_uint(j, "bytes_received", i->bytes_received);
    json_uint(j, "bytes_duplicate", i->bytes_duplicate);
    json_uint(j, "timeouts", i->timeouts);
    json_uint(j, "recoveries", i->recoveries);
    json_uint(j, "spurious", i->spurious);
    json_uint(j, "cc_corrected", i->cc_corrected);
    json_str(j, "recovery", scps_recovery_name(i->recovery));
    json_uint(j, "tlp_probes", i->tlp_probes);
    json_uint(j, "reordered", i->reordered);
    json_uint(j, "reo_wnd_us", (uint64_t)i->reo_wnd);
    json_uint(j, "dupacks", i->dupacks_in);
    json_uint(j, "sacks", i->sacks_in);
    json_uint(j, "sacks_out", i->sacks_out);
    json_uint(j, "dsacks", i->dsacks_in);
    json_uint(j, "dsacks_out", i->dsacks_out);
    json_uint(j, "snacks_in", i->snacks_in);
    json_uint(j, "snacks_out", i->snacks_out);
    json_uint(j, "acks_out", i->acks_out);
    json_uint(j, "acks_held", i->acks_held);
    json_uint(j, "probes_out", i->probes_out);
    json_uint(j, "out_of_order", i->ooo_segs);
    json_uint(j, "zero_windows_in", i->zero_windows_in);
    json_uint(j, "zero_windows_out", i->zero_windows_out);
    json_open(j, "compressed", '{');
    json_uint(j, "segments_out", i->comp_out);
    json_uint(j, "segments_in", i->comp_in);
    json_uint(j, "saved_out", i->comp_saved_out);
    json_uint(j, "saved_in", i->comp_saved_in);
    json_close(j, '}');
    json_us(j, "min_rtt_us", i->min_rtt > 0 ? i->min_rtt : -1);
    json_us(j, "srtt_us", i->srtt > 0 ? i->srtt : -1);
    json_us(j, "rto_us", i->rto);
    if (i->max_cwnd >= SCPS_CWND_OPEN)
        json_null(j, "max_cwnd");
    else
        json_uint(j, "max_cwnd", i->max_cwnd);
    ttcp_json_drops(j, "drops", s);
    json_open(j, "holds_us", '{');
    for (int h = 0; h < SCPS_HOLD_COUNT; h++)
        json_us(j, scps_hold_name((enum scps_hold)h), i->holds[h]);
    json_close(j, '}');
    json_close(j, '}');
}

static void link_stats(struct json *j, const char *key, const struct scps_link_stats *s)
{
    json_open(j, key, '{');
    json_uint(j, "offered", s->offered);
    json_uint(j, "delivered", s->delivered);
    for (int f = SCPS_FATE_BER; f < SCPS_FATE_COUNT; f++) {
        char name[24];
        snprintf(name, sizeof(name), "dropped_%s", scps_fate_name((enum scps_fate)f));
        json_uint(j, name, scps_link_dropped(s, (enum scps_fate)f));
    }
    json_uint(j, "duplicated", s->duplicated);
    json_uint(j, "reordered", s->reordered);
    json_uint(j, "flipped", s->flipped);
    json_uint(j, "in_flight", s->in_flight);
    json_uint(j, "max_queue_bytes", s->max_queue_bytes);
    json_us(j, "busy_us", s->busy);
    json_close(j, '}');
}

static void cpu(struct json *j, const struct ttcp_result *r)
{
    uint64_t us = r->elapsed > 0 ? (uint64_t)r->elapsed : 1;
    const uint64_t used[3] = {r->cpu_user_us + r->cpu_system_us, r->cpu_user_us, r->cpu_system_us};
    static const char *const names[3] = {"host_total", "host_user", "host_system"};

    json_open(j, "cpu_utilization_percent", '{');
    for (int i = 0; i < 3; i++) {
        char text[32];
        uint64_t cents = used[i] * 10000 / us;

        snprintf(text, sizeof(text), "%" PRIu64 ".%02" PRIu64, cents / 100, cents % 100);
        json_raw(j, names[i], text);
    }
    json_close(j, '}');
}

/* What best effort did without. */
static void holes(struct json *j, const char *key, const struct ttcp_side *s)
{
    json_open(j, key, '{');
    json_uint(j, "bytes", s->missing);
    json_uint(j, "count", s->n_holes);
    json_open(j, "list", '[');
    for (size_t i = 0; i < s->n_holes; i++) {
        json_open(j, NULL, '{');
        json_uint(j, "offset", s->holes[i].at);
        json_uint(j, "length", s->holes[i].len);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}

static void records(struct json *j, const struct ttcp_result *r)
{
    json_open(j, "records", '{');
    if (r->has_tx)
        json_uint(j, "written", r->tx.info.records_out);
    if (r->has_rx) {
        json_uint(j, "read", r->rx.records);
        json_uint(j, "torn", r->rx.torn);
        json_uint(j, "min_bytes", r->rx.record_min);
        json_uint(j, "max_bytes", r->rx.record_max);
    }
    json_close(j, '}');
}

static void echoes(struct json *j, const struct ttcp_echo *e)
{
    json_open(j, "echo", '{');
    json_uint(j, "count", e->count);
    json_uint(j, "bytes", e->bytes);
    json_us(j, "min_us", e->min);
    json_us(j, "mean_us", e->count > 0 ? e->sum / (scps_dur)e->count : 0);
    json_us(j, "max_us", e->max);
    json_close(j, '}');
}

void ttcp_json_ran(struct json *j, const struct ttcp_result *r)
{
    if (!r->virtual_time) {
        cpu(j, r);
        return;
    }
    json_open(j, "link", '{');
    link_stats(j, "forward", &r->fwd);
    link_stats(j, "back", &r->back);
    json_close(j, '}');
}

void ttcp_json_outcome(struct json *j, const struct ttcp_result *r)
{
    json_str(j, "outcome", ttcp_outcome_name(r->outcome));
    json_uint(j, "exit_status", (uint64_t)ttcp_exit_status(r->outcome));
    json_us(j, "elapsed_us", r->elapsed);
}

void ttcp_json_verified(struct json *j, const struct ttcp_result *r)
{
    if (r->compared)
        json_bool(j, "verified", r->intact);
    else
        json_null(j, "verified");
}

static void end(struct json *j, const struct ttcp_result *r)
{
    json_open(j, "end", '{');
    json_open(j, "streams", '[');
    json_open(j, NULL, '{');
    sum(j, r, "sender", true, true);
    sum(j, r, "receiver", false, true);
    json_close(j, '}');
    json_close(j, ']');
    sum(j, r, "sum_sent", true, false);
    sum(j, r, "sum_received", false, false);
    ttcp_json_ran(j, r);
    if (r->has_tx)
        json_str(j, "sender_tcp_congestion", r->opt->cc->name);
    if (r->has_rx)
        json_str(j, "receiver_tcp_congestion", r->opt->cc->name);
    timing(j, r);
    tcp(j, "tcp", r->has_tx ? &r->tx : &r->rx);
    if (r->has_tx && r->has_rx)
        tcp(j, "tcp_peer", &r->rx);
    json_open(j, "scps", '{');
    ttcp_json_outcome(j, r);
    if (r->has_tx) {
        json_uint(j, "enqueued_bytes", r->tx.bytes);
        json_uint(j, "acked_bytes", r->acked_bytes);
        json_uint(j, "write_calls", r->tx.calls);
    }
    if (r->has_rx) {
        json_uint(j, "delivered_bytes", r->rx.bytes);
        json_uint(j, "read_calls", r->rx.calls);
    }
    if (r->opt->conn.records)
        records(j, r);
    if (r->opt->echo && r->has_tx)
        echoes(j, &r->tx.echo);
    if (r->opt->conn.bets && r->has_rx)
        holes(j, "holes", &r->rx);
    if (r->opt->conn.bets && r->has_tx)
        holes(j, "given_up", &r->tx);
    if (r->limit_bps != 0)
        json_uint(j, "physical_limit_bps", r->limit_bps);
    json_close(j, '}');
    ttcp_json_verified(j, r);
    json_close(j, '}');
}

void ttcp_report_json(const struct ttcp_result *r, FILE *f)
{
    struct json j = {.f = f};

    json_open(&j, NULL, '{');
    start(&j, r);
    json_open(&j, "intervals", '[');
    for (size_t i = 0; i < r->n_intervals; i++)
        (r->opt->udp ? ttcp_json_udp_interval : interval)(&j, r, &r->intervals[i]);
    json_close(&j, ']');
    (r->opt->udp ? ttcp_json_udp_end : end)(&j, r);
    if (r->outcome != TTCP_DONE)
        json_str(&j, "error", r->error);
    json_close(&j, '}');
}
