/* SPDX-License-Identifier: MIT */
/* When data is acknowledged, and which window is offered (RFC 9293 sections 3.8.6.2.2 and 3.8.6.3,
 * RFC 5681 section 4.2), without a connection. */
#include "core/ackout.h"

#include "cmocka_all.h"
#include "core/rx.h"
#include "part.h"

#define NOW   SCPS_SEC(50)
#define DELAY SCPS_MS(200)
#define MSS   1000

static struct part p;
static struct scps_receive rcv;
static struct scps_rx rx;
static struct scps_ackout a;

static int begin(void **state)
{
    (void)state;
    part_init(&p, NOW);
    p.cfg.c.ack_mode = SCPS_ACK_OTHER;
    p.cfg.c.ack_delay = DELAY;
    p.cfg.c.quick_acks = 0;
    p.cfg.c.rcvbuf = 10000;
    memset(&rcv, 0, sizeof rcv);
    memset(&rx, 0, sizeof rx);
    memset(&a, 0, sizeof a);
    scps_rcvbuf_init(&rcv.in, 1, true);
    rcv.mss = MSS;
    scps_ackout_begin(&a, 10000);
    scps_timer_stop(&a.timer);
    return 0;
}

static int end(void **state)
{
    (void)state;
    part_fini(&p);
    return 0;
}

/* A segment of len octets comes in order. Returns true if it is acknowledged at once. */
static bool comes(uint32_t len)
{
    rcv.in.next += len;
    if (!scps_ackout_data(&a, &p.s.ctx, NULL, &rcv))
        return false;
    scps_ackout_sent(&a, rcv.in.next, false, false);
    scps_timer_stop(&a.timer);
    return true;
}

/* MUST-40: "the delay MUST be less than 0.5 seconds"; SHLD-19: "An ACK SHOULD be generated for at
 * least every second full-sized segment". */
static void every_second_segment(void **state)
{
    (void)state;
    assert_false(comes(MSS));
    assert_int_equal(a.timer.at, NOW + DELAY);
    p.env.now += SCPS_MS(100);
    assert_true(comes(MSS));
    assert_false(comes(MSS));
    assert_int_equal(a.timer.at, NOW + SCPS_MS(100) + DELAY);
    assert_true(comes(1));       /* A full segment and a short one count as two. */
    for (int i = 0; i < 10; i++) /* Short segments are counted by their octets. */
        assert_false(comes(MSS / 10));
    assert_true(comes(1));
    p.cfg.c.ack_delay = 0;
    assert_true(scps_conn_config_default().ack_delay < SCPS_MS(500));
}

static void modes(void **state)
{
    (void)state;
    p.cfg.c.quick_acks = 3; /* The first ones let the peer's window grow. */
    for (int i = 0; i < 3; i++)
        assert_true(comes(MSS));
    assert_false(comes(MSS));
    p.cfg.c.ack_mode = SCPS_ACK_EVERY;
    assert_true(comes(1));
    p.cfg.c.ack_mode = SCPS_ACK_DELAYED;
    for (int i = 0; i < 9; i++)
        assert_false(comes(MSS));
    assert_int_equal(a.timer.at, NOW + DELAY);
}

/* RFC 5681 section 4.2: "Out-of-order data segments SHOULD be acknowledged immediately, in order to
 * accelerate loss recovery." The first eight are, and then as many as of data in order. */
static void beyond_a_hole(void **state)
{
    (void)state;
    assert_true(scps_ackout_beyond(&a, &p.s.ctx, &rx, MSS, true));
    for (int i = 0; i < 7; i++)
        assert_true(scps_ackout_beyond(&a, &p.s.ctx, &rx, MSS, false));
    scps_ackrx_add_unreported(&rx.ack, MSS);
    assert_false(scps_ackout_beyond(&a, &p.s.ctx, &rx, MSS, false));
    assert_int_equal(a.timer.at, NOW + DELAY);
    scps_ackrx_add_unreported(&rx.ack, 1);
    assert_true(scps_ackout_beyond(&a, &p.s.ctx, &rx, MSS, false));
    scps_ackout_reported(&a, &rx, &rcv, &p.cfg.c, false);
    assert_int_equal(a.timer.at, SCPS_NEVER);
    assert_false(scps_ackout_beyond(&a, &p.s.ctx, &rx, MSS, false));
    /* The segment fills a part of another hole, so it is acknowledged at once (RFC 5681 section
     * 4.2). */
    assert_true(scps_ackout_beyond(&a, &p.s.ctx, &rx, MSS, true));
    scps_ackrx_progress(&rx.ack); /* RCV.NXT has advanced: the next hole is new. */
    assert_true(scps_ackout_beyond(&a, &p.s.ctx, &rx, MSS, false));
}

