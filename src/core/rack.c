/* SPDX-License-Identifier: MIT */
/* RACK-TLP: detects losses by time instead of by counting (RFC 8985).
 *
 *      sent     1   2   3   4   5   6 ---------- the last one again, or new data (TLP, RFC 8985):
 *      arrived              *                    a probe of the tail, which nothing follows
 *              `--- sent before it, and now older than its round trip and the reordering
 *                   window: lost (RFC 8985 section 6)
 *
 * The reordering window is 0 while no reordering has been seen (RACK.reordering_seen) and there is
 * other evidence of loss. Otherwise it is a quarter of the least round trip, and a quarter more for
 * each round trip in which a DSACK reported a needless retransmission, at most SRTT. After 16
 * recoveries without a DSACK (PERSIST, the RFC's RACK.reo_wnd_persist) it is a quarter again. If
 * segments were late by more than that, the window is as long as they were late (reorder.c). A
 * segment that is too young to be lost is examined again when the timer of loss detection expires.
 *
 * Nothing scans the whole window: first transmissions are examined in the order of offset,
 * beginning at the frontier of the scoreboard (the first record that loss detection has not
 * examined yet), and retransmissions from the front of their queue. Both are in order of sending,
 * so the examination ends at the first segment that is too young.
 *
 * Where SNACK was agreed, no first transmission below the highest octet known to have arrived is
 * declared lost here, as far as the 16-bit offset of a SNACK reaches: the peer's SNACKs name what
 * is missing there, and data that no report has named yet may have arrived, as on a slow return
 * link. The dupthresh rule (ackloss.c) makes the same exception. It does not hold for a peer whose
 * acknowledgements report by SACK blocks alone (scps_snacktx_names()).
 *
 * Departures from the RFC: when a resent segment is SACKed, the least round trip alone decides
 * which of its transmissions has arrived, and not the echo of a timestamp, which belongs to the
 * segment that last moved SND.UNA. The timer of loss detection expires for the first segment that
 * becomes old enough, not for the last, so repair begins earlier. The timer of the tail loss probe
 * is not restarted with each segment; when it expires, the time since anything new was sent or
 * acknowledged is checked. RACK needs SACK; without SACK loss.c decides.
 */
#include "core/rack.h"

#include "base/bytes.h"
#include "core/snacktx.h"
#include "core/tx.h"

/* Allowance for a delayed acknowledgement of the peer, when one segment is outstanding
 * (TLP.max_ack_delay, RFC 8985 section 7.2). */
#define WORST_ACK_DELAY SCPS_MS(200)
/* Number of recoveries without a DSACK after which the reordering window is a quarter of the least
 * round trip again: the initial RACK.reo_wnd_persist of RFC 8985 section 6.2 step 4. */
#define PERSIST 16

enum { PROBE_NONE, PROBE_NEW, PROBE_RESENT };

scps_dur scps_rack_window(const struct scps_tx *tx, const struct scps_rtt *rtt, unsigned dupthresh)
{
    const struct scps_rack *rk = &tx->rack;

    if (!rk->reordering_seen &&
        (tx->rec.episode != SCPS_EPISODE_NONE || tx->sb.arrived_recs >= dupthresh))
        return 0;
    return SCPS_MAX(SCPS_MIN((rk->steps + 1) * scps_rtt_min(rtt) / 4, rtt->srtt),
                    scps_reorder_window(&tx->reorder, rtt->rto));
}

/* Returns the time at which record r is old enough to be lost; SCPS_NEVER: nothing that was sent
 * after r has arrived. limit: RTT plus reordering window, µs. */
static inline scps_time of_age(const struct scps_scoreboard *sb, const struct scps_sent_segment *r,
                               scps_dur limit)
{
    return scps_sb_before(r->xseq, sb->hi_xseq) ? r->sent + limit : SCPS_NEVER;
}

/* Applies RFC 8985 section 6.2 step 5 to segments that were sent once and begin at or above
 * `above`. Returns the earliest time, µs, at which another of them becomes old enough to be
 * declared lost; SCPS_NEVER: there is none. */
