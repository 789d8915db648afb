/* SPDX-License-Identifier: MIT */
/* SNACK, the sender: what it makes of the holes that the receiver names (CCSDS 714.0-B-2 section
 * 3.3; docs/SCPS-TP.md section 2).
 *
 * A report covers whole segments: the receiver rounds outwards to its unit, so a segment
 * that sticks out of the range is not meant unless it is the only one touched. Of small segments
 * several lie in the last unit: where SACK is in force those that left after all it has told of are
 * not meant. Segments sent less than a round trip ago are left alone: the report cannot know. A
 * resent segment that is named again may still be on its way, in a queue that has grown: it is lost
 * again when something sent after it has arrived, or an eighth more than the latest round trip has
 * passed (RFC 8985 section 6.2 has the same two witnesses).
 *
 * Embargo (docs/SCPS-TP.md section 2.4). A hole is resent once a round trip. When four times its
 * spread more has passed without news of a resent segment, and, where a window fills a queue, at
 * least an eighth, it is resent without a new SNACK: that is how a lost retransmission with nothing
 * behind it is repaired before the timer. With SACK all that were resent are looked at. Without it
 * few are known to have arrived: while there is more to send only the one at the left edge is. At
 * the end of the data all are, but those which a report has passed over: holes are told in turn,
 * ascending (docs/SCPS-TP.md section 2.3), so where two reports follow each other there is none
 * between them. That is believed, not known: such a segment is not resent unasked before it is the
 * one at the left edge, and others only when the peer has fallen silent, and so tells no more of
 * them. After FAST of them a segment's embargo doubles; where losses are corruption after DAMAGED
 * of them, up to a second, and from then on it holds for what is named, too. All of it only as long
 * as the peer is heard.
 *
 * A peer that keeps its news to itself for a while is waited for: what it takes longer to tell of
 * first sendings than the least round trip is measured, and the embargo is longer by some turns of
 * that; nor is a resent segment lost because later ones have been told of. So are its pauses.
 *
 * A sender that only its rate limits has nothing to lose at the end of its data: there the embargo
 * is the least round trip and what the peer takes to tell, whatever the samples say that are taken
 * while the last holes fill; and the least round trip alone for what has been lost more than FAST
 * times, where a needless copy is the lesser evil.
 *
 * The end of the data. Nothing comes behind the last segments, so no report names them. When all
 * has been sent, the one with the FIN is lost after its embargo: it is answered at once, and so
 * tells of the others. With SACK those above all that has arrived are lost, too, when something
 * sent after them is here and nothing higher has been heard of for an embargo: a peer that says
 * little may not have come to them before.
 *
 * snack_delay puts a report off, so that what is only late can arrive; a report that lies within
 * one put off already is the same hole.
 */
#include "core/snacktx.h"

#include "base/bytes.h"
#include "core/tx.h"

#define FAST    4           /* EMBARGO_FAST_RXMIT_CTR */
#define DAMAGED 64          /* resends in a row that damage, or a queue, may explain */
#define MIN_RTO SCPS_SEC(1) /* RFC 6298 section 2.4 */
#define LEAST   SCPS_MS(10) /* least margin of an embargo: the peer may be busy */
#define SILENCE (2 * LEAST) /* time after which a silent peer counts as sending no more reports */
#define WORK    8192        /* most records that one report may examine */
#define FULL    SCPS_SNACK_FULL

static uint32_t unit(struct scps_sender *s)
{
    return scps_agreed_unit(&s->agreed, s->ctx.cfg->c.snack_raw_unit, s->agreed.adv_mss);
}

/* The peer's reports have passed over [from, to): data that was resent there, and could have
 * arrived, seems to have arrived. */
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

/* At the end of the data: processes a report from `at` to end. The peer reports known holes in
 * order; a hole below the last one is out of order unless it is the first, ack, with which the
 * order starts again. */
static void in_turn(struct scps_sender *s, scps_off ack, scps_off at, scps_off end)
{
    struct scps_tx *tx = s->tx;
    scps_off last = tx->snack.turn;
    uint32_t idx;

    if (s->agreed.opts & SCPS_AGREED_SACK || !scps_send_all_sent(&s->snd))
        return;
    if (!scps_sb_lookup(&tx->sb, SCPS_MAX(at, s->snd.una), &idx) ||
        !scps_sb_at(&tx->sb, idx)->resends) {
        tx->snack.turn = 0;
        return;
    }
    if (last && at != ack && at < last)
        return;
    if (last)
        pass(s, last, at == ack ? tx->sb.hi_arrived : at);
    tx->snack.turn = end;
}

