/* SPDX-License-Identifier: MIT */
/* SCPS-TP header compression (docs/SCPS-TP.md section 8): building and parsing of headers. Behind
 * the connection id, one or two octets of bits say which fields follow and which flags are set:
 *
 *     octet 1   MORE TS1 TS2 RB | SNACK PUSH S A         octet 2   OPTS PAD URG ACKR | - RST - FIN
 *
 * MORE: octet 2 follows; TS1, TS2: the two timestamps; RB: a record ends with this segment (TCP
 * option 22); S: the sequence number; A: the acknowledgement number and the window; OPTS: other
 * options. The meaning of ACKR is open (section 10).
 *
 * A header must have an even length. With one octet of bits the length is even; a second octet of
 * bits makes it odd, and so do options of odd length. Bit PAD says that a padding octet makes it
 * even again. (According to docs/SCPS-TP.md a sender may also add a second octet of bits only to
 * make the length even; this file never sends such a header, but accepts it.)
 *
 * Which fields are sent: a segment with data has S, and has A if the acknowledgement is new. A
 * segment without data has A, and has S if the sequence number is new or if the segment carries the
 * corruption option (kind 23), which is accepted only with S (core/state.c). A field is new if it
 * differs from that of the packet before. A new field is repeated in the next `repeat` packets, so
 * that the loss of one of them has no effect. The reference implementation never repeats a field
 * and leaves A out of segments with data (8.2); parameters repeat and no_ack_on_data of
 * scps_comp_tx_init() select this behaviour. A SNACK is sent as an option, as the reference
 * implementation does; the SNACK bit and its fields, whose place in the header is open (8.2), are
 * accepted, but not sent.
 *
 * Which values absent fields get: according to docs/SCPS-TP.md, the last value received. But if the
 * last data had sequence number seq and length len, the next pure acknowledgement of that sender
 * has seq + len. The reference implementation sends S in it, but that packet may be lost, and a
 * later one without S would get the old value, which lies before the window. So the receiver uses
 * the highest sequence number received, data included; without loss both rules give the same value.
 * Data, FIN and RST without S are refused, because the checksum does not cover a value that the
 * receiver fills in: octets in the wrong place, or a forged reset that is always in the window, are
 * worse than a retransmission.
 *
 * Absent timestamps stay absent. Bits TS1 and TS2 (8.2) show each of them, so a segment without
 * timestamps is no error; the reference implementation leaves them out of segments with records.
 * The last values received would be the echo of an older segment, from which a sender would
 * conclude that its retransmissions were needless (RFC 3522).
 *
 * The bit ACKR is sent as 0 and ignored in received headers. A reset is sent with a TCP header
 * (8.2).
 */
#include <scps/comp.h>

#include "base/bytes.h"
#include "wire/comp.h"
#include "wire/opt.h"

void scps_comp_tx_init(struct scps_comp_tx *tx, uint8_t conn_id, unsigned repeat,
                       bool no_ack_on_data)
{
    *tx = (struct scps_comp_tx){.conn_id = conn_id,
                                .repeat = (uint8_t)SCPS_MIN(repeat, 255),
                                .no_ack_on_data = no_ack_on_data};
}

/* ---- functions that build compressed headers ---- */

/* Writes the options that are sent uncompressed, without padding: at most OPT_ROOM octets. */
static size_t put_options(uint8_t *o, const struct scps_seg *s)
{
    uint8_t *p = o;

    if (s->has & SCPS_HAS_SNACK && s->snack_size) {
        size_t vec = SCPS_MIN(s->snack_vec_len, SCPS_SNACK_VEC_MAX);
        *p++ = SCPS_OPT_SNACK;
        *p++ = (uint8_t)(6 + vec);
        scps_put16(p, s->snack_off);
        scps_put16(p + 2, s->snack_size);
        memcpy(p + 4, s->snack_vec, vec);
        p += 4 + vec;
    }
    if (s->has & SCPS_HAS_CORRUPTION) {
        *p++ = SCPS_OPT_CORRUPTION;
        *p++ = 2;
    }
    size_t room = OPT_ROOM - (size_t)(p - o), n = SCPS_MIN(s->nsack, SCPS_SACK_MAX);
    if (s->has & SCPS_HAS_SACK && n && room >= 10) {
        n = SCPS_MIN(n, (room - 2) / 8);
        *p++ = SCPS_OPT_SACK;
        *p++ = (uint8_t)(2 + 8 * n);
        for (size_t i = 0; i < n; i++, p += 8) {
            scps_put32(p, s->sack[i].left);
            scps_put32(p + 4, s->sack[i].right);
        }
    }
    return (size_t)(p - o);
}

