/* SPDX-License-Identifier: MIT */
/* wire/comp.c: the packets of docs/SCPS-TP.md section 8.6 are built and parsed octet for octet, and
 * no packet from a peer does harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <scps/comp.h>

#include "base/bytes.h"

static const struct scps_addr lo = {4, {127, 0, 0, 1}};

static size_t hex(const char *text, uint8_t *out)
{
    size_t n = 0;
    for (; *text; text++) {
        unsigned v;
        if (*text == ' ')
            continue;
        assert_int_equal(sscanf(text, "%2x", &v), 1);
        out[n++] = (uint8_t)v;
        text++;
    }
    return n;
}

/* Returns the checksum ck with `by` added in one's complement, as another protocol number in the
 * pseudo-header changes it. */
static uint16_t shifted(uint16_t ck, unsigned by)
{
    uint32_t v = ck + by;
    return (uint16_t)(v > 0xffff ? v - 0xffff : v);
}

struct golden {
    const char *bytes; /* The octets of the packet; its checksum is computed with protocol 106. */
    uint8_t id;
    uint16_t flags, wnd, has;
    uint32_t ack, seq, tsval, tsecr;
    bool seq_known; /* The reference implementation (RI) had already sent this sequence number. */
    unsigned data;  /* The number of octets of data, which are those of the test pattern. */
};

#define TS SCPS_HAS_TS
static const struct golden golden[] = {
    {"7c 63 7fff e16f6b0b e17e4fb2 e17e545d e17e5442 1bd0", 0x7c, SCPS_ACK, 0x7fff, TS, 0xe16f6b0b,
     0xe17e4fb2, 0xe17e545d, 0xe17e5442, false, 0},
    {"7c 61 7fff e16f6b0b e17e5466 e17e5442 4cfe", 0x7c, SCPS_ACK, 0x7fff, TS, 0xe16f6b0b,
     0xe17e4fb2, 0xe17e5466, 0xe17e5442, true, 0},
    {"ce 61 7a64 e17e6486 e17e54a2 e17e548e 0687", 0xce, SCPS_ACK, 0x7a64, TS, 0xe17e6486,
     0xe16f6b0b, 0xe17e54a2, 0xe17e548e, true, 0},
    {"ce 63 7a64 e17e594e e16f6b0b e17e548e e17e547b c564", 0xce, SCPS_ACK, 0x7a64, TS, 0xe17e594e,
     0xe16f6b0b, 0xe17e548e, 0xe17e547b, false, 0},
    {"7c e3 41 7fff e16f6b0b e17e9fb2 e1813145 e1811325 00 2942", 0x7c, SCPS_ACK | SCPS_FIN, 0x7fff,
     TS, 0xe16f6b0b, 0xe17e9fb2, 0xe1813145, 0xe1811325, false, 0},
    {"ce e3 41 8000 e17e9fb3 e16f6b0b e181319d e1813128 00 7a23", 0xce, SCPS_ACK | SCPS_FIN, 0x8000,
     TS, 0xe17e9fb3, 0xe16f6b0b, 0xe181319d, 0xe1813128, true, 0},
    {"7c 63 8000 e16f6b0c e17e9fb3 e18131aa e181319d 111f", 0x7c, SCPS_ACK, 0x8000, TS, 0xe16f6b0c,
     0xe17e9fb3, 0xe18131aa, 0xe181319d, false, 0},
    {"7c 62 e17e4fb2 e17e547b e17e5442 de08", 0x7c, SCPS_ACK, 0x7fff, TS, 0xe16f6b0b, 0xe17e4fb2,
     0xe17e547b, 0xe17e5442, false, 1024},
    {"3b 03 7fff e296a226 e2a60776 d7a7", 0x3b, SCPS_ACK, 0x7fff, 0, 0xe296a226, 0xe2a60776, 0, 0,
     false, 0},
    {"3b 01 7fff e296a226 c1ca", 0x3b, SCPS_ACK, 0x7fff, 0, 0xe296a226, 0xe2a60776, 0, 0, true, 0},
    {"3b 02 e2a60776 d240", 0x3b, SCPS_ACK, 0x7fff, 0, 0xe296a226, 0xe2a60776, 0, 0, false, 1024},
};

