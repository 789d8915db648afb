/* SPDX-License-Identifier: MIT */
/* The state of a socket, as in Linux's struct socket and struct sock: progress of connect(), which
 * directions are shut down, the peer's FIN, the end of the connection, pending errors.
 *
 * Invariants: every direction in `shut_app`, for which the application has called shutdown(), is
 * also in `shut`, the directions that are shut down for any reason; a socket whose connection has
 * ended has both directions in `shut`. Only life.c assigns these fields.
 */
#ifndef SCPS_SOCKET_LIFE_H
#define SCPS_SOCKET_LIFE_H

#include <stdbool.h>
#include <stdint.h>

/* Progress of connect(), with the values of Linux's socket_state. */
enum ss { SS_UNCONNECTED, SS_CONNECTING, SS_CONNECTED, SS_DISCONNECTING };

/* Flags of directions that are shut down, with the values of Linux's RCV_SHUTDOWN and
 * SEND_SHUTDOWN. */
#define SHUT_RCV  1u
#define SHUT_SEND 2u

struct sock_life {
    enum ss ss;
    /* directions that are shut down, by shutdown(), by the peer's FIN or because the connection has
     * ended: bit set of SHUT_RCV and SHUT_SEND, 0: none (Linux's sk_shutdown) */
    unsigned shut;
    /* directions for which the application has called shutdown(): bit set of SHUT_RCV and
     * SHUT_SEND, 0: none */
    unsigned shut_app;
    bool fin_received; /* true: the peer's FIN has arrived in order (Linux's SOCK_DONE) */
    bool ended;        /* true: the connection has ended (Linux's TCP_CLOSE) */
    int err;           /* pending error, positive errno value: Linux's sk_err; 0: none */
    unsigned icmp;     /* ICMP error, type << 8 | code, that SO_ERROR has reported last; 0: none */
    /* number of bytes that the connection had received when shutdown() had shut down both
     * directions; if more arrive, the connection is reset (RFC 1122 section 4.2.2.13) */
    uint64_t received_at_shut;
};

/* Records that connect() has begun: clears the state of an earlier connection. */
void scps_sock_life_connecting(struct sock_life *l);
/* Records that the socket has an established connection, because the handshake of connect() is
 * complete or accept() has returned the socket. */
void scps_sock_life_connected(struct sock_life *l);
/* Records that shutdown() was called during the handshake of connect(), so that another connect()
 * fails. */
void scps_sock_life_disconnecting(struct sock_life *l);
/* Records that listen() has begun. */
void scps_sock_life_listening(struct sock_life *l);
/* Sets *l to the state of a socket without a connection. A pending error stays. */
void scps_sock_life_disconnected(struct sock_life *l);

/* Records that the application has shut down the directions in `bits`, a set of the flags SHUT_RCV
 * and SHUT_SEND (not the SHUT_RD, SHUT_WR or SHUT_RDWR of shutdown()). */
void scps_sock_life_shutdown(struct sock_life *l, unsigned bits);
/* Records shutdown() of the sending direction of a listening socket, which continues to listen (as
 * in Linux). */
void scps_sock_life_shutdown_listener(struct sock_life *l);
/* Records that shutdown() has shut down both directions when `received` bytes had arrived. */
void scps_sock_life_set_received(struct sock_life *l, uint64_t received);
/* Returns true if data has arrived after shutdown() of both directions, for which RFC 1122 section
 * 4.2.2.13 requires a reset. received: number of bytes that have arrived. */
bool scps_sock_life_refuses_data(const struct sock_life *l, uint64_t received);

/* Records that the peer's FIN has arrived in order. */
void scps_sock_life_fin(struct sock_life *l);
/* Records that the connection has ended; err: positive errno value, 0: no error. */
void scps_sock_life_end(struct sock_life *l, int err);

/* Makes err, a positive errno value, the pending error; 0: there is none. */
void scps_sock_life_set_error(struct sock_life *l, int err);
/* Returns the pending error and clears it; 0: there was none. */
int scps_sock_life_take_error(struct sock_life *l);
/* Returns true if `icmp`, an error that has not ended the connection, was not reported yet, and
 * records that it is reported. icmp 0: there is no error. */
bool scps_sock_life_report_icmp(struct sock_life *l, unsigned icmp);

#endif
