/* SPDX-License-Identifier: MIT */
/* Best effort at the sender without a connection: which data is given up, when, and how far SND.UNA
 * moves (CCSDS 714.0-B-2; docs/SCPS-TP.md section 7). */
#include "core/bets.h"

#include "core/betsrx.h"
#include "part_cases.h"

#define RTT      SCPS_MS(100)
#define OCTET(n) (1 + (scps_off)1000 * (n)) /* the first octet of segment n */

static struct scps_ack_result sum;

static void prepare(void)
{
    p.s.agreed.caps = SCPS_CAP_BETS;
    p.s.snd.edge = OCTET(100);
    p.s.rtt.min = RTT;
    p.cfg.c.bets_lifetime = SCPS_SEC(5);
    scps_tx_progress(p.s.tx, START);
    sum = scps_ack_result_none();
}

static bool due(scps_off old, uint32_t retries)
{
    return scps_bets_is_due(&p.s.tx->sb, p.s.snd.edge, old, retries);
}

static void resend(uint32_t idx, unsigned times)
{
    while (times--) {
        scps_sb_lose(&p.s.tx->sb, idx, &sum);
        scps_sb_resent(&p.s.tx->sb, idx, p.env.now);
    }
}

static void arrived(unsigned from, unsigned to)
{
    scps_sb_arrived(&p.s.tx->sb, p.env.now, OCTET(from), OCTET(to), RTT, &sum);
}

/* docs/SCPS-TP.md section 7: "The sender gives up the first unacknowledged segment after a number
 * of retransmissions": when it is lost once more. */
static void after_retransmissions(void **state)
{
    (void)state;
    assert_false(due(0, 0)); /* Nothing is outstanding. */
    part_send(&p, 2, 1000);
    assert_false(due(0, 0));
    resend(0, 3);
    assert_false(due(0, 3)); /* The third retransmission may still arrive. */
    scps_sb_lose(&p.s.tx->sb, 0, &sum);
    assert_true(due(0, 3));
    assert_false(due(0, 4));
    arrived(0, 1);
    assert_false(due(0, 3));
    /* An octet that was a window probe counts from the first time that the window was open. */
    begin(state);
    part_send_flagged(&p, 1, SCPS_SENT_PROBE);
    resend(0, 9);
    scps_bets_window_opened(&p.s.tx->bets, scps_sb_at(&p.s.tx->sb, 0), START);
    resend(0, 2);
    scps_sb_lose(&p.s.tx->sb, 0, &sum);
    assert_false(due(0, 2));
    resend(0, 1);
    scps_sb_lose(&p.s.tx->sb, 0, &sum);
    assert_true(due(0, 1));
    assert_false(due(0, 3));
}

/* A FIN is never given up, nor is a segment up to the right edge of the window: the peer would
 * accept nothing behind it. */
static void never_given_up(void **state)
{
    (void)state;
    part_send(&p, 1, 1000);
    p.s.snd.edge = OCTET(1) + 1;
    assert_true(due(OCTET(1), 0));
    p.s.snd.edge = OCTET(1);
    assert_false(due(OCTET(1), 0));
    begin(state);
    part_send_flagged(&p, 1, SCPS_SENT_FIN);
    assert_false(due(OCTET(1), 0));
    begin(state);
    part_send_flagged(&p, 2, SCPS_SENT_FIN); /* an octet of data and the FIN */
    assert_true(due(OCTET(1), 0));
}

/* All data that was sent when SND.UNA last moved is given up after bets_lifetime, and what was sent
 * later after the same time again. */
static void lifetime(void **state)
{
    (void)state;
    assert_int_equal(scps_bets_until(&p.s), SCPS_NEVER);
    part_send(&p, 2, 1000);
    assert_int_equal(scps_bets_arm(&p.s), START + SCPS_SEC(5));
    p.env.now += SCPS_SEC(4);
    part_send(&p, 1, 1000);
    assert_int_equal(scps_bets_arm(&p.s), START + SCPS_SEC(5));
    assert_int_equal(scps_bets_old(&p.s), 0);
    p.env.now += SCPS_SEC(1);
    assert_int_equal(scps_bets_old(&p.s), OCTET(2));
    assert_true(due(OCTET(2), 99));
    /* The oldest segment is given up; the lifetime of the other segments begins anew. */
    scps_off to, una = scps_bets_give_up(&p.s.tx->bets, &p.s.tx->sb, 1, p.env.now, &to);
    scps_send_acked(&p.s.snd, una);
    assert_int_equal(una, OCTET(1));
    assert_int_equal(scps_bets_arm(&p.s), p.env.now + SCPS_SEC(5));
    p.env.now += SCPS_SEC(5);
    assert_int_equal(scps_bets_old(&p.s), OCTET(3));
    p.cfg.c.bets_lifetime = 0;
    assert_int_equal(scps_bets_until(&p.s), SCPS_NEVER);
}

