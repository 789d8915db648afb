/* SPDX-License-Identifier: MIT */
/* link/ether.c: stations on an Ethernet that this file simulates. The tests check who asks for
 * which address, what is kept meanwhile, how long an answer is used, and that wrong frames are
 * refused. */
#include "cmocka_all.h"

#include <scps/error.h>
#include <scps/ether.h>

#include <stdio.h>
#include <string.h>

struct station {
    struct scps_netif dev, sink;
    struct scps_netif *ether;
    struct {
        uint8_t octets[1600];
        size_t len;
    } out[16]; /* Frames that the station has sent and nobody has received yet. */
    unsigned n;
    uint8_t got[1600];
    size_t got_len;
    unsigned packets;
};

static struct station a, b;
static scps_time now;

static int dev_send(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    struct station *s = (struct station *)nif;

    assert_true(s->n < 16 && pkt->len + pkt->payload_len <= 1514);
    memcpy(s->out[s->n].octets, pkt->data, pkt->len);
    if (pkt->payload_len)
        memcpy(s->out[s->n].octets + pkt->len, pkt->payload, pkt->payload_len);
    s->out[s->n++].len = pkt->len + pkt->payload_len;
    return 0;
}

static int sink_recv(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    struct station *s = (struct station *)((char *)nif - offsetof(struct station, sink));

    memcpy(s->got, pkt->data, pkt->len);
    s->got_len = pkt->len;
    s->packets++;
    return 0;
}

static const struct scps_netif_ops dev_ops = {.name = "wire", .send = dev_send};
static const struct scps_netif_ops sink_ops = {.name = "sink", .recv = sink_recv};

static struct scps_ether_config config(uint8_t id)
{
    struct scps_ether_config c = scps_ether_config_default();
    char text[40];

    memcpy(c.mac, (uint8_t[6]){2, 0, 0, 0, 0, id}, 6);
    snprintf(text, sizeof text, "10.0.0.%d", id);
    scps_addr_parse(text, &c.addr[0]);
    snprintf(text, sizeof text, "fd00::%d", id);
    scps_addr_parse(text, &c.addr[1]);
    c.prefix[0] = 24;
    c.prefix[1] = 64;
    c.n = 2;
    return c;
}

static void open_station(struct station *s, const struct scps_ether_config *c)
{
    memset(s, 0, sizeof *s);
    s->dev.ops = &dev_ops;
    s->dev.mtu = 1514;
    s->sink.ops = &sink_ops;
    s->ether = scps_ether_new(c, NULL, NULL);
    assert_non_null(s->ether);
    scps_netif_push(&s->dev, s->ether);
    scps_netif_push(s->ether, &s->sink);
    scps_netif_advance(&s->sink, now);
    assert_int_equal(s->sink.mtu, 1500);
}

static void put_frame(struct station *to, const uint8_t *p, size_t n)
{
    uint8_t copy[1700];
    struct scps_pkt pkt = {.data = copy, .len = n, .at = now};

    memcpy(copy, p, n);
    scps_netif_recv(&to->dev, &pkt);
}

static void deliver(struct station *from, struct station *to)
{
    for (unsigned i = 0; i < from->n; i++)
        put_frame(to, from->out[i].octets, from->out[i].len);
    from->n = 0;
}

static void exchange(void)
{
    for (unsigned i = 0; i < 10 && (a.n || b.n); i++) {
        deliver(&a, &b);
        deliver(&b, &a);
    }
}

static int setup(void **state)
{
    struct scps_ether_config ca = config(1), cb = config(2);

    (void)state;
    now = SCPS_SEC(1);
    open_station(&a, &ca);
    open_station(&b, &cb);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    a.ether->ops->close(a.ether);
    b.ether->ops->close(b.ether);
    return 0;
}

