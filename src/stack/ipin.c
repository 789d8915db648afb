/* SPDX-License-Identifier: MIT */
/* Processes an arriving packet: checks and parses it, and finds its connection or endpoint. Answers
 * packets that belong to none. */
#include "stack/stack.h"

#include "base/bytes.h"
#include "base/cksum.h"
#include "base/fastpath.h"
#include "core/seq.h"
#include "stack/connid.h"
#include "wire/ip.h"
#include "wire/tcp.h"
#ifdef SCPS_SPOIL_STATISTICS
#include "stack/dgram.h"
#endif

static SCPS_NOINLINE_SIZE bool loopback(const struct scps_addr *a)
{
    static const uint8_t one[16] = {[15] = 1};

    return a->family == 4 ? a->b[0] == 127 : !memcmp(a->b, one, 16);
}

/* Checks the source and destination address of an arriving packet. Both must be unicast (RFC 1122
 * section 4.2.3.10). A loopback source address is accepted only if the destination address is one,
 * too (RFC 1122 section 3.2.1.3 (g)). */
static enum scps_drop check_addresses(const struct scps_stack *st, const struct scps_addr *src,
                                      const struct scps_addr *dst)
{
    if (!scps_route_unicast(src) || !scps_route_unicast(dst) || scps_route_broadcast(st, src))
        return SCPS_DROP_BAD_ADDRESS;
    if (!scps_route_local(st, dst))
        return SCPS_DROP_NOT_OURS;
    if (loopback(src) && !loopback(dst))
        return SCPS_DROP_BAD_ADDRESS;
    /* A segment from this host's own address ("land" attack) would be answered for ever. */
    if (scps_addr_equal(src, dst))
        return SCPS_DROP_BAD_ADDRESS;
    return SCPS_DROP_NONE;
}

/* Counts a wrong checksum. With the setting checksum_hints, also informs all connections with this
 * peer that the link damages segments. */
static SCPS_NOINLINE int bad_checksum(struct scps_stack *st, const struct scps_addr *remote)
{
    if (st->cfg.checksum_hints)
        scps_signal_pass(st, &(struct scps_signal){.kind = SCPS_SIGNAL_DAMAGED, .remote = *remote});
    return scps_stack_drop(st, SCPS_DROP_BAD_CHECKSUM);
}

static int input_no_connection(struct scps_stack *st, struct scps_nif *nif,
                               const struct scps_flow *f, const struct scps_seg *seg)
{
    enum scps_drop bad = check_addresses(st, &f->remote, &f->local);
    struct scps_listener *l;

    if (bad)
        return scps_stack_drop(st, bad);
    l = scps_listener_find(st, &f->local, f->lport);
    if (l)
        return scps_listener_input(l, nif, f, seg);
    scps_answer_reset(st, nif, f, seg);
    return scps_stack_drop(st, SCPS_DROP_NO_CONNECTION);
}

/* Ends old, which is in TIME-WAIT, and passes seg, a SYN of its peer with the same addresses and
 * ports f, to the listener. RFC 9293 section 3.6.1: TIME-WAIT may end in this way if TCP "assigns
 * its initial sequence number for the new connection to be larger than the largest sequence number
 * it used on the previous connection incarnation". The clock of initial sequence numbers (RFC 6528)
 * does not ensure that: old may have sent more than the 250000 octets a second by which that clock
 * advances. So the new connection begins with the first number that old has not used, if that is
 * higher. Only a SYN cookie, whose number is computed from the SYN, cannot be moved in this way. */
