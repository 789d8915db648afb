/* SPDX-License-Identifier: MIT */
/* The scoreboard: which segments were sent, and what SEG.ACK, SACK and SNACK have reported about
 * each.
 *
 * There is one record for each segment, in a ring in order of offset. A record is in one of three
 * states ("reported": as arrived, by SEG.ACK, SACK or SNACK):
 *
 *      FLIGHT --- SNACK, loss rule or timeout -----> LOST --- resent ---> FLIGHT
 *         \--------------- reported ------------> ARRIVED <---- reported ----/
 *
 * Only the cumulative acknowledgement removes records, from the front. No function that is called
 * for each segment scans the whole window: runs of arrived records are skipped (each record points
 * ahead, and a search halves the path for the next one), `frontier`, the first record that the loss
 * rules have not judged yet, moves back only when losses prove spurious, lost records are in a heap
 * by offset, and resent ones in a queue by time.
 *
 * loss.c, rack.c and snacktx.c decide when a segment is lost; recovery.c decides how fast lost
 * segments may be resent.
 */
#ifndef SCPS_CORE_SCOREBOARD_H
#define SCPS_CORE_SCOREBOARD_H

#include <scps/alloc.h>
#include <scps/cc.h>

#include "base/bytes.h"

enum scps_sent_state { SCPS_SENT_FLIGHT, SCPS_SENT_LOST, SCPS_SENT_ARRIVED };

enum { /* bits of scps_sent_segment.flags */
       SCPS_SENT_SYN = 1,
       SCPS_SENT_FIN = 2,
       /* delivery-rate samples were app-limited when the segment was sent */
       SCPS_SENT_APP_LIMITED = 4,
       SCPS_SENT_PROBE = 8, /* the segment is a window probe, whose loss is no sign of congestion */
       /* the last transmission had only the first octets of the segment: the path MTU fell, and
        * there was no memory to split the record */
       SCPS_SENT_CUT = 16,
       /* the last octet of data in the segment ends a record of the application (SCPS-TP record
        * boundary), not a record of the scoreboard */
       SCPS_SENT_RECORD = 32,
       /* the index of the record is in lostq, the heap of records declared lost; it may stay there
        * after the record was resent or has arrived, until it comes to the top of the heap */
       SCPS_SENT_QUEUED = 64,
       /* the segment was resent, and since then the peer has reported holes above the segment,
        * but not the segment itself (snacktx.c) */
       SCPS_SENT_PASSED = 128
};

struct scps_sent_segment { /* One sent segment. The size is that of a cache line. */
    scps_off from;         /* offsets [from, from+len); SYN and FIN count as one octet each */
    scps_time sent;        /* time of the last transmission of the segment, µs */
    /* State of delivery when the segment was sent, as in
     * draft-cheng-iccrg-delivery-rate-estimation: C.delivered, bytes; C.delivered_time;
     * C.first_sent_time. */
    uint64_t delivered;
    scps_time delivered_at;
    scps_time first_sent;
    uint32_t len;
    /* number of the last transmission of this segment; later transmissions have larger numbers */
    uint32_t xseq;
    /* in state ARRIVED: index of a later record; all records from this one up to that index,
     * exclusive, have arrived, so a search may jump there */
    uint32_t skip;
    uint8_t state, flags, resends;
    /* Values at the last transmission of the segment: bytes in flight, this segment included, and
     * the low 32 bits of lost_ever, the total bytes declared lost so far. The send buffer is
     * smaller than 4 GiB, so the bytes in flight are, too. */
    uint32_t tx_in_flight, tx_lost;
};

/* Losses that scps_sb_lose() has found since the last call of scps_sb_losses(). */
struct scps_new_losses {
    /* end offset of the record that was declared lost most recently; if the next one begins here,
     * both belong to one range */
    scps_off to;
    /* number of lost ranges that are separated by data that is not lost */
    uint32_t ranges;
    /* The next four fields are from the record of the segment that was sent last of the lost ones.
     * xseq: number of its last transmission. sent: time of that transmission, µs. */
    uint32_t xseq;
    uint32_t tx_in_flight; /* bytes in flight when the segment with that xseq was sent */
    uint32_t tx_lost;
    scps_time sent;
    bool app_limited;
};

struct scps_resent {
    uint32_t idx, xseq;
};

/* Result of scps_sb_take_late(): segments that were declared lost, but whose first transmission has
 * arrived after all, as an acknowledgement shows. */
