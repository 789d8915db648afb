/* SPDX-License-Identifier: MIT */
/* Transfer frames as octets: headers, pointers, counts, error control. No state. */
#ifndef SCPS_LINK_SPACEFRAME_H
#define SCPS_LINK_SPACEFRAME_H

#include <scps/ccsds.h>

/* First header pointers, in any kind of frame (each kind has numbers of its own for the last two).
 */
#define SPACEFRAME_NO_START 0xffffu /* no packet begins in the frame */
#define SPACEFRAME_ALL_IDLE 0xfffeu /* the frame has idle data only */

struct scps_spaceframe {
    uint16_t spacecraft;
    uint8_t channel, map;
    uint64_t count;    /* of the virtual channel */
    unsigned bits;     /* that the count has in this frame; 0: it has none */
    unsigned pointer;  /* octets of the data field before the first packet header; or as above */
    size_t begin, end; /* of the data field in the frame */
};

/* Octets before, and behind, the data field in frames of cfg. */
size_t scps_spaceframe_head(const struct scps_ccsds_config *cfg);
size_t scps_spaceframe_tail(const struct scps_ccsds_config *cfg);
/* Writes the header of a frame of cfg with that count and pointer, and its error control field. */
void scps_spaceframe_finish(uint8_t *p, const struct scps_ccsds_config *cfg, uint64_t count,
                            unsigned pointer);
/* Reads a frame of cfg->frame octets. SCPS_CCSDS_DROP_COUNT when it is well formed, else why not.
 */
enum scps_ccsds_drop scps_spaceframe_parse(const uint8_t *p, const struct scps_ccsds_config *cfg,
                                           struct scps_spaceframe *f);
/* CRC of x^16 + x^12 + x^5 + 1, beginning with all ones (CCSDS 732.0-B section 4.1.6). */
uint16_t scps_spaceframe_crc(const uint8_t *p, size_t n);

#endif
