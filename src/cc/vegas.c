/* SPDX-License-Identifier: MIT */
/* TCP Vegas as in SCPS-TP: keeps a few segments in the bottleneck's queue, and no more.
 *
 *              delivered in the round
 *     queue = ------------------------ * (rtt - base)         "diff" in the papers, here in bytes
 *              length of the round
 *
 *     slow start   queue > gamma            end it, with the window that the path carried
 *     linear       queue < alpha            one segment more
 *                  alpha <= queue <= beta   no change
 *                  queue > beta             half of the excess less
 *
 * The window changes once a round trip, from the RTTs of that round. `base` is the lowest RTT of
 * the path that is known. F0 and F2 are acknowledgement modes of the receiver (enum scps_ack_mode):
 * F0: an ACK only when the delayed-ACK timer expires; F2: an ACK for every other segment. A train
 * is a sequence of ACKs that follow each other closely (train.h).
 *
 * Sources: Brakmo and Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global Internet",
 * IEEE JSAC 13(8), 1995 (and the paper of 1994 before it); NASA/TM-2003-212001, "Vegas" and
 * "SCPS-Vegas"; docs/SCPS-TP.md section 4.3, which says what the SCPS reference implementation
 * does.
 *
 * As in the reference implementation: alpha, beta and gamma are 3, 5 and 4 segments; slow start
 * doubles the window every round trip (ss=0, the default without a rate); half of the excess is
 * removed; the first sample is discarded; base is discarded after four timeouts in a row; a loss by
 * congestion halves the window, one by corruption leaves it. Unlike the reference implementation:
 * its decrease takes one segment more, and its third duplicate halves the window twice; both are
 * errors.
 *
 * These parameters (vegas_param.h has their meanings) give the rules of the paper:
 * alpha=1,beta=3,gamma=1,ss=1,decrease=1,first=0,rounds=0,timeouts=0,train=0.
 *
 * Differences from both, with reasons:
 * - The papers write diff = W - W base/rtt, in which W/rtt stands for the rate achieved. Here that
 *   rate is measured (bytes delivered over the round), so the formula is also right when W has just
 *   doubled, when a configured rate or the application is the limit, and when an ACK comes only
 *   every 200 ms.
 * - Delayed ACKs. Under F0 the receiver's timer waits up to 200 ms. How much of that wait is in the
 *   RTT of the newest segment that an ACK covers depends on the length of the burst, that is on the
 *   window: when the window is halved, that RTT grows by far more than beta. If this counted as a
 *   queue, the window would collapse. The oldest segment that an ACK covers started the timer and
 *   always has the whole wait in its RTT, so that RTT is used (rtt_old, which the echoed timestamp
 *   of RFC 7323 gives, too). The wait is in base as well and cancels out. Under F2 this makes an
 *   error of at most one segment. The lowest RTT of a round is used, so that a single ACK from the
 *   timer, or noise on the return path, does not count as a queue (rtt=1: the mean).
 * - The receiver's timer is late. At a megabyte in 200 ms, a few milliseconds of lateness are
 *   dozens of segments, and slow start would end by chance. But if an ACK leaves no data in flight,
 *   the next segment finds no queue of this connection: an RTT whose oldest segment was sent then
 *   is taken as base, whatever it is. For the same reason, where the timer is most of the round, a
 *   loss halves what a round delivered, and not what was sent since the timer expired.
 * - At the end of slow start the window becomes what the path carried in that round, plus the
 *   middle of alpha and beta, because the window has doubled again while the queue was being
 *   detected. A sender without pacing overruns the queue before a whole round can show it; so slow
 *   start also ends when the ACKs of one train show that the path carries less than two thirds of
 *   the window, and segments do queue (train=1): this is the paper's comparison of expected with
 *   actual throughput, made within the round.
 * - ss=2 is not in the sources: a window 32 times as large after a round trip, for paths so long
 *   that doubling takes most of a transfer (100 MB at 100 Mbit/s and 500 ms: nine of its 26 round
 *   trips). It ends where a train of ACKs shows that the path is full, and the window is then sent
 *   at the bottleneck's rate (train.h); gamma still ends slow start, too. It is for a path without
 *   other traffic. A configured rate says that the path is such, and how fast it is, so with a rate
 *   this is the default (ss=3). The reference implementation doubles, whatever its rate: ss=0.
 * - base and changes of the route. A longer route looks like a queue, and Vegas would reduce its
 *   window for ever. But a queue of this connection is gone after a few rounds that remove half of
 *   it. If the excess is still there after `rounds` round trips in a row, it is not caused by this
 *   connection: base becomes the lowest RTT of those rounds, and slow start (which gamma may end)
 *   leads back to the earlier rate. With a window of a few segments the queue computed never
 *   exceeds beta, whatever the RTT: therefore, while the RTT is above twice base, the window is
 *   halved as a test of whether the RTT falls with it (vegas_path.h). If it does not, the path is
 *   longer: base is replaced, and slow start with an unlimited ssthresh follows. base does not
 *   expire with time, because it would then include the queue.
 * - Losses taken for corruption that depend on the window mean a queue shorter than alpha: see
 *   vegas_brake.h. The reference implementation has no such brake (brake=0).
 * - A timeout taken for corruption changes nothing but the count of timeouts (docs/SCPS-TP.md
 *   section 3.4).
 *
 * The core makes the fine-grained retransmission check (by_age, loss.c), because it has the times
 * of sending.
 */
