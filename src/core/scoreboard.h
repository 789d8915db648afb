/* SPDX-License-Identifier: MIT */
/* What was sent and what is known of it, whoever said so.
 *
 * One record a segment, in a ring in order of offset; a record is in one of three states:
 *
 *      FLIGHT --- a report, a rule or the timer ---> LOST --- resent ---> FLIGHT
 *         \--------------- reported ------------> ARRIVED <---- reported ----/
 *
 * Only the cumulative acknowledgement removes records, from the front. Nothing here walks the
 * window: arrived runs are jumped over (each record points ahead, paths are halved as they are
 * walked), the loss frontier only moves ahead, lost records wait in a heap by offset and resent
 * ones in a queue by time.
 *
 * The rules (when something is lost) are in loss.c; how fast repair may go is in recovery.c.
 */
#ifndef SCPS_CORE_SCOREBOARD_H
#define SCPS_CORE_SCOREBOARD_H

#include <scps/alloc.h>
#include <scps/cc.h>

#include "base/bytes.h"

enum scps_sent_state { SCPS_SENT_FLIGHT, SCPS_SENT_LOST, SCPS_SENT_ARRIVED };

enum { /* scps_sent_segment.flags */
       SCPS_SENT_SYN = 1,
       SCPS_SENT_FIN = 2,
       SCPS_SENT_APP_LIMITED = 4, /* delivery rate then: the application's */
       SCPS_SENT_PROBE = 8,       /* a window probe: its loss says nothing of the path */
       SCPS_SENT_RECORD = 32,     /* its last octet of data ends a record */
       SCPS_SENT_QUEUED = 64,     /* its index stands in lostq, whatever its state is now */
       SCPS_SENT_PASSED = 128 /* resent, and the peer's holes have been told past it: snacktx.c */
};

struct scps_sent_segment {  /* one segment; a cache line holds it */
    scps_off from;          /* offsets [from, from+len), SYN and FIN counted */
    scps_time sent;         /* the last time */
    uint64_t delivered;     /* connection totals when it was sent: bytes delivered, */
    scps_time delivered_at; /* when the last of those were, */
    scps_time first_sent;   /* and when the flight began that they ended */
    uint32_t len;
    uint32_t xseq; /* number of this transmission; later ones are larger */
    uint32_t skip; /* ARRIVED: some record ahead such that all between have arrived */
    uint8_t state, flags, resends;
    /* When it was sent: bytes in flight, itself included, and the low 32 bits of lost_ever. The
     * send buffer, and so what is in flight, is below 4 GiB. */
    uint32_t tx_in_flight, tx_lost;
};

/* What scps_sb_lose has found since somebody asked (scps_sb_losses). */
struct scps_lost_news {
    scps_off to;           /* end of the range lost last */
    uint32_t ranges;       /* lost ranges with something between them */
    uint32_t xseq;         /* of the lost segment that left last, and of that one: */
    uint32_t tx_in_flight; /* as in its record */
    uint32_t tx_lost;
    bool app_limited;
};

struct scps_resent {
    uint32_t idx, xseq;
};

struct scps_scoreboard {
    struct scps_sent_segment *v; /* record i lies at v[i & mask] */
    uint32_t mask, head, tail;
    uint32_t frontier;                    /* first record no order-of-arrival rule has judged */
    uint32_t arrived_recs, arrived_below; /* ARRIVED records: all; below the frontier */
    uint64_t inflight, arrived, lost;     /* bytes by state */
    uint64_t lost_ever;                   /* bytes declared lost, each time they were */
    /* ARRIVED records at or above the frontier that are no evidence: scps_sb_undo_losses */
    uint32_t excused;
    uint32_t xseq;                /* of the next transmission */
    uint32_t hi_xseq;             /* of the latest one known to have arrived; -1 before any */
    scps_off hi_arrived;          /* end of the highest octets known to have arrived */
    scps_off run_from, run_to;    /* the last report; its records have arrived, */
    uint32_t run_first, run_next; /* from the one to before the other; run_to 0: look it up */
    struct scps_resent *resent;   /* ring, same mask, by time of resending */
    uint32_t resent_head, resent_tail;
    uint32_t
        *lostq; /* binary min-heap of indices, each once; may hold some that are LOST no more */
    uint32_t nlost;
    /* How often a resending proved needless, each after the one before, less the episodes since;
     * and the number of the first transmission that can be the next. */
    uint32_t needless_from;
    uint8_t needless;
    struct scps_lost_news news;
};

