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
 *   the same, but idle       7/8 of the device's rate, at most scps_stack_config.answer_rate
 *   no rate is known         half of 1/SCPS_ANSWER_SHARE of the rate at which connections and
 *                            datagrams send now, which may be all that the link can carry; at
 *                            least SCPS_ANSWER_FLOOR, at most scps_stack_config.answer_rate
 *   the same, but idle       scps_stack_config.answer_rate
 *
 * Idle means that all connections are half-open or in TIME-WAIT, and connections and datagrams send
 * less than SCPS_ANSWER_FLOOR now; or that they have sent nothing for 64 s.
 *
 * Replies beyond this rate are dropped and counted. So are those that find as many replies waiting
 * as this rate sends in two seconds, because connections that fill the link let fewer pass: nobody
 * waits for them any more when it is their turn.
 *
 * The SYN-ACKs of half-open connections, which any host can cause by forged SYNs, too, are sent
 * like the segments of other connections. But they count as replies: they are charged to the same
 * token bucket, and are not part of the rate at which connections send. The first SYN-ACK is
 * refunded when the peer acknowledges it.
 */
#include "stack/stack.h"

#include "base/bytes.h"

#define RING  65536u
#define BURST (UINT32_C(1) << 30)
/* smallest size, bytes, of the token bucket that limits replies to packets of no connection
 * (resets, ICMP messages, SYN cookies) and SYN-ACKs of half-open connections: it permits one reply
 * without data, however slow the link is */
#define LEAST 128u
/* number of SYN-ACKs for which the token bucket must suffice before a half-open connection is
 * created when there are many already; it repeats its SYN-ACK, a SYN cookie is sent once */
#define PLACE 3u
/* level of the token bucket, bytes, below which no reset and no ICMP message is sent: what a new
 * half-open connection needs when there are many. Otherwise a flood of packets with short replies
 * would keep the level too low for a SYN-ACK. */
#define OTHERS (PLACE * SCPS_SYN_ACK_LEN)

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

/* Returns true if replies through nif hinder nobody. own: bytes/s that connections and datagrams
 * send through it now. */
static bool idle(const struct scps_stack *st, const struct scps_nif *nif, uint64_t own)
{
    return scps_usage_silent(&nif->usage) ||
           (st->n_conns == st->half_open + st->env.in_time_wait && own < SCPS_ANSWER_FLOOR);
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
    rate = line - line / 8;
    if (idle(st, nif, own))
        return line ? SCPS_MIN(rate, st->cfg.answer_rate) : st->cfg.answer_rate;
    if (line) {
        most = SCPS_MAX(line / SCPS_ANSWER_SHARE, 1);
        rate = own < rate ? SCPS_MIN(rate - own, most) : 0;
        return SCPS_MAX(rate, SCPS_MAX(line / SCPS_ANSWER_LEAST, 1));
    }
    return SCPS_MIN(SCPS_MAX(own / (2 * SCPS_ANSWER_SHARE), SCPS_ANSWER_FLOOR),
                    st->cfg.answer_rate);
}

/* Returns what a reply of len bytes costs in the token bucket of replies, bytes: its length and the
 * device's framing. */
static uint32_t weight(const struct scps_nif *nif, size_t len)
{
    return (uint32_t)len + device(nif)->overhead;
}

static struct scps_shaper *shaper_of(const struct scps_stack *st, const struct scps_nif *nif,
                                     const struct scps_addr *dst)
{
    const struct scps_route_entry *entry = scps_route_find(st, dst);

    return entry && entry->route.nif == nif->nif ? entry->shaper : NULL;
}

/* Returns the queue for replies to dst, after its token bucket was updated; NULL: the limit is 0,
 * so that there are no replies. */
static struct scps_answers *queue_for(struct scps_stack *st, struct scps_nif *nif,
                                      const struct scps_addr *dst)
{
    struct scps_shaper *shaper = shaper_of(st, nif, dst);
    struct scps_answers *w = shaper ? &shaper->answers : &nif->answers;
    uint64_t share = share_of(st, nif, shaper);

    if (!share)
        return NULL;
    /* Size of the bucket: the bytes that replies may use in one second, but at least LEAST and at
     * most BURST. */
    scps_pacer_set(&w->share, st->env.now, SCPS_MIN(share, SCPS_RATE_MAX),
                   (uint32_t)SCPS_MIN(SCPS_MAX(share, LEAST), BURST));
    scps_pacer_earn(&w->share, st->env.now);
    return w;
}