static size_t packet(uint8_t *p, const char *dst, uint8_t tag, size_t n)
{
    struct scps_addr d;

    memset(p, tag, n);
    scps_addr_parse(dst, &d);
    if (d.family == 4) {
        p[0] = 0x45;
        p[2] = (uint8_t)(n >> 8);
        p[3] = (uint8_t)n;
        memcpy(p + 16, d.b, 4);
    } else {
        p[0] = 0x60;
        p[4] = (uint8_t)((n - 40) >> 8);
        p[5] = (uint8_t)(n - 40);
        p[6] = 17;
        memcpy(p + 24, d.b, 16);
    }
    return n;
}

static int send_to(struct station *s, const char *dst, uint8_t tag, size_t n)
{
    uint8_t p[1600];
    struct scps_pkt pkt = {.data = p, .len = packet(p, dst, tag, n), .at = now};

    if (n > 60) { /* Header and payload lie apart. */
        pkt.len = 50;
        pkt.payload = p + 50;
        pkt.payload_len = n - 50;
    }
    return scps_netif_send(s->ether, &pkt);
}

static struct scps_ether_status status(const struct station *s)
{
    struct scps_ether_status st;

    scps_ether_get_status(s->ether, &st);
    return st;
}

static void a_resolved_address_is_cached(void **state)
{
    static const char *const to[2] = {"10.0.0.2", "fd00::2"};

    (void)state;
    for (unsigned f = 0; f < 2; f++) {
        uint8_t want[1000];
        unsigned before = b.packets;
        assert_int_equal(send_to(&a, to[f], 7, 1000), 0);
        /* Only the ARP request or the neighbour solicitation was sent; the packet waits. */
        assert_int_equal(a.n, 1);
        exchange();
        assert_int_equal(b.packets, before + 1);
        packet(want, to[f], 7, 1000);
        assert_int_equal(b.got_len, 1000);
        assert_memory_equal(b.got, want, 1000);
        assert_int_equal(send_to(&a, to[f], 8, 100), 0);
        assert_int_equal(a.n, 1);
        assert_memory_equal(a.out[0].octets, ((uint8_t[6]){2, 0, 0, 0, 0, 2}), 6);
        exchange();
        assert_int_equal(b.packets, before + 2);
        assert_int_equal(status(&a).asked, f + 1);
        assert_int_equal(status(&b).answered, f + 1);
        /* The station that was asked has learned the address of the one that asked (RFC 826; RFC
         * 4861 section 7.2.3). */
        assert_int_equal(send_to(&b, f ? "fd00::1" : "10.0.0.1", 9, 100), 0);
        assert_int_equal(status(&b).asked, 0);
        exchange();
    }
    assert_int_equal(send_to(&a, "10.0.0.2", 1, 1501), SCPS_ERR_MSGSIZE);
}

/* The ARP request is compared with RFC 826 octet for octet; the neighbour solicitation with RFC
 * 4861. */
static void requests_octet_by_octet(void **state)
{
    static const uint8_t arp[42] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0,  1, 8, 6,
                                    0,    1,    8,    0,    6,    4,    0, 1, 2, 0, 0,  0, 0, 1,
                                    10,   0,    0,    1,    0,    0,    0, 0, 0, 0, 10, 0, 0, 2};
    static const uint8_t nd[86] = {
        0x33, 0x33, 0xff, 0,   0,    2, 2, 0, 0,    0, 0, 1, 0x86, 0xdd, 0x60, 0, 0, 0,
        0,    32,   58,   255, 0xfd, 0, 0, 0, 0,    0, 0, 0, 0,    0,    0,    0, 0, 0,
        0,    1,    0xff, 2,   0,    0, 0, 0, 0,    0, 0, 0, 0,    1,    0xff, 0, 0, 2,
        135,  0,    0,    0,   0,    0, 0, 0, 0xfd, 0, 0, 0, 0,    0,    0,    0, 0, 0,
        0,    0,    0,    0,   0,    2, 1, 1, 2,    0, 0, 0, 0,    1};

    (void)state;
    send_to(&a, "10.0.0.2", 1, 40);
    assert_int_equal(a.out[0].len, sizeof arp);
    assert_memory_equal(a.out[0].octets, arp, sizeof arp);
    a.n = 0;
    send_to(&a, "fd00::2", 1, 60);
    assert_int_equal(a.out[0].len, sizeof nd);
    /* The receiving end checks the ICMPv6 checksum, so it is left out here. */
    memset(a.out[0].octets + 56, 0, 2);
    assert_memory_equal(a.out[0].octets, nd, sizeof nd);
    a.n = 0;
}

