/* SPDX-License-Identifier: MIT */
/* link/ppp.c: two ends of a PPP link over a line that this file simulates: negotiation, packets,
 * and lines that damage, lose or loop octets or carry none. */
#include "cmocka_all.h"

#include <scps/error.h>
#include <scps/ppp.h>

#include <string.h>

#include "link/hdlc.h"

#define LINE (1 << 16)

struct end {
    struct scps_netif dev, sink; /* dev is the device below the filter, sink the stack above it. */
    struct scps_netif *ppp;
    uint8_t out[LINE]; /* The octets that the end has sent and the other has not yet received. */
    size_t len;
    bool blocked;
    uint8_t got[2048]; /* The last packet that PPP passed up. */
    size_t got_len;
    unsigned packets;
};

static struct end a, b;
static scps_time now;

static int dev_send(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    struct end *e = (struct end *)nif;

    if (e->blocked)
        return SCPS_ERR_AGAIN;
    assert_true(pkt->len + e->len <= LINE);
    memcpy(e->out + e->len, pkt->data, pkt->len);
    e->len += pkt->len;
    return 0;
}

static int sink_recv(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    struct end *e = (struct end *)((char *)nif - offsetof(struct end, sink));

    assert_true(pkt->len + pkt->payload_len <= sizeof e->got);
    memcpy(e->got, pkt->data, pkt->len);
    if (pkt->payload_len)
        memcpy(e->got + pkt->len, pkt->payload, pkt->payload_len);
    e->got_len = pkt->len + pkt->payload_len;
    e->packets++;
    return 0;
}

static const struct scps_netif_ops dev_ops = {.name = "line", .send = dev_send};
static const struct scps_netif_ops sink_ops = {.name = "sink", .recv = sink_recv};

static void open_end(struct end *e, const struct scps_ppp_config *cfg)
{
    int err = 1;

    memset(e, 0, sizeof *e);
    e->dev.ops = &dev_ops;
    e->dev.mtu = 16384;
    e->sink.ops = &sink_ops;
    e->ppp = scps_ppp_new(cfg, NULL, &err);
    assert_non_null(e->ppp);
    assert_int_equal(err, 0);
    scps_netif_push(&e->dev, e->ppp);
    scps_netif_push(e->ppp, &e->sink);
}

static void close_end(struct end *e)
{
    e->ppp->ops->close(e->ppp);
}

/* Passes the octets that `from` has sent to the other end, in pieces of n octets. */
static void deliver(struct end *from, struct end *to, size_t n)
{
    static uint8_t line[LINE];
    size_t len = from->len;

    memcpy(line, from->out, len);
    from->len = 0;
    for (size_t i = 0; i < len; i += n) {
        struct scps_pkt p = {.data = line + i, .len = len - i < n ? len - i : n, .at = now};
        scps_netif_recv(&to->dev, &p);
    }
}

/* Advances the time to `until` while the line connects a and b. */
static void run(scps_time until, size_t piece)
{
    while (now <= until) {
        scps_netif_advance(&a.sink, now);
        scps_netif_advance(&b.sink, now);
        for (unsigned i = 0; i < 100 && (a.len || b.len); i++) {
            deliver(&a, &b, piece);
            deliver(&b, &a, piece);
        }
        assert_true(a.len + b.len == 0); /* Neither end has anything more to send at this time. */
        scps_time next = scps_netif_deadline(&a.sink), other = scps_netif_deadline(&b.sink);
        next = next < other ? next : other;
        assert_true(next > now);
        if (next > until)
            break;
        now = next;
    }
    now = until;
}

static struct scps_ppp_status status(const struct end *e)
{
    struct scps_ppp_status s;

    scps_ppp_get_status(e->ppp, &s);
    return s;
}

static struct scps_ppp_config config(uint64_t seed, const char *local)
{
    struct scps_ppp_config c = scps_ppp_config_default();

    c.seed = seed;
    if (local)
        assert_int_equal(scps_addr_parse(local, &c.local), 0);
    return c;
}

static int setup(void **state)
{
    (void)state;
    now = SCPS_SEC(1);
    return 0;
}

static bool addr_is(const struct scps_addr *addr, const char *text)
{
    struct scps_addr want;

    assert_int_equal(scps_addr_parse(text, &want), 0);
    return scps_addr_equal(addr, &want);
}

/* ---- packets ---- */

/* Builds a TCP segment over IPv4 with n bytes of data, sequence number seq and IP identification
 * id. */
static size_t segment(uint8_t *p, uint32_t seq, uint16_t id, size_t n)
{
    static const uint8_t model[40] = {0x45, 0, 0,  0, 0,    0,    0x40, 0, 64,   6,    0, 0, 10, 0,
                                      0,    1, 10, 0, 0,    2,    4,    0, 0,    80,   0, 0, 0,  0,
                                      0,    0, 0,  9, 0x50, 0x10, 16,   0, 0x12, 0x34, 0, 0};
    uint32_t sum = 0;

    memcpy(p, model, sizeof model);
    p[2] = (uint8_t)((40 + n) >> 8);
    p[3] = (uint8_t)(40 + n);
    p[4] = (uint8_t)(id >> 8);
    p[5] = (uint8_t)id;
    for (unsigned i = 0; i < 4; i++)
        p[24 + i] = (uint8_t)(seq >> (24 - 8 * i));
    for (unsigned i = 0; i < 20; i += 2)
        sum += (uint32_t)(p[i] << 8 | p[i + 1]);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = ~((sum & 0xffff) + (sum >> 16));
    p[10] = (uint8_t)(sum >> 8);
    p[11] = (uint8_t)sum;
    for (size_t i = 0; i < n; i++)
        p[40 + i] = (uint8_t)(seq + i);
    return 40 + n;
}

