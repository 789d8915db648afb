/* SPDX-License-Identifier: MIT */
/* Contexts: time is handed in by the program, packets are queued, the lock hook is called, memory
 * runs out, a context uses a stack of the program, and ports are chosen for port 0. */
#include "base/prng.h"
#include "sockpeer.h"

/* The RTO after these handshakes: their RTT is the shortest possible, 1 µs, and the least margin is
 * 200 ms. */
#define RTO (SCPS_MS(200) + 1)

static void times_of_packets(void **state)
{
    (void)state;
    struct peer p;
    peer_open(&p, NULL);
    assert_true(scps_ctx_next_deadline(p.ctx) == SCPS_NEVER);
    int s = peer_connected(&p);
    peer_wait(&p, SCPS_MS(500));
    assert_int_equal(scps_sock_write(p.ctx, s, "abc", 3), 3);
    assert_int_equal(scps_ctx_queued(p.ctx), 1);
    /* The buffer is too small for the packet, which stays in the queue. */
    uint8_t tiny[10];
    assert_errno(scps_ctx_take(p.ctx, tiny, sizeof tiny, NULL), EMSGSIZE);
    peer_gets(&p, SCPS_ACK | SCPS_PSH, 1, 1, 3);
    assert_int_equal(p.at, SCPS_MS(500));
    /* One step of time passes many timers: each is served at its own time (200 ms, doubled each
     * time). */
    assert_int_equal(scps_ctx_next_deadline(p.ctx), SCPS_MS(500) + RTO);
    scps_ctx_advance(p.ctx, SCPS_SEC(4));
    for (int i = 1; i <= 4; i++) {
        peer_gets(&p, SCPS_ACK | SCPS_PSH, 1, 1, 3);
        assert_int_equal(p.at, SCPS_MS(500) + ((1 << i) - 1) * RTO);
    }
    peer_gets_nothing(&p);
    assert_int_equal(scps_ctx_now(p.ctx), SCPS_SEC(4));
    /* The time never goes back. */
    scps_ctx_advance(p.ctx, SCPS_SEC(1));
    scps_ctx_advance(p.ctx, SCPS_NEVER);
    assert_int_equal(scps_ctx_now(p.ctx), SCPS_SEC(4));
    /* A timer that expires exactly at the new time is served. */
    scps_ctx_advance(p.ctx, SCPS_MS(500) + 31 * RTO);
    peer_gets(&p, SCPS_ACK | SCPS_PSH, 1, 1, 3);
    assert_int_equal(p.at, SCPS_MS(500) + 31 * RTO);
    /* scps_ctx_inject() has a time of its own; timers up to it are served first. */
    uint8_t junk[60] = {0};
    assert_int_not_equal(scps_ctx_inject(p.ctx, junk, sizeof junk, SCPS_SEC(20)), 0);
    peer_gets(&p, SCPS_ACK | SCPS_PSH, 1, 1, 3);
    assert_int_equal(p.at, SCPS_MS(500) + 63 * RTO);
    assert_int_equal(scps_ctx_now(p.ctx), SCPS_SEC(20));
    assert_int_not_equal(scps_ctx_inject(p.ctx, junk, sizeof junk, SCPS_SEC(10)), 0);
    assert_int_equal(scps_ctx_now(p.ctx), SCPS_SEC(20));
    peer_close(&p);
}

static void stepping(void **state)
{
    (void)state;
    struct peer p;
    peer_open(&p, NULL);
    int s = peer_connected(&p);
    assert_int_equal(scps_sock_write(p.ctx, s, "abc", 3), 3);
    /* A packet already waits, so there is nothing to wait for. */
    assert_int_equal(scps_ctx_step(p.ctx, SCPS_SEC(9)), 0);
    peer_gets(&p, SCPS_ACK | SCPS_PSH, 1, 1, 3);
    assert_int_equal(scps_ctx_step(p.ctx, SCPS_SEC(9)), RTO);
    peer_gets(&p, SCPS_ACK | SCPS_PSH, 1, 1, 3);
    assert_int_equal(scps_ctx_step(p.ctx, SCPS_MS(250)), SCPS_MS(250));
    peer_gets_nothing(&p);
    peer_close(&p);
}

