/* SPDX-License-Identifier: MIT */
/* IPV6CP: the interface identifiers of the two ends, which must differ (RFC 5072 section 4.1). */
#include "link/ipcp.h"

#include "base/bytes.h"

enum { OPT_INTERFACE_ID = 1 };

/* Returns a random interface identifier, never 0. Its universal/local bit is 0, because it is not
 * globally unique (RFC 5072 section 4.1). */
static uint64_t draw(struct scps_ip6cp *i)
{
    return (scps_prng_next(&i->cp.env->prng) & ~(UINT64_C(1) << 57)) | 1;
}

static size_t request(struct scps_cp *cp, uint8_t *out)
{
    struct scps_ip6cp *i = (struct scps_ip6cp *)cp;

    if (!i->ask_id)
        return 0;
    out[0] = OPT_INTERFACE_ID;
    out[1] = 10;
    scps_put64(out + 2, i->local);
    return 10;
}

static void judge_begin(struct scps_cp *cp)
{
    struct scps_ip6cp *i = (struct scps_ip6cp *)cp;

    i->offer = 0;
}

static enum scps_cp_verdict judge(struct scps_cp *cp, uint8_t type, const uint8_t *v, size_t n,
                                  uint8_t *nak, size_t *nak_n)
{
    struct scps_ip6cp *i = (struct scps_ip6cp *)cp;

    if (type != OPT_INTERFACE_ID || n != 8)
        return CP_REJ;
    i->offer = scps_get64(v);
    if (i->offer && i->offer != i->local)
        return CP_ACK;
    /* The peer has no identifier, or the same as this end, so a Configure-Nak proposes another
     * identifier to the peer (RFC 5072 section 4.1). */
    scps_put64(nak, draw(i));
    *nak_n = 8;
    return CP_NAK;
}

static void judge_end(struct scps_cp *cp)
{
    struct scps_ip6cp *i = (struct scps_ip6cp *)cp;

    i->remote = i->offer;
}

static bool naked(struct scps_cp *cp, uint8_t type, const uint8_t *v, size_t n)
{
    struct scps_ip6cp *i = (struct scps_ip6cp *)cp;

    if (type == OPT_INTERFACE_ID && n == 8)
        i->local = scps_get64(v) ? scps_get64(v) : draw(i);
    return true;
}

static bool rejected(struct scps_cp *cp, uint8_t type)
{
    struct scps_ip6cp *i = (struct scps_ip6cp *)cp;

    if (type == OPT_INTERFACE_ID)
        i->ask_id = false;
    return true;
}

static const struct scps_cp_ops ip6cp_ops = {.proto = PPP_IPV6CP,
                                             .request = request,
                                             .judge_begin = judge_begin,
                                             .judge = judge,
                                             .judge_end = judge_end,
                                             .naked = naked,
                                             .rejected = rejected};

void scps_ip6cp_init(struct scps_ip6cp *i, struct scps_cp_env *env)
{
    scps_cp_init(&i->cp, &ip6cp_ops, env);
    scps_ip6cp_begin(i);
}

void scps_ip6cp_begin(struct scps_ip6cp *i)
{
    i->local = scps_get64(i->cp.env->cfg->interface_id);
    if (!i->local)
        i->local = draw(i);
    i->remote = 0;
    i->ask_id = true;
}
