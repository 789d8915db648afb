/* SPDX-License-Identifier: MIT */
/* TUN devices in a network namespace of the test: packets in both directions through the kernel's
 * sockets, opening and closing the device, and one message for each failure. The test needs root
 * and /dev/net/tun; otherwise it exits with 77 (skipped). */
#define _GNU_SOURCE 1
#include "base/bytes.h"
#include "iocatch.h"
#include <scps/error.h>
#include <scps/io.h>
#include <scps/wire.h>

#include <setjmp.h>
#include <stdarg.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static char msg[SCPS_IO_MSGLEN];

static struct scps_addr addr(const char *s)
{
    struct scps_addr a;
    assert_int_equal(scps_addr_parse(s, &a), 0);
    return a;
}

static struct scps_tun_config config(const char *name)
{
    struct scps_tun_config c = {.name = name, .n = 2};
    c.kernel_addr[0] = addr("10.77.0.1");
    c.kernel_prefix[0] = 24;
    c.kernel_addr[1] = addr("fd77::1");
    c.kernel_prefix[1] = 64;
    return c;
}

static bool has_addr(const char *dev, const char *text)
{
    struct ifaddrs *l;
    struct scps_addr a = addr(text);
    bool found = false;
    assert_int_equal(getifaddrs(&l), 0);
    for (struct ifaddrs *i = l; i; i = i->ifa_next) {
        if (!i->ifa_addr || strcmp(i->ifa_name, dev))
            continue;
        if (a.family == 4 && i->ifa_addr->sa_family == AF_INET)
            found |= !memcmp(&((struct sockaddr_in *)(void *)i->ifa_addr)->sin_addr, a.b, 4);
        if (a.family == 6 && i->ifa_addr->sa_family == AF_INET6)
            found |= !memcmp(&((struct sockaddr_in6 *)(void *)i->ifa_addr)->sin6_addr, a.b, 16);
    }
    freeifaddrs(l);
    return found;
}

static int ifreq(const char *dev, unsigned long what, struct ifreq *r)
{
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    memset(r->ifr_name, 0, sizeof r->ifr_name);
    strcpy(r->ifr_name, dev);
    int rc = ioctl(fd, what, r);
    close(fd);
    return rc;
}

static int mtu_of(const char *dev)
{
    struct ifreq r = {{{0}}};
    return ifreq(dev, SIOCGIFMTU, &r) ? -1 : r.ifr_mtu;
}

static bool is_up(const char *dev)
{
    struct ifreq r = {{{0}}};
    return ifreq(dev, SIOCGIFFLAGS, &r) == 0 && (r.ifr_flags & IFF_UP);
}

/* Creates a device that remains after its descriptor is closed, as `ip tuntap add` does; if `on` is
 * false, removes it. */
static void persistent(const char *name, int flags, bool on)
{
    struct ifreq r = {.ifr_flags = (short)(flags | IFF_NO_PI)};
    int fd = open("/dev/net/tun", O_RDWR);
    strcpy(r.ifr_name, name);
    assert_int_equal(ioctl(fd, TUNSETIFF, &r), 0);
    assert_int_equal(ioctl(fd, TUNSETPERSIST, on), 0);
    close(fd);
}

/* Reads until a UDP packet has come; on a new device the kernel also sends packets of its own. */
static struct caught *await_udp(struct iocatch *c)
{
    struct pollfd pfd = {scps_io_fd(&c->nif), POLLIN, 0};
    struct scps_ip ip;
    for (int i = 0; i < 1200; i++) {
        poll(&pfd, 1, 50);
        assert_true(scps_io_read(&c->nif, 1234, 64) >= 0);
        for (unsigned k = 0; k < c->n; k++)
            if (!scps_ip_parse(c->v[k].data, c->v[k].len, c->v[k].len, &ip) &&
                ip.proto == SCPS_IPPROTO_UDP && scps_get16(c->v[k].data + ip.hdr_len + 2) == 4000)
                return &c->v[k];
    }
    fail_msg("no packet came");
    return NULL;
}

union sock {
    struct sockaddr sa;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
};

