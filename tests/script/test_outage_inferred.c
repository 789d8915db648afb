/* SPDX-License-Identifier: MIT */
/* An outage that no signal has reported, but this end has inferred from its timeouts
 * (docs/SCPS-TP.md section 3.5): a guess, which must not make anybody wait for ever. */
#include "script.h"

#define WAIT MS(500)

static void tell(struct script *t, scps_time at, enum scps_signal_kind kind)
{
    struct scps_signal s = {.kind = kind, .until = SCPS_NEVER};
    scps_time epoch = scps_stack_now(t->st) - script_now(t);

    scps_stack_signal(t->st, at + epoch, &s);
}

/* With best effort: octets [101, 201) of the peer arrive at 900 ms, behind a hole, and at 1100 ms
 * this end infers an outage, since nothing acknowledges its octets [1, 1001). */
static struct script *a_hole_before_the_outage(void **x)
{
    struct script *t = script_of(x);

    t->cfg.bets = true;
    t->cfg.bets_timeout = WAIT;
    t->cfg.bets_retries = 5;
    t->cfg.outage_after = 1;
    t->peer.caps = SCPS_CAP_BETS;
    script_established(t, MS(100));
    app_writes(t, MS(200), 1000);
    peer_says(t, MS(900), .seq = 101, .len = 100, .ack = 1);
    script_run(t, MS(1100));
    script_forget_sent(t);
    expect_quiet(t, SCPS_HOLD_LINK_DOWN);
    assert_int_equal(script_info(t).holes, 0);
    return t;
}

/* docs/SCPS-TP.md section 7: the receiver gives up a hole when its timer expires. That this end's
 * own data goes unanswered says nothing of the peer's: the timer runs on. Otherwise two ends that
 * infer outages from each other's silence would both wait for ever. */
static void the_wait_for_a_hole_runs_on(void **x)
{
    struct script *t = a_hole_before_the_outage(x);
    struct scps_hole h;

    script_run(t, MS(900) + WAIT - 1);
    assert_int_equal(script_info(t).holes, 0);
    script_run(t, MS(900) + WAIT);
    assert_int_equal(script_info(t).holes, 1);
    assert_int_equal(scps_conn_hole(t->c, &h, 0), 1);
    assert_int_equal(h.len, 100);
    script_skip(t, 100);
    app_reads(t, SEC(2), 100);
    /* The acknowledgement leaves with the first probe. */
    expect_sent(t, .at = MS(1100) + SEC(5), .from = ZERO, .ack = 201);
    script_free(t);
}

/* A signal that confirms the outage stops the wait: now it is certain that no repair can come. The
 * wait begins again at the end of the outage, for its full time. */
static void a_signal_stops_the_wait(void **x)
{
    struct script *t = a_hole_before_the_outage(x);

    script_run(t, MS(1200));
    tell(t, MS(1200), SCPS_SIGNAL_LINK_DOWN);
    script_run(t, SEC(100));
    script_forget_sent(t);
    tell(t, SEC(100), SCPS_SIGNAL_LINK_UP);
    script_run(t, SEC(100) + WAIT - 1);
    assert_int_equal(script_info(t).holes, 0);
    script_run(t, SEC(100) + WAIT);
    assert_int_equal(script_info(t).holes, 1);
    script_forget_sent(t);
    script_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(the_wait_for_a_hole_runs_on),
        SCRIPT_TEST(a_signal_stops_the_wait),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
