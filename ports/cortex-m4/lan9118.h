/* SPDX-License-Identifier: MIT */
/* The Ethernet controller of mps2-an386, a LAN9118, as a device for scps_ether_new()'s filter. */
#ifndef SCPS_PORTS_LAN9118_H
#define SCPS_PORTS_LAN9118_H

#include <scps/netif.h>

/* Switches the controller on with this station address. Returns its netif, or NULL when there is no
 * such controller. It has one, which is never closed. */
struct scps_netif *lan9118_open(const uint8_t mac[6]);
/* The next frame that has arrived, without its FCS; its octets are lent until the next call. False:
 * there is none. */
bool lan9118_receive(struct scps_pkt *frame);

#endif
