/* SPDX-License-Identifier: MIT */
/* Compressed headers (IP protocol 105; docs/SCPS-TP.md section 8): finds the connection of a
 * packet, and decides which segments are compressed; wire/comp.c encodes and decodes the headers.
 *
 * Sending: every segment after the SYNs is compressed, except segments with RST, ECE or CWR, for
 * which the format has no bits, and segments to a peer that may not know the connection (the
 * function goes_as_tcp() has the cases). These are sent with a TCP header; both forms may be mixed
 * at any time (8.5). Receiving: the connection id in the header identifies the connection, and the
 * checksum is verified before any field is used. The checksum does not cover values that a later
 * header leaves out, so such values are taken only from segments that the connection has accepted
 * (8.3).
 *
 * By the standard the protocol number in the checksum's pseudo-header is 105; the reference
 * implementation uses 6 or 106 (8.3). This end sends the configured number and expects the same.
 * 105 and 106 differ by 1, so an error in the lowest bit of a 16-bit word, 1 of 32 errors of one
 * bit, makes a checksum that was computed with 105 right for 106, or the reverse. No error of one
 * bit makes a checksum that was computed with 6 right for 105 or 106, or the reverse.
 *
 * In received segments this end accepts one protocol number at a time: first the configured one. If
 * the checksums of segments in a row are right for another number, and that of none between them
 * for the accepted one, the other number replaces it. At first one to three such segments are
 * enough (enough_agree() has the cases). Once the connection has accepted FIRM (2) segments with
 * the accepted number, it takes ROW (16) segments over ROW_TIME (10 s), so that segments damaged by
 * bit errors neither decide the number nor keep it.
 *
 * A segment whose checksum the device has verified (scps_pkt.csum_ok) is accepted whatever its
 * number is. Until FIRM segments have been accepted, this end finds out the number of such a
 * segment, too, and counts it, because the device may leave later segments unverified.
 */
#include "stack/connid.h"
#include "stack/stack.h"

#include "base/bytes.h"
#include "core/seq.h"

/* Returns how many octets shorter a compressed header of n octets is than the TCP header that
 * segment s would have. For a received segment that TCP header is computed from the options that
 * this library can parse; unknown options that the peer sent are not counted. */
static size_t saved(const struct scps_seg *s, size_t n)
{
    size_t tcp = scps_tcp_hdr_len(s);

    return tcp > n ? tcp - n : 0;
}

/* A compressed segment that arrives within this time, µs, after one with the same TCP checksum
 * counts as a duplicate made by the network. */
#define COPY SCPS_SEC(1)
/* After the connection has accepted this many compressed segments, one after the other, with
 * checksums right for one IP protocol number in the pseudo-header, only ROW segments in a row that
 * are right for another number make that number the one that this end accepts. Before, one to three
 * are enough (enough_agree()). */
#define FIRM 2
/* number of compressed segments in a row, with checksums right for one other IP protocol number,
 * after which that number replaces the one that FIRM accepted segments have had */
#define ROW 16
/* least time, µs, from the first to the last of these ROW segments; if less has passed, the number
 * is not replaced yet */
#define ROW_TIME SCPS_SEC(10)
/* Least time, µs, from the first to the last segment of a row whose checksums are right for one IP
 * protocol number (in the pseudo-header: 105, 106 or 6), before this end accepts that number. It
 * applies only while fewer than FIRM accepted segments have had the number accepted now (afterwards
 * ROW_TIME applies), and only if segments were right for more than one number, or if the newest
 * segment has data and one bit error can confuse the two numbers. Otherwise there is no least time
 * (enough_agree). */
#define ALONE SCPS_SEC(3)

/* Returns true if a single bit error can make a segment whose checksum is right for IP protocol
 * number a in the pseudo-header look like one whose checksum is right for b. Both are 6 (TCP), 105
 * or 106: true only for 105 and 106, which differ by 1. The differences to 6, 99 and 100, are no
 * power of two, and one bit changes the sum by a power of two. */
static bool alike(uint8_t a, uint8_t b)
{
    return a != b && a != SCPS_IPPROTO_TCP && b != SCPS_IPPROTO_TCP;
}

/* Returns true if a compressed segment whose TCP checksum is `mark` counts as a duplicate made by
 * the network, because it has arrived less than COPY (1 s) after one with this checksum. A
 * duplicate says nothing new of the IP protocol number that the peer puts into its pseudo-headers,
 * so it is not counted again. After COPY the same segment counts as a retransmission of the
 * peer. */
static bool is_copy(struct scps_comp_sum *sum, uint16_t mark, scps_time now)
{
    bool copy = sum->mark == mark && sum->mark_at && now - sum->mark_at < COPY;

    if (!copy) {
        sum->mark = mark;
        sum->mark_at = now;
    }
    return copy;
}

