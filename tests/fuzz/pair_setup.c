/* SPDX-License-Identifier: MIT */
/* The first octets of the input as two hosts, their configurations and the channel between them.
 *
 *      0  bits 0-1 third party (none, blind, knows ports, knows all), 2 IPv6, 3 device does
 *         checksums and cuts trains, 4 hollow streams, 5 no SYN cookies, 6 damaged packets are
 *         hints, 7 two half-open places
 *      1  one-way delay, a nibble for each direction (the low one: from host 0)
 *      2  rate of the line, likewise          3  loss         4  jitter
 *      5  low nibble: duplicates, high nibble: bits flipped, in both directions
 *      6  seed of the channel's chances       7  rate of the route, a nibble for each host
 *      8  MTU, a nibble for each host         9  backlog of the listeners; above its three lowest
 *         bits 21 to 24: memory is reserved or limited (pair_host.c)
 *     10  host 0, 14 octets: see `configure`
 *     24  host 1, likewise
 *     38  octets that host 0, and then host 1, has to send at first
 */
#include "pair.h"

#define NIBBLE(b, h) ((h) ? (b) >> 4 : (b)&15)
#define OF(table, i) ((table)[(i) % (sizeof(table) / sizeof *(table))])

static const scps_dur delays[] = {SCPS_MS(1),   10,           200,          SCPS_MS(5),
                                  SCPS_MS(30),  SCPS_MS(130), SCPS_MS(280), SCPS_MS(1300),
                                  SCPS_SEC(10), SCPS_SEC(240)};
static const uint32_t rates[] = {0, 1000000, 125000, 20000, 5000};

/* ---- memory ---- */

static void *host_alloc(void *ctx, size_t size)
{
    struct host *h = ctx;

    if (h->refuse) {
        h->refuse--;
        return NULL;
    }
    void *p = counted_alloc(&h->mem, size);
    h->peak = SCPS_MAX(h->peak, h->mem.live);
    return p;
}

static void host_free(void *ctx, void *p, size_t size)
{
    counted_free(&((struct host *)ctx)->mem, p, size);
}

/* ---- configurations ---- */

static uint64_t rate_of(uint8_t code)
{
    return OF(rates, code);
}

/* Returns the expected round trip that is configured, µs: none (0), the right one, or a wrong
 * one. */
static scps_dur expected(uint8_t code, scps_dur rtt)
{
    switch (code & 3) {
    case 1:
        return SCPS_MAX(rtt, 10);
    case 2:
        return SCPS_MAX(rtt, 10) * 4;
    case 3:
        return SCPS_MAX(rtt / 4, 10);
    }
    return 0;
}

static void choose_options(struct scps_conn_config *c, const uint8_t *o)
{
    c->snack = o[0] & 1;
    c->snack_long = o[0] & 2;
    c->bets = o[0] & 4;
    c->records = o[0] & 8;
    c->compress = o[0] & 16;
    c->ecn = o[0] & 32;
    c->corruption = !(o[0] & 64);
    c->bets_legacy = o[0] & 128;
    c->timestamps = !(o[1] & 1);
    c->sack = !(o[1] & 2);
    c->wscale = !(o[1] & 4);
    c->dsack = !(o[1] & 8);
    c->limited_transmit = !(o[1] & 16);
    c->spurious_undo = !(o[1] & 32);
    c->nodelay = o[1] & 64;
    c->pacing = o[1] & 128;
}

static void choose_control(struct scps_conn_config *c, const uint8_t *o)
{
    static const uint32_t segs[] = {0, 1, 2, 40};
    unsigned n = 0;

    while (scps_cc_at(n))
        n++;
    c->cc = scps_cc_at((o[2] & 15) % n);
    scps_cc_param_defaults(c->cc, c->cc_param);
    c->rate = rate_of(o[2] >> 4);
    if (c->cc->needs_rate && !c->rate)
        c->rate = 125000;
    c->recovery = o[3] & 1 ? SCPS_RECOVERY_RACK : SCPS_RECOVERY_CLASSIC;
    c->dupthresh = o[3] >> 1 & 3;
    c->ack_mode = (enum scps_ack_mode)((2 + (o[3] >> 3 & 3)) % 3);
    c->holes_at_once = o[3] & 32;
    c->quick_acks = o[3] & 64 ? 8 : 0;
    c->snack_raw_unit = o[3] & 128;
    c->ack_budget_pps = o[4] & 15 ? 1u << (o[4] & 7) : 0;
    c->ack_budget = OF(rates, o[4] >> 4) / 10;
    c->init_cwnd_segs = segs[o[10] >> 2 & 3];
    c->stretch_acks = !(o[10] & 32);
    c->loss_cause = o[10] >> 4 & 1 ? SCPS_LOSS_CORRUPTION : SCPS_LOSS_CONGESTION;
}

/* Sets the limits and timers of a connection from octets 5 to 12 of the host's part of the
 * input. */
