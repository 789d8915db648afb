/* SPDX-License-Identifier: MIT */
/* SNACK at the sender: decides which segments are lost when the receiver reports holes (CCSDS
 * 714.0-B-2 section 3.3; docs/SCPS-TP.md section 2).
 *
 * A report covers whole segments: the receiver rounds a hole outwards to its unit, so a segment
 * that lies only partly in the range is not missing, unless it is the only one touched. If segments
 * are small, several of them lie in the last unit; with SACK those are not taken as missing if they
 * were sent after all data that SACK has reported. Segments sent less than a round trip ago are
 * ignored, since the report cannot include them. A resent segment that is reported again may still
 * be on its way, in a queue that has grown: it is lost again when something sent after it has
 * arrived, or when an eighth more than the latest round trip has passed (RFC 8985 section 6.2 uses
 * the same two kinds of evidence).
 *
 * Embargo (docs/SCPS-TP.md section 2.4): a reported hole is resent at most once in each round trip.
 * When four times the RTT's variation more has passed without a report of a resent segment (at
 * least an eighth of the RTT more where a window fills a queue), it is resent without a new SNACK:
 * so a lost retransmission that no data follows is repaired before the retransmission timer. With
 * SACK all resent segments are examined. Without it few are known to have arrived: while there is
 * more to send, only the one at SND.UNA is examined. At the end of the data all are, except those
 * which a report has passed over: holes are reported in turn, ascending (docs/SCPS-TP.md section
 * 2.3), so there is no hole between those of two consecutive reports. That is a conclusion, not a
 * report: such a segment is resent without a SNACK only when it is the one at SND.UNA, and others
 * only when the peer has fallen silent. After FAST retransmissions of a segment its embargo
 * doubles; where losses are corruption it doubles after DAMAGED of them, up to a second, and from
 * then on it applies to reported holes, too. All this only as long as segments of the peer arrive.
 *
 * If the peer delays its reports, the sender waits for them: it measures how much longer than the
 * least round trip the peer takes to report first transmissions, and makes the embargo longer by a
 * multiple of that time. A resent segment is then not lost because later ones have been reported.
 * Pauses in the peer's acknowledgements are measured, too, and count at the end of the data.
 *
 * A sender that only its own rate limits loses nothing by a needless retransmission at the end of
 * its data. There the embargo is the least round trip and the peer's delay of reports, because RTT
 * samples that are taken while the last holes are filled are poor. For a segment that has been lost
 * more than FAST times it is the least round trip alone.
 *
 * At the end of the data no report can name the last segments, because nothing follows them. When
 * all data has been sent, the segment with the FIN is lost after its embargo: the FIN is
 * acknowledged at once, and that acknowledgement reports the other holes. With SACK the segments
 * above all that has arrived are lost, too, when something sent after them has arrived and no
 * higher data has been reported for an embargo: a peer that reports rarely may not have reported
 * them yet.
 *
 * snack_delay (a setting) postpones the reaction to a report, so that data that is only late can
 * arrive, and so does the reordering window, which is 0 until data that was declared lost has
 * proved to be late (reorder.c). A report that lies within a postponed one is for the same hole and
 * has no effect.
 */
#include "core/snacktx.h"

#include "base/bytes.h"
#include "core/tx.h"

/* number of retransmissions of a segment after which its embargo (the time until it may be resent
 * again) doubles: EMBARGO_FAST_RXMIT_CTR of the reference implementation */
#define FAST    4
#define DAMAGED SCPS_RESENDS_EXPLAINED
#define MIN_RTO SCPS_SEC(1) /* least retransmission timeout (RFC 6298 section 2.4) */
/* Least margin of the embargo (the time in which a resent segment is not resent again): time that a
 * busy peer may need, µs. */
#define LEAST SCPS_MS(10)
/* Time without a segment from the peer after which the peer counts as sending no more reports,
 * µs. */
#define SILENCE (2 * LEAST)
/* largest number of sent segments in the scoreboard that the processing of one SNACK may examine */
#define WORK 8192
#define FULL SCPS_SNACK_FULL

