/* SPDX-License-Identifier: MIT */
/* A congestion controller that is no part of the library, and how it is tested: from a table of
 * events, without a connection; then in virtual time over a link that loses packets, beside "vj".
 * docs/howto/controllers.md walks through it.
 *
 * "steady" believes what arrives: its window is gain/256 of the delivery rate's maximum over the
 * least round trip, and a loss means nothing to it. (A teaching example: it does not share a queue
 * fairly.) */
#include <inttypes.h>
#include <scps/scps.h>
#include <scps/sim.h>
#include <scps/traffic.h>
#include <stdio.h>

/* ---- the controller ---- */

struct steady {       /* zeroed before start; at most SCPS_CC_STATE_MAX bytes */
    uint64_t best[2]; /* largest delivery rate of this span of round trips, and of the one before */
    uint32_t gain, span, rounds; /* rounds: left of this span */
};

enum { GAIN, SPAN };
static const struct scps_cc_param params[] = {
    {.name = "gain",
     .help = "window in products of rate and round trip, x/256",
     .def = 512,
     .min = 256,
     .max = 2560},
    {.name = "span", .help = "round trips a rate is believed", .def = 10, .min = 1, .max = 1000},
    {.name = NULL},
};

static void start(void *s, const int64_t *param, const struct scps_cc_view *v,
                  struct scps_cc_ctl *ctl)
{
    struct steady *st = s;

    st->gain = (uint32_t)param[GAIN];
    st->rounds = st->span = (uint32_t)param[SPAN];
    ctl->cwnd = v->init_cwnd;
    ctl->ssthresh = UINT64_MAX;
}

static void ack(void *s, const struct scps_cc_view *v, const struct scps_cc_ack *a,
                struct scps_cc_ctl *ctl)
{
    struct steady *st = s;

    if (a->round_start && st->rounds-- == 1) {
        st->best[1] = st->best[0];
        st->best[0] = 0;
        st->rounds = st->span;
    }
    /* a rate the application set says nothing of the path, unless it is more than was believed */
    if (a->rate > st->best[0] && (!a->app_limited || a->rate > st->best[1]))
        st->best[0] = a->rate;
    uint64_t rate = st->best[0] > st->best[1] ? st->best[0] : st->best[1];
    uint64_t product =
        rate / 1000 * (uint64_t)v->min_rtt / 1000; /* bytes/s and us: 64 bits hold it */
    if (product * st->gain / 256 > ctl->cwnd)
        ctl->cwnd += a->bytes < product ? a->bytes : product; /* no faster than slow start */
    else if (product)
        ctl->cwnd = product * st->gain / 256;
    if (ctl->cwnd < 4 * (uint64_t)v->mss)
        ctl->cwnd = 4 * (uint64_t)v->mss;
}

static void loss(void *s, const struct scps_cc_view *v, const struct scps_cc_loss *l,
                 struct scps_cc_ctl *ctl)
{
    (void)s;
    (void)v;
    (void)l;
    (void)ctl; /* the core resends; the window is what the rate says */
}

static void change(void *s, const struct scps_cc_view *v, enum scps_cc_change what,
                   struct scps_cc_ctl *ctl)
{
    struct steady *st = s;

    if (what != SCPS_CC_RTO && what != SCPS_CC_PATH)
        return;
    st->best[0] = st->best[1] = 0; /* what was known of the path is doubtful */
    if (what == SCPS_CC_RTO)
        ctl->cwnd = 4 * (uint64_t)v->mss;
}

static const struct scps_cc_ops steady = {
    .name = "steady",
    .help = "a window of twice what arrives in a round trip, whatever is lost",
    .state_size = sizeof(struct steady),
    .params = params,
    .start = start,
    .ack = ack,
    .loss = loss,
    .change = change,
};

/* ---- tested from a table ---- */

static int check(bool ok, const char *what)
{
    if (!ok)
        printf("wrong: %s\n", what);
    return !ok;
}

