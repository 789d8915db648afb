/* SPDX-License-Identifier: MIT */
/* Compressed headers (IP protocol 105; docs/SCPS-TP.md section 8) between packets and connections:
 * the codec is wire/comp.c.
 *
 * Out: everything after the SYNs, but what the format has no bits for (RST, ECE, CWR), which goes
 * as TCP, and what is to reach a peer that may not know the connection (goes_as_tcp); both may be
 * mixed at any time (8.5). In: the id names the connection, the checksum is judged before anything
 * else is believed, and what a later header may leave out is taken from segments that the
 * connection accepted, since the checksum does not cover it (8.3).
 *
 * The checksum's pseudo-header has 105 by the standard; the reference implementation puts 6 or 106
 * there (8.3). We send what the configuration says, and of the three accept one: that of the first
 * good segment. 105 and 106 differ in one bit, so with all three accepted for every segment 1 of 32
 * single-bit errors would go unnoticed. Before there was a good segment the configured number is
 * expected; another is believed of a segment without data, as the reference implementation's first
 * one is, or when it has come alone for a time, and so is the expected one where another has come.
 * What the device vouches for is accepted whatever its number is, but until two good segments have
 * agreed on one it is worked out there, too: the device may not vouch for all, as one that passes
 * on what was damaged.
 */
#include "stack/stack.h"

#include "base/bytes.h"
#include "core/seq.h"

/* Returns the octets that compression saves on s, whose header has n octets. Options of the peer
 * that are not known count as nothing. */
static size_t saved(const struct scps_seg *s, size_t n)
{
    size_t tcp = scps_tcp_hdr_len(s);

    return tcp > n ? tcp - n : 0;
}

/* Protocol numbers that contradict each other: one is accepted when it alone has come for this
 * time. */
#define INSIST SCPS_SEC(3)

/* Returns true if `found`, the protocol number for which the segment's checksum is right, is the
 * one to accept. bare: the segment carries no data. */
static bool sum_accepted(struct scps_comp_sum *sum, uint8_t expected, uint8_t found, bool bare,
                         scps_time now)
{
    bool right = found == (sum->agreed ? sum->agreed : expected);

    if (sum->confirmed)
        return right;
    if ((right && (bare || !sum->other)) || (!sum->agreed && bare))
        return true;
    /* The agreed number rests on one segment, which may have been a damaged one, and the expected
     * one on none: the peer's own number comes again. Data is worth the wait, as a damaged segment
     * of a peer with another number may have just the number that is expected here. */
    if (sum->other != found) {
        sum->other = found;
        sum->other_at = now;
    }
    return now - sum->other_at >= INSIST;
}

void scps_comp_good(struct scps_conn *c)
{
    struct scps_comp_sum *sum = &c->tp->comp_sum;

    sum->other = 0;
    if (!sum->newest)
        return; /* The device vouched for the checksum, so it was not computed. */
    sum->confirmed |= sum->agreed == sum->newest;
    sum->agreed = sum->newest;
}

/* Returns the half-open connection, among those that share an id and follow c, whose handshake the
 * segment at p completes: it acknowledges that connection's initial sequence number. Returns c if
 * there is none. */
static struct scps_conn *completed(struct scps_conn *c, const uint8_t *p, size_t avail,
                                   size_t whole)
{
    struct scps_seg seg;

    for (struct scps_conn *k = c; k; k = k->tp->same_id)
        if (k->state == SCPS_SYN_RECEIVED &&
            !scps_comp_parse(p, avail, whole, &k->tp->comp_rx, &seg) &&
            !(seg.implied & SCPS_IMPLIED_ACK) && seg.ack == scps_seq_wrap(k->snd.iss, 1))
            return k;
    return c;
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
    *err = SCPS_DROP_UNKNOWN_CONNECTION_ID;
    if (!c)
        return NULL;
    if (c->tp->same_id)
        c = completed(c, p, avail, whole);
    if (!in->csum_ok || !c->tp->comp_sum.confirmed)
        found = scps_comp_proto(&ip->src, &ip->dst, p, avail, in->payload, in->payload_len);
    *err = SCPS_DROP_BAD_CHECKSUM;
    if (!in->csum_ok && !found)
        return NULL;
    *err = scps_comp_parse(p, avail, whole, &c->tp->comp_rx, seg);
    if (*err)
        return NULL;
    *err = SCPS_DROP_BAD_CHECKSUM;
    c->tp->comp_sum.newest = found;
    if (!in->csum_ok &&
        !sum_accepted(&c->tp->comp_sum, c->ctx.cfg->c.comp_proto, found, !seg->len, st->env.now))
        return NULL;
    *err = SCPS_DROP_TRUNCATED;
    if (in->payload_len) { /* The payload lies apart, or is hollow. */
        if (seg->hdr_len != avail || seg->len != in->payload_len)
            return NULL;
        seg->data = in->payload;
    }
    seg->sport = c->rport;
    seg->dport = c->lport;
    seg->tos = ip->tos;
    c->tp->comp_in++;
    c->tp->comp_saved_in += saved(seg, seg->hdr_len);
    *err = 0;
    return c;
}

