/* SPDX-License-Identifier: MIT */
/* Van Jacobson's congestion avoidance, as in TCP since Reno and NewReno.
 *
 * Slow start to ssthresh, then one segment more a round trip; half the window at a loss, once for
 * all losses of an episode; one segment after a timeout. window.c has all of this for every
 * loss-based controller, with its sources by clause and the differences from them; this file calls
 * it with Reno's numbers.
 *
 * Cause of loss: the reference implementation's VJ takes every loss for congestion, whatever its
 * route says (docs/SCPS-TP.md section 4.2); corruption=0 does the same. By default the cause that
 * the core reports is used: it is congestion unless the route, a signal or the peer said
 * corruption, and then the window stays unchanged (docs/SCPS-TP.md section 3.4).
 */
#include "cc/cc.h"
#include "cc/window.h"

enum { HALF = 512 };

static const struct scps_cc_param params[] = {
    SCPS_WIN_PARAM_LIST(0),
    {NULL, NULL, 0, 0, 0},
};

static void start(void *s, const int64_t *param, const struct scps_cc_view *v,
                  struct scps_cc_ctl *ctl)
{
    scps_win_start(s, param, sizeof(struct scps_win), v, ctl);
}

static void ack(void *s, const struct scps_cc_view *v, const struct scps_cc_ack *a,
                struct scps_cc_ctl *ctl)
{
    uint64_t bytes = scps_win_credit(s, v, a, ctl);

    bytes = scps_win_slow_start(s, v, a, bytes, ctl);
    if (bytes)
        scps_win_avoid(s, v, bytes, 256, ctl);
}

static void loss(void *s, const struct scps_cc_view *v, const struct scps_cc_loss *l,
                 struct scps_cc_ctl *ctl)
{
    scps_win_loss(s, v, l, HALF, ctl);
}

static void change(void *s, const struct scps_cc_view *v, enum scps_cc_change what,
                   struct scps_cc_ctl *ctl)
{
    scps_win_change(s, v, what, HALF, ctl);
}

const struct scps_cc_ops scps_cc_vj = {
    .name = "vj",
    .help = "Van Jacobson (RFC 5681): a segment more in a round trip; half after a loss",
    .state_size = sizeof(struct scps_win),
    .params = params,
    .start = start,
    .ack = ack,
    .loss = loss,
    .change = change,
    .more_state = scps_win_more_state,
};
