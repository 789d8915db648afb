/* SPDX-License-Identifier: MIT */
/* Encoding of the TCP options of SCPS-TP (CCSDS 714.0-B-2), with the octets in hexadecimal.
 *
 *      20  capabilities         14 04 FF II            SYN only; longer: extended capabilities
 *      21  SNACK                15 LL OOOO SSSS vv...  LL 6: short form, more: bit vector behind it
 *      22  record boundary      16 02
 *      23  corruption           17 02
 *
 * FF are the capability bits (best effort, SNACK, compression), II is the connection id for
 * compressed headers. Extended capabilities are binding spaces: numbered data of vendors
 * (binding.c).
 *
 * Of several capabilities options of length 4 the first one counts (docs/SCPS-TP.md section 9), and
 * likewise of the extended ones. Kind 20 of length 2 or 3 occurs on the Internet and is skipped; so
 * are a SNACK shorter than 6 and an option 22 or 23 with a body. A bit vector cannot be longer than
 * an option. Reserved bits are kept as received; they must be sent as zero.
 *
 * Sources: CCSDS 714.0-B-2 sections 3.2.3 and 3.2.5, and the octets the reference implementation
 * sends.
 */
#include "wire/opt.h"

#include "base/bytes.h"

void scps_scpsopt_parse(uint8_t kind, const uint8_t *body, size_t len, struct scps_seg *s)
{
    switch (kind) {
    case SCPS_OPT_CAPS:
        if (len == 4 && !(s->has & SCPS_HAS_CAPS)) {
            s->caps = body[0];
            s->conn_id = body[1];
            s->has |= SCPS_HAS_CAPS;
        } else if (len > 4 && !(s->has & SCPS_HAS_XCAPS)) {
            s->xcaps = body;
            s->xcaps_len = (uint8_t)(len - 2);
            s->has |= SCPS_HAS_XCAPS;
        }
        break;
    case SCPS_OPT_SNACK:
        if (len < 6)
            break;
        s->snack_off = scps_get16(body);
        s->snack_size = scps_get16(body + 2);
        s->snack_vec_len = (uint8_t)SCPS_MIN(len - 6, SCPS_SNACK_VEC_MAX);
        memcpy(s->snack_vec, body + 4, s->snack_vec_len);
        s->has |= SCPS_HAS_SNACK;
        break;
    case SCPS_OPT_RECORD:
        if (len == 2)
            s->has |= SCPS_HAS_RECORD;
        break;
    case SCPS_OPT_CORRUPTION:
        if (len == 2)
            s->has |= SCPS_HAS_CORRUPTION;
        break;
    }
}

static uint8_t *pad(uint8_t *start, uint8_t *o)
{
    while ((o - start) % 4)
        *o++ = OPT_NOP;
    return o;
}

/* Writes the capabilities option and the extended capabilities (binding spaces) as the first
 * options, as the reference implementation does. The extended option requires the normal one before
 * it (CCSDS 714.0-B-2 section 3.2.5.2.1). It must not be 4 octets long, because it would look like
 * the normal one, and it is left out if it does not fit completely. */
uint8_t *scps_scpsopt_put_caps(uint8_t *o, const struct scps_seg *s)
{
    uint8_t *start = o;

    if (s->has & SCPS_HAS_CAPS) {
        *o++ = SCPS_OPT_CAPS;
        *o++ = 4;
        *o++ = s->caps;
        *o++ = s->conn_id;
    }
    size_t others = (s->has & SCPS_HAS_MSS ? 4 : 0) + (s->has & SCPS_HAS_BETS_OK ? 4 : 0) +
                    (s->has & SCPS_HAS_WSCALE ? 4 : 0) +
                    (s->has & SCPS_HAS_TS        ? 12
                     : s->has & SCPS_HAS_SACK_OK ? 4
                                                 : 0);
    if ((s->has & SCPS_HAS_XCAPS) && s->xcaps_len > 2 &&
        s->xcaps_len + 2u <= OPT_ROOM - 4 - others) {
        *o++ = SCPS_OPT_CAPS;
        *o++ = (uint8_t)(s->xcaps_len + 2);
        memcpy(o, s->xcaps, s->xcaps_len);
        o = pad(start, o + s->xcaps_len);
    }
    return o;
}

static inline size_t snack_vec_fit(const struct scps_seg *s, size_t room)
{
    size_t vec = SCPS_MIN(s->snack_vec_len, SCPS_SNACK_VEC_MAX);
    return vec + 6 <= room ? vec : room - 6;
}

uint8_t *scps_scpsopt_put_reports(uint8_t *o, size_t room, const struct scps_seg *s)
{
    uint8_t *start = o;
    size_t flags = !!(s->has & SCPS_HAS_RECORD) + !!(s->has & SCPS_HAS_CORRUPTION);

    if (room < 4)
        return o;
    if (flags)
        room -= 4;
    if ((s->has & SCPS_HAS_SNACK) && room >= 8) {
        size_t vec = snack_vec_fit(s, room);
        *o++ = SCPS_OPT_SNACK;
        *o++ = (uint8_t)(6 + vec);
        scps_put16(o, s->snack_off);
        scps_put16(o + 2, s->snack_size);
        memcpy(o + 4, s->snack_vec, vec);
        o = pad(start, o + 4 + vec);
    }
    if (flags == 1) {
        *o++ = OPT_NOP;
        *o++ = OPT_NOP;
    }
    if (s->has & SCPS_HAS_RECORD) {
        *o++ = SCPS_OPT_RECORD;
        *o++ = 2;
    }
    if (s->has & SCPS_HAS_CORRUPTION) {
        *o++ = SCPS_OPT_CORRUPTION;
        *o++ = 2;
    }
    return o;
}

size_t scps_scpsopt_reports_len(const struct scps_seg *s, size_t room)
{
    size_t n = 0;

    if (room < 4)
        return 0;
    if (s->has & (SCPS_HAS_RECORD | SCPS_HAS_CORRUPTION))
        n = 4;
    if ((s->has & SCPS_HAS_SNACK) && room - n >= 8)
        n += (6 + snack_vec_fit(s, room - n) + 3) & ~(size_t)3;
    return n;
}
