/* SPDX-License-Identifier: MIT */
/* A parsed scenario file: which keys it sets, for which keys it lists several values (swept keys),
 * and in which combinations of swept values other settings apply. Each combination of swept values
 * is a cell, which is simulated `runs` times.
 *
 *     [scenario]        name, runs, seed ...
 *     [link], [flow]    settings of every cell
 *     [sweep]           axes: a key, or a name chosen by the author, and its values
 *     [case]            when = AXIS=VALUE ...: other settings of those cells, or skip = yes
 *
 * Keys are kept in dotted form, link.rtt or flow.NAME.size. Their meaning and values are defined in
 * setup.h. The reference is scps_scenario(5).
 */
#ifndef SCPS_LAB_SCENARIO_H
#define SCPS_LAB_SCENARIO_H

#include "common/text.h"

struct lab_set {
    char *key, *value;
    int line; /* line of the scenario file; 0: the setting is from the command line */
};
struct lab_sets {
    struct lab_set *v;
    size_t n;
};
struct lab_axis {
    /* dotted key, which is set to each value in turn; or a name without a dot, to whose values only
     * conditions of [case] sections refer */
    char *key;
    char **value;
    size_t n;
    int line;
};
struct lab_case {
    /* conditions AXIS=VALUE|VALUE, as written in the file: the case's settings apply to the cells
     * (combinations of swept values) that fulfil all of them */
    char *when;
    int line;
    bool skip;
    struct lab_sets sets;
};

struct lab_scenario {
    /* path of the scenario file that was read: the argument `path` of lab_scenario_read() or, if
     * that is no file but the name of a scenario shipped with the program, the path of the shipped
     * file */
    char *path;
    char *name, *about, *published;
    uint64_t runs, seed;
    scps_dur timeout; /* virtual time, µs, after which a run that has not ended counts as failed */
    /* base: settings in the file's [link] and [flow] sections, which apply to every cell (every
     * combination of swept values); over: settings from the command line, which override all
     * others */
    struct lab_sets base, over;
    /* Names of all sections [link NAME] and [flow NAME] of the file, in its order. The key of an
     * element is "link.NAME." or "flow.NAME.", and its value is "". They are listed because such a
     * section makes a link or a flow even if it sets no key. */
    struct lab_sets sections;
    struct lab_axis *axis;
    size_t naxes;
    struct lab_case *cases;
    size_t ncases;
    /* hash of all settings, by which results of the same scenario are recognised; comments and the
     * order of sections do not change it */
    uint64_t hash;
    char *text; /* text of the file, of which a copy is stored with the results */
};

/* Reads the scenario `path`: a file, or the name of a scenario that is shipped with the program
 * ("geo"). over: n texts KEY=VALUE from the command line, which override settings of the file.
 * Returns NULL, with one line in msg that names file, line, key and what is allowed, on an
 * error. */
struct lab_scenario *lab_scenario_read(const char *path, char *const *over, size_t n,
                                       char msg[LAB_MSGLEN]);
void lab_scenario_free(struct lab_scenario *s);
/* Writes to dir (len bytes) the path of folder number i in which shipped scenarios are searched
 * for: for i 0 and 1 a folder relative to that of the running program. Returns false for a larger
 * i, or if dir is too short. */
bool lab_scenario_dir(size_t i, char *dir, size_t len);

void lab_sets_add(struct lab_sets *s, const char *key, const char *value, int line);

#endif
