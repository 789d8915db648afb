/* SPDX-License-Identifier: MIT */
/* A link in one line of text: every key, unit and preset, and the words for everything that is wrong. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <scps/error.h>
#include <scps/sim.h>

static struct scps_link_config f, b;

static void reads(const char *spec)
{
    char msg[200] = "";

    if (scps_link_parse(spec, &f, &b, msg, sizeof msg) != 0)
        fail_msg("'%s': %s", spec, msg);
}

static void presets(void **state)
{
    static const struct {
        const char *name;
        uint64_t rate, rate_back, queue, queue_back;
        scps_dur delay;
        uint32_t exempt;
    } want[] = {
        {"lan", 1000000000, 1000000000, 100000, 100000, 100, 0},
        {"leo", 20000000, 20000000, 100000, 100000, 3000, 0},
        {"geo", 10000000, 10000000, 700000, 700000, 280000, 0},
        {"moon", 10000000, 10000000, 3200000, 3200000, 1280000, 0},
        {"mars", 2000000, 128000, 374000000, 23936000, 748000000, 0},
        {"nasa500", 100000000, 100000000, 6250000, 6250000, 250000, 18},
        {"nasa250", 100000000, 100000000, 3125000, 3125000, 125000, 18},
        {"nasa10", 100000000, 100000000, 125000, 125000, 5000, 18},
    };
    const char *name, *help;
    size_t i;
    (void)state;

    for (i = 0; scps_link_preset(i, &name, &help); i++) {
        assert_true(i < sizeof want / sizeof want[0]);
        assert_string_equal(name, want[i].name);
        assert_true(strlen(help) > 10);
        reads(name);
        assert_true(f.rate_bps == want[i].rate && b.rate_bps == want[i].rate_back);
        assert_true(f.delay == want[i].delay && b.delay == want[i].delay);
        assert_true(f.queue_bytes == want[i].queue && b.queue_bytes == want[i].queue_back);
        assert_true(f.overhead == 18 && b.overhead == 18);
        assert_true(f.ber_exempt == want[i].exempt && b.ber_exempt == want[i].exempt);
        assert_true(f.ber == 0 && f.loss == 0 && f.dup == 0 && f.reorder == 0 && !f.flip);
        assert_true(f.queue_packets == 0 && f.seed == 0 && f.reorder_delay == 0);
    }
    assert_int_equal(i, sizeof want / sizeof want[0]);
}

static void both_directions_or_one(void **state)
{
    (void)state;

    reads("rate=100mbit,rtt=500ms,ber=1e-6");
    assert_true(f.rate_bps == 100000000 && b.rate_bps == 100000000);
    assert_true(f.delay == 250000 && b.delay == 250000);
    assert_true(f.ber == 1e-6 && b.ber == 1e-6);
    assert_true(f.queue_bytes == 6250000 && f.overhead == 18 && f.ber_exempt == 0);

    reads("rate-back=2400,rate=115200,delay-back=3ms,delay=1.28s"); /* in any order */
    assert_true(f.rate_bps == 115200 && b.rate_bps == 2400);
    assert_true(f.delay == 1280000 && b.delay == 3000);

    reads("nasa500,ber=1e-5,ber-back=0,loss-back=0.25");
    assert_true(f.ber == 1e-5 && b.ber == 0 && f.loss == 0 && b.loss == 0.25);
    assert_true(f.rate_bps == 100000000 && f.ber_exempt == 18);

    reads("mars,rate=4mbit"); /* a key sets both, whatever the preset had */
    assert_true(f.rate_bps == 4000000 && b.rate_bps == 4000000);
    reads("geo,delay-back=10ms");
    assert_true(f.delay == 280000 && b.delay == 10000);
    reads("rtt=3us"); /* the odd one goes back */
    assert_true(f.delay == 1 && b.delay == 2);

    reads("geo,dup=0.01,reorder=0.02,flip,overhead=0,loss=1");
    assert_true(f.dup == 0.01 && b.dup == 0.01 && f.reorder == 0.02 && b.reorder == 0.02);
    assert_true(f.flip && b.flip && f.overhead == 0 && f.loss == 1 && b.loss == 1);
}

