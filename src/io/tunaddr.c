/* SPDX-License-Identifier: MIT */
/* Sets up a TUN device with libnl-3, as `ip link set ... up mtu ...` and `ip addr add ...` do.
 *
 * An IPv6 address is added with nodad: a point-to-point device has no other station that could use
 * the address, so duplicate address detection is not needed, and while it runs, in the first
 * second, packets to the new address would be lost (RFC 4862 section 5.4 allows an interface to do
 * so). When the program closes the device, or its setup fails, scps_tunaddr_undo() reverts the
 * changes if the device existed before; a device that was created here vanishes when its descriptor
 * is closed.
 */
#include "io/tunaddr.h"

#include "base/sized.h"
#include <scps/error.h>

#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_arp.h>
#include <netlink/errno.h>
#include <netlink/netlink.h>
#include <netlink/route/addr.h>
#include <netlink/route/link.h>
#include <netlink/route/nexthop.h>
#include <netlink/route/route.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>

void scps_io_message(char *msg, const char *fmt, ...)
{
    if (!msg)
        return;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(msg, SCPS_IO_MSGLEN, fmt, ap);
    va_end(ap);
}

static struct nl_sock *open_rtnl(char *msg)
{
    struct nl_sock *sk = nl_socket_alloc();
    int err = sk ? nl_connect(sk, NETLINK_ROUTE) : -NLE_NOMEM;
    if (!err)
        return sk;
    scps_io_message(msg, "cannot talk to the kernel's rtnetlink: %s", nl_geterror(err));
    nl_socket_free(sk);
    return NULL;
}

static int find_link(struct nl_sock *sk, const char *name, struct rtnl_link **found,
                     struct scps_tunlink *out, char *msg)
{
    struct rtnl_link *l = NULL;
    int err = rtnl_link_get_kernel(sk, 0, name, &l);
    *out = (struct scps_tunlink){0};
    if (err == -NLE_NODEV || err == -NLE_OBJ_NOTFOUND)
        return 0;
    if (err < 0) {
        scps_io_message(msg, "cannot look up device %s: %s", name, nl_geterror(err));
        return SCPS_ERR_SYSTEM;
    }
    *out = (struct scps_tunlink){.index = rtnl_link_get_ifindex(l),
                                 .mtu = rtnl_link_get_mtu(l),
                                 .up = rtnl_link_get_flags(l) & IFF_UP,
                                 .ethernet = rtnl_link_get_arptype(l) == ARPHRD_ETHER};
    if (found)
        *found = l;
    else
        rtnl_link_put(l);
    return 0;
}

int scps_tunlink_find(const char *name, struct scps_tunlink *out, char *msg)
{
    struct nl_sock *sk = open_rtnl(msg);
    if (!sk)
        return SCPS_ERR_SYSTEM;
    int err = find_link(sk, name, NULL, out, msg);
    nl_socket_free(sk);
    return err;
}

/* Writes to msg that the kernel refused to do `what` with device `name`; err: the error of libnl.
 * For lack of privilege the message also gives `remedy`, a command that an administrator can run
 * beforehand; NULL: there is none. Returns SCPS_ERR_PERM or SCPS_ERR_SYSTEM. */
static int refused(int err, const char *what, const char *name, const char *remedy, char *msg)
{
    if (err == -NLE_PERM) {
        scps_io_message(msg, "no permission to %s device %s: run as root or with CAP_NET_ADMIN%s%s",
                        what, name, remedy ? ", or beforehand: " : "", remedy ? remedy : "");
        return SCPS_ERR_PERM;
    }
    scps_io_message(msg, "cannot %s device %s: %s", what, name, nl_geterror(err));
    return SCPS_ERR_SYSTEM;
}

static struct nl_addr *nl_of(const struct scps_addr *a, unsigned prefix)
{
    struct nl_addr *n =
        nl_addr_build(a->family == 4 ? AF_INET : AF_INET6, a->b, a->family == 4 ? 4 : 16);
    if (n)
        nl_addr_set_prefixlen(n, (int)prefix);
    return n;
}

