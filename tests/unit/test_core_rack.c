/* SPDX-License-Identifier: MIT */
/* RACK-TLP without a connection (RFC 8985): the reordering window (section 6.2 step 4), which
 * segments are lost (step 5), the timeout of a tail loss probe (section 7.2), and what its
 * acknowledgement says (section 7.4.2).
 *
 * The round trip is 100 ms. */
#include "core/rack.h"

#include "part_cases.h"

#define RTT      SCPS_MS(100)
#define OCTET(n) (1 + (scps_off)1000 * (n)) /* the first octet of segment n */

static struct scps_ack_result sum;

static void prepare(void)
{
    p.cfg.c.dupthresh = 3;
    p.s.agreed.opts = SCPS_AGREED_SACK;
    p.s.rtt.srtt = p.s.rtt.min = RTT;
    sum = scps_ack_result_none();
}

/* Processes an acknowledgement by which SND.UNA moves to segment una, and which reports segments
 * [from, to) as arrived; both 0: none. Returns true if a tail loss probe has repaired a loss. */
static bool acked(unsigned una, unsigned from, unsigned to)
{
    bool dup = p.s.snd.una == OCTET(una);

    sum = scps_ack_result_none();
    if (!dup) {
        scps_sb_ack(&p.s.tx->sb, p.env.now, OCTET(una), RTT, &sum);
        scps_send_acked(&p.s.snd, OCTET(una));
    }
    if (to)
        scps_sb_arrived(&p.s.tx->sb, p.env.now, OCTET(from), OCTET(to), RTT, &sum);
    return scps_rack_news(&p.s, &sum, dup, to, false);
}

static scps_time judge(void)
{
    return scps_rack_judge(&p.s, &sum);
}

/* Section 6.2 step 4: "If RACK.reordering_seen is FALSE: If in Fast or RTO recovery: Return 0; Else
 * if RACK.segs_sacked >= DupThresh: Return 0. Return min(RACK.reo_wnd_mult * RACK.min_RTT / 4,
 * SRTT)". */
static void reordering_window(void **state)
{
    const struct scps_tx *tx = p.s.tx;
    (void)state;

    assert_int_equal(scps_rack_window(tx, &p.s.rtt, 3), RTT / 4);
    p.s.tx->rec.episode = SCPS_EPISODE_RTO;
    assert_int_equal(scps_rack_window(tx, &p.s.rtt, 3), 0);
    p.s.tx->rec.episode = SCPS_EPISODE_NONE;
    p.s.tx->sb.arrived_recs = 2;
    assert_int_equal(scps_rack_window(tx, &p.s.rtt, 3), RTT / 4);
    p.s.tx->sb.arrived_recs = 3;
    assert_int_equal(scps_rack_window(tx, &p.s.rtt, 3), 0);
    scps_rack_reordered(&p.s.tx->rack);
    assert_int_equal(scps_rack_window(tx, &p.s.rtt, 3), RTT / 4);
    p.s.tx->rack.steps = 2;
    assert_int_equal(scps_rack_window(tx, &p.s.rtt, 3), 3 * RTT / 4);
    p.s.tx->rack.steps = 9;
    assert_int_equal(scps_rack_window(tx, &p.s.rtt, 3), RTT);
}

/* Section 6.2 step 4: the multiplier grows once "per round that sees DSACK", and is reset after 16
 * recoveries without a DSACK. */
