/* SPDX-License-Identifier: MIT */
/* Finds the IP header behind an EtherType or a PPP protocol number. The headers of other protocols
 * that may come before the IP header are skipped: tags of VLANs and switches, provider backbone
 * bridges, LLC and SNAP, MPLS labels and pseudowires of Ethernet, network service headers, PPPoE.
 *
 * Sources: RFC 3032, 4385, 4448 (MPLS); RFC 8300 (NSH); RFC 2684 (bridged frames behind SNAP).
 */
#include "trace/linklayer.h"

enum {
    TYPE_IPV4 = 0x0800,
    TYPE_IPV6 = 0x86dd,
    TYPE_VLAN = 0x8100,
    TYPE_QINQ = 0x88a8,
    TYPE_QINQ_OLD = 0x9100,
    TYPE_BACKBONE = 0x88e7,
    TYPE_FABRIC_PATH = 0x8903,
    TYPE_VN_TAG = 0x8926,
    TYPE_SEAMLESS = 0x892f, /* tag of a ring with seamless redundancy (HSR) */
    TYPE_E_TAG = 0x893f,
    TYPE_PPPOE = 0x8864,
    /* A smaller value is no EtherType but the length of a frame (IEEE 802.3), and LLC follows. */
    TYPE_LEAST = 0x0600
};

#define LLC_SNAP    0xaaaa03u
#define LLC_IP      0x060603u /* LLC without SNAP, of the service access point of IP */
#define OUI_BRIDGED 0x0080c2u /* organisation's code of SNAP for bridged frames (RFC 2684) */

/* Returns the length of the tag that this EtherType announces, up to and including the next
 * EtherType, octets; 0: it is not the EtherType of a tag. */
static uint32_t tag_len(uint32_t type)
{
    switch (type) {
    case TYPE_VLAN:
    case TYPE_QINQ:
    case TYPE_QINQ_OLD:
        return 4;
    case TYPE_VN_TAG:
    case TYPE_SEAMLESS:
        return 6;
    case TYPE_E_TAG:
        return 8;
    case TYPE_FABRIC_PATH: /* two octets of tag, 14 of the inner Ethernet header */
        return 16;
    case TYPE_BACKBONE: /* four octets of service instance, 14 of the inner Ethernet header */
        return 18;
    case TR_TYPE_ETHERNET: /* the Ethernet header of a frame that a packet contains */
        return 14;
    default:
        return 0;
    }
}

/* Skips the MPLS labels at off. Returns the offset of the packet behind the last one, which has at
 * least one octet, or -1 after counting that it is cut short. */
static int skip_labels(struct scps_trace *t, const uint8_t *p, uint32_t caplen, uint32_t off)
{
    bool bottom = false;
    for (; !bottom; off += 4) {
        if (off + 4 > caplen)
            return scps_tr_truncated(t);
        bottom = p[off + 2] & 1;
    }
    return off < caplen ? (int)off : scps_tr_truncated(t);
}

static bool is_version(uint8_t octet)
{
    return octet >> 4 == 4 || octet >> 4 == 6;
}

/* Returns true if an Ethernet frame at off may carry IP: its EtherType is one that is understood,
 * or a length with LLC behind it. */
static bool is_frame(const uint8_t *p, uint32_t caplen, uint32_t off)
{
    if (off + 14 + 4 > caplen)
        return false;
    const uint32_t type = scps_get16(p + off + 12), llc = scps_get32(p + off + 14) >> 8;
    return type == TYPE_IPV4 || type == TYPE_IPV6 || type == TR_TYPE_MPLS || type == TYPE_PPPOE ||
           (type < TYPE_LEAST && (llc == LLC_SNAP || llc == LLC_IP)) ||
           (tag_len(type) && type != TR_TYPE_ETHERNET);
}

/* Finds what MPLS labels at *off carry. It has no type field: the first four bits are the version
 * of IP, or zero in the control word of a pseudowire (RFC 4385 section 3); an Ethernet frame may
 * also follow without a control word (RFC 4448 section 4.6). Sets *off behind the labels and the
 * control word. Returns its EtherType, or -1 after counting why there is none. */
