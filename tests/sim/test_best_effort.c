/* SPDX-License-Identifier: MIT */
/* Best effort over bad links: every byte that is delivered is the one that was sent at its offset,
 * every other byte lies in a hole that was reported before the data behind it, and both together
 * are the whole stream. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "simrun.h"

static void run(struct simrun_config *c, struct simrun *r)
{
    c->bets = true;
    c->limit = SCPS_SEC(100000);
    simrun(c, r);
    if (r->err || !r->intact || r->acked < 0)
        fail_msg("%s, seed %llu: %llu bytes and %llu missing of %llu, error %d, %s", c->link,
                 (unsigned long long)c->seed, (unsigned long long)r->received,
                 (unsigned long long)r->missing, (unsigned long long)c->size, r->err,
                 r->acked < 0 ? "not closed" : "closed");
    assert_true(r->holes == r->receiver.holes);
    assert_true(r->missing == r->receiver.bytes_missing);
    assert_true(r->received == r->receiver.bytes_received);
    assert_true(r->sender.bytes_acked + r->sender.bytes_given_up == c->size);
}

/* With a long wait for holes best effort gives up nothing. */
static void a_long_wait_gives_up_no_hole(void **state)
{
    static const char *const link[] = {
        "rate=10m,delay=20ms", "rate=10m,delay=20ms,ber=1e-5,queue=1000000",
        "rate=10m,delay=20ms,loss=0.02,reorder=0.05,dup=0.02,queue=1000000", "nasa500,ber=1e-6"};
    (void)state;

    for (size_t i = 0; i < sizeof link / sizeof *link; i++)
        for (int snack = 0; snack < 2; snack++) {
            struct simrun_config c = {.link = link[i],
                                      .seed = 1,
                                      .size = 2000000,
                                      .snack = snack,
                                      .bets_timeout = SCPS_SEC(30)};
            struct simrun r;
            run(&c, &r);
            assert_true(r.missing == 0);
            assert_true(r.sender.bytes_given_up == 0);
        }
}

/* The receiver gives up holes at once, on links from a good one to one that damages more than half
 * of the segments, in every acknowledgement mode and with every kind of report. */
static void only_reported_holes_are_lost(void **state)
{
    static const char *const link[] = {
        "rate=10m,delay=20ms,ber=1e-6,queue=1000000", "rate=10m,delay=20ms,ber=1e-5,queue=1000000",
        "rate=10m,delay=20ms,ber=1e-4,queue=1000000",
        "rate=10m,delay=250ms,loss=0.1,loss-back=0.5,queue=1000000",
        "rate=10m,delay=20ms,loss=0.02,reorder=0.2,dup=0.05,queue=1000000"};
    uint64_t missing = 0, torn = 0;
    (void)state;

    for (size_t i = 0; i < sizeof link / sizeof *link; i++)
        for (int how = 0; how < 8; how++) {
            struct simrun_config c = {.link = link[i],
                                      .seed = 10 + (uint64_t)how,
                                      .size = 300000,
                                      .rate = how & 4 ? 1000000 : 0,
                                      .cc = how & 4 ? "rate" : NULL,
                                      .snack = how & 1,
                                      .ack_delayed = how & 2,
                                      .record = how & 1 ? 3000 : 0,
                                      .v6 = how == 3,
                                      .compress = how == 7,
                                      .bets_timeout = SCPS_MS(30),
                                      .bets_retries = 3};
            struct simrun r;
            c.data = how == 5 ? SIMRUN_HOLLOW : how == 6 ? SIMRUN_ZEROS : SIMRUN_PATTERN;
            run(&c, &r);
            missing += r.missing;
            torn += r.torn;
            if (c.record) {
                /* Records without a hole have their full size; the others are shorter by no more
                 * than the missing bytes. */
                assert_true(r.record_max <= c.record);
                assert_true(r.records + r.torn <= c.size / c.record);
                assert_true(r.records * c.record <= r.received);
                assert_true(r.records == 0 || r.record_min == c.record);
            }
        }
    assert_true(missing > 100000); /* Enough bytes are missing for a meaningful test. */
    assert_true(torn > 10);
}

/* The sender gives up early and the receiver late: data that the sender has given up is missing at
 * the receiver, unless it has arrived. */
static void the_sender_gives_up(void **state)
{
    uint64_t given_up = 0;
    (void)state;

    for (uint64_t seed = 1; seed < 20; seed++) {
        struct simrun_config c = {.link = "rate=1m,delay=50ms,loss=0.4,loss-back=0.2,queue=1000000",
                                  .seed = seed,
                                  .size = 100000,
                                  .snack = seed & 1,
                                  .bets_timeout = SCPS_SEC(3),
                                  .bets_lifetime = seed % 4 > 1 ? SCPS_MS(400) : 0,
                                  .bets_retries = 1};
        struct simrun r;
        run(&c, &r);
        given_up += r.sender.bytes_given_up;
    }
    assert_true(given_up > 50000);
}

/* On a link that loses most segments best effort ends long before a reliable transfer, and its time
 * does not depend on the number of holes. */
static void holes_do_not_add_up(void **state)
{
    struct simrun_config c = {.link = "rate=10m,delay=250ms,ber=5e-5,queue=4000000,ber-back=0",
                              .seed = 5,
                              .size = 3000000,
                              .cc = "rate",
                              .rate = 1000000,
                              .buffers = 2000000,
                              .snack = true,
                              .bets_timeout = SCPS_MS(100)};
    struct simrun r;
    (void)state;

    run(&c, &r);
    assert_true(r.holes > 300);
    assert_true(r.delivered < 3 * simrun_limit(&c, &r) && r.delivered < SCPS_SEC(20));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_wait_gives_up_no_hole),
        cmocka_unit_test(only_reported_holes_are_lost),
        cmocka_unit_test(the_sender_gives_up),
        cmocka_unit_test(holes_do_not_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