static SCPS_NOINLINE int reopen(struct scps_stack *st, struct scps_nif *nif, struct scps_conn *old,
                                const struct scps_flow *f, const struct scps_seg *seg)
{
    const uint32_t unused = scps_seq_wrap(old->s.snd.iss, old->s.snd.nxt);
    struct scps_conn *c;
    int err;

    scps_conn_finish(old, 0);
    /* The connection `old` stays until the application closes its handle; without its pointer to
     * the netif, the netif may be removed before. */
    scps_conn_detach(old);
    err = input_no_connection(st, nif, f, seg);
    c = scps_demux_find(st, f);
    if (c && c->state == SCPS_SYN_RECEIVED && (int32_t)(c->s.snd.iss - unused) < 0)
        scps_connid_renumber(st, c, unused);
    return err;
}

/* Sets seg->data and its length to the payload of the packet. Returns 0, or the drop reason if the
 * packet is too short. */
static inline enum scps_drop take_payload(size_t avail, struct scps_seg *seg,
                                          const struct scps_pkt *in)
{
    /* in->payload holds the data; it is NULL if the data is hollow (counted, not stored). */
    if (in->payload_len) {
        if (seg->hdr_len != avail || seg->len != in->payload_len)
            return SCPS_DROP_TRUNCATED;
        seg->data = in->payload;
    } else if (!seg->data) {
        return SCPS_DROP_TRUNCATED;
    }
    seg->gso = in->gso;
    return SCPS_DROP_NONE;
}

/* The result of parsing a segment: the connection that will process it. */
struct taker {
    /* the connection; NULL: no connection processes the segment, which has been handled
     * completely */
    struct scps_conn *c;
    bool compressed; /* true: the segment had a compressed header */
};

/* Sends the SYN-ACK of connection c again, because the peer has repeated its SYN. Any host can make
 * a listener send SYN-ACKs, by repeating a SYN with the source address of another host. Therefore
 * the SYN-ACK of each connection is repeated at most twice a second. The repeated SYN-ACK of a
 * connection that a listener accepts is also charged to the share of the link's rate that replies
 * to hosts without a connection may take (reply.c explains that share). A SYN-ACK that is not
 * repeated is counted as SCPS_DROP_RATE_LIMITED. Its retransmission timer runs in any case. */
static void repeat_syn_ack(struct scps_stack *st, struct scps_nif *nif, struct scps_conn *c)
{
    const struct scps_listener *l = scps_conn_listener(c);

    if (scps_ackout_may_answer(&c->ack, st->env.now) &&
        (!l ||
         scps_answer_syn_ack(st, nif, &c->remote, SCPS_SYN_ACK_AGAIN, scps_listener_has_many(l))))
        scps_conn_repeat_syn_ack(c);
    else
        scps_env_drop(&st->env, SCPS_DROP_RATE_LIMITED);
}

/* Called after connection c has processed a segment with result err (0, or a scps_drop), if c uses
 * header compression or err is not 0: answers a refused segment, and records whether the peer sends
 * compressed or TCP headers. */
static SCPS_NOINLINE int delivered(struct scps_stack *st, struct scps_nif *nif, struct scps_conn *c,
                                   const struct scps_seg *seg, bool compressed, int err)
{
    if (!err) {
        scps_comp_accepted(st, c, seg);
        if (compressed)
            scps_comp_good(c, seg);
        else if (!(seg->flags & SCPS_SYN))
            scps_comp_came_as_tcp(c);
        return 0;
    }
    if (err == SCPS_DROP_OLD_DUPLICATE && seg->flags & SCPS_SYN && c->state == SCPS_SYN_RECEIVED)
        repeat_syn_ack(st, nif, c);
    if (err == SCPS_DROP_BAD_ACK && c->state == SCPS_SYN_RECEIVED && scps_conn_listener(c))
        return scps_listener_other_ack(scps_conn_listener(c), nif, c, seg);
    if (err == SCPS_DROP_BAD_ACK || err == SCPS_DROP_AFTER_CLOSE ||
        (err == SCPS_DROP_NO_CONNECTION && !(c->s.todo.bits & SCPS_TODO_RST) &&
         scps_route_local(st, &c->local))) {
        struct scps_flow f = {c->local, c->remote, c->lport, c->rport};
        scps_answer_reset(st, nif, &f, seg);
    }
    return err;
}