static struct scps_seg segment(const struct golden *g, const uint8_t *data)
{
    return (struct scps_seg){.flags = g->flags,
                             .wnd = g->wnd,
                             .ack = g->ack,
                             .seq = g->seq,
                             .has = g->has,
                             .tsval = g->tsval,
                             .tsecr = g->tsecr,
                             .data = g->data ? data : NULL,
                             .len = g->data};
}

static void golden_packets_sent(void **state)
{
    (void)state;
    uint8_t data[1024];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(0x20 + i % 95);
    for (size_t i = 0; i < sizeof golden / sizeof *golden; i++) {
        const struct golden *g = &golden[i];
        uint8_t want[64], p[SCPS_COMP_MAX];
        size_t n = hex(g->bytes, want);
        struct scps_seg s = segment(g, data);
        struct scps_comp_tx tx;
        bool acked;
        scps_comp_tx_init(&tx, g->id, 0, true);
        /* RI sets the bit S only when the sequence number differs from the last packet's. */
        if (g->seq_known) {
            tx.known = true;
            tx.seq = g->seq;
        }
        assert_int_equal(scps_comp_build(p, &tx, &s, &acked), n);
        assert_int_equal(n % 2, 0);
        uint16_t golden_ck = scps_get16(want + n - 2);
        static const uint8_t proto[] = {106, 105, 6};
        static const unsigned by[] = {0, 1, 100};
        for (int k = 0; k < 3; k++) {
            scps_put16(p + n - 2, 0);
            scps_put16(p + n - 2, scps_comp_checksum(&lo, &lo, proto[k], p, n, s.data, s.len));
            scps_put16(want + n - 2, shifted(golden_ck, by[k]));
            assert_memory_equal(p, want, n);
            assert_int_equal(scps_comp_proto(&lo, &lo, p, n, s.data, s.len), proto[k]);
            assert_int_equal(scps_comp_checksum(&lo, &lo, proto[k], p, n, s.data, s.len), 0);
        }
        p[2] ^= 0x10;
        assert_int_equal(scps_comp_proto(&lo, &lo, p, n, s.data, s.len), 0);
    }
}

static void golden_packets_received(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof golden / sizeof *golden; i++) {
        const struct golden *g = &golden[i];
        uint8_t p[64 + 1024] = {0};
        size_t n = hex(g->bytes, p);
        struct scps_seg s;
        struct scps_comp_rx rx = {
            .known = true, .ts = g->has & TS, .next = g->seq, .ack = g->ack, .wnd = g->wnd};
        memset(&s, 0xa5, sizeof s);
        assert_int_equal(scps_comp_parse(p, n + g->data, n + g->data, &rx, &s), 0);
        assert_int_equal(s.flags, g->flags);
        assert_int_equal(s.wnd, g->wnd);
        assert_int_equal(s.ack, g->ack);
        assert_int_equal(s.seq, g->seq);
        assert_int_equal(s.has, g->has);
        if (g->has & TS) {
            assert_int_equal(s.tsval, g->tsval);
            assert_int_equal(s.tsecr, g->tsecr);
        }
        assert_int_equal(s.hdr_len, n);
        assert_int_equal(s.len, g->data);
        assert_ptr_equal(s.data, p + n);
        assert_true(s.sport == 0 && s.dport == 0 && s.urg == 0 && s.nsack == 0 && s.gso == 0);
    }
}

