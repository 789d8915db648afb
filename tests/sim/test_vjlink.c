/* SPDX-License-Identifier: MIT */
/* Van Jacobson compression at both ends of a simulated PPP line, as in the tests for small
 * satellites by Horan and Wang (claim H06): every byte arrives, with and without errors, and the
 * transfer is faster by the size of the headers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <scps/error.h>
#include <scps/sim.h>
#include <scps/traffic.h>
#include <scps/vjlink.h>

struct run {
    struct scps_world *w;
    struct scps_bulk_source source;
    struct scps_bulk_sink sink;
    uint64_t taken;
    bool intact, hollow;
    scps_time error_at; /* time at which the line reports an error to the receiver; 0: never */
    struct scps_netif *told;
    struct scps_vj_stats vj[2];
    struct scps_stack_stats st[2];
    scps_time took;
};

static int take(void *ctx, const void *data, size_t len)
{
    struct run *r = ctx;

    if (r->hollow ? data != NULL : !scps_pattern_check(data, len, r->taken))
        r->intact = false;
    r->taken += len;
    return 0;
}

static void over(struct run *r)
{
    if ((r->source.closed && r->sink.eof) || r->source.err || r->sink.err)
        scps_world_stop(r->w);
}

static void on_source(struct scps_host *h, const struct scps_event *ev, void *ctx)
{
    struct run *r = ctx;
    (void)h;
    scps_bulk_source_event(&r->source, ev);
    over(r);
}

static void on_sink(struct scps_host *h, const struct scps_event *ev, void *ctx)
{
    struct run *r = ctx;
    (void)h;
    if (ev->kind == SCPS_EV_ACCEPT)
        scps_bulk_sink_start(&r->sink, scps_accept(ev->listener));
    else
        scps_bulk_sink_event(&r->sink, ev);
    over(r);
}

static void line_error(void *ctx)
{
    scps_vj_filter_line_error(((struct run *)ctx)->told);
}

/* Runs one transfer; on: with compression; ts: with time stamps. */
static void transfer(struct run *r, const char *spec, uint64_t bytes, bool on, bool ts, bool hollow)
{
    struct scps_link_config fwd, back;
    struct scps_stack_config sc = scps_stack_config_default();
    struct scps_conn_config cc = scps_conn_config_default();
    struct scps_endpoint there = {{4, {10, 0, 0, 2}}, 5001};
    struct scps_addr a = {4, {10, 0, 0, 1}};
    struct scps_netif *f[2];
    char msg[200];

    *r = (struct run){.error_at = r->error_at};
    r->intact = true;
    r->hollow = hollow;
    if (scps_link_parse(spec, &fwd, &back, msg, sizeof msg))
        fail_msg("%s", msg);
    r->w = scps_world_new(NULL);
    struct scps_host *h0 = scps_world_host(r->w, "sender", &sc, on_source, r);
    struct scps_host *h1 = scps_world_host(r->w, "receiver", &sc, on_sink, r);
    struct scps_link *l = scps_world_link(r->w, h0, &a, h1, &there.addr, 24, 576, &fwd, &back);
    assert_non_null(l);
    for (int end = 0; end < 2 && on; end++) {
        f[end] = scps_vj_filter_new(NULL);
        assert_non_null(f[end]);
        assert_int_equal(scps_link_filter(l, end, f[end]), 0);
    }
    if (r->error_at) {
        r->told = f[1];
        assert_int_equal(scps_world_at(r->w, r->error_at, line_error, r), 0);
    }
    cc.timestamps = ts;
    cc.rate = ts ? 14000 : 0; /* At this low rate each packet has a time stamp of its own. */
    cc.hollow = hollow;
    r->sink.take = take;
    r->sink.ctx = r;
    r->source.total = bytes;
    r->source.hollow = hollow;
    assert_non_null(scps_listen(scps_host_stack(h1), &cc, &there, 1, NULL));
    struct scps_conn *c = scps_connect(scps_host_stack(h0), &cc, NULL, &there, NULL);
    assert_non_null(c);
    assert_int_equal(scps_bulk_source_start(&r->source, c), 0);
    scps_host_kick(h0);
    scps_world_run(r->w, SCPS_SEC(100000));
    r->took = scps_world_now(r->w);
    for (int end = 0; end < 2 && on; end++)
        scps_vj_filter_stats(f[end], &r->vj[end]);
    scps_stack_get_stats(scps_host_stack(h0), &r->st[0]);
    scps_stack_get_stats(scps_host_stack(h1), &r->st[1]);
    scps_bulk_source_fini(&r->source);
    scps_world_free(r->w);
    assert_int_equal(r->source.err, 0);
    assert_int_equal(r->sink.err, 0);
    assert_true(r->intact);
    assert_int_equal(r->taken, bytes);
}

