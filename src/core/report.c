/* SPDX-License-Identifier: MIT */
/* Writes into an acknowledgement what this end has received beyond a hole (octets that are missing
 * below others that have arrived): SACK blocks (RFC 2018), a duplicate (RFC 2883), and a SNACK
 * (snackrx.c).
 *
 * One acknowledgement has to report for many segments in strictly delayed mode (F0: the delayed-ACK
 * timer alone causes acknowledgements), and under an ACK budget (a limit on the rate of
 * acknowledgements without data: the settings ack_budget, bytes/s, and ack_budget_pps, packets/s,
 * or the rate of their route). Then holes are reported in ascending order, each once before any is
 * repeated (one such run is a pass): by the bit vector of a SNACK where the long form was
 * negotiated, by SACK blocks otherwise. Under a budget, with SACK and the short form of SNACK
 * alone, only SACK blocks report them. Under a budget, every SNACK_RESTART_EVERY-th
 * acknowledgement with a SNACK begins with the first hole, because the repair of that hole lets the
 * peer's window advance, and duplicates are not reported while there are holes.
 */
#include "core/report.h"

#include "base/bytes.h"
#include "base/fastpath.h"
#include "core/seq.h"

/* Under an ACK budget (a limit on the rate of acknowledgements without data) every 16th
 * acknowledgement with a SNACK reports from the first hole on again: the octets missing at
 * RCV.NXT. */
#define SNACK_RESTART_EVERY 16

static void add_block(const struct scps_report_view *v, struct scps_seg *seg, scps_off from,
                      scps_off to)
{
    /* A FIN after the data takes a sequence number, too; without it the peer would consider the
     * segment with the FIN missing. */
    if (v->fin_at && to == v->fin_at)
        to++;
    seg->sack[seg->nsack++] =
        (struct scps_sack){scps_seq_wrap(v->rcv->irs, from), scps_seq_wrap(v->rcv->irs, to)};
}

/* Returns true if seg has a SACK block that begins at `from`. dsack: the first block is a DSACK and
 * does not count. */
static bool has_block(uint32_t irs, bool dsack, const struct scps_seg *seg, scps_off from)
{
    for (unsigned i = dsack ? 1 : 0; i < seg->nsack; i++)
        if (seg->sack[i].left == scps_seq_wrap(irs, from))
            return true;
    return false;
}

/* Adds SACK blocks, at most max in all: the range that grew last first, then those reported before
 * (RFC 2018 section 4). once: seg may have some of these blocks already, and they are not added
 * again. */
static void latest_blocks(const struct scps_report *rep, const struct scps_report_view *v,
                          struct scps_seg *seg, unsigned max, bool once)
{
    for (unsigned i = 0; i < SCPS_SACK_MAX && seg->nsack < max; i++) {
        const struct scps_range *r = &rep->recent[i];
        /* A range that ends at or below RCV.NXT needs no SACK block any more: the octets that were
         * missing below it have arrived, and SEG.ACK covers it. */
        if (r->to > v->rcv->in.next &&
            !(once && has_block(v->rcv->irs, rep->dsack_to != 0, seg, r->from)))
            add_block(v, seg, r->from, r->to);
    }
}

/* Used when one acknowledgement stands for hundreds of segments: in strictly delayed mode (F0: this
 * end acknowledges only when its delayed-ACK timer expires) and under an ACK budget (a limit on the
 * rate of this end's acknowledgements without data). Adds SACK blocks in ascending order of offset,
 * from rep->sacked_to on, until seg has max. Each received range is reported once, in as many
 * acknowledgements as that takes (a pass). Returns true if some ranges are not reported yet in this
 * pass. */
static SCPS_NOINLINE bool next_blocks(struct scps_report *rep, const struct scps_report_view *v,
                                      struct scps_seg *seg, unsigned max)
{
    uint32_t i = scps_rangeset_find(v->rcv->in.ooo, rep->sacked_to);

    /* Under an ACK budget (a limit on the rate of acknowledgements without data): a retransmission
     * has arrived below rep->sacked_to, the offset up to which all ranges have been reported. As
     * acknowledgements are rare, the range that contains the retransmission is reported now, too;
     * otherwise the sender would consider the retransmission lost. */
    if (rep->snack.filled && v->budgeted) {
        uint32_t at = scps_rangeset_find(v->rcv->in.ooo, rep->snack.filled);
        const struct scps_range *r = at < i ? scps_rangeset_at(v->rcv->in.ooo, at) : NULL;
        if (r && r->from <= rep->snack.filled)
            add_block(v, seg, r->from, r->to);
        scps_snackrx_filled_reported(&rep->snack);
    }
    for (; i < v->rcv->in.ooo->n; i++) {
        const struct scps_range *r = scps_rangeset_at(v->rcv->in.ooo, i);
        if (!has_block(v->rcv->irs, rep->dsack_to != 0, seg, r->from)) {
            if (seg->nsack >= max)
                return true;
            add_block(v, seg, r->from, r->to);
        }
        rep->sacked_to = r->to;
    }
    return false;
}

