/* SPDX-License-Identifier: MIT */
/* Fuzz target: a station on an Ethernet receives arbitrary frames. Each frame is two octets of
 * orders and length and then its octets, behind a valid Ethernet header unless the order says
 * otherwise. Between frames the station sends packets, and time passes. */
#include <scps/error.h>
#include <scps/ether.h>

#include <string.h>

#include "base/bytes.h"
#include "feed.h"

static int dev_send(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    (void)nif;
    MUST(pkt->len >= SCPS_ETHER_HEADER && pkt->len + pkt->payload_len <= 1514);
    return pkt->len & 64 ? SCPS_ERR_AGAIN : 0;
}

static int sink_recv(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    (void)nif;
    MUST(pkt->len >= 20 && pkt->len <= 300);
    return 0;
}

static const struct scps_netif_ops dev_ops = {.name = "wire", .send = dev_send};
static const struct scps_netif_ops sink_ops = {.name = "sink", .recv = sink_recv};

static void frame(struct scps_netif *dev, uint8_t how, uint8_t *p, size_t n, scps_time now)
{
    static const uint16_t types[4] = {0x0800, 0x0806, 0x86dd, 0x86dd};
    struct scps_pkt pkt = {.data = p, .len = n, .at = now};

    if (n >= 14 && !(how & 8)) {
        memcpy(p, (const uint8_t[6]){2, 0, 0, 0, 0, 1}, 6);
        scps_put16(p + 12, types[how >> 4 & 3]);
    }
    if (n >= 54 && how & 64) /* The length of the IP packet is made to fit the frame. */
        scps_put16(p + 18, (uint16_t)(n - 54));
    scps_netif_recv(dev, &pkt);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct memory m = {0};
    struct scps_alloc alloc = {counted_alloc, counted_free, &m};
    struct scps_ether_config c = scps_ether_config_default();
    struct scps_netif dev = {.ops = &dev_ops, .mtu = 1514}, sink = {.ops = &sink_ops};
    struct scps_netif *e;
    struct feed in = {data, data + SCPS_MIN(size, 4096)};
    scps_time now = SCPS_SEC(1);

    memcpy(c.mac, (const uint8_t[6]){2, 0, 0, 0, 0, 1}, 6);
    c.addr[0] = (struct scps_addr){4, {10, 0, 0, 1}};
    c.addr[1] = (struct scps_addr){6, {0xfd}};
    c.prefix[0] = 8;
    c.prefix[1] = 64;
    c.n = 2;
    c.neighbours = 3;
    e = scps_ether_new(&c, &alloc, NULL);
    MUST(e);
    scps_netif_push(&dev, e);
    scps_netif_push(e, &sink);
    while (in.p < in.end) {
        uint8_t how = get8(&in), buf[300] = {0}, n = get8(&in);
        size_t given = SCPS_MIN((size_t)(in.end - in.p), n);

        memcpy(buf, in.p, given);
        in.p += given;
        struct scps_pkt p = {.data = buf, .len = n, .at = now};
        if (how & 1)
            frame(&dev, how, buf, n, now);
        else if (how & 2)
            scps_netif_send(e, &p);
        now += SCPS_MS(how & 4 ? 900 : 1);
        scps_netif_advance(&sink, now);
        MUST(scps_netif_deadline(&sink) > now);
    }
    e->ops->close(e);
    MUST(m.live == 0);
    return 0;
}