static scps_time judge_first(struct scps_scoreboard *sb, scps_time now, scps_dur limit,
                             scps_off above, struct scps_ack_result *sum)
{
    for (; sb->frontier != sb->tail; scps_sb_pass(sb)) {
        const struct scps_sent_segment *r = scps_sb_at(sb, sb->frontier);
        scps_time due;
        if (r->state != SCPS_SENT_FLIGHT || r->resends || r->from < above)
            continue;
        due = of_age(sb, r, limit);
        if (due > now)
            return due;
        scps_sb_lose(sb, sb->frontier, sum);
    }
    return SCPS_NEVER;
}

/* Applies RFC 8985 section 6.2 step 5 to segments that were resent. Returns the earliest time, µs,
 * at which another of them becomes old enough to be declared lost; SCPS_NEVER: there is none. */
static scps_time judge_resent(struct scps_scoreboard *sb, scps_time now, scps_dur limit,
                              struct scps_ack_result *sum)
{
    struct scps_resent e;

    for (; scps_sb_resent_front(sb, &e); scps_sb_resent_drop(sb)) {
        scps_time due;
        if (!scps_sb_resent_live(sb, e))
            continue;
        due = of_age(sb, scps_sb_at(sb, e.idx), limit);
        if (due > now)
            return due;
        scps_sb_lose(sb, e.idx, sum);
    }
    return SCPS_NEVER;
}

/* Declares segments lost by RFC 8985 section 6.2 step 5 and adds them to *sum. Returns the earliest
 * time, µs, at which another segment in flight becomes old enough to be declared lost, unless it is
 * reported as arrived before; 0: there is none. */
static scps_time detect(struct scps_sender *s, struct scps_ack_result *sum)
{
    const struct scps_rack *rk = &s->tx->rack;
    struct scps_scoreboard *sb = &s->tx->sb;
    scps_dur limit = rk->rtt + scps_rack_window(s->tx, &s->rtt, s->ctx.cfg->c.dupthresh);
    bool snack = scps_snacktx_names(&s->tx->snack, &s->agreed);
    scps_off snack_reach = snack ? SCPS_MIN(scps_snacktx_reach(s), sb->hi_arrived) : 0;
    scps_time first, resent;

    if (!rk->rtt)
        return 0; /* no segment is known to have arrived, so RACK.rtt is unknown */
    first = judge_first(sb, s->ctx.env->now, limit, snack_reach, sum);
    if (!snack)
        limit = SCPS_MAX(limit, scps_sb_resend_wait(sb, scps_rtt_min(&s->rtt), s->rtt.rto));
    resent = judge_resent(sb, s->ctx.env->now, limit, sum);
    first = SCPS_MIN(first, resent);
    return first == SCPS_NEVER ? 0 : first;
}

/* RFC 8985 section 6.2 step 4: a DSACK enlarges the reordering window, and after some recoveries
 * without a DSACK the window is reset. repaired: this acknowledgement has ended a recovery episode,
 * possibly one that a timer began after the previous acknowledgement. */
static void adapt(struct scps_rack *rk, bool repairing, scps_off una, scps_off nxt, bool dsack,
                  bool repaired)
{
    if (rk->dsack_round && una >= rk->dsack_round)
        rk->dsack_round = 0;
    if (dsack && !rk->dsack_round) {
        rk->dsack_round = nxt;
        if (rk->steps < UINT8_MAX)
            rk->steps++;
        rk->persist = PERSIST;
    } else if ((rk->repairing || repaired) && !repairing && rk->persist && !--rk->persist) {
        rk->steps = 0;
    }
    rk->repairing = repairing;
}

/* RFC 8985 section 7.4: returns true if the tail loss probe has repaired a loss that no other rule
 * had detected, false if it was a needless duplicate or if that is not known yet. */
static bool probe_repaired(struct scps_rack *rk, scps_off una, bool dsack, bool dup, bool sacked)
{
    bool resent = rk->probe == PROBE_RESENT && !dsack;

    if (una < rk->probe_end)
        return false;
    if (resent && una == rk->probe_end && !(dup && !sacked))
        /* The acknowledgement may be for the probe or for its original; the next acknowledgement
         * shows for which. */
        return false;
    rk->probe = PROBE_NONE;
    return resent && una > rk->probe_end;
}

