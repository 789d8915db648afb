/* SPDX-License-Identifier: MIT */
/* Checks the invariants of a congestion controller: what must hold after every event, whatever the
 * algorithm is. */
#include "cctest/bench.h"

#include "base/bytes.h"

#include <inttypes.h>

/* At a loss by congestion cwnd must fall by at least the fraction 1/GIVE_UP of its value before. Of
 * the known algorithms, HighSpeed TCP reduces cwnd least: by at least 97/1000 of its value. */
enum { GIVE_UP = 20 };
/* Upper limit of plausible outputs of a controller: windows, bytes, and rates, bytes/s. */
#define MOST        (UINT64_C(1) << 48)
#define STALL_SECS  60
#define IDLE_ROUNDS 2

void scps_cct_rules_init(struct scps_cct_rules *r, uint64_t mask)
{
    *r = (struct scps_cct_rules){.mask = mask ? mask : ~UINT64_C(0), .broken = SCPS_CCTEST_CHECKS};
}

static const char *kind_name(const struct scps_cctest_event *e)
{
    static const char *const change[] = {"RTO", "SPURIOUS", "RECOVERED", "IDLE", "LINK_UP", "PATH"};

    switch (e->kind) {
    case SCPS_CCTEST_ACK:
        return "ack";
    case SCPS_CCTEST_LOSS:
        return e->loss.new_episode ? "loss (new episode)" : "loss (same episode)";
    case SCPS_CCTEST_CHANGE:
        return (unsigned)e->change < 6 ? change[e->change] : "change";
    case SCPS_CCTEST_SENT:
        return "on_sent";
    case SCPS_CCTEST_START:
        break;
    }
    return "start";
}

static void broke(struct scps_cct_rules *r, enum scps_cctest_check c,
                  const struct scps_cctest_event *e, const char *what)
{
    char n[5][SCPS_CCT_NUMBERLEN];

    if (r->broken != SCPS_CCTEST_CHECKS || !(r->mask & SCPS_CCTEST_BIT(c)))
        return;
    r->broken = c;
    scps_cct_message(
        r->msg, sizeof r->msg,
        "event %" PRIu64 ", %s: %s: cwnd %s to %s, ssthresh %s to %s, rate %s; acked %" PRIu64
        ", outstanding %" PRIu64 ", mss %" PRIu32,
        r->events, kind_name(e), what, scps_cct_number(e->before.cwnd, n[0]),
        scps_cct_number(e->after.cwnd, n[1]), scps_cct_number(e->before.ssthresh, n[2]),
        scps_cct_number(e->after.ssthresh, n[3]), scps_cct_number(e->after.rate, n[4]),
        e->kind == SCPS_CCTEST_ACK ? e->ack.bytes : 0, e->view.outstanding, e->view.mss);
}

static void bounds(struct scps_cct_rules *r, const struct scps_cctest_event *e)
{
    const struct scps_cc_ctl *c = &e->after;
    bool open = c->cwnd == SCPS_CWND_OPEN;

    if (c->cwnd < e->view.mss)
        broke(r, SCPS_CCTEST_FLOOR, e, "the window is below one segment");
    if ((!open && c->cwnd > MOST) || c->rate > MOST ||
        (c->ssthresh != UINT64_MAX && c->ssthresh > MOST))
        broke(r, SCPS_CCTEST_CEILING, e, "the window, the rate or the threshold overflowed");
    if (open && !c->rate)
        broke(r, SCPS_CCTEST_RATE, e, "neither a window nor a rate holds the sender back");
    if (c->rate && c->rate < e->view.mss / STALL_SECS)
        broke(r, SCPS_CCTEST_RATE, e, "at this rate a segment takes more than a minute");
}

/* Called for each acknowledgement: counts in r->idle_rounds the whole round trips in a row in which
 * cwnd did not limit the sender (RFC 7661 section 4.1). */
static void note_limit(struct scps_cct_rules *r, const struct scps_cctest_event *e)
{
    if (e->ack.round_start) {
        r->idle_rounds = r->limited ? 0 : r->idle_rounds + 1;
        r->limited = false;
    }
    if (e->view.cwnd_limited) {
        r->limited = true;
        r->idle_rounds = 0;
    }
}

static void on_ack(struct scps_cct_rules *r, const struct scps_cctest_event *e)
{
    uint64_t was = e->before.cwnd, is = e->after.cwnd;

    note_limit(r, e);
    if (e->ack.bytes)
        r->timed_out = false;
    if (is <= was || is == SCPS_CWND_OPEN)
        return;
    if (is > SCPS_MAX(SCPS_MAX(was, e->ack.bytes) + was + e->view.mss, r->peak))
        broke(r, SCPS_CCTEST_JUMP, e, "one acknowledgement more than doubled the window");
    if (r->idle_rounds >= IDLE_ROUNDS && e->view.outstanding < was / 2 && is > r->peak)
        broke(r, SCPS_CCTEST_APP_LIMITED, e, "it grew though the application was the limit");
    if (!e->ack.bytes)
        broke(r, SCPS_CCTEST_EMPTY_ACK, e, "it grew though nothing new had arrived");
    if (e->ack.in_recovery && r->cut && is > r->episode_cwnd)
        broke(r, SCPS_CCTEST_EPISODE, e, "it grew during recovery beyond what the loss left");
}