/* Counts a compressed segment whose checksum is right for the IP protocol number `found` in the
 * pseudo-header. The count, sum->others, is of segments in a row that are right for one number,
 * sum->other, which this end accepts when enough_agree() says so; if `found` is another number, the
 * count begins anew with this segment. Called if `found` is not the number accepted now, or if the
 * segment has data and a count for another number has begun. copy: the segment is a duplicate made
 * by the network, which is not counted unless it is the first of its count. */
static void count(struct scps_comp_sum *sum, uint8_t found, bool copy, scps_time now)
{
    if (sum->other != found) {
        sum->mixed |= sum->other || sum->agreed;
        sum->other = found;
        sum->others = 0;
        sum->other_at = now;
        copy = false;
    }
    if (!copy && sum->others < UINT8_MAX)
        sum->others++;
}

/* Returns true if this end accepts the IP protocol number sum->other from now on, because the
 * checksums of the last sum->others compressed segments in a row were right for that number in the
 * pseudo-header; the peer does not announce its number. expected: the number of this end's
 * configuration. bare: the newest of these segments has no data. So many segments are needed
 * ("over": with at least this time from the first to the newest):
 *
 *     sum->good is FIRM                             ROW segments over ROW_TIME
 *     all were right for sum->other (!sum->mixed):
 *       no bit error confuses it with `expected`    1 segment
 *       it may, and the newest has no data          2 segments, since the first compressed segment
 *                                                   of the reference implementation has no data
 *       it may, and the newest has data             3 segments over ALONE
 *     sum->mixed:
 *       the newest has no data, or sum->other is    2 segments over ALONE
 *         `expected` or the number accepted now
 *       in any other case                           3 segments over ALONE */
static bool enough_agree(const struct scps_comp_sum *sum, uint8_t expected, bool bare,
                         scps_time now)
{
    uint8_t accepted = sum->agreed ? sum->agreed : expected;
    unsigned n = sum->other == expected || sum->other == accepted || bare ? 2 : 3;

    if (sum->good >= FIRM)
        return sum->others >= ROW && now - sum->other_at >= ROW_TIME;
    if (!alike(sum->other, accepted) && !sum->mixed)
        return true;
    return sum->others >= n && ((bare && !sum->mixed) || now - sum->other_at >= ALONE);
}

/* Returns true if the header of seg has a sequence number or an acknowledgement number, and each
 * that is present is acceptable: SEG.ACK lies between SND.UNA and SND.NXT, and SEG.SEQ is RCV.NXT,
 * or lies behind it in the receive window. An attacker off the path has to guess such a number,
 * while a forged segment without both only needs the right one of 255 connection ids. */
static bool has_good_number(const struct scps_conn *c, const struct scps_seg *seg)
{
    const struct scps_send *snd = &c->s.snd;
    const bool ack = !(seg->implied & SCPS_IMPLIED_ACK), seq = !(seg->implied & SCPS_IMPLIED_SEQ);
    scps_off next;
    int64_t at;

    if (ack && (scps_seq_ahead(snd->iss, scps_bets_peer_una(c->s.tx, snd->una), seg->ack) < 0 ||
                scps_seq_ahead(snd->iss, snd->nxt, seg->ack) > 0))
        return false;
    if (!seq)
        return ack;
    next = scps_receive_next(&c->rcv);
    at = scps_seq_ahead(c->rcv.irs, next, seg->seq);
    return at == 0 || (at > 0 && next + (scps_off)at < c->ack.announced);
}

/* Returns true if compressed segment seg is accepted. found: the IP protocol number (105, 106 or 6)
 * for which, in the pseudo-header, its checksum `mark` is right. This end accepts one number at a
 * time, at first the configured one.
 * - A segment that is right for another number is refused, and counted, until so many in a row are
 *   right for that number that this end accepts it instead (enough_agree).
 * - While such a row is counted, segments with data that are right for the accepted number are
 *   refused and counted, too, unless FIRM segments have had that number: a damaged segment of a
 *   peer that uses the other number may look right for it. Segments without data are accepted, and
 *   end the row.
 * - A segment that anybody can forge (without a good sequence or acknowledgement number) counts
 *   neither for a number nor against one. */
