/* SPDX-License-Identifier: MIT */
/* Careful resume (RFC 9959) from end to end: a second connection over a path of which the first has
 * saved the state, or over one that has changed since.
 *
 *      first:  sender ---- 250 Mbit/s, 3 Mbit/s back, 600 ms ---- receiver
 *      second: the same, or slower, lossy, shorter, another one
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <scps/path.h>
#include <scps/sim.h>
#include <scps/traffic.h>

#include "sanitized.h"

#define SATELLITE "rate=250mbit,rate-back=3mbit,rtt=600ms"
#define SLOWER    "rate=25mbit,rate-back=3mbit,rtt=600ms"
#define NOW       INT64_C(1790000000)

struct run {
    /* The test sets these fields. */
    const char *link, *cc, *to;
    uint64_t size, seed;
    enum scps_loss_cause cause;
    const struct scps_path_state *with; /* The saved state that is restored; NULL: none. */
    size_t with_len; /* The number of octets of the state that are given; 0: all. */
    int64_t now;
    /* These fields are results. */
    enum scps_path_verdict verdict;
    enum scps_resume_phase phase; /* The phase at the end of the transfer. */
    unsigned been;
    double seconds; /* The time until the last byte was acknowledged, s. */
    struct scps_info info;
    int saved; /* The result of scps_path_save(). */
    struct scps_path_state state;
    char story[200];   /* The phases and reasons in the order of their notes. */
    scps_time retreat; /* The time at which the Safe Retreat Phase began. */
    /* The number of segments sent in the first tenth of a second of the Safe Retreat Phase, while
     * the queue drains. */
    unsigned sent_in_retreat;
    /* These fields are private to this file. */
    struct scps_world *w;
    struct scps_host *host[2];
    struct scps_bulk_source source;
    struct scps_bulk_sink sink;
};

static void note(void *ctx, const struct scps_note *n)
{
    struct run *r = ctx;
    size_t len = strlen(r->story);

    if (n->kind == SCPS_NOTE_SENT && r->retreat && n->at < r->retreat + SCPS_MS(100))
        r->sent_in_retreat++;
    if (n->kind == SCPS_NOTE_RESUME && n->arg[0] == SCPS_RESUME_RETREAT)
        r->retreat = n->at;
    if (n->kind != SCPS_NOTE_RESUME || n->arg[0] == SCPS_RESUME_OBSERVED)
        return;
    snprintf(r->story + len, sizeof r->story - len, "%s%s:%s", len ? " " : "",
             scps_resume_phase_name((enum scps_resume_phase)n->arg[0]),
             n->arg[0] == SCPS_RESUME_REFUSED
                 ? scps_path_verdict_name((enum scps_path_verdict)n->arg[1])
                 : scps_resume_why_name((enum scps_resume_why)n->arg[1]));
}

static void on_event(struct scps_host *h, const struct scps_event *ev, void *ctx)
{
    struct run *r = ctx;

    if (ev->kind == SCPS_EV_ACCEPT) {
        struct scps_conn *c = scps_accept(ev->listener);
        scps_bulk_sink_start(&r->sink, c);
    } else if (h == r->host[0]) {
        scps_bulk_source_event(&r->source, ev);
        if (r->source.closed)
            scps_world_stop(r->w);
    } else {
        scps_bulk_sink_event(&r->sink, ev);
    }
}

static struct scps_conn *open_both(struct run *r)
{
    struct scps_conn_config cfg = scps_conn_config_default();
    struct scps_stack_config stack = scps_stack_config_default();
    struct scps_endpoint there = {.port = 5001};
    struct scps_link_config fwd, back;
    struct scps_addr a;
    struct scps_conn *c;
    char msg[200];
    int err;

