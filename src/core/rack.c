/* SPDX-License-Identifier: MIT */
/* RACK-TLP: detects losses by time instead of by counting (RFC 8985).
 *
 *      sent     1   2   3   4   5   6 ---------- the last one again, or new data (TLP, section 7):
 *      arrived              *                    a tail that nothing follows is asked after
 *              `--- sent before it, and now older than its round trip and the reordering
 *                   window: lost (section 6)
 *
 * The reordering window is 0 while nothing was ever seen reordered (RACK.reordering_seen) and there
 * is other evidence, else a quarter of the least round trip for each round
 * trip in which a DSACK said that a resend was needless, up to srtt; sixteen episodes without such
 * news bring it back. A segment younger than that is looked at again when the timer says so.
 *
 * Nothing is walked: first sendings are judged in order, from the frontier of the scoreboard on,
 * resent ones from the front of their queue, and both are in order of sending, so the first that is
 * too young ends the look.
 *
 * Where the receiver names its holes (SNACK), none is inferred between those it has named and the
 * highest segment that has arrived: what lies there may have arrived and not been told yet, as on a
 * thin return link.  So it is with the rule that counts (ackin.c).
 *
 * Departures: of a resent segment that is SACKed only the least round trip tells which sending has
 * arrived, not the echo of a timestamp (it names the segment that last moved the left edge, which a
 * SACKed one has not). The timer is set for the first segment that comes of age, not for the last:
 * repair begins as early. The probe timer is not moved with each segment; when it comes up it looks
 * how long nothing new was sent or acknowledged. Needs SACK; without it loss.c decides.
 */
#include "core/rack.h"

#include "base/bytes.h"
#include "core/snacktx.h"
#include "core/tx.h"

/* allowance of section 7.2 for a peer's delayed ACK, when one segment is outstanding */
#define WORST_ACK_DELAY SCPS_MS(200)
#define PERSIST         16 /* section 6.2, step 4 */

enum { PROBE_NONE, PROBE_NEW, PROBE_RESENT };

scps_dur scps_rack_window(const struct scps_tx *tx, const struct scps_rtt *rtt, unsigned dupthresh)
{
    const struct scps_rack *rk = &tx->rack;

    if (!rk->reordering_seen &&
        (tx->rec.episode != SCPS_EPISODE_NONE || tx->sb.arrived_recs >= dupthresh))
        return 0;
    return SCPS_MIN((rk->steps + 1) * scps_rtt_min(rtt) / 4, rtt->srtt);
}

/* When record r comes of age, if what left after it has arrived; SCPS_NEVER: nothing has. */
static inline scps_time of_age(const struct scps_scoreboard *sb, const struct scps_sent_segment *r,
                               scps_dur limit)
{
    return scps_sb_before(r->xseq, sb->hi_xseq) ? r->sent + limit : SCPS_NEVER;
}

/* Step 5, first sendings. Returns when the next comes of age; SCPS_NEVER: none does. */
static scps_time judge_first(struct scps_scoreboard *sb, scps_time now, scps_dur limit,
                             scps_off named, struct scps_ack_result *sum)
{
    for (; sb->frontier != sb->tail; scps_sb_pass(sb)) {
        const struct scps_sent_segment *r = scps_sb_at(sb, sb->frontier);
        scps_time due;
        if (r->state != SCPS_SENT_FLIGHT || r->resends || r->from < named)
            continue;
        due = of_age(sb, r, limit);
        if (due > now)
            return due;
        scps_sb_lose(sb, sb->frontier, sum);
    }
    return SCPS_NEVER;
}

/* The same of resent ones. */
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

