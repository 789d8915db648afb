/* SPDX-License-Identifier: MIT */
/* Records whether a valid segment has arrived since the last keep-alive probe, and since the last
 * window probe. A segment that arrives answers both kinds of probe, but the two last probes were
 * sent at different times, so each kind has a bit of its own. */
#ifndef SCPS_CORE_HEARD_H
#define SCPS_CORE_HEARD_H

#include <stdbool.h>

struct scps_heard {
    bool keep : 1;    /* a segment has arrived since the last keep-alive probe */
    bool persist : 1; /* a segment has arrived since the last window probe */
};

static inline void scps_heard_now(struct scps_heard *h)
{
    *h = (struct scps_heard){true, true};
}
static inline void scps_heard_since_keep(struct scps_heard *h)
{
    h->keep = false;
}
static inline void scps_heard_since_persist(struct scps_heard *h)
{
    h->persist = false;
}

#endif
