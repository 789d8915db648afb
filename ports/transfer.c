/* SPDX-License-Identifier: MIT */
/* Transfers between two stacks over a simulated link, in virtual time: each packet is a line, with
 * a sum over its octets. What a board prints is what any other machine prints, except for lines
 * that begin with '#', which tell what it took. Needs no clock and no device but a serial port. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "board.h"
#include <scps/scps.h>
#include <scps/sim.h>
#include <scps/traffic.h>

static const struct run {
    const char *link, *cc;
    uint64_t bytes;
    bool six, snack, compress, rack;
} runs[] = {
    {"geo,ber=5e-6", "vegas", 100000, .snack = true},
    {"geo,ber=5e-6,flip,framing=aos", "vj", 100000, .six = true, .snack = true, .compress = true},
    {"leo,loss=0.03,reorder=0.02,dup=0.01", "cubic", 200000, .rack = true},
    {"nasa10,ber=5e-6", "rate", 200000, .snack = true},
    {"leo,jitter=3ms,loss=0.02", "bbr", 200000, .six = true},
};

#define BUFFER 32768 /* sndbuf and rcvbuf */
#define CHUNK  512

static void say(const char *fmt, ...)
{
    char line[200];
    va_list args;
    int n;

    va_start(args, fmt);
    n = vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    board_write(line, n < (int)sizeof line ? (size_t)n : sizeof line - 1);
}

/* FNV-1a over the octets of a packet. */
static uint64_t sum(uint64_t h, const uint8_t *p, size_t n)
{
    while (n--)
        h = (h ^ *p++) * UINT64_C(0x100000001b3);
    return h;
}

struct direction {
    char sign;
    uint64_t packets, octets;
};
static void packet(void *ctx, const struct scps_verdict *v)
{
    struct direction *d = ctx;
    const struct scps_pkt *p = v->pkt;
    uint64_t h = sum(UINT64_C(0xcbf29ce484222325), p->data, p->len);

    if (p->payload)
        h = sum(h, p->payload, p->payload_len);
    d->packets++;
    d->octets += p->len + p->payload_len;
    say("%10" PRId64 " %c %4u %016" PRIx64 " %s\n", v->offered, d->sign,
        (unsigned)(p->len + p->payload_len), h, scps_fate_name(v->fate));
}

struct sender {
    struct scps_conn *conn;
    uint64_t total, written;
};
static void sends(struct scps_host *h, const struct scps_event *ev, void *ctx)
{
    struct sender *s = ctx;
    uint8_t buf[CHUNK];
    int64_t n = 1;

    (void)h;
    if (ev->kind != SCPS_EV_CONNECTED && ev->kind != SCPS_EV_WRITABLE)
        return;
    while (s->written < s->total && n > 0) {
        size_t len = s->total - s->written < CHUNK ? (size_t)(s->total - s->written) : CHUNK;
        scps_pattern_fill(buf, len, s->written);
        n = scps_conn_write(s->conn, buf, len, 0);
        s->written += n > 0 ? (uint64_t)n : 0;
    }
    if (s->written == s->total)
        scps_conn_shutdown(s->conn);
}

struct receiver {
    uint64_t received, wrong; /* octets, and pieces that are not the pattern */
};
static void receives(struct scps_host *h, const struct scps_event *ev, void *ctx)
{
    struct receiver *r = ctx;
    struct scps_conn *c = ev->kind == SCPS_EV_ACCEPT ? scps_accept(ev->listener) : ev->conn;
    const uint8_t *p;
    size_t n;

    (void)h;
    while (c && ev->kind != SCPS_EV_CLOSED && (p = scps_conn_data(c, &n)) != NULL) {
        r->wrong += !scps_pattern_check(p, n, r->received);
        r->received += n;
        scps_conn_read(c, NULL, n, 0);
    }
    if (c && ev->kind == SCPS_EV_PEER_CLOSED)
        scps_conn_shutdown(c);
}

static int fail(const char *what, const char *why)
{
    say("failed: %s: %s\n", what, why);
    return 1;
}

/* What the link's text and the run say; 0, or -1 with the reason in why. */
static int configure(const struct run *r, struct scps_conn_config *c, struct scps_link_config *up,
                     struct scps_link_config *down, char *why, size_t whylen)
{
    *c = scps_conn_config_default();
    if (scps_link_parse(r->link, up, down, why, whylen) != 0 ||
        scps_conn_config_parse_cc(c, r->cc, why, whylen) != 0)
        return -1;
    up->seed = down->seed = 7;
    c->sndbuf = c->rcvbuf = BUFFER;
    c->mss = 1300;
    c->expected_rtt = up->delay + down->delay;
    c->rate = strcmp(r->cc, "rate") == 0 ? up->rate_bps / 8 : 0;
    c->snack = c->snack_long = r->snack;
    c->compress = r->compress;
    c->recovery = r->rack ? SCPS_RECOVERY_RACK : SCPS_RECOVERY_CLASSIC;
    return 0;
}

static int transfer(const struct run *r)
{
    struct scps_world *w = scps_world_new(NULL);
    struct scps_stack_config host = scps_stack_config_default();
    struct direction dir[2] = {{.sign = '>'}, {.sign = '<'}};
    struct sender s = {.total = r->bytes};
    struct receiver rx = {0, 0};
    struct scps_endpoint to = {.port = 5001};
    struct scps_link_config up, down;
    struct scps_conn_config cfg;
    struct scps_host *a, *b;
    struct scps_addr from;
    struct scps_info info;
    struct scps_link *l;
    char why[160];

    if (configure(r, &cfg, &up, &down, why, sizeof why) != 0)
        return fail(r->link, why);
    host.fixed_memory = &cfg;
    host.max_conns = 2;
    a = scps_world_host(w, "a", &host, sends, &s);
    b = scps_world_host(w, "b", &host, receives, &rx);
    scps_addr_parse(r->six ? "fd00::1" : "10.0.0.1", &from);
    scps_addr_parse(r->six ? "fd00::2" : "10.0.0.2", &to.addr);
    if (!w || !a || !b)
        return fail(r->link, "out of memory");
    l = scps_world_link(w, a, &from, b, &to.addr, r->six ? 64 : 24, 1400, &up, &down);
    if (!l || !scps_listen(scps_host_stack(b), &cfg, &to, 1, NULL))
        return fail(r->link, "no link");
    scps_link_observe(l, 0, packet, &dir[0]);
    scps_link_observe(l, 1, packet, &dir[1]);
    say("%s, %s, IPv%d\n", r->link, r->cc, r->six ? 6 : 4);
    s.conn = scps_connect(scps_host_stack(a), &cfg, NULL, &to, NULL);
    if (!s.conn)
        return fail(r->link, "no connection");
    scps_host_kick(a);
    scps_world_run(w, SCPS_SEC(600));
    scps_conn_info(s.conn, &info);
    say("= %" PRIu64 " octets, %" PRIu64 " wrong; %" PRIu64 " packets with %" PRIu64
        " octets out, %" PRIu64 " with %" PRIu64 " back; %u resent, acknowledged at %" PRId64
        " us, rtt %" PRId64 " us\n",
        rx.received, rx.wrong, dir[0].packets, dir[0].octets, dir[1].packets, dir[1].octets,
        (unsigned)info.resent_segs, info.fin_acked, info.srtt);
    scps_world_free(w);
    return rx.received != r->bytes || rx.wrong;
}

int main(void)
{
    int bad = 0;

    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++)
        bad |= transfer(&runs[i]);
    board_report();
    say(bad ? "failed\n" : "done\n");
    return bad;
}
