/* SPDX-License-Identifier: MIT */
/* Values that an attacker must not guess: initial sequence numbers (RFC 6528), ports (RFC 6056),
 * offsets of timestamps (RFC 7323 section 5.4). */
#include "stack/stack.h"

#include "base/bytes.h"
#include "base/prng.h"

static uint64_t secret(const struct scps_stack *st, const struct scps_flow *f, bool with_lport,
                       uint8_t salt)
{
    uint8_t msg[38] = {salt};

    memcpy(msg + 1, f->local.b, 16);
    memcpy(msg + 17, f->remote.b, 16);
    scps_put16(msg + 33, f->rport);
    if (with_lport)
        scps_put16(msg + 35, f->lport);
    msg[37] = f->local.family;
    return scps_siphash(st->env.key, msg, sizeof msg);
}

uint32_t scps_isn(const struct scps_stack *st, const struct scps_flow *f)
{
    return (uint32_t)(st->env.now / 4) + (uint32_t)secret(st, f, true, 'i');
}

uint32_t scps_ts_offset(const struct scps_stack *st, const struct scps_flow *f)
{
    return (uint32_t)secret(st, f, false, 't');
}

static bool listened(const struct scps_stack *st, const struct scps_flow *f)
{
    return scps_listener_find(st, &f->local, f->lport) != NULL;
}

uint16_t scps_port_choose(struct scps_stack *st, const struct scps_flow *flow)
{
    uint32_t range = (uint32_t)(st->cfg.port_max - st->cfg.port_min) + 1;
    struct scps_flow f = *flow;
    uint32_t offset = (uint32_t)secret(st, &f, false, 'p');

    for (uint32_t tries = 0; tries < range; tries++) {
        f.lport = (uint16_t)(st->cfg.port_min + (offset + st->port_next++) % range);
        if (!scps_demux_taken(st, &f) && !listened(st, &f))
            return f.lport;
    }
    return 0;
}

bool scps_port_overlap(const struct scps_addr *a, const struct scps_addr *b)
{
    return !a->family || !b->family ||
           (a->family == b->family &&
            (scps_stack_any(a) || scps_stack_any(b) || scps_addr_equal(a, b)));
}

bool scps_stack_port_busy(const struct scps_stack *st, const struct scps_endpoint *local)
{
    for (const struct scps_listener *l = st->listeners; l; l = l->next)
        if (l->local.port == local->port && scps_port_overlap(&l->local.addr, &local->addr))
            return true;
    for (const struct scps_conn *c = NULL; (c = scps_demux_next(st, c));)
        if (c->lport == local->port && scps_port_overlap(&c->local, &local->addr) &&
            c->state != SCPS_CLOSED)
            return true;
    return false;
}
