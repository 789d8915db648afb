/* SPDX-License-Identifier: MIT */
/* Finds IP packets inside packets that are neither TCP nor compressed TCP (protocol 105).
 *
 *   by protocol    IP (4), IPv6 (41), GRE (47) with IP, Ethernet, PPP, ERSPAN; EtherIP (97), MPLS
 *                  (137)
 *   by UDP port    VXLAN and VXLAN-GPE, GENEVE, GTP-U, GRE, MPLS, L2TP
 *   by content     UDP whose payload is an IP packet: this library's encapsulation, that of the
 *                  SCPS reference implementation, Teredo; or an encapsulation packet of CCSDS that
 *                  holds one; and several of these one behind the other, which segmentation
 *                  offload has joined into one datagram
 *
 * Sources: RFC 2003, 2473, 4213; RFC 2784, 2890, 2637, draft-foschiano-erspan; RFC 3378, 4023,
 * 7348, 8926, 8086, 7510, 2661; draft-ietf-nvo3-vxlan-gpe; 3GPP TS 29.281; CCSDS 133.1-B, 702.1-B.
 */
#include "trace/linklayer.h"
#include "trace/parse.h"

enum { PROTO_IPV4 = 4, PROTO_IPV6 = 41, PROTO_GRE = 47, PROTO_ETHERIP = 97, PROTO_MPLS = 137 };

enum {
    PORT_L2TP = 1701,
    PORT_GTP = 2152,
    PORT_GRE = 4754,
    PORT_VXLAN = 4789,
    PORT_VXLAN_GPE = 4790,
    PORT_GENEVE = 6081,
    PORT_MPLS = 6635,
    PORT_VXLAN_LINUX = 8472
};

enum { TYPE_ERSPAN3 = 0x22eb, TYPE_PPP = 0x880b, TYPE_ERSPAN = 0x88be };

#define GRE_CHECKSUM 0x8000u
/* flag "routing present" of RFC 1701, which later versions of GRE do not have */
#define GRE_ROUTING  0x4000u
#define GRE_KEY      0x2000u
#define GRE_SEQUENCE 0x1000u
#define GRE_ACK      0x0080u
#define GRE_VERSION  0x0007u

#define NO_TUNNEL 0

static int cut_short(struct scps_trace *t)
{
    scps_tr_cut_short(t);
    return -1;
}

static int ethernet(struct scps_trace *t, const struct packet *k, uint32_t at)
{
    if (at >= k->cap)
        return cut_short(t);
    int off = scps_tr_link_ip(t, TR_LINK_ETHERNET, k->ip + at, k->cap - at);
    return off < 0 ? off : (int)at + off;
}

/* Returns the offset from k->ip of the IP header in the inner packet at offset `at`. type:
 * EtherType of the inner packet, from the tunnel's header. Returns -1, after counting why, if there
 * is no IP header. */
static int typed(struct scps_trace *t, const struct packet *k, uint32_t at, uint32_t type)
{
    if (type == TR_TYPE_ETHERNET)
        return ethernet(t, k, at);
    return scps_tr_ethertype_ip(t, k->ip, k->cap, at, type);
}

static int gre(struct scps_trace *t, const struct packet *k, uint32_t at)
{
    if (at + 8 > k->cap)
        return cut_short(t);
    const uint32_t flags = scps_get16(k->ip + at), type = scps_get16(k->ip + at + 2);
    const bool sequence = flags & GRE_SEQUENCE;
    /* The GRE header of PPTP always has a key (RFC 2637 section 4.1). */
    if ((flags & GRE_VERSION) == 1 && type == TYPE_PPP)
        return scps_tr_ppp_ip(t, k->ip, k->cap,
                              at + 8 + (sequence ? 4 : 0) + (flags & GRE_ACK ? 4 : 0));
    if (flags & (GRE_ROUTING | GRE_VERSION))
        return NO_TUNNEL;
    at += 4 + (flags & GRE_CHECKSUM ? 4 : 0) + (flags & GRE_KEY ? 4 : 0) + (sequence ? 4 : 0);
    /* ERSPAN type II has a GRE sequence number and a header of 8 octets; type I has neither. */
    if (type == TYPE_ERSPAN)
        return ethernet(t, k, at + (sequence ? 8 : 0));
    if (type == TYPE_ERSPAN3) {
        if (at + 12 > k->cap)
            return cut_short(t);
        return ethernet(t, k, at + 12 + (k->ip[at + 11] & 1 ? 8 : 0));
    }
    return typed(t, k, at, type);
}

