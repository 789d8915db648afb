/* SPDX-License-Identifier: MIT */
/* apps/scps_link/change.c: what is named changes, what is not stays, and nothing does when an item is wrong. */
#include "cm.h"

#include "scps_link/change.h"

#include <string.h>

static struct scps_link_config fwd, back;

static int setup(void **state)
{
    (void)state;
    return scps_link_parse("rate=10mbit,rate-back=1mbit,delay=100ms,delay-back=300ms,queue=50000,"
                           "ber=1e-7,loss=0.1,dup=0.2,reorder=0.3,overhead=10",
                           &fwd, &back, NULL, 0);
}

static void says(const char *items, const char *words)
{
    struct scps_link_config was = fwd;
    char msg[512] = "";

    assert_int_equal(change_apply(items, &fwd, &back, msg, sizeof msg), -1);
    if (!strstr(msg, words))
        fail_msg("'%s': '%s' does not say '%s'", items, msg, words);
    assert_null(strchr(msg, '\n'));
    assert_memory_equal(&was, &fwd, sizeof was);
}

static void one_at_a_time(void **state)
{
    struct scps_link_config want = fwd;
    (void)state;

    fwd.seed = want.seed = 99;
    fwd.ber_exempt = want.ber_exempt = 7;
#define STEP(items, field, value)                                                                  \
    want.field = (value);                                                                          \
    assert_int_equal(change_apply(items, &fwd, &back, NULL, 0), 0);                                \
    assert_memory_equal(&want, &fwd, sizeof want)
    STEP("rate=2.5mbit", rate_bps, 2500000);
    STEP("delay=3ms", delay, 3000);
    STEP("ber=1e-5", ber, 1e-5);
    STEP("loss=0", loss, 0);
    STEP("dup=0.5", dup, 0.5);
    STEP("reorder=0", reorder, 0);
    STEP("overhead=0", overhead, 0);
    STEP("queue=9", queue_bytes, 9);
    STEP("flip", flip, true);
    STEP("flip=off", flip, false);
    want.queue_bytes = 0;
    STEP("queue=7p", queue_packets, 7);
#undef STEP
}

static void several_and_round_trips(void **state)
{
    char text[CHANGE_TEXTLEN];
    (void)state;

    assert_int_equal(
        change_apply(" rate=8mbit, delay=700ms  queue=2bdp,flip ", &fwd, &back, NULL, 0), 0);
    assert_int_equal(fwd.queue_bytes, 2000000); /* 2 x 8 Mbit/s x (700 + 300) ms */
    assert_string_equal(change_print(&fwd, text),
                        "rate=8000000 delay=700000us queue=2000000 overhead=10 ber=1e-07 loss=0.1 "
                        "dup=0.2 reorder=0.3 flip");
}

static void refused(void **state)
{
    (void)state;
    says("", "nothing to change");
    says(" , ", "nothing to change");
    says("speed=3", "allowed: rate");
    says("rate-back=3", "unknown key 'rate-back'");
    says("rtt=3s", "unknown key 'rtt'");
    says("geo", "unknown key 'geo'");
    says("flip=on", "unknown key 'flip'");
    says("loss=0 rate=-1", "rate=-1");
    says("loss", "needs a value");
    says("loss=2", "from 0 to 1");
    says("delay=5", "needs a unit");
    says("loss=0 loss=1", "given twice");
    char many[2000];
    memset(many, ' ', sizeof many);
    for (size_t i = 0; i + 200 < sizeof many; i += 100)
        memset((char *)memcpy(many + i, "loss=0.", 7) + 7, '1', 80);
    many[sizeof many - 1] = 0;
    says(many, "several commands");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(one_at_a_time, setup),
        cmocka_unit_test_setup(several_and_round_trips, setup),
        cmocka_unit_test_setup(refused, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
