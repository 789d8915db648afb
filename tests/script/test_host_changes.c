/* SPDX-License-Identifier: MIT */
/* A host that changes while it has connections: addresses and routes are removed, and an observer
 * is added; and the list of connections. The stack must not access what was removed, which the
 * address sanitizer checks. */
#include <scps/clock.h>
#include <scps/dgram.h>
#include <scps/scps.h>
#include <scps/wire.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "failing_alloc.h"

struct host {
    struct poor poor;
    struct scps_stack *st;
    struct scps_netif nif[2];
    scps_time now;
    struct scps_addr us, other;
    struct scps_endpoint them;
};

static struct host *host_new(void)
{
    struct host *h = calloc(1, sizeof *h);
    struct scps_stack_config cfg = scps_stack_config_default();

    h->poor.left = 1000000;
    h->now = cfg.now = SCPS_SEC(1);
    cfg.alloc = (struct scps_alloc){poor_alloc, poor_free, &h->poor};
    h->st = scps_stack_new(&cfg);
    scps_addr_parse("10.0.0.1", &h->us);
    scps_addr_parse("10.0.0.3", &h->other);
    scps_addr_parse("10.0.0.2", &h->them.addr);
    h->them.port = 9;
    for (int i = 0; i < 2; i++) {
        h->nif[i] = (struct scps_netif){.name = "test", .mtu = 1500};
        assert_int_equal(scps_stack_add_netif(h->st, &h->nif[i]), 0);
    }
    assert_int_equal(scps_stack_add_addr(h->st, &h->nif[0], &h->us, 24), 0);
    return h;
}

static void host_free(struct host *h)
{
    scps_stack_free(h->st);
    assert_int_equal(h->poor.out, 0);
    free(h);
}

/* Returns the number of packets that leave by netif i within dt µs; *ip and *seg are the headers of
 * the last one. */
static unsigned sent(struct host *h, int i, scps_dur dt, struct scps_ip *ip, struct scps_seg *seg)
{
    uint8_t room[SCPS_MAX_HEADERS];
    unsigned n = 0;

    for (scps_time end = h->now + dt; h->now < end; h->now += SCPS_MS(100)) {
        struct scps_pkt out = {.data = room, .cap = sizeof room};
        while (scps_stack_output(h->st, &h->nif[i], h->now, &out) == 1) {
            n++;
            if (ip)
                assert_int_equal(scps_ip_parse(out.data, out.len, out.len + out.payload_len, ip),
                                 0);
            if (seg)
                assert_int_equal(scps_tcp_parse(out.data + 20, out.len - 20,
                                                out.len - 20 + out.payload_len, seg),
                                 0);
            out = (struct scps_pkt){.data = room, .cap = sizeof room};
        }
    }
    return n;
}

/* The peer answers the SYN that was sent last. */
static void handshake(struct host *h, struct scps_conn *c)
{
    struct scps_ip ip;
    struct scps_seg syn;
    struct scps_event ev;
    uint8_t p[100];

    assert_true(sent(h, 0, SCPS_MS(100), &ip, &syn) > 0);
    struct scps_seg answer = {.sport = syn.dport,
                              .dport = syn.sport,
                              .flags = SCPS_SYN | SCPS_ACK,
                              .seq = 5000,
                              .ack = syn.seq + 1,
                              .wnd = 65535};
    struct scps_ip back = {
        .src = ip.dst, .dst = ip.src, .version = 4, .proto = SCPS_IPPROTO_TCP, .ttl = 64};
    size_t n = scps_tcp_build(p + 20, &answer);
    scps_ip_build(p, &back, n);
    assert_int_equal(scps_stack_input(h->st, &h->nif[0],
                                      &(struct scps_pkt){
                                          .data = p, .len = 20 + n, .csum_ok = true, .at = h->now}),
                     0);
    assert_int_equal(scps_conn_state(c), SCPS_ESTABLISHED);
    while (scps_stack_event(h->st, &ev))
        ;
    sent(h, 0, SCPS_MS(100), NULL, NULL);
}

