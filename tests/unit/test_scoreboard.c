/* SPDX-License-Identifier: MIT */
/* core/scoreboard.c: each segment that is lost, or lost again, is returned for retransmission once
 * and in order, whatever the peer reports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <scps/alloc.h>

#include "base/bytes.h"
#include "base/prng.h"
#include "core/scoreboard.h"

#define LEN 100u

static void sent(struct scps_scoreboard *sb, const struct scps_alloc *a, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        assert_int_equal(scps_sb_reserve(sb, a), 0);
        scps_sb_sent(sb, (scps_off)LEN * sb->tail, LEN, 0, 1);
    }
}

/* Resends every lost segment, and asserts that each is returned once, the lowest first. */
static unsigned resend(struct scps_scoreboard *sb)
{
    uint32_t idx, last = 0;
    unsigned n = 0;

    while (scps_sb_next_lost(sb, &idx)) {
        assert_true(!n || idx > last);
        last = idx;
        scps_sb_resent(sb, idx, 2);
        n++;
    }
    assert_int_equal(sb->lost, 0);
    return n;
}

/* A segment is lost, reported as arrived, and lost again by reneging (RFC 2018 section 8): its
 * record stays in the queue of segments to resend all the time. */
static void lost_and_reneged(void **state)
{
    struct scps_scoreboard sb;
    struct scps_alloc a = scps_alloc_default();
    (void)state;

    scps_sb_init(&sb);
    sent(&sb, &a, 10);
    for (int round = 0; round < 3; round++) {
        struct scps_ack_result sum = {0};
        for (uint32_t i = 0; i < 10; i++)
            scps_sb_lose(&sb, i, &sum);
        scps_sb_arrived(&sb, 3, LEN, 10 * LEN, 1, &sum);
        assert_int_equal(sb.arrived, 9 * LEN);
        scps_sb_renege(&sb);
        assert_int_equal(sb.nlost, 10);
    }
    sent(&sb, &a, 22); /* The test sends as many segments as there is memory for. */
    for (uint32_t i = 10; i < 32; i++) {
        struct scps_ack_result sum = {0};
        scps_sb_lose(&sb, i, &sum);
    }
    assert_int_equal(resend(&sb), 32);
    scps_sb_fini(&sb, &a);
}

/* Random operations in random order: the queue never exceeds its memory and contains each lost
 * segment once. */
static void any_order(void **state)
{
    struct scps_prng r;
    struct scps_alloc a = scps_alloc_default();
    (void)state;

    scps_prng_seed(&r, 7);
    for (int world = 0; world < 50; world++) {
        struct scps_scoreboard sb;
        scps_sb_init(&sb);
        sent(&sb, &a, 20);
        for (int step = 0; step < 2000; step++) {
            struct scps_ack_result sum = {0};
            uint32_t n = scps_sb_count(&sb), i = sb.head + (n ? scps_prng_next(&r) % n : 0);
            scps_off from = (scps_off)LEN * i;
            switch (scps_prng_next(&r) % 9) {
            case 0:
                if (n < 60)
                    sent(&sb, &a, 1 + scps_prng_next(&r) % 4);
                break;
            case 1:
            case 2:
                if (n)
                    scps_sb_lose(&sb, i, &sum);
                break;
            case 3:
                if (n)
                    scps_sb_arrived(&sb, 3, from, from + LEN * (1 + scps_prng_next(&r) % 5), 1,
                                    &sum);
                break;
            case 4:
                if (n && scps_sb_at(&sb, i)->state != SCPS_SENT_ARRIVED)
                    scps_sb_resent(&sb, i, 2); /* A probe resends a segment out of turn. */
                break;
            case 5:
                scps_sb_renege(&sb);
                break;
            case 6:
                if (scps_prng_next(&r) % 64 == 0)
                    scps_sb_undo_losses(&sb);
                break;
            case 7:
                if (n && scps_prng_next(&r) % 4 == 0)
                    scps_sb_ack(&sb, 3, from, 1, &sum);
                break;
            default:
                if (scps_sb_next_lost(&sb, &i))
                    scps_sb_resent(&sb, i, 2);
            }
            uint64_t lost = 0;
            for (uint32_t k = sb.head; k != sb.tail; k++)
                if (scps_sb_at(&sb, k)->state == SCPS_SENT_LOST)
                    lost += LEN;
            assert_int_equal(sb.lost, lost);
            assert_true(!sb.v || sb.nlost <= sb.mask + 1);
        }
        unsigned lost = (unsigned)(sb.lost / LEN);
        assert_int_equal(resend(&sb), lost);
        scps_sb_fini(&sb, &a);
    }
}

