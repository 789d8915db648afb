/* SPDX-License-Identifier: MIT */
/* Two stacks that compress headers, and an attacker who sees none of their packets and knows only
 * their two addresses. The attacker tries every connection id with every kind of compressed header,
 * and SYNs; other numbers it chooses at random. It computes the checksums with the protocol number
 * of the two stacks, or with one of the two others that builds of the reference implementation
 * have. Nothing that it sends may end the connection, change a byte, or cause a retransmission.
 *
 * RFC 5961 says what TCP promises against such an attacker; docs/SCPS-TP.md section 8 describes the
 * header, which has no ports and may leave out the sequence number and the acknowledgement number.
 */
#include "cmocka_all.h"

#include "base/bytes.h"

#include <scps/comp.h>
#include <scps/conn.h>
#include <scps/stack.h>

#include <stdlib.h>
#include <string.h>

#define DELAY  SCPS_MS(20) /* The one-way delay of the path. */
#define BYTES  200000      /* The number of bytes that each end sends. */
#define SHAPES 14
/* The connection is idle for this time before the second half of the transfer. */
#define EVENING SCPS_SEC(40)

struct packet {
    struct packet *next;
    scps_time at;
    size_t len;
    uint8_t b[2000];
};

struct host {
    struct scps_stack *st;
    struct scps_netif nif;
    struct scps_endpoint at;
    struct scps_conn *c;
    struct packet *in, **last; /* The packets on their way to this host. */
    uint64_t written, read;
};

struct world {
    struct host h[2]; /* h[0] connects, h[1] listens. */
    struct scps_listener *l;
    scps_time now;
    uint64_t rnd;
    /* The IP protocol number in the checksums of the attacker's compressed headers; 0: there is no
     * attacker. */
    uint8_t attacker;
};

static uint8_t pattern(int who, uint64_t i)
{
    return (uint8_t)(i * 7 + (i >> 8) * 13 + (unsigned)who);
}

static uint32_t guess(struct world *w)
{
    w->rnd = w->rnd * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(w->rnd >> 32);
}

static void drain(struct world *w)
{
    for (int i = 0; i < 2; i++) {
        uint8_t head[SCPS_MAX_HEADERS];
        struct host *h = &w->h[i], *to = &w->h[!i];
        struct scps_pkt out = {.data = head, .cap = sizeof head};
        while (scps_stack_output(h->st, &h->nif, w->now, &out) > 0) {
            struct packet *p = malloc(sizeof *p);
            p->next = NULL;
            p->at = w->now + DELAY;
            p->len = out.len + out.payload_len;
            assert_true(p->len <= sizeof p->b);
            memcpy(p->b, out.data, out.len);
            if (out.payload_len)
                memcpy(p->b + out.len, out.payload, out.payload_len);
            *to->last = p;
            to->last = &p->next;
        }
    }
}

/* The applications of both hosts write as much as there is room for, and read what has arrived, up
 * to `goal` octets. */
static void applications(struct world *w, uint64_t goal)
{
    uint8_t b[4000];

    for (int i = 0; i < 2; i++) {
        struct host *h = &w->h[i];
        int64_t n;
        while (h->c && h->written < goal) {
            size_t k = (size_t)SCPS_MIN(sizeof b, goal - h->written);
            for (size_t j = 0; j < k; j++)
                b[j] = pattern(i, h->written + j);
            n = scps_conn_write(h->c, b, k, 0);
            if (n <= 0)
                break;
            h->written += (uint64_t)n;
        }
        while (h->c && (n = scps_conn_read(h->c, b, sizeof b, 0)) > 0) {
            for (int64_t j = 0; j < n; j++)
                assert_int_equal(b[j], pattern(!i, h->read + (uint64_t)j));
            h->read += (uint64_t)n;
        }
    }
}

/* Advances the time to `until`, or until both hosts have read `goal` octets. */
static void run(struct world *w, scps_time until, uint64_t goal)
{
    for (;;) {
        scps_time next = until;
        applications(w, goal);
        drain(w);
        if (goal && w->h[0].read == goal && w->h[1].read == goal)
            return;
        for (int i = 0; i < 2; i++) {
            next = SCPS_MIN(next, SCPS_MAX(scps_stack_deadline(w->h[i].st), w->now));
            if (w->h[i].in)
                next = SCPS_MIN(next, w->h[i].in->at);
        }
        w->now = next;
        if (next >= until)
            return;
        for (int i = 0; i < 2; i++) {
            struct host *h = &w->h[i];
            struct packet *p;
            scps_stack_advance(h->st, w->now);
            while ((p = h->in) && p->at <= w->now) {
                struct scps_pkt in = {.data = p->b, .len = p->len, .at = w->now};
                h->in = p->next;
                if (!h->in)
                    h->last = &h->in;
                scps_stack_input(h->st, &h->nif, &in);
                free(p);
            }
        }
        if (!w->h[1].c && w->l)
            w->h[1].c = scps_accept(w->l);
    }
}

