/* SPDX-License-Identifier: MIT */
/* SNACK: the receiver says what is missing (CCSDS 714.0-B-2 section 3.3; docs/SCPS-TP.md section
 * 2).
 *
 * Receiver. Holes lie between the left edge and the ranges held beyond it. One that was never
 * reported goes first, lowest first; when all have been, they are reported again in turn, since an
 * acknowledgement may be lost, too. That costs the sender nothing: it ignores a report younger than
 * a round trip after its last resending. RI repeats the first hole three times before it names the
 * next (RESNACK_THRESH), which at high loss leaves later holes unheard of for many round trips;
 * with one hole an option that is the wrong economy.
 *
 * A FIN tells of what is missing before it, too (docs/SCPS-TP.md section 2.3), with no data beyond
 * the hole.
 *
 * The long form, where agreed, describes all blocks from the first hole on: 0 missing, 1 here, up
 * to the last one held ("from memory, unverified" in docs/SCPS-TP.md: most significant bit first,
 * right behind Hole1).
 *
 * An acknowledgement that stands for hundreds of segments (F0, a budget) leaves nothing out: a run
 * of arrived blocks too long for the vector is told as a SACK block instead, and where a vector
 * ends among holes the next report begins with the last of them. Under a budget the second is too
 * dear: there a report skips to the next hole.
 *
 * Both 16-bit fields of the option saturate. The receiver names no hole at an offset of 65535 units
 * or more, and does not count it as reported: it is when the left edge has come closer. A hole of
 * 65535 units or more is named piece by piece, without a vector. Meanwhile SACK tells of what lies
 * beyond, and there the sender goes by RFC 6675 (ackin.c). A SNACK whose offset is 65535 is
 * ignored: it names this block or a later one.
 *
 * Under a budget a report skips no repair that has arrived below all told before, if its vector
 * reaches from there to the newest data: telling of the repair costs no report of its own.
 *
 * Without SACK nothing else tells what a resent segment has come to: there the report that answers
 * its arrival begins, where a bit vector reaches it, with the hole below it; but only below the one
 * whose turn is next, which stays so.
 *
 * Sender. A report covers whole segments: the receiver rounds outwards to its unit, so a segment
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
 * them. After FAST of them a segment's embargo doubles, unless losses are corruption. All of it
 * only as long as the peer is heard.
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
#include "core/conn.h"

#include "base/bytes.h"
#include "core/seq.h"

#define FAST  4           /* EMBARGO_FAST_RXMIT_CTR */
#define LEAST SCPS_MS(10) /* least margin of an embargo: the peer may be busy */
/* time after which a silent peer counts as sending no more reports */
#define SILENCE         (2 * LEAST)
#define SNACK_FIXED_LEN 6 /* octets of the option before its bit vector */
/* limit of the records that one report may examine, so that a hostile report costs no more */
#define WORK 8192
/* largest value of both 16-bit fields, which then mean this much or more (docs/SCPS-TP.md section
 * 2.1) */
#define FULL 65535

/* Returns the largest segment that the side which announced mss sends: the unit of both ends. */
static uint32_t unit(const struct scps_agreed *a, const struct scps_conn_config *cfg, uint16_t mss)
{
    int32_t size = mss - (cfg->snack_raw_unit ? 0 : scps_agreed_less(a));

    return (uint32_t)SCPS_MAX(size, 8);
}

/* Gets the first hole that ends beyond off; the last hole may end at a FIN. Returns false if there
 * is none. */
static bool hole_after(const struct scps_rcvbuf *in, scps_off fin_at, scps_off off,
                       struct scps_range *h)
{
    const struct scps_rangeset *ooo = in->ooo;
    uint32_t i = scps_rangeset_find(ooo, off);

    /* off has arrived, so the hole is behind this range. */
    if (i < ooo->n && scps_rangeset_at(ooo, i)->from <= off)
        i++;
    h->from = i ? scps_rangeset_at(ooo, i - 1)->to : in->next;
    h->to = i < ooo->n ? scps_rangeset_at(ooo, i)->from : fin_at;
    return h->to > SCPS_MAX(off, h->from);
}

