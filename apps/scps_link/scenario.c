/* SPDX-License-Identifier: MIT */
/* Reads the link of a scenario. Its flows are ignored: other programs send over the emulated link.
 *
 * The channel of run N is the same as in run N of "scps_lab run": the same configuration, tables
 * and seeds, so packet number n of each direction has the same fate.
 */
#include "scps_link/scenario.h"

#include <stdlib.h>
#include <string.h>

static const struct lab_link *find_link(const struct lab_setup *s, const char *name)
{
    for (size_t i = 0; i < s->nlinks; i++)
        if (strcmp(s->link[i].name, name) == 0)
            return &s->link[i];
    return NULL;
}

/* Returns the scenario's link called `name`; name empty: its only link. Returns NULL, with one line
 * in msg, if there is none, or several without a name. */
static const struct lab_link *choose(const struct lab_scenario *sc, const struct lab_setup *s,
                                     const char *name, char msg[LINK_MSGLEN])
{
    const struct lab_link *l = *name ? find_link(s, name) : s->link;
    struct lab_str names = {0};

    if (l && (*name || s->nlinks == 1))
        return l;
    for (size_t i = 0; i < s->nlinks; i++)
        lab_add(&names, " %s", s->link[i].name);
    if (*name)
        snprintf(msg, LINK_MSGLEN, "%.200s: there is no link '%.32s'; there are:%.200s", sc->path,
                 name, names.p);
    else
        snprintf(msg, LINK_MSGLEN, "%.200s has several links: give FILE:LINK; there are:%.200s",
                 sc->path, names.p);
    lab_free(&names);
    return NULL;
}

int link_scenario_open(struct link_options *o, const char *text, char *const *set, size_t n,
                       unsigned run, char msg[LINK_MSGLEN])
{
    const char *colon = strrchr(text, ':'), *name = "";
    struct link_scenario *s = lab_alloc(sizeof *s);
    char *file = lab_copy(text);
    struct lab_setup *setup;
    uint64_t seed;

    o->scenario = s;
    if (colon && !strchr(colon, '/')) {
        file[colon - text] = '\0';
        name = colon + 1;
    }
    s->sc = lab_scenario_read(file, set, n, msg);
    free(file);
    if (!s->sc || !lab_cells_single(s->sc, &s->cells, msg))
        return -1;
    setup = s->cells.v->setup;
    s->link = choose(s->sc, setup, name, msg);
    if (!s->link)
        return -1;
    if (s->link->vj) {
        snprintf(msg, LINK_MSGLEN,
                 "%.200s: link.vj-compression is for virtual time: use scps_lab, or give --set "
                 "link.vj-compression=no",
                 s->sc->path);
        return -1;
    }
    s->run = run;
    seed = lab_cell_seed(&s->cells, s->cells.v, run);
    o->dir[0] = s->link->fwd;
    o->dir[1] = s->link->back;
    for (int d = 0; d < 2; d++)
        o->dir[d].seed = lab_link_seed(seed, (size_t)(s->link - setup->link), d);
    o->link = s->link->spec;
    o->seed = s->sc->seed;
    if (o->mtu == 0)
        o->mtu = s->link->mtu;
    return 0;
}

void link_scenario_close(struct link_scenario *s)
{
    if (!s)
        return;
    lab_cells_free(&s->cells);
    lab_scenario_free(s->sc);
    free(s);
}
