/* SPDX-License-Identifier: MIT */
/* Finds the IP header of a captured frame: Ethernet; FDDI and token ring; PPP with and without HDLC
 * framing, Cisco HDLC, frame relay, SLIP, InfiniBand, Linux cooked v1 and v2, null and loop, raw
 * IP; and packets that netfilter, pf, BSD's IPsec and macOS log, each with a header of its own.
 * ethertype.c continues behind an EtherType, atm.c reads ATM and ERF, and wireless.c 802.11.
 *
 * Link-layer type values: www.tcpdump.org/linktypes.html.
 */
#include "trace/linklayer.h"

enum {
    LINK_NULL = 0,
    LINK_ETHERNET = TR_LINK_ETHERNET,
    LINK_TOKEN_RING = 6,
    LINK_SLIP = 8,
    LINK_PPP = 9,
    LINK_FDDI = 10,
    LINK_RAW_BSD = 12, /* the value that DLT_RAW has on most systems */
    LINK_RAW_OPENBSD = 14,
    LINK_PPP_HDLC = 50,
    LINK_PPPOE = 51,
    LINK_ATM = 100,
    LINK_RAW = 101,
    LINK_CHDLC = 104,
    LINK_WIRELESS = 105,
    LINK_ATM_CLIP = 106,
    LINK_FRAME_RELAY = 107,
    LINK_LOOP = 108,
    LINK_ENC = 109,
    LINK_COOKED = 113,
    LINK_PFLOG = 117,
    LINK_PRISM = 119,
    LINK_SUNATM = 123,
    LINK_RADIOTAP = 127,
    LINK_AVS = 163,
    LINK_PPP_PPPD = 166,
    LINK_PPI = 192,
    LINK_ERF = 197,
    LINK_PPP_WITH_DIRECTION = 204,
    LINK_CHDLC_WITH_DIRECTION = 205,
    LINK_FRAME_RELAY_WITH_DIRECTION = 206,
    LINK_MPLS = 219,
    LINK_IPV4 = 228,
    LINK_IPV6 = 229,
    LINK_NFLOG = 239,
    LINK_INFINIBAND = 242,
    LINK_PKTAP = 258,
    LINK_COOKED2 = 276
};

#define NFLOG_HEAD 4
#define NFLOG_DATA 9 /* type of the value that contains the packet in a netfilter log */
#define NLPID_IP   0xcc
#define NLPID_IP6  0x8e
#define NLPID_SNAP 0x80
/* organisation's code of SNAP for bridged frames (RFC 2427 section 4.2) */
#define OUI_BRIDGED 0x0080c2u

/* Finds the IP packet in a frame-relay frame (RFC 2427), in which it follows an address of two or
 * four octets, a control octet and a protocol identifier. Returns its offset, or -1 after counting
 * why there is none. */
static int frame_relay(struct scps_trace *t, const uint8_t *p, uint32_t caplen)
{
    uint32_t at = 0;
    while (at < caplen && !(p[at] & 1)) /* The last octet of an address has its lowest bit set. */
        at++;
    if (at + 4 > caplen)
        return scps_tr_truncated(t);
    at += 2;          /* Skip the control octet. */
    at += p[at] == 0; /* Skip a padding octet. */
    if (p[at] == NLPID_IP || p[at] == NLPID_IP6)
        return (int)at + 1;
    if (p[at] != NLPID_SNAP || at + 6 > caplen)
        return scps_tr_other_link(t);
    const uint32_t type = scps_get16(p + at + 4);
    if (scps_get32(p + at) % 0x1000000u != OUI_BRIDGED)
        return scps_tr_ethertype_ip(t, p, caplen, at + 6, type);
    if (type == 1 || type == 7) /* bridged Ethernet, with and without its checksum */
        return scps_tr_ethertype_ip(t, p, caplen, at + 6, TR_TYPE_ETHERNET);
    return scps_tr_other_link(t);
}

/* Finds the IP packet in a frame of Cisco HDLC, in which it follows an address octet, a control
 * octet and an EtherType. */
static int cisco_hdlc(struct scps_trace *t, const uint8_t *p, uint32_t caplen)
{
    if (caplen < 4)
        return scps_tr_truncated(t);
    return scps_tr_ethertype_ip(t, p, caplen, 4, scps_get16(p + 2));
}

