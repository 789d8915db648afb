/* SPDX-License-Identifier: MIT */
/* A queue of control packets of a PPP end that wait for the line. */
#ifndef SCPS_LINK_PPPQ_H
#define SCPS_LINK_PPPQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCPS_PPPQ_ROOM 4096

/* The queue. Each packet has two octets of length and two of protocol before it. Invariant: it
 * holds whole packets only, and len <= SCPS_PPPQ_ROOM. */
struct scps_pppq {
    uint8_t room[SCPS_PPPQ_ROOM];
    size_t len;
};
/* Adds a packet of head_n plus n octets; returns false if it does not fit. */
bool scps_pppq_put(struct scps_pppq *q, uint16_t proto, const uint8_t *head, size_t head_n,
                   const uint8_t *data, size_t n);
/* Returns the oldest packet in *proto, *p and *n; returns false when there is none. */
bool scps_pppq_head(const struct scps_pppq *q, uint16_t *proto, const uint8_t **p, size_t *n);
void scps_pppq_pop(struct scps_pppq *q);

#endif
