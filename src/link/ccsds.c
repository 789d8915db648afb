/* SPDX-License-Identifier: MIT */
/* Puts IP packets into CCSDS transfer frames, which have a fixed length, and takes them out again.
 * Each IP packet gets a header of its own (CCSDS encapsulation packet); the encapsulation packets
 * follow each other without gaps and may span frames.
 *
 * Sending: packets are copied into the frame being filled; a full frame is finished and waits for
 * the device. While complete frames wait, a packet of the stack is refused (SCPS_ERR_AGAIN), so the
 * buffer of frames needs room only for those that the longest packet fills.
 *
 * Receiving: the octets of a frame whose count is one above that of the frame before continue the
 * packet that is being read. After a gap in the counts that packet is lost, and reading continues
 * in the next frame at the offset that the frame's first header pointer gives, where the first
 * packet of the frame begins.
 */
#include "link/ccsds.h"

#include <string.h>

#include <scps/error.h>

#include "base/bytes.h"
#include "base/clock.h"

static const uint8_t marker[SCPS_CCSDS_MARKER] = {0x1a, 0xcf, 0xfc, 0x1d};

static struct scps_ccsds *of(const struct scps_netif *nif)
{
    return (struct scps_ccsds *)(uintptr_t)nif;
}

static void dropped(struct scps_ccsds *c, enum scps_ccsds_drop why)
{
    c->stats.drops[why]++;
}

/* ---- functions that put packets into frames ---- */

static size_t marker_len(const struct scps_ccsds *c)
{
    return c->cfg.markers ? SCPS_CCSDS_MARKER : 0;
}

/* Returns the address of frame i (0: the oldest) in the ring of frames to send. With cfg.markers
 * (the line is a byte stream) the synchronisation marker that precedes the frame is at that
 * address. */
static uint8_t *slot(struct scps_ccsds *c, unsigned i)
{
    size_t each = marker_len(c) + c->cfg.frame;

    return c->tx.frames + (c->tx.first + i) % c->tx.room * each;
}

/* Sends the complete frames to the device. Returns false if the device has not accepted all of them
 * yet. */
static bool flush(struct scps_ccsds *c)
{
    while (c->tx.ready) {
        struct scps_pkt pkt = {.data = slot(c, 0), .at = c->now};
        pkt.len = pkt.cap = marker_len(c) + c->cfg.frame;
        int err = scps_netif_send(c->nif.lower, &pkt);

        if (err == SCPS_ERR_AGAIN)
            return false;
        c->stats.tx_frames += err == 0;
        c->tx.first = (c->tx.first + 1) % c->tx.room;
        c->tx.ready--;
    }
    return true;
}

static void finish_frame(struct scps_ccsds *c)
{
    uint8_t *p = slot(c, c->tx.ready);

    memcpy(p, marker, marker_len(c));
    scps_spaceframe_finish(p + marker_len(c), &c->cfg, c->tx.count++, c->tx.pointer);
    c->tx.ready++;
    c->tx.used = 0;
    c->tx.pointer = SPACEFRAME_NO_START;
    c->tx.fill_at = SCPS_NEVER;
}

/* Returns the address at which the next octet is stored in the frame that is being filled with
 * packets. */
static uint8_t *place(struct scps_ccsds *c)
{
    return slot(c, c->tx.ready) + marker_len(c) + scps_spaceframe_head(&c->cfg) + c->tx.used;
}

/* Adds n octets of packets to the frame that is being filled. If the frame is full, completes it
 * and begins the next. */
static void put_octets(struct scps_ccsds *c, const uint8_t *p, size_t n)
{
    while (n) {
        size_t k = SCPS_MIN(n, c->data_len - c->tx.used);

        memcpy(place(c), p, k);
        c->tx.used += k;
        p += k;
        n -= k;
        if (c->tx.used == c->data_len)
            finish_frame(c);
    }
}

static void begin_packet(struct scps_ccsds *c)
{
    if (c->tx.pointer == SPACEFRAME_NO_START)
        c->tx.pointer = (unsigned)c->tx.used;
    if (c->tx.fill_at == SCPS_NEVER)
        c->tx.fill_at = c->now + c->cfg.fill_after;
}

/* Fills the rest of the frame that is being filled with an idle packet (padding that the receiver
 * skips), and completes the frame. Called when the frame's first packet has waited for
 * cfg.fill_after, µs, and when the link is closed. */
static void fill(struct scps_ccsds *c)
{
    size_t n = c->data_len - c->tx.used;

    if (c->tx.pointer == SPACEFRAME_NO_START)
        c->tx.pointer = (unsigned)c->tx.used;
    scps_encap_idle(place(c), n);
    c->stats.tx_idle++;
    c->stats.tx_fill += n;
    finish_frame(c);
}

