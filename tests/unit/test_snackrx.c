/* SPDX-License-Identifier: MIT */
/* SNACK at the receiver without a connection: which hole is reported next, and with which fields
 * (CCSDS 714.0-B-2 section 3.3; docs/SCPS-TP.md sections 2.1 and 2.3).
 *
 * The buffer is hollow, and its RCV.NXT is 1000. A unit has 100 octets. */
#include "core/snackrx.h"

#include <stdio.h>

#include "cmocka_all.h"
#include "part.h"

#define NEXT ((scps_off)1000)
#define UNIT 100u

static struct part p;
static struct scps_rcvbuf in;
static struct scps_holes v;
static struct scps_snackrx s;

static int end(void **state)
{
    (void)state;
    scps_rcvbuf_fini(&in, &p.env.alloc);
    part_fini(&p);
    return 0;
}

/* A case may begin again; what was set up before is freed. */
static int begin(void **state)
{
    if (p.s.tx)
        end(state);
    part_init(&p, SCPS_SEC(1));
    p.s.agreed.caps = SCPS_CAP_SNACK1 | SCPS_CAP_SNACK2;
    p.s.agreed.pmtu_mss = 1460;
    scps_rcvbuf_init(&in, NEXT, true);
    v = (struct scps_holes){.in = &in, .agreed = &p.s.agreed, .unit = UNIT};
    s = (struct scps_snackrx){0};
    return 0;
}

/* Lets the octets [RCV.NXT + from, RCV.NXT + to) arrive. */
static void got(scps_off from, scps_off to)
{
    assert_int_equal(
        scps_rcvbuf_put(&in, &p.env.alloc, NEXT + from, NULL, (uint32_t)(to - from), 1000, NULL),
        1);
}

/* Returns the SNACK that the next acknowledgement has, as text: offset, '+' and size of the hole,
 * and the octets of the bit vector in binary. Returns "" if it has none. */
static const char *report_in(unsigned room, bool whole)
{
    static char text[16 + 10 * SCPS_SNACK_VEC_MAX];
    struct scps_seg seg = {0};
    uint64_t before = p.st.snacks_out;
    int n;

    scps_snackrx_report(&s, &v, &p.s.ctx, &seg, room, whole);
    assert_int_equal(p.st.snacks_out - before, seg.has & SCPS_HAS_SNACK ? 1 : 0);
    if (!(seg.has & SCPS_HAS_SNACK))
        return "";
    n = snprintf(text, sizeof text, "%u+%u", seg.snack_off, seg.snack_size);
    for (unsigned i = 0; i < seg.snack_vec_len * 8u; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%d", i % 8 ? "" : " ",
                      seg.snack_vec[i / 8] >> (7 - i % 8) & 1);
    return text;
}

static const char *report(void)
{
    return report_in(40, true);
}

/* docs/SCPS-TP.md section 2.1: "The offset is rounded down and the size up, so the named range
 * covers the hole." */
static void whole_units(void **state)
{
    (void)state;
    p.s.agreed.caps = SCPS_CAP_SNACK1;
    assert_string_equal(report(), ""); /* Nothing is missing. */
    got(201, 250);
    got(399, 500);
    got(500 + 100, 700);
    assert_string_equal(report(), "0+3");        /* [0, 201) */
    assert_string_equal(report(), "2+2");        /* [250, 399) */
    assert_string_equal(report(), "5+1");        /* [500, 600) */
    assert_string_equal(report_in(5, true), ""); /* The option has at least six octets. */
}

/* docs/SCPS-TP.md section 2.3: "the later ones once each, from below, one for each
 * acknowledgement". Here holes that were never reported go first, and then all are reported again
 * in turn. */
