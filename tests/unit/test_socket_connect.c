/* SPDX-License-Identifier: MIT */
/* connect() and accept(): their results, and how each call reports a connection that fails. */
#include "sockpeer.h"

static void connect_in_steps(void **state)
{
    (void)state;
    struct peer p;
    peer_open(&p, NULL);
    int s = peer_socket(&p);
    struct scps_sockaddr_storage ss;
    uint32_t len = sizeof ss;
    /* A socket that was never connected has POLLOUT and POLLHUP, as in Linux. */
    assert_int_equal(peer_poll(&p, s), P_OUT | SCPS_POLLHUP);

    peer_is_called(&p, s);
    assert_errno(peer_connect(&p, s), EALREADY);
    assert_errno(scps_sock_getpeername(p.ctx, s, &ss, &len), ENOTCONN);
    assert_int_equal(scps_sock_getsockname(p.ctx, s, &ss, &len), 0);
    struct scps_endpoint ep;
    assert_int_equal(scps_sockaddr_get(&ss, len, &ep), 0);
    assert_true(scps_addr_equal(&ep.addr, &p.us));
    assert_int_equal(ep.port, p.our_port);
    assert_true(ep.port >= 32768 && ep.port <= 60999);
    assert_int_equal(peer_poll(&p, s), 0);
    assert_errno(scps_sock_write(p.ctx, s, "x", 1), EAGAIN);
    assert_errno(scps_sock_recv(p.ctx, s, &ss, 1, 0), EAGAIN);
    peer_gets_nothing(&p);

    peer_wait(&p, SCPS_MS(10));
    peer_sends(&p, SCPS_SYN | SCPS_ACK, 0, 1, 0);
    peer_gets(&p, SCPS_ACK, 1, 1, 0);
    assert_int_equal(p.at, SCPS_MS(10));
    assert_int_equal(peer_poll(&p, s), P_OUT);
    assert_int_equal(peer_so_error(&p, s), 0);
    /* The first connect() after the handshake returns 0, and later ones EISCONN. */
    assert_int_equal(peer_connect(&p, s), 0);
    assert_errno(peer_connect(&p, s), EISCONN);
    len = sizeof ss;
    assert_int_equal(scps_sock_getpeername(p.ctx, s, &ss, &len), 0);
    assert_int_equal(len, sizeof(struct scps_sockaddr_in));
    assert_int_equal(scps_sockaddr_get(&ss, len, &ep), 0);
    assert_true(scps_addr_equal(&ep.addr, &p.them));
    assert_int_equal(ep.port, PEER_PORT);
    peer_close(&p);
}

static void refused(void **state)
{
    (void)state;
    struct peer p;
    char c;
    peer_open(&p, NULL);

    /* The failure is reported by poll() and SO_ERROR. */
    int s = peer_socket(&p);
    peer_is_called(&p, s);
    peer_sends(&p, SCPS_RST | SCPS_ACK, 0, 1, 0);
    assert_int_equal(peer_poll(&p, s), P_IN | P_OUT | SCPS_POLLRDHUP | SCPS_POLLHUP | SCPS_POLLERR);
    assert_int_equal(peer_so_error(&p, s), ECONNREFUSED);
    assert_int_equal(peer_so_error(&p, s), 0);
    assert_int_equal(peer_poll(&p, s), P_IN | P_OUT | SCPS_POLLRDHUP | SCPS_POLLHUP);
    assert_int_equal(scps_sock_recv(p.ctx, s, &c, 1, 0), 0);
    assert_errno(scps_sock_send(p.ctx, s, "x", 1, 0), EPIPE);
    /* SO_ERROR has already returned the error and cleared it. */
    assert_errno(peer_connect(&p, s), ECONNABORTED);
    /* The socket can be used like a new one. */
    assert_int_equal(peer_poll(&p, s), P_OUT | SCPS_POLLHUP);
    assert_errno(scps_sock_recv(p.ctx, s, &c, 1, 0), ENOTCONN);
    peer_handshakes(&p, s);
    assert_int_equal(peer_connect(&p, s), 0);
    assert_int_equal(scps_sock_close(p.ctx, s), 0);
    peer_drains(&p);

    /* The failure is reported by the second connect(). */
    s = peer_socket(&p);
    peer_is_called(&p, s);
    peer_sends(&p, SCPS_RST | SCPS_ACK, 0, 1, 0);
    assert_errno(peer_connect(&p, s), ECONNREFUSED);
    assert_errno(scps_sock_send(p.ctx, s, "x", 1, 0), EPIPE);

    /* The failure is reported by recv(). */
    s = peer_socket(&p);
    peer_is_called(&p, s);
    peer_sends(&p, SCPS_RST | SCPS_ACK, 0, 1, 0);
    assert_errno(scps_sock_recv(p.ctx, s, &c, 1, 0), ECONNREFUSED);
    assert_int_equal(scps_sock_recv(p.ctx, s, &c, 1, 0), 0);

    /* The failure is reported by send(). */
    s = peer_socket(&p);
    peer_is_called(&p, s);
    peer_sends(&p, SCPS_RST | SCPS_ACK, 0, 1, 0);
    assert_errno(scps_sock_send(p.ctx, s, "x", 1, 0), ECONNREFUSED);
    assert_errno(scps_sock_send(p.ctx, s, "x", 1, 0), EPIPE);
    peer_close(&p);
}

