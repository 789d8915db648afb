/* SPDX-License-Identifier: MIT */
/* The send buffer: every segment lies contiguously in memory, whatever was written and released,
 * and however large the ring has become. */
#include "core/sndbuf.h"

#include <scps/error.h>
#include <string.h>

#include "base/prng.h"
#include "cmocka_all.h"
#include "failing_alloc.h"

#define SEG 1000u

static uint8_t stream[10000000]; /* what is sent: stream[off] is the octet at offset off */

static int make_stream(void **state)
{
    (void)state;
    for (size_t off = 0; off < sizeof stream; off++)
        stream[off] = (uint8_t)(off * 7 + off / 251);
    return 0;
}

static void fill(uint8_t *p, scps_off off, size_t len)
{
    assert_true(off + len <= sizeof stream);
    memcpy(p, stream + off, len);
}

/* Each segment of up to SEG octets that lies in the buffer is contiguous and right. */
static void assert_segments(const struct scps_sndbuf *b)
{
    for (scps_off off = b->from; off < b->to; off += 97)
        assert_int_equal(
            memcmp(scps_sndbuf_at(b, off), stream + off, b->to - off < SEG ? b->to - off : SEG), 0);
}

static void contiguous(void **state)
{
    struct poor mem = {.left = UINT32_MAX};
    const struct scps_alloc a = {poor_alloc, poor_free, &mem};
    struct scps_sndbuf b;
    struct scps_prng rng;
    uint8_t data[5000], *at;
    (void)state;

    scps_prng_seed(&rng, 7);
    scps_sndbuf_init(&b, 12345, SEG);
    for (int i = 0; i < 3000; i++) {
        size_t len = scps_prng_below(&rng, sizeof data) + 1, n;
        if (b.to - b.from > (i < 1500 ? 20000u : 90000u)) {
            scps_sndbuf_release(&b, b.from + scps_prng_below(&rng, 2 * (uint32_t)len));
        } else if (i % 3) {
            fill(data, b.to, len);
            assert_int_equal(scps_sndbuf_write(&b, &a, data, len, false), len);
        } else {
            n = scps_sndbuf_room(&b, &a, len, &at);
            assert_in_range(n, 1, len);
            fill(at, b.to, n);
            scps_sndbuf_filled(&b, n);
        }
        assert_segments(&b);
    }
    assert_in_range(b.cap, 90000, 1u << 17);
    scps_sndbuf_fini(&b, &a);
    assert_int_equal(mem.out, 0);
}

/* The ring doubles as needed; if there is no memory for that, a smaller one is tried, and the
 * result is the number of octets taken. */
static void memory_is_short(void **state)
{
    struct poor mem = {.left = 1};
    const struct scps_alloc a = {poor_alloc, poor_free, &mem};
    struct scps_sndbuf b;
    static uint8_t data[20000];
    uint8_t *at;
    (void)state;

    fill(data, 1, sizeof data);
    scps_sndbuf_init(&b, 1, SEG);
    assert_int_equal(scps_sndbuf_write(&b, &a, data, 8000, false), 8000);
    assert_int_equal(b.cap, 8192);
    assert_int_equal(scps_sndbuf_write(&b, &a, data + 8000, 12000, false), 192);
    assert_int_equal(scps_sndbuf_room(&b, &a, 1, &at), 0);
    assert_int_equal(scps_sndbuf_write(&b, &a, data + 8192, 1, false), 0);
    assert_segments(&b);
    scps_sndbuf_release(&b, 4001);
    assert_int_equal(scps_sndbuf_write(&b, &a, data + 8192, 12000, false), 4000);
    assert_segments(&b);
    mem.left = 1;
    assert_int_equal(scps_sndbuf_write(&b, &a, data + 12192, 1000, false), 1000);
    assert_int_equal(b.cap, 16384);
    assert_segments(&b);
    scps_sndbuf_trim(&b, &a); /* There is data, so nothing is freed. */
    assert_non_null(b.mem);
    scps_sndbuf_release(&b, UINT64_MAX);
    assert_int_equal(b.from, b.to);
    scps_sndbuf_trim(&b, &a);
    assert_int_equal(mem.out, 0);
}

/* Zeros are written where no data is given; a hollow stream counts octets and takes no memory. */
static void zeros_and_hollow(void **state)
{
    struct poor mem = {.left = UINT32_MAX};
    const struct scps_alloc a = {poor_alloc, poor_free, &mem};
    static const uint8_t none[100];
    struct scps_sndbuf b;
    (void)state;

    scps_sndbuf_init(&b, 1, SEG);
    assert_int_equal(scps_sndbuf_reserve(&b, &a, 4096), 0);
    memset(b.mem, 0xee, 4096);
    assert_int_equal(scps_sndbuf_write(&b, &a, NULL, 100, false), 100);
    assert_memory_equal(scps_sndbuf_at(&b, 1), none, 100);
    scps_sndbuf_unwrite(&b, 40);
    assert_int_equal(b.to, 61);
    scps_sndbuf_fini(&b, &a);

    scps_sndbuf_init(&b, 1, SEG);
    assert_int_equal(scps_sndbuf_write(&b, &a, NULL, 3000000000u, true), 3000000000u);
    assert_null(scps_sndbuf_at(&b, 5));
    scps_sndbuf_release(&b, 2000000001);
    assert_int_equal(b.to - b.from, 1000000000);
    scps_sndbuf_release(&b, 7); /* An older acknowledgement releases nothing. */
    assert_int_equal(b.from, 2000000001);
    assert_int_equal(mem.out, 0);
    mem.left = 0;
    assert_int_equal(scps_sndbuf_reserve(&b, &a, 4096), SCPS_ERR_NOMEM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contiguous),
        cmocka_unit_test(memory_is_short),
        cmocka_unit_test(zeros_and_hollow),
    };

    return cmocka_run_group_tests(tests, make_stream, NULL);
}
