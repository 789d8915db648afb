/* SPDX-License-Identifier: MIT */
/* Careful resume (RFC 9959); resume.h shows the phases.
 *
 * Source: RFC 9959 sections 3.2 to 3.7, 4.2 and 4.3, and its appendix on BBR; the names are those
 * of the RFC. A segment was sent in the Unvalidated Phase if its delivery-rate sample says that the
 * total delivered at its sending was at least that at the beginning of the phase.
 *
 * What the RFC leaves to the implementation:
 * - A loss that is attributed to corruption or to an outage is no congestion, here as for the
 *   controllers. Exception: the controller vegas-corruption, which takes losses for corruption,
 *   halves its window if they are too many (vegas_brake.h); during a jump that is congestion.
 * - The jump, the step of the window to jump_cwnd that begins the Unvalidated Phase, is paced by
 *   the current round trip and never faster than the path delivered before: saved_cwnd may have
 *   been measured over a round trip with a queue in it.
 * - If the saving connection had found the limit of the path, slow start ends at saved_cwnd.
 * - In the Safe Retreat Phase, which follows a loss of data sent in the jump, only acknowledgements
 *   of data sent before it add to PipeSize, the RFC's measure of what the path holds (octets in
 *   flight at the jump and acknowledged since): a repaired loss is no sign of capacity.
 * - The Safe Retreat Phase ends a round trip after it began, with the acknowledgement of "the last
 *   packet (or later)", which need not be cumulative: the repair of a jump that was far too large
 *   may take minutes. The slow start that follows goes on during the repair, in which the
 *   controller would not grow its window, and also for Vegas, which has ended its slow start.
 */
#include "core/resume.h"

#include "base/bytes.h"
#include "base/wide.h"

/* An RTT above this many times saved_rtt belongs to another path (RFC 9959 section 4.2.1). */
#define NEW_PATH  10
#define BETA_HALF 2 /* 1/Beta of RFC 9959: "The default value is 0.5" */

static const struct scps_cc_ops *ops_of(struct scps_resume_cc cc)
{
    return cc.x->cfg->c.cc;
}

static bool jumped(const struct scps_resume *r)
{
    return r->phase == SCPS_RESUME_UNVALIDATED || r->phase == SCPS_RESUME_VALIDATING;
}

static void enter(struct scps_resume *r, const struct scps_conn_ctx *x,
                  enum scps_resume_phase phase, enum scps_resume_why why, uint64_t cwnd)
{
    r->phase = (uint8_t)phase;
    r->been |= (uint16_t)(1u << phase);
    SCPS_OBSERVE(x, RESUME, phase, why, cwnd, r->pipe);
}

/* For a controller that models the path (it has the hook `resume`): passes the request `what` with
 * the rate or window `amount` to that hook, and returns true if the controller agrees. Returns true
 * for any other controller. */
static bool ask(struct scps_resume_cc cc, const struct scps_cc_view *v, enum scps_cc_resume what,
                uint64_t amount, struct scps_cc_ctl *ctl)
{
    const struct scps_cc_ops *ops = ops_of(cc);

    return !ops->resume || ops->resume(cc.state, v, what, amount, ctl);
}

/* Returns PipeSize * Beta of RFC 9959 (Beta 0.5), at least two segments, bytes. */
static SCPS_NOINLINE_SIZE uint64_t half(const struct scps_resume *r, const struct scps_cc_view *v)
{
    return SCPS_MAX(r->pipe / BETA_HALF, 2 * (uint64_t)v->mss);
}

/* Restores the rate that a window-based controller had before careful resume raised its window (RFC
 * 9959). */
static void restore_rate(const struct scps_resume *r, struct scps_resume_cc cc,
                         struct scps_cc_ctl *ctl)
{
    if (!ops_of(cc)->resume)
        ctl->rate = r->rate;
}

