/* SPDX-License-Identifier: MIT */
/* wire/vjcomp.c: Van Jacobson header compression (RFC 1144) and decompression of packets that the
 * test builds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <scps/error.h>
#include <scps/vjcomp.h>
#include <scps/wire.h>

#include "base/bytes.h"
#include "base/prng.h"

struct flow {
    uint16_t port;
    uint16_t id;
    uint32_t seq, ack;
    uint16_t wnd;
};

/* Builds a packet with correct checksums. Returns its length. */
static size_t packet(uint8_t *p, struct flow *f, uint16_t flags, uint16_t urg, bool ts, size_t data)
{
    struct scps_seg s = {.sport = f->port,
                         .dport = 80,
                         .seq = f->seq,
                         .ack = f->ack,
                         .flags = flags,
                         .wnd = f->wnd,
                         .urg = urg,
                         .has = ts ? SCPS_HAS_TS : 0,
                         .tsval = f->id,
                         .len = (uint32_t)data};
    struct scps_ip ip = {.src = {4, {10, 0, 0, 1}},
                         .dst = {4, {10, 0, 0, 2}},
                         .version = 4,
                         .proto = SCPS_IPPROTO_TCP,
                         .ttl = 64,
                         .id = f->id};
    size_t th = scps_tcp_hdr_len(&s), ih = scps_ip_build(p, &ip, th + data);

    scps_tcp_build(p + ih, &s);
    for (size_t i = 0; i < data; i++)
        p[ih + th + i] = (uint8_t)(f->seq + i);
    scps_put16(p + ih + 16, scps_tcp_checksum(&ip.src, &ip.dst, p + ih, th, p + ih + th, data));
    f->seq += (uint32_t)data;
    f->id++;
    return ih + th + data;
}

struct pair {
    struct scps_vj_tx tx;
    struct scps_vj_rx rx;
    enum scps_vj_type type;
    size_t head; /* The length of the header that went over the line. */
};

static void open_pair(struct pair *v)
{
    scps_vj_tx_init(&v->tx);
    scps_vj_rx_init(&v->rx);
}

/* Compresses the packet and, unless it is lost, decompresses and compares it. Returns the
 * scps_drop, or -1 if it was restored wrongly. */
static int over(struct pair *v, const uint8_t *p, size_t len, bool lost)
{
    uint8_t out[SCPS_VJ_HDR_MAX], line[2000], back[SCPS_VJ_HDR_MAX];
    size_t n, replaced, m, used;

    v->type = scps_vj_compress(&v->tx, p, len, len, out, &n, &replaced);
    v->head = n;
    if (v->type == SCPS_VJ_IP || lost)
        return 0;
    assert_true(replaced >= 40 && replaced <= len);
    memcpy(line, out, n);
    memcpy(line + n, p + replaced, len - replaced);
    int err = scps_vj_expand(&v->rx, v->type, line, n + len - replaced, n + len - replaced, back,
                             &m, &used);
    if (err)
        return err;
    if (m != replaced || used != n || memcmp(back, p, m))
        return -1; /* The header was restored, but wrongly. */
    return 0;
}

#define ACK SCPS_ACK

static void one_way_data(void **state)
{
    (void)state;
    struct pair v;
    struct flow f = {.port = 1000, .seq = 0xffffff00, .ack = 5, .wnd = 9000};
    uint8_t p[1600];
    open_pair(&v);
    assert_int_equal(over(&v, p, packet(p, &f, ACK, 0, false, 512), false), 0);
    assert_int_equal(v.type, SCPS_VJ_UNCOMPRESSED);
    assert_int_equal(v.head, 40);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(over(&v, p, packet(p, &f, ACK, 0, false, 512), false), 0);
        assert_int_equal(v.type, SCPS_VJ_COMPRESSED);
        assert_int_equal(v.head, 3); /* RFC 1144's best case: the octet of bits and the checksum. */
    }
    /* The length of the data changes: both packets still have compressed headers of 3 octets. */
    assert_int_equal(over(&v, p, packet(p, &f, ACK | SCPS_PSH, 0, false, 100), false), 0);
    assert_int_equal(v.head, 3);
    assert_int_equal(over(&v, p, packet(p, &f, ACK, 0, false, 512), false), 0);
    assert_int_equal(v.head, 3);
    f.id += 7;
    assert_int_equal(over(&v, p, packet(p, &f, ACK, 0, false, 512), false), 0);
    assert_int_equal(v.head, 4);
    f.id += 300;
    assert_int_equal(over(&v, p, packet(p, &f, ACK, 0, false, 512), false), 0);
    assert_int_equal(v.head, 6);
}

