/* SPDX-License-Identifier: MIT */
/* Configurations of connections: defaults, derived values, and sharing one configuration among the
 * connections opened with it.
 *
 * If the application sets expected_rtt, every timer follows from it; otherwise the values are those
 * of the terrestrial Internet. The formulas have no thresholds: they hold from 10 µs to hours.
 * rto_min is the least distance of the RTO from SRTT (rtt.c), not a least RTO. It has to cover the
 * peer's delayed acknowledgement, whose timer is assumed to be ack_delay of this end, and the
 * variation of the round trip, taken as a quarter of expected_rtt, or 50 ms without one. The first
 * segment needs both: SRTT is then the round trip of the SYN, which is acknowledged without delay
 * and takes less time on a slow line. Without expected_rtt, rto_min is at least 200 ms, as in
 * Linux, and ack_delay is 150 ms, so that 200 ms cover it.
 */
#include "core/config.h"
#include "core/ctx.h"
#include "core/fixed.h"
#include "core/tp.h"
#include <scps/wire.h>

#include "base/bytes.h"
#include "base/field.h"
#include "base/line.h"
#include "base/sized.h"

#include <stddef.h>

/* Compile-time checks of the list of settings (settings.def): a default outside its bounds, or
 * bounds that do not fit the field, stop the compiler at the line of that setting. */
enum kind { FLAG, COUNT, COUNT_OR_0, BYTES, RATE, TIME, CHOICE };

#define MEMBER(field) (((struct scps_conn_config *)0)->field)
#define WIDEST(field)                                                                              \
    ((int64_t)(UINT64_MAX >> 1 >> (64 - SCPS_MIN(63, 8 * sizeof MEMBER(field)) - 1)))
/* The table below stores upper bounds and defaults in 32 bits. Upper bounds of times are in
 * seconds, those of rates in multiples of 2^20 bytes/s (MOST_UNIT); defaults of times are in
 * milliseconds (DEF_UNIT). All others have the unit of the field. */
#define MOST_UNIT(kind)     ((kind) == TIME ? SCPS_SEC(1) : (kind) == RATE ? INT64_C(1) << 20 : 1)
#define DEF_UNIT(kind)      ((kind) == TIME ? SCPS_MS(1) : 1)
#define MULTIPLE(v, unit)   ((v) % (unit) == 0 && WITHIN((v) / (unit), 0, UINT32_MAX))
#define WITHIN(v, lo, hi)   ((int64_t)(lo) <= (int64_t)(v) && (int64_t)(v) <= (int64_t)(hi))
#define RULE(name, ok, why) _Static_assert(ok, "settings.def: " #name ": " why)

#define SCPS_SETTING(name, field, kind, def, least, most, ...)                                     \
    RULE(name, (int64_t)(least) <= (int64_t)(most), "its bounds are the wrong way round");         \
    RULE(name, WITHIN(def, least, most) || (kind == COUNT_OR_0 && (def) == 0),                     \
         "its default is outside its bounds");                                                     \
    RULE(name, WITHIN(least, 0, most) && (int64_t)(most) <= WIDEST(field),                         \
         "its bounds do not fit the field");                                                       \
    RULE(name, (kind) != TIME || (most) == SCPS_TIME_MOST, "its bound is not SCPS_TIME_MOST");     \
    RULE(name, (kind) != BYTES || (most) == SCPS_BYTES_MOST, "its bound is not SCPS_BYTES_MOST");  \
    RULE(name,                                                                                     \
         MULTIPLE(most, MOST_UNIT(kind)) && MULTIPLE(def, DEF_UNIT(kind)) &&                       \
             (least) <= UINT16_MAX,                                                                \
         "a bound or its default does not fit the table below");
#include <scps/settings.def>

/* Compile-time check: two settings with the same name, or for the same field, would declare the
 * same enumerator twice, which does not compile. */
#define SCPS_SETTING(name, ...) two_settings_are_called_##name,
enum {
#include <scps/settings.def>
    SETTINGS
};
#define SCPS_SETTING(name, field, ...) two_settings_are_for_##field,
enum {
#include <scps/settings.def>
    FIELDS
};

static const struct setting {
    const char *name;
    /* def: the default, in units of DEF_UNIT(kind); most: the upper bound, in units of
     * MOST_UNIT(kind) */
    uint32_t def, most;
    uint16_t least;
    uint16_t at; /* offset of the field in the configuration, bytes */
    uint8_t size, kind;
} settings[] = {
#define SCPS_SETTING(name, field, kind, def, least, most, ...)                                     \
    {#field, (uint32_t)((def) / DEF_UNIT(kind)),       (uint32_t)((most) / MOST_UNIT(kind)),       \
     least,  offsetof(struct scps_conn_config, field), sizeof MEMBER(field),                       \
     kind},
#include <scps/settings.def>
};

static int64_t default_of(const struct setting *s)
{
    return s->def * DEF_UNIT(s->kind);
}

/* Smallest value of the field `size` of a configuration that is accepted: the members up to `cc`,
 * the last one before `rate`. */