static void window_follows_dsack(void **state)
{
    struct scps_rack *rk = &p.s.tx->rack;
    (void)state;

    part_send(&p, 4, 1000);
    sum.dsack = true;
    scps_rack_news(&p.s, &sum, true, true, false);
    assert_int_equal(rk->steps, 1);
    scps_rack_news(&p.s, &sum, true, true, false);
    assert_int_equal(rk->steps, 1);
    scps_send_acked(&p.s.snd, OCTET(4)); /* "SND.UNA >= RACK.dsack_round" */
    scps_rack_news(&p.s, &sum, true, true, false);
    assert_int_equal(rk->steps, 2);
    sum.dsack = false;
    for (int i = 1; i <= 16; i++) {
        assert_int_equal(rk->steps, 2);
        p.s.tx->rec.episode = SCPS_EPISODE_FAST;
        scps_rack_news(&p.s, &sum, false, false, false);
        p.s.tx->rec.episode = SCPS_EPISODE_NONE;
        scps_rack_news(&p.s, &sum, false, false, false);
    }
    assert_int_equal(rk->steps, 0);
    /* A recovery that begins after one acknowledgement, and ends with the next, counts, too. */
    sum.dsack = true;
    scps_send_acked(&p.s.snd, OCTET(5));
    scps_rack_news(&p.s, &sum, true, true, false);
    sum.dsack = false;
    for (int i = 1; i <= 16; i++) {
        assert_int_equal(rk->steps, 1);
        scps_rack_news(&p.s, &sum, false, false, true);
    }
    assert_int_equal(rk->steps, 0);
}

/* Section 6.2 step 5: a segment that was sent before the latest one delivered is lost when
 * "Segment.xmit_ts + RACK.rtt + RACK.reo_wnd" is not after now. The timer expires for the first
 * segment that becomes lost. */
static void lost_by_time(void **state)
{
    (void)state;
    part_send(&p, 1, 1000);
    p.env.now += SCPS_MS(10);
    part_send(&p, 2, 1000);
    assert_int_equal(judge(), 0); /* Nothing has arrived. */
    p.env.now = START + SCPS_MS(10) + RTT;
    acked(0, 2, 3);
    assert_int_equal(p.s.tx->rack.rtt, RTT);
    assert_int_equal(judge(), START + RTT + RTT / 4);
    assert_string_equal(part_board(&p), "FFA");
    p.env.now = START + RTT + RTT / 4 - 1;
    assert_int_equal(scps_rack_look(&p.s, &sum), START + RTT + RTT / 4);
    p.env.now += 1;
    assert_int_equal(scps_rack_look(&p.s, &sum), START + SCPS_MS(10) + RTT + RTT / 4);
    assert_string_equal(part_board(&p), "LFA");
    p.env.now = START + SCPS_MS(10) + RTT + RTT / 4;
    assert_int_equal(scps_rack_look(&p.s, &sum), 0);
    assert_string_equal(part_board(&p), "LLA");
    assert_int_equal(sum.lost, 2000);
}

/* Section 6.2 step 2: a retransmission is left out of RACK.rtt if an earlier transmission may have
 * been acknowledged, and the other segments of the same acknowledgement count. The round trip has
 * grown to 220 ms, so that a tail loss probe is sent before that acknowledgement comes. */
static void an_ambiguous_probe(void **state)
{
    const scps_dur grown = SCPS_MS(220);
    (void)state;

    for (int how = 0; how < 3; how++) {
        struct scps_scoreboard *sb = &p.s.tx->sb;
        scps_off una = p.s.snd.una / 1000;
        scps_time sent = p.env.now;

        part_send(&p, 5, 1000);
        p.env.now += RTT;
        acked((unsigned)una + 1, 0, 0);
        assert_int_equal(p.s.tx->rack.rtt, RTT);
        p.env.now = sent + SCPS_MS(200);
        scps_sb_resent(sb, sb->tail - 1, p.env.now); /* the probe */
        p.env.now = sent + grown;
        if (how == 0) { /* a SACK block with the probe and the two segments before it */
            acked((unsigned)una + 1, (unsigned)una + 2, (unsigned)una + 5);
            assert_int_equal(p.s.tx->rack.rtt, grown);
            acked((unsigned)una + 5, 0, 0);
            continue;
        }
        sum = scps_ack_result_none();
        if (how == 1) /* SACK reports the probe first. */
            scps_sb_arrived(sb, p.env.now, OCTET(una + 4), OCTET(una + 5), RTT, &sum);
        scps_sb_ack(sb, p.env.now, OCTET(una + 5), RTT, &sum);
        scps_send_acked(&p.s.snd, OCTET(una + 5));
        scps_rack_news(&p.s, &sum, false, how == 1, false);
        assert_int_equal(p.s.tx->rack.rtt, grown);
    }
}