/* Hands in a SYN for the host's address `to` from a foreign host. */
static int stranger(struct host *h, const struct scps_addr *to, uint16_t sport)
{
    struct scps_ip ip = {
        .src = h->them.addr, .dst = *to, .version = 4, .proto = SCPS_IPPROTO_TCP, .ttl = 64};
    struct scps_seg seg = {.sport = sport, .dport = 80, .flags = SCPS_SYN, .seq = 1, .wnd = 1000};
    uint8_t p[100];
    size_t n = scps_tcp_build(p + 20, &seg);

    scps_ip_build(p, &ip, n);
    return scps_stack_input(
        h->st, &h->nif[0],
        &(struct scps_pkt){.data = p, .len = 20 + n, .csum_ok = true, .at = h->now});
}

static unsigned errors_of(struct host *h, const void *who, int err)
{
    struct scps_event ev;
    unsigned n = 0;

    while (scps_stack_event(h->st, &ev))
        if (ev.kind == SCPS_EV_ERROR && (ev.conn == who || ev.dgram == who)) {
            assert_int_equal(ev.err, err);
            n++;
        }
    return n;
}

static unsigned count(const struct host *h, enum scps_owner owner)
{
    unsigned n = 0;

    for (struct scps_conn *c = NULL; (c = scps_stack_next_conn(h->st, c));)
        n += scps_conn_owner(c) == owner;
    return n;
}

static void next_conn_returns_every_connection(void **state)
{
    struct host *h = host_new();
    struct scps_endpoint local = {.port = 80};
    struct scps_conn *c[40];
    struct scps_listener *l;
    struct scps_stack_stats stats;
    (void)state;

    assert_null(scps_stack_next_conn(h->st, NULL));
    l = scps_listen(h->st, NULL, &local, 5, NULL);
    assert_non_null(l);
    assert_null(scps_stack_next_conn(h->st, NULL));
    for (int i = 0; i < 40; i++) {
        c[i] = scps_connect(h->st, NULL, NULL, &h->them, NULL);
        assert_non_null(c[i]);
        scps_conn_set_user(c[i], &c[i]);
        if (i == 0)
            handshake(h, c[0]);
    }
    assert_int_equal(stranger(h, &h->us, 77), 0);
    assert_int_equal(count(h, SCPS_OWNER_APPLICATION), 40);
    assert_int_equal(count(h, SCPS_OWNER_LISTENER), 1);
    for (struct scps_conn *x = NULL; (x = scps_stack_next_conn(h->st, x));)
        if (scps_conn_owner(x) == SCPS_OWNER_APPLICATION) {
            struct scps_conn **own = scps_conn_user(x);
            assert_ptr_equal(*own, x);
            *own = NULL; /* Each connection is listed once. */
        }
    for (int i = 0; i < 40; i++)
        assert_null(c[i]);
    /* The connections are closed: half-open ones end at once, the established one closes in the
     * background. */
    for (struct scps_conn *x = scps_stack_next_conn(h->st, NULL), *next; x; x = next) {
        next = scps_stack_next_conn(h->st, x);
        if (scps_conn_owner(x) == SCPS_OWNER_APPLICATION)
            scps_conn_close(x);
    }
    assert_int_equal(count(h, SCPS_OWNER_APPLICATION), 0);
    assert_int_equal(count(h, SCPS_OWNER_LISTENER), 1);
    assert_int_equal(count(h, SCPS_OWNER_NOBODY), 1);
    for (struct scps_conn *x = NULL; (x = scps_stack_next_conn(h->st, x));)
        if (scps_conn_owner(x) == SCPS_OWNER_NOBODY) {
            assert_int_equal(scps_conn_state(x), SCPS_FIN_WAIT_1);
            scps_conn_abort(x); /* When the stack is freed it does not wait for the peer. */
            break;
        }
    sent(h, 0, SCPS_MS(100), NULL, NULL);
    assert_int_equal(count(h, SCPS_OWNER_NOBODY), 0);
    scps_listener_close(l);
    sent(h, 0, SCPS_SEC(2), NULL, NULL);
    scps_stack_get_stats(h->st, &stats);
    assert_int_equal(stats.conns, 0);
    host_free(h);
}