void scps_snacktx_measure(struct scps_sender *s, const struct scps_ack_result *sum)
{
    struct scps_snacktx *own = &s->tx->snack;
    const scps_time now = s->ctx.env->now;

    /* Otherwise few segments are reported, and nothing can be concluded. */
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

/* Returns how late the peer reports arrivals. It is computed only where no queue can be the reason:
 * a sender that only its rate limits fills no queue. */
static scps_dur lateness(struct scps_sender *s)
{
    const struct scps_snacktx *own = &s->tx->snack;
    scps_dur slow = SCPS_MAX(own->slow[0], own->slow[1]), least = scps_rtt_min(&s->rtt);

    return s->ctl.cwnd == SCPS_CWND_OPEN && slow > least ? slow - least : 0;
}

bool scps_snacktx_reports_late(struct scps_sender *s)
{
    return lateness(s) > SCPS_MAX(scps_rtt_min(&s->rtt) / 8, LEAST);
}

static scps_dur embargo(struct scps_sender *s, const struct scps_sent_segment *r)
{
    const scps_dur measured =
        s->tx->rto.latest ? s->tx->rto.latest : s->ctx.cfg->c.expected_rtt; /* of data */
    scps_dur rtt = SCPS_MAX(s->rtt.srtt, measured), margin, wait, late = lateness(s),
             least = scps_rtt_min(&s->rtt),
             pause = SCPS_MAX(s->tx->snack.pause[0], s->tx->snack.pause[1]);
    bool damaged = scps_cause_now(&s->tx->cause, &s->ctx) == SCPS_LOSS_CORRUPTION;
    unsigned most = FAST;
    scps_dur max = s->ctx.cfg->c.rto_max;

    margin = SCPS_MAX(4 * s->rtt.rttvar, LEAST);
    /* If no congestion window limits the sender, all data up to the FIN has been sent and the hole
     * has been resent before, then no new data competes for the sending rate.  Round-trip samples
     * taken while holes are filled one by one are poor, so the wait is computed from the least
     * round trip and from the known delay of the peer's reports. */
    if (s->ctl.cwnd == SCPS_CWND_OPEN && s->snd.nxt >= scps_send_fin_end(&s->snd) && r->resends &&
        least) {
        rtt = least + (r->resends > FAST ? 0 : SCPS_MAX(2 * late, pause));
        margin = LEAST;
        damaged = true;
    } else {
        if (late) /* The peer may have reported others first: allow three times that. */
            rtt = SCPS_MAX(rtt, least + 3 * late);
        /* A window-based sender can fill a queue and lengthen the RTT. */
        if (s->ctl.cwnd != SCPS_CWND_OPEN)
            margin = SCPS_MAX(margin, rtt / 8);
    }
    if (damaged) {
        most = DAMAGED;
        max = SCPS_MIN(max, MIN_RTO);
    }
    for (wait = rtt + margin; most < r->resends && wait < max; most++)
        wait = SCPS_MIN(2 * wait, max);
    return wait;
}

/* Returns true if the receiver's report can be about the last transmission of r. meant: a first
 * transmission needs no other evidence. */
static bool knowable(struct scps_sender *s, const struct scps_sent_segment *r, bool meant)
{
    scps_dur ago = s->ctx.env->now - r->sent, last = SCPS_MAX(s->rtt.srtt, s->tx->rto.latest);

    /* No round trip was measured yet: the initial timeout stands for it (RFC 6298 section 2.1). */
    if (!last)
        last = s->ctx.cfg->c.expected_rtt ? s->ctx.cfg->c.expected_rtt : s->rtt.rto;
    if (ago < (r->resends > DAMAGED ? embargo(s, r) : scps_rtt_min(&s->rtt)))
        return false;
    return (meant && !r->resends) || (int32_t)(s->tx->sb.hi_xseq - r->xseq) > 0 ||
           ago > last + last / 8;
}

/* [from, to) is missing. */
static void missing(struct scps_sender *s, scps_off from, scps_off to, struct scps_ack_result *sum)
{
    struct scps_scoreboard *sb = &s->tx->sb;
    uint32_t first, idx, work = 0;

    /* The hole reaches into its last unit; whether beyond the first segment there, SACK knows
     * better. */
    scps_off last_unit = s->agreed.opts & SCPS_AGREED_SACK ? to - unit(s) : to;

    from = SCPS_MAX(from, s->snd.una);
    to = SCPS_MIN(to, s->snd.nxt);
    if (from >= to)
        return;
    SCPS_OBSERVE(&s->ctx, SNACK_IN, from, to, 0, 0);
    if (from < s->tx->snack.named_to && s->tx->snack.named_to < to)
        from = s->tx->snack.named_to;
    s->tx->snack.named_to = 0;
    if (!scps_sb_lookup(sb, from, &first))
        return;
    idx = first;
    if (scps_sb_at(sb, first)->from < from && first + 1 != sb->tail &&
        scps_sb_at(sb, first + 1)->from < to)
        idx = first + 1; /* The first segment sticks out of the range, and others lie within it. */
    for (; idx != sb->tail && work < WORK; idx++, work++) {
        const struct scps_sent_segment *r = scps_sb_at(sb, idx);
        if (r->from >= to || (r->from + r->len > to && idx != first && work))
            break;
        if (r->state == SCPS_SENT_FLIGHT && knowable(s, r, r->from <= last_unit))
            scps_sb_lose(sb, idx, sum);
    }
    if (work == WORK && idx != sb->tail)
        s->tx->snack.named_to = scps_sb_at(sb, idx)->from;
}

static scps_time sooner(scps_time a, scps_time b)
{
    return a && b ? SCPS_MIN(a, b) : a + b;
}

/* The end of the data, see above: declares segments lost that no report can name. Returns when to
 * look again; 0: never. */
static scps_time unreported(struct scps_sender *s, struct scps_ack_result *sum)
{
    struct scps_tx *tx = s->tx;
    struct scps_scoreboard *sb = &tx->sb;
    const struct scps_sent_segment *last = scps_sb_at(sb, sb->tail - 1);
    scps_time again = 0, due;
    uint32_t idx;

    if (!(last->flags & SCPS_SENT_FIN) ||
        /* More data may follow and be reported; or RACK decides. */
        scps_agreed_rack(&s->agreed, &s->ctx.cfg->c))
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

/* Declares resent segments lost again that have not been reported for their embargo. Returns when
 * to look again; 0: no need. */
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
        /* After a timeout nothing above r may have arrived: then the peer's delayed-ACK timer may
         * hold the acknowledgement of r, and the retransmission timer, which has backed off (RFC
         * 6298 (5.5)), decides. */
        if (s->tx->rec.episode == SCPS_EPISODE_RTO && r->from >= sb->hi_arrived &&
            !scps_send_fin_sent(&s->snd))
            return 0;
        scps_time due = r->sent + embargo(s, r);
        if (!sack && !first)
            due = SCPS_MAX(due, s->tx->heard_at + SILENCE);
        /* Segments sent together reach the end of their embargo together, in the same order:
         * behind the others the oldest would find a short queue full each time. So the others
         * wait for it. */
        if (head->state == SCPS_SENT_FLIGHT && head->resends &&
            head->sent + embargo(s, head) - due <= s->rtt.srtt / 4)
            due = SCPS_MAX(due, head->sent + embargo(s, head));
        if (due > s->ctx.env->now)
            return due;
        scps_sb_lose(sb, e.idx, sum);
    }
    return 0;
}

