/* SPDX-License-Identifier: MIT */
/* Decides the fate of a packet that leaves the queue of a link direction (lost, damaged, late,
 * duplicated or delivered), and reports it to the observer of the link. */
#include "sim/linkfate.h"

#include "base/bytes.h"
#include "sim/linkheld.h"
#include "sim/linkstate.h"

#include <string.h>

void scps_linkfate_count(struct scps_linkdir *d, enum scps_fate fate)
{
    struct scps_link_stats *st = &d->st;

    switch (fate) {
    case SCPS_FATE_FLIPPED:
        st->flipped++;
        return;
    case SCPS_FATE_BER:
        st->dropped_ber++;
        break;
    case SCPS_FATE_LOSS:
        st->dropped_loss++;
        break;
    case SCPS_FATE_QUEUE:
        st->dropped_queue++;
        break;
    case SCPS_FATE_CODEL:
        st->dropped_codel++;
        break;
    case SCPS_FATE_OUTAGE:
        st->dropped_outage++;
        break;
    case SCPS_FATE_BURST:
        st->dropped_burst++;
        break;
    case SCPS_FATE_VECTOR:
        st->dropped_vector++;
        break;
    default:
        return;
    }
    st->in_flight--;
}

static SCPS_SELDOM void report_verdict(struct scps_linkdir *d, struct scps_verdict *v)
{
    d->verdict_fn(d->verdict_ctx, v);
}

SCPS_SELDOM void scps_linkfate_refuse(struct scps_linkdir *d, scps_time offered, uint64_t number,
                                      const struct scps_pkt *pkt, enum scps_fate fate)
{
    struct scps_verdict v = {number, offered, SCPS_NEVER, SCPS_NEVER, SCPS_NEVER, fate, false, pkt};

    scps_linkfate_count(d, fate);
    if (d->verdict_fn)
        report_verdict(d, &v);
}

/* Replaces the headers of the packet in record r, which are stored as a struct scps_values, by
 * their octets, in the same place. */
static SCPS_SELDOM void to_octets(struct scps_link_record *r)
{
    struct scps_pkt pkt = {.data = (uint8_t *)(r + 1), .len = r->len, .payload_len = r->hollow};

    scps_values_to_octets(&pkt);
    r->values = false;
}

struct scps_pkt scps_linkfate_packet(struct scps_linkdir *d, struct scps_link_record *r)
{
    struct scps_pkt pkt = {.data = (uint8_t *)(r + 1),
                           .len = r->len,
                           .cap = r->len,
                           .payload_len = r->hollow,
                           .at = r->at};

    if (!r->values || !d->verdict_fn)
        return pkt;
    if (!scps_linkdir_room(d, &d->scratch, &d->scratch_cap, r->len, 2048)) {
        to_octets(r);
        return pkt;
    }
    /* The host at the receiving end takes the headers as a struct scps_values. Only the direction's
     * observer (verdict_fn, a function of the program that is called with the fate of each packet)
     * needs a packet of octets, so the octets are written to a copy. */
    memcpy(d->scratch, r + 1, r->len);
    pkt.data = d->scratch;
    scps_values_to_octets(&pkt);
    return pkt;
}

/* Returns the number of record r's packet among all packets offered. The record stores only the low
 * bits of this number; the high bits follow from the number of packets offered so far. */
uint64_t scps_linkfate_number(const struct scps_linkdir *d, const struct scps_link_record *r)
{
    return d->st.offered - (((uint32_t)d->st.offered - r->number) & SCPS_LINK_NUMBERS);
}

struct saving {
    struct scps_linkdir *d;
    struct scps_link_record *r;
    bool done;
};

/* Called before bits of the packet are flipped: saves a copy for the direction's observer. Without
 * memory for the copy, the observer gets the damaged packet. */
static SCPS_SELDOM void save(void *ctx)
{
    struct saving *s = ctx;
    struct scps_linkdir *d = s->d;

    if (s->r->values)
        to_octets(s->r);
    if (!d->verdict_fn || !scps_linkdir_room(d, &d->scratch, &d->scratch_cap, s->r->len, 2048))
        return;
    memcpy(d->scratch, s->r + 1, s->r->len);
    s->done = true;
}

