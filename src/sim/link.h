/* SPDX-License-Identifier: MIT */
/* One direction of a link: packets are offered with a time and arrive at a time. */
#ifndef SCPS_SIM_LINK_H
#define SCPS_SIM_LINK_H

#include "sim/codel.h"
#include "sim/errors.h"
#include "sim/values.h"

#include <scps/sim.h>

#define SCPS_LINK_SIZES 16

struct scps_linkdir {
    /* state of the line, which sends one frame at a time */
    /* time from which the line is free, µs; the fraction free_frac / rate is added */
    scps_time free_us;
    /* fraction of a microsecond, as a numerator over the rate in bit/s; smaller than the rate */
    uint64_t free_frac;
    /* time from which the line is free, rounded up to whole µs: a packet that is offered then finds
     * the line free */
    scps_time idle_at;
    scps_time sent_us; /* end of the last frame on the line, rounded down to whole µs */
    /* time and kind of the next event of this direction: an arrival, or a time at which one is
     * possible */
    scps_time next; /* time of the next event, µs; SCPS_NEVER: nothing is under way */
    enum scps_link_next {
        /* `next` is the arrival of the packet at the head of the ring (`ring`), which has all
         * packets in the order in which they were offered */
        SCPS_LINK_ARRIVES,
        /* `next` is the arrival of the first packet in the heap held[], which has the packets that
         * arrive out of order (reordered, or overtaking because the delay became shorter) */
        SCPS_LINK_HELD,
        /* `next` is not an arrival, but the earliest time at which a packet that still waits in the
         * queue could arrive. At that time the line, which sends one frame at a time, is simulated
         * (scps_linkdir_advance()): that computes when the packets of the queue do arrive. */
        SCPS_LINK_LINE
    } what;
    /* Cache of the values that depend only on the size of a frame (linksize.h). */
    struct scps_link_size {
        uint32_t frame; /* size of the frame on the line, bytes: the key of the entry */
        /* number of bits of such a frame that errors can damage: all but those of its first
         * ber_exempt bytes (a setting of the link) */
        uint32_t bits;
        /* time that a frame of this size is on the line, µs; the fraction frac / rate is added */
        scps_time us;
        uint64_t frac;    /* fraction of a microsecond, as a numerator over the rate in bit/s */
        uint64_t survive; /* 2^64 times the probability that the frame has no bit error */
    } size[SCPS_LINK_SIZES];
    /* Buffer with a record for each packet, in the order in which the packets were offered. Records
     * at positions head to line - 1 are on the line or propagating; those from line to tail - 1
     * wait in the queue. */
    uint8_t *ring;
    size_t ring_cap; /* size of the ring, bytes: a power of two; 0: there is no ring */
    /* ring_cap - 1, which ANDed with a position gives the offset in `ring`; 0 without a ring */
    size_t ring_mask;
    /* Positions in the ring. head: the first record of a packet on the line or propagating; line:
     * the first record of a packet that waits in the queue; tail: the end of the last record, where
     * the next one is put. Positions count bytes since the ring was last empty and may exceed
     * ring_cap. head equals line if no packet is on the line or propagating. */
    uint64_t head, line, tail;
    /* Position up to which memory behind `tail` is known to be free. A new record that ends beyond
     * it may fit as well: scps_linkring_find_room() then computes this limit again. */
    uint64_t room_end;
    /* latest time, µs, at which a packet of the ring that is on the line or propagating arrives */
    scps_time last_at;
    uint32_t wait_n;
    uint64_t wait_bytes; /* bytes of the frames that wait in the queue, framing included */
    /* Heap of packets that do not arrive in the order in which they were offered: those delayed by
     * the setting `reorder`, and those that overtake others because the delay became shorter. All
     * other packets stay in `ring` until they arrive. A packet is copied from the ring to the heap
     * when it is put on the line and its time of arrival is computed. The first entry arrives next;
     * the order is by arrival time, then by seq, the order of insertion. The first held_n of
     * held_cap entries are in use; the others keep their buffers for later packets. */
    struct scps_link_held {
        scps_time at;
        uint64_t seq;
        uint8_t *buf;
        uint32_t cap, len, hollow;
        bool whole, values;
    } * held;
    uint32_t held_n, held_cap;
    uint64_t held_seq;
    /* Random numbers: each kind of event has a generator of its own, so that switching one kind on
     * does not change the others. */
    struct scps_errors err;
    uint64_t dup, reorder; /* probabilities of duplication and of reordering, times 2^64 */
    /* true: of all impairments only bit errors and random losses are configured, and damaged
     * packets are lost, so nothing changes a packet's contents or time of arrival */
    bool simple;
    /* true: `next`, the time of the next event of this direction, is the arrival of the packet at
     * the head of the ring, and held[], the heap of packets that arrive out of order, was empty
     * when `next` was searched for. A packet that is offered then is behind that packet in the ring
     * and arrives no earlier, so `next` need not be searched for again (find_next_offered()). */
    bool behind;
    /* true: packets arrive in the order in which they were offered. In all the time since the
     * direction was last without a packet, `simple` has been true: only bit errors and random
     * losses were configured, which change no time of arrival. */
    bool in_order;
    /* true: neither CoDel nor waiting during outages is configured, so a packet that is offered
     * while the line is idle is put on the line without passing through the queue */
    bool direct;
    /* limits of the queue: max_bytes, in bytes of frames; max_packets. UINT64_MAX and UINT32_MAX:
     * no limit */
    uint64_t max_bytes;
    uint32_t max_packets;
    struct scps_prng r_dup, r_reorder, r_jitter;
    struct scps_codel codel;
    /* size of the largest frame so far, bytes, which CoDel uses as the maximum packet size */
    uint32_t largest;
    /* Part of a byte on the line, left over by the packets so far, that framing adds to the next
     * packet. PPP: in 1/256 byte, from the mean number of escapes in hollow bytes (payload that is
     * counted but not stored). HDLC: in 1/496 byte, from the bits that are inserted. CCSDS transfer
     * frames (AOS, TM): in 1/1103 or 1/1105 byte, as packets share frames. 0 with other
     * framings. */
    uint64_t framing_carry;
    /* buffer of scratch_cap bytes for the observer (verdict_fn): a packet as it was before its bits
     * were flipped, or with its headers as octets; NULL: none allocated yet */
    uint8_t *scratch;
    uint32_t scratch_cap;

