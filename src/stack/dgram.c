/* SPDX-License-Identifier: MIT */
/* Datagram endpoints: opening, connecting, receiving, and ICMP errors about datagrams sent (RFC
 * 1122 section 4.1).
 *
 * An arriving datagram goes to the endpoint with its destination port. If several have that port,
 * one connected to the sender comes first, then one bound to the destination address, then the one
 * opened last. The datagram is copied once, into the endpoint's queue.
 *
 * An ICMP error is reported to the endpoint with the quoted port, whether that endpoint is
 * connected to a peer or not (RFC 1122 section 4.1.3.3 requires that the application gets each
 * one). Other hosts can guess the addresses and ports of a datagram, so an error is reported but
 * ends nothing. A Packet Too Big message lowers the path MTU of an endpoint that is connected to
 * the quoted destination, for ten minutes (RFC 1191 section 6.3), but only if it quotes length and
 * checksum of a datagram that the endpoint has sent. Without this check one forged message would
 * make each larger datagram fail for ten minutes. RFC 8085 section 5.2 asks for such a check, that
 * ICMP messages are "received in response to transmitted traffic (i.e., a reported error condition
 * that corresponds to a UDP datagram actually sent by the application)".
 */
#include "stack/dgram.h"

#include "base/prng.h"
#include "base/sized.h"

#define EACH 64u /* octets charged to the receive buffer for each datagram besides its data */

void scps_dgram_config_init(struct scps_dgram_config *cfg, size_t size)
{
    static const struct scps_dgram_config defaults = {
        .sndbuf = 64u << 10, .rcvbuf = 256u << 10, .ttl = 64};

    scps_sized_give_own(cfg, size, &defaults, sizeof defaults);
}

/* Copies the configuration *from to *to. from->size tells which version of the structure the caller
 * was compiled with; fields that this version did not have get their defaults. from NULL: all
 * defaults. Returns false if no version has that size. */
static bool copy(struct scps_dgram_config *to, const struct scps_dgram_config *from)
{
    scps_dgram_config_init(to, sizeof *to);
    return !from ||
           scps_sized_take_own(to, sizeof *to, from, SCPS_SIZED_TO(scps_dgram_config, tos));
}

/* ---- functions that find endpoints by port, and count them ---- */

/* Returns the endpoint that receives a datagram of flow f; NULL: there is none. */
static struct scps_dgram *find_dgram(const struct scps_stack *st, const struct scps_flow *f)
{
    struct scps_dgram *best = NULL;
    int most = -1;

    if (!st->dgrams)
        return NULL;
    for (struct scps_dgram *d = *scps_dgram_bucket(st, f->lport); d; d = d->next) {
        const struct scps_addr *at = &d->local.addr;
        int score = 0;
        if (d->local.port != f->lport || (at->family && at->family != f->local.family))
            continue;
        if (!scps_stack_any(at)) {
            if (!scps_addr_equal(at, &f->local))
                continue;
            score += 1;
        }
        if (d->remote.addr.family) {
            if (d->remote.port != f->rport || !scps_addr_equal(&d->remote.addr, &f->remote))
                continue;
            score += 2;
        }
        if (score > most) {
            best = d;
            most = score;
        }
    }
    return best;
}

/* Returns true if an open datagram endpoint uses the port of `local` with the same address, or one
 * of both addresses is unspecified (any address). shared: the new endpoint was opened with
 * scps_dgram_config.reuse; then endpoints that were opened with it, too, do not count. */
static bool taken(const struct scps_stack *st, const struct scps_endpoint *local, bool shared)
{
    if (!st->dgrams)
        return false;
    for (const struct scps_dgram *d = *scps_dgram_bucket(st, local->port); d; d = d->next)
        if (d->local.port == local->port && !(shared && d->cfg.reuse) &&
            scps_port_overlap(&d->local.addr, &local->addr))
            return true;
    return false;
}

bool scps_dgram_port_busy(const struct scps_stack *st, const struct scps_endpoint *local)
{
    return taken(st, local, false);
}

uint32_t scps_dgram_count(const struct scps_stack *st)
{
    return st->dgrams ? st->dgrams->n : 0;
}

/* ---- functions that open and close endpoints ---- */

/* Sets local->port to a free port in the configured range; local->addr must be set before (RFC 6056
 * section 3.3.1). Returns 0; SCPS_ERR_ADDRINUSE: no port is free. */
