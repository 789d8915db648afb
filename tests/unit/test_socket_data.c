/* SPDX-License-Identifier: MIT */
/* Reading and writing on a socket: flags, vectors, queue sizes, and results shorter than what was
 * asked for. */
#include "sockpeer.h"

static void check_bytes(const uint8_t *b, size_t n, uint32_t off)
{
    for (size_t i = 0; i < n; i++)
        assert_int_equal(b[i], (uint8_t)(off + i));
}

static void reading(void **state)
{
    (void)state;
    struct peer p;
    uint8_t b[4096];
    peer_open(&p, NULL);
    int s = peer_connected(&p);

    assert_errno(scps_sock_read(p.ctx, s, b, 10), EAGAIN);
    assert_int_equal(scps_sock_read(p.ctx, s, b, 0), 0); /* read() of 0 bytes always returns 0. */
    /* recv() of 0 bytes without data returns EAGAIN. */
    assert_errno(scps_sock_recv(p.ctx, s, b, 0, 0), EAGAIN);
    assert_errno(scps_sock_recv(p.ctx, s, b, 1, SCPS_MSG_OOB), EINVAL);
    assert_errno(scps_sock_recv(p.ctx, s, b, 1, SCPS_MSG_ERRQUEUE), EAGAIN);
    peer_sends(&p, SCPS_ACK | SCPS_PSH, 1, 1, 100);
    assert_int_equal(peer_poll(&p, s), P_IN | P_OUT);
    assert_int_equal(peer_ioctl(&p, s, SCPS_FIONREAD), 100);
    assert_int_equal(scps_sock_recv(p.ctx, s, b, 0, 0), 0);
    assert_errno(scps_sock_recv(p.ctx, s, NULL, 10, 0), EFAULT);
    assert_errno(scps_sock_recv(p.ctx, s, NULL, 10, SCPS_MSG_PEEK), EFAULT);

    /* MSG_PEEK leaves the data in the buffer: a second call returns the same. */
    for (int i = 0; i < 2; i++) {
        memset(b, 0xee, sizeof b);
        assert_int_equal(scps_sock_recv(p.ctx, s, b, 30, SCPS_MSG_PEEK), 30);
        check_bytes(b, 30, 1);
        assert_int_equal(b[30], 0xee);
    }
    assert_int_equal(peer_ioctl(&p, s, SCPS_SIOCINQ), 100);
    assert_int_equal(scps_sock_read(p.ctx, s, b, 40), 40);
    check_bytes(b, 40, 1);
    /* MSG_TRUNC discards the bytes instead of copying them. */
    assert_int_equal(scps_sock_recv(p.ctx, s, NULL, 10, SCPS_MSG_TRUNC), 10);
    /* Vectors may have empty pieces. */
    uint8_t x[8], y[16];
    struct scps_iovec v[] = {{x, 0}, {x, 8}, {NULL, 0}, {y, 16}};
    struct scps_msghdr m = {.msg_iov = v, .msg_iovlen = 4, .msg_namelen = 9, .msg_controllen = 9};
    m.msg_flags = 77;
    assert_int_equal(scps_sock_recvmsg(p.ctx, s, &m, SCPS_MSG_PEEK), 24);
    check_bytes(x, 8, 51);
    check_bytes(y, 16, 59);
    assert_int_equal(m.msg_namelen, 0);
    assert_int_equal(m.msg_controllen, 0);
    assert_int_equal(m.msg_flags, 0);
    memset(y, 0, sizeof y);
    assert_int_equal(scps_sock_readv(p.ctx, s, v, 4), 24);
    check_bytes(y, 16, 59);
    /* Fewer bytes are left than asked for; MSG_WAITALL does not wait on a non-blocking socket. */
    uint32_t alen = 5;
    struct scps_sockaddr_in in;
    assert_int_equal(scps_sock_recvfrom(p.ctx, s, b, 100, SCPS_MSG_WAITALL, &in, &alen), 26);
    check_bytes(b, 26, 75);
    assert_int_equal(alen, 0);
    assert_errno(scps_sock_recv(p.ctx, s, b, 1, SCPS_MSG_DONTWAIT), EAGAIN);
    assert_errno(scps_sock_readv(p.ctx, s, v, -1), EINVAL);
    assert_errno(scps_sock_readv(p.ctx, 99, v, -1), EBADF);
    assert_errno(scps_sock_readv(p.ctx, s, NULL, 1), EFAULT);
    v[1].iov_len = SIZE_MAX;
    assert_errno(scps_sock_readv(p.ctx, s, v, 4), EINVAL);
    struct scps_iovec many[1025];
    memset(many, 0, sizeof many);
    m.msg_iov = many;
    m.msg_iovlen = 1025;
    assert_errno(scps_sock_recvmsg(p.ctx, s, &m, 0), EMSGSIZE);
    assert_errno(scps_sock_sendmsg(p.ctx, s, &m, 0), EMSGSIZE);
    assert_errno(scps_sock_recvmsg(p.ctx, s, NULL, 0), EFAULT);
    assert_errno(scps_sock_sendmsg(p.ctx, s, NULL, 0), EFAULT);
    peer_close(&p);
}

