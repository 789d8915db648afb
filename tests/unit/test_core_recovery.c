/* SPDX-License-Identifier: MIT */
/* Recovery episodes without a connection: when one ends, how much may be sent during it (RFC 6937),
 * and what shows that it was spurious: F-RTO (RFC 5682), Eifel (RFC 3522), DSACK (RFC 3708). */
#include "core/recovery.h"

#include "core/tx.h"
#include "part_cases.h"

#define RTT      SCPS_MS(100)
#define OCTET(n) (1 + (scps_off)1000 * (n)) /* the first octet of segment n */

static const struct scps_cc_ops ops = {.name = "test"};
static struct scps_ack_result sum;

/* Ten segments were sent a round trip ago. */
static void prepare(void)
{
    p.cfg.c.cc = &ops;
    p.cfg.c.spurious_undo = true;
    p.s.agreed.opts = SCPS_AGREED_SACK;
    p.s.rtt.srtt = p.s.rtt.min = RTT;
    p.s.ctl.cwnd = p.s.tx->saved_ctl.cwnd = 10000;
    part_send(&p, 10, 1000);
    p.env.now += RTT;
    p.s.tx->heard_at = p.env.now;
    sum = scps_ack_result_none();
}

/* Processes an acknowledgement by which SND.UNA moves to segment una, and which reports segments
 * [from, to) as arrived; both 0: none. tsecr 0: it has no timestamps. */
static enum scps_recovery_verdict acked(unsigned una, unsigned from, unsigned to, uint32_t tsecr)
{
    struct scps_seg seg = {.has = tsecr ? SCPS_HAS_TS : 0, .tsecr = tsecr};
    scps_off was = p.s.snd.una;

    sum = scps_ack_result_none();
    scps_sb_ack(&p.s.tx->sb, p.env.now, OCTET(una), RTT, &sum);
    scps_send_acked(&p.s.snd, OCTET(una));
    if (to)
        scps_sb_arrived(&p.s.tx->sb, p.env.now, OCTET(from), OCTET(to), RTT, &sum);
    return scps_recovery_acked(&p.s, &sum, was, &seg);
}

static void lose(uint32_t idx)
{
    scps_sb_lose(&p.s.tx->sb, idx, &sum);
}

/* Sends lost segment idx again. */
static void resend(uint32_t idx)
{
    static const struct scps_ts ts;
    struct scps_sent_segment before = *scps_sb_at(&p.s.tx->sb, idx);

    scps_recovery_resent(&p.s.tx->rec, &before, &ts, p.env.now);
    scps_sb_resent(&p.s.tx->sb, idx, p.env.now);
}

/* RFC 6582 section 3.2 step 3: a full acknowledgement covers all data up to the recovery point and
 * ends the episode; a partial one does not. */
static void recovery_point(void **state)
{
    struct scps_recovery *rec = &p.s.tx->rec;
    (void)state;

    lose(0);
    scps_recovery_begin(&p.s, SCPS_BY_DUPACK);
    assert_int_equal(rec->point, OCTET(10));
    assert_true(scps_recovery_goes_on(&p.s, 0));
    resend(0);
    part_send(&p, 1, 1000); /* Later data does not belong to the episode. */
    assert_int_equal(acked(9, 0, 0, 0), SCPS_RECOVERY_GOES_ON);
    assert_true(rec->partial);
    assert_int_equal(acked(10, 0, 0, 0), SCPS_RECOVERY_OVER);
    assert_int_equal(rec->episode, SCPS_EPISODE_NONE);
    /* An ECN echo in an acknowledgement of all data begins nothing that must be repaired. */
    acked(11, 0, 0, 0);
    *scps_sb_at(&p.s.tx->sb, p.s.tx->sb.head) = (struct scps_sent_segment){.sent = 1};
    scps_recovery_begin(&p.s, SCPS_BY_ECN);
    assert_int_equal(rec->first_sent, 0); /* No segment is outstanding, so there is no record. */
    assert_false(scps_recovery_goes_on(&p.s, 1000));
    assert_int_equal(rec->episode, SCPS_EPISODE_NONE);
}

