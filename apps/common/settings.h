/* SPDX-License-Identifier: MIT */
/* The settings of a connection that <scps/settings.def> lists, as a table: programs use it to read
 * command-line options and the keys of scenario files. */
#ifndef SCPS_APPS_SETTINGS_H
#define SCPS_APPS_SETTINGS_H

#include <scps/conn.h>

#include <stdio.h>

#define SCPS_SETTING(name, ...) SETTING_##name,
enum setting_id {
#include <scps/settings.def>
    SETTINGS
};

enum setting_kind { FLAG, COUNT, COUNT_OR_0, BYTES, RATE, TIME, CHOICE };

struct setting {
    const char *name; /* name of the setting, with underscores */
    enum setting_kind kind;
    /* offset and size of the setting's field in struct scps_conn_config, octets */
    uint16_t at, size;
    int64_t def, least, most;
    /* The remaining fields have the names that settings.def gives the parts of a row, where their
     * meaning is described; NULL or 0: the row does not have that part. */
    const char *help, *off, *more, *api, *unit, *zero, *ttcp, *clause, *words, *with, *alias;
    char letter, only;
    bool bare_ms;
};
extern const struct setting settings[SETTINGS];

#define SETTING_NAME 32
/* Writes the setting's name to out, with dashes in place of underscores. Returns out. */
const char *setting_dashed(const struct setting *s, char out[SETTING_NAME]);
/* Returns the title of the group that a setting belongs to. */
const char *setting_group(const struct setting *s);
/* Returns the setting called `name` (len octets), with dashes or underscores; SETTINGS: none. */
enum setting_id setting_find(const char *name, size_t len);

int64_t setting_get(const struct setting *s, const struct scps_conn_config *c);
void setting_put(const struct setting *s, struct scps_conn_config *c, int64_t v);
/* Returns true if a user may give the setting this value. */
bool setting_allows(const struct setting *s, int64_t v);
/* Returns the value that `word` stands for, of a setting whose values are words (kind CHOICE); -1:
 * none of its values has that word. */
int setting_word(const struct setting *s, const char *word);
/* Writes to out the word that stands for value v, of a setting whose values are words (kind
 * CHOICE). Returns out. */
const char *setting_word_at(const struct setting *s, int64_t v, char out[SETTING_NAME]);

/* How a program writes values and names of settings. */
struct setting_style {
    /* suffixes of numbers in units of 1024, 1024^2 and 1024^3 bytes */
    const char *kilo, *mega, *giga;
    const char *option; /* text before a setting's name where texts mention it: "--" for options */
};
/* Writes a description of a setting's values to out: bounds, default, meaning of 0 and clause of a
 * standard, for example "1 to 255 probes; default 9; RFC 9293 section 3.8.4". begins: its default
 * in this program; usual: text to write in place of that default; NULL: the default is written. */
void setting_facts(const struct setting *s, const struct setting_style *style, int64_t begins,
                   const char *usual, char *out, size_t len);
/* Writes text to out, with each "{name}" of a setting replaced by its name in the given style. */
void setting_text(const char *text, const struct setting_style *style, char *out, size_t len);
/* Prints text, wrapped into lines from column `left` to column `right` - 1. The caller has printed
 * the first line up to column `left`. */
void setting_wrap(FILE *f, const char *text, int left, int right);

#endif
