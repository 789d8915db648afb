/* SPDX-License-Identifier: MIT */
/* The option --tap: Ethernet on the device that it names. */
#ifndef SCPS_IO_IFETHER_H
#define SCPS_IO_IFETHER_H

#include <scps/io.h>

/* Checks the options of --tap. Returns 0, or SCPS_ERR_INVAL with one line in msg. */
int scps_ifether_check(const struct scps_ifopts *o, char *msg);
/* Pushes a station with the addresses and gateways of the options on dev. Returns NULL, with one
 * line in msg, for dev NULL or on an error (then dev is closed). */
struct scps_netif *scps_ifether_push(const struct scps_ifopts *o, struct scps_netif *dev,
                                     char *msg);

#endif