#include "cc/cc.h"
#include "cc/train.h"
#include "cc/vegas_brake.h"
#include "cc/vegas_param.h"
#include "cc/vegas_path.h"
#include "cc/window.h"

#include "base/bytes.h"
#include "base/wide.h"

enum { EARLY_MAX = 8, EARLY_MOST = 128 };
struct vegas {
    struct scps_win win;
    /* values of the parameters of "vegas", which the user can set */
    /* limits of the queue of this connection's segments at the bottleneck, segments */
    uint32_t alpha, beta, gamma;
    uint16_t keep, doubt_rounds, forget_after;
    /* share of a round trip's octets, x/1024: if at least this share is lost to corruption, the
     * brake halves the window (vegas_brake.h); 0: the brake is off */
    uint16_t brake;
    uint8_t ss, decrease, stat, corruption;
    bool skip_first, train_on;
    /* exponential: true: in slow start; false: in congestion avoidance. hold: true: slow start with
     * parameter ss=1 (doubling in every other round trip) does not grow the window in this round
     * trip */
    bool exponential, hold;
    /* state of the round trip in progress */
    scps_time began;
    uint64_t delivered, before; /* bytes delivered in this round trip, and in the previous one */
    scps_dur lowest, sum;
    /* Lowest RTT sample of this round trip, µs. `lowest` is the same but for one rule: a segment
     * that was sent while no other data was in flight cannot have met a queue of this connection,
     * and may have waited for the receiver's delayed-ACK timer; its sample counts in `lowest` and
     * `sum` as `base`, the lowest RTT of the path without a queue. */
    scps_dur raw;
    uint32_t samples;
    bool barred;
    struct scps_vegas_brake braking;
    struct scps_vegas_path path;
    /* state of the path */
    scps_dur base;    /* lowest RTT of the path without a queue, µs; 0: not known */
    scps_dur doubted; /* lowest RTT in the rounds that `over` counts, µs */
    uint64_t wish;    /* congestion window in the first of the rounds that `over` counts, bytes */
    uint16_t over;    /* number of rounds until now in a row with a queue longer than beta */
    /* number of retransmission timeouts in a row without an acknowledgement in between */
    uint16_t timeouts;
    /* true: an ACK has come with a known scps_cc_ack.rtt_old (RTT of the oldest segment that the
     * ACK covers). From then on rtt_old is the RTT sample, and the RTT of the newest segment only
     * shows whether the path has become shorter. */
    bool old_known;
    /* true: no data was in flight when the oldest segment of the next ACK was sent */
    bool alone;
    /* number of round trips in a row with early ACKs only: those that did not wait for the
     * receiver's delayed-ACK timer */
    uint8_t early;
    /* number of round trips in a row with early ACKs after which base is set from their RTTs */
    uint8_t early_rounds;
    /* value of base before early ACKs (ACKs without the delayed-ACK wait) lowered it, µs; 0: base
     * was not lowered by early ACKs */
    scps_dur waited;
    uint64_t wide; /* cwnd when base was set from early ACKs, bytes */
    /* lowest value of scps_cc_ack.rtt (RTT of the newest segment that an ACK covers) since the
     * connection began or base was discarded, µs; 0: none */
    scps_dur soonest;
    struct scps_ack_train_ss train_ss;
};