    /* observer of the direction: function that is called with the fate of each packet; NULL:
     * none */
    scps_verdict_fn *verdict_fn;
    void *verdict_ctx;

    struct scps_link_config cfg;
    struct scps_link_stats st;
    /* bytes put on the line since the rate last changed; frames whose transmission has not ended
     * count in full */
    uint64_t line_bytes;
    /* Time, µs, for which the line was busy before the rate last changed; scps_linkdir_stats() adds
     * the time of line_bytes at the present rate. While a table of rates is configured, the time of
     * each frame is added here, and line_bytes does not grow. */
    scps_time line_us;
    uint64_t stream; /* number that distinguishes directions with the same seed */
    struct scps_alloc alloc;
};

/* Initialises a direction without allocating memory. stream: a number that differs between
 * directions with the same seed. Returns 0, or SCPS_ERR_INVAL for an impossible configuration. */
int scps_linkdir_init(struct scps_linkdir *d, const struct scps_link_config *cfg, uint64_t stream,
                      const struct scps_alloc *a);
void scps_linkdir_fini(struct scps_linkdir *d);
/* Changes the configuration from the time `now`, µs, on: packets on the line or propagating keep
 * their times, packets in the queue get the new settings. If the old table of rates stops the line
 * in the middle of a frame, the new configuration sends the rest of this frame, so that packets in
 * the queue do not wait for the end of the stop and overtake the packet in the frame. The random
 * streams continue unless the seed changes. Returns 0, or SCPS_ERR_INVAL with nothing changed. */
int scps_linkdir_change(struct scps_linkdir *d, scps_time now, const struct scps_link_config *cfg);
/* Offers packet pkt, which is copied, to the direction at `now`, µs; `now` never decreases from
 * call to call. Returns 0, also when the packet will not arrive; SCPS_ERR_NOMEM: the packet is lost
 * for lack of memory. */
int scps_linkdir_offer(struct scps_linkdir *d, scps_time now, const struct scps_pkt *pkt);
/* Offers segment seg of connection c as scps_linkdir_offer() does a packet. Its headers are stored
 * as a structure (struct scps_values) instead of octets. headers: their length as octets, from
 * scps_values_len(). Precondition: no framing is configured for the direction. */
int scps_linkdir_offer_segment(struct scps_linkdir *d, scps_time now, const struct scps_conn *c,
                               const struct scps_seg *seg, uint32_t headers);
