/* SPDX-License-Identifier: MIT */
/* TCP echo (RFC 862) on a board with an Ethernet, in 256 KiB of memory: program, stacks, buffers
 * and all. Whatever a connection brings goes back on it, from one buffer of the stack into the
 * other. The stack has fixed memory: what it will ever need is taken before the first packet
 * arrives. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "board.h"
#include "cortex-m4/lan9118.h"
#include <scps/clock.h>
#include <scps/ether.h>
#include <scps/scps.h>

#define CONNS  2 /* one that works, and one that is leaving */
#define SNDBUF 16384
#define RCVBUF 8192 /* less than the controller's receive FIFO */
#define ARENA  (104u * 1024)
#define BATCH  8 /* frames that are handed in before the stack answers */
#define PORT   7

/* All that is ever allocated, and never freed: the stack and the Ethernet filter. */
static _Alignas(16) uint8_t arena[ARENA];
static size_t taken;

static void *take(void *ctx, size_t size)
{
    uint8_t *at = arena + taken;

    (void)ctx;
    size = (size + 15) & ~(size_t)15;
    if (size > sizeof arena - taken)
        return NULL;
    taken += size;
    return at;
}
static void give_back(void *ctx, void *p, size_t size)
{
    (void)ctx;
    (void)p;
    (void)size;
}
static const struct scps_alloc alloc = {take, give_back, NULL};

static void say(const char *fmt, ...)
{
    char line[160];
    va_list args;
    int n;

    va_start(args, fmt);
    n = vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    board_write(line, n < (int)sizeof line ? (size_t)n : sizeof line - 1);
}

static scps_time now(void *ctx)
{
    (void)ctx;
    return board_now();
}
static void wake_at(void *ctx, scps_time when) /* the loop below never sleeps */
{
    (void)ctx;
    (void)when;
}

static void told(struct scps_conn *c, const char *what)
{
    struct scps_info info;

    scps_conn_info(c, &info);
    board_report();
    say("%s: %" PRIu64 " octets in, %" PRIu64 " out; %u segments resent\n", what,
        info.bytes_received, info.bytes_acked, (unsigned)info.resent_segs);
}

static void echo(struct scps_conn *c)
{
    const uint8_t *p;
    int64_t n;
    size_t len;

    while ((p = scps_conn_data(c, &len)) != NULL) {
        n = scps_conn_write(c, p, len, 0);
        if (n <= 0)
            return; /* SCPS_EV_WRITABLE follows */
        scps_conn_read(c, NULL, (size_t)n, 0);
    }
    if (scps_conn_eof(c))
        scps_conn_shutdown(c);
}

static void serve(const struct scps_event *ev)
{
    switch (ev->kind) {
    case SCPS_EV_ACCEPT: {
        struct scps_conn *c = scps_accept(ev->listener);
        if (c)
            echo(c);
        break;
    }
    case SCPS_EV_READABLE:
    case SCPS_EV_WRITABLE:
    case SCPS_EV_PEER_CLOSED:
        echo(ev->conn);
        break;
    case SCPS_EV_CLOSED:
    case SCPS_EV_ERROR:
        told(ev->conn, ev->kind == SCPS_EV_CLOSED ? "closed" : scps_strerror(ev->err));
        scps_conn_close(ev->conn);
        break;
    default:
        break;
    }
}

/* The Ethernet with its addresses on the controller; NULL when there is none. */
static struct scps_netif *open_link(struct scps_ether_config *eth)
{
    static const uint8_t mac[6] = {0x02, 0x53, 0x43, 0x50, 0x53, 0x01};
    struct scps_netif *dev = lan9118_open(mac), *filter;

    *eth = scps_ether_config_default();
    for (int i = 0; i < 6; i++)
        eth->mac[i] = mac[i];
    scps_addr_parse("10.77.0.2", &eth->addr[0]);
    scps_addr_parse("fd77::2", &eth->addr[1]);
    eth->prefix[0] = 24;
    eth->prefix[1] = 64;
    eth->n = 2;
    eth->neighbours = 4;
    filter = scps_ether_new(eth, &alloc, NULL);
    return dev && filter ? scps_netif_push(dev, filter) : NULL;
}

static struct scps_stack *open_stack(const struct scps_conn_config *conn)
{
    struct scps_stack_config cfg = scps_stack_config_default();
    struct scps_endpoint at = {.port = PORT};
    struct scps_stack *st;
    char why[120] = "";

    cfg.alloc = alloc;
    cfg.fixed_memory = conn;
    cfg.max_conns = CONNS;
    cfg.max_half_open = 1;
    /* This board has no source of randomness. Where strangers can send, give the seed 128 bits. */
    cfg.seed[0] ^= (uint64_t)board_now();
    st = scps_stack_open(&cfg, why, sizeof why);
    if (!st)
        say("failed: %s\n", why);
    if (!st || !scps_listen(st, conn, &at, 1, NULL))
        return NULL;
    say("# arena: %u of %u bytes\n", (unsigned)taken, (unsigned)sizeof arena);
    return st;
}

int main(void)
{
    const struct scps_clock clock = {now, wake_at, NULL};
    struct scps_conn_config conn = scps_conn_config_default();
    struct scps_ether_config eth;
    struct scps_netif *link = open_link(&eth);
    struct scps_stack *st;
    struct scps_event ev;
    struct scps_pkt frame;

    conn.sndbuf = SNDBUF;
    conn.rcvbuf = RCVBUF;
    conn.time_wait = SCPS_MS(100); /* the one who calls closes first, and waits there */
    st = open_stack(&conn);
    if (!st || !link || scps_stack_add_netif(st, link) != 0)
        return 1;
    for (unsigned i = 0; i < eth.n; i++)
        scps_stack_add_addr(st, link, &eth.addr[i], eth.prefix[i]);
    say("ready\n");
    for (;;) {
        scps_netif_advance(link, board_now());
        for (int i = 0; i < BATCH && lan9118_receive(&frame); i++) {
            frame.at = board_now();
            scps_netif_recv(link->lower, &frame);
        }
        while (scps_stack_event(st, &ev))
            serve(&ev);
        scps_pump(st, &clock);
        scps_netif_ready(link->lower);
    }
}
