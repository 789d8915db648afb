/* SPDX-License-Identifier: MIT */
/* SCPS-TP header compression, IP protocol 105 (docs/SCPS-TP.md section 8). These functions convert
 * between a struct scps_seg and the octets of a compressed header; they know nothing else of a
 * connection.
 *
 * When both SYNs of a connection have offered compression (bit COM of the SCPS capabilities), each
 * end may send any segment but a SYN as
 *
 *     id | bits | [bits] | [urgent] [window ack] [seq] [TSval] [TSecr] [options] [pad] |
 *     checksum | data
 *
 * Fields in brackets are optional; `bits` says which are present. A field has its full value, not a
 * difference from the packet before, so the loss of a packet does not damage later ones. For a
 * field that is absent the receiver takes the value that it received last; but absent timestamps
 * stay absent. id is the connection id that the sender of the segment announced in its own SYN. The
 * id and the two addresses identify the connection, because ports are not sent.
 *
 *     sending                               receiving
 *     n = scps_comp_build(p, &tx, &seg)     look up the connection by (addresses, p[0])
 *     n == 0: send it as TCP instead        scps_comp_proto(...) != 0, else drop: checksum
 *     ck = scps_comp_checksum(...)          scps_comp_parse(p, ..., &rx, &seg), set the ports
 *     scps_put16(p + n - 2, ck)             scps_comp_learn(&rx, &seg) once the segment is accepted
 *
 * The checksum covers the compressed header, not the restored TCP header, so a wrong value for an
 * absent field would not be detected. Therefore call scps_comp_learn() for the segments that the
 * connection found acceptable, and for no others: for the SYN, which is the first one, and for
 * later segments both compressed and uncompressed.
 */
#ifndef SCPS_COMP_H
#define SCPS_COMP_H

#include <scps/wire.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SCPS_COMP_MAX 68 /* largest length of a compressed header, octets */

/* State of the sending side of a connection, from which scps_comp_build() decides which fields have
 * not changed and can be left out. */
struct scps_comp_tx {
    uint8_t conn_id; /* connection id that this end announced in its SYN */
    /* parameter `repeat` of scps_comp_tx_init(): in how many further packets a changed
     * acknowledgement number, window or sequence number is repeated */
    uint8_t repeat;
    /* true: as in the SCPS reference implementation, segments with data never carry an
     * acknowledgement */
    bool no_ack_on_data;
    /* number of further packets in which the acknowledgement, or the sequence number, is still to
     * be repeated */
    uint8_t ack_again, seq_again;
    bool known;
    uint16_t wnd;
    uint32_t ack, seq;
};

/* State of the receiving end of a connection, from which scps_comp_parse() fills in fields that a
 * compressed header from the peer leaves out. */
struct scps_comp_rx {
    /* sequence number after the highest octet received: that of a segment whose compressed header
     * has none */
    uint32_t next;
    uint32_t ack;
    uint16_t wnd;
    bool known;
    /* ts: true if a segment with timestamps was passed to scps_comp_learn(). tsval and tsecr are
     * then those of the last such segment, for the caller. scps_comp_parse() does not use them: a
     * timestamp that a compressed header leaves out is missing. */
    bool ts;
    uint32_t tsval, tsecr;
};

/* Initialises the sender's state. A changed field is sent again in the next `repeat` packets, so
 * that the loss of one packet does no harm; 2 is enough. With repeat 0 and no_ack_on_data true,
 * scps_comp_build() makes the same octets as the SCPS reference implementation; then a packet with
 * data carries no acknowledgement, and the caller must send acknowledgements in packets without
 * data. */
SCPS_API void scps_comp_tx_init(struct scps_comp_tx *tx, uint8_t conn_id, unsigned repeat,
                                bool no_ack_on_data);
/* Writes the compressed header of s to p, with a checksum of zero, and returns its length in
 * octets, always even. Returns 0 if s must be sent as TCP: a SYN or RST, a segment with ECE or CWR
 * (the compressed header has no bits for them), or with an option that it cannot carry. If s has
 * data but no ACK flag, the acknowledgement number is left out; with no_ack_on_data it is left out
 * of every segment with data but without FIN. *acked (acked may be NULL) becomes true if the
 * receiver learns s->ack and s->wnd, because this packet has them or because they have not changed
 * since an earlier one. */
SCPS_API size_t scps_comp_build(uint8_t *p, struct scps_comp_tx *tx, const struct scps_seg *s,
                                bool *acked);
/* Returns the checksum over a pseudo-header with protocol number proto, hdr_len bytes at p (the
 * compressed header, its checksum field included) and the payload. payload NULL: a payload of
 * payload_len zeros. proto: 105 according to CCSDS 714.0-B-2; builds of the SCPS reference
 * implementation send 6 or 106, so scps_conn_config.comp_proto selects one of the three. */
SCPS_API uint16_t scps_comp_checksum(const struct scps_addr *src, const struct scps_addr *dst,
                                     uint8_t proto, const uint8_t *p, size_t hdr_len,
                                     const uint8_t *payload, size_t payload_len);
/* Returns the protocol number with which, in the pseudo-header, the checksum of a received segment
 * is right: 105 (the peer follows CCSDS 714.0-B-2), else 6 or 106 (the peer is a build of the SCPS
 * reference implementation); 0 if none is. The bytes of the segment are hdr bytes at p, then
 * payload_len bytes at payload (NULL: zeros). hdr is even, unless payload_len is 0, and includes
 * the whole compressed header. */
SCPS_API uint8_t scps_comp_proto(const struct scps_addr *src, const struct scps_addr *dst,
                                 const uint8_t *p, size_t hdr, const uint8_t *payload,
                                 size_t payload_len);
/* Parses a compressed segment of seg_len bytes, of which the first avail are at p; the whole header
 * must be among these. In *s the ports are 0, ACK is set in the flags, and hdr_len is the length of
 * the compressed header; all other fields are set as by scps_tcp_parse(). Returns 0;
 * SCPS_DROP_TRUNCATED when the header is not whole; SCPS_DROP_BAD_COMPRESSED for lengths that
 * contradict each other, for data, FIN or RST without a sequence number (the receiver could put
 * them in the wrong place), and for any segment when scps_comp_learn() was not called before. Does
 * not change rx. */
SCPS_API int scps_comp_parse(const uint8_t *p, size_t avail, size_t seg_len,
                             const struct scps_comp_rx *rx, struct scps_seg *s);
/* Records the sequence number, acknowledgement, window and timestamps of a segment that the
 * connection has accepted, compressed or not, as the values of fields that later compressed headers
 * leave out. Call it first for the peer's SYN, with *rx all zero. */
SCPS_API void scps_comp_learn(struct scps_comp_rx *rx, const struct scps_seg *s);

#ifdef __cplusplus
}
#endif
#endif
