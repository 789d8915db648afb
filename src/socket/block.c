/* SPDX-License-Identifier: MIT */
/* Calls that block.
 *
 * A blocking call (scps_sock_block) releases the lock while scps_ctx_config.wait runs. Other calls
 * may do anything in that time, so the socket is looked up again afterwards, by descriptor and
 * serial number.
 */
#include "socket/sock.h"

#include <errno.h>

int scps_sock_block_on(struct scps_ctx *ctx, struct scps_wait *w)
{
    if (!ctx->cfg.wait)
        return -EAGAIN;
    /* The packets that the blocking call has caused (such as a SYN) are built now, so that the
     * driver can send them while the call waits. */
    scps_sock_turn(ctx);
    if (scps_sock_now(ctx) >= w->deadline)
        return -EAGAIN;
    w->ctx = ctx;
    w->user = ctx->cfg.user;
    w->p.next = ctx->waits;
    ctx->waits = w;
    if (ctx->cfg.wake)
        ctx->cfg.wake(ctx->cfg.user);
    if (ctx->cfg.unlock)
        ctx->cfg.unlock(ctx->cfg.user);
    int r = ctx->cfg.wait(w);
    if (ctx->cfg.lock)
        ctx->cfg.lock(ctx->cfg.user);
    struct scps_wait **p = &ctx->waits;
    while (*p != w)
        p = &(*p)->p.next;
    *p = w->p.next;
    scps_sock_catch_up(ctx);
    return r > 0 ? -r : r;
}

int scps_sock_block(struct sock **sp, enum scps_wait_dir dir, size_t need, scps_time deadline)
{
    struct sock *s = *sp;
    struct scps_ctx *ctx = s->ctx;
    int fd = scps_sock_fd(s);
    struct scps_wait w = {.s = fd, .dir = dir, .deadline = deadline};
    w.p.serial = s->serial;
    w.p.need = need;
    int r = scps_sock_block_on(ctx, &w);
    s = scps_sock_find(ctx, fd);
    if (!s || s->serial != w.p.serial)
        /* While this call waited, another thread has closed the socket, so *sp has been freed. */
        return -EBADF;
    return r;
}