static int ccsds_send(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    struct scps_ccsds *c = of(nif);
    size_t total = pkt->len + pkt->payload_len;
    unsigned version = pkt->len ? pkt->data[0] >> 4 : 0;
    uint8_t head[SCPS_ENCAP_HEAD];

    if (!pkt->payload && pkt->payload_len)
        /* Payload that is counted but not stored (hollow) occurs in simulations only, so it is
         * refused. */
        return SCPS_ERR_INVAL;
    if (version != 4 && version != 6)
        return SCPS_ERR_INVAL;
    if (total > c->cfg.mtu)
        return SCPS_ERR_MSGSIZE;
    c->now = scps_clock_later(c->now, pkt->at);
    if (!flush(c))
        return SCPS_ERR_AGAIN;
    begin_packet(c);
    put_octets(c, head, scps_encap_build(head, version, total));
    put_octets(c, pkt->data, pkt->len);
    put_octets(c, pkt->payload, pkt->payload_len);
    /* Deadline of a frame: the time at which a partly filled frame is padded and sent. If the
     * packet ends in a later frame than the one in which it began, that later frame gets its
     * deadline now; begin_packet() has set only that of the frame in which the packet began. */
    if (c->tx.used && c->tx.fill_at == SCPS_NEVER)
        c->tx.fill_at = c->now + c->cfg.fill_after;
    c->stats.tx_packets++;
    flush(c);
    return 0;
}

/* ---- functions that take packets out of frames ---- */

/* Passes the IP packet within the complete encapsulation packet at rx.packet to the stack, or
 * counts the reason for which it is dropped. */
static void packet_input(struct scps_ccsds *c, scps_time at)
{
    struct scps_ccsds_rx *r = &c->rx;
    struct scps_pkt pkt = {.at = at};
    size_t skip;

    if (r->what == ENCAP_IDLE) {
        c->stats.rx_idle++;
        return;
    }
    if (r->what != ENCAP_IPE) {
        dropped(c, SCPS_CCSDS_DROP_PROTOCOL);
        return;
    }
    if (r->total > c->cfg.mtu + SCPS_ENCAP_HEAD) {
        dropped(c, SCPS_CCSDS_DROP_LONG);
        return;
    }
    skip = scps_encap_ip(r->packet + r->head, (size_t)r->total - r->head);
    if (!skip) {
        dropped(c, SCPS_CCSDS_DROP_PROTOCOL);
        return;
    }
    c->stats.rx_packets++;
    pkt.data = r->packet + r->head + skip;
    pkt.len = pkt.cap = (size_t)r->total - r->head - skip;
    scps_netif_recv(&c->nif, &pkt);
}

static void forget_packet(struct scps_ccsds *c)
{
    c->rx.len = 0;
    c->rx.total = 0;
}

/* Reads n octets of encapsulation packets from a frame's data field; the octets follow directly
 * those read before. Returns false at a malformed packet header: the octets behind it cannot be
 * read, because the packet's length is unknown. */
static bool packets_input(struct scps_ccsds *c, const uint8_t *p, size_t n, scps_time at)
{
    struct scps_ccsds_rx *r = &c->rx;
    const size_t room = c->cfg.mtu + SCPS_ENCAP_HEAD;

    while (n) {
        size_t k = 1;

        /* r->total is not 0: the packet's length is known, so its missing octets, as far as this
         * frame has them, are read at once. A header is read octet by octet, until it says how long
         * the packet is. */
        if (r->total)
            k = (size_t)SCPS_MIN((uint64_t)n, r->total - r->len);
        if (r->len < room)
            memcpy(r->packet + r->len, p, SCPS_MIN(k, room - r->len));
        r->len += k;
        p += k;
        n -= k;
        if (!r->total) {
            r->what = scps_encap_parse(r->packet, r->len, &r->head, &r->total);
            if (r->what == ENCAP_WRONG) {
                dropped(c, SCPS_CCSDS_DROP_PACKET);
                forget_packet(c);
                return false;
            }
            if (r->what == ENCAP_MORE)
                r->total = 0;
        }
        if (r->total && r->len == r->total) {
            packet_input(c, at);
            forget_packet(c);
        }
    }
    return true;
}

/* Records the frame count of frame f. Returns false if the count is not one above that of the
 * previous frame: frames are missing between both, or f is out of order. */
static bool in_sequence(struct scps_ccsds *c, const struct scps_spaceframe *f)
{
    struct scps_ccsds_rx *r = &c->rx;
    uint64_t mask = f->bits >= 64 ? UINT64_MAX : (UINT64_C(1) << f->bits) - 1;
    uint64_t gap = (f->count - r->count - 1) & mask;
    bool first = !r->counted;

    if (!f->bits)
        return true;
    r->count = f->count;
    r->counted = true;
    if (first || gap == 0)
        return true;
    /* The count is lower than expected (modulo its range, more than half of the range would be
     * missing), so the frame arrived out of order, or the sender has restarted. */
    if (gap > mask / 2)
        dropped(c, SCPS_CCSDS_DROP_LATE);
    else
        c->stats.lost_frames += gap;
    return false;
}

