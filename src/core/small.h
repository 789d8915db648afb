/* SPDX-License-Identifier: MIT */
/* The application's settings that delay small segments (segments with less data than a full one),
 * and whether the application waits for room in the send buffer.
 *
 * Invariant: only this file assigns the fields.
 */
#ifndef SCPS_CORE_SMALL_H
#define SCPS_CORE_SMALL_H

#include <stdbool.h>
#include <stdint.h>

enum scps_small_bit {
    /* small segments do not wait for acknowledgements (Nagle's rule is off) */
    SCPS_SMALL_NODELAY = 1u << 0,
    /* small segments wait until this bit is cleared, but 200 ms at most (TCP_CORK) */
    SCPS_SMALL_CORK = 1u << 1,
    SCPS_SMALL_MORE =
        /* small segments wait as with SCPS_SMALL_CORK: the last write had the flag SCPS_MORE */
    1u << 2,
    /* all data written so far is sent now, whatever the other bits are */
    SCPS_SMALL_PUSH = 1u << 3
};

struct scps_small {
    uint8_t bits : 6; /* bits of enum scps_small_bit */
    /* 1: a write was cut short or refused, so the application must be informed when there is room
     * again */
    uint8_t wanted : 1;
    /* 1: a write, or the FIN, was refused memory. When memory may be free again, the application is
     * informed that it can write, or the FIN is sent */
    uint8_t starved : 1;
};

static inline void scps_small_set(struct scps_small *s, unsigned bit, bool on)
{
    s->bits = (on ? s->bits | bit : s->bits & ~bit) & 63;
}

static inline void scps_room_want(struct scps_small *s, bool wanted)
{
    s->wanted = wanted;
}
static inline void scps_room_starve(struct scps_small *s, bool starved)
{
    s->starved = starved;
}

#endif