static void a_removed_address_ends_its_connections(void **state)
{
    struct host *h = host_new();
    struct scps_endpoint local = {h->other, 0}, all = {.port = 80};
    struct scps_conn *stays, *ends, *let_go;
    struct scps_dgram *d;
    struct scps_listener *l;
    struct scps_ip ip;
    uint8_t zeros[100] = {0};
    int err;
    (void)state;

    assert_int_equal(scps_stack_add_addr(h->st, &h->nif[0], &h->other, 24), 0);
    l = scps_listen(h->st, NULL, &all, 5, NULL);
    stays = scps_connect(h->st, NULL, &(struct scps_endpoint){h->us, 0}, &h->them, NULL);
    handshake(h, stays);
    ends = scps_connect(h->st, NULL, &local, &h->them, NULL);
    handshake(h, ends);
    let_go = scps_connect(h->st, NULL, &local, &h->them, NULL);
    handshake(h, let_go);
    scps_conn_write(let_go, zeros, sizeof zeros, 0);
    scps_conn_close(let_go);
    scps_conn_write(ends, zeros, sizeof zeros, 0);
    d = scps_dgram_open(h->st, NULL, &local, NULL);
    assert_int_equal(scps_dgram_send(d, &h->them, zeros, sizeof zeros, 0), 0);
    /* The connection is half-open; its SYN-ACK leaves from that address. */
    assert_int_equal(stranger(h, &h->other, 77), 0);

    assert_int_equal(scps_stack_remove_addr(h->st, &h->nif[1], &h->other), SCPS_ERR_NOENT);
    assert_int_equal(scps_stack_remove_addr(h->st, &h->nif[0], &h->them.addr), SCPS_ERR_NOENT);
    assert_int_equal(scps_stack_remove_addr(h->st, NULL, &h->other), SCPS_ERR_NOENT);
    assert_int_equal(scps_stack_remove_addr(h->st, &h->nif[0], &(struct scps_addr){0}),
                     SCPS_ERR_NOENT);
    assert_int_equal(scps_stack_remove_addr(h->st, &h->nif[0], &h->other), 0);
    assert_int_equal(scps_stack_remove_addr(h->st, &h->nif[0], &h->other), SCPS_ERR_NOENT);

    assert_false(scps_stack_has_addr(h->st, &h->other));
    assert_int_equal(count(h, SCPS_OWNER_LISTENER), 0);
    assert_int_equal(count(h, SCPS_OWNER_NOBODY), 0);
    assert_int_equal(sent(h, 0, SCPS_SEC(3), &ip, NULL), 0);
    assert_int_equal(errors_of(h, ends, SCPS_ERR_ADDRNOTAVAIL), 1);
    assert_int_equal(scps_conn_error(ends), SCPS_ERR_ADDRNOTAVAIL);
    scps_conn_close(ends);
    assert_int_equal(scps_dgram_error(d, NULL, NULL), SCPS_ERR_ADDRNOTAVAIL);
    assert_int_equal(scps_dgram_send(d, &h->them, zeros, 1, 0), SCPS_ERR_ADDRNOTAVAIL);
    assert_int_equal(stranger(h, &h->other, 78), SCPS_DROP_NOT_OURS);
    assert_null(scps_connect(h->st, NULL, &local, &h->them, &err));
    assert_int_equal(err, SCPS_ERR_ADDRNOTAVAIL);

    /* The other connection and the route to the prefix are unchanged. */
    scps_conn_write(stays, zeros, sizeof zeros, 0);
    assert_true(sent(h, 0, SCPS_MS(100), &ip, NULL) > 0);
    assert_true(scps_addr_equal(&ip.src, &h->us));
    scps_conn_abort(stays);
    /* The address is added again and works as before; its place in the table is used again. */
    for (int i = 0; i < 100; i++) {
        size_t before = h->poor.out;
        assert_int_equal(scps_stack_add_addr(h->st, &h->nif[0], &h->other, 24), 0);
        assert_true(h->poor.out <= before + 1);
        assert_int_equal(scps_dgram_send(d, &h->them, zeros, 1, 0), 0);
        assert_int_equal(stranger(h, &h->other, 79), 0);
        assert_int_equal(scps_stack_remove_addr(h->st, &h->nif[0], &h->other), 0);
    }
    scps_dgram_close(d);
    scps_listener_close(l);
    host_free(h);
}

