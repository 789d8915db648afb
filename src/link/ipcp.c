/* SPDX-License-Identifier: MIT */
/* IPCP: addresses, and whether the peer accepts compressed TCP/IP headers.
 *
 * An option in a Configure-Request says what the sender of the request has or accepts. So the
 * option IP-Address in the peer's request is the peer's own address, and IP-Compression-Protocol in
 * it says what this end may send (RFC 1332 sections 3.2, 3.3 and 4).
 */
#include "link/ipcp.h"

#include <scps/vjcomp.h>

#include "base/bytes.h"

enum { OPT_COMPRESSION = 2, OPT_ADDRESS = 3 };

static uint32_t address_of(const struct scps_addr *a)
{
    return a->family == 4 ? scps_get32(a->b) : 0;
}

static size_t request(struct scps_cp *cp, uint8_t *out)
{
    struct scps_ipcp *i = (struct scps_ipcp *)cp;
    size_t n = 0;

    if (i->ask_addr) {
        out[0] = OPT_ADDRESS;
        out[1] = 6;
        scps_put32(out + 2, i->local);
        n = 6;
    }
    if (i->ask_vj) {
        out[n] = OPT_COMPRESSION;
        out[n + 1] = 6;
        scps_put16(out + n + 2, SCPS_PPP_VJ_COMPRESSED);
        /* Max-Slot-Id is the number, counted from 0, of the last slot (state of one TCP connection)
         * of this end's decompressor. */
        out[n + 4] = (uint8_t)(cp->env->cfg->vj_slots - 1);
        out[n + 5] = 1; /* Comp-Slot-Id 1: compressed packets may omit the slot's number */
        n += 6;
    }
    return n;
}

static void judge_begin(struct scps_cp *cp)
{
    struct scps_ipcp *i = (struct scps_ipcp *)cp;

    i->offer_remote = 0;
    i->offer_vj = false;
}

static enum scps_cp_verdict judge_address(struct scps_ipcp *i, const uint8_t *v, uint8_t *nak,
                                          size_t *nak_n)
{
    uint32_t want = address_of(&i->cp.env->cfg->remote);

    i->offer_remote = scps_get32(v);
    if (i->offer_remote && (!i->cp.env->cfg->remote_strict || i->offer_remote == want))
        return CP_ACK;
    if (!want)
        /* The peer asks for an address, and the configuration has none for it, so the option is
         * rejected. */
        return CP_REJ;
    scps_put32(nak, want);
    *nak_n = 4;
    return CP_NAK;
}

static enum scps_cp_verdict judge_compression(struct scps_ipcp *i, const uint8_t *v, size_t n,
                                              uint8_t *nak, size_t *nak_n)
{
    if (!i->cp.env->cfg->vj)
        return CP_REJ;
    if (n == 4 && scps_get16(v) == SCPS_PPP_VJ_COMPRESSED) {
        i->offer_vj = true;
        i->offer_slots = (uint8_t)(SCPS_MIN(v[2], SCPS_VJ_SLOTS - 1) + 1);
        i->offer_say = v[3] == 0;
        return CP_ACK;
    }
    scps_put16(nak, SCPS_PPP_VJ_COMPRESSED);
    nak[2] = SCPS_VJ_SLOTS - 1;
    nak[3] = 1;
    *nak_n = 4;
    return CP_NAK;
}

static enum scps_cp_verdict judge(struct scps_cp *cp, uint8_t type, const uint8_t *v, size_t n,
                                  uint8_t *nak, size_t *nak_n)
{
    struct scps_ipcp *i = (struct scps_ipcp *)cp;

    if (type == OPT_ADDRESS && n == 4)
        return judge_address(i, v, nak, nak_n);
    if (type == OPT_COMPRESSION && n >= 2)
        return judge_compression(i, v, n, nak, nak_n);
    return CP_REJ;
}

static void judge_end(struct scps_cp *cp)
{
    struct scps_ipcp *i = (struct scps_ipcp *)cp;

    i->remote = i->offer_remote;
    i->vj_tx = i->offer_vj;
    i->vj_slots = i->offer_slots;
    i->always_say = i->offer_say;
}

/* Called for an option in the peer's Configure-Nak, in which the peer proposes another value.
 * Always returns true: IPCP goes on. IP-Address: this end takes the proposed address if none is
 * configured for it; otherwise it asks for the configured one again, which the peer may accept at
 * last. Options other than IP-Address and IP-Compression-Protocol are ignored. */
static bool naked(struct scps_cp *cp, uint8_t type, const uint8_t *v, size_t n)
{
    struct scps_ipcp *i = (struct scps_ipcp *)cp;

    if (type == OPT_ADDRESS && n == 4) {
        if (!address_of(&cp->env->cfg->local))
            i->local = scps_get32(v);
        else if (scps_get32(v) != i->local)
            i->addr_refused = true;
    } else if (type == OPT_COMPRESSION) {
        /* The peer may propose another number of slots, which is ignored. If it proposes another
         * protocol or another length, this end no longer asks for compression. */
        if (n != 4 || scps_get16(v) != SCPS_PPP_VJ_COMPRESSED)
            i->ask_vj = false;
    }
    return true;
}

static bool rejected(struct scps_cp *cp, uint8_t type)
{
    struct scps_ipcp *i = (struct scps_ipcp *)cp;

    if (type == OPT_COMPRESSION)
        i->ask_vj = false;
    if (type == OPT_ADDRESS) {
        i->ask_addr = false;
        /* The peer has rejected the option IP-Address. Then this end uses its address without the
         * peer's consent; IPv4 is impossible if this end has no address, or if the peer has
         * proposed another one than the configured one before. */
        return i->local != 0 && !i->addr_refused;
    }
    return true;
}

static const struct scps_cp_ops ipcp_ops = {.proto = PPP_IPCP,
                                            .request = request,
                                            .judge_begin = judge_begin,
                                            .judge = judge,
                                            .judge_end = judge_end,
                                            .naked = naked,
                                            .rejected = rejected};

void scps_ipcp_init(struct scps_ipcp *i, struct scps_cp_env *env)
{
    scps_cp_init(&i->cp, &ipcp_ops, env);
    scps_ipcp_begin(i);
}

void scps_ipcp_begin(struct scps_ipcp *i)
{
    i->local = address_of(&i->cp.env->cfg->local);
    i->remote = 0;
    i->ask_addr = true;
    i->ask_vj = i->cp.env->cfg->vj;
    i->addr_refused = i->vj_tx = false;
}