static int vxlan(struct scps_trace *t, const struct packet *k, uint32_t at)
{
    /* In the first octet of VXLAN, only the flag of the network identifier may be set. */
    if (at + 8 > k->cap || k->ip[at] != 0x08)
        return NO_TUNNEL;
    return ethernet(t, k, at + 8);
}

static int vxlan_gpe(struct scps_trace *t, const struct packet *k, uint32_t at)
{
    /* In the first octet of VXLAN-GPE, the reserved bits and the version must be 0, the flag "next
     * protocol" must be set, and the last bit, "operations, administration and maintenance", must
     * be 0. The other flags, such as that of the network identifier, may have any value. */
    if (at + 8 > k->cap || (k->ip[at] & 0xf5u) != 0x04)
        return NO_TUNNEL;
    const uint32_t type = scps_tr_next_type(k->ip[at + 3]);
    return type ? typed(t, k, at + 8, type) : NO_TUNNEL;
}

#define L2TP_CONTROL  0x8000u
#define L2TP_LENGTH   0x4000u
#define L2TP_SEQUENCE 0x0800u
#define L2TP_OFFSET   0x0200u
#define L2TP_VERSION  0x000fu

static int l2tp(struct scps_trace *t, const struct packet *k, uint32_t at)
{
    if (at + 8 > k->cap)
        return NO_TUNNEL;
    const uint32_t flags = scps_get16(k->ip + at);
    if (flags & L2TP_CONTROL || (flags & L2TP_VERSION) != 2)
        return NO_TUNNEL;
    at += 6 + (flags & L2TP_LENGTH ? 2 : 0) + (flags & L2TP_SEQUENCE ? 4 : 0);
    if (flags & L2TP_OFFSET) {
        if (at + 2 > k->cap)
            return cut_short(t);
        at += 2u + scps_get16(k->ip + at);
    }
    return scps_tr_ppp_ip(t, k->ip, k->cap, at);
}

static int etherip(struct scps_trace *t, const struct packet *k, uint32_t at)
{
    if (at + 2 > k->cap || scps_get16(k->ip + at) != 0x3000)
        return NO_TUNNEL;
    return ethernet(t, k, at + 2);
}

static int geneve(struct scps_trace *t, const struct packet *k, uint32_t at)
{
    if (at + 8 > k->cap || k->ip[at] >> 6 != 0)
        return NO_TUNNEL;
    return typed(t, k, at + 8 + (k->ip[at] & 63u) * 4, scps_get16(k->ip + at + 2));
}

static int gtp(struct scps_trace *t, const struct packet *k, uint32_t at)
{
    const uint8_t *p = k->ip;
    /* Only version 1 with message type 255 (G-PDU) contains a packet of a user. */
    if (at + 12 > k->cap || (p[at] & 0xf0) != 0x30 || p[at + 1] != 0xff)
        return NO_TUNNEL;
    const uint8_t flags = p[at];
    at += 8;
    if (flags & 7) {
        at += 4;
        /* The GTP-U extension headers are skipped. */
        for (uint8_t next = p[at - 1]; flags & 4 && next != 0; next = p[at - 1]) {
            if (at >= k->cap || p[at] == 0 || at + p[at] * 4u > k->cap)
                return cut_short(t);
            at += p[at] * 4u;
        }
    }
    return at < k->cap && (p[at] >> 4 == 4 || p[at] >> 4 == 6) ? (int)at : NO_TUNNEL;
}

static bool is_ours(uint8_t proto)
{
    return proto == SCPS_IPPROTO_TCP || proto == SCPS_IPPROTO_SCPS_TP ||
           proto == SCPS_IPPROTO_SCPS_COMP;
}

/* Returns the length of the shortest header that follows the IP header, octets: 20 for TCP; 4 for a
 * compressed TCP header (protocol 105): connection id, an octet of flags, and checksum. */
static uint32_t least_header(uint8_t proto)
{
    return proto == SCPS_IPPROTO_SCPS_COMP ? 4 : 20;
}

/* Returns true if the packet may be the first fragment of a longer one: IPv4 with the flag "more
 * fragments" (RFC 791 section 3.1), IPv6 with extension headers (RFC 8200 section 4.5). */
static bool may_be_fragment(const struct packet *k)
{
    return k->version == 4 ? (k->ip[6] & 0x20) != 0 : k->th - k->ip > 40;
}

