/* SPDX-License-Identifier: MIT */
/* The size of a full segment: what both SYNs and the path settle, less the options of a segment. */
#include "core/conn.h"

#include "base/bytes.h"

uint32_t scps_negotiate_overhead(const struct scps_conn *c)
{
    return c->flags & SCPS_F_TS ? 12 : 0;
}

int32_t scps_negotiate_less(const struct scps_conn *c)
{
    if (c->caps & SCPS_CAP_COM)
        return c->flags & SCPS_F_TS ? -4 : -12;
    return (int32_t)scps_negotiate_overhead(c);
}

void scps_conn_set_pmtu_mss(struct scps_conn *c, uint32_t mss)
{
    int32_t less = c->unheard ? (int32_t)scps_negotiate_overhead(c) : scps_negotiate_less(c);
    int64_t full = mss;

    if (c->peer_mss)
        full = SCPS_MIN(full, c->peer_mss);
    if (c->ctx.cfg->c.mss)
        full = SCPS_MIN(full, c->ctx.cfg->c.mss);
    full = SCPS_MAX(full - less, 8);
    if (c->tx && full < c->mss && scps_sb_count(&c->tx->sb)) {
        /* with compressed headers room for the FIN of the last piece, too */
        int64_t piece = c->caps & SCPS_CAP_COM ? SCPS_MAX(full - 16, 8) : full;
        if (scps_sb_resegment(&c->tx->sb, &c->ctx.env->alloc, (uint32_t)piece))
            return; /* no memory: as it was */
    }
    c->pmtu_mss = (uint16_t)SCPS_MIN(mss, UINT16_MAX);
    c->mss = (uint16_t)SCPS_MIN(full, UINT16_MAX);
}
