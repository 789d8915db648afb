/* SPDX-License-Identifier: MIT */
/* Random histories (sequences of acknowledgements, losses, timeouts and pauses) that are played to
 * a congestion controller, and the search for a shorter history that violates the same invariant.
 *
 *     una                                   nxt
 *      |---- lost ----|------ in flight -----|      outstanding = lost + in flight
 *      |-- round_left ------>                       bytes to acknowledge until the present round
 *                                                   trip ends
 *      |-- point_left ------------>                 bytes to acknowledge until the present episode
 *                                                   of loss recovery ends
 *
 * Each history is played to two copies of the controller. The state of the second copy is moved to
 * another address before each call, and each event is passed to the first copy, then to the second.
 * So the outputs of both differ if a controller keeps a pointer into its state, or uses a clock or
 * a variable outside its state.
 */
#include "cctest/bench.h"

#include "base/bytes.h"

#include <inttypes.h>
#include <string.h>

/* Largest n of an action (struct scps_cctest_action) that sets the RTT, n in ms, or makes an
 * outage, n in s; a larger n counts as this. With this limit the sum of all times of a history,
 * which has at most SCPS_CCTEST_ACTIONS actions, fits into 63 bits of microseconds. */
#define LONGEST 1000000

struct sender {
    /* t: the first copy of the controller; twin[at]: the second copy, with the same inputs */
    struct scps_cctest t, twin[2];
    /* index in twin[] where the second copy of the controller is now; before each call twin() moves
     * this copy to the other element, to find controllers that keep pointers into their state */
    unsigned at;
    struct scps_cct_rules rules;
    /* out: bytes sent and not acknowledged; lost: how many of these are declared lost and not
     * retransmitted yet */
    uint64_t out, lost;
    uint64_t round_left, point_left;
    /* fast: true: loss recovery after a fast retransmit is in progress; rto: true: recovery after a
     * timeout is; both false: no loss recovery */
    bool fast, rto;
    uint64_t app; /* share of the window that the application fills, in thousandths */
    scps_dur rtt;
    enum scps_loss_cause cause;
    /* number of octets behind the controller's state, filled with GUARD, that the controller must
     * not change */
    size_t spare;
    bool pure;
};

enum { GUARD = 0xa5 };

static bool same(const struct scps_cc_ctl *a, const struct scps_cc_ctl *b)
{
    return a->cwnd == b->cwnd && a->ssthresh == b->ssthresh && a->rate == b->rate;
}

static struct scps_cctest *twin(struct sender *s)
{
    struct scps_cctest *old = &s->twin[s->at], *t = &s->twin[s->at ^= 1];

    *t = *old;
    memset(&old->state, 0x5a, sizeof old->state);
    memset(&old->saved, 0x5a, sizeof old->saved);
    t->view = s->t.view;
    return t;
}

static void compare(struct sender *s, const struct scps_cctest *t)
{
    const uint8_t *guard = s->t.state.bytes + SCPS_CC_STATE_MAX - s->spare;

    for (size_t i = 0; i < s->spare; i++)
        s->pure &= guard[i] == GUARD;
    s->pure &= same(&s->t.ctl, &t->ctl);
}

/* Sends as many bytes as cwnd, the send buffer (view.max_cwnd) and the application allow; lost data
 * is retransmitted before new data is sent. */
