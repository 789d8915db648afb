/* SPDX-License-Identifier: MIT */
/* Measures how much data one direction has outstanding, and for how long the application, the
 * receiver's window or the congestion window limits its sending.
 *
 * Between two captured packets nothing changes: scps_tr_spend() adds the time between them to the
 * state that scps_tr_reckon() determined at the first of them. The functions are inline because
 * segment.c calls them for every packet.
 */
#ifndef SCPS_TRACE_HELD_H
#define SCPS_TRACE_HELD_H

#include "trace/flow.h"

/* Determines the payload of a full segment of direction h, bytes: the smaller MSS of the two SYNs
 * less 12 octets if timestamps are used, or the largest payload seen so far if that is smaller. o:
 * the opposite direction. If the capture was made on a host that leaves segmentation to its network
 * card (TSO), captured segments may be several times as long. */
static inline void scps_tr_full_segment(struct conn_dir *h, const struct conn_dir *o)
{
    uint32_t mss = h->mss && h->mss < o->mss ? h->mss : o->mss, ts = h->ts && o->ts ? 12 : 0;
    if (mss <= ts + 1 || h->max_seg < mss - ts)
        h->full = SCPS_MAX(h->max_seg, 1u);
    else
        h->full = mss - ts;
}

/* Called with the time dt, µs, from the last packet of the connection to the present one: adds dt
 * to h->share[h->limit], the total time for which this limit (application, window or congestion)
 * held back the sending of h. If data was outstanding, also adds dt to h->out_time, and dt times
 * the outstanding bytes to h->out_area. */
static inline void scps_tr_spend(struct conn_dir *h, scps_dur dt)
{
    h->share[h->limit] += dt;
    if (h->out_now) {
        h->out_area += (double)(int64_t)h->out_now * (double)dt;
        h->out_time += dt;
    }
}

/* Returns true if the windows that the receiver (direction o) announces must be larger than the
 * window field times the scale known here: a SYN was not captured, so the window scale is unknown
 * (RFC 7323 section 2.2), and h has sent more than a segment beyond the window. */
static inline bool scps_tr_window_unknown(const struct conn_dir *h, const struct conn_dir *o)
{
    return !(h->syn_count && o->syn_count) && h->sent_hi > o->win_edge + h->full;
}

/* Called after each packet: determines how many bytes direction h has outstanding, and what limits
 * its sending from now on (h->limit). o: the opposite direction, which acknowledges. */
static inline void scps_tr_reckon(struct conn_dir *h, const struct conn_dir *o)
{
    if (!h->data_pkts)
        return;
    uint64_t una = o->ack_hi ? o->ack_hi : h->isn64;
    uint64_t out = h->sent_hi > una ? h->sent_hi - una : 0;
    uint64_t room = o->win_edge > h->sent_hi ? o->win_edge - h->sent_hi : 0;
    h->out_now = out;
    h->out_max = SCPS_MAX(h->out_max, out);
    if (TR_UNLIKELY(h->fin_count) && out == 0)
        h->limit = LIMIT_NONE;
    else if (TR_UNLIKELY(room < h->full) && (out || room == 0) && !scps_tr_window_unknown(h, o))
        h->limit = LIMIT_WINDOW;
    else if (out == 0 || h->last_short)
        h->limit = LIMIT_APP;
    else
        h->limit = LIMIT_CONGESTION;
}

#endif
