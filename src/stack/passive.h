/* SPDX-License-Identifier: MIT */
/* Passive opens: the functions of listeners.c and listen.c (struct scps_listener is in stack.h). */
#ifndef SCPS_STACK_PASSIVE_H
#define SCPS_STACK_PASSIVE_H

#include <scps/wire.h>

#include "core/env.h"
#include "stack/nif.h"

struct scps_flow;

/* ---- listeners.c: the half-open connections of a listener, and those waiting for accept ---- */
/* Returns the listener for a flow to local address and port; NULL if there is none. */
struct scps_listener *scps_listener_find(const struct scps_stack *st, const struct scps_addr *local,
                                         uint16_t port);
/* Adds c, which was just created for a SYN or a SYN cookie, to the half-open connections of
 * listener l. */
void scps_listener_join(struct scps_listener *l, struct scps_conn *c);
/* Returns true if connection c may become ESTABLISHED: it belongs to no listener, or its listener
 * has fewer connections waiting to be accepted than its backlog. */
bool scps_listener_has_room(const struct scps_conn *c);
/* Returns the limit for the half-open connections of all listeners of st together: half of
 * max_conns, and no more than a quarter of memory_limit can hold, but 1 at least. Forged SYNs thus
 * leave places and memory to other connections. */
uint32_t scps_half_open_most(const struct scps_stack *st);
/* Returns true if a quarter or more of the half-open connections that l, or all listeners together,
 * may have is in use: so many are unlikely to come from honest clients. */
bool scps_listener_has_many(const struct scps_listener *l);
/* Returns the half-open connection of any listener that has waited longest; NULL: there is none. */
struct scps_conn *scps_half_open_oldest(const struct scps_stack *st);
/* Called when the SYN-ACK of c was not answered in time, charges another one to the token bucket of
 * replies (reply.c) if c is half-open for a listener. Returns false, and counts the drop, if the
 * bucket does not permit that. */
bool scps_listener_may_repeat(const struct scps_conn *c);
/* Moves c from its listener's half-open connections to those that wait to be accepted. */
void scps_listener_established(struct scps_env *env, struct scps_conn *c);
/* Sets *ev to the SCPS_EV_ACCEPT of the first listener in st->ev_listeners. Precondition:
 * st->ev_listeners is not empty. */
void scps_listener_event(struct scps_stack *st, struct scps_event *ev);
/* Removes the pending SCPS_EV_ACCEPT of listener l, because the application fetches that event now
 * or closes l. */
void scps_listener_unqueue(struct scps_listener *l);
/* Drops the half-open connection c, without a message to the peer, because a later SYN needs its
 * place among the half-open connections. c is freed by the next scps_stack_reap(). */
void scps_listener_evict(struct scps_stack *st, struct scps_conn *c);
/* Returns the listener for which c is half-open or waits to be accepted; NULL: this host opened c,
 * or c was accepted. */
struct scps_listener *scps_conn_listener(const struct scps_conn *c);
/* Removes c, which ended before it was accepted, from its listener. */
void scps_listener_forget(struct scps_conn *c);

/* ---- functions in listen.c, which process segments to a listener ---- */
/* Processes a segment to listener l, of a flow without a connection: a SYN creates a half-open
 * connection or is answered with a cookie, and the ACK of a cookie creates a connection. Returns 0,
 * or the reason (enum scps_drop) for which the segment was dropped and counted. */
int scps_listener_input(struct scps_listener *l, struct scps_nif *nif, const struct scps_flow *f,
                        const struct scps_seg *seg);
/* Processes seg, which acknowledges another number than that of the SYN-ACK of c, a half-open
 * connection of l. If seg acknowledges a SYN cookie, c was created by a repetition of the SYN that
 * the cookie has answered: c is freed, and the cookie opens the connection. Otherwise seg is
 * dropped, and answered by a reset (RFC 9293 section 3.10.7.4, fifth check), unless it may follow
 * an acknowledgement of a cookie that was lost. Returns as scps_listener_input(). */
int scps_listener_other_ack(struct scps_listener *l, struct scps_nif *nif, struct scps_conn *c,
                            const struct scps_seg *seg);
void scps_listener_free_all(struct scps_stack *st);

#endif
