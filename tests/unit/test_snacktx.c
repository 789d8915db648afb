/* SPDX-License-Identifier: MIT */
/* SNACK at the sender without a connection: which segments a report declares lost, and when those
 * that were resent are lost again (CCSDS 714.0-B-2 section 3.3; docs/SCPS-TP.md sections 2.1 and
 * 2.4).
 *
 * The round trip is 100 ms, and a unit has 1000 octets. The congestion window is limited. */
#include "core/snacktx.h"

#include "core/fixed.h"
#include "part_cases.h"

#define RTT      SCPS_MS(100)
#define EMBARGO  (RTT + RTT / 8)
#define OCTET(n) (1 + (scps_off)1000 * (n)) /* the first octet of segment n */

static struct scps_ack_result sum;

static void prepare(void)
{
    p.s.agreed.adv_mss = 1000;
    p.s.agreed.caps = SCPS_CAP_SNACK1 | SCPS_CAP_SNACK2;
    p.s.rtt.srtt = p.s.rtt.min = RTT;
    p.s.ctl.cwnd = 100000;
    scps_rto_measured(&p.s.tx->rto, RTT);
    p.s.tx->heard_at = START;
    p.s.snd.end = OCTET(1000); /* The application has more to send. */
    sum = scps_ack_result_none();
}

static void resend(uint32_t idx, unsigned times)
{
    while (times--) {
        scps_sb_lose(&p.s.tx->sb, idx, &sum);
        scps_sb_resent(&p.s.tx->sb, idx, p.env.now);
    }
}

/* Processes a SNACK with SEG.ACK = SND.UNA; vec: its bit vector, most significant bit first. */
static scps_time named(uint16_t off, uint16_t size, uint8_t vec)
{
    struct scps_seg seg = {.snack_off = off, .snack_size = size, .snack_vec_len = vec ? 1 : 0};

    seg.snack_vec[0] = vec;
    return scps_snacktx_take(&p.s, &seg, p.s.snd.una, &sum);
}

static void arrived(unsigned n)
{
    scps_sb_arrived(&p.s.tx->sb, p.env.now, OCTET(n), OCTET(n + 1), RTT, &sum);
}

static scps_time look(void)
{
    return scps_snacktx_look(&p.s, &sum);
}

/* A report cannot include a segment sent less than a round trip ago. A SNACK with size 0 "means
 * nothing" (docs/SCPS-TP.md section 2.1), and one with offset 65535 may mean any hole from there
 * on. */
static void segments_that_a_report_includes(void **state)
{
    (void)state;
    part_send(&p, 8, 1000);
    p.env.now += RTT - 1;
    assert_int_equal(named(0, 1, 0), 0);
    assert_string_equal(part_board(&p), "FFFFFFFF");
    p.env.now += 1;
    named(0, 1, 0);
    named(2, 3, 0);
    assert_string_equal(part_board(&p), "LFLLLFFF");
    assert_int_equal(sum.lost, 4000);
    assert_int_equal(p.st.snacks_in, 3);
    named(6, 0, 0);
    named(65535, 1, 0);
    assert_string_equal(part_board(&p), "LFLLLFFF");
    assert_int_equal(p.st.snacks_in, 3);
    named(7, 65535, 0); /* "never beyond SND.NXT" */
    assert_string_equal(part_board(&p), "LFLLLFFL");
    assert_int_equal(scps_snacktx_reach(&p.s), 1 + 65535 * 1000);
}

/* docs/SCPS-TP.md section 2.1: "The offset is rounded down and the size up", so a segment that lies
 * partly in the range is not missing, unless it is the only one there. */
static void whole_segments(void **state)
{
    (void)state;
    part_send(&p, 5, 600);
    p.env.now += RTT;
    named(0, 1, 0); /* [0, 1000) */
    assert_string_equal(part_board(&p), "LFFFF");
    named(1, 1, 0); /* [1000, 2000) */
    assert_string_equal(part_board(&p), "LFLFF");
    begin(state);
    part_send(&p, 2, 3000);
    p.env.now += RTT;
    named(1, 1, 0);
    assert_string_equal(part_board(&p), "LF");
}

