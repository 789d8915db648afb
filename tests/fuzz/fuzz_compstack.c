/* SPDX-License-Identifier: MIT */
/* Fuzz target: a running stack receives segments with compressed headers.
 *
 * The first octet of the input chooses the IP version, time stamps and SNACK. A peer opens a
 * connection with compressed headers. Each further octet is an order with its arguments: a packet
 * with a compressed header of arbitrary octets, or a well-formed one with plausible numbers, or the
 * same with a TCP header; an ICMP error that quotes one; another connection with the same or
 * another id; time that passes; calls of the application; allocations that fail.
 *
 * What must hold, whatever arrives:
 *   - every packet that leaves is well-formed, has the connection id that the peer expects, and
 *   fits the MTU; its payload is what the application wrote at that offset, also where the header
 *   leaves its numbers out;
 *   - what is read is what well-formed packets brought, as long as there were no others;
 *   - when all output has been taken, the stack's deadline lies in the future;
 *   - memory is freed with the size with which it was allocated, and all of it in the end.
 */
#include <scps/comp.h>
#include <scps/conn.h>
#include <string.h>

#include "base/bytes.h"
#include "feed.h"

#define MTU  1500
#define PORT 5000u

enum { FLOWS = 4 };

struct flow {
    struct scps_conn *c;
    bool seen, com;
    uint8_t our_id;
    uint32_t iss, nxt, irs, ack; /* iss and nxt belong to the stack, irs and ack to the peer. */
    struct scps_comp_tx tx;
    struct scps_comp_rx rx;
    uint64_t written, read;
};

struct world {
    struct feed in;
    struct scps_stack *st;
    struct scps_listener *l;
    struct scps_netif nif;
    struct scps_conn_config cfg;
    struct scps_addr us, them;
    struct flow f[FLOWS];
    scps_time now;
    bool wild; /* Octets that belong to no stream may have been accepted. */
    struct memory mem;
    unsigned orders;
};

static uint8_t ours(uint64_t off)
{
    return (uint8_t)(off * 31 + (off >> 8) * 7 + 1);
}

static uint8_t theirs(uint64_t off)
{
    return (uint8_t)(off * 13 + (off >> 8) * 5 + 3);
}

/* ---- packets that leave ---- */

static void check_segment(struct flow *f, struct scps_seg *s)
{
    if (s->flags & SCPS_SYN) {
        if (!f->seen || f->iss != s->seq) {
            f->seen = true;
            f->iss = s->seq;
            f->nxt = s->seq + 1;
            f->written = f->read = 0;
            f->rx = (struct scps_comp_rx){0};
        }
        f->our_id = s->conn_id;
        f->com = s->has & SCPS_HAS_CAPS && s->caps & SCPS_CAP_COM;
    }
    if (s->flags & SCPS_RST || !f->seen)
        return;
    uint32_t off = s->seq - f->iss;
    MUST(!s->len || (off >= 1 && off + (uint64_t)s->len <= f->written + 1));
    for (uint32_t i = 0; i < s->len; i++)
        MUST(s->data[i] == ours(off + i));
    uint32_t end = s->seq + s->len + !!(s->flags & SCPS_FIN);
    if ((int32_t)(end - f->nxt) > 0)
        f->nxt = end;
    f->ack = s->ack;
    scps_comp_learn(&f->rx, s);
}

static void check_packet(struct world *w, const struct scps_pkt *out)
{
    uint8_t whole[SCPS_MAX_HEADERS + 2 * MTU], *p;
    size_t total = out->len + out->payload_len, len;
    struct scps_ip ip;
    struct scps_seg s;

    MUST(total <= MTU);
    memcpy(whole, out->data, out->len);
    if (out->payload_len)
        memcpy(whole + out->len, out->payload, out->payload_len);
    MUST(!scps_ip_parse(whole, total, total, &ip) && ip.total_len == total);
    p = whole + ip.hdr_len;
    len = total - ip.hdr_len;
    if (ip.proto == SCPS_IPPROTO_TCP) {
        MUST(!scps_tcp_parse(p, len, len, &s));
        MUST(!scps_tcp_checksum(&ip.src, &ip.dst, p, s.hdr_len, s.data, s.len));
        if (s.dport >= PORT && s.dport < PORT + FLOWS)
            check_segment(&w->f[s.dport - PORT], &s);
    } else if (ip.proto == SCPS_IPPROTO_SCPS_COMP) {
        for (int i = 0; i < FLOWS; i++) {
            struct flow *f = &w->f[i];
            if (!f->com || f->our_id != p[0])
                continue;
            MUST(scps_comp_proto(&ip.src, &ip.dst, p, len, NULL, 0) == SCPS_IPPROTO_SCPS_COMP);
            MUST(!scps_comp_parse(p, len, len, &f->rx, &s));
            check_segment(f, &s);
            return;
        }
        MUST(!"a known id");
    }
}

