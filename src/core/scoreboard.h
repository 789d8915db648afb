/* SPDX-License-Identifier: MIT */
/* The scoreboard: which segments were sent, and what reports of any kind have shown about each.
 *
 * There is one record for each segment, in a ring in order of offset. A record is in one of three
 * states:
 *
 *      FLIGHT --- a report, a rule or the timer ---> LOST --- resent ---> FLIGHT
 *         \--------------- reported ------------> ARRIVED <---- reported ----/
 *
 * Only the cumulative acknowledgement removes records, from the front. No function scans the whole
 * window: runs of arrived records are skipped (each record points ahead, and a search halves the
 * path for the next one), the frontier of loss detection only moves ahead, lost records are in a
 * heap by offset, and resent ones in a queue by time.
 *
 * The rules that decide when something is lost are in loss.c, rack.c and snacktx.c; how fast it may
 * be resent is decided in recovery.c.
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
       SCPS_SENT_APP_LIMITED = 4, /* the application limited the rate when the segment was sent */
       SCPS_SENT_PROBE = 8,       /* a window probe, whose loss is no sign of congestion */
       SCPS_SENT_RECORD = 32,     /* the last octet of data in the segment ends a record */
       /* the index of the segment is in lostq, whatever its state is now */
       SCPS_SENT_QUEUED = 64,
       /* resent, and the peer has reported holes above it since then: snacktx.c */
       SCPS_SENT_PASSED = 128
};

struct scps_sent_segment { /* One sent segment. The size fits a cache line. */
    scps_off from;         /* offsets [from, from+len); SYN and FIN count as one octet each */
    scps_time sent;        /* time of the last transmission */
    /* delivery state when it was sent, as in draft-cheng-iccrg-delivery-rate-estimation:
     * C.delivered, bytes; C.delivered_time; C.first_sent_time */
    uint64_t delivered;
    scps_time delivered_at;
    scps_time first_sent;
    uint32_t len;
    uint32_t xseq; /* number of this transmission; later ones are larger */
    /* an ARRIVED record: index of a record ahead, such that all in between have arrived */
    uint32_t skip;
    uint8_t state, flags, resends;
    /* State when the segment was sent: bytes in flight, itself included, and the low 32 bits of
     * lost_ever. The send buffer is smaller than 4 GiB, so the bytes in flight are, too. */
    uint32_t tx_in_flight, tx_lost;
};

/* Losses that scps_sb_lose() has found since the last call of scps_sb_losses(). */
struct scps_lost_news {
    scps_off to;     /* end of the last lost range */
    uint32_t ranges; /* number of lost ranges that are separated by data that is not lost */
    /* xseq of the segment that was sent last among the lost ones; the next two fields are copies
     * from its record */
    uint32_t xseq;
    uint32_t tx_in_flight; /* bytes in flight when that segment was sent, as in its record */
    uint32_t tx_lost;
    bool app_limited;
};

struct scps_resent {
    uint32_t idx, xseq;
};

struct scps_scoreboard {
    struct scps_sent_segment *v; /* record i lies at v[i & mask] */
    uint32_t mask, head, tail;
    /* first record that no rule which counts arrivals has examined yet */
    uint32_t frontier;
    /* number of ARRIVED records, and of those below the frontier */
    uint32_t arrived_recs, arrived_below;
    uint64_t inflight, arrived, lost; /* bytes in records of each state */
    /* total bytes declared lost; a segment counts each time */
    uint64_t lost_ever;
    /* number of ARRIVED records at or above the frontier at the last undo (scps_sb_undo_losses);
     * the dupthresh rule does not count them */
    uint32_t excused;
    uint32_t xseq; /* number that the next transmission will get */
    /* number of the latest transmission known to have arrived; -1 before any */
    uint32_t hi_xseq;
    scps_off hi_arrived;       /* end of the highest octets known to have arrived */
    scps_off run_from, run_to; /* range of the last SACK report; its records have arrived, */
    /* Records [run_first, run_next) are those of that report. run_to 0: they must be searched
     * for. */
    uint32_t run_first, run_next;
    /* ring of the retransmissions in order of time; it has the same mask as the ring of records */
    struct scps_resent *resent;
    uint32_t resent_head, resent_tail;
    uint32_t
        /* Binary min-heap of record indices, each at most once. Some of the records may not be LOST
         * any more. */
        *lostq;
    uint32_t nlost;
    /* Number of consecutive retransmissions that proved needless, less the episodes since; and the
     * number of the first transmission that can count as the next one. */
    uint32_t needless_from;
    uint8_t needless;
    struct scps_lost_news news;
};

