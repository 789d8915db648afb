/* SPDX-License-Identifier: MIT */
/* Headers that cross a simulated link as values (C structures instead of octets): an observer or a
 * capture of the packet gets the octets that the stack writes. house.fast_paths compares whole
 * conversations with and without values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <scps/scps.h>
#include <scps/sim.h>
#include <scps/traffic.h>
#include <scps/wire.h>

/* The packets that a filter or an observer saw. */
struct seen {
    struct scps_netif nif; /* The filter's netif, which is the first member. */
    uint64_t packets, hash, again, queue, damaged;
    uint32_t last_seq;
};

struct setup {
    const char *link;
    bool hollow;
    /* 0: no filter; 1: a filter above the receiver's end; 2: another above the sender's. */
    int filters;
    /* The time from which an observer watches the link; SCPS_NEVER: there is no observer. */
    scps_time observe_at;
};

struct run {
    struct scps_world *w;
    struct scps_link *l;
    struct scps_host *a, *b;
    struct scps_bulk_source from;
    struct scps_bulk_sink to;
    struct seen up, down, told;
};

/* Checks the octets of a TCP packet and adds them to a hash. */
static void look(struct seen *s, const struct scps_pkt *p)
{
    const uint8_t *payload = p->payload;
    size_t apart = p->payload_len;
    struct scps_seg seg;
    struct scps_ip ip;

    assert_int_equal(scps_ip_parse(p->data, p->len, p->len + p->payload_len, &ip), 0);
    assert_int_equal(ip.total_len, p->len + p->payload_len);
    assert_int_equal(scps_tcp_parse(p->data + 20, p->len - 20, ip.total_len - 20, &seg), 0);
    if (seg.data && seg.len) {
        payload = seg.data;
        apart = seg.len;
    }
    assert_int_equal(scps_tcp_checksum(&ip.src, &ip.dst, p->data + 20, seg.hdr_len, payload, apart),
                     0);
    s->again += seg.len && seg.seq == s->last_seq;
    s->last_seq = seg.seq;
    s->packets++;
    for (size_t i = 0; i < 20u + seg.hdr_len; i++)
        s->hash = (s->hash ^ p->data[i]) * UINT64_C(0x100000001b3);
}

static int filter_send(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    return scps_netif_send(nif->lower, pkt);
}
static int filter_recv(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    look((struct seen *)nif, pkt);
    return scps_netif_recv(nif, pkt);
}
static void filter_close(struct scps_netif *nif)
{
    (void)nif;
}
static const struct scps_netif_ops filter_ops = {"look",       filter_send, filter_recv,
                                                 filter_close, NULL,        NULL};

static void verdict(void *ctx, const struct scps_verdict *v)
{
    struct seen *s = ctx;

    look(s, v->pkt);
    s->queue += v->fate == SCPS_FATE_QUEUE;
    s->damaged += v->fate == SCPS_FATE_FLIPPED;
}
static void observe(void *ctx)
{
    struct run *r = ctx;

    scps_link_observe(r->l, 0, verdict, &r->told);
}

static void sends(struct scps_host *h, const struct scps_event *ev, void *ctx)
{
    (void)h;
    scps_bulk_source_event(&((struct run *)ctx)->from, ev);
}
static void receives(struct scps_host *h, const struct scps_event *ev, void *ctx)
{
    struct run *r = ctx;

    (void)h;
    if (ev->kind == SCPS_EV_ACCEPT)
        scps_bulk_sink_start(&r->to, scps_accept(ev->listener));
    else
        scps_bulk_sink_event(&r->to, ev);
}

/* Transfers a megabyte over the link of the setup until the time `until`. */
static void transfer(struct run *r, const struct setup *s, scps_time until)
{
    struct scps_conn_config cfg = scps_conn_config_default();
    struct scps_link_config up, down;
    struct scps_endpoint to = {.port = 5001};
    struct scps_addr from;

    memset(r, 0, sizeof *r);
    assert_int_equal(scps_link_parse(s->link, &up, &down, NULL, 0), 0);
    up.seed = down.seed = 5;
    r->w = scps_world_new(NULL);
    r->a = scps_world_host(r->w, "a", NULL, sends, r);
    r->b = scps_world_host(r->w, "b", NULL, receives, r);
    scps_addr_parse("10.0.0.1", &from);
    scps_addr_parse("10.0.0.2", &to.addr);
    r->l = scps_world_link(r->w, r->a, &from, r->b, &to.addr, 24, 1500, &up, &down);
    r->up.nif.ops = r->down.nif.ops = &filter_ops;
    if (s->filters > 0)
        assert_int_equal(scps_link_filter(r->l, 1, &r->up.nif), 0);
    if (s->filters > 1)
        assert_int_equal(scps_link_filter(r->l, 0, &r->down.nif), 0);
    if (s->observe_at != SCPS_NEVER)
        assert_int_equal(scps_world_at(r->w, s->observe_at, observe, r), 0);
    cfg.hollow = s->hollow;
    r->from.total = 1000000;
    r->from.hollow = s->hollow;
    assert_non_null(scps_listen(scps_host_stack(r->b), &cfg, &to, 1, NULL));
    assert_int_equal(scps_bulk_source_start(
                         &r->from, scps_connect(scps_host_stack(r->a), &cfg, NULL, &to, NULL)),
                     0);
    scps_host_kick(r->a);
    scps_world_run(r->w, until);
}

static void finish(struct run *r)
{
    scps_bulk_source_fini(&r->from);
    scps_world_free(r->w);
}

static const char LINK[] = "rate=10mbit,rtt=50ms,loss=0.02,dup=0.1,jitter=2ms,queue=100p";

