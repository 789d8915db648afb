/* SPDX-License-Identifier: MIT */
/* Measures the cost of a segment: two stacks in one process, no link delay, one core.
 *
 *     block -> write -> [stack a] == data, by pointer, at once ====> [stack b] -> read in place
 *                          ^                                            |
 *                          +---- acknowledgements wait in a queue <-----+
 *
 * Both ends are driven as src/io/loop.c does it: up to BATCH packets that wait are passed to the
 * stack, then the application processes the events, then packets are requested for sending; so
 * one acknowledgement covers a batch. In the cases named -each packets of b are requested after
 * every packet passed to it, as behind a link that is slower than the host: every second segment is
 * acknowledged. A whole window is outstanding in the steady state, whatever its size.
 * Virtual time advances by 1 µs for each data packet: a window of w segments has a round trip of
 * w µs. When there is no packet, time advances to the next deadline (a delayed acknowledgement, a
 * retransmission timer). Losses are drawn from a fixed seed.
 *
 *     bench_pipe                       every case, best and median of --rounds (5), CSV on stdout
 *     bench_pipe --case NAME --segments N --rounds 1       one case, for callgrind
 *     bench_pipe --list
 *
 * A time is CPU time of the process per 1024 bytes delivered, both ends and the loop in between
 * included. Each round runs all cases and peers once, so that the load of other processes
 * affects all of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <scps/conn.h>

#include "bench.h"

#define ACK_QUEUE 65536u
#define BATCH     64 /* most packets handed in before the stack is asked for output */
#define ACK_ROOM  SCPS_MAX_HEADERS

static const struct {
    const char *name;
    struct bench_case c;
} cases[] = {
    {"64k", {"scps", "vj", 65536, 0, false, BATCH, 0}},
    {"64k-each", {"scps", "vj", 65536, 0, false, 1, 0}},
    {"64k-plain", {"scps", "vj", 65536, 0, true, BATCH, 0}},
    {"6.25m", {"scps", "vj", 6250000, 0, false, BATCH, 0}},
    {"6.25m-rate", {"scps", "rate", 6250000, 0, false, BATCH, 0}},
    {"6.25m-rate-each", {"scps", "rate", 6250000, 0, false, 1, 0}},
    {"6.25m-rate-loss", {"scps", "rate", 6250000, 1000, false, BATCH, 0}},
    {"6.25m-rate-loss-each", {"scps", "rate", 6250000, 1000, false, 1, 0}},
    {"64k-lwip", {"lwip", "-", 65535, 0, true, 1, 0}},
};
#define NCASES (sizeof cases / sizeof cases[0])

struct ack {
    size_t len;
    uint8_t bytes[ACK_ROOM];
};

/* State of one run: the two stacks, the connection, and what was sent and received so far. */
struct pipe {
    const struct bench_case *c;
    const uint8_t *block;
    struct scps_stack *a, *b;
    struct scps_netif na, nb;
    struct scps_conn *out, *in;
    struct ack *acks;
    uint32_t head, tail; /* positions in the queue, which only grow */
    scps_time now;
    uint64_t written, received;
    uint64_t rnd;
    bool connected, good, failed;
    struct bench_result *r;
};

uint64_t bench_cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool lose(struct pipe *p)
{
    if (p->c->loss_ppm == 0)
        return false;
    p->rnd ^= p->rnd << 13;
    p->rnd ^= p->rnd >> 7;
    p->rnd ^= p->rnd << 17;
    return (p->rnd >> 20) % 1000000 < p->c->loss_ppm;
}

static void write_more(struct pipe *p)
{
    while (p->connected && p->written < p->c->bytes) {
        size_t at = p->written % BENCH_BLOCK, n = BENCH_BLOCK - at;
        if (n > p->c->bytes - p->written)
            n = (size_t)(p->c->bytes - p->written);
        int64_t w = scps_conn_write(p->out, p->block + at, n, 0);
        if (w < 0) {
            p->failed |= w != SCPS_ERR_AGAIN;
            return;
        }
        p->written += (uint64_t)w;
        if ((size_t)w < n)
            return;
    }
}

static void read_all(struct pipe *p)
{
    const uint8_t *data;
    size_t len;

    while ((data = scps_conn_data(p->in, &len)) != NULL) {
        if (!bench_check(p->block, p->received, data, len))
            p->good = false;
        scps_conn_read(p->in, NULL, len, 0);
        p->received += len;
    }
}

