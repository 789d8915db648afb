/* SPDX-License-Identifier: MIT */
/* The queue of PPP control packets (LCP, IPCP, IPV6CP) that the line has not accepted yet. */
#ifndef SCPS_LINK_PPPQ_H
#define SCPS_LINK_PPPQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCPS_PPPQ_ROOM 4096

/* The queue of control packets: two octets of length and two of protocol number precede each
 * packet. Invariant: the packets in it are complete, and len <= SCPS_PPPQ_ROOM. */
struct scps_pppq {
    uint8_t room[SCPS_PPPQ_ROOM];
    size_t len;
};
/* Appends a control packet of protocol `proto`: head_n octets at head, then n octets at data.
 * Returns false if the queue has no room for it. */
bool scps_pppq_put(struct scps_pppq *q, uint16_t proto, const uint8_t *head, size_t head_n,
                   const uint8_t *data, size_t n);
/* Gets protocol number, octets and length of the oldest packet in the queue. Returns false if the
 * queue is empty. */
bool scps_pppq_head(const struct scps_pppq *q, uint16_t *proto, const uint8_t **p, size_t *n);
void scps_pppq_pop(struct scps_pppq *q);

#endif
