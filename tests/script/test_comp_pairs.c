/* SPDX-License-Identifier: MIT */
/* Header compression: which connection ids of a pair of hosts are given, in what order they end
 * their rest, and which pairs of hosts make room for others (stack/connid.c, docs/SCPS-TP.md
 * section 8.4). */
#include "compress.h"

/* The listener of these tests repeats no SYN-ACK, because the script takes the packets of one host
 * at a time. */
static struct script *listening(void **x, uint32_t pairs)
{
    struct script *t = compressing(x, false);

    t->cfg.rto_initial = t->cfg.rto_max = SEC(60);
    t->cfg.time_wait = SEC(30);
    t->stack_cfg.max_half_open = 4000;
    t->stack_cfg.max_comp_hosts = pairs;
    return t;
}

static void from_host(struct script *t, unsigned host)
{
    unsigned at = t->them.addr.family == 4 ? 2 : 14;

    t->them.addr.b[at] = (uint8_t)(1 + host / 200);
    t->them.addr.b[at + 1] = (uint8_t)(1 + host % 200);
}

/* Sends a SYN with compression from a host and a port. Returns the connection id in the SYN-ACK; 0:
 * the SYN-ACK does without compression. */
static uint8_t syn(struct script *t, scps_time at, unsigned host, unsigned port)
{
    from_host(t, host);
    peer_says(t, at, .port = (uint16_t)port, .seq = 100, .flags = SCPS_SYN);
    expect_sent(t, .port = (uint16_t)port, .flags = SCPS_SYN | SCPS_ACK);
    assert_true(!(t->last.has & SCPS_HAS_CAPS) || t->last.conn_id);
    return t->last.has & SCPS_HAS_CAPS ? t->last.conn_id : 0;
}

/* The host acknowledges the SYN-ACK with initial sequence number isn. Returns true if its
 * connection is then established; false: the stack has dropped the half-open connection. */
static bool completes(struct script *t, scps_time at, unsigned host, unsigned port, uint32_t isn)
{
    struct scps_conn *c;

    from_host(t, host);
    peer_says(t, at, .port = (uint16_t)port, .seq = 101, .ack = (int64_t)isn + 1);
    c = scps_accept(t->l);
    script_forget_events(t);
    if (c)
        scps_conn_abort(c);
    script_run(t, at);
    /* This is a reset in either case. */
    script_forget_sent(t);
    return c;
}

static void reset(struct script *t, scps_time at, unsigned host, unsigned port)
{
    from_host(t, host);
    peer_says(t, at, .port = (uint16_t)port, .seq = 101, .flags = SCPS_RST);
}

static uint64_t evicted(const struct script *t)
{
    struct scps_stack_stats s;

    scps_stack_get_stats(t->st, &s);
    return s.half_open_evicted;
}

/* Forged SYNs from 256 hosts take all entries for pairs of hosts. From 3 s on, a SYN from another
 * host takes the entry of the pair whose SYN came first, and of no other. */
static void the_first_of_256_pairs_makes_room(void **x)
{
    struct script *t = listening(x, 256);
    uint32_t isn[256];

    script_listen(t);
    for (unsigned i = 0; i < 256; i++) {
        assert_int_not_equal(syn(t, MS(i), i, 2000), 0);
        isn[i] = t->last.seq;
    }
    assert_int_equal(syn(t, MS(300), 300, 2000), 0);
    for (unsigned i = 0; i < 200; i++) {
        assert_int_not_equal(syn(t, SEC(5) + MS(i), 400 + i, 2000), 0);
        assert_int_equal(evicted(t), i + 1);
    }
    assert_false(completes(t, SEC(6), 199, 2000, isn[199]));
    assert_true(completes(t, SEC(6), 200, 2000, isn[200]));
    script_free(t);
}

/* The half-open connections of a pair end one by one: what counts is the oldest one that is left.
 * A pair with an established connection makes no room, nor does one with an id that rests. */
