/* SPDX-License-Identifier: MIT */
/* Limits how many segments or packets of one kind, such as challenge ACKs, are sent in each second
 * (ratelimit.h). */
#include "core/ratelimit.h"

#include "base/bytes.h"
#include "base/prng.h"

/* Returns how many replies may be sent in the second that begins at `now`, µs: a number between
 * half of r->limit and r->limit. It is computed with the host's secret key, so that no attacker can
 * predict it. */
static uint32_t of_second(const struct scps_ratelimit *r, const uint64_t key[2], scps_time now)
{
    uint32_t limit = r->limit;
    uint8_t msg[12];

    scps_put32(msg, (uint32_t)((uint64_t)now >> 32));
    scps_put32(msg + 4, (uint32_t)now);
    scps_put32(msg + 8, limit ^ r->salt);
    return limit - (uint32_t)(scps_siphash(key, msg, sizeof msg) % (limit / 2u + 1));
}

void scps_ratelimit_begin(struct scps_ratelimit *r, uint32_t limit, uint32_t salt, scps_time now)
{
    *r = (struct scps_ratelimit){.limit = limit, .left = limit, .salt = salt, .since = now};
}

bool scps_ratelimit_take(struct scps_ratelimit *r, const uint64_t key[2], scps_time now)
{
    if (now - r->since >= SCPS_SEC(1)) {
        r->since = now;
        r->left = of_second(r, key, now);
    }
    if (!r->left)
        return false;
    r->left--;
    return true;
}
