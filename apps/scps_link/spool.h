/* SPDX-License-Identifier: MIT */
/* A file that a separate process writes, so that a slow disk does not delay packets. */
#ifndef SCPS_LINK_SPOOL_H
#define SCPS_LINK_SPOOL_H

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

struct spool {
    const char *path; /* path of the file, borrowed; NULL: the spool is not open */
    pid_t pid;
    /* writing end of the pipe to that process; -1: the writer has opened the pipe by its name, so
     * this descriptor was closed */
    int fd;
    char name[32];
};

/* Opens path for writing and starts the process. Returns 0, or -1 with one line in msg. */
int spool_open(struct spool *s, const char *path, char *msg, size_t msglen);
/* Returns a name to open for writing, once, until spool_opened(): what is written there goes to the
 * file. */
const char *spool_name(const struct spool *s);
/* Informs the spool that the file named by spool_name() has been opened, or will never be
 * opened. */
void spool_opened(struct spool *s);
/* Waits until the process has written everything to the file. Call it after the writer has closed
 * the pipe. Returns 0, or -1 with one line in msg. */
int spool_close(struct spool *s, char *msg, size_t msglen);

#endif
