/* SPDX-License-Identifier: MIT */
/* The emulator's side of the control socket: accepts clients and executes their commands.
 *
 * A socket file that a dead emulator left is replaced; a path at which a process listens, or that
 * is no socket, is refused. Clients cannot delay packets: their sockets do not block, and there are
 * at most CLIENTS of them. When CLIENTS clients are connected, a new client takes the place of the
 * one that connected first, whose connection is closed.
 */
#include "scps_link/control.h"
#include "scps_link/emu.h"
#include "scps_link/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define CLIENTS 8

struct client {
    struct control *c;
    ev_io io;
    int fd; /* socket of the client; -1: this place is free */
    uint64_t since;
    char line[CONTROL_LINE];
    size_t have;
    char *answer;
    size_t len, sent;
};

struct control {
    struct emu *e;
    struct ev_loop *ev;
    struct sockaddr_un addr;
    int fd;
    ev_io accept;
    uint64_t count;
    bool stop;
    struct client client[CLIENTS];
};

/* ---- functions that execute the commands of the control socket ---- */

static int set(struct emu *e, int dir, const struct scps_link_config *c, FILE *out)
{
    char text[SCPS_LINK_TEXTLEN];

    if (scps_channel_change(e->dir[dir].ch, emu_now(e), c) != 0) {
        fprintf(out, "error: this configuration makes no sense\n");
        return -1;
    }
    fprintf(out, "%s %s\n", dir ? "b2a" : "a2b", scps_link_print(c, text));
    return 0;
}

static const struct scps_link_files files = {scps_io_read_file, scps_io_free_file, NULL};

/* Executes the commands a2b, b2a and both: changes the link's configuration by the text `items`
 * (KEY=VALUE,...) and writes the answer to out. which: directions to change, bit 0: a to b, bit 1:
 * b to a. If the change of one direction is refused, the configuration of neither direction
 * changes. */
static void change(struct emu *e, unsigned which, const char *items, FILE *out)
{
    struct scps_link_config c[2];
    struct scps_link_tables *tables;
    char msg[LINK_MSGLEN];

    if (!*items) {
        fputs("error: nothing to change: give KEY=VALUE, for example ber=1e-6\n", out);
        return;
    }
    for (int d = 0; d < 2; d++)
        c[d] = *scps_channel_config(e->dir[d].ch);
    /* The changes are parsed twice, because a queue limit given in round trips depends on the new
     * delays of both directions. */
    for (int round = 0; round < 2; round++)
        for (int d = 0; d < 2; d++) {
            if (!(which & 1u << d))
                continue;
            if (scps_link_update(items, &files, &c[d], &c[!d], &tables, msg, sizeof msg) != 0) {
                fprintf(out, "error: %s\n", msg + strlen("link: "));
                return;
            }
            if (emu_keep(e, tables) != 0) {
                fputs("error: out of memory\n", out);
                return;
            }
        }
    fputs("ok\n", out);
    for (int d = 0; d < 2; d++)
        if (which & 1u << d)
            set(e, d, &c[d], out);
}

static void replace(struct emu *e, const char *spec, FILE *out)
{
    struct scps_link_config c[2];
    struct scps_link_tables *tables;
    char msg[LINK_MSGLEN];

    if (scps_link_parse_tables(spec, &files, &c[0], &c[1], &tables, msg, sizeof msg) != 0) {
        fprintf(out, "error: %s\n", msg);
        return;
    }
    if (emu_keep(e, tables) != 0) {
        fputs("error: out of memory\n", out);
        return;
    }
    fputs("ok\n", out);
    for (int d = 0; d < 2; d++) {
        c[d].seed = e->o->dir[d].seed;
        set(e, d, &c[d], out);
    }
}

/* If `name` is a command that takes no arguments, executes it, writes the answer to out and returns
 * true; writes an error to out instead if `rest`, the text behind the name, is not empty. Returns
 * false for any other name. */
