/* SPDX-License-Identifier: MIT */
/* A scenario that is being made from the lines of a file, which a reader of ini files has cut into
 * section, key and value: inih for the programs (scenario.c), a reader in Python for the Python
 * module.
 *
 *     lab_reading_begin(&r, path, text, msg);
 *     for each line: r.line = ..., r.continued = ..., lab_reading_line(&r, section, key, value);
 *     s = lab_reading_end(&r, over, n);
 */
#ifndef SCPS_LAB_SCENARIO_LINES_H
#define SCPS_LAB_SCENARIO_LINES_H

#include "common/scenario.h"

#define LAB_SCENARIO_KEYS 6

struct lab_reading {
    struct lab_scenario *s; /* the scenario being made; lab_reading_end() passes it to the caller */
    int line;               /* the number of the present line, from 1 */
    /* The caller sets this to true if the line begins with a blank, so it continues the value of
     * the line before, and otherwise to false. */
    bool continued;
    /* numbers of the lines with the keys name, about, runs, seed, timeout and published of
     * [scenario]; 0: not given */
    int scenario_line[LAB_SCENARIO_KEYS];
    /* number of the line with the key `skip` in the present section [case]; 0: not given */
    int skip;
    /* number of the line with a list in [sweep] that ends with a comma, so that a continuation line
     * has to follow; 0: none */
    int comma;
    /* Folder of the CSV files with results that publications report (lab/published). The key
     * `published` names one of these files, beside which the reports show the results of the
     * scenario. NULL: whether that file exists is not checked. */
    const char *published_dir;
    bool failed; /* true: an error was found, and msg describes it */
    char *msg;
};

/* Begins the making of a scenario, with default values. path, text: name and whole text of the
 * file, of which copies are kept; msg: receives an error message. */
void lab_reading_begin(struct lab_reading *r, const char *path, const char *text,
                       char msg[LAB_MSGLEN]);
/* Processes a line "[section]". Returns 1; or 0 if the section is refused, with the reason in
 * msg. */
int lab_reading_section(struct lab_reading *r, const char *section);
/* Processes a line KEY = VALUE of a section. Returns 1; or 0 if it is refused, with the reason in
 * msg. */
int lab_reading_line(struct lab_reading *r, const char *section, const char *key,
                     const char *value);
/* Refuses the scenario because of line number `line` (0: because of a setting from the command
 * line): writes the formatted reason to msg, unless there was an error before. Returns 0. */
int lab_reading_refuse(struct lab_reading *r, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Refuses the scenario because the present line sets `key`, which line number `first` has set
 * before. Returns 0. */
int lab_reading_twice(struct lab_reading *r, const char *key, int first);
/* Called behind the last line: applies n texts KEY=VALUE from the command line, which override the
 * file's settings. Returns the scenario; NULL, with the reason in msg, if there was an error. */
struct lab_scenario *lab_reading_end(struct lab_reading *r, char *const *over, size_t n);

#endif
