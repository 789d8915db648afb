/* SPDX-License-Identifier: MIT */
/* core/rcvbuf.c with a stream whose octets depend on their offset: data in order, data beyond
 * holes, wrapping, growth, and a buffer that becomes empty. */
#include "core/rcvbuf.h"

#include "base/bytes.h"
#include "base/pages.h"
#include "base/prng.h"
#include "cmocka_all.h"
#include "failing_alloc.h"

#include <scps/error.h>

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

/* Reads up to len octets, by copying or in place, and compares them. */
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
        /* The percentage of segments after which a hole is left. */
        unsigned holes = seed < 2 ? 0 : seed < 4 ? 5 : 50;

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

/* After everything has been read, the next data is stored at the front again, in memory that is
 * still in the processor's cache. */
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
    /* Data beyond a hole is stored, so the buffer cannot begin at its front again. */
    put(&b, &a, b.next + 1000, 1000);
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
    assert_false(scps_rcvbuf_append(&b, 1, data, 10)); /* The buffer has no memory yet. */
    put(&b, &a, 1, 10);
    assert_true(scps_rcvbuf_append(&b, 11, data, 10));
    assert_false(scps_rcvbuf_append(&b, 20, data, 10));
    assert_false(scps_rcvbuf_append(&b, 22, data, 10));
    put(&b, &a, 31, 10); /* A hole of ten octets is left. */
    assert_false(scps_rcvbuf_append(&b, 21, data, 10));
    assert_true(scps_rcvbuf_append(&b, 41, data, 10));
    assert_int_equal(scps_rangeset_at(b.ooo, 0)->to, 51);
    /* The segment is larger than the buffer's free space. */
    assert_false(scps_rcvbuf_append(&b, 51, data, sizeof data));
    assert_int_equal(b.next, 21);
    put(&b, &a, 21, 10);
    assert_int_equal(b.next, 51);
    scps_rcvbuf_fini(&b, &a);
}

/* ---- compared with a map of octets ---- */

enum { FAR = 1 << 18 };

/* The state of one octet of the window in the model. */
enum { NOTHING, HELD };

struct model {
    struct scps_rcvbuf b;
    struct poor mem;
    struct scps_alloc a;
    struct scps_prng r;
    /* The octet at offset `off` is in map[off % FAR] while it lies in the window. */
    uint8_t map[FAR];
    uint64_t held;
};

static uint8_t *of(struct model *m, scps_off off)
{
    return &m->map[off % FAR];
}

static void model_put(struct model *m, scps_off off, uint32_t len)
{
    static uint8_t data[70000];
    struct scps_range run = {0, 0};
    int got;

    fill(data, off, len);
    if (scps_rcvbuf_append(&m->b, off, data, len))
        got = 1;
    else
        got = scps_rcvbuf_put(&m->b, &m->a, off, data, len, HOLES, &run);
    if (got < 0) {
        assert_true(got == SCPS_ERR_LIMIT || (got == SCPS_ERR_NOMEM && m->mem.left == 0));
        return;
    }
    for (uint32_t i = 0; i < len; i++) {
        m->held += *of(m, off + i) != HELD;
        *of(m, off + i) = HELD;
    }
    if (run.to)
        assert_true(run.from <= off && run.to >= off + len);
}

static void check_octets(const uint8_t *p, scps_off at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != octet(at + i))
            fail_msg("octet %llu is wrong", (unsigned long long)(at + i));
}

static void model_read(struct model *m, size_t len)
{
    static uint8_t room[FAR];
    scps_off at = m->b.read;
    size_t n = 0, got;

    while (n < len && at + n < m->b.next && *of(m, at + n) == HELD)
        n++;
    if (scps_prng_below(&m->r, 2)) {
        const uint8_t *p = scps_rcvbuf_front(&m->b, &got);
        n = n ? SCPS_MIN(n, got) : 0;
        check_octets(p, at, n);
    }
    assert_int_equal(scps_rcvbuf_read(&m->b, room, n, false), n);
    check_octets(room, at, n);
    for (size_t i = 0; i < n; i++)
        *of(m, at + i) = NOTHING;
    m->held -= n;
}

/* Best effort gives up the hole at rcvbuf.next after all data before it has been read; late octets
 * fill part of the hole or none, and reading continues behind it. */
static void model_jump(struct model *m)
{
    struct scps_rcvbuf *b = &m->b;
    uint8_t data[3000];
    scps_off to, end;

    while (b->read != b->next)
        model_read(m, FAR);
    if (!b->ooo->n)
        return;
    to = scps_rangeset_at(b->ooo, 0)->from;
    scps_rcvbuf_jump(b, to);
    end = b->read + scps_prng_below(&m->r, 3000);
    end = SCPS_MIN(end, to);
    fill(data, b->read, (uint32_t)(end - b->read));
    if (end > b->read &&
        scps_rcvbuf_fill(b, &m->a, b->read, data, (uint32_t)(end - b->read), HOLES) == 0) {
        for (scps_off off = b->read; off < end; off++)
            *of(m, off) = HELD;
        m->held += end - b->read;
        while (b->read < end)
            model_read(m, end - b->read);
    }
    if (b->read < to)
        scps_rcvbuf_skip(b, to);
}

