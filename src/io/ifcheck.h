/* SPDX-License-Identifier: MIT */
/* Checks whether the interface options agree with each other. */
#ifndef SCPS_IO_IFCHECK_H
#define SCPS_IO_IFCHECK_H

#include <scps/io.h>

/* Returns our address that belongs to the kernel's address k: the one that shares a prefix with it,
 * else the first of its family; NULL: there is none of its family. */
const struct scps_ifaddr *scps_ifaddr_for(const struct scps_ifopts *o, const struct scps_ifaddr *k);
/* Checks that the size of the structure is that of this library's version. Returns 0, or
 * SCPS_ERR_INVAL with one line in msg. */
int scps_ifcheck_size(const struct scps_ifopts *o, char msg[SCPS_IO_MSGLEN]);

#endif
