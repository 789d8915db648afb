/* SPDX-License-Identifier: MIT */
/* The rate of a route (docs/SCPS-TP.md section 4.5), packet by packet: one token bucket for
 * everything that leaves, the link's overhead, a change of the rate, and the minimum rate that no
 * congestion window limits. How connections share the rate is tested in sim/test_share. */
#include "script.h"

static uint32_t header(const struct script *t)
{
    return t->us.addr.family == 6 ? 60 : 40;
}

/* Adds the route to the peer, or changes it if `again` is true. */
static void route(struct script *t, const struct scps_route *as, bool again)
{
    struct scps_route r = *as;

    r.dst = t->them.addr;
    r.prefix = t->us.addr.family == 6 ? 128 : 32;
    r.nif = &t->nif;
    assert_int_equal((again ? scps_stack_set_route : scps_stack_add_route)(t->st, &r), 0);
}

/* Opens a connection with pure rate control and no rate of its own on a route of `rate` bytes/s;
 * packets have 1000 octets and headers. */
static struct script *routed(void **x, uint64_t rate)
{
    struct script *t = script_of(x);

    t->cfg.cc = scps_cc_find("rate");
    assert_non_null(t->cfg.cc);
    script_start(t);
    route(t, &(struct scps_route){.rate = rate, .burst = 2 * (1000 + header(t))}, false);
    script_established(t, MS(100));
    return t;
}

/* A burst leaves, then one packet at exact intervals, to the microsecond after any number of
 * packets, also where the rate does not divide the size, and far below 20 kbit/s. */
static void no_drift(void **x)
{
    static const uint64_t rates[] = {125, 1001, 104000, 1234567};

    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct script *t = routed(x, rates[i]);
        uint64_t packet = 1000 + header(t), gap = 1000000;
        scps_time start = SEC(100);

        app_writes(t, start, 30000);
        for (uint64_t n = 0; n < 30; n++) {
            scps_time at = start;
            if (n >= 2)
                at += (scps_time)(((n - 1) * packet * gap + rates[i] - 1) / rates[i]);
            expect_sent(t, .at = at, .from = 1 + 1000 * (int64_t)n, .len = 1000);
            if (n >= 1 && n < 29)
                expect_quiet(t, SCPS_HOLD_ROUTE);
            peer_says(t, at, .ack = 1 + 1000 * (int64_t)(n + 1));
        }
        /* Without credit in the bucket no connection is asked for a packet. */
        script_run(t, start + SEC(1000));
        expect_quiet(t, SCPS_HOLD_APP);
        script_free(t);
    }
}

/* Acknowledgements take credit and wait for it: a packet without data may leave when there is
 * credit for the longest packet of its kind. */
static void acknowledgements_pay(void **x)
{
    struct script *t = routed(x, 1000);
    uint32_t packet = 1000 + header(t);

    app_writes(t, SEC(100), 2000);
    expect_sent(t, .at = SEC(100), .from = 1, .len = 1000);
    expect_sent(t, .at = SEC(100), .from = 1001, .len = 1000);
    peer_says(t, SEC(100), .ack = 2001, .len = 1000);
    peer_says(t, SEC(100), .len = 1000);
    expect_sent(t, .at = SEC(100) + MS(100), .ack = 2001, .from = 2001);
    /* The bucket had 100 octets and one header was sent: the next acknowledgement waits for the
     * rest of its credit. */
    peer_says(t, SEC(100) + MS(100), .len = 1000);
    peer_says(t, SEC(100) + MS(100), .len = 1000);
    expect_sent(t, .at = SEC(100) + MS(100 + header(t)), .ack = 4001, .from = 2001);
    app_writes(t, SEC(100) + MS(100 + header(t)), 1000);
    expect_sent(t, .at = SEC(100) + MS(packet + 2 * header(t)), .from = 2001, .len = 1000);
    peer_says(t, SEC(101) + MS(300), .ack = 3001);
    script_free(t);
}

