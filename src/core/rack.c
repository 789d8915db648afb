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
#include "core/conn.h"

#include "base/bytes.h"

/* allowance of section 7.2 for a peer's delayed ACK, when one segment is outstanding */
#define WORST_ACK_DELAY SCPS_MS(200)
#define PERSIST         16 /* section 6.2, step 4 */

enum { PROBE_NONE, PROBE_NEW, PROBE_RESENT };

static bool before(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0;
}

scps_dur scps_rack_window(const struct scps_tx *tx, const struct scps_rtt *rtt, unsigned dupthresh)
{
    const struct scps_rack *rk = &tx->rack;

    if (!rk->reordering_seen &&
        (tx->rec.episode != SCPS_EPISODE_NONE || tx->sb.arrived_recs >= dupthresh))
        return 0;
    return SCPS_MIN((rk->steps + 1) * scps_rtt_min(rtt) / 4, rtt->srtt);
}

/* Step 5: detects losses. Returns when to look again; 0: not needed. */
static scps_time detect(struct scps_conn *c, struct scps_ack_result *sum)
{
    struct scps_scoreboard *sb = &c->tx->sb;
    scps_dur limit = c->tx->rack.rtt + scps_rack_window(c->tx, &c->rtt, c->ctx.cfg->c.dupthresh);
    scps_time now = c->ctx.env->now, again = 0;
    struct scps_resent e;
    scps_off named =
        c->agreed.caps & SCPS_CAP_SNACK1 ? SCPS_MIN(scps_snack_reach(c), sb->hi_arrived) : 0;

    if (!c->tx->rack.rtt)
        return 0; /* nothing has arrived yet */
    for (; sb->frontier != sb->tail; scps_sb_pass(sb)) {
        const struct scps_sent_segment *r = scps_sb_at(sb, sb->frontier);
        if (r->state != SCPS_SENT_FLIGHT || r->resends || r->from < named)
            continue;
        if (!before(r->xseq, sb->hi_xseq))
            break;
        if (r->sent + limit > now) {
            again = r->sent + limit;
            break;
        }
        scps_sb_lose(sb, sb->frontier, sum);
    }
    if (!(c->agreed.caps & SCPS_CAP_SNACK1))
        limit = SCPS_MAX(limit, scps_sb_resend_wait(sb, scps_rtt_min(&c->rtt), c->rtt.rto));
    for (; scps_sb_resent_front(sb, &e); scps_sb_resent_drop(sb)) {
        const struct scps_sent_segment *r = scps_sb_at(sb, e.idx);
        if (!scps_sb_resent_live(sb, e))
            continue;
        if (!before(e.xseq, sb->hi_xseq))
            break;
        if (r->sent + limit > now) {
            again = again ? SCPS_MIN(again, r->sent + limit) : r->sent + limit;
            break;
        }
        scps_sb_lose(sb, e.idx, sum);
    }
    return again;
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
static void probe_answered(struct scps_conn *c, bool dsack, bool dup, bool sacked)
{
    struct scps_rack *rk = &c->tx->rack;

    if (c->snd.una < rk->probe_end)
        return;
    /* It acknowledges one transmission or the other; the next acknowledgement shows which. */
    if (rk->probe == PROBE_RESENT && !dsack && c->snd.una == rk->probe_end && !(dup && !sacked))
        return;
    if (rk->probe == PROBE_RESENT && !dsack && c->snd.una > rk->probe_end)
        scps_recovery_repaired(c);
    rk->probe = PROBE_NONE;
}

void scps_rack_ack(struct scps_conn *c, const struct scps_seg *seg, bool dup, bool repaired,
                   struct scps_ack_result *sum)
{
    struct scps_scoreboard *sb = &c->tx->sb;
    struct scps_rack *rk = &c->tx->rack;

    if (sum->newest && sum->newest->xseq == sb->hi_xseq)
        rk->rtt = SCPS_MAX(c->ctx.env->now - sum->newest->sent, 1);
    adapt(rk, c->tx->rec.episode != SCPS_EPISODE_NONE, c->snd.una, c->snd.nxt, sum->dsack,
          repaired);
    if (rk->probe)
        probe_answered(c, sum->dsack, dup, seg->has & SCPS_HAS_SACK);
    if (sum->newest || rk->again)
        rk->again = detect(c, sum);
    if (rk->again) {
        scps_timer_by(&c->ctx, &c->tx->look_timer, rk->again);
    } else if (!scps_timer_runs(&c->tx->look_timer) && c->snd.una != c->snd.nxt)
        scps_rack_arm(c);
}

/* Returns the time without any progress after which a probe is sent. */
static scps_dur probe_timeout(const struct scps_scoreboard *sb, scps_dur srtt)
{
    if (!srtt)
        return SCPS_SEC(1);
    return 2 * srtt + (scps_sb_count(sb) == 1 ? WORST_ACK_DELAY : 0);
}

void scps_rack_arm(struct scps_conn *c)
{
    scps_dur wait = c->rtt.srtt ? 2 * c->rtt.srtt : SCPS_SEC(1); /* at the earliest */

    scps_timer_by(&c->ctx, &c->tx->look_timer, c->ctx.env->now + SCPS_MIN(wait, c->rtt.rto));
}

void scps_rack_timer(struct scps_conn *c)
{
    struct scps_rack *rk = &c->tx->rack;
    struct scps_ack_result sum = {.oldest_sent = -1};
    scps_time quiet, last;

    if (rk->again && rk->again <= c->ctx.env->now) {
        rk->again = detect(c, &sum);
        if (sum.lost) {
            SCPS_OBSERVE_CONN(c, LOST, sum.lost_from, sum.lost, scps_conn_loss_cause(c),
                              SCPS_BY_RACK);
            scps_recovery_lost(c, sum.lost, 0, SCPS_BY_RACK);
            scps_snd_arm_rtx(c);
            scps_conn_wake(c);
        }
    }
    if (rk->again) {
        scps_timer_by(&c->ctx, &c->tx->look_timer, rk->again);
        return;
    }
    /* Section 7.2: no probe while other evidence is expected, or after a probe. */
    if (c->snd.una == c->snd.nxt || c->tx->rec.episode != SCPS_EPISODE_NONE ||
        c->tx->sb.arrived_recs || c->tx->sb.lost || rk->probe || c->todo.bits & SCPS_TODO_PERSIST)
        return;
    last = scps_sb_at(&c->tx->sb, c->tx->sb.tail - 1)->sent; /* a FIN counts, too */
    quiet = SCPS_MAX(c->tx->sent_at, c->tx->progress_at);
    quiet = SCPS_MAX(quiet, last) + probe_timeout(&c->tx->sb, c->rtt.srtt);
    quiet = SCPS_MIN(quiet, SCPS_MIN(c->tx->rto.timer.at, c->outage_timer.at));
    if (quiet > c->ctx.env->now) {
        scps_timer_by(&c->ctx, &c->tx->look_timer, quiet);
        return;
    }
    scps_todo_add(&c->todo, SCPS_TODO_PROBE | SCPS_TODO_TAIL);
    scps_snd_arm_rtx(c); /* The tail probe goes first if both timers are due. */
    scps_conn_wake(c);
}

void scps_rack_probed(struct scps_conn *c, bool resent)
{
    struct scps_rack *rk = &c->tx->rack;

    scps_todo_done(&c->todo, SCPS_TODO_TAIL);
    rk->probe = resent ? PROBE_RESENT : PROBE_NEW;
    rk->probe_end = c->snd.nxt;
    c->ctx.st->tlp_probes++;
    scps_snd_arm_rtx(c);
    SCPS_OBSERVE_CONN(c, PROBE, 2, resent, 0, 0);
}
