/* SPDX-License-Identifier: MIT */
/* The interface options of every program that uses real network devices (not simulated ones).
 *
 *   --addr A/LEN       the stack's address and a route to its prefix
 *   --kernel-addr K    the kernel's side of the TUN device; LEN as for --addr unless given
 *   --gateway G        all other destinations are reached through the device, too
 *   --line-rate R      rate of the line behind the device, which no device reports
 *
 * All packets that the kernel routes to a TUN device reach the stack, and the kernel forwards those
 * that the stack sends, so --gateway only adds a default route. A stack over UDP has only this one
 * link, and an address without LEN has no neighbours; in both cases the stack gets a default route
 * even without --gateway. If --addr has no LEN, and is not within the prefix that --kernel-addr
 * gives with a LEN, the kernel's side of the TUN device gets a point-to-point address whose peer is
 * the stack's address.
 */
#include "io/ifccsds.h"
#include "io/ifcheck.h"
#include "io/ifether.h"
#include "io/ifppp.h"
#include "io/iodev.h"
#include "io/tunaddr.h"
#include <scps/error.h>
#include <scps/netif.h>

#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *scps_ifopts_help(void)
{
    return "  --tun NAME              TUN device, which exchanges IP packets with the kernel; if "
           "it does not\n"
           "                          exist it is created, and removed at the end\n"
           "  --tap NAME              TAP device, which carries Ethernet; created and removed "
           "likewise\n"
           "  --udp LOCAL:PORT[,REMOTE:PORT][,ecn]\n"
           "                          IP packets in UDP, which needs no privileges; without "
           "REMOTE, packets\n"
           "                          go to the addresses from which packets have come; IPv6 "
           "addresses have\n"
           "                          brackets, [::1]:7000; ecn: outer headers get the packets' "
           "ECN fields,\n"
           "                          for a peer that reads them on arrival (RFC 6040)\n"
           "  --ppp DEVICE[,KEY[=VALUE]...]\n"
           "                          PPP on a serial line or pseudo terminal; keys: speed=BIT/S,\n"
           "                          remote=ADDRESS (for a peer that asks for one), wait=S (for "
           "the peer),\n"
           "                          restart=S (repeat requests), echo=S (between "
           "Echo-Requests),\n"
           "                          accm=HEX (characters to escape), passive, novj (no "
           "compression of\n"
           "                          headers); without --addr the peer assigns an address\n"
           "  --ccsds aos|uslp|tm[,KEY[=VALUE]...]\n"
           "                          IP packets in CCSDS transfer frames, one in each datagram of "
           "--udp, or\n"
           "                          on the serial line of line=DEVICE; keys: scid=N, vcid=N, "
           "map=N,\n"
           "                          frame=OCTETS, fill=S (longest wait of a frame), "
           "speed=BIT/S,\n"
           "                          nofecf (no error control field)\n"
           "  --addr A[/LEN]          address of this stack, with the length of its prefix in "
           "bits; give it\n"
           "                          again for the other IP version\n"
           "  --kernel-addr K[/LEN]   address of the kernel on the device (LEN as for --addr); "
           "without this\n"
           "                          option the device keeps the addresses that it has\n"
           "  --gateway G             router for hosts beyond the prefix of --addr\n"
           "  --mtu N                 largest IP packet, bytes (the device's; over UDP 1472)\n"
           "  --line-rate R           rate of the line behind the device, such as 64kbit, which "
           "limits\n"
           "                          replies to packets outside any connection (not known)\n"
           "  --offload               with --tun: exchange segments of up to 64 KiB with the "
           "kernel, which\n"
           "                          cuts them and computes checksums; captures show the uncut "
           "segments\n";
}

/* Parses a string of decimal digits, whose value is at most max, into *out. Returns false, with
 * *out unchanged, for any other text. */
static bool number(const char *s, unsigned long max, unsigned long *out)
{
    unsigned long v = 0;
    if (!*s)
        return false;
    for (; *s; s++) {
        if (*s < '0' || *s > '9')
            return false;
        v = v * 10 + (unsigned long)(*s - '0');
        if (v > max)
            return false;
    }
    *out = v;
    return true;
}