static int send_from(struct end *e, const uint8_t *p, size_t head, size_t n)
{
    struct scps_pkt pkt = {.data = (uint8_t *)(uintptr_t)p, .len = head, .at = now};

    if (n > head) {
        pkt.payload = p + head;
        pkt.payload_len = n - head;
    }
    return scps_netif_send(e->ppp, &pkt);
}

static void crosses(struct end *from, struct end *to, const uint8_t *p, size_t head, size_t n)
{
    unsigned before = to->packets;

    assert_int_equal(send_from(from, p, head, n), 0);
    deliver(from, to, 7);
    assert_int_equal(to->packets, before + 1);
    assert_int_equal(to->got_len, n);
    assert_memory_equal(to->got, p, n);
}

/* ---- tests ---- */

static void fcs_of_the_standard(void **state)
{
    /* The check value of the CRC of RFC 1662: the FCS of "123456789" is 0x906e. */
    uint8_t frame[11] = "123456789";
    uint16_t fcs = scps_fcs16(0xffff, frame, 9);

    (void)state;
    assert_int_equal((uint16_t)~fcs, 0x906e);
    frame[9] = (uint8_t)~fcs;
    frame[10] = (uint8_t)((uint16_t)~fcs >> 8);
    assert_int_equal(scps_fcs16(0xffff, frame, 11), 0xf0b8);
}

static void opens_with_addresses_and_vj(void **state)
{
    struct scps_ppp_config ca = config(1, "10.0.0.1"), cb = config(2, "10.0.0.2");

    (void)state;
    for (size_t piece = 1; piece < 5000; piece = piece * 7 + 3) {
        now += SCPS_SEC(1);
        open_end(&a, &ca);
        open_end(&b, &cb);
        assert_true(scps_netif_deadline(&a.sink) <= now);
        run(now, piece);
        struct scps_ppp_status s = status(&a), t = status(&b);
        assert_int_equal(s.phase, SCPS_PPP_NETWORK);
        assert_true(s.ipv4 && s.ipv6 && t.ipv4 && t.ipv6);
        assert_true(addr_is(&s.local, "10.0.0.1") && addr_is(&s.remote, "10.0.0.2"));
        assert_true(addr_is(&t.local, "10.0.0.2") && addr_is(&t.remote, "10.0.0.1"));
        assert_memory_equal(s.local_id, t.remote_id, 8);
        assert_memory_equal(t.local_id, s.remote_id, 8);
        assert_memory_not_equal(s.local_id, t.local_id, 8);
        assert_true(s.vj_tx && s.vj_rx && t.vj_tx && t.vj_rx);
        assert_int_equal(s.tx_accm, 0);
        assert_int_equal(s.mtu, 1500);
        assert_int_equal(a.sink.mtu, 1500);
        close_end(&a);
        close_end(&b);
    }
}

static void packets_cross_and_headers_shrink(void **state)
{
    struct scps_ppp_config ca = config(1, "10.0.0.1"), cb = config(2, "10.0.0.2");
    uint8_t p[1600];
    size_t n;

    (void)state;
    open_end(&a, &ca);
    open_end(&b, &cb);
    n = segment(p, 1000, 1, 100);
    assert_int_equal(send_from(&a, p, 40, n), SCPS_ERR_AGAIN);
    run(now, 64);
    for (unsigned i = 0; i < 20; i++) {
        n = segment(p, 1000 + 100 * i, (uint16_t)(1 + i), 100);
        assert_int_equal(send_from(&a, p, i & 1 ? 40 : n, n), 0);
        /* The frame has flag, protocol, 3 octets of header, data, FCS and flag: address and control
         * are left out, and the protocol has one octet. */
        if (i > 0)
            assert_true(a.len <= 1 + 1 + 3 + 100 + 2 + 1 + 8);
        deliver(&a, &b, 7);
        assert_int_equal(b.got_len, n);
        assert_memory_equal(b.got, p, n);
    }
    assert_int_equal(status(&a).vj_compressed, 19);
    assert_int_equal(status(&b).vj_restored, 19);
    n = segment(p, 5000, 40, 1460);
    crosses(&a, &b, p, 40, n);
    assert_int_equal(send_from(&a, p, 40, 1501), SCPS_ERR_MSGSIZE);
    memset(p, 0x7e, 300); /* An IPv6 packet whose octets all are flags (0x7e) has to be escaped. */
    p[0] = 0x60;
    crosses(&b, &a, p, 300, 300);
    p[0] = 0x70;
    assert_int_equal(send_from(&a, p, 300, 300), SCPS_ERR_UNREACH);
    close_end(&a);
    close_end(&b);
}

/* RFC 1144 section 4: after a damaged frame the receiver drops only compressed packets that refer
 * to it, and delivers no wrong packet. */
static void vj_drops_packets_after_a_damaged_frame(void **state)
{
    struct scps_ppp_config ca = config(1, "10.0.0.1"), cb = config(2, "10.0.0.2");
    uint8_t p[256];
    unsigned packets;

    (void)state;
    open_end(&a, &ca);
    open_end(&b, &cb);
    run(now, 64);
    crosses(&a, &b, p, 40, segment(p, 1000, 1, 50));
    crosses(&a, &b, p, 40, segment(p, 1050, 2, 50));
    packets = b.packets;
    send_from(&a, p, 40, segment(p, 1100, 3, 50));
    a.out[10] ^= 1;
    deliver(&a, &b, 64);
    send_from(&a, p, 40, segment(p, 1150, 4, 50));
    deliver(&a, &b, 64);
    assert_int_equal(b.packets, packets);
    assert_int_equal(status(&b).drops[SCPS_PPP_DROP_FCS], 1);
    assert_int_equal(status(&b).drops[SCPS_PPP_DROP_VJ], 1);
    /* The retransmission is sent with its full header. */
    crosses(&a, &b, p, 40, segment(p, 1100, 5, 50));
    crosses(&a, &b, p, 40, segment(p, 1150, 6, 50));
    close_end(&a);
    close_end(&b);
}

