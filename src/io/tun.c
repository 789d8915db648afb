/* SPDX-License-Identifier: MIT */
/* TUN: a point-to-point device between the kernel and this stack.
 *
 *     kernel's TCP, ping, curl ... -> routing -> [scps0] -> read(fd)   -> scps_netif_recv -> stack
 *                                                        <- writev(fd) <- scps_netif_send <-
 *
 * Each read() returns one packet, and each writev() sends one: its headers come from scps_pump(),
 * its payload directly from the send buffer. A device that TUNSETIFF created vanishes when its
 * descriptor is closed. On a device that existed before (ip tuntap add ...), closing reverts the
 * changes made here.
 *
 * With scps_tun_config.offload (GSO and checksum offload), a virtio header precedes each packet in
 * both directions. Then the kernel may pass a TCP segment of up to 64 KiB that it has not cut into
 * segments of the MSS, and whose checksum field covers the pseudo-header only; it accepts such
 * segments from this end, too.
 *
 * Sources: Linux Documentation/networking/tuntap.rst; virtio 1.1 section 5.1.6 (struct
 * virtio_net_hdr).
 */
#include "base/bytes.h"
#include "base/sized.h"
#include "io/iodev.h"
#include "io/tunaddr.h"
#include <scps/ether.h>
#include <scps/wire.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#define TUN_PATH "/dev/net/tun"

struct tun {
    struct scps_iodev dev;
    char name[IFNAMSIZ];
    bool existed, offload;
    struct scps_tunundo undo;
    /* buffer for one packet from the kernel: holds the largest IP packet, and so the largest GSO
     * packet, a TCP segment that the kernel has not divided into segments of the MSS */
    uint8_t buf[65536];
};

/* ---- functions that receive packets from the kernel ---- */

static ssize_t read_packet(struct tun *t, struct scps_pkt *p)
{
    struct virtio_net_hdr h;
    struct iovec v[2] = {{&h, sizeof h}, {t->buf, sizeof t->buf}};
    ssize_t n;
    do
        n = t->offload ? readv(t->dev.fd, v, 2) : read(t->dev.fd, t->buf, sizeof t->buf);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return n;
    if (t->offload) {
        if ((size_t)n < sizeof h)
            return 0;
        n -= (ssize_t)sizeof h;
        p->csum_ok = h.flags & (VIRTIO_NET_HDR_F_NEEDS_CSUM | VIRTIO_NET_HDR_F_DATA_VALID);
        if (h.gso_type != VIRTIO_NET_HDR_GSO_NONE)
            p->gso = h.gso_size;
    }
    p->data = t->buf;
    p->len = (size_t)n;
    return n;
}

static int tun_read(struct scps_iodev *d, scps_time at, unsigned max)
{
    struct tun *t = (struct tun *)d;
    for (unsigned i = 0; i < max; i++) {
        struct scps_pkt p = {.at = at};
        ssize_t n = read_packet(t, &p);
        if (n < 0 && errno == EAGAIN)
            return 0;
        /* EBADFD means that the device was deleted; EIO and ENODEV mean that it vanished for
         * another reason. */
        if (n < 0) {
            d->failed = SCPS_ERR_LINKDOWN;
            return d->failed;
        }
        if (n > 0)
            scps_netif_recv(&d->nif, &p);
    }
    return 1;
}

/* ---- functions that send packets to the kernel ---- */

/* Fills in header h, which precedes packet p on its way to the kernel. If p is TCP, h tells the
 * kernel to compute the checksum and, if p->gso is not 0, to cut the payload into segments of
 * p->gso bytes; this function sets the checksum field of p to the sum of the pseudo-header, as the
 * kernel requires. Other packets are sent unchanged. */