static void queue_is_bounded(void **state)
{
    (void)state;
    struct scps_ctx_config cfg = scps_ctx_config_linux();
    struct peer p;
    static uint8_t data[100000];
    cfg.queue_packets = 4;
    peer_open(&p, &cfg);
    int s = peer_connected(&p);
    assert_int_equal(scps_sock_write(p.ctx, s, data, sizeof data), sizeof data);
    assert_int_equal(scps_ctx_queued(p.ctx), 4);
    /* The queue is full: packets stay in the stack and none is lost. */
    scps_ctx_advance(p.ctx, SCPS_MS(50));
    assert_int_equal(scps_ctx_queued(p.ctx), 4);
    uint32_t next = 1;
    for (int i = 0; i < 10; i++) { /* The initial window arrives in order. */
        assert_true(peer_takes(&p));
        assert_int_equal(p.seg.seq - p.our_isn, next);
        next += p.seg.len;
        assert_int_equal(p.at, i < 4 ? 0 : SCPS_MS(50));
    }
    peer_gets_nothing(&p);
    assert_int_equal(next, 10001);
    peer_close(&p);
}

static void many_packets(void **state)
{
    (void)state;
    /* The ring of packets grows and wraps. */
    struct scps_ctx_config cfg = scps_ctx_config_linux();
    struct peer p;
    static uint8_t data[200000];
    cfg.conn.init_cwnd_segs = 100;
    peer_open(&p, &cfg);
    p.wnd = 65535;
    int s = peer_connected(&p);
    assert_int_equal(scps_sock_write(p.ctx, s, data, sizeof data), sizeof data);
    assert_int_equal(scps_ctx_queued(p.ctx), 65);
    for (int i = 0; i < 30; i++)
        assert_true(peer_takes(&p));
    peer_sends(&p, SCPS_ACK, 1, 65001, 0); /* New packets are queued behind those that wait. */
    uint32_t next = 30001;
    while (peer_takes(&p)) {
        assert_int_equal(p.seg.seq - p.our_isn, next);
        next += p.seg.len;
    }
    assert_true(next > 100000);
    peer_close(&p);
}

/* ---- the lock hook ---- */

struct lock_count {
    int held, taken, waited;
};

static void count_lock(void *user)
{
    struct lock_count *c = user;
    assert_int_equal(c->held, 0); /* The lock is never taken twice. */
    c->held = 1;
    c->taken++;
}

static void count_unlock(void *user)
{
    struct lock_count *c = user;
    assert_int_equal(c->held, 1);
    c->held = 0;
}

static void woken(void *user)
{
    assert_int_equal(((struct lock_count *)user)->held, 1);
}

static int give_up(const struct scps_wait *w)
{
    struct lock_count *c = w->user;
    assert_int_equal(c->held, 0); /* The lock is not held during the callback. */
    assert_ptr_equal(scps_ctx_user(w->ctx), c);
    assert_false(scps_wait_over(w));
    c->waited++;
    return EINTR;
}

