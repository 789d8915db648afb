/* SPDX-License-Identifier: MIT */
/* Gives each socket of a context a descriptor, the lowest number that is free, and finds the socket
 * of a descriptor. */
#include "socket/sock.h"

#include <errno.h>
#include <string.h>

int scps_sock_fd(const struct sock *s)
{
    return s->ctx->cfg.first_fd + (int)s->index;
}

struct sock *scps_sock_find(struct scps_ctx *ctx, int fd)
{
    if (fd < ctx->cfg.first_fd || (uint32_t)(fd - ctx->cfg.first_fd) >= ctx->nslot)
        return NULL;
    struct sock *s = ctx->slot[fd - ctx->cfg.first_fd];
    if (s)
        scps_sock_refresh(s);
    return s;
}

static uint32_t free_slot(const struct scps_ctx *ctx)
{
    uint32_t i = 0;
    while (i < ctx->nslot && ctx->slot[i])
        i++;
    return i;
}

int scps_sock_new(struct scps_ctx *ctx, struct sock **out)
{
    uint32_t i = free_slot(ctx);
    if (i == ctx->nslot) {
        uint32_t n = ctx->nslot ? ctx->nslot * 2 : 16;
        n = SCPS_MIN(n, ctx->cfg.max_sockets);
        if (n == ctx->nslot)
            return -EMFILE;
        struct sock **v = scps_sock_alloc(ctx, n * sizeof *v);
        if (!v)
            return -ENOMEM;
        memset(v, 0, n * sizeof *v);
        if (ctx->nslot)
            memcpy(v, ctx->slot, ctx->nslot * sizeof *v);
        scps_sock_free(ctx, ctx->slot, ctx->nslot * sizeof *v);
        ctx->slot = v;
        ctx->nslot = n;
    }
    struct sock *s = scps_sock_alloc(ctx, sizeof *s);
    if (!s)
        return -ENOMEM;
    *s = (struct sock){.ctx = ctx,
                       .serial = ++ctx->serial,
                       .index = i,
                       .rcvlowat = 1,
                       .refusals = scps_sock_refusals(ctx),
                       .rcvtimeo = SCPS_NEVER,
                       .sndtimeo = SCPS_NEVER};
    scps_sock_conf_init(&s->conf, &ctx->cfg.conn);
    ctx->slot[i] = s;
    *out = s;
    return 0;
}

void scps_sock_detach(struct sock *s)
{
    if (s->index == UINT32_MAX)
        return;
    s->ctx->slot[s->index] = NULL;
    s->index = UINT32_MAX;
}

void scps_sock_destroy(struct sock *s)
{
    scps_sock_detach(s);
    scps_sock_pcb_close_dgram(&s->pcb);
    scps_sock_free(s->ctx, s, sizeof *s);
}
