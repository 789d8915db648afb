/* SPDX-License-Identifier: MIT */
/* The list of congestion controllers, and the parser of their textual form "name,key=value,...".
 *
 * An error message says what is wrong and what is allowed, in one line without a full stop, so that
 * a program can put its own name before it. The structures that the caller passes for results
 * change only if the whole text is valid.
 */
#include "cc/cc.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <scps/error.h>

static const struct scps_cc_ops *const builtin[] = {
    &scps_cc_vj,        &scps_cc_rate,     &scps_cc_vegas, &scps_cc_vegas_corruption,
    &scps_cc_highspeed, &scps_cc_scalable, &scps_cc_cubic, &scps_cc_hybla,
    &scps_cc_bbr,
};
#define NBUILTIN (sizeof builtin / sizeof *builtin)

const struct scps_cc_ops *scps_cc_at(size_t i)
{
    return i < NBUILTIN ? builtin[i] : NULL;
}

static const struct scps_cc_ops *find_controller(const char *name, size_t len)
{
    for (size_t i = 0; i < NBUILTIN; i++)
        if (strlen(builtin[i]->name) == len && !memcmp(builtin[i]->name, name, len))
            return builtin[i];
    return NULL;
}

const struct scps_cc_ops *scps_cc_find(const char *name)
{
    return find_controller(name, strlen(name));
}

void scps_cc_param_defaults(const struct scps_cc_ops *ops, int64_t out[SCPS_CC_PARAMS])
{
    memset(out, 0, SCPS_CC_PARAMS * sizeof *out);
    for (size_t i = 0; ops->params && ops->params[i].name && i < SCPS_CC_PARAMS; i++)
        out[i] = ops->params[i].def;
}

size_t scps_cc_state_size(const struct scps_cc_ops *ops, const int64_t *param)
{
    return ops->state_size + (ops->more_state ? ops->more_state(param) : 0);
}

/* ---- functions that compose error messages ---- */

struct msg {
    char *at;
    size_t room;
};

static void say_error(struct msg *m, const char *fmt, ...)
{
    if (m->room < 2)
        return;
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(m->at, m->room, fmt, ap);
    va_end(ap);
    size_t used = n < 0 ? 0 : (size_t)n < m->room ? (size_t)n : m->room - 1;
    m->at += used;
    m->room -= used;
}

/* Returns how many characters of the user's word, which has len characters, an error message
 * repeats: at most 40, so that the message stays on one line. */
static int shown(size_t len)
{
    return len > 40 ? 40 : (int)len;
}

static int no_such_controller(struct msg *m, const char *name, size_t len)
{
    say_error(m, "no congestion control \"%.*s\"; there is", shown(len), name);
    for (size_t i = 0; i < NBUILTIN; i++)
        say_error(m, "%s %s", i ? "," : "", builtin[i]->name);
    return SCPS_ERR_NOENT;
}

static int no_such_key(struct msg *m, const struct scps_cc_ops *ops, const char *key, size_t len)
{
    say_error(m, "%s has no parameter \"%.*s\"; it has", ops->name, shown(len), key);
    if (!ops->params || !ops->params[0].name)
        say_error(m, " none");
    for (size_t i = 0; ops->params && ops->params[i].name; i++)
        say_error(m, "%s %s", i ? "," : "", ops->params[i].name);
    return SCPS_ERR_NOENT;
}

/* ---- functions that parse the parameters of a controller ---- */

/* Parses a decimal integer with an optional minus sign. Returns false for any other text. Sets
 * *fits to whether the number fits an int64_t. */
static bool number(const char *s, size_t len, int64_t *out, bool *fits)
{
    bool minus = len && *s == '-';
    uint64_t v = 0, limit = minus ? (uint64_t)INT64_MAX + 1 : INT64_MAX;

    s += minus, len -= minus;
    if (!len)
        return false;
    *fits = true;
    for (; len; s++, len--) {
        if (*s < '0' || *s > '9')
            return false;
        uint64_t d = (uint64_t)(*s - '0');
        if (v > (limit - d) / 10)
            *fits = false;
        else
            v = v * 10 + d;
    }
    *out = minus ? (int64_t)(~v + 1) : (int64_t)v;
    return true;
}

static bool is_word(const char *word, const char *s, size_t len)
{
    return word && strlen(word) == len && !memcmp(word, s, len);
}

/* Sets *out to the value of parameter p for which the word s (len characters) stands in p->words.
 * Returns false if p->words does not contain s. */
static bool named(const struct scps_cc_param *p, const char *s, size_t len, int64_t *out)
{
    int64_t v = p->min;

    for (const char *w = p->words; w && *w; v++) {
        size_t n = strcspn(w, " ");
        if (n == len && !memcmp(w, s, len)) {
            *out = v;
            return true;
        }
        w += n + (w[n] == ' ');
    }
    return false;
}

