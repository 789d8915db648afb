/* SPDX-License-Identifier: MIT */
/* Measures the rate at which connections and datagrams send through a netif, because replies to
 * packets that belong to no connection may use only what is left of the rate of the device
 * (reply.c).
 *
 * The totals are state of this measurement; the counters of struct scps_netif, which a device may
 * change, are not read. Only usage.h and usage.c assign the fields.
 */
#ifndef SCPS_STACK_USAGE_H
#define SCPS_STACK_USAGE_H

#include <scps/types.h>
#include <stdbool.h>

struct scps_usage {
    /* number of IP bytes of all packets that connections and datagrams have sent through the netif
     * since it was attached */
    uint64_t bytes;
    /* time of the last measurement of `rate` by scps_usage_rate(), or the time at which the netif
     * was attached if there was none, µs */
    scps_time since;
    /* number of packets that connections and datagrams have sent through the netif since it was
     * attached. It does not follow `bytes` directly, because gcc would then add to both with vector
     * instructions, which takes more instructions. */
    uint64_t packets;
    uint64_t bytes_then, packets_then; /* `bytes` and `packets` at the last measurement */
    /* end of the last period in which connections or datagrams sent something, or the time at which
     * the netif was attached, µs */
    scps_time busy_at;
    /* rate at which connections and datagrams sent in the period measured last, or the decayed rate
     * of earlier periods if that is higher, bytes/s; the framing that the device adds is
     * included */
    uint64_t rate;
};

/* Called when a netif is attached to the stack, at time `now`: sets all totals and the measured
 * rate of what connections and datagrams send through the netif to 0. */
void scps_usage_begin(struct scps_usage *u, scps_time now);
/* Counts a packet of a connection or an endpoint, len bytes with its IP header. */
static inline void scps_usage_sent(struct scps_usage *u, size_t len)
{
    u->packets++;
    u->bytes += len;
}
/* Takes the packet of len bytes that scps_usage_sent() has just counted out of the measurement: it
 * is a SYN-ACK, which any host can cause. */
static inline void scps_usage_leave_out(struct scps_usage *u, size_t len)
{
    u->packets_then++;
    u->bytes_then += len;
}
/* Returns true if the netif was attached, and connections and datagrams last sent something, at
 * least a minute (64 s) before the last call of scps_usage_rate(). */
bool scps_usage_silent(const struct scps_usage *u);
/* Returns the rate, bytes/s, at which connections and datagrams send through the netif: the highest
 * of the recent periods of one second or more. Older values count less and less, and not at all
 * after 64 s. overhead: bytes that the device adds to each packet. */
uint64_t scps_usage_rate(struct scps_usage *u, scps_time now, uint32_t overhead);

#endif
