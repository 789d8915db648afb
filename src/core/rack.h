/* SPDX-License-Identifier: MIT */
/* Loss detection by time, and tail loss probes (RFC 8985): rack.c. */
#ifndef SCPS_CORE_RACK_H
#define SCPS_CORE_RACK_H

#include <scps/wire.h>

#include "core/scoreboard.h"

struct scps_conn;
struct scps_rtt;
struct scps_tx;

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

/* Processes an acknowledgement where RACK is in force; dup: a duplicate. */
void scps_rack_ack(struct scps_conn *c, const struct scps_seg *seg, bool dup, bool repaired,
                   struct scps_ack_result *sum);
/* RACK.reo_wnd. */
scps_dur scps_rack_window(const struct scps_tx *tx, const struct scps_rtt *rtt, unsigned dupthresh);
/* Called when data was sent and no timer runs: arms the probe timer. */
void scps_rack_arm(struct scps_conn *c);
void scps_rack_timer(struct scps_conn *c);
/* Records that the tail probe that was due has been sent. */
void scps_rack_probed(struct scps_conn *c, bool resent);

#endif
