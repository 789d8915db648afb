/* SPDX-License-Identifier: MIT */
/* scps_ctx_config_linux(): plain TCP with the parameters of a Linux host, as conformance tests
 * written for Linux expect. */
#include "sockpeer.h"

static void start(struct peer *p)
{
    struct scps_ctx_config cfg = scps_ctx_config_linux();
    peer_open(p, &cfg);
    peer_wait(p, SCPS_SEC(1));
}

static void syn_as_linux_writes_it(void **state)
{
    (void)state;
    struct peer p;
    start(&p);
    int s = peer_socket(&p);
    assert_errno(peer_connect(&p, s), EINPROGRESS);
    assert_true(peer_takes(&p));
    /* The options of the SYN are those of Linux in its order: mss 1460, sackOK, TS val x ecr 0,
     * nop, wscale 7. */
    assert_int_equal(p.seg.hdr_len, 40);
    const uint8_t *o = p.buf + p.ip.hdr_len + 20;
    const uint8_t head[8] = {2, 4, 1460 >> 8, 1460 & 0xff, 4, 2, 8, 10};
    const uint8_t tail[8] = {0, 0, 0, 0, 1, 3, 3, 7};
    assert_memory_equal(o, head, 8);
    assert_memory_equal(o + 12, tail, 8);
    assert_true(p.ip.df);
    assert_int_equal(p.ip.ttl, 64);
    assert_int_equal(p.ip.tos, 0);
    assert_int_equal(p.seg.wnd, 65535);
    p.our_port = p.seg.sport;

    /* The SYN-ACK has exactly the options that the peer offered. */
    int l = peer_listens(&p, 5);
    (void)l;
    p.our_port = OUR_PORT;
    struct scps_seg syn = {.flags = SCPS_SYN,
                           .seq = PEER_ISN,
                           .wnd = 32792,
                           .has = SCPS_HAS_MSS | SCPS_HAS_SACK_OK | SCPS_HAS_WSCALE,
                           .mss = 1000,
                           .wscale = 7};
    peer_sends_seg(&p, &syn, 0);
    peer_gets(&p, SCPS_SYN | SCPS_ACK, 0, 1, 0);
    o = p.buf + p.ip.hdr_len + 20;
    const uint8_t synack[12] = {2, 4, 1460 >> 8, 1460 & 0xff, 1, 1, 4, 2, 1, 3, 3, 7};
    assert_int_equal(p.seg.hdr_len, 32);
    assert_memory_equal(o, synack, 12);
    peer_close(&p);
}

static void initial_window_of_ten(void **state)
{
    (void)state;
    struct peer p;
    static uint8_t data[30000];
    start(&p);
    int s = peer_accepted(&p);
    assert_int_equal(scps_sock_write(p.ctx, s, data, sizeof data), sizeof data);
    /* Ten full segments are sent, none with PSH, because more data waits. */
    for (uint32_t i = 0; i < 10; i++)
        peer_gets(&p, SCPS_ACK, 1 + 1000 * i, 1, 1000);
    peer_gets_nothing(&p);
    /* Slow start: two segments are acknowledged and four more are sent. */
    peer_sends(&p, SCPS_ACK, 1, 2001, 0);
    for (uint32_t i = 10; i < 14; i++)
        peer_gets(&p, SCPS_ACK, 1 + 1000 * i, 1, 1000);
    peer_gets_nothing(&p);
    peer_sends(&p, SCPS_ACK, 1, 14001, 0);
    uint32_t to = 14001;
    while (peer_takes(&p)) {
        to += p.seg.len;
        assert_int_equal(p.seg.flags & SCPS_PSH, to == 30001 ? SCPS_PSH : 0);
    }
    assert_int_equal(to, 30001);
    peer_close(&p);
}

static void acks_every_second_segment(void **state)
{
    (void)state;
    struct peer p;
    char b[8000];
    start(&p);
    int s = peer_accepted(&p);
    for (uint32_t i = 0; i < 4; i++) {
        peer_sends(&p, SCPS_ACK, 1 + 1000 * i, 1, 1000);
        if (i % 2)
            peer_gets(&p, SCPS_ACK, 1, 1001 + 1000 * i, 0);
        else
            peer_gets_nothing(&p);
    }
    /* The last segment of an odd number is acknowledged after 40 ms. */
    peer_sends(&p, SCPS_ACK, 4001, 1, 1000);
    scps_time t0 = peer_now(&p);
    peer_wait(&p, SCPS_SEC(1));
    peer_gets(&p, SCPS_ACK, 1, 5001, 0);
    assert_int_equal(p.at - t0, SCPS_MS(40));
    /* A segment out of order is acknowledged at once, with SACK. */
    peer_sends(&p, SCPS_ACK, 6001, 1, 1000);
    peer_gets(&p, SCPS_ACK, 1, 5001, 0);
    /* The segment fills the hole, which is acknowledged at once, too. */
    peer_sends(&p, SCPS_ACK, 5001, 1, 1000);
    peer_gets(&p, SCPS_ACK, 1, 7001, 0);
    assert_int_equal(scps_sock_read(p.ctx, s, b, sizeof b), 7000);
    /* The acknowledgement is sent with data. */
    peer_sends(&p, SCPS_ACK, 7001, 1, 10);
    assert_int_equal(scps_sock_write(p.ctx, s, "answer", 6), 6);
    peer_gets(&p, SCPS_ACK | SCPS_PSH, 1, 7011, 6);
    peer_close(&p);
}

