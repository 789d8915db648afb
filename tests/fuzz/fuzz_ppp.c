/* SPDX-License-Identifier: MIT */
/* Fuzz target: two ends of a PPP link whose line gets arbitrary octets.
 *
 * Each octet of the input is an order: the ends exchange octets; octets on the line are damaged or
 * lost; octets of the input are inserted; a packet is handed in; time passes; the line is blocked
 * or loops back. Every packet that is passed up must be valid, both ends must come to rest, and
 * without further disturbance the link opens again or the status says why not.
 */
#include <scps/error.h>
#include <scps/ppp.h>
#include <scps/vjcomp.h>

#include <string.h>

#include "base/bytes.h"
#include "feed.h"

#define LINE (1 << 15)

struct end {
    struct scps_netif dev, sink;
    struct scps_netif *ppp;
    uint8_t line[LINE];
    size_t len;
    bool blocked;
};

static int dev_send(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    struct end *e = (struct end *)nif;

    if (e->blocked || e->len + pkt->len > LINE)
        return SCPS_ERR_AGAIN;
    memcpy(e->line + e->len, pkt->data, pkt->len);
    e->len += pkt->len;
    return 0;
}

static int sink_recv(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    uint8_t sum = 0;

    (void)nif;
    MUST(pkt->len + pkt->payload_len <= 1500 + SCPS_VJ_HDR_MAX);
    for (size_t i = 0; i < pkt->len; i++)
        sum ^= pkt->data[i];
    for (size_t i = 0; i < pkt->payload_len; i++)
        sum ^= pkt->payload[i];
    return sum & 1; /* The sum reads every octet of the packet. */
}

static const struct scps_netif_ops dev_ops = {.name = "line", .send = dev_send};
static const struct scps_netif_ops sink_ops = {.name = "sink", .recv = sink_recv};

static void open_end(struct end *e, uint8_t how, uint64_t seed, struct memory *m)
{
    struct scps_ppp_config c = scps_ppp_config_default();
    struct scps_alloc alloc = {counted_alloc, counted_free, m};

    memset(e, 0, sizeof *e);
    c.seed = seed;
    c.passive = how & 1;
    c.compress_fields = !(how & 2);
    c.vj = !(how & 4);
    c.accm = how & 8 ? 0xffffffff : 0;
    c.echo_interval = how & 16 ? SCPS_SEC(2) : 0;
    c.mru = how & 32 ? 300 : 1500;
    c.vj_slots = how & 64 ? 4 : 16;
    c.local = (struct scps_addr){4, {10, 0, 0, (uint8_t)seed}};
    if (how & 128)
        c.local.family = 0;
    c.remote = (struct scps_addr){4, {10, 0, 0, (uint8_t)(3 - seed)}};
    e->dev.ops = &dev_ops;
    e->dev.mtu = 1500;
    e->sink.ops = &sink_ops;
    e->ppp = scps_ppp_new(&c, &alloc, NULL);
    MUST(e->ppp);
    scps_netif_push(&e->dev, e->ppp);
    scps_netif_push(e->ppp, &e->sink);
}

static void deliver(struct end *from, struct end *to, size_t piece, scps_time now)
{
    static uint8_t line[LINE];
    size_t len = from->len;

    memcpy(line, from->line, len);
    from->len = 0;
    for (size_t i = 0; i < len; i += piece) {
        struct scps_pkt p = {.data = line + i, .len = SCPS_MIN(piece, len - i), .at = now};
        scps_netif_recv(&to->dev, &p);
    }
}

static void hand_in(struct end *e, struct feed *in, scps_time now)
{
    uint8_t buf[1500] = {0x45};
    size_t n = 20 + get8(in), given = SCPS_MIN((size_t)(in->end - in->p), SCPS_MIN(n, 60));
    struct scps_pkt p = {.data = buf, .len = n, .at = now};

    memcpy(buf + 1, in->p, given ? given - 1 : 0);
    in->p += given;
    scps_put16(buf + 2, (uint16_t)n);
    if (n > 60 && buf[1] & 1) {
        p.len = 40;
        p.payload = buf + 40;
        p.payload_len = n - 40;
    }
    scps_netif_send(e->ppp, &p);
}

static void order(struct end *e, struct end *other, struct feed *in, scps_time *now)
{
    uint8_t what = get8(in), n;
    struct scps_pkt p = {.at = *now};

    switch (what & 7) {
    case 0:
    case 1:
        deliver(e, other, 1 + (what >> 3), *now);
        break;
    case 2: /* An octet on the line is damaged. */
        n = get8(in);
        if (e->len)
            e->line[n % e->len] ^= (uint8_t)(1 + (what >> 3));
        break;
    case 3: /* Octets on the line are lost. */
        e->len -= SCPS_MIN(e->len, (size_t)(what >> 3) + 1);
        break;
    case 4: /* Octets of the input are inserted. */
        n = (uint8_t)SCPS_MIN((size_t)(in->end - in->p), (size_t)(what >> 3) + 1);
        p.data = (uint8_t *)(uintptr_t)in->p;
        p.len = n;
        scps_netif_recv(&e->dev, &p);
        in->p += n;
        break;
    case 5:
        hand_in(e, in, *now);
        break;
    case 6:
        *now += SCPS_MS(100) << (what >> 4 & 7);
        scps_netif_advance(&e->sink, *now);
        break;
    default:
        if (what & 8)
            e->blocked = !e->blocked;
        /* The line loops back to its sender. */
        else
            deliver(e, e, 1 + (what >> 4), *now);
        break;
    }
}

/* Asserts that the ends come to rest without further disturbance. */
static void rest(struct end *a, struct end *b, scps_time now)
{
    scps_time until = now + SCPS_SEC(300);

    a->blocked = b->blocked = false;
    for (unsigned turn = 0; now < until; turn++) {
        MUST(turn < 4000);
        scps_netif_advance(&a->sink, now);
        scps_netif_advance(&b->sink, now);
        for (unsigned i = 0; a->len || b->len; i++) {
            MUST(i < 400);
            deliver(a, b, 100, now);
            deliver(b, a, 100, now);
        }
        scps_time next = SCPS_MIN(scps_netif_deadline(&a->sink), scps_netif_deadline(&b->sink));
        MUST(next > now);
        now = next;
    }
    struct scps_ppp_status s;
    scps_ppp_get_status(a->ppp, &s);
    MUST((s.phase == SCPS_PPP_NETWORK && (s.ipv4 || s.ipv6)) || s.why != SCPS_PPP_WHY_NONE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct end a, b;
    struct memory m = {0};
    struct feed in = {data, data + SCPS_MIN(size, 4096)};
    scps_time now = SCPS_SEC(1);

    open_end(&a, get8(&in), 1, &m);
    open_end(&b, get8(&in), 2, &m);
    scps_netif_advance(&a.sink, now);
    scps_netif_advance(&b.sink, now);
    while (in.p < in.end) {
        uint8_t who = *in.p & 0x40;
        order(who ? &a : &b, who ? &b : &a, &in, &now);
    }
    rest(&a, &b, now);
    a.ppp->ops->close(a.ppp);
    b.ppp->ops->close(b.ppp);
    MUST(m.live == 0);
    return 0;
}
