/* SPDX-License-Identifier: MIT */
/* The file is read by inih; what it lets pass silently (a line or section too long, a key given
 * twice) is refused here.
 *
 * inih's handler does not tell the line, so the reader below counts them; a continued line (it
 * begins with a blank) arrives as the same key again and is joined with a comma, because all long
 * values are lists.
 */
#include "common/scenario.h"
#include "common/scenario_data.h"
#include "common/setup.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_MAX_LEN 48 /* inih cuts names and sections at 50 */
#define VALUE_LEN    2048
#define MANY         1000000
#define FILE_MAX_LEN (1u << 20) /* octets of a scenario file */

struct reading {
    struct lab_scenario *s;
    const char *text; /* Text of the file that has not been read yet. */
    int line;
    /* whole: the last chunk ended its line. continued: that line began with a blank, so it
     * continues the key before. */
    bool whole, continued;
    bool failed;
    char *msg;
};

static int refuse(struct reading *r, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static int refuse(struct reading *r, int line, const char *fmt, ...)
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

/* ---- what a key may be ---- */

static int scenario_key(struct reading *r, int line, const char *key, const char *value)
{
    struct lab_scenario *s = r->s;

    if (strcmp(key, "name") == 0 || strcmp(key, "about") == 0 || strcmp(key, "published") == 0) {
        char **to = *key == 'n' ? &s->name : *key == 'a' ? &s->about : &s->published;
        struct lab_str all = {0};
        if (r->continued && *to)
            lab_add(&all, "%s ", *to);
        lab_add(&all, "%s", value);
        free(*to);
        *to = all.p;
        return 1;
    }
    if (strcmp(key, "runs") == 0)
        return (lab_count(value, MANY, &s->runs) && s->runs > 0) ||
               refuse(r, line, "runs = %s: give a whole number from 1 to %d", value, MANY);
    if (strcmp(key, "seed") == 0)
        return lab_count(value, INT64_MAX, &s->seed) ||
               refuse(r, line, "seed = %s: give a whole number", value);
    if (strcmp(key, "timeout") == 0)
        return (lab_time(value, &s->timeout) && s->timeout > 0) ||
               refuse(r, line, "timeout = %s: give a time such as 90s, 10min or 2d", value);
    return refuse(r, line,
                  "unknown key '%s'; [scenario] has: name about runs seed timeout published", key);
}

/* Reads a dotted key outside the section [scenario]. */
static int other_key(struct reading *r, int line, const char *key, const char *value)
{
    char why[LAB_MSGLEN];

    return lab_setup_check(key, value, why) || refuse(r, line, "%s", why);
}

/* ---- sections ---- */

static int axis_line(struct reading *r, const char *key, const char *value)
{
    struct lab_scenario *s = r->s;
    struct lab_axis *a = lab_axis_find(s, key);
    char item[VALUE_LEN];
    const char *rest = value;

    if (a && !r->continued)
        return refuse(r, r->line, "'%s' is swept twice (first in line %d): leave out one", key,
                      a->line);
    if (strncmp(key, "scenario.", 9) == 0)
        return refuse(r, r->line,
                      "'%s' cannot be swept: only keys of links and flows, and own names, can",
                      key);
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
                return refuse(r, r->line, "%s: the value '%s' is given twice: leave out one", key,
                              item);
        lab_axis_value(a, item);
    }
    return a->n > 0 || refuse(r, r->line, "%s: no values: give at least one", key);
}

static int case_line(struct reading *r, const char *key, const char *value)
{
    struct lab_scenario *s = r->s;
    struct lab_case *c = s->ncases ? &s->cases[s->ncases - 1] : NULL;

    if (strcmp(key, "when") == 0) {
        s->cases = lab_grow(s->cases, (s->ncases + 1) * sizeof *s->cases);
        s->cases[s->ncases++] = (struct lab_case){.when = lab_copy(value), .line = r->line};
        return 1;
    }
    if (!c)
        return refuse(r, r->line, "a [case] begins with when = AXIS=VALUE ...");
    if (strcmp(key, "skip") == 0)
        return lab_yesno(value, &c->skip) || refuse(r, r->line, "skip = %s: give yes or no", value);
    if (!other_key(r, r->line, key, value))
        return 0;
    lab_sets_add(&c->sets, key, value, r->line);
    return 1;
}

/* Composes the dotted key of a section and a key, for example "flow.up.size" from [flow up] size.
 * Returns false when it would not fit. */
static bool dotted(const char *section, const char *key, char *out, size_t len)
{
    char kind[64], name[64] = "";

    if (sscanf(section, "%63s %63[^\n]", kind, name) < 1)
        return false;
    return (size_t)snprintf(out, len, *name ? "%s.%s.%s" : "%s.%s%s", kind, name, key) < len;
}

