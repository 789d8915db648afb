/* SPDX-License-Identifier: MIT */
/* libscps in a program that has neither sockets nor an operating system to speak of: two nodes, a
 * radio between them with a driver, a clock and an allocator of its own. A spacecraft sends a file,
 * every ninth packet is lost on the way, and the ground checks what arrives.
 * docs/howto/embedding.md walks through it. */
#include <scps/scps.h>
#include <stdio.h>
#include <string.h>

/* ---- memory: a static room each, cut into powers of two; what is freed is kept for the next of
 * its size ---- */

#ifndef ROOM
#define ROOM (1024u * 1024)
#endif
#define LEAST  5  /* 32 bytes: alignment for anything */
#define ORDERS 21 /* up to the whole room */

struct pool {
    union piece {
        union piece *next;
        max_align_t align;
    } * spare[ORDERS];
    size_t used;
    _Alignas(32) uint8_t room[ROOM];
};

static unsigned order_of(size_t size)
{
    unsigned o = LEAST;

    while (o < ORDERS && (size_t)1 << o < size)
        o++;
    return o;
}
static void *pool_alloc(void *ctx, size_t size)
{
    struct pool *p = ctx;
    unsigned o = order_of(size);
    void *at;

    if (o >= ORDERS)
        return NULL;
    if (p->spare[o]) {
        at = p->spare[o];
        p->spare[o] = p->spare[o]->next;
        return at;
    }
    if (ROOM - p->used < (size_t)1 << o)
        return NULL;
    at = p->room + p->used;
    p->used += (size_t)1 << o;
    return at;
}
static void pool_free(void *ctx, void *at, size_t size)
{
    struct pool *p = ctx;
    union piece *piece = at;

    piece->next = p->spare[order_of(size)];
    p->spare[order_of(size)] = piece;
}

/* ---- the radio: half a second away, 1 Mbit/s, eight packets of buffer ---- */

#define MTU    1024
#define DEPTH  128
#define BUFFER 8
#define FLIGHT SCPS_MS(500)

struct radio { /* one direction */
    struct frame {
        scps_time arrives;
        size_t len;
        uint8_t bytes[MTU];
    } frame[DEPTH];
    unsigned first, n, sent;
    scps_time free_at; /* when the transmitter has sent what it has */
};

/* Has the transmitter room for one more at now? */
static bool radio_ready(const struct radio *r, scps_time now)
{
    return r->n < DEPTH && r->free_at - now <= BUFFER * SCPS_US(MTU * 8);
}
static void radio_send(struct radio *r, scps_time now, const struct scps_pkt *pkt)
{
    struct frame *f = &r->frame[(r->first + r->n) % DEPTH];

    f->len = pkt->len + pkt->payload_len;
    r->free_at = (r->free_at > now ? r->free_at : now) + SCPS_US(f->len * 8); /* 1 bit a µs */
    if (++r->sent % 9 == 0)
        return;
    memcpy(f->bytes, pkt->data, pkt->len); /* headers, and behind them what the stack has lent */
    if (pkt->payload)
        memcpy(f->bytes + pkt->len, pkt->payload, pkt->payload_len);
    f->arrives = r->free_at + FLIGHT;
    r->n++;
}
static struct frame *radio_receive(struct radio *r, scps_time now)
{
    struct frame *f = &r->frame[r->first];

    if (r->n == 0 || f->arrives > now)
        return NULL;
    r->first = (r->first + 1) % DEPTH;
    r->n--;
    return f;
}

/* ---- a node: a stack, its end of the radio, and what it wants ---- */

struct node {
    struct pool pool;
    struct scps_stack *st;
    struct scps_netif nif; /* without operations: packets are fetched */
    struct radio *out, *in;
    struct scps_conn *conn;
    uint64_t done, total; /* bytes */
    bool sends, over;
    int err;
};

static uint8_t content(uint64_t at)
{
    return (uint8_t)(at * 2654435761u >> 16);
}

static void write_some(struct node *n)
{
    uint8_t some[512];

    while (n->done < n->total) {
        size_t len = n->total - n->done < sizeof some ? (size_t)(n->total - n->done) : sizeof some;
        for (size_t i = 0; i < len; i++)
            some[i] = content(n->done + i);
        int64_t took = scps_conn_write(n->conn, some, len, 0);
        if (took == SCPS_ERR_AGAIN || took == SCPS_ERR_NOMEM)
            return; /* SCPS_EV_WRITABLE will come */
        if (took < 0) {
            n->err = (int)took;
            return;
        }
        n->done += (uint64_t)took;
    }
    scps_conn_shutdown(n->conn);
}

static void read_all(struct node *n)
{
    const uint8_t *at;
    size_t len;

    while ((at = scps_conn_data(n->conn, &len)) != NULL) { /* in place */
        for (size_t i = 0; i < len; i++)
            if (at[i] != content(n->done + i))
                n->err = SCPS_ERR_INVAL;
        n->done += len;
        scps_conn_read(n->conn, NULL, len, 0);
    }
    if (scps_conn_eof(n->conn)) {
        scps_conn_close(n->conn);
        n->conn = NULL;
        n->over = true;
    }
}

