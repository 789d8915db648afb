/* SPDX-License-Identifier: MIT */
/* PPP as a filter between the stack and the line: passes arriving frames to their protocols, and
 * runs the phases of the link. VJ is Van Jacobson header compression (RFC 1144).
 *
 *      octets -> hdlc.c -> protocol number -> lcp.c, ipcp.c, ip6cp.c   (pppcp.c: their automaton)
 *                                          -> IP, with VJ headers restored -> stack
 *      stack -> VJ -> hdlc.c -> octets
 *      the queue of control packets -> hdlc.c -> octets, before any packet of the stack
 *
 * The protocols answer arriving packets by putting control packets into the queue. The queue is
 * sent at the end of the same call; what the line refuses waits for the next call.
 *
 * LCP packets are sent with the defaults of an unconfigured link, so that a peer that has restarted
 * can read them (RFC 1661 section 6.5, RFC 1662 section 7.1).
 */
#include "link/ppp.h"

#include <scps/error.h>

#include "base/bytes.h"
#include "base/clock.h"

static struct scps_ppp *of(const struct scps_netif *nif)
{
    return (struct scps_ppp *)(uintptr_t)nif;
}

static struct scps_ppp *owner(struct scps_cp_env *env)
{
    return (struct scps_ppp *)(void *)((char *)env - offsetof(struct scps_ppp, env));
}

static void dropped(struct scps_ppp *p, enum scps_ppp_drop why)
{
    p->env.drops[why]++;
}

/* ---- functions that send frames to the line ---- */

/* Sends one PPP frame of protocol `proto`, whose information is head_n octets at head, followed by
 * body_n octets at body. */
static int send_frame(struct scps_ppp *p, uint16_t proto, const uint8_t *head, size_t head_n,
                      const uint8_t *body, size_t body_n, scps_time at)
{
    static const uint8_t address[2] = {0xff, 0x03};
    bool agreed = proto != PPP_LCP;
    struct scps_hdlc_tx t = {.out = p->tx, .accm = agreed ? p->lcp.peer.accm : UINT32_MAX};
    uint8_t number[2] = {(uint8_t)(proto >> 8), (uint8_t)proto};
    bool is_short = agreed && p->lcp.peer.pfc && proto < 256;
    struct scps_pkt pkt = {.data = p->tx, .at = at};
    int err;

    scps_hdlc_begin(&t);
    if (!agreed || !p->lcp.peer.acfc)
        scps_hdlc_put(&t, address, sizeof address);
    scps_hdlc_put(&t, number + is_short, sizeof number - is_short);
    scps_hdlc_put(&t, head, head_n);
    if (body_n)
        scps_hdlc_put(&t, body, body_n);
    scps_hdlc_end(&t);
    pkt.len = pkt.cap = t.len;
    err = scps_netif_send(p->nif.lower, &pkt);
    if (err == 0)
        p->tx_frames++;
    return err;
}

/* Sends the queued control packets. Returns false if the line has not accepted all of them. */
static bool flush(struct scps_ppp *p)
{
    uint16_t proto;
    const uint8_t *data;
    size_t n;

    while (scps_pppq_head(&p->env.queue, &proto, &data, &n)) {
        if (send_frame(p, proto, data, n, NULL, 0, p->env.now) == SCPS_ERR_AGAIN)
            return false;
        scps_pppq_pop(&p->env.queue);
    }
    return true;
}

