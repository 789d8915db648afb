/* SPDX-License-Identifier: MIT */
/* IP in UDP: the payload of each datagram is one IP packet, without a header of its own. Such a
 * tunnel connects two processes or two hosts and needs no privileges.
 *
 *   stack -> scps_netif_send -> collect -> flush -> sendmsg    recvmmsg -> scps_netif_recv -> stack
 *
 * Packets of equal length to one peer are collected and sent with one system call, and the kernel
 * cuts them apart (UDP_SEGMENT); it may also pass several packets in one datagram (UDP_GRO). This
 * saves time, because the kernel's UDP code takes ten times as long for a packet as this stack. The
 * event loop calls flush() after each scps_pump(), so packets are collected during one scps_pump()
 * at most. If the kernel or the network card cannot cut, the packets are sent with sendmmsg().
 *
 * ECN (RFC 6040): congestion marks that routers set on outer headers are passed up with the packet.
 * Outer headers are sent as Not-ECT (compatibility mode, RFC 6040 section 4.1), because the far end
 * may be an older version that ignores their ECN field. If the configuration says that the far end
 * reads it, outer headers get the ECN field of the inner packet (normal mode). All packets of one
 * sendmsg() have the same ECN field.
 *
 * With a remote endpoint the socket is connected, and the kernel drops datagrams from elsewhere.
 * Without one, this end stores the inner source address and the outer source address (IP address
 * and UDP port) of arriving packets. It sends a packet for inner address A to the outer address
 * from which the last packet with inner source A came; if none came, to the outer address of the
 * last packet that arrived (udppeer.c). So there may be many clients, and clients that move or
 * restart. Nothing is authenticated: anybody who can send to the port can redirect the packets, as
 * on any shared link.
 *
 * Sources: udp(7), Linux Documentation/networking/segmentation-offloads.rst.
 */
#include "base/bytes.h"
#include "base/sized.h"
#include "io/iodev.h"
#include "io/tunaddr.h"
#include "io/udpctl.h"
#include "io/udppeer.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define DGRAM_MAX 65507 /* largest payload of a UDP datagram over IPv4, bytes */
/* largest number of datagrams that one recvmmsg() reads; each may hold several packets (UDP_GRO) */
#define BATCH 8
/* Largest number of packets for one sendmsg() or sendmmsg(): the limit UDP_MAX_SEGMENTS of older
 * kernels. */
#define TRAIN   64
#define SOCKBUF (4 << 20)

struct udptun {
    struct scps_iodev dev;
    bool learning, no_segment;
    /* true: outer headers get the ECN field of the inner packet (RFC 6040 section 4.1, normal
     * mode) */
    bool copies_ecn;
    /* collected packets: packets of the stack that wait in tx to be sent to the outer address `to`
     * by one sendmsg() or sendmmsg(): `count` packets of `seg` bytes each, of which the last may be
     * shorter */
    uint8_t tx[DGRAM_MAX];
    size_t tx_len, seg;
    unsigned count;
    /* ECN field (0 to 3) of the outer IP headers with which the collected packets, those in tx, are
     * sent */
    uint8_t ecn;
    union scps_udpsock to;
    /* peers from which packets have come; used if the configuration has no remote endpoint */
    struct scps_udppeers peers;
    /* buffers for receiving */
    struct mmsghdr msg[BATCH];
    struct iovec iov[BATCH];
    union scps_udpsock from[BATCH];
    union scps_udpctl ctl[BATCH];
    /* Buffer of BATCH x 64 KiB; the system provides memory only for the pages that datagrams have
     * reached. */
    uint8_t *rx;
};

/* Returns true if a call on the UDP socket may have failed with errno `err` because an ICMP message
 * about an earlier packet has arrived (Linux, icmp_err_convert and icmpv6_err_convert). Routers on
 * the path, and anybody who forges such a message, cause these errors, so they do not end the
 * tunnel: a packet was lost, as on any link. After "fragmentation needed" or "packet too big"
 * (EMSGSIZE) the kernel fragments what is longer than the path's MTU (IP_PMTUDISC_WANT, ip(7)). */
static bool may_be_icmp(int err)
{
    switch (err) {
    case ECONNREFUSED:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case EMSGSIZE:
    case EACCES:
    case ENOPROTOOPT:
    case EOPNOTSUPP:
    case EPROTO:
    case EHOSTDOWN:
    case ENONET:
        return true;
    default:
        return false;
    }
}

/* ---- functions that receive datagrams ---- */