/* A filter above the receiving end gets the octets of packets that were sent as values, also of one
 * that arrives twice; the octets equal those that a filter above the sender gets. */
static void filters(void **state)
{
    (void)state;
    for (int hollow = 0; hollow < 2; hollow++) {
        struct run r;
        uint64_t hash;

        transfer(&r, &(struct setup){LINK, hollow, 1, SCPS_NEVER}, SCPS_SEC(60));
        assert_true(r.to.received == 1000000 && r.up.packets > 600 && r.up.again > 30);
        hash = r.up.hash;
        finish(&r);
        transfer(&r, &(struct setup){LINK, hollow, 2, SCPS_NEVER}, SCPS_SEC(60));
        assert_true(r.to.received == 1000000 && r.up.hash == hash);
        finish(&r);
    }
}

/* An observer that comes while packets are queued and in flight sees the octets of these, too, and
 * of packets for which the queue has no room. */
static void observer(void **state)
{
    (void)state;
    for (int hollow = 0; hollow < 2; hollow++) {
        struct run r;

        transfer(&r, &(struct setup){"rate=10mbit,rtt=50ms,queue=20p", hollow, 0, SCPS_MS(130)},
                 SCPS_SEC(60));
        assert_true(r.to.received == 1000000 && r.told.packets > 500 && r.told.queue > 0);
        finish(&r);
    }
}

/* The link flips bits in the octets: the packet that arrives has a wrong checksum, and the
 * observer's copy is intact. */
static void flipped(void **state)
{
    (void)state;
    for (int hollow = 0; hollow < 2; hollow++) {
        struct scps_stack_stats st;
        struct run r;

        transfer(&r, &(struct setup){"rate=10mbit,rtt=50ms,ber=1e-5,flip,queue=100p", hollow, 0, 0},
                 SCPS_SEC(60));
        scps_stack_get_stats(scps_host_stack(r.b), &st);
        assert_true(r.to.received == 1000000 && r.told.damaged > 0);
        assert_true(st.drops[SCPS_DROP_BAD_CHECKSUM] + st.drops[SCPS_DROP_BAD_IP_CHECKSUM] > 0);
        finish(&r);
    }
}

/* scps_stack_output() called by hand returns octets. */
static void direct_output_returns_octets(void **state)
{
    uint8_t room[2048];
    struct scps_pkt out = {.data = room, .cap = sizeof room};
    struct run r;
    int n = 0;

    (void)state;
    transfer(&r, &(struct setup){"rate=10mbit,rtt=50ms", false, 0, SCPS_NEVER}, SCPS_MS(500));
    while (r.to.received < 1000000 && n == 0) {
        struct scps_netif *nif = scps_link_netif(r.l, 0);
        scps_world_run(r.w, scps_world_now(r.w) + 1);
        scps_time next = scps_stack_deadline(scps_host_stack(r.a));
        if (next > scps_world_now(r.w) + SCPS_SEC(2))
            break;
        n = scps_stack_output(scps_host_stack(r.a), nif, next, &out);
    }
    assert_int_equal(n, 1);
    look(&r.told, &out);
    finish(&r);
}

/* A segment without a connection, or one above whose device there is a filter, is not handed over
 * as values, because the octets are needed. */
static void segments_sent_as_octets(void **state)
{
    static const uint8_t addrs[8] = {10, 0, 0, 1, 10, 0, 0, 2};
    struct scps_seg seg = {.sport = 1, .dport = 2, .flags = SCPS_ACK, .hdr_len = 20};
    struct scps_stack_stats before, after;
    struct run r;

    (void)state;
    for (int filters = 0; filters < 2; filters++) {
        transfer(&r, &(struct setup){LINK, true, filters, SCPS_NEVER}, SCPS_SEC(1));
        struct scps_netif *nif = scps_link_netif(r.l, 1);
        if (filters)
            nif = nif->lower;
        uint64_t packets = nif->rx_packets;
        scps_stack_get_stats(scps_host_stack(r.b), &before);
        assert_int_equal(scps_netif_recv_segment(nif, addrs, &seg, 40, SCPS_SEC(1)),
                         SCPS_ERR_AGAIN);
        scps_stack_get_stats(scps_host_stack(r.b), &after);
        assert_true(nif->rx_packets == packets);
        assert_memory_equal(&before, &after, sizeof before);
        finish(&r);
    }
}

/* Segments are no longer handed over as values after a filter was put above the device of the
 * stack. */
static void filter_pushed_later(void **state)
{
    static const uint8_t addrs[8] = {10, 0, 0, 1, 10, 0, 0, 2};
    struct scps_seg seg = {.dport = 5001, .flags = SCPS_ACK, .hdr_len = 20};
    struct scps_endpoint from;
    struct scps_netif *nif;
    struct run r;

    (void)state;
    transfer(&r, &(struct setup){LINK, true, 0, SCPS_NEVER}, SCPS_MS(500));
    nif = scps_link_netif(r.l, 1);
    scps_conn_local(r.from.conn, &from);
    seg.sport = from.port;
    assert_int_not_equal(scps_netif_recv_segment(nif, addrs, &seg, 40, SCPS_MS(500)),
                         SCPS_ERR_AGAIN);
    scps_netif_push(nif, &r.up.nif);
    assert_int_equal(scps_netif_recv_segment(nif, addrs, &seg, 40, SCPS_MS(500)), SCPS_ERR_AGAIN);
    nif->upper = NULL;
    finish(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters),
        cmocka_unit_test(observer),
        cmocka_unit_test(flipped),
        cmocka_unit_test(direct_output_returns_octets),
        cmocka_unit_test(segments_sent_as_octets),
        cmocka_unit_test(filter_pushed_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