static uint32_t unit(struct scps_sender *s)
{
    return scps_agreed_unit(&s->agreed, s->ctx.cfg->c.snack_raw_unit, s->agreed.adv_mss);
}

/* Called when the peer's reports have passed over [from, to) without naming a hole there: marks the
 * segments that were resent there, and could have arrived, as probably arrived. */
static void pass(struct scps_sender *s, scps_off from, scps_off to)
{
    struct scps_scoreboard *sb = &s->tx->sb;
    uint32_t idx;

    if (from >= to || !scps_sb_lookup(sb, SCPS_MAX(from, s->snd.una), &idx))
        return;
    for (unsigned work = 0; idx != sb->tail && work < WORK; idx++, work++) {
        struct scps_sent_segment *r = scps_sb_at(sb, idx);
        if (r->from + r->len > to)
            break;
        if (r->state == SCPS_SENT_FLIGHT && r->resends &&
            s->ctx.env->now - r->sent >= scps_rtt_min(&s->rtt))
            scps_sb_mark(r, SCPS_SENT_PASSED, true);
    }
}

/* Without SACK, when all data has been sent: records whether the SNACK for [at, end) continues the
 * one before. The peer reports its holes in ascending order, so there is no hole between those of
 * two consecutive SNACKs. A SNACK whose hole begins at `ack`, the cumulative acknowledgement,
 * restarts the order; any other that reports a hole below the last one is out of order. */
static void track_order(struct scps_sender *s, scps_off ack, scps_off at, scps_off end)
{
    struct scps_tx *tx = s->tx;
    scps_off last = tx->snack.last_end;
    uint32_t idx;

    if (s->agreed.opts & SCPS_AGREED_SACK || !scps_send_all_sent(&s->snd))
        return;
    if (!scps_sb_lookup(&tx->sb, SCPS_MAX(at, s->snd.una), &idx) ||
        !scps_sb_at(&tx->sb, idx)->resends) {
        tx->snack.last_end = 0;
        return;
    }
    if (last && at != ack && at < last)
        return;
    if (last)
        pass(s, last, at == ack ? tx->sb.hi_arrived : at);
    tx->snack.last_end = end;
}

void scps_snacktx_measure(struct scps_sender *s, const struct scps_ack_result *sum)
{
    struct scps_snacktx *own = &s->tx->snack;
    const scps_time now = s->ctx.env->now;

    /* Delays are measured only while new data is sent. At the end of the data few segments are
     * reported, and nothing can be concluded from the delay of their reports. */
    if (!scps_send_all_sent(&s->snd)) {
        if (now - own->slow_since > 2 * s->rtt.srtt) {
            own->slow[1] = own->slow[0];
            own->pause[1] = own->pause[0];
            own->slow[0] = own->pause[0] = 0;
            own->slow_since = now;
        }
        if (!s->tx->delivery.app_limited && s->snd.una > 1)
            own->pause[0] = SCPS_MAX(own->pause[0], now - s->tx->heard_at);
    }
    if (sum->oldest_sent >= 0)
        own->slow[0] = SCPS_MAX(own->slow[0], now - sum->oldest_sent);
}

/* Returns by how much the peer delays its reports of arrivals, µs. The result is 0 for a sender
 * that a congestion window limits, because its queue may be the reason; a sender limited by its
 * rate alone fills no queue. */
static scps_dur report_delay(struct scps_sender *s)
{
    const struct scps_snacktx *own = &s->tx->snack;
    scps_dur slow = SCPS_MAX(own->slow[0], own->slow[1]), least = scps_rtt_min(&s->rtt);

    return s->ctl.cwnd == SCPS_CWND_OPEN && slow > least ? slow - least : 0;
}

bool scps_snacktx_reports_late(struct scps_sender *s)
{
    return report_delay(s) > SCPS_MAX(scps_rtt_min(&s->rtt) / 8, LEAST);
}