/* docs/SCPS-TP.md section 8.6, "with SNACK, as RI does it": 3e e1 80 and 3e e3 80; push as 0x66. */
static void golden_snacks_and_push(void **state)
{
    (void)state;
    static const char *const with[] = {
        "3e e1 80 f424 ef71709a 11111111 22222222 06 150600000001 0000",
        "3e e3 80 f3a4 ef71709b 33333333 11111111 22222222 06 150600000001 0000"};
    for (int i = 0; i < 2; i++) {
        uint8_t want[64], p[SCPS_COMP_MAX];
        size_t n = hex(with[i], want);
        struct scps_comp_tx tx;
        scps_comp_tx_init(&tx, 0x3e, 0, true);
        tx.known = true;
        tx.seq = i ? 0 : 0x33333333;
        struct scps_seg s = {.flags = SCPS_ACK,
                             .wnd = i ? 0xf3a4 : 0xf424,
                             .ack = 0xef71709a + (unsigned)i,
                             .seq = 0x33333333,
                             .has = TS | SCPS_HAS_SNACK,
                             .tsval = 0x11111111,
                             .tsecr = 0x22222222,
                             .snack_size = 1};
        assert_int_equal(scps_comp_build(p, &tx, &s, NULL), n);
        assert_memory_equal(p, want, n);
        struct scps_comp_rx rx = {.known = true, .ts = true, .next = 0x33333333};
        struct scps_seg t;
        assert_int_equal(scps_comp_parse(p, n, n, &rx, &t), 0);
        assert_int_equal(t.has, TS | SCPS_HAS_SNACK);
        assert_true(t.snack_off == 0 && t.snack_size == 1 && t.snack_vec_len == 0);
    }
    uint8_t p[SCPS_COMP_MAX];
    struct scps_comp_tx tx;
    scps_comp_tx_init(&tx, 0x7c, 0, true);
    struct scps_seg s = {.flags = SCPS_ACK | SCPS_PSH, .has = TS, .len = 10};
    assert_int_equal(scps_comp_build(p, &tx, &s, NULL), 16);
    assert_int_equal(p[1], 0x66);
    s.has |= SCPS_HAS_RECORD;
    assert_int_equal(scps_comp_build(p, &tx, &s, NULL), 16);
    assert_int_equal(p[1], 0x76);
    /* Option 23 is accepted only in a packet with a sequence number (core/state.c), so each packet
     * with the option has one. */
    struct scps_seg ack = {.flags = SCPS_ACK, .has = SCPS_HAS_CORRUPTION};
    for (int i = 0; i < 5; i++) {
        assert_int_not_equal(scps_comp_build(p, &tx, &ack, NULL), 0);
        assert_int_equal(p[1] & 0x03, 0x03);
    }
}

/* The sizes of docs/SCPS-TP.md section 8.2: data 8 octets (16), acknowledgement 10 (18), with
 * sequence number 14 (22), FIN 16 (24). */
static void sizes(void **state)
{
    (void)state;
    for (int ts = 0; ts < 2; ts++) {
        uint8_t p[SCPS_COMP_MAX];
        struct scps_comp_tx tx;
        scps_comp_tx_init(&tx, 1, 0, true);
        struct scps_seg s = {.flags = SCPS_ACK, .has = ts ? TS : 0, .seq = 5};
        assert_int_equal(scps_comp_build(p, &tx, &s, NULL), 14 + 8 * ts);
        assert_int_equal(scps_comp_build(p, &tx, &s, NULL), 10 + 8 * ts);
        s.len = 100;
        assert_int_equal(scps_comp_build(p, &tx, &s, NULL), 8 + 8 * ts);
        s.len = 0;
        s.flags |= SCPS_FIN;
        assert_int_equal(scps_comp_build(p, &tx, &s, NULL), 16 + 8 * ts);
    }
}

static void segments_that_cannot_be_compressed(void **state)
{
    (void)state;
    uint8_t p[SCPS_COMP_MAX];
    struct scps_comp_tx tx, before;
    scps_comp_tx_init(&tx, 1, 2, false);
    before = tx;
    static const uint16_t flags[] = {SCPS_SYN,
                                     SCPS_SYN | SCPS_ACK,
                                     SCPS_RST,
                                     SCPS_RST | SCPS_ACK,
                                     SCPS_ACK | SCPS_ECE,
                                     SCPS_ACK | SCPS_CWR,
                                     SCPS_FIN,
                                     0};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        struct scps_seg s = {.flags = flags[i]};
        assert_int_equal(scps_comp_build(p, &tx, &s, NULL), 0);
    }
    struct scps_seg s = {.flags = SCPS_ACK, .has = SCPS_HAS_MSS};
    assert_int_equal(scps_comp_build(p, &tx, &s, NULL), 0);
    assert_memory_equal(&tx, &before, sizeof tx);
}

/* Data carries an acknowledgement while it is new, and in as many further packets as configured;
 * the reference implementation (RI) never lets data carry one. */