static unsigned hand_up(struct udptun *u, const struct msghdr *m, uint8_t *p, size_t len,
                        scps_time at)
{
    unsigned n = 0;
    uint8_t ecn;
    int seg;
    scps_udpctl_read(m, &seg, &ecn);
    if (seg <= 0)
        seg = (int)len;
    while (len) {
        size_t k = SCPS_MIN(len, (size_t)seg);
        if (u->learning)
            scps_udppeers_learn(&u->peers, p, k, m->msg_name);
        struct scps_pkt pkt = {.data = p, .len = k, .ecn = ecn, .at = at};
        scps_netif_recv(&u->dev.nif, &pkt);
        p += k;
        len -= k;
        n++;
    }
    return n;
}

static int udp_read(struct scps_iodev *d, scps_time at, unsigned max)
{
    struct udptun *u = (struct udptun *)d;
    unsigned got = 0;
    while (got < max) {
        for (unsigned i = 0; i < BATCH; i++) {
            u->msg[i].msg_hdr.msg_namelen = sizeof u->from[i];
            u->msg[i].msg_hdr.msg_controllen = sizeof u->ctl[i].room;
        }
        int n = recvmmsg(d->fd, u->msg, BATCH, MSG_DONTWAIT, NULL);
        /* The kernel reports an ICMP error once, so it is read again. The error counts as a packet
         * read, so that a flood of ICMP messages does not keep this loop busy. */
        if (n < 0 && (errno == EINTR || may_be_icmp(errno))) {
            got++;
            continue;
        }
        if (n < 0 && (errno == EAGAIN || errno == ENOMEM))
            return 0;
        if (n < 0) {
            d->failed = SCPS_ERR_LINKDOWN;
            return d->failed;
        }
        for (int i = 0; i < n; i++)
            if (!(u->msg[i].msg_hdr.msg_flags & MSG_TRUNC))
                got += hand_up(u, &u->msg[i].msg_hdr, u->iov[i].iov_base, u->msg[i].msg_len, at);
        if (n < BATCH)
            return 0;
    }
    return 1;
}

/* ---- functions that send the collected packets ---- */

/* Removes from u->tx the first n collected packets, which the socket has sent, or has refused for
 * good. */
static void take_off(struct udptun *u, unsigned n)
{
    size_t bytes = SCPS_MIN(n * u->seg, u->tx_len);
    memmove(u->tx, u->tx + bytes, u->tx_len - bytes);
    u->tx_len -= bytes;
    u->count -= n;
}

/* Returns true if the collected packets will be sent with outer headers of IPv4. An IPv6 socket
 * sends such headers, too, if the destination is an IPv4-mapped address. */
static bool outer_ipv4(const struct udptun *u)
{
    return u->to.sa.sa_family == AF_INET || IN6_IS_ADDR_V4MAPPED(&u->to.in6.sin6_addr);
}

