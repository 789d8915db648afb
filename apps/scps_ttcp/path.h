/* SPDX-License-Identifier: MIT */
/* Option --path-state: saves what a connection has learned about the path to a file, and restores
 * it for the next connection (careful resume, RFC 9959). */
#ifndef SCPS_TTCP_PATH_H
#define SCPS_TTCP_PATH_H

#include "scps_ttcp/options.h"
#include "scps_ttcp/path_file.h"

struct ttcp_result;

struct ttcp_path {
    struct pathfile file;
    /* true: ttcp_path_restore() was called for a connection, so the state may be saved at the
     * end */
    bool tried;
};

/* Called when the sending connection c was just opened: passes c the path state for careful resume
 * (RFC 9959: RTT and capacity) in the file of --path-state. Prints a line on standard error if the
 * path state is not used. Does nothing without --path-state. */
void ttcp_path_restore(struct ttcp_path *p, const struct ttcp_options *o, struct scps_conn *c);
/* Called at the end of the transfer, while c is still valid: saves the path state (RFC 9959: RTT
 * and capacity) that connection c has measured to the file of --path-state. Does nothing without
 * --path-state, or if c is NULL: there was no connection. If the file cannot be written, r gets the
 * error. */
void ttcp_path_save(struct ttcp_path *p, const struct ttcp_options *o, const struct scps_conn *c,
                    struct ttcp_result *r);

#endif
