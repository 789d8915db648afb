/* SPDX-License-Identifier: MIT */
/* Records and best effort through sockets: SOCK_SEQPACKET, MSG_EOR, and holes that are reported as
 * ENODATA. */
#include "sockpeer.h"

static void check_bytes(const uint8_t *b, size_t n, uint32_t off)
{
    for (size_t i = 0; i < n; i++)
        assert_int_equal(b[i], (uint8_t)(off + i));
}

static void peer_sends_record(struct peer *p, uint32_t seq, uint32_t len)
{
    struct scps_seg seg = {.flags = SCPS_ACK | SCPS_PSH, .seq = PEER_ISN + seq, .wnd = p->wnd};
    seg.ack = p->our_isn + 1;
    seg.has = SCPS_HAS_RECORD;
    peer_sends_seg(p, &seg, len);
}

static int connected(struct peer *p, int type, bool bets)
{
    int s = scps_socket(p->ctx, p->domain, type, 0);
    assert_true(s >= 0);
    if (bets) {
        assert_int_equal(peer_setopt(p, s, SCPS_SOL_SCPS, SCPS_TP_BETS, 1), 0);
        assert_int_equal(peer_setopt(p, s, SCPS_SOL_SCPS, SCPS_TP_BETS_RTIMEOUT, 500), 0);
        assert_int_equal(peer_setopt(p, s, SCPS_SOL_SCPS, SCPS_TP_BETS_RETRIES, 1), 0);
    }
    assert_errno(peer_connect(p, s), EINPROGRESS);
    assert_true(peer_takes(p));
    p->our_port = p->seg.sport;
    struct scps_seg syn = {.flags = SCPS_SYN | SCPS_ACK, .seq = PEER_ISN, .wnd = p->wnd};
    syn.ack = p->our_isn + 1;
    syn.has = SCPS_HAS_MSS | SCPS_HAS_CAPS;
    syn.mss = p->mss;
    syn.caps = SCPS_CAP_BETS;
    peer_sends_seg(p, &syn, 0);
    peer_gets(p, SCPS_ACK, 1, 1, 0);
    assert_int_equal(peer_connect(p, s), 0);
    return s;
}

static int64_t receive(struct peer *p, int s, void *b, size_t n, int flags, int *end)
{
    struct scps_iovec v[2] = {{b, n / 2}, {(uint8_t *)b + n / 2, n - n / 2}};
    struct scps_msghdr m = {.msg_iov = v, .msg_iovlen = 2, .msg_flags = 77};
    int64_t r = scps_sock_recvmsg(p->ctx, s, &m, flags);
    *end = m.msg_flags;
    return r;
}

static void each_send_a_record(void **state)
{
    (void)state;
    struct peer p;
    uint8_t b[400] = {0};
    peer_open(&p, NULL);
    int s = connected(&p, SCPS_SOCK_SEQPACKET, false);
    assert_int_equal(peer_getopt(&p, s, SCPS_SOL_SOCKET, SCPS_SO_TYPE), SCPS_SOCK_SEQPACKET);
    assert_int_equal(scps_sock_send(p.ctx, s, b, 100, 0), 100);
    peer_gets(&p, SCPS_ACK | SCPS_PSH, 1, 1, 100);
    assert_true(p.seg.has & SCPS_HAS_RECORD);
    struct scps_iovec v[2] = {{b, 10}, {b, 20}}; /* The pieces of one send() are one record. */
    assert_int_equal(scps_sock_writev(p.ctx, s, v, 2), 30);
    peer_gets(&p, SCPS_ACK | SCPS_PSH, 101, 1, 30);
    assert_true(p.seg.has & SCPS_HAS_RECORD);
    assert_int_equal(scps_sock_send(p.ctx, s, b, 10, SCPS_MSG_MORE), 10);
    peer_gets_nothing(&p);
    assert_int_equal(scps_sock_send(p.ctx, s, b, 10, 0), 10);
    peer_gets(&p, SCPS_ACK | SCPS_PSH, 131, 1, 20);
    assert_true(p.seg.has & SCPS_HAS_RECORD);
    peer_close(&p);
}

