/* SPDX-License-Identifier: MIT */
/* Checks whether the interface options agree with each other, so that errors in them are reported
 * before a device is opened. */
#include "io/ifcheck.h"

#include "io/ifccsds.h"
#include "io/ifether.h"
#include "io/ifppp.h"
#include "io/iodev.h"
#include "io/tunaddr.h"
#include <scps/error.h>
#include <scps/netif.h>

const struct scps_ifaddr *scps_ifaddr_for(const struct scps_ifopts *o, const struct scps_ifaddr *k)
{
    const struct scps_ifaddr *first = NULL;
    for (unsigned i = 0; i < o->naddr; i++) {
        const struct scps_ifaddr *a = &o->addr[i];
        if (a->addr.family != k->addr.family)
            continue;
        if (a->has_prefix && scps_addr_match(&a->addr, &k->addr, a->prefix))
            return a;
        if (!first)
            first = a;
    }
    return first;
}

bool scps_ifaddr_is_broadcast(const struct scps_addr *a, unsigned prefix)
{
    struct scps_addr all = {4, {0xff, 0xff, 0xff, 0xff}};

    if (a->family != 4 || prefix > 30)
        return false;
    for (unsigned i = 0; i < prefix; i++)
        all.b[i / 8] = (uint8_t)(all.b[i / 8] & ~(0x80u >> i % 8)) | (a->b[i / 8] & 0x80u >> i % 8);
    return scps_addr_equal(a, &all);
}

static bool is_own(const struct scps_ifopts *o, const struct scps_addr *a)
{
    for (unsigned i = 0; i < o->naddr; i++)
        if (scps_addr_equal(&o->addr[i].addr, a))
            return true;
    return false;
}

static bool is_broadcast(const struct scps_ifopts *o, const struct scps_addr *a)
{
    for (unsigned i = 0; i < o->naddr; i++)
        if (o->addr[i].has_prefix && scps_addr_match(&o->addr[i].addr, a, o->addr[i].prefix) &&
            scps_ifaddr_is_broadcast(a, o->addr[i].prefix))
            return true;
    return false;
}

static bool has_family(const struct scps_ifopts *o, uint8_t family)
{
    for (unsigned i = 0; i < o->naddr; i++)
        if (o->addr[i].addr.family == family)
            return true;
    return false;
}

/* Returns true if g, the address of --gateway, is one that a router on this link can have. Only
 * neighbours answer ARP and Neighbour Discovery, so g must be within the prefix of an address given
 * by --addr, or be an IPv6 link-local address. Without --tap, g may also be the kernel's own
 * address (--kernel-addr). */
static bool is_neighbour(const struct scps_ifopts *o, const struct scps_addr *g)
{
    static const struct scps_addr link_local = {6, {0xfe, 0x80}};

    if (g->family == 6 && scps_addr_match(g, &link_local, 10))
        return true;
    for (unsigned i = 0; i < o->naddr; i++)
        if (o->addr[i].addr.family == g->family &&
            (!o->addr[i].has_prefix || scps_addr_match(&o->addr[i].addr, g, o->addr[i].prefix)))
            return true;
    for (unsigned i = 0; i < o->nkernel; i++)
        if (!o->tap[0] && scps_addr_equal(&o->kernel[i].addr, g))
            return true;
    return false;
}

static int check_gateway(const struct scps_ifopts *o, const struct scps_addr *g, char *msg)
{
    char text[SCPS_ADDR_STRLEN];

    scps_addr_format(g, text);
    if (!has_family(o, g->family))
        scps_io_message(msg, "--gateway %s: no --addr of the same family: give one", text);
    else if ((o->tun[0] || o->tap[0]) && !is_neighbour(o, g))
        scps_io_message(
            msg,
            "--gateway %s is outside the prefix of --addr: give a router on this link, or "
            "a shorter /LEN",
            text);
    else if ((o->tun[0] || o->tap[0]) && is_broadcast(o, g))
        scps_io_message(
            msg, "--gateway %s is the broadcast address of --addr's prefix: give the router's",
            text);
    else if ((o->tun[0] || o->tap[0]) && is_own(o, g))
        scps_io_message(msg, "--gateway %s is this end's own --addr: give the router's", text);
    else
        return 0;
    return SCPS_ERR_INVAL;
}