/* Sends all collected packets with one system call. Returns the result of sendmsg(). */
static ssize_t send_train(struct udptun *u)
{
    union scps_udpctl ctl;
    struct iovec v = {u->tx, u->tx_len};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
    if (u->learning) {
        m.msg_name = &u->to;
        m.msg_namelen = scps_udpsock_len(&u->to);
    }
    scps_udpctl_write(&m, &ctl, u->count > 1 ? (uint16_t)u->seg : 0, u->ecn, outer_ipv4(u));
    return sendmsg(u->dev.fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Sends the collected packets with sendmmsg(). Returns how many were sent, or -1. */
static int send_each(struct udptun *u)
{
    struct mmsghdr m[TRAIN] = {0};
    struct iovec v[TRAIN];
    union scps_udpctl ctl;
    for (unsigned i = 0; i < u->count; i++) {
        v[i].iov_base = u->tx + i * u->seg;
        v[i].iov_len = SCPS_MIN(u->seg, u->tx_len - i * u->seg);
        scps_udpctl_write(&m[i].msg_hdr, &ctl, 0, u->ecn, outer_ipv4(u));
        m[i].msg_hdr.msg_iov = &v[i];
        m[i].msg_hdr.msg_iovlen = 1;
        if (u->learning) {
            m[i].msg_hdr.msg_name = &u->to;
            m[i].msg_hdr.msg_namelen = scps_udpsock_len(&u->to);
        }
    }
    return sendmmsg(u->dev.fd, m, u->count, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Sends the collected packets, those in u->tx, until none is left, and returns 0. A packet that the
 * kernel refuses for good (no route, too long, filtered) is dropped and counted in tx_errors.
 * Returns SCPS_ERR_AGAIN if the socket has no room or memory now, SCPS_ERR_LINKDOWN if it is
 * closed; then the packets not sent yet stay in u->tx. */
static int send_out(struct udptun *u)
{
    /* true: the last call failed with an error that an ICMP message may have caused. The kernel
     * reports such an error once, so if the same send fails again, the kernel refuses the packet
     * itself. */
    bool repeated = false;

    while (u->count) {
        bool train = u->count > 1 && !u->no_segment;
        ssize_t n = train || u->count == 1 ? send_train(u) : send_each(u);
        if (n >= 0) {
            take_off(u, train || u->count == 1 ? u->count : (unsigned)n);
            repeated = false;
            continue;
        }
        switch (errno) {
        case EINTR:
            break;
        case EAGAIN:
            u->dev.block = SCPS_IO_POLL;
            return SCPS_ERR_AGAIN;
        case ENOBUFS:
        case ENOMEM:
            u->dev.block = SCPS_IO_LATER;
            return SCPS_ERR_AGAIN;
        /* An ICMP error about an earlier packet. The kernel reports each once: the send is
         * repeated. */
        case ECONNREFUSED:
            break;
        case EBADF:
        case ENOTSOCK:
            u->dev.failed = SCPS_ERR_LINKDOWN;
            return SCPS_ERR_LINKDOWN;
        default:
            if (!repeated && may_be_icmp(errno)) {
                repeated = true;
                break;
            }
            repeated = false;
            if (train &&
                (errno == EIO || errno == EINVAL || errno == EMSGSIZE || errno == EOPNOTSUPP)) {
                /* The network card cannot compute the checksums, or the datagrams would have to be
                 * fragmented, so from now on sendmmsg() sends the packets as separate datagrams. */
                u->no_segment = true;
                break;
            }
            /* The kernel refuses the send for good: there is no route, or the packet is too long or
             * filtered. So the first of the collected packets (those in u->tx that wait to be sent
             * together) counts as lost, as on any link; the loop goes on with the others. */
            take_off(u, 1);
            u->dev.nif.tx_errors++;
        }
    }
    return 0;
}

static int udp_send(struct scps_netif *nif, const struct scps_pkt *p)
{
    struct udptun *u = (struct udptun *)nif;
    size_t len = p->len + p->payload_len;
    if (u->dev.failed)
        return u->dev.failed;
    if (!p->payload && p->payload_len)
        /* Payload that is counted but not stored (hollow) occurs in simulations only, so it is
         * refused. */
        return SCPS_ERR_INVAL;
    if (len > nif->mtu)
        return SCPS_ERR_MSGSIZE;
    const union scps_udpsock *to = &u->to;
    uint8_t ecn = u->copies_ecn ? scps_pkt_ecn(p) : 0;
    if (u->learning) {
        const union scps_udpsock *peer = scps_udppeers_find(&u->peers, p->data, p->len);
        /* No packet has arrived from any peer yet, so no outer address to send to is known. */
        if (!peer)
            return SCPS_ERR_UNREACH;
        to = peer;
    }
    if (u->count && (len > u->seg || u->count == TRAIN || ecn != u->ecn || u->tx_len % u->seg ||
                     u->tx_len + len > sizeof u->tx || !scps_udpsock_equal(to, &u->to))) {
        int err = send_out(u);
        if (err)
            return err;
    }
    if (!u->count) {
        u->seg = len;
        u->ecn = ecn;
        u->to = *to;
    }
    memcpy(u->tx + u->tx_len, p->data, p->len);
    if (p->payload_len)
        memcpy(u->tx + u->tx_len + p->len, p->payload, p->payload_len);
    u->tx_len += len;
    u->count++;
    return 0;
}

static void udp_flush(struct scps_iodev *d)
{
    if (d->block == SCPS_IO_FREE)
        send_out((struct udptun *)d);
}

static void udp_close(struct scps_netif *nif)
{
    struct udptun *u = (struct udptun *)nif;
    if (!u->dev.failed)
        /* The packets that are still collected, which may be resets or acknowledgements, are sent
         * before the socket is closed. */
        send_out(u);
    close(u->dev.fd);
    free(u->rx);
    free(u);
}

const struct scps_netif_ops scps_udptun_ops = {"udp", udp_send, NULL, udp_close};

/* ---- functions that open the socket ---- */

static void set_buffers(int fd)
{
    const int size = SOCKBUF;
    /* As large a receive buffer as the system permits is requested: a whole window of packets may
     * arrive while the process does not run. */
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size))
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size))
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
}