/* Returns true if the option's 16-bit offset can express the start of h. */
static bool nameable(const struct scps_conn *c, const struct scps_range *h)
{
    return (h->from - c->rcv.in.next) / unit(&c->agreed, &c->ctx.cfg->c, c->agreed.peer_mss) < FULL;
}

/* Gets the first hole beyond off that the option can name, without its part below off. Returns
 * false if there is none. */
static bool hole_to_name(const struct scps_conn *c, scps_off off, struct scps_range *h)
{
    if (!hole_after(&c->rcv.in, c->rx->fin_at, SCPS_MAX(off, c->rcv.in.next), h))
        return false;
    h->from = SCPS_MAX(h->from, off);
    return nameable(c, h);
}

unsigned scps_snack_backlog(const struct scps_conn *c)
{
    struct scps_range h;

    return c->rx && hole_to_name(c, c->rx->snack_high, &h) ? 1 : 0;
}

bool scps_snack_out_of_reach(const struct scps_conn *c)
{
    scps_off told = SCPS_MAX(c->rx->snack_high, c->rx->sacked_to);
    struct scps_range h;

    return hole_after(&c->rcv.in, c->rx->fin_at, SCPS_MAX(told, c->rcv.in.next), &h) &&
           !nameable(c, &h);
}

/* Writes the bit vector. Returns the end of what it reports. whole: if it cannot report everything,
 * it ends before the last hole in it, so that the next report leaves out nothing between two
 * holes. */
