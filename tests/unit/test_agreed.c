/* SPDX-License-Identifier: MIT */
/* Sizes of segments from what both SYNs announced, the path MTU and the options of each segment. */
#include "core/agreed.h"

#include "cmocka_all.h"

/* RFC 6691 section 2: "the sender MUST reduce the TCP data length to account for any IP or TCP
 * options that it is including in the packets that it sends". */
static void full_segment(void **state)
{
    struct scps_agreed a = {.peer_mss = 1460};
    (void)state;

    assert_int_equal(scps_agreed_full(&a, 0, 1460), 1460);
    assert_int_equal(scps_agreed_full(&a, 0, 9000), 1460); /* The peer takes no larger ones. */
    assert_int_equal(scps_agreed_full(&a, 536, 1460), 536);
    assert_int_equal(scps_agreed_full(&a, 0, 576 - 40), 536);
    a.opts = SCPS_AGREED_TS; /* RFC 7323 section 3.2: 10 octets, padded to 12 */
    assert_int_equal(scps_agreed_full(&a, 0, 1460), 1448);
    assert_int_equal(scps_agreed_full(&a, 0, 536), 524);
    assert_int_equal(scps_agreed_full(&a, 0, 10), 8); /* Data is sent, however small the path. */
    a.peer_mss = 0;
    assert_int_equal(scps_agreed_full(&a, 0, 9000), 8988);
}

/* docs/SCPS-TP.md section 6: a compressed header is shorter than TCP's. Segments with either header
 * fill the path and never exceed it. */
static void compressed(void **state)
{
    struct scps_agreed a = {.caps = SCPS_CAP_COM, .peer_mss = 1460};
    (void)state;

    for (int ts = 0; ts < 2; ts++)
        for (int six = 0; six < 2; six++) {
            const uint32_t mtu = six ? 1520 : 1500;
            a.opts = ts ? SCPS_AGREED_TS : 0;
            scps_agreed_set_path(&a, 1460, scps_agreed_full(&a, 0, 1460));
            assert_int_equal(a.mss, ts ? 1464 : 1472);
            assert_int_equal(scps_agreed_packet(&a, six, a.mss), mtu);
            assert_int_equal(scps_agreed_any_payload(&a, false), ts ? 1448 : 1456);
            assert_int_equal(scps_agreed_any_payload(&a, true), ts ? 1444 : 1452);
            /* The acknowledgement, 6 octets, fits into a packet of that size. */
            assert_true(scps_agreed_packet(&a, six, scps_agreed_any_mss(&a)) <= mtu);
            scps_agreed_send_tcp_headers(&a);
            scps_agreed_set_path(&a, 1460, scps_agreed_full(&a, 0, 1460));
            assert_int_equal(a.mss, ts ? 1448 : 1460);
            assert_int_equal(scps_agreed_packet(&a, six, a.mss), mtu);
            assert_int_equal(scps_agreed_any_mss(&a), a.mss);
            scps_agreed_compress(&a);
            assert_int_equal(a.opts & SCPS_AGREED_TCP_HEADERS, 0);
        }
}

/* RFC 9293 section 3.1: a header has at most 60 octets, 40 of them options, in units of four. */
static void room_for_options(void **state)
{
    static const uint16_t path[][2] = {{1460, 40}, {40, 40}, {39, 36}, {36, 36}, {21, 20}, {8, 20}};
    (void)state;

    for (size_t i = 0; i < sizeof path / sizeof *path; i++) {
        struct scps_agreed a = {.pmtu_mss = path[i][0]};
        assert_int_equal(scps_agreed_opt_room(&a), path[i][1]);
    }
}

/* Both ends must count SNACK fields in the same unit, so it follows from what one of them announced
 * (docs/SCPS-TP.md section 2.1). */
static void unit_of_snack(void **state)
{
    struct scps_agreed a = {.mss = 500};
    (void)state;

    assert_int_equal(scps_agreed_unit(&a, false, 1000), 1000);
    a.opts = SCPS_AGREED_TS;
    assert_int_equal(scps_agreed_unit(&a, false, 1000), 988);
    assert_int_equal(scps_agreed_unit(&a, true, 1000), 1000);
    assert_int_equal(scps_agreed_unit(&a, false, 10), 8);
    a.caps = SCPS_CAP_COM;
    assert_int_equal(scps_agreed_unit(&a, false, 1000), 1004);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_segment),
        cmocka_unit_test(compressed),
        cmocka_unit_test(room_for_options),
        cmocka_unit_test(unit_of_snack),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
