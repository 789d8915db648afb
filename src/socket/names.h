/* SPDX-License-Identifier: MIT */
/* The names of a socket: its local address and port, and those of its peer.
 *
 * A port is the socket's for as long as it is `bound`, whether bind() gave it or it was chosen;
 * `bound_port` and `bound_addr` say what bind() gave, which a disconnect keeps. Only names.c
 * assigns these fields.
 */
#ifndef SCPS_SOCKET_NAMES_H
#define SCPS_SOCKET_NAMES_H

#include <scps/conn.h>

struct sock_names {
    struct scps_endpoint local;  /* what getsockname() returns; port 0: none yet */
    struct scps_endpoint remote; /* what getpeername() returns; family 0: no peer */
    bool bound;                  /* local.port is the socket's */
    bool bound_addr;             /* bind() gave the address */
    bool bound_port;             /* bind() gave the port */
};

/* Makes *n that of a new socket. any: the address of a socket bound to no address. */
void scps_sock_names_init(struct sock_names *n, const struct scps_addr *any);
/* SO_IPV6_V6ONLY has changed the address of a socket that is not bound. */
void scps_sock_names_set_any(struct sock_names *n, const struct scps_addr *any);
/* bind() has given an address, without a port: connect() chooses one. */
void scps_sock_names_set_addr(struct sock_names *n, const struct scps_addr *addr);
/* The socket has the port of local from now on. */
void scps_sock_names_take_port(struct sock_names *n, const struct scps_endpoint *local);
/* Frees a port that was chosen for a call that has failed. */
void scps_sock_names_free_port(struct sock_names *n);
/* Records what bind() gave. */
void scps_sock_names_set_given(struct sock_names *n, bool addr, bool port);
/* The socket is connected. */
void scps_sock_names_connect(struct sock_names *n, const struct scps_endpoint *local,
                             const struct scps_endpoint *remote);
/* The TCP state has become CLOSED: as in Linux's tcp_set_state(), a port that bind() did not give
 * is the socket's no longer, and it can be bound again. getsockname() goes on returning it. */
void scps_sock_names_end(struct sock_names *n);
/* The socket is unconnected: an address that bind() did not give and a port that is not the
 * socket's any more are forgotten. */
void scps_sock_names_disconnect(struct sock_names *n, const struct scps_addr *any);

#endif
