/* SPDX-License-Identifier: MIT */
/* One direction of a link as a thing of its own: packets go in with the time, and come out at theirs. */
#ifndef SCPS_SIM_LINK_H
#define SCPS_SIM_LINK_H

#include "sim/loss.h"

#include <scps/sim.h>

#define SCPS_LINK_SIZES 16

struct scps_linkdir {
    /* the line */
    scps_time free_us;  /* it is free from free_us + free_frac / rate on */
    uint64_t free_frac; /* below the rate */
    scps_time next;     /* earliest arrival; SCPS_NEVER */
    bool next_held;     /* it is the top of held[], not the head of the ring */
    struct scps_link_size {
        uint32_t frame; /* bytes on the line: the key */
        uint32_t bits;  /* of them at risk of bit errors */
        scps_time us;   /* time on the line: us + frac / rate */
        uint64_t frac;
        uint64_t survive; /* chance * 2^64 of no bit error */
    } size[SCPS_LINK_SIZES];
    /* those that wait for the line: a ring of n from head on */
    struct scps_link_waiting {
        scps_time start; /* on the line from this microsecond on */
        uint32_t frame;
    } * wait;
    uint32_t wait_head, wait_n, wait_cap; /* cap is a power of two */
    uint64_t wait_bytes;
    /* those on the way, in order of arrival: a ring of records, see link.c */
    uint8_t *ring;
    size_t ring_cap;     /* a power of two */
    uint64_t head, tail; /* byte positions, never wrapping */
    scps_time last_at;   /* the arrival at the end of the ring */
    /* those that do not keep the order: a heap by arrival, then by seq; beyond n spare buffers */
    struct scps_link_held {
        scps_time at;
        uint64_t seq;
        uint8_t *buf;
        uint32_t cap, len, hollow;
    } * held;
    uint32_t held_n, held_cap;
    uint64_t held_seq;
    /* chance, a stream for each thing that can happen */
    struct scps_ber ber;
    uint64_t loss, dup, reorder; /* thresholds */
    bool chancy;                 /* any of the four can happen */
    struct scps_prng r_ber, r_flip, r_loss, r_dup, r_reorder;
    uint8_t *scratch; /* a packet being damaged */
    uint32_t scratch_cap;

    struct scps_link_config cfg;
    struct scps_link_stats st;
    uint64_t line_bytes; /* put on the line at this rate, the future included */
    scps_time line_us;   /* time the line was busy before the rate became this one */
    uint64_t stream;     /* which of the seed's streams */
    struct scps_alloc alloc;
};

/* SCPS_ERR_INVAL for a configuration that makes no sense. Directions that share a seed need a `stream` each.
 * Takes no memory yet. */
int scps_linkdir_init(struct scps_linkdir *d, const struct scps_link_config *cfg, uint64_t stream,
                      const struct scps_alloc *a);
void scps_linkdir_fini(struct scps_linkdir *d);
/* From now on. The chance streams go on unless the seed is another. SCPS_ERR_INVAL: nothing has changed. */
int scps_linkdir_change(struct scps_linkdir *d, const struct scps_link_config *cfg);
/* Takes a packet at now (which never goes back); what becomes of it is settled here. 0, also when it will not
 * arrive; SCPS_ERR_NOMEM: the packet was not offered. */
int scps_linkdir_offer(struct scps_linkdir *d, scps_time now, const struct scps_pkt *pkt);
/* What begins each record of the ring; the bytes follow, to a multiple of 8. */
struct scps_link_record {
    scps_time at; /* or SCPS_LINK_WRAP: go on at the beginning */
    uint32_t len, hollow;
};
#define SCPS_LINK_WRAP ((scps_time)-1)
static inline struct scps_link_record *scps_link_record_at(const struct scps_linkdir *d,
                                                           uint64_t pos)
{
    return (struct scps_link_record *)(void *)(d->ring + (pos & (d->ring_cap - 1)));
}
/* The packet that arrives at d->next, which must not be SCPS_NEVER; its bytes are lent until the next call. */
static inline void scps_linkdir_peek(const struct scps_linkdir *d, struct scps_pkt *pkt)
{
    const struct scps_link_held *h = d->held;
    struct scps_link_record *r = d->next_held ? NULL : scps_link_record_at(d, d->head);
    size_t len = r ? r->len : h->len, hollow = r ? r->hollow : h->hollow;

    *pkt = (struct scps_pkt){.data = r ? (uint8_t *)(r + 1) : h->buf,
                             .len = len,
                             .cap = len,
                             .payload_len = hollow,
                             .at = d->next};
}
/* Delivered: forgets it. */
void scps_linkdir_pop(struct scps_linkdir *d);
void scps_linkdir_stats(const struct scps_linkdir *d, scps_time now, struct scps_link_stats *out);

#endif