static void out_of_order(void **state)
{
    (void)state;
    struct peer p;
    uint8_t b[64];
    peer_open(&p, NULL);
    int s = peer_connected(&p);
    peer_sends(&p, SCPS_ACK, 11, 1, 10);
    assert_int_equal(peer_poll(&p, s), P_OUT);
    assert_int_equal(peer_ioctl(&p, s, SCPS_FIONREAD), 0);
    assert_errno(scps_sock_read(p.ctx, s, b, 64), EAGAIN);
    peer_sends(&p, SCPS_ACK, 1, 1, 10);
    assert_int_equal(scps_sock_read(p.ctx, s, b, 64), 20);
    check_bytes(b, 20, 1);
    peer_close(&p);
}

static void low_water(void **state)
{
    (void)state;
    struct peer p;
    uint8_t b[64];
    peer_open(&p, NULL);
    int s = peer_connected(&p);
    assert_int_equal(peer_getopt(&p, s, SCPS_SOL_SOCKET, SCPS_SO_RCVLOWAT), 1);
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_SOCKET, SCPS_SO_RCVLOWAT, 20), 0);
    peer_sends(&p, SCPS_ACK, 1, 1, 19);
    assert_int_equal(peer_poll(&p, s), P_OUT);
    peer_sends(&p, SCPS_ACK, 20, 1, 1);
    assert_int_equal(peer_poll(&p, s), P_IN | P_OUT);
    /* SO_RCVLOWAT does not make a read wait for more bytes than it asks for. */
    assert_int_equal(scps_sock_read(p.ctx, s, b, 5), 5);
    assert_int_equal(peer_poll(&p, s), P_OUT);
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_SOCKET, SCPS_SO_RCVLOWAT, 0), 0);
    assert_int_equal(peer_getopt(&p, s, SCPS_SOL_SOCKET, SCPS_SO_RCVLOWAT), 1);
    peer_close(&p);
}

/* poll() waits for at most half of the receive buffer, however large SO_RCVLOWAT is: the peer fills
 * at most the whole buffer, and sends no small segments into the last part of the window (RFC 9293
 * section 3.8.6.2.1). */
static void low_water_above_the_buffer(void **state)
{
    (void)state;
    struct peer p;
    peer_open(&p, NULL);
    int s = scps_socket(p.ctx, p.domain, SCPS_SOCK_STREAM, 0);
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_SOCKET, SCPS_SO_RCVBUF, 2000), 0);
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_SOCKET, SCPS_SO_RCVLOWAT, 100000), 0);
    peer_handshakes(&p, s);
    peer_sends(&p, SCPS_ACK, 1, 1, 999);
    assert_int_equal(peer_poll(&p, s), P_OUT);
    peer_sends(&p, SCPS_ACK, 1000, 1, 1);
    assert_int_equal(peer_poll(&p, s), P_IN | P_OUT);
    peer_close(&p);
}

/* Where memory_limit refuses data before SO_RCVLOWAT octets have arrived, poll() reports the octets
 * that have arrived: otherwise the reader would wait for data, and the data for the memory that
 * only the reader can give back. */
