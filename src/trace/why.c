/* SPDX-License-Identifier: MIT */
/* Determines why a segment was retransmitted, from the acknowledgements that had passed the capture
 * point before.
 *
 * The causes are tried in this order, and the first one that applies is taken (docs/SCPS_TRACE.md,
 * "Why" has the reasons):
 *  1. timeout       of a SYN: nothing but its timer causes a SYN to be resent
 *  2. first RTT     the segment was resent before the shortest round trip had passed, so no report
 *                   on it can have come back
 *  3. SNACK         a SNACK had reported the segment missing since its last copy was sent. After a
 *                   silence, or while all data is resent after a timeout, a SNACK within a round
 *                   trip of that copy does not count, because it cannot be about that copy
 *  4. tail probe    the highest segment alone, after a silence of 1.5 round trips or more that was
 *                   shorter than the retransmission timer (RFC 8985 section 7)
 *  5. timeout       neither end had sent anything for the duration of the retransmission timer; or
 *                   the timer had run since the last copy and since the last acknowledgement of new
 *                   data
 *  6. timeout       the segment was outstanding at such a timeout and is resent after it; SACK if a
 *                   SACK block has reported data above it, more than a round trip after its last
 *                   copy
 *  7. SACK          a SACK block had reported data above the segment
 *  8. three dupacks three duplicate acknowledgements for its first octet, or a partial
 *                   acknowledgement in the same recovery (RFC 6582)
 *  9. SACK          data that was sent later than the last copy of the segment had been
 *                   acknowledged, and both ends permit SACK; or a SACK block had reported a later
 *                   retransmission (RFC 8985 section 6)
 * 10. tail probe    with SNACK negotiated: the highest segment, 9/8 of a round trip or more after
 *                   its last copy. No data above it can cause a SNACK (docs/SCPS-TP.md section 2.4)
 * 11. no reason     none of these was seen
 * A segment that fills a gap, because its first copy was lost before the capture point, is treated
 * as resent since the gap became visible (gap.c). A retransmission is found spurious later by a
 * DSACK for it (RFC 2883), or by an acknowledgement whose timestamp echo is older than the
 * retransmission (RFC 3522).
 *
 * The results are best for captures at the sender; elsewhere a report may pass the capture point
 * after the retransmission that it caused was sent.
 */
#include "trace/why.h"
#include "trace/flow.h"

#define MAX_SACKED 512u
#define MIN_RTO    SCPS_MS(200)

const char *scps_tr_cause_name(enum cause c)
{
    static const char *const name[] = {
#define SCPS_TR_CAUSE(id, word, letter, words) word,
#include "trace/causes.def"
#undef SCPS_TR_CAUSE
    };
    return name[c];
}

void scps_tr_why_free(struct scps_trace *t, struct conn_dir *h)
{
    struct scps_alloc a = scps_tr_range_alloc(t);
    if (h->why)
        scps_tr_free(t, h->why->gap, h->why->capgap * sizeof *h->why->gap);
    scps_tr_free(t, h->why, sizeof *h->why);
    h->why = NULL;
    if (h->sacked.max)
        scps_rangeset_fini(&h->sacked, &a);
    h->sacked.max = 0;
}

void scps_tr_why_snack(struct scps_trace *t, struct conn_dir *h, uint64_t from, uint64_t to,
                       scps_time now)
{
    struct why *w = scps_tr_why_of(t, h);
    if (w)
        w->hole[w->nhole++ % HOLES] = (struct hole){.from = from, .to = to, .at = now};
}

/* Called for a SACK block that reports octets [from, to): records the time of the latest
 * retransmission among those octets that no SACK has reported before (RFC 8985 section 6.2 step 2).
 * A copy that was sent less than a round trip ago cannot be the one that arrived, and is left
 * out. */
