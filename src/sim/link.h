/* SPDX-License-Identifier: MIT */
/* One direction of a link as a thing of its own: packets go in with the time, and come out at
 * theirs. */
#ifndef SCPS_SIM_LINK_H
#define SCPS_SIM_LINK_H

#include "sim/codel.h"
#include "sim/errors.h"

#include <scps/sim.h>

#define SCPS_LINK_SIZES 16

struct scps_linkdir {
    /* the line */
    scps_time free_us;  /* it is free from free_us + free_frac / rate on */
    uint64_t free_frac; /* below the rate */
    scps_time sent_us;  /* the end of the last frame, rounded down */
    /* the next thing to look at */
    scps_time next; /* SCPS_NEVER: nothing is on the way */
    enum scps_link_next {
        SCPS_LINK_ARRIVES, /* the head of the ring */
        SCPS_LINK_HELD,    /* the top of held[] */
        SCPS_LINK_LINE     /* the line: nothing can arrive before next */
    } what;
    struct scps_link_size {
        uint32_t frame; /* bytes on the line: the key */
        uint32_t bits;  /* of the frame that bit errors can hit */
        scps_time us;   /* time on the line: us + frac / rate */
        uint64_t frac;
        uint64_t survive; /* chance * 2^64 of no bit error */
    } size[SCPS_LINK_SIZES];
    /* the packets, in the order they came: [head, line) are on the line or on the way, [line, tail)
     * wait */
    uint8_t *ring;
    size_t ring_cap;           /* a power of two */
    uint64_t head, line, tail; /* byte positions, never wrapping */
    scps_time last_at; /* the latest time at which a frame of [head, line) arrives at the far end */
    uint32_t wait_n;
    uint64_t wait_bytes; /* frames that wait */
    /* those that do not keep the order: a heap by arrival, then by seq; beyond n spare buffers */
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
    bool simple; /* at most ber and loss happen to a packet, and nothing moves its arrival */
    bool behind; /* what arrives next is the head of the ring, and there is nothing but the ring */
    bool narrow; /* the queue has a limit */
    bool direct; /* what finds the line free goes onto it: nobody asks further */
    struct scps_prng r_dup, r_reorder, r_jitter;
    struct scps_codel codel;
    uint32_t largest;       /* frame seen */
    uint64_t framing_carry; /* see framing.h */
    uint8_t *scratch;       /* of a packet with bits flipped: as it came */
    uint32_t scratch_cap;

    scps_verdict_fn *tell; /* NULL: nobody */
    void *tell_ctx;

    struct scps_link_config cfg;
    struct scps_link_stats st;
    uint64_t line_bytes; /* put on the line at this rate, the future included */
    scps_time line_us;   /* time the line was busy before the rate became this one */
    uint64_t stream;     /* which of the seed's streams */
    struct scps_alloc alloc;
};

/* SCPS_ERR_INVAL for a configuration that makes no sense. Directions that share a seed need a
 * `stream` each. Takes no memory yet. */
int scps_linkdir_init(struct scps_linkdir *d, const struct scps_link_config *cfg, uint64_t stream,
                      const struct scps_alloc *a);
void scps_linkdir_fini(struct scps_linkdir *d);
/* As scps_channel_change. The chance streams go on unless the seed is another. */
int scps_linkdir_change(struct scps_linkdir *d, scps_time now, const struct scps_link_config *cfg);
/* Takes a packet at now (which never goes back). 0, also when it will not arrive; SCPS_ERR_NOMEM:
 * it is lost. */
int scps_linkdir_offer(struct scps_linkdir *d, scps_time now, const struct scps_pkt *pkt);
/* What begins each record of the ring; the bytes follow, to a multiple of 8. */
struct scps_link_record {
    scps_time at; /* waiting: when it came; on the way: when it arrives; or one of the marks */
    uint32_t len, hollow;
    uint32_t frame;       /* waiting: bytes on the line; on the way: how many copies arrive */
    uint32_t number : 31; /* of those offered, low bits */
    uint32_t whole : 1;   /* its checksum was right, and nothing has been damaged since */
};
#define SCPS_LINK_WRAP ((scps_time)-1) /* go on at the beginning */
#define SCPS_LINK_GONE ((scps_time)-2) /* lost, or held back */
static inline struct scps_link_record *scps_link_record_at(const struct scps_linkdir *d,
                                                           uint64_t pos)
{
    return (struct scps_link_record *)(void *)(d->ring + (pos & (d->ring_cap - 1)));
}
/* Everything the line does until now. */
void scps_linkdir_advance(struct scps_linkdir *d, scps_time now);
/* The packet that arrives at d->next, by now; its bytes are lent until the next call. False: there
 * is none. */
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
/* Delivered: forgets it. */
void scps_linkdir_pop(struct scps_linkdir *d);
/* in_flight counts what has arrived by now and was not popped. */
void scps_linkdir_stats(struct scps_linkdir *d, scps_time now, struct scps_link_stats *out);

#endif