static void acknowledgements_on_data(void **state)
{
    (void)state;
    uint8_t p[SCPS_COMP_MAX];
    struct scps_comp_tx tx;
    bool acked;
    scps_comp_tx_init(&tx, 1, 2, false);
    struct scps_seg s = {.flags = SCPS_ACK, .len = 100, .seq = 1000, .ack = 500, .wnd = 7};
    static const uint8_t bits[] = {3, 3, 3, 2, 2};
    for (int i = 0; i < 5; i++, s.seq += 100) {
        assert_true(scps_comp_build(p, &tx, &s, &acked) > 0);
        assert_int_equal(p[1], bits[i]);
        assert_true(acked);
    }
    s.wnd = 8; /* A new window has to be sent as a new acknowledgement has. */
    for (int i = 0; i < 5; i++, s.seq += 100) {
        assert_true(scps_comp_build(p, &tx, &s, &acked) > 0);
        assert_int_equal(p[1], bits[i]);
    }
    /* A packet without data always has the acknowledgement number; it has the sequence number while
     * that is new. */
    s.len = 0;
    static const uint8_t ack_bits[] = {3, 3, 3, 1, 1};
    for (int i = 0; i < 5; i++) {
        assert_true(scps_comp_build(p, &tx, &s, &acked) > 0);
        assert_int_equal(p[1], ack_bits[i]);
    }

    /* RFC 9293 section 3.6: the FIN of the end in LAST-ACK acknowledges the peer's FIN, however
     * often it is repeated. */
    s.len = 100;
    s.flags |= SCPS_FIN;
    for (int i = 0; i < 5; i++) {
        assert_true(scps_comp_build(p, &tx, &s, &acked) > 0);
        assert_int_equal(p[1] & 3, 3);
    }
    s.flags = SCPS_ACK;

    scps_comp_tx_init(&tx, 1, 0, true);
    assert_true(scps_comp_build(p, &tx, &s, &acked) > 0);
    assert_int_equal(p[1], 2);
    /* A packet without data has to have the acknowledgement number, so it is not counted as sent
     * with data. */
    assert_false(acked);
    s.len = 0;
    assert_true(scps_comp_build(p, &tx, &s, &acked) > 0);
    assert_true(acked);
    s.len = 100;
    assert_true(scps_comp_build(p, &tx, &s, &acked) > 0);
    assert_true(acked);
}

/* Whatever packets are lost, the fields that matter arrive as they were sent. A pure
 * acknowledgement may have an older sequence number, but never one that the receiver would have to
 * refuse. */
static void loss_tolerance(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed < 200; seed++) {
        uint32_t rnd = seed;
        struct scps_comp_tx tx;
        struct scps_comp_rx rx = {.known = false};
        scps_comp_tx_init(&tx, 9, seed % 3, false);
        uint32_t nxt = 0xfffff000u * (seed & 1), una = 77, rcv_nxt = nxt;
        struct scps_seg syn = {.flags = SCPS_SYN | SCPS_ACK, .seq = nxt - 1, .ack = una, .wnd = 9};
        scps_comp_learn(&rx, &syn);
        for (int i = 0; i < 300; i++) {
            rnd = rnd * 1664525 + 1013904223;
            struct scps_seg s = {.flags = SCPS_ACK, .seq = nxt, .ack = una, .wnd = 9}, t;
            if (rnd >> 30) { /* The segment has data, or a new acknowledgement. */
                s.len = (rnd >> 16 & 255) + 1;
                nxt += s.len;
            } else {
                una += rnd >> 20 & 1023;
                s.ack = una;
            }
            uint8_t p[SCPS_COMP_MAX + 300];
            size_t n = scps_comp_build(p, &tx, &s, NULL);
            assert_true(n > 0);
            if ((rnd >> 8 & 3) == 0) /* A quarter of the packets is lost. */
                continue;
            assert_int_equal(scps_comp_parse(p, n + s.len, n + s.len, &rx, &t), 0);
            scps_comp_learn(&rx, &t);
            if (s.len) {
                assert_int_equal(t.seq, s.seq);
                if (t.seq == rcv_nxt)
                    rcv_nxt += t.len;
                else if ((int32_t)(t.seq - rcv_nxt) > 0)
                    /* The test acts as if the missing data had been resent. */
                    rcv_nxt = t.seq + t.len;
            } else {
                assert_int_equal(t.ack, s.ack);
                assert_true((int32_t)(t.seq - rcv_nxt) >= 0);
                assert_true((int32_t)(s.seq - t.seq) >= 0);
            }
            assert_true((int32_t)(s.ack - t.ack) >= 0);
        }
    }
}

