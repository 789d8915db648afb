/* SPDX-License-Identifier: MIT */
/* The connection to which the last packet that arrived on a link belonged. Most packets belong to
 * the same connection as the packet before, so its connection need not be looked up.
 *
 * Invariant: `conn` is a connection of the stack, or NULL, because scps_lastflow_forget() is called
 * before a connection is freed. Only this header assigns these fields.
 */
#ifndef SCPS_STACK_LASTFLOW_H
#define SCPS_STACK_LASTFLOW_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct scps_conn;

struct scps_lastflow {
    /* connection of the last IPv4 packet without options; NULL: no such packet has arrived */
    struct scps_conn *conn;
    /* source and destination address, and the ports, of that packet, in the order of the packet */
    uint8_t flow[12];
};

/* Returns the connection of the last packet if that had the same addresses and ports; NULL: it had
 * not. flow: the twelve octets with addresses and ports of the new packet. */
static inline struct scps_conn *scps_lastflow_find(const struct scps_lastflow *l,
                                                   const uint8_t *flow)
{
    /* Comparisons of constant size compile to simple loads. */
    bool same = l->conn && memcmp(flow, l->flow, 8) == 0 && memcmp(flow + 8, l->flow + 8, 4) == 0;

    return same ? l->conn : NULL;
}
static inline void scps_lastflow_set(struct scps_lastflow *l, struct scps_conn *c,
                                     const uint8_t *flow)
{
    l->conn = c;
    memcpy(l->flow, flow, sizeof l->flow);
}
/* Removes connection c from l. Must be called before c is freed. */
static inline void scps_lastflow_forget(struct scps_lastflow *l, const struct scps_conn *c)
{
    if (l->conn == c)
        l->conn = NULL;
}

#endif
