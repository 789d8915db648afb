/* SPDX-License-Identifier: MIT */
/* base/pages.c compared with a table of what each page must contain, and the memory that it takes
 * from the allocator. */
#include "base/pages.h"

#include <scps/error.h>
#include <string.h>

#include "base/prng.h"
#include "cmocka_all.h"
#include "failing_alloc.h"

enum { SPACE = 5000 }; /* The number of pages. */

/* Writes the page's number and a stamp, which changes whenever the page is created again. */
static void write_page(uint8_t *p, uint32_t i, uint32_t stamp)
{
    memcpy(p, &i, sizeof i);
    memcpy(p + SCPS_PAGE - sizeof stamp, &stamp, sizeof stamp);
}

static void check(const struct scps_pages *p, uint64_t base, const uint32_t *stamp)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < SPACE; i++) {
        const uint8_t *page = scps_pages_find(p, base + (uint64_t)i * SCPS_PAGE + i % SCPS_PAGE);
        uint32_t is, at;
        assert_int_equal(page != NULL, stamp[i] != 0);
        if (!page)
            continue;
        n++;
        memcpy(&at, page, sizeof at);
        memcpy(&is, page + SCPS_PAGE - sizeof is, sizeof is);
        assert_int_equal(at, i);
        assert_int_equal(is, stamp[i]);
    }
    assert_int_equal(p->used, n);
}

static void change(struct scps_pages *p, const struct scps_alloc *a, struct scps_prng *r,
                   uint64_t base, uint32_t *stamp, uint32_t turn)
{
    uint32_t i = (uint32_t)scps_prng_below(r, SPACE);
    uint32_t n = (uint32_t)scps_prng_below(r, 30), first = i;

    switch (scps_prng_below(r, 12)) {
    case 0:
        scps_pages_drop(p, base + (uint64_t)i * SCPS_PAGE);
        stamp[i] = 0;
        break;
    /* Drops a range of pages. The code frees a short range page by page and a long one by its
     * table; pages that lie in it only in part stay. */
    case 1:
        n = turn % 5 ? n : SPACE;
        scps_pages_drop_range(p, base + (uint64_t)i * SCPS_PAGE - 1,
                              base + (uint64_t)(i + n) * SCPS_PAGE + SCPS_PAGE - 1);
        for (; first < i + n && first < SPACE; first++)
            stamp[first] = 0;
        break;
    case 2:
        if (turn % 50 == 0) {
            scps_pages_clear(p);
            memset(stamp, 0, SPACE * sizeof *stamp);
        }
        break;
    default:
        assert_int_equal(scps_pages_reserve(p, a, n), 0);
        for (; n && i < SPACE; n--, i++)
            if (!stamp[i])
                write_page(scps_pages_make(p, base + (uint64_t)i * SCPS_PAGE), i,
                           stamp[i] = turn + 1);
    }
}

static void against_a_table(void **x)
{
    static uint32_t stamp[SPACE];
    (void)x;

    for (uint64_t seed = 0; seed < 6; seed++) {
        /* The page numbers pass 2^32, or begin at the lowest possible offset. */
        uint64_t base = seed % 2 ? (UINT64_C(1) << 40) - UINT64_C(1000) * SCPS_PAGE : SCPS_PAGE;
        struct poor mem = {.left = UINT32_MAX};
        struct scps_alloc a = {poor_alloc, poor_free, &mem};
        struct scps_pages p;
        struct scps_prng r;

        memset(stamp, 0, sizeof stamp);
        scps_prng_seed(&r, seed);
        scps_pages_init(&p);
        for (uint32_t turn = 0; turn < 3000; turn++) {
            change(&p, &a, &r, base, stamp, turn);
            assert_int_equal(scps_pages_memory(&p), mem.out);
            if (turn % 100 == 0)
                check(&p, base, stamp);
        }
        check(&p, base, stamp);
        scps_pages_fini(&p, &a);
        assert_int_equal(mem.out, 0);
    }
}

/* n pages take less memory than 2 n + 8 pages, their table included, and about log n
 * allocations. */
static void memory_is_in_proportion(void **x)
{
    struct poor mem = {.left = UINT32_MAX};
    struct scps_alloc a = {poor_alloc, poor_free, &mem};
    struct scps_pages p;
    (void)x;

    scps_pages_init(&p);
    for (uint32_t n = 1; n <= 100000; n++) {
        assert_int_equal(scps_pages_reserve(&p, &a, 1), 0);
        scps_pages_make(&p, (uint64_t)n * 1000003);
        assert_true(mem.out <= (2 * (size_t)n + 8) * (SCPS_PAGE + 32));
    }
    assert_true(UINT32_MAX - mem.left < 40);
    scps_pages_fini(&p, &a);
}

/* When the allocator refuses memory no page is lost, and a later allocation succeeds. */
static void memory_refused(void **x)
{
    struct poor mem = {.left = UINT32_MAX};
    struct scps_alloc a = {poor_alloc, poor_free, &mem};
    struct scps_pages p;
    (void)x;

    scps_pages_init(&p);
    for (uint32_t left = 0; left < 2; left++) {
        mem.left = left;
        assert_int_equal(scps_pages_reserve(&p, &a, 5), SCPS_ERR_NOMEM);
        assert_null(scps_pages_find(&p, 0));
    }
    mem.left = UINT32_MAX;
    assert_int_equal(scps_pages_reserve(&p, &a, 5), 0);
    for (uint32_t i = 0; i < 5; i++)
        write_page(scps_pages_make(&p, (uint64_t)i * SCPS_PAGE), i, 7);
    mem.left = 0;
    assert_int_equal(scps_pages_reserve(&p, &a, 3), 0);
    assert_int_equal(scps_pages_reserve(&p, &a, 4), SCPS_ERR_NOMEM);
    assert_int_equal(scps_pages_reserve(&p, &a, UINT32_MAX), SCPS_ERR_NOMEM);
    for (uint32_t i = 0; i < 5; i++)
        assert_non_null(scps_pages_find(&p, (uint64_t)i * SCPS_PAGE + 255));
    scps_pages_fini(&p, &a);
    assert_int_equal(mem.out, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_a_table),
        cmocka_unit_test(memory_is_in_proportion),
        cmocka_unit_test(memory_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