static socklen_t sock(union sock *s, const char *text, uint16_t port)
{
    struct scps_addr a = addr(text);
    memset(s, 0, sizeof *s);
    if (a.family == 4) {
        s->in.sin_family = AF_INET;
        s->in.sin_port = htons(port);
        memcpy(&s->in.sin_addr, a.b, 4);
        return sizeof s->in;
    }
    s->in6.sin6_family = AF_INET6;
    s->in6.sin6_port = htons(port);
    memcpy(&s->in6.sin6_addr, a.b, 16);
    return sizeof s->in6;
}

/* The kernel's UDP socket sends to the test and receives its answer, whose payload lies apart. */
static void exchange(struct iocatch *c, const char *kernel, const char *ours)
{
    union sock me, you;
    struct scps_ip ip;
    uint8_t buf[256], head[64];
    const uint8_t hello[] = "from the kernel", answer[] = "from the other side";
    int fd = socket(addr(kernel).family == 4 ? AF_INET : AF_INET6, SOCK_DGRAM, 0);
    /* The address can be used at once, because it is not tentative (RFC 4862 section 5.4). */
    assert_int_equal(bind(fd, &me.sa, sock(&me, kernel, 4001)), 0);
    assert_int_equal(sendto(fd, hello, sizeof hello, 0, &you.sa, sock(&you, ours, 4000)),
                     sizeof hello);
    struct caught *got = await_udp(c);
    assert_int_equal(got->at, 1234);
    assert_int_equal(scps_ip_parse(got->data, got->len, got->len, &ip), 0);
    assert_memory_equal(got->data + ip.hdr_len + 8, hello, sizeof hello);

    struct scps_addr k = ip.src;
    ip.src = ip.dst;
    ip.dst = k;
    size_t udp = 8 + sizeof answer, n = scps_ip_build(head, &ip, udp);
    uint8_t *u = head + n;
    memcpy(u,
           (const uint8_t[]){4000 >> 8, 4000 & 255, 4001 >> 8, 4001 & 255, 0, (uint8_t)udp, 0, 0},
           8);
    uint64_t sum = scps_cksum_pseudo(0, &ip.src, &ip.dst, SCPS_IPPROTO_UDP, (uint32_t)udp);
    uint16_t ck = scps_cksum_fold(scps_cksum_add(scps_cksum_add(sum, u, 8), answer, sizeof answer));
    u[6] = (uint8_t)(ck >> 8);
    u[7] = (uint8_t)ck;
    struct scps_pkt p = {
        .data = head, .len = n + 8, .payload = answer, .payload_len = sizeof answer};
    assert_int_equal(scps_netif_send(&c->nif, &p), 0);
    struct pollfd pfd = {fd, POLLIN, 0};
    assert_int_equal(poll(&pfd, 1, 60000), 1);
    assert_int_equal(recv(fd, buf, sizeof buf, 0), sizeof answer);
    assert_memory_equal(buf, answer, sizeof answer);
    close(fd);
    iocatch_clear(c);
}

static struct iocatch *must_open(const struct scps_tun_config *cfg)
{
    struct scps_netif *nif = scps_tun_open(cfg, msg);
    if (!nif)
        fail_msg("%s", msg);
    return iocatch_push(nif);
}

/* ---- tests ---- */

static void test_fresh(void **state)
{
    (void)state;
    for (int offload = 0; offload < 2; offload++) {
        struct scps_tun_config cfg = config("scpst0");
        cfg.mtu = 1400;
        cfg.offload = offload;
        assert_int_equal(if_nametoindex("scpst0"), 0);
        struct iocatch *c = must_open(&cfg);
        assert_int_equal(c->nif.mtu, 1400);
        assert_int_equal(mtu_of("scpst0"), 1400);
        assert_true(has_addr("scpst0", "10.77.0.1"));
        assert_true(has_addr("scpst0", "fd77::1"));
        exchange(c, "fd77::1", "fd77::2");
        exchange(c, "10.77.0.1", "10.77.0.2");
        uint8_t big[1401] = {0x45};
        struct scps_pkt p = {.data = big, .len = 20, .payload = big, .payload_len = 1381};
        assert_int_equal(scps_netif_send(&c->nif, &p), SCPS_ERR_MSGSIZE);
        scps_netif_close(&c->nif);
        assert_int_equal(if_nametoindex("scpst0"), 0);
    }
}

