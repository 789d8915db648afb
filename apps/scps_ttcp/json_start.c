/* SPDX-License-Identifier: MIT */
/* Writes the member "start" of the JSON report (--json) of a TCP transfer: the addresses, the
 * settings, and what the handshake agreed on. docs/schema/scps_ttcp.schema.json describes it.
 * report_udp.c writes the report of a transfer by UDP (-u).
 */
#include "scps_ttcp/option_table.h"
#include "scps_ttcp/report_parts.h"

#include <scps/error.h>
#include <scps/scps.h>
#include <scps/wire.h>

#include <inttypes.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

static void endpoint(struct scps_json *j, const char *host_key, const char *port_key,
                     const struct scps_endpoint *e)
{
    char addr[SCPS_ADDR_STRLEN];

    scps_json_string(j, host_key, scps_addr_format(&e->addr, addr));
    scps_json_uint(j, port_key, e->port);
}

static void connected(struct scps_json *j, const struct ttcp_side *s, bool udp)
{
    if (!s->open || (s->info.established == 0 && !udp))
        return;
    scps_json_open(j, NULL, '{');
    scps_json_uint(j, "socket", s->id);
    endpoint(j, "local_host", "local_port", &s->local);
    endpoint(j, "remote_host", "remote_port", &s->remote);
    scps_json_close(j, '}');
}

static void write_host_info(struct scps_json *j, const struct ttcp_result *r)
{
    struct utsname u;
    char text[512];
    time_t seconds = (time_t)(r->wall_start / 1000000);
    struct tm tm;

    if (uname(&u) == 0) {
        snprintf(text, sizeof(text), "%s %s %s %s %s", u.sysname, u.nodename, u.release, u.version,
                 u.machine);
        scps_json_string(j, "system_info", text);
    }
    gmtime_r(&seconds, &tm);
    strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &tm);
    scps_json_open(j, "timestamp", '{');
    scps_json_string(j, "time", text);
    scps_json_uint(j, "timesecs", (uint64_t)seconds);
    scps_json_close(j, '}');
}

static void test_start(struct scps_json *j, const struct ttcp_result *r)
{
    const struct ttcp_options *o = r->opt;
    bool counted = r->has_tx && o->pattern && o->count != UINT64_MAX;

    scps_json_open(j, "test_start", '{');
    scps_json_string(j, "protocol", o->udp ? "UDP" : "TCP");
    scps_json_uint(j, "num_streams", o->streams);
    scps_json_uint(j, "blksize", o->length);
    scps_json_uint(j, "omit", 0);
    scps_json_seconds(j, "duration", o->time);
    scps_json_uint(j, "bytes", counted ? ttcp_pattern_total(o) : 0);
    scps_json_uint(j, "blocks", counted ? o->count : 0);
    scps_json_uint(j, "reverse", o->reverse);
    scps_json_uint(j, "bidir", o->bidir);
    scps_json_uint(j, "tos", o->conn.tos);
    scps_json_uint(j, "target_bitrate", o->rate_bps);
    scps_json_close(j, '}');
}

static void link_config(struct scps_json *j, const char *key, const struct scps_link_config *c)
{
    char text[SCPS_LINK_TEXTLEN];

    scps_json_open(j, key, '{');
    scps_json_string(j, "text", scps_link_print(c, text));
    scps_json_uint(j, "rate_bps", c->rate_bps);
    scps_json_us(j, "delay_us", c->delay);
    scps_json_uint(j, "queue_bytes", c->queue_bytes);
    scps_json_uint(j, "queue_packets", c->queue_packets);
    scps_json_uint(j, "overhead", c->overhead);
    snprintf(text, sizeof(text), "%.9g", c->ber);
    scps_json_raw(j, "ber", text);
    snprintf(text, sizeof(text), "%.9g", c->loss);
    scps_json_raw(j, "loss", text);
    scps_json_close(j, '}');
}

/* Writes the member `key`: an array of the SCPS capabilities in caps (a set of SCPS_CAP_* bits) by
 * their names in CCSDS 714.0-B-2. */
static void capabilities(struct scps_json *j, const char *key, uint8_t caps)
{
    static const struct {
        uint8_t bit;
        const char *name;
    } names[] = {{SCPS_CAP_BETS, "bets"},
                 {SCPS_CAP_SNACK1, "snack1"},
                 {SCPS_CAP_SNACK2, "snack2"},
                 {SCPS_CAP_COM, "com"},
                 {SCPS_CAP_NLTS, "nlts"}};

    scps_json_open(j, key, '[');
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (caps & names[i].bit)
            scps_json_string(j, NULL, names[i].name);
    scps_json_close(j, ']');
}

