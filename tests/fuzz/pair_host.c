/* SPDX-License-Identifier: MIT */
/* Instructions that change a host while it has connections: addresses and routes are removed and
 * added again, path states are saved and restored (careful resume), memory is limited, and the
 * functions that return state and counters of the stack are called.
 */
#include "pair.h"

static unsigned prefix_of(const struct host *h)
{
    return h->addr.family == 6 ? 64 : 24;
}

static void excuse_all(struct world *w, unsigned why)
{
    for (int i = 0; i < FLOWS; i++)
        w->flow[i].excuse |= why;
}

static void give_addr(struct host *h)
{
    int err = scps_stack_add_addr(h->st, &h->nif, &h->addr, prefix_of(h));

    MUST(!err || err == SCPS_ERR_NOMEM);
    h->no_addr = err != 0;
    h->no_route = h->no_route && err;
}

void pair_address(struct world *w, struct host *h, uint8_t b)
{
    if (h->gone)
        return;
    h->touched = true;
    if (h->no_addr) {
        give_addr(h);
        return;
    }
    if (b & 3)
        return;
    excuse_all(w, EXCUSE_DEVICE);
    MUST(!scps_stack_remove_addr(h->st, &h->nif, &h->addr));
    MUST(scps_stack_remove_addr(h->st, &h->nif, &h->addr) == SCPS_ERR_NOENT);
    MUST(!scps_stack_has_addr(h->st, &h->addr));
    h->no_addr = h->no_route = true;
    if (b & 4)
        give_addr(h);
}

/* The route of the hosts' network, or a default route beside it with a smaller MTU. */
void pair_route_goes(struct world *w, struct host *h, uint8_t b)
{
    static const uint32_t mtus[] = {0, 1280, 576, 300};
    struct scps_route all = {.nif = &h->nif, .mtu = mtus[b >> 4 & 3]};
    int err;

    if (h->gone)
        return;
    h->touched = true;
    all.dst = (struct scps_addr){.family = h->addr.family};
    if (b & 1) {
        err = b & 2 ? scps_stack_remove_route(h->st, &all.dst, 0, &h->nif)
                    : scps_stack_add_route(h->st, &all);
        MUST(!err || err == SCPS_ERR_NOENT || err == SCPS_ERR_NOMEM);
        if (!err)
            h->default_routes += b & 2 ? -1 : 1;
        return;
    }
    if (h->no_route) {
        pair_route(w, h, 0);
        return;
    }
    err = scps_stack_remove_route(h->st, &h->addr, prefix_of(h), &h->nif);
    MUST(!err || err == SCPS_ERR_NOENT);
    h->no_route = true;
    excuse_all(w, EXCUSE_DEVICE);
}

bool pair_unreachable(const struct host *h)
{
    return h->gone || h->no_addr || (h->no_route && !h->default_routes);
}

void pair_host_heal(struct world *w, struct host *h)
{
    if (h->gone)
        return;
    if (h->no_addr)
        give_addr(h);
    if (h->no_route)
        pair_route(w, h, 0);
}

/* ---- careful resume -------------------------------------------------------------------------- */

/* The time of day in seconds: it runs faster than that of the stack by c, so that states expire. */
static int64_t day(const struct world *w, uint8_t c)
{
    return w->now / 1000000 + (c >> 4) * 600;
}

void pair_path(struct world *w, struct host *h, struct end *e, uint8_t b, uint8_t c)
{
    struct scps_path_state s = h->path;
    struct scps_path_limits lim = scps_path_limits_default();
    unsigned been;

    if (!e->c)
        return;
    h->touched = true;
    MUST(scps_path_phase(e->c, &been) <= SCPS_RESUME_RETREAT);
    if (b & 1) {
        int err = scps_path_save(e->c, day(w, 0), &s);
        MUST(err == 0 || err == SCPS_ERR_AGAIN);
        MUST(err || memcmp(s.octet, "SCPSPATH", 8) == 0);
        if (!err)
            h->path = s;
        return;
    }
    if (b & 2)
        s.octet[c % SCPS_PATH_STATE_SIZE] ^= (uint8_t)(1u << (b >> 5));
    if (b & 4)
        lim.max_jump = 1000;
    enum scps_path_verdict v = scps_path_restore(
        e->c, s.octet, b & 8 ? c % SCPS_PATH_STATE_SIZE : sizeof s.octet, day(w, c), &lim);
    MUST(v <= SCPS_PATH_NO_MEMORY && scps_path_verdict_name(v));
    MUST(v != SCPS_PATH_TAKEN || !(b & 10)); /* no state with a wrong octet is taken */
    MUST(v != SCPS_PATH_NO_MEMORY || w->refused);
    MUST(v != SCPS_PATH_TAKEN || scps_path_phase(e->c, &been) == SCPS_RESUME_RECONNAISSANCE);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Octet 9 of the world above its three lowest bits: 21 reserves all memory of host 0, 22 of both
 * when the stack opens; 23 and 24 limit what the stack of host 0, or both, may take. */
void pair_memory(struct world *w, struct host *h, uint8_t code, struct scps_stack_config *sc)
{
    /* A ring for packets of 9000 octets takes 25 344. */
    static const uint64_t limits[] = {150000, 100000};

    code >>= 3;
    if (code == 22 || (code == 21 && h->nr == 0)) {
        sc->fixed_memory = &h->cfg;
        sc->max_conns = 8;
        sc->memory_limit = 0;
        h->bound = (size_t)scps_memory_bound(sc, &h->cfg, sc->max_conns);
        MUST(h->bound > 0);
        w->refused = true;
    } else if (code == 24 || (code == 23 && h->nr == 0)) {
        sc->memory_limit = limits[h->nr];
        h->limited = true;
        w->refused = true;
    }
}

/* ---- looks ----------------------------------------------------------------------------------- */

static void one_of(const struct host *h, const struct scps_conn *c)
{
    struct scps_info i;
    enum scps_owner o = scps_conn_owner(c);

    MUST(scps_conn_stack(c) == h->st);
    scps_conn_info(c, &i);
    MUST(scps_state_name(i.state) && scps_hold_name(i.hold));
    MUST(o == SCPS_OWNER_APPLICATION || o == SCPS_OWNER_LISTENER || o == SCPS_OWNER_NOBODY);
}

void pair_look(struct world *w, struct host *h)
{
    struct scps_stack_stats s;
    struct scps_endpoint at;
    uint32_t n = 0;

    MUST(scps_stack_now(h->st) <= w->now);
    MUST(scps_stack_has_addr(h->st, &h->addr) == (!h->no_addr && !h->gone));
    MUST(!scps_stack_is_predictable(h->st));
    scps_stack_get_stats(h->st, &s);
    for (struct scps_conn *c = NULL; (c = scps_stack_next_conn(h->st, c)); n++)
        one_of(h, c);
    MUST(n <= s.conns); /* one that has ended and has no owner is not returned any more */
    MUST(s.memory <= s.memory_peak && s.listeners == !!h->l && s.half_open <= s.conns);
    MUST(s.dgrams >= !!h->dgram);
    if (h->l) {
        scps_listener_local(h->l, &at);
        MUST(at.port == LISTEN_PORT && scps_stack_port_busy(h->st, &at));
        MUST(scps_listener_user(h->l) == h);
    }
}