/* Sends an IPv4 packet, with its TCP header compressed if that was agreed and is possible. */
static int send_ipv4(struct scps_ppp *p, const struct scps_pkt *pkt)
{
    uint8_t head[SCPS_VJ_HDR_MAX];
    size_t n = 0, replaced = 0, total = pkt->len + pkt->payload_len;
    enum scps_vj_type type = SCPS_VJ_IP;
    int err;

    if (p->ipcp.vj_tx)
        type = scps_vj_compress(&p->vj_tx, pkt->data, pkt->len, total, head, &n, &replaced);
    if (type != SCPS_VJ_IP && pkt->payload_len && pkt->len != replaced) {
        /* Compressed, the packet would be in three pieces of memory, so it is sent uncompressed. */
        scps_vj_unsend(&p->vj_tx);
        type = SCPS_VJ_IP;
    }
    if (type == SCPS_VJ_IP)
        return send_frame(p, SCPS_PPP_IP, pkt->data, pkt->len, pkt->payload, pkt->payload_len,
                          pkt->at);
    const uint8_t *body = pkt->payload_len ? pkt->payload : pkt->data + replaced;
    err = send_frame(p,
                     type == SCPS_VJ_COMPRESSED ? SCPS_PPP_VJ_COMPRESSED : SCPS_PPP_VJ_UNCOMPRESSED,
                     head, n, body, total - replaced, pkt->at);
    if (err == SCPS_ERR_AGAIN)
        /* The line refused the packet, so the stack will send it again. The compressor's state is
         * restored, because the packet must then be compressed in the same way. */
        scps_vj_unsend(&p->vj_tx);
    else
        p->vj_compressed += type == SCPS_VJ_COMPRESSED;
    return err;
}

static int ppp_send(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    struct scps_ppp *p = of(nif);
    bool v4 = scps_cp_is_open(&p->ipcp.cp), v6 = scps_cp_is_open(&p->ip6cp.cp);
    unsigned version = pkt->len ? pkt->data[0] >> 4 : 0;

    if (!pkt->payload && pkt->payload_len)
        /* Payload that is counted but not stored (hollow) occurs in simulations only, so it is
         * refused. */
        return SCPS_ERR_INVAL;
    if (!flush(p) || (!v4 && !v6))
        return SCPS_ERR_AGAIN;
    if (pkt->len + pkt->payload_len > nif->mtu)
        return SCPS_ERR_MSGSIZE;
    if (version == 4 && v4)
        return send_ipv4(p, pkt);
    if (version == 6 && v6)
        return send_frame(p, PPP_IPV6, pkt->data, pkt->len, pkt->payload, pkt->payload_len,
                          pkt->at);
    return SCPS_ERR_UNREACH;
}

/* ---- functions that change the phase of the link (RFC 1661 section 3.2) ---- */

/* Sets the MTU of the PPP netif, and of all netifs above it, to the smaller of the peer's MRU and
 * the configured one. */
static void set_mtu(struct scps_ppp *p)
{
    uint32_t mtu = SCPS_MIN(p->lcp.peer.mru, p->cfg.mru);

    for (struct scps_netif *n = &p->nif; n; n = n->upper)
        n->mtu = mtu;
}

static void begin_networks(struct scps_ppp *p)
{
    p->rx.accm = p->lcp.mine.accm;
    if (p->cfg.echo_interval)
        p->lcp.echo_at = p->env.now + p->cfg.echo_interval;
    p->why = SCPS_PPP_WHY_NONE;
    p->nif.flags &= ~SCPS_NETIF_GONE;
    set_mtu(p);
    scps_ipcp_begin(&p->ipcp);
    scps_ip6cp_begin(&p->ip6cp);
    scps_cp_lower_up(&p->ipcp.cp);
    scps_cp_lower_up(&p->ip6cp.cp);
}

static void end_networks(struct scps_ppp *p)
{
    p->rx.accm = UINT32_MAX;
    p->lcp.echo_at = SCPS_NEVER;
    p->lcp.echo_lost = 0;
    scps_cp_lower_down(&p->ipcp.cp);
    scps_cp_lower_down(&p->ip6cp.cp);
    if (p->lcp.cp.state == CP_STOPPING)
        p->why = SCPS_PPP_WHY_PEER_CLOSED;
}

/* Called when LCP has finished. Then the link has ended, except in state Stopped of a passive end
 * (cfg.passive), which still waits for a Configure-Request. */
static void link_finished(struct scps_ppp *p)
{
    if (!p->cfg.passive || p->lcp.cp.state != CP_STOPPED)
        p->nif.flags |= SCPS_NETIF_GONE;
    if (p->why != SCPS_PPP_WHY_NONE)
        return;
    p->why = !p->lcp.cp.answered  ? SCPS_PPP_WHY_NO_ANSWER
             : p->lcp.auth_wanted ? SCPS_PPP_WHY_AUTH
                                  : SCPS_PPP_WHY_NO_AGREEMENT;
}