static void acknowledgements_and_interactive_typing(void **state)
{
    (void)state;
    struct pair v;
    struct flow f = {.port = 1000, .seq = 1, .ack = 5, .wnd = 9000};
    uint8_t p[1600];
    open_pair(&v);
    over(&v, p, packet(p, &f, ACK, 0, false, 0), false);
    f.ack += 1024;
    assert_int_equal(over(&v, p, packet(p, &f, ACK, 0, false, 0), false), 0);
    /* The acknowledgement number changes by an amount of two octets. */
    assert_int_equal(v.head, 6);
    f.ack += 100, f.wnd -= 100;
    assert_int_equal(over(&v, p, packet(p, &f, ACK, 0, false, 0), false), 0);
    /* One octet for the acknowledgement number and three for the window, which became smaller. */
    assert_int_equal(v.head, 7);
    /* Interactive typing: one octet is sent, its echo comes back, and the next octet acknowledges
     * it. */
    over(&v, p, packet(p, &f, ACK | SCPS_PSH, 0, false, 1), false);
    for (int i = 0; i < 5; i++) {
        f.ack += 1;
        assert_int_equal(over(&v, p, packet(p, &f, ACK | SCPS_PSH, 0, false, 1), false), 0);
        assert_int_equal(v.type, SCPS_VJ_COMPRESSED);
        assert_int_equal(v.head, 3);
    }
    assert_int_equal(over(&v, p, packet(p, &f, ACK | SCPS_URG, 3, false, 1), false), 0);
    assert_int_equal(v.type, SCPS_VJ_COMPRESSED);
}

/* Changes of every size and sign, and URG: each packet is restored exactly, or was sent with its
 * full header. */
static void any_change(void **state)
{
    (void)state;
    static const uint32_t step[] = {0,      1,      2,       255,        256,        257,
                                    0x7fff, 0xffff, 0x10000, 0x80000000, 0xffffffff, 512};
    struct pair v;
    struct flow f = {.port = 1000, .seq = 1, .ack = 5, .wnd = 9000};
    uint8_t p[1600];
    open_pair(&v);
    for (size_t a = 0; a < 12; a++)
        for (size_t b = 0; b < 12; b++)
            for (size_t c = 0; c < 12; c++)
                for (unsigned mix = 0; mix < 8; mix++) {
                    f.seq += step[a], f.ack += step[b], f.wnd = (uint16_t)(f.wnd + step[c]);
                    uint16_t fl = ACK | (mix & 1 ? SCPS_PSH : 0) | (mix & 2 ? SCPS_URG : 0);
                    size_t n = packet(p, &f, fl, mix & 2 ? (uint16_t)step[c] : 0, false,
                                      mix & 4 ? 512 : 0);
                    assert_int_equal(over(&v, p, n, false), 0);
                    if (step[b] > 0xffff)
                        assert_int_equal(v.type, SCPS_VJ_UNCOMPRESSED);
                }
}