static void normal(struct scps_resume *r, struct scps_resume_cc cc, const struct scps_cc_view *v,
                   enum scps_resume_why why, struct scps_cc_ctl *ctl)
{
    if (r->phase != SCPS_RESUME_RECONNAISSANCE) {
        restore_rate(r, cc, ctl);
        ask(cc, v, SCPS_CC_RESUMED, 0, ctl);
    }
    enter(r, cc.x, SCPS_RESUME_NORMAL, why, ctl->cwnd);
}

/* Sets ctl->phase, which traces show, from the phase of careful resume, for a window-based
 * controller; a controller with the hook `resume` sets its phase itself. */
static void show(const struct scps_resume *r, struct scps_resume_cc cc, struct scps_cc_ctl *ctl)
{
    static const uint8_t phase[] = {[SCPS_RESUME_NORMAL] = SCPS_PHASE_NONE,
                                    [SCPS_RESUME_RECONNAISSANCE] = SCPS_PHASE_RECONNAISSANCE,
                                    [SCPS_RESUME_UNVALIDATED] = SCPS_PHASE_UNVALIDATED,
                                    [SCPS_RESUME_VALIDATING] = SCPS_PHASE_VALIDATING,
                                    [SCPS_RESUME_RETREAT] = SCPS_PHASE_SAFE_RETREAT};

    if (!ops_of(cc)->resume && ctl->phase < SCPS_PHASE_BRAKE)
        ctl->phase = phase[r->phase];
}

void scps_resume_begin(struct scps_resume *r, const struct scps_conn_ctx *x, uint64_t cwnd,
                       uint64_t rate, scps_dur rtt, bool limit_found, uint64_t max_jump)
{
    *r = (struct scps_resume){.saved_cwnd = cwnd,
                              .saved_rate = rate,
                              .saved_rtt = rtt,
                              .limit_found = limit_found,
                              .max_jump = max_jump};
    enter(r, x, SCPS_RESUME_RECONNAISSANCE, SCPS_RESUME_RESTORED, 0);
}

/* ---- functions of the Reconnaissance Phase (RFC 9959 section 3.2) ---- */

static void jump(struct scps_resume *r, struct scps_resume_cc cc, const struct scps_cc_view *v,
                 struct scps_cc_ctl *ctl)
{
    uint64_t rate;

    r->pipe = v->outstanding; /* RFC 9959: PipeSize starts as flight_size */
    r->since = v->now;
    /* The window of the Unvalidated Phase, jump_cwnd, is paced over the least RTT of this
     * connection, and the phase lasts that long: later samples may include the peer's delayed
     * ACK. */
    r->rtt = v->min_rtt;
    r->began = v->delivered;
    r->rate = ctl->rate;
    rate = SCPS_MAX(SCPS_MIN(scps_muldiv(r->jump, 1000000, (uint64_t)r->rtt), r->saved_rate), 1);
    if (ops_of(cc)->resume) {
        ask(cc, v, SCPS_CC_JUMP, SCPS_MIN(rate, SCPS_MAX(r->saved_rate / 2, 1)), ctl);
    } else {
        ctl->cwnd = r->jump;
        ctl->rate = rate;
        if (r->limit_found)
            ctl->ssthresh = SCPS_MIN(ctl->ssthresh, SCPS_MAX(r->saved_cwnd, r->jump));
    }
    enter(r, cc.x, SCPS_RESUME_UNVALIDATED, SCPS_RESUME_CONFIRMED, r->jump);
}