/* While data waits for credit, it carries the acknowledgement that is due. */
static void data_that_waits_for_credit_carries_the_ack(void **x)
{
    struct script *t = routed(x, 1000);

    app_writes(t, SEC(100), 3000);
    expect_sent(t, .at = SEC(100), .from = 1, .len = 1000);
    expect_sent(t, .at = SEC(100), .from = 1001, .len = 1000);
    peer_says(t, SEC(100), .ack = 2001, .len = 1000);
    peer_says(t, SEC(100), .len = 1000);
    expect_sent(t, .at = SEC(100) + MS(1000 + header(t)), .from = 2001, .len = 1000, .ack = 2001);
    peer_says(t, SEC(101) + MS(200), .ack = 3001);
    script_free(t);
}

static void repairs_pay(void **x)
{
    struct script *t = routed(x, 104000);
    scps_dur packet = (1000 + header(t)) * INT64_C(1000000) / 104000;

    app_writes(t, SEC(100), 10000);
    script_run(t, SEC(100) + MS(100));
    assert_int_equal(script_forget_sent(t), 10);
    script_run(t, SEC(100) + MS(110));
    peer_says(t, SEC(100) + MS(110), .ack = 1, .sack = {{4001, 10001}});
    expect_sent(t, .at = SEC(100) + MS(110), .from = 1, .len = 1000);
    expect_sent(t, .at = SEC(100) + MS(110), .from = 1001, .len = 1000);
    expect_sent(t, .at = SEC(100) + MS(110) + packet, .slack = 1, .from = 2001, .len = 1000);
    expect_sent(t, .at = SEC(100) + MS(110) + 2 * packet, .slack = 1, .from = 3001, .len = 1000);
    peer_says(t, SEC(100) + MS(190), .ack = 10001);
    script_free(t);
}

/* The overhead of framing, and of an encryptor that puts 8 octets before the packet, pads it to 16,
 * and puts 44 behind it; and of one whose header makes the packet a multiple of 16 octets long, so
 * that there is no padding. */
static void overhead(void **x)
{
    for (int padded = 1; padded >= 0; padded--) {
        struct script *t = routed(x, 104000);
        uint32_t whole = t->us.addr.family == 6 ? 1072 : 1056;
        uint32_t pre = padded ? 8 : whole - 1000 - header(t), cost = whole + 44 + 10;

        route(t,
              &(struct scps_route){
                  .rate = cost * 100, .burst = cost, .overhead = {.packet = 10, pre, 16, 44}},
              true);
        app_writes(t, SEC(100), 4000);
        for (int i = 0; i < 4; i++)
            expect_sent(t, .at = SEC(100) + MS(10 * i), .from = 1 + 1000 * i, .len = 1000);
        peer_says(t, SEC(100) + MS(100), .ack = 4001);
        script_free(t);
    }
}

/* A packet that waits uses a new rate at once; without a rate all packets leave. */
static void changed_in_mid_flight(void **x)
{
    struct script *t = routed(x, 104000);
    uint32_t packet = 1000 + header(t);
    struct scps_route r = {.rate = packet, .burst = packet};

    route(t, &r, true);
    app_writes(t, SEC(100), 10000);
    expect_sent(t, .at = SEC(100), .from = 1, .len = 1000);
    peer_says(t, SEC(100) + MS(100), .ack = 1001);
    script_run(t, SEC(100) + MS(200)); /* A fifth of the next packet's credit has been earned. */
    r.rate = 4 * packet;
    route(t, &r, true);
    expect_quiet(t, SCPS_HOLD_ROUTE);
    expect_sent(t, .at = SEC(100) + MS(400), .from = 1001, .len = 1000);
    peer_says(t, SEC(100) + MS(400), .ack = 2001);
    expect_sent(t, .at = SEC(100) + MS(650), .from = 2001, .len = 1000);
    r.rate = 0;
    route(t, &r, true);
    script_run(t, SEC(100) + MS(651));
    assert_int_equal(script_forget_sent(t), 7);
    peer_says(t, SEC(100) + MS(700), .ack = 10001);
    script_free(t);
}

