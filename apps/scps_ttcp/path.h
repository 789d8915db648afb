/* SPDX-License-Identifier: MIT */
/* --path-state: saves the path state of a connection to a file and restores it for the next
 * (careful resume, RFC 9959). */
#ifndef SCPS_TTCP_PATH_H
#define SCPS_TTCP_PATH_H

#include "scps_ttcp/options.h"
#include "scps_ttcp/path_file.h"

struct ttcp_result;

struct ttcp_path {
    struct pathfile file;
    bool tried; /* true: the file has been read, or did not exist */
};

/* Restores the saved state for the sending connection c, which was just opened. Prints a line on
 * standard error when the state is not used. */
void ttcp_path_restore(struct ttcp_path *p, const struct ttcp_options *o, struct scps_conn *c);
/* Saves the state at the end of the transfer, while c is still valid; NULL: it was never open. If
 * the file cannot be written, r gets the error. */
void ttcp_path_save(struct ttcp_path *p, const struct ttcp_options *o, const struct scps_conn *c,
                    struct ttcp_result *r);

#endif