static void start(void *s, const int64_t *param, const struct scps_cc_view *v,
                  struct scps_cc_ctl *ctl)
{
    struct vegas *ve = s;

    *ve = (struct vegas){
        .alpha = (uint32_t)param[P_ALPHA],
        .beta = (uint32_t)SCPS_MAX(param[P_ALPHA], param[P_BETA]),
        .gamma = (uint32_t)param[P_GAMMA],
        .ss = param[P_SS] != SS_BY_RATE ? (uint8_t)param[P_SS]
              : v->conf_rate            ? SS_QUICK
                                        : SS_EVERY_RTT,
        .decrease = (uint8_t)param[P_DECREASE],
        .keep = (uint16_t)param[P_KEEP],
        .stat = (uint8_t)param[P_RTT],
        .skip_first = param[P_FIRST] != 0,
        .doubt_rounds = (uint16_t)param[P_ROUNDS],
        .forget_after = (uint16_t)param[P_TIMEOUTS],
        .train_on = param[P_TRAIN] != 0,
        .corruption = (uint8_t)param[P_CORRUPTION],
        .brake = (uint16_t)param[P_BRAKE],
        .exponential = true,
        .early_rounds = EARLY_MAX,
        .began = v->now,
        .soonest = v->min_rtt,
    };
    scps_win_start(&ve->win, NULL, sizeof *ve, v, ctl);
    scps_win_choose(&ve->win, param[P_SLOW_START], sizeof *ve);
}

/* ---- functions that measure round trips ---- */

/* Returns true for an early ACK: one of a receiver in mode F0 (it acknowledges when its delayed-ACK
 * timer expires) that was caused not by the timer but by the receiver's opening window. Its RTT
 * lacks the wait for the timer, which is part of base (the lowest RTT of the path), so it must not
 * lower base.
 * Returns false if the path has become shorter: a->rtt, the RTT of the newest segment, is then
 * below its earlier minimum by at least half of what a->rtt_old lies below base (a smaller
 * difference may be noise of a clock). Returns false, too, after early ACKs in early_rounds round
 * trips in a row (at first EARLY_MAX), which are taken for a shorter path. But a receiver whose
 * window opens all the time also sends such ACKs, until the sender's window is smaller and the
 * receiver's timer waits again: then wait_again() restores base. */
static bool early(struct vegas *ve, const struct scps_cc_view *v, const struct scps_cc_ack *a,
                  uint64_t cwnd)
{
    scps_dur slack = (scps_dur)scps_muldiv((uint64_t)ve->base, ve->alpha * (uint64_t)v->mss, cwnd);
    bool record = a->rtt > 0 && a->rtt < ve->soonest;
    bool shorter = record && ve->soonest - a->rtt >= (ve->base - a->rtt_old) / 2;

    if (a->rtt > 0 && (!ve->soonest || record))
        ve->soonest = a->rtt;
    if (shorter || a->bytes <= 2 * (uint64_t)v->mss || a->rtt_old + slack >= ve->base)
        return false;
    if (ve->early < ve->early_rounds)
        return true;
    if (!ve->waited) {
        ve->waited = ve->base;
        ve->wide = cwnd;
    }
    return false;
}

