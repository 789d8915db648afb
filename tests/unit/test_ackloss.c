/* SPDX-License-Identifier: MIT */
/* The reaction to losses without a connection: which rule detects them, that the congestion
 * controller is informed once in an episode (RFC 6582, RFC 6675, RFC 8985, RFC 3168), and the end
 * of a spurious episode (RFC 3708). */
#include "core/ackloss.h"

#include "core/control.h"
#include "core/tx.h"
#include "part_cases.h"

#define RTT      SCPS_MS(100)
#define OCTET(n) (1 + (scps_off)1000 * (n)) /* the first octet of segment n */

static struct scps_cc_loss told; /* the last loss of which the controller was informed */
static unsigned losses;          /* number of losses of which the controller was informed */
/* the last other event (enum scps_cc_change) of which the controller was informed */
static enum scps_cc_change changed;
static struct scps_ack_input n; /* the acknowledgement that is processed */
static const struct scps_seg no_options;

static void ack(void *cc, const struct scps_cc_view *v, const struct scps_cc_ack *a,
                struct scps_cc_ctl *ctl)
{
    (void)cc;
    (void)v;
    (void)a;
    (void)ctl;
}

static void loss(void *cc, const struct scps_cc_view *v, const struct scps_cc_loss *l,
                 struct scps_cc_ctl *ctl)
{
    (void)cc;
    (void)v;
    told = *l;
    losses++;
    if (l->new_episode && l->cause == SCPS_LOSS_CONGESTION)
        ctl->cwnd /= 2;
}

static void change(void *cc, const struct scps_cc_view *v, enum scps_cc_change what,
                   struct scps_cc_ctl *ctl)
{
    (void)cc;
    (void)v;
    (void)ctl;
    changed = what;
}

static uint64_t no_state; /* The controller has none. */
static const struct scps_cc_ops ops = {.name = "test", .ack = ack, .loss = loss, .change = change};

/* Ten segments were sent a round trip ago. */
static void prepare(void)
{
    p.cfg.c.cc = &ops;
    p.cfg.c.dupthresh = 3;
    p.cfg.c.spurious_undo = true;
    p.s.agreed.opts = SCPS_AGREED_SACK;
    p.s.agreed.adv_mss = 1000;
    p.s.rtt.srtt = p.s.rtt.min = RTT;
    p.s.ctl.cwnd = 20000;
    p.s.snd.end = OCTET(100);
    p.s.snd.edge = OCTET(100);
    part_send(&p, 10, 1000);
    p.env.now += RTT;
    losses = 0;
    changed = SCPS_CC_IDLE;
}

/* Begins the processing of an acknowledgement by which SND.UNA moves to segment una, and which
 * reports segments [from, to) as arrived; both 0: none. */
static void arrives(unsigned una, unsigned from, unsigned to)
{
    n = (struct scps_ack_input){
        .seg = &no_options, .before = p.s.snd.una, .sum = scps_ack_result_none()};
    n.advanced = OCTET(una) > p.s.snd.una;
    n.dup = !n.advanced;
    if (n.advanced) {
        scps_sb_ack(&p.s.tx->sb, p.env.now, OCTET(una), RTT, &n.sum);
        scps_send_acked(&p.s.snd, OCTET(una));
    }
    if (to)
        scps_sb_arrived(&p.s.tx->sb, p.env.now, OCTET(from), OCTET(to), RTT, &n.sum);
}

/* RFC 6675: the third segment that arrives above shows the loss. The controller gets the first loss
 * of an episode as one of a new episode, and later ones as of the same episode. */
static void by_sack(void **state)
{
    (void)state;
    arrives(0, 1, 3);
    scps_ackloss_find(&p.s, &no_state, &n);
    assert_int_equal(losses, 0);
    arrives(0, 3, 4);
    scps_ackloss_find(&p.s, &no_state, &n);
    assert_int_equal(losses, 1);
    assert_int_equal(told.evidence, SCPS_BY_SACK);
    assert_int_equal(told.bytes, 1000);
    assert_true(told.new_episode);
    assert_int_equal(p.s.tx->rec.episode, SCPS_EPISODE_FAST);
    assert_int_equal(p.s.tx->saved_ctl.cwnd, 20000);
    assert_int_equal(n.sum.lost, 0); /* A later rule finds other losses. */
    arrives(0, 5, 8);
    scps_ackloss_find(&p.s, &no_state, &n);
    assert_int_equal(losses, 2);
    assert_false(told.new_episode);
    assert_int_equal(p.s.ctl.cwnd, 10000);
    assert_int_equal(p.st.recoveries, 1);
}

/* RFC 8985: RACK declares a segment lost after a time. A timer expires at that time, in case no
 * acknowledgement arrives. */
static void by_time(void **state)
{
    (void)state;
    p.cfg.c.recovery = SCPS_RECOVERY_RACK;
    arrives(0, 1, 2);
    scps_ackloss_find(&p.s, &no_state, &n);
    assert_int_equal(losses, 0);
    assert_int_equal(p.s.tx->look_timer.at, p.env.now + RTT / 4);
    part_send(&p, 1, 1000);
    p.env.now += RTT;
    arrives(0, 10, 11);
    scps_ackloss_find(&p.s, &no_state, &n);
    assert_int_equal(losses, 1);
    assert_int_equal(told.evidence, SCPS_BY_RACK);
}

