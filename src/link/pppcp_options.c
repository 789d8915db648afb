/* SPDX-License-Identifier: MIT */
/* The options of a peer's Configure-Request: checks them, and composes the Configure-Ack, -Nak or
 * -Reject that answers them (RFC 1661 sections 5.2 to 5.4). */
#include "link/pppcp.h"

#include <string.h>

#include "base/bytes.h"

bool scps_cp_well_formed(const uint8_t *p, size_t n)
{
    while (n) {
        if (n < 2 || p[1] < 2 || p[1] > n)
            return false;
        n -= p[1];
        p += p[1];
    }
    return true;
}

static void append(uint8_t *out, size_t *len, uint8_t type, const uint8_t *v, size_t n)
{
    /* An option in a Configure-Nak may be longer than the option of the request that it answers. If
     * it does not fit into the packet it is left out, and the peer's next request has it again. */
    if (*len + 2 + n > SCPS_CP_PACKET - 4)
        return;
    out[(*len)++] = type;
    out[(*len)++] = (uint8_t)(n + 2);
    memcpy(out + *len, v, n);
    *len += n;
}

enum scps_cp_code scps_cp_judge(struct scps_cp *cp, const uint8_t *p, size_t n, size_t *len)
{
    const uint8_t *const all = p, *const end = p + n;
    uint8_t *out = cp->env->scratch, nak[16];
    enum scps_cp_verdict worst = CP_ACK;
    bool give_up = cp->naks >= cp->env->cfg->max_failure;

    cp->ops->judge_begin(cp);
    *len = 0;
    for (; p < end; p += p[1]) {
        size_t nak_n = 0, value_n = (size_t)p[1] - 2;
        enum scps_cp_verdict v = cp->ops->judge(cp, p[0], p + 2, value_n, nak, &nak_n);

        if (v == CP_NAK && give_up)
            v = CP_REJ;
        if (v > worst) {
            worst = v;
            /* A Configure-Reject lists only rejected options, a Configure-Nak only those to
             * change. */
            *len = 0;
        }
        if (v == CP_ACK || v < worst)
            continue;
        if (v == CP_NAK)
            append(out, len, p[0], nak, nak_n);
        else
            append(out, len, p[0], p + 2, value_n);
    }
    if (worst == CP_ACK) {
        *len = SCPS_MIN(n, SCPS_CP_PACKET - 4);
        memcpy(out, all, *len);
        cp->ops->judge_end(cp);
        return CP_CONF_ACK;
    }
    return worst == CP_NAK ? CP_CONF_NAK : CP_CONF_REJ;
}
