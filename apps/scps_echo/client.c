/* SPDX-License-Identifier: MIT */
/* The client of scps_echo sends a pattern to an echo server, reads it back and compares. */
#include "scps_echo/echo.h"

#include <stdio.h>
#include <string.h>

static uint8_t buf[ECHO_CHUNK];

/* Fills p with the len bytes of the test pattern at position pos of the stream. Each 8-octet word
 * is splitmix64 of its number, so that no two places of the stream are alike. */
static void pattern(uint8_t *p, size_t len, uint64_t pos)
{
    for (size_t i = 0; i < len; i++, pos++) {
        uint64_t x = (pos / 8 + 1) * 0x9e3779b97f4a7c15u;
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
        p[i] = (uint8_t)(x >> pos % 8 * 8);
    }
}

static void finish(struct app *a, int status, const char *why)
{
    a->finished = true;
    a->status = status;
    snprintf(a->why, sizeof a->why, "%s", why);
    scps_conn_close(a->conn);
    a->conn = NULL;
    scps_loop_stop(a->rt.loop);
}

static void send_more(struct app *a)
{
    while (a->out < a->bytes) {
        size_t n = a->bytes - a->out < sizeof buf ? (size_t)(a->bytes - a->out) : sizeof buf;
        pattern(buf, n, a->out);
        int64_t w = scps_conn_write(a->conn, buf, n, 0);
        if (w < 0)
            /* The event SCPS_EV_WRITABLE, or SCPS_EV_ERROR, will call this function again. */
            return;
        a->out += (uint64_t)w;
        if (a->out == a->bytes)
            scps_conn_shutdown(a->conn);
    }
}

static void compare(struct app *a)
{
    static uint8_t want[sizeof buf];
    char why[128];
    int64_t n;
    while ((n = scps_conn_read(a->conn, buf, sizeof buf, 0)) > 0) {
        pattern(want, (size_t)n, a->in);
        for (int64_t i = 0; i < n; i++)
            if (buf[i] != want[i] || a->in + (uint64_t)i >= a->bytes) {
                snprintf(why, sizeof why, "byte %llu came back wrong",
                         (unsigned long long)(a->in + (uint64_t)i));
                finish(a, FAILED, why);
                return;
            }
        a->in += (uint64_t)n;
    }
    if (n == 0 && a->in == a->bytes) {
        finish(a, DONE, "equal");
    } else if (n == 0) {
        snprintf(why, sizeof why, "the server closed after %llu of %llu bytes",
                 (unsigned long long)a->in, (unsigned long long)a->bytes);
        finish(a, FAILED, why);
    } else if (n != SCPS_ERR_AGAIN) {
        finish(a, FAILED, scps_strerror((int)n));
    }
}

void echo_client_event(struct app *a, const struct scps_event *e)
{
    if (e->conn != a->conn)
        return;
    if (e->kind == SCPS_EV_ERROR) {
        finish(a, FAILED, scps_strerror(e->err));
        return;
    }
    if (e->kind == SCPS_EV_CONNECTED && !a->bytes)
        scps_conn_shutdown(a->conn);
    send_more(a);
    compare(a);
}
