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
    /* true: the line began with a blank, so it continues the value of the previous key */
    bool continued;
    /* the lines of the keys in [scenario], in the order of their table; 0: not given */
    int scenario_line[LAB_SCENARIO_KEYS];
    int skip; /* the line of `skip` in the present [case]; 0: not given */
    /* the line of a list in [sweep] that ended with a comma and has not been continued; 0: none */
    int comma;
    /* the folder of the files that `published` names; NULL: it is not checked that they exist */
    const char *published_dir;
    bool failed; /* true: an error was found, and msg describes it */
    char *msg;
};

/* Begins a scenario with its defaults. text: the whole file, of which a copy is kept. */
void lab_reading_begin(struct lab_reading *r, const char *path, const char *text,
                       char msg[LAB_MSGLEN]);
/* Processes the line that begins a section. Returns 0 when it is refused, with the reason in
 * msg. */
int lab_reading_section(struct lab_reading *r, const char *section);
/* Processes KEY = VALUE of a section. Returns 0 when it is refused, with the reason in msg. */
int lab_reading_line(struct lab_reading *r, const char *section, const char *key,
                     const char *value);
/* Refuses the scenario because of a line; line 0: because of a setting from outside the file. Only
 * the first refusal counts. Returns 0. */
int lab_reading_refuse(struct lab_reading *r, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Applies n texts KEY=VALUE, which override the file's settings. Returns the scenario, or NULL with
 * the reason in msg. */
struct lab_scenario *lab_reading_end(struct lab_reading *r, char *const *over, size_t n);

#endif