/* Result of one acknowledgement, or of one report in it, as needed by RTT, delivery rate, loss
 * rules and controller. */
struct scps_ack_result {
    uint64_t delivered; /* bytes newly known to have arrived */
    uint64_t lost;      /* bytes newly declared lost */
    scps_off lost_from; /* lowest offset of the bytes found lost, if there are any */
    bool orig;          /* data that was sent only once has arrived */
    /* SND.UNA passed data that was resent: data queued behind it gives RTT samples that are too
     * long */
    bool refilled;
    /* octets that were sent only once arrived after octets with higher offsets: the path
     * reorders */
    bool reordered;
    bool dsack; /* the report contained a DSACK, */
    /* the DSACK is about octets that no acknowledgement had reported as arrived before */
    bool dsack_fresh;
    scps_off dsack_to;     /* end of the duplicate that the DSACK reports */
    scps_time refilled_at; /* time of the last transmission of the octets that the DSACK is about */
    /* time of the earliest transmission among the arrived segments that were sent once and not
     * reported late; -1: none */
    scps_time oldest_sent;
    scps_off fack; /* input: end of the highest octets that had arrived before */
    /* input: a retransmission younger than this, µs, cannot be what moved SND.UNA; 0: unknown */
    scps_dur echo_age;
    /* the segment that was sent last among those that arrived, with its state before; valid until
     * another segment is sent; NULL: nothing arrived */
    const struct scps_sent_segment *newest;
};

void scps_sb_init(struct scps_scoreboard *sb);
void scps_sb_fini(struct scps_scoreboard *sb, const struct scps_alloc *a);
static inline uint32_t scps_sb_count(const struct scps_scoreboard *sb)
{
    return sb->tail - sb->head;
}
/* Returns true if index, or number of transmission, a comes before b. They must be less than 2^31
 * apart. */
static inline bool scps_sb_before(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0;
}
static inline struct scps_sent_segment *scps_sb_at(const struct scps_scoreboard *sb, uint32_t idx)
{
    return &sb->v[idx & sb->mask];
}
int scps_sb_grow(struct scps_scoreboard *sb, const struct scps_alloc *a);
/* Allocates room for cap records (a power of two) at once. Precondition: none is allocated yet.
 * Returns 0 or SCPS_ERR_NOMEM. */
int scps_sb_take(struct scps_scoreboard *sb, const struct scps_alloc *a, uint32_t cap);
/* Makes room for one more record. Returns 0 or SCPS_ERR_NOMEM; after 0 the next scps_sb_sent cannot
 * fail. */
static inline int scps_sb_reserve(struct scps_scoreboard *sb, const struct scps_alloc *a)
{
    return sb->v && scps_sb_count(sb) <= sb->mask ? 0 : scps_sb_grow(sb, a);
}
/* Appends and returns the record of a first transmission; the caller fills in the delivery
 * fields. */
struct scps_sent_segment *scps_sb_sent(struct scps_scoreboard *sb, scps_off from, uint32_t len,
                                       unsigned flags, scps_time now);
/* Moves the frontier past the record there, which has been examined for loss. */
static inline void scps_sb_pass(struct scps_scoreboard *sb)
{
    if (scps_sb_at(sb, sb->frontier)->state == SCPS_SENT_ARRIVED) {
        sb->arrived_below++;
        if (sb->excused)
            sb->excused--;
    }
    sb->frontier++;
}
/* Returns true if entry e of the resent queue describes a transmission that may still arrive. */
static inline bool scps_sb_resent_live(const struct scps_scoreboard *sb, struct scps_resent e)
{
    const struct scps_sent_segment *r = &sb->v[e.idx & sb->mask];

    return (int32_t)(e.idx - sb->head) >= 0 && (int32_t)(e.idx - sb->tail) < 0 &&
           r->xseq == e.xseq && r->state == SCPS_SENT_FLIGHT;
}
/* Gets the oldest retransmission that is in the queue; returns false if the queue is empty. */
static inline bool scps_sb_resent_front(const struct scps_scoreboard *sb, struct scps_resent *e)
{
    if (sb->resent_head == sb->resent_tail)
        return false;
    *e = sb->resent[sb->resent_head & sb->mask];
    return true;
}
/* Removes the oldest entry of the resent queue. */
static inline void scps_sb_resent_drop(struct scps_scoreboard *sb)
{
    sb->resent_head++;
}
/* Sets or clears a flag of record r. */
static inline void scps_sb_mark(struct scps_sent_segment *r, unsigned flag, bool on)
{
    r->flags = (uint8_t)((r->flags & ~flag) | (on ? flag : 0));
}
/* Called when only window probes have carried r: of its transmissions two count, so that it stays
 * ambiguous which one an acknowledgement answers. */