struct scps_late {
    /* if `unresent` is true: time, µs, of the earliest first transmission, among the segments that
     * were declared lost and whose arrival was reported before they were resent */
    scps_time sent;
    /* Octets [from, to) of segments that were resent once and reported as arrived less than three
     * quarters of the least round trip later: too soon for an answer to the retransmission, so the
     * first transmission has arrived after all. Only the first contiguous range is stored. to 0:
     * there is none. */
    scps_off from, to;
    /* true: `sent` is valid: the arrival of a segment was reported after it was declared lost and
     * before it was resent */
    bool unresent;
    /* true: an acknowledgement has shown that the first transmission of a segment arrived although
     * the segment had been declared lost or resent: `unresent` is true, or `to` is not 0 */
    bool any;
};

struct scps_scoreboard {
    struct scps_sent_segment *v; /* record i lies at v[i & mask] */
    uint32_t mask, head, tail;
    /* index of the first record that the loss rules (loss.c, rack.c) have not judged yet; it moves
     * back when losses prove spurious */
    uint32_t frontier;
    /* the number of ARRIVED records: in all, and below `frontier` (among those examined for
     * loss) */
    uint32_t arrived_recs, arrived_below;
    /* bytes in the records of each state: in flight, arrived, lost */
    uint64_t inflight, arrived, lost;
    /* total bytes declared lost; a segment counts again each time that it is lost */
    uint64_t lost_ever;
    /* number of records that were ARRIVED when losses were last undone as spurious
     * (scps_sb_undo_losses), and that the loss rules have not judged since (they are at or above
     * `frontier`). The dupthresh rule does not count them, because their arrival led to the
     * spurious losses. */
    uint32_t excused;
    uint32_t xseq; /* number (xseq) that the next transmission gets */
    /* number (xseq) of the latest transmission known to have arrived; -1: none has arrived */
    uint32_t hi_xseq;
    scps_off hi_arrived; /* end of the highest octets known to have arrived */
    /* offsets [run_from, run_to) of the range that SACK or SNACK has reported last */
    scps_off run_from, run_to;
    /* Records [run_first, run_next) have arrived, as the report of that range shows. run_to 0: no
     * range is stored. */
    uint32_t run_first, run_next;
    /* ring of the retransmissions in order of time; it has the same mask as the ring of records */
    struct scps_resent *resent;
    uint32_t resent_head, resent_tail;
    uint32_t
        /* Binary min-heap of the indices of lost records, each at most once. Some of the records
         * may not be LOST any more. */
        *lostq;
    uint32_t nlost;
    /* lowest number (xseq) of a transmission that can still increment `needless`: retransmissions
     * sent before the last increment do not count */
    uint32_t needless_from;
    /* number of retransmissions whose segment was reported as arrived less than a quarter of the
     * minimum RTT later, so that an earlier transmission had arrived; decremented when a recovery
     * episode begins */
    uint8_t needless;
    /* age, µs: if a resent segment is reported as arrived sooner than this after its
     * retransmission, an earlier transmission may have arrived. 0: only a report sooner than the
     * minimum round trip means that. */
    scps_dur resent_age;
    struct scps_new_losses new_losses;
    /* segments that were declared lost or resent, but whose first transmission has arrived after
     * all, since the last call of scps_sb_take_late() */
    struct scps_late late;
};

/* What one acknowledgement, or one expiry of the loss detection timer, has changed in the
 * scoreboard: for RTT samples, delivery rate, loss detection and the controller. */
struct scps_ack_result {
    /* number of bytes whose arrival this acknowledgement reports for the first time */
    uint64_t delivered;
    uint64_t lost;      /* bytes newly declared lost */
    scps_off lost_from; /* lowest offset of the bytes newly declared lost; valid if lost is not 0 */
    bool orig;          /* true: some of the arrived data was sent only once */
    /* true: SND.UNA passed data that was resent. Data above it waited in the receiver for that, so
     * the time until its acknowledgement is longer than a round trip, and gives no RTT sample. */
    bool refilled;
    /* true: octets that were sent only once arrived after octets with higher offsets, so the path
     * reorders */
    bool reordered;
    bool dsack; /* true: the report contained a DSACK (RFC 2883) */
    /* true: no earlier acknowledgement had reported the octets of the DSACK as arrived */
    bool dsack_fresh;
    /* if `dsack` is true: end offset of the octets that the DSACK reports as arrived twice */
    scps_off dsack_to;
    /* time, µs, at which the segment was last sent that is the lowest of the resent ones passed by
     * SND.UNA at this acknowledgement; 0: SND.UNA passed none (`refilled` is false, or was set by
     * scps_ack_result_no_rtt()) */
    scps_time refilled_at;
    /* time, µs, of the earliest transmission among the segments that arrived now, were sent once,
     * and were sent later than everything that had arrived before; -1: there is none */
    scps_time oldest_sent;
    /* set by the caller: end of the highest octets that had arrived before this acknowledgement */
    scps_off fack;
    /* set by the caller: time, µs, since the segment was sent whose timestamp this acknowledgement
     * echoes; 0: unknown. A retransmission that was sent less long ago has not advanced SND.UNA. */
    scps_dur echo_age;
    /* record of that arrived segment which was sent last. It may be freed already, so its times and
     * numbers are valid until another segment is sent. NULL: nothing arrived */
    const struct scps_sent_segment *newest;
    /* If it is not known whether the last transmission of `newest` has arrived, or an earlier one:
     * record of the arrived segment whose transmission is the latest that is known to have arrived
     * (sb.hi_xseq), valid as long as `newest` is. NULL: there is none */
    const struct scps_sent_segment *known;
};

