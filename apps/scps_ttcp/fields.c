/* SPDX-License-Identifier: MIT */
/* The command-line options that set one field of the connection configuration each: one option for
 * each row of <scps/settings.def>. A value given by an option replaces the value that the program
 * would derive from the link. --json prints the value that each setting has in the end. */
#include "scps_ttcp/option_table.h"

#include "scps_ttcp/units.h"

#include <string.h>

const struct setting_style ttcp_style = {"K", "M", "G", "--"};

/* Settings whose default in scps_ttcp differs from that in <scps/settings.def>. */
static const struct {
    enum setting_id id;
    int64_t value;
} begins[] = {
#define OF_like_linux(name, value)
#define OF_scenario(name, value)
#define OF_ttcp(name, value)                           {SETTING_##name, value},
#define SCPS_SETTING_BEGINS(program, name, value, why) OF_##program(name, value)
#include <scps/settings.def>
};

struct scps_conn_config ttcp_begins(void)
{
    struct scps_conn_config c = scps_conn_config_default();

    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
        setting_put(&settings[begins[i].id], &c, begins[i].value);
    return c;
}

static int64_t begins_with(enum setting_id id)
{
    const struct scps_conn_config c = ttcp_begins();

    return setting_get(&settings[id], &c);
}

const char *ttcp_setting_option(enum setting_id id, char out[TTCP_NAME])
{
    const struct setting *s = &settings[id];
    char dashed[SETTING_NAME];

    if (s->only == 'S' || s->only == 'N')
        return NULL;
    snprintf(out, TTCP_NAME, "%s%s", s->kind == FLAG && begins_with(id) != 0 ? "no-" : "",
             setting_dashed(s, dashed));
    return out;
}

const char *ttcp_setting_arg(enum setting_id id)
{
    switch (settings[id].kind) {
    case FLAG:
        return NULL;
    case TIME:
        return settings[id].bare_ms ? "MS" : "SEC";
    case CHOICE:
        return "HOW";
    default:
        return "N";
    }
}

void ttcp_setting_facts(enum setting_id id, char *out, size_t len)
{
    setting_facts(&settings[id], &ttcp_style, begins_with(id), settings[id].ttcp, out, len);
}

void ttcp_set(struct ttcp_options *o, enum setting_id id, int64_t v)
{
    setting_put(&settings[id], &o->conn, v);
    o->given[id] = true;
}

/* Parses arg as a time into *v, µs. A number without a unit counts as milliseconds if s->bare_ms is
 * true, otherwise as seconds. Returns 0, or -1 if arg is no time. */
static int take_time(const struct setting *s, const char *arg, int64_t *v)
{
    const bool bare = strspn(arg, "0123456789.") == strlen(arg);
    uint64_t ms;

    if (strcmp(arg, "0") == 0)
        return *v = 0, 0;
    if (bare && s->bare_ms) {
        if (units_number(arg, 0, INT64_MAX / SCPS_SEC(1), &ms) != 0)
            return -1;
        return *v = SCPS_MS(ms), 0;
    }
    return units_time(arg, v);
}

static int refuse(const struct setting *s, const char *option, const char *arg,
                  char msg[TTCP_MSGLEN])
{
    const char *what = s->kind != TIME ? ""
                       : s->bare_ms    ? "ms, or a number with us, ms, s, min or h; "
                                       : "seconds, or a number with us, ms, s, min or h; ";
    char facts[TTCP_MSGLEN / 2];

    ttcp_setting_facts((enum setting_id)(s - settings), facts, sizeof(facts));
    return FAIL("--%s %.40s: give %s%s", option, arg, what, facts);
}

int ttcp_take_setting(struct ttcp_options *o, enum setting_id id, const char *option,
                      const char *arg, char msg[TTCP_MSGLEN])
{
    const struct setting *s = &settings[id];
    uint64_t number;
    int64_t v = 0;
    bool good = true;

    switch (s->kind) {
    case FLAG:
        v = begins_with(id) == 0;
        break;
    case COUNT:
    case COUNT_OR_0:
        good = s->unit != NULL && strcmp(s->unit, "bytes") == 0
                   ? units_size(arg, &number) == 0 && number <= INT64_MAX
                   : units_number(arg, 0, INT64_MAX, &number) == 0;
        v = good ? (int64_t)number : 0;
        break;
    case BYTES:
    case RATE:
        good = units_size(arg, &number) == 0 && number <= INT64_MAX;
        v = good ? (int64_t)number : 0;
        break;
    case TIME:
        good = take_time(s, arg, &v) == 0;
        break;
    case CHOICE:
        v = setting_word(s, arg);
        break;
    }
    if (!good || !setting_allows(s, v))
        return refuse(s, option, arg, msg);
    ttcp_set(o, id, v);
    return 0;
}