/* Returns true if a field must be sent, because it has changed in this packet (changed true) or in
 * one of the last `repeat` packets. *again counts in how many further packets the field will be
 * sent. */
static bool repeat_bit(bool changed, uint8_t *again, uint8_t repeat)
{
    if (changed) {
        *again = repeat;
        return true;
    }
    if (!*again)
        return false;
    --*again;
    return true;
}

/* Computes the two octets of flag bits of a compressed header. seq: the sequence number is sent;
 * ack: the acknowledgement is sent; nopt: octets of options. */
static void bits_of(const struct scps_seg *s, bool seq, bool ack, size_t nopt, uint8_t *one,
                    uint8_t *two)
{
    *one =
        (uint8_t)((s->has & SCPS_HAS_TS ? COMP_TS1 | COMP_TS2 : 0) |
                  (s->has & SCPS_HAS_RECORD ? COMP_RB : 0) | (s->flags & SCPS_PSH ? COMP_PUSH : 0) |
                  (seq ? COMP_S : 0) | (ack ? COMP_A : 0));
    *two = (uint8_t)((nopt ? COMP_OPTS : 0) | (s->flags & SCPS_URG ? COMP_URG : 0) |
                     (s->flags & SCPS_FIN ? COMP_FIN : 0));
    /* All other fields have an even length. The connection id and the two octets of bits take 3
     * octets, the octet with the length of the options is a fourth, and the options may have an odd
     * length. PAD makes the sum even. */
    if (*two && (nopt ? nopt % 2 : 1))
        *two |= COMP_PAD;
    if (*two)
        *one |= COMP_MORE;
}

/* Writes a compressed header with the octets of flag bits `one` and `two` and returns its end. two
 * 0: the header has only the octet `one`. */
static uint8_t *put_fields(uint8_t *o, uint8_t id, uint8_t one, uint8_t two,
                           const struct scps_seg *s, const uint8_t *opt, size_t nopt)
{
    *o++ = id;
    *o++ = one;
    if (two)
        *o++ = two;
    if (two & COMP_URG) {
        scps_put16(o, s->urg);
        o += 2;
    }
    if (one & COMP_A) {
        scps_put16(o, s->wnd);
        scps_put32(o + 2, s->ack);
        o += 6;
    }
    if (one & COMP_S) {
        scps_put32(o, s->seq);
        o += 4;
    }
    if (one & COMP_TS1) {
        scps_put32(o, s->tsval);
        scps_put32(o + 4, s->tsecr);
        o += 8;
    }
    if (nopt) {
        *o++ = (uint8_t)nopt;
        memcpy(o, opt, nopt);
        o += nopt;
    }
    if (two & COMP_PAD)
        *o++ = 0;
    scps_put16(o, 0);
    return o + 2;
}

