/* SPDX-License-Identifier: MIT */
/* Configurations: defaults, derived values, and sharing one among the connections opened with it.
 *
 * Every timer follows from one number, the round trip the operator expects, when it is given; without it the values
 * are those of the terrestrial Internet.  There are no thresholds in between: the same formulas hold from 10 µs to
 * hours.  rto_min is a margin above srtt (rtt.c), so it has to cover the peer's delayed acknowledgement (its timer is
 * taken to be like ours) and a share of the round trip for its variation.
 */
#include "core/conn.h"

#include "base/bytes.h"

#define MAX_BUFFER (UINT32_C(1) << 30) /* RFC 7323 section 2.3 */

struct scps_conn_config scps_conn_config_default(void)
{
    struct scps_conn_config c = {
        .sndbuf = 1 << 20,
        .rcvbuf = 1 << 20,
        .ttl = 64,
        .sack = true,
        .dsack = true,
        .timestamps = true,
        .wscale = true,
        .limited_transmit = true,
        .spurious_undo = true,
        .dupthresh = 3,
        .corruption = true,
        .comp_proto = SCPS_IPPROTO_SCPS_COMP,
        .caps_tries = 3,
        .bets_retries = 32,
        .ack_mode = SCPS_ACK_OTHER,
        .syn_retries = 7, /* 183 s: at least three minutes (RFC 9293 section 3.8.3) */
        .data_retries = 15,
        .keep_idle = SCPS_SEC(7200),
        .keep_interval = SCPS_SEC(75),
        .keep_count = 9,
    };
    scps_conn_config_set_cc(&c, scps_cc_find("vj"), NULL);
    return c;
}

void scps_conn_config_set_cc(struct scps_conn_config *cfg, const struct scps_cc_ops *cc,
                             const int64_t *param)
{
    int64_t own[SCPS_CC_PARAMS] = {0};

    if (cc)
        scps_cc_param_defaults(cc, own);
    for (size_t i = 0; cc && param && cc->params && i < SCPS_CC_PARAMS && cc->params[i].name; i++)
        own[i] = param[i];
    cfg->cc = cfg->cc_param_of = cc;
    memcpy(cfg->cc_param, own, sizeof own);
}

int scps_conn_config_parse_cc(struct scps_conn_config *cfg, const char *text, char *msg,
                              size_t msglen)
{
    const struct scps_cc_ops *cc;
    int64_t param[SCPS_CC_PARAMS];
    int err = scps_cc_parse(text, &cc, param, msg, msglen);

    if (!err)
        scps_conn_config_set_cc(cfg, cc, param);
    return err;
}

static scps_dur derive(scps_dur given, scps_dur fallback)
{
    return given > 0 ? given : fallback;
}