/* The first record is split again and again among other random operations: the records stay
 * adjacent, the sums stay right, and each lost segment is in the queue once. */
static void split_heads(void **state)
{
    struct scps_prng r;
    struct scps_alloc a = scps_alloc_default();
    (void)state;

    scps_prng_seed(&r, 5);
    for (int world = 0; world < 50; world++) {
        struct scps_scoreboard sb;
        scps_off una = 0, nxt = 0;
        scps_sb_init(&sb);
        for (int step = 0; step < 1000; step++) {
            struct scps_ack_result sum = {0};
            uint32_t n = scps_sb_count(&sb), idx;
            switch (scps_prng_next(&r) % 6) {
            case 0:
                if (n < 60) {
                    assert_int_equal(scps_sb_reserve(&sb, &a), 0);
                    scps_sb_sent(&sb, nxt, LEN, 0, 1);
                    nxt += LEN;
                }
                break;
            case 1:
                if (n)
                    scps_sb_lose(&sb, sb.head + scps_prng_next(&r) % n, &sum);
                break;
            case 2:
                if (n)
                    scps_sb_lose(&sb, sb.head, &sum);
                assert_int_equal(
                    scps_sb_split_head(&sb, &a, 1 + (uint32_t)(scps_prng_next(&r) % LEN)), 0);
                break;
            case 3:
                if (scps_sb_next_lost(&sb, &idx))
                    scps_sb_resent(&sb, idx, 2);
                break;
            case 4:
                if (n) {
                    const struct scps_sent_segment *q =
                        scps_sb_at(&sb, sb.head + scps_prng_next(&r) % n);
                    scps_sb_arrived(&sb, 3, q->from, q->from + q->len, 1, &sum);
                }
                break;
            case 5:
                if (n && scps_prng_next(&r) % 4 == 0) {
                    const struct scps_sent_segment *q =
                        scps_sb_at(&sb, sb.head + scps_prng_next(&r) % SCPS_MIN(n, 4));
                    una = q->from + q->len;
                    scps_sb_ack(&sb, 4, una, 1, &sum);
                }
                break;
            }
            scps_off at = una;
            uint64_t lost = 0;
            unsigned queued = 0;
            for (uint32_t i = sb.head; i != sb.tail; i++) {
                const struct scps_sent_segment *q = scps_sb_at(&sb, i);
                assert_int_equal(q->from, at);
                at += q->len;
                lost += q->state == SCPS_SENT_LOST ? q->len : 0;
                for (uint32_t k = 0; k < sb.nlost; k++)
                    queued += sb.lostq[k] == i;
                assert_true(queued <= 1);
                assert_true(queued || q->state != SCPS_SENT_LOST);
                queued = 0;
            }
            assert_int_equal(at, nxt);
            assert_int_equal(sb.lost, lost);
            assert_int_equal(sb.lost + sb.inflight + sb.arrived, nxt - una);
            assert_true(sb.nlost <= sb.mask + 1 || !sb.v);
        }
        scps_sb_fini(&sb, &a);
    }
}

/* The FIN takes no room in the segment, so a first record whose data fits is not split: the FIN
 * alone would take the end of the record (option 22) away from the last octet of the record. */
