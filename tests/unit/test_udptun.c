/* SPDX-License-Identifier: MIT */
/* IP in UDP over loopback: packets arrive unchanged, in order and from the right peer; and each
 * failure has its message. */
#define _GNU_SOURCE 1
#include "iocatch.h"
#include "udpport.h"
#include <scps/error.h>
#include <scps/io.h>
#include <scps/wire.h>

#include <setjmp.h>
#include <stdarg.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The next `times` calls of the socket functions below fail with errno `error`, as they do when the
 * kernel has received ICMP messages about datagrams sent earlier. */
static struct {
    int error, times, reads, sends;
} icmp;

static bool fails(int *calls)
{
    ++*calls;
    if (!icmp.times)
        return false;
    icmp.times--;
    errno = icmp.error;
    return true;
}

int recvmmsg(int fd, struct mmsghdr *v, unsigned n, int flags, struct timespec *timeout)
{
    unsigned got = 0;

    assert_null(timeout);
    if (fails(&icmp.reads))
        return -1;
    for (; got < n; got++) {
        ssize_t len = recvmsg(fd, &v[got].msg_hdr, flags);

        if (len < 0)
            return got ? (int)got : -1;
        v[got].msg_len = (unsigned)len;
    }
    return (int)got;
}

ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
    return fails(&icmp.sends) ? -1 : syscall(SYS_sendmsg, fd, m, flags);
}

static char msg[SCPS_IO_MSGLEN];

static struct scps_endpoint endpoint(const char *addr, uint16_t port)
{
    struct scps_endpoint e = {.port = port};
    assert_int_equal(scps_addr_parse(addr, &e.addr), 0);
    return e;
}

static struct iocatch *open_with(struct scps_udptun_config cfg, const char *remote, uint16_t rport)
{
    if (remote)
        cfg.remote = endpoint(remote, rport);
    struct scps_netif *nif = scps_udptun_open(&cfg, msg);
    if (!nif)
        fail_msg("%s", msg);
    return iocatch_push(nif);
}

static struct iocatch *open_tunnel(const char *local, uint16_t lport, const char *remote,
                                   uint16_t rport, uint32_t mtu)
{
    return open_with((struct scps_udptun_config){.local = endpoint(local, lport), .mtu = mtu},
                     remote, rport);
}

static struct iocatch *open_tunnel_ecn(const char *local, uint16_t lport, const char *remote,
                                       uint16_t rport, bool ecn)
{
    return open_with((struct scps_udptun_config){.local = endpoint(local, lport), .ecn = ecn},
                     remote, rport);
}

/* Writes an IPv4 packet from 10.0.0.src to 10.0.0.dst with len bytes made from `tag` behind the
 * header. Returns its length. */
static size_t packet(uint8_t *p, int src, int dst, size_t len, unsigned tag)
{
    struct scps_ip ip = {.version = 4, .proto = SCPS_IPPROTO_UDP, .ttl = 64};
    ip.src = (struct scps_addr){4, {10, 0, 0, (uint8_t)src}};
    ip.dst = (struct scps_addr){4, {10, 0, 0, (uint8_t)dst}};
    size_t h = scps_ip_build(p, &ip, len);
    for (size_t i = 0; i < len; i++)
        p[h + i] = (uint8_t)(tag * 31 + i);
    return h + len;
}

static int push_packet(struct iocatch *from, int src, int dst, size_t len, unsigned tag)
{
    uint8_t buf[2048];
    struct scps_pkt p = {.data = buf, .len = packet(buf, src, dst, len, tag)};
    return scps_netif_send(&from->nif, &p);
}

/* Reads until n packets have come, or no more come. */
static void await(struct iocatch *c, unsigned n)
{
    struct pollfd pfd = {scps_io_fd(&c->nif), POLLIN, 0};
    for (int i = 0; i < 1200 && c->n < n; i++) {
        poll(&pfd, 1, 50);
        assert_true(scps_io_read(&c->nif, 1234, 64) >= 0);
    }
    assert_int_equal(c->n, n);
}

static void check(const struct iocatch *c, unsigned i, int src, int dst, size_t len, unsigned tag)
{
    uint8_t want[2048];
    size_t n = packet(want, src, dst, len, tag);
    assert_int_equal(c->v[i].len, n);
    assert_memory_equal(c->v[i].data, want, n);
    assert_int_equal(c->v[i].at, 1234);
}

