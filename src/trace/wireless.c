/* SPDX-License-Identifier: MIT */
/* Finds IP in IEEE 802.11 frames, with or without a header of the receiving radio before the frame:
 * Prism, AVS or radiotap (www.radiotap.org).
 *
 * A data frame has 24 octets of header, six more between access points, two for QoS, four for high
 * throughput, and then LLC and SNAP. An aggregate (A-MSDU) holds several packets: each has a header
 * of 14 octets, two addresses and its length, and begins at a multiple of four octets. Encrypted
 * and empty frames hold no packet that can be read here.
 */
#include "trace/linklayer.h"

#define LLC_AND_TYPE 8u

enum { DATA = 2 }; /* type of an 802.11 frame that carries data */
/* Flags in the second octet of an 802.11 header. TO_AND_FROM: the frame goes from access point to
 * access point; PROTECTED: it is encrypted; ORDER: with QoS, an HT control field follows. */
enum { TO_AND_FROM = 0x03, PROTECTED = 0x40, ORDER = 0x80 };
/* bits of a data frame's subtype: without data, with a QoS field */
enum { EMPTY = 0x4, QOS = 0x8 };
enum { AGGREGATE = 0x80 }; /* flag of the QoS field: the frame is an aggregate (A-MSDU) */

/* bits of radiotap's presence mask, which say that a field is present; MORE: another mask
 * follows */
enum { TIME = 1u << 0, FLAGS = 1u << 1, MORE = 1u << 31 };
enum { PADDED = 0x20 }; /* bit of radiotap's flags: the body begins at a multiple of four octets */

#define SUBFRAME 14u /* length of the header of a frame within an aggregate, octets */

/* Finds the IP header in the subframe at offset off of an aggregate (A-MSDU of IEEE 802.11, several
 * packets in one frame) that ends at caplen, and points t->aggregate to the next subframe (NULL:
 * there is none). Returns the IP header's offset, or -1 after counting why there is none. */
static int subframe(struct scps_trace *t, const uint8_t *p, uint32_t caplen, uint32_t off)
{
    t->aggregate = NULL;
    if (caplen - off < SUBFRAME + LLC_AND_TYPE)
        return scps_tr_truncated(t);
    const uint32_t len = SUBFRAME + scps_get16(p + off + 12), next = (len + 3) & ~3u;
    /* What is shorter than a header at the end is padding, or the checksum of the frame. */
    if (next < caplen - off && caplen - off - next >= SUBFRAME)
        t->aggregate = p + off + next;
    return scps_tr_ethertype_ip(t, p, SCPS_MIN(caplen, off + len), off + SUBFRAME, 0);
}

int scps_tr_aggregate_ip(struct scps_trace *t, const struct scps_trace_pkt *p)
{
    return subframe(t, p->data, p->caplen, (uint32_t)(t->aggregate - p->data));
}

static int frame(struct scps_trace *t, const uint8_t *p, uint32_t caplen, uint32_t off, bool padded)
{
    uint32_t header = 24;

    if (off > caplen || caplen - off < header)
        return scps_tr_truncated(t);
    unsigned type = p[off] >> 2 & 3, subtype = p[off] >> 4, flags = p[off + 1];
    if (type != DATA || subtype & EMPTY || flags & PROTECTED)
        return scps_tr_other_link(t);
    header += (flags & TO_AND_FROM) == TO_AND_FROM ? 6 : 0;
    uint32_t qos = off + header;
    header += subtype & QOS ? flags & ORDER ? 6 : 2 : 0;
    header = padded ? (header + 3) & ~3u : header;
    if (caplen - off < header + LLC_AND_TYPE)
        return scps_tr_truncated(t);
    if (subtype & QOS && p[qos] & AGGREGATE)
        return subframe(t, p, caplen, off + header);
    return scps_tr_ethertype_ip(t, p, caplen, off + header, 0);
}

/* Returns true if the radiotap header at p, len octets, says that the 802.11 header is padded to a
 * multiple of four octets. Radiotap's flags follow its time field, which is aligned to eight
 * octets. */
static bool padded(const uint8_t *p, uint32_t len)
{
    uint32_t at = 4, present = scps_tr_little32(p + 4);

    for (uint32_t more = present; more & MORE; more = scps_tr_little32(p + at)) {
        at += 4;
        if (at + 4 > len)
            return false;
    }
    at += 4;
    if (present & TIME)
        at = ((at + 7) & ~7u) + 8;
    return present & FLAGS && at < len && p[at] & PADDED;
}

int scps_tr_wireless_ip(struct scps_trace *t, enum scps_tr_radio radio, const uint8_t *p,
                        uint32_t caplen)
{
    uint32_t len = 0;

    if (radio != TR_RADIO_NONE && caplen < 8)
        return scps_tr_truncated(t);
    switch (radio) {
    case TR_RADIO_NONE:
        break;
    case TR_RADIO_TAP:
        len = scps_tr_little16(p + 2);
        return frame(t, p, caplen, len, len >= 8 && len <= caplen && padded(p, len));
    /* Captures of this link type may have an AVS header, too, which begins with a magic number. */
    case TR_RADIO_PRISM:
        len = scps_get32(p) >> 12 == 0x80211 ? scps_get32(p + 4) : scps_tr_little32(p + 4);
        break;
    case TR_RADIO_AVS:
        len = scps_get32(p + 4);
        break;
    }
    return frame(t, p, caplen, len, false);
}