    assert_int_equal(scps_link_parse(r->link, &fwd, &back, msg, sizeof msg), 0);
    fwd.seed = 1 + r->seed;
    back.seed = 2;
    r->w = scps_world_new(NULL);
    stack.observer = (struct scps_observer){
        note, r, UINT64_C(1) << SCPS_NOTE_RESUME | UINT64_C(1) << SCPS_NOTE_SENT};
    r->host[0] = scps_world_host(r->w, "sender", &stack, on_event, r);
    r->host[1] = scps_world_host(r->w, "receiver", NULL, on_event, r);
    assert_int_equal(scps_addr_parse("10.0.0.1", &a), 0);
    assert_int_equal(scps_addr_parse(r->to ? r->to : "10.0.0.2", &there.addr), 0);
    assert_non_null(
        scps_world_link(r->w, r->host[0], &a, r->host[1], &there.addr, 24, 0, &fwd, &back));
    if (scps_conn_config_parse_cc(&cfg, r->cc, msg, sizeof msg) != 0)
        fail_msg("%s", msg);
    cfg.hollow = true;
    cfg.sndbuf = cfg.rcvbuf = 64 << 20;
    cfg.expected_rtt = fwd.delay + back.delay;
    cfg.quick_acks = 64;
    cfg.ack_budget = 2800000 / 8;
    cfg.snack = cfg.snack_long = true;
    cfg.loss_cause = r->cause;
    cfg.rate = cfg.cc->needs_rate ? 1000000 : 0;
    assert_non_null(scps_listen(scps_host_stack(r->host[1]), &cfg, &there, 1, &err));
    c = scps_connect(scps_host_stack(r->host[0]), &cfg, NULL, &there, &err);
    assert_non_null(c);
    return c;
}

static void run(struct run *r)
{
    struct scps_conn *c = open_both(r);

    r->verdict = SCPS_PATH_TAKEN;
    if (r->with)
        r->verdict =
            scps_path_restore(c, r->with->octet, r->with_len ? r->with_len : SCPS_PATH_STATE_SIZE,
                              r->now ? r->now : NOW + 60, NULL);
    r->source.total = r->size ? r->size : 100000000;
    r->source.hollow = true;
    assert_int_equal(scps_bulk_source_start(&r->source, c), 0);
    scps_host_kick(r->host[0]);
    scps_world_run(r->w, SCPS_SEC(2000));
    assert_true(r->source.closed);
    assert_int_equal(r->sink.received, r->source.total);
    scps_conn_info(c, &r->info);
    r->seconds = (double)r->info.fin_acked * 1e-6;
    r->phase = scps_path_phase(c, &r->been);
    r->saved = scps_path_save(c, NOW, &r->state);
    scps_bulk_source_fini(&r->source);
    scps_world_free(r->w);
}

/* Runs the first connection over the satellite and returns the state that it saves. */
static struct scps_path_state observed(const char *cc)
{
    struct run r = {.link = SATELLITE, .cc = cc};

    run(&r);
    assert_int_equal(r.saved, 0);
    assert_string_equal(r.story, "");
    assert_int_equal(r.been, 1 << SCPS_RESUME_NORMAL);
    return r.state;
}

#define JUMPED "reconnaissance:restored unvalidated:confirmed validating:first-acked "

/* 100 MB take 3.3 s at 250 Mbit/s, and two round trips pass before the jump. */
static void second_connection_is_fast(void **state)
{
    static const struct {
        const char *cc;
        double first, second;
    } t[] = {{"vj", 11, 6.2}, {"cubic", 10.5, 6.8}, {"bbr", 11.5, 7.0}};
    (void)state;

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct run first = {.link = SATELLITE, .cc = t[i].cc};
        struct run second = {.link = SATELLITE, .cc = t[i].cc, .with = &first.state};
        run(&first);
        run(&second);
        if (first.seconds < t[i].first || second.seconds > t[i].second)
            fail_msg("%s: %.3f s, then %.3f s", t[i].cc, first.seconds, second.seconds);
        assert_int_equal(second.verdict, SCPS_PATH_TAKEN);
        assert_non_null(strstr(second.story, "normal:validated"));
        assert_int_equal(second.saved, 0);
    }
}