static scps_dur embargo(struct scps_sender *s, const struct scps_sent_segment *r)
{
    const scps_dur measured =
        /* the latest RTT of data; before the first one, the configured RTT */
        s->tx->rto.latest ? s->tx->rto.latest : s->ctx.cfg->c.expected_rtt;
    scps_dur rtt = SCPS_MAX(s->rtt.srtt, measured), margin, wait, delay = report_delay(s),
             least = scps_rtt_min(&s->rtt),
             pause = SCPS_MAX(s->tx->snack.pause[0], s->tx->snack.pause[1]);
    bool damaged = scps_cause_now(&s->tx->cause, &s->ctx) == SCPS_LOSS_CORRUPTION;
    unsigned most = FAST;
    scps_dur max = s->ctx.cfg->c.rto_max;

    margin = SCPS_MAX(4 * s->rtt.rttvar, LEAST);
    /* All data up to the FIN has been sent and no congestion window limits the sender, so no new
     * data competes with this retransmission. RTT samples taken while holes are filled one by one
     * are poor, so the wait is computed from the least round trip and from the known delay of the
     * peer's reports. */
    if (s->ctl.cwnd == SCPS_CWND_OPEN && s->snd.nxt >= scps_send_fin_end(&s->snd) && r->resends &&
        least) {
        rtt = least + (r->resends > FAST ? 0 : SCPS_MAX(2 * delay, pause));
        margin = LEAST;
        damaged = true;
    } else {
        /* The peer waits up to `delay` before each SNACK, and may report two other holes in the
         * SNACKs before the one for this hole. So it may take three such delays until it can report
         * that this retransmission was lost. */
        if (delay)
            rtt = SCPS_MAX(rtt, least + 3 * delay);
        /* A sender with a congestion window can fill a queue and so lengthen the RTT. */
        if (s->ctl.cwnd != SCPS_CWND_OPEN)
            margin = SCPS_MAX(margin, rtt / 8);
    }
    if (damaged) {
        most = DAMAGED;
        max = SCPS_MIN(max, MIN_RTO);
    }
    for (wait = rtt + margin; most < r->resends && wait < max; most++)
        wait = SCPS_MIN(2 * wait, max);
    /* Retransmissions prove needless, and no round trip is measured, because each segment is resent
     * before its acknowledgement arrives: the embargo is shorter than the round trip, and backs off
     * like the timer (RFC 6298 section 5.5). */
    max = s->ctx.cfg->c.rto_max;
    if (wait > max >> s->tx->rto.needless)
        return SCPS_MAX(wait, max);
    return wait << s->tx->rto.needless;
}

/* Returns true if the SNACK may be about the last transmission of r: before the peer sent the
 * SNACK, that transmission, or something sent after it, can have arrived. meant: the SNACK names r
 * alone, so a segment that was sent once needs no other evidence. */
static bool knowable(struct scps_sender *s, const struct scps_sent_segment *r, bool meant)
{
    scps_dur ago = s->ctx.env->now - r->sent, last = SCPS_MAX(s->rtt.srtt, s->tx->rto.latest);

    /* No round trip was measured yet, so the initial timeout is used in its place (RFC 6298 section
     * 2.1). */
    if (!last)
        last = s->ctx.cfg->c.expected_rtt ? s->ctx.cfg->c.expected_rtt : s->rtt.rto;
    if (ago < (r->resends > DAMAGED ? embargo(s, r) : scps_rtt_min(&s->rtt)))
        return false;
    return (meant && !r->resends) || (int32_t)(s->tx->sb.hi_xseq - r->xseq) > 0 ||
           ago > last + last / 8;
}

