/* SPDX-License-Identifier: MIT */
/* Header compression: connection ids (docs/SCPS-TP.md section 8.4), path MTU, SNACK unit and time
 * stamps (sections 2.1, 6 and 8.1). */
#include "compress.h"

/* Connection ids: none is used twice at a time; each rests for TIME-WAIT after use; a pair of hosts
 * has 255; a connection that gets none is not compressed. */
static void ids_are_unique_and_rest_after_use(void **x)
{
    struct script *t = compressing(x, false);
    bool seen[256] = {false};
    struct scps_conn *c[260];

    t->cfg.time_wait = SEC(30);
    script_start(t);
    for (unsigned i = 0; i < 256; i++) {
        struct scps_endpoint to = t->them;
        to.port = (uint16_t)(6000 + i);
        c[i] = scps_connect(t->st, &t->cfg, NULL, &to, NULL);
        assert_non_null(c[i]);
        script_run(t, MS(i));
        expect_sent(t, .port = to.port, .flags = SCPS_SYN);
        if (i == 255) {
            assert_false(t->last.has & SCPS_HAS_CAPS);
        } else {
            assert_true(t->last.has & SCPS_HAS_CAPS && t->last.conn_id && !seen[t->last.conn_id]);
            seen[t->last.conn_id] = true;
        }
    }
    for (unsigned i = 0; i < 256; i++)
        scps_conn_abort(c[i]);
    /* The id still rests in the first run, and no longer in the second. */
    for (unsigned k = 0; k < 2; k++) {
        script_run(t, k ? SEC(31) : SEC(20));
        script_forget_sent(t);
        struct scps_endpoint to = t->them;
        to.port = 7000;
        struct scps_conn *again = scps_connect(t->st, &t->cfg, NULL, &to, NULL);
        script_run(t, script_now(t));
        expect_sent(t, .port = 7000, .flags = SCPS_SYN);
        assert_int_equal(!!(t->last.has & SCPS_HAS_CAPS), k);
        scps_conn_abort(again);
    }
    script_free(t);
}

/* SYNs from forged addresses use up neither ids nor places for pairs of hosts: the half-open
 * connections that have waited longest lose theirs to a connection that this end opens at once, and
 * after 3 s to one that a SYN opens. */
static void spoofed_syns_use_up_no_ids(void **x)
{
    struct script *t = compressing(x, false);
    struct scps_endpoint to = t->them;
    struct scps_conn *c;

    t->stack_cfg.max_half_open = 2000;
    t->stack_cfg.max_comp_hosts = 1;
    script_listen(t);
    for (uint16_t i = 0; i < 257; i++) {
        scps_time at = i < 255 ? MS(i) : i == 255 ? SEC(1) : SEC(5);
        script_run(t, at);
        script_forget_sent(t); /* These are repeated SYN-ACKs. */
        peer_says(t, at, .port = 2000 + i, .seq = 100, .flags = SCPS_SYN);
        expect_sent(t, .port = 2000 + i, .flags = SCPS_SYN | SCPS_ACK);
        /* Only compression is refused. */
        assert_int_equal(!!(t->last.has & SCPS_HAS_CAPS), i != 255);
    }
    for (unsigned i = 0; i < 2; i++) { /* The connection goes to the same peer, then to another. */
        to.port = (uint16_t)(6000 + i);
        t->them.addr.b[to.addr.family == 4 ? 3 : 15] += (uint8_t)i;
        to.addr = t->them.addr;
        c = scps_connect(t->st, &t->cfg, NULL, &to, NULL);
        assert_non_null(c);
        script_run(t, script_now(t));
        expect_sent(t, .port = to.port, .flags = SCPS_SYN);
        assert_true(t->last.has & SCPS_HAS_CAPS && t->last.caps & SCPS_CAP_COM);
        scps_conn_abort(c);
        if (i)
            break;
        /* All connections have ended, and the time has passed in which the id of this end's
         * connection is not used again. */
        script_run(t, SEC(200));
        script_forget_sent(t);
        for (uint16_t k = 0; k < 9; k++) {
            peer_says(t, SEC(200), .port = 3000 + k, .seq = 100, .flags = SCPS_SYN);
            expect_sent(t, .port = 3000 + k, .flags = SCPS_SYN | SCPS_ACK, .has = SCPS_HAS_CAPS);
        }
    }
    script_forget_sent(t);
    script_free(t);
}

