/* SPDX-License-Identifier: MIT */
/* Which events a congestion controller gets, and how its window and rate are used: the test's own
 * controller keeps both fixed and compares every event with the others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "simrun.h"

#define WINDOW 64000u

static struct seen {
    uint64_t sent, resent, hooks, lost, ranges, last_delivered, last_lost, samples, rated, unclear;
    uint64_t spurious, wrong;
    uint32_t random;
    const void *sender;
    uint64_t cwnd_after; /* The largest window after an episode that was spurious. */
} seen;
static struct scps_cc_ctl asked;

static void look(const void *s, const struct scps_cc_view *v)
{
    /* The controller of the receiving end is not watched. */
    if (s != seen.sender)
        return;
    seen.wrong += v->delivered < seen.last_delivered; /* `delivered` never falls. */
    seen.wrong += seen.random && v->random != seen.random;
    seen.last_delivered = v->delivered;
    seen.last_lost = v->lost;
    seen.random = v->random;
}

static void start(void *s, const int64_t *param, const struct scps_cc_view *v,
                  struct scps_cc_ctl *ctl)
{
    (void)param;
    look(s, v);
    *ctl = asked;
}

static void ack(void *s, const struct scps_cc_view *v, const struct scps_cc_ack *a,
                struct scps_cc_ctl *ctl)
{
    uint64_t *state = s;

    (void)ctl;
    *state = v->delivered;
    look(s, v);
    seen.samples++;
    if (!a->sample_bytes) {
        seen.unclear++;
        seen.wrong += a->prior_delivered || a->tx_in_flight || a->lost_since;
        return;
    }
    seen.wrong += a->prior_delivered + a->sample_bytes != v->delivered;
    seen.wrong += a->sample_bytes < a->bytes;
    seen.wrong += !a->tx_in_flight || a->tx_in_flight > WINDOW + v->mss;
    seen.wrong += a->lost_since > v->lost;
    if (a->rate) {
        seen.rated++;
        seen.wrong += a->interval <= 0;
        seen.wrong += a->rate != a->sample_bytes * 1000000 / (uint64_t)a->interval;
    }
}

static void loss(void *s, const struct scps_cc_view *v, const struct scps_cc_loss *l,
                 struct scps_cc_ctl *ctl)
{
    look(s, v);
    seen.lost += l->bytes;
    seen.ranges += l->ranges;
    seen.wrong += l->lost_since < l->bytes || l->lost_since > v->lost;
    seen.wrong += !l->ranges || l->ranges > l->bytes;
    seen.wrong += l->tx_in_flight < v->mss;
    (void)ctl;
}

static void change(void *s, const struct scps_cc_view *v, enum scps_cc_change what,
                   struct scps_cc_ctl *ctl)
{
    uint64_t *state = s;

    look(s, v);
    if (what == SCPS_CC_SPURIOUS) {
        seen.spurious++;
        if (ctl->cwnd > seen.cwnd_after)
            seen.cwnd_after = ctl->cwnd;
        /* The controller's state is newer than the copy from before the episode. */
        seen.wrong += *state + WINDOW < v->delivered;
    }
}

static void on_sent(void *s, const struct scps_cc_view *v, const struct scps_cc_sent *p,
                    struct scps_cc_ctl *ctl)
{
    (void)ctl;
    seen.sender = s;
    look(s, v);
    seen.hooks++;
    seen.sent += p->bytes;
    seen.resent += p->resent ? p->bytes : 0;
    seen.wrong += v->inflight + p->bytes > WINDOW + v->mss;
}

static struct scps_cc_ops spy = {
    .name = "spy",
    .help = "a fixed window",
    .state_size = sizeof(uint64_t),
    .start = start,
    .ack = ack,
    .loss = loss,
    .change = change,
    .on_sent = on_sent,
};

static uint64_t conf_rate; /* The configured rate, bytes/s; 0: none. */
static void use_spy(struct scps_conn_config *cfg)
{
    cfg->rate = conf_rate;
    scps_conn_config_set_cc(cfg, &spy, NULL);
}

static void transfer(const char *link, uint64_t size, struct simrun *r)
{
    struct simrun_config c = {.link = link, .seed = 7, .size = size, .tune = use_spy};

    seen = (struct seen){0};
    simrun(&c, r);
    assert_true(r->intact);
    assert_int_equal(seen.wrong, 0);
}

static void fixed_window(void)
{
    spy.payload_rate = spy.own_recovery = false;
    asked = (struct scps_cc_ctl){.cwnd = WINDOW, .ssthresh = WINDOW};
}

static void samples_agree(void **state)
{
    struct simrun r;
    (void)state;

    fixed_window();
    transfer("rate=10mbit,rtt=50ms", 1000000, &r);
    assert_true(seen.samples > 100 && seen.rated > 100);
    assert_int_equal(seen.sent, r.sender.bytes_sent);
    assert_int_equal(seen.hooks, r.sender.data_segs_out);
    assert_int_equal(seen.lost, 0);
    assert_int_equal(seen.last_lost, 0);
    assert_int_equal(r.sender.cc_corrected, 0);
}

