/* SPDX-License-Identifier: MIT */
/* A third party that sends packets in the name of either host, and routers that send arbitrary ICMP
 * errors.
 *
 * The run says what the third party knows. Blind: both addresses and the listener's port, so it
 * guesses other ports and all numbers; the run without it must end in the same way. Ports: it hits
 * a connection, but with sequence numbers outside the window, or with resets inside the window that
 * are not exact (RFC 5961); the octets and the end of each stream must be right. All: it has read
 * every packet; then only memory, deadlines and well-formed packets are checked.
 */
#include "pair.h"

static void finish_icmp(struct scps_ip *ip, uint8_t *m, size_t len)
{
    uint64_t sum;

    scps_put16(m + 2, 0);
    sum = scps_cksum_add(0, m, len);
    if (ip->version == 6)
        sum = scps_cksum_pseudo(sum, &ip->src, &ip->dst, ip->proto, (uint32_t)len);
    scps_put16(m + 2, scps_cksum_fold(sum));
}

void pair_icmp(struct world *w, struct host *to, const uint8_t *quote, size_t len, uint8_t type,
               uint8_t code, uint32_t word)
{
    uint8_t p[256];
    bool v6 = to->addr.family == 6;
    struct scps_ip ip = {.dst = to->addr,
                         .src = to->addr,
                         .version = to->addr.family,
                         .proto = v6 ? SCPS_IPPROTO_ICMPV6 : SCPS_IPPROTO_ICMP,
                         .ttl = 64};

    ip.src.b[v6 ? 15 : 3] = 77; /* The source address becomes that of a router. */
    size_t n = scps_ip_build(p, &ip, 8 + len);
    uint8_t *m = p + n;
    m[0] = type;
    m[1] = code;
    scps_put32(m + 4, word);
    memcpy(m + 8, quote, len);
    finish_icmp(&ip, m, 8 + len);
    pair_inject(w, to, p, n + 8 + len, 0);
}

void pair_router(struct world *w, struct host *h, uint8_t b, uint8_t c)
{
    static const uint8_t v4[][2] = {{3, 4}, {3, 0},  {3, 1},  {3, 3},
                                    {3, 2}, {11, 0}, {12, 0}, {4, 0}};
    static const uint8_t v6[][2] = {{2, 0}, {1, 0}, {1, 3}, {1, 4}, {4, 1}, {3, 0}, {4, 0}, {1, 1}};
    static const uint32_t mtus[] = {0, 68, 296, 576, 1280, 1499, 100, 65535};
    const uint8_t *kind = h->addr.family == 6 ? v6[b & 7] : v4[b & 7];

    if (!h->out.quote_len)
        return;
    if (b & 7)
        for (int i = 0; i < FLOWS; i++)
            w->flow[i].excuse |= EXCUSE_ICMP;
    pair_icmp(w, h, h->out.quote, h->out.quote_len, kind[0], kind[1], mtus[c & 7]);
}

/* ---- the third party ---- */

/* The sequence numbers of a segment, as far as the third party has read them in packets. */
struct guess {
    uint16_t sport, dport;
    uint32_t seq, ack, tsval;
    uint8_t id;
};

/* Fills in *g. Returns false if the third party has read no packet of this flow. */
static bool guess(struct world *w, struct host *h, struct flow *f, uint8_t b, uint8_t c,
                  struct guess *g)
{
    const struct memo *in = &other(w, h)->out.memo[f->nr], *out = &h->out.memo[f->nr];
    struct end *e = &f->end[h->nr];
    enum scps_state s;