/* If early ACKs (ACKs without the wait of the receiver's delayed-ACK timer, see early()) have
 * lowered base, and this ACK has waited for the timer again (its RTT is at least the earlier base):
 * restores base. If the window has become smaller meanwhile, since the wait looked like a queue,
 * slow start leads back to the earlier window. From now on twice as many round trips with early
 * ACKs are needed to lower base. */
static void wait_again(struct vegas *ve, scps_dur rtt, struct scps_cc_ctl *ctl)
{
    if (!ve->waited || rtt < ve->waited)
        return;
    ve->base = ve->waited;
    ve->waited = 0;
    ve->over = 0;
    ve->early_rounds = (uint8_t)SCPS_MIN(2 * ve->early_rounds, EARLY_MOST);
    if (ctl->cwnd < ve->wide) {
        ctl->ssthresh = ve->wide;
        ve->exponential = true;
    }
}

/* Returns the RTT sample of this acknowledgement, µs. 0: its RTT is unknown; or it is the first RTT
 * sample of the connection, which the parameter first=1 discards; or it is an early ACK (early()),
 * which the receiver sent before its delayed-ACK timer expired, so that its RTT lacks the wait for
 * the timer, which is part of base (the lowest RTT of the path). */
static scps_dur sample(struct vegas *ve, const struct scps_cc_view *v, const struct scps_cc_ack *a,
                       uint64_t cwnd)
{
    if (a->rtt_old > 0)
        ve->old_known = true;
    scps_dur rtt = ve->old_known ? a->rtt_old : a->rtt;
    if (rtt <= 0 || (ve->old_known && early(ve, v, a, cwnd)))
        return 0;
    if (ve->skip_first) {
        ve->skip_first = false;
        return 0;
    }
    return rtt;
}

static void forget_base(struct vegas *ve, struct scps_cc_ctl *ctl)
{
    ve->base = ve->soonest = ve->waited = 0;
    ve->early = 0;
    ve->early_rounds = EARLY_MAX;
    ve->over = 0;
    ve->samples = 0;
    scps_vegas_path_end_test(&ve->path);
    scps_train_ss_forget(&ve->train_ss, ctl);
}

static void new_round(struct vegas *ve, const struct scps_cc_view *v)
{
    ve->early = ve->samples ? 0 : (uint8_t)SCPS_MIN(ve->early + 1, EARLY_MOST);
    ve->began = v->now;
    ve->before = ve->delivered;
    ve->delivered = 0;
    ve->lowest = ve->raw = ve->sum = 0;
    ve->samples = 0;
    ve->barred = false;
    scps_vegas_brake_begin(&ve->braking);
    /* Each round trip begins a new train (ACKs that follow each other closely). Otherwise, while
     * the pacer spreads the window over the round trip, one train would continue over several round
     * trips. In slow start the rate doubles from one to the next, and the train would measure a
     * mean of these rates. */
    scps_train_forget(&ve->train_ss.train);
    ve->hold = ve->ss == SS_EVERY_OTHER && !ve->hold;
}

/* Ends slow start: the window becomes `carried`, what the path carries in a round trip, plus the
 * middle of alpha and beta. */
static void leave(struct vegas *ve, const struct scps_cc_view *v, uint64_t carried,
                  struct scps_cc_ctl *ctl)
{
    uint64_t want = carried + (uint64_t)(ve->alpha + ve->beta) * v->mss / 2;

    want = SCPS_MAX(want, 2 * (uint64_t)v->mss);
    ctl->cwnd = SCPS_MIN(ctl->cwnd, want);
    ctl->ssthresh = SCPS_MAX(ctl->cwnd, 2 * (uint64_t)v->mss);
    ve->exponential = false;
}

/* Called at the end of a round trip whose queue was longer than beta. Returns true if this has
 * happened in `doubt_rounds` round trips in a row (parameter rounds; 0: never), although the window
 * was reduced in each of them: then the queue is not this connection's, so base is out of date. */
