/* SPDX-License-Identifier: MIT */
/* Option --tap NAME: checks it, and puts the Ethernet filter on the kernel's TAP device of that
 * name. */
#ifndef SCPS_IO_IFETHER_H
#define SCPS_IO_IFETHER_H

#include <scps/io.h>

/* Checks the options of --tap. Returns 0, or SCPS_ERR_INVAL with one line in msg. */
int scps_ifether_check(const struct scps_ifopts *o, char *msg);
/* Puts the Ethernet filter on dev, configured with the addresses and gateways of the options.
 * Returns NULL, with one line in msg, if dev is NULL or on an error, after which dev is closed. */
struct scps_netif *scps_ifether_push(const struct scps_ifopts *o, struct scps_netif *dev,
                                     char *msg);

#endif
