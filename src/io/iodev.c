/* SPDX-License-Identifier: MIT */
/* Functions for a program that reads a TUN, UDP or terminal device in an event loop of its own, not
 * in that of loop.c. */
#include "io/iodev.h"

struct scps_iodev *scps_iodev_of(const struct scps_netif *nif)
{
    while (nif && nif->lower)
        nif = nif->lower;
    if (!nif ||
        (nif->ops != &scps_tun_ops && nif->ops != &scps_udptun_ops && nif->ops != &scps_tty_ops))
        return NULL;
    return (struct scps_iodev *)nif;
}

int scps_io_fd(const struct scps_netif *nif)
{
    struct scps_iodev *d = scps_iodev_of(nif);
    return d ? d->fd : SCPS_ERR_INVAL;
}

int scps_io_read(struct scps_netif *nif, scps_time at, unsigned max)
{
    struct scps_iodev *d = scps_iodev_of(nif);
    return !d ? SCPS_ERR_INVAL : d->failed ? d->failed : d->read(d, at, max);
}

void scps_io_flush(struct scps_netif *nif)
{
    struct scps_iodev *d = scps_iodev_of(nif);
    if (d && d->flush)
        d->flush(d);
}