/* Section 3.8.6.2.2: "avoid advancing the right window edge RCV.NXT+RCV.WND in small
 * increments": it advances by the least of half the buffer and a full segment, or not at all. */
static void silly_window(void **state)
{
    (void)state;
    assert_int_equal(scps_ackout_window(&a, &p.s.ctx, &rcv, 1, 0), 10000);
    rcv.in.next = 4001;
    assert_int_equal(scps_ackout_window(&a, &p.s.ctx, &rcv, 4001, 0), 6000);
    rcv.in.read = 1 + MSS - 1;
    assert_int_equal(scps_ackout_window(&a, &p.s.ctx, &rcv, 4001, 0), 6000);
    rcv.in.read = 1 + MSS;
    assert_int_equal(scps_ackout_window(&a, &p.s.ctx, &rcv, 4001, 0), 7000);
    assert_int_equal(a.announced, 11001);
    /* With a buffer smaller than two segments, the window opens when half of the buffer is free
     * (RFC 9293 section 3.8.6.2.2). */
    p.cfg.c.rcvbuf = 10500;
    rcv.mss = 60000;
    assert_int_equal(scps_ackout_window(&a, &p.s.ctx, &rcv, 4001, 0), 7000);
    rcv.in.read = 4001;
    p.cfg.c.rcvbuf = 14000;
    assert_int_equal(scps_ackout_window(&a, &p.s.ctx, &rcv, 4001, 0), 14000);
    /* SHLD-14: "A TCP receiver SHOULD NOT shrink the window, i.e., move the right window edge to
     * the left". */
    p.cfg.c.rcvbuf = 100;
    assert_int_equal(scps_ackout_window(&a, &p.s.ctx, &rcv, 4001, 0), 14000);
    rcv.in.next = 18001;
    assert_int_equal(scps_ackout_window(&a, &p.s.ctx, &rcv, 18001, 0), 0);
    assert_int_equal(p.st.zero_windows_out, 1);
}

/* RFC 7323 section 2.3: the window field is the window shifted to the right. */
static void scaled_window(void **state)
{
    (void)state;
    p.cfg.c.rcvbuf = 1000000;
    assert_int_equal(scps_ackout_window(&a, &p.s.ctx, &rcv, 1, 0), 65535);
    assert_int_equal(a.announced, 65536);
    assert_int_equal(scps_ackout_window(&a, &p.s.ctx, &rcv, 1, 4), 1000000 >> 4);
    /* The window that the field of the segment expresses counts as offered. */
    assert_int_equal(a.announced, 1 + 1000000 / 16 * 16);
    assert_int_equal(a.max_offered, 1000000 / 16 * 16);
}

/* A data segment repeats the last acknowledgement, without any other work, only if nothing has
 * changed since: RCV.NXT and the window are the same, and no delayed acknowledgement waits for its
 * timer. If one waits, the segment carries it, which stops the timer (RFC 9293 section 3.8.6.3);
 * otherwise an acknowledgement without data would follow when the timer expires. */
static void the_same_acknowledgement_again(void **state)
{
    struct scps_seg seg = {0};
    (void)state;

    rcv.irs = 7;
    assert_int_equal(scps_ackout_window(&a, &p.s.ctx, &rcv, 1, 0), 10000);
    scps_ackout_sent(&a, 1, false, false);
    assert_true(scps_ackout_same(&a, &rcv, p.cfg.c.rcvbuf, 0, &seg));
    assert_int_equal(seg.ack, 8);
    assert_int_equal(seg.wnd, 10000);
    assert_int_equal(seg.flags, SCPS_ACK);

    memset(&seg, 0, sizeof seg);
    scps_timer_set(&p.s.ctx, &a.timer, NOW + DELAY);
    assert_false(scps_ackout_same(&a, &rcv, p.cfg.c.rcvbuf, 0, &seg));
    assert_int_equal(seg.ack, 0);
    assert_int_equal(seg.wnd, 0);
    assert_int_equal(seg.flags, 0);
    scps_timer_stop(&a.timer);
    assert_true(scps_ackout_same(&a, &rcv, p.cfg.c.rcvbuf, 0, &seg));

    rcv.in.next = 2; /* An octet has arrived that is not acknowledged. */
    assert_false(scps_ackout_same(&a, &rcv, p.cfg.c.rcvbuf, 0, &seg));
    rcv.in.next = 1;
    assert_false(scps_ackout_same(&a, &rcv, 20000, 0, &seg)); /* The window opens. */
}

