/* SPDX-License-Identifier: MIT */
/* Socket addresses, and rules about which sockets may have the same port.
 *
 * In the socket layer an address is a struct scps_endpoint. The wildcard address (INADDR_ANY,
 * in6addr_any) is family 4 or 6 with all octets 0, or family 0 for an IPv6 socket that accepts
 * IPv4, too; an IPv4-mapped IPv6 address (RFC 4291 section 2.5.5.2) is stored as IPv4.
 *
 * Two sockets conflict when they have the same port and a common address, unless both have
 * SO_REUSEADDR and the one bound earlier does not listen, or both have SO_REUSEPORT. If the new
 * socket has neither option, connections that are still ending in the background keep the port,
 * those in TIME-WAIT included, as in Linux (RFC 9293 section 3.6.1 has the reason).
 */
#include <string.h>

#include "base/prng.h"
#include "socket/sock.h"

static const uint8_t mapped_prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

/* Length, bytes, of the shortest sockaddr_in6 that Linux accepts: that of RFC 2133, without
 * sin6_scope_id. */
#define IN6_MIN 24

uint32_t scps_sockaddr_put(struct scps_sockaddr_storage *out, int domain,
                           const struct scps_endpoint *ep)
{
    uint8_t port[2];
    scps_put16(port, ep->port);
    if (domain == SCPS_AF_UNSPEC)
        domain = ep->addr.family == 6 ? SCPS_AF_INET6 : SCPS_AF_INET;
    memset(out, 0, sizeof *out);
    if (domain == SCPS_AF_INET6) {
        struct scps_sockaddr_in6 a = {.sin6_family = SCPS_AF_INET6};
        memcpy(&a.sin6_port, port, 2);
        if (ep->addr.family == 4) {
            memcpy(a.sin6_addr, mapped_prefix, 12);
            memcpy(a.sin6_addr + 12, ep->addr.b, 4);
        } else {
            memcpy(a.sin6_addr, ep->addr.b, 16);
        }
        memcpy(out, &a, sizeof a);
        return sizeof a;
    }
    if (ep->addr.family == 6)
        return 0;
    struct scps_sockaddr_in a = {.sin_family = SCPS_AF_INET};
    memcpy(&a.sin_port, port, 2);
    memcpy(a.sin_addr, ep->addr.b, 4);
    memcpy(out, &a, sizeof a);
    return sizeof a;
}

/* Parses a struct sockaddr_in or sockaddr_in6 of len bytes at addr into *ep. Returns 0, -EINVAL
 * (too short) or -EAFNOSUPPORT. */
static int addr_get(const void *addr, uint32_t len, struct scps_endpoint *ep)
{
    uint16_t family;
    if (len < sizeof family)
        return -EINVAL;
    memcpy(&family, addr, sizeof family);
    struct scps_endpoint e = {0};
    if (family == SCPS_AF_INET) {
        struct scps_sockaddr_in a;
        if (len < sizeof a)
            return -EINVAL;
        memcpy(&a, addr, sizeof a);
        e.port = scps_get16((const uint8_t *)&a.sin_port);
        e.addr.family = 4;
        memcpy(e.addr.b, a.sin_addr, 4);
    } else if (family == SCPS_AF_INET6) {
        struct scps_sockaddr_in6 a = {0};
        if (len < IN6_MIN)
            return -EINVAL;
        memcpy(&a, addr, SCPS_MIN(len, sizeof a));
        e.port = scps_get16((const uint8_t *)&a.sin6_port);
        if (memcmp(a.sin6_addr, mapped_prefix, 12) == 0) {
            e.addr.family = 4;
            memcpy(e.addr.b, a.sin6_addr + 12, 4);
        } else {
            e.addr.family = 6;
            memcpy(e.addr.b, a.sin6_addr, 16);
        }
    } else {
        return -EAFNOSUPPORT;
    }
    *ep = e;
    return 0;
}

int scps_sockaddr_get(const void *addr, uint32_t len, struct scps_endpoint *ep)
{
    int r = addr && ep ? addr_get(addr, len, ep) : -EFAULT;
    if (r < 0) {
        errno = -r;
        return -1;
    }
    return 0;
}

