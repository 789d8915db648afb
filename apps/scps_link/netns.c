/* SPDX-License-Identifier: MIT */
/* Opens and enters network namespaces by name. A name is one that ip netns manages, a file below
 * /run/netns that setns(2) accepts; or a process id, or a path. */
#include "scps_link/netns.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

int netns_open(const char *name, char *msg, size_t msglen)
{
    char path[320];
    int fd;

    if (!*name)
        return open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    snprintf(path, sizeof path, strchr(name, '/') ? "%s" : "/run/netns/%s", name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT && strspn(name, "0123456789") == strlen(name)) {
        snprintf(path, sizeof path, "/proc/%s/ns/net", name);
        fd = open(path, O_RDONLY | O_CLOEXEC);
    }
    if (fd >= 0)
        return fd;
    if (errno == ENOENT || errno == ENOTDIR)
        snprintf(
            msg, msglen,
            "there is no network namespace %s: make it with 'ip netns add %s', or see 'ip netns "
            "list'",
            name, name);
    else if (errno == EACCES || errno == EPERM)
        snprintf(msg, msglen, "no permission to open network namespace %s: run as root", name);
    else
        snprintf(msg, msglen, "cannot open network namespace %s: %s", name, strerror(errno));
    return -1;
}

int netns_enter(int fd, const char *name, char *msg, size_t msglen)
{
    if (setns(fd, CLONE_NEWNET) == 0)
        return 0;
    if (!msg)
        return -1;
    if (errno == EINVAL)
        snprintf(msg, msglen, "%s is not a network namespace: see 'ip netns list'", name);
    else if (errno == EPERM)
        snprintf(msg, msglen,
                 "no permission to enter network namespace %s: run as root or with CAP_SYS_ADMIN",
                 name);
    else
        snprintf(msg, msglen, "cannot enter network namespace %s: %s", name, strerror(errno));
    return -1;
}