/* ---- the attacker ---- */

static void spoof(struct world *w, int victim, uint8_t proto, const uint8_t *body, size_t n)
{
    uint8_t pkt[300];
    struct host *h = &w->h[victim];
    struct scps_ip ip = {
        .src = w->h[!victim].at.addr, .dst = h->at.addr, .version = 4, .proto = proto, .ttl = 64};
    size_t iph = scps_ip_build(pkt, &ip, n);
    struct scps_pkt in = {.data = pkt, .len = iph + n, .at = w->now};

    memcpy(pkt + iph, body, n);
    scps_stack_input(h->st, &h->nif, &in);
}

/* Sends a compressed header of one kind with the given connection id to a host (docs/SCPS-TP.md
 * section 8.2). */
static void shape(struct world *w, int victim, unsigned which, uint8_t id)
{
    enum {
        TS = 0x60,
        SNACK = 8,
        PUSH = 4,
        S = 2,
        A = 1,
        MORE = 0x80,
        OPTS = 0x80,
        RST = 4,
        FIN = 1
    };
    static const struct {
        uint8_t one, two, data;
        const char *opt;
    } shapes[SHAPES] = {
        {0, 0, 0, NULL}, /* compressed header without any field */
        {PUSH, 0, 0, NULL},
        {TS, 0, 0, NULL}, /* time stamps later than the peer's clock */
        {TS | A, 0, 0, NULL},
        {A, 0, 0, NULL},     /* The window is 0. */
        {SNACK, 0, 0, NULL}, /* The SNACK reports all octets as missing. */
        {SNACK | A, 0, 0, NULL},
        /* The same SNACK is in a TCP option. */
        {MORE, OPTS, 0, "\x15\x06\x00\x00\xff\xff"},
        {MORE, OPTS, 0, "\x17\x02\x01\x01\x01\x01"}, /* This option reports corruption. */
        {MORE | TS, RST, 0, NULL},
        {MORE | S | TS, RST, 0, NULL},
        {MORE | S | A, FIN, 0, NULL},
        {S | TS, 0, 100, NULL}, /* This segment has data. */
        {S, 0, 0, NULL},
    };
    uint8_t one = shapes[which].one, two = shapes[which].two, b[200], *p = b;

    *p++ = id;
    *p++ = one;
    if (one & MORE)
        *p++ = two;
    if (one & A) {
        scps_put16(p, 0);
        scps_put32(p + 2, guess(w));
        p += 6;
    }
    if (one & S) {
        scps_put32(p, guess(w));
        p += 4;
    }
    if (one & TS) {
        scps_put32(p, (uint32_t)(w->now / 1000) + (guess(w) & 0x3fffffff));
        scps_put32(p + 4, guess(w));
        p += 8;
    }
    if (one & SNACK) {
        scps_put32(p, 0xffff);
        p += 4;
    }
    if (one & MORE && two & OPTS) {
        *p++ = 6;
        memcpy(p, shapes[which].opt, 6);
        p += 6;
    }
    size_t hdr = (size_t)(p - b) + 2;
    scps_put16(p, 0);
    memset(b + hdr, 'x', shapes[which].data);
    scps_put16(p, scps_comp_checksum(&w->h[!victim].at.addr, &w->h[victim].at.addr, w->attacker, b,
                                     hdr, b + hdr, shapes[which].data));
    spoof(w, victim, SCPS_IPPROTO_SCPS_COMP, b, hdr + shapes[which].data);
}

/* Sends every kind of header with every connection id to both hosts. */
static void attack(struct world *w)
{
    for (int victim = 0; victim < 2 && w->attacker; victim++)
        for (unsigned i = 0; i < SHAPES; i++)
            for (unsigned id = 0; id < 256; id++)
                shape(w, victim, i, (uint8_t)id);
}

/* Sends SYNs that offer compression with this id, from the address of the host that connects. */
static void spoof_syns(struct world *w, uint8_t id)
{
    for (unsigned i = 0; i < 50; i++) {
        uint8_t b[60];
        struct scps_seg s = {.sport = (uint16_t)(1024 + i),
                             .dport = 80,
                             .seq = guess(w),
                             .wnd = 1000,
                             .flags = SCPS_SYN,
                             .has = SCPS_HAS_CAPS,
                             .caps = SCPS_CAP_COM | SCPS_CAP_SNACK1,
                             .conn_id = id};
        size_t n = scps_tcp_build(b, &s);
        scps_put16(b + 16, scps_tcp_checksum(&w->h[0].at.addr, &w->h[1].at.addr, b, n, NULL, 0));
        spoof(w, 1, SCPS_IPPROTO_TCP, b, n);
    }
}