static bool doubt_base(struct vegas *ve, uint64_t cwnd)
{
    if (!ve->over++) {
        ve->wish = cwnd;
        ve->doubted = ve->lowest;
    }
    ve->doubted = SCPS_MIN(ve->doubted, ve->lowest);
    return ve->doubt_rounds && ve->over >= ve->doubt_rounds;
}

/* Replaces base by a longer RTT, µs, and begins slow start, which ends at `ssthresh`, bytes, or
 * when a queue builds. */
static void replace_base(struct vegas *ve, scps_dur rtt, uint64_t ssthresh, struct scps_cc_ctl *ctl)
{
    ctl->ssthresh = SCPS_MAX(ssthresh, ctl->cwnd);
    ve->base = rtt;
    ve->over = 0;
    ve->exponential = true;
}

/* If a test of the path is in progress (the window was halved to see whether the RTT falls, as it
 * does if this connection's own queue made it long; vegas_path.h): ends it without a result and
 * restores the window from before the halving. */
static void stop_test(struct vegas *ve, struct scps_cc_ctl *ctl)
{
    if (ve->path.rounds)
        ctl->cwnd = SCPS_MAX(ctl->cwnd, ve->path.cwnd);
    scps_vegas_path_end_test(&ve->path);
}

/* Called when the test of vegas_path.h has shown that the path itself has become longer than
 * `base`, the lowest RTT known of the path without a queue: takes the lowest RTT of this round trip
 * as base and begins slow start. ssthresh becomes unlimited, since an earlier slow start may have
 * ended only because the RTT grew. */
static void longer_path(struct vegas *ve, struct scps_cc_ctl *ctl)
{
    scps_dur rtt = ve->raw;

    forget_base(ve, ctl);
    ve->win.hs = (struct scps_hystart){0};
    ve->base = rtt;
    ctl->ssthresh = UINT64_MAX;
    ve->exponential = true;
}

/* Called at the end of a round trip: tests whether the path has become longer, by halving the
 * window for two round trips if the RTT stays above twice base (vegas_path.h).
 * limited: true: cwnd limited sending in this round trip. Returns true if the test has decided
 * about cwnd, so that the rules of Vegas must not change it at the end of this round trip. */
static bool test_path(struct vegas *ve, bool limited, uint32_t mss, struct scps_cc_ctl *ctl)
{
    /* The test of the path halves the window to see whether the RTT falls, as it does if this
     * connection's own queue made it long. No test begins below four segments, because Vegas needs
     * a window of at least two. Nor does one begin while the brake (vegas_brake.h) has halved the
     * window because of losses, to see whether fewer are lost in the smaller window. */
    const bool may = limited && ctl->cwnd >= 4 * (uint64_t)mss && !ve->braking.set;

    if (!ve->doubt_rounds || (!ve->path.rounds && !may))
        return false;
    if (ve->path.rounds && !limited) {
        stop_test(ve, ctl);
        return false;
    }
    switch (scps_vegas_path_round(&ve->path, ve->raw, ve->base, ctl->cwnd)) {
    case SCPS_VEGAS_PATH_KEEP:
        return false;
    case SCPS_VEGAS_PATH_HALVE:
        ctl->cwnd /= 2;
        break;
    case SCPS_VEGAS_PATH_TEST:
        break;
    case SCPS_VEGAS_PATH_OWN:
        ctl->cwnd = SCPS_MAX(ctl->cwnd, ve->path.cwnd);
        break;
    case SCPS_VEGAS_PATH_LONGER:
        ctl->cwnd = SCPS_MAX(ctl->cwnd, ve->path.cwnd);
        longer_path(ve, ctl);
        break;
    }
    return true;
}

