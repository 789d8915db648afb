/* SPDX-License-Identifier: MIT */
/* Ends of records in data that is not sent yet, without a connection (option 22; docs/SCPS-TP.md
 * section 3.1): where a segment ends. */
#include "core/record.h"

#include "cmocka_all.h"
#include "failing_alloc.h"
#include "part.h"

#define MSS 1000u

static struct part p;
static struct scps_rangeset ends;

static int begin(void **state)
{
    (void)state;
    part_init(&p, SCPS_SEC(1));
    ends = (struct scps_rangeset){.n = 0};
    return 0;
}

static int end(void **state)
{
    (void)state;
    scps_rangeset_fini(&ends, &p.env.alloc);
    part_fini(&p);
    return 0;
}

/* Compares the segment at nxt, for which `len` octets are there, with the expected one. */
static void expect(scps_off nxt, uint32_t len, uint32_t want, uint32_t full, bool record)
{
    uint32_t flags = 0, most = MSS;

    assert_int_equal(scps_record_cut(&ends, nxt, MSS, len, &flags, &most), want);
    assert_int_equal(most, full);
    assert_int_equal(flags, record ? SCPS_SENT_RECORD : 0);
}

/* "The last octet of data in this segment ends a record", so a segment has no octet behind it, and
 * it is a full one, which Nagle's rule does not delay. */
static void segment_ends_with_the_record(void **state)
{
    (void)state;
    assert_int_equal(scps_record_write(&ends, &p.s.ctx, 301), 0);
    assert_int_equal(scps_record_write(&ends, &p.s.ctx, 401), 0);
    assert_int_equal(p.st.records_out, 2);
    expect(1, 1000, 300, 300, true);
    expect(201, 1000, 100, 100, true);
    expect(1, 299, 299, MSS, false); /* The peer's window cuts off the last octet. */
    scps_rangeset_trim(&ends, 301);
    expect(301, 700, 100, 100, true);
}

/* The option takes four octets. If the record fits into a full segment and the option does not, the
 * last octets are sent in a segment of their own. */
static void room_for_the_option(void **state)
{
    (void)state;
    scps_record_write(&ends, &p.s.ctx, 1 + 996);
    expect(1, 1000, 996, 996, true);
    expect(0, 1000, 996, 996, false); /* 997 octets are left. */
    scps_rangeset_trim(&ends, 997);
    scps_record_write(&ends, &p.s.ctx, 997 + 1000);
    expect(997, 1000, 996, 996, false);
    scps_rangeset_trim(&ends, 1997);
    scps_record_write(&ends, &p.s.ctx, 1997 + 1001);
    expect(1997, 1000, 1000, MSS, false);
}

/* Records of one octet each take one range; without memory the write is refused. */
static void memory(void **state)
{
    static struct poor poor;
    (void)state;

    for (scps_off i = 2; i < 100; i++)
        assert_int_equal(scps_record_write(&ends, &p.s.ctx, i), 0);
    assert_int_equal(ends.n, 1);
    expect(1, 1000, 1, 1, true);
    scps_rangeset_fini(&ends, &p.env.alloc);
    ends = (struct scps_rangeset){.n = 0};
    p.env.alloc = (struct scps_alloc){.alloc = poor_alloc, .free = poor_free, .ctx = &poor};
    assert_int_equal(scps_record_write(&ends, &p.s.ctx, 200), SCPS_ERR_NOMEM);
    assert_int_equal(p.st.records_out, 98);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(segment_ends_with_the_record),
        CASE(room_for_the_option),
        CASE(memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
