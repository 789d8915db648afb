/* SPDX-License-Identifier: MIT */
/* The objects of the stack that a socket owns, like BSD's protocol control block: a connection, a
 * listener or an endpoint of datagrams, or none of them.
 *
 * Invariant: at most one of the three pointers is not NULL. The object has the user pointer that
 * was given when it was opened; the stack's events contain that pointer, and so lead to the socket.
 * A connection is kept after its end until the socket is closed or disconnected, because data that
 * arrived before can still be read. Only pcb.c assigns these fields.
 */
#ifndef SCPS_SOCKET_PCB_H
#define SCPS_SOCKET_PCB_H

#include <scps/conn.h>
#include <scps/dgram.h>
#include <scps/stack.h>

struct sock_pcb {
    struct scps_conn *conn;
    struct scps_listener *lis;
    struct scps_dgram *dg;
};

/* Each of these functions opens an object of the stack (connection, listener, datagram endpoint)
 * and stores it in *p. user: the pointer that the events of the object will contain. Returns 0, or
 * SCPS_ERR_* and then changes nothing. Precondition: *p has no object. */
int scps_sock_pcb_connect(struct sock_pcb *p, struct scps_stack *st,
                          const struct scps_conn_config *cfg, const struct scps_endpoint *local,
                          const struct scps_endpoint *remote, void *user);
int scps_sock_pcb_listen(struct sock_pcb *p, struct scps_stack *st,
                         const struct scps_conn_config *cfg, const struct scps_endpoint *local,
                         unsigned backlog, void *user);
int scps_sock_pcb_open_dgram(struct sock_pcb *p, struct scps_stack *st,
                             const struct scps_dgram_config *cfg, const struct scps_endpoint *local,
                             void *user);
/* Takes the oldest connection that waits to be accepted from listener lis into *p and makes `user`
 * the pointer that its events contain. Returns false if none waits. */
bool scps_sock_pcb_accept(struct sock_pcb *p, struct scps_listener *lis, void *user);

/* Closes the connection, with a RST (reset true) or a FIN (reset false), or the listener, and
 * removes it from *p. */
void scps_sock_pcb_release(struct sock_pcb *p, bool reset);
/* Closes the endpoint of datagrams, if there is one. */
void scps_sock_pcb_close_dgram(struct sock_pcb *p);
/* Removes the objects from *p without closing them, because the stack is being freed and frees
 * them. */
void scps_sock_pcb_forget(struct sock_pcb *p);

#endif