static void one_packet_waits_for_three_requests(void **state)
{
    (void)state;
    send_to(&a, "10.0.0.9", 1, 100);
    send_to(&a, "10.0.0.9", 2, 100);
    assert_int_equal(status(&a).drops[SCPS_ETHER_DROP_HELD], 1);
    unsigned turns = 0;
    scps_time begin = now;
    while (scps_netif_deadline(&a.sink) != SCPS_NEVER) {
        assert_true(++turns < 10);
        now = scps_netif_deadline(&a.sink);
        scps_netif_advance(&a.sink, now);
    }
    assert_int_equal(a.n, 3); /* Three requests were sent. */
    assert_int_equal(now - begin, SCPS_SEC(3));
    assert_int_equal(status(&a).drops[SCPS_ETHER_DROP_UNRESOLVED], 1);
    a.n = 0;
    /* The address is outside the prefix and there is no gateway. */
    assert_int_equal(send_to(&a, "192.168.1.1", 1, 100), SCPS_ERR_UNREACH);
}

static bool unanswered_is(const char *text)
{
    struct scps_ether_status s = status(&a);
    struct scps_addr want = {0};

    if (text)
        scps_addr_parse(text, &want);
    return scps_addr_equal(&s.unanswered, &want);
}

/* From the second request on the status names the neighbour that does not answer. */
static void a_neighbour_that_does_not_answer_is_named(void **state)
{
    (void)state;
    send_to(&a, "10.0.0.2", 1, 100);
    assert_true(unanswered_is(NULL));
    for (unsigned i = 0; i < 3; i++) {
        now = scps_netif_deadline(&a.sink);
        scps_netif_advance(&a.sink, now);
        assert_true(unanswered_is("10.0.0.2"));
    }
    /* The station has stopped asking. */
    assert_int_equal(scps_netif_deadline(&a.sink), SCPS_NEVER);
    a.n = 0;
    /* Station b sends a request for the address of a, so that a stores the MAC address of b. */
    send_to(&b, "10.0.0.1", 1, 100);
    exchange();
    assert_true(unanswered_is(NULL));
}

/* Times near SCPS_NEVER do not overflow: such a time is later than any timer that runs, and a timer
 * that starts then ends later. */
static void times_near_never(void **state)
{
    (void)state;
    scps_netif_advance(&a.sink, SCPS_NEVER);
    send_to(&a, "10.0.0.2", 1, 100);
    assert_int_equal(a.n, 1);
    assert_int_equal(scps_netif_deadline(&a.sink), SCPS_NEVER / 2 + SCPS_SEC(1));
    scps_netif_advance(&a.sink, SCPS_NEVER);
    assert_int_equal(a.n, 1); /* The clock does not advance, so no request is repeated. */
    a.n = 0;
}

/* RFC 4861 section 7.3: an entry that is old is still used while the station asks again by unicast;
 * without an answer it is deleted. */
