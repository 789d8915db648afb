/* SPDX-License-Identifier: MIT */
/* TCP/IP header compression (RFC 1144), both directions.
 *
 *     0 C I P S A W U | [connection] | checksum | [urgent] [window] [ack] [seq] [IP id] | data
 *
 *     C      the connection's number is there (otherwise it is that of the last packet)
 *     I      the IP id has not just increased by one
 *     S A W  changes of sequence number, acknowledgement, window are there
 *     U      urgent: the pointer is there
 *     P      PSH
 *
 * A change is one octet, 1 to 255, or 0 and two octets. Two combinations of bits that hardly ever
 * occur are used for the two most frequent cases:
 *
 *     S A W U   one direction only: seq increased by the length of the last packet's data
 *     S   W U   interactive: seq and ack both increased by that length
 *
 * If anything else differs, options included, the packet is sent uncompressed, with the number of
 * the slot (the state of its connection at both ends) in the place of the IP protocol. A TCP with
 * timestamps is therefore never compressed.
 *
 * Source: RFC 1144 sections 3.2.2 (format), 3.2.3 and 3.2.4 (the two ends), 4.1 and 4.2 (errors).
 * The arithmetic is that of the RFC; the code was not copied.
 */
#include <scps/vjcomp.h>

#include <scps/error.h>
#include <scps/wire.h>

#include "base/bytes.h"

enum {
    NEW_C = 0x40,
    NEW_I = 0x20,
    PUSH = 0x10,
    NEW_S = 0x08,
    NEW_A = 0x04,
    NEW_W = 0x02,
    NEW_U = 0x01,
    CHANGES = NEW_S | NEW_A | NEW_W | NEW_U,
    ONE_WAY = NEW_S | NEW_A | NEW_W | NEW_U,
    TYPING = NEW_S | NEW_W | NEW_U
};

/* Offsets of the fields of an IPv4 header, then those of a TCP header. */
enum {
    IP_TOS = 1,
    IP_LEN = 2,
    IP_ID = 4,
    IP_FRAG = 6,
    IP_TTL = 8,
    IP_PROTO = 9,
    IP_CK = 10,
    IP_SRC = 12
};
enum {
    TCP_SEQ = 4,
    TCP_ACK = 8,
    TCP_OFF = 12,
    TCP_FLAGS = 13,
    TCP_WND = 14,
    TCP_CK = 16,
    TCP_URG = 18
};

void scps_vj_tx_init(struct scps_vj_tx *tx)
{
    memset(tx, 0, sizeof *tx);
    tx->last = UINT8_MAX;
    tx->slots = SCPS_VJ_SLOTS;
}

void scps_vj_tx_limit(struct scps_vj_tx *tx, uint8_t slots, bool always_say)
{
    tx->slots = SCPS_CLAMP(slots, 1, SCPS_VJ_SLOTS);
    tx->always_say = always_say;
}

void scps_vj_rx_init(struct scps_vj_rx *rx)
{
    memset(rx, 0, sizeof *rx);
    rx->last = UINT8_MAX;
    rx->toss = true;
}

void scps_vj_line_error(struct scps_vj_rx *rx)
{
    rx->toss = true;
}

static size_t ip_hdr(const uint8_t *ip)
{
    return (size_t)(ip[0] & 15) * 4;
}

/* Returns the length of both headers of an IPv4 TCP packet that can be compressed; 0 if it
 * cannot. */
static size_t headers(const uint8_t *p, size_t avail, size_t total)
{
    if (avail < 40 || total < avail || p[0] >> 4 != 4 || p[IP_PROTO] != SCPS_IPPROTO_TCP)
        return 0;
    size_t ihl = ip_hdr(p);
    if (ihl < 20 || ihl + 20 > avail || scps_get16(p + IP_LEN) != total ||
        scps_get16(p + IP_FRAG) & 0x3fff)
        return 0;
    size_t len = ihl + (size_t)(p[ihl + TCP_OFF] >> 4) * 4;
    return len < ihl + 20 || len > avail ? 0 : len;
}

/* ---- functions that compress headers ---- */

