/* SPDX-License-Identifier: MIT */
/* core/resume.c: the Safe Retreat Phase of careful resume and the time after it, RFC 9959 section
 * 3.5. */
#include "resume_bench.h"

/* RFC 9959 section 3.5: "The CWND MUST be reduced to no more than (PipeSize/2)", it "MUST NOT be
 * increased", and at the end ssthresh is half of PipeSize. Retransmissions that are acknowledged do
 * not count as capacity. */
static void safe_retreat(void **state)
{
    struct bench b;
    (void)state;

    to_unvalidated(&b);
    send(&b, 120);
    b.v.now += SCPS_MS(100);
    ack_of(&b, 22, 10 * SEG);
    told(&b, SCPS_RESUME_VALIDATING, SCPS_RESUME_FIRST_ACKED);
    assert_int_equal(b.r.pipe, 42 * SEG);
    lose(&b, 80, SCPS_LOSS_CONGESTION);
    told(&b, SCPS_RESUME_RETREAT, SCPS_RESUME_LOSS);
    assert_int_equal(b.ctl.cwnd, 21 * SEG);
    b.ctl.cwnd = 30 * SEG;
    ack_of(&b, 20, 12 * SEG); /* These segments left before the retreat, so they add to PipeSize. */
    assert_int_equal(b.ctl.cwnd, 21 * SEG);
    assert_int_equal(b.r.pipe, 62 * SEG);
    send(&b, 10);
    ack_of(&b, 10, 40 * SEG); /* These segments left after the retreat began, so they do not. */
    assert_int_equal(b.r.pipe, 62 * SEG);
    scps_resume_change(&b.r, cc_of(&b), &b.v, SCPS_CC_RECOVERED, &b.ctl);
    told(&b, SCPS_RESUME_NORMAL, SCPS_RESUME_RETREATED);
    assert_int_equal(b.ctl.ssthresh, 31 * SEG);
    assert_int_equal(b.ctl.cwnd, 21 * SEG);
}

/* Brings careful resume into the recovery of a jump that lost 80 of 120 segments; PipeSize is 62
 * segments. */
static void to_retreat(struct bench *b)
{
    to_unvalidated(b);
    send(b, 120);
    b->v.now += SCPS_MS(100);
    ack_of(b, 22, 10 * SEG);
    lose(b, 80, SCPS_LOSS_CONGESTION);
    ack_of(b, 20, 12 * SEG);
    told(b, SCPS_RESUME_RETREAT, SCPS_RESUME_LOSS);
    assert_int_equal(b->r.pipe, 62 * SEG);
}

static void repaired(struct bench *b, uint64_t segs)
{
    struct scps_cc_ack a = {.bytes = segs * SEG, .rtt = -1, .in_recovery = true};

    a.sample_bytes = a.bytes;
    a.prior_delivered = b->r.began;
    b->v.delivered += a.bytes;
    scps_resume_ack(&b->r, cc_of(b), &b->v, &a, &b->ctl);
}

/* RFC 9959 section 3.5: "The sender leaves the Safe Retreat Phase when the last packet (or later)
 * sent in the Unvalidated Phase is acknowledged. If the last packet number is not cumulatively
 * acknowledged, then additional packets might need to be retransmitted": slow start up to ssthresh
 * goes on meanwhile. */
static void the_end_of_a_retreat(void **state)
{
    struct bench b;
    (void)state;

    to_retreat(&b);
    repaired(&b, 1); /* The retransmission left after the retreat began. */
    told(&b, SCPS_RESUME_NORMAL, SCPS_RESUME_RETREATED);
    assert_int_equal(b.ctl.cwnd, 21 * SEG);
    assert_int_equal(b.ctl.ssthresh, 31 * SEG);
    repaired(&b, 4);
    assert_int_equal(b.ctl.cwnd, 25 * SEG);
    b.ctl.cwnd += 4 * SEG; /* The controller has grown by itself, so careful resume adds nothing. */
    repaired(&b, 4);
    assert_int_equal(b.ctl.cwnd, 29 * SEG);
    b.v.cwnd_limited = false; /* The window is not used up, so it does not grow. */
    repaired(&b, 4);
    assert_int_equal(b.ctl.cwnd, 29 * SEG);
    b.v.cwnd_limited = true;
    repaired(&b, 4);
    assert_int_equal(b.ctl.cwnd, 31 * SEG);
    /* The controller sets a new ssthresh, which careful resume does not use. */
    b.ctl.ssthresh = 40 * SEG;
    repaired(&b, 4);
    assert_int_equal(b.ctl.cwnd, 31 * SEG);
}