static void lock_around_every_entry(void **state)
{
    (void)state;
    struct lock_count c = {0};
    struct scps_ctx_config cfg = scps_ctx_config_linux();
    struct peer p;
    cfg.lock = count_lock;
    cfg.unlock = count_unlock;
    cfg.wake = woken;
    cfg.wait = give_up;
    cfg.user = &c;
    peer_open(&p, &cfg);
    int taken = c.taken;
    char b[8];
    int v = 0;
    uint32_t len = sizeof v;
    struct scps_pollfd fd = {.fd = 99};
    struct scps_iovec iov = {b, sizeof b};
    struct scps_msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
    struct scps_sockaddr_in in;
    struct scps_route r = {.dst.family = 4};
    uint32_t alen = sizeof in;
    /* Each call is made with arguments with which it fails. */
    scps_socket(p.ctx, 99, 1, 0);
    scps_sock_bind(p.ctx, 99, &in, alen);
    scps_sock_listen(p.ctx, 99, 1);
    scps_sock_accept(p.ctx, 99, NULL, NULL);
    scps_sock_accept4(p.ctx, 99, NULL, NULL, 0);
    scps_sock_connect(p.ctx, 99, &in, alen);
    scps_sock_read(p.ctx, 99, b, 1);
    scps_sock_readv(p.ctx, 99, &iov, 1);
    scps_sock_recv(p.ctx, 99, b, 1, 0);
    scps_sock_recvfrom(p.ctx, 99, b, 1, 0, NULL, NULL);
    scps_sock_recvmsg(p.ctx, 99, &m, 0);
    scps_sock_write(p.ctx, 99, b, 1);
    scps_sock_writev(p.ctx, 99, &iov, 1);
    scps_sock_send(p.ctx, 99, b, 1, 0);
    scps_sock_sendto(p.ctx, 99, b, 1, 0, NULL, 0);
    scps_sock_sendmsg(p.ctx, 99, &m, 0);
    scps_sock_shutdown(p.ctx, 99, 0);
    scps_sock_close(p.ctx, 99);
    scps_sock_poll(p.ctx, &fd, 1, 0);
    scps_sock_getsockname(p.ctx, 99, &in, &alen);
    scps_sock_getpeername(p.ctx, 99, &in, &alen);
    scps_sock_getsockopt(p.ctx, 99, 1, 1, &v, &len);
    scps_sock_setsockopt(p.ctx, 99, 1, 1, &v, len);
    scps_sock_fcntl(p.ctx, 99, SCPS_F_GETFL, 0);
    scps_sock_ioctl(p.ctx, 99, SCPS_FIONREAD, &v);
    scps_sock_conn(p.ctx, 99);
    scps_ctx_turn(p.ctx);
    scps_ctx_add_addr(p.ctx, NULL, 0);
    scps_ctx_add_route(p.ctx, &r);
    scps_ctx_inject(p.ctx, b, 1, 0);
    scps_ctx_take(p.ctx, b, 1, NULL);
    scps_ctx_queued(p.ctx);
    scps_ctx_advance(p.ctx, 1);
    scps_ctx_step(p.ctx, 2);
    scps_ctx_next_deadline(p.ctx);
    scps_ctx_now(p.ctx);
    assert_int_equal(c.taken - taken, 36); /* Each call has taken the lock once. */
    assert_int_equal(c.held, 0);
    /* The callback's return value is the errno of the call. */
    int l = peer_listens(&p, 1);
    assert_errno(scps_sock_accept(p.ctx, l, NULL, NULL), EINTR);
    fd = (struct scps_pollfd){.fd = l, .events = SCPS_POLLIN};
    assert_errno(scps_sock_poll(p.ctx, &fd, 1, -1), EINTR);
    int s = peer_socket(&p);
    assert_errno(peer_connect(&p, s), EINTR);
    assert_errno(scps_sock_recv(p.ctx, s, b, 1, 0), EINTR);
    assert_errno(scps_sock_send(p.ctx, s, b, 1, 0), EINTR);
    assert_int_equal(c.waited, 5);
    assert_int_equal(c.held, 0);
    peer_close(&p);
}

/* ---- lack of memory ---- */

struct meter {
    long left; /* The number of allocations that still succeed. */
    size_t in_use;
    long calls;
};

static void *meter_alloc(void *ctx, size_t n)
{
    struct meter *m = ctx;
    m->calls++;
    if (m->left-- <= 0)
        return NULL;
    m->in_use += n;
    return malloc(n);
}

static void meter_free(void *ctx, void *p, size_t n)
{
    struct meter *m = ctx;
    assert_true(m->in_use >= n);
    m->in_use -= n;
    free(p);
}

/* Opens, uses and closes a pair of sockets. A call that gets no memory fails with an errno, and no
 * memory leaks. */
