/* SPDX-License-Identifier: MIT */
/* Gaps: data that the capture lacked when data above it was captured. When data fills a gap, this
 * file determines whether it was overtaken on its way, or is a retransmission of data that was lost
 * before the capture point.
 */
#include "trace/flow.h"
#include "trace/why.h"

/* Round trip that is assumed while none was measured, and the longest time by which a segment is
 * taken to be overtaken on a shorter path. */
#define SHORT_PATH SCPS_MS(3)

/* Removes the gaps below una (SND.UNA) from the array w->gap. If that frees less than a quarter of
 * the array, and it has GAPS entries already, removes the older half. */
static void forget_gaps(struct why *w, uint64_t una)
{
    uint32_t n = 0;
    if (!w->ngap)
        return; /* There is nothing to remove: the array is allocated with the first gap. */
    while (n < w->ngap && w->gap[n].to <= una)
        n++;
    if (n < w->ngap / 4)
        n = w->capgap < GAPS ? n : w->ngap / 2;
    memmove(w->gap, w->gap + n, (w->ngap - n) * sizeof *w->gap);
    w->ngap -= n;
}

void scps_tr_gap_opened(struct scps_trace *t, struct conn_dir *h, const struct conn_dir *peer,
                        uint64_t from, uint64_t to, bool has_ts, uint32_t tsval, scps_time now)
{
    struct why *w = scps_tr_why_of(t, h);
    if (!w)
        return;
    if (w->ngap == w->capgap) {
        forget_gaps(w, peer->ack_hi);
        if (w->ngap == w->capgap) {
            uint32_t cap = w->capgap ? w->capgap * 2 : 4;
            void *p = scps_tr_grow(t, w->gap, w->capgap * sizeof *w->gap, cap * sizeof *w->gap);
            if (!p)
                return;
            w->gap = p;
            w->capgap = cap;
        }
    }
    w->gap[w->ngap++] =
        (struct gap){.from = from, .to = to, .at = now, .tsval = tsval, .has_ts = has_ts};
}

/* Returns the gap (a range of sequence numbers that the capture lacked when data above it was
 * captured) that contains sequence number `first`; NULL: none is recorded. */
static const struct gap *gap_at(const struct conn_dir *h, uint64_t first)
{
    uint32_t lo = 0, hi = h->why ? h->why->ngap : 0;
    while (lo < hi) { /* This loop searches for the first gap that ends above `first`. */
        uint32_t mid = (lo + hi) / 2;
        if (h->why->gap[mid].to > first)
            hi = mid;
        else
            lo = mid + 1;
    }
    return h->why && lo < h->why->ngap && h->why->gap[lo].from <= first ? &h->why->gap[lo] : NULL;
}

/* Returns how long after its gap became visible a segment must pass the capture point to count as a
 * retransmission, if timestamps do not show which it is, µs: four fifths of the round trip, because
 * the report on the gap and the retransmission take a whole one. A round trip below SHORT_PATH
 * counts as SHORT_PATH if a part of it was not measured, and as longer if segments were overtaken
 * by more than a round trip before. */
static scps_dur least_repair_time(const struct conn_dir *h, const struct conn_dir *peer)
{
    scps_dur path = scps_tr_rtt_whole_path(h, peer);
    if (!h->rtt.n || !peer->rtt.n)
        path = SCPS_MAX(path, SHORT_PATH);
    return SCPS_MAX(path - path / 5, h->why ? h->why->overtaken : 0);
}

void scps_tr_gap_note_overtaken(struct conn_dir *h, uint64_t first, scps_time now)
{
    const struct gap *g = gap_at(h, first);
    if (!g || now - g->at >= SHORT_PATH)
        return;
    for (uint32_t i = 0; i < SCPS_MIN(h->why->nagain, AGAINS); i++) {
        const struct again *a = &h->why->again[i];
        if (a->first <= first && first < a->end && a->at < now)
            h->why->overtaken = SCPS_MAX(h->why->overtaken, now - g->at + (now - g->at) / 8);
    }
}

bool scps_tr_gap_repaired(struct conn_dir *h, const struct conn_dir *peer, uint64_t first,
                          uint64_t end, bool has_ts, uint32_t tsval, scps_time now,
                          struct resend *re)
{
    const scps_dur path = SCPS_MAX(scps_tr_rtt_whole_path(h, peer), SHORT_PATH);
    if (end <= peer->ack_hi)
        /* All of the data had been acknowledged before it was captured, so it is another copy
         * (true). The exception (false) is the next data in order if it was acknowledged less than
         * 4/5 of a round trip ago: the capturing host stored the packets of the two directions in
         * another order. */
        return first != h->sent_hi || now - peer->ack_at >= path - path / 5;
    const struct gap *g = gap_at(h, first);
    /* No gap was recorded for octets [first, end) when data above them was captured, for example
     * because the capture began after that. They count as a retransmission (true) if the sender has
     * sent no data for longer than `path`, the round-trip time of the whole path, otherwise as out
     * of order (false). */
    if (!g)
        return now - h->last_sent_at > path;
    re->gap = true;
    re->last_at = g->at;
    if (has_ts && g->has_ts && tsval != g->tsval)
        /* Both segments have timestamps. If the timestamp of this one is later than that of the
         * data above it, this one was sent later, so it is a retransmission and not late. */
        return (int32_t)(tsval - g->tsval) > 0;
    return now - g->at >= least_repair_time(h, peer);
}
