/* SPDX-License-Identifier: MIT */
/* RTT samples without a connection: which acknowledgements of resent data give one (RFC 6298
 * section 3, RFC 7323 section 4), and what a sample changes (RFC 6298 section 2).
 *
 * The round trip is 100 ms. */
#include "core/sample.h"

#include "part_cases.h"

#define RTT SCPS_MS(100)

static struct scps_ts ts;
static struct scps_sample_view v;

static void prepare(void)
{
    p.cfg.c.rto_min = SCPS_MS(200);
    p.s.rtt.srtt = p.s.rtt.min = RTT;
    p.s.agreed.opts = SCPS_AGREED_TS;
    v = (struct scps_sample_view){
        .x = &p.s.ctx, .tx = p.s.tx, .rtt = &p.s.rtt, .agreed = &p.s.agreed, .ts = &ts, .was = 1};
}

/* Returns the RTT that an acknowledgement of resent data gives; -1: none. ago: age of the echoed
 * timestamp, µs; 0: there is no echo. */
static scps_dur resent(scps_dur ago, const struct scps_ack_result *sum)
{
    struct scps_seg seg = {.has = SCPS_HAS_TS};

    seg.tsecr = ago ? scps_ts_value(&ts, p.env.now - ago) : 0;
    return scps_sample_resent(&v, &seg, sum);
}

/* RFC 6298 section 3: "RTT samples MUST NOT be made using segments that were retransmitted (and
 * thus for which it is ambiguous whether the reply was for the first instance of the packet or a
 * later instance)", unless "the TCP timestamp option is employed". */
static void karn(void **state)
{
    struct scps_ack_result sum = scps_ack_result_none();
    (void)state;

    assert_int_equal(resent(SCPS_MS(150), &sum), SCPS_MS(150));
    assert_int_equal(resent(0, &sum), -1); /* A TSecr of 0 is no echo. */
    p.s.agreed.opts = 0;
    assert_int_equal(resent(SCPS_MS(150), &sum), -1);
    p.s.agreed.opts = SCPS_AGREED_TS;
    /* A TSecr from before the first transmission belongs to no segment that is acknowledged. */
    p.s.tx->rec.stamped = 1;
    p.s.tx->rec.first_stamp = scps_ts_value(&ts, START - SCPS_MS(120));
    assert_int_equal(resent(SCPS_MS(150), &sum), -1);
    assert_int_equal(resent(SCPS_MS(120), &sum), SCPS_MS(120));
}

/* RFC 7323 section 4.3: a duplicate is answered with the TSval of an earlier segment. If the peer
 * is not known to report duplicates (RFC 2883), an echo older than the last retransmission gives no
 * sample. */
static void old_echo(void **state)
{
    struct scps_ack_result sum = scps_ack_result_none();
    (void)state;

    sum.refilled = true;
    sum.refilled_at = START - SCPS_MS(110);
    assert_int_equal(resent(SCPS_MS(110), &sum), SCPS_MS(110));
    assert_int_equal(resent(SCPS_MS(111), &sum), SCPS_MS(111)); /* a tick of the clock */
    assert_int_equal(resent(SCPS_MS(300), &sum), -1);
    v.dsacks = true;
    assert_int_equal(resent(SCPS_MS(300), &sum), SCPS_MS(300));
}

/* A DSACK reports that the last retransmission arrived as a duplicate: the sample is the time since
 * that retransmission, if it is as long as the least round trip. */
static void duplicate_reported(void **state)
{
    struct scps_ack_result sum = scps_ack_result_none();
    struct scps_sent_segment r = {.from = 1, .len = 1000, .resends = 1, .sent = START - RTT};
    (void)state;

    sum.dsack_fresh = true;
    sum.dsack_to = 1001;
    sum.newest = &r;
    assert_int_equal(resent(SCPS_MS(300), &sum), RTT);
    r.sent = START - RTT + 1; /* too soon for the retransmission */
    assert_int_equal(resent(SCPS_MS(300), &sum), -1);
    r.sent = START - RTT;
    sum.dsack_to = 2001; /* The DSACK is of another segment. */
    assert_int_equal(resent(SCPS_MS(300), &sum), -1);
}

/* Four acknowledgements in a row that may be for the first transmission show that the timer is
 * shorter than the round trip. The shortest of their times is the sample. */
