/* SPDX-License-Identifier: MIT */
/* Takes RTT samples from acknowledgements (sample.h). */
#include "core/sample.h"

#include "base/bytes.h"
#include "core/tx.h"

/* Number of consecutive acknowledgements, each of which may be for the first transmission or for a
 * later one, after which the retransmission timer counts as too short. */
#define DOUBTS 4

static scps_dur min_window(scps_dur srtt)
{
    /* Length of the minimum-RTT window: 10 s or 10 SRTT, whichever is longer, so that the
     * minimum of the path does not expire during one period of congestion. */
    return SCPS_MAX(SCPS_SEC(10), 10 * srtt);
}

/* Returns true if the segment was sent before the end of the last outage: its RTT then may measure
 * the outage, not the path. */
static SCPS_NOINLINE bool spans_outage(const struct scps_tx *tx, scps_time sent)
{
    return tx->outage_over && sent < tx->outage_over;
}

/* Returns rtt, µs, or -1 if it is above the retransmission timeout `rto` because the segment was
 * sent before the end of the last outage. */
static scps_dur of_the_path(const struct scps_tx *tx, scps_time now, scps_dur rto, scps_dur rtt)
{
    return rtt > rto && spans_outage(tx, now - rtt) ? -1 : rtt;
}

/* Returns true if the timeouts since the last RTT sample have backed the retransmission timer off
 * to its longest time, rto_max: RFC 6298 section 2.5 permits 60 s, which may be shorter than the
 * round trip. */
static bool at_longest(const struct scps_sample_view *v)
{
    return v->rtt->rto > v->x->cfg->c.rto_max >> v->tx->rto.kept;
}

/* Returns the time, µs, since the series of timeouts began that this acknowledgement ends. The data
 * it acknowledges was first sent no later, so guess() takes that time as a lower bound of the time
 * since then. Returns -1 if there was no timeout, or if each timeout still backs the timer off, so
 * that an acknowledgement will arrive before it expires and give an RTT sample. It does not if
 * losses are attributed to corruption, at first (rto.c), and once it is at its longest. */
static scps_dur silence(const struct scps_sample_view *v)
{
    const struct scps_tx *tx = v->tx;
    bool backs_off = scps_cause_now(&tx->cause, v->x) != SCPS_LOSS_CORRUPTION && !at_longest(v);

    return tx->rec.silent && !backs_off ? v->x->env->now - tx->silence.since : -1;
}

/* Called for an acknowledgement of resent data that may be for the first transmission, sent `first`
 * µs ago (-1: unknown, not counted). If DOUBTS (4) of them come in succession without a certain RTT
 * sample, the retransmission timer is taken to be shorter than the round trip: each segment is
 * resent before its acknowledgement arrives. So from the fourth on returns the shortest `first`,
 * µs, as an RTT; before that, -1. The shortest is that of the present group of DOUBTS
 * acknowledgements and the whole group before it, of the last 4 to 8: older ones are from before
 * the path became longer. */
static scps_dur doubt(struct scps_sample *s, scps_dur first)
{
    if (first < 0)
        return -1;
    if (s->doubts == 2 * DOUBTS)
        s->doubts = DOUBTS;
    if (s->doubts % DOUBTS == 0) {
        s->doubted_before = s->doubted;
        s->doubted = first;
    } else {
        s->doubted = SCPS_MIN(s->doubted, first);
    }
    if (++s->doubts < DOUBTS)
        return -1;
    return s->doubts == DOUBTS ? s->doubted : SCPS_MIN(s->doubted, s->doubted_before);
}

/* Called for an acknowledgement of resent data without a timestamp echo, which gives no RTT sample
 * (Karn's algorithm, RFC 6298 section 3). first: lower bound of the time, µs, since the first
 * transmission (-1: unknown). Returns -1, no sample, with one exception: if DOUBTS such
 * acknowledgements have come in succession (doubt), and the shortest of their times is longer than
 * the retransmission timeout `rto`, µs, the timer may be too short, and that time is returned as a
 * guess of the RTT. A shorter time does not show that, and as a sample would end the backoff.
 * Only one guess is made until an RTT is certain (scps_sample_sure). If there was no SRTT, it makes
 * the RTO longer than itself; otherwise it is averaged with the SRTT (RFC 6298 section 2.3), and
 * the RTO may stay too short for a path that has become several times longer. If the round trip is
 * really that long, and the RTO longer, the next acknowledgement comes before the timer expires and
 * gives a certain RTT. If it is not, the first transmissions were lost, and further guesses, each
 * longer than an RTO, would make the RTO grow without bound. */
static scps_dur guess(struct scps_sample *s, scps_dur first, scps_dur rto)
{
    scps_dur time = doubt(s, first);

    if (time <= rto || s->guessed)
        return -1;
    s->guessed = true;
    return time;
}

