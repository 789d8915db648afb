/* SPDX-License-Identifier: MIT */
/* Options that are a field of the connection's configuration, from the rows of <scps/settings.def>.
 *
 * A field is the value of the option times the factor `unit` (an option in seconds has unit 1000000
 * if the field is in µs). Each option has bounds, in its own unit; the field must be within the
 * bounds of the configuration setting, too.
 */
#include "socket/opt.h"

#include "base/field.h"

#include <stddef.h>

enum kind { FLAG, COUNT, COUNT_OR_0, BYTES, RATE, TIME, CHOICE };

#define SCPS_SETTING(name, ...) SETTING_##name,
enum {
#include <scps/settings.def>
    SETTINGS
};

static const struct setting {
    enum kind kind;
    uint16_t at, size; /* offset and size of the field in the configuration, bytes */
    int64_t least, most;
} settings[] = {
#define SCPS_SETTING(name, field, kind, def, least, most, ...)                                     \
    {kind, offsetof(struct scps_conn_config, field),                                               \
     sizeof(((struct scps_conn_config *)0)->field), least, most},
#include <scps/settings.def>
};

struct field {
    int level, name, setting;
    /* factor: the field of struct scps_conn_config that the option sets (settings[setting]) is the
     * value of the option times `unit` */
    int64_t unit;
    int64_t least, most;
};

static const struct field fields[] = {
#define SCPS_SETTING_AS(level, NAME, name, unit, least, most)                                      \
    {SCPS_SOL_##level, SCPS_##NAME, SETTING_##name, unit, least, most},
#define SCPS_SETTING_TP(NAME, number, name)                                                        \
    {SCPS_SOL_SCPS, SCPS_TP_##NAME, SETTING_##name, 1, INT64_MIN, INT64_MAX},
#include <scps/settings.def>
};

/* The option numbers are part of the ABI, so they must not change. */
#define SCPS_SETTING_TP(NAME, number, name)                                                        \
    _Static_assert(SCPS_TP_##NAME == (number), "settings.def and socket.h: " #NAME);
#include <scps/settings.def>

const struct field *scps_sock_field(int level, int name)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].level == level && fields[i].name == name)
            return &fields[i];
    return NULL;
}

static bool is_ack_mode(const struct field *f)
{
    return f->setting == SETTING_ack;
}

static int field_set(struct scps_conn_config *cfg, const struct field *f, int64_t v)
{
    const struct setting *s = &settings[f->setting];

    if (v < f->least || v > f->most || v > INT64_MAX / f->unit)
        return -EINVAL;
    v = s->kind == FLAG ? v != 0 : v * f->unit;
    if ((v < s->least || v > s->most) && !(s->kind == COUNT_OR_0 && v == 0))
        return -EINVAL;
    scps_field_put((char *)cfg + s->at, s->size, v);
    return 0;
}

int scps_sock_field_set(struct sock *s, const struct field *f, int64_t v)
{
    struct scps_conn_config to = s->conf.cfg;
    int r = field_set(&to, f, v);
    if (r == 0)
        r = scps_sock_change(s, &to);
    if (r == 0 && is_ack_mode(f))
        scps_sock_conf_ack_mode_set(&s->conf);
    if (r == 0 && f->setting == SETTING_nodelay && s->pcb.conn && !s->life.ended) {
        scps_conn_nodelay(s->pcb.conn, s->conf.cfg.nodelay);
        /* Setting TCP_NODELAY makes the data that TCP_CORK delays be sent now; TCP_CORK stays
         * set. */
        if (s->conf.cfg.nodelay && s->cork) {
            scps_conn_cork(s->pcb.conn, false);
            scps_sock_turn(s->ctx);
            scps_conn_cork(s->pcb.conn, true);
        }
    }
    return r;
}

int64_t scps_sock_field_get(const struct sock *s, const struct field *f)
{
    const struct setting *what = &settings[f->setting];

    /* While TCP_QUICKACK replaces the acknowledgement mode, the mode that was configured is
     * returned. */
    if (is_ack_mode(f))
        return s->conf.ack_mode;
    return scps_field_get((const char *)&s->conf.cfg + what->at, what->size) / f->unit;
}

int scps_sock_set_rate(struct sock *s, uint64_t bytes_per_s)
{
    const struct field *rate = scps_sock_field(SCPS_SOL_SCPS, SCPS_TP_RATE);
    uint64_t v = bytes_per_s == NO_RATE ? 0 : bytes_per_s;

    if (bytes_per_s == 0 || v > INT64_MAX)
        return -EINVAL;
    return scps_sock_field_set(s, rate, (int64_t)v);
}