static void resends_arrived(struct conn_dir *h, uint64_t from, uint64_t to, scps_time now)
{
    for (uint32_t i = scps_rangeset_find(&h->sacked, from); from < to; i++) {
        const struct scps_range *r = i < h->sacked.n ? scps_rangeset_at(&h->sacked, i) : NULL;
        const uint64_t upto = r && r->from < to ? r->from : to;
        if (from < upto) {
            scps_time at = scps_tr_segs_resent_at(&h->segs, from, upto, now - h->rtt_least);
            h->sacked_resend_at = SCPS_MAX(h->sacked_resend_at, at);
        }
        from = r ? SCPS_MAX(r->to, upto) : to;
    }
}

void scps_tr_why_sack(struct scps_trace *t, struct conn_dir *h, uint64_t from, uint64_t to,
                      scps_time now)
{
    /* A SACK block that is empty, ends beyond what was sent or is longer than 2^31 octets is
     * ignored, because it is false. */
    if (from >= to || to > h->segs.top || to - from > (uint64_t)1 << 31)
        return;
    resends_arrived(h, from, to, now);
    struct scps_alloc a = scps_tr_range_alloc(t);
    if (!h->sacked.max)
        scps_rangeset_init(&h->sacked, MAX_SACKED);
    if (scps_rangeset_add(&h->sacked, &a, from, to, NULL) == 1)
        h->sack_at = now;
}

/* Records that retransmission a was spurious (not necessary). by: counter for the kind of evidence,
 * a DSACK or a timestamp. */
static void not_needed(struct why *w, struct again *a, uint64_t *by)
{
    if (a->spurious)
        return;
    a->spurious = true;
    w->spurious++;
    ++*by;
}

/* Processes a DSACK: the receiver reports that octets [from, to) arrived once more than necessary.
 * If a segment was sent three times and a timestamp has shown one copy to be spurious, the DSACK
 * reports that copy; otherwise it reports the latest copy not yet known to be spurious. */
void scps_tr_why_dsack(struct conn_dir *h, uint64_t from, uint64_t to)
{
    struct why *w = h->why;
    struct again *found = NULL;
    if (!w || from >= to)
        return;
    for (uint32_t i = 0; i < SCPS_MIN(w->nagain, AGAINS); i++) {
        struct again *a = &w->again[i];
        if (!a->at || a->first >= to || from >= a->end)
            continue;
        if (!found || a->spurious > found->spurious ||
            (a->spurious == found->spurious && a->at > found->at))
            found = a;
    }
    if (!found)
        return;
    not_needed(w, found, &w->spurious_dsack);
    w->open -= found->open;
    *found = (struct again){0};
}

/* Returns true if an acknowledgement with timestamp echo tsecr shows that retransmission a was
 * unnecessary: the echo is older than the timestamp of a, so an earlier copy had arrived (RFC 3522
 * section 3.2). True only if a contains octet una (SND.UNA before the acknowledgement), because a
 * delayed acknowledgement echoes the timestamp of the first segment it answers (RFC 7323 section
 * 4.3), and segments above may have been lost.
 *
 * The caller, scps_tr_why_acked(), handles two cases. Retransmissions that follow a without a gap
 * and were caused by a timeout were unnecessary, too, if the echo is older than theirs: it passes
 * the octet behind a as una. With best effort (BETS of SCPS-TP) the echo shows nothing, because the
 * receiver acknowledges holes that it has given up: it does not call this function. */
static bool shown_needless(const struct again *a, uint64_t una, uint32_t tsecr)
{
    return a->has_ts && a->first <= una && a->end > una && (int32_t)(tsecr - a->tsval) < 0;
}

