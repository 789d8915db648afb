/* SPDX-License-Identifier: MIT */
/* How the channel changes the octets of a packet: damage, which a checksum detects, and forgery,
 * which it does not. */
#include "pair.h"

uint8_t *pair_transport(struct packet *p, uint8_t *proto)
{
    bool v6 = p->data[0] >> 4 == 6;

    *proto = p->data[v6 ? 6 : 9];
    return p->data + (v6 ? 40 : 20);
}

void pair_mend_ip(struct packet *p)
{
    if (p->data[0] >> 4 == 4) {
        scps_put16(p->data + 10, 0);
        scps_put16(p->data + 10, scps_cksum_fold(scps_cksum_add(0, p->data, 20)));
    }
}

static void mend_sum(struct packet *p)
{
    struct scps_ip ip;

    pair_mend_ip(p);
    if (scps_ip_parse(p->data, p->len, p->len + p->hollow, &ip) || p->len < ip.hdr_len + 20)
        return;
    uint8_t *t = p->data + ip.hdr_len;
    size_t n = p->len - ip.hdr_len, hdr = (size_t)(t[12] >> 4) * 4;
    if (ip.proto == SCPS_IPPROTO_TCP && hdr >= 20 && hdr <= n) {
        const uint8_t *rest = p->hollow ? NULL : t + hdr;
        scps_put16(t + 16, 0);
        scps_put16(t + 16, scps_tcp_checksum(&ip.src, &ip.dst, t, hdr, rest,
                                             p->hollow ? p->hollow : n - hdr));
    }
}

/* Flips one bit, which every sum of 16-bit words detects. Parts of the IPv6 header that no checksum
 * covers are left alone. */
void pair_flip(struct packet *p, uint32_t where)
{
    uint32_t from = p->data[0] >> 4 == 6 ? 40 : 0;

    if (p->len <= from || p->damaged) /* Two flips may cancel each other. */
        return;
    p->damaged = true;
    if (p->csum_ok) /* The device detects the damage. */
        return;
    where = from * 8 + where % ((p->len - from) * 8);
    p->data[where / 8] ^= (uint8_t)(1u << where % 8);
}

/* A compressed segment arrives. 105 and 106 differ in one bit, so one damaged bit may make the
 * checksum right with the other of the two numbers. If both hosts use the same number, the stack
 * promises (scps_conn_config.comp_proto) not to accept one such segment; two in a row, copies not
 * counted, may make it take the other number for the peer's. If the numbers differ, the first such
 * segment may be accepted. */
void pair_imitation(struct world *w, struct direction *d, const struct packet *p)
{
    struct scps_ip ip;

    if (p->csum_ok || scps_ip_parse(p->data, p->len, p->len + p->hollow, &ip))
        return;
    const uint8_t *t = p->data + ip.hdr_len;
    size_t total = SCPS_MIN((size_t)p->len + p->hollow, ip.total_len);
    /* The packet was cut, so the rest is not a whole segment. */
    if (total < (size_t)ip.hdr_len + p->hollow)
        return;
    size_t n = total - ip.hdr_len - p->hollow;
    if (!p->damaged) {
        d->imitations[t[0]].n = 0;
        return;
    }
    if (n < 4 || !scps_comp_proto(&ip.src, &ip.dst, t, n, NULL, p->hollow))
        return;
    uint32_t sum = 2166136261u;
    for (size_t i = 0; i < n; i++)
        sum = (sum ^ t[i]) * 16777619u;
    bool copy = d->imitations[t[0]].n && d->imitations[t[0]].sum == sum &&
                w->now - d->imitations[t[0]].at < SCPS_SEC(1);
    if (!copy) {
        w->imitated = true;
        d->imitations[t[0]].n++;
        d->imitations[t[0]].sum = sum;
        d->imitations[t[0]].at = w->now;
    }
    if (d->imitations[t[0]].n >= 2 || w->host[0].cfg.comp_proto != w->host[1].cfg.comp_proto)
        w->doubt |= DOUBT_CONTENT | DOUBT_END | DOUBT_RECORDS;
}

/* Other flows are certain unless ports may change, or a SYN is there, whose connection id and
 * capabilities concern them, too. */
void pair_forge(struct world *w, struct packet *p, struct flow *f, uint8_t b, uint8_t c)
{
    uint8_t proto, *t = pair_transport(p, &proto);
    uint32_t n = (uint32_t)(p->data + p->len - t);
    const unsigned all = DOUBT_CONTENT | DOUBT_END | DOUBT_RECORDS;

    if (proto != SCPS_IPPROTO_TCP || n < 20)
        return;
    bool syn = t[13] & SCPS_SYN;
    /* Any field of the header may change, except the ports. */
    if (b % 4)
        t[4 + b % 16] ^= c;
    else
        t[b * 7u % n] ^= c;
    if (b % 4 && !syn && !(t[13] & SCPS_SYN) && pair_of_flow(f, !p->to, t))
        f->doubt |= all;
    else
        w->doubt |= all;
    p->altered = true;
    mend_sum(p);
}

/* Returns where the first option of this kind begins in t, a TCP header of n octets (kind 0: any
 * option but padding); 0 if there is none. */
static uint32_t find_option(const uint8_t *t, uint32_t n, uint8_t kind)
{
    uint32_t end = SCPS_MIN((uint32_t)(t[12] >> 4) * 4, n), i = 20;

    while (i + 1 < end && t[i] && (t[i] == 1 || (kind && t[i] != kind)))
        i += t[i] == 1 ? 1 : SCPS_MAX(t[i + 1], 2u);
    return i + 1 < end && t[i] && t[i + 1] >= 2 && i + t[i + 1] <= end ? i : 0;
}

/* Replaces the octets of an option by NOPs (by 0), or changes an octet of its value. The peer does
 * not answer an option that is missing in a SYN; if only one end takes an option for agreed, the
 * two ends interpret segments differently. */
void pair_option(struct world *w, struct packet *p, struct flow *f, uint8_t kind, uint8_t by,
                 bool any)
{
    uint8_t proto, *t = pair_transport(p, &proto);
    uint32_t n = (uint32_t)(p->data + p->len - t), i;
    unsigned *doubt = &w->doubt;

    if (proto != SCPS_IPPROTO_TCP || n < 20 || !(any || t[13] & SCPS_SYN) ||
        !(i = find_option(t, n, kind)) || (by && t[i + 1] == 2))
        return;
    if (!(t[13] & SCPS_SYN) && pair_of_flow(f, !p->to, t))
        doubt = &f->doubt;
    if (t[i] == SCPS_OPT_RECORD || by)
        *doubt |= DOUBT_RECORDS;
    if (by || (t[13] & SCPS_SYN && (t[13] & SCPS_ACK || f->opener == HOSTS)))
        *doubt |= DOUBT_END;
    if (by && t[i] == SCPS_OPT_CAPS)
        *doubt |= DOUBT_CONTENT;
    p->altered = true;
    if (by)
        t[i + 2 + by % (t[i + 1] - 2u)] ^= by;
    else
        memset(t + i, 1, t[i + 1]);
    mend_sum(p);
}

void pair_ecn(struct packet *p, bool mark)
{
    bool v6 = p->data[0] >> 4 == 6;
    uint8_t *tos = p->data + 1;
    unsigned shift = v6 ? 4 : 0;

    if (mark && !(*tos >> shift & 3))
        return;
    *tos = (uint8_t)(mark ? *tos | 3u << shift : *tos & ~(3u << shift));
    pair_mend_ip(p);
}
