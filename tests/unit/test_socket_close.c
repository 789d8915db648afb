/* SPDX-License-Identifier: MIT */
/* The end of a connection: shutdown(), close(), SO_LINGER, FIN and RST from the peer, timeouts; and
 * what poll() and each call then return. */
#include "sockpeer.h"

static uint8_t buf[4096];

/* Makes every call that reads or writes, and asserts the results in CLOSE-WAIT. */
static void peer_closes_first(void **state)
{
    (void)state;
    struct peer p;
    peer_open(&p, NULL);
    int s = peer_accepted(&p);
    peer_sends(&p, SCPS_ACK | SCPS_PSH, 1, 1, 10);
    peer_sends(&p, SCPS_ACK | SCPS_FIN, 11, 1, 0);
    peer_drains(&p);
    assert_int_equal(peer_poll(&p, s), P_IN | P_OUT | SCPS_POLLRDHUP);
    assert_int_equal(peer_ioctl(&p, s, SCPS_FIONREAD), 10);
    assert_int_equal(scps_sock_read(p.ctx, s, buf, 100), 10);
    assert_int_equal(peer_ioctl(&p, s, SCPS_FIONREAD), 0);
    assert_int_equal(scps_sock_read(p.ctx, s, buf, 100), 0);
    assert_int_equal(scps_sock_recv(p.ctx, s, buf, 100, SCPS_MSG_PEEK), 0);
    assert_int_equal(peer_poll(&p, s), P_IN | P_OUT | SCPS_POLLRDHUP);
    /* In CLOSE-WAIT the application can still write. */
    assert_int_equal(scps_sock_write(p.ctx, s, "abc", 3), 3);
    peer_gets(&p, SCPS_ACK | SCPS_PSH, 1, 12, 3);
    peer_sends(&p, SCPS_ACK, 12, 4, 0);
    assert_int_equal(scps_sock_close(p.ctx, s), 0);
    peer_gets(&p, SCPS_ACK | SCPS_FIN, 4, 12, 0);
    assert_errno(scps_sock_read(p.ctx, s, buf, 1), EBADF);
    assert_errno(scps_sock_close(p.ctx, s), EBADF);
    peer_sends(&p, SCPS_ACK, 12, 5, 0);
    /* The connection no longer exists, so the segment is answered with a reset. */
    peer_sends(&p, SCPS_ACK, 12, 5, 0);
    peer_gets(&p, SCPS_RST, 5, 0, 0);
    peer_close(&p);
}

static void we_close_first(void **state)
{
    (void)state;
    struct peer p;
    peer_open(&p, NULL);
    int s = peer_connected(&p);
    assert_int_equal(scps_sock_write(p.ctx, s, buf, 1000), 1000);
    peer_gets(&p, SCPS_ACK | SCPS_PSH, 1, 1, 1000);
    peer_sends(&p, SCPS_ACK, 1, 1001, 0);
    assert_int_equal(scps_sock_close(p.ctx, s), 0);
    peer_gets(&p, SCPS_ACK | SCPS_FIN, 1001, 1, 0);
    peer_sends(&p, SCPS_ACK, 1, 1002, 0);
    peer_sends(&p, SCPS_ACK | SCPS_FIN, 1, 1002, 0);
    peer_gets(&p, SCPS_ACK, 1002, 2, 0);
    peer_close(&p);
}

