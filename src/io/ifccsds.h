/* SPDX-License-Identifier: MIT */
/* The option --ccsds (IP packets in CCSDS transfer frames): parses its value, and opens the UDP
 * socket or terminal line with the CCSDS filter on it. */
#ifndef SCPS_IO_IFCCSDS_H
#define SCPS_IO_IFCCSDS_H

#include <scps/io.h>

/* scps_ifccsds_parse() parses the value of --ccsds, scps_ifccsds_check() checks whether it fits the
 * other interface options. Both return 0, or SCPS_ERR_INVAL with an error message of one line in
 * msg. */
int scps_ifccsds_parse(struct scps_ifopts *o, const char *value, char *msg);
int scps_ifccsds_check(const struct scps_ifopts *o, char *msg);
/* Opens the UDP socket or terminal line as a netif, and stacks a CCSDS filter on it: a netif that
 * puts IP packets into transfer frames and takes them out of received ones. Returns the filter;
 * NULL with one line in msg on failure. */
struct scps_netif *scps_ifccsds_open(const struct scps_ifopts *o, char *msg);

#endif
