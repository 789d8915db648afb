/* SPDX-License-Identifier: MIT */
/* SNACK at the sender: declares segments lost when the peer's SNACKs report holes, ranges of octets
 * that the peer has not received (CCSDS 714.0-B-2 section 3.3; docs/SCPS-TP.md section 2).
 *
 * Which segments a SNACK declares lost. A SNACK counts in units, each the payload of a full
 * segment, and the receiver rounds a hole outwards to whole units. Therefore:
 * - A segment that lies only partly in the hole is not lost, unless it is the only one touched.
 * - A segment sent less than the least round trip ago is not lost: the SNACK cannot be about it.
 * - A resent segment, and with SACK a segment that begins within the last unit, is lost only if
 *   something sent after it has arrived, or if an eighth more than the latest round trip has passed
 *   since it was sent (RFC 8985 section 6.2 uses the same two kinds of evidence). The
 *   retransmission may still be on its way, in a queue that has grown; small segments in the last
 *   unit may have arrived.
 *
 * Embargo (docs/SCPS-TP.md section 2.4): the time after a retransmission in which the segment
 * counts as on its way, and is not declared lost without a new SNACK. If no report of its arrival
 * comes in that time, it is lost again. So a lost retransmission that no data follows is repaired
 * before the retransmission timer expires. The embargo is:
 * - the RTT and four times its variation, but at least an eighth of the RTT where a congestion
 *   window can fill a queue;
 * - with the least round trip and three times the delay of the peer's reports (SACK and SNACK) in
 *   place of the RTT, if that is longer: a sender without a congestion window measures how much
 *   longer than the least round trip the peer takes to report first transmissions;
 * - if all data has been sent and only the sender's rate limits it: the least round trip, and twice
 *   that delay or the longest pause in the peer's acknowledgements. Such a sender loses nothing by
 *   a needless retransmission, and RTT samples taken while the last holes are filled are poor. For
 *   a segment that was resent more than 4 times it is the least round trip alone.
 * In each case at least 10 ms are added (LEAST). The embargo doubles with each retransmission of a
 * segment after 4 (FAST); in the third case, and where losses are attributed to corruption, after
 * 64 (DAMAGED), up to a second. For a segment that was resent more than 64 times the embargo
 * applies to new SNACKs, too.
 *
 * With SACK all resent segments are examined so. Without SACK few are known to have arrived: while
 * there is more to send, only the one at SND.UNA is examined. When all data has been sent, all are,
 * except those that SNACKs have passed over: the peer reports holes in turn, ascending
 * (docs/SCPS-TP.md section 2.3), so between the holes of two consecutive SNACKs nothing is missing.
 * That is a conclusion, not a report, so the segment at SND.UNA is examined even if it was passed
 * over. Without SACK a segment above SND.UNA is lost so only when the peer has fallen silent, too
 * (SILENCE). No segment is lost so when the peer has sent no acknowledgement for several RTOs.
 *
 * When all data has been sent, no SNACK can name the last segments, because nothing follows them.
 * If the FIN was sent, too, the segment with the FIN is lost after its embargo: the FIN is
 * acknowledged at once, and that acknowledgement reports the other holes. With SACK the segments
 * above all that has arrived are lost, too, when something sent after them has arrived and no
 * higher data has been reported for an embargo: a peer that reports rarely may not have reported
 * them yet.
 *
 * Postponed holes (snackwait.c): snack_delay (a setting) postpones the reaction to a SNACK, so that
 * data that is only late can arrive, and so does the reordering window, which is 0 until data that
 * was declared lost has proved to be late (reorder.c). A reported hole that lies within a postponed
 * one is the same hole, and has no effect.
 */
#include "core/snacktx.h"

#include "base/bytes.h"
#include "core/tx.h"

/* Number of retransmissions of a segment after which its embargo (the time in which it is not
 * declared lost again without a new SNACK) doubles with each further one: EMBARGO_FAST_RXMIT_CTR of
 * the reference implementation. */
#define FAST 4
/* Number of retransmissions (64) of a segment after which its embargo doubles with each further one
 * where losses are attributed to corruption of bits, not to congestion. */
#define DAMAGED SCPS_RESENDS_EXPLAINED
/* least retransmission timeout (RFC 6298 section 2.4), µs: the embargo of a segment doubles up to
 * that where losses are attributed to corruption */
#define MIN_RTO SCPS_SEC(1)
/* Least time that is added to the round trip in the embargo (the time in which a resent segment is
 * not resent again), µs: a busy peer may need it to process a segment and acknowledge it. */
#define LEAST SCPS_MS(10)
/* Time without an acknowledgement from the peer after which the peer counts as sending no more
 * SNACKs, µs. */
#define SILENCE (2 * LEAST)
/* largest number of sent segments in the scoreboard that the processing of one SNACK may examine */
#define WORK 8192
#define FULL SCPS_SNACK_FULL

/* Returns the unit, octets, in which the SNACKs of the peer count: the payload of a full segment,
 * or the MSS itself (setting snack_raw_unit). */