static void a_stale_entry_is_requested_again(void **state)
{
    (void)state;
    send_to(&a, "fd00::2", 1, 100);
    exchange();
    now += SCPS_SEC(31);
    scps_netif_advance(&a.sink, now);
    /* The entry has not been used, so the station does not ask again. */
    assert_int_equal(scps_netif_deadline(&a.sink), SCPS_NEVER);
    send_to(&a, "fd00::2", 2, 100);
    assert_int_equal(a.n, 1); /* The packet is sent at once. */
    exchange();
    assert_int_equal(scps_netif_deadline(&a.sink), now + SCPS_SEC(5));
    now += SCPS_SEC(5);
    scps_netif_advance(&a.sink, now);
    assert_int_equal(a.n, 1);
    assert_memory_equal(a.out[0].octets, ((uint8_t[6]){2, 0, 0, 0, 0, 2}), 6);
    exchange(); /* The neighbour answers. */
    assert_int_equal(status(&a).neighbours, 1);
    assert_int_equal(scps_netif_deadline(&a.sink), now + SCPS_SEC(30));
    now += SCPS_SEC(31);
    scps_netif_advance(&a.sink, now);
    send_to(&a, "fd00::2", 2, 100);
    a.n = 0; /* The neighbour no longer answers. */
    for (unsigned i = 0; i < 10 && status(&a).neighbours; i++) {
        now += SCPS_SEC(1);
        scps_netif_advance(&a.sink, now);
    }
    assert_int_equal(status(&a).neighbours, 0);
    a.n = 0;
}

static void multicast_and_gateways(void **state)
{
    struct scps_ether_config c = config(3);
    static struct station s;

    (void)state;
    scps_addr_parse("10.0.0.2", &c.gateway[0]);
    open_station(&s, &c);
    send_to(&s, "192.168.1.1", 1, 40); /* The station asks for the address of the gateway. */
    assert_int_equal(s.out[0].octets[41], 2);
    s.n = 0;
    static const struct {
        const char *to;
        uint8_t mac[6];
    } group[] = {{"224.129.2.3", {0x01, 0, 0x5e, 1, 2, 3}},
                 {"10.0.0.255", {255, 255, 255, 255, 255, 255}},
                 {"255.255.255.255", {255, 255, 255, 255, 255, 255}},
                 {"ff02::1:2", {0x33, 0x33, 0, 1, 0, 2}}};
    for (size_t i = 0; i < sizeof group / sizeof *group; i++) {
        assert_int_equal(send_to(&s, group[i].to, 1, 60), 0);
        assert_int_equal(s.n, 1);
        assert_memory_equal(s.out[0].octets, group[i].mac, 6);
        s.n = 0;
    }
    s.ether->ops->close(s.ether);
}

static struct scps_addr address(const char *text)
{
    struct scps_addr x;

    assert_int_equal(scps_addr_parse(text, &x), 0);
    return x;
}

/* Returns the number of requests for one of its addresses that station a answers. */
static uint64_t answers_for(const char *text)
{
    uint64_t before = status(&a).answered;
    struct scps_ether_config c = config(3);
    static struct station s; /* A station that has asked for no address yet. */

    open_station(&s, &c);
    send_to(&s, text, 1, 60);
    deliver(&s, &a);
    a.n = 0;
    s.ether->ops->close(s.ether);
    return status(&a).answered - before;
}

/* After an address was removed from a station, the station does not answer for it by ARP or
 * Neighbour Discovery, and the address's prefix is no longer local; other addresses stay. Adding it
 * again restores the earlier state. */
static void an_address_is_removed_and_added_again(void **state)
{
    const struct scps_addr four = address("10.0.0.1"), six = address("fd00::1");
    const struct scps_addr other = address("10.0.0.77");

    (void)state;
    assert_int_equal(scps_ether_add_addr(a.ether, &other, 8), 0);
    assert_int_equal(answers_for("10.0.0.1"), 1);
    assert_int_equal(scps_ether_remove_addr(a.ether, &four), 0);
    assert_int_equal(scps_ether_remove_addr(a.ether, &four), SCPS_ERR_NOENT);
    assert_int_equal(answers_for("10.0.0.1"), 0);
    assert_int_equal(answers_for("10.0.0.77"), 1);
    assert_int_equal(answers_for("fd00::1"), 1);
    assert_int_equal(scps_ether_remove_addr(a.ether, &six), 0);
    assert_int_equal(answers_for("fd00::1"), 0);
    assert_int_equal(answers_for("10.0.0.77"), 1);
    assert_int_equal(send_to(&a, "fd00::2", 1, 60), SCPS_ERR_UNREACH);
    /* The station asks from one of the addresses that remain. */
    assert_int_equal(send_to(&a, "10.9.0.2", 1, 60), 0);
    assert_memory_equal(a.out[0].octets + 28, other.b, 4);
    a.n = 0;
    assert_int_equal(scps_ether_add_addr(a.ether, &six, 64), 0);
    assert_int_equal(scps_ether_add_addr(a.ether, &four, 24), 0);
    assert_int_equal(answers_for("10.0.0.1"), 1);
    assert_int_equal(answers_for("fd00::1"), 1);
}