/* RFC 5961 section 10: answers to unacceptable segments are limited, or two ends that disagree
 * would answer each other for ever. */
static void answers_are_limited(void **state)
{
    (void)state;
    assert_true(scps_ackout_may_answer(&a, 0));
    assert_false(scps_ackout_may_answer(&a, SCPS_MS(500)));
    assert_true(scps_ackout_may_answer(&a, SCPS_MS(501)));
    assert_false(scps_ackout_may_answer(&a, SCPS_MS(1000)));
    assert_true(scps_ackout_may_answer(&a, SCPS_MS(1001)));
    /* The counter of milliseconds wraps after 49 days. */
    assert_true(scps_ackout_may_answer(&a, SCPS_MS(4294967296 + 1501)));
}

/* A batch that stretch_acks does not let one acknowledgement cover is covered in the steps of its
 * mode. */
static void steps(void **state)
{
    (void)state;
    assert_int_equal(scps_ackout_step(&a, &p.cfg.c, NULL, MSS, 5001), 2001);
    scps_ackout_sent(&a, 2001, false, true);
    assert_int_equal(scps_ackout_step(&a, &p.cfg.c, NULL, MSS, 2501), 2501);
    p.cfg.c.quick_acks = 3; /* The third segment is still one of the first. */
    assert_int_equal(scps_ackout_step(&a, &p.cfg.c, NULL, MSS, 5001), 3001);
    scps_ackout_sent(&a, 3001, false, true);
    assert_int_equal(scps_ackout_step(&a, &p.cfg.c, NULL, MSS, 5101), 5001);
    scps_ackrx_must_cover(&rx.ack, 5050); /* What has filled a hole is covered at once. */
    assert_int_equal(scps_ackout_step(&a, &p.cfg.c, &rx, MSS, 5101), 5050);
    p.cfg.c.ack_mode = SCPS_ACK_EVERY;
    assert_int_equal(scps_ackout_step(&a, &p.cfg.c, NULL, MSS, 5101), 4001);
    p.cfg.c.ack_mode = SCPS_ACK_DELAYED;
    assert_int_equal(scps_ackout_step(&a, &p.cfg.c, NULL, MSS, 5101), 5101);
}

/* The budget of a thin return link: bare acknowledgements wait for both buckets. */
static void budget(void **state)
{
    struct scps_ackbudget b = {.timer.at = SCPS_NEVER};
    (void)state;

    p.cfg.c.ack_budget = 520; /* ten acknowledgements of 52 octets a second */
    p.cfg.c.ack_budget_pps = 100;
    p.cfg.c.rate_overhead = 0;
    assert_true(scps_ackbudget_covers(&b, &p.s.ctx));
    scps_ackbudget_spend(&b, 52);
    assert_false(scps_ackbudget_covers(&b, &p.s.ctx));
    assert_int_equal(b.timer.at, NOW + SCPS_MS(100));
    assert_int_equal(p.st.acks_held, 1);
    p.env.now = NOW + SCPS_MS(100);
    assert_true(scps_ackbudget_covers(&b, &p.s.ctx));
    p.cfg.c.ack_budget = 0;
    p.cfg.c.ack_budget_pps = 4; /* two at once, then one in a quarter of a second */
    scps_timer_stop(&b.timer);
    scps_ackbudget_spend(&b, 52);
    scps_ackbudget_spend(&b, 52);
    scps_ackbudget_covers(&b, &p.s.ctx);
    scps_ackbudget_spend(&b, 52);
    scps_timer_stop(&b.timer);
    assert_false(scps_ackbudget_covers(&b, &p.s.ctx));
    assert_true(b.timer.at > p.env.now && b.timer.at <= p.env.now + SCPS_MS(500));
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(every_second_segment), CASE(modes),         CASE(beyond_a_hole),
        CASE(silly_window),         CASE(scaled_window), CASE(the_same_acknowledgement_again),
        CASE(answers_are_limited),  CASE(steps),         CASE(budget),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
