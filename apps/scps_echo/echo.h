/* SPDX-License-Identifier: MIT */
/* What the server and the client of scps_echo share: the options and the state of a run. */
#ifndef SCPS_ECHO_ECHO_H
#define SCPS_ECHO_ECHO_H

#include "common/realtime.h"

/* exit statuses of the program */
enum { DONE = 0, FAILED = 1, USAGE = 2, TIMEOUT = 124 };
enum service { ECHO, DISCARD, CHARGEN };

/* A connection of the server. The structure exists from scps_accept() until the peer has
 * acknowledged this end's FIN or the connection is reset, because the connection uses memory until
 * then. */
struct peer {
    /* neighbours in the list of connections, whose order is that in which the server last read from
     * them or wrote to them, the most recent first; NULL: none */
    struct peer *before, *after;
    struct scps_conn *conn;
    enum service service;
    uint64_t sent;
    /* true: this end has read the peer's data up to its FIN, and has sent its own FIN */
    bool leaving;
};

struct app {
    /* options of the command line */
    bool serve, test;
    uint16_t port, discard, chargen;
    uint64_t bytes;
    uint32_t buffer;
    scps_dur time;
    struct scps_ifopts ifopts;
    struct scps_endpoint host;
    /* the stack, event loop and network interface of the program, client or server */
    struct realtime rt;
    /* bytes that the program has read from its connections (in) and written to them (out), all
     * connections together */
    uint64_t in, out;
    /* the following fields are used by the server only */
    /* list of the open connections: the server has read from or written to `first` most recently,
     * and `last` longest ago; NULL: no connection is open */
    struct peer *first, *last;
    unsigned served, open, broken, most;
    /* the following fields are used by the client only */
    struct scps_conn *conn;
    bool finished;
    int status;
    char why[128];
};

/* Size of the buffer through which a connection reads and writes, bytes. */
#define ECHO_CHUNK 65536

/* ---- functions in server.c: echo, discard and character generator for the connections ---- */

/* Fills in the lines that the character generator service (RFC 864) sends. Call it before the first
 * connection is accepted. */
void echo_make_lines(void);
/* Listens on `port` for connections that get the service *service; the listener keeps the pointer.
 * Returns DONE; or FAILED, with a message on standard error. */
int echo_listen(struct app *a, const struct scps_conn_config *cfg, uint16_t port,
                enum service *service);
/* Accepts the connections that wait at listener l, and processes the data that they have received
 * already. */
void echo_accept(struct app *a, struct scps_listener *l);
/* Called when connection p may have data to read or room to write: reads and writes as much as its
 * receive buffer and send buffer permit. Does not block. */
void echo_serve(struct app *a, struct peer *p);
/* Ends connection p and frees p. broken: true to reset the connection (RST), false to close it
 * (FIN). */
void echo_drop(struct app *a, struct peer *p, bool broken);

/* ---- functions in client.c, which send a pattern and compare what returns ---- */

/* Handles an event of the client's connection: sends more of the pattern, compares what the server
 * has returned, and ends the run when all of it has returned or the connection has failed. */
void echo_client_event(struct app *a, const struct scps_event *e);

#endif