static SCPS_ALWAYS_INLINE int deliver(struct scps_stack *st, struct scps_nif *nif,
                                      struct scps_conn *c, const struct scps_seg *seg,
                                      bool compressed)
{
#ifdef SCPS_SPOIL_STATISTICS
    memset(c->s.ctx.st, 0x5A, sizeof *c->s.ctx.st);
#endif
    /* Header prediction is tried only for segments with data. */
    int err = seg->len && scps_rcv_predicted(c, seg) ? 0 : scps_conn_input(c, seg);

    if (err || c->s.agreed.caps & SCPS_CAP_COM)
        return delivered(st, nif, c, seg, compressed, err);
    return 0;
}

/* Parses a TCP segment into *seg, and sets *taker, which must be zeroed, to its connection. Returns
 * 0, or the reason (enum scps_drop) for which the segment was dropped and counted. */
static int tcp_input(struct scps_stack *st, struct scps_nif *nif, const struct scps_ip *ip,
                     const struct scps_pkt *in, struct scps_seg *seg, struct taker *taker)
{
    const uint8_t *p = in->data + ip->hdr_len;
    size_t avail = SCPS_MIN(in->len, ip->total_len) - ip->hdr_len;
    struct scps_flow f;
    struct scps_conn *c;
    int err = scps_tcp_parse(p, avail, ip->total_len - ip->hdr_len, seg);

    if (!err)
        err = (int)take_payload(avail, seg, in);
    if (!err && !in->csum_ok &&
        scps_tcp_checksum(&ip->src, &ip->dst, p, seg->hdr_len, seg->data, seg->len))
        return bad_checksum(st, &ip->src);
    if (err)
        return scps_stack_drop(st, (enum scps_drop)err);
    seg->tos = ip->tos;
    f = (struct scps_flow){ip->dst, ip->src, seg->dport, seg->sport};
    c = scps_demux_find(st, &f);
    if (c && scps_conn_may_reopen(c, seg) && scps_listener_find(st, &f.local, f.lport))
        return reopen(st, nif, c, &f, seg);
    /* For an arriving segment, a connection in CLOSED does not exist (RFC 9293 section 3.3.2), even
     * if the application still has its handle. While a reset of it is still to be sent, only a SYN
     * is processed as if the connection did not exist, so that it opens a new one. */
    if (c && c->state == SCPS_CLOSED &&
        (!(c->s.todo.bits & SCPS_TODO_RST) || (seg->flags & (SCPS_SYN | SCPS_ACK)) == SCPS_SYN))
        c = NULL;
    taker->c = c;
    return c ? 0 : input_no_connection(st, nif, &f, seg);
}

/* Parses a segment with SCPS-TP's compressed header (IP protocol 105) and sets *taker to its
 * connection. Returns 0, or the reason (enum scps_drop) for which the segment was dropped and
 * counted. */
static int comp_input(struct scps_stack *st, const struct scps_ip *ip, const struct scps_pkt *in,
                      struct scps_seg *seg, struct taker *taker)
{
    int err = 0;
    struct scps_conn *c = scps_comp_input(st, ip, in, seg, &err);

    if (err == SCPS_DROP_BAD_CHECKSUM)
        return bad_checksum(st, &ip->src);
    if (err)
        return scps_stack_drop(st, (enum scps_drop)err);
    *taker = (struct taker){c, true};
    return 0;
}

/* Returns true for a packet of the fast path: a TCP segment in an IPv4 header without options,
 * contiguous, complete, and without an ECN field of an outer tunnel header (in->ecn is 0). */
static inline bool ordinary(const struct scps_pkt *in)
{
    const uint8_t *p = in->data;

    return in->len >= 40 && p[0] == 0x45 && !in->ecn &&
           /* This comparison checks three fields at once: MF and the fragment offset are 0, and the
            * protocol is TCP; the TTL between them is masked. */
           (scps_get32(p + 6) & 0x3fff00ff) == SCPS_IPPROTO_TCP &&
           scps_get16(p + 2) == in->len + in->payload_len && SCPS_FAST_PATH(SCPS_FAST_INPUT);
}