static int parse(const char *text, size_t data, struct scps_seg *s)
{
    static uint8_t p[600];
    struct scps_comp_rx rx = {.known = true, .next = 1000, .ack = 2000, .wnd = 30};
    memset(p, 0x77, sizeof p);
    size_t n = hex(text, p);
    return scps_comp_parse(p, n + data, n + data, &rx, s);
}

static void any_combination_of_fields_is_parsed(void **state)
{
    (void)state;
    struct scps_seg s;
    /* The packet has every field: all bits of octet 1, URG and options in octet 2. */
    assert_int_equal(
        parse("05 ff e1 0011 0022 00000033 00000044 00000055 00000066 0007 0008 02 1702 00 "
              "0000",
              5, &s),
        0);
    assert_int_equal(s.flags, SCPS_ACK | SCPS_PSH | SCPS_URG | SCPS_FIN);
    assert_int_equal(s.urg, 0x11);
    assert_int_equal(s.wnd, 0x22);
    assert_int_equal(s.ack, 0x33);
    assert_int_equal(s.seq, 0x44);
    assert_int_equal(s.tsval, 0x55);
    assert_int_equal(s.tsecr, 0x66);
    assert_int_equal(s.has, TS | SCPS_HAS_RECORD | SCPS_HAS_SNACK | SCPS_HAS_CORRUPTION);
    assert_int_equal(s.snack_off, 7);
    assert_int_equal(s.snack_size, 8);
    assert_int_equal(s.len, 5);

    /* The packet has no field, so the values of the last one hold. */
    assert_int_equal(parse("05 00 0000", 0, &s), 0);
    assert_true(s.seq == 1000 && s.ack == 2000 && s.wnd == 30 && s.flags == SCPS_ACK && !s.has);
    /* An empty second octet (docs/SCPS-TP.md allows it to make the length even), reserved bits and
     * the bit ACKR have no effect. */
    assert_int_equal(parse("05 80 00 0000", 0, &s), 0);
    assert_int_equal(parse("05 80 1a 0000", 0, &s), 0);
    assert_int_equal(s.flags, SCPS_ACK);
    /* One time stamp alone, on a connection without time stamps, is not accepted. */
    assert_int_equal(parse("05 40 00000055 0000", 0, &s), 0);
    assert_int_equal(s.has, 0);
    /* A SNACK of size 0 is ignored. */
    assert_int_equal(parse("05 08 00070000 0000", 0, &s), 0);
    assert_int_equal(s.has, 0);
    /* Options that belong to SYNs are ignored, and NOPs are skipped. */
    assert_int_equal(parse("05 80 80 0c 01 020405b4 14041101 0402 01 0000", 0, &s), 0);
    assert_int_equal(s.has, 0);
    assert_int_equal(parse("05 80 80 0a 050a 00000001 00000009 0000", 0, &s), 0);
    assert_int_equal(s.has, SCPS_HAS_SACK);
    assert_true(s.nsack == 1 && s.sack[0].left == 1 && s.sack[0].right == 9);
    /* A reset has to have a sequence number. */
    assert_int_equal(parse("05 82 04 00000400 0000", 0, &s), 0);
    assert_int_equal(s.flags, SCPS_ACK | SCPS_RST);
    assert_int_equal(s.seq, 0x400);
}

/* docs/SCPS-TP.md section 8.2: a header without a sequence number stands for the highest one that
 * was received, also when older segments come later. */
static void omitted_sequence_number(void **state)
{
    (void)state;
    struct scps_comp_rx rx = {.known = false};
    struct scps_seg older = {.seq = 500, .len = 10, .flags = SCPS_ACK, .ack = 1, .wnd = 2}, s;
    struct scps_seg newer = {.seq = 1000, .len = 100, .flags = SCPS_ACK, .ack = 1, .wnd = 2};
    const uint8_t bare[] = {5, 0, 0, 0};

    scps_comp_learn(&rx, &newer);
    scps_comp_learn(&rx, &older);
    assert_int_equal(scps_comp_parse(bare, sizeof bare, sizeof bare, &rx, &s), 0);
    assert_int_equal(s.seq, 1100);
    assert_int_equal(s.implied, SCPS_IMPLIED_SEQ | SCPS_IMPLIED_ACK);
}

