/* SPDX-License-Identifier: MIT */
/* Saved path states (careful resume, RFC 9959), which one flow leaves for the next flow with the
 * same path word. */
#ifndef SCPS_LAB_PATHS_H
#define SCPS_LAB_PATHS_H

#include "common/setup.h"

#include <scps/path.h>

struct lab_paths {
    struct lab_path {
        /* The value of the flows' key "path"; NULL: this entry and those behind it are unused */
        const char *word;
        /* true: a state is saved, and no open flow uses it */
        bool known;
        struct scps_path_state state;
    } of[64]; /* The table has 64 words; flows with further words have no saved state. */
};

/* Called when connection c of flow f is opened: gives it the saved state of its word. No other flow
 * gets that state until lab_path_end(). */
void lab_path_begin(struct lab_paths *p, const struct lab_flow *f, struct scps_conn *c,
                    scps_time now);
/* Called when the flow has ended: saves the path state of its connection c; NULL: it had none. */
void lab_path_end(struct lab_paths *p, const struct lab_flow *f, const struct scps_conn *c,
                  scps_time now);

#endif