static void shut_writing(void **state)
{
    (void)state;
    struct peer p;
    peer_open(&p, NULL);
    int s = peer_accepted(&p);
    assert_int_equal(scps_sock_shutdown(p.ctx, s, SCPS_SHUT_WR), 0);
    peer_gets(&p, SCPS_ACK | SCPS_FIN, 1, 1, 0);
    /* Linux counts the FIN as an unsent byte. */
    assert_int_equal(peer_ioctl(&p, s, SCPS_SIOCOUTQ), 1);
    assert_errno(scps_sock_write(p.ctx, s, "x", 1), EPIPE);
    assert_errno(scps_sock_write(p.ctx, s, "x", 0), EPIPE);
    assert_int_equal(peer_poll(&p, s), P_OUT);
    peer_sends(&p, SCPS_ACK, 1, 2, 0);
    assert_int_equal(peer_ioctl(&p, s, SCPS_SIOCOUTQ), 0);
    /* A second shutdown() has no effect. */
    assert_int_equal(scps_sock_shutdown(p.ctx, s, SCPS_SHUT_WR), 0);
    peer_gets_nothing(&p);
    /* The application can still read. */
    peer_sends(&p, SCPS_ACK | SCPS_PSH, 1, 2, 100);
    assert_int_equal(peer_poll(&p, s), P_IN | P_OUT);
    assert_int_equal(scps_sock_read(p.ctx, s, buf, 1000), 100);
    peer_sends(&p, SCPS_ACK | SCPS_FIN, 101, 2, 0);
    assert_true(peer_drains(&p) >= 1);
    /* Both directions have ended: the connection is in TIME-WAIT, and the socket appears closed to
     * the application. */
    assert_int_equal(peer_poll(&p, s), P_IN | P_OUT | SCPS_POLLRDHUP | SCPS_POLLHUP);
    assert_int_equal(scps_sock_read(p.ctx, s, buf, 1000), 0);
    assert_errno(scps_sock_shutdown(p.ctx, s, SCPS_SHUT_RD), ENOTCONN);
    struct scps_sockaddr_in in;
    uint32_t len = sizeof in;
    assert_errno(scps_sock_getpeername(p.ctx, s, &in, &len), ENOTCONN);
    assert_int_equal(scps_sock_getsockname(p.ctx, s, &in, &len), 0);
    struct scps_tcp_info ti = peer_tcp_info(&p, s);
    assert_int_equal(ti.tcpi_state, SCPS_CLOSED);
    assert_int_equal(scps_conn_state(scps_sock_conn(p.ctx, s)), SCPS_TIME_WAIT);
    assert_int_equal(scps_sock_close(p.ctx, s), 0);
    peer_gets_nothing(&p);
    /* The connection in TIME-WAIT acknowledges the repeated FIN. */
    peer_sends(&p, SCPS_ACK | SCPS_FIN, 101, 2, 0);
    peer_gets(&p, SCPS_ACK, 2, 102, 0);
    peer_close(&p);
}

static void shut_reading(void **state)
{
    (void)state;
    struct peer p;
    peer_open(&p, NULL);
    int s = peer_accepted(&p);
    assert_int_equal(scps_sock_shutdown(p.ctx, s, SCPS_SHUT_RD), 0);
    peer_gets_nothing(&p);
    assert_int_equal(peer_poll(&p, s), P_IN | P_OUT | SCPS_POLLRDHUP);
    assert_int_equal(scps_sock_read(p.ctx, s, buf, 1000), 0);
    /* As in Linux, the socket still accepts data after SHUT_RD, and the application can read it. */
    peer_sends(&p, SCPS_ACK, 1, 1, 1000);
    peer_sends(&p, SCPS_ACK | SCPS_PSH, 1001, 1, 1000);
    peer_gets(&p, SCPS_ACK, 1, 2001, 0);
    assert_int_equal(scps_sock_read(p.ctx, s, buf, 4000), 2000);
    assert_int_equal(scps_sock_read(p.ctx, s, buf, 4000), 0);
    assert_int_equal(scps_sock_write(p.ctx, s, buf, 10), 10);
    peer_gets(&p, SCPS_ACK | SCPS_PSH, 1, 2001, 10);
    peer_sends(&p, SCPS_ACK, 2001, 11, 0);
    assert_int_equal(scps_sock_shutdown(p.ctx, s, SCPS_SHUT_WR), 0);
    peer_gets(&p, SCPS_ACK | SCPS_FIN, 11, 2001, 0);
    assert_errno(scps_sock_write(p.ctx, s, buf, 10), EPIPE);
    assert_int_equal(peer_poll(&p, s), P_IN | P_OUT | SCPS_POLLRDHUP | SCPS_POLLHUP);
    peer_close(&p);
}