/* The path carries a tenth of what it did: the jump and the Safe Retreat Phase take no more time
 * than slow start without a saved state, and resend no more than slow start and the jump
 * together. */
static void ten_times_slower(void **state)
{
    static const char *const cc[] = {"vj", "cubic", "bbr"};
    (void)state;

    for (size_t i = 0; i < 3; i++) {
        struct scps_path_state s = observed(cc[i]);
        struct run plain = {.link = SLOWER, .cc = cc[i]};
        struct run second = {.link = SLOWER, .cc = cc[i], .with = &s};
        run(&plain);
        run(&second);
        assert_true(second.been & 1u << SCPS_RESUME_RETREAT);
        assert_non_null(strstr(second.story, "safe-retreat:loss normal:retreated"));
        assert_true(second.sent_in_retreat <= 1); /* The window does not delay retransmissions. */
        if (second.seconds > plain.seconds || second.info.resent_segs > 12000 ||
            second.info.timeouts)
            fail_msg("%s: %.1f s instead of %.1f, %u resent, %u timeouts", cc[i], second.seconds,
                     plain.seconds, second.info.resent_segs, second.info.timeouts);
    }
}

/* A wrong state costs no more if it is further from the truth: 2.5 to 60 Mbit/s instead of 250; and
 * with Vegas, which leaves slow start at a loss. Hybla's own slow start is as fast as the jump, and
 * with long-rtt-start=1 the first train of acknowledgements shows BBR that the state is wrong. */
static void never_much_slower_than_without(void **state)
{
    static const char *const cc[] = {
        "vj", "cubic", "hybla", "vegas", "vegas-corruption", "bbr,long-rtt-start=1"};
    static const char *const rate[] = {"2.5", "10", "25", "60"};
    (void)state;

    for (size_t i = 0; i < sizeof cc / sizeof *cc; i++) {
        struct scps_path_state s = observed(cc[i]);
        for (size_t j = 0; j < sizeof rate / sizeof *rate; j++) {
            char link[80];
            /* With sanitizers each controller runs with one of the rates only. */
            if (SCPS_SANITIZED && j != i % 4)
                continue;
            snprintf(link, sizeof link, "rate=%smbit,rate-back=3mbit,rtt=600ms", rate[j]);
            struct run plain = {.link = link, .cc = cc[i], .size = 16000000};
            struct run second = {.link = link, .cc = cc[i], .size = 16000000, .with = &s};
            run(&plain);
            run(&second);
            if (second.seconds > 1.06 * plain.seconds)
                fail_msg("%s, %s Mbit/s: %.1f s instead of %.1f", cc[i], rate[j], second.seconds,
                         plain.seconds);
        }
    }
}

/* Losses attributed to corruption do not end any phase. */
static void a_lossy_link(void **state)
{
    struct scps_path_state s = observed("cubic");
    struct run r = {
        .link = SATELLITE ",loss=0.005", .cc = "cubic", .cause = SCPS_LOSS_CORRUPTION, .with = &s};
    bool seen = false;
    (void)state;

    run(&r);
    assert_non_null(strstr(r.story, "normal:validated"));
    /* Losses by corruption, one of them early. */
    for (uint64_t seed = 0; seed < 20 && !seen; seed++) {
        r = (struct run){.link = SATELLITE ",loss=0.05",
                         .cc = "cubic",
                         .size = 300000,
                         .seed = seed,
                         .with = &s};
        run(&r);
        seen = !strcmp(r.story, "reconnaissance:restored normal:loss");
    }
    assert_true(seen);
}

static void rtt_differs_from_the_saved_one(void **state)
{
    static const struct {
        const char *link, *story;
    } t[] = {{"rate=250mbit,rtt=300ms", "reconnaissance:restored normal:rtt-too-short"},
             {"rate=2mbit,rtt=6500ms", "reconnaissance:restored normal:rtt-too-long"}};
    struct scps_path_state s = observed("cubic");
    (void)state;

    for (size_t i = 0; i < 2; i++) {
        struct run r = {.link = t[i].link, .cc = "cubic", .size = 1000000, .with = &s};
        run(&r);
        assert_string_equal(r.story, t[i].story);
    }
}

