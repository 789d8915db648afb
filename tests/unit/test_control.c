/* SPDX-License-Identifier: MIT */
/* The congestion controller's input and output without a connection: the initial window (RFC 6928),
 * the bounds of window and rate, and the pacer's rate that follows from them. */
#include "core/control.h"

#include "cmocka_all.h"
#include "core/tx.h"
#include "part.h"

static struct scps_cc_view seen; /* the view (struct scps_cc_view) that the controller got last */
static struct scps_cc_ctl asks;  /* what the controller asks for */

static void ack(void *cc, const struct scps_cc_view *v, const struct scps_cc_ack *a,
                struct scps_cc_ctl *ctl)
{
    (void)cc;
    (void)a;
    seen = *v;
    *ctl = asks;
}

static const struct scps_cc_ops ops = {.name = "test", .ack = ack};
static struct part p;

static int begin(void **state)
{
    (void)state;
    part_init(&p, SCPS_SEC(10));
    p.cfg.c.cc = &ops;
    p.cfg.c.pacing = false;
    p.s.agreed.pmtu_mss = 1000;
    p.s.rtt.srtt = SCPS_MS(100);
    asks = (struct scps_cc_ctl){.cwnd = 20000, .ssthresh = UINT64_MAX};
    p.s.ctl = asks;
    return 0;
}

static int end(void **state)
{
    (void)state;
    part_fini(&p);
    return 0;
}

static void acked(bool may_grow)
{
    const struct scps_cc_ack a = {.bytes = 1000};

    scps_cc_ack(&p.s, NULL, &a, may_grow);
}

/* RFC 6928 section 2: "min (10*MSS, max (2*MSS, 14600))"; RFC 5681 section 3.1: one segment if a
 * SYN was lost. */
static void initial_window(void **state)
{
    struct scps_conn_config cfg = scps_conn_config_default();
    (void)state;

    assert_int_equal(scps_cc_init_cwnd(&cfg, 536, false), 5360);
    assert_int_equal(scps_cc_init_cwnd(&cfg, 1460, false), 14600);
    assert_int_equal(scps_cc_init_cwnd(&cfg, 1500, false), 14600);
    assert_int_equal(scps_cc_init_cwnd(&cfg, 8960, false), 17920);
    assert_int_equal(scps_cc_init_cwnd(&cfg, 1460, true), 1460);
    cfg.init_cwnd_segs = 3;
    assert_int_equal(scps_cc_init_cwnd(&cfg, 1460, true), 4380);
}

/* What the controller's view contains: RFC 6675's pipe, what is outstanding, whether the window was
 * the limit, which holds until the next acknowledgement. */
static void contents_of_the_controllers_view(void **state)
{
    (void)state;
    part_send(&p, 5, 1000);
    p.s.tx->rec.virtual_arrived = 2000;
    p.cfg.c.loss_cause = SCPS_LOSS_CORRUPTION;
    scps_cc_limited(&p.s.use, true);
    acked(true);
    assert_int_equal(seen.outstanding, 5000);
    assert_int_equal(seen.inflight, 3000);
    assert_int_equal(seen.mss, 1000);
    assert_int_equal(seen.cause, SCPS_LOSS_CORRUPTION);
    assert_true(seen.cwnd_limited);
    acked(true);
    assert_false(seen.cwnd_limited);
}

/* RFC 3042 section 2: "The congestion window [...] MUST NOT be changed" by the first duplicates. */
static void limited_transmit(void **state)
{
    (void)state;
    asks.cwnd = 21000;
    acked(false);
    assert_int_equal(p.s.ctl.cwnd, 20000);
    acked(true);
    assert_int_equal(p.s.ctl.cwnd, 21000);
}

/* The window is one segment at least, and the rate one segment in 64 s (RFC 5348 section 4.3), or
 * the configured rate if that is lower. */
static void bounds(void **state)
{
    (void)state;
    asks.cwnd = 999;
    acked(true);
    assert_int_equal(p.s.ctl.cwnd, 1000);
    asks.cwnd = 20000;
    asks.rate = 1;
    acked(true);
    assert_int_equal(p.s.ctl.rate, 15);
    p.cfg.c.rate = 3;
    acked(true);
    assert_int_equal(p.s.ctl.rate, 3);
    p.cfg.c.rate = 0;
    asks.rate = UINT64_MAX;
    acked(true);
    assert_int_equal(p.s.ctl.rate, SCPS_RATE_MAX);
    assert_int_equal(p.st.cc_corrected, 4);
}

/* Pacing: twice the window in a round trip in slow start, 1.2 windows later; at most two to four
 * segments leave at once. */
static void paced_window(void **state)
{
    (void)state;
    acked(true);
    assert_int_equal(p.s.tx->pacer.rate, 0);
    p.cfg.c.pacing = true;
    acked(true);
    assert_int_equal(p.s.tx->pacer.rate, 400001);
    assert_int_equal(p.s.tx->pacer.burst, 2000);
    assert_true(p.s.tx->paces_window);
    asks.ssthresh = 20000;
    acked(true);
    assert_int_equal(p.s.tx->pacer.rate, 240001);
    asks.cwnd = 2000000;
    acked(true);
    assert_int_equal(p.s.tx->pacer.burst, 4000);
}