/* Returns true if the len octets at p, of which cap were captured, are exactly one IP packet: with
 * IPv4 one whose header checksum is right, with IPv6, which has none, one that carries TCP (6 or
 * 106), compressed TCP (105), UDP or ICMPv6. The result is true even if nothing behind the IP
 * header was captured; the packet is then counted as cut short when it is parsed. */
static bool is_ip(const uint8_t *p, uint32_t cap, uint32_t len)
{
    if (cap < 20 || len < 20)
        return false;
    if (p[0] >> 4 == 4) {
        uint32_t hdr = (p[0] & 15u) * 4;
        return hdr >= 20 && hdr <= cap && scps_get16(p + 2) == len &&
               hdr + (is_ours(p[9]) ? least_header(p[9]) : 0) <= len &&
               scps_cksum_fold(scps_cksum_add(0, p, hdr)) == 0;
    }
    if (p[0] >> 4 != 6 || cap < 40 || 40u + scps_get16(p + 4) != len)
        return false;
    return is_ours(p[6]) ? 40 + least_header(p[6]) <= len
                         : p[6] == SCPS_IPPROTO_UDP || p[6] == SCPS_IPPROTO_ICMPV6;
}

/* Returns the length of the headers before the payload of a CCSDS encapsulation packet (133.1-B)
 * with the Internet protocol extension (702.1-B) at p, of which cap octets were captured, and sets
 * *total to the length in its header; 0: it is something else. */
static uint32_t encapsulation(const uint8_t *p, uint32_t cap, uint32_t *total)
{
    static const uint8_t heads[4] = {0, 2, 4, 8};
    if (cap < 9 || p[0] >> 2 != 0x3a) /* version 7, protocol 2 */
        return 0;
    const uint32_t head = heads[p[0] & 3];
    *total = head == 2 ? p[1] : head == 4 ? scps_get16(p + 2) : head == 8 ? scps_get32(p + 4) : 0;
    if (p[head] != 33 && p[head] != 87)
        return 0;
    /* The Internet protocol extension adds one octet: 33 for IPv4, 87 for IPv6. */
    return head + 1;
}

/* what a UDP datagram of the tunnel holds */
struct piece {
    uint32_t len; /* length of the IP packet with the headers of a CCSDS encapsulation packet */
    int head;     /* length of these headers; 0: there are none */
    bool ours;    /* true: the IP packet carries TCP (6 or 106) or compressed TCP (105) */
};

/* Reads into *x the headers of the IP packet at p, of which cap octets were captured. len: length
 * that the packet must have, octets; 0: any length. Returns false if there is no such packet. */
static bool read_piece(const uint8_t *p, uint32_t cap, uint32_t len, struct piece *x)
{
    if (cap < 20)
        return false;
    const uint32_t head = encapsulation(p, cap, &x->len);
    const uint8_t *ip = p + head;
    if (cap - head < 20)
        return false;
    if (!head)
        x->len = ip[0] >> 4 == 4 ? scps_get16(ip + 2) : 40u + scps_get16(ip + 4);
    if ((len && x->len != len) || x->len < head ||
        !is_ip(ip, SCPS_MIN(cap, x->len) - head, x->len - head))
        return false;
    x->head = (int)head;
    x->ours = is_ours(ip[0] >> 4 == 4 ? ip[9] : ip[6]);
    return true;
}

/* length of the longest headers that read_piece() reads: IPv4 with options behind those of an
 * encapsulation packet, octets */
#define PIECE_HEADERS 69u

/* Called for the len octets of UDP payload at p, of which cap were captured, and which are not one
 * IP packet alone. Returns true if segmentation offload has joined them from several datagrams of
 * the tunnel: IP packets one behind the other, of equal length except that the last may be shorter,
 * at least one of which is ours. Then sets *first to the first of them and t->joined to the rest.
 * Only packets whose headers are right are taken. Those behind one that is not, or whose headers
 * were not captured, are counted as not read. If that is the second packet, the first one alone
 * shows the tunnel: then the headers of the second must not have been captured, and the first must
 * be IPv4, whose header has a checksum. */
