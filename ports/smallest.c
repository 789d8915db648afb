/* SPDX-License-Identifier: MIT */
/* The stack alone, without simulator, Ethernet or formatted output: what it takes of a board's
 * memory, and the frame of a program of your own. Two hosts exchange OCTETS octets each way; a
 * packet that leaves one goes into the other at once, and time is whatever the deadlines say. Your
 * program gives it to a transmitter instead. */
#include <string.h>

#include "board.h"
#include <scps/scps.h>

#define OCTETS 20000u
#define BUFFER 4096

struct host {
    _Alignas(16) uint8_t arena[48u * 1024]; /* all that the stack takes, once */
    struct scps_stack *st;
    struct scps_netif nif; /* without operations: packets are fetched */
    struct scps_conn *conn;
    uint32_t sent, received, wrong;
};
static struct host caller, called;

static void *take(void *ctx, size_t size)
{
    struct host *h = ctx;

    return size <= sizeof h->arena ? h->arena : NULL;
}
static void give_back(void *ctx, void *p, size_t size)
{
    (void)ctx;
    (void)p;
    (void)size;
}

static void say(const char *text)
{
    board_write(text, strlen(text));
}

static uint8_t octet(uint32_t at)
{
    return (uint8_t)(at * 7 + (at >> 8));
}

static void work(struct host *h)
{
    const uint8_t *p;
    uint8_t buf[256];
    size_t n;
    int64_t wrote = 1;

    if (!h->conn)
        return;
    while ((p = scps_conn_data(h->conn, &n)) != NULL) {
        for (size_t i = 0; i < n; i++)
            h->wrong += p[i] != octet(h->received++);
        scps_conn_read(h->conn, NULL, n, 0);
    }
    while (h->sent < OCTETS && wrote > 0) {
        for (n = 0; n < sizeof buf && h->sent + n < OCTETS; n++)
            buf[n] = octet(h->sent + (uint32_t)n);
        wrote = scps_conn_write(h->conn, buf, n, 0);
        h->sent += wrote > 0 ? (uint32_t)wrote : 0;
    }
    if (h->sent == OCTETS)
        scps_conn_shutdown(h->conn);
}

/* One packet from a host to the other; false when there is none. */
static bool carry(struct host *from, struct host *to, scps_time now)
{
    static uint8_t wire[2048];
    struct scps_pkt pkt = {.data = wire, .cap = sizeof wire};

    if (scps_stack_output(from->st, &from->nif, now, &pkt) != 1)
        return false;
    if (pkt.payload) /* lent until the next call: it goes behind the headers */
        memcpy(wire + pkt.len, pkt.payload, pkt.payload_len);
    scps_stack_input(to->st, &to->nif,
                     &(struct scps_pkt){.data = wire, .len = pkt.len + pkt.payload_len, .at = now});
    return true;
}

static void serve(struct host *h)
{
    struct scps_event ev;

    while (scps_stack_event(h->st, &ev))
        if (ev.kind == SCPS_EV_ACCEPT)
            h->conn = scps_accept(ev.listener);
    work(h);
}

static void run(void)
{
    scps_time now = 0, a = 0, b = 0;

    while (now != SCPS_NEVER && now < SCPS_SEC(60)) {
        while (carry(&caller, &called, now) || carry(&called, &caller, now)) {
        }
        serve(&caller);
        serve(&called);
        a = scps_stack_deadline(caller.st);
        b = scps_stack_deadline(called.st);
        if (a > now && b > now)
            now = a < b ? a : b;
    }
}

static bool open_host(struct host *h, const struct scps_conn_config *conn, uint8_t number)
{
    struct scps_stack_config cfg = scps_stack_config_default();
    struct scps_addr addr = {.family = 4, .b = {10, 0, 0, number}};

    cfg.fixed_memory = conn;
    cfg.max_conns = 1;
    cfg.seed[0] += number;
    cfg.alloc = (struct scps_alloc){take, give_back, h};
    h->nif = (struct scps_netif){.name = "wire", .mtu = 1500};
    h->st = scps_stack_new(&cfg);
    return h->st && scps_stack_add_netif(h->st, &h->nif) == 0 &&
           scps_stack_add_addr(h->st, &h->nif, &addr, 24) == 0;
}

int main(void)
{
    struct scps_conn_config conn = scps_conn_config_default();
    struct scps_endpoint at = {.addr = {.family = 4, .b = {10, 0, 0, 2}}, .port = 7};

    conn.sndbuf = conn.rcvbuf = BUFFER;
    if (!open_host(&caller, &conn, 1) || !open_host(&called, &conn, 2) ||
        !scps_listen(called.st, &conn, &at, 1, NULL)) {
        say("failed: the arena is too small\n");
        return 1;
    }
    caller.conn = scps_connect(caller.st, &conn, NULL, &at, NULL);
    run();
    if (caller.received != OCTETS || called.received != OCTETS || caller.wrong || called.wrong) {
        say("failed\n");
        return 1;
    }
    board_report();
    say("done\n");
    return 0;
}