/* Of the packets that wait for a neighbour's answer, those from the address that was removed are
 * dropped; others are sent. */
static void a_removed_address_drops_its_packet(void **state)
{
    const struct scps_addr four = address("10.0.0.1"), other = address("10.0.0.77");
    struct scps_ether_config c = config(3);
    static struct station s;
    uint8_t p[60];
    struct scps_pkt pkt = {.data = p, .len = packet(p, "10.0.0.2", 1, sizeof p), .at = now};

    (void)state;
    assert_int_equal(scps_ether_add_addr(a.ether, &other, 24), 0);
    for (unsigned i = 0; i < 2; i++) {
        memcpy(p + 12, i ? other.b : four.b, 4);
        p[19] = (uint8_t)(2 + i);
        assert_int_equal(scps_netif_send(a.ether, &pkt), 0);
    }
    assert_int_equal(scps_ether_remove_addr(a.ether, &four), 0);
    assert_int_equal(status(&a).drops[SCPS_ETHER_DROP_REMOVED], 1);
    exchange();
    assert_int_equal(b.packets, 0);
    open_station(&s, &c);
    send_to(&s, "10.0.0.77", 1, 60);
    deliver(&s, &a); /* Station a stores the MAC address of 10.0.0.3 from the request. */
    deliver(&a, &s);
    assert_int_equal(s.packets, 1);
    assert_memory_equal(s.got + 12, other.b, 4);
    s.ether->ops->close(s.ether);
}

static void addresses_out_of_range(void **state)
{
    struct scps_addr x = address("10.1.0.1");

    (void)state;
    assert_int_equal(scps_ether_add_addr(a.ether, &x, 33), SCPS_ERR_RANGE);
    x.family = 0;
    assert_int_equal(scps_ether_add_addr(a.ether, &x, 0), SCPS_ERR_RANGE);
    assert_int_equal(scps_ether_remove_addr(a.ether, &x), SCPS_ERR_NOENT);
    x.family = 4;
    for (unsigned i = 2; i < SCPS_ETHER_ADDRS; i++) {
        x.b[3] = (uint8_t)i;
        assert_int_equal(scps_ether_add_addr(a.ether, &x, 16), 0);
        assert_int_equal(send_to(&a, "10.1.9.9", 1, 60), 0);
        a.n = 0;
    }
    x.b[3] = 99;
    assert_int_equal(scps_ether_add_addr(a.ether, &x, 16), SCPS_ERR_LIMIT);
    x.b[3] = 2;
    /* The station already has the address; only the prefix length changes. */
    assert_int_equal(scps_ether_add_addr(a.ether, &x, 32), 0);
    assert_int_equal(scps_ether_remove_addr(a.ether, &x), 0);
    assert_int_equal(scps_ether_remove_addr(a.ether, &x), SCPS_ERR_NOENT);
}

/* When another station claims this station's address, this station counts the conflict and keeps
 * the address; it answers duplicate address detection to all nodes (RFC 4861 section 7.2.4). */
static void an_address_taken_twice(void **state)
{
    struct scps_ether_config c = config(1);
    static struct station s;

    (void)state;
    c.mac[5] = 9;
    open_station(&s, &c);
    send_to(&s, "10.0.0.2", 1, 40); /* Another station sends from 10.0.0.1. */
    for (unsigned i = 0; i < s.n; i++)
        put_frame(&a, s.out[i].octets, s.out[i].len);
    assert_int_equal(status(&a).drops[SCPS_ETHER_DROP_CONFLICT], 1);
    assert_int_equal(a.n, 0);
    s.ether->ops->close(s.ether);
}

