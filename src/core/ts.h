/* SPDX-License-Identifier: MIT */
/* Timestamps (RFC 7323): this end's timestamp clock, and TS.Recent, the peer's timestamp that is
 * echoed and checked by PAWS.
 *
 * Invariant: TS.Recent (`recent`) does not go back within 24 days after it was last stored
 * (recent_at). After that time it is outdated, and PAWS rejects no segment (RFC 7323 section 5.5).
 * Only this file assigns the fields of struct scps_ts.
 */
#ifndef SCPS_CORE_TS_H
#define SCPS_CORE_TS_H

#include <scps/types.h>
#include <scps/wire.h>

#include "base/bytes.h"

#define SCPS_TS_TICK SCPS_MS(1) /* period of the timestamp clock, µs */

struct scps_ts {
    /* TS.Recent (RFC 7323 section 4.3): the peer's timestamp that this end echoes */
    uint32_t recent;
    uint32_t recent_at; /* time at which `recent` was stored, in the unit of scps_ts_clock() */
    /* offset of the timestamp clock, different for each connection so that it does not show the
     * host's uptime */
    uint32_t offset;
};

static inline void scps_ts_begin(struct scps_ts *t, uint32_t offset)
{
    t->offset = offset;
}
/* Returns the TSval of a segment that is sent now. */
static inline uint32_t scps_ts_value(const struct scps_ts *t, scps_time now)
{
    return (uint32_t)((uint64_t)now / 1000) + t->offset;
}
/* Returns `now` in units of 2^20 µs, about a second, for scps_ts.recent_at: 32 bits are enough for
 * the time since TS.Recent was stored, which PAWS compares with 24 days. */
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
/* Returns true if PAWS rejects the segment (RFC 7323 section 5.3, R1, and RFC 7323 section 5.5
 * on outdated timestamps). */
static inline bool scps_ts_rejects(const struct scps_ts *t, const struct scps_seg *seg,
                                   scps_time now)
{
    return scps_ts_is_older(t, seg->tsval) && !(seg->flags & SCPS_RST) &&
           scps_ts_clock(now) - t->recent_at < SCPS_SEC(INT64_C(24) * 86400) >> 20;
}
/* Returns the time, µs, since this end sent the segment with the TSval `tsecr`, which the peer
 * echoes. */
static SCPS_INLINE_SPEED scps_dur scps_ts_age(const struct scps_ts *t, uint32_t tsecr,
                                              scps_time now)
{
    return (scps_dur)(scps_ts_value(t, now) - tsecr) * SCPS_TS_TICK;
}

#endif