static uint32_t unit(struct scps_sender *s)
{
    return scps_agreed_unit(&s->agreed, s->ctx.cfg->c.snack_raw_unit, s->agreed.adv_mss);
}

/* Called when the peer, which reports holes in ascending order, has sent SNACKs that report holes
 * around [from, to) but none in that range. Marks as probably arrived (SCPS_SENT_PASSED) the
 * segments there that were resent, not less than the least round trip ago. */
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

    /* A new measuring interval begins, and pauses in the acknowledgements are measured, only while
     * there is new data to send: when all has been sent, few segments are left to be reported, and
     * nothing can be concluded from the pauses. */
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

/* Returns how much longer than the least round trip the peer takes to report the arrival of first
 * transmissions, µs. Returns 0 for a sender with a congestion window: a queue in the network, which
 * that window fills, would look like a delay of the peer. A sender that only its rate limits fills
 * no queue. */
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

/* Returns the embargo of segment r, µs: how long after its last transmission r counts as on its
 * way. During that time r is declared lost again only because of a new SNACK that reports r as
 * missing and that is evidence of the loss (knowable()). */
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
     * data competes with the retransmission of r. RTT samples taken while holes are filled one by
     * one are poor, so the embargo (the time in which r is not declared lost again without a new
     * SNACK) follows from the least round trip, the delay with which the peer reports arrivals, and
     * the pauses in its acknowledgements. */
    if (s->ctl.cwnd == SCPS_CWND_OPEN && s->snd.nxt >= scps_send_fin_end(&s->snd) && r->resends &&
        least) {
        rtt = least + (r->resends > FAST ? 0 : SCPS_MAX(2 * delay, pause));
        margin = LEAST;
        damaged = true;
    } else {
        /* If the last retransmission of r was lost, the peer reports the hole of r again. It waits
         * up to `delay` before each SNACK, and each SNACK may report another hole first: the
         * embargo allows for two SNACKs about other holes and one about the hole of r, so three
         * delays. */
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
    /* rto.needless: number of retransmissions that DSACKs have shown to be needless since an RTT
     * was last measured. Each segment is then resent before its acknowledgement arrives: the
     * embargo (the time in which r is not declared lost again without a new SNACK) is shorter than
     * the round trip. So it doubles with each of them, as the retransmission timer backs off (RFC
     * 6298 section 5.5). */
    max = s->ctx.cfg->c.rto_max;
    if (wait > max >> s->tx->rto.needless)
        return SCPS_MAX(wait, max);
    return wait << s->tx->rto.needless;
}

/* Called for segment r in a hole that a SNACK of the peer reports. Returns true if the SNACK is
 * evidence that the last transmission of r is lost: that transmission was at least the minimum RTT
 * ago (after more than DAMAGED retransmissions: the embargo), and
 * - r lies in the hole for certain, not only in the unit to which the receiver has rounded up the
 *   end of the hole (`meant`), and r was sent once; or
 * - something sent after r has arrived; or
 * - the last transmission was more than 9/8 of the RTT ago, the longer of SRTT and the latest
 *   RTT. */
static bool knowable(struct scps_sender *s, const struct scps_sent_segment *r, bool meant)
{
    scps_dur ago = s->ctx.env->now - r->sent, last = SCPS_MAX(s->rtt.srtt, s->tx->rto.latest);

    /* Before the first RTT sample the setting expected_rtt stands for the round trip or, if that
     * is 0, the initial timeout (RFC 6298 section 2.1). */
    if (!last)
        last = s->ctx.cfg->c.expected_rtt ? s->ctx.cfg->c.expected_rtt : s->rtt.rto;
    if (ago < (r->resends > DAMAGED ? embargo(s, r) : scps_rtt_min(&s->rtt)))
        return false;
    return (meant && !r->resends) || (int32_t)(s->tx->sb.hi_xseq - r->xseq) > 0 ||
           ago > last + last / 8;
}

/* Processes a hole that a SNACK has reported, [from, to): declares the segments there lost, and
 * adds their bytes to sum->lost. */