/* A signalled rate of the path becomes the route's rate; it is not given to each connection. */
static void a_signalled_rate_becomes_the_routes(void **x)
{
    struct script *t = routed(x, 104000);
    uint32_t packet = 1000 + header(t);
    struct scps_signal sig = {.kind = SCPS_SIGNAL_PATH, .rate = packet};

    app_writes(t, SEC(100), 4000);
    assert_int_equal(script_forget_sent(t), 2);
    scps_stack_signal(t->st, scps_stack_now(t->st), &sig);
    peer_says(t, SEC(100), .ack = 2001);
    expect_sent(t, .at = SEC(101), .from = 2001, .len = 1000);
    peer_says(t, SEC(101), .ack = 3001);
    expect_sent(t, .at = SEC(102), .from = 3001, .len = 1000);
    assert_int_equal(script_info(t).rate, 0);
    peer_says(t, SEC(102), .ack = 4001);
    script_free(t);
}

/* min_rate: ten packets a second leave although the window is full and nothing is acknowledged, and
 * no more than that. */
static void minimum_rate(void **x)
{
    struct script *t = script_of(x);
    uint32_t packet = 1000 + header(t);

    t->cfg.init_cwnd_segs = 1;
    script_start(t);
    route(t, &(struct scps_route){.min_rate = packet * 10, .burst = packet}, false);
    script_established(t, MS(100));
    app_writes(t, SEC(1), 30000);
    expect_sent(t, .at = SEC(1), .from = 1, .len = 1000);
    expect_quiet(t, SCPS_HOLD_CWND);
    expect_sent(t, .at = SEC(1) + MS(100), .from = 1001, .len = 1000);
    expect_quiet(t, SCPS_HOLD_CWND);
    expect_sent(t, .at = SEC(1) + MS(200), .from = 2001, .len = 1000);
    /* What the window allows counts towards the minimum rate. */
    peer_says(t, SEC(1) + MS(250), .ack = 3001);
    expect_sent(t, .at = SEC(1) + MS(250), .from = 3001, .len = 1000);
    expect_sent(t, .at = SEC(1) + MS(250), .from = 4001, .len = 1000);
    expect_sent(t, .at = SEC(1) + MS(250), .from = 5001, .len = 1000);
    expect_sent(t, .at = SEC(1) + MS(250), .from = 6001, .len = 1000);
    expect_quiet(t, SCPS_HOLD_CWND);
    expect_sent(t, .at = SEC(1) + MS(350), .from = 7001, .len = 1000);
    expect_sent(t, .at = SEC(1) + MS(450), .from = 8001, .len = 1000);
    script_run(t, SEC(1) + MS(460));
    script_free(t);
}

/* After a timeout the window is one segment, and retransmissions go on at the minimum rate. */
static void minimum_rate_repairs(void **x)
{
    struct script *t = script_of(x);
    uint32_t packet = 1000 + header(t);

    t->cfg.init_cwnd_segs = 4;
    script_start(t);
    route(t, &(struct scps_route){.min_rate = packet * 10, .burst = packet}, false);
    script_established(t, MS(100));
    app_writes(t, SEC(1), 4000);
    assert_int_equal(script_forget_sent(t), 4);
    expect_sent(t, .at = SEC(1) + MS(300), .from = 1, .len = 1000);
    expect_sent(t, .at = SEC(1) + MS(400), .from = 1001, .len = 1000);
    expect_sent(t, .at = SEC(1) + MS(500), .from = 2001, .len = 1000);
    peer_says(t, SEC(1) + MS(600), .ack = 4001);
    script_run(t, SEC(1) + MS(700));
    script_forget_sent(t);
    script_free(t);
}