static void units(void **state)
{
    static const struct {
        const char *spec;
        uint64_t rate;
    } rate[] = {{"rate=1", 1},
                {"rate=2400bit", 2400},
                {"rate=115.2kbit", 115200},
                {"rate=64K", 64000},
                {"rate=1.5Mbit", 1500000},
                {"rate=80m", 80000000},
                {"rate=.5gbit", 500000000},
                {"rate=10G", UINT64_C(10000000000)},
                {"rate=1e6", 1000000},
                {"rate=2e3kbit", 2000000},
                {"rate=1000gbit", UINT64_C(1000000000000)}};
    static const struct {
        const char *spec;
        scps_dur delay;
    } delay[] = {{"delay=1280ms", 1280000},
                 {"delay=1.28s", 1280000},
                 {"delay=250us", 250},
                 {"delay=0.001ms", 1},
                 {"delay=0", 0},
                 {"delay=0ms", 0},
                 {"delay=1e3ms", 1000000},
                 {"delay=1320s", 1320000000},
                 {"delay=86400s", 86400000000}};
    static const struct {
        const char *spec;
        uint64_t bytes;
        uint32_t packets;
    } queue[] = {{"nasa500,queue=6250000", 6250000, 0},
                 {"nasa500,queue=500p", 0, 500},
                 {"nasa500,queue=0", 0, 0},
                 {"nasa500,queue=2bdp", 12500000, 0},
                 {"nasa500,queue=0.5bdp", 3125000, 0},
                 {"nasa10,queue=0.001bdp", 125, 0},
                 {"nasa500,queue=1e6", 1000000, 0},
                 {"rate=8,rtt=1us,queue=1bdp", 1, 0}};
    (void)state;

    for (size_t i = 0; i < sizeof rate / sizeof rate[0]; i++) {
        reads(rate[i].spec);
        assert_true(f.rate_bps == rate[i].rate);
    }
    for (size_t i = 0; i < sizeof delay / sizeof delay[0]; i++) {
        reads(delay[i].spec);
        assert_true(f.delay == delay[i].delay && b.delay == delay[i].delay);
    }
    for (size_t i = 0; i < sizeof queue / sizeof queue[0]; i++) {
        reads(queue[i].spec);
        assert_true(f.queue_bytes == queue[i].bytes && f.queue_packets == queue[i].packets);
    }
}

static void probabilities_are_the_nearest_doubles(void **state)
{
    static const struct {
        const char *spec;
        double ber;
    } p[] = {{"ber=1e-6", 1e-6},
             {"ber=1E-06", 1e-6},
             {"ber=0.000001", 0.000001},
             {"ber=8.51164e-05", 8.51164e-05},
             {"ber=1e-20", 1e-20},
             {"ber=123456789012345e-16", 123456789012345e-16},
             {"ber=0", 0},
             {"ber=0.5", 0.5},
             {"ber=0e9", 0},
             {"ber=.1", .1},
             {"ber=1.e-3", 1e-3}};
    (void)state;

    for (size_t i = 0; i < sizeof p / sizeof p[0]; i++) {
        reads(p[i].spec);
        assert_true(f.ber == p[i].ber);
    }
    reads("ber=1e-999"); /* nothing left of it */
    assert_true(f.ber == 0);
    if (setlocale(LC_ALL, "de_DE.UTF-8")) { /* where it is installed: a comma for the point */
        reads("ber=0.25");
        assert_true(f.ber == 0.25);
        setlocale(LC_ALL, "C");
    }
}

#define KEYS                                                                                       \
    "rate rate-back rtt delay delay-back ber ber-back loss loss-back queue overhead dup reorder "  \
    "flip"