size_t scps_comp_build(uint8_t *p, struct scps_comp_tx *tx, const struct scps_seg *s, bool *acked)
{
    const uint16_t unsayable = SCPS_SYN | SCPS_RST | SCPS_ECE | SCPS_CWR;
    const uint16_t options =
        SCPS_HAS_SACK | SCPS_HAS_SNACK | SCPS_HAS_TS | SCPS_HAS_RECORD | SCPS_HAS_CORRUPTION;
    bool carries = s->len || s->flags & SCPS_FIN;

    if (s->flags & unsayable || (!(s->flags & SCPS_ACK) && !s->len) || s->has & ~options)
        return 0;

    bool new_ack = !tx->known || s->ack != tx->ack || s->wnd != tx->wnd;
    bool new_seq = !tx->known || s->seq != tx->seq;
    bool bare =
        s->len && ((tx->no_ack_on_data && !(s->flags & SCPS_FIN)) || !(s->flags & SCPS_ACK));
    bool a = false, q;
    if (!bare) {
        /* A FIN always carries SEG.ACK (RFC 9293 section 3.6). In LAST-ACK the connection is
         * deleted once the FIN is acknowledged; if the last acknowledgement of what the peer has
         * sent was lost before, no later segment of this end could repeat it. */
        a = repeat_bit(new_ack, &tx->ack_again, tx->repeat) || !s->len || s->flags & SCPS_FIN;
        tx->ack = s->ack;
        tx->wnd = s->wnd;
    }
    q = repeat_bit(new_seq, &tx->seq_again, tx->repeat) || carries || s->has & SCPS_HAS_CORRUPTION;
    tx->seq = s->seq;
    tx->known |= !bare;
    if (acked)
        *acked = !bare || (s->flags & SCPS_ACK && !new_ack);

    uint8_t opt[OPT_ROOM], one, two;
    size_t nopt = 0;
    if (s->has & (SCPS_HAS_SACK | SCPS_HAS_SNACK | SCPS_HAS_CORRUPTION))
        nopt = put_options(opt, s);
    bits_of(s, q, a, nopt, &one, &two);
    return (size_t)(put_fields(p, tx->conn_id, one, two, s, opt, nopt) - p);
}

/* ---- functions of the checksum of a segment with a compressed header (8.3) ---- */

static uint64_t sum_of(const uint8_t *p, size_t len, const uint8_t *payload, size_t payload_len)
{
    uint64_t sum = scps_cksum_add(0, p, len);

    return payload ? scps_cksum_add(sum, payload, payload_len) : sum;
}

uint16_t scps_comp_checksum(const struct scps_addr *src, const struct scps_addr *dst, uint8_t proto,
                            const uint8_t *p, size_t hdr_len, const uint8_t *payload,
                            size_t payload_len)
{
    uint64_t sum = sum_of(p, hdr_len, payload, payload_len);

    return scps_cksum_fold(
        scps_cksum_pseudo(sum, src, dst, proto, (uint32_t)(hdr_len + payload_len)));
}

uint8_t scps_comp_proto(const struct scps_addr *src, const struct scps_addr *dst, const uint8_t *p,
                        size_t hdr, const uint8_t *payload, size_t payload_len)
{
    static const uint8_t accepted[] = {SCPS_IPPROTO_SCPS_COMP, SCPS_IPPROTO_TCP,
                                       SCPS_IPPROTO_SCPS_TP};
    uint64_t sum = sum_of(p, hdr, payload, payload_len);

    for (size_t i = 0; i < sizeof accepted; i++)
        if (!scps_cksum_fold(
                scps_cksum_pseudo(sum, src, dst, accepted[i], (uint32_t)(hdr + payload_len))))
            return accepted[i];
    return 0;
}

/* ---- functions that parse compressed headers ---- */

static uint16_t flags_of(uint8_t one, uint8_t two)
{
    return (uint16_t)(SCPS_ACK | (one & COMP_PUSH ? SCPS_PSH : 0) |
                      (two & COMP_RST ? SCPS_RST : 0) | (two & COMP_FIN ? SCPS_FIN : 0) |
                      (two & COMP_URG ? SCPS_URG : 0));
}

/* Parses the fields at fixed places. An absent field gets the value that rx received last, except
 * timestamps, since old ones would belong to another segment. One timestamp without the other is
 * ignored. */
