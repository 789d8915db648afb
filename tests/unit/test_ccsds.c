/* SPDX-License-Identifier: MIT */
/* IP over CCSDS space links: frames are compared octet by octet; packets cross the borders of
 * frames; frames are lost, damaged, late, or of another spacecraft. */
#include "cmocka_all.h"

#include <scps/ccsds.h>
#include <scps/error.h>

#include <string.h>

#include "link/encap.h"
#include "link/spaceframe.h"

#define FRAMES 400

struct end {
    struct scps_netif dev, sink;
    struct scps_netif *ccsds;
    struct {
        uint8_t octets[2052];
        size_t len;
    } out[FRAMES];
    unsigned n;
    bool blocked;
    uint8_t got[66000];
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
    assert_true(e->n < FRAMES && !pkt->payload && pkt->len <= sizeof e->out[0].octets);
    memcpy(e->out[e->n].octets, pkt->data, pkt->len);
    e->out[e->n++].len = pkt->len;
    return 0;
}

static int sink_recv(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    struct end *e = (struct end *)((char *)nif - offsetof(struct end, sink));

    memcpy(e->got, pkt->data, pkt->len);
    e->got_len = pkt->len;
    e->packets++;
    return 0;
}

static const struct scps_netif_ops dev_ops = {.name = "modem", .send = dev_send};
static const struct scps_netif_ops sink_ops = {.name = "sink", .recv = sink_recv};

static void open_end(struct end *e, const struct scps_ccsds_config *c)
{
    memset(e, 0, sizeof *e);
    e->dev.ops = &dev_ops;
    e->sink.ops = &sink_ops;
    e->ccsds = scps_ccsds_new(c, NULL, NULL);
    assert_non_null(e->ccsds);
    scps_netif_push(&e->dev, e->ccsds);
    scps_netif_push(e->ccsds, &e->sink);
    scps_netif_advance(&e->sink, now);
    assert_int_equal(e->sink.mtu, c->mtu);
    assert_int_equal(scps_netif_deadline(&e->sink), SCPS_NEVER);
}

static void close_ends(void)
{
    a.ccsds->ops->close(a.ccsds);
    b.ccsds->ops->close(b.ccsds);
}

static int send_packet(struct end *e, unsigned version, uint8_t tag, size_t n)
{
    uint8_t p[65536];
    struct scps_pkt pkt = {.data = p, .len = n, .at = now};

    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)(tag + i * 7);
    p[0] = (uint8_t)(version << 4 | 5);
    if (n > 50) {
        pkt.len = 50;
        pkt.payload = p + 50;
        pkt.payload_len = n - 50;
    }
    return scps_netif_send(e->ccsds, &pkt);
}

static void check_got(const struct end *e, unsigned version, uint8_t tag, size_t n)
{
    assert_int_equal(e->got_len, n);
    assert_int_equal(e->got[0], version << 4 | 5);
    for (size_t i = 1; i < n; i++)
        assert_int_equal(e->got[i], (uint8_t)(tag + i * 7));
}

static void put(struct end *to, uint8_t *p, size_t n)
{
    struct scps_pkt pkt = {.data = p, .len = n, .at = now};

    scps_netif_recv(&to->dev, &pkt);
}

static void deliver(struct end *from, struct end *to)
{
    for (unsigned i = 0; i < from->n; i++)
        put(to, from->out[i].octets, from->out[i].len);
    from->n = 0;
}

static struct scps_ccsds_status status(const struct end *e)
{
    struct scps_ccsds_status s;

    scps_ccsds_get_status(e->ccsds, &s);
    return s;
}

static int setup(void **state)
{
    (void)state;
    now = SCPS_SEC(1);
    return 0;
}

static struct scps_ccsds_config config(enum scps_ccsds_kind kind, uint32_t frame)
{
    struct scps_ccsds_config c = scps_ccsds_config_default(kind);

    c.frame = frame;
    return c;
}

/* ---- frame headers and encapsulation packets, octet by octet ---- */