static void low_water_above_the_memory(void **state)
{
    (void)state;
    struct scps_ctx_config cfg = scps_ctx_config_linux();
    struct peer p;
    uint8_t b[20000];
    int got = 0, last = -1;

    cfg.stack_config.memory_limit = 24000;
    peer_open(&p, &cfg);
    int s = peer_connected(&p);
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_SOCKET, SCPS_SO_RCVLOWAT, sizeof b), 0);
    while (got > last) {
        last = got;
        peer_sends(&p, SCPS_ACK, (uint32_t)got + 1, 1, 1000);
        got = peer_ioctl(&p, s, SCPS_FIONREAD);
        if (got == 1000)
            assert_int_equal(peer_poll(&p, s), P_OUT);
    }
    assert_true(got < (int)sizeof b);
    assert_int_equal(peer_poll(&p, s), P_IN | P_OUT);
    assert_int_equal(scps_sock_read(p.ctx, s, b, sizeof b), got);
    check_bytes(b, (size_t)got, 1);
    /* After the read poll() waits for SO_RCVLOWAT octets again. */
    peer_sends(&p, SCPS_ACK, (uint32_t)got + 1, 1, 1000);
    assert_int_equal(peer_ioctl(&p, s, SCPS_FIONREAD), 1000);
    assert_int_equal(peer_poll(&p, s), P_OUT);
    peer_close(&p);
}

static void writing(void **state)
{
    (void)state;
    struct peer p;
    uint8_t b[8192];
    for (size_t i = 0; i < sizeof b; i++)
        b[i] = (uint8_t)i;
    peer_open(&p, NULL);
    int s = peer_connected(&p);
    assert_int_equal(scps_sock_write(p.ctx, s, b, 0), 0);
    assert_int_equal(scps_sock_send(p.ctx, s, NULL, 0, 0), 0);
    assert_errno(scps_sock_send(p.ctx, s, NULL, 10, 0), EFAULT);
    assert_errno(scps_sock_send(p.ctx, s, b, 1, SCPS_MSG_OOB), EOPNOTSUPP);
    assert_errno(scps_sock_sendto(p.ctx, s, b, 1, SCPS_MSG_FASTOPEN, NULL, 0), EOPNOTSUPP);
    assert_errno(scps_sock_writev(p.ctx, s, NULL, 2000), EINVAL);
    assert_errno(scps_sock_writev(p.ctx, s, NULL, -1), EINVAL);
    assert_errno(scps_sock_writev(p.ctx, 99, NULL, -1), EBADF);
    /* A writev() of nothing succeeds in every state, unlike a write() of nothing. */
    struct scps_iovec none = {b, 0};
    int fresh = scps_socket(p.ctx, SCPS_AF_INET, SCPS_SOCK_STREAM, 0);
    assert_errno(scps_sock_write(p.ctx, fresh, b, 0), EPIPE);
    assert_int_equal(scps_sock_writev(p.ctx, fresh, &none, 1), 0);
    assert_int_equal(scps_sock_writev(p.ctx, fresh, NULL, 0), 0);
    peer_gets_nothing(&p);
    assert_int_equal(
        scps_sock_send(p.ctx, s, b, 300, SCPS_MSG_NOSIGNAL | SCPS_MSG_DONTWAIT | SCPS_MSG_EOR),
        300);
    peer_gets(&p, SCPS_ACK | SCPS_PSH, 1, 1, 300);
    assert_memory_equal(p.seg.data, b, 300);
    assert_int_equal(peer_ioctl(&p, s, SCPS_SIOCOUTQ), 300);
    assert_int_equal(peer_ioctl(&p, s, SCPS_SIOCOUTQNSD), 0);
    /* Nagle's algorithm: a small segment waits until everything sent before is acknowledged. */
    assert_int_equal(scps_sock_sendto(p.ctx, s, b, 5, 0, b, 3), 5);
    peer_gets_nothing(&p);
    assert_int_equal(peer_ioctl(&p, s, SCPS_SIOCOUTQ), 305);
    assert_int_equal(peer_ioctl(&p, s, SCPS_SIOCOUTQNSD), 5);
    peer_sends(&p, SCPS_ACK, 1, 301, 0);
    peer_gets(&p, SCPS_ACK | SCPS_PSH, 301, 1, 5);
    assert_int_equal(peer_ioctl(&p, s, SCPS_SIOCOUTQ), 5);
    peer_sends(&p, SCPS_ACK, 1, 306, 0);
    assert_int_equal(peer_ioctl(&p, s, SCPS_SIOCOUTQ), 0);
    /* A gathered write makes one segment. */
    struct scps_iovec v[] = {{b, 10}, {NULL, 0}, {b + 10, 20}, {b + 30, 5}};
    assert_int_equal(scps_sock_writev(p.ctx, s, v, 4), 35);
    peer_gets(&p, SCPS_ACK | SCPS_PSH, 306, 1, 35);
    assert_memory_equal(p.seg.data, b, 35);
    peer_gets_nothing(&p);
    /* TCP_NODELAY sends what Nagle's algorithm holds back. */
    assert_int_equal(scps_sock_write(p.ctx, s, b, 7), 7);
    peer_gets_nothing(&p);
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_TCP, SCPS_TCP_NODELAY, 1), 0);
    peer_gets(&p, SCPS_ACK | SCPS_PSH, 341, 1, 7);
    assert_int_equal(scps_sock_write(p.ctx, s, b, 7), 7);
    peer_gets(&p, SCPS_ACK | SCPS_PSH, 348, 1, 7);
    peer_close(&p);
}

