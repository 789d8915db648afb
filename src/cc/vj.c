/* SPDX-License-Identifier: MIT */
/* Van Jacobson's congestion avoidance, as TCP has it since Reno and NewReno.
 *
 * Slow start to ssthresh, then one segment more a round trip; half the window at a loss, once for all
 * losses of an episode; one segment after a timeout.  Most of it is what every loss-driven window does
 * and lives in window.c, with the sources by clause; here is what can be chosen.
 *
 * Cause of loss: RI's VJ takes every loss as congestion whatever its route says (spec sheet 4.2), which
 * corruption=0 gives.  By default the core's word is taken: it says congestion unless the route, a signal
 * or the peer said otherwise, and then the window stays as it is (spec sheet, table 3.4).
 */
#include "cc/cc.h"
#include "cc/window.h"

#include "base/bytes.h"

struct vj {
    struct scps_win win;
    bool corruption, idle_restart;
};

enum { P_SSTHRESH, P_ABC_LIMIT, P_CORRUPTION, P_IDLE };

static const struct scps_cc_param params[] = {
    {"ssthresh", "initial slow-start threshold, bytes; 0: none", 0, 0, INT64_C(1) << 40},
    {"abc_limit", "RFC 3465's L, segments of growth an ACK in slow start; 0: no limit", 0, 0, 255},
    {"corruption", "1: a loss by corruption leaves the window alone; 0: halve all the same", 1, 0,
     1},
    {"idle", "1: restart from the initial window after more than an RTO of silence; 0: do not", 1,
     0, 1},
    {NULL, NULL, 0, 0, 0},
};

static void start(void *s, const int64_t *param, const struct scps_cc_view *v,
                  struct scps_cc_ctl *ctl)
{
    struct vj *vj = s;

    scps_win_start(&vj->win, v, (uint64_t)param[P_SSTHRESH], (unsigned)param[P_ABC_LIMIT], ctl);
    vj->corruption = param[P_CORRUPTION] != 0;
    vj->idle_restart = param[P_IDLE] != 0;
}

static void ack(void *s, const struct scps_cc_view *v, const struct scps_cc_ack *a,
                struct scps_cc_ctl *ctl)
{
    struct vj *vj = s;
    uint64_t bytes = scps_win_credit(&vj->win, v, a, ctl);

    bytes = scps_win_slow_start(bytes, ctl);
    if (bytes)
        scps_win_avoid(&vj->win, v, bytes, 256, ctl);
}

/* Whether this cause leaves the window as it is. */
static bool blameless(const struct vj *vj, enum scps_loss_cause cause)
{
    return cause == SCPS_LOSS_OUTAGE || (cause == SCPS_LOSS_CORRUPTION && vj->corruption);
}

static void loss(void *s, const struct scps_cc_view *v, const struct scps_cc_loss *l,
                 struct scps_cc_ctl *ctl)
{
    struct vj *vj = s;

    if (!l->new_episode)
        return;
    if (blameless(vj, l->cause))
        scps_win_spare(&vj->win);
    else
        scps_win_cut(&vj->win, v, scps_win_flight(v, ctl), 512, ctl);
}

static void change(void *s, const struct scps_cc_view *v, enum scps_cc_change what,
                   struct scps_cc_ctl *ctl)
{
    struct vj *vj = s;

    switch (what) {
    case SCPS_CC_RTO:
        if (!blameless(vj, v->cause))
            scps_win_rto(&vj->win, v, 512, ctl);
        break;
    case SCPS_CC_RECOVERED:
        scps_win_recovered(&vj->win, ctl);
        break;
    case SCPS_CC_IDLE:
        if (vj->idle_restart)
            scps_win_idle(&vj->win, v, ctl);
        break;
    case SCPS_CC_PATH:
        scps_win_path(&vj->win, v, ctl);
        break;
    case SCPS_CC_SPURIOUS: /* the core has put everything back */
    case SCPS_CC_LINK_UP:  /* the window is as before the outage */
        break;
    }
}

const struct scps_cc_ops scps_cc_vj = {
    .name = "vj",
    .help = "Van Jacobson: slow start, avoidance, half at a loss (RFC 5681, 6582, 3465)",
    .state_size = sizeof(struct vj),
    .params = params,
    .start = start,
    .ack = ack,
    .loss = loss,
    .change = change,
};
