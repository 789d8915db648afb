/* SPDX-License-Identifier: MIT */
/* The option --tap NAME: the stack sends and receives Ethernet frames through a TAP device of the
 * kernel. Each time the device is opened, the stack gets a new random MAC address. */
#include "io/ifether.h"

#include "io/iodev.h"
#include "io/tunaddr.h"
#include <scps/ether.h>

int scps_ifether_check(const struct scps_ifopts *o, char *msg)
{
    char text[SCPS_ADDR_STRLEN];

    for (unsigned i = 0; i < o->naddr; i++)
        if (!o->addr[i].has_prefix) {
            scps_io_message(msg,
                            "--addr %s: over --tap give it a /LEN, which says who is a neighbour",
                            scps_addr_format(&o->addr[i].addr, text));
            return SCPS_ERR_INVAL;
        }
    if (o->mtu && (o->mtu < 576 || o->mtu > 9000)) {
        scps_io_message(msg, "--mtu %u: over Ethernet give 576 to 9000", o->mtu);
        return SCPS_ERR_INVAL;
    }
    return 0;
}

struct scps_netif *scps_ifether_push(const struct scps_ifopts *o, struct scps_netif *dev, char *msg)
{
    struct scps_ether_config c = scps_ether_config_default();
    struct scps_netif *ether;
    int err = 0;

    if (!dev)
        return NULL;
    c.mtu = dev->mtu - SCPS_ETHER_HEADER;
    for (unsigned i = 0; i < o->naddr; i++) {
        c.addr[i] = o->addr[i].addr;
        c.prefix[i] = o->addr[i].prefix;
    }
    c.n = o->naddr;
    c.gateway[0] = o->gateway[0];
    c.gateway[1] = o->gateway[1];
    if (scps_entropy(c.mac, sizeof c.mac)) {
        scps_io_message(msg, "no randomness from the kernel");
        scps_netif_close(dev);
        return NULL;
    }
    /* The two lowest bits of the first octet are set to 10: a locally administered MAC address of
     * one station, not of a group (IEEE 802). */
    c.mac[0] = (uint8_t)((c.mac[0] & 0xfc) | 2);
    ether = scps_ether_new(&c, NULL, &err);
    if (!ether && err == SCPS_ERR_NOMEM)
        scps_io_message(msg, "out of memory");
    else if (!ether)
        scps_io_message(msg,
                        "--tap %s: the device has an MTU of %u: give --mtu 1500, or 576 to 9000",
                        o->tap, c.mtu);
    if (!ether) {
        scps_netif_close(dev);
        return NULL;
    }
    return scps_netif_push(dev, ether);
}
