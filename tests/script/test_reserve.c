/* SPDX-License-Identifier: MIT */
/* Writing without a copy (scps_conn_reserve(), scps_conn_commit()) and from several pieces
 * (scps_conn_writev()): the octets that are sent are those that were written, wherever the ring
 * buffer wraps, and nothing is written outside the reserved room. */
#include "script.h"
#include "script_priv.h"

#include <scps/alloc.h>

#include "failing_alloc.h"

/* Fills the reserved room with the next octets of the script's stream. */
static void fill(const struct script *t, uint8_t *at, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        at[i] = script_ours(t->p->written + 1 + i);
}

static void commit(struct script *t, size_t n, unsigned flags)
{
    t->p->written += (int64_t)n;
    assert_int_equal(scps_conn_commit(t->c, n, flags), n);
}

static void filled_in_place(void **x)
{
    struct script *t = script_of(x);
    uint8_t *at = NULL;

    script_established(t, MS(100));
    script_run(t, MS(200));
    assert_int_equal(scps_conn_reserve(t->c, 3000, &at), 3000);
    expect_quiet(t, SCPS_HOLD_APP); /* Nothing is written before scps_conn_commit(). */
    assert_int_equal(scps_conn_reserve(t->c, 3000, &at), 3000);
    fill(t, at, 3000);
    commit(t, 2500, 0); /* What is reserved and not committed is given back. */
    expect_sent(t, .at = MS(200), .from = 1, .len = 1000, .no_push = true);
    expect_sent(t, .from = 1001, .len = 1000, .no_push = true);
    expect_sent(t, .from = 2001, .len = 500, .push = true);
    assert_int_equal(scps_conn_unacked(t->c), 2500);
    script_free(t);
}

/* Writes in pieces of odd sizes pass the end of an 8 KiB ring buffer many times; segments that lie
 * across that end have the right octets, too. */
static void pieces_across_the_end_of_the_ring(void **x)
{
    struct script *t = script_of(x);
    int64_t sent = 0, pieces = 0;
    scps_time at = MS(200);

    t->cfg.sndbuf = 8192;
    t->cfg.nodelay = true;
    script_established(t, MS(100));
    for (int round = 0; round < 60; round++, at += MS(1000)) {
        int64_t want = 100 + round * 137 % 2900, got = 0;
        script_run(t, at);
        while (got < want) {
            uint8_t *p = NULL;
            int64_t n = scps_conn_reserve(t->c, (size_t)(want - got), &p);
            assert_true(n > 0 && n <= want - got);
            fill(t, p, n);
            commit(t, (size_t)n, got + n < want ? SCPS_MORE : 0);
            got += n;
            pieces++;
        }
        for (int64_t off = 0; off < want; off += 1000)
            expect_sent(t, .at = at, .from = 1 + sent + off,
                        .len = (int32_t)SCPS_MIN(1000, want - off));
        sent += want;
        peer_says(t, at + MS(50), .ack = 1 + sent);
    }
    assert_true(pieces > 60); /* Some pieces ended where the ring wraps. */
    script_free(t);
}

