/* SPDX-License-Identifier: MIT */
/* Runs every check of a congestion controller, returns the results, and has the table of the
 * checks' names and of what each requires. */
#include "cctest/judge.h"

#include "base/bytes.h"

#include <inttypes.h>
#include <string.h>

static const struct {
    const char *name, *help;
} check[SCPS_CCTEST_CHECKS] = {
    [SCPS_CCTEST_OPS] = {"ops",
                         "name, hooks, state size and parameters are as <scps/cc.h> requires"},
    [SCPS_CCTEST_FLOOR] = {"floor", "the window is never below one segment"},
    [SCPS_CCTEST_CEILING] =
        {"ceiling", "window, ssthresh and rate do not overflow: a limited one is at most 2^48"},
    [SCPS_CCTEST_RATE] =
        {"rate",
         "a controller without a window sets a rate, and no rate is below a segment in 60 s"},
    [SCPS_CCTEST_JUMP] = {"jump", "an acknowledgement at most doubles the window, adds the bytes "
                                  "that it acknowledges, or restores an earlier window"},
    [SCPS_CCTEST_APP_LIMITED] = {"app-limited",
                                 "the window does not grow after two round trips in which the "
                                 "application limited sending (RFC 7661, RFC 9438 section 5.8)"},
    [SCPS_CCTEST_EMPTY_ACK] = {"empty-ack", "an acknowledgement that reports no new data does not "
                                            "increase the window (RFC 5681 section 3.1, RFC 3465)"},
    [SCPS_CCTEST_ONCE] = {"once",
                          "a recovery episode reduces the window once (RFC 6582, RFC 6675)"},
    [SCPS_CCTEST_ANSWER] =
        {"answer", "a loss by congestion reduces the window (RFC 2914, RFC 5681 section 3.1)"},
    [SCPS_CCTEST_SPARE] =
        {"spare", "a loss or timeout by corruption or an outage does not reduce the window "
                  "(docs/SCPS-TP.md section 3.4)"},
    [SCPS_CCTEST_SSTHRESH] =
        {"ssthresh",
         "after congestion ssthresh is at least two segments and less than the bytes outstanding, "
         "or than pipeACK if that is larger (RFC 5681 equation 4, RFC 7661)"},
    [SCPS_CCTEST_TIMEOUT] = {"timeout", "a timeout reduces the window so far that one segment may "
                                        "be sent (RFC 5681 section 3.1, loss window)"},
    [SCPS_CCTEST_EPISODE] = {"episode", "neither recovery nor its end raises the window above its "
                                        "size after the loss (RFC 6582 section 3.2)"},
    [SCPS_CCTEST_IDLE] = {"idle", "after an idle period the window is at most the initial one, "
                                  "unless a rate paces it (RFC 5681 section 4.1)"},
    [SCPS_CCTEST_SPURIOUS] =
        {"spurious",
         "the report that an episode was spurious does not reduce the window (RFC 4015)"},
    [SCPS_CCTEST_PURE] =
        {"pure",
         "the outputs depend on the events alone, not on the address of the controller's state"},
    [SCPS_CCTEST_USE] = {"use", "alone on 10 Mbit/s, 100 ms, with a queue of 1 BDP, the flow "
                                "reaches 70 % of the rate and loses at most 10 %"},
    [SCPS_CCTEST_REGROWTH] = {"regrowth",
                              "with a queue of a third of a BDP the flow reaches 60 % of the rate"},
    [SCPS_CCTEST_ACKS] =
        {"acks",
         "delayed and strictly delayed acknowledgements reduce the throughput to 30 % at worst"},
    [SCPS_CCTEST_SPLIT_ACKS] = {"split-acks",
                                "with 20 acknowledgements for each segment slow start reaches at "
                                "most 1.5 times the window (RFC 3465 section 2.1)"},
    [SCPS_CCTEST_STRETCH_ACKS] = {"stretch-acks",
                                  "with one acknowledgement for 16 segments slow start reaches at "
                                  "least half the window (RFC 3465, RFC 9438 section 4.1)"},
    [SCPS_CCTEST_AGGREGATION] =
        {"aggregation",
         "acknowledgements in bursts of 10 or 50 ms reduce the throughput to half at worst"},
    [SCPS_CCTEST_TICKS] =
        {"ticks", "a clock with a resolution of 10 ms reduces the throughput to half at worst"},
    [SCPS_CCTEST_POLICER] = {"policer", "behind a policer with a bucket of half a BDP the flow "
                                        "reaches 25 % of the rate and loses at most 30 %"},
    [SCPS_CCTEST_PAUSE] = {"pause",
                           "after a minute in which the application limits sending the window "
                           "exceeds its earlier size by little (RFC 9438 section 5.8)"},
    [SCPS_CCTEST_LONGER] = {"longer", "when the round trip has become ten times as long, the flow "
                                      "reaches 50 % of the rate again"},
    [SCPS_CCTEST_SHORTER] =
        {"shorter",
         "when the round trip has become a tenth as long, the flow reaches 60 % of the rate again"},
    [SCPS_CCTEST_FASTER] =
        {"faster", "when the rate has become a hundred times as high, the flow reaches 50 % of it"},
    [SCPS_CCTEST_SLOWER] = {"slower", "when the rate has fallen to a hundredth, the flow reaches "
                                      "40 % of it and loses at most 30 %"},
    [SCPS_CCTEST_OUTAGE] = {"outage",
                            "after an outage of 10 s the flow reaches 60 % of the rate again"},
    [SCPS_CCTEST_GROWTH] =
        {"growth", "after a loss the window grows as the controller's published formula says"},
    [SCPS_CCTEST_RESPONSE] =
        {"response",
         "at a given loss rate the mean window is that of the controller's published formula"},
};

