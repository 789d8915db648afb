/* SPDX-License-Identifier: MIT */
/* Recordings of live connections: the recorder changes nothing, its recording played to the same
 * controller gives the same numbers, and any other controller can be given it, too. The test
 * bench undoes an episode as the core does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <scps/cctest.h>
#include <scps/error.h>
#include <scps/sim.h>
#include <scps/traffic.h>

struct text {
    char *p;
    size_t len, cap;
};
static struct text text;

static void keep(void *ctx, const char *line, size_t len)
{
    struct text *t = ctx;

    if (t->len + len > t->cap) {
        t->cap = 2 * (t->len + len);
        t->p = realloc(t->p, t->cap);
        assert_non_null(t->p);
    }
    memcpy(t->p + t->len, line, len);
    t->len += len;
}

struct ends {
    struct scps_bulk_source from;
    struct scps_bulk_sink to;
    scps_time done;
};
static void sends(struct scps_host *h, const struct scps_event *ev, void *ctx)
{
    struct ends *e = ctx;

    scps_bulk_source_event(&e->from, ev);
    if (e->from.closed && !e->done)
        e->done = scps_world_now(scps_host_world(h));
}
static void receives(struct scps_host *h, const struct scps_event *ev, void *ctx)
{
    struct ends *e = ctx;

    (void)h;
    if (ev->kind == SCPS_EV_ACCEPT)
        scps_bulk_sink_start(&e->to, scps_accept(ev->listener));
    else
        scps_bulk_sink_event(&e->to, ev);
}

/* Runs a transfer of 3 MB. Returns the time at which it ended, µs. param NULL: the defaults. */
static scps_time transfer(const struct scps_cc_ops *cc, const int64_t *param)
{
    struct scps_world *w = scps_world_new(NULL);
    struct ends e = {.from = {.total = 3000000, .hollow = true}};
    struct scps_host *a = scps_world_host(w, "a", NULL, sends, &e);
    struct scps_host *b = scps_world_host(w, "b", NULL, receives, &e);
    struct scps_conn_config cfg = scps_conn_config_default();
    struct scps_endpoint to = {.port = 5001};
    struct scps_link_config up, down;
    struct scps_addr from;

    assert_int_equal(scps_link_parse("rate=10mbit,rtt=100ms,queue=40p,loss=0.004,reorder=0.01", &up,
                                     &down, NULL, 0),
                     0);
    up.seed = down.seed = 3;
    scps_addr_parse("10.0.0.1", &from);
    scps_addr_parse("10.0.0.2", &to.addr);
    scps_world_link(w, a, &from, b, &to.addr, 24, 0, &up, &down);
    cfg.hollow = true;
    cfg.sndbuf = cfg.rcvbuf = 1u << 20;
    cfg.rate = cc->needs_rate ? 1000000 : 0;
    scps_listen(scps_host_stack(b), &cfg, &to, 1, NULL);
    scps_conn_config_set_cc(&cfg, cc, param);
    assert_int_equal(
        scps_bulk_source_start(&e.from, scps_connect(scps_host_stack(a), &cfg, NULL, &to, NULL)),
        0);
    scps_host_kick(a);
    scps_world_run(w, SCPS_SEC(600));
    scps_bulk_source_fini(&e.from);
    scps_world_free(w);
    assert_true(e.done > 0);
    return e.done;
}

static void the_same_again(void **state)
{
    const struct scps_cc_ops *ops;
    (void)state;

    for (size_t i = 0; (ops = scps_cc_at(i)) != NULL; i++) {
        struct scps_cctest_expect x = scps_cctest_expect_of(ops->name);
        struct scps_cctest_recorder rec;
        struct scps_cctest_replay r;
        char msg[200] = "";

        text.len = 0;
        assert_int_equal(scps_cctest_recorder_init(&rec, ops, NULL, keep, &text), 0);
        assert_int_equal(transfer(&rec.ops, rec.param), transfer(ops, NULL));
        assert_int_equal(scps_cctest_run_recording(text.p, text.len, 1, ops, NULL, x.exempt, &r,
                                                   NULL, NULL, msg, sizeof msg),
                         0);
        assert_true(r.events > 500);
        if (r.different)
            fail_msg("%s: line %u and %u more are not as recorded", ops->name, (unsigned)r.first,
                     (unsigned)r.different - 1);
        if (r.broken != SCPS_CCTEST_CHECKS)
            fail_msg("%s: %s: %s", ops->name, scps_cctest_check_name(r.broken), r.msg);
    }
}

/* RFC 3708 section 2: the retransmissions of an episode are known to be needless when the receiver
 * has reported each as a duplicate, which can be after the end of the episode. The bench then
 * restores the window and ssthresh from before the episode, as the core does, but only once for
 * each episode. */
