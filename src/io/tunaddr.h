/* SPDX-License-Identifier: MIT */
/* Configures the kernel's side of a TUN device by rtnetlink (MTU, up, addresses), and restores the
 * former state. */
#ifndef SCPS_IO_TUNADDR_H
#define SCPS_IO_TUNADDR_H

#include <scps/io.h>

struct scps_tunlink { /* state of a network device, as the kernel reports it */
    int index;        /* interface index; 0: there is no such device */
    uint32_t mtu;
    bool up;
    /* true: the device carries Ethernet frames, not IP packets: it is a TAP device or a network
     * card */
    bool ethernet;
};

/* Writes a message of one line to msg; msg NULL: does nothing. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void scps_io_message(char *msg, const char *fmt, ...);
/* Copies a configuration of n octets, which a program that was compiled with an older version of
 * the structure may have passed, to `to`, which has `most` octets and is zeroed first. Returns
 * false, with one line in msg, if n is below `least` or a size that this version does not know. */
bool scps_io_take(void *to, size_t most, const void *from, size_t n, size_t least, char *msg);

/* Sets *out to the state of the network device `name`; out->index 0: there is no such device.
 * Returns 0, or SCPS_ERR_SYSTEM with one line in msg. */
int scps_tunlink_find(const char *name, struct scps_tunlink *out, char *msg);

/* changes that scps_tunaddr_setup() has made to the device with this interface index, for
 * scps_tunaddr_undo() */
struct scps_tunundo {
    int index;
    uint32_t mtu; /* MTU before the change, bytes; 0: it was not changed */
    bool down;    /* true: the device was down before the change */
    /* element i belongs to scps_tun_config.kernel_addr[i]: the address if it was added; family 0:
     * it was not, because the device had it already or none is configured */
    struct scps_addr added[4];
    struct scps_addr peer[4];
    unsigned prefix[4];
};

/* Sets the MTU of device `name` to cfg's, brings the device up and adds cfg's addresses; changes
 * only what differs, and needs no privilege if nothing does. *link: before the call the state of
 * the device, afterwards the state in force. Returns 0, or SCPS_ERR_PERM, SCPS_ERR_NOMEM or
 * SCPS_ERR_SYSTEM with an error message of one line in msg; *undo then holds what was changed so
 * far. */
int scps_tunaddr_setup(const char *name, const struct scps_tun_config *cfg,
                       struct scps_tunlink *link, struct scps_tunundo *undo, char *msg);
/* Reverts the changes in *undo, as far as the kernel permits. */
void scps_tunaddr_undo(const struct scps_tunundo *undo);

#endif
