/* SPDX-License-Identifier: MIT */
/* Scores of a congestion controller: throughput, queueing delay and fairness on simulated links,
 * alone and beside other flows. Unless a score says otherwise, the link has 10 Mbit/s, a round trip
 * of 50 ms and a queue of one bandwidth-delay product, 42 packets. */
#include "cctest/arena.h"

#include "base/bytes.h"

#include <scps/error.h>

#include <stdlib.h>
#include <string.h>

#define LINK(queue) "rate=10mbit,rtt=50ms,queue=" queue
#define MBIT        1e6
/* Payload rate of a 10 Mbit/s line, bit/s: of the 1518 octets that a full packet takes on the line,
 * 1448 are TCP payload. */
#define FULL (10 * MBIT * 1448 / 1518)

enum id {
    ALONE_USE,
    ALONE_QUEUE,
    ALONE_LOST,
    DEEP_USE,
    DEEP_QUEUE,
    DEEP_QUEUE95,
    SHALLOW_USE,
    SHALLOW_LOST,
    GEO_USE,
    GEO_START,
    LOSSY_USE,
    BER_USE,
    JAIN2,
    JAIN4,
    JAIN8,
    STARVED,
    LATE_CONVERGE,
    LATE_SHARE,
    RTT_SHARE,
    RTT_JAIN,
    BESIDE_VJ,
    BESIDE_CUBIC,
    BESIDE_BBR,
    VJ_KEEPS,
    CUBIC_KEEPS,
    BBR_KEEPS,
    RTT_UP,
    RTT_DOWN,
    RATE_UP,
    RATE_DOWN,
    RATE_DOWN_QUEUE,
    RATE_DOWN_READ,
    OUTAGE_BACK,
    DELAYED_USE,
    AGGREGATED_USE,
    SCORES
};
_Static_assert(SCORES <= SCPS_CCTEST_SCORES, "room for all scores");

