/* SPDX-License-Identifier: MIT */
/* The common part of loss-based controllers; window.h has a drawing of the window over time.
 *
 * Sources: RFC 5681 sections 3.1 (growth, equation 4, loss window) and 4.1 (restart window); RFC
 * 3465 sections 2.1 to 2.3 (byte counting); RFC 6582 section 3.2 (once an episode); RFC 7661
 * sections 4.1 (no growth on a window that is not used) and 4.4 (loss in the nonvalidated phase);
 * RFC 9000 section 9.4 (another path has another capacity).
 *
 * Differences from the RFCs, with reasons:
 * - RFC 3465 limits growth to L = 2 segments an ACK in slow start, L = 1 after a timeout. That
 *   makes growth depend on the number of ACKs, and with strictly delayed ACKs (five a second,
 *   whatever was sent) slow start would be very slow. By default there is no L: only bytes that
 *   were sent can arrive, so a window still at most doubles in a round trip, and the pacer prevents
 *   the bursts that L is meant to prevent. After a timeout one ACK can cover data that arrived long
 *   before it, so an ACK counts at most as cwnd bytes, which is all that can have been sent since
 *   then. L is a parameter of controllers that have abc_limit, and then both rules of RFC 3465
 *   apply.
 * - Equation 4 uses FlightSize. While SACK reports data beyond a hole, FlightSize grows far beyond
 *   cwnd, and half of it would be no reduction, so it counts at most up to cwnd.
 * - RFC 7661 section 4.4.2 subtracts what was retransmitted from the window after recovery. Here it
 *   is subtracted only if the window was reduced to a part of pipeACK, because pipeACK was larger
 *   than FlightSize. If FlightSize was larger, the sender had used its window, and half of it, as
 *   in equation 4 of RFC 5681, is enough of a reduction. This holds at the end of slow start, too,
 *   when the window, and FlightSize with it, may be twice what arrives in a round trip: half of it
 *   is what arrives.
 * - At a timeout during recovery FlightSize may still be as before the reduction, or larger, so
 *   ssthresh never rises above its value.
 */
#include "cc/window.h"

#include <string.h>

#include "base/bytes.h"
#include "base/wide.h"

static uint64_t part(uint64_t bytes, unsigned keep, const struct scps_cc_view *v)
{
    uint64_t kept = scps_muldiv(bytes, keep, 1024);
    return SCPS_MAX(kept, 2 * (uint64_t)v->mss);
}

size_t scps_win_more_state(const int64_t *param)
{
    return param[SCPS_WIN_SLOW_START] == SCPS_SS_SEARCH ? sizeof(struct scps_search) : 0;
}

void scps_win_choose(struct scps_win *w, int64_t slow_start, size_t size)
{
    w->hystart = slow_start == SCPS_SS_HYSTART;
    w->search_at = slow_start == SCPS_SS_SEARCH ? size & 0x7fff : 0;
    if (w->search_at)
        memset((uint8_t *)w + size, 0, sizeof(struct scps_search));
}

/* Returns the state of SEARCH, an algorithm that ends slow start when less arrives than was sent a
 * round trip before (search.h). Precondition: SEARCH is on (parameter slow-start=search). */
static struct scps_search *search_of(struct scps_win *w)
{
    return (struct scps_search *)(void *)((uint8_t *)w + w->search_at);
}

void scps_win_start(struct scps_win *w, const int64_t *param, size_t size,
                    const struct scps_cc_view *v, struct scps_cc_ctl *ctl)
{
    *w = (struct scps_win){.heed_corruption = true, .idle_restart = true};
    ctl->cwnd = v->init_cwnd;
    ctl->ssthresh = UINT64_MAX;
    /* A controller with a window sets no rate: the core applies a configured rate, or paces cwnd
     * over srtt. */
    ctl->rate = 0;
    if (!param)
        return;
    w->abc_limit = (uint8_t)param[SCPS_WIN_ABC_LIMIT];
    w->heed_corruption = param[SCPS_WIN_CORRUPTION] != 0;
    w->idle_restart = param[SCPS_WIN_IDLE] != 0;
    scps_win_choose(w, param[SCPS_WIN_SLOW_START], size);
    if (param[SCPS_WIN_SSTHRESH])
        ctl->ssthresh = (uint64_t)param[SCPS_WIN_SSTHRESH];
}

