/* SPDX-License-Identifier: MIT */
/* Calls a congestion controller with the inputs that a recording (record.c) contains, and compares
 * the outputs of the controller with those in the recording. */
#include "cctest/record.h"

#include "base/bytes.h"

#include <scps/error.h>

#include <inttypes.h>
#include <string.h>

enum { COLUMNS = 96 };

struct player {
    const char *at, *end;
    uint64_t line;
    /* the columns of the recording, in its order; NULL: this version of the library does not know
     * the column, and skips its values */
    const struct scps_cct_column *column[COLUMNS];
    size_t columns;
    struct scps_cctest t;
    struct scps_cct_rules rules;
    /* last: the previous recorded call; made: the same call with the outputs of the controller
     * under test in place of the recorded ones */
    struct scps_cctest_event last, made;
    uint64_t own_before; /* window of the controller under test before the present call, bytes */
    bool started;
};

/* Gets the next line of the recording, *len bytes without its newline. Returns false at the end. */
static bool next_line(struct player *p, const char **line, size_t *len)
{
    const char *nl;

    if (p->at >= p->end)
        return false;
    nl = memchr(p->at, '\n', (size_t)(p->end - p->at));
    *line = p->at;
    *len = (size_t)((nl ? nl : p->end) - p->at);
    p->at = nl ? nl + 1 : p->end;
    p->line++;
    return true;
}

static bool is(const char *line, size_t len, const char *word)
{
    return strlen(word) == len && !memcmp(line, word, len);
}

static bool read_head(struct player *p)
{
    const char *line;
    size_t len, n = 0;

    if (!next_line(p, &line, &len) || !is(line, len, SCPS_CCT_HEAD) || !next_line(p, &line, &len) ||
        len < 11 || memcmp(line, "controller ", 11) || !next_line(p, &line, &len) || len < 16 ||
        memcmp(line, "call,connection,", 16))
        return false;
    for (const char *w = line + 16, *end = line + len; w <= end && n < COLUMNS; n++) {
        const char *comma = memchr(w, ',', (size_t)(end - w));
        size_t wlen = (size_t)((comma ? comma : end) - w);

        p->column[n] = NULL;
        for (size_t i = 0; i < scps_cct_ncolumns; i++)
            if (is(w, wlen, scps_cct_columns[i].name))
                p->column[n] = &scps_cct_columns[i];
        w += wlen + 1;
    }
    p->columns = n;
    return n < COLUMNS;
}

/* Parses a decimal number at *w, the next field of a line, into *v, and moves *w behind the comma
 * that follows. An empty field is 0. Returns false if it is no number. */
static bool number(const char **w, const char *end, uint64_t *v)
{
    bool minus = *w < end && **w == '-';
    uint64_t n = 0;

    for (*w += minus; *w < end && **w != ','; ++*w) {
        unsigned digit = (unsigned)(**w - '0');

        if (digit > 9 || n > (UINT64_MAX - digit) / 10)
            return false;
        n = n * 10 + digit;
    }
    *w += *w < end;
    *v = minus ? ~n + 1 : n;
    return true;
}

static bool read_event(struct player *p, const char *line, size_t len, uint64_t *conn,
                       struct scps_cctest_event *e)
{
    static const char kinds[] = "ALCPS";
    const char *kind = len > 2 ? memchr(kinds, *line, 5) : NULL, *w = line + 2, *end = line + len;
    uint64_t v;
    size_t commas = 0;

    for (size_t i = 0; i < len; i++)
        commas += line[i] == ',';
    if (!kind || line[1] != ',' || commas != p->columns + 1 || !number(&w, end, conn))
        return false;
    *e = (struct scps_cctest_event){.kind = (enum scps_cctest_kind)(kind - kinds)};
    for (size_t i = 0; i < p->columns; i++) {
        if (!number(&w, end, &v))
            return false;
        if (p->column[i])
            scps_cct_column_put(p->column[i], e, v);
    }
    return w == end && e->view.mss > 0 && (unsigned)e->view.cause <= SCPS_LOSS_OUTAGE &&
           (unsigned)e->loss.cause <= SCPS_LOSS_OUTAGE && (unsigned)e->change <= SCPS_CC_PATH;
}

/* ---- functions that replay the recorded calls of a controller ---- */

static void watch(void *ctx, const struct scps_cctest_event *e)
{
    struct player *p = ctx;

    p->made = *e;
    scps_cct_rules_watch(&p->rules, e);
}