const char *scps_cctest_check_name(enum scps_cctest_check c)
{
    return (unsigned)c < SCPS_CCTEST_CHECKS ? check[c].name : NULL;
}

const char *scps_cctest_check_help(enum scps_cctest_check c)
{
    return (unsigned)c < SCPS_CCTEST_CHECKS ? check[c].help : NULL;
}

enum scps_cctest_check scps_cctest_check_find(const char *name, size_t len)
{
    for (unsigned c = 0; c < SCPS_CCTEST_CHECKS; c++)
        if (strlen(check[c].name) == len && !memcmp(check[c].name, name, len))
            return (enum scps_cctest_check)c;
    return SCPS_CCTEST_CHECKS;
}

/* ---- check of the structure scps_cc_ops, without calling a hook ---- */

static bool plain(const char *name)
{
    size_t n = strlen(name);

    return n && n <= 40 &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+") == n;
}

static bool params_ok(const struct scps_cc_ops *ops, char *msg, size_t msglen)
{
    for (size_t i = 0; ops->params && ops->params[i].name; i++) {
        const struct scps_cc_param *p = &ops->params[i];

        if (i >= SCPS_CC_PARAMS) {
            scps_cct_message(msg, msglen,
                             "more than %d parameters, or no entry without name behind "
                             "the last one",
                             SCPS_CC_PARAMS);
            return false;
        }
        if (!plain(p->name) || !p->help) {
            scps_cct_message(msg, msglen,
                             "parameter %zu: give it a name of letters, digits, - and _, "
                             "and a help text",
                             i + 1);
            return false;
        }
        if (p->min > p->max || p->def < p->min || p->def > p->max) {
            scps_cct_message(msg, msglen,
                             "parameter %s: its default %" PRId64 " is not within %" PRId64
                             " to %" PRId64,
                             p->name, p->def, p->min, p->max);
            return false;
        }
        for (size_t k = 0; k < i; k++)
            if (!strcmp(ops->params[k].name, p->name)) {
                scps_cct_message(msg, msglen, "parameter %s is there twice", p->name);
                return false;
            }
    }
    return true;
}

bool scps_cctest_ops_ok(const struct scps_cc_ops *ops, char *msg, size_t msglen)
{
    const char *wrong = NULL;

    if (!ops)
        wrong = "there is none";
    else if (!ops->name || !plain(ops->name))
        wrong = "it has no name of 1 to 40 letters, digits, - and _";
    else if (!ops->help)
        wrong = "it has no help text";
    else if (!ops->start)
        wrong = "it has no start";
    else if (!ops->ack)
        wrong = "it has no ack";
    else if (!ops->loss)
        wrong = "it has no loss";
    else if (ops->state_size > SCPS_CC_STATE_MAX)
        wrong = "its state is larger than SCPS_CC_STATE_MAX";
    if (wrong)
        scps_cct_message(msg, msglen, "%s", wrong);
    return !wrong && params_ok(ops, msg, msglen);
}

/* ---- functions that run the checks and return their results ---- */

