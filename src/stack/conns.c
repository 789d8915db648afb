/* SPDX-License-Identifier: MIT */
/* Creates connections, assigns each its netif (network interface) and route, enters it into all
 * tables, and removes it. */
#include "stack/connid.h"
#include "stack/stack.h"

#include "base/bytes.h"

/* Least MSS that is used, octets, even if the MTU of the netif leaves less; scps_agreed_full() has
 * the same bound. */
#define LEAST_MSS 8

uint16_t scps_stack_mss(const struct scps_stack *st, const struct scps_nif *nif,
                        const struct scps_route_entry *entry, uint8_t family)
{
    uint32_t over = family == 4 ? 40 : 60, mtu = nif->nif->mtu;

    if (entry && entry->route.nif == nif->nif && entry->route.mtu)
        mtu = SCPS_MIN(mtu, entry->route.mtu);
    if (st->reserve)
        mtu = SCPS_MIN(mtu, st->reserve->fixed.mss + over);
    mtu = SCPS_MIN(mtu, 65535);
    /* A driver may lower the MTU of its netif at any time, even below the length of the headers;
     * the MSS is LEAST_MSS then. */
    return (uint16_t)(SCPS_MAX(mtu, over + LEAST_MSS) - over);
}

struct scps_conn *scps_stack_conn(struct scps_stack *st, struct scps_shared_config *cfg,
                                  const struct scps_flow *f, struct scps_nif *nif,
                                  const struct scps_route_entry *entry, int *err)
{
    struct scps_conn *c;
    uint16_t mss;

    *err = SCPS_ERR_LIMIT;
    if (st->n_conns >= st->cfg.max_conns)
        return NULL;
    scps_connid_expire(st);
    *err = SCPS_ERR_NOMEM;
    if (scps_heap_reserve(&st->env.deadlines, st->n_conns + 1))
        return NULL;
    c = scps_conn_new(&st->env, cfg);
    if (!c)
        return NULL;
    c->local = f->local;
    c->remote = f->remote;
    c->lport = f->lport;
    c->rport = f->rport;
    if (scps_demux_add(st, c)) {
        scps_conn_free(c);
        return NULL;
    }
    scps_send_begin(&c->s.snd, scps_isn(st, f));
    scps_ts_begin(&c->ts, scps_ts_offset(st, f));
    scps_sender_ip(&c->s, f->remote.family == 6);
    scps_sender_serve(&c->s, scps_route_ready_queue(entry, nif));
    if (!++st->next_id)
        ++st->next_id;
    c->s.ctx.id = st->next_id;
    mss = scps_stack_mss(st, nif, entry, f->local.family);
    scps_agreed_announce(&c->s.agreed, cfg->c.mss ? SCPS_MIN(mss, cfg->c.mss) : mss);
    scps_conn_set_pmtu_mss(&c->s, mss);
    st->n_conns++;
    *err = 0;
    return c;
}

void scps_stack_discard(struct scps_stack *st, struct scps_conn *c)
{
    /* In the rare case that the application has closed the connection without fetching its events,
     * remove it from the queue of events. */
    if (c->notify.listed)
        scps_queue_remove(&st->env.events, &c->link);
    scps_listener_forget(c);
    scps_demux_remove(st, c);
    for (struct scps_nif *nif = st->nifs; nif; nif = nif->next)
        scps_lastflow_forget(&nif->last, c);
    if (c->s.tp)
        scps_connid_release(st, c);
    st->n_conns--;
    scps_conn_free(c);
}

SCPS_NOINLINE void scps_stack_reap(struct scps_stack *st)
{
    while (st->env.dead) {
        struct scps_conn *c = scps_conn_of(st->env.dead);
        scps_sender_dequeue_free(&c->s);
        scps_stack_discard(st, c);
    }
}
