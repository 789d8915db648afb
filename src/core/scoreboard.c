/* SPDX-License-Identifier: MIT */
/* The scoreboard of sent segments; scoreboard.h explains it.
 *
 * Indices of records are 32-bit numbers that wrap. Two indices of one window are never 2^31 apart,
 * so they are compared by the sign of their difference.
 *
 * SACK does not show which transmission of a resent segment has arrived. The report of its arrival
 * is taken to be for an earlier transmission than the last one
 * - if it comes less than the minimum RTT after the last transmission (RFC 8985 section 6.2), or
 *   while no RTT is known because the SYN was lost;
 * - once DSACKs have shown that retransmissions were needless, also if it comes less than three
 *   quarters of the current RTT (resent_age) after the last transmission. Where a queue has grown,
 *   the minimum RTT is far too short: if the acknowledgement that first reports a segment is lost,
 *   the report that repeats it may come so late that it seems to answer the retransmission, and
 *   would show that everything resent before that was lost again.
 *
 * A retransmission was needless if its segment is reported as arrived within a quarter of the
 * minimum RTT: an earlier transmission has arrived, and the path reorders by more than a round
 * trip. Later reports may be for first transmissions, too. So each needless retransmission (counted
 * in `needless`) doubles the age that a resent segment must have before later arrivals show that it
 * is lost again (scps_sb_resend_wait).
 */
#include "core/scoreboard.h"
#include "base/bytes.h"
#include "base/fastpath.h"
#include <scps/error.h>

#define FIRST_CAP 32u
/* Upper limit of sb->needless, the number of needless retransmissions. scps_sb_resend_wait(), the
 * age that a resent segment must have before it is declared lost again, is the minimum RTT doubled
 * that many times: with a minimum RTT of 1 ms more than a minute, the longest usual timeout. */
#define NEEDLESS_MAX 16

void scps_sb_init(struct scps_scoreboard *sb)
{
    /* hi_xseq, the number of the latest transmission known to have arrived, starts as the number
     * before 0: none has arrived, and the first transmission gets number 0. */
    *sb = (struct scps_scoreboard){.hi_xseq = UINT32_MAX};
}

void scps_sb_fini(struct scps_scoreboard *sb, const struct scps_alloc *a)
{
    size_t cap = (size_t)sb->mask + 1;

    if (!sb->v)
        return;
    a->free(a->ctx, sb->v, cap * sizeof *sb->v);
    a->free(a->ctx, sb->resent, cap * sizeof *sb->resent);
    a->free(a->ctx, sb->lostq, cap * sizeof *sb->lostq);
    sb->v = NULL;
}

/* ---- functions that enlarge the ring of records ---- */

int scps_sb_take(struct scps_scoreboard *sb, const struct scps_alloc *a, uint32_t cap)
{
    const uint64_t most = SIZE_MAX / sizeof *sb->v;

    if (cap > most)
        return SCPS_ERR_NOMEM;
    struct scps_sent_segment *v = a->alloc(a->ctx, cap * sizeof *v);
    struct scps_resent *resent = a->alloc(a->ctx, cap * sizeof *resent);
    uint32_t *lostq = a->alloc(a->ctx, cap * sizeof *lostq);

    if (!v || !resent || !lostq) {
        if (v)
            a->free(a->ctx, v, cap * sizeof *v);
        if (resent)
            a->free(a->ctx, resent, cap * sizeof *resent);
        if (lostq)
            a->free(a->ctx, lostq, cap * sizeof *lostq);
        return SCPS_ERR_NOMEM;
    }
    for (uint32_t i = sb->head; i != sb->tail; i++)
        v[i & (cap - 1)] = sb->v[i & sb->mask];
    for (uint32_t i = sb->resent_head; i != sb->resent_tail; i++)
        resent[i & (cap - 1)] = sb->resent[i & sb->mask];
    if (sb->nlost)
        memcpy(lostq, sb->lostq, sb->nlost * sizeof *lostq);
    scps_sb_fini(sb, a);
    sb->v = v;
    sb->resent = resent;
    sb->lostq = lostq;
    sb->mask = cap - 1;
    return 0;
}

int scps_sb_grow(struct scps_scoreboard *sb, const struct scps_alloc *a)
{
    return scps_sb_take(sb, a, sb->v ? (sb->mask + 1) * 2 : FIRST_CAP);
}