static void a_frame_refused_by_the_device_is_rebuilt(void **state)
{
    struct scps_ppp_config ca = config(1, "10.0.0.1"), cb = config(2, "10.0.0.2");
    uint8_t p[256];

    (void)state;
    open_end(&a, &ca);
    open_end(&b, &cb);
    run(now, 64);
    crosses(&a, &b, p, 40, segment(p, 1000, 1, 50));
    a.blocked = true;
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(send_from(&a, p, 40, segment(p, 1050, 2, 50)), SCPS_ERR_AGAIN);
    a.blocked = false;
    crosses(&a, &b, p, 40, segment(p, 1050, 2, 50));
    assert_int_equal(status(&a).vj_compressed, 1);
    close_end(&a);
    close_end(&b);
}

static void the_peer_gives_an_address(void **state)
{
    struct scps_ppp_config ca = config(1, NULL), cb = config(2, "10.0.0.2");

    (void)state;
    scps_addr_parse("10.9.9.9", &cb.remote);
    ca.ipv6 = false; /* End a rejects IPV6CP of end b. */
    ca.vj = false;
    open_end(&a, &ca);
    open_end(&b, &cb);
    run(now, 64);
    assert_true(status(&a).ipv4 && !status(&a).ipv6 && !status(&b).ipv6);
    struct scps_ppp_status s = status(&a), t = status(&b);
    assert_true(addr_is(&s.local, "10.9.9.9") && addr_is(&t.remote, "10.9.9.9"));
    assert_true(!s.vj_tx && !t.vj_tx);
    assert_int_equal(s.drops[SCPS_PPP_DROP_PROTOCOL], 1);
    close_end(&a);
    close_end(&b);
}

static void negotiation_that_cannot_succeed(void **state)
{
    struct scps_ppp_config ca = config(1, NULL), cb = config(2, NULL);

    (void)state;
    ca.ipv6 = cb.ipv6 = false;
    open_end(&a, &ca); /* Neither end has an IPv4 address. */
    open_end(&b, &cb);
    run(now + SCPS_SEC(60), 64);
    assert_int_equal(status(&a).phase, SCPS_PPP_DEAD);
    assert_int_equal(status(&b).phase, SCPS_PPP_DEAD);
    assert_true(status(&a).why == SCPS_PPP_WHY_NO_ADDRESS ||
                status(&b).why == SCPS_PPP_WHY_NO_ADDRESS);
    close_end(&a);
    close_end(&b);

    /* End b demands that end a has another address. */
    ca = config(1, "10.0.0.1"), cb = config(2, "10.0.0.2");
    ca.ipv6 = cb.ipv6 = false;
    scps_addr_parse("10.9.9.9", &cb.remote);
    cb.remote_strict = true;
    open_end(&a, &ca);
    open_end(&b, &cb);
    run(now + SCPS_SEC(60), 64);
    assert_int_equal(status(&a).phase, SCPS_PPP_DEAD);
    assert_int_equal(status(&a).why, SCPS_PPP_WHY_ADDRESS_REFUSED);
    close_end(&a);
    close_end(&b);
    /* Both ends are configured with the same address, and accept no other. */
    ca = config(1, "10.0.0.1"), cb = config(2, "10.0.0.1");
    ca.ipv6 = cb.ipv6 = false;
    open_end(&a, &ca);
    open_end(&b, &cb);
    run(now + SCPS_SEC(60), 64);
    for (int i = 0; i < 2; i++) {
        struct scps_ppp_status s = status(i ? &a : &b);
        assert_int_equal(s.phase, SCPS_PPP_DEAD);
        assert_int_equal(s.why, SCPS_PPP_WHY_SAME_ADDRESS);
        assert_true(addr_is(&s.local, "10.0.0.1") && addr_is(&s.remote, "10.0.0.1"));
    }
    close_end(&a);
    close_end(&b);
    /* One end is configured for IPv4 only, the other for IPv6 only. */
    ca = config(1, "10.0.0.1"), cb = config(2, NULL);
    ca.ipv6 = cb.ipv4 = false;
    open_end(&a, &ca);
    open_end(&b, &cb);
    run(now + SCPS_SEC(60), 64);
    assert_int_equal(status(&a).phase, SCPS_PPP_DEAD);
    assert_int_equal(status(&a).why, SCPS_PPP_WHY_NO_PROTOCOL);
    close_end(&a);
    close_end(&b);
}

static void sizes_and_slots_are_kept_to(void **state)
{
    struct scps_ppp_config ca = config(1, "10.0.0.1"), cb = config(2, "10.0.0.2");
    uint8_t p[1600];

    (void)state;
    ca.mru = 3000;
    cb.mru = 296;
    cb.vj_slots = 3;
    cb.accm = 0x000a0000;
    cb.compress_fields = false;
    open_end(&a, &ca);
    open_end(&b, &cb);
    run(now, 64);
    assert_int_equal(status(&a).mtu, 296);
    assert_int_equal(status(&b).mtu, 296);
    assert_int_equal(status(&a).tx_accm, 0x000a0000);
    crosses(&a, &b, p, 40, segment(p, 0x11131113, 1, 256));
    assert_int_equal(send_from(&a, p, 40, 297), SCPS_ERR_MSGSIZE);
    close_end(&a);
    close_end(&b);
}

