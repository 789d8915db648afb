/* SPDX-License-Identifier: MIT */
/* Sending of datagrams.
 *
 *     scps_dgram_send -> the endpoint's queue -> ready queue of its link, or of its route's shaper
 *     -> a packet
 *
 * An endpoint is in the ready queue of the link or route that its oldest datagram uses; the
 * endpoints of a queue send in turn, one datagram each. Datagrams share the token bucket of a route
 * with a rate (core/gate.c) with connections: both kinds alternate, each with as many bytes as the
 * largest packet. While it is the turn of one kind, and its next packet waits for tokens, the
 * second kind does not use these tokens.
 *
 * No memory is allocated for a packet: the packet points to its octets in the send queue, which
 * keeps them until the next datagram is queued. So an endpoint that was closed while datagrams
 * waited is not freed when its last datagram is sent, but in the next call that looks for a
 * datagram to send.
 *
 * Every datagram has a checksum (RFC 1122 section 4.1.3.4), and the DF bit unless the configuration
 * switches DF off; without DF each datagram has its own IP identification (RFC 6864 section 4.2).
 */
#include "stack/dgram.h"

#include "base/bytes.h"

#define UDP_HDR 8u
#define MOST    65535u

static uint32_t ip_header(uint8_t family)
{
    return family == 4 ? 20 : 40;
}

/* Returns the length of the IP packet of the datagram with header *rec. */
static uint32_t packet(const struct scps_dgram_out *rec)
{
    return ip_header(rec->to.addr.family) + UDP_HDR + rec->len + rec->hollow;
}

/* Returns the largest packet that d may send to addr through route w, bytes. */
static uint32_t mtu_to(const struct scps_dgram *d, const struct scps_route_entry *w,
                       const struct scps_addr *addr)
{
    const struct scps_route *r = &w->route;
    uint32_t mtu = r->mtu ? SCPS_MIN(r->mtu, r->nif->mtu) : r->nif->mtu;

    if (scps_dgram_knows_pmtu(d) && scps_addr_equal(addr, &d->remote.addr))
        mtu = SCPS_MIN(mtu, d->pmtu);
    return SCPS_MIN(mtu, MOST);
}

static const struct scps_addr *source(const struct scps_dgram *d, const struct scps_route_entry *w,
                                      const struct scps_addr *to)
{
    if (!scps_stack_any(&d->local.addr))
        return d->local.addr.family == to->family && scps_stack_has_addr(d->st, &d->local.addr)
                   ? &d->local.addr
                   : NULL;
    if (d->local.addr.family && d->local.addr.family != to->family)
        return NULL;
    return scps_route_source(d->st, scps_nif_of(w->route.nif), to);
}

/* Sets *entry to the route by which a datagram of d reaches the endpoint `to`. Returns 0 or
 * SCPS_ERR_*. */
static int find_route(const struct scps_dgram *d, const struct scps_endpoint *to,
                      const struct scps_route_entry **entry)
{
    if (!to->addr.family)
        return SCPS_ERR_NOTCONN;
    if (!to->port || (to->addr.family != 4 && to->addr.family != 6))
        return SCPS_ERR_INVAL;
    if (!scps_route_unicast(&to->addr))
        return SCPS_ERR_BADADDR;
    *entry = scps_route_find(d->st, &to->addr);
    if (!*entry)
        return SCPS_ERR_UNREACH;
    return source(d, *entry, &to->addr) ? 0 : SCPS_ERR_ADDRNOTAVAIL;
}

uint32_t scps_dgram_room(const struct scps_dgram *d, const struct scps_endpoint *to)
{
    const struct scps_route_entry *entry;
    uint32_t over, mtu;

    to = to ? to : &d->remote;
    if (find_route(d, to, &entry))
        return 0;
    over = ip_header(to->addr.family) + UDP_HDR;
    mtu = mtu_to(d, entry, &to->addr);
    return mtu > over ? mtu - over : 0;
}

