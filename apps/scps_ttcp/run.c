/* SPDX-License-Identifier: MIT */
/* What both kinds of run share. */
#include "scps_ttcp/run.h"

#include <scps/error.h>
#include <scps/trace.h>

#include <errno.h>
#include <string.h>

struct scps_netif *ttcp_capture(struct ttcp_result *r, const char *path, scps_time epoch,
                                scps_time (*now)(void *ctx), void *ctx)
{
    char msg[TTCP_MSGLEN];
    struct scps_netif *tap = scps_tap_open(path, 0, epoch, now, ctx, msg, sizeof(msg));

    if (tap == NULL)
        ttcp_result_fail(r, TTCP_FAILED, "%s", msg);
    return tap;
}

void ttcp_capture_check(struct ttcp_result *r, const struct scps_netif *tap, const char *path)
{
    if (tap != NULL && scps_tap_error(tap) != 0)
        ttcp_result_fail(r, TTCP_FAILED, "%.200s: %s: the capture is incomplete: write elsewhere",
                         path, strerror(errno));
}

/* splitmix64: one call a value, any input is as good as another. */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

void ttcp_seed(uint64_t seed, uint64_t salt, uint64_t out[2])
{
    out[0] = mix(mix(seed) + 2 * salt);
    out[1] = mix(mix(seed) + 2 * salt + 1);
}