static void a_looped_line_is_noticed(void **state)
{
    struct scps_ppp_config ca = config(1, "10.0.0.1");

    (void)state;
    open_end(&a, &ca);
    for (unsigned i = 0; i < 60; i++) {
        scps_netif_advance(&a.sink, now);
        for (unsigned j = 0; j < 100 && a.len; j++)
            deliver(&a, &a, 64);
        assert_int_equal(a.len, 0);
        now += SCPS_SEC(1);
    }
    assert_int_equal(status(&a).phase, SCPS_PPP_DEAD);
    assert_int_equal(status(&a).why, SCPS_PPP_WHY_LOOPED);
    assert_int_equal(scps_netif_deadline(&a.sink), SCPS_NEVER);
    close_end(&a);
}

/* A line that begins to loop while the link is open is detected by the magic number in the echoes
 * (RFC 1661 section 6.4). */
static void a_line_that_loops_later_is_noticed(void **state)
{
    struct scps_ppp_config ca = config(1, "10.0.0.1"), cb = config(2, "10.0.0.2");

    (void)state;
    ca.echo_interval = SCPS_SEC(5);
    open_end(&a, &ca);
    open_end(&b, &cb);
    run(now + SCPS_SEC(30), 64);
    assert_int_equal(status(&a).echoes_sent, 6);
    assert_int_equal(status(&a).echoes_answered, 6);
    for (unsigned i = 0; i < 60; i++) {
        scps_netif_advance(&a.sink, now);
        for (unsigned j = 0; j < 100 && a.len; j++)
            deliver(&a, &a, 64);
        now += SCPS_SEC(1);
    }
    assert_int_equal(status(&a).why, SCPS_PPP_WHY_LOOPED);
    assert_true(status(&a).drops[SCPS_PPP_DROP_LOOPED] > 0);
    close_end(&a);
    close_end(&b);
}

/* Times near SCPS_NEVER do not overflow: such a time is later than any timer that runs, and not
 * later than one that does not run. */
static void times_near_never(void **state)
{
    static const scps_time last[] = {SCPS_NEVER, SCPS_NEVER - 1, SCPS_NEVER / 2};
    struct scps_ppp_config ca = config(1, "10.0.0.1"), cb = config(2, "10.0.0.2");

    (void)state;
    ca.echo_interval = SCPS_SEC(5);
    for (unsigned i = 0; i < 3; i++) {
        open_end(&a, &ca);
        open_end(&b, &cb);
        run(now + SCPS_SEC(1), 64);
        uint64_t asked = status(&a).echoes_sent, frames = status(&b).tx_frames;
        scps_netif_advance(&a.sink, last[i]);
        /* The echo request was due at this time. */
        assert_int_equal(status(&a).echoes_sent, asked + 1);
        assert_true(scps_netif_deadline(&a.sink) > SCPS_NEVER / 2);
        scps_netif_advance(&b.sink, last[i]);
        /* End b sends no echo requests, so it has no deadline. */
        assert_int_equal(scps_netif_deadline(&b.sink), SCPS_NEVER);
        assert_int_equal(status(&b).tx_frames, frames);
        struct scps_pkt p = {.data = a.out, .len = a.len, .at = last[i]};
        scps_netif_recv(&b.dev, &p);
        assert_int_equal(status(&b).tx_frames, frames + 1); /* End b has sent the echo reply. */
        scps_ppp_shut(a.ppp, last[i]);
        assert_true(scps_netif_deadline(&a.sink) > SCPS_NEVER / 2);
        close_end(&a);
        close_end(&b);
    }
}

static void a_silent_line_is_given_up(void **state)
{
    struct scps_ppp_config ca = config(1, "10.0.0.1");

    (void)state;
    for (int passive = 0; passive < 2; passive++) {
        size_t octets = 0;
        ca.passive = passive;
        open_end(&a, &ca);
        scps_time begin = now;
        while (scps_netif_deadline(&a.sink) != SCPS_NEVER) {
            if (scps_netif_deadline(&a.sink) > now)
                now = scps_netif_deadline(&a.sink);
            scps_netif_advance(&a.sink, now);
            octets += a.len;
            a.len = 0;
        }
        /* Max-Configure: ten requests are sent, three seconds apart. */
        assert_int_equal(now - begin, SCPS_SEC(30));
        assert_int_equal(status(&a).why, SCPS_PPP_WHY_NO_ANSWER);
        assert_int_equal(status(&a).phase, passive ? SCPS_PPP_ESTABLISH : SCPS_PPP_DEAD);
        assert_true(octets < 10 * 100);
        if (passive) { /* A passive end accepts a peer that comes later. */
            struct scps_ppp_config cb = config(2, "10.0.0.2");
            open_end(&b, &cb);
            run(now, 64);
            assert_true(status(&a).ipv4 && status(&b).ipv4);
            close_end(&b);
        }
        close_end(&a);
    }
}