static void what_is_never_compressed(void **state)
{
    (void)state;
    struct pair v;
    struct flow f = {.port = 1000, .seq = 1, .ack = 5, .wnd = 9000};
    uint8_t p[1600];
    size_t n;
    open_pair(&v);
    static const uint16_t plain[] = {SCPS_SYN, SCPS_SYN | ACK, SCPS_FIN | ACK, SCPS_RST,
                                     0,        ACK | SCPS_ECE, ACK | SCPS_CWR};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        over(&v, p, packet(p, &f, plain[i], 0, false, 0), false);
        assert_int_equal(v.type, SCPS_VJ_IP);
    }
    n = packet(p, &f, ACK, 0, false, 100);
    p[6] = 0x20; /* The packet has more fragments. */
    over(&v, p, n, false);
    assert_int_equal(v.type, SCPS_VJ_IP);
    p[6] = 0, p[7] = 1; /* The packet is a later fragment. */
    over(&v, p, n, false);
    assert_int_equal(v.type, SCPS_VJ_IP);
    p[7] = 0, p[9] = 17;
    over(&v, p, n, false);
    assert_int_equal(v.type, SCPS_VJ_IP);
    p[9] = 6, p[0] = 0x65;
    over(&v, p, n, false);
    assert_int_equal(v.type, SCPS_VJ_IP);
    n = packet(p, &f, ACK, 0, false, 100);
    over(&v, p, n - 1, false); /* The packet is shorter than the value of its length field. */
    assert_int_equal(v.type, SCPS_VJ_IP);
    /* Options that change, such as time stamps, cannot be compressed, so the full header is
     * sent. */
    for (int i = 0; i < 4; i++) {
        assert_int_equal(over(&v, p, packet(p, &f, ACK, 0, true, 100), false), 0);
        assert_int_equal(v.type, SCPS_VJ_UNCOMPRESSED);
        assert_int_equal(v.head, 52);
    }
    /* A retransmission is sent with its full header, so that it repairs the state of the
     * decompressor. */
    f.seq -= 100;
    n = packet(p, &f, ACK, 0, false, 100);
    assert_int_equal(over(&v, p, n, false), 0);
    f.seq -= 100, f.id--;
    n = packet(p, &f, ACK, 0, false, 100);
    assert_int_equal(over(&v, p, n, false), 0);
    assert_int_equal(v.type, SCPS_VJ_UNCOMPRESSED);
    /* The same holds if the retransmission has shorter segments, and for a duplicate
     * acknowledgement. */
    f.seq -= 100;
    assert_int_equal(over(&v, p, packet(p, &f, ACK, 0, false, 60), false), 0);
    assert_int_equal(v.type, SCPS_VJ_UNCOMPRESSED);
    over(&v, p, packet(p, &f, ACK, 0, false, 0), false);
    assert_int_equal(over(&v, p, packet(p, &f, ACK, 0, false, 0), false), 0);
    assert_int_equal(v.type, SCPS_VJ_UNCOMPRESSED);
    /* Data after an acknowledgement is compressed. */
    assert_int_equal(over(&v, p, packet(p, &f, ACK, 0, false, 60), false), 0);
    assert_int_equal(v.type, SCPS_VJ_COMPRESSED);
}

static void many_connections(void **state)
{
    (void)state;
    struct pair v;
    struct flow f[20];
    uint8_t p[1600];
    open_pair(&v);
    for (uint16_t i = 0; i < 20; i++)
        f[i] = (struct flow){.port = (uint16_t)(2000 + i), .seq = i * 1000u};
    /* There are as many connections as slots: the first packet of each is sent with its full
     * header, later ones compressed with their slot number. */
    for (int round = 0; round < 5; round++)
        for (int i = 0; i < SCPS_VJ_SLOTS; i++) {
            assert_int_equal(over(&v, p, packet(p, &f[i], ACK, 0, false, 10), false), 0);
            assert_int_equal(v.type, round ? SCPS_VJ_COMPRESSED : SCPS_VJ_UNCOMPRESSED);
            if (round)
                assert_int_equal(v.head, 4);
        }
    /* There are more connections than slots: a new one takes the slot that was used least
     * recently. */
    for (int i = 16; i < 20; i++) {
        assert_int_equal(over(&v, p, packet(p, &f[i], ACK, 0, false, 10), false), 0);
        assert_int_equal(v.type, SCPS_VJ_UNCOMPRESSED);
    }
    for (int i = 4; i < 16; i++) {
        assert_int_equal(over(&v, p, packet(p, &f[i], ACK, 0, false, 10), false), 0);
        assert_int_equal(v.type, SCPS_VJ_COMPRESSED);
    }
    assert_int_equal(over(&v, p, packet(p, &f[0], ACK, 0, false, 10), false), 0);
    assert_int_equal(v.type, SCPS_VJ_UNCOMPRESSED);
}

/* RFC 1144 section 4: after a loss that was not detected, all relative values are wrong until the
 * next full header, and the TCP checksum detects this; after an error that the line has reported,
 * compressed packets are not even restored. */