/* RFC 6582 section 3.2: without SACK a duplicate declares nothing lost here (that is dupack.c), and
 * a partial acknowledgement declares the next segment lost, unless SNACK reports the holes. */
static void partial(void **state)
{
    for (int snack = 0; snack < 2; snack++) {
        begin(state);
        p.s.agreed.opts = 0;
        p.s.agreed.caps = snack ? SCPS_CAP_SNACK1 : 0;
        arrives(0, 0, 0);
        scps_sb_lose(&p.s.tx->sb, 0, &n.sum);
        scps_ackloss_find(&p.s, &no_state, &n);
        assert_int_equal(told.evidence, SCPS_BY_DUPACK);
        arrives(3, 0, 0);
        scps_ackloss_find(&p.s, &no_state, &n);
        assert_int_equal(losses, snack ? 1 : 2);
        assert_string_equal(part_board(&p), snack ? "FFFFFFF" : "LFFFFFF");
        if (!snack)
            assert_int_equal(told.evidence, SCPS_BY_PARTIAL);
    }
    /* An outage leaves many holes: all that was sent before its end is lost at the first of
     * them. */
    begin(state);
    p.s.agreed.opts = 0;
    p.s.tx->outage_over = START + 1;
    arrives(0, 0, 0);
    scps_sb_lose(&p.s.tx->sb, 0, &n.sum);
    scps_ackloss_find(&p.s, &no_state, &n);
    part_send(&p, 1, 1000);
    arrives(3, 0, 0);
    scps_ackloss_find(&p.s, &no_state, &n);
    assert_string_equal(part_board(&p), "LLLLLLLF");
}

/* The controller is informed of losses that a SNACK reports before those that the order of arrival
 * shows, each with its own evidence. */
static void by_snack(void **state)
{
    (void)state;
    p.s.agreed.caps = SCPS_CAP_SNACK1;
    arrives(0, 1, 4);
    n.snack = true;
    scps_sb_lose(&p.s.tx->sb, 0, &n.sum);
    scps_ackloss_find(&p.s, &no_state, &n);
    assert_int_equal(losses, 1);
    assert_int_equal(told.evidence, SCPS_BY_SNACK);
}

/* RFC 3168 section 6.1.2: "TCP should not react to congestion indications more than once every
 * window of data"; it reduces the window and sets CWR. No data is lost. */
static void ecn(void **state)
{
    (void)state;
    p.s.agreed.opts |= SCPS_AGREED_ECN;
    p.cfg.c.loss_cause = SCPS_LOSS_CORRUPTION;
    scps_ackloss_ecn(&p.s, &no_state, 0);
    assert_int_equal(losses, 1);
    assert_int_equal(told.evidence, SCPS_BY_ECN);
    assert_int_equal(told.bytes, 0);
    assert_int_equal(told.cause, SCPS_LOSS_CONGESTION); /* whatever losses are attributed to */
    assert_true(p.s.todo.bits & SCPS_TODO_CWR);
    scps_ackloss_ecn(&p.s, &no_state, 0);
    assert_int_equal(losses, 1);
    assert_int_equal(p.st.ecn_echoes, 2);
}

/* RFC 3168 section 6.1.2: the window "should be reduced only once in response to a series of
 * dropped and/or CE packets from a single window of data". A mark that was echoed during an episode
 * stays a sign of congestion when the losses prove spurious, so the reduction stays. */
static void ecn_echo_in_an_episode(void **state)
{
    static const struct scps_ts ts;
    (void)state;

    p.s.agreed.opts |= SCPS_AGREED_ECN;
    arrives(0, 1, 4);
    scps_ackloss_find(&p.s, &no_state, &n);
    assert_true(p.s.todo.bits & SCPS_TODO_CWR);
    scps_ackloss_ecn(&p.s, &no_state, 0);
    assert_int_equal(losses, 1);
    scps_recovery_resent(&p.s.tx->rec, scps_sb_at(&p.s.tx->sb, 0), &ts, p.env.now);
    scps_sb_resent(&p.s.tx->sb, 0, p.env.now);
    scps_ackloss_dsack(&p.s, OCTET(0), OCTET(1), true);
    assert_int_equal(p.st.spurious, 0);
    arrives(10, 0, 0);
    scps_ackloss_progress(&p.s, &no_state, &n);
    assert_int_equal(changed, SCPS_CC_RECOVERED);
    scps_ackloss_ecn(&p.s, &no_state, 0);
    assert_int_equal(losses, 1);
    assert_int_equal(p.s.ctl.cwnd, 10000);
}

/* A loss by corruption does not reduce the window, so an echo during the repair does: on a link
 * with bit errors one episode may follow the other for as long as the connection lasts. */
