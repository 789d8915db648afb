/* SPDX-License-Identifier: MIT */
/* Asymmetric links (RFC 3449): pure rate control on the fast link, a return link with a thousandth
 * of its rate or less, and a limit for acknowledgements (ack_budget) that this link can carry.
 *
 * The return link never queues an acknowledgement behind another, in the forward direction little
 * is sent twice without need, and what a transfer loses to the thin return is the wait of its last
 * acknowledgement, unless holes appear faster than the link can name them.
 *
 * What it can name: at 1e-6 one segment in 117 is lost, 78 a second, and 20 kbit/s carry 25
 * acknowledgements of 98 octets (18 are framing, 12 timestamps, 28 the SNACK). Its vector of 22
 * octets stands for 176 segments, and the next report skips to the next hole, so one covers 293:
 * 7400 of 9140 sent a second, 81 %. Three SACK blocks in the same place would cover 351, not enough
 * either. Where timestamps take none of the 40 octets, because they are off or in a compressed
 * header, a vector of 32 covers 373 segments in 98 octets: 9500, which is enough.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "simrun.h"

#define SIZE (97656 * 1024)

static struct simrun_config nasa(const char *link, uint64_t rate_bps)
{
    return (struct simrun_config){.link = link,
                                  .seed = 1,
                                  .size = SIZE,
                                  .data = SIMRUN_HOLLOW,
                                  .cc = "rate",
                                  .rate = rate_bps / 8,
                                  .buffers = 64 << 20,
                                  .mtu = 1024 + 52,
                                  .snack = true,
                                  .both_known = true};
}

/* Asserts that the transfer reaches at least `permille` of the physical limit, that no segment was
 * resent that was not lost, and that no acknowledgement waited behind another on the return link.
 * Returns the part of the limit that it reached, in permille. */
static unsigned reaches(struct simrun_config *c, unsigned permille)
{
    struct simrun r;
    double lost, limit;

    simrun(c, &r);
    limit = (double)simrun_limit(c, &r);
    lost = (double)(r.there.dropped_ber + r.there.dropped_loss);
    print_message("%s, F%c, -R %llum: %.6f s of %.6f s: %.1f %%, %u acknowledgements\n", c->link,
                  c->ack_delayed ? '0'
                  : c->ack_every ? '1'
                                 : '2',
                  (unsigned long long)c->rate * 8 / 1000000, (double)r.acked * 1e-6, limit * 1e-6,
                  100 * limit / (double)r.acked, r.receiver.acks_out);
    assert_int_equal(r.err, 0);
    assert_true(r.intact);
    assert_true(limit * 1000 >= (double)r.acked * permille);
    assert_int_equal(r.sender.timeouts, 0);
    /* If an acknowledgement is lost so is what it reported: two thousandths of all segments. */
    if (c->compress)
        lost += SIZE / 1024 / 500;
    assert_true((double)r.sender.resent_segs <= lost * 1.03 + 1);
    if (c->ack_budget) {
        assert_true(r.here.max_queue_bytes <= 100 + 18);
        assert_true(c->ack_delayed || r.receiver.acks_held > 0);
    }
    return (unsigned)(limit * 1000 / (double)r.acked);
}

static void each_mode(struct simrun_config c, unsigned permille)
{
    for (int f = 0; f < 3; f++) {
        c.ack_delayed = f == 0;
        c.ack_every = f == 1;
        reaches(&c, permille);
    }
}

/* A ratio of 5000:1 in bytes (230:1 in packets) without errors, in every acknowledgement mode. */
static void no_errors(void **x)
{
    struct simrun_config c = nasa("nasa500,rate-back=20kbit", 80000000);
    (void)x;

    c.ack_budget = 20000 / 8;
    each_mode(c, 990);
    c.rate = 95000000 / 8;
    each_mode(c, 990);
}

/* The acknowledgement budget is given in packets a second: goodput over a return link of 20 kbit/s
 * in every acknowledgement mode. */
static void budget_in_packets_a_second(void **x)
{
    struct simrun_config c = nasa("nasa500,rate-back=20kbit", 80000000);
    (void)x;

    c.ack_budget_pps = 25;
    reaches(&c, 980);
    c.ack_budget_pps =
        /* The last of two acknowledgements a second is half a second late, which is all that the
         * budget costs. */
        2;
    reaches(&c, 930);
}