/* Step 5: detects losses. Returns when to look again; 0: not needed. */
static scps_time detect(struct scps_sender *s, struct scps_ack_result *sum)
{
    const struct scps_rack *rk = &s->tx->rack;
    struct scps_scoreboard *sb = &s->tx->sb;
    scps_dur limit = rk->rtt + scps_rack_window(s->tx, &s->rtt, s->ctx.cfg->c.dupthresh);
    bool names = scps_agreed_snack(&s->agreed);
    scps_off named = names ? SCPS_MIN(scps_snacktx_reach(s), sb->hi_arrived) : 0;
    scps_time first, resent;

    if (!rk->rtt)
        return 0; /* nothing has arrived yet */
    first = judge_first(sb, s->ctx.env->now, limit, named, sum);
    if (!names)
        limit = SCPS_MAX(limit, scps_sb_resend_wait(sb, scps_rtt_min(&s->rtt), s->rtt.rto));
    resent = judge_resent(sb, s->ctx.env->now, limit, sum);
    first = SCPS_MIN(first, resent);
    return first == SCPS_NEVER ? 0 : first;
}

/* Section 6.2 step 4: the reordering window follows DSACKs, and forgets them after a time.
 * repaired: the acknowledgement has ended an episode, which a timer may have begun after the one
 * before. */
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

/* Section 7.4: decides whether the probe was a duplicate, or repaired a loss that no other rule had
 * detected. */
static bool probe_repaired(struct scps_rack *rk, scps_off una, bool dsack, bool dup, bool sacked)
{
    bool resent = rk->probe == PROBE_RESENT && !dsack;

    if (una < rk->probe_end)
        return false;
    if (resent && una == rk->probe_end && !(dup && !sacked))
        /* It acknowledges one transmission or the other; the next acknowledgement shows which. */
        return false;
    rk->probe = PROBE_NONE;
    return resent && una > rk->probe_end;
}

bool scps_rack_news(struct scps_sender *s, const struct scps_ack_result *sum, bool dup, bool sacked,
                    bool repaired)
{
    struct scps_rack *rk = &s->tx->rack;

    if (sum->newest && sum->newest->xseq == s->tx->sb.hi_xseq)
        rk->rtt = SCPS_MAX(s->ctx.env->now - sum->newest->sent, 1);
    adapt(rk, s->tx->rec.episode != SCPS_EPISODE_NONE, s->snd.una, s->snd.nxt, sum->dsack,
          repaired);
    return rk->probe && probe_repaired(rk, s->snd.una, sum->dsack, dup, sacked);
}

scps_time scps_rack_judge(struct scps_sender *s, struct scps_ack_result *sum)
{
    struct scps_rack *rk = &s->tx->rack;

    if (sum->newest || rk->again)
        rk->again = detect(s, sum);
    return rk->again;
}

/* Returns the time without any progress after which a probe is sent. */
static scps_dur probe_timeout(const struct scps_scoreboard *sb, scps_dur srtt)
{
    if (!srtt)
        return SCPS_SEC(1);
    return 2 * srtt + (scps_sb_count(sb) == 1 ? WORST_ACK_DELAY : 0);
}

scps_time scps_rack_wait(const struct scps_rtt *rtt, scps_time now)
{
    scps_dur wait = rtt->srtt ? 2 * rtt->srtt : SCPS_SEC(1); /* at the earliest */

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

    /* Section 7.2: no probe while other evidence is expected, or after a probe. */
    if (s->snd.una == s->snd.nxt || tx->rec.episode != SCPS_EPISODE_NONE || tx->sb.arrived_recs ||
        tx->sb.lost || tx->rack.probe)
        return SCPS_NEVER;
    quiet = SCPS_MAX(tx->sent_at, tx->progress_at);
    quiet = SCPS_MAX(quiet, scps_sb_at(&tx->sb, tx->sb.tail - 1)->sent); /* a FIN counts, too */
    return SCPS_MIN(quiet + probe_timeout(&tx->sb, s->rtt.srtt), most);
}

void scps_rack_probed(struct scps_rack *rk, scps_off nxt, bool resent)
{
    rk->probe = resent ? PROBE_RESENT : PROBE_NEW;
    rk->probe_end = nxt;
}