/* RFC 6937 section 3: "sndcnt = CEIL(prr_delivered * ssthresh / RecoverFS) - prr_out" while pipe is
 * above ssthresh, then "limit = MAX(prr_delivered - prr_out, DeliveredData) + MSS". */
static void proportional_rate(void **state)
{
    struct scps_recovery *rec = &p.s.tx->rec;
    (void)state;

    lose(0);
    scps_sb_arrived(&p.s.tx->sb, p.env.now, OCTET(1), OCTET(2), RTT, &sum);
    scps_recovery_begin(&p.s, SCPS_BY_SACK);
    p.s.ctl.cwnd = 5000; /* ssthresh */
    scps_recovery_goes_on(&p.s, 1000);
    /* pipe is 8000. The first retransmission leaves whatever PRR says. */
    assert_int_equal(rec->window, 8000 + 1000);
    resend(0);
    scps_recovery_sent(rec, 1000);
    acked(0, 2, 4, 0); /* pipe 7000, prr_delivered 3000: half of it, less prr_out */
    assert_int_equal(rec->window, 7000 + 501);
    acked(0, 4, 8, 0); /* pipe 3000 is below ssthresh: up to it, prr_delivered 7000 */
    assert_int_equal(rec->window, 3000 + 2000);
    scps_recovery_sent(rec, 6000);
    acked(0, 8, 9, 0); /* pipe 2000; limit: what has arrived now and a segment */
    assert_int_equal(rec->window, 2000 + 2000);
    /* Losses that are found later leave the pipe, but do not permit as much at once. */
    lose(9);
    scps_recovery_lost(&p.s, 1000, 0);
    assert_int_equal(rec->window, 1000 + 2000);
}

/* RFC 5682 section 2.1, without SACK: after a timeout the first acknowledgement must advance
 * SND.UNA and not cover all that was sent before; the second one that advances it shows that the
 * timeout was spurious. Section 3.1 step 2: with SACK, duplicates before them do not count. */
static void frto(void **state)
{
    static const struct {
        bool sack, ts, dup_first, dup_second;
        enum scps_recovery_verdict want;
    } cases[] = {
        {false, false, false, false, SCPS_RECOVERY_IMAGINED},
        {true, false, false, false, SCPS_RECOVERY_IMAGINED},
        {false, false, true, false, SCPS_RECOVERY_GOES_ON},
        {true, false, true, false, SCPS_RECOVERY_IMAGINED},
        {false, false, false, true, SCPS_RECOVERY_GOES_ON}, /* step 3a */
        {false, true, false, false, SCPS_RECOVERY_GOES_ON}, /* Timestamps decide instead. */
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(state);
        p.s.agreed.opts =
            (cases[i].sack ? SCPS_AGREED_SACK : 0) | (cases[i].ts ? SCPS_AGREED_TS : 0);
        scps_recovery_timeout(&p.s);
        resend(0);
        if (cases[i].dup_first)
            assert_int_equal(acked(0, 0, 0, 0), SCPS_RECOVERY_GOES_ON);
        assert_int_equal(acked(2, 0, 0, 0), SCPS_RECOVERY_GOES_ON);
        assert_int_equal(cases[i].dup_second ? acked(2, 0, 0, 0) : acked(4, 0, 0, 0),
                         cases[i].want);
    }
    /* Section 2.1 step 2a: the first acknowledgement covers all data that was sent before. */
    begin(state);
    scps_recovery_timeout(&p.s);
    resend(0);
    assert_int_equal(acked(10, 0, 0, 0), SCPS_RECOVERY_OVER);
    /* A second timeout is not examined: "if the TCP sender is already in RTO recovery". */
    begin(state);
    scps_recovery_timeout(&p.s);
    resend(0);
    p.env.now += SCPS_SEC(1);
    scps_recovery_timeout(&p.s);
    assert_int_equal(p.s.tx->rec.frto, 0);
}

/* RFC 3522 section 3.2 steps 4 and 5: the loss was spurious if the timestamp that the first
 * acceptable acknowledgement echoes is older than that of the retransmission. */