static int choose_port(struct scps_stack *st, struct scps_endpoint *local)
{
    uint32_t range = (uint32_t)(st->cfg.port_max - st->cfg.port_min) + 1, first;
    uint8_t msg[5] = {'d'};

    scps_put32(msg + 1, st->dgrams->port_next++);
    first = (uint32_t)(scps_siphash(st->env.key, msg, sizeof msg) % range);
    for (uint32_t i = 0; i < range; i++) {
        local->port = (uint16_t)(st->cfg.port_min + (first + i) % range);
        if (!taken(st, local, false))
            return 0;
    }
    return SCPS_ERR_ADDRINUSE;
}

static struct scps_addr only_its_own(const struct scps_addr *a)
{
    struct scps_addr out = *a;
    size_t n = a->family == 4 ? 4 : a->family == 6 ? 16 : 0;

    memset(out.b + n, 0, sizeof out.b - n);
    return out;
}

/* Checks whether a datagram endpoint can be opened at *local, and chooses its port if that is 0.
 * shared: the new endpoint allows others at its address and port. Returns 0; SCPS_ERR_INVAL:
 * unknown family; SCPS_ERR_ADDRNOTAVAIL: not an address of this host; SCPS_ERR_ADDRINUSE: another
 * endpoint uses address and port. */
static int choose_local(struct scps_stack *st, bool shared, struct scps_endpoint *local)
{
    local->addr = only_its_own(&local->addr);
    if (local->addr.family && local->addr.family != 4 && local->addr.family != 6)
        return SCPS_ERR_INVAL;
    if (!scps_stack_any(&local->addr) && !scps_stack_has_addr(st, &local->addr))
        return SCPS_ERR_ADDRNOTAVAIL;
    if (!local->port)
        return choose_port(st, local);
    return taken(st, local, shared) ? SCPS_ERR_ADDRINUSE : 0;
}

static void *zeroed(struct scps_stack *st, size_t size)
{
    void *p = st->env.alloc.alloc(st->env.alloc.ctx, size);

    return p ? memset(p, 0, size) : NULL;
}

struct scps_dgram *scps_dgram_open(struct scps_stack *st, const struct scps_dgram_config *cfg,
                                   const struct scps_endpoint *local, int *err)
{
    struct scps_endpoint at = local ? *local : (struct scps_endpoint){0};
    struct scps_dgram_config own;
    struct scps_dgram *d;
    int dummy;

    err = err ? err : &dummy;
    *err = SCPS_ERR_RANGE;
    if (!copy(&own, cfg))
        return NULL;
    *err = SCPS_ERR_NOMEM;
    if (!st->dgrams)
        st->dgrams = zeroed(st, sizeof *st->dgrams);
    if (!st->dgrams)
        return NULL;
    *err = choose_local(st, own.reuse, &at);
    if (*err)
        return NULL;
    d = zeroed(st, sizeof *d);
    if (!d) {
        *err = SCPS_ERR_NOMEM;
        return NULL;
    }
    d->st = st;
    d->cfg = own;
    d->local = at;
    d->asked = at.addr;
    scps_dgram_enter(d);
    return d;
}

void scps_dgram_free_all(struct scps_stack *st)
{
    const struct scps_alloc *a = &st->env.alloc;

    if (!st->dgrams)
        return;
    for (struct scps_dgram *d; (d = scps_dgram_each(st, NULL));)
        scps_dgram_close(d);
    while (st->dgrams->closed)
        scps_dgram_free(st->dgrams->closed);
    a->free(a->ctx, st->dgrams, sizeof *st->dgrams);
    st->dgrams = NULL;
}

/* Connects d to the endpoint `to`, with `from` as the local address. Datagrams that wait to be sent
 * get the new source address, so their routes are looked up again. */
static void set_peer(struct scps_dgram *d, const struct scps_endpoint *to,
                     const struct scps_addr *from)
{
    d->local.addr = *from;
    d->remote = *to;
    d->pmtu = 0;
    scps_dgram_forget_sent(d);
    scps_dgram_reroute(d);
}