static scps_off long_form(const struct scps_rangeset *ooo, struct scps_seg *seg, scps_off at,
                          uint32_t size, unsigned octets, bool whole)
{
    uint32_t i = scps_rangeset_find(ooo, at), bit = 0, last = 0, hole = 0;
    scps_off start = at;

    memset(seg->snack_vec, 0, sizeof seg->snack_vec);
    for (; i < ooo->n && bit < octets * 8; bit++, at += size) {
        while (i < ooo->n && scps_rangeset_at(ooo, i)->to < at + size)
            i++;
        if (i < ooo->n && scps_rangeset_at(ooo, i)->from <= at) {
            seg->snack_vec[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
            last = bit + 1;
        } else if (bit == last) {
            hole = bit;
        }
    }
    seg->snack_vec_len = (uint8_t)((last + 7) / 8);
    return start + (whole && i < ooo->n && hole ? hole : last) * size;
}

unsigned scps_snack_room(const struct scps_agreed *a)
{
    /* In a compressed header timestamps are not among the options. */
    return 40 - (a->caps & SCPS_CAP_COM ? 0 : scps_agreed_overhead(a));
}

/* Returns how far a bit vector that counts in units of `size` reaches, with so many octets for
 * options. */
static uint64_t reach(uint32_t size, unsigned room)
{
    return (uint64_t)size * 8 * SCPS_MIN(room - SNACK_FIXED_LEN, SCPS_SNACK_VEC_MAX);
}

/* Gets the hole below the data that arrived last, if a bit vector that begins there reports
 * both. */
static bool below_mended(const struct scps_conn *c, struct scps_range *h)
{
    const struct scps_rangeset *ooo = c->rcv.in.ooo;
    uint32_t i = scps_rangeset_find(ooo, c->rx->mended);

    if (!(c->agreed.caps & SCPS_CAP_SNACK2) || c->agreed.opts & SCPS_AGREED_SACK || !i ||
        i == ooo->n)
        return false;
    h->from = scps_rangeset_at(ooo, i - 1)->to;
    h->to = scps_rangeset_at(ooo, i)->from;
    return h->from < c->rx->snack_next &&
           /* A record mark or corruption option beside it may take room. */
           c->rx->mended < h->to + reach(unit(&c->agreed, &c->ctx.cfg->c, c->agreed.peer_mss),
                                         scps_snack_room(&c->agreed)) *
                                       3 / 4;
}

scps_off scps_snack_go_back(struct scps_conn *c)
{
    const struct scps_rangeset *ooo = c->rcv.in.ooo;
    scps_off told = c->rx->snack_high, from = SCPS_MAX(c->rx->mended_from, c->rcv.in.next), hole;
    uint32_t i;

    if (!(c->agreed.caps & SCPS_CAP_SNACK2) || !c->rx->mended_from || !ooo->n || from >= told)
        return 0;
    i = scps_rangeset_find(ooo, from);
    hole = i ? scps_rangeset_at(ooo, i - 1)->to : c->rcv.in.next;
    if (scps_rangeset_at(ooo, ooo->n - 1)->to >
        hole + reach(unit(&c->agreed, &c->ctx.cfg->c, c->agreed.peer_mss),
                     scps_snack_room(&c->agreed)) *
                   3 / 4)
        return 0;
    c->rx->snack_high = hole;
    return told;
}

/* Gets the hole to report next; *told: the cursor that remembers it. Returns NULL if there is
 * none. */
static scps_off *turn(struct scps_conn *c, struct scps_range *h)
{
    struct scps_rx *rx = c->rx;

    if (hole_to_name(c, rx->snack_high, h))
        return &rx->snack_high;
    if (rx->mended && below_mended(c, h) && nameable(c, h))
        return &rx->mended;
    if (hole_to_name(c, rx->snack_next, h) || hole_to_name(c, 0, h))
        return &rx->snack_next;
    return NULL;
}

bool scps_snack_long_run(struct scps_conn *c, struct scps_range *run)
{
    struct scps_range h;

    if (!turn(c, &h) || h.to == c->rx->fin_at)
        return false;
    *run = *scps_rangeset_at(c->rcv.in.ooo, scps_rangeset_find(c->rcv.in.ooo, h.to));
    return run->to - run->from >
           reach(unit(&c->agreed, &c->ctx.cfg->c, c->agreed.peer_mss), scps_snack_room(&c->agreed));
}

void scps_snack_report(struct scps_conn *c, struct scps_seg *seg, unsigned room, bool whole)
{
    uint32_t size = unit(&c->agreed, &c->ctx.cfg->c, c->agreed.peer_mss);
    uint64_t off, blocks;
    struct scps_range h;
    scps_off *told;

    if (room < SNACK_FIXED_LEN || !(told = turn(c, &h)))
        return;
    off = (h.from - c->rcv.in.next) / size;
    blocks = (h.to - (c->rcv.in.next + off * size) + size - 1) / size;
    blocks = SCPS_MIN(blocks, FULL); /* The rest of a longer hole stays due. */
    *told = SCPS_MIN(h.to, c->rcv.in.next + (off + blocks) * size);
    seg->has |= SCPS_HAS_SNACK;
    seg->snack_off = (uint16_t)off;
    seg->snack_size = (uint16_t)blocks;
    seg->snack_vec_len = 0;
    if (c->agreed.caps & SCPS_CAP_SNACK2 && room > 8 && blocks < FULL) {
        scps_off end = long_form(c->rcv.in.ooo, seg, c->rcv.in.next + (off + blocks) * size, size,
                                 SCPS_MIN(room - SNACK_FIXED_LEN, SCPS_SNACK_VEC_MAX), whole);
        *told = SCPS_MAX(*told, end);
    }
    if (!(c->agreed.opts & SCPS_AGREED_SACK))
        c->rx->mended = 0;
    c->ctx.st->snacks_out++;
    SCPS_OBSERVE_CONN(c, SNACK_OUT, h.from, SCPS_MIN(h.to, *told), seg->snack_vec_len, 0);
}

/* Returns true if the receiver's report can be about the last transmission of r. meant: a first
 * transmission needs no other evidence. */
static bool knowable(const struct scps_tx *tx, const struct scps_rtt *rtt, scps_time now,
                     const struct scps_sent_segment *r, bool meant)
{
    scps_dur ago = now - r->sent, last = SCPS_MAX(rtt->srtt, tx->rto.latest);

    if (ago < scps_rtt_min(rtt))
        return false;
    return (meant && !r->resends) || (int32_t)(tx->sb.hi_xseq - r->xseq) > 0 ||
           ago > last + last / 8;
}

/* [from, to) is missing. */
static void missing(struct scps_conn *c, scps_off from, scps_off to, struct scps_ack_result *sum)
{
    struct scps_scoreboard *sb = &c->tx->sb;
    uint32_t first, idx, work = 0;

    /* The hole reaches into its last unit; whether beyond the first segment there, SACK knows
     * better. */
    scps_off last_unit = c->agreed.opts & SCPS_AGREED_SACK
                             ? to - unit(&c->agreed, &c->ctx.cfg->c, c->agreed.adv_mss)
                             : to;

    from = SCPS_MAX(from, c->snd.una);
    to = SCPS_MIN(to, c->snd.nxt);
    if (from >= to)
        return;
    SCPS_OBSERVE_CONN(c, SNACK_IN, from, to, 0, 0);
    if (from < c->tx->named_to && c->tx->named_to < to)
        from = c->tx->named_to;
    c->tx->named_to = 0;
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
        if (r->state == SCPS_SENT_FLIGHT &&
            knowable(c->tx, &c->rtt, c->ctx.env->now, r, r->from <= last_unit))
            scps_sb_lose(sb, idx, sum);
    }
    if (work == WORK && idx != sb->tail)
        c->tx->named_to = scps_sb_at(sb, idx)->from;
}