static void fill(struct sender *s)
{
    struct scps_cc_view *v = &s->t.view;
    uint64_t window = SCPS_MIN(s->t.ctl.cwnd, v->max_cwnd);
    uint64_t want = window / 1000 * s->app + window % 1000 * s->app / 1000;
    uint64_t inflight = s->out - s->lost;

    v->app_limited = s->app < 1000;
    if (want > inflight) {
        uint64_t again = SCPS_MIN(s->lost, want - inflight);
        struct scps_cc_sent p = {(uint32_t)SCPS_MIN(v->mss, want - inflight), again > 0};

        v->outstanding = s->out;
        v->inflight = inflight;
        /* on_sent is called for the first of the segments that are sent together, and not for the
         * others: once for the controller, and once for its second copy, which must give the same
         * results. */
        if (s->t.ops->on_sent) {
            struct scps_cctest *t = (scps_cctest_sent(&s->t, &p), twin(s));
            scps_cctest_sent(t, &p);
            compare(s, t);
        }
        s->lost -= again;
        s->out += want - inflight - again;
    }
    v->cwnd_limited = s->app == 1000 && s->t.ctl.cwnd <= v->max_cwnd;
    v->outstanding = s->out;
    v->inflight = s->out - s->lost;
}

static void change(struct sender *s, enum scps_cc_change what)
{
    struct scps_cctest *t;

    s->t.view.cause = s->cause;
    scps_cctest_change(&s->t, what);
    t = twin(s);
    scps_cctest_change(t, what);
    compare(s, t);
}

static void act_ack(struct sender *s, uint32_t n)
{
    uint64_t bytes = s->out / 1000 * n + s->out % 1000 * n / 1000;
    struct scps_cc_view *v = &s->t.view;
    struct scps_cc_ack a = {.rtt = s->fast && s->lost ? -1 : s->rtt, .rtt_old = s->rtt};
    struct scps_cctest *t;

    if (!s->out)
        return;
    if (n && !bytes)
        bytes = 1;
    v->outstanding = s->out;
    a.bytes = bytes;
    a.rate = (s->out - s->lost) / (uint64_t)s->rtt * 1000000 +
             (s->out - s->lost) % (uint64_t)s->rtt * 1000000 / (uint64_t)s->rtt;
    a.app_limited = s->app < 1000;
    a.round_start = bytes >= s->round_left;
    a.interval = s->rtt;
    a.tx_in_flight = a.sample_bytes = s->out - s->lost;
    a.prior_delivered = v->delivered - SCPS_MIN(v->delivered, a.sample_bytes);
    a.lost_since = s->lost;
    if ((s->fast || s->rto) && bytes >= s->point_left) {
        s->fast = s->rto = false;
        v->inflight = s->out - SCPS_MIN(s->lost, s->out);
        change(s, SCPS_CC_RECOVERED);
    }
    s->point_left -= SCPS_MIN(s->point_left, bytes);
    s->round_left -= SCPS_MIN(s->round_left, bytes);
    s->out -= bytes;
    s->lost = SCPS_MIN(s->lost, s->out);
    v->inflight = s->out - s->lost;
    a.in_recovery = s->fast;
    v->cause = s->cause;
    v->delivered += bytes;
    scps_cctest_ack(&s->t, &a);
    t = twin(s);
    scps_cctest_ack(t, &a);
    compare(s, t);
    fill(s);
    if (a.round_start)
        s->round_left = s->out;
}

static void act_lose(struct sender *s, uint32_t n)
{
    uint64_t flight = s->out - s->lost;
    struct scps_cc_loss l = {.bytes = SCPS_MAX(flight / 1000 * n, SCPS_MIN(flight, s->t.view.mss)),
                             .cause = s->cause,
                             .evidence = SCPS_BY_SACK,
                             .new_episode = !s->fast && !s->rto,
                             .app_limited = s->app < 1000,
                             .ranges = 1 + n / 100,
                             .tx_in_flight = flight};
    struct scps_cctest *t;

    if (!flight)
        return;
    if (l.new_episode) {
        s->fast = true;
        s->point_left = s->out;
    }
    s->lost += l.bytes;
    s->t.view.lost += l.bytes;
    l.lost_since = s->lost;
    s->t.view.inflight = s->out - s->lost;
    s->t.view.cause = s->cause;
    scps_cctest_loss(&s->t, &l);
    t = twin(s);
    scps_cctest_loss(t, &l);
    compare(s, t);
    fill(s);
}

