/* SPDX-License-Identifier: MIT */
/* Finds IP in packets of ATM, and in records of the Extensible Record Format (ERF), which capture
 * cards write for links of several kinds.
 *
 * Sources: RFC 2684; www.tcpdump.org/linktypes.html; Endace, "ERF types reference guide".
 */
#include "trace/linklayer.h"

#define LLC_NLPID 0xfefe03u /* LLC of protocols with a network layer protocol identifier */
#define NLPID_IP  0xccu
#define NLPID_IP6 0x8eu
#define NLPID_PPP 0xcfu

int scps_tr_atm_ip(struct scps_trace *t, const uint8_t *p, uint32_t caplen, uint32_t off)
{
    if (off + 8 > caplen)
        return scps_tr_truncated(t);
    /* Without LLC (RFC 2684 section 6), the packet itself comes first, or two octets of padding
     * and a bridged Ethernet frame. */
    if (p[off] >> 4 == 4 || p[off] >> 4 == 6)
        return (int)off;
    if (scps_get16(p + off) == 0)
        return scps_tr_ethertype_ip(t, p, caplen, off + 2, TR_TYPE_ETHERNET);
    if (scps_get32(p + off) >> 8 != LLC_NLPID)
        return scps_tr_ethertype_ip(t, p, caplen, off, 0);
    if (p[off + 3] == NLPID_PPP)
        return scps_tr_ppp_ip(t, p, caplen, off + 4);
    return p[off + 3] == NLPID_IP || p[off + 3] == NLPID_IP6 ? (int)off + 4 : scps_tr_other_link(t);
}

#define ERF_HEADER 16u
#define ERF_TYPE   8u    /* offset of the record's type */
#define ERF_MORE   0x80u /* bit of a type: an extension header of eight octets follows */

/* record types */
enum {
    HDLC = 1,
    ETH = 2,
    AAL5 = 4,
    MULTI_HDLC = 5,
    MULTI_AAL5 = 9,
    COLOR_HDLC = 10,
    COLOR_ETH = 11,
    DSM_HDLC = 15,
    DSM_ETH = 16,
    COLOR_MULTI_HDLC = 17,
    HASH_HDLC = 19,
    HASH_ETH = 20,
    IPV4 = 22,
    IPV6 = 23
};

int scps_tr_erf_ip(struct scps_trace *t, const uint8_t *p, uint32_t caplen)
{
    uint32_t off = ERF_HEADER;

    if (caplen < off)
        return scps_tr_truncated(t);
    for (uint8_t type = p[ERF_TYPE]; type & ERF_MORE; off += 8) {
        if (off + 8 > caplen)
            return scps_tr_truncated(t);
        type = p[off];
    }
    switch (p[ERF_TYPE] & ~ERF_MORE) {
    case ETH:
    case COLOR_ETH:
    case DSM_ETH:
    case HASH_ETH:
        /* In an ERF record of Ethernet two octets come before the Ethernet frame and are skipped:
         * the field "offset" of ERF, and one of padding. */
        return scps_tr_ethertype_ip(t, p, caplen, off + 2, TR_TYPE_ETHERNET);
    case MULTI_HDLC:
    case COLOR_MULTI_HDLC:
        off += 4; /* the number of the channel */
        break;
    case HDLC:
    case COLOR_HDLC:
    case DSM_HDLC:
    case HASH_HDLC:
        break;
    case AAL5: /* The header of the first cell comes before the packet. */
        return scps_tr_atm_ip(t, p, caplen, off + 4);
    case MULTI_AAL5:
        return scps_tr_atm_ip(t, p, caplen, off + 8);
    case IPV4:
    case IPV6:
        return (int)off;
    default:
        return scps_tr_other_link(t);
    }
    return scps_tr_hdlc_ip(t, p, caplen, off);
}
