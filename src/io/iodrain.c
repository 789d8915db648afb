/* SPDX-License-Identifier: MIT */
/* Waits, when a program terminates, until a device that has refused a packet may accept it. */
#include "io/iodev.h"

#include <poll.h>

bool scps_iodev_room(struct scps_iodev *d)
{
    scps_time now = scps_sysclock_now();
    struct pollfd p = {.fd = d->fd, .events = POLLOUT};
    int ms;

    if (!d->wait_until)
        d->wait_until = now + SCPS_IO_DRAIN;
    ms = (int)((d->wait_until - now + 999) / 1000);
    if (d->failed || ms <= 0)
        return false;
    /* With SCPS_IO_LATER the descriptor is reported as writable although the device is full, and
     * poll() would return at once, so the function sleeps for 1 ms instead. */
    if (d->block == SCPS_IO_LATER)
        return poll(NULL, 0, 1) == 0;
    return poll(&p, 1, ms) == 1 && p.revents & POLLOUT;
}
