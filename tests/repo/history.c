/* SPDX-License-Identifier: MIT */
/* One seed, one history, on every machine: transfers over links of every kind, a line each, with
 * a sum over every packet, its bytes, its times and its fate, both ways. tools/test-cross-arch
 * compares what two machines print, house.history what two runs do, house.fast_paths what is
 * printed when one fast path is disabled.  Needs nothing but libscps and libscps_sim, so it runs
 * wherever they can be built. */
#include <inttypes.h>
#include <scps/scps.h>
#include <scps/sim.h>
#include <scps/traffic.h>
#include <stdio.h>
#include <string.h>

static void plain(struct scps_conn_config *c)
{
    (void)c;
}
static void snack(struct scps_conn_config *c)
{
    c->snack = c->snack_long = true;
}
static void rate(struct scps_conn_config *c)
{
    c->rate = 1100000;
    c->snack = c->snack_long = true;
}
static void bets(struct scps_conn_config *c)
{
    c->bets = c->snack = true;
    c->bets_retries = 2;
}
static void compress(struct scps_conn_config *c)
{
    c->compress = c->snack = true;
}
static void rack(struct scps_conn_config *c)
{
    c->recovery = SCPS_RECOVERY_RACK;
    c->pacing = true;
}
static void thin(struct scps_conn_config *c)
{
    c->ack_mode = SCPS_ACK_DELAYED;
    c->ack_budget_pps = 10;
}
static void corruption(struct scps_conn_config *c)
{
    c->loss_cause = SCPS_LOSS_CORRUPTION;
    c->snack = true;
}
static void wide(struct scps_conn_config *c)
{
    /* RFC 7323 section 2.3: the largest window that TCP can offer. */
    c->sndbuf = c->rcvbuf = 1u << 30;
    c->hollow = true;
}
static void marked(struct scps_conn_config *c)
{
    c->ecn = true;
    c->records = true;
}

static const struct run {
    const char *link, *cc;
    void (*set)(struct scps_conn_config *c);
    uint64_t bytes;
    bool six;     /* true: the transfer uses IPv6. */
    uint32_t mtu; /* The MTU, bytes; 0: 1500. */
} runs[] = {
    {"lan", "vj", plain, 3000000, false, 0},
    {"geo,ber=1e-6", "vj", plain, 1000000, false, 0},
    {"geo,ber=1e-6", "vegas", snack, 1000000, true, 0},
    {"geo,ber=1e-6", "vegas", corruption, 1000000, false, 0},
    {"geo,ber=1e-5", "rate", rate, 2000000, false, 0},
    {"geo,ber=1e-5,flip", "rate", rate, 2000000, false, 0},
    {"leo,loss=0.01,reorder=0.02,dup=0.01", "cubic", rack, 2000000, true, 0},
    {"leo,jitter=3ms", "hybla", plain, 2000000, false, 0},
    {"nasa500,ber=1e-7", "highspeed", plain, 4000000, false, 0},
    {"nasa500,ber=1e-7", "scalable", marked, 4000000, false, 0},
    {"geo,loss=0.05", "rate", bets, 1000000, false, 0},
    {"geo,ber=1e-6,flip,framing=aos", "vj", compress, 1000000, true, 0},
    {"moon,rate-back=9600bit", "vegas", thin, 1000000, false, 0},
    {"burst-geo", "cubic", snack, 2000000, false, 0},
    {"rate=10gbit,rtt=800ms,queue=0", "rate", wide, 3000000000u, false, 65535},
    {"leo-pass", "vegas", snack, 2000000, false, 0},
};

struct sum {
    uint64_t h;
};

/* Adds an octet to the hash FNV-1a. Numbers are added octet by octet, the lowest octet first. */
static void octet(struct sum *s, uint8_t b)
{
    s->h = (s->h ^ b) * UINT64_C(0x100000001b3);
}
static void number(struct sum *s, uint64_t v)
{
    for (int i = 0; i < 8; i++)
        octet(s, (uint8_t)(v >> 8 * i));
}
static void packet(void *ctx, const struct scps_verdict *v)
{
    struct sum *s = ctx;

    number(s, v->number);
    number(s, (uint64_t)v->offered);
    number(s, (uint64_t)v->left);
    number(s, (uint64_t)v->arrival);
    number(s, (uint64_t)v->copy);
    number(s, (uint64_t)v->fate << 1 | v->reordered);
    for (size_t i = 0; i < v->pkt->len; i++)
        octet(s, v->pkt->data[i]);
    for (size_t i = 0; v->pkt->payload && i < v->pkt->payload_len; i++)
        octet(s, v->pkt->payload[i]);
}

struct ends {
    struct scps_bulk_source from;
    struct scps_bulk_sink to;
};

static void sends(struct scps_host *h, const struct scps_event *ev, void *ctx)
{
    (void)h;
    scps_bulk_source_event(&((struct ends *)ctx)->from, ev);
}
static void receives(struct scps_host *h, const struct scps_event *ev, void *ctx)
{
    struct ends *e = ctx;

    (void)h;
    if (ev->kind == SCPS_EV_ACCEPT)
        scps_bulk_sink_start(&e->to, scps_accept(ev->listener));
    else
        scps_bulk_sink_event(&e->to, ev);
}

