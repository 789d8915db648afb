/* SPDX-License-Identifier: MIT */
/* One end of the emulated link: a TUN device, which may be in another network namespace. If
 * --pcap-a or --pcap-b names a capture file for this end, the packets that pass the device are
 * written to it. */
#ifndef SCPS_LINK_END_H
#define SCPS_LINK_END_H

#include "scps_link/options.h"
#include "scps_link/spool.h"

struct link_end {
    /* The uppermost of a chain of network interfaces: the device, then the capture, if any, then
     * this one. Its function recv gets the packets that the kernel sends to the device. It is the
     * first member, so that a pointer to it can be cast to a pointer to struct link_end. */
    struct scps_netif nif;
    const struct link_end_options *o;
    /* tap: the capture filter below nif, NULL: there is no capture; tun: the device */
    struct scps_netif *tap, *tun;
    /* descriptors of network namespaces. home: namespace of the program; ns: namespace of the
     * device. Both are -1 if the device is in the program's own namespace. */
    int home, ns;
    struct spool spool; /* process that writes the capture */
    uint64_t overrun_base;
    void (*arrived)(struct link_end *e, const struct scps_pkt *pkt);
    void *ctx;
};

/* Opens the device of an end, gives it its addresses and brings it up. far: the other end's
 * options, for the peers of addresses without prefix. arrived: function that is called from
 * scps_io_read() with each packet that the kernel sends, and with ctx in e->ctx. epoch: real time
 * minus the monotonic clock, µs, for the times in the capture. Returns 0, or -1 with one line in
 * msg and nothing left open. */
int link_end_open(struct link_end *e, const struct link_end_options *o,
                  const struct link_end_options *far, uint32_t mtu, scps_time epoch,
                  void (*arrived)(struct link_end *e, const struct scps_pkt *pkt), void *ctx,
                  char msg[LINK_MSGLEN]);
/* Closes the end's device and capture. Returns 0, or -1 with one line in msg if the capture could
 * not be written completely. */
int link_end_close(struct link_end *e, char msg[LINK_MSGLEN]);
/* Returns the name of the device that was opened; for "tun%d" the kernel chooses one such as
 * "tun0". */
const char *link_end_device(const struct link_end *e);
/* Sends a packet to the kernel. Returns what scps_netif_send() returns. */
int link_end_send(struct link_end *e, const struct scps_pkt *pkt);
/* Returns how many packets that the kernel routed to the device it has dropped since the device was
 * opened, because the emulator did not read them fast enough and the device's queue was full. */
uint64_t link_end_overruns(const struct link_end *e);
#endif
