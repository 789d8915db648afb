/* SPDX-License-Identifier: MIT */
/* What the event loop needs of a device: a file descriptor to watch, a function that reads waiting
 * packets and, after the device refused a packet, the condition under which it can accept one
 * again. */
#ifndef SCPS_IO_IODEV_H
#define SCPS_IO_IODEV_H

#include <scps/error.h>
#include <scps/io.h>
#include <scps/netif.h>

enum scps_io_block {
    SCPS_IO_FREE, /* the device can accept a packet now */
    SCPS_IO_POLL, /* the device can accept a packet when its descriptor is writable */
    /* The device can accept a packet some time later, and only another attempt shows when: a write
     * fails with ENOBUFS, although poll() reports the descriptor as writable. */
    SCPS_IO_LATER,
};

struct scps_iodev {
    /* first member: a pointer to this netif is also a pointer to the device */
    struct scps_netif nif;
    int fd;
    enum scps_io_block block;
    int failed; /* SCPS_ERR_LINKDOWN when the device has gone; 0: it works */
    /* When a program terminates, it waits until this time, µs, for the device to accept packets
     * that it has refused; 0: the wait has not begun. scps_iodev_room() sets it. */
    scps_time wait_until;
    /* Reads at most max packets that wait in the device and passes them up the netif chain with the
     * arrival time `at`, µs, but more than max if one UDP datagram contains more packets (UDP_GRO),
     * which are never split. Returns 1 when more may be waiting, 0 when none is, or
     * SCPS_ERR_LINKDOWN. */
    int (*read)(struct scps_iodev *d, scps_time at, unsigned max);
    /* Not NULL: a terminal line (tty.c) reads one octet at a time, and reads none while this
     * function, called with stop_ctx before each octet, returns true. What the line has received
     * then waits in the kernel. */
    bool (*stop)(void *ctx);
    void *stop_ctx;
    /* Sends the packets that the netif's send() has collected. NULL: send() collects no packets. */
    void (*flush)(struct scps_iodev *d);
};

/* Returns true if the kernel accepts this name for a network device. */
bool scps_tun_name_is_good(const char *name);
/* Returns true if the kernel's terminal interface has a constant for this speed, bit/s
 * (termios(3)). */
bool scps_tty_has_speed(uint32_t bits);
/* Checks that path exists and may be a terminal line. Returns 0, or SCPS_ERR_INVAL with one line in
 * msg that begins with option. A line that exists and cannot be opened passes this check;
 * scps_tty_open() reports it. */
int scps_tty_check(const char *option, const char *path, char msg[SCPS_IO_MSGLEN]);
/* Opens a line as scps_tty_open() does; messages begin with `option`, the name of the option that
 * the user gave. */
struct scps_netif *scps_tty_open_for(const char *option, const struct scps_tty_config *cfg,
                                     char msg[SCPS_IO_MSGLEN]);

extern const struct scps_netif_ops scps_tun_ops, scps_udptun_ops, scps_tty_ops;

/* Longest time, µs, that a terminating program waits for a full device to accept its last
 * packets. */
#define SCPS_IO_DRAIN SCPS_SEC(1)
/* Called by a terminating program: waits until a device that refused a packet may accept one, at
 * most SCPS_IO_DRAIN since the first call. Returns false when that time has passed or the device
 * has failed. */
bool scps_iodev_room(struct scps_iodev *d);

/* Returns the device at the bottom of the chain of netifs below nif: filters, such as that of PPP,
 * are stacked on one device. NULL: the device was not opened by this library. */
struct scps_iodev *scps_iodev_of(const struct scps_netif *nif);

#endif
