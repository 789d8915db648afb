/* SPDX-License-Identifier: MIT */
/* framing.c: the number of bytes that a packet takes on the line, compared with a slow computation
 * of each framing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/prng.h"
#include "sim/framing.h"

static uint32_t weigh(enum scps_framing f, const void *data, size_t n)
{
    struct scps_pkt p = {.data = (uint8_t *)(uintptr_t)data, .len = n};
    uint64_t carry = 0;
    uint32_t w = scps_framing_bytes(f, &p, &carry);

    return w + (carry > 0);
}

static void cells(void **state)
{
    static const struct {
        /* n: octets of the packet; llc, vc: ATM cells of the packet with LLC/SNAP and with VC
         * multiplexing */
        uint32_t n, llc, vc;
    } want[] = {{40, 2, 1},     {32, 1, 1},     {33, 2, 1},      {41, 2, 2},
                {1064, 23, 23}, {1500, 32, 32}, {9000, 188, 188}};
    static uint8_t data[9000];
    (void)state;

    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        assert_int_equal(weigh(SCPS_FRAMING_AAL5, data, want[i].n), 53 * want[i].llc);
        assert_int_equal(weigh(SCPS_FRAMING_AAL5_VC, data, want[i].n), 53 * want[i].vc);
    }
}

/* Writes the frame's bytes between its flags, with the FCS of RFC 1662 computed bit by bit. Returns
 * their number. */
static size_t frame(const uint8_t *data, size_t n, uint8_t *out)
{
    uint16_t fcs = 0xffff;
    size_t len = 4;

    out[0] = 0xff;
    out[1] = 0x03;
    out[2] = 0x00;
    out[3] = data[0] >> 4 == 6 ? 0x57 : 0x21;
    memcpy(out + len, data, n);
    len += n;
    for (size_t i = 0; i < len; i++)
        for (int b = 0; b < 8; b++) {
            int bit = (fcs ^ out[i] >> b) & 1;
            fcs = (uint16_t)(fcs >> 1 ^ (bit ? 0x8408 : 0));
        }
    fcs = (uint16_t)~fcs;
    out[len++] = (uint8_t)fcs;
    out[len++] = (uint8_t)(fcs >> 8);
    return len;
}

static void the_check_sequence_is_the_known_one(void **state)
{
    /* CRC-16/X-25 of "123456789" is 0x906e. This checks the bitwise computation here, which then
     * checks framing.c. */
    uint16_t fcs = 0xffff;
    (void)state;

    for (const char *p = "123456789"; *p; p++)
        for (int b = 0; b < 8; b++)
            fcs = (uint16_t)(fcs >> 1 ^ (((fcs ^ *p >> b) & 1) ? 0x8408 : 0));
    assert_int_equal((uint16_t)~fcs, 0x906e);
}

static void stuffed_bits_and_escapes_are_counted(void **state)
{
    static uint8_t data[1500], between[1600];
    struct scps_prng r;
    (void)state;

    scps_prng_seed(&r, 1662);
    uint64_t carry = 0, sum = 0, bits_all = 0;
    for (int round = 0; round < 3000; round++) {
        size_t n = 20 + scps_prng_below(&r, sizeof data - 20), len, escapes = 0, zeros = 0,
               ones = 0;
        /* The bytes are random, all ones, or contain flags. */
        unsigned kind = (unsigned)scps_prng_below(&r, 3);
        for (size_t i = 0; i < n; i++)
            data[i] = kind == 1                 ? 0xff
                      : kind == 2 && i % 3 == 0 ? 0x7e
                                                : (uint8_t)scps_prng_next(&r);
        data[0] = round % 2 ? 0x45 : 0x60;
        len = frame(data, n, between);
        for (size_t i = 0; i < len; i++) {
            escapes += between[i] == 0x7d || between[i] == 0x7e;
            for (int b = 0; b < 8; b++) {
                ones = between[i] >> b & 1 ? ones + 1 : 0;
                if (ones == 5) {
                    zeros++;
                    ones = 0;
                }
            }
        }
        assert_int_equal(weigh(SCPS_FRAMING_PPP, data, n), len + escapes + 2);
        /* The bits of an incomplete byte are added to the next frame, so the sum over all frames is
         * compared. */
        struct scps_pkt p = {.data = data, .len = 20, .payload = data + 20, .payload_len = n - 20};
        sum += scps_framing_bytes(SCPS_FRAMING_HDLC, &p, &carry);
        bits_all += 8 * (len + 2) + zeros;
        assert_true(sum == bits_all / 8);
    }
}

static void hollow_bytes_are_random_ones(void **state)
{
    static uint8_t data[40];
    struct scps_pkt p = {.data = data, .len = 40, .payload_len = 1024};
    uint64_t ppp = 0, hdlc = 0, sum_ppp = 0, sum_hdlc = 0;
    (void)state;

    /* The headers contain no byte to escape. The zeros that HDLC stuffs in them: one within 0xff,
     * and one where 0xff meets 0x03. */
    for (int i = 0; i < 62 * 256; i++) {
        sum_ppp += scps_framing_bytes(SCPS_FRAMING_PPP, &p, &ppp);
        sum_hdlc += scps_framing_bytes(SCPS_FRAMING_HDLC, &p, &hdlc);
    }
    assert_true(sum_ppp == 62 * (256 * 1072 + 2 * 1026));
    assert_true(sum_hdlc == 62 * 256 * 1072 + 256 * (62 * 2 + 8 * 1026) / 8);
}

static void transfer_frames_share_without_a_gap(void **state)
{
    static uint8_t data[2000];
    struct scps_prng r;
    (void)state;

    for (int tm = 0; tm < 2; tm++) {
        uint64_t carry = 0, sum = 0, all = 0, zone = tm ? 1105 : 1103;
        scps_prng_seed(&r, 732);
        for (int i = 0; i < 5000; i++) {
            size_t n = 20 + scps_prng_below(&r, 1500);
            struct scps_pkt p = {.data = data, .len = n};
            all += n + 1 + (n + 3 < 256 ? 2 : 4);
            sum += scps_framing_bytes(tm ? SCPS_FRAMING_TM : SCPS_FRAMING_AOS, &p, &carry);
            assert_true(sum == all * 1115 / zone);
        }
    }
}

static void mean_length_of_a_frame(void **state)
{
    struct scps_link_config c = {.overhead = 18};
    (void)state;

    assert_int_equal(scps_link_frame_bytes(&c, 1064), 1082);
    c.framing = SCPS_FRAMING_AAL5;
    c.overhead = 0;
    assert_int_equal(scps_link_frame_bytes(&c, 1064), 23 * 53);
    /* 8 bytes of framing, 1000 of data and escapes for 2/256 of 1002 bytes. */
    c.framing = SCPS_FRAMING_PPP;
    assert_int_equal(scps_link_frame_bytes(&c, 1000), 1016);
    for (unsigned f = 0; f < SCPS_FRAMING_COUNT; f++)
        assert_non_null(scps_framing_name(f));
    assert_null(scps_framing_name(SCPS_FRAMING_COUNT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells),
        cmocka_unit_test(the_check_sequence_is_the_known_one),
        cmocka_unit_test(stuffed_bits_and_escapes_are_counted),
        cmocka_unit_test(hollow_bytes_are_random_ones),
        cmocka_unit_test(transfer_frames_share_without_a_gap),
        cmocka_unit_test(mean_length_of_a_frame),
    };
    return cmocka_run_group_tests_name("framing", tests, NULL, NULL);
}