static void explain(const struct scps_cctest_history *h, uint64_t seed, const char *what, char *msg,
                    size_t len)
{
    size_t used;
    char one[SCPS_CCTEST_ACTIONLEN];

    scps_cct_message(msg, len, "seed %" PRIu64 ", %zu action%s [", seed, h->n,
                     h->n == 1 ? "" : "s");
    for (size_t i = 0; i < h->n; i++) {
        used = strlen(msg);
        if (used + 200 > len) {
            scps_cct_message(msg + used, len - used, "; ...");
            break;
        }
        scps_cct_message(msg + used, len - used, "%s%s", i ? "; " : "",
                         scps_cctest_action_print(&h->v[i], one));
    }
    used = strlen(msg);
    scps_cct_message(msg + used, len - used, "]: %s", what);
}

/* Checks one invariant on random histories (sequences of events of a sender), generated with seeds
 * 1 to `seeds`. Each invariant needs runs of its own, because a run ends when the first invariant
 * is violated. */
static void invariant(const struct scps_cct_case *c, enum scps_cctest_check which, unsigned seeds,
                      struct scps_cctest_verdict *v)
{
    uint64_t rate = c->ops->needs_rate ? 1250000 : 0;
    struct scps_cctest_history h;
    char what[300];

    for (uint64_t seed = 1; seed <= seeds; seed++) {
        scps_cctest_random(seed, &h);
        if (scps_cctest_run(c->ops, c->param, &h, rate, SCPS_CCTEST_BIT(which), what,
                            sizeof what) != which)
            continue;
        v->ok = false;
        /* The controller is exempted from this check (it fails by design), so the random history
         * (sequence of events given to the controller) with which it fails is reported by its seed,
         * without the search for a shorter history that fails, too. */
        if (v->exempt) {
            scps_cct_message(v->msg, sizeof v->msg, "seed %" PRIu64 ": %s", seed, what);
            return;
        }
        scps_cctest_shrink(c->ops, c->param, &h, rate, which);
        scps_cctest_run(c->ops, c->param, &h, rate, SCPS_CCTEST_BIT(which), what, sizeof what);
        explain(&h, seed, what, v->msg, sizeof v->msg);
        return;
    }
    scps_cct_message(v->msg, sizeof v->msg, "%u random histories of %d events", seeds,
                     SCPS_CCTEST_ACTIONS);
}

static void one(const struct scps_cct_case *c, const struct scps_cctest_expect *x, unsigned seeds,
                struct scps_cctest_verdict *v)
{
    if (v->check == SCPS_CCTEST_OPS)
        v->ok = scps_cctest_ops_ok(c->ops, v->msg, sizeof v->msg);
    else if (v->check <= SCPS_CCTEST_PURE)
        invariant(c, v->check, seeds, v);
    else if (v->check < SCPS_CCTEST_GROWTH)
        scps_cct_path_check(c, v);
    else
        scps_cct_form_check(c, x->form, v);
}

size_t scps_cctest_judge(const struct scps_cc_ops *ops, const int64_t *param,
                         const struct scps_cctest_expect *expect, unsigned seeds,
                         struct scps_cctest_verdict out[SCPS_CCTEST_CHECKS])
{
    static const struct scps_cctest_expect everything;
    const struct scps_cctest_expect *x = expect ? expect : &everything;
    struct scps_cct_case c = {.ops = ops};
    size_t failed = 0;

    for (unsigned i = 0; i < SCPS_CCTEST_CHECKS; i++) {
        struct scps_cctest_verdict *v = &out[i];

        *v = (struct scps_cctest_verdict){.check = (enum scps_cctest_check)i,
                                          .ok = true,
                                          .exempt = x->exempt & SCPS_CCTEST_BIT(i),
                                          .run = true};
        /* The structure scps_cc_ops is invalid, so no hook may be called. */
        if (i == 1 && !out[0].ok) {
            for (; i < SCPS_CCTEST_CHECKS; i++)
                out[i] = (struct scps_cctest_verdict){.check = (enum scps_cctest_check)i};
            return 1;
        }
        if (i == 1) {
            if (param)
                memcpy(c.param, param, sizeof c.param);
            else
                scps_cc_param_defaults(ops, c.param);
        }
        one(&c, x, seeds ? seeds : 40, v);
        failed += v->run && !v->ok && !v->exempt;
    }
    return failed;
}
