/* SPDX-License-Identifier: MIT */
/* The real-time loop: two stacks in one process exchange IP in UDP. Timers fire in time and never
 * early, nothing is lost when a device is full, the loss of a device is reported, and an idle loop
 * sleeps. */
#define _GNU_SOURCE 1
#include "udpport.h"
#include <scps/io.h>
#include <scps/scps.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A time after which the test may fail, because the event it waits for does not come. */
#define PATIENCE SCPS_SEC(600)

static char msg[SCPS_IO_MSGLEN];

/* One host: a client sends `total` octets; a server counts and checks what arrives. */
struct host {
    struct scps_stack *st;
    struct scps_loop *l;
    struct scps_netif *nif;
    struct scps_conn *c;
    bool client, stop_at_end;
    uint64_t total, done;
    bool eof, drained;
    int err;
    unsigned events;
};

static uint8_t octet(uint64_t pos)
{
    return (uint8_t)(pos * 7 + (pos >> 8) * 13);
}

static void client_writes(struct host *h)
{
    uint8_t buf[5000];
    while (h->done < h->total) {
        size_t n = h->total - h->done < sizeof buf ? (size_t)(h->total - h->done) : sizeof buf;
        for (size_t i = 0; i < n; i++)
            buf[i] = octet(h->done + i);
        int64_t w = scps_conn_write(h->c, buf, n, 0);
        if (w < 0)
            return;
        h->done += (uint64_t)w;
        if (h->done == h->total)
            scps_conn_shutdown(h->c);
    }
}

static void server_reads(struct host *h)
{
    uint8_t buf[5000];
    int64_t n;
    while (h->c && (n = scps_conn_read(h->c, buf, sizeof buf, 0)) >= 0) {
        for (int64_t i = 0; i < n; i++)
            assert_int_equal(buf[i], octet(h->done + (uint64_t)i));
        h->done += (uint64_t)n;
        if (n == 0) {
            h->eof = true;
            scps_conn_close(h->c);
            h->c = NULL;
        }
    }
}

static void on_event(struct scps_loop *l, const struct scps_event *e, void *ctx)
{
    struct host *h = ctx;
    assert_ptr_equal(l, h->l);
    h->events++;
    if (e->kind == SCPS_EV_ERROR)
        h->err = e->err;
    if (e->kind == SCPS_EV_ACCEPT)
        h->c = scps_accept(e->listener);
    if (h->client && h->c && !h->err)
        client_writes(h);
    else if (!h->client)
        server_reads(h);
    h->drained |= h->client && e->kind == SCPS_EV_DRAINED;
    /* scps_loop_kick() may be called inside a callback, where it has no effect. */
    scps_loop_kick(l);
    if (h->stop_at_end && (h->client ? h->drained : h->eof))
        scps_loop_stop(l);
}

static struct scps_addr inner(bool client)
{
    return (struct scps_addr){4, {10, 99, 0, client ? 1 : 2}};
}

static void host_up(struct host *h, bool client, struct ev_loop *ev, struct scps_netif *nif)
{
    struct scps_stack_config sc = scps_stack_config_default();
    struct scps_addr a = inner(client);
    memset(h, 0, sizeof *h);
    h->client = client;
    sc.now = scps_sysclock_now();
    assert_int_equal(scps_entropy(sc.seed, sizeof sc.seed), 0);
    h->st = scps_stack_new(&sc);
    h->l = scps_loop_new(ev, h->st, on_event, h);
    h->nif = nif;
    assert_non_null(h->l);
    assert_ptr_equal(scps_loop_stack(h->l), h->st);
    assert_int_equal(scps_loop_add(h->l, nif), 0);
    assert_int_equal(scps_stack_add_addr(h->st, nif, &a, 24), 0);
    if (!client) {
        struct scps_endpoint any = {.port = 5001};
        assert_non_null(scps_listen(h->st, NULL, &any, 4, NULL));
    }
}

static void host_connects(struct host *h, uint64_t total, const struct scps_conn_config *cfg)
{
    struct scps_endpoint to = {.addr = inner(false), .port = 5001};
    h->total = total;
    h->c = scps_connect(h->st, cfg, NULL, &to, NULL);
    assert_non_null(h->c);
    scps_loop_kick(h->l);
}

static void host_down(struct host *h)
{
    scps_loop_free(h->l);
    scps_stack_free(h->st);
    scps_netif_close(h->nif);
}

static struct scps_netif *udp(uint16_t local, uint16_t remote)
{
    struct scps_udptun_config cfg = {.local = {{4, {127, 0, 0, 1}}, local},
                                     .remote = {{4, {127, 0, 0, 1}}, remote}};
    struct scps_netif *nif = scps_udptun_open(&cfg, msg);
    if (!nif)
        fail_msg("%s", msg);
    return nif;
}

static struct scps_info info(const struct host *h)
{
    struct scps_info i;
    scps_conn_info(h->c, &i);
    return i;
}

/* ---- tests ---- */

