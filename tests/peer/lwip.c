/* SPDX-License-Identifier: MIT */
/* libscps and lwIP, as the distribution packages it, exchange data over a simulated link in virtual
 * time. This needs no privileges, and the link can be one that a network namespace cannot have.
 *
 *     scps_stack === channel ===> lwIP netif - pcb
 *                <== channel ====
 *
 * Either end opens. Both write a pattern and shut their direction down; both check every byte of
 * the other's, and that the end comes behind the last one. Whatever options libscps offers, lwIP
 * knows only plain TCP, so the connection must use plain TCP. lwIP's timers are called every 250 ms
 * of virtual time; nothing in it looks at another clock.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lwip/init.h>
#include <lwip/ip.h>
#include <lwip/netif.h>
#include <lwip/pbuf.h>
#include <lwip/priv/tcp_priv.h>
#include <lwip/tcp.h>

#include <scps/conn.h>
#include <scps/sim.h>
#include <scps/traffic.h>

#define MTU    1500
#define PERIOD SCPS_MS(TCP_TMR_INTERVAL)

#define ANY UINT32_MAX

static const struct {
    const char *name, *spec;
    uint32_t resent; /* most segments resent on a link without losses */
} links[] = {
    {"lan", "lan", 0},
    {"geo", "geo", 0},
    {"losses", "rate=10mbit,rtt=60ms,loss=0.02", ANY},
    {"short queue", "rate=2mbit,rtt=100ms,queue=8p", ANY},
    {"out of order", "rate=10mbit,rtt=40ms,reorder=0.05,dup=0.02", ANY},
    {"flipped bits", "rate=10mbit,rtt=40ms,ber=2e-6,flip", ANY},
    {"bursts", "burst-geo", ANY},
    /* Acknowledgements wait for seconds behind lwIP's data, and without time stamps no
     * acknowledgement shows which retransmission was spurious: where pure rate has nothing new to
     * send, RFC 5682 section 2.1 step 2b goes on with conventional recovery, of 219 segments. */
    {"thin return", "rate=5mbit,rate-back=20kbit,rtt=200ms", 250},
};

static void everything(struct scps_conn_config *c)
{
    c->snack = c->snack_long = c->compress = c->bets = c->records = c->ecn = true;
    scps_conn_config_parse_cc(c, "vegas", NULL, 0);
}

static void nothing(struct scps_conn_config *c)
{
    c->sack = c->dsack = c->timestamps = c->wscale = false;
}

static void rack(struct scps_conn_config *c)
{
    c->recovery = SCPS_RECOVERY_RACK;
    scps_conn_config_parse_cc(c, "cubic", NULL, 0);
}

static void pure_rate(struct scps_conn_config *c)
{
    scps_conn_config_parse_cc(c, "rate", NULL, 0);
    c->rate = 2000000 / 8;
    c->ack_mode = SCPS_ACK_DELAYED;
}

static void small(struct scps_conn_config *c)
{
    c->sndbuf = c->rcvbuf = 3000;
    c->mss = 536;
    c->ack_mode = SCPS_ACK_EVERY;
}

