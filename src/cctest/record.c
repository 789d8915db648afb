/* SPDX-License-Identifier: MIT */
/* The recorder (struct scps_cctest_recorder) logs what a congestion controller does. A connection
 * is given a controller of the recorder, the recording controller, in place of the recorded one: it
 * passes each call on to the recorded controller, and writes a line with the inputs and outputs of
 * the call.
 *
 * Controllers have no context pointer. Therefore the recording controller has one parameter, whose
 * value is the address of the recorder. The core passes it to start(), which stores it at the
 * beginning of the recording controller's state (struct state). Behind it, in the same memory, is
 * the state of the recorded controller, so the core saves and restores both together.
 */
#include "cctest/record.h"

#include <scps/error.h>

#include <inttypes.h>
#include <string.h>

#define EVERY  0x1f
#define ACK    (1 << SCPS_CCTEST_ACK)
#define LOSS   (1 << SCPS_CCTEST_LOSS)
#define CHANGE (1 << SCPS_CCTEST_CHANGE)
#define SENT   (1 << SCPS_CCTEST_SENT)

#define U(kinds, name, field)                                                                      \
    {                                                                                              \
        name, offsetof(struct scps_cctest_event, field),                                           \
            sizeof(((struct scps_cctest_event *)0)->field), false, kinds                           \
    }
#define S(kinds, name, field)                                                                      \
    {                                                                                              \
        name, offsetof(struct scps_cctest_event, field),                                           \
            sizeof(((struct scps_cctest_event *)0)->field), true, kinds                            \
    }

const struct scps_cct_column scps_cct_columns[] = {
    S(EVERY, "now", view.now),
    U(EVERY, "inflight", view.inflight),
    U(EVERY, "outstanding", view.outstanding),
    U(EVERY, "mss", view.mss),
    U(EVERY, "init_cwnd", view.init_cwnd),
    S(EVERY, "srtt", view.srtt),
    S(EVERY, "min_rtt", view.min_rtt),
    U(EVERY, "conf_rate", view.conf_rate),
    U(EVERY, "max_cwnd", view.max_cwnd),
    U(EVERY, "cwnd_limited", view.cwnd_limited),
    U(EVERY, "app_limited", view.app_limited),
    U(EVERY, "cause", view.cause),
    U(EVERY, "random", view.random),
    U(EVERY, "delivered", view.delivered),
    U(EVERY, "lost", view.lost),
    U(EVERY, "pipe_ack", view.pipe_ack),
    U(EVERY, "resent", view.resent),
    U(ACK, "ack_bytes", ack.bytes),
    S(ACK, "ack_rtt", ack.rtt),
    S(ACK, "ack_rtt_old", ack.rtt_old),
    U(ACK, "ack_rate", ack.rate),
    U(ACK, "ack_app_limited", ack.app_limited),
    U(ACK, "ack_round_start", ack.round_start),
    U(ACK, "ack_in_recovery", ack.in_recovery),
    U(ACK, "ack_marked", ack.marked),
    S(ACK, "ack_interval", ack.interval),
    U(ACK, "ack_sample_bytes", ack.sample_bytes),
    U(ACK, "ack_prior_delivered", ack.prior_delivered),
    U(ACK, "ack_tx_in_flight", ack.tx_in_flight),
    U(ACK, "ack_lost_since", ack.lost_since),
    U(LOSS, "loss_bytes", loss.bytes),
    U(LOSS, "loss_cause", loss.cause),
    U(LOSS, "loss_evidence", loss.evidence),
    U(LOSS, "loss_new_episode", loss.new_episode),
    U(LOSS, "loss_app_limited", loss.app_limited),
    U(LOSS, "loss_ranges", loss.ranges),
    U(LOSS, "loss_tx_in_flight", loss.tx_in_flight),
    U(LOSS, "loss_lost_since", loss.lost_since),
    U(CHANGE, "change", change),
    U(SENT, "sent_bytes", sent.bytes),
    U(SENT, "sent_resent", sent.resent),
    U(EVERY, "before_cwnd", before.cwnd),
    U(EVERY, "before_ssthresh", before.ssthresh),
    U(EVERY, "before_rate", before.rate),
    U(EVERY, "cwnd", after.cwnd),
    U(EVERY, "ssthresh", after.ssthresh),
    U(EVERY, "rate", after.rate),
    U(EVERY, "quantum", after.quantum),
};
const size_t scps_cct_ncolumns = SCPS_CCTEST_ROWS(scps_cct_columns);

int64_t scps_cct_column_get(const struct scps_cct_column *c, const struct scps_cctest_event *e)
{
    const uint8_t *p = (const uint8_t *)e + c->at;
    uint64_t wide;
    uint32_t four;

    if (c->size == 8) {
        memcpy(&wide, p, 8);
        return (int64_t)wide;
    }
    if (c->size == 4) {
        memcpy(&four, p, 4);
        return four;
    }
    return *p;
}

void scps_cct_column_put(const struct scps_cct_column *c, struct scps_cctest_event *e, uint64_t v)
{
    uint8_t *p = (uint8_t *)e + c->at;
    uint32_t four = (uint32_t)v;
    uint8_t one = v != 0; /* A field of one octet has the type bool. */

    if (c->size == 8)
        memcpy(p, &v, 8);
    else
        memcpy(p, c->size == 4 ? (const void *)&four : &one, c->size);
}

/* ---- functions that write a recording: the calls of a controller with inputs and outputs ---- */

struct state {
    struct scps_cctest_recorder *r;
    uint64_t conn; /* number of the connection in the recording, from 1 */
    uint64_t inner[];
};