static void what_is_not_reserved_is_not_written(void **x)
{
    struct script *t = script_of(x);
    uint8_t *at = NULL;

    script_established(t, MS(100));
    script_run(t, MS(200));
    assert_int_equal(scps_conn_commit(t->c, 1, 0), SCPS_ERR_INVAL);
    assert_int_equal(scps_conn_reserve(t->c, 100, &at), 100);
    assert_int_equal(scps_conn_commit(t->c, 101, 0), SCPS_ERR_INVAL);
    assert_int_equal(scps_conn_reserve(t->c, 100, &at), 100);
    assert_int_equal(scps_conn_commit(t->c, 0, 0), 0); /* The reservation is given back. */
    assert_int_equal(scps_conn_commit(t->c, 100, 0), SCPS_ERR_INVAL);
    assert_int_equal(scps_conn_reserve(t->c, 100, &at), 100);
    app_writes_more(t, MS(200), 10); /* Another call that writes ends the reservation. */
    assert_int_equal(scps_conn_commit(t->c, 100, 0), SCPS_ERR_INVAL);
    assert_int_equal(scps_conn_reserve(t->c, 100, &at), 100);
    /* The connection has no records. */
    assert_int_equal(scps_conn_commit(t->c, 100, SCPS_EOR), SCPS_ERR_INVAL);
    assert_int_equal(scps_conn_commit(t->c, 100, 0), SCPS_ERR_INVAL);
    assert_int_equal(scps_conn_unsent(t->c), 10);
    at = NULL;
    assert_int_equal(scps_conn_reserve(t->c, 0, &at), 0);
    assert_null(at);
    /* The reservation does not survive if the ring is freed after idle time. */
    app_writes(t, MS(300), 90);
    peer_says(t, MS(400), .ack = 101);
    script_forget_sent(t);
    assert_int_equal(scps_conn_reserve(t->c, 50, &at), 50);
    script_run(t, SEC(100));
    assert_int_equal(scps_conn_commit(t->c, 50, 0), SCPS_ERR_INVAL);
    scps_conn_shutdown(t->c);
    at = NULL;
    assert_int_equal(scps_conn_reserve(t->c, 100, &at), SCPS_ERR_PIPE);
    assert_int_equal(scps_conn_commit(t->c, 100, 0), SCPS_ERR_PIPE);
    assert_null(at);
    script_forget_sent(t);
    script_free(t);
}

static void a_full_buffer_says_when_there_is_room(void **x)
{
    struct script *t = script_of(x);
    uint8_t *at = NULL;
    int64_t n;

    t->cfg.sndbuf = 2000;
    script_established(t, MS(100));
    script_run(t, MS(200));
    script_forget_events(t);
    assert_int_equal(n = scps_conn_reserve(t->c, 5000, &at), 2000);
    fill(t, at, n);
    commit(t, (size_t)n, 0);
    assert_int_equal(scps_conn_reserve(t->c, 1, &at), SCPS_ERR_AGAIN);
    script_run(t, MS(250));
    script_forget_sent(t);
    expect_no_event(t);
    peer_says(t, MS(300), .ack = 2001);
    script_run(t, MS(310));
    expect_event(t, SCPS_EV_WRITABLE);
    script_free(t);
}

static void none_is_reserved_of_a_hollow_stream(void **x)
{
    struct script *t = script_of(x);
    uint8_t *at = NULL;

    t->cfg.hollow = true;
    script_established(t, MS(100));
    assert_int_equal(scps_conn_reserve(t->c, 10, &at), SCPS_ERR_INVAL);
    assert_null(at);
    script_free(t);
}

static void reserve_succeeds_after_memory_is_freed(void **x)
{
    struct script *t = script_of(x);
    struct poor poor = {.left = 1000};
    uint8_t *at = NULL;

    t->stack_cfg.alloc = (struct scps_alloc){poor_alloc, poor_free, &poor};
    script_established(t, MS(100));
    script_run(t, MS(200));
    script_forget_events(t);
    poor.left = 0;
    assert_int_equal(scps_conn_reserve(t->c, 10, &at), SCPS_ERR_NOMEM);
    assert_null(at);
    poor.left = 1000;
    script_run(t, MS(310)); /* SCPS_EV_WRITABLE comes after 100 ms. */
    expect_event(t, SCPS_EV_WRITABLE);
    assert_int_equal(scps_conn_reserve(t->c, 10, &at), 10);
    fill(t, at, 10);
    commit(t, 10, 0);
    expect_sent(t, .at = MS(310), .from = 1, .len = 10, .push = true);
    script_free(t);
}