#define MORE SCPS_CCTEST_MORE
#define LESS SCPS_CCTEST_LESS
static const struct scps_cctest_score_info info[SCORES] = {
    [ALONE_USE] = {"alone", "use", "%",
                   "the flow uses this part of the link with a queue of 1 BDP, in seconds "
                   "10 to 60",
                   MORE, 100},
    [ALONE_QUEUE] = {"alone", "queue", "ms",
                     "a packet takes this long on average in a queue of 1 BDP and in "
                     "transmission",
                     LESS, 0},
    [ALONE_LOST] = {"alone", "lost", "%", "this part of the packets is lost with a queue of 1 BDP",
                    LESS, 0},
    [DEEP_USE] = {"alone", "deep-use", "%",
                  "the flow uses this part of the link with a queue of 4 BDP", MORE, 100},
    [DEEP_QUEUE] = {"alone", "deep-queue", "ms",
                    "a packet takes this long on average in a queue of 4 BDP (200 ms) and in "
                    "transmission",
                    LESS, 0},
    [DEEP_QUEUE95] = {"alone", "deep-queue-95", "ms",
                      "95 % of the packets take at most this long in a queue of 4 BDP and in "
                      "transmission",
                      LESS, 0},
    [SHALLOW_USE] = {"alone", "shallow-use", "%",
                     "the flow uses this part of the link with a queue of 0.1 BDP", MORE, 100},
    [SHALLOW_LOST] = {"alone", "shallow-lost", "%",
                      "this part of the packets is lost with a queue of 0.1 BDP", LESS, 0},
    [GEO_USE] = {"alone", "geo-use", "%",
                 "the flow uses this part of 10 Mbit/s with a round trip of 560 ms, in "
                 "seconds 60 to 120",
                 MORE, 100},
    [GEO_START] = {"alone", "geo-start", "s",
                   "after this time the flow has 80 % of 10 Mbit/s for a second, with a "
                   "round trip of 560 ms",
                   LESS, 0},
    [LOSSY_USE] = {"alone", "lossy-use", "%",
                   "the flow uses this part of the link when 1 % of the packets is lost at "
                   "random",
                   MORE, 100},
    [BER_USE] = {"alone", "ber-use", "%",
                 "the flow uses this part of 10 Mbit/s with a round trip of 560 ms and a "
                 "bit error rate of 1e-6",
                 MORE, 100},
    [JAIN2] = {"shared", "jain-2", "",
               "the rates of two flows have this value of Jain's fairness index, in "
               "seconds 30 to 90",
               MORE, 1},
    [JAIN4] = {"shared", "jain-4", "",
               "the rates of four flows have this value of Jain's fairness index", MORE, 1},
    [JAIN8] = {"shared", "jain-8", "",
               "the rates of eight flows have this value of Jain's fairness index", MORE, 1},
    [STARVED] = {"shared", "least", "%",
                 "each of four flows has at least this part of its fair share in any ten "
                 "seconds after second 20",
                 MORE, 100},
    [LATE_CONVERGE] = {"shared", "converge", "s",
                       "a flow that begins 30 s after another has 80 % of its fair share after "
                       "this time",
                       LESS, 0},
    [LATE_SHARE] = {"shared", "late-share", "%",
                    "a flow that begins 30 s after another has this part of its fair share "
                    "60 s later",
                    MORE, 0},
    [RTT_SHARE] = {"shared", "rtt-share", "%",
                   "a flow with a round trip of 200 ms has this part of its fair share "
                   "beside one with 50 ms",
                   MORE, 0},
    [RTT_JAIN] = {"shared", "rtt-jain", "",
                  "the rates of flows with round trips of 50 and 200 ms have this value of "
                  "Jain's index",
                  MORE, 1},
    [BESIDE_VJ] = {"beside", "vj", "%",
                   "the flow has this part of a fair share beside a flow of vj, in seconds "
                   "30 to 90",
                   MORE, 0},
    [BESIDE_CUBIC] = {"beside", "cubic", "%",
                      "the flow has this part of a fair share beside a flow of cubic, in "
                      "seconds 30 to 90",
                      MORE, 0},
    [BESIDE_BBR] = {"beside", "bbr", "%",
                    "the flow has this part of a fair share beside a flow of bbr, in seconds "
                    "30 to 90",
                    MORE, 0},
    [VJ_KEEPS] = {"beside", "vj-keeps", "%",
                  "a flow of vj has this part of a fair share beside the flow", MORE, 0},
    [CUBIC_KEEPS] = {"beside", "cubic-keeps", "%",
                     "a flow of cubic has this part of a fair share beside the flow", MORE, 0},
    [BBR_KEEPS] = {"beside", "bbr-keeps", "%",
                   "a flow of bbr has this part of a fair share beside the flow", MORE, 0},
    [RTT_UP] = {"change", "rtt-up", "%",
                "the flow uses this part of the link 10 to 60 s after the round trip "
                "rose from 20 to 200 ms",
                MORE, 100},
    [RTT_DOWN] = {"change", "rtt-down", "%",
                  "the flow uses this part of the link 10 to 60 s after the round trip "
                  "fell from 200 to 20 ms",
                  MORE, 100},
    [RATE_UP] = {"change", "rate-up", "s",
                 "the flow has 80 % of the link this long after its rate rose from 0.1 to "
                 "10 Mbit/s",
                 LESS, 0},
    [RATE_DOWN] = {"change", "rate-down", "%",
                   "the flow uses this part of the link 10 to 60 s after its rate fell from "
                   "10 to 0.1 Mbit/s",
                   MORE, 100},
    [RATE_DOWN_QUEUE] = {"change", "rate-down-queue", "ms",
                         "a packet takes this long on average in queue and transmission 10 to 60 "
                         "s after the rate fell from 10 to 0.1 Mbit/s",
                         LESS, 0},
    [RATE_DOWN_READ] = {"change", "rate-down-read", "%",
                        "the application reads this part of the link's rate 10 to 60 s after it "
                        "fell from 10 to 0.1 Mbit/s; above 100 %, some of the data arrived "
                        "before",
                        MORE, 0},
    [OUTAGE_BACK] = {"change", "outage", "s",
                     "the flow has 80 % of the link this long after an outage of 5 s", LESS, 0},
    [DELAYED_USE] = {"acks", "delayed-use", "%",
                     "the flow uses this part of the link when the receiver acknowledges "
                     "every 200 ms",
                     MORE, 100},
    [AGGREGATED_USE] = {"acks", "aggregated-use", "%",
                        "the flow uses this part of the link when acknowledgements arrive in one "
                        "burst every 20 ms",
                        MORE, 100},
};

