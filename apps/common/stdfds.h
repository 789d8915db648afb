/* SPDX-License-Identifier: MIT */
/* Standard input, output and error: these functions keep the descriptors 0 to 2 valid from the
 * first line of main, let each line on standard error go out in one write, and check at the end
 * that all output was written. */
#ifndef SCPS_COMMON_STDFDS_H
#define SCPS_COMMON_STDFDS_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* longest line on standard error that goes out in one write, with its newline, bytes */
#define STDFDS_LINE 4096

/* Every program calls this first in main. If the caller has closed a descriptor of 0 to 2, the
 * first socket or TUN device would get its number, and received bytes would be sent there as
 * packets. So /dev/null is opened in its place, for the other direction: reading standard input or
 * writing standard output then fails (EBADF), as it would if it were closed.
 *
 * Standard error becomes line buffered. Without a buffer each of the calls that compose a line
 * would be a write(), and the lines of two programs on one terminal would mix. Text without a
 * newline at its end, such as a line of progress, then needs fflush(stderr). */
static inline void stdfds_open(const char *program)
{
    static char line[STDFDS_LINE];

    setvbuf(stderr, line, _IOLBF, sizeof(line));
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
    /* An earlier write failed, so the output is incomplete, and its errno is lost. Another write,
     * of a newline, yields the reason. */
    if (!errno)
        (void)!write(STDOUT_FILENO, "\n", 1);
    fprintf(stderr, "%s: standard output: %s: write elsewhere\n", program,
            errno ? strerror(errno) : "not all could be written");
    return status ? status : 1;
}

/* Called after a program has written its report to standard error. Returns status if all of it was
 * written, or if the caller has closed standard error, and so wants no report; otherwise 1 (or the
 * status, if that is a failure already). There is nowhere to write a message to. */
static inline int stdfds_reported(int status)
{
    if (!ferror(stderr) || (write(STDERR_FILENO, "\n", 1) < 0 && errno == EBADF))
        return status;
    return status ? status : 1;
}

#endif