static bool may_open(const struct scps_cp *cp)
{
    return cp->state == CP_STARTING || cp->state >= CP_REQ_SENT;
}

/* Returns true if both ends have acknowledged the same IPv4 address for each other, so that the
 * stack would deliver packets for the peer to itself. */
static bool same_address(const struct scps_ppp *p)
{
    return p->ipcp.local && p->ipcp.local == p->ipcp.remote;
}

/* Called when IPCP or IPV6CP (cp) has finished. Closes the link if neither can open. */
static void network_finished(struct scps_ppp *p, struct scps_cp *cp)
{
    if (cp == &p->ipcp.cp && cp->gave_up)
        p->why = same_address(p)        ? SCPS_PPP_WHY_SAME_ADDRESS
                 : p->ipcp.addr_refused ? SCPS_PPP_WHY_ADDRESS_REFUSED
                 : !p->ipcp.local       ? SCPS_PPP_WHY_NO_ADDRESS
                                        : SCPS_PPP_WHY_NO_AGREEMENT;
    else if (p->why == SCPS_PPP_WHY_NONE)
        p->why = SCPS_PPP_WHY_NO_PROTOCOL;
    if (scps_cp_is_open(&p->lcp.cp) && !may_open(&p->ipcp.cp) && !may_open(&p->ip6cp.cp))
        scps_cp_close(&p->lcp.cp);
}

static void network_up(struct scps_ppp *p, struct scps_cp *cp)
{
    if (cp == &p->ipcp.cp) {
        scps_vj_tx_init(&p->vj_tx);
        scps_vj_rx_init(&p->vj_rx);
        scps_vj_tx_limit(&p->vj_tx, p->ipcp.vj_slots, p->ipcp.always_say);
        /* The peer has assigned no address to this end, or both ends have the same address, so IPv4
         * cannot be used. */
        if (!p->ipcp.local || same_address(p)) {
            cp->gave_up = true;
            scps_cp_close(cp);
            return;
        }
    }
    scps_netif_ready(&p->nif);
}

static void layer(struct scps_cp *cp, enum scps_cp_layer what)
{
    struct scps_ppp *p = owner(cp->env);

    if (cp != &p->lcp.cp) {
        if (what == CP_UP)
            network_up(p, cp);
        else if (what == CP_FINISHED)
            network_finished(p, cp);
    } else if (what == CP_UP) {
        begin_networks(p);
    } else if (what == CP_DOWN) {
        end_networks(p);
    } else {
        link_finished(p);
    }
}

static void proto_rejected(struct scps_lcp *lcp, uint16_t proto)
{
    struct scps_ppp *p = owner(lcp->cp.env);

    switch (proto) {
    case PPP_LCP:
        scps_cp_proto_rejected(&p->lcp.cp);
        break;
    case PPP_IPCP:
    case SCPS_PPP_IP:
        scps_cp_proto_rejected(&p->ipcp.cp);
        break;
    case PPP_IPV6CP:
    case PPP_IPV6:
        scps_cp_proto_rejected(&p->ip6cp.cp);
        break;
    case SCPS_PPP_VJ_COMPRESSED:
    case SCPS_PPP_VJ_UNCOMPRESSED:
        p->ipcp.vj_tx = false;
        break;
    }
}

/* ---- functions that process octets from the line ---- */

/* Starts a new negotiation: events Down and Up (RFC 1661 section 4.3) move LCP to Req-Sent. */
static void negotiate_again(struct scps_ppp *p)
{
    scps_cp_lower_down(&p->lcp.cp);
    scps_lcp_begin(&p->lcp);
    scps_cp_lower_up(&p->lcp.cp);
}

static void lcp_input(struct scps_ppp *p, const uint8_t *data, size_t n)
{
    scps_cp_input(&p->lcp.cp, data, n);
    if (p->lcp.loops >= SCPS_LCP_LOOPS) {
        p->lcp.loops = 0;
        p->why = SCPS_PPP_WHY_LOOPED;
        scps_cp_close(&p->lcp.cp);
        /* An Echo packet has arrived with this end's own magic number. The link is negotiated
         * again, which shows whether the line is looped. */
    } else if (p->lcp.echo_looped) {
        negotiate_again(p);
    }
}

