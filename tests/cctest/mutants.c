/* SPDX-License-Identifier: MIT */
/* Known mistakes of congestion controllers, made on purpose in a small Reno, a small Vegas and
 * two small rate-based controllers. The parameter "fault" of each says which mistake it makes;
 * 0: none. */
#include "mutants.h"

#include <string.h>

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

enum fault {
    RIGHT,
    BYTE_A_ROUND,
    CUT_EACH_LOSS,
    APP_GROWTH,
    NO_FLOOR,
    ONE_CALLBACK,
    COUNTS_ACKS,
    SPLIT_ACKS,
    HALF_OF_CWND,
    NO_ANSWER,
    HEEDLESS,
    INFLATES,
    NO_RESTART,
    SPURIOUS_CUT,
    STATIC_CLOCK,
    POINTER,
    NARROW,
    EMPTY_ACKS,
    WRITES_BEYOND,
    NEWEST_RTT,
    BASE_FOR_EVER,
    NO_RATE,
    MAX_FOR_EVER,
    STALE_EPOCH,
    TWICE_AS_FAST,
    BAD_DEFAULT
};

#define PARAM(f)                                                                                   \
    static const struct scps_cc_param param_##f[] = {{"fault", "which mistake", f, 0, 100},        \
                                                     {NULL, NULL, 0, 0, 0}}

/* ---- Reno ---- */

struct reno {
    uint64_t credit, repair, *where;
    int64_t fault;
    bool limited, was_limited, cut, spared, timed_out;
    scps_time epoch;
};

static void reno_start(void *s, const int64_t *param, const struct scps_cc_view *v,
                       struct scps_cc_ctl *ctl)
{
    struct reno *r = s;

    *r = (struct reno){.fault = param[0], .where = &r->credit, .epoch = v->now};
    ctl->cwnd = v->init_cwnd;
    ctl->ssthresh = UINT64_MAX;
    ctl->rate = 0;
}

static void avoid(struct reno *r, const struct scps_cc_view *v, uint64_t bytes,
                  struct scps_cc_ctl *ctl)
{
    if (r->fault == TWICE_AS_FAST)
        bytes *= 2;
    if (r->fault == BYTE_A_ROUND) {
        r->credit += bytes;
        if (r->credit >= ctl->cwnd) {
            r->credit -= ctl->cwnd;
            ctl->cwnd += 1; /* mistake: the window grows by one byte instead of one segment */
        }
        return;
    }
    /* mistake: the window grows with the time, even while nothing is sent */
    if (r->fault == STALE_EPOCH) {
        uint64_t target = ctl->ssthresh + (uint64_t)(v->now - r->epoch) / 100000 * v->mss;
        ctl->cwnd += MIN(target > ctl->cwnd ? target - ctl->cwnd : 0, bytes);
        return;
    }
    if (r->fault == POINTER) {
        *r->where += bytes;
        bytes = 0;
    }
    r->credit += bytes;
    while (r->credit >= ctl->cwnd) {
        r->credit -= ctl->cwnd;
        ctl->cwnd += v->mss;
    }
}

static bool may_grow(struct reno *r, const struct scps_cc_view *v, const struct scps_cc_ack *a)
{
    if (a->round_start) {
        r->was_limited = r->limited;
        r->limited = false;
    }
    r->limited |= v->cwnd_limited;
    if (a->in_recovery && !r->spared && r->fault != INFLATES)
        return false;
    return r->fault == APP_GROWTH || r->limited || r->was_limited;
}

static void reno_ack(void *s, const struct scps_cc_view *v, const struct scps_cc_ack *a,
                     struct scps_cc_ctl *ctl)
{
    static uint64_t acks; /* state outside the structure, for the mistake STATIC_CLOCK alone */
    struct reno *r = s;
    uint64_t bytes = a->bytes, grow;
    bool grows = may_grow(r, v, a);