static void act_rto(struct sender *s)
{
    if (!s->out)
        return;
    s->fast = false;
    s->rto = true;
    s->point_left = s->out;
    s->t.view.lost += s->out - s->lost;
    s->lost = s->out;
    s->t.view.inflight = 0;
    change(s, SCPS_CC_RTO);
    fill(s);
}

static void act_undo(struct sender *s)
{
    if (!s->fast && !s->rto)
        return;
    s->fast = s->rto = false;
    s->lost = 0;
    s->t.view.inflight = s->out;
    change(s, SCPS_CC_SPURIOUS);
    fill(s);
}

/* Action: all outstanding data is acknowledged, then the application writes nothing for 2 n round
 * trips, then it continues. */
static void act_idle(struct sender *s, uint32_t n)
{
    uint64_t app = s->app;

    s->app = 0;
    act_ack(s, 1000);
    s->t.view.now += (scps_dur)n * 2 * s->rtt;
    s->app = app;
    change(s, SCPS_CC_IDLE);
    fill(s);
    s->round_left = s->out;
}

static void set_rtt(struct sender *s, uint32_t ms)
{
    struct scps_cc_view *v = &s->t.view;

    s->rtt = SCPS_MS(SCPS_MAX(SCPS_MIN(ms, LONGEST), 1));
    v->srtt = s->rtt;
    v->min_rtt = SCPS_MIN(v->min_rtt, s->rtt);
}

static void act(struct sender *s, const struct scps_cctest_action *a)
{
    s->t.view.now += a->after;
    switch (a->what) {
    case SCPS_CCTEST_DO_ACK:
        act_ack(s, SCPS_MIN(a->n, 1000));
        break;
    case SCPS_CCTEST_DO_LOSE:
        act_lose(s, SCPS_MIN(a->n, 1000));
        break;
    case SCPS_CCTEST_DO_RTO:
        act_rto(s);
        break;
    case SCPS_CCTEST_DO_UNDO:
        act_undo(s);
        break;
    case SCPS_CCTEST_DO_IDLE:
        act_idle(s, SCPS_MAX(SCPS_MIN(a->n, 1000), 1));
        break;
    case SCPS_CCTEST_DO_OUTAGE:
        s->t.view.now += SCPS_SEC(SCPS_MIN(a->n, LONGEST));
        change(s, SCPS_CC_LINK_UP);
        break;
    case SCPS_CCTEST_DO_PATH:
        set_rtt(s, a->n);
        s->t.view.min_rtt = s->rtt;
        change(s, SCPS_CC_PATH);
        break;
    case SCPS_CCTEST_DO_RTT:
        set_rtt(s, a->n);
        break;
    case SCPS_CCTEST_DO_APP:
        s->app = SCPS_MIN(a->n, 1000);
        fill(s);
        break;
    case SCPS_CCTEST_DO_CAUSE:
        s->cause = (enum scps_loss_cause)SCPS_MIN(a->n, SCPS_LOSS_OUTAGE);
        break;
    case SCPS_CCTEST_DOS:
        break;
    }
}

static void begin(struct sender *s, const struct scps_cc_ops *ops, const int64_t *param,
                  uint64_t rate, uint64_t mask)
{
    struct scps_cc_view v = {.conf_rate = rate};

    memset(s, 0, sizeof *s);
    scps_cct_rules_init(&s->rules, mask);
    s->t.watch = scps_cct_rules_watch;
    s->t.ctx = &s->rules;
    s->app = 1000;
    s->pure = true;
    s->rtt = SCPS_MS(100);
    scps_cctest_start(&s->t, ops, param, &v);
    scps_cctest_start(&s->twin[0], ops, param, &v);
    s->pure = same(&s->t.ctl, &s->twin[0].ctl);
    s->spare = param ? scps_cc_state_size(ops, param) : ops->state_size;
    s->spare = s->spare < SCPS_CC_STATE_MAX ? SCPS_CC_STATE_MAX - s->spare : 0;
    memset(s->t.state.bytes + SCPS_CC_STATE_MAX - s->spare, GUARD, s->spare);
    memset(s->t.saved.bytes, GUARD, sizeof s->t.saved.bytes);
    fill(s);
    s->round_left = s->out;
}