/* docs/SCPS-TP.md section 8.4: an attacker off the path who can predict an id saves 254 of 255
 * guesses. Hosts with different secrets use different ids, and one host never the same twice in a
 * row. */
static bool offers_compression(struct script *t, uint8_t host, uint16_t port)
{
    struct scps_endpoint to = t->them;

    t->them.addr.b[to.addr.family == 4 ? 3 : 15] = host;
    to.addr = t->them.addr;
    to.port = port;
    struct scps_conn *c = scps_connect(t->st, &t->cfg, NULL, &to, NULL);
    assert_non_null(c);
    script_run(t, script_now(t));
    expect_sent(t, .port = port, .flags = SCPS_SYN);
    scps_conn_abort(c);
    script_run(t, script_now(t));
    script_forget_sent(t);
    return t->last.has & SCPS_HAS_CAPS;
}

/* With room for two pairs of hosts, a third pair has no compression while ids of the first two rest
 * in TIME-WAIT; then it takes the place of one of them. */
static void a_third_pair_of_hosts_waits_for_ids(void **x)
{
    struct script *t = compressing(x, false);

    t->cfg.time_wait = SEC(30);
    t->stack_cfg.max_comp_hosts = 2;
    script_start(t);
    assert_true(offers_compression(t, 11, 6000));
    script_run(t, SEC(10));
    assert_true(offers_compression(t, 12, 6001));
    script_run(t, SEC(20));
    assert_false(offers_compression(t, 13, 6002));
    /* The ids of this pair of hosts begin to rest anew. */
    assert_true(offers_compression(t, 12, 6003));
    script_run(t, SEC(31));
    assert_true(offers_compression(t, 13, 6004));
    assert_false(offers_compression(t, 11, 6005));
    script_free(t);
}

static void ids_are_drawn(void **x)
{
    unsigned in_turn = 0, alike = 0;
    uint8_t id[2][20];

    for (unsigned k = 0; k < 2; k++) {
        struct script *t = compressing(x, false);
        t->stack_cfg.seed[0] += k;
        script_start(t);
        for (unsigned i = 0; i < 20; i++) {
            struct scps_endpoint to = t->them;
            to.port = (uint16_t)(6000 + i);
            struct scps_conn *c = scps_connect(t->st, &t->cfg, NULL, &to, NULL);
            script_run(t, MS(i));
            expect_sent(t, .port = to.port, .flags = SCPS_SYN);
            id[k][i] = t->last.conn_id;
            in_turn += i && id[k][i] == id[k][i - 1] + 1;
            alike += k && id[0][i] == id[1][i];
            scps_conn_abort(c);
        }
        script_free(t);
    }
    assert_true(in_turn < 4 && alike < 4);
}

/* A connection id of 0 is valid; whether compression was offered depends on the capability bit
 * only. */
