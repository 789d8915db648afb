/* SPDX-License-Identifier: MIT */
/* Makes a scenario from the lines of its file: checks the keys, the axes (the keys or names to
 * which [sweep] gives several values) and the conditions of cases (sections [case], whose settings
 * apply only to some combinations of the axes' values). Refuses errors that readers of ini files
 * ignore: a key given twice, a value too long. */
#include "common/scenario_lines.h"
#include "common/scenario_data.h"
#include "common/scenario_keys.h"
#include "common/setup.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_LEN 2048

int lab_reading_refuse(struct lab_reading *r, int line, const char *fmt, ...)
{
    va_list ap;
    int n;

    if (r->failed)
        return 0;
    r->failed = true;
    n = line ? snprintf(r->msg, LAB_MSGLEN, "%s:%d: ", r->s->path, line)
             : snprintf(r->msg, LAB_MSGLEN, "--set ");
    va_start(ap, fmt);
    vsnprintf(r->msg + n, LAB_MSGLEN - (size_t)n, fmt, ap);
    va_end(ap);
    return 0;
}

int lab_reading_twice(struct lab_reading *r, const char *key, int first)
{
    return lab_reading_refuse(r, r->line, "'%s' is set twice (first in line %d): leave out one",
                              key, first);
}

/* Returns 1 if a setting outside [scenario], such as link.rtt, may have this value; otherwise 0. */
static int other_key(struct lab_reading *r, int line, const char *key, const char *value)
{
    char why[LAB_MSGLEN];

    return lab_setup_check(key, value, why) || lab_reading_refuse(r, line, "%s", why);
}

/* ---- functions that process the lines of the scenario file, by the section of a line ---- */

/* Returns true if the text `list`, whose items are separated by `sep`, has an empty item. begun:
 * the text may begin with sep, because it continues the list of the line before; open_end: the text
 * may end with sep, because the next line may continue the list. */
static bool has_empty_item(const char *list, char sep, bool begun, bool open_end)
{
    for (bool empty = !begun;; list++) {
        if (*list == '\0')
            return empty && !open_end;
        if (*list == sep && empty)
            return true;
        if (*list == sep)
            empty = true;
        else if (!isspace((unsigned char)*list))
            empty = false;
    }
}

/* Checks the values that a scenario gives to a swept key, as text separated by commas. Returns 1;
 * or 0, after lab_reading_refuse(), if a value is empty or contains a quotation mark. key: name of
 * the key, for messages; begun: the text may begin with a comma; open_end: it may end with one. */
static int check_list(struct lab_reading *r, int line, const char *key, const char *list,
                      bool begun, bool open_end)
{
    if (has_empty_item(list, ',', begun, open_end))
        return lab_reading_refuse(r, line, "%s: an empty value in the list: leave out a comma",
                                  key);
    return !strchr(list, '"') ||
           lab_reading_refuse(
               r, line, "%s: a swept value is a column of the results: leave out the \"", key);
}

/* Called where no continuation line can follow any more: if the last list in [sweep] ended with a
 * comma and no line has continued it, refuses the scenario and returns 0; otherwise returns 1. */
static int end_list(struct lab_reading *r)
{
    if (r->comma == 0)
        return 1;
    return lab_reading_refuse(r, r->comma,
                              "%s: the list ends with a comma: remove it, or go on in an indented "
                              "line",
                              r->s->axis[r->s->naxes - 1].key);
}

/* Checks a name in [sweep] without a dot: no other column of the results may have this name. */
static int own_name(struct lab_reading *r, const char *name)
{
    static const char columns[] = "cell run flow status seconds mbps bytes start segments resent "
                                  "timeouts episodes errors queue_drops n failed mbps_sd mbps_ci95 "
                                  "mbps_min mbps_max seconds_sd resent_pct";
    const char *rest = columns;
    char column[32];

    if (!lab_is_name(name))
        return lab_reading_refuse(r, r->line,
                                  "'%s' is neither a key such as link.rtt nor a name: a name has "
                                  "1 to %d letters, digits, - and _",
                                  name, LAB_NAME - 1);
    while (lab_item(&rest, ' ', column, sizeof column))
        if (strcmp(column, name) == 0)
            return lab_reading_refuse(r, r->line,
                                      "'%s' is a column of the results: give another name", name);
    return 1;
}