static inline void scps_sb_forget_probes(struct scps_sent_segment *r)
{
    r->resends = SCPS_MIN(r->resends, 1);
}
/* Gets the lowest LOST record. Returns false if there is none. */
bool scps_sb_next_lost(struct scps_scoreboard *sb, uint32_t *idx);
/* Records that the segment of record idx was sent again. */
void scps_sb_resent(struct scps_scoreboard *sb, uint32_t idx, scps_time now);
/* Processes a cumulative acknowledgement, SND.UNA = una: frees the records below it. min_rtt, µs,
 * decides whether the last transmission of each can have arrived. */
void scps_sb_ack(struct scps_scoreboard *sb, scps_time now, scps_off una, scps_dur min_rtt,
                 struct scps_ack_result *sum);
/* Records a report that [from, to) has arrived. */
void scps_sb_arrived(struct scps_scoreboard *sb, scps_time now, scps_off from, scps_off to,
                     scps_dur min_rtt, struct scps_ack_result *sum);
/* Gives up the first record, and with it the arrived data that follows it contiguously; a FIN is
 * never given up. Returns the new SND.UNA; *end: end of the record's data. */
scps_off scps_sb_give_up(struct scps_scoreboard *sb, scps_off *end);
/* Returns the losses found since the last call. */
struct scps_lost_news scps_sb_losses(struct scps_scoreboard *sb);
/* Returns the age, µs, that a resent segment must have before later arrivals mean that it is lost
 * again: 0 as long as no retransmission was needless, then twice the least round trip, doubled with
 * each further one, at most `most`; after a longer time the retransmission timer decides. */
static inline scps_dur scps_sb_resend_wait(const struct scps_scoreboard *sb, scps_dur min_rtt,
                                           scps_dur most)
{
    return sb->needless ? SCPS_MIN(min_rtt << sb->needless, most) : 0;
}
/* Called when a new episode begins: halves the age that scps_sb_resend_wait() returns. */
void scps_sb_new_episode(struct scps_scoreboard *sb);
/* Declares record idx lost if it is in flight. */
void scps_sb_lose(struct scps_scoreboard *sb, uint32_t idx, struct scps_ack_result *sum);
/* Splits the first record, if it is LOST and longer than len, in two, the first of them len long.
 * Returns 0 or SCPS_ERR_NOMEM. */
int scps_sb_split_head(struct scps_scoreboard *sb, const struct scps_alloc *a, uint32_t len);
/* Called by the retransmission timer: declares lost the first record, and all records in flight
 * whose last transmission was at or before `then`. Returns the bytes lost. */
uint64_t scps_sb_lose_since(struct scps_scoreboard *sb, scps_time then);
/* Undoes every loss that was not resent, because it was spurious: the segments are in flight again,
 * and later evidence decides about them. Returns their bytes. */
uint64_t scps_sb_undo_losses(struct scps_scoreboard *sb);
/* Makes every ARRIVED record LOST, so that it is sent again: the receiver may have discarded what
 * it reported (reneging, RFC 2018 section 8). */
void scps_sb_renege(struct scps_scoreboard *sb);
/* Gets the index of the record that contains offset off. Returns false if there is none. */
bool scps_sb_lookup(const struct scps_scoreboard *sb, scps_off off, uint32_t *idx);
/* Splits records so that none is longer than max. Returns 0 or SCPS_ERR_NOMEM (then nothing has
 * changed). */
int scps_sb_resegment(struct scps_scoreboard *sb, const struct scps_alloc *a, uint32_t max);

/* ---- used within the scoreboard only: scoreboard.c, scoreboard_lost.c, scoreboard_cut.c ---- */

/* Adds record idx, which is LOST, to the heap lostq. */
void scps_sb_queue_lost(struct scps_scoreboard *sb, uint32_t idx);
/* Removes the first entry of the heap lostq. Precondition: there is one. */
void scps_sb_dequeue_lost(struct scps_scoreboard *sb);
/* Records transmission xseq, of record idx, as the latest retransmission. */
void scps_sb_queue_resent(struct scps_scoreboard *sb, uint32_t idx, uint32_t xseq);

#endif
