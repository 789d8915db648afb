/* SPDX-License-Identifier: MIT */
/* When the congestion controller is informed: after everything that an acknowledgement reports has
 * been processed, and in the order of the events. RFC 4015 section 3.4: a sender that detects a
 * spurious timeout sets its window from FlightSize and from the octets that the acknowledgement
 * covers, so both must be known. */
#include <string.h>

#include "script.h"

enum what { NONE, ACK, LOSS, ECN, UNDONE, RECOVERED, OTHER };

/* A call of the controller, with two values of struct scps_cc_view that each acknowledgement
 * changes. */
struct call {
    enum what what;
    uint64_t outstanding, delivered;
};

static struct call calls[16];
static unsigned n_calls;
static const struct scps_cc_ops *vj;
/* beginning of the controller's state after the last timeout */
static unsigned char at_timeout[16];
static bool state_kept; /* true: that state had not changed when the core reported UNDONE */

static void record(enum what what, const struct scps_cc_view *v)
{
    assert_true(n_calls < sizeof calls / sizeof *calls);
    calls[n_calls++] = (struct call){what, v->outstanding, v->delivered};
}

static void ack(void *s, const struct scps_cc_view *v, const struct scps_cc_ack *a,
                struct scps_cc_ctl *ctl)
{
    record(ACK, v);
    vj->ack(s, v, a, ctl);
}

static void loss(void *s, const struct scps_cc_view *v, const struct scps_cc_loss *l,
                 struct scps_cc_ctl *ctl)
{
    record(l->evidence == SCPS_BY_ECN ? ECN : LOSS, v);
    vj->loss(s, v, l, ctl);
}

static void change(void *s, const struct scps_cc_view *v, enum scps_cc_change what,
                   struct scps_cc_ctl *ctl)
{
    record(what == SCPS_CC_SPURIOUS ? UNDONE : what == SCPS_CC_RECOVERED ? RECOVERED : OTHER, v);
    if (what == SCPS_CC_SPURIOUS)
        state_kept = !memcmp(at_timeout, s, sizeof at_timeout);
    if (vj->change)
        vj->change(s, v, what, ctl);
    if (what == SCPS_CC_RTO)
        memcpy(at_timeout, s, sizeof at_timeout);
}

/* own_recovery: the controller restores its state itself (struct scps_cc_ops). */
static struct script *recorded_as(void **x, bool own_recovery)
{
    static struct scps_cc_ops ops;
    struct script *t = script_of(x);

    vj = scps_cc_find("vj");
    ops = *vj;
    ops.ack = ack;
    ops.loss = loss;
    ops.change = change;
    ops.own_recovery = own_recovery;
    t->cfg.cc = &ops;
    return t;
}

static struct script *recorded(void **x)
{
    return recorded_as(x, false);
}

static void forget_calls(struct script *t)
{
    script_forget_sent(t);
    n_calls = 0;
}

/* Asserts that the calls since forget_calls() are those expected, and that all of them saw the same
 * SND.UNA and the same number of octets delivered. */
#define expect_calls(...)                                                                          \
    do {                                                                                           \
        static const enum what want_[] = {__VA_ARGS__};                                            \
        assert_int_equal(n_calls, sizeof want_ / sizeof *want_);                                   \
        for (unsigned i_ = 0; i_ < n_calls; i_++) {                                                \
            assert_int_equal(calls[i_].what, want_[i_]);                                           \
            assert_int_equal(calls[i_].outstanding, calls[n_calls - 1].outstanding);               \
            assert_int_equal(calls[i_].delivered, calls[n_calls - 1].delivered);                   \
        }                                                                                          \
    } while (0)

static void an_acknowledgement_of_new_data(void **x)
{
    struct script *t = recorded(x);
    script_flight(t, MS(200), 20000, 10);
    forget_calls(t);
    peer_says(t, MS(300), .ack = 2001);
    expect_calls(ACK);
    assert_int_equal(calls[0].outstanding, 8000);
    assert_int_equal(calls[0].delivered, 2001); /* The number includes the SYN. */
    script_forget_sent(t);
    script_free(t);
}

/* RFC 6675 section 5: the loss is known from the same acknowledgement that reports arrivals; and
 * the end of recovery (RFC 6582 section 3.2) from the one that covers everything. */
static void loss_and_recovery(void **x)
{
    struct script *t = recorded(x);
    script_flight(t, MS(200), 10000, 10);
    forget_calls(t);
    peer_says(t, MS(300), .ack = 2001, .sack = {{3001, 6001}});
    expect_calls(LOSS, ACK);
    forget_calls(t);
    peer_says(t, MS(400), .ack = 10001);
    expect_calls(RECOVERED, ACK);
    script_free(t);
}

/* RFC 3708: the DSACK for all that was resent comes with an acknowledgement of more data, and with
 * a report of further arrivals. */
