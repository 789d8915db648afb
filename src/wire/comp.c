/* SPDX-License-Identifier: MIT */
/* SCPS-TP header compression (spec sheet section 8), both ways.
 *
 *     octet 1   MORE TS1 TS2 RB | SNACK PUSH S A         octet 2   OPTS PAD URG ACKR | - RST - FIN
 *
 * A header of one bit octet is even by itself; a second one makes it odd, and so do options of odd length,
 * hence PAD.  (Two octets of bits where one would do is the sheet's other way to become even; it never
 * happens here and is understood when it comes.)
 *
 * What is sent.  Data says S, and A while the acknowledgement is news; other segments say A, and S while
 * that is news.  News is what differs from the last packet, and is repeated in the next `repeat` packets:
 * one loss among them costs nothing.  RI never repeats and leaves A out of data (8.2), which two
 * parameters give.  A SNACK goes as an option, as RI does; its own bit and place (8.2, "exact place needs
 * the book") are understood, not used.
 *
 * What is left out.  The sheet: fields keep the last value received.  Where the last data says `seq` and
 * was so long, that sender's next pure acknowledgement has seq + length; RI would say S then, but that
 * packet may be lost, and the old value would lie before the window.  So the furthest sequence number heard
 * of is kept, data included; while nothing is lost both are the same.  Data, FIN and RST without S are
 * refused: the checksum does not cover what is filled in, and octets in the wrong place, or a forged
 * reset that is always in the window, are worse than a resend.
 *
 * ACKR is ignored and RST sent uncompressed, as the sheet advises (8.2).
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

/* ---- building ---------------------------------------------------------------------------------- */

/* The options that travel raw, without padding: at most OPT_ROOM octets. */
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

/* Whether a value is to be said: it is news, or was lately. */
static bool say(bool changed, uint8_t *again, uint8_t repeat)
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
    bool a, q;
    if (bare) {
        a = false;
    } else {
        a = say(new_ack, &tx->ack_again, tx->repeat) || !s->len;
        tx->ack = s->ack;
        tx->wnd = s->wnd;
    }
    q = say(new_seq, &tx->seq_again, tx->repeat) || carries;
    tx->seq = s->seq;
    tx->known |= !bare;
    if (acked)
        *acked = !bare || (s->flags & SCPS_ACK && !new_ack);

    uint8_t opt[OPT_ROOM];
    size_t nopt = 0;
    if (s->has & (SCPS_HAS_SACK | SCPS_HAS_SNACK | SCPS_HAS_CORRUPTION))
        nopt = put_options(opt, s);

    uint8_t one = 0, two = 0, *o = p;
    one |= s->has & SCPS_HAS_TS ? COMP_TS1 | COMP_TS2 : 0;
    one |= s->has & SCPS_HAS_RECORD ? COMP_RB : 0;
    one |= s->flags & SCPS_PSH ? COMP_PUSH : 0;
    one |= q ? COMP_S : 0;
    one |= a ? COMP_A : 0;
    two |= nopt ? COMP_OPTS : 0;
    two |= s->flags & SCPS_URG ? COMP_URG : 0;
    two |= s->flags & SCPS_FIN ? COMP_FIN : 0;
    /* id, two octets of bits and the length of the options: 3 or 4; every other field is even */
    if (two && (nopt ? nopt % 2 : 1))
        two |= COMP_PAD;

    *o++ = tx->conn_id;
    *o++ = (uint8_t)(one | (two ? COMP_MORE : 0));
    if (two)
        *o++ = two;
    if (two & COMP_URG) {
        scps_put16(o, s->urg);
        o += 2;
    }
    if (a) {
        scps_put16(o, s->wnd);
        scps_put32(o + 2, s->ack);
        o += 6;
    }
    if (q) {
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
    return (size_t)(o + 2 - p);
}

/* ---- checksum ---------------------------------------------------------------------------------- */

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

/* ---- parsing ----------------------------------------------------------------------------------- */