static void choose_limits(struct scps_conn_config *c, const uint8_t *o, scps_dur rtt)
{
    static const uint32_t buffers[] = {50000, 100000, 8000, 3000, 1000, 65535, 20000, 256};
    static const uint16_t mss[] = {0, 1000, 536, 100, 48, 1200};
    static const uint8_t protos[] = {105, 6, 106, 105};
    static const scps_dur most[] = {0, SCPS_SEC(1), SCPS_SEC(5), SCPS_SEC(300)};

    c->sndbuf = OF(buffers, o[0] & 15);
    c->rcvbuf = OF(buffers, o[0] >> 4);
    c->outage_after = o[1] & 15;
    c->caps_tries = o[1] >> 4 ? o[1] >> 4 : 3;
    c->mss = OF(mss, o[2] & 15);
    c->comp_proto = protos[o[2] >> 4 & 3];
    c->df_off = o[2] & 64;
    c->first_window = o[2] & 128 ? 100000 : 0;
    c->bets_timeout = o[3] & 3 ? SCPS_MS(50) << 2 * (o[3] & 3) : 0;
    c->bets_retries = o[3] >> 2 & 7;
    c->bets_lifetime = o[3] >> 5 ? SCPS_MS(200) << (o[3] >> 5) : 0;
    c->keepalive = o[4] & 1;
    c->keep_idle = SCPS_SEC(1 + (o[4] & 14));
    c->keep_count = 2;
    c->keep_interval = SCPS_SEC(2);
    c->user_timeout = o[4] & 16 ? SCPS_SEC(4) << (o[4] >> 5) : 0;
    c->expected_rtt = expected(o[5], rtt);
    c->corruption_hold = o[6] & 1 ? SCPS_SEC(2) : 0;
    c->snack_delay = o[6] & 2 ? SCPS_MS(50) : 0;
    c->tos = o[6] & 4 ? 0xb8 : 0;
    c->binding[0].id = 3;
    c->binding[0].len = o[6] & 8 ? 4 : 0;
    if (o[6] & 16) {
        c->data_retries = 3 + (o[6] >> 5);
        c->syn_retries = 2;
    }
    c->ack_delay = o[7] & 3 ? SCPS_MS(10) << 3 * (o[7] & 3) : 0;
    c->rto_min = o[7] >> 2 & 3 ? SCPS_MS(1) << 4 * (o[7] >> 2 & 3) : 0;
    c->rto_max = most[o[7] >> 4 & 3];
    c->persist_max = most[o[7] >> 6 & 3];
}

/* 14 octets: 0 SNACK, long form, BETS, records, compression, ECN, no option 23, option 16; 1
 * without timestamps, SACK, window scale, DSACK, limited transmit, undo; Nagle off, pacing; 2
 * controller and rate; 3 RACK, dupthresh, ACK mode, holes at once, quick ACKs, SNACK unit; 4 ACK
 * budget; 5 buffers; 6 outage after, SYNs with capabilities; 7 MSS, compression's protocol, DF,
 * first window; 8 BETS; 9 keep-alive, user timeout; 10 expected round trip, initial window,
 * cause of losses; 11 corruption, SNACK delay, TOS, binding space, few retries; 12 delays; 13
 * route. */
static void configure(struct host *h, const uint8_t *o, scps_dur rtt)
{
    struct scps_conn_config *c = &h->cfg;

    *c = scps_conn_config_default();
    choose_options(c, o);
    choose_control(c, o);
    choose_limits(c, o + 5, rtt);
}

void pair_route(struct world *w, struct host *h, uint8_t code)
{
    struct scps_route r = {.dst = h->addr,
                           .prefix = h->addr.family == 6 ? 64 : 24,
                           .nif = &h->nif,
                           .rate = rate_of(code),
                           .overhead.packet = code & 8 ? 26 : 0};

    w->rated |= r.rate != 0;
    if (code & 4)
        r.min_rate = r.rate / 2;
    h->touched = true;
    if (h->gone || h->no_addr)
        return;
    int err = scps_stack_set_route(h->st, &r);
    if (err == SCPS_ERR_NOENT)
        err = scps_stack_add_route(h->st, &r);
    h->no_route = h->no_route && err;
}

