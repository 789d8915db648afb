/* SPDX-License-Identifier: MIT */
/* Network namespaces of Linux. A device is in the namespace in which it was opened; its descriptor
 * can be used from any namespace. */
#ifndef SCPS_LINK_NETNS_H
#define SCPS_LINK_NETNS_H

#include <stddef.h>

/* Returns a descriptor of a network namespace. name: one of ip netns, a process id, or a path; "":
 * the program's own. Returns -1, with one line in msg, on an error. */
int netns_open(const char *name, char *msg, size_t msglen);
/* Moves this thread into the network namespace of descriptor fd. name: name of that namespace as
 * the user typed it, for msg. Returns 0, or -1 with one line in msg; msg NULL: no message. */
int netns_enter(int fd, const char *name, char *msg, size_t msglen);

#endif
