/* SPDX-License-Identifier: MIT */
/* base/budget.c: it refuses allocations beyond its limit, counts what is in use, and gives each of
 * its users a share. */
#include "base/budget.h"

#include "base/prng.h"
#include "cmocka_all.h"
#include "failing_alloc.h"

static void ceilings(void **x)
{
    struct poor mem = {.left = UINT32_MAX};
    struct scps_alloc owner = {poor_alloc, poor_free, &mem}, all, later;
    struct scps_budget b;
    void *p, *q;
    (void)x;

    scps_budget_init(&b, &owner, 8000);
    all = scps_budget_alloc(&b.all);
    later = scps_budget_alloc(&b.later);
    assert_null(later.alloc(later.ctx, 7001));
    assert_int_equal(b.refused, 1);
    p = later.alloc(later.ctx, 7000);
    assert_non_null(p);
    assert_null(later.alloc(later.ctx, 1));
    assert_null(all.alloc(all.ctx, 1001));
    q = all.alloc(all.ctx, 1000);
    assert_non_null(q);
    assert_null(all.alloc(all.ctx, 1));
    assert_null(all.alloc(all.ctx, SIZE_MAX));
    assert_int_equal(b.used, 8000);
    /* Memory that one user of the budget frees can be taken by any other. */
    all.free(all.ctx, p, 7000);
    assert_int_equal(b.used, 1000);
    assert_int_equal(b.peak, 8000);
    assert_int_equal(b.refused, 5);
    /* An allocation that the owner's allocator refuses is not counted as refused by the budget. */
    mem.left = 0;
    assert_null(all.alloc(all.ctx, 1));
    assert_int_equal(b.refused, 5);
    assert_int_equal(b.used, 1000);
    all.free(all.ctx, q, 1000);
    assert_int_equal(mem.out, 0);
}

static void no_limit(void **x)
{
    struct poor mem = {.left = UINT32_MAX};
    struct scps_alloc owner = {poor_alloc, poor_free, &mem}, later;
    struct scps_budget_part share;
    struct scps_budget b;
    void *p;
    (void)x;

    scps_budget_init(&b, &owner, 0);
    later = scps_budget_alloc(&b.later);
    p = later.alloc(later.ctx, 100000);
    assert_non_null(p);
    share = scps_budget_share(&b, UINT64_C(1) << 40);
    assert_true(share.ceiling > UINT64_C(1) << 60);
    later.free(later.ctx, p, 100000);
}

/* Several users of a budget that each take all they can, in any order: every one gets a share, the
 * last one too. */
static void shares(void **x)
{
    enum { TAKERS = 40, LIMIT = 4000000, PIECE = 100 };
    struct poor mem = {.left = UINT32_MAX};
    struct scps_alloc owner = {poor_alloc, poor_free, &mem};
    static void *piece[TAKERS + 1][LIMIT / PIECE];
    uint64_t own[TAKERS + 1] = {0};
    struct scps_budget b;
    struct scps_prng r;
    (void)x;

    scps_budget_init(&b, &owner, LIMIT);
    scps_prng_seed(&r, 1);
    for (int turn = 0; turn < 200000; turn++) {
        size_t i = turn < 190000 ? (size_t)scps_prng_below(&r, TAKERS) : TAKERS;
        struct scps_budget_part share = scps_budget_share(&b, own[i]);
        struct scps_alloc a = scps_budget_alloc(&share);
        void *p = a.alloc(a.ctx, PIECE);
        if (!p)
            continue;
        piece[i][own[i] / PIECE] = p;
        own[i] += PIECE;
        assert_true(b.used <= LIMIT / 4 * 3);
    }
    for (size_t i = 0; i < TAKERS; i++)
        assert_in_range(own[i], LIMIT / 4 * 3 / (TAKERS + 1) / 10 * 9,
                        LIMIT / 4 * 3 / (TAKERS + 1) / 10 * 12);
    assert_true(own[TAKERS] > LIMIT / 4 * 3 / (TAKERS + 1) / 3);
    for (size_t i = 0; i <= TAKERS; i++)
        while (own[i]) {
            own[i] -= PIECE;
            struct scps_alloc a = scps_budget_alloc(&b.all);
            a.free(a.ctx, piece[i][own[i] / PIECE], PIECE);
        }
    assert_int_equal(b.used, 0);
    assert_int_equal(mem.out, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ceilings),
        cmocka_unit_test(no_limit),
        cmocka_unit_test(shares),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