static void invalid_frames_are_counted_by_reason(void **state)
{
    static const struct {
        uint8_t octets[60];
        size_t n;
        enum scps_ether_drop why;
    } bad[] = {
        {{2, 0, 0, 0, 0, 1}, 13, SCPS_ETHER_DROP_SHORT},
        {{2, 0, 0, 0, 0, 7, 2, 0, 0, 0, 0, 2, 8, 0}, 40, SCPS_ETHER_DROP_NOT_OURS},
        {{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x81, 0}, 40, SCPS_ETHER_DROP_TYPE},
        {{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0, 0, 47}, 60, SCPS_ETHER_DROP_SHORT},
        {{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 6, 0, 1, 8, 0, 6, 4, 0, 3},
         60,
         SCPS_ETHER_DROP_ARP},
        {{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1},
         41,
         SCPS_ETHER_DROP_ARP},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t before = status(&a).drops[bad[i].why];
        put_frame(&a, bad[i].octets, bad[i].n);
        assert_int_equal(status(&a).drops[bad[i].why], before + 1);
    }
    /* Each octet of a solicitation is damaged in turn: a solicitation with a wrong checksum teaches
     * the station nothing. */
    uint8_t frame[86];
    send_to(&b, "fd00::1", 1, 60);
    memcpy(frame, b.out[0].octets, sizeof frame);
    b.n = 0;
    /* The loop begins at the hop limit, which must be 255 (RFC 4861 section 7.1). */
    for (size_t i = 21; i < sizeof frame; i++) {
        frame[i] ^= 0x11;
        put_frame(&a, frame, sizeof frame);
        frame[i] ^= 0x11;
    }
    assert_int_equal(a.n, 0);
    assert_int_equal(status(&a).neighbours, 0);
    put_frame(&a, frame, sizeof frame);
    assert_int_equal(a.n, 1);
    a.n = 0;
}

/* When the cache is full, a new neighbour replaces the one that was not used for the longest
 * time. */
static void a_full_cache_replaces_the_oldest(void **state)
{
    struct scps_ether_config c = config(1);
    static struct station s;
    char to[20];

    (void)state;
    c.neighbours = 4;
    open_station(&s, &c);
    for (int i = 10; i < 20; i++) {
        snprintf(to, sizeof to, "10.0.0.%d", i);
        send_to(&s, to, 1, 60);
        s.n = 0;
    }
    assert_int_equal(status(&s).drops[SCPS_ETHER_DROP_HELD], 6);
    assert_int_equal(status(&s).asked, 10);
    s.ether->ops->close(s.ether);
}

/* Passes a request for an address of station a, from address number i of family f, to it. Returns
 * whether a replied. */
static bool ask(int f, unsigned i)
{
    static const uint8_t arp[42] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0,  9, 8, 6,
                                    0,    1,    8,    0,    6,    4,    0, 1, 2, 0, 0,  0, 0, 9,
                                    10,   0,    0,    9,    0,    0,    0, 0, 0, 0, 10, 0, 0, 1};
    uint8_t p[86];
    char from[40];
    bool replied;

    if (f == 0) {
        memcpy(p, arp, sizeof arp);
        p[30] = (uint8_t)(i >> 8);
        p[31] = (uint8_t)i;
        put_frame(&a, p, sizeof arp);
    } else {
        /* A solicitation of another station has a right checksum. */
        struct scps_ether_config c = config(2);
        static struct station s;
        snprintf(from, sizeof from, "fd00::9:%x", i);
        scps_addr_parse(from, &c.addr[1]);
        open_station(&s, &c);
        send_to(&s, "fd00::1", 1, 60);
        put_frame(&a, s.out[0].octets, s.out[0].len);
        s.ether->ops->close(s.ether);
    }
    replied = a.n == 1;
    a.n = 0;
    return replied;
}