static void reconnoitre(struct scps_resume *r, struct scps_resume_cc cc,
                        const struct scps_cc_view *v, const struct scps_cc_ack *a,
                        struct scps_cc_ctl *ctl)
{
    if (a->marked) {
        normal(r, cc, v, SCPS_RESUME_ECN, ctl);
        return;
    }
    if (v->delivered < v->init_cwnd || !v->min_rtt)
        /* RFC 9959 section 3.2: "all the initial data (usually the IW)" is not acknowledged yet. */
        return;
    if (v->min_rtt <= r->saved_rtt / 2) {
        normal(r, cc, v, SCPS_RESUME_RTT_TOO_SHORT, ctl);
        return;
    }
    if (v->min_rtt / NEW_PATH > r->saved_rtt) {
        normal(r, cc, v, SCPS_RESUME_RTT_TOO_LONG, ctl);
        return;
    }
    r->jump = SCPS_MIN(r->saved_cwnd / 2, v->max_cwnd);
    if (r->max_jump)
        r->jump = SCPS_MIN(r->jump, r->max_jump);
    if (r->jump <= ctl->cwnd) {
        normal(r, cc, v, SCPS_RESUME_NOTHING_GAINED, ctl);
        return;
    }
    /* RFC 9959: the transition to the Unvalidated Phase "MAY be deferred"; here it is while the
     * application gives the sender too little data to fill the congestion window. */
    if (!v->app_limited)
        jump(r, cc, v, ctl);
}

/* ---- functions of the Safe Retreat Phase (RFC 9959 section 3.5) ---- */

static void retreat(struct scps_resume *r, struct scps_resume_cc cc, const struct scps_cc_view *v,
                    enum scps_resume_why why, struct scps_cc_ctl *ctl)
{
    restore_rate(r, cc, ctl);
    r->retreat = half(r, v);
    r->began = v->delivered;
    r->last = v->delivered + v->inflight;
    if (ops_of(cc)->resume)
        ask(cc, v, SCPS_CC_RETREAT, r->retreat, ctl);
    else
        ctl->cwnd = SCPS_MIN(ctl->cwnd, r->retreat);
    enter(r, cc.x, SCPS_RESUME_RETREAT, why, ctl->cwnd);
}

/* Ends the Safe Retreat Phase: sets ssthresh to PipeSize * Beta in place of what the controller
 * chose at the loss (RFC 9959: "the ssthresh MUST be set to no larger than the most recently
 * measured PipeSize * Beta"). PipeSize has grown since then by the data that was acknowledged. */
static void end_retreat(struct scps_resume *r, struct scps_resume_cc cc,
                        const struct scps_cc_view *v, struct scps_cc_ctl *ctl)
{
    if (!ops_of(cc)->resume) {
        ctl->ssthresh = half(r, v);
        r->retreat = ctl->cwnd;
        r->regrow = true;
    }
    normal(r, cc, v, SCPS_RESUME_RETREATED, ctl);
}

/* Grows the window by slow start after the Safe Retreat Phase, until the controller lowers its
 * window or ssthresh is reached. */
static void regrow(struct scps_resume *r, const struct scps_cc_view *v, const struct scps_cc_ack *a,
                   struct scps_cc_ctl *ctl)
{
    const uint64_t grown = SCPS_MIN(r->retreat + a->bytes, ctl->ssthresh);

    if (ctl->cwnd >= r->retreat && v->cwnd_limited)
        ctl->cwnd = SCPS_MAX(ctl->cwnd, grown);
    r->regrow = ctl->cwnd >= r->retreat && ctl->cwnd < ctl->ssthresh;
    r->retreat = ctl->cwnd;
}

static void keep_low(struct scps_resume *r, struct scps_resume_cc cc, const struct scps_cc_view *v,
                     const struct scps_cc_ack *a, struct scps_cc_ctl *ctl)
{
    if (a->sample_bytes && a->prior_delivered < r->began)
        r->pipe += a->bytes;
    if (ops_of(cc)->resume) {
        if (ask(cc, v, SCPS_CC_STEADY, 0, ctl))
            end_retreat(r, cc, v, ctl);
        return;
    }
    /* RFC 9959 section 3.5: the window "MUST NOT be increased" in the Safe Retreat Phase. */
    r->retreat = SCPS_MIN(r->retreat, ctl->cwnd);
    ctl->cwnd = r->retreat;
    if ((a->sample_bytes && a->prior_delivered >= r->began) ||
        (!a->in_recovery && v->delivered >= r->last))
        end_retreat(r, cc, v, ctl);
}

/* ---- functions of the Unvalidated Phase (RFC 9959 section 3.3) ---- */

