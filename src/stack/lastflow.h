/* SPDX-License-Identifier: MIT */
/* The connection of the last packet of a link: most packets belong to the same connection as the
 * one before, which then needs no lookup.
 *
 * Invariant: `conn` is a connection of the stack, or NULL; whoever frees a connection calls
 * scps_lastflow_forget() first. Only this header assigns these fields.
 */
#ifndef SCPS_STACK_LASTFLOW_H
#define SCPS_STACK_LASTFLOW_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct scps_conn;

struct scps_lastflow {
    struct scps_conn *conn; /* NULL: no packet of IPv4 without options has come yet */
    uint8_t flow[12];       /* addresses and ports of that packet, in the order in the packet */
};

/* Returns the connection of the last packet, if `flow`, the twelve bytes with addresses and ports
 * in the order in the packet, is the same; NULL: it is another flow. */
static inline struct scps_conn *scps_lastflow_find(const struct scps_lastflow *l,
                                                   const uint8_t *flow)
{
    /* Two comparisons of constant size compile to two loads. */
    bool same = l->conn && memcmp(flow, l->flow, 8) == 0 && memcmp(flow + 8, l->flow + 8, 4) == 0;

    return same ? l->conn : NULL;
}
static inline void scps_lastflow_set(struct scps_lastflow *l, struct scps_conn *c,
                                     const uint8_t *flow)
{
    l->conn = c;
    memcpy(l->flow, flow, sizeof l->flow);
}
/* Must be called before connection c is freed. */
static inline void scps_lastflow_forget(struct scps_lastflow *l, const struct scps_conn *c)
{
    if (l->conn == c)
        l->conn = NULL;
}

#endif