static void more_to_come(void **state)
{
    (void)state;
    struct peer p;
    uint8_t b[4096] = {0};
    peer_open(&p, NULL);
    int s = peer_connected(&p);
    assert_int_equal(scps_sock_send(p.ctx, s, b, 40, SCPS_MSG_MORE), 40);
    assert_int_equal(scps_sock_send(p.ctx, s, b, 40, SCPS_MSG_MORE), 40);
    peer_gets_nothing(&p);
    assert_int_equal(scps_sock_send(p.ctx, s, b, 20, 0), 20);
    peer_gets(&p, SCPS_ACK | SCPS_PSH, 1, 1, 100);
    peer_sends(&p, SCPS_ACK, 1, 101, 0);
    /* MSG_MORE does not hold back full segments. */
    assert_int_equal(scps_sock_send(p.ctx, s, b, 1100, SCPS_MSG_MORE), 1100);
    assert_true(peer_takes(&p));
    assert_int_equal(p.seg.len, 1000);
    peer_gets_nothing(&p);
    peer_sends(&p, SCPS_ACK, 1, 1101,
               0); /* As in Linux, MSG_MORE holds the rest back until data is acknowledged. */
    peer_gets(&p, SCPS_ACK | SCPS_PSH, 1101, 1, 100);
    peer_sends(&p, SCPS_ACK, 1, 1201, 0);
    assert_int_equal(scps_sock_send(p.ctx, s, b, 1, 0), 1);
    peer_gets(&p, SCPS_ACK | SCPS_PSH, 1201, 1, 1);
    peer_sends(&p, SCPS_ACK, 1, 1202, 0);

    /* TCP_CORK holds data back across calls until the option is cleared. */
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_TCP, SCPS_TCP_CORK, 1), 0);
    assert_int_equal(peer_getopt(&p, s, SCPS_SOL_TCP, SCPS_TCP_CORK), 1);
    assert_int_equal(scps_sock_write(p.ctx, s, b, 10), 10);
    assert_int_equal(scps_sock_write(p.ctx, s, b, 10), 10);
    peer_gets_nothing(&p);
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_TCP, SCPS_TCP_CORK, 0), 0);
    peer_gets(&p, SCPS_ACK | SCPS_PSH, 1202, 1, 20);
    peer_sends(&p, SCPS_ACK, 1, 1222, 0);
    /* As in Linux, setting TCP_NODELAY sends what TCP_CORK holds back once. */
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_TCP, SCPS_TCP_CORK, 1), 0);
    assert_int_equal(scps_sock_write(p.ctx, s, b, 30), 30);
    peer_gets_nothing(&p);
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_TCP, SCPS_TCP_NODELAY, 1), 0);
    peer_gets(&p, SCPS_ACK | SCPS_PSH, 1222, 1, 30);
    peer_sends(&p, SCPS_ACK, 1, 1252, 0);
    assert_int_equal(scps_sock_write(p.ctx, s, b, 10), 10);
    peer_gets_nothing(&p);
    /* TCP_CORK is set before the connection exists. */
    int t = peer_socket(&p);
    assert_int_equal(peer_setopt(&p, t, SCPS_SOL_TCP, SCPS_TCP_CORK, 1), 0);
    p.their_port++;
    peer_handshakes(&p, t);
    assert_int_equal(scps_sock_write(p.ctx, t, b, 10), 10);
    peer_gets_nothing(&p);
    /* close() also sends what TCP_CORK holds back. */
    assert_int_equal(scps_sock_close(p.ctx, t), 0);
    peer_gets(&p, SCPS_ACK | SCPS_PSH | SCPS_FIN, 1, 1, 10);
    peer_close(&p);
}

