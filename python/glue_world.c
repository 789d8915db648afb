/* SPDX-License-Identifier: MIT */
/* Simulated worlds, and stacks by themselves: see glue.h. */
#include "common/seed.h"
#include "common/slice.h"
#include "glue_priv.h"

#include <scps/error.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a world ---- */

struct place { /* a host of a world */
    struct place *next;
    struct py_listener listener;
    py_event_fn *fn;
    void *ctx;
};

struct py_world {
    struct scps_world *w;
    struct place *places;
    struct scps_link_tables **tables;
    size_t n_tables;
    uint32_t n_hosts;
    struct py_kept notes;
    scps_dur slice;
    bool stopped;
};

struct py_world *py_world_new(void)
{
    struct py_world *w = calloc(1, sizeof(*w));

    if (w == NULL)
        return NULL;
    w->notes.size = sizeof(struct py_note);
    w->slice = SLICE_FIRST;
    w->w = scps_world_new(NULL);
    if (w->w == NULL) {
        free(w);
        return NULL;
    }
    return w;
}

void py_world_free(struct py_world *w)
{
    struct place *next;

    if (w == NULL)
        return;
    scps_world_free(w->w);
    for (struct place *p = w->places; p != NULL; p = next) {
        next = p->next;
        free(p);
    }
    for (size_t i = 0; i < w->n_tables; i++)
        scps_link_tables_free(w->tables[i]);
    free(w->tables);
    free(w->notes.v);
    free(w);
}

int64_t py_world_now(const struct py_world *w)
{
    return scps_world_now(w->w);
}

int py_world_run(struct py_world *w, int64_t until, uint64_t *served)
{
    uint64_t n;

    w->stopped = false;
    n = scps_world_run(w->w, slice_end(scps_world_now(w->w), w->slice, until));
    w->slice = slice_next(w->slice, n);
    *served += n;
    return !w->stopped && scps_world_now(w->w) < until;
}

void py_world_stop(struct py_world *w)
{
    w->stopped = true;
    scps_world_stop(w->w);
}

static void on_world_event(struct scps_host *h, const struct scps_event *ev, void *ctx)
{
    const struct place *p = ctx;
    const struct py_seen seen = {(int)ev->kind, ev->err, ev->conn, ev->listener};

    (void)h;
    p->fn(p->ctx, &seen);
}

struct scps_host *py_world_host(struct py_world *w, const char *name, uint64_t seed,
                                uint64_t note_mask, py_event_fn *fn, void *ctx)
{
    struct scps_stack_config cfg = scps_stack_config_default();
    struct place *p = calloc(1, sizeof(*p));
    struct scps_host *h;

    if (p == NULL)
        return NULL;
    p->listener = (struct py_listener){&w->notes, w->n_hosts};
    p->fn = fn;
    p->ctx = ctx;
    seed_pair(seed, w->n_hosts + 1, cfg.seed);
    if (note_mask != 0)
        cfg.observer = (struct scps_observer){py_on_note, &p->listener, note_mask};
    h = scps_world_host(w->w, name, &cfg, on_world_event, p);
    if (h == NULL) {
        free(p);
        return NULL;
    }
    w->n_hosts++;
    p->next = w->places;
    w->places = p;
    return h;
}

int py_world_link(struct py_world *w, struct scps_host *a, const char *addr_a, struct scps_host *b,
                  const char *addr_b, unsigned prefix, uint32_t mtu, const char *spec,
                  uint64_t seed, struct scps_link **out, char *msg, size_t msglen)
{
    struct scps_link_tables *tables = NULL, **more;
    struct scps_link_config fwd, back;
    struct scps_addr at[2];
    uint64_t seeds[2];
    const locale_t before = py_c_numbers();
    const int err = scps_link_parse_tables(spec, NULL, &fwd, &back, &tables, msg, msglen);

    uselocale(before);
    if (err != 0)
        return err;
    more = realloc(w->tables, (w->n_tables + 1) * sizeof(struct scps_link_tables *));
    if (more == NULL) {
        scps_link_tables_free(tables);
        snprintf(msg, msglen, "%s", scps_strerror(SCPS_ERR_NOMEM));
        return SCPS_ERR_NOMEM;
    }
    w->tables = more;
    w->tables[w->n_tables++] = tables;
    if (scps_addr_parse(addr_a, &at[0]) != 0 || scps_addr_parse(addr_b, &at[1]) != 0) {
        snprintf(msg, msglen, "%s: no IPv4 or IPv6 address",
                 scps_addr_parse(addr_a, &at[0]) != 0 ? addr_a : addr_b);
        return SCPS_ERR_INVAL;
    }
    seed_pair(seed, 0, seeds);
    fwd.seed = seeds[0];
    back.seed = seeds[1];
    *out = scps_world_link(w->w, a, &at[0], b, &at[1], prefix, mtu, &fwd, &back);
    if (*out != NULL)
        return 0;
    snprintf(msg, msglen, "the stack refuses %s or %s with prefix %u: an address is used once",
             addr_a, addr_b, prefix);
    return SCPS_ERR_INVAL;
}