/* A segment that was sent after all that has arrived is not lost, however old it is. */
static void sent_later(void **state)
{
    (void)state;
    part_send(&p, 3, 1000);
    p.env.now += RTT;
    acked(0, 1, 2);
    assert_int_equal(judge(), p.env.now + RTT / 4);
    p.env.now += SCPS_SEC(5);
    assert_int_equal(scps_rack_look(&p.s, &sum), 0);
    assert_string_equal(part_board(&p), "LAF");
}

/* A lost retransmission is detected like any other segment, by the time of its last
 * transmission. */
static void lost_retransmission(void **state)
{
    uint32_t idx;
    (void)state;

    part_send(&p, 4, 1000);
    p.env.now += RTT;
    acked(0, 1, 4);
    judge();
    assert_string_equal(part_board(&p), "LAAA");
    p.s.tx->rec.episode = SCPS_EPISODE_FAST;
    assert_true(scps_sb_next_lost(&p.s.tx->sb, &idx));
    scps_sb_resent(&p.s.tx->sb, idx, p.env.now);
    part_send(&p, 1, 1000);
    p.env.now += RTT;
    acked(0, 4, 5);
    assert_int_equal(judge(), 0);
    assert_string_equal(part_board(&p), "LAAAA");
}

/* Where the peer reports its holes by SNACK, nothing is concluded about data below the highest
 * arrived one: the peer may not have reported it yet. */
static void holes_reported_by_snack(void **state)
{
    (void)state;
    p.s.agreed.caps = SCPS_CAP_SNACK1;
    p.s.agreed.adv_mss = 1000;
    part_send(&p, 4, 1000);
    p.env.now += SCPS_SEC(1);
    acked(0, 2, 3);
    assert_int_equal(judge(), 0);
    assert_string_equal(part_board(&p), "FFAF");
}

/* Section 7.2: "If SRTT is available: PTO = 2 * SRTT; If FlightSize is one segment: PTO +=
 * TLP.max_ack_delay. Else: PTO = 1 sec. If Now() + PTO > TCP_RTO_expiration(): PTO =
 * TCP_RTO_expiration() - Now()". */
static void probe_timeout(void **state)
{
    const scps_time most = START + SCPS_SEC(60);
    (void)state;

    assert_int_equal(scps_rack_probe_at(&p.s, most), SCPS_NEVER); /* Nothing is outstanding. */
    part_send(&p, 1, 1000);
    p.s.tx->sent_at = START;
    assert_int_equal(scps_rack_probe_at(&p.s, most), START + 2 * RTT + SCPS_MS(200));
    part_send(&p, 1, 1000);
    assert_int_equal(scps_rack_probe_at(&p.s, most), START + 2 * RTT);
    assert_int_equal(scps_rack_probe_at(&p.s, START + RTT), START + RTT);
    scps_tx_progress(p.s.tx, START + SCPS_MS(7));
    assert_int_equal(scps_rack_probe_at(&p.s, most), START + SCPS_MS(7) + 2 * RTT);
    p.s.rtt.srtt = 0;
    assert_int_equal(scps_rack_probe_at(&p.s, most), START + SCPS_MS(7) + SCPS_SEC(1));
    p.s.rtt.rto = SCPS_SEC(3);
    assert_int_equal(scps_rack_wait(&p.s.rtt, START), START + SCPS_SEC(1));
    p.s.rtt.srtt = RTT;
    assert_int_equal(scps_rack_wait(&p.s.rtt, START), START + 2 * RTT);
    p.s.rtt.rto = RTT;
    assert_int_equal(scps_rack_wait(&p.s.rtt, START), START + RTT);
}

/* Section 7.2: there is no probe in recovery, nor while SACK reports a hole; section 7.3: "there is
 * no other previous loss probe still in flight", and "the sender has obtained an RTT measurement
 * since the last loss probe transmission". */
