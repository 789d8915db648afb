/* SPDX-License-Identifier: MIT */
/* The receive buffer against a stream whose every octet tells its place: in order, beyond holes, round the ring's end, while
 * it grows, and beginning again at its front. */
#include "core/rcvbuf.h"

#include "base/bytes.h"
#include "base/prng.h"
#include "cm.h"

enum { WINDOW = 50000, HOLES = 1000 };

static uint8_t octet(scps_off off)
{
    return (uint8_t)(off * 167 >> 3);
}

static void fill(uint8_t *p, scps_off off, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++)
        p[i] = octet(off + i);
}

static void put(struct scps_rcvbuf *b, const struct scps_alloc *a, scps_off off, uint32_t len)
{
    uint8_t data[3000];

    fill(data, off, len);
    if (!scps_rcvbuf_append(b, off, data, len))
        assert_true(scps_rcvbuf_put(b, a, off, data, len, HOLES, NULL) >= 0);
}

/* Reads up to len octets by one way or the other, and checks them. */
static void take(struct scps_rcvbuf *b, size_t len, bool in_place)
{
    uint8_t room[WINDOW];
    const uint8_t *p = room;
    scps_off at = b->read;
    size_t n;

    if (in_place) {
        p = scps_rcvbuf_front(b, &n);
        n = SCPS_MIN(n, len);
    } else {
        n = scps_rcvbuf_read(b, room, len, true);
    }
    for (size_t i = 0; i < n; i++)
        assert_int_equal(p[i], octet(at + i));
    assert_int_equal(scps_rcvbuf_read(b, NULL, n, false), n);
    assert_int_equal(b->read, at + n);
}

static void holds_the_stream(void **x)
{
    struct scps_alloc a = scps_alloc_default();
    (void)x;

    for (uint64_t seed = 0; seed < 6; seed++) {
        struct scps_rcvbuf b;
        struct scps_prng r;
        scps_off begin = seed % 2 ? 1 : UINT64_C(0xfffff000);
        unsigned holes = seed < 2 ? 0 : seed < 4 ? 5 : 50; /* percent of segments that leave one */

        scps_prng_seed(&r, seed);
        scps_rcvbuf_init(&b, begin, false);
        for (int turn = 0; turn < 20000; turn++) {
            scps_off highest = b.ooo->n ? scps_rangeset_at(b.ooo, b.ooo->n - 1)->to : b.next;
            uint32_t len = 1 + (uint32_t)scps_prng_below(&r, 3000);
            scps_off at = highest;
            if (scps_prng_below(&r, 100) < holes)
                at = b.next + scps_prng_below(&r, highest - b.next + 4000);
            else if (scps_prng_below(&r, 20) == 0)
                at = b.next;
            if (at + len <= b.read + WINDOW)
                put(&b, &a, at, len);
            else
                put(&b, &a, b.next, (uint32_t)SCPS_MIN(len, b.read + WINDOW - b.next));
            if (scps_prng_below(&r, 3) == 0)
                take(&b, scps_prng_below(&r, WINDOW), turn % 2);
        }
        while (b.next != b.read)
            take(&b, WINDOW, true);
        scps_rcvbuf_fini(&b, &a);
    }
}

/* What has been read leaves its memory, still in the cache, to what comes next. */
static void begins_again_at_the_front(void **x)
{
    struct scps_alloc a = scps_alloc_default();
    struct scps_rcvbuf b;
    size_t n;
    (void)x;

    scps_rcvbuf_init(&b, 1, false);
    put(&b, &a, 1, 3000);
    for (int i = 0; i < 50; i++) {
        assert_ptr_equal(scps_rcvbuf_front(&b, &n), b.mem);
        assert_int_equal(n, 3000);
        take(&b, n, true);
        put(&b, &a, b.next, 3000);
    }
    put(&b, &a, b.next + 1000, 1000); /* beyond a hole: what lies there stays where it is */
    take(&b, 3000, true);
    put(&b, &a, b.next, 1000);
    assert_ptr_equal(scps_rcvbuf_front(&b, &n), b.mem + 3000);
    assert_int_equal(n, 2000);
    take(&b, n, true);
    scps_rcvbuf_fini(&b, &a);
}

static void append_takes_only_what_follows(void **x)
{
    struct scps_alloc a = scps_alloc_default();
    struct scps_rcvbuf b;
    uint8_t data[9000] = {0};
    (void)x;

    scps_rcvbuf_init(&b, 1, false);
    assert_false(scps_rcvbuf_append(&b, 1, data, 10)); /* no memory yet */
    put(&b, &a, 1, 10);
    assert_true(scps_rcvbuf_append(&b, 11, data, 10));
    assert_false(scps_rcvbuf_append(&b, 20, data, 10));
    assert_false(scps_rcvbuf_append(&b, 22, data, 10));
    put(&b, &a, 31, 10); /* a hole of ten */
    assert_false(scps_rcvbuf_append(&b, 21, data, 10));
    assert_true(scps_rcvbuf_append(&b, 41, data, 10));
    assert_int_equal(scps_rangeset_at(b.ooo, 0)->to, 51);
    assert_false(scps_rcvbuf_append(&b, 51, data, sizeof data)); /* more than there is room for */
    assert_int_equal(b.next, 21);
    put(&b, &a, 21, 10);
    assert_int_equal(b.next, 51);
    scps_rcvbuf_fini(&b, &a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds_the_stream),
        cmocka_unit_test(begins_again_at_the_front),
        cmocka_unit_test(append_takes_only_what_follows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
