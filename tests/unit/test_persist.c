/* SPDX-License-Identifier: MIT */
/* The timer of window probes (RFC 9293 section 3.8.6) and the retransmission timer (RFC 6298): when
 * they expire, and that at most one of them runs. */
#include "core/persist.h"

#include "cmocka_all.h"
#include "core/snd.h"
#include "part.h"

#define NOW SCPS_SEC(1000)

static struct part p;

static int begin(void **state)
{
    (void)state;
    part_init(&p, NOW);
    return 0;
}

static int end(void **state)
{
    (void)state;
    part_fini(&p);
    return 0;
}

static scps_dur probe_in(void)
{
    assert_int_equal(p.s.tx->rto.timer.at, SCPS_NEVER);
    return p.s.tx->persist.timer.at - NOW;
}

static scps_dur resend_in(void)
{
    assert_int_equal(p.s.tx->persist.timer.at, SCPS_NEVER);
    return p.s.tx->rto.timer.at - NOW;
}

/* SHLD-29: the first probe "when a zero window has existed for the retransmission timeout period",
 * SHLD-30: and the interval "increase exponentially". */
static void probes_back_off(void **state)
{
    static const int64_t wait[] = {1, 2, 4, 8, 16, 32, 60, 60};
    (void)state;

    scps_snd_arm_rtx(&p.s);
    scps_persist_begin(&p.s);
    assert_true(p.s.todo.bits & SCPS_TODO_PERSIST);
    assert_int_equal(p.s.tx->silence.since, NOW);
    for (size_t i = 0; i < sizeof wait / sizeof *wait; i++) {
        assert_int_equal(probe_in(), SCPS_SEC(wait[i]));
        scps_silence_count(&p.s.tx->silence);
        scps_persist_arm(&p.s);
    }
    p.cfg.c.persist_max = SCPS_MS(500); /* lower than the RTO */
    scps_persist_arm(&p.s);
    assert_int_equal(probe_in(), SCPS_MS(500));
    scps_persist_end(&p.s);
    assert_false(p.s.todo.bits & SCPS_TODO_PERSIST);
    assert_int_equal(p.s.tx->silence.unanswered, 0);
    assert_int_equal(probe_in(), SCPS_NEVER - NOW);
}

/* While the window is probed, data that is sent does not start the retransmission timer. */
static void the_retransmission_timer_rests(void **state)
{
    (void)state;
    scps_persist_begin(&p.s);
    p.s.rtt.rto = SCPS_SEC(3);
    scps_snd_arm_rtx(&p.s);
    assert_int_equal(probe_in(), SCPS_SEC(3));
    scps_todo_add(&p.s.todo, SCPS_TODO_OUTAGE); /* In an outage neither timer is started. */
    p.s.rtt.rto = SCPS_SEC(1);
    scps_snd_arm_rtx(&p.s);
    assert_int_equal(probe_in(), SCPS_SEC(3));
}

/* Section 3.8.6.2.1: "The override timeout should be in the range 0.1 - 1.0 seconds." */
static void override(void **state)
{
    (void)state;
    p.s.rtt.rto = SCPS_SEC(5);
    scps_persist_arm_override(&p.s);
    assert_int_equal(probe_in(), SCPS_SEC(1));
    p.s.rtt.rto = SCPS_MS(300);
    scps_persist_arm_override(&p.s);
    assert_int_equal(probe_in(), SCPS_MS(300));
    p.s.rtt.rto = SCPS_MS(1);
    scps_persist_arm_override(&p.s);
    assert_int_equal(probe_in(), SCPS_MS(100));
    p.s.rtt.rto = SCPS_SEC(1);
    scps_persist_arm_override(&p.s); /* An earlier one stays. */
    assert_int_equal(probe_in(), SCPS_MS(100));
}

/* RFC 6298 section 5.5: "The host MUST set RTO <- RTO * 2", up to a maximum (2.5). Last note of
 * section 5: the backoff lasts until a round trip is measured, although the peer has acknowledged
 * something. */