static void order(void **state)
{
    (void)state;
    p.s.agreed.caps = SCPS_CAP_SNACK1;
    got(100, 200);
    got(300, 400);
    assert_int_equal(scps_snackrx_backlog(&s, &v), 1);
    assert_string_equal(report(), "0+1");
    assert_int_equal(scps_snackrx_backlog(&s, &v), 1);
    assert_string_equal(report(), "2+1");
    assert_int_equal(scps_snackrx_backlog(&s, &v), 0);
    assert_string_equal(report(), "0+1");
    got(500, 600);
    assert_int_equal(scps_snackrx_backlog(&s, &v), 1);
    /* The new hole is reported before the rest of the turn. */
    assert_string_equal(report(), "4+1");
    assert_string_equal(report(), "2+1");
    assert_string_equal(report(), "4+1");
    assert_string_equal(report(), "0+1");
    scps_snackrx_restart(&s);
    assert_int_equal(scps_snackrx_backlog(&s, &v), 1);
    assert_string_equal(report(), "0+1");
    scps_snackrx_reported(&s, NEXT + 300);
    assert_string_equal(report(), "4+1");
}

/* docs/SCPS-TP.md section 2.1: "Both stop at 65 535. A hole further up than the offset reaches
 * cannot be named until SEG.ACK has come closer." A longer hole is reported piece by piece. */
static void largest_fields(void **state)
{
    const scps_off most = UINT64_C(65535) * UNIT;
    (void)state;

    got(most + 200, most + 300);
    /* The option has no vector, because the sender cannot know where it starts. */
    assert_string_equal(report(), "0+65535");
    assert_int_equal(scps_snackrx_backlog(&s, &v), 0);
    assert_true(scps_snackrx_out_of_reach(&s, &v, 0));
    assert_false(scps_snackrx_out_of_reach(&s, &v, NEXT + most + 300)); /* SACK has reported it. */
    /* The same SNACK follows, because the rest of the hole cannot be named. */
    assert_string_equal(report(), "0+65535");
    got(0, 100);
    assert_false(scps_snackrx_out_of_reach(&s, &v, 0));
    assert_string_equal(report(), "65534+2 10000000");
    begin(state);
    got(100, most); /* The second hole begins at the largest offset, which may mean any. */
    got(most + 100, most + 200);
    assert_string_equal(report_in(8, true), "0+1");
    assert_true(scps_snackrx_out_of_reach(&s, &v, 0));
    assert_int_equal(scps_snackrx_backlog(&s, &v), 0);
}

/* docs/SCPS-TP.md section 2.1: "In the long form each bit is one unit, in order, beginning where
 * the first hole ends: 0 missing, 1 arrived, most significant bit first." */
static void bit_vector(void **state)
{
    (void)state;
    got(100, 300);
    got(400, 500);
    got(700, 1300);
    /* A unit of which only a part has arrived is missing. */
    got(1450, 1500);
    got(1600, 1700);
    assert_string_equal(report(), "0+1 11010011 11110001");
    assert_int_equal(scps_snackrx_backlog(&s, &v), 0);
    /* Without the long form, or without room for a vector, the option has six octets. */
    begin(state);
    got(100, 300);
    got(400, 500);
    p.s.agreed.caps = SCPS_CAP_SNACK1;
    assert_string_equal(report(), "0+1");
    p.s.agreed.caps |= SCPS_CAP_SNACK2;
    scps_snackrx_restart(&s);
    assert_string_equal(report_in(8, true), "0+1");
}

/* A vector that ends among holes: the next report begins with the last hole of the vector, so that
 * none is omitted. Under an ACK budget it begins behind the vector. The vector has 24 bits here. */
static void vector_too_short(void **state)
{
    for (int whole = 0; whole < 2; whole++) {
        begin(state);
        for (scps_off i = 1; i < 30; i += 2)
            got(i * 100, i * 100 + 100);
        got(2400, 2500); /* The vector ends within this run: units 23 to 25 have arrived. */
        assert_string_equal(report_in(9, whole), "0+1 10101010 10101010 10101011");
        assert_int_equal(scps_snackrx_backlog(&s, &v), 1);
        assert_string_equal(report_in(9, whole), whole ? "22+1 11101010" : "26+1 10100000");
        assert_int_equal(scps_snackrx_backlog(&s, &v), 0);
    }
}

/* docs/SCPS-TP.md section 2.3: a FIN that arrives out of order shows that the data below it is
 * missing. */