static bool sum_accepted(struct scps_conn *c, const struct scps_seg *seg, uint8_t found,
                         uint16_t mark)
{
    struct scps_comp_sum *sum = &c->s.tp->comp_sum;
    const scps_time now = c->s.ctx.env->now;
    const uint8_t expected = c->s.ctx.cfg->c.comp_proto;
    bool right = found == (sum->agreed ? sum->agreed : expected), bare = !seg->len, copy;

    if (right && sum->good >= FIRM && !sum->other)
        return true;
    if (!has_good_number(c, seg)) {
        sum->newest = 0;
        return right && (bare || !sum->other || sum->good >= FIRM);
    }
    if (right && sum->good >= FIRM) {
        sum->other = 0;
        return true;
    }
    copy = is_copy(sum, mark, now);
    if (copy)
        sum->newest = 0;
    if (right && (bare || !sum->other)) {
        sum->other = 0;
        return true;
    }
    count(sum, found, copy, now);
    return enough_agree(sum, expected, bare, now);
}

void scps_comp_good(struct scps_conn *c, const struct scps_seg *seg)
{
    struct scps_comp_sum *sum = &c->s.tp->comp_sum;

    if (seg->implied == (SCPS_IMPLIED_SEQ | SCPS_IMPLIED_ACK))
        /* A segment whose compressed header has neither a sequence nor an acknowledgement number
         * can be forged by anybody, so it does not show that the peer accepts compressed headers,
         * or which IP protocol number its checksums have. */
        return;
    scps_conn_compress_headers(&c->s);
    if (!sum->newest)
        /* sum->newest is 0: the segment does not show with which IP protocol number (105, 106 or 6)
         * the peer computes its checksums. It is a duplicate made by the network; or it has no
         * sequence or acknowledgement number that the peer may send now; or the device has verified
         * its checksum, and this end has not tried the three numbers (sum->good was FIRM), or none
         * of them was right. */
        return;
    sum->good = sum->agreed == sum->newest ? FIRM : 1;
    sum->agreed = sum->newest;
    sum->other = 0;
    sum->mixed = false;
}

/* Returns the half-open connection whose handshake the segment at p completes by acknowledging its
 * initial sequence number; NULL: there is none. */
static struct scps_conn *completed(const struct scps_stack *st, const struct scps_ip *ip,
                                   const uint8_t *p, size_t avail, size_t whole)
{
    const struct scps_comp_rx any = {.known = true};
    struct scps_seg seg;

    if (scps_comp_parse(p, avail, whole, &any, &seg) || seg.implied & SCPS_IMPLIED_ACK)
        return NULL;
    return scps_connid_claimant(st, &ip->dst, &ip->src, p[0], seg.ack);
}

struct scps_conn *scps_comp_input(struct scps_stack *st, const struct scps_ip *ip,
                                  const struct scps_pkt *in, struct scps_seg *seg, int *err)
{
    const uint8_t *p = in->data + ip->hdr_len;
    size_t avail = SCPS_MIN(in->len, ip->total_len) - ip->hdr_len;
    size_t whole = ip->total_len - ip->hdr_len;
    struct scps_conn *c;
    uint8_t found = 0;

    *err = SCPS_DROP_TRUNCATED;
    if (!avail || (!in->payload_len && avail < whole))
        return NULL;
    c = scps_connid_find(st, &ip->dst, &ip->src, p[0], false);
    /* While a connection is in TIME-WAIT its peer may give the same id to another one. */
    if (!c || c->state == SCPS_TIME_WAIT || c->state == SCPS_CLOSED) {
        struct scps_conn *later = completed(st, ip, p, avail, whole);
        c = later ? later : c;
    }
    *err = SCPS_DROP_UNKNOWN_CONNECTION_ID;
    if (!c)
        return NULL;
    if (!in->csum_ok || c->s.tp->comp_sum.good < FIRM)
        found = scps_comp_proto(&ip->src, &ip->dst, p, avail, in->payload, in->payload_len);
    *err = SCPS_DROP_BAD_CHECKSUM;
    if (!in->csum_ok && !found)
        return NULL;
    *err = scps_comp_parse(p, avail, whole, &c->s.tp->comp_rx, seg);
    if (*err)
        return NULL;
    *err = SCPS_DROP_BAD_CHECKSUM;
    c->s.tp->comp_sum.newest = found;
    if (!in->csum_ok && !sum_accepted(c, seg, found, scps_get16(p + seg->hdr_len - 2)))
        return NULL;
    *err = SCPS_DROP_TRUNCATED;
    /* in->payload holds the data; it is NULL if the data is hollow (counted, not stored). */
    if (in->payload_len) {
        if (seg->hdr_len != avail || seg->len != in->payload_len)
            return NULL;
        seg->data = in->payload;
    }
    seg->sport = c->rport;
    seg->dport = c->lport;
    seg->tos = ip->tos;
    c->s.tp->comp_in++;
    c->s.tp->comp_saved_in += saved(seg, seg->hdr_len);
    *err = 0;
    return c;
}