static void connect_times_out(void **state)
{
    (void)state;
    struct peer p;
    peer_open(&p, NULL);
    int s = peer_socket(&p);
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_TCP, SCPS_TCP_SYNCNT, 3), 0);
    assert_errno(peer_connect(&p, s), EINPROGRESS);
    /* SYNs are sent after 1 s, then after double that time each: a SYN has the time at which its
     * timer expired, even if the driver takes it later. */
    peer_wait(&p, SCPS_SEC(100));
    scps_time due[] = {0, SCPS_SEC(1), SCPS_SEC(3), SCPS_SEC(7)};
    for (size_t i = 0; i < sizeof due / sizeof *due; i++) {
        peer_gets(&p, SCPS_SYN, 0, 0, 0);
        assert_int_equal(p.at, due[i]);
    }
    peer_gets_nothing(&p);
    assert_int_equal(peer_poll(&p, s), P_IN | P_OUT | SCPS_POLLRDHUP | SCPS_POLLHUP | SCPS_POLLERR);
    assert_errno(peer_connect(&p, s), ETIMEDOUT);
    assert_int_equal(peer_so_error(&p, s), 0);
    peer_close(&p);
}

/* A router on the path to the peer sends an ICMP error with this type and code. */
static void icmp_says(struct peer *p, uint8_t type, uint8_t code)
{
    uint8_t pkt[256] = {0}, quote[128];
    size_t qlen = p->ip.total_len < 64 ? p->ip.total_len : 64;
    memcpy(quote, p->buf, qlen);
    bool v6 = p->us.family == 6;
    struct scps_ip ip = {.src = p->them,
                         .dst = p->us,
                         .version = p->us.family,
                         .proto = v6 ? SCPS_IPPROTO_ICMPV6 : SCPS_IPPROTO_ICMP,
                         .ttl = 64};
    size_t mlen = 8 + qlen, ih = scps_ip_build(pkt, &ip, mlen);
    uint8_t *m = pkt + ih;
    m[0] = type;
    m[1] = code;
    memcpy(m + 8, quote, qlen);
    uint64_t sum =
        v6 ? scps_cksum_pseudo(0, &ip.src, &ip.dst, SCPS_IPPROTO_ICMPV6, (uint32_t)mlen) : 0;
    uint16_t ck = scps_cksum_fold(scps_cksum_add(sum, m, mlen));
    m[2] = (uint8_t)(ck >> 8);
    m[3] = (uint8_t)ck;
    scps_ctx_inject(p->ctx, pkt, ih + mlen, peer_now(p));
}

