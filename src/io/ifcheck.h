/* SPDX-License-Identifier: MIT */
/* The interface options beside each other. */
#ifndef SCPS_IO_IFCHECK_H
#define SCPS_IO_IFCHECK_H

#include <scps/io.h>

/* Our address that belongs to the kernel's k: the one it shares a prefix with, else the first of
 * its family; NULL: there is none of its family. */
const struct scps_ifaddr *scps_ifaddr_for(const struct scps_ifopts *o, const struct scps_ifaddr *k);
/* Checks that the structure is that of this library. Returns 0, or SCPS_ERR_INVAL with one line in
 * msg. */
int scps_ifcheck_size(const struct scps_ifopts *o, char msg[SCPS_IO_MSGLEN]);

#endif
