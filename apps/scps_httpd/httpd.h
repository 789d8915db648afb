/* SPDX-License-Identifier: MIT */
/* What the files of scps_httpd share: the state of a client, and that of the program. */
#ifndef SCPS_HTTPD_HTTPD_H
#define SCPS_HTTPD_HTTPD_H

#include "common/realtime.h"

#include <sys/stat.h>

#define REQUEST_MAX 4096 /* largest length of a request line with its headers, bytes */
#define CLIENTS_MAX 256  /* largest number of clients that have a place, and so are served */

struct client {
    struct client *next, **link;
    struct scps_conn *conn;
    char request[REQUEST_MAX + 1];
    size_t have;
    bool answering, head_only;
    int status;       /* status code of the response; 0 before there is one */
    uint64_t content; /* length of the response's body, or of the one that HEAD leaves out, bytes */
    const char *type; /* media type of the file, for a response with status 200 */
    char header[512]; /* status line and headers of the response, or a short response as a whole */
    size_t header_len, header_sent;
    int file; /* descriptor of the file; -1: none is open */
    /* size: length of the file, bytes, when the response began; position: number of its bytes
     * written to the connection */
    uint64_t size, position;
    /* true: the whole response is written, and the structure is freed when the peer has
     * acknowledged it */
    bool leaving;
    /* true: the client has none of the CLIENTS_MAX places. It waits for one, or, if it is being
     * answered, gets the response 503. */
    bool waiting;
    /* stack time, µs, at which the connection was accepted, or at which the client got a place */
    scps_time accepted;
};

struct app {
    uint16_t port;
    const char *root;
    scps_dur time;
    bool quiet;
    struct scps_ifopts ifopts;
    int root_fd;
    struct realtime rt;
    struct scps_listener *listener;
    struct client *clients;
    /* open: clients that have a place; waiting: the others; served: responses; refused: those of
     * them with status 503 */
    unsigned open, waiting, served, refused;
    uint64_t bytes;
    ev_timer look; /* calls on_look() */
};

/* ---- functions in path.c, which decode a path and open its file below the root ---- */

/* Decodes percent escapes such as %41 in path, in place, and removes a query behind '?'. Returns
 * false for malformed escapes and for %00. */
bool httpd_decode(char *path);
/* Opens the regular file `path` below the folder with descriptor `root`, and sets *st. Returns its
 * descriptor; -1 for anything else than a regular file, for "..", and for symbolic links. */
int httpd_open_below(int root, char *path, struct stat *st);

/* ---- functions in client.c, which serve the connection of one client ---- */

/* Makes the response to client c with this status code and its description `words`; httpd_step()
 * sends it. size: length of the file, bytes, if the status is 200; otherwise ignored, and the body
 * is a line with status and description. */
void httpd_answer(struct app *a, struct client *c, int status, const char *words, uint64_t size);
/* Called when the connection of client c may have data to read or room to write: advances request
 * and response as far as possible without waiting, and frees c when its connection ends. Does
 * nothing while c waits for a place. */
void httpd_step(struct app *a, struct client *c);
/* Ends the connection of client c and frees c. whole: the client has acknowledged the whole
 * response, or the connection has ended already. */
void httpd_drop(struct app *a, struct client *c, bool whole);

#endif