static void the_peer_ends_and_begins_again(void **state)
{
    struct scps_ppp_config ca = config(1, "10.0.0.1"), cb = config(2, "10.0.0.2");
    uint8_t p[256];

    (void)state;
    ca.passive = true;
    open_end(&a, &ca);
    open_end(&b, &cb);
    run(now, 64);
    scps_ppp_shut(b.ppp, now);
    run(now + SCPS_SEC(10), 64);
    assert_int_equal(status(&b).phase, SCPS_PPP_DEAD);
    assert_int_equal(status(&b).why, SCPS_PPP_WHY_CLOSED);
    assert_int_equal(status(&a).why, SCPS_PPP_WHY_PEER_CLOSED);
    assert_false(status(&a).ipv4);
    assert_int_equal(send_from(&a, p, 40, segment(p, 1, 1, 9)), SCPS_ERR_AGAIN);
    close_end(&b);
    cb.seed = 3;
    open_end(&b, &cb);
    run(now + SCPS_SEC(10), 64);
    assert_true(status(&a).ipv4 && status(&b).ipv4);
    crosses(&a, &b, p, 40, segment(p, 1, 1, 9));
    /* End b disappears without a Terminate-Request; a new peer then comes on a link that end a
     * takes for open. */
    close_end(&b);
    b.len = 0;
    cb.seed = 4;
    open_end(&b, &cb);
    run(now + SCPS_SEC(10), 64);
    assert_true(status(&a).ipv4 && status(&b).ipv4);
    crosses(&b, &a, p, 40, segment(p, 1, 1, 9));
    crosses(&a, &b, p, 40, segment(p, 1, 1, 9));
    close_end(&a);
    close_end(&b);
}

/* A peer ends the link, and the next one begins at once: a passive end does not keep it waiting for
 * a Restart timer. An end that is not passive does not answer it. */
static void the_next_peer_does_not_wait(void **state)
{
    struct scps_ppp_config ca = config(1, "10.0.0.1"), cb = config(2, "10.0.0.2");

    (void)state;
    for (int passive = 1; passive >= 0; passive--) {
        ca.passive = passive;
        open_end(&a, &ca);
        open_end(&b, &cb);
        run(now, 64);
        assert_true(status(&a).ipv4);
        scps_ppp_shut(b.ppp, now);
        run(now, 64);
        assert_int_equal(status(&a).why, SCPS_PPP_WHY_PEER_CLOSED);
        close_end(&b);
        cb.seed++;
        open_end(&b, &cb);
        run(now, 64);
        assert_int_equal(status(&a).ipv4 && status(&b).ipv4, passive);
        close_end(&a);
        close_end(&b);
    }
}

static void a_peer_that_stops_answering(void **state)
{
    struct scps_ppp_config ca = config(1, "10.0.0.1"), cb = config(2, "10.0.0.2");

    (void)state;
    ca.echo_interval = SCPS_SEC(5);
    open_end(&a, &ca);
    open_end(&b, &cb);
    run(now, 64);
    while (scps_netif_deadline(&a.sink) != SCPS_NEVER) {
        now = scps_netif_deadline(&a.sink);
        scps_netif_advance(&a.sink, now);
        a.len = 0;
    }
    assert_int_equal(status(&a).phase, SCPS_PPP_DEAD);
    assert_int_equal(status(&a).why, SCPS_PPP_WHY_ECHO_LOST);
    close_end(&a);
    close_end(&b);
}

/* RFC 1661 section 4.3: the loss of the line is the event Down. It does not close a passive end,
 * which accepts a peer that comes later. */
static void a_passive_end_survives_a_lost_peer(void **state)
{
    struct scps_ppp_config ca = config(1, "10.0.0.1"), cb = config(2, "10.0.0.2");
    uint8_t p[256];

    (void)state;
    ca.echo_interval = SCPS_SEC(5);
    ca.passive = true;
    open_end(&a, &ca);
    open_end(&b, &cb);
    run(now, 64);
    while (scps_netif_deadline(&a.sink) != SCPS_NEVER) {
        now = scps_netif_deadline(&a.sink);
        scps_netif_advance(&a.sink, now);
        a.len = 0;
    }
    assert_int_equal(status(&a).phase, SCPS_PPP_ESTABLISH);
    assert_int_equal(status(&a).why, SCPS_PPP_WHY_ECHO_LOST);
    assert_int_equal(a.ppp->flags & SCPS_NETIF_GONE, 0);
    close_end(&b);
    cb.seed = 3;
    open_end(&b, &cb);
    run(now + SCPS_SEC(2), 64);
    assert_true(status(&a).ipv4 && status(&b).ipv4);
    assert_int_equal(status(&a).why, SCPS_PPP_WHY_NONE);
    crosses(&b, &a, p, 40, segment(p, 1, 1, 9));
    scps_ppp_shut(a.ppp, now); /* After scps_ppp_shut() an end stays closed, passive or not. */
    run(now + SCPS_SEC(10), 64);
    assert_int_equal(status(&a).phase, SCPS_PPP_DEAD);
    assert_true(a.ppp->flags & SCPS_NETIF_GONE);
    close_end(&a);
    close_end(&b);
}

/* A third of all octets is damaged or lost while the ends negotiate: they agree as soon as the
 * noise ends. */
static void negotiation_with_damaged_octets(void **state)
{
    struct scps_ppp_config ca = config(1, "10.0.0.1"), cb = config(2, "10.0.0.2");
    uint32_t noise = 12345;

    (void)state;
    ca.max_configure = cb.max_configure = 100;
    open_end(&a, &ca);
    open_end(&b, &cb);
    for (unsigned i = 0; i < 200; i++) {
        struct end *e = i & 1 ? &a : &b;
        scps_netif_advance(&e->sink, now);
        for (size_t j = 0; j < e->len; j++)
            if ((noise = noise * 1664525 + 1013904223) >> 24 < 8)
                e->out[j] ^= (uint8_t)(noise >> 16);
        deliver(e, e == &a ? &b : &a, 5);
        now += SCPS_MS(200);
    }
    run(now + SCPS_SEC(30), 64);
    assert_true(status(&a).ipv4 && status(&b).ipv4 && status(&a).ipv6 && status(&b).ipv6);
    close_end(&a);
    close_end(&b);
}