uint64_t scps_win_credit(struct scps_win *w, const struct scps_cc_view *v,
                         const struct scps_cc_ack *a, const struct scps_cc_ctl *ctl)
{
    uint64_t bytes = a->bytes, most = UINT64_MAX;
    bool repairing = w->repair > 0;

    if (a->round_start) {
        w->was_limited = w->limited;
        w->limited = false;
    }
    w->limited |= v->cwnd_limited;
    if (!bytes)
        return 0;
    w->timed_out = false;
    w->repair -= (uint32_t)SCPS_MIN(w->repair, bytes);
    if ((a->in_recovery && !repairing && !w->spared) || !(w->limited || w->was_limited))
        return 0;
    if (ctl->cwnd < ctl->ssthresh) {
        if (w->abc_limit)
            most = (repairing ? 1 : (uint64_t)w->abc_limit) * v->mss;
        else if (repairing)
            most = ctl->cwnd;
    }
    return SCPS_MIN(bytes, most);
}

uint64_t scps_win_slow_start(struct scps_win *w, const struct scps_cc_view *v,
                             const struct scps_cc_ack *a, uint64_t bytes, struct scps_cc_ctl *ctl)
{
    if (ctl->cwnd >= ctl->ssthresh)
        return bytes;
    if (w->search_at && ctl->ssthresh == UINT64_MAX && scps_search_ack(search_of(w), v, a)) {
        ctl->ssthresh = ctl->cwnd;
        return bytes;
    }
    /* HyStart++ is used in the first slow start only, because later ones end at ssthresh. */
    if (w->hystart && ctl->ssthresh == UINT64_MAX) {
        unsigned div = scps_hystart_ack(&w->hs, a);
        if (!div) {
            ctl->ssthresh = ctl->cwnd;
            return bytes;
        }
        bytes /= div;
    }
    uint64_t grow = SCPS_MIN(bytes, ctl->ssthresh - ctl->cwnd);
    ctl->cwnd += grow;
    return bytes - grow;
}

void scps_win_avoid(struct scps_win *w, const struct scps_cc_view *v, uint64_t bytes, uint64_t gain,
                    struct scps_cc_ctl *ctl)
{
    const uint64_t step = ctl->cwnd * 256;
    uint64_t segs;

    w->credit += bytes * gain;
    if (!step || w->credit < step)
        return;
    segs = w->credit / step;
    w->credit -= segs * step;
    ctl->cwnd += segs * v->mss;
}

/* Returns pipeACK of RFC 7661 section 4.2, bytes, if the window is in the nonvalidated phase
 * (pipeACK less than half of cwnd, section 4.3), and 0 otherwise. */
static uint64_t unvalidated_pipe(const struct scps_cc_view *v, const struct scps_cc_ctl *ctl)
{
    return v->pipe_ack < ctl->cwnd / 2 ? v->pipe_ack : 0;
}

uint64_t scps_win_flight(const struct scps_cc_view *v, const struct scps_cc_ctl *ctl)
{
    uint64_t flight = SCPS_MIN(v->outstanding, ctl->cwnd);

    /* RFC 7661 section 4.4.1 after a loss: "cwnd = (Max(pipeACK,LossFlightSize))/2". This is the
     * maximum; scps_win_cut() takes the half (keep/1024) of it. */
    return SCPS_MAX(flight, unvalidated_pipe(v, ctl));
}

void scps_win_cut(struct scps_win *w, const struct scps_cc_view *v, uint64_t flight, unsigned keep,
                  struct scps_cc_ctl *ctl)
{
    w->by_pipe = unvalidated_pipe(v, ctl) > v->outstanding;
    ctl->ssthresh = part(flight, keep, v);
    /* After a lost SYN or a timeout cwnd is one segment (RFC 5681 section 3.1), but ssthresh is at
     * least two segments. A loss must not raise cwnd, so the smaller of both is taken. */
    ctl->cwnd = SCPS_MIN(ctl->cwnd, ctl->ssthresh);
    w->credit = 0;
    w->repair = 0;
    w->timed_out = w->spared = false;
    w->cut = true;
}