/* Returns the record of the latest transmission that an acknowledgement shows to have arrived,
 * hi_xseq: its number, sb.hi_xseq. NULL: the acknowledgement shows no later one than those before
 * it. */
static inline const struct scps_sent_segment *
scps_ack_result_latest(const struct scps_ack_result *sum, uint32_t hi_xseq)
{
    const struct scps_sent_segment *n = sum->newest, *k = sum->known;

    if (n && n->xseq == hi_xseq)
        return n;
    return k && k->xseq == hi_xseq ? k : NULL;
}

/* Returns the result of an acknowledgement that reports nothing. */
static SCPS_INLINE_SPEED struct scps_ack_result scps_ack_result_none(void)
{
    return (struct scps_ack_result){.oldest_sent = -1};
}
/* Without SACK: called for a duplicate acknowledgement, which stands for the arrival of `bytes`
 * bytes (RFC 5681 section 3.2). Adds them to the delivered bytes, although it is not known which
 * segment they belong to, and no record becomes ARRIVED. */
static inline void scps_ack_result_add(struct scps_ack_result *sum, uint64_t bytes)
{
    sum->delivered += bytes;
}
/* Counts `bytes` fewer as arrived, because earlier acknowledgements have counted them already. */
static inline void scps_ack_result_counted(struct scps_ack_result *sum, uint64_t bytes)
{
    sum->delivered -= SCPS_MIN(sum->delivered, bytes);
}
/* Called when an acknowledgement of a best-effort peer (BETS) passes data which that peer may have
 * given up. That data arrived after other data, or never, so it gives no RTT sample. */
static inline void scps_ack_result_no_rtt(struct scps_ack_result *sum)
{
    sum->oldest_sent = -1;
    sum->refilled = true;
}
/* Called after the caller has processed the newly lost bytes, sum->lost: sets them to 0, so that
 * the next rule that detects losses adds only its own. */
static inline void scps_ack_result_took_lost(struct scps_ack_result *sum)
{
    sum->lost = 0;
}

void scps_sb_init(struct scps_scoreboard *sb);
void scps_sb_fini(struct scps_scoreboard *sb, const struct scps_alloc *a);
static inline uint32_t scps_sb_count(const struct scps_scoreboard *sb)
{
    return sb->tail - sb->head;
}
/* Returns true if a comes before b: both are indices of records, or numbers of transmissions, less
 * than 2^31 apart. */
static inline bool scps_sb_before(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0;
}
/* Called when an acknowledgement reports that r has arrived, after hi_xseq, sb.hi_xseq, was
 * updated: sets sum->newest and sum->known. known: its last transmission is known to have
 * arrived. */
static inline void scps_ack_result_arrived(struct scps_ack_result *sum,
                                           const struct scps_sent_segment *r, uint32_t hi_xseq,
                                           bool known)
{
    const struct scps_sent_segment *n = sum->newest;

    if (!n || scps_sb_before(n->xseq, r->xseq)) {
        if (!known && n && n->xseq == hi_xseq)
            sum->known = n;
        sum->newest = r;
    } else if (r->xseq == hi_xseq) {
        sum->known = r;
    }
}
static SCPS_INLINE_SPEED struct scps_sent_segment *scps_sb_at(const struct scps_scoreboard *sb,
                                                              uint32_t idx)
{
    return &sb->v[idx & sb->mask];
}
int scps_sb_grow(struct scps_scoreboard *sb, const struct scps_alloc *a);
/* Allocates room for cap records (a power of two) at once. Precondition: none is allocated yet.
 * Returns 0 or SCPS_ERR_NOMEM. */
int scps_sb_take(struct scps_scoreboard *sb, const struct scps_alloc *a, uint32_t cap);
/* Makes room in the scoreboard for the record of one more segment. Returns 0, after which the next
 * scps_sb_sent() cannot fail, or SCPS_ERR_NOMEM. */