static bool same_connection(const struct scps_vj_slot *s, const uint8_t *ip)
{
    return s->len && !memcmp(s->hdr + IP_SRC, ip + IP_SRC, 8) &&
           !memcmp(s->hdr + ip_hdr(s->hdr), ip + ip_hdr(ip), 4);
}

/* Returns the number of the slot (the last headers of one connection) that belongs to the packet's
 * connection, with *known true. If there is none, returns the slot that was used least recently,
 * with *known false. */
static uint8_t find_slot(const struct scps_vj_tx *tx, const uint8_t *ip, bool *known)
{
    uint8_t oldest = 0;

    *known = true;
    for (uint8_t i = 0; i < tx->slots; i++) {
        if (same_connection(&tx->slot[i], ip))
            return i;
        if ((int32_t)(tx->slot[i].used - tx->slot[oldest].used) < 0)
            oldest = i;
    }
    *known = false;
    return oldest;
}

/* Writes the change of a field, d, as one octet if it is 1 to 255, otherwise as 0 and two octets.
 * Returns the end of what was written. */
static uint8_t *put_delta(uint8_t *o, uint16_t d)
{
    if (d >= 256 || d == 0) {
        *o++ = 0;
        *o++ = (uint8_t)(d >> 8);
    }
    *o++ = (uint8_t)d;
    return o;
}

/* Returns true if all fields whose changes a compressed header cannot encode are equal in the
 * headers `old` and `ip` of two packets of one connection. */
static bool alike(const uint8_t *old, const uint8_t *ip, size_t hdr)
{
    size_t ihl = ip_hdr(ip);
    const uint8_t *t = ip + ihl, *ot = old + ihl;

    return old[0] == ip[0] && old[IP_TOS] == ip[IP_TOS] &&
           !memcmp(old + IP_FRAG, ip + IP_FRAG, 2) && old[IP_TTL] == ip[IP_TTL] &&
           !memcmp(old + 20, ip + 20, ihl - 20) && ot[TCP_OFF] == t[TCP_OFF] &&
           !memcmp(ot + 20, t + 20, hdr - ihl - 20);
}

/* Writes the changes from the headers `old` to the headers `ip` at o, and sets *bits to the octet
 * of flag bits. Returns the end of the changes; NULL if they cannot be encoded. */
static uint8_t *put_changes(uint8_t *o, const uint8_t *old, const uint8_t *ip, size_t hdr,
                            uint8_t *bits)
{
    const uint8_t *t = ip + ip_hdr(ip), *ot = old + ip_hdr(ip);
    uint8_t *start = o;
    uint32_t grew_seq = scps_get32(t + TCP_SEQ) - scps_get32(ot + TCP_SEQ);
    uint32_t grew_ack = scps_get32(t + TCP_ACK) - scps_get32(ot + TCP_ACK);
    uint16_t grew_wnd = (uint16_t)(scps_get16(t + TCP_WND) - scps_get16(ot + TCP_WND));
    uint32_t old_data = scps_get16(old + IP_LEN) - (uint32_t)hdr;
    uint8_t b = 0;

    if (t[TCP_FLAGS] & SCPS_URG) {
        o = put_delta(o, scps_get16(t + TCP_URG));
        b |= NEW_U;
    } else if (memcmp(t + TCP_URG, ot + TCP_URG, 2)) {
        return NULL;
    }
    if (grew_wnd) {
        o = put_delta(o, grew_wnd);
        b |= NEW_W;
    }
    if (grew_ack > 0xffff || grew_seq > 0xffff)
        return NULL;
    if (grew_ack) {
        o = put_delta(o, (uint16_t)grew_ack);
        b |= NEW_A;
    }
    if (grew_seq) {
        o = put_delta(o, (uint16_t)grew_seq);
        b |= NEW_S;
    }
    switch (b) {
    /* No encoded field has changed. A packet with data that follows one without data is compressed.
     * Any other packet of this kind may be a retransmission, so it is sent uncompressed and thereby
     * repairs the receiver's state. */
    case 0:
        if (scps_get16(ip + IP_LEN) == scps_get16(old + IP_LEN) || old_data)
            return NULL;
        break;
    case ONE_WAY:
    /* RFC 1144 gives these combinations of bits another meaning, so the packet is sent
     * uncompressed. */
    case TYPING:
        return NULL;
    case NEW_S | NEW_A:
        if (grew_seq == grew_ack && grew_seq == old_data) {
            b = TYPING;
            o = start;
        }
        break;
    case NEW_S:
        if (grew_seq == old_data) {
            b = ONE_WAY;
            o = start;
        }
        break;
    }
    uint16_t id = (uint16_t)(scps_get16(ip + IP_ID) - scps_get16(old + IP_ID));
    if (id != 1) {
        o = put_delta(o, id);
        b |= NEW_I;
    }
    *bits = b | (t[TCP_FLAGS] & SCPS_PSH ? PUSH : 0);
    return o;
}