uint32_t scps_dgram_unsent(const struct scps_dgram *d)
{
    return d->out_used;
}

bool scps_dgram_writable(const struct scps_dgram *d)
{
    return !d->wants_room && d->out_used <= d->cfg.sndbuf / 2;
}

/* ---- functions that put endpoints into ready queues ---- */

/* Returns true if the send queue of d has room for a packet of `size` bytes: an empty one has room
 * for any packet. */
static bool has_room(const struct scps_dgram *d, uint32_t size)
{
    return !d->out_used || (uint64_t)d->out_used + size <= d->cfg.sndbuf;
}

static void room_again(struct scps_dgram *d)
{
    d->wants_room = 0;
    d->starved = false;
    scps_dgram_notify(d, SCPS_EV_WRITABLE);
}

void scps_dgram_trim(struct scps_stack *st)
{
    if (st->env.fixed)
        return;
    for (struct scps_dgram *d = NULL; (d = scps_dgram_each(st, d));) {
        if (scps_recring_empty(&d->in))
            scps_recring_fini(&d->in, &st->env.alloc);
        if (scps_recring_empty(&d->out))
            scps_recring_fini(&d->out, &st->env.alloc);
    }
}

void scps_dgram_memory(struct scps_stack *st)
{
    for (struct scps_dgram *d = NULL; (d = scps_dgram_each(st, d));)
        if (d->starved)
            room_again(d);
}

static void pop(struct scps_dgram *d, const struct scps_dgram_out *rec)
{
    d->out_used -= packet(rec);
    scps_recring_pop(&d->out);
    if (scps_recring_empty(&d->out))
        scps_dgram_notify(d, SCPS_EV_DRAINED);
    if (d->wants_room && d->out_used <= d->cfg.sndbuf / 2 && has_room(d, d->wants_room))
        room_again(d);
}

/* Puts d into the ready queue of its oldest datagram's route. Datagrams that have no route, or are
 * larger than its MTU, are dropped and counted as unsent. Returns false if no datagram is left. */
static bool place(struct scps_dgram *d)
{
    const struct scps_dgram_out *rec;
    const struct scps_route_entry *entry;
    uint32_t size;

    while ((rec = scps_recring_front(&d->out, &size))) {
        if (!find_route(d, &rec->to, &entry) && packet(rec) <= mtu_to(d, entry, &rec->to.addr)) {
            d->nif = scps_nif_of(entry->route.nif);
            d->shaper = entry->shaper;
            scps_dgram_make_ready(d);
            return true;
        }
        d->count.unsent++;
        pop(d, rec);
    }
    return false;
}

void scps_dgram_reroute(struct scps_dgram *d)
{
    if (!d->ready)
        return;
    scps_dgram_dequeue(d);
    if (!place(d) && d->closed)
        scps_dgram_free(d);
}

void scps_dgram_regroup(struct scps_stack *st)
{
    if (!st->dgrams)
        return;
    for (struct scps_dgram *d = NULL; (d = scps_dgram_each(st, d));)
        scps_dgram_reroute(d);
    for (struct scps_dgram *d = st->dgrams->closed, *next; d; d = next) {
        next = d->next;
        scps_dgram_reroute(d);
    }
}

