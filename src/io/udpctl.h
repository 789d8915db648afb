/* SPDX-License-Identifier: MIT */
/* Control messages of the sockets of IP in UDP: trains of datagrams and the ECN field of the outer
 * IP header. */
#ifndef SCPS_IO_UDPCTL_H
#define SCPS_IO_UDPCTL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* Room for both messages, of either direction. */
union scps_udpctl {
    char room[2 * CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
};

/* Switches on the reports of both for a socket of this family, as far as the system has them. */
void scps_udpctl_listen(int fd, int family);
/* Reads the length of the packets in a datagram that the kernel put together, 0 if there are none,
 * and the ECN field of its IP header. */
void scps_udpctl_read(const struct msghdr *m, int *seg, uint8_t *ecn);
/* Asks for datagrams of seg bytes each (0: the message is one) with this ECN field in their IP
 * headers. ipv4: the headers are those of IPv4. m->msg_control is ctl afterwards, or NULL. */
void scps_udpctl_write(struct msghdr *m, union scps_udpctl *ctl, uint16_t seg, uint8_t ecn,
                       int ipv4);

#endif