#define LEAST SCPS_SIZED_TO(scps_conn_config, rate)

void scps_conn_config_init(struct scps_conn_config *c, size_t size)
{
    memset(c, 0, size);
    if (size < LEAST)
        return;
    c->size = size;
    for (const struct setting *s = settings; s < settings + SETTINGS; s++)
        if (s->at + s->size <= size)
            scps_field_put((char *)c + s->at, s->size, default_of(s));
    scps_conn_config_set_cc(c, scps_cc_find("vj"), NULL);
}

/* Appends ": give LEAST to MOST" (the permitted range) to an error message that ends with the
 * refused value. Returns SCPS_ERR_RANGE. */
static int give(struct scps_line *why, int64_t least, int64_t most)
{
    scps_line_text(why, ": give ");
    scps_line_signed(why, least);
    scps_line_text(why, " to ");
    scps_line_signed(why, most);
    return SCPS_ERR_RANGE;
}

int scps_config_refuse(struct scps_line *why, const char *field, int64_t v, int64_t least,
                       int64_t most)
{
    scps_line_text(why, field);
    scps_line_text(why, ": ");
    scps_line_signed(why, v);
    return give(why, least, most);
}

int scps_config_refuse_count(struct scps_line *why, const char *field, int64_t v, int64_t least,
                             int64_t most)
{
    scps_line_text(why, field);
    scps_line_text(why, ": ");
    scps_line_number(why, (uint64_t)v);
    return give(why, least, most);
}

int scps_config_take(struct scps_conn_config *to, const struct scps_conn_config *from,
                     struct scps_line *why)
{
    scps_conn_config_init(to, sizeof *to);
    return !from || scps_sized_take_own(to, sizeof *to, from, LEAST)
               ? 0
               : scps_config_refuse_size(why, from->size, LEAST, sizeof *to);
}

int scps_config_refuse_size(struct scps_line *why, size_t size, size_t least, size_t most)
{
    int err = scps_config_refuse_count(why, "size", (int64_t)size, (int64_t)least, (int64_t)most);

    scps_line_text(why, ", as the function that returns the defaults sets it");
    return err;
}

/* Checks the bounds of every field of *c. A 0 outside the bounds stands for the default and is
 * replaced by it. Returns 0, or SCPS_ERR_RANGE with a message in *why. */
