/* SPDX-License-Identifier: MIT */
/* Options and codes of the Link Control Protocol.
 *
 * Detection of a looped line (a line that returns what this end sends): each end puts a random
 * magic number into its Configure-Requests. A request that arrives with this end's own number comes
 * either from a peer that drew the same number, or from this end itself over a looped line. This
 * end answers such a request with a Configure-Nak that proposes another number. A real peer then
 * draws a new number; on a looped line, each request that arrives has the number that this end sent
 * last (RFC 1661 section 6.4).
 *
 * Authentication and quality monitoring are not supported, and are rejected.
 */
#include "link/lcp.h"

#include <string.h>

#include "base/bytes.h"

enum { /* types of LCP's configuration options (RFC 1661 section 6, RFC 1662 section 7.1) */
       OPT_MRU = 1,
       OPT_ACCM = 2,
       OPT_AUTH = 3,
       OPT_MAGIC = 5,
       OPT_PFC = 7,
       OPT_ACFC = 8
};

#define MRU_DEFAULT 1500

static uint32_t draw(struct scps_lcp *l)
{
    /* A magic number is random and never 0. */
    return (uint32_t)scps_prng_below(&l->cp.env->prng, UINT32_MAX) + 1;
}

static size_t put_option(uint8_t *out, uint8_t type, uint32_t v, size_t n)
{
    out[0] = type;
    out[1] = (uint8_t)(2 + n);
    if (n == 2)
        scps_put16(out + 2, (uint16_t)v);
    else if (n == 4)
        scps_put32(out + 2, v);
    return 2 + n;
}

static size_t request(struct scps_cp *cp, uint8_t *out)
{
    struct scps_lcp *l = (struct scps_lcp *)cp;
    size_t n = 0;

    if (l->ask_mru && l->mine.mru != MRU_DEFAULT)
        n += put_option(out + n, OPT_MRU, l->mine.mru, 2);
    if (l->ask_accm)
        n += put_option(out + n, OPT_ACCM, l->mine.accm, 4);
    if (l->ask_magic)
        n += put_option(out + n, OPT_MAGIC, l->mine.magic, 4);
    if (l->ask_pfc)
        n += put_option(out + n, OPT_PFC, 0, 0);
    if (l->ask_acfc)
        n += put_option(out + n, OPT_ACFC, 0, 0);
    return n;
}

static void judge_begin(struct scps_cp *cp)
{
    struct scps_lcp *l = (struct scps_lcp *)cp;

    l->offer = (struct scps_lcp_side){.mru = MRU_DEFAULT, .accm = UINT32_MAX};
    l->auth_wanted = false;
}

static enum scps_cp_verdict judge_magic(struct scps_lcp *l, const uint8_t *v, uint8_t *nak,
                                        size_t *nak_n)
{
    uint32_t magic = scps_get32(v);
    bool own = l->ask_magic && magic == l->mine.magic;

    l->loops = own ? l->loops + 1 : 0;
    l->offer.magic = magic;
    if (magic && !own)
        return CP_ACK;
    l->nak_magic = draw(l);
    scps_put32(nak, l->nak_magic);
    *nak_n = 4;
    return CP_NAK;
}

static enum scps_cp_verdict judge(struct scps_cp *cp, uint8_t type, const uint8_t *v, size_t n,
                                  uint8_t *nak, size_t *nak_n)
{
    struct scps_lcp *l = (struct scps_lcp *)cp;

    switch (type) {
    case OPT_MRU:
        if (n != 2)
            return CP_REJ;
        l->offer.mru = scps_get16(v);
        if (l->offer.mru >= SCPS_PPP_MRU_MIN)
            return CP_ACK;
        scps_put16(nak, SCPS_PPP_MRU_MIN);
        *nak_n = 2;
        return CP_NAK;
    case OPT_ACCM:
        if (n != 4)
            return CP_REJ;
        l->offer.accm = scps_get32(v);
        return CP_ACK;
    case OPT_MAGIC:
        return n == 4 ? judge_magic(l, v, nak, nak_n) : CP_REJ;
    case OPT_PFC:
    case OPT_ACFC:
        if (n != 0 || !cp->env->cfg->compress_fields)
            return CP_REJ;
        *(type == OPT_PFC ? &l->offer.pfc : &l->offer.acfc) = true;
        return CP_ACK;
    case OPT_AUTH:
        l->auth_wanted = true;
        return CP_REJ;
    default:
        return CP_REJ;
    }
}

static void judge_end(struct scps_cp *cp)
{
    struct scps_lcp *l = (struct scps_lcp *)cp;

    l->peer = l->offer;
}

static bool naked(struct scps_cp *cp, uint8_t type, const uint8_t *v, size_t n)
{
    struct scps_lcp *l = (struct scps_lcp *)cp;

    if (type == OPT_MRU && n == 2) {
        uint32_t mru = scps_get16(v);
        if (mru >= SCPS_PPP_MRU_MIN && mru < cp->env->cfg->mru)
            l->mine.mru = mru;
    } else if (type == OPT_ACCM && n == 4) {
        l->mine.accm |= scps_get32(v);
    } else if (type == OPT_MAGIC && n == 4) {
        l->mine.magic = draw(l);
    }
    /* Values that the Configure-Nak of the peer proposes for other options are ignored. */
    return true;
}