/* Processes a report that [from, to) is missing: declares the segments there lost. */
static void missing(struct scps_sender *s, scps_off from, scps_off to, struct scps_ack_result *sum)
{
    struct scps_scoreboard *sb = &s->tx->sb;
    uint32_t first, idx, work = 0;

    /* The receiver has rounded the end of the hole up to a unit. With SACK, segments in the last
     * unit are lost only on other evidence, unless they are the first. */
    scps_off last_unit = s->agreed.opts & SCPS_AGREED_SACK ? to - unit(s) : to;

    from = SCPS_MAX(from, s->snd.una);
    to = SCPS_MIN(to, s->snd.nxt);
    if (from >= to)
        return;
    SCPS_OBSERVE2(&s->ctx, SNACK_IN, from, to);
    if (from < s->tx->snack.resume_at && s->tx->snack.resume_at < to)
        from = s->tx->snack.resume_at;
    s->tx->snack.resume_at = 0;
    if (!scps_sb_lookup(sb, from, &first))
        return;
    idx = first;
    if (scps_sb_at(sb, first)->from < from && first + 1 != sb->tail &&
        scps_sb_at(sb, first + 1)->from < to)
        /* The first segment lies only partly in the hole, and others lie wholly within it, so it is
         * not missing. */
        idx = first + 1;
    for (; idx != sb->tail && work < WORK; idx++, work++) {
        const struct scps_sent_segment *r = scps_sb_at(sb, idx);
        if (r->from >= to || (r->from + r->len > to && idx != first && work))
            break;
        if (r->state == SCPS_SENT_FLIGHT && knowable(s, r, r->from <= last_unit))
            scps_sb_lose(sb, idx, sum);
    }
    if (work == WORK && idx != sb->tail)
        s->tx->snack.resume_at = scps_sb_at(sb, idx)->from;
}

static SCPS_NOINLINE_SIZE scps_time sooner(scps_time a, scps_time b)
{
    return a && b ? SCPS_MIN(a, b) : a + b;
}

/* At the end of the data: declares segments lost that no report can name, because no data follows
 * them. Returns the time at which to check again; 0: that is not needed. */
static scps_time unreported(struct scps_sender *s, struct scps_ack_result *sum)
{
    struct scps_tx *tx = s->tx;
    struct scps_scoreboard *sb = &tx->sb;
    const struct scps_sent_segment *last = scps_sb_at(sb, sb->tail - 1);
    scps_time again = 0, due;
    uint32_t idx;

    /* Without a FIN more data may follow and make the receiver report; RACK detects these losses
     * itself. */
    if (!(last->flags & SCPS_SENT_FIN) || scps_agreed_rack(&s->agreed, &s->ctx.cfg->c))
        return 0;
    if (last->state == SCPS_SENT_FLIGHT && !last->resends) {
        again = last->sent + embargo(s, last);
        if (again <= s->ctx.env->now) {
            again = 0;
            scps_sb_lose(sb, sb->tail - 1, sum);
        }
    }
    if (!(s->agreed.opts & SCPS_AGREED_SACK) || !scps_sb_lookup(sb, sb->hi_arrived, &idx))
        return again;
    if (sb->hi_arrived != tx->snack.highest) {
        tx->snack.highest = sb->hi_arrived;
        tx->snack.highest_at = s->ctx.env->now;
    }
    for (; idx != sb->tail; idx++) {
        const struct scps_sent_segment *r = scps_sb_at(sb, idx);
        if (r->state != SCPS_SENT_FLIGHT || r->resends)
            continue;
        if ((int32_t)(sb->hi_xseq - r->xseq) <= 0)
            break;
        due = SCPS_MAX(r->sent, tx->snack.highest_at) + embargo(s, r);
        if (due > s->ctx.env->now)
            return sooner(again, due);
        scps_sb_lose(sb, idx, sum);
    }
    return again;
}

/* Declares resent segments lost again when their embargo (the time in which they are not resent
 * again) has passed without a report. Returns the time at which to check again; 0: that is not
 * needed. */
