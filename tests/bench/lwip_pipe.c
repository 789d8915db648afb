/* SPDX-License-Identifier: MIT */
/* The peer: lwIP as the distribution packages it, both ends in one process, through its raw API.
 *
 * A process has only one lwIP stack. The two ends use two interfaces of that stack, and each
 * connection is bound to its interface; a packet sent on one interface is received on the other:
 *
 *     client pcb - netif a ==> copy into a queue ==> netif b - listener's pcb
 *
 * Every packet is copied once on the way, as any device would: lwIP's receiver rewrites the header
 * in place, the sender keeps the same bytes for retransmission. The package's window is a constant,
 * 64 KiB; there is no selective acknowledgement. Its locks are never taken, because its thread is
 * not started, but the time of the checks whether to take them is included.
 */
#include <stdlib.h>

#include <lwip/init.h>
#include <lwip/ip.h>
#include <lwip/netif.h>
#include <lwip/pbuf.h>
#include <lwip/priv/tcp_priv.h>
#include <lwip/tcp.h>

#include "bench.h"

struct packet {
    struct pbuf *p;
    struct netif *to;
};

static struct netif a, b;
static struct packet queue[1024];
static unsigned head, tail; /* positions in the queue, which only grow */
static const uint8_t *block;
static uint64_t written, received, total, segments, acks;
static bool good, connected;

static err_t pipe_output(struct netif *nif, struct pbuf *p, const ip4_addr_t *to)
{
    struct pbuf *copy = pbuf_alloc(PBUF_RAW, p->tot_len, PBUF_RAM);
    (void)to;
    if (!copy || tail - head == sizeof queue / sizeof queue[0])
        abort();
    pbuf_copy(copy, p);
    if (p->tot_len > 100)
        segments++;
    else
        acks++;
    queue[tail++ % (sizeof queue / sizeof queue[0])] = (struct packet){copy, nif == &a ? &b : &a};
    return ERR_OK;
}

static err_t pipe_init(struct netif *nif)
{
    nif->output = pipe_output;
    nif->mtu = BENCH_MSS + 40;
    nif->flags |= NETIF_FLAG_UP | NETIF_FLAG_LINK_UP;
    nif->name[0] = 'p';
    nif->name[1] = 'i';
    return ERR_OK;
}

static err_t on_recv(void *arg, struct tcp_pcb *pcb, struct pbuf *p, err_t err)
{
    (void)arg;
    (void)err;
    if (!p)
        return ERR_OK;
    for (struct pbuf *q = p; q; q = q->next) {
        if (!bench_check(block, received, q->payload, q->len))
            good = false;
        received += q->len;
    }
    tcp_recved(pcb, p->tot_len);
    pbuf_free(p);
    return ERR_OK;
}

static err_t on_accept(void *arg, struct tcp_pcb *pcb, err_t err)
{
    (void)arg;
    (void)err;
    tcp_recv(pcb, on_recv);
    return ERR_OK;
}

static err_t on_connected(void *arg, struct tcp_pcb *pcb, err_t err)
{
    (void)arg;
    (void)pcb;
    connected = err == ERR_OK;
    return ERR_OK;
}

static void fill(struct tcp_pcb *pcb)
{
    while (connected && written < total) {
        size_t at = written % BENCH_BLOCK, n = tcp_sndbuf(pcb);
        if (n > BENCH_BLOCK - at)
            n = BENCH_BLOCK - at;
        if (n > total - written)
            n = total - written;
        /* Write one segment or more at a time: lwIP would otherwise make a short segment of each
         * call. */
        if (n < BENCH_MSS && n < total - written && at + n < BENCH_BLOCK)
            break;
        if (n == 0 || tcp_write(pcb, block + at, (u16_t)(n > 0xffff ? 0xffff : n),
                                TCP_WRITE_FLAG_COPY) != ERR_OK)
            break;
        written += n > 0xffff ? 0xffff : n;
    }
    tcp_output(pcb);
}

bool bench_lwip(const struct bench_case *c, const uint8_t *blk, struct bench_result *r)
{
    static u16_t port = 7000;
    static bool up;
    ip4_addr_t mask, addr_a, addr_b;
    ip_addr_t to;
    struct tcp_pcb *listener, *l, *pcb;
    unsigned idle = 0;

    if (c->window > TCP_WND || c->loss_ppm > 0)
        return false;
    IP4_ADDR(&mask, 255, 255, 255, 0);
    IP4_ADDR(&addr_a, 10, 1, 0, 1);
    IP4_ADDR(&addr_b, 10, 2, 0, 1);
    if (!up) {
        lwip_init();
        netif_add(&a, &addr_a, &mask, &addr_b, NULL, pipe_init, ip_input);
        netif_add(&b, &addr_b, &mask, &addr_a, NULL, pipe_init, ip_input);
        netif_set_up(&a);
        netif_set_up(&b);
        up = true;
    }
    block = blk;
    total = c->bytes;
    written = received = segments = acks = 0;
    good = true;
    connected = false;
    port++;

    uint64_t begin = bench_cpu_ns();
    listener = tcp_new();
    if (tcp_bind(listener, IP4_ADDR_ANY, port) != ERR_OK)
        return false;
    l = tcp_listen(listener);
    /* tcp_listen() makes a new pcb, which is not bound to the interface of the old one. */
    tcp_bind_netif(l, &b);
    tcp_accept(l, on_accept);
    pcb = tcp_new();
    tcp_bind_netif(pcb, &a);
    tcp_nagle_disable(pcb);
    ip_addr_copy_from_ip4(to, addr_b);
    tcp_connect(pcb, &to, port, on_connected);
    while (received < total) {
        fill(pcb);
        if (head == tail) {
            /* A delayed acknowledgement may still come; after 1000 timer calls without a packet,
             * none will. */
            if (++idle > 1000)
                break;
            tcp_tmr();
            continue;
        }
        idle = 0;
        struct packet *q = &queue[head++ % (sizeof queue / sizeof queue[0])];
        ip_input(q->p, q->to);
    }
    r->cpu_ns = bench_cpu_ns() - begin;
    r->segments = segments;
    r->acks = acks;
    r->ok = good && received == total;
    tcp_abort(pcb);
    tcp_close(l);
    /* Deliver the reset to b. Packets to a are dropped, because its pcb no longer exists. */
    while (head != tail) {
        struct packet *q = &queue[head++ % (sizeof queue / sizeof queue[0])];
        if (q->to == &b)
            ip_input(q->p, q->to);
        else
            pbuf_free(q->p);
    }
    return true;
}