static void headers_octet_by_octet(void **state)
{
    static const struct {
        enum scps_ccsds_kind kind;
        uint16_t spacecraft;
        uint8_t channel, map;
        uint64_t count;
        unsigned pointer;
        uint8_t want[14];
        size_t n;
    } frames[] = {
        /* AOS: version 01 | spacecraft 01000010 | virtual channel 000101, then the frame count,
         * "cycle in use" with cycle 0, and the first-header pointer 195. */
        {SCPS_CCSDS_AOS, 0x42, 5, 0, 0x010203, 0xc3, {0x50, 0x85, 1, 2, 3, 0x40, 0, 0xc3}, 8},
        {SCPS_CCSDS_AOS,
         255,
         62,
         0,
         0xf000000,
         SPACEFRAME_NO_START,
         {0x7f, 0xfe, 0, 0, 0, 0x4f, 7, 0xff},
         8},
        {SCPS_CCSDS_AOS, 0, 0, 0, 0, SPACEFRAME_ALL_IDLE, {0x40, 0, 0, 0, 0, 0x40, 7, 0xfe}, 8},
        /* TM: version 00 | spacecraft 0110101010 | virtual channel 001 | 0, then both frame counts,
         * segment length 3, and the first-header pointer. */
        {SCPS_CCSDS_TM, 0x1aa, 1, 0, 0x1fe, 0x92, {0x1a, 0xa2, 0xfe, 0xfe, 0x18, 0x92}, 6},
        {SCPS_CCSDS_TM, 0x3ff, 7, 0, 0, SPACEFRAME_NO_START, {0x3f, 0xfe, 0, 0, 0x1f, 0xff}, 6},
        /* USLP: version 1100 | spacecraft 1010101111001101 | source 0 | virtual channel 000011 |
         * map 0100 | 0, length 255, then 4 octets of frame count. */
        {SCPS_CCSDS_USLP,
         0xabcd,
         3,
         4,
         0x01020304,
         5,
         {0xca, 0xbc, 0xd0, 0x68, 0, 255, 4, 1, 2, 3, 4, 0, 0, 5},
         14},
        {SCPS_CCSDS_USLP,
         1,
         62,
         15,
         0,
         SPACEFRAME_NO_START,
         {0xc0, 0, 0x17, 0xde, 0, 255, 4, 0, 0, 0, 0, 0, 0xff, 0xff},
         14},
    };
    uint8_t p[256];
    struct scps_spaceframe f;

    (void)state;
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        struct scps_ccsds_config c = config(frames[i].kind, 256);
        c.spacecraft = frames[i].spacecraft;
        c.channel = frames[i].channel;
        c.map = frames[i].map;
        memset(p, 0x55, sizeof p);
        scps_spaceframe_finish(p, &c, frames[i].count, frames[i].pointer);
        assert_int_equal(scps_spaceframe_head(&c), frames[i].n);
        assert_memory_equal(p, frames[i].want, frames[i].n);
        /* The CRC over a frame with its own CRC is 0. */
        assert_int_equal(scps_spaceframe_crc(p, 256), 0);
        assert_int_equal(scps_spaceframe_parse(p, &c, &f), SCPS_CCSDS_DROP_COUNT);
        assert_int_equal(f.pointer, frames[i].pointer);
        assert_int_equal(f.begin, frames[i].n);
        assert_int_equal(f.end, 254);
        assert_int_equal(f.count, frames[i].count & ((UINT64_C(1) << f.bits) - 1));
    }
    assert_int_equal(scps_spaceframe_crc((const uint8_t *)"123456789", 9), 0x29b1);
}