static int axis_line(struct lab_reading *r, const char *key, const char *value)
{
    struct lab_scenario *s = r->s;
    struct lab_axis *a = lab_axis_find(s, key);
    char item[VALUE_LEN];
    const char *rest = value;

    if (a && !r->continued)
        return lab_reading_refuse(
            r, r->line, "'%s' is swept twice (first in line %d): leave out one", key, a->line);
    if (r->continued && (strstr(value, " =") || strstr(value, "= ")))
        return lab_reading_refuse(r, r->line,
                                  "%s: the indented line goes on with its list, but has a key: "
                                  "remove the blanks before the key",
                                  key);
    if (strncmp(key, "scenario.", 9) == 0)
        return lab_reading_refuse(
            r, r->line, "'%s' cannot be swept: only keys of links and flows, and own names, can",
            key);
    if (!r->continued && (!end_list(r) || (!strchr(key, '.') && !own_name(r, key))))
        return 0;
    if (!check_list(r, r->line, key, value, r->continued && r->comma == 0, true))
        return 0;
    if (!a) {
        s->axis = lab_grow(s->axis, (s->naxes + 1) * sizeof *s->axis);
        a = &s->axis[s->naxes++];
        *a = (struct lab_axis){lab_copy(key), NULL, 0, r->line};
    }
    while (lab_item(&rest, ',', item, sizeof item)) {
        if (strchr(key, '.') && !other_key(r, r->line, key, item))
            return 0;
        for (size_t i = 0; i < a->n; i++)
            if (strcmp(a->value[i], item) == 0)
                return lab_reading_refuse(
                    r, r->line, "%s: the value '%s' is given twice: leave out one", key, item);
        lab_axis_value(a, item);
    }
    r->comma = has_empty_item(value, ',', true, false) ? r->line : 0;
    return a->n > 0 || lab_reading_refuse(r, r->line, "%s: no values: give at least one", key);
}

static int case_line(struct lab_reading *r, const char *key, const char *value)
{
    struct lab_scenario *s = r->s;
    struct lab_case *c = s->ncases ? &s->cases[s->ncases - 1] : NULL;

    if (strcmp(key, "when") == 0) {
        s->cases = lab_grow(s->cases, (s->ncases + 1) * sizeof *s->cases);
        s->cases[s->ncases++] = (struct lab_case){.when = lab_copy(value), .line = r->line};
        r->skip = 0;
        return 1;
    }
    if (!c)
        return lab_reading_refuse(r, r->line, "a [case] begins with when = AXIS=VALUE ...");
    if (strcmp(key, "skip") == 0 && r->skip != 0)
        return lab_reading_twice(r, key, r->skip);
    if (strcmp(key, "skip") == 0)
        r->skip = r->line;
    for (size_t i = 0; i < c->sets.n; i++)
        if (strcmp(c->sets.v[i].key, key) == 0)
            return lab_reading_twice(r, key, c->sets.v[i].line);
    if (strcmp(key, "skip") == 0)
        return lab_yesno(value, &c->skip) ||
               lab_reading_refuse(r, r->line, "skip = %s: give yes or no", value);
    if (!other_key(r, r->line, key, value))
        return 0;
    lab_sets_add(&c->sets, key, value, r->line);
    return 1;
}

/* Writes the dotted form of a key in a section to `out`, for example "flow.up.size" for the key
 * size in [flow up]. Returns false if it does not fit into len bytes. */
static bool dotted(const char *section, const char *key, char *out, size_t len)
{
    char kind[64], name[64] = "";

    if (sscanf(section, "%63s %63[^\n]", kind, name) < 1)
        return false;
    return (size_t)snprintf(out, len, *name ? "%s.%s.%s" : "%s.%s%s", kind, name, key) < len;
}

