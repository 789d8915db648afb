/* SPDX-License-Identifier: MIT */
/* Encodes and decodes the HDLC-like framing of PPP: octets to frames and back (RFC 1662,
 * asynchronous lines). */
#ifndef SCPS_LINK_HDLC_H
#define SCPS_LINK_HDLC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCPS_HDLC_FLAG   0x7e
#define SCPS_HDLC_ESCAPE 0x7d

/* Room, octets, for a frame on the line with n octets from address to information: all of them and
 * the FCS escaped, and two flags. */
#define SCPS_HDLC_ROOM(n) (2 * ((size_t)(n) + 2) + 2)

/* A frame being written. The caller sets `out`, which has SCPS_HDLC_ROOM octets for the octets put
 * in. */
struct scps_hdlc_tx {
    uint8_t *out;
    size_t len;
    uint32_t accm; /* ACCM (RFC 1662 section 7.1): if bit n is set, octet n, 0 to 31, is escaped */
    uint16_t fcs;
};
void scps_hdlc_begin(struct scps_hdlc_tx *t);
void scps_hdlc_put(struct scps_hdlc_tx *t, const uint8_t *p, size_t n);
void scps_hdlc_end(struct scps_hdlc_tx *t);

enum scps_hdlc_got {
    SCPS_HDLC_MORE, /* all octets were read, and no frame ended with them */
    /* A good frame has ended: len octets at buf, without its FCS, valid until the next call. */
    SCPS_HDLC_FRAME,
    SCPS_HDLC_BAD_FCS, /* this value and the following ones say why a frame was dropped */
    SCPS_HDLC_ABORTED,
    SCPS_HDLC_TOO_SHORT,
    SCPS_HDLC_TOO_LONG
};

/* A frame being read. Invariant: len <= cap; fcs is that of the octets at buf. */
struct scps_hdlc_rx {
    uint8_t *buf;
    size_t cap, len;
    /* ACCM: if bit n is set, the peer escapes octet n, 0 to 31, so such an octet that is not
     * escaped was inserted on the way and is removed. */
    uint32_t accm;
    uint16_t fcs;
    bool escaped;  /* true: the last octet was the escape octet 0x7d */
    bool too_long; /* true: the frame being read is longer than buf */
    bool taken;    /* true: the frame at buf was reported, so the next octet starts another frame */
};
/* Initialises a reader. buf has cap octets, enough for the longest frame with its FCS. */
void scps_hdlc_rx_init(struct scps_hdlc_rx *r, uint8_t *buf, size_t cap);
/* Reads octets from *p until a frame ends, or until `end`, and advances *p. Returns what kind of
 * frame has ended, or SCPS_HDLC_MORE. */
enum scps_hdlc_got scps_hdlc_take(struct scps_hdlc_rx *r, const uint8_t **p, const uint8_t *end);

/* Updates the 16-bit FCS with n octets. It starts as 0xffff; over a good frame with its FCS it
 * becomes 0xf0b8. */
uint16_t scps_fcs16(uint16_t fcs, const uint8_t *p, size_t n);

#endif