/* Parses a size in octets, at most max, into *out: digits with an optional K or k behind them,
 * which multiplies by 1024. Returns false for any other text. */
static bool octets(const char *s, unsigned long max, unsigned long *out)
{
    size_t n = strlen(s);
    bool k = n > 1 && (s[n - 1] == 'k' || s[n - 1] == 'K');
    char digits[20];

    if (n - k >= sizeof digits)
        return false;
    memcpy(digits, s, n - k);
    digits[n - k] = 0;
    if (!number(digits, k ? max >> 10 : max, out))
        return false;
    *out <<= k ? 10 : 0;
    return true;
}

/* Parses a rate in bit/s such as 9600, 64k or 64kbit, 2mbit or 1gbit, at least 8 bit/s, and sets
 * *out to it in bytes/s. Returns false for any other text. */
static bool line_rate(const char *s, uint64_t *out)
{
    static const struct {
        const char *unit;
        unsigned long times;
    } units[] = {{"", 1},        {"bit", 1},        {"k", 1000},         {"kbit", 1000},
                 {"m", 1000000}, {"mbit", 1000000}, {"g", 1000000000},   {"gbit", 1000000000},
                 {"bit/s", 1},   {"kbit/s", 1000},  {"mbit/s", 1000000}, {"gbit/s", 1000000000}};
    size_t digits = strspn(s, "0123456789");
    char text[20];
    unsigned long v;

    if (!digits || digits >= sizeof text)
        return false;
    memcpy(text, s, digits);
    text[digits] = 0;
    for (unsigned i = 0; i < sizeof units / sizeof *units; i++)
        if (strcasecmp(s + digits, units[i].unit) == 0 &&
            number(text, 1000000000000UL / units[i].times, &v) && v * units[i].times >= 8) {
            *out = (uint64_t)v * units[i].times / 8;
            return true;
        }
    return false;
}

/* Returns true for an address that scps_stack_add_addr() accepts. */
static bool is_unicast(const struct scps_addr *a)
{
    static const uint8_t none[16];

    return a->family == 4 ? a->b[0] != 0 && a->b[0] < 224
                          : a->b[0] != 0xff && memcmp(a->b, none, sizeof none) != 0;
}

static int parse_addr(struct scps_ifaddr *out, const char *opt, const char *value, char *msg)
{
    char text[SCPS_ADDR_STRLEN + 8];
    struct scps_ifaddr a = {0};
    const char *slash = strchr(value, '/');
    size_t n = slash ? (size_t)(slash - value) : strlen(value);
    unsigned long prefix;
    if (n >= sizeof text)
        n = sizeof text - 1;
    memcpy(text, value, n);
    text[n] = 0;
    if (scps_addr_parse(text, &a.addr)) {
        scps_io_message(msg, "--%s %.80s: not an IPv4 or IPv6 address: give one, as 10.9.0.2", opt,
                        value);
        return SCPS_ERR_INVAL;
    }
    if (!is_unicast(&a.addr)) {
        scps_io_message(msg,
                        "--%s %.80s: no host has this address: give one that is not multicast, "
                        "reserved or 0, as 10.9.0.2",
                        opt, value);
        return SCPS_ERR_INVAL;
    }
    prefix = a.addr.family == 4 ? 32 : 128;
    if (slash && !number(slash + 1, prefix, &prefix)) {
        scps_io_message(msg, "--%s %.80s: the prefix length goes from 0 to %lu", opt, value,
                        prefix);
        return SCPS_ERR_INVAL;
    }
    if (scps_ifaddr_is_broadcast(&a.addr, (unsigned)prefix)) {
        scps_io_message(msg,
                        "--%s %.80s: this is the broadcast address of its prefix: give a host's "
                        "address, or another /LEN",
                        opt, value);
        return SCPS_ERR_INVAL;
    }
    a.prefix = (unsigned)prefix;
    a.has_prefix = slash != NULL;
    *out = a;
    return 0;
}