/* Writes SACK blocks, at most max, to block[] for a segment that has none yet: the range that grew
 * last first (RFC 2018 section 4). Returns their number. */
static inline uint8_t latest(const struct scps_report *rep, const struct scps_report_view *v,
                             unsigned max, struct scps_sack block[])
{
    const scps_off next = v->rcv->in.next, fin_at = v->fin_at;
    const uint32_t irs = v->rcv->irs;
    unsigned n = 0;

    for (unsigned i = 0; i < SCPS_SACK_MAX && n < max; i++) {
        const struct scps_range *r = &rep->recent[i];
        if (r->to > next)
            block[n++] = (struct scps_sack){scps_seq_wrap(irs, r->from),
                                            scps_seq_wrap(irs, r->to) + (r->to == fin_at)};
    }
    return (uint8_t)n;
}

/* Fast path: adds the latest SACK blocks to an acknowledgement without data that needs no other
 * report. Returns false, with nothing done, in all other cases. */
static inline bool sack_only_report(const struct scps_report *rep, const struct scps_report_view *v,
                                    struct scps_seg *seg)
{
    const unsigned room =
        scps_agreed_opt_room(v->agreed) - (v->agreed->opts & SCPS_AGREED_TS ? 12u : 0) -
        (seg->has & (SCPS_HAS_RECORD | SCPS_HAS_CORRUPTION) ? SCPS_RECORD_ROOM : 0);

    if (seg->len || !(v->agreed->opts & SCPS_AGREED_SACK) || v->agreed->caps & SCPS_CAP_SNACK1 ||
        rep->dsack_to || rep->anew || scps_report_strict(&v->x->cfg->c) || v->budgeted ||
        !SCPS_FAST_PATH(SCPS_FAST_ACK_SACK))
        return false;
    seg->nsack = latest(rep, v, (room - 4) / 8, seg->sack);
    if (seg->nsack) {
        seg->has |= SCPS_HAS_SACK;
        v->x->st->sacks_out++;
    }
    return true;
}

/* What the acknowledgement being built will report about data beyond a hole. */
struct plan {
    struct scps_holes holes;
    /* sack: the acknowledgement will have SACK blocks; snack: it will have a SNACK */
    bool sack, snack;
    /* true: the acknowledgement stands for many segments (strictly delayed mode F0, or an ACK
     * budget), so successive acknowledgements report each received range once before any range is
     * repeated */
    bool sparse;
    unsigned room; /* octets of TCP option space that SACK blocks and the SNACK may take */
    /* Under an ACK budget (a limit on the rate of acknowledgements without data): if the SNACK of
     * this acknowledgement goes back to a hole that was reported before, the offset up to which all
     * holes had been reported, and where the next SNACK continues; 0: it does not go back. */
    scps_off high;
};

/* Plans what seg will report: which of SACK and SNACK it has, and the room for them. Returns false
 * if there is no room. */
static bool plan_of(const struct scps_report_view *v, const struct scps_seg *seg, struct plan *p)
{
    const struct scps_agreed *a = v->agreed;
    unsigned taken = seg->has & (SCPS_HAS_RECORD | SCPS_HAS_CORRUPTION) ? SCPS_RECORD_ROOM : 0;

    *p = (struct plan){
        .holes = {&v->rcv->in, v->fin_at, a,
                  scps_agreed_unit(a, v->x->cfg->c.snack_raw_unit, a->peer_mss)},
        .sack = a->opts & SCPS_AGREED_SACK,
        .snack = a->caps & SCPS_CAP_SNACK1 && (v->rcv->in.ooo->n || v->fin_at),
        .sparse = v->budgeted || scps_report_strict(&v->x->cfg->c),
        .room =
            v->budgeted ? scps_snackrx_room(a) : scps_agreed_opt_room(a) - scps_agreed_overhead(a),
    };
    /* A segment with data gets SACK blocks if they fit into the packet, and no SNACK. */
    if (seg->len) {
        uint32_t most = scps_agreed_any_mss(a);
        p->room = SCPS_MIN(40 - scps_agreed_overhead(a), most > seg->len ? most - seg->len : 0u);
        p->snack = false;
        if (p->room < 12 + taken)
            return false;
    }
    /* The short form of SNACK reports one hole, so under an ACK budget SACK blocks take its room:
     * one more block reports one more range of arrived data and the hole below it. A hole that ends
     * at the peer's FIN, with no range above it, is still reported by SNACK. */
    if (v->budgeted && p->sack && !(a->caps & SCPS_CAP_SNACK2) && v->rcv->in.ooo->n)
        p->snack = false;
    p->room -= taken;
    return true;
}