static void split_head_with_fin(void **state)
{
    struct scps_scoreboard sb;
    struct scps_alloc a = scps_alloc_default();
    const unsigned ends = SCPS_SENT_FIN | SCPS_SENT_RECORD;
    (void)state;

    scps_sb_init(&sb);
    assert_int_equal(scps_sb_reserve(&sb, &a), 0);
    scps_sb_sent(&sb, 1, LEN + 1, ends, 1);
    scps_sb_lose(&sb, sb.head, NULL);
    assert_int_equal(scps_sb_split_head(&sb, &a, LEN), 0);
    assert_int_equal(scps_sb_count(&sb), 1);
    assert_int_equal(scps_sb_split_head(&sb, &a, LEN - 1), 0);
    assert_int_equal(scps_sb_count(&sb), 2);
    assert_int_equal(scps_sb_at(&sb, sb.head)->flags & ends, 0);
    assert_int_equal(scps_sb_at(&sb, sb.head + 1)->len, 2);
    assert_int_equal(scps_sb_at(&sb, sb.head + 1)->flags & ends, ends);
    scps_sb_fini(&sb, &a);
}

/* ---- splitting after the path MTU fell ---- */

static unsigned grants; /* the number of allocations that are not refused yet */

static void *grant(void *ctx, size_t n)
{
    (void)ctx;
    if (!grants)
        return NULL;
    grants--;
    return malloc(n);
}

static void give_back(void *ctx, void *p, size_t n)
{
    (void)ctx;
    (void)n;
    free(p);
}

/* Asserts that the counts and queues of sb agree with its records, which are octets [0, end). */
static void agrees(const struct scps_scoreboard *sb, scps_off end)
{
    uint64_t bytes[3] = {0};
    uint32_t arrived = 0, below = 0, lost = 0, resent = 0;
    scps_off at = 0;

    for (uint32_t i = sb->head; i != sb->tail; i++) {
        const struct scps_sent_segment *r = scps_sb_at(sb, i);
        assert_int_equal(r->from, at);
        at += r->len;
        bytes[r->state] += r->len;
        arrived += r->state == SCPS_SENT_ARRIVED;
        below += r->state == SCPS_SENT_ARRIVED && scps_sb_before(i, sb->frontier);
        lost += r->state == SCPS_SENT_LOST;
        resent += r->state == SCPS_SENT_FLIGHT && r->resends;
    }
    assert_int_equal(at, end);
    assert_int_equal(bytes[SCPS_SENT_FLIGHT], sb->inflight);
    assert_int_equal(bytes[SCPS_SENT_LOST], sb->lost);
    assert_int_equal(bytes[SCPS_SENT_ARRIVED], sb->arrived);
    assert_int_equal(arrived, sb->arrived_recs);
    assert_int_equal(below, sb->arrived_below);
    for (uint32_t k = 0; k < sb->nlost; k++)
        lost -= scps_sb_at(sb, sb->lostq[k])->state == SCPS_SENT_LOST;
    assert_int_equal(lost, 0);
    for (uint32_t k = sb->resent_head, last = 0; k != sb->resent_tail; k++) {
        struct scps_resent e = sb->resent[k & sb->mask];
        assert_true(e.xseq >= last); /* the queue is in order of time */
        last = e.xseq;
        resent -= scps_sb_resent_live(sb, e);
    }
    assert_int_equal(resent, 0);
}

/* Segments in every state are split while memory is refused at different times: pieces stay in the
 * state of their segment, losses counted before stay counted, and without memory the lowest
 * segments are split, as far as there are unused records. */
