/* SPDX-License-Identifier: MIT */
/* The plan of the next segment without a connection: how long it is, and each rule that delays it:
 * the peer's window, the congestion window, Nagle's rule and silly windows, cork, the restart after
 * an idle time (RFC 9293 sections 3.7.4, 3.8.6.1 and 3.8.6.2.1, RFC 5681 section 4.1). */
#include "core/sndplan.h"

#include "core/gate.h"

#include "failing_alloc.h"
#include "part_cases.h"

static enum scps_cc_change changed; /* the last change that the controller was informed of */
static unsigned changes;

static void change(void *cc, const struct scps_cc_view *v, enum scps_cc_change what,
                   struct scps_cc_ctl *ctl)
{
    (void)cc;
    (void)v;
    (void)ctl;
    changed = what;
    changes++;
}

static const struct scps_cc_ops ops = {.name = "test", .change = change};
static struct scps_ready_queue queue;
static struct scps_tx_plan plan;

/* The application has written 10000 octets, and the peer's window permits 64000. */
static void prepare(void)
{
    p.cfg.c.cc = &ops;
    p.cfg.c.limited_transmit = true;
    p.s.queue = &queue;
    p.s.ctl.cwnd = 10000;
    p.s.snd.end = 10001;
    p.s.snd.edge = 64001;
    p.s.snd.max_wnd = 64000;
    p.s.tx->sent_at = START;
    scps_timer_stop(&p.s.tx->cork_timer);
    scps_timer_stop(&p.s.tx->retry_timer);
    scps_timer_stop(&p.s.tx->pace_timer);
    queue = (struct scps_ready_queue){0};
    changes = 0;
}

static bool planned(bool probe)
{
    return scps_plan_segment(&p.s, probe, &plan);
}

/* A segment has at most the MSS, what is written, and what the peer's window permits. */
static void length(void **state)
{
    (void)state;
    assert_true(planned(false));
    assert_int_equal(plan.len, 1000);
    assert_int_equal(plan.avail, 10000);
    assert_int_equal(plan.usable, 64000);
    p.s.snd.edge = 701;
    assert_true(planned(false));
    assert_int_equal(plan.len, 700);
    assert_int_equal(plan.full, 1000);
    p.s.snd.end = 301;
    assert_true(planned(false));
    assert_int_equal(plan.len, 300);
    p.s.snd.end = 1;
    assert_false(planned(false));
    assert_int_equal(p.s.hold, SCPS_HOLD_APP);
    scps_send_shut(&p.s.snd);
    assert_true(planned(false)); /* The FIN alone. */
    assert_true(plan.fin);
    assert_int_equal(plan.len, 0);
}

/* RFC 9293 section 3.8.6.1: a window probe has "at least one octet of new data" and leaves although
 * the window is closed. It is sent only while nothing is outstanding, whose acknowledgement would
 * open the window. */
static void closed_window(void **state)
{
    (void)state;
    p.s.snd.edge = 1;
    assert_false(planned(false));
    assert_int_equal(p.s.hold, SCPS_HOLD_PEER_WINDOW);
    assert_true(p.s.todo.bits & SCPS_TODO_PERSIST);
    assert_int_equal(p.s.tx->persist.timer.at, START + p.s.rtt.rto);
    assert_true(planned(true));
    assert_int_equal(plan.len, 1);
    assert_int_equal(plan.flags, SCPS_SENT_PROBE);
    begin(state);
    part_send(&p, 1, 1000);
    p.s.snd.edge = p.s.snd.nxt;
    assert_false(planned(true));
    assert_false(p.s.todo.bits & SCPS_TODO_PERSIST);
}

/* RFC 9293 section 3.7.4: "If there is unacknowledged data (i.e., SND.NXT > SND.UNA), then the
 * sending TCP endpoint buffers all user data [...] until the outstanding data has been acknowledged
 * or until the TCP endpoint can send a full-sized segment". Here, as Minshall proposed, only an
 * outstanding small segment makes the next one wait. */
static void nagle(void **state)
{
    (void)state;
    p.s.snd.end = 1301;
    part_send(&p, 1, 1000);
    assert_true(scps_plan_small(&p.s, 300, 63000));
    p.s.tx->small_end = 1001;
    assert_false(scps_plan_small(&p.s, 300, 63000));
    assert_int_equal(p.s.hold, SCPS_HOLD_NAGLE);
    scps_small_set(&p.s.small, SCPS_SMALL_NODELAY, true);
    assert_true(scps_plan_small(&p.s, 300, 63000));
    scps_small_set(&p.s.small, SCPS_SMALL_NODELAY, false);
    scps_send_shut(&p.s.snd); /* The segment has the FIN; nothing can be added. */
    assert_true(scps_plan_small(&p.s, 300, 63000));
}