/* Under an ACK budget (a limit on the rate of acknowledgements without data): returns the offset up
 * to which SACK blocks or SNACKs have reported all received data in the present pass (one run
 * through all holes, in ascending order); the next acknowledgement continues there. */
static scps_off cursor(const struct scps_report *rep)
{
    return SCPS_MAX(rep->sacked_to, rep->snack.high);
}

/* Under an ACK budget (a limit on the rate of acknowledgements without data): returns true if the
 * acknowledgements have reported every range beyond a hole, in ascending order, and no SNACK still
 * has to report the hole between the last range and a FIN. Then this pass is over, and the next
 * acknowledgement begins with the first hole again. */
static bool pass_is_over(const struct scps_report *rep, const struct scps_rangeset *ooo,
                         const struct plan *p)
{
    scps_off to = cursor(rep);
    uint32_t i = scps_rangeset_find(ooo, to);

    return (i == ooo->n || (i == ooo->n - 1 && scps_rangeset_at(ooo, i)->from <= to)) &&
           !(p->snack && scps_snackrx_backlog(&rep->snack, &p->holes));
}

/* Under an ACK budget (a limit on the rate of acknowledgements without data): makes the SACK blocks
 * and the SNACK of the acknowledgement being built begin at the same offset, that up to which
 * earlier acknowledgements have reported the received ranges and the holes. If all of them have
 * been reported (pass_is_over), both begin at the lowest range again. */
static void merge_cursors(struct scps_report *rep, const struct scps_rangeset *ooo,
                          const struct plan *p)
{
    scps_off to = cursor(rep);

    scps_snackrx_reported(&rep->snack, to);
    if (pass_is_over(rep, ooo, p)) {
        to = 0;
        scps_snackrx_reported(&rep->snack, 0);
    }
    rep->sacked_to = to;
}

/* Under an ACK budget (a limit on the rate of acknowledgements without data): sets the stream
 * offset at which the SACK blocks and the SNACK of the acknowledgement being built begin. */
static SCPS_NOINLINE void begin_thin(struct scps_report *rep, const struct scps_report_view *v,
                                     struct plan *p)
{
    merge_cursors(rep, v->rcv->in.ooo, p);
    if (v->rcv->in.ooo->n || v->fin_at)
        /* Holes are reported instead of a duplicate, whose SACK block (DSACK) would take their
         * room. */
        rep->dsack_to = 0;
    if (p->snack && ++rep->reports % SNACK_RESTART_EVERY == 0) {
        p->high = rep->snack.high;
        scps_snackrx_restart(&rep->snack);
    } else if (p->snack && p->sack) {
        p->high = scps_snackrx_go_back(&rep->snack, &p->holes);
    }
    scps_snackrx_sent(&rep->snack);
}

/* Adds SACK blocks to seg, the DSACK that is due first, until seg has max blocks; max 0: adds none.
 * sparse true: adds received ranges in ascending order, each once before any is repeated, over
 * several acknowledgements, and returns true if some have not been reported yet. sparse false: adds
 * the ranges that grew last (RFC 2018 section 4), and returns false. */
static bool add_sack(struct scps_report *rep, const struct scps_report_view *v, unsigned max,
                     bool sparse, struct scps_seg *seg)
{
    bool more = false;

    if (!max) { /* The packet has no room for a SACK block. */
        rep->dsack_to = 0;
        return false;
    }
    if (rep->dsack_to) /* A DSACK must be the first SACK block (RFC 2883 section 4). */
        add_block(v, seg, rep->dsack_from, rep->dsack_to);
    if (sparse)
        more = next_blocks(rep, v, seg, max);
    if (!more)
        latest_blocks(rep, v, seg, max, sparse);
    if (rep->dsack_to) {
        v->x->st->dsacks_out++;
        rep->dsack_to = 0;
    }
    if (seg->nsack) {
        seg->has |= SCPS_HAS_SACK;
        v->x->st->sacks_out++;
    }
    return more;
}

/* With SACK and the long form of SNACK: if the run of arrived data behind the next hole is longer
 * than a bit vector, reports it as a SACK block and leaves no room for a vector, which would
 * contain ones only. */
static void add_run(struct scps_report *rep, const struct scps_report_view *v, unsigned max,
                    struct plan *p, struct scps_seg *seg)
{
    struct scps_range run;