static void shut_both_then_data(void **state)
{
    (void)state;
    struct peer p;
    peer_open(&p, NULL);
    int s = peer_accepted(&p);
    assert_int_equal(scps_sock_shutdown(p.ctx, s, SCPS_SHUT_RDWR), 0);
    peer_gets(&p, SCPS_ACK | SCPS_FIN, 1, 1, 0);
    peer_sends(&p, SCPS_ACK, 1, 2, 0);
    assert_int_equal(scps_sock_read(p.ctx, s, buf, 10), 0);
    assert_errno(scps_sock_write(p.ctx, s, buf, 10), EPIPE);
    assert_int_equal(peer_so_error(&p, s), 0);
    /* The application can no longer read this data, so a reset is sent (RFC 1122 section
     * 4.2.2.13). */
    peer_sends(&p, SCPS_ACK, 1, 2, 10);
    assert_true(peer_takes(&p));
    assert_int_equal(p.seg.flags & SCPS_RST, SCPS_RST);
    peer_gets_nothing(&p);
    assert_int_equal(peer_poll(&p, s), P_IN | P_OUT | SCPS_POLLRDHUP | SCPS_POLLHUP | SCPS_POLLERR);
    assert_int_equal(peer_so_error(&p, s), ECONNRESET);
    assert_int_equal(scps_sock_close(p.ctx, s), 0);
    peer_gets_nothing(&p);
    peer_close(&p);
}

static void fin_waits_for_data(void **state)
{
    (void)state;
    struct peer p;
    static uint8_t big[20000];
    peer_open(&p, NULL);
    int s = peer_accepted(&p);
    assert_int_equal(scps_sock_write(p.ctx, s, big, sizeof big), sizeof big);
    assert_int_equal(peer_drains(&p), 10);
    assert_int_equal(scps_sock_shutdown(p.ctx, s, SCPS_SHUT_RDWR), 0);
    peer_gets_nothing(&p);
    struct scps_tcp_info ti = peer_tcp_info(&p, s);
    assert_int_equal(ti.tcpi_state, SCPS_FIN_WAIT_1);
    assert_int_equal(ti.tcpi_unacked, 10);
    assert_int_equal(ti.tcpi_notsent_bytes, 10000);
    assert_errno(scps_sock_write(p.ctx, s, big, 1), EPIPE);
    assert_int_equal(scps_sock_close(p.ctx, s), 0);
    peer_sends(&p, SCPS_ACK, 1, 10001, 0);
    unsigned n = 0;
    while (peer_takes(&p))
        n += p.seg.len;
    assert_int_equal(n, 10000);
    assert_int_equal(p.seg.flags, SCPS_ACK | SCPS_FIN | SCPS_PSH);
    peer_close(&p);
}