/* The peer's reports have passed over [from, to): data that was resent there, and could have
 * arrived, seems to have arrived. */
static void pass(struct scps_conn *c, scps_off from, scps_off to)
{
    struct scps_scoreboard *sb = &c->tx->sb;
    uint32_t idx;

    if (from >= to || !scps_sb_lookup(sb, SCPS_MAX(from, c->snd.una), &idx))
        return;
    for (unsigned work = 0; idx != sb->tail && work < WORK; idx++, work++) {
        struct scps_sent_segment *r = scps_sb_at(sb, idx);
        if (r->from + r->len > to)
            break;
        if (r->state == SCPS_SENT_FLIGHT && r->resends &&
            c->ctx.env->now - r->sent >= scps_rtt_min(&c->rtt))
            scps_sb_mark(r, SCPS_SENT_PASSED, true);
    }
}

/* At the end of the data: processes a report from `at` to end. The peer reports known holes in
 * order; a hole below the last one is out of order unless it is the first, ack, with which the
 * order starts again. */
static void in_turn(struct scps_conn *c, scps_off ack, scps_off at, scps_off end)
{
    struct scps_tx *tx = c->tx;
    scps_off last = tx->turn;
    uint32_t idx;

    if (c->agreed.opts & SCPS_AGREED_SACK || !scps_send_all_sent(&c->snd))
        return;
    if (!scps_sb_lookup(&tx->sb, SCPS_MAX(at, c->snd.una), &idx) ||
        !scps_sb_at(&tx->sb, idx)->resends) {
        tx->turn = 0;
        return;
    }
    if (last && at != ack && at < last)
        return;
    if (last)
        pass(c, last, at == ack ? tx->sb.hi_arrived : at);
    tx->turn = end;
}

/* Processes a report that [from, to) is missing, now or when snack_delay has passed. */
static void named(struct scps_conn *c, scps_off from, scps_off to, struct scps_ack_result *sum)
{
    struct scps_tx *tx = c->tx;
    size_t size = SCPS_SNACK_WAITS * sizeof *tx->waits;
    struct scps_snack_wait *room = NULL;

    if (c->ctx.cfg->c.snack_delay && !tx->waits) {
        tx->waits = c->ctx.env->alloc.alloc(c->ctx.env->alloc.ctx, size);
        if (tx->waits)
            memset(tx->waits, 0, size);
    }
    for (unsigned i = 0; tx->waits && i < SCPS_SNACK_WAITS; i++) {
        struct scps_snack_wait *w = &tx->waits[i];
        if (w->due && w->from <= from && to <= w->to)
            return;
        if (!w->due)
            room = w;
    }
    if (!c->ctx.cfg->c.snack_delay || !room) {
        missing(c, from, to, sum);
        return;
    }
    *room = (struct scps_snack_wait){from, to, c->ctx.env->now + c->ctx.cfg->c.snack_delay};
    scps_timer_by(&c->ctx, &c->tx->look_timer, room->due);
}