int scps_dgram_send(struct scps_dgram *d, const struct scps_endpoint *to, const void *data,
                    size_t len, size_t hollow)
{
    const struct scps_route_entry *entry;
    struct scps_dgram_out *rec;
    uint32_t over, size;
    int err;

    to = to ? to : &d->remote;
    err = find_route(d, to, &entry);
    if (err)
        return err;
    if (hollow && (len > SCPS_DGRAM_PREFIX || !(entry->route.nif->flags & SCPS_NETIF_HOLLOW)))
        return SCPS_ERR_INVAL;
    over = ip_header(to->addr.family) + UDP_HDR;
    if (len > MOST || hollow > MOST || over + len + hollow > mtu_to(d, entry, &to->addr))
        return SCPS_ERR_MSGSIZE;
    size = (uint32_t)(over + len + hollow);
    if (!has_room(d, size)) {
        d->wants_room = size;
        return SCPS_ERR_AGAIN;
    }
    rec = scps_recring_put(&d->out, &d->st->env.alloc, (uint32_t)(sizeof *rec + len),
                           SCPS_DGRAM_RING);
    if (!rec) {
        d->wants_room = size;
        d->starved = true;
        scps_env_starved(&d->st->env);
        return SCPS_ERR_NOMEM;
    }
    *rec = (struct scps_dgram_out){*to, (uint32_t)len, (uint32_t)hollow};
    if (len)
        memcpy(rec + 1, data, len);
    d->out_used += packet(rec);
    if (!d->ready)
        place(d);
    return 0;
}

/* ---- functions that record the datagrams which a Packet Too Big message may quote ---- */

bool scps_dgram_has_sent(const struct scps_dgram *d, uint32_t fields)
{
    for (unsigned i = 0; i < SCPS_SENT_DGRAMS; i++)
        if (d->sent.v[i] == fields)
            return fields != 0;
    return false;
}

void scps_dgram_forget_sent(struct scps_dgram *d)
{
    d->sent = (struct scps_sent_dgrams){{0}, 0, 0};
}

/* Records in d->sent that datagram *rec is sent through route entry; udp: its UDP header. Ignores a
 * datagram to another address or port than d's peer, and a datagram that is not longer than the
 * least path MTU of its IP version. */
static void record_sent(struct scps_dgram *d, const struct scps_route_entry *entry,
                        const struct scps_dgram_out *rec, const uint8_t *udp)
{
    struct scps_sent_dgrams *s = &d->sent;
    scps_time now = d->st->env.now;

    if (packet(rec) <= scps_icmp_least_mtu(rec->to.addr.family) || rec->to.port != d->remote.port ||
        !scps_addr_equal(&rec->to.addr, &d->remote.addr))
        return;
    if (now >= s->next_at) {
        s->next_at = now + 2 * SCPS_MAX(entry->route.expected_rtt, SCPS_SEC(1)) / SCPS_SENT_DGRAMS;
        s->newest = (s->newest + 1) % SCPS_SENT_DGRAMS;
    } else if (scps_get16(udp + 4) <= s->v[s->newest] >> 16) {
        return;
    }
    s->v[s->newest] = scps_get32(udp + 4);
}

/* ---- functions that build the packet of a datagram ---- */

static void build(struct scps_dgram *d, const struct scps_dgram_out *rec, struct scps_pkt *out)
{
    struct scps_stack *st = d->st;
    const struct scps_route_entry *entry = scps_route_find(st, &rec->to.addr);
    const uint8_t *data = (const uint8_t *)(rec + 1);
    struct scps_udp u = {.sport = d->local.port,
                         .dport = rec->to.port,
                         .data = data,
                         .len = rec->len,
                         .apart_len = rec->hollow};
    struct scps_ip ip = {.src = *source(d, entry, &rec->to.addr),
                         .dst = rec->to.addr,
                         .version = rec->to.addr.family,
                         .proto = SCPS_IPPROTO_UDP,
                         .tos = d->cfg.tos,
                         .ttl = d->cfg.ttl,
                         .df = !d->cfg.df_off,
                         .id = d->cfg.df_off ? st->dgrams->ip_id++ : 0};

    out->len = scps_ip_build(out->data, &ip, UDP_HDR + u.len + u.apart_len);
    out->len += scps_udp_build(out->data + out->len, &ip.src, &ip.dst, &u);
    record_sent(d, entry, rec, out->data + out->len - UDP_HDR);
    out->payload = NULL;
    out->payload_len = rec->hollow;
    /* The stored octets come first in the datagram, then the octets that are counted but not stored
     * (hollow). */
    if (rec->hollow) {
        memcpy(out->data + out->len, data, rec->len);
        out->len += rec->len;
    } else if (rec->len) {
        out->payload = data;
        out->payload_len = rec->len;
    }
    out->gso = 0;
    out->csum_ok = true;
    out->ecn = 0;
    out->at = st->env.now;
}