static void test_transfer(void **state)
{
    (void)state;
    struct ev_loop *ev = ev_loop_new(0);
    struct host a, b;
    host_up(&a, true, ev, udp(udp_port(0), udp_port(1)));
    host_up(&b, false, ev, udp(udp_port(1), udp_port(0)));
    b.stop_at_end = true;
    assert_ptr_equal(scps_loop_ev(a.l), ev);
    host_connects(&a, 20 << 20, NULL);
    scps_loop_run(b.l, scps_sysclock_now() + PATIENCE);
    assert_true(b.eof);
    assert_int_equal(b.done, 20 << 20);
    assert_int_equal(scps_loop_error(a.l), 0);
    scps_conn_close(a.c);
    scps_loop_kick(a.l);
    host_down(&a);
    host_down(&b);
    ev_loop_destroy(ev);
}

/* The descriptor is full most of the time, because a socket pair holds only a few packets. Packets
 * that it refused are sent later, in order, so nothing is lost and no segment is sent twice. */
static void test_full_device(void **state)
{
    (void)state;
    struct ev_loop *ev = ev_loop_new(0);
    struct scps_conn_config cfg = scps_conn_config_default();
    struct host a, b;
    struct scps_netif *na = udp(udp_port(0), udp_port(1)), *nb = udp(udp_port(1), udp_port(0));
    int pair[2], small = 4096;
    assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, pair), 0);
    setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    assert_true(dup2(pair[0], scps_io_fd(na)) >= 0);
    assert_true(dup2(pair[1], scps_io_fd(nb)) >= 0);
    close(pair[0]);
    close(pair[1]);
    host_up(&a, true, ev, na);
    host_up(&b, false, ev, nb);
    a.stop_at_end = true;
    /* The timers are so long that a pause of the machine causes no retransmission. */
    cfg.rto_initial = cfg.rto_min = PATIENCE;
    host_connects(&a, 3000000, &cfg);
    scps_loop_run(a.l, scps_sysclock_now() + PATIENCE);
    assert_true(a.drained);
    assert_int_equal(b.done, 3000000);
    assert_int_equal(na->tx_errors, 0);
    assert_int_equal(info(&a).resent_segs, 0);
    host_down(&a);
    host_down(&b);
    ev_loop_destroy(ev);
}

/* ---- timers ---- */

#define SYNS 5
static scps_time syn_at[SYNS];
static unsigned syns;

static void on_syn(EV_P_ ev_io *w, int revents)
{
    uint8_t buf[2000];
    (void)loop;
    (void)revents;
    while (recv(w->fd, buf, sizeof buf, MSG_DONTWAIT) > 0)
        if (syns < SYNS) {
            syn_at[syns++] = scps_sysclock_now();
            if (syns == SYNS)
                scps_loop_stop(w->data);
        }
}

/* A peer that never answers gets SYNs at 0, 40, 120, 280 and 600 ms of the loop's clock. Under
 * valgrind the loop may be 10 ms late; two timers that have expired by then cause one SYN. */
#define FIRST SCPS_MS(40)

static void test_wakes_in_time(void **state)
{
    (void)state;
    struct ev_loop *ev = ev_loop_new(0);
    struct host a;
    ev_io w;
    struct scps_netif *peer = udp(udp_port(1), udp_port(0));
    int fd = dup(scps_io_fd(peer)); /* The test reads the SYNs itself. */
    host_up(&a, true, ev, udp(udp_port(0), udp_port(1)));
    ev_io_init(&w, on_syn, fd, EV_READ);
    w.data = a.l;
    ev_io_start(ev, &w);
    struct scps_conn_config cfg = scps_conn_config_default();
    cfg.rto_initial = cfg.rto_min = FIRST;
    cfg.syn_retries = 4;
    syns = 0;
    scps_time began = scps_sysclock_now();
    host_connects(&a, 1, &cfg);
    scps_loop_run(a.l, began + PATIENCE);
    assert_int_equal(syns, SYNS);
    scps_dur worst = 0;
    for (unsigned i = 0; i < SYNS; i++) {
        scps_dur late = syn_at[i] - began - FIRST * ((1 << i) - 1);
        assert_true(late >= 0);
        worst = late > worst ? late : worst;
    }
    print_message("latest wake-up: %lld us\n", (long long)worst);
    ev_io_stop(ev, &w);
    close(fd);
    host_down(&a);
    scps_netif_close(peer);
    ev_loop_destroy(ev);
}

/* While a process is stopped its timers expire and the peer's answers arrive: the answers are
 * processed before the timers. The test does not depend on the machine's speed, because it waits
 * for every answer. */