void scps_tr_why_acked(struct conn_dir *h, uint64_t una, uint64_t ack, bool bets, bool has_ts,
                       uint32_t tsecr)
{
    struct why *w = h->why;
    const uint32_t n = SCPS_MIN(w->nagain, AGAINS);
    const uint32_t oldest = w->nagain > AGAINS ? w->nagain % AGAINS : 0;
    /* This acknowledgement shows that the retransmissions of octets [una, upto) were spurious: an
     * earlier copy of them had arrived. upto == una (SND.UNA before the acknowledgement): none so
     * far. */
    uint64_t upto = una;
    for (uint32_t i = 0; i < n && w->open; i++) {
        struct again *a = &w->again[(oldest + i) % AGAINS];
        if (!a->open || a->end > ack)
            continue;
        if (has_ts && !bets &&
            (shown_needless(a, una, tsecr) ||
             (upto > una && a->timer && shown_needless(a, upto, tsecr)))) {
            not_needed(w, a, &w->spurious_ts);
            upto = SCPS_MAX(upto, a->end);
        }
        a->open = false;
        w->open--;
    }
}

/* Returns the last transmission of octets [first, end) before the present one. *re has that of the
 * whole packet in which they were first captured. Segmentation offload behind the capture point may
 * have cut this packet into several segments, of which only some were sent again since; then
 * re->last_at is the time of those, and octets [first, end) were last sent earlier. In the result,
 * last_at is the time at which these octets were last sent, and retrans is 0 if that was for the
 * first time. */
static struct resend own_copy(const struct conn_dir *h, uint64_t first, uint64_t end,
                              const struct resend *re)
{
    const struct again *other = NULL, *mine = NULL;
    struct resend own = *re;
    /* If a part of the packet has been acknowledged, all of it counts as acknowledged (segs.c), and
     * re->retrans is 0. */
    if (!re->any || (!re->retrans && !re->acked) || !h->why)
        return own;
    for (uint32_t i = 0; i < SCPS_MIN(h->why->nagain, AGAINS); i++) {
        const struct again *a = &h->why->again[i];
        if (a->first < end && first < a->end)
            mine = mine && mine->at > a->at ? mine : a;
        else if (a->at == re->last_at)
            other = a;
    }
    if (!other || (mine && mine->at == re->last_at))
        return own;
    own.last_at = mine ? mine->at : other->before;
    own.retrans = mine != NULL;
    return own;
}

static void remember(struct scps_trace *t, struct conn_dir *h, uint64_t first, uint64_t end,
                     scps_time before, bool timer, bool has_ts, uint32_t tsval, scps_time now)
{
    struct why *w = scps_tr_why_of(t, h);
    if (!w)
        return;
    struct again *a = &w->again[w->nagain++ % AGAINS];
    w->open -= a->open;
    w->open++;
    *a = (struct again){.first = first,
                        .end = end,
                        .at = SCPS_MAX(now, 1),
                        .before = before,
                        .tsval = tsval,
                        .open = true,
                        .timer = timer,
                        .has_ts = has_ts};
}

/* Returns the time, µs, at which a SNACK last reported a hole that overlaps octets first to end -
 * 1; -1: none did. */
static scps_time snacked(const struct conn_dir *h, uint64_t first, uint64_t end)
{
    scps_time newest = -1;
    if (!h->why)
        return newest;
    for (uint32_t i = 0; i < SCPS_MIN(h->why->nhole, HOLES); i++) {
        const struct hole *x = &h->why->hole[i];
        if (x->from < end && first < x->to)
            newest = SCPS_MAX(newest, x->at);
    }
    return newest;
}

static bool sacked_above(const struct conn_dir *h, uint64_t end)
{
    return h->sacked.n && scps_rangeset_at(&h->sacked, h->sacked.n - 1)->to > end;
}

/* ---- functions that find the cause of a retransmission ---- */

