/* SPDX-License-Identifier: MIT */
/* scps_sock_fcntl() reads and sets the flags of a descriptor; scps_sock_ioctl() returns how many
 * bytes wait in each direction. */
#include <string.h>

#include "socket/sock.h"

void scps_sock_set_flags(struct sock *s, int flags)
{
    s->nonblock = flags & SCPS_SOCK_NONBLOCK;
    s->cloexec = flags & SCPS_SOCK_CLOEXEC;
}

static int do_fcntl(struct sock *s, int cmd, long arg)
{
    switch (cmd) {
    case SCPS_F_GETFD:
        return s->cloexec ? SCPS_FD_CLOEXEC : 0;
    case SCPS_F_SETFD:
        s->cloexec = arg & SCPS_FD_CLOEXEC;
        return 0;
    case SCPS_F_GETFL:
        return SCPS_O_RDWR | (s->nonblock ? SCPS_O_NONBLOCK : 0);
    case SCPS_F_SETFL:
        s->nonblock = arg & SCPS_O_NONBLOCK;
        return 0;
    default:
        return -EINVAL;
    }
}

int scps_sock_fcntl(struct scps_ctx *ctx, int fd, int cmd, long arg)
{
    scps_sock_enter(ctx);
    struct sock *s = scps_sock_find(ctx, fd);
    return (int)scps_sock_leave_quiet(ctx, s ? do_fcntl(s, cmd, arg) : -EBADF);
}

static int do_ioctl(struct sock *s, unsigned long request, void *arg)
{
    enum scps_state st = scps_sock_state(s);
    bool open = s->pcb.conn && st != SCPS_SYN_SENT && st != SCPS_SYN_RECEIVED;
    uint64_t n = 0;
    int v;
    switch (request) {
    case SCPS_FIONREAD:
    case SCPS_SIOCOUTQ:
    case SCPS_SIOCOUTQNSD:
        if (st == SCPS_LISTEN)
            return -EINVAL;
        break;
    case SCPS_SIOCATMARK:
        if (s->dgram)
            return -ENOTTY;
        break;
    case SCPS_FIONBIO:
        break;
    default:
        return -ENOTTY;
    }
    if (!arg)
        return -EFAULT;
    if (request == SCPS_FIONBIO) {
        memcpy(&v, arg, sizeof v);
        s->nonblock = v != 0;
        return 0;
    }
    if (s->dgram) {
        n = scps_sock_dgram_queued(s, request);
    } else if (request == SCPS_FIONREAD && open) {
        n = scps_conn_readable(s->pcb.conn);
    } else if (request == SCPS_SIOCOUTQ && open && !s->life.ended) {
        n = scps_conn_unacked(s->pcb.conn);
        n += st == SCPS_FIN_WAIT_1 || st == SCPS_CLOSING || st == SCPS_LAST_ACK;
    } else if (request == SCPS_SIOCOUTQNSD && open && !s->life.ended) {
        n = scps_conn_unsent(s->pcb.conn);
        n += n && (st == SCPS_FIN_WAIT_1 || st == SCPS_CLOSING || st == SCPS_LAST_ACK);
    }
    v = (int)SCPS_MIN(n, (uint64_t)INT32_MAX);
    memcpy(arg, &v, sizeof v);
    return 0;
}

int scps_sock_ioctl(struct scps_ctx *ctx, int fd, unsigned long request, void *arg)
{
    scps_sock_enter(ctx);
    struct sock *s = scps_sock_find(ctx, fd);
    return (int)scps_sock_leave_quiet(ctx, s ? do_ioctl(s, request, arg) : -EBADF);
}
