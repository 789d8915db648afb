/* SPDX-License-Identifier: MIT */
/* What the files of a link direction share: link.c, linkconf.c, linkring.c, linkheld.c. */
#ifndef SCPS_SIM_LINKSTATE_H
#define SCPS_SIM_LINKSTATE_H

#include "base/wide.h"
#include "sim/link.h"
#include "sim/plan.h"

/* A function that is called so rarely that its callers should not be laid out for it. */
#if defined(__GNUC__)
#define SCPS_SELDOM __attribute__((noinline, cold))
#else
#define SCPS_SELDOM
#endif

/* What one byte takes on the line, in units of 1/rate us. */
#define SCPS_LINK_BITS_US UINT64_C(8000000)

/* Is the link down at times? */
static inline bool scps_link_has_outages(const struct scps_link_config *c)
{
    return c->outages.n || c->outages.inverse;
}

/* The time that so many bytes take at a rate in bit/s; 0: no time. */
static inline scps_time scps_link_line_time(uint64_t bytes, uint64_t rate)
{
    return rate ? (scps_time)scps_muldiv(bytes, SCPS_LINK_BITS_US, rate) : 0;
}

/* Frees what the direction's allocator gave; p may be NULL. */
static inline void scps_linkdir_give_back(struct scps_linkdir *d, void *p, size_t size)
{
    if (p)
        d->alloc.free(d->alloc.ctx, p, size);
}

#endif