static void eifel(void **state)
{
    static const struct {
        scps_dur older; /* by how much the echo is older than the retransmission */
        bool dsack, bets;
        enum scps_recovery_verdict want;
    } cases[] = {
        {RTT, false, false, SCPS_RECOVERY_IMAGINED},
        {0, false, false, SCPS_RECOVERY_GOES_ON},
        /* A duplicate is answered with an older timestamp (RFC 7323 section 4.3). */
        {RTT, true, false, SCPS_RECOVERY_GOES_ON},
        /* The echo is older than the first transmission, so it is not that of the segment. */
        {RTT + SCPS_MS(1), false, false, SCPS_RECOVERY_GOES_ON},
        /* The peer may have given the hole up: it acknowledges what has not arrived. */
        {RTT, false, true, SCPS_RECOVERY_GOES_ON},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(state);
        p.s.agreed.opts |= SCPS_AGREED_TS;
        p.s.agreed.caps = cases[i].bets ? SCPS_CAP_BETS : 0;
        lose(0);
        scps_recovery_begin(&p.s, SCPS_BY_SACK);
        resend(0);
        uint32_t echo = (uint32_t)((p.env.now - cases[i].older) / 1000);
        p.env.now += SCPS_MS(10) + (cases[i].bets ? SCPS_SEC(9) : 0);
        scps_sb_ack(&p.s.tx->sb, p.env.now, OCTET(1), RTT, &sum);
        scps_send_acked(&p.s.snd, OCTET(1));
        sum.dsack_fresh = cases[i].dsack;
        struct scps_seg seg = {.has = SCPS_HAS_TS, .tsecr = echo};
        assert_int_equal(scps_recovery_acked(&p.s, &sum, 1, &seg), cases[i].want);
    }
    /* The setting switches the detection off. */
    begin(state);
    p.cfg.c.spurious_undo = false;
    p.s.agreed.opts |= SCPS_AGREED_TS;
    lose(0);
    scps_recovery_begin(&p.s, SCPS_BY_SACK);
    resend(0);
    assert_int_equal(acked(1, 0, 0, (uint32_t)(START / 1000)), SCPS_RECOVERY_GOES_ON);
}

/* RFC 3708: the episode was spurious when the peer has reported each resent segment as a duplicate.
 * RFC 2883 section 5.1: if there are more duplicates of segments that were not resent than there
 * were retransmissions, the network duplicates segments. */
static void duplicates(void **state)
{
    struct scps_recovery *rec = &p.s.tx->rec;
    (void)state;

    for (uint32_t i = 0; i < 3; i++)
        lose(i);
    scps_recovery_begin(&p.s, SCPS_BY_SACK);
    for (uint32_t i = 0; i < 3; i++)
        resend(i);
    assert_false(scps_recovery_dsack(rec, OCTET(0), OCTET(1)));
    assert_false(scps_recovery_dsack(rec, OCTET(1), OCTET(2)));
    assert_false(scps_recovery_dsack(rec, OCTET(5), OCTET(6))); /* It was not resent. */
    assert_true(scps_recovery_dsack(rec, OCTET(2), OCTET(3)));
    begin(state);
    rec = &p.s.tx->rec;
    lose(0);
    scps_recovery_begin(&p.s, SCPS_BY_SACK);
    resend(0);
    assert_false(scps_recovery_dsack(rec, OCTET(5), OCTET(6)));
    assert_false(scps_recovery_dsack(rec, OCTET(6), OCTET(7)));
    assert_false(scps_recovery_dsack(rec, OCTET(0), OCTET(1)));
}

/* RFC 4015 section 1: all that was declared lost arrives before it is resent, so nothing was
 * lost. */
static void nothing_resent(void **state)
{
    for (int all = 0; all < 2; all++) {
        begin(state);
        lose(0);
        lose(1);
        scps_recovery_begin(&p.s, SCPS_BY_SACK);
        assert_int_equal(acked(all ? 2 : 1, 0, 0, 0),
                         all ? SCPS_RECOVERY_IMAGINED : SCPS_RECOVERY_GOES_ON);
    }
}

/* RFC 8985 section 6.3: data sent less than a round trip ago is not lost at a timeout, if the peer
 * reports what has arrived; otherwise all is (RFC 5681 section 3.1). */