static void packets_octet_by_octet(void **state)
{
    uint8_t p[300];
    size_t head;
    uint64_t total;

    (void)state;
    assert_int_equal(scps_encap_build(p, 4, 40), 3);
    assert_memory_equal(p, ((uint8_t[3]){0xe9, 43, 0x21}), 3);
    /* The packet has 255 octets in all, the most for which the length field has one octet. */
    assert_int_equal(scps_encap_build(p, 4, 252), 3);
    assert_int_equal(scps_encap_build(p, 6, 253), 5);
    assert_memory_equal(p, ((uint8_t[5]){0xea, 0, 1, 2, 0x57}), 5);
    scps_encap_idle(p, 1);
    assert_int_equal(p[0], 0xe0);
    scps_encap_idle(p, 255);
    assert_memory_equal(p, ((uint8_t[3]){0xe1, 255, 0}), 3);
    scps_encap_idle(p, 300);
    assert_memory_equal(p, ((uint8_t[5]){0xe2, 0, 1, 0x2c, 0}), 5);
    for (size_t n = 1; n <= 300; n++) {
        scps_encap_idle(p, n);
        assert_int_equal(scps_encap_parse(p, n, &head, &total), ENCAP_IDLE);
        assert_int_equal(total, n);
    }
    /* A header of eight octets, a space packet of 7 + 2 octets, and octets that are no packet. */
    assert_int_equal(
        scps_encap_parse((const uint8_t[]){0xeb, 0, 0, 0, 0, 1, 0, 0}, 8, &head, &total),
        ENCAP_IPE);
    assert_true(head == 8 && total == 65536);
    assert_int_equal(scps_encap_parse((const uint8_t[]){8, 1, 0xc0, 0, 0, 2}, 6, &head, &total),
                     ENCAP_OTHER);
    assert_int_equal(total, 9);
    assert_int_equal(scps_encap_parse((const uint8_t[]){0xe8}, 1, &head, &total), ENCAP_WRONG);
    assert_int_equal(scps_encap_parse((const uint8_t[]){0xe9, 1}, 2, &head, &total), ENCAP_WRONG);
    assert_int_equal(scps_encap_parse((const uint8_t[]){0x40}, 1, &head, &total), ENCAP_WRONG);
    assert_int_equal(scps_encap_ip((const uint8_t[]){0x21, 0x45}, 2), 1);
    assert_int_equal(scps_encap_ip((const uint8_t[]){0x21, 0x65}, 2), 0);
    /* An extended IPE header of two octets is not IP. */
    assert_int_equal(scps_encap_ip((const uint8_t[]){0x20, 0x21, 0x45}, 3), 0);
}

/* ---- transfers of packets ---- */

static const enum scps_ccsds_kind kinds[] = {SCPS_CCSDS_AOS, SCPS_CCSDS_USLP, SCPS_CCSDS_TM};

static void packets_cross_in_frames_of_any_length(void **state)
{
    static const uint32_t lengths[] = {64, 65, 100, 223, 256, 1115, 2048};

    (void)state;
    for (unsigned k = 0; k < 3; k++)
        for (unsigned l = 0; l < 7; l++)
            for (unsigned m = 0; m < 4; m++) {
                struct scps_ccsds_config c = config(kinds[k], lengths[l]);
                c.fecf = m & 1;
                c.markers = m & 2;
                open_end(&a, &c);
                open_end(&b, &c);
                for (size_t n = 20; n <= 1500; n += 37) {
                    unsigned version = n & 1 ? 6 : 4;
                    assert_int_equal(send_packet(&a, version, (uint8_t)n, n), 0);
                    if (n % 3 == 0)
                        scps_netif_advance(&a.sink, now);
                    for (unsigned i = 0; i < a.n; i++)
                        assert_int_equal(a.out[i].len, lengths[l] + (c.markers ? 4 : 0));
                    deliver(&a, &b);
                    if (n % 3 == 0) {
                        check_got(&b, version, (uint8_t)n, n);
                        assert_int_equal(scps_netif_deadline(&a.sink), SCPS_NEVER);
                    }
                }
                scps_netif_advance(&a.sink, now);
                deliver(&a, &b);
                assert_int_equal(b.packets, 41);
                assert_int_equal(status(&b).rx_frames, status(&a).tx_frames);
                assert_int_equal(status(&b).rx_idle, status(&a).tx_idle);
                struct scps_ccsds_status s = status(&b);
                for (unsigned i = 0; i < SCPS_CCSDS_DROP_COUNT; i++)
                    assert_int_equal(s.drops[i], 0);
                close_ends();
            }
}

