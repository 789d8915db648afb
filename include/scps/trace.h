/* SPDX-License-Identifier: MIT */
/* libscps_trace: writes captures of packets; <scps/analyze.h> reads them. */
#ifndef SCPS_TRACE_H
#define SCPS_TRACE_H

#include <scps/netif.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opens a capture tap: a filter for a chain of netifs (network interfaces) that writes every packet
 * passing it, in both directions, to a pcap file with raw IP (LINKTYPE_RAW) and times in µs.
 * Payload that is counted but not stored (hollow) is written as zeros, at most snaplen bytes of
 * each packet (0: all). epoch: µs since 1970 that are added to packet times, 0 for virtual time.
 * now: the clock for outgoing packets. Returns NULL on failure, with one line in msg. Closing the
 * chain frees the tap. */
SCPS_API struct scps_netif *scps_tap_open(const char *path, uint32_t snaplen, scps_time epoch,
                                          scps_time (*now)(void *ctx), void *ctx, char *msg,
                                          size_t msglen);
/* Returns 0, or SCPS_ERR_SYSTEM with errno if a write of the capture tap to its file has failed (a
 * full disk). */
SCPS_API int scps_tap_error(const struct scps_netif *tap);

#ifdef __cplusplus
}
#endif
#endif