/* There is no such route, or the rate is not valid: the call is refused and nothing changes. */
static void refused(void **x)
{
    struct script *t = routed(x, 104000);
    struct scps_route r = {.dst = t->them.addr, .prefix = 1, .nif = &t->nif, .rate = 1};

    assert_int_equal(scps_stack_set_route(t->st, &r), SCPS_ERR_NOENT);
    r.prefix = t->us.addr.family == 6 ? 128 : 32;
    r.rate = UINT64_MAX;
    assert_int_equal(scps_stack_set_route(t->st, &r), SCPS_ERR_RANGE);
    assert_int_equal(scps_stack_add_route(t->st, &r), SCPS_ERR_RANGE);
    app_writes(t, SEC(100), 3000);
    assert_int_equal(script_forget_sent(t), 2);
    expect_quiet(t, SCPS_HOLD_ROUTE);
    peer_says(t, SEC(100), .ack = 2001);
    script_run(t, SEC(100) + MS(50));
    assert_int_equal(script_forget_sent(t), 1);
    peer_says(t, SEC(100) + MS(50), .ack = 3001);
    script_free(t);
}

/* Connections that have ended wait to be freed at the next call. A route that now gets a rate moves
 * the live connections to its queue and leaves the ended ones alone. */
static void ended_connections_do_not_move(void **x)
{
    struct script *t = script_of(x);
    struct scps_conn *c[16];
    struct scps_stack_stats s;

    script_start(t);
    route(t, &(struct scps_route){.rate = 0}, false);
    script_established(t, MS(100));
    for (unsigned i = 0; i < 16; i++) {
        c[i] = scps_connect(t->st, &t->cfg, NULL, &t->them, NULL);
        assert_non_null(c[i]);
    }
    script_run(t, MS(200));
    /* The connection is in SYN-SENT, so it ends at once. */
    for (unsigned i = 0; i < 16; i += 2)
        scps_conn_close(c[i]);
    route(t, &(struct scps_route){.rate = 104000}, true);
    script_run(t, SEC(1));
    script_forget_sent(t);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.conns, 1 + 8);
    for (unsigned i = 1; i < 16; i += 2)
        scps_conn_abort(c[i]);
    script_run(t, SEC(2));
    script_forget_sent(t);
    script_free(t);
}

/* The timer of a retransmission that waits for the route's rate does not start before the packet
 * may leave: a line of 500 bytes/s takes 80 ms and more for a FIN, and a timer of 1 ms must not
 * expire several times for each. */
static void a_fin_is_not_timed_before_it_leaves(void **x)
{
    struct script *t = script_of(x);
    unsigned services = 0;

    t->cfg.loss_cause = SCPS_LOSS_CORRUPTION; /* Timeouts do not back off. */
    t->cfg.rto_min = MS(1);
    script_start(t);
    route(t, &(struct scps_route){.rate = 500, .burst = 1100}, false);
    script_established(t, 100);
    app_writes(t, MS(1), 900); /* This uses up the burst. */
    script_run(t, MS(2));
    peer_says(t, MS(2), .ack = 901);
    script_forget_sent(t);
    scps_conn_shutdown(t->c);
    for (; script_now(t) < SEC(2); services++)
        script_run(t, script_now(t) + scps_stack_deadline(t->st) - scps_stack_now(t->st));
    unsigned sent = (unsigned)script_forget_sent(t), timeouts = script_info(t).timeouts;
    assert_in_range(sent, 15, 25);
    assert_in_range(timeouts, 1, sent);
    assert_in_range(services, sent, 4 * sent);
    script_free(t);
}

/* Writes n octets at 10 s over a route of 100 bytes/s that lets two packets of 1000 octets pass at
 * once. A tail loss probe is due from 10.2 s on, and waits for the rate. */