static void resegmenting(void **state)
{
    const struct scps_alloc a = {grant, give_back, NULL};
    struct scps_prng r;
    (void)state;

    scps_prng_seed(&r, 3);
    for (int world = 0; world < 2000; world++) {
        struct scps_scoreboard sb;
        struct scps_ack_result sum = {0};
        uint32_t n = 1 + scps_prng_next(&r) % 32, idx, max = 10 + scps_prng_next(&r) % 100, first;
        scps_off end = n * LEN, frontier;
        uint64_t lost_ever;

        grants = 3;
        scps_sb_init(&sb);
        sent(&sb, &a, n);
        for (uint32_t i = 0; i < n; i++)
            if (scps_prng_next(&r) % 2)
                scps_sb_lose(&sb, (i * 7) % n, &sum);
        while (scps_prng_next(&r) % 8 && scps_sb_next_lost(&sb, &idx))
            scps_sb_resent(&sb, idx, 2);
        if (scps_sb_at(&sb, sb.head)->state == SCPS_SENT_FLIGHT)
            scps_sb_resent(&sb, sb.head, 2); /* as a probe: later than segments above it */
        for (int k = 0; k < 4; k++) {
            scps_off from = scps_prng_next(&r) % n * LEN;
            scps_sb_arrived(&sb, 3, from, from + LEN, 1, &sum);
            if (sb.frontier != sb.tail)
                scps_sb_pass(&sb);
        }
        lost_ever = sb.lost_ever;
        frontier = sb.frontier == sb.tail ? end : scps_sb_at(&sb, sb.frontier)->from;
        if (scps_prng_next(&r) % 2)
            scps_sb_lose_longer(&sb, LEN - 1);
        grants = scps_prng_next(&r) % 3 * 3;
        first = sb.head + (scps_prng_next(&r) % 2 ? scps_prng_next(&r) % scps_sb_count(&sb) : 0);
        scps_sb_resegment(&sb, &a, first, max);
        agrees(&sb, end);
        assert_int_equal(sb.lost_ever, lost_ever);
        assert_int_equal(frontier,
                         sb.frontier == sb.tail ? end : scps_sb_at(&sb, sb.frontier)->from);
        for (bool longer = false; first != sb.tail; first++) {
            const struct scps_sent_segment *q = scps_sb_at(&sb, first);
            if (q->state == SCPS_SENT_ARRIVED)
                continue;
            assert_true(!longer || q->len == LEN);
            longer |= q->len > max;
            assert_true(!longer || scps_sb_count(&sb) == sb.mask + 1);
        }
        scps_sb_fini(&sb, &a);
    }
}

/* Returns the sum of the offsets at which segments end that are marked with the end of a record. */
static scps_off record_ends(const struct scps_scoreboard *sb)
{
    scps_off sum = 0;

    for (uint32_t i = sb->head; i != sb->tail; i++) {
        const struct scps_sent_segment *r = scps_sb_at(sb, i);
        if (r->flags & SCPS_SENT_RECORD)
            sum += r->from + r->len;
    }
    return sum;
}

/* Segments of different lengths in every state: lost ones that follow each other are joined up to
 * the maximum, unless a record ends with one or it has the FIN. */
static void joining(void **state)
{
    struct scps_alloc a = scps_alloc_default();
    struct scps_prng r;
    (void)state;

    scps_prng_seed(&r, 5);
    for (int world = 0; world < 2000; world++) {
        struct scps_scoreboard sb;
        struct scps_ack_result sum = {0};
        uint32_t n = scps_prng_next(&r) % 32, idx, max = 10 + scps_prng_next(&r) % 300;
        scps_off end = 0, frontier, ends;
        uint64_t lost_ever;

        scps_sb_init(&sb);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t len = 1 + scps_prng_next(&r) % LEN;
            unsigned flags = scps_prng_next(&r) % 8 ? 0 : SCPS_SENT_RECORD;
            assert_int_equal(scps_sb_reserve(&sb, &a), 0);
            scps_sb_sent(&sb, end, len, i + 1 == n ? flags | SCPS_SENT_FIN : flags, 1);
            end += len;
        }
        for (uint32_t i = 0; i < n; i++)
            if (scps_prng_next(&r) % 4)
                scps_sb_lose(&sb, i, &sum);
        while (scps_prng_next(&r) % 4 && scps_sb_next_lost(&sb, &idx))
            scps_sb_resent(&sb, idx, 2);
        for (int k = 0; n && k < 4; k++) {
            const struct scps_sent_segment *q = scps_sb_at(&sb, scps_prng_next(&r) % n);
            scps_sb_arrived(&sb, 3, q->from, q->from + q->len, 1, &sum);
            if (sb.frontier != sb.tail)
                scps_sb_pass(&sb);
        }
        lost_ever = sb.lost_ever;
        frontier = sb.frontier == sb.tail ? end : scps_sb_at(&sb, sb.frontier)->from;
        ends = record_ends(&sb);
        scps_sb_join_lost(&sb, max);
        assert_int_equal(record_ends(&sb), ends);
        if (n)
            agrees(&sb, end);
        assert_int_equal(sb.lost_ever, lost_ever);
        if (sb.frontier == sb.tail)
            assert_int_equal(frontier, end);
        else
            assert_in_range(frontier, scps_sb_at(&sb, sb.frontier)->from,
                            scps_sb_at(&sb, sb.frontier)->from + scps_sb_at(&sb, sb.frontier)->len -
                                1);
        for (uint32_t i = sb.head; i != sb.tail; i++) {
            const struct scps_sent_segment *p = scps_sb_at(&sb, i), *q = scps_sb_at(&sb, i + 1);
            assert_true(p->len <= SCPS_MAX(max, LEN));
            if (i + 1 == sb.tail)
                continue;
            assert_true(p->state != SCPS_SENT_LOST || q->state != SCPS_SENT_LOST ||
                        p->len + q->len > max || (p->flags | q->flags) & SCPS_SENT_RECORD ||
                        q->flags & SCPS_SENT_FIN);
        }
        resend(&sb);
        scps_sb_fini(&sb, &a);
    }
}