void pair_reconfigure(struct world *w, struct host *h, struct end *e, uint8_t b, uint8_t c)
{
    struct scps_conn_config n, was;
    uint8_t o[8] = {0, 0, 0, c, b, b, b, c};

    scps_conn_get_config(e->c, &n);
    was = n;
    choose_limits(&n, o, h->out.delay + other(w, h)->out.delay);
    n.sndbuf = c & 8 ? was.sndbuf * 2 : was.sndbuf;
    n.rcvbuf = c & 16 ? was.rcvbuf * 2 : was.rcvbuf;
    n.mss = was.mss;
    n.comp_proto = was.comp_proto;
    n.df_off = was.df_off;
    n.first_window = was.first_window;
    n.caps_tries = was.caps_tries;
    n.binding[0] = was.binding[0];
    n.outage_after = c & 1 ? b & 7 : was.outage_after;
    n.nodelay = b & 1;
    n.pacing = b & 2;
    n.ack_mode = (enum scps_ack_mode)(b >> 2 & 3);
    if (n.ack_mode > SCPS_ACK_OTHER)
        n.ack_mode = was.ack_mode;
    n.rate = c & 64 ? rate_of(c) : was.rate;
    n.ack_budget_pps = c & 32 ? 1u << (b & 7) : 0;
    n.tos = b & 128 ? 0x20 : 0;
    if ((b & 0x70) == 0x70) { /* The controller would be another one; the one in use stays. */
        const struct scps_cc_ops *cc = scps_cc_at(c & 7);
        scps_conn_config_set_cc(&n, cc ? cc : was.cc, NULL);
    }
    e->reconfigured = true;
    scps_conn_set_config(e->c, &n);
    scps_conn_get_config(e->c, &n);
    MUST(n.cc == was.cc);
}

void pair_listen(struct world *w, struct host *h, unsigned backlog)
{
    struct scps_endpoint at = {.port = LISTEN_PORT};

    (void)w;
    if (!h->l && !h->gone)
        h->l = scps_listen(h->st, &h->cfg, &at, backlog, NULL);
    if (h->l)
        scps_listener_set_user(h->l, h);
}

/* ---- hosts ---- */

static bool bring_up(struct world *w, struct host *h, const uint8_t *header)
{
    static const uint32_t mtus[] = {1500, 576, 9000, 296, 1280, 160};
    struct scps_stack_config sc = scps_stack_config_default();
    char why[200];
    static const char *const text[2][HOSTS] = {{"10.0.0.1", "10.0.0.2"},
                                               {"2001:db8::1", "2001:db8::2"}};

    h->cfg.hollow = w->hollow;
    sc.alloc = (struct scps_alloc){host_alloc, host_free, h};
    sc.seed[0] = 1 + h->nr;
    sc.seed[1] = header[6];
    sc.now = w->now;
    sc.syn_cookies = !(header[0] & 32);
    sc.checksum_hints = header[0] & 64;
    sc.max_half_open = header[0] & 128 ? 2 : 64;
    sc.max_comp_hosts = 2;
    pair_memory(w, h, header[9], &sc);
    MUST(!scps_addr_parse(text[header[0] >> 2 & 1][h->nr], &h->addr));
    h->nif = (struct scps_netif){.name = "pair", .mtu = OF(mtus, NIBBLE(header[8], h->nr))};
    h->nif.flags =
        (w->hollow ? SCPS_NETIF_HOLLOW : 0) | (w->vouch ? SCPS_NETIF_GSO | SCPS_NETIF_NO_CSUM : 0);
    MUST(!scps_stack_config_check(&sc, why, sizeof why));
    h->st = scps_stack_open(&sc, why, sizeof why);
    if (!h->st)
        return false;
    pair_story(w, h);
    MUST(!scps_stack_add_netif(h->st, &h->nif));
    MUST(!scps_stack_add_addr(h->st, &h->nif, &h->addr, header[0] & 4 ? 64 : 24));
    pair_route(w, h, NIBBLE(header[7], h->nr));
    pair_listen(w, h, 1 + (header[9] & 7 ? header[9] & 7 : 8));
    MUST(h->l != NULL);
    h->touched = true;
    return true;
}

bool pair_setup(struct world *w, const uint8_t header[HEADER])
{
    static const uint8_t chances[] = {0, 1, 3, 8, 16, 32, 64, 128};

    w->now = START;
    w->third = header[0] & 3;
    w->no_cookies = header[0] & 32;
    w->crowded = header[0] & 128;
    w->vouch = header[0] & 8;
    w->hollow = header[0] & 16;
    w->damage_told = header[0] & 64;
    for (unsigned i = 0; i < HOSTS; i++) {
        struct direction *d = &w->host[i].out;
        w->host[i].nr = i;
        d->delay = OF(delays, NIBBLE(header[1], i));
        d->rate = rate_of(NIBBLE(header[2], i));
        d->queue = SCPS_SEC(2);
        d->loss = OF(chances, NIBBLE(header[3], i));
        d->jitter = NIBBLE(header[4], i);
        d->dup = OF(chances, NIBBLE(header[5], 0));
        d->damage = OF(chances, NIBBLE(header[5], 1));
        d->prng = 1u + header[6] * 2654435761u + i;
    }
    for (unsigned i = 0; i < HOSTS; i++) {
        configure(&w->host[i], header + 10 + 14 * i, w->host[0].out.delay + w->host[1].out.delay);
        if (!bring_up(w, &w->host[i], header))
            return false;
    }
    for (unsigned i = 0; i < FLOWS; i++) {
        w->flow[i].nr = i;
        w->flow[i].opener = i == 2 ? HOSTS : (int)i;
    }
    return true;
}
