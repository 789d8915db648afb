/* SPDX-License-Identifier: MIT */
/* The datagram (UDP) endpoints of both hosts, one each, and what they receive.
 *
 * A datagram begins with its length, its number, and where its zeros begin, six octets; what
 * follows is derived from the number, and at last come zeros that its sender does not store. So
 * whatever arrives can be judged by itself: datagrams may be lost, doubled and overtaken, but each
 * is whole and comes from the other host's endpoint.
 */
#include "pair.h"

enum { PREFIX = 6, LONGEST = 2000 };

static uint8_t octet_of(uint16_t number, size_t at)
{
    return (uint8_t)(number * 31u + at * 7u);
}

static void fill(uint8_t *p, uint16_t number, uint16_t whole, size_t len)
{
    scps_put16(p, whole);
    scps_put16(p + 2, number);
    scps_put16(p + 4, (uint16_t)len);
    for (size_t i = PREFIX; i < len; i++)
        p[i] = octet_of(number, i);
}

static void settings(struct scps_dgram_config *c, uint8_t b)
{
    static const uint32_t buffers[] = {65536, 100, 1500, 5000};

    c->sndbuf = buffers[b & 3];
    c->rcvbuf = buffers[b >> 2 & 3];
    c->tos = b & 16 ? 0xb8 : 0;
    c->ttl = b & 32 ? 5 : 64;
    c->df_off = b & 64;
    c->reuse = b & 128;
}

static void open_one(struct world *w, struct host *h, uint8_t b, uint8_t c)
{
    struct scps_dgram_config cfg = scps_dgram_config_default();
    struct scps_endpoint at = {.port = c & 1 ? 0 : DGRAM_PORT};
    int err = 0;

    settings(&cfg, b);
    if (c & 2)
        at.addr = h->addr;
    h->dgram = scps_dgram_open(h->st, &cfg, c & 4 ? NULL : &at, &err);
    if (!h->dgram) {
        MUST(err == SCPS_ERR_NOMEM || (err == SCPS_ERR_ADDRNOTAVAIL && (h->no_addr || h->gone)));
        MUST(err != SCPS_ERR_NOMEM || w->refused);
        return;
    }
    scps_dgram_set_user(h->dgram, h);
    h->can_recv = true;
    scps_dgram_local(h->dgram, &at);
    MUST(at.port != 0);
    h->dgram_port = at.port;
    at.addr = (struct scps_addr){0};
    MUST(scps_dgram_port_busy(h->st, &at));
}

static void connect_one(struct world *w, struct host *h, uint8_t c)
{
    struct scps_endpoint to = {other(w, h)->addr, other(w, h)->dgram_port}, set;
    int err = scps_dgram_connect(h->dgram, c & 1 && to.port ? &to : NULL);

    MUST(!err || err == SCPS_ERR_UNREACH || err == SCPS_ERR_ADDRNOTAVAIL);
    scps_dgram_remote(h->dgram, &set);
    if (!err)
        MUST(c & 1 && to.port ? set.port == to.port : set.addr.family == 0);
}

void pair_dgram_change(struct world *w, struct host *h, uint8_t b, uint8_t c)
{
    struct scps_dgram_config cfg;

    h->touched = true;
    if (!h->dgram) {
        open_one(w, h, b, c);
    } else if (c >> 6 == 0) {
        scps_dgram_close(h->dgram);
        h->dgram = NULL;
    } else if (c >> 6 == 1) {
        scps_dgram_get_config(h->dgram, &cfg);
        settings(&cfg, b);
        MUST(!scps_dgram_set_config(h->dgram, &cfg));
    } else {
        connect_one(w, h, c);
    }
}