/* docs/SCPS-TP.md section 7: "Agreed by the BETS bit in both SYNs." */
static void agreed(void **state)
{
    (void)state;
    part_send(&p, 1, 1000);
    assert_true(scps_bets_keeps_open(&p.s));
    p.s.agreed.caps = 0;
    assert_false(scps_bets_keeps_open(&p.s));
    assert_int_equal(scps_bets_until(&p.s), SCPS_NEVER);
    p.s.agreed.caps = SCPS_CAP_BETS;
    p.s.established = 0;
    assert_false(scps_bets_keeps_open(&p.s));
}

/* SND.UNA passes the segment that is given up, and what follows it contiguously and has arrived.
 * The peer's SEG.ACK stays below, until the peer passes the hole, too. */
static void moves_past_arrived_data(void **state)
{
    struct scps_bets *b = &p.s.tx->bets;
    scps_off to, ack;
    (void)state;

    part_send(&p, 6, 1000);
    arrived(1, 3);
    assert_int_equal(scps_bets_give_up(b, &p.s.tx->sb, 1, START, &to), OCTET(3));
    assert_int_equal(to, OCTET(1));
    scps_send_acked(&p.s.snd, OCTET(3));
    assert_int_equal(scps_bets_peer_una(p.s.tx, p.s.snd.una), 1);
    scps_bets_heard(b, OCTET(2));
    assert_int_equal(scps_bets_peer_una(p.s.tx, p.s.snd.una), OCTET(2));
    /* A second segment is given up: the peer's highest SEG.ACK stays stored. */
    assert_int_equal(scps_bets_give_up(b, &p.s.tx->sb, OCTET(3), START, &to), OCTET(4));
    scps_send_acked(&p.s.snd, OCTET(4));
    assert_int_equal(scps_bets_peer_una(p.s.tx, p.s.snd.una), OCTET(2));
    /* The peer reaches SND.UNA, where data has arrived. */
    arrived(4, 5);
    ack = OCTET(4);
    assert_true(scps_bets_pass(b, &p.s.tx->sb, p.s.snd.una, p.s.snd.edge, &ack));
    assert_int_equal(ack, OCTET(5));
    assert_int_equal(b->gave_up_to, OCTET(5));
    ack = OCTET(4);
    assert_false(scps_bets_pass(b, &p.s.tx->sb, p.s.snd.una, p.s.snd.edge, &ack));
    assert_int_equal(ack, OCTET(4));
}

/* A report of data beyond the peer's window is false, and does not move SND.UNA. */
static void a_false_report(void **state)
{
    struct scps_bets *b = &p.s.tx->bets;
    scps_off to, ack = OCTET(1);
    (void)state;

    part_send(&p, 4, 1000);
    p.s.snd.edge = OCTET(2);
    scps_send_acked(&p.s.snd, scps_bets_give_up(b, &p.s.tx->sb, 1, START, &to));
    arrived(1, 3);
    assert_true(scps_bets_pass(b, &p.s.tx->sb, p.s.snd.una, p.s.snd.edge, &ack));
    assert_int_equal(ack, OCTET(2));
}

/* An acknowledgement proves an arrival only as long as the peer cannot have given the segment up:
 * the reference implementation waits 1.05 s (docs/SCPS-TP.md section 7). */
static void proof_of_arrival(void **state)
{
    const scps_dur wait = SCPS_BETS_WAIT_MIN;
    (void)state;

    assert_true(wait <= SCPS_MS(1050));
    assert_true(scps_bets_is_arrival(&p.s, OCTET(1), START - RTT - wait + 1));
    assert_false(scps_bets_is_arrival(&p.s, OCTET(1), START - RTT - wait));
    /* A queue has made the round trip longer: RTTVAR shows by how much a sample may be shorter. */
    p.s.rtt.srtt = 5 * RTT;
    p.s.rtt.rttvar = RTT / 2;
    assert_true(scps_bets_is_arrival(&p.s, OCTET(1), START - 3 * RTT - wait + 1));
    assert_false(scps_bets_is_arrival(&p.s, OCTET(1), START - 3 * RTT - wait));
    p.s.rtt.rttvar = 5 * RTT;
    assert_false(scps_bets_is_arrival(&p.s, OCTET(1), START - RTT - wait));
    p.cfg.c.bets_timeout = wait / 2;
    assert_true(scps_bets_is_arrival(&p.s, OCTET(1), START - RTT - wait / 2 + 1));
    assert_false(scps_bets_is_arrival(&p.s, OCTET(1), START - RTT - wait / 2));
    p.cfg.c.bets_timeout = 2 * wait;
    assert_false(scps_bets_is_arrival(&p.s, OCTET(1), START - RTT - wait));
    p.s.tx->bets.gave_up_to = OCTET(1);
    assert_false(scps_bets_is_arrival(&p.s, OCTET(1), START));
    assert_true(scps_bets_is_arrival(&p.s, OCTET(2), START));
    p.s.agreed.caps = 0;
    assert_true(scps_bets_is_arrival(&p.s, OCTET(1), 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(after_retransmissions),   CASE(never_given_up), CASE(lifetime),         CASE(agreed),
        CASE(moves_past_arrived_data), CASE(a_false_report), CASE(proof_of_arrival),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
