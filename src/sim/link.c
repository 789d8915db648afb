/* SPDX-License-Identifier: MIT */
/* One direction of a link: a queue, a line that sends one frame at a time at a rate, and a
 * propagation delay.
 *
 *     offer ──> waiting ──> line ──> delay ──> arrival
 *               (queue)    8 n / rate
 *
 * All packets are in one byte ring (linkring.h) in the order in which they were offered. A packet
 * stays at its place until it arrives: two positions in the ring move, and separate the packets
 * that wait from those on the line or propagating. The line starts a packet when the one before has
 * been sent. At the start, the end of the packet's transmission, its time of arrival and its fate
 * (delivered, damaged or lost) are determined with the present settings of the link, and are
 * reported to the link's observer, if any. No event is needed for this: scps_linkdir_advance()
 * simulates the line up to the present time when the next packet is offered or arrives, or when a
 * caller asks for the state. So the result does not depend on how often this function is called. An
 * event for the line itself (SCPS_LINK_LINE) is needed only if a waiting packet could arrive before
 * all packets under way: when none is propagating, or when the delay has become shorter.
 *
 * A lost packet leaves a record with the time SCPS_LINK_GONE. Packets that do not arrive in the
 * order of the ring are moved to a small heap beside it: those delayed at random (setting
 * `reorder`), and those that arrive before earlier ones because the delay became shorter. At equal
 * arrival times a packet of the ring arrives before one of the heap.
 *
 * The time on the line is exact: microseconds and a numerator over the rate in bit/s, so no
 * fraction is lost over any number of packets, even when the rate changes during a transmission.
 * Only the time of arrival is rounded up to a whole microsecond, at which the last bit has arrived.
 *
 * A lost packet occupies the line like any other. The second copy of a duplicated packet is made
 * behind the line: it needs no time on the line, has the same damage and arrives right behind the
 * first one, or before it when `reorder` delays the first one. Jitter keeps the order: a packet
 * that would arrive before an earlier one arrives at the same time as that one.
 */
#include "sim/link.h"

#include "base/bytes.h"
#include "sim/framing.h"
#include "sim/linkfate.h"
#include "sim/linkheld.h"
#include "sim/linkring.h"
#include "sim/linksize.h"
#include "sim/linkstate.h"

#include <assert.h>
#include <string.h>

/* If a packet that waits in the queue could arrive before d->next (the next event of the
 * direction), sets d->next to the earliest possible time of that arrival, with the kind
 * SCPS_LINK_LINE. At that time scps_linkdir_arrived() calls scps_linkdir_advance(), which simulates
 * the line: it takes the packets from the queue whose transmission begins by then, and computes
 * when they arrive. */
static inline void look_at_line(struct scps_linkdir *d)
{
    if (d->wait_n && d->free_us != SCPS_NEVER) {
        scps_time soonest = d->idle_at + (d->cfg.delays.n ? 0 : d->cfg.delay);
        if (soonest < d->next) {
            d->next = soonest;
            d->what = SCPS_LINK_LINE;
            d->behind = false;
        }
    }
}

static inline void find_next(struct scps_linkdir *d)
{
    d->what = SCPS_LINK_ARRIVES;
    if (d->head != d->line) {
        d->next = scps_link_record_at(d, d->head)->at;
        d->behind = !d->held_n;
        /* d->in_order: in all the time since the direction was last without a packet, only random
         * losses and bit errors were configured, which change no arrival time. So held[], the heap
         * of packets that arrive out of order, is empty, and the packets in the queue arrive after
         * those under way: no event can come before the arrival of the packet at the head of the
         * ring. */
        if (d->in_order)
            return;
    } else {
        d->next = SCPS_NEVER;
        d->behind = false;
        d->in_order = d->simple && !d->held_n;
    }
    if (d->held_n && d->held[0].at < d->next) {
        d->next = d->held[0].at;
        d->what = SCPS_LINK_HELD;
    }
    look_at_line(d);
}

