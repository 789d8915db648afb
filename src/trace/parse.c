/* SPDX-License-Identifier: MIT */
/* Parsing of headers that few packets have: IPv6 with its extension headers, and TCP options. */
#include "trace/parse.h"

#include "wire/opt.h"

/* ---- functions that parse IPv6 headers, extension headers and the authentication header ---- */

#define EXT_HOP_BY_HOP  0
#define EXT_ROUTING     43
#define EXT_FRAGMENT    44
#define EXT_AUTH        SCPS_TR_PROTO_AUTH
#define EXT_DESTINATION 60
#define EXT_MOBILITY    135
/* largest number of IPv6 extension headers: a packet with more counts as malformed */
#define EXT_MAX 16

static bool is_extension(uint8_t next)
{
    return next == EXT_HOP_BY_HOP || next == EXT_ROUTING || next == EXT_FRAGMENT ||
           next == EXT_DESTINATION || next == EXT_AUTH || next == EXT_MOBILITY;
}

static uint32_t extension_len(uint8_t kind, const uint8_t *p)
{
    if (kind == EXT_FRAGMENT)
        return 8;
    return kind == EXT_AUTH ? (p[1] + 2u) * 4 : (p[1] + 1u) * 8;
}

bool scps_tr_parse_ip6(struct scps_trace *t, struct packet *k, uint32_t left, uint32_t *hdr)
{
    const uint8_t *p = k->ip;
    if (p[0] >> 4 != 6)
        return scps_tr_bad_ip(t);
    if (k->cap < 40)
        return scps_tr_cut_short(t);
    uint32_t plen = scps_get16(p + 4), at = 40;
    k->total = plen ? 40 + plen : left;
    k->version = 6;
    k->tos = (uint8_t)(p[0] << 4 | p[1] >> 4);
    uint8_t next = p[6];
    for (int i = 0; i < EXT_MAX && is_extension(next); i++) {
        if (at + 8 > k->cap)
            return scps_tr_cut_short(t);
        const uint8_t *ext = p + at;
        /* A packet with a fragment header, but neither an offset nor the flag "more fragments", is
         * complete (RFC 6946). */
        const uint32_t frag = next == EXT_FRAGMENT ? scps_get16(ext + 2) & 0xfff9u : 0;
        if (frag != 0 && !scps_tr_fragment(t, frag & 0xfff8))
            return false;
        at += extension_len(next, ext);
        next = ext[0];
    }
    k->proto = next;
    *hdr = at;
    return at <= k->total || scps_tr_bad_ip(t);
}

bool scps_tr_skip_auth(struct scps_trace *t, struct packet *k, uint32_t *hdr)
{
    if (*hdr + 8 > k->cap)
        return scps_tr_cut_short(t);
    const uint8_t *auth = k->ip + *hdr;
    k->proto = auth[0];
    *hdr += extension_len(EXT_AUTH, auth);
    return *hdr <= k->total || scps_tr_bad_ip(t);
}

void scps_tr_addresses(const struct packet *k, struct flow_key *key)
{
    memset(key, 0, sizeof *key);
    key->version = k->version;
    uint32_t n = k->version == 4 ? 4 : 16, at = k->version == 4 ? 12 : 8;
    memcpy(key->a, k->ip + at, n);
    memcpy(key->b, k->ip + at + n, n);
}

/* ---- functions that parse TCP options ---- */

static void parse_sack(const uint8_t *b, uint32_t len, struct opts *o)
{
    for (o->nsack = 0; len >= 8 && o->nsack < SCPS_SACK_MAX; b += 8, len -= 8) {
        o->sack[o->nsack].left = scps_get32(b);
        o->sack[o->nsack++].right = scps_get32(b + 4);
    }
}

/* Parses one TCP option of this kind, whose value has n bytes at b, into *o. Returns false if the
 * length is wrong for the kind. */
static SCPS_ALWAYS_INLINE bool parse_option(uint8_t kind, const uint8_t *b, uint32_t n,
                                            struct opts *o)
{
    switch (kind) {
    case SCPS_OPT_MSS:
        if (n != 4)
            return false;
        o->has_mss = true;
        o->mss = scps_get16(b);
        return true;
    case SCPS_OPT_WSCALE:
        if (n != 3)
            return false;
        o->has_ws = true;
        o->ws = b[0];
        return true;
    case SCPS_OPT_SACK_OK:
        o->sack_ok = true;
        return true;
    case SCPS_OPT_SACK:
        parse_sack(b, n - 2, o);
        return n >= 10 && (n - 2) % 8 == 0;
    case SCPS_OPT_TS:
        if (n != 10)
            return false;
        o->has_ts = true;
        o->tsval = scps_get32(b);
        o->tsecr = scps_get32(b + 4);
        return true;
    /* Of several capabilities options (length 4) the first one counts, of several extended ones
     * (longer) the length of the last. */
    case SCPS_OPT_CAPS:
        if (n > 4) {
            o->xcaps_len = (uint8_t)(n - 2);
        } else if (n == 4 && !o->caps) {
            o->caps = true;
            o->caps_bits = b[0];
            o->caps_id = b[1];
        }
        return n >= 4;
    case SCPS_OPT_SNACK:
        if (n < 6)
            return false;
        o->snack = true;
        o->snack_off = scps_get16(b);
        o->snack_size = scps_get16(b + 2);
        o->snack_vec = b + 4;
        o->snack_vec_len = (uint8_t)(n - 6);
        return true;
    case SCPS_OPT_RECORD:
        o->record |= n == 2;
        return n == 2;
    case SCPS_OPT_CORRUPTION:
        o->corruption |= n == 2;
        return n == 2;
    default:
        return true;
    }
}

void scps_tr_parse_options(const uint8_t *p, uint32_t len, uint32_t whole, struct opts *o)
{
    for (uint32_t i = 0; i < len;) {
        const uint8_t kind = p[i];
        if (kind == OPT_END)
            return;
        if (kind == OPT_NOP) {
            i++;
            continue;
        }
        const uint32_t n = i + 1 < len ? p[i + 1] : 2;
        if (n < 2 || i + n > whole) {
            o->bad = true;
            return;
        }
        if (i + n > len)
            return; /* The capture has only a part of the option. */
        if (!parse_option(kind, p + i + 2, n, o))
            o->bad = true;
        i += n;
    }
}