/* What one acknowledgement, or one report, told: what rtt, rate, loss and cc want to hear. */
struct scps_ack_result {
    uint64_t delivered; /* bytes newly known to have arrived */
    uint64_t lost;      /* bytes newly declared lost */
    scps_off lost_from; /* the lowest of these, if there are any */
    bool orig;          /* something arrived that was sent once only */
    /* the left edge passed something that had been resent: what waited behind it is late */
    bool refilled;
    bool reordered;        /* something sent once arrived after what lies above it */
    bool dsack;            /* it reported a duplicate, */
    bool dsack_fresh;      /* of octets that nothing had told of before */
    scps_off dsack_to;     /* dsack: where the duplicate ends */
    scps_time refilled_at; /* refilled: when the first of that left for the last time */
    scps_time oldest_sent; /* earliest of what arrived, sent once, and is no old news; -1: none */
    scps_off fack;         /* in: end of the highest octets that had arrived before */
    /* in: a resending younger than that is not what moved the left edge; 0: nothing tells */
    scps_dur echo_age;
    /* of what arrived the latest to be sent, as it was then, until something is sent; NULL: nothing
     * arrived */
    const struct scps_sent_segment *newest;
};

void scps_sb_init(struct scps_scoreboard *sb);
void scps_sb_fini(struct scps_scoreboard *sb, const struct scps_alloc *a);
static inline uint32_t scps_sb_count(const struct scps_scoreboard *sb)
{
    return sb->tail - sb->head;
}
/* Does index, or number of transmission, a come before b? They are less than 2^31 apart. */
static inline bool scps_sb_before(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0;
}
static inline struct scps_sent_segment *scps_sb_at(const struct scps_scoreboard *sb, uint32_t idx)
{
    return &sb->v[idx & sb->mask];
}
int scps_sb_grow(struct scps_scoreboard *sb, const struct scps_alloc *a);
/* Takes room for cap records (a power of two) at once. Precondition: it has none yet. 0 or
 * SCPS_ERR_NOMEM. */
int scps_sb_take(struct scps_scoreboard *sb, const struct scps_alloc *a, uint32_t cap);
/* Room for one more record. 0 or SCPS_ERR_NOMEM; the next scps_sb_sent then cannot fail. */
static inline int scps_sb_reserve(struct scps_scoreboard *sb, const struct scps_alloc *a)
{
    return sb->v && scps_sb_count(sb) <= sb->mask ? 0 : scps_sb_grow(sb, a);
}
/* Appends a record for a first transmission and returns it: the caller fills in the delivery
 * fields. */
struct scps_sent_segment *scps_sb_sent(struct scps_scoreboard *sb, scps_off from, uint32_t len,
                                       unsigned flags, scps_time now);
/* The frontier's record is judged: on to the next. */
static inline void scps_sb_pass(struct scps_scoreboard *sb)
{
    if (scps_sb_at(sb, sb->frontier)->state == SCPS_SENT_ARRIVED) {
        sb->arrived_below++;
        if (sb->excused)
            sb->excused--;
    }
    sb->frontier++;
}
/* Is entry e of the resent queue about a sending still in question? */
static inline bool scps_sb_resent_live(const struct scps_scoreboard *sb, struct scps_resent e)
{
    const struct scps_sent_segment *r = &sb->v[e.idx & sb->mask];

    return (int32_t)(e.idx - sb->head) >= 0 && (int32_t)(e.idx - sb->tail) < 0 &&
           r->xseq == e.xseq && r->state == SCPS_SENT_FLIGHT;
}
/* The resent segment that left first of those in the queue; false: the queue is empty. */
static inline bool scps_sb_resent_front(const struct scps_scoreboard *sb, struct scps_resent *e)
{
    if (sb->resent_head == sb->resent_tail)
        return false;
    *e = sb->resent[sb->resent_head & sb->mask];
    return true;
}
/* It leaves the queue. */
static inline void scps_sb_resent_drop(struct scps_scoreboard *sb)
{
    sb->resent_head++;
}
/* Sets a flag of record r, or takes it away. */
static inline void scps_sb_mark(struct scps_sent_segment *r, unsigned flag, bool on)
{
    r->flags = (uint8_t)((r->flags & ~flag) | (on ? flag : 0));
}
/* Lowest LOST record. False: there is none. */
bool scps_sb_next_lost(struct scps_scoreboard *sb, uint32_t *idx);
/* Record idx left again. */
void scps_sb_resent(struct scps_scoreboard *sb, uint32_t idx, scps_time now);
/* The left edge is at una: frees records below it. min_rtt tells whether the last sending can have
 * arrived. */
