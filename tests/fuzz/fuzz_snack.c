/* SPDX-License-Identifier: MIT */
/* Fuzz target: a sender gets arbitrary SNACK and SACK options and acknowledgements, and a receiver
 * gets data with holes.
 *
 * The first two octets of the input choose which options are agreed and how losses are recovered.
 * Orders follow: write data, let time pass, send a segment of the peer. Offsets, sizes, bit vectors
 * and numbers come from the input, plausible ones and others.
 *
 * What must hold, whatever is reported:
 *   - a segment that leaves lies within the data written, and every octet is right;
 *   - a report of the stack names a hole that exists, and no more;
 *   - if the peer has SACK, the bytes in flight, arrived and lost add up to those outstanding;
 *   - calls for output end, and the next deadline lies in the future;
 *   - when everything has been acknowledged, nothing is outstanding, in flight or lost.
 */
#include <scps/conn.h>
#include <scps/wire.h>
#include <string.h>

#include "base/bytes.h"
#include "feed.h"

#define MTU     1500
#define MSS     536
#define PEER    UINT32_C(0xffff8000) /* The sequence numbers of the peer's stream wrap soon. */
#define WRITTEN (1 << 22)

struct world {
    struct feed in;
    struct scps_stack *st;
    struct scps_netif nif;
    struct scps_conn *c;
    struct scps_conn_config cfg;
    struct scps_addr us, them;
    scps_time now;
    /* Sequence numbers of the stack's stream, and its newest time stamp. */
    uint32_t iss, una, nxt, tsval;
    uint32_t rcv; /* The number up to which the stack has acknowledged the peer's stream. */
    uint64_t written;
    uint16_t port;
};

static uint8_t ours(uint32_t off)
{
    return (uint8_t)(off * 31 + (off >> 8) * 7 + 1);
}

static void leaves(struct world *w, const struct scps_pkt *out)
{
    struct scps_ip ip;
    struct scps_seg s;

    MUST(scps_ip_parse(out->data, out->len, out->len + out->payload_len, &ip) == 0);
    MUST(scps_tcp_parse(out->data + ip.hdr_len, out->len - ip.hdr_len, ip.total_len - ip.hdr_len,
                        &s) == 0);
    if (out->payload)
        s.data = out->payload;
    w->port = s.sport;
    if (s.flags & SCPS_SYN) {
        w->iss = s.seq;
        w->una = w->nxt = s.seq + 1;
        return;
    }
    uint32_t off = s.seq - w->iss;
    MUST(s.flags & SCPS_RST || (off >= 1 && off + (uint64_t)s.len <= w->written + 1));
    for (uint32_t i = 0; i < s.len; i++)
        MUST(s.data[i] == ours(off + i));
    if ((int32_t)(s.seq + s.len - w->nxt) > 0)
        w->nxt = s.seq + s.len;
    if (s.has & SCPS_HAS_TS)
        w->tsval = s.tsval;
    w->rcv = s.ack;
    if (s.has & SCPS_HAS_SNACK) {
        struct scps_info i;
        scps_conn_info(w->c, &i);
        MUST(s.snack_size > 0 && i.rcv_holes > 0);
        /* A bit vector ends with an octet that is not 0. */
        MUST(!s.snack_vec_len || s.snack_vec[s.snack_vec_len - 1]);
    }
}

static void drain(struct world *w)
{
    uint8_t room[SCPS_MAX_HEADERS + MTU];
    unsigned n = 0;

    for (;;) {
        struct scps_pkt out = {.data = room, .cap = sizeof room};
        if (!scps_stack_output(w->st, &w->nif, w->now, &out))
            break;
        MUST(++n < 20000);
        leaves(w, &out);
    }
    MUST(scps_stack_deadline(w->st) > w->now);
}

