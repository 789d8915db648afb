/* SPDX-License-Identifier: MIT */
/* Fuzz target: a stack driven by arbitrary packets, times, calls of the application and allocations
 * that fail.
 *
 * The first octets of the input choose the configuration; each further one is an order with its
 * arguments (see `orders`). A stack with a listener on port 80, and connections that it opens to
 * ports 5000 up, exchange packets with peers whose segments are made from the input: well-formed,
 * with plausible sequence numbers, or arbitrary octets. Two endpoints of datagrams, on ports 53 and
 * 54, share its link.
 *
 * What must hold, whatever arrives:
 *   - every packet that leaves is well-formed, has right checksums and addresses, and fits the MTU;
 *   - its payload is what the application wrote at that offset; what is read is what the peer sent;
 *   - the right edge of an advertised window never moves back;
 *   - when all output has been taken, the stack's deadline lies in the future; the stack does not
 *   send for ever;
 *   - an event concerns a connection that has an owner, and counters agree with one another;
 *   - memory is freed with the size with which it was allocated, and all of it in the end;
 *   - after all applications have closed and time has passed no connection is left.
 */
#include <scps/conn.h>
#include <scps/dgram.h>
#include <scps/wire.h>
#include <string.h>

#include "base/bytes.h"
#include "feed.h"

#define MTU 1500

enum { MOST_STARTS = 64 };

enum { ACTIVE = 2, PASSIVE = 4, FLOWS = ACTIVE + PASSIVE, DGRAMS = 2 };

struct flow {
    struct scps_conn *c; /* The connection, while the application owns it. */
    uint16_t lport, rport;
    bool seen; /* A SYN of this flow has left. */
    uint32_t iss, nxt, ack, edge;
    bool have_edge;
    uint32_t isn[2];             /* The sequence numbers at which a correct peer begins. */
    uint32_t begun[MOST_STARTS]; /* The sequence numbers at which the peer has begun, each once. */
    unsigned nbegun;
    bool know_irs;
    uint32_t irs;
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
    struct scps_dgram *d[DGRAMS];
    scps_time now;
    uint32_t tsval;
    struct memory mem;
    unsigned orders;
    bool loud; /* FUZZ_LOUD in the environment makes the target print what happens in the run. */
};

static void log_event(const struct world *w, const char *what, const uint8_t *p, size_t len)
{
    char line[300];

    if (w->loud)
        fprintf(stderr, "%14.6f %s %s\n", (double)w->now / 1e6, what,
                p ? scps_print_packet(p, len, line, sizeof line) : "");
}

/* ---- streams ---- */

static uint8_t ours(uint64_t off)
{
    return (uint8_t)(off * 31 + (off >> 8) * 7 + 1);
}

/* Returns the octet of the peer's stream with this sequence number. */
static uint8_t theirs(uint32_t seq)
{
    return (uint8_t)(seq * 13 + (seq >> 8) * 5 + 3);
}

/* ---- packets that leave ---- */

