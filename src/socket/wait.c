/* SPDX-License-Identifier: MIT */
/* The calls of a socket context that block now: determines which of them can continue, and the
 * earliest of their deadlines. */
#include "socket/sock.h"

bool scps_wait_over(const struct scps_wait *w)
{
    struct scps_ctx *ctx = w->ctx;
    if (w->deadline <= scps_sock_now(ctx))
        return true;
    if (w->dir == SCPS_WAIT_POLL) {
        for (size_t i = 0; i < w->p.nfds; i++) {
            if (w->p.fds[i].fd < 0)
                continue;
            struct sock *s = scps_sock_find(ctx, w->p.fds[i].fd);
            unsigned want = (unsigned short)w->p.fds[i].events | SCPS_POLLERR | SCPS_POLLHUP;
            if (!s || (scps_sock_events(s) & want))
                return true;
        }
        return false;
    }
    struct sock *s = w->dir == SCPS_WAIT_CLOSE ? w->p.sock : scps_sock_find(ctx, w->s);
    if (!s || s->serial != w->p.serial)
        return true;
    if (w->dir == SCPS_WAIT_CLOSE)
        scps_sock_refresh(s);
    return scps_sock_ready(s, w->dir, w->p.need);
}

bool scps_waits_any_over(const struct scps_ctx *ctx)
{
    for (const struct scps_wait *w = ctx->waits; w; w = w->p.next)
        if (scps_wait_over(w))
            return true;
    return false;
}

scps_time scps_waits_deadline(const struct scps_ctx *ctx)
{
    scps_time d = SCPS_NEVER;
    for (const struct scps_wait *w = ctx->waits; w; w = w->p.next)
        d = SCPS_MIN(d, w->deadline);
    return d;
}
