/* SPDX-License-Identifier: MIT */
/* Reports of data beyond a hole without a connection: which SACK blocks (RFC 2018), DSACK (RFC
 * 2883) and SNACK (docs/SCPS-TP.md section 2) an acknowledgement has, and whether another one must
 * follow.
 *
 * RCV.NXT is offset 1; the buffer is hollow. Range n consists of octets [1000 n, 1000 n + 500). */
#include "core/report.h"

#include <stdio.h>

#include "cmocka_all.h"
#include "part.h"

#define IRS 0xfffff000u /* Sequence numbers wrap within the window. */

static struct part p;
static struct scps_receive rcv;
static struct scps_report rep;
static struct scps_report_view v;
static uint32_t len; /* octets of data in the segment with the report */
static bool follows; /* Another acknowledgement must follow. */

static int end(void **state)
{
    (void)state;
    scps_rcvbuf_fini(&rcv.in, &p.env.alloc);
    part_fini(&p);
    return 0;
}

/* A case may begin again; what was set up before is freed. */
static int begin(void **state)
{
    if (p.s.tx)
        end(state);
    part_init(&p, SCPS_SEC(1));
    p.cfg.c.snack_raw_unit = true;
    p.s.agreed.opts = SCPS_AGREED_SACK;
    p.s.agreed.pmtu_mss = p.s.agreed.mss = 1460;
    p.s.agreed.peer_mss = 500; /* octets in a unit of SNACK */
    rcv = (struct scps_receive){.irs = IRS};
    scps_rcvbuf_init(&rcv.in, 1, true);
    rep = (struct scps_report){.anew = false};
    v = (struct scps_report_view){.x = &p.s.ctx, .rcv = &rcv, .agreed = &p.s.agreed};
    len = 0;
    return 0;
}

/* Lets the octets [from, from + 500) arrive. */
static void octets(scps_off from)
{
    struct scps_range run;

    scps_rcvbuf_put(&rcv.in, &p.env.alloc, from, NULL, 500, 1000, &run);
    scps_report_arrived(&rep, from, 500, &run);
}

/* Lets range n arrive. */
static void got(unsigned n)
{
    octets(1000 * (scps_off)n);
}

/* Returns the report of the next acknowledgement as text: for each SACK block its offsets, in units
 * of 500 octets, as "2-3 "; then for a SNACK offset, '+' and size of its hole. */
static const char *report(void)
{
    static char text[120];
    struct scps_seg seg = {.len = len};
    int n = 0;

    follows = scps_report_fill(&rep, &v, &seg);
    text[0] = 0;
    assert_int_equal(!(seg.has & SCPS_HAS_SACK), !seg.nsack);
    for (unsigned i = 0; i < seg.nsack; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%u-%u ", (seg.sack[i].left - IRS) / 500,
                      (seg.sack[i].right - IRS) / 500);
    if (seg.has & SCPS_HAS_SNACK)
        snprintf(text + n, sizeof text - (size_t)n, "%u+%u", seg.snack_off, seg.snack_size);
    return text;
}

/* RFC 2018 section 4: the first block "MUST specify the contiguous block of data containing the
 * segment which triggered this ACK", and the option "SHOULD be filled out by repeating the most
 * recently reported SACK blocks". Section 3: four blocks fit, three with timestamps. */
static void latest_first(void **state)
{
    (void)state;
    assert_string_equal(report(), "");
    got(1);
    got(3);
    assert_string_equal(report(), "6-7 2-3 ");
    octets(3500);
    assert_string_equal(report(), "6-8 2-3 ");
    got(2);
    got(5);
    got(7);
    assert_string_equal(report(), "14-15 10-11 4-5 6-8 ");
    p.s.agreed.opts |= SCPS_AGREED_TS;
    assert_string_equal(report(), "14-15 10-11 4-5 ");
    octets(1500); /* The ranges from 1000 to 2500 become one. */
    assert_string_equal(report(), "2-5 14-15 10-11 ");
    assert_false(follows);
    /* What is no longer beyond a hole is not reported. */
    scps_rcvbuf_put(&rcv.in, &p.env.alloc, 1, NULL, 999, 1000, NULL);
    assert_string_equal(report(), "14-15 10-11 6-8 ");
    scps_report_reneged(&rep);
    assert_string_equal(report(), "");
}

/* RFC 2018 section 4 names the acknowledgement, which may have data: blocks go into the room that
 * the data leaves in the packet. */
static void beside_data(void **state)
{
    (void)state;
    p.s.agreed.caps = SCPS_CAP_SNACK1;
    got(1);
    got(3);
    len = 1460 - 20;
    assert_string_equal(report(), "6-7 2-3 ");
    len = 1460 - 12;
    assert_string_equal(report(), "6-7 ");
    len = 1460 - 11;
    assert_string_equal(report(), "");
    assert_true(follows); /* The report needs an acknowledgement without data. */
    len = 0;
    assert_string_equal(report(), "6-7 2-3 0+2");
}

/* RFC 2883 section 4: "a D-SACK block is only used to report a duplicate contiguous sequence of
 * data received by the receiver in the most recent packet", as the first block, and once. */