static void icmp_ends_a_connect(void **state)
{
    (void)state;
    static const struct {
        int domain;
        uint8_t type, code;
        int err;
        bool soft;
    } rows[] = {
        {SCPS_AF_INET, 3, 0, ENETUNREACH, true},    {SCPS_AF_INET, 3, 1, EHOSTUNREACH, true},
        {SCPS_AF_INET, 3, 2, ENOPROTOOPT, false},   {SCPS_AF_INET, 3, 3, ECONNREFUSED, false},
        {SCPS_AF_INET, 3, 13, EHOSTUNREACH, false}, {SCPS_AF_INET6, 1, 0, ENETUNREACH, true},
        {SCPS_AF_INET6, 1, 1, EACCES, false},       {SCPS_AF_INET6, 1, 3, EHOSTUNREACH, true},
        {SCPS_AF_INET6, 1, 4, ECONNREFUSED, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct peer p;
        peer_open_at(&p, NULL, rows[i].domain);
        int s = peer_socket(&p);
        assert_int_equal(peer_setopt(&p, s, SCPS_SOL_TCP, SCPS_TCP_SYNCNT, 1), 0);
        assert_errno(peer_connect(&p, s), EINPROGRESS);
        peer_gets(&p, SCPS_SYN, 0, 0, 0);
        icmp_says(&p, rows[i].type, rows[i].code);
        /* A hard error ends the attempt at once. A soft one does not (RFC 9293 section 3.9.2.2,
         * MUST-56): SO_ERROR returns it, the SYN is sent again, and when the attempt times out, the
         * error is returned as the reason (RFC 5461). */
        if (rows[i].soft) {
            assert_int_equal(peer_so_error(&p, s), rows[i].err);
            assert_int_equal(peer_so_error(&p, s), 0);
            assert_errno(peer_connect(&p, s), EALREADY);
            peer_wait(&p, SCPS_SEC(1));
            peer_gets(&p, SCPS_SYN, 0, 0, 0);
        }
        peer_wait(&p, SCPS_SEC(10));
        assert_int_equal(peer_so_error(&p, s), rows[i].err);
        peer_close(&p);
    }
}

static void icmp_is_soft_once_established(void **state)
{
    (void)state;
    struct peer p;
    peer_open(&p, NULL);
    int s = peer_connected(&p);
    assert_int_equal(scps_sock_write(p.ctx, s, "abc", 3), 3);
    peer_gets(&p, SCPS_ACK | SCPS_PSH, 1, 1, 3);
    icmp_says(&p, 3, 1);
    assert_int_equal(peer_poll(&p, s), P_OUT);
    assert_int_equal(peer_so_error(&p, s), EHOSTUNREACH);
    assert_int_equal(peer_so_error(&p, s), 0); /* The error was returned once and is cleared. */
    assert_int_equal(scps_sock_write(p.ctx, s, "d", 1), 1);
    /* The ICMP error is returned again as the reason when the connection times out. */
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_TCP, SCPS_TCP_USER_TIMEOUT, 5000), 0);
    peer_wait(&p, SCPS_SEC(100));
    assert_int_equal(peer_so_error(&p, s), EHOSTUNREACH);
    peer_close(&p);
}

static void unreachable_and_invalid_addresses(void **state)
{
    (void)state;
    struct peer p;
    struct scps_ctx_config cfg = scps_ctx_config_linux();
    peer_open(&p, &cfg);
    int s = peer_socket(&p);
    struct scps_sockaddr_storage ss;
    struct scps_addr none = {.family = 4};
    uint32_t len = peer_sockaddr(&p, &ss, &none, 80);
    assert_errno(scps_sock_connect(p.ctx, s, &ss, len), ENETUNREACH);
    assert_errno(scps_sock_connect(p.ctx, s, &ss, 1), EINVAL);
    assert_errno(scps_sock_connect(p.ctx, s, &ss, 8), EINVAL);
    assert_errno(scps_sock_connect(p.ctx, s, NULL, 16), EFAULT);
    len = peer_sockaddr(&p, &ss, &p.them, 0);
    assert_errno(scps_sock_connect(p.ctx, s, &ss, len), EADDRNOTAVAIL);
    p.domain = SCPS_AF_INET6;
    struct scps_addr six = peer_addr("2001:db8::2");
    len = peer_sockaddr(&p, &ss, &six, 80);
    assert_errno(scps_sock_connect(p.ctx, s, &ss, len), EAFNOSUPPORT);
    int s6 = peer_socket(&p); /* The stack has no IPv6 address and no route. */
    assert_errno(scps_sock_connect(p.ctx, s6, &ss, len), ENETUNREACH);
    /* RFC 9293 section 3.9.1.1 (MUST-46) */
    static const char *const groups[] = {"224.0.0.1", "255.255.255.255"};
    p.domain = SCPS_AF_INET;
    for (int i = 0; i < 2; i++) {
        struct scps_addr group = peer_addr(groups[i]);
        len = peer_sockaddr(&p, &ss, &group, 80);
        assert_errno(scps_sock_connect(p.ctx, peer_socket(&p), &ss, len), ENETUNREACH);
    }
    peer_gets_nothing(&p);
    /* A second connection with the same four-tuple is refused. */
    p.domain = SCPS_AF_INET;
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_SOCKET, SCPS_SO_REUSEADDR, 1), 0);
    assert_int_equal(peer_bind(&p, s, &p.us, 4000), 0);
    peer_handshakes(&p, s);
    assert_int_equal(p.our_port, 4000);
    int t = peer_socket(&p);
    assert_int_equal(peer_setopt(&p, t, SCPS_SOL_SOCKET, SCPS_SO_REUSEADDR, 1), 0);
    assert_int_equal(peer_bind(&p, t, &p.us, 4000), 0);
    assert_errno(peer_connect(&p, t), EADDRNOTAVAIL);
    p.their_port = 7001;
    assert_errno(peer_connect(&p, t), EINPROGRESS);
    peer_close(&p);
}

