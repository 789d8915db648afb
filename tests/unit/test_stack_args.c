/* SPDX-License-Identifier: MIT */
/* Arguments of a stack that are out of range are refused, or have no effect: routes, addresses,
 * times, netifs and signals. */
#include "cmocka_all.h"

#include <scps/scps.h>
#include <scps/wire.h>

#include <string.h>
#include <time.h>

struct host {
    struct scps_stack *st;
    struct scps_netif nif;
    struct scps_addr us;
    struct scps_endpoint them;
};

static void open_host(struct host *h, const char *us, const char *them, unsigned prefix,
                      uint32_t mtu)
{
    memset(h, 0, sizeof *h);
    h->st = scps_stack_new(NULL);
    h->nif = (struct scps_netif){.name = "test", .mtu = mtu};
    assert_int_equal(scps_addr_parse(us, &h->us), 0);
    assert_int_equal(scps_addr_parse(them, &h->them.addr), 0);
    h->them.port = 80;
    assert_int_equal(scps_stack_add_netif(h->st, &h->nif), 0);
    assert_int_equal(scps_stack_add_addr(h->st, &h->nif, &h->us, prefix), 0);
}

static struct scps_info connect_info(struct host *h)
{
    struct scps_conn *c = scps_connect(h->st, NULL, NULL, &h->them, NULL);
    struct scps_info info;

    assert_non_null(c);
    scps_conn_info(c, &info);
    scps_conn_abort(c);
    return info;
}

/* ---- routes ---- */

static void check_route_mtu(const char *us, const char *them, unsigned prefix, uint32_t least)
{
    struct host h;
    open_host(&h, us, them, prefix, 1500);
    uint32_t over = h.us.family == 4 ? 40 : 60;
    struct scps_route r = {.dst = h.them.addr, .prefix = h.us.family == 4 ? 32 : 128};

    r.nif = &h.nif;
    for (r.mtu = 1; r.mtu < least; r.mtu++)
        assert_int_equal(scps_stack_add_route(h.st, &r), SCPS_ERR_RANGE);
    assert_int_equal(connect_info(&h).pmtu, 1500);
    assert_int_equal(scps_stack_add_route(h.st, &r), 0);
    assert_int_equal(connect_info(&h).pmtu, least);
    assert_int_equal(connect_info(&h).adv_mss, least - over);
    r.mtu = least - 1;
    assert_int_equal(scps_stack_set_route(h.st, &r), SCPS_ERR_RANGE);
    assert_int_equal(connect_info(&h).pmtu, least);
    r.mtu = 9000; /* The MTU is larger than that of the netif. */
    assert_int_equal(scps_stack_set_route(h.st, &r), 0);
    assert_int_equal(connect_info(&h).pmtu, 1500);
    scps_stack_free(h.st);
}

static void a_route_has_a_least_mtu(void **state)
{
    (void)state;
    check_route_mtu("10.0.0.1", "10.0.0.2", 24, SCPS_MTU_LEAST);
    check_route_mtu("2001:db8::1", "2001:db8::2", 64, SCPS_MTU_LEAST6);
}

/* The driver may change the MTU of a netif at any time. */
static void the_mss_never_wraps(void **state)
{
    (void)state;
    struct host h;
    open_host(&h, "2001:db8::1", "2001:db8::2", 64, SCPS_MTU_LEAST6);

    assert_int_equal(connect_info(&h).adv_mss, SCPS_MTU_LEAST6 - 60);
    for (h.nif.mtu = 0; h.nif.mtu <= 68; h.nif.mtu++)
        assert_int_equal(connect_info(&h).adv_mss, 8);
    h.nif.mtu = UINT32_MAX;
    assert_int_equal(connect_info(&h).adv_mss, 65535 - 60);
    scps_stack_free(h.st);
    /* The MTU suffices for IPv4, but not for IPv6. */
    open_host(&h, "10.0.0.1", "10.0.0.2", 24, SCPS_MTU_LEAST);
    assert_int_equal(scps_addr_parse("2001:db8::1", &h.us), 0);
    assert_int_equal(scps_stack_add_addr(h.st, &h.nif, &h.us, 64), SCPS_ERR_RANGE);
    assert_false(scps_stack_has_addr(h.st, &h.us));
    scps_stack_free(h.st);
}

