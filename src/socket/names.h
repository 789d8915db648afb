/* SPDX-License-Identifier: MIT */
/* The addresses of a socket: its local address and port, and those of its peer.
 *
 * The socket owns its port while `bound` is true, whether bind() gave the port, or the library has
 * chosen it for connect(), listen() or a send. `bound_port` and `bound_addr` say what bind() gave,
 * which a disconnect keeps. Only names.c assigns these fields.
 */
#ifndef SCPS_SOCKET_NAMES_H
#define SCPS_SOCKET_NAMES_H

#include <scps/conn.h>

struct sock_names {
    /* the address that getsockname() returns; port 0: the socket has no port yet */
    struct scps_endpoint local;
    /* the address that getpeername() returns; family 0: the socket has no peer */
    struct scps_endpoint remote;
    bool bound;      /* true: the socket owns the port local.port */
    bool bound_addr; /* true: bind() has set the local address */
    /* true: bind() has set the local port */
    bool bound_port;
};

/* Initialises *n as the addresses of a new socket. any: the address of a socket that is bound to no
 * address. */
void scps_sock_names_init(struct sock_names *n, const struct scps_addr *any);
/* Called when IPV6_V6ONLY is changed on a socket that is not bound: sets the address that means
 * "any" for it. */
void scps_sock_names_set_any(struct sock_names *n, const struct scps_addr *any);
/* Records an address from bind() without a port: connect() will choose one. */
void scps_sock_names_set_addr(struct sock_names *n, const struct scps_addr *addr);
/* Records that the socket owns the port of `local` from now on. */
void scps_sock_names_take_port(struct sock_names *n, const struct scps_endpoint *local);
/* Frees the port that the library has chosen for a call, because that call has failed. */
void scps_sock_names_free_port(struct sock_names *n);
/* Records whether bind() has set the local address (addr) and the local port (port). */
void scps_sock_names_set_given(struct sock_names *n, bool addr, bool port);
/* Records the local and the remote address of a connection that connect() has begun or accept() has
 * returned, or of a datagram socket that connect() has connected. */
void scps_sock_names_connect(struct sock_names *n, const struct scps_endpoint *local,
                             const struct scps_endpoint *remote);
/* Called when the TCP state has become CLOSED: as in Linux's tcp_set_state(), the socket loses a
 * port that bind() did not give, and other sockets can bind to that port. getsockname() goes on
 * returning it. */
void scps_sock_names_end(struct sock_names *n);
/* Called when the socket is disconnected: removes the address of the peer, a local address that
 * bind() did not set, and the local port if the socket no longer owns it (`bound` is false):
 * scps_sock_names_end() has ended the ownership of a port that bind() did not give. */
void scps_sock_names_disconnect(struct sock_names *n, const struct scps_addr *any);

#endif