static void disconnect(void **state)
{
    (void)state;
    struct peer p;
    struct scps_sockaddr unspec = {.sa_family = SCPS_AF_UNSPEC};
    char c;
    peer_open(&p, NULL);
    int s = peer_connected(&p);
    uint16_t port = p.our_port;
    assert_int_equal(scps_sock_connect(p.ctx, s, &unspec, sizeof unspec), 0);
    peer_gets(&p, SCPS_RST | SCPS_ACK, 1, 1, 0);
    /* As in Linux, a disconnect leaves the error ECONNRESET. */
    assert_int_equal(peer_so_error(&p, s), ECONNRESET);
    assert_errno(scps_sock_recv(p.ctx, s, &c, 1, 0), ENOTCONN);
    struct scps_sockaddr_in in;
    uint32_t len = sizeof in;
    assert_int_equal(scps_sock_getsockname(p.ctx, s, &in, &len), 0);
    assert_int_equal(in.sin_port, 0);
    /* The socket can connect again. */
    peer_handshakes(&p, s);
    assert_int_not_equal(p.our_port, port);
    peer_close(&p);
}

static void bound_before(void **state)
{
    (void)state;
    struct peer p;
    peer_open(&p, NULL);
    int s = peer_socket(&p);
    struct scps_addr any = {.family = 4};
    assert_int_equal(peer_bind(&p, s, &any, 5555), 0);
    peer_handshakes(&p, s);
    assert_int_equal(p.our_port, 5555);
    /* bind() with port 0 chooses a port at once. */
    int t = peer_socket(&p);
    assert_int_equal(peer_bind(&p, t, &any, 0), 0);
    struct scps_sockaddr_in in;
    uint32_t len = sizeof in;
    assert_int_equal(scps_sock_getsockname(p.ctx, t, &in, &len), 0);
    assert_int_not_equal(in.sin_port, 0);
    uint8_t *b = (uint8_t *)&in.sin_port;
    uint16_t chosen = (uint16_t)(b[0] << 8 | b[1]);
    assert_errno(peer_connect(&p, t), EINPROGRESS);
    peer_gets(&p, SCPS_SYN, 0, 0, 0);
    assert_int_equal(p.seg.sport, chosen);
    /* With IP_BIND_ADDRESS_NO_PORT the port is chosen by connect(). */
    int u = peer_socket(&p);
    assert_int_equal(peer_setopt(&p, u, SCPS_SOL_IP, SCPS_IP_BIND_ADDRESS_NO_PORT, 1), 0);
    assert_int_equal(peer_bind(&p, u, &p.us, 0), 0);
    len = sizeof in;
    assert_int_equal(scps_sock_getsockname(p.ctx, u, &in, &len), 0);
    assert_int_equal(in.sin_port, 0);
    assert_memory_equal(in.sin_addr, p.us.b, 4);
    assert_errno(peer_connect(&p, u), EINPROGRESS);
    peer_gets(&p, SCPS_SYN, 0, 0, 0);
    assert_true(p.seg.sport >= 32768);
    peer_close(&p);
}

/* As in Linux, whose bind() checks only whether there is a port: a port that the application did
 * not name is given back when its connection ends; one that was chosen after that is kept. */