static inline int scps_sb_reserve(struct scps_scoreboard *sb, const struct scps_alloc *a)
{
    return sb->v && scps_sb_count(sb) <= sb->mask ? 0 : scps_sb_grow(sb, a);
}
/* Appends and returns the record of a segment that is sent for the first time; the caller sets the
 * delivery-rate fields of the record. */
struct scps_sent_segment *scps_sb_sent(struct scps_scoreboard *sb, scps_off from, uint32_t len,
                                       unsigned flags, scps_time now);
/* Called when the record at `frontier`, the first one not examined for loss, has been examined:
 * moves `frontier` past it. */
static inline void scps_sb_pass(struct scps_scoreboard *sb)
{
    if (scps_sb_at(sb, sb->frontier)->state == SCPS_SENT_ARRIVED) {
        sb->arrived_below++;
        if (sb->excused)
            sb->excused--;
    }
    sb->frontier++;
}
/* Returns true if entry e of the queue of retransmissions is valid: it is the last transmission of
 * its segment, and the segment is in flight. Otherwise the entry is left over. */
static inline bool scps_sb_resent_live(const struct scps_scoreboard *sb, struct scps_resent e)
{
    const struct scps_sent_segment *r = &sb->v[e.idx & sb->mask];

    return (int32_t)(e.idx - sb->head) >= 0 && (int32_t)(e.idx - sb->tail) < 0 &&
           r->xseq == e.xseq && r->state == SCPS_SENT_FLIGHT;
}
/* Sets *e to the oldest entry of the queue of retransmissions, which has the retransmissions that
 * were sent, in that order; scps_sb_resent_live() says whether an entry is still valid. Returns
 * false if the queue is empty. */
static inline bool scps_sb_resent_front(const struct scps_scoreboard *sb, struct scps_resent *e)
{
    if (sb->resent_head == sb->resent_tail)
        return false;
    *e = sb->resent[sb->resent_head & sb->mask];
    return true;
}
/* Removes the oldest entry of the queue of retransmissions that were sent. */
static inline void scps_sb_resent_drop(struct scps_scoreboard *sb)
{
    sb->resent_head++;
}
/* Sets or clears a flag of record r. */
static inline void scps_sb_mark(struct scps_sent_segment *r, unsigned flag, bool on)
{
    r->flags = (uint8_t)((r->flags & ~flag) | (on ? flag : 0));
}
/* Best effort (BETS of SCPS-TP: data that does not arrive in time is given up): called when the
 * peer's window opens for record r, which was sent as a window probe. The peer had to refuse the
 * probes, so they do not count as transmissions after which r is given up. But r->resends stays 1
 * if r was resent, so that no RTT sample is taken from r. */
static inline void scps_sb_forget_probes(struct scps_sent_segment *r)
{
    r->resends = SCPS_MIN(r->resends, 1);
}
/* Sets *idx to the lowest LOST record. Returns false if there is none. */
bool scps_sb_next_lost(struct scps_scoreboard *sb, uint32_t *idx);
/* Records that the segment of record idx is sent again. */
void scps_sb_resent(struct scps_scoreboard *sb, uint32_t idx, scps_time now);
/* Sets sb->resent_age: if a resent segment is reported as arrived sooner than `age` µs after its
 * retransmission, an earlier transmission may have arrived. Called before scps_sb_ack() and
 * scps_sb_arrived() if resent segments are in flight or the acknowledgement has SACK blocks or a
 * SNACK. */
static inline void scps_sb_set_resent_age(struct scps_scoreboard *sb, scps_dur age)
{
    sb->resent_age = age;
}
/* Processes a cumulative acknowledgement that advances SND.UNA to una: frees the records below una,
 * and adds what has arrived to *sum. If a resent segment is acknowledged less than min_rtt, µs,
 * after its last transmission, an earlier transmission has arrived. */
void scps_sb_ack(struct scps_scoreboard *sb, scps_time now, scps_off una, scps_dur min_rtt,
                 struct scps_ack_result *sum);
/* Processes a report (SACK or SNACK) that [from, to) has arrived. */
void scps_sb_arrived(struct scps_scoreboard *sb, scps_time now, scps_off from, scps_off to,
                     scps_dur min_rtt, struct scps_ack_result *sum);
/* Returns the segments that had been declared lost or resent, but whose first transmissions were
 * reported as arrived after that, since the last call of this function, and forgets them. In the
 * result, `any` is false if there are none. */