static void send_buffer_full(void **state)
{
    (void)state;
    struct peer p;
    static uint8_t b[20000];
    peer_open(&p, NULL);
    int s = peer_socket(&p);
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_SOCKET, SCPS_SO_SNDBUF, 9000), 0);
    assert_int_equal(peer_getopt(&p, s, SCPS_SOL_SOCKET, SCPS_SO_SNDBUF), 9000);
    peer_handshakes(&p, s);
    /* The write takes as many bytes as the buffer holds. */
    assert_int_equal(scps_sock_write(p.ctx, s, b, sizeof b), 9000);
    assert_errno(scps_sock_write(p.ctx, s, b, 1), EAGAIN);
    assert_int_equal(peer_poll(&p, s), 0);
    assert_int_equal(peer_drains(&p), 9);
    /* There is room for some bytes, but poll() reports POLLOUT only when a third of the buffer is
     * free. */
    peer_sends(&p, SCPS_ACK, 1, 2001, 0);
    assert_int_equal(peer_poll(&p, s), 0);
    peer_sends(&p, SCPS_ACK, 1, 3001, 0);
    assert_int_equal(peer_poll(&p, s), P_OUT);
    assert_int_equal(scps_sock_send(p.ctx, s, b, sizeof b, SCPS_MSG_DONTWAIT), 3000);
    peer_close(&p);
}

static void not_sent_low_water(void **state)
{
    (void)state;
    struct peer p;
    static uint8_t b[100000];
    peer_open(&p, NULL);
    int s = peer_connected(&p);
    assert_int_equal(peer_getopt(&p, s, SCPS_SOL_TCP, SCPS_TCP_NOTSENT_LOWAT), 0);
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_TCP, SCPS_TCP_NOTSENT_LOWAT, 4000), 0);
    assert_int_equal(peer_getopt(&p, s, SCPS_SOL_TCP, SCPS_TCP_NOTSENT_LOWAT), 4000);
    /* Ten segments are sent, and about 4000 bytes more are accepted behind them. */
    int64_t n = scps_sock_write(p.ctx, s, b, sizeof b);
    assert_true(n >= 10000 + 4000 - 1000 && n <= 10000 + 4000 + 1000);
    assert_int_equal(peer_poll(&p, s), 0);
    assert_errno(scps_sock_write(p.ctx, s, b, 1), EAGAIN);
    assert_int_equal(peer_drains(&p), 10);
    peer_sends(&p, SCPS_ACK, 1, 10001, 0);
    assert_int_equal(peer_ioctl(&p, s, SCPS_SIOCOUTQNSD), 0);
    assert_int_equal(peer_poll(&p, s), P_OUT);
    peer_close(&p);
}

