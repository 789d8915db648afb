/* SPDX-License-Identifier: MIT */
/* Loss detection by time, and tail loss probes (RFC 8985): rack.c. */
#ifndef SCPS_CORE_RACK_H
#define SCPS_CORE_RACK_H

#include "core/sender.h"

struct scps_rack {
    scps_dur rtt;    /* RACK.rtt: RTT of the latest transmission known to have arrived; 0: none */
    uint8_t steps;   /* RACK.reo_wnd_mult - 1 */
    uint8_t persist; /* RACK.reo_wnd_persist */
    bool repairing;  /* an episode was in progress at the last look */
    scps_off dsack_round;
    scps_time again; /* time at which a segment may be declared lost; 0: none can */
    bool reordering_seen;
    uint8_t probe; /* kind of the outstanding probe; 0: there is none */
    scps_off probe_end;
};

/* Something arrived after what had left later. */
static inline void scps_rack_reordered(struct scps_rack *rk)
{
    rk->reordering_seen = true;
}
/* Where it is in force: what an acknowledgement tells; dup: it is a duplicate; sacked: with SACK
 * blocks; repaired: it has ended an episode. True: the tail probe has repaired a loss that nobody
 * has heard of. */
bool scps_rack_news(struct scps_sender *s, const struct scps_ack_result *sum, bool dup, bool sacked,
                    bool repaired);
/* The same acknowledgement: what is lost. Returns when something else comes of age; 0: nothing
 * does. */
scps_time scps_rack_judge(struct scps_sender *s, struct scps_ack_result *sum);
/* The same when the time for that has come. */
scps_time scps_rack_look(struct scps_sender *s, struct scps_ack_result *sum);
/* When a probe of the tail is due, `most` at the latest; SCPS_NEVER: none will be. */
scps_time scps_rack_probe_at(struct scps_sender *s, scps_time most);
/* Data has left: when to find out whether a probe has to ask after it. */
scps_time scps_rack_wait(const struct scps_rtt *rtt, scps_time now);
/* RACK.reo_wnd. */
scps_dur scps_rack_window(const struct scps_tx *tx, const struct scps_rtt *rtt, unsigned dupthresh);
/* The tail probe that was due has left, with new data or resent. */
void scps_rack_probed(struct scps_rack *rk, scps_off nxt, bool resent);

#endif