static void resends_back_off(void **state)
{
    static const int64_t wait[] = {1, 2, 4, 8, 16, 32, 60, 60};
    (void)state;

    for (size_t i = 0; i < sizeof wait / sizeof *wait; i++) {
        scps_snd_arm_rtx(&p.s);
        assert_int_equal(resend_in(), SCPS_SEC(wait[i]));
        scps_silence_count(&p.s.tx->silence);
        scps_rto_keep(&p.s.tx->rto);
    }
    scps_silence_answered(&p.s.tx->silence);
    scps_snd_arm_rtx(&p.s);
    assert_int_equal(resend_in(), SCPS_SEC(60));
    scps_rto_measured(&p.s.tx->rto, SCPS_MS(400));
    scps_snd_arm_rtx(&p.s);
    assert_int_equal(resend_in(), SCPS_SEC(1));
    scps_snd_arm_rtx_from(&p.s, NOW + SCPS_SEC(7)); /* A segment that leaves later. */
    assert_int_equal(resend_in(), SCPS_SEC(8));
    p.cfg.c.rto_max = SCPS_MS(100); /* A limit below the RTO does not shorten it. */
    scps_silence_count(&p.s.tx->silence);
    scps_snd_arm_rtx(&p.s);
    assert_int_equal(resend_in(), SCPS_SEC(1));
}

/* docs/SCPS-TP.md section 3.4: losses attributed to corruption do not back the timer off, until
 * eight timeouts in a row say that corruption does not explain them, and then up to 1 s. */
static void corruption(void **state)
{
    (void)state;
    p.s.rtt.rto = SCPS_MS(100);
    p.cfg.c.loss_cause = SCPS_LOSS_CORRUPTION;
    for (int i = 0; i <= 8; i++) {
        scps_snd_arm_rtx(&p.s);
        assert_int_equal(resend_in(), SCPS_MS(100));
        scps_silence_count(&p.s.tx->silence);
    }
    for (int i = 0; i < 5; i++) {
        scps_snd_arm_rtx(&p.s);
        assert_int_equal(resend_in(), i < 3 ? SCPS_MS(200) << i : SCPS_SEC(1));
        scps_silence_count(&p.s.tx->silence);
    }
    p.s.tx->silence.unanswered = 2; /* A closed window is no loss: its probes back off. */
    scps_persist_begin(&p.s);
    assert_int_equal(probe_in(), SCPS_MS(400));
}

/* RFC 5482: the timer expires no later than the user timeout, counted from the last progress. */
static void user_timeout(void **state)
{
    (void)state;
    p.cfg.c.user_timeout = SCPS_SEC(10);
    scps_tx_progress(p.s.tx, NOW - SCPS_MS(9400));
    scps_snd_arm_rtx(&p.s);
    assert_int_equal(resend_in(), SCPS_MS(600));
    scps_tx_progress(p.s.tx, NOW - SCPS_SEC(30)); /* It is over: now, not in the past. */
    scps_snd_arm_rtx(&p.s);
    assert_int_equal(resend_in(), 0);
    p.s.established = 0; /* It does not concern the handshake. */
    scps_snd_arm_rtx(&p.s);
    assert_int_equal(resend_in(), SCPS_SEC(1));
}

/* RFC 9293 section 3.9.1.1: the user timeout of data that waits for the peer's window begins with
 * that data, and the timer of window probes expires no later than the user timeout. */
static void user_timeout_of_probes(void **state)
{
    (void)state;
    p.cfg.c.user_timeout = SCPS_SEC(10);
    scps_tx_progress(p.s.tx, NOW - SCPS_SEC(30));
    scps_persist_begin(&p.s);
    assert_int_equal(p.s.tx->progress_at, NOW);
    assert_int_equal(probe_in(), SCPS_SEC(1));
    p.s.tx->silence.unanswered = 5;
    scps_tx_progress(p.s.tx, NOW - SCPS_MS(9400));
    scps_persist_arm(&p.s);
    assert_int_equal(probe_in(), SCPS_MS(600));
    scps_tx_progress(p.s.tx, NOW - SCPS_SEC(30)); /* It is over: now, not in the past. */
    scps_persist_arm(&p.s);
    assert_int_equal(probe_in(), 0);
    p.s.established = 0; /* It does not concern the handshake. */
    scps_persist_arm(&p.s);
    assert_int_equal(probe_in(), SCPS_SEC(32));
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(probes_back_off),
        CASE(the_retransmission_timer_rests),
        CASE(override),
        CASE(resends_back_off),
        CASE(corruption),
        CASE(user_timeout),
        CASE(user_timeout_of_probes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