static void every_mistake_has_its_line(void **state)
{
    static const struct {
        const char *spec, *msg;
    } bad[] = {
        {"geos", "link: no preset 'geos'; there are lan leo geo moon mars nasa500 nasa250 nasa10; "
                 "keys: " KEYS},
        {"geo,moon", "link: the preset 'moon' must come first"},
        {"rate=1mbit,geo", "link: the preset 'geo' must come first"},
        {"geo,nowhere",
         "link: no preset 'nowhere'; there are lan leo geo moon mars nasa500 nasa250 nasa10; "
         "keys: " KEYS},
        {"geo,speed=1mbit", "link: unknown key 'speed'; allowed: " KEYS},
        {"Rate=1mbit", "link: unknown key 'Rate'; allowed: " KEYS},
        {"", "link: nothing before ','"},
        {"geo,", "link: nothing before ','"},
        {"geo,,ber=0", "link: nothing before ','"},
        {"=5", "link: nothing before '=5'"},
        {"rate", "link: 'rate' needs a value"},
        {"geo,ber", "link: 'ber' needs a value"},
        {"rate=1,ber=0,rate=2", "link: 'rate' is given twice"},
        {"geo,flip,flip", "link: 'flip' is given twice"},
        {"flip=1", "link: flip=1: takes no value"},
        {"rtt=1s,delay=1s",
         "link: 'rtt' sets both delays: give either it, or delay and delay-back"},
        {"delay-back=1s,rtt=1s",
         "link: 'rtt' sets both delays: give either it, or delay and delay-back"},

        {"rate=", "link: rate=: not a rate: a number of bit/s, or one with kbit, mbit or gbit"},
        {"rate=fast",
         "link: rate=fast: not a rate: a number of bit/s, or one with kbit, mbit or gbit"},
        {"rate=-1", "link: rate=-1: not a rate: a number of bit/s, or one with kbit, mbit or gbit"},
        {"rate=1mb",
         "link: rate=1mb: unknown unit of rate: use bit, kbit, mbit or gbit (per second)"},
        {"rate=0", "link: rate=0: a rate must be above 0"},
        {"rate-back=0.0kbit", "link: rate-back=0.0kbit: a rate must be above 0"},
        {"rate=0.5", "link: rate=0.5: not a whole number of bit/s"},
        {"rate=1.0001kbit", "link: rate=1.0001kbit: not a whole number of bit/s"},
        {"rate=1001gbit", "link: rate=1001gbit: more than 1000 gbit"},
        {"rate=1e300", "link: rate=1e300: more than 1000 gbit"},

        {"delay=", "link: delay=: not a time: a number with s, ms or us"},
        {"rtt=-1ms", "link: rtt=-1ms: not a time: a number with s, ms or us"},
        {"delay=5", "link: delay=5: needs a unit: s, ms or us"},
        {"delay=5m", "link: delay=5m: unknown unit of time: use s, ms or us"},
        {"delay-back=5MS", "link: delay-back=5MS: unknown unit of time: use s, ms or us"},
        {"delay=1.5us", "link: delay=1.5us: finer than a microsecond"},
        {"rtt=86401s", "link: rtt=86401s: more than a day"},

        {"ber=often", "link: ber=often: not a probability: a number such as 0.001 or 1e-6, of at "
                      "most 15 digits"},
        {"loss=1%",
         "link: loss=1%: not a probability: a number such as 0.001 or 1e-6, of at most 15 digits"},
        {"loss=nan",
         "link: loss=nan: not a probability: a number such as 0.001 or 1e-6, of at most 15 digits"},
        {"loss=-0.1", "link: loss=-0.1: not a probability: a number such as 0.001 or 1e-6, of at "
                      "most 15 digits"},
        {"loss=0.1234567890123456",
         "link: loss=0.1234567890123456: not a probability: a number such as "
         "0.001 or 1e-6, of at most 15 digits"},
        {"ber=0.51", "link: ber=0.51: a bit error rate is from 0 to 0.5"},
        {"ber-back=1e6", "link: ber-back=1e6: a bit error rate is from 0 to 0.5"},
        {"loss=1.5", "link: loss=1.5: a probability is from 0 to 1"},
        {"loss-back=1e999", "link: loss-back=1e999: a probability is from 0 to 1"},
        {"dup=2", "link: dup=2: a probability is from 0 to 1"},
        {"reorder=1.01", "link: reorder=1.01: a probability is from 0 to 1"},

        {"queue=big",
         "link: queue=big: not a queue: bytes (6250000), packets (500p) or round trips "
         "(1bdp); 0 has no limit"},
        {"queue=5packets",
         "link: queue=5packets: not a queue: bytes (6250000), packets (500p) or round "
         "trips (1bdp); 0 has no limit"},
        {"queue=0bdp",
         "link: queue=0bdp: not a queue: bytes (6250000), packets (500p) or round trips "
         "(1bdp); 0 has no limit"},
        {"queue=1.5", "link: queue=1.5: not a whole number of bytes"},
        {"queue=1.5p",
         "link: queue=1.5p: not a whole number of packets, or of thousandths of a bdp"},
        {"queue=0.0001bdp",
         "link: queue=0.0001bdp: not a whole number of packets, or of thousandths of a bdp"},
        {"queue=5000000000p", "link: queue=5000000000p: a queue that large makes no sense"},
        {"queue=1e20", "link: queue=1e20: a queue that large makes no sense"},
        {"queue=1001bdp", "link: queue=1001bdp: a queue that large makes no sense"},
        {"overhead=1.5", "link: overhead=1.5: not a number of framing bytes from 0 to 65535"},
        {"overhead=65536", "link: overhead=65536: not a number of framing bytes from 0 to 65535"},
        {"overhead=x", "link: overhead=x: not a number of framing bytes from 0 to 65535"},

        {"a-key-so-long-that-it-would-not-fit-into-any-terminal-line-at-all=5",
         "link: unknown key 'a-key-so-long-that-it-would-not-fit-into'; allowed: " KEYS},
    };
    (void)state;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct scps_link_config was = {.seed = 5}, x = was, y = was;
        char msg[256] = "", little[12];
        int rc = scps_link_parse(bad[i].spec, &x, &y, msg, sizeof msg);
        if (rc != SCPS_ERR_INVAL || strcmp(msg, bad[i].msg) != 0)
            fail_msg("'%s': %d, %s", bad[i].spec, rc, msg);
        assert_memory_equal(&x, &was, sizeof x);
        assert_memory_equal(&y, &was, sizeof y);
        assert_null(strchr(msg, '\n'));
        scps_link_parse(bad[i].spec, &x, &y, little, sizeof little);
        assert_true(strlen(little) == 11 && strncmp(little, msg, 11) == 0);
        assert_int_equal(scps_link_parse(bad[i].spec, &x, &y, NULL, 0), SCPS_ERR_INVAL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(presets),
        cmocka_unit_test(both_directions_or_one),
        cmocka_unit_test(units),
        cmocka_unit_test(probabilities_are_the_nearest_doubles),
        cmocka_unit_test(every_mistake_has_its_line),
    };
    return cmocka_run_group_tests_name("linkspec", tests, NULL, NULL);
}