#define ROUTE_REFUSED(field, value)                                                                \
    do {                                                                                           \
        struct scps_route bad = good;                                                              \
        bad.field = (value);                                                                       \
        assert_int_equal(scps_stack_add_route(h.st, &bad), SCPS_ERR_RANGE);                        \
        assert_int_equal(scps_stack_set_route(h.st, &bad), SCPS_ERR_RANGE);                        \
    } while (0)

static void the_fields_of_a_route_have_bounds(void **state)
{
    (void)state;
    struct host h;
    open_host(&h, "10.0.0.1", "10.0.0.2", 24, 1500);
    const scps_dur rtts[] = {-1, INT64_MIN, SCPS_SEC(INT64_C(3153600000)) + 1, INT64_MAX};
    const struct scps_route good = {.dst = h.them.addr,
                                    .prefix = 32,
                                    .nif = &h.nif,
                                    .expected_rtt = SCPS_SEC(INT64_C(3153600000)),
                                    .loss_cause = SCPS_LOSS_CORRUPTION,
                                    .rate = UINT64_C(1) << 43,
                                    .min_rate = UINT64_C(1) << 43,
                                    .burst = UINT32_C(1) << 30};

    assert_int_equal(scps_stack_add_route(h.st, &good), 0);
    assert_int_equal(scps_stack_set_route(h.st, &good), 0);
    for (size_t i = 0; i < sizeof rtts / sizeof *rtts; i++)
        ROUTE_REFUSED(expected_rtt, rtts[i]);
    ROUTE_REFUSED(loss_cause, SCPS_LOSS_OUTAGE);
    ROUTE_REFUSED(loss_cause, (enum scps_loss_cause)9);
    ROUTE_REFUSED(loss_cause, (enum scps_loss_cause) - 1);
    ROUTE_REFUSED(rate, good.rate + 1);
    ROUTE_REFUSED(min_rate, UINT64_MAX);
    ROUTE_REFUSED(burst, good.burst + 1);
    /* The refused values have had no effect: scps_connect() accepts the route. */
    (void)connect_info(&h);
    scps_stack_free(h.st);
}

/* ---- addresses ---- */

static void a_host_has_unicast_addresses(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int err;
    } t[] = {{"0.0.0.0", SCPS_ERR_INVAL},
             {"0.1.2.3", SCPS_ERR_INVAL},
             {"224.0.0.1", SCPS_ERR_INVAL},
             {"239.255.255.255", SCPS_ERR_INVAL},
             {"240.0.0.1", SCPS_ERR_INVAL},
             {"255.255.255.255", SCPS_ERR_INVAL},
             {"::", SCPS_ERR_INVAL},
             {"ff00::", SCPS_ERR_INVAL},
             {"ff02::1", SCPS_ERR_INVAL},
             {"1.0.0.0", 0},
             {"127.0.0.1", 0},
             {"223.255.255.255", 0},
             {"::1", 0},
             {"fe80::1", 0}};
    struct host h;
    open_host(&h, "10.0.0.1", "10.0.0.2", 0, 1500);

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct scps_endpoint to = {.port = 80};
        struct scps_conn *c;
        int err = 0;
        assert_int_equal(scps_addr_parse(t[i].text, &to.addr), 0);
        if (t[i].err || to.addr.family == 4) {
            c = scps_connect(h.st, NULL, NULL, &to, &err);
            assert_true(!c == (t[i].err != 0));
            assert_int_equal(err, t[i].err ? SCPS_ERR_BADADDR : 0);
            if (c)
                scps_conn_abort(c);
        }
        assert_int_equal(scps_stack_add_addr(h.st, &h.nif, &to.addr, 0), t[i].err);
        assert_true(scps_stack_has_addr(h.st, &to.addr) == !t[i].err);
    }
    scps_stack_free(h.st);
}

