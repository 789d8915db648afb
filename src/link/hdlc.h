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

/* Largest length of a frame on the line, octets, whose fields from address to information have n
 * octets: each of these and of the FCS is escaped, and there are two flags. */
#define SCPS_HDLC_ROOM(n) (2 * ((size_t)(n) + 2) + 2)

/* A frame that is being written to `out`, `len` octets so far. The caller sets `out`, which must
 * have SCPS_HDLC_ROOM(n) octets if n octets are put into the frame. */
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
    SCPS_HDLC_MORE, /* no frame has ended: all octets up to `end` were read */
    /* a good frame has ended: rx.len octets at rx.buf, without its FCS, valid until the next
     * call */
    SCPS_HDLC_FRAME,
    /* a frame was dropped because its FCS is wrong; the following values are further reasons */
    SCPS_HDLC_BAD_FCS,
    SCPS_HDLC_ABORTED,
    SCPS_HDLC_TOO_SHORT,
    SCPS_HDLC_TOO_LONG
};

/* A frame that is being read from the line. Invariant: len <= cap; fcs is the FCS computed over the
 * len octets at buf. */
struct scps_hdlc_rx {
    uint8_t *buf;
    size_t cap, len;
    /* receiving ACCM (RFC 1662 section 7.1): if bit n is set, the peer escapes octet n, 0 to 31, so
     * such an octet that is not escaped was inserted by the line, and is removed */
    uint32_t accm;
    uint16_t fcs;
    bool escaped;  /* true: the last octet was the escape octet 0x7d */
    bool too_long; /* true: the frame being read is longer than buf */
    /* true: the frame at buf was returned to the caller, so the next octet starts another frame */
    bool taken;
};
/* Initialises r to read frames into buf, which has cap octets: enough for the longest frame, with
 * its FCS and without escapes. */
void scps_hdlc_rx_init(struct scps_hdlc_rx *r, uint8_t *buf, size_t cap);
/* Reads octets of the line from *p until a frame ends, or until `end`, and advances *p behind them.
 * Returns SCPS_HDLC_FRAME, the reason for which a frame was dropped, or SCPS_HDLC_MORE if no frame
 * has ended before `end`. */
enum scps_hdlc_got scps_hdlc_take(struct scps_hdlc_rx *r, const uint8_t **p, const uint8_t *end);

/* Updates a 16-bit FCS (RFC 1662 appendix C) with the n octets at p, and returns it. It must be
 * 0xffff before the first octet; over a good frame and its FCS the result is 0xf0b8. */
uint16_t scps_fcs16(uint16_t fcs, const uint8_t *p, size_t n);

#endif