/* Makes *out the packet of endpoint d's oldest datagram, and removes that datagram. If d has
 * another one, puts d into the ready queue of that datagram's route. Returns the length of the
 * packet, bytes. */
static uint32_t leave(struct scps_dgram *d, struct scps_pkt *out)
{
    struct scps_stack *st = d->st;
    uint32_t size, bytes;
    const struct scps_dgram_out *rec = scps_recring_front(&d->out, &size);

    build(d, rec, out);
    bytes = packet(rec);
    d->count.out++;
    d->count.out_bytes += rec->len + rec->hollow;
    st->count.datagrams_out++;
    pop(d, rec);
    scps_dgram_dequeue(d);
    if (!place(d) && d->closed)
        /* The packet just made points into d's send queue, so d must not be freed yet. d goes into
         * the ready queue once more, and next_dgram() frees it when it looks for the next
         * datagram. */
        scps_dgram_make_ready(d);
    return bytes;
}

/* Returns the endpoint at the front of ready queue q, whose datagram is sent next; NULL: there is
 * none. Frees the closed endpoints before it, which have nothing left to send. */
static struct scps_dgram *next_dgram(const struct scps_queue *q)
{
    struct scps_dgram *d;

    while ((d = scps_dgram_of_ready_link(q->first)) && scps_recring_empty(&d->out))
        scps_dgram_free(d);
    return d;
}

void scps_dgram_drop_closed(struct scps_nif *nif)
{
    for (struct scps_shaper *p = nif->shapers; p; p = p->next)
        next_dgram(&p->dgrams);
    next_dgram(&nif->dgrams);
}

/* Returns the length of the IP packet of d's oldest datagram; 0: none waits. */
static uint32_t first_bytes(struct scps_dgram *d)
{
    uint32_t size;
    const struct scps_dgram_out *rec = scps_recring_front(&d->out, &size);

    return rec ? packet(rec) : 0;
}

scps_time scps_dgram_due(struct scps_shaper *p, scps_time now)
{
    uint32_t bytes = first_bytes(scps_dgram_of_ready_link(p->dgrams.first));

    if (bytes)
        now = scps_gate_when(&p->gate, now, bytes);
    scps_gate_datagram_next(&p->gate, now);
    return now;
}

void scps_dgram_yield(struct scps_ready_queue *t)
{
    struct scps_shaper *p =
        (struct scps_shaper *)((uint8_t *)t - offsetof(struct scps_shaper, ready));

    p->for_dgrams = true;
}

/* Makes *out the packet of d's oldest datagram, whose route has a rate (shaper p). Datagrams and
 * connections of the route take turns: when datagrams have sent p->share bytes in their turn, the
 * connections come next. */
static void leave_pipe(struct scps_shaper *p, struct scps_dgram *d, struct scps_pkt *out)
{
    p->share -= (int32_t)scps_gate_pay(&p->gate, d->st->env.now, leave(d, out));
    if (p->share > 0)
        return;
    p->share += (int32_t)p->gate.quantum;
    p->for_dgrams = false;
}

bool scps_dgram_output(struct scps_stack *st, struct scps_nif *nif, struct scps_pkt *out)
{
    scps_time now = st->env.now;
    struct scps_dgram *d;

    for (struct scps_shaper *p = nif->shapers; p; p = p->next) {
        d = next_dgram(&p->dgrams);
        if (!d || !scps_dgram_first(p) || scps_dgram_due(p, now) > now)
            continue;
        scps_nif_shaper_served(nif, p);
        leave_pipe(p, d, out);
        return true;
    }
    d = next_dgram(&nif->dgrams);
    if (!d)
        return false;
    leave(d, out);
    return true;
}