static void what_a_timeout_loses(void **state)
{
    for (int sack = 0; sack < 2; sack++) {
        begin(state);
        p.s.agreed.opts = sack ? SCPS_AGREED_SACK : 0;
        p.env.now += 1;
        part_send(&p, 2, 1000);
        p.env.now += RTT - 1;
        scps_recovery_timeout(&p.s);
        assert_string_equal(part_board(&p), sack ? "LLLLLLLLLLFF" : "LLLLLLLLLLLL");
        assert_true(scps_recovery_is_of_outage(&p.s.tx->rec, 1));
        assert_false(scps_recovery_is_of_outage(&p.s.tx->rec, OCTET(1)));
    }
}

/* An outage explains an episode that began because no report came in time, as one that began with
 * a timeout; it does not explain one that a SACK began. */
static void silence_before_a_timeout(void **state)
{
    const enum scps_evidence evidence[] = {SCPS_BY_SACK, SCPS_BY_RESEND};

    for (unsigned i = 0; i < 2; i++) {
        begin(state);
        lose(9);
        scps_recovery_begin(&p.s, evidence[i]);
        p.env.now += RTT;
        scps_recovery_timeout(&p.s);
        assert_int_equal(scps_recovery_is_of_outage(&p.s.tx->rec, 1), i == 1);
    }
}

/* Expects the mean length of small segments that the retransmission timer finds when it expires
 * with n more segments of len octets outstanding. */
static void timeout_finds(unsigned n, uint32_t len, uint32_t small_len)
{
    part_send(&p, n, len);
    p.env.now += RTT;
    scps_recovery_timeout(&p.s);
    assert_int_equal(p.s.tx->rec.small_len, small_len);
}

/* RFC 5681 section 3.1: after a timeout the window is one full-sized segment, which is many small
 * ones. The second timeout in which small segments are outstanding shows that they do not get
 * through in a burst, if SND.UNA has advanced since the first one; a timeout of longer segments
 * ends this. */
static void bursts_of_small_segments(void **state)
{
    (void)state;
    acked(10, 0, 0, 0);
    timeout_finds(10, 100, 0);
    timeout_finds(0, 0, 0); /* Nothing has arrived. */
    acked(11, 0, 0, 0);
    timeout_finds(10, 400, 400);
    /* The timeout has joined the segments of 400 octets in pairs, so the mean length of 400, 2 *
     * 800 and 5 * 200 octets is 375. */
    acked(13, 0, 0, 0);
    timeout_finds(5, 200, 375);
    acked(16, 0, 0, 0);
    timeout_finds(10, 1000, 0);
}

/* Best effort: SND.UNA moves without an acknowledgement, after which nothing shows that the losses
 * were spurious. */
static void given_up(void **state)
{
    struct scps_recovery *rec = &p.s.tx->rec;
    (void)state;

    lose(0);
    scps_recovery_begin(&p.s, SCPS_BY_SACK);
    assert_false(scps_recovery_passed(rec, OCTET(1)));
    assert_false(rec->undoable);
    assert_true(scps_recovery_passed(rec, OCTET(10)));
    assert_int_equal(rec->episode, SCPS_EPISODE_NONE);
}

/* RFC 6582 section 3.2 step 3, "Impatient": without SACK and SNACK the timer is reset by the first
 * partial acknowledgement only. */
static void impatient(void **state)
{
    (void)state;
    p.s.agreed.opts = 0;
    lose(0);
    scps_recovery_begin(&p.s, SCPS_BY_DUPACK);
    assert_false(scps_recovery_is_impatient(&p.s));
    resend(0);
    acked(1, 0, 0, 0);
    assert_true(scps_recovery_is_impatient(&p.s));
    p.s.agreed.opts = SCPS_AGREED_SACK;
    assert_false(scps_recovery_is_impatient(&p.s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(recovery_point),
        CASE(proportional_rate),
        CASE(frto),
        CASE(eifel),
        CASE(duplicates),
        CASE(nothing_resent),
        CASE(what_a_timeout_loses),
        CASE(silence_before_a_timeout),
        CASE(bursts_of_small_segments),
        CASE(given_up),
        CASE(impatient),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
