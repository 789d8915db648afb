/* SPDX-License-Identifier: MIT */
/* Processes the SNACK option, short and long form, with which a receiver reports missing data.
 * why.c uses these reports to determine why data was sent again.
 *
 * Source: CCSDS 714.0-B-2 (docs/SCPS-TP.md section 2).
 */
#include "trace/segment.h"
#include "trace/why.h"

/* Returns the unit, bytes, in which the receiver's SNACK options count missing data of `sender`:
 * the payload of a full segment. This is the MSS option in the sender's own SYN, less 12 with
 * timestamps. With header compression it is the MSS and 4 more with timestamps, 12 more without
 * (docs/SCPS-TP.md section 2.1). */
static uint32_t snack_unit(const struct conn_dir *sender, const struct conn_dir *receiver)
{
    int32_t mss = sender->mss       ? (int32_t)sender->mss
                  : sender->max_seg ? (int32_t)sender->max_seg
                                    : 536;
    bool ts = sender->ts && receiver->ts;
    bool com = sender->caps_seen && receiver->caps_seen && (sender->caps & SCPS_CAP_COM) &&
               (receiver->caps & SCPS_CAP_COM);
    if (!sender->mss)
        /* The capture lacks the SYN with the MSS option, so the largest payload seen is used, or
         * 536. */
        return (uint32_t)mss;
    mss -= com ? (ts ? -4 : -12) : ts ? 12 : 0;
    return (uint32_t)SCPS_MAX(mss, 1);
}

/* Records that a SNACK of direction h reports octets [from, to) of the opposite direction o's data
 * as missing. */
static void hole(struct scps_trace *t, struct conn_dir *h, struct conn_dir *o, uint64_t from,
                 uint64_t to)
{
    struct conn_rare *x = scps_tr_rare(t, h);
    x->snack_bytes += to - from;
    x->snack_holes++;
    scps_tr_why_snack(t, o, from, to, t->now);
}

static bool received(const struct segment *s, uint32_t bit)
{
    return s->o.snack_vec[bit / 8] >> (7 - bit % 8) & 1;
}

/* Reads the bit vector of the long SNACK form: bit i stands for `unit` octets at start + i * unit
 * (start: end of the first hole); 1: received, 0: missing. Zeros after the last 1 say nothing. */
static void take_vector(struct scps_trace *t, struct conn_dir *h, struct conn_dir *o,
                        const struct segment *s, uint64_t start, uint32_t unit)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < s->o.snack_vec_len * 8u; i++)
        if (received(s, i))
            bits = i + 1;
    for (uint32_t i = 0, end; i < bits; i = end + 1) {
        for (end = i; end < bits && !received(s, end); end++)
            ;
        uint64_t from = start + (uint64_t)i * unit, to = start + (uint64_t)end * unit;
        to = SCPS_MIN(to, o->segs.top);
        if (end > i && from < to)
            hole(t, h, o, from, to);
    }
}

void scps_tr_take_snack(struct scps_trace *t, struct conn_dir *h, struct conn_dir *o,
                        const struct segment *s, uint64_t ack, struct scps_trace_seen *seen)
{
    uint32_t unit = snack_unit(o, h);
    uint64_t from = ack + (uint64_t)s->o.snack_off * unit;
    uint64_t to = from + (uint64_t)s->o.snack_size * unit;
    scps_tr_rare(t, h)->snack_pkts++;
    if (s->o.snack_vec_len)
        scps_tr_rare(t, h)->snack_long++;
    if (s->o.snack_size == 0 || from >= o->segs.top) {
        scps_tr_rare(t, h)->snack_ignored++;
    } else {
        uint64_t end = SCPS_MIN(to, o->segs.top);
        hole(t, h, o, from, end);
        if (seen) {
            seen->snack_from = from - o->isn64;
            seen->snack_to = end - o->isn64;
        }
    }
    take_vector(t, h, o, s, to, unit);
}
