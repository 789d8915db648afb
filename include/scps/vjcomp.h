/* SPDX-License-Identifier: MIT */
/* Van Jacobson's TCP/IP header compression for slow serial links (RFC 1144), hop by hop.
 *
 * 40 bytes of IPv4 and TCP headers become 3 to 5: each packet carries its differences from the
 * previous packet of its connection. So after a lost packet the receiver restores the headers of
 * later packets wrongly until one is sent uncompressed. It detects the loss by a damaged frame
 * (scps_vj_line_error) or, failing that, by the TCP checksum. SCPS-TP's own compression (comp.h),
 * by contrast, works end to end and carries absolute values.
 *
 * The type of a packet is carried by the framing: in PPP as protocol number, in SLIP in the high
 * bits of the first octet, where it takes no room. vjlink.h has the compression as a filter for
 * links.
 */
#ifndef SCPS_VJCOMP_H
#define SCPS_VJCOMP_H

#include <scps/types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum scps_vj_type { SCPS_VJ_IP, SCPS_VJ_UNCOMPRESSED, SCPS_VJ_COMPRESSED };

enum { /* types of packets, with the numbers that PPP uses (RFC 1332 section 3.2) */
       SCPS_PPP_IP = 0x0021,
       SCPS_PPP_VJ_COMPRESSED = 0x002d,
       SCPS_PPP_VJ_UNCOMPRESSED = 0x002f
};
enum { /* types of packets in SLIP: high bits of the first octet (RFC 1144 appendix A) */
       SCPS_SLIP_IP = 0x40,
       SCPS_SLIP_UNCOMPRESSED = 0x70,
       SCPS_SLIP_COMPRESSED = 0x80
};

/* largest number of connections whose last headers are stored: MAX_STATES of RFC 1144 */
#define SCPS_VJ_SLOTS   16
#define SCPS_VJ_HDR_MAX 120 /* largest size of IPv4 and TCP headers together, bytes */

struct scps_vj_slot {
    /* hdr: the IP and TCP headers of the latest packet of one TCP connection, len bytes; len 0: the
     * slot is free */
    uint8_t hdr[SCPS_VJ_HDR_MAX], len;
    uint32_t used;
};

struct scps_vj_tx {
    /* slot: headers of the latest packet of each connection. was: contents, before the latest call
     * of scps_vj_compress(), of the slot that this call overwrote, slot[was_slot]. */
    struct scps_vj_slot slot[SCPS_VJ_SLOTS], was;
    uint32_t clock;
    /* last: index in `slot` of the connection whose packet was compressed last; UINT8_MAX: none.
     * was_last: value of `last` before the latest call of scps_vj_compress(). was_slot: index of
     * the slot that this call overwrote; UINT8_MAX: none, so scps_vj_unsend() has nothing to
     * restore. */
    uint8_t last, was_last, was_slot;
    uint8_t slots; /* number of elements of the array `slot` that are used */
    /* true: every compressed packet carries the number of its connection (the index of its slot);
     * false: a packet carries it only when the previous packet was of another connection */
    bool always_say;
};

struct scps_vj_rx {
    struct scps_vj_slot slot[SCPS_VJ_SLOTS];
    uint8_t last;
    /* true: after an error, compressed packets are dropped until one carries the number of its
     * connection (RFC 1144 section 4.1) */
    bool toss;
};

/* These functions initialise one direction of the compression; no connection's headers are stored
 * yet. */
SCPS_API void scps_vj_tx_init(struct scps_vj_tx *tx);
SCPS_API void scps_vj_rx_init(struct scps_vj_rx *rx);
/* Sets the limits that the receiving end has announced (RFC 1332 section 4). slots: number of
 * connections whose headers the receiver stores, 1 to SCPS_VJ_SLOTS. always_say: true: each
 * compressed packet must carry the number of its connection. Call it before the first packet; the
 * defaults are SCPS_VJ_SLOTS and false. */
SCPS_API void scps_vj_tx_limit(struct scps_vj_tx *tx, uint8_t slots, bool always_say);
/* Compresses the headers of an IP packet of total bytes, of which the first avail, at least its IP
 * and TCP headers, are at p. Returns the type as which the packet is to be sent. SCPS_VJ_IP: the
 * packet is sent unchanged; another type: the first *replaced bytes of the packet are to be
 * replaced by the *n bytes written to out (room for SCPS_VJ_HDR_MAX). */
SCPS_API enum scps_vj_type scps_vj_compress(struct scps_vj_tx *tx, const uint8_t *p, size_t avail,
                                            size_t total, uint8_t *out, size_t *n,
                                            size_t *replaced);
/* Restores the state from before the last packet that scps_vj_compress() returned, because that
 * packet was not sent after all. Call it at most once for each packet. */
SCPS_API void scps_vj_unsend(struct scps_vj_tx *tx);
/* Restores the headers of a received packet of total bytes, of which avail are at p. type is not
 * SCPS_VJ_IP, whose headers are complete. The first *replaced bytes of the packet are to be
 * replaced by the *n bytes written to out. Returns 0; SCPS_DROP_TRUNCATED; or
 * SCPS_DROP_BAD_COMPRESSED for malformed packets, for an unknown connection, and for packets whose
 * headers depend on a packet that was lost in an error. */
SCPS_API int scps_vj_expand(struct scps_vj_rx *rx, enum scps_vj_type type, const uint8_t *p,
                            size_t avail, size_t total, uint8_t *out, size_t *n, size_t *replaced);
/* Records that a frame arrived damaged or was lost. Compressed packets are then dropped until a
 * packet arrives that carries the number of its connection (an uncompressed packet always does),
 * because the damaged packet may have changed the stored headers. */
SCPS_API void scps_vj_line_error(struct scps_vj_rx *rx);

#ifdef __cplusplus
}
#endif
#endif
