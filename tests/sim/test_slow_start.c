/* SPDX-License-Identifier: MIT */
/* slow-start=: how the first slow start ends over a satellite link with a queue of 4.8 BDPs, with
 * and without jitter, with each rule (standard, HyStart++, SEARCH).
 *
 *      sender ---- 50 Mbit/s, 600 ms, 12000 packets of queue ---- receiver
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "simrun.h"

enum { STANDARD, HYSTART, SEARCH, WAYS };

struct result {
    double seconds;
    uint32_t resent;
};

static void all_ways(const char *link, const char *cc, struct result out[WAYS])
{
    static const char *const way[] = {"standard", "hystart", "search"};
    struct simrun r;
    char text[64];

    for (int i = 0; i < WAYS; i++) {
        struct simrun_config cfg = {.link = link,
                                    .seed = 1,
                                    .size = 100000000,
                                    .data = SIMRUN_HOLLOW,
                                    .buffers = 64 << 20,
                                    .cc = text,
                                    .snack = true};
        snprintf(text, sizeof text, "%s,slow-start=%s", cc, way[i]);
        simrun(&cfg, &r);
        assert_true(r.intact);
        out[i] = (struct result){(double)r.delivered * 1e-6, r.sender.resent_segs};
    }
}

#define SATELLITE "rate=50mbit,rate-back=10mbit,rtt=600ms,queue=12000p"

/* SEARCH ends slow start before the queue overflows, with every controller; HyStart++ slows down,
 * but still reaches the end of the queue. */
static void before_the_queue_overflows(void **state)
{
    static const char *const cc[] = {"vj", "cubic", "highspeed", "scalable"};
    struct result r[WAYS];
    (void)state;

    for (size_t i = 0; i < sizeof cc / sizeof *cc; i++) {
        all_ways(SATELLITE, cc[i], r);
        if (r[SEARCH].resent || r[STANDARD].resent < 10000 ||
            r[SEARCH].seconds > r[STANDARD].seconds + 0.01)
            fail_msg("%s: standard %.3f s, %u resent; hystart %.3f s, %u; search %.3f s, %u", cc[i],
                     r[STANDARD].seconds, r[STANDARD].resent, r[HYSTART].seconds, r[HYSTART].resent,
                     r[SEARCH].seconds, r[SEARCH].resent);
    }
}

/* With jitter SEARCH ends slow start a little late, and loses far fewer packets than the others. */
static void jitter(void **state)
{
    struct result r[WAYS];
    (void)state;

    all_ways(SATELLITE ",jitter=50ms", "cubic", r);
    if (r[SEARCH].seconds > 1.04 * r[STANDARD].seconds ||
        r[SEARCH].resent * 2 > r[HYSTART].resent || r[SEARCH].resent * 10 > r[STANDARD].resent)
        fail_msg("standard %.3f s, %u resent; hystart %.3f s, %u; search %.3f s, %u",
                 r[STANDARD].seconds, r[STANDARD].resent, r[HYSTART].seconds, r[HYSTART].resent,
                 r[SEARCH].seconds, r[SEARCH].resent);
}

/* With a queue that never overflows, standard slow start, HyStart and SEARCH take the same time. */
static void no_early_end_without_an_overflow(void **state)
{
    struct result r[WAYS];
    (void)state;

    all_ways("rate=50mbit,rtt=600ms,queue=60000p", "vj", r); /* The transfer ends in slow start. */
    assert_int_equal(r[STANDARD].resent, 0);
    assert_true(r[SEARCH].seconds < r[STANDARD].seconds + 0.01);
}

/* Slow start loses 160 segments of the last flight, and this is detected when most of that flight
 * has been acknowledged. RFC 7661 section 4.4.1 leaves a window that all of them fit in; with half
 * of FlightSize (RFC 5681 equation 4) some left a round trip later: 7.1 s with these returns. */
static void the_last_flight_is_lost(void **state)
{
    static const char *const links[] = {"geo", "geo,rate-back=204kbit", "geo,rate-back=300kbit"};
    static const uint64_t budget[] = {0, 204000 / 8, 300000 / 8};
    (void)state;

    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        struct simrun_config c = {.link = links[i],
                                  .seed = 1,
                                  .size = 384 * 8192,
                                  .data = SIMRUN_HOLLOW,
                                  .buffers = 4 << 20,
                                  .ack_budget = budget[i],
                                  .snack = true};
        struct simrun r;
        simrun(&c, &r);
        assert_true(r.intact);
        assert_in_range(r.sender.resent_segs, 100, 200);
        print_message("%s: %.3f s\n", links[i], (double)r.acked * 1e-6);
        assert_true(r.acked < SCPS_MS(6950));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_the_queue_overflows),
        cmocka_unit_test(jitter),
        cmocka_unit_test(no_early_end_without_an_overflow),
        cmocka_unit_test(the_last_flight_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