static void controller(struct scps_json *j, const struct ttcp_options *o)
{
    const struct scps_cc_param *p = o->cc->params;

    scps_json_string(j, "cc", o->cc->name);
    scps_json_open(j, "cc_params", '{');
    for (size_t i = 0; p != NULL && p[i].name != NULL; i++) {
        char text[24];

        snprintf(text, sizeof(text), "%" PRId64, o->cc_param[i]);
        scps_json_raw(j, p[i].name, text);
    }
    scps_json_close(j, '}');
}

/* Writes "sack", "timestamps", "capabilities" and so on: what the handshake of the connection
 * agreed on at this end; each is null if there was no handshake. */
static void agreed(struct scps_json *j, const struct ttcp_side *own)
{
    if (own->open && own->info.established != 0) {
        scps_json_bool(j, "sack", own->info.sack);
        scps_json_bool(j, "timestamps", own->info.timestamps);
        scps_json_bool(j, "wscale", own->info.wscale);
        scps_json_bool(j, "snack", own->info.caps & SCPS_CAP_SNACK1);
        scps_json_open(j, "capabilities", '{');
        capabilities(j, "offered", own->info.caps_offered);
        capabilities(j, "peer", own->info.caps_peer);
        capabilities(j, "in_force", own->info.caps);
        scps_json_close(j, '}');
        scps_json_open(j, "features", '{');
        for (int f = 0; f < SCPS_FEATURE_COUNT; f++)
            scps_json_string(j, scps_feature_name((enum scps_feature)f),
                             scps_why_name((enum scps_why)own->info.why[f]));
        scps_json_close(j, '}');
        scps_json_uint(j, "pmtu", own->info.pmtu);
    } else {
        scps_json_null(j, "sack");
        scps_json_null(j, "timestamps");
        scps_json_null(j, "wscale");
        scps_json_null(j, "snack");
        scps_json_null(j, "capabilities");
        scps_json_null(j, "features");
        scps_json_null(j, "pmtu");
    }
}

void ttcp_json_seed(struct scps_json *j, const struct ttcp_result *r)
{
    if (r->virtual_time || r->opt->seed_set)
        scps_json_uint(j, "seed", r->opt->seed);
    else
        scps_json_null(j, "seed");
}

void ttcp_json_link(struct scps_json *j, const struct ttcp_result *r)
{
    if (!r->virtual_time)
        return;
    scps_json_open(j, "link", '{');
    scps_json_string(j, "spec", r->opt->link_spec);
    link_config(j, "forward", &r->opt->fwd);
    link_config(j, "back", &r->opt->back);
    scps_json_close(j, '}');
}

static void overhead(struct scps_json *j, const struct ttcp_options *o)
{
    static const struct scps_addr any = {.family = 4};
    struct scps_route route;

    if (!ttcp_route(o, &any, NULL, &route)) {
        scps_json_null(j, "overhead");
        return;
    }
    scps_json_open(j, "overhead", '{');
    scps_json_uint(j, "packet", route.overhead.packet);
    scps_json_uint(j, "pre", route.overhead.pre);
    scps_json_uint(j, "block", route.overhead.block);
    scps_json_uint(j, "post", route.overhead.post);
    scps_json_close(j, '}');
}

/* Writes the array `name` with the binding spaces in b (data of a vendor or a community in the SCPS
 * option of the SYN, CCSDS 714.0-B-2 section 3.2.5), each in the form ID:HEX, which --binding
 * takes. Entries of b with len 0 are left out. */
static void bindings(struct scps_json *j, const char *name, const struct scps_binding *b)
{
    char text[8 + 2 * SCPS_BINDING_MAX];

    scps_json_open(j, name, '[');
    for (int i = 0; i < SCPS_BINDINGS; i++) {
        int n = snprintf(text, sizeof(text), "%u:", b[i].id);

        for (unsigned k = 0; k < b[i].len; k++)
            n += snprintf(text + n, sizeof(text) - (size_t)n, "%02x", b[i].data[k]);
        if (b[i].len != 0)
            scps_json_string(j, NULL, text);
    }
    scps_json_close(j, ']');
}

/* Writes the member "config": every setting of the connection configuration *c, whether an option
 * set it or not. */
static void config(struct scps_json *j, const struct scps_conn_config *c)
{
    scps_json_open(j, "config", '{');
    for (int i = 0; i < SETTINGS; i++) {
        const struct setting *s = &settings[i];
        const int64_t v = setting_get(s, c);
        char key[SETTING_NAME + 4], word[SETTING_NAME];

        snprintf(key, sizeof(key), "%s%s", s->name,
                 s->kind == TIME   ? "_us"
                 : s->kind == RATE ? "_bps"
                                   : "");
        if (s->kind == FLAG)
            scps_json_bool(j, key, v != 0);
        else if (s->kind == CHOICE)
            scps_json_string(j, key, setting_word_at(s, v, word));
        else
            scps_json_uint(j, key, (uint64_t)v * (s->kind == RATE ? 8 : 1));
    }
    scps_json_close(j, '}');
}

