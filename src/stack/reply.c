/* SPDX-License-Identifier: MIT */
/* Replies to packets that belong to no connection: resets, SYN cookies, echo replies, port
 * unreachable.
 *
 * A reply is built when the packet that it answers arrives, and waits in a ring buffer of limited
 * size: that of its route if the route has a rate, else that of the network interface. Anybody can
 * cause replies, so they must not use up what connections need. While other packets wait, at most
 * every SCPS_ANSWER_SHARE-th packet is a reply; replies are charged to the route's rate; and
 * replies have a rate limit of their own, which is checked when they are queued:
 *
 *   the route has a rate     1/SCPS_ANSWER_SHARE of the route's rate
 *   only the device has one  what connections and datagrams leave unused of 7/8 of the device's
 *                            rate; at most 1/SCPS_ANSWER_SHARE of the device's rate, and at least
 *                            1/SCPS_ANSWER_LEAST of it
 *   no rate is known         half of 1/SCPS_ANSWER_SHARE of the rate at which connections and
 *                            datagrams send now, which may be all that the link can carry; at
 *                            least SCPS_ANSWER_FLOOR, at most scps_stack_config.answer_rate
 *   the same, but idle       scps_stack_config.answer_rate. Idle: no connection is open but
 *                            half-open ones, and less than SCPS_ANSWER_FLOOR is sent now
 *
 * Replies beyond this rate are dropped and counted.
 */
#include "stack/stack.h"

#include "base/bytes.h"

#define RING  65536u
#define BURST (UINT32_C(1) << 30)
/* smallest size of the token bucket of replies, bytes: it permits one reply without data, however
 * slow the link is */
#define LEAST 128u

void scps_answers_fini(struct scps_answers *w, struct scps_nif *nif, const struct scps_alloc *a)
{
    uint32_t size;

    for (; scps_recring_front(&w->queue, &size); nif->n_answers--)
        scps_recring_pop(&w->queue);
    scps_recring_fini(&w->queue, a);
}

static const struct scps_netif *device(const struct scps_nif *nif)
{
    const struct scps_netif *dev = nif->nif;

    while (dev->lower)
        dev = dev->lower;
    return dev;
}

/* Returns the limit, bytes/s, of the replies to packets that belong to no connection (RST, ICMP,
 * SYN cookies), by the table at the start of this file: of the replies on the route of shaper p
 * (the rate limiter of a route) if p has a rate, otherwise of the replies through nif. p NULL: the
 * route has no rate. */
static uint64_t share_of(const struct scps_stack *st, struct scps_nif *nif,
                         const struct scps_shaper *p)
{
    uint64_t line = device(nif)->rate, rate, own, most;

    if (p && p->gate.rate.rate)
        return SCPS_MAX(p->gate.rate.rate / SCPS_ANSWER_SHARE, 1);
    own = scps_usage_rate(&nif->usage, st->env.now, device(nif)->overhead);
    if (line) {
        rate = line - line / 8;
        most = SCPS_MAX(line / SCPS_ANSWER_SHARE, 1);
        rate = own < rate ? SCPS_MIN(rate - own, most) : 0;
        return SCPS_MAX(rate, SCPS_MAX(line / SCPS_ANSWER_LEAST, 1));
    }
    if (st->n_conns == st->half_open && own < SCPS_ANSWER_FLOOR)
        return st->cfg.answer_rate;
    return SCPS_MIN(SCPS_MAX(own / (2 * SCPS_ANSWER_SHARE), SCPS_ANSWER_FLOOR),
                    st->cfg.answer_rate);
}

/* Returns what a reply of len bytes costs in the token bucket of replies, bytes: its length and the
 * device's framing. */
static uint32_t weight(const struct scps_nif *nif, size_t len)
{
    return (uint32_t)len + device(nif)->overhead;
}

/* Returns the queue for a reply of len bytes to dst; NULL if the token bucket of that queue does
 * not permit the reply now. */
static struct scps_answers *queue_with_credit(struct scps_stack *st, struct scps_nif *nif,
                                              const struct scps_addr *dst, size_t len)
{
    const struct scps_route_entry *entry = scps_route_find(st, dst);
    struct scps_shaper *shaper = entry && entry->route.nif == nif->nif ? entry->shaper : NULL;
    struct scps_answers *w = shaper ? &shaper->answers : &nif->answers;
    uint64_t share = share_of(st, nif, shaper);

    /* Size of the bucket: the bytes that replies may use in one second, but at least LEAST and at
     * most BURST. */
    scps_pacer_set(&w->share, st->env.now, SCPS_MIN(share, SCPS_RATE_MAX),
                   (uint32_t)SCPS_MIN(SCPS_MAX(share, LEAST), BURST));
    if (!share || scps_pacer_when(&w->share, st->env.now, weight(nif, len)) > st->env.now)
        return NULL;
    return w;
}

