/* SPDX-License-Identifier: MIT */
/* The constants and layouts of <scps/socket.h> equal those of Linux's headers, because programs may
 * cast between them. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <scps/socket.h>

#if defined(__linux__) && defined(__LP64__)
#include <fcntl.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

#define SAME(ours, system) assert_int_equal((long long)(ours), (long long)(system))
#define FIELD(ours, a, system, b)                                                                  \
    do {                                                                                           \
        SAME(offsetof(struct ours, a), offsetof(struct system, b));                                \
        SAME(sizeof(((struct ours *)0)->a), sizeof(((struct system *)0)->b));                      \
    } while (0)
#define INFO(f) FIELD(scps_tcp_info, tcpi_##f, tcp_info, tcpi_##f)

static void constants(void **state)
{
    (void)state;
    SAME(SCPS_AF_UNSPEC, AF_UNSPEC);
    SAME(SCPS_AF_INET, AF_INET);
    SAME(SCPS_AF_INET6, AF_INET6);
    SAME(SCPS_SOCK_STREAM, SOCK_STREAM);
    SAME(SCPS_SOCK_NONBLOCK, SOCK_NONBLOCK);
    SAME(SCPS_SOCK_CLOEXEC, SOCK_CLOEXEC);
    SAME(SCPS_SOL_IP, IPPROTO_IP);
    SAME(SCPS_SOL_SOCKET, SOL_SOCKET);
    SAME(SCPS_SOL_TCP, IPPROTO_TCP);
    SAME(SCPS_SOL_IPV6, IPPROTO_IPV6);
    SAME(SCPS_SO_DEBUG, SO_DEBUG);
    SAME(SCPS_SO_REUSEADDR, SO_REUSEADDR);
    SAME(SCPS_SO_TYPE, SO_TYPE);
    SAME(SCPS_SO_ERROR, SO_ERROR);
    SAME(SCPS_SO_BROADCAST, SO_BROADCAST);
    SAME(SCPS_SO_SNDBUF, SO_SNDBUF);
    SAME(SCPS_SO_RCVBUF, SO_RCVBUF);
    SAME(SCPS_SO_KEEPALIVE, SO_KEEPALIVE);
    SAME(SCPS_SO_OOBINLINE, SO_OOBINLINE);
    SAME(SCPS_SO_PRIORITY, SO_PRIORITY);
    SAME(SCPS_SO_LINGER, SO_LINGER);
    SAME(SCPS_SO_REUSEPORT, SO_REUSEPORT);
    SAME(SCPS_SO_RCVLOWAT, SO_RCVLOWAT);
    SAME(SCPS_SO_SNDLOWAT, SO_SNDLOWAT);
    SAME(SCPS_SO_RCVTIMEO, SO_RCVTIMEO);
    SAME(SCPS_SO_SNDTIMEO, SO_SNDTIMEO);
    SAME(SCPS_SO_ACCEPTCONN, SO_ACCEPTCONN);
    SAME(SCPS_SO_SNDBUFFORCE, SO_SNDBUFFORCE);
    SAME(SCPS_SO_RCVBUFFORCE, SO_RCVBUFFORCE);
    SAME(SCPS_SO_PROTOCOL, SO_PROTOCOL);
    SAME(SCPS_SO_DOMAIN, SO_DOMAIN);
    SAME(SCPS_SO_MAX_PACING_RATE, SO_MAX_PACING_RATE);
    SAME(SCPS_TCP_NODELAY, TCP_NODELAY);
    SAME(SCPS_TCP_MAXSEG, TCP_MAXSEG);
    SAME(SCPS_TCP_CORK, TCP_CORK);
    SAME(SCPS_TCP_KEEPIDLE, TCP_KEEPIDLE);
    SAME(SCPS_TCP_KEEPINTVL, TCP_KEEPINTVL);
    SAME(SCPS_TCP_KEEPCNT, TCP_KEEPCNT);
    SAME(SCPS_TCP_SYNCNT, TCP_SYNCNT);
    SAME(SCPS_TCP_LINGER2, TCP_LINGER2);
    SAME(SCPS_TCP_INFO, TCP_INFO);
    SAME(SCPS_TCP_QUICKACK, TCP_QUICKACK);
    SAME(SCPS_TCP_CONGESTION, TCP_CONGESTION);
    SAME(SCPS_TCP_USER_TIMEOUT, TCP_USER_TIMEOUT);
    SAME(SCPS_TCP_NOTSENT_LOWAT, TCP_NOTSENT_LOWAT);
    SAME(SCPS_IP_TOS, IP_TOS);
    SAME(SCPS_IP_TTL, IP_TTL);
    SAME(SCPS_IP_MTU_DISCOVER, IP_MTU_DISCOVER);
    SAME(SCPS_IP_MTU, IP_MTU);
    SAME(SCPS_IP_BIND_ADDRESS_NO_PORT, IP_BIND_ADDRESS_NO_PORT);
    SAME(SCPS_IPV6_UNICAST_HOPS, IPV6_UNICAST_HOPS);
    SAME(SCPS_IPV6_MTU_DISCOVER, IPV6_MTU_DISCOVER);
    SAME(SCPS_IPV6_MTU, IPV6_MTU);
    SAME(SCPS_IPV6_V6ONLY, IPV6_V6ONLY);
    SAME(SCPS_IPV6_TCLASS, IPV6_TCLASS);
    SAME(SCPS_PMTUDISC_DONT, IP_PMTUDISC_DONT);
    SAME(SCPS_PMTUDISC_WANT, IP_PMTUDISC_WANT);
    SAME(SCPS_PMTUDISC_DO, IP_PMTUDISC_DO);
    SAME(SCPS_PMTUDISC_PROBE, IP_PMTUDISC_PROBE);
    SAME(SCPS_PMTUDISC_INTERFACE, IP_PMTUDISC_INTERFACE);
    SAME(SCPS_PMTUDISC_OMIT, IP_PMTUDISC_OMIT);
    SAME(SCPS_MSG_OOB, MSG_OOB);
    SAME(SCPS_MSG_PEEK, MSG_PEEK);
    SAME(SCPS_MSG_TRUNC, MSG_TRUNC);
    SAME(SCPS_MSG_DONTWAIT, MSG_DONTWAIT);
    SAME(SCPS_MSG_EOR, MSG_EOR);
    SAME(SCPS_MSG_WAITALL, MSG_WAITALL);
    SAME(SCPS_MSG_ERRQUEUE, MSG_ERRQUEUE);
    SAME(SCPS_MSG_NOSIGNAL, MSG_NOSIGNAL);
    SAME(SCPS_MSG_MORE, MSG_MORE);
    SAME(SCPS_MSG_FASTOPEN, MSG_FASTOPEN);
    SAME(SCPS_POLLIN, POLLIN);
    SAME(SCPS_POLLPRI, POLLPRI);
    SAME(SCPS_POLLOUT, POLLOUT);
    SAME(SCPS_POLLERR, POLLERR);
    SAME(SCPS_POLLHUP, POLLHUP);
    SAME(SCPS_POLLNVAL, POLLNVAL);
    SAME(SCPS_POLLRDNORM, POLLRDNORM);
    SAME(SCPS_POLLWRNORM, POLLWRNORM);
    SAME(SCPS_POLLRDHUP, POLLRDHUP);
    SAME(SCPS_SHUT_RD, SHUT_RD);
    SAME(SCPS_SHUT_WR, SHUT_WR);
    SAME(SCPS_SHUT_RDWR, SHUT_RDWR);
    SAME(SCPS_F_GETFD, F_GETFD);
    SAME(SCPS_F_SETFD, F_SETFD);
    SAME(SCPS_F_GETFL, F_GETFL);
    SAME(SCPS_F_SETFL, F_SETFL);
    SAME(SCPS_FD_CLOEXEC, FD_CLOEXEC);
    SAME(SCPS_O_RDWR, O_RDWR);
    SAME(SCPS_O_NONBLOCK, O_NONBLOCK);
    SAME(SCPS_FIONREAD, FIONREAD);
    SAME(SCPS_SIOCINQ, SIOCINQ);
    SAME(SCPS_SIOCOUTQ, SIOCOUTQ);
    SAME(SCPS_SIOCOUTQNSD, SIOCOUTQNSD);
    SAME(SCPS_FIONBIO, FIONBIO);
    SAME(SCPS_SIOCATMARK, SIOCATMARK);
}

static void layouts(void **state)
{
    (void)state;
    FIELD(scps_sockaddr, sa_family, sockaddr, sa_family);
    FIELD(scps_sockaddr, sa_data, sockaddr, sa_data);
    FIELD(scps_sockaddr_in, sin_port, sockaddr_in, sin_port);
    FIELD(scps_sockaddr_in, sin_addr, sockaddr_in, sin_addr);
    SAME(sizeof(struct scps_sockaddr_in), sizeof(struct sockaddr_in));
    FIELD(scps_sockaddr_in6, sin6_port, sockaddr_in6, sin6_port);
    FIELD(scps_sockaddr_in6, sin6_flowinfo, sockaddr_in6, sin6_flowinfo);
    FIELD(scps_sockaddr_in6, sin6_addr, sockaddr_in6, sin6_addr);
    FIELD(scps_sockaddr_in6, sin6_scope_id, sockaddr_in6, sin6_scope_id);
    SAME(sizeof(struct scps_sockaddr_in6), sizeof(struct sockaddr_in6));
    SAME(sizeof(struct scps_sockaddr_storage), sizeof(struct sockaddr_storage));
    FIELD(scps_iovec, iov_base, iovec, iov_base);
    FIELD(scps_iovec, iov_len, iovec, iov_len);
    FIELD(scps_msghdr, msg_name, msghdr, msg_name);
    FIELD(scps_msghdr, msg_namelen, msghdr, msg_namelen);
    FIELD(scps_msghdr, msg_iov, msghdr, msg_iov);
    FIELD(scps_msghdr, msg_iovlen, msghdr, msg_iovlen);
    FIELD(scps_msghdr, msg_control, msghdr, msg_control);
    FIELD(scps_msghdr, msg_controllen, msghdr, msg_controllen);
    FIELD(scps_msghdr, msg_flags, msghdr, msg_flags);
    FIELD(scps_pollfd, fd, pollfd, fd);
    FIELD(scps_pollfd, events, pollfd, events);
    FIELD(scps_pollfd, revents, pollfd, revents);
    FIELD(scps_linger, l_onoff, linger, l_onoff);
    FIELD(scps_linger, l_linger, linger, l_linger);
    FIELD(scps_timeval, tv_sec, timeval, tv_sec);
    FIELD(scps_timeval, tv_usec, timeval, tv_usec);
}

static void tcp_info_layout(void **state)
{
    (void)state;
    INFO(state);
    INFO(ca_state);
    INFO(retransmits);
    INFO(probes);
    INFO(backoff);
    INFO(options);
    INFO(rto);
    INFO(ato);
    INFO(snd_mss);
    INFO(rcv_mss);
    INFO(unacked);
    INFO(sacked);
    INFO(lost);
    INFO(retrans);
    INFO(fackets);
    INFO(last_data_sent);
    INFO(last_ack_sent);
    INFO(last_data_recv);
    INFO(last_ack_recv);
    INFO(pmtu);
    INFO(rcv_ssthresh);
    INFO(rtt);
    INFO(rttvar);
    INFO(snd_ssthresh);
    INFO(snd_cwnd);
    INFO(advmss);
    INFO(reordering);
    INFO(rcv_rtt);
    INFO(rcv_space);
    INFO(total_retrans);
    INFO(pacing_rate);
    INFO(max_pacing_rate);
    INFO(bytes_acked);
    INFO(bytes_received);
    INFO(segs_out);
    INFO(segs_in);
    INFO(notsent_bytes);
    INFO(min_rtt);
    INFO(data_segs_in);
    INFO(data_segs_out);
    INFO(delivery_rate);
    INFO(busy_time);
    INFO(rwnd_limited);
    INFO(sndbuf_limited);
    INFO(delivered);
    INFO(delivered_ce);
    INFO(bytes_sent);
    INFO(bytes_retrans);
    INFO(dsack_dups);
    INFO(reord_seen);
    INFO(rcv_ooopack);
    INFO(snd_wnd);
    /* A bit field has no address, so the test compares the bytes that the bit fields make. */
    union {
        struct scps_tcp_info ours;
        struct tcp_info linux_s;
    } u = {.ours = {0}};
    u.ours.tcpi_snd_wscale = 5;
    u.ours.tcpi_rcv_wscale = 9;
    u.ours.tcpi_delivery_rate_app_limited = 1;
    SAME(u.linux_s.tcpi_snd_wscale, 5);
    SAME(u.linux_s.tcpi_rcv_wscale, 9);
    SAME(u.linux_s.tcpi_delivery_rate_app_limited, 1);
    /* Newer kernels have further fields behind tcpi_snd_wnd; their offsets are published. */
    SAME(offsetof(struct scps_tcp_info, tcpi_rcv_wnd),
         offsetof(struct scps_tcp_info, tcpi_snd_wnd) + 4);
    SAME(offsetof(struct scps_tcp_info, tcpi_rehash),
         offsetof(struct scps_tcp_info, tcpi_snd_wnd) + 8);
    SAME(offsetof(struct scps_tcp_info, tcpi_total_rto),
         offsetof(struct scps_tcp_info, tcpi_snd_wnd) + 12);
    SAME(sizeof(struct scps_tcp_info), offsetof(struct scps_tcp_info, tcpi_snd_wnd) + 52);
}

static void states(void **state)
{
    (void)state;
    /* enum scps_state numbers the states as <netinet/tcp.h> does, which cannot be included together
     * with <linux/tcp.h>. */
    SAME(SCPS_ESTABLISHED, 1);
    SAME(SCPS_SYN_SENT, 2);
    SAME(SCPS_SYN_RECEIVED, 3);
    SAME(SCPS_FIN_WAIT_1, 4);
    SAME(SCPS_FIN_WAIT_2, 5);
    SAME(SCPS_TIME_WAIT, 6);
    SAME(SCPS_CLOSED, 7);
    SAME(SCPS_CLOSE_WAIT, 8);
    SAME(SCPS_LAST_ACK, 9);
    SAME(SCPS_LISTEN, 10);
    SAME(SCPS_CLOSING, 11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants),
        cmocka_unit_test(layouts),
        cmocka_unit_test(tcp_info_layout),
        cmocka_unit_test(states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
    return 77; /* Other systems have no such headers, so the test is skipped (77). */
}
#endif