bool scps_rack_news(struct scps_sender *s, const struct scps_ack_result *sum, bool dup, bool sacked,
                    bool repaired)
{
    struct scps_rack *rk = &s->tx->rack;
    bool repairing = s->tx->rec.episode != SCPS_EPISODE_NONE;
    /* RFC 8985 section 6.2 step 2: a retransmission of which an earlier transmission may have been
     * acknowledged, such as a tail loss probe, gives no RACK.rtt; the other segments that this
     * acknowledgement covers do. */
    const struct scps_sent_segment *latest = scps_ack_result_latest(sum, s->tx->sb.hi_xseq);

    if (latest)
        rk->rtt = SCPS_MAX(s->ctx.env->now - latest->sent, 1);
    /* RFC 8985 section 7.1: TLP.end_seq is reset when recovery begins. Otherwise the loss that it
     * repairs would be attributed to the probe, too, and reduce the window twice. */
    if (repairing || repaired)
        rk->probe = PROBE_NONE;
    adapt(rk, repairing, s->snd.una, s->snd.nxt, sum->dsack, repaired);
    return rk->probe && probe_repaired(rk, s->snd.una, sum->dsack, dup, sacked);
}

scps_time scps_rack_judge(struct scps_sender *s, struct scps_ack_result *sum)
{
    struct scps_rack *rk = &s->tx->rack;

    if (sum->newest || rk->again)
        rk->again = detect(s, sum);
    return rk->again;
}

/* Returns PTO of RFC 8985 section 7.2, µs: a tail loss probe is sent when for this time nothing was
 * sent and SND.UNA has not advanced. */
static scps_dur probe_timeout(const struct scps_scoreboard *sb, scps_dur srtt)
{
    if (!srtt)
        return SCPS_SEC(1);
    return 2 * srtt + (scps_sb_count(sb) == 1 ? WORST_ACK_DELAY : 0);
}

scps_time scps_rack_wait(const struct scps_rtt *rtt, scps_time now)
{
    /* Data was sent, or acknowledged, at `now`. A tail loss probe can be due two round trips later
     * at the earliest, or 1 s later while no RTT is known (RFC 8985 section 7.2); or after the RTO,
     * if that is shorter. */
    scps_dur wait = rtt->srtt ? 2 * rtt->srtt : SCPS_SEC(1);

    return now + SCPS_MIN(wait, rtt->rto);
}

scps_time scps_rack_look(struct scps_sender *s, struct scps_ack_result *sum)
{
    struct scps_rack *rk = &s->tx->rack;

    if (rk->again && rk->again <= s->ctx.env->now)
        rk->again = detect(s, sum);
    return rk->again;
}

scps_time scps_rack_probe_at(struct scps_sender *s, scps_time most)
{
    const struct scps_tx *tx = s->tx;
    scps_time quiet;

    /* There is no tail loss probe while other evidence of loss is expected (RFC 8985 section 7.2),
     * while another one is in flight, and before a round trip is measured after it (section 7.3):
     * otherwise retransmissions could keep SRTT from following a path that becomes longer. */
    if (s->snd.una == s->snd.nxt || tx->rec.episode != SCPS_EPISODE_NONE || tx->sb.arrived_recs ||
        tx->sb.lost || tx->rack.probe || tx->rto.probed)
        return SCPS_NEVER;
    quiet = SCPS_MAX(tx->sent_at, tx->progress_at);
    /* The time since anything was sent counts from the newest record of the scoreboard, which may
     * be a FIN. */
    quiet = SCPS_MAX(quiet, scps_sb_at(&tx->sb, tx->sb.tail - 1)->sent);
    return SCPS_MIN(quiet + probe_timeout(&tx->sb, s->rtt.srtt), most);
}

void scps_rack_probed(struct scps_rack *rk, scps_off nxt, bool resent)
{
    rk->probe = resent ? PROBE_RESENT : PROBE_NEW;
    rk->probe_end = nxt;
}
