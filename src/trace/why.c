/* SPDX-License-Identifier: MIT */
/* Why was it sent again? The evidence is what the receiver had told before, as seen at the capture point.
 *
 * In this order, the first that holds (docs/TRACE.md, "Why" has the reasons):
 *   SYN             its timer: nothing else can ask for one
 *   first RTT       sent again before the shortest round trip had passed: no report on it can have come back
 *   SNACK           the receiver had named it missing since it was last sent (not after a silence or in a go-back, if
 *                   that report came within a round trip and so knew nothing of the last copy)
 *   timeout         after a silence at least as long as the retransmission timer, or in the go-back that follows one
 *   tail probe      the highest segment alone, after about two round trips of silence (RFC 8985 section 7); or, last in
 *                   this order and with SNACK agreed, after a round trip and an eighth: nothing behind it will have it
 *                   named (spec sheet 2.4)
 *   SACK            the receiver had named bytes above it received, or, later in this order and with SACK agreed,
 *                   acknowledged something sent after it (RFC 8985 section 6)
 *   three dupacks   three duplicates for its first octet, or a later hole of the same recovery (RFC 6582)
 *   no reason       none of these was seen
 * Afterwards it may turn out spurious: a DSACK for it (RFC 2883), or an acknowledgement whose timestamp echo is
 * older than the copy it would have to answer (RFC 3522).
 *
 * Best taken at the sender; elsewhere reports may pass the capture point after the resend they caused left the sender.
 */
#include "trace/flow.h"

#define MAX_SACKED 512u
#define MIN_RTO    SCPS_MS(200)

const char *scps_tr_cause_name(enum cause c)
{
    static const char *const name[CAUSE_COUNT] = {
        [CAUSE_NONE] = "none",           [CAUSE_SNACK] = "snack",
        [CAUSE_SACK] = "sack",           [CAUSE_DUPACK] = "dupack",
        [CAUSE_TIMEOUT] = "timeout",     [CAUSE_TAIL_PROBE] = "tail_probe",
        [CAUSE_FIRST_RTT] = "first_rtt", [CAUSE_UNEXPLAINED] = "unexplained"};
    return name[c];
}

static struct why *evidence(struct scps_trace *t, struct half *h)
{
    if (!h->why)
        h->why = scps_tr_alloc(t, sizeof *h->why);
    return h->why;
}

void scps_tr_why_free(struct scps_trace *t, struct half *h)
{
    struct scps_alloc a = scps_tr_range_alloc(t);
    scps_tr_free(t, h->why, sizeof *h->why);
    h->why = NULL;
    if (h->sacked.max)
        scps_rangeset_fini(&h->sacked, &a);
    h->sacked.max = 0;
}

void scps_tr_why_snack(struct scps_trace *t, struct half *h, uint64_t from, uint64_t to,
                       scps_time now)
{
    struct why *w = evidence(t, h);
    if (w)
        w->hole[w->nhole++ % HOLES] = (struct hole){.from = from, .to = to, .at = now};
}

void scps_tr_why_sack(struct scps_trace *t, struct half *h, uint64_t from, uint64_t to,
                      scps_time now)
{
    /* never below the left edge, never beyond what was sent: such a block is a lie or a leftover */
    if (from >= to || to > h->segs.top || to - from > (uint64_t)1 << 31)
        return;
    struct scps_alloc a = scps_tr_range_alloc(t);
    if (!h->sacked.max)
        scps_rangeset_init(&h->sacked, MAX_SACKED);
    if (scps_rangeset_add(&h->sacked, &a, from, to, NULL) == 1)
        h->sack_at = now;
}

void scps_tr_why_dsack(struct half *h, uint64_t from, uint64_t to)
{
    struct why *w = h->why;
    if (!w || from >= to)
        return;
    for (uint32_t i = 0; i < SCPS_MIN(w->nagain, AGAINS); i++) {
        struct again *a = &w->again[i];
        if (a->first < to && from < a->end && a->at) {
            w->spurious_dsack++;
            w->spurious++;
            w->open -= a->open;
            *a = (struct again){0};
            return;
        }
    }
}

void scps_tr_why_acked(struct half *h, uint64_t ack, bool has_ts, uint32_t tsecr)
{
    struct why *w = h->why;
    for (uint32_t i = 0; i < SCPS_MIN(w->nagain, AGAINS) && w->open; i++) {
        struct again *a = &w->again[i];
        if (!a->open || a->end > ack)
            continue;
        a->open = false;
        w->open--;
        if (has_ts && a->has_ts && (int32_t)(tsecr - a->tsval) < 0) {
            w->spurious_ts++;
            w->spurious++;
            *a = (struct again){0}; /* a DSACK for it would say the same again */
        }
    }
}

static void remember(struct scps_trace *t, struct half *h, uint64_t first, uint64_t end,
                     bool has_ts, uint32_t tsval, scps_time now)
{
    struct why *w = evidence(t, h);
    if (!w)
        return;
    struct again *a = &w->again[w->nagain++ % AGAINS];
    w->open -= a->open;
    w->open++;
    *a = (struct again){.first = first,
                        .end = end,
                        .at = SCPS_MAX(now, 1),
                        .tsval = tsval,
                        .open = true,
                        .has_ts = has_ts};
}