static const struct {
    const char *name;
    void (*set)(struct scps_conn_config *);
} ways[] = {
    {"as it comes", NULL}, {"everything offered", everything}, {"nothing offered", nothing},
    {"rack, cubic", rack}, {"pure rate, F0", pure_rate},       {"small buffers", small},
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct side {
    uint64_t total, written, received;
    bool good, shut, ended, closed;
    int err;
};

static struct {
    scps_time now;
    struct scps_stack *st;
    struct scps_netif nif;
    struct scps_channel *to, *from; /* channels: to lwIP, and from lwIP */
    struct netif lw;
    struct scps_conn *conn;
    struct tcp_pcb *pcb;
    struct side us, it;
} w;

/* ---- lwIP's end ---- */

static err_t lw_output(struct netif *nif, struct pbuf *p, const ip4_addr_t *to)
{
    static uint8_t buf[MTU];
    struct scps_pkt pkt = {.data = buf, .len = p->tot_len};

    (void)nif;
    (void)to;
    pbuf_copy_partial(p, buf, p->tot_len, 0);
    scps_channel_offer(w.from, w.now, &pkt);
    return ERR_OK;
}

static err_t lw_init(struct netif *nif)
{
    nif->output = lw_output;
    nif->mtu = MTU;
    nif->flags |= NETIF_FLAG_UP | NETIF_FLAG_LINK_UP;
    nif->name[0] = 's';
    nif->name[1] = 'l';
    return ERR_OK;
}

static void lw_close(void)
{
    if (!w.pcb || !w.it.shut || !w.it.ended)
        return;
    struct tcp_pcb *pcb = w.pcb;
    w.pcb = NULL;
    tcp_arg(pcb, NULL);
    tcp_err(pcb, NULL);
    tcp_recv(pcb, NULL);
    tcp_sent(pcb, NULL);
    tcp_close(pcb);
}

static void lw_fill(void)
{
    uint8_t buf[4096];

    while (w.pcb && !w.it.shut) {
        size_t n = tcp_sndbuf(w.pcb);
        if (n > sizeof buf)
            n = sizeof buf;
        if (n > w.it.total - w.it.written)
            n = w.it.total - w.it.written;
        scps_pattern_fill(buf, n, w.it.written + 7);
        if (w.it.written < w.it.total &&
            (n == 0 || tcp_write(w.pcb, buf, (u16_t)n, TCP_WRITE_FLAG_COPY) != ERR_OK))
            break;
        w.it.written += n;
        if (w.it.written == w.it.total && tcp_shutdown(w.pcb, 0, 1) == ERR_OK)
            w.it.shut = true;
        else if (w.it.written == w.it.total)
            break;
    }
    if (w.pcb)
        tcp_output(w.pcb);
    lw_close();
}

static err_t lw_recv(void *arg, struct tcp_pcb *pcb, struct pbuf *p, err_t err)
{
    (void)arg;
    (void)err;
    if (!p) {
        w.it.ended = true;
        lw_close();
        return ERR_OK;
    }
    for (struct pbuf *q = p; q; q = q->next) {
        if (!scps_pattern_check(q->payload, q->len, w.it.received))
            w.it.good = false;
        w.it.received += q->len;
    }
    tcp_recved(pcb, p->tot_len);
    pbuf_free(p);
    return ERR_OK;
}

static err_t lw_sent(void *arg, struct tcp_pcb *pcb, u16_t len)
{
    (void)arg;
    (void)pcb;
    (void)len;
    lw_fill();
    return ERR_OK;
}

static void lw_err(void *arg, err_t err)
{
    (void)arg;
    w.it.err = err;
    w.pcb = NULL;
}

static void lw_begin(struct tcp_pcb *pcb)
{
    w.pcb = pcb;
    tcp_nagle_disable(pcb);
    tcp_recv(pcb, lw_recv);
    tcp_sent(pcb, lw_sent);
    tcp_err(pcb, lw_err);
    lw_fill();
}

static err_t lw_accept(void *arg, struct tcp_pcb *pcb, err_t err)
{
    (void)arg;
    if (err == ERR_OK)
        lw_begin(pcb);
    return ERR_OK;
}

static err_t lw_connected(void *arg, struct tcp_pcb *pcb, err_t err)
{
    (void)arg;
    if (err == ERR_OK)
        lw_begin(pcb);
    return ERR_OK;
}

static void lw_takes(const struct scps_pkt *pkt)
{
    struct pbuf *p = pbuf_alloc(PBUF_RAW, (u16_t)pkt->len, PBUF_RAM);

    if (!p)
        return;
    pbuf_take(p, pkt->data, (u16_t)pkt->len);
    if (w.lw.input(p, &w.lw) != ERR_OK)
        pbuf_free(p);
}

/* ---- the end of libscps ---- */

static void we_write(void)
{
    uint8_t buf[4096];

    while (w.conn && !w.us.shut) {
        size_t n = sizeof buf;
        if (n > w.us.total - w.us.written)
            n = w.us.total - w.us.written;
        scps_pattern_fill(buf, n, w.us.written);
        int64_t got = n ? scps_conn_write(w.conn, buf, n, 0) : 0;
        if (got < 0)
            return;
        w.us.written += (uint64_t)got;
        if (w.us.written == w.us.total)
            w.us.shut = scps_conn_shutdown(w.conn) == 0;
    }
}

static void we_read(void)
{
    uint8_t buf[4096];
    int64_t n;

    while (w.conn && !w.us.ended && (n = scps_conn_read(w.conn, buf, sizeof buf, 0)) >= 0) {
        if (n == 0)
            w.us.ended = true;
        else if (!scps_pattern_check(buf, (size_t)n, w.us.received + 7))
            w.us.good = false;
        w.us.received += (uint64_t)n;
    }
}

static void our_events(void)
{
    struct scps_event ev;

    while (scps_stack_event(w.st, &ev)) {
        if (ev.kind == SCPS_EV_ACCEPT && !w.conn)
            w.conn = scps_accept(ev.listener);
        if (ev.kind == SCPS_EV_ERROR)
            w.us.err = ev.err;
        if (ev.kind == SCPS_EV_CLOSED)
            w.us.closed = true;
        we_write();
        we_read();
    }
}

static void we_send(void)
{
    static uint8_t buf[MTU];
    struct scps_pkt out = {.data = buf, .cap = sizeof buf};

    while (scps_stack_output(w.st, &w.nif, w.now, &out) == 1) {
        static uint8_t whole[MTU];
        memcpy(whole, out.data, out.len);
        if (out.payload)
            memcpy(whole + out.len, out.payload, out.payload_len);
        struct scps_pkt pkt = {.data = whole, .len = out.len + out.payload_len};
        scps_channel_offer(w.to, w.now, &pkt);
        out = (struct scps_pkt){.data = buf, .cap = sizeof buf};
    }
}

/* ---- together ---- */

static scps_time sooner(scps_time a, scps_time b)
{
    return a < b ? a : b;
}

static bool over(void)
{
    return w.us.err || w.it.err || (w.us.closed && w.us.ended && w.it.ended && !w.pcb);
}

static void play(scps_time limit)
{
    struct scps_pkt pkt;
    scps_time tick = PERIOD;

    while (!over() && w.now < limit) {
        our_events();
        we_send();
        scps_time next =
            sooner(tick, sooner(scps_stack_deadline(w.st),
                                sooner(scps_channel_next(w.to), scps_channel_next(w.from))));
        if (next > w.now)
            w.now = next;
        for (; w.now >= tick; tick += PERIOD) {
            tcp_tmr();
            lw_fill();
        }
        for (; scps_channel_peek(w.to, w.now, &pkt); scps_channel_pop(w.to))
            lw_takes(&pkt);
        for (; scps_channel_peek(w.from, w.now, &pkt); scps_channel_pop(w.from))
            scps_stack_input(w.st, &w.nif, &pkt);
        scps_stack_advance(w.st, w.now);
    }
}

/* Returns true if the run went as required. */
static bool run(unsigned link, unsigned way, bool we_open)
{
    static u16_t port = 9000;
    struct scps_link_config fwd, back;
    struct scps_stack_config sc = scps_stack_config_default();
    struct scps_conn_config cc = scps_conn_config_default();
    struct scps_addr ours, its;
    struct tcp_pcb *l = NULL;
    int err = 0;

    port++;
    w.now = 0;
    w.conn = NULL;
    w.pcb = NULL;
    w.us = (struct side){.total = 300000, .good = true};
    w.it = (struct side){.total = 200000, .good = true};
    if (scps_link_parse(links[link].spec, &fwd, &back, NULL, 0) != 0)
        abort();
    fwd.seed = back.seed = port;
    w.to = scps_channel_new(&fwd, 0, NULL);
    w.from = scps_channel_new(&back, 1, NULL);
    sc.seed[0] = port;
    w.st = scps_stack_new(&sc);
    w.nif = (struct scps_netif){.name = "lwip", .mtu = MTU};
    scps_addr_parse("10.1.0.1", &ours);
    scps_addr_parse("10.1.0.2", &its);
    if (!w.to || !w.from || !w.st || scps_stack_add_netif(w.st, &w.nif) != 0 ||
        scps_stack_add_addr(w.st, &w.nif, &ours, 24) != 0)
        abort();
    if (ways[way].set)
        ways[way].set(&cc);
    if (we_open) {
        struct tcp_pcb *pcb = tcp_new();
        if (tcp_bind(pcb, IP4_ADDR_ANY, port) != ERR_OK)
            abort();
        l = tcp_listen(pcb);
        tcp_accept(l, lw_accept);
        struct scps_endpoint to = {.addr = its, .port = port};
        w.conn = scps_connect(w.st, &cc, NULL, &to, &err);
    } else {
        scps_listen(w.st, &cc, &(struct scps_endpoint){.port = port}, 1, &err);
        ip_addr_t to;
        IP_ADDR4(&to, 10, 1, 0, 1);
        struct tcp_pcb *pcb = tcp_new();
        tcp_err(pcb, lw_err);
        tcp_connect(pcb, &to, port, lw_connected);
    }
    play(SCPS_SEC(3600));

    bool right = !err && !w.us.err && !w.it.err && w.us.good && w.it.good && w.us.ended &&
                 w.it.ended && w.us.closed && w.us.received == w.it.total &&
                 w.it.received == w.us.total;
    struct scps_info info = {0};
    if (w.conn)
        scps_conn_info(w.conn, &info);
    struct scps_link_stats up, down;
    scps_channel_stats(w.to, w.now, &up);
    scps_channel_stats(w.from, w.now, &down);
    /* lwIP has no SCPS capabilities, so none are in force; and the stack must not resend whole
     * flights while lwIP delays its acknowledgements. */
    right = right && !info.caps && info.resent_segs <= links[link].resent;
    printf("%-12s  %-18s  %-10s %9.3f s  %7llu %7llu bytes  lost %3llu %3llu  resent %4llu  %s\n",
           links[link].name, ways[way].name, we_open ? "we open" : "lwIP opens",
           (double)w.now / 1e6, (unsigned long long)w.it.received,
           (unsigned long long)w.us.received,
           (unsigned long long)(up.offered + up.duplicated - up.delivered - up.in_flight),
           (unsigned long long)(down.offered + down.duplicated - down.delivered - down.in_flight),
           (unsigned long long)info.resent_segs, right ? "ok" : "WRONG");
    if (!right)
        printf("    errors %d %d %d, ended %d %d, closed %d, intact %d %d, capabilities %02x\n",
               err, w.us.err, w.it.err, w.us.ended, w.it.ended, w.us.closed, w.us.good, w.it.good,
               info.caps);
    if (w.pcb) {
        tcp_err(w.pcb, NULL);
        tcp_abort(w.pcb);
    }
    if (l)
        tcp_close(l);
    while (tcp_tw_pcbs)
        tcp_abort(tcp_tw_pcbs);
    while (tcp_active_pcbs)
        tcp_abort(tcp_active_pcbs);
    if (w.conn)
        scps_conn_close(w.conn);
    scps_stack_free(w.st);
    scps_channel_free(w.to);
    scps_channel_free(w.from);
    return right;
}

int main(void)
{
    ip4_addr_t its, mask, ours;
    unsigned wrong = 0, runs = 0;

    IP4_ADDR(&its, 10, 1, 0, 2);
    IP4_ADDR(&ours, 10, 1, 0, 1);
    IP4_ADDR(&mask, 255, 255, 255, 0);
    lwip_init();
    netif_add(&w.lw, &its, &mask, &ours, NULL, lw_init, ip_input);
    netif_set_default(&w.lw);
    netif_set_up(&w.lw);
    for (unsigned link = 0; link < COUNT(links); link++)
        for (unsigned way = 0; way < COUNT(ways); way++)
            for (int open = 0; open < 2; open++, runs++)
                wrong += !run(link, way, open);
    printf("%u runs, %u wrong\n", runs, wrong);
    return wrong != 0;
}
