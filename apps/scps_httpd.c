/* SPDX-License-Identifier: MIT */
/* A small file server on a stack of this program: HTTP/1.0, GET and HEAD, one request a connection.
 *
 *     scps_httpd --root /usr/share/doc --tun scps0 --addr 10.9.0.2/24 --kernel-addr 10.9.0.1
 *     curl http://10.9.0.2/base-files/README
 *
 * An example of a protocol as a state machine: a connection collects its request, then sends the
 * response, then ends. Each event advances it as far as possible; a full send buffer ends the step,
 * not the program. It sends only what RFC 1945 makes every client understand: a status line, a
 * length, the end of the connection.
 *
 * Files are opened below the root one path component at a time without following symbolic links, so
 * no request can reach a file outside it.
 */
#include <fcntl.h>
#include <getopt.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/completion.h"
#include "common/hangup.h"
#include "common/realtime.h"
#include "common/stdfds.h"

enum { DONE = 0, FAILED = 1, USAGE = 2 };

#define REQUEST_MAX 4096 /* largest length of a request line with its headers, bytes */
#define CLIENTS_MAX 256
#define BACKLOG     64 /* largest number of connections in the listener's queue */
/* largest number of clients that wait while there are CLIENTS_MAX others, and of clients beyond
 * these that are being told so */
#define WAITING_MAX 64
/* Time, µs, in which a client must have sent its whole request. Also the user timeout and the
 * keep-alive idle time of each connection, by which a client that has vanished, or does not read,
 * is detected. */
#define PATIENCE SCPS_SEC(30)
#define LOOK     SCPS_SEC(1) /* interval of the check for clients without a request, µs */
/* time, µs, for which a client may wait with its request although others wait to be accepted */
#define GRACE SCPS_SEC(5)
/* longest time, µs, for which a client waits for a place */
#define WAIT_MAX SCPS_SEC(30)

static const char help[] =
    "usage: scps_httpd [options] INTERFACE\n"
    "Serves files by HTTP/1.0. Defaults are in parentheses.\n"
    "\n"
    "  -p, --port PORT         port of the server (80)\n"
    "      --root DIR          folder with the files to serve (.)\n"
    "      --time SEC          stop after SEC seconds (on SIGINT only)\n"
    "  -q, --quiet             print no line for each request\n"
    "  -h, --help              print this help\n"
    "      --completion SHELL  print the completion of these options in bash\n"
    "  -V, --version           print the version\n"
    "\nINTERFACE:\n";

static const char help_end[] = "\nExit status: 0 done (SIGINT included), 1 failed, 2 usage.\n";

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

/* ---- functions that decode a path and open its file below the root ---- */

static int unhex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Decodes percent escapes such as %41 in path, in place, and removes a query behind '?'. Returns
 * false for malformed escapes and for %00. */
static bool decode(char *path)
{
    char *out = path;
    for (char *p = path; *p && *p != '?' && *p != '#'; p++) {
        if (*p == '%') {
            int hi = unhex(p[1]), lo = hi < 0 ? -1 : unhex(p[2]);
            if (lo < 0 || hi * 16 + lo == 0)
                return false;
            *out++ = (char)(hi * 16 + lo);
            p += 2;
        } else {
            *out++ = *p;
        }
    }
    *out = 0;
    return true;
}

/* Opens the regular file `path` below the folder with descriptor `root`, and sets *st. Returns its
 * descriptor; -1 for anything else than a regular file, for "..", and for symbolic links. */