static void both_ways(const char *host)
{
    struct iocatch *a = open_tunnel(host, udp_port(0), host, udp_port(1), 0);
    struct iocatch *b = open_tunnel(host, udp_port(1), host, udp_port(0), 0);
    assert_int_equal(a->nif.mtu, strchr(host, ':') ? 1452 : 1472);

    /* Many packets of changing length are sent: longer than those before in their train (which the
     * kernel cuts into datagrams), shorter (which ends the train), alone. Each arrives, in order;
     * whether the kernel sends them in trains is not checked. */
    unsigned n = 0;
    for (unsigned i = 0; i < 300; i++) {
        size_t len = i % 50 == 17 ? 1200 : i % 50 == 33 ? 60 : i >= 200 ? 8 + i : 1000;
        assert_int_equal(push_packet(a, 1, 2, len, i), 0);
        if (i % 64 == 63) {
            scps_io_flush(&a->nif);
            await(b, i + 1);
        }
        n++;
    }
    scps_io_flush(&a->nif);
    await(b, n);
    for (unsigned i = 0; i < n; i++)
        check(b, i, 1, 2, i % 50 == 17 ? 1200 : i % 50 == 33 ? 60 : i >= 200 ? 8 + i : 1000, i);

    /* Packets are sent only by scps_io_flush(); the payload may lie apart. */
    uint8_t head[64], body[] = "lent by a send buffer";
    struct scps_ip ip = {.version = 4, .proto = SCPS_IPPROTO_UDP, .ttl = 1};
    ip.src = (struct scps_addr){4, {10, 0, 0, 2}};
    ip.dst = (struct scps_addr){4, {10, 0, 0, 1}};
    size_t h = scps_ip_build(head, &ip, sizeof body);
    struct scps_pkt p = {.data = head, .len = h, .payload = body, .payload_len = sizeof body};
    assert_int_equal(scps_netif_send(&b->nif, &p), 0);
    assert_int_equal(scps_io_read(&a->nif, 1, 64), 0);
    assert_int_equal(a->n, 0);
    scps_io_flush(&b->nif);
    await(a, 1);
    assert_int_equal(a->v[0].len, h + sizeof body);
    assert_memory_equal(a->v[0].data + h, body, sizeof body);

    scps_netif_close(&a->nif);
    scps_netif_close(&b->nif);
}

static void test_ipv4(void **state)
{
    (void)state;
    both_ways("127.0.0.1");
}

static void test_ipv6(void **state)
{
    (void)state;
    int fd = socket(AF_INET6, SOCK_DGRAM, 0);
    struct scps_udptun_config cfg = {.local = endpoint("::1", udp_port(1))};
    struct scps_netif *nif = fd < 0 ? NULL : scps_udptun_open(&cfg, msg);
    if (fd >= 0)
        close(fd);
    if (!nif)
        skip(); /* The machine has no IPv6. */
    scps_netif_close(nif);
    both_ways("::1");
}

/* A socket without a remote address serves two clients at once, each at its own address; one client
 * moves to another port, and packets follow it. */