static void application(struct node *n, const struct scps_event *ev)
{
    switch (ev->kind) {
    case SCPS_EV_ACCEPT:
        n->conn = scps_accept(ev->listener);
        break;
    case SCPS_EV_CONNECTED:
    case SCPS_EV_WRITABLE:
        if (n->sends)
            write_some(n);
        break;
    case SCPS_EV_READABLE:
        read_all(n);
        break;
    case SCPS_EV_CLOSED: /* both directions: our FIN is acknowledged, theirs is here */
        scps_conn_close(n->conn);
        n->conn = NULL;
        n->over = true;
        break;
    case SCPS_EV_ERROR:
        n->err = ev->err;
        scps_conn_abort(n->conn);
        n->conn = NULL;
        n->over = true;
        break;
    default:
        break;
    }
}

/* One turn: what has arrived, what it means, what is to be sent. */
static void turn(struct node *n, scps_time now)
{
    uint8_t room[MTU];
    struct scps_event ev;
    struct scps_pkt pkt;
    struct frame *f;

    while ((f = radio_receive(n->in, now)) != NULL)
        scps_stack_input(n->st, &n->nif,
                         &(struct scps_pkt){.data = f->bytes, .len = f->len, .at = f->arrives});
    scps_stack_advance(n->st, now); /* timers, even while the radio is busy */
    while (scps_stack_event(n->st, &ev))
        application(n, &ev);
    while (radio_ready(n->out, now)) {
        pkt = (struct scps_pkt){.data = room, .cap = sizeof room};
        if (scps_stack_output(n->st, &n->nif, now, &pkt) != 1)
            break;
        radio_send(n->out, now, &pkt);
    }
}

/* When this node has something to do next. */
static scps_time next(const struct node *n, scps_time now)
{
    scps_time at = scps_stack_deadline(n->st);

    if (!radio_ready(n->out, now) && at <= now)
        at = n->out->free_at - BUFFER * SCPS_US(MTU * 8); /* it waits for the radio */
    if (n->in->n && n->in->frame[n->in->first].arrives < at)
        at = n->in->frame[n->in->first].arrives;
    return at;
}

static bool begin(struct node *n, const char *address, uint64_t seed)
{
    struct scps_stack_config cfg = scps_stack_config_default();
    struct scps_addr addr;

    cfg.alloc = (struct scps_alloc){pool_alloc, pool_free, &n->pool};
    cfg.seed[0] = seed; /* from a real source of randomness, where strangers can send */
    cfg.max_conns = 8;
    n->nif.name = "radio";
    n->nif.mtu = MTU;
    n->st = scps_stack_new(&cfg);
    return n->st && scps_addr_parse(address, &addr) == 0 &&
           scps_stack_add_netif(n->st, &n->nif) == 0 &&
           scps_stack_add_addr(n->st, &n->nif, &addr, 24) == 0;
}

int main(void)
{
    static struct radio down, up;
    static struct node craft = {.out = &down, .in = &up, .sends = true, .total = 200000},
                       ground = {.out = &up, .in = &down, .total = 200000};
    struct scps_conn_config cfg = scps_conn_config_default();
    struct scps_endpoint to = {.port = 5001};
    scps_time now = 0;
    int err = 0;

    cfg.expected_rtt = 2 * FLIGHT; /* all timers follow */
    cfg.snack = true;
    cfg.sndbuf = cfg.rcvbuf = 128 * 1024; /* the round trip's worth */
    scps_conn_config_parse_cc(&cfg, "rate", NULL, 0);
    cfg.rate = 1000000 / 8;
    scps_addr_parse("10.0.0.2", &to.addr);
    if (!begin(&craft, "10.0.0.1", 1) || !begin(&ground, "10.0.0.2", 2) ||
        !scps_listen(ground.st, &cfg, &to, 1, &err) ||
        !(craft.conn = scps_connect(craft.st, &cfg, NULL, &to, &err))) {
        fprintf(stderr, "%s\n", scps_strerror(err));
        return 1;
    }
    while (!(craft.over && ground.over) && now < SCPS_SEC(60)) {
        turn(&craft, now);
        turn(&ground, now);
        scps_time a = next(&craft, now), b = next(&ground, now);
        now = a < b ? a : b; /* here a real clock would be waited for */
    }
    bool failed = ground.done != ground.total || craft.err || ground.err;
    if (failed && !craft.err && !ground.err)
        craft.err = SCPS_ERR_TIMEDOUT; /* a minute is over */
    printf("%llu of %llu bytes in %.2f s, %u packets down, %u up: %s\n",
           (unsigned long long)ground.done, (unsigned long long)ground.total, (double)now * 1e-6,
           down.sent, up.sent, scps_strerror(craft.err ? craft.err : ground.err));
    scps_stack_free(craft.st);
    scps_stack_free(ground.st);
    printf("memory at most: %zu bytes in the spacecraft, %zu on the ground\n", craft.pool.used,
           ground.pool.used);
    return failed;
}