static void wait_for_the_rate(struct script *t, int64_t n)
{
    uint32_t packet = 1000 + header(t);

    t->cfg.recovery = SCPS_RECOVERY_RACK;
    script_start(t);
    route(t, &(struct scps_route){.rate = 100, .burst = 2 * packet}, false);
    script_established(t, MS(100));
    app_writes(t, SEC(10), n);
    assert_int_equal(script_forget_sent(t), 2);
    script_run(t, SEC(10) + MS(220));
    expect_quiet(t, ANY_HOLD);
}

/* RFC 8985 section 7.3: a tail loss probe asks for an acknowledgement of outstanding data. One that
 * waits for the rate of the route until all data is acknowledged is not sent. Here the
 * acknowledgement closes the window, and the FIN is sent as a window probe, again and again (RFC
 * 9293 section 3.8.6.1). */
static void a_tail_loss_probe_that_has_waited(void **x)
{
    struct script *t = script_of(x);

    t->cfg.cc = scps_cc_find("rate");
    wait_for_the_rate(t, 2000);
    peer_says(t, SEC(10) + MS(250), .ack = 2001, .wnd = ZERO);
    assert_int_equal(scps_conn_shutdown(t->c), 0);
    script_run(t, SEC(60));
    for (int i = 0; i < 3; i++)
        expect_sent(t, .from = 2001, .flags = SCPS_FIN | SCPS_ACK);
    assert_int_equal(script_info(t).tlp_probes, 0);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 6298 section 5.1 starts the retransmission timer when "a packet containing data is sent". A
 * tail loss probe that waits for the rate of the route is not sent, so the timer that runs since
 * the data was sent is not restarted. */
static void a_tail_loss_probe_that_waits_for_the_rate(void **x)
{
    struct script *t = script_of(x);

    wait_for_the_rate(t, 2000);
    script_run(t, SEC(10) + script_info(t).rto - 1);
    expect_quiet(t, ANY_HOLD);
    assert_int_equal(script_info(t).timeouts, 0);
    script_run(t, SEC(10) + script_info(t).rto);
    assert_int_equal(script_info(t).timeouts, 1);
    assert_int_equal(script_info(t).tlp_probes, 0);
    script_free(t);
}

/* A tail loss probe may exceed the congestion window (RFC 8985 section 7.3), but there is none
 * during loss recovery (section 7.2). If the retransmission timer expires while the probe waits,
 * the oldest segment is resent first, and nothing beyond the window of one segment (RFC 5681
 * section 3.1). */
static void a_timeout_while_a_tail_loss_probe_waits(void **x)
{
    struct script *t = script_of(x);

    wait_for_the_rate(t, 9000);
    script_run(t, SEC(10) + script_info(t).rto);
    assert_int_equal(script_info(t).timeouts, 1);
    route(t, &(struct scps_route){.rate = 0}, true);
    expect_sent(t, .from = 1, .len = 1000);
    expect_quiet(t, SCPS_HOLD_CWND);
    assert_int_equal(script_info(t).tlp_probes, 0);
    script_free(t);
}

/* RFC 8985 section 7.2 restarts the time until the probe when new data is acknowledged, also if the
 * probe was due before and waits. */
static void an_acknowledgement_while_a_tail_loss_probe_waits(void **x)
{
    struct script *t = script_of(x);

    wait_for_the_rate(t, 2000);
    peer_says(t, SEC(10) + MS(220), .ack = 1001);
    route(t, &(struct scps_route){.rate = 0}, true);
    expect_quiet(t, ANY_HOLD);
    expect_sent(t, .at = SEC(10) + MS(220) + script_info(t).rto, .from = 1001, .len = 1000);
    assert_int_equal(script_info(t).tlp_probes, 1);
    script_free(t);
}

/* Each packet leaves only when the route's token bucket holds its cost, also a tail loss probe that
 * sends the last segment again. */
static void a_tail_loss_probe_pays(void **x)
{
    struct script *t = script_of(x);

    t->cfg.rto_min = SEC(60);
    wait_for_the_rate(t, 2000);
    expect_sent(t, .at = SEC(10) + SEC(1000 + header(t)) / 100, .from = 1001, .len = 1000);
    assert_int_equal(script_info(t).tlp_probes, 1);
    script_free(t);
}

/* A tail loss probe that is due when an outage begins is not sent afterwards, so the congestion
 * window limits new data again (RFC 5681 section 3.1). */
static void a_tail_loss_probe_before_an_outage(void **x)
{
    struct script *t = script_of(x);
    struct scps_signal sig = {.kind = SCPS_SIGNAL_LINK_DOWN, .until = SCPS_NEVER};

    wait_for_the_rate(t, 2000);
    assert_int_equal(scps_stack_signal(t->st, scps_stack_now(t->st), &sig), 0);
    route(t, &(struct scps_route){.rate = 0}, true);
    sig.kind = SCPS_SIGNAL_LINK_UP;
    script_run(t, SEC(11));
    assert_int_equal(scps_stack_signal(t->st, scps_stack_now(t->st), &sig), 0);
    peer_says(t, SEC(12), .ack = 1001);
    script_forget_sent(t);
    app_writes(t, SEC(13), 60000);
    script_run(t, SEC(13) + MS(1));
    expect_that(t, script_sent_count(t) >= 1);
    assert_true(script_info(t).inflight <= script_info(t).cwnd);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 9293 section 3.8.6.1: a window probe repeats the octet sent beyond the window. One that waits
 * for the rate of the route until that octet is acknowledged is not sent. Data that is written then
 * begins window probing anew: a probe is sent again and again until it is answered. */
static void a_window_probe_that_has_waited(void **x)
{
    struct script *t = script_of(x);
    uint32_t packet = 1000 + header(t);

    t->cfg.cc = scps_cc_find("rate");
    script_start(t);
    route(t, &(struct scps_route){.rate = 20, .burst = packet}, false);
    t->peer_wnd = 1000;
    script_established(t, MS(100));
    app_writes(t, SEC(10), 1001);
    expect_sent(t, .at = SEC(10), .from = 1, .len = 1000);
    peer_says(t, SEC(10) + MS(10), .ack = 1001, .wnd = ZERO);
    while (!script_sent_count(t))
        script_run(t, script_now(t) + MS(10));
    expect_sent(t, .from = 1001, .len = 1);
    script_run(t, script_now(t) + 3 * script_info(t).rto); /* The next probe is due and waits. */
    expect_quiet(t, ANY_HOLD);
    peer_says(t, script_now(t), .ack = 1002, .wnd = ZERO);
    app_writes(t, script_now(t), 1);
    script_run(t, script_now(t) + SEC(60));
    for (int i = 0; i < 3; i++)
        expect_sent(t, .from = 1002, .len = 1);
    script_forget_sent(t);
    script_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(a_tail_loss_probe_that_has_waited),
        SCRIPT_TEST(a_tail_loss_probe_that_waits_for_the_rate),
        SCRIPT_TEST(a_tail_loss_probe_before_an_outage),
        SCRIPT_TEST(a_timeout_while_a_tail_loss_probe_waits),
        SCRIPT_TEST(an_acknowledgement_while_a_tail_loss_probe_waits),
        SCRIPT_TEST(a_tail_loss_probe_pays),
        SCRIPT_TEST(a_window_probe_that_has_waited),
        SCRIPT_TEST(no_drift),
        SCRIPT_TEST(acknowledgements_pay),
        SCRIPT_TEST(repairs_pay),
        SCRIPT_TEST(data_that_waits_for_credit_carries_the_ack),
        SCRIPT_TEST(overhead),
        SCRIPT_TEST(changed_in_mid_flight),
        SCRIPT_TEST(a_signalled_rate_becomes_the_routes),
        SCRIPT_TEST(minimum_rate),
        SCRIPT_TEST(refused),
        SCRIPT_TEST(minimum_rate_repairs),
        SCRIPT_TEST(ended_connections_do_not_move),
        SCRIPT_TEST(a_fin_is_not_timed_before_it_leaves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