static void losses_have_the_state_at_sending(void **state)
{
    struct simrun r;
    (void)state;

    fixed_window();
    transfer("rate=10mbit,rtt=50ms,loss=0.02", 3000000, &r);
    assert_true(seen.lost > 0 && seen.ranges > 10);
    assert_int_equal(seen.resent, r.sender.bytes_resent);
    /* Segments that a timeout marks as lost are counted, too. */
    assert_in_range(seen.last_lost, seen.lost, UINT64_MAX);
}

/* A window of 10 bytes is raised to a segment, and a rate of 2^60 bytes/s is cut to the highest
 * that a pacer keeps. Both corrections are counted. */
static void corrections_are_counted(void **state)
{
    struct simrun r;
    (void)state;

    fixed_window();
    asked.cwnd = 10;
    transfer("rate=10mbit,rtt=5ms", 20000, &r);
    assert_int_equal(r.sender.cc_corrected, 1); /* ctl has the corrected value */
    asked.cwnd = WINDOW;
    asked.rate = UINT64_C(1) << 60;
    transfer("rate=10mbit,rtt=5ms", 20000, &r);
    assert_int_equal(r.sender.cc_corrected, 1);
}

/* A rate of 1 byte/s is raised to a segment in 64 s, so that the transfer ends, and that is
 * counted. A configured rate may be as low: the application has asked for it. */
static void a_very_low_rate_is_raised(void **state)
{
    struct simrun r;
    (void)state;

    fixed_window();
    asked.rate = 1;
    transfer("rate=10mbit,rtt=5ms", 10000, &r);
    assert_int_equal(r.sender.cc_corrected, 1);
    assert_in_range(r.delivered, SCPS_SEC(64), SCPS_SEC(6 * 64));
    asked.rate = conf_rate = 12;
    transfer("rate=10mbit,rtt=5ms", 10000, &r);
    assert_int_equal(r.sender.cc_corrected, 0);
    assert_in_range(r.delivered, SCPS_SEC(2 * 64), SCPS_SEC(12 * 64));
    conf_rate = 0;
}

/* With payload_rate, ctl.rate counts payload; without, it counts headers, too, so with one and the
 * same number less payload is sent. */
static void a_rate_may_count_payload(void **state)
{
    struct simrun wire, payload;
    (void)state;

    fixed_window();
    asked.rate = 100000;
    transfer("rate=10mbit,rtt=5ms", 1000000, &wire);
    spy.payload_rate = true;
    transfer("rate=10mbit,rtt=5ms", 1000000, &payload);
    assert_in_range(wire.delivered, SCPS_MS(10200), SCPS_MS(10500));
    assert_in_range(payload.delivered, SCPS_MS(9900), SCPS_MS(10010));
}

/* ctl.quantum is the size of a burst at the controller's rate: a first burst of 20 fills a
 * queue. */
static void the_quantum_is_the_burst(void **state)
{
    struct simrun r;
    (void)state;

    fixed_window();
    asked.rate = 1250000;
    asked.quantum = 2 * 1500;
    transfer("rate=10mbit,rtt=50ms,queue=8p", 300000, &r);
    assert_int_equal(seen.lost, 0);
    asked.quantum = 30 * 1500;
    transfer("rate=10mbit,rtt=50ms,queue=8p", 300000, &r);
    assert_true(seen.lost > 0);
}

static void halve(void *s, const struct scps_cc_view *v, const struct scps_cc_loss *l,
                  struct scps_cc_ctl *ctl)
{
    loss(s, v, l, ctl);
    if (l->new_episode)
        ctl->cwnd = WINDOW / 2;
}

/* A delay of the path that grows suddenly causes a spurious timeout: with own_recovery window and
 * rate stay as the controller left them. */
static void own_recovery_keeps_window_and_rate(void **state)
{
    struct simrun r;
    (void)state;

    fixed_window();
    spy.loss = halve;
    transfer("rate=10mbit,rtt=50ms,reorder=0.02,reorder-delay=30ms", 3000000, &r);
    assert_true(seen.spurious > 0);
    assert_int_equal(seen.cwnd_after, WINDOW);
    spy.own_recovery = true;
    transfer("rate=10mbit,rtt=50ms,reorder=0.02,reorder-delay=30ms", 3000000, &r);
    assert_true(seen.spurious > 0);
    assert_int_equal(seen.cwnd_after, WINDOW / 2);
    spy.loss = loss;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_agree),
        cmocka_unit_test(losses_have_the_state_at_sending),
        cmocka_unit_test(corrections_are_counted),
        cmocka_unit_test(a_very_low_rate_is_raised),
        cmocka_unit_test(a_rate_may_count_payload),
        cmocka_unit_test(the_quantum_is_the_burst),
        cmocka_unit_test(own_recovery_keeps_window_and_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
