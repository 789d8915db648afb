/* SPDX-License-Identifier: MIT */
/* Sockets in real time: two processes exchange IP in UDP over loopback; every call blocks. */
#define _GNU_SOURCE
#include "udpport.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <ev.h>
#include <scps/sockloop.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define N (3u << 20)

static uint8_t pattern(size_t i)
{
    return (uint8_t)(i * 2654435761u >> 13);
}

struct side {
    struct scps_sockloop *sl;
    struct scps_ctx *ctx;
    struct scps_netif *dev;
};

static int side_open(struct side *s, uint16_t local, uint16_t remote, const char *addr)
{
    struct scps_udptun_config u = {.local.port = local, .remote.port = remote};
    struct scps_ctx_config cfg = scps_ctx_config_linux();
    char msg[SCPS_IO_MSGLEN];
    struct scps_addr a;
    /* The buffers are small, so both sides often have to wait. */
    cfg.conn.rcvbuf = cfg.conn.sndbuf = 64 << 10;
    if (scps_addr_parse("127.0.0.1", &u.local.addr) || scps_addr_parse(addr, &a))
        return -1;
    u.remote.addr = u.local.addr;
    s->sl = scps_sockloop_new(NULL, &cfg);
    s->dev = scps_udptun_open(&u, msg);
    if (!s->sl || !s->dev)
        return -1;
    s->ctx = scps_sockloop_ctx(s->sl);
    struct scps_stack *st = scps_ctx_stack(s->ctx);
    return scps_loop_add(scps_sockloop_loop(s->sl), s->dev) ||
           scps_stack_add_addr(st, s->dev, &a, 24);
}

static void side_close(struct side *s)
{
    scps_sockloop_free(s->sl);
    scps_netif_close(s->dev);
}

static void address(struct scps_sockaddr_in *in, const char *text, uint16_t port)
{
    struct scps_endpoint ep = {.port = port};
    struct scps_sockaddr_storage ss;
    scps_addr_parse(text, &ep.addr);
    scps_sockaddr_put(&ss, SCPS_AF_INET, &ep);
    memcpy(in, &ss, sizeof *in);
}

/* Echoes the data of one connection until it ends. Returns 0, or a number that says which call
 * failed. */
static int serve(uint16_t local, uint16_t remote)
{
    struct side s;
    struct scps_sockaddr_in in;
    static uint8_t buf[10000];
    alarm(600);
    if (side_open(&s, local, remote, "10.9.0.1"))
        return 10;
    address(&in, "10.9.0.1", 7);
    int l = scps_socket(s.ctx, SCPS_AF_INET, SCPS_SOCK_STREAM, 0);
    if (scps_sock_bind(s.ctx, l, &in, sizeof in) || scps_sock_listen(s.ctx, l, 5))
        return 11;
    int c = scps_sock_accept(s.ctx, l, NULL, NULL);
    if (c < 0)
        return 12;
    int64_t n;
    while ((n = scps_sock_read(s.ctx, c, buf, sizeof buf)) > 0)
        if (scps_sock_write(s.ctx, c, buf, (size_t)n) != n)
            return 13;
    if (n < 0)
        return 14;
    struct scps_linger lg = {1, 600}; /* close() waits until the FIN is acknowledged. */
    scps_sock_setsockopt(s.ctx, c, SCPS_SOL_SOCKET, SCPS_SO_LINGER, &lg, sizeof lg);
    if (scps_sock_close(s.ctx, c))
        return 15;
    side_close(&s);
    return 0;
}