static void packets_before_timers_after_a_stall(void **state)
{
    (void)state;
    struct host a, b;
    struct scps_conn_config cfg = scps_conn_config_default();
    struct scps_info info;
    struct pollfd in = {.events = POLLIN};
    uint8_t some[1000];
    scps_time end = scps_sysclock_now() + PATIENCE, wrote;

    host_up(&a, true, NULL, udp(udp_port(0), udp_port(1)));
    host_up(&b, false, NULL, udp(udp_port(1), udp_port(0)));
    cfg.user_timeout = SCPS_MS(50);
    for (size_t i = 0; i < sizeof some; i++)
        some[i] = octet(i);
    host_connects(&a, 0, &cfg);
    while (scps_conn_state(a.c) != SCPS_ESTABLISHED && scps_sysclock_now() < end) {
        scps_loop_run(b.l, scps_sysclock_now() + SCPS_MS(5));
        scps_loop_run(a.l, scps_sysclock_now() + SCPS_MS(5));
    }
    assert_int_equal(scps_conn_state(a.c), SCPS_ESTABLISHED);
    assert_int_equal(scps_conn_write(a.c, some, sizeof some, 0), sizeof some);
    wrote = scps_sysclock_now();
    scps_loop_kick(a.l); /* The segment is sent now; host a reads and sends nothing from now on. */
    in.fd = scps_io_fd(a.nif);
    while (!poll(&in, 1, 0) && scps_sysclock_now() < end)
        scps_loop_run(b.l, scps_sysclock_now() + SCPS_MS(5));
    /* The wait is longer than any timer of host a. */
    while (scps_sysclock_now() < wrote + SCPS_MS(1500))
        poll(NULL, 0, 10);
    scps_loop_run(a.l, scps_sysclock_now() + SCPS_MS(5));
    scps_conn_info(a.c, &info);
    assert_int_equal(a.err, 0);
    assert_int_equal(info.state, SCPS_ESTABLISHED);
    assert_int_equal(info.outstanding, 0);
    assert_int_equal(info.timeouts, 0);
    host_down(&a);
    host_down(&b);
}

static void test_sleeps_and_returns(void **state)
{
    (void)state;
    struct host b;
    host_up(&b, false, NULL, udp(udp_port(1), udp_port(0)));
    scps_time began = scps_sysclock_now(), until = began + SCPS_MS(500);
    unsigned turns = ev_iteration(scps_loop_ev(b.l));
    scps_loop_run(b.l, until);
    assert_true(scps_sysclock_now() >= until);
    assert_true(ev_iteration(scps_loop_ev(b.l)) - turns <= 5);

    /* The deadline is in the past, so the call returns at once. */
    scps_loop_run(b.l, scps_sysclock_now() - 1);
    /* scps_loop_stop() before scps_loop_run() makes the next run return at once, and only that
     * one. */
    scps_loop_stop(b.l);
    scps_loop_run(b.l, SCPS_NEVER);
    began = scps_sysclock_now();
    scps_loop_run(b.l, began + SCPS_MS(20));
    assert_true(scps_sysclock_now() >= began + SCPS_MS(20));
    host_down(&b);
}

/* ---- a device that disappears ---- */

static void test_vanished(void **state)
{
    (void)state;
    int fd = open("/dev/net/tun", O_RDWR);
    if (fd >= 0)
        close(fd);
    if (fd < 0 || unshare(CLONE_NEWNET) || system("ip link set lo up"))
        skip();
    struct scps_tun_config cfg = {.name = "scpsv0", .n = 1, .kernel_prefix = {24}};
    cfg.kernel_addr[0] = inner(true);
    for (int talking = 0; talking < 2; talking++) {
        struct host h;
        struct scps_netif *nif = scps_tun_open(&cfg, msg);
        if (!nif)
            fail_msg("%s", msg);
        host_up(&h, false, NULL, nif);
        if (talking) { /* The host has a connection that waits for an answer. */
            struct scps_endpoint to = {{4, {10, 99, 0, 7}}, 9};
            h.client = true;
            h.c = scps_connect(h.st, NULL, NULL, &to, NULL);
            assert_non_null(h.c);
            scps_loop_kick(h.l);
        }
        assert_int_equal(system("ip link delete scpsv0"), 0);
        scps_loop_run(h.l, scps_sysclock_now() + PATIENCE);
        assert_int_equal(scps_loop_error(h.l), SCPS_ERR_LINKDOWN);
        assert_int_equal(h.err, talking ? SCPS_ERR_LINKDOWN : 0);
        if (h.c)
            scps_conn_close(h.c);
        host_down(&h);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    struct host b;
    struct scps_netif foreign = {.name = "somebody's"};
    host_up(&b, false, NULL, udp(udp_port(1), udp_port(0)));
    assert_int_equal(scps_loop_add(b.l, &foreign), SCPS_ERR_INVAL);
    host_down(&b);
    scps_loop_free(NULL);
}

/* RFC 9293 section 3.4.1 (MUST-8) and RFC 6056 demand numbers that an attacker cannot guess, so a
 * seed must not be a known constant. */
static void a_known_seed_is_refused(void **state)
{
    struct scps_stack *st = scps_stack_new(NULL);
    (void)state;

    assert_true(scps_stack_is_predictable(st));
    errno = 0;
    assert_null(scps_loop_new(NULL, st, NULL, NULL));
    assert_int_equal(errno, EINVAL);
    scps_stack_free(st);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_known_seed_is_refused),
        cmocka_unit_test(test_transfer),
        cmocka_unit_test(test_full_device),
        cmocka_unit_test(test_wakes_in_time),
        cmocka_unit_test(test_sleeps_and_returns),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_vanished),
        cmocka_unit_test(packets_before_timers_after_a_stall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