static void end_of_round(struct vegas *ve, const struct scps_cc_view *v, struct scps_cc_ctl *ctl)
{
    scps_dur took = v->now - ve->began;
    /* true: cwnd limited sending in the round trip that has ended; false: the application or a rate
     * limit did */
    bool limited = ve->win.was_limited;

    if (!ve->samples || took <= 0)
        return;
    scps_dur rtt = ve->stat == RTT_MEAN ? ve->sum / ve->samples : ve->lowest;
    uint64_t mss = v->mss;
    uint64_t queue = scps_muldiv(ve->delivered, (uint64_t)(rtt - ve->base), (uint64_t)took);

    if (ve->exponential) {
        if (queue > ve->gamma * mss)
            leave(ve, v, scps_muldiv(ve->delivered, (uint64_t)ve->base, (uint64_t)took), ctl);
        return;
    }
    if (ve->barred) {
        stop_test(ve, ctl);
        return;
    }
    if (test_path(ve, limited, v->mss, ctl))
        return;
    if (queue <= ve->beta * mss) {
        ve->over = 0;
        if (queue < ve->alpha * mss && limited)
            ctl->cwnd += mss;
        return;
    }
    /* The queue exceeds beta by at most one segment, which is what the window grows in a round
     * trip, so the queue is this connection's own: this round trip is no sign that base, the RTT
     * without a queue, is too short for the path. */
    if (queue <= (ve->beta + 1) * mss) {
        ve->over = 0;
    } else if (doubt_base(ve, ctl->cwnd)) {
        /* In `doubt_rounds` round trips in a row the queue exceeded beta although the window was
         * reduced in each, so the path is longer: base becomes `doubted`, the lowest RTT of these
         * rounds, and ssthresh the window that gives the sender its rate from before them on this
         * path: `wish`, cwnd in the first of them, times doubted / base. */
        replace_base(ve, ve->doubted,
                     scps_muldiv(ve->wish, (uint64_t)ve->doubted, (uint64_t)ve->base), ctl);
        return;
    }
    /* If cwnd did not limit sending, cwnd is first reduced to what was delivered in one RTT, plus
     * one segment. */
    uint64_t w = ctl->cwnd;
    if (!limited)
        w = SCPS_MIN(w, scps_muldiv(ve->delivered, (uint64_t)rtt, (uint64_t)took) + mss);
    uint64_t less = ve->decrease == ONE_SEGMENT ? mss : (queue - ve->beta * mss) / 2;
    ctl->cwnd = SCPS_MAX(w - SCPS_MIN(less, w / 2), 2 * mss);
}

/* Called at the end of a round trip: passes its results to the brake (vegas_brake.h), which has
 * cwnd halved after many losses attributed to corruption, and restored if the losses do not depend
 * on cwnd; sets cwnd as the brake asks. In observer events the phase is BRAKE from the halving
 * until the brake has compared the losses in the smaller window, and BRAKED after that, whatever
 * the result, until the next halving. */
static void brake(struct vegas *ve, const struct scps_cc_view *v, struct scps_cc_ctl *ctl)
{
    const struct scps_vegas_round r = {.delivered = ve->delivered,
                                       .took = v->now - ve->began,
                                       .cwnd = ctl->cwnd,
                                       .mss = v->mss,
                                       .limit = ve->brake};

    switch (scps_vegas_brake_round(&ve->braking, &r)) {
    case SCPS_VEGAS_BRAKE_HALVE:
        scps_win_cut(&ve->win, v, scps_win_flight(v, ctl), ve->keep, ctl);
        scps_train_ss_forget(&ve->train_ss, ctl);
        scps_vegas_path_end_test(&ve->path);
        ve->exponential = false;
        ve->over = 0;
        ctl->phase = SCPS_PHASE_BRAKE;
        break;
    case SCPS_VEGAS_BRAKE_RESTORE:
        ctl->cwnd = ctl->ssthresh = SCPS_MAX(ctl->cwnd, ve->braking.full);
        ctl->phase = SCPS_PHASE_BRAKED;
        break;
    case SCPS_VEGAS_BRAKE_KEEP:
        if (ctl->phase == SCPS_PHASE_BRAKE && !ve->braking.set)
            ctl->phase = SCPS_PHASE_BRAKED;
        break;
    }
}