/* Sends one frame with the octets of `info` (from the address field on) to end a. */
static void put_frame(const uint8_t *info, size_t n)
{
    struct scps_hdlc_tx t = {.out = b.out, .accm = UINT32_MAX};

    scps_hdlc_begin(&t);
    scps_hdlc_put(&t, info, n);
    scps_hdlc_end(&t);
    b.len = t.len;
    deliver(&b, &a, 64);
}

/* Copies the first frame that end a has sent to buf, without flags, escapes and FCS. Returns its
 * length. */
static size_t first_frame(uint8_t *buf, size_t cap)
{
    const uint8_t *p = a.out;
    struct scps_hdlc_rx rx;
    enum scps_hdlc_got got;

    scps_hdlc_rx_init(&rx, buf, cap);
    do
        got = scps_hdlc_take(&rx, &p, a.out + a.len);
    while (got == SCPS_HDLC_MORE && p < a.out + a.len);
    assert_int_equal(got, SCPS_HDLC_FRAME);
    a.len = 0;
    return rx.len;
}

/* RFC 1662 section 4.2: "prior to FCS computation, each octet with value less than hexadecimal 0x20
 * is checked. If it is flagged in the receiving ACCM, it is simply removed". Others belong to the
 * frame. */
static void control_characters_of_the_line_are_removed(void **state)
{
    static const uint8_t info[] = {0xff, 3, 0, 0x21, 0x13, 7};
    const uint32_t accms[] = {UINT32_MAX, UINT32_C(1) << 0x11, UINT32_C(1) << 0x13};

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        uint8_t sent[64], line[64], buf[64];
        struct scps_hdlc_tx t = {.out = sent, .accm = UINT32_MAX};
        const uint8_t *p = line;
        struct scps_hdlc_rx rx;

        scps_hdlc_begin(&t);
        scps_hdlc_put(&t, info, sizeof info);
        scps_hdlc_end(&t);
        memcpy(line, sent, 3); /* the flag, 0xff and the escape before the octet 3 */
        line[3] = 0x11;        /* The line inserts XON there. */
        memcpy(line + 4, sent + 3, t.len - 3);
        scps_hdlc_rx_init(&rx, buf, sizeof buf);
        rx.accm = accms[i];
        if (i == 2) { /* XON is not among the characters that the line may insert. */
            assert_int_equal(scps_hdlc_take(&rx, &p, line + t.len + 1), SCPS_HDLC_BAD_FCS);
            continue;
        }
        assert_int_equal(scps_hdlc_take(&rx, &p, line + t.len + 1), SCPS_HDLC_FRAME);
        assert_int_equal(rx.len, sizeof info);
        assert_memory_equal(buf, info, sizeof info);
    }
}

/* RFC 1661 section 5.2: the options of a Configure-Ack are exactly those of the request. */
static void an_ack_of_other_options_is_no_ack(void **state)
{
    struct scps_ppp_config ca = config(1, "10.0.0.1");
    uint8_t frame[64];
    size_t n;

    (void)state;
    open_end(&a, &ca);
    open_end(&b, &ca);
    scps_netif_advance(&a.sink, now);
    n = first_frame(frame, sizeof frame);
    assert_int_equal(frame[4], 1); /* Code 1 is Configure-Request. */
    frame[4] = 2;                  /* Code 2 is Configure-Ack. */
    frame[10] ^= 1;                /* The test changes a bit in the value of the first option. */
    put_frame(frame, n);
    assert_int_equal(status(&a).drops[SCPS_PPP_DROP_UNEXPECTED], 1);
    frame[10] ^= 1;
    put_frame(frame, n);
    assert_int_equal(status(&a).drops[SCPS_PPP_DROP_UNEXPECTED], 1);
    close_end(&a);
    close_end(&b);
}

/* Advances the time to that of the next timer of end a, and drops what it sends. Returns the code
 * of the first packet that it has sent; 0: none. */
static uint8_t next_timer(void)
{
    uint8_t frame[64];

    now = scps_netif_deadline(&a.sink);
    scps_netif_advance(&a.sink, now);
    if (!a.len)
        return 0;
    first_frame(frame, sizeof frame);
    return frame[4];
}

/* RFC 1661 section 4.6: Max-Terminate "SHOULD default to two (2) transmissions". The peer answers
 * no Terminate-Request, so the link ends when the Restart timer expires after the second. */
static void a_peer_that_does_not_answer_the_end(void **state)
{
    struct scps_ppp_config ca = config(1, "10.0.0.1"), cb = config(2, "10.0.0.2");
    scps_time begin;

    (void)state;
    open_end(&a, &ca);
    open_end(&b, &cb);
    run(now, 64);
    begin = now;
    scps_ppp_shut(a.ppp, now);
    a.len = 0;
    assert_int_equal(next_timer(), 5); /* Code 5 is Terminate-Request. */
    assert_int_equal(status(&a).phase, SCPS_PPP_TERMINATE);
    assert_int_equal(next_timer(), 0);
    assert_int_equal(now - begin, 2 * ca.restart);
    assert_int_equal(status(&a).phase, SCPS_PPP_DEAD);
    close_end(&a);
    close_end(&b);
}

/* RFC 1661 section 4.1: in state Ack-Rcvd event TO+ leads to Req-Sent, because the request that is
 * repeated has to be acknowledged, too. The peer's request alone opens nothing then. */