/* Returns pipeACK of RFC 7661 section 4.2, bytes, if it is less than half of the window before the
 * event, which section 4.3 calls the nonvalidated phase; 0 otherwise. */
static uint64_t unvalidated_pipe(const struct scps_cctest_event *e)
{
    return e->view.pipe_ack < e->before.cwnd / 2 ? e->view.pipe_ack : 0;
}

/* Checks ssthresh after a loss that begins a recovery episode, and after the first timeout since
 * new data was acknowledged. ssthresh must be at least two segments, and at most the larger of 95 %
 * (1 - 1/GIVE_UP) of `flight` and four segments. flight: bytes outstanding before the event; for a
 * loss in the nonvalidated phase (RFC 7661) pipeACK, if that is larger. */
static void threshold(struct scps_cct_rules *r, const struct scps_cctest_event *e, uint64_t flight)
{
    uint64_t two = 2 * (uint64_t)e->view.mss;

    if (e->after.ssthresh < two)
        broke(r, SCPS_CCTEST_SSTHRESH, e, "the threshold is below two segments");
    if (e->after.ssthresh > SCPS_MAX(flight - flight / GIVE_UP, 2 * two))
        broke(r, SCPS_CCTEST_SSTHRESH, e, "the threshold is not below what was outstanding");
}

static void on_loss(struct scps_cct_rules *r, const struct scps_cctest_event *e)
{
    uint64_t was = e->before.cwnd, is = e->after.cwnd, few = 4 * (uint64_t)e->view.mss;

    if (!e->loss.new_episode) {
        if (is < was)
            broke(r, SCPS_CCTEST_ONCE, e, "the same episode cost the window twice");
        return;
    }
    r->episode_cwnd = SCPS_MAX(is, 2 * (uint64_t)e->view.mss);
    r->cut = e->loss.cause == SCPS_LOSS_CONGESTION;
    if (e->loss.cause != SCPS_LOSS_CONGESTION) {
        if (is < was)
            broke(r, SCPS_CCTEST_SPARE, e, "a loss that was no congestion cost the window");
        return;
    }
    if (is > SCPS_MAX(was - was / GIVE_UP, few))
        broke(r, SCPS_CCTEST_ANSWER, e, "a loss by congestion was not answered");
    /* If the sender has used less than half of cwnd (nonvalidated phase), ssthresh is computed from
     * the larger of pipeACK and FlightSize (RFC 7661 section 4.4.1). */
    threshold(r, e, SCPS_MAX(e->view.outstanding, unvalidated_pipe(e)));
}

static void on_timeout(struct scps_cct_rules *r, const struct scps_cctest_event *e)
{
    uint64_t was = e->before.cwnd, is = e->after.cwnd;

    r->cut = false;
    if (e->view.cause != SCPS_LOSS_CONGESTION) {
        if (is < was)
            broke(r, SCPS_CCTEST_SPARE, e, "a timeout that was no congestion cost the window");
        return;
    }
    if (is > e->view.inflight + e->view.mss)
        broke(r, SCPS_CCTEST_TIMEOUT, e, "after a timeout more than one segment may leave");
    if (!r->timed_out)
        threshold(r, e, e->view.outstanding);
    r->timed_out = true;
}

static void on_change(struct scps_cct_rules *r, const struct scps_cctest_event *e)
{
    uint64_t was = e->before.cwnd, is = e->after.cwnd;

    switch (e->change) {
    case SCPS_CC_RTO:
        on_timeout(r, e);
        break;
    case SCPS_CC_SPURIOUS:
        r->cut = false;
        if (is < was)
            broke(r, SCPS_CCTEST_SPURIOUS, e, "a spurious episode cost the window");
        break;
    case SCPS_CC_RECOVERED:
        if (r->cut && is > SCPS_MAX(was, r->episode_cwnd))
            broke(r, SCPS_CCTEST_EPISODE, e, "it grew because an episode was over");
        r->cut = false;
        break;
    case SCPS_CC_IDLE:
        if (is > e->view.init_cwnd && !e->after.rate)
            broke(r, SCPS_CCTEST_IDLE, e, "after silence more than the initial window may burst");
        break;
    case SCPS_CC_LINK_UP:
    case SCPS_CC_PATH:
        r->cut = false;
        break;
    }
}

void scps_cct_rules_watch(void *ctx, const struct scps_cctest_event *e)
{
    struct scps_cct_rules *r = ctx;

    r->events++;
    bounds(r, e);
    switch (e->kind) {
    case SCPS_CCTEST_ACK:
        on_ack(r, e);
        break;
    case SCPS_CCTEST_LOSS:
        on_loss(r, e);
        break;
    case SCPS_CCTEST_CHANGE:
        on_change(r, e);
        break;
    case SCPS_CCTEST_SENT:
    case SCPS_CCTEST_START:
        break;
    }
    if (e->after.cwnd != SCPS_CWND_OPEN)
        r->peak = SCPS_MAX(r->peak, e->after.cwnd);
}