/* With cork a small segment waits for 200 ms at most, whatever Nagle's rule permits; PUSH sends
 * it. */
static void cork(void **state)
{
    static const unsigned bits[] = {SCPS_SMALL_CORK, SCPS_SMALL_MORE};
    (void)state;

    for (size_t i = 0; i < 2; i++) {
        begin(state);
        p.s.snd.end = 301;
        scps_small_set(&p.s.small, SCPS_SMALL_NODELAY, true);
        scps_small_set(&p.s.small, bits[i], true);
        assert_false(scps_plan_small(&p.s, 300, 64000));
        assert_int_equal(p.s.hold, SCPS_HOLD_CORK);
        assert_int_equal(p.s.tx->cork_timer.at, START + SCPS_MS(200));
        p.env.now += SCPS_MS(50);
        assert_false(scps_plan_small(&p.s, 300, 64000)); /* The timer goes on. */
        assert_int_equal(p.s.tx->cork_timer.at, START + SCPS_MS(200));
        scps_small_set(&p.s.small, SCPS_SMALL_PUSH, true);
        assert_true(scps_plan_small(&p.s, 300, 64000));
    }
}

/* RFC 9293 section 3.8.6.2.1, against silly windows: a segment that takes all of the window is sent
 * if it is "at least a fraction Fs of the maximum window", one half. Otherwise "the override
 * timeout" sends it. */
static void silly_window(void **state)
{
    (void)state;
    p.s.snd.max_wnd = 800;
    assert_true(scps_plan_small(&p.s, 400, 400));
    assert_false(scps_plan_small(&p.s, 399, 399));
    assert_int_equal(p.s.hold, SCPS_HOLD_PEER_WINDOW);
    assert_true(p.s.todo.bits & SCPS_TODO_PERSIST);
    assert_in_range(p.s.tx->persist.timer.at, START + SCPS_MS(100), START + SCPS_SEC(1));
    begin(state); /* While data is outstanding its acknowledgement may widen the window. */
    p.s.snd.max_wnd = 800;
    part_send(&p, 1, 100);
    assert_false(scps_plan_small(&p.s, 399, 399));
    assert_false(p.s.todo.bits & SCPS_TODO_PERSIST);
}

/* The congestion window, and what counts as in flight: without limited transmit (RFC 3042) all that
 * is outstanding. A segment is sent in any case if nothing is in flight. */
static void congestion_window(void **state)
{
    (void)state;
    p.s.snd.end = 100001;
    assert_true(planned(false));
    p.s.ctl.cwnd = 999;
    assert_true(scps_plan_window_covers(&p.s, NULL, &plan));
    part_send(&p, 9, 1000);
    p.s.ctl.cwnd = 10000;
    assert_true(scps_plan_window_covers(&p.s, NULL, &plan));
    assert_int_equal(plan.inflight, 9000);
    p.s.ctl.cwnd = 9999;
    assert_false(scps_plan_window_covers(&p.s, NULL, &plan));
    assert_int_equal(p.s.hold, SCPS_HOLD_CWND);
    assert_true(p.s.use.limited);
    p.s.tx->rec.virtual_arrived = 1000; /* A duplicate acknowledgement stands for it. */
    assert_true(scps_plan_window_covers(&p.s, NULL, &plan));
    p.cfg.c.limited_transmit = false;
    assert_false(scps_plan_window_covers(&p.s, NULL, &plan));
    p.s.tx->rec.episode = SCPS_EPISODE_FAST;
    p.s.tx->saved_ctl.cwnd = 20000;
    p.s.tx->rec.window = 8999; /* PRR (RFC 6937) permits less. */
    assert_false(scps_plan_window_covers(&p.s, NULL, &plan));
    assert_int_equal(p.s.hold, SCPS_HOLD_RECOVERY);
    p.s.tx->rec.window = 9000;
    assert_true(scps_plan_window_covers(&p.s, NULL, &plan));
}

/* RFC 5681 section 4.1: "if the TCP has not sent data in an interval exceeding the retransmission
 * timeout", the window is reduced before the next segment. */
static void restart_after_idle(void **state)
{
    (void)state;
    p.s.snd.una = p.s.snd.nxt = 1001;
    planned(false);
    p.env.now = START + p.s.rtt.rto;
    scps_plan_window_covers(&p.s, NULL, &plan);
    assert_int_equal(changes, 0);
    p.env.now += 1;
    scps_plan_window_covers(&p.s, NULL, &plan);
    assert_int_equal(changes, 1);
    assert_int_equal(changed, SCPS_CC_IDLE);
    p.s.snd.una = p.s.snd.nxt = 1; /* No data was sent before. */
    scps_plan_window_covers(&p.s, NULL, &plan);
    assert_int_equal(changes, 1);
}