static void a_life(struct meter *m)
{
    struct scps_ctx_config cfg = scps_ctx_config_linux();
    struct peer p = {.domain = SCPS_AF_INET, .their_port = PEER_PORT, .mss = 1000, .wnd = 9000};
    cfg.stack_config.alloc = (struct scps_alloc){meter_alloc, meter_free, m};
    p.us = peer_addr("10.0.0.1");
    p.them = peer_addr("10.0.0.2");
    p.ctx = scps_ctx_new(&cfg);
    if (!p.ctx) {
        assert_int_equal(errno, ENOMEM);
        return;
    }
    scps_ctx_add_addr(p.ctx, &p.us, 24);
    int l = scps_socket(p.ctx, SCPS_AF_INET, SCPS_SOCK_STREAM, 0);
    struct scps_addr any = {.family = 4};
    peer_bind(&p, l, &any, OUR_PORT);
    scps_sock_listen(p.ctx, l, 3);
    p.our_port = OUR_PORT;
    peer_sends(&p, SCPS_SYN, 0, 0, 0);
    peer_takes(&p);
    peer_sends(&p, SCPS_ACK, 1, 1, 0);
    int a = scps_sock_accept(p.ctx, l, NULL, NULL);
    if (a < 0)
        assert_true(errno == EAGAIN || errno == ENOMEM || errno == EBADF || errno == EINVAL);
    peer_sends(&p, SCPS_ACK, 1, 1, 500);
    uint8_t b[1000] = {0};
    struct scps_iovec v[] = {{b, 10}, {b + 10, 300}};
    struct scps_msghdr mh = {.msg_iov = v, .msg_iovlen = 2};
    scps_sock_recvmsg(p.ctx, a, &mh, SCPS_MSG_PEEK);
    scps_sock_read(p.ctx, a, b, sizeof b);
    scps_sock_write(p.ctx, a, b, sizeof b);
    peer_setopt(&p, a, SCPS_SOL_IP, SCPS_IP_TTL, 9);
    int c = scps_socket(p.ctx, SCPS_AF_INET, SCPS_SOCK_STREAM, 0);
    peer_connect(&p, c);
    scps_sock_close(p.ctx, a);
    peer_drains(&p);
    scps_ctx_free(p.ctx);
}

static void memory_runs_out(void **state)
{
    (void)state;
    struct meter m = {.left = 1000000};
    a_life(&m);
    assert_int_equal(m.in_use, 0);
    long all = m.calls;
    assert_true(all > 10);
    for (long n = 0; n < all; n++) {
        m = (struct meter){.left = n};
        a_life(&m);
        assert_int_equal(m.in_use, 0);
    }
}

static void bad_configurations(void **state)
{
    (void)state;
    struct scps_ctx_config ok = scps_ctx_config_default(), c;
    scps_ctx_free(NULL);
    struct scps_ctx *ctx = scps_ctx_new(NULL);
    assert_non_null(ctx);
    scps_ctx_free(ctx);
    for (int i = 0; i < 11; i++) {
        c = ok;
        if (i == 0)
            c.queue_packets = 0;
        else if (i == 1)
            c.max_sockets = 0;
        else if (i == 2)
            c.first_fd = -1;
        else if (i == 3)
            c.mtu = 67;
        else if (i == 4)
            c.max_backlog = 0;
        else if (i == 5)
            c.stack_config.port_min = 2, c.stack_config.port_max = 1;
        else if (i == 6)
            c.stack_config.plain_hosts = UINT32_MAX;
        else if (i == 7)
            c.stack_config.now = -1;
        else if (i == 8)
            c.mtu = 65536;
        else if (i == 9)
            c.conn.sndbuf = 12;
        else
            c.stack_config.alloc.alloc = scps_alloc_default().alloc;
        errno = 0;
        assert_null(scps_ctx_new(&c));
        assert_int_equal(errno, EINVAL);
    }
}

/* RFC 6056 section 2: an attacker who sees some ports must not be able to compute the next one.
 * Each port is computed with SipHash from a counter; its key comes from the seed. */
