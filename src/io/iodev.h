/* SPDX-License-Identifier: MIT */
/* The interface between the loop and a device: a file descriptor to watch, a function that reads a
 * batch and, after the device refused a packet, the condition under which it can take one again. */
#ifndef SCPS_IO_IODEV_H
#define SCPS_IO_IODEV_H

#include <scps/error.h>
#include <scps/io.h>
#include <scps/netif.h>

enum scps_io_block {
    SCPS_IO_FREE, /* takes packets */
    SCPS_IO_POLL, /* The device can take a packet when its descriptor is writable */
    /* The device can take a packet a moment later: its descriptor is writable and yet refuses
     * (ENOBUFS) */
    SCPS_IO_LATER,
};

struct scps_iodev {
    struct scps_netif nif; /* first member: the netif chain points to it */
    int fd;
    enum scps_io_block block;
    int failed; /* SCPS_ERR_LINKDOWN once the device is gone; else 0 */
    /* Passes at most max waiting packets up with the time `at` (a datagram that holds several is
     * finished). Returns 1 when more may be waiting, 0 when drained, or SCPS_ERR_LINKDOWN. */
    int (*read)(struct scps_iodev *d, scps_time at, unsigned max);
    /* Sends what send() has gathered. NULL: send() gathers nothing. */
    void (*flush)(struct scps_iodev *d);
};

extern const struct scps_netif_ops scps_tun_ops, scps_udptun_ops, scps_tty_ops;

/* Returns the device at the bottom of nif's chain; NULL if it was not opened by this library. */
struct scps_iodev *scps_iodev_of(const struct scps_netif *nif);

#endif