/* The limit of replies: 8192 octets at once, then the share of the line's rate that <scps/ether.h>
 * says. An ARP reply counts as the 84 octets that it occupies on an Ethernet, an Advertisement as
 * 110. */
static void a_flood_of_requests(void **state)
{
    static const unsigned most[2] = {8192 / 84, 8192 / 110};

    (void)state;
    for (int f = 0; f < 2; f++) {
        unsigned replies = 0;
        now += SCPS_SEC(10);
        for (unsigned i = 0; i < 1000; i++)
            replies += ask(f, 0x1000 + i);
        assert_int_equal(replies, most[f]);
    }
    assert_int_equal(status(&a).drops[SCPS_ETHER_DROP_LIMIT], 2000 - most[0] - most[1]);
    for (unsigned rate = 0; rate <= 16 * 84; rate += 16 * 84) {
        unsigned replies = 0;
        /* rate of the line, bit/s; 0: unknown; otherwise one that permits one ARP reply a second */
        a.dev.rate = rate;
        for (unsigned i = 0; i < 5000; i++, now += SCPS_MS(1))
            replies += ask(0, 0x1000 + i);
        assert_in_range(replies, rate ? 5 : 4650 - 30, rate ? 6 : 4650 + most[0]);
    }
}

/* RFC 826: a station that asks is remembered. Requests in the names of many addresses do not
 * displace a neighbour to which packets were sent, so no request for it is needed. */
static void a_flood_displaces_no_neighbour_in_use(void **state)
{
    struct scps_ether_config c = config(1);

    (void)state;
    for (c.neighbours = 2; c.neighbours <= 4; c.neighbours += 2) {
        a.ether->ops->close(a.ether);
        open_station(&a, &c);
        for (int f = 0; f < 2; f++) {
            send_to(&a, f ? "fd00::2" : "10.0.0.2", 1, 60);
            exchange();
        }
        for (unsigned i = 0; i < 20; i++) {
            ask(0, 0x1000 + i);
            ask(1, 0x1000 + i);
        }
        assert_int_equal(status(&a).asked, 2);
        for (int f = 0; f < 2; f++)
            send_to(&a, f ? "fd00::2" : "10.0.0.2", 2, 60);
        assert_int_equal(status(&a).asked, 2);
        /* Those that asked are remembered while there are places. */
        assert_int_equal(status(&a).neighbours, c.neighbours);
        assert_int_equal(a.n, 2);
        a.n = 0;
    }
}

/* RFC 1122 section 3.3.6: a packet to one host in a frame to a group is discarded; RFC 1122 section
 * 3.2.2 forbids ICMP errors about it. A packet to a group in such a frame reaches the stack. */
static void packets_to_one_host_in_frames_to_a_group(void **state)
{
    static const char *const to[] = {"10.0.0.1", "fd00::1", "224.0.0.1", "10.0.0.255", "ff02::1"};
    uint8_t p[14 + 60] = {0};

    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        bool six = strchr(to[i], ':');
        uint64_t dropped = status(&a).drops[SCPS_ETHER_DROP_NOT_OURS];
        memcpy(p,
               six ? (uint8_t[6]){0x33, 0x33, 0, 0, 0, 1}
                   : (uint8_t[6]){255, 255, 255, 255, 255, 255},
               6);
        p[12] = six ? 0x86 : 8;
        p[13] = six ? 0xdd : 0;
        packet(p + 14, to[i], 1, 60);
        a.packets = 0;
        put_frame(&a, p, sizeof p);
        assert_int_equal(a.packets, i >= 2);
        assert_int_equal(status(&a).drops[SCPS_ETHER_DROP_NOT_OURS] - dropped, i < 2);
        memcpy(p, (uint8_t[6]){2, 0, 0, 0, 0, 1}, 6);
        put_frame(&a, p, sizeof p);
        assert_int_equal(a.packets, 1 + (i >= 2));
    }
}

