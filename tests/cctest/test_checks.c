/* SPDX-License-Identifier: MIT */
/* The checks of libscps_cctest: every controller of the library passes, every mutant fails the
 * check that its description names, and the controllers without the mistakes pass. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "mutants.h"

static struct scps_cctest_verdict verdict[SCPS_CCTEST_CHECKS];

static void must_pass(const struct scps_cc_ops *ops, const struct scps_cctest_expect *x)
{
    size_t failed = scps_cctest_judge(ops, NULL, x, 0, verdict);

    for (size_t i = 0; failed && i < SCPS_CCTEST_CHECKS; i++)
        if (verdict[i].run && !verdict[i].ok && !verdict[i].exempt)
            fail_msg("%s, %s: %s", ops->name, scps_cctest_check_name(verdict[i].check),
                     verdict[i].msg);
    assert_int_equal(failed, 0);
}

static void shipped_controllers_pass(void **state)
{
    const struct scps_cc_ops *ops;
    (void)state;

    for (size_t i = 0; (ops = scps_cc_at(i)) != NULL; i++) {
        struct scps_cctest_expect x = scps_cctest_expect_of(ops->name);
        must_pass(ops, &x);
        /* A controller has a reason exactly if it has an exemption. */
        assert_int_equal(x.exempt != 0, x.why != NULL);
        for (size_t k = 0; k < SCPS_CCTEST_CHECKS; k++)
            if (verdict[k].exempt && verdict[k].ok)
                fail_msg("%s meets %s: take the exemption away", ops->name,
                         scps_cctest_check_name(verdict[k].check));
    }
}

static void right_ones_pass(void **state)
{
    struct scps_cctest_expect x = {.form = scps_cctest_form_find("reno")};
    (void)state;

    must_pass(&cc_right_reno, &x);
    x.form = NULL;
    must_pass(&cc_right_vegas, &x);
}

static void mutants_are_found(void **state)
{
    struct cc_mutant m;
    size_t n = 0;
    (void)state;

    for (; cc_mutant_at(n, &m); n++) {
        struct scps_cctest_expect x = {0};
        if (m.form)
            x.form = scps_cctest_form_find(m.form);
        assert_true(scps_cctest_judge(m.ops, NULL, &x, 0, verdict) > 0);
        if (!verdict[m.found_by].run || verdict[m.found_by].ok)
            fail_msg("%s is not found by %s: %s (%s)", m.ops->name,
                     scps_cctest_check_name(m.found_by), verdict[m.found_by].msg, m.story);
    }
    assert_true(n >= 24);
}

/* Removing any action of a shrunk history makes the check pass. */
static void shrunk_histories_are_minimal(void **state)
{
    struct cc_mutant m;
    unsigned shrunk = 0;
    (void)state;

    for (size_t i = 0; cc_mutant_at(i, &m); i++) {
        struct scps_cctest_history h, less;
        uint64_t bit = SCPS_CCTEST_BIT(m.found_by), seed = 0;

        if (m.found_by == SCPS_CCTEST_OPS || m.found_by > SCPS_CCTEST_PURE ||
            /* The histories of this mutant depend on those run before, so they cannot be shrunk. */
            !strcmp(m.ops->name, "static_clock"))
            continue;
        do {
            assert_true(seed < 200);
            scps_cctest_random(++seed, &h);
        } while (scps_cctest_run(m.ops, (int64_t[SCPS_CC_PARAMS]){m.ops->params[0].def}, &h, 0, bit,
                                 NULL, 0) != m.found_by);
        int64_t param[SCPS_CC_PARAMS];
        scps_cc_param_defaults(m.ops, param);
        scps_cctest_shrink(m.ops, param, &h, 0, m.found_by);
        assert_in_range(h.n, 1, 30);
        for (size_t k = 0; k < h.n; k++) {
            memcpy(&less, &h, sizeof less);
            memmove(&less.v[k], &less.v[k + 1], (h.n - k - 1) * sizeof *less.v);
            less.n--;
            assert_int_not_equal(scps_cctest_run(m.ops, param, &less, 0, bit, NULL, 0), m.found_by);
        }
        assert_int_equal(scps_cctest_run(m.ops, param, &h, 0, bit, NULL, 0), m.found_by);
        shrunk++;
    }
    assert_true(shrunk >= 10);
}