/* When a packet arrives, and which of the effects that are drawn at random (reordering,
 * duplication) it has. */
struct arrival {
    scps_time at;  /* time of arrival, µs, without the extra delay of a reordered packet */
    scps_dur took; /* time of transmission of the packet on the line, without propagation, µs */
    bool late;     /* true: the packet is delayed by reorder_delay */
    bool twice;    /* true: a second copy of the packet arrives */
};

/* Determines how a packet that is not lost arrives. The packet stays in its record r in the ring of
 * d (packets in the order in which they were offered) and arrives from there, unless it arrives out
 * of that order; then a copy is put into held[], the heap of such packets. Sets r->frame to the
 * number of copies, 0 to 2, that arrive from the ring, and the times of arrival in *v. */
static void settle_arrival(struct scps_linkdir *d, struct scps_link_record *r,
                           struct scps_verdict *v, const struct arrival *a)
{
    /* true: the packet arrives before one that was sent earlier, because the configured delay has
     * become shorter between the two */
    bool behind = d->head != d->line && a->at < d->last_at;
    scps_dur by = d->cfg.reorder_delay;

    v->arrival = a->at;
    if (a->late) {
        v->arrival += by ? by : SCPS_MAX(4 * a->took, SCPS_MS(1));
        v->reordered = true;
    }
    if ((a->late || behind) && scps_linkheld_put(d, v->arrival, r) != 0) {
        v->fate = SCPS_FATE_LOSS;
        v->arrival = SCPS_NEVER;
        v->reordered = false;
    } else if (!a->late && !behind) {
        r->frame = 1;
    }
    if (a->twice && v->fate <= SCPS_FATE_FLIPPED &&
        (!behind || scps_linkheld_put(d, a->at, r) == 0)) {
        r->frame += !behind;
        v->copy = a->at;
        d->st.duplicated++;
        d->st.in_flight++;
    }
    d->st.reordered += v->reordered;
}

SCPS_SELDOM void scps_linkfate_settle(struct scps_linkdir *d, struct scps_link_record *r,
                                      const struct scps_link_size *s, scps_time first,
                                      scps_time end)
{
    struct scps_frame f = {s->frame,           s->bits, s->survive, first, end,
                           (uint8_t *)(r + 1), r->len,  r->hollow};
    struct saving kept = {d, r, false};
    struct scps_pkt pkt = scps_linkfate_packet(d, r);
    struct scps_verdict v = {.number = scps_linkfate_number(d, r),
                             .offered = r->at,
                             .left = end,
                             .arrival = SCPS_NEVER,
                             .copy = SCPS_NEVER,
                             .pkt = &pkt};
    bool twice = scps_chance_hit(d->dup, &d->r_dup),
         late = scps_chance_hit(d->reorder, &d->r_reorder);
    scps_time at =
        end + (d->cfg.delays.n ? (scps_dur)scps_steps_between(&d->cfg.delays, end) : d->cfg.delay);

    v.fate = scps_errors_judge(&d->err, &d->cfg, &f, save, &kept);
    if (d->cfg.jitter) {
        at += (scps_dur)scps_prng_below(&d->r_jitter, (uint64_t)d->cfg.jitter + 1);
        if (d->head != d->line && at < d->last_at)
            at = d->last_at;
    }
    if (v.fate == SCPS_FATE_FLIPPED)
        r->whole = false;
    /* While the packet waited, r->frame was the size of its frame; from now on it is the number of
     * copies that arrive from this record of the ring. It stays 0 if the packet was lost, or if all
     * its copies are in held[], the heap of packets that arrive out of order. */
    r->frame = 0;
    if (v.fate <= SCPS_FATE_FLIPPED)
        settle_arrival(d, r, &v,
                       &(struct arrival){at, d->cfg.rates.n ? end - first : s->us, late, twice});
    scps_linkfate_count(d, v.fate);
    if (r->frame > 0) {
        r->at = at;
        d->last_at = at;
    } else {
        r->at = SCPS_LINK_GONE;
    }
    if (kept.done)
        pkt.data = d->scratch;
    pkt.at = v.offered;
    if (d->verdict_fn)
        report_verdict(d, &v);
}