/* The newest hole that touches [first, end); 0 if none. */
static scps_time snacked(const struct half *h, uint64_t first, uint64_t end)
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

static bool sacked_above(const struct half *h, uint64_t end)
{
    return h->sacked.n && scps_rangeset_at(&h->sacked, h->sacked.n - 1)->to > end;
}

bool scps_tr_why_gap(struct half *h, const struct half *peer, uint64_t first, uint64_t end,
                     scps_dur path, scps_time now)
{
    if (end <= peer->ack_hi)
        return true; /* the receiver has it: this is another copy */
    if (peer->ack_hi < SCPS_MAX(h->fast_recover, h->rto_recover) && first <= peer->ack_hi)
        return true; /* the next hole of a recovery under way */
    scps_time told = snacked(h, first, end);
    if (told < 0 && sacked_above(h, end))
        told = h->sack_at;
    if (told < 0 && h->dup_run >= 3)
        told = h->last_sent_at;
    if (told >= 0)
        /* a report went out: the answer to it takes most of a round trip from here and back */
        return now - SCPS_MIN(told, h->last_sent_at) >= (path ? path / 2 : SCPS_MS(3)) ||
               h->sack_at < now - path / 2;
    /* nobody complained: late by more than a round trip is not reordering either */
    return now - h->last_sent_at > SCPS_MAX(path, SCPS_MS(3));
}

enum cause scps_tr_why_resent(struct scps_trace *t, struct half *h, const struct half *peer,
                              uint64_t first, uint64_t end, const struct resend *re, bool syn,
                              bool has_ts, uint32_t tsval, scps_time now)
{
    enum cause c = CAUSE_UNEXPLAINED;
    uint64_t una = peer->ack_hi;
    scps_time last_at = re->any ? re->last_at : h->last_sent_at;
    scps_dur since = now - last_at;
    scps_time heard = SCPS_MAX(h->last_sent_at, peer->last_time);
    scps_dur quiet = now - SCPS_MIN(heard, now);
    scps_dur idle = now - SCPS_MIN(h->last_sent_at, now);
    scps_dur srtt = h->srtt ? h->srtt : SCPS_SEC(1);
    scps_dur rto = srtt + SCPS_MAX(4 * h->rttvar, MIN_RTO);
    scps_dur floor = SCPS_MAX(srtt + 2 * h->rttvar, MIN_RTO / 2);
    scps_time hole = snacked(h, first, end);
    bool lowest = first <= SCPS_MAX(una, h->isn64);
    bool silent = lowest && idle >= floor && quiet >= SCPS_MIN(floor, SCPS_MAX(since, 1) / 2);
    bool going_back = una < h->rto_recover && first < h->rto_recover;
    bool highest = end + (h->fin_count > 0) >= h->segs.top; /* a FIN has a number, too */
    if (!h->srtt)
        rto = SCPS_MS(200);

    if (syn) {
        c = CAUSE_TIMEOUT;
    } else if (re->any && h->rtt.n && since < h->rtt.min - h->rtt.min / 5) {
        c = CAUSE_FIRST_RTT;
    } else if (hole >= 0 && hole >= last_at &&
               !((silent || going_back) && hole - last_at < h->rtt.min)) {
        c = CAUSE_SNACK;
    } else if (highest && !re->retrans && idle >= srtt + srtt / 2 && idle < rto && h->dup_run < 3 &&
               h->srtt) {
        c = CAUSE_TAIL_PROBE;
    } else if (silent) {
        c = CAUSE_TIMEOUT;
        h->rto_recover = h->segs.top;
    } else if (going_back) {
        c = sacked_above(h, end) && h->sack_at - last_at > h->rtt.min ? CAUSE_SACK : CAUSE_TIMEOUT;
        if (c == CAUSE_TIMEOUT && lowest && re->any && since >= floor)
            h->rto_recover =
                h->segs.top; /* the timer once more, though the sender was not silent */
    } else if (sacked_above(h, end)) {
        c = CAUSE_SACK;
    } else if (h->dup_run >= 3 && first <= una) {
        c = CAUSE_DUPACK;
    } else if (una < h->fast_recover && first <= una) {
        c = CAUSE_DUPACK; /* a partial acknowledgement shows the next hole */
    } else if (h->sack_ok && peer->sack_ok && re->any && h->segs.quad_at > last_at) {
        c = CAUSE_SACK; /* something sent after it is there (RFC 8985) */
    } else if (highest && re->any && since >= h->rtt.min + h->rtt.min / 8 &&
               h->caps & peer->caps & SCPS_CAP_SNACK1) {
        c = CAUSE_TAIL_PROBE;
    }
    remember(t, h, first, end, has_ts, tsval, now);
    if ((c == CAUSE_SNACK || c == CAUSE_SACK || c == CAUSE_DUPACK || c == CAUSE_TIMEOUT) &&
        una >= h->fast_recover) {
        if (h->why)
            h->why->episodes++;
        h->fast_recover = h->segs.top;
    }
    if (h->why)
        h->why->cause[c]++;
    h->round_resent = true;
    if (c == CAUSE_TIMEOUT)
        h->round_timeout = true;
    return c;
}