/* First transmissions of lost segments that arrive late are stored until they are taken, once. An
 * acknowledgement that reports none leaves nothing to take. */
static void late_until_taken(void **state)
{
    struct scps_scoreboard sb;
    struct scps_alloc a = scps_alloc_default();
    struct scps_ack_result sum = {0};
    struct scps_late late;
    (void)state;

    scps_sb_init(&sb);
    sent(&sb, &a, 6);
    scps_sb_arrived(&sb, 3, 5 * LEN, 6 * LEN, 1, &sum);
    assert_false(sb.late.any);
    for (uint32_t i = 1; i < 4; i++)
        scps_sb_lose(&sb, i, &sum);
    scps_sb_resent(&sb, 1, 2);
    scps_sb_resent(&sb, 2, 2);
    scps_sb_arrived(&sb, 3, LEN, 3 * LEN, 100, &sum);
    scps_sb_arrived(&sb, 3, 3 * LEN, 4 * LEN, 100, &sum);
    late = scps_sb_take_late(&sb);
    assert_true(late.any && late.unresent);
    assert_int_equal(late.sent, 1);
    assert_int_equal(late.from, LEN);
    assert_int_equal(late.to, 3 * LEN);
    late = scps_sb_take_late(&sb);
    assert_false(late.any || late.unresent);
    assert_int_equal(late.to, 0);
    scps_sb_fini(&sb, &a);
}

/* A retransmission at 2 µs is acknowledged after 75 µs: that is three quarters of the least round
 * trip, so jitter may be the reason. After 74 µs the first transmission has arrived. */
static void not_late(void **state)
{
    (void)state;
    for (int rtt = 74; rtt <= 75; rtt++) {
        struct scps_scoreboard sb;
        struct scps_alloc a = scps_alloc_default();
        struct scps_ack_result sum = {0};
        scps_sb_init(&sb);
        sent(&sb, &a, 3);
        scps_sb_lose(&sb, 1, &sum);
        scps_sb_resent(&sb, 1, 2);
        scps_sb_arrived(&sb, 2 + rtt, LEN, 2 * LEN, 100, &sum);
        assert_int_equal(scps_sb_take_late(&sb).any, rtt < 75);
        scps_sb_fini(&sb, &a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lost_and_reneged), cmocka_unit_test(any_order),
        cmocka_unit_test(split_heads),      cmocka_unit_test(split_head_with_fin),
        cmocka_unit_test(resegmenting),     cmocka_unit_test(late_until_taken),
        cmocka_unit_test(not_late),         cmocka_unit_test(joining),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
