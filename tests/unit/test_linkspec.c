/* SPDX-License-Identifier: MIT */
/* The description of a link in one line of text: every key, unit and preset is parsed, and every
 * error has its message. */
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <scps/error.h>
#include <scps/sim.h>

static struct scps_link_config f, b;

static struct scps_link_tables *tables;

/* Returns the files that link descriptions in this test may name. */
static char *read_file(void *ctx, const char *name, size_t *len, char *why, size_t whylen)
{
    static const struct {
        const char *name, *text;
        size_t len;
    } all[] = {{"fade", "# each minute\n0s, 10mbit\n 30s,2mbit # rain\r\n\n45s,10mbit\n/60s\n", 0},
               {"bits", "0000 0001\n1000 0000 1", 0},
               {"vector", "0000 0001\n1000 0000\n", 0},
               {"bytes", "\x00\x80\x01", 3},
               {"empty", "", 0}};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(all[i].name, name) == 0) {
            *len = all[i].len ? all[i].len : strlen(all[i].text);
            ++*(int *)ctx;
            char *data = malloc(*len + 1); /* The text of the file has no terminating 0. */
            memcpy(data, all[i].text, *len);
            return data;
        }
    snprintf(why, whylen, "no such file");
    return NULL;
}

static int lent;
static void done(void *ctx, char *data)
{
    --*(int *)ctx;
    free(data);
}
static const struct scps_link_files files = {read_file, done, &lent};

static void reads(const char *spec)
{
    char msg[512] = "";

    scps_link_tables_free(tables);
    tables = NULL;
    if (scps_link_parse_tables(spec, &files, &f, &b, &tables, msg, sizeof msg) != 0)
        fail_msg("'%s': %s", spec, msg);
}

