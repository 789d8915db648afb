/* SPDX-License-Identifier: MIT */
/* core/rcv_marks.c: the ends of records that are sent and received, and the hole that best effort
 * has given up, without a connection. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/rcv_marks.h"
#include "core/record.h"
#include <scps/error.h>

#define MSS 100u

struct world {
    struct scps_env env;
    struct scps_conn_ctx x;
    struct scps_conn_stats st;
    struct scps_rangeset ends;
    struct scps_rcv_marks m;
    struct scps_rcvbuf in;
};

static int begin(void **state)
{
    struct world *w = calloc(1, sizeof *w);

    w->env.alloc = scps_alloc_default();
    w->x = (struct scps_conn_ctx){.env = &w->env, .st = &w->st};
    scps_marks_init(&w->m, 65536);
    scps_rcvbuf_init(&w->in, 1, true);
    *state = w;
    return 0;
}

static int end(void **state)
{
    struct world *w = *state;

    scps_rangeset_fini(&w->ends, &w->env.alloc);
    scps_marks_fini(&w->m, &w->env.alloc);
    scps_rcvbuf_fini(&w->in, &w->env.alloc);
    free(w);
    return 0;
}

static void cut(struct world *w, scps_off nxt, uint32_t len, uint32_t want, bool ends,
                uint32_t full)
{
    uint32_t flags = 0, most = MSS;

    assert_int_equal(scps_record_cut(&w->ends, nxt, MSS, len, &flags, &most), want);
    assert_int_equal(flags, ends ? SCPS_SENT_RECORD : 0);
    assert_int_equal(most, full);
}

/* A segment never crosses the end of a record. If it ends at one, it leaves room for the record
 * option. */
static void segments_end_with_records(void **state)
{
    struct world *w = *state;

    assert_int_equal(scps_record_write(&w->ends, &w->x, 51), 0);
    assert_int_equal(w->st.records_out, 1);
    cut(w, 1, 40, 40, false, MSS);
    cut(w, 1, MSS, 50, true, 50);
    scps_rangeset_trim(&w->ends, 51);
    assert_int_equal(scps_record_write(&w->ends, &w->x, 51 + MSS), 0);
    cut(w, 51, MSS, MSS - SCPS_RECORD_ROOM, false, MSS - SCPS_RECORD_ROOM);
    cut(w, 51 + SCPS_RECORD_ROOM, MSS - SCPS_RECORD_ROOM, MSS - SCPS_RECORD_ROOM, true,
        MSS - SCPS_RECORD_ROOM);
}

static void put(struct world *w, scps_off from, uint32_t len)
{
    assert_int_equal(scps_rcvbuf_put(&w->in, &w->env.alloc, from, NULL, len, 1024, NULL), 1);
}

static uint64_t take(struct world *w)
{
    uint64_t n = scps_marks_ready(&w->m, &w->in);

    scps_rcvbuf_read(&w->in, NULL, (size_t)n, false);
    scps_marks_read(&w->m, &w->in, n);
    return n;
}

static void reads_end_with_records(void **state)
{
    struct world *w = *state;

    assert_int_equal(scps_marks_record(&w->m, &w->x, 1, 1, 11), 0);
    assert_int_equal(scps_marks_record(&w->m, &w->x, 1, 11, 12), 0);
    /* The same segment arrives again. */
    assert_int_equal(scps_marks_record(&w->m, &w->x, 1, 11, 12), 0);
    assert_int_equal(w->st.records_in, 2);
    put(w, 1, 30);
    assert_true(scps_marks_ahead(&w->m, &w->in));
    assert_int_equal(take(w), 10);
    assert_true(w->m.ended);
    assert_int_equal(take(w), 1);
    assert_false(scps_marks_ahead(&w->m, &w->in));
    assert_int_equal(take(w), 19);
    assert_false(w->m.ended);
}

/* The end of a record arrives before data that lies in front of it, so waiting for that data lets a
 * read return more. */
static void the_end_of_a_record_beyond_missing_data(void **state)
{
    struct world *w = *state;

    put(w, 1, 10);
    assert_int_equal(scps_marks_record(&w->m, &w->x, 11, 21, 31), 0);
    assert_int_equal(scps_marks_ready(&w->m, &w->in), 10);
    assert_false(scps_marks_ahead(&w->m, &w->in));
    assert_int_equal(take(w), 10);
    assert_false(scps_marks_ahead(&w->m, &w->in));
    put(w, 11, 30);
    assert_true(scps_marks_ahead(&w->m, &w->in));
    assert_int_equal(take(w), 20);
    assert_true(w->m.ended);
}

/* A quarter of the places is reserved for ends of records in data that arrives in order. */
static void room_for_what_is_in_order(void **state)
{
    struct world *w = *state;
    uint32_t n = 0;

    while (scps_marks_record(&w->m, &w->x, 1, 100 + 2 * n, 101 + 2 * n) == 0)
        n++;
    assert_int_equal(n, w->m.ends.max / 4 * 3);
    assert_int_equal(scps_marks_record(&w->m, &w->x, 1, 90, 91), SCPS_ERR_LIMIT);
    assert_int_equal(scps_marks_record(&w->m, &w->x, 90, 90, 91), 0);
}

static void hole_is_passed_over(void **state)
{
    struct world *w = *state;

    put(w, 1, 10);
    put(w, 21, 10);
    scps_marks_lose(&w->m, 11, 21);
    scps_rcvbuf_jump(&w->in, 21);
    assert_int_equal(scps_marks_hole_len(&w->m), 10);
    assert_false(scps_marks_at_hole(&w->m, &w->in));
    assert_int_equal(take(w), 10);
    assert_true(scps_marks_at_hole(&w->m, &w->in));
    assert_int_equal(scps_marks_ready(&w->m, &w->in), 0);
    scps_marks_pass(&w->m, &w->in);
    assert_true(w->m.torn);
    assert_int_equal(scps_marks_hole_len(&w->m), 0);
    assert_int_equal(take(w), 10);
}

/* Late data fills the hole from either end. */
static void hole_is_repaired(void **state)
{
    struct world *w = *state;

    assert_int_equal(scps_marks_hole_len(NULL), 0);
    scps_marks_lose(&w->m, 11, 21);
    assert_false(scps_marks_repair(&w->m, 11, 15));
    assert_int_equal(scps_marks_hole_len(&w->m), 6);
    assert_false(scps_marks_repair(&w->m, 18, 21));
    assert_int_equal(w->m.hole.to, 18);
    assert_true(scps_marks_repair(&w->m, 15, 18));
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(segments_end_with_records),
        CASE(reads_end_with_records),
        CASE(the_end_of_a_record_beyond_missing_data),
        CASE(room_for_what_is_in_order),
        CASE(hole_is_passed_over),
        CASE(hole_is_repaired),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