void scps_snack_measure(struct scps_conn *c, const struct scps_ack_result *sum)
{
    struct scps_tx *tx = c->tx;

    /* Otherwise few segments are reported, and nothing can be concluded. */
    if (!scps_send_all_sent(&c->snd)) {
        if (c->ctx.env->now - tx->slow_since > 2 * c->rtt.srtt) {
            tx->slow[1] = tx->slow[0];
            tx->pause[1] = tx->pause[0];
            tx->slow[0] = tx->pause[0] = 0;
            tx->slow_since = c->ctx.env->now;
        }
        if (!tx->delivery.app_limited && c->snd.una > 1)
            tx->pause[0] = SCPS_MAX(tx->pause[0], c->ctx.env->now - c->tx->heard_at);
    }
    if (sum->oldest_sent >= 0)
        tx->slow[0] = SCPS_MAX(tx->slow[0], c->ctx.env->now - sum->oldest_sent);
}

/* Returns how late the peer reports arrivals. It is computed only where no queue can be the reason:
 * a sender that only its rate limits fills no queue. */
static scps_dur lateness(const struct scps_tx *tx, const struct scps_rtt *rtt, uint64_t cwnd)
{
    scps_dur slow = SCPS_MAX(tx->slow[0], tx->slow[1]), least = scps_rtt_min(rtt);

    return cwnd == SCPS_CWND_OPEN && slow > least ? slow - least : 0;
}

bool scps_snack_reports_late(const struct scps_conn *c)
{
    return lateness(c->tx, &c->rtt, c->ctl.cwnd) > SCPS_MAX(scps_rtt_min(&c->rtt) / 8, LEAST);
}

static scps_dur embargo(const struct scps_conn *c, const struct scps_sent_segment *r)
{
    const scps_dur measured =
        c->tx->rto.latest ? c->tx->rto.latest : c->ctx.cfg->c.expected_rtt; /* of data */
    scps_dur rtt = SCPS_MAX(c->rtt.srtt, measured), margin, wait,
             late = lateness(c->tx, &c->rtt, c->ctl.cwnd), least = scps_rtt_min(&c->rtt),
             pause = SCPS_MAX(c->tx->pause[0], c->tx->pause[1]);
    unsigned more = r->resends > FAST && scps_conn_loss_cause(c) != SCPS_LOSS_CORRUPTION
                        ? (unsigned)SCPS_MIN(r->resends - FAST, 16)
                        : 0;

    /* If no congestion window limits the sender, all data up to the FIN has been sent and the hole
     * has been resent before, then no new data competes for the sending rate.  Round-trip samples
     * taken while holes are filled one by one are poor, so the wait is computed from the least
     * round trip and from the known delay of the peer's reports. */
    if (c->ctl.cwnd == SCPS_CWND_OPEN && c->snd.nxt >= scps_send_fin_end(&c->snd) && r->resends &&
        least)
        return least + (r->resends > FAST ? 0 : SCPS_MAX(2 * late, pause)) + LEAST;
    if (late) /* The peer may have reported others first: allow three times that. */
        rtt = SCPS_MAX(rtt, least + 3 * late);
    margin = SCPS_MAX(4 * c->rtt.rttvar, LEAST);
    /* A window-based sender can fill a queue and lengthen the RTT. */
    if (c->ctl.cwnd != SCPS_CWND_OPEN)
        margin = SCPS_MAX(margin, rtt / 8);
    wait = rtt + margin;
    return SCPS_MAX(wait, SCPS_MIN(wait << more, c->ctx.cfg->c.rto_max));
}