static void bound_again_after_the_end(void **state)
{
    (void)state;
    struct peer p;
    struct scps_addr any = {.family = 4};
    struct scps_sockaddr unspec = {.sa_family = SCPS_AF_UNSPEC};
    peer_open(&p, NULL);
    int s = peer_socket(&p);
    assert_int_equal(peer_bind(&p, s, &p.us, 0), 0);
    assert_errno(peer_bind(&p, s, &p.us, 5555), EINVAL);
    peer_is_called(&p, s);
    assert_errno(peer_bind(&p, s, &p.us, 5555), EINVAL);
    peer_sends(&p, SCPS_RST | SCPS_ACK, 0, 1, 0);
    assert_errno(peer_connect(&p, s), ECONNREFUSED); /* The socket is unconnected again. */
    assert_int_equal(peer_bind(&p, s, &p.us, 5555), 0);
    assert_errno(peer_bind(&p, s, &p.us, 5556), EINVAL);

    /* bind() to a port that the stack chooses, before the error has been reported. */
    int t = peer_socket(&p);
    peer_is_called(&p, t);
    peer_sends(&p, SCPS_RST | SCPS_ACK, 0, 1, 0);
    assert_int_equal(peer_bind(&p, t, &any, 0), 0);
    assert_errno(peer_connect(&p, t), ECONNREFUSED);
    assert_errno(peer_bind(&p, t, &any, 5557), EINVAL);

    /* A disconnect of a socket that was never connected keeps its port; a disconnect of a listener
     * does not. */
    int u = peer_socket(&p);
    assert_int_equal(peer_bind(&p, u, &any, 0), 0);
    assert_int_equal(scps_sock_connect(p.ctx, u, &unspec, sizeof unspec), 0);
    assert_errno(peer_bind(&p, u, &any, 5558), EINVAL);
    assert_int_equal(scps_sock_listen(p.ctx, u, 1), 0);
    assert_int_equal(scps_sock_connect(p.ctx, u, &unspec, sizeof unspec), 0);
    assert_int_equal(peer_bind(&p, u, &any, 5558), 0);
    peer_close(&p);
}

static void accept_queue(void **state)
{
    (void)state;
    struct peer p;
    struct scps_sockaddr_in in;
    uint32_t len = sizeof in;
    peer_open(&p, NULL);
    int l = peer_listens(&p, 1);
    assert_int_equal(peer_getopt(&p, l, SCPS_SOL_SOCKET, SCPS_SO_ACCEPTCONN), 1);
    assert_int_equal(peer_poll(&p, l), 0);
    assert_errno(scps_sock_accept(p.ctx, l, NULL, NULL), EAGAIN);

    /* A backlog of one admits two connections, as in Linux; the third SYN is not answered and has
     * to be sent again. */
    peer_calls(&p, 7001);
    assert_int_equal(peer_poll(&p, l), P_IN);
    peer_calls(&p, 7002);
    p.their_port = 7003;
    peer_sends(&p, SCPS_SYN, 0, 0, 0);
    peer_gets_nothing(&p);
    struct scps_tcp_info ti = peer_tcp_info(&p, l);
    assert_int_equal(ti.tcpi_state, SCPS_LISTEN);
    assert_int_equal(ti.tcpi_unacked, 2);
    assert_int_equal(ti.tcpi_sacked, 1);

    int a = scps_sock_accept(p.ctx, l, &in, &len);
    assert_int_equal(a, l + 1); /* accept() returns the lowest free descriptor. */
    assert_int_equal(len, sizeof in);
    assert_memory_equal(in.sin_addr, p.them.b, 4);
    assert_int_equal(((uint8_t *)&in.sin_port)[0] << 8 | ((uint8_t *)&in.sin_port)[1], 7001);
    assert_int_equal(scps_sock_fcntl(p.ctx, a, SCPS_F_GETFL, 0), SCPS_O_RDWR);
    /* listen() again enlarges the backlog. */
    assert_int_equal(scps_sock_listen(p.ctx, l, 5), 0);
    peer_calls(&p, 7003);
    int b = scps_sock_accept4(p.ctx, l, NULL, NULL, SCPS_SOCK_NONBLOCK | SCPS_SOCK_CLOEXEC);
    assert_int_equal(scps_sock_fcntl(p.ctx, b, SCPS_F_GETFL, 0), SCPS_O_RDWR | SCPS_O_NONBLOCK);
    assert_int_equal(scps_sock_fcntl(p.ctx, b, SCPS_F_GETFD, 0), SCPS_FD_CLOEXEC);
    len = 4; /* The address is cut to 4 octets, and its whole length returned. */
    int c = scps_sock_accept(p.ctx, l, &in, &len);
    assert_true(c >= 0);
    assert_int_equal(len, sizeof in);
    assert_errno(scps_sock_accept4(p.ctx, l, NULL, NULL, 1), EINVAL);
    assert_errno(scps_sock_accept(p.ctx, a, NULL, NULL), EINVAL);
    assert_errno(scps_sock_listen(p.ctx, a, 1), EINVAL);

    /* Closing the listener resets connections that nobody has accepted; those accepted stay. */
    peer_calls(&p, 7004);
    assert_int_equal(scps_sock_close(p.ctx, l), 0);
    assert_true(peer_takes(&p));
    assert_int_equal(p.seg.flags & SCPS_RST, SCPS_RST);
    assert_int_equal(p.seg.dport, 7004);
    assert_int_equal(peer_poll(&p, a), P_OUT);
    p.their_port = 7009;
    peer_sends(&p, SCPS_SYN, 0, 0, 0);
    assert_true(peer_takes(&p));
    assert_int_equal(p.seg.flags & SCPS_RST, SCPS_RST);
    peer_close(&p);
}