    if (r->fault == EMPTY_ACKS && !bytes)
        bytes = v->mss; /* A duplicate acknowledgement means that a segment has left the network. */
    if (!bytes)
        return;
    r->timed_out = false;
    if (r->repair)
        bytes = MIN(bytes, ctl->cwnd);
    r->repair -= MIN(r->repair, a->bytes);
    if (!grows)
        return;
    if (r->fault == COUNTS_ACKS)
        bytes = MIN(bytes, v->mss);
    if (r->fault == SPLIT_ACKS)
        bytes = MAX(bytes, v->mss);
    if (r->fault == STATIC_CLOCK && ++acks % 16 == 0)
        bytes /= 2;
    if (ctl->cwnd < ctl->ssthresh) {
        grow = MIN(bytes, ctl->ssthresh - ctl->cwnd);
        if (r->fault == NARROW)
            grow = (uint16_t)(grow * 40) + (uint64_t)(grow > 3000 ? 3000000 : 0);
        ctl->cwnd += grow;
        bytes -= MIN(grow, bytes);
    }
    if (bytes)
        avoid(r, v, bytes, ctl);
    if (r->fault == WRITES_BEYOND)
        ((uint8_t *)s)[sizeof *r] = 1;
}

static void cut(struct reno *r, const struct scps_cc_view *v, uint64_t flight,
                struct scps_cc_ctl *ctl)
{
    uint64_t least = r->fault == NO_FLOOR ? 0 : 2 * (uint64_t)v->mss;

    ctl->ssthresh = MAX(flight / 2, least);
    ctl->cwnd = ctl->ssthresh;
    r->credit = r->repair = 0;
    r->epoch = v->now;
    r->spared = false;
    r->cut = true;
}

static void reno_loss(void *s, const struct scps_cc_view *v, const struct scps_cc_loss *l,
                      struct scps_cc_ctl *ctl)
{
    struct reno *r = s;
    uint64_t flight = MIN(v->outstanding, ctl->cwnd);

    if (r->fault == NO_ANSWER || (!l->new_episode && r->fault != CUT_EACH_LOSS))
        return;
    if (l->cause != SCPS_LOSS_CONGESTION && r->fault != HEEDLESS) {
        r->spared = true;
        return;
    }
    cut(r, v, r->fault == HALF_OF_CWND || r->fault == NO_FLOOR ? ctl->cwnd : flight, ctl);
}

static void reno_rto(struct reno *r, const struct scps_cc_view *v, struct scps_cc_ctl *ctl)
{
    if (v->cause != SCPS_LOSS_CONGESTION && r->fault != HEEDLESS)
        return;
    if (r->fault == ONE_CALLBACK) {
        cut(r, v, MIN(v->outstanding, ctl->cwnd), ctl);
        return;
    }
    if (!r->timed_out) {
        uint64_t half = MAX(MIN(v->outstanding, ctl->cwnd) / 2, 2 * (uint64_t)v->mss);
        ctl->ssthresh = ctl->cwnd <= ctl->ssthresh ? MIN(half * 2, ctl->ssthresh) : half;
        ctl->ssthresh = MAX(MIN(ctl->ssthresh, v->outstanding / 2), 2 * (uint64_t)v->mss);
    }
    r->timed_out = true;
    r->repair = MAX(r->repair, v->outstanding);
    r->credit = 0;
    ctl->cwnd = v->mss;
}

static void reno_change(void *s, const struct scps_cc_view *v, enum scps_cc_change what,
                        struct scps_cc_ctl *ctl)
{
    struct reno *r = s;

    switch (what) {
    case SCPS_CC_RTO:
        reno_rto(r, v, ctl);
        break;
    case SCPS_CC_RECOVERED:
        if (r->cut && r->fault != INFLATES)
            ctl->cwnd = MIN(ctl->cwnd, ctl->ssthresh);
        r->cut = r->spared = false;
        r->repair = 0;
        break;
    case SCPS_CC_IDLE:
    case SCPS_CC_PATH:
        if (r->fault != NO_RESTART)
            ctl->cwnd = MIN(ctl->cwnd, v->init_cwnd);
        break;
    case SCPS_CC_SPURIOUS:
        if (r->fault == SPURIOUS_CUT)
            cut(r, v, ctl->cwnd, ctl);
        break;
    case SCPS_CC_LINK_UP:
        break;
    }
}

