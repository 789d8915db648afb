/* SPDX-License-Identifier: MIT */
/* A scenario file as values: what is set, what is swept, and which combinations need something
 * else.
 *
 *     [scenario]          name, runs, seed ...
 *     [link], [flow]      what is so in every cell
 *     [sweep]             axes: a key, or a name of one's own, and its values
 *     [case]              when = AXIS=VALUE ...: what else is set in those cells, or skip = yes
 *
 * Keys are kept dotted, link.rtt or flow.NAME.size, as the sections spell them out. What a key
 * means and which values it takes is setup.h's; here it is only asked. scps_scenario(5) is the
 * reference.
 */
#ifndef SCPS_LAB_SCENARIO_H
#define SCPS_LAB_SCENARIO_H

#include "common/text.h"

struct lab_set {
    char *key, *value;
    int line; /* Line of the scenario file; 0: the setting comes from the command line */
};
struct lab_sets {
    struct lab_set *v;
    size_t n;
};
struct lab_axis {
    /* Dotted key, which is set to each value in turn; or a name without a dot that only cases
     * test */
    char *key;
    char **value;
    size_t n;
    int line;
};
struct lab_case {
    char *when; /* as written */
    int line;
    bool skip;
    struct lab_sets sets;
};

struct lab_scenario {
    char *path; /* as found */
    char *name, *about, *published;
    uint64_t runs, seed;
    scps_dur timeout; /* virtual time after which a run has failed */
    /* over: settings from the command line, which override all others */
    struct lab_sets base, over;
    struct lab_axis *axis;
    size_t naxes;
    struct lab_case *cases;
    size_t ncases;
    uint64_t hash; /* Hash of the settings; comments and the order of sections do not change it */
    char *text;    /* The text of the file, of which a copy is kept with the results */
};

/* Reads path: a file, or the name of a scenario that ships with the program ("geo"). over: n texts
 * KEY=VALUE. Returns NULL with one line in msg that names file, line, key and what is allowed. */
struct lab_scenario *lab_scenario_read(const char *path, char *const *over, size_t n,
                                       char msg[LAB_MSGLEN]);
void lab_scenario_free(struct lab_scenario *s);
/* Writes the folder number i (0 or 1) in which shipped scenarios are looked for: below
 * ../share/scps, seen from the running program. Returns false past the last, or when dir is too
 * short. */
bool lab_scenario_dir(size_t i, char *dir, size_t len);

void lab_sets_add(struct lab_sets *s, const char *key, const char *value, int line);

#endif