/* The return link has room to report all errors of both directions. */
static void errors(void **x)
{
    struct simrun_config c = nasa("nasa500,rate-back=20kbit,ber=1e-7", 80000000);
    (void)x;

    c.ack_budget = 20000 / 8;
    each_mode(c, 975);
    c.link = "nasa500,rate-back=40kbit,ber=1e-6";
    c.ack_budget = 40000 / 8;
    each_mode(c, 940); /* In mode F0 the receiver acknowledges only five times a second. */
    c.ack_delayed = false;
    c.ack_every = true;
    reaches(&c, 950);
}

/* As many errors as can be reported with compressed headers; a report or a retransmission that is
 * lost costs one or two per cent of a transfer. */
static void compressed(void **x)
{
    struct simrun_config c = nasa("nasa500,rate-back=20kbit,ber=1e-6", 80000000);
    (void)x;

    c.ack_budget = 20000 / 8;
    c.compress = true;
    unsigned sum = 0;
    for (c.seed = 1; c.seed <= 10; c.seed++)
        sum += reaches(&c, 920);
    assert_in_range(sum, 9550, 10000);
}

/* More holes than can be reported in time: a lost retransmission waits for its turn to be reported
 * again, and at the end for a timer. */
static void more_holes_than_can_be_reported_in_time(void **x)
{
    struct simrun_config c = nasa("nasa500,rate-back=20kbit,ber=1e-6", 80000000);
    struct simrun r;
    (void)x;

    c.ack_budget = 20000 / 8;
    simrun(&c, &r);
    assert_true(r.intact && !r.err);
    assert_true(1.33 * (double)simrun_limit(&c, &r) >= (double)r.acked);
    assert_true(r.sender.timeouts <= 3);
}

/* Without a budget acknowledgements wait up to half a minute in the queue, which drops the newest
 * when it is full: the sender waits, at the end for its timer, but does not resend without need. */
static void without_a_budget(void **x)
{
    struct simrun_config c = nasa("nasa500,rate-back=20kbit", 80000000);
    struct simrun r;
    (void)x;

    simrun(&c, &r);
    assert_true(r.intact && !r.err);
    assert_true(r.acked > 5 * simrun_limit(&c, &r));
    assert_true(r.sender.resent_segs <= 100 && r.sender.timeouts <= 2);
}

static void by_rack(struct scps_conn_config *c)
{
    c->recovery = SCPS_RECOVERY_RACK;
}

static void short_form(struct scps_conn_config *c)
{
    c->snack_long = false;
}

static void short_form_by_rack(struct scps_conn_config *c)
{
    short_form(c);
    by_rack(c);
}

/* Returns the time, s, of a transfer with more holes than the short form of SNACK can name, one in
 * each acknowledgement. */
static double with_many_holes(bool snack, void (*tune)(struct scps_conn_config *))
{
    struct simrun_config c = nasa("thin-return,loss=0.05,loss-back=0", 19000000);
    struct simrun r;

    c.ack_budget = 20000 / 8;
    c.size = 1500 * 1024;
    c.snack = snack;
    c.tune = tune;
    simrun(&c, &r);
    assert_true(r.intact && !r.err);
    return (double)r.acked * 1e-6;
}

/* A transfer takes no longer with the short form of SNACK than without SNACK, by RFC 6675 or by
 * RACK (RFC 8985), since SACK blocks report the holes that no SNACK has named. */
static void short_form_takes_no_longer_than_sack(void **x)
{
    double sack = with_many_holes(false, NULL), brief = with_many_holes(true, short_form);
    double sack_rack = with_many_holes(false, by_rack),
           brief_rack = with_many_holes(true, short_form_by_rack);
    (void)x;

    print_message("short form %.3f s, without SNACK %.3f s; by RACK %.3f s, %.3f s\n", brief, sack,
                  brief_rack, sack_rack);
    assert_true(brief <= 1.02 * sack);
    assert_true(brief_rack <= 1.1 * sack_rack);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_errors),
        cmocka_unit_test(budget_in_packets_a_second),
        cmocka_unit_test(errors),
        cmocka_unit_test(compressed),
        cmocka_unit_test(more_holes_than_can_be_reported_in_time),
        cmocka_unit_test(without_a_budget),
        cmocka_unit_test(short_form_takes_no_longer_than_sack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