static void restore(struct scps_ppp *p, uint16_t proto, uint8_t *data, size_t n, scps_time at)
{
    enum scps_vj_type type =
        proto == SCPS_PPP_VJ_COMPRESSED ? SCPS_VJ_COMPRESSED : SCPS_VJ_UNCOMPRESSED;
    uint8_t head[SCPS_VJ_HDR_MAX];
    size_t head_n, replaced;
    struct scps_pkt pkt = {.data = head, .at = at};

    if (scps_vj_expand(&p->vj_rx, type, data, n, n, head, &head_n, &replaced)) {
        dropped(p, SCPS_PPP_DROP_VJ);
        return;
    }
    p->vj_restored += type == SCPS_VJ_COMPRESSED;
    pkt.len = pkt.cap = head_n;
    pkt.payload = n > replaced ? data + replaced : NULL;
    pkt.payload_len = n - replaced;
    scps_netif_recv(&p->nif, &pkt);
}

static void network_input(struct scps_ppp *p, uint16_t proto, uint8_t *data, size_t n, scps_time at)
{
    bool is_ipv6 = proto == PPP_IPV6 || proto == PPP_IPV6CP;
    struct scps_cp *cp = is_ipv6 ? &p->ip6cp.cp : &p->ipcp.cp;
    struct scps_pkt pkt = {.data = data, .len = n, .cap = n, .at = at};

    if (!(is_ipv6 ? p->cfg.ipv6 : p->cfg.ipv4)) {
        dropped(p, SCPS_PPP_DROP_PROTOCOL);
        scps_lcp_reject_protocol(&p->lcp, proto, data, n);
    } else if (proto == cp->ops->proto) {
        scps_cp_input(cp, data, n);
    } else if (!scps_cp_is_open(cp)) {
        dropped(p, SCPS_PPP_DROP_NOT_OPEN);
    } else if (proto == SCPS_PPP_IP || proto == PPP_IPV6) {
        scps_netif_recv(&p->nif, &pkt);
    } else {
        restore(p, proto, data, n, at);
    }
}

static void frame_input(struct scps_ppp *p, uint8_t *data, size_t n, scps_time at)
{
    const uint8_t *const end = data + n;
    uint16_t proto;

    p->rx_frames++;
    if (n >= 2 && data[0] == 0xff && data[1] == 0x03)
        data += 2;
    /* The last octet of a protocol field is odd, so an odd first octet is a compressed protocol
     * field. */
    if (data < end && data[0] & 1) {
        proto = *data++;
    } else if (end - data >= 2 && data[1] & 1) {
        proto = scps_get16(data);
        data += 2;
    } else {
        dropped(p, SCPS_PPP_DROP_HEADER);
        return;
    }
    n = (size_t)(end - data);
    if (proto == PPP_LCP) {
        lcp_input(p, data, n);
        return;
    }
    if (!scps_cp_is_open(&p->lcp.cp)) {
        dropped(p, SCPS_PPP_DROP_NOT_OPEN);
        return;
    }
    switch (proto) {
    case PPP_IPCP:
    case PPP_IPV6CP:
    case SCPS_PPP_IP:
    case PPP_IPV6:
    case SCPS_PPP_VJ_COMPRESSED:
    case SCPS_PPP_VJ_UNCOMPRESSED:
        network_input(p, proto, data, n, at);
        break;
    default:
        dropped(p, SCPS_PPP_DROP_PROTOCOL);
        scps_lcp_reject_protocol(&p->lcp, proto, data, n);
        break;
    }
}

/* Processes n octets from the line. After a damaged frame, which may have had a compressed TCP
 * header, the VJ decompressor discards compressed packets until a header names its connection
 * number (slot) explicitly (RFC 1144 section 4.1). */