static void peer_resets(void **state)
{
    (void)state;
    struct peer p;
    peer_open(&p, NULL);
    int s = peer_accepted(&p);
    peer_sends(&p, SCPS_ACK | SCPS_PSH, 1, 1, 10);
    peer_drains(&p);
    peer_sends(&p, SCPS_RST | SCPS_ACK, 11, 1, 0);
    assert_int_equal(peer_poll(&p, s), P_IN | P_OUT | SCPS_POLLRDHUP | SCPS_POLLHUP | SCPS_POLLERR);
    /* Data that arrived before the reset can be read; then one call fails with the reset; then the
     * end of the stream is read. */
    assert_int_equal(scps_sock_read(p.ctx, s, buf, 100), 10);
    assert_errno(scps_sock_read(p.ctx, s, buf, 100), ECONNRESET);
    assert_int_equal(scps_sock_read(p.ctx, s, buf, 100), 0);
    assert_errno(scps_sock_write(p.ctx, s, "x", 1), EPIPE);
    assert_int_equal(peer_poll(&p, s), P_IN | P_OUT | SCPS_POLLRDHUP | SCPS_POLLHUP);
    assert_errno(scps_sock_shutdown(p.ctx, s, SCPS_SHUT_WR), ENOTCONN);
    /* A socket from accept() stays connected for connect(), even after the reset. */
    assert_errno(peer_connect(&p, s), EISCONN);
    assert_int_equal(scps_sock_close(p.ctx, s), 0);
    peer_gets_nothing(&p);
    peer_close(&p);

    /* The reset is reported by write(). */
    peer_open(&p, NULL);
    s = peer_accepted(&p);
    peer_sends(&p, SCPS_RST | SCPS_ACK, 1, 1, 0);
    assert_errno(scps_sock_write(p.ctx, s, "x", 1), ECONNRESET);
    assert_errno(scps_sock_write(p.ctx, s, "x", 1), EPIPE);
    assert_int_equal(scps_sock_read(p.ctx, s, buf, 100), 0);
    peer_close(&p);

    /* The reset is reported by SO_ERROR. */
    peer_open(&p, NULL);
    s = peer_accepted(&p);
    peer_sends(&p, SCPS_RST | SCPS_ACK, 1, 1, 0);
    assert_int_equal(peer_so_error(&p, s), ECONNRESET);
    assert_int_equal(scps_sock_read(p.ctx, s, buf, 100), 0);
    peer_close(&p);

    /* A reset after the peer's FIN is reported as EPIPE, and the end of the stream is read
     * first. */
    peer_open(&p, NULL);
    s = peer_accepted(&p);
    peer_sends(&p, SCPS_FIN | SCPS_ACK, 1, 1, 0);
    peer_drains(&p);
    peer_sends(&p, SCPS_RST | SCPS_ACK, 2, 1, 0);
    assert_int_equal(scps_sock_read(p.ctx, s, buf, 100), 0);
    assert_int_equal(peer_so_error(&p, s), EPIPE);
    assert_int_equal(scps_sock_read(p.ctx, s, buf, 100), 0);
    peer_close(&p);

    /* The reset arrives before accept(): accept() returns the connection, whose first call reports
     * the reset. */
    peer_open(&p, NULL);
    int l = peer_listens(&p, 5);
    peer_calls(&p, PEER_PORT);
    peer_sends(&p, SCPS_RST | SCPS_ACK, 1, 1, 0);
    s = scps_sock_accept(p.ctx, l, NULL, NULL);
    assert_true(s >= 0);
    assert_errno(scps_sock_read(p.ctx, s, buf, 100), ECONNRESET);
    assert_int_equal(scps_sock_close(p.ctx, s), 0);
    peer_close(&p);
}

static void unread_data_resets(void **state)
{
    (void)state;
    struct peer p;
    peer_open(&p, NULL);
    int s = peer_accepted(&p);
    peer_sends(&p, SCPS_ACK | SCPS_PSH, 1, 1, 10);
    peer_drains(&p);
    assert_int_equal(scps_sock_close(p.ctx, s), 0);
    assert_true(peer_takes(&p));
    assert_int_equal(p.seg.flags & (SCPS_RST | SCPS_FIN), SCPS_RST);
    peer_close(&p);
}