/* ---- functions that record transmissions ---- */

SCPS_NOINLINE_SIZE struct scps_sent_segment *
scps_sb_sent(struct scps_scoreboard *sb, scps_off from, uint32_t len, unsigned flags, scps_time now)
{
    struct scps_sent_segment *r = &sb->v[sb->tail & sb->mask];

    r->from = from;
    r->sent = now;
    r->len = len;
    r->xseq = sb->xseq++;
    r->state = SCPS_SENT_FLIGHT;
    r->flags = (uint8_t)flags;
    r->resends = 0;
    sb->tail++;
    sb->inflight += len;
    return r;
}

void scps_sb_queue_resent(struct scps_scoreboard *sb, uint32_t idx, uint32_t xseq)
{
    /* The queue of retransmissions is full, so only the entries of transmissions that may still
     * arrive are kept. */
    if (sb->resent_tail - sb->resent_head > sb->mask) {
        uint32_t to = sb->resent_head;
        for (uint32_t i = sb->resent_head; i != sb->resent_tail; i++) {
            struct scps_resent e = sb->resent[i & sb->mask];
            if (scps_sb_resent_live(sb, e))
                sb->resent[to++ & sb->mask] = e;
        }
        sb->resent_tail = to;
        if (sb->resent_tail - sb->resent_head > sb->mask)
            /* This statement is never reached: the loop has kept only live entries
             * (scps_sb_resent_live), of which each record has at most one, and record idx has none
             * before this call. */
            sb->resent_head++;
    }
    sb->resent[sb->resent_tail++ & sb->mask] = (struct scps_resent){idx, xseq};
}

void scps_sb_resent(struct scps_scoreboard *sb, uint32_t idx, scps_time now)
{
    struct scps_sent_segment *r = scps_sb_at(sb, idx);

    if (r->state == SCPS_SENT_LOST) {
        sb->lost -= r->len;
        sb->inflight += r->len;
        r->state = SCPS_SENT_FLIGHT;
        if (sb->nlost && sb->lostq[0] == idx)
            scps_sb_dequeue_lost(sb);
    }
    r->sent = now;
    r->xseq = sb->xseq++;
    r->flags &= (uint8_t)~SCPS_SENT_PASSED;
    if (r->resends < UINT8_MAX)
        r->resends++;
    scps_sb_queue_resent(sb, idx, r->xseq);
}

/* ---- functions that record arrivals ---- */

/* Called when record r, which was resent, is reported as arrived. If that is less than a quarter of
 * the minimum round trip after the retransmission, an earlier transmission has arrived, and the
 * retransmission was needless: increments sb->needless. That happens at most once for all segments
 * that were resent before the increment. */
static SCPS_INLINE_SPEED void resent_arrived(struct scps_scoreboard *sb,
                                             const struct scps_sent_segment *r, scps_time now,
                                             scps_dur min_rtt)
{
    if (now - r->sent >= min_rtt / 4 || scps_sb_before(r->xseq, sb->needless_from))
        return;
    sb->needless_from = sb->xseq;
    if (sb->needless < NEEDLESS_MAX)
        sb->needless++;
}

void scps_sb_new_episode(struct scps_scoreboard *sb)
{
    if (sb->needless)
        sb->needless--;
}

/* Adds record r, which was declared lost or resent, to *late if its first transmission has arrived:
 * if it was not resent, or if it was resent once and the acknowledgement came after less than three
 * quarters of the least round trip. Jitter and the resolution of the clock make round trips that
 * are a little less than the least one so far. */
static SCPS_NOINLINE_SIZE SCPS_NOINLINE void note_late(const struct scps_sent_segment *r,
                                                       scps_time now, scps_dur min_rtt,
                                                       struct scps_late *late)
{
    if (!r->resends) {
        if (!late->unresent || r->sent < late->sent)
            late->sent = r->sent;
        late->unresent = late->any = true;
    } else if (r->resends == 1 && now - r->sent < min_rtt - min_rtt / 4 &&
               (!late->to || late->to == r->from)) {
        late->from = late->to ? late->from : r->from;
        late->to = r->from + r->len;
        late->any = true;
    }
}

/* Called when an acknowledgement reports that record r has arrived, before r becomes ARRIVED or is
 * freed: counts r in the result *sum of that acknowledgement. */
