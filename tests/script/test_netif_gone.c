/* SPDX-License-Identifier: MIT */
/* A netif that is removed may be freed: the stack does not access it again, whatever packets
 * were queued for it. The address sanitizer watches. */
#include <scps/clock.h>
#include <scps/dgram.h>
#include <scps/wire.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "failing_alloc.h"

static bool full; /* The device refuses every packet. */

static int send(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    (void)nif, (void)pkt;
    return full ? SCPS_ERR_AGAIN : 0;
}
static const struct scps_netif_ops ops = {.name = "test", .send = send};

static scps_time now(void *ctx)
{
    return *(scps_time *)ctx;
}
static void wake_at(void *ctx, scps_time when)
{
    (void)ctx, (void)when;
}

struct host {
    struct poor poor;
    struct scps_stack *st;
    scps_time now;
    struct scps_clock clock;
    struct scps_addr us;
    struct scps_endpoint them;
};

static struct scps_netif *attach(struct host *h, uint64_t rate)
{
    struct scps_netif *nif = calloc(1, sizeof *nif);

    *nif = (struct scps_netif){.ops = &ops, .name = "test", .mtu = 1500};
    assert_int_equal(scps_stack_add_netif(h->st, nif), 0);
    assert_int_equal(scps_stack_add_addr(h->st, nif, &h->us, 24), 0);
    if (rate) {
        struct scps_route r = {.dst = h->us, .prefix = 24, .nif = nif, .rate = rate};
        assert_int_equal(scps_stack_add_route(h->st, &r), 0);
    }
    return nif;
}

/* Hands in an ACK for no connection, which the stack answers with a reset. */
static void stranger(struct host *h, struct scps_netif *nif)
{
    struct scps_ip ip = {
        .src = h->them.addr, .dst = h->us, .version = 4, .proto = SCPS_IPPROTO_TCP, .ttl = 64};
    struct scps_seg seg = {.sport = 9, .dport = 9, .flags = SCPS_ACK, .ack = 1};
    uint8_t p[100];
    size_t n = scps_tcp_build(p + 20, &seg);

    scps_ip_build(p, &ip, n);
    scps_stack_input(h->st, nif,
                     &(struct scps_pkt){.data = p, .len = 20 + n, .csum_ok = true, .at = h->now});
}

/* rate: the rate of the route, bytes/s; 0: none. blocked: the device has refused a packet, which
 * the stack keeps. */
static void goes(uint64_t rate, bool blocked, bool other)
{
    struct host h = {.poor = {.left = 1000000}, .now = SCPS_SEC(1)};
    struct scps_stack_config cfg = scps_stack_config_default();
    struct scps_netif *nif, *second = NULL;
    struct scps_conn *kept, *let_go, *reset;
    struct scps_dgram *d, *closed;
    struct scps_event ev;
    unsigned errors = 0;
    uint8_t zeros[500] = {0};

    cfg.alloc = (struct scps_alloc){poor_alloc, poor_free, &h.poor};
    cfg.now = h.now;
    h.st = scps_stack_new(&cfg);
    h.clock = (struct scps_clock){.now = now, .wake_at = wake_at, .ctx = &h.now};
    scps_addr_parse("10.0.0.1", &h.us);
    scps_addr_parse("10.0.0.2", &h.them.addr);
    h.them.port = 9;
    for (int round = 0; round < 3; round++) {
        nif = attach(&h, rate);
        full = blocked;
        kept = scps_connect(h.st, NULL, NULL, &h.them, NULL);
        let_go = scps_connect(h.st, NULL, NULL, &h.them, NULL);
        reset = scps_connect(h.st, NULL, NULL, &h.them, NULL);
        assert_true(kept && let_go && reset);
        d = scps_dgram_open(h.st, NULL, NULL, NULL);
        closed = scps_dgram_open(h.st, NULL, NULL, NULL);
        for (int i = 0; i < 3; i++) {
            stranger(&h, nif);
            assert_int_equal(scps_dgram_send(d, &h.them, zeros, sizeof zeros, 0), 0);
            assert_int_equal(scps_dgram_send(closed, &h.them, zeros, sizeof zeros, 0), 0);
        }
        scps_dgram_close(closed);
        scps_conn_close(let_go);
        if (blocked)
            scps_pump(h.st, &h.clock);
        scps_conn_abort(reset);
        if (other)
            second = attach(&h, 0);
        scps_stack_remove_netif(h.st, nif);
        assert_null(nif->stack);
        memset(nif, 0xee, sizeof *nif);
        free(nif);
        full = false;
        for (int i = 0; i < 100; i++) {
            h.now += SCPS_MS(100);
            scps_pump(h.st, &h.clock);
            assert_true(scps_stack_deadline(h.st) > h.now);
        }
        scps_stack_signal(h.st, h.now, &(struct scps_signal){.kind = SCPS_SIGNAL_LINK_UP});
        for (errors = 0; scps_stack_event(h.st, &ev);)
            if (ev.kind == SCPS_EV_ERROR && ev.conn == kept) {
                assert_int_equal(ev.err, SCPS_ERR_LINKDOWN);
                errors++;
            }
        assert_int_equal(errors, 1);
        assert_int_equal(scps_conn_write(kept, zeros, 1, 0), SCPS_ERR_LINKDOWN);
        scps_conn_close(kept);
        scps_dgram_close(d);
        scps_stack_advance(h.st, h.now);
        if (second) {
            scps_stack_remove_netif(h.st, second);
            free(second);
        }
        struct scps_stack_stats s;
        scps_stack_get_stats(h.st, &s);
        assert_int_equal(s.conns, 0);
    }
    scps_stack_free(h.st);
    assert_int_equal(h.poor.out, 0);
}

static void a_removed_netif_is_not_accessed(void **x)
{
    (void)x;
    for (int blocked = 0; blocked < 2; blocked++)
        for (int other = 0; other < 2; other++) {
            goes(0, blocked, other);
            goes(100, blocked, other);
            goes(1000000, blocked, other);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_removed_netif_is_not_accessed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
