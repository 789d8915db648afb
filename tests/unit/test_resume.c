/* SPDX-License-Identifier: MIT */
/* core/resume.c: the phases of careful resume, RFC 9959 sections 3.2 to 3.7. test_retreat.c tests
 * the Safe Retreat Phase. */
#include "resume_bench.h"

/* RFC 9959: "jump_cwnd is less than or equal to Min(max_jump,(saved_cwnd/2))"; "All packets sent in
 * the Unvalidated Phase MUST use pacing"; PipeSize starts as the bytes in flight. */
static void the_jump(void **state)
{
    struct bench b;
    (void)state;

    to_unvalidated(&b);
    assert_int_equal(b.ctl.cwnd, 150 * SEG);
    assert_int_equal(b.ctl.rate, 1500 * SEG);
    assert_int_equal(b.r.pipe, 20 * SEG);
    assert_int_equal(b.ctl.ssthresh, UINT64_MAX);
    /* The controller enlarges the window, which the Unvalidated Phase undoes. */
    b.ctl.cwnd = 151 * SEG;
    ack_of(&b, 1, 0);
    assert_int_equal(b.ctl.cwnd, 150 * SEG);
    assert_int_equal(b.r.pipe, 21 * SEG);
}

static void limits_of_the_jump(void **state)
{
    struct bench b;
    (void)state;

    /* RFC 9959 section 3.2: the last segment of the initial window is not acknowledged yet. */
    setup(&b);
    send(&b, 10);
    ack_of(&b, 9, 0);
    assert_int_equal(b.r.phase, SCPS_RESUME_RECONNAISSANCE);
    ack_of(&b, 1, 0);
    assert_int_equal(b.r.phase, SCPS_RESUME_UNVALIDATED);
    setup(&b);
    b.r.max_jump = 40 * SEG;
    b.r.limit_found = true;
    send(&b, 10);
    ack_of(&b, 10, 0);
    assert_int_equal(b.ctl.cwnd, 40 * SEG);
    assert_int_equal(b.ctl.ssthresh, 300 * SEG);
    setup(&b);
    b.v.max_cwnd = 60 * SEG;
    send(&b, 10);
    ack_of(&b, 10, 0);
    assert_int_equal(b.ctl.cwnd, 60 * SEG);
    /* The rate does not exceed that of the saved state, because saved_cwnd belongs to a round trip
     * with a queue in it. */
    setup(&b);
    b.r.saved_rate = 1000 * SEG;
    send(&b, 10);
    ack_of(&b, 10, 0);
    assert_int_equal(b.ctl.rate, 1000 * SEG);
}

/* RFC 9959: when "the first unvalidated segment is acknowledged", CWND becomes the bytes in flight,
 * and grows again. */
static void validated(void **state)
{
    struct bench b;
    (void)state;

    to_unvalidated(&b);
    send(&b, 120);
    b.v.now += SCPS_MS(100);
    ack_of(&b, 19, 0);
    told(&b, SCPS_RESUME_UNVALIDATED, SCPS_RESUME_CONFIRMED);
    ack_of(&b, 2, 10 * SEG); /* One of the two segments acknowledged was sent after the jump. */
    told(&b, SCPS_RESUME_VALIDATING, SCPS_RESUME_FIRST_ACKED);
    assert_int_equal(b.ctl.cwnd, 119 * SEG);
    assert_int_equal(b.ctl.rate, 0);
    b.ctl.cwnd += SEG; /* Slow start enlarges the window. */
    send(&b, 2);
    ack_of(&b, 118, 10 * SEG);
    assert_int_equal(b.ctl.cwnd, 120 * SEG);
    told(&b, SCPS_RESUME_VALIDATING, SCPS_RESUME_FIRST_ACKED);
    /* This acknowledges the last segment that was sent in the Unvalidated Phase. */
    ack_of(&b, 1, 10 * SEG);
    told(&b, SCPS_RESUME_NORMAL, SCPS_RESUME_VALIDATED);
    assert_int_equal(b.r.been, 1 << SCPS_RESUME_RECONNAISSANCE | 1 << SCPS_RESUME_UNVALIDATED |
                                   1 << SCPS_RESUME_VALIDATING | 1 << SCPS_RESUME_NORMAL);
    assert_int_equal(b.ctl.cwnd, 120 * SEG);
}

static void all_of_the_window_sent(void **state)
{
    struct bench b;
    (void)state;

    to_unvalidated(&b);
    send(&b, 131);
    b.v.now += SCPS_MS(50);
    ack_of(&b, 1, 0);
    told(&b, SCPS_RESUME_VALIDATING, SCPS_RESUME_LAST_SENT);
    assert_int_equal(b.ctl.cwnd, 150 * SEG);
}

