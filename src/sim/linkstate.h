/* SPDX-License-Identifier: MIT */
/* Functions that the files of a link direction share: link.c, linkconf.c, linkring.c,
 * linkheld.c. */
#ifndef SCPS_SIM_LINKSTATE_H
#define SCPS_SIM_LINKSTATE_H

#include "base/wide.h"
#include "sim/link.h"
#include "sim/plan.h"

/* Attributes of a function that is called rarely: it is not inlined, and branches to it count as
 * unlikely. */
#if defined(__GNUC__)
#define SCPS_SELDOM __attribute__((noinline, cold))
#else
#define SCPS_SELDOM
#endif

/* Time that one byte takes on the line, times the rate in bit/s: 8 bits times 10^6 µs per
 * second. */
#define SCPS_LINK_BITS_US UINT64_C(8000000)

/* Returns true if the link has outages. */
static inline bool scps_link_has_outages(const struct scps_link_config *c)
{
    return c->outages.n || c->outages.inverse;
}

/* Returns the time that `bytes` bytes take at a rate in bit/s, µs; rate 0: no time. */
static inline scps_time scps_link_line_time(uint64_t bytes, uint64_t rate)
{
    return rate ? (scps_time)scps_muldiv(bytes, SCPS_LINK_BITS_US, rate) : 0;
}

/* Sets the time from which the line of direction d is free: us + frac / rate, µs, where rate is the
 * rate of the line, bit/s. frac: fraction of a microsecond, as a numerator over that rate; less
 * than the rate. */
static inline void scps_link_set_free(struct scps_linkdir *d, scps_time us, uint64_t frac)
{
    d->free_us = us;
    d->free_frac = frac;
    d->idle_at = us + (frac > 0);
}

/* Frees memory with the direction's allocator; p may be NULL. */
static inline void scps_linkdir_give_back(struct scps_linkdir *d, void *p, size_t size)
{
    if (p)
        d->alloc.free(d->alloc.ctx, p, size);
}

/* Makes the buffer *buf, which has *cap bytes (0: not allocated yet), large enough for len bytes,
 * and for at least `least` bytes. Its contents are lost if it grows. Returns false, with nothing
 * changed, if there is no memory. */
static inline bool scps_linkdir_room(struct scps_linkdir *d, uint8_t **buf, uint32_t *cap,
                                     uint32_t len, uint32_t least)
{
    uint32_t size = len < least ? least : len;
    uint8_t *p;

    if (*cap >= len)
        return true;
    p = d->alloc.alloc(d->alloc.ctx, size);
    if (!p)
        return false;
    scps_linkdir_give_back(d, *buf, *cap);
    *buf = p;
    *cap = size;
    return true;
}

#endif