/* Passes a SYN from `from` to port 80 of h to the stack. Returns the scps_drop. */
static int syn_from(struct host *h, const char *from)
{
    struct scps_seg seg = {.sport = 99, .dport = 80, .seq = 1, .flags = SCPS_SYN, .wnd = 1000};
    struct scps_ip ip = {
        .dst = h->us, .version = 4, .proto = SCPS_IPPROTO_TCP, .ttl = 64, .df = true};
    uint8_t p[40];
    struct scps_pkt pkt = {.data = p, .len = sizeof p, .csum_ok = true};

    assert_int_equal(scps_addr_parse(from, &ip.src), 0);
    assert_int_equal(scps_ip_build(p, &ip, 20), 20);
    scps_tcp_build(p + 20, &seg);
    return scps_stack_input(h->st, &h->nif, &pkt);
}

/* RFC 9293 MUST-46: opening to a broadcast address is an error; MUST-63: a SYN from one has no
 * effect. RFC 1122 section 3.2.1.3 (d): it is the last address of a network that the host is in. */
static void a_directed_broadcast_address_is_no_peer(void **state)
{
    (void)state;
    static const struct {
        unsigned prefix;
        const char *addr;
        bool broadcast;
    } t[] = {{24, "10.0.0.255", true},  {24, "10.0.0.254", false},   {24, "10.0.1.255", false},
             {25, "10.0.0.127", true},  {25, "10.0.0.255", false},   {8, "10.255.255.255", true},
             {8, "10.0.0.255", false},  {30, "10.0.0.3", true},      {31, "10.0.0.1", false},
             {32, "10.0.0.255", false}, {0, "10.255.255.255", false}};

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct host h;
        struct scps_conn *c;
        struct scps_listener *l;
        struct scps_stack_stats s;
        int err = 0;
        open_host(&h, t[i].prefix == 31 ? "10.0.0.0" : "10.0.0.2", t[i].addr, t[i].prefix, 1500);
        const struct scps_route all = {.dst = {.family = 4}, .nif = &h.nif};
        assert_int_equal(scps_stack_add_route(h.st, &all), 0);
        c = scps_connect(h.st, NULL, NULL, &h.them, &err);
        assert_true(!c == t[i].broadcast);
        assert_int_equal(err, t[i].broadcast ? SCPS_ERR_BADADDR : 0);
        if (c)
            scps_conn_abort(c);
        l = scps_listen(h.st, NULL, &(struct scps_endpoint){.port = 80}, 1, NULL);
        assert_non_null(l);
        assert_int_equal(syn_from(&h, t[i].addr),
                         t[i].broadcast ? SCPS_DROP_BAD_ADDRESS : SCPS_DROP_NONE);
        scps_stack_get_stats(h.st, &s);
        assert_int_equal(s.half_open, !t[i].broadcast);
        scps_stack_free(h.st);
    }
}

/* ---- netifs that do not belong to the stack ---- */