static void retransmission_timeout(void **state)
{
    (void)state;
    struct peer p;
    start(&p);
    int s = peer_socket(&p);
    peer_is_called(&p, s);
    peer_wait(&p, SCPS_MS(100));
    peer_sends(&p, SCPS_SYN | SCPS_ACK, 0, 1, 0);
    peer_gets(&p, SCPS_ACK, 1, 1, 0);
    /* The first RTT is 100 ms: SRTT 100, RTTVAR 50, RTO 100 + max(200, 4 * 50) = 300 ms. */
    assert_int_equal(scps_sock_write(p.ctx, s, "abc", 3), 3);
    peer_gets(&p, SCPS_ACK | SCPS_PSH, 1, 1, 3);
    scps_time t0 = p.at;
    peer_wait(&p, SCPS_SEC(5));
    for (int i = 1; i <= 4; i++) {
        peer_gets(&p, SCPS_ACK | SCPS_PSH, 1, 1, 3);
        assert_int_equal(p.at - t0, ((1 << i) - 1) * SCPS_MS(300));
    }
    peer_close(&p);
}

static void syn_timeouts(void **state)
{
    (void)state;
    struct peer p;
    start(&p);
    int s = peer_socket(&p);
    assert_errno(peer_connect(&p, s), EINPROGRESS);
    peer_gets(&p, SCPS_SYN, 0, 0, 0);
    scps_time t0 = p.at;
    peer_wait(&p, SCPS_SEC(300));
    for (int i = 1; i <= 6; i++) { /* Six SYNs follow, at 1, 3, 7, 15, 31 and 63 s. */
        peer_gets(&p, SCPS_SYN, 0, 0, 0);
        assert_int_equal(p.at - t0, ((1 << i) - 1) * SCPS_SEC(1));
    }
    peer_gets_nothing(&p);
    /* The attempt ends after 127 s, as in Linux. */
    assert_int_equal(peer_so_error(&p, s), ETIMEDOUT);
    peer_close(&p);
}

static void fast_retransmit(void **state)
{
    (void)state;
    struct peer p;
    static uint8_t data[4000];
    start(&p);
    int l = peer_listens(&p, 5);
    p.our_port = OUR_PORT;
    struct scps_seg syn = {.flags = SCPS_SYN,
                           .seq = PEER_ISN,
                           .wnd = 32792,
                           .has = SCPS_HAS_MSS | SCPS_HAS_SACK_OK | SCPS_HAS_WSCALE,
                           .mss = 1000,
                           .wscale = 7};
    peer_sends_seg(&p, &syn, 0);
    peer_gets(&p, SCPS_SYN | SCPS_ACK, 0, 1, 0);
    peer_wait(&p, SCPS_MS(100));
    p.wnd = 257;
    peer_sends(&p, SCPS_ACK, 1, 1, 0);
    int s = scps_sock_accept(p.ctx, l, NULL, NULL);
    assert_int_equal(scps_sock_write(p.ctx, s, data, sizeof data), 4000);
    assert_int_equal(peer_drains(&p), 4);
    peer_wait(&p, SCPS_MS(100));
    /* The first segment is missing; SACK reports 1001:2001, 1001:3001 and 1001:4001. */
    for (uint32_t i = 1; i <= 3; i++) {
        struct scps_seg sack = {.flags = SCPS_ACK,
                                .seq = PEER_ISN + 1,
                                .ack = p.our_isn + 1,
                                .wnd = 257,
                                .has = SCPS_HAS_SACK,
                                .nsack = 1};
        sack.sack[0].left = p.our_isn + 1001;
        sack.sack[0].right = p.our_isn + 1001 + 1000 * i;
        peer_sends_seg(&p, &sack, 0);
        if (i < 3)
            peer_gets_nothing(&p);
    }
    peer_gets(&p, SCPS_ACK, 1, 1, 1000);
    struct scps_tcp_info ti = peer_tcp_info(&p, s);
    assert_int_equal(ti.tcpi_ca_state, 3);
    assert_int_equal(ti.tcpi_sacked, 3);
    assert_int_equal(ti.tcpi_total_retrans, 1);
    peer_sends(&p, SCPS_ACK, 1, 4001, 0);
    ti = peer_tcp_info(&p, s);
    assert_int_equal(ti.tcpi_ca_state, 0);
    assert_int_equal(ti.tcpi_bytes_acked, 4000);
    assert_int_equal(ti.tcpi_bytes_retrans, 1000);
    peer_close(&p);
}

static void time_wait_of_a_minute(void **state)
{
    (void)state;
    struct peer p;
    struct scps_stack_stats st;
    start(&p);
    int s = peer_connected(&p);
    assert_int_equal(scps_sock_close(p.ctx, s), 0);
    peer_gets(&p, SCPS_ACK | SCPS_FIN, 1, 1, 0);
    peer_sends(&p, SCPS_ACK | SCPS_FIN, 1, 2, 0);
    peer_gets(&p, SCPS_ACK, 2, 2, 0);
    peer_wait(&p, SCPS_SEC(60) - 1);
    scps_stack_get_stats(scps_ctx_stack(p.ctx), &st);
    assert_int_equal(st.conns, 1);
    peer_wait(&p, 2);
    scps_stack_get_stats(scps_ctx_stack(p.ctx), &st);
    assert_int_equal(st.conns, 0);
    peer_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(syn_as_linux_writes_it),
        cmocka_unit_test(initial_window_of_ten),
        cmocka_unit_test(acks_every_second_segment),
        cmocka_unit_test(retransmission_timeout),
        cmocka_unit_test(syn_timeouts),
        cmocka_unit_test(fast_retransmit),
        cmocka_unit_test(time_wait_of_a_minute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