static void model_check(struct model *m)
{
    const struct scps_rcvbuf *b = &m->b;
    uint64_t ready = 0, total = scps_rangeset_total(b->ooo);
    uint32_t range = 0;

    assert_int_equal(scps_rcvbuf_memory(b), m->mem.out);
    for (scps_off off = b->read; off < b->read + FAR; off++) {
        while (range < b->ooo->n && scps_rangeset_at(b->ooo, range)->to <= off)
            range++;
        bool in =
            off < b->next || (range < b->ooo->n && scps_rangeset_at(b->ooo, range)->from <= off);
        if ((*of(m, off) == HELD) != in)
            fail_msg("octet %llu: held %d", (unsigned long long)off, in);
        ready += off < b->next;
    }
    assert_int_equal(ready, scps_rcvbuf_ready(b));
    assert_int_equal(ready + total, m->held);
}

static void model_turn(struct model *m, unsigned turn)
{
    struct scps_rcvbuf *b = &m->b;
    uint64_t kind = scps_prng_below(&m->r, 100), window = b->read + FAR - b->next;
    uint32_t len = 1 + (uint32_t)scps_prng_below(&m->r, turn % 64 ? 1500 : 65000);
    scps_off at = b->next;

    if (m->mem.left != UINT32_MAX && kind < 30)
        m->mem.left = UINT32_MAX;
    else if (kind == 99 && turn % 3 == 0)
        m->mem.left = (unsigned)scps_prng_below(&m->r, 4);
    /* The segment lies anywhere in the window and often has a single octet. */
    if (kind < 30 && window)
        at += scps_prng_below(&m->r, window);
    /* The segment lies directly behind or before a range that is stored. */
    else if (kind < 60 && b->ooo->n)
        at = scps_rangeset_at(b->ooo, (uint32_t)scps_prng_below(&m->r, b->ooo->n))->to;
    else if (kind < 65) /* The segment overlaps data that is already stored. */
        at += scps_prng_below(&m->r, SCPS_MIN(window, 20000));
    len = (uint32_t)SCPS_MIN(kind < 15 ? 1 : len, b->read + FAR - at);
    if (len)
        model_put(m, at, len);
    if (scps_prng_below(&m->r, 4) == 0)
        model_read(m, 1 + scps_prng_below(&m->r, scps_prng_below(&m->r, 2) ? 300 : FAR));
    if (scps_prng_below(&m->r, 60) == 0)
        model_jump(m);
    if (scps_prng_below(&m->r, 500) == 0) {
        while (b->read != b->next)
            model_read(m, FAR);
        scps_rcvbuf_trim(b, &m->a);
    }
}

static void against_a_map(void **x)
{
    static struct model m;
    (void)x;

    for (uint64_t seed = 0; seed < 8; seed++) {
        memset(&m, 0, sizeof m);
        m.mem.left = UINT32_MAX;
        m.a = (struct scps_alloc){poor_alloc, poor_free, &m.mem};
        scps_prng_seed(&m.r, seed);
        scps_rcvbuf_init(&m.b, seed % 2 ? 1 : UINT64_C(0xffff0000), false);
        for (unsigned turn = 0; turn < 3000; turn++) {
            model_turn(&m, turn);
            if (turn % 500 == 0)
                model_check(&m);
        }
        model_check(&m);
        scps_rcvbuf_fini(&m.b, &m.a);
        assert_int_equal(m.mem.out, 0);
    }
}

/* ---- memory in proportion to the data ---- */

/* n octets take a ring of at most four times as much (DENSE, rounded up to a power of two) or a
 * page each, plus the first block of each kind. */
