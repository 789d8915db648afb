/* SPDX-License-Identifier: MIT */
/* Two hosts with nothing or little to send: keep-alives from either end or both are answered and do
 * not end a connection whose peer is alive (RFC 9293 section 3.8.4), with TCP and with compressed
 * headers; a lone segment, whose acknowledgement the receiver delays, is not resent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <scps/sim.h>

struct two {
    struct scps_host *host; /* the first end, which connects */
    struct scps_conn *conn[2];
    /* true: the second end shuts down its sending side as soon as it is connected. */
    bool half_close;
};

static void on_event(struct scps_host *h, const struct scps_event *ev, void *ctx)
{
    struct two *t = ctx;

    (void)h;
    if (ev->kind != SCPS_EV_ACCEPT)
        return;
    t->conn[1] = scps_accept(ev->listener);
    if (t->half_close)
        assert_int_equal(scps_conn_shutdown(t->conn[1]), 0);
}

/* Makes a world of two hosts over `link`, and listens on the second one, with the configuration of
 * `passive`; the first one connects with that of `active`. *l: the link. */
static struct scps_world *connected(struct two *t, const char *link,
                                    const struct scps_conn_config *active,
                                    const struct scps_conn_config *passive, struct scps_link **l,
                                    struct scps_link_config *up, struct scps_link_config *down)
{
    struct scps_world *w = scps_world_new(NULL);
    struct scps_host *b = scps_world_host(w, "b", NULL, on_event, t);
    struct scps_endpoint to = {.port = 5001};
    struct scps_addr from;
    char why[200];

    t->host = scps_world_host(w, "a", NULL, on_event, t);
    assert_int_equal(scps_link_parse(link, up, down, why, sizeof why), 0);
    scps_addr_parse("10.0.0.1", &from);
    scps_addr_parse("10.0.0.2", &to.addr);
    *l = scps_world_link(w, t->host, &from, b, &to.addr, 24, 1500, up, down);
    assert_non_null(scps_listen(scps_host_stack(b), passive, &to, 1, NULL));
    t->conn[0] = scps_connect(scps_host_stack(t->host), active, NULL, &to, NULL);
    assert_non_null(t->conn[0]);
    scps_host_kick(t->host);
    return w;
}

/* keeps: which end has keep-alive: 1 the one that connects, 2 the other, 3 both. written: octets
 * that the first end sends before both are idle. until: the time from which the link loses
 * everything. */
static void idle(struct two *t, struct scps_conn_config *cfg, unsigned keeps, size_t written,
                 scps_time until, scps_time end, enum scps_state state[2])
{
    struct scps_conn_config passive = *cfg;
    struct scps_link_config up, down;
    struct scps_link *l;

    cfg->keep_idle = cfg->keep_interval = passive.keep_idle = passive.keep_interval = SCPS_SEC(10);
    cfg->keepalive = keeps & 1;
    passive.keepalive = keeps & 2;
    struct scps_world *w = connected(t, "rate=10mbit,rtt=100ms", cfg, &passive, &l, &up, &down);
    scps_world_run(w, SCPS_SEC(1));
    assert_non_null(t->conn[1]);
    if (written) {
        assert_int_equal(scps_conn_write(t->conn[0], NULL, written, 0), (int64_t)written);
        scps_host_kick(t->host);
    }
    scps_world_run(w, until);
    if (until < end) {
        up.loss = down.loss = 1;
        assert_int_equal(scps_link_change(l, 0, &up), 0);
        assert_int_equal(scps_link_change(l, 1, &down), 0);
        scps_world_run(w, end);
    }
    for (int i = 0; i < 2; i++)
        state[i] = scps_conn_state(t->conn[i]);
    scps_world_free(w);
}

static void keepalive_keeps_a_live_connection(void **x)
{
    (void)x;
    for (unsigned k = 0; k < 32; k++) {
        struct scps_conn_config cfg = scps_conn_config_default();
        struct two t = {0};
        enum scps_state s[2];

        if (!(k & 3))
            continue;
        cfg.compress = k & 4;
        cfg.timestamps = !(k & 8);
        idle(&t, &cfg, k & 3, k & 16 ? 3000 : 0, SCPS_SEC(7200), SCPS_SEC(7200), s);
        if (s[0] != SCPS_ESTABLISHED || s[1] != SCPS_ESTABLISHED)
            fail_msg("case %u: %s and %s", k, scps_state_name(s[0]), scps_state_name(s[1]));
    }
}

/* Keep-alive in FIN-WAIT-2 and CLOSE-WAIT, while one end has shut down its direction: a peer that
 * has gone is detected in either state. */
static void half_closed(void **x)
{
    (void)x;
    for (unsigned k = 0; k < 16; k++) {
        struct scps_conn_config cfg = scps_conn_config_default();
        struct two t = {.half_close = true};
        enum scps_state s[2];
        bool gone = k & 8;

        if (!(k & 3))
            continue;
        cfg.compress = k & 4;
        idle(&t, &cfg, k & 3, 0, gone ? SCPS_SEC(10) : SCPS_SEC(7200), SCPS_SEC(7200), s);
        if (s[0] != (gone && k & 1 ? SCPS_CLOSED : SCPS_CLOSE_WAIT) ||
            s[1] != (gone && k & 2 ? SCPS_CLOSED : SCPS_FIN_WAIT_2))
            fail_msg("case %u: %s and %s", k, scps_state_name(s[0]), scps_state_name(s[1]));
    }
}

/* Each write is a lone segment, whose acknowledgement the receiver delays: the sender waits for it
 * and sends nothing twice, from the first write on. */
static void lone_writes_are_not_resent(void **x)
{
    static const char *const links[] = {
        "rate=1gbit,rtt=200us",   "rate=10mbit,rtt=10ms",  "rate=10mbit,rtt=60ms",
        "rate=10mbit,rtt=120ms",  "rate=10mbit,rtt=560ms", "rate=256kbit,rtt=60ms",
        "rate=256kbit,rtt=300ms", "rate=1mbit,rtt=700ms",
    };

    (void)x;
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        for (unsigned size = 5; size <= 1000; size *= 10) {
            struct scps_conn_config cfg = scps_conn_config_default();
            struct scps_link_config up, down;
            struct scps_link *l;
            struct scps_info info;
            struct two t = {0};
            struct scps_world *w = connected(&t, links[i], &cfg, &cfg, &l, &up, &down);

            for (unsigned k = 1; k <= 10; k++) {
                scps_world_run(w, SCPS_SEC(20 * k));
                assert_int_equal(scps_conn_write(t.conn[0], NULL, size, 0), size);
                scps_host_kick(t.host);
            }
            scps_world_run(w, SCPS_SEC(300));
            scps_conn_info(t.conn[0], &info);
            assert_int_equal(info.bytes_acked, 10 * size);
            if (info.resent_segs || info.timeouts)
                fail_msg("%s, %u octets: %u resent, %u timeouts", links[i], size, info.resent_segs,
                         info.timeouts);
            scps_world_free(w);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_closed),
        cmocka_unit_test(lone_writes_are_not_resent),
        cmocka_unit_test(keepalive_keeps_a_live_connection),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