static int on_line(void *user, const char *section, const char *key, const char *value)
{
    struct reading *r = user;
    struct lab_sets *base = &r->s->base;
    char full[3 * 64];

    if (r->failed)
        return 0;
    if (strlen(value) >= VALUE_LEN)
        return refuse(r, r->line, "%s: the value is too long", key);
    if (strcmp(section, "scenario") == 0)
        return scenario_key(r, r->line, key, value);
    if (strcmp(section, "sweep") == 0)
        return axis_line(r, key, value);
    if (r->continued)
        return refuse(r, r->line, "%s: only lists in [sweep] go on in an indented line", key);
    if (strcmp(section, "case") == 0)
        return case_line(r, key, value);
    if (!lab_setup_section(section))
        return refuse(r, r->line,
                      "%s[%s]; there are [scenario] [link] [link NAME] [flow] [flow NAME] [sweep] "
                      "[case]; a name has letters, digits, - and _",
                      *section ? "unknown section " : "a key before the first section: ", section);
    if (!dotted(section, key, full, sizeof full))
        return refuse(r, r->line, "%s: the key is too long", key);
    for (size_t i = 0; i < base->n; i++)
        if (strcmp(base->v[i].key, full) == 0)
            return refuse(r, r->line, "'%s' is set twice (first in line %d): leave out one", key,
                          base->v[i].line);
    if (!other_key(r, r->line, full, value))
        return 0;
    lab_sets_add(base, full, value, r->line);
    return 1;
}

/* Stands in for fgets() in inih: counts lines and refuses those that inih would cut off. */
static char *next_chunk(char *str, int num, void *stream)
{
    struct reading *r = stream;
    const char *end;
    size_t n;

    if (*r->text == '\0' || num < 2)
        return NULL;
    end = strchr(r->text, '\n');
    n = end ? (size_t)(end - r->text) + 1 : strlen(r->text);
    r->line++;
    r->continued = isblank((unsigned char)*r->text);
    if (n > (size_t)num - 1) {
        refuse(r, r->line, "the line is longer than %d characters: continue it on an indented one",
               num - 2);
        return NULL;
    }
    if (*r->text == '[' && n > NAME_MAX_LEN)
        refuse(r, r->line, "the section's name is longer than %d characters", NAME_MAX_LEN - 2);
    memcpy(str, r->text, n);
    str[n] = '\0';
    r->text += n;
    return str;
}

/* ---- the file ---- */

bool lab_scenario_dir(size_t i, char *dir, size_t len)
{
    char exe[PATH_MAX];
    char *up;
    ssize_t n;
    int len_needed;

    if (i > 1)
        return false;
    n = readlink("/proc/self/exe", exe, sizeof exe - 1); /* .../bin/PROGRAM */
    exe[n > 0 ? n : 0] = '\0';
    for (int k = 0; k < 2; k++)
        if ((up = strrchr(exe, '/')))
            *up = '\0';
    len_needed =
        snprintf(dir, len, "%s/share/scps/lab/%s", exe, i == 1 ? "campaigns" : "scenarios");
    return len_needed > 0 && (size_t)len_needed < len;
}

/* Opens a scenario file. A name with a slash or a dot is a path. Any other name is first a file in
 * the current folder, then a scenario shipped with the program. A folder is refused. */
static FILE *find(const char *path, char *found, size_t len)
{
    struct stat st;
    FILE *f = stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? NULL : fopen(path, "r");
    char dir[PATH_MAX];

    snprintf(found, len, "%s", path);
    if (f || strpbrk(path, "/."))
        return f;
    for (size_t i = 0; !f && lab_scenario_dir(i, dir, sizeof dir); i++) {
        snprintf(found, len, "%s/%s.ini", dir, path);
        f = fopen(found, "r");
    }
    if (!f)
        snprintf(found, len, "%s", path);
    return f;
}

/* Returns the text of a scenario; NULL, with the reason in msg, if the file cannot be a
 * scenario. */
static char *read_text(FILE *f, const char *path, char msg[LAB_MSGLEN])
{
    char *text = lab_alloc(FILE_MAX_LEN + 2);
    size_t n = fread(text, 1, FILE_MAX_LEN + 1, f);
    const char *why = NULL;

    text[n] = '\0';
    if (ferror(f))
        why = "it cannot be read: give a scenario file";
    else if (memchr(text, '\0', n))
        why = "it holds a NUL octet, so it is no text: give a scenario file";
    else if (n > FILE_MAX_LEN)
        why = "it is longer than 1 MiB: give a scenario file";
    if (!why)
        return text;
    snprintf(msg, LAB_MSGLEN, "%.300s: %s", path, why);
    free(text);
    return NULL;
}