/* ---- what must hold ---- */

struct outcome {
    scps_dur first, second; /* How long each half of the transfer took, in µs. */
    uint64_t resent, saved;
};

static struct outcome converse(bool timestamps, uint8_t attacker)
{
    struct world w = {.now = SCPS_SEC(1000), .rnd = 7, .attacker = attacker};
    struct scps_conn_config cfg = scps_conn_config_default();
    struct outcome o;

    cfg.compress = cfg.snack = true;
    cfg.timestamps = timestamps;
    cfg.rcvbuf = 30000;
    for (int i = 0; i < 2; i++) {
        struct scps_stack_config sc = scps_stack_config_default();
        struct host *h = &w.h[i];
        sc.seed[0] = 11;
        sc.seed[1] = (uint64_t)i;
        sc.now = w.now;
        h->nif = (struct scps_netif){.name = "test", .mtu = 1500};
        h->last = &h->in;
        h->st = scps_stack_new(&sc);
        assert_int_equal(scps_addr_parse(i ? "10.0.0.2" : "10.0.0.1", &h->at.addr), 0);
        h->at.port = i ? 80 : 0;
        assert_int_equal(scps_stack_add_netif(h->st, &h->nif), 0);
        assert_int_equal(scps_stack_add_addr(h->st, &h->nif, &h->at.addr, 24), 0);
    }
    w.l = scps_listen(w.h[1].st, &cfg, &w.h[1].at, 8, NULL);
    w.h[0].c = scps_connect(w.h[0].st, &cfg, NULL, &w.h[1].at, NULL);
    assert_non_null(w.h[0].c);

    if (attacker) { /* The attacker happens to guess the id that is announced next. */
        struct scps_seg syn;
        run(&w, w.now + DELAY / 2, 0);
        assert_non_null(w.h[1].in);
        scps_tcp_parse(w.h[1].in->b + 20, w.h[1].in->len - 20, w.h[1].in->len - 20, &syn);
        assert_int_not_equal(syn.conn_id, 0);
        spoof_syns(&w, syn.conn_id);
    }
    scps_time began = w.now;
    while (w.h[0].read < BYTES / 2 || w.h[1].read < BYTES / 2) {
        run(&w, w.now + SCPS_MS(37), BYTES / 2);
        attack(&w);
        assert_true(w.now - began < SCPS_SEC(60));
    }
    o.first = w.now - began;
    /* While the connection is idle, the attacker has both hosts for itself. */
    while (w.now < began + EVENING) {
        run(&w, w.now + SCPS_MS(1900), 0);
        attack(&w);
    }
    scps_time again = w.now;
    while (w.h[0].read < BYTES || w.h[1].read < BYTES) {
        run(&w, w.now + SCPS_MS(37), BYTES);
        attack(&w);
        assert_true(w.now - again < SCPS_SEC(60));
    }
    o.second = w.now - again;
    o.resent = o.saved = 0;
    for (int i = 0; i < 2; i++) {
        struct scps_info info;
        scps_conn_info(w.h[i].c, &info);
        assert_int_equal(info.state, SCPS_ESTABLISHED);
        assert_int_equal(info.caps, SCPS_CAP_COM | SCPS_CAP_SNACK1);
        o.resent += info.resent_segs;
        o.saved += info.comp_saved_out;
    }
    for (int i = 0; i < 2; i++) {
        for (struct packet *p; (p = w.h[i].in);) {
            w.h[i].in = p->next;
            free(p);
        }
        scps_stack_free(w.h[i].st);
    }
    return o;
}

static void attacked_with(uint8_t proto)
{
    for (int ts = 0; ts < 2; ts++) {
        struct outcome alone = converse(ts, 0), attacked = converse(ts, proto);
        assert_int_equal(alone.resent, 0);
        assert_int_equal(attacked.resent, 0);
        assert_true(attacked.first <= alone.first + 4 * DELAY);
        assert_true(attacked.second <= alone.second + 4 * DELAY);
        assert_true(attacked.saved >= alone.saved * 9 / 10);
    }
}

static void changes_nothing(void **x)
{
    (void)x;
    attacked_with(SCPS_IPPROTO_SCPS_COMP);
}

/* docs/SCPS-TP.md section 8.3: a host that gets compressed segments whose checksums are right for
 * another protocol number than its own takes that number for the peer's. Segments that anybody can
 * send, because they have neither sequence nor acknowledgement number, must not make it do so: it
 * would discard the segments of the peer. */
static void another_protocol_number_changes_nothing(void **x)
{
    (void)x;
    attacked_with(SCPS_IPPROTO_TCP);
    attacked_with(SCPS_IPPROTO_SCPS_TP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_nothing),
        cmocka_unit_test(another_protocol_number_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
