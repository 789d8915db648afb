/* SPDX-License-Identifier: MIT */
/* BBR version 3, draft-ietf-ccwg-bbr-06: rate and window follow from a model of the path instead of
 * from losses.
 *
 *     Startup --(no more bandwidth, or loss)--> Drain --> ProbeBW: DOWN -> CRUISE -> REFILL -> UP
 *        ^                                                          ^                         |
 *        |                                                          +-------------------------+
 *        +-- ProbeRTT, from any of them, back to ProbeBW or Startup, when an interval of
 *            5 s has brought no lower round trip
 *
 * The model has max_bw, the highest delivery rate of two cycles of ProbeBW; min_rtt, the smallest
 * RTT of two intervals of 5 s; and limits that follow from losses: bw_shortterm and
 * inflight_shortterm for one cycle of ProbeBW, inflight_longterm until a later probe raises it. The
 * pacing rate (pacing gain x bw, less 1 %) and the window follow from the model.
 *
 * bbr.c handles the events and sets the outputs, bbr_state.c changes the state, bbr_model.c updates
 * the model, bbr_volume.c computes the amounts of data that follow from it, bbr_start.c has the
 * parameters long-rtt-start and base-loss, which the draft does not have, and bbr_resume.c careful
 * resume. Names are the draft's.
 */
#ifndef SCPS_CC_BBR_H
#define SCPS_CC_BBR_H

#include <scps/cc.h>

enum scps_bbr_state {
    SCPS_BBR_STARTUP,
    SCPS_BBR_DRAIN,
    SCPS_BBR_DOWN,
    SCPS_BBR_CRUISE,
    SCPS_BBR_REFILL,
    SCPS_BBR_UP,
    SCPS_BBR_PROBE_RTT,
    SCPS_BBR_NONE /* value of undo_state: no state is saved */
};

/* values of ack_phase (the draft's BBR.ack_phase): in which phase of a bandwidth probe the data was
 * sent that is being acknowledged */
enum scps_bbr_acks {
    SCPS_BBR_ACKS_INIT,
    SCPS_BBR_ACKS_REFILLING,
    SCPS_BBR_ACKS_PROBE_STARTING,
    SCPS_BBR_ACKS_PROBE_FEEDBACK,
    SCPS_BBR_ACKS_PROBE_STOPPING
};

/* Parameter long-rtt-start=1: the spacing of the ACKs of the initial window (their train) is
 * measured while at most this number of round trips has ended (round_count). */
#define SCPS_BBR_LONG_ROUNDS 1
#define SCPS_BBR_INFINITE    UINT64_MAX
/* LossThresh of the draft: largest share of the bytes of a round trip that may be lost, ppm; if
 * more is lost, BBR sends too fast */
#define SCPS_BBR_LOSS_THRESH 20000
/* factor of a limit (bw_shortterm, inflight) after too much loss: new limit / old limit, per cent
 * (the draft's BBR.Beta) */
#define SCPS_BBR_BETA 70
/* share of inflight_longterm that is left unused, per cent (the draft's BBR.Headroom) */
#define SCPS_BBR_HEADROOM 15
/* least number of separate ranges of data whose loss in one round trip of fast recovery ends
 * Startup, if more bytes than SCPS_BBR_LOSS_THRESH allows were lost, too */
#define SCPS_BBR_FULL_LOSS_CNT  6
#define SCPS_BBR_PROBE_RTT_GAP  SCPS_SEC(5) /* least value of the draft's ProbeRTTInterval, µs */
#define SCPS_BBR_PROBE_RTT_TIME SCPS_MS(200)

/* number of round trips over which the maximum of extra_acked is taken (extra_acked: by how many
 * bytes acknowledgements exceed what the bandwidth explains) */
#define SCPS_BBR_EXTRA_ACKED_LEN 10

/* The maximum of a value over the latest round trips, at most SCPS_BBR_EXTRA_ACKED_LEN of them.
 * Invariant: `max` is the largest of value[], and value[r % SCPS_BBR_EXTRA_ACKED_LEN] is the
 * largest value of round trip number r, or 0 if r is not one of the latest. */
struct scps_bbr_max {
    uint64_t max, value[SCPS_BBR_EXTRA_ACKED_LEN];
    uint32_t round; /* number of the newest round for which a value was given */
};