/* Returns how far SYN-ACKs of half-open connections to dst may overdraw the token bucket of
 * replies, bytes: by the SYN-ACKs of a quarter of max_half_open, but by no more than the route or
 * the device can carry in 1/8 of a second. So honest clients that connect at the same time, whose
 * SYN-ACKs are refunded when they answer, need not wait; and a flood of SYNs costs other
 * connections no more than this once. */
static uint32_t debt_of(const struct scps_stack *st, const struct scps_nif *nif,
                        const struct scps_addr *dst)
{
    const struct scps_shaper *p = shaper_of(st, nif, dst);
    uint64_t rate = p && p->gate.rate.rate ? p->gate.rate.rate : device(nif)->rate;
    uint64_t most = SCPS_MIN((uint64_t)(st->cfg.max_half_open / 4) * SCPS_SYN_ACK_LEN, BURST);

    return (uint32_t)(rate ? SCPS_MIN(rate / 8, most) : most);
}

bool scps_answer_syn_ack(struct scps_stack *st, struct scps_nif *nif, const struct scps_addr *dst,
                         enum scps_syn_ack why, bool many)
{
    struct scps_answers *w = queue_for(st, nif, dst);
    uint32_t size = weight(nif, SCPS_SYN_ACK_LEN), debt = many ? 0 : debt_of(st, nif, dst);

    /* If the limit is 0, SYN-ACKs are sent nevertheless while few half-open connections exist,
     * because a listener could otherwise accept nobody. */
    if (!w)
        return !many;
    /* A SYN-ACK that is repeated after a timeout may overdraw the bucket by half as much as others,
     * because most of those that are not answered went to forged addresses. With many half-open
     * connections a new one, which may repeat its SYN-ACK, is created only if the bucket holds
     * PLACE SYN-ACKs; if it holds fewer, the SYN is answered by a SYN cookie, which is sent once.
     * An existing connection whose peer repeats its SYN needs one SYN-ACK only. */
    if (!scps_pacer_lends(&w->share, many && why != SCPS_SYN_ACK_AGAIN ? PLACE * size : size,
                          why == SCPS_SYN_ACK_TIMEOUT ? debt / 2 : debt))
        return false;
    scps_pacer_spend(&w->share, size);
    return true;
}

void scps_answer_refund(struct scps_stack *st, struct scps_nif *nif, const struct scps_addr *dst)
{
    struct scps_answers *w = queue_for(st, nif, dst);

    if (w)
        scps_pacer_refund(&w->share, weight(nif, SCPS_SYN_ACK_LEN));
}

/* Queues a complete packet of len bytes as a reply to dst. Returns false, and counts the drop, if
 * the token bucket of replies holds less than `need` bytes (and is not full) or their ring buffer
 * is full. */
static bool queue_reply(struct scps_stack *st, struct scps_nif *nif, const struct scps_addr *dst,
                        const uint8_t *p, size_t len, size_t need)
{
    struct scps_answers *w = queue_for(st, nif, dst);
    const struct scps_alloc *a = &st->env.alloc;
    uint32_t most = st->reserve ? SCPS_FIXED_ANSWERS : RING;
    uint8_t *room = NULL;

    if (w && scps_pacer_lends(&w->share, weight(nif, need), 0) &&
        w->queue.tail - w->queue.head < 2 * w->share.burst &&
        (!st->reserve || w->queue.cap || !scps_recring_reserve(&w->queue, a, most)))
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
    /* A SYN cookie needs a bucket that permits the longest one. Otherwise a flood of SYNs without
     * options would always get the bytes before a client whose SYN has options. */
    return queue_reply(st, nif, &f->remote, p, ip_len + tcp_len,
                       seg->flags & SCPS_SYN ? SCPS_MAX(SCPS_SYN_ACK_LEN, ip_len + tcp_len)
                                             : OTHERS);
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
    if (room > sizeof small && !(p = a->alloc(a->ctx, room))) {
        scps_env_drop(&st->env, SCPS_DROP_NO_BUFFER);
        return;
    }
    n = hdr + scps_icmp_build_echo_reply(p + hdr, in, &cut);
    ip.df = false;
    scps_ip_build(p, &ip, n - hdr);
    if (queue_reply(st, nif, &in->src, p, n, SCPS_MAX(OTHERS, n)))
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
    if (queue_reply(st, nif, &in->src, p, hdr + n, SCPS_MAX(OTHERS, hdr + n)))
        st->count.icmp_out++;
}