/* Returns the connection of an IPv4 packet whose addresses and ports lie at `flow`; NULL: there is
 * none, or it is in TIME-WAIT or CLOSED, so the packet cannot take the fast path (any_input()
 * processes it). */
static inline struct scps_conn *owner(struct scps_stack *st, struct scps_nif *nif,
                                      const uint8_t flow[12])
{
    struct scps_conn *c = scps_lastflow_find(&nif->last, flow);

    if (!c || c->state >= SCPS_TIME_WAIT) {
        c = scps_demux_find4(st, flow);
        if (!c || c->state >= SCPS_TIME_WAIT)
            return NULL;
        scps_lastflow_set(&nif->last, c, flow);
    }
    return c;
}

/* Verifies the TCP checksum of an IPv4 packet without options, whose addresses lie directly before
 * the TCP header. */
static inline bool sum_good(const uint8_t *p, const struct scps_seg *seg)
{
    uint64_t sum = (uint64_t)scps_sum_word(SCPS_IPPROTO_TCP) +
                   scps_sum_word((uint16_t)(seg->hdr_len + seg->len));

    sum = scps_sum8(scps_sum8(scps_sum8(sum, p + 12), p + 20), p + 28);
    if (seg->hdr_len == 32)
        sum = scps_sum8(scps_sum8(sum, p + 36), p + 44);
    else
        sum = scps_sum_header(sum, p + 36, seg->hdr_len - 16u);
    if (seg->data && seg->len)
        sum = scps_sum_long(sum, seg->data, seg->len);
    return scps_sum_fold_raw(sum) == 0xffff;
}

/* Parses a packet of the fast path, of connection c, into *seg. Returns 0, or the reason (enum
 * scps_drop) for which the packet was dropped and counted. */
static inline int ordinary_segment(struct scps_stack *st, const struct scps_conn *c,
                                   const struct scps_pkt *in, struct scps_seg *seg)
{
    const uint8_t *p = in->data;
    int err;

    if (!in->csum_ok &&
        scps_sum_fold_raw(scps_sum4(scps_sum8(scps_sum8(0, p), p + 8), p + 16)) != 0xffff)
        return scps_stack_drop(st, SCPS_DROP_BAD_IP_CHECKSUM);
    err = scps_tcp_read(p + 20, in->len - 20, in->len - 20 + in->payload_len, seg);
    if (!err)
        err = (int)take_payload(in->len - 20, seg, in);
    if (!err && !in->csum_ok && !sum_good(p, seg))
        return bad_checksum(st, &c->remote);
    if (err)
        return scps_stack_drop(st, (enum scps_drop)err);
    seg->tos = p[1];
    return 0;
}

static int udp_input(struct scps_stack *st, struct scps_nif *nif, const struct scps_ip *ip,
                     const struct scps_pkt *in)
{
    size_t first = SCPS_MIN(in->len, ip->total_len), apart = ip->total_len - first;
    struct scps_udp u;
    enum scps_drop bad = check_addresses(st, &ip->src, &ip->dst);
    int err;

    if (bad)
        return scps_stack_drop(st, bad);
    err = scps_udp_parse_pieces(ip, in->data + ip->hdr_len, first - ip->hdr_len, in->payload, apart,
                                in->csum_ok, &u);
    if (err == SCPS_DROP_BAD_CHECKSUM)
        return bad_checksum(st, &ip->src);
    if (err)
        return scps_stack_drop(st, (enum scps_drop)err);
    return scps_dgram_input(st, nif, ip, &u, in);
}

/* Combines *tos, the ECN field of a packet from a tunnel, with `outer`, the ECN field of the outer
 * header. Returns false if the packet must be dropped (RFC 6040 section 4.2). */
