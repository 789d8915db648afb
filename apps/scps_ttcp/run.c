/* SPDX-License-Identifier: MIT */
/* Functions that both kinds of transfer use, those in real time and those in virtual time. */
#include "scps_ttcp/run.h"

#include <scps/error.h>
#include <scps/trace.h>

#include <errno.h>
#include <string.h>

int ttcp_rate_datagrams(const struct ttcp_options *o, struct scps_stack *st, struct scps_netif *nif,
                        const struct scps_addr *to)
{
    const struct scps_conn_config c = ttcp_conn_config(o, true);
    struct scps_route r = {.dst = *to,
                           .prefix = to->family == 4 ? 32 : 128,
                           .nif = nif,
                           .rate = c.rate,
                           .burst = c.burst,
                           .overhead.packet = (uint16_t)c.rate_overhead};

    if (o->link && r.rate == 0)
        r.rate = o->fwd.rate_bps / 8;
    return r.rate != 0 ? scps_stack_add_route(st, &r) : 0;
}

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
        ttcp_result_file_failed(r, "%.200s: %s: the capture is incomplete: write elsewhere", path,
                                strerror(errno));
}