void scps_sb_ack(struct scps_scoreboard *sb, scps_time now, scps_off una, scps_dur min_rtt,
                 struct scps_ack_result *sum);
/* [from, to) has arrived. */
void scps_sb_arrived(struct scps_scoreboard *sb, scps_time now, scps_off from, scps_off to,
                     scps_dur min_rtt, struct scps_ack_result *sum);
/* Gives up the first record, of which a FIN stays behind, and with it what has arrived right
 * behind; but a FIN stays. Returns the new left edge; *end: where the record's data ended. */
scps_off scps_sb_give_up(struct scps_scoreboard *sb, scps_off *end);
/* What was lost since the last call. */
struct scps_lost_news scps_sb_losses(struct scps_scoreboard *sb);
/* How old a resent segment must be before later arrivals mean that it is lost again: 0 as long as
 * no resending was needless, then twice the least round trip, twice as much each time, at most
 * `most`: the timer is for what lies beyond. */
static inline scps_dur scps_sb_resend_wait(const struct scps_scoreboard *sb, scps_dur min_rtt,
                                           scps_dur most)
{
    return sb->needless ? SCPS_MIN(min_rtt << sb->needless, most) : 0;
}
/* A new episode of repair begins: half of that wait will do. */
void scps_sb_new_episode(struct scps_scoreboard *sb);
/* Declares record idx lost if it is in flight. */
void scps_sb_lose(struct scps_scoreboard *sb, uint32_t idx, struct scps_ack_result *sum);
/* The first record, if it is LOST and longer than len, becomes two, the first of them len long. 0
 * or SCPS_ERR_NOMEM. */
int scps_sb_split_head(struct scps_scoreboard *sb, const struct scps_alloc *a, uint32_t len);
/* Declares lost (the timer) the first record and everything in flight that last left at or before
 * then. Returns the bytes. */
uint64_t scps_sb_lose_since(struct scps_scoreboard *sb, scps_time then);
/* Takes back every loss never resent: it was imagined. Those records are judged again, on evidence
 * still to come. Returns the bytes. */
uint64_t scps_sb_undo_losses(struct scps_scoreboard *sb);
/* The receiver took back what it had reported (RFC 2018 section 8): nothing has arrived. */
void scps_sb_renege(struct scps_scoreboard *sb);
/* Index of the record that holds off; false if none does. */
bool scps_sb_lookup(const struct scps_scoreboard *sb, scps_off off, uint32_t *idx);
/* Cuts records so that none is longer than max. 0 or SCPS_ERR_NOMEM (then nothing changed). */
int scps_sb_resegment(struct scps_scoreboard *sb, const struct scps_alloc *a, uint32_t max);

/* ---- within the part: scoreboard.c, scoreboard_lost.c, scoreboard_cut.c ---- */

/* Record idx, which is LOST, stands in lostq from now on. */
void scps_sb_queue_lost(struct scps_scoreboard *sb, uint32_t idx);
/* The first of lostq leaves it. Precondition: there is one. */
void scps_sb_dequeue_lost(struct scps_scoreboard *sb);
/* Transmission xseq, of record idx, is the latest resending. */
void scps_sb_queue_resent(struct scps_scoreboard *sb, uint32_t idx, uint32_t xseq);

#endif