static void linger(void **state)
{
    (void)state;
    struct peer p;
    struct scps_linger lg = {1, 0};
    peer_open(&p, NULL);
    int s = peer_accepted(&p);
    assert_int_equal(
        scps_sock_setsockopt(p.ctx, s, SCPS_SOL_SOCKET, SCPS_SO_LINGER, &lg, sizeof lg), 0);
    assert_int_equal(scps_sock_write(p.ctx, s, "abc", 3), 3);
    peer_drains(&p);
    assert_int_equal(scps_sock_close(p.ctx, s), 0);
    assert_true(peer_takes(&p));
    assert_int_equal(p.seg.flags & (SCPS_RST | SCPS_FIN), SCPS_RST);
    peer_sends(&p, SCPS_ACK, 1, 4, 0);
    peer_gets(&p, SCPS_RST, 4, 0, 0); /* The connection no longer exists. */
    /* With a linger time but without a blocking call, close() is an ordinary close in the
     * background. */
    p.their_port++;
    p.our_port = OUR_PORT;
    peer_close(&p);
    peer_open(&p, NULL);
    s = peer_accepted(&p);
    lg.l_linger = 5;
    assert_int_equal(
        scps_sock_setsockopt(p.ctx, s, SCPS_SOL_SOCKET, SCPS_SO_LINGER, &lg, sizeof lg), 0);
    assert_int_equal(scps_sock_close(p.ctx, s), 0);
    peer_gets(&p, SCPS_ACK | SCPS_FIN, 1, 1, 0);
    assert_int_equal(peer_now(&p), 0);
    /* A socket that is connecting is closed without a packet, and the SYN-ACK that arrives later is
     * answered with a reset. */
    s = peer_socket(&p);
    peer_is_called(&p, s);
    assert_int_equal(scps_sock_close(p.ctx, s), 0);
    peer_gets_nothing(&p);
    peer_sends(&p, SCPS_SYN | SCPS_ACK, 0, 1, 0);
    peer_gets(&p, SCPS_RST, 1, 0, 0);
    peer_close(&p);
}

static void shutdown_elsewhere(void **state)
{
    (void)state;
    struct peer p;
    peer_open(&p, NULL);
    int s = peer_socket(&p);
    assert_errno(scps_sock_shutdown(p.ctx, s, 3), EINVAL);
    assert_errno(scps_sock_shutdown(p.ctx, s, -1), EINVAL);
    assert_errno(scps_sock_shutdown(p.ctx, s, SCPS_SHUT_RD), ENOTCONN);
    assert_int_equal(peer_poll(&p, s), P_IN | P_OUT | SCPS_POLLRDHUP | SCPS_POLLHUP);
    /* shutdown() of a socket that is connecting makes it unconnected. */
    int c = peer_socket(&p);
    assert_errno(peer_connect(&p, c), EINPROGRESS);
    peer_gets(&p, SCPS_SYN, 0, 0, 0);
    assert_int_equal(scps_sock_shutdown(p.ctx, c, SCPS_SHUT_RDWR), 0);
    assert_int_equal(peer_poll(&p, c) & SCPS_POLLHUP, SCPS_POLLHUP);
    peer_gets_nothing(&p);
    peer_handshakes(&p, c);
    /* On a listening socket SHUT_WR has no effect and SHUT_RD ends listening; the socket keeps its
     * port. */
    int l = peer_listens(&p, 5);
    assert_int_equal(scps_sock_shutdown(p.ctx, l, SCPS_SHUT_WR), 0);
    assert_int_equal(peer_getopt(&p, l, SCPS_SOL_SOCKET, SCPS_SO_ACCEPTCONN), 1);
    assert_int_equal(scps_sock_shutdown(p.ctx, l, SCPS_SHUT_RD), 0);
    assert_int_equal(peer_getopt(&p, l, SCPS_SOL_SOCKET, SCPS_SO_ACCEPTCONN), 0);
    assert_errno(scps_sock_accept(p.ctx, l, NULL, NULL), EINVAL);
    p.our_port = OUR_PORT;
    peer_sends(&p, SCPS_SYN, 0, 0, 0);
    peer_gets(&p, SCPS_RST | SCPS_ACK, -p.our_isn, 1, 0);
    assert_int_equal(scps_sock_listen(p.ctx, l, 5), 0);
    peer_calls(&p, 7005);
    assert_int_equal(peer_poll(&p, l), P_IN);
    peer_close(&p);
}