static void an_incomplete_frame_waits(void **state)
{
    struct scps_ccsds_config c = config(SCPS_CCSDS_AOS, 1115);

    (void)state;
    c.fill_after = SCPS_MS(10);
    open_end(&a, &c);
    open_end(&b, &c);
    send_packet(&a, 4, 1, 100);
    assert_int_equal(scps_netif_deadline(&a.sink), now + SCPS_MS(10));
    scps_netif_advance(&a.sink, now + SCPS_MS(9));
    send_packet(&a, 4, 2, 100);
    assert_int_equal(a.n, 0);
    scps_netif_advance(&a.sink, now + SCPS_MS(10));
    assert_int_equal(a.n, 1);
    deliver(&a, &b);
    assert_int_equal(b.packets, 2);
    assert_int_equal(status(&a).tx_fill, 1115 - 8 - 2 - 2 * 103);
    close_ends();
}

/* A frame that begins to wait at a time near SCPS_NEVER keeps waiting; its deadline does not
 * overflow. */
static void times_near_never(void **state)
{
    struct scps_ccsds_config c = config(SCPS_CCSDS_AOS, 1115);

    (void)state;
    c.fill_after = SCPS_MS(10);
    open_end(&a, &c);
    open_end(&b, &c);
    scps_netif_advance(&a.sink, SCPS_NEVER);
    now = SCPS_NEVER;
    send_packet(&a, 4, 1, 100);
    assert_int_equal(a.n, 0);
    assert_int_equal(scps_netif_deadline(&a.sink), SCPS_NEVER / 2 + SCPS_MS(10));
    close_ends();
}

/* Each frame in turn is lost: the packets with octets in it are lost, and every packet that is
 * delivered is right. */
static void lost_frames_cost_their_packets_only(void **state)
{
    (void)state;
    for (unsigned k = 0; k < 3; k++)
        for (unsigned lost = 0; lost < 20; lost++) {
            struct scps_ccsds_config c = config(kinds[k], 200);
            open_end(&a, &c);
            open_end(&b, &c);
            for (unsigned i = 0; i < 10; i++)
                send_packet(&a, 4, 9, 300);
            scps_netif_advance(&a.sink, now);
            assert_true(a.n > 15);
            unsigned which = lost < a.n - 1 ? lost : a.n - 1;
            for (unsigned i = 0; i < a.n; i++)
                if (i != which)
                    put(&b, a.out[i].octets, a.out[i].len);
            bool noticed = which > 0 && which < a.n - 1;
            assert_in_range(b.packets, 8, 9);
            check_got(&b, 4, 9, 300);
            assert_int_equal(status(&b).lost_frames, noticed);
            a.n = 0;
            close_ends();
        }
}

static void damaged_foreign_and_late_frames(void **state)
{
    struct scps_ccsds_config c = config(SCPS_CCSDS_AOS, 256), other = c;
    uint8_t keep[256];

    (void)state;
    open_end(&a, &c);
    open_end(&b, &c);
    for (unsigned i = 0; i < 256; i++) { /* The packet contains each value of an octet once. */
        send_packet(&a, 4, 1, 100);
        scps_netif_advance(&a.sink, now);
        a.out[0].octets[i] ^= 0x10;
        deliver(&a, &b);
    }
    assert_int_equal(status(&b).drops[SCPS_CCSDS_DROP_FECF], 256);
    assert_int_equal(b.packets, 0);
    send_packet(&a, 4, 1, 100);
    scps_netif_advance(&a.sink, now);
    memcpy(keep, a.out[0].octets, 256);
    deliver(&a, &b);
    for (unsigned i = 0; i < 3; i++) {
        send_packet(&a, 4, 1, 100);
        scps_netif_advance(&a.sink, now);
        deliver(&a, &b);
    }
    assert_int_equal(b.packets, 4);
    put(&b, keep, 256);
    assert_int_equal(status(&b).drops[SCPS_CCSDS_DROP_LATE], 1);
    put(&b, keep, 255);
    assert_int_equal(status(&b).drops[SCPS_CCSDS_DROP_FRAME], 1);
    other.channel = 2;
    a.ccsds->ops->close(a.ccsds);
    open_end(&a, &other);
    send_packet(&a, 4, 1, 100);
    scps_netif_advance(&a.sink, now);
    deliver(&a, &b);
    assert_int_equal(status(&b).drops[SCPS_CCSDS_DROP_CHANNEL], 1);
    other = config(SCPS_CCSDS_TM, 256);
    a.ccsds->ops->close(a.ccsds);
    open_end(&a, &other);
    send_packet(&a, 4, 1, 100);
    scps_netif_advance(&a.sink, now);
    deliver(&a, &b);
    assert_int_equal(status(&b).drops[SCPS_CCSDS_DROP_FRAME], 2);
    close_ends();
}

