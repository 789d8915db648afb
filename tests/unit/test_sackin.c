/* SPDX-License-Identifier: MIT */
/* SACK blocks of an acknowledgement (RFC 2018), and the first block as a report of a duplicate (RFC
 * 2883), without a connection. */
#include "core/sackin.h"

#include "cmocka_all.h"
#include "part.h"

#define LEN 1000u
#define ISS 0xfffff000u /* Sequence numbers wrap within the window. */

static struct part p;

/* Ten segments from offset 1 on are outstanding. */
static int begin(void **state)
{
    (void)state;
    part_init(&p, SCPS_SEC(1));
    p.s.snd.iss = ISS;
    p.s.snd.max_wnd = 10 * LEN;
    part_send(&p, 10, LEN);
    return 0;
}

static int end(void **state)
{
    (void)state;
    part_fini(&p);
    return 0;
}

/* The block of segments [i, j). */
static struct scps_sack block(int i, int j)
{
    return (struct scps_sack){(uint32_t)(ISS + 1 + i * (int)LEN),
                              (uint32_t)(ISS + 1 + j * (int)LEN)};
}

/* Processes an acknowledgement of the first `acked` segments with n blocks. */
static struct scps_sackin_first take(int acked, unsigned n, const struct scps_sack *blocks,
                                     struct scps_ack_result *sum)
{
    scps_off ack = 1 + (scps_off)acked * LEN, later = SCPS_MAX(ack, p.s.snd.una);
    struct scps_seg seg = {.nsack = (uint8_t)n};
    struct scps_sackin_first first;

    for (unsigned i = 0; i < n; i++)
        seg.sack[i] = blocks[i];
    *sum = (struct scps_ack_result){0};
    first = scps_sackin_duplicate(&p.s, &seg, later, (int64_t)ack, sum);
    scps_sackin_take(&p.s, &seg, &first, later, sum);
    return first;
}

/* RFC 2018 section 4: the receiver repeats blocks in further acknowledgements. Each octet counts as
 * arrived once. */
static void repeated_blocks(void **state)
{
    struct scps_ack_result sum;
    (void)state;

    take(0, 1, (struct scps_sack[]){block(2, 3)}, &sum);
    assert_int_equal(sum.delivered, LEN);
    take(0, 1, (struct scps_sack[]){block(2, 4)}, &sum);
    assert_int_equal(sum.delivered, LEN);
    take(0, 2, (struct scps_sack[]){block(6, 7), block(2, 4)}, &sum);
    assert_int_equal(sum.delivered, LEN);
    take(0, 2, (struct scps_sack[]){block(8, 9), block(6, 7)}, &sum);
    assert_int_equal(sum.delivered, LEN);
    take(0, 3, (struct scps_sack[]){block(8, 9), block(6, 7), block(2, 4)}, &sum);
    assert_int_equal(sum.delivered, 0);
    assert_int_equal(p.s.tx->sb.arrived, 4 * LEN);
}

/* After the peer has taken data back, the same blocks count again. */
static void reneging(void **state)
{
    const struct scps_sack b[] = {block(8, 9), block(2, 4)};
    struct scps_ack_result sum;
    (void)state;

    take(0, 2, b, &sum);
    assert_int_equal(sum.delivered, 3 * LEN);
    scps_sb_renege(&p.s.tx->sb);
    scps_sackin_forget(&p.s.tx->sackin);
    take(0, 2, b, &sum);
    assert_int_equal(p.s.tx->sb.arrived, 3 * LEN);
}

/* Blocks that are empty, reversed, below SND.UNA or beyond SND.NXT report nothing. */
static void invalid_blocks_report_nothing(void **state)
{
    struct scps_ack_result sum;
    (void)state;

    take(0, 1, (struct scps_sack[]){block(3, 3)}, &sum);
    take(0, 1, (struct scps_sack[]){block(4, 3)}, &sum);
    take(0, 1, (struct scps_sack[]){block(9, 11)}, &sum);
    take(5, 2, (struct scps_sack[]){block(8, 11), block(2, 4)}, &sum);
    assert_int_equal(sum.delivered, 0);
    assert_int_equal(p.s.tx->sb.arrived, 0);
    assert_false(sum.dsack);
    assert_int_equal(p.st.dsacks_in, 0);
}