static void invalid_headers_are_refused(void **state)
{
    (void)state;
    struct scps_seg s;
    const int bad = SCPS_DROP_BAD_COMPRESSED;
    /* Data, a FIN or an RST without a sequence number is refused. */
    assert_int_equal(parse("05 00 0000", 1, &s), bad);
    assert_int_equal(parse("05 01 0022 00000033 0000", 1, &s), bad);
    assert_int_equal(parse("05 80 01 0000", 0, &s), bad);
    assert_int_equal(parse("05 80 04 0000", 0, &s), bad);
    /* The packet is shorter than its bits say: it is cut at every octet. */
    static const char *const whole =
        "05 ff e1 0011 0022 00000033 00000044 00000055 00000066 0007 0008 02 1702 00 0000";
    uint8_t p[80];
    size_t n = hex(whole, p);
    struct scps_comp_rx rx = {.known = true};
    for (size_t cut = 0; cut < n; cut++) {
        assert_int_equal(scps_comp_parse(p, cut, cut, &rx, &s), bad);
        assert_int_equal(scps_comp_parse(p, cut, n, &rx, &s), SCPS_DROP_TRUNCATED);
    }
    assert_int_equal(scps_comp_parse(p, n, n, &rx, &s), 0);
    /* The payload lies apart from the header. */
    assert_int_equal(scps_comp_parse(p, n, n + 1000, &rx, &s), 0);
    assert_int_equal(s.len, 1000);
    assert_null(s.data);
    /* The length of the options is larger than allowed, or larger than the packet. */
    for (unsigned len = 0; len < 256; len++) {
        uint8_t q[300] = {5, 0x80, 0x80, (uint8_t)len};
        memset(q + 4, 1, sizeof q - 4);
        int err = scps_comp_parse(q, sizeof q, sizeof q, &rx, &s);
        /* The packet is refused: it has data without a sequence number, or its length is wrong. */
        assert_int_equal(err, bad);
        q[1] |= 2;
        memmove(q + 7, q + 3, sizeof q - 7);
        err = scps_comp_parse(q, sizeof q, sizeof q, &rx, &s);
        assert_int_equal(err, len > 40 ? bad : 0);
        err = scps_comp_parse(q, 8 + 20, 8 + 20, &rx, &s);
        assert_int_equal(err, len > 18 ? bad : 0);
    }
    /* The length of the SACK option is that of more blocks than an option can have. */
    uint8_t q[60] = {5, 0x82, 0x80, 0, 0, 0, 0, 42, 5, 42};
    assert_int_equal(scps_comp_parse(q, sizeof q, sizeof q, &rx, &s), bad);
    /* The receiver does not know the connection's SYNs yet, so it cannot fill in missing fields. */
    rx.known = false;
    assert_int_equal(scps_comp_parse(p, n, n, &rx, &s), bad);
}