/* RFC 7661 section 4.1: the window is validated if it is in use; in slow start half of it suffices,
 * because the window doubles in a round trip. */
static void window_in_use(void **state)
{
    struct scps_cc_ctl ctl = {.cwnd = 10000, .ssthresh = 20000};
    (void)state;

    assert_false(scps_plan_in_use(&ctl, 1000, 5000, 10000));
    assert_true(scps_plan_in_use(&ctl, 1000, 5001, 10000));
    ctl.ssthresh = 10000;
    assert_false(scps_plan_in_use(&ctl, 1000, 9000, 10000));
    assert_true(scps_plan_in_use(&ctl, 1000, 9001, 10000)); /* No further segment would fit. */
}

/* The connection's own rate counts packets, or, where it spreads the congestion window, payload.
 * With both, a segment costs what the packet takes at the configured rate. */
static void cost(void **state)
{
    (void)state;
    assert_int_equal(scps_plan_cost(&p.s, 1000), 0);
    p.s.tx->pacer.rate = 1;
    assert_int_equal(scps_plan_cost(&p.s, 1000), 1040);
    p.s.ipv6 = true;
    p.cfg.c.rate_overhead = 4;
    assert_int_equal(scps_plan_cost(&p.s, 1000), 1064);
    p.s.tx->paces_window = true;
    assert_int_equal(scps_plan_cost(&p.s, 1000), 1000);
    p.s.tx->pace_share = UINT32_MAX; /* The pacer's rate is the configured one. */
    assert_int_equal(scps_plan_cost(&p.s, 1000), 1064);
    p.s.tx->pace_share = UINT32_C(1) << 31;
    assert_int_equal(scps_plan_cost(&p.s, 1000), 1000);
}

/* The pacer's timer expires when the rate covers the segment. */
static void rate(void **state)
{
    struct scps_heap_node key = {.key = START}; /* The connection's timers are checked then. */
    (void)state;
    p.env.deadlines.v = &key;
    scps_pacer_set(&p.s.tx->pacer, START, 1000, 2000);
    assert_true(scps_plan_covered(&p.s, 1500));
    scps_pacer_spend(&p.s.tx->pacer, 1500);
    assert_false(scps_plan_covered(&p.s, 1500));
    assert_int_equal(p.s.hold, SCPS_HOLD_PACE);
    assert_int_equal(p.s.tx->pace_timer.at, START + SCPS_SEC(1));
}

/* Without memory for a record nothing is sent; a timer repeats the attempt after an RTO, and not
 * before SCPS_MEMORY_RETRY. */
static void no_memory(void **state)
{
    static struct poor poor;
    (void)state;

    p.env.alloc = (struct scps_alloc){.alloc = poor_alloc, .free = poor_free, .ctx = &poor};
    assert_false(scps_plan_record_fits(&p.s));
    assert_int_equal(p.s.tx->retry_timer.at, START + p.s.rtt.rto);
    p.s.rtt.rto = SCPS_MS(1);
    assert_false(scps_plan_record_fits(&p.s));
    assert_int_equal(p.s.tx->retry_timer.at, START + SCPS_MEMORY_RETRY);
    poor.left = 3;
    assert_true(scps_plan_record_fits(&p.s));
}

/* The minimum rate of the route lets a connection send beyond its congestion window, but not to a
 * peer that has been silent for several timeouts: then ten segments may be in flight, whatever the
 * rate. */
static void minimum_rate_and_a_silent_peer(void **state)
{
    struct scps_gate gate = {0};
    (void)state;

    scps_gate_set(&gate, START, &(struct scps_route){.min_rate = 1000, .burst = 5000}, 1000);
    queue.gate = &gate;
    part_send(&p, 12, p.s.agreed.mss);
    assert_false(scps_plan_gate_permits(&p.s));
    scps_gate_serve(&gate, START);
    assert_true(scps_plan_gate_permits(&p.s));
    p.s.tx->rec.silent = 2;
    assert_false(scps_plan_gate_permits(&p.s));
    queue.gate = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(length),
        CASE(closed_window),
        CASE(nagle),
        CASE(cork),
        CASE(silly_window),
        CASE(congestion_window),
        CASE(minimum_rate_and_a_silent_peer),
        CASE(restart_after_idle),
        CASE(window_in_use),
        CASE(cost),
        CASE(rate),
        CASE(no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
