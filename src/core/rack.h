/* SPDX-License-Identifier: MIT */
/* Loss by the clock and probes of the tail (RFC 8985): rack.c. */
#ifndef SCPS_CORE_RACK_H
#define SCPS_CORE_RACK_H

#include <scps/wire.h>

#include "core/scoreboard.h"

struct scps_conn;
struct scps_rtt;
struct scps_tx;

struct scps_rack {
    scps_dur rtt;    /* RACK.rtt: of the latest sending known to have arrived; 0: none has */
    uint8_t steps;   /* RACK.reo_wnd_mult - 1 */
    uint8_t persist; /* RACK.reo_wnd_persist */
    bool repairing;  /* in an episode, when last looked at */
    scps_off dsack_round;
    scps_time again; /* when something comes of age; 0: nothing does */
    bool reordering_seen;
    uint8_t probe; /* what the outstanding one carried; 0: there is none */
    scps_off probe_end;
};

/* rack.c, where it is in force: what an acknowledgement tells; dup: a duplicate. */
void scps_rack_ack(struct scps_conn *c, const struct scps_seg *seg, bool dup, bool repaired,
                   struct scps_ack_result *sum);
/* RACK.reo_wnd. */
scps_dur scps_rack_window(const struct scps_tx *tx, const struct scps_rtt *rtt, unsigned dupthresh);
/* Data left and no timer stands: a probe will ask after it. */
void scps_rack_arm(struct scps_conn *c);
void scps_rack_timer(struct scps_conn *c);
/* The tail probe that was due has left. */
void scps_rack_probed(struct scps_conn *c, bool resent);

#endif