/* Parses the n characters at s, such as "10.0.0.1:7000", "[::1]:7000" or ":7000" (any address),
 * into *e. Returns false, with *e unchanged, for any other text. */
static bool parse_endpoint(const char *s, size_t n, struct scps_endpoint *e)
{
    char text[SCPS_ADDR_STRLEN + 16];
    if (n >= sizeof text)
        return false;
    memcpy(text, s, n);
    text[n] = 0;
    char *colon = strrchr(text, ':'), *host = text;
    unsigned long port;
    struct scps_endpoint out = {0};
    if (!colon || !number(colon + 1, 65535, &port))
        return false;
    *colon = 0;
    if (*host == '[') {
        if (colon[-1] != ']')
            return false;
        colon[-1] = 0;
        host++;
    }
    if (*host && scps_addr_parse(host, &out.addr))
        return false;
    if ((out.addr.family == 6) != (host != text))
        return false; /* IPv6 addresses need brackets, and IPv4 addresses must not have them. */
    out.port = (uint16_t)port;
    *e = out;
    return true;
}

static int parse_udp(struct scps_ifopts *o, const char *value, char *msg)
{
    struct scps_endpoint local, remote = {0};
    size_t len = strlen(value);
    bool ecn = len > 4 && strcmp(value + len - 4, ",ecn") == 0;
    len -= ecn ? 4 : 0;
    const char *comma = memchr(value, ',', len);
    size_t n = comma ? (size_t)(comma - value) : len;
    if (!parse_endpoint(value, n, &local) ||
        (comma && (!parse_endpoint(comma + 1, len - n - 1, &remote) || !remote.port ||
                   !remote.addr.family))) {
        scps_io_message(
            msg,
            "--udp %.80s: wanted LOCAL:PORT,REMOTE:PORT, as "
            "127.0.0.1:7001,127.0.0.1:7002, with IPv6 in brackets, and ,ecn behind it if "
            "ECN fields are to be copied outward",
            value);
        return SCPS_ERR_INVAL;
    }
    if (!comma && !local.port) {
        scps_io_message(msg, "--udp %s: without a remote side the local port cannot be 0", value);
        return SCPS_ERR_INVAL;
    }
    if (comma && local.addr.family && local.addr.family != remote.addr.family) {
        scps_io_message(msg, "--udp %s: one side is IPv4 and the other IPv6", value);
        return SCPS_ERR_INVAL;
    }
    o->udp = true;
    o->udp_local = local;
    o->udp_remote = remote;
    o->udp_ecn = ecn;
    return 0;
}

static int parse_more(struct scps_ifaddr *list, unsigned *n, const char *opt, const char *value,
                      char *msg)
{
    if (*n == SCPS_IFOPTS_ADDRS) {
        scps_io_message(msg, "--%s %s: more than %d addresses", opt, value, SCPS_IFOPTS_ADDRS);
        return SCPS_ERR_INVAL;
    }
    int err = parse_addr(&list[*n], opt, value, msg);
    if (!err)
        ++*n;
    return err;
}

/* Parses one option into *o, which may be partly changed on an error. Returns 1; 0: name is not an
 * interface option; or an error with one line in msg. */
