/* SPDX-License-Identifier: MIT */
/* SNACK at the receiver: reports which data is missing (CCSDS 714.0-B-2 section 3.3;
 * docs/SCPS-TP.md section 2).
 *
 * A hole, a range of missing octets, lies between RCV.NXT and a range received beyond it, or
 * between two such ranges. Each SNACK reports one hole, the first that exists of these (next_hole):
 *
 *   1. the lowest hole that no SNACK has reported yet;
 *   2. without SACK, the hole directly below octets that have just arrived in a reported hole. Only
 *      the bit vector of a SNACK can report their arrival then (below_filled has the conditions);
 *   3. each of the holes again in turn, ascending, since an acknowledgement may be lost, too.
 *
 * Repeated reports cause no needless retransmissions: the sender ignores a report that comes less
 * than a round trip after its last retransmission. The reference implementation repeats the first
 * hole three times before it reports the next (RESNACK_THRESH); at high loss that leaves later
 * holes unreported for many round trips.
 *
 * A FIN shows that data before it is missing, too (docs/SCPS-TP.md section 2.3), even if no data
 * has arrived beyond the hole.
 *
 * A SNACK counts in units of a full segment's payload. Its long form, where negotiated, has a bit
 * vector: one bit for each unit from the end of the reported hole (Hole1) up to the last received
 * one, 0 missing, 1 received ("from memory, unverified" in docs/SCPS-TP.md: most significant bit
 * first, directly after Hole1).
 *
 * In strictly delayed mode (F0: the delayed-ACK timer alone causes acknowledgements), and under an
 * ACK budget (a limit on the rate of acknowledgements without data), one acknowledgement stands for
 * hundreds of segments. It omits no range: a run of received units that is too long for the bit
 * vector is reported as a SACK block instead, and if holes lie beyond the end of the vector, the
 * next SNACK begins with the last hole that the vector contains. Under a budget that would cost too
 * many acknowledgements: there the next SNACK begins with the first hole beyond the vector.
 *
 * Both 16-bit fields of the option have a largest value. The receiver does not report a hole at an
 * offset of 65535 units or more until RCV.NXT has come closer. A hole of 65535 units or more is
 * reported piece by piece, without a vector. Meanwhile SACK reports the data beyond, and there the
 * sender detects losses by RFC 6675 (ackloss.c). A SNACK whose offset is 65535 is ignored, because
 * it may mean any block from there on.
 *
 * Under an ACK budget the reports go back when octets have arrived in a reported hole: the next
 * SNACK reports the hole directly below the lowest of these octets again, if the bit vector reaches
 * from there to the newest data, so that their arrival needs no SNACK of its own
 * (scps_snackrx_go_back).
 */
#include "core/snackrx.h"

#include "base/bytes.h"

/* octets of a SNACK option before its bit vector: kind, length, Hole1 Offset, Hole1 Size */
#define SNACK_FIXED_LEN 6

/* Sets *h to the first hole that ends above offset off. The peer's FIN counts as data that has
 * arrived, so a hole may end there. Returns false if there is no such hole. */
static bool hole_after(const struct scps_rcvbuf *in, scps_off fin_at, scps_off off,
                       struct scps_range *h)
{
    const struct scps_rangeset *ooo = in->ooo;
    uint32_t i = scps_rangeset_find(ooo, off);

    /* Range i contains offset off, so the hole begins behind this range. */
    if (i < ooo->n && scps_rangeset_at(ooo, i)->from <= off)
        i++;
    h->from = i ? scps_rangeset_at(ooo, i - 1)->to : in->next;
    h->to = i < ooo->n ? scps_rangeset_at(ooo, i)->from : fin_at;
    return h->to > SCPS_MAX(off, h->from);
}

/* Returns true if the 16-bit offset field of a SNACK can express the start of hole h. */
static SCPS_NOINLINE_SIZE bool nameable(const struct scps_holes *v, const struct scps_range *h)
{
    return (h->from - v->in->next) / v->unit < SCPS_SNACK_FULL;
}