/* Finds the IP packet in a record of the netfilter log: a header, then values, each with a length,
 * a type, and padding to four octets. Length and type have the byte order of the machine that wrote
 * them. The byte order is found from the type, two octets of which the high one is 0. */
static int netfilter(struct scps_trace *t, const uint8_t *p, uint32_t caplen)
{
    uint32_t off = NFLOG_HEAD;

    while (off + 4 <= caplen) {
        bool big = p[off + 2] == 0;
        uint32_t len = big ? scps_get16(p + off) : scps_tr_little16(p + off);
        if (p[off + (big ? 3 : 2)] == NFLOG_DATA)
            return (int)off + 4;
        if (len < 4)
            return scps_tr_other_link(t);
        off += (len + 3) & ~3u;
    }
    return scps_tr_truncated(t);
}

/* Finds the IP packet in a token-ring frame: LLC follows the two MAC addresses, behind a source
 * route if the first bit of the source address is set. */
static int token_ring(struct scps_trace *t, const uint8_t *p, uint32_t caplen)
{
    uint32_t off = 14;

    if (caplen <= off)
        return scps_tr_truncated(t);
    if (p[8] & 0x80)
        off += p[14] & 0x1f;
    return scps_tr_ethertype_ip(t, p, caplen, off, 0);
}

/* Finds the IP packet in a frame that follows a capture header of len octets. link: link type of
 * that frame, which must not be another one with a capture header. */
static int inner(struct scps_trace *t, const uint8_t *p, uint32_t caplen, uint32_t len,
                 uint32_t link)
{
    if (link == LINK_PPI || link == LINK_PKTAP)
        return scps_tr_other_link(t);
    if (len > caplen)
        return scps_tr_truncated(t);
    int off = scps_tr_link_ip(t, (int)SCPS_MIN(link, 0xffffu), p + len, caplen - len);
    return off < 0 ? off : off + (int)len;
}

/* Finds the IP packet behind the header of link types NULL and LOOP: four octets with the address
 * family (AF_INET and so on), in the byte order of the capturing host or in network byte order.
 * AF_INET is 2 everywhere; each system has its own value of AF_INET6. */
static int null_or_loop(struct scps_trace *t, const uint8_t *p, uint32_t caplen)
{
    if (caplen < 4)
        return scps_tr_truncated(t);
    uint32_t af = p[0] || p[1] ? (uint32_t)p[0] | (uint32_t)p[1] << 8 : scps_get32(p);
    return af == 2 || af == 10 || af == 24 || af == 28 || af == 30 ? 4 : scps_tr_other_link(t);
}

/* Finds the IP packet behind a link-layer header of len octets that has the EtherType at offset
 * `type`. */
static int typed(struct scps_trace *t, const uint8_t *p, uint32_t caplen, uint32_t len,
                 uint32_t type)
{
    if (caplen < len)
        return scps_tr_truncated(t);
    return scps_tr_ethertype_ip(t, p, caplen, len, scps_get16(p + type));
}

/* Finds the IP packet in frames of those link types that put a capture header before a frame of
 * another link type, in those of ATM and MPLS, and in 802.11 frames. */