static void drain(struct world *w)
{
    uint8_t room[SCPS_MAX_HEADERS + MTU];

    for (unsigned n = 0;; n++) {
        struct scps_pkt out = {.data = room, .cap = sizeof room};
        MUST(n < 20000);
        if (!scps_stack_output(w->st, &w->nif, w->now, &out))
            break;
        check_packet(w, &out);
    }
    MUST(scps_stack_deadline(w->st) > w->now);
}

static void advance(struct world *w, scps_time to)
{
    for (unsigned steps = 0; steps < 5000 && scps_stack_deadline(w->st) <= to; steps++) {
        w->now = SCPS_MAX(w->now, scps_stack_deadline(w->st));
        drain(w);
    }
    if (scps_stack_deadline(w->st) > to) {
        w->now = SCPS_MAX(w->now, to);
        drain(w);
    }
}

/* ---- packets that arrive ---- */

static void input(struct world *w, uint8_t proto, const uint8_t *body, size_t len, bool vouched)
{
    struct scps_ip ip = {
        .src = w->them, .dst = w->us, .version = w->us.family, .proto = proto, .ttl = 64};
    uint8_t *exact = malloc(40 + len);
    size_t n;

    if (!exact)
        return;
    n = scps_ip_build(exact, &ip, len);
    memcpy(exact + n, body, len);
    exact = realloc(exact, n + len);
    struct scps_pkt in = {.data = exact, .len = n + len, .csum_ok = vouched, .at = w->now};
    int why = scps_stack_input(w->st, &w->nif, &in);
    MUST(why >= 0 && why < SCPS_DROP_COUNT);
    free(exact);
}

static void say(struct world *w, struct flow *f, struct scps_seg *s, bool compress)
{
    uint8_t p[SCPS_MAX_HEADERS + 4096];
    size_t hdr = compress ? scps_comp_build(p, &f->tx, s, NULL) : 0;
    bool tcp = !hdr;

    if (tcp)
        hdr = scps_tcp_build(p, s);
    for (uint32_t i = 0; i < s->len; i++)
        p[hdr + i] = theirs(s->seq - f->irs + !!(s->flags & SCPS_SYN) + i);
    if (tcp)
        scps_put16(p + 16, scps_tcp_checksum(&w->them, &w->us, p, hdr, p + hdr, s->len));
    else
        scps_put16(p + hdr - 2, scps_comp_checksum(&w->them, &w->us, SCPS_IPPROTO_SCPS_COMP, p, hdr,
                                                   p + hdr, s->len));
    input(w, tcp ? SCPS_IPPROTO_TCP : SCPS_IPPROTO_SCPS_COMP, p, hdr + s->len, false);
}

static void open_flow(struct world *w, unsigned i, uint8_t id)
{
    struct flow *f = &w->f[i];
    struct scps_seg s = {.sport = (uint16_t)(PORT + i),
                         .dport = 80,
                         .flags = SCPS_SYN,
                         .seq = f->irs = 0xffffff00u + 0x10000u * (uint32_t)w->orders,
                         .wnd = 0x7fff,
                         .has = SCPS_HAS_MSS | SCPS_HAS_CAPS,
                         .mss = 1400,
                         .caps = SCPS_CAP_COM | SCPS_CAP_SNACK1,
                         .conn_id = id};

    if (w->cfg.timestamps) {
        s.has |= SCPS_HAS_TS;
        s.tsval = (uint32_t)(w->now / 1000);
    }
    scps_comp_tx_init(&f->tx, id, id & 3, id & 1);
    f->ack = f->irs + 1;
    say(w, f, &s, false);
    drain(w);
}

/* Returns a number near `base`: the same, or a little or much more or less. */
static uint32_t near(struct world *w, uint32_t base)
{
    uint8_t how = get8(&w->in);

    if (how < 128)
        return base;
    int32_t by = (int16_t)get16(&w->in);
    return base + (uint32_t)(how & 1 ? by * 4096 : how & 2 ? by : by % 16);
}

