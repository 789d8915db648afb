/* SPDX-License-Identifier: MIT */
/* Saved states of paths (careful resume, RFC 9959), which one flow of a run leaves for a later flow
 * with the same value of the key "path". */
#ifndef SCPS_LAB_PATHS_H
#define SCPS_LAB_PATHS_H

#include "common/setup.h"

#include <scps/path.h>

struct lab_paths {
    struct lab_path {
        /* value of the flows' key "path"; NULL: this entry and all behind it are unused */
        const char *word;
        /* true: `state` is valid, and the next flow with this value gets it; false: no flow has
         * saved a state yet, or none since a flow last got it */
        bool known;
        struct scps_path_state state;
        /* The table has room for 64 different values of "path"; flows with any further value get no
     * saved state. */
    } of[64];
};

/* Called when connection c of flow f is opened: passes to c the path state that an earlier flow
 * with the same f->path has saved, if any. No other flow gets that state until lab_path_end() is
 * called for this flow. now: virtual time, µs. */
void lab_path_begin(struct lab_paths *p, const struct lab_flow *f, struct scps_conn *c,
                    scps_time now);
/* Called when flow f has ended: saves the path state that its connection c has measured, under
 * f->path. c NULL: the flow had no connection. */
void lab_path_end(struct lab_paths *p, const struct lab_flow *f, const struct scps_conn *c,
                  scps_time now);

#endif