static void say_bind(const struct scps_endpoint *e, int err, char *msg)
{
    char text[SCPS_ADDR_STRLEN] = "any address";
    if (e->addr.family)
        scps_addr_format(&e->addr, text);
    const char *why = err == EADDRINUSE      ? ": another program uses it; take another port"
                      : err == EADDRNOTAVAIL ? ": not an address of this host"
                      : err == EACCES ? ": ports below 1024 need privileges; take a higher one"
                                      : "";
    scps_io_message(msg, "cannot use UDP %s port %u: %s%s", text, e->port, strerror(err), why);
}

static struct udptun *new_udptun(int fd, uint8_t family, const struct scps_udptun_config *cfg)
{
    struct udptun *u = calloc(1, sizeof *u);
    uint8_t *rx = malloc((size_t)BATCH << 16);
    if (!u || !rx) {
        free(u);
        free(rx);
        return NULL;
    }
    u->rx = rx;
    for (unsigned i = 0; i < BATCH; i++) {
        u->iov[i] = (struct iovec){rx + ((size_t)i << 16), 1 << 16};
        u->msg[i].msg_hdr.msg_iov = &u->iov[i];
        u->msg[i].msg_hdr.msg_iovlen = 1;
        u->msg[i].msg_hdr.msg_name = &u->from[i];
        u->msg[i].msg_hdr.msg_control = u->ctl[i].room;
    }
    u->learning = !cfg->remote.port;
    u->copies_ecn = cfg->ecn;
    u->dev.fd = fd;
    u->dev.read = udp_read;
    u->dev.flush = udp_flush;
    u->dev.nif.ops = &scps_udptun_ops;
    u->dev.nif.name = "udp";
    u->dev.nif.overhead = family == 4 ? 28 : 48; /* length of the outer IP and UDP headers, bytes */
    u->dev.nif.mtu = cfg->mtu ? cfg->mtu : family == 4 ? 1472 : 1452;
    return u;
}

/* Returns the family of the socket for cfg; 0, with one line in msg, if cfg is refused. */
static uint8_t family_of(const struct scps_udptun_config *cfg, char msg[SCPS_IO_MSGLEN])
{
    uint8_t lf = cfg->local.addr.family, rf = cfg->remote.addr.family;

    if (lf && rf && lf != rf)
        scps_io_message(
            msg, "the two UDP addresses are of different families: give both IPv4 or both IPv6");
    else if (cfg->remote.port && !rf)
        scps_io_message(msg, "the remote UDP port has no address: give ADDRESS:PORT");
    else if (cfg->mtu > DGRAM_MAX || (cfg->mtu && cfg->mtu < 68))
        scps_io_message(msg, "an MTU of %u does not go into UDP: 68 to %d", cfg->mtu, DGRAM_MAX);
    else
        return lf ? lf : rf ? rf : 4;
    return 0;
}

struct scps_netif *scps_udptun_open_sized(const struct scps_udptun_config *asked, size_t size,
                                          char msg[SCPS_IO_MSGLEN])
{
    struct scps_udptun_config own = {.mtu = 0};
    const struct scps_udptun_config *cfg = &own;
    union scps_udpsock local, remote;
    struct udptun *u = NULL;
    uint8_t family;

    if (!scps_io_take(&own, sizeof own, asked, size, SCPS_SIZED_TO(scps_udptun_config, mtu), msg))
        return NULL;
    family = family_of(cfg, msg);
    if (!family)
        return NULL;
    int fd = socket(family == 4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        scps_io_message(msg, "cannot open a UDP socket: %s", strerror(errno));
        return NULL;
    }
    set_buffers(fd);
    scps_udpsock_set(&cfg->local, family, &local);
    scps_udpsock_set(&cfg->remote, family, &remote);
    if (bind(fd, &local.sa, scps_udpsock_len(&local))) {
        say_bind(&cfg->local, errno, msg);
        goto fail;
    }
    if (cfg->remote.port && connect(fd, &remote.sa, scps_udpsock_len(&remote))) {
        char text[SCPS_ADDR_STRLEN];
        scps_io_message(msg, "cannot reach UDP %s port %u: %s",
                        scps_addr_format(&cfg->remote.addr, text), cfg->remote.port,
                        strerror(errno));
        goto fail;
    }
    scps_udpctl_listen(fd, local.sa.sa_family);
    u = new_udptun(fd, family, cfg);
    if (!u) {
        scps_io_message(msg, "out of memory");
        goto fail;
    }
    u->to = remote;
    return &u->dev.nif;

fail:
    close(fd);
    return NULL;
}