void py_link_stats(struct scps_link *l, int dir, uint64_t *out)
{
    struct scps_link_stats s;
    uint64_t lost = 0;

    scps_link_get_stats(l, dir, &s);
    for (int f = SCPS_FATE_BER; f < SCPS_FATE_COUNT; f++)
        lost += f == SCPS_FATE_QUEUE ? 0 : scps_link_dropped(&s, (enum scps_fate)f);
    out[0] = s.offered;
    out[1] = s.offered_bytes;
    out[2] = s.delivered;
    out[3] = s.delivered_bytes;
    out[4] = s.dropped_queue;
    out[5] = lost;
    out[6] = (uint64_t)s.busy;
}

const char *py_link_stat_name(int i)
{
    static const char *const names[] = {"offered",         "offered_bytes", "delivered",
                                        "delivered_bytes", "dropped_queue", "lost",
                                        "busy_us"};

    return i < 7 ? names[i] : NULL;
}

const struct py_note *py_world_notes(const struct py_world *w, size_t *n)
{
    *n = w->notes.n;
    return w->notes.v;
}

/* ---- a stack ---- */

struct scps_stack *py_stack_new(uint64_t seed_low, uint64_t seed_high, int64_t now)
{
    struct scps_stack_config cfg = scps_stack_config_default();

    cfg.seed[0] = seed_low;
    cfg.seed[1] = seed_high;
    cfg.now = now;
    return scps_stack_new(&cfg);
}

struct scps_netif *py_netif_new(uint32_t mtu)
{
    struct scps_netif *nif = calloc(1, sizeof(*nif));

    if (nif != NULL) {
        nif->name = "python";
        nif->mtu = mtu;
    }
    return nif;
}

void py_netif_free(struct scps_netif *nif)
{
    free(nif);
}

int py_stack_add_netif(struct scps_stack *st, struct scps_netif *nif)
{
    return scps_stack_add_netif(st, nif);
}

int py_stack_add_addr(struct scps_stack *st, struct scps_netif *nif, const char *addr,
                      unsigned prefix)
{
    struct scps_addr a;

    return scps_addr_parse(addr, &a) != 0 ? SCPS_ERR_INVAL
                                          : scps_stack_add_addr(st, nif, &a, prefix);
}

int py_stack_input(struct scps_stack *st, struct scps_netif *nif, const char *data, size_t len,
                   int64_t at)
{
    const struct scps_pkt pkt = {.data = (uint8_t *)(uintptr_t)data, .len = len, .at = at};

    return scps_stack_input(st, nif, &pkt);
}

int64_t py_stack_output(struct scps_stack *st, struct scps_netif *nif, int64_t now, char *out)
{
    struct scps_pkt pkt = {.data = (uint8_t *)out, .cap = SCPS_MAX_HEADERS};
    const int n = scps_stack_output(st, nif, now, &pkt);

    if (n != 1)
        return n;
    if (pkt.payload != NULL)
        memcpy(out + pkt.len, pkt.payload, pkt.payload_len);
    else
        memset(out + pkt.len, 0, pkt.payload_len);
    return (int64_t)(pkt.len + pkt.payload_len);
}

int py_stack_event(struct scps_stack *st, struct py_seen *out)
{
    struct scps_event ev;
    const int n = scps_stack_event(st, &ev);

    if (n == 1)
        *out = (struct py_seen){(int)ev.kind, ev.err, ev.conn, ev.listener};
    return n;
}

struct scps_listener *py_listen(struct scps_stack *st, const struct py_config *c, uint16_t port,
                                unsigned backlog, int *err)
{
    const struct scps_endpoint any = {.port = port};

    return scps_listen(st, &c->c, &any, backlog, err);
}

struct scps_conn *py_connect(struct scps_stack *st, const struct py_config *c, const char *addr,
                             uint16_t port, int *err)
{
    struct scps_endpoint to = {.port = port};

    *err = scps_addr_parse(addr, &to.addr);
    return *err != 0 ? NULL : scps_connect(st, &c->c, NULL, &to, err);
}

const char *py_conn_state(const struct scps_conn *c)
{
    return scps_state_name(scps_conn_state(c));
}