static bool plain_command(struct control *c, const char *name, const char *rest, FILE *out)
{
    static const char *const names[] = {"stats", "json", "show", "stop"};
    char text[SCPS_LINK_TEXTLEN];
    unsigned k = 0;

    while (k < 4 && strcmp(name, names[k]) != 0)
        k++;
    if (k == 4)
        return false;
    if (*rest) {
        fprintf(out, "error: '%s' takes nothing after it\n", name);
        return true;
    }
    fputs("ok\n", out);
    if (k == 0)
        report_text(c->e, out);
    else if (k == 1)
        report_json(c->e, out);
    else if (k == 3)
        c->stop = true;
    for (int d = 0; k == 2 && d < 2; d++)
        fprintf(out, "%s %s\n", d ? "b2a" : "a2b",
                scps_link_print(scps_channel_config(c->e->dir[d].ch), text));
    return true;
}

static void command(struct control *c, char *line, FILE *out)
{
    char *rest = line + strcspn(line, " ");

    if (*rest)
        *rest++ = 0;
    rest += strspn(rest, " ");
    if (strcmp(line, "a2b") == 0 || strcmp(line, "b2a") == 0 || strcmp(line, "both") == 0) {
        change(c->e, line[0] == 'a' ? 1 : line[1] == '2' ? 2 : 3, rest, out);
        return;
    }
    if (strcmp(line, "link") == 0) {
        if (*rest)
            replace(c->e, rest, out);
        else
            fputs("error: link: give a SPEC, for example link geo,ber=1e-6\n", out);
        return;
    }
    if (!plain_command(c, line, rest, out)) {
        fprintf(out,
                "error: no command '%.40s'; there are: stats, json, show, a2b KEY=VALUE..., b2a "
                "KEY=VALUE..., both KEY=VALUE..., link SPEC, stop\n",
                line);
    }
}

/* ---- functions that serve the clients of the control socket ---- */

static void leave(struct client *k)
{
    struct control *c = k->c;

    if (k->fd < 0)
        return;
    ev_io_stop(c->ev, &k->io);
    close(k->fd);
    k->fd = -1;
    free(k->answer);
    k->answer = NULL;
}

static void on_writable(EV_P_ ev_io *w, int revents)
{
    struct client *k = w->data;
    struct control *c = k->c;
    ssize_t n = send(k->fd, k->answer + k->sent, k->len - k->sent, MSG_NOSIGNAL);

    (void)loop;
    (void)revents;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0)
        k->sent += (size_t)n;
    if (n > 0 && k->sent < k->len)
        return;
    leave(k);
    if (c->stop)
        emu_stop(c->e);
}

static void answer(struct client *k)
{
    FILE *out = open_memstream(&k->answer, &k->len);

    if (!out) {
        leave(k);
        return;
    }
    command(k->c, k->line, out);
    if (fclose(out) != 0) {
        leave(k);
        return;
    }
    ev_io_stop(k->c->ev, &k->io);
    ev_io_init(&k->io, on_writable, k->fd, EV_WRITE);
    k->io.data = k;
    ev_io_start(k->c->ev, &k->io);
}

static void on_line(EV_P_ ev_io *w, int revents)
{
    struct client *k = w->data;
    ssize_t n = recv(k->fd, k->line + k->have, sizeof k->line - 1 - k->have, 0);
    char *end;

    (void)loop;
    (void)revents;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        leave(k);
        return;
    }
    k->have += (size_t)n;
    k->line[k->have] = 0;
    end = strchr(k->line, '\n');
    if (end) {
        *end = 0;
        answer(k);
    } else if (k->have == sizeof k->line - 1) {
        leave(k); /* The line is longer than any command, so the client is disconnected. */
    }
}

