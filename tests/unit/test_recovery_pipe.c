/* SPDX-License-Identifier: MIT */
/* How much may be in flight during recovery, and how much is (RFC 6675 section 4, RFC 6937). */
#include "cmocka_all.h"
#include "core/recovery.h"
#include "part.h"

static const struct scps_cc_ops ops = {.name = "test"};
static struct part p;

static int begin(void **state)
{
    (void)state;
    part_init(&p, SCPS_SEC(10));
    p.cfg.c.cc = &ops;
    p.s.ctl.cwnd = 20000;
    p.s.tx->saved_ctl.cwnd = 40000;
    p.s.tx->rec.window = 15000;
    p.s.snd.nxt = 1 + 50000;
    p.s.rtt.srtt = SCPS_MS(500);
    return 0;
}

static int end(void **state)
{
    (void)state;
    part_fini(&p);
    return 0;
}

static void pipe(void **state)
{
    (void)state;
    p.s.tx->sb.inflight = 5000;
    assert_int_equal(scps_recovery_inflight(p.s.tx), 5000);
    p.s.tx->rec.virtual_arrived = 2000; /* RFC 5681: duplicates without SACK */
    assert_int_equal(scps_recovery_inflight(p.s.tx), 3000);
    p.s.tx->rec.virtual_arrived = 6000;
    assert_int_equal(scps_recovery_inflight(p.s.tx), 0);
}

/* RFC 6937: PRR applies in fast recovery, when the window is to become smaller. */
static void window(void **state)
{
    (void)state;
    assert_int_equal(scps_recovery_window(&p.s), 20000);
    p.s.tx->rec.episode = SCPS_EPISODE_FAST;
    assert_int_equal(scps_recovery_window(&p.s), 15000);
    p.s.tx->rec.episode = SCPS_EPISODE_RTO;
    assert_int_equal(scps_recovery_window(&p.s), 20000);
    p.s.tx->rec.episode = SCPS_EPISODE_FAST;
    p.s.tx->saved_ctl.cwnd = 20000;
    assert_int_equal(scps_recovery_window(&p.s), 20000);
}

/* A peer that is silent for two timeouts, or for one and the RTO before it, gets an initial window
 * of probes (RFC 6928: ten segments), if more than that is outstanding. */
static void a_silent_peer(void **state)
{
    (void)state;
    p.s.tx->rec.silent = 1;
    assert_int_equal(scps_recovery_window(&p.s), 20000);
    p.s.tx->rec.unheard = true;
    assert_int_equal(scps_recovery_window(&p.s), 10000);
    p.s.tx->rec.unheard = false;
    p.s.tx->rec.silent = 2;
    assert_int_equal(scps_recovery_window(&p.s), 10000);
    p.s.ctl.cwnd = 3000;
    assert_int_equal(scps_recovery_window(&p.s), 3000);
    assert_true(scps_recovery_only_probes(p.s.tx, 10001, 1000));
    assert_false(scps_recovery_only_probes(p.s.tx, 10000, 1000));
    assert_int_equal(scps_recovery_probe_rate(SCPS_SEC(4), 1040), 2600);
    assert_int_equal(scps_recovery_probe_rate(SCPS_SEC(4000000), 1040), 1); /* never 0 */
}

/* A window that is paced over the round trip leaves a sixteenth faster than once per round trip,
 * until it is almost full or the round trip is over. */
static void spread(void **state)
{
    (void)state;
    assert_int_equal(scps_recovery_rate(&p.s), 0);
    p.s.tx->rec.spread_until = SCPS_SEC(11);
    p.s.tx->sb.inflight = 17999;
    assert_int_equal(scps_recovery_rate(&p.s), 42501);
    p.s.tx->sb.inflight = 18000; /* Two segments are missing. */
    assert_int_equal(scps_recovery_rate(&p.s), 0);
    p.s.tx->sb.inflight = 0;
    /* The spreading of the window has ended, and does not begin again when less is in flight. */
    assert_int_equal(scps_recovery_rate(&p.s), 0);
    p.s.tx->rec.spread_until = SCPS_SEC(11);
    p.env.now = SCPS_SEC(11);
    assert_int_equal(scps_recovery_rate(&p.s), 0);
}

/* RFC 6582 section 3.2 step 3: a connection that paces each window at 1.2 windows in a round trip
 * leaves no faster than others after the peer's window stopped it, while more than 60 segments are
 * missing. */
static void spread_while_paced(void **state)
{
    (void)state;
    p.s.ctl.cwnd = 100000;
    assert_int_equal(scps_recovery_paced_rate(&p.s, 240000), 240000); /* There was no gap. */
    p.s.tx->sb.inflight = 39999;
    p.s.hold = SCPS_HOLD_CWND;
    scps_recovery_spread(&p.s); /* Acknowledgements clocked the sender. */
    assert_int_equal(scps_recovery_paced_rate(&p.s, 240000), 240000);
    p.s.hold = SCPS_HOLD_PEER_WINDOW;
    scps_recovery_spread(&p.s);
    assert_int_equal(scps_recovery_paced_rate(&p.s, 240000), 212501);
    p.s.hold = SCPS_HOLD_PACE;
    scps_recovery_spread(&p.s); /* The next partial acknowledgement after the same standstill. */
    assert_int_equal(scps_recovery_paced_rate(&p.s, 240000), 212501);
    assert_int_equal(scps_recovery_paced_rate(&p.s, 200000), 200000);
    p.s.tx->sb.inflight = 40000; /* Sixty segments are missing. */
    assert_int_equal(scps_recovery_paced_rate(&p.s, 240000), 240000);
    p.s.tx->sb.inflight = 0;
    assert_int_equal(scps_recovery_paced_rate(&p.s, 240000), 212501);
    p.env.now += SCPS_MS(500); /* The round trip is over. */
    assert_int_equal(scps_recovery_paced_rate(&p.s, 240000), 240000);
    scps_recovery_spread(&p.s);
    assert_int_equal(scps_recovery_paced_rate(&p.s, 240000), 240000);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {CASE(pipe), CASE(window), CASE(a_silent_peer), CASE(spread),
                                       CASE(spread_while_paced)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