static void silence_ends_it(void **state)
{
    (void)state;
    struct peer p;
    peer_open(&p, NULL);
    int s = peer_accepted(&p);
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_TCP, SCPS_TCP_USER_TIMEOUT, 3000), 0);
    assert_int_equal(scps_sock_write(p.ctx, s, "abc", 3), 3);
    peer_wait(&p, SCPS_MS(2900));
    assert_int_equal(peer_poll(&p, s), P_OUT);
    peer_wait(&p, SCPS_SEC(2));
    assert_int_equal(peer_poll(&p, s), P_IN | P_OUT | SCPS_POLLRDHUP | SCPS_POLLHUP | SCPS_POLLERR);
    assert_errno(scps_sock_read(p.ctx, s, buf, 1), ETIMEDOUT);
    assert_int_equal(scps_sock_read(p.ctx, s, buf, 1), 0);
    peer_close(&p);

    /* Keep-alive: after the idle time probes are sent, and without an answer the connection
     * ends. */
    peer_open(&p, NULL);
    peer_wait(&p, SCPS_SEC(100));
    s = peer_accepted(&p);
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_SOCKET, SCPS_SO_KEEPALIVE, 1), 0);
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_TCP, SCPS_TCP_KEEPIDLE, 10), 0);
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_TCP, SCPS_TCP_KEEPINTVL, 5), 0);
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_TCP, SCPS_TCP_KEEPCNT, 3), 0);
    peer_drains(&p);
    peer_wait(&p, SCPS_SEC(24));
    peer_gets(&p, SCPS_ACK, 0, 1, 0);
    assert_int_equal(p.at, SCPS_SEC(110));
    peer_gets(&p, SCPS_ACK, 0, 1, 0);
    assert_int_equal(p.at, SCPS_SEC(115));
    assert_int_equal(peer_poll(&p, s), P_OUT);
    peer_wait(&p, SCPS_SEC(20));
    assert_errno(scps_sock_write(p.ctx, s, "x", 1), ETIMEDOUT);
    peer_close(&p);
}

static void port_in_time_wait(void **state)
{
    (void)state;
    struct peer p;
    struct scps_addr any = {.family = 4};
    peer_open(&p, NULL);
    int s = peer_accepted(&p); /* The descriptor of the listener is s - 1. */
    assert_int_equal(scps_sock_close(p.ctx, s - 1), 0);
    assert_int_equal(scps_sock_shutdown(p.ctx, s, SCPS_SHUT_WR), 0);
    assert_int_equal(scps_sock_close(p.ctx, s), 0);
    peer_drains(&p);
    peer_sends(&p, SCPS_ACK, 1, 2, 0);
    peer_sends(&p, SCPS_ACK | SCPS_FIN, 1, 2, 0);
    peer_drains(&p);
    int t = peer_socket(&p);
    assert_errno(peer_bind(&p, t, &any, OUR_PORT), EADDRINUSE);
    assert_int_equal(peer_setopt(&p, t, SCPS_SOL_SOCKET, SCPS_SO_REUSEADDR, 1), 0);
    assert_int_equal(peer_bind(&p, t, &any, OUR_PORT), 0);
    assert_int_equal(scps_sock_listen(p.ctx, t, 1), 0);
    assert_int_equal(scps_sock_close(p.ctx, t), 0);
    /* TIME-WAIT has ended after a minute, so the port is free. */
    peer_wait(&p, SCPS_SEC(61));
    t = peer_socket(&p);
    assert_int_equal(peer_bind(&p, t, &any, OUR_PORT), 0);
    peer_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peer_closes_first),
        cmocka_unit_test(we_close_first),
        cmocka_unit_test(shut_writing),
        cmocka_unit_test(shut_reading),
        cmocka_unit_test(shut_both_then_data),
        cmocka_unit_test(fin_waits_for_data),
        cmocka_unit_test(peer_resets),
        cmocka_unit_test(unread_data_resets),
        cmocka_unit_test(linger),
        cmocka_unit_test(shutdown_elsewhere),
        cmocka_unit_test(silence_ends_it),
        cmocka_unit_test(port_in_time_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
