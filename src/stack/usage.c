/* SPDX-License-Identifier: MIT */
/* Measures the rate at which connections and datagrams send through a netif (usage.h). */
#include "stack/usage.h"

#include "base/bytes.h"
#include "base/wide.h"

#define WINDOW SCPS_SEC(1)
#define FORGET SCPS_SEC(64)

void scps_usage_begin(struct scps_usage *u, scps_time now)
{
    *u = (struct scps_usage){.since = now, .busy_at = now};
}

uint64_t scps_usage_rate(struct scps_usage *u, scps_time now, uint32_t overhead)
{
    scps_dur dt = now - u->since;
    uint64_t sent, rate;

    if (dt < WINDOW)
        return u->rate;
    sent = u->bytes - u->bytes_then + overhead * (u->packets - u->packets_then);
    rate = scps_muldiv(sent, 1000000, (uint64_t)dt);
    u->rate -= dt < FORGET ? scps_muldiv(u->rate, (uint64_t)dt, FORGET) : u->rate;
    u->rate = SCPS_MAX(u->rate, rate);
    u->bytes_then = u->bytes;
    u->packets_then = u->packets;
    u->since = now;
    if (sent)
        u->busy_at = now;
    return u->rate;
}

bool scps_usage_silent(const struct scps_usage *u)
{
    return u->since - u->busy_at >= FORGET;
}