static scps_time silent(struct scps_sender *s, struct scps_ack_result *sum)
{
    struct scps_scoreboard *sb = &s->tx->sb;
    bool sack = s->agreed.opts & SCPS_AGREED_SACK;
    struct scps_resent e;

    if (!sack && !scps_send_all_sent(&s->snd)) {
        const struct scps_sent_segment *r = scps_sb_at(sb, sb->head);
        scps_time due = r->sent + embargo(s, r);
        if (r->state != SCPS_SENT_FLIGHT || !r->resends)
            return 0;
        if (due > s->ctx.env->now)
            return due;
        scps_sb_lose(sb, sb->head, sum);
        return 0;
    }
    for (; scps_sb_resent_front(sb, &e); scps_sb_resent_drop(sb)) {
        const struct scps_sent_segment *r = scps_sb_at(sb, e.idx), *head = scps_sb_at(sb, sb->head);
        bool first = r == head;
        if (!scps_sb_resent_live(sb, e) || (r->flags & SCPS_SENT_PASSED && !first))
            continue;
        /* After a timeout, if nothing above r has arrived, the peer's delayed-ACK timer may delay
         * the acknowledgement of r, so the retransmission timer, which has backed off (RFC 6298
         * section 5.5), decides. */
        if (s->tx->rec.episode == SCPS_EPISODE_RTO && r->from >= sb->hi_arrived &&
            !scps_send_fin_sent(&s->snd))
            return 0;
        scps_time due = r->sent + embargo(s, r);
        if (!sack && !first)
            due = SCPS_MAX(due, s->tx->heard_at + SILENCE);
        /* If r were resent before the oldest segment (head), a short queue would drop head each
         * time. So r waits until head may be resent, too, a quarter of a round trip at most. */
        if (head->state == SCPS_SENT_FLIGHT && head->resends &&
            head->sent + embargo(s, head) - due <= s->rtt.srtt / 4)
            due = SCPS_MAX(due, head->sent + embargo(s, head));
        if (due > s->ctx.env->now)
            return due;
        scps_sb_lose(sb, e.idx, sum);
    }
    return 0;
}

/* Processes the postponed reports that are due. Returns the time at which the next one is; 0: none
 * is postponed. */
static scps_time postponed(struct scps_sender *s, struct scps_ack_result *sum)
{
    struct scps_snackwait *waits = &s->tx->snack.waits;
    scps_time due;

    while ((due = scps_snackwait_due(waits)) && due <= s->ctx.env->now) {
        struct scps_snackwait_hole h = scps_snackwait_take(waits);
        missing(s, h.from, h.to, sum);
    }
    return due;
}

scps_time scps_snacktx_look(struct scps_sender *s, struct scps_ack_result *sum)
{
    const scps_time now = s->ctx.env->now;
    scps_dur silence_limit = scps_cause_now(&s->tx->cause, &s->ctx) == SCPS_LOSS_CORRUPTION ||
                                     s->ctl.cwnd == SCPS_CWND_OPEN
                                 ? 6
                                 : 2;
    scps_time due = postponed(s, sum);

    /* If no segment of the peer arrives at all, the retransmission timer decides, because it counts
     * the timeouts and ends the connection. */
    if (!s->rtt.srtt || now - s->tx->heard_at > silence_limit * s->rtt.rto)
        return due;
    due = sooner(due, silent(s, sum));
    return sooner(due, unreported(s, sum));
}

/* Returns for how long after a SNACK the segments of a reported hole are not declared lost, µs, as
 * they may only be late: snack_delay or, if longer, the reordering window. The window counts as 0
 * if the previous acknowledgement arrived longer ago than it, and this one reports more than two
 * segments (RFC 5681 section 4.2): then the peer has waited itself. A stack with fixed memory
 * (allocated at opening) has room for postponed holes only if snack_delay is set. */
static scps_dur postponement(const struct scps_sender *s, const struct scps_ack_result *sum)
{
    scps_dur window = scps_reorder_window(&s->tx->reorder, s->rtt.rto);

    if (s->ctx.env->fixed && !s->ctx.cfg->c.snack_delay)
        return 0;
    if (s->ctx.env->now - s->tx->heard_at >= window && sum->delivered > 2 * s->agreed.mss)
        window = 0;
    return SCPS_MAX(s->ctx.cfg->c.snack_delay, window);
}

/* Processes a report that [from, to) is missing: at once, or when the time for which it is
 * postponed has passed, if the data is still missing then. Returns the time at which to check; 0:
 * that is not needed. */
static scps_time take_hole(struct scps_sender *s, scps_off from, scps_off to,
                           struct scps_ack_result *sum)
{
    struct scps_snackwait *waits = &s->tx->snack.waits;
    scps_dur wait = postponement(s, sum);