/* The rate sample of the acknowledgement being processed: RS in the draft. Bytes, bytes/s and
 * µs. */
struct scps_bbr_sample {
    uint64_t rate, delivered, prior_delivered, tx_in_flight, lost, newly_acked;
    scps_dur rtt;
    bool has_data, app_limited;
};

struct scps_bbr {
    /* The model of the path, from which rate and window follow. */
    /* max_bw: highest delivery rate of two ProbeBW cycles, bytes/s; bw_filter: that of the previous
     * cycle [0] and of the cycle in progress [1] */
    uint64_t max_bw, bw_filter[2];
    uint64_t bw, bw_shortterm, bw_latest;
    uint64_t inflight_longterm, inflight_shortterm, inflight_latest;
    /* min_rtt: smallest RTT of the latest two ProbeRTT intervals (of 5 s); probe_rtt_min_delay:
     * smallest RTT of the present interval; µs; SCPS_NEVER: not measured yet */
    scps_dur min_rtt, probe_rtt_min_delay;
    scps_time min_rtt_stamp, probe_rtt_min_stamp;
    /* Smallest RTT sample since the connection began or its path changed, µs; 0: no sample yet.
     * Unlike min_rtt it does not expire, so it does not grow while this connection's own segments
     * keep a queue at the bottleneck. */
    scps_dur least_rtt;
    struct scps_bbr_max extra_acked_filter;
    uint64_t extra_acked, extra_acked_delivered;
    scps_time extra_acked_start;
    /* The round trip in progress ends when a segment is acknowledged that was sent when
     * scps_cc_view.delivered was at least next_round_delivered. loss_round_delivered is the same
     * for the round trip over which losses are counted. */
    uint64_t next_round_delivered, loss_round_delivered;
    uint32_t round_count, rounds_since_probe_up, drain_start_round, recovery_round;
    /* Delivery rate at its last increase by a quarter or more, in Startup or in the UP phase of
     * ProbeBW, bytes/s. After three round trips without such an increase the path counts as
     * full. */
    uint64_t full_bw;
    /* bw_probe_up_acked: bytes acknowledged in ProbeBW's UP that have not raised inflight_longterm
     * yet; probe_up_acked_per_inc: bytes whose acknowledgement raises it by one segment. */
    uint64_t bw_probe_up_acked, probe_up_acked_per_inc;
    scps_time cycle_stamp;
    scps_dur bw_probe_wait;
    /* Time before which ProbeRTT does not end, µs. 0: ProbeRTT has begun and the bytes in flight
     * are still above its target, or BBR has never been in ProbeRTT. Not used outside ProbeRTT. */
    scps_time probe_rtt_done_stamp;
    /* A rate sample counts as app-limited if scps_cc_ack.prior_delivered (bytes delivered when the
     * segment was sent) is between marked_from and marked_to. marked_to 0: there is no such
     * range. */
    uint64_t marked_from, marked_to;
    /* Values from before the last reaction to a loss, which are restored if the loss was
     * spurious. */
    uint64_t undo_bw_shortterm, undo_inflight_shortterm, undo_inflight_longterm, prior_cwnd;
    uint64_t pacing_rate;
    uint64_t random;
    /* bytes lost by corruption or outages of the link, which do not count as lost by congestion:
     * [0] in the previous round trip, [1] in this one */
    uint64_t excused[2];
    scps_time heard_at; /* time of the newest acknowledgement, µs */
    scps_dur round_rtt; /* least RTT in the present round trip, µs; 0: no sample yet */
    /* Parameter base-loss=1: share of the bytes that were lost in round trips without a queue,
     * which are taken for losses of the link itself, ppm */
    uint32_t base_loss;
    /* with the parameter base-loss=1: bytes sent and bytes lost in the round trips without a queue,
     * of which each counts 7/8 as much as the next one; base_loss is computed from their ratio */
    uint64_t base_sent, base_lost;
    /* With the parameter long-rtt-start: times of the first and of the latest ACK of the train of
     * closely spaced ACKs that is being measured, µs. */
    scps_time train_began, train_last;
    uint64_t train_bytes, train_first, start_bw;
    /* Careful resume (RFC 9959): least pacing rate during the jump (sending at the rate saved from
     * an earlier connection), until acknowledgements have validated this rate, bytes/s; 0: no jump
     * is in progress */
    uint64_t resume_bw;
    /* train_acks: with long-rtt-start=1, number of ACKs so far of a train (ACKs at most min_rtt/16
     * apart); a longer gap begins a new train. probe_rtt_rounds: least length of a ProbeRTTInterval
     * in multiples of least_rtt (parameter probe-rtt-rounds). probe_bw_rounds: the random part of
     * the time between probes for bandwidth is at most this many times least_rtt, or 1 s if that is
     * more (parameter probe-bw-rounds). */
    uint8_t train_acks, probe_rtt_rounds, probe_bw_rounds;
    uint8_t state, undo_state, ack_phase, full_bw_count, bw_probe_up_rounds, startup_ranges;
    bool full_bw_reached : 1, full_bw_now : 1, round_start : 1, loss_round_start : 1;
    bool is_loss_in_round : 1, is_bw_probe_sample : 1;
    bool prev_probe_too_high : 1, prev_probe_precautionary : 1;
    bool probe_rtt_expired : 1, probe_rtt_round_done : 1, idle_restart : 1;
    /* recovering: loss recovery is in progress; limited: cwnd limited sending in this round trip;
     * was_limited: cwnd limited sending in the previous round trip */
    bool recovering : 1, limited : 1, was_limited : 1;
    /* true: losses are detected by SACK or RACK, which can show more than one loss in a round
     * trip */
    bool has_sack : 1;
    /* true: in Startup an ECN echo arrived, or without SACK a second loss in one recovery episode
     * was found; either ends Startup */
    bool startup_loss : 1;
    /* true: careful resume is in progress (the flag "carefully-resuming" of RFC 9959) */
    bool resuming : 1;
    /* values of the parameters of "bbr", which the user can set */
    bool heed_corruption : 1, heed_outage : 1, long_start : 1, base_loss_on : 1, rtt_refresh : 1;
};