/* A sender that has little to send: RFC 9959, "CWND is reset to the PipeSize". */
static void rate_limited(void **state)
{
    struct bench b;
    (void)state;

    to_unvalidated(&b);
    b.v.now += SCPS_MS(101);
    send(&b, 5);
    ack_of(&b, 5, 0);
    told(&b, SCPS_RESUME_NORMAL, SCPS_RESUME_RATE_LIMITED);
    assert_int_equal(b.ctl.cwnd, 25 * SEG);
    assert_int_equal(b.ctl.rate, 0);
    to_unvalidated(&b); /* The same, with more than PipeSize in flight after a round trip. */
    b.v.now += SCPS_MS(101);
    send(&b, 60);
    ack_of(&b, 5, 0);
    told(&b, SCPS_RESUME_VALIDATING, SCPS_RESUME_RTT_EXCEEDED);
}

/* RFC 9959 on Reconnaissance: "this transition MAY be deferred to the time at which more data is
 * sent". */
static void deferred(void **state)
{
    struct bench b;
    (void)state;

    setup(&b);
    b.v.app_limited = true;
    send(&b, 10);
    ack_of(&b, 10, 0);
    told(&b, SCPS_RESUME_RECONNAISSANCE, SCPS_RESUME_RESTORED);
    b.v.app_limited = false;
    send(&b, 10);
    ack_of(&b, 2, 10 * SEG);
    told(&b, SCPS_RESUME_UNVALIDATED, SCPS_RESUME_CONFIRMED);
}

/* RFC 9959 sections 3.2 and 4.2.1: the path is not confirmed, and "Careful Resume does not modify
 * the CWND". */
static void not_confirmed(void **state)
{
    static const struct {
        scps_dur rtt;
        uint64_t cwnd;
        enum scps_resume_phase phase;
        enum scps_resume_why why;
    } t[] = {{SCPS_MS(50), 20 * SEG, SCPS_RESUME_NORMAL, SCPS_RESUME_RTT_TOO_SHORT},
             {SCPS_MS(51), 20 * SEG, SCPS_RESUME_UNVALIDATED, SCPS_RESUME_CONFIRMED},
             {SCPS_MS(1000), 20 * SEG, SCPS_RESUME_UNVALIDATED, SCPS_RESUME_CONFIRMED},
             {SCPS_MS(1001), 20 * SEG, SCPS_RESUME_NORMAL, SCPS_RESUME_RTT_TOO_LONG},
             {SCPS_MS(100), 150 * SEG, SCPS_RESUME_NORMAL, SCPS_RESUME_NOTHING_GAINED}};
    struct bench b;
    (void)state;

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        setup(&b);
        send(&b, 10);
        b.v.min_rtt = t[i].rtt;
        b.ctl.cwnd = t[i].cwnd;
        ack_of(&b, 10, 0);
        told(&b, t[i].phase, t[i].why);
        if (t[i].phase == SCPS_RESUME_NORMAL)
            assert_int_equal(b.ctl.cwnd, t[i].cwnd);
    }
}

/* RFC 9959, congestion in the Reconnaissance Phase: "The sender stops using Careful Resume and MUST
 * continue using normal CC". */
static void congestion_in_reconnaissance(void **state)
{
    struct scps_cc_ack marked = {.bytes = SEG, .marked = SEG};
    struct bench b;
    (void)state;

    setup(&b);
    send(&b, 10);
    lose(&b, 1, SCPS_LOSS_CONGESTION);
    told(&b, SCPS_RESUME_NORMAL, SCPS_RESUME_LOSS);
    assert_int_equal(b.ctl.cwnd, 5 * SEG);
    setup(&b);
    scps_resume_ack(&b.r, cc_of(&b), &b.v, &marked, &b.ctl);
    told(&b, SCPS_RESUME_NORMAL, SCPS_RESUME_ECN);
    setup(&b); /* A loss by corruption is no congestion. */
    send(&b, 10);
    lose(&b, 1, SCPS_LOSS_CORRUPTION);
    told(&b, SCPS_RESUME_RECONNAISSANCE, SCPS_RESUME_RESTORED);
    setup(&b);
    scps_resume_change(&b.r, cc_of(&b), &b.v, SCPS_CC_PATH, &b.ctl);
    told(&b, SCPS_RESUME_NORMAL, SCPS_RESUME_PATH_CHANGED);
    setup(&b);
    scps_resume_change(&b.r, cc_of(&b), &b.v, SCPS_CC_RTO, &b.ctl);
    told(&b, SCPS_RESUME_NORMAL, SCPS_RESUME_TIMEOUT);
}