static void check_tcp(struct world *w, const struct scps_ip *ip, const uint8_t *tcp, size_t avail,
                      const struct scps_pkt *out)
{
    struct scps_seg s;
    struct flow *f = NULL;
    size_t len = ip->total_len - ip->hdr_len;

    MUST(scps_tcp_parse(tcp, avail, len, &s) == 0);
    if (out->payload || out->payload_len) {
        MUST(s.hdr_len == avail && s.len == out->payload_len);
        s.data = out->payload;
    }
    if (!(w->nif.flags & SCPS_NETIF_NO_CSUM))
        MUST(!scps_tcp_checksum(&ip->src, &ip->dst, tcp, s.hdr_len, s.data, s.len));
    for (int i = 0; i < FLOWS; i++)
        if (w->f[i].rport == s.dport && (i < ACTIVE || s.sport == 80))
            f = &w->f[i];
    if (!f || s.flags & SCPS_RST)
        return;
    if (s.flags & SCPS_SYN) {
        MUST(!s.len && !(s.flags & SCPS_FIN));
        if (!f->seen || f->iss != s.seq || f->lport != s.sport) {
            f->seen = true;
            f->lport = s.sport;
            f->iss = s.seq;
            f->nxt = s.seq + 1;
            f->know_irs = false;
            /* Otherwise the connection may be opened again, which app_connect() notes. */
            if (f >= &w->f[ACTIVE])
                f->written = f->read = 0;
        }
        f->have_edge = false;
        return;
    }
    if (s.sport != f->lport)
        return;
    MUST(s.flags & SCPS_ACK);
    MUST(f->seen);
    uint32_t end = s.seq + s.len + (s.flags & SCPS_FIN ? 1 : 0);
    if ((int32_t)(end - f->nxt) > 0)
        f->nxt = end;
    uint32_t off = s.seq - f->iss;
    MUST(!s.len || (off >= 1 && off + (uint64_t)s.len <= f->written + 1));
    if (!w->cfg.hollow)
        for (uint32_t i = 0; i < s.len; i++)
            MUST(s.data[i] == ours(off + i));
    /* The window is scaled only if both ends agreed on it, which only the state of the connection
     * shows. */
    unsigned shift = 0;
    if (f->c) {
        struct scps_info i;
        scps_conn_info(f->c, &i);
        shift = i.wscale ? i.rcv_wscale : 0;
    } else {
        f->have_edge = false;
    }
    uint32_t edge = s.ack + ((uint32_t)s.wnd << shift);
    if (f->have_edge) {
        MUST((int32_t)(s.ack - f->ack) >= 0);
        MUST((int32_t)(edge - f->edge) >= -(int32_t)((1u << shift) - 1));
        if ((int32_t)(edge - f->edge) < 0)
            edge = f->edge;
    }
    f->have_edge = true;
    f->ack = s.ack;
    f->edge = edge;
    if (s.has & SCPS_HAS_TS)
        w->tsval = s.tsval;
}

static void check_packet(struct world *w, const struct scps_pkt *out)
{
    struct scps_ip ip;
    struct scps_icmp m;
    size_t total = out->len + out->payload_len;

    log_event(w, ">", out->data, out->len);
    MUST(scps_ip_parse(out->data, out->len, total, &ip) == 0);
    MUST(ip.total_len == total && ip.version == w->us.family);
    MUST(out->gso ? w->nif.flags & SCPS_NETIF_GSO && out->gso < out->payload_len && total <= 65535
                  : total <= MTU);
    MUST(scps_addr_equal(&ip.src, &w->us) && scps_addr_equal(&ip.dst, &w->them));
    if (ip.proto == SCPS_IPPROTO_TCP) {
        check_tcp(w, &ip, out->data + ip.hdr_len, out->len - ip.hdr_len, out);
    } else if (ip.proto == SCPS_IPPROTO_UDP) {
        struct scps_udp u;
        MUST(!scps_udp_parse_pieces(&ip, out->data + ip.hdr_len, out->len - ip.hdr_len,
                                    out->payload, out->payload_len, false, &u));
        MUST(u.len + u.apart_len == total - ip.hdr_len - 8 && !out->gso);
    } else {
        MUST(ip.proto == (ip.version == 4 ? SCPS_IPPROTO_ICMP : SCPS_IPPROTO_ICMPV6));
        MUST(!scps_icmp_parse(&ip, out->data + ip.hdr_len, total - ip.hdr_len, &m));
    }
}

static void drain(struct world *w)
{
    uint8_t room[SCPS_MAX_HEADERS + MTU];
    unsigned n = 0;

    for (;;) {
        struct scps_pkt out = {.data = room, .cap = sizeof room};
        int got = scps_stack_output(w->st, &w->nif, w->now, &out);
        MUST(got == 0 || got == 1);
        if (!got)
            break;
        MUST(++n < 20000);
        check_packet(w, &out);
    }
    MUST(scps_stack_deadline(w->st) > w->now);
}

static void advance(struct world *w, scps_time to, unsigned steps)
{
    while (steps--) {
        scps_time d = scps_stack_deadline(w->st);
        if (d > to)
            break;
        w->now = SCPS_MAX(w->now, d);
        drain(w);
    }
    if (scps_stack_deadline(w->st) > to) {
        w->now = SCPS_MAX(w->now, to);
        drain(w);
    }
}

/* ---- packets that arrive ---- */

static void input(struct world *w, const uint8_t *p, size_t len)
{
    uint8_t *exact = malloc(len ? len : 1);
    struct scps_pkt in = {.data = exact, .len = len, .at = w->now};

    if (!exact)
        return;
    memcpy(exact, p, len);
    log_event(w, "      <", p, len);
    int why = scps_stack_input(w->st, &w->nif, &in);
    MUST(why >= 0 && why < SCPS_DROP_COUNT);
    if (why)
        log_event(w, scps_drop_name((enum scps_drop)why), NULL, 0);
    free(exact);
}