static void timer_too_short(void **state)
{
    struct scps_ack_result sum = scps_ack_result_none();
    (void)state;

    sum.refilled = true;
    sum.refilled_at = START;
    assert_int_equal(resent(SCPS_MS(400), &sum), -1);
    assert_int_equal(resent(SCPS_MS(350), &sum), -1);
    assert_int_equal(resent(SCPS_MS(500), &sum), -1);
    assert_int_equal(resent(SCPS_MS(600), &sum), SCPS_MS(350));
    scps_sample_sure(&p.s.tx->sample);
    assert_int_equal(resent(SCPS_MS(400), &sum), -1);
}

/* Times that were measured before the path became longer do not count for ever: at most seven
 * acknowledgements later the shortest time is one of the longer path. */
static void longer_path_while_the_timer_is_too_short(void **state)
{
    struct scps_ack_result sum = scps_ack_result_none();
    (void)state;

    sum.refilled = true;
    sum.refilled_at = START;
    for (int i = 0; i < 4; i++)
        assert_int_equal(resent(SCPS_MS(350), &sum), i < 3 ? -1 : SCPS_MS(350));
    for (int i = 0; i < 4; i++)
        assert_int_equal(resent(SCPS_SEC(4) + SCPS_MS(i), &sum), SCPS_MS(350));
    for (int i = 0; i < 3; i++)
        assert_int_equal(resent(SCPS_SEC(5), &sum), SCPS_SEC(4));
    assert_int_equal(resent(SCPS_SEC(3), &sum), SCPS_SEC(3));
}

/* Without timestamps, where losses are corruption, the time since the peer fell silent is taken in
 * place of an echo. */
static void timer_too_short_without_timestamps(void **state)
{
    struct scps_ack_result sum = scps_ack_result_none();
    (void)state;

    p.s.agreed.opts = 0;
    p.cfg.c.loss_cause = SCPS_LOSS_CORRUPTION;
    p.s.tx->rec.silent = 1;
    p.s.rtt.rto = SCPS_MS(300);
    scps_silence_since(&p.s.tx->silence, START - SCPS_MS(700));
    for (int i = 0; i < 3; i++)
        assert_int_equal(resent(0, &sum), -1);
    /* Karn's algorithm: a time that does not exceed the timeout would only end the backoff. */
    p.s.rtt.rto = SCPS_MS(700);
    assert_int_equal(resent(0, &sum), -1);
    p.s.rtt.rto--;
    assert_int_equal(resent(0, &sum), SCPS_MS(700));
    /* If the timer expires again, the round trip is not that long, and the first transmissions were
     * lost: no other such time counts until an RTT is certain. */
    scps_silence_since(&p.s.tx->silence, START - SCPS_SEC(2));
    for (int i = 0; i < 8; i++)
        assert_int_equal(resent(0, &sum), -1);
    scps_sample_sure(&p.s.tx->sample);
    for (int i = 0; i < 4; i++)
        assert_int_equal(resent(0, &sum), i < 3 ? -1 : SCPS_SEC(2));
    scps_sample_sure(&p.s.tx->sample);
    p.cfg.c.loss_cause = SCPS_LOSS_CONGESTION;
    for (int i = 0; i < 4; i++)
        assert_int_equal(resent(0, &sum), -1);
}

/* The same where losses are congestion, once the timer is at its longest: then no acknowledgement
 * would ever arrive before it expires. Until then each timeout backs it off. */
static void timer_at_its_longest_without_timestamps(void **state)
{
    struct scps_ack_result sum = scps_ack_result_none();
    (void)state;

    p.s.agreed.opts = 0;
    p.cfg.c.loss_cause = SCPS_LOSS_CONGESTION;
    p.cfg.c.rto_max = SCPS_SEC(60);
    p.s.tx->rec.silent = 1;
    p.s.rtt.rto = SCPS_SEC(1);
    scps_silence_since(&p.s.tx->silence, START - SCPS_SEC(9));
    for (int i = 0; i < 5; i++)
        scps_rto_keep(&p.s.tx->rto);
    for (int i = 0; i < 8; i++) /* The timer expires after 32 s. */
        assert_int_equal(resent(0, &sum), -1);
    scps_rto_keep(&p.s.tx->rto);
    for (int i = 0; i < 4; i++)
        assert_int_equal(resent(0, &sum), i < 3 ? -1 : SCPS_SEC(9));
}