static scps_time sooner(scps_time a, scps_time b)
{
    return a && b ? SCPS_MIN(a, b) : a + b;
}

/* The end of the data, see above: declares segments lost that no report can name. Returns when to
 * look again; 0: never. */
static scps_time unreported(struct scps_conn *c, struct scps_ack_result *sum)
{
    struct scps_tx *tx = c->tx;
    struct scps_scoreboard *sb = &tx->sb;
    const struct scps_sent_segment *last = scps_sb_at(sb, sb->tail - 1);
    scps_time again = 0, due;
    uint32_t idx;

    /* More data may follow and be reported; or RACK decides. */
    if (!(last->flags & SCPS_SENT_FIN) || scps_agreed_rack(&c->agreed, &c->ctx.cfg->c))
        return 0;
    if (last->state == SCPS_SENT_FLIGHT && !last->resends) {
        again = last->sent + embargo(c, last);
        if (again <= c->ctx.env->now) {
            again = 0;
            scps_sb_lose(sb, sb->tail - 1, sum);
        }
    }
    if (!(c->agreed.opts & SCPS_AGREED_SACK) || !scps_sb_lookup(sb, sb->hi_arrived, &idx))
        return again;
    if (sb->hi_arrived != tx->highest) {
        tx->highest = sb->hi_arrived;
        tx->highest_at = c->ctx.env->now;
    }
    for (; idx != sb->tail; idx++) {
        const struct scps_sent_segment *r = scps_sb_at(sb, idx);
        if (r->state != SCPS_SENT_FLIGHT || r->resends)
            continue;
        if ((int32_t)(sb->hi_xseq - r->xseq) <= 0)
            break;
        due = SCPS_MAX(r->sent, tx->highest_at) + embargo(c, r);
        if (due > c->ctx.env->now)
            return sooner(again, due);
        scps_sb_lose(sb, idx, sum);
    }
    return again;
}

/* Declares resent segments lost again that have not been reported for their embargo. Returns when
 * to look again; 0: no need. */
static scps_time silent(struct scps_conn *c, struct scps_ack_result *sum)
{
    struct scps_scoreboard *sb = &c->tx->sb;
    bool sack = c->agreed.opts & SCPS_AGREED_SACK;
    struct scps_resent e;

    if (!sack && !scps_send_all_sent(&c->snd)) {
        const struct scps_sent_segment *r = scps_sb_at(sb, sb->head);
        scps_time due = r->sent + embargo(c, r);
        if (r->state != SCPS_SENT_FLIGHT || !r->resends)
            return 0;
        if (due > c->ctx.env->now)
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
        if (c->tx->rec.episode == SCPS_EPISODE_RTO && r->from >= sb->hi_arrived &&
            !scps_send_fin_sent(&c->snd))
            return 0;
        scps_time due = r->sent + embargo(c, r);
        if (!sack && !first)
            due = SCPS_MAX(due, c->tx->heard_at + SILENCE);
        /* Segments sent together reach the end of their embargo together, in the same order:
         * behind the others the oldest would find a short queue full each time. So the others
         * wait for it. */
        if (head->state == SCPS_SENT_FLIGHT && head->resends &&
            head->sent + embargo(c, head) - due <= c->rtt.srtt / 4)
            due = SCPS_MAX(due, head->sent + embargo(c, head));
        if (due > c->ctx.env->now)
            return due;
        scps_sb_lose(sb, e.idx, sum);
    }
    return 0;
}

