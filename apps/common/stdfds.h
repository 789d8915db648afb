/* SPDX-License-Identifier: MIT */
/* Standard input, output and error: open from the first line of main to the last byte of the
 * result. */
#ifndef SCPS_COMMON_STDFDS_H
#define SCPS_COMMON_STDFDS_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Every program calls this first in main. A descriptor of 0 to 2 that the caller closed would be
 * given to the first socket or TUN device, and received bytes would be written there as packets.
 * /dev/null takes its place, opened for the other direction: reading standard input or writing
 * standard output then fails (EBADF), as it did while it was closed. */
static inline void stdfds_open(const char *program)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
            continue;
        /* open() returns the lowest free descriptor, which must be this one. */
        if (open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) == fd)
            continue;
        fprintf(stderr, "%s: /dev/null: %s: do not close descriptor %d\n", program, strerror(errno),
                fd);
        exit(1);
    }
}

/* Called last in main. Returns status if all of standard output was written; otherwise 1 (or the
 * status, if that is a failure already) after one line on stderr. */
static inline int stdfds_flush(const char *program, int status)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    /* An earlier write failed, and nothing waited for the last one, so the reason is gone. What was
     * written is incomplete: the end of its last line can be tried again, to be told it. */
    if (!errno)
        (void)!write(STDOUT_FILENO, "\n", 1);
    fprintf(stderr, "%s: standard output: %s: write elsewhere\n", program,
            errno ? strerror(errno) : "not all could be written");
    return status ? status : 1;
}

#endif