void scps_comp_accepted(struct scps_stack *st, struct scps_conn *c, const struct scps_seg *seg)
{
    if (seg->flags & SCPS_SYN && !c->tp->heard)
        scps_connid_heard(st, c, seg->conn_id, true);
    scps_comp_learn(&c->tp->comp_rx, seg);
    if (!(seg->flags & SCPS_SYN))
        scps_conn_heard(c);
}

#define FIRST 4u /* This many full segments are sent uncompressed before the peer was heard. */

/* Returns true if seg is sent uncompressed although compression is possible. So are the first
 * data and FIN before the peer is heard, which then complete the handshake if the
 * acknowledgement before them was lost; and what stands at SND.UNA or behind after a long
 * silence, since a peer that has begun anew answers only to TCP. The oldest segment has been cut
 * to fit (snd.c). */
static bool goes_as_tcp(const struct scps_conn *c, const struct scps_seg *seg)
{
    if (c->agreed.opts & SCPS_AGREED_UNHEARD)
        return seg->len || seg->flags & SCPS_FIN;
    return scps_conn_doubts_comp(c) && seg->len <= scps_agreed_any_mss(&c->agreed) &&
           (int32_t)(seg->seq - scps_seq_wrap(c->snd.iss, c->snd.una)) <= 0;
}

bool scps_comp_output(struct scps_stack *st, struct scps_conn *c, const struct scps_seg *seg,
                      struct scps_pkt *out)
{
    struct scps_ip ip = {.src = c->local,
                         .dst = c->remote,
                         .version = c->local.family,
                         .proto = SCPS_IPPROTO_SCPS_COMP,
                         .tos = seg->tos,
                         .ttl = c->ctx.cfg->c.ttl,
                         .df = !c->ctx.cfg->c.df_off};
    size_t ip_len = ip.version == 4 ? 20 : 40, n;
    uint8_t *p = out->data + ip_len;

    /* For a number that is left out the peer takes the furthest it has heard of. A segment
     * without data below SND.NXT, such as a keep-alive or the probe of an outage, must carry its
     * own number, or the peer does not answer it. */
    if (!seg->len && seg->seq != scps_seq_wrap(c->snd.iss, c->snd.nxt))
        c->tp->comp_tx.seq_again = SCPS_MAX(c->tp->comp_tx.seq_again, 1);
    n = goes_as_tcp(c, seg) ? 0 : scps_comp_build(p, &c->tp->comp_tx, seg, NULL);
    /* It could not be compressed, and the peer may miss its values: send all fields in the next
     * one. */
    if (!n) {
        c->tp->comp_tx.known = false;
        /* Compressed segments carry this acknowledgement, and one of them arrives or all wait
         * anyway. */
        if (c->agreed.opts & SCPS_AGREED_UNHEARD && c->snd.nxt > FIRST * c->agreed.mss)
            scps_conn_heard(c);
        return false;
    }
    scps_ip_build(out->data, &ip, n + seg->len);
    scps_put16(p + n - 2, scps_comp_checksum(&ip.src, &ip.dst, c->ctx.cfg->c.comp_proto, p, n,
                                             seg->data, seg->len));
    out->len = ip_len + n;
    out->payload = seg->data;
    out->payload_len = seg->len;
    out->gso = 0;
    out->csum_ok = true;
    out->at = st->env.now;
    c->tp->comp_out++;
    c->tp->comp_saved_out += saved(seg, n);
    return true;
}