#define RENO(id, f)                                                                                \
    PARAM(f);                                                                                      \
    static const struct scps_cc_ops id = {.name = #id,                                             \
                                          .help = "a wrong Reno",                                  \
                                          .state_size = sizeof(struct reno),                       \
                                          .params = param_##f,                                     \
                                          .start = reno_start,                                     \
                                          .ack = reno_ack,                                         \
                                          .loss = reno_loss,                                       \
                                          .change = reno_change}
RENO(byte_a_round, BYTE_A_ROUND);
RENO(cut_each_loss, CUT_EACH_LOSS);
RENO(app_growth, APP_GROWTH);
RENO(no_floor, NO_FLOOR);
RENO(one_callback, ONE_CALLBACK);
RENO(counts_acks, COUNTS_ACKS);
RENO(split_acks, SPLIT_ACKS);
RENO(half_of_cwnd, HALF_OF_CWND);
RENO(no_answer, NO_ANSWER);
RENO(heedless, HEEDLESS);
RENO(inflates, INFLATES);
RENO(no_restart, NO_RESTART);
RENO(spurious_cut, SPURIOUS_CUT);
RENO(static_clock, STATIC_CLOCK);
RENO(pointer, POINTER);
RENO(narrow, NARROW);
RENO(empty_acks, EMPTY_ACKS);
RENO(writes_beyond, WRITES_BEYOND);
RENO(stale_epoch, STALE_EPOCH);
RENO(twice_as_fast, TWICE_AS_FAST);

PARAM(RIGHT);
const struct scps_cc_ops cc_right_reno = {.name = "right-reno",
                                          .help = "what the mutants are mutants of",
                                          .state_size = sizeof(struct reno),
                                          .params = param_RIGHT,
                                          .start = reno_start,
                                          .ack = reno_ack,
                                          .loss = reno_loss,
                                          .change = reno_change};

/* ---- Vegas ---- */

struct vegas {
    struct reno reno;
    /* base: lowest RTT of all rounds; sum, lowest: of the RTT samples in this round, µs */
    scps_dur base, sum, lowest;
    /* samples: RTT samples in this round; high: consecutive rounds in which the RTT showed a
     * queue */
    unsigned samples, high;
    bool linear;
};

static void vegas_start(void *s, const int64_t *param, const struct scps_cc_view *v,
                        struct scps_cc_ctl *ctl)
{
    struct vegas *g = s;

    *g = (struct vegas){.base = 0};
    reno_start(&g->reno, param, v, ctl);
}

static void vegas_round(struct vegas *g, const struct scps_cc_view *v, struct scps_cc_ctl *ctl)
{
    bool newest = g->reno.fault == NEWEST_RTT;
    scps_dur rtt = newest ? g->sum / g->samples : g->lowest;
    uint64_t queue = (uint64_t)((double)ctl->cwnd * (double)(rtt - g->base) / (double)rtt);

    g->high = rtt > 2 * g->base ? g->high + 1 : 0;
    /* A round trip that stays long is that of another path, not a queue: take it as the base. */
    if (g->high > 8 && g->reno.fault != BASE_FOR_EVER) {
        g->base = rtt;
        g->high = 0;
        g->linear = false;
        ctl->ssthresh = UINT64_MAX;
        return;
    }
    if (!g->linear) {
        if (queue > 4 * (uint64_t)v->mss) {
            g->linear = true;
            ctl->cwnd = ctl->ssthresh = MAX(ctl->cwnd - queue, 2 * (uint64_t)v->mss);
        }
        return;
    }
    if (queue < 3 * (uint64_t)v->mss && g->reno.was_limited)
        ctl->cwnd += v->mss;
    else if (queue > 5 * (uint64_t)v->mss)
        ctl->cwnd = MAX(ctl->cwnd - v->mss, 2 * (uint64_t)v->mss);
}

static void vegas_ack(void *s, const struct scps_cc_view *v, const struct scps_cc_ack *a,
                      struct scps_cc_ctl *ctl)
{
    struct vegas *g = s;
    scps_dur rtt = g->reno.fault == NEWEST_RTT || a->rtt_old <= 0 ? a->rtt : a->rtt_old;
    bool grows = may_grow(&g->reno, v, a);