/* Called for each RTT sample rtt, µs: lowers base (the lowest RTT of the path without a queue) to
 * it, and adds it to raw, lowest, sum and samples of this round trip, from which the length of the
 * queue is computed when the round trip ends. */
static void learn(struct vegas *ve, scps_dur rtt, struct scps_cc_ctl *ctl)
{
    wait_again(ve, rtt, ctl);
    ve->base = ve->base ? SCPS_MIN(ve->base, rtt) : rtt;
    ve->raw = ve->samples ? SCPS_MIN(ve->raw, rtt) : rtt;
    /* No other data was in flight when this segment was sent. If its RTT is longer than base, the
     * receiver's delayed-ACK timer was the reason and not a queue, so the sample counts as base. */
    if (ve->alone)
        rtt = ve->base;
    ve->lowest = ve->samples ? SCPS_MIN(ve->lowest, rtt) : rtt;
    ve->sum += rtt;
    ve->samples++;
}

static void ack(void *s, const struct scps_cc_view *v, const struct scps_cc_ack *a,
                struct scps_cc_ctl *ctl)
{
    struct vegas *ve = s;
    uint64_t credit = scps_win_credit(&ve->win, v, a, ctl);
    scps_dur rtt = sample(ve, v, a, ctl->cwnd);

    scps_train_ss_round(&ve->train_ss, a, ctl);
    ve->timeouts = 0;
    ve->delivered += a->bytes;
    /* true: this ACK belongs to a recovery episode that reduced the window. If a round trip ends
     * with this ACK, the rules of congestion avoidance do not change the window at its end. */
    ve->barred = a->in_recovery && !ve->win.spared;
    if (a->round_start) {
        if (ve->brake)
            brake(ve, v, ctl);
        end_of_round(ve, v, ctl);
        new_round(ve, v);
    }
    if (rtt)
        learn(ve, rtt, ctl);
    if (a->bytes)
        ve->alone = ve->old_known && v->inflight == 0;
    if (!ve->exponential)
        return;
    uint64_t carried, few = (uint64_t)ve->gamma * v->mss;
    if (ve->ss == SS_QUICK) { /* No single ACK more than doubles the window. */
        if (credit && ctl->ssthresh == UINT64_MAX)
            scps_train_ss_estimate(&ve->train_ss, v, a, ve->base, few, ctl);
        credit = SCPS_MIN(31 * credit, ctl->cwnd);
    } else if (ve->train_on && credit &&
               scps_train_on_ack(&ve->train_ss.train, v->now, a->bytes, a->rtt, ve->base, few,
                                 &carried) &&
               ctl->cwnd > carried + carried / 2) {
        leave(ve, v, carried, ctl);
        return;
    }
    if (!ve->hold)
        scps_win_slow_start(&ve->win, v, a, credit, ctl);
    if (ctl->cwnd >= ctl->ssthresh)
        ve->exponential = false;
}

/* ---- functions for losses and for the events of enum scps_cc_change (timeout, idle time) ---- */

static bool not_at_fault(const struct vegas *ve, enum scps_loss_cause cause)
{
    return cause == SCPS_LOSS_OUTAGE || ve->corruption == ALL_CORRUPTION ||
           (cause == SCPS_LOSS_CORRUPTION && ve->corruption == AS_TOLD);
}

/* Returns the number of bytes that a loss halves to get the new window: FlightSize. But where the
 * receiver's delayed-ACK timer is most of the round trip, each ACK covers all data sent until the
 * timer expired, and FlightSize counts only what was sent after that: then the result is at least
 * the bytes delivered in the previous round trip, at most cwnd. */
static uint64_t flight(const struct vegas *ve, const struct scps_cc_view *v,
                       const struct scps_cc_ctl *ctl)
{
    uint64_t now = scps_win_flight(v, ctl);

    if (!ve->old_known || !ve->soonest || ve->base <= 2 * ve->soonest)
        return now;
    return SCPS_MAX(now, SCPS_MIN(ve->before, ctl->cwnd));
}

