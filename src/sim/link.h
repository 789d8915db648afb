/* SPDX-License-Identifier: MIT */
/* One direction of a link: packets are offered with a time and arrive at a time. */
#ifndef SCPS_SIM_LINK_H
#define SCPS_SIM_LINK_H

#include "sim/codel.h"
#include "sim/errors.h"

#include <scps/sim.h>

#define SCPS_LINK_SIZES 16

struct scps_linkdir {
    /* the line */
    scps_time free_us;  /* The line is free from free_us + free_frac / rate on. */
    uint64_t free_frac; /* below the rate */
    scps_time sent_us;  /* end of the last frame, rounded down, µs */
    /* The next event of this direction */
    scps_time next; /* time of that event; SCPS_NEVER: nothing is under way */
    enum scps_link_next {
        SCPS_LINK_ARRIVES, /* the packet at the head of the ring arrives */
        SCPS_LINK_HELD,    /* the top of held[] */
        SCPS_LINK_LINE     /* the line must be served: nothing can arrive before */
    } what;
    struct scps_link_size {
        uint32_t frame; /* bytes on the line, the key of this cache */
        uint32_t bits;  /* bits of the frame that are at risk */
        scps_time us;   /* time on the line: us + frac / rate */
        uint64_t frac;
        uint64_t survive; /* 2^64 times the probability of no bit error */
    } size[SCPS_LINK_SIZES];
    /* The packets in the order in which they were offered: [head, line) are on the line or under
     * way, [line, tail) wait */
    uint8_t *ring;
    size_t ring_cap;           /* a power of two */
    uint64_t head, line, tail; /* byte positions, never wrapping */
    scps_time last_at;         /* latest arrival of a packet of [head, line) */
    uint32_t wait_n;
    uint64_t wait_bytes; /* frames that wait */
    /* Packets out of order: a heap by arrival time, then by seq; the buffers beyond n are spare */
    struct scps_link_held {
        scps_time at;
        uint64_t seq;
        uint8_t *buf;
        uint32_t cap, len, hollow;
        bool whole;
    } * held;
    uint32_t held_n, held_cap;
    uint64_t held_seq;
    /* Random numbers: a generator of its own for each kind of event, so that one more kind does not
     * change the others. */
    struct scps_errors err;
    uint64_t dup, reorder; /* thresholds */
    bool simple;           /* only ber and loss happen to packets, and arrivals are not moved */
    bool behind;           /* the next arrival is the head of the ring, and the heap is empty */
    bool narrow;           /* the queue has a limit */
    /* a packet that finds the line idle skips the queue: there is no CoDel, and the line does not
     * wait during outages */
    bool direct;
    struct scps_prng r_dup, r_reorder, r_jitter;
    struct scps_codel codel;
    uint32_t largest;       /* frame seen */
    uint64_t framing_carry; /* see framing.h */
    uint8_t *scratch;       /* copy of a packet before its bits were flipped */
    uint32_t scratch_cap;

    scps_verdict_fn *tell; /* NULL: no reports */
    void *tell_ctx;

    struct scps_link_config cfg;
    struct scps_link_stats st;
    uint64_t line_bytes; /* bytes sent at the present rate, frames in the future included */
    /* time for which the line was busy before the rate changed to the present one */
    scps_time line_us;
    uint64_t stream; /* number of the random stream within the seed */
    struct scps_alloc alloc;
};

/* Initialises a direction; no memory is taken yet. SCPS_ERR_INVAL for an impossible configuration.
 * Directions that share a seed need different values of `stream`. */
int scps_linkdir_init(struct scps_linkdir *d, const struct scps_link_config *cfg, uint64_t stream,
                      const struct scps_alloc *a);
void scps_linkdir_fini(struct scps_linkdir *d);
/* As scps_channel_change. The random streams continue unless the seed changes. */
int scps_linkdir_change(struct scps_linkdir *d, scps_time now, const struct scps_link_config *cfg);
/* Takes a packet at now (which never goes back). Returns 0, also when it will not arrive;
 * SCPS_ERR_NOMEM: it is lost. */
int scps_linkdir_offer(struct scps_linkdir *d, scps_time now, const struct scps_pkt *pkt);
/* Header of a record in the ring; the packet's bytes follow, padded to a multiple of 8. */
struct scps_link_record {
    /* time of offering while it waits; time of arrival when it is under way; or one of the marks */
    scps_time at;
    uint32_t len, hollow;
    /* bytes on the line while it waits; number of copies when it is under way */
    uint32_t frame;
    uint32_t number : 31; /* low bits of its number among the packets offered */
    uint32_t whole : 1;   /* its checksum was right, and it has not been damaged since */
};
#define SCPS_LINK_WRAP ((scps_time)-1) /* mark: the next record is at the start of the ring */
#define SCPS_LINK_GONE ((scps_time)-2) /* lost, or held back */
static inline struct scps_link_record *scps_link_record_at(const struct scps_linkdir *d,
                                                           uint64_t pos)
{
    return (struct scps_link_record *)(void *)(d->ring + (pos & (d->ring_cap - 1)));
}
/* Simulates the line until now. */
void scps_linkdir_advance(struct scps_linkdir *d, scps_time now);
/* Gets the packet that arrives at d->next, by now; its bytes are lent until the next call. Returns
 * false if there is none. */
static inline bool scps_linkdir_peek(struct scps_linkdir *d, scps_time now, struct scps_pkt *pkt)
{
    while (d->next <= now && d->what == SCPS_LINK_LINE)
        scps_linkdir_advance(d, now);
    if (d->next > now || d->next == SCPS_NEVER)
        return false;
    if (d->what == SCPS_LINK_ARRIVES) {
        struct scps_link_record *r = scps_link_record_at(d, d->head);
        *pkt = (struct scps_pkt){.data = (uint8_t *)(r + 1),
                                 .len = r->len,
                                 .cap = r->len,
                                 .payload_len = r->hollow,
                                 .csum_ok = r->whole,
                                 .at = r->at};
    } else {
        const struct scps_link_held *h = d->held;
        *pkt = (struct scps_pkt){.data = h->buf,
                                 .len = h->len,
                                 .cap = h->len,
                                 .payload_len = h->hollow,
                                 .csum_ok = h->whole,
                                 .at = h->at};
    }
    return true;
}
/* Removes the packet that was delivered. */
void scps_linkdir_pop(struct scps_linkdir *d);
/* Gets the counters; in_flight includes packets that have arrived by now and were not popped. */
void scps_linkdir_stats(struct scps_linkdir *d, scps_time now, struct scps_link_stats *out);

#endif