/* On a line of 115.2 kbit/s with PPP framing compression saves 37 of the 576 bytes of a packet, and
 * some 35 of the 40 bytes of an acknowledgement. */
static void faster_by_the_headers(void **state)
{
    (void)state;
    static const char *const spec = "rate=115.2kbit,rtt=20ms,overhead=8,queue=400000";
    for (int hollow = 0; hollow < 2; hollow++) {
        struct run with = {.error_at = 0}, without = with;
        transfer(&without, spec, 200000, false, false, hollow);
        transfer(&with, spec, 200000, true, false, hollow);
        double gain = (double)without.took / (double)with.took;
        /* The line is full of data, so the gain is (576 + 8) / (539 + 8) = 1.068. */
        assert_true(gain > 1.05 && gain < 1.08);
        /* SYN and FIN are not compressed, the first packet of a connection has its full header, and
         * the others are compressed. */
        assert_in_range(with.vj[0].ip, 2, 4);
        assert_in_range(with.vj[0].uncompressed, 1, 3);
        assert_true(with.vj[0].compressed > 370);
        /* A header of 40 octets becomes 6: the stack's IP identification does not change (DF is
         * set), which takes three octets to express. */
        assert_true(with.vj[0].bytes_in - with.vj[0].bytes_out >= 34 * with.vj[0].compressed);
        assert_int_equal(with.vj[1].expanded, with.vj[0].compressed + with.vj[0].uncompressed);
        assert_true(with.vj[1].compressed > 150);
        assert_int_equal(with.vj[0].tossed + with.vj[1].tossed, 0);
    }
}

static void time_stamps_leave_nothing_to_gain(void **state)
{
    (void)state;
    static const char *const spec = "rate=115.2kbit,rtt=20ms,overhead=8,queue=400000";
    struct run with = {.error_at = 0}, without = with;
    transfer(&without, spec, 100000, false, true, false);
    transfer(&with, spec, 100000, true, true, false);
    assert_in_range(with.vj[0].compressed, 0, 5);
    assert_true(with.took <= without.took);
    assert_true(with.took * 100 > without.took * 99);
}

/* RFC 1144 section 4.1: after an error that the line reports, compressed headers are dropped until
 * one names its connection; a retransmission has a full header, so the transfer goes on. */
static void an_error_of_the_line(void **state)
{
    (void)state;
    struct run r = {.error_at = SCPS_SEC(3)};
    transfer(&r, "rate=115.2kbit,rtt=20ms,overhead=8,queue=400000", 200000, true, false, false);
    assert_true(r.vj[1].tossed > 0);
    assert_int_equal(r.vj[0].tossed, 0);
    assert_int_equal(r.st[1].drops[SCPS_DROP_BAD_CHECKSUM], 0);
}

/* Packets are lost unnoticed and octets damaged: only the TCP checksum protects the application
 * from headers that were restored wrongly, and it does. */
static void nothing_wrong_gets_through(void **state)
{
    (void)state;
    struct run r = {.error_at = 0};
    transfer(&r, "rate=115.2kbit,rtt=20ms,overhead=8,queue=400000,ber=1e-5", 200000, true, false,
             false);
    assert_true(r.st[1].drops[SCPS_DROP_BAD_CHECKSUM] > 0);
    transfer(&r, "rate=115.2kbit,rtt=20ms,overhead=8,queue=400000,ber=3e-6,flip", 200000, true,
             false, false);
    assert_true(r.st[1].drops[SCPS_DROP_BAD_CHECKSUM] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faster_by_the_headers),
        cmocka_unit_test(time_stamps_leave_nothing_to_gain),
        cmocka_unit_test(an_error_of_the_line),
        cmocka_unit_test(nothing_wrong_gets_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