static void a_repeated_request_needs_an_ack(void **state)
{
    struct scps_ppp_config ca = config(1, "10.0.0.1");
    uint8_t request[] = {0xff, 3, 0xc0, 0x21, 1, 9, 0, 4}, frame[64];
    size_t n;

    (void)state;
    open_end(&a, &ca);
    open_end(&b, &ca);
    scps_netif_advance(&a.sink, now);
    n = first_frame(frame, sizeof frame);
    frame[4] = 2; /* Code 2 is Configure-Ack. */
    put_frame(frame, n);
    assert_int_equal(next_timer(), 1); /* Code 1 is Configure-Request. */
    put_frame(request, sizeof request);
    first_frame(frame, sizeof frame);
    assert_int_equal(frame[4], 2);
    assert_int_equal(status(&a).phase, SCPS_PPP_ESTABLISH);
    close_end(&a);
    close_end(&b);
}

/* RFC 1661 section 4.6: if the peer repeats its request, its option is rejected after max_failure
 * Configure-Naks. */
static void configure_reject_after_max_failure(void **state)
{
    struct scps_ppp_config ca = config(1, "10.0.0.1");
    uint8_t mru_of_100[] = {0xff, 3, 0xc0, 0x21, 1, 0, 0, 8, 1, 4, 0, 100}, frame[64];

    (void)state;
    open_end(&a, &ca);
    open_end(&b, &ca);
    scps_netif_advance(&a.sink, now);
    a.len = 0;
    for (uint8_t i = 0; i < 8; i++) {
        mru_of_100[5] = i;
        put_frame(mru_of_100, sizeof mru_of_100);
        first_frame(frame, sizeof frame);
        /* Code 3 is Configure-Nak, code 4 Configure-Reject. */
        assert_int_equal(frame[4], i < 5 ? 3 : 4);
        assert_int_equal(frame[5], i);
        if (i == 5)
            break;
    }
    close_end(&a);
    close_end(&b);
}

/* Gives end a `times` frames of n octets. Returns the number of octets that it sent. */
static size_t flood(const uint8_t *frame, size_t n, unsigned times)
{
    size_t sent = 0;

    for (unsigned i = 0; i < times; i++) {
        put_frame(frame, n);
        sent += a.len;
        a.len = 0;
    }
    return sent;
}

/* A peer's packets that ask for replies, Echo-Requests, unknown codes and protocols, and requests
 * to negotiate: 8192 octets of replies at once, then 1000 octets/s, or 1/16 of the line's rate.
 * The link is usable afterwards. */
static void a_flood_of_requests(void **state)
{
    static const uint8_t packets[][16] = {
        {0xff, 3, 0xc0, 0x21, 9, 1, 0, 12, 0, 0, 0, 0, 1, 2, 3, 4},   /* Echo-Request */
        {0xff, 3, 0xc0, 0x21, 99, 1, 0, 12, 0, 0, 0, 0, 1, 2, 3, 4},  /* an unknown code */
        {0xff, 3, 0x40, 0x21, 1, 1, 0, 12, 0, 0, 0, 0, 1, 2, 3, 4},   /* an unknown protocol */
        {0xff, 3, 0x80, 0x21, 1, 1, 0, 10, 3, 6, 10, 0, 0, 2, 0, 0},  /* IPCP Configure-Request */
        {0xff, 3, 0x80, 0x21, 1, 1, 0, 8, 99, 4, 10, 0, 0, 0, 0, 0}}; /* an option to reject */
    struct scps_ppp_config ca = config(1, "10.0.0.1"), cb = config(2, "10.0.0.2");
    uint8_t p[256];

    (void)state;
    open_end(&a, &ca);
    open_end(&b, &cb);
    run(now, 64);
    for (size_t i = 0; i < sizeof packets / sizeof *packets; i++) {
        now += SCPS_SEC(10);
        assert_in_range(flood(packets[i], 16, 5000), 4000, 3 * 8192); /* with framing */
    }
    assert_true(status(&a).drops[SCPS_PPP_DROP_LIMIT] > 15000);
    for (unsigned rate = 0; rate <= 192; rate += 192) {
        size_t sent = 0;
        a.dev.rate = rate; /* 0: unknown; 192 octets/s: an Echo-Reply of 12 octets a second */
        flood(packets[0], 16, 1000);
        for (int i = 0; i < 1000; i++, now += SCPS_MS(10))
            sent += flood(packets[0], 16, 5);
        assert_in_range(sent, rate ? 9 * 16 : 9000, rate ? 11 * 40 : 30000);
    }
    a.dev.rate = 0;
    now += SCPS_SEC(20);
    run(now + SCPS_SEC(20), 64);
    assert_true(status(&a).ipv4 && status(&b).ipv4);
    crosses(&b, &a, p, 40, segment(p, 1, 1, 9));
    close_end(&a);
    close_end(&b);
}