/* A configured rate counts headers, the window does not: the lower of both for full segments
 * applies. */
static void configured_rate(void **state)
{
    (void)state;
    p.cfg.c.pacing = true;
    asks.ssthresh = 20000;
    p.cfg.c.rate = 249601; /* 240001 bytes/s of payload in packets of 1040 are 249601 bytes/s. */
    acked(true);
    assert_false(p.s.tx->paces_window);
    assert_int_equal(p.s.tx->pacer.rate, 249601);
    p.cfg.c.rate = 249602;
    acked(true);
    assert_true(p.s.tx->paces_window);
    assert_int_equal(p.s.tx->pacer.rate, 240001);
    assert_int_equal(p.s.tx->pace_share, (UINT64_C(240001) << 32) / 249602);
    asks.cwnd = SCPS_CWND_OPEN; /* The configured rate alone limits the sender. */
    acked(true);
    assert_false(p.s.tx->paces_window);
    assert_int_equal(p.s.tx->pacer.rate, 249602);
}

/* A silent peer gets no more than ten packets in a timeout, whatever the controller asks for. */
static void at_most_ten_packets_in_a_timeout(void **state)
{
    (void)state;
    part_send(&p, 11, 1000);
    p.s.tx->rec.silent = 2;
    asks.cwnd = SCPS_CWND_OPEN;
    asks.rate = 1000000;
    acked(true);
    assert_int_equal(p.s.tx->pacer.rate, 10400);
    p.s.tx->rec.silent = 1;
    acked(true);
    assert_int_equal(p.s.tx->pacer.rate, 1000000);
}

/* The token bucket of a configured rate holds four full packets. While losses of segments of less
 * than half the MSS are repaired, it holds four packets of their mean length. */
static void small_resends(void **state)
{
    (void)state;
    p.cfg.c.rate = 1000000;
    part_send(&p, 10, 100);
    acked(true);
    assert_int_equal(p.s.tx->pacer.burst, 4160);
    p.s.tx->rec.episode = SCPS_EPISODE_FAST;
    acked(true);
    assert_int_equal(p.s.tx->pacer.burst, 4 * 140);
    asks.quantum = 3000; /* The controller's own size of the bucket is kept. */
    acked(true);
    assert_int_equal(p.s.tx->pacer.burst, 3000);
    asks.quantum = 0;
    p.cfg.c.burst = 2500; /* The configured size of the token bucket is kept, too. */
    acked(true);
    assert_int_equal(p.s.tx->pacer.burst, 2500);
    p.cfg.c.burst = 0;
    part_send(&p, 10, 900); /* The mean length is 500 octets, half the MSS. */
    acked(true);
    assert_int_equal(p.s.tx->pacer.burst, 4160);
    p.s.tx->rec.episode = SCPS_EPISODE_NONE;
    acked(true);
    assert_int_equal(p.s.tx->pacer.burst, 4160);
}

/* After two timeouts in which small segments were outstanding, the window is spread over a round
 * trip, and the token bucket holds four packets of their length. The controller's size of the
 * bucket does not apply. None of this concerns longer segments, for which the timeouts show
 * nothing. */
static void bursts_of_small_segments(void **state)
{
    (void)state;
    p.s.tx->rec.spread_until = p.env.now + p.s.rtt.srtt; /* A timeout sets it. */
    p.s.tx->rec.small_len = 100;
    acked(true);
    assert_true(p.s.tx->paces_window);
    assert_int_equal(p.s.tx->pacer.rate, 400001);
    assert_int_equal(p.s.tx->pacer.burst, 4 * 100);
    p.s.tx->rec.spread_until = 0;
    acked(true);
    assert_int_equal(p.s.tx->pacer.rate, 400001);
    asks.rate = 1000000; /* A rate of the controller counts headers. */
    asks.quantum = 3000;
    acked(true);
    assert_int_equal(p.s.tx->pacer.rate, 1000000);
    assert_int_equal(p.s.tx->pacer.burst, 4 * 140);
    asks.rate = asks.quantum = 0;
    part_send(&p, 10, 100);
    acked(true);
    assert_int_equal(p.s.tx->pacer.rate, 400001);
    part_send(&p, 10, 1000);
    acked(true);
    assert_int_equal(p.s.tx->pacer.rate, 0);
    asks.rate = 1000000;
    asks.quantum = 3000;
    acked(true);
    assert_int_equal(p.s.tx->pacer.burst, 3000);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(initial_window),
        CASE(contents_of_the_controllers_view),
        CASE(limited_transmit),
        CASE(bounds),
        CASE(paced_window),
        CASE(configured_rate),
        CASE(at_most_ten_packets_in_a_timeout),
        CASE(small_resends),
        CASE(bursts_of_small_segments),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