/* Every combination of fields that a segment can have is the same after it was built and parsed. */
static void built_and_parsed(void **state)
{
    (void)state;
    static const uint16_t flag[] = {SCPS_PSH, SCPS_FIN, SCPS_URG};
    static const uint16_t has[] = {SCPS_HAS_TS, SCPS_HAS_RECORD, SCPS_HAS_CORRUPTION,
                                   SCPS_HAS_SNACK, SCPS_HAS_SACK};
    for (unsigned mix = 0; mix < 1u << 9; mix++)
        for (unsigned vec = 0; vec < 4; vec++) {
            struct scps_seg s = {.flags = SCPS_ACK, .seq = 123456, .ack = 654321, .wnd = 4321};
            for (unsigned i = 0; i < 3; i++)
                s.flags |= mix >> i & 1 ? flag[i] : 0;
            for (unsigned i = 0; i < 5; i++)
                s.has |= mix >> (3 + i) & 1 ? has[i] : 0;
            s.len = mix >> 8 ? 100 : 0;
            s.urg = s.flags & SCPS_URG ? 17 : 0;
            s.tsval = 5, s.tsecr = 6;
            s.snack_off = 3, s.snack_size = 2, s.snack_vec_len = (uint8_t)vec;
            memset(s.snack_vec, 0x5a, vec);
            s.nsack = (uint8_t)(1 + vec);
            for (unsigned i = 0; i < s.nsack; i++)
                s.sack[i] = (struct scps_sack){1000 * i, 1000 * i + 500};
            struct scps_comp_tx tx;
            struct scps_comp_rx rx = {.known = true, .next = 1, .ts = s.has & SCPS_HAS_TS};
            struct scps_seg t;
            uint8_t p[SCPS_COMP_MAX + 100];
            memset(p, 0xee, sizeof p);
            scps_comp_tx_init(&tx, 77, 2, false);
            size_t n = scps_comp_build(p, &tx, &s, NULL);
            assert_in_range(n, 8, SCPS_COMP_MAX);
            assert_int_equal(n % 2, 0);
            assert_int_equal(p[0], 77);
            assert_int_equal(scps_comp_parse(p, n + s.len, n + s.len, &rx, &t), 0);
            assert_int_equal(t.hdr_len, n);
            assert_true(t.flags == s.flags && t.seq == s.seq && t.ack == s.ack && t.wnd == s.wnd &&
                        t.urg == s.urg && t.len == s.len && t.has == s.has);
            if (s.has & SCPS_HAS_TS)
                assert_true(t.tsval == 5 && t.tsecr == 6);
            if (s.has & SCPS_HAS_SNACK) {
                assert_true(t.snack_off == 3 && t.snack_size == 2 && t.snack_vec_len == vec);
                assert_memory_equal(t.snack_vec, s.snack_vec, vec);
            }
            if (s.has & SCPS_HAS_SACK) {
                assert_true(t.nsack >= 1 && t.nsack <= s.nsack);
                assert_memory_equal(t.sack, s.sack, t.nsack * sizeof *t.sack);
            }
        }
}

static void checksum_over_any_payload(void **state)
{
    (void)state;
    struct scps_addr a = {6, {0xfd, 1}}, b = {6, {0xfd, 0x42}};
    uint8_t p[SCPS_COMP_MAX + 1500], zeros[1500] = {0};
    struct scps_comp_tx tx;
    scps_comp_tx_init(&tx, 200, 2, false);
    for (size_t len = 1; len < 1500; len += 61) {
        struct scps_seg s = {.flags = SCPS_ACK, .seq = 9, .len = (uint32_t)len};
        size_t n = scps_comp_build(p, &tx, &s, NULL);
        for (size_t i = 0; i < len; i++)
            p[n + i] = (uint8_t)(i * 7);
        uint16_t ck = scps_comp_checksum(&a, &b, 105, p, n, p + n, len);
        scps_put16(p + n - 2, ck);
        assert_int_equal(scps_comp_proto(&a, &b, p, n, p + n, len), 105);
        /* The payload lies directly behind the header. */
        assert_int_equal(scps_comp_proto(&a, &b, p, n + len, NULL, 0), 105);
        assert_int_equal(scps_comp_proto(&a, &a, p, n + len, NULL, 0), 0);
        /* Hollow payload (counted, not stored) is summed as zeros. */
        scps_put16(p + n - 2, 0);
        assert_int_equal(scps_comp_checksum(&a, &b, 105, p, n, NULL, len),
                         scps_comp_checksum(&a, &b, 105, p, n, zeros, len));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_packets_sent),
        cmocka_unit_test(omitted_sequence_number),
        cmocka_unit_test(golden_packets_received),
        cmocka_unit_test(golden_snacks_and_push),
        cmocka_unit_test(sizes),
        cmocka_unit_test(segments_that_cannot_be_compressed),
        cmocka_unit_test(acknowledgements_on_data),
        cmocka_unit_test(loss_tolerance),
        cmocka_unit_test(any_combination_of_fields_is_parsed),
        cmocka_unit_test(invalid_headers_are_refused),
        cmocka_unit_test(built_and_parsed),
        cmocka_unit_test(checksum_over_any_payload),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
