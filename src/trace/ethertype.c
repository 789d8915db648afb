/* SPDX-License-Identifier: MIT */
/* Finds the IP header behind an EtherType or a PPP protocol number: VLAN tags, provider backbone
 * bridges, LLC and SNAP, MPLS labels, PPPoE. */
#include "trace/linklayer.h"

enum {
    TYPE_IPV4 = 0x0800,
    TYPE_IPV6 = 0x86dd,
    TYPE_VLAN = 0x8100,
    TYPE_QINQ = 0x88a8,
    TYPE_QINQ_OLD = 0x9100,
    TYPE_BACKBONE = 0x88e7,
    TYPE_MPLS = 0x8847,
    TYPE_MPLS_MULTICAST = 0x8848,
    TYPE_PPPOE = 0x8864,
    /* A smaller value is no EtherType but the length of a frame (IEEE 802.3), and LLC follows. */
    TYPE_LEAST = 0x0600
};

#define LLC_SNAP 0xaaaa03u
/* length of an IEEE 802.1ah header, octets: a service instance, and the MAC addresses of the inner
 * frame */
#define BACKBONE 16

int scps_tr_ppp_ip(struct scps_trace *t, const uint8_t *p, uint32_t caplen, uint32_t off)
{
    /* The address and control octets of HDLC are skipped. */
    if (off + 2 <= caplen && p[off] == 0xff && p[off + 1] == 3)
        off += 2;
    if (off >= caplen)
        return scps_tr_truncated(t);
    uint32_t proto = p[off++];
    if (!(proto & 1)) {
        if (off >= caplen)
            return scps_tr_truncated(t);
        proto = proto << 8 | p[off++];
    }
    return proto == 0x21 || proto == 0x57 ? (int)off : scps_tr_other_link(t);
}

/* Skips the stack of MPLS labels that begins at offset off. Behind the last label there is no type
 * field, so the packet's IP version tells IPv4 from IPv6 (RFC 3032). Returns the offset of the IP
 * header, or -1 after counting why there is none. */
static int mpls(struct scps_trace *t, const uint8_t *p, uint32_t caplen, uint32_t off)
{
    bool bottom = false;
    for (; !bottom; off += 4) {
        if (off + 4 > caplen)
            return scps_tr_truncated(t);
        bottom = p[off + 2] & 1;
    }
    if (off >= caplen)
        return scps_tr_truncated(t);
    return p[off] >> 4 == 4 || p[off] >> 4 == 6 ? (int)off : scps_tr_other_link(t);
}

int scps_tr_ethertype_ip(struct scps_trace *t, const uint8_t *p, uint32_t caplen, uint32_t off,
                         uint32_t type)
{
    while (type == TYPE_VLAN || type == TYPE_QINQ || type == TYPE_QINQ_OLD ||
           type == TYPE_BACKBONE) {
        off += type == TYPE_BACKBONE ? BACKBONE + 2 : 4;
        if (off > caplen)
            return scps_tr_truncated(t);
        type = scps_get16(p + off - 2);
    }
    if (type < TYPE_LEAST && off + 8 <= caplen && scps_get32(p + off) >> 8 == LLC_SNAP) {
        type = scps_get16(p + off + 6); /* The EtherType follows the organisation's code of SNAP. */
        off += 8;
    }
    if (type == TYPE_IPV4 || type == TYPE_IPV6)
        return (int)off;
    if (type == TYPE_MPLS || type == TYPE_MPLS_MULTICAST)
        return mpls(t, p, caplen, off);
    if (type == TYPE_PPPOE)
        return scps_tr_ppp_ip(t, p, caplen, off + 6);
    return scps_tr_other_link(t);
}
