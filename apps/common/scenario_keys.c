/* SPDX-License-Identifier: MIT */
/* Checks the keys of the section [scenario] of a scenario file, such as name and runs, and stores
 * their values in the scenario. */
#include "common/scenario_keys.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MANY 1000000

static const char *const scenario_keys[LAB_SCENARIO_KEYS] = {"name", "about",   "runs",
                                                             "seed", "timeout", "published"};

int lab_scenario_key_note(struct lab_reading *r, const char *key)
{
    size_t i = 0;

    while (i < LAB_SCENARIO_KEYS && strcmp(scenario_keys[i], key) != 0)
        i++;
    if (i == LAB_SCENARIO_KEYS || r->continued)
        return 1;
    if (r->scenario_line[i] != 0)
        return lab_reading_twice(r, key, r->scenario_line[i]);
    r->scenario_line[i] = r->line;
    return 1;
}

/* Returns true if an indented line with text `value` may continue the value of `key` in [scenario]:
 * only the description (key "about") may have several lines, and none may set another key. */
static bool continues(const char *key, const char *value)
{
    size_t n = strcspn(value, " \t=");

    if (strcmp(key, "about") != 0)
        return false;
    for (size_t i = 0; i < LAB_SCENARIO_KEYS; i++)
        if (strlen(scenario_keys[i]) == n && strncmp(value, scenario_keys[i], n) == 0 &&
            value[n + strspn(value + n, " \t")] == '=')
            return false;
    return true;
}

/* Checks the value of the key `published`: the name, without a folder, of an installed file with
 * results that a publication reports (such as nasa-mdp.csv). Returns 1; or 0 if the name has a
 * folder or a leading dot, or no such file is installed although the folder of these files is. */
static int published_key(struct lab_reading *r, int line, const char *name)
{
    struct lab_str path = {0};
    bool found;

    if (*name == '.' || strchr(name, '/'))
        return lab_reading_refuse(r, line,
                                  "published = %.200s: give the name of a file, such as "
                                  "nasa-mdp.csv, without its folder",
                                  name);
    if (!r->published_dir || *name == '\0')
        return 1;
    lab_add(&path, "%s/%s", r->published_dir, name);
    /* If the folder is missing, too, the published values are not installed. That is accepted,
     * because only reports need them. */
    found = access(path.p, R_OK) == 0 || access(r->published_dir, X_OK) != 0;
    lab_free(&path);
    return found || lab_reading_refuse(r, line,
                                       "published = %.200s: no such file of published values is "
                                       "installed: give one of lab/published, such as "
                                       "nasa-mdp.csv, or leave it out",
                                       name);
}

int lab_scenario_key(struct lab_reading *r, int line, const char *key, const char *value)
{
    struct lab_scenario *s = r->s;

    if (r->continued && !continues(key, value))
        return lab_reading_refuse(r, line,
                                  "%s: only the text of about and lists in [sweep] go on in an "
                                  "indented line: remove the blanks before the key",
                                  key);
    if (strcmp(key, "name") == 0 || strcmp(key, "about") == 0 || strcmp(key, "published") == 0) {
        char **to = *key == 'n' ? &s->name : *key == 'a' ? &s->about : &s->published;
        struct lab_str all = {0};
        if (r->continued && *to)
            lab_add(&all, "%s ", *to);
        lab_add(&all, "%s", value);
        free(*to);
        *to = all.p;
        if (*key == 'n' && *value == '\0')
            return lab_reading_refuse(r, line, "name = : give a name, or leave it out");
        return *key != 'p' || published_key(r, line, value);
    }
    if (strcmp(key, "runs") == 0)
        return (lab_count(value, MANY, &s->runs) && s->runs > 0) ||
               lab_reading_refuse(r, line, "runs = %s: give a whole number from 1 to %d", value,
                                  MANY);
    if (strcmp(key, "seed") == 0)
        return lab_count(value, INT64_MAX, &s->seed) ||
               lab_reading_refuse(r, line, "seed = %s: give a whole number from 0 to %lld", value,
                                  (long long)INT64_MAX);
    if (strcmp(key, "timeout") == 0)
        return (lab_time(value, &s->timeout) && s->timeout > 0) ||
               lab_reading_refuse(r, line, "timeout = %s: give a time such as 90s, 10min or 2d",
                                  value);
    return lab_reading_refuse(
        r, line, "unknown key '%s'; [scenario] has: name about runs seed timeout published", key);
}