static void test_point_to_point(void **state)
{
    (void)state;
    struct scps_tun_config cfg = {.name = "scpst%d", .n = 2};
    cfg.kernel_addr[0] = addr("10.78.0.1");
    cfg.kernel_prefix[0] = 32;
    cfg.peer[0] = addr("172.30.5.9");
    cfg.kernel_addr[1] = addr("fd78::1");
    cfg.kernel_prefix[1] = 128;
    cfg.peer[1] = addr("fd99::9");
    struct iocatch *c = must_open(&cfg);
    /* The kernel replaces %d in the name by a number. */
    assert_string_equal(c->nif.lower->name, "scpst0");
    exchange(c, "10.78.0.1", "172.30.5.9");
    exchange(c, "fd78::1", "fd99::9");
    scps_netif_close(&c->nif);
}

/* A device that existed before is used as it is, or its settings are changed and restored; it is
 * never removed. */
static void test_existing(void **state)
{
    (void)state;
    persistent("scpst1", IFF_TUN, true);
    struct scps_tun_config cfg = config("scpst1");
    int before = mtu_of("scpst1");
    cfg.mtu = 1300;
    struct iocatch *c = must_open(&cfg);
    assert_int_equal(mtu_of("scpst1"), 1300);
    exchange(c, "10.77.0.1", "10.77.0.2");
    scps_netif_close(&c->nif);
    assert_true(if_nametoindex("scpst1"));
    assert_false(has_addr("scpst1", "10.77.0.1"));
    assert_false(has_addr("scpst1", "fd77::1"));
    assert_int_equal(mtu_of("scpst1"), before);
    assert_false(is_up("scpst1"));

    assert_int_equal(
        system("ip addr add 10.77.0.1/24 dev scpst1 && ip link set scpst1 up mtu 1334"), 0);
    cfg = (struct scps_tun_config){.name = "scpst1"};
    c = must_open(&cfg);
    assert_int_equal(c->nif.mtu, 1334);
    exchange(c, "10.77.0.1", "10.77.0.2");
    scps_netif_close(&c->nif);
    assert_true(has_addr("scpst1", "10.77.0.1"));
    assert_true(is_up("scpst1"));

    cfg = config("scpst1"); /* One of the two addresses exists already and stays. */
    c = must_open(&cfg);
    assert_true(has_addr("scpst1", "fd77::1"));
    scps_netif_close(&c->nif);
    assert_true(has_addr("scpst1", "10.77.0.1"));
    assert_false(has_addr("scpst1", "fd77::1"));
    persistent("scpst1", IFF_TUN, false);
}

static void test_vanishes(void **state)
{
    (void)state;
    struct scps_tun_config cfg = config("scpst2");
    uint8_t buf[28] = {0x45, 0, 0, 28};
    struct scps_pkt p = {.data = buf, .len = sizeof buf};

    struct iocatch *c = must_open(&cfg);
    assert_int_equal(system("ip link delete scpst2"), 0);
    struct pollfd pfd = {scps_io_fd(&c->nif), POLLIN, 0};
    /* The descriptor becomes readable, so the loop would wake up. */
    assert_int_equal(poll(&pfd, 1, 60000), 1);
    int rc = 0;
    for (int i = 0; i < 3 && rc >= 0; i++)
        rc = scps_io_read(&c->nif, 1, 64);
    assert_int_equal(rc, SCPS_ERR_LINKDOWN);
    assert_int_equal(scps_netif_send(&c->nif, &p), SCPS_ERR_LINKDOWN);
    scps_netif_close(&c->nif);

    /* The next call that sends is the first to return the error of the removed device. */
    c = must_open(&cfg);
    assert_int_equal(system("ip link delete scpst2"), 0);
    assert_int_equal(scps_netif_send(&c->nif, &p), SCPS_ERR_LINKDOWN);
    assert_int_equal(scps_io_read(&c->nif, 1, 64), SCPS_ERR_LINKDOWN);
    scps_netif_close(&c->nif);

    c = must_open(&cfg); /* The device is only set down: packets are lost, but the device stays. */
    assert_int_equal(system("ip link set scpst2 down"), 0);
    assert_int_equal(scps_netif_send(&c->nif, &p), SCPS_ERR_SYSTEM);
    assert_true(scps_io_read(&c->nif, 1, 64) >= 0);
    assert_int_equal(system("ip link set scpst2 up"), 0);
    exchange(c, "10.77.0.1", "10.77.0.2");
    scps_netif_close(&c->nif);
}