enum scps_vj_type scps_vj_compress(struct scps_vj_tx *tx, const uint8_t *p, size_t avail,
                                   size_t total, uint8_t *out, size_t *n, size_t *replaced)
{
    const uint8_t never = SCPS_SYN | SCPS_FIN | SCPS_RST | SCPS_ECE | SCPS_CWR;
    size_t hdr = headers(p, avail, total);
    bool known;

    *n = *replaced = 0;
    tx->was_slot = UINT8_MAX;
    if (!hdr || (p[ip_hdr(p) + TCP_FLAGS] & (never | SCPS_ACK)) != SCPS_ACK)
        return SCPS_VJ_IP;

    uint8_t which = find_slot(tx, p, &known);
    struct scps_vj_slot *s = &tx->slot[which];
    tx->was = *s;
    tx->was_slot = which;
    tx->was_last = tx->last;

    uint8_t changes[16], bits = 0, *end = NULL;
    if (known && s->len == hdr && alike(s->hdr, p, hdr))
        end = put_changes(changes, s->hdr, p, hdr, &bits);
    memcpy(s->hdr, p, hdr);
    s->len = (uint8_t)hdr;
    s->used = ++tx->clock;
    *replaced = hdr;
    if (!end) {
        memcpy(out, p, hdr);
        out[IP_PROTO] = which;
        tx->last = which;
        *n = hdr;
        return SCPS_VJ_UNCOMPRESSED;
    }
    uint8_t *o = out + 1;
    if (tx->always_say || tx->last != which) {
        bits |= NEW_C;
        *o++ = which;
        tx->last = which;
    }
    out[0] = bits;
    memcpy(o, p + ip_hdr(p) + TCP_CK, 2);
    o += 2;
    memcpy(o, changes, (size_t)(end - changes));
    *n = (size_t)(o - out) + (size_t)(end - changes);
    return SCPS_VJ_COMPRESSED;
}

void scps_vj_unsend(struct scps_vj_tx *tx)
{
    if (tx->was_slot == UINT8_MAX)
        return;
    tx->slot[tx->was_slot] = tx->was;
    tx->last = tx->was_last;
    tx->was_slot = UINT8_MAX;
}

/* ---- functions that expand compressed headers ---- */

static int error(struct scps_vj_rx *rx)
{
    rx->toss = true;
    return SCPS_DROP_BAD_COMPRESSED;
}

static int restore(struct scps_vj_rx *rx, const uint8_t *p, size_t avail, size_t total,
                   uint8_t *out, size_t *n, size_t *replaced)
{
    uint8_t whole[SCPS_VJ_HDR_MAX];

    if (avail < 40)
        return error(rx);
    uint8_t which = p[IP_PROTO];
    size_t most = SCPS_MIN(avail, sizeof whole);
    memcpy(whole, p, most);
    whole[IP_PROTO] = SCPS_IPPROTO_TCP;
    size_t hdr = headers(whole, most, total);
    if (which >= SCPS_VJ_SLOTS || !hdr)
        return error(rx);
    struct scps_vj_slot *s = &rx->slot[which];
    memcpy(s->hdr, whole, hdr);
    s->len = (uint8_t)hdr;
    rx->last = which;
    rx->toss = false;
    memcpy(out, whole, hdr);
    *n = *replaced = hdr;
    return 0;
}