/* Builds a frame with the given octets of packets in its data field, and hands it to the
 * receiver. */
static void put_data(struct end *to, const struct scps_ccsds_config *c, uint64_t count,
                     unsigned pointer, const uint8_t *data, size_t n)
{
    uint8_t p[256] = {0};

    memcpy(p + scps_spaceframe_head(c), data, n);
    scps_encap_idle(p + 8 + n, 256 - 10 - n);
    scps_spaceframe_finish(p, c, count, pointer);
    put(to, p, 256);
}

static void invalid_packets_are_dropped(void **state)
{
    struct scps_ccsds_config c = config(SCPS_CCSDS_AOS, 256);
    static const uint8_t ltp[] = {0xe5, 4, 1, 2}, space[] = {8, 1, 0xc0, 0, 0, 0, 7},
                         wrong[] = {0x40, 1, 2}, notip[] = {0xe9, 4, 0x21, 0x60},
                         huge[] = {0xea, 0, 0xff, 0xff, 0x21, 0x45};

    (void)state;
    open_end(&a, &c);
    open_end(&b, &c);
    put_data(&b, &c, 0, 0, ltp, sizeof ltp);
    put_data(&b, &c, 1, 0, space, sizeof space);
    put_data(&b, &c, 2, 0, notip, sizeof notip);
    assert_int_equal(status(&b).drops[SCPS_CCSDS_DROP_PROTOCOL], 3);
    assert_int_equal(status(&b).rx_idle, 3);
    put_data(&b, &c, 3, 0, wrong, sizeof wrong);
    assert_int_equal(status(&b).drops[SCPS_CCSDS_DROP_PACKET], 1);
    put_data(&b, &c, 4, 300, ltp, sizeof ltp);
    assert_int_equal(status(&b).drops[SCPS_CCSDS_DROP_POINTER], 1);
    /* The packet in this frame goes on for 65535 octets, so the next frame continues it. */
    put_data(&b, &c, 5, 0, huge, sizeof huge);
    /* The first-header pointer of this frame is 10, although the packet before goes on. */
    put_data(&b, &c, 6, 10, ltp, sizeof ltp);
    assert_int_equal(status(&b).drops[SCPS_CCSDS_DROP_POINTER], 2);
    put_data(&b, &c, 7, 0, huge, sizeof huge);
    for (unsigned i = 0; i < 280; i++)
        put_data(&b, &c, 8 + i, SPACEFRAME_NO_START, ltp, 0);
    assert_int_equal(status(&b).drops[SCPS_CCSDS_DROP_LONG], 1);
    assert_int_equal(b.packets, 0);
    close_ends();
}

