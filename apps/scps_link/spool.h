/* SPDX-License-Identifier: MIT */
/* A file written by a process of its own, so that a slow disk makes no packet late. */
#ifndef SCPS_LINK_SPOOL_H
#define SCPS_LINK_SPOOL_H

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

struct spool {
    const char *path; /* lent; NULL: not open */
    pid_t pid;
    int fd; /* The pipe to the process; -1 once it belongs to the writer */
    char name[32];
};

/* Opens path for writing, and starts the process. 0, or -1 with one line in msg. */
int spool_open(struct spool *s, const char *path, char *msg, size_t msglen);
/* Where to write: opens like a file of this name, once, until spool_opened. */
const char *spool_name(const struct spool *s);
/* Tells the spool that the file named by spool_name has been opened, or never will be. */
void spool_opened(struct spool *s);
/* Call after the writer has closed the pipe: waits until all is in the file. Returns 0, or -1 with
 * one line in msg. */
int spool_close(struct spool *s, char *msg, size_t msglen);

#endif