int lab_reading_section(struct lab_reading *r, const char *section)
{
    char full[3 * 64];

    if (r->failed)
        return 0;
    if (strcmp(section, "scenario") == 0 || strcmp(section, "sweep") == 0 ||
        strcmp(section, "case") == 0)
        return 1;
    if (!lab_setup_section(section))
        return lab_reading_refuse(
            r, r->line,
            "unknown section [%s]; there are [scenario] [link] [link NAME] [flow] [flow NAME] "
            "[sweep] [case]; a name has letters, digits, - and _",
            section);
    if (!dotted(section, "", full, sizeof full))
        return lab_reading_refuse(r, r->line, "the section's name is too long");
    if (strchr(full, '.') == strrchr(full, '.'))
        /* The section is [link] or [flow], whose keys apply to all links or to all flows. */
        return 1;
    for (size_t i = 0; i < r->s->sections.n; i++)
        if (strcmp(r->s->sections.v[i].key, full) == 0)
            return 1;
    lab_sets_add(&r->s->sections, full, "", r->line);
    return 1;
}

int lab_reading_line(struct lab_reading *r, const char *section, const char *key, const char *value)
{
    struct lab_sets *base = &r->s->base;
    char full[3 * 64];

    if (r->failed)
        return 0;
    if (strlen(value) >= VALUE_LEN)
        return lab_reading_refuse(r, r->line, "%s: the value is too long", key);
    if (strcmp(section, "scenario") == 0)
        return lab_scenario_key_note(r, key) && lab_scenario_key(r, r->line, key, value);
    if (strcmp(section, "sweep") == 0)
        return axis_line(r, key, value);
    if (r->continued)
        return lab_reading_refuse(r, r->line,
                                  "%s: only the text of about and lists in [sweep] go on in an "
                                  "indented line: remove the blanks before the key",
                                  key);
    if (strcmp(section, "case") == 0)
        return case_line(r, key, value);
    if (!*section)
        return lab_reading_refuse(
            r, r->line,
            "%s: a key before the first section: begin with [scenario], [link] or [flow]", key);
    if (!lab_reading_section(r, section))
        return 0;
    if (!dotted(section, key, full, sizeof full))
        return lab_reading_refuse(r, r->line, "%s: the key is too long", key);
    for (size_t i = 0; i < base->n; i++)
        if (strcmp(base->v[i].key, full) == 0)
            return lab_reading_twice(r, key, base->v[i].line);
    if (!other_key(r, r->line, full, value))
        return 0;
    lab_sets_add(base, full, value, r->line);
    return 1;
}

static int override(struct lab_reading *r, const char *text)
{
    const char *eq = strchr(text, '=');
    char key[3 * 64];
    struct lab_axis *a;

    if (!eq || (size_t)(eq - text) >= sizeof key)
        return lab_reading_refuse(r, 0, "%s: give KEY=VALUE, for example link.rtt=250ms", text);
    memcpy(key, text, (size_t)(eq - text));
    key[eq - text] = '\0';
    if (strncmp(key, "scenario.", 9) == 0)
        return lab_scenario_key(r, 0, key + 9, eq + 1);
    a = lab_axis_find(r->s, key);
    if (a) {
        struct lab_axis was = *a;
        char item[VALUE_LEN];
        const char *rest = eq + 1;

        if (!check_list(r, 0, text, rest, *rest == '\0', *rest == '\0'))
            return 0;
        *a = (struct lab_axis){was.key, NULL, 0, was.line};
        while (lab_item(&rest, ',', item, sizeof item)) {
            bool known = false;
            for (size_t i = 0; i < was.n; i++)
                known = known || strcmp(was.value[i], item) == 0;
            if (strchr(key, '.')
                    ? !other_key(r, 0, key, item)
                    : !known && !lab_reading_refuse(r, 0, "%s: it is swept and has no value '%s'",
                                                    text, item))
                break;
            lab_axis_value(a, item);
        }
        lab_axis_clear(&was);
        free(was.value);
        return a->n > 0 || lab_reading_refuse(r, 0, "%s: no values: give at least one", text);
    }
    if (!strchr(key, '.'))
        return lab_reading_refuse(r, 0, "%s: neither a swept name nor a key such as link.rtt",
                                  text);
    if (!other_key(r, 0, key, eq + 1))
        return 0;
    lab_sets_add(&r->s->over, key, eq + 1, 0);
    return 1;
}

/* Checks one condition AXIS=VALUE|VALUE of a [case] section; the function replaces separators in
 * `item` by zeros. Sets *at to the index of the axis. */
