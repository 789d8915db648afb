/* SPDX-License-Identifier: MIT */
/* Encoding and decoding of CCSDS transfer frames: headers, pointers, counts, error control. No
 * state is kept. */
#ifndef SCPS_LINK_SPACEFRAME_H
#define SCPS_LINK_SPACEFRAME_H

#include <scps/ccsds.h>

/* Special values of the field `pointer` below, the same for all kinds of frames; in the frames
 * themselves each kind has its own values. */
#define SPACEFRAME_NO_START 0xffffu /* no packet begins in the frame */
#define SPACEFRAME_ALL_IDLE 0xfffeu /* the frame contains idle data only */

struct scps_spaceframe {
    uint16_t spacecraft;
    uint8_t channel, map;
    uint64_t count; /* frame count of the virtual channel, which increases by one with each frame */
    unsigned bits;  /* number of bits that the count has in this frame; 0: the frame has no count */
    /* Number of octets of the data field before the first packet header, or SPACEFRAME_NO_START or
     * SPACEFRAME_ALL_IDLE. */
    unsigned pointer;
    size_t begin, end; /* limits of the data field in the frame */
};

/* These functions return how many octets a frame with configuration cfg has before its data field
 * (head) and after it (tail). */
size_t scps_spaceframe_head(const struct scps_ccsds_config *cfg);
size_t scps_spaceframe_tail(const struct scps_ccsds_config *cfg);
/* Writes the header of a frame of cfg, with this frame count and first header pointer, and the
 * error control field at its end, if cfg has one. */
void scps_spaceframe_finish(uint8_t *p, const struct scps_ccsds_config *cfg, uint64_t count,
                            unsigned pointer);
/* Parses a frame of cfg->frame octets into *f. Returns SCPS_CCSDS_DROP_COUNT when it is well
 * formed, else the reason to drop it. */
enum scps_ccsds_drop scps_spaceframe_parse(const uint8_t *p, const struct scps_ccsds_config *cfg,
                                           struct scps_spaceframe *f);
/* Computes the CRC with the polynomial x^16 + x^12 + x^5 + 1, which begins with all ones (CCSDS
 * 732.0-B section 4.1.6). */
uint16_t scps_spaceframe_crc(const uint8_t *p, size_t n);

#endif
