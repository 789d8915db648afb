/* SPDX-License-Identifier: MIT */
/* Measures the memory of an idle connection, counted by the allocator that the library gets.
 *
 * Two stacks, N connections between them, both ends counted, each with 6.25 MB of send and of
 * receive buffer allowed. "fresh": established, nothing was sent yet. "used": 100 bytes were
 * sent and read in each direction, so the memory that the buffers keep afterwards is included.
 * Tables that grow by doubling (demultiplexing, timers) are included and divided among the
 * connections.
 *
 *     bench_idle [--limit BYTES]       CSV on stdout; exit 1 when "fresh" exceeds the limit
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <scps/conn.h>

#define N 1000

struct count {
    size_t bytes;
};

static void *count_alloc(void *ctx, size_t size)
{
    struct count *c = ctx;
    c->bytes += size;
    return malloc(size);
}

static void count_free(void *ctx, void *p, size_t size)
{
    struct count *c = ctx;
    c->bytes -= size;
    free(p);
}

struct end {
    struct scps_stack *st;
    struct scps_netif nif;
    struct scps_conn *conn[N];
    unsigned n;
};

static void events(struct end *e)
{
    struct scps_event ev;
    while (scps_stack_event(e->st, &ev)) {
        if (ev.kind == SCPS_EV_ACCEPT) {
            struct scps_conn *c;
            while (e->n < N && (c = scps_accept(ev.listener)) != NULL)
                e->conn[e->n++] = c;
        } else if (ev.kind == SCPS_EV_READABLE) {
            scps_conn_read(ev.conn, NULL, 1000, 0);
        }
    }
}

/* Moves packets until neither side has one to send, delayed acknowledgements included. */
static scps_time settle(struct end *x, struct end *y, scps_time now, scps_dur more)
{
    scps_time until = now + more;
    for (;;) {
        uint8_t room[2048];
        struct end *from = x, *to = y;
        bool moved = false;
        for (int i = 0; i < 2; i++) {
            struct scps_pkt pkt = {.data = room, .cap = sizeof room};
            while (scps_stack_output(from->st, &from->nif, now, &pkt)) {
                pkt.at = now;
                scps_stack_input(to->st, &to->nif, &pkt);
                moved = true;
                pkt = (struct scps_pkt){.data = room, .cap = sizeof room};
            }
            events(x);
            events(y);
            from = y;
            to = x;
        }
        if (moved)
            continue;
        scps_time dx = scps_stack_deadline(x->st), dy = scps_stack_deadline(y->st);
        scps_time next = dx < dy ? dx : dy;
        if (next > until)
            return until;
        if (next > now)
            now = next;
    }
}

int main(int argc, char **argv)
{
    struct count count = {0};
    struct scps_stack_config sc = scps_stack_config_default();
    struct scps_conn_config cc = scps_conn_config_default();
    static struct end x, y;
    struct scps_addr ax, ay;
    struct scps_endpoint to = {.port = 7001};
    scps_time now = 0;
    long limit = 0;
    char bytes[100] = "a hundred bytes";

    if (argc == 3 && strcmp(argv[1], "--limit") == 0) {
        limit = atol(argv[2]);
    } else if (argc != 1) {
        fprintf(stderr, "usage: bench_idle [--limit BYTES]\n");
        return 2;
    }
    sc.alloc = (struct scps_alloc){count_alloc, count_free, &count};
    sc.seed[0] = 1;
    x.st = scps_stack_new(&sc);
    sc.seed[0] = 2;
    y.st = scps_stack_new(&sc);
    x.nif = y.nif = (struct scps_netif){.name = "pipe", .mtu = 1500};
    scps_addr_parse("10.0.0.1", &ax);
    scps_addr_parse("10.0.0.2", &ay);
    scps_stack_add_netif(x.st, &x.nif);
    scps_stack_add_netif(y.st, &y.nif);
    scps_stack_add_addr(x.st, &x.nif, &ax, 24);
    scps_stack_add_addr(y.st, &y.nif, &ay, 24);
    cc.sndbuf = cc.rcvbuf = 6250000;
    scps_listen(y.st, &cc, &(struct scps_endpoint){.port = 7001}, N, NULL);
    to.addr = ay;
    now = settle(&x, &y, now, SCPS_SEC(1));

    size_t before = count.bytes;
    while (x.n < N) {
        x.conn[x.n] = scps_connect(x.st, &cc, NULL, &to, NULL);
        if (!x.conn[x.n]) {
            fprintf(stderr, "bench_idle: connection %u could not be opened\n", x.n);
            return 1;
        }
        x.n++;
        now = settle(&x, &y, now, 0);
    }
    now = settle(&x, &y, now, SCPS_SEC(1));
    if (y.n != N) {
        fprintf(stderr, "bench_idle: %u of %u connections were accepted\n", y.n, N);
        return 1;
    }
    size_t fresh = (count.bytes - before) / (2 * N);

    for (unsigned i = 0; i < N; i++) {
        scps_conn_write(x.conn[i], bytes, sizeof bytes, 0);
        scps_conn_write(y.conn[i], bytes, sizeof bytes, 0);
        now = settle(&x, &y, now, 0);
    }
    now = settle(&x, &y, now, SCPS_SEC(1));
    size_t used = (count.bytes - before) / (2 * N);

    printf("connections,bytes_fresh,bytes_used,stack_bytes\n%u,%zu,%zu,%zu\n", 2 * N, fresh, used,
           before / 2);
    scps_stack_free(x.st);
    scps_stack_free(y.st);
    if (count.bytes != 0) {
        fprintf(stderr, "bench_idle: %zu bytes were never given back\n", count.bytes);
        return 1;
    }
    if (limit > 0 && fresh > (size_t)limit) {
        fprintf(stderr, "bench_idle: %zu bytes an idle connection, more than %ld\n", fresh, limit);
        return 1;
    }
    return 0;
}