int scps_dgram_connect(struct scps_dgram *d, const struct scps_endpoint *remote)
{
    static const struct scps_endpoint no_peer;
    struct scps_stack *st = d->st;
    const struct scps_addr *src = &d->asked;
    const struct scps_route_entry *entry;
    struct scps_endpoint to;

    if (!remote) {
        set_peer(d, &no_peer, &d->asked);
        return 0;
    }
    to = (struct scps_endpoint){only_its_own(&remote->addr), remote->port};
    if (!to.port || (to.addr.family != 4 && to.addr.family != 6))
        return SCPS_ERR_INVAL;
    if (!scps_route_unicast(&to.addr))
        return SCPS_ERR_BADADDR;
    entry = scps_route_find(st, &to.addr);
    if (!entry)
        return SCPS_ERR_UNREACH;
    if (d->asked.family && d->asked.family != to.addr.family)
        return SCPS_ERR_ADDRNOTAVAIL;
    if (scps_stack_any(&d->asked))
        src = scps_route_source(st, scps_nif_of(entry->route.nif), &to.addr);
    if (!src)
        return SCPS_ERR_ADDRNOTAVAIL;
    set_peer(d, &to, src);
    return 0;
}

/* ---- functions that receive datagrams ---- */

int scps_dgram_input(struct scps_stack *st, struct scps_nif *nif, const struct scps_ip *ip,
                     const struct scps_udp *u, const struct scps_pkt *in)
{
    struct scps_flow f = {ip->dst, ip->src, u->dport, u->sport};
    struct scps_dgram *d = find_dgram(st, &f);
    size_t apart = u->apart ? u->apart_len : 0, hollow = u->apart_len - apart;
    uint32_t bytes = (uint32_t)(u->len + u->apart_len);
    struct scps_dgram_in *rec = NULL;
    uint8_t *data;

    if (!d) {
        scps_answer_port_unreachable(st, nif, ip, in->data, SCPS_MIN(in->len, ip->total_len));
        return scps_stack_drop(st, SCPS_DROP_NO_UDP_PORT);
    }
    if (!d->in_used || (uint64_t)d->in_used + bytes + EACH <= d->cfg.rcvbuf)
        rec = scps_recring_put(&d->in, &st->env.alloc, (uint32_t)(sizeof *rec + u->len + apart),
                               SCPS_DGRAM_RING);
    if (!rec) {
        d->count.full++;
        return scps_stack_drop(st, SCPS_DROP_UDP_QUEUE_FULL);
    }
    rec->from = (struct scps_dgram_from){.remote = {ip->src, u->sport},
                                         .local = ip->dst,
                                         .tos = ip->tos,
                                         .at = in->at,
                                         .hollow = hollow};
    rec->len = bytes - (uint32_t)hollow;
    data = (uint8_t *)(rec + 1);
    if (u->len)
        memcpy(data, u->data, u->len);
    if (apart)
        memcpy(data + u->len, u->apart, apart);
    d->in_used += bytes + EACH;
    d->count.in++;
    d->count.in_bytes += bytes;
    st->count.datagrams_in++;
    scps_dgram_notify(d, SCPS_EV_READABLE);
    return 0;
}

int64_t scps_dgram_recv(struct scps_dgram *d, void *buf, size_t len, unsigned flags,
                        struct scps_dgram_from *from)
{
    uint32_t size, bytes;
    const struct scps_dgram_in *rec = scps_recring_front(&d->in, &size);
    size_t stored;

    if (!rec)
        return SCPS_ERR_AGAIN;
    bytes = rec->len + (uint32_t)rec->from.hollow;
    stored = SCPS_MIN(len, rec->len);
    if (stored)
        memcpy(buf, rec + 1, stored);
    if (len > stored && rec->from.hollow)
        memset((uint8_t *)buf + stored, 0, SCPS_MIN(len, bytes) - stored);
    if (from)
        *from = rec->from;
    if (!(flags & SCPS_PEEK)) {
        d->in_used -= bytes + EACH;
        scps_recring_pop(&d->in);
    }
    return bytes;
}

int64_t scps_dgram_next(struct scps_dgram *d)
{
    return scps_dgram_recv(d, NULL, 0, SCPS_PEEK, NULL);
}

/* ---- functions that report errors to an endpoint ---- */

void scps_dgram_fail(struct scps_dgram *d, int err, unsigned icmp,
                     const struct scps_endpoint *about)
{
    d->err = err;
    d->icmp = icmp;
    d->err_about = *about;
    scps_dgram_notify(d, SCPS_EV_ERROR);
}

