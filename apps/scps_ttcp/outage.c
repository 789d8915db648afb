/* SPDX-License-Identifier: MIT */
/* Computes when a link with a table of outages is down. The spans of the table are the times in
 * which the link is down or, if `inverse` is true, those in which it is up. They repeat after
 * `period` µs; period 0: they do not repeat. */
#include "scps_ttcp/outage.h"

bool ttcp_outage_at(const struct scps_spans *s, scps_time t, scps_time *change)
{
    scps_time round = s->period > 0 ? t - t % s->period : 0, at = t - round;

    *change = SCPS_NEVER;
    if (s->n == 0)
        return false;
    for (uint32_t i = 0; i < s->n; i++) {
        if (at >= s->v[i].to)
            continue;
        if (at < s->v[i].from) {
            *change = round + s->v[i].from;
            return s->inverse;
        }
        *change = round + s->v[i].to;
        return !s->inverse;
    }
    if (s->period > 0)
        *change = round + s->period + s->v[0].from;
    return s->inverse;
}