static void what_a_pair_of_hosts_has_left(void **x)
{
    struct script *t = listening(x, 3);
    uint32_t isn[3];

    script_listen(t);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_not_equal(syn(t, SEC(i), i, 2000), 0);
        isn[i] = t->last.seq;
    }
    assert_int_not_equal(syn(t, SEC(3), 0, 2001), 0);
    isn[0] = t->last.seq;
    reset(t, SEC(3) + MS(500), 0, 2000);
    /* Host 1 has the oldest SYN now, host 2 the next one. */
    assert_int_not_equal(syn(t, SEC(5) + MS(500), 10, 2000), 0);
    assert_int_equal(evicted(t), 1);
    assert_int_not_equal(syn(t, SEC(5) + MS(550), 11, 2000), 0);
    assert_int_equal(evicted(t), 2);
    assert_int_equal(syn(t, SEC(5) + MS(550), 12, 2000), 0);
    assert_false(completes(t, SEC(5) + MS(600), 1, 2000, isn[1]));
    assert_false(completes(t, SEC(5) + MS(600), 2, 2000, isn[2]));
    /* The ids of host 0 rest until 35.6 s. Those of hosts 10 and 11 make room one after the other,
     * and host 10 with both of its half-open connections. */
    assert_true(completes(t, SEC(5) + MS(600), 0, 2001, isn[0]));
    assert_int_not_equal(syn(t, SEC(6), 10, 2001), 0);
    assert_int_not_equal(syn(t, SEC(10), 20, 2000), 0);
    assert_int_equal(evicted(t), 4);
    assert_int_not_equal(syn(t, SEC(10), 21, 2000), 0);
    assert_int_equal(evicted(t), 5);
    assert_int_equal(syn(t, SEC(10), 22, 2000), 0);
    /* The pair of host 0, which has no connection, is forgotten before half-open connections. */
    assert_int_not_equal(syn(t, SEC(36), 23, 2000), 0);
    assert_int_equal(evicted(t), 5);
    script_free(t);
}

/* An established connection keeps the entry of its pair of hosts and its id for any time. */
static void an_established_connection_makes_no_room(void **x)
{
    struct script *t = listening(x, 1);
    struct scps_addr peer = t->them.addr;

    script_accepted(t, MS(100));
    for (unsigned i = 0; i < 20; i++)
        assert_int_equal(syn(t, SEC(10 + i), i, 2000), 0);
    assert_int_equal(evicted(t), 0);
    t->them.addr = peer;
    peer_says(t, SEC(30), .len = 1000);
    peer_says(t, SEC(30), .len = 1000);
    expect_sent(t, .ack = 2001, .compressed = true);
    script_free(t);
}

/* Half-open connections of one pair of hosts begin and end in random order: no id is given twice or
 * lost. If the only free id is one of a connection that has just ended, that one is given. */
static void all_ids_of_a_pair(void **x)
{
    struct script *t = listening(x, 1);
    uint8_t id[300] = {0}; /* by port; 0: there is no half-open connection */
    bool used[256] = {true};
    unsigned n = 0, full = 0;
    uint32_t seed = 1;

    script_listen(t);
    for (unsigned k = 0; k < 4000; k++) {
        seed = seed * 1103515245 + 12345;
        unsigned port = (seed >> 16) % 300;
        if (id[port] && (k > 2000 || seed >> 28 == 0)) {
            reset(t, MS(k) / 2, 1, 2000 + port);
            used[id[port]] = false;
            id[port] = 0;
            n--;
        } else if (!id[port] && n < 255) {
            id[port] = syn(t, MS(k) / 2, 1, 2000 + port);
            assert_false(used[id[port]]);
            used[id[port]] = true;
            full += ++n == 255;
        }
    }
    assert_true(full > 10);
    assert_int_equal(evicted(t), 0);
    script_forget_sent(t);
    script_free(t);
}

/* Connections with different values of time_wait: each id is free again when its own time has
 * passed, in whatever order they began to rest. */
static void ids_rest_for_their_own_time(void **x)
{
    struct script *t = compressing(x, false);
    struct scps_endpoint to = t->them;
    struct scps_conn *c[255];
    unsigned left;

    script_start(t);
    for (unsigned i = 0; i < 255; i++) {
        to.port = (uint16_t)(6000 + i);
        t->cfg.time_wait = SEC(10 * (1 + i * 7 % 3)); /* 10, 20 and 30 s, 85 times each */
        c[i] = scps_connect(t->st, &t->cfg, NULL, &to, NULL);
        script_run(t, 0);
        expect_sent(t, .port = to.port, .flags = SCPS_SYN, .has = SCPS_HAS_CAPS);
    }
    for (unsigned i = 0; i < 255; i++)
        scps_conn_abort(c[i]);
    for (unsigned k = 0; k < 3; k++) {
        script_run(t, SEC(10 * k + 5));
        for (unsigned i = 0; i < 2; i++) {
            script_run(t, SEC(10 * k + 5 + 6 * i));
            script_forget_sent(t);
            for (left = 0; left < 256; left++) {
                to.port = (uint16_t)(7000 + 1000 * k + 500 * i + left);
                scps_connect(t->st, &t->cfg, NULL, &to, NULL);
                script_run(t, script_now(t));
                expect_sent(t, .port = to.port, .flags = SCPS_SYN);
                if (!(t->last.has & SCPS_HAS_CAPS))
                    break;
            }
            assert_int_equal(left, i * 85);
        }
    }
    script_forget_sent(t);
    script_free(t);
}

