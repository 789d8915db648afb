/* SPDX-License-Identifier: MIT */
/* TCP options: parsing the list, and the standard options.
 *
 * The list ends at kind 0, at a length of 0 or 1 and at an option that would end beyond the header
 * (RFC 9293 section 3.1); options before that are used. An option of a known kind with an
 * impossible length is skipped like one of an unknown kind. If an option comes twice, the later one
 * counts, except kind 20 (scpsopt.c).
 *
 * Options are written in this order, always in groups of 4 octets:
 *
 *     SYN         MSS; TIMES; nop and window scale                     as Linux does
 *     SYN, SCPS   kind 20 (SCPS-TP capabilities), MSS, nop and window  as the reference
 *                 scale, nop nop kind 16 (best effort); TIMES          implementation does
 *     others      nop nop timestamps, nop nop SACK, SNACK, record, corruption
 *
 * TIMES is "SACK permitted, timestamps", "nop nop SACK permitted" or "nop nop timestamps",
 * depending on which of the two options the SYN has. Kind 16 offered best effort before kind 20
 * existed. SACK gets the room that the other options leave: with timestamps and SNACK exactly two
 * blocks.
 *
 * Sources: RFC 9293 section 3.1 and 3.2, RFC 7323 sections 2.2 and 3.2, RFC 2018 sections 2 and 3;
 * docs/SCPS-TP.md section 1.5.
 */
#include "base/bytes.h"
#include "wire/opt.h"

#define WORD(a, b, c, d)                                                                           \
    ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))

static inline void take_sack(const uint8_t *p, size_t blocks, struct scps_seg *s)
{
    s->nsack = (uint8_t)blocks;
    for (size_t i = 0; i < blocks; i++)
        s->sack[i] = (struct scps_sack){scps_get32(p + 8 * i), scps_get32(p + 8 * i + 4)};
    s->has |= SCPS_HAS_SACK;
}

void scps_tcpopt_parse(const uint8_t *p, size_t len, struct scps_seg *s)
{
    const uint8_t *end = p + len;

    if (len >= 12 && len % 8 == 4 &&
        scps_get32(p) == WORD(OPT_NOP, OPT_NOP, SCPS_OPT_SACK, len - 2)) {
        /* Fast path for the most frequent list of options that this function gets: NOP, NOP,
         * SACK. */
        take_sack(p + 4, len / 8, s);
        return;
    }
    while (p < end) {
        uint8_t kind = p[0];
        if (kind == OPT_END)
            return;
        if (kind == OPT_NOP) {
            p++;
            continue;
        }
        if (end - p < 2 || p[1] < 2 || p[1] > end - p)
            return;
        size_t n = p[1];
        const uint8_t *body = p + 2;
        switch (kind) {
        case SCPS_OPT_MSS:
            if (n == 4) {
                s->mss = scps_get16(body);
                s->has |= SCPS_HAS_MSS;
            }
            break;
        case SCPS_OPT_WSCALE:
            if (n == 3) {
                s->wscale = body[0];
                s->has |= SCPS_HAS_WSCALE;
            }
            break;
        case SCPS_OPT_SACK_OK:
            if (n == 2)
                s->has |= SCPS_HAS_SACK_OK;
            break;
        case SCPS_OPT_SACK:
            if (n >= 10 && n % 8 == 2) {
                take_sack(body, n / 8, s);
            }
            break;
        case SCPS_OPT_TS:
            if (n == 10) {
                s->tsval = scps_get32(body);
                s->tsecr = scps_get32(body + 4);
                s->has |= SCPS_HAS_TS;
            }
            break;
        case SCPS_OPT_BETS_OK:
            if (n == 2)
                s->has |= SCPS_HAS_BETS_OK;
            break;
        case SCPS_OPT_CAPS:
        case SCPS_OPT_SNACK:
        case SCPS_OPT_RECORD:
        case SCPS_OPT_CORRUPTION:
            scps_scpsopt_parse(kind, body, n, s);
            break;
        }
        p += n;
    }
}

static SCPS_INLINE_SPEED uint8_t *put_word(uint8_t *o, uint32_t w)
{
    scps_put32(o, w);
    return o + 4;
}

static inline uint8_t *put_ts(uint8_t *o, const struct scps_seg *s, unsigned a, unsigned b)
{
    o = put_word(o, WORD(a, b, SCPS_OPT_TS, 10));
    o = put_word(o, s->tsval);
    return put_word(o, s->tsecr);
}

static inline uint8_t *put_sack(uint8_t *o, const struct scps_seg *s, size_t n)
{
    o = put_word(o, WORD(OPT_NOP, OPT_NOP, SCPS_OPT_SACK, 2 + 8 * n));
    for (size_t i = 0; i < n; i++) {
        o = put_word(o, s->sack[i].left);
        o = put_word(o, s->sack[i].right);
    }
    return o;
}

static uint8_t *put_wscale(uint8_t *o, const struct scps_seg *s)
{
    if (s->has & SCPS_HAS_WSCALE)
        o = put_word(o, WORD(OPT_NOP, SCPS_OPT_WSCALE, 3, s->wscale));
    return o;
}

size_t scps_tcpopt_build(uint8_t *p, const struct scps_seg *s)
{
    uint8_t *o = p;
    bool caps = s->has & SCPS_HAS_CAPS;

    /* Fast path: timestamps and SACK alone. */
    if (s->has == (SCPS_HAS_TS | SCPS_HAS_SACK) && s->nsack)
        return (size_t)(put_sack(put_ts(o, s, OPT_NOP, OPT_NOP), s, SCPS_MIN(s->nsack, 3)) - p);
    if (caps)
        o = scps_scpsopt_put_caps(o, s);
    if (s->has & SCPS_HAS_MSS)
        o = put_word(o, WORD(SCPS_OPT_MSS, 4, s->mss >> 8, s->mss & 255));
    if (caps)
        o = put_wscale(o, s);
    if (s->has & SCPS_HAS_BETS_OK)
        o = put_word(o, WORD(OPT_NOP, OPT_NOP, SCPS_OPT_BETS_OK, 2));
    if (s->has & SCPS_HAS_TS) {
        o = s->has & SCPS_HAS_SACK_OK ? put_ts(o, s, SCPS_OPT_SACK_OK, 2)
                                      : put_ts(o, s, OPT_NOP, OPT_NOP);
    } else if (s->has & SCPS_HAS_SACK_OK) {
        o = put_word(o, WORD(OPT_NOP, OPT_NOP, SCPS_OPT_SACK_OK, 2));
    }
    if (!caps)
        o = put_wscale(o, s);

    size_t room = (size_t)(OPT_ROOM - (o - p)), reports = 0;
    bool any = s->has & (SCPS_HAS_SNACK | SCPS_HAS_RECORD | SCPS_HAS_CORRUPTION);
    if (any)
        reports = scps_scpsopt_reports_len(s, room);
    if ((s->has & SCPS_HAS_SACK) && room - reports >= 12) {
        size_t n = SCPS_MIN(s->nsack, (room - reports - 4) / 8);
        n = SCPS_MIN(n, SCPS_SACK_MAX);
        if (n)
            o = put_sack(o, s, n);
    }
    if (any)
        o = scps_scpsopt_put_reports(o, room, s);
    return (size_t)(o - p);
}