static void test_learning(void **state)
{
    (void)state;
    struct iocatch *s = open_tunnel("127.0.0.1", udp_port(0), NULL, 0, 0);
    assert_int_equal(push_packet(s, 9, 1, 100, 0), SCPS_ERR_UNREACH);

    struct iocatch *a = open_tunnel("127.0.0.1", 0, "127.0.0.1", udp_port(0), 0);
    struct iocatch *b = open_tunnel("127.0.0.1", 0, "127.0.0.1", udp_port(0), 0);
    push_packet(a, 1, 9, 100, 1);
    scps_io_flush(&a->nif);
    await(s, 1);
    push_packet(b, 2, 9, 100, 2);
    scps_io_flush(&b->nif);
    await(s, 2);

    /* Packets to two peers are collected and sent by one flush. */
    for (unsigned i = 0; i < 10; i++) {
        assert_int_equal(push_packet(s, 9, 1, 200, i), 0);
        assert_int_equal(push_packet(s, 9, 2, 200, 100 + i), 0);
    }
    scps_io_flush(&s->nif);
    await(a, 10);
    await(b, 10);
    for (unsigned i = 0; i < 10; i++) {
        check(a, i, 9, 1, 200, i);
        check(b, i, 9, 2, 200, 100 + i);
    }

    scps_netif_close(&a->nif);
    a = open_tunnel("127.0.0.1", 0, "127.0.0.1", udp_port(0), 0);
    push_packet(a, 1, 9, 50, 3);
    scps_io_flush(&a->nif);
    await(s, 3);
    push_packet(s, 9, 1, 60, 4);
    scps_io_flush(&s->nif);
    await(a, 1);
    check(a, 0, 9, 1, 60, 4);

    /* A packet to an unknown inner address goes to the client that sent last; octets that are no IP
     * packet teach nothing. */
    uint8_t junk[30] = {0xff};
    struct scps_pkt p = {.data = junk, .len = sizeof junk};
    scps_netif_send(&b->nif, &p);
    scps_io_flush(&b->nif);
    await(s, 4);
    push_packet(s, 9, 77, 60, 5);
    scps_io_flush(&s->nif);
    await(a, 2);

    scps_netif_close(&a->nif);
    scps_netif_close(&b->nif);
    scps_netif_close(&s->nif);
}

/* More inner addresses are used than the tunnel has entries: the oldest entries are replaced, and
 * the newest are still in use. */
static void test_learning_is_bounded(void **state)
{
    (void)state;
    struct iocatch *s = open_tunnel("127.0.0.1", udp_port(0), NULL, 0, 0);
    struct iocatch *old = open_tunnel("127.0.0.1", 0, "127.0.0.1", udp_port(0), 0);
    struct iocatch *many = open_tunnel("127.0.0.1", 0, "127.0.0.1", udp_port(0), 0);
    push_packet(old, 1, 200, 20, 0);
    scps_io_flush(&old->nif);
    await(s, 1);
    for (int i = 2; i < 150; i++) {
        push_packet(many, i, 200, 20, 0);
        scps_io_flush(&many->nif);
        await(s, (unsigned)i);
    }
    push_packet(s, 200, 149, 20, 1);
    /* The entry of this inner address was replaced, so the packet goes to the client that sent
     * last. */
    push_packet(s, 200, 1, 20, 2);
    scps_io_flush(&s->nif);
    await(many, 2);
    assert_int_equal(old->n, 0);
    scps_netif_close(&s->nif);
    scps_netif_close(&old->nif);
    scps_netif_close(&many->nif);
}

/* No client has sent anything yet: the packets are lost, but the tunnel works. */
/* Sends 40 packets whose ECN fields change from time to time, so that trains and single packets
 * leave, and looks at their outer headers on fd. */
static void sent_outward(struct iocatch *a, int fd, bool copied)
{
    static const uint8_t fields[] = {0, 2, 2, 2, 3, 1, 1, 2, 0, 0};
    uint8_t p[200];

    for (unsigned i = 0; i < 40; i++) {
        struct scps_pkt out = {.data = p, .len = packet(p, 1, 2, 100, 1)};
        p[1] = (uint8_t)(0xb8 | fields[i % 10]); /* The DSCP bits stay in the inner header only. */
        assert_int_equal(scps_netif_send(&a->nif, &out), 0);
    }
    scps_io_flush(&a->nif);
    for (unsigned i = 0; i < 40; i++) {
        union {
            char room[64];
            struct cmsghdr align;
        } ctl;
        struct iovec iov = {p, sizeof p};
        struct msghdr m = {
            .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &ctl, .msg_controllen = sizeof ctl};

        assert_int_equal(recvmsg(fd, &m, 0), 120);
        assert_int_equal(p[1] & 3, fields[i % 10]);
        assert_non_null(CMSG_FIRSTHDR(&m));
        assert_int_equal(*CMSG_DATA(CMSG_FIRSTHDR(&m)), copied ? fields[i % 10] : 0);
    }
}

/* A received packet gets the ECN field of the outer header. The tunnel sends outer headers with
 * Not-ECT or, if `copied`, with the ECN field of the packet (RFC 6040). */
