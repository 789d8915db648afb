/* SPDX-License-Identifier: MIT */
/* PPP in HDLC-like framing: octets and frames (RFC 1662, asynchronous lines). */
#ifndef SCPS_LINK_HDLC_H
#define SCPS_LINK_HDLC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCPS_HDLC_FLAG   0x7e
#define SCPS_HDLC_ESCAPE 0x7d

/* Room that the frame of n octets of address to information takes at most: all of it and the FCS
 * escaped, and two flags. */
#define SCPS_HDLC_ROOM(n) (2 * ((size_t)(n) + 2) + 2)

/* A frame being written. The caller sets out; it has room for SCPS_HDLC_ROOM of what is put. */
struct scps_hdlc_tx {
    uint8_t *out;
    size_t len;
    uint32_t accm; /* octets below 32 to escape */
    uint16_t fcs;
};
void scps_hdlc_begin(struct scps_hdlc_tx *t);
void scps_hdlc_put(struct scps_hdlc_tx *t, const uint8_t *p, size_t n);
void scps_hdlc_end(struct scps_hdlc_tx *t);

enum scps_hdlc_got {
    SCPS_HDLC_MORE,    /* the octets are used up and no frame ended with them */
    SCPS_HDLC_FRAME,   /* a good one: len octets at buf, without its FCS, until the next call */
    SCPS_HDLC_BAD_FCS, /* the rest say what became of a frame */
    SCPS_HDLC_ABORTED,
    SCPS_HDLC_TOO_SHORT,
    SCPS_HDLC_TOO_LONG
};

/* A frame being read. Invariant: len <= cap; fcs is that of the octets at buf. */
struct scps_hdlc_rx {
    uint8_t *buf;
    size_t cap, len;
    uint32_t accm; /* octets below 32 that the peer escapes: bare ones were put in on the way */
    uint16_t fcs;
    bool escaped;  /* the last octet was the escape */
    bool too_long; /* of the frame being read not all is at buf */
    bool taken;    /* the frame at buf was reported: the next octet begins another one */
};
/* buf has room for the longest frame with its FCS. */
void scps_hdlc_rx_init(struct scps_hdlc_rx *r, uint8_t *buf, size_t cap);
/* Reads from *p on to the end of a frame, or to end; moves *p. */
enum scps_hdlc_got scps_hdlc_take(struct scps_hdlc_rx *r, const uint8_t **p, const uint8_t *end);

/* The 16-bit FCS of n octets more. It begins as 0xffff; over a good frame and its FCS it is
 * 0xf0b8. */
uint16_t scps_fcs16(uint16_t fcs, const uint8_t *p, size_t n);

#endif
