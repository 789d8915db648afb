/* SPDX-License-Identifier: MIT */
/* One end of the emulated link.
 *
 *     program -> kernel's routing -> [tun] -> tap -> end -> channel
 *
 * To open a device in another network namespace, this thread enters that namespace, opens the
 * device and returns to its own; the device stays in the other namespace. The thread enters that
 * namespace again to close the device: if the device existed before the program, its settings are
 * restored through netlink, which reaches only devices of the thread's namespace.
 *
 * A device that this program creates gets a longer queue than the kernel's 500 packets: if a sender
 * passes a megabyte at once, the packets should wait in the queue of the emulated link, whose
 * length the user has chosen.
 */
#include "scps_link/end.h"
#include "scps_link/netns.h"

#include <scps/error.h>
#include <scps/trace.h>

#include <errno.h>
#include <ifaddrs.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* length, packets, of the transmit queue of an end's TUN device: packets that the kernel has sent
 * to the device and this program has not read yet */
#define QUEUE 5000

static int end_recv(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    struct link_end *e = (struct link_end *)nif;

    e->arrived(e, pkt);
    return 0;
}

static const struct scps_netif_ops ops = {.name = "link", .recv = end_recv};

static int enter_netns(const struct link_end *e, char *msg)
{
    return e->ns < 0 ? 0 : netns_enter(e->ns, e->o->netns, msg, LINK_MSGLEN);
}

static void come_back(const struct link_end *e)
{
    if (e->ns >= 0)
        (void)netns_enter(e->home, "", NULL, 0);
}