/* Evidence about the cause of one retransmitted segment. Durations and times are in µs. */
struct clues {
    const struct conn_dir *h, *peer;
    const struct resend *re;
    uint64_t first, end; /* range of the segment's octets */
    uint64_t una;        /* SND.UNA, according to the peer's acknowledgements */
    /* time of the latest earlier transmission of the segment; if the capture lacks it, the time at
     * which a later segment left a gap there */
    scps_time last_at;
    scps_time hole; /* time at which a SNACK last reported the segment as missing; -1: none did */
    /* time from last_at, the latest earlier transmission of the segment, to the capture of this
     * retransmission */
    scps_dur since;
    /* time from the sender's last segment with data, new or sent again, to the capture of this
     * retransmission */
    scps_dur idle;
    /* The sender's SRTT and RTO as estimated from the capture, for the whole path between the two
     * ends, even if the capture point lies in the middle. */
    scps_dur srtt, rto;
    /* The shortest time after which the sender's retransmission timer may expire, from its last
     * start on (data was sent, or new data was acknowledged): SRTT + 2 RTTVAR, at least 100 ms; 1 s
     * if there is no RTT sample. `rto`, the estimate of the timeout itself, allows for 4 RTTVAR. */
    scps_dur floor;
    bool lowest, highest;
    /* true: the lowest outstanding data is sent again, the sender had sent no data for at least
     * `floor`, and the peer had sent nothing for at least the shorter of `floor` and half of
     * `since`, the time since the earlier transmission of the data */
    bool silent;
    /* true: the sender's retransmission timer must have expired before this retransmission,
     * although one of the ends had sent something meanwhile */
    bool expired;
    bool going_back; /* true: the data was outstanding when the retransmission timer last expired */
};

static bool sacked_since(const struct clues *k)
{
    return sacked_above(k->h, k->end) && k->h->sack_at - k->last_at >= k->h->rtt_least;
}

/* Returns true if the sender's retransmission timer must have caused the retransmission k (RFC 6298
 * section 5): it begins at SND.UNA; for at least k->floor, the shortest time after which the timer
 * may expire, no new data was acknowledged and the retransmitted data was not sent, although other
 * data may have been; and neither SACK nor three duplicate acknowledgements explain it. */
static bool timer_expired(const struct clues *k, scps_time now)
{
    return k->lowest && (k->re->any || k->re->gap) &&
           now - SCPS_MAX(k->last_at, k->peer->ack_at) >= k->floor && !sacked_since(k) &&
           (k->h->dup_run < 3 || k->re->retrans);
}

static struct clues gather(const struct conn_dir *h, const struct conn_dir *peer, uint64_t first,
                           uint64_t end, const struct resend *re, scps_time now)
{
    struct clues k = {h, peer, re, first, end, .una = peer->ack_hi};
    scps_time heard = SCPS_MAX(h->last_sent_at, peer->last_time);
    scps_dur quiet = now - SCPS_MIN(heard, now);
    k.last_at = re->any || re->gap ? re->last_at : h->last_sent_at;
    k.since = now - k.last_at;
    k.idle = now - SCPS_MIN(h->last_sent_at, now);
    /* h->srtt is measured from the capture point to the receiver and back. Near the receiver that
     * is only a part of the sender's round trip, so the whole path is used if it is longer. */
    k.srtt = h->srtt ? SCPS_MAX(h->srtt, scps_tr_rtt_whole_path(h, peer)) : SCPS_SEC(1);
    k.rto = h->srtt ? k.srtt + SCPS_MAX(4 * h->rttvar, MIN_RTO) : SCPS_MS(200);
    k.floor = SCPS_MAX(k.srtt + 2 * h->rttvar, MIN_RTO / 2);
    k.hole = snacked(h, first, end);
    k.lowest = first <= SCPS_MAX(k.una, h->isn64);
    /* A FIN above the segment takes one sequence number and does not count as data above it. */
    k.highest = end + (h->fin_count > 0) >= h->segs.top;
    k.silent =
        k.lowest && k.idle >= k.floor && quiet >= SCPS_MIN(k.floor, SCPS_MAX(k.since, 1) / 2);
    k.expired = timer_expired(&k, now);
    k.going_back = k.una < h->rto_recover && first < h->rto_recover;
    return k;
}

static bool snack_asked(const struct clues *k)
{
    return k->hole >= 0 && k->hole >= k->last_at &&
           !((k->silent || k->going_back) && k->hole - k->last_at < k->h->rtt_least);
}

/* Returns true if the retransmission k is a tail loss probe. There is none during loss recovery
 * (RFC 8985 section 7.2). */
