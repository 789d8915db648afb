/* SPDX-License-Identifier: MIT */
/* Decides what is sent: the functions of snd.c, snddata.c, sndtimer.c, snd_outage.c, rto.c and
 * persist.c. */
#ifndef SCPS_CORE_SND_H
#define SCPS_CORE_SND_H

#include <scps/conn.h>
#include <scps/wire.h>

#include "core/hold.h"
#include "core/persist.h"
#include "core/rto.h"
#include "core/sender.h"

struct scps_conn;

/* Makes in *seg the next segment with data, a window probe (RFC 9293 section 3.8.6.1) or a tail
 * loss probe (RFC 8985 section 7). Precondition: c->s.tx is not NULL. Returns false if none may be
 * sent; the reason is then in c->s.hold. */
bool scps_snd_data(struct scps_conn *c, struct scps_seg *seg);
/* Returns true in the TCP states in which data or a FIN may be sent. */
static inline bool scps_snd_may_send(uint8_t state, const struct scps_tx *tx)
{
    switch (state) {
    case SCPS_ESTABLISHED:
    case SCPS_CLOSE_WAIT:
    case SCPS_FIN_WAIT_1:
    case SCPS_CLOSING:
    case SCPS_LAST_ACK:
        return tx != NULL;
    default:
        return false;
    }
}
/* Called when the peer's window has changed while window probes are sent (SCPS_TODO_PERSIST): if it
 * is open now, ends probing and lets data be sent; otherwise probing continues. */
void scps_snd_window_changed(struct scps_sender *s);
/* Starts the retransmission timer for a segment that is sent at `from`, which is now or later. */
void scps_snd_arm_rtx_from(struct scps_sender *s, scps_time from);
#define scps_snd_arm_rtx(s) scps_snd_arm_rtx_from(s, (s)->ctx.env->now)
/* Returns the retransmission timeout `rto`, µs, after backoff: doubled for each timeout that the
 * peer has not answered, or for each one since the last RTT sample if those are more (RFC 6298,
 * first note of section 5); at most `max`, µs. */
scps_dur scps_rto_backed_off(const struct scps_sender *s, scps_dur rto, scps_dur max);
/* Returns true if the peer has not answered for R2 (RFC 9293 section 3.8.3) since
 * tx->silence.since, the beginning of the series of timeouts or window probes. R2 is the time, µs,
 * that the configured number of retries takes with a timer that doubles up to max, µs; at least 100
 * s for data (silence.c). Precondition: s->tx is not NULL, and a timeout or a probe has set
 * tx->silence.since. */
bool scps_snd_silent_too_long(const struct scps_sender *s, scps_dur max);
/* Begins an outage of the link. until: its end, µs; SCPS_NEVER: unknown. inferred: the outage was
 * concluded from timeouts, not signalled. */
void scps_snd_outage(struct scps_conn *c, scps_time until, bool inferred);
void scps_snd_outage_over(struct scps_conn *c);
/* Returns the interval before the next probe of an outage, µs. */
scps_dur scps_snd_outage_interval(const struct scps_sender *s);
/* Called when a valid segment of the peer arrives during an outage: ends the outage, unless a
 * signal reported less than a round trip ago (tp->deaf_until) that the link has failed, because the
 * segment may have been on its way then. */
void scps_snd_outage_heard(struct scps_conn *c);
/* Called when the timer of an outage of the link expires. If the driver has signalled when the
 * outage ends, the timer has expired at that time, and the outage is ended. Otherwise a probe
 * becomes due, which tests whether the link works again; or the connection ends, if the outage was
 * only inferred from timeouts, the application has closed the connection, and many probes were not
 * answered. */
void scps_snd_outage_timer(struct scps_conn *c);
/* Called when the driver signals (SCPS_SIGNAL_PATH) that the round trip of the path is rtt, µs,
 * from now on: replaces SRTT by rtt, computes the RTO from that, and restarts a running
 * retransmission timer. Has no effect before the first RTT sample. */
void scps_snd_path(struct scps_sender *s, scps_dur rtt);
/* Called when the configuration has changed, outside outages: if the retransmission timer or the
 * persist timer runs, it expires no later than if it were set now. */
void scps_snd_hasten(struct scps_sender *s);
/* Attributes losses to `cause` until the time `until`. tx NULL: nothing is outstanding that could
 * be lost, so this has no effect. */
void scps_snd_cause(struct scps_tx *tx, enum scps_loss_cause cause, scps_time until);
/* Best effort: gives up the segments at SND.UNA that begin below the offset `old` (from
 * scps_bets_old()), and those that were resent too often. Precondition: c->s.tx is not NULL. */
void scps_snd_give_up(struct scps_conn *c, scps_off old);
/* scps_snd_timeout() is called when the retransmission timer has expired. It declares lost the SYN,
 * or the data sent a round trip ago or longer (all data without SACK and SNACK); with best effort
 * it gives up data whose lifetime is over. scps_snd_probe_timeout() is called when the timer of
 * window probes has expired. Both end the connection if the peer has not answered for R2 or the
 * user timeout. Precondition: c->s.tx is not NULL. */
void scps_snd_timeout(struct scps_conn *c);
void scps_snd_probe_timeout(struct scps_conn *c);

#endif
