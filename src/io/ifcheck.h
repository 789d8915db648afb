/* SPDX-License-Identifier: MIT */
/* Checks whether the interface options (--tun, --udp, --addr, --gateway and so on) that the user
 * has given agree with each other. */
#ifndef SCPS_IO_IFCHECK_H
#define SCPS_IO_IFCHECK_H

#include <scps/io.h>

/* Returns the stack's address (option --addr) that belongs to the kernel's address k (option
 * --kernel-addr): the one whose prefix contains k, else the first of the same family; NULL: there
 * is none of that family. */
const struct scps_ifaddr *scps_ifaddr_for(const struct scps_ifopts *o, const struct scps_ifaddr *k);
/* Checks that o->size is the size of the structure in this version of the library. Returns 0, or
 * SCPS_ERR_INVAL with one line in msg. */
int scps_ifcheck_size(const struct scps_ifopts *o, char msg[SCPS_IO_MSGLEN]);

/* Returns true if a is the IPv4 broadcast address of the network that a and `prefix` (a length in
 * bits) give; no host may use that address as a source address (RFC 1122 section 3.2.1.3). A prefix
 * of 31 bits has none (RFC 3021). */
bool scps_ifaddr_is_broadcast(const struct scps_addr *a, unsigned prefix);

#endif