static int wrapped(struct scps_trace *t, int link, const uint8_t *p, uint32_t caplen)
{
    switch (link) {
    /* In this link type the first octet of a PPP frame holds the direction of the packet in place
     * of the address. */
    case LINK_PPP_PPPD:
        return inner(t, p, caplen, caplen > 1 && p[1] == 3 ? 2 : 1, LINK_PPP);
    case LINK_PPP_WITH_DIRECTION:
        return inner(t, p, caplen, 1, LINK_PPP);
    case LINK_CHDLC_WITH_DIRECTION:
        return inner(t, p, caplen, 1, LINK_CHDLC);
    case LINK_FRAME_RELAY_WITH_DIRECTION:
        return inner(t, p, caplen, 1, LINK_FRAME_RELAY);
    case LINK_PPI: /* A frame follows the per-packet information: version, flags, length. */
        if (caplen < 8)
            return scps_tr_truncated(t);
        return inner(t, p, caplen, scps_tr_little16(p + 2), scps_tr_little32(p + 4));
    case LINK_PKTAP: /* A frame follows a header with its own length and a type. */
        if (caplen < 12)
            return scps_tr_truncated(t);
        return inner(t, p, caplen, scps_tr_little32(p), scps_tr_little32(p + 8));
    case LINK_ATM:
    case LINK_ATM_CLIP:
        return scps_tr_atm_ip(t, p, caplen, 0);
    /* A header of four octets is skipped: direction and kind of traffic, and the numbers of the
     * virtual path and channel of ATM. */
    case LINK_SUNATM:
        return scps_tr_atm_ip(t, p, caplen, 4);
    case LINK_ERF:
        return scps_tr_erf_ip(t, p, caplen);
    case LINK_MPLS:
        return scps_tr_ethertype_ip(t, p, caplen, 0, TR_TYPE_MPLS);
    case LINK_WIRELESS:
        return scps_tr_wireless_ip(t, TR_RADIO_NONE, p, caplen);
    case LINK_PRISM:
        return scps_tr_wireless_ip(t, TR_RADIO_PRISM, p, caplen);
    case LINK_RADIOTAP:
        return scps_tr_wireless_ip(t, TR_RADIO_TAP, p, caplen);
    case LINK_AVS:
        return scps_tr_wireless_ip(t, TR_RADIO_AVS, p, caplen);
    default:
        t->tot.bad_link++;
        return -1;
    }
}

int scps_tr_link_ip(struct scps_trace *t, int link, const uint8_t *p, uint32_t caplen)
{
    switch (link) {
    case LINK_ETHERNET:
        if (TR_UNLIKELY(caplen < 14))
            return scps_tr_truncated(t);
        if (TR_LIKELY(p[12] == 0x08 && p[13] == 0))
            return 14;
        return scps_tr_ethertype_ip(t, p, caplen, 14, scps_get16(p + 12));
    case LINK_RAW_BSD:
    case LINK_RAW_OPENBSD:
    case LINK_RAW:
    case LINK_IPV4:
    case LINK_IPV6:
        return 0;
    case LINK_NULL:
    case LINK_LOOP:
        return null_or_loop(t, p, caplen);
    case LINK_PPP:
    case LINK_PPP_HDLC:
        return scps_tr_hdlc_ip(t, p, caplen, 0);
    case LINK_PPPOE:
        return scps_tr_ppp_ip(t, p, caplen, 6);
    case LINK_CHDLC:
        return cisco_hdlc(t, p, caplen);
    case LINK_FRAME_RELAY:
        return frame_relay(t, p, caplen);
    case LINK_SLIP: /* A direction octet and the state of the compressor precede the packet. */
        return 16;
    case LINK_FDDI: /* LLC follows the frame control octet and the addresses, which are skipped. */
        return scps_tr_ethertype_ip(t, p, caplen, 13, 0);
    case LINK_TOKEN_RING:
        return token_ring(t, p, caplen);
    case LINK_INFINIBAND: /* A global route header, if present, precedes the EtherType. */
        return typed(t, p, caplen, 44, 40);
    case LINK_ENC: /* The header has address family, security parameters index and flags. */
        return 12;
    case LINK_PFLOG: /* The header begins with its length, which is rounded up. */
        return caplen ? (p[0] + 3) & ~3 : scps_tr_truncated(t);
    case LINK_NFLOG:
        return netfilter(t, p, caplen);
    case LINK_COOKED:
        return typed(t, p, caplen, 16, 14);
    case LINK_COOKED2:
        return typed(t, p, caplen, 20, 0);
    default:
        return wrapped(t, link, p, caplen);
    }
}

bool scps_tr_link_known(int link)
{
    struct scps_trace counts = {0};
    uint8_t none[1] = {0};
    /* scps_tr_link_ip() is called with an empty frame: it counts the frame as cut short by the
     * capture if it can read the link type, and as unknown if not. */
    scps_tr_link_ip(&counts, link, none, 0);
    return counts.tot.bad_link == 0;
}

int scps_tr_link_refused(const char *what, int link, char *msg)
{
    snprintf(msg, SCPS_TRACE_MSGLEN,
             "%.160s: link type %d is not understood: capture IP or Ethernet, or see 'editcap -T'",
             what, link);
    return SCPS_ERR_INVAL;
}