/* The entry of a pair of hosts is freed when its last id has rested, not only when its place is
 * needed: the next connection, compressed or not, finds the memory. */
static void a_pair_is_forgotten_after_its_rest(void **x)
{
    struct script *t = listening(x, 256);
    struct scps_stack_stats before, after;

    script_listen(t);
    scps_stack_get_stats(t->st, &before);
    for (unsigned i = 0; i < 20; i++) {
        assert_int_not_equal(syn(t, MS(i), i, 2000), 0);
        assert_true(completes(t, MS(i), i, 2000, t->last.seq));
    }
    scps_stack_get_stats(t->st, &after);
    assert_true(after.memory > before.memory + 20 * 4000);
    t->peer.caps = 0;
    assert_int_equal(syn(t, SEC(31), 100, 2000), 0);
    reset(t, SEC(31), 100, 2000);
    script_run(t, SEC(31));
    scps_stack_get_stats(t->st, &after);
    assert_true(after.memory < before.memory + 8000);
    script_free(t);
}

/* Pairs of hosts take no more than a quarter of the memory limit. */
static void pairs_within_the_memory_limit(void **x)
{
    struct script *t = listening(x, 256);
    unsigned n = 0;

    t->stack_cfg.memory_limit = 1000000;
    script_listen(t);
    for (unsigned i = 0; i < 100; i++) {
        n += syn(t, MS(i), i, 2000) != 0;
        assert_true(completes(t, MS(i), i, 2000, t->last.seq));
    }
    assert_in_range(n, 30, 1000000 / 4 / 4000);
    script_free(t);
}

/* Hands in a compressed header with the peer's id, a sequence number and the acknowledgement number
 * ack. Returns 0, or the reason for which it was dropped. */
static int header(struct script *t, scps_time at, uint32_t ack)
{
    uint8_t b[14] = {0xce, 0x03}; /* S, A */

    scps_put16(b + 2, 60000);
    scps_put32(b + 4, ack);
    scps_put32(b + 8, 101);
    return compressed(t, at, b, sizeof b, true);
}

/* 250 SYNs, of which at most one is not forged, announce the same connection id. The id belongs to
 * the connection whose handshake is completed, and until then no header with the id has an effect
 * but the one that completes it. */
static void many_syns_claim_one_id(void **x)
{
    struct script *t = listening(x, 1);
    struct scps_endpoint remote;
    struct scps_conn *c, *ended[2];
    uint32_t isn[250];

    script_listen(t);
    for (unsigned i = 0; i < 250; i++) {
        assert_true(syn(t, MS(i), 0, 2000 + i));
        isn[i] = t->last.seq;
    }
    assert_int_equal(header(t, SEC(1), isn[100]), SCPS_DROP_UNKNOWN_CONNECTION_ID);
    assert_int_equal(header(t, SEC(1), isn[100] + 2), SCPS_DROP_UNKNOWN_CONNECTION_ID);
    script_run(t, SEC(1));
    assert_int_equal(script_forget_sent(t), 0);
    for (unsigned k = 0; k < 2; k++) {
        /* In the second run the id is that of a connection which has been reset. */
        unsigned i = k ? 7 : 100;
        assert_int_equal(header(t, SEC(2 + k), isn[i] + 1), 0);
        assert_non_null(c = scps_accept(t->l));
        scps_conn_remote(c, &remote);
        assert_int_equal(remote.port, 2000 + i);
        script_forget_events(t);
        script_forget_sent(t);
        assert_int_equal(header(t, SEC(2 + k), isn[i] + 1), 0);
        assert_null(scps_accept(t->l));
        assert_int_equal(syn(t, SEC(2 + k), 0, 3000 + k), 0);
        reset(t, SEC(2 + k), 0, 2000 + i);
        assert_int_equal(scps_conn_state(c), SCPS_CLOSED);
        script_forget_events(t);
        ended[k] = c;
    }
    scps_conn_abort(ended[0]);
    scps_conn_abort(ended[1]);
    script_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(the_first_of_256_pairs_makes_room),
        SCRIPT_TEST(what_a_pair_of_hosts_has_left),
        SCRIPT_TEST(an_established_connection_makes_no_room),
        SCRIPT_TEST(all_ids_of_a_pair),
        SCRIPT_TEST(ids_rest_for_their_own_time),
        SCRIPT_TEST(a_pair_is_forgotten_after_its_rest),
        SCRIPT_TEST(pairs_within_the_memory_limit),
        SCRIPT_TEST(many_syns_claim_one_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
