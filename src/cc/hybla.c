/* SPDX-License-Identifier: MIT */
/* Hybla: a path with a long round trip gets the growth of a short one.
 *
 *     rho = RTT / RTT0, RTT0 = 25 ms, at least 1
 *
 *     slow start    the window grows by 2^rho - 1 segments for each segment acknowledged: in a
 *                   round trip to 2^rho times its size, so in each RTT0 it doubles
 *     avoidance     the window grows by rho^2 segments in each round trip: by rho in each RTT0
 *
 * At the same rate the window is rho times that of a connection with a round trip of 25 ms, so the
 * rate (not the window) grows as on such a connection.
 *
 * Source: Caini and Firrincieli, "TCP Hybla: a TCP enhancement for heterogeneous networks", Int. J.
 * of Satellite Communications and Networking 22, 2004. A loss halves the window and a timeout sets
 * it to one segment, as in Reno.
 *
 * Differences from the paper. At 500 ms rho is 20, and the paper's slow start would answer the
 * first ACK with a million segments; the paper assumes a threshold that is known from an estimate
 * of the bandwidth, and spaced segments. Here:
 * - slow start adds at most ss_gain segments for each segment acknowledged (31: a window 32 times
 *   as large after a round trip), and no single ACK more than doubles the window;
 * - the threshold is measured: the first train of ACKs whose segments waited in a queue shows what
 *   the bottleneck carries in a round trip, and that becomes the threshold (train.h; estimate=0
 *   switches this off);
 * - from then to the end of the round trip after slow start the window is sent at the bottleneck's
 *   rate, and not in one burst that the queue would have to hold;
 * - RTT is the lowest round trip seen, so that the connection's own queue does not raise rho.
 */
#include "cc/cc.h"
#include "cc/train.h"
#include "cc/window.h"

#include "base/bytes.h"
#include "base/wide.h"

enum { HALF = 512 };

struct hybla {
    struct scps_win win;
    struct scps_ack_train_ss train_ss;
    scps_dur rtt0;
    uint32_t ss_gain, max_rho;
    bool estimate;
};

enum { P_RTT0 = SCPS_WIN_PARAMS, P_SS_GAIN, P_MAX_RHO, P_ESTIMATE };

static const struct scps_cc_param params[] = {
    SCPS_WIN_PARAM_LIST(0),
    {"rtt0", "reference round trip, microseconds", 25000, 1, INT64_C(1000000000)},
    {"ss_gain", "slow start: largest growth for each segment acknowledged, segments", 31, 1,
     1048575},
    {"max_rho", "largest ratio of RTT to rtt0 that is used", 256, 1, 65535},
    {"estimate", "1: end slow start at the capacity that closely spaced ACKs show; 0: at a loss", 1,
     0, 1},
    {NULL, NULL, 0, 0, 0},
};

static void start(void *s, const int64_t *param, const struct scps_cc_view *v,
                  struct scps_cc_ctl *ctl)
{
    struct hybla *hy = s;

    *hy = (struct hybla){
        .rtt0 = param[P_RTT0],
        .ss_gain = (uint32_t)param[P_SS_GAIN],
        .max_rho = (uint32_t)param[P_MAX_RHO],
        .estimate = param[P_ESTIMATE] != 0,
    };
    scps_win_start(&hy->win, param, sizeof *hy, v, ctl);
}

/* Returns rho = RTT / RTT0 (RTT0: the round trip of the connection that Hybla imitates) in units of
 * 1/256: at least 256, for a rho of 1, and at most max_rho. */
static uint64_t rho256(const struct hybla *hy, const struct scps_cc_view *v)
{
    scps_dur rtt = v->min_rtt > 0 ? v->min_rtt : v->srtt;
    uint64_t rho = rtt > 0 ? scps_muldiv((uint64_t)rtt, 256, (uint64_t)hy->rtt0) : 256;

    return SCPS_CLAMP(rho, 256, (uint64_t)hy->max_rho * 256);
}

/* Returns 2^rho - 1 in units of 1/256; rho is in units of 1/256, too. For the fraction f of the
 * exponent, 2^f is approximated by 1 + f, which is at most 6 % too high. */
static uint64_t slow_start_gain(const struct hybla *hy, uint64_t rho)
{
    uint64_t most = (uint64_t)hy->ss_gain * 256;

    if (rho / 256 > 20)
        return most;
    uint64_t gain = ((256 + rho % 256) << (rho / 256)) - 256;
    return SCPS_MIN(gain, most);
}

static void ack(void *s, const struct scps_cc_view *v, const struct scps_cc_ack *a,
                struct scps_cc_ctl *ctl)
{
    struct hybla *hy = s;
    uint64_t bytes = scps_win_credit(&hy->win, v, a, ctl);
    uint64_t rho = rho256(hy, v);

    scps_train_ss_round(&hy->train_ss, a, ctl);
    if (!bytes)
        return;
    if (ctl->cwnd >= ctl->ssthresh) {
        /* rho and rho^2 are in units of 1/256. rho^2 is limited to UINT32_MAX such units, a growth
         * of about 2^24 segments in a round trip and far above any window, so that its product with
         * the bytes of one ACK stays below 2^64. */
        scps_win_avoid(&hy->win, v, bytes, SCPS_MIN(rho * rho / 256, UINT32_MAX), ctl);
        return;
    }
    if (hy->estimate && ctl->ssthresh == UINT64_MAX)
        scps_train_ss_estimate(&hy->train_ss, v, a, v->min_rtt, 4 * (uint64_t)v->mss, ctl);
    uint64_t grow = bytes * slow_start_gain(hy, rho) / 256;
    scps_win_slow_start(&hy->win, v, a, SCPS_MIN(grow, ctl->cwnd), ctl);
}

static void loss(void *s, const struct scps_cc_view *v, const struct scps_cc_loss *l,
                 struct scps_cc_ctl *ctl)
{
    struct hybla *hy = s;

    if (scps_win_loss(&hy->win, v, l, HALF, ctl))
        scps_train_ss_forget(&hy->train_ss, ctl);
}

static void change(void *s, const struct scps_cc_view *v, enum scps_cc_change what,
                   struct scps_cc_ctl *ctl)
{
    struct hybla *hy = s;

    if (scps_win_change(&hy->win, v, what, HALF, ctl))
        scps_train_ss_forget(&hy->train_ss, ctl);
}

const struct scps_cc_ops scps_cc_hybla = {
    .name = "hybla",
    .help = "Hybla: the rate grows at any RTT as it does for Reno at 25 ms",
    .state_size = sizeof(struct hybla),
    .params = params,
    .start = start,
    .ack = ack,
    .loss = loss,
    .change = change,
    .more_state = scps_win_more_state,
};
