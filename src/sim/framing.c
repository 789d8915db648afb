/* SPDX-License-Identifier: MIT */
/* Framing: the bytes that a packet takes on the line.
 *
 *     ppp, hdlc   | flag 1 | 0xff | 0x03 | protocol 2 | packet | FCS 2 | flag 1 |
 *                 RFC 1662, 1332, 5072
 *     aal5        | LLC/SNAP 8 | packet | padding | trailer 8 | = k * 48, in k cells of 53
 *                 RFC 2684 section 5.1, I.363.5
 *     aal5-vc     | packet | padding | trailer 8 |, likewise: RFC 2684 section 6.1
 *     aos, tm     | encapsulation header 4 | IPE 1 | packet |, in all 256 bytes or more, or
 *                 | encapsulation header 2 | IPE 1 | packet |, in all 255 bytes or less
 *                 CCSDS 133.1-B-3, 702.1-B-1
 *                 in transfer frames of 1115 bytes, which RS(255,223) with interleaving 5 carries:
 *                   aos   header 6, M_PDU header 2, OCF 4: 1103 for packets    CCSDS 732.0-B-4
 *                   tm    header 6, OCF 4:                 1105 for packets    CCSDS 132.0-B-3
 *
 * IPE is the Internet Protocol extension header, M_PDU a multiplexing protocol data unit, OCF the
 * operational control field. "= k * 48" means that padding makes the whole a multiple of 48 bytes.
 * ppp escapes each 0x7d and 0x7e between the flags (no control characters: an asynchronous control
 * character map, ACCM, of 0); hdlc inserts a zero bit after five ones. The escapes and the inserted
 * bits are counted in the packet's actual bytes and its computed frame check sequence (FCS). Hollow
 * bytes (payload that is counted but not stored) count as random: 2 in 256 are escaped, and a zero
 * bit is inserted each 62 bits (the mean wait for five ones in a row).
 *
 * Packets follow each other through transfer frames without a gap, so each is charged its share of
 * the 1115 bytes of a frame; a fraction of a byte is carried over to the next packet. The rate and
 * the bit errors of the link are those of transfer frames, without the check symbols of RS(255,223)
 * and after its correction.
 */
#include "sim/framing.h"

#define FLAG     0x7e
#define ESCAPE   0x7d
#define FRAME    1115u
#define AOS_ZONE 1103u
#define TM_ZONE  1105u
/* The fraction of a byte that is carried over to the next packet (`carry`) is counted in units of 1
 * / PPP_UNITS or 1 / HDLC_UNITS byte. A hollow byte (payload that is counted but not stored) counts
 * with its mean overhead. PPP: 2 of 256 octets are escaped, so a hollow byte adds 2 units. HDLC: in
 * random bits one zero bit is inserted for each 62 (HOLLOW_BITS) bits. An inserted bit, an eighth
 * of a byte, is 62 units, so each of the 8 bits of a hollow byte adds 1 unit. */
#define PPP_UNITS   256u
#define HDLC_UNITS  (8u * 62u)
#define HOLLOW_BITS 62u

static const char *const names[SCPS_FRAMING_COUNT] = {"none",    "ppp", "hdlc", "aal5",
                                                      "aal5-vc", "aos", "tm"};

const char *scps_framing_name(enum scps_framing f)
{
    return (unsigned)f < SCPS_FRAMING_COUNT ? names[f] : NULL;
}

/* ---- functions for frames of PPP and HDLC, whose length depends on the octets ---- */

struct hdlc {
    uint16_t fcs;
    /* true: bit stuffing (zero bits are inserted, HDLC); false: octet stuffing (escapes are
     * inserted, PPP) */
    bool bits;
    unsigned ones;  /* number of consecutive one bits so far */
    uint64_t extra; /* number of escape octets (PPP), or of stuffed zero bits (HDLC) */
};

static void count(struct hdlc *h, uint8_t c)
{
    if (!h->bits) {
        h->extra += c == FLAG || c == ESCAPE;
        return;
    }
    for (int i = 0; i < 8; i++, c >>= 1) { /* The lowest bit of an octet is sent first. */
        h->ones = c & 1 ? h->ones + 1 : 0;
        if (h->ones == 5) {
            h->extra++;
            h->ones = 0;
        }
    }
}