/* A driver may still hand in packets of a netif that was removed, or never added. */
static void a_netif_of_no_stack_or_of_another(void **state)
{
    (void)state;
    struct host a, b;
    struct scps_netif loose = {.name = "loose", .mtu = 1500};
    uint8_t room[SCPS_MAX_HEADERS] = {0x45};
    struct scps_stack_stats s;
    struct scps_conn *c;
    open_host(&a, "10.0.0.2", "10.0.0.3", 24, 1500);
    open_host(&b, "10.0.0.3", "10.0.0.2", 24, 1500);
    c = scps_connect(a.st, NULL, NULL, &a.them, NULL);
    assert_non_null(c);
    struct scps_netif *const wrong[] = {&loose, &b.nif};
    for (size_t i = 0; i < 2; i++) {
        struct scps_pkt in = {.data = room, .len = 40, .at = SCPS_SEC(1)};
        struct scps_pkt out = {.data = room, .cap = sizeof room};
        assert_int_equal(scps_stack_input(a.st, wrong[i], &in), SCPS_DROP_NOT_OURS);
        assert_int_equal(scps_stack_output(a.st, wrong[i], SCPS_SEC(1), &out), SCPS_ERR_INVAL);
        assert_int_equal(scps_stack_now(a.st), 0); /* The calls had no effect. */
        scps_stack_get_stats(a.st, &s);
        assert_int_equal(s.drops[SCPS_DROP_NOT_OURS], i + 1);
        assert_int_equal(s.packets_in, 0);
    }
    struct scps_pkt out = {.data = room, .cap = sizeof room};
    /* The SYN still waits to be sent. */
    assert_int_equal(scps_stack_output(a.st, &a.nif, 0, &out), 1);
    /* The count of packets sent includes those of a netif that was removed. */
    for (int removed = 0; removed < 2; removed++) {
        if (removed)
            scps_stack_remove_netif(a.st, &a.nif);
        scps_stack_get_stats(a.st, &s);
        assert_int_equal(s.packets_out, 1);
        assert_int_equal(s.bytes_out, out.len);
    }
    assert_int_equal(scps_stack_input(a.st, &a.nif, &out), SCPS_DROP_NOT_OURS);
    assert_int_equal(scps_stack_output(a.st, &a.nif, SCPS_SEC(9), &out), SCPS_ERR_INVAL);
    scps_stack_free(a.st);
    scps_stack_free(b.st);
}

/* ---- time ---- */

static void take_time(struct host *h, int how, scps_time t)
{
    uint8_t room[256] = {0x45};
    struct scps_pkt p = {.data = room, .cap = sizeof room, .len = 40, .at = t};
    const struct scps_signal up = {.kind = SCPS_SIGNAL_LINK_UP};

    switch (how) {
    case 0:
        scps_stack_advance(h->st, t);
        break;
    case 1:
        while (scps_stack_output(h->st, &h->nif, t, &p) == 1)
            p = (struct scps_pkt){.data = room, .cap = sizeof room};
        break;
    case 2:
        (void)scps_pump_at(h->st, t);
        break;
    case 3:
        (void)scps_stack_input(h->st, &h->nif, &p);
        break;
    default:
        (void)scps_stack_signal(h->st, t, &up);
        break;
    }
}

/* A time above SCPS_NEVER / 2 is taken for SCPS_NEVER / 2; a program may hand in SCPS_NEVER itself,
 * for example a deadline. */
static void times_above_half_of_never(void **state)
{
    (void)state;
    const scps_time late[] = {SCPS_NEVER,         SCPS_NEVER - 1,     SCPS_NEVER - SCPS_SEC(1),
                              SCPS_NEVER / 2 + 1, SCPS_NEVER / 2 + 9, SCPS_NEVER / 2};

    for (size_t i = 0; i < sizeof late / sizeof *late; i++)
        for (int how = 0; how < 10; how++) {
            struct host h;
            open_host(&h, "10.0.0.1", "10.0.0.2", 24, 1500);
            if (how >= 5) { /* The host has sent a SYN. */
                assert_non_null(scps_connect(h.st, NULL, NULL, &h.them, NULL));
                take_time(&h, 1, 0);
            }
            for (int again = 0; again < 2; again++) {
                take_time(&h, how % 5, late[i]);
                assert_true(scps_stack_now(h.st) == SCPS_NEVER / 2);
            }
            scps_stack_free(h.st);
        }
}

static void a_signal_has_a_kind(void **state)
{
    (void)state;
    struct host h;
    open_host(&h, "10.0.0.1", "10.0.0.2", 24, 1500);
    struct scps_signal s = {.kind = (enum scps_signal_kind)(SCPS_SIGNAL_PATH + 1)};

    assert_int_equal(scps_stack_signal(h.st, 5, &s), SCPS_ERR_RANGE);
    s.kind = (enum scps_signal_kind) - 1;
    assert_int_equal(scps_stack_signal(h.st, 5, &s), SCPS_ERR_RANGE);
    assert_int_equal(scps_stack_now(h.st), 0);
    for (int kind = 0; kind <= SCPS_SIGNAL_PATH; kind++) {
        s.kind = (enum scps_signal_kind)kind;
        assert_int_equal(scps_stack_signal(h.st, 5, &s), 0);
    }
    scps_stack_free(h.st);
}

