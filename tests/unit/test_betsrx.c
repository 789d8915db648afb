/* SPDX-License-Identifier: MIT */
/* Best effort: the receiver's wait for a hole and the octets that come too late, without a
 * connection. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/rcv_marks.h"
#include "core/rx.h"

#define HOLES 1024u

struct world {
    struct scps_env env;
    struct scps_shared_config cfg;
    struct scps_conn_ctx x;
    struct scps_conn_stats st;
    struct scps_receive rcv;
    struct scps_rcv_marks m;
    struct scps_rx rx;
};

static int begin(void **state)
{
    struct world *w = calloc(1, sizeof *w);

    w->env.alloc = scps_alloc_default();
    w->cfg.c.rcvbuf = 65536;
    w->x = (struct scps_conn_ctx){.env = &w->env, .cfg = &w->cfg, .st = &w->st};
    scps_marks_init(&w->m, 16);
    w->rcv.rx = &w->rx;
    scps_rcvbuf_init(&w->rcv.in, 1, true);
    *state = w;
    return 0;
}

static int end(void **state)
{
    struct world *w = *state;

    scps_marks_fini(&w->m, &w->env.alloc);
    scps_rcvbuf_fini(&w->rcv.in, &w->env.alloc);
    free(w);
    return 0;
}

static void came(struct world *w, scps_off from, uint32_t len)
{
    struct scps_range run;

    assert_true(scps_rcvbuf_put(&w->rcv.in, &w->env.alloc, from, NULL, len, HOLES, &run) >= 0);
}

/* The wait begins when the application has read all data before the hole. Holes known at that time
 * are given up together; a hole found later has a wait of its own. */
static void one_wait_for_known_holes(void **state)
{
    struct world *w = *state;
    struct scps_betsrx *b = &w->m.wait;

    came(w, 1, 10);
    /* Octets 1 to 10 are in order, so the receiver waits for no hole. */
    assert_int_equal(scps_betsrx_awaited(&w->rcv), 0);
    came(w, 20, 10);
    /* The application has not yet read the ten octets before the hole, so the wait has not
     * begun. */
    assert_int_equal(scps_betsrx_awaited(&w->rcv), 0);
    scps_rcvbuf_read(&w->rcv.in, NULL, 10, false);
    assert_int_equal(scps_betsrx_awaited(&w->rcv), 20);
    came(w, 40, 10);
    assert_false(scps_betsrx_look(b, &w->rcv, 20, 1000));
    /* The hole before octet 60 was not known when the wait for the first hole began, so it is not
     * given up with it. */
    came(w, 60, 10);
    assert_false(scps_betsrx_look(b, &w->rcv, 20, 2000));
    /* The new hole does not postpone the end of the wait for the first one. */
    assert_int_equal(b->due, 1000);
    assert_true(scps_betsrx_expired(b, w->rcv.in.next, true));
    assert_int_equal(b->due, SCPS_NEVER);
    scps_rcvbuf_jump(&w->rcv.in, 20);
    assert_true(scps_betsrx_look(b, &w->rcv, 40, 3000));
    scps_rcvbuf_jump(&w->rcv.in, 40);
    assert_false(scps_betsrx_look(b, &w->rcv, 60, 3000));
    assert_int_equal(b->due, 3000);
}

/* A hole that is filled during the wait is not taken for the hole behind it. */
static void repaired_meanwhile(void **state)
{
    struct world *w = *state;
    struct scps_betsrx *b = &w->m.wait;

    came(w, 11, 10);
    assert_false(scps_betsrx_look(b, &w->rcv, 11, 1000));
    came(w, 1, 10);
    assert_false(scps_betsrx_expired(b, w->rcv.in.next, true));
    assert_false(scps_betsrx_expired(b, w->rcv.in.next, false));
    assert_int_equal(b->old, 0);
}

/* A hole below a FIN ends at the FIN. */
static void a_fin_ends_the_hole(void **state)
{
    struct world *w = *state;

    w->rx.fin_at = 7;
    assert_int_equal(scps_betsrx_awaited(&w->rcv), 7);
    came(w, 5, 10); /* What a faulty peer sends beyond its FIN does not count. */
    assert_int_equal(scps_betsrx_awaited(&w->rcv), 5);
    w->rx.fin_at = 3;
    assert_int_equal(scps_betsrx_awaited(&w->rcv), 3);
    scps_receive_fin(&w->rcv);
    assert_int_equal(scps_betsrx_awaited(&w->rcv), 0);
}

/* docs/SCPS-TP.md section 7: the wait is 1.05 s or two round trips; a configured bets_timeout is
 * used unchanged. */
static void timeout(void **state)
{
    struct scps_conn_config c = {0};

    (void)state;
    assert_int_equal(scps_betsrx_timeout(&c, SCPS_MS(10)), SCPS_BETS_WAIT_MIN);
    assert_int_equal(scps_betsrx_timeout(&c, SCPS_SEC(2)), SCPS_SEC(4));
    c.expected_rtt = SCPS_SEC(3);
    assert_int_equal(scps_betsrx_timeout(&c, SCPS_SEC(2)), SCPS_SEC(6));
    c.bets_timeout = SCPS_MS(1);
    assert_int_equal(scps_betsrx_timeout(&c, SCPS_SEC(2)), SCPS_MS(1));
}

/* Late octets fill the hole from either end, but do not split it. */
static void late(void **state)
{
    struct world *w = *state;

    scps_marks_lose(&w->m, 10, 20);
    w->st.holes = 1;
    w->st.bytes_missing = 10;
    scps_rcvbuf_jump(&w->rcv.in, 20);
    assert_false(scps_marks_late(&w->m, &w->x, &w->rcv.in, (struct scps_late_data){5, 10}));
    assert_false(scps_marks_late(&w->m, &w->x, &w->rcv.in, (struct scps_late_data){12, 15}));
    assert_true(scps_marks_late(&w->m, &w->x, &w->rcv.in, (struct scps_late_data){5, 13}));
    assert_int_equal(w->m.hole.from, 13);
    assert_true(scps_marks_late(&w->m, &w->x, &w->rcv.in, (struct scps_late_data){18, 25}));
    assert_int_equal(w->m.hole.to, 18);
    assert_int_equal(w->st.bytes_missing, 5);
    assert_int_equal(w->st.holes, 1);
    assert_true(scps_marks_late(&w->m, &w->x, &w->rcv.in, (struct scps_late_data){13, 18}));
    assert_int_equal(w->st.bytes_missing, 0);
    assert_int_equal(w->st.holes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_wait_for_known_holes, begin, end),
        cmocka_unit_test_setup_teardown(repaired_meanwhile, begin, end),
        cmocka_unit_test_setup_teardown(a_fin_ends_the_hole, begin, end),
        cmocka_unit_test(timeout),
        cmocka_unit_test_setup_teardown(late, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
