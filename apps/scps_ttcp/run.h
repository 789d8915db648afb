/* SPDX-License-Identifier: MIT */
/* Runs one transfer, in virtual or in real time. */
#ifndef SCPS_TTCP_RUN_H
#define SCPS_TTCP_RUN_H

#include "scps_ttcp/progress.h"
#include "scps_ttcp/result.h"

/* These functions run a transfer and fill in *r, with the error if it fails. Interval lines and the
 * progress line go to standard error. */
void ttcp_run_virtual(const struct ttcp_options *o, struct ttcp_result *r);
void ttcp_run_real(const struct ttcp_options *o, struct ttcp_result *r);
/* Implements --server: accepts connections and makes a test of each until SIGINT or SIGTERM.
 * Returns the exit status, after everything has been reported. */
int ttcp_serve(const struct ttcp_options *o);

/* For -u: limits the rate at which stack st sends datagrams to address `to` through interface nif:
 * to the rate of -R or, without -R over a virtual link, to the rate of that link. Returns 0, or an
 * error (SCPS_ERR_*). */
int ttcp_rate_datagrams(const struct ttcp_options *o, struct scps_stack *st, struct scps_netif *nif,
                        const struct scps_addr *to);
/* Opens a filter that writes the packets which pass it to the capture file `path`. epoch: added to
 * all times, µs; now(ctx): returns the time of outgoing packets, µs. Returns NULL, with the reason
 * in r, on failure. */
struct scps_netif *ttcp_capture(struct ttcp_result *r, const char *path, scps_time epoch,
                                scps_time (*now)(void *ctx), void *ctx);
/* Called after the last packet: sets an error in r if a part of the capture file `path` could not
 * be written. tap: the filter that ttcp_capture() has returned; NULL: there is no capture. */
void ttcp_capture_check(struct ttcp_result *r, const struct scps_netif *tap, const char *path);

#endif