static void write_event(const struct state *s, struct scps_cctest_event *e,
                        const struct scps_cc_ctl *after)
{
    static const char kind[] = {'A', 'L', 'C', 'P', 'S'};
    char line[SCPS_CCT_LINELEN];
    size_t n;

    e->after = *after;
    n = (size_t)snprintf(line, sizeof line, "%c,%" PRIu64, kind[e->kind], s->conn);
    for (size_t i = 0; i < scps_cct_ncolumns; i++) {
        const struct scps_cct_column *c = &scps_cct_columns[i];
        int64_t v = scps_cct_column_get(c, e);

        if (!(c->kinds >> e->kind & 1))
            n += (size_t)snprintf(line + n, sizeof line - n, ",");
        else if (c->is_signed)
            n += (size_t)snprintf(line + n, sizeof line - n, ",%" PRId64, v);
        else
            n += (size_t)snprintf(line + n, sizeof line - n, ",%" PRIu64, (uint64_t)v);
    }
    n += (size_t)snprintf(line + n, sizeof line - n, "\n");
    s->r->write(s->r->ctx, line, n);
}

static void start(void *state, const int64_t *param, const struct scps_cc_view *v,
                  struct scps_cc_ctl *ctl)
{
    struct state *s = state;
    struct scps_cctest_event e = {.kind = SCPS_CCTEST_START, .view = *v, .before = *ctl};

    s->r = (struct scps_cctest_recorder *)(intptr_t)param[0];
    if (!s->conn)
        s->conn = ++s->r->connections;
    s->r->inner->start(s->inner, s->r->inner_param, v, ctl);
    write_event(s, &e, ctl);
}

static void ack(void *state, const struct scps_cc_view *v, const struct scps_cc_ack *a,
                struct scps_cc_ctl *ctl)
{
    struct state *s = state;
    struct scps_cctest_event e = {.kind = SCPS_CCTEST_ACK, .view = *v, .ack = *a, .before = *ctl};

    s->r->inner->ack(s->inner, v, a, ctl);
    write_event(s, &e, ctl);
}

static void loss(void *state, const struct scps_cc_view *v, const struct scps_cc_loss *l,
                 struct scps_cc_ctl *ctl)
{
    struct state *s = state;
    struct scps_cctest_event e = {.kind = SCPS_CCTEST_LOSS, .view = *v, .loss = *l, .before = *ctl};

    s->r->inner->loss(s->inner, v, l, ctl);
    write_event(s, &e, ctl);
}

static void change(void *state, const struct scps_cc_view *v, enum scps_cc_change what,
                   struct scps_cc_ctl *ctl)
{
    struct state *s = state;
    struct scps_cctest_event e = {
        .kind = SCPS_CCTEST_CHANGE, .view = *v, .change = what, .before = *ctl};

    if (s->r->inner->change)
        s->r->inner->change(s->inner, v, what, ctl);
    write_event(s, &e, ctl);
}

static void on_sent(void *state, const struct scps_cc_view *v, const struct scps_cc_sent *p,
                    struct scps_cc_ctl *ctl)
{
    struct state *s = state;
    struct scps_cctest_event e = {.kind = SCPS_CCTEST_SENT, .view = *v, .sent = *p, .before = *ctl};

    s->r->inner->on_sent(s->inner, v, p, ctl);
    write_event(s, &e, ctl);
}

static void write_head(struct scps_cctest_recorder *r)
{
    char line[SCPS_CCT_LINELEN];
    size_t n = (size_t)snprintf(line, sizeof line, SCPS_CCT_HEAD "\ncontroller %s", r->inner->name);

    for (size_t i = 0; r->inner->params && r->inner->params[i].name; i++)
        n += (size_t)snprintf(line + n, sizeof line - n, ",%.40s=%" PRId64,
                              r->inner->params[i].name, r->inner_param[i]);
    n += (size_t)snprintf(line + n, sizeof line - n, "\n");
    r->write(r->ctx, line, n);
    n = (size_t)snprintf(line, sizeof line, "call,connection");
    for (size_t i = 0; i < scps_cct_ncolumns; i++)
        n += (size_t)snprintf(line + n, sizeof line - n, ",%s", scps_cct_columns[i].name);
    n += (size_t)snprintf(line + n, sizeof line - n, "\n");
    r->write(r->ctx, line, n);
}

int scps_cctest_recorder_init(struct scps_cctest_recorder *r, const struct scps_cc_ops *ops,
                              const int64_t *param,
                              void (*write)(void *ctx, const char *line, size_t len), void *ctx)
{
    int64_t me = (int64_t)(intptr_t)r;

    *r = (struct scps_cctest_recorder){.inner = ops, .write = write, .ctx = ctx, .param[0] = me};
    if (param)
        memcpy(r->inner_param, param, sizeof r->inner_param);
    else
        scps_cc_param_defaults(ops, r->inner_param);
    r->handle[0] = (struct scps_cc_param){"recorder", "where calls are written", me, me, me};
    r->ops = *ops;
    r->ops.state_size = sizeof(struct state) + scps_cc_state_size(ops, r->inner_param);
    r->ops.more_state = NULL;
    if (r->ops.state_size > SCPS_CC_STATE_MAX)
        return SCPS_ERR_RANGE;
    r->ops.params = r->handle;
    r->ops.start = start;
    r->ops.ack = ack;
    r->ops.loss = loss;
    r->ops.change = change;
    r->ops.on_sent = ops->on_sent ? on_sent : NULL;
    write_head(r);
    return 0;
}