static void presets(void **state)
{
    static const struct {
        const char *name;
        uint64_t rate, rate_back, queue, queue_back;
        scps_dur delay;
        uint32_t exempt;
        enum scps_framing framing;
        double burst;
    } want[] = {
        {"lan", 1000000000, 1000000000, 100000, 100000, 100, 0},
        {"leo", 20000000, 20000000, 100000, 100000, 3000, 0},
        {"geo", 10000000, 10000000, 700000, 700000, 280000, 0},
        {"moon", 10000000, 10000000, 3200000, 3200000, 1280000, 0},
        {"mars", 2000000, 128000, 374000000, 23936000, 748000000, 0},
        {"nasa500", 100000000, 100000000, 6250000, 6250000, 250000, 18},
        {"nasa250", 100000000, 100000000, 3125000, 3125000, 125000, 18},
        {"nasa10", 100000000, 100000000, 125000, 125000, 5000, 18},
        {"smallsat", 115200, 115200, 100000, 100000, 3000, 0, SCPS_FRAMING_PPP},
        {"smallsat-asym", 115200, 2400, 100000, 100000, 3000, 0, SCPS_FRAMING_PPP},
        {"redstorm", 1000000000, 1000000000, 3750000, 3750000, 15000, 0},
        {"burst-geo", 12000000, 3000000, 840000, 210000, 280000, 0, 0, 0.5},
        {"thin-return", 20000000, 20000, 1400000, 100000, 280000, 0},
        {"leo-pass", 20000000, 1000000, 100000, 100000, 9014, 0},
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
        assert_true(f.overhead == (f.framing ? 0 : 18) && b.overhead == f.overhead);
        assert_true(f.framing == want[i].framing && f.burst.ber == want[i].burst);
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
    assert_true(f.ber == (double)1e-6 && b.ber == (double)1e-6);
    assert_true(f.queue_bytes == 6250000 && f.overhead == 18 && f.ber_exempt == 0);

    /* Keys may come in any order. */
    reads("rate-back=2400,rate=115200,delay-back=3ms,delay=1.28s");
    assert_true(f.rate_bps == 115200 && b.rate_bps == 2400);
    assert_true(f.delay == 1280000 && b.delay == 3000);

    reads("nasa500,ber=1e-5,ber-back=0,loss-back=0.25");
    assert_true(f.ber == (double)1e-5 && b.ber == 0 && f.loss == 0 && b.loss == 0.25);
    assert_true(f.rate_bps == 100000000 && f.ber_exempt == 18);

    /* A key without -back sets both directions, whatever the preset had. */
    reads("mars,rate=4mbit");
    assert_true(f.rate_bps == 4000000 && b.rate_bps == 4000000);
    reads("geo,delay-back=10ms");
    assert_true(f.delay == 280000 && b.delay == 10000);
    reads("rtt=3us"); /* Of an odd RTT the backward direction gets the additional microsecond. */
    assert_true(f.delay == 1 && b.delay == 2);

    reads("geo,dup=0.01,reorder=0.02,flip,overhead=0,loss=1");
    assert_true(f.dup == (double)0.01 && b.dup == (double)0.01 && f.reorder == (double)0.02 &&
                b.reorder == (double)0.02);
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
    reads("ber=1e-999"); /* The number underflows to 0. */
    assert_true(f.ber == 0);
    /* If this locale is installed, its decimal point is a comma, which must have no effect. */
    if (setlocale(LC_ALL, "de_DE.UTF-8")) {
        reads("ber=0.25");
        assert_true(f.ber == 0.25);
        setlocale(LC_ALL, "C");
    }
}

static void keys_of_bursts_codel_and_outages(void **state)
{
    (void)state;

    reads("geo,burst=637ms/17ms,burst-ber-back=0.01");
    assert_true(f.burst.good == 637000 && f.burst.bad == 17000 && f.burst.ber == 0.5);
    assert_true(b.burst.good == 637000 && b.burst.ber == (double)0.01);
    reads("geo,burst-back=0.001/0.2");
    assert_true(f.burst.ber == 0 && b.burst.good == 0 && b.burst.to_bad == (double)0.001 &&
                b.burst.to_good == (double)0.2 && b.burst.ber == 0.5);
    reads("burst-geo,burst=off");
    assert_true(f.burst.ber == 0 && b.burst.ber == 0);

    reads("geo,codel");
    assert_true(f.codel_target == 5000 && f.codel_interval == 100000 && b.codel_target == 5000);
    reads("geo,codel-back=50ms/1s");
    assert_true(f.codel_interval == 0 && b.codel_target == 50000 && b.codel_interval == 1000000);

    reads("geo,jitter=2ms,reorder=0.1,reorder-delay=30ms,dup-back=0.5,flip-back");
    assert_true(f.jitter == 2000 && b.jitter == 2000 && f.reorder_delay == 30000);
    assert_true(f.dup == 0 && b.dup == 0.5 && !f.flip && b.flip);

    reads("geo,framing=aal5-vc");
    assert_true(f.framing == SCPS_FRAMING_AAL5_VC && f.overhead == 0);
    reads("geo,overhead=4,framing=tm,framing-back=ethernet"); /* Keys may come in any order. */
    assert_true(f.framing == SCPS_FRAMING_TM && f.overhead == 4);
    assert_true(b.framing == SCPS_FRAMING_NONE && b.overhead == 4);
    reads("smallsat,framing=ethernet");
    assert_true(f.framing == SCPS_FRAMING_NONE && f.overhead == 18);
    reads("geo,exempt=7,queue=5p,queue-back=1000");
    assert_true(f.ber_exempt == 7 && f.queue_packets == 5 && b.queue_bytes == 1000);
}

static void tables_inline_and_from_files(void **state)
{
    (void)state;

    reads("geo,rates=0s:10mbit+30s:2mbit+45s:10mbit/60s,outage=20s-23s+50s-51s,hold");
    assert_true(f.rates.n == 3 && f.rates.period == SCPS_SEC(60) && f.rate_bps == 10000000);
    assert_true(f.rates.v[1].at == SCPS_SEC(30) && f.rates.v[1].value == 2000000);
    assert_true(b.rates.n == 3 && f.hold && b.hold && f.outages.n == 2 && !f.outages.inverse);
    assert_true(f.outages.v[1].from == SCPS_SEC(50) && f.outages.v[1].to == SCPS_SEC(51));
    reads("geo,rates-back=@fade,contact=0s-60s/90s");
    assert_true(f.rates.n == 0 && b.rates.n == 3 && b.rates.period == SCPS_SEC(60));
    assert_true(b.rates.v[1].value == 2000000 && f.outages.inverse && f.outages.n == 1);
    reads("geo,delays=0s:20ms+10s:25ms+10s:40ms,queue=1bdp");
    /* `delay` is the longest delay of the table. */
    assert_true(f.delays.n == 3 && f.delay == 40000);
    assert_true(f.queue_bytes == 100000 && b.delays.v[0].value == 20000);
    reads("leo-pass,rates=off,delay=1ms"); /* A key removes the preset's table of delays. */
    assert_true(f.delays.n == 0 && f.delay == 1000 && f.outages.inverse);

    reads("geo,vector=@vector,vector-back=@bytes");
    assert_true(f.vector_len == 2 && f.vector[0] == 1 && f.vector[1] == 0x80);
    assert_true(b.vector_len == 3 && b.vector[0] == 0 && b.vector[1] == 0x80 && b.vector[2] == 1);
    assert_int_equal(lent, 0);
}

/* The distance to a satellite during an overhead pass: the altitude at the zenith, sqrt(h (h + 2
 * R)) at the horizon, and in between as the orbit's period demands. */
static void delays_of_a_pass_follow_the_orbit(void **state)
{
    const double R = 6378137, c = 299792458, GM = 398600441800000.0;
    static const unsigned km[] = {160, 550, 1400, 20200};
    (void)state;

    for (size_t i = 0; i < sizeof km / sizeof km[0]; i++) {
        char spec[40];
        snprintf(spec, sizeof spec, "geo,pass=%ukm", km[i]);
        reads(spec);
        double r = R + km[i] * 1e3, w = sqrt(GM / (r * r * r)), half = acos(R / r) / w;
        uint32_t mid = f.delays.n / 2;
        assert_int_equal(f.delays.n, 2 * (int)half + 1);
        for (uint32_t k = 0; k < f.delays.n; k++) {
            double d = sqrt(R * R + r * r - 2 * R * r * cos(w * ((double)k - mid)));
            assert_true(f.delays.v[k].at == SCPS_SEC((scps_time)k));
            assert_true(fabs((double)f.delays.v[k].value - d / c * 1e6) <= 0.51);
        }
        assert_true(fabs((double)f.delays.v[mid].value - km[i] * 1e9 / c) <= 0.51);
        assert_true(f.outages.inverse && f.outages.v[0].to == SCPS_SEC(2 * (scps_time)half));
        assert_true(b.delays.v == f.delays.v);
    }
    reads("geo,pass=550km");
    assert_int_equal(f.delays.v[0].value, 9014);
}

static void changes_of_a_running_direction(void **state)
{
    char text[SCPS_LINK_TEXTLEN];
    struct scps_link_config want;
    struct scps_link_tables *more = NULL;
    (void)state;

    reads("rate=10mbit,rate-back=1mbit,delay=100ms,delay-back=300ms,queue=50000,"
          "ber=1e-7,loss=0.1,dup=0.2,reorder=0.3,overhead=10");
    f.seed = 99;
    f.ber_exempt = 7;
    want = f;
#define STEP(items, field, value)                                                                  \
    want.field = (value);                                                                          \
    assert_int_equal(scps_link_update(items, NULL, &f, &b, NULL, NULL, 0), 0);                     \
    assert_memory_equal(&want, &f, sizeof want)
    STEP("rate=2.5mbit", rate_bps, 2500000);
    STEP("delay=3ms", delay, 3000);
    STEP("ber=1e-5", ber, 1e-5);
    STEP("loss=0", loss, 0);
    STEP("dup=0.5", dup, 0.5);
    STEP("reorder=0", reorder, 0);
    STEP("overhead=0", overhead, 0);
    STEP("queue=9", queue_bytes, 9);
    /* Sizes have the units of the programs' options (K = 1024). */
    STEP("queue=64K", queue_bytes, 65536);
    STEP("queue=64k", queue_bytes, 64000);
    STEP("queue=2M", queue_bytes, 2097152);
    STEP("queue=2m", queue_bytes, 2000000);
    STEP("flip", flip, true);
    STEP("flip=off", flip, false);
    STEP("jitter=1ms", jitter, 1000);
    STEP("framing=ppp", framing, SCPS_FRAMING_PPP);
    STEP("hold=on", hold, true);
    STEP("hold=off", hold, false);
    want.queue_bytes = 0;
    STEP("queue=7p", queue_packets, 7);
    want.burst = (struct scps_burst){.good = 1000, .bad = 10, .ber = 0.5};
    STEP("burst=1ms/10us", ber, 1e-5);
    STEP("burst-ber=0.1", burst.ber, 0.1);
    want.burst = (struct scps_burst){.good = 0};
    STEP("burst=off", ber, 1e-5);
#undef STEP
    assert_int_equal(scps_link_update(" rate=8mbit, delay=700ms  queue=2bdp,flip outage=1s-2s",
                                      NULL, &f, &b, &more, NULL, 0),
                     0);
    assert_int_equal(f.queue_bytes, 2000000); /* 2 x 8 Mbit/s x (700 + 300) ms are 2000000 bytes. */
    assert_string_equal(
        scps_link_print(&f, text),
        "rate=8000000 delay=700000us queue=2000000 framing=ppp overhead=0 ber=1e-05 "
        "loss=0 dup=0.5 reorder=0 exempt=7 jitter=1000us 1 outages flip");
    assert_int_equal(scps_link_update("outage=off", NULL, &f, &b, NULL, NULL, 0), 0);
    assert_int_equal(f.outages.n, 0);
    scps_link_tables_free(more);

    static const char *const wrong[][2] = {
        {"speed=3", "unknown key 'speed'; allowed: rate"},
        {"rate-back=3", "unknown key 'rate-back'"},
        {"rtt=3s", "unknown key 'rtt'"},
        {"geo", "unknown key 'geo'"},
        {"loss=0 rate=-1", "rate=-1"},
        {"loss", "needs a value"},
        {"loss=2", "from 0 to 1"},
        {"delay=5", "needs a unit"},
        {"loss=0 loss=1", "given twice"},
        {"outage=1s-2s", "call scps_link_parse_tables()"},
    };
    want = f;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char msg[512] = "";
        assert_int_equal(scps_link_update(wrong[i][0], NULL, &f, &b, NULL, msg, sizeof msg),
                         SCPS_ERR_INVAL);
        if (!strstr(msg, wrong[i][1]))
            fail_msg("'%s': '%s' does not say '%s'", wrong[i][0], msg, wrong[i][1]);
        assert_memory_equal(&want, &f, sizeof want);
    }
}

