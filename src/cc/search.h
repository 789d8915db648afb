/* SPDX-License-Identifier: MIT */
/* SEARCH, "Slow start Exit At Right CHokepoint" (draft-chung-ccwg-search): ends slow start when
 * less arrives than was sent a round trip before.
 *
 *   sent in a window  ________________           what arrives in a window of the same length that
 *   ending an RTT ago |___|___|___|___|          ends now is as much, while the path keeps up;
 *   arrived in a window ending now  |___|___|    a quarter less: the rest waits in a queue
 *
 * Time is divided into bins of 0.35 of the first round trip; a window is ten of them. A single
 * longer round trip, as with jitter, hardly changes the two sums.
 */
#ifndef SCPS_CC_SEARCH_H
#define SCPS_CC_SEARCH_H

#include <scps/cc.h>

enum {
    /* number of bins (intervals of time) in a window: the period for which the bytes that arrived
     * are compared with those sent a round trip before (not the congestion window) */
    SCPS_SEARCH_W = 10,
    SCPS_SEARCH_EXTRA = 15, /* number of additional bins stored, to look back by one round trip */
    SCPS_SEARCH_ACKED_BINS = SCPS_SEARCH_W + 1,
    SCPS_SEARCH_SENT_BINS = SCPS_SEARCH_ACKED_BINS + SCPS_SEARCH_EXTRA,
    SCPS_SEARCH_UNIT = 256 /* unit of the stored totals of bytes, in bytes */
};

struct scps_search {
    scps_time bin_end; /* end of the bin in progress, µs */
    /* length of a bin (an interval of time), µs; 0: nothing has been acknowledged yet */
    scps_dur bin;
    uint64_t sent;  /* bytes sent since the connection began, as of the last ACK */
    uint32_t index; /* number of the bin in progress, counted from 0 */
    /* Rings of totals since the connection began, in units of SCPS_SEARCH_UNIT, modulo 2^32: bytes
     * acknowledged (acked_by) and bytes sent (sent_by) by the end of each of the latest bins. */
    uint32_t acked_by[SCPS_SEARCH_ACKED_BINS], sent_by[SCPS_SEARCH_SENT_BINS];
};

/* Called on every ACK in slow start. Returns true when slow start should end. */
bool scps_search_ack(struct scps_search *se, const struct scps_cc_view *v,
                     const struct scps_cc_ack *a);

#endif