static void lose_packet(struct scps_ccsds *c)
{
    if (c->rx.len)
        dropped(c, SCPS_CCSDS_DROP_CUT);
    forget_packet(c);
    c->rx.synced = false;
}

static void frame_input(struct scps_ccsds *c, const uint8_t *p, scps_time at)
{
    struct scps_ccsds_rx *r = &c->rx;
    struct scps_spaceframe f;
    enum scps_ccsds_drop drop = scps_spaceframe_parse(p, &c->cfg, &f);
    size_t n, before;

    if (drop != SCPS_CCSDS_DROP_COUNT) {
        dropped(c, drop);
        return;
    }
    c->stats.rx_frames++;
    if (!in_sequence(c, &f))
        lose_packet(c);
    if (f.pointer == SPACEFRAME_ALL_IDLE)
        return;
    p += f.begin;
    n = f.end - f.begin;
    before = f.pointer == SPACEFRAME_NO_START ? n : f.pointer;
    if (r->synced && !packets_input(c, p, before, at))
        r->synced = false;
    if (f.pointer == SPACEFRAME_NO_START)
        return;
    /* The packet that is being read should have ended where the frame's first header pointer says
     * that the next packet begins, and has not; so its length field is wrong, and it is dropped. */
    if (r->synced && r->len) {
        dropped(c, SCPS_CCSDS_DROP_POINTER);
        forget_packet(c);
    }
    r->synced = packets_input(c, p + before, n - before, at);
}

/* Reads n octets of a byte stream, in which a synchronisation marker precedes each frame. Octets
 * before a marker are dropped, each counted as SCPS_CCSDS_DROP_MARKER. */
static void stream_input(struct scps_ccsds *c, const uint8_t *p, size_t n, scps_time at)
{
    struct scps_ccsds_rx *r = &c->rx;
    size_t whole = SCPS_CCSDS_MARKER + c->cfg.frame;

    while (n) {
        if (r->have < SCPS_CCSDS_MARKER) {
            r->stream[r->have++] = *p++;
            n--;
            while (r->have && memcmp(r->stream, marker, r->have) != 0) {
                memmove(r->stream, r->stream + 1, --r->have);
                dropped(c, SCPS_CCSDS_DROP_MARKER);
            }
            continue;
        }
        size_t k = SCPS_MIN(n, whole - r->have);
        memcpy(r->stream + r->have, p, k);
        r->have += k;
        p += k;
        n -= k;
        if (r->have == whole) {
            r->have = 0;
            frame_input(c, r->stream + SCPS_CCSDS_MARKER, at);
        }
    }
}

static int ccsds_recv(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    struct scps_ccsds *c = of(nif);

    c->now = scps_clock_later(c->now, pkt->at);
    if (c->cfg.markers)
        stream_input(c, pkt->data, pkt->len, pkt->at);
    else if (pkt->len == c->cfg.frame)
        frame_input(c, pkt->data, pkt->at);
    else
        dropped(c, SCPS_CCSDS_DROP_FRAME);
    return 0;
}

/* ---- the CCSDS filter's timer, which completes and sends a partly filled frame; close ---- */

static scps_time ccsds_deadline(const struct scps_netif *nif)
{
    const struct scps_ccsds *c = of(nif);

    return c->begun ? c->tx.fill_at : 0;
}

static void ccsds_advance(struct scps_netif *nif, scps_time now)
{
    struct scps_ccsds *c = of(nif);

    c->now = scps_clock_later(c->now, now);
    if (!c->begun) {
        c->begun = true;
        for (struct scps_netif *n = nif; n; n = n->upper)
            n->mtu = c->cfg.mtu;
    }
    if (c->tx.fill_at <= c->now && flush(c))
        fill(c);
    flush(c);
}

static void ccsds_close(struct scps_netif *nif)
{
    struct scps_ccsds *c = of(nif);
    struct scps_alloc a = c->alloc;

    if (nif->lower && c->tx.fill_at != SCPS_NEVER && flush(c)) {
        /* Before the link is closed, the frame that is being filled is completed and sent, because
         * the packets in it may be a reset or an acknowledgement. */
        fill(c);
        flush(c);
    }
    a.free(a.ctx, c, c->size);
}

static const struct scps_netif_ops ccsds_ops = {.name = "ccsds",
                                                .send = ccsds_send,
                                                .recv = ccsds_recv,
                                                .close = ccsds_close,
                                                .deadline = ccsds_deadline,
                                                .advance = ccsds_advance};

void scps_ccsds_wire(struct scps_ccsds *c)
{
    c->nif.ops = &ccsds_ops;
}
