/* SPDX-License-Identifier: MIT */
/* Time stamps (RFC 7323): ours, and the one of the peer's that is echoed and judges segments
 * (PAWS).
 *
 * Invariant: recent never goes back while it is valid, which is 24 days.  Only this file assigns
 * the fields.
 */
#ifndef SCPS_CORE_TS_H
#define SCPS_CORE_TS_H

#include <scps/types.h>
#include <scps/wire.h>

#define SCPS_TS_TICK SCPS_MS(1) /* of our clock */

struct scps_ts {
    uint32_t recent;    /* TS.Recent */
    uint32_t recent_at; /* when it was taken, by scps_ts_clock */
    uint32_t offset;    /* of our clock, so that connections do not tell each other's age */
};

static inline void scps_ts_begin(struct scps_ts *t, uint32_t offset)
{
    t->offset = offset;
}
/* TSval of a segment that leaves now. */
static inline uint32_t scps_ts_value(const struct scps_ts *t, scps_time now)
{
    return (uint32_t)((uint64_t)now / 1000) + t->offset;
}
/* In 2^20 µs, about a second: for an age of weeks. */
static inline uint32_t scps_ts_clock(scps_time now)
{
    return (uint32_t)((uint64_t)now >> 20);
}
static inline void scps_ts_take(struct scps_ts *t, uint32_t tsval, scps_time now)
{
    t->recent = tsval;
    t->recent_at = scps_ts_clock(now);
}
static inline bool scps_ts_is_older(const struct scps_ts *t, uint32_t tsval)
{
    return (int32_t)(tsval - t->recent) < 0;
}
/* RFC 7323 section 5.3, R1, and section 5.5 on outdated time stamps. */
static inline bool scps_ts_rejects(const struct scps_ts *t, const struct scps_seg *seg,
                                   scps_time now)
{
    return scps_ts_is_older(t, seg->tsval) && !(seg->flags & SCPS_RST) &&
           scps_ts_clock(now) - t->recent_at < SCPS_SEC(INT64_C(24) * 86400) >> 20;
}
/* How long ago the segment left that the peer echoes. */
static inline scps_dur scps_ts_age(const struct scps_ts *t, uint32_t tsecr, scps_time now)
{
    return (scps_dur)(scps_ts_value(t, now) - tsecr) * SCPS_TS_TICK;
}

#endif
