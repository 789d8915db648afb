/* SPDX-License-Identifier: MIT */
/* The keys that the section [flow] of a scenario file may set (scps_scenario(5)) and that are
 * settings of the connections of the flow: one key for each row of <scps/settings.def>, except rows
 * that only scps_ttcp or C programs can set. */
#include "common/flow_settings.h"

#include <string.h>

/* Settings whose default in the section [flow] of a scenario file differs from the default in
 * <scps/settings.def>. */
static const struct {
    enum setting_id id;
    int64_t value;
} begins[] = {
#define OF_like_linux(name, value)
#define OF_ttcp(name, value)
#define OF_scenario(name, value)                       {SETTING_##name, value},
#define SCPS_SETTING_BEGINS(program, name, value, why) OF_##program(name, value)
#include <scps/settings.def>
};

struct scps_conn_config flow_settings_begin(void)
{
    struct scps_conn_config c = scps_conn_config_default();

    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        setting_put(&settings[begins[i].id], &c, begins[i].value);
    return c;
}

enum setting_id flow_setting(const char *key)
{
    enum setting_id id = strchr(key, '_') ? SETTINGS : setting_find(key, strlen(key));

    if (id != SETTINGS && (settings[id].only == 'T' || settings[id].only == 'N'))
        return SETTINGS;
    return id;
}

bool flow_setting_read(enum setting_id id, const char *text, struct scps_conn_config *c)
{
    const struct setting *s = &settings[id];
    uint64_t number = 0;
    bool ok = true, yes = false;
    int64_t v = 0;

    switch (s->kind) {
    case FLAG:
        ok = lab_yesno(text, &yes);
        number = yes;
        break;
    case COUNT:
    case COUNT_OR_0:
    case BYTES:
        ok = lab_size(text, &number);
        break;
    /* Users give bit/s. A rate above 0 but below 8 bit/s must not round to 0, which means no
     * limit. */
    case RATE:
        ok = lab_rate(text, &number) && (number == 0 || number >= 8);
        number /= 8;
        break;
    case TIME:
        ok = lab_time(text, &v);
        number = (uint64_t)v;
        break;
    case CHOICE:
        v = setting_word(s, text);
        ok = v >= 0;
        number = (uint64_t)v;
        break;
    }
    if (!ok || number > INT64_MAX || !setting_allows(s, (int64_t)number))
        return false;
    setting_put(s, c, (int64_t)number);
    return true;
}

static const struct setting_style style = {"kib", "mib", "gib", ""};

/* Writes to `out` which values a setting takes, for example "yes or no; default no" or "1 to 255
 * probes; default 9". */
static void setting_values(enum setting_id id, char *out, size_t len)
{
    const struct setting *s = &settings[id];
    const struct scps_conn_config c = flow_settings_begin();
    const char *kind = s->kind == FLAG   ? "yes or no; "
                       : s->kind == TIME ? "TIME; "
                       : s->kind == RATE ? "BIT/S, kbit mbit gbit; "
                                         : "";
    char facts[LAB_MSGLEN / 2];

    setting_facts(s, &style, setting_get(s, &c), NULL, facts, sizeof facts);
    snprintf(out, len, "%s%s", kind, facts);
}

bool flow_setting_put(enum setting_id id, const char *text, struct scps_conn_config *c,
                      char why[LAB_MSGLEN])
{
    char values[LAB_MSGLEN], name[SETTING_NAME];

    if (flow_setting_read(id, text, c))
        return true;
    setting_values(id, values, sizeof values);
    snprintf(why, LAB_MSGLEN, "flow.%s = %.100s: wanted is %.320s",
             setting_dashed(&settings[id], name), text, values);
    return false;
}

void flow_settings_print(FILE *f)
{
    char name[SETTING_NAME], help[LAB_MSGLEN], values[LAB_MSGLEN], text[3 * LAB_MSGLEN];

    fputs("the same, settings of the connections at both ends\n", f);
    for (int i = 0; i < SETTINGS; i++) {
        if (flow_setting(setting_dashed(&settings[i], name)) == SETTINGS)
            continue;
        setting_text(settings[i].help, &style, help, sizeof help);
        setting_values((enum setting_id)i, values, sizeof values);
        snprintf(text, sizeof text, "%s (%s)", help, values);
        fprintf(f, "  %-20s", name);
        setting_wrap(f, text, 22, 100);
    }
}
