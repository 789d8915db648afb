/* SPDX-License-Identifier: MIT */
/* Control messages (cmsg) of UDP sockets that carry IP packets: the segment size of joined
 * datagrams (UDP_GRO, UDP_SEGMENT), and the ECN field of the outer IP header. */
#ifndef SCPS_IO_UDPCTL_H
#define SCPS_IO_UDPCTL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* Room for the two control messages of one datagram: the segment size and the ECN field. */
union scps_udpctl {
    char room[2 * CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
};

/* Makes socket fd report the segment size (UDP_GRO) and the ECN field of received datagrams, as far
 * as the system supports that. family: AF_INET or AF_INET6. */
void scps_udpctl_listen(int fd, int family);
/* Reads the control messages of a received datagram. *seg: length, bytes, of each of the datagrams
 * that the kernel has joined into this one (the last may be shorter); 0: it is a single datagram.
 * *ecn: ECN field of its IP header. */
void scps_udpctl_read(const struct msghdr *m, int *seg, uint8_t *ecn);
/* Writes control messages for sendmsg(): the kernel is to cut the message into datagrams of seg
 * bytes each (0: not to cut it), with this ECN field in their IP headers. ipv4: the headers are
 * those of IPv4. Sets m->msg_control to ctl, or to NULL if no control message is needed. */
void scps_udpctl_write(struct msghdr *m, union scps_udpctl *ctl, uint16_t seg, uint8_t ecn,
                       int ipv4);

#endif