const struct scps_cctest_score_info *scps_cctest_score_at(size_t i)
{
    return i < SCORES ? &info[i] : NULL;
}

struct card {
    struct scps_cctest_card *out;
    struct scps_cct_arena *a;
    const struct scps_cc_ops *ops;
    const int64_t *param;
    int err;
};

static void put_value(struct card *c, enum id id, double value)
{
    c->out->v[id].value = value;
    c->out->v[id].known = true;
}

/* Runs the flows of `what`, all with the controller that is being scored. other: controller of the
 * last flow instead; NULL: the last flow is no exception. Returns the results, valid until the next
 * call. */
static struct scps_cct_arena *run_flows(struct card *c, const struct scps_cct_arena *what,
                                        const struct scps_cc_ops *other)
{
    struct scps_cct_arena *a = c->a;

    *a = *what;
    for (unsigned i = 0; i < a->n; i++) {
        bool stranger = other && i == a->n - 1;
        a->flow[i].ops = stranger ? other : c->ops;
        a->flow[i].param = stranger ? NULL : c->param;
    }
    if (!c->err)
        c->err = scps_cct_arena(a);
    return a;
}

/* Returns the rate at which data of all flows arrived between two times, µs, in per cent of `full`,
 * the payload rate of the link, bit/s. A result above 100 is returned as 100: a packet counts when
 * it arrives, so packets that were sent before `from` and arrive after it can make the result
 * larger. */
static double link_use(const struct scps_cct_arena *a, scps_dur from, scps_dur to, double full)
{
    double part = 100 * scps_cct_rate(a, a->n, from, to) / full;

    return SCPS_MIN(part, 100);
}

/* ---- scores of a controller whose flow is alone on the simulated link ---- */

static void alone(struct card *c)
{
    const struct scps_cct_arena what = {.link = LINK("1bdp"), .time = SCPS_SEC(60), .n = 1};
    struct scps_cct_arena *a = run_flows(c, &what, NULL);

    put_value(c, ALONE_USE, link_use(a, SCPS_SEC(10), SCPS_SEC(60), FULL));
    put_value(c, ALONE_QUEUE, scps_cct_wait(a, SCPS_SEC(10), SCPS_SEC(60)));
    put_value(c, ALONE_LOST, 100 * scps_cct_loss(a, SCPS_SEC(10), SCPS_SEC(60)));
}

static void deep(struct card *c)
{
    const struct scps_cct_arena what = {
        .link = LINK("4bdp"), .time = SCPS_SEC(60), .n = 1, .warm = SCPS_SEC(10)};
    struct scps_cct_arena *a = run_flows(c, &what, NULL);

    put_value(c, DEEP_USE, link_use(a, SCPS_SEC(10), SCPS_SEC(60), FULL));
    put_value(c, DEEP_QUEUE, scps_cct_wait(a, SCPS_SEC(10), SCPS_SEC(60)));
    put_value(c, DEEP_QUEUE95, scps_cct_wait_quantile(a, 0.95));
}

