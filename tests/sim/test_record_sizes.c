/* SPDX-License-Identifier: MIT */
/* Records over bad links: as many arrive as were written, each with its size and the right octets,
 * however the link loses and reorders their segments. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "simrun.h"

static void run(struct simrun_config *c)
{
    struct simrun r;
    uint64_t last = c->size % c->record, n = c->size / c->record + (last > 0);

    simrun(c, &r);
    if (r.err || !r.intact)
        fail_msg("%s, seed %llu: %llu of %llu bytes, error %d", c->link,
                 (unsigned long long)c->seed, (unsigned long long)r.received,
                 (unsigned long long)c->size, r.err);
    if (r.records != n || r.record_max != c->record || r.record_min != (last ? last : c->record))
        fail_msg("%s, seed %llu, records of %u: %llu of %llu, %llu to %llu octets", c->link,
                 (unsigned long long)c->seed, c->record, (unsigned long long)r.records,
                 (unsigned long long)n, (unsigned long long)r.record_min,
                 (unsigned long long)r.record_max);
    assert_true(r.sender.records_out == n);
    assert_true(r.receiver.records_in == n);
}

/* The sizes are near those of segments; the links lose, reorder and duplicate packets. */
static void sizes_are_equal(void **state)
{
    static const uint32_t size[] = {7, 100, 1443, 1444, 1445, 1448, 1449, 8192, 100000};
    static const char *const link[] = {
        "rate=10m,delay=20ms", "rate=10m,delay=20ms,ber=1e-5,queue=1000000",
        "rate=10m,delay=20ms,loss=0.02,reorder=0.05,dup=0.02,queue=1000000"};
    (void)state;

    for (size_t i = 0; i < sizeof size / sizeof *size; i++)
        for (size_t j = 0; j < sizeof link / sizeof *link; j++)
            for (int how = 0; how < 4; how++) {
                struct simrun_config c = {.link = link[j],
                                          .seed = 1 + i,
                                          .size = size[i] < 50 ? 20001 : 1000001,
                                          .record = size[i],
                                          .buffers = 300000,
                                          .snack = how == 1,
                                          .ack_delayed = how == 2,
                                          .compress = how == 3,
                                          .v6 = i % 2};
                c.data = how == 2 ? SIMRUN_HOLLOW : SIMRUN_PATTERN;
                run(&c);
            }
}

/* The buffer is smaller than a record, so each record passes in parts. */
static void records_larger_than_the_buffers(void **state)
{
    struct simrun_config c = {.link = "rate=10m,delay=5ms,ber=1e-6,queue=1000000",
                              .seed = 3,
                              .size = 30000000,
                              .record = 1000000,
                              .buffers = 100000};
    (void)state;

    run(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_equal),
        cmocka_unit_test(records_larger_than_the_buffers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
