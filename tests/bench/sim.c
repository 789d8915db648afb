/* SPDX-License-Identifier: MIT */
/* How fast virtual time runs: packets a wall second, both directions and both ends on one core.
 *
 * 100 Mbit/s, 500 ms, a packet error rate of 8.6e-3 (1 KB packets at a bit error rate of 1e-6), the window always full: the
 * sender is rate controlled, so no loss ever slows it down.  Once with content and once hollow.
 *
 *     bench_sim [--bytes N]        CSV on stdout
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <scps/sim.h>
#include <scps/traffic.h>

struct run {
    struct scps_bulk_source source;
    struct scps_bulk_sink sink;
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
    (void)h;
    scps_bulk_source_event(&r->source, ev);
    if (r->source.closed || r->source.err)
        scps_world_stop(r->world);
}

static void on_receiver(struct scps_host *h, const struct scps_event *ev, void *ctx)
{
    struct run *r = ctx;
    (void)h;
    if (ev->kind == SCPS_EV_ACCEPT)
        scps_bulk_sink_start(&r->sink, scps_accept(ev->listener));
    else
        scps_bulk_sink_event(&r->sink, ev);
}

static int measure(bool hollow, uint64_t bytes)
{
    struct run r = {.source = {.total = bytes, .hollow = hollow}};
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

    cc.cc = scps_cc_find("rate");
    scps_cc_param_defaults(cc.cc, cc.cc_param);
    cc.rate = 12500000; /* the line, framing counted */
    cc.rate_overhead = fwd.overhead;
    cc.sndbuf = cc.rcvbuf = 25000000;
    cc.expected_rtt = SCPS_MS(500);
    cc.hollow = hollow;
    scps_listen(scps_host_stack(hb), &cc, &(struct scps_endpoint){.port = 7001}, 1, &err);
    struct scps_conn *c = scps_connect(scps_host_stack(ha), &cc, NULL,
                                       &(struct scps_endpoint){.addr = b, .port = 7001}, &err);
    if (!c || scps_bulk_source_start(&r.source, c) != 0) {
        fprintf(stderr, "bench_sim: connect: %s\n", scps_strerror(err));
        return 1;
    }

    double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    scps_host_kick(ha);
    scps_world_run(r.world, SCPS_SEC(100000));
    wall = seconds(CLOCK_MONOTONIC) - wall;
    cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;

    scps_link_stats(l, 0, &down);
    scps_link_stats(l, 1, &up);
    double packets = (double)(down.offered + up.offered);
    double virtual = (double)scps_world_now(r.world) * 1e-6;
    printf("%s,%llu,%.0f,%.3f,%.3f,%.3f,%.0f,%.0f\n", hollow ? "hollow" : "content",
           (unsigned long long)r.sink.received, packets, virtual, wall, cpu, packets / wall,
           packets / cpu);
    int bad = r.sink.received != bytes || r.source.err != 0;
    if (bad)
        fprintf(stderr, "bench_sim: %llu of %llu bytes arrived\n",
                (unsigned long long)r.sink.received, (unsigned long long)bytes);
    scps_bulk_source_fini(&r.source);
    scps_world_free(r.world);
    return bad;
}

int main(int argc, char **argv)
{
    uint64_t bytes = 1000000000;
    int status;

    if (argc == 3 && strcmp(argv[1], "--bytes") == 0) {
        bytes = strtoull(argv[2], NULL, 10);
    } else if (argc != 1) {
        fprintf(stderr, "usage: bench_sim [--bytes N]\n");
        return 2;
    }
    puts("stream,bytes,packets,virtual_s,wall_s,cpu_s,packets_per_wall_s,packets_per_cpu_s");
    status = measure(false, bytes);
    status |= measure(true, bytes);
    return status;
}
