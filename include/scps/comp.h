/* SPDX-License-Identifier: MIT */
/* SCPS-TP header compression, IP protocol 105: bytes and values, no connection (docs/SCPS-TP.md
 * section 8).
 *
 * Both ends of a connection that agreed on it (COM in both SYNs) may send any segment but a SYN as
 *
 *     id | bits | [bits] | [urgent] [window ack] [seq] [TSval] [TSecr] [options] [pad] |
 *     checksum | data
 *
 * Every field has its full value, not a difference, so the loss of a packet does not damage later
 * ones. A field that is left out has the value that the receiver got last, except time stamps,
 * which are then absent. The id is the one that the sender of the segment announced in its own SYN;
 * with the two addresses it identifies the connection, because ports are not sent.
 *
 *     sending                               receiving
 *     n = scps_comp_build(p, &tx, &seg)     look up the connection by (addresses, p[0])
 *     n == 0: send it as TCP instead        scps_comp_proto(...) != 0, else drop: checksum
 *     ck = scps_comp_checksum(...)          scps_comp_parse(p, ..., &rx, &seg), set the ports
 *     scps_put16(p + n - 2, ck)             scps_comp_learn(&rx, &seg) once the segment is accepted
 *
 * The checksum covers the compressed header, not the restored one, so the values of fields that are
 * left out must be certain: call scps_comp_learn() for the segments that the connection found
 * acceptable, and for no others. Uncompressed segments, which may come at any time and of which the
 * SYN is the first, are among them.
 */
#ifndef SCPS_COMP_H
#define SCPS_COMP_H

#include <scps/wire.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SCPS_COMP_MAX 68 /* largest length of a compressed header */

/* State of the sending side of a connection, from which scps_comp_build() decides which fields have
 * not changed and can be left out. */
struct scps_comp_tx {
    uint8_t conn_id; /* connection id that this end announced in its SYN */
    /* number of further packets in which a changed acknowledgement number, window or sequence
     * number is repeated */
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

/* State of the receiving side of a connection, from which scps_comp_parse() fills in fields that
 * were left out. */
struct scps_comp_rx {
    uint32_t next; /* sequence number after the highest octet received */
    uint32_t ack;
    uint16_t wnd;
    bool known;
    /* ts: true if segments with timestamps have arrived. tsval and tsecr are then the newest
     * timestamps, for an end that echoes them; they never replace timestamps that a header left
     * out. */
    bool ts;
    uint32_t tsval, tsecr;
};

/* Initialises the sender's state. A changed field is sent again in the next `repeat` packets, so
 * that the loss of one does no harm; 2 is enough. repeat 0 with no_ack_on_data makes the same
 * octets as the reference implementation; then acknowledgements that data would have carried need
 * packets of their own. */
SCPS_API void scps_comp_tx_init(struct scps_comp_tx *tx, uint8_t conn_id, unsigned repeat,
                                bool no_ack_on_data);
/* Writes the header of s into p, its checksum zero, and returns its length, always even. 0 if s
 * cannot be compressed and must be sent as TCP: SYN and RST, ECE and CWR (no bits for them),
 * options that do not fit. Data without the ACK flag leaves the acknowledgement out, which its
 * receiver fills in; the reference implementation leaves it out of all data (no_ack_on_data).
 * *acked (may be NULL) says whether s->ack and s->wnd are in the packet or known to have been sent
 * before. */
SCPS_API size_t scps_comp_build(uint8_t *p, struct scps_comp_tx *tx, const struct scps_seg *s,
                                bool *acked);
/* Returns the checksum over pseudo-header with proto, header (hdr_len bytes at p, its checksum
 * field included) and payload apart; payload NULL: payload_len zeros. proto: 105 by the standard, 6
 * or 106 in the reference implementation. */
SCPS_API uint16_t scps_comp_checksum(const struct scps_addr *src, const struct scps_addr *dst,
                                     uint8_t proto, const uint8_t *p, size_t hdr_len,
                                     const uint8_t *payload, size_t payload_len);
/* Returns the protocol number of the pseudo-header, 105, 6 or 106, for which the checksum is right;
 * 0 if none is. hdr: number of contiguous bytes at p, at least the header; it is all of the
 * segment, or an even number when the payload lies apart. */
SCPS_API uint8_t scps_comp_proto(const struct scps_addr *src, const struct scps_addr *dst,
                                 const uint8_t *p, size_t hdr, const uint8_t *payload,
                                 size_t payload_len);
/* Parses a compressed segment: avail contiguous bytes at p, seg_len of it in all (the header must
 * be whole). In *s the ports are 0, ACK is set in the flags, and hdr_len is the length of the
 * compressed header. The field `has` and all others are set as by scps_tcp_parse(). Returns 0, or
 * SCPS_DROP_TRUNCATED, or SCPS_DROP_BAD_COMPRESSED for lengths that make no sense, for data, FIN or
 * RST without a sequence number (they could be put in the wrong place) and for anything before rx
 * is known. Does not change rx. */
SCPS_API int scps_comp_parse(const uint8_t *p, size_t avail, size_t seg_len,
                             const struct scps_comp_rx *rx, struct scps_seg *s);
/* Records the fields of a segment that the connection has accepted, compressed or not, so that
 * later compressed headers may leave them out. Call it first for the peer's SYN, with a zeroed
 * rx. */
SCPS_API void scps_comp_learn(struct scps_comp_rx *rx, const struct scps_seg *s);

#ifdef __cplusplus
}
#endif
#endif
