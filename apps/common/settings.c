/* SPDX-License-Identifier: MIT */
/* The table of settings of a connection, and the texts made from it. tools/settings writes the same
 * texts into the manual pages. */
#include "common/settings.h"

#include "common/field.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

/* The rows of settings.def in their order: a row is either a setting (name is set, title is NULL)
 * or the title of a group of settings (title is set, name is NULL). */
static const struct {
    const char *name, *title;
} rows[] = {
#define SCPS_SETTING_GROUP(title) {NULL, title},
#define SCPS_SETTING(name, ...)   {#name, NULL},
#include <scps/settings.def>
};

const struct setting settings[SETTINGS] = {
#define SCPS_SETTING(name, field, kind, def, least, most, ...)                                     \
    {#name,                                                                                        \
     kind,                                                                                         \
     offsetof(struct scps_conn_config, field),                                                     \
     sizeof(((struct scps_conn_config *)0)->field),                                                \
     def,                                                                                          \
     least,                                                                                        \
     most,                                                                                         \
     __VA_ARGS__},
#include <scps/settings.def>
};

const char *setting_group(const struct setting *s)
{
    const char *title = "";

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].name == NULL)
            title = rows[i].title;
        else if (strcmp(rows[i].name, s->name) == 0)
            break;
    }
    return title;
}

const char *setting_dashed(const struct setting *s, char out[SETTING_NAME])
{
    size_t i = 0;

    for (; s->name[i] != '\0' && i + 1 < SETTING_NAME; i++)
        out[i] = s->name[i] == '_' ? '-' : s->name[i];
    out[i] = '\0';
    return out;
}

enum setting_id setting_find(const char *name, size_t len)
{
    char dashed[SETTING_NAME];

    for (int i = 0; i < SETTINGS; i++)
        if (strlen(settings[i].name) == len &&
            (strncmp(settings[i].name, name, len) == 0 ||
             strncmp(setting_dashed(&settings[i], dashed), name, len) == 0))
            return (enum setting_id)i;
    return SETTINGS;
}

int64_t setting_get(const struct setting *s, const struct scps_conn_config *c)
{
    return (int64_t)field_get((const char *)c + s->at, s->size);
}

void setting_put(const struct setting *s, struct scps_conn_config *c, int64_t v)
{
    field_put((char *)c + s->at, s->size, (uint64_t)v);
}

/* Returns word number n, from 0, of a list of words separated by blanks, and sets *len to its
 * length. NULL: the list has fewer words. */
static const char *word_at(const char *words, int n, size_t *len)
{
    for (;; words += *len + strspn(words + *len, " ")) {
        *len = strcspn(words, " ");
        if (*len == 0)
            return NULL;
        if (n-- == 0)
            return words;
    }
}

static int word_number(const char *words, const char *word)
{
    const char *at;
    size_t len;

    for (int n = 0; (at = word_at(words, n, &len)) != NULL; n++)
        if (strlen(word) == len && strncmp(at, word, len) == 0)
            return n;
    return -1;
}

int setting_word(const struct setting *s, const char *word)
{
    int n = word_number(s->words, word);

    return n < 0 || n < s->least || n > s->most ? -1 : n;
}

const char *setting_word_at(const struct setting *s, int64_t v, char out[SETTING_NAME])
{
    size_t len;
    const char *at = word_at(s->words, (int)v, &len);

    snprintf(out, SETTING_NAME, "%.*s", at != NULL ? (int)len : 1, at != NULL ? at : "?");
    return out;
}

bool setting_allows(const struct setting *s, int64_t v)
{
    char number[24];

    if (s->kind == COUNT_OR_0 && v == 0)
        return true;
    if (v < s->least || v > s->most)
        return false;
    snprintf(number, sizeof(number), "%" PRId64, v);
    return s->kind != COUNT || s->words == NULL || word_number(s->words, number) >= 0;
}

/* ---- functions that describe a setting in words ---- */

struct text {
    char *p;
    size_t len, room;
};

