/* SPDX-License-Identifier: MIT */
/* What flows with the same path-state word found out of their path, for the next of them. */
#ifndef SCPS_LAB_PATHS_H
#define SCPS_LAB_PATHS_H

#include "common/setup.h"

#include <scps/path.h>

struct lab_paths {
    struct lab_path {
        const char *word; /* the flows'; NULL: no more of them */
        bool known;       /* a flow has ended, and none uses what it found out */
        struct scps_path_state state;
    } of[64]; /* words beyond that many are without effect */
};

/* A flow of f opens c, which begins with what is known; no other flow does until it has ended. */
void lab_path_begin(struct lab_paths *p, const struct lab_flow *f, struct scps_conn *c,
                    scps_time now);
/* It has ended; c: NULL: without a connection. */
void lab_path_end(struct lab_paths *p, const struct lab_flow *f, const struct scps_conn *c,
                  scps_time now);

#endif
