/* SPDX-License-Identifier: MIT */
/* The option --ppp (PPP over a terminal line): parses its value, opens the line with the PPP filter
 * on it, and waits until the peer has opened the link, too. */
#ifndef SCPS_IO_IFPPP_H
#define SCPS_IO_IFPPP_H

#include <scps/io.h>

/* scps_ifppp_parse() parses the value of --ppp, scps_ifppp_check() checks whether it fits the other
 * interface options. Both return 0, or SCPS_ERR_* with one line in msg. */
int scps_ifppp_parse(struct scps_ifopts *o, const char *value, char *msg);
int scps_ifppp_check(const struct scps_ifopts *o, char *msg);
/* Opens the terminal line as a netif, and stacks a PPP filter on it: a netif that negotiates the
 * PPP link, puts IP packets into PPP frames and takes them out of received ones. Returns the
 * filter; NULL with one line in msg on failure. */
struct scps_netif *scps_ifppp_open(const struct scps_ifopts *o, char *msg);
/* Runs the loop until the PPP link below top is open. *local gets the IPv4 address of this end.
 * Returns 0, or an error with one line in msg. */
int scps_ifppp_await(const struct scps_ifopts *o, struct scps_loop *l, struct scps_netif *top,
                     struct scps_addr *local, char *msg);

#endif