static void parse_fields(struct scps_cursor *c, uint8_t one, uint8_t two,
                         const struct scps_comp_rx *rx, struct scps_seg *s)
{
    s->flags = flags_of(one, two);
    s->has = one & COMP_RB ? SCPS_HAS_RECORD : 0;
    s->nsack = 0;
    s->implied =
        (uint8_t)((one & COMP_S ? 0 : SCPS_IMPLIED_SEQ) | (one & COMP_A ? 0 : SCPS_IMPLIED_ACK));
    s->snack_vec_len = 0;
    s->urg = two & COMP_URG ? scps_cursor_get16(c) : 0;
    s->wnd = one & COMP_A ? scps_cursor_get16(c) : rx->wnd;
    s->ack = one & COMP_A ? scps_cursor_get32(c) : rx->ack;
    s->seq = one & COMP_S ? scps_cursor_get32(c) : rx->next;
    if (one & COMP_TS1 && one & COMP_TS2)
        s->has |= SCPS_HAS_TS;
    s->tsval = one & COMP_TS1 ? scps_cursor_get32(c) : 0;
    s->tsecr = one & COMP_TS2 ? scps_cursor_get32(c) : 0;
    if (one & COMP_SNACK) {
        s->snack_off = scps_cursor_get16(c);
        s->snack_size = scps_cursor_get16(c);
        /* A SNACK of size 0 has no meaning and is ignored (docs/SCPS-TP.md section 2.1). */
        if (s->snack_size)
            s->has |= SCPS_HAS_SNACK;
    }
}

/* Parses TCP options that were sent uncompressed. Returns false when they are longer than the 40
 * octets that a TCP header can hold. */
static bool parse_options(struct scps_cursor *c, struct scps_seg *s)
{
    const uint16_t syn_only = SCPS_HAS_MSS | SCPS_HAS_WSCALE | SCPS_HAS_SACK_OK | SCPS_HAS_CAPS |
                              SCPS_HAS_XCAPS | SCPS_HAS_BETS_OK;
    size_t n = scps_cursor_get8(c);
    if (n > OPT_ROOM)
        return false;
    const uint8_t *p = scps_cursor_skip(c, n);
    if (p) {
        scps_tcpopt_parse(p, n, s);
        s->has &= (uint16_t)~syn_only;
    }
    return true;
}

int scps_comp_parse(const uint8_t *p, size_t avail, size_t seg_len, const struct scps_comp_rx *rx,
                    struct scps_seg *s)
{
    avail = SCPS_MIN(avail, seg_len);
    struct scps_cursor c = {.p = p, .end = p + avail};
    if (!rx->known)
        return SCPS_DROP_BAD_COMPRESSED;
    (void)scps_cursor_get8(&c); /* The connection id is skipped. */
    uint8_t one = scps_cursor_get8(&c), two = one & COMP_MORE ? scps_cursor_get8(&c) : 0;
    parse_fields(&c, one, two, rx, s);
    if (two & COMP_OPTS && !parse_options(&c, s))
        return SCPS_DROP_BAD_COMPRESSED;
    if (two & COMP_PAD)
        (void)scps_cursor_get8(&c);
    (void)scps_cursor_get16(&c); /* The checksum is skipped. */
    if (c.cut)
        return avail < seg_len ? SCPS_DROP_TRUNCATED : SCPS_DROP_BAD_COMPRESSED;

    size_t hdr = (size_t)(c.p - p);
    s->sport = s->dport = 0;
    s->hdr_len = (uint8_t)hdr;
    s->gso = 0;
    s->len = (uint32_t)(seg_len - hdr);
    s->data = avail == seg_len ? c.p : NULL;
    if (!(one & COMP_S) && (s->len || s->flags & (SCPS_FIN | SCPS_RST)))
        return SCPS_DROP_BAD_COMPRESSED;
    return 0;
}

void scps_comp_learn(struct scps_comp_rx *rx, const struct scps_seg *s)
{
    uint32_t next = s->seq + s->len + !!(s->flags & SCPS_SYN) + !!(s->flags & SCPS_FIN);

    if (!rx->known || (int32_t)(next - rx->next) > 0)
        rx->next = next;
    if (s->flags & SCPS_ACK) {
        rx->ack = s->ack;
        rx->wnd = s->wnd;
    }
    if (s->has & SCPS_HAS_TS) {
        rx->ts = true;
        rx->tsval = s->tsval;
        rx->tsecr = s->tsecr;
    }
    rx->known = true;
}
