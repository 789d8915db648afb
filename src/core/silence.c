/* SPDX-License-Identifier: MIT */
/* Computes for how long the peer may leave data unanswered before the connection ends (R2 of RFC
 * 9293 section 3.8.3; silence.h). */
#include "core/silence.h"

#include "base/bytes.h"
#include "core/sender.h"

#define R2_DATA SCPS_SEC(100)
/* least first timeout of a SYN in the computation of R2 (RFC 6298 section 2.1) */
#define SYN_RTO    SCPS_SEC(1)
#define SYN_RTO_TO SCPS_SEC(60)

/* Returns the sum, µs, of the intervals of `retries` + 1 timeouts, which begin with `rto` and
 * double up to `max`: the last of them ends the connection. The limit is a time and not a count,
 * because timeouts that are attributed to corruption do not back off, and fifteen of them may be
 * over in seconds. The bounds of the settings (100 years, 65535 retries) permit more than scps_dur
 * can express; such a limit is SCPS_NEVER. */
static scps_dur backoff_total(scps_dur rto, scps_dur max, unsigned retries)
{
    scps_dur total = 0, wait = SCPS_MAX(rto, 1);

    max = SCPS_MAX(max, wait);
    for (; retries && wait < max; retries--) {
        if (total > SCPS_NEVER - wait)
            return SCPS_NEVER;
        total += wait;
        wait = wait > max / 2 ? max : 2 * wait;
    }
    return wait > (SCPS_NEVER - total) / (retries + 1) ? SCPS_NEVER : total + (retries + 1) * wait;
}

/* For data R2 is at least 100 s (SHLD-11). For a SYN the first timeout counts as a second and the
 * limit of the backoff as a minute at least, so with syn_retries 8 the last SYN is sent after 183 s
 * and R2 is 243 s, however short the round trip is expected to be (MUST-23: retransmission "for at
 * least 3 minutes"). A SYN-ACK has the same limit: the peer
 * repeats its SYN as long, and must not complete a handshake that has ended here. */
SCPS_NOINLINE scps_dur scps_silence_limit(const struct scps_conn_config *cfg, bool established,
                                          scps_dur rto, scps_dur max)
{
    if (!established)
        return backoff_total(SCPS_MAX(rto, SYN_RTO), SCPS_MAX(max, SYN_RTO_TO), cfg->syn_retries);
    return SCPS_MAX(R2_DATA, backoff_total(rto, max, cfg->data_retries));
}

int scps_silence_err(uint8_t soft)
{
    static const int err[] = {[SCPS_SOFT_NONE] = SCPS_ERR_TIMEDOUT,
                              [SCPS_SOFT_REFUSED] = SCPS_ERR_REFUSED,
                              [SCPS_SOFT_UNREACH] = SCPS_ERR_UNREACH};

    return err[soft];
}
