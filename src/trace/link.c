/* SPDX-License-Identifier: MIT */
/* From a captured frame to its IP header: Ethernet with any number of VLAN tags, PPP with and without HDLC framing
 * (and PPPoE), Linux cooked v1 and v2, null and loop, raw IP.
 *
 * Link-layer type values: www.tcpdump.org/linktypes.html.
 */
#include "trace/flow.h"

enum {
    LINK_NULL = 0,
    LINK_ETHERNET = 1,
    LINK_PPP = 9,
    LINK_RAW_BSD = 12, /* DLT_RAW on most systems */
    LINK_RAW_OPENBSD = 14,
    LINK_PPP_HDLC = 50,
    LINK_RAW = 101,
    LINK_LOOP = 108,
    LINK_COOKED = 113,
    LINK_IPV4 = 228,
    LINK_IPV6 = 229,
    LINK_COOKED2 = 276
};

enum {
    TYPE_IPV4 = 0x0800,
    TYPE_IPV6 = 0x86dd,
    TYPE_VLAN = 0x8100,
    TYPE_QINQ = 0x88a8,
    TYPE_QINQ_OLD = 0x9100,
    TYPE_PPPOE = 0x8864
};

static int other(struct scps_trace *t)
{
    t->tot.other_link++;
    return -1;
}

static int truncated(struct scps_trace *t)
{
    t->tot.truncated++;
    return -1;
}

/* A PPP protocol field at off, one octet or two. */
static int ppp(struct scps_trace *t, const uint8_t *p, uint32_t caplen, uint32_t off)
{
    if (off >= caplen)
        return truncated(t);
    uint32_t proto = p[off++];
    if (!(proto & 1)) {
        if (off >= caplen)
            return truncated(t);
        proto = proto << 8 | p[off++];
    }
    return proto == 0x21 || proto == 0x57 ? (int)off : other(t);
}

/* An EtherType before off has been read; tags may follow. */
static int ethertype(struct scps_trace *t, const uint8_t *p, uint32_t caplen, uint32_t off,
                     uint32_t type)
{
    while (type == TYPE_VLAN || type == TYPE_QINQ || type == TYPE_QINQ_OLD) {
        if (off + 4 > caplen)
            return truncated(t);
        type = scps_get16(p + off + 2);
        off += 4;
    }
    if (type == TYPE_IPV4 || type == TYPE_IPV6)
        return (int)off;
    if (type == TYPE_PPPOE)
        return ppp(t, p, caplen, off + 6);
    return other(t);
}

int tr_link_ip(struct scps_trace *t, int link, const uint8_t *p, uint32_t caplen)
{
    switch (link) {
    case LINK_ETHERNET:
        if (TR_UNLIKELY(caplen < 14))
            return truncated(t);
        if (TR_LIKELY(p[12] == 0x08 && p[13] == 0))
            return 14;
        return ethertype(t, p, caplen, 14, scps_get16(p + 12));
    case LINK_RAW_BSD:
    case LINK_RAW_OPENBSD:
    case LINK_RAW:
    case LINK_IPV4:
    case LINK_IPV6:
        return 0;
    case LINK_NULL:
    case LINK_LOOP: {
        if (caplen < 4)
            return truncated(t);
        /* the address family, in the byte order of the capturing host: 2, or one of the BSDs' for IPv6 */
        uint32_t af = p[0] || p[1] ? (uint32_t)p[0] | (uint32_t)p[1] << 8 : scps_get32(p);
        return af == 2 || af == 10 || af == 24 || af == 28 || af == 30 ? 4 : other(t);
    }
    case LINK_PPP:
    case LINK_PPP_HDLC:
        if (caplen >= 2 && p[0] == 0xff && p[1] == 3)
            return ppp(t, p, caplen, 2);
        return ppp(t, p, caplen, 0);
    case LINK_COOKED:
        if (caplen < 16)
            return truncated(t);
        return ethertype(t, p, caplen, 16, scps_get16(p + 14));
    case LINK_COOKED2:
        if (caplen < 20)
            return truncated(t);
        return ethertype(t, p, caplen, 20, scps_get16(p));
    default:
        t->tot.bad_link++;
        return -1;
    }
}