static void leave_unvalidated(struct scps_resume *r, struct scps_resume_cc cc,
                              const struct scps_cc_view *v, enum scps_resume_why why,
                              struct scps_cc_ctl *ctl)
{
    const uint64_t flight = v->outstanding;

    r->last = v->delivered + v->inflight;
    if (!ops_of(cc)->resume) {
        if (flight < v->init_cwnd || flight <= r->pipe) {
            ctl->cwnd = SCPS_MAX(r->pipe, v->init_cwnd);
            normal(r, cc, v, SCPS_RESUME_RATE_LIMITED, ctl);
            return;
        }
        ctl->cwnd = flight;
        restore_rate(r, cc, ctl);
    }
    enter(r, cc.x, SCPS_RESUME_VALIDATING, why, ctl->cwnd);
}

static void unvalidated(struct scps_resume *r, struct scps_resume_cc cc,
                        const struct scps_cc_view *v, const struct scps_cc_ack *a,
                        struct scps_cc_ctl *ctl)
{
    const bool modelled = ops_of(cc)->resume != NULL;

    if (!modelled)
        /* The controller's own growth of the window has no effect in the Unvalidated Phase. */
        ctl->cwnd = r->jump;
    if (v->min_rtt <= r->saved_rtt / 2)
        retreat(r, cc, v, SCPS_RESUME_PATH_CHANGED, ctl);
    else if (a->sample_bytes && a->prior_delivered >= r->began)
        leave_unvalidated(r, cc, v, SCPS_RESUME_FIRST_ACKED, ctl);
    else if (!modelled && v->outstanding + v->mss > r->jump)
        leave_unvalidated(r, cc, v, SCPS_RESUME_LAST_SENT, ctl);
    else if (v->now - r->since > r->rtt)
        leave_unvalidated(r, cc, v, SCPS_RESUME_RTT_EXCEEDED, ctl);
}

/* ---- acknowledgements, losses, timeouts: events that change the phase of careful resume ---- */

SCPS_NOINLINE void scps_resume_ack(struct scps_resume *r, struct scps_resume_cc cc,
                                   const struct scps_cc_view *v, const struct scps_cc_ack *a,
                                   struct scps_cc_ctl *ctl)
{
    if (r->phase == SCPS_RESUME_RECONNAISSANCE) {
        reconnoitre(r, cc, v, a, ctl);
    } else if (r->phase == SCPS_RESUME_RETREAT) {
        keep_low(r, cc, v, a, ctl);
    } else if (jumped(r)) {
        r->pipe += a->bytes;
        if (a->marked)
            retreat(r, cc, v, SCPS_RESUME_ECN, ctl);
        else if (!ask(cc, v, SCPS_CC_STEADY, 0, ctl) || ctl->phase == SCPS_PHASE_BRAKE)
            retreat(r, cc, v, SCPS_RESUME_LOSS, ctl);
        else if (r->phase == SCPS_RESUME_UNVALIDATED)
            unvalidated(r, cc, v, a, ctl);
        /* RFC 9959 section 3.4: the last segment of the Unvalidated Phase has arrived. */
        else if (v->delivered >= r->last)
            normal(r, cc, v, SCPS_RESUME_VALIDATED, ctl);
    } else if (r->regrow) {
        regrow(r, v, a, ctl);
    }
    show(r, cc, ctl);
}

void scps_resume_before_loss(const struct scps_resume *r, const struct scps_conn_ctx *x,
                             const struct scps_cc_loss *l, struct scps_cc_ctl *ctl)
{
    if (jumped(r) && l->cause == SCPS_LOSS_CONGESTION && !x->cfg->c.cc->resume)
        ctl->cwnd = SCPS_MIN(ctl->cwnd, r->pipe);
}