/* Takes an RTT sample, µs (-1: none). newest: RTT of the segment that was sent last of those that
 * arrived, µs; -1: not known. */
static void take(scps_dur sample, bool by_clock, scps_dur newest)
{
    struct scps_cc_ack a = {.rtt = newest};

    scps_sample_take(p.s.tx, &p.s.ctx, &p.s.rtt, sample, by_clock, &a);
}

/* RFC 6298 section 2.3: RTTVAR = 3/4 RTTVAR + 1/4 |SRTT - R'|, SRTT = 7/8 SRTT + 1/8 R'. Section
 * 5.7: the backoff of the timer ends. */
static void a_sample(void **state)
{
    (void)state;
    p.s.rtt.rttvar = SCPS_MS(40);
    scps_rto_keep(&p.s.tx->rto);
    take(SCPS_MS(180), false, -1);
    assert_int_equal(p.s.rtt.rttvar, SCPS_MS(50));
    assert_int_equal(p.s.rtt.srtt, SCPS_MS(110));
    assert_int_equal(p.s.rtt.rto, SCPS_MS(310));
    assert_int_equal(p.s.tx->rto.kept, 0);
    assert_int_equal(p.s.tx->rto.latest, SCPS_MS(180));
    scps_rto_keep(&p.s.tx->rto);
    take(-1, false, SCPS_MS(90));
    /* Without an RTT sample of the newest segment, only the minimum RTT changes; the backoff is
     * kept. */
    assert_int_equal(p.s.tx->rto.kept, 1);
    assert_int_equal(p.s.rtt.srtt, SCPS_MS(110));
    assert_int_equal(scps_rtt_min(&p.s.rtt), SCPS_MS(90));
    /* A timestamp echo does not change the minimum: its clock has a tick of 1 ms. */
    take(SCPS_MS(50), true, -1);
    assert_int_equal(scps_rtt_min(&p.s.rtt), SCPS_MS(90));
    assert_int_equal(p.s.tx->rto.latest, SCPS_MS(50));
}

/* A sample that began before the end of an outage measures the outage. One of the length of an
 * ordinary timeout does not. */
static void across_an_outage(void **state)
{
    (void)state;
    p.s.tx->outage_over = START - SCPS_SEC(2);
    take(SCPS_SEC(2) + 1, false, -1);
    assert_int_equal(p.s.rtt.srtt, RTT);
    scps_sample_late(p.s.tx, &p.s.ctx, &p.s.rtt, SCPS_SEC(2) + 1);
    assert_int_equal(p.s.rtt.srtt, RTT);
    take(SCPS_SEC(2), false, -1);
    assert_int_equal(p.s.tx->rto.latest, SCPS_SEC(2));
    p.s.rtt.rto = SCPS_SEC(4);
    take(SCPS_SEC(3), false, -1);
    assert_int_equal(p.s.tx->rto.latest, SCPS_SEC(3));
    /* SRTT is from a guess. It is kept while RTTs of segments that were sent once are dropped, and
     * the first one that is taken replaces it. */
    p.s.tx->sample.guessed = true;
    p.s.rtt.srtt = SCPS_SEC(1);
    p.s.tx->outage_over = START - SCPS_SEC(20);
    take(SCPS_SEC(20) + 1, false, -1);
    assert_int_equal(p.s.rtt.srtt, SCPS_SEC(1));
    take(SCPS_SEC(2), false, -1);
    assert_int_equal(p.s.rtt.srtt, SCPS_SEC(2));
    assert_false(p.s.tx->sample.guessed);
    p.s.tx->rto.latest = SCPS_SEC(3);
    /* A clock that has wrapped: 24 days and more are no round trip. */
    p.s.tx->outage_over = 0;
    take(SCPS_SEC(INT64_C(86400) * 24), false, -1);
    assert_int_equal(p.s.tx->rto.latest, SCPS_SEC(3));
}

/* The congestion controller gets no RTT that is longer than the RTO of a segment that was sent
 * before the end of an outage, because such an RTT is no queueing delay. */