static int check_item(struct lab_reading *r, int line, char *item, size_t *at)
{
    struct lab_scenario *s = r->s;
    char *eq = strchr(item, '='), value[VALUE_LEN];
    int ok = 1;

    if (eq)
        *eq = '\0';
    const struct lab_axis *a = lab_axis_find(s, item);
    if (!eq || !a)
        return lab_reading_refuse(r, line, "when: '%s' is not swept; wanted is AXIS=VALUE|VALUE",
                                  item);
    if (has_empty_item(eq + 1, '|', false, false))
        return lab_reading_refuse(r, line, "when: %s= has an empty value: give AXIS=VALUE|VALUE",
                                  item);
    *at = (size_t)(a - s->axis);
    for (const char *values = eq + 1; ok && lab_item(&values, '|', value, sizeof value);) {
        bool known = false;
        for (size_t j = 0; j < a->n; j++)
            known = known || strcmp(a->value[j], value) == 0;
        if (!known)
            ok = lab_reading_refuse(r, line, "when: %s has no value '%s'", item, value);
    }
    return ok;
}

/* Checks the conditions AXIS=VALUE|VALUE of all sections [case]: each must name an axis of [sweep]
 * and values that [sweep] lists for that axis. An axis without a dot in its name is no key of a
 * link or flow, so it has an effect only through conditions: at least one must name it. */
static int check_cases(struct lab_reading *r)
{
    struct lab_scenario *s = r->s;
    /* For each axis of [sweep], true if a condition AXIS=VALUE names this axis: in any section
     * [case] checked so far (asked), or in the section that is checked now (named). */
    bool *asked = lab_alloc(s->naxes + 1), *named = lab_alloc(s->naxes + 1);
    int ok = 1;

    for (size_t i = 0; ok && i < s->ncases; i++) {
        const char *rest = s->cases[i].when;
        char item[VALUE_LEN];
        /* index in s->axis of the axis which the condition AXIS=VALUE read last names; s->naxes:
         * no condition of this section [case] was read yet */
        size_t at = s->naxes;

        memset(named, 0, s->naxes * sizeof *named);
        while (ok && lab_item(&rest, ' ', item, sizeof item)) {
            ok = check_item(r, s->cases[i].line, item, &at);
            if (ok && named[at])
                ok = lab_reading_refuse(r, s->cases[i].line,
                                        "when: two conditions for %s never hold both: give "
                                        "AXIS=VALUE|VALUE",
                                        item);
            asked[at] = named[at] = true;
        }
        if (ok && at == s->naxes)
            ok = lab_reading_refuse(r, s->cases[i].line,
                                    "when: no condition: give AXIS=VALUE|VALUE");
    }
    for (size_t i = 0; ok && i < s->naxes; i++)
        if (!strchr(s->axis[i].key, '.') && !asked[i])
            ok = lab_reading_refuse(
                r, s->axis[i].line,
                "'%s' is no key (those look like link.rtt), and no [case] asks for it",
                s->axis[i].key);
    free(asked);
    free(named);
    return ok;
}

void lab_reading_begin(struct lab_reading *r, const char *path, const char *text,
                       char msg[LAB_MSGLEN])
{
    struct lab_scenario *s = lab_alloc(sizeof *s);

    s->path = lab_copy(path);
    s->text = lab_copy(text);
    s->runs = 1;
    s->seed = 1;
    s->timeout = SCPS_SEC(86400) * 10;
    *r = (struct lab_reading){.s = s, .msg = msg};
}

struct lab_scenario *lab_reading_end(struct lab_reading *r, char *const *over, size_t n)
{
    struct lab_scenario *s = r->s;

    if (!r->failed && end_list(r))
        check_cases(r);
    /* The settings that follow are from outside the file, so none of them continues a line of the
     * file. */
    r->continued = false;
    for (size_t i = 0; i < n && !r->failed; i++)
        override(r, over[i]);
    if (r->failed) {
        lab_scenario_free(s);
        return NULL;
    }
    if (!s->name) {
        const char *slash = strrchr(s->path, '/');
        s->name = lab_copy(slash ? slash + 1 : s->path);
    }
    s->hash = lab_scenario_hash(s);
    return s;
}
