/* SPDX-License-Identifier: MIT */
/* Options: get- and setsockopt.
 *
 * An option either is a field of the connection's configuration, which is then handed down to the connection or
 * listener there is (scps_sock_apply), or it is the socket's own.  The fields have one table (optfield.c); what Linux
 * treats in a way of its own has code, level by level.
 *
 * setsockopt takes an int unless an option says otherwise: EINVAL when fewer bytes are given, the rest ignored.
 * getsockopt gives as many bytes as there are and fit, and says how many.  docs/howto/sockets.md lists it all.
 */
#include "socket/opt.h"

/* ---- the configuration and whoever has it ----------------------------------------------------------- */

int scps_sock_apply(struct sock *s)
{
    int e = 0;
    if (s->dgram) {
        scps_sock_dgram_apply(s);
    } else if (s->lis) {
        e = scps_listener_set(s->lis, &s->cfg, 0);
    } else if (s->conn && !s->dead) {
        e = scps_conn_set_config(s->conn, &s->cfg);
        if (e == 0) { /* a buffer of a living connection may not be what was asked for */
            struct scps_conn_config now;
            scps_conn_get_config(s->conn, &now);
            s->cfg.sndbuf = now.sndbuf;
            s->cfg.rcvbuf = now.rcvbuf;
        }
    }
    return e < 0 ? -scps_sock_errno(e) : 0;
}

int scps_sock_change(struct sock *s, const struct scps_conn_config *to)
{
    struct scps_conn_config old = s->cfg;
    s->cfg = *to;
    int r = scps_sock_apply(s);
    if (r < 0)
        s->cfg = old;
    return r;
}

int scps_sock_set_rate(struct sock *s, uint64_t bytes_per_s)
{
    const struct field *rate = scps_sock_field(SCPS_SOL_SCPS, SCPS_TP_RATE);
    uint64_t v = bytes_per_s == NO_RATE ? 0 : bytes_per_s;

    if (bytes_per_s == 0 || v > INT64_MAX)
        return -EINVAL;
    return scps_sock_field_set(s, rate, (int64_t)v);
}

/* ---- whose option it is ------------------------------------------------------------------------------ */

/* The others are TCP's. */
static bool of_datagrams(int level)
{
    return level == SCPS_SOL_SOCKET || level == SCPS_SOL_IP || level == SCPS_SOL_IPV6;
}

static int do_set(struct sock *s, int level, int name, const void *val, uint32_t len)
{
    if (len > INT32_MAX)
        return -EINVAL;
    if (!val && len)
        return -EFAULT;
    if (s->dgram && !of_datagrams(level))
        return -ENOPROTOOPT;
    const struct field *f = scps_sock_field(level, name);
    if (f) {
        int64_t v;
        bool ours = level == SCPS_SOL_SCPS || level == SCPS_SOL_SCPS_ROUTE;
        int r = take_number(val, len, ours, &v);
        return r < 0 ? r : scps_sock_field_set(s, f, v);
    }
    switch (level) {
    case SCPS_SOL_SOCKET:
        return scps_sock_set_socket(s, name, val, len);
    case SCPS_SOL_TCP:
        return scps_sock_set_tcp(s, name, val, len);
    case SCPS_SOL_IP:
        return scps_sock_set_ip(s, name, val, len);
    case SCPS_SOL_IPV6:
        return s->domain == SCPS_AF_INET6 ? scps_sock_set_ipv6(s, name, val, len) : -ENOPROTOOPT;
    case SCPS_SOL_SCPS:
        return scps_sock_set_scps(s, name, val, len);
    case SCPS_SOL_SCPS_ROUTE:
        return scps_sock_set_route(s, name, val, len);
    case SCPS_SOL_SCPS_SOCKET:
    default:
        return -ENOPROTOOPT;
    }
}

static int do_get(struct sock *s, int level, int name, void *val, uint32_t *len)
{
    if (!len)
        return -EFAULT;
    if (*len > INT32_MAX)
        return -EINVAL;
    if (!val)
        return -EFAULT;
    if (s->dgram && !of_datagrams(level))
        return -ENOPROTOOPT;
    const struct field *f = scps_sock_field(level, name);
    if (f) {
        int64_t v = scps_sock_field_get(s, f);
        return level == SCPS_SOL_SCPS || level == SCPS_SOL_SCPS_ROUTE ? give_number(val, len, v)
                                                                      : give_int(val, len, v);
    }
    switch (level) {
    case SCPS_SOL_SOCKET:
        return scps_sock_get_socket(s, name, val, len);
    case SCPS_SOL_TCP:
        return scps_sock_get_tcp(s, name, val, len);
    case SCPS_SOL_IP:
        return scps_sock_get_ip(s, name, val, len);
    case SCPS_SOL_IPV6:
        return s->domain == SCPS_AF_INET6 ? scps_sock_get_ipv6(s, name, val, len) : -EOPNOTSUPP;
    case SCPS_SOL_SCPS:
        return scps_sock_get_scps(s, name, val, len);
    case SCPS_SOL_SCPS_SOCKET:
        return scps_sock_get_scps_socket(s, name, val, len);
    case SCPS_SOL_SCPS_ROUTE:
        return scps_sock_get_route(s, name, val, len);
    default:
        return -EOPNOTSUPP;
    }
}

int scps_sock_setsockopt(struct scps_ctx *ctx, int fd, int level, int name, const void *val,
                         uint32_t len)
{
    scps_sock_enter(ctx);
    struct sock *s = scps_sock_find(ctx, fd);
    return (int)scps_sock_leave(ctx, s ? do_set(s, level, name, val, len) : -EBADF);
}

int scps_sock_getsockopt(struct scps_ctx *ctx, int fd, int level, int name, void *val,
                         uint32_t *len)
{
    scps_sock_enter(ctx);
    struct sock *s = scps_sock_find(ctx, fd);
    return (int)scps_sock_leave_quiet(ctx, s ? do_get(s, level, name, val, len) : -EBADF);
}