static int parse_option(struct scps_ifopts *o, const char *name, const char *value, char *msg)
{
    int err = 0;

    if (strcmp(name, "tun") == 0 || strcmp(name, "tap") == 0) {
        if (!scps_tun_name_is_good(value) || strchr(value, ',')) {
            scps_io_message(msg,
                            "--%s \"%.60s\": give a name for a device alone: 1 to 15 characters "
                            "without / : , or space",
                            name, value);
            return SCPS_ERR_INVAL;
        }
        strcpy(name[1] == 'a' ? o->tap : o->tun, value);
    } else if (strcmp(name, "udp") == 0) {
        err = parse_udp(o, value, msg);
    } else if (strcmp(name, "ppp") == 0) {
        err = scps_ifppp_parse(o, value, msg);
    } else if (strcmp(name, "ccsds") == 0) {
        err = scps_ifccsds_parse(o, value, msg);
    } else if (strcmp(name, "addr") == 0) {
        err = parse_more(o->addr, &o->naddr, name, value, msg);
    } else if (strcmp(name, "kernel-addr") == 0) {
        err = parse_more(o->kernel, &o->nkernel, name, value, msg);
    } else if (strcmp(name, "gateway") == 0) {
        struct scps_ifaddr g;
        err = parse_addr(&g, name, value, msg);
        if (!err && g.has_prefix) {
            scps_io_message(msg, "--gateway %.80s: give the address of a router without a length",
                            value);
            err = SCPS_ERR_INVAL;
        }
        if (!err)
            o->gateway[g.addr.family == 6] = g.addr;
    } else if (strcmp(name, "mtu") == 0) {
        unsigned long v;
        if (!octets(value, 65535, &v) || v < 68) {
            scps_io_message(msg, "--mtu %.80s: a number of bytes from 68 to 65535, as 1500 or 9K",
                            value);
            return SCPS_ERR_INVAL;
        }
        o->mtu = (uint32_t)v;
    } else if (strcmp(name, "line-rate") == 0) {
        if (!line_rate(value, &o->line_rate)) {
            scps_io_message(
                msg, "--line-rate %.80s: give bit/s, 8 to 1000gbit, as 64kbit, 10mbit or 1gbit",
                value);
            return SCPS_ERR_INVAL;
        }
    } else if (strcmp(name, "offload") == 0) {
        o->offload = true;
    } else {
        return 0;
    }
    return err ? err : 1;
}

int scps_ifopts_parse_sized(struct scps_ifopts *o, const char *name, const char *value,
                            char msg[SCPS_IO_MSGLEN])
{
    struct scps_ifopts own;
    int r = scps_ifcheck_size(o, msg);

    if (r)
        return r;
    own = *o;
    r = parse_option(&own, name, value, msg);
    if (r == 1)
        *o = own;
    return r;
}

bool scps_ifopts_given(const struct scps_ifopts *o)
{
    return o->tun[0] || o->tap[0] || o->udp || o->ccsds || o->ppp[0] || o->naddr || o->nkernel ||
           o->gateway[0].family || o->gateway[1].family || o->mtu || o->line_rate || o->offload;
}

/* Returns true if the kernel has this address on one of its devices. A stack cannot use such an
 * address, because the kernel would process packets to that address itself. */
static bool is_kernels_own(const struct scps_addr *a)
{
    struct ifaddrs *list, *i;
    bool found = false;
    if (getifaddrs(&list))
        return false;
    for (i = list; i && !found; i = i->ifa_next) {
        if (!i->ifa_addr)
            continue;
        if (a->family == 4 && i->ifa_addr->sa_family == AF_INET)
            found = !memcmp(&((struct sockaddr_in *)(void *)i->ifa_addr)->sin_addr, a->b, 4);
        else if (a->family == 6 && i->ifa_addr->sa_family == AF_INET6)
            found = !memcmp(&((struct sockaddr_in6 *)(void *)i->ifa_addr)->sin6_addr, a->b, 16);
    }
    freeifaddrs(list);
    return found;
}

static struct scps_netif *open_tun(const struct scps_ifopts *o, char *msg)
{
    struct scps_tun_config cfg = {.name = o->tap[0] ? o->tap : o->tun,
                                  .n = o->nkernel,
                                  .mtu = o->mtu,
                                  .offload = o->offload,
                                  .ethernet = o->tap[0] != 0};
    for (unsigned i = 0; i < o->nkernel; i++) {
        const struct scps_ifaddr *k = &o->kernel[i], *a = scps_ifaddr_for(o, k);
        cfg.kernel_addr[i] = k->addr;
        cfg.kernel_prefix[i] = k->has_prefix ? k->prefix : a->prefix;
        if (!a->has_prefix && !(k->has_prefix && scps_addr_match(&k->addr, &a->addr, k->prefix))) {
            /* The stack's address a has no prefix length, so a->prefix is the whole address. The
             * kernel's side of the device gets a point-to-point address whose peer is a. */
            cfg.kernel_prefix[i] = a->prefix;
            cfg.peer[i] = a->addr;
        }
    }
    struct scps_netif *dev = scps_tun_open(&cfg, msg);
    for (unsigned i = 0; dev && i < o->naddr; i++)
        if (is_kernels_own(&o->addr[i].addr)) {
            char text[SCPS_ADDR_STRLEN];
            scps_io_message(msg,
                            "address %s is in use by this host's kernel: give the stack one of its "
                            "own with --addr",
                            scps_addr_format(&o->addr[i].addr, text));
            scps_netif_close(dev);
            dev = NULL;
        }
    return dev;
}

