/* SPDX-License-Identifier: MIT */
/* --path-state: careful resume (RFC 9959) from a file, and what was found out into it. */
#ifndef SCPS_TTCP_PATH_H
#define SCPS_TTCP_PATH_H

#include "scps_ttcp/options.h"
#include "scps_ttcp/path_file.h"

struct ttcp_result;

struct ttcp_path {
    struct pathfile file;
    bool tried; /* the file has been read, or was not there */
};

/* The sending connection c is open. A state that is not used is named on standard error. */
void ttcp_path_restore(struct ttcp_path *p, const struct ttcp_options *o, struct scps_conn *c);
/* It is over, and c still valid; NULL: it never was open. r says if the file cannot be written. */
void ttcp_path_save(struct ttcp_path *p, const struct ttcp_options *o, const struct scps_conn *c,
                    struct ttcp_result *r);

#endif