/* The receiver rounds the end of a hole up. With SACK, the small segments that begin in the last
 * unit are lost only if something that was sent after them has arrived. */
static void small_segments(void **state)
{
    (void)state;
    for (int sack = 0; sack < 2; sack++) {
        begin(state);
        p.s.agreed.opts = sack ? SCPS_AGREED_SACK : 0;
        part_send(&p, 8, 250);
        p.env.now += RTT;
        named(0, 2, 0);
        assert_string_equal(part_board(&p), sack ? "LLLLLFFF" : "LLLLLLLL");
    }
    part_send(&p, 1, 250);
    scps_sb_arrived(&p.s.tx->sb, p.env.now, 2001, 2251, RTT, &sum);
    named(0, 2, 0);
    assert_string_equal(part_board(&p), "LLLLLLLLA");
}

/* docs/SCPS-TP.md section 2.1: "0 missing, 1 arrived, most significant bit first. Bits behind the
 * last that says "arrived" say nothing." */
static void bit_vector(void **state)
{
    (void)state;
    part_send(&p, 8, 1000);
    p.env.now += RTT;
    named(0, 1, 0xb0);
    assert_string_equal(part_board(&p), "LALAAFFF");
    begin(state);
    part_send(&p, 8, 1000);
    p.env.now += RTT;
    p.s.agreed.caps = SCPS_CAP_SNACK1;
    named(0, 1, 0xb0);
    assert_string_equal(part_board(&p), "LFFFFFFF");
    /* A hole with size 65535 may be longer, so the vector begins at an unknown offset. */
    begin(state);
    p.s.agreed.adv_mss = 8; /* octets in a unit */
    part_send(&p, 8, 65535);
    part_send(&p, 2, 8);
    p.env.now += RTT;
    named(0, 65535, 0xb0);
    assert_string_equal(part_board(&p), "LLLLLLLLFF");
}

/* docs/SCPS-TP.md section 2.4: "Once in a round trip". A retransmission that is reported again is
 * lost if something that was sent after it has arrived, or after an eighth of a round trip more. */
static void reported_again(void **state)
{
    (void)state;
    for (int later = 0; later < 2; later++) {
        begin(state);
        part_send(&p, 4, 1000);
        p.env.now += RTT;
        resend(0, 1);
        part_send(&p, 1, 1000);
        p.env.now += RTT;
        if (later)
            arrived(4);
        named(0, 1, 0);
        assert_string_equal(part_board(&p), later ? "LFFFA" : "FFFFF");
        if (later)
            continue;
        p.env.now += RTT / 8;
        named(0, 1, 0);
        assert_string_equal(part_board(&p), "FFFFF");
        p.env.now += 1;
        named(0, 1, 0);
        assert_string_equal(part_board(&p), "LFFFF");
    }
}

/* docs/SCPS-TP.md section 2.4: "libscps doubles it after four resends, where losses are put down to
 * corruption after 64 and up to a second." */
static void embargo_grows(void **state)
{
    static const struct {
        enum scps_loss_cause cause;
        unsigned resends;
        scps_dur want;
    } cases[] = {
        {SCPS_LOSS_CONGESTION, 1, EMBARGO},       {SCPS_LOSS_CONGESTION, 4, EMBARGO},
        {SCPS_LOSS_CONGESTION, 5, 2 * EMBARGO},   {SCPS_LOSS_CONGESTION, 7, 8 * EMBARGO},
        {SCPS_LOSS_CONGESTION, 99, SCPS_SEC(60)}, /* at most rto_max */
        {SCPS_LOSS_CORRUPTION, 64, EMBARGO},      {SCPS_LOSS_CORRUPTION, 65, 2 * EMBARGO},
        {SCPS_LOSS_CORRUPTION, 99, SCPS_SEC(1)},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(state);
        p.cfg.c.loss_cause = cases[i].cause;
        part_send(&p, 4, 1000);
        resend(0, cases[i].resends);
        assert_int_equal(look() - START, cases[i].want);
    }
}

/* DSACKs show that retransmissions were needless, and no RTT is measured in between: the embargo is
 * shorter than the round trip, and doubles with each, up to rto_max. An RTT sample ends that. */
