/* SPDX-License-Identifier: MIT */
/* Peers that send octets far ahead, to make a host allocate memory.
 *
 *     sender ---- 10 Mbit/s, 100 ms ----> receiver <---- many connections of other peers
 *
 * Each peer sends its first octet, reads the window in the reply, and then sends either the last
 * octet of that window or the whole window without its second octet. The receiver's memory stays
 * within its limit and in proportion to the octets that have arrived, and the sender's transfer
 * continues.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <scps/sim.h>
#include <scps/traffic.h>
#include <scps/wire.h>

#define PEERS  500
#define WINDOW (1 << 20)
#define WARM   SCPS_SEC(5)
#define UNTIL  SCPS_SEC(35)
#define MSS    1400u

enum attack { NONE, FAR_OCTET, ALL_BUT_ONE };

/* A connection of the attacker's. Its own numbers begin at 0. */
struct peer {
    /* iss: first sequence number of the receiver; edge: right edge of its window */
    uint32_t iss, edge;
    uint8_t scale;
    uint32_t next; /* all octets below this one were sent, except the hole */
};

struct far {
    /* first member: the netif of the receiver to which the attacker is attached */
    struct scps_netif nif;
    enum attack attack;
    uint64_t limit; /* memory_limit; 0: the default */
    struct scps_world *w;
    struct scps_host *host[2];
    struct scps_bulk_source source;
    struct scps_bulk_sink sink;
    uint64_t before;
    uint32_t turn;
    struct peer peer[PEERS];
    struct scps_stack_stats st;
};

static struct scps_addr address(const char *text)
{
    struct scps_addr a;

    assert_int_equal(scps_addr_parse(text, &a), 0);
    return a;
}

static void on_event(struct scps_host *h, const struct scps_event *ev, void *ctx)
{
    struct far *s = ctx;
    struct scps_endpoint from;

    if (ev->kind == SCPS_EV_ACCEPT) {
        struct scps_conn *c = scps_accept(ev->listener);
        scps_conn_remote(c, &from);
        /* The application does not read from the attacker's connections. */
        if (from.addr.b[1] == 0)
            scps_bulk_sink_start(&s->sink, c);
    } else if (h == s->host[0]) {
        scps_bulk_source_event(&s->source, ev);
    } else {
        scps_bulk_sink_event(&s->sink, ev);
    }
}

/* Handles a packet that the receiver sends to the attacker. */
static int hear(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    struct far *s = (struct far *)(void *)nif;
    struct scps_ip ip;
    struct scps_seg seg;

    assert_int_equal(scps_ip_parse(pkt->data, pkt->len, pkt->len, &ip), 0);
    assert_int_equal(scps_tcp_parse(pkt->data + 20, pkt->len - 20, pkt->len - 20, &seg), 0);
    struct peer *p = &s->peer[seg.dport - 1024];
    if (seg.flags & SCPS_SYN) {
        p->iss = seg.seq;
        p->scale = seg.wscale;
        p->edge = seg.ack + seg.wnd;
    } else {
        p->edge = seg.ack + ((uint32_t)seg.wnd << p->scale);
    }
    return 0;
}

static const struct scps_netif_ops ops = {"attacker", hear, NULL, NULL};

static void say(struct far *s, uint32_t i, uint32_t seq, uint8_t flags, uint32_t len)
{
    struct scps_ip ip = {.src = address("10.9.0.77"),
                         .dst = address("10.9.0.1"),
                         .version = 4,
                         .ttl = 64,
                         .proto = SCPS_IPPROTO_TCP};
    struct scps_seg seg = {
        .sport = (uint16_t)(1024 + i), .dport = 5001, .seq = seq, .flags = flags, .wnd = 65535};
    static uint8_t p[2000];
    size_t n;

    if (flags & SCPS_SYN) {
        seg.has = SCPS_HAS_MSS | SCPS_HAS_WSCALE | SCPS_HAS_SACK_OK;
        seg.mss = MSS;
        seg.wscale = 7;
    } else {
        seg.ack = s->peer[i].iss + 1;
        seg.data = p + 1000; /* the content has no meaning */
        seg.len = len;
    }
    n = scps_tcp_build(p + 20, &seg) + len;
    scps_ip_build(p, &ip, n);
    struct scps_pkt in = {.data = p, .len = 20 + n, .csum_ok = true, .at = scps_world_now(s->w)};
    scps_stack_input(scps_host_stack(s->host[1]), &s->nif, &in);
    scps_host_kick(s->host[1]);
}

/* Sends one packet of the attacker: two for each handshake, then data of the connections in
 * turn. */
