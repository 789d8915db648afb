/* SPDX-License-Identifier: MIT */
/* Layout of the headers of CCSDS transfer frames. A number behind a name is the length of that
 * field in bits; the digits 0 and 1 at the beginning of a frame are the bits of the version number;
 * || is a border of octets.
 *
 *   AOS   01 | spacecraft 8 | channel 6 || count 24 || replay 1, cycle used 1, spare 2, cycle 4
 *         || spare 5 | pointer 11 || packets
 *   TM    00 | spacecraft 10 | channel 3 | control field 1 || master count 8 || channel count 8
 *         || secondary header 1, sync 1, order 1, segment 2 | pointer 11 || packets
 *   USLP  1100 | spacecraft 16 | source 1 | channel 6 | map 4 | truncated 1 || length - 1, 16
 *         || bypass 1, command 1, spare 2, control field 1, octets of count 3 || count
 *         || rule 3 | protocol 5 || pointer 16 || packets
 *
 * Sources: CCSDS 732.0-B section 4, 132.0-B section 4, 732.1-B section 4.
 */
#include "link/spaceframe.h"

#include <string.h>

#include "base/bytes.h"

#define FECF 2
/* values of the first header pointer (11 bits) of AOS and TM frames. POINTER_NONE: no packet begins
 * in the frame; POINTER_IDLE: the frame contains idle data only */
#define POINTER_NONE 0x7ffu
#define POINTER_IDLE 0x7feu
#define USLP_COUNT   4 /* octets of the frame count in USLP frames that are sent */
/* construction rule (field `rule`) of USLP: packets may span frames, all of one length */
#define USLP_SPANNING 0
#define USLP_PACKETS  0  /* protocol id of USLP: space packets or encapsulation packets */
#define USLP_IDLE     31 /* protocol id of USLP: idle data */

uint16_t scps_spaceframe_crc(const uint8_t *p, size_t n)
{
    static const uint16_t nibble[16] = {0x0000, 0x1021, 0x2042, 0x3063, 0x4084, 0x50a5,
                                        0x60c6, 0x70e7, 0x8108, 0x9129, 0xa14a, 0xb16b,
                                        0xc18c, 0xd1ad, 0xe1ce, 0xf1ef};
    uint16_t crc = 0xffff;

    for (size_t i = 0; i < n; i++) {
        crc = (uint16_t)(crc << 4 ^ nibble[crc >> 12 ^ p[i] >> 4]);
        crc = (uint16_t)(crc << 4 ^ nibble[(crc >> 12 ^ p[i]) & 15]);
    }
    return crc;
}

size_t scps_spaceframe_head(const struct scps_ccsds_config *cfg)
{
    return cfg->kind == SCPS_CCSDS_AOS ? 8 : cfg->kind == SCPS_CCSDS_TM ? 6 : 7 + USLP_COUNT + 3;
}

size_t scps_spaceframe_tail(const struct scps_ccsds_config *cfg)
{
    return cfg->fecf ? FECF : 0;
}

/* ---- functions that write the headers of frames ---- */

static unsigned narrow(unsigned pointer)
{
    return pointer == SPACEFRAME_NO_START   ? POINTER_NONE
           : pointer == SPACEFRAME_ALL_IDLE ? POINTER_IDLE
                                            : pointer;
}

static void write_aos(uint8_t *p, const struct scps_ccsds_config *c, uint64_t count,
                      unsigned pointer)
{
    scps_put16(p, (uint16_t)(1 << 14 | (c->spacecraft & 0xff) << 6 | c->channel));
    p[2] = (uint8_t)(count >> 16);
    scps_put16(p + 3, (uint16_t)count);
    p[5] = (uint8_t)(0x40 | (count >> 24 & 15));
    scps_put16(p + 6, (uint16_t)narrow(pointer));
}

static void write_tm(uint8_t *p, const struct scps_ccsds_config *c, uint64_t count,
                     unsigned pointer)
{
    scps_put16(p, (uint16_t)((c->spacecraft & 0x3ff) << 4 | c->channel << 1));
    /* A TM frame has a count of its master channel (all virtual channels of the spacecraft) and one
     * of its virtual channel. This end sends on one virtual channel only, so both counts are
     * equal. */
    p[2] = p[3] = (uint8_t)count;
    scps_put16(p + 4, (uint16_t)(3 << 11 | narrow(pointer)));
}

static void write_uslp(uint8_t *p, const struct scps_ccsds_config *c, uint64_t count,
                       unsigned pointer)
{
    scps_put32(p, (uint32_t)12 << 28 | (uint32_t)c->spacecraft << 12 | (uint32_t)c->channel << 5 |
                      (uint32_t)c->map << 1);
    scps_put16(p + 4, (uint16_t)(c->frame - 1));
    p[6] = USLP_COUNT;
    scps_put32(p + 7, (uint32_t)count);
    p[11] = USLP_SPANNING << 5 | USLP_PACKETS;
    scps_put16(p + 12, (uint16_t)pointer);
}