/* RFC 9959 section 3.6: after a timeout that proves spurious, the window is restored to PipeSize at
 * most. */
static void timeout_and_its_undo(void **state)
{
    struct bench b;
    (void)state;

    to_unvalidated(&b);
    send(&b, 130);
    b.v.cause = SCPS_LOSS_CORRUPTION;
    scps_resume_change(&b.r, cc_of(&b), &b.v, SCPS_CC_RTO, &b.ctl);
    assert_int_equal(b.r.phase, SCPS_RESUME_UNVALIDATED);
    b.v.cause = SCPS_LOSS_CONGESTION;
    b.ctl.cwnd = SEG;
    b.ctl.ssthresh = 75 * SEG;
    scps_resume_change(&b.r, cc_of(&b), &b.v, SCPS_CC_RTO, &b.ctl);
    told(&b, SCPS_RESUME_NORMAL, SCPS_RESUME_TIMEOUT);
    assert_int_equal(b.ctl.ssthresh, 10 * SEG);
    assert_int_equal(b.ctl.rate, 0);
    b.ctl = (struct scps_cc_ctl){.cwnd = 150 * SEG, .ssthresh = UINT64_MAX, .rate = 1500 * SEG};
    scps_resume_change(&b.r, cc_of(&b), &b.v, SCPS_CC_SPURIOUS, &b.ctl);
    assert_int_equal(b.ctl.cwnd, 20 * SEG);
    assert_int_equal(b.ctl.rate, 0);
    /* Careful resume has ended, so it does not change the window in later episodes. */
    b.ctl.cwnd = 90 * SEG;
    scps_resume_change(&b.r, cc_of(&b), &b.v, SCPS_CC_SPURIOUS, &b.ctl);
    assert_int_equal(b.ctl.cwnd, 90 * SEG);
}

/* A controller with a path model, such as BBR, gets at most half of the saved rate, and decides
 * itself whether there is congestion. */
static struct {
    enum scps_cc_resume what;
    uint64_t amount;
    bool steady;
} model;

static bool model_resume(void *s, const struct scps_cc_view *v, enum scps_cc_resume what,
                         uint64_t amount, struct scps_cc_ctl *ctl)
{
    (void)s, (void)v, (void)ctl;
    if (what == SCPS_CC_STEADY)
        return model.steady;
    model.what = what;
    model.amount = amount;
    return true;
}

static void a_model(void **state)
{
    struct bench b;
    (void)state;

    setup(&b);
    b.ops.resume = model_resume;
    model.steady = true;
    send(&b, 10);
    ack_of(&b, 10, 0);
    told(&b, SCPS_RESUME_UNVALIDATED, SCPS_RESUME_CONFIRMED);
    assert_int_equal(model.what, SCPS_CC_JUMP);
    assert_int_equal(model.amount, 1500 * SEG);
    assert_int_equal(b.ctl.cwnd, 10 * SEG);
    send(&b, 100);
    lose(&b, 1, SCPS_LOSS_CONGESTION); /* A single loss does not end the phase. */
    told(&b, SCPS_RESUME_UNVALIDATED, SCPS_RESUME_CONFIRMED);
    ack_of(&b, 1, 10 * SEG);
    told(&b, SCPS_RESUME_VALIDATING, SCPS_RESUME_FIRST_ACKED);
    model.steady = false;
    ack_of(&b, 19, 10 * SEG);
    told(&b, SCPS_RESUME_RETREAT, SCPS_RESUME_LOSS);
    assert_int_equal(model.what, SCPS_CC_RETREAT);
    assert_int_equal(model.amount, 10 * SEG);
    model.steady = true;
    ack_of(&b, 1, 10 * SEG);
    told(&b, SCPS_RESUME_NORMAL, SCPS_RESUME_RETREATED);
    assert_int_equal(model.what, SCPS_CC_RESUMED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_jump),
        cmocka_unit_test(limits_of_the_jump),
        cmocka_unit_test(validated),
        cmocka_unit_test(all_of_the_window_sent),
        cmocka_unit_test(rate_limited),
        cmocka_unit_test(deferred),
        cmocka_unit_test(not_confirmed),
        cmocka_unit_test(congestion_in_reconnaissance),
        cmocka_unit_test(timeout_and_its_undo),
        cmocka_unit_test(a_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