static void a_lost_packet_spoils_the_rest(void **state)
{
    (void)state;
    struct pair v;
    struct flow f = {.port = 1000, .seq = 1};
    uint8_t p[1600];
    open_pair(&v);
    for (int i = 0; i < 3; i++)
        assert_int_equal(over(&v, p, packet(p, &f, ACK, 0, false, 50), false), 0);
    over(&v, p, packet(p, &f, ACK, 0, false, 50), true);
    assert_int_equal(over(&v, p, packet(p, &f, ACK, 0, false, 50), false), -1);
    scps_vj_line_error(&v.rx);
    assert_int_equal(over(&v, p, packet(p, &f, ACK, 0, false, 50), false),
                     SCPS_DROP_BAD_COMPRESSED);
    f.seq -= 150; /* The retransmission is sent with its full header. */
    assert_int_equal(over(&v, p, packet(p, &f, ACK, 0, false, 50), false), 0);
    assert_int_equal(v.type, SCPS_VJ_UNCOMPRESSED);
    assert_int_equal(over(&v, p, packet(p, &f, ACK, 0, false, 50), false), 0);
    assert_int_equal(v.type, SCPS_VJ_COMPRESSED);
}

static void unsend_restores_the_state(void **state)
{
    (void)state;
    struct pair v;
    struct flow f = {.port = 1000, .seq = 1}, g = {.port = 1001, .seq = 7};
    uint8_t p[1600], out[SCPS_VJ_HDR_MAX];
    size_t n, len, replaced;
    open_pair(&v);
    for (int i = 0; i < 5; i++) {
        struct flow *w = i & 1 ? &g : &f;
        len = packet(p, w, ACK, 0, false, 50);
        for (int k = 0; k < 3; k++) {
            scps_vj_compress(&v.tx, p, len, len, out, &n, &replaced);
            scps_vj_unsend(&v.tx);
        }
        assert_int_equal(over(&v, p, len, false), 0);
    }
    scps_vj_unsend(&v.tx);
    /* scps_vj_unsend() takes back one packet; a second call has no effect. */
    scps_vj_unsend(&v.tx);
}

/* For any octets from the line the decompressor reads none beyond their end, and returns only
 * plausible headers. */
static void any_octets(void **state)
{
    (void)state;
    struct scps_prng r;
    struct scps_vj_rx rx;
    struct pair v;
    struct flow f = {.port = 1000, .seq = 1};
    uint8_t p[1600], out[SCPS_VJ_HDR_MAX];
    scps_prng_seed(&r, 7);
    open_pair(&v);
    size_t len = packet(p, &f, ACK, 0, true, 5);
    over(&v, p, len, false);
    for (int i = 0; i < 200000; i++) {
        uint8_t *line, junk[70];
        size_t total = scps_prng_below(&r, sizeof junk + 1), n, used;
        size_t avail = scps_prng_below(&r, total + 1);
        for (size_t k = 0; k < sizeof junk; k++)
            junk[k] = (uint8_t)scps_prng_next(&r);
        if (i & 1 && total >= 20) { /* Half of the inputs are almost correct. */
            junk[0] = 0x45, junk[9] = (uint8_t)(i >> 1 & 31), junk[6] = junk[7] = 0;
            scps_put16(junk + 2, (uint16_t)total);
        } else {
            junk[1] &= 15;
        }
        rx = v.rx;
        /* The octets end at the end of the buffer, so that the address sanitizer detects a read
         * beyond. */
        line = junk + sizeof junk - avail;
        memmove(line, junk, avail);
        enum scps_vj_type type = i & 2 ? SCPS_VJ_COMPRESSED : SCPS_VJ_UNCOMPRESSED;
        if (scps_vj_expand(&rx, type, line, avail, total, out, &n, &used))
            continue;
        assert_true(used <= avail && n >= 40 && n <= SCPS_VJ_HDR_MAX);
        assert_int_equal(out[0] >> 4, 4);
        assert_int_equal(scps_get16(out + 2), total - used + n);
        assert_int_equal(out[9], SCPS_IPPROTO_TCP);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_way_data),
        cmocka_unit_test(acknowledgements_and_interactive_typing),
        cmocka_unit_test(any_change),
        cmocka_unit_test(what_is_never_compressed),
        cmocka_unit_test(many_connections),
        cmocka_unit_test(a_lost_packet_spoils_the_rest),
        cmocka_unit_test(unsend_restores_the_state),
        cmocka_unit_test(any_octets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