static void events(struct pipe *p, struct scps_stack *st)
{
    struct scps_event ev;

    while (scps_stack_event(st, &ev)) {
        switch (ev.kind) {
        case SCPS_EV_CONNECTED:
            p->connected = true;
            write_more(p);
            break;
        case SCPS_EV_ACCEPT:
            p->in = scps_accept(ev.listener);
            read_all(p);
            break;
        case SCPS_EV_READABLE:
            if (ev.conn == p->in)
                read_all(p);
            break;
        case SCPS_EV_WRITABLE:
            write_more(p);
            break;
        case SCPS_EV_ERROR:
            fprintf(stderr, "bench_pipe: connection lost: %s\n", scps_strerror(ev.err));
            p->failed = true;
            break;
        default:
            break;
        }
    }
}

/* Puts every packet that stack b has to send into the queue. */
static void drain_b(struct pipe *p)
{
    struct scps_pkt pkt;

    while (p->tail - p->head < ACK_QUEUE) {
        struct ack *k = &p->acks[p->tail % ACK_QUEUE];
        pkt.data = k->bytes;
        pkt.cap = sizeof k->bytes;
        if (!scps_stack_output(p->b, &p->nb, p->now, &pkt))
            break;
        k->len = pkt.len;
        p->tail++;
        p->r->acks++;
    }
}

static void take_acks(struct pipe *p)
{
    for (unsigned n = 0; p->head != p->tail && n < BATCH; n++) {
        struct ack *k = &p->acks[p->head++ % ACK_QUEUE];
        struct scps_pkt pkt = {.data = k->bytes, .len = k->len, .at = p->now};
        scps_stack_input(p->a, &p->na, &pkt);
    }
}

/* Passes all that stack a may send to stack b. b acknowledges each batch, and its application reads
 * when a has no more. Returns true if there was a packet. */
static bool drain_a(struct pipe *p)
{
    uint8_t room[SCPS_MAX_HEADERS];
    struct scps_pkt pkt;
    unsigned n = 0;
    bool any = false;

    for (;;) {
        pkt.data = room;
        pkt.cap = sizeof room;
        if (!scps_stack_output(p->a, &p->na, p->now, &pkt))
            break;
        any = true;
        if (pkt.payload_len > 0) {
            p->r->segments++;
            p->now++;
            if (lose(p))
                continue;
        }
        pkt.at = p->now;
        pkt.csum_ok = false; /* b computes the checksum, as it would on a real link */
        scps_stack_input(p->b, &p->nb, &pkt);
        if (++n == p->c->batch) {
            drain_b(p);
            n = 0;
        }
    }
    if (any) {
        events(p, p->b);
        drain_b(p);
    }
    return any;
}

static bool run_scps(const struct bench_case *c, const uint8_t *block, struct bench_result *r)
{
    struct pipe p = {.c = c, .block = block, .rnd = 0x2545f4914f6cdd1du, .good = true, .r = r};
    struct scps_stack_config sc = scps_stack_config_default();
    struct scps_conn_config cc = scps_conn_config_default();
    struct scps_addr addr_a, addr_b;
    struct scps_endpoint to = {.port = 7001};
    int err = 0;

    p.acks = malloc(ACK_QUEUE * sizeof *p.acks);
    if (!p.acks)
        abort();
    memset(p.acks, 0, ACK_QUEUE * sizeof *p.acks);
    p.na = p.nb = (struct scps_netif){.name = "pipe", .mtu = BENCH_MSS + 40 + (c->plain ? 0 : 12)};
    scps_addr_parse("10.0.0.1", &addr_a);
    scps_addr_parse("10.0.0.2", &addr_b);
    sc.seed[0] = 1;
    sc.seed[1] = 2;
    p.a = scps_stack_new(&sc);
    sc.seed[0] = 3;
    p.b = scps_stack_new(&sc);
    scps_stack_add_netif(p.a, &p.na);
    scps_stack_add_netif(p.b, &p.nb);
    scps_stack_add_addr(p.a, &p.na, &addr_a, 24);
    scps_stack_add_addr(p.b, &p.nb, &addr_b, 24);

    uint64_t begin = bench_cpu_ns();
    if (scps_conn_config_parse_cc(&cc, c->cc, NULL, 0))
        abort();
    if (cc.cc->needs_rate)
        cc.rate = 1000000000000u;
    cc.sndbuf = cc.rcvbuf = c->window;
    cc.nodelay = true;
    if (c->plain)
        cc.sack = cc.timestamps = false;
    scps_listen(p.b, &cc, &(struct scps_endpoint){.port = 7001}, 1, &err);
    to.addr = addr_b;
    p.out = scps_connect(p.a, &cc, NULL, &to, &err);
    if (!p.out) {
        fprintf(stderr, "bench_pipe: connect: %s\n", scps_strerror(err));
        exit(1);
    }
    while (!p.failed && p.received < c->bytes) {
        bool moved = drain_a(&p);
        /* Hand in a batch, serve events, then ask for output, as src/io/loop.c does. */
        if (p.head != p.tail) {
            take_acks(&p);
            events(&p, p.a);
        } else if (!moved) {
            scps_time da = scps_stack_deadline(p.a), db = scps_stack_deadline(p.b);
            scps_time next = da < db ? da : db;
            if (next == SCPS_NEVER)
                break;
            if (next > p.now)
                p.now = next;
            scps_stack_advance(p.a, p.now);
            scps_stack_advance(p.b, p.now);
            events(&p, p.a);
            events(&p, p.b);
            drain_b(&p);
        }
    }
    r->cpu_ns = bench_cpu_ns() - begin;
    r->ok = p.good && !p.failed && p.received == c->bytes;
    scps_stack_free(p.a);
    scps_stack_free(p.b);
    free(p.acks);
    return true;
}