int scps_sock_addr_in(const struct sock *s, const void *addr, uint32_t len,
                      struct scps_endpoint *ep)
{
    uint16_t family;
    if (!addr)
        return -EFAULT;
    /* As in Linux, the length is checked against the socket's domain first, then the family is
     * read: a short address is EINVAL even if its family is wrong. */
    if (len < (s->domain == SCPS_AF_INET6 ? IN6_MIN : sizeof(struct scps_sockaddr_in)))
        return -EINVAL;
    memcpy(&family, addr, sizeof family);
    if (family != s->domain)
        return -EAFNOSUPPORT;
    return addr_get(addr, len, ep);
}

int scps_sock_reaches(const struct sock *s, const struct scps_endpoint *to)
{
    unsigned family = s->names.local.addr.family;

    if (to->addr.family == 6)
        return family == 4 ? -EAFNOSUPPORT : 0;
    return family == 6 && s->names.bound_addr ? -ENETUNREACH : 0;
}

int scps_sock_addr_out(const struct sock *s, const struct scps_endpoint *ep, void *addr,
                       uint32_t *len)
{
    struct scps_sockaddr_storage a;
    if (!len || !addr)
        return -EFAULT;
    if (*len > INT32_MAX)
        return -EINVAL;
    uint32_t n = scps_sockaddr_put(&a, s->domain, ep);
    memcpy(addr, &a, SCPS_MIN(n, *len));
    *len = n;
    return 0;
}

struct scps_addr scps_sock_any(const struct sock *s)
{
    struct scps_addr any = {.family = 4};
    if (s->domain == SCPS_AF_INET6)
        any.family = s->v6only ? 6 : 0;
    return any;
}

static bool is_zero(const struct scps_addr *a)
{
    static const uint8_t zero[16];
    return memcmp(a->b, zero, 16) == 0;
}

static bool overlap(const struct scps_addr *a, const struct scps_addr *b)
{
    if (a->family == 0 || b->family == 0)
        return true;
    return a->family == b->family && (is_zero(a) || is_zero(b) || memcmp(a->b, b->b, 16) == 0);
}

/* Returns true if another socket of this context has the port of ep, and by Linux's rules for
 * SO_REUSEADDR and SO_REUSEPORT s cannot be bound to ep, too. strict: true: compares as if no
 * socket had one of these options. */
static bool conflict_here(const struct sock *s, const struct scps_endpoint *ep, bool strict)
{
    const struct scps_ctx *ctx = s->ctx;
    for (uint32_t i = 0; i < ctx->nslot; i++) {
        const struct sock *o = ctx->slot[i];
        if (!o || o == s || o->dgram != s->dgram || !o->names.bound ||
            o->names.local.port != ep->port || !overlap(&o->names.local.addr, &ep->addr))
            continue;
        if (!strict && s->reuseaddr && o->reuseaddr && !o->pcb.lis)
            continue;
        if (!strict && s->reuseport && o->reuseport)
            continue;
        return true;
    }
    return false;
}

static bool port_busy(const struct sock *s, const struct scps_endpoint *ep)
{
    return (s->dgram ? scps_dgram_port_busy : scps_stack_port_busy)(s->ctx->st, ep);
}

bool scps_sock_conflict(const struct sock *s, const struct scps_endpoint *ep)
{
    if (conflict_here(s, ep, false))
        return true;
    return !s->reuseaddr && !s->reuseport && port_busy(s, ep);
}

/* Returns a random number below n, which the caller adds to the lowest ephemeral port to get the
 * first port to try (RFC 6056 section 3.3.1). An attacker who knows the ports of some sockets
 * cannot compute that of the next one (RFC 6056 section 2). */
static uint32_t first_port(struct scps_ctx *ctx, uint32_t n)
{
    uint8_t msg[4];

    scps_put32(msg, ctx->port_next++);
    return (uint32_t)(scps_siphash(ctx->port_key, msg, sizeof msg) % n);
}

int scps_sock_take_port(struct sock *s, const struct scps_endpoint *want)
{
    struct scps_ctx *ctx = s->ctx;
    struct scps_endpoint ep = *want;
    if (ep.port == 0) {
        uint32_t lo = ctx->cfg.stack_config.port_min;
        uint32_t n = ctx->cfg.stack_config.port_max - lo + 1;
        uint32_t first = first_port(ctx, n);
        uint32_t i = 0;
        for (; i < n; i++) {
            ep.port = (uint16_t)(lo + (first + i) % n);
            if (!conflict_here(s, &ep, true) && !port_busy(s, &ep))
                break;
        }
        if (i == n)
            return -EADDRINUSE;
    } else if (scps_sock_conflict(s, &ep)) {
        return -EADDRINUSE;
    }
    scps_sock_names_take_port(&s->names, &ep);
    return 0;
}