/* A stream socket has records only with the option SCPS_TP_RECORDS, and they end where MSG_EOR is
 * given. */
static void a_stream_with_records(void **state)
{
    (void)state;
    struct peer p;
    uint8_t b[400] = {0};
    peer_open(&p, NULL);
    int s = connected(&p, SCPS_SOCK_STREAM, false);
    assert_int_equal(scps_sock_send(p.ctx, s, b, 100, SCPS_MSG_EOR), 100);
    peer_gets(&p, SCPS_ACK | SCPS_PSH, 1, 1, 100);
    assert_false(p.seg.has & SCPS_HAS_RECORD);
    peer_sends(&p, SCPS_ACK, 1, 101, 0);
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_SCPS, SCPS_TP_RECORDS, 1), 0);
    assert_int_equal(scps_sock_send(p.ctx, s, b, 100, 0), 100);
    peer_gets(&p, SCPS_ACK | SCPS_PSH, 101, 1, 100);
    assert_false(p.seg.has & SCPS_HAS_RECORD);
    peer_sends(&p, SCPS_ACK, 1, 201, 0);
    assert_int_equal(scps_sock_send(p.ctx, s, b, 100, SCPS_MSG_EOR), 100);
    peer_gets(&p, SCPS_ACK | SCPS_PSH, 201, 1, 100);
    assert_true(p.seg.has & SCPS_HAS_RECORD);
    peer_close(&p);
}

/* A send() that took only part of its data has not ended the record. */
static void a_send_cut_short(void **state)
{
    (void)state;
    struct peer p;
    static uint8_t b[10000];
    peer_open(&p, NULL);
    p.wnd = 0;
    int s = connected(&p, SCPS_SOCK_SEQPACKET, false);
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_SOCKET, SCPS_SO_SNDBUF, 6000), 0);
    int64_t n = 0, k;
    while ((k = scps_sock_send(p.ctx, s, b, 10000, 0)) > 0)
        n += k;
    assert_true(n > 0 && n % 10000 != 0);
    p.wnd = 60000;
    peer_sends(&p, SCPS_ACK, 1, 1, 0);
    while (peer_takes(&p)) {
        bool end = (p.seg.seq - p.our_isn - 1 + p.seg.len) % 10000 == 0;
        assert_int_equal(!!(p.seg.has & SCPS_HAS_RECORD), end);
    }
    peer_close(&p);
}

static void reading(void **state)
{
    (void)state;
    struct peer p;
    uint8_t b[400];
    int end;
    peer_open(&p, NULL);
    int s = connected(&p, SCPS_SOCK_SEQPACKET, false);
    peer_sends_record(&p, 1, 100);
    peer_sends(&p, SCPS_ACK | SCPS_PSH, 101, 1, 50);
    peer_sends_record(&p, 151, 50);
    peer_sends(&p, SCPS_ACK | SCPS_PSH, 201, 1, 10);
    assert_int_equal(peer_ioctl(&p, s, SCPS_FIONREAD), 100);
    assert_int_equal(receive(&p, s, b, 400, SCPS_MSG_PEEK | SCPS_MSG_WAITALL, &end), 100);
    assert_int_equal(end, 0);
    assert_int_equal(receive(&p, s, b, 30, 0, &end), 30);
    assert_int_equal(end, 0);
    assert_int_equal(receive(&p, s, b, 400, SCPS_MSG_WAITALL, &end), 70);
    assert_int_equal(end, SCPS_MSG_EOR);
    check_bytes(b, 70, 31);
    /* The buffer is exactly as long as the record. */
    assert_int_equal(receive(&p, s, b, 100, 0, &end), 100);
    assert_int_equal(end, SCPS_MSG_EOR);
    check_bytes(b, 100, 101);
    assert_int_equal(scps_sock_recv(p.ctx, s, b, 400, 0), 10);
    assert_errno(receive(&p, s, b, 400, 0, &end), EAGAIN);
    /* A whole record can be read, even if it is shorter than SO_RCVLOWAT. */
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_SOCKET, SCPS_SO_RCVLOWAT, 50), 0);
    peer_sends(&p, SCPS_ACK | SCPS_PSH, 211, 1, 10);
    assert_int_equal(peer_poll(&p, s), P_OUT);
    peer_sends_record(&p, 221, 10);
    assert_int_equal(peer_poll(&p, s), P_IN | P_OUT);
    assert_int_equal(receive(&p, s, b, 400, 0, &end), 20);
    assert_int_equal(end, SCPS_MSG_EOR);
    peer_close(&p);
}

