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
 *
 * This file has the options, the listener, and the places of which each client needs one;
 * scps_httpd/client.c serves a client, and scps_httpd/path.c opens its file.
 */
#include <fcntl.h>
#include <getopt.h>
#include <string.h>
#include <unistd.h>

#include "common/completion.h"
#include "common/hangup.h"
#include "common/stdfds.h"
#include "scps_httpd/httpd.h"

enum { DONE = 0, FAILED = 1, USAGE = 2 };

#define BACKLOG 64 /* largest number of connections in the listener's queue */
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

/* ---- functions that give clients a place, or let them wait for one ---- */

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
    httpd_drop(a, longest, false);
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
    httpd_answer(a, c, 503, words, 0);
    a->refused++;
    httpd_step(a, c);
}

/* Gives free places to the clients that have waited for longest. */
static void give_places(struct app *a)
{
    while (a->waiting) {
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
        httpd_step(a, first);
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
            httpd_step(a, c);
    }
}

static void on_event(struct scps_loop *l, const struct scps_event *e, void *ctx)
{
    struct app *a = ctx;
    (void)l;
    if (e->user && e->kind == SCPS_EV_ERROR)
        httpd_drop(a, e->user, true);
    else if (e->user && e->conn)
        httpd_step(a, e->user);
    /* A connection may have arrived, or a client may have gone, so that another one has room. */
    accept_all(a);
}

/* Called every LOOK: resets each client whose request is not complete PATIENCE after its connection
 * was accepted, and refuses each client that has waited for WAIT_MAX. The time counts from there
 * and not from the last byte, so that a client that sends its request byte by byte does not keep a
 * place. */
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
            httpd_drop(a, c, false);
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
        httpd_drop(a, a->clients, false);
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