static inline struct scps_late scps_sb_take_late(struct scps_scoreboard *sb)
{
    struct scps_late late = sb->late;

    sb->late = (struct scps_late){0};
    return late;
}
/* Best effort (BETS of SCPS-TP: data that does not arrive in time is given up): gives up the oldest
 * unacknowledged segment, that of the first record, and frees its record and those of the segments
 * directly behind it that the peer has reported as arrived. A FIN is never given up. Returns the
 * new SND.UNA; *end: end offset of the data given up. */
scps_off scps_sb_give_up(struct scps_scoreboard *sb, scps_off *end);
/* Returns the losses that were declared since the last call of this function, and forgets them. */
struct scps_new_losses scps_sb_losses(struct scps_scoreboard *sb);
/* Returns the time, µs, that must have passed since the last transmission of a resent segment
 * before the arrival of segments sent later shows that it is lost again. 0: no retransmission was
 * needless (sb->needless). Otherwise twice the minimum RTT (min_rtt), doubled for each further
 * needless one, at most `most`, for which the callers pass the RTO. */
static inline scps_dur scps_sb_resend_wait(const struct scps_scoreboard *sb, scps_dur min_rtt,
                                           scps_dur most)
{
    return sb->needless ? SCPS_MIN(min_rtt << sb->needless, most) : 0;
}
/* Called when a new recovery episode begins: halves the age that a resent segment must have before
 * later arrivals mean that it is lost again (scps_sb_resend_wait()). After twice the least round
 * trip, the smallest age, comes 0. */
void scps_sb_new_episode(struct scps_scoreboard *sb);
/* If record idx is in flight, declares it lost and adds its bytes to sum->lost. sum NULL: the bytes
 * are added to no result. */
void scps_sb_lose(struct scps_scoreboard *sb, uint32_t idx, struct scps_ack_result *sum);
/* If the first record is LOST and has more than len octets of data, splits it into a record of len
 * octets and one with the rest. Returns 0 or SCPS_ERR_NOMEM. */
int scps_sb_split_head(struct scps_scoreboard *sb, const struct scps_alloc *a, uint32_t len);
/* Called when the retransmission timer has expired: declares lost the first record, and every
 * record in flight whose last transmission was at the time `then`, µs, or earlier. Adds their bytes
 * to sum->lost; sum NULL: to no result. */
void scps_sb_lose_since(struct scps_scoreboard *sb, scps_time then, struct scps_ack_result *sum);
/* Called when losses have proved spurious: segments that are LOST and were not resent yet become in
 * flight (FLIGHT) again. If they are lost after all, later acknowledgements or timers show it.
 * Returns the number of their bytes. */
uint64_t scps_sb_undo_losses(struct scps_scoreboard *sb);
/* Makes every ARRIVED record LOST, so that it is sent again, because the receiver may have
 * discarded the data (reneging, RFC 2018 section 8). */
void scps_sb_renege(struct scps_scoreboard *sb);
/* Sets *idx to the record that contains offset off. Returns false if there is none. */
bool scps_sb_lookup(const struct scps_scoreboard *sb, scps_off off, uint32_t *idx);
/* Called when the path MTU fell: declares lost each record in flight that is longer than len
 * octets. That is no sign of congestion (RFC 8201 section 5.4), so neither lost_ever nor
 * scps_sb_losses() counts these losses. */
void scps_sb_lose_longer(struct scps_scoreboard *sb, uint32_t len);
/* Splits the records from index `first` on so that none has more than max octets of data, unless it
 * has arrived. `first` is then the index of its first piece. If memory for more records is refused,
 * splits those with the lowest offsets, as far as the ring has room; the others stay as they are,
 * and snddata.c splits each before it is resent. Precondition: there is a record. */
void scps_sb_resegment(struct scps_scoreboard *sb, const struct scps_alloc *a, uint32_t first,
                       uint32_t max);

/* Joins lost segments that follow each other, as long as none gets more than max octets, so that
 * many small segments are resent as few full ones. */
void scps_sb_join_lost(struct scps_scoreboard *sb, uint32_t max);

/* ---- functions that only scoreboard.c, scoreboard_lost.c and scoreboard_cut.c call ---- */

/* Adds record idx, which is LOST, to the heap lostq. */
void scps_sb_queue_lost(struct scps_scoreboard *sb, uint32_t idx);
/* Removes the lowest index from the heap lostq of lost records. Precondition: there is one. */
void scps_sb_dequeue_lost(struct scps_scoreboard *sb);
/* Appends to the queue `resent` of retransmissions that were sent, the newest last, the one of
 * record idx with the transmission number xseq. */
void scps_sb_queue_resent(struct scps_scoreboard *sb, uint32_t idx, uint32_t xseq);

#endif