    if (!p->sack || !scps_snackrx_long_run(&rep->snack, &p->holes, &run) || !max)
        return;
    add_block(v, seg, run.from, run.to);
    p->room = 6;
    seg->has |= SCPS_HAS_SACK;
    v->x->st->sacks_out++;
}

/* Adds a SNACK, if seg has room, that reports the lowest hole not reported by a SNACK before; if
 * there is none, a hole that is reported again. Returns true if another acknowledgement must
 * follow, because a hole is still unreported. */
static bool add_snack(struct scps_report *rep, const struct scps_report_view *v, struct plan *p,
                      struct scps_seg *seg)
{
    bool sack = v->agreed->opts & SCPS_AGREED_SACK;

    if (p->room > 6)
        p->room -= seg->nsack ? 4u + 8u * seg->nsack : 0;
    scps_snackrx_report(&rep->snack, &p->holes, v->x, seg, p->room, !v->budgeted);
    return scps_snackrx_backlog(&rep->snack, &p->holes) ||
           (p->sparse && sack && scps_snackrx_out_of_reach(&rep->snack, &p->holes, rep->sacked_to));
}

/* Adds the SACK blocks, the DSACK and the SNACK that are due now to the segment seg. Returns true
 * if they do not all fit, so that another acknowledgement is needed. view: what has been received;
 * it is passed by value, so that the fast path does not build it in memory. */
static SCPS_NOINLINE bool full(struct scps_report *rep, const struct scps_report_view view,
                               struct scps_seg *seg)
{
    const struct scps_report_view *v = &view;
    bool more = false;
    struct plan p;
    unsigned max;

    if (!plan_of(v, seg, &p))
        return true;
    if (v->budgeted)
        begin_thin(rep, v, &p);
    if (p.snack && p.sack && p.sparse && !p.high &&
        scps_snackrx_out_of_reach(&rep->snack, &p.holes, rep->sacked_to)) {
        rep->sacked_to = SCPS_MAX(rep->sacked_to, rep->snack.high);
        p.snack = false;
    }
    max = p.room < 12 ? 0 : SCPS_MIN((p.room - (p.snack ? 8 : 0) - 4) / 8, SCPS_SACK_MAX);
    seg->nsack = 0;
    if (p.snack && v->agreed->caps & SCPS_CAP_SNACK2 && !rep->dsack_to && p.sparse) {
        add_run(rep, v, max, &p, seg);
        /* The bit vector of the SNACK that add_snack() builds below reports more holes than SACK
         * blocks could, so the segment gets no SACK block but that of add_run(). */
        p.sack = false;
    }
    if (p.sack)
        more = add_sack(rep, v, max, p.sparse, seg);
    if (p.snack)
        more = add_snack(rep, v, &p, seg) || more;
    scps_snackrx_reported(&rep->snack, SCPS_MAX(rep->snack.high, p.high));
    /* An ACK budget limits the rate of acknowledgements without data. Under a budget,
     * acknowledgements report all holes in ascending order, from the first to the last (a pass),
     * and `more`, which asks for a further acknowledgement at once, becomes false when the pass is
     * over. It is over as soon as a SNACK has reported the last hole: no SACK block has to report
     * the data received behind that hole. If `more` stayed true, the next pass would follow at
     * once. */
    more = more && !(v->budgeted && pass_is_over(rep, v->rcv->in.ooo, &p));
    if (!more && rep->anew) {
        rep->anew = false;
        more = true;
    }
    return more;
}

bool scps_report_fill(struct scps_report *rep, const struct scps_report_view *v,
                      struct scps_seg *seg)
{
    return !sack_only_report(rep, v, seg) && full(rep, *v, seg);
}

/* ---- functions that record what has arrived ---- */

/* Records that octets have just arrived in range `run`, which lies beyond a hole (octets missing
 * from RCV.NXT on), so that the next acknowledgement has its SACK block first (RFC 2018 section
 * 4). */
void scps_report_grew(struct scps_report *rep, const struct scps_range *run)
{
    struct scps_range was[SCPS_SACK_MAX];
    unsigned n = 1;

    memcpy(was, rep->recent, sizeof was);
    memset(rep->recent, 0, sizeof rep->recent);
    rep->recent[0] = *run;
    for (unsigned i = 0; i < SCPS_SACK_MAX && n < SCPS_SACK_MAX; i++)
        /* A range that begins within `run` has become a part of `run`, so it is removed from the
         * list. */
        if (was[i].from < run->from || was[i].from >= run->to)
            rep->recent[n++] = was[i];
}

void scps_report_reneged(struct scps_report *rep)
{
    memset(rep->recent, 0, sizeof rep->recent);
    scps_report_restart(rep);
    scps_snackrx_filled_reported(&rep->snack);
    rep->anew = false;
}
