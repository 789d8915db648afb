/* SPDX-License-Identifier: MIT */
/* State of one station (this host) on an Ethernet: ether.c sends and receives, etheropen.c opens
 * the station and reports its counters. */
#ifndef SCPS_LINK_ETHER_H
#define SCPS_LINK_ETHER_H

#include "link/neigh.h"
#include "link/reply_limit.h"

struct scps_ether {
    struct scps_netif nif;
    struct scps_alloc alloc;
    size_t size;
    struct scps_ether_config cfg;
    struct scps_nbrs nbrs;
    /* limit of the rate of replies to ARP requests and Neighbour Solicitations */
    struct scps_reply_limit replies;
    scps_time now;
    /* true: the driver has called scps_netif_advance(), which sets `now`; false: `now` is not known
     * yet */
    bool begun;
    struct scps_ether_status stats;
    uint8_t *tx; /* buffer for a frame being sent */
};

/* ---- functions in ethergroup.c, for group addresses ---- */
/* Computes the solicited-node group of address a (RFC 4291 section 2.7.1) and its MAC address. */
void scps_ether_solicited_node(const struct scps_addr *a, struct scps_addr *group, uint8_t mac[6]);
/* Computes the MAC address for a, a multicast address of IPv4 or IPv6 or an IPv4 broadcast address.
 * Returns false if a is neither. */
bool scps_ether_group_mac(const struct scps_ether *e, const struct scps_addr *a, uint8_t mac[6]);
/* Gets the source and destination address of the IP packet of n octets at p. Returns false if it
 * has no complete IP header. */
bool scps_ether_addresses(const uint8_t *p, size_t n, struct scps_addr *src, struct scps_addr *dst);
/* Returns true if the destination of the IP packet of n octets at p is a multicast or broadcast
 * address. */
bool scps_ether_is_to_group(const struct scps_ether *e, const uint8_t *p, size_t n);

/* ---- functions in ether.c, which send and receive frames ---- */
/* Drops the packets with source address a that wait for a neighbour's MAC address. */
void scps_ether_drop_held(struct scps_ether *e, const struct scps_addr *a);
/* Sets the functions (scps_netif_ops) of e->nif. Called when the station is opened. */
void scps_ether_wire(struct scps_ether *e);

#endif