static const char no_interface[] = "no interface: give --tun NAME, --tap NAME, --ppp DEVICE, --udp "
                                   "LOCAL:PORT,REMOTE:PORT or --ccsds KIND,line=DEVICE";

static int check_device(const struct scps_ifopts *o, char *msg)
{
    int devices = (o->tun[0] != 0) + (o->tap[0] != 0) + o->udp + (o->ppp[0] != 0);

    if (o->ccsds && scps_ifccsds_check(o, msg))
        return SCPS_ERR_INVAL;
    if (o->ccsds_line[0])
        devices++;
    if (devices != 1)
        scps_io_message(
            msg, "%s",
            devices ? "--tun, --tap, --udp, --ppp and --ccsds with line=DEVICE exclude each "
                      "other: give one of them"
                    : no_interface);
    else if (!o->naddr && !o->ppp[0])
        scps_io_message(msg, "no address for this stack: give --addr A/LEN");
    else if (o->udp && !o->ccsds && o->offload)
        scps_io_message(msg,
                        "--offload is for --tun: over UDP it is always used where the kernel can");
    else if (o->udp_ecn && o->ccsds)
        scps_io_message(msg, "--udp ...,ecn: transfer frames have no ECN field: leave ecn out");
    else if (!o->tun[0] && o->offload)
        scps_io_message(msg, "--offload is for --tun: other links carry single packets");
    else
        return 0;
    return SCPS_ERR_INVAL;
}

static int check_kernel(const struct scps_ifopts *o, const struct scps_ifaddr *k, char *msg)
{
    const struct scps_ifaddr *a = scps_ifaddr_for(o, k);
    char text[SCPS_ADDR_STRLEN];

    scps_addr_format(&k->addr, text);
    if (!o->tun[0] && !o->tap[0])
        scps_io_message(
            msg, "--kernel-addr is for --tun and --tap: over %s there is no kernel on the link",
            o->udp      ? "UDP"
            : o->ppp[0] ? "PPP"
                        : "CCSDS frames");
    else if (!a)
        scps_io_message(msg, "--kernel-addr %s: no --addr of the same family: give one", text);
    else if (is_own(o, &k->addr))
        scps_io_message(
            msg,
            "%s cannot be both --addr and --kernel-addr: the stack and the kernel need one "
            "each",
            text);
    else if (a->has_prefix && !scps_addr_match(&k->addr, &a->addr, a->prefix) && !k->has_prefix)
        scps_io_message(
            msg, "--kernel-addr %s is outside the prefix of --addr: give it a /LEN of its own",
            text);
    else
        return 0;
    return SCPS_ERR_INVAL;
}

int scps_ifcheck_size(const struct scps_ifopts *o, char msg[SCPS_IO_MSGLEN])
{
    struct scps_ifopts unused;

    return scps_io_take(&unused, sizeof unused, o, o->size, sizeof unused, msg) ? 0
                                                                                : SCPS_ERR_INVAL;
}

int scps_ifopts_check(const struct scps_ifopts *o, char msg[SCPS_IO_MSGLEN])
{
    /* o->size is 0 until scps_ifopts_parse() is called for the first time, so the user has given no
     * interface option. */
    if (o->size == 0) {
        scps_io_message(msg, "%s", no_interface);
        return SCPS_ERR_INVAL;
    }
    if (scps_ifcheck_size(o, msg) || check_device(o, msg) ||
        (o->ppp[0] && scps_ifppp_check(o, msg)) || (o->tap[0] && scps_ifether_check(o, msg)))
        return SCPS_ERR_INVAL;
    for (unsigned i = 0; i < o->nkernel; i++)
        if (check_kernel(o, &o->kernel[i], msg))
            return SCPS_ERR_INVAL;
    for (unsigned i = 0; i < 2; i++)
        if (o->gateway[i].family && check_gateway(o, &o->gateway[i], msg))
            return SCPS_ERR_INVAL;
    if (o->ppp[0])
        return scps_tty_check("--ppp", o->ppp, msg);
    return o->ccsds_line[0] ? scps_tty_check("--ccsds line", o->ccsds_line, msg) : 0;
}