static bool rejected(struct scps_cp *cp, uint8_t type)
{
    struct scps_lcp *l = (struct scps_lcp *)cp;

    switch (type) {
    case OPT_MRU:
        l->ask_mru = false;
        break;
    case OPT_ACCM:
        l->ask_accm = false;
        l->mine.accm = UINT32_MAX;
        break;
    case OPT_MAGIC:
        l->ask_magic = false;
        l->mine.magic = 0;
        break;
    case OPT_PFC:
        l->ask_pfc = false;
        break;
    case OPT_ACFC:
        l->ask_acfc = false;
        break;
    }
    return true;
}

/* ---- functions that process the codes that only LCP has, such as Echo-Request ---- */

static void echo_reply(struct scps_lcp *l, uint32_t magic)
{
    if (magic && magic == l->mine.magic) {
        l->echo_looped = true;
        l->cp.env->drops[SCPS_PPP_DROP_LOOPED]++;
        return;
    }
    l->echo_lost = 0;
    l->echoes_answered++;
}

static void echo_request(struct scps_lcp *l, uint8_t id, const uint8_t *p, size_t n)
{
    uint8_t *out = l->cp.env->scratch;

    if (l->mine.magic && scps_get32(p) == l->mine.magic) {
        l->echo_looped = true;
        l->cp.env->drops[SCPS_PPP_DROP_LOOPED]++;
        return;
    }
    n = SCPS_MIN(n, SCPS_MIN(SCPS_CP_PACKET, l->peer.mru) - 4);
    memcpy(out, p, n);
    scps_put32(out, l->mine.magic);
    scps_cp_send(&l->cp, CP_ECHO_REPLY, id, out, n);
}

static bool extra(struct scps_cp *cp, uint8_t code, uint8_t id, const uint8_t *p, size_t n)
{
    struct scps_lcp *l = (struct scps_lcp *)cp;

    if (code < CP_PROTO_REJ || code > CP_DISCARD)
        return false;
    if (!scps_cp_is_open(cp))
        cp->env->drops[SCPS_PPP_DROP_UNEXPECTED]++;
    else if (n < (code == CP_PROTO_REJ ? 2u : 4u))
        cp->env->drops[SCPS_PPP_DROP_CONTROL]++;
    else if (code == CP_PROTO_REJ)
        l->proto_rejected(l, scps_get16(p));
    else if (code == CP_ECHO_REQ)
        echo_request(l, id, p, n);
    else if (code == CP_ECHO_REPLY)
        echo_reply(l, scps_get32(p));
    return true;
}

static const struct scps_cp_ops lcp_ops = {.proto = PPP_LCP,
                                           .request = request,
                                           .judge_begin = judge_begin,
                                           .judge = judge,
                                           .judge_end = judge_end,
                                           .naked = naked,
                                           .rejected = rejected,
                                           .extra = extra};

void scps_lcp_init(struct scps_lcp *l, struct scps_cp_env *env)
{
    scps_cp_init(&l->cp, &lcp_ops, env);
    l->echo_at = SCPS_NEVER;
    scps_lcp_begin(l);
}

void scps_lcp_begin(struct scps_lcp *l)
{
    const struct scps_ppp_config *cfg = l->cp.env->cfg;

    l->mine = (struct scps_lcp_side){.mru = cfg->mru, .accm = cfg->accm, .magic = draw(l)};
    l->peer = (struct scps_lcp_side){.mru = MRU_DEFAULT, .accm = UINT32_MAX};
    l->ask_mru = l->ask_accm = l->ask_magic = true;
    l->ask_pfc = l->ask_acfc = cfg->compress_fields;
    l->loops = l->echo_lost = 0;
    l->echo_looped = false;
}

bool scps_lcp_echo(struct scps_lcp *l)
{
    const struct scps_ppp_config *cfg = l->cp.env->cfg;
    uint8_t magic[4];

    if (l->echo_lost >= cfg->echo_failures)
        return false;
    scps_put32(magic, l->mine.magic);
    if (scps_cp_send(&l->cp, CP_ECHO_REQ, ++l->cp.other_id, magic, sizeof magic))
        l->echoes_sent++;
    l->echo_lost++;
    l->echo_at = l->cp.env->now + cfg->echo_interval;
    return true;
}

void scps_lcp_reject_protocol(struct scps_lcp *l, uint16_t proto, const uint8_t *p, size_t n)
{
    uint8_t *out = l->cp.env->scratch;
    size_t room = SCPS_MIN(SCPS_CP_PACKET, l->peer.mru) - 6;

    n = SCPS_MIN(n, room);
    scps_put16(out, proto);
    memcpy(out + 2, p, n);
    scps_cp_send(&l->cp, CP_PROTO_REJ, ++l->cp.other_id, out, 2 + n);
}
