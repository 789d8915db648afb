/* SPDX-License-Identifier: MIT */
/* Connection ids of compressed headers: the one octet that stands for the ports (connid.c). */
#ifndef SCPS_STACK_CONNID_H
#define SCPS_STACK_CONNID_H

#include "stack/stack.h"

/* Gives c a connection id that no other connection between its hosts has, or had within TIME-WAIT.
 * Returns false if none is free; c then does without compression. */
bool scps_connid_give(struct scps_stack *st, struct scps_conn *c);
/* Records the connection id that the peer's SYN or SYN-ACK gives c. Precondition: c has an id of
 * this host. sure: the segment acknowledged this host's SYN, so that it is not forged: c has the id
 * from now on, and no other connection of the same peer. Otherwise c gets the id when it completes
 * its handshake. Returns false and records nothing if a listener has created c and another
 * connection of the same peer that has completed its handshake uses the id already. */
bool scps_connid_heard(struct scps_stack *st, struct scps_conn *c, uint8_t id, bool sure);
/* Gives c, which is in SYN-RECEIVED and has sent no SYN-ACK, another initial sequence number, by
 * which its id of the peer is looked up. */
void scps_connid_renumber(struct scps_stack *st, struct scps_conn *c, uint32_t iss);
/* Called when c, whose peer's SYN may have been forged until now, has completed its handshake. */
void scps_connid_established(struct scps_stack *st, struct scps_conn *c);
/* Frees the connection ids of c, if it has any. The id that this host chose is not used again for
 * scps_conn_config.time_wait, if the handshake was completed or this host opened the connection. */
void scps_connid_release(struct scps_stack *st, struct scps_conn *c);
/* Frees the entries of the pairs of hosts whose last connection id has ended its rest. */
void scps_connid_expire(struct scps_stack *st);
/* Returns the connection between `local` and `remote` for which this host (ours true) or the peer
 * (ours false) chose connection id `id`; NULL: there is none. An id of the peer belongs to a
 * connection that has completed its handshake. */
struct scps_conn *scps_connid_find(const struct scps_stack *st, const struct scps_addr *local,
                                   const struct scps_addr *remote, uint8_t id, bool ours);
/* Returns the connection between `local` and `remote` whose peer's SYN announced connection id
 * `id`, and whose handshake a segment with acknowledgement number ack completes; NULL: there is
 * none. */
struct scps_conn *scps_connid_claimant(const struct scps_stack *st, const struct scps_addr *local,
                                       const struct scps_addr *remote, uint8_t id, uint32_t ack);
void scps_connid_free_all(struct scps_stack *st);
/* Adds to s, the memory plan of a stack with fixed memory, what the tables of connection ids for
 * `pairs` pairs of hosts need. */
void scps_connid_plan(struct scps_slots *s, uint32_t pairs);

#endif