    if (w->third == THIRD_BLIND) {
        *g = (struct guess){.sport = (uint16_t)(STRANGER_PORT + c * 7u),
                            .dport = c & 1 ? (uint16_t)(CLIENT_PORT + c) : LISTEN_PORT,
                            .seq = c * 0x01030507u,
                            .ack = c * 0x07050301u,
                            .tsval = c * 0x03010705u,
                            .id = c};
        /* The segment goes to the client's port, from a port that is not the server's. */
        if (c & 1)
            g->sport = (uint16_t)(LISTEN_PORT + 1 + c);
        return true;
    }
    if (!in->known || !out->known)
        return false;
    *g = (struct guess){.sport = in->sport, .dport = in->dport, .seq = in->nxt, .ack = out->nxt};
    g->tsval = in->tsval;
    g->id = other(w, h)->out.comp_id[f->nr];
    if (w->third == THIRD_PORTS) {
        /* During the handshake the third party's SYN has the same effect as the true one. */
        s = e->c ? scps_conn_state(e->c) : SCPS_CLOSED;
        if (s == SCPS_CLOSED || s == SCPS_SYN_SENT || s == SCPS_SYN_RECEIVED || s == SCPS_TIME_WAIT)
            return false;
        g->seq += UINT32_C(0x40000000) + ((uint32_t)c << 20);
        g->ack += UINT32_C(0x40000000) + ((uint32_t)c << 20);
        return true;
    }
    g->seq += b & 16 ? 0 : b & 32 ? c : (uint32_t)-c * 16;
    g->ack += b & 64 ? 0 : (uint32_t)-c * 8;
    g->tsval += c & 1 ? 1 : b & 128 ? UINT32_C(0x7fffff00) : 0;
    w->doubt |= DOUBT_CONTENT | DOUBT_END | DOUBT_RECORDS;
    return true;
}

static void send_segment(struct world *w, struct host *h, struct scps_seg *s, bool compressed,
                         const struct guess *g)
{
    uint8_t p[SCPS_MAX_HEADERS + 64];
    struct scps_ip ip = {.src = other(w, h)->addr,
                         .dst = h->addr,
                         .version = h->addr.family,
                         .proto = compressed ? SCPS_IPPROTO_SCPS_COMP : SCPS_IPPROTO_TCP,
                         .ttl = 64};
    struct scps_comp_tx tx;
    uint8_t *t = p + (ip.version == 6 ? 40 : 20);
    size_t hdr;

    scps_comp_tx_init(&tx, g->id, 2, false);
    /* The numbers are those that the header may leave out, because they were sent before. */
    if (s->len && g->seq & 1) {
        tx.known = true;
        tx.seq = s->seq;
        tx.ack = s->ack;
    }
    hdr = compressed ? scps_comp_build(t, &tx, s, NULL) : scps_tcp_build(t, s);
    if (!hdr)
        return;
    memset(t + hdr, 0xee, s->len);
    /* The number of its checksum, 105, may be another one than that of the flow. */
    if (compressed && w->third == THIRD_ALL)
        w->imitated |= w->host[0].cfg.comp_proto != ip.proto;
    if (compressed)
        scps_put16(t + hdr - 2,
                   scps_comp_checksum(&ip.src, &ip.dst, ip.proto, t, hdr, t + hdr, s->len));
    else
        scps_put16(t + 16, scps_tcp_checksum(&ip.src, &ip.dst, t, hdr, t + hdr, s->len));
    size_t n = scps_ip_build(p, &ip, hdr + s->len);
    pair_inject(w, h, p, n + hdr + s->len, 0);
}

static void add_options(struct scps_seg *s, const struct guess *g, uint8_t b)
{
    if (b & 128) {
        s->has |= SCPS_HAS_TS;
        s->tsval = g->tsval;
        s->tsecr = g->tsval;
    }
    if (s->flags & SCPS_SYN) {
        s->has |= SCPS_HAS_MSS | SCPS_HAS_SACK_OK;
        s->mss = 1400;
        if (b & 16) {
            s->has |= SCPS_HAS_CAPS;
            s->caps = SCPS_CAP_BETS | SCPS_CAP_SNACK1 | SCPS_CAP_COM;
            s->conn_id = g->id;
        }
        return;
    }
    if (b & 16) {
        s->has |= SCPS_HAS_SACK;
        s->nsack = 1;
        s->sack[0] = (struct scps_sack){g->ack + 100, g->ack + 300};
    }
    if (b & 32) {
        s->has |= SCPS_HAS_SNACK | SCPS_HAS_CORRUPTION;
        s->snack_off = g->id;
        s->snack_size = 1;
    }
    if (b & 64)
        s->has |= SCPS_HAS_RECORD;
}

/* Injects ICMP errors that quote a packet which h has not sent. */
static void false_icmp(struct world *w, struct host *h, const struct guess *g, bool big,
                       bool compressed)
{
    uint8_t q[128];
    bool v6 = h->addr.family == 6;
    struct scps_ip ip = {.src = h->addr,
                         .dst = other(w, h)->addr,
                         .version = h->addr.family,
                         .proto = compressed ? SCPS_IPPROTO_SCPS_COMP : SCPS_IPPROTO_TCP,
                         .ttl = 60,
                         .df = true};
    struct scps_seg s = {.sport = g->dport, .dport = g->sport, .flags = SCPS_ACK, .seq = g->ack};
    size_t n = scps_ip_build(q, &ip, 1000);

    n += scps_tcp_build(q + n, &s);
    if (compressed)
        q[n - 20] = g->id;
    pair_icmp(w, h, q, n, big ? (v6 ? 2 : 3) : (v6 ? 1 : 3), big ? (v6 ? 0 : 4) : (v6 ? 4 : 3),
              big ? 300 : 0);
}