/* Returns true if m, a Packet Too Big message to d, quotes a datagram that d has sent to its peer,
 * and gives an MTU that this datagram exceeds (RFC 8899 section 4.6.1). */
static bool is_credible(const struct scps_dgram *d, const struct scps_icmp *m)
{
    /* Without DF a router fragments IPv4 packets that are too big, and sends no such message. */
    if (!d->remote.addr.family || !m->mtu || (d->cfg.df_off && m->quote.version == 4))
        return false;
    return m->mtu < m->quote.total_len && scps_dgram_has_sent(d, m->seq);
}

/* Lowers the path MTU of d to mtu, bytes, which a Packet Too Big message over IP version `family`
 * (4 or 6) has reported. RFC 8201 section 4: "A node must not increase its estimate of the Path MTU
 * in response to the contents of a Packet Too Big message", and RFC 1191 section 3 the same: a
 * lower estimate is kept until it is SCPS_DGRAM_PMTU_GOOD old. */
static void lower_pmtu(struct scps_dgram *d, uint8_t family, uint32_t mtu)
{
    mtu = SCPS_MAX(mtu, scps_icmp_least_mtu(family));
    if (scps_dgram_knows_pmtu(d) && mtu > d->pmtu)
        return;
    d->pmtu = mtu;
    d->pmtu_at = d->st->env.now;
}

bool scps_dgram_icmp(struct scps_stack *st, const struct scps_icmp *m)
{
    struct scps_flow f = {m->quote.src, m->quote.dst, m->sport, m->dport};
    struct scps_dgram *d = find_dgram(st, &f);
    int err = scps_icmp_err(m->kind);

    if (!d || !err)
        return false;
    if (err == SCPS_ERR_MSGSIZE && is_credible(d, m))
        lower_pmtu(d, f.remote.family, m->mtu);
    scps_dgram_fail(d, err, (unsigned)m->type << 8 | m->code,
                    &(struct scps_endpoint){f.remote, f.rport});
    return true;
}

void scps_dgram_linkdown(struct scps_stack *st, const struct scps_nif *nif)
{
    for (struct scps_dgram *d = NULL; (d = scps_dgram_each(st, d));) {
        const struct scps_route_entry *entry =
            d->remote.addr.family ? scps_route_find(st, &d->remote.addr) : NULL;
        if (entry && scps_nif_of(entry->route.nif) == nif)
            scps_dgram_fail(d, SCPS_ERR_LINKDOWN, 0, &d->remote);
    }
}

void scps_dgram_addr_gone(struct scps_stack *st, const struct scps_addr *addr)
{
    for (struct scps_dgram *d = NULL; (d = scps_dgram_each(st, d));)
        if (scps_addr_equal(&d->local.addr, addr))
            scps_dgram_fail(d, SCPS_ERR_ADDRNOTAVAIL, 0, &d->local);
}

int scps_dgram_error(struct scps_dgram *d, struct scps_endpoint *about, unsigned *icmp)
{
    int err = d->err;

    if (about && err)
        *about = d->err_about;
    if (icmp && err)
        *icmp = d->icmp;
    d->err = 0;
    scps_dgram_clear_event(d, SCPS_EV_ERROR);
    return err;
}

/* ---- functions that return information about an endpoint ---- */

void scps_dgram_local(const struct scps_dgram *d, struct scps_endpoint *out)
{
    *out = d->local;
}

void scps_dgram_remote(const struct scps_dgram *d, struct scps_endpoint *out)
{
    *out = d->remote;
}

void scps_dgram_set_user(struct scps_dgram *d, void *user)
{
    d->user = user;
}

int scps_dgram_set_config(struct scps_dgram *d, const struct scps_dgram_config *cfg)
{
    struct scps_dgram_config own;

    if (!copy(&own, cfg))
        return SCPS_ERR_RANGE;
    d->cfg = own;
    return 0;
}

void scps_dgram_get_config_sized(const struct scps_dgram *d, struct scps_dgram_config *out,
                                 size_t size)
{
    scps_sized_give_own(out, size, &d->cfg, sizeof d->cfg);
}

void scps_dgram_get_stats_sized(const struct scps_dgram *d, struct scps_dgram_stats *out,
                                size_t size)
{
    scps_sized_give(out, size, &d->count, sizeof d->count);
}