static bool leave_tunnel(uint8_t *tos, uint8_t outer)
{
    /* RFC 6040 section 4.2, figure 4; a row for each field of the packet:
     *
     *              outer:  Not-ECT    ECT(1)     ECT(0)     CE
     *    inner: Not-ECT    Not-ECT    Not-ECT    Not-ECT    drop
     *           ECT(1)     ECT(1)     ECT(1)     ECT(1)     CE
     *           ECT(0)     ECT(0)     ECT(1)     ECT(0)     CE
     *           CE         CE         CE         CE         CE
     */
    enum { DROP = 4 };
    static const uint8_t combined[4][4] = {
        {SCPS_ECN_NONE, SCPS_ECN_NONE, SCPS_ECN_NONE, DROP},
        {SCPS_ECN_ECT1, SCPS_ECN_ECT1, SCPS_ECN_ECT1, SCPS_ECN_CE},
        {SCPS_ECN_ECT0, SCPS_ECN_ECT1, SCPS_ECN_ECT0, SCPS_ECN_CE},
        {SCPS_ECN_CE, SCPS_ECN_CE, SCPS_ECN_CE, SCPS_ECN_CE},
    };
    uint8_t ecn = combined[*tos & 3][outer & 3];

    if (ecn == DROP)
        return false;
    *tos = (uint8_t)((*tos & ~3u) | ecn);
    return true;
}

/* General code for packets that do not take the fast path: processes a packet that is no TCP
 * segment; parses a segment into *seg and sets *taker, which must be zeroed, to its connection. */
static SCPS_NOINLINE int any_input(struct scps_stack *st, struct scps_nif *nif,
                                   const struct scps_pkt *in, struct scps_seg *seg,
                                   struct taker *taker)
{
    struct scps_ip ip;
    enum scps_drop bad;
    int err;

    err = scps_ip_parse(in->data, in->len, in->len + in->payload_len, &ip);
    if (err)
        return scps_stack_drop(st, (enum scps_drop)err);
    if (ip.more_frags || ip.frag_off)
        return scps_stack_drop(st, SCPS_DROP_FRAGMENT);
    err = ip.version == 6 && ip.hdr_len > 40 ? scps_ip_extension_forbids(in->data, &ip) : 0;
    if (err)
        return scps_stack_drop(st, (enum scps_drop)err);
    if (ip.version == 4 && ip.hdr_len > 20 && scps_ip_route_goes_on(in->data, &ip))
        return scps_stack_drop(st, SCPS_DROP_NOT_OURS);
    if (in->ecn && !leave_tunnel(&ip.tos, in->ecn))
        return scps_stack_drop(st, SCPS_DROP_NOT_ECT);
    switch (ip.proto) {
    case SCPS_IPPROTO_TCP:
        return tcp_input(st, nif, &ip, in, seg, taker);
    case SCPS_IPPROTO_SCPS_COMP:
        return comp_input(st, &ip, in, seg, taker);
    case SCPS_IPPROTO_UDP:
        return udp_input(st, nif, &ip, in);
    case SCPS_IPPROTO_ICMP:
    case SCPS_IPPROTO_ICMPV6:
        if ((ip.proto == SCPS_IPPROTO_ICMP) != (ip.version == 4))
            return scps_stack_drop(st, SCPS_DROP_UNKNOWN_PROTOCOL);
        bad = check_addresses(st, &ip.src, &ip.dst);
        if (bad)
            return scps_stack_drop(st, bad);
        return scps_icmp_input(st, nif, &ip, in->data + ip.hdr_len,
                               SCPS_MIN(in->len, ip.total_len) - ip.hdr_len);
    default:
        return scps_stack_drop(st, SCPS_DROP_UNKNOWN_PROTOCOL);
    }
}

/* Called before an arriving packet is processed: frees connections that have ended, and advances
 * the stack's time to `at`, the arrival time of the packet. */