SCPS_NOINLINE scps_dur scps_sample_resent(const struct scps_sample_view *v,
                                          const struct scps_seg *seg,
                                          const struct scps_ack_result *sum)
{
    struct scps_sample *own = &v->tx->sample;
    const scps_time now = v->x->env->now;
    bool echoes = v->agreed->opts & SCPS_AGREED_TS && seg->has & SCPS_HAS_TS && seg->tsecr &&
                  !scps_recovery_echo_is_stale(&v->tx->rec, v->was, seg->tsecr);
    scps_dur least = scps_rtt_min(v->rtt), echo = -1, last = -1, rtt;
    const struct scps_sent_segment *r = sum->newest;

    if (echoes) {
        echo = scps_ts_age(v->ts, seg->tsecr, now);
        if (!sum->dsack_fresh &&
            (!sum->refilled || v->dsacks || echo <= now - sum->refilled_at + SCPS_TS_TICK)) {
            scps_sample_sure(own);
            return echo;
        }
        rtt = doubt(own, echo);
    } else {
        rtt = guess(own, silence(v), v->rtt->rto);
    }
    if (rtt >= 0 || !sum->dsack_fresh)
        return rtt;
    if (least && r && r->resends && r->from + r->len == sum->dsack_to)
        last = now - r->sent;
    return last >= least ? last : -1;
}

void scps_sample_take(struct scps_tx *tx, const struct scps_conn_ctx *x, struct scps_rtt *rtt,
                      scps_dur sample, bool by_clock, struct scps_cc_ack *a)
{
    const struct scps_conn_config *cfg = &x->cfg->c;
    const scps_dur window = min_window(rtt->srtt);
    const scps_time now = x->env->now;
    bool sampled;

    if (SCPS_MAX(sample, a->rtt) > rtt->rto) {
        sample = of_the_path(tx, now, rtt->rto, sample);
        a->rtt = of_the_path(tx, now, rtt->rto, a->rtt);
        a->rtt_old = of_the_path(tx, now, rtt->rto, a->rtt_old);
    }
    sampled = sample >= 0 && sample < SCPS_SEC(INT64_C(86400) * 24);
    if (sampled) {
        if (by_clock) {
            sample = scps_rtt_by_clock(rtt, sample, SCPS_TS_TICK, cfg->rto_min, cfg->rto_max);
        } else {
            scps_sample_certain(&tx->sample, rtt);
            scps_rtt_sample(rtt, now, sample, cfg->rto_min, cfg->rto_max, window);
        }
        scps_rto_measured(&tx->rto, sample);
    }
    /* Updates the minimum RTT with a->rtt, the RTT of the newest segment that has arrived, measured
     * from its time of sending. If scps_rtt_sample() was called, it has updated the minimum with
     * `sample`, so a->rtt counts only if it is lower still. A sample from a timestamp echo
     * (by_clock) never updates the minimum, because a tick of that clock is longer than the round
     * trip of some paths. */
    if (a->rtt >= 0 && (!sampled || by_clock || a->rtt < rtt->min))
        scps_rtt_floor(rtt, now, a->rtt, window);
}

SCPS_NOINLINE void scps_sample_late(struct scps_tx *tx, const struct scps_conn_ctx *x,
                                    struct scps_rtt *rtt, scps_dur echo)
{
    scps_dur sample = doubt(&tx->sample, echo);

    if (sample >= 0 && !spans_outage(tx, x->env->now - sample)) {
        sample = scps_rtt_by_clock(rtt, sample, SCPS_TS_TICK, x->cfg->c.rto_min, x->cfg->c.rto_max);
        scps_rto_measured(&tx->rto, sample);
    }
}

SCPS_NOINLINE void scps_sample_doubt(const struct scps_rtt *rtt, scps_time now, scps_dur echo,
                                     const struct scps_sent_segment *r, struct scps_cc_ack *a)
{
    if (now - r->sent < scps_rtt_min(rtt) || echo > now - r->sent + SCPS_TS_TICK)
        a->sample_bytes = a->prior_delivered = a->tx_in_flight = a->lost_since = 0;
}

SCPS_NOINLINE_SIZE void scps_sample_answered(struct scps_tx *tx, const struct scps_rtt *rtt,
                                             scps_time now, scps_time resent)
{
    const scps_dur least = scps_rtt_min(rtt);
    scps_dur since;

    if (!tx->rto.kept || (!resent && tx->sb.head == tx->sb.tail))
        return;
    since = now - (resent ? resent : scps_sb_at(&tx->sb, tx->sb.head)->sent);
    if (tx->rto.needless || !least || since < least || since > rtt->rto)
        scps_rto_count_answered(&tx->rto);
}
