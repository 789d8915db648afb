/* SPDX-License-Identifier: MIT */
/* One transfer, in virtual or in real time. */
#ifndef SCPS_TTCP_RUN_H
#define SCPS_TTCP_RUN_H

#include "scps_ttcp/progress.h"
#include "scps_ttcp/result.h"

/* Both fill r; what went wrong is in it. Interval lines and the progress line go to standard
 * error. */
void ttcp_run_virtual(const struct ttcp_options *o, struct ttcp_result *r);
void ttcp_run_real(const struct ttcp_options *o, struct ttcp_result *r);
/* --server: one test after another. Returns the exit status; everything has been reported. */
int ttcp_serve(const struct ttcp_options *o);

/* -u: what leaves by nif for to keeps to -R, or on a link to the line's own rate. 0 or an error. */
int ttcp_rate_datagrams(const struct ttcp_options *o, struct scps_stack *st, struct scps_netif *nif,
                        const struct scps_addr *to);
/* Begins a capture; NULL and a failed result when that cannot be. now tells outgoing packets'
 * times. */
struct scps_netif *ttcp_capture(struct ttcp_result *r, const char *path, scps_time epoch,
                                scps_time (*now)(void *ctx), void *ctx);
/* After the last packet: has all of it been written? tap may be NULL. */
void ttcp_capture_check(struct ttcp_result *r, const struct scps_netif *tap, const char *path);

#endif