static inline void credit(struct scps_scoreboard *sb, const struct scps_sent_segment *r,
                          scps_time now, scps_dur min_rtt, struct scps_ack_result *sum)
{
    bool unambiguous =
        !r->resends || (min_rtt && now - r->sent >= SCPS_MAX(min_rtt, sb->resent_age));

    if (r->state == SCPS_SENT_FLIGHT)
        sb->inflight -= r->len;
    else
        sb->lost -= r->len;
    if (!unambiguous || r->state != SCPS_SENT_FLIGHT)
        note_late(r, now, min_rtt, &sb->late);
    sum->delivered += r->len;
    if (!r->resends)
        sum->orig = true;
    if (unambiguous && scps_sb_before(sb->hi_xseq, r->xseq))
        sb->hi_xseq = r->xseq;
    else if (!r->resends && r->from + r->len <= sum->fack)
        sum->reordered = true;
    scps_ack_result_arrived(sum, r, sb->hi_xseq, unambiguous);
}

/* Returns the end offset of the record before idx. */
static inline scps_off end_before(const struct scps_scoreboard *sb, uint32_t idx)
{
    const struct scps_sent_segment *r = scps_sb_at(sb, idx - 1);

    return r->from + r->len;
}

/* Frees the records from the head up to, but not including, `next`. All of them are ARRIVED, and
 * the last one ends at `end`. */
static inline void free_arrived(struct scps_scoreboard *sb, uint32_t next, scps_off end)
{
    uint32_t n = next - sb->head, below = 0;

    if (scps_sb_before(sb->head, sb->frontier))
        below = SCPS_MIN(n, sb->frontier - sb->head);
    sb->arrived -= end - scps_sb_at(sb, sb->head)->from;
    sb->arrived_recs -= n;
    sb->arrived_below -= below;
    sb->excused -= SCPS_MIN(sb->excused, n - below);
    sb->head = next;
}

/* Returns true if r is in flight, was sent only once, and ends at or below `to`. */
static inline bool first_sending(const struct scps_sent_segment *r, scps_off to)
{
    return r->from + r->len <= to && r->state == SCPS_SENT_FLIGHT && !r->resends;
}

/* Counts as delivered a run of contiguous records that were in flight, sent once, and sent later
 * than everything that had arrived before. first, last: the records at the two ends of the run.
 * Returns the number of bytes in the run. */
static SCPS_INLINE_SPEED uint64_t credit_run(struct scps_scoreboard *sb,
                                             const struct scps_sent_segment *first,
                                             const struct scps_sent_segment *last,
                                             struct scps_ack_result *sum)
{
    uint64_t bytes = last->from + last->len - first->from;

    sb->inflight -= bytes;
    sb->hi_xseq = last->xseq;
    sum->delivered += bytes;
    sum->orig = true;
    /* The times are compared as unsigned numbers, so that an oldest_sent of -1 (none yet) is larger
     * than any time. */
    if ((uint64_t)first->sent < (uint64_t)sum->oldest_sent)
        sum->oldest_sent = first->sent;
    scps_ack_result_arrived(sum, last, last->xseq, true);
    return bytes;
}

/* Fast path: frees the next records in order that are below una and were sent once, and counts them
 * as delivered in one step. */
static inline void free_run(struct scps_scoreboard *sb, scps_off una, struct scps_ack_result *sum)
{
    const struct scps_sent_segment *first = scps_sb_at(sb, sb->head), *last = NULL;
    uint32_t head = sb->head;

    if (head == sb->tail || !scps_sb_before(sb->hi_xseq, first->xseq))
        return;
    for (const struct scps_sent_segment *r = first; first_sending(r, una);
         r = scps_sb_at(sb, head)) {
        last = r;
        if (++head == sb->tail)
            break;
    }
    if (!last || !SCPS_FAST_PATH(SCPS_FAST_ACK_RUN))
        return;
    credit_run(sb, first, last, sum);
    sb->head = head;
}

/* Called when SND.UNA passes record r, whose segment was resent: counts the retransmission if it
 * was needless, and records in *sum when the segment was last sent. */
static SCPS_NOINLINE void passed_resent(struct scps_scoreboard *sb,
                                        const struct scps_sent_segment *r, scps_time now,
                                        scps_dur min_rtt, struct scps_ack_result *sum)
{
    resent_arrived(sb, r, now, min_rtt);
    if (!sum->refilled)
        sum->refilled_at = r->sent;
    sum->refilled = true;
}