static void echo_over_udp(void **state)
{
    (void)state;
    uint16_t a = udp_port(0), b = udp_port(1);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(serve(a, b));
    struct side s;
    struct scps_sockaddr_in in;
    assert_int_equal(side_open(&s, b, a, "10.9.0.2"), 0);
    address(&in, "10.9.0.1", 7);
    int c = -1;
    for (int i = 0; i < 100; i++) { /* The child may not listen yet. */
        c = scps_socket(s.ctx, SCPS_AF_INET, SCPS_SOCK_STREAM, 0);
        if (scps_sock_connect(s.ctx, c, &in, sizeof in) == 0)
            break;
        assert_true(errno == ECONNREFUSED || errno == ETIMEDOUT);
        scps_sock_close(s.ctx, c);
        c = -1;
        usleep(20000);
    }
    assert_true(c >= 0);
    /* The data is more than both ends and the path can hold, so it is written and read in turns, by
     * poll(). */
    static uint8_t out[20000], back[20000];
    size_t sent = 0, got = 0;
    bool shut = false;
    assert_int_equal(scps_sock_fcntl(s.ctx, c, SCPS_F_SETFL, SCPS_O_NONBLOCK), 0);
    while (got < N) {
        struct scps_pollfd p = {.fd = c, .events = SCPS_POLLIN};
        if (sent < N)
            p.events |= SCPS_POLLOUT;
        assert_int_equal(scps_sock_poll(s.ctx, &p, 1, 600000), 1);
        if (p.revents & SCPS_POLLOUT) {
            size_t n = N - sent < sizeof out ? N - sent : sizeof out;
            for (size_t i = 0; i < n; i++)
                out[i] = pattern(sent + i);
            int64_t r = scps_sock_write(s.ctx, c, out, n);
            assert_true(r > 0);
            sent += (size_t)r;
        }
        if (sent == N && !shut) {
            assert_int_equal(scps_sock_shutdown(s.ctx, c, SCPS_SHUT_WR), 0);
            shut = true;
        }
        if (p.revents & SCPS_POLLIN) {
            int64_t r = scps_sock_read(s.ctx, c, back, sizeof back);
            assert_true(r > 0);
            for (int64_t i = 0; i < r; i++)
                if (back[i] != pattern(got + (size_t)i))
                    fail_msg("byte %zu differs", got + (size_t)i);
            got += (size_t)r;
        }
    }
    assert_int_equal(scps_sock_fcntl(s.ctx, c, SCPS_F_SETFL, 0), 0);
    /* The call blocks until the FIN arrives. */
    assert_int_equal(scps_sock_read(s.ctx, c, back, 1), 0);
    assert_int_equal(scps_sock_close(s.ctx, c), 0);
    /* The peer's close() has been acknowledged; the loop runs on so that this side's
     * acknowledgement is sent. */
    scps_loop_run(scps_sockloop_loop(s.sl), scps_sysclock_now() + SCPS_MS(100));
    side_close(&s);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void timeouts_are_kept(void **state)
{
    (void)state;
    struct side s;
    struct scps_sockaddr_in in;
    struct scps_timeval tv = {0, 100000};
    assert_int_equal(side_open(&s, udp_port(0), udp_port(1), "10.9.0.2"), 0);
    int l = scps_socket(s.ctx, SCPS_AF_INET, SCPS_SOCK_STREAM, 0);
    address(&in, "10.9.0.2", 7);
    assert_int_equal(scps_sock_bind(s.ctx, l, &in, sizeof in), 0);
    assert_int_equal(scps_sock_listen(s.ctx, l, 1), 0);
    assert_int_equal(
        scps_sock_setsockopt(s.ctx, l, SCPS_SOL_SOCKET, SCPS_SO_RCVTIMEO, &tv, sizeof tv), 0);
    scps_time t0 = scps_sysclock_now();
    errno = 0;
    assert_int_equal(scps_sock_accept(s.ctx, l, NULL, NULL), -1);
    assert_int_equal(errno, EAGAIN);
    assert_true(scps_sysclock_now() - t0 >= SCPS_MS(100));
    struct scps_pollfd p = {.fd = l, .events = SCPS_POLLIN};
    t0 = scps_sysclock_now();
    assert_int_equal(scps_sock_poll(s.ctx, &p, 1, 50), 0);
    assert_true(scps_sysclock_now() - t0 >= SCPS_MS(50));
    side_close(&s);
}

static void on_signal(EV_P_ ev_signal *w, int revents)
{
    (void)loop;
    (void)revents;
    scps_sockloop_interrupt(w->data);
}

static void a_signal_interrupts(void **state)
{
    (void)state;
    struct scps_sockloop *sl;
    struct scps_ctx *ctx;
    ev_signal sig;
    struct scps_sockaddr_in in = {.sin_family = SCPS_AF_INET};
    sl = scps_sockloop_new(EV_DEFAULT, NULL); /* libev handles signals in its default loop only. */
    assert_non_null(sl);
    ctx = scps_sockloop_ctx(sl);
    ev_signal_init(&sig, on_signal, SIGUSR1);
    sig.data = sl;
    ev_signal_start(EV_DEFAULT, &sig);
    int l = scps_socket(ctx, SCPS_AF_INET, SCPS_SOCK_STREAM, 0);
    assert_int_equal(scps_sock_bind(ctx, l, &in, sizeof in), 0);
    assert_int_equal(scps_sock_listen(ctx, l, 1), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        usleep(50000);
        kill(getppid(), SIGUSR1);
        _exit(0);
    }
    errno = 0;
    assert_int_equal(scps_sock_accept(ctx, l, NULL, NULL), -1);
    assert_int_equal(errno, EINTR);
    int status;
    waitpid(pid, &status, 0);
    ev_signal_stop(EV_DEFAULT, &sig);
    scps_sockloop_free(sl);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(echo_over_udp),
        cmocka_unit_test(timeouts_are_kept),
        cmocka_unit_test(a_signal_interrupts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
