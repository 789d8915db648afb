/* SPDX-License-Identifier: MIT */
/* BBR's part of careful resume, from the appendix of RFC 9959 on BBR.
 *
 * The jump of careful resume: for one round trip (the Unvalidated Phase) the sender sends at a rate
 * saved from an earlier connection, instead of reaching it by the growth of Startup. core/resume.c
 * runs the phases of careful resume and passes in the rate of the jump, which is the minimum rate
 * in Startup until acknowledgements have validated it. A single loss does not count as congestion
 * here. Losses that end Startup, or an ECN echo, count as congestion: then BBR's state Drain serves
 * as the Safe Retreat Phase.
 */
#include "cc/bbr.h"

#include "base/bytes.h"
#include "base/wide.h"

static void begin_jump(struct scps_bbr *b, uint64_t bw, struct scps_cc_ctl *ctl)
{
    /* start_bw is not 0: the parameter long-rtt-start is 1, and the spacing of the ACKs of the
     * initial window has shown this bandwidth, so the jump (sending at the rate saved from an
     * earlier connection) is limited to start_bw. */
    if (b->start_bw)
        bw = SCPS_MIN(bw, b->start_bw);
    /* RFC 9959 allows the jump (sending at the rate saved from an earlier connection) "only when
     * the BBR flow is in the Startup state". A saved rate no higher than the measured one, b->bw,
     * would gain nothing. */
    if (b->state != SCPS_BBR_STARTUP || bw <= b->bw)
        return;
    b->resuming = true;
    b->resume_bw = bw;
    b->pacing_rate = SCPS_MAX(b->pacing_rate, bw);
    ctl->rate = b->pacing_rate;
    if (b->min_rtt != SCPS_NEVER)
        ctl->cwnd = SCPS_MAX(ctl->cwnd, 2 * scps_muldiv(bw, (uint64_t)b->min_rtt, 1000000));
}

bool scps_bbr_resume(void *s, const struct scps_cc_view *v, enum scps_cc_resume what,
                     uint64_t amount, struct scps_cc_ctl *ctl)
{
    struct scps_bbr *b = s;

    switch (what) {
    case SCPS_CC_JUMP:
        begin_jump(b, amount, ctl);
        break;
    case SCPS_CC_STEADY:
        return b->state != SCPS_BBR_DRAIN;
    case SCPS_CC_RETREAT:
        b->resume_bw = 0;
        b->inflight_shortterm =
            SCPS_MIN(b->inflight_shortterm, SCPS_MAX(amount, scps_bbr_min_pipe(v)));
        ctl->cwnd = SCPS_MIN(ctl->cwnd, b->inflight_shortterm);
        /* At the end of recovery BBR sets cwnd to prior_cwnd. That must not be the large window of
         * the jump (sending at the rate saved from an earlier connection), which has caused
         * congestion. */
        b->prior_cwnd = ctl->cwnd;
        break;
    case SCPS_CC_RESUMED:
        b->resuming = false;
        b->resume_bw = 0;
        break;
    }
    return true;
}