#define ALLOWED                                                                                    \
    "rate delay ber loss dup reorder reorder-delay jitter burst burst-ber vector flip queue "      \
    "codel "                                                                                       \
    "framing overhead exempt rates delays outage contact hold"
#define KEYS    "rtt pass, and with or without -back " ALLOWED
#define BETWEEN "with commas between them, such as geo,ber=1e-6"
#define PRESETS                                                                                    \
    "lan leo geo moon mars nasa500 nasa250 nasa10 smallsat smallsat-asym redstorm burst-geo "      \
    "thin-return leo-pass; keys: rtt pass " ALLOWED

static void invalid_descriptions_have_a_message(void **state)
{
    static const struct {
        const char *spec, *msg;
    } bad[] = {
        {"geos", "link: no preset 'geos'; there are " PRESETS},
        {"geo,moon", "link: the preset 'moon' must come first"},
        {"rate=1mbit,geo", "link: the preset 'geo' must come first"},
        {"geo,nowhere", "link: no preset 'nowhere'; there are " PRESETS},
        {"geo,speed=1mbit", "link: unknown key 'speed'; allowed: " KEYS},
        {"Rate=1mbit", "link: unknown key 'Rate'; allowed: " KEYS},
        {"", "link: '' is no item: give a preset, KEY=VALUE, or both " BETWEEN},
        {"geo,", "link: '' is no item: give a preset, KEY=VALUE, or both " BETWEEN},
        {"geo,,ber=0", "link: '' is no item: give a preset, KEY=VALUE, or both " BETWEEN},
        {"=5", "link: nothing before '=5'"},
        {"rate", "link: 'rate' needs a value"},
        {"geo,ber", "link: 'ber' needs a value"},
        {"rate=1,ber=0,rate=2", "link: 'rate' is given twice"},
        {"geo,flip,flip", "link: 'flip' is given twice"},
        {"flip=1", "link: flip=1: takes no value, or on or off"},
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

        {"delay=", "link: delay=: not a time: a number with us, ms, s, min or h"},
        {"rtt=-1ms", "link: rtt=-1ms: not a time: a number with us, ms, s, min or h"},
        {"delay=5", "link: delay=5: needs a unit: us, ms, s, min or h"},
        {"delay=5m", "link: delay=5m: unknown unit of time: use us, ms, s, min or h"},
        {"delay-back=5MS", "link: delay-back=5MS: unknown unit of time: use us, ms, s, min or h"},
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

        {"queue=big", "link: queue=big: not a queue: bytes (6250000, 64K), packets (500p) or round "
                      "trips (1bdp); 0 has no limit"},
        {"queue=5packets",
         "link: queue=5packets: not a queue: bytes (6250000, 64K), packets (500p) or round "
         "trips (1bdp); 0 has no limit"},
        {"queue=0bdp",
         "link: queue=0bdp: not a queue: bytes (6250000, 64K), packets (500p) or round "
         "trips (1bdp); 0 has no limit"},
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

        {"burst=1s", "link: burst=1s: not a burst: mean stays GOOD/BAD (637ms/17ms), or "
                     "probabilities before each packet TO_BAD/TO_GOOD (0.001/0.2)"},
        {"burst=1s/0us", "link: burst=1s/0us: a mean stay is at least 1us"},
        {"burst=0.1/0", "link: burst=0.1/0: both probabilities must be above 0"},
        {"burst-ber=0.6", "link: burst-ber=0.6: a bit error rate is from 0 to 0.5"},
        {"codel=5ms", "link: codel=5ms: not TARGET/INTERVAL, two times above 0 (5ms/100ms), the "
                      "latter up to 3600s"},
        {"codel=0ms/1s", "link: codel=0ms/1s: not TARGET/INTERVAL, two times above 0 (5ms/100ms), "
                         "the latter up to 3600s"},
        {"framing=x25", "link: framing=x25: no such framing; allowed: none ethernet ppp hdlc aal5 "
                        "aal5-vc aos tm"},
        {"exempt=-1", "link: exempt=-1: not a number of bytes from 0 to 65535"},
        {"vector=bits", "link: vector=bits: give the error vector's file as @NAME"},
        {"vector=@none", "link: vector=@none: no such file"},
        {"vector=@empty", "link: vector=@empty: an error vector has at least 8 bits"},
        {"vector=@bits",
         "link: vector=@bits: an error vector of digits has a multiple of 8 of them"},
        {"rates=", "link: rates=: there is no row"},
        {"rates=@empty", "link: rates=@empty: there is no row"},
        {"rates=5s", "link: rates=5s: '5s': a row is TIME:RATE"},
        {"rates=0s:1m+9s:-3", "link: rates=0s:1m+9s:-3: '9s:-3': not a rate: a number of bit/s, or "
                              "one with kbit, mbit or gbit"},
        {"rates=0s:0", "link: rates=0s:0: the line would stop for good: end with a rate above 0"},
        {"rates=9s:1m+1s:1m", "link: rates=9s:1m+1s:1m: '1s:1m': earlier than the row before"},
        {"rates=0s:1m+9s:2m/9s", "link: rates=0s:1m+9s:2m/9s: '9s': the period must be longer than "
                                 "the rows before it"},
        {"delays=5:1ms", "link: delays=5:1ms: '5:1ms': needs a unit: us, ms, s, min or h"},
        {"delays=0s", "link: delays=0s: '0s': a row is TIME:DELAY"},
        {"outage=1s", "link: outage=1s: '1s': a row is FROM-TO"},
        {"outage=5s-3s", "link: outage=5s-3s: '5s-3s': it ends before it begins"},
        {"outage=1s-5s+4s-6s", "link: outage=1s-5s+4s-6s: '4s-6s': it overlaps the row before"},
        {"outage=1s-5s/4s", "link: outage=1s-5s/4s: '4s': the period must be longer than the rows "
                            "before it"},
        {"outage=1s-2s,contact=3s-4s", "link: give either outage or contact"},
        {"pass=1km", "link: pass=1km: not an altitude from 100km to 36000km"},
        {"pass=550", "link: pass=550: not an altitude from 100km to 36000km"},
        {"pass=550km,delays=0s:1s",
         "link: 'pass' sets the delays: leave out rtt and delay, or leave "
         "out pass and give delays and contact"},
        {"pass=550km,rtt=10ms", "link: 'pass' sets the delays: leave out rtt and delay, or leave "
                                "out pass and give delays and contact"},
        {"outage-back=1s-2s,pass=550km",
         "link: 'pass' sets when there is contact: leave out outage and contact, or leave out pass "
         "and give delays and contact"},

        {"a-key-so-long-that-it-would-not-fit-into-any-terminal-line-at-all=5",
         "link: unknown key 'a-key-so-long-that-it-would-not-fit-into'; allowed: " KEYS},
    };
    (void)state;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct scps_link_config was = {.seed = 5}, x = was, y = was;
        char msg[512] = "", little[12];
        struct scps_link_tables *none = NULL;
        int rc = scps_link_parse_tables(bad[i].spec, &files, &x, &y, &none, msg, sizeof msg);
        if (rc != SCPS_ERR_INVAL || strcmp(msg, bad[i].msg) != 0)
            fail_msg("'%s': %d, %s", bad[i].spec, rc, msg);
        assert_memory_equal(&x, &was, sizeof x);
        assert_memory_equal(&y, &was, sizeof y);
        assert_null(strchr(msg, '\n'));
        assert_null(none);
        scps_link_parse_tables(bad[i].spec, &files, &x, &y, &none, little, sizeof little);
        assert_true(strlen(little) == 11 && strncmp(little, msg, 11) == 0);
        assert_int_equal(scps_link_parse(bad[i].spec, &x, &y, NULL, 0), SCPS_ERR_INVAL);
    }
    assert_int_equal(lent, 0);
    scps_link_tables_free(tables);
    tables = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(presets),
        cmocka_unit_test(both_directions_or_one),
        cmocka_unit_test(units),
        cmocka_unit_test(probabilities_are_the_nearest_doubles),
        cmocka_unit_test(keys_of_bursts_codel_and_outages),
        cmocka_unit_test(tables_inline_and_from_files),
        cmocka_unit_test(delays_of_a_pass_follow_the_orbit),
        cmocka_unit_test(changes_of_a_running_direction),
        cmocka_unit_test(invalid_descriptions_have_a_message),
    };
    return cmocka_run_group_tests_name("linkspec", tests, NULL, NULL);
}
