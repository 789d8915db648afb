/* SPDX-License-Identifier: MIT */
/* Octet stuffing and the 16-bit frame check sequence (FCS) of PPP on asynchronous lines.
 *
 * A line may insert control characters (such as XON and XOFF of a modem). The peer escapes each
 * control character that the receiving ACCM (Async Control Character Map, a set of the octets 0 to
 * 31) contains. So such a character that arrives without an escape was not sent by the peer, and is
 * removed. A flag right behind an escape means that the sender aborted the frame.
 *
 * Sources: RFC 1662 sections 3.1, 4.2, 4.3 and appendix C.
 */
#include "link/hdlc.h"

#include <string.h>

#define GOOD_FCS 0xf0b8

uint16_t scps_fcs16(uint16_t fcs, const uint8_t *p, size_t n)
{
    /* Table of the CRC of x^16 + x^12 + x^5 + 1, bit-reversed, for four bits at a time. */
    static const uint16_t nibble[16] = {0x0000, 0x1081, 0x2102, 0x3183, 0x4204, 0x5285,
                                        0x6306, 0x7387, 0x8408, 0x9489, 0xa50a, 0xb58b,
                                        0xc60c, 0xd68d, 0xe70e, 0xf78f};
    for (size_t i = 0; i < n; i++) {
        fcs = (uint16_t)(fcs >> 4 ^ nibble[(fcs ^ p[i]) & 15]);
        fcs = (uint16_t)(fcs >> 4 ^ nibble[(fcs ^ p[i] >> 4) & 15]);
    }
    return fcs;
}

void scps_hdlc_begin(struct scps_hdlc_tx *t)
{
    t->fcs = 0xffff;
    t->len = 0;
    t->out[t->len++] = SCPS_HDLC_FLAG;
}

static void stuff(struct scps_hdlc_tx *t, uint8_t c)
{
    if (c == SCPS_HDLC_FLAG || c == SCPS_HDLC_ESCAPE || (c < 32 && t->accm >> c & 1)) {
        t->out[t->len++] = SCPS_HDLC_ESCAPE;
        c ^= 0x20;
    }
    t->out[t->len++] = c;
}

void scps_hdlc_put(struct scps_hdlc_tx *t, const uint8_t *p, size_t n)
{
    t->fcs = scps_fcs16(t->fcs, p, n);
    for (size_t i = 0; i < n; i++)
        stuff(t, p[i]);
}

void scps_hdlc_end(struct scps_hdlc_tx *t)
{
    uint16_t fcs = (uint16_t)~t->fcs;

    /* The FCS is sent with its least significant octet first (RFC 1662 section 3.1). */
    stuff(t, (uint8_t)fcs);
    stuff(t, (uint8_t)(fcs >> 8));
    t->out[t->len++] = SCPS_HDLC_FLAG;
}

static void next_frame(struct scps_hdlc_rx *r)
{
    r->len = 0;
    r->fcs = 0xffff;
    r->escaped = r->too_long = r->taken = false;
}

void scps_hdlc_rx_init(struct scps_hdlc_rx *r, uint8_t *buf, size_t cap)
{
    memset(r, 0, sizeof *r);
    r->buf = buf;
    r->cap = cap;
    r->accm = UINT32_MAX;
    next_frame(r);
}

/* Called at a flag, which ends a frame. Returns what the octets since the previous flag are: a good
 * frame (SCPS_HDLC_FRAME), no frame (SCPS_HDLC_MORE), or the reason for which they are dropped. */
static enum scps_hdlc_got finish(struct scps_hdlc_rx *r)
{
    r->taken = true;
    if (r->escaped)
        return SCPS_HDLC_ABORTED;
    if (r->too_long)
        return SCPS_HDLC_TOO_LONG;
    if (r->len == 0)
        /* There are no octets between two flags, because flags may fill the time between frames. */
        return SCPS_HDLC_MORE;
    if (r->len < 4)
        return SCPS_HDLC_TOO_SHORT;
    if (r->fcs != GOOD_FCS)
        return SCPS_HDLC_BAD_FCS;
    r->len -= 2;
    return SCPS_HDLC_FRAME;
}

enum scps_hdlc_got scps_hdlc_take(struct scps_hdlc_rx *r, const uint8_t **p, const uint8_t *end)
{
    if (r->taken)
        next_frame(r);
    while (*p < end) {
        uint8_t c = *(*p)++;

        if (c == SCPS_HDLC_FLAG) {
            enum scps_hdlc_got got = finish(r);

            if (got != SCPS_HDLC_MORE)
                return got;
            next_frame(r);
            continue;
        }
        if (c < 32 && r->accm >> c & 1)
            continue;
        if (c == SCPS_HDLC_ESCAPE) {
            r->escaped = true;
            continue;
        }
        if (r->escaped) {
            c ^= 0x20;
            r->escaped = false;
        }
        if (r->len == r->cap) {
            r->too_long = true;
            continue;
        }
        r->buf[r->len++] = c;
        r->fcs = scps_fcs16(r->fcs, &c, 1);
    }
    return SCPS_HDLC_MORE;
}
