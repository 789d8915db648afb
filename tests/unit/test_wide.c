/* SPDX-License-Identifier: MIT */
/* base/wide.h: products of 128 bits made of 64-bit halves, compared with values computed elsewhere,
 * and with the compiler's own 128-bit type where it has one. */
#include "base/wide.h"

#include "base/prng.h"
#include "cmocka_all.h"

static const uint64_t edges[] = {
    0,
    1,
    2,
    3,
    0xffff,
    0x7fffffff,
    0x80000000,
    0xffffffff,
    UINT64_C(0x100000000),
    UINT64_C(0x100000001),
    UINT64_C(0x1ffffffff),
    UINT64_C(0x7fffffffffffffff),
    UINT64_C(0x8000000000000000),
    UINT64_C(0x8000000000000001),
    UINT64_C(0x80000000ffffffff),
    UINT64_C(0xffffffff00000000),
    UINT64_C(0xfffffffffffffffe),
    UINT64_MAX,
};
#define EDGES (sizeof edges / sizeof edges[0])

static void known_values(void **x)
{
    static const struct {
        uint64_t a, b, c, hi, lo, q;
    } v[] = {
        {3, 5, 4, 0, 15, 3},
        {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX - 1, 1, UINT64_MAX},
        /* The quotient does not fit into 64 bits, so it is UINT64_MAX. */
        {UINT64_MAX, UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 1, 1, UINT64_MAX},
        {UINT64_MAX, 1000000, 999999, 999999, UINT64_MAX - 999999, UINT64_MAX},
        {UINT64_C(10000000000000000000), 10, 100, 5, UINT64_C(7766279631452241920),
         UINT64_C(1000000000000000000)},
        {UINT64_C(123456789012345678), UINT64_C(987654321098765432), UINT64_C(999999999999999999),
         UINT64_C(6609981178781634), UINT64_C(11144622436905182352), UINT64_C(121932631137021794)},
        {UINT64_C(0x8000000000000000), 2, UINT64_C(0x8000000000000001), 1, 0, 1},
    };
    (void)x;

    for (size_t i = 0; i < sizeof v / sizeof v[0]; i++) {
        struct scps_product h = scps_mul_by_halves(v[i].a, v[i].b), p = scps_mul(v[i].a, v[i].b);
        assert_true(h.hi == v[i].hi && h.lo == v[i].lo);
        assert_true(p.hi == v[i].hi && p.lo == v[i].lo);
        assert_true(scps_muldiv_by_halves(v[i].a, v[i].b, v[i].c) == v[i].q);
        assert_true(scps_muldiv(v[i].a, v[i].b, v[i].c) == v[i].q);
    }
}

/* Asserts that both ways of computing agree: the quotient, rounded down, times c plus the remainder
 * is the product. */
static void same(uint64_t a, uint64_t b, uint64_t c)
{
    struct scps_product p = scps_mul_by_halves(a, b), n = scps_mul(a, b);
    uint64_t q = scps_muldiv_by_halves(a, b, c);

    assert_true(p.hi == n.hi && p.lo == n.lo);
    assert_true(q == scps_muldiv(a, b, c));
    if (p.hi < c) {
        struct scps_product back = scps_mul_by_halves(q, c);
        uint64_t rest = p.lo - back.lo;
        assert_true(p.hi - back.hi - (p.lo < back.lo) == 0);
        assert_true(rest < c);
    } else {
        assert_true(q == UINT64_MAX);
    }
}

static void both_ways_agree(void **x)
{
    struct scps_prng r;
    (void)x;

    for (size_t i = 0; i < EDGES; i++)
        for (size_t j = 0; j < EDGES; j++)
            for (size_t k = 1; k < EDGES; k++)
                same(edges[i], edges[j], edges[k]);
    scps_prng_seed(&r, 1);
    for (int i = 0; i < 200000; i++) {
        uint64_t v[3];
        /* The numbers have any length, some with long runs of ones or zeros. */
        for (int k = 0; k < 3; k++)
            v[k] = (scps_prng_next(&r) >> scps_prng_below(&r, 64)) |
                   (scps_prng_below(&r, 4) ? 0 : edges[scps_prng_below(&r, EDGES)]);
        same(v[0], v[1], v[2] ? v[2] : 1);
    }
}

static void square_roots(void **x)
{
    (void)x;
    for (size_t i = 0; i < EDGES; i++) {
        uint64_t n = edges[i], r = scps_root(n);
        assert_true(r <= UINT32_MAX && r * r <= n);
        assert_true(r == UINT32_MAX || (r + 1) * (r + 1) > n);
    }
    assert_int_equal(scps_root(99), 9);
    assert_int_equal(scps_root(100), 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_values),
        cmocka_unit_test(both_ways_agree),
        cmocka_unit_test(square_roots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