static void pass(struct world *w, scps_dur by)
{
    scps_time to = w->now + by;

    for (unsigned n = 0; n < 300 && scps_stack_deadline(w->st) <= to; n++) {
        w->now = SCPS_MAX(w->now, scps_stack_deadline(w->st));
        drain(w);
    }
    w->now = SCPS_MAX(w->now, to);
    drain(w);
}

static void say(struct world *w, struct scps_seg *s)
{
    uint8_t p[SCPS_MAX_HEADERS + MTU];
    struct scps_ip ip = {
        .src = w->them, .dst = w->us, .version = 4, .proto = SCPS_IPPROTO_TCP, .ttl = 64};
    struct scps_pkt in = {.data = p, .at = w->now};

    s->sport = 80;
    s->dport = w->port;
    s->flags |= SCPS_ACK;
    s->wnd = 0xffff;
    if (w->cfg.timestamps) {
        s->has |= SCPS_HAS_TS;
        s->tsval = (uint32_t)(w->now / 1000);
        s->tsecr = w->tsval;
    }
    size_t hdr = scps_tcp_hdr_len(s), n = scps_ip_build(p, &ip, hdr + s->len);
    scps_tcp_build(p + n, s);
    memset(p + n + hdr, 7, s->len);
    scps_put16(p + n + 16, scps_tcp_checksum(&ip.src, &ip.dst, p + n, hdr, p + n + hdr, s->len));
    in.len = n + hdr + s->len;
    scps_stack_input(w->st, &w->nif, &in);
    drain(w);
}

static void report(struct world *w, uint8_t what)
{
    struct scps_seg s = {.seq = w->rcv, .ack = w->una};

    if (what & 8) /* The acknowledgement number advances, or is old, or arbitrary. */
        s.ack = what & 16 ? w->una - get16(&w->in)
                          : w->una + SCPS_MIN((uint32_t)get16(&w->in), w->nxt - w->una);
    if (what & 32) {
        s.has |= SCPS_HAS_SNACK;
        s.snack_off = what & 64 ? get16(&w->in) : get8(&w->in);
        s.snack_size = what & 64 ? get16(&w->in) : get8(&w->in);
        if (what & 128) {
            s.snack_vec_len = (uint8_t)(get8(&w->in) % (w->cfg.timestamps ? 10 : 20));
            for (unsigned i = 0; i < s.snack_vec_len; i++)
                s.snack_vec[i] = get8(&w->in);
        }
    } else if (what & 128) {
        s.has |= SCPS_HAS_SACK;
        s.nsack = 1 + (what >> 6 & 1);
        for (unsigned i = 0; i < s.nsack; i++) {
            s.sack[i].left = w->una + get8(&w->in) * (uint32_t)MSS;
            s.sack[i].right = s.sack[i].left + get8(&w->in) * (uint32_t)MSS;
        }
    }
    if ((int32_t)(s.ack - w->una) > 0 && (int32_t)(s.ack - w->nxt) <= 0)
        w->una = s.ack;
    say(w, &s);
}

static void consistent(const struct world *w)
{
    struct scps_info i;

    scps_conn_info(w->c, &i);
    if (i.sack && i.state == SCPS_ESTABLISHED)
        MUST(i.inflight + i.sacked + i.lost == i.outstanding);
}