/* Updates d->next, the time of the next event of the direction, after a packet was offered.
 * d->behind: d->next is the arrival of the packet at the head of the ring. If held[], the heap of
 * packets that arrive out of order, is empty, too, the offered packet cannot arrive before that
 * one, so d->next stays. Exception: if the delay of the link has become shorter, a packet in the
 * queue may arrive earlier (look_at_line()); with d->in_order it has not. If d->behind is false or
 * held[] is not empty, the next event is searched for (find_next()). */
static inline void find_next_offered(struct scps_linkdir *d)
{
    if (!d->behind || d->held_n)
        find_next(d);
    else if (!d->in_order)
        look_at_line(d);
}

static inline void copy_packet(uint8_t *to, const struct scps_pkt *pkt)
{
    memcpy(to, pkt->data, pkt->len);
    if (pkt->payload)
        memcpy(to + pkt->len, pkt->payload, pkt->payload_len);
}

static inline uint32_t stored(const struct scps_pkt *pkt)
{
    return (uint32_t)(pkt->len + (pkt->payload ? pkt->payload_len : 0));
}

/* ---- functions that send the packets of the queue on the line ---- */

/* Puts the next frame on the line when the line is free, at free_us + free_frac / rate (µs), and
 * advances this time to the end of the frame's transmission. s: time and size of the frame. */
static inline void occupy(struct scps_linkdir *d, const struct scps_link_size *s)
{
    scps_time us = d->free_us + s->us;
    uint64_t frac = d->free_frac + s->frac;

    if (frac >= d->cfg.rate_bps && d->cfg.rate_bps > 0) {
        frac -= d->cfg.rate_bps;
        us++;
    }
    scps_link_set_free(d, us, frac);
    d->line_bytes += s->frame;
}

/* Puts a frame on the line while the rate changes in steps: the bits that are sent in each step
 * take the time of that step's rate. */
static SCPS_SELDOM void occupy_stepwise(struct scps_linkdir *d, uint32_t frame)
{
    scps_time from = d->free_us, us = from;
    uint64_t frac = d->free_frac;

    /* the bits of the frame times 10^6, the unit of rate (bit/s) times time (µs); below 2^55 */
    scps_steps_send(&d->cfg.rates, frame * SCPS_LINK_BITS_US, &us, &frac);
    scps_link_set_free(d, us, frac);
    d->line_us += d->free_us - from;
}

/* Determines the fate of the packet that has just been sent on the line, when only bit errors and
 * random losses are configured (d->simple). at: its time of arrival if it is not lost, µs. */
static inline void settle_simple(struct scps_linkdir *d, struct scps_link_record *r,
                                 const struct scps_link_size *s, scps_time at)
{
    enum scps_fate fate = scps_errors_simple(&d->err, s->survive);

    if (fate == SCPS_FATE_DELIVERED) {
        d->last_at = r->at = at;
        r->frame = 1;
    } else {
        r->at = SCPS_LINK_GONE;
        scps_linkfate_count(d, fate);
    }
}

/* Puts the packet at position pos of the ring on the line: computes when its transmission ends and
 * its fate. */
static inline void start(struct scps_linkdir *d, struct scps_link_record *r, uint64_t pos)
{
    const struct scps_link_size *s = scps_linksize_of(d, r->frame);
    scps_time first = d->free_us;

    if (d->cfg.rates.n)
        occupy_stepwise(d, s->frame);
    else
        occupy(d, s);
    d->sent_us = d->free_us;
    if (d->head == d->line)
        d->head = pos;
    d->line = pos;
    scps_time end = d->idle_at, at = end + d->cfg.delay;
    if (d->simple && !d->verdict_fn && (d->head == d->line || at >= d->last_at))
        settle_simple(d, r, s, at);
    else
        scps_linkfate_settle(d, r, s, first, end);
}

/* Removes record r at position pos from the queue: its packet has been put on the line or dropped
 * by CoDel. */