static void embargo_backs_off(void **state)
{
    (void)state;
    part_send(&p, 4, 1000);
    resend(0, 1);
    for (unsigned i = 0; i < 3; i++)
        scps_rto_count_needless(&p.s.tx->rto);
    assert_int_equal(look() - START, 8 * EMBARGO);
    for (unsigned i = 0; i < 99; i++)
        scps_rto_count_needless(&p.s.tx->rto);
    assert_int_equal(look() - START, SCPS_SEC(60));
    scps_rto_measured(&p.s.tx->rto, RTT);
    assert_int_equal(look() - START, EMBARGO);
}

/* When the embargo has passed without a report, the segment is lost again: with SACK each that was
 * resent, without it only the one at SND.UNA. After a silence of two timeouts the retransmission
 * timer decides. */
static void no_report_comes(void **state)
{
    (void)state;
    for (int sack = 0; sack < 2; sack++) {
        begin(state);
        p.s.agreed.opts = sack ? SCPS_AGREED_SACK : 0;
        part_send(&p, 4, 1000);
        resend(0, 1);
        resend(2, 1);
        p.env.now += EMBARGO - 1;
        assert_int_equal(look(), START + EMBARGO);
        assert_string_equal(part_board(&p), "FFFF");
        p.env.now += 1;
        assert_int_equal(look(), 0);
        assert_string_equal(part_board(&p), sack ? "LFLF" : "LFFF");
    }
    begin(state);
    part_send(&p, 4, 1000);
    resend(0, 1);
    p.env.now += 2 * p.s.rtt.rto + 1;
    assert_int_equal(look(), 0);
    assert_string_equal(part_board(&p), "FFFF");
    p.cfg.c.loss_cause = SCPS_LOSS_CORRUPTION; /* six timeouts */
    assert_int_equal(look(), 0);
    assert_string_equal(part_board(&p), "LFFF");
}

/* docs/SCPS-TP.md section 2.3: holes are reported from below. At the end of the data, without SACK,
 * segments that were resent between two holes reported in succession have arrived; only silence at
 * SND.UNA makes the first of them lost. */
static void order_of_reports_shows_arrival(void **state)
{
    (void)state;
    p.s.snd.end = OCTET(4);
    part_send(&p, 4, 1000);
    for (uint32_t i = 0; i < 4; i++)
        resend(i, 1);
    p.env.now += RTT;
    named(0, 1, 0);
    named(3, 1, 0);
    p.env.now = START + EMBARGO;
    look();
    assert_string_equal(part_board(&p), "LFFL");
    begin(state);
    p.s.snd.end = OCTET(5); /* More data follows, so nothing is concluded. */
    part_send(&p, 4, 1000);
    for (uint32_t i = 0; i < 4; i++)
        resend(i, 1);
    p.env.now += RTT;
    named(0, 1, 0);
    named(3, 1, 0);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(scps_sb_at(&p.s.tx->sb, i)->flags & SCPS_SENT_PASSED, 0);
}

/* At the end of the data no report can name the last segments. The one with the FIN is lost after
 * its embargo. With SACK, those above all that has arrived are lost, too, if something sent after
 * them has arrived and no higher data was reported for an embargo. */
static void last_segments_of_the_data(void **state)
{
    (void)state;
    p.s.agreed.opts = SCPS_AGREED_SACK;
    p.s.snd.end = OCTET(4);
    scps_send_shut(&p.s.snd);
    part_send(&p, 4, 1000);
    part_send_flagged(&p, 1, SCPS_SENT_FIN);
    arrived(1);
    assert_int_equal(look(), START + EMBARGO);
    resend(0, 1);
    p.env.now += RTT;
    arrived(0);
    look();
    assert_string_equal(part_board(&p), "AAFFF");
    p.env.now = START + EMBARGO;
    look();
    assert_string_equal(part_board(&p), "AALLL");
    begin(state);
    part_send(&p, 4, 1000); /* Without a FIN more data may follow. */
    p.s.agreed.opts = SCPS_AGREED_SACK;
    p.s.snd.end = p.s.snd.nxt;
    p.env.now += 2 * EMBARGO;
    assert_int_equal(look(), 0);
    assert_string_equal(part_board(&p), "FFFF");
}