void scps_spaceframe_finish(uint8_t *p, const struct scps_ccsds_config *cfg, uint64_t count,
                            unsigned pointer)
{
    if (cfg->kind == SCPS_CCSDS_AOS)
        write_aos(p, cfg, count, pointer);
    else if (cfg->kind == SCPS_CCSDS_TM)
        write_tm(p, cfg, count, pointer);
    else
        write_uslp(p, cfg, count, pointer);
    if (cfg->fecf)
        scps_put16(p + cfg->frame - FECF, scps_spaceframe_crc(p, cfg->frame - FECF));
}

/* ---- functions that parse the headers of frames ---- */

static unsigned widen(unsigned pointer)
{
    return pointer == POINTER_NONE   ? SPACEFRAME_NO_START
           : pointer == POINTER_IDLE ? SPACEFRAME_ALL_IDLE
                                     : pointer;
}

static bool read_aos(const uint8_t *p, struct scps_spaceframe *f)
{
    unsigned id = scps_get16(p);

    f->spacecraft = id >> 6 & 0xff;
    f->channel = id & 0x3f;
    f->bits = p[5] & 0x40 ? 28 : 24;
    f->count = (uint64_t)p[2] << 16 | scps_get16(p + 3);
    if (f->bits == 28)
        f->count |= (uint64_t)(p[5] & 15) << 24;
    f->pointer = widen(scps_get16(p + 6) & 0x7ff);
    f->begin = 8;
    return id >> 14 == 1;
}

static bool read_tm(const uint8_t *p, struct scps_spaceframe *f)
{
    unsigned id = scps_get16(p), status = scps_get16(p + 4);

    f->spacecraft = id >> 4 & 0x3ff;
    f->channel = id >> 1 & 7;
    f->bits = 8;
    f->count = p[3];
    f->pointer = widen(status & 0x7ff);
    f->begin = 6;
    /* Bit 0 announces an operational control field of 4 octets behind the data field, which is not
     * read. */
    f->end -= id & 1 ? 4 : 0;
    /* The frame is dropped unless the version number (the first two bits) is 00, that of TM, and
     * the flags of a secondary header and of synchronization (1: the data is not packets) are 0. */
    return id >> 14 == 0 && (status & 0xc000) == 0;
}

static bool read_uslp(const uint8_t *p, size_t frame, struct scps_spaceframe *f)
{
    uint32_t id = scps_get32(p);
    unsigned octets = p[6] & 7, rule;
    const uint8_t *field = p + 7 + octets;

    f->spacecraft = (uint16_t)(id >> 12);
    f->channel = id >> 5 & 0x3f;
    f->map = id >> 1 & 15;
    f->bits = 8 * octets;
    for (unsigned i = 0; i < octets; i++)
        f->count = f->count << 8 | p[7 + i];
    f->begin = 7 + octets + 3;
    f->end -= p[6] & 8 ? 4 : 0;
    rule = field[0] >> 5;
    f->pointer = scps_get16(field + 1);
    if ((field[0] & 31) == USLP_IDLE)
        f->pointer = SPACEFRAME_ALL_IDLE;
    return id >> 28 == 12 && !(id & 1) && scps_get16(p + 4) == frame - 1 && !(p[6] & 0x40) &&
           rule == USLP_SPANNING &&
           ((field[0] & 31) == USLP_PACKETS || (field[0] & 31) == USLP_IDLE);
}

enum scps_ccsds_drop scps_spaceframe_parse(const uint8_t *p, const struct scps_ccsds_config *cfg,
                                           struct scps_spaceframe *f)
{
    bool good;

    memset(f, 0, sizeof *f);
    f->end = cfg->frame;
    if (cfg->fecf) {
        f->end -= FECF;
        if (scps_spaceframe_crc(p, f->end) != scps_get16(p + f->end))
            return SCPS_CCSDS_DROP_FECF;
    }
    good = cfg->kind == SCPS_CCSDS_AOS  ? read_aos(p, f)
           : cfg->kind == SCPS_CCSDS_TM ? read_tm(p, f)
                                        : read_uslp(p, cfg->frame, f);
    if (!good)
        return SCPS_CCSDS_DROP_FRAME;
    if (f->spacecraft != cfg->spacecraft || f->channel != cfg->channel ||
        (cfg->kind == SCPS_CCSDS_USLP && f->map != cfg->map))
        return SCPS_CCSDS_DROP_CHANNEL;
    if (f->pointer < SPACEFRAME_ALL_IDLE && f->pointer >= f->end - f->begin)
        return SCPS_CCSDS_DROP_POINTER;
    return SCPS_CCSDS_DROP_COUNT;
}
