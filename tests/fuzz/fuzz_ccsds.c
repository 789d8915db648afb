/* SPDX-License-Identifier: MIT */
/* Fuzz target: frames of CCSDS space links with arbitrary octets.
 *
 * The first octet of the input chooses the kind of frame. Orders follow: one end sends a packet,
 * and its frames go to the other end, damaged, lost or repeated; or octets of the input arrive as a
 * frame whose error control field is right. Every packet that is passed up must be valid.
 */
#include <scps/ccsds.h>
#include <scps/error.h>

#include <string.h>

#include "base/bytes.h"
#include "feed.h"
#include "link/spaceframe.h"

#define FRAME 96

struct line {
    struct scps_netif dev;
    uint8_t frame[64][FRAME + 4];
    size_t len;
    unsigned n;
};

static int dev_send(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    struct line *l = (struct line *)nif;

    MUST(pkt->len == FRAME || pkt->len == FRAME + 4);
    if (l->n == 64)
        return SCPS_ERR_AGAIN;
    memcpy(l->frame[l->n++], pkt->data, pkt->len);
    l->len = pkt->len;
    return 0;
}

static int sink_recv(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    uint8_t sum = 0;

    (void)nif;
    MUST(pkt->len >= 1 && pkt->len <= 300 + 9);
    for (size_t i = 0; i < pkt->len; i++)
        sum ^= pkt->data[i];
    return sum & 1; /* The sum reads every octet of the packet, so that a sanitizer checks each. */
}

static const struct scps_netif_ops dev_ops = {.name = "modem", .send = dev_send};
static const struct scps_netif_ops sink_ops = {.name = "sink", .recv = sink_recv};

static void own_frame(struct scps_netif *dev, const struct scps_ccsds_config *c, struct feed *in,
                      uint8_t what)
{
    static const uint8_t marker[4] = {0x1a, 0xcf, 0xfc, 0x1d};
    uint8_t p[FRAME + 4] = {0}, *f = p + (c->markers ? 4 : 0);
    size_t n = SCPS_MIN((size_t)(in->end - in->p), FRAME);
    struct scps_pkt pkt = {.data = p, .len = FRAME + (c->markers ? 4 : 0)};

    memcpy(p, marker, 4);
    memcpy(f, in->p, n);
    in->p += n;
    if (what & 16) /* With this bit the frame has a valid header, too. */
        scps_spaceframe_finish(f, c, f[2], f[7] & 63);
    else if (c->fecf)
        scps_put16(f + FRAME - 2, scps_spaceframe_crc(f, FRAME - 2));
    if (what & 32)
        pkt.len -= what >> 6;
    scps_netif_recv(dev, &pkt);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct line tx, rx;
    struct memory m = {0};
    struct scps_alloc alloc = {counted_alloc, counted_free, &m};
    struct feed in = {data, data + SCPS_MIN(size, 4096)};
    uint8_t how = get8(&in);
    struct scps_ccsds_config c = scps_ccsds_config_default((enum scps_ccsds_kind)(how % 3));
    struct scps_netif sink = {.ops = &sink_ops}, top = {.ops = &sink_ops};
    struct scps_netif *a, *b;
    scps_time now = 1000;

    c.frame = FRAME;
    c.mtu = 300;
    c.fecf = how & 4;
    c.markers = how & 8;
    c.fill_after = how & 16 ? 500 : 0;
    tx.dev.ops = rx.dev.ops = &dev_ops;
    tx.n = rx.n = 0;
    a = scps_ccsds_new(&c, &alloc, NULL);
    b = scps_ccsds_new(&c, &alloc, NULL);
    MUST(a && b);
    scps_netif_push(&tx.dev, a);
    scps_netif_push(a, &top);
    scps_netif_push(&rx.dev, b);
    scps_netif_push(b, &sink);
    while (in.p < in.end) {
        uint8_t what = get8(&in), buf[320] = {0x45};
        struct scps_pkt p = {.data = buf, .len = 1 + get8(&in), .at = now};

        if ((what & 3) == 0) {
            scps_netif_send(a, &p);
        } else if ((what & 3) == 1) {
            own_frame(&rx.dev, &c, &in, what);
        } else if (tx.n) {
            unsigned i = (what >> 2) % tx.n;
            struct scps_pkt f = {.data = tx.frame[i], .len = tx.len, .at = now};
            if (what & 64)
                tx.frame[i][p.len % tx.len] ^= 4;
            scps_netif_recv(&rx.dev, &f);
            if (!(what & 128))
                memmove(tx.frame[i], tx.frame[i + 1], sizeof tx.frame[0] * (--tx.n - i));
        }
        now += 300;
        scps_netif_advance(&top, now);
        MUST(tx.n == 64 || scps_netif_deadline(&top) > now);
    }
    a->ops->close(a);
    b->ops->close(b);
    MUST(m.live == 0);
    return 0;
}