/* docs/SCPS-TP.md section 2.4: "unless a delay (`snack-delay`) gives late segments time to
 * arrive". */
static void reaction_is_postponed(void **state)
{
    const scps_dur delay = SCPS_MS(50);
    (void)state;

    p.cfg.c.snack_delay = delay;
    part_send(&p, SCPS_SNACKWAIT_MAX + 24, 1000);
    p.env.now += RTT;
    assert_int_equal(named(0, 4, 0), p.env.now + delay);
    assert_int_equal(named(1, 2, 0), 0); /* a part of the same hole */
    p.env.now += delay / 2;
    assert_int_equal(named(6, 1, 0), p.env.now + delay);
    arrived(1);
    assert_int_equal(look(), p.env.now + delay / 2);
    assert_int_equal(sum.lost, 0);
    p.env.now += delay / 2;
    assert_int_equal(look(), p.env.now + delay / 2);
    assert_int_equal(sum.lost, 3000);
    p.env.now += delay / 2;
    assert_int_equal(look(), 0);
    assert_int_equal(sum.lost, 4000);
    /* A limited number of holes can wait; for another one there is no delay. */
    for (uint16_t i = 0; i < SCPS_SNACKWAIT_MAX; i++)
        named((uint16_t)(8 + i), 1, 0);
    assert_int_equal(sum.lost, 4000);
    named(SCPS_SNACKWAIT_MAX + 14, 1, 0);
    assert_int_equal(sum.lost, 5000);
}

/* In fixed memory the place for postponed reports is reserved if snack_delay is configured; without
 * it, a report is processed at once although the path has reordered. */
static void postponed_in_fixed_memory(void **state)
{
    static const struct scps_fixed fixed;
    (void)state;

    p.env.fixed = &fixed;
    part_send(&p, 8, 1000);
    p.env.now += RTT;
    p.s.tx->heard_at = p.env.now;
    p.s.tx->reorder.extent = SCPS_MS(10);
    named(0, 1, 0);
    assert_int_equal(sum.lost, 1000);
    p.cfg.c.snack_delay = SCPS_MS(50);
    assert_int_equal(named(2, 1, 0), p.env.now + SCPS_MS(50));
    assert_int_equal(sum.lost, 1000);
}

/* A peer that collects its reports, as in strictly delayed mode, is waited for: three times its
 * delay. With a congestion window the delay may be that of a queue, so it does not count. */
static void late_reports(void **state)
{
    (void)state;
    part_send(&p, 4, 1000);
    p.env.now += RTT + SCPS_MS(30);
    p.s.tx->heard_at = p.env.now;
    sum.oldest_sent = START;
    scps_snacktx_measure(&p.s, &sum);
    assert_false(scps_snacktx_reports_late(&p.s));
    resend(0, 1);
    assert_int_equal(look() - p.env.now, EMBARGO);
    p.s.ctl.cwnd = SCPS_CWND_OPEN;
    assert_true(scps_snacktx_reports_late(&p.s));
    assert_int_equal(look() - p.env.now, RTT + 3 * SCPS_MS(30) + SCPS_MS(10));
    /* The longest delay counts in the interval of two round trips in progress and in the next. */
    for (int i = 0; i < 2; i++) {
        assert_true(scps_snacktx_reports_late(&p.s));
        p.env.now += 2 * RTT + 1;
        sum.oldest_sent = p.env.now - RTT;
        scps_snacktx_measure(&p.s, &sum);
    }
    assert_false(scps_snacktx_reports_late(&p.s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(segments_that_a_report_includes),
        CASE(whole_segments),
        CASE(small_segments),
        CASE(bit_vector),
        CASE(reported_again),
        CASE(embargo_grows),
        CASE(embargo_backs_off),
        CASE(no_report_comes),
        CASE(order_of_reports_shows_arrival),
        CASE(last_segments_of_the_data),
        CASE(reaction_is_postponed),
        CASE(postponed_in_fixed_memory),
        CASE(late_reports),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