static void undone_by_dsack(void **x)
{
    struct script *t = recorded(x);
    script_flight(t, MS(200), 10000, 10);
    peer_says(t, MS(300), .ack = 1, .sack = {{1001, 4001}});
    assert_int_equal(script_info(t).resent_segs, 1);
    forget_calls(t);
    peer_says(t, MS(305), .ack = 6001, .sack = {{1, 1001}, {7001, 8001}});
    assert_int_equal(script_info(t).spurious, 1);
    expect_calls(UNDONE, ACK);
    assert_int_equal(calls[0].outstanding, 4000);
    assert_int_equal(calls[0].delivered, 7001);
    script_forget_sent(t);
    script_free(t);
}

/* One acknowledgement shows by DSACK that the episode was spurious, and reports a new loss: the
 * controller's state is restored before the controller is informed of the loss. */
static void undone_by_dsack_and_loss(void **x)
{
    struct script *t = recorded(x);
    script_flight(t, MS(200), 10000, 10);
    peer_says(t, MS(300), .ack = 1, .sack = {{1001, 4001}});
    forget_calls(t);
    peer_says(t, MS(305), .ack = 5001, .sack = {{1, 1001}, {6001, 10001}});
    assert_int_equal(script_info(t).spurious, 1);
    expect_calls(UNDONE, LOSS, ACK);
    assert_int_equal(calls[0].outstanding, 5000);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 3522 section 3.2 step 5: the echoed time stamp is older than the retransmission, so the loss
 * was spurious. */
static void undone_by_eifel(void **x)
{
    struct script *t = recorded(x);
    uint32_t echo = script_timed_flight(t, 9880, 10);
    expect_sent(t, .at = MS(500), .from = 1, .len = 988);
    forget_calls(t);
    peer_says(t, MS(520), .ack = 989, .tsecr = echo);
    assert_int_equal(script_info(t).spurious, 1);
    expect_calls(UNDONE, ACK);
    assert_int_equal(calls[0].outstanding, 9880 - 988);
    script_free(t);
}

/* RFC 5682 section 2.1 step 3b: the acknowledgement covers data that was not resent, so the timeout
 * was spurious. */
static void undone_by_frto(void **x)
{
    struct script *t = recorded(x);
    t->peer.sack = false;
    script_flight(t, MS(200), 20000, 10);
    expect_sent(t, .at = MS(500), .from = 1, .len = 1000);
    peer_says(t, MS(600), .ack = 1001);
    forget_calls(t);
    peer_says(t, MS(610), .ack = 2001);
    assert_int_equal(script_info(t).spurious, 1);
    expect_calls(UNDONE, ACK);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 3168 section 6.1.2: an ECN echo is reported to the controller as congestion. */
static void echo_of_congestion(void **x)
{
    struct script *t = recorded(x);
    t->cfg.ecn = true;
    script_connect(t, 0);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ECE | SCPS_CWR);
    peer_says(t, MS(100), .flags = SCPS_SYN | SCPS_ACK | SCPS_ECE, .ack = 1);
    expect_sent(t, .ack = 1);
    app_writes(t, MS(200), 4000);
    forget_calls(t);
    peer_says(t, MS(300), .ack = 2001, .flags = SCPS_ACK | SCPS_ECE);
    expect_calls(ECN, ACK);
    assert_int_equal(calls[0].outstanding, 2000);
    script_forget_sent(t);
    script_forget_events(t);
    script_free(t);
}

/* RFC 6069 section 1: timeouts that an outage of the link has caused are no sign of congestion.
 * When the sender infers an outage from them, the controller is informed as after a spurious
 * timeout, and has its state from before the first of them. A controller with own_recovery restores
 * its state itself, so the core leaves that state as it is. */
static void undone_by_an_inferred_outage(void **x)
{
    for (unsigned own = 0; own < 2; own++) {
        struct script *t = recorded_as(x, own);

        t->cfg.outage_after = 2;
        script_flight(t, MS(200), 10000, 10);
        uint64_t before = script_info(t).cwnd;
        script_run(t, SEC(2));
        assert_true(script_info(t).cwnd < before);
        forget_calls(t);
        script_run(t, SEC(3));
        expect_quiet(t, SCPS_HOLD_LINK_DOWN);
        expect_calls(UNDONE);
        assert_int_equal(state_kept, own);
        if (!own)
            assert_int_equal(script_info(t).cwnd, before);
        script_forget_sent(t);
        script_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(an_acknowledgement_of_new_data),
        SCRIPT_TEST(loss_and_recovery),
        SCRIPT_TEST(undone_by_dsack),
        SCRIPT_TEST(undone_by_dsack_and_loss),
        SCRIPT_TEST(undone_by_eifel),
        SCRIPT_TEST(undone_by_frto),
        SCRIPT_TEST(echo_of_congestion),
        SCRIPT_TEST(undone_by_an_inferred_outage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
