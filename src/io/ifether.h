/* SPDX-License-Identifier: MIT */
/* The option --tap NAME: checks the options that go with it, opens an Ethernet filter (a netif that
 * puts IP packets into Ethernet frames) and pushes it onto the kernel's TAP device NAME. */
#ifndef SCPS_IO_IFETHER_H
#define SCPS_IO_IFETHER_H

#include <scps/io.h>

/* Checks the options given with --tap: each --addr must have a prefix length, --mtu must be 576 to
 * 9000 if given. Returns 0, or SCPS_ERR_INVAL with one line in msg. */
int scps_ifether_check(const struct scps_ifopts *o, char *msg);
/* Pushes an Ethernet filter (ARP, Neighbour Discovery, Ethernet headers) onto the TAP device dev,
 * with the addresses and gateways of the options and a random MAC address. Returns the filter.
 * Returns NULL, with one line in msg, if dev is NULL or on an error, after which dev is closed. */
struct scps_netif *scps_ifether_push(const struct scps_ifopts *o, struct scps_netif *dev,
                                     char *msg);

#endif