static void ecn_echo_beside_corruption(void **state)
{
    (void)state;
    p.s.agreed.opts |= SCPS_AGREED_ECN;
    p.cfg.c.loss_cause = SCPS_LOSS_CORRUPTION;
    arrives(0, 1, 4);
    scps_ackloss_find(&p.s, &no_state, &n);
    assert_int_equal(losses, 1);
    assert_int_equal(p.s.ctl.cwnd, 20000);
    assert_false(p.s.todo.bits & SCPS_TODO_CWR);
    for (int i = 0; i < 3; i++) {
        scps_ackloss_ecn(&p.s, &no_state, 0);
        assert_int_equal(losses, 2);
        assert_int_equal(told.evidence, SCPS_BY_ECN);
        assert_true(told.new_episode);
        assert_int_equal(p.s.ctl.cwnd, 10000);
        assert_true(p.s.todo.bits & SCPS_TODO_CWR);
    }
    assert_true(scps_recovery_reduces(&p.s));
    assert_int_equal(p.s.tx->rec.flight, 10000);
    assert_int_equal(p.st.recoveries, 1);
}

/* After a spurious loss the window is the one from before it, so CWR is not sent, and an echo
 * reduces the window. */
static void ecn_echo_after_a_spurious_loss(void **state)
{
    (void)state;
    p.s.agreed.opts |= SCPS_AGREED_ECN;
    arrives(0, 1, 4);
    scps_ackloss_find(&p.s, &no_state, &n);
    assert_true(p.s.todo.bits & SCPS_TODO_CWR);
    arrives(1, 0, 0);
    scps_ackloss_progress(&p.s, &no_state, &n);
    assert_int_equal(changed, SCPS_CC_SPURIOUS);
    assert_int_equal(p.s.ctl.cwnd, 20000);
    assert_false(p.s.todo.bits & SCPS_TODO_CWR);
    scps_ackloss_ecn(&p.s, &no_state, 0);
    assert_int_equal(losses, 2);
    assert_int_equal(p.s.ctl.cwnd, 10000);
    assert_true(p.s.todo.bits & SCPS_TODO_CWR);
}

/* The controller is informed once of the end of an episode, when the recovery point is
 * acknowledged. */
static void recovered(void **state)
{
    (void)state;
    arrives(0, 1, 4);
    scps_ackloss_find(&p.s, &no_state, &n);
    scps_sb_resent(&p.s.tx->sb, 0, p.env.now);
    p.s.tx->rec.unresent = false;
    p.env.now += RTT;
    arrives(9, 0, 0);
    scps_ackloss_progress(&p.s, &no_state, &n);
    assert_false(n.repaired);
    assert_int_equal(changed, SCPS_CC_IDLE);
    arrives(10, 0, 0);
    scps_ackloss_progress(&p.s, &no_state, &n);
    assert_true(n.repaired);
    assert_int_equal(changed, SCPS_CC_RECOVERED);
    assert_int_equal(p.s.ctl.cwnd, 10000);
}

/* RFC 3708: each retransmission is reported as a duplicate. The controller gets its window from
 * before the episode back, and what was declared lost and not resent is in flight again. */
static void spurious(void **state)
{
    static const struct scps_ts ts;
    (void)state;

    arrives(0, 2, 5);
    scps_ackloss_find(&p.s, &no_state, &n);
    assert_string_equal(part_board(&p), "LLAAAFFFFF");
    scps_recovery_resent(&p.s.tx->rec, scps_sb_at(&p.s.tx->sb, 0), &ts, p.env.now);
    scps_sb_resent(&p.s.tx->sb, 0, p.env.now);
    scps_ackloss_dsack(&p.s, OCTET(0), OCTET(1), true);
    assert_true(p.s.dsacks);
    assert_string_equal(part_board(&p), "FFAAAFFFFF");
    assert_true(scps_recovery_concerns_ack(&p.s.tx->rec));
    arrives(0, 0, 0);
    scps_ackloss_progress(&p.s, &no_state, &n);
    assert_int_equal(changed, SCPS_CC_SPURIOUS);
    assert_int_equal(p.s.ctl.cwnd, 20000);
    assert_int_equal(p.st.spurious, 1);
    assert_false(scps_recovery_concerns_ack(&p.s.tx->rec));
}

/* A DSACK of data that an earlier acknowledgement had reported shows that a retransmission was
 * needless. A fresh one shows that the earlier acknowledgement was lost. */
static void needless_retransmissions_are_counted(void **state)
{
    (void)state;
    scps_ackloss_dsack(&p.s, OCTET(0), OCTET(1), true);
    assert_int_equal(p.s.tx->rto.needless, 0);
    scps_ackloss_dsack(&p.s, OCTET(0), OCTET(1), false);
    assert_int_equal(p.s.tx->rto.needless, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(needless_retransmissions_are_counted),
        CASE(by_sack),
        CASE(by_time),
        CASE(partial),
        CASE(by_snack),
        CASE(ecn),
        CASE(recovered),
        CASE(spurious),
        CASE(ecn_echo_in_an_episode),
        CASE(ecn_echo_beside_corruption),
        CASE(ecn_echo_after_a_spurious_loss),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