/* Passes an ARP reply of 10.0.0.id to station a. */
static void answer_as(uint8_t id)
{
    const uint8_t arp[42] = {2, 0, 0, 0, 0, 1, 2,  0,  0, 0, 0,  id, 8, 6, 0, 1, 8, 0,  6, 4, 0,
                             2, 2, 0, 0, 0, 0, id, 10, 0, 0, id, 2,  0, 0, 0, 0, 1, 10, 0, 0, 1};

    put_frame(&a, arp, sizeof arp);
}

/* RFC 3756 section 4.3.2: an attacker makes a station resolve addresses that no station has.
 * Packets to 200 such addresses displace a quarter of the neighbours in use, and the packets to the
 * others leave at once. */
static void unanswered_requests_displace_a_quarter(void **state)
{
    struct scps_ether_config c = config(1);
    uint64_t asked;
    char to[20];

    (void)state;
    c.neighbours = 8;
    a.ether->ops->close(a.ether);
    open_station(&a, &c);
    for (unsigned i = 0; i < 8; i++) {
        snprintf(to, sizeof to, "10.0.0.%u", 100 + i);
        send_to(&a, to, 1, 60);
        answer_as((uint8_t)(100 + i));
    }
    a.n = 0;
    assert_int_equal(status(&a).neighbours, 8);
    for (unsigned i = 0; i < 200; i++) {
        snprintf(to, sizeof to, "10.0.0.%u", 10 + i % 90);
        send_to(&a, to, 1, 60);
        a.n = 0;
    }
    assert_int_equal(status(&a).neighbours, 6);
    asked = status(&a).asked;
    for (unsigned i = 2; i < 8; i++) {
        snprintf(to, sizeof to, "10.0.0.%u", 100 + i);
        send_to(&a, to, 1, 60);
    }
    assert_int_equal(status(&a).asked, asked);
    assert_int_equal(a.n, 6);
    a.n = 0;
}

static void configurations_out_of_range(void **state)
{
    struct scps_ether_config c;
    int err = 0;

    (void)state;
#define REFUSED(field, value)                                                                      \
    c = config(1);                                                                                 \
    c.field = value;                                                                               \
    assert_null(scps_ether_new(&c, NULL, &err));                                                   \
    assert_int_equal(err, SCPS_ERR_RANGE)
    REFUSED(mac[0], 3);
    REFUSED(n, SCPS_ETHER_ADDRS + 1);
    REFUSED(prefix[0], 33);
    REFUSED(addr[0].family, 0);
    REFUSED(gateway[0].family, 6);
    REFUSED(neighbours, 0);
    REFUSED(mtu, 575);
    REFUSED(mtu, 9001);
    REFUSED(reachable, 0);
    REFUSED(retransmit, 0);
    REFUSED(tries, 0);
    for (int i = 0; i <= SCPS_ETHER_DROP_COUNT; i++)
        assert_true(strlen(scps_ether_drop_text((enum scps_ether_drop)i)) > 5);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_resolved_address_is_cached),
        TEST(requests_octet_by_octet),
        TEST(one_packet_waits_for_three_requests),
        TEST(a_neighbour_that_does_not_answer_is_named),
        TEST(times_near_never),
        TEST(a_stale_entry_is_requested_again),
        TEST(multicast_and_gateways),
        TEST(an_address_is_removed_and_added_again),
        TEST(a_removed_address_drops_its_packet),
        TEST(addresses_out_of_range),
        TEST(an_address_taken_twice),
        TEST(invalid_frames_are_counted_by_reason),
        TEST(a_full_cache_replaces_the_oldest),
        TEST(a_flood_of_requests),
        TEST(a_flood_displaces_no_neighbour_in_use),
        TEST(unanswered_requests_displace_a_quarter),
        TEST(packets_to_one_host_in_frames_to_a_group),
        TEST(configurations_out_of_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