/* Called when the last transmission of the first record, r, had only the first octets of its
 * segment (SCPS_SENT_CUT), and these were acknowledged: the remaining octets count as lost, so that
 * they are sent. */
static SCPS_NOINLINE void rest_is_lost(struct scps_scoreboard *sb, struct scps_sent_segment *r)
{
    r->state = SCPS_SENT_LOST;
    sb->inflight -= r->len;
    sb->lost += r->len;
    scps_sb_queue_lost(sb, sb->head);
}

void scps_sb_ack(struct scps_scoreboard *sb, scps_time now, scps_off una, scps_dur min_rtt,
                 struct scps_ack_result *sum)
{
    free_run(sb, una, sum);
    while (sb->head != sb->tail) {
        struct scps_sent_segment *r = scps_sb_at(sb, sb->head);

        if (r->from >= una)
            break;
        /* If only a part of the record is acknowledged, the rest stays in the scoreboard. */
        if (r->from + r->len > una) {
            uint32_t gone = (uint32_t)(una - r->from);
            uint64_t *bytes = r->state == SCPS_SENT_FLIGHT ? &sb->inflight
                              : r->state == SCPS_SENT_LOST ? &sb->lost
                                                           : &sb->arrived;
            *bytes -= gone;
            if (r->state != SCPS_SENT_ARRIVED)
                sum->delivered += gone;
            r->from = una;
            r->len -= gone;
            r->flags &= (uint8_t)~SCPS_SENT_SYN;
            if (r->flags & SCPS_SENT_CUT && r->state == SCPS_SENT_FLIGHT)
                rest_is_lost(sb, r);
            break;
        }
        /* A run of ARRIVED records, which SACK or SNACK has reported before, is freed in one step
         * if una covers all of the run; otherwise only its first record is. */
        if (r->state == SCPS_SENT_ARRIVED) {
            uint32_t next = r->skip;
            scps_off end = end_before(sb, next);
            if (end > una) {
                next = sb->head + 1;
                end = r->from + r->len;
            }
            free_arrived(sb, next, end);
            continue;
        }
        if (r->resends)
            passed_resent(sb, r, now, min_rtt, sum);
        else if ((uint64_t)r->sent < (uint64_t)sum->oldest_sent)
            sum->oldest_sent = r->sent;
        credit(sb, r, now, SCPS_MAX(min_rtt, sum->echo_age), sum);
        sb->head++;
    }
    if (scps_sb_before(sb->frontier, sb->head))
        sb->frontier = sb->head;
    if (sb->hi_arrived < una)
        sb->hi_arrived = una;
}

bool scps_sb_lookup(const struct scps_scoreboard *sb, scps_off off, uint32_t *idx)
{
    uint32_t n = scps_sb_count(sb), lo = 0, hi = n, guess;
    const struct scps_sent_segment *first, *last;

    if (!n)
        return false;
    first = scps_sb_at(sb, sb->head);
    last = scps_sb_at(sb, sb->tail - 1);
    if (off < first->from || off >= last->from + last->len)
        return false;
    /* The search begins with the index that off would have if all segments had the same size, which
     * most have; then it bisects. */
    guess = (uint32_t)((off - first->from) / (first->len ? first->len : 1));
    guess = SCPS_MIN(guess, n - 1);
    while (lo + 1 < hi) {
        uint32_t mid = guess > lo && guess < hi ? guess : lo + (hi - lo) / 2;
        const struct scps_sent_segment *r = scps_sb_at(sb, sb->head + mid);
        if (r->from > off) {
            hi = mid;
        } else {
            lo = mid;
            if (off < r->from + r->len)
                break;
        }
        guess = 0;
    }
    *idx = sb->head + lo;
    return true;
}

/* Returns the index of the first record at or after idx that has not arrived. */
static uint32_t unarrived(struct scps_scoreboard *sb, uint32_t idx)
{
    while (idx != sb->tail) {
        struct scps_sent_segment *r = scps_sb_at(sb, idx);
        uint32_t next;
        if (r->state != SCPS_SENT_ARRIVED)
            break;
        next = r->skip;
        /* Path halving makes the next search that begins at this record take half as many steps. */
        if (next != sb->tail) {
            const struct scps_sent_segment *n = scps_sb_at(sb, next);
            if (n->state == SCPS_SENT_ARRIVED)
                r->skip = n->skip;
        }
        idx = next;
    }
    return idx;
}