static void append_formatted(struct text *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void append_formatted(struct text *t, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    if (t->len < t->room)
        t->len += (size_t)vsnprintf(t->p + t->len, t->room - t->len, fmt, ap);
    va_end(ap);
}

static void add_size(struct text *t, const struct setting_style *style, int64_t v)
{
    const struct {
        int64_t unit;
        const char *name;
    } units[] = {{1 << 30, style->giga}, {1 << 20, style->mega}, {1 << 10, style->kilo}};

    for (int i = 0; i < 3; i++)
        if (v >= units[i].unit && v % units[i].unit == 0) {
            append_formatted(t, "%" PRId64 "%s", v / units[i].unit, units[i].name);
            return;
        }
    append_formatted(t, "%" PRId64, v);
}

static void add_time(struct text *t, int64_t v)
{
    if (v % SCPS_SEC(3600) == 0)
        append_formatted(t, "%" PRId64 " h", v / SCPS_SEC(3600));
    else if (v % SCPS_SEC(1) == 0)
        append_formatted(t, "%" PRId64 " s", v / SCPS_SEC(1));
    else
        append_formatted(t, "%" PRId64 " ms", v / SCPS_MS(1));
}

static void add_value(struct text *t, const struct setting *s, const struct setting_style *style,
                      int64_t v)
{
    char word[SETTING_NAME];

    switch (s->kind) {
    case FLAG:
        append_formatted(t, v != 0 ? "yes" : "no");
        break;
    case COUNT:
    case COUNT_OR_0:
    case RATE:
        append_formatted(t, "%" PRId64, v);
        break;
    case BYTES:
        add_size(t, style, v);
        break;
    case TIME:
        add_time(t, v);
        break;
    case CHOICE:
        append_formatted(t, "%s", setting_word_at(s, v, word));
        break;
    }
}

/* Adds the values that a setting accepts to the text, as a list whose last two values are joined by
 * "or". words: the same values, separated by blanks. */
static void add_words(struct text *t, const char *words)
{
    const char *at;
    size_t len, dummy;

    for (int n = 0; (at = word_at(words, n, &len)) != NULL; n++)
        append_formatted(t, "%s%.*s",
                         n == 0                                  ? ""
                         : word_at(words, n + 1, &dummy) != NULL ? ", "
                                                                 : " or ",
                         (int)len, at);
}

static void add_bounds(struct text *t, const struct setting *s, const struct setting_style *style)
{
    switch (s->kind) {
    case FLAG:
    case RATE:
    case TIME:
        return;
    case CHOICE:
        add_words(t, s->words);
        break;
    case COUNT:
    case COUNT_OR_0:
    case BYTES:
        if (s->words != NULL) {
            add_words(t, s->words);
            break;
        }
        append_formatted(t, s->kind == COUNT_OR_0 ? "0, or " : "");
        add_value(t, s, style, s->least);
        append_formatted(t, " to ");
        add_value(t, s, style, s->most);
        append_formatted(t, "%s%s",
                         s->unit != NULL    ? " "
                         : s->kind == BYTES ? " bytes"
                                            : "",
                         s->unit != NULL ? s->unit : "");
        break;
    }
    append_formatted(t, "; ");
}

static void add_text(struct text *t, const char *text, const struct setting_style *style)
{
    char dashed[SETTING_NAME];
    const char *end;

    for (; *text != '\0'; text++) {
        enum setting_id id = SETTINGS;

        if (*text == '{' && (end = strchr(text, '}')) != NULL)
            id = setting_find(text + 1, (size_t)(end - text - 1));
        if (id == SETTINGS) {
            append_formatted(t, "%c", *text);
        } else {
            append_formatted(t, "%s%s", style->option, setting_dashed(&settings[id], dashed));
            text = end;
        }
    }
}

void setting_text(const char *text, const struct setting_style *style, char *out, size_t len)
{
    struct text t = {out, 0, len};

    out[0] = '\0';
    add_text(&t, text, style);
}

void setting_facts(const struct setting *s, const struct setting_style *style, int64_t begins,
                   const char *usual, char *out, size_t len)
{
    struct text t = {out, 0, len};

    out[0] = '\0';
    add_bounds(&t, s, style);
    if (usual != NULL) {
        append_formatted(&t, "default: %s%s", usual, s->zero != NULL ? "; 0: " : "");
        add_text(&t, s->zero != NULL ? s->zero : "", style);
    } else if (begins == 0 && s->zero != NULL) {
        append_formatted(&t, "0, the default: ");
        add_text(&t, s->zero, style);
    } else {
        append_formatted(&t, "default ");
        add_value(&t, s, style, begins);
        if (s->zero != NULL) {
            append_formatted(&t, "; 0: ");
            add_text(&t, s->zero, style);
        }
    }
    if (s->clause != NULL)
        append_formatted(&t, "; %s", s->clause);
}

void setting_wrap(FILE *f, const char *text, int left, int right)
{
    const int width = right - left;

    while (strlen(text) > (size_t)width) {
        int n = width;

        while (n > 1 && text[n] != ' ')
            n--;
        fprintf(f, "%.*s\n%*s", n, text, left, "");
        text += n + (text[n] == ' ');
    }
    fprintf(f, "%s\n", text);
}