/* That slow start ends early if the controller lowers its window, another episode begins, or a
 * timeout occurs. */
static void a_regrowth_that_ends(void **state)
{
    struct bench b;
    (void)state;

    to_retreat(&b);
    repaired(&b, 1);
    b.ctl.cwnd = 20 * SEG;
    repaired(&b, 4);
    assert_int_equal(b.ctl.cwnd, 20 * SEG);
    repaired(&b, 4);
    assert_int_equal(b.ctl.cwnd, 20 * SEG);
    to_retreat(&b);
    repaired(&b, 1);
    lose(&b, 1, SCPS_LOSS_CONGESTION);
    b.ctl.ssthresh = 40 * SEG;
    repaired(&b, 4);
    assert_int_equal(b.ctl.cwnd, 21 * SEG / 2);
    to_retreat(&b);
    repaired(&b, 1);
    scps_resume_change(&b.r, cc_of(&b), &b.v, SCPS_CC_RTO, &b.ctl);
    repaired(&b, 4);
    assert_int_equal(b.ctl.cwnd, 21 * SEG);
}

/* vegas-corruption ignores single losses; only its brake (see src/cc/vegas.c) counts as
 * congestion. */
static void a_brake_is_congestion(void **state)
{
    struct bench b;
    (void)state;

    to_unvalidated(&b);
    send(&b, 120);
    lose(&b, 80, SCPS_LOSS_CORRUPTION);
    ack_of(&b, 1, 10 * SEG);
    told(&b, SCPS_RESUME_VALIDATING, SCPS_RESUME_FIRST_ACKED);
    b.ctl.phase = SCPS_PHASE_BRAKE;
    ack_of(&b, 1, 10 * SEG);
    told(&b, SCPS_RESUME_RETREAT, SCPS_RESUME_LOSS);
    assert_int_equal(b.ctl.phase, SCPS_PHASE_BRAKE);
}

/* The controller reduces the window from PipeSize, not from a window that was never validated:
 * CUBIC would take that as W_max for minutes. */
static void the_cut_is_of_pipe_size(void **state)
{
    struct scps_cc_loss l = {.cause = SCPS_LOSS_CONGESTION};
    struct bench b;
    (void)state;

    to_unvalidated(&b);
    scps_resume_before_loss(&b.r, &b.x, &l, &b.ctl);
    assert_int_equal(b.ctl.cwnd, 20 * SEG);
    to_unvalidated(&b);
    l.cause = SCPS_LOSS_CORRUPTION;
    scps_resume_before_loss(&b.r, &b.x, &l, &b.ctl);
    assert_int_equal(b.ctl.cwnd, 150 * SEG);
}

static void retreat_without_a_loss(void **state)
{
    struct scps_cc_ack marked = {.bytes = SEG, .marked = SEG};
    struct bench b;
    (void)state;

    to_unvalidated(&b);
    scps_resume_ack(&b.r, cc_of(&b), &b.v, &marked, &b.ctl);
    told(&b, SCPS_RESUME_RETREAT, SCPS_RESUME_ECN);
    assert_int_equal(b.ctl.cwnd, 21 * SEG / 2);
    assert_int_equal(b.ctl.rate, 0);
    ack_of(&b, 19, 0);
    told(&b, SCPS_RESUME_RETREAT, SCPS_RESUME_ECN);
    ack_of(&b, 1, 0); /* This acknowledges all that was in flight. */
    told(&b, SCPS_RESUME_NORMAL, SCPS_RESUME_RETREATED);
    to_unvalidated(&b);
    b.v.min_rtt = SCPS_MS(50);
    ack_of(&b, 1, 0);
    told(&b, SCPS_RESUME_RETREAT, SCPS_RESUME_PATH_CHANGED);
    to_unvalidated(&b);
    scps_resume_change(&b.r, cc_of(&b), &b.v, SCPS_CC_PATH, &b.ctl);
    told(&b, SCPS_RESUME_RETREAT, SCPS_RESUME_PATH_CHANGED);
    scps_resume_change(&b.r, cc_of(&b), &b.v, SCPS_CC_IDLE, &b.ctl);
    told(&b, SCPS_RESUME_NORMAL, SCPS_RESUME_RETREATED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(safe_retreat),
        cmocka_unit_test(the_end_of_a_retreat),
        cmocka_unit_test(a_regrowth_that_ends),
        cmocka_unit_test(a_brake_is_congestion),
        cmocka_unit_test(the_cut_is_of_pipe_size),
        cmocka_unit_test(retreat_without_a_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