static bool joined(struct scps_trace *t, const uint8_t *p, uint32_t cap, uint32_t len,
                   struct piece *first)
{
    if (t->joined.left || t->joined.inside || !read_piece(p, cap, 0, first) || first->len >= len)
        return false;
    const uint32_t unit = first->len;
    bool ours = first->ours;
    uint32_t at = unit;
    for (struct piece x; at < len; at += x.len) {
        if (cap <= at || !read_piece(p + at, cap - at, SCPS_MIN(unit, len - at), &x))
            break;
        ours |= x.ours;
    }
    const bool captured = cap == len || cap >= at + PIECE_HEADERS;
    if (!ours || (at == unit && (captured || p[first->head] >> 4 != 4)))
        return false;
    t->joined.next = p + unit;
    t->joined.left = at - unit;
    t->joined.unit = unit;
    t->tot.joined_unread += (len - at + unit - 1) / unit;
    return true;
}

/* Returns at which offset of a UDP datagram's payload an IP packet of the tunnel begins, which must
 * fill the rest of the payload: 0, or behind the header of a CCSDS encapsulation packet. The
 * payload may also be several such packets (see joined()). Returns -1 if it is nothing of the kind.
 * The first IP fragment of a datagram counts, too: the lengths in its UDP and inner IP headers are
 * those of the whole datagram. */
static int find_ip(struct scps_trace *t, const struct packet *k)
{
    uint32_t len = scps_get16(k->th + 4);
    struct piece x;
    if (len < 8 + 20 || k->th_cap < 8 + 20 || (len > k->seg_len && !may_be_fragment(k)))
        return -1;
    const uint8_t *p = k->th + 8;
    const bool whole = len <= k->seg_len;
    len -= 8;
    const uint32_t cap = SCPS_MIN(k->th_cap - 8, len);
    const bool one = read_piece(p, cap, len, &x) && x.ours;
    if (!one && !(whole && joined(t, p, cap, len, &x)))
        return -1;
    t->tot.encapsulated += x.ours;
    return x.head;
}

int scps_tr_joined_ip(struct scps_trace *t, const struct scps_trace_pkt *p, struct joined *j)
{
    const uint32_t len = SCPS_MIN(j->unit, j->left), at = (uint32_t)(j->next - p->data);
    struct piece x;
    j->next += len;
    j->left -= len;
    if (!read_piece(p->data + at, p->caplen - at, len, &x))
        return -1; /* This does not happen: joined() has read the same headers. */
    t->tot.encapsulated += x.ours;
    return (int)at + x.head;
}

/* Returns true if the source or the destination port of a UDP datagram is `port`. L2TP needs this;
 * other tunnels have their port as the destination in both directions. */
static bool has_port(const struct packet *k, uint16_t port)
{
    return scps_get16(k->th) == port || scps_get16(k->th + 2) == port;
}

static int udp(struct scps_trace *t, const struct packet *k, uint32_t at)
{
    if (k->th_cap < 8)
        return NO_TUNNEL;
    const int ip = find_ip(t, k);
    if (ip >= 0)
        return (int)at + 8 + ip;
    if (has_port(k, PORT_L2TP))
        return l2tp(t, k, at + 8);
    switch (scps_get16(k->th + 2)) {
    case PORT_VXLAN:
    case PORT_VXLAN_LINUX:
        return vxlan(t, k, at + 8);
    case PORT_VXLAN_GPE:
        return vxlan_gpe(t, k, at + 8);
    case PORT_GENEVE:
        return geneve(t, k, at + 8);
    case PORT_GTP:
        return gtp(t, k, at + 8);
    case PORT_GRE:
        return gre(t, k, at + 8);
    case PORT_MPLS:
        return typed(t, k, at + 8, TR_TYPE_MPLS);
    default:
        return NO_TUNNEL;
    }
}

static int inside(struct scps_trace *t, const struct packet *k)
{
    const uint32_t at = (uint32_t)(k->th - k->ip);
    if (t->cfg.no_tunnels)
        return NO_TUNNEL;
    switch (k->proto) {
    case PROTO_IPV4:
    case PROTO_IPV6:
        return (int)at;
    case PROTO_GRE:
        return gre(t, k, at);
    case PROTO_ETHERIP:
        return etherip(t, k, at);
    case PROTO_MPLS:
        return typed(t, k, at, TR_TYPE_MPLS);
    case SCPS_IPPROTO_UDP:
        return t->cfg.no_udp ? NO_TUNNEL : udp(t, k, at);
    default:
        return NO_TUNNEL;
    }
}

int scps_tr_tunnel_ip(struct scps_trace *t, const struct packet *k)
{
    int off = inside(t, k);
    if (off != NO_TUNNEL)
        return off;
    t->tot.other_protocol++;
    return -1;
}
