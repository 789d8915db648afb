/* SPDX-License-Identifier: MIT */
/* Active open: chooses the configuration, the addresses and the ports of a new connection, and
 * starts the handshake, so that a SYN is sent next. */
#include "stack/connid.h"
#include "stack/stack.h"

#include "base/bytes.h"
#include "base/line.h"

/* Returns a configuration that equals *own, with one reference for the caller. Most connections are
 * opened with the same configuration as the connection before, and then share its copy. rated: the
 * route has a rate limit. Returns NULL with an error SCPS_ERR_* in *err if *own is invalid or there
 * is no memory. */
static struct scps_shared_config *
share_config(struct scps_stack *st, const struct scps_conn_config *own, bool rated, int *err)
{
    const struct scps_alloc *a = &st->env.alloc;
    struct scps_shared_config *s = scps_config_new(&st->env, own, rated, err);

    if (!s)
        return NULL;
    if (st->recent && !memcmp(&s->c, &st->recent->c, sizeof s->c)) {
        scps_config_unref(a, s);
        s = st->recent;
    } else {
        scps_config_unref(a, st->recent);
        st->recent = s;
    }
    scps_config_ref(s);
    return s;
}

/* Finds the route to remote, sets *entry to it, and fills in *f, the addresses and ports of the new
 * connection: the parts of the local endpoint that `local` leaves open are chosen. Returns 0 or
 * SCPS_ERR_*. */
static int choose_flow(struct scps_stack *st, const struct scps_endpoint *local,
                       const struct scps_endpoint *remote, struct scps_flow *f,
                       const struct scps_route_entry **entry)
{
    if (!remote || !remote->port || (remote->addr.family != 4 && remote->addr.family != 6))
        return SCPS_ERR_INVAL;
    f->remote = remote->addr;
    memset(f->remote.b + (f->remote.family == 4 ? 4 : 16), 0, f->remote.family == 4 ? 12 : 0);
    f->rport = remote->port;
    /* RFC 9293 MUST-46: opening to a broadcast or multicast address is an error. */
    if (!scps_route_unicast(&f->remote) || scps_route_broadcast(st, &f->remote))
        return SCPS_ERR_BADADDR;
    *entry = scps_route_find(st, &f->remote);
    if (!*entry)
        return SCPS_ERR_UNREACH;
    if (local && !scps_stack_any(&local->addr)) {
        if (local->addr.family != f->remote.family || !scps_stack_has_addr(st, &local->addr))
            return SCPS_ERR_ADDRNOTAVAIL;
        f->local = local->addr;
    } else {
        const struct scps_addr *src =
            scps_route_source(st, scps_nif_of((*entry)->route.nif), &f->remote);
        if (!src)
            return SCPS_ERR_ADDRNOTAVAIL;
        f->local = *src;
    }
    f->lport = local && local->port ? local->port : scps_port_choose(st, f);
    if (!f->lport)
        return SCPS_ERR_ADDRNOTAVAIL;
    return local && local->port && scps_demux_taken(st, f) ? SCPS_ERR_ADDRINUSE : 0;
}

struct scps_conn *scps_connect(struct scps_stack *st, const struct scps_conn_config *cfg,
                               const struct scps_endpoint *local,
                               const struct scps_endpoint *remote, int *err)
{
    const struct scps_alloc *a = &st->env.alloc;
    struct scps_flow f = {0};
    const struct scps_route_entry *entry;
    struct scps_line no_text = {NULL, 0};
    struct scps_conn_config own;
    struct scps_shared_config *shared;
    struct scps_conn *c;
    int dummy;

    err = err ? err : &dummy;
    scps_stack_reap(st);
    *err = choose_flow(st, local, remote, &f, &entry);
    if (!*err)
        *err = scps_config_take(&own, cfg, &no_text);
    if (*err)
        return NULL;
    const struct scps_route *r = &entry->route;
    if (!own.expected_rtt)
        own.expected_rtt = r->expected_rtt;
    if (own.loss_cause == SCPS_LOSS_CONGESTION)
        own.loss_cause = r->loss_cause;
    shared = share_config(st, &own, r->rate != 0, err);
    if (!shared)
        return NULL;
    c = scps_conn_instead_of(st, shared, &f, scps_nif_of(r->nif), entry, SCPS_GIVE_WAY, err);
    scps_config_unref(a, shared);
    if (!c)
        return NULL;
    if (scps_plain_known(st, &c->remote))
        scps_agreed_plainly(&c->s.agreed, SCPS_PLAIN_REMEMBERED);
    else if (c->s.ctx.cfg->c.compress)
        /* If no connection id is free, scps_connid_give() leaves c without one, and the SYN of c
         * does not offer header compression. */
        scps_connid_give(st, c);
    if (scps_conn_open(c)) {
        scps_stack_discard(st, c);
        *err = SCPS_ERR_NOMEM;
        return NULL;
    }
    return c;
}

struct scps_stack *scps_conn_stack(const struct scps_conn *c)
{
    return (struct scps_stack *)c->s.ctx.env;
}