/* A segment is lost, and the end of a record arrives before it is sent again. Until then there is
 * nothing to read: poll() must not report it, and a blocking recv() has to wait instead of trying
 * again at once. */
static void a_record_beyond_missing_data(void **state)
{
    (void)state;
    struct peer p;
    uint8_t b[400];
    int end;
    peer_open(&p, NULL);
    int s = connected(&p, SCPS_SOCK_SEQPACKET, false);
    peer_sends_record(&p, 101, 100);
    assert_int_equal(peer_poll(&p, s), P_OUT);
    assert_errno(receive(&p, s, b, 400, 0, &end), EAGAIN);
    assert_errno(receive(&p, s, b, 400, SCPS_MSG_PEEK, &end), EAGAIN);
    /* A part of the missing data arrives, but less than SO_RCVLOWAT. */
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_SOCKET, SCPS_SO_RCVLOWAT, 80), 0);
    peer_sends(&p, SCPS_ACK | SCPS_PSH, 1, 1, 50);
    assert_int_equal(peer_poll(&p, s), P_OUT);
    peer_sends(&p, SCPS_ACK | SCPS_PSH, 51, 1, 50);
    assert_int_equal(peer_poll(&p, s), P_IN | P_OUT);
    assert_int_equal(receive(&p, s, b, 400, 0, &end), 200);
    assert_int_equal(end, SCPS_MSG_EOR);
    check_bytes(b, 200, 1);
    peer_close(&p);
}

/* An accepted socket has the listener's setting. */
static void accepted(void **state)
{
    (void)state;
    struct peer p;
    struct scps_addr any = {.family = 4};
    uint8_t b[10] = {0};
    peer_open(&p, NULL);
    int l = scps_socket(p.ctx, SCPS_AF_INET, SCPS_SOCK_SEQPACKET | SCPS_SOCK_NONBLOCK, 0);
    assert_int_equal(peer_bind(&p, l, &any, OUR_PORT), 0);
    assert_int_equal(scps_sock_listen(p.ctx, l, 3), 0);
    peer_calls(&p, PEER_PORT);
    int s = scps_sock_accept(p.ctx, l, NULL, NULL);
    assert_true(s >= 0);
    assert_int_equal(scps_sock_write(p.ctx, s, b, 10), 10);
    peer_gets(&p, SCPS_ACK | SCPS_PSH, 1, 1, 10);
    assert_true(p.seg.has & SCPS_HAS_RECORD);
    peer_close(&p);
}

static void get_hole(struct peer *p, int s, int64_t start, int64_t size)
{
    int64_t v;
    uint32_t len = sizeof v;
    assert_int_equal(
        scps_sock_getsockopt(p->ctx, s, SCPS_SOL_SCPS_SOCKET, SCPS_SO_BETS_RHOLE_START, &v, &len),
        0);
    assert_int_equal(v, start);
    assert_int_equal(peer_getopt(p, s, SCPS_SOL_SCPS_SOCKET, SCPS_SO_BETS_RHOLE_SIZE), size);
}

/* Best effort gives missing data up only after the reader has come to it. So poll() reports few
 * bytes in front of missing data as well, whatever SO_RCVLOWAT says: a reader that waited for more
 * would wait for ever, because the peer has given that data up. */
