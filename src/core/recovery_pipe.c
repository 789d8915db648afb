/* SPDX-License-Identifier: MIT */
/* Computes how many bytes may be in flight during recovery, and how many are: "pipe" of RFC 6675
 * section 4.
 *
 * Without SACK each duplicate acknowledgement stands for one segment that left the network (RFC
 * 5681 section 3.2). recovery.c begins and ends the episodes whose state this file reads.
 */
#include "core/recovery.h"

#include "base/bytes.h"
#include "base/wide.h"
#include "core/tx.h"

/* Number of consecutive timeouts after which the peer counts as silent, if meanwhile no ACK, SACK
 * or SNACK has reported that data arrived. */
#define SILENT 2
/* number of full segments that may be outstanding, after a timeout, while the peer counts as silent
 * (scps_recovery_only_probes): an initial window (RFC 6928) */
#define PROBES 10

SCPS_NOINLINE_SIZE uint64_t scps_recovery_inflight(const struct scps_tx *tx)
{
    uint64_t in = tx->sb.inflight;

    return in > tx->rec.virtual_arrived ? in - tx->rec.virtual_arrived : 0;
}

uint32_t scps_recovery_small_len(const struct scps_sender *s)
{
    uint64_t out = s->snd.nxt - s->snd.una, n = scps_sb_count(&s->tx->sb);

    return out < n * (uint32_t)(s->agreed.mss / 2) ? (uint32_t)(out / n) : 0;
}

bool scps_recovery_only_probes(const struct scps_tx *tx, uint64_t outstanding, uint32_t mss)
{
    return tx->rec.silent && (tx->rec.unheard || tx->rec.silent >= SILENT) && !tx->rec.link_up &&
           outstanding > (uint64_t)PROBES * mss;
}

uint64_t scps_recovery_probe_rate(scps_dur rto, uint32_t packet)
{
    return SCPS_MAX(scps_muldiv((uint64_t)PROBES * packet, 1000000, (uint64_t)rto), 1);
}

uint64_t scps_recovery_window(struct scps_sender *s)
{
    uint64_t window = scps_recovery_reduces(s) ? s->tx->rec.window : s->ctl.cwnd;

    if (scps_recovery_only_probes(s->tx, s->snd.nxt - s->snd.una, s->agreed.mss))
        window = SCPS_MIN(window, (uint64_t)PROBES * s->agreed.mss);
    return window;
}

uint64_t scps_recovery_rate(struct scps_sender *s)
{
    struct scps_recovery *rec = &s->tx->rec;
    uint64_t window = scps_recovery_window(s), rate;

    if (!rec->spread_until)
        return 0;
    if (s->ctx.env->now >= rec->spread_until ||
        window <= scps_recovery_inflight(s->tx) + 2 * (uint64_t)s->agreed.mss) {
        rec->spread_until = 0;
        return 0;
    }
    /* The pacing rate for the round trip after a timeout or a gap in sending is a sixteenth above
     * one window per round trip. At a lower rate the window would never be full; at a higher one a
     * larger part of the window would wait in a queue, and be lost if the queue is short. */
    rate = scps_muldiv(s->ctl.cwnd + s->ctl.cwnd / 16, 1000000,
                       (uint64_t)scps_rtt_to_spread(&s->rtt, s->tx->rto.latest));
    /* The rate is rounded up, because on a round trip of minutes it is only a few bytes/s. */
    return rate + 1;
}

bool scps_recovery_is_impatient(const struct scps_sender *s)
{
    return s->tx->rec.partial && s->tx->rec.episode == SCPS_EPISODE_FAST &&
           !scps_agreed_reports(&s->agreed);
}