/* The next n octets, or NULL when the header ends before them. */
static const uint8_t *take(const uint8_t **p, const uint8_t *end, size_t n)
{
    const uint8_t *at = *p;

    if ((size_t)(end - at) < n)
        return NULL;
    *p = at + n;
    return at;
}

int scps_comp_parse(const uint8_t *p, size_t avail, size_t seg_len, const struct scps_comp_rx *rx,
                    struct scps_seg *s)
{
    const uint16_t syn_only = SCPS_HAS_MSS | SCPS_HAS_WSCALE | SCPS_HAS_SACK_OK | SCPS_HAS_CAPS |
                              SCPS_HAS_XCAPS | SCPS_HAS_BETS_OK;
    const uint8_t *from = p, *f;

    if (avail > seg_len)
        avail = seg_len;
    const uint8_t *end = p + avail;
    const int too_short = avail < seg_len ? SCPS_DROP_TRUNCATED : SCPS_DROP_BAD_COMPRESSED;
    if (!rx->known)
        return SCPS_DROP_BAD_COMPRESSED;
    if (!(f = take(&p, end, 2)))
        return too_short;
    uint8_t one = f[1], two = 0;
    if (one & COMP_MORE) {
        if (!(f = take(&p, end, 1)))
            return too_short;
        two = f[0];
    }
    uint16_t has = one & COMP_RB ? SCPS_HAS_RECORD : 0;
    s->flags = SCPS_ACK;
    s->flags |= one & COMP_PUSH ? SCPS_PSH : 0;
    s->flags |= two & COMP_RST ? SCPS_RST : 0;
    s->flags |= two & COMP_FIN ? SCPS_FIN : 0;
    s->urg = 0;
    s->nsack = 0;
    s->snack_vec_len = 0;
    if (two & COMP_URG) {
        if (!(f = take(&p, end, 2)))
            return too_short;
        s->flags |= SCPS_URG;
        s->urg = scps_get16(f);
    }
    s->wnd = rx->wnd;
    s->ack = rx->ack;
    if (one & COMP_A) {
        if (!(f = take(&p, end, 6)))
            return too_short;
        s->wnd = scps_get16(f);
        s->ack = scps_get32(f + 2);
    }
    s->seq = rx->next;
    if (one & COMP_S) {
        if (!(f = take(&p, end, 4)))
            return too_short;
        s->seq = scps_get32(f);
    }
    s->tsval = rx->tsval;
    s->tsecr = rx->tsecr;
    if (rx->ts || (one & COMP_TS1 && one & COMP_TS2))
        has |= SCPS_HAS_TS;
    if (one & COMP_TS1) {
        if (!(f = take(&p, end, 4)))
            return too_short;
        s->tsval = scps_get32(f);
    }
    if (one & COMP_TS2) {
        if (!(f = take(&p, end, 4)))
            return too_short;
        s->tsecr = scps_get32(f);
    }
    if (one & COMP_SNACK) {
        if (!(f = take(&p, end, 4)))
            return too_short;
        s->snack_off = scps_get16(f);
        s->snack_size = scps_get16(f + 2);
        if (s->snack_size) /* 2.1: a size of 0 is meaningless */
            has |= SCPS_HAS_SNACK;
    }
    s->has = has;
    if (two & COMP_OPTS) {
        size_t n;
        if (!(f = take(&p, end, 1)))
            return too_short;
        n = f[0];
        if (n > OPT_ROOM) /* more than any TCP header can hold */
            return SCPS_DROP_BAD_COMPRESSED;
        if (!(f = take(&p, end, n)))
            return too_short;
        scps_tcpopt_parse(f, n, s);
        s->has &= (uint16_t)~syn_only;
    }
    if (two & COMP_PAD && !take(&p, end, 1))
        return too_short;
    if (!take(&p, end, 2))
        return too_short;

    size_t hdr = (size_t)(p - from);
    s->sport = s->dport = 0;
    s->hdr_len = (uint8_t)hdr;
    s->gso = 0;
    s->len = (uint32_t)(seg_len - hdr);
    s->data = avail == seg_len ? p : NULL;
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
