/* SPDX-License-Identifier: MIT */
/* What a device of this library is to the loop: a file descriptor to watch, a batch to read, and,
 * after it refused a packet, what has to happen before it can take one again. */
#ifndef SCPS_IO_IODEV_H
#define SCPS_IO_IODEV_H

#include <scps/error.h>
#include <scps/io.h>
#include <scps/netif.h>

enum scps_io_block {
    SCPS_IO_FREE,  /* takes packets */
    SCPS_IO_POLL,  /* when the descriptor is writable */
    SCPS_IO_LATER, /* in a moment: the descriptor says writable and refuses (ENOBUFS) */
};

struct scps_iodev {
    struct scps_netif nif; /* first: the chain knows only this */
    int fd;
    enum scps_io_block block;
    int failed; /* SCPS_ERR_LINKDOWN once the device is gone; else 0 */
    /* Hands waiting packets up, all stamped with `at`, until max have been (a datagram that holds
     * several is finished). Returns 1 when more may be waiting, 0 when drained, or
     * SCPS_ERR_LINKDOWN. */
    int (*read)(struct scps_iodev *d, scps_time at, unsigned max);
    /* Sends what send() has only gathered. NULL: it gathers nothing. */
    void (*flush)(struct scps_iodev *d);
};

extern const struct scps_netif_ops scps_tun_ops, scps_udptun_ops, scps_tty_ops;

/* The device at the bottom of the chain nif belongs to; NULL if it is not one of ours. */
struct scps_iodev *scps_iodev_of(const struct scps_netif *nif);

#endif