static void outer_ecn(const char *host, int level, int option, int recv_option, bool copied)
{
    struct iocatch *a = open_tunnel_ecn(host, udp_port(0), host, udp_port(1), copied);
    const struct scps_endpoint to = endpoint(host, udp_port(0));
    bool six = to.addr.family == 6;
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr *name = six ? (struct sockaddr *)&in6 : (struct sockaddr *)&in;
    socklen_t len = six ? sizeof in6 : sizeof in;
    int fd = socket(name->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0), on = 1;
    uint8_t p[200];

    in.sin_port = in6.sin6_port = htons(udp_port(1));
    assert_int_equal(bind(fd, name, len), 0);
    assert_int_equal(setsockopt(fd, level, recv_option, &on, sizeof on), 0);
    in.sin_port = in6.sin6_port = htons(udp_port(0));
    for (int i = 0; i < 8; i++) {
        int tos = 0x48 | (i & 3);
        size_t n = packet(p, 2, 1, 100, 1);
        assert_int_equal(setsockopt(fd, level, option, &tos, sizeof tos), 0);
        assert_int_equal(sendto(fd, p, n, 0, name, len), n);
    }
    await(a, 8);
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(a->v[i].ecn, i & 3);

    sent_outward(a, fd, copied);
    close(fd);
    scps_netif_close(&a->nif);
}

static void test_outer_ecn(void **state)
{
    (void)state;
    for (int copied = 0; copied < 2; copied++)
        outer_ecn("127.0.0.1", IPPROTO_IP, IP_TOS, IP_RECVTOS, copied);
    int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    bool have = fd >= 0 && bind(fd, (struct sockaddr *)&six, sizeof six) == 0;
    close(fd);
    for (int copied = 0; have && copied < 2; copied++)
        outer_ecn("::1", IPPROTO_IPV6, IPV6_TCLASS, IPV6_RECVTCLASS, copied);
}

/* Programs compiled with headers of another version pass structures of another size. */
static void test_sizes(void **state)
{
    const struct scps_udptun_config udp = {.local = endpoint("127.0.0.1", udp_port(0))};
    const struct scps_tun_config tun = {.name = "a name that is much too long"};
    const struct scps_tty_config tty = {.path = "/dev/null"};
    const size_t wrong[] = {0, 3, 65536, SIZE_MAX};
    struct scps_netif *nif;

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        assert_null(scps_udptun_open_sized(&udp, wrong[i], msg));
        assert_memory_equal(msg, "size: ", 6);
        assert_null(scps_tun_open_sized(&tun, wrong[i], msg));
        assert_memory_equal(msg, "size: ", 6);
        assert_null(scps_tty_open_sized(&tty, wrong[i], msg));
        assert_memory_equal(msg, "size: ", 6);
    }
    nif = scps_udptun_open_sized(&udp, offsetof(struct scps_udptun_config, mtu), msg);
    assert_non_null(nif);
    assert_int_equal(nif->mtu, 1472);
    scps_netif_close(nif);
    assert_null(scps_tun_open_sized(&tun, offsetof(struct scps_tun_config, kernel_addr), msg));
    assert_null(strstr(msg, "size: "));
    assert_null(scps_tty_open_sized(&tty, offsetof(struct scps_tty_config, speed), msg));
    assert_null(strstr(msg, "size: "));
}

static void test_absent_peer(void **state)
{
    (void)state;
    struct iocatch *a = open_tunnel("127.0.0.1", udp_port(0), "127.0.0.1", udp_port(1), 0);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(push_packet(a, 1, 2, 100, 0), 0);
        scps_io_flush(&a->nif);
        assert_int_equal(scps_io_read(&a->nif, 1, 64), 0);
    }
    struct iocatch *b = open_tunnel("127.0.0.1", udp_port(1), "127.0.0.1", udp_port(0), 0);
    assert_int_equal(push_packet(a, 1, 2, 100, 7), 0);
    scps_io_flush(&a->nif);
    await(b, 1);
    check(b, 0, 1, 2, 100, 7);
    scps_netif_close(&a->nif);
    scps_netif_close(&b->nif);
}

/* Errors for which ICMP messages are reported: one of them, forged or not, ends neither the tunnel
 * nor the loop that reads, and costs no packet that this end sends afterwards. */
