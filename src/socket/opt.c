/* SPDX-License-Identifier: MIT */
/* Options: get- and setsockopt.
 *
 * An option either is a field of the connection's configuration, which optconf.c then passes to the
 * connection or listener, or belongs to the socket alone. The fields are in one table (optfield.c);
 * options that Linux treats in a special way have code in the files of their levels.
 *
 * setsockopt takes an int unless an option says otherwise: fewer bytes are EINVAL, further bytes
 * are ignored. getsockopt copies as many bytes as there are and fit, and returns their number.
 * docs/howto/sockets.md has the list.
 */
#include "socket/opt.h"

/* ---- functions that pass an option to the file of its level ---- */

/* Returns true if the options of this level apply to datagram sockets, too; those of all other
 * levels belong to TCP. */
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

/* Returns the error of getsockopt() for a level that the socket does not have. Linux returns
 * different errors for IPv4 and IPv6. */
static int unknown_level(const struct sock *s)
{
    return s->domain == SCPS_AF_INET6 ? -ENOPROTOOPT : -EOPNOTSUPP;
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
        return unknown_level(s);
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
        return unknown_level(s);
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