static int64_t writev(struct script *t, const size_t *len, size_t n, unsigned flags)
{
    struct scps_iovec v[8];
    uint8_t octets[8][2000];
    int64_t off = t->p->written + 1, r;

    for (size_t i = 0; i < n; i++) {
        v[i] = (struct scps_iovec){octets[i], len[i]};
        for (size_t j = 0; j < len[i]; j++)
            octets[i][j] = script_ours(off++);
    }
    r = scps_conn_writev(t->c, v, n, flags);
    t->p->written += SCPS_MAX(r, 0);
    return r;
}

static void pieces_of_one_write_share_segments(void **x)
{
    struct script *t = script_of(x);

    /* Without SCPS_MORE each of these writes would be sent as a segment of its own. */
    t->cfg.nodelay = true;
    script_established(t, MS(100));
    script_run(t, MS(200));
    assert_int_equal(writev(t, (size_t[]){10, 0, 500, 990, 0}, 5, 0), 1500);
    expect_sent(t, .at = MS(200), .from = 1, .len = 1000);
    expect_sent(t, .at = MS(200), .from = 1001, .len = 500, .push = true);
    assert_int_equal(writev(t, (size_t[]){10, 20}, 2, SCPS_MORE), 30);
    expect_quiet(t, SCPS_HOLD_CORK);
    assert_int_equal(writev(t, (size_t[]){5}, 1, 0), 5);
    expect_sent(t, .at = MS(200), .from = 1501, .len = 35, .push = true);
    assert_int_equal(writev(t, (size_t[]){0, 0}, 2, 0), 0);
    assert_int_equal(scps_conn_writev(t->c, NULL, 0, 0), 0);
    assert_int_equal(writev(t, (size_t[]){1}, 1, SCPS_EOR), SCPS_ERR_INVAL);
    script_free(t);
}

static void a_short_write_of_pieces(void **x)
{
    struct script *t = script_of(x);
    struct scps_iovec huge[] = {{NULL, 10}, {NULL, SIZE_MAX}};

    t->cfg.sndbuf = 2500;
    t->cfg.nodelay = true;
    script_established(t, MS(100));
    script_run(t, MS(200));
    assert_int_equal(writev(t, (size_t[]){1100, 1200, 800}, 3, 0), 2500);
    expect_sent(t, .at = MS(200), .from = 1, .len = 1000);
    expect_sent(t, .at = MS(200), .from = 1001, .len = 1000);
    expect_sent(t, .at = MS(200), .from = 2001, .len = 500); /* Nothing holds the segment back. */
    assert_int_equal(writev(t, (size_t[]){1}, 1, 0), SCPS_ERR_AGAIN);
    peer_says(t, MS(300), .ack = 2501);
    assert_int_equal(scps_conn_writev(t->c, huge + 1, 1, 0), SCPS_ERR_INVAL);
    script_free(t);
}

static void a_record_of_pieces(void **x)
{
    struct script *t = script_of(x);
    uint8_t *at = NULL;

    t->cfg.records = true;
    t->cfg.nodelay = true;
    script_established(t, MS(100));
    script_run(t, MS(200));
    assert_int_equal(writev(t, (size_t[]){100, 200, 0}, 3, SCPS_EOR), 300);
    expect_sent(t, .at = MS(200), .from = 1, .len = 300, .has = SCPS_HAS_RECORD);
    assert_int_equal(scps_conn_reserve(t->c, 50, &at), 50);
    fill(t, at, 50);
    commit(t, 50, SCPS_EOR);
    expect_sent(t, .at = MS(200), .from = 301, .len = 50, .has = SCPS_HAS_RECORD);
    script_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(filled_in_place),
        SCRIPT_TEST(pieces_across_the_end_of_the_ring),
        SCRIPT_TEST(what_is_not_reserved_is_not_written),
        SCRIPT_TEST(a_full_buffer_says_when_there_is_room),
        SCRIPT_TEST(none_is_reserved_of_a_hollow_stream),
        SCRIPT_TEST(reserve_succeeds_after_memory_is_freed),
        SCRIPT_TEST(pieces_of_one_write_share_segments),
        SCRIPT_TEST(a_short_write_of_pieces),
        SCRIPT_TEST(a_record_of_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