/* Header of a record in the ring; the packet's bytes follow, padded to a multiple of 8. */
struct scps_link_record {
    /* while the packet waits in the queue: time at which it was offered, µs; afterwards: its time
     * of arrival, µs; SCPS_LINK_WRAP, SCPS_LINK_GONE: the record has no packet */
    scps_time at;
    uint32_t len, hollow;
    /* while the packet waits: bytes that it takes on the line; afterwards: number of copies of it
     * that arrive from this record, 1 or 2 */
    uint32_t frame;
    uint32_t number : 30; /* low bits of the packet's number among all that were offered */
    /* 1: the packet's headers are stored as a structure, not as octets (values.h) */
    uint32_t values : 1;
    /* 1: the packet's transport checksum was known to be right when the packet was offered, and
     * errors of the line have not changed the packet since */
    uint32_t whole : 1;
};
/* largest value of the field `number`: a mask of 30 bits */
#define SCPS_LINK_NUMBERS ((UINT32_C(1) << 30) - 1)
/* Value of `at` of a record that has no packet: the next record is at the start of the ring. */
#define SCPS_LINK_WRAP ((scps_time)-1)
/* Value of `at` of a record whose packet was lost, or moved to the heap of packets that arrive out
 * of order (held[]). */
#define SCPS_LINK_GONE ((scps_time)-2)
static inline struct scps_link_record *scps_link_record_at(const struct scps_linkdir *d,
                                                           uint64_t pos)
{
    return (struct scps_link_record *)(void *)(d->ring + (pos & d->ring_mask));
}
/* Simulates the line until the time `now`, µs: packets in the queue whose transmission begins by
 * then are put on the line. Sets d->next and d->what to time and kind of the next event: the next
 * arrival, or the earliest time at which a packet that still waits in the queue could arrive. */
void scps_linkdir_advance(struct scps_linkdir *d, scps_time now);
/* Returns true if a packet arrives at or before `now`, µs; its time of arrival is d->next. */
static inline bool scps_linkdir_arrived(struct scps_linkdir *d, scps_time now)
{
    while (d->next <= now && d->what == SCPS_LINK_LINE)
        scps_linkdir_advance(d, now);
    return d->next <= now && d->next != SCPS_NEVER;
}
/* Returns the record of the next packet to arrive, at the time d->next, if its headers are a struct
 * scps_values, which follows the record in memory. Returns NULL if the headers are octets, or if
 * the packet is in held[], the heap of packets that arrive out of order; then the caller uses
 * scps_linkdir_packet(). Precondition: scps_linkdir_arrived() has returned true. */
static inline const struct scps_link_record *scps_linkdir_values(const struct scps_linkdir *d)
{
    const struct scps_link_record *r;

    if (d->what != SCPS_LINK_ARRIVES)
        return NULL;
    r = scps_link_record_at(d, d->head);
    return r->values ? r : NULL;
}
/* Sets *pkt to the next packet to arrive in direction d, at the time d->next. Its bytes are valid
 * until the next call of a function that changes d. Precondition: scps_linkdir_arrived() has
 * returned true. */
static inline void scps_linkdir_packet(const struct scps_linkdir *d, struct scps_pkt *pkt)
{
    if (d->what == SCPS_LINK_ARRIVES) {
        struct scps_link_record *r = scps_link_record_at(d, d->head);
        *pkt = (struct scps_pkt){.data = (uint8_t *)(r + 1),
                                 .len = r->len,
                                 .cap = r->values ? SCPS_PKT_VALUES : r->len,
                                 .payload_len = r->hollow,
                                 .csum_ok = r->whole,
                                 .at = r->at};
    } else {
        const struct scps_link_held *h = d->held;
        *pkt = (struct scps_pkt){.data = h->buf,
                                 .len = h->len,
                                 .cap = h->values ? SCPS_PKT_VALUES : h->len,
                                 .payload_len = h->hollow,
                                 .csum_ok = h->whole,
                                 .at = h->at};
    }
}
/* Returns true, and sets *pkt to the packet that arrives next, if it arrives at or before now, µs.
 * Returns false otherwise. */
static inline bool scps_linkdir_peek(struct scps_linkdir *d, scps_time now, struct scps_pkt *pkt)
{
    if (!scps_linkdir_arrived(d, now))
        return false;
    scps_linkdir_packet(d, pkt);
    return true;
}
/* Replaces the headers of packet *pkt, a struct scps_values (the values of the header fields in a
 * structure; sim/values.h), by the octets of these headers. Precondition: scps_linkdir_packet() has
 * set *pkt to the next packet to arrive, and the headers of that packet are a struct
 * scps_values. */
void scps_linkdir_to_octets(struct scps_linkdir *d, struct scps_pkt *pkt);
/* Removes the next packet to arrive in direction d, whose time of arrival is d->next, after the
 * caller has processed it, and finds the next event of d. */
void scps_linkdir_pop(struct scps_linkdir *d);
/* Copies the counters to *out; in_flight includes packets that have arrived by now and were not
 * removed. */
void scps_linkdir_stats(struct scps_linkdir *d, scps_time now, struct scps_link_stats *out);

#endif