enum scps_cctest_check scps_cctest_run(const struct scps_cc_ops *ops, const int64_t *param,
                                       const struct scps_cctest_history *h, uint64_t rate,
                                       uint64_t mask, char *msg, size_t msglen)
{
    struct sender s;

    begin(&s, ops, param, rate, mask);
    for (size_t i = 0; i < h->n && s.rules.broken == SCPS_CCTEST_CHECKS; i++) {
        act(&s, &h->v[i]);
        if (!s.pure && s.rules.mask & SCPS_CCTEST_BIT(SCPS_CCTEST_PURE)) {
            scps_cct_message(
                msg, msglen,
                "action %zu: a second copy with the same events has another result, or "
                "octets behind state_size were written: keep everything in the state",
                i + 1);
            return SCPS_CCTEST_PURE;
        }
    }
    if (s.rules.broken != SCPS_CCTEST_CHECKS)
        scps_cct_message(msg, msglen, "%s", s.rules.msg);
    return s.rules.broken;
}

/* ---- functions that draw the actions (ACKs, losses and other events) of a random history ---- */

static uint32_t below(uint64_t *r, uint32_t n)
{
    return (uint32_t)(scps_cct_random(r) >> 33) % n;
}

static struct scps_cctest_action pick(uint64_t *r)
{
    /* Probability of each action, in per cent. */
    static const uint8_t often[SCPS_CCTEST_DOS] = {62, 9, 4, 3, 3, 2, 2, 4, 6, 5};
    struct scps_cctest_action a = {.what = SCPS_CCTEST_DO_ACK};
    uint32_t dice = below(r, 100), kind = 0;

    while (dice >= often[kind])
        dice -= often[kind++];
    a.what = (enum scps_cctest_what)kind;
    a.after = below(r, 20) ? below(r, 50000) : below(r, 2000000);
    switch (a.what) {
    case SCPS_CCTEST_DO_ACK:
        a.n = below(r, 8) ? 1 + below(r, 300) : below(r, 2) * 1000;
        break;
    case SCPS_CCTEST_DO_LOSE:
        a.n = 1 + below(r, below(r, 4) ? 50 : 1000);
        break;
    case SCPS_CCTEST_DO_IDLE:
        a.n = 1 + below(r, 20);
        break;
    case SCPS_CCTEST_DO_OUTAGE:
        a.n = 1 + below(r, 600);
        break;
    case SCPS_CCTEST_DO_PATH:
    case SCPS_CCTEST_DO_RTT:
        a.n = 1 + below(r, below(r, 2) ? 100 : 2000);
        break;
    case SCPS_CCTEST_DO_APP:
        a.n = below(r, 2) ? 1000 : below(r, 1000);
        break;
    case SCPS_CCTEST_DO_CAUSE:
        a.n = below(r, 4) ? 0 : below(r, 3);
        break;
    default:
        break;
    }
    return a;
}

void scps_cctest_random(uint64_t seed, struct scps_cctest_history *h)
{
    uint64_t r = seed;

    h->n = SCPS_CCTEST_ACTIONS;
    for (size_t i = 0; i < h->n; i++)
        h->v[i] = pick(&r);
}

/* ---- functions that shorten a history (a sequence of events) that violates a check ---- */

static bool still(const struct scps_cc_ops *ops, const int64_t *param,
                  const struct scps_cctest_history *h, uint64_t rate, enum scps_cctest_check c)
{
    return scps_cctest_run(ops, param, h, rate, SCPS_CCTEST_BIT(c), NULL, 0) == c;
}