/* Returns the connection configuration of this process's end of flow r: that of the connection or,
 * if none was opened, the configuration with which it would have been opened. */
static struct scps_conn_config own_config(const struct ttcp_result *r)
{
    const struct ttcp_side *own = r->has_tx ? &r->tx : &r->rx;

    return own->open ? own->config : ttcp_conn_config(r->opt, r->has_tx);
}

static void start_scps(struct scps_json *j, const struct ttcp_result *r)
{
    const struct ttcp_options *o = r->opt;
    const struct ttcp_side *own = r->has_tx ? &r->tx : &r->rx;
    const struct scps_conn_config c = ttcp_conn_config(o, r->has_tx), resolved = own_config(r);

    scps_json_open(j, "scps", '{');
    controller(j, o);
    scps_json_string(j, "ack_mode", ttcp_ack_mode_name(o->conn.ack_mode));
    scps_json_us(j, "ack_delay_us", o->conn.ack_delay);
    scps_json_uint(j, "rate_bps", o->rate_bps);
    scps_json_uint(j, "burst", c.burst);
    ttcp_json_seed(j, r);
    scps_json_bool(j, "virtual_time", r->virtual_time);
    scps_json_bool(j, "hollow", o->hollow);
    scps_json_bool(j, "nodelay", o->conn.nodelay);
    scps_json_us(j, "expected_rtt_us", o->conn.expected_rtt);
    scps_json_uint(j, "first_window", c.first_window);
    scps_json_string(j, "loss_cause", scps_loss_cause_name(c.loss_cause));
    scps_json_string(j, "recovery", scps_recovery_name(c.recovery));
    scps_json_uint(j, "dupthresh", c.dupthresh);
    scps_json_bool(j, "holes_at_once", c.holes_at_once);
    scps_json_uint(j, "ack_budget_bps", c.ack_budget * 8);
    scps_json_uint(j, "ack_budget_pps", c.ack_budget_pps);
    scps_json_uint(j, "route_rate_bps", o->route_bps);
    scps_json_uint(j, "min_rate_bps", o->min_bps);
    overhead(j, o);
    scps_json_uint(j, "comp_proto", c.comp_proto);
    bindings(j, "bindings_offered", o->conn.binding);
    if (own->open && own->info.established != 0)
        bindings(j, "bindings", own->info.binding);
    else
        scps_json_null(j, "bindings");
    config(j, &resolved);
    agreed(j, own);
    ttcp_json_link(j, r);
    scps_json_close(j, '}');
}

void ttcp_json_start(struct scps_json *j, const struct ttcp_result *r)
{
    const struct ttcp_options *o = r->opt;
    const struct ttcp_side *own = r->has_tx ? &r->tx : &r->rx;
    const struct scps_conn_config c = own_config(r);

    scps_json_open(j, "start", '{');
    scps_json_open(j, "connected", '[');
    for (const struct ttcp_result *one = r; one != NULL; one = one->next)
        /* Flows in the other direction use the same connections, which are listed already. */
        if (!one->back)
            connected(j, one->has_tx ? &one->tx : &one->rx, o->udp);
    scps_json_close(j, ']');
    scps_json_string(j, "version", "scps_ttcp " SCPS_VERSION);
    if (!r->virtual_time)
        write_host_info(j, r);
    if (r->has_tx && (o->host != NULL || own->open)) {
        scps_json_open(j, "connecting_to", '{');
        if (o->host != NULL) {
            scps_json_string(j, "host", o->host);
            scps_json_uint(j, "port", o->port);
        } else {
            endpoint(j, "host", "port", &own->remote);
        }
        scps_json_close(j, '}');
    } else if (!r->has_tx && own->open) {
        scps_json_open(j, "accepted_connection", '{');
        endpoint(j, "host", "port", &own->remote);
        scps_json_close(j, '}');
    }
    scps_json_uint(j, "target_bitrate", o->rate_bps);
    if (o->udp) {
        scps_json_uint(j, "sock_bufsize", o->buffer);
        test_start(j, r);
        ttcp_json_udp_scps(j, r);
        scps_json_close(j, '}');
        return;
    }
    scps_json_uint(j, "tcp_mss_default", own->open ? own->info.snd_mss : 0);
    scps_json_uint(j, "sock_bufsize", o->buffer);
    scps_json_uint(j, "sndbuf_actual", c.sndbuf);
    scps_json_uint(j, "rcvbuf_actual", c.rcvbuf);
    test_start(j, r);
    start_scps(j, r);
    scps_json_close(j, '}');
}