/* Injects a packet that is no segment: a datagram, an echo request, or arbitrary octets. */
static void others(struct world *w, struct host *h, uint8_t b, uint8_t c)
{
    uint8_t p[128];
    static const uint8_t protos[4] = {17, SCPS_IPPROTO_ICMP, 50, SCPS_IPPROTO_TCP};
    struct scps_ip ip = {.src = other(w, h)->addr,
                         .dst = h->addr,
                         .version = h->addr.family,
                         .proto = protos[b >> 4 & 3],
                         .ttl = 64};
    struct scps_udp u = {.sport = 5, .dport = c, .data = p, .len = 0};
    size_t len = c & 31;

    if (ip.proto == SCPS_IPPROTO_ICMP && ip.version == 6)
        ip.proto = SCPS_IPPROTO_ICMPV6;
    if (ip.proto == SCPS_IPPROTO_UDP || ip.proto != protos[3])
        len += 8;
    size_t n = scps_ip_build(p, &ip, len);
    memset(p + n, c, len);
    if (ip.proto == SCPS_IPPROTO_UDP) {
        u.data = p + n + 8;
        u.len = len - 8;
        scps_udp_build(p + n, &ip.src, &ip.dst, &u);
    } else if (len >= 8) {
        p[n] = ip.version == 6 ? 128 : 8;
        p[n + 1] = 0;
        finish_icmp(&ip, p + n, len);
    }
    pair_inject(w, h, p, n + len, 0);
}

static void one(struct world *w, struct host *h, struct flow *f, uint8_t b, uint8_t c)
{
    static const uint8_t flags[8] = {SCPS_SYN,
                                     SCPS_RST,
                                     SCPS_ACK,
                                     SCPS_ACK | SCPS_PSH,
                                     SCPS_ACK | SCPS_FIN,
                                     SCPS_SYN | SCPS_ACK,
                                     SCPS_RST | SCPS_ACK,
                                     SCPS_SYN | SCPS_RST};
    struct scps_seg s = {.wnd = (uint16_t)(c << 8 | 1)};
    struct guess g;

    if (!guess(w, h, f, b, c, &g) || !w->inject)
        return;
    if (w->third == THIRD_PORTS && (b & 15) == 1 && b & 16)
        /* The sequence number is inside the window, but not RCV.NXT, which is one above what was
         * sent last if that was a probe. */
        g.seq = other(w, h)->out.memo[f->nr].nxt + 2 + c % 100;
    s.sport = g.sport;
    s.dport = g.dport;
    s.flags = flags[b & 7];
    s.seq = g.seq;
    s.ack = s.flags & SCPS_ACK ? g.ack : 0;
    s.len = (b & 7) == 3 ? 1 + c % 50u : 0;
    add_options(&s, &g, b);
    send_segment(w, h, &s, b & 8 && w->third != THIRD_PORTS && !(s.flags & SCPS_SYN), &g);
}

void pair_third(struct world *w, struct host *h, struct flow *f, uint8_t b, uint8_t c)
{
    struct guess g;

    if (w->third == THIRD_NONE || w->strangers >= 300)
        return;
    w->strangers++;
    w->third_sends = true;
    /* The value 8 would stand for a SYN with a compressed header, which does not exist, so it
     * stands for an ICMP error. */
    if ((b & 15) == 8) {
        if (guess(w, h, f, b, c, &g) && w->inject)
            false_icmp(w, h, &g, b & 16, b & 32 && w->third != THIRD_PORTS);
    } else if ((b & 15) == 13) {
        if (w->inject)
            others(w, h, b, c);
    } else if ((b & 15) == 15) { /* A flood of SYNs. */
        for (unsigned i = 0; i < 24; i++, w->strangers++)
            one(w, h, f, b & 0xf0, (uint8_t)(c + 2 * i));
    } else {
        one(w, h, f, b, c);
    }
    w->third_sends = false;
}
