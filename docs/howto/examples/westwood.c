/* SPDX-License-Identifier: MIT */
/* Westwood+ as a plug-in: after a loss the window is what the path was measured to carry, not half
 * of what it was (Mascolo and others, "Performance Evaluation and Comparison of Westwood+, New Reno
 * and Vegas TCP Congestion Control", ACM CCR 34(2), 2004). docs/howto/controllers.md walks through
 * it:
 *
 *     cc -shared -fPIC -o westwood.so westwood.c $(pkg-config --cflags scps)
 *     scps_cctest --plugin ./westwood.so --exempt answer,ssthresh
 */
#include <scps/cc_plugin.h>

struct westwood {
    uint64_t bwe;    /* bandwidth estimate, bytes/s; 0: none yet */
    uint64_t acked;  /* bytes since `since` */
    uint64_t credit; /* bytes acknowledged towards the next segment of avoidance */
    scps_time since;
    uint64_t keep;             /* of the old estimate, x/16 */
    uint64_t condemned;        /* bytes of the flight that timed out, still to be heard of */
    bool limited, was_limited; /* in this round trip, and in the one before */
};

enum { P_FILTER };
static const struct scps_cc_param params[] = {
    {.name = "filter",
     .help = "of the old estimate kept at each sample, x/16",
     .def = 14,
     .min = 0,
     .max = 15},
    {.name = NULL},
};

static void start(void *s, const int64_t *param, const struct scps_cc_view *v,
                  struct scps_cc_ctl *ctl)
{
    struct westwood *w = s;

    *w = (struct westwood){.keep = (uint64_t)param[P_FILTER], .since = v->now};
    ctl->cwnd = v->init_cwnd;
    ctl->ssthresh = UINT64_MAX;
    ctl->rate = 0;
}

/* One sample a round trip: that is the + of Westwood+, and keeps bursts of acknowledgements from
 * being taken for bandwidth. */
static void estimate(struct westwood *w, const struct scps_cc_view *v, const struct scps_cc_ack *a)
{
    scps_dur span = v->now - w->since;

    w->acked += a->bytes;
    if (v->srtt == 0 || span < v->srtt || span < SCPS_MS(50))
        return;
    uint64_t sample = w->acked * 1000 / ((uint64_t)span / 1000); /* 64 bits hold 18 PB */
    w->bwe = w->bwe ? (w->bwe * w->keep + sample * (16 - w->keep)) / 16 : sample;
    w->acked = 0;
    w->since = v->now;
}

static uint64_t carried(const struct westwood *w, const struct scps_cc_view *v)
{
    uint64_t least = 2 * (uint64_t)v->mss;
    uint64_t want = w->bwe / 1000 * (uint64_t)v->min_rtt / 1000;

    return want > least ? want : least;
}

static void ack(void *s, const struct scps_cc_view *v, const struct scps_cc_ack *a,
                struct scps_cc_ctl *ctl)
{
    struct westwood *w = s;
    uint64_t bytes = a->bytes, room;

    estimate(w, v, a);
    if (a->round_start) {
        w->was_limited = w->limited;
        w->limited = false;
    }
    w->limited |= v->cwnd_limited;
    /* what was sent before a timeout may have arrived long ago: it is no sign of room */
    if (w->condemned && bytes > ctl->cwnd)
        bytes = ctl->cwnd;
    w->condemned -= a->bytes < w->condemned ? a->bytes : w->condemned;
    if (a->in_recovery || (!w->limited && !w->was_limited))
        return;
    if (ctl->cwnd < ctl->ssthresh) {
        room = ctl->ssthresh - ctl->cwnd;
        ctl->cwnd += bytes < room ? bytes : room;
        bytes -= bytes < room ? bytes : room;
    }
    for (w->credit += bytes; w->credit >= ctl->cwnd; ctl->cwnd += v->mss)
        w->credit -= ctl->cwnd;
}

static void loss(void *s, const struct scps_cc_view *v, const struct scps_cc_loss *l,
                 struct scps_cc_ctl *ctl)
{
    struct westwood *w = s;

    if (!l->new_episode || l->cause != SCPS_LOSS_CONGESTION)
        return;
    ctl->ssthresh = carried(w, v);
    if (ctl->cwnd > ctl->ssthresh)
        ctl->cwnd = ctl->ssthresh;
    w->credit = 0;
}

static void change(void *s, const struct scps_cc_view *v, enum scps_cc_change what,
                   struct scps_cc_ctl *ctl)
{
    struct westwood *w = s;

    if (what == SCPS_CC_RTO && v->cause == SCPS_LOSS_CONGESTION) {
        ctl->ssthresh = carried(w, v);
        ctl->cwnd = v->mss;
        w->condemned = v->outstanding;
        w->credit = 0;
    }
    if ((what == SCPS_CC_IDLE || what == SCPS_CC_PATH) && ctl->cwnd > v->init_cwnd)
        ctl->cwnd = v->init_cwnd;
    if (what == SCPS_CC_PATH)
        w->bwe = 0; /* of the old path */
    if (what == SCPS_CC_IDLE || what == SCPS_CC_PATH || what == SCPS_CC_LINK_UP) {
        w->acked = 0; /* silence is no bandwidth */
        w->since = v->now;
    }
    if (what == SCPS_CC_RECOVERED)
        w->condemned = 0;
}

static const struct scps_cc_ops westwood = {
    .name = "westwood",
    .help = "Westwood+: after a loss, what the path was measured to carry",
    .state_size = sizeof(struct westwood),
    .params = params,
    .start = start,
    .ack = ack,
    .loss = loss,
    .change = change,
};
SCPS_CC_PLUGIN(westwood);