static void controllers_do_not_measure_outages(void **state)
{
    struct scps_cc_ack a = {.rtt = SCPS_SEC(2) - 1, .rtt_old = SCPS_SEC(2) + 1};
    (void)state;

    p.s.tx->outage_over = START - SCPS_SEC(2);
    scps_sample_take(p.s.tx, &p.s.ctx, &p.s.rtt, a.rtt_old, false, &a);
    assert_int_equal(a.rtt, SCPS_SEC(2) - 1);
    assert_int_equal(a.rtt_old, -1);
    /* Without a sample of the oldest segment, the RTT of the newest is removed, too. */
    a = (struct scps_cc_ack){.rtt = SCPS_SEC(2) + 1};
    scps_sample_take(p.s.tx, &p.s.ctx, &p.s.rtt, -1, false, &a);
    assert_int_equal(a.rtt, -1);
    assert_int_equal(a.rtt_old, 0);
    /* Up to an RTO the RTT may be that of the path. */
    p.s.rtt.rto = SCPS_SEC(4);
    a = (struct scps_cc_ack){.rtt = SCPS_SEC(3), .rtt_old = SCPS_SEC(4)};
    scps_sample_take(p.s.tx, &p.s.ctx, &p.s.rtt, a.rtt_old, false, &a);
    assert_int_equal(a.rtt, SCPS_SEC(3));
    assert_int_equal(a.rtt_old, SCPS_SEC(4));
}

/* Best effort: four answers in a row to data that was given up. */
static void late_answers(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(p.s.tx->rto.latest, 0);
        scps_sample_late(p.s.tx, &p.s.ctx, &p.s.rtt, -1); /* There is no echo. */
        scps_sample_late(p.s.tx, &p.s.ctx, &p.s.rtt, SCPS_MS(900 - 10 * i));
    }
    assert_int_equal(p.s.tx->rto.latest, SCPS_MS(870));
}

/* A delivery-rate sample of a resent segment is discarded if the acknowledgement may be for the
 * first transmission. */
static void rate_of_a_resent_segment(void **state)
{
    const struct scps_sent_segment r = {.sent = START - RTT};
    static const struct {
        scps_dur later, echo;
        bool kept;
    } cases[] = {{0, -1, true},
                 {-1, -1, false}, /* sooner than the least round trip */
                 {0, RTT + SCPS_TS_TICK, true},
                 {0, RTT + SCPS_TS_TICK + 1, false}};
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scps_cc_ack a = {
            .sample_bytes = 1, .prior_delivered = 1, .tx_in_flight = 1, .lost_since = 1};
        scps_sample_doubt(&p.s.rtt, START + cases[i].later, cases[i].echo, &r, &a);
        assert_int_equal(a.sample_bytes, cases[i].kept);
        assert_int_equal(a.prior_delivered, cases[i].kept);
        assert_int_equal(a.tx_in_flight, cases[i].kept);
        assert_int_equal(a.lost_since, cases[i].kept);
    }
}

/* Whether the first acknowledgement after a timeout shows that the RTO is shorter than the round
 * trip: it does if it cannot be for the last transmission, or comes later than the RTO. */
static void answered(void **state)
{
    static const struct {
        scps_dur min, ago;
        bool needless, counts;
    } cases[] = {{RTT, RTT - 1, false, true},
                 {RTT, RTT, false, false},
                 {RTT, RTT, true, true}, /* a DSACK has reported a needless retransmission */
                 {RTT, SCPS_MS(300), false, false},
                 {RTT, SCPS_MS(300) + 1, false, true},
                 {0, RTT, false, true}};
    struct scps_rto *rto = &p.s.tx->rto;
    (void)state;

    p.s.rtt.rto = SCPS_MS(300);
    scps_sample_answered(p.s.tx, &p.s.rtt, START, START - 1);
    assert_int_equal(rto->answered, 0); /* There was no timeout since the last RTT sample. */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        scps_rto_measured(rto, RTT);
        scps_rto_keep(rto);
        if (cases[i].needless)
            scps_rto_count_needless(rto);
        p.s.rtt.min = cases[i].min;
        scps_sample_answered(p.s.tx, &p.s.rtt, START, START - cases[i].ago);
        assert_int_equal(rto->answered, cases[i].counts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(karn),
        CASE(old_echo),
        CASE(duplicate_reported),
        CASE(timer_too_short),
        CASE(longer_path_while_the_timer_is_too_short),
        CASE(timer_too_short_without_timestamps),
        CASE(timer_at_its_longest_without_timestamps),
        CASE(a_sample),
        CASE(across_an_outage),
        CASE(controllers_do_not_measure_outages),
        CASE(late_answers),
        CASE(rate_of_a_resent_segment),
        CASE(answered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