static void octets_far_ahead(void **x)
{
    struct poor mem = {.left = UINT32_MAX};
    struct scps_alloc a = {poor_alloc, poor_free, &mem};
    struct scps_rcvbuf b;
    uint8_t one = 0;
    (void)x;

    scps_rcvbuf_init(&b, 1, false);
    assert_int_equal(scps_rcvbuf_put(&b, &a, UINT64_C(1) << 30, &one, 1, HOLES, NULL), 1);
    assert_true(mem.out < 4096);
    for (uint32_t i = 2; i <= 500; i++) {
        fill(&one, i * UINT64_C(100003), 1);
        assert_int_equal(scps_rcvbuf_put(&b, &a, i * UINT64_C(100003), &one, 1, HOLES, NULL), 1);
        assert_true(mem.out < 4096 + i * (2 * (SCPS_PAGE + 16) + 2 * sizeof(struct scps_range)));
    }
    assert_true(UINT32_MAX - mem.left < 40); /* The buffer made fewer than 40 allocations. */
    put(&b, &a, 1, 3000); /* Data in order is stored although pages are in use far ahead. */
    take(&b, 3000, false);
    assert_true(mem.out < 300000);
    scps_rcvbuf_fini(&b, &a);
    assert_int_equal(mem.out, 0);

    /* Data that has been read is not counted when the buffer decides whether a ring over the data
     * far ahead is worth its memory. */
    scps_rcvbuf_init(&b, 1, false);
    put(&b, &a, 100001, 1);
    for (uint32_t i = 0; i < 50; i++) {
        put(&b, &a, 1 + i * 1000, 1000);
        take(&b, 1000, false);
    }
    put(&b, &a, 149001, 1000);
    assert_true(b.paged && b.cap <= 16384);
    scps_rcvbuf_fini(&b, &a);
    assert_int_equal(mem.out, 0);
}

/* RFC 2018 section 8: the receiver may discard data that it has reported by SACK but not
 * acknowledged. Data in order stays. */
static void what_is_beyond_can_be_discarded(void **x)
{
    struct poor mem = {.left = UINT32_MAX};
    struct scps_alloc a = {poor_alloc, poor_free, &mem};
    struct scps_rcvbuf b;
    uint8_t far[600];
    (void)x;

    scps_rcvbuf_init(&b, 1, false);
    scps_rcvbuf_renege(&b, &a); /* There is no data beyond a hole, so nothing is discarded. */
    put(&b, &a, 1, 1000);
    fill(far, 3001, sizeof far);
    assert_int_equal(scps_rcvbuf_put(&b, &a, 3001, far, 600, HOLES, NULL), 1);
    fill(far, 900001, sizeof far);
    assert_int_equal(scps_rcvbuf_put(&b, &a, 900001, far, 600, HOLES, NULL), 1);
    scps_rcvbuf_renege(&b, &a);
    assert_int_equal(b.ooo->n, 0);
    assert_int_equal(b.next, 1001);
    fill(far, 3001, sizeof far);
    /* The data was discarded, so it counts as new when it arrives again. */
    assert_int_equal(scps_rcvbuf_put(&b, &a, 3001, far, 600, HOLES, NULL), 1);
    put(&b, &a, 1001, 2000);
    take(&b, 3600, false);
    assert_int_equal(scps_rcvbuf_put(&b, &a, 900001, far, 600, HOLES, NULL), 1);
    scps_rcvbuf_renege(&b, &a); /* No unread data is left, so all memory is freed. */
    assert_int_equal(mem.out, 0);
    scps_rcvbuf_fini(&b, &a);
}

/* A flight whose first half was lost is stored in pages until it would fill half of a ring. */
static void a_ring_grows_over_pages(void **x)
{
    struct poor mem = {.left = UINT32_MAX};
    struct scps_alloc a = {poor_alloc, poor_free, &mem};
    struct scps_rcvbuf b;
    (void)x;

    scps_rcvbuf_init(&b, 1, false);
    for (uint32_t i = 0; i < 120; i++) {
        put(&b, &a, 100001 + i * 1000, 1000);
        assert_int_equal(b.paged, i < 99);
        assert_true(mem.out < 20000 + 4 * 1000 * (size_t)(i + 1));
    }
    assert_int_equal(b.cap, 262144);
    for (uint32_t i = 0; i < 100; i++)
        put(&b, &a, 1 + i * 1000, 1000);
    assert_int_equal(scps_rcvbuf_ready(&b), 220000);
    for (unsigned i = 0; b.read != b.next; i++)
        take(&b, 10000, i % 2);
    scps_rcvbuf_fini(&b, &a);
}

/* Best effort gives up a hole at the end of a stream of which no octet arrived: the buffer has no
 * memory, and no octet can be read. */
static void a_hole_without_memory(void **x)
{
    struct scps_rcvbuf b;
    size_t len = 1;
    (void)x;

    scps_rcvbuf_init(&b, 1, false);
    scps_rcvbuf_jump(&b, 1001);
    assert_null(scps_rcvbuf_front(&b, &len));
    assert_int_equal(len, 0);
    scps_rcvbuf_skip(&b, 101);
    assert_null(scps_rcvbuf_front(&b, &len));
    assert_int_equal(len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds_the_stream),
        cmocka_unit_test(begins_again_at_the_front),
        cmocka_unit_test(append_takes_only_what_follows),
        cmocka_unit_test(against_a_map),
        cmocka_unit_test(octets_far_ahead),
        cmocka_unit_test(what_is_beyond_can_be_discarded),
        cmocka_unit_test(a_ring_grows_over_pages),
        cmocka_unit_test(a_hole_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