static void low_water_before_missing_data(void **state)
{
    (void)state;
    struct peer p;
    uint8_t b[400];
    int end;
    peer_open(&p, NULL);
    int s = connected(&p, SCPS_SOCK_STREAM, true);
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_SOCKET, SCPS_SO_RCVLOWAT, 200), 0);
    peer_sends(&p, SCPS_ACK | SCPS_PSH, 1, 1, 100);
    peer_sends(&p, SCPS_ACK | SCPS_PSH, 151, 1, 300);
    peer_drains(&p);
    peer_wait(&p, SCPS_SEC(10));
    assert_int_equal(peer_poll(&p, s), P_IN | P_OUT);
    assert_int_equal(scps_sock_recv(p.ctx, s, b, 400, SCPS_MSG_PEEK | SCPS_MSG_WAITALL), 100);
    assert_int_equal(receive(&p, s, b, 400, 0, &end), 100);
    peer_drains(&p);
    peer_wait(&p, SCPS_MS(500));
    assert_int_equal(peer_poll(&p, s), P_IN | P_OUT | SCPS_POLLPRI);
    assert_errno(scps_sock_recv(p.ctx, s, b, 400, 0), ENODATA);
    get_hole(&p, s, 100, 50);
    assert_int_equal(scps_sock_recv(p.ctx, s, b, 400, 0), 300);
    peer_close(&p);
}

/* A hole is reported once as an error, at its place in the stream. */
static void a_hole_is_reported_once(void **state)
{
    (void)state;
    struct peer p;
    uint8_t b[400];
    int v, end;
    uint32_t len = sizeof v;
    peer_open(&p, NULL);
    int s = connected(&p, SCPS_SOCK_SEQPACKET, true);
    assert_errno(
        scps_sock_getsockopt(p.ctx, s, SCPS_SOL_SCPS_SOCKET, SCPS_SO_BETS_RHOLE_SIZE, &v, &len),
        ENODATA);
    peer_sends(&p, SCPS_ACK | SCPS_PSH, 1, 1, 100);
    peer_sends_record(&p, 151, 50);
    assert_int_equal(receive(&p, s, b, 400, 0, &end), 100);
    assert_errno(receive(&p, s, b, 400, 0, &end), EAGAIN);
    peer_drains(&p);
    peer_wait(&p, SCPS_MS(500));
    peer_gets(&p, SCPS_ACK, 1, 201, 0);
    assert_int_equal(peer_poll(&p, s), P_IN | P_OUT | SCPS_POLLPRI);
    assert_errno(scps_sock_recv(p.ctx, s, b, 400, SCPS_MSG_PEEK), ENODATA);
    assert_int_equal(peer_poll(&p, s), P_IN | P_OUT | SCPS_POLLPRI);
    assert_errno(scps_sock_recv(p.ctx, s, b, 400, 0), ENODATA);
    get_hole(&p, s, 100, 50);
    assert_int_equal(peer_poll(&p, s), P_IN | P_OUT);
    assert_int_equal(receive(&p, s, b, 400, 0, &end), 50);
    check_bytes(b, 50, 151);
    assert_int_equal(end, SCPS_MSG_EOR | SCPS_MSG_TRUNC);
    /* Bytes before a hole are read first, whatever length was asked for; then the hole is reported,
     * then the end of the stream. */
    peer_sends(&p, SCPS_ACK | SCPS_PSH, 201, 1, 10);
    assert_int_equal(scps_sock_recv(p.ctx, s, b, 4, 0), 4);
    assert_int_equal(scps_sock_recv(p.ctx, s, b, 6, 0), 6);
    peer_sends(&p, SCPS_ACK | SCPS_FIN, 311, 1, 0);
    peer_wait(&p, SCPS_MS(250));
    peer_sends(&p, SCPS_ACK | SCPS_PSH, 211, 1, 10);
    assert_int_equal(scps_sock_recv(p.ctx, s, b, 10, 0), 10);
    peer_drains(&p);
    peer_wait(&p, SCPS_MS(500));
    assert_errno(scps_sock_recv(p.ctx, s, b, 400, SCPS_MSG_WAITALL), ENODATA);
    get_hole(&p, s, 220, 90);
    assert_int_equal(scps_sock_recv(p.ctx, s, b, 400, 0), 0);
    peer_close(&p);
}