static inline void leave(struct scps_linkdir *d, const struct scps_link_record *r, uint64_t pos)
{
    if (d->head == d->line)
        d->head = pos;
    d->line = scps_linkring_behind(r, pos);
    if (r->at == SCPS_LINK_GONE)
        scps_linkring_skip(d);
}

/* Returns true if CoDel drops the packet that was just taken from the head of the queue. */
static SCPS_SELDOM bool codel_drops(struct scps_linkdir *d, struct scps_link_record *r,
                                    scps_time now)
{
    if (!d->cfg.codel_interval ||
        !scps_codel_drop(&d->codel, d->cfg.codel_target, d->cfg.codel_interval, now, now - r->at,
                         d->wait_bytes, d->largest))
        return false;
    struct scps_pkt pkt = scps_linkfate_packet(d, r);
    scps_time offered = r->at;
    r->at = SCPS_LINK_GONE;
    scps_linkfate_refuse(d, offered, scps_linkfate_number(d, r), &pkt, SCPS_FATE_CODEL);
    return true;
}

/* If the configuration lets packets wait during outages (`hold`), and the time from which the line
 * is free is in an outage, sets that time to the end of the outage. */
static SCPS_SELDOM void wait_for_link(struct scps_linkdir *d)
{
    scps_time up;

    /* free_us SCPS_NEVER: the link is down until its configuration is changed. */
    if (!d->cfg.hold || !scps_link_has_outages(&d->cfg) || d->free_us == SCPS_NEVER)
        return;
    up = scps_spans_up(&d->cfg.outages, d->free_us);
    if (up != d->free_us)
        scps_link_set_free(d, up, 0);
}

static inline void drain(struct scps_linkdir *d, scps_time now)
{
    while (d->wait_n) {
        if (!d->direct)
            wait_for_link(d);
        if (d->idle_at > now)
            break;
        uint64_t pos = scps_linkring_at(d, d->line);
        struct scps_link_record *r = scps_link_record_at(d, pos);
        d->wait_n--;
        d->wait_bytes -= r->frame;
        if (d->direct || !codel_drops(d, r, d->idle_at))
            start(d, r, pos);
        leave(d, r, pos);
    }
}

/* Puts all packets of the queue on the line whose transmission begins at or before `now`, µs, the
 * time up to which the line is simulated. */
static inline void run_line(struct scps_linkdir *d, scps_time now)
{
    if (d->wait_n && (d->idle_at <= now || !d->direct))
        drain(d, now);
}

void scps_linkdir_advance(struct scps_linkdir *d, scps_time now)
{
    run_line(d, now);
    find_next(d);
}

static inline bool queue_full(const struct scps_linkdir *d, uint32_t frame)
{
    return d->wait_bytes + frame > d->max_bytes || d->wait_n >= d->max_packets;
}

/* ---- functions for packets that are offered and for packets that arrive ---- */

/* Counts a packet of `bytes` bytes, `frame` bytes on the line, that is offered now. Returns true if
 * it has to wait in the queue because the line is busy. */
static inline bool offered(struct scps_linkdir *d, scps_time now, uint32_t bytes, uint32_t frame)
{
    run_line(d, now);
    if (!d->wait_n && d->idle_at <= now) {
        scps_link_set_free(d, now, 0);
        if (!d->direct)
            wait_for_link(d);
    }
    d->st.offered++;
    d->st.offered_bytes += bytes;
    d->st.in_flight++;
    if (frame > d->largest)
        d->largest = frame;
    return d->wait_n || d->idle_at > now;
}

/* Returns the place in the ring for the record of an offered packet, with len bytes behind the
 * record's header. waits: the packet has to wait in the queue. Returns NULL if the packet is lost;
 * then *fate is SCPS_FATE_QUEUE (the queue is full) or SCPS_FATE_LOSS (there is no memory). */