/* The arguments that BBR's functions share while one event (an acknowledgement, a loss, a segment
 * sent) is processed: b is BBR's state, v the state of the connection, ctl BBR's outputs. */
struct scps_bbr_ctx {
    struct scps_bbr *b;
    const struct scps_cc_view *v;
    struct scps_cc_ctl *ctl;
    struct scps_bbr_sample rs;
};

static inline bool scps_bbr_in_probe_bw(const struct scps_bbr *b)
{
    return b->state >= SCPS_BBR_DOWN && b->state <= SCPS_BBR_UP;
}
static inline bool scps_bbr_is_probing(const struct scps_bbr *b)
{
    return b->state == SCPS_BBR_STARTUP || b->state == SCPS_BBR_REFILL || b->state == SCPS_BBR_UP;
}

/* ---- functions in bbr_volume.c, which compute bytes in flight and cwnd from the model ---- */
struct scps_bbr_gain {
    uint16_t pacing, cwnd; /* pacing gain and congestion window gain of a state of BBR, per cent */
};
/* the gains of each state, indexed by enum scps_bbr_state */
extern const struct scps_bbr_gain scps_bbr_gain[];
/* Returns the bandwidth from which rate and window are computed, bytes/s: the model's bw, and in
 * Startup at least start_bw, which the ACKs of the initial window have shown (parameter
 * long-rtt-start=1). */
uint64_t scps_bbr_bw(const struct scps_bbr *b);
/* Returns the share of the bytes of a round trip that may be lost before BBR reduces its model,
 * ppm: the draft's LossThresh (2 %), and with base-loss=1 the measured loss rate of the link in
 * addition. */
uint64_t scps_bbr_loss_thresh(const struct scps_bbr *b);
uint64_t scps_bbr_min_pipe(const struct scps_cc_view *v);
/* Returns `percent` per cent of bw, bytes/s, times min_rtt, in bytes; the initial window before the
 * first RTT sample. */
uint64_t scps_bbr_bdp(const struct scps_bbr_ctx *x, uint64_t bw, unsigned percent);
/* Returns what scps_bbr_bdp() returns, but at least three bursts (scps_cc_ctl.quantum) and four
 * segments, so that sending and acknowledging in bursts does not reduce the rate. */
