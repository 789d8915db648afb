/* SPDX-License-Identifier: MIT */
/* A token bucket (RFC 2475 section 2.3.3.3) that determines when the next packet may be sent. A
 * connection has one for its pacing rate and two for its budget of acknowledgements, a route has
 * one for its rate and one for its minimum rate, and a network interface has one for replies. */
#ifndef SCPS_CORE_PACER_H
#define SCPS_CORE_PACER_H

#include <scps/types.h>
#include <stdbool.h>

#include "base/bytes.h"

#define SCPS_RATE_MAX (UINT64_C(1) << 43) /* largest rate of a token bucket, bytes/s */
/* number of units of the field `credit` that make one byte */
#define SCPS_PACER_UNIT INT64_C(1000000)
/* Limit of the time since the last update of a bucket, µs: for a shorter time the product with the
 * rate cannot overflow 64 bits. For a longer one scps_pacer_earn() has to divide instead. */
#define SCPS_PACER_SOON (UINT64_MAX / SCPS_RATE_MAX)

struct scps_pacer {
    uint64_t rate;  /* rate, bytes/s; 0: no limit */
    uint32_t burst; /* size of the bucket, bytes */
    /* time of the last update of `credit`, µs */
    scps_time at;
    /* level of the token bucket, millionths of a byte; negative: a packet cost more than the bucket
     * held, and nothing may be sent until the rate has raised the level again */
    int64_t credit;
};

void scps_pacer_change(struct scps_pacer *p, scps_time now, uint64_t rate, uint32_t burst);
/* Sets rate, bytes/s, and size, bytes, of the token bucket. A bucket that had no limit before (rate
 * 0) is full; otherwise the level is kept, up to burst. */
static inline void scps_pacer_set(struct scps_pacer *p, scps_time now, uint64_t rate,
                                  uint32_t burst)
{
    if (p->rate != rate || p->burst != burst)
        scps_pacer_change(p, now, rate, burst);
}
/* Adds to the token bucket what the rate has yielded since the last update, up to `burst`. */
static inline void scps_pacer_earn(struct scps_pacer *p, scps_time now)
{
    int64_t full = p->burst * SCPS_PACER_UNIT;
    uint64_t dt, missing;

    if (now <= p->at)
        return;
    dt = (uint64_t)(now - p->at);
    p->at = now;
    if (p->credit >= full)
        return;
    missing = (uint64_t)(full - p->credit);
    if (dt < SCPS_PACER_SOON ? dt * p->rate >= missing : dt > missing / p->rate)
        p->credit = full;
    else
        p->credit += (int64_t)(dt * p->rate);
}
/* Returns the earliest time, µs, at which the token bucket holds what a packet needs that costs
 * size bytes; p->at if it held as much at its last update. Precondition: there is a rate. */
static SCPS_INLINE_SPEED scps_time scps_pacer_due(const struct scps_pacer *p, uint32_t size)
{
    int64_t need = SCPS_MIN(size, p->burst) * SCPS_PACER_UNIT;

    if (p->credit >= need)
        return p->at;
    return p->at + (scps_time)(((uint64_t)(need - p->credit) + p->rate - 1) / p->rate);
}
/* Returns the earliest time, µs, at which a packet that costs size bytes may be sent; now or
 * earlier: at once. */
scps_time scps_pacer_when(struct scps_pacer *p, scps_time now, uint32_t size);
/* Returns true if the token bucket held at least `size` bytes at its last update. */
static inline bool scps_pacer_covers(const struct scps_pacer *p, uint32_t size)
{
    return p->credit >= (int64_t)size * SCPS_PACER_UNIT;
}
/* Returns true if a packet that costs `size` bytes may be sent although that lets the level of the
 * bucket fall to as much as `debt` bytes below 0, judged by its last update. */
static inline bool scps_pacer_lends(const struct scps_pacer *p, uint32_t size, uint32_t debt)
{
    return p->credit >= ((int64_t)SCPS_MIN(size, p->burst) - debt) * SCPS_PACER_UNIT;
}
/* Gives back the cost of a packet, up to a full bucket. */
static inline void scps_pacer_refund(struct scps_pacer *p, uint32_t size)
{
    p->credit = SCPS_MIN(p->credit + size * SCPS_PACER_UNIT, p->burst * SCPS_PACER_UNIT);
}
/* Subtracts the cost of a packet that was sent. If the bucket holds less, its level becomes
 * negative, and the next packet waits until the rate has made up for that. */
static SCPS_INLINE_SPEED void scps_pacer_spend(struct scps_pacer *p, uint32_t size)
{
    p->credit -= (int64_t)size * SCPS_PACER_UNIT;
}
/* Raises a negative level of the token bucket to 0: sending does not wait until the tokens that
 * earlier packets took in excess have been added. */
static inline void scps_pacer_forgive(struct scps_pacer *p)
{
    p->credit = SCPS_MAX(p->credit, 0);
}

#endif