scps_time scps_snacktx_look(struct scps_sender *s, struct scps_ack_result *sum)
{
    const scps_time now = s->ctx.env->now;
    scps_dur patience = scps_cause_now(&s->tx->cause, &s->ctx) == SCPS_LOSS_CORRUPTION ||
                                s->ctl.cwnd == SCPS_CWND_OPEN
                            ? 6
                            : 2;
    scps_time due = 0;

    for (unsigned i = 0; s->tx->snack.waits && i < SCPS_SNACK_WAITS; i++) {
        struct scps_snack_wait *w = &s->tx->snack.waits[i];
        if (!w->due)
            continue;
        if (w->due > now) {
            due = sooner(due, w->due);
            continue;
        }
        w->due = 0;
        missing(s, w->from, w->to, sum);
    }
    /* A peer that sends nothing at all is left to the retransmission timer, which counts and gives
     * up. */
    if (!s->rtt.srtt || now - s->tx->heard_at > patience * s->rtt.rto)
        return due;
    due = sooner(due, silent(s, sum));
    return sooner(due, unreported(s, sum));
}

/* [from, to) is missing; or will be, if it still is when the delay has passed: a time to look. */
static scps_time named(struct scps_sender *s, scps_off from, scps_off to,
                       struct scps_ack_result *sum)
{
    struct scps_snacktx *own = &s->tx->snack;
    const struct scps_alloc *a = &s->ctx.env->alloc;
    size_t size = SCPS_SNACK_WAITS * sizeof *own->waits;
    struct scps_snack_wait *room = NULL;

