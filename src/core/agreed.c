/* SPDX-License-Identifier: MIT */
/* Computes the payload of a full segment from the MSS that both SYNs announced and the path MTU,
 * less the options that each segment carries. */
#include "core/agreed.h"

#include "base/bytes.h"

int32_t scps_agreed_less(const struct scps_agreed *a)
{
    if (a->caps & SCPS_CAP_COM)
        return a->opts & SCPS_AGREED_TS ? -4 : -12;
    return (int32_t)scps_agreed_overhead(a);
}

uint32_t scps_agreed_full(const struct scps_agreed *a, uint32_t cfg_mss, uint32_t path)
{
    int32_t less =
        a->opts & SCPS_AGREED_TCP_HEADERS ? (int32_t)scps_agreed_overhead(a) : scps_agreed_less(a);
    int64_t full = path;

    if (a->peer_mss)
        full = SCPS_MIN(full, a->peer_mss);
    if (cfg_mss)
        full = SCPS_MIN(full, cfg_mss);
    return (uint32_t)SCPS_MAX(full - less, 8);
}

void scps_agreed_set_path(struct scps_agreed *a, uint32_t path, uint32_t full)
{
    a->pmtu_mss = (uint16_t)SCPS_MIN(path, UINT16_MAX);
    a->mss = (uint16_t)SCPS_MIN(full, UINT16_MAX);
}