/* Sets *h to the first hole above off that a SNACK can express with its 16-bit offset, less the
 * part of the hole that lies below off. Returns false if there is none. */
static bool hole_to_name(const struct scps_holes *v, scps_off off, struct scps_range *h)
{
    if (!hole_after(v->in, v->fin_at, SCPS_MAX(off, v->in->next), h))
        return false;
    h->from = SCPS_MAX(h->from, off);
    return nameable(v, h);
}

unsigned scps_snackrx_backlog(const struct scps_snackrx *s, const struct scps_holes *v)
{
    struct scps_range h;

    return hole_to_name(v, s->high, &h) ? 1 : 0;
}

bool scps_snackrx_out_of_reach(const struct scps_snackrx *s, const struct scps_holes *v,
                               scps_off sacked_to)
{
    scps_off reported = SCPS_MAX(s->high, sacked_to);
    struct scps_range h;

    if (!hole_after(v->in, v->fin_at, SCPS_MAX(reported, v->in->next), &h))
        return false;
    /* The size field of a SNACK has at most 65535 units (each the payload of a full segment), so of
     * a longer hole SNACKs may have reported only the part below `reported`. */
    h.from = SCPS_MAX(h.from, reported);
    return !nameable(v, &h);
}

/* Writes the bit vector of a long SNACK, at most `octets` octets, into seg. Each bit stands for
 * `size` octets of the stream, the first bit for those from offset `at` on; 1: they have arrived.
 * Returns the offset at which the next SNACK goes on: the end of the octets of the last 1. whole
 * true: no range may stay unreported, so if data has arrived beyond a vector that is too short, the
 * next SNACK goes on at the start of the last hole in the vector (run of zeros), and reports that
 * hole again. */
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

unsigned scps_snackrx_room(const struct scps_agreed *a)
{
    /* In a compressed header timestamps are not among the options. */
    return scps_agreed_opt_room(a) - (a->caps & SCPS_CAP_COM ? 0 : scps_agreed_overhead(a));
}

/* Returns how many octets a bit vector covers. size: octets for which each bit stands; room: octets
 * of option space. */
static uint64_t reach(uint32_t size, unsigned room)
{
    return (uint64_t)size * 8 * SCPS_MIN(room - SNACK_FIXED_LEN, SCPS_SNACK_VEC_MAX);
}

/* Without SACK: sets *h to the hole directly below the octets at s->filled, which have just arrived
 * in a hole that was reported: the bit vector of a SNACK for *h reports their arrival. Returns
 * false if
 * - SACK was agreed, which reports the arrival, or no SNACK with a bit vector was negotiated,
 * - that hole begins at RCV.NXT, or at or above s->next: SNACKs that repeat the reports of all
 *   holes in ascending order go on above s->next, and so come to that hole anyway, or
 * - the bit vector, which begins at the end of *h, does not reach the octets. */
static bool below_filled(const struct scps_snackrx *s, const struct scps_holes *v,
                         struct scps_range *h)
{
    const struct scps_rangeset *ooo = v->in->ooo;
    uint32_t i = scps_rangeset_find(ooo, s->filled);

    if (!(v->agreed->caps & SCPS_CAP_SNACK2) || v->agreed->opts & SCPS_AGREED_SACK || !i ||
        i == ooo->n)
        return false;
    h->from = scps_rangeset_at(ooo, i - 1)->to;
    h->to = scps_rangeset_at(ooo, i)->from;
    return h->from < s->next &&
           /* The bit vector of the SNACK for *h begins at the end of *h. It reports the octets at
            * s->filled only if it reaches them. Only three quarters of its largest size count,
            * because an end-of-record or corruption option may take the rest. */
           s->filled < h->to + reach(v->unit, scps_snackrx_room(v->agreed)) * 3 / 4;
}