/* RFC 2883 section 4: the first block is a D-SACK when it lies below SEG.ACK, or when the second
 * block contains it. */
static void duplicates(void **state)
{
    struct scps_sackin_first first;
    struct scps_ack_result sum;
    (void)state;

    first = take(5, 1, (struct scps_sack[]){block(2, 3)}, &sum);
    assert_true(first.dsack);
    assert_int_equal(first.from, 1 + 2 * LEN);
    assert_int_equal(first.to, 1 + 3 * LEN);
    assert_true(sum.dsack);
    assert_int_equal(sum.delivered, 0);
    first = take(0, 2, (struct scps_sack[]){block(6, 7), block(5, 8)}, &sum);
    assert_true(first.dsack);
    assert_int_equal(sum.delivered, 3 * LEN); /* The second block reports as usual. */
    first = take(0, 2, (struct scps_sack[]){block(8, 9), block(5, 8)}, &sum);
    assert_false(first.old);
    assert_int_equal(sum.delivered, LEN);
    first = take(0, 2, (struct scps_sack[]){block(5, 8), block(5, 8)}, &sum);
    assert_true(first.dsack);
    assert_int_equal(p.st.dsacks_in, 3);
    first = take(0, 1, (struct scps_sack[]){block(1, 3)}, &sum); /* It is above SEG.ACK. */
    assert_false(first.old);
    assert_int_equal(sum.delivered, 2 * LEN);
}

/* A D-SACK of octets that no window of the peer can have contained, or of the SYN, is none. */
static void old_duplicates(void **state)
{
    struct scps_ack_result sum;
    (void)state;

    p.s.snd.una = 1 + 9 * LEN;
    p.s.snd.max_wnd = 2 * LEN;
    assert_false(take(9, 1, (struct scps_sack[]){block(6, 7)}, &sum).dsack);
    assert_true(take(9, 1, (struct scps_sack[]){block(7, 8)}, &sum).dsack);
    p.s.snd.max_wnd = 20 * LEN;
    assert_false(take(9, 1, (struct scps_sack[]){{ISS, ISS + 1}}, &sum).dsack);
    assert_true(take(9, 1, (struct scps_sack[]){{ISS + 1, ISS + 2}}, &sum).dsack);
}

/* The first report of octets, even if it reports them as a duplicate, shows that they arrived. */
static void first_report_of_duplicate_octets(void **state)
{
    struct scps_ack_result sum;
    (void)state;

    take(0, 2, (struct scps_sack[]){block(6, 7), block(5, 8)}, &sum);
    assert_true(sum.dsack_fresh);
    take(0, 2, (struct scps_sack[]){block(6, 7), block(5, 8)}, &sum);
    assert_false(sum.dsack_fresh);
    take(0, 1, (struct scps_sack[]){block(-1, 0)}, &sum); /* below SND.UNA */
    assert_false(sum.dsack_fresh);
}

/* How old the report of a resent segment must be: three quarters of the current round trip, after a
 * needless retransmission and with a congestion window only. */
static void age_of_the_report_of_a_resent_segment(void **state)
{
    (void)state;

    p.s.tx->reorder.rtt = SCPS_MS(400);
    p.s.rtt.srtt = SCPS_MS(900);
    p.s.ctl.cwnd = 10 * LEN;
    scps_sackin_set_resent_age(&p.s);
    assert_int_equal(p.s.tx->sb.resent_age, 0);
    scps_rto_count_needless(&p.s.tx->rto);
    scps_sackin_set_resent_age(&p.s);
    assert_int_equal(p.s.tx->sb.resent_age, SCPS_MS(300));
    p.s.ctl.cwnd = SCPS_CWND_OPEN;
    scps_sackin_set_resent_age(&p.s);
    assert_int_equal(p.s.tx->sb.resent_age, 0);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(repeated_blocks),
        CASE(reneging),
        CASE(invalid_blocks_report_nothing),
        CASE(duplicates),
        CASE(old_duplicates),
        CASE(first_report_of_duplicate_octets),
        CASE(age_of_the_report_of_a_resent_segment),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