static void no_probe(void **state)
{
    const scps_time most = START + SCPS_SEC(60);
    (void)state;

    part_send(&p, 4, 1000);
    assert_int_not_equal(scps_rack_probe_at(&p.s, most), SCPS_NEVER);
    p.s.tx->rec.episode = SCPS_EPISODE_FAST;
    assert_int_equal(scps_rack_probe_at(&p.s, most), SCPS_NEVER);
    p.s.tx->rec.episode = SCPS_EPISODE_NONE;
    p.s.tx->sb.arrived_recs = 1;
    assert_int_equal(scps_rack_probe_at(&p.s, most), SCPS_NEVER);
    p.s.tx->sb.arrived_recs = 0;
    p.s.tx->sb.lost = 1;
    assert_int_equal(scps_rack_probe_at(&p.s, most), SCPS_NEVER);
    p.s.tx->sb.lost = 0;
    scps_rto_probed(&p.s.tx->rto);
    assert_int_equal(scps_rack_probe_at(&p.s, most), SCPS_NEVER);
    scps_rto_outage_over(&p.s.tx->rto, false); /* The end of an outage measures no round trip. */
    assert_int_equal(scps_rack_probe_at(&p.s, most), SCPS_NEVER);
    scps_rto_measured(&p.s.tx->rto, RTT);
    assert_int_not_equal(scps_rack_probe_at(&p.s, most), SCPS_NEVER);
    scps_rack_probed(&p.s.tx->rack, p.s.snd.nxt, true);
    assert_int_equal(scps_rack_probe_at(&p.s, most), SCPS_NEVER);
}

/* Section 7.4.2: a retransmission that was the probe has repaired a loss if SEG.ACK gets beyond
 * TLP.end_seq without a DSACK or a duplicate acknowledgement without SACK before. */
static void probe_repaired_a_loss(void **state)
{
    (void)state;
    part_send(&p, 2, 1000);
    scps_rack_probed(&p.s.tx->rack, p.s.snd.nxt, true);
    assert_false(acked(1, 0, 0));
    /* This acknowledgement may be for the first transmission of the last segment, so the probe's
     * result is not known yet. */
    assert_false(acked(2, 0, 0));
    assert_int_not_equal(p.s.tx->rack.probe, 0);
    part_send(&p, 1, 1000);
    assert_true(acked(3, 0, 0));
    assert_int_equal(p.s.tx->rack.probe, 0);
}

/* It was needless after a DSACK for it ("ACK has a DSACK option matching TLP.end_seq") or after a
 * duplicate ("ACK is a DUPACK without any SACK option"). New data repairs nothing. */
static void probe_was_needless(void **state)
{
    (void)state;
    for (int dsack = 0; dsack < 2; dsack++) {
        begin(state);
        part_send(&p, 2, 1000);
        scps_rack_probed(&p.s.tx->rack, p.s.snd.nxt, true);
        assert_false(acked(2, 0, 0));
        if (dsack) {
            sum.dsack = true;
            assert_false(scps_rack_news(&p.s, &sum, true, true, false));
        } else {
            assert_false(acked(2, 0, 0));
        }
        assert_int_equal(p.s.tx->rack.probe, 0);
        part_send(&p, 1, 1000);
        assert_false(acked(3, 0, 0));
    }
    /* A duplicate with a SACK block decides nothing: a later acknowledgement does. */
    begin(state);
    part_send(&p, 2, 1000);
    scps_rack_probed(&p.s.tx->rack, p.s.snd.nxt, true);
    assert_false(acked(2, 0, 0));
    assert_false(scps_rack_news(&p.s, &sum, true, true, false));
    part_send(&p, 1, 1000);
    assert_true(acked(3, 0, 0));
    begin(state);
    part_send(&p, 2, 1000);
    scps_rack_probed(&p.s.tx->rack, p.s.snd.nxt, false);
    part_send(&p, 1, 1000);
    assert_false(acked(3, 0, 0));
    assert_int_equal(p.s.tx->rack.probe, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(reordering_window),     CASE(window_follows_dsack),
        CASE(lost_by_time),          CASE(sent_later),
        CASE(lost_retransmission),   CASE(holes_reported_by_snack),
        CASE(probe_timeout),         CASE(no_probe),
        CASE(probe_repaired_a_loss), CASE(probe_was_needless),
        CASE(an_ambiguous_probe),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
