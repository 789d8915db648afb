/* SPDX-License-Identifier: MIT */
/* An application that writes two octets at a time, each sent at once (Nagle's algorithm off),
 * faster than the line carries the packets, whose queue drops most of them. A timeout resends what
 * is lost in full segments: RFC 9293 section 3.8.6, a sender "may repackage segments on the
 * retransmission queue". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <scps/sim.h>

#define WRITES 700

struct typist {
    struct scps_world *w;
    struct scps_host *host[2];
    struct scps_conn *conn[2];
    unsigned written;
    uint64_t received;
    scps_time end; /* time at which the last octet was read, µs */
};

static void type(void *ctx)
{
    struct typist *t = ctx;

    assert_int_equal(scps_conn_write(t->conn[0], "ab", 2, 0), 2);
    scps_host_kick(t->host[0]);
    if (++t->written < WRITES)
        scps_world_at(t->w, scps_world_now(t->w) + SCPS_MS(1), type, t);
}

static void on_event(struct scps_host *h, const struct scps_event *ev, void *ctx)
{
    struct typist *t = ctx;
    uint8_t octets[2 * WRITES];
    int64_t n;

    (void)h;
    if (ev->kind == SCPS_EV_CONNECTED)
        scps_world_at(t->w, scps_world_now(t->w), type, t);
    if (ev->kind == SCPS_EV_ACCEPT)
        t->conn[1] = scps_accept(ev->listener);
    if (!t->conn[1])
        return;
    while ((n = scps_conn_read(t->conn[1], octets, sizeof octets, 0)) > 0) {
        for (int64_t i = 0; i < n; i++)
            assert_int_equal(octets[i], (t->received + (uint64_t)i) % 2 ? 'b' : 'a');
        t->received += (uint64_t)n;
        if (t->received == 2 * WRITES) {
            t->end = scps_world_now(t->w);
            scps_world_stop(t->w);
        }
    }
}

/* timestamps, snack: the connection has them; neither end has SACK. Returns the time, µs, until all
 * was read; *sent: the number of segments with data. */
static scps_time run(bool timestamps, bool snack, uint64_t *sent)
{
    struct scps_conn_config cfg = scps_conn_config_default();
    struct scps_endpoint to = {.port = 5001};
    struct typist t = {0};
    struct scps_link_config up, down;
    struct scps_addr from;
    struct scps_info info;
    char why[200];

    cfg.sack = false;
    cfg.timestamps = timestamps;
    cfg.snack = snack;
    cfg.nodelay = true;
    t.w = scps_world_new(NULL);
    t.host[0] = scps_world_host(t.w, "a", NULL, on_event, &t);
    t.host[1] = scps_world_host(t.w, "b", NULL, on_event, &t);
    assert_int_equal(scps_link_parse("rate=368kbit,rtt=68ms,queue=9p", &up, &down, why, sizeof why),
                     0);
    scps_addr_parse("10.0.0.1", &from);
    scps_addr_parse("10.0.0.2", &to.addr);
    assert_non_null(
        scps_world_link(t.w, t.host[0], &from, t.host[1], &to.addr, 24, 1500, &up, &down));
    assert_non_null(scps_listen(scps_host_stack(t.host[1]), &cfg, &to, 1, NULL));
    t.conn[0] = scps_connect(scps_host_stack(t.host[0]), &cfg, NULL, &to, NULL);
    assert_non_null(t.conn[0]);
    scps_host_kick(t.host[0]);
    scps_world_run(t.w, SCPS_SEC(100000));
    assert_int_equal(t.received, 2 * WRITES);
    scps_conn_info(t.conn[0], &info);
    *sent = info.data_segs_out;
    scps_world_free(t.w);
    return t.end;
}

static void timeouts_resend_full_segments(void **state)
{
    (void)state;
    for (int timestamps = 0; timestamps < 2; timestamps++) {
        uint64_t sent;
        scps_time t = run(timestamps, false, &sent);

        print_message("%.3f s, %u segments\n", (double)t / 1e6, (unsigned)sent);
        /* 700 writes take 0.7 s, and a few timeouts of 0.27 s or more follow. */
        assert_in_range(t, SCPS_MS(700), SCPS_SEC(5));
        assert_in_range(sent, 300, 2 * WRITES);
    }
}

static void with_snack(void **state)
{
    uint64_t sent;
    scps_time t = run(false, true, &sent);

    (void)state;
    print_message("%.3f s, %u segments\n", (double)t / 1e6, (unsigned)sent);
    assert_in_range(t, SCPS_MS(700), SCPS_SEC(20));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timeouts_resend_full_segments),
        cmocka_unit_test(with_snack),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