void scps_win_reduce(struct scps_win *w, const struct scps_cc_view *v, const struct scps_cc_loss *l,
                     uint64_t flight, unsigned keep, struct scps_cc_ctl *ctl)
{
    uint64_t kept = scps_muldiv(ctl->cwnd, keep, 1024);

    scps_win_cut(w, v, flight, keep, ctl);
    if (l->evidence == SCPS_BY_ECN)
        ctl->cwnd = SCPS_MIN(ctl->cwnd, SCPS_MAX(kept, v->mss));
}

void scps_win_spare(struct scps_win *w)
{
    w->spared = true;
    w->cut = false;
}

bool scps_win_at_fault(const struct scps_win *w, enum scps_loss_cause cause)
{
    return cause == SCPS_LOSS_CONGESTION || (cause == SCPS_LOSS_CORRUPTION && !w->heed_corruption);
}

bool scps_win_loss(struct scps_win *w, const struct scps_cc_view *v, const struct scps_cc_loss *l,
                   unsigned keep, struct scps_cc_ctl *ctl)
{
    if (!l->new_episode)
        return false;
    if (!scps_win_at_fault(w, l->cause)) {
        scps_win_spare(w);
        return false;
    }
    scps_win_reduce(w, v, l, scps_win_flight(v, ctl), keep, ctl);
    return true;
}

void scps_win_rto(struct scps_win *w, const struct scps_cc_view *v, unsigned keep,
                  struct scps_cc_ctl *ctl)
{
    if (!w->timed_out) {
        uint64_t half = part(v->outstanding, keep, v);
        uint64_t most = ctl->cwnd <= ctl->ssthresh ? ctl->ssthresh : part(ctl->cwnd, keep, v);
        ctl->ssthresh = SCPS_MIN(half, most);
    }
    w->timed_out = true;
    w->cut = w->spared = false;
    w->credit = 0;
    w->repair = (uint32_t)SCPS_CLAMP(v->outstanding, w->repair, UINT32_MAX);
    ctl->cwnd = v->mss;
}

SCPS_NOINLINE_SIZE void scps_win_idle(struct scps_win *w, const struct scps_cc_view *v,
                                      struct scps_cc_ctl *ctl)
{
    w->credit = 0;
    ctl->cwnd = SCPS_MIN(ctl->cwnd, v->init_cwnd);
}

void scps_win_path(struct scps_win *w, const struct scps_cc_view *v, struct scps_cc_ctl *ctl)
{
    ctl->ssthresh = SCPS_MAX(ctl->ssthresh, ctl->cwnd);
    scps_win_idle(w, v, ctl);
}

void scps_win_recovered(struct scps_win *w, const struct scps_cc_view *v, unsigned keep,
                        struct scps_cc_ctl *ctl)
{
    if (w->cut && w->by_pipe) {
        /* RFC 7661 section 4.4.2: "cwnd = (Max(pipeACK,LossFlightSize) - R)/2", where R is what was
         * retransmitted in the episode. */
        uint64_t less = scps_muldiv(v->resent, keep, 1024);

        less = SCPS_MIN(less, ctl->ssthresh);
        ctl->ssthresh = SCPS_MAX(ctl->ssthresh - less, 2 * (uint64_t)v->mss);
    }
    if (w->cut)
        ctl->cwnd = SCPS_MIN(ctl->cwnd, ctl->ssthresh);
    w->repair = 0;
    w->cut = w->spared = false;
}

bool scps_win_change(struct scps_win *w, const struct scps_cc_view *v, enum scps_cc_change what,
                     unsigned keep, struct scps_cc_ctl *ctl)
{
    switch (what) {
    case SCPS_CC_RTO:
        if (!scps_win_at_fault(w, v->cause))
            return false;
        scps_win_rto(w, v, keep, ctl);
        return true;
    case SCPS_CC_RECOVERED:
        scps_win_recovered(w, v, keep, ctl);
        return false;
    case SCPS_CC_IDLE:
        if (!w->idle_restart)
            return false;
        scps_win_idle(w, v, ctl);
        return true;
    case SCPS_CC_PATH:
        scps_win_path(w, v, ctl);
        return true;
    /* The core has restored the window and the controller's state, so nothing is left to do. */
    case SCPS_CC_SPURIOUS:
    /* After an outage of the link the window from before it stays valid. */
    case SCPS_CC_LINK_UP:
        return false;
    }
    return false;
}