/* Actions with the largest amounts that the type has make a history whose times do not overflow. */
static void amounts_without_bounds(void **state)
{
    struct scps_cctest_history h = {.n = SCPS_CCTEST_ACTIONS};
    int64_t param[SCPS_CC_PARAMS];
    (void)state;

    for (size_t i = 0; i < h.n; i++)
        h.v[i] = (struct scps_cctest_action){.what = (enum scps_cctest_what)(i % SCPS_CCTEST_DOS),
                                             .n = UINT32_MAX,
                                             .after = UINT32_MAX};
    scps_cc_param_defaults(scps_cc_find("vj"), param);
    assert_int_equal(scps_cctest_run(scps_cc_find("vj"), param, &h, 0, 0, NULL, 0),
                     SCPS_CCTEST_CHECKS);
}

static void names(void **state)
{
    (void)state;
    for (unsigned c = 0; c < SCPS_CCTEST_CHECKS; c++) {
        const char *name = scps_cctest_check_name((enum scps_cctest_check)c);
        assert_non_null(name);
        assert_non_null(scps_cctest_check_help((enum scps_cctest_check)c));
        assert_int_equal(scps_cctest_check_find(name, strlen(name)), c);
    }
    assert_null(scps_cctest_check_name(SCPS_CCTEST_CHECKS));
    assert_int_equal(scps_cctest_check_find("flo", 3), SCPS_CCTEST_CHECKS);
    assert_null(scps_cctest_form_find("reno2"));
    assert_non_null(scps_cctest_form_find("cubic"));
}

static void tables(void **state)
{
    static const struct scps_cctest_row rows[] = {
        {SCPS_CCTEST_ACK, .bytes = 2000, .want_cwnd = 12000},
        {SCPS_CCTEST_LOSS, .bytes = 1000, .fresh = true, .want_cwnd = 6000, .want_ssthresh = 6000},
        {SCPS_CCTEST_LOSS, .bytes = 1000, .want_cwnd = 6000},
        {SCPS_CCTEST_ACK, .bytes = 1000, .in_recovery = true, .want_cwnd = 6000},
        {SCPS_CCTEST_CHANGE, .what = SCPS_CC_SPURIOUS, .want_cwnd = 12000},
        {SCPS_CCTEST_CHANGE, .what = SCPS_CC_RTO, .want_cwnd = 1000},
    };
    static const struct scps_cctest_row wrong[] = {
        {SCPS_CCTEST_ACK, .bytes = 2000},
        {SCPS_CCTEST_ACK, .bytes = 2000, .times = 2, .want_cwnd = 17000},
    };
    struct scps_cctest t = {.ops = NULL};
    char msg[200];
    (void)state;

    scps_cctest_start(&t, scps_cc_find("vj"), NULL, &(struct scps_cc_view){.mss = 1000});
    if (!scps_cctest_play(&t, rows, SCPS_CCTEST_ROWS(rows), msg, sizeof msg))
        fail_msg("%s", msg);
    scps_cctest_start(&t, scps_cc_find("vj"), NULL, &(struct scps_cc_view){.mss = 1000});
    assert_false(scps_cctest_play(&t, wrong, SCPS_CCTEST_ROWS(wrong), msg, sizeof msg));
    assert_non_null(strstr(msg, "row 1: cwnd 16000"));
    assert_non_null(strstr(msg, "wanted 17000"));
    assert_non_null(strstr(msg, "ssthresh none"));
}

/* Round trips below 1 ms are round trips like any other: vj's window at a loss rate does not depend
 * on them. */
