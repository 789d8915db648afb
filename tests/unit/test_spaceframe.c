/* SPDX-License-Identifier: MIT */
/* link/spaceframe.c: fields of arriving CCSDS transfer frames that this library never sends, and
 * frames that are dropped because of their headers. test_ccsds.c has the octets of those it
 * sends. */
#include "cmocka_all.h"

#include "link/spaceframe.h"

#include "base/bytes.h"

#include <string.h>

enum { FRAME = 100 };

static uint8_t frame[FRAME];

/* Writes a frame of this kind with count 0x123 and first header pointer 5. */
static struct scps_ccsds_config frame_of(enum scps_ccsds_kind kind)
{
    struct scps_ccsds_config c = scps_ccsds_config_default(kind);

    c.frame = FRAME;
    c.spacecraft = 21;
    c.channel = 3;
    c.fecf = false;
    memset(frame, 0, FRAME);
    scps_spaceframe_finish(frame, &c, 0x123, 5);
    return c;
}

static enum scps_ccsds_drop parse(const struct scps_ccsds_config *c, struct scps_spaceframe *f)
{
    return scps_spaceframe_parse(frame, c, f);
}

/* CCSDS 732.0-B section 4.1.2.5: the cycle belongs to the count only if the cycle use flag is 1. */
static void aos_count_without_a_cycle(void **state)
{
    struct scps_ccsds_config c = frame_of(SCPS_CCSDS_AOS);
    struct scps_spaceframe f;
    (void)state;

    frame[5] |= 0x0a;
    assert_int_equal(parse(&c, &f), SCPS_CCSDS_DROP_COUNT);
    assert_int_equal(f.bits, 28);
    assert_int_equal(f.count, 0xa000123);
    frame[5] &= 0x0f;
    assert_int_equal(parse(&c, &f), SCPS_CCSDS_DROP_COUNT);
    assert_int_equal(f.bits, 24);
    assert_int_equal(f.count, 0x123);
}

/* The operational control field, 4 octets at the end of TM (CCSDS 132.0-B section 4.1.5) and USLP
 * frames (CCSDS 732.1-B section 4.1.5), is no data. */
static void operational_control_fields(void **state)
{
    struct scps_ccsds_config c = frame_of(SCPS_CCSDS_TM);
    struct scps_spaceframe f;
    (void)state;

    assert_int_equal(parse(&c, &f), SCPS_CCSDS_DROP_COUNT);
    assert_int_equal(f.end, FRAME);
    frame[1] |= 1;
    assert_int_equal(parse(&c, &f), SCPS_CCSDS_DROP_COUNT);
    assert_int_equal(f.end, FRAME - 4);
    c = frame_of(SCPS_CCSDS_USLP);
    assert_int_equal(parse(&c, &f), SCPS_CCSDS_DROP_COUNT);
    assert_int_equal(f.end, FRAME);
    frame[6] |= 8;
    assert_int_equal(parse(&c, &f), SCPS_CCSDS_DROP_COUNT);
    assert_int_equal(f.end, FRAME - 4);
}

/* Frames of other versions, with a secondary header, with data that is not packets, with commands,
 * and with a pointer behind their end. */
static void dropped_frames(void **state)
{
    static const struct {
        enum scps_ccsds_kind kind;
        unsigned at, bits;
        enum scps_ccsds_drop why;
    } wrong[] = {
        {SCPS_CCSDS_AOS, 0, 0x80, SCPS_CCSDS_DROP_FRAME},
        {SCPS_CCSDS_AOS, 1, 0x01, SCPS_CCSDS_DROP_CHANNEL},
        {SCPS_CCSDS_AOS, 7, 0x60, SCPS_CCSDS_DROP_POINTER},
        {SCPS_CCSDS_TM, 0, 0x40, SCPS_CCSDS_DROP_FRAME},
        {SCPS_CCSDS_TM, 4, 0x80, SCPS_CCSDS_DROP_FRAME},
        {SCPS_CCSDS_TM, 4, 0x40, SCPS_CCSDS_DROP_FRAME},
        {SCPS_CCSDS_TM, 5, 0x60, SCPS_CCSDS_DROP_POINTER},
        {SCPS_CCSDS_USLP, 0, 0x10, SCPS_CCSDS_DROP_FRAME},
        {SCPS_CCSDS_USLP, 3, 0x01, SCPS_CCSDS_DROP_FRAME},
        {SCPS_CCSDS_USLP, 3, 0x02, SCPS_CCSDS_DROP_CHANNEL},
        {SCPS_CCSDS_USLP, 5, 0x01, SCPS_CCSDS_DROP_FRAME},
        {SCPS_CCSDS_USLP, 6, 0x40, SCPS_CCSDS_DROP_FRAME},
        {SCPS_CCSDS_USLP, 11, 0x20, SCPS_CCSDS_DROP_FRAME},
        {SCPS_CCSDS_USLP, 11, 0x01, SCPS_CCSDS_DROP_FRAME},
        {SCPS_CCSDS_USLP, 13, 0x60, SCPS_CCSDS_DROP_POINTER},
    };
    (void)state;

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct scps_ccsds_config c = frame_of(wrong[i].kind);
        struct scps_spaceframe f;
        assert_int_equal(parse(&c, &f), SCPS_CCSDS_DROP_COUNT);
        frame[wrong[i].at] ^= (uint8_t)wrong[i].bits;
        assert_int_equal(parse(&c, &f), wrong[i].why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aos_count_without_a_cycle),
        cmocka_unit_test(operational_control_fields),
        cmocka_unit_test(dropped_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