scps_off scps_snackrx_go_back(struct scps_snackrx *s, const struct scps_holes *v)
{
    const struct scps_rangeset *ooo = v->in->ooo;
    scps_off reported = s->high, from = SCPS_MAX(s->filled_from, v->in->next), hole;
    uint32_t i;

    if (!(v->agreed->caps & SCPS_CAP_SNACK2) || !s->filled_from || !ooo->n || from >= reported)
        return 0;
    i = scps_rangeset_find(ooo, from);
    hole = i ? scps_rangeset_at(ooo, i - 1)->to : v->in->next;
    if (scps_rangeset_at(ooo, ooo->n - 1)->to >
        hole + reach(v->unit, scps_snackrx_room(v->agreed)) * 3 / 4)
        return 0;
    s->high = hole;
    return reported;
}

/* Sets *h to the hole that the next SNACK reports, and returns a pointer to the field of s that the
 * caller must set to the end offset of what that SNACK reports; NULL: there is no hole to report.
 * Returns &s->high if no SNACK has reported the hole before. Returns &s->filled, without SACK only,
 * if the hole was reported, but the bit vector behind it reports octets that have arrived in a
 * reported hole since. Returns &s->next if all holes were reported, and are reported again in
 * turn. */
static scps_off *next_hole(struct scps_snackrx *s, const struct scps_holes *v, struct scps_range *h)
{
    if (hole_to_name(v, s->high, h))
        return &s->high;
    if (s->filled && below_filled(s, v, h) && nameable(v, h))
        return &s->filled;
    if (hole_to_name(v, s->next, h) || hole_to_name(v, 0, h))
        return &s->next;
    return NULL;
}

bool scps_snackrx_long_run(struct scps_snackrx *s, const struct scps_holes *v,
                           struct scps_range *run)
{
    struct scps_range h;

    if (!next_hole(s, v, &h) || h.to == v->fin_at)
        return false;
    *run = *scps_rangeset_at(v->in->ooo, scps_rangeset_find(v->in->ooo, h.to));
    return run->to - run->from > reach(v->unit, scps_snackrx_room(v->agreed));
}

void scps_snackrx_report(struct scps_snackrx *s, const struct scps_holes *v,
                         struct scps_conn_ctx *x, struct scps_seg *seg, unsigned room, bool whole)
{
    uint32_t size = v->unit;
    uint64_t off, blocks;
    struct scps_range h;
    scps_off *cursor;

    if (room < SNACK_FIXED_LEN || !(cursor = next_hole(s, v, &h)))
        return;
    off = (h.from - v->in->next) / size;
    blocks = (h.to - (v->in->next + off * size) + size - 1) / size;
    /* The rest of a longer hole is reported by later acknowledgements. */
    blocks = SCPS_MIN(blocks, SCPS_SNACK_FULL);
    *cursor = SCPS_MIN(h.to, v->in->next + (off + blocks) * size);
    seg->has |= SCPS_HAS_SNACK;
    seg->snack_off = (uint16_t)off;
    seg->snack_size = (uint16_t)blocks;
    seg->snack_vec_len = 0;
    if (v->agreed->caps & SCPS_CAP_SNACK2 && room > 8 && blocks < SCPS_SNACK_FULL) {
        scps_off end = long_form(v->in->ooo, seg, v->in->next + (off + blocks) * size, size,
                                 SCPS_MIN(room - SNACK_FIXED_LEN, SCPS_SNACK_VEC_MAX), whole);
        *cursor = SCPS_MAX(*cursor, end);
    }
    if (!(v->agreed->opts & SCPS_AGREED_SACK))
        s->filled = 0;
    x->st->snacks_out++;
    SCPS_OBSERVE(x, SNACK_OUT, h.from, SCPS_MIN(h.to, *cursor), seg->snack_vec_len, 0);
}