/* Fast path for a SACK block or SNACK that reports the octets below offset `to` as arrived: from
 * record idx on, marks as ARRIVED, and counts in *sum as delivered, each record that ends at or
 * below `to`, was in flight and sent once. Marks none if record idx was examined for loss, or
 * something sent after it has arrived. Returns the index of the first record not marked. */
static inline uint32_t mark_run(struct scps_scoreboard *sb, uint32_t idx, scps_off to,
                                struct scps_ack_result *sum)
{
    struct scps_sent_segment *first = scps_sb_at(sb, idx), *last = NULL;
    uint32_t begin = idx;

    if (idx == sb->tail || scps_sb_before(idx, sb->frontier) ||
        !scps_sb_before(sb->hi_xseq, first->xseq) || !SCPS_FAST_PATH(SCPS_FAST_SACK_RUN))
        return idx;
    for (struct scps_sent_segment *r = first; first_sending(r, to); r = scps_sb_at(sb, idx)) {
        r->state = SCPS_SENT_ARRIVED;
        r->skip = ++idx;
        last = r;
        if (idx == sb->tail)
            break;
    }
    if (!last)
        return idx;
    sb->arrived += credit_run(sb, first, last, sum);
    sb->arrived_recs += idx - begin;
    if (last->from + last->len > sb->hi_arrived)
        sb->hi_arrived = last->from + last->len;
    return idx;
}

void scps_sb_arrived(struct scps_scoreboard *sb, scps_time now, scps_off from, scps_off to,
                     scps_dur min_rtt, struct scps_ack_result *sum)
{
    /* longer: true if this report begins in the range that was reported last, or at its end, and
     * the record behind the arrived records of that range (run_next) was not passed by SND.UNA
     * meanwhile. The usual case: the peer repeats the range with some more segments. Then records
     * are examined from run_next on, without a search. */
    bool longer = from >= sb->run_from && from <= sb->run_to &&
                  !scps_sb_before(sb->run_next, sb->head) && SCPS_FAST_PATH(SCPS_FAST_SACK_AGAIN);
    uint32_t idx, first;

    if (longer) {
        idx = sb->run_next;
    } else if (!scps_sb_lookup(sb, from, &idx)) {
        if (!scps_sb_count(sb) || from >= scps_sb_at(sb, sb->head)->from)
            return;
        idx = sb->head;
    } else if (scps_sb_at(sb, idx)->from < from) {
        /* The report, by SACK or SNACK, that octets have arrived begins within this segment; a
         * segment of which only a part is reported does not become ARRIVED. */
        idx++;
    }
    first = longer && !scps_sb_before(sb->run_first, sb->head) ? sb->run_first : idx;
    idx = mark_run(sb, idx, to, sum);
    while ((idx = unarrived(sb, idx)) != sb->tail) {
        struct scps_sent_segment *r = scps_sb_at(sb, idx);
        if (r->from + r->len > to)
            break;
        if (r->resends)
            resent_arrived(sb, r, now, min_rtt);
        else if (scps_sb_before(sb->hi_xseq, r->xseq) &&
                 (uint64_t)r->sent < (uint64_t)sum->oldest_sent)
            /* An RTT sample is taken only if nothing that was sent later had been reported before;
             * otherwise the report of this segment may itself be late. */
            sum->oldest_sent = r->sent;
        credit(sb, r, now, min_rtt, sum);
        r->state = SCPS_SENT_ARRIVED;
        r->skip = idx + 1;
        sb->arrived += r->len;
        sb->arrived_recs++;
        if (scps_sb_before(idx, sb->frontier))
            sb->arrived_below++;
        if (r->from + r->len > sb->hi_arrived)
            sb->hi_arrived = r->from + r->len;
        idx++;
    }
    if (first != idx)
        /* The `skip` of the first record of this run of arrived records points behind the run, so
         * the next call of unarrived() that begins there passes the run in one step. */
        scps_sb_at(sb, first)->skip = idx;
    sb->run_from = from;
    sb->run_to = to;
    sb->run_first = first;
    sb->run_next = idx;
}