void pair_dgram_send(struct world *w, struct host *h, uint8_t b, uint8_t c)
{
    struct scps_endpoint to = {other(w, h)->addr, other(w, h)->dgram_port}, set;
    uint8_t data[LONGEST];
    size_t whole = PREFIX + (b & 127u) * (b & 128 ? 13u : 1u), len = whole;

    if (!h->dgram || !to.port)
        return;
    if (w->hollow) /* only such links carry zeros that are not stored */
        len = SCPS_MIN(len, SCPS_DGRAM_PREFIX);
    h->touched = true;
    for (unsigned n = 0; n <= (c >> 4); n++) {
        fill(data, ++h->datagrams, (uint16_t)whole, len);
        scps_dgram_remote(h->dgram, &set);
        bool fits = whole <= scps_dgram_room(h->dgram, &to);
        int err = scps_dgram_send(h->dgram, c & 2 && set.port ? NULL : &to, data, len, whole - len);
        MUST(err <= 0);
        if (err == SCPS_ERR_AGAIN) {
            MUST(!scps_dgram_writable(h->dgram) || scps_dgram_unsent(h->dgram) > 0);
            break;
        }
        MUST(!err || err == SCPS_ERR_NOMEM || err == SCPS_ERR_UNREACH ||
             err == SCPS_ERR_ADDRNOTAVAIL || (err == SCPS_ERR_MSGSIZE && (!fits || c & 2)));
        MUST(err != SCPS_ERR_NOMEM || w->refused);
        MUST(err != SCPS_ERR_UNREACH || h->no_route || h->no_addr || h->gone);
        MUST(err != SCPS_ERR_ADDRNOTAVAIL || h->no_addr || h->gone);
    }
}

static void take(struct world *w, struct host *h, const uint8_t *p, size_t len,
                 const struct scps_dgram_from *from)
{
    size_t stored;

    MUST(scps_addr_equal(&from->remote.addr, &other(w, h)->addr));
    MUST(scps_addr_equal(&from->local, &h->addr));
    MUST(from->at <= w->now);
    if (from->remote.port < DGRAM_PORT) /* of the third party */
        return;
    MUST(len >= PREFIX && len <= LONGEST && scps_get16(p) == len);
    stored = scps_get16(p + 4);
    MUST(stored >= PREFIX && stored + from->hollow <= len);
    for (size_t i = PREFIX; i < len; i++)
        MUST(p[i] == (i < stored ? octet_of(scps_get16(p + 2), i) : 0));
}

/* Reads one datagram in full, or some of it. Returns false if there is none. */
static bool receive(struct world *w, struct host *h, size_t room, bool peek)
{
    uint8_t buf[65536];
    struct scps_dgram_from from;
    int64_t next = scps_dgram_next(h->dgram), len;

    memset(buf, 0, LONGEST);
    len = scps_dgram_recv(h->dgram, buf, SCPS_MIN(room, sizeof buf), peek ? SCPS_PEEK : 0, &from);
    MUST(len == next && (len >= 0 || len == SCPS_ERR_AGAIN));
    h->touched = true;
    if (len < 0) {
        h->can_recv = false;
        return false;
    }
    if ((size_t)len <= room)
        take(w, h, buf, (size_t)len, &from);
    if (peek)
        return scps_dgram_next(h->dgram) == len;
    return true;
}

void pair_dgram_receive(struct world *w, struct host *h, uint8_t b, uint8_t c)
{
    struct scps_endpoint about;
    struct scps_dgram_stats s;
    unsigned icmp;
    int err;

    if (!h->dgram)
        return;
    receive(w, h, c & 2 ? b : 65536, c & 1);
    err = scps_dgram_error(h->dgram, &about, &icmp);
    MUST(err <= 0 && (err || !scps_dgram_error(h->dgram, NULL, NULL)));
    scps_dgram_get_stats(h->dgram, &s);
    MUST(s.out + s.unsent <= h->datagrams && s.in_bytes <= s.in * 65535u);
}

bool pair_dgram_work(struct world *w, struct host *h)
{
    bool any = false;

    while (h->dgram && h->can_recv)
        any |= receive(w, h, 65536, false) | true;
    if (h->dgram && w->healed) /* an event came for each that is there */
        MUST(scps_dgram_next(h->dgram) == SCPS_ERR_AGAIN);
    return any;
}

void pair_dgram_event(struct host *h, const struct scps_event *ev)
{
    MUST(ev->dgram == h->dgram && ev->user == h && !ev->conn);
    if (ev->kind == SCPS_EV_READABLE)
        h->can_recv = true;
    else
        MUST(ev->kind == SCPS_EV_WRITABLE || ev->kind == SCPS_EV_DRAINED ||
             ev->kind == SCPS_EV_ERROR);
    if (ev->kind == SCPS_EV_DRAINED)
        MUST(scps_dgram_writable(h->dgram) || scps_dgram_unsent(h->dgram));
    if (ev->kind == SCPS_EV_ERROR) {
        MUST(ev->err < 0);
        (void)scps_dgram_error(h->dgram, NULL, NULL);
    }
}