static void duplicate_once(void **state)
{
    (void)state;
    got(3);
    scps_report_duplicate(&rep, 3000, 3500);
    assert_string_equal(report(), "6-7 6-7 ");
    assert_int_equal(p.st.dsacks_out, 1);
    assert_string_equal(report(), "6-7 ");
    scps_report_duplicate(&rep, 500, 1000);
    p.s.agreed.opts |= SCPS_AGREED_TS;
    got(5);
    got(7);
    got(9);
    assert_string_equal(report(), "1-2 18-19 14-15 ");
    assert_int_equal(p.st.dsacks_out, 2);
    /* A packet without room for it does not postpone it. */
    scps_report_duplicate(&rep, 500, 1000);
    p.s.agreed.pmtu_mss = 23; /* 20 octets of options, 12 of them timestamps */
    assert_string_equal(report(), "");
    p.s.agreed.pmtu_mss = 1460;
    assert_string_equal(report(), "18-19 14-15 10-11 ");
}

/* A FIN that arrived beyond a hole takes the sequence number behind the last octet: the block
 * includes it, or the peer would take the FIN for missing. */
static void fin(void **state)
{
    struct scps_seg seg = {0};
    (void)state;

    for (int fast = 0; fast < 2; fast++) {
        begin(state);
        p.s.agreed.caps = fast ? 0 : SCPS_CAP_SNACK1;
        got(1);
        v.fin_at = 1500;
        seg = (struct scps_seg){0};
        scps_report_fill(&rep, &v, &seg);
        assert_int_equal(seg.nsack, 1);
        assert_int_equal(seg.sack[0].left, IRS + 1000);
        assert_int_equal(seg.sack[0].right, IRS + 1501);
    }
}

/* In strictly delayed mode one acknowledgement stands for many segments: each range is reported
 * once, in ascending order, in as many acknowledgements as that takes. Then the newest are
 * repeated. */
static void strictly_delayed(void **state)
{
    (void)state;
    p.cfg.c.ack_mode = SCPS_ACK_DELAYED;
    for (unsigned i = 1; i <= 6; i++)
        got(i);
    assert_string_equal(report(), "2-3 4-5 6-7 8-9 ");
    assert_true(follows);
    assert_string_equal(report(), "10-11 12-13 8-9 6-7 ");
    assert_false(follows);
    got(7);
    assert_string_equal(report(), "14-15 12-13 10-11 8-9 ");
    assert_false(follows);
    /* scps_report_next_pass() lets another pass over the holes begin when the present one is
     * over. */
    scps_report_next_pass(&rep);
    report();
    assert_true(follows);
    report();
    assert_false(follows);
    scps_report_restart(&rep);
    assert_string_equal(report(), "2-3 4-5 6-7 8-9 ");
    assert_true(follows);
}

/* With the short form of SNACK each hole is reported once, one in an acknowledgement; a SACK
 * option gets the room beside it. */
static void sack_and_snack(void **state)
{
    (void)state;
    p.s.agreed.caps = SCPS_CAP_SNACK1;
    for (unsigned i = 1; i <= 4; i++)
        got(i);
    assert_string_equal(report(), "8-9 6-7 4-5 0+2");
    assert_true(follows);
    assert_string_equal(report(), "8-9 6-7 4-5 2+2");
    assert_true(follows);
    assert_string_equal(report(), "8-9 6-7 4-5 4+2");
    assert_true(follows);
    assert_string_equal(report(), "8-9 6-7 4-5 6+2");
    assert_false(follows);
}

/* Strictly delayed, with the long form: a run of arrived data that no bit vector covers is reported
 * as a SACK block, and the bit vector is left out. */
static void run_as_a_block(void **state)
{
    (void)state;
    p.s.agreed.caps = SCPS_CAP_SNACK1 | SCPS_CAP_SNACK2;
    p.cfg.c.ack_mode = SCPS_ACK_DELAYED;
    for (unsigned i = 0; i < SCPS_SNACK_VEC_MAX * 8; i++)
        octets(1000 + 500 * i);
    assert_string_equal(report(), "0+2");
    scps_report_restart(&rep);
    octets(1000 + 500 * SCPS_SNACK_VEC_MAX * 8);
    assert_string_equal(report(), "2-259 0+2");
    assert_false(follows);
}

/* Under an ACK budget SNACKs continue where the last one ended, and begin with the first hole again
 * in every 16th. SACK blocks take the room of the short form, and reports have no DSACK where there
 * are holes. */
static void ack_budget(void **state)
{
    (void)state;
    p.s.agreed.caps = SCPS_CAP_SNACK1;
    p.s.agreed.opts &= (uint8_t)~SCPS_AGREED_SACK;
    v.budgeted = true;
    for (unsigned i = 1; i <= 100; i++)
        got(i);
    for (int i = 1; i <= 16; i++)
        assert_int_equal(strcmp(report(), "0+2") == 0, i == 1 || i == 16);
    assert_int_equal(p.st.snacks_out, 16);
    p.s.agreed.opts |= SCPS_AGREED_SACK;
    scps_report_duplicate(&rep, 3000, 3500);
    /* A retransmission arrives below all that was reported: SACK reports it in the next report. */
    octets(2500);
    assert_memory_equal(report(), "4-7 ", 4);
    assert_int_equal(p.st.dsacks_out, 0);
    assert_int_equal(p.st.snacks_out, 16);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(latest_first),     CASE(beside_data),    CASE(duplicate_once), CASE(fin),
        CASE(strictly_delayed), CASE(sack_and_snack), CASE(run_as_a_block), CASE(ack_budget),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