uint64_t scps_bbr_inflight(const struct scps_bbr_ctx *x, uint64_t bw, unsigned percent);
uint64_t scps_bbr_quantization_budget(const struct scps_bbr_ctx *x, uint64_t inflight);
uint64_t scps_bbr_target(const struct scps_bbr_ctx *x);
uint64_t scps_bbr_with_headroom(const struct scps_bbr_ctx *x);
uint64_t scps_bbr_probe_rtt_cwnd(const struct scps_bbr_ctx *x);
void scps_bbr_save_cwnd(const struct scps_bbr_ctx *x);
void scps_bbr_restore_cwnd(const struct scps_bbr_ctx *x);

/* ---- functions in bbr_model.c, which update the model of the path ---- */
/* Enters `value`, measured in round trip number `round`, into the maximum m over the latest `len`
 * round trips, of which `round` is the newest. Round trip numbers must not decrease from call to
 * call. */
void scps_bbr_max_update(struct scps_bbr_max *m, uint64_t value, uint32_t round, uint32_t len);
void scps_bbr_reset_signals(struct scps_bbr *b);
void scps_bbr_reset_shortterm(struct scps_bbr *b);
void scps_bbr_reset_full_bw(struct scps_bbr *b);
void scps_bbr_start_round(const struct scps_bbr_ctx *x);
void scps_bbr_advance_max_bw(struct scps_bbr *b);
void scps_bbr_save_upon_loss(const struct scps_bbr_ctx *x);
void scps_bbr_note_loss(const struct scps_bbr_ctx *x);
bool scps_bbr_too_high(const struct scps_bbr_ctx *x);
/* These three functions update the model at an acknowledgement: scps_bbr_learn() before the state
 * machine runs; after that scps_bbr_min_rtt() (min_rtt), and at the end scps_bbr_advance()
 * (bw_latest and inflight_latest). */
void scps_bbr_learn(const struct scps_bbr_ctx *x);
void scps_bbr_min_rtt(const struct scps_bbr_ctx *x);
void scps_bbr_advance(const struct scps_bbr_ctx *x);

/* ---- functions in bbr_state.c, which run the states of BBR ---- */
void scps_bbr_enter_startup(struct scps_bbr *b);
void scps_bbr_enter_refill(const struct scps_bbr_ctx *x);
/* Moves from the state Startup to the state Drain because of losses. */
void scps_bbr_abandon_startup(const struct scps_bbr_ctx *x);
/* scps_bbr_move() runs the state machine at an acknowledgement for Startup, Drain and ProbeBW,
 * scps_bbr_check_probe_rtt() for ProbeRTT. */
void scps_bbr_move(const struct scps_bbr_ctx *x);
void scps_bbr_check_probe_rtt(const struct scps_bbr_ctx *x);
/* Ends ProbeRTT if its duration has passed. */
void scps_bbr_probe_rtt_done(const struct scps_bbr_ctx *x);
/* Called when losses during a probe for bandwidth exceed the threshold, which shows that
 * x->rs.tx_in_flight bytes in flight were too many. If the rate sample is not app-limited, sets
 * inflight_longterm to that number, or to 70 % of scps_bbr_target() if that is more. In both cases
 * the probe ends, if it has not ended already: the state UP becomes DOWN. */
void scps_bbr_handle_too_high(const struct scps_bbr_ctx *x);

/* ---- functions in bbr_resume.c, for careful resume (RFC 9959) ---- */
bool scps_bbr_resume(void *s, const struct scps_cc_view *v, enum scps_cc_resume what,
                     uint64_t amount, struct scps_cc_ctl *ctl);

/* ---- functions in bbr_start.c, for the parameters long-rtt-start and base-loss ---- */
void scps_bbr_long_start(const struct scps_bbr_ctx *x, const struct scps_cc_ack *a);
/* Used with the parameter base-loss=1: measures the share of bytes lost while there was no queue.
 * It is called as the last step of an acknowledgement. */
void scps_bbr_measure_base_loss(const struct scps_bbr_ctx *x);
/* With the parameter base-loss=1: returns true if the smallest RTT of this round trip is about
 * min_rtt, so that a segment found no queue at the bottleneck. Without the parameter: returns
 * false. */
bool scps_bbr_no_queue(const struct scps_bbr_ctx *x);
/* With the parameter base-loss=1: returns true if the lost bytes of the sample x->rs are no more
 * than what the measured loss rate of the link (base_loss) explains, plus three standard
 * deviations. Returns false while base_loss is 0. */
bool scps_bbr_base_loss_explains(const struct scps_bbr_ctx *x);

#endif