static int open_below(int root, char *path, struct stat *st)
{
    char *save = NULL, *name = strtok_r(path, "/", &save), *next;
    int dir = dup(root), fd = -1;
    while (dir >= 0 && name && strcmp(name, "..") != 0) {
        next = strtok_r(NULL, "/", &save);
        fd = openat(dir, name,
                    O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | (next ? O_DIRECTORY : 0));
        close(dir);
        dir = fd;
        name = next;
        fd = -1;
        if (!name) {
            fd = dir;
            dir = -1;
        }
    }
    if (dir >= 0)
        close(dir);
    if (fd >= 0 && (fstat(fd, st) || !S_ISREG(st->st_mode))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* ---- functions that serve the connection of one client ---- */

/* Returns how many bytes of the response's body client c has acknowledged. */
static uint64_t delivered(const struct client *c)
{
    size_t body = c->status == 200 || c->head_only ? 0 : (size_t)c->content;
    uint64_t acked = c->header_sent + c->position - scps_conn_unacked(c->conn);
    return acked > c->header_len - body ? acked - (c->header_len - body) : 0;
}

/* Prints the line of the log for client c, whose response has ended, and counts its bytes. */
static void log_response(struct app *a, struct client *c)
{
    struct scps_endpoint who;
    char text[SCPS_ADDR_STRLEN];
    uint64_t body = delivered(c), wanted = c->head_only ? 0 : c->content;
    if (c->status == 200)
        a->bytes += body;
    if (a->quiet)
        return;
    scps_conn_remote(c->conn, &who);
    c->request[strcspn(c->request, "\r\n")] = 0;
    /* In the request line each character that is not printable ASCII is replaced by '?', because
     * control characters could affect the terminal on which the log is shown. */
    for (char *p = c->request; *p; p++)
        if (*p < ' ' || *p > '~')
            *p = '?';
    fprintf(stderr, "%s %d %llu \"%s\"", scps_addr_format(&who.addr, text), c->status,
            (unsigned long long)body, c->request);
    if (body < wanted)
        fprintf(stderr, " incomplete: of %llu bytes", (unsigned long long)wanted);
    fprintf(stderr, "\n");
}

/* Ends the connection of client c and frees c. whole: the client has acknowledged the whole
 * response, or the connection has ended already. */
static void drop(struct app *a, struct client *c, bool whole)
{
    *(c->waiting ? &a->waiting : &a->open) -= 1;
    if (c->answering)
        log_response(a, c);
    if (whole)
        scps_conn_close(c->conn);
    else
        /* The response is incomplete, so the connection is reset, which shows the client that
         * something is missing. */
        scps_conn_abort(c->conn);
    *c->link = c->next;
    if (c->next)
        c->next->link = c->link;
    if (c->file >= 0)
        close(c->file);
    free(c);
}

static void answer(struct app *a, struct client *c, int status, const char *words, uint64_t size)
{
    char body[64] = "";
    if (status != 200) {
        snprintf(body, sizeof body, "%d %s\n", status, words);
        size = strlen(body);
    }
    c->header_len = (size_t)snprintf(c->header, sizeof c->header,
                                     "HTTP/1.0 %d %s\r\nServer: scps_httpd/" SCPS_VERSION "\r\n"
                                     "Content-Type: %s\r\nContent-Length: %llu\r\n\r\n%s",
                                     status, words, status == 200 ? c->type : "text/plain",
                                     (unsigned long long)size, c->head_only ? "" : body);
    c->answering = true;
    c->status = status;
    c->content = size;
    a->served++;
}

/* Called when the request of client c is complete: chooses the response, and opens the file to
 * send. */
static void decide(struct app *a, struct client *c)
{
    static const char index[] = "index.html", html[] = ".html";
    char line[REQUEST_MAX + sizeof index], *save = NULL;
    size_t len;
    struct stat st;
    memcpy(line, c->request, c->have + 1);
    line[strcspn(line, "\r\n")] = 0;
    char *method = strtok_r(line, " ", &save), *target = strtok_r(NULL, " ", &save);
    if (!method || !target || *target != '/' || !decode(target)) {
        answer(a, c, 400, "Bad Request", 0);
        return;
    }
    c->head_only = strcmp(method, "HEAD") == 0;
    if (!c->head_only && strcmp(method, "GET") != 0) {
        answer(a, c, 501, "Not Implemented", 0);
        return;
    }
    len = strlen(target);
    if (target[len - 1] == '/')
        memcpy(target + len, index, sizeof index);
    len = strlen(target);
    c->type = len >= sizeof html && strcmp(target + len - strlen(html), html) == 0
                  ? "text/html"
                  : "application/octet-stream";
    c->file = open_below(a->root_fd, target, &st);
    if (c->file < 0) {
        answer(a, c, 404, "Not Found", 0);
        return;
    }
    c->size = (uint64_t)st.st_size;
    answer(a, c, 200, "OK", c->size);
    if (c->head_only)
        c->size = 0;
}

/* Reads the request of client c. Returns 1 when it is complete; SCPS_ERR_AGAIN if more has to
 * arrive; or the error that ended the connection. */
static int64_t collect(struct app *a, struct client *c)
{
    int64_t n = 0;
    while (!c->answering) {
        n = scps_conn_read(c->conn, c->request + c->have, REQUEST_MAX - c->have, 0);
        if (n < 0)
            return n;
        c->have += (size_t)n;
        c->request[c->have] = 0;
        if (strstr(c->request, "\r\n\r\n") || strstr(c->request, "\n\n"))
            decide(a, c);
        else if (c->have == REQUEST_MAX || strlen(c->request) < c->have)
            answer(a, c, 400, "Bad Request", 0);
        else if (n == 0)
            return SCPS_ERR_EOF;
    }
    return 1;
}

/* Writes as much of the response to client c as the send buffer takes. Returns 0 when all is
 * written; SCPS_ERR_AGAIN if the buffer is full; SCPS_ERR_SYSTEM if the file has become shorter; or
 * the error that ended the connection. */
static int64_t write_response(struct client *c)
{
    static uint8_t buf[65536];
    int64_t w;
    while (c->header_sent < c->header_len) {
        w = scps_conn_write(c->conn, c->header + c->header_sent, c->header_len - c->header_sent,
                            c->size ? SCPS_MORE : 0);
        if (w < 0)
            return w;
        c->header_sent += (size_t)w;
    }
    while (c->position < c->size) {
        uint64_t left = c->size - c->position;
        ssize_t n =
            pread(c->file, buf, left < sizeof buf ? (size_t)left : sizeof buf, (off_t)c->position);
        if (n <= 0)
            return SCPS_ERR_SYSTEM; /* The file has become shorter since its size was read. */
        w = scps_conn_write(c->conn, buf, (size_t)n, (uint64_t)n < left ? SCPS_MORE : 0);
        if (w < 0)
            return w;
        c->position += (uint64_t)w;
    }
    return 0;
}

static void step(struct app *a, struct client *c)
{
    int64_t n;

    if (c->waiting && !c->answering)
        return;
    n = c->leaving ? 1 : collect(a, c);
    if (n == 1) {
        n = c->leaving ? 0 : write_response(c);
        /* The body of a request is read and discarded: unread data would make the stack reset the
         * connection at the close. */
        while (scps_conn_read(c->conn, NULL, REQUEST_MAX, 0) > 0)
            ;
    }
    if (n == 0 && !c->leaving) {
        c->leaving = true;
        scps_conn_shutdown(c->conn);
    } else if (n == 0 && !scps_conn_unacked(c->conn)) {
        drop(a, c, true);
    } else if (n != 0 && n != SCPS_ERR_AGAIN && n != SCPS_ERR_NOMEM) {
        drop(a, c, false);
    }
}

/* Called when another client waits and there are CLIENTS_MAX clients: resets the one that has been
 * connected for longest without a request, so that such clients cannot keep others out. A client
 * that gets a response keeps its place, and so does a new one for GRACE. Returns false if there is
 * no client to reset; the other one then has to wait. */
static bool make_room(struct app *a)
{
    struct client *longest = NULL;
    for (struct client *c = a->clients; c; c = c->next)
        if (!c->answering && !c->waiting && (!longest || c->accepted < longest->accepted))
            longest = c;
    if (!longest || scps_sysclock_now() - longest->accepted < GRACE)
        return false;
    drop(a, longest, false);
    return true;
}

static bool has_room(struct app *a)
{
    return a->open < CLIENTS_MAX || make_room(a);
}

/* Answers client c, which waits, with status 503 and the reason. Its request is read for the log,
 * as far as it has arrived. */
static void refuse(struct app *a, struct client *c, const char *words)
{
    int64_t n = scps_conn_read(c->conn, c->request, REQUEST_MAX, 0);
    if (n > 0)
        c->request[c->have = (size_t)n] = 0;
    c->head_only = strncmp(c->request, "HEAD ", 5) == 0;
    answer(a, c, 503, words, 0);
    a->refused++;
    step(a, c);
}

/* Gives free places to the clients that have waited for longest. */
static void give_places(struct app *a)
{
    for (;;) {
        struct client *first = NULL;
        for (struct client *c = a->clients; c; c = c->next)
            if (c->waiting && !c->answering)
                first = c; /* The list begins with the newest client. */
        if (!first || !has_room(a))
            return;
        a->waiting--;
        a->open++;
        first->waiting = false;
        first->accepted = scps_sysclock_now();
        step(a, first);
    }
}

static void accept_all(struct app *a)
{
    struct scps_conn *conn;
    give_places(a);
    while (scps_listener_pending(a->listener) && (has_room(a) || a->waiting < 2 * WAITING_MAX) &&
           (conn = scps_accept(a->listener))) {
        struct client *c = calloc(1, sizeof *c);
        if (!c) {
            scps_conn_abort(conn);
            continue;
        }
        c->conn = conn;
        c->accepted = scps_stack_now(a->rt.stack);
        c->file = -1;
        c->link = &a->clients;
        c->next = a->clients;
        if (c->next)
            c->next->link = &c->next;
        a->clients = c;
        c->waiting = a->open >= CLIENTS_MAX;
        *(c->waiting ? &a->waiting : &a->open) += 1;
        scps_conn_set_user(conn, c);
        if (a->waiting > WAITING_MAX && c->waiting)
            refuse(a, c, "Service Unavailable: too many clients wait already");
        else
            step(a, c);
    }
}

static void on_event(struct scps_loop *l, const struct scps_event *e, void *ctx)
{
    struct app *a = ctx;
    (void)l;
    if (e->user && e->kind == SCPS_EV_ERROR)
        drop(a, e->user, true);
    else if (e->user && e->conn)
        step(a, e->user);
    /* A connection may have arrived, or a client may have gone, so that another one has room. */
    accept_all(a);
}

/* Called every LOOK: resets each client whose request is not complete PATIENCE after its connection
 * was accepted, and refuses each client that has waited for WAIT_MAX. The time counts from there and not from the last byte, so that a client that sends
 * its request byte by byte does not keep a place. */
static void on_look(EV_P_ ev_timer *w, int revents)
{
    struct app *a = w->data;
    scps_time now = scps_sysclock_now();
    (void)loop;
    (void)revents;
    for (struct client *c = a->clients, *next; c; c = next) {
        next = c->next;
        if (c->waiting && !c->answering && now - c->accepted >= WAIT_MAX)
            refuse(a, c, "Service Unavailable: no place was free for 30 s");
        else if (!c->waiting && !c->answering && now - c->accepted >= PATIENCE)
            drop(a, c, false);
    }
    accept_all(a);
    scps_loop_kick(a->rt.loop);
}

/* ---- the program itself: it reads options, listens and runs the loop ---- */

static int run(struct app *a)
{
    struct scps_endpoint any = {.port = a->port};
    struct scps_conn_config cc = scps_conn_config_default();
    int err = 0, status = FAILED;
    /* The user timeout (RFC 9293 section 3.8.3) and keep-alives end the connection of a client that
     * has vanished. */
    cc.user_timeout = PATIENCE;
    cc.keepalive = true;
    cc.keep_idle = PATIENCE;

    if (!realtime_takes("scps_httpd", &cc))
        return FAILED;
    a->root_fd = open(a->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (a->root_fd < 0) {
        fprintf(stderr, "scps_httpd: cannot serve %s: not a directory that can be read\n", a->root);
        return FAILED;
    }
    a->ifopts.patience = a->time;
    if (!realtime_open(&a->rt, "scps_httpd", &a->ifopts, on_event, a))
        goto out;
    a->listener = scps_listen(a->rt.stack, &cc, &any, BACKLOG, &err);
    if (!a->listener) {
        fprintf(stderr, "scps_httpd: cannot listen on port %u: %s\n", a->port, scps_strerror(err));
        goto out;
    }
    ev_timer_init(&a->look, on_look, (double)LOOK / 1e6, (double)LOOK / 1e6);
    a->look.data = a;
    ev_timer_start(scps_loop_ev(a->rt.loop), &a->look);
    realtime_run(&a->rt, a->time);
    ev_timer_stop(scps_loop_ev(a->rt.loop), &a->look);
    status = scps_loop_error(a->rt.loop) ? FAILED : DONE;
    while (a->clients)
        drop(a, a->clients, false);
    fprintf(stderr, "scps_httpd: %u requests, %llu bytes of files", a->served,
            (unsigned long long)a->bytes);
    if (a->refused)
        fprintf(stderr, ", %u refused for want of a place (503)", a->refused);
    fprintf(stderr, "%s%s\n", status ? ": " : "", status ? realtime_lost(&a->rt, true) : "");
    scps_loop_kick(a->rt.loop);
out:
    realtime_close(&a->rt);
    close(a->root_fd);
    return status;
}

static int usage(const char *what, const char *value)
{
    fprintf(stderr, "scps_httpd: %s%s%s\n", what, value ? ": " : "", value ? value : "");
    return USAGE;
}

int main(int argc, char **argv)
{
    static const struct option table[] = {
        {"port", 1, NULL, 'p'},       {"root", 1, NULL, 'R'}, {"time", 1, NULL, 'T'},
        {"quiet", 0, NULL, 'q'},      {"help", 0, NULL, 'h'}, {"version", 0, NULL, 'V'},
        {"completion", 1, NULL, 'K'}, SCPS_IFOPTS_LONG('I'),  {NULL, 0, NULL, 0}};
    struct app a = {.port = 80, .root = "."};
    char msg[SCPS_IO_MSGLEN], *end;
    int c, index;
    stdfds_open("scps_httpd");
    hangup_init();
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":p:qhV", table, &index)) != -1) {
        switch (c) {
        case 'p': {
            unsigned long v = strtoul(optarg, &end, 10);
            if (*optarg < '0' || *optarg > '9' || *end || v < 1 || v > 65535)
                return usage("a port goes from 1 to 65535", optarg);
            a.port = (uint16_t)v;
            break;
        }
        case 'R':
            a.root = optarg;
            break;
        case 'T':
            if (!realtime_seconds(optarg, &a.time))
                return usage("--time: give seconds, or a number with ms, s, min or h", optarg);
            break;
        case 'q':
            a.quiet = true;
            break;
        case 'I':
            if (scps_ifopts_parse(&a.ifopts, table[index].name, optarg, msg) != 1)
                return usage(msg, NULL);
            break;
        case 'h':
            printf("%s%s%s", help, scps_ifopts_help(), help_end);
            return stdfds_flush("scps_httpd", DONE);
        case 'K':
            if (!completion_shell(optarg))
                return usage("--completion is for bash alone", optarg);
            completion_getopt("scps_httpd", table, "p:qhV", "--root");
            return stdfds_flush("scps_httpd", DONE);
        case 'V':
            puts("scps_httpd " SCPS_VERSION);
            return stdfds_flush("scps_httpd", DONE);
        case ':':
            return usage("an option needs a value (see scps_httpd --help)", argv[optind - 1]);
        default:
            return usage("no such option (see scps_httpd --help)", argv[optind - 1]);
        }
    }
    if (optind < argc)
        return usage("unexpected argument", argv[optind]);
    if (scps_ifopts_check(&a.ifopts, msg))
        return usage(msg, NULL);
    return run(&a);
}