static int from_a_table(void)
{
    struct scps_cc_view v = {
        .mss = 1000, .init_cwnd = 10000, .srtt = SCPS_MS(100), .min_rtt = SCPS_MS(100)};
    struct scps_cc_ack a = {.bytes = 1000, .rtt = SCPS_MS(100), .rate = 1000000};
    struct scps_cc_loss l = {.bytes = 1000, .cause = SCPS_LOSS_CONGESTION, .new_episode = true};
    struct scps_cc_ctl ctl = {.cwnd = 0};
    struct steady s = {.gain = 0};
    int64_t param[SCPS_CC_PARAMS];
    int bad = 0;

    scps_cc_param_defaults(&steady, param);
    steady.start(&s, param, &v, &ctl);
    bad |= check(ctl.cwnd == 10000, "it begins with the initial window");
    steady.ack(&s, &v, &a, &ctl);
    bad |= check(ctl.cwnd == 11000, "it grows as slow start does");
    for (int i = 0; i < 1000; i++)
        steady.ack(&s, &v, &a, &ctl);
    bad |= check(ctl.cwnd >= 199000 && ctl.cwnd <= 201000, "twice 1 MB/s for 100 ms are 200 kB");
    uint64_t before = ctl.cwnd;
    steady.loss(&s, &v, &l, &ctl);
    bad |= check(ctl.cwnd == before, "a loss means nothing");
    steady.change(&s, &v, SCPS_CC_RTO, &ctl);
    bad |= check(ctl.cwnd == 4000, "a timeout does");
    return bad;
}

/* ---- tested in virtual time ---- */

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

/* Bits a second of a transfer over the link by that controller; 0: it did not end well. */
static uint64_t goodput(const struct scps_cc_ops *cc, const char *link, uint64_t bytes)
{
    struct scps_world *w = scps_world_new(NULL);
    struct ends e = {.from = {.total = bytes}};
    struct scps_host *a = scps_world_host(w, "a", NULL, sends, &e);
    struct scps_host *b = scps_world_host(w, "b", NULL, receives, &e);
    struct scps_conn_config cfg = scps_conn_config_default();
    struct scps_endpoint to = {.port = 5001};
    struct scps_link_config up, down;
    struct scps_addr from;
    struct scps_info info;
    char why[200];

    if (scps_link_parse(link, &up, &down, why, sizeof why) != 0) {
        printf("%s\n", why);
        return 0;
    }
    up.seed = down.seed = 1; /* another seed, another history */
    scps_addr_parse("10.0.0.1", &from);
    scps_addr_parse("10.0.0.2", &to.addr);
    scps_world_link(w, a, &from, b, &to.addr, 24, 0, &up, &down);
    cfg.sndbuf = cfg.rcvbuf = 4u << 20;
    cfg.expected_rtt = up.delay + down.delay;
    scps_conn_config_set_cc(&cfg, cc, NULL); /* the whole registration */
    scps_listen(scps_host_stack(b), &cfg, &to, 1, NULL);
    scps_bulk_source_start(&e.from, scps_connect(scps_host_stack(a), &cfg, NULL, &to, NULL));
    scps_host_kick(a);
    scps_world_run(w, SCPS_SEC(3600));
    scps_conn_info(e.from.conn, &info);
    uint64_t rate = e.to.received == bytes && info.fin_acked
                        ? bytes * 8 * 1000000 / (uint64_t)info.fin_acked
                        : 0;
    printf("%-8s %-18s %9.3f Mbit/s, %" PRIu64 " bytes resent, %" PRIu32 " timeouts\n", cc->name,
           link, (double)rate * 1e-6, info.bytes_resent, info.timeouts);
    scps_bulk_source_fini(&e.from);
    scps_world_free(w);
    return rate;
}

int main(void)
{
    const struct scps_cc_ops *vj = scps_cc_find("vj");
    int bad = from_a_table();

    bad |= check(goodput(&steady, "geo", 5000000) > goodput(vj, "geo", 5000000) / 2,
                 "as good on a clean link");
    bad |=
        check(goodput(&steady, "geo,ber=1e-6", 5000000) > 10 * goodput(vj, "geo,ber=1e-6", 5000000),
              "ten times as good on a noisy one");
    return bad;
}