/* Counts an octet of a frame, and updates the frame check sequence (FCS) with it: RFC 1662 appendix
 * C.2, the polynomial x^16 + x^12 + x^5 + 1, without a table. */
static void hdlc_take_octet(struct hdlc *h, uint8_t c)
{
    uint8_t x = (uint8_t)(h->fcs ^ c);

    count(h, c);
    x ^= (uint8_t)(x << 4);
    h->fcs = (uint16_t)((h->fcs >> 8 | x << 8) ^ x >> 4 ^ x << 3);
}

static void take_all(struct hdlc *h, const uint8_t *p, size_t n)
{
    while (n--)
        hdlc_take_octet(h, *p++);
}

/* Returns the PPP protocol number of a packet, given its first byte. The high four bits of this
 * byte are 4 for IPv4, 6 for IPv6 and, from Van Jacobson header compression (RFC 1144) as SLIP
 * codes it, 7 for an uncompressed and 8 to 15 for a compressed TCP/IP header. */
static uint8_t protocol(uint8_t first)
{
    /* Van Jacobson compression has set the high bit, so the packet is one with a compressed TCP/IP
     * header (PPP protocol 0x002d). */
    if (first & 0x80)
        return 0x2d;
    return first >> 4 == 6 ? 0x57 : first >> 4 == 7 ? 0x2f : 0x21;
}

static uint32_t hdlc_bytes(bool bits, const struct scps_pkt *pkt, uint64_t *carry)
{
    struct hdlc h = {.fcs = 0xffff, .bits = bits};
    uint64_t n = pkt->len + pkt->payload_len, hollow = pkt->payload ? 0 : pkt->payload_len;
    const uint8_t head[4] = {0xff, 0x03, 0x00, pkt->len ? protocol(pkt->data[0]) : 0x21};

    take_all(&h, head, sizeof head);
    take_all(&h, pkt->data, pkt->len);
    if (pkt->payload)
        take_all(&h, pkt->payload, pkt->payload_len);
    if (hollow) {
        /* The FCS of payload that is not stored is unknown, so its two octets count as payload that
         * is not stored, too. */
        hollow += 2;
    } else {
        uint16_t fcs = (uint16_t)~h.fcs;
        count(&h, (uint8_t)fcs);
        count(&h, (uint8_t)(fcs >> 8));
    }
    const uint64_t unit = bits ? HDLC_UNITS : PPP_UNITS;
    if (bits)
        *carry += h.extra * HOLLOW_BITS + hollow * 8;
    else
        *carry += h.extra * PPP_UNITS + hollow * 2;
    n += 8 + *carry / unit;
    *carry %= unit;
    return (uint32_t)n;
}

/* ---- functions for packets in CCSDS transfer frames (AOS and TM) ---- */

static uint32_t in_frames(uint64_t n, uint32_t zone, uint64_t *carry)
{
    uint64_t all = n + 1 + 2 <= 255 ? n + 3 : n + 5;

    *carry += all * FRAME;
    n = *carry / zone;
    *carry %= zone;
    return (uint32_t)n;
}

uint32_t scps_framing_bytes(enum scps_framing f, const struct scps_pkt *pkt, uint64_t *carry)
{
    uint64_t n = pkt->len + pkt->payload_len;

    switch (f) {
    case SCPS_FRAMING_PPP:
        return hdlc_bytes(false, pkt, carry);
    case SCPS_FRAMING_HDLC:
        return hdlc_bytes(true, pkt, carry);
    case SCPS_FRAMING_AAL5:
        return (uint32_t)((n + 16 + 47) / 48 * 53);
    case SCPS_FRAMING_AAL5_VC:
        return (uint32_t)((n + 8 + 47) / 48 * 53);
    case SCPS_FRAMING_AOS:
        return in_frames(n, AOS_ZONE, carry);
    case SCPS_FRAMING_TM:
        return in_frames(n, TM_ZONE, carry);
    default:
        return (uint32_t)n;
    }
}

uint32_t scps_link_frame_bytes(const struct scps_link_config *c, uint32_t ip_bytes)
{
    struct scps_pkt hollow = {.payload_len = ip_bytes};
    uint64_t carry = 0;
    uint32_t n = scps_framing_bytes(c->framing, &hollow, &carry);

    return n + (carry > 0) + c->overhead;
}