static bool order(struct world *w)
{
    static uint8_t text[WRITTEN];
    uint8_t what = get8(&w->in);

    switch (what & 7) {
    case 0: {
        size_t len = (size_t)get8(&w->in) * 200;
        len = SCPS_MIN(len, WRITTEN - w->written);
        for (size_t i = 0; i < len; i++)
            text[i] = ours((uint32_t)(w->written + 1 + i));
        int64_t n = len ? scps_conn_write(w->c, text, len, 0) : 0;
        w->written += n > 0 ? (uint64_t)n : 0;
        drain(w);
        break;
    }
    case 1:
        pass(w, get8(&w->in) * SCPS_MS(1));
        break;
    case 2:
        pass(w, get8(&w->in) * SCPS_MS(50));
        break;
    case 3: { /* The peer sends data, in order or beyond a hole. */
        struct scps_seg s = {
            .seq = w->rcv + (what >> 3) * 500u, .ack = w->una, .len = get8(&w->in) * 4u};
        say(w, &s);
        scps_conn_read(w->c, NULL, SIZE_MAX, 0);
        break;
    }
    default:
        report(w, what);
    }
    consistent(w);
    return scps_conn_state(w->c) == SCPS_ESTABLISHED;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct world w = {.in = {data, data + size}, .now = SCPS_SEC(1)};
    struct scps_stack_config sc = scps_stack_config_default();
    struct scps_endpoint there = {.port = 80};
    uint8_t how = get8(&w.in), more = get8(&w.in);
    int err = 0;

    w.cfg = scps_conn_config_default();
    w.cfg.snack = true;
    w.cfg.snack_long = how & 1;
    w.cfg.sack = how & 2;
    w.cfg.timestamps = how & 4;
    w.cfg.snack_raw_unit = how & 8;
    w.cfg.recovery = how & 16 ? SCPS_RECOVERY_RACK : SCPS_RECOVERY_CLASSIC;
    w.cfg.loss_cause = how & 32 ? SCPS_LOSS_CORRUPTION : SCPS_LOSS_CONGESTION;
    w.cfg.ack_mode = (enum scps_ack_mode)((how >> 6) % 3);
    w.cfg.snack_delay = more & 1 ? SCPS_MS(30) : 0;
    w.cfg.nodelay = more & 2;
    scps_conn_config_parse_cc(&w.cfg, more & 4 ? "vegas" : "vj", NULL, 0);
    scps_addr_parse("10.0.0.1", &w.us);
    scps_addr_parse("10.0.0.2", &w.them);
    there.addr = w.them;
    sc.seed[0] = 1;
    w.st = scps_stack_new(&sc);
    w.nif.name = "fuzz";
    w.nif.mtu = MTU;
    MUST(w.st && !scps_stack_add_netif(w.st, &w.nif));
    MUST(!scps_stack_add_addr(w.st, &w.nif, &w.us, 24));
    w.c = scps_connect(w.st, &w.cfg, NULL, &there, &err);
    MUST(w.c);
    pass(&w, 0);
    w.rcv = PEER + 1;
    struct scps_seg syn = {.seq = PEER,
                           .ack = w.nxt,
                           .flags = SCPS_SYN,
                           .has = SCPS_HAS_MSS | SCPS_HAS_WSCALE | SCPS_HAS_CAPS |
                                  (w.cfg.sack ? SCPS_HAS_SACK_OK : 0),
                           .mss = MSS,
                           .wscale = 6,
                           .caps = SCPS_CAP_SNACK1 | SCPS_CAP_SNACK2};
    w.now += SCPS_MS(50);
    say(&w, &syn);
    MUST(scps_conn_state(w.c) == SCPS_ESTABLISHED);
    for (unsigned n = 0; w.in.p < w.in.end && n < 2000; n++)
        if (!order(&w))
            break;
    if (scps_conn_state(w.c) == SCPS_ESTABLISHED) {
        struct scps_info i;
        for (unsigned n = 0; n < 4000 && scps_conn_unacked(w.c); n++) {
            struct scps_seg s = {.seq = w.rcv, .ack = w.una = w.nxt};
            pass(&w, SCPS_MS(50));
            s.ack = w.una = w.nxt;
            say(&w, &s);
            if (scps_conn_state(w.c) != SCPS_ESTABLISHED)
                break;
        }
        scps_conn_info(w.c, &i);
        MUST(i.state != SCPS_ESTABLISHED ||
             (!scps_conn_unacked(w.c) && !i.inflight && !i.lost && !i.outstanding));
    }
    scps_conn_abort(w.c);
    drain(&w);
    scps_stack_free(w.st);
    return 0;
}