static void on_accept(EV_P_ ev_io *w, int revents)
{
    struct control *c = w->data;
    int fd = accept4(c->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    struct client *k = &c->client[0];

    (void)revents;
    if (fd < 0)
        return;
    for (struct client *i = c->client; i < c->client + CLIENTS; i++) {
        if (i->fd < 0) {
            k = i;
            break;
        }
        if (i->since < k->since)
            k = i;
    }
    /* k is now a free place, for which leave() does nothing; or, if there is none, the client that
     * connected first, whose connection leave() closes. */
    leave(k);
    *k = (struct client){.c = c, .fd = fd, .since = ++c->count};
    ev_io_init(&k->io, on_line, fd, EV_READ);
    k->io.data = k;
    ev_io_start(EV_A_ & k->io);
}

/* ---- functions that open the control socket ---- */

/* Called when a file exists at the path of the control socket. If it is a socket at which no
 * process listens, because its emulator has ended, removes it and returns 0. Otherwise returns -1
 * with one line in msg. */
static int make_way(const struct sockaddr_un *addr, char *msg)
{
    const char *path = addr->sun_path;
    struct stat st;
    int fd, rc;

    if (lstat(path, &st) != 0 || !S_ISSOCK(st.st_mode)) {
        snprintf(msg, LINK_MSGLEN,
                 "--ctl %s: a file that is no socket has this path: give another path", path);
        return -1;
    }
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    rc = connect(fd, (const struct sockaddr *)addr, sizeof *addr);
    if (fd >= 0 && rc != 0 && errno == ECONNREFUSED && unlink(path) == 0) {
        close(fd);
        return 0;
    }
    snprintf(msg, LINK_MSGLEN,
             "--ctl %s: the socket is in use by a running program: stop it ('scps_link ctl %s "
             "stop'), or "
             "take another path",
             path, path);
    if (fd >= 0)
        close(fd);
    return -1;
}

struct control *control_open(const char *path, struct emu *e, char msg[LINK_MSGLEN])
{
    struct control *c = calloc(1, sizeof *c);
    int rc;

    if (!c) {
        snprintf(msg, LINK_MSGLEN, "out of memory");
        return NULL;
    }
    c->e = e;
    c->fd = -1;
    c->addr.sun_family = AF_UNIX;
    for (int i = 0; i < CLIENTS; i++)
        c->client[i].fd = -1;
    if (strlen(path) >= sizeof c->addr.sun_path || !*path) {
        snprintf(msg, LINK_MSGLEN, "--ctl %s: give a path of 1 to %zu characters", path,
                 sizeof c->addr.sun_path - 1);
        goto fail;
    }
    strcpy(c->addr.sun_path, path);
    c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    /* With this umask only the same user may connect to the socket, because a client can change the
     * link and stop the emulator. */
    mode_t old = umask(0077);
    rc = bind(c->fd, (struct sockaddr *)&c->addr, sizeof c->addr);
    if (rc != 0 && errno == EADDRINUSE) {
        if (make_way(&c->addr, msg) != 0) {
            umask(old);
            goto fail;
        }
        rc = bind(c->fd, (struct sockaddr *)&c->addr, sizeof c->addr);
    }
    umask(old);
    if (rc != 0 || listen(c->fd, CLIENTS) != 0) {
        snprintf(msg, LINK_MSGLEN, "--ctl %s: %s: give a path in a folder that can be written",
                 path, strerror(errno));
        goto fail;
    }
    return c;

fail:
    if (c->fd >= 0)
        close(c->fd);
    free(c);
    return NULL;
}

void control_watch(struct control *c, struct ev_loop *ev)
{
    c->ev = ev;
    ev_io_init(&c->accept, on_accept, c->fd, EV_READ);
    c->accept.data = c;
    ev_io_start(ev, &c->accept);
}

void control_close(struct control *c)
{
    if (!c)
        return;
    if (c->ev) {
        ev_io_stop(c->ev, &c->accept);
        for (int i = 0; i < CLIENTS; i++)
            leave(&c->client[i]);
    }
    unlink(c->addr.sun_path);
    close(c->fd);
    free(c);
}