void scps_resume_loss(struct scps_resume *r, struct scps_resume_cc cc, const struct scps_cc_view *v,
                      const struct scps_cc_loss *l, struct scps_cc_ctl *ctl)
{
    enum scps_resume_why why = l->evidence == SCPS_BY_ECN ? SCPS_RESUME_ECN : SCPS_RESUME_LOSS;

    if (l->cause != SCPS_LOSS_CONGESTION)
        return;
    if (l->new_episode)
        r->regrow = false;
    if (r->phase == SCPS_RESUME_RECONNAISSANCE)
        normal(r, cc, v, why, ctl);
    else if (jumped(r) && !ops_of(cc)->resume)
        retreat(r, cc, v, why, ctl);
    else if (jumped(r) && !ask(cc, v, SCPS_CC_STEADY, 0, ctl))
        retreat(r, cc, v, why, ctl);
    show(r, cc, ctl);
}

/* Called at a timeout, which is ignored unless it is attributed to congestion. It shows persistent
 * congestion (RFC 9959 section 3.6), so careful resume ends in every phase. If the connection was
 * in a phase after the Reconnaissance Phase, and the controller is window-based, ssthresh is
 * lowered to the window of the Safe Retreat Phase, half of PipeSize. */
static void timed_out(struct scps_resume *r, struct scps_resume_cc cc, const struct scps_cc_view *v,
                      struct scps_cc_ctl *ctl)
{
    if (v->cause != SCPS_LOSS_CONGESTION)
        return;
    if (r->phase != SCPS_RESUME_RECONNAISSANCE && !ops_of(cc)->resume) {
        r->retreat = half(r, v);
        ctl->ssthresh = SCPS_MIN(ctl->ssthresh, r->retreat);
    }
    normal(r, cc, v, SCPS_RESUME_TIMEOUT, ctl);
}

/* Called when a recovery episode was spurious, and the window from before that episode has been
 * restored: limits the window to what was validated (PipeSize of RFC 9959). */
static void undone(struct scps_resume *r, struct scps_resume_cc cc, const struct scps_cc_view *v,
                   struct scps_cc_ctl *ctl)
{
    if (!r->retreat || ops_of(cc)->resume)
        return;
    r->retreat = 0;
    r->regrow = false;
    ctl->cwnd = SCPS_MIN(ctl->cwnd, SCPS_MAX(r->pipe, v->init_cwnd));
    restore_rate(r, cc, ctl);
    if (r->phase == SCPS_RESUME_RETREAT)
        normal(r, cc, v, SCPS_RESUME_RETREATED, ctl);
}

static void changed(struct scps_resume *r, struct scps_resume_cc cc, const struct scps_cc_view *v,
                    enum scps_cc_change what, struct scps_cc_ctl *ctl)
{
    if (what == SCPS_CC_SPURIOUS || what == SCPS_CC_LINK_UP) {
        undone(r, cc, v, ctl);
        return;
    }
    if (what == SCPS_CC_RTO)
        r->regrow = false;
    if (r->phase == SCPS_RESUME_NORMAL)
        return;
    if (what == SCPS_CC_RTO) {
        timed_out(r, cc, v, ctl);
    } else if (what == SCPS_CC_RECOVERED) {
        if (r->phase == SCPS_RESUME_RETREAT && !ops_of(cc)->resume)
            end_retreat(r, cc, v, ctl);
    } else if (what == SCPS_CC_PATH) {
        if (jumped(r))
            retreat(r, cc, v, SCPS_RESUME_PATH_CHANGED, ctl);
        else if (r->phase == SCPS_RESUME_RECONNAISSANCE)
            normal(r, cc, v, SCPS_RESUME_PATH_CHANGED, ctl);
        /* In the branches that follow the event is SCPS_CC_IDLE: nothing is outstanding. */
    } else if (r->phase == SCPS_RESUME_RETREAT) {
        end_retreat(r, cc, v, ctl);
    } else if (jumped(r)) {
        normal(r, cc, v, SCPS_RESUME_RATE_LIMITED, ctl);
    }
}

void scps_resume_change(struct scps_resume *r, struct scps_resume_cc cc,
                        const struct scps_cc_view *v, enum scps_cc_change what,
                        struct scps_cc_ctl *ctl)
{
    changed(r, cc, v, what, ctl);
    show(r, cc, ctl);
}