static void loss(void *s, const struct scps_cc_view *v, const struct scps_cc_loss *l,
                 struct scps_cc_ctl *ctl)
{
    struct vegas *ve = s;

    if (l->cause != SCPS_LOSS_OUTAGE && not_at_fault(ve, l->cause))
        scps_vegas_brake_lost(&ve->braking, l->bytes);
    if (!l->new_episode)
        return;
    /* An ECN echo counts as congestion even if losses are taken for corruption (parameter
     * corruption). */
    if (not_at_fault(ve, l->cause) && l->evidence != SCPS_BY_ECN) {
        scps_win_spare(&ve->win);
        return;
    }
    scps_win_reduce(&ve->win, v, l, flight(ve, v, ctl), ve->keep, ctl);
    scps_train_ss_forget(&ve->train_ss, ctl);
    scps_vegas_path_end_test(&ve->path);
    ve->exponential = false;
    ve->over = 0;
}

static void timeout(struct vegas *ve, const struct scps_cc_view *v, struct scps_cc_ctl *ctl)
{
    if (ve->timeouts < UINT16_MAX)
        ve->timeouts++;
    if (ve->forget_after && ve->timeouts >= ve->forget_after)
        forget_base(ve, ctl);
    if (not_at_fault(ve, v->cause))
        return;
    scps_win_rto(&ve->win, v, ve->keep, ctl);
    scps_vegas_path_end_test(&ve->path);
    ve->exponential = true;
    ve->over = 0;
    scps_train_ss_forget(&ve->train_ss, ctl);
}

static void change(void *s, const struct scps_cc_view *v, enum scps_cc_change what,
                   struct scps_cc_ctl *ctl)
{
    struct vegas *ve = s;

    switch (what) {
    case SCPS_CC_RTO:
        timeout(ve, v, ctl);
        break;
    case SCPS_CC_RECOVERED:
        scps_win_recovered(&ve->win, v, ve->keep, ctl);
        break;
    case SCPS_CC_PATH:
        forget_base(ve, ctl);
        /* fall through */
    /* After an idle time, or a change of the path, the window is set to one initial window, and
     * slow start, which ends when a queue builds, leads back to the old one. */
    case SCPS_CC_IDLE:
        scps_vegas_path_end_test(&ve->path);
        scps_win_path(&ve->win, v, ctl);
        ve->exponential = true;
        scps_train_ss_forget(&ve->train_ss, ctl);
        break;
    /* After an outage of the link a new round trip begins: the window stays as it was before the
     * outage, and the time of the outage must not count in a round trip. */
    case SCPS_CC_LINK_UP:
        scps_vegas_brake_outage(&ve->braking);
        /* fall through */
    /* After a spurious recovery was undone a new round trip begins: the core has restored all
     * state, including the beginning of a round trip that ended long ago. */
    case SCPS_CC_SPURIOUS:
        stop_test(ve, ctl);
        new_round(ve, v);
        break;
    }
}

static size_t more_state(const int64_t *param)
{
    return param[P_SLOW_START] == SCPS_SS_SEARCH ? sizeof(struct scps_search) : 0;
}

const struct scps_cc_ops scps_cc_vegas = {
    .name = "vegas",
    .help = "Vegas as in SCPS-TP: window by queueing delay; a loss by congestion halves it",
    .state_size = sizeof(struct vegas),
    .params = params,
    .by_age = true,
    .start = start,
    .ack = ack,
    .loss = loss,
    .change = change,
    .more_state = more_state,
};

const struct scps_cc_ops scps_cc_vegas_corruption = {
    .name = "vegas-corruption",
    .help = "Vegas as in SCPS-TP: window by queueing delay; takes losses for corruption",
    .state_size = sizeof(struct vegas),
    .params = params_corruption,
    .by_age = true,
    .start = start,
    .ack = ack,
    .loss = loss,
    .change = change,
    .more_state = more_state,
};
