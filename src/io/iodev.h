/* SPDX-License-Identifier: MIT */
/* The interface between the loop and a device: a file descriptor to watch, a function that reads a
 * batch and, after the device refused a packet, the condition under which it can take one again. */
#ifndef SCPS_IO_IODEV_H
#define SCPS_IO_IODEV_H

#include <scps/error.h>
#include <scps/io.h>
#include <scps/netif.h>

enum scps_io_block {
    SCPS_IO_FREE, /* the device can take a packet now */
    SCPS_IO_POLL, /* the device can take a packet when its descriptor is writable */
    /* The device can take a packet a moment later: its descriptor is writable, and yet a write is
     * refused (ENOBUFS). */
    SCPS_IO_LATER,
};

struct scps_iodev {
    struct scps_netif nif; /* first member: the netif chain points to it */
    int fd;
    enum scps_io_block block;
    int failed; /* SCPS_ERR_LINKDOWN once the device has gone; 0 before */
    /* When the wait ends in which a terminating program lets the device take its last packets, µs;
     * 0: the wait has not begun. scps_iodev_room() sets it. */
    scps_time wait_until;
    /* Passes at most max waiting packets up with the arrival time `at`, µs; a datagram that holds
     * several packets is passed up completely. Returns 1 when more may be waiting, 0 when none is,
     * or SCPS_ERR_LINKDOWN. */
    int (*read)(struct scps_iodev *d, scps_time at, unsigned max);
    /* Sends the packets that send() has collected. NULL: send() collects none. */
    void (*flush)(struct scps_iodev *d);
};

/* Returns true if the kernel accepts name for a device. */
bool scps_tun_name_is_good(const char *name);
/* Returns true if terminal lines have this speed, bit/s. */
bool scps_tty_has_speed(uint32_t bits);
/* Checks that path may be a terminal line. Returns 0, or SCPS_ERR_INVAL with one line in msg that
 * begins with option. scps_tty_open() reports a line that exists and cannot be opened. */
int scps_tty_check(const char *option, const char *path, char msg[SCPS_IO_MSGLEN]);
/* Opens a line as scps_tty_open() does; messages begin with `option`. */
struct scps_netif *scps_tty_open_for(const char *option, const struct scps_tty_config *cfg,
                                     char msg[SCPS_IO_MSGLEN]);

extern const struct scps_netif_ops scps_tun_ops, scps_udptun_ops, scps_tty_ops;

/* Longest time, µs, that a terminating program waits for a full device to take its last packets. */
#define SCPS_IO_DRAIN SCPS_SEC(1)
/* Waits until a full device may have room, at most SCPS_IO_DRAIN since the first call. Returns
 * false when that time has passed or the device has failed. */
bool scps_iodev_room(struct scps_iodev *d);

/* Returns the device at the bottom of nif's chain; NULL if it was not opened by this library. */
struct scps_iodev *scps_iodev_of(const struct scps_netif *nif);

#endif