static bool probes_tail(const struct clues *k)
{
    return k->highest && !k->going_back && k->una >= k->h->fast_recover && !k->re->retrans &&
           k->idle >= k->srtt + k->srtt / 2 && k->idle < k->rto && k->h->dup_run < 3 && k->h->srtt;
}

/* Returns the cause of a retransmission that acknowledgements explain: SACK, three duplicate
 * acknowledgements, or a tail probe. */
static enum cause by_acknowledgements(const struct clues *k)
{
    const struct conn_dir *h = k->h;
    if (sacked_above(h, k->end))
        return CAUSE_SACK;
    /* Three duplicate acknowledgements have arrived, or the segment begins at SND.UNA during a loss
     * recovery: a partial acknowledgement has shown the next hole (RFC 6582). */
    if (k->first <= k->una && (h->dup_run >= 3 || k->una < h->fast_recover))
        return CAUSE_DUPACK;
    /* RACK (RFC 8985): data that was sent later than this segment, for the first time or again, has
     * been acknowledged. */
    if (h->sack_ok && k->peer->sack_ok && k->re->any && h->segs.quad_at > k->last_at)
        return CAUSE_SACK;
    if (k->re->any && h->sacked_resend_at > k->last_at)
        return CAUSE_SACK;
    if (k->highest && k->re->any && k->since >= h->rtt_least + h->rtt_least / 8 &&
        h->caps & k->peer->caps & SCPS_CAP_SNACK1)
        return CAUSE_TAIL_PROBE;
    return CAUSE_UNEXPLAINED;
}

static enum cause cause_of(const struct clues *k)
{
    const struct conn_dir *h = k->h;
    if (k->re->any && h->rtt.n && k->since < h->rtt_least - h->rtt_least / 5)
        return CAUSE_FIRST_RTT;
    if (snack_asked(k))
        return CAUSE_SNACK;
    if (probes_tail(k))
        return CAUSE_TAIL_PROBE;
    if (k->silent || k->expired)
        return CAUSE_TIMEOUT;
    if (k->going_back)
        return sacked_above(h, k->end) && h->sack_at - k->last_at > h->rtt_least ? CAUSE_SACK
                                                                                 : CAUSE_TIMEOUT;
    return by_acknowledgements(k);
}

/* Returns true if the expiry of the retransmission timer is the cause of this retransmission, so
 * that a go-back (the resending of all outstanding data) begins. During a go-back the timer may
 * expire again although the sender was not silent. */
static bool timer_began(const struct clues *k)
{
    return k->silent || k->expired || (k->lowest && k->re->any && k->since >= k->floor);
}

enum cause scps_tr_why_resent(struct scps_trace *t, struct conn_dir *h, const struct conn_dir *peer,
                              uint64_t first, uint64_t end, const struct resend *re, bool syn,
                              bool has_ts, uint32_t tsval, scps_time now)
{
    const struct resend own = own_copy(h, first, end, re);
    const struct clues k = gather(h, peer, first, end, &own, now);
    enum cause c = syn ? CAUSE_TIMEOUT : cause_of(&k);
    if (re->any)
        scps_tr_gap_note_overtaken(h, first, now);
    if (c == CAUSE_TIMEOUT && !syn && timer_began(&k))
        h->rto_recover = h->segs.top;
    remember(t, h, first, end, k.last_at, c == CAUSE_TIMEOUT, has_ts, tsval, now);
    if ((c == CAUSE_SNACK || c == CAUSE_SACK || c == CAUSE_DUPACK || c == CAUSE_TIMEOUT) &&
        k.una >= h->fast_recover) {
        if (h->why)
            h->why->episodes++;
        h->round_flight = (uint32_t)SCPS_CLAMP((int64_t)(h->sent_hi - k.una), 0, UINT32_MAX);
        h->fast_recover = h->segs.top;
    }
    if (h->why)
        h->why->cause[c]++;
    h->round_resent = true;
    if (c == CAUSE_TIMEOUT)
        h->round_timeout = true;
    return c;
}