static void ports_are_secret(void **state)
{
    (void)state;
    struct scps_ctx_config cfg = scps_ctx_config_linux();
    struct scps_addr any = {.family = 4};
    uint32_t lo = cfg.stack_config.port_min, n = cfg.stack_config.port_max - lo + 1;
    cfg.stack_config.seed[0] = 0x0123456789abcdef, cfg.stack_config.seed[1] = 42;
    const uint64_t key[2] = {scps_siphash(cfg.stack_config.seed, "socket port 1", 13),
                             scps_siphash(cfg.stack_config.seed, "socket port 2", 13)};
    struct peer p;
    peer_open(&p, &cfg);
    for (uint8_t i = 0; i < 8; i++) {
        struct scps_sockaddr_storage ss;
        struct scps_endpoint ep;
        uint32_t len = sizeof ss;
        const uint8_t count[4] = {0, 0, 0, i};
        int s = peer_socket(&p);
        assert_int_equal(peer_bind(&p, s, &any, 0), 0);
        assert_int_equal(scps_sock_getsockname(p.ctx, s, &ss, &len), 0);
        assert_int_equal(scps_sockaddr_get(&ss, len, &ep), 0);
        assert_int_equal(ep.port, lo + scps_siphash(key, count, sizeof count) % n);
    }
    peer_close(&p);
}

/* The clock stops where that of the stack does. Beyond it the stack's timers would be due for ever,
 * and a call would step through the time one microsecond after the other. */
static void the_end_of_time(void **state)
{
    (void)state;
    struct peer p;
    peer_open(&p, NULL);
    int s = peer_socket(&p);
    scps_ctx_advance(p.ctx, SCPS_NEVER - 1);
    assert_true(scps_ctx_now(p.ctx) == SCPS_NEVER / 2);
    assert_errno(peer_connect(&p, s), EINPROGRESS);
    scps_ctx_advance(p.ctx, SCPS_NEVER - 1);
    assert_true(scps_ctx_step(p.ctx, SCPS_NEVER - 1) == SCPS_NEVER / 2);
    assert_true(scps_ctx_now(p.ctx) == scps_stack_now(scps_ctx_stack(p.ctx)));
    peer_close(&p);
}

/* ---- a clock of the program ---- */

static scps_time the_time;

static scps_time read_time(void *user)
{
    (void)user;
    return the_time;
}

static void a_clock_of_its_own(void **state)
{
    (void)state;
    struct scps_ctx_config cfg = scps_ctx_config_linux();
    struct peer p;
    the_time = SCPS_SEC(1000);
    cfg.now = read_time;
    peer_open(&p, &cfg);
    int s = peer_connected(&p);
    the_time += SCPS_MS(3);
    assert_int_equal(scps_sock_write(p.ctx, s, "abc", 3), 3);
    peer_gets(&p, SCPS_ACK | SCPS_PSH, 1, 1, 3);
    assert_int_equal(p.at, the_time);
    scps_time t0 = the_time;
    /* Any call first serves the timers that have expired meanwhile, each at its own time. */
    the_time += SCPS_SEC(1);
    assert_int_equal(scps_ctx_queued(p.ctx), 2);
    peer_gets(&p, SCPS_ACK | SCPS_PSH, 1, 1, 3);
    assert_int_equal(p.at, t0 + RTO);
    assert_int_equal(scps_ctx_now(p.ctx), the_time);
    peer_close(&p);
}

/* ---- a stack that the program has opened ---- */

struct own_driver {
    struct scps_stack *st;
    struct scps_ctx *ctx;
    struct scps_netif nif;
    int kicks;
};

static void own_kick(void *user)
{
    ((struct own_driver *)user)->kicks++;
}