bool scps_answer_charge(struct scps_stack *st, struct scps_nif *nif, const struct scps_addr *dst,
                        size_t len)
{
    struct scps_answers *w = queue_with_credit(st, nif, dst, len);

    if (w)
        scps_pacer_spend(&w->share, weight(nif, len));
    return w != NULL;
}

/* Queues a complete packet as a reply to dst. Returns false, and counts the drop, if the token
 * bucket of replies is empty or their ring buffer is full. */
static bool queue_reply(struct scps_stack *st, struct scps_nif *nif, const struct scps_addr *dst,
                        const uint8_t *p, size_t len)
{
    struct scps_answers *w = queue_with_credit(st, nif, dst, len);
    const struct scps_alloc *a = &st->env.alloc;
    uint32_t most = st->reserve ? SCPS_FIXED_ANSWERS : RING;
    uint8_t *room = NULL;

    if (w && (!st->reserve || w->queue.cap || !scps_recring_reserve(&w->queue, a, most)))
        room = scps_recring_put(&w->queue, a, (uint32_t)len, most);
    if (!room) {
        scps_env_drop(&st->env, SCPS_DROP_RATE_LIMITED);
        return false;
    }
    scps_pacer_spend(&w->share, weight(nif, len));
    memcpy(room, p, len);
    nif->n_answers++;
    scps_nif_set_others(nif);
    return true;
}

/* Moves the oldest reply of q to *out. Its bytes stay in the ring until the next reply is
 * queued. */
static void take_reply(struct scps_recring *q, struct scps_pkt *out)
{
    /* q is not empty, so len is always set; the initial value prevents a warning of gcc 12 with
     * link-time optimisation. */
    uint32_t len = 0;
    const uint8_t *p = scps_recring_front(q, &len);

    scps_recring_pop(q);
    /* If the packet does not fit into the caller's buffer (out->cap), only its first
     * SCPS_MAX_HEADERS bytes are copied, and out->payload points to the rest, which stays in the
     * ring. */
    out->len = len > out->cap ? SCPS_MAX_HEADERS : len;
    out->payload_len = len - out->len;
    out->payload = out->payload_len ? p + out->len : NULL;
    memcpy(out->data, p, out->len);
    out->gso = 0;
    out->csum_ok = true;
    out->ecn = 0;
}

scps_time scps_answer_due(struct scps_shaper *p, scps_time now)
{
    uint32_t len;

    return scps_recring_front(&p->answers.queue, &len) ? scps_gate_when(&p->gate, now, len)
                                                       : SCPS_NEVER;
}

bool scps_answer_output(struct scps_stack *st, struct scps_nif *nif, struct scps_pkt *out)
{
    struct scps_recring *q = NULL;

    if (!scps_recring_empty(&nif->answers.queue))
        q = &nif->answers.queue;
    for (struct scps_shaper *p = nif->shapers; p && !q; p = p->next) {
        uint32_t len;
        if (!scps_recring_front(&p->answers.queue, &len) ||
            scps_answer_due(p, st->env.now) > st->env.now)
            continue;
        scps_gate_pay(&p->gate, st->env.now, len);
        q = &p->answers.queue;
    }
    if (!q)
        return false;
    take_reply(q, out);
    out->at = st->env.now;
    nif->n_answers--;
    return true;
}

static SCPS_NOINLINE_SIZE struct scps_ip header(const struct scps_addr *from,
                                                const struct scps_addr *to, uint8_t proto)
{
    return (struct scps_ip){
        .src = *from, .dst = *to, .version = from->family, .proto = proto, .ttl = 64, .df = true};
}

bool scps_answer_segment(struct scps_stack *st, struct scps_nif *nif, const struct scps_flow *f,
                         struct scps_seg *seg)
{
    struct scps_ip ip = header(&f->local, &f->remote, SCPS_IPPROTO_TCP);
    uint8_t p[SCPS_MAX_HEADERS];
    size_t tcp_len, ip_len;

