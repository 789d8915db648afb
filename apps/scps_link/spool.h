/* SPDX-License-Identifier: MIT */
/* A file that a separate process writes, so that a slow disk does not delay packets. */
#ifndef SCPS_LINK_SPOOL_H
#define SCPS_LINK_SPOOL_H

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

struct spool {
    const char *path; /* path of the file, borrowed; NULL: the spool is not open */
    pid_t pid;        /* the child process that copies what is written to the pipe to the file */
    /* writing end of the pipe to process pid; -1: spool_opened() has closed this descriptor,
     * because the emulator's code that writes (a capture, the truth log) has opened the pipe once
     * more, by the path `name` */
    int fd;
    char name[32]; /* path of the pipe's writing end, "/proc/self/fd/N" */
};

/* Creates the file `path`, a pipe, and a child process that copies what is written to the pipe to
 * the file. Returns 0, or -1 with one line in msg. */
int spool_open(struct spool *s, const char *path, char *msg, size_t msglen);
/* Returns a file name under which code that takes only names (such as that for captures) can open
 * the pipe for writing. What it writes there goes to the spool's file. The name is valid until
 * spool_opened(). */
const char *spool_name(const struct spool *s);
/* Called when the code that writes has opened the path spool_name(), or has failed to: closes
 * s->fd, the emulator's first descriptor of the pipe's writing end, so that the child process reads
 * the end of the pipe when that code closes its own descriptor. */
void spool_opened(struct spool *s);
/* Waits until the child process s->pid has copied everything from the pipe to the file and has
 * ended. Call this function after the code that writes has closed the pipe. Returns 0, also if the
 * spool is not open; or -1 with one line in msg if the file is incomplete. */
int spool_close(struct spool *s, char *msg, size_t msglen);

#endif
