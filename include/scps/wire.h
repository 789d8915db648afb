/* SPDX-License-Identifier: MIT */
/* Parsers and builders of packets, without state or side effects, for the stack and for tools.
 *
 * Parsers take untrusted bytes, never read beyond the given length, and return 0 or the scps_drop
 * that says what is wrong. Builders write into room that the caller must make large enough, and
 * return how many bytes they wrote.
 */
#ifndef SCPS_WIRE_H
#define SCPS_WIRE_H

#include <scps/error.h>
#include <scps/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- IP: parser and builder of headers of IPv4 and IPv6 ---- */

enum {
    SCPS_IPPROTO_ICMP = 1,
    SCPS_IPPROTO_TCP = 6,
    SCPS_IPPROTO_UDP = 17,
    SCPS_IPPROTO_ICMPV6 = 58,
    SCPS_IPPROTO_SCPS_COMP = 105,
    SCPS_IPPROTO_SCPS_TP = 106
};

enum {
    /* values of the ECN field, the low two bits of tos (RFC 3168 section 5) */
    SCPS_ECN_NONE = 0,
    SCPS_ECN_ECT1 = 1,
    SCPS_ECN_ECT0 = 2,
    SCPS_ECN_CE = 3
};

struct scps_ip {
    struct scps_addr src, dst;
    uint8_t version; /* version of IP: 4 or 6 */
    uint8_t proto;   /* protocol of the payload, after any IPv6 extension headers */
    uint8_t tos;     /* IPv4 TOS or IPv6 traffic class */
    uint8_t ttl;
    bool df, more_frags;
    /* fragment offset, bytes; the packet is a fragment if it or more_frags is not 0 */
    uint16_t frag_off;
    uint32_t id;
    uint32_t hdr_len;   /* length of the IP header, options and extension headers included */
    uint32_t total_len; /* length of the packet, as its header says */
};
/* Parses an IP header into *ip. avail: bytes at p, which must hold all IP headers; the payload may
 * be elsewhere in memory. total: length of the received packet, bytes; it may be larger than the
 * length in the header (padding of the link). Checks the IPv4 header checksum. Returns 0 or the
 * scps_drop. */
SCPS_API int scps_ip_parse(const uint8_t *p, size_t avail, size_t total, struct scps_ip *ip);
/* Writes an IP header of 20 or 40 bytes for payload_len bytes of protocol ip->proto, checksum
 * included. Returns its length. */
SCPS_API size_t scps_ip_build(uint8_t *p, const struct scps_ip *ip, size_t payload_len);

/* ---- checksums (RFC 1071): 64-bit sums of 16-bit words in network order, not yet folded ---- */

/* Adds len bytes to a checksum's sum. An odd len is padded with a zero, so only the last piece may
 * be odd. */
SCPS_API uint64_t scps_cksum_add(uint64_t sum, const void *p, size_t len);
/* Adds the pseudo-header of RFC 9293 section 3.1 (IPv4) or RFC 8200 section 8.1 (IPv6) to a
 * checksum's sum. */
SCPS_API uint64_t scps_cksum_pseudo(uint64_t sum, const struct scps_addr *src,
                                    const struct scps_addr *dst, uint8_t proto, uint32_t len);
/* Folds and inverts a sum: returns the checksum to store with scps_put16(). Over a message that
 * includes a right checksum the result is 0. */
SCPS_API uint16_t scps_cksum_fold(uint64_t sum);

/* ---- TCP: parser and builder of segments ---- */

enum {
    SCPS_FIN = 0x01,
    SCPS_SYN = 0x02,
    SCPS_RST = 0x04,
    SCPS_PSH = 0x08,
    SCPS_ACK = 0x10,
    SCPS_URG = 0x20,
    SCPS_ECE = 0x40,
    SCPS_CWR = 0x80
};

enum {
    SCPS_OPT_MSS = 2,
    SCPS_OPT_WSCALE = 3,
    SCPS_OPT_SACK_OK = 4,
    SCPS_OPT_SACK = 5,
    SCPS_OPT_TS = 8,
    SCPS_OPT_BETS_OK = 16, /* option that offered best effort before option 20 existed */
    SCPS_OPT_CAPS = 20,
    SCPS_OPT_SNACK = 21,
    SCPS_OPT_RECORD = 22,
    SCPS_OPT_CORRUPTION = 23
};

/* Bits of scps_seg.has: which options a segment has, and so which fields of struct scps_seg are
 * valid. */
enum {
    SCPS_HAS_MSS = 1,
    SCPS_HAS_WSCALE = 2,
    SCPS_HAS_SACK_OK = 4,
    SCPS_HAS_SACK = 8,
    SCPS_HAS_TS = 16,
    SCPS_HAS_CAPS = 32,
    SCPS_HAS_SNACK = 64,
    SCPS_HAS_RECORD = 128,
    SCPS_HAS_CORRUPTION = 256,
    SCPS_HAS_XCAPS = 512,
    SCPS_HAS_BETS_OK = 1024
};

