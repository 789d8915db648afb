/* SPDX-License-Identifier: MIT */
/* A series of unanswered timeouts, and R2 of RFC 9293 section 3.8.3, which ends the connection,
 * without a connection. */
#include "core/silence.h"

#include "cmocka_all.h"
#include "core/sender.h"

/* The counter is as wide as the limits of a configuration, and stops at its largest value. */
static void counts_beyond_an_octet(void **state)
{
    struct scps_silence s = {.unanswered = 0};
    (void)state;

    for (unsigned i = 1; i <= 300; i++) {
        scps_silence_count(&s);
        assert_int_equal(s.unanswered, i);
    }
    scps_silence_go_on(&s, UINT16_MAX);
    scps_silence_count(&s);
    assert_int_equal(s.unanswered, UINT16_MAX);
    scps_silence_answered(&s);
    assert_int_equal(s.unanswered, 0);
}

static scps_dur data(unsigned retries, scps_dur rto, scps_dur max)
{
    struct scps_conn_config cfg = scps_conn_config_default();

    cfg.data_retries = (uint16_t)retries;
    return scps_silence_limit(&cfg, true, rto, max);
}

static scps_dur syn(unsigned retries, scps_dur rto, scps_dur max)
{
    struct scps_conn_config cfg = scps_conn_config_default();

    cfg.syn_retries = (uint16_t)retries;
    return scps_silence_limit(&cfg, false, rto, max);
}

/* SHLD-11: "The value of R2 SHOULD correspond to at least 100 seconds." Beyond that it is the time
 * of all timeouts with RFC 6298's backoff, the last of which ends the connection. */
static void r2_of_data(void **state)
{
    (void)state;

    assert_int_equal(data(3, SCPS_MS(200), SCPS_SEC(60)), SCPS_SEC(100));
    /* 10 + 20 + 40 + 60 + 60 */
    assert_int_equal(data(4, SCPS_SEC(10), SCPS_SEC(60)), SCPS_SEC(190));
    /* A limit below the first timeout does not shorten it: 50 + 50 + 50. */
    assert_int_equal(data(2, SCPS_SEC(50), SCPS_SEC(1)), SCPS_SEC(150));
    assert_int_equal(data(0, SCPS_SEC(300), SCPS_SEC(60)), SCPS_SEC(300));
    /* No overflow: this is never. */
    assert_int_equal(data(UINT16_MAX, SCPS_NEVER / 1000, SCPS_NEVER), SCPS_NEVER);
}

/* MUST-23: "R2 for a SYN segment MUST be set large enough to provide retransmission of the segment
 * for at least 3 minutes." */
static void r2_of_a_syn(void **state)
{
    (void)state;

    /* 1 + 2 + 4 + 8 + 16 + 32 + 60 + 60, although the round trip is expected to be short */
    assert_int_equal(syn(7, SCPS_MS(20), SCPS_SEC(1)), SCPS_SEC(183));
    /* The last SYN is sent at most a minute, the limit of the backoff, before the end. */
    assert_true(syn(scps_conn_config_default().syn_retries, SCPS_MS(1), SCPS_MS(1)) >=
                SCPS_SEC(180 + 60));
    /* 40 + 80 + 120 + 120: the configured limit is above a minute. */
    assert_int_equal(syn(3, SCPS_SEC(40), SCPS_SEC(120)), SCPS_SEC(360));
    assert_int_equal(syn(0, SCPS_SEC(3), SCPS_SEC(60)), SCPS_SEC(3)); /* as the user has set it */
}

static void errors(void **state)
{
    (void)state;

    assert_int_equal(scps_silence_err(SCPS_SOFT_NONE), SCPS_ERR_TIMEDOUT);
    assert_int_equal(scps_silence_err(SCPS_SOFT_REFUSED), SCPS_ERR_REFUSED);
    assert_int_equal(scps_silence_err(SCPS_SOFT_UNREACH), SCPS_ERR_UNREACH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_beyond_an_octet),
        cmocka_unit_test(r2_of_data),
        cmocka_unit_test(r2_of_a_syn),
        cmocka_unit_test(errors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
