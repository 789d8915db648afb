/* SPDX-License-Identifier: MIT */
/* The interface options beside each other. */
#ifndef SCPS_IO_IFCHECK_H
#define SCPS_IO_IFCHECK_H

#include <scps/io.h>

/* Our address that belongs to the kernel's k: the one it shares a prefix with, else the first of
 * its family; NULL: there is none of its family. */
const struct scps_ifaddr *scps_ifaddr_for(const struct scps_ifopts *o, const struct scps_ifaddr *k);

#endif