struct scps_netif *scps_ifopts_open(const struct scps_ifopts *o, char msg[SCPS_IO_MSGLEN])
{
    struct scps_udptun_config udp = {
        .local = o->udp_local, .remote = o->udp_remote, .mtu = o->mtu, .ecn = o->udp_ecn};
    struct scps_netif *dev;

    if (scps_ifopts_check(o, msg))
        return NULL;
    dev = o->ccsds    ? scps_ifccsds_open(o, msg)
          : o->ppp[0] ? scps_ifppp_open(o, msg)
          : o->tap[0] ? scps_ifether_push(o, open_tun(o, msg), msg)
          : o->udp    ? scps_udptun_open(&udp, msg)
                      : open_tun(o, msg);
    if (dev && o->line_rate)
        scps_iodev_of(dev)->nif.rate = o->line_rate;
    return dev;
}

/* Gives the stack the address a, with a prefix length in bits, on `top`: the uppermost netif of the
 * device's chain (filters above a device), the one that is attached to the stack. Returns 0, or an
 * error with one line in msg. */
static int add_address(struct scps_stack *st, struct scps_netif *top, const struct scps_addr *a,
                       unsigned prefix, char *msg)
{
    char text[SCPS_ADDR_STRLEN];
    int err = scps_stack_add_addr(st, top, a, prefix);

    if (err)
        scps_io_message(msg, "cannot use the address %s: %s", scps_addr_format(a, text),
                        scps_strerror(err));
    return err;
}

static int add_default_route(struct scps_stack *st, struct scps_netif *top, uint8_t family,
                             char *msg)
{
    struct scps_route r = {.dst = {.family = family}, .prefix = 0, .nif = top};
    int err = scps_stack_add_route(st, &r);

    if (err)
        scps_io_message(msg, "cannot add the default route: %s", scps_strerror(err));
    return err;
}

int scps_ifopts_attach(const struct scps_ifopts *o, struct scps_loop *l, struct scps_netif *top,
                       char msg[SCPS_IO_MSGLEN])
{
    struct scps_stack *st = scps_loop_stack(l);
    struct scps_addr given;
    bool rest[2] = {o->gateway[0].family != 0, o->gateway[1].family != 0};
    int err = scps_loop_add(l, top);
    if (err) {
        scps_io_message(msg, "cannot use the device: %s", scps_strerror(err));
        return err;
    }
    /* With PPP the stack gets its addresses only when the link is open. What the peer sends then
     * waits in the line until the caller, which begins to listen after this function, runs the
     * loop. */
    if (o->ppp[0] && (err = scps_ifppp_await(o, l, top, &given, msg)))
        return err;
    if (o->ppp[0] && !o->naddr) {
        rest[0] = true;
        err = add_address(st, top, &given, 32, msg);
        if (err)
            return err;
    }
    for (unsigned i = 0; i < o->naddr; i++) {
        const struct scps_ifaddr *a = &o->addr[i];
        err = add_address(st, top, &a->addr, a->prefix, msg);
        if (err)
            return err;
        if (o->udp || o->ppp[0] || o->ccsds || !a->has_prefix)
            rest[a->addr.family == 6] = true;
    }
    for (unsigned i = 0; i < 2; i++)
        if (rest[i] && (err = add_default_route(st, top, i ? 6 : 4, msg)))
            return err;
    return 0;
}
