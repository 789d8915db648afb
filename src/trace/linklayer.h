/* SPDX-License-Identifier: MIT */
/* Finds the IP header of a captured frame behind the headers of its link layer (link.c), its
 * EtherType or PPP protocol (ethertype.c), its ATM or ERF header (atm.c), or its 802.11 header
 * (wireless.c).
 */
#ifndef SCPS_TRACE_LINKLAYER_H
#define SCPS_TRACE_LINKLAYER_H

#include "trace/flow.h"

/* ---- readers of little-endian fields; functions in link.c, which find a frame's IP header ---- */

static inline uint32_t scps_tr_little16(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}
static inline uint32_t scps_tr_little32(const uint8_t *p)
{
    return scps_tr_little16(p) | scps_tr_little16(p + 2) << 16;
}
/* Finds the IP header in the captured frame p of link type `link` (a LINKTYPE_ value), of which
 * caplen bytes were captured. Returns its offset, or -1 after counting in t why there is none. */
int scps_tr_link_ip(struct scps_trace *t, int link, const uint8_t *p, uint32_t caplen);
/* Returns true if scps_tr_link_ip can read this link type. */
bool scps_tr_link_known(int link);
/* Writes to msg (SCPS_TRACE_MSGLEN bytes) that captures of this link type cannot be read. what:
 * name of the file or of the device. Returns SCPS_ERR_INVAL. */
int scps_tr_link_refused(const char *what, int link, char *msg);
#define TR_LINK_ETHERNET 1

/* ---- functions in ethertype.c, for EtherTypes and PPP protocol numbers ---- */

enum {
    TR_TYPE_ETHERNET = 0x6558, /* a whole Ethernet frame follows ("transparent bridging") */
    TR_TYPE_MPLS = 0x8847,
    TR_TYPE_MPLS_MULTICAST = 0x8848,
    TR_TYPE_NSH = 0x894f /* a network service header follows (RFC 8300) */
};

/* Returns the EtherType of a next protocol in a network service header (RFC 8300 section 2.2) or in
 * VXLAN-GPE, which have the same numbers; 0: one that carries no IP. */
uint32_t scps_tr_next_type(uint8_t next);

/* Counts a frame in which no IP packet was found, because its link layer carries something else.
 * Returns -1, so that its caller can return the result. */
static inline int scps_tr_other_link(struct scps_trace *t)
{
    t->tot.other_link++;
    return -1;
}
/* Counts a frame of which too few bytes were captured to find an IP packet. Returns -1, so that its
 * caller can return the result. */
static inline int scps_tr_truncated(struct scps_trace *t)
{
    t->tot.truncated++;
    return -1;
}
/* Finds the IP header behind an EtherType field with the value `type`, or behind the length field
 * of an 802.3 frame, that ends at offset off. Returns the header's offset, or -1 after counting why
 * there is none. */
int scps_tr_ethertype_ip(struct scps_trace *t, const uint8_t *p, uint32_t caplen, uint32_t off,
                         uint32_t type);
/* Finds the IP header in the PPP frame at offset off, which begins with the address and control
 * octets of HDLC (0xff 0x03) or, without these, with the PPP protocol field (one or two octets).
 * Returns the IP header's offset, or -1 after counting why there is none. */
int scps_tr_ppp_ip(struct scps_trace *t, const uint8_t *p, uint32_t caplen, uint32_t off);
/* As scps_tr_ppp_ip(), of a frame of PPP with HDLC framing or of Cisco HDLC at off. */
int scps_tr_hdlc_ip(struct scps_trace *t, const uint8_t *p, uint32_t caplen, uint32_t off);

/* ---- functions in atm.c: IP in ATM, and in records of ERF (Extensible Record Format) ---- */

/* Finds the IP header in the packet at off of a virtual channel (RFC 2684). Returns the header's
 * offset, or -1 after counting why there is none. */
int scps_tr_atm_ip(struct scps_trace *t, const uint8_t *p, uint32_t caplen, uint32_t off);
/* Finds the IP header in a record of the Extensible Record Format. Returns the header's offset, or
 * -1 after counting why there is none. */
int scps_tr_erf_ip(struct scps_trace *t, const uint8_t *p, uint32_t caplen);

/* ---- functions in wireless.c, which find the IP header in an 802.11 frame ---- */

/* The kinds of header with reception data (signal, rate and so on) that the capturing system puts
 * in front of an 802.11 frame. */
enum scps_tr_radio { TR_RADIO_NONE, TR_RADIO_PRISM, TR_RADIO_TAP, TR_RADIO_AVS };
/* Finds the IP header in an 802.11 frame behind the header of `radio`. Returns the IP header's
 * offset, or -1 after counting why there is none. */
int scps_tr_wireless_ip(struct scps_trace *t, enum scps_tr_radio radio, const uint8_t *p,
                        uint32_t caplen);
/* Finds the IP header in the next frame of the aggregate (A-MSDU) that was found last, in the data
 * of p. Returns the header's offset, or -1 after counting why there is none. */
int scps_tr_aggregate_ip(struct scps_trace *t, const struct scps_trace_pkt *p);

#endif