static int check_bounds(struct scps_conn_config *c, struct scps_line *why)
{
    for (size_t i = 0; i < SETTINGS; i++) {
        const struct setting *s = &settings[i];
        int64_t v = scps_field_get((const char *)c + s->at, s->size);
        int64_t most = s->most * MOST_UNIT(s->kind);

        if (v == 0 && s->least > 0)
            scps_field_put((char *)c + s->at, s->size, default_of(s));
        else if (v < s->least || v > most)
            return (s->kind == TIME ? scps_config_refuse
                                    : scps_config_refuse_count)(why, s->name, v, s->least, most);
    }
    return 0;
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

static SCPS_NOINLINE_SIZE scps_dur derive(scps_dur given, scps_dur fallback)
{
    return given > 0 ? given : fallback;
}

static int check_controller(struct scps_conn_config *c, struct scps_line *why)
{
    if (!c->cc || !c->cc->name || !c->cc->start || !c->cc->ack || !c->cc->loss ||
        scps_cc_state_size(c->cc, c->cc_param) > SCPS_CC_STATE_MAX) {
        scps_line_text(why, "cc: no controller, one without its functions, or one whose state is "
                            "larger than SCPS_CC_STATE_MAX");
        return SCPS_ERR_INVAL;
    }
    for (size_t i = 0; c->cc->params && c->cc->params[i].name; i++)
        if (i >= SCPS_CC_PARAMS) {
            scps_line_text(why, "cc: the controller has more than SCPS_CC_PARAMS parameters");
            return SCPS_ERR_INVAL;
        }
    /* c->cc_param holds the parameters of another controller (cc_param_of), so those of the
     * controller c->cc get their defaults. */
    if (c->cc_param_of != c->cc)
        scps_conn_config_set_cc(c, c->cc, NULL);
    for (size_t i = 0; c->cc->params && c->cc->params[i].name; i++)
        if (c->cc_param[i] < c->cc->params[i].min || c->cc_param[i] > c->cc->params[i].max) {
            scps_line_text(why, "cc_param: ");
            return scps_config_refuse(why, c->cc->params[i].name, c->cc_param[i],
                                      c->cc->params[i].min, c->cc->params[i].max);
        }
    return 0;
}

/* Checks the conditions that no table of bounds can express, such as those between two fields. */
static int check_others(const struct scps_conn_config *c, struct scps_line *why)
{
    for (int i = 0; i < SCPS_BINDINGS; i++)
        if (c->binding[i].len > SCPS_BINDING_MAX || c->binding[i].id > 254) {
            scps_line_text(why, "binding: ");
            return c->binding[i].id > 254
                       ? scps_config_refuse(why, "id", c->binding[i].id, 0, 254)
                       : scps_config_refuse(why, "len", c->binding[i].len, 0, SCPS_BINDING_MAX);
        }
    if (scps_binding_size(c->binding, SCPS_BINDINGS) > SCPS_XCAPS_MAX) {
        scps_line_text(why, "binding: together the spaces take more than SCPS_XCAPS_MAX octets");
        return SCPS_ERR_RANGE;
    }
    if (c->comp_proto != SCPS_IPPROTO_SCPS_COMP && c->comp_proto != SCPS_IPPROTO_TCP &&
        c->comp_proto != SCPS_IPPROTO_SCPS_TP) {
        scps_line_text(why, "comp_proto: ");
        scps_line_number(why, c->comp_proto);
        scps_line_text(why, ": give 6, 105 or 106");
        return SCPS_ERR_RANGE;
    }
    return 0;
}

/* Checks a configuration, and replaces each 0 that stands for a default. Returns 0, or an error
 * with its description in *why. */
static int check(struct scps_conn_config *c, struct scps_line *why)
{
    int err = check_bounds(c, why);

    if (!err)
        err = check_controller(c, why);
    return err ? err : check_others(c, why);
}

int scps_conn_config_check(const struct scps_conn_config *cfg, char *msg, size_t msglen)
{
    struct scps_line why = scps_line_begin(msg, msglen);
    struct scps_conn_config c;
    int err = scps_config_take(&c, cfg, &why);

    return err ? err : check(&c, &why);
}

int scps_config_resolve(struct scps_conn_config *c)
{
    scps_dur rtt = c->expected_rtt;
    struct scps_line no_text = {NULL, 0};
    int err = check(c, &no_text);

    if (err)
        return err;
    /* In strictly delayed mode, in which the delayed-ACK timer alone causes acknowledgements, one
     * acknowledgement for a whole window would release the next window as a burst that no queue can
     * hold, so the sender paces. It assumes that the peer acknowledges in the same mode. */
    c->pacing |= c->ack_mode == SCPS_ACK_DELAYED;
    c->ack_delay = derive(c->ack_delay, rtt ? SCPS_MIN(SCPS_MS(200), rtt) : SCPS_MS(150));
    c->rto_min = derive(c->rto_min, rtt ? c->ack_delay + rtt / 4
                                        : SCPS_MAX(SCPS_MS(200), c->ack_delay + SCPS_MS(50)));
    /* RFC 6298 section 2, with the expected round trip as SRTT, and rto_min in place of the term
     * for the variation (max (G, K*RTTVAR)). Rule 2.2 for the first measurement would give 3 x RTT,
     * but an expected value is not measured, and a SYN that is resent needlessly costs little. */
    c->rto_initial = derive(c->rto_initial, rtt ? rtt + c->rto_min : SCPS_SEC(1));
    c->rto_max = derive(c->rto_max, SCPS_MAX(SCPS_SEC(60), 8 * rtt));
    c->rto_max = SCPS_MAX(c->rto_max, c->rto_min);
    c->rto_initial = SCPS_MIN(c->rto_initial, c->rto_max);
    c->persist_max = derive(c->persist_max, c->rto_max);
    c->time_wait = derive(c->time_wait, SCPS_MAX(SCPS_SEC(60), 4 * rtt));
    c->fin_wait2 = derive(c->fin_wait2, SCPS_MAX(SCPS_SEC(60), 8 * rtt));
    return 0;
}

struct scps_shared_config *scps_config_new(struct scps_env *env, const struct scps_conn_config *c,
                                           bool rated, int *err)
{
    const struct scps_alloc *a = &env->alloc;
    struct scps_shared_config *s = a->alloc(a->ctx, sizeof *s);
    struct scps_line no_text = {NULL, 0};

    *err = SCPS_ERR_NOMEM;
    if (!s)
        return NULL;
    s->refs = 1;
    *err = scps_config_take(&s->c, c, &no_text);
    if (!*err)
        *err = scps_config_resolve(&s->c);
    if (!*err && s->c.cc->needs_rate && !s->c.rate && !rated)
        *err = SCPS_ERR_NORATE;
    if (!*err && env->fixed && !scps_fixed_allows(env->fixed, &s->c))
        *err = SCPS_ERR_RANGE;
    if (*err) {
        a->free(a->ctx, s, sizeof *s);
        return NULL;
    }
    s->tos = s->c.tos & 0xfc;
    memcpy(&s->ip4, (uint8_t[8]){[2] = s->c.df_off ? 0 : 0x40, [4] = s->c.ttl, SCPS_IPPROTO_TCP},
           sizeof s->ip4);
    return s;
}

void scps_config_ref(struct scps_shared_config *shared)
{
    shared->refs++;
}

void scps_config_unref(const struct scps_alloc *a, const struct scps_shared_config *shared)
{
    struct scps_shared_config *s = (struct scps_shared_config *)shared;

    if (s && !--s->refs)
        a->free(a->ctx, s, sizeof *s);
}