    if (scps_snackwait_covers(waits, from, to))
        return 0;
    if (!wait || !scps_snackwait_reserve(waits, &s->ctx.env->alloc)) {
        missing(s, from, to, sum);
        return 0;
    }
    return scps_snackwait_add(waits, from, to, s->ctx.env->now + wait);
}

static bool set(const struct scps_seg *seg, unsigned bit)
{
    return seg->snack_vec[bit / 8] & 0x80 >> bit % 8;
}

/* Position in the bit vector of a SNACK, which is read in runs of equal bits. */
struct scps_bits {
    unsigned from, to; /* bits [from, to) of the vector are the run in progress */
    unsigned valid;    /* only the bits below this number report anything */
    bool here;         /* true: the octets of the run have arrived; false: the octets are missing */
};

/* Moves b to the next run of equal bits. Returns false if there is none: zeros at the end of the
 * vector report nothing, because no data above them has arrived. */
static bool next_run(const struct scps_seg *seg, struct scps_bits *b)
{
    unsigned last = 8u * seg->snack_vec_len;

    b->from = b->to;
    if (b->from >= last)
        return false;
    b->here = set(seg, b->from);
    while (b->to < last && set(seg, b->to) == b->here)
        b->to++;
    if (!b->here && b->to == last)
        return false;
    b->valid = b->to;
    return true;
}

/* Marks in the scoreboard the octets that the bit vector reports as arrived; its first bit stands
 * for [at, at+size). Returns the end offset of the octets of its last bit that is 1, because zeros
 * behind that bit report nothing. */
static scps_off arrived(struct scps_sender *s, const struct scps_seg *seg, scps_off at,
                        uint32_t size, struct scps_ack_result *sum)
{
    struct scps_bits b = {0};

    while (next_run(seg, &b))
        if (b.here)
            scps_sb_arrived(&s->tx->sb, s->ctx.env->now, at + (scps_off)b.from * size,
                            SCPS_MIN(at + (scps_off)b.to * size, s->snd.nxt), scps_rtt_min(&s->rtt),
                            sum);
    return at + (scps_off)b.valid * size;
}

/* Processes the holes in the bit vector, whose first bit stands for [at, at+size). Returns the time
 * at which to check again; 0: that is not needed. */
static scps_time holes(struct scps_sender *s, const struct scps_seg *seg, scps_off at,
                       uint32_t size, struct scps_ack_result *sum)
{
    struct scps_bits b = {0};
    scps_time due = 0;

    while (next_run(seg, &b))
        if (!b.here)
            due = sooner(
                due, take_hole(s, at + (scps_off)b.from * size, at + (scps_off)b.to * size, sum));
    return due;
}

SCPS_NOINLINE_SIZE scps_off scps_snacktx_reach(struct scps_sender *s)
{
    return s->snd.una + (scps_off)FULL * unit(s);
}

scps_time scps_snacktx_take(struct scps_sender *s, const struct scps_seg *seg, scps_off ack,
                            struct scps_ack_result *sum)
{
    uint32_t size = unit(s);
    scps_off at = ack + (scps_off)seg->snack_off * size,
             end = at + (scps_off)seg->snack_size * size, reported_to = end;
    /* With a size field of 65535 the hole may be longer, so it is unknown where the vector
     * starts. */
    bool has_vector = s->agreed.caps & SCPS_CAP_SNACK2 && seg->snack_size < FULL;
    scps_time due;

    if (!seg->snack_size || seg->snack_off == FULL)
        return 0;
    s->ctx.st->snacks_in++;
    /* Arrivals are processed before holes: an arrived segment may have been sent after one that is
     * missing, which is evidence that the missing one is lost. */
    if (has_vector)
        reported_to = arrived(s, seg, end, size, sum);
    due = take_hole(s, at, end, sum);
    if (has_vector)
        due = sooner(due, holes(s, seg, end, size, sum));
    track_order(s, ack, at, reported_to);
    return due;
}