static void missing(struct scps_sender *s, scps_off from, scps_off to, struct scps_ack_result *sum)
{
    struct scps_scoreboard *sb = &s->tx->sb;
    uint32_t first, idx, work = 0;

    /* The receiver has rounded the end of the hole up to a whole unit of the SNACK (the payload of
     * a full segment). So with SACK a segment that begins behind the first octet of the hole's last
     * unit may have arrived: it counts as lost only if something sent after it has arrived, or if
     * it was sent longer ago than a round trip and an eighth (knowable()). */
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
        /* The first segment lies only partly in the hole, whose start the receiver has rounded down
         * to a whole unit, so the segment may have arrived. Another segment begins within the hole,
         * so the SNACK is taken to be about that one, and the first is not declared lost. */
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

/* When all data and the FIN have been sent: declares lost what no SNACK of the peer can name
 * because no data follows it. That is the segment with the FIN, if it was sent once, when its
 * embargo has passed since it was sent (a round trip and a margin: embargo()). With SACK it is also
 * each segment above the highest data that has arrived, if it was sent once, something sent after
 * it has arrived, and its embargo has passed since it was sent and since higher data was last
 * reported. Returns the time, µs, at which this must be checked again; 0: it need not. */
static scps_time unreported(struct scps_sender *s, struct scps_ack_result *sum)
{
    struct scps_tx *tx = s->tx;
    struct scps_scoreboard *sb = &tx->sb;
    const struct scps_sent_segment *last = scps_sb_at(sb, sb->tail - 1);
    scps_time again = 0, due;
    uint32_t idx;

    /* Nothing is declared lost here, and no timer is needed, if the FIN was not sent: more data may
     * follow, and then the peer's SNACKs report the last segments if they are missing. With RACK,
     * rack.c detects the loss of the last segments. */
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

/* Declares resent segments lost again when their embargo (the time in which a resent segment is not
 * declared lost without a new SNACK) has passed without a report of their arrival. Returns the
 * time, µs, at which this must be checked again; 0: it need not. */
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
        /* After a timeout, if nothing above the resent segment r has arrived and no FIN was sent,
         * the delayed-ACK timer of the peer may delay the acknowledgement of r. Then only the
         * retransmission timer, which has backed off (RFC 6298 section 5.5), declares r lost again.
         * 0: this function need not be called again for r. */
        if (s->tx->rec.episode == SCPS_EPISODE_RTO && r->from >= sb->hi_arrived &&
            !scps_send_fin_sent(&s->snd))
            return 0;
        scps_time due = r->sent + embargo(s, r);
        if (!sack && !first)
            due = SCPS_MAX(due, s->tx->heard_at + SILENCE);
        /* If r were resent shortly before the oldest segment (head, at SND.UNA), a short queue of a
         * router on the path would drop the retransmission of head each time. So r waits until head
         * may be resent, too, a quarter of a round trip at most. */
        if (head->state == SCPS_SENT_FLIGHT && head->resends &&
            head->sent + embargo(s, head) - due <= s->rtt.srtt / 4)
            due = SCPS_MAX(due, head->sent + embargo(s, head));
        if (due > s->ctx.env->now)
            return due;
        scps_sb_lose(sb, e.idx, sum);
    }
    return 0;
}

/* Declares lost the segments in holes that SNACKs reported earlier, and whose postponement (by
 * snack_delay or the reordering window) is over now. Returns the time, µs, at which that of the
 * next hole is over; 0: no hole is postponed. */
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

    /* If the peer has sent no acknowledgement for several retransmission timeouts, segments are not
     * declared lost here again: only the retransmission timer does that, because it counts the
     * timeouts and ends the connection. */
    if (!s->rtt.srtt || now - s->tx->heard_at > silence_limit * s->rtt.rto ||
        /* SACK blocks alone report: segments are declared lost as without SNACK (ackloss.c,
         * rack.c). What nothing sent later shows to be missing, such as the FIN, waits for the
         * retransmission timer. */
        !scps_snacktx_names(&s->tx->snack, &s->agreed))
        return due;
    due = sooner(due, silent(s, sum));
    return sooner(due, unreported(s, sum));
}

/* Called when a SNACK reports a hole. Returns for how long, µs, the segments in the hole are not
 * declared lost yet, since they may only be late: the setting snack_delay or, if longer, the
 * reordering window; 0: they are declared lost at once. The reordering window counts as 0 if the
 * previous acknowledgement arrived at least that window ago, and this one reports the arrival of
 * more than two segments (as delayed acknowledgements do, RFC 5681 section 4.2): then the peer has
 * delayed its SNACK, and late data has had time to arrive. A stack with fixed memory (allocated at
 * opening) can postpone holes only if snack_delay is set. */
static scps_dur postponement(const struct scps_sender *s, const struct scps_ack_result *sum)
{
    scps_dur window = scps_reorder_window(&s->tx->reorder, s->rtt.rto);

    if (s->ctx.env->fixed && !s->ctx.cfg->c.snack_delay)
        return 0;
    if (s->ctx.env->now - s->tx->heard_at >= window && sum->delivered > 2 * s->agreed.mss)
        window = 0;
    return SCPS_MAX(s->ctx.cfg->c.snack_delay, window);
}

/* Processes a hole that a SNACK reports, [from, to): declares its segments lost. With snack_delay,
 * or on a path that reorders, the segments may only be late, so the hole is postponed: they are
 * declared lost after the time of postponement() if they are still missing then. Returns the end of
 * that time, µs; 0: the hole was processed, or lies within one that is postponed already. */
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

/* Processes the holes that the bit vector of the peer's SNACK reports (runs of zeros); its first
 * bit stands for [at, at+size). Their segments are declared lost or, if they may only be late
 * (snack_delay, or a path that reorders), the holes are postponed: their segments are declared lost
 * when the time of postponement() has passed, unless they have arrived. Returns the time, µs, at
 * which the first such postponement is over; 0: no hole was postponed. */
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