static void without(const struct scps_cctest_history *h, size_t from, size_t n,
                    struct scps_cctest_history *out)
{
    memcpy(out->v, h->v, from * sizeof *h->v);
    memcpy(out->v + from, h->v + from + n, (h->n - from - n) * sizeof *h->v);
    out->n = h->n - n;
}

/* Simplifies each action of a history, as long as the history still violates check c: sets the time
 * before the action to 0; makes an acknowledgement cover all outstanding data; sets the amount n of
 * any other action to 1. */
static void simplify(const struct scps_cc_ops *ops, const int64_t *param,
                     struct scps_cctest_history *h, uint64_t rate, enum scps_cctest_check c)
{
    for (size_t i = 0; i < h->n; i++) {
        struct scps_cctest_action was = h->v[i];

        h->v[i].after = 0;
        if (!still(ops, param, h, rate, c))
            h->v[i] = was;
        was = h->v[i];
        h->v[i].n = was.what == SCPS_CCTEST_DO_ACK ? 1000 : 1;
        if (was.what == SCPS_CCTEST_DO_APP || was.what == SCPS_CCTEST_DO_CAUSE ||
            !still(ops, param, h, rate, c))
            h->v[i] = was;
    }
}

/* Removes actions without which the history still violates check c: first half of them at once, at
 * last single ones, until none can be removed. Returns true if any was removed. */
static bool take_away(const struct scps_cc_ops *ops, const int64_t *param,
                      struct scps_cctest_history *h, uint64_t rate, enum scps_cctest_check c)
{
    struct scps_cctest_history less;
    bool better, ever = false;

    do {
        better = false;
        for (size_t n = SCPS_MAX(h->n / 2, 1); n; n /= 2)
            for (size_t from = 0; from + n <= h->n;) {
                without(h, from, n, &less);
                if (!still(ops, param, &less, rate, c)) {
                    from += n;
                    continue;
                }
                *h = less;
                ever = better = true;
            }
    } while (better);
    return ever;
}

void scps_cctest_shrink(const struct scps_cc_ops *ops, const int64_t *param,
                        struct scps_cctest_history *h, uint64_t rate, enum scps_cctest_check c)
{
    if (!still(ops, param, h, rate, c))
        return;
    take_away(ops, param, h, rate, c);
    do
        simplify(ops, param, h, rate, c);
    while (take_away(ops, param, h, rate, c));
}

char *scps_cctest_action_print(const struct scps_cctest_action *a, char buf[SCPS_CCTEST_ACTIONLEN])
{
    static const struct {
        const char *verb, *unit;
    } word[SCPS_CCTEST_DOS] = {
        {"ack", "/1000 of what is outstanding"},
        {"lose", "/1000 of what is in flight"},
        {"timeout", NULL},
        {"spurious", NULL},
        {"idle", " RTO"},
        {"outage", " s"},
        {"path", " ms round trip"},
        {"rtt", " ms"},
        {"application", "/1000 of the window"},
        {"cause", NULL},
    };
    size_t k = (size_t)a->what;
    size_t used;

    if (k >= SCPS_CCTEST_DOS)
        return memcpy(buf, "?", 2);
    if (a->what == SCPS_CCTEST_DO_CAUSE)
        snprintf(buf, SCPS_CCTEST_ACTIONLEN, "cause %s",
                 scps_loss_cause_name((enum scps_loss_cause)a->n));
    else if (word[k].unit)
        snprintf(buf, SCPS_CCTEST_ACTIONLEN, "%s %" PRIu32 "%s", word[k].verb, a->n, word[k].unit);
    else
        snprintf(buf, SCPS_CCTEST_ACTIONLEN, "%s", word[k].verb);
    used = strlen(buf);
    if (a->after)
        snprintf(buf + used, SCPS_CCTEST_ACTIONLEN - used, " after %" PRIu32 " us", a->after);
    return buf;
}