/* The timers are computed from the round trip of a signal, so it has the bounds of a configured
 * one: with a larger one the retransmission timeout would overflow. */
static void the_round_trip_of_a_signal_has_bounds(void **state)
{
    (void)state;
    const scps_dur most = SCPS_SEC(INT64_C(3153600000)); /* a hundred years */
    struct host h;
    open_host(&h, "10.0.0.1", "10.0.0.2", 24, 1500);
    struct scps_signal s = {.kind = SCPS_SIGNAL_PATH, .rtt = most};

    assert_int_equal(scps_stack_signal(h.st, 5, &s), 0);
    s.rtt = most + 1;
    assert_int_equal(scps_stack_signal(h.st, 5, &s), SCPS_ERR_RANGE);
    s.rtt = SCPS_NEVER;
    assert_int_equal(scps_stack_signal(h.st, 5, &s), SCPS_ERR_RANGE);
    s.rtt = -1;
    assert_int_equal(scps_stack_signal(h.st, 5, &s), SCPS_ERR_RANGE);
    scps_stack_free(h.st);
}

/* ---- the order of calls ---- */

static void removing_a_netif_that_is_not_attached_does_nothing(void **state)
{
    (void)state;
    struct host h, other;
    open_host(&h, "10.0.0.1", "10.0.0.2", 24, 1500);
    open_host(&other, "10.0.0.2", "10.0.0.1", 24, 1500);
    struct scps_netif never = {.name = "never", .mtu = 1500};
    struct scps_conn *c = scps_connect(h.st, NULL, NULL, &h.them, NULL);

    scps_stack_remove_netif(h.st, NULL);
    scps_stack_remove_netif(h.st, &never);
    scps_stack_remove_netif(h.st, &other.nif);
    assert_true(other.nif.stack == other.st);
    assert_true(scps_stack_has_addr(other.st, &other.us));
    assert_int_equal(scps_conn_error(c), 0);
    scps_stack_remove_netif(h.st, &h.nif);
    assert_int_equal(scps_conn_error(c), SCPS_ERR_LINKDOWN);
    scps_stack_remove_netif(h.st, &h.nif);
    assert_int_equal(scps_stack_add_netif(h.st, &h.nif), 0);
    scps_stack_free(h.st);
    scps_stack_free(other.st);
}

static bool device_full;
static unsigned device_sent;

static int device_send(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    (void)nif;
    (void)pkt;
    device_sent += !device_full;
    return device_full ? SCPS_ERR_AGAIN : 0;
}

/* A packet that waits for a full device is not sent from an address that was removed meanwhile. */
static void no_packet_leaves_from_a_removed_address(void **state)
{
    static const struct scps_netif_ops ops = {.name = "full", .send = device_send};
    static const char *const text[][2] = {{"10.0.0.1", "10.0.0.2"}, {"2001:db8::1", "2001:db8::2"}};

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        struct host h;
        const unsigned prefix = i & 1 ? 64 : 24;
        open_host(&h, text[i & 1][0], text[i & 1][1], prefix, 1500);
        struct scps_addr other = h.us;
        other.b[i & 1 ? 15 : 3] = 9;
        assert_int_equal(scps_stack_add_addr(h.st, &h.nif, &other, prefix), 0);
        h.nif.ops = &ops;
        device_full = true;
        device_sent = 0;
        struct scps_endpoint from = {.addr = h.us};
        assert_non_null(scps_connect(h.st, NULL, &from, &h.them, NULL));
        scps_pump_at(h.st, 0);
        assert_int_equal(scps_stack_remove_addr(h.st, &h.nif, i & 2 ? &other : &h.us), 0);
        device_full = false;
        scps_netif_ready(&h.nif);
        scps_pump_at(h.st, 0);
        /* The packet from the address that the host still has is sent. */
        assert_int_equal(device_sent, i & 2 ? 1 : 0);
        scps_stack_free(h.st);
    }
}