static void on_a_stack_of_the_callers(void **state)
{
    (void)state;
    struct own_driver d = {.nif = {.name = "mine", .mtu = 1500}};
    struct scps_ctx_config cfg = scps_ctx_config_linux();
    struct scps_addr us = peer_addr("10.0.0.1"), them = peer_addr("10.0.0.2");
    uint8_t buf[2048];
    struct scps_pkt out;
    d.st = scps_stack_new(NULL);
    assert_int_equal(scps_stack_add_netif(d.st, &d.nif), 0);
    assert_int_equal(scps_stack_add_addr(d.st, &d.nif, &us, 24), 0);
    cfg.stack = d.st;
    cfg.kick = own_kick;
    cfg.user = &d;
    d.ctx = scps_ctx_new(&cfg);
    assert_ptr_equal(scps_ctx_stack(d.ctx), d.st);
    int s = scps_socket(d.ctx, SCPS_AF_INET, SCPS_SOCK_STREAM, 0);
    struct scps_sockaddr_storage ss;
    struct scps_endpoint ep = {them, 80};
    uint32_t len = scps_sockaddr_put(&ss, 0, &ep);
    assert_errno(scps_sock_connect(d.ctx, s, &ss, len), EINPROGRESS);
    assert_true(d.kicks > 0);
    /* The driver takes the packets from the stack itself. */
    assert_int_equal(scps_ctx_take(d.ctx, buf, sizeof buf, NULL), 0);
    out = (struct scps_pkt){.data = buf, .cap = sizeof buf};
    assert_int_equal(scps_stack_output(d.st, &d.nif, SCPS_MS(1), &out), 1);
    /* The driver hands in a reset; the context gets it by the event that the program passes on. */
    struct scps_ip ip;
    struct scps_seg syn;
    assert_int_equal(scps_ip_parse(buf, out.len, out.len, &ip), 0);
    assert_int_equal(
        scps_tcp_parse(buf + ip.hdr_len, out.len - ip.hdr_len, out.len - ip.hdr_len, &syn), 0);
    uint8_t rst[64];
    struct scps_seg r = {
        .sport = syn.dport, .dport = syn.sport, .ack = syn.seq + 1, .flags = SCPS_RST | SCPS_ACK};
    struct scps_ip rip = {
        .src = them, .dst = us, .version = 4, .proto = SCPS_IPPROTO_TCP, .ttl = 9};
    size_t ih = scps_ip_build(rst, &rip, 20), th = scps_tcp_build(rst + ih, &r);
    uint16_t ck = scps_tcp_checksum(&them, &us, rst + ih, th, NULL, 0);
    rst[ih + 16] = (uint8_t)(ck >> 8);
    rst[ih + 17] = (uint8_t)ck;
    struct scps_pkt in = {.data = rst, .len = ih + th, .at = SCPS_MS(2)};
    assert_int_equal(scps_stack_input(d.st, &d.nif, &in), 0);
    struct scps_event ev;
    int heard = 0;
    while (scps_stack_event(d.st, &ev)) {
        scps_ctx_event(d.ctx, &ev);
        heard++;
    }
    assert_true(heard > 0);
    assert_errno(scps_sock_connect(d.ctx, s, &ss, len), ECONNREFUSED);
    assert_int_equal(scps_ctx_now(d.ctx), scps_stack_now(d.st));
    /* An event of a connection that belongs to no socket of the context is not consumed. */
    int err;
    struct scps_conn *c = scps_connect(d.st, NULL, NULL, &ep, &err);
    assert_non_null(c);
    scps_conn_set_user(c, (void *)(uintptr_t)1);
    ev = (struct scps_event){.kind = SCPS_EV_ERROR, .conn = c, .user = (void *)(uintptr_t)1};
    scps_ctx_event(d.ctx, &ev);
    ev.user = (void *)UINTPTR_MAX;
    scps_ctx_event(d.ctx, &ev);
    scps_conn_abort(c);
    scps_ctx_free(d.ctx);
    scps_stack_free(d.st);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_of_packets),        cmocka_unit_test(stepping),
        cmocka_unit_test(queue_is_bounded),        cmocka_unit_test(many_packets),
        cmocka_unit_test(lock_around_every_entry), cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(bad_configurations),      cmocka_unit_test(the_end_of_time),
        cmocka_unit_test(a_clock_of_its_own),      cmocka_unit_test(on_a_stack_of_the_callers),
        cmocka_unit_test(ports_are_secret),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
