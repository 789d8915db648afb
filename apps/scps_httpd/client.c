/* SPDX-License-Identifier: MIT */
/* Serves the connection of one client: reads its request, chooses the response, and sends it. */
#include "scps_httpd/httpd.h"

#include <string.h>
#include <unistd.h>

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

void httpd_drop(struct app *a, struct client *c, bool whole)
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

void httpd_answer(struct app *a, struct client *c, int status, const char *words, uint64_t size)
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
    if (!method || !target || *target != '/' || !httpd_decode(target)) {
        httpd_answer(a, c, 400, "Bad Request", 0);
        return;
    }
    c->head_only = strcmp(method, "HEAD") == 0;
    if (!c->head_only && strcmp(method, "GET") != 0) {
        httpd_answer(a, c, 501, "Not Implemented", 0);
        return;
    }
    len = strlen(target);
    if (target[len - 1] == '/')
        memcpy(target + len, index, sizeof index);
    len = strlen(target);
    c->type = len >= sizeof html && strcmp(target + len - strlen(html), html) == 0
                  ? "text/html"
                  : "application/octet-stream";
    c->file = httpd_open_below(a->root_fd, target, &st);
    if (c->file < 0) {
        httpd_answer(a, c, 404, "Not Found", 0);
        return;
    }
    c->size = (uint64_t)st.st_size;
    httpd_answer(a, c, 200, "OK", c->size);
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
            httpd_answer(a, c, 400, "Bad Request", 0);
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

void httpd_step(struct app *a, struct client *c)
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
        httpd_drop(a, c, true);
    } else if (n != 0 && n != SCPS_ERR_AGAIN && n != SCPS_ERR_NOMEM) {
        httpd_drop(a, c, false);
    }
}