static void what_was_given_up(void **state)
{
    (void)state;
    struct peer p;
    static uint8_t b[3000];
    struct scps_hole h[3];
    uint32_t len = sizeof h;
    peer_open(&p, NULL);
    int s = connected(&p, SCPS_SOCK_STREAM, true);
    assert_int_equal(peer_getopt(&p, s, SCPS_SOL_SCPS_SOCKET, SCPS_SO_BETS_NUM_SEND_HOLES), 0);
    assert_int_equal(
        scps_sock_getsockopt(p.ctx, s, SCPS_SOL_SCPS_SOCKET, SCPS_SO_BETS_SEND_HOLES, h, &len), 0);
    assert_int_equal(len, 0);
    assert_int_equal(scps_sock_write(p.ctx, s, b, 1000), 1000);
    peer_wait(&p, SCPS_SEC(100));
    assert_int_equal(peer_getopt(&p, s, SCPS_SOL_SCPS_SOCKET, SCPS_SO_BETS_NUM_SEND_HOLES), 1);
    len = sizeof h + 5;
    assert_int_equal(
        scps_sock_getsockopt(p.ctx, s, SCPS_SOL_SCPS_SOCKET, SCPS_SO_BETS_SEND_HOLES, h, &len), 0);
    assert_int_equal(len, sizeof h[0]);
    assert_int_equal(h[0].at, 0);
    assert_int_equal(h[0].len, 1000);
    len = 5;
    assert_int_equal(
        scps_sock_getsockopt(p.ctx, s, SCPS_SOL_SCPS_SOCKET, SCPS_SO_BETS_SEND_HOLES, h, &len), 0);
    assert_int_equal(len, 0);
    peer_drains(&p);
    peer_close(&p);
}

static void options_without_best_effort(void **state)
{
    (void)state;
    struct peer p;
    int v;
    uint32_t len = sizeof v;
    peer_open(&p, NULL);
    int s = peer_socket(&p);
    assert_errno(
        scps_sock_getsockopt(p.ctx, s, SCPS_SOL_SCPS_SOCKET, SCPS_SO_BETS_RHOLE_SIZE, &v, &len),
        ENOTCONN);
    peer_handshakes(&p, s);
    for (int name = SCPS_SO_BETS_RHOLE_SIZE; name <= SCPS_SO_BETS_SEND_HOLES; name++)
        assert_errno(scps_sock_getsockopt(p.ctx, s, SCPS_SOL_SCPS_SOCKET, name, &v, &len),
                     EOPNOTSUPP);
    assert_errno(scps_sock_getsockopt(p.ctx, s, SCPS_SOL_SCPS_SOCKET, 0x1001, &v, &len),
                 ENOPROTOOPT);
    assert_errno(peer_setopt(&p, s, SCPS_SOL_SCPS_SOCKET, SCPS_SO_BETS_RHOLE_SIZE, 1), ENOPROTOOPT);
    assert_errno(peer_setopt(&p, s, SCPS_SOL_SCPS, SCPS_TP_BETS_RETRIES, 0), EINVAL);
    assert_errno(peer_setopt(&p, s, SCPS_SOL_SCPS, SCPS_TP_BETS_RETRIES, 255), EINVAL);
    assert_errno(peer_setopt(&p, s, SCPS_SOL_SCPS, SCPS_TP_BETS_TIMEOUT, -1), EINVAL);
    peer_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_send_a_record),
        cmocka_unit_test(a_stream_with_records),
        cmocka_unit_test(a_send_cut_short),
        cmocka_unit_test(reading),
        cmocka_unit_test(a_record_beyond_missing_data),
        cmocka_unit_test(accepted),
        cmocka_unit_test(a_hole_is_reported_once),
        cmocka_unit_test(low_water_before_missing_data),
        cmocka_unit_test(what_was_given_up),
        cmocka_unit_test(options_without_best_effort),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