static void strike(void *ctx)
{
    struct far *s = ctx;
    uint32_t t = s->turn++, i = t < 2 * PEERS ? t / 2 : t % PEERS;
    struct peer *p = &s->peer[i];

    if (t < 2 * PEERS)
        /* the ACK of the handshake carries the first octet */
        say(s, i, t % 2, t % 2 ? SCPS_ACK : SCPS_SYN, t % 2);
    else if (s->attack == FAR_OCTET && t < 3 * PEERS)
        say(s, i, p->edge - 1, SCPS_ACK, 1);
    else if (s->attack == ALL_BUT_ONE && p->next + MSS < p->edge) {
        p->next = p->next ? p->next + MSS : 3;
        say(s, i, p->next, SCPS_ACK, MSS);
    }
    assert_int_equal(scps_world_at(s->w, scps_world_now(s->w) + 500, strike, s), 0);
}

static void begin(void *ctx)
{
    struct far *s = ctx;

    s->before = s->sink.received;
}

/* Returns the goodput of the transfer beside the attack, Mbit/s. */
static double goodput(struct far *s, const char *link)
{
    struct scps_conn_config cfg = scps_conn_config_default();
    struct scps_stack_config stack = scps_stack_config_default();
    struct scps_endpoint there = {.addr = address("10.0.0.2"), .port = 5001}, any = {.port = 5001};
    struct scps_link_config fwd, back;
    struct scps_addr a = address("10.0.0.1"), side = address("10.9.0.1");
    char msg[200];
    int err;

    assert_int_equal(scps_link_parse(link, &fwd, &back, msg, sizeof msg), 0);
    s->w = scps_world_new(NULL);
    if (s->limit)
        stack.memory_limit = s->limit;
    for (int i = 0; i < 2; i++)
        s->host[i] =
            scps_world_host(s->w, i ? "receiver" : "sender", i ? &stack : NULL, on_event, s);
    assert_non_null(
        scps_world_link(s->w, s->host[0], &a, s->host[1], &there.addr, 24, 0, &fwd, &back));
    s->nif = (struct scps_netif){.ops = &ops, .name = "attacker", .mtu = 1500};
    struct scps_stack *st = scps_host_stack(s->host[1]);
    assert_int_equal(scps_stack_add_netif(st, &s->nif), 0);
    assert_int_equal(scps_stack_add_addr(st, &s->nif, &side, 16), 0);
    cfg.sndbuf = cfg.rcvbuf = WINDOW;
    any.addr.family = 4;
    assert_non_null(scps_listen(st, &cfg, &any, PEERS, &err));
    s->source.total = UINT64_MAX / 2;
    assert_int_equal(scps_bulk_source_start(&s->source, scps_connect(scps_host_stack(s->host[0]),
                                                                     &cfg, NULL, &there, &err)),
                     0);
    assert_int_equal(scps_world_at(s->w, WARM, begin, s), 0);
    if (s->attack)
        assert_int_equal(scps_world_at(s->w, SCPS_SEC(1), strike, s), 0);
    scps_host_kick(s->host[0]);
    scps_world_run(s->w, UNTIL);
    scps_stack_get_stats(st, &s->st);
    double got = (double)(s->sink.received - s->before) * 8 / (double)(UNTIL - WARM);
    print_message("%s: attack %d, limit %llu: %.3f Mbit/s; memory %llu, refused %llu, drops %llu\n",
                  link, s->attack, (unsigned long long)s->limit, got,
                  (unsigned long long)s->st.memory_peak, (unsigned long long)s->st.memory_refused,
                  (unsigned long long)s->st.drops[SCPS_DROP_MEMORY_LIMIT]);
    if (s->attack)
        assert_int_equal(s->st.conns, PEERS + 1);
    scps_bulk_source_fini(&s->source);
    scps_stack_remove_netif(st, &s->nif);
    scps_world_free(s->w);
    return got;
}

static double run(struct far *s, enum attack attack, uint64_t limit, const char *link)
{
    memset(s, 0, sizeof *s);
    s->attack = attack;
    s->limit = limit;
    return goodput(s, link);
}

/* One octet each: less than 16 KiB for a connection, where the window is 1 MiB. */
static void a_far_octet_each(void **x)
{
    static struct far s;
    const char *link = "rate=10mbit,rtt=100ms,loss=0.0001";
    (void)x;

    double alone = run(&s, NONE, 0, link);
    uint64_t memory = s.st.memory_peak;
    double beside = run(&s, FAR_OCTET, 0, link);
    assert_true(beside >= 0.9 * alone);
    assert_true(s.st.memory_peak - memory < PEERS * 16384u);
    assert_int_equal(s.st.drops[SCPS_DROP_MEMORY_LIMIT], 0);
}

/* Whole windows, of which a limit has room for one in 25: it holds, and data in order goes on. */
static void whole_windows(void **x)
{
    static struct far s;
    const char *link = "rate=10mbit,rtt=100ms,queue=100p";
    const uint64_t limit = 20u << 20;
    (void)x;

    double alone = run(&s, NONE, limit, link);
    double beside = run(&s, ALL_BUT_ONE, limit, link);
    assert_true(beside >= 0.9 * alone);
    assert_true(s.st.memory_peak <= limit && s.st.memory_peak > limit / 2);
    assert_true(s.st.drops[SCPS_DROP_MEMORY_LIMIT] > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_far_octet_each),
        cmocka_unit_test(whole_windows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
