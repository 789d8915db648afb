/* SPDX-License-Identifier: MIT */
/* A transfer over a path that changes once: its RTT, its rate, or its losses. Afterwards the rest
 * of the data takes at most a few times as long as all of the data takes a new connection. Each row
 * is a fault that was found among random paths, where the rest took 7 to 65 times as long. And a
 * transfer over a path with an RTT that is longer than the sender can know. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "simrun.h"

enum {
    SACK = 1,
    TIMESTAMPS = 2,
    SNACK = 4,
    COMPRESSED = 8,
    RACK = 16,
    EVERY_ACK = 32,
    BURSTS = 64
};

static unsigned options;
static scps_dur known; /* expected_rtt, µs */

static void tune(struct scps_conn_config *c)
{
    c->sack = options & SACK;
    c->expected_rtt = known;
    c->pacing = !(options & BURSTS);
    if (options & RACK)
        c->recovery = SCPS_RECOVERY_RACK;
}

static void the_rest_takes_as_long_as_anew(void **state)
{
    static const struct {
        const char *before, *after;
        scps_time at;
        uint64_t size;
        uint32_t buffers;
        const char *cc;
        unsigned options;
        unsigned times; /* the limit, in durations of the transfer by a new connection */
    } rows[] = {
        /* Losses end, and the window is two segments. Without SACK duplicate acknowledgements had
         * been counted as arrivals, so the window did not limit sending, and never grew. */
        {"rate=12695288,rtt=507055us,queue=144p,loss=0.00805",
         "rate=12695288,rtt=507055us,queue=644p", 1910000, 8000000, 856176, "hybla",
         COMPRESSED | RACK | EVERY_ACK, 4},
        /* The RTT becomes 800 times as long: without timestamps no sample was taken. */
        {"rate=11712258,rtt=2964us,queue=22p", "rate=3124821,rtt=2392022us,queue=225p", 130000,
         1743981, 913306, "vegas", SACK | SNACK | COMPRESSED, 4},
        /* Vegas takes the longer path for its own queue while its window is small ... */
        {"rate=32517709,rtt=4402us,queue=32p", "rate=32517709,rtt=3545223us,queue=10307p", 490000,
         4521504, 8000000, "vegas", SACK | TIMESTAMPS | RACK, 8},
        /* ... and while it is large. */
        {"rate=16874461,rtt=207825us,queue=100p", "rate=16874461,rtt=3396716us,queue=1674p",
         2600000, 8000000, 6269495, "vegas", SACK | RACK, 4},
        {"rate=6322257,rtt=472916us,queue=111p", "rate=6322257,rtt=2830127us,queue=358p", 5090000,
         7740672, 2700354, "vegas", SNACK, 4},
        /* The same duplicates, after the RTT has become shorter. */
        {"rate=10521438,rtt=558929us,queue=923p", "rate=10521438,rtt=2990us,queue=21p", 6890000,
         7434043, 511982, "bbr", EVERY_ACK | BURSTS, 8},
    };
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct simrun_config c = {.link = rows[i].after,
                                  .seed = 25,
                                  .size = rows[i].size,
                                  .data = SIMRUN_HOLLOW,
                                  .cc = rows[i].cc,
                                  .buffers = rows[i].buffers,
                                  .snack = rows[i].options & SNACK,
                                  .ack_every = rows[i].options & EVERY_ACK,
                                  .compress = rows[i].options & COMPRESSED,
                                  .no_timestamps = !(rows[i].options & TIMESTAMPS),
                                  .limit = SCPS_SEC(100000),
                                  .tune = tune};
        struct simrun anew, r;
        options = rows[i].options;
        simrun(&c, &anew);
        assert_true(anew.intact);
        c.link = rows[i].before;
        c.later = rows[i].after;
        c.later_at = rows[i].at;
        simrun(&c, &r);
        assert_true(r.intact);
        if (r.acked - rows[i].at > rows[i].times * anew.acked)
            fail_msg("%s, %s -> %s: %.1f s after the change, a new connection %.1f s", rows[i].cc,
                     rows[i].before, rows[i].after, (double)(r.acked - rows[i].at) * 1e-6,
                     (double)anew.acked * 1e-6);
    }
}

/* RFC 6298 section 2.5: "A maximum value MAY be placed on RTO provided it is at least 60 seconds."
 * The RTT is longer than that, neither configured nor shown by timestamps, and each segment is
 * resent before it is acknowledged, so Karn's algorithm takes no sample (section 3). Nevertheless
 * the transfer takes at most three times as long as with the RTT configured. */
static void an_rtt_longer_than_the_longest_timeout(void **state)
{
    (void)state;
    for (options = SACK; options <= (SACK | RACK); options += RACK) {
        struct simrun_config c = {.link = "rate=10mbit,rtt=102s",
                                  .seed = 1,
                                  .size = 1600000,
                                  .data = SIMRUN_HOLLOW,
                                  .cc = "vj",
                                  .no_timestamps = true,
                                  .limit = SCPS_SEC(200000),
                                  .tune = tune};
        struct simrun r[2];
        for (int i = 0; i < 2; i++) {
            known = i ? SCPS_SEC(102) : 0;
            simrun(&c, &r[i]);
            assert_true(r[i].intact);
        }
        known = 0;
        if (r[0].acked > 3 * r[1].acked)
            fail_msg("%.0f s, %.0f s with the RTT known", (double)r[0].acked * 1e-6,
                     (double)r[1].acked * 1e-6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_rest_takes_as_long_as_anew),
                                       cmocka_unit_test(an_rtt_longer_than_the_longest_timeout)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