static void an_episode_that_has_ended_is_undone_once(void **state)
{
    static const struct scps_cctest_row rows[] = {
        {SCPS_CCTEST_ACK, .bytes = 2000, .want_cwnd = 12000, .want_ssthresh = UINT64_MAX},
        {SCPS_CCTEST_LOSS, .bytes = 1000, .fresh = true, .want_cwnd = 6000, .want_ssthresh = 6000},
        {SCPS_CCTEST_CHANGE, .what = SCPS_CC_RECOVERED, .want_cwnd = 6000, .want_ssthresh = 6000},
        {SCPS_CCTEST_CHANGE, .what = SCPS_CC_SPURIOUS, .want_cwnd = 12000,
         .want_ssthresh = UINT64_MAX},
        {SCPS_CCTEST_CHANGE, .what = SCPS_CC_IDLE, .want_cwnd = 10000},
        {SCPS_CCTEST_CHANGE, .what = SCPS_CC_SPURIOUS, .want_cwnd = 10000},
    };
    struct scps_cctest t = {.ops = NULL};
    char msg[200];
    (void)state;

    scps_cctest_start(&t, scps_cc_find("vj"), NULL, &(struct scps_cc_view){.mss = 1000});
    if (!scps_cctest_play(&t, rows, SCPS_CCTEST_ROWS(rows), msg, sizeof msg))
        fail_msg("%s", msg);
}

struct widest {
    uint64_t cwnd;
};
static void widest(void *ctx, const struct scps_cctest_replayed *e)
{
    struct widest *w = ctx;

    if (e->e.after.cwnd != SCPS_CWND_OPEN && e->e.after.cwnd > w->cwnd)
        w->cwnd = e->e.after.cwnd;
    assert_true(e->line > 3);
}

/* text is the recording of the last controller above; start a new one of vj. */
static void another_controller(void **state)
{
    const struct scps_cc_ops *ops;
    struct scps_cctest_recorder rec;
    char msg[200];
    (void)state;

    text.len = 0;
    assert_int_equal(scps_cctest_recorder_init(&rec, scps_cc_find("vj"), NULL, keep, &text), 0);
    transfer(&rec.ops, rec.param);
    for (size_t i = 0; (ops = scps_cc_at(i)) != NULL; i++) {
        struct widest w = {0};
        struct scps_cctest_replay r;

        assert_int_equal(scps_cctest_run_recording(text.p, text.len, 1, ops, NULL, 0, &r, widest,
                                                   &w, msg, sizeof msg),
                         0);
        assert_int_equal(r.different == 0, !strcmp(ops->name, "vj"));
        assert_true(w.cwnd > 10000 || ops->needs_rate);
    }
}

static void what_is_no_recording(void **state)
{
    const struct scps_cc_ops *vj = scps_cc_find("vj");
    static const char *const bad[] = {
        "",
        "x",
        "scps_cctest recording 2\ncontroller vj\ncall,connection,now\n",
        "scps_cctest recording 1\ncontroller vj\ncall,connection,now,mss\nA,1,5\xff,1000\n",
        "scps_cctest recording 1\ncontroller vj\ncall,connection,now,mss\nQ,1,5,1000\n",
        "scps_cctest recording 1\ncontroller vj\ncall,connection,now,mss\nA,1,5,0\n",
        "scps_cctest recording 1\ncontroller vj\ncall,connection,now,mss\nA,1,5,1000,7\n",
        "scps_cctest recording 1\ncontroller vj\ncall,connection,mss\nA,1,99999999999999999999\n",
    };
    static const char *const other =
        "scps_cctest recording 1\ncontroller vj\ncall,connection,now,mss,news\nS,2,5,1000,3\n";
    struct scps_cctest_replay r;
    char msg[200];
    (void)state;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(scps_cctest_run_recording(bad[i], strlen(bad[i]), 1, vj, NULL, 0, &r, NULL,
                                                   NULL, msg, sizeof msg),
                         SCPS_ERR_INVAL);
        assert_non_null(strstr(msg, "line "));
    }
    assert_int_equal(scps_cctest_run_recording(other, strlen(other), 1, vj, NULL, 0, &r, NULL, NULL,
                                               msg, sizeof msg),
                     SCPS_ERR_NOENT);
    assert_int_equal(scps_cctest_run_recording(other, strlen(other), 2, vj, NULL, 0, &r, NULL, NULL,
                                               msg, sizeof msg),
                     0); /* A column that a later version added is ignored. */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_again),
        cmocka_unit_test(another_controller),
        cmocka_unit_test(an_episode_that_has_ended_is_undone_once),
        cmocka_unit_test(what_is_no_recording),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