    if (s->ctx.cfg->c.snack_delay && !own->waits) {
        own->waits = a->alloc(a->ctx, size);
        if (own->waits)
            memset(own->waits, 0, size);
    }
    for (unsigned i = 0; own->waits && i < SCPS_SNACK_WAITS; i++) {
        struct scps_snack_wait *w = &own->waits[i];
        if (w->due && w->from <= from && to <= w->to)
            return 0;
        if (!w->due)
            room = w;
    }
    if (!s->ctx.cfg->c.snack_delay || !room) {
        missing(s, from, to, sum);
        return 0;
    }
    *room = (struct scps_snack_wait){from, to, s->ctx.env->now + s->ctx.cfg->c.snack_delay};
    return room->due;
}

static bool set(const struct scps_seg *seg, unsigned bit)
{
    return seg->snack_vec[bit / 8] & 0x80 >> bit % 8;
}

/* A walk along the runs of equal bits in a vector. */
struct scps_bits {
    unsigned from, to; /* the run: [from, to) */
    unsigned told;     /* the vector tells of what lies below */
    bool here;         /* these octets have arrived */
};

/* The next run. False: there is none; nothing above has arrived, so the rest says nothing. */
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
    b->told = b->to;
    return true;
}

/* What the bit vector, whose first bit stands for [at, at+size), says has arrived. Returns the end
 * of what it tells of. */
static scps_off arrived(struct scps_sender *s, const struct scps_seg *seg, scps_off at,
                        uint32_t size, struct scps_ack_result *sum)
{
    struct scps_bits b = {0};

    while (next_run(seg, &b))
        if (b.here)
            scps_sb_arrived(&s->tx->sb, s->ctx.env->now, at + (scps_off)b.from * size,
                            SCPS_MIN(at + (scps_off)b.to * size, s->snd.nxt), scps_rtt_min(&s->rtt),
                            sum);
    return at + (scps_off)b.told * size;
}

/* The same of what it says is missing. Returns when to look again; 0: no need. */
static scps_time holes(struct scps_sender *s, const struct scps_seg *seg, scps_off at,
                       uint32_t size, struct scps_ack_result *sum)
{
    struct scps_bits b = {0};
    scps_time due = 0;

    while (next_run(seg, &b))
        if (!b.here)
            due = sooner(due,
                         named(s, at + (scps_off)b.from * size, at + (scps_off)b.to * size, sum));
    return due;
}

scps_off scps_snacktx_reach(struct scps_sender *s)
{
    return s->snd.una + (scps_off)FULL * unit(s);
}

scps_time scps_snacktx_take(struct scps_sender *s, const struct scps_seg *seg, scps_off ack,
                            struct scps_ack_result *sum)
{
    uint32_t size = unit(s);
    scps_off at = ack + (scps_off)seg->snack_off * size,
             end = at + (scps_off)seg->snack_size * size, told = end;
    /* With a size field of 65535 the start of the vector is unknown. */
    bool has_vector = s->agreed.caps & SCPS_CAP_SNACK2 && seg->snack_size < FULL;
    scps_time due;

    if (!seg->snack_size || seg->snack_off == FULL)
        return 0;
    s->ctx.st->snacks_in++;
    /* Process arrivals first: among them may be a segment sent later than one that is missing. */
    if (has_vector)
        told = arrived(s, seg, end, size, sum);
    due = named(s, at, end, sum);
    if (has_vector)
        due = sooner(due, holes(s, seg, end, size, sum));
    in_turn(s, ack, at, told);
    return due;
}

void scps_snacktx_forget(struct scps_snacktx *s, const struct scps_alloc *a)
{
    if (s->waits)
        a->free(a->ctx, s->waits, SCPS_SNACK_WAITS * sizeof *s->waits);
}
