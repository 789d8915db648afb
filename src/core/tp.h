/* SPDX-License-Identifier: MIT */
/* State of those features that need memory of their own, and that few connections use: compressed
 * headers, the corruption option, vendor data (binding spaces), record ends and best effort at the
 * receiver, the list of data given up, outages of the link, careful resume. It is allocated when a
 * connection first uses one of them. */
#ifndef SCPS_CORE_TP_H
#define SCPS_CORE_TP_H

#include <scps/comp.h>
#include <scps/wire.h>

#include "core/corruption.h"
#include "core/rcv_marks.h"
#include "core/resume.h"

struct scps_conn;

/* The checksum of a compressed segment includes a pseudo-header with an IP protocol number, and
 * implementations use different ones: that of compressed SCPS-TP (105), of TCP (6) or of SCPS-TP
 * (106). This struct finds out from the peer's segments which one the peer uses. Only stack/comp.c
 * assigns the fields. */
struct scps_comp_sum {
    /* IP protocol number with which, in the pseudo-header, the checksums of the peer's segments are
     * right; 0: not known yet */
    uint8_t agreed;
    /* IP protocol number with which, in the pseudo-header, the checksum of the compressed segment
     * that is being processed is right; 0: that segment is no evidence of any number. */
    uint8_t newest;
    /* number of segments whose checksum was right for the number `agreed`, at most 2 */
    uint8_t good;
    /* true: since the connection last accepted a segment as evidence of the peer's IP protocol
     * number (scps_comp_good() in stack/comp.c, which sets `agreed` then), the checksums of
     * segments have been right for more than one such number, `agreed` included */
    bool mixed;
    /* Compressed segments that arrive in a row and whose checksums are right for one IP protocol
     * number other than `agreed`. other: that protocol number; 0: there are no such segments.
     * others: their count, at most UINT8_MAX. other_at: arrival time of the first of them, µs. */
    uint8_t other, others;
    /* TCP checksum of the last compressed segment that was evidence of the IP protocol number which
     * the peer puts into the pseudo-header. A compressed segment with the same checksum that
     * arrives within a second of it is taken for a duplicate made by the network, and is no further
     * evidence. */
    uint16_t mark;
    scps_time other_at;
    /* arrival time, µs, of the segment whose checksum `mark` holds: for a second from then on, a
     * segment with that checksum counts as its duplicate; 0: `mark` holds no checksum */
    scps_time mark_at;
};

/* Largest number of octets in the extended capabilities option (a second TCP option 20) that still
 * fits beside the normal one, which takes 4 of 40: 36, less kind and length. */
#define SCPS_XCAPS_MAX 34u

/* State of compressed headers, of the corruption option, of record ends, of best effort, of link
 * outages and of careful resume. It is allocated when the connection first uses one of these
 * features; before that, scps_sender.tp is NULL. */
struct scps_conn_scps {
    /* Connection ids of compressed headers (protocol 105): the one that the stack chose, never 0,
     * and the one that the peer chose. */
    uint8_t conn_id, peer_id;
    /* heard: peer_id has arrived, and connid.c has this connection in its table under that id;
     * claims, only with heard: other half-open connections may have the same peer_id, because this
     * one's handshake is not completed, so that the SYN with the id may be forged */
    bool heard, claims;
    /* true: connid.c has this connection in its list of the half-open connections between the same
     * two hosts, whose SYNs may be forged */
    bool half_open;
    /* true: although headers are compressed, the next segment without data is sent with a TCP
     * header, because the peer may have lost the connection: it could not answer a compressed
     * header */
    bool plain_next;
    struct scps_comp_tx comp_tx;
    struct scps_comp_rx comp_rx;
    struct scps_comp_sum comp_sum;
    uint64_t comp_out, comp_in;             /* number of segments with a compressed header */
    uint64_t comp_saved_out, comp_saved_in; /* octets saved compared with TCP headers */
    struct scps_corruption corruption;
    /* binding spaces (data of a vendor in a second TCP option 20) on which both ends agreed */
    struct scps_binding binding[SCPS_BINDINGS];
    /* octets of the extended capabilities option (a second TCP option 20) in this end's SYN or
     * SYN-ACK, without kind and length */
    uint8_t xcaps[SCPS_XCAPS_MAX];
    /* marks in the peer's stream (rcv_marks.h): ends of application records, and, with best effort,
     * a range of octets that this receiver no longer waits for; NULL: there are none */
    struct scps_rcv_marks *marks;
    /* ranges of octets that best effort at this end has given up instead of resending, as far as
     * the list has room */
    struct scps_rangeset given_up;
    /* Set when the driver or the operator signals an outage (SCPS_SIGNAL_LINK_DOWN): time, µs,
     * before which segments that arrive do not end the outage, because they were in flight when the
     * link failed; 0: every segment may end it */
    scps_time deaf_until;
    struct scps_resume resume; /* state of careful resume, valid where scps_sender.resumes is set */
};

/* Called before a challenge ACK to a peer that may have lost its state of the connection, for
 * example by a restart: the next segment without data gets a TCP header instead of a compressed
 * one, which such a peer could not answer. tp NULL: the connection has no header compression, so
 * all segments have TCP headers. */
static inline void scps_tp_plain_next(struct scps_conn_scps *tp)
{
    if (tp)
        tp->plain_next = true;
}
/* Called when a segment without data is built on a connection with header compression. Returns true
 * if the segment must have a TCP header instead of a compressed one, because scps_tp_plain_next()
 * was called before, and clears that requirement. */
static inline bool scps_tp_take_plain(struct scps_conn_scps *tp)
{
    bool plain = tp->plain_next;

    tp->plain_next = false;
    return plain;
}

/* Sets the connection id that the peer has announced for its compressed headers. */
static inline void scps_tp_peer_id(struct scps_conn_scps *tp, uint8_t id)
{
    tp->peer_id = id;
}
/* Initialises the compression of the headers that this end sends, with connection id `id`. */
static inline void scps_tp_comp_begin(struct scps_conn_scps *tp, uint8_t id)
{
    scps_comp_tx_init(&tp->comp_tx, id, 2, false);
}
/* The next compressed header will include its sequence number, which may otherwise be omitted. */
static inline void scps_tp_comp_numbered(struct scps_conn_scps *tp)
{
    tp->comp_tx.seq_again = SCPS_MAX(tp->comp_tx.seq_again, 1);
}
/* Writes the compressed header of seg to p. Returns its length in octets; 0: the header cannot be
 * compressed. */
static inline size_t scps_tp_comp_build(struct scps_conn_scps *tp, uint8_t *p,
                                        const struct scps_seg *seg)
{
    return scps_comp_build(p, &tp->comp_tx, seg, NULL);
}
/* The next compressed header will include all fields: the peer may not have received the segment
 * sent now, from which it would take the values of omitted fields. */
static inline void scps_tp_comp_anew(struct scps_conn_scps *tp)
{
    tp->comp_tx.known = false;
}

/* Returns the marks in the peer's stream: ends of application records, and a range of octets that
 * best effort no longer waits for; NULL: there are none. tp may be NULL. */
static inline struct scps_rcv_marks *scps_tp_marks(const struct scps_conn_scps *tp)
{
    return tp ? tp->marks : NULL;
}

#endif