static inline void arrived(struct scps_stack *st, scps_time at)
{
    if (st->env.dead)
        scps_stack_reap(st);
    scps_stack_clock(st, at);
}

#ifdef SCPS_SPOIL_STATISTICS
/* Overwrites the counters of the stack, of its netifs, endpoints and connections. The test
 * house.statistics builds with this macro, which shows that the counters do not influence the
 * protocol. */
static void spoil(struct scps_stack *st)
{
    memset(&st->count, 0x5A, sizeof st->count);
    memset(st->env.drops, 0x5A, sizeof st->env.drops);
    st->env.challenges = 0x5A5A;
    for (const struct scps_nif *nif = st->nifs; nif; nif = nif->next)
        for (struct scps_netif *n = nif->nif; n; n = n->lower)
            n->tx_packets = n->tx_bytes = n->tx_errors = n->rx_packets = n->rx_bytes =
                n->rx_dropped = 0x5A5A5A5A5A5A;
    for (struct scps_dgram *d = NULL; (d = scps_dgram_each(st, d));)
        memset(&d->count, 0x5A, sizeof d->count);
}
#endif

static inline void count(struct scps_stack *st, size_t len)
{
#ifdef SCPS_SPOIL_STATISTICS
    spoil(st);
#endif
    st->count.packets_in++;
    st->count.bytes_in += len;
}

int scps_stack_input(struct scps_stack *st, struct scps_netif *netif, const struct scps_pkt *in)
{
    struct scps_nif *nif = scps_nif_of(netif);
    struct scps_conn *c;
    struct scps_seg seg;
    bool compressed = false;

    if (netif->stack != st)
        return scps_stack_drop(st, SCPS_DROP_NOT_OURS);
    arrived(st, in->at);
    count(st, in->len + in->payload_len);
    c = ordinary(in) ? owner(st, nif, in->data + 12) : NULL;
    if (c) {
        int err = ordinary_segment(st, c, in, &seg);
        if (err)
            return err;
    } else {
        struct taker taker = {NULL, false};
        int err = any_input(st, nif, in, &seg, &taker);
        if (!taker.c)
            return err;
        c = taker.c;
        compressed = taker.compressed;
    }
    return deliver(st, nif, c, &seg, compressed);
}

/* Returns true if seg belongs to c, a connection over IPv4. addrs: source and destination address
 * of the segment, as in an IPv4 packet. */
static inline bool belongs(const struct scps_conn *c, const uint8_t addrs[8],
                           const struct scps_seg *seg)
{
    return seg->sport == c->rport && seg->dport == c->lport && memcmp(addrs, c->remote.b, 4) == 0 &&
           memcmp(addrs + 4, c->local.b, 4) == 0;
}

/* Returns the connection of a segment that a simulated device passes as a structure; NULL: there is
 * none, or it is in TIME-WAIT or CLOSED, so the segment cannot take the fast path. */
static SCPS_NOINLINE struct scps_conn *owner_of_segment(struct scps_stack *st, struct scps_nif *nif,
                                                        const uint8_t addrs[8],
                                                        const struct scps_seg *seg)
{
    uint8_t flow[12];

    memcpy(flow, addrs, 8);
    scps_put32(flow + 8, (uint32_t)seg->sport << 16 | seg->dport);
    return owner(st, nif, flow);
}

int scps_stack_input_segment(struct scps_stack *st, struct scps_nif *nif, const uint8_t addrs[8],
                             const struct scps_seg *seg, size_t len, scps_time at)
{
    struct scps_conn *c;

    arrived(st, at);
    c = nif->last.conn;
    if (!c || c->state >= SCPS_TIME_WAIT || !belongs(c, addrs, seg))
        c = owner_of_segment(st, nif, addrs, seg);
    if (!c)
        return SCPS_ERR_AGAIN;
    count(st, len);
    return deliver(st, nif, c, seg, false);
}
