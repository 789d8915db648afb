/* SPDX-License-Identifier: MIT */
/* What a connection has while it sends: each part and its timers.
 *
 * Invariant: it exists while anything is written and not acknowledged. */
#ifndef SCPS_CORE_TX_H
#define SCPS_CORE_TX_H

#include <scps/cc.h>

#include "core/cause.h"
#include "core/delivery.h"
#include "core/pacer.h"
#include "core/rack.h"
#include "core/record.h"
#include "core/recovery.h"
#include "core/rto.h"
#include "core/sackin.h"
#include "core/sample.h"
#include "core/scoreboard.h"
#include "core/snacktx.h"
#include "core/sndbuf.h"

struct scps_conn;

struct scps_tx {
    struct scps_sndbuf buf;
    struct scps_rangeset ends; /* octets not sent that end a record */
    struct scps_scoreboard sb;
    struct scps_recovery rec;
    struct scps_rack rack;
    struct scps_snacktx snack;
    struct scps_pacer pacer;
    /* The pacer's rate spreads the congestion window and counts data, as the window does; else it
     * counts packets. */
    bool paces_window;
    struct scps_delivery delivery;
    scps_off small_end; /* end of the last segment smaller than a full one (Nagle) */
    /* Of these two timers and outage_timer of the connection no more than one runs. */
    struct scps_rto rto;
    struct scps_timer persist_timer; /* a window probe is due (RFC 9293 section 3.8.6.1) */
    struct scps_timer pace_timer;    /* the connection's own rate lets a segment leave */
    struct scps_timer look_timer;    /* rack.c and snacktx.c look for what is lost */
    struct scps_timer retry_timer;   /* memory was lacking for a segment: it is tried again */
    struct scps_timer cork_timer;    /* a corked small segment has waited long enough */
    struct scps_timer trim_timer;    /* memory that nothing uses goes back */
    scps_time sent_at;               /* data left; 0: none has */
    scps_time heard_at;              /* something arrived that told of it; 0: nothing has */
    scps_time progress_at; /* the left edge moved, or something went out with nothing outstanding */
    scps_time
        outage_over; /* end of the last outage with something outstanding; 0: there was none */
    scps_off gave_up_to,
        peer_una; /* best effort: where the left edge went on its own; the peer's */
    scps_time gave_up_at;
    scps_time life_since; /* of what was sent before life_nxt: when the left edge last moved */
    scps_off life_nxt;
    struct scps_sample sample;
    bool outage_inferred; /* timeouts began the outage; no signal has told of it */
    struct scps_sackin sackin;
    struct scps_cause cause;
    /* gate.c */
    int32_t share; /* bytes left of its turn */
    bool in_line;
    struct scps_conn *line_next, *line_prev;
    /* undo */
    struct scps_cc_ctl saved_ctl;
    uint64_t saved_state[]; /* the controller's state before the episode */
};

/* Does either of them run? */
static inline bool scps_rto_runs(const struct scps_tx *tx)
{
    return scps_timer_runs(&tx->rto.timer) || scps_timer_runs(&tx->persist_timer);
}
/* Both stop. */
static inline void scps_rto_stop(struct scps_tx *tx)
{
    scps_timer_stop(&tx->rto.timer);
    scps_timer_stop(&tx->persist_timer);
}
/* SND.UNA as the peer's acknowledgements have it: they lag behind una where it went on its own. tx
 * may be NULL. */
static inline scps_off scps_bets_peer_una(const struct scps_tx *tx, scps_off una)
{
    return tx && una == tx->gave_up_to ? tx->peer_una : una; /* never ahead of una */
}

#endif