    seg->sport = f->lport;
    seg->dport = f->rport;
    tcp_len = scps_tcp_hdr_len(seg);
    ip_len = scps_ip_build(p, &ip, tcp_len);
    scps_tcp_build(p + ip_len, seg);
    scps_put16(p + ip_len + 16, scps_tcp_checksum(&ip.src, &ip.dst, p + ip_len, tcp_len, NULL, 0));
    return queue_reply(st, nif, &f->remote, p, ip_len + tcp_len);
}

/* Counts one reply of the kind that r limits (resets, or ICMP messages). Returns false, and counts
 * a drop, if no more may be sent in this second. */
static SCPS_NOINLINE bool may_answer(struct scps_stack *st, struct scps_ratelimit *r)
{
    if (scps_ratelimit_take(r, st->env.key, st->env.now))
        return true;
    scps_env_drop(&st->env, SCPS_DROP_RATE_LIMITED);
    return false;
}

void scps_answer_reset(struct scps_stack *st, struct scps_nif *nif, const struct scps_flow *f,
                       const struct scps_seg *seg)
{
    struct scps_seg rst = {.flags = SCPS_RST};

    if (seg->flags & SCPS_RST || !may_answer(st, &st->reset_limit))
        return;
    if (seg->flags & SCPS_ACK) {
        rst.seq = seg->ack;
    } else {
        rst.flags |= SCPS_ACK;
        rst.ack =
            seg->seq + seg->len + (seg->flags & SCPS_SYN ? 1 : 0) + (seg->flags & SCPS_FIN ? 1 : 0);
    }
    if (scps_answer_segment(st, nif, f, &rst))
        st->count.resets_out++;
}

/* Returns how many octets a packet through nif can hold behind its first `used` octets. A driver
 * may lower the MTU at any time, even below the length of the headers; then the result is 0. */
static size_t room_for(const struct scps_nif *nif, size_t used)
{
    return nif->nif->mtu > used ? nif->nif->mtu - used : 0;
}

void scps_answer_echo(struct scps_stack *st, struct scps_nif *nif, const struct scps_ip *in,
                      const struct scps_icmp *m)
{
    struct scps_ip ip =
        header(&in->dst, &in->src, in->version == 4 ? SCPS_IPPROTO_ICMP : SCPS_IPPROTO_ICMPV6);
    const struct scps_alloc *a = &st->env.alloc;
    struct scps_icmp cut = *m;
    size_t hdr = in->version == 4 ? 20 : 40, fits = room_for(nif, hdr + 4), room, n;
    uint8_t small[256], *p = small;

    /* A request may be longer than the MTU of the link back. RFC 1122 section 3.2.2.6: the reply
     * "MUST be truncated to maximum transmission size"; RFC 4443 section 4.2 forbids to truncate
     * it, so an IPv6 request that is too long gets no reply. */
    if ((in->version == 6 && m->body_len > fits) || !may_answer(st, &st->icmp_limit))
        return;
    cut.body_len = SCPS_MIN(m->body_len, fits);
    room = 40 + 4 + cut.body_len;
    if (room > sizeof small && !(p = a->alloc(a->ctx, room)))
        return;
    n = hdr + scps_icmp_build_echo_reply(p + hdr, in, &cut);
    ip.df = false;
    scps_ip_build(p, &ip, n - hdr);
    if (queue_reply(st, nif, &in->src, p, n))
        st->count.echo_replies++;
    if (p != small)
        a->free(a->ctx, p, room);
}

void scps_answer_port_unreachable(struct scps_stack *st, struct scps_nif *nif,
                                  const struct scps_ip *in, const uint8_t *packet, size_t len)
{
    struct scps_ip ip =
        header(&in->dst, &in->src, in->version == 4 ? SCPS_IPPROTO_ICMP : SCPS_IPPROTO_ICMPV6);
    uint8_t p[1400];
    size_t hdr = in->version == 4 ? 20 : 40, n;

    if (!may_answer(st, &st->icmp_limit))
        return;
    /* The message quotes as much of the packet as RFC 4443 section 2.4 (c) and RFC 1812 section
     * 4.3.2.3 allow, and less if the MTU of the link has no room for that. */
    n = scps_icmp_build_port_unreach(p + hdr, SCPS_MIN(room_for(nif, hdr), sizeof p - hdr), in,
                                     packet, len);
    if (!n)
        return;
    scps_ip_build(p, &ip, n);
    if (queue_reply(st, nif, &in->src, p, hdr + n))
        st->count.icmp_out++;
}