/* A route with a rate is removed while connections, datagrams and replies wait for the rate. */
static void removal_of_a_route_with_a_rate(void **state)
{
    struct host *h = host_new();
    struct scps_route r = {
        .dst = h->us, .prefix = 24, .nif = &h->nif[0], .rate = 200, .burst = 1500};
    struct scps_conn *c, *reset;
    struct scps_dgram *d, *closed;
    uint8_t zeros[1000] = {0};
    int err;
    (void)state;

    c = scps_connect(h->st, NULL, NULL, &h->them, NULL);
    handshake(h, c);
    for (int round = 0; round < 3; round++) {
        r.min_rate = round == 1 ? 500 : 0;
        assert_int_equal(scps_stack_add_route(h->st, &r), 0);
        reset = scps_connect(h->st, NULL, NULL, &h->them, NULL);
        scps_conn_write(c, zeros, sizeof zeros, 0);
        d = scps_dgram_open(h->st, NULL, NULL, NULL);
        closed = scps_dgram_open(h->st, NULL, NULL, NULL);
        for (int i = 0; i < 5; i++) {
            assert_int_equal(scps_dgram_send(d, &h->them, zeros, sizeof zeros, 0), 0);
            assert_int_equal(scps_dgram_send(closed, &h->them, zeros, sizeof zeros, 0), 0);
            /* There is no listener, so each SYN is answered with a reset. */
            stranger(h, &h->us, (uint16_t)(100 + i));
        }
        scps_dgram_close(closed);
        sent(h, 0, SCPS_SEC(1), NULL, NULL); /* Some replies wait for the rate of the route. */
        scps_conn_abort(reset);
        assert_int_equal(scps_stack_remove_route(h->st, &h->us, 25, &h->nif[0]), SCPS_ERR_NOENT);
        assert_int_equal(scps_stack_remove_route(h->st, &h->us, 24, &h->nif[1]), SCPS_ERR_NOENT);
        assert_int_equal(scps_stack_remove_route(h->st, &h->us, 24, NULL), SCPS_ERR_NOENT);
        assert_int_equal(scps_stack_remove_route(h->st, &h->us, 24, &h->nif[0]), 0);
        /* The replies leave at once, because the next route has no rate. */
        assert_true(sent(h, 0, SCPS_MS(100), NULL, NULL) >= 5);
        scps_dgram_close(d);
        assert_int_equal(errors_of(h, c, 0), 0);
    }
    /* The route of the address is removed: there is no route any more, and established connections
     * stay on their link. */
    d = scps_dgram_open(h->st, NULL, NULL, NULL);
    scps_conn_write(c, zeros, sizeof zeros, 0);
    assert_int_equal(scps_stack_remove_route(h->st, &h->us, 24, &h->nif[0]), 0);
    assert_int_equal(scps_stack_remove_route(h->st, &h->us, 24, &h->nif[0]), SCPS_ERR_NOENT);
    assert_null(scps_connect(h->st, NULL, NULL, &h->them, &err));
    assert_int_equal(err, SCPS_ERR_UNREACH);
    assert_int_equal(scps_dgram_send(d, &h->them, zeros, 10, 0), SCPS_ERR_UNREACH);
    assert_true(sent(h, 0, SCPS_SEC(5), NULL, NULL) > 0);
    /* Its route has been removed already. */
    assert_int_equal(scps_stack_remove_addr(h->st, &h->nif[0], &h->us), 0);
    assert_int_equal(errors_of(h, c, SCPS_ERR_ADDRNOTAVAIL), 1);
    scps_conn_close(c);
    scps_dgram_close(d);
    scps_stack_remove_netif(h->st, &h->nif[0]);
    host_free(h);
}

static unsigned noted[2], of_conn;

static void note(void *ctx, const struct scps_note *n)
{
    noted[*(int *)ctx]++;
    of_conn = n->conn;
}