static void invalid_frames_are_counted_by_reason(void **state)
{
    struct scps_ppp_config ca = config(1, "10.0.0.1"), cb = config(2, "10.0.0.2");
    static const struct {
        uint8_t octets[16];
        size_t n;
        enum scps_ppp_drop why;
    } odd[] = {
        {{0x7e, 0xff, 0x03, 0x7e}, 4, SCPS_PPP_DROP_SHORT},
        {{0x7e, 0xff, 0x03, 0xc0, 0x21, 1, 1, 0x7d, 0x7e}, 9, SCPS_PPP_DROP_ABORTED},
        {{0x7e, 0xff, 0x03, 0xc0, 0x21, 1, 1, 0, 4, 0, 0, 0x7e}, 12, SCPS_PPP_DROP_FCS},
    };
    static const struct {
        uint8_t info[12];
        size_t n;
        enum scps_ppp_drop why;
    } frames[] = {
        {{0xff, 0x03, 0xc0, 0x20}, 4, SCPS_PPP_DROP_HEADER},
        {{0xff, 0x03, 0xc0, 0x21, 9, 1, 0}, 7, SCPS_PPP_DROP_CONTROL},
        {{0xff, 0x03, 0xc0, 0x21, 1, 1, 0, 9, 1}, 9, SCPS_PPP_DROP_CONTROL},
        {{0xff, 0x03, 0xc0, 0x21, 1, 1, 0, 6, 1, 0}, 10, SCPS_PPP_DROP_CONTROL},
        {{0xff, 0x03, 0xc0, 0x21, 2, 200, 0, 4}, 8, SCPS_PPP_DROP_UNEXPECTED},
        {{0xff, 0x03, 0xc0, 0x23, 1, 1, 0, 4}, 8, SCPS_PPP_DROP_PROTOCOL},
        {{0x2d, 0, 0, 0}, 4, SCPS_PPP_DROP_VJ},
        {{0x2f, 0x45}, 2, SCPS_PPP_DROP_VJ},
    };
    static uint8_t big[4000];

    (void)state;
    open_end(&a, &ca);
    open_end(&b, &cb);
    run(now, 64);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        uint64_t before = status(&a).drops[odd[i].why];
        memcpy(b.out, odd[i].octets, b.len = odd[i].n);
        deliver(&b, &a, 64);
        assert_int_equal(status(&a).drops[odd[i].why], before + 1);
    }
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        struct scps_hdlc_tx t = {.out = b.out};
        uint64_t before = status(&a).drops[frames[i].why];
        scps_hdlc_begin(&t);
        scps_hdlc_put(&t, frames[i].info, frames[i].n);
        scps_hdlc_end(&t);
        b.len = t.len;
        deliver(&b, &a, 64);
        assert_int_equal(status(&a).drops[frames[i].why], before + 1);
        a.len = 0;
    }
    struct scps_hdlc_tx t = {.out = b.out};
    scps_hdlc_begin(&t);
    scps_hdlc_put(&t, big, sizeof big);
    scps_hdlc_end(&t);
    b.len = t.len;
    deliver(&b, &a, 64);
    assert_int_equal(status(&a).drops[SCPS_PPP_DROP_LONG], 1);
    assert_true(status(&a).ipv4); /* The link is still open. */
    close_end(&a);
    close_end(&b);
}

static void configurations_out_of_range(void **state)
{
    struct scps_ppp_config ok = scps_ppp_config_default(), c;
    int err = 0;

    (void)state;
#define REFUSED(field, value)                                                                      \
    c = ok;                                                                                        \
    c.field = value;                                                                               \
    assert_null(scps_ppp_new(&c, NULL, &err));                                                     \
    assert_int_equal(err, SCPS_ERR_RANGE)
    REFUSED(mru, 127);
    REFUSED(mru, 16385);
    REFUSED(vj_slots, 2);
    REFUSED(vj_slots, 17);
    REFUSED(restart, 0);
    REFUSED(max_configure, 0);
    REFUSED(max_terminate, 0);
    REFUSED(max_failure, 0);
    REFUSED(echo_interval, -1);
    REFUSED(local.family, 6);
    REFUSED(remote.family, 6);
    REFUSED(remote_strict, true);
    c = ok;
    c.ipv4 = c.ipv6 = false;
    assert_null(scps_ppp_new(&c, NULL, NULL));
    for (int i = 0; i <= SCPS_PPP_WHY_COUNT; i++)
        assert_true(strlen(scps_ppp_why_text((enum scps_ppp_why)i)) > 5);
    for (int i = 0; i <= SCPS_PPP_DROP_COUNT; i++)
        assert_true(strlen(scps_ppp_drop_text((enum scps_ppp_drop)i)) > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(fcs_of_the_standard, setup),
        cmocka_unit_test_setup(opens_with_addresses_and_vj, setup),
        cmocka_unit_test_setup(packets_cross_and_headers_shrink, setup),
        cmocka_unit_test_setup(vj_drops_packets_after_a_damaged_frame, setup),
        cmocka_unit_test_setup(a_frame_refused_by_the_device_is_rebuilt, setup),
        cmocka_unit_test_setup(the_peer_gives_an_address, setup),
        cmocka_unit_test_setup(negotiation_that_cannot_succeed, setup),
        cmocka_unit_test_setup(sizes_and_slots_are_kept_to, setup),
        cmocka_unit_test_setup(a_looped_line_is_noticed, setup),
        cmocka_unit_test_setup(a_line_that_loops_later_is_noticed, setup),
        cmocka_unit_test_setup(times_near_never, setup),
        cmocka_unit_test_setup(a_silent_line_is_given_up, setup),
        cmocka_unit_test_setup(the_peer_ends_and_begins_again, setup),
        cmocka_unit_test_setup(the_next_peer_does_not_wait, setup),
        cmocka_unit_test_setup(a_peer_that_stops_answering, setup),
        cmocka_unit_test_setup(a_passive_end_survives_a_lost_peer, setup),
        cmocka_unit_test_setup(negotiation_with_damaged_octets, setup),
        cmocka_unit_test_setup(control_characters_of_the_line_are_removed, setup),
        cmocka_unit_test_setup(an_ack_of_other_options_is_no_ack, setup),
        cmocka_unit_test_setup(a_peer_that_does_not_answer_the_end, setup),
        cmocka_unit_test_setup(a_repeated_request_needs_an_ack, setup),
        cmocka_unit_test_setup(configure_reject_after_max_failure, setup),
        cmocka_unit_test_setup(a_flood_of_requests, setup),
        cmocka_unit_test_setup(invalid_frames_are_counted_by_reason, setup),
        cmocka_unit_test_setup(configurations_out_of_range, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
