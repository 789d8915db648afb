/* SPDX-License-Identifier: MIT */
/* A file with a saved path state (<scps/path.h>), which is locked while it is in use, and replaced
 * by renaming. */
#ifndef SCPS_TTCP_PATH_FILE_H
#define SCPS_TTCP_PATH_FILE_H

#include <scps/path.h>

#define PATHFILE_MSGLEN 200

struct pathfile {
    const char *name;
    /* descriptor of the file, locked since it was read; -1: the file did not exist or is not
     * open */
    int fd;
    /* true: the file must not be replaced, because it contains no path state, or that of another
     * connection */
    bool keep;
};

/* Checks, without changing anything, that a state can be read from file `name` and that the file
 * can be replaced. Returns false for a device, a directory, or a folder that cannot be written; msg
 * says what is wrong and what to do. */
bool pathfile_check(const char *name, char msg[PATHFILE_MSGLEN]);

/* Reads the path state for careful resume (RFC 9959: RTT and capacity) from file f->name and gives
 * it to connection c. Returns true if c accepted the path state, or there is no such file;
 * otherwise msg says why the path state is not used. */
bool pathfile_restore(struct pathfile *f, struct scps_conn *c, int64_t now,
                      char msg[PATHFILE_MSGLEN]);
/* Saves the path state for careful resume (RFC 9959: RTT and capacity) that connection c has
 * measured: writes NAME.new with the mode of NAME, then renames NAME.new to NAME. If c found the
 * saved path state wrong, the function deletes the file instead of writing it. It does nothing if
 * f->keep is set. Returns false, with the reason in msg, if the file could not be written. *wrote
 * is true if a path state was written. */
bool pathfile_save(struct pathfile *f, const struct scps_conn *c, int64_t now, bool *wrote,
                   char msg[PATHFILE_MSGLEN]);

#endif