/* Sets the parameter that the text `item`, "key=value" with len characters, names. *seen has a bit
 * for each parameter that the text has set already, so that none is given twice. Returns 0, or an
 * error with a message in m. */
static int set_param(struct msg *m, const struct scps_cc_ops *ops, const char *item, size_t len,
                     int64_t *param, uint32_t *seen)
{
    const char *eq = memchr(item, '=', len);
    size_t key = eq ? (size_t)(eq - item) : len, i;

    for (i = 0; ops->params && ops->params[i].name; i++)
        if (is_word(ops->params[i].name, item, key) || is_word(ops->params[i].was, item, key))
            break;
    if (!ops->params || !ops->params[i].name)
        return no_such_key(m, ops, item, key);

    const struct scps_cc_param *p = &ops->params[i];
    const char *val = eq ? eq + 1 : item + len;
    size_t vlen = (size_t)(item + len - val);
    int64_t v = 0;
    bool fits = false;
    if (eq && named(p, val, vlen, &v)) {
        fits = true;
    } else if (p->words && (!eq || !number(val, vlen, &v, &fits))) {
        say_error(m, "%s: %s wants one of %s, not \"%.*s\"", ops->name, p->name, p->words,
                  shown(vlen), val);
        return SCPS_ERR_INVAL;
    } else if (!eq || !number(val, vlen, &v, &fits)) {
        say_error(m, "%s: %s wants a whole number (%s=%lld), not \"%.*s\"", ops->name, p->name,
                  p->name, (long long)p->def, shown(vlen), val);
        return SCPS_ERR_INVAL;
    }
    if (!fits || v < p->min || v > p->max) {
        say_error(m, "%s: %s=%.*s is out of range, allowed are %lld to %lld", ops->name, p->name,
                  shown(vlen), val, (long long)p->min, (long long)p->max);
        return SCPS_ERR_RANGE;
    }
    if (*seen >> i & 1) {
        say_error(m, "%s: %s is given twice", ops->name, p->name);
        return SCPS_ERR_INVAL;
    }
    *seen |= UINT32_C(1) << i;
    param[i] = v;
    return 0;
}

int scps_cc_parse_params(const struct scps_cc_ops *ops, const char *text,
                         int64_t param[SCPS_CC_PARAMS], char *msg, size_t msglen)
{
    struct msg m = {msg, msg ? msglen : 0};
    int64_t got[SCPS_CC_PARAMS];
    uint32_t seen = 0;
    int err = 0;

    if (m.room)
        *m.at = 0;
    scps_cc_param_defaults(ops, got);
    for (size_t len = 0; *text && !err; text += len + (text[len] == ',')) {
        len = strcspn(text, ",");
        err = set_param(&m, ops, text, len, got, &seen);
    }
    if (!err)
        memcpy(param, got, sizeof got);
    return err;
}

int scps_cc_parse(const char *text, const struct scps_cc_ops **ops, int64_t param[SCPS_CC_PARAMS],
                  char *msg, size_t msglen)
{
    struct msg m = {msg, msg ? msglen : 0};
    int64_t got[SCPS_CC_PARAMS];
    size_t len = strcspn(text, ",");
    const struct scps_cc_ops *o = find_controller(text, len);
    uint32_t seen = 0;

    if (m.room)
        *m.at = 0;
    if (!o)
        return no_such_controller(&m, text, len);
    scps_cc_param_defaults(o, got);
    for (text += len; *text == ','; text += len) {
        text++;
        len = strcspn(text, ",");
        int err = set_param(&m, o, text, len, got, &seen);
        if (err)
            return err;
    }
    *ops = o;
    memcpy(param, got, sizeof got);
    return 0;
}

const char *scps_loss_cause_name(enum scps_loss_cause c)
{
    static const char *const name[] = {"congestion", "corruption", "outage"};
    return (unsigned)c < sizeof name / sizeof *name ? name[c] : "unknown";
}

const char *scps_cc_phase_name(uint32_t phase)
{
    static const char *const name[SCPS_PHASE_COUNT] = {
#define SCPS_CC_PHASE(name, word) word,
#include <scps/phases.def>
#undef SCPS_CC_PHASE
    };
    return phase < SCPS_PHASE_COUNT ? name[phase] : "?";
}

const char *scps_evidence_name(enum scps_evidence e)
{
    static const char *const name[] = {"dupack", "sack", "snack", "partial", "resend",
                                       "rack",   "rto",  "ecn",   "age"};
    return (unsigned)e < sizeof name / sizeof *name ? name[e] : "unknown";
}