    if (a->round_start) {
        if (g->samples && !a->in_recovery)
            vegas_round(g, v, ctl);
        g->samples = 0;
        g->sum = 0;
    }
    if (rtt > 0) {
        g->base = g->base ? MIN(g->base, rtt) : rtt;
        g->lowest = g->samples ? MIN(g->lowest, rtt) : rtt;
        g->sum += rtt;
        g->samples++;
    }
    if (a->bytes)
        g->reno.timed_out = false;
    if (grows && !g->linear && a->bytes)
        ctl->cwnd += MIN(a->bytes, ctl->ssthresh > ctl->cwnd ? ctl->ssthresh - ctl->cwnd : 0);
    g->linear |= ctl->cwnd >= ctl->ssthresh;
}

static void vegas_loss(void *s, const struct scps_cc_view *v, const struct scps_cc_loss *l,
                       struct scps_cc_ctl *ctl)
{
    struct vegas *g = s;

    reno_loss(&g->reno, v, l, ctl);
    g->linear |= g->reno.cut;
}

static void vegas_change(void *s, const struct scps_cc_view *v, enum scps_cc_change what,
                         struct scps_cc_ctl *ctl)
{
    struct vegas *g = s;

    reno_change(&g->reno, v, what, ctl);
    if (what == SCPS_CC_PATH)
        g->base = 0, g->samples = 0;
    if (what == SCPS_CC_RTO || what == SCPS_CC_PATH || what == SCPS_CC_IDLE)
        g->linear = ctl->cwnd >= ctl->ssthresh;
}

#define VEGAS(linkage, id, word, f)                                                                \
    linkage const struct scps_cc_ops id = {.name = word,                                           \
                                           .help = "a small Vegas",                                \
                                           .state_size = sizeof(struct vegas),                     \
                                           .params = param_##f,                                    \
                                           .start = vegas_start,                                   \
                                           .ack = vegas_ack,                                       \
                                           .loss = vegas_loss,                                     \
                                           .change = vegas_change}
PARAM(NEWEST_RTT);
PARAM(BASE_FOR_EVER);
VEGAS(, cc_right_vegas, "right-vegas", RIGHT);
VEGAS(static, newest_rtt, "newest_rtt", NEWEST_RTT);
VEGAS(static, base_for_ever, "base_for_ever", BASE_FOR_EVER);

/* ---- a window of twice what arrives in a round trip ---- */

struct model {
    int64_t fault;
    uint64_t best;
};

static void model_start(void *s, const int64_t *param, const struct scps_cc_view *v,
                        struct scps_cc_ctl *ctl)
{
    *(struct model *)s = (struct model){.fault = param[0]};
    ctl->cwnd = v->init_cwnd;
    ctl->ssthresh = UINT64_MAX;
}
static void model_ack(void *s, const struct scps_cc_view *v, const struct scps_cc_ack *a,
                      struct scps_cc_ctl *ctl)
{
    struct model *m = s;

    /* mistake: the maximum of the delivery rate never expires */
    m->best = MAX(m->best, a->rate);
    ctl->cwnd = MAX(m->best / 1000 * (uint64_t)v->min_rtt / 1000 * 2, 4 * (uint64_t)v->mss);
    if (m->fault == NO_RATE) {
        /* mistake: only the rate limits the sender, although the rate is 0 before the first
         * sample */
        ctl->cwnd = SCPS_CWND_OPEN;
        ctl->rate = a->app_limited ? 0 : a->rate;
    }
}
static void model_loss(void *s, const struct scps_cc_view *v, const struct scps_cc_loss *l,
                       struct scps_cc_ctl *ctl)
{
    (void)s, (void)v, (void)l, (void)ctl;
}
#define MODEL(id, f)                                                                               \
    PARAM(f);                                                                                      \
    static const struct scps_cc_ops id = {.name = #id,                                             \
                                          .help = "a wrong model",                                 \
                                          .state_size = sizeof(struct model),                      \
                                          .params = param_##f,                                     \
                                          .start = model_start,                                    \
                                          .ack = model_ack,                                        \
                                          .loss = model_loss}
MODEL(no_rate, NO_RATE);
MODEL(max_for_ever, MAX_FOR_EVER);