static void look(struct scps_conn *c, struct scps_ack_result *sum)
{
    scps_dur patience =
        scps_conn_loss_cause(c) == SCPS_LOSS_CORRUPTION || c->ctl.cwnd == SCPS_CWND_OPEN ? 6 : 2;
    scps_time due;

    for (unsigned i = 0; c->tx->waits && i < SCPS_SNACK_WAITS; i++) {
        struct scps_snack_wait *w = &c->tx->waits[i];
        if (!w->due)
            continue;
        if (w->due > c->ctx.env->now) {
            scps_timer_by(&c->ctx, &c->tx->look_timer, w->due);
            continue;
        }
        w->due = 0;
        missing(c, w->from, w->to, sum);
    }
    /* A peer that sends nothing at all is left to the retransmission timer, which counts and gives
     * up. */
    if (!c->rtt.srtt || c->ctx.env->now - c->tx->heard_at > patience * c->rtt.rto)
        return;
    due = sooner(silent(c, sum), unreported(c, sum));
    if (due)
        scps_timer_by(&c->ctx, &c->tx->look_timer, due);
}

void scps_snack_timer(struct scps_conn *c)
{
    struct scps_ack_result sum = {.oldest_sent = -1};

    if (c->snd.una == c->snd.nxt || c->todo.bits & SCPS_TODO_PERSIST)
        return;
    look(c, &sum);
    if (!sum.lost)
        return;
    SCPS_OBSERVE_CONN(c, LOST, sum.lost_from, sum.lost, scps_conn_loss_cause(c), SCPS_BY_RESEND);
    scps_recovery_lost(c, sum.lost, 0, SCPS_BY_RESEND);
    /* The segment at SND.UNA was reported as arrived and is not acknowledged: the report was
     * false, or is no longer true. Only the retransmission timer repairs that (RFC 2018 section
     * 8), and it must not begin anew whenever another segment goes again. */
    if (scps_sb_at(&c->tx->sb, c->tx->sb.head)->state != SCPS_SENT_ARRIVED)
        scps_snd_arm_rtx(c);
    scps_conn_wake(c);
}

static bool set(const struct scps_seg *seg, unsigned bit)
{
    return seg->snack_vec[bit / 8] & 0x80 >> bit % 8;
}

/* Processes the bit vector, whose first bit stands for [at, at+size): what it reports as arrived;
 * or what it reports as missing. Returns the end of what it covers. */
static scps_off vector(struct scps_conn *c, const struct scps_seg *seg, scps_off at, uint32_t size,
                       bool arrived, struct scps_ack_result *sum)
{
    unsigned last = 8u * seg->snack_vec_len, bit = 0, run, told = 0;

    for (; bit < last; bit = run) {
        bool here = set(seg, bit);
        scps_off from = at + (scps_off)bit * size, to;
        for (run = bit; run < last && set(seg, run) == here;)
            run++;
        to = at + (scps_off)run * size;
        if (!here && run == last) /* Nothing above has arrived, so the zeros report nothing. */
            break;
        told = run;
        if (here && arrived)
            scps_sb_arrived(&c->tx->sb, c->ctx.env->now, from, SCPS_MIN(to, c->snd.nxt),
                            scps_rtt_min(&c->rtt), sum);
        else if (!here && !arrived)
            named(c, from, to, sum);
    }
    return at + (scps_off)told * size;
}

scps_off scps_snack_reach(const struct scps_conn *c)
{
    return c->snd.una + (scps_off)FULL * unit(&c->agreed, &c->ctx.cfg->c, c->agreed.adv_mss);
}

void scps_snack_take(struct scps_conn *c, const struct scps_seg *seg, scps_off ack,
                     struct scps_ack_result *sum)
{
    uint32_t size = unit(&c->agreed, &c->ctx.cfg->c, c->agreed.adv_mss);
    scps_off at = ack + (scps_off)seg->snack_off * size,
             end = at + (scps_off)seg->snack_size * size, told = end;
    /* With a size field of 65535 the start of the vector is unknown. */
    bool has_vector = c->agreed.caps & SCPS_CAP_SNACK2 && seg->snack_size < FULL;

    if (!seg->snack_size || seg->snack_off == FULL)
        return;
    c->ctx.st->snacks_in++;
    /* Process arrivals first: among them may be a segment sent later than one that is missing. */
    if (has_vector)
        told = vector(c, seg, end, size, true, sum);
    named(c, at, end, sum);
    if (has_vector)
        vector(c, seg, end, size, false, sum);
    in_turn(c, ack, at, told);
}