void scps_comp_accepted(struct scps_stack *st, struct scps_conn *c, const struct scps_seg *seg)
{
    if (seg->flags & SCPS_SYN && !c->s.tp->heard)
        scps_connid_heard(st, c, seg->conn_id, c->state != SCPS_SYN_RECEIVED);
    /* A simultaneous open is completed. */
    else if (c->s.tp->claims && c->notify.active && c->state != SCPS_SYN_RECEIVED)
        scps_connid_established(st, c);
    scps_comp_learn(&c->s.tp->comp_rx, seg);
}

void scps_comp_came_as_tcp(struct scps_conn *c)
{
    if (c->notify.active)
        scps_conn_compress_headers(&c->s);
    else if (!c->s.tp->comp_sum.agreed)
        scps_conn_send_tcp_headers(&c->s);
}

/* The end that opened the connection sends the data of this many segments of MSS octets with TCP
 * headers; then it begins to compress headers, even if it has received nothing but the SYN-ACK. */
#define FIRST 4u

/* Returns true if this end sends seg with a TCP header although it could be compressed. The cases
 * are:
 *
 *   - This end has opened the connection, has received only the SYN-ACK and has sent at most FIRST
 *     full segments: data and FIN. They also complete the handshake if the acknowledgement before
 *     them was lost.
 *   - The peer has opened the connection and sent TCP headers only: all segments.
 *   - The segment is a challenge ACK (RFC 5961).
 *   - The peer has not answered several timeouts or probes (scps_conn_doubts_comp()): segments that
 *     begin at or below SND.UNA, because a peer that has restarted answers only a TCP header. The
 *     retransmission timer has shortened the oldest segment, so that it fits the path MTU with the
 *     longer header; a segment that does not fit is compressed. */
static bool goes_as_tcp(struct scps_conn *c, const struct scps_seg *seg)
{
    if (!seg->len && scps_tp_take_plain(c->s.tp))
        return true;
    if (c->s.agreed.opts & SCPS_AGREED_TCP_HEADERS &&
        (seg->len || seg->flags & SCPS_FIN || !c->notify.active))
        return true;
    return scps_conn_doubts_comp(&c->s) &&
           seg->len <= scps_agreed_any_payload(&c->s.agreed, seg->has & SCPS_HAS_RECORD) &&
           (int32_t)(seg->seq - scps_seq_wrap(c->s.snd.iss, c->s.snd.una)) <= 0;
}

bool scps_comp_output(struct scps_stack *st, struct scps_conn *c, const struct scps_seg *seg,
                      struct scps_pkt *out)
{
    struct scps_ip ip = {.src = c->local,
                         .dst = c->remote,
                         .version = c->local.family,
                         .proto = SCPS_IPPROTO_SCPS_COMP,
                         .tos = seg->tos,
                         .ttl = c->s.ctx.cfg->c.ttl,
                         .df = !c->s.ctx.cfg->c.df_off};
    size_t ip_len = ip.version == 4 ? 20 : 40, n;
    uint8_t *p = out->data + ip_len;

    /* For a sequence number that is left out, the peer assumes the highest one that it has
     * received. So a segment without data below SND.NXT, such as a keep-alive or the probe of an
     * outage, must carry its own number, or the peer does not answer it. */
    if (!seg->len && seg->seq != scps_seq_wrap(c->s.snd.iss, c->s.snd.nxt))
        scps_tp_comp_numbered(c->s.tp);
    n = goes_as_tcp(c, seg) ? 0 : scps_tp_comp_build(c->s.tp, p, seg);
    /* n is 0: the segment is sent with a TCP header. The peer need not store the field values of
     * such a segment, so the next compressed header must not leave out any field. */
    if (!n) {
        scps_tp_comp_anew(c->s.tp);
        /* This end opened the connection and has sent more data than FIRST full segments hold, with
         * TCP headers that complete the handshake. Either one of these segments has arrived, and
         * the peer can take a compressed one; or all of them will be resent after a timeout, and
         * then the loss of a compressed one does not matter. So the next segment may be
         * compressed. */
        if (c->notify.active && c->s.snd.nxt > FIRST * c->s.agreed.mss)
            scps_conn_compress_headers(&c->s);
        return false;
    }
    scps_ip_build(out->data, &ip, n + seg->len);
    scps_put16(p + n - 2, scps_comp_checksum(&ip.src, &ip.dst, c->s.ctx.cfg->c.comp_proto, p, n,
                                             seg->data, seg->len));
    out->len = ip_len + n;
    out->payload = seg->data;
    out->payload_len = seg->len;
    out->gso = 0;
    out->csum_ok = true;
    out->ecn = 0;
    out->at = st->env.now;
    c->s.tp->comp_out++;
    c->s.tp->comp_saved_out += saved(seg, n);
    return true;
}
