/* SPDX-License-Identifier: MIT */
/* The part that all loss-based controllers have in common: the window of RFC 5681, counted in
 * bytes.
 *
 *   cwnd |                  /|      /|      avoidance: a segment for every cwnd bytes acknowledged
 *        |               /   |   /   |
 *   ssthresh - - - - -/- - - |/      |      loss: down to ssthresh, once an episode
 *        |           /               |
 *        |          | slow start: a byte for a byte
 *     IW |_________/                 |___   timeout: one segment, then slow start to ssthresh
 *
 * Invariants: growth counts bytes that newly arrived, never acknowledgements, so one ACK for
 * hundreds of segments (strictly delayed ACKs, a slow return link) grows the window as much as
 * hundreds of ACKs would. The window does not grow while it is not what limits the sender.
 *
 * Each controller adds its own rules where it differs from Reno: for growth, and for the part of
 * the window that remains after a loss.
 */
#ifndef SCPS_CC_WINDOW_H
#define SCPS_CC_WINDOW_H

#include "cc/hystart.h"
#include "cc/search.h"

struct scps_win {
    /* Acknowledged bytes that have not increased the window yet, in units of 1/256 byte. In CUBIC's
     * congestion avoidance: the same bytes times (target - cwnd), bytes x bytes, where cwnd of them
     * increase the window by one byte. */
    uint64_t credit;
    /* After a timeout: how many of the bytes that were in flight at the timeout are not
     * acknowledged yet. 0: none, or there was no timeout. */
    uint32_t repair;
    bool limited : 1;     /* true: the window limited sending at some time in this round trip */
    bool was_limited : 1; /* true: the window limited sending in the previous round trip */
    bool timed_out : 1;   /* true: a timeout has occurred, and no new data was acknowledged since */
    bool cut : 1;         /* true: the window has been reduced in this recovery episode */
    /* true: the losses of this recovery episode were attributed to corruption and did not reduce
     * the window, so the window may grow during the episode */
    bool spared : 1;
    /* values of the parameters that the user can set (hystart and others) */
    bool hystart : 1, heed_corruption : 1, idle_restart : 1;
    uint8_t abc_limit; /* L of RFC 3465, segments an ACK; 0: no limit */
    /* offset, octets, from the beginning of this structure to the state of SEARCH (an algorithm
     * that ends slow start, draft-chung-ccwg-search; search.h), which lies behind the controller's
     * own state; 0: SEARCH is off */
    uint16_t search_at : 15;
    /* 1: this recovery episode reduced the window to a part of pipeACK, which was larger than
     * FlightSize (RFC 7661 section 4.4.1) */
    uint16_t by_pipe : 1;
    struct scps_hystart hs;
};

/* The values of the parameter slow-start, which says what ends slow start: only ssthresh or a loss
 * (STANDARD), HyStart++ or SEARCH, too. */
enum { SCPS_SS_STANDARD, SCPS_SS_HYSTART, SCPS_SS_SEARCH };

/* Indices of the parameters of every loss-based controller, which come first in its list. */
enum {
    SCPS_WIN_SSTHRESH,
    SCPS_WIN_ABC_LIMIT,
    SCPS_WIN_CORRUPTION,
    SCPS_WIN_IDLE,
    SCPS_WIN_SLOW_START,
    SCPS_WIN_PARAMS
};
/* clang-format off */
#define SCPS_WIN_PARAM_LIST(slow_start)                                                           \
    {"ssthresh", "initial slow-start threshold, bytes; 0: none", 0, 0, INT64_C(1) << 40},         \
    {"abc_limit", "largest growth for one ACK in slow start, segments (L of RFC 3465); "          \
     "0: no limit", 0, 0, 255},                                                                   \
    {"corruption", "1: a loss by corruption does not reduce the window; 0: it does, like one by " \
     "congestion", 1, 0, 1},                                                                      \
    {"idle", "1: restart from the initial window after an RTO without sending (RFC 5681 4.1); "   \
     "0: keep the window", 1, 0, 1},                                                              \
    {"slow-start", "how the first slow start ends: at a loss, by HyStart++ (RFC 9406) or by "     \
     "SEARCH (draft-chung-ccwg-search)",                                                          \
     slow_start, 0, 2, "standard hystart search", "hystart"}
/* clang-format on */

/* Sets window and threshold of a new connection. param: values in the order of the enumeration
 * above; NULL: the defaults. size: octets of the controller's state, whose first member is w; the
 * state of SEARCH is behind it. */
void scps_win_start(struct scps_win *w, const int64_t *param, size_t size,
                    const struct scps_cc_view *v, struct scps_cc_ctl *ctl);
/* Sets how slow start ends: slow_start is SCPS_SS_*; size: octets of the controller's state. */
void scps_win_choose(struct scps_win *w, int64_t slow_start, size_t size);
/* Returns the octets of state that a controller with parameters `param` needs beyond
 * scps_cc_ops.state_size: those of SEARCH if slow-start=search, else 0. Controllers use it as
 * scps_cc_ops.more_state. */
size_t scps_win_more_state(const int64_t *param);