static int labelled(struct scps_trace *t, const uint8_t *p, uint32_t caplen, uint32_t *off)
{
    int at = skip_labels(t, p, caplen, *off);
    if (at < 0)
        return at;
    *off = (uint32_t)at;
    if (is_version(p[at]))
        return TYPE_IPV4;
    if (*off + 14 + 4 > caplen)
        return scps_tr_truncated(t);
    if (p[at] >> 4 == 0 && is_frame(p, caplen, *off + 4))
        *off += 4;
    else if (!is_frame(p, caplen, *off))
        return scps_tr_other_link(t);
    return TR_TYPE_ETHERNET;
}

uint32_t scps_tr_next_type(uint8_t next)
{
    static const uint16_t types[] = {0,           TYPE_IPV4,   TYPE_IPV6, TR_TYPE_ETHERNET,
                                     TR_TYPE_NSH, TR_TYPE_MPLS};
    return next < sizeof types / sizeof *types ? types[next] : 0;
}

/* Skips the network service header at *off (RFC 8300 section 2.2). Returns the EtherType of what
 * follows, or -1 after counting why there is none. */
static int service(struct scps_trace *t, const uint8_t *p, uint32_t caplen, uint32_t *off)
{
    if (*off + 8 > caplen)
        return scps_tr_truncated(t);
    const uint8_t *h = p + *off;
    const uint32_t len = (h[1] & 63u) * 4, type = scps_tr_next_type(h[3]);
    if (h[0] >> 6 != 0 || len < 8 || type == 0)
        return scps_tr_other_link(t);
    *off += len;
    return *off < caplen ? (int)type : scps_tr_truncated(t);
}

/* Skips LLC and SNAP at *off. Returns the EtherType behind them, or 0 if they announce no IP. */
static uint32_t skip_llc(const uint8_t *p, uint32_t caplen, uint32_t *off)
{
    if (*off + 8 > caplen)
        return 0;
    const uint8_t *h = p + *off;
    if (scps_get32(h) >> 8 == LLC_IP) {
        *off += 3;
        return TYPE_IPV4;
    }
    if (scps_get32(h) >> 8 != LLC_SNAP)
        return 0;
    uint32_t type = scps_get16(h + 6);
    *off += 8;
    if (scps_get32(h + 2) % 0x1000000u != OUI_BRIDGED)
        return type;
    *off += 2; /* padding */
    return type == 1 || type == 7 ? TR_TYPE_ETHERNET : 0;
}

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
    if (proto == 0x21 || proto == 0x57)
        return (int)off;
    if (proto != 0x281 && proto != 0x283)
        return scps_tr_other_link(t);
    int at = skip_labels(t, p, caplen, off); /* MPLS (RFC 3032 section 4.3) */
    return at < 0 || is_version(p[at]) ? at : scps_tr_other_link(t);
}

int scps_tr_ethertype_ip(struct scps_trace *t, const uint8_t *p, uint32_t caplen, uint32_t off,
                         uint32_t type)
{
    for (;;) {
        for (uint32_t len; (len = tag_len(type)) != 0; type = scps_get16(p + off - 2)) {
            off += len;
            if (off > caplen)
                return scps_tr_truncated(t);
        }
        if (type < TYPE_LEAST)
            type = skip_llc(p, caplen, &off);
        if (type == TYPE_IPV4 || type == TYPE_IPV6)
            return (int)off;
        if (type == TYPE_PPPOE)
            return scps_tr_ppp_ip(t, p, caplen, off + 6);
        int inner = -1;
        if (type == TR_TYPE_MPLS || type == TR_TYPE_MPLS_MULTICAST)
            inner = labelled(t, p, caplen, &off);
        else if (type == TR_TYPE_NSH)
            inner = service(t, p, caplen, &off);
        else if (!tag_len(type))
            return scps_tr_other_link(t);
        else
            continue;
        if (inner < 0)
            return -1;
        type = (uint32_t)inner;
    }
}

int scps_tr_hdlc_ip(struct scps_trace *t, const uint8_t *p, uint32_t caplen, uint32_t off)
{
    if (off + 4 > caplen)
        return scps_tr_truncated(t);
    /* The first two octets tell Cisco HDLC from PPP: Cisco's are the address 0x0f (unicast) or 0x8f
     * (broadcast), and 0. A PPP frame begins with the address 0xff (all stations) or with a
     * protocol number, and no protocol number of PPP begins in this way. */
    if ((p[off] == 0x0f || p[off] == 0x8f) && p[off + 1] == 0)
        return scps_tr_ethertype_ip(t, p, caplen, off + 4, scps_get16(p + off + 2));
    return scps_tr_ppp_ip(t, p, caplen, off);
}