static bool run(const struct bench_case *c, const uint8_t *block, struct bench_result *r)
{
    *r = (struct bench_result){0};
    if (strcmp(c->peer, "lwip") == 0)
#ifdef BENCH_HAVE_LWIP
        return bench_lwip(c, block, r);
#else
        return false;
#endif
    return run_scps(c, block, r);
}

static int by_value(const void *x, const void *y)
{
    double d = *(const double *)x - *(const double *)y;
    return d < 0 ? -1 : d > 0;
}

static bool has_case(const char *name)
{
    for (size_t k = 0; k < NCASES; k++)
        if (strcmp(name, cases[k].name) == 0)
            return true;
    return false;
}

int main(int argc, char **argv)
{
    static uint8_t block[BENCH_BLOCK];
    const char *only = NULL;
    uint64_t segments = 500000;
    int rounds = 5, status = 0;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--list") == 0) {
            for (size_t k = 0; k < NCASES; k++)
                puts(cases[k].name);
            return 0;
        }
        if (i + 1 < argc && strcmp(argv[i], "--case") == 0) {
            only = argv[++i];
        } else if (i + 1 < argc && strcmp(argv[i], "--segments") == 0) {
            segments = strtoull(argv[++i], NULL, 10);
        } else if (i + 1 < argc && strcmp(argv[i], "--rounds") == 0) {
            rounds = atoi(argv[++i]);
        } else {
            fprintf(stderr,
                    "usage: bench_pipe [--list] [--case NAME] [--segments N] [--rounds N]\n");
            return 2;
        }
    }
    if (rounds < 1 || segments == 0) {
        fputs("bench_pipe: --segments, --rounds: give whole numbers from 1\n", stderr);
        return 2;
    }
    if (only && !has_case(only)) {
        fprintf(stderr, "bench_pipe: --case %s: there is no such case: see bench_pipe --list\n",
                only);
        return 2;
    }
    bench_fill(block);

    double *ns = malloc((size_t)rounds * NCASES * sizeof *ns);
    struct bench_result last[NCASES];
    bool can[NCASES] = {false};
    if (!ns)
        return 1;
    for (int round = 0; round < rounds; round++) {
        for (size_t k = 0; k < NCASES; k++) {
            struct bench_case c = cases[k].c;
            if (only && strcmp(only, cases[k].name) != 0)
                continue;
            c.bytes = segments * BENCH_MSS;
            can[k] = run(&c, block, &last[k]);
            if (!can[k])
                continue;
            if (!last[k].ok) {
                fprintf(stderr, "bench_pipe: %s: the bytes did not arrive\n", cases[k].name);
                status = 1;
            }
            ns[k * (size_t)rounds + (size_t)round] = (double)last[k].cpu_ns / (double)segments;
        }
    }
    puts("case,peer,cc,window_bytes,loss_ppm,options,segments,segments_sent,acks_sent,rounds,ns_"
         "median,ns_best,"
         "gbit_per_s_median");
    for (size_t k = 0; k < NCASES; k++) {
        double *v = ns + k * (size_t)rounds;
        if (!can[k])
            continue;
        qsort(v, (size_t)rounds, sizeof *v, by_value);
        double mid = v[rounds / 2];
        printf("%s,%s,%s,%u,%u,%s,%llu,%llu,%llu,%d,%.1f,%.1f,%.2f\n", cases[k].name,
               cases[k].c.peer, cases[k].c.cc, cases[k].c.window, cases[k].c.loss_ppm,
               cases[k].c.plain ? "none" : "sack+timestamps", (unsigned long long)segments,
               (unsigned long long)last[k].segments, (unsigned long long)last[k].acks, rounds, mid,
               v[0], BENCH_MSS * 8 / mid);
    }
    free(ns);
    return status;
}
