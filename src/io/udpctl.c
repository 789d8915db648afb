/* SPDX-License-Identifier: MIT */
/* Control messages (cmsg) of UDP sockets that carry IP packets. Sources: udp(7), ip(7), ipv6(7). */
#include "io/udpctl.h"

#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

void scps_udpctl_listen(int fd, int family)
{
    const int on = 1;

    /* UDP_GRO lets the kernel join several datagrams of one sender into one. If this call fails,
     * the kernel passes each datagram by itself. */
    (void)setsockopt(fd, SOL_UDP, UDP_GRO, &on, sizeof on);
    /* If these calls fail, the ECN field of outer headers is not received. An IPv6 socket may
     * receive IPv4 packets, too, so both options are set. */
    (void)setsockopt(fd, IPPROTO_IP, IP_RECVTOS, &on, sizeof on);
    if (family == AF_INET6)
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, &on, sizeof on);
}

void scps_udpctl_read(const struct msghdr *m, int *seg, uint8_t *ecn)
{
    *seg = 0;
    *ecn = 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR((struct msghdr *)m, c)) {
        if (c->cmsg_level == SOL_UDP && c->cmsg_type == UDP_GRO) {
            memcpy(seg, CMSG_DATA(c), sizeof *seg);
        } else if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS) {
            *ecn = *CMSG_DATA(c) & 3;
        } else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_TCLASS) {
            int class;
            memcpy(&class, CMSG_DATA(c), sizeof class);
            *ecn = class & 3;
        }
    }
}

/* Appends one control message at *at, which has room for it, and advances *at. */
static void append_cmsg(char **at, int level, int type, const void *value, size_t len)
{
    struct cmsghdr c = {.cmsg_len = CMSG_LEN(len), .cmsg_level = level, .cmsg_type = type};

    memcpy(*at, &c, sizeof c);
    memcpy(*at + CMSG_LEN(0), value, len);
    *at += CMSG_SPACE(len);
}

void scps_udpctl_write(struct msghdr *m, union scps_udpctl *ctl, uint16_t seg, uint8_t ecn,
                       int ipv4)
{
    const int class = ecn;
    char *at = ctl->room;

    memset(ctl, 0, sizeof *ctl);
    if (seg)
        append_cmsg(&at, SOL_UDP, UDP_SEGMENT, &seg, sizeof seg);
    if (ecn && ipv4)
        append_cmsg(&at, IPPROTO_IP, IP_TOS, &class, sizeof class);
    else if (ecn)
        append_cmsg(&at, IPPROTO_IPV6, IPV6_TCLASS, &class, sizeof class);
    m->msg_controllen = (size_t)(at - ctl->room);
    m->msg_control = m->msg_controllen ? ctl->room : NULL;
}