static void shallow(struct card *c)
{
    const struct scps_cct_arena what = {.link = LINK("4p"), .time = SCPS_SEC(60), .n = 1};
    struct scps_cct_arena *a = run_flows(c, &what, NULL);

    put_value(c, SHALLOW_USE, link_use(a, SCPS_SEC(10), SCPS_SEC(60), FULL));
    put_value(c, SHALLOW_LOST, 100 * scps_cct_loss(a, SCPS_SEC(10), SCPS_SEC(60)));
}

static void far_away(struct card *c)
{
    const struct scps_cct_arena geo = {.link = "geo", .time = SCPS_SEC(120), .n = 1};
    const struct scps_cct_arena ber = {.link = "geo,ber=1e-6", .time = SCPS_SEC(120), .n = 1};
    struct scps_cct_arena *a = run_flows(c, &geo, NULL);
    scps_time full = scps_cct_when(a, 0, 0, SCPS_SEC(1), 0.8 * FULL);

    put_value(c, GEO_USE, link_use(a, SCPS_SEC(60), SCPS_SEC(120), FULL));
    if (full != SCPS_NEVER)
        put_value(c, GEO_START, (double)full * 1e-6);
    a = run_flows(c, &ber, NULL);
    put_value(c, BER_USE, link_use(a, SCPS_SEC(20), SCPS_SEC(120), FULL));
}

static void lossy(struct card *c)
{
    const struct scps_cct_arena what = {
        .link = LINK("1bdp") ",loss=0.01,loss-back=0", .time = SCPS_SEC(60), .n = 1};

    put_value(c, LOSSY_USE, link_use(run_flows(c, &what, NULL), SCPS_SEC(10), SCPS_SEC(60), FULL));
}

/* ---- scores of a controller when several flows share the simulated link ---- */

static double jain(const struct scps_cct_arena *a, scps_time from, scps_time to)
{
    double sum = 0, squares = 0;

    for (unsigned f = 0; f < a->n; f++) {
        double x = scps_cct_rate(a, f, from, to);
        sum += x;
        squares += x * x;
    }
    return squares > 0 ? sum * sum / (a->n * squares) : 0;
}

static double worst(const struct scps_cct_arena *a)
{
    double least = 1e9;

    for (unsigned f = 0; f < a->n; f++)
        for (scps_time at = SCPS_SEC(30); at < a->time; at += SCPS_SEC(1)) {
            double x = scps_cct_rate(a, f, at - SCPS_SEC(10), at);
            least = SCPS_MIN(least, x);
        }
    return 100 * least / (FULL / a->n);
}

static void together(struct card *c)
{
    const struct scps_cct_arena two = {
        .link = LINK("1bdp"), .time = SCPS_SEC(90), .n = 2, .flow[1].start = SCPS_MS(337)};
    const struct scps_cct_arena four = {.link = LINK("1bdp"),
                                        .time = SCPS_SEC(90),
                                        .n = 4,
                                        .flow[1].start = SCPS_MS(337),
                                        .flow[2].start = SCPS_MS(701),
                                        .flow[3].start = SCPS_MS(1009)};
    struct scps_cct_arena *a = run_flows(c, &two, NULL), eight;

    put_value(c, JAIN2, jain(a, SCPS_SEC(30), SCPS_SEC(90)));
    a = run_flows(c, &four, NULL);
    put_value(c, JAIN4, jain(a, SCPS_SEC(30), SCPS_SEC(90)));
    put_value(c, STARVED, worst(a));
    eight = four;
    eight.n = 8;
    for (unsigned i = 4; i < eight.n; i++)
        eight.flow[i].start = SCPS_MS(331) * i;
    put_value(c, JAIN8, jain(run_flows(c, &eight, NULL), SCPS_SEC(30), SCPS_SEC(90)));
}