/* ---- configurations that are read back ---- */

/* The configuration that is read back is the one in force: a SYN that is sent again offers the same
 * as the first one. */
static void what_the_syn_offers_stays(void **state)
{
    (void)state;
    struct host h;
    open_host(&h, "10.0.0.1", "10.0.0.2", 24, 1500);
    struct scps_conn *c = scps_connect(h.st, NULL, NULL, &h.them, NULL);
    struct scps_conn_config was, set, now;
    uint8_t room[256];
    struct scps_pkt p = {.data = room, .cap = sizeof room};

    assert_int_equal(scps_stack_output(h.st, &h.nif, 0, &p), 1);
    const size_t first = p.len;
    scps_conn_get_config(c, &was);
    set = was;
    assert_int_equal(scps_conn_config_parse_cc(&set, "bbr", NULL, 0), 0);
    set.first_window = 1000;
    set.hollow = !was.hollow;
    set.mss = 777;
    set.sack = !was.sack;
    set.timestamps = !was.timestamps;
    set.wscale = !was.wscale;
    set.ecn = !was.ecn;
    set.snack = set.snack_long = set.snack_raw_unit = true;
    set.compress = true;
    set.comp_proto = 6;
    set.bets = set.bets_legacy = true;
    set.binding[0].id = 1;
    set.binding[0].len = 2;
    assert_int_equal(scps_conn_set_config(c, &set), 0);
    scps_conn_get_config(c, &now);
    assert_memory_equal(&now, &was, sizeof now);

    set.ttl = 9;
    set.sndbuf = 300;
    set.dupthresh = 7;
    assert_int_equal(scps_conn_set_config(c, &set), 0);
    scps_conn_get_config(c, &now);
    was.ttl = 9;
    was.sndbuf = 300;
    was.dupthresh = 7;
    assert_memory_equal(&now, &was, sizeof now);
    set.sndbuf = 1;
    assert_int_equal(scps_conn_set_config(c, &set), SCPS_ERR_RANGE);
    scps_conn_get_config(c, &now);
    assert_memory_equal(&now, &was, sizeof now);

    p = (struct scps_pkt){.data = room, .cap = sizeof room};
    assert_int_equal(scps_stack_output(h.st, &h.nif, SCPS_SEC(1), &p), 1);
    assert_int_equal(p.len, first);

    /* The same holds for a connection that has ended; this one was opened at time 0. */
    scps_stack_remove_netif(h.st, &h.nif);
    assert_int_equal(scps_conn_state(c), SCPS_CLOSED);
    set.sndbuf = 300;
    assert_int_equal(scps_conn_set_config(c, &set), 0);
    scps_conn_get_config(c, &now);
    assert_memory_equal(&now, &was, sizeof now);
    scps_stack_free(h.st);
}

/* ---- fixed memory ---- */

/* With fixed memory one kind of object never takes the memory of another: all connections open, and
 * all objects exist, however many more of each kind were asked for. */
