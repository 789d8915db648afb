/* SPDX-License-Identifier: MIT */
/* A file with a saved path state (<scps/path.h>): read with a lock on it, and replaced at once. */
#ifndef SCPS_TTCP_PATH_FILE_H
#define SCPS_TTCP_PATH_FILE_H

#include <scps/path.h>

#define PATHFILE_MSGLEN 200

struct pathfile {
    const char *name;
    int fd;    /* open and locked from reading on; -1: there was no such file */
    bool keep; /* what is in it is not ours to replace: no path state, or another connection's */
};

/* Can a state be read from name, and another one take its place? Changes nothing. False: msg says
 * why not and what to do: a device, a directory, or a folder that cannot be written. */
bool pathfile_check(const char *name, char msg[PATHFILE_MSGLEN]);

/* Reads f->name and offers what is in it to c. True: it was taken, or there is no such file; else
 * msg says why it is not used. */
bool pathfile_restore(struct pathfile *f, struct scps_conn *c, int64_t now,
                      char msg[PATHFILE_MSGLEN]);
/* Writes what c has observed: to NAME.new, which then becomes NAME and has its mode. What c has
 * found wrong is deleted; a file to keep is left alone. False: msg says why it could not be
 * written. *wrote: it was. */
bool pathfile_save(struct pathfile *f, const struct scps_conn *c, int64_t now, bool *wrote,
                   char msg[PATHFILE_MSGLEN]);

#endif
