/* SPDX-License-Identifier: MIT */
/* Encodes and decodes CCSDS transfer frames (AOS, TM, USLP): headers, first header pointers, frame
 * counts, error control field. */
#ifndef SCPS_LINK_SPACEFRAME_H
#define SCPS_LINK_SPACEFRAME_H

#include <scps/ccsds.h>

/* Special values of the field `pointer` of struct scps_spaceframe, the same for all kinds of
 * frames; each kind encodes them differently. */
#define SPACEFRAME_NO_START 0xffffu /* no packet begins in the frame */
#define SPACEFRAME_ALL_IDLE 0xfffeu /* the frame contains idle data only */

struct scps_spaceframe {
    uint16_t spacecraft;
    uint8_t channel, map;
    uint64_t count; /* frame count of the virtual channel, which increases by one with each frame */
    unsigned bits;  /* number of bits that the count has in this frame; 0: the frame has no count */
    /* first header pointer: number of octets of the data field before the first packet header, or
     * SPACEFRAME_NO_START or SPACEFRAME_ALL_IDLE */
    unsigned pointer;
    size_t begin, end; /* offsets in the frame at which the data field begins and ends, octets */
};

/* These functions return how many octets a frame with configuration cfg has before its data field
 * (head) and after it (tail). */
size_t scps_spaceframe_head(const struct scps_ccsds_config *cfg);
size_t scps_spaceframe_tail(const struct scps_ccsds_config *cfg);
/* Writes the header of a frame with configuration cfg to p, with this frame count and first header
 * pointer. If cfg has an error control field, computes it and writes it at the frame's end. */
void scps_spaceframe_finish(uint8_t *p, const struct scps_ccsds_config *cfg, uint64_t count,
                            unsigned pointer);
/* Parses the header of a frame of cfg->frame octets into *f, and checks the frame. Returns
 * SCPS_CCSDS_DROP_COUNT if it is valid, otherwise the reason to drop it. */
enum scps_ccsds_drop scps_spaceframe_parse(const uint8_t *p, const struct scps_ccsds_config *cfg,
                                           struct scps_spaceframe *f);
/* Returns the CRC of the n octets at p for the error control field: polynomial x^16 + x^12 + x^5 +
 * 1, initial value 0xffff (CCSDS 732.0-B section 4.1.6). */
uint16_t scps_spaceframe_crc(const uint8_t *p, size_t n);

#endif