static void id_zero(void **x)
{
    struct script *t = compressing(x, false);

    t->peer.conn_id = 0;
    script_connect(t, 0);
    expect_sent(t, .flags = SCPS_SYN, .has = SCPS_HAS_CAPS);
    peer_says(t, MS(100), .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    expect_sent(t, .from = 1, .ack = 1, .compressed = true);
    peer_says(t, MS(150), .ack = 1);
    app_writes(t, MS(200), 100);
    expect_sent(t, .from = 1, .len = 100, .compressed = true);
    peer_says(t, MS(300), .ack = 101);
    struct scps_info i = script_info(t);
    assert_int_equal(i.caps, SCPS_CAP_COM);
    assert_int_equal(i.comp_in, 2);
    script_free(t);
}

/* A SYN offers a connection id that another connection uses: the new connection is not compressed,
 * and the old one keeps the id. */
static void an_id_twice(void **x)
{
    struct script *t = compressing(x, false);

    script_accepted(t, MS(100));
    struct scps_conn *first = t->c;
    peer_says(t, MS(200), .raw = true, .port = 6001, .flags = SCPS_SYN, .seq = 99);
    expect_sent(t, .port = 6001, .flags = SCPS_SYN | SCPS_ACK, .hasnt = SCPS_HAS_CAPS);
    peer_says(t, MS(300), .len = 1000);
    peer_says(t, MS(300), .len = 1000);
    expect_sent(t, .ack = 2001, .compressed = true);
    assert_int_equal(scps_conn_readable(first), 2000);
    script_forget_sent(t);
    script_run(t, SEC(120));
    script_forget_sent(t);
    script_free(t);
}

/* A connection in TIME-WAIT sends nothing of its own, so a new connection of the peer with the same
 * id gets it. */
static void an_id_of_a_connection_in_time_wait(void **x)
{
    struct script *t = compressing(x, false);

    script_accepted(t, MS(100));
    script_forget_events(t);
    assert_int_equal(scps_conn_shutdown(t->c), 0);
    script_run(t, MS(150));
    script_forget_sent(t);
    peer_says(t, MS(200), .ack = 2, .flags = SCPS_FIN | SCPS_ACK);
    expect_state(t, SCPS_TIME_WAIT);
    script_forget_sent(t);
    peer_says(t, MS(300), .raw = true, .port = 6001, .flags = SCPS_SYN, .seq = 99);
    expect_sent(t, .port = 6001, .flags = SCPS_SYN | SCPS_ACK, .has = SCPS_HAS_CAPS);
    assert_true(t->last.caps & SCPS_CAP_COM);
    script_run(t, SEC(120));
    script_forget_sent(t);
    script_forget_events(t);
    script_free(t);
}

/* A SYN with an id ends TIME-WAIT, and its connection gets an initial sequence number above those
 * of the old one, which has sent 100 kB in 0.1 s (RFC 9293 section 3.6.1). The half-open connection
 * is found by that number. It is freed when its handshake is not completed in the first run, and
 * becomes established in the second. */
static void an_id_claimed_in_time_wait(void **x)
{
    for (int k = 0; k < 2; k++) {
        struct script *t = compressing(x, false);
        uint32_t fin;

        t->cfg.nodelay = true;
        script_accepted(t, MS(100));
        for (int i = 1; i <= 10; i++) {
            app_writes(t, MS(100) + i, 10000);
            script_forget_sent(t);
            peer_says(t, MS(100) + i, .ack = 1 + 10000 * i);
        }
        scps_conn_close(t->c);
        t->c = NULL;
        expect_sent(t, .from = 100001, .flags = SCPS_FIN | SCPS_ACK, .compressed = true);
        fin = t->last.seq;
        peer_says(t, MS(110), .flags = SCPS_FIN | SCPS_ACK, .ack = 100002);
        script_forget_sent(t);
        peer_says(t, MS(120), .seq = 50000, .flags = SCPS_SYN);
        expect_sent(t, .at = MS(120), .flags = SCPS_SYN | SCPS_ACK, .ack = 50001);
        assert_true((int32_t)(t->last.seq - fin) > 0);
        assert_true(t->last.caps & SCPS_CAP_COM);
        if (k) {
            peer_says(t, MS(130), .seq = 50001, .ack = 1);
            t->c = scps_accept(t->l);
            assert_non_null(t->c);
            expect_state(t, SCPS_ESTABLISHED);
        }
        script_run(t, SEC(300));
        script_forget_sent(t);
        script_forget_events(t);
        script_free(t);
    }
}

/* A SYN, which may be forged, meets a connection in SYN-SENT and offers the id of another one
 * (simultaneous open, RFC 9293 section 3.5): the other one keeps its id. */
static void an_id_twice_by_a_simultaneous_open(void **x)
{
    struct script *t = compressing(x, false);
    struct scps_endpoint from, to;
    struct scps_conn *first, *second;

    script_accepted(t, MS(100));
    first = t->c;
    from = t->us;
    from.port = 7000;
    to = t->them;
    to.port = 6001;
    assert_non_null(second = scps_connect(t->st, &t->cfg, &from, &to, NULL));
    script_run(t, MS(150));
    script_forget_sent(t);
    from.port = t->us.port;
    t->us.port = 7000;
    peer_says(t, MS(200), .raw = true, .port = 6001, .flags = SCPS_SYN, .seq = 99);
    t->us.port = from.port;
    script_forget_sent(t);
    peer_says(t, MS(300), .len = 1000);
    peer_says(t, MS(300), .len = 1000);
    expect_sent(t, .ack = 2001, .compressed = true);
    assert_int_equal(scps_conn_readable(first), 2000);
    scps_conn_abort(second);
    script_forget_sent(t);
    script_free(t);
}

/* Both ends open at once. When the handshake is completed, the id of the peer's SYN is that of the
 * connection. */
static void the_id_of_a_simultaneous_open(void **x)
{
    struct script *t = compressing(x, false);

    script_connect(t, 0);
    expect_sent(t, .flags = SCPS_SYN);
    peer_says(t, MS(50), .flags = SCPS_SYN);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    peer_says(t, MS(100), .ack = 1);
    expect_state(t, SCPS_ESTABLISHED);
    app_writes(t, MS(200), 100);
    expect_sent(t, .from = 1, .len = 100, .compressed = true);
    peer_says(t, MS(300), .ack = 101);
    assert_int_equal(script_info(t).outstanding, 0);
    script_forget_events(t);
    script_free(t);
}

/* A third party's SYN announces another id before the peer's SYN-ACK comes, whose id counts. */
static void the_id_of_a_forged_syn(void **x)
{
    struct script *t = compressing(x, false);

    script_connect(t, 0);
    expect_sent(t, .flags = SCPS_SYN);
    t->peer.conn_id = 0x11;
    peer_says(t, MS(50), .seq = 70000, .flags = SCPS_SYN);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .ack = 70001);
    t->peer.conn_id = 0xce;
    peer_says(t, MS(100), .seq = ZERO, .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    expect_event(t, SCPS_EV_CONNECTED);
    script_forget_sent(t);
    peer_says(t, MS(200), .seq = 1, .ack = 1, .len = 100);
    app_reads(t, MS(300), 100);
    script_forget_sent(t);
    script_free(t);
}

/* A sequence number that is left out stands for the highest that the receiver has received, so a
 * keep-alive, one octet below that, always has its own: otherwise it would be acceptable, and the
 * peer need not answer (RFC 9293 section 3.8.4). The same holds for the probe of an outage. */
static void probes_carry_their_sequence_number(void **x)
{
    static const int gap[] = {5, 6, 12, 24, 48, 60};

    for (int outage = 0; outage < 2; outage++) {
        struct script *t = compressing(x, false);
        scps_time at = MS(100);
        t->cfg.keepalive = !outage;
        t->cfg.keep_idle = t->cfg.keep_interval = SEC(10);
        t->cfg.keep_count = 3;
        if (outage)
            script_established(t, MS(100));
        /* This end has not sent any compressed header yet. */
        else
            script_accepted(t, MS(100));
        script_forget_events(t);
        if (outage) {
            struct scps_signal down = {.kind = SCPS_SIGNAL_LINK_DOWN, .until = SCPS_NEVER};
            scps_stack_signal(t->st, scps_stack_now(t->st), &down);
        }
        for (int i = 0; i < 6; i++) {
            at += SEC(outage ? gap[i] : 10);
            expect_sent(t, .at = at, .from = ZERO, .compressed = true, .wire = ip_len(t) + 14);
            if (!outage)
                peer_says(t, at += MS(100), .ack = 1);
        }
        script_run(t, script_now(t) + SEC(1));
        script_free(t);
    }
}

/* The path MTU falls: ICMP quotes a compressed packet, which is recognised by its id; its data is
 * cut to the new size and sent again. */
static void path_mtu(void **x)
{
    struct script *t = compressing(x, false);
    uint8_t pkt[120], *m;
    uint32_t ip = ip_len(t), mtu = t->us.addr.family == 4 ? 600 : 1280;
    struct scps_seg s = {.len = 1, .flags = SCPS_ACK, .seq = 0};
    struct scps_comp_tx tx;

    t->cfg.mss = 1400;
    t->peer.mss = 1400;
    script_connect(t, 0);
    expect_sent(t, .flags = SCPS_SYN);
    uint8_t id = t->last.conn_id;
    uint32_t iss = t->last.seq;
    peer_says(t, MS(100), .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    script_forget_sent(t);
    script_forget_events(t);
    peer_says(t, MS(150), .ack = 1);
    app_writes(t, MS(200), 1412);
    expect_sent(t, .from = 1, .len = 1412, .compressed = true);
    struct scps_ip q = {.src = t->us.addr,
                        .dst = t->them.addr,
                        .version = t->us.addr.family,
                        .proto = SCPS_IPPROTO_SCPS_COMP,
                        .ttl = 60};
    struct scps_ip outer = {.src = t->them.addr,
                            .dst = t->us.addr,
                            .version = q.version,
                            .ttl = 64,
                            .proto = q.version == 6 ? SCPS_IPPROTO_ICMPV6 : SCPS_IPPROTO_ICMP};
    s.seq = iss + 1;
    scps_comp_tx_init(&tx, id, 2, true);
    m = pkt + ip;
    memset(pkt, 0, sizeof pkt);
    m[0] = q.version == 6 ? 2 : 3;
    m[1] = q.version == 6 ? 0 : 4;
    scps_put32(m + 4, mtu);
    size_t len = 8 + scps_ip_build(m + 8, &q, 1420);
    len += scps_comp_build(m + len, &tx, &s, NULL);
    scps_ip_build(pkt, &outer, len);
    uint64_t sum = scps_cksum_add(0, m, len);
    if (q.version == 6)
        sum = scps_cksum_pseudo(sum, &outer.src, &outer.dst, SCPS_IPPROTO_ICMPV6, (uint32_t)len);
    scps_put16(m + 2, scps_cksum_fold(sum));
    assert_int_equal(script_input(t, MS(250), pkt, ip + len), 0);
    uint32_t got = 0;
    while (got < 1412) { /* Each segment fits the new MTU. */
        expect_sent(t, .from = (int64_t)got + 1, .any_len = true, .compressed = true);
        assert_true(t->last.len && ip + 8 + t->last.len <= mtu);
        got += t->last.len;
    }
    peer_says(t, MS(400), .ack = 1413);
    script_free(t);
}

/* docs/SCPS-TP.md section 2.1: the unit of a SNACK is the sender's full segment: MSS + 12 without
 * time stamps, + 4 with them. */
static void snack_unit(void **x)
{
    for (unsigned ts = 0; ts < 2; ts++) {
        struct script *t = compressing(x, ts);
        int unit = ts ? 1004 : 1012;
        t->cfg.snack = true;
        t->peer.caps |= SCPS_CAP_SNACK1;
        script_established(t, MS(100));
        peer_says(t, MS(200), .seq = 1 + 3 * unit, .len = unit);
        expect_sent(t, .ack = 1, .snack = {{0, 3}}, .compressed = true);
        app_writes(t, MS(300), 4 * unit);
        for (int i = 0; i < 4; i++)
            expect_sent(t, .from = 1 + i * unit, .len = unit, .compressed = true);
        peer_says(t, MS(401), .seq = 1, .ack = 1, .snack = {{2, 1}});
        expect_sent(t, .from = 1 + 2 * unit, .len = unit, .compressed = true);
        peer_says(t, MS(500), .seq = 1, .ack = 1 + 4 * unit);
        script_run(t, SEC(2));
        script_forget_sent(t);
        script_free(t);
    }
}

/* docs/SCPS-TP.md section 8.2: a bit says whether a header has time stamps; segments of the
 * reference implementation with records have none. A missing time stamp echoes nothing: an older
 * echo in its place would undo a recovery (RFC 3522 section 3.2) and would be taken for a long
 * round trip. */
static void without_timestamps(void **x)
{
    struct script *t = compressing(x, true);

    t->cfg.init_cwnd_segs = 10;
    script_accepted(t, MS(100)); /* The peer's ACK has time stamps. */
    app_writes(t, SEC(2), 5020);
    for (int i = 0; i < 5; i++)
        expect_sent(t, .from = 1 + i * 1004, .len = 1004, .compressed = true, .has = SCPS_HAS_TS);
    for (int i = 2; i <= 4; i++)
        peer_says(t, SEC(2) + MS(100), .ack = 1, .bare = true, .sack = {{1005, i * 1004 + 1}});
    expect_sent(t, .from = 1, .len = 1004, .compressed = true);
    peer_says(t, SEC(2) + MS(200), .ack = 4017, .bare = true);
    struct scps_info i = script_info(t);
    assert_int_equal(i.spurious, 0);
    assert_in_range(i.last_rtt, MS(99), MS(201));
    assert_true(i.cwnd < 10 * 1004);
    /* RFC 6675 section 4, NextSeg (4): the last segment is resent once. */
    expect_sent(t, .from = 4017, .len = 1004, .compressed = true);
    peer_says(t, SEC(2) + MS(300), .ack = 5021, .bare = true);
    /* Data without time stamps passes PAWS, and the time stamp to echo stays. */
    uint32_t echo = t->last.tsecr;
    peer_says(t, SEC(3), .len = 500, .bare = true);
    peer_says(t, SEC(3), .len = 600, .bare = true);
    expect_sent(t, .ack = 1101, .compressed = true, .has = SCPS_HAS_TS);
    assert_int_equal(t->last.tsecr, echo);
    app_reads(t, SEC(3), 1100);
    script_forget_sent(t);
    script_free(t);
}

/* Fills in a compressed header of the peer with the bits `one`, the window, the acknowledgement
 * number `ack` and the timestamps `tsval` and 0, without a sequence number. Returns its length. */
static size_t unnumbered(uint8_t body[18], uint32_t ack, uint32_t tsval)
{
    body[0] = 0xce;
    body[1] = 0x61; /* TS1, TS2, A */
    scps_put16(body + 2, 60000);
    scps_put32(body + 4, ack);
    scps_put32(body + 8, tsval);
    scps_put32(body + 12, 0);
    scps_put16(body + 16, 0);
    return 18;
}

/* docs/SCPS-TP.md section 8.2: of a header without a sequence number only the acknowledgement is
 * processed, and its number has to lie between SND.UNA and SND.NXT, which a third party that knows
 * the two addresses has to guess. Its timestamp is not stored: one from the future would make PAWS
 * reject all that the peer sends. */
static void a_header_without_a_sequence_number(void **x)
{
    struct script *t = compressing(x, true);
    uint8_t body[18];
    uint32_t una, tsval;

    script_established(t, MS(100));
    peer_says(t, SEC(1), .len = 10);
    app_reads(t, SEC(1), 10);
    script_run(t, SEC(2));
    script_forget_sent(t);
    app_writes(t, SEC(2), 500);
    expect_sent(t, .from = 1, .len = 500, .ack = 11, .compressed = true);
    una = t->last.seq;
    tsval = t->last.tsecr;
    assert_int_equal(compressed(t, SEC(2) + MS(10), body, unnumbered(body, una + 501, tsval), true),
                     SCPS_DROP_BLIND_ACK);
    assert_int_equal(compressed(t, SEC(2) + MS(20), body, unnumbered(body, una - 1, tsval), true),
                     SCPS_DROP_OLD_DUPLICATE);
    assert_int_equal(
        compressed(t, SEC(2) + MS(30), body, unnumbered(body, una, tsval + 1000000), true), 0);
    assert_int_equal(script_sent_count(t), 0);
    assert_int_equal(scps_conn_unacked(t->c), 500);
    peer_says(t, SEC(2) + MS(40), .len = 20, .ack = 501);
    assert_int_equal(scps_conn_readable(t->c), 20);
    app_reads(t, SEC(2) + MS(40), 20);
    script_run(t, SEC(3));
    script_forget_sent(t);
    script_free(t);
}

/* RFC 1122 section 3.2.1.3: "When a host sends any datagram, the IP source address MUST be one of
 * its own IP addresses". The address of a connection is removed, which ends the connection; a
 * compressed segment for it is answered by a reset only when the host has that address again. */
static void no_reset_from_an_address_that_was_removed(void **x)
{
    struct script *t = compressing(x, false);
    unsigned prefix = t->us.addr.family == 6 ? 64 : 24;

    script_established(t, MS(100));
    peer_says(t, SEC(1), .len = 10);
    app_reads(t, SEC(1), 10);
    script_run(t, SEC(2));
    script_forget_sent(t);
    assert_int_equal(scps_stack_remove_addr(t->st, &t->nif, &t->us.addr), 0);
    assert_int_equal(scps_conn_error(t->c), SCPS_ERR_ADDRNOTAVAIL);
    peer_says(t, SEC(3), .len = 10);
    script_run(t, SEC(4));
    assert_int_equal(script_forget_sent(t), 0);
    assert_int_equal(scps_stack_add_addr(t->st, &t->nif, &t->us.addr, prefix), 0);
    peer_says(t, SEC(5), .len = 10);
    expect_sent(t, .flags = SCPS_RST);
    script_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(ids_are_unique_and_rest_after_use),
        SCRIPT_TEST(spoofed_syns_use_up_no_ids),
        SCRIPT_TEST(a_third_pair_of_hosts_waits_for_ids),
        SCRIPT_TEST(ids_are_drawn),
        SCRIPT_TEST(id_zero),
        SCRIPT_TEST(an_id_twice),
        SCRIPT_TEST(an_id_of_a_connection_in_time_wait),
        SCRIPT_TEST(an_id_claimed_in_time_wait),
        SCRIPT_TEST(an_id_twice_by_a_simultaneous_open),
        SCRIPT_TEST(the_id_of_a_simultaneous_open),
        SCRIPT_TEST(the_id_of_a_forged_syn),
        SCRIPT_TEST(no_reset_from_an_address_that_was_removed),
        SCRIPT_TEST(probes_carry_their_sequence_number),
        SCRIPT_TEST(path_mtu),
        SCRIPT_TEST(snack_unit),
        SCRIPT_TEST(without_timestamps),
        SCRIPT_TEST(a_header_without_a_sequence_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