static void accepted_inherits(void **state)
{
    (void)state;
    struct peer p;
    peer_open(&p, NULL);
    int l = peer_listens(&p, 5);
    struct scps_linger lg = {1, 7};
    /* Options set after listen() hold for accepted sockets, too. */
    assert_int_equal(peer_setopt(&p, l, SCPS_SOL_TCP, SCPS_TCP_NODELAY, 1), 0);
    assert_int_equal(peer_setopt(&p, l, SCPS_SOL_SOCKET, SCPS_SO_KEEPALIVE, 1), 0);
    assert_int_equal(peer_setopt(&p, l, SCPS_SOL_SOCKET, SCPS_SO_RCVBUF, 30000), 0);
    assert_int_equal(peer_setopt(&p, l, SCPS_SOL_TCP, SCPS_TCP_MAXSEG, 700), 0);
    assert_int_equal(
        scps_sock_setsockopt(p.ctx, l, SCPS_SOL_SOCKET, SCPS_SO_LINGER, &lg, sizeof lg), 0);
    p.our_port = OUR_PORT;
    peer_sends(&p, SCPS_SYN, 0, 0, 0);
    peer_gets(&p, SCPS_SYN | SCPS_ACK, 0, 1, 0);
    assert_int_equal(p.seg.mss, 700);
    assert_int_equal(p.seg.wnd, 30000);
    peer_sends(&p, SCPS_ACK, 1, 1, 0);
    int s = scps_sock_accept(p.ctx, l, NULL, NULL);
    assert_int_equal(peer_getopt(&p, s, SCPS_SOL_TCP, SCPS_TCP_NODELAY), 1);
    assert_int_equal(peer_getopt(&p, s, SCPS_SOL_SOCKET, SCPS_SO_KEEPALIVE), 1);
    assert_int_equal(peer_getopt(&p, s, SCPS_SOL_SOCKET, SCPS_SO_RCVBUF), 30000);
    assert_int_equal(peer_getopt(&p, s, SCPS_SOL_SOCKET, SCPS_SO_REUSEADDR), 1);
    assert_int_equal(peer_getopt(&p, s, SCPS_SOL_TCP, SCPS_TCP_MAXSEG), 700);
    assert_int_equal(peer_getopt(&p, s, SCPS_SOL_SOCKET, SCPS_SO_ACCEPTCONN), 0);
    uint32_t len = sizeof lg;
    lg = (struct scps_linger){0, 0};
    assert_int_equal(scps_sock_getsockopt(p.ctx, s, SCPS_SOL_SOCKET, SCPS_SO_LINGER, &lg, &len), 0);
    assert_int_equal(lg.l_onoff, 1);
    assert_int_equal(lg.l_linger, 7);
    peer_close(&p);
}

