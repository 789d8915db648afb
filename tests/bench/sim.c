/* SPDX-License-Identifier: MIT */
/* Measures the speed of virtual time in packets a wall-clock second, both directions and both ends
 * on one core.
 *
 * 100 Mbit/s, 500 ms, a packet error rate of 8.6e-3 (1 KB packets at a bit error rate of 1e-6), the
 * window always full: the sender is rate controlled, so no loss ever slows it down. Once with
 * content, once hollow, and once with the line shared by 100 hollow flows.
 *
 *  bench_sim [--bytes N] [--only STREAM]       CSV on stdout; STREAM: content, hollow or hollow-100
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <scps/sim.h>
#include <scps/traffic.h>

#define PORT 7001

struct run {
    struct flow {
        struct scps_bulk_source source;
        struct scps_bulk_sink sink;
    } flow[100];
    unsigned flows, over;
    struct scps_world *world;
};

static double seconds(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void on_sender(struct scps_host *h, const struct scps_event *ev, void *ctx)
{
    struct run *r = ctx;
    struct flow *f = ev->user;
    (void)h;
    if (!f)
        return;
    bool before = f->source.closed || f->source.err;
    scps_bulk_source_event(&f->source, ev);
    if (!before && (f->source.closed || f->source.err) && ++r->over == r->flows)
        scps_world_stop(r->world);
}

static void on_receiver(struct scps_host *h, const struct scps_event *ev, void *ctx)
{
    struct run *r = ctx;
    struct flow *f = ev->user;
    (void)h;
    if (ev->kind == SCPS_EV_ACCEPT) {
        struct scps_conn *c = scps_accept(ev->listener);
        struct scps_endpoint at;
        scps_conn_local(c, &at);
        f = &r->flow[at.port - PORT];
        scps_conn_set_user(c, f);
        scps_bulk_sink_start(&f->sink, c);
    } else if (f) {
        scps_bulk_sink_event(&f->sink, ev);
    }
}

static int measure(const char *name, bool hollow, unsigned flows, uint64_t bytes)
{
    static struct run r;
    struct scps_stack_config sc = scps_stack_config_default();
    struct scps_conn_config cc = scps_conn_config_default();
    struct scps_link_config fwd, back;
    struct scps_link_stats down, up;
    struct scps_addr a, b;
    char msg[200];
    int err = 0;

    if (scps_link_parse("rate=100mbit,rtt=500ms,loss=0.0086,loss-back=0", &fwd, &back, msg,
                        sizeof msg) != 0) {
        fprintf(stderr, "bench_sim: %s\n", msg);
        return 1;
    }
    memset(&r, 0, sizeof r);
    r.flows = flows;
    fwd.seed = 1;
    back.seed = 2;
    r.world = scps_world_new(NULL);
    sc.seed[0] = 1;
    struct scps_host *ha = scps_world_host(r.world, "a", &sc, on_sender, &r);
    sc.seed[0] = 2;
    struct scps_host *hb = scps_world_host(r.world, "b", &sc, on_receiver, &r);
    scps_addr_parse("10.0.0.1", &a);
    scps_addr_parse("10.0.0.2", &b);
    struct scps_link *l = scps_world_link(r.world, ha, &a, hb, &b, 24, 1076, &fwd, &back);

    scps_conn_config_set_cc(&cc, scps_cc_find("rate"), NULL);
    cc.rate = 12500000 / flows; /* rate of the line for each flow, bytes/s, framing counted */
    cc.rate_overhead = fwd.overhead;
    cc.sndbuf = cc.rcvbuf = 25000000 / flows;
    cc.expected_rtt = SCPS_MS(500);
    cc.hollow = hollow;
    for (unsigned i = 0; i < flows; i++) {
        struct scps_endpoint here = {.port = (uint16_t)(PORT + i)}, there = {b, here.port};
        struct flow *f = &r.flow[i];
        f->source = (struct scps_bulk_source){.total = bytes / flows, .hollow = hollow};
        scps_listen(scps_host_stack(hb), &cc, &here, 1, &err);
        struct scps_conn *c = scps_connect(scps_host_stack(ha), &cc, NULL, &there, &err);
        if (c)
            scps_conn_set_user(c, f);
        if (!c || scps_bulk_source_start(&f->source, c) != 0) {
            fprintf(stderr, "bench_sim: connect: %s\n", scps_strerror(err));
            return 1;
        }
    }

    double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    scps_host_kick(ha);
    scps_world_run(r.world, SCPS_SEC(100000));
    wall = seconds(CLOCK_MONOTONIC) - wall;
    cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;

    scps_link_get_stats(l, 0, &down);
    scps_link_get_stats(l, 1, &up);
    double packets = (double)(down.offered + up.offered);
    double virtual = (double)scps_world_now(r.world) * 1e-6;
    uint64_t received = 0;
    int bad = 0;
    for (unsigned i = 0; i < flows; i++) {
        received += r.flow[i].sink.received;
        bad |= r.flow[i].source.err != 0;
        scps_bulk_source_fini(&r.flow[i].source);
    }
    bad |= received != bytes / flows * flows;
    printf("%s,%llu,%.0f,%.3f,%.3f,%.3f,%.0f,%.0f\n", name, (unsigned long long)received, packets,
           virtual, wall, cpu, packets / wall, packets / cpu);
    if (bad)
        fprintf(stderr, "bench_sim: %llu of %llu bytes arrived\n", (unsigned long long)received,
                (unsigned long long)bytes);
    scps_world_free(r.world);
    return bad;
}

int main(int argc, char **argv)
{
    const char *only = NULL;
    uint64_t bytes = 1000000000;
    int status = 0;

    for (int i = 1; i < argc; i += 2) {
        if (i + 1 < argc && strcmp(argv[i], "--bytes") == 0) {
            bytes = strtoull(argv[i + 1], NULL, 10);
        } else if (i + 1 < argc && strcmp(argv[i], "--only") == 0) {
            only = argv[i + 1];
        } else {
            fprintf(stderr, "usage: bench_sim [--bytes N] [--only STREAM]\n");
            return 2;
        }
    }
    puts("stream,bytes,packets,virtual_s,wall_s,cpu_s,packets_per_wall_s,packets_per_cpu_s");
    if (!only || strcmp(only, "content") == 0)
        status |= measure("content", false, 1, bytes);
    if (!only || strcmp(only, "hollow") == 0)
        status |= measure("hollow", true, 1, bytes);
    if (!only || strcmp(only, "hollow-100") == 0)
        status |= measure("hollow-100", true, 100, bytes);
    return status;
}