static void fill_virtio(struct virtio_net_hdr *h, const struct scps_pkt *p)
{
    uint8_t *ip = p->data;
    size_t hl = ip[0] >> 4 == 4 ? (size_t)(ip[0] & 15) * 4 : 40;
    bool v4 = ip[0] >> 4 == 4;
    *h = (struct virtio_net_hdr){0};
    if (p->len < hl + 20 || (v4 ? ip[9] : ip[6]) != SCPS_IPPROTO_TCP)
        return;
    struct scps_addr src = {v4 ? 4 : 6}, dst = src;
    memcpy(src.b, ip + (v4 ? 12 : 8), v4 ? 4 : 16);
    memcpy(dst.b, ip + (v4 ? 16 : 24), v4 ? 4 : 16);
    uint64_t sum = scps_cksum_pseudo(0, &src, &dst, SCPS_IPPROTO_TCP,
                                     (uint32_t)(p->len - hl + p->payload_len));
    scps_put16(ip + hl + 16, (uint16_t)~scps_cksum_fold(sum));
    h->flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
    h->csum_start = (uint16_t)hl;
    h->csum_offset = 16;
    if (!p->gso)
        return;
    h->gso_type = v4 ? VIRTIO_NET_HDR_GSO_TCPV4 : VIRTIO_NET_HDR_GSO_TCPV6;
    h->gso_size = p->gso;
    h->hdr_len = (uint16_t)(hl + (size_t)(ip[hl + 12] >> 4) * 4);
}

static int tun_send(struct scps_netif *nif, const struct scps_pkt *p)
{
    struct tun *t = (struct tun *)nif;
    struct virtio_net_hdr h;
    struct iovec v[3];
    int n = 0;
    if (t->dev.failed)
        return t->dev.failed;
    if (!p->payload && p->payload_len)
        /* Payload that is counted but not stored (hollow) occurs in simulations only, so it is
         * refused. */
        return SCPS_ERR_INVAL;
    /* A packet longer than the MTU is refused, and so is a GSO packet (p->gso not 0) if one of the
     * segments into which it will be divided is longer: the kernel would accept them, but the links
     * behind the device would not. */
    if (p->len + (p->gso ? p->gso : p->payload_len) > nif->mtu)
        return SCPS_ERR_MSGSIZE;
    if (t->offload) {
        fill_virtio(&h, p);
        v[n++] = (struct iovec){&h, sizeof h};
    }
    v[n++] = (struct iovec){p->data, p->len};
    if (p->payload_len)
        v[n++] = (struct iovec){(void *)(uintptr_t)p->payload, p->payload_len};

    ssize_t w;
    do
        w = n == 1 ? write(t->dev.fd, v[0].iov_base, v[0].iov_len) : writev(t->dev.fd, v, n);
    while (w < 0 && errno == EINTR);
    if (w >= 0)
        return 0;
    switch (errno) {
    case EAGAIN:
        t->dev.block = SCPS_IO_POLL;
        return SCPS_ERR_AGAIN;
    case ENOBUFS:
    case ENOMEM:
        t->dev.block = SCPS_IO_LATER;
        return SCPS_ERR_AGAIN;
    case EBADFD:
    case ENODEV:
    case ENXIO:
        t->dev.failed = SCPS_ERR_LINKDOWN;
        return SCPS_ERR_LINKDOWN;
    default:
        /* The packet is lost. EIO, for example, means that an administrator has set the device
         * down; it may come up again, so the device is not given up. */
        return SCPS_ERR_SYSTEM;
    }
}

static void tun_close(struct scps_netif *nif)
{
    struct tun *t = (struct tun *)nif;
    if (t->existed)
        scps_tunaddr_undo(&t->undo);
    close(t->dev.fd);
    free(t);
}

const struct scps_netif_ops scps_tun_ops = {"tun", tun_send, NULL, tun_close};

/* ---- functions that open the device ---- */

bool scps_tun_name_is_good(const char *s)
{
    size_t n = strlen(s);
    return n && n < IFNAMSIZ && strcmp(s, ".") && strcmp(s, "..") && !strpbrk(s, "/: \t\n");
}

static int open_control(char *msg)
{
    int fd = open(TUN_PATH, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0)
        return fd;
    if (errno == ENOENT)
        scps_io_message(msg,
                        "there is no " TUN_PATH ": load the module (modprobe tun), make the node "
                        "(mknod " TUN_PATH " c 10 200), or use --udp");
    else if (errno == ENODEV || errno == ENXIO)
        scps_io_message(msg,
                        TUN_PATH " has no driver: load the module (modprobe tun), or use --udp");
    else if (errno == EACCES || errno == EPERM)
        scps_io_message(msg, "no permission to open " TUN_PATH
                             ": run as root, or allow it (chmod 666 " TUN_PATH
                             "), or use --udp, which needs no privilege");
    else
        scps_io_message(msg, "cannot open " TUN_PATH ": %s", strerror(errno));
    return -1;
}

/* Writes to msg why TUNSETIFF failed: EINVAL and EBUSY have several possible causes; the state of
 * the device (*link) shows which one it is. */