static void segment(struct world *w, struct flow *f, unsigned i, bool compress)
{
    static const uint16_t sizes[8] = {0, 0, 1, 100, 536, 1000, 1396, 1412};
    uint8_t what = get8(&w->in), opts = get8(&w->in);
    struct scps_seg s = {.sport = (uint16_t)(PORT + i), .dport = 80, .flags = SCPS_ACK};

    s.flags |= what & 8 ? SCPS_PSH : 0;
    s.flags |= what & 16 && opts & 16 ? SCPS_FIN : 0;
    s.flags |= what & 32 && opts & 32 ? SCPS_RST : 0;
    s.seq = near(w, f->ack);
    s.ack = near(w, f->nxt);
    s.len = sizes[what & 7];
    s.wnd = what & 64 ? get16(&w->in) : 0x7fff;
    if (w->cfg.timestamps && !(opts & 1)) {
        s.has |= SCPS_HAS_TS;
        s.tsval = near(w, (uint32_t)(w->now / 1000));
        s.tsecr = f->rx.tsval;
    }
    if (opts & 2) {
        s.has |= SCPS_HAS_SNACK;
        s.snack_off = get8(&w->in);
        s.snack_size = get8(&w->in);
    }
    if (opts & 4) {
        s.has |= SCPS_HAS_SACK;
        s.nsack = 1;
        s.sack[0].left = f->nxt - get8(&w->in) * 100u;
        s.sack[0].right = s.sack[0].left + get8(&w->in) * 100u;
    }
    if (opts & 8)
        s.has |= SCPS_HAS_RECORD;
    say(w, f, &s, compress);
}

/* Hands in a packet whose header has arbitrary octets; its checksum is right, or the device has
 * verified it. */
static void header(struct world *w, const struct flow *f)
{
    uint8_t p[300] = {0}, n = get8(&w->in), how = get8(&w->in);

    p[0] = how & 1 ? f->tx.conn_id : get8(&w->in);
    for (unsigned i = 1; i < n; i++)
        p[i] = get8(&w->in);
    w->wild = true;
    input(w, SCPS_IPPROTO_SCPS_COMP, p, n, !(how & 2));
}

static void icmp_error(struct world *w, const struct flow *f)
{
    uint8_t m[120] = {0}, n = get8(&w->in) % 48;
    struct scps_ip q = {.src = w->us,
                        .dst = w->them,
                        .version = w->us.family,
                        .proto = SCPS_IPPROTO_SCPS_COMP,
                        .ttl = 60};
    bool v6 = q.version == 6;
    size_t len = 8;

    m[0] = v6 ? 2 : 3;
    m[1] = v6 ? 0 : 4;
    scps_put32(m + 4, get16(&w->in));
    len += scps_ip_build(m + len, &q, 1000);
    m[len] = f->our_id;
    m[len + 1] = get8(&w->in);
    scps_put32(m + len + 2, near(w, f->nxt - 1));
    len += n;
    uint64_t sum = scps_cksum_add(0, m, len);
    if (v6)
        sum = scps_cksum_pseudo(sum, &w->them, &w->us, SCPS_IPPROTO_ICMPV6, (uint32_t)len);
    scps_put16(m + 2, scps_cksum_fold(sum));
    input(w, v6 ? SCPS_IPPROTO_ICMPV6 : SCPS_IPPROTO_ICMP, m, len, false);
}

/* ---- the application ---- */

static void app_accept(struct world *w)
{
    struct scps_conn *c = scps_accept(w->l);
    struct scps_endpoint e;

    if (!c)
        return;
    scps_conn_remote(c, &e);
    struct flow *f = &w->f[e.port - PORT];
    if (f->c)
        scps_conn_abort(f->c);
    f->c = c;
    f->read = 0;
}

static void app_write(struct flow *f, size_t n)
{
    uint8_t buf[8192];

    for (size_t i = 0; i < n; i++)
        buf[i] = ours(f->written + 1 + i);
    int64_t did = scps_conn_write(f->c, buf, n, 0);
    if (did > 0)
        f->written += (uint64_t)did;
}

static void app_read(struct world *w, struct flow *f, size_t n)
{
    uint8_t buf[8192];
    int64_t did = scps_conn_read(f->c, buf, n, 0);

    for (int64_t i = 0; i < did && !w->wild; i++)
        MUST(buf[i] == theirs(f->read + 1 + (uint64_t)i));
    if (did > 0)
        f->read += (uint64_t)did;
}