static int transfer(const struct run *r)
{
    struct scps_world *w = scps_world_new(NULL);
    struct ends e = {.from = {.total = r->bytes}};
    struct scps_host *a = scps_world_host(w, "a", NULL, sends, &e);
    struct scps_host *b = scps_world_host(w, "b", NULL, receives, &e);
    struct scps_conn_config cfg = scps_conn_config_default();
    struct scps_link_tables *tables = NULL;
    struct scps_link_config up, down;
    struct scps_endpoint to = {.port = 5001};
    struct sum sum = {UINT64_C(0xcbf29ce484222325)};
    struct scps_addr from;
    struct scps_info info;
    struct scps_link *l;
    char why[200] = "";

    if (scps_link_parse_tables(r->link, NULL, &up, &down, &tables, why, sizeof why) != 0 ||
        scps_conn_config_parse_cc(&cfg, r->cc, why, sizeof why) != 0) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    up.seed = down.seed = 7;
    scps_addr_parse(r->six ? "fd00::1" : "10.0.0.1", &from);
    scps_addr_parse(r->six ? "fd00::2" : "10.0.0.2", &to.addr);
    l = scps_world_link(w, a, &from, b, &to.addr, r->six ? 64 : 24, r->mtu, &up, &down);
    scps_link_observe(l, 0, packet, &sum);
    scps_link_observe(l, 1, packet, &sum);

    cfg.sndbuf = cfg.rcvbuf = 8u << 20;
    cfg.expected_rtt = up.delay + down.delay;
    cfg.rate = strcmp(r->cc, "rate") == 0 ? up.rate_bps / 8 : 0;
    r->set(&cfg);
    e.from.hollow = cfg.hollow;
    e.from.record = cfg.records ? 5000 : 0;
    if (!scps_listen(scps_host_stack(b), &cfg, &to, 1, NULL) ||
        scps_bulk_source_start(&e.from, scps_connect(scps_host_stack(a), &cfg, NULL, &to, NULL)) !=
            0)
        return 1;
    scps_host_kick(a);
    scps_world_run(w, SCPS_SEC(3600));
    scps_conn_info(e.from.conn, &info);
    printf("%-36s %-9s %016" PRIx64 " %" PRIu64 " bytes, %" PRIu64 " segments, %" PRIu64
           " resent, rtt %" PRId64 " us, done %" PRId64 " us, cwnd %" PRIu64 "\n",
           r->link, r->cc, sum.h, e.to.received, info.segs_out, info.bytes_resent, info.srtt,
           info.fin_acked, info.cwnd);
    scps_bulk_source_fini(&e.from);
    scps_world_free(w);
    scps_link_tables_free(tables);
    return e.to.received == 0;
}

/* A transfer at half the rate of the line from a host that also answers datagrams to closed ports:
 * the rate of the answers depends on what the line carries. */
struct asked {
    struct ends e;
    struct scps_world *w;
    struct scps_host *b;
    struct scps_dgram *d;
    struct scps_endpoint to;
};

static void ask(void *ctx)
{
    struct asked *x = ctx;

    x->to.port = (uint16_t)(x->to.port % 1000 + 6000);
    scps_dgram_send(x->d, &x->to, "ask", 3, 0);
    scps_host_kick(x->b);
    scps_world_at(x->w, scps_world_now(x->w) + SCPS_MS(1), ask, x);
}

static int answers(void)
{
    struct scps_conn_config cfg = scps_conn_config_default();
    struct asked x = {.e.from.total = 600000, .w = scps_world_new(NULL), .to.port = 6000};
    struct scps_host *a = scps_world_host(x.w, "a", NULL, sends, &x.e);
    struct scps_link_config line;
    struct scps_endpoint to = {.port = 5001};
    struct sum sum = {UINT64_C(0xcbf29ce484222325)};
    struct scps_link *l;
    char why[200] = "";

    x.b = scps_world_host(x.w, "b", NULL, receives, &x.e);
    if (scps_link_parse("rate=1mbit,rtt=100ms", &line, &line, why, sizeof why) != 0 ||
        scps_conn_config_parse_cc(&cfg, "rate", why, sizeof why) != 0) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    cfg.rate = 60000;
    scps_addr_parse("10.0.0.1", &x.to.addr);
    scps_addr_parse("10.0.0.2", &to.addr);
    l = scps_world_link(x.w, a, &x.to.addr, x.b, &to.addr, 24, 0, &line, &line);
    scps_link_observe(l, 0, packet, &sum);
    x.d = scps_dgram_open(scps_host_stack(x.b), NULL, NULL, NULL);
    if (!x.d || !scps_listen(scps_host_stack(x.b), &cfg, &to, 1, NULL) ||
        scps_bulk_source_start(&x.e.from,
                               scps_connect(scps_host_stack(a), &cfg, NULL, &to, NULL)) != 0)
        return 1;
    scps_host_kick(a);
    scps_world_at(x.w, 0, ask, &x);
    scps_world_run(x.w, SCPS_SEC(20));
    printf("rate=1mbit,rtt=100ms, and ICMP       rate      %016" PRIx64 " %" PRIu64 " bytes\n",
           sum.h, x.e.to.received);
    scps_bulk_source_fini(&x.e.from);
    scps_world_free(x.w);
    return x.e.to.received == 0;
}

#ifdef SCPS_NO_FAST_PATH
unsigned long scps_fast_path_missed;

/* Reports a fast path that no packet has taken, because it was then not tested. */
static int was_missed(void)
{
    fprintf(stderr, "fast path missed by %lu packets\n", scps_fast_path_missed);
    return scps_fast_path_missed == 0;
}
#else
static int was_missed(void)
{
    return 0;
}
#endif

int main(void)
{
    int bad = 0;

    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++)
        bad |= transfer(&runs[i]);
    return bad | answers() | was_missed();
}