static void fixed_memory_reserves_each_kind_of_object(void **state)
{
    (void)state;
    for (uint32_t size = 256; size <= 8192; size += 32)
        for (uint32_t conns = 1; conns <= 3; conns++) {
            struct scps_conn_config conn = scps_conn_config_default();
            struct scps_stack_config cfg = scps_stack_config_default();
            struct scps_netif nif[12] = {{.name = "0"}};
            unsigned n[5] = {0}, open = 0;
            struct host h = {.them = {.port = 80}};
            conn.sndbuf = conn.rcvbuf = size;
            cfg.max_conns = conns;
            cfg.fixed_memory = &conn;
            h.st = scps_stack_new(&cfg);
            assert_non_null(h.st);
            assert_int_equal(scps_addr_parse("10.0.0.1", &h.us), 0);
            for (unsigned i = 0; i < 12; i++) {
                struct scps_endpoint at = {.port = (uint16_t)(100 + i)};
                struct scps_addr own = h.us;
                struct scps_route r = {.dst = h.us, .prefix = 24, .nif = &nif[0]};
                int err = 0;
                own.b[3] = (uint8_t)(1 + i);
                nif[i].mtu = 1500;
                err = scps_stack_add_netif(h.st, &nif[i]);
                n[0] += err == 0;
                assert_true(err == 0 || err == SCPS_ERR_NOMEM);
                n[1] += scps_listen(h.st, &conn, &at, 1, &err) != NULL;
                n[2] += scps_stack_add_addr(h.st, &nif[0], &own, 24) == 0;
                r.dst.b[2] = (uint8_t)i;
                r.rate = 1000;
                n[3] += scps_stack_add_route(h.st, &r) == 0;
                r.rate = 0;
                n[4] += scps_stack_add_route(h.st, &r) == 0;
            }
            assert_int_equal(n[0], SCPS_FIXED_NETIFS);
            assert_int_equal(n[1], SCPS_FIXED_LISTENERS);
            assert_true(n[2] > 0 && n[2] <= SCPS_FIXED_ADDRS);
            assert_int_equal(n[3], SCPS_FIXED_RATED);
            assert_int_equal(n[2] + n[3] + n[4], SCPS_FIXED_ROUTES);
            h.them.addr = h.us;
            h.them.addr.b[3] = 99;
            for (uint32_t i = 0; i <= conns; i++) {
                int err = 0;
                struct scps_conn *c = scps_connect(h.st, &conn, NULL, &h.them, &err);
                assert_int_equal(err, c ? 0 : SCPS_ERR_LIMIT);
                open += c != NULL;
                if (c)
                    assert_int_equal(scps_conn_write(c, NULL, size, 0), size);
            }
            assert_int_equal(open, conns);
            scps_stack_free(h.st);
        }
}

/* ---- many connections ---- */

/* Thousands of connections wait for a device that takes no packet. To move them all to the queue of
 * another route, or to end them all, takes time in proportion to their number: with time in
 * proportion to its square it would be several seconds. */
static void many_connections_that_wait(void **x)
{
    for (int how = 0; how < 3; how++) {
        struct host h;
        struct scps_route r;
        (void)x;
        open_host(&h, "10.0.0.1", "10.0.0.2", 24, 1500);
        for (uint16_t i = 0; i < 20000; i++) {
            h.them.port = (uint16_t)(1000 + i);
            assert_non_null(scps_connect(h.st, NULL, NULL, &h.them, NULL));
        }
        r = (struct scps_route){.dst = h.them.addr, .prefix = 32, .nif = &h.nif, .rate = 1000000};
        const clock_t began = clock();
        if (how == 1)
            assert_int_equal(scps_stack_add_route(h.st, &r), 0);
        if (how == 2)
            scps_stack_remove_netif(h.st, &h.nif);
        scps_stack_free(h.st);
        assert_true(clock() - began < 2 * CLOCKS_PER_SEC);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_route_has_a_least_mtu),
        cmocka_unit_test(the_mss_never_wraps),
        cmocka_unit_test(the_fields_of_a_route_have_bounds),
        cmocka_unit_test(a_host_has_unicast_addresses),
        cmocka_unit_test(a_directed_broadcast_address_is_no_peer),
        cmocka_unit_test(a_netif_of_no_stack_or_of_another),
        cmocka_unit_test(times_above_half_of_never),
        cmocka_unit_test(a_signal_has_a_kind),
        cmocka_unit_test(the_round_trip_of_a_signal_has_bounds),
        cmocka_unit_test(what_the_syn_offers_stays),
        cmocka_unit_test(fixed_memory_reserves_each_kind_of_object),
        cmocka_unit_test(removing_a_netif_that_is_not_attached_does_nothing),
        cmocka_unit_test(no_packet_leaves_from_a_removed_address),
        cmocka_unit_test(many_connections_that_wait),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