static void events(struct world *w)
{
    struct scps_event ev;

    while (scps_stack_event(w->st, &ev))
        continue;
}

static void order(struct world *w)
{
    uint8_t what = get8(&w->in), which = get8(&w->in);
    unsigned i = which % FLOWS;
    struct flow *f = &w->f[i];
    struct scps_info info;

    switch (what % 14) {
    case 0:
    case 1:
        header(w, f);
        break;
    case 2:
    case 3:
    case 4:
        segment(w, f, i, true);
        break;
    case 5:
        segment(w, f, i, false);
        break;
    case 6:
        advance(w, w->now + ((scps_time)1 << which % 28));
        break;
    case 7:
        if (f->c)
            app_write(f, (size_t)get8(&w->in) << (which >> 4 & 5));
        break;
    case 8:
        if (f->c)
            app_read(w, f, (size_t)get8(&w->in) << (which >> 4 & 5));
        break;
    case 9:
        if (!f->c)
            open_flow(w, i, which & 64 ? w->f[0].tx.conn_id : which);
        break;
    case 10:
        app_accept(w);
        break;
    case 11:
        if (f->c && which & 64)
            scps_conn_shutdown(f->c);
        else if (f->c) {
            (which & 128 ? scps_conn_abort : scps_conn_close)(f->c);
            f->c = NULL;
        }
        break;
    case 12:
        icmp_error(w, f);
        break;
    case 13:
        w->mem.fail_after = which & 128 ? 1 + (which & 31) : 0;
        break;
    }
    drain(w);
    events(w);
    for (i = 0; i < FLOWS; i++)
        if (w->f[i].c) {
            scps_conn_info(w->f[i].c, &info);
            MUST(info.bytes_acked <= w->f[i].written);
            MUST(info.inflight + info.sacked + info.lost <= info.outstanding + 2);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct world w = {.in = {data, data + size}};
    struct scps_stack_config sc = scps_stack_config_default();
    struct scps_endpoint at = {.port = 80};
    struct scps_stack_stats s;
    uint8_t how = get8(&w.in);

    sc.alloc = (struct scps_alloc){counted_alloc, counted_free, &w.mem};
    sc.now = w.now = SCPS_SEC(5);
    sc.max_comp_hosts = 1;
    MUST(!scps_addr_parse(how & 1 ? "2001:db8::1" : "10.0.0.1", &w.us));
    MUST(!scps_addr_parse(how & 1 ? "2001:db8::2" : "10.0.0.2", &w.them));
    w.cfg = scps_conn_config_default();
    w.cfg.compress = true;
    w.cfg.timestamps = how & 2;
    w.cfg.snack = how & 4;
    w.cfg.ecn = how & 8;
    w.cfg.sndbuf = w.cfg.rcvbuf = 60000;
    w.cfg.data_retries = 4;
    w.nif = (struct scps_netif){.name = "fuzz", .mtu = MTU};
    w.st = scps_stack_new(&sc);
    if (!w.st)
        return 0;
    MUST(!scps_stack_add_netif(w.st, &w.nif));
    MUST(!scps_stack_add_addr(w.st, &w.nif, &w.us, 24));
    w.l = scps_listen(w.st, &w.cfg, &at, FLOWS, NULL);
    MUST(w.l != NULL);
    open_flow(&w, 0, 0xce);
    MUST(w.f[0].com);
    say(&w, &w.f[0],
        &(struct scps_seg){
            .flags = SCPS_ACK, .wnd = 0x7fff, .seq = w.f[0].irs + 1, .ack = w.f[0].nxt},
        true);
    drain(&w);
    app_accept(&w);
    MUST(w.f[0].c != NULL); /* The third packet of the handshake was compressed. */
    while (w.in.p < w.in.end && w.orders++ < 2000)
        order(&w);
    w.mem.fail_after = 0;
    for (int i = 0; i < FLOWS; i++)
        if (w.f[i].c)
            scps_conn_abort(w.f[i].c);
    scps_listener_close(w.l);
    drain(&w);
    advance(&w, w.now + SCPS_SEC(86400));
    scps_stack_get_stats(w.st, &s);
    MUST(s.conns == 0 && scps_stack_deadline(w.st) == SCPS_NEVER);
    scps_stack_free(w.st);
    MUST(w.mem.live == 0);
    return 0;
}