static void remember_start(struct flow *f, uint32_t seq)
{
    for (unsigned i = 0; i < SCPS_MIN(f->nbegun, MOST_STARTS); i++)
        if (f->begun[i] == seq)
            return;
    f->begun[f->nbegun++ % MOST_STARTS] = seq;
}

static void say(struct world *w, struct scps_seg *s, bool bad_sum)
{
    uint8_t p[SCPS_MAX_HEADERS + 4096];
    struct scps_ip ip = {.src = w->them,
                         .dst = w->us,
                         .version = w->us.family,
                         .proto = SCPS_IPPROTO_TCP,
                         .tos = s->tos,
                         .ttl = 64};
    size_t hdr = scps_tcp_hdr_len(s), n = scps_ip_build(p, &ip, hdr + s->len);

    if (s->flags & SCPS_SYN)
        for (int i = 0; i < FLOWS; i++)
            if (w->f[i].rport == s->sport)
                remember_start(&w->f[i], s->seq);
    scps_tcp_build(p + n, s);
    for (uint32_t i = 0; i < s->len; i++)
        p[n + hdr + i] = theirs(s->seq + (s->flags & SCPS_SYN ? 1 : 0) + i);
    uint16_t sum = scps_tcp_checksum(&ip.src, &ip.dst, p + n, hdr, p + n + hdr, s->len);
    scps_put16(p + n + 16, (uint16_t)(sum ^ (bad_sum ? 0x100 : 0)));
    input(w, p, n + hdr + s->len);
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

static void segment(struct world *w, struct flow *f)
{
    static const uint16_t sizes[8] = {0, 0, 1, 100, 536, 1000, 1400, 2900};
    uint8_t what = get8(&w->in), opts = get8(&w->in);
    struct scps_seg s = {.sport = f->rport, .dport = f->lport, .flags = get8(&w->in)};
    bool handshake = s.flags & SCPS_SYN || !f->have_edge;

    /* Segments with plausible flags reach more code. */
    if (what & 8)
        s.flags = SCPS_ACK;
    s.seq = near(w, handshake && !(what & 64) ? f->isn[what >> 7] + (s.flags & SCPS_SYN ? 0 : 1)
                                              : f->ack);
    s.ack = near(w, f->nxt);
    s.len = sizes[what & 7];
    s.wnd = what & 16 ? get16(&w->in) : 0xffff;
    s.urg = what & 32 ? get16(&w->in) : 0;
    if (opts & 1) {
        s.has |= SCPS_HAS_TS;
        s.tsval = near(w, (uint32_t)(w->now / 1000));
        s.tsecr = near(w, w->tsval);
    }
    if (opts & 2) {
        s.has |= SCPS_HAS_SACK;
        s.nsack = 1 + get8(&w->in) % SCPS_SACK_MAX;
        for (unsigned i = 0; i < s.nsack; i++) {
            s.sack[i].left = f->nxt - get8(&w->in) * 100u;
            s.sack[i].right = s.sack[i].left + get8(&w->in) * 100u;
        }
    }
    if (opts & 4) {
        s.has |= SCPS_HAS_SNACK;
        s.snack_off = get8(&w->in);
        s.snack_size = get8(&w->in);
    }
    if (s.flags & SCPS_SYN && !(opts & 8)) {
        s.has |= SCPS_HAS_MSS | SCPS_HAS_SACK_OK | SCPS_HAS_WSCALE;
        s.mss = opts & 16 ? get16(&w->in) : 1400;
        s.wscale = opts & 32 ? get8(&w->in) : 2;
    }
    if (opts & 64)
        s.has |= SCPS_HAS_RECORD | SCPS_HAS_CORRUPTION | SCPS_HAS_CAPS;
    s.tos = opts & 128 ? SCPS_ECN_CE : 0;
    say(w, &s, false);
}

/* Hands in a segment of a correct peer: it acknowledges everything and may have data. */
static void good_segment(struct world *w, struct flow *f, uint32_t len, uint16_t flags)
{
    struct scps_seg s = {.sport = f->rport,
                         .dport = f->lport,
                         .flags = SCPS_ACK | flags,
                         .seq = f->have_edge ? f->ack : f->isn[0] + 1,
                         .ack = f->nxt,
                         .wnd = 0xffff,
                         .len = len};
    if (w->cfg.timestamps) {
        s.has = SCPS_HAS_TS;
        s.tsval = (uint32_t)(w->now / 1000);
        s.tsecr = w->tsval;
    }
    say(w, &s, false);
}

static void good_syn(struct world *w, struct flow *f, bool ack, uint8_t how)
{
    struct scps_seg s = {.sport = f->rport,
                         .dport = ack ? f->lport : 80,
                         .flags = SCPS_SYN | (ack ? SCPS_ACK : 0),
                         .seq = f->isn[how & 1],
                         .ack = ack ? f->nxt : 0,
                         .wnd = 0x7fff,
                         .has = SCPS_HAS_MSS,
                         .mss = 1400,
                         .wscale = 3};
    if (how & 2)
        s.has |= SCPS_HAS_SACK_OK;
    if (how & 4)
        s.has |= SCPS_HAS_WSCALE;
    if (how & 8 || w->cfg.timestamps) {
        s.has |= SCPS_HAS_TS;
        s.tsval = (uint32_t)(w->now / 1000);
        s.tsecr = ack ? w->tsval : 0;
    }
    if (how & 16 || w->cfg.bets) {
        s.has |= SCPS_HAS_CAPS;
        s.caps = SCPS_CAP_BETS | SCPS_CAP_SNACK1 | SCPS_CAP_SNACK2;
    }
    say(w, &s, false);
}

static void icmp_error(struct world *w, struct flow *f)
{
    uint8_t p[200], type = get8(&w->in), code = get8(&w->in);
    struct scps_ip q = {.src = w->us,
                        .dst = w->them,
                        .version = w->us.family,
                        .proto = SCPS_IPPROTO_TCP,
                        .ttl = 60};
    struct scps_ip ip = {.src = w->them, .dst = w->us, .version = w->us.family, .ttl = 64};
    struct scps_seg s = {.sport = f->lport, .dport = f->rport, .flags = SCPS_ACK};
    size_t n = ip.version == 6 ? 40 : 20, len = 8;
    uint8_t *m = p + n;

    ip.proto = ip.version == 6 ? SCPS_IPPROTO_ICMPV6 : SCPS_IPPROTO_ICMP;
    m[0] = type & 128 ? type : ip.version == 4 ? 3 : 2;
    m[1] = code & 128 ? code & 15 : ip.version == 4 ? 4 : 0;
    scps_put16(m + 2, 0);
    scps_put32(m + 4, get16(&w->in));
    s.seq = near(w, f->nxt - 1);
    len += scps_ip_build(m + len, &q, 1000);
    len += scps_tcp_build(m + len, &s);
    scps_ip_build(p, &ip, len);
    uint64_t sum = scps_cksum_add(0, m, len);
    if (ip.version == 6)
        sum = scps_cksum_pseudo(sum, &ip.src, &ip.dst, ip.proto, (uint32_t)len);
    scps_put16(m + 2, scps_cksum_fold(sum));
    input(w, p, n + len);
}

/* Hands in octets of the input, behind a valid IP header or without one. */
static void raw(struct world *w)
{
    uint8_t p[300], n = get8(&w->in), how = get8(&w->in);
    struct scps_ip ip = {.src = w->them, .dst = w->us, .version = w->us.family, .ttl = 64};
    size_t len = 0;

    ip.proto = how & 128 ? how & 127 : SCPS_IPPROTO_TCP;
    if (how & 64)
        len = scps_ip_build(p, &ip, n);
    for (unsigned i = 0; i < n; i++)
        p[len++] = get8(&w->in);
    input(w, p, len);
}

/* Hands in a datagram, or an ICMP error that quotes one; lengths and ports are mostly right. */
static void datagram(struct world *w)
{
    uint8_t p[SCPS_MAX_HEADERS + 256] = {0}, n = get8(&w->in), how = get8(&w->in);
    struct scps_ip ip = {.src = w->them, .dst = w->us, .version = w->us.family, .ttl = 64};
    struct scps_udp u = {
        .sport = 5000, .dport = (uint16_t)(53 + how % 3), .data = p + 128, .len = n};
    bool error = how & 8;
    size_t at, len;

    if (error) { /* The ICMP error quotes a packet that the stack may have sent. */
        struct scps_ip q = {.src = w->us, .dst = w->them, .version = w->us.family, .proto = 17};
        uint8_t *m = p + (w->us.family == 6 ? 40 : 20);
        ip.proto = w->us.family == 6 ? SCPS_IPPROTO_ICMPV6 : SCPS_IPPROTO_ICMP;
        m[0] = how & 16 ? n : w->us.family == 6 ? 1 : 3;
        m[1] = how & 16 ? how >> 5 : w->us.family == 6 ? 4 : 3;
        scps_put32(m + 4, n * 8u);
        len = 8 + scps_ip_build(m + 8, &q, 40);
        u = (struct scps_udp){.sport = (uint16_t)(53 + how % 3), .dport = 5000, .data = p};
        len += scps_udp_build(m + len, &w->us, &w->them, &u);
        scps_ip_build(p, &ip, len);
        uint64_t sum = scps_cksum_add(0, m, len);
        if (ip.version == 6)
            sum = scps_cksum_pseudo(sum, &ip.src, &ip.dst, ip.proto, (uint32_t)len);
        scps_put16(m + 2, scps_cksum_fold(sum));
        input(w, p, (size_t)(m - p) + len);
        return;
    }
    ip.proto = SCPS_IPPROTO_UDP;
    for (unsigned i = 0; i < n; i++)
        p[128 + i] = get8(&w->in);
    at = scps_ip_build(p, &ip, 8u + n);
    scps_udp_build(p + at, &ip.src, &ip.dst, &u);
    if (how & 32)
        scps_put16(p + at + 6, 0);
    if (how & 64)
        scps_put16(p + at + 4, (uint16_t)(8 + n + (how >> 7 ? 1 : -1)));
    memmove(p + at + 8, p + 128, n);
    len = at + 8 + n;
    input(w, p, how & 4 && len > at ? at + how % 11 : len);
}

/* Gives the route to the peer a rate, which connections and datagrams share; 0: none. */
static void share_rate(struct world *w, uint64_t rate)
{
    struct scps_route r = {
        .dst = w->them, .prefix = w->us.family == 6 ? 128 : 32, .nif = &w->nif, .rate = rate};

    if (scps_stack_set_route(w->st, &r) == SCPS_ERR_NOENT)
        scps_stack_add_route(w->st, &r);
}

/* Makes one call of an application on an endpoint of datagrams. */
static void dgram_call(struct world *w, uint8_t which)
{
    struct scps_dgram **d = &w->d[which & 1];
    struct scps_endpoint at = {.port = (uint16_t)(53 + (which & 1))}, to = {w->them, 5000};
    struct scps_dgram_config cfg = scps_dgram_config_default();
    uint8_t buf[1600] = {0};
    struct scps_dgram_from from;
    int64_t n;

    switch (which >> 1 & 7) {
    case 0:
        cfg.sndbuf = cfg.rcvbuf = which & 128 ? 100 : 20000;
        cfg.df_off = which & 64;
        if (!*d)
            *d = scps_dgram_open(w->st, &cfg, &at, NULL);
        break;
    case 1:
    case 2:
        if (*d)
            scps_dgram_send(*d, which & 64 ? &to : NULL, buf, (size_t)get8(&w->in) << (which >> 6),
                            0);
        break;
    case 3:
        if (*d &&
            (n = scps_dgram_recv(*d, buf, get8(&w->in), which & 64 ? SCPS_PEEK : 0, &from)) >= 0)
            MUST(scps_addr_equal(&from.remote.addr, &w->them) && n <= MTU);
        break;
    case 4:
        if (*d && which >> 6 == 3) {
            scps_dgram_close(*d);
            *d = NULL;
        } else if (which >> 6 == 2) {
            share_rate(w, get8(&w->in) * 1000u);
        }
        break;
    case 5:
        if (*d)
            scps_dgram_connect(*d, which & 64 ? &to : NULL);
        break;
    case 6:
        if (*d)
            MUST(scps_dgram_error(*d, &to, NULL) <= 0);
        break;
    case 7:
        datagram(w);
        break;
    }
}

/* ---- the application ---- */

static void app_connect(struct world *w, struct flow *f)
{
    struct scps_endpoint to = {w->them, f->rport};
    int err = 1;

    if (f->c)
        return;
    /* The record of the flow's last connection is discarded when a new SYN leaves. */
    f->seen = f->have_edge = f->know_irs = false;
    f->lport = 0;
    f->written = f->read = 0;
    f->c = scps_connect(w->st, &w->cfg, NULL, &to, &err);
    MUST(f->c ? err == 0 : err < 0);
}

static void app_accept(struct world *w)
{
    struct scps_conn *c = w->l ? scps_accept(w->l) : NULL;
    struct scps_endpoint e;

    if (!c)
        return;
    scps_conn_remote(c, &e);
    for (int i = ACTIVE; i < FLOWS; i++)
        if (w->f[i].rport == e.port) {
            MUST(!w->f[i].c || scps_conn_state(w->f[i].c) == SCPS_CLOSED ||
                 scps_conn_state(w->f[i].c) == SCPS_TIME_WAIT);
            if (w->f[i].c)
                scps_conn_close(w->f[i].c);
            w->f[i].c = c;
            return;
        }
    scps_conn_abort(c);
}

static void app_write(struct world *w, struct flow *f, size_t n, unsigned flags)
{
    uint8_t *buf = malloc(n + 1);

    if (!buf)
        return;
    for (size_t i = 0; i < n; i++)
        buf[i] = ours(f->written + 1 + i);
    int64_t did = scps_conn_write(f->c, w->cfg.hollow ? NULL : buf, n, flags);
    MUST(did <= (int64_t)n && (did > 0 || n == 0 || did < 0));
    if (did > 0)
        f->written += (uint64_t)did;
    free(buf);
}

static bool fits(const struct flow *f, uint32_t irs, const uint8_t *buf, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (buf[i] != theirs(irs + 1 + (uint32_t)f->read + (uint32_t)i))
            return false;
    return true;
}

static void app_read(struct world *w, struct flow *f, size_t n)
{
    uint8_t *buf = malloc(n + 1);
    size_t ready = scps_conn_readable(f->c);

    if (!buf)
        return;
    int64_t did = scps_conn_read(f->c, buf, n, 0);
    struct scps_hole h;
    /* A hole is at the position of the reader, and ends where data has arrived. */
    if (did == SCPS_ERR_HOLE) {
        MUST(ready == 0 && w->cfg.bets && scps_conn_stops(f->c));
        MUST(scps_conn_hole(f->c, &h, 0) == 1 && h.len > 0);
        MUST(h.at == f->read);
        f->read += h.len;
        MUST(scps_conn_hole(f->c, &h, 0) == 0);
        free(buf);
        return;
    }
    MUST(did <= (int64_t)n);
    MUST(did < 0 ? ready == 0 : (size_t)did == SCPS_MIN(n, ready));
    if (did > 0 && !w->cfg.hollow) {
        for (unsigned i = 0; i < MOST_STARTS && !f->know_irs; i++)
            if (fits(f, f->begun[i], buf, did)) {
                f->irs = f->begun[i];
                break;
            }
        f->know_irs = did >= 8;
        MUST(fits(f, f->irs, buf, did));
    }
    if (did > 0)
        f->read += (uint64_t)did;
    free(buf);
}

static void let_go(struct flow *f, bool politely)
{
    if (politely)
        scps_conn_close(f->c);
    else
        scps_conn_abort(f->c);
    f->c = NULL;
}

static void events(struct world *w)
{
    struct scps_event ev;
    unsigned n = 0;

    while (scps_stack_event(w->st, &ev)) {
        MUST(++n < 10000);
        MUST((unsigned)ev.kind < SCPS_EV_COUNT);
        if (ev.kind == SCPS_EV_ACCEPT) {
            MUST(ev.listener == w->l);
            continue;
        }
        bool owned = ev.dgram && (ev.dgram == w->d[0] || ev.dgram == w->d[1]);
        for (int i = 0; i < FLOWS; i++)
            owned |= ev.conn && w->f[i].c == ev.conn;
        MUST(owned);
        MUST(ev.kind != SCPS_EV_ERROR || ev.err < 0);
    }
}

static void look(const struct flow *f)
{
    struct scps_info i;

    scps_conn_info(f->c, &i);
    /* SYN and FIN count as octets, too. */
    MUST(i.inflight + i.sacked + i.lost <= i.outstanding + 2);
    MUST(i.bytes_acked + i.bytes_given_up <= f->written);
    MUST(i.ranges_given_up == scps_conn_given_up(f->c, NULL, 0));
    MUST(i.state == scps_conn_state(f->c));
    MUST(i.hold < SCPS_HOLD_COUNT);
    MUST(i.rto > 0 && i.srtt >= 0);
    MUST(i.cwnd > 0 || !i.established);
    MUST(scps_conn_unacked(f->c) >= scps_conn_unsent(f->c));
}

static void reconfigure(struct world *w, struct flow *f)
{
    struct scps_conn_config c;
    uint8_t how = get8(&w->in);

    scps_conn_get_config(f->c, &c);
    c.nodelay = how & 1;
    c.keepalive = how & 2;
    c.keep_idle = SCPS_SEC(1 + (how & 15));
    c.ack_mode = (enum scps_ack_mode)(how % 3);
    c.rate = how & 64 ? 100000 : 0;
    c.user_timeout = how & 128 ? SCPS_SEC(10) : 0;
    scps_conn_set_config(f->c, &c);
}

static void signal_path(struct world *w)
{
    uint8_t how = get8(&w->in);
    struct scps_signal s = {.kind = (enum scps_signal_kind)(how % 5), .until = SCPS_NEVER};

    if (how & 8)
        s.nif = &w->nif;
    if (how & 16)
        s.remote = w->them;
    if (how & 32)
        s.until = w->now + SCPS_SEC(get8(&w->in));
    s.rtt = SCPS_MS(get8(&w->in));
    s.rate = get8(&w->in) * 1000u;
    scps_stack_signal(w->st, w->now, &s);
}

static void order(struct world *w)
{
    uint8_t what = get8(&w->in), which = get8(&w->in);
    struct flow *f = &w->f[which % FLOWS];
    static const char *const name[24] = {
        "advance",   "next timer", "segment",         "segment",      "segment",     "good ack",
        "good data", "good fin",   "good syn",        "write",        "read",        "shutdown",
        "close",     "abort",      "connect",         "accept",       "reconfigure", "icmp",
        "raw",       "signal",     "cork or nodelay", "memory fails", "datagrams",   "events"};

    log_event(w, name[what % 24], NULL, 0);
    switch (what % 24) {
    case 0:
        advance(w, w->now + ((scps_time)1 << which % 32), 200);
        break;
    case 1:
        advance(w, SCPS_MIN(scps_stack_deadline(w->st), w->now + SCPS_SEC(7200)), 1);
        break;
    case 2:
    case 3:
    case 4:
        segment(w, f);
        break;
    case 5:
        good_segment(w, f, 0, 0);
        break;
    case 6:
        good_segment(w, f, which * 5u, SCPS_PSH);
        break;
    case 7:
        good_segment(w, f, 0, SCPS_FIN);
        break;
    case 8:
        good_syn(w, f, which % FLOWS < ACTIVE, get8(&w->in));
        break;
    case 9:
        if (f->c)
            app_write(w, f, (size_t)get8(&w->in) << (which >> 4),
                      (which & 8 ? SCPS_MORE : 0) | (which & 4 && w->cfg.records ? SCPS_EOR : 0));
        break;
    case 10:
        if (f->c)
            app_read(w, f, (size_t)get8(&w->in) << (which >> 4));
        break;
    case 11:
        if (f->c)
            scps_conn_shutdown(f->c);
        break;
    case 12:
        if (f->c)
            let_go(f, true);
        break;
    case 13:
        if (f->c)
            let_go(f, false);
        break;
    case 14:
        app_connect(w, &w->f[which % ACTIVE]);
        break;
    case 15:
        app_accept(w);
        break;
    case 16:
        if (f->c)
            reconfigure(w, f);
        break;
    case 17:
        icmp_error(w, f);
        break;
    case 18:
        raw(w);
        break;
    case 19:
        signal_path(w);
        break;
    case 20:
        if (f->c)
            (which & 128 ? scps_conn_cork : scps_conn_nodelay)(f->c, which & 64);
        break;
    case 21:
        w->mem.fail_after = which & 128 ? 1 + (which & 31) : 0;
        break;
    case 22:
        if (w->l && which == 255) {
            scps_listener_close(w->l);
            w->l = NULL;
        } else {
            dgram_call(w, which);
        }
        break;
    case 23:
        events(w);
        break;
    }
    drain(w);
    for (int i = 0; i < FLOWS; i++)
        if (w->f[i].c)
            look(&w->f[i]);
}

static bool begin(struct world *w)
{
    struct scps_stack_config sc = scps_stack_config_default();
    struct scps_endpoint at = {.port = 80};
    uint8_t a = get8(&w->in), b = get8(&w->in);

    sc.alloc = (struct scps_alloc){counted_alloc, counted_free, &w->mem};
    sc.seed[0] = 1;
    sc.now = w->now = SCPS_SEC(5);
    sc.max_half_open = b & 1 ? 1 : 16;
    sc.syn_cookies = !(b & 2);
    w->us.family = w->them.family = a & 1 ? 6 : 4;
    MUST(!scps_addr_parse(a & 1 ? "2001:db8::1" : "10.0.0.1", &w->us));
    MUST(!scps_addr_parse(a & 1 ? "2001:db8::2" : "10.0.0.2", &w->them));
    w->cfg = scps_conn_config_default();
    w->cfg.timestamps = a & 2;
    w->cfg.sack = !(a & 4);
    w->cfg.wscale = a & 8;
    w->cfg.hollow = a & 16;
    w->cfg.ecn = a & 32;
    w->cfg.rcvbuf = a & 64 ? 3000 : 100000;
    w->cfg.sndbuf = a & 128 ? 5000 : 100000;
    w->cfg.pacing = w->cfg.bets = b & 4;
    w->cfg.bets_retries = 2;
    w->cfg.bets_timeout = SCPS_MS(300);
    w->cfg.spurious_undo = !(b & 8);
    w->cfg.records = b & 8;
    w->cfg.snack = w->cfg.snack_long = a & 32;
    w->cfg.keepalive = b & 16;
    w->cfg.keep_idle = SCPS_SEC(10);
    w->cfg.data_retries = 5;
    w->cfg.mss = b & 32 ? 100 : 0;
    w->cfg.loss_cause = b & 64 ? SCPS_LOSS_CORRUPTION : SCPS_LOSS_CONGESTION;
    w->nif = (struct scps_netif){.name = "fuzz", .mtu = MTU};
    w->nif.flags = w->cfg.hollow ? SCPS_NETIF_HOLLOW : 0;
    if (b & 128)
        w->nif.flags |= SCPS_NETIF_GSO | SCPS_NETIF_NO_CSUM;
    w->st = scps_stack_new(&sc);
    if (!w->st)
        return false;
    MUST(!scps_stack_add_netif(w->st, &w->nif));
    MUST(!scps_stack_add_addr(w->st, &w->nif, &w->us, 24));
    w->l = scps_listen(w->st, &w->cfg, &at, 4, NULL);
    MUST(w->l != NULL);
    for (int i = 0; i < FLOWS; i++) {
        struct flow *f = &w->f[i];
        f->rport = (uint16_t)(5000 + i);
        f->lport = i < ACTIVE ? 0 : 80;
        f->isn[0] = i & 1 ? 0xfffff000u : 1000u * (unsigned)i;
        f->isn[1] = f->isn[0] + 1000000u;
    }
    app_connect(w, &w->f[0]);
    drain(w);
    return true;
}

/* The links are up, the applications close, and time passes: no connection may remain. */
static void finish(struct world *w)
{
    struct scps_signal up = {.kind = SCPS_SIGNAL_LINK_UP};
    struct scps_stack_stats s;

    w->mem.fail_after = 0;
    scps_stack_signal(w->st, w->now, &up);
    for (int i = 0; i < FLOWS; i++)
        if (w->f[i].c)
            let_go(&w->f[i], true);
    if (w->l)
        scps_listener_close(w->l);
    w->l = NULL;
    for (int i = 0; i < DGRAMS; i++) {
        if (w->d[i])
            scps_dgram_close(w->d[i]);
        w->d[i] = NULL;
    }
    drain(w);
    /* With the longest timeout, an hour, best effort gives up one segment after the other, which
     * takes this long. */
    advance(w, w->now + SCPS_SEC(500 * 86400), 60000);
    events(w);
    scps_stack_get_stats(w->st, &s);
    MUST(s.conns == 0 && s.half_open == 0 && s.listeners == 0 && s.dgrams == 0);
    MUST(scps_stack_deadline(w->st) == SCPS_NEVER);
    scps_stack_free(w->st);
    MUST(w->mem.live == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct world w = {.in = {data, data + size}, .loud = getenv("FUZZ_LOUD") != NULL};

    if (!begin(&w))
        return 0;
    while (w.in.p < w.in.end && w.orders++ < 2000)
        order(&w);
    finish(&w);
    return 0;
}
