/* SPDX-License-Identifier: MIT */
/* Ping-pong, as the option -e of the SCPS reference implementation's ttcp does it: measures the
 * time of a transaction, whereas a stream measures the capacity of the path.
 *
 *     sender     block ------------> compare, time ; block ----->
 *     receiver          read, write ->                     ...
 *
 * A block counts in the results (number of transactions and their times) when all of it has
 * returned. If a returned byte differs from the block, or more bytes return than the sender waits
 * for, the transfer fails with e->differs true.
 */
#include "scps_ttcp/echo.h"

#include <scps/error.h>

#include <string.h>

void ttcp_echo_begin(struct ttcp_echo *e, const uint8_t *block, size_t len, scps_time now)
{
    e->block = block;
    e->len = len;
    e->back = 0;
    e->began = now;
}

static bool same(const struct ttcp_echo *e, const uint8_t *data, size_t n)
{
    return n <= e->len - e->back && (e->block == NULL || memcmp(e->block + e->back, data, n) == 0);
}

static void returned(struct ttcp_echo *e, scps_dur took)
{
    if (e->count == 0 || took < e->min)
        e->min = took;
    if (took > e->max)
        e->max = took;
    e->sum += took;
    e->count++;
}

int ttcp_echo_read(struct ttcp_echo *e, struct scps_conn *c, scps_time now)
{
    uint8_t data[16384];
    int64_t n;

    while ((n = scps_conn_read(c, e->block != NULL ? data : NULL, sizeof(data), 0)) > 0) {
        if (!same(e, data, (size_t)n)) {
            e->differs = true;
            return SCPS_ERR_INVAL;
        }
        e->back += (size_t)n;
        e->bytes += (uint64_t)n;
        if (!ttcp_echo_waits(e))
            returned(e, now - e->began);
    }
    if (n == 0 && ttcp_echo_waits(e)) {
        e->ended = true;
        return SCPS_ERR_INVAL;
    }
    return n < 0 && n != SCPS_ERR_AGAIN ? (int)n : 0;
}