static void an_observer_set_after_connections_exist(void **state)
{
    struct host *h = host_new();
    static int first = 0, second = 1;
    struct scps_observer obs = {.note = note, .ctx = &first, .mask = UINT64_MAX};
    struct scps_conn *c = scps_connect(h->st, NULL, NULL, &h->them, NULL);
    (void)state;

    noted[0] = noted[1] = 0;
    assert_null(scps_stack_observer(h->st).note);
    handshake(h, c);
    assert_int_equal(noted[0], 0);
    scps_stack_set_observer(h->st, &obs);
    assert_ptr_equal(scps_stack_observer(h->st).ctx, &first);
    scps_conn_write(c, NULL, 100, 0);
    sent(h, 0, SCPS_MS(100), NULL, NULL);
    assert_true(noted[0] > 0);
    assert_int_equal(of_conn, scps_conn_id(c));
    obs.ctx = &second;
    obs.mask = UINT64_C(1) << SCPS_NOTE_STATE;
    scps_stack_set_observer(h->st, &obs);
    noted[0] = 0;
    scps_conn_write(c, NULL, 100, 0);
    sent(h, 0, SCPS_MS(100), NULL, NULL);
    assert_int_equal(noted[1], 0);
    scps_conn_shutdown(c);
    assert_int_equal(noted[1], 1);
    scps_stack_set_observer(h->st, NULL);
    scps_conn_abort(c);
    sent(h, 0, SCPS_MS(100), NULL, NULL);
    assert_int_equal(noted[0], 0);
    assert_int_equal(noted[1], 1);
    /* An observer without a function gets nothing, whatever its mask. */
    scps_stack_set_observer(h->st, &(struct scps_observer){.mask = UINT64_MAX});
    c = scps_connect(h->st, NULL, NULL, &h->them, NULL);
    sent(h, 0, SCPS_MS(100), NULL, NULL);
    scps_conn_abort(c);
    host_free(h);
}

/* RFC 1122 section 3.2.1.3: a reset that waits, for the route's rate or until the driver asks for
 * packets, is not sent when its source address has been removed. */
static void a_removed_address_drops_its_replies(void **state)
{
    (void)state;
    for (int rated = 0; rated < 2; rated++) {
        struct host *h = host_new();
        struct scps_route r = {
            .dst = h->them.addr, .prefix = 32, .nif = &h->nif[0], .rate = rated ? 10000 : 0};

        assert_int_equal(scps_stack_add_addr(h->st, &h->nif[0], &h->other, 24), 0);
        assert_int_equal(scps_stack_add_route(h->st, &r), 0);
        assert_int_equal(stranger(h, &h->other, 77), SCPS_DROP_NO_CONNECTION);
        assert_int_equal(scps_stack_remove_addr(h->st, &h->nif[0], &h->other), 0);
        assert_int_equal(sent(h, 0, SCPS_SEC(1), NULL, NULL), 0);
        assert_int_equal(stranger(h, &h->us, 78), SCPS_DROP_NO_CONNECTION);
        assert_int_equal(sent(h, 0, SCPS_SEC(1), NULL, NULL), 1);
        host_free(h);
    }
}

static void version_equals_that_of_the_headers(void **state)
{
    unsigned major = SCPS_VERSION_NUMBER >> 16, minor = SCPS_VERSION_NUMBER >> 8 & 255,
             patch = SCPS_VERSION_NUMBER & 255;
    char text[32];
    (void)state;

    assert_string_equal(scps_version(), SCPS_VERSION);
    assert_int_equal(scps_version_number(), SCPS_VERSION_NUMBER);
    snprintf(text, sizeof text, "%u.%u.%u", major, minor, patch);
    assert_string_equal(text, SCPS_VERSION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(next_conn_returns_every_connection),
        cmocka_unit_test(a_removed_address_ends_its_connections),
        cmocka_unit_test(a_removed_address_drops_its_replies),
        cmocka_unit_test(removal_of_a_route_with_a_rate),
        cmocka_unit_test(an_observer_set_after_connections_exist),
        cmocka_unit_test(version_equals_that_of_the_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
