/* SPDX-License-Identifier: MIT */
/* Keep-alive (RFC 9293 section 3.8.4): when an idle peer is probed, and when it counts as gone. */
#include "core/keep.h"

#include "cmocka_all.h"
#include "part.h"

#define IDLE SCPS_SEC(7200)
#define WAIT SCPS_SEC(75)

static struct part p;
static struct scps_keep k;

static int begin(void **state)
{
    (void)state;
    part_init(&p, 0);
    p.cfg.c.keepalive = true;
    k = (struct scps_keep){.timer.at = SCPS_NEVER};
    return 0;
}

static int end(void **state)
{
    (void)state;
    part_fini(&p);
    return 0;
}

static enum scps_keep_verdict expires(scps_time now)
{
    p.env.now = now;
    k.timer.at = SCPS_NEVER;
    return scps_keep_expired(&k, &p.s, SCPS_ESTABLISHED);
}

/* MUST-28: the interval "MUST default to no less than two hours". MUST-26: a keep-alive is sent
 * only when "no data or acknowledgment packets have been received for the connection within an
 * interval". */
static void after_the_interval(void **state)
{
    (void)state;
    assert_int_equal(scps_conn_config_default().keep_idle, IDLE);
    scps_keep_heard(&k, SCPS_SEC(10));
    assert_int_equal(expires(IDLE), SCPS_KEEP_LATER);
    assert_int_equal(k.timer.at, IDLE + SCPS_SEC(10));
    assert_int_equal(expires(IDLE + SCPS_SEC(10)), SCPS_KEEP_PROBE);
    assert_int_equal(k.timer.at, IDLE + SCPS_SEC(10) + WAIT);
    assert_int_equal(p.s.keep_probes, 1);
    assert_false(p.s.heard.keep);
}

/* MUST-29: "an implementation MUST NOT interpret failure to respond to any specific probe as a dead
 * connection". */
static void gone_after_several_probes(void **state)
{
    scps_time now = IDLE;
    (void)state;

    for (unsigned i = 1; i <= p.cfg.c.keep_count; i++, now += WAIT) {
        assert_int_equal(expires(now), SCPS_KEEP_PROBE);
        assert_int_equal(p.s.keep_probes, i);
    }
    assert_int_equal(expires(now), SCPS_KEEP_END);
    assert_true(p.cfg.c.keep_count > 1);
}

/* An answer begins a new interval when it comes, and the count of probes without an answer. */
static void an_answer(void **state)
{
    const scps_time answer = IDLE + WAIT + WAIT / 2;
    (void)state;

    assert_int_equal(expires(IDLE), SCPS_KEEP_PROBE);
    assert_int_equal(expires(IDLE + WAIT), SCPS_KEEP_PROBE);
    scps_heard_now(&p.s.heard);
    scps_keep_heard(&k, answer);
    assert_int_equal(expires(IDLE + 2 * WAIT), SCPS_KEEP_LATER);
    assert_int_equal(k.timer.at, answer + IDLE);
    assert_int_equal(p.s.keep_probes, 0);
    for (unsigned i = 0; i < p.cfg.c.keep_count; i++)
        assert_int_equal(expires(answer + IDLE + i * WAIT), SCPS_KEEP_PROBE);
}

/* MUST-26: "only be sent when no sent data is outstanding": other timers see to such data. */
static void with_data(void **state)
{
    (void)state;
    p.s.snd.nxt = 2;
    p.s.snd.end = 2;
    assert_int_equal(expires(IDLE), SCPS_KEEP_LATER);
    assert_int_equal(k.timer.at, 2 * IDLE);
    p.s.snd.una = 2; /* All data sent was acknowledged, but more was written. */
    p.s.snd.end = 3;
    assert_int_equal(expires(IDLE), SCPS_KEEP_LATER);
    p.s.snd.end = 2; /* All data was acknowledged, but a FIN has to be sent. */
    p.s.snd.shut = true;
    assert_int_equal(expires(IDLE), SCPS_KEEP_LATER);
    p.s.snd.shut = false;
    assert_int_equal(expires(IDLE), SCPS_KEEP_PROBE);
}

/* The answer to a probe takes a round trip, so the next probe waits for an RTO at least. */
static void slow_paths(void **state)
{
    (void)state;
    p.s.rtt.rto = SCPS_SEC(1000);
    assert_int_equal(expires(IDLE), SCPS_KEEP_PROBE);
    assert_int_equal(k.timer.at, IDLE + SCPS_SEC(1000));
}

/* RFC 5482: with a user timeout it alone decides, but not without a probe. */
static void user_timeout(void **state)
{
    (void)state;
    p.cfg.c.user_timeout = SCPS_SEC(7300);
    assert_int_equal(expires(IDLE + SCPS_SEC(200)), SCPS_KEEP_PROBE);
    assert_int_equal(expires(IDLE + SCPS_SEC(275)), SCPS_KEEP_END);
    p.s.keep_probes = 100; /* more than keep_count */
    p.cfg.c.user_timeout = 2 * IDLE;
    assert_int_equal(expires(IDLE + SCPS_SEC(275)), SCPS_KEEP_PROBE);
}

/* MUST-24: an application can turn keep-alives off, and they are off by default (MUST-25). */
static void not_in_force(void **state)
{
    static const uint8_t without[] = {SCPS_CLOSED,  SCPS_SYN_SENT, SCPS_SYN_RECEIVED,
                                      SCPS_CLOSING, SCPS_LAST_ACK, SCPS_TIME_WAIT};
    (void)state;

    assert_false(scps_conn_config_default().keepalive);
    p.env.now = 9 * IDLE;
    for (size_t i = 0; i < sizeof without; i++) {
        assert_int_equal(scps_keep_expired(&k, &p.s, without[i]), SCPS_KEEP_LATER);
        assert_int_equal(k.timer.at, SCPS_NEVER);
    }
    p.cfg.c.keepalive = false;
    assert_int_equal(expires(IDLE), SCPS_KEEP_LATER);
    assert_int_equal(k.timer.at, SCPS_NEVER);
}

/* During an outage the link is probed in another way (docs/SCPS-TP.md section 3.5). */
static void outage(void **state)
{
    (void)state;
    scps_todo_add(&p.s.todo, SCPS_TODO_OUTAGE);
    assert_int_equal(expires(IDLE), SCPS_KEEP_LATER);
    assert_int_equal(k.timer.at, 2 * IDLE);
    assert_int_equal(p.s.keep_probes, 0);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(after_the_interval), CASE(gone_after_several_probes),
        CASE(an_answer),          CASE(with_data),
        CASE(slow_paths),         CASE(user_timeout),
        CASE(not_in_force),       CASE(outage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