int scps_config_resolve(struct scps_conn_config *c)
{
    scps_dur rtt = c->expected_rtt;
    const scps_dur *d[] = {&c->expected_rtt,  &c->rto_initial,   &c->rto_min,
                           &c->rto_max,       &c->persist_max,   &c->time_wait,
                           &c->fin_wait2,     &c->user_timeout,  &c->keep_idle,
                           &c->keep_interval, &c->ack_delay,     &c->snack_delay,
                           &c->bets_timeout,  &c->bets_lifetime, &c->corruption_hold};

    for (size_t i = 0; i < sizeof d / sizeof *d; i++)
        if (*d[i] < 0 || *d[i] > SCPS_SEC(INT64_C(100) * 365 * 86400))
            return SCPS_ERR_RANGE;
    if (!c->cc || !c->cc->name || !c->cc->start || !c->cc->ack || !c->cc->loss ||
        c->cc->state_size > SCPS_CC_STATE_MAX)
        return SCPS_ERR_INVAL;
    for (size_t i = 0; c->cc->params && c->cc->params[i].name; i++)
        if (i >= SCPS_CC_PARAMS)
            return SCPS_ERR_INVAL;
    if (c->cc_param_of != c->cc) /* those of another one mean nothing here */
        scps_conn_config_set_cc(c, c->cc, NULL);
    for (size_t i = 0; c->cc->params && c->cc->params[i].name; i++)
        if (c->cc_param[i] < c->cc->params[i].min || c->cc_param[i] > c->cc->params[i].max)
            return SCPS_ERR_RANGE;
    for (int i = 0; i < SCPS_BINDINGS; i++)
        if (c->binding[i].len > SCPS_BINDING_MAX || c->binding[i].id > 254)
            return SCPS_ERR_RANGE;
    if (scps_binding_size(c->binding, SCPS_BINDINGS) > SCPS_XCAPS_MAX)
        return SCPS_ERR_RANGE;
    if (!c->comp_proto)
        c->comp_proto = SCPS_IPPROTO_SCPS_COMP;
    if (c->comp_proto != SCPS_IPPROTO_SCPS_COMP && c->comp_proto != SCPS_IPPROTO_TCP &&
        c->comp_proto != SCPS_IPPROTO_SCPS_TP)
        return SCPS_ERR_RANGE;
    if (!c->bets_retries)
        c->bets_retries = 32;
    if (c->bets_retries > 254)
        return SCPS_ERR_RANGE;
    if (c->recovery != SCPS_RECOVERY_CLASSIC && c->recovery != SCPS_RECOVERY_RACK)
        return SCPS_ERR_RANGE;
    if (!c->sndbuf || !c->rcvbuf || c->sndbuf > MAX_BUFFER || c->rcvbuf > MAX_BUFFER ||
        c->rate > SCPS_RATE_MAX || c->ack_budget > SCPS_RATE_MAX)
        return SCPS_ERR_RANGE;
    /* One acknowledgement for all of a window brings the next one in a burst that no queue holds; both ends are taken
     * to acknowledge alike. */
    c->pacing |= c->ack_mode == SCPS_ACK_DELAYED;
    c->ack_delay = derive(c->ack_delay, rtt ? SCPS_MIN(SCPS_MS(200), rtt) : SCPS_MS(200));
    c->rto_min = derive(c->rto_min, rtt ? rtt / 4 + c->ack_delay : SCPS_MS(200));
    /* RFC 6298 section 2 with the hint for SRTT and the least for what is added to it: a measurement would be taken to
     * vary by a half (3 x RTT), but what is expected is not measured, and a SYN too many costs little. */
    c->rto_initial = derive(c->rto_initial, rtt ? rtt + c->rto_min : SCPS_SEC(1));
    c->rto_max = derive(c->rto_max, SCPS_MAX(SCPS_SEC(60), 8 * rtt));
    c->rto_max = SCPS_MAX(c->rto_max, c->rto_min);
    c->rto_initial = SCPS_MIN(c->rto_initial, c->rto_max);
    c->persist_max = derive(c->persist_max, c->rto_max);
    c->time_wait = derive(c->time_wait, SCPS_MAX(SCPS_SEC(60), 4 * rtt));
    c->fin_wait2 = derive(c->fin_wait2, SCPS_MAX(SCPS_SEC(60), 8 * rtt));
    c->keep_idle = derive(c->keep_idle, SCPS_SEC(7200));
    c->keep_interval = derive(c->keep_interval, SCPS_SEC(75));
    if (!c->keep_count)
        c->keep_count = 9;
    if (!c->dupthresh)
        c->dupthresh = 3;
    if (!c->ttl)
        c->ttl = 64;
    return 0;
}

struct scps_shared_config *scps_config_new(const struct scps_alloc *a,
                                           const struct scps_conn_config *c, bool rated, int *err)
{
    struct scps_shared_config *s = a->alloc(a->ctx, sizeof *s);

    *err = SCPS_ERR_NOMEM;
    if (!s)
        return NULL;
    s->refs = 1;
    s->c = c ? *c : scps_conn_config_default();
    *err = scps_config_resolve(&s->c);
    if (!*err && s->c.cc->needs_rate && !s->c.rate && !rated)
        *err = SCPS_ERR_NORATE;
    if (*err) {
        a->free(a->ctx, s, sizeof *s);
        return NULL;
    }
    memcpy(&s->ip4, (uint8_t[8]){[2] = s->c.df_off ? 0 : 0x40, [4] = s->c.ttl, SCPS_IPPROTO_TCP},
           sizeof s->ip4);
    return s;
}

void scps_config_unref(const struct scps_alloc *a, struct scps_shared_config *s)
{
    if (s && !--s->refs)
        a->free(a->ctx, s, sizeof *s);
}