/* Bits of scps_seg.implied: numbers that the sender of a segment with a compressed header (IP
 * protocol 105) left out. The parser has filled them in from earlier segments. */
enum {
    /* the compressed header has no sequence number; seq is the number after the highest octet
     * received */
    SCPS_IMPLIED_SEQ = 1,
    /* the compressed header has neither acknowledgement number nor window, which a sender leaves
     * out together; ack and wnd are those received last */
    SCPS_IMPLIED_ACK = 2
};

/* Bits of scps_seg.caps: the SCPS capabilities that a SYN offers (docs/SCPS-TP.md section 1.1). */
enum {
    SCPS_CAP_BETS = 0x80,
    SCPS_CAP_SNACK1 = 0x40,
    SCPS_CAP_SNACK2 = 0x20,
    SCPS_CAP_COM = 0x10,
    SCPS_CAP_NLTS = 0x08
};

#define SCPS_SACK_MAX      4
#define SCPS_SNACK_VEC_MAX 32

struct scps_sack {
    uint32_t left, right; /* sequence numbers from left up to, not including, right */
};

/* A TCP segment as values: what scps_tcp_parse() reads and scps_tcp_build() writes. */
struct scps_seg {
    uint16_t sport, dport;
    uint32_t seq, ack;
    uint16_t flags; /* SCPS_FIN and so on, ORed */
    uint16_t wnd;   /* window as on the wire: not scaled */
    uint16_t urg;
    uint16_t has; /* SCPS_HAS_* bits: which of the options of this structure are present */
    uint8_t nsack;
    /* SCPS_IMPLIED_* bits: which numbers a compressed header did not have, so that the parser took
     * them from earlier segments; 0: none, as with every TCP header */
    uint8_t implied;
    /* shift count of the window scale option as received; the connection takes one above 14 for 14
     * (RFC 7323 section 2.3) */
    uint8_t wscale;
    uint16_t mss;
    uint32_t tsval, tsecr;
    struct scps_sack sack[SCPS_SACK_MAX];
    /* from the SCPS capabilities option (kind 20): SCPS_CAP_* bits, and the connection id that the
     * sender of the SYN has chosen for compressed headers */
    uint8_t caps, conn_id;
    /* SNACK (kind 21): Hole1 Offset and Hole1 Size, in units of the MSS */
    uint16_t snack_off, snack_size;
    uint8_t snack_vec_len; /* octets of the SNACK's bit vector (long form); 0: short form */
    uint8_t snack_vec[SCPS_SNACK_VEC_MAX];
    /* Value of the extended capabilities option (an option of kind 20 with more than 4 octets),
     * xcaps_len octets; the pointer is into the packet */
    const uint8_t *xcaps;
    uint8_t xcaps_len;
    uint8_t hdr_len; /* length of the TCP header with options, bytes; scps_tcp_parse() sets it */
    uint8_t tos;     /* type of service of the IP header, whose lower two bits are the ECN field */
    /* Payload; the parser points into the packet. NULL with len above 0: the payload is counted,
     * not stored (hollow). */
    const uint8_t *data;
    uint32_t len;
    /* 0: a single segment. Otherwise the payload belongs to several segments (segmentation
     * offload), and the device cuts it into segments with this many payload bytes each. */
    uint16_t gso;
};

/* Parses a TCP header and its options into *s. avail: bytes at p, which must hold the whole header;
 * seg_len: length of header and payload, bytes (more than avail if the payload is elsewhere in
 * memory). Unknown options and malformed ones are skipped as RFC 9293 section 3.1 and
 * docs/SCPS-TP.md section 1.4 say; only a bad data offset is an error. Sets s->data to the payload
 * if all of it is at p, else to NULL. Does not check the checksum. Returns 0 or the scps_drop. */
SCPS_API int scps_tcp_parse(const uint8_t *p, size_t avail, size_t seg_len, struct scps_seg *s);
/* Writes the TCP header and the options of s (at most 60 bytes) to p, with a checksum field of
 * zero; returns the length, a multiple of 4. NOPs fill options up to multiples of 4 bytes. Order of
 * those that s has (TS: timestamps, WS: window scale):
 *   SYN without SCPS capabilities  MSS, BETS-permitted, SACK-permitted, TS, WS
 *   SYN with SCPS capabilities     capabilities (kind 20), MSS, WS, BETS-permitted, SACK-permitted,
 *                                  TS
 *   other segments                 TS, SACK, SNACK, record boundary, corruption
 * SACK blocks for which the other options leave no room are left out, the last ones first. */
SCPS_API size_t scps_tcp_build(uint8_t *p, const struct scps_seg *s);
/* Returns the header length that scps_tcp_build would write for these options. */
SCPS_API size_t scps_tcp_hdr_len(const struct scps_seg *s);
/* Computes the TCP checksum over the pseudo-header, the header (hdr_len bytes at p, its checksum
 * field included) and the payload (payload_len bytes at payload). To build: set the checksum field
 * to zero and store the result with scps_put16(p + 16). To check: a result of 0 means that the
 * checksum is right. payload NULL: the payload is payload_len zeros. */