static void fin(void **state)
{
    (void)state;
    v.fin_at = NEXT + 350;
    assert_string_equal(report(), "0+4");
    got(100, 200);
    scps_snackrx_restart(&s);
    assert_string_equal(report_in(8, true), "0+1");
    assert_string_equal(report_in(8, true), "2+2");
    assert_int_equal(scps_snackrx_backlog(&s, &v), 0);
}

/* Without SACK only SNACK reports the arrival of a resent segment: when no new hole is left, the
 * next report begins with the hole below that segment. */
static void filled_hole(void **state)
{
    (void)state;
    for (scps_off i = 1; i < 8; i += 2)
        got(i * 100, i * 100 + 100);
    while (scps_snackrx_backlog(&s, &v))
        report();
    s.next = NEXT + 500; /* The turn has come to the hole at 600. */
    got(400, 500);
    scps_snackrx_filled(&s, NEXT + 400);
    assert_string_equal(report(), "2+1 11101000");
    assert_string_equal(report(), "6+1 10000000"); /* The order of the turn does not change. */
    /* With SACK it is reported there. */
    s.next = NEXT + 500;
    p.s.agreed.opts = SCPS_AGREED_SACK;
    scps_snackrx_filled(&s, NEXT + 400);
    assert_string_equal(report(), "6+1 10000000");
}

/* Under an ACK budget: reports continue at the hole below the octets that have arrived since the
 * last SNACK, if three quarters of a vector reach from there to the newest data. */
static void reports_continue_below_new_arrivals(void **state)
{
    const scps_off reach = (scps_off)UNIT * 8 * SCPS_SNACK_VEC_MAX * 3 / 4;
    (void)state;

    got(100, 200);
    got(300, 400);
    got(500, 100 + reach);
    scps_snackrx_reported(&s, NEXT + 500);
    assert_int_equal(scps_snackrx_go_back(&s, &v), 0); /* Nothing has arrived below. */
    scps_snackrx_filled(&s, NEXT + 350);
    scps_snackrx_filled(&s, NEXT + 150);
    scps_snackrx_filled(&s, NEXT + 370);               /* The lowest of them counts. */
    assert_int_equal(scps_snackrx_go_back(&s, &v), 0); /* from 0 the vector is 100 too short */
    assert_int_equal(s.high, NEXT + 500);
    scps_snackrx_sent(&s);
    scps_snackrx_filled(&s, NEXT + 350);
    assert_int_equal(scps_snackrx_go_back(&s, &v), NEXT + 500);
    assert_int_equal(s.high, NEXT + 200);
    scps_snackrx_sent(&s);
    scps_snackrx_reported(&s, NEXT + 500);
    assert_int_equal(scps_snackrx_go_back(&s, &v), 0);
}

/* A run of arrived data that is longer than the bit vector of a whole acknowledgement. */
static void long_run(void **state)
{
    const scps_off reach = (scps_off)UNIT * 8 * SCPS_SNACK_VEC_MAX;
    struct scps_range run;
    (void)state;

    assert_int_equal(scps_snackrx_room(&p.s.agreed), 40);
    got(100, 100 + reach);
    assert_false(scps_snackrx_long_run(&s, &v, &run));
    got(100 + reach, 101 + reach);
    assert_true(scps_snackrx_long_run(&s, &v, &run));
    assert_int_equal(run.from, NEXT + 100);
    assert_int_equal(run.to, NEXT + 101 + reach);
    p.s.agreed.opts = SCPS_AGREED_TS; /* 12 of the 40 octets of options */
    assert_int_equal(scps_snackrx_room(&p.s.agreed), 28);
    p.s.agreed.caps |= SCPS_CAP_COM; /* In a compressed header timestamps are no option. */
    assert_int_equal(scps_snackrx_room(&p.s.agreed), 40);
    v.fin_at = NEXT + 1000 + reach; /* The hole below a FIN has no run behind it. */
    scps_snackrx_reported(&s, NEXT + 101 + reach);
    assert_false(scps_snackrx_long_run(&s, &v, &run));
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(whole_units),      CASE(order),
        CASE(largest_fields),   CASE(bit_vector),
        CASE(vector_too_short), CASE(fin),
        CASE(filled_hole),      CASE(reports_continue_below_new_arrivals),
        CASE(long_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