/* The data is less than a jump, so the window makes no difference. */
static void little_to_send(void **state)
{
    struct scps_path_state s = observed("cubic");
    struct run r = {.link = SATELLITE, .cc = "cubic", .size = 5000, .with = &s};
    (void)state;

    run(&r);
    assert_string_equal(r.story, "reconnaissance:restored");
    assert_int_equal(r.phase, SCPS_RESUME_RECONNAISSANCE);
    assert_int_equal(r.saved, SCPS_ERR_AGAIN);
}

/* Each refused state has its verdict and a note, and the connection goes on without a state. */
static void refused(void **state)
{
    struct scps_path_state good = observed("cubic"), bad;
    struct run plain = {.link = SATELLITE, .cc = "cubic", .size = 1000000};
    struct run windowless = {.link = SATELLITE, .cc = "rate", .size = 1000000, .with = &good};
    (void)state;

    run(&plain);
    for (int i = 0; i < 7; i++) {
        static const char *const story[] = {
            "refused:corrupt", "refused:version", "refused:foreign",    "refused:foreign",
            "refused:future",  "refused:expired", "refused:destination"};
        struct run r = {.link = SATELLITE, .cc = "cubic", .size = 1000000, .with = &bad};
        bad = good;
        if (i == 0)
            bad.octet[30] ^= 1;
        else if (i == 1)
            bad.octet[9] = 2;
        else if (i == 2)
            memset(bad.octet, 0xff, sizeof bad.octet);
        else if (i == 3)
            r.with_len = 40;
        else if (i == 4)
            r.now = NOW - 1;
        else if (i == 5)
            r.now = NOW + 3601;
        else
            r.to = "10.0.0.3";
        run(&r);
        assert_string_equal(r.story, story[i]);
        assert_int_equal(r.been, 1 << SCPS_RESUME_NORMAL);
        assert_true(r.seconds == plain.seconds);
    }
    run(&windowless);
    assert_string_equal(windowless.story, "refused:no-window");
}

/* A state can be restored only once, and only before data is acknowledged. */
static void restore_after_data_is_refused(void **state)
{
    struct scps_path_state s = observed("cubic");
    struct run r = {.link = SATELLITE, .cc = "cubic"};
    struct scps_conn *c = open_both(&r);
    struct scps_path_limits lim = scps_path_limits_default();
    (void)state;

    assert_int_equal(lim.lifetime, 3600);
    assert_int_equal(scps_path_save(c, NOW, &s), SCPS_ERR_AGAIN);
    assert_int_equal(scps_path_restore(c, s.octet, sizeof s.octet, NOW, &lim), SCPS_PATH_TAKEN);
    assert_int_equal(scps_path_phase(c, NULL), SCPS_RESUME_RECONNAISSANCE);
    assert_int_equal(scps_path_restore(c, s.octet, sizeof s.octet, NOW, &lim), SCPS_PATH_LATE);
    scps_world_free(r.w);

    r = (struct run){.link = SATELLITE, .cc = "cubic"};
    c = open_both(&r);
    r.source.total = 100000000;
    r.source.hollow = true;
    assert_int_equal(scps_bulk_source_start(&r.source, c), 0);
    scps_host_kick(r.host[0]);
    scps_world_run(r.w, SCPS_SEC(3));
    assert_int_equal(scps_path_restore(c, s.octet, sizeof s.octet, NOW, NULL), SCPS_PATH_LATE);
    scps_bulk_source_fini(&r.source);
    scps_world_free(r.w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(second_connection_is_fast),
        cmocka_unit_test(ten_times_slower),
        cmocka_unit_test(never_much_slower_than_without),
        cmocka_unit_test(a_lossy_link),
        cmocka_unit_test(rtt_differs_from_the_saved_one),
        cmocka_unit_test(little_to_send),
        cmocka_unit_test(refused),
        cmocka_unit_test(restore_after_data_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