SCPS_API uint16_t scps_tcp_checksum(const struct scps_addr *src, const struct scps_addr *dst,
                                    const uint8_t *p, size_t hdr_len, const uint8_t *payload,
                                    size_t payload_len);

/* ---- ICMP and ICMPv6: parser and builders of messages ---- */

enum scps_icmp_kind {
    SCPS_ICMP_OTHER,
    SCPS_ICMP_ECHO,
    SCPS_ICMP_ECHO_REPLY,
    SCPS_ICMP_UNREACH_NET,
    SCPS_ICMP_UNREACH_HOST,
    SCPS_ICMP_UNREACH_PROTO,
    SCPS_ICMP_UNREACH_PORT,
    SCPS_ICMP_UNREACH_ADMIN,
    SCPS_ICMP_TOO_BIG,
    SCPS_ICMP_TTL,
    SCPS_ICMP_PARAM
};

struct scps_icmp {
    enum scps_icmp_kind kind;
    uint8_t type, code;
    uint32_t mtu; /* SCPS_ICMP_TOO_BIG: MTU of the next hop, bytes; 0: an old router gave none */
    /* true: the message is an error that quotes the packet that caused it; `quote` is the IP header
     * of that packet, sport and dport are its ports */
    bool has_quote;
    struct scps_ip quote;
    uint16_t sport, dport;
    /* if quote.proto is SCPS_IPPROTO_SCPS_COMP (compressed header): connection id of the quoted
     * packet, which has no ports */
    uint8_t conn_id;
    /* Of a quoted TCP segment: its sequence number. Of a quoted UDP datagram: the length and
     * checksum of its header, as length << 16 | checksum */
    uint32_t seq;
    /* body of an echo message: id, sequence number and data; points into the message */
    const uint8_t *body;
    size_t body_len;
};
/* Parses an ICMP (ip->version 4) or ICMPv6 (6) message of len bytes into *m and verifies its
 * checksum. Returns 0 or SCPS_DROP_*. */
SCPS_API int scps_icmp_parse(const struct scps_ip *ip, const uint8_t *p, size_t len,
                             struct scps_icmp *m);
/* Writes an echo reply to m at p, which has room for at least 4 + m->body_len bytes. Returns its
 * length. */
SCPS_API size_t scps_icmp_build_echo_reply(uint8_t *p, const struct scps_ip *req,
                                           const struct scps_icmp *m);
/* Writes a port unreachable message that quotes the offending packet (at most 548 bytes of it, 1232
 * in IPv6). Returns its length. */
SCPS_API size_t scps_icmp_build_port_unreach(uint8_t *p, size_t room, const struct scps_ip *ip,
                                             const uint8_t *packet, size_t packet_len);

/* ---- UDP: parser and builder of datagrams ---- */

struct scps_udp {
    uint16_t sport, dport;
    const uint8_t *data; /* the data, or its first part: len bytes */
    size_t len;
    /* the second part of the data, apart_len bytes, which lies elsewhere in memory; NULL: zeros
     * that are not stored */
    const uint8_t *apart;
    size_t apart_len;
};
/* Parses a datagram of len bytes and verifies its checksum. Returns 0, SCPS_DROP_TRUNCATED,
 * BAD_UDP, BAD_CHECKSUM (also when it is missing in IPv6). */
SCPS_API int scps_udp_parse(const struct scps_ip *ip, const uint8_t *p, size_t len,
                            struct scps_udp *u);
/* Parses a UDP datagram that lies in two pieces: len bytes at p, with the UDP header, and apart_len
 * bytes at apart, with the rest of the data. csum_ok true: the checksum is known to be right and is
 * not verified. Returns 0, SCPS_DROP_TRUNCATED, BAD_UDP or BAD_CHECKSUM. */
SCPS_API int scps_udp_parse_pieces(const struct scps_ip *ip, const uint8_t *p, size_t len,
                                   const uint8_t *apart, size_t apart_len, bool csum_ok,
                                   struct scps_udp *u);
/* Writes the 8 octets of the header; its checksum covers u's data, which is not copied. Returns
 * 8. */
SCPS_API size_t scps_udp_build(uint8_t *p, const struct scps_addr *src, const struct scps_addr *dst,
                               const struct scps_udp *u);

/* ---- printing: packets as text ---- */

/* Writes one readable line about the IP packet at p into buf, which has room for cap bytes, with
 * the SCPS options in words. Returns buf. */
SCPS_API char *scps_print_packet(const uint8_t *p, size_t len, char *buf, size_t cap);
/* Writes TCP flags as tcpdump does, "S.", "F", "P." and the like, into buf of at least 10 bytes.
 * Returns buf. */
SCPS_API char *scps_print_flags(uint16_t flags, char *buf);

#ifdef __cplusplus
}
#endif
#endif
