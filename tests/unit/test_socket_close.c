/* SPDX-License-Identifier: MIT */
/* The end of a connection, in all its ways: shutdown, close, SO_LINGER, FIN and reset from the
 * peer, timeouts; what poll and each call say of it. */
#include "sockpeer.h"

static uint8_t buf[4096];

/* Makes every reading and writing call, and requires the results of a connection that stays in this
 * state. */
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
    /* CLOSE-WAIT: writing goes on */
    assert_int_equal(scps_sock_write(p.ctx, s, "abc", 3), 3);
    peer_gets(&p, SCPS_ACK | SCPS_PSH, 1, 12, 3);
    peer_sends(&p, SCPS_ACK, 12, 4, 0);
    assert_int_equal(scps_sock_close(p.ctx, s), 0);
    peer_gets(&p, SCPS_ACK | SCPS_FIN, 4, 12, 0);
    assert_errno(scps_sock_read(p.ctx, s, buf, 1), EBADF);
    assert_errno(scps_sock_close(p.ctx, s), EBADF);
    peer_sends(&p, SCPS_ACK, 12, 5, 0);
    /* the kernel knows it no longer */
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
    assert_int_equal(peer_ioctl(&p, s, SCPS_SIOCOUTQ), 1); /* the FIN, as Linux counts */
    assert_errno(scps_sock_write(p.ctx, s, "x", 1), EPIPE);
    assert_errno(scps_sock_write(p.ctx, s, "x", 0), EPIPE);
    assert_int_equal(peer_poll(&p, s), P_OUT);
    peer_sends(&p, SCPS_ACK, 1, 2, 0);
    assert_int_equal(peer_ioctl(&p, s, SCPS_SIOCOUTQ), 0);
    assert_int_equal(scps_sock_shutdown(p.ctx, s, SCPS_SHUT_WR), 0); /* again: nothing */
    peer_gets_nothing(&p);
    /* reading goes on */
    peer_sends(&p, SCPS_ACK | SCPS_PSH, 1, 2, 100);
    assert_int_equal(peer_poll(&p, s), P_IN | P_OUT);
    assert_int_equal(scps_sock_read(p.ctx, s, buf, 1000), 100);
    peer_sends(&p, SCPS_ACK | SCPS_FIN, 101, 2, 0);
    assert_true(peer_drains(&p) >= 1);
    /* both are over: TIME-WAIT below, closed to the one who looks */
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
    /* and it answers a FIN that comes again */
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
    /* Linux goes on taking data, and gives it out */
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
    /* nobody can read this: RFC 1122 section 4.2.2.13 */
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
    /* what had come is still there; then the reset, once; then the end */
    assert_int_equal(scps_sock_read(p.ctx, s, buf, 100), 10);
    assert_errno(scps_sock_read(p.ctx, s, buf, 100), ECONNRESET);
    assert_int_equal(scps_sock_read(p.ctx, s, buf, 100), 0);
    assert_errno(scps_sock_write(p.ctx, s, "x", 1), EPIPE);
    assert_int_equal(peer_poll(&p, s), P_IN | P_OUT | SCPS_POLLRDHUP | SCPS_POLLHUP);
    assert_errno(scps_sock_shutdown(p.ctx, s, SCPS_SHUT_WR), ENOTCONN);
    assert_errno(peer_connect(&p, s), EISCONN); /* an accepted socket stays one */
    assert_int_equal(scps_sock_close(p.ctx, s), 0);
    peer_gets_nothing(&p);
    peer_close(&p);

    /* by writing */
    peer_open(&p, NULL);
    s = peer_accepted(&p);
    peer_sends(&p, SCPS_RST | SCPS_ACK, 1, 1, 0);
    assert_errno(scps_sock_write(p.ctx, s, "x", 1), ECONNRESET);
    assert_errno(scps_sock_write(p.ctx, s, "x", 1), EPIPE);
    assert_int_equal(scps_sock_read(p.ctx, s, buf, 100), 0);
    peer_close(&p);

    /* by SO_ERROR */
    peer_open(&p, NULL);
    s = peer_accepted(&p);
    peer_sends(&p, SCPS_RST | SCPS_ACK, 1, 1, 0);
    assert_int_equal(peer_so_error(&p, s), ECONNRESET);
    assert_int_equal(scps_sock_read(p.ctx, s, buf, 100), 0);
    peer_close(&p);

    /* after its FIN: EPIPE, and the end of the stream goes first */
    peer_open(&p, NULL);
    s = peer_accepted(&p);
    peer_sends(&p, SCPS_FIN | SCPS_ACK, 1, 1, 0);
    peer_drains(&p);
    peer_sends(&p, SCPS_RST | SCPS_ACK, 2, 1, 0);
    assert_int_equal(scps_sock_read(p.ctx, s, buf, 100), 0);
    assert_int_equal(peer_so_error(&p, s), EPIPE);
    assert_int_equal(scps_sock_read(p.ctx, s, buf, 100), 0);
    peer_close(&p);

    /* before accept: accept gives it, and it tells */
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
    peer_gets(&p, SCPS_RST, 4, 0, 0); /* gone altogether */
    /* with a time, and nobody to wait: an ordinary close in the background */
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
    /* connecting: closed without a packet, and the answer is refused */
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
    /* connecting: back to unconnected */
    int c = peer_socket(&p);
    assert_errno(peer_connect(&p, c), EINPROGRESS);
    peer_gets(&p, SCPS_SYN, 0, 0, 0);
    assert_int_equal(scps_sock_shutdown(p.ctx, c, SCPS_SHUT_RDWR), 0);
    assert_int_equal(peer_poll(&p, c) & SCPS_POLLHUP, SCPS_POLLHUP);
    peer_gets_nothing(&p);
    peer_handshakes(&p, c);
    /* listening: SHUT_WR changes nothing, SHUT_RD ends it; the port stays its own */
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

    /* keep-alive: idle, probes, the end */
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
    int s = peer_accepted(&p); /* its listener is s - 1 */
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
    /* and a minute later it is nobody's */
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