static bool is_addr(const struct sockaddr *sa, const struct scps_addr *a)
{
    if (sa->sa_family == AF_INET && a->family == 4)
        return memcmp(&((const struct sockaddr_in *)(const void *)sa)->sin_addr, a->b, 4) == 0;
    if (sa->sa_family == AF_INET6 && a->family == 6)
        return memcmp(&((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr, a->b, 16) == 0;
    return false;
}

/* Checks that no device of this host has one of the addresses in o. The kernel would allow the same
 * address on two devices, but use only one of them. Returns 0, or -1 with one line in msg. */
static int addresses_free(const struct link_end_options *o, char *msg)
{
    struct ifaddrs *all;
    int rc = 0;

    if (getifaddrs(&all) != 0)
        /* The list of addresses is unknown, so nothing can be checked. A later netlink call will
         * fail for the same reason and print a better message. */
        return 0;
    for (const struct ifaddrs *i = all; i && rc == 0; i = i->ifa_next)
        for (unsigned k = 0; k < o->naddr && rc == 0; k++)
            if (i->ifa_addr && strcmp(i->ifa_name, o->device) != 0 &&
                is_addr(i->ifa_addr, &o->addr[k])) {
                char text[SCPS_ADDR_STRLEN];
                snprintf(
                    msg, LINK_MSGLEN,
                    "address %s is in use by device %s%s%s: take another, or remove it there (ip "
                    "addr del)",
                    scps_addr_format(&o->addr[k], text), i->ifa_name,
                    o->netns[0] ? " in namespace " : "", o->netns);
                rc = -1;
            }
    freeifaddrs(all);
    return rc;
}

static uint64_t overruns(const char *device)
{
    struct ifaddrs *all;
    uint64_t n = 0;

    if (getifaddrs(&all) != 0)
        return 0;
    for (const struct ifaddrs *i = all; i; i = i->ifa_next)
        if (i->ifa_addr && i->ifa_addr->sa_family == AF_PACKET && i->ifa_data &&
            strcmp(i->ifa_name, device) == 0)
            n = ((const struct rtnl_link_stats *)i->ifa_data)->tx_dropped;
    freeifaddrs(all);
    return n;
}

static void set_queue(const char *device, int packets)
{
    struct ifreq r = {.ifr_qlen = packets};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return;
    strncpy(r.ifr_name, device, sizeof r.ifr_name - 1);
    (void)ioctl(fd, SIOCSIFTXQLEN, &r);
    close(fd);
}

static int open_tun(struct link_end *e, const struct link_end_options *far, uint32_t mtu, char *msg)
{
    const struct link_end_options *o = e->o;
    struct scps_tun_config c = {.name = o->device, .n = o->naddr, .mtu = mtu};
    char why[SCPS_IO_MSGLEN];
    bool existed;

    for (unsigned i = 0; i < o->naddr; i++) {
        c.kernel_addr[i] = o->addr[i];
        c.kernel_prefix[i] = o->prefix[i];
        for (unsigned k = far->naddr; o->bare[i] && k-- > 0;)
            if (far->addr[k].family == o->addr[i].family)
                c.peer[i] = far->addr[k];
    }
    if (addresses_free(o, msg) != 0)
        return -1;
    existed = if_nametoindex(o->device) != 0;
    e->tun = scps_tun_open(&c, why);
    if (!e->tun) {
        /* The advice to use --udp is removed from the message, because this program has no such
         * option. */
        char *other = strstr(why, "or use --udp");
        if (other && other - why > 2)
            other[-2] = 0;
        snprintf(msg, LINK_MSGLEN, "%s", why);
        return -1;
    }
    if (!existed)
        set_queue(e->tun->name, QUEUE);
    e->overrun_base = overruns(e->tun->name);
    return 0;
}

static scps_time tap_now(void *ctx)
{
    (void)ctx;
    return scps_sysclock_now();
}

int link_end_open(struct link_end *e, const struct link_end_options *o,
                  const struct link_end_options *far, uint32_t mtu, scps_time epoch,
                  void (*arrived)(struct link_end *e, const struct scps_pkt *pkt), void *ctx,
                  char msg[LINK_MSGLEN])
{
    /* message about an error while closing after a failure; it is discarded, because msg already
     * describes the failure */
    char why[LINK_MSGLEN];
    struct scps_netif *top;
    int rc;

    *e = (struct link_end){
        .nif.ops = &ops, .o = o, .home = -1, .ns = -1, .arrived = arrived, .ctx = ctx};
    if (o->netns[0]) {
        e->home = netns_open("", msg, LINK_MSGLEN);
        e->ns = netns_open(o->netns, msg, LINK_MSGLEN);
        if (e->home < 0 && e->ns >= 0)
            snprintf(msg, LINK_MSGLEN, "cannot remember this namespace: %s: is /proc mounted?",
                     strerror(errno));
        if (e->home < 0 || e->ns < 0)
            goto fail;
    }
    if (enter_netns(e, msg) != 0)
        goto fail;
    rc = open_tun(e, far, mtu, msg);
    come_back(e);
    if (rc != 0)
        goto fail;
    top = e->tun;
    if (o->pcap) {
        if (spool_open(&e->spool, o->pcap, msg, LINK_MSGLEN) != 0)
            goto fail;
        e->tap = scps_tap_open(spool_name(&e->spool), 0, epoch, tap_now, NULL, msg, LINK_MSGLEN);
        spool_opened(&e->spool);
        if (!e->tap)
            goto fail;
        top = scps_netif_push(top, e->tap);
    }
    scps_netif_push(top, &e->nif);
    /* The kernel limits each packet to the MTU of the device through which it is sent, and takes a
     * packet of any length at the other end. So the MTUs of both devices may be changed at any
     * time, and the MTU at the start must not limit the packets. e->nif.mtu keeps that MTU. */
    e->tun->mtu = IP_MAXPACKET;
    return 0;

fail:
    (void)link_end_close(e, why);
    return -1;
}

int link_end_close(struct link_end *e, char msg[LINK_MSGLEN])
{
    struct scps_netif *top = e->tap ? e->tap : e->tun;
    int rc = 0;

    if (e->tap && scps_tap_error(e->tap) != 0) {
        snprintf(msg, LINK_MSGLEN,
                 "%s: %s: the capture is incomplete: make room or write elsewhere", e->o->pcap,
                 strerror(errno));
        rc = -1;
    }
    if (top) {
        /* top->upper points to e->nif, which is not allocated, so it is removed from the chain
         * before scps_netif_close() frees the rest. */
        top->upper = NULL;
        bool there = enter_netns(e, NULL) == 0;
        scps_netif_close(top);
        if (there)
            come_back(e);
    }
    e->tap = e->tun = NULL;
    if (spool_close(&e->spool, msg, LINK_MSGLEN) != 0)
        rc = -1;
    if (e->ns >= 0)
        close(e->ns);
    if (e->home >= 0)
        close(e->home);
    e->ns = e->home = -1;
    return rc;
}

const char *link_end_device(const struct link_end *e)
{
    return e->tun ? e->tun->name : e->o->device;
}

int link_end_send(struct link_end *e, const struct scps_pkt *pkt)
{
    return scps_netif_send(e->nif.lower, pkt);
}

uint64_t link_end_overruns(const struct link_end *e)
{
    uint64_t n;

    if (!e->tun || enter_netns(e, NULL) != 0)
        return 0;
    n = overruns(e->tun->name);
    come_back(e);
    return n > e->overrun_base ? n - e->overrun_base : 0;
}
