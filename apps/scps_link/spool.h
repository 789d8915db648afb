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
    /* writing end of the pipe to process pid; -1: spool_opened() has closed it, because the writer
     * has opened the pipe by its name */
    int fd;
    char name[32];
};

/* Creates the file `path`, and starts the process that writes it. Returns 0, or -1 with one line in
 * msg. */
int spool_open(struct spool *s, const char *path, char *msg, size_t msglen);
/* Returns a file name under which code that takes only names (such as that for captures) can open
 * the pipe for writing. What it writes there goes to the spool's file. The name is valid until
 * spool_opened(). */
const char *spool_name(const struct spool *s);
/* Called when the writer has opened the name of spool_name(), or has failed to: closes s->fd, this
 * process's own writing end of the pipe, so that the pipe ends when the writer closes it. */
void spool_opened(struct spool *s);
/* Waits until the process has written everything to the file. Call it after the writer has closed
 * the pipe. Returns 0, or -1 with one line in msg. */
int spool_close(struct spool *s, char *msg, size_t msglen);

#endif
