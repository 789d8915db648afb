/* SPDX-License-Identifier: MIT */
/* Pure rate control, for a path without other traffic.
 *
 * There is no congestion window. Only the peer's window and the configured rate limit the sender,
 * and no loss, timeout or idle time changes either: on such a path a lost packet does not show how
 * much the path can carry. On a shared path this would be unacceptable (RFC 2914), so this
 * controller must be chosen by name and refuses to run without a rate.
 *
 * Sources: docs/SCPS-TP.md section 4.4; NASA/TM-2003-212001, "SCPS-Pure Rate" and
 * "Recommendations". The rate counts headers; the core's token bucket enforces it.
 */
#include "cc/cc.h"

static void open_window(const struct scps_cc_view *v, struct scps_cc_ctl *ctl)
{
    ctl->cwnd = SCPS_CWND_OPEN;
    ctl->ssthresh = UINT64_MAX;
    ctl->rate = v->conf_rate;
}

static void start(void *s, const int64_t *param, const struct scps_cc_view *v,
                  struct scps_cc_ctl *ctl)
{
    (void)s, (void)param;
    open_window(v, ctl);
}

/* Sets the rate to the configured one on every ACK, because the application may change it. */
static void ack(void *s, const struct scps_cc_view *v, const struct scps_cc_ack *a,
                struct scps_cc_ctl *ctl)
{
    (void)s, (void)a;
    open_window(v, ctl);
}

static void loss(void *s, const struct scps_cc_view *v, const struct scps_cc_loss *l,
                 struct scps_cc_ctl *ctl)
{
    (void)s, (void)l;
    open_window(v, ctl);
}

static void change(void *s, const struct scps_cc_view *v, enum scps_cc_change what,
                   struct scps_cc_ctl *ctl)
{
    (void)s, (void)what;
    open_window(v, ctl);
}

const struct scps_cc_ops scps_cc_rate = {
    .name = "rate",
    .help = "pure rate control: the configured rate, whatever is lost; no congestion window",
    .needs_rate = true,
    .start = start,
    .ack = ack,
    .loss = loss,
    .change = change,
};
