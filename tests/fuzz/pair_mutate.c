/* SPDX-License-Identifier: MIT */
/* How libFuzzer changes an input of fuzz_pair: whole orders are inserted, removed, moved and
 * changed, and sometimes a new input is made, because random octets seldom make useful orders.
 *
 * The file is for builds with libFuzzer, which calls its two functions by their names.
 */
#include "pair.h"

#ifdef SCPS_LIBFUZZER

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t na, const uint8_t *b, size_t nb,
                                 uint8_t *out, size_t max, unsigned seed);

static uint32_t below(uint32_t *x, uint32_t n)
{
    return (uint32_t)((uint64_t)draw(x) * n >> 32);
}

/* Makes an order: mostly time passes, for microseconds to minutes; the device is hardly ever
 * removed. */
static void make_order(uint32_t *x, uint8_t *o)
{
    static const uint8_t kinds[] = {0,  0,  0,   0,   0,   1,   1,   1,   1,   2,   3,   3,  3,
                                    4,  4,  4,   5,   5,   6,   7,   8,   9,   10,  11,  12, 14,
                                    14, 13, 240, 241, 241, 242, 243, 244, 245, 245, 246, 247};

    o[0] = kinds[below(x, sizeof kinds)];
    o[1] = (uint8_t)draw(x);
    o[2] = (uint8_t)draw(x);
    o[3] = (uint8_t)draw(x);
    if (o[0] == 0)
        o[1] = (uint8_t)(8 + below(x, 20));
    if (o[0] == 13 && !below(x, 8)) {
        o[2] = 0x5a;
        o[3] = 0xa5;
    }
}

/* Careful resume: a flow ends well, its path is saved before, and the next one is given it. */
static size_t make_resume(uint32_t *x, uint8_t *o)
{
    const uint8_t a = (uint8_t)(below(x, 2) * 3),
                  start[][ORDER] = {{3, a, 255, 5}, {0, (uint8_t)(18 + below(x, 8)), 0, 0},
                                    {245, a, 1, 0}, {4, (uint8_t)(a | 4 << 3), 0, 0},
                                    {0, 24, 0, 0},  {9, a, 0, 0},
                                    {245, a, 0, 0}, {3, a, 255, 5}};

    memcpy(o, start, sizeof start);
    return sizeof start;
}

static size_t make_input(uint32_t *x, uint8_t *p, size_t max)
{
    size_t orders = 1 + below(x, 1u << below(x, 7)), n = HEADER;
    bool far = !below(x, 8);

    if (max < HEADER + ORDER)
        return 0;
    for (size_t i = 0; i < HEADER; i++)
        p[i] = below(x, 2) ? (uint8_t)draw(x) : 0;
    /* Most runs have neither a third party nor hollow streams. */
    p[0] &= (uint8_t)(below(x, 2) ? 0xff : 0xec);
    p[1] &= far ? 0xff : 0x77; /* Delays of minutes are rare. */
    p[3] &= 0x55;
    if (!below(x, 12) && n + 8 * ORDER <= max)
        n += make_resume(x, p + n);
    for (; orders-- && n + ORDER <= max; n += ORDER)
        make_order(x, p + n);
    return n;
}

static size_t change(uint32_t *x, uint8_t *p, size_t size, size_t max)
{
    size_t orders = (size - HEADER) / ORDER, at = below(x, (uint32_t)orders + 1), n;
    uint8_t *o = p + HEADER + at * ORDER;
    size_t rest = size - HEADER - at * ORDER;

    switch (below(x, 10)) {
    case 0:
        p[below(x, HEADER)] = (uint8_t)draw(x);
        break;
    case 1:
        p[below(x, HEADER)] ^= (uint8_t)(1u << below(x, 8));
        break;
    case 2:
        p[below(x, HEADER)] = 0;
        break;
    case 3: /* Inserts a new order. */
    case 4:
        if (size + ORDER <= max) {
            memmove(o + ORDER, o, rest);
            make_order(x, o);
            size += ORDER;
        }
        break;
    case 5: /* Removes some orders. */
        /* SCPS_MIN may evaluate this argument twice, so it is computed before. */
        n = 1 + below(x, 4);
        n = SCPS_MIN(rest / ORDER, n) * ORDER;
        memmove(o, o + n, rest - n);
        size -= n;
        break;
    case 6: /* Repeats some orders. */
        n = 1 + below(x, 8);
        n = SCPS_MIN(rest / ORDER, n) * ORDER;
        if (size + n <= max) {
            memmove(o + n, o, rest);
            size += n;
        }
        break;
    case 7:
    case 8:
        if (rest >= ORDER)
            o[below(x, ORDER)] = (uint8_t)draw(x);
        break;
    case 9:
        if (rest >= ORDER)
            o[1 + below(x, ORDER - 1)] ^= (uint8_t)(1u << below(x, 8));
        break;
    }
    return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    uint32_t x = seed * 2654435761u | 1;

    if (max >= HEADER + ORDER && (size < HEADER + ORDER || !below(&x, 50)))
        return make_input(&x, data, max);
    if (size < HEADER || !below(&x, 8))
        return LLVMFuzzerMutate(data, size, max);
    for (unsigned n = 1 + below(&x, 5); n--;)
        size = change(&x, data, size, max);
    return size;
}

/* Combines two inputs: the configuration of one, and orders of both. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t na, const uint8_t *b, size_t nb,
                                 uint8_t *out, size_t max, unsigned seed)
{
    uint32_t x = seed * 2654435761u | 1;
    size_t oa, ob, from;

    if (na < HEADER + ORDER || nb < HEADER + ORDER)
        return 0;
    oa = HEADER + below(&x, (uint32_t)((na - HEADER) / ORDER) + 1) * ORDER;
    from = HEADER + below(&x, (uint32_t)((nb - HEADER) / ORDER)) * ORDER;
    ob = nb - from;
    if (oa > max)
        return 0;
    memcpy(out, a, oa);
    ob = SCPS_MIN(ob, max - oa);
    memcpy(out + oa, b + from, ob);
    return oa + ob;
}

#endif
