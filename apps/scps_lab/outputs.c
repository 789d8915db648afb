/* SPDX-License-Identifier: MIT */
/* Refuses an output file of scps_lab that would overwrite a file which the run reads, or another
 * output file. */
#include "scps_lab/outputs.h"

#include "common/files.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Adds to the list f, as a file that is read, the shared object that `value` names before its first
 * comma, if the dotted key `key` is flow.cc-plugin or flow.NAME.cc-plugin. Returns false, with a
 * message in msg, if that file is already in f as a file that is written. */
static bool add_plugin(struct files *f, const char *key, const char *value, char msg[LAB_MSGLEN])
{
    const char *last = strrchr(key, '.');
    char path[LAB_MSGLEN];

    if (!last || strcmp(last, ".cc-plugin") != 0)
        return true;
    snprintf(path, sizeof path, "%.*s", (int)strcspn(value, ","), value);
    return files_add(f, "cc-plugin", path, FILES_READ, msg, LAB_MSGLEN);
}

/* Calls add_plugin() for each of the settings s. */
static bool add_plugins(struct files *f, const struct lab_sets *s, char msg[LAB_MSGLEN])
{
    bool ok = true;

    for (size_t i = 0; ok && i < s->n; i++)
        ok = add_plugin(f, s->v[i].key, s->v[i].value, msg);
    return ok;
}

/* Adds to the list f, as files that are read, the shared objects that keys cc-plugin of scenario sc
 * name: in sections [flow] and [flow NAME], in [sweep], in sections [case] and on the command line.
 * Returns false, with a message in msg, if one of them is already in f as a file that is
 * written. */
static bool add_all_plugins(struct files *f, const struct lab_scenario *sc, char msg[LAB_MSGLEN])
{
    bool ok = add_plugins(f, &sc->base, msg) && add_plugins(f, &sc->over, msg);

    for (size_t i = 0; ok && i < sc->naxes; i++)
        for (size_t k = 0; ok && k < sc->axis[i].n; k++)
            ok = add_plugin(f, sc->axis[i].key, sc->axis[i].value[k], msg);
    for (size_t i = 0; ok && i < sc->ncases; i++)
        ok = add_plugins(f, &sc->cases[i].sets, msg);
    return ok;
}

bool lab_run_files(const struct lab_scenario *sc, const struct lab_run_options *o,
                   char msg[LAB_MSGLEN])
{
    struct files f = {.n = 0};
    const struct {
        const char *option, *path;
    } one[] = {{"--pcap", o->pcap},
               {"--truth", o->truth},
               {"--events", o->events},
               {"--series", o->series}};
    static const char *const plots[] = {"svg", "png", "csv"};
    const struct files_family logs = {o->qlog, "-", {".qlog"}};
    bool ok = files_add(&f, "scenario", sc->path, FILES_READ, msg, LAB_MSGLEN) &&
              files_add_fd(&f, "standard output", STDOUT_FILENO, FILES_WRITTEN, msg, LAB_MSGLEN) &&
              add_all_plugins(&f, sc, msg);

    for (size_t i = 0; ok && i < sizeof one / sizeof *one; i++)
        ok = files_add(&f, one[i].option, one[i].path, FILES_WRITTEN, msg, LAB_MSGLEN);
    for (size_t i = 0; ok && o->plot && i < (o->series ? 2 : 3); i++) {
        struct lab_str path = {0};

        lab_add(&path, "%s.%s", o->plot, plots[i]);
        ok = files_add(&f, "--plot", path.p, FILES_WRITTEN, msg, LAB_MSGLEN);
        lab_free(&path);
    }
    return ok && (!o->qlog || files_check_family(&f, "--qlog", &logs, msg, LAB_MSGLEN));
}

bool lab_sweep_files(const struct lab_scenario *sc, const char *dir, char msg[LAB_MSGLEN])
{
    static const char *const names[] = {"rows.csv", "rows.csv.part", "cells.csv", "cells.csv.part",
                                        "scenario.ini.part"};
    struct files f = {.n = 0};
    struct lab_str path = {0};
    bool ok = add_all_plugins(&f, sc, msg);

    /* The sweep writes the text of the scenario to scenario.ini, so it is harmless if
     * DIR/scenario.ini is the scenario file itself, but that path must not be a shared object that
     * a key cc-plugin names. */
    lab_add(&path, "%s/scenario.ini", dir);
    ok = ok && files_add(&f, "--out", path.p, FILES_WRITTEN, msg, LAB_MSGLEN);
    lab_free(&path);
    f.n = 0;
    ok = ok && files_add(&f, "scenario", sc->path, FILES_READ, msg, LAB_MSGLEN) &&
         add_all_plugins(&f, sc, msg);
    for (size_t i = 0; ok && i < sizeof names / sizeof *names; i++) {
        path = (struct lab_str){0};
        lab_add(&path, "%s/%s", dir, names[i]);
        ok = files_add(&f, "--out", path.p, FILES_WRITTEN, msg, LAB_MSGLEN);
        lab_free(&path);
    }
    return ok;
}