static const struct scps_cc_param bad_param[] = {{"gain", "out of its own range", 300, 1, 255},
                                                 {NULL, NULL, 0, 0, 0}};
static const struct scps_cc_ops bad_default = {.name = "bad_default",
                                               .help = "its own default is refused",
                                               .state_size = sizeof(struct reno),
                                               .params = bad_param,
                                               .start = reno_start,
                                               .ack = reno_ack,
                                               .loss = reno_loss};

#define F(check) SCPS_CCTEST_##check
static const struct cc_mutant mutants[] = {
    {&byte_a_round, F(GROWTH), "reno",
     "avoidance adds an octet, not a segment, a round trip: the window stays where the last loss "
     "left it"},
    {&cut_each_loss, F(ONCE), NULL,
     "each lost segment halves the window: Reno before RFC 6582, whose window was gone after "
     "three losses in a flight"},
    {&app_growth, F(APP_LIMITED), NULL,
     "acknowledgements of an application that sends little grow a window that nobody has tested: "
     "RFC 2861 and RFC 7661"},
    {&no_floor, F(FLOOR), NULL, "halving without a least window: nothing may leave any more"},
    {&one_callback, F(TIMEOUT), NULL,
     "one function for duplicate acknowledgements and the timer: after a timeout half a window "
     "leaves in one burst"},
    {&counts_acks, F(STRETCH_ACKS), NULL,
     "acknowledgements are counted, not octets: delayed ones slow the growth down (RFC 3465)"},
    {&split_acks, F(SPLIT_ACKS), NULL,
     "each acknowledgement is worth a segment however little it acknowledges: a receiver that "
     "splits them opens the window at will (Savage and others 1999)"},
    {&half_of_cwnd, F(SSTHRESH), NULL, "half of cwnd instead of FlightSize: RFC 5681 warns of it"},
    {&no_answer, F(ANSWER), NULL, "losses are not answered: congestion collapse, RFC 2914"},
    {&heedless, F(SPARE), NULL,
     "what the receiver called corruption is answered as congestion: standard TCP on a radio link"},
    {&inflates, F(EPISODE), NULL,
     "the window grows in recovery and is not deflated at its end: RFC 6582 section 3.2 step 3"},
    {&no_restart, F(IDLE), NULL,
     "a window of before a silence leaves in one burst: Hughes, Touch and Heidemann 2001"},
    {&spurious_cut, F(SPURIOUS), NULL, "a spurious episode is paid for once more"},
    {&static_clock, F(PURE), NULL, "a counter in a static variable is shared by all connections"},
    {&pointer, F(PURE), NULL,
     "a pointer into the state: after the core has copied and restored it, it points elsewhere"},
    {&writes_beyond, F(PURE), NULL, "state_size is an octet too small"},
    {&narrow, F(JUMP), NULL, "a product in 16 bits wraps, and the mend of it overshoots"},
    {&empty_acks, F(EMPTY_ACK), NULL,
     "duplicate acknowledgements grow the window outside recovery, too"},
    {&stale_epoch, F(PAUSE), NULL,
     "a window by the clock whose time runs on while the application is silent: CUBIC in Linux "
     "until 2015, and RFC 9438 section 5.8"},
    {&twice_as_fast, F(RESPONSE), "reno", "two segments a round trip: not what it says it is"},
    {&newest_rtt, F(ACKS), NULL,
     "Vegas made Reno by delayed acknowledgements: the receiver's timer is taken for a queue"},
    {&base_for_ever, F(LONGER), NULL,
     "a base round trip that never expires: a longer route is a queue for ever"},
    {&no_rate, F(RATE), NULL,
     "an open window with the rate of the last sample: with no sample there is no limit"},
    {&max_for_ever, F(SLOWER), NULL,
     "a maximum of delivery rates that is never forgotten: when the link slows down the window "
     "stays"},
    {&bad_default, F(OPS), NULL, "a default that its own limits forbid"},
};

bool cc_mutant_at(size_t i, struct cc_mutant *out)
{
    if (i >= sizeof mutants / sizeof *mutants)
        return false;
    *out = mutants[i];
    return true;
}