/* Scores how two flows with round trips of 50 and 200 ms share a link: the rate of the flow with
 * 200 ms in per cent of a fair share, and Jain's index of both rates. The link's queue is one
 * bandwidth-delay product, computed with 50 ms. */
static void unlike_ways(struct card *c)
{
    const struct scps_cct_arena two = {.link = LINK("1bdp"),
                                       .time = SCPS_SEC(150),
                                       .n = 2,
                                       .flow[1].start = SCPS_MS(337),
                                       .detour = SCPS_MS(150)};
    struct scps_cct_arena *a = run_flows(c, &two, NULL);

    put_value(c, RTT_SHARE, 100 * scps_cct_rate(a, 1, SCPS_SEC(60), SCPS_SEC(150)) / (FULL / 2));
    put_value(c, RTT_JAIN, jain(a, SCPS_SEC(60), SCPS_SEC(150)));
}

static void draw(struct card *c, const struct scps_cct_arena *a)
{
    scps_dur each = a->time / SCPS_CCTEST_CURVE;

    each = SCPS_MAX(each / SCPS_CCT_EVERY, 1) * SCPS_CCT_EVERY;
    for (scps_time at = each; at <= a->time && c->out->ncurve < SCPS_CCTEST_CURVE; at += each)
        c->out->curve[c->out->ncurve++] =
            (struct scps_cctest_curve){.seconds = (double)at * 1e-6,
                                       .first = scps_cct_rate(a, 0, at - each, at) / MBIT,
                                       .second = scps_cct_rate(a, 1, at - each, at) / MBIT,
                                       .queue = scps_cct_wait(a, at - each, at)};
}

static void latecomer(struct card *c)
{
    const scps_time comes = SCPS_SEC(30);
    const struct scps_cct_arena what = {
        .link = LINK("1bdp"), .time = SCPS_SEC(120), .n = 2, .flow[1].start = comes};
    struct scps_cct_arena *a = run_flows(c, &what, NULL);
    scps_time at = scps_cct_when(a, 1, comes, SCPS_SEC(5), 0.8 * FULL / 2);

    if (at != SCPS_NEVER)
        put_value(c, LATE_CONVERGE, (double)(at - comes) * 1e-6);
    put_value(c, LATE_SHARE, 100 * scps_cct_rate(a, 1, SCPS_SEC(90), SCPS_SEC(120)) / (FULL / 2));
    draw(c, a);
}

static void beside(struct card *c, const char *name, enum id ours, enum id theirs)
{
    const struct scps_cct_arena what = {
        .link = LINK("1bdp"), .time = SCPS_SEC(90), .n = 2, .flow[1].start = SCPS_MS(337)};
    const struct scps_cc_ops *other = scps_cc_find(name);
    struct scps_cct_arena *a;

    if (!other || !strcmp(name, c->ops->name))
        return;
    a = run_flows(c, &what, other);
    put_value(c, ours, 100 * scps_cct_rate(a, 0, SCPS_SEC(30), SCPS_SEC(90)) / (FULL / 2));
    put_value(c, theirs, 100 * scps_cct_rate(a, 1, SCPS_SEC(30), SCPS_SEC(90)) / (FULL / 2));
}

/* ---- scores of a controller after changes of the simulated link (RTT, rate, outage) ---- */

static void rtt_steps(struct card *c)
{
    const struct scps_cct_arena up = {.link = "rate=10mbit,rtt=20ms,queue=250000",
                                      .time = SCPS_SEC(80),
                                      .n = 1,
                                      .step_at = SCPS_SEC(20),
                                      .step = "delay=100ms"};
    struct scps_cct_arena down = up;

    put_value(c, RTT_UP, link_use(run_flows(c, &up, NULL), SCPS_SEC(30), SCPS_SEC(80), FULL));
    down.link = "rate=10mbit,rtt=200ms,queue=250000";
    down.step = "delay=10ms";
    put_value(c, RTT_DOWN, link_use(run_flows(c, &down, NULL), SCPS_SEC(30), SCPS_SEC(80), FULL));
}

