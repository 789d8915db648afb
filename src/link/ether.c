/* SPDX-License-Identifier: MIT */
/* Ethernet: sends and receives frames, chooses the next hop, and sends and answers ARP requests and
 * Neighbour Solicitations. */
#include "link/ether.h"

#include <string.h>

#include <scps/error.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "link/nbrmsg.h"

#define HEADER SCPS_ETHER_HEADER

static const uint8_t everybody[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

static struct scps_ether *of(const struct scps_netif *nif)
{
    return (struct scps_ether *)(uintptr_t)nif;
}

static void dropped(struct scps_ether *e, enum scps_ether_drop why)
{
    e->stats.drops[why]++;
}

/* ---- functions that send frames to the device ---- */

/* Sends an Ethernet frame to MAC address dst. Its contents are n octets at data, followed by
 * payload_len octets at payload. */
static int send_frame(struct scps_ether *e, const uint8_t dst[6], unsigned type,
                      const uint8_t *data, size_t n, const uint8_t *payload, size_t payload_len)
{
    struct scps_pkt pkt = {.data = e->tx,
                           .len = HEADER + n,
                           .cap = HEADER + n,
                           .payload = payload_len ? payload : NULL,
                           .payload_len = payload_len,
                           .at = e->now};
    int err;

    memcpy(e->tx, dst, 6);
    memcpy(e->tx + 6, e->cfg.mac, 6);
    scps_put16(e->tx + 12, (uint16_t)type);
    memcpy(e->tx + HEADER, data, n);
    err = scps_netif_send(e->nif.lower, &pkt);
    e->stats.tx_frames += err == 0;
    return err;
}

static unsigned type_of(uint8_t family)
{
    return family == 4 ? ETHER_IPV4 : ETHER_IPV6;
}

/* Returns the source address for an ARP request or Neighbour Solicitation for address a: this
 * station's address whose prefix covers a, otherwise its first address of a's family; NULL: it has
 * none of that family. */
static const struct scps_addr *own_for(const struct scps_ether *e, const struct scps_addr *a)
{
    const struct scps_addr *first = NULL;

    for (unsigned i = 0; i < e->cfg.n; i++) {
        if (e->cfg.addr[i].family != a->family)
            continue;
        if (scps_addr_match(&e->cfg.addr[i], a, e->cfg.prefix[i]))
            return &e->cfg.addr[i];
        if (!first)
            first = &e->cfg.addr[i];
    }
    return first;
}

static bool is_own(const struct scps_ether *e, const struct scps_addr *a)
{
    for (unsigned i = 0; i < e->cfg.n; i++)
        if (scps_addr_equal(&e->cfg.addr[i], a))
            return true;
    return false;
}

/* Requests the MAC address of neighbour n (ARP request or Neighbour Solicitation): by unicast in
 * state NBR_PROBE, which checks a known address, by broadcast or multicast otherwise. */
static void request_mac(struct scps_ether *e, const struct scps_nbr *n)
{
    const struct scps_addr *own = own_for(e, &n->addr);
    bool known = n->state == NBR_PROBE;
    struct scps_nbrmsg m = {.target = n->addr, .to = n->addr};
    uint8_t buf[SCPS_ND_LEN], group[6];
    int err;

    if (!own)
        return;
    m.from = *own;
    memcpy(m.mac, e->cfg.mac, 6);
    e->stats.asked++;
    if (n->addr.family == 4) {
        scps_arp_build(buf, &m, known ? n->mac : NULL);
        err = send_frame(e, known ? n->mac : everybody, ETHER_ARP, buf, SCPS_ARP_LEN, NULL, 0);
    } else {
        if (!known)
            scps_ether_solicited_node(&n->addr, &m.to, group);
        scps_nd_build(buf, &m);
        err = send_frame(e, known ? n->mac : group, ETHER_IPV6, buf, SCPS_ND_LEN, NULL, 0);
    }
    if (err)
        dropped(e, SCPS_ETHER_DROP_BUSY);
}

static void given_up(struct scps_ether *e, const struct scps_nbr *n)
{
    e->stats.unanswered = n->addr;
    if (n->held_len)
        dropped(e, SCPS_ETHER_DROP_UNRESOLVED);
}

static void ask_all(struct scps_ether *e)
{
    struct scps_nbr *n;

    while ((n = scps_nbr_due(&e->nbrs, e->now)) != NULL) {
        if (n->state != NBR_FREE)
            request_mac(e, n);
        else
            given_up(e, n);
    }
}

static void store_packet(struct scps_ether *e, struct scps_nbr *n, const struct scps_pkt *pkt)
{
    if (n->held_len)
        dropped(e, SCPS_ETHER_DROP_HELD);
    memcpy(n->held, pkt->data, pkt->len);
    if (pkt->payload_len)
        memcpy(n->held + pkt->len, pkt->payload, pkt->payload_len);
    n->held_len = pkt->len + pkt->payload_len;
}

static void send_held(struct scps_ether *e, struct scps_nbr *n)
{
    if (!n->held_len)
        return;
    if (send_frame(e, n->mac, type_of(n->addr.family), n->held, n->held_len, NULL, 0))
        dropped(e, SCPS_ETHER_DROP_BUSY);
    n->held_len = 0;
}

/* Sets *hop to the neighbour to which packets for dst are sent: dst itself if it is on this link,
 * otherwise the gateway. Returns false if no gateway is configured. */
static bool next_hop(const struct scps_ether *e, const struct scps_addr *dst, struct scps_addr *hop)
{
    static const struct scps_addr link_local = {6, {0xfe, 0x80}};

    *hop = *dst;
    if (dst->family == 6 && scps_addr_match(dst, &link_local, 10))
        return true;
    for (unsigned i = 0; i < e->cfg.n; i++)
        if (e->cfg.addr[i].family == dst->family &&
            scps_addr_match(&e->cfg.addr[i], dst, e->cfg.prefix[i]))
            return true;
    *hop = e->cfg.gateway[dst->family == 6];
    return hop->family != 0;
}

void scps_ether_drop_held(struct scps_ether *e, const struct scps_addr *a)
{
    struct scps_addr src, dst;

    for (uint32_t i = 0; i < e->cfg.neighbours; i++) {
        struct scps_nbr *n = &e->nbrs.v[i];
        if (!n->held_len || !scps_ether_addresses(n->held, n->held_len, &src, &dst) ||
            !scps_addr_equal(&src, a))
            continue;
        n->held_len = 0;
        dropped(e, SCPS_ETHER_DROP_REMOVED);
    }
}

static int ether_send(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    struct scps_ether *e = of(nif);
    struct scps_addr src, dst, hop;
    struct scps_nbr *n;
    uint8_t mac[6];
    bool lost;

    if (!pkt->payload && pkt->payload_len)
        /* Payload that is counted but not stored (hollow) occurs in simulations only, so it is
         * refused. */
        return SCPS_ERR_INVAL;
    if (pkt->len + pkt->payload_len > e->cfg.mtu)
        return SCPS_ERR_MSGSIZE;
    e->now = scps_clock_later(e->now, pkt->at);
    if (!scps_ether_addresses(pkt->data, pkt->len, &src, &dst))
        return SCPS_ERR_INVAL;
    if (scps_ether_group_mac(e, &dst, mac))
        return send_frame(e, mac, type_of(dst.family), pkt->data, pkt->len, pkt->payload,
                          pkt->payload_len);
    if (!next_hop(e, &dst, &hop))
        return SCPS_ERR_UNREACH;
    n = scps_nbr_find(&e->nbrs, &hop);
    if (n && n->state != NBR_INCOMPLETE) {
        scps_nbr_use(&e->nbrs, n, e->now);
        return send_frame(e, n->mac, type_of(dst.family), pkt->data, pkt->len, pkt->payload,
                          pkt->payload_len);
    }
    if (!n) {
        n = scps_nbr_add(&e->nbrs, &hop, e->now, &lost);
        if (lost)
            dropped(e, SCPS_ETHER_DROP_HELD);
    }
    store_packet(e, n, pkt);
    ask_all(e);
    return 0;
}

/* ---- functions that receive frames from the device ---- */

/* Returns true if the rate limit of replies (to ARP requests and Neighbour Solicitations) permits a
 * reply of n octets now, and charges the reply to the limit, with its length on an Ethernet: 60
 * octets at least, plus preamble, check sequence and gap between frames. Otherwise counts the
 * request as dropped and returns false. */
static bool may_reply(struct scps_ether *e, size_t n)
{
    if (scps_reply_limit_take(&e->replies, &e->nif, 1250000 / SCPS_REPLY_SHARE,
                              SCPS_MAX(HEADER + n, 60) + 24, e->now))
        return true;
    dropped(e, SCPS_ETHER_DROP_LIMIT);
    return false;
}

/* Replies to q, an ARP request or Neighbour Solicitation for an address of this station. */
static void answer(struct scps_ether *e, const struct scps_nbrmsg *q)
{
    static const uint8_t all_nodes_mac[6] = {0x33, 0x33, 0, 0, 0, 1};
    static const struct scps_addr all_nodes = {6,
                                               {0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
    struct scps_addr none = {.family = 6};
    struct scps_nbrmsg m = {.answer = true, .solicited = true, .override = true, .from = q->target};
    struct scps_nbr *n = scps_nbr_find(&e->nbrs, &q->from);
    const uint8_t *to = q->has_mac ? q->mac : n && n->state != NBR_INCOMPLETE ? n->mac : NULL;
    uint8_t buf[SCPS_ND_LEN];
    int err;

    if (!may_reply(e, q->target.family == 4 ? SCPS_ARP_LEN : SCPS_ND_LEN))
        return;
    memcpy(m.mac, e->cfg.mac, 6);
    if (q->target.family == 4) {
        m.target = q->from;
        scps_arp_build(buf, &m, q->mac);
        err = send_frame(e, q->mac, ETHER_ARP, buf, SCPS_ARP_LEN, NULL, 0);
    } else {
        m.target = q->target;
        m.to = q->from;
        /* A request from the unspecified address is one of duplicate address detection (RFC 4862).
         * Its sender has no address yet, so the reply goes to all nodes. */
        if (scps_addr_equal(&q->from, &none)) {
            m.to = all_nodes;
            m.solicited = false;
            to = all_nodes_mac;
        }
        if (!to)
            return;
        scps_nd_build(buf, &m);
        err = send_frame(e, to, ETHER_IPV6, buf, SCPS_ND_LEN, NULL, 0);
    }
    if (err)
        dropped(e, SCPS_ETHER_DROP_BUSY);
    else
        e->stats.answered++;
}

/* Records the MAC address in message m, a request or reply of ARP or Neighbour Discovery, in the
 * neighbour cache. for_us: m is a request for this station or a reply to it. Such a request creates
 * an entry (RFC 826), unless the cache is full of neighbours to which packets were sent; any other
 * message only updates an entry. */
static void learn(struct scps_ether *e, const struct scps_nbrmsg *m, bool for_us)
{
    static const uint8_t zeros[16];
    bool nd_answer = m->answer && m->target.family == 6;
    const struct scps_addr *who = nd_answer ? &m->target : &m->from;
    struct scps_nbr *n = scps_nbr_find(&e->nbrs, who);
    bool same;

    if (memcmp(who->b, zeros, who->family == 4 ? 4 : 16) == 0)
        return;
    if (is_own(e, who)) {
        dropped(e, SCPS_ETHER_DROP_CONFLICT);
        return;
    }
    if (!n && for_us && !m->answer && m->has_mac) {
        n = scps_nbr_add_asking(&e->nbrs, who, e->now);
    }
    if (!n || (!m->has_mac && n->state == NBR_INCOMPLETE))
        return;
    same = !m->has_mac || (n->state != NBR_INCOMPLETE && memcmp(n->mac, m->mac, 6) == 0);
    if (nd_answer && !m->override && !same && n->state != NBR_INCOMPLETE) {
        /* An Advertisement without the flag Override has another MAC address than the entry. The
         * entry keeps its MAC address but becomes stale (RFC 4861 section 7.2.5). */
        if (n->state == NBR_REACHABLE) {
            n->state = NBR_STALE;
            n->when = SCPS_NEVER;
        }
        return;
    }
    scps_nbr_learn(&e->nbrs, n, m->has_mac ? m->mac : n->mac, m->solicited && for_us, e->now);
    send_held(e, n);
}

static void message(struct scps_ether *e, const struct scps_nbrmsg *m)
{
    bool about_us = is_own(e, &m->target);
    /* A request or an ARP reply is for this station if its target is an address of this station.
     * The target of a Neighbour Advertisement is the address of its sender, so an Advertisement
     * counts as one for this station whatever its target is. */
    bool for_us = about_us || (m->answer && m->target.family == 6);

    learn(e, m, for_us);
    if (!m->answer && about_us && !is_own(e, &m->from))
        answer(e, m);
}

/* Returns true if this station accepts frames to MAC address dst: the MAC address of this station,
 * the broadcast address, that of the IPv6 group of all nodes, and those of the solicited-node
 * groups of this station's IPv6 addresses. */
static bool for_this_station(const struct scps_ether *e, const uint8_t dst[6])
{
    struct scps_addr group;
    uint8_t mac[6];

    if (memcmp(dst, e->cfg.mac, 6) == 0 || memcmp(dst, everybody, 6) == 0)
        return true;
    if (memcmp(dst, (const uint8_t[6]){0x33, 0x33, 0, 0, 0, 1}, 6) == 0)
        return true;
    for (unsigned i = 0; i < e->cfg.n; i++) {
        if (e->cfg.addr[i].family != 6)
            continue;
        scps_ether_solicited_node(&e->cfg.addr[i], &group, mac);
        if (memcmp(dst, mac, 6) == 0)
            return true;
    }
    return false;
}

/* Reduces *n, the length of a frame's contents, to the length of the IP packet at p, so that
 * padding is removed. Returns false if the frame is shorter than the packet or its header. */
static bool trim(const uint8_t *p, size_t *n, bool ipv6)
{
    size_t len;

    if (*n < (ipv6 ? 40u : 20u))
        return false;
    len = ipv6 ? 40 + (size_t)scps_get16(p + 4) : scps_get16(p + 2);
    if (len > *n || len < 20)
        return false;
    *n = len;
    return true;
}

static int frame_input(struct scps_ether *e, uint8_t *p, size_t n, scps_time at)
{
    struct scps_nbrmsg m;
    struct scps_pkt pkt = {.at = at};
    unsigned type;
    bool ipv6, to_group;

    if (n < HEADER)
        return SCPS_ETHER_DROP_SHORT;
    if (!for_this_station(e, p))
        return SCPS_ETHER_DROP_NOT_OURS;
    to_group = p[0] & 1;
    type = scps_get16(p + 12);
    p += HEADER;
    n -= HEADER;
    ipv6 = type == ETHER_IPV6;
    if (type == ETHER_ARP) {
        if (!scps_arp_parse(p, n, &m))
            return SCPS_ETHER_DROP_ARP;
        message(e, &m);
        return SCPS_ETHER_DROP_COUNT;
    }
    if (type != ETHER_IPV4 && !ipv6)
        return SCPS_ETHER_DROP_TYPE;
    if (!trim(p, &n, ipv6))
        return SCPS_ETHER_DROP_SHORT;
    if (ipv6 && scps_nd_is(p, n)) {
        if (!scps_nd_parse(p, n, &m))
            return SCPS_ETHER_DROP_ND;
        message(e, &m);
        return SCPS_ETHER_DROP_COUNT;
    }
    /* RFC 1122 section 3.3.6: "A host SHOULD silently discard a datagram that is received via a
     * link-layer broadcast (see Section 2.4) but does not specify an IP multicast or broadcast
     * destination address." The stack does not see the frame, and would answer such a datagram with
     * an ICMP error, which RFC 1122 section 3.2.2 and RFC 4443 section 2.4 (e) forbid. */
    if (to_group && !scps_ether_is_to_group(e, p, n))
        return SCPS_ETHER_DROP_NOT_OURS;
    pkt.data = p;
    pkt.len = pkt.cap = n;
    scps_netif_recv(&e->nif, &pkt);
    return SCPS_ETHER_DROP_COUNT;
}

static int ether_recv(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    struct scps_ether *e = of(nif);
    int drop;

    e->now = scps_clock_later(e->now, pkt->at);
    e->stats.rx_frames++;
    drop = frame_input(e, pkt->data, pkt->len, pkt->at);
    if (drop == SCPS_ETHER_DROP_COUNT)
        return 0;
    dropped(e, (enum scps_ether_drop)drop);
    return SCPS_DROP_NOT_OURS;
}

/* ---- functions that serve the timers of the filter ---- */

static scps_time ether_deadline(const struct scps_netif *nif)
{
    const struct scps_ether *e = of(nif);

    return e->begun ? scps_nbr_deadline(&e->nbrs) : 0;
}

static void ether_advance(struct scps_netif *nif, scps_time now)
{
    struct scps_ether *e = of(nif);

    e->now = scps_clock_later(e->now, now);
    if (!e->begun) {
        e->begun = true;
        for (struct scps_netif *n = nif; n; n = n->upper)
            n->mtu = e->cfg.mtu;
    }
    ask_all(e);
}

/* ---- functions of the public interface ---- */

static void ether_close(struct scps_netif *nif)
{
    struct scps_ether *e = of(nif);
    struct scps_alloc a = e->alloc;

    a.free(a.ctx, e, e->size);
}

static const struct scps_netif_ops ether_ops = {.name = "ether",
                                                .send = ether_send,
                                                .recv = ether_recv,
                                                .close = ether_close,
                                                .deadline = ether_deadline,
                                                .advance = ether_advance};

void scps_ether_wire(struct scps_ether *e)
{
    e->nif.ops = &ether_ops;
}
