/* SPDX-License-Identifier: MIT */
/* Network namespaces of Linux. A device lives in the namespace in which it was opened; its
 * descriptor can be used from any. */
#ifndef SCPS_LINK_NETNS_H
#define SCPS_LINK_NETNS_H

#include <stddef.h>

/* A descriptor of the namespace: a name of ip netns, a process id, a path; "" is ours. -1 with one
 * line in msg. */
int netns_open(const char *name, char *msg, size_t msglen);
/* Moves this thread into it. 0, or -1 with one line in msg (may be NULL), name as typed. */
int netns_enter(int fd, const char *name, char *msg, size_t msglen);

#endif