static void expect_refusal(const struct scps_tun_config *cfg, const char *words)
{
    msg[0] = 0;
    assert_null(scps_tun_open(cfg, msg));
    if (!strstr(msg, words) || strchr(msg, '\n'))
        fail_msg("wanted \"%s\" in one line: \"%s\"", words, msg);
}

static void test_refusals(void **state)
{
    (void)state;
    struct scps_tun_config cfg = {.name = "scpst3"};
    struct iocatch *c = must_open(&cfg);
    expect_refusal(&cfg, "in use by another program");
    scps_netif_close(&c->nif);

    persistent("scpst4", IFF_TAP, true);
    cfg.name = "scpst4";
    expect_refusal(&cfg, "Ethernet frames");
    persistent("scpst4", IFF_TAP, false);
    cfg.name = "lo";
    expect_refusal(&cfg, "not a single-queue TUN device");

    static const char *bad[] = {"", "a/b", "sixteen-letters-", "two words", "..", "a:b"};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        cfg.name = bad[i];
        expect_refusal(&cfg, "not a name for a device");
    }
    cfg.name = NULL;
    expect_refusal(&cfg, "not a name for a device");

    cfg = config("scpst5");
    cfg.mtu = 1000; /* The MTU is too small for IPv6. */
    expect_refusal(&cfg, "MTU below 1280");
    cfg.mtu = 20;
    expect_refusal(&cfg, "MTU of 20");
    assert_int_equal(if_nametoindex("scpst5"), 0);
}

/* A child without privileges is refused with a message. Whether it may open /dev/net/tun at all
 * depends on the file's mode. */
static void test_no_permission(void **state)
{
    (void)state;
    persistent("scpst6", IFF_TUN, true);
    pid_t pid = fork();
    if (pid == 0) {
        struct scps_tun_config cfg = {.name = "scpst6"};
        if (setgid(65534) || setuid(65534))
            _exit(3);
        bool closed = access("/dev/net/tun", R_OK | W_OK) != 0;
        if (scps_tun_open(&cfg, msg) ||
            !strstr(msg, closed ? "chmod 666 /dev/net/tun" : "CAP_NET_ADMIN"))
            _exit(1);
        cfg.name = "scpst7";
        if (scps_tun_open(&cfg, msg) || !strstr(msg, closed ? "--udp" : "ip tuntap add dev scpst7"))
            _exit(2);
        _exit(0);
    }
    int status;
    waitpid(pid, &status, 0);
    persistent("scpst6", IFF_TUN, false);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static bool possible(void)
{
    int fd = open("/dev/net/tun", O_RDWR);
    if (fd < 0)
        printf("skipped: /dev/net/tun: %s\n", strerror(errno));
    else
        close(fd);
    if (fd >= 0 && unshare(CLONE_NEWNET)) {
        printf("skipped: no network namespace: %s\n", strerror(errno));
        return false;
    }
    if (fd >= 0 && system("ip link set lo up")) {
        printf("skipped: no ip command\n");
        return false;
    }
    return fd >= 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fresh),    cmocka_unit_test(test_point_to_point),
        cmocka_unit_test(test_existing), cmocka_unit_test(test_vanishes),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_no_permission),
    };
    return possible() ? cmocka_run_group_tests(tests, NULL, NULL) : 77;
}