/* Called on every ACK before the other functions. Returns the number of bytes by which this ACK may
 * grow the window: those that it shows to have arrived (a->bytes), with these exceptions.
 * - During fast recovery in which the window was reduced the result is 0.
 * - In slow start it is at most abc_limit segments (RFC 3465) if that parameter is not 0.
 * - After a timeout, while bytes that were in flight then are not acknowledged (w->repair is not
 *   0): fast recovery does not make it 0, and in slow start it is at most one segment if abc_limit
 *   is not 0, otherwise at most cwnd.
 * - It is 0 if the window has not limited sending in this round trip or the one before. A whole
 *   round trip counts, because a rate limit (token bucket) lets segments out in bursts: most ACKs
 *   find that the bucket is the limit, and only the last segments of a burst wait for the
 *   window. */
uint64_t scps_win_credit(struct scps_win *w, const struct scps_cc_view *v,
                         const struct scps_cc_ack *a, const struct scps_cc_ctl *ctl);

/* Grows the window by a byte for each of `bytes` acknowledged bytes, up to ssthresh. Returns the
 * bytes that are left when the window has reached ssthresh, for scps_win_avoid(). */
uint64_t scps_win_slow_start(struct scps_win *w, const struct scps_cc_view *v,
                             const struct scps_cc_ack *a, uint64_t bytes, struct scps_cc_ctl *ctl);

/* Grows the window in congestion avoidance: by gain/256 segments for every cwnd bytes acknowledged,
 * of which this call counts `bytes`. gain 256 is Reno's one segment in a round trip. */
void scps_win_avoid(struct scps_win *w, const struct scps_cc_view *v, uint64_t bytes, uint64_t gain,
                    struct scps_cc_ctl *ctl);

/* Returns the number of bytes of which a loss leaves a part (keep/1024) as the new window:
 * FlightSize, or cwnd if that is less, because selective acknowledgements do not reduce FlightSize.
 * In the nonvalidated phase the result is at least pipeACK (RFC 7661 section 4.4.1): a sender that
 * has no more data to send has a FlightSize far below what the path carries. */
uint64_t scps_win_flight(const struct scps_cc_view *v, const struct scps_cc_ctl *ctl);

/* Reacts to a loss: sets cwnd and ssthresh to keep/1024 of `flight`, bytes, but at least two
 * segments. */
void scps_win_cut(struct scps_win *w, const struct scps_cc_view *v, uint64_t flight, unsigned keep,
                  struct scps_cc_ctl *ctl);

/* Reacts to loss l as scps_win_cut() does. If l is an ECN echo, it also reduces cwnd to at most
 * keep/1024 of its size before, and to no less than one segment, where a loss leaves two (RFC 3168
 * section 6.1.2, RFC 9438 section 4.6). */
void scps_win_reduce(struct scps_win *w, const struct scps_cc_view *v, const struct scps_cc_loss *l,
                     uint64_t flight, unsigned keep, struct scps_cc_ctl *ctl);

/* Records a loss that must not reduce the window, because it was attributed to corruption: cwnd is
 * unchanged, and may grow during this recovery episode. */
void scps_win_spare(struct scps_win *w);

/* Returns true if a loss with this cause must reduce the window: true for congestion; for
 * corruption only if the parameter corruption is off (heed_corruption is false); false for an
 * outage. */
bool scps_win_at_fault(const struct scps_win *w, enum scps_loss_cause cause);

/* Called for each loss or ECN echo. If it is the first of its recovery episode (l->new_episode) and
 * its cause is congestion, or corruption with the parameter corruption=0, reduces cwnd and ssthresh
 * to keep/1024 of scps_win_flight() and returns true. Otherwise the window stays, and the result is
 * false. */
bool scps_win_loss(struct scps_win *w, const struct scps_cc_view *v, const struct scps_cc_loss *l,
                   unsigned keep, struct scps_cc_ctl *ctl);

/* Called when the retransmission timer has expired: sets the window to one segment. Also sets
 * ssthresh to keep/1024 of the bytes outstanding, or less (RFC 5681 equation 4), unless there was a
 * timeout before and since then no acknowledgement has reported data of this end as newly
 * arrived. */
void scps_win_rto(struct scps_win *w, const struct scps_cc_view *v, unsigned keep,
                  struct scps_cc_ctl *ctl);

/* Called when sending begins again after an idle time of more than an RTO: reduces cwnd to the
 * restart window (RFC 5681 section 4.1). */
void scps_win_idle(struct scps_win *w, const struct scps_cc_view *v, struct scps_cc_ctl *ctl);

/* Called when the path has changed: begins slow start again, with the old window as ssthresh,
 * because there is no acknowledgement clock on the new path yet. */
void scps_win_path(struct scps_win *w, const struct scps_cc_view *v, struct scps_cc_ctl *ctl);

/* Called at the end of a recovery episode. If the episode has reduced the window, which left the
 * share keep/1024 of it, limits cwnd to ssthresh. If that was a share of pipeACK (w->by_pipe), and
 * not of FlightSize or cwnd, first subtracts the same share of the bytes resent in the episode from
 * ssthresh, which stays at least two segments (RFC 7661 section 4.4.2). */
void scps_win_recovered(struct scps_win *w, const struct scps_cc_view *v, unsigned keep,
                        struct scps_cc_ctl *ctl);

/* Calls scps_win_rto(), scps_win_recovered(), scps_win_idle() or scps_win_path() for event `what`.
 * Returns true if the window was set anew, as the events RTO, IDLE and PATH can do; false
 * otherwise. */
bool scps_win_change(struct scps_win *w, const struct scps_cc_view *v, enum scps_cc_change what,
                     unsigned keep, struct scps_cc_ctl *ctl);

#endif
