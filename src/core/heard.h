/* SPDX-License-Identifier: MIT */
/* Has something valid come since the last probe?  A bit for each kind of probe: an answer to one is
 * one to the other, but each asks since its own.
 */
#ifndef SCPS_CORE_HEARD_H
#define SCPS_CORE_HEARD_H

#include <stdbool.h>

struct scps_heard {
    bool keep : 1;    /* since the last keep-alive probe */
    bool persist : 1; /* since the last probe of a shut window */
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