static inline struct scps_link_record *place(struct scps_linkdir *d, uint32_t frame, uint32_t len,
                                             bool waits, enum scps_fate *fate)
{
    struct scps_link_record *r = NULL;

    *fate = SCPS_FATE_QUEUE;
    if (!waits || !queue_full(d, frame)) {
        *fate = SCPS_FATE_LOSS;
        r = scps_linkring_room(d, sizeof *r + SCPS_LINKRING_ROUND(len));
    }
    return r;
}

/* Puts the offered packet of record r, which the caller has filled in, into the queue if it waits,
 * otherwise on the line. */
static inline void enter(struct scps_linkdir *d, scps_time now, struct scps_link_record *r,
                         uint32_t frame, uint32_t len, bool waits)
{
    uint64_t pos = d->tail;

    d->tail = pos + sizeof *r + SCPS_LINKRING_ROUND(len);
    if (!waits && d->direct) {
        start(d, r, pos);
        leave(d, r, pos);
    } else {
        d->wait_n++;
        d->wait_bytes += frame;
        if (waits && d->wait_bytes > d->st.max_queue_bytes)
            d->st.max_queue_bytes = d->wait_bytes;
        if (!waits)
            run_line(d, now);
    }
    find_next_offered(d);
}

int scps_linkdir_offer(struct scps_linkdir *d, scps_time now, const struct scps_pkt *pkt)
{
    const uint32_t bytes = (uint32_t)(pkt->len + pkt->payload_len), len = stored(pkt);
    const uint32_t frame =
        d->cfg.overhead +
        (d->cfg.framing ? scps_framing_bytes(d->cfg.framing, pkt, &d->framing_carry) : bytes);
    struct scps_link_record *r;
    enum scps_fate fate;
    bool waits;

    assert(pkt->len + pkt->payload_len <= 1u << 20);
    waits = offered(d, now, bytes, frame);
    r = place(d, frame, len, waits, &fate);
    if (!r) {
        scps_linkfate_refuse(d, now, d->st.offered, pkt, fate);
        find_next(d);
        return fate == SCPS_FATE_QUEUE ? 0 : SCPS_ERR_NOMEM;
    }
    *r = (struct scps_link_record){.at = now,
                                   .len = len,
                                   .hollow = pkt->payload ? 0 : (uint32_t)pkt->payload_len,
                                   .frame = frame,
                                   .number = d->st.offered & SCPS_LINK_NUMBERS,
                                   .whole = pkt->csum_ok};
    copy_packet((uint8_t *)(r + 1), pkt);
    enter(d, now, r, frame, len, waits);
    return 0;
}

/* Counts the segment that was offered last as lost, because the queue is full (fate is
 * SCPS_FATE_QUEUE) or there is no memory, and reports the loss to the direction's observer. */
static SCPS_SELDOM void refuse_segment(struct scps_linkdir *d, scps_time now,
                                       const struct scps_conn *c, const struct scps_seg *seg,
                                       uint32_t headers, enum scps_fate fate)
{
    /* Buffer for the packet that the observer gets: scps_values_put() stores the headers at its
     * start as a struct scps_values, which scps_values_to_octets() then replaces by their octets.
     * It is twice as large as that structure, because the octets may take more space. */
    struct scps_values room[2];
    struct scps_pkt pkt = {.data = (uint8_t *)room,
                           .len = headers,
                           .payload = seg->data,
                           .payload_len = seg->len,
                           .csum_ok = true,
                           .at = now};

    scps_values_put(room, c, seg, headers);
    scps_values_to_octets(&pkt);
    scps_linkfate_refuse(d, now, d->st.offered, &pkt, fate);
    find_next(d);
}