static void receive_window(void **state)
{
    (void)state;
    struct peer p;
    uint8_t b[4096];
    peer_open(&p, NULL);
    int s = peer_socket(&p);
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_SOCKET, SCPS_SO_RCVBUF, 2000), 0);
    assert_errno(peer_connect(&p, s), EINPROGRESS);
    peer_gets(&p, SCPS_SYN, 0, 0, 0);
    assert_int_equal(p.seg.wnd, 2000);
    p.our_port = p.seg.sport;
    peer_sends(&p, SCPS_SYN | SCPS_ACK, 0, 1, 0);
    peer_gets(&p, SCPS_ACK, 1, 1, 0);
    peer_sends(&p, SCPS_ACK, 1, 1, 1000);
    peer_sends(&p, SCPS_ACK, 1001, 1, 1000);
    peer_gets(&p, SCPS_ACK, 1, 2001, 0);
    assert_int_equal(p.seg.wnd, 0);
    /* Reading opens the window, which is advertised at once. */
    assert_int_equal(scps_sock_read(p.ctx, s, b, sizeof b), 2000);
    peer_gets(&p, SCPS_ACK, 1, 2001, 0);
    assert_int_equal(p.seg.wnd, 2000);
    /* A larger SO_RCVBUF makes the window larger. */
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_SOCKET, SCPS_SO_RCVBUF, 30000), 0);
    assert_int_equal(peer_getopt(&p, s, SCPS_SOL_SOCKET, SCPS_SO_RCVBUF), 30000);
    peer_sends(&p, SCPS_ACK, 2001, 1, 1000);
    peer_sends(&p, SCPS_ACK, 3001, 1, 1000);
    peer_gets(&p, SCPS_ACK, 1, 4001, 0);
    assert_true(p.seg.wnd > 2000);
    peer_close(&p);
}

static void large_and_random(void **state)
{
    (void)state;
    /* Two contexts exchange writes of all sizes: the bytes arrive as they were sent. */
    struct peer a, b;
    static uint8_t data[300000], got[300000];
    uint32_t x = 12345;
    peer_open(&a, NULL);
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)((x = x * 1103515245u + 12345u) >> 16);
    struct scps_ctx_config cfg = scps_ctx_config_linux();
    struct scps_ctx *cb = scps_ctx_new(&cfg);
    struct scps_addr ab = peer_addr("10.0.0.2");
    assert_int_equal(scps_ctx_add_addr(cb, &ab, 24), 0);
    b = a;
    b.ctx = cb;
    int l = peer_listens(&b, 1);
    int s = peer_socket(&a), t = -1;
    a.their_port = OUR_PORT;
    assert_errno(peer_connect(&a, s), EINPROGRESS);
    size_t out = 0, in = 0;
    uint8_t pkt[2048];
    for (int round = 0; in < sizeof data && round < 100000; round++) {
        scps_time at;
        int64_t n;
        while ((n = scps_ctx_take(a.ctx, pkt, sizeof pkt, &at)) > 0)
            scps_ctx_inject(cb, pkt, (size_t)n, at);
        while ((n = scps_ctx_take(cb, pkt, sizeof pkt, &at)) > 0)
            scps_ctx_inject(a.ctx, pkt, (size_t)n, at);
        x = x * 1103515245u + 12345u;
        size_t k = x >> 16 & 0x1fff;
        n = scps_sock_write(a.ctx, s, data + out, k < sizeof data - out ? k : sizeof data - out);
        if (n > 0)
            out += (size_t)n;
        if (t < 0)
            t = scps_sock_accept(cb, l, NULL, NULL);
        n = t < 0 ? 0 : scps_sock_read(cb, t, got + in, (x >> 3 & 0xfff) + 1);
        if (n > 0)
            in += (size_t)n;
        scps_time d = scps_ctx_next_deadline(a.ctx), e = scps_ctx_next_deadline(cb);
        if (round % 16 == 0 && (d < e ? d : e) < SCPS_NEVER) {
            scps_ctx_advance(a.ctx, d < e ? d : e);
            scps_ctx_advance(cb, d < e ? d : e);
        }
    }
    assert_int_equal(in, sizeof data);
    assert_memory_equal(data, got, sizeof data);
    scps_ctx_free(cb);
    peer_close(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading),
        cmocka_unit_test(out_of_order),
        cmocka_unit_test(low_water),
        cmocka_unit_test(low_water_above_the_buffer),
        cmocka_unit_test(low_water_above_the_memory),
        cmocka_unit_test(writing),
        cmocka_unit_test(more_to_come),
        cmocka_unit_test(send_buffer_full),
        cmocka_unit_test(not_sent_low_water),
        cmocka_unit_test(receive_window),
        cmocka_unit_test(large_and_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