static void short_round_trips(void **state)
{
    static const scps_dur rtt[] = {1, 500, 999, SCPS_MS(1), SCPS_MS(100)};
    const struct scps_cc_ops *vj = scps_cc_find("vj");
    (void)state;

    for (size_t i = 0; i < sizeof rtt / sizeof *rtt; i++) {
        assert_true(scps_cctest_response(vj, NULL, 1000, rtt[i], 10, 20) ==
                    scps_cctest_response(vj, NULL, 1000, SCPS_SEC(1), 10, 20));
        assert_true(scps_cctest_growth(vj, NULL, 100, 10, rtt[i]) == 60);
    }
    assert_true(scps_cctest_response(vj, NULL, 1000, 0, 10, 20) == 0);
    assert_true(scps_cctest_growth(vj, NULL, 100, 10, 0) == 0);
}

/* Segments whose loss only the timeout finds are counted, too. */
static void losses_in_an_outage(void **state)
{
    const struct scps_cctest_path p = {.bps = 10000000, .delay = SCPS_MS(50), .ack_every = 1};
    struct scps_cctest_line *l = scps_cctest_line_new(scps_cc_find("vj"), NULL, &p, NULL, NULL);
    struct scps_cctest_path_result r;
    (void)state;

    assert_non_null(l);
    scps_cctest_line_run(l, SCPS_SEC(1));
    scps_cctest_line_path(l)->down = true;
    scps_cctest_line_run(l, SCPS_SEC(1));
    scps_cctest_line_mark(l);
    scps_cctest_line_run(l, SCPS_SEC(10));
    r = scps_cctest_line_result(l);
    assert_true(r.timeouts > 1);
    assert_true(r.sent > 1 && r.lost == r.sent && r.delivered == 0);
    scps_cctest_line_free(l);
}

/* A malformed struct scps_cc_ops is refused, with the name of the wrong field, before any hook is
 * called. */
static void broken_structures(void **state)
{
    const struct scps_cc_ops *vj = scps_cc_find("vj");
    struct scps_cc_ops bad[7];
    static const struct scps_cc_param twice[] = {{"a", "x", 0, 0, 1}, {"a", "x", 0, 0, 1}, {0}};
    static const char *const says[] = {"no name", "no start", "no ack",          "no loss",
                                       "larger",  "help",     "a is there twice"};
    char msg[200];
    (void)state;
    assert_false(scps_cctest_ops_ok(NULL, NULL, 0));
    assert_null(scps_cctest_line_new(scps_cc_find("vj"), NULL,
                                     &(struct scps_cctest_path){.mss = 1000}, NULL, NULL));

    for (size_t i = 0; i < 7; i++)
        bad[i] = *vj;
    bad[0].name = "two words";
    bad[1].start = NULL;
    bad[2].ack = NULL;
    bad[3].loss = NULL;
    bad[4].state_size = SCPS_CC_STATE_MAX + 1;
    bad[5].help = NULL;
    bad[6].params = twice;
    for (size_t i = 0; i < 7; i++) {
        struct scps_cctest_expect x = {0};
        assert_false(scps_cctest_ops_ok(&bad[i], msg, sizeof msg));
        if (!strstr(msg, says[i]))
            fail_msg("%s does not say \"%s\"", msg, says[i]);
        assert_int_equal(scps_cctest_judge(&bad[i], NULL, &x, 1, verdict), 1);
        assert_int_equal(scps_cctest_judge(&bad[i], NULL, NULL, 1, verdict), 1);
    }
    assert_true(scps_cctest_ops_ok(vj, msg, sizeof msg));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(tables),
        cmocka_unit_test(amounts_without_bounds),
        cmocka_unit_test(short_round_trips),
        cmocka_unit_test(losses_in_an_outage),
        cmocka_unit_test(broken_structures),
        cmocka_unit_test(shipped_controllers_pass),
        cmocka_unit_test(right_ones_pass),
        cmocka_unit_test(mutants_are_found),
        cmocka_unit_test(shrunk_histories_are_minimal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