static void say_why(const char *name, const struct scps_tunlink *link, bool tap, int err, char *msg)
{
    const char *kind = tap ? "TAP" : "TUN";

    if (err == EBUSY)
        scps_io_message(
            msg, "device %s is in use by another program: stop it, or take another name", name);
    else if ((err == EPERM || err == EACCES) && link->index)
        scps_io_message(msg,
                        "no permission to use device %s: it belongs to another user; run as root "
                        "or with CAP_NET_ADMIN, or use --udp",
                        name);
    else if (err == EPERM || err == EACCES)
        scps_io_message(msg,
                        "no permission to create device %s: run as root or with CAP_NET_ADMIN, or "
                        "beforehand: ip tuntap add dev %s mode %s user NAME; or use --udp",
                        name, name, tap ? "tap" : "tun");
    else if (err == EINVAL && link->index && link->ethernet && !tap)
        scps_io_message(msg,
                        "device %s carries Ethernet frames (a tap or a card), not IP packets: take "
                        "another name",
                        name);
    else if (err == EINVAL && link->index)
        scps_io_message(msg, "device %s is not a single-queue %s device: take another name", name,
                        kind);
    else if (err == EINVAL)
        scps_io_message(msg,
                        "\"%s\" is not a name for a device: 1 to %d characters without / : or "
                        "space",
                        name, IFNAMSIZ - 1);
    else
        scps_io_message(msg, "cannot open %s device %s: %s: take another name", kind, name,
                        strerror(err));
}

/* Asks the kernel to pass TCP segments without cutting them to the MSS and without computing their
 * checksums. If the kernel refuses, it passes single complete segments. In the other direction,
 * this end may send such segments without asking. */
static void accept_offload(int fd)
{
    int size = (int)sizeof(struct virtio_net_hdr);
    if (ioctl(fd, TUNSETVNETHDRSZ, &size) == 0)
        (void)ioctl(fd, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6);
}

struct scps_netif *scps_tun_open_sized(const struct scps_tun_config *asked, size_t size,
                                       char msg[SCPS_IO_MSGLEN])
{
    struct scps_tun_config own = {0};
    const struct scps_tun_config *cfg = &own;
    struct scps_tunlink link;
    struct ifreq ifr = {.ifr_flags = IFF_NO_PI};
    int fd = -1;
    struct tun *t = NULL;

    if (!scps_io_take(&own, sizeof own, asked, size, SCPS_SIZED_TO(scps_tun_config, kernel_addr),
                      msg))
        return NULL;
    if (!cfg->name || !scps_tun_name_is_good(cfg->name)) {
        say_why(cfg->name ? cfg->name : "", &(struct scps_tunlink){0}, cfg->ethernet, EINVAL, msg);
        return NULL;
    }
    fd = open_control(msg);
    if (fd < 0)
        return NULL;
    if (scps_tunlink_find(cfg->name, &link, msg))
        goto fail;
    strcpy(ifr.ifr_name, cfg->name);
    ifr.ifr_flags = (short)(ifr.ifr_flags | (cfg->ethernet ? IFF_TAP : IFF_TUN));
    if (cfg->offload)
        ifr.ifr_flags |= IFF_VNET_HDR;
    if (ioctl(fd, TUNSETIFF, &ifr)) {
        say_why(cfg->name, &link, cfg->ethernet, errno, msg);
        goto fail;
    }
    t = calloc(1, sizeof *t);
    if (!t) {
        scps_io_message(msg, "out of memory");
        goto fail;
    }
    t->existed = link.index != 0;
    t->offload = cfg->offload;
    /* The kernel has replaced "tun%d" by a name such as "tun0". */
    memcpy(t->name, ifr.ifr_name, sizeof t->name);
    t->name[sizeof t->name - 1] = 0;
    t->dev.fd = fd;
    t->dev.read = tun_read;
    t->dev.nif.ops = &scps_tun_ops;
    t->dev.nif.name = t->name;
    if (scps_tunaddr_setup(t->name, cfg, &link, &t->undo, msg)) {
        tun_close(&t->dev.nif);
        return NULL;
    }
    t->dev.nif.mtu = link.mtu + (cfg->ethernet ? SCPS_ETHER_HEADER : 0);
    if (t->offload) {
        accept_offload(fd);
        t->dev.nif.flags |= SCPS_NETIF_NO_CSUM | SCPS_NETIF_GSO;
    }
    return &t->dev.nif;

fail:
    close(fd);
    return NULL;
}