static void test_icmp_errors(void **state)
{
    static const int errors[] = {ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, EMSGSIZE,  EACCES,
                                 ENOPROTOOPT,  EOPNOTSUPP,   EPROTO,      EHOSTDOWN, ENONET};
    struct iocatch *a = open_tunnel("127.0.0.1", udp_port(0), "127.0.0.1", udp_port(1), 0);
    struct iocatch *b = open_tunnel("127.0.0.1", udp_port(1), "127.0.0.1", udp_port(0), 0);
    unsigned n = 0;

    (void)state;
    for (unsigned i = 0; i < sizeof errors / sizeof *errors; i++) {
        icmp.error = errors[i];
        icmp.times = 1;
        assert_int_equal(scps_io_read(&a->nif, 1, 64), 0);
        assert_int_equal(icmp.times, 0);

        /* The error is reported to a train of three packets, then to one packet. */
        for (unsigned train = 3; train; train /= 3) {
            icmp.times = 1;
            for (unsigned k = 0; k < train; k++)
                assert_int_equal(push_packet(a, 1, 2, 100, n + k), 0);
            scps_io_flush(&a->nif);
            assert_int_equal(icmp.times, 0);
            await(b, n + train);
            for (unsigned k = 0; k < train; k++)
                check(b, n + k, 1, 2, 100, n + k);
            n += train;
        }
    }
    /* Each train has left with one call, so the kernel still cuts them. */
    icmp.sends = 0;
    for (unsigned k = 0; k < 3; k++)
        assert_int_equal(push_packet(a, 1, 2, 100, k), 0);
    scps_io_flush(&a->nif);
    assert_int_equal(icmp.sends, 1);

    /* With a flood of ICMP messages, read() returns, so that output is not kept waiting. */
    icmp.error = EMSGSIZE;
    icmp.times = 1000;
    icmp.reads = 0;
    assert_int_equal(scps_io_read(&a->nif, 1, 64), 1);
    assert_int_equal(icmp.reads, 64);

    /* A packet that the kernel itself refuses is lost, and the next one is sent. */
    icmp.times = 2;
    icmp.sends = 0;
    push_packet(a, 1, 2, 100, 1);
    scps_io_flush(&a->nif);
    assert_int_equal(icmp.sends, 2);
    assert_int_equal(a->nif.lower->tx_errors, 1);
    icmp.times = 0;
    scps_netif_close(&a->nif);
    scps_netif_close(&b->nif);
}

static void test_refusals(void **state)
{
    (void)state;
    struct iocatch *a = open_tunnel("127.0.0.1", udp_port(0), "127.0.0.1", udp_port(1), 600);
    assert_int_equal(push_packet(a, 1, 2, 580, 0), 0);
    assert_int_equal(push_packet(a, 1, 2, 581, 0), SCPS_ERR_MSGSIZE);
    uint8_t h[40] = {0x45};
    struct scps_pkt hollow = {.data = h, .len = 40, .payload_len = 100};
    assert_int_equal(scps_netif_send(&a->nif, &hollow), SCPS_ERR_INVAL);

    struct scps_udptun_config cfg = {.local = endpoint("127.0.0.1", udp_port(0))};
    assert_null(scps_udptun_open(&cfg, msg));
    assert_non_null(strstr(msg, "take another port"));
    cfg.local = endpoint("192.0.2.1", udp_port(2));
    assert_null(scps_udptun_open(&cfg, msg));
    assert_non_null(strstr(msg, "not an address of this host"));
    cfg.local = endpoint("127.0.0.1", udp_port(2));
    cfg.remote = endpoint("::1", udp_port(3));
    assert_null(scps_udptun_open(&cfg, msg));
    assert_non_null(strstr(msg, "both IPv4 or both IPv6"));
    cfg.remote = endpoint("127.0.0.1", udp_port(3));
    cfg.mtu = 65508;
    assert_null(scps_udptun_open(&cfg, msg));
    assert_non_null(strstr(msg, "MTU"));
    assert_int_equal(scps_io_fd(NULL), SCPS_ERR_INVAL);
    scps_netif_close(&a->nif);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ipv4),        cmocka_unit_test(test_ipv6),
        cmocka_unit_test(test_learning),    cmocka_unit_test(test_learning_is_bounded),
        cmocka_unit_test(test_absent_peer), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_outer_ecn),   cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_icmp_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
