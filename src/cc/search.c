/* SPDX-License-Identifier: MIT */
/* SEARCH ends slow start when fewer bytes arrive in a time window than were sent in the window one
 * RTT before; search.h has a drawing.
 *
 * Source: draft-chung-ccwg-search-09; its abstract and constants were read in the draft's pages and
 * in an implementation that follows it step by step: windows of 3.5 initial round trips, which have
 * ten bins (intervals of time) each; 15 older bins, to look back by one round trip; a threshold of
 * 0.26; and a comparison with what was sent instead of with twice what was delivered.
 *
 * Differences from the draft, with reasons:
 * - The bytes sent are computed as those that have arrived, are in flight or were lost, so that no
 *   call is needed for each segment.
 * - The smoothed round trip is used to look back: with 50 ms of jitter on 600 ms, the newest sample
 *   ended slow start in the first rounds in one of twenty transfers, which then took four times as
 *   long.
 * - If no ACK comes during a whole window, the sums begin anew (the draft's option for missed
 *   bins).
 * - The draft then drains the queue to the amount that the path carries. Here slow start ends, and
 *   the window stays: with jitter the smallest round trip is far below the usual one, so a drained
 *   window carried too little (docs/CONTROLLERS.md).
 */
#include "cc/search.h"

#include <string.h>

#include "base/bytes.h"

enum { WINDOW_PERCENT = 350, THRESH_PERCENT = 26 };

static uint32_t units(uint64_t bytes)
{
    return (uint32_t)(bytes / SCPS_SEARCH_UNIT);
}

static SCPS_NOINLINE_SIZE void begin(struct scps_search *se, scps_dur rtt, uint64_t acked,
                                     uint64_t sent, scps_time now)
{
    memset(se, 0, sizeof *se);
    se->bin = SCPS_MAX(rtt * WINDOW_PERCENT / 100 / SCPS_SEARCH_W, 1);
    se->bin_end = now + se->bin;
    se->acked_by[0] = units(acked);
    se->sent_by[0] = units(sent);
    se->sent = sent;
}

/* Called when `passed` bins (intervals of time) have begun since the last ACK: gives the passed - 1
 * bins without an ACK the totals of the bin of the last ACK, and sets the totals of the bin in
 * progress. */
static void pass_bins(struct scps_search *se, uint32_t passed, uint64_t acked, uint64_t sent)
{
    const uint32_t acked_was = se->acked_by[se->index % SCPS_SEARCH_ACKED_BINS];
    const uint32_t sent_was = se->sent_by[se->index % SCPS_SEARCH_SENT_BINS];

    for (uint32_t i = se->index + 1; i < se->index + passed; i++) {
        se->acked_by[i % SCPS_SEARCH_ACKED_BINS] = acked_was;
        se->sent_by[i % SCPS_SEARCH_SENT_BINS] = sent_was;
    }
    se->index += passed;
    se->bin_end += (scps_dur)passed * se->bin;
    se->acked_by[se->index % SCPS_SEARCH_ACKED_BINS] = units(acked);
    se->sent_by[se->index % SCPS_SEARCH_SENT_BINS] = units(sent);
}

static uint64_t acked_in_window(const struct scps_search *se)
{
    return se->acked_by[se->index % SCPS_SEARCH_ACKED_BINS] -
           se->acked_by[(se->index - SCPS_SEARCH_W) % SCPS_SEARCH_ACKED_BINS];
}

/* Returns the bytes sent in the ten bins (intervals of time) that ended with bin `to`, in units of
 * SCPS_SEARCH_UNIT. */
static uint64_t sent_until(const struct scps_search *se, uint32_t to)
{
    return se->sent_by[to % SCPS_SEARCH_SENT_BINS] -
           se->sent_by[(to - SCPS_SEARCH_W) % SCPS_SEARCH_SENT_BINS];
}

/* Returns true if at least 26 % less has arrived in the last window (ten bins) than was sent in a
 * window of the same length that ended a round trip before. */
static bool falls_behind(const struct scps_search *se, scps_dur rtt)
{
    uint64_t back = (uint64_t)rtt / (uint64_t)se->bin, rest = (uint64_t)rtt % (uint64_t)se->bin;
    uint64_t now = acked_in_window(se), before;
    uint32_t to = se->index - (uint32_t)SCPS_MIN(back, se->index);

    /* There is no result if the bins before `to`, the bin of one round trip ago, do not fill a
     * window (SCPS_SEARCH_W bins), or if the RTT reaches further back than the stored bins. */
    if (to <= SCPS_SEARCH_W || back >= SCPS_SEARCH_EXTRA)
        return false;
    before = (sent_until(se, to - 1) * rest + sent_until(se, to) * ((uint64_t)se->bin - rest)) /
             (uint64_t)se->bin;
    return before > now && (before - now) * 100 >= before * THRESH_PERCENT;
}

bool scps_search_ack(struct scps_search *se, const struct scps_cc_view *v,
                     const struct scps_cc_ack *a)
{
    const uint64_t sent = v->delivered + v->inflight + v->lost;
    const scps_dur rtt = v->srtt > 0 ? v->srtt : a->rtt;
    uint64_t passed;

    if (rtt <= 0)
        return false;
    if (!se->bin || sent < se->sent) {
        begin(se, rtt, v->delivered, sent, v->now);
        return false;
    }
    se->sent = sent;
    if (v->now <= se->bin_end)
        return false;
    passed = (uint64_t)(v->now - se->bin_end) / (uint64_t)se->bin + 1;
    if (passed > SCPS_SEARCH_W) {
        begin(se, rtt, v->delivered, sent, v->now);
        return false;
    }
    pass_bins(se, (uint32_t)passed, v->delivered, sent);
    return falls_behind(se, rtt);
}
