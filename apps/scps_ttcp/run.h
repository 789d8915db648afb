/* SPDX-License-Identifier: MIT */
/* Runs one transfer, in virtual or in real time. */
#ifndef SCPS_TTCP_RUN_H
#define SCPS_TTCP_RUN_H

#include "scps_ttcp/progress.h"
#include "scps_ttcp/result.h"

/* Run a transfer and fill in r, with its errors. Interval lines and the progress line go to
 * standard error. */
void ttcp_run_virtual(const struct ttcp_options *o, struct ttcp_result *r);
void ttcp_run_real(const struct ttcp_options *o, struct ttcp_result *r);
/* Runs --server: serves one test after another. Returns the exit status, after everything has been
 * reported. */
int ttcp_serve(const struct ttcp_options *o);

/* For -u: limits datagrams to `to` through nif to the rate of -R, or on a virtual link to the rate
 * of the line. Returns 0 or an error. */
int ttcp_rate_datagrams(const struct ttcp_options *o, struct scps_stack *st, struct scps_netif *nif,
                        const struct scps_addr *to);
/* Opens a netif that writes the packets which pass it to the capture file at path. now: the clock
 * for outgoing packets. Returns NULL on failure, with the reason in r. */
struct scps_netif *ttcp_capture(struct ttcp_result *r, const char *path, scps_time epoch,
                                scps_time (*now)(void *ctx), void *ctx);
/* Sets an error in r if part of the capture could not be written. Call it after the last packet.
 * tap may be NULL. */
void ttcp_capture_check(struct ttcp_result *r, const struct scps_netif *tap, const char *path);

#endif