static int override(struct reading *r, const char *text)
{
    const char *eq = strchr(text, '=');
    char key[3 * 64];
    struct lab_axis *a;

    if (!eq || (size_t)(eq - text) >= sizeof key)
        return refuse(r, 0, "%s: give KEY=VALUE, for example link.rtt=250ms", text);
    memcpy(key, text, (size_t)(eq - text));
    key[eq - text] = '\0';
    if (strncmp(key, "scenario.", 9) == 0)
        return scenario_key(r, 0, key + 9, eq + 1);
    a = lab_axis_find(r->s, key);
    if (a) {
        struct lab_axis was = *a;
        char item[VALUE_LEN];
        const char *rest = eq + 1;

        *a = (struct lab_axis){was.key, NULL, 0, was.line};
        while (lab_item(&rest, ',', item, sizeof item)) {
            bool known = false;
            for (size_t i = 0; i < was.n; i++)
                known = known || strcmp(was.value[i], item) == 0;
            if (strchr(key, '.')
                    ? !other_key(r, 0, key, item)
                    : !known && !refuse(r, 0, "%s: it is swept and has no value '%s'", text, item))
                break;
            lab_axis_value(a, item);
        }
        lab_axis_clear(&was);
        free(was.value);
        return a->n > 0 || refuse(r, 0, "%s: no values: give at least one", text);
    }
    if (!strchr(key, '.'))
        return refuse(r, 0, "%s: neither a swept name nor a key such as link.rtt", text);
    if (!other_key(r, 0, key, eq + 1))
        return 0;
    lab_sets_add(&r->s->over, key, eq + 1, 0);
    return 1;
}

/* One AXIS=VALUE|VALUE of a case, which it cuts up.  Sets *at to the axis. */
static int check_item(struct reading *r, int line, char *item, size_t *at)
{
    struct lab_scenario *s = r->s;
    char *eq = strchr(item, '='), value[VALUE_LEN];
    int ok = 1;

    if (eq)
        *eq = '\0';
    const struct lab_axis *a = lab_axis_find(s, item);
    if (!eq || !a)
        return refuse(r, line, "when: '%s' is not swept; wanted is AXIS=VALUE|VALUE", item);
    *at = (size_t)(a - s->axis);
    for (const char *values = eq + 1; ok && lab_item(&values, '|', value, sizeof value);) {
        bool known = false;
        for (size_t j = 0; j < a->n; j++)
            known = known || strcmp(a->value[j], value) == 0;
        if (!known)
            ok = refuse(r, line, "when: %s has no value '%s'", item, value);
    }
    return ok;
}

/* Checks the cases: each condition AXIS=VALUE|VALUE names a value of a swept axis, and each name
 * that is swept occurs in a condition. */
static int check_cases(struct reading *r)
{
    struct lab_scenario *s = r->s;
    bool *asked = lab_alloc(s->naxes + 1);
    int ok = 1;

    for (size_t i = 0; ok && i < s->ncases; i++) {
        const char *rest = s->cases[i].when;
        char item[VALUE_LEN];
        size_t at = s->naxes; /* a place of its own for what is refused */

        while (ok && lab_item(&rest, ' ', item, sizeof item)) {
            ok = check_item(r, s->cases[i].line, item, &at);
            asked[at] = true;
        }
    }
    for (size_t i = 0; ok && i < s->naxes; i++)
        if (!strchr(s->axis[i].key, '.') && !asked[i])
            ok = refuse(r, s->axis[i].line,
                        "'%s' is no key (those look like link.rtt), and no [case] asks for it",
                        s->axis[i].key);
    free(asked);
    return ok;
}

struct lab_scenario *lab_scenario_read(const char *path, char *const *over, size_t n,
                                       char msg[LAB_MSGLEN])
{
    char found[PATH_MAX + 64];
    struct lab_scenario *s;
    struct reading r;
    FILE *f = find(path, found, sizeof found);
    char *text;
    int bad;

    if (!f) {
        struct stat st;
        int err = stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? EISDIR : errno;

        snprintf(msg, LAB_MSGLEN,
                 "%.300s: %s: give a scenario file, or a name that 'scps_lab list' shows", path,
                 strerror(err));
        return NULL;
    }
    text = read_text(f, found, msg);
    fclose(f);
    if (!text)
        return NULL;
    s = lab_alloc(sizeof *s);
    s->path = lab_copy(found);
    s->text = text;
    s->runs = 1;
    s->seed = 1;
    s->timeout = SCPS_SEC(86400) * 10;
    r = (struct reading){.s = s, .text = s->text, .msg = msg};
    bad = ini_parse_stream(next_chunk, &r, on_line, &r);
    if (bad > 0)
        refuse(&r, bad, "neither a [section] nor KEY = VALUE: correct the line");
    else if (bad < 0)
        refuse(&r, 1, "cannot be read");
    if (!r.failed)
        check_cases(&r);
    for (size_t i = 0; i < n && !r.failed; i++)
        override(&r, over[i]);
    if (!r.failed && !s->name) {
        const char *slash = strrchr(s->path, '/');
        s->name = lab_copy(slash ? slash + 1 : s->path);
    }
    if (!r.failed)
        s->hash = lab_scenario_hash(s);
    if (r.failed) {
        lab_scenario_free(s);
        return NULL;
    }
    return s;
}