static struct rtnl_addr *rtnl_of(int index, const struct scps_addr *a, unsigned prefix,
                                 const struct scps_addr *peer)
{
    struct rtnl_addr *ra = rtnl_addr_alloc();
    struct nl_addr *local = nl_of(a, prefix);
    struct nl_addr *far = peer && peer->family == 4 ? nl_of(peer, prefix) : NULL;
    bool ok = ra && local && !rtnl_addr_set_local(ra, local);
    /* libnl refuses an IPv6 peer address, so a route to it is added instead. */
    if (ok && peer && peer->family == 4)
        ok = far && !rtnl_addr_set_peer(ra, far);
    if (ok) {
        rtnl_addr_set_ifindex(ra, index);
        if (a->family == 6)
            rtnl_addr_set_flags(ra, IFA_F_NODAD);
    }
    nl_addr_put(local);
    nl_addr_put(far);
    if (ok)
        return ra;
    rtnl_addr_put(ra);
    return NULL;
}

/* Adds (add true) or removes the route to an IPv6 peer, which the kernel does not create together
 * with the address. Returns 0, or an error of libnl. */
static int peer_route(struct nl_sock *sk, int index, const struct scps_addr *peer, bool add)
{
    struct rtnl_route *r = rtnl_route_alloc();
    struct rtnl_nexthop *nh = rtnl_route_nh_alloc();
    struct nl_addr *dst = nl_of(peer, 128);
    int err = -NLE_NOMEM;
    if (r && nh && dst) {
        rtnl_route_nh_set_ifindex(nh, index);
        /* From now on the route r owns the next hop, which is freed with r. */
        rtnl_route_add_nexthop(r, nh);
        nh = NULL;
        err = rtnl_route_set_dst(r, dst);
        if (!err)
            err = add ? rtnl_route_add(sk, r, NLM_F_EXCL) : rtnl_route_delete(sk, r, 0);
    }
    if (nh)
        rtnl_route_nh_free(nh);
    nl_addr_put(dst);
    rtnl_route_put(r);
    return err == -NLE_EXIST ? 0 : err;
}

/* Waits until the kernel can receive packets for its new IPv6 address a, 0.2 s at most. The kernel
 * adds the address at once, but the local route to the address a moment later, even without
 * duplicate address detection; a packet that arrives in between would be lost. */
