/* SPDX-License-Identifier: MIT */
/* Loss detection by time, and tail loss probes (RFC 8985): rack.c. */
#ifndef SCPS_CORE_RACK_H
#define SCPS_CORE_RACK_H

#include "core/sender.h"

struct scps_rack {
    /* RACK.rtt, µs: RTT of the latest transmission known to have arrived; 0: none has */
    scps_dur rtt;
    /* RACK.reo_wnd_mult - 1: the reordering window is (steps + 1) quarters of the least RTT */
    uint8_t steps;
    /* RACK.reo_wnd_persist: recoveries without a DSACK until the window is reset (RFC 8985 section
     * 6.2) */
    uint8_t persist;
    /* true: a recovery episode was in progress at the previous acknowledgement */
    bool repairing;
    scps_off dsack_round;
    scps_time again; /* time, µs, at which another segment may be declared lost; 0: none can be */
    bool reordering_seen;
    /* kind of the tail loss probe that is outstanding: 1 new data, 2 a retransmission; 0: none */
    uint8_t probe;
    scps_off probe_end;
};

/* Records that a segment has arrived after another one that was sent later: RACK.reordering_seen
 * (RFC 8985 section 6.2 step 3). */
static inline void scps_rack_reordered(struct scps_rack *rk)
{
    rk->reordering_seen = true;
}
/* Called first for each acknowledgement, if RACK is in force: updates the reordering window. dup:
 * it is a duplicate acknowledgement; sacked: it has SACK blocks; repaired: it has ended a recovery
 * episode. Returns true if the tail loss probe has repaired a loss that no other rule has
 * detected. */
bool scps_rack_news(struct scps_sender *s, const struct scps_ack_result *sum, bool dup, bool sacked,
                    bool repaired);
/* Called second for each acknowledgement, if RACK is in force: declares lost the segments that the
 * acknowledgement shows to be lost. Returns the earliest time, µs, at which another segment becomes
 * old enough to be declared lost; 0: there is none. */
scps_time scps_rack_judge(struct scps_sender *s, struct scps_ack_result *sum);
/* Called at the time that scps_rack_judge() returned: declares lost the segments that are old
 * enough now. Returns the earliest time, µs, at which another one becomes old enough; 0: there is
 * none. */
scps_time scps_rack_look(struct scps_sender *s, struct scps_ack_result *sum);
/* Returns the time, µs, at which a tail loss probe is due, at most `most`; SCPS_NEVER: no probe
 * will be sent. */
scps_time scps_rack_probe_at(struct scps_sender *s, scps_time most);
/* Called when data is sent at the time `now`: returns the time, µs, at which the loss detection
 * timer must expire to check whether a tail loss probe is due. The probe may turn out to be due
 * later. */
scps_time scps_rack_wait(const struct scps_rtt *rtt, scps_time now);
/* Returns RACK.reo_wnd, µs: how much later than after one RTT a segment may arrive without being
 * declared lost. */
scps_dur scps_rack_window(const struct scps_tx *tx, const struct scps_rtt *rtt, unsigned dupthresh);
/* Records that the tail loss probe has been sent. nxt: SND.NXT; resent: the probe was a
 * retransmission, not new data. */
void scps_rack_probed(struct scps_rack *rk, scps_off nxt, bool resent);

#endif
