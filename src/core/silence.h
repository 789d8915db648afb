/* SPDX-License-Identifier: MIT */
/* A series of timeouts, or of window probes, that the peer has not answered, and the time after
 * which it ends the connection: R2 of RFC 9293 section 3.8.3.
 *
 * Invariant: only this file and silence.c assign the fields.
 */
#ifndef SCPS_CORE_SILENCE_H
#define SCPS_CORE_SILENCE_H

#include <scps/conn.h>

struct scps_silence {
    /* time, µs, at which the series of timeouts or window probes began; valid while `unanswered` is
     * not 0 */
    scps_time since;
    uint16_t unanswered; /* number of timeouts, or of window probes, since the peer last answered */
};

/* Records that the peer has answered, so the series of unanswered timeouts or window probes is
 * over. */
static inline void scps_silence_answered(struct scps_silence *s)
{
    s->unanswered = 0;
}
/* Counts an expiry of the retransmission timer, or of the timer of window probes. */
static inline void scps_silence_count(struct scps_silence *s)
{
    if (s->unanswered < UINT16_MAX)
        s->unanswered++;
}
/* Sets the number of timeouts that the peer has not answered, when the sending state (struct
 * scps_tx), which was freed meanwhile, is allocated again. */
static inline void scps_silence_go_on(struct scps_silence *s, uint16_t unanswered)
{
    s->unanswered = unanswered;
}
/* Sets the time, µs, at which the series of timeouts or window probes without an answer began. */
static inline void scps_silence_since(struct scps_silence *s, scps_time since)
{
    s->since = since;
}
/* Returns R2 of RFC 9293 section 3.8.3, µs: the time without an answer of the peer after which the
 * connection ends. rto: first interval of the timer, µs; max: upper limit of its backoff, µs;
 * established false: during the handshake, for which R2 follows from syn_retries. */
scps_dur scps_silence_limit(const struct scps_conn_config *cfg, bool established, scps_dur rto,
                            scps_dur max);
/* Returns the error (SCPS_ERR_...) that ends a connection whose peer has been silent for longer
 * than R2. soft: enum scps_soft, the last ICMP error. */
int scps_silence_err(uint8_t soft);

#endif