/* Called before each replayed call. If the recorded cwnd is smaller than after the last
 * acknowledgement, the TCP sender has taken back growth that a duplicate acknowledgement caused
 * (RFC 5681 section 3.2 step 1). So the window of the controller under test is set back, too. */
static void taken_back(struct player *p, const struct scps_cctest_event *e)
{
    uint64_t kept = SCPS_MAX(p->last.after.cwnd, e->view.mss);

    if (p->last.kind == SCPS_CCTEST_ACK && e->before.cwnd < kept && e->kind != SCPS_CCTEST_START)
        p->t.ctl.cwnd = SCPS_MIN(p->t.ctl.cwnd, p->own_before);
}

static void play(struct player *p, const struct scps_cctest_event *e, const struct scps_cc_ops *ops,
                 const int64_t *param)
{
    struct scps_cctest_event begun = {.kind = SCPS_CCTEST_START, .view = e->view};

    taken_back(p, e);
    p->own_before = p->t.ctl.cwnd;
    p->t.view = e->view;
    switch (e->kind) {
    /* The recorded view (the controller's input) is used as it is. scps_cctest_start() is not
     * called, because it would replace a round-trip time of 0 in the view by a default. */
    case SCPS_CCTEST_START:
        p->t.ctl = (struct scps_cc_ctl){.cwnd = e->view.init_cwnd, .ssthresh = UINT64_MAX};
        begun.before = p->t.ctl;
        ops->start(p->t.state.bytes, param, &p->t.view, &p->t.ctl);
        begun.after = p->t.ctl;
        watch(p, &begun);
        p->t.ctl.cwnd = SCPS_MAX(p->t.ctl.cwnd, e->view.mss);
        break;
    case SCPS_CCTEST_ACK:
        scps_cctest_ack(&p->t, &e->ack);
        break;
    case SCPS_CCTEST_LOSS:
        scps_cctest_loss(&p->t, &e->loss);
        break;
    case SCPS_CCTEST_CHANGE:
        scps_cctest_change(&p->t, e->change);
        break;
    case SCPS_CCTEST_SENT:
        if (!ops->on_sent)
            return;
        scps_cctest_sent(&p->t, &e->sent);
        break;
    }
}

static bool same(const struct scps_cc_ctl *a, const struct scps_cc_ctl *b)
{
    return a->cwnd == b->cwnd && a->ssthresh == b->ssthresh && a->rate == b->rate &&
           a->quantum == b->quantum;
}

int scps_cctest_run_recording(const char *text, size_t len, unsigned conn,
                              const struct scps_cc_ops *ops, const int64_t *param, uint64_t exempt,
                              struct scps_cctest_replay *out,
                              void (*each)(void *ctx, const struct scps_cctest_replayed *e),
                              void *ctx, char *msg, size_t msglen)
{
    struct player p = {.at = text, .end = text + len};
    int64_t defaults[SCPS_CC_PARAMS];
    const char *line;
    size_t n;

    *out = (struct scps_cctest_replay){.broken = SCPS_CCTEST_CHECKS};
    if (!param) {
        scps_cc_param_defaults(ops, defaults);
        param = defaults;
    }
    p.t.ops = ops;
    p.t.watch = watch;
    p.t.ctx = &p;
    scps_cct_rules_init(&p.rules, ~exempt);
    if (!read_head(&p)) {
        scps_cct_message(msg, msglen, "line %" PRIu64 ": not a recording of scps_cctest", p.line);
        return SCPS_ERR_INVAL;
    }
    while (next_line(&p, &line, &n)) {
        struct scps_cctest_event e;
        uint64_t whose;

        if (!read_event(&p, line, n, &whose, &e)) {
            scps_cct_message(msg, msglen, "line %" PRIu64 ": not a call with its numbers", p.line);
            return SCPS_ERR_INVAL;
        }
        if (whose != conn || (!p.started && e.kind != SCPS_CCTEST_START))
            continue;
        p.started = true;
        if (e.kind == SCPS_CCTEST_SENT && !ops->on_sent)
            continue;
        play(&p, &e, ops, param);
        p.last = e;
        out->events++;
        if (!same(&e.after, &p.made.after) && !out->different++)
            out->first = p.line;
        if (each)
            each(ctx, &(struct scps_cctest_replayed){p.line, p.made, e.after});
    }
    out->broken = p.rules.broken;
    memcpy(out->msg, p.rules.msg, sizeof out->msg);
    if (!p.started)
        scps_cct_message(msg, msglen, "the recording has no connection %u", conn);
    return p.started ? 0 : SCPS_ERR_NOENT;
}