static void octets_input(struct scps_ppp *p, const uint8_t *data, size_t n, scps_time at)
{
    const uint8_t *end = data + n;

    while (data < end) {
        enum scps_hdlc_got got = scps_hdlc_take(&p->rx, &data, end);

        if (got == SCPS_HDLC_FRAME)
            frame_input(p, p->rx.buf, p->rx.len, at);
        else if (got != SCPS_HDLC_MORE)
            scps_vj_line_error(&p->vj_rx);
        if (got == SCPS_HDLC_BAD_FCS)
            dropped(p, SCPS_PPP_DROP_FCS);
        else if (got == SCPS_HDLC_ABORTED)
            dropped(p, SCPS_PPP_DROP_ABORTED);
        else if (got == SCPS_HDLC_TOO_SHORT)
            dropped(p, SCPS_PPP_DROP_SHORT);
        else if (got == SCPS_HDLC_TOO_LONG)
            dropped(p, SCPS_PPP_DROP_LONG);
    }
}

static int ppp_recv(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    struct scps_ppp *p = of(nif);

    p->env.now = scps_clock_later(p->env.now, pkt->at);
    octets_input(p, pkt->data, pkt->len, pkt->at);
    if (pkt->payload)
        octets_input(p, pkt->payload, pkt->payload_len, pkt->at);
    flush(p);
    return 0;
}

/* ---- functions for the timers of the PPP netif: Restart timers and Echo-Requests ---- */

static scps_time ppp_deadline(const struct scps_netif *nif)
{
    const struct scps_ppp *p = of(nif);
    scps_time first = SCPS_MIN(p->lcp.cp.timer, p->lcp.echo_at);

    if (!p->begun)
        return 0;
    return SCPS_MIN(first, SCPS_MIN(p->ipcp.cp.timer, p->ip6cp.cp.timer));
}

static void begin(struct scps_ppp *p)
{
    p->begun = true;
    set_mtu(p);
    if (p->cfg.ipv4)
        scps_cp_open(&p->ipcp.cp);
    if (p->cfg.ipv6)
        scps_cp_open(&p->ip6cp.cp);
    scps_cp_open(&p->lcp.cp);
    scps_cp_lower_up(&p->lcp.cp);
}

static void ppp_advance(struct scps_netif *nif, scps_time now)
{
    struct scps_ppp *p = of(nif);
    struct scps_cp *all[3] = {&p->lcp.cp, &p->ipcp.cp, &p->ip6cp.cp};

    now = p->env.now = scps_clock_later(p->env.now, now);
    if (!p->begun)
        begin(p);
    for (unsigned i = 0; i < 3; i++)
        if (all[i]->timer <= now)
            scps_cp_timeout(all[i]);
    if (p->lcp.echo_at <= now && !scps_lcp_echo(&p->lcp)) {
        p->why = SCPS_PPP_WHY_ECHO_LOST;
        if (p->cfg.passive)
            /* The line has failed, but the link was not closed: the peer may come back later, so
             * the link is negotiated again. */
            negotiate_again(p);
        else
            scps_cp_close(&p->lcp.cp);
    }
    flush(p);
}

/* ---- functions of the public interface ---- */

static void ppp_close(struct scps_netif *nif)
{
    struct scps_ppp *p = of(nif);
    struct scps_alloc a = p->alloc;

    if (nif->lower && p->begun) {
        /* Closing LCP sends a Terminate-Request to the peer. */
        scps_cp_close(&p->lcp.cp);
        flush(p);
    }
    a.free(a.ctx, p, p->size);
}

static const struct scps_netif_ops ppp_ops = {.name = "ppp",
                                              .send = ppp_send,
                                              .recv = ppp_recv,
                                              .close = ppp_close,
                                              .deadline = ppp_deadline,
                                              .advance = ppp_advance};

void scps_ppp_wire(struct scps_ppp *p)
{
    p->nif.ops = &ppp_ops;
    p->env.layer = layer;
    p->env.nif = &p->nif;
    p->lcp.proto_rejected = proto_rejected;
}

void scps_ppp_shut(struct scps_netif *ppp, scps_time now)
{
    struct scps_ppp *p = of(ppp);

    p->env.now = scps_clock_later(p->env.now, now);
    p->why = SCPS_PPP_WHY_CLOSED;
    p->begun = true;
    scps_cp_close(&p->lcp.cp);
    flush(p);
}