/* Noise lies between the frames of a byte stream: the receiver finds the next sync marker. */
static void sync_markers_are_found_after_noise(void **state)
{
    struct scps_ccsds_config c = config(SCPS_CCSDS_USLP, 100);
    uint8_t noise[] = {0x1a, 0x1a, 0xcf, 0x1a, 0xcf, 0xfc, 0x1a};

    (void)state;
    c.markers = true;
    open_end(&a, &c);
    open_end(&b, &c);
    for (unsigned i = 0; i < 10; i++) {
        send_packet(&a, 4, 1, 60);
        scps_netif_advance(&a.sink, now);
        assert_int_equal(a.n, 1);
        for (size_t j = 0; j < a.out[0].len; j += 13) /* The octets arrive in pieces of 13. */
            put(&b, a.out[0].octets + j, a.out[0].len - j < 13 ? a.out[0].len - j : 13);
        a.n = 0;
        put(&b, noise, i < 7 ? i : 7);
    }
    assert_int_equal(b.packets, 10);
    /* The last octet of noise is 1a, which may begin a marker, so it is not counted yet. */
    assert_int_equal(status(&b).drops[SCPS_CCSDS_DROP_MARKER], 41);
    close_ends();
}

static void a_full_device_accepts_no_packet(void **state)
{
    struct scps_ccsds_config c = config(SCPS_CCSDS_TM, 100);

    (void)state;
    open_end(&a, &c);
    open_end(&b, &c);
    a.blocked = true;
    assert_int_equal(send_packet(&a, 6, 1, 1500), 0);
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(send_packet(&a, 6, 2, 1500), SCPS_ERR_AGAIN);
        scps_netif_advance(&a.sink, now);
    }
    a.blocked = false;
    scps_netif_advance(&a.sink, now);
    deliver(&a, &b);
    check_got(&b, 6, 1, 1500);
    assert_int_equal(send_packet(&a, 6, 3, 1501), SCPS_ERR_MSGSIZE);
    assert_int_equal(send_packet(&a, 5, 3, 100), SCPS_ERR_INVAL);
    close_ends();
}

static void configurations_out_of_range(void **state)
{
    struct scps_ccsds_config c;
    int err = 0;

    (void)state;
#define REFUSED(kind, field, value)                                                                \
    c = config(kind, 256);                                                                         \
    c.field = value;                                                                               \
    assert_null(scps_ccsds_new(&c, NULL, &err));                                                   \
    assert_int_equal(err, SCPS_ERR_RANGE)
    REFUSED(SCPS_CCSDS_AOS, spacecraft, 256);
    REFUSED(SCPS_CCSDS_TM, spacecraft, 1024);
    REFUSED(SCPS_CCSDS_AOS, channel, 63);
    REFUSED(SCPS_CCSDS_TM, channel, 8);
    REFUSED(SCPS_CCSDS_USLP, map, 16);
    REFUSED(SCPS_CCSDS_USLP, frame, 63);
    REFUSED(SCPS_CCSDS_USLP, frame, 2049);
    REFUSED(SCPS_CCSDS_USLP, mtu, 67);
    REFUSED(SCPS_CCSDS_USLP, mtu, 65501);
    REFUSED(SCPS_CCSDS_USLP, fill_after, -1);
    REFUSED(SCPS_CCSDS_AOS, kind, (enum scps_ccsds_kind)3);
    for (int i = 0; i <= SCPS_CCSDS_DROP_COUNT; i++)
        assert_true(strlen(scps_ccsds_drop_text((enum scps_ccsds_drop)i)) > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(headers_octet_by_octet, setup),
        cmocka_unit_test_setup(packets_octet_by_octet, setup),
        cmocka_unit_test_setup(packets_cross_in_frames_of_any_length, setup),
        cmocka_unit_test_setup(an_incomplete_frame_waits, setup),
        cmocka_unit_test_setup(times_near_never, setup),
        cmocka_unit_test_setup(lost_frames_cost_their_packets_only, setup),
        cmocka_unit_test_setup(damaged_foreign_and_late_frames, setup),
        cmocka_unit_test_setup(invalid_packets_are_dropped, setup),
        cmocka_unit_test_setup(sync_markers_are_found_after_noise, setup),
        cmocka_unit_test_setup(a_full_device_accepts_no_packet, setup),
        cmocka_unit_test_setup(configurations_out_of_range, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