int scps_linkdir_offer_segment(struct scps_linkdir *d, scps_time now, const struct scps_conn *c,
                               const struct scps_seg *seg, uint32_t headers)
{
    const uint32_t bytes = headers + seg->len, len = seg->data ? bytes : headers;
    const uint32_t frame = d->cfg.overhead + bytes;
    bool waits = offered(d, now, bytes, frame);
    enum scps_fate fate;
    struct scps_link_record *r = place(d, frame, len, waits, &fate);

    if (!r) {
        refuse_segment(d, now, c, seg, headers, fate);
        return fate == SCPS_FATE_QUEUE ? 0 : SCPS_ERR_NOMEM;
    }
    *r = (struct scps_link_record){.at = now,
                                   .len = len,
                                   .hollow = bytes - len,
                                   .frame = frame,
                                   .number = d->st.offered & SCPS_LINK_NUMBERS,
                                   .values = true,
                                   .whole = true};
    scps_values_put((struct scps_values *)(void *)(r + 1), c, seg, headers);
    if (seg->data)
        memcpy((uint8_t *)(r + 1) + headers, seg->data, seg->len);
    enter(d, now, r, frame, len, waits);
    return 0;
}

SCPS_SELDOM void scps_linkdir_to_octets(struct scps_linkdir *d, struct scps_pkt *pkt)
{
    scps_values_to_octets(pkt);
    if (d->what == SCPS_LINK_ARRIVES)
        scps_link_record_at(d, d->head)->values = false;
    else
        d->held[0].values = false;
}

/* Removes the packet that arrives at d->next from the ring, or from the heap of packets that arrive
 * out of order. */
static SCPS_NOINLINE void pop_any(struct scps_linkdir *d)
{
    scps_time now = d->next;

    assert(d->next != SCPS_NEVER && d->what != SCPS_LINK_LINE);
    if (d->what == SCPS_LINK_HELD) {
        d->st.delivered_bytes += d->held[0].len + d->held[0].hollow;
        scps_linkheld_pop(d);
    } else {
        struct scps_link_record *r = scps_link_record_at(d, d->head);
        d->st.delivered_bytes += r->len + r->hollow;
        if (--r->frame == 0) {
            d->head = scps_linkring_behind(r, d->head);
            scps_linkring_skip(d);
        }
    }
    d->st.delivered++;
    d->st.in_flight--;
    /* If other packets of the ring are on the line or propagating, those that wait in the queue
     * need not be put on the line now. That is done when a packet is offered, when the last of
     * those under way has arrived, or at an event SCPS_LINK_LINE. An observer (verdict_fn) is told
     * a packet's fate when its transmission begins, so with one it is done now. */
    if (d->head == d->line || d->verdict_fn)
        run_line(d, now);
    find_next(d);
}

/* Fast path of scps_linkdir_pop(): removes the packet at the head of the ring if the packet that
 * arrives after it is certainly the next one in the ring, because all packets arrive in order.
 * Returns false, with nothing changed, if that is not certain. */
static inline bool pop_in_order(struct scps_linkdir *d)
{
    const struct scps_link_record *r = scps_link_record_at(d, d->head), *next;
    uint64_t pos = scps_linkring_behind(r, d->head);

    if (!d->in_order || d->what != SCPS_LINK_ARRIVES || r->frame != 1 || pos == d->line ||
        d->verdict_fn)
        return false;
    next = scps_link_record_at(d, pos);
    if (next->at == SCPS_LINK_GONE || next->at == SCPS_LINK_WRAP)
        return false;
    d->head = pos;
    d->next = next->at;
    d->st.delivered_bytes += r->len + r->hollow;
    d->st.delivered++;
    d->st.in_flight--;
    return true;
}

void scps_linkdir_pop(struct scps_linkdir *d)
{
    if (!pop_in_order(d))
        pop_any(d);
}

void scps_linkdir_stats(struct scps_linkdir *d, scps_time now, struct scps_link_stats *out)
{
    scps_linkdir_advance(d, now);
    *out = d->st;
    out->busy = d->line_us + scps_link_line_time(d->line_bytes, d->cfg.rate_bps);
    /* The last frame ends in the future, so only its time until now counts as busy. */
    if (d->sent_us > now)
        out->busy -= d->sent_us - now;
}
