/* SPDX-License-Identifier: MIT */
/* The server: echo (RFC 862), discard (RFC 863) and character generator (RFC 864).
 *
 * It stores no data: it copies from the receive buffer of a connection to its send buffer, so a
 * client that does not read stops its own sending.
 */
#include "scps_echo/echo.h"

#include <stdio.h>
#include <stdlib.h>

static uint8_t buf[ECHO_CHUNK];

static void take_out(struct app *a, struct peer *p)
{
    *(p->before ? &p->before->after : &a->first) = p->after;
    *(p->after ? &p->after->before : &a->last) = p->before;
}

static void put_first(struct app *a, struct peer *p)
{
    p->before = NULL;
    p->after = a->first;
    *(a->first ? &a->first->before : &a->last) = p;
    a->first = p;
}

void echo_drop(struct app *a, struct peer *p, bool broken)
{
    a->open--;
    a->broken += broken;
    if (broken)
        scps_conn_abort(p->conn);
    else
        scps_conn_close(p->conn);
    take_out(a, p);
    free(p);
}

/* Writes back what the peer of an echo connection has sent, as far as the buffers permit. Returns 0
 * at the end of the peer's data; SCPS_ERR_AGAIN if nothing more can be read or written now; or the
 * error of the connection. */
static int64_t echo(struct app *a, struct peer *p)
{
    for (;;) {
        int64_t n = scps_conn_read(p->conn, buf, sizeof buf, SCPS_PEEK);
        if (n <= 0)
            return n;
        int64_t w = scps_conn_write(p->conn, buf, (size_t)n, 0);
        if (w < 0)
            return w;
        /* Only the w octets that were written are removed from the receive buffer, the rest stays
         * there. */
        scps_conn_read(p->conn, NULL, (size_t)w, 0);
        a->in += (uint64_t)w;
        a->out += (uint64_t)w;
    }
}

static int64_t discard(struct app *a, struct peer *p)
{
    int64_t n;
    while ((n = scps_conn_read(p->conn, NULL, sizeof buf, 0)) > 0)
        a->in += (uint64_t)n;
    return n;
}

/* Lines of 72 printable characters out of 95. Each line begins one character further than the one
 * before; the pattern repeats after 95 lines. */
static uint8_t lines[10 * 95 * 74];

void echo_make_lines(void)
{
    for (size_t i = 0; i < sizeof lines; i++)
        lines[i] = i % 74 == 72   ? '\r'
                   : i % 74 == 73 ? '\n'
                                  : (uint8_t)(' ' + (i / 74 + i % 74) % 95);
}

static int64_t chargen(struct app *a, struct peer *p)
{
    int64_t n = discard(a, p);
    while (n == SCPS_ERR_AGAIN) {
        size_t at = p->sent % (95 * 74);
        int64_t w = scps_conn_write(p->conn, lines + at, sizeof lines - at, 0);
        if (w < 0)
            return w;
        p->sent += (uint64_t)w;
        a->out += (uint64_t)w;
    }
    return n;
}

void echo_serve(struct app *a, struct peer *p)
{
    uint64_t before = a->in + a->out;
    if (p->leaving)
        return;
    int64_t n = p->service == ECHO      ? echo(a, p)
                : p->service == DISCARD ? discard(a, p)
                                        : chargen(a, p);
    if (a->in + a->out != before) {
        take_out(a, p);
        put_first(a, p);
    }
    /* The peer has sent its FIN, and this end has processed all the peer's data and sends its own
     * FIN. SCPS_EV_CLOSED will come when the peer has acknowledged that FIN. */
    if (n == 0) {
        p->leaving = true;
        scps_conn_shutdown(p->conn);
        /* n is the result of the last scps_conn_read() or scps_conn_write(). After SCPS_ERR_AGAIN
         * or SCPS_ERR_NOMEM, SCPS_EV_READABLE or SCPS_EV_WRITABLE comes when the call is worth
         * repeating. After any other error the connection is aborted. */
    } else if (n != SCPS_ERR_AGAIN && n != SCPS_ERR_NOMEM) {
        echo_drop(a, p, true);
    }
}

void echo_accept(struct app *a, struct scps_listener *l)
{
    struct scps_conn *c;
    while ((c = scps_accept(l))) {
        /* If the largest number of connections is open, the one from which the server has read, or
         * to which it has written, longest ago is reset. So clients that never read cannot keep new
         * clients out for ever. */
        if (a->open == a->most)
            echo_drop(a, a->last, true);
        struct peer *p = calloc(1, sizeof *p);
        if (!p) {
            scps_conn_abort(c);
            continue;
        }
        p->conn = c;
        p->service = *(enum service *)scps_listener_user(l);
        put_first(a, p);
        a->served++;
        a->open++;
        scps_conn_set_user(c, p);
        /* The first data of the connection may have arrived before it was accepted, so no event
         * will report it. */
        echo_serve(a, p);
    }
}

int echo_listen(struct app *a, const struct scps_conn_config *cfg, uint16_t port,
                enum service *service)
{
    struct scps_endpoint any = {.port = port};
    int err = 0;
    struct scps_listener *l = scps_listen(a->rt.stack, cfg, &any, 128, &err);
    if (!l) {
        fprintf(stderr, "scps_echo: cannot listen on port %u: %s\n", port, scps_strerror(err));
        return FAILED;
    }
    scps_listener_set_user(l, service);
    return DONE;
}