static void rate_steps(struct card *c)
{
    const scps_time at = SCPS_SEC(20);
    const struct scps_cct_arena up = {.link = "rate=100kbit,rtt=50ms,queue=42p",
                                      .time = SCPS_SEC(140),
                                      .n = 1,
                                      .step_at = at,
                                      .step = "rate=10mbit"};
    struct scps_cct_arena down = up, *a = run_flows(c, &up, NULL);
    scps_time full = scps_cct_when(a, 0, at, SCPS_SEC(1), 0.8 * FULL);

    if (full != SCPS_NEVER)
        put_value(c, RATE_UP, (double)(full - at) * 1e-6);
    down.link = "rate=10mbit,rtt=50ms,queue=42p";
    down.step = "rate=100kbit";
    down.time = SCPS_SEC(80);
    a = run_flows(c, &down, NULL);
    put_value(c, RATE_DOWN, link_use(a, SCPS_SEC(30), SCPS_SEC(80), FULL / 100));
    put_value(c, RATE_DOWN_QUEUE, scps_cct_wait(a, SCPS_SEC(30), SCPS_SEC(80)));
    put_value(c, RATE_DOWN_READ, 100 * scps_cct_read(a, SCPS_SEC(30), SCPS_SEC(80)) / (FULL / 100));
}

static void outage(struct card *c)
{
    const scps_time back = SCPS_SEC(25);
    const struct scps_cct_arena what = {.link = LINK("1bdp"),
                                        .time = SCPS_SEC(90),
                                        .n = 1,
                                        .step_at = SCPS_SEC(20),
                                        .step = "loss=1",
                                        .step_back = back,
                                        .back = "loss=0"};
    scps_time full = scps_cct_when(run_flows(c, &what, NULL), 0, back, SCPS_SEC(1), 0.8 * FULL);

    if (full != SCPS_NEVER)
        put_value(c, OUTAGE_BACK, (double)(full - back) * 1e-6);
}

/* ---- scores with delayed acknowledgements, and with bursts of acknowledgements ---- */

static void acks(struct card *c)
{
    const struct scps_cct_arena delayed = {
        .link = LINK("4bdp"), .time = SCPS_SEC(60), .n = 1, .delayed = true};
    const struct scps_cct_arena bursts = {
        .link = LINK("2bdp") ",outage-back=1ms-20ms/20ms,hold-back", .time = SCPS_SEC(60), .n = 1};

    put_value(c, DELAYED_USE,
              link_use(run_flows(c, &delayed, NULL), SCPS_SEC(10), SCPS_SEC(60), FULL));
    put_value(c, AGGREGATED_USE,
              link_use(run_flows(c, &bursts, NULL), SCPS_SEC(10), SCPS_SEC(60), FULL));
}

int scps_cctest_scorecard(const struct scps_cc_ops *ops, const int64_t *param,
                          struct scps_cctest_card *out)
{
    struct card c = {.out = out, .ops = ops, .param = param};

    *out = (struct scps_cctest_card){.n = SCORES};
    for (size_t i = 0; i < SCORES; i++)
        out->v[i].info = &info[i];
    c.a = calloc(1, sizeof *c.a);
    if (!c.a)
        return SCPS_ERR_NOMEM;
    alone(&c);
    deep(&c);
    shallow(&c);
    far_away(&c);
    lossy(&c);
    together(&c);
    latecomer(&c);
    unlike_ways(&c);
    beside(&c, "vj", BESIDE_VJ, VJ_KEEPS);
    beside(&c, "cubic", BESIDE_CUBIC, CUBIC_KEEPS);
    beside(&c, "bbr", BESIDE_BBR, BBR_KEEPS);
    rtt_steps(&c);
    rate_steps(&c);
    outage(&c);
    acks(&c);
    free(c.a);
    return c.err;
}