static void dual_stack(void **state)
{
    (void)state;
    struct peer p;
    struct scps_sockaddr_in6 in6;
    uint32_t len;
    static const uint8_t mapped[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 2};
    peer_open_at(&p, NULL, SCPS_AF_INET6);
    struct scps_addr us4 = peer_addr("10.0.0.1"), them4 = peer_addr("10.0.0.2");
    struct scps_addr us6 = p.us, them6 = p.them;
    assert_int_equal(scps_ctx_add_addr(p.ctx, &us4, 24), 0);
    int l = peer_listens(&p, 5);
    len = sizeof in6;
    assert_int_equal(scps_sock_getsockname(p.ctx, l, &in6, &len), 0);
    assert_int_equal(len, sizeof in6);
    assert_int_equal(in6.sin6_family, SCPS_AF_INET6);

    peer_calls(&p, 7001);
    int s6 = scps_sock_accept(p.ctx, l, &in6, &len);
    assert_true(s6 >= 0);
    assert_memory_equal(in6.sin6_addr, them6.b, 16);
    p.us = us4;
    p.them = them4;
    peer_calls(&p, 7002);
    len = sizeof in6;
    int s4 = scps_sock_accept(p.ctx, l, &in6, &len);
    assert_true(s4 >= 0);
    assert_int_equal(in6.sin6_family, SCPS_AF_INET6);
    assert_memory_equal(in6.sin6_addr, mapped, 16);
    assert_int_equal(peer_getopt(&p, s4, SCPS_SOL_SOCKET, SCPS_SO_DOMAIN), SCPS_AF_INET6);

    /* connect() to an IPv4-mapped IPv6 address opens an IPv4 connection. */
    int c = peer_socket(&p);
    p.their_port = 7003;
    peer_handshakes(&p, c);
    assert_int_equal(p.ip.version, 4);

    /* IPV6_V6ONLY: the socket accepts IPv6 only. */
    int v = peer_socket(&p);
    assert_int_equal(peer_setopt(&p, v, SCPS_SOL_IPV6, SCPS_IPV6_V6ONLY, 1), 0);
    assert_int_equal(peer_getopt(&p, v, SCPS_SOL_IPV6, SCPS_IPV6_V6ONLY), 1);
    assert_errno(peer_connect(&p, v), ENETUNREACH);
    assert_errno(peer_bind(&p, v, &us4, 9000), EINVAL);
    struct scps_addr any6 = {.family = 6};
    assert_int_equal(peer_bind(&p, v, &any6, 9000), 0);
    assert_errno(peer_setopt(&p, v, SCPS_SOL_IPV6, SCPS_IPV6_V6ONLY, 0), EINVAL);
    assert_int_equal(scps_sock_listen(p.ctx, v, 5), 0);
    p.our_port = 9000;
    p.their_port = 7004;
    peer_sends(&p, SCPS_SYN, 0, 0, 0);
    assert_true(peer_takes(&p));
    assert_int_equal(p.seg.flags, SCPS_RST | SCPS_ACK);
    /* An IPv4 socket can have the same port, but a socket for both versions cannot. */
    int b = peer_socket(&p), d;
    assert_errno(peer_bind(&p, b, &any6, 9000), EADDRINUSE);
    p.domain = SCPS_AF_INET;
    d = peer_socket(&p);
    struct scps_addr any4 = {.family = 4};
    assert_int_equal(peer_bind(&p, d, &any4, 9000), 0);
    assert_int_equal(scps_sock_listen(p.ctx, d, 5), 0);
    p.us = us4;
    p.them = them4;
    peer_sends(&p, SCPS_SYN, 0, 0, 0);
    peer_gets(&p, SCPS_SYN | SCPS_ACK, 0, 1, 0);
    p.us = us6;
    p.them = them6;
    peer_sends(&p, SCPS_SYN, 0, 0, 0);
    peer_gets(&p, SCPS_SYN | SCPS_ACK, 0, 1, 0);
    peer_close(&p);
}