static void await_local(struct nl_sock *sk, const struct scps_addr *a)
{
    struct nl_addr *dst = nl_of(a, 128);
    bool there = !dst;
    for (int i = 0; i < 200 && !there; i++) {
        struct rtnl_route *r = NULL;
        there = !rtnl_route_lookup(sk, dst, &r) && rtnl_route_get_type(r) == RTN_LOCAL;
        rtnl_route_put(r);
        if (!there)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    nl_addr_put(dst);
}

static int add_addr(struct nl_sock *sk, const char *name, int index,
                    const struct scps_tun_config *cfg, unsigned i, struct scps_tunundo *undo,
                    char *msg)
{
    char text[SCPS_ADDR_STRLEN], remedy[96], what[80];
    const struct scps_addr *a = &cfg->kernel_addr[i], *peer = &cfg->peer[i];
    struct rtnl_addr *ra = rtnl_of(index, a, cfg->kernel_prefix[i], peer);
    int err = ra ? rtnl_addr_add(sk, ra, NLM_F_EXCL) : -NLE_NOMEM;
    rtnl_addr_put(ra);
    if (!err) {
        undo->added[i] = *a;
        undo->prefix[i] = cfg->kernel_prefix[i];
        undo->peer[i] = *peer;
    }
    if (!err && a->family == 6)
        await_local(sk, a);
    if ((!err || err == -NLE_EXIST) && peer->family == 6)
        err = peer_route(sk, index, peer, true);
    if (!err || err == -NLE_EXIST)
        return 0;
    scps_addr_format(a, text);
    if (a->family == 6 && err != -NLE_PERM) {
        scps_io_message(msg,
                        "cannot add %s/%u to device %s: %s (is IPv6 switched off, see sysctl "
                        "net.ipv6.conf.all.disable_ipv6, or the MTU below 1280?)",
                        text, cfg->kernel_prefix[i], name, nl_geterror(err));
        return SCPS_ERR_SYSTEM;
    }
    snprintf(what, sizeof what, "add %s/%u to", text, cfg->kernel_prefix[i]);
    snprintf(remedy, sizeof remedy, "ip addr add %s/%u dev %s", text, cfg->kernel_prefix[i], name);
    return refused(err, what, name, remedy, msg);
}

static int change_link(struct nl_sock *sk, const char *name, struct rtnl_link *link, uint32_t mtu,
                       char *msg)
{
    char remedy[96];
    struct rtnl_link *want = rtnl_link_alloc();
    if (!want) {
        scps_io_message(msg, "out of memory");
        return SCPS_ERR_NOMEM;
    }
    if (mtu)
        rtnl_link_set_mtu(want, mtu);
    rtnl_link_set_flags(want, IFF_UP);
    int err = rtnl_link_change(sk, link, want, 0);
    rtnl_link_put(want);
    if (!err)
        return 0;
    if (mtu && (err == -NLE_INVAL || err == -NLE_RANGE)) {
        scps_io_message(msg, "device %s refuses an MTU of %u: 68 to 65535 are possible", name, mtu);
        return SCPS_ERR_SYSTEM;
    }
    if (mtu)
        snprintf(remedy, sizeof remedy, "ip link set %s up mtu %u", name, mtu);
    else
        snprintf(remedy, sizeof remedy, "ip link set %s up", name);
    return refused(err, mtu ? "set the MTU of" : "bring up", name, remedy, msg);
}

int scps_tunaddr_setup(const char *name, const struct scps_tun_config *cfg,
                       struct scps_tunlink *link, struct scps_tunundo *undo, char *msg)
{
    struct rtnl_link *l = NULL;
    *undo = (struct scps_tunundo){0};
    struct nl_sock *sk = open_rtnl(msg);
    if (!sk)
        return SCPS_ERR_SYSTEM;
    int err = find_link(sk, name, &l, link, msg);
    if (!err && !link->index) {
        scps_io_message(msg, "device %s vanished while it was being set up", name);
        err = SCPS_ERR_SYSTEM;
    }
    if (err)
        goto out;
    undo->index = link->index;

    uint32_t mtu = cfg->mtu && cfg->mtu != link->mtu ? cfg->mtu : 0;
    if (mtu || !link->up) {
        err = change_link(sk, name, l, mtu, msg);
        if (err)
            goto out;
        undo->mtu = mtu ? link->mtu : 0;
        undo->down = !link->up;
        link->up = true;
        if (mtu)
            link->mtu = mtu;
    }
    for (unsigned i = 0; i < cfg->n && !err; i++)
        err = add_addr(sk, name, link->index, cfg, i, undo, msg);
out:
    rtnl_link_put(l);
    nl_socket_free(sk);
    return err;
}

void scps_tunaddr_undo(const struct scps_tunundo *undo)
{
    struct rtnl_link *l = NULL, *want = NULL;
    struct nl_sock *sk = undo->index ? open_rtnl(NULL) : NULL;
    if (!sk)
        return;
    for (unsigned i = 0; i < 4; i++) {
        if (!undo->added[i].family)
            continue;
        if (undo->peer[i].family == 6)
            peer_route(sk, undo->index, &undo->peer[i], false);
        struct rtnl_addr *ra =
            rtnl_of(undo->index, &undo->added[i], undo->prefix[i], &undo->peer[i]);
        if (ra)
            rtnl_addr_delete(sk, ra, 0);
        rtnl_addr_put(ra);
    }
    if ((undo->mtu || undo->down) && rtnl_link_get_kernel(sk, undo->index, NULL, &l) == 0 &&
        (want = rtnl_link_alloc())) {
        if (undo->mtu)
            rtnl_link_set_mtu(want, undo->mtu);
        if (undo->down)
            rtnl_link_unset_flags(want, IFF_UP);
        rtnl_link_change(sk, l, want, 0);
    }
    rtnl_link_put(want);
    rtnl_link_put(l);
    nl_socket_free(sk);
}

bool scps_io_take(void *to, size_t most, const void *from, size_t n, size_t least, char *msg)
{
    if (scps_sized_take(to, most, from, n, least))
        return true;
    scps_io_message(
        msg,
        "size: a configuration of %zu bytes: this library takes %zu to %zu: compile the "
        "program with its headers",
        n, least, most);
    return false;
}
