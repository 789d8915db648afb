/* SPDX-License-Identifier: MIT */
#include "scps_lab/paths.h"

#include <string.h>

/* Returns the table's entry for the path name f->path of flow f, and adds one if there is none.
 * NULL: the flow names no path, or the table is full. */
static struct lab_path *path_of(struct lab_paths *p, const struct lab_flow *f)
{
    if (f->path[0] == '\0')
        return NULL;
    for (size_t i = 0; i < sizeof p->of / sizeof *p->of; i++) {
        if (!p->of[i].word)
            p->of[i].word = f->path;
        if (strcmp(p->of[i].word, f->path) == 0)
            return &p->of[i];
    }
    return NULL;
}

void lab_path_begin(struct lab_paths *p, const struct lab_flow *f, struct scps_conn *c,
                    scps_time now)
{
    struct lab_path *path = path_of(p, f);

    if (!path || !path->known)
        return;
    path->known = false;
    scps_path_restore(c, path->state.octet, sizeof path->state.octet, now / SCPS_SEC(1), NULL);
}

void lab_path_end(struct lab_paths *p, const struct lab_flow *f, const struct scps_conn *c,
                  scps_time now)
{
    struct lab_path *path = path_of(p, f);

    if (path && c && scps_path_save(c, now / SCPS_SEC(1), &path->state) == 0)
        path->known = true;
}