/* Returns the next change of a field and moves *p behind it; -1: the packet ends before it. */
static int32_t delta(const uint8_t **p, const uint8_t *end)
{
    const uint8_t *o = *p;

    if (end - o < 1)
        return -1;
    if (o[0]) {
        *p = o + 1;
        return o[0];
    }
    if (end - o < 3)
        return -1;
    *p = o + 3;
    return scps_get16(o + 1);
}

static bool change16(uint8_t *field, const uint8_t **p, const uint8_t *end)
{
    int32_t d = delta(p, end);

    scps_put16(field, (uint16_t)(scps_get16(field) + d));
    return d >= 0;
}

static bool change32(uint8_t *field, const uint8_t **p, const uint8_t *end)
{
    int32_t d = delta(p, end);

    scps_put32(field, scps_get32(field) + (uint32_t)d);
    return d >= 0;
}

static void add32(uint8_t *field, uint32_t d)
{
    scps_put32(field, scps_get32(field) + d);
}

static int expand(struct scps_vj_rx *rx, const uint8_t *p, size_t avail, size_t total, uint8_t *out,
                  size_t *n, size_t *replaced)
{
    const uint8_t *from = p, *end = p + avail;
    uint8_t bits;

    if (avail < 3)
        return error(rx);
    bits = *p++;
    if (bits & NEW_C) {
        if (*p >= SCPS_VJ_SLOTS || !rx->slot[*p].len)
            return error(rx);
        rx->toss = false;
        rx->last = *p++;
    }
    if (rx->toss || rx->last >= SCPS_VJ_SLOTS || !rx->slot[rx->last].len)
        return error(rx);
    struct scps_vj_slot *s = &rx->slot[rx->last];
    uint8_t *ip = out, *t;
    memcpy(ip, s->hdr, s->len);
    t = ip + ip_hdr(ip);
    if (end - p < 2)
        return error(rx);
    memcpy(t + TCP_CK, p, 2);
    p += 2;

    uint32_t old_data = scps_get16(ip + IP_LEN) - (uint32_t)s->len;
    uint8_t flags = (uint8_t)(t[TCP_FLAGS] & ~(SCPS_PSH | SCPS_URG));
    bool ok = true;
    switch (bits & CHANGES) {
    case TYPING:
        add32(t + TCP_ACK, old_data);
        add32(t + TCP_SEQ, old_data);
        break;
    case ONE_WAY:
        add32(t + TCP_SEQ, old_data);
        break;
    default:
        if (bits & NEW_U) {
            int32_t u = delta(&p, end);
            ok = u >= 0;
            flags |= SCPS_URG;
            scps_put16(t + TCP_URG, (uint16_t)u);
        }
        ok = ok && (!(bits & NEW_W) || change16(t + TCP_WND, &p, end));
        ok = ok && (!(bits & NEW_A) || change32(t + TCP_ACK, &p, end));
        ok = ok && (!(bits & NEW_S) || change32(t + TCP_SEQ, &p, end));
    }
    if (bits & NEW_I)
        ok = ok && change16(ip + IP_ID, &p, end);
    else
        scps_put16(ip + IP_ID, (uint16_t)(scps_get16(ip + IP_ID) + 1));
    size_t head = (size_t)(p - from), len = total - head + s->len;
    if (!ok || len > 0xffff)
        return error(rx);
    t[TCP_FLAGS] = flags | (bits & PUSH ? SCPS_PSH : 0);
    scps_put16(ip + IP_LEN, (uint16_t)len);
    scps_put16(ip + IP_CK, 0);
    scps_put16(ip + IP_CK, scps_cksum_fold(scps_cksum_add(0, ip, ip_hdr(ip))));
    memcpy(s->hdr, out, s->len);
    *n = s->len;
    *replaced = head;
    return 0;
}

int scps_vj_expand(struct scps_vj_rx *rx, enum scps_vj_type type, const uint8_t *p, size_t avail,
                   size_t total, uint8_t *out, size_t *n, size_t *replaced)
{
    avail = SCPS_MIN(avail, total);
    return type == SCPS_VJ_COMPRESSED ? expand(rx, p, avail, total, out, n, replaced)
                                      : restore(rx, p, avail, total, out, n, replaced);
}