/* As in Linux, a bind to an address of one family keeps an IPv6 socket to that family. */
static void bound_to_one_family(void **state)
{
    (void)state;
    struct peer p;
    struct scps_addr any4 = {.family = 4}, us4 = peer_addr("10.0.0.1"), six, four;
    peer_open_at(&p, NULL, SCPS_AF_INET6);
    assert_int_equal(scps_ctx_add_addr(p.ctx, &us4, 24), 0);
    six = p.them;
    four = peer_addr("10.0.0.2");
    /* ::ffff:10.0.0.1 and ::ffff:0.0.0.0 */
    for (int any = 0; any < 2; any++) {
        int s = peer_socket(&p);
        p.them = six;
        assert_int_equal(peer_bind(&p, s, any ? &any4 : &us4, (uint16_t)(9000 + any)), 0);
        assert_errno(peer_connect(&p, s), EAFNOSUPPORT);
        p.them = four;
        assert_errno(peer_connect(&p, s), EINPROGRESS);
        assert_true(peer_takes(&p));
        assert_int_equal(p.ip.version, 4);
        /* AF_UNSPEC disconnects; the family of the address stays. */
        struct scps_sockaddr none = {.sa_family = SCPS_AF_UNSPEC};
        assert_int_equal(scps_sock_connect(p.ctx, s, &none, sizeof none), 0);
        peer_getopt(&p, s, SCPS_SOL_SOCKET, SCPS_SO_ERROR);
        p.them = six;
        assert_errno(peer_connect(&p, s), EAFNOSUPPORT);
    }
    /* an address of IPv6: as with IPV6_V6ONLY */
    int s = peer_socket(&p);
    assert_int_equal(peer_getopt(&p, s, SCPS_SOL_IPV6, SCPS_IPV6_V6ONLY), 0);
    assert_int_equal(peer_bind(&p, s, &p.us, 9100), 0);
    assert_int_equal(peer_getopt(&p, s, SCPS_SOL_IPV6, SCPS_IPV6_V6ONLY), 1);
    p.them = four;
    assert_errno(peer_connect(&p, s), ENETUNREACH);
    /* On a bound IPv6 socket bind() looks at the address last, on an IPv4 socket first. */
    struct scps_addr foreign6 = peer_addr("2001:db8::77"), foreign4 = peer_addr("10.0.0.77");
    assert_errno(peer_bind(&p, s, &foreign6, 9200), EINVAL);
    p.domain = SCPS_AF_INET;
    int s4 = peer_socket(&p);
    assert_int_equal(peer_bind(&p, s4, &us4, 9300), 0);
    assert_errno(peer_bind(&p, s4, &foreign4, 9301), EADDRNOTAVAIL);
    peer_close(&p);
}

/* After a connection has failed, the socket has no port that bind() gave it, so IPV6_V6ONLY can be
 * set. */
static void v6only_after_a_failure(void **state)
{
    (void)state;
    struct peer p;
    peer_open_at(&p, NULL, SCPS_AF_INET6);
    int s = peer_socket(&p);
    peer_is_called(&p, s);
    peer_sends(&p, SCPS_RST | SCPS_ACK, 0, 1, 0);
    assert_errno(scps_sock_write(p.ctx, s, "x", 1), ECONNREFUSED);
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_IPV6, SCPS_IPV6_V6ONLY, 1), 0);
    peer_close(&p);
}

static void simultaneous_open(void **state)
{
    (void)state;
    struct peer p;
    peer_open(&p, NULL);
    int s = peer_socket(&p);
    peer_is_called(&p, s);
    peer_sends(&p, SCPS_SYN, 0, 0, 0);
    peer_gets(&p, SCPS_SYN | SCPS_ACK, 0, 1, 0);
    assert_errno(peer_connect(&p, s), EALREADY);
    assert_int_equal(peer_poll(&p, s), 0);
    peer_sends(&p, SCPS_ACK, 1, 1, 0);
    assert_int_equal(peer_poll(&p, s), P_OUT);
    assert_int_equal(peer_connect(&p, s), 0);
    peer_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connect_in_steps),
        cmocka_unit_test(refused),
        cmocka_unit_test(connect_times_out),
        cmocka_unit_test(icmp_ends_a_connect),
        cmocka_unit_test(icmp_is_soft_once_established),
        cmocka_unit_test(unreachable_and_invalid_addresses),
        cmocka_unit_test(disconnect),
        cmocka_unit_test(bound_before),
        cmocka_unit_test(bound_again_after_the_end),
        cmocka_unit_test(accept_queue),
        cmocka_unit_test(accepted_inherits),
        cmocka_unit_test(dual_stack),
        cmocka_unit_test(bound_to_one_family),
        cmocka_unit_test(v6only_after_a_failure),
        cmocka_unit_test(simultaneous_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
