/* SPDX-License-Identifier: MIT */
/* The table of every call in every state: what it returns, and errno, as in Linux. Each cell has a
 * context of its own, because most calls change the state.
 *
 * docs/howto/sockets.md shows the same table, and a cell that changes has to be changed there, too.
 * On Linux the test makes the same calls to the kernel, over its loopback interface, and compares.
 */
#define _GNU_SOURCE
#include "sockpeer.h"

#ifdef __linux__
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>
#endif

enum state {
    NO_SOCKET,
    FRESH,
    BOUND,
    LISTENING,
    CONNECTING,
    REFUSED,     /* No call has reported the failure yet. */
    CONNECTED,   /* The socket has called connect(). */
    ACCEPTED,    /* The socket comes from accept(). */
    PEER_CLOSED, /* The connection is in CLOSE-WAIT. */
    SENDING_SHUT,
    READING_SHUT,
    RESET, /* No call has reported the reset yet. */
    RESET_TOLD,
    RESET_IN_CLOSE_WAIT,
    TIMED_OUT, /* No call has reported the timeout yet. */
    TIME_WAIT,
    STATES
};

static const char *const state_name[STATES] = {
    "no socket", "fresh",     "bound",      "listening",           "connecting",
    "refused",   "connected", "accepted",   "peer closed",         "shut wr",
    "shut rd",   "reset",     "reset told", "reset in close-wait", "timed out",
    "time-wait"};

enum call {
    READ,
    PEEK,
    WRITE,
    WRITE_NOTHING,
    CONNECT,
    BIND,
    LISTEN,
    ACCEPT,
    SHUTDOWN_RD,
    SHUTDOWN_WR,
    GETSOCKNAME,
    GETPEERNAME,
    IOCTL_FIONREAD,
    FCNTL_GETFL,
    SO_ERROR_IS, /* The value of the option, an errno. */
    CLOSE,
    CALLS
};

static const char *const call_name[CALLS] = {
    "read",     "peek",    "write",       "write nothing", "connect",  "bind",
    "listen",   "accept",  "shutdown rd", "shutdown wr",   "sockname", "peername",
    "FIONREAD", "F_GETFL", "SO_ERROR",    "close"};

/* Results in the table: 0 or a positive count is what the call returns; a negative number is an
 * errno with which the call returns -1. */
#define E(e) (-(e))
#define B    E(EBADF)

static const int table[STATES][CALLS] = {
    [NO_SOCKET] = {B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B},
    [FRESH] = {E(ENOTCONN), E(ENOTCONN), E(EPIPE), E(EPIPE), E(EINPROGRESS), 0, 0, E(EINVAL),
               E(ENOTCONN), E(ENOTCONN), 0, E(ENOTCONN), 0, 2, 0, 0},
    [BOUND] = {E(ENOTCONN), E(ENOTCONN), E(EPIPE), E(EPIPE), E(EINPROGRESS), E(EINVAL), 0,
               E(EINVAL), E(ENOTCONN), E(ENOTCONN), 0, E(ENOTCONN), 0, 2, 0, 0},
    [LISTENING] = {E(ENOTCONN), E(ENOTCONN), E(EPIPE), E(EPIPE), E(EISCONN), E(EINVAL), 0,
                   E(EAGAIN), 0, 0, 0, E(ENOTCONN), E(EINVAL), 2, 0, 0},
    [CONNECTING] = {E(EAGAIN), E(EAGAIN), E(EAGAIN), E(EAGAIN), E(EALREADY), E(EINVAL), E(EINVAL),
                    E(EINVAL), 0, 0, 0, E(ENOTCONN), 0, 2, 0, 0},
    [REFUSED] = {E(ECONNREFUSED), E(ECONNREFUSED), E(ECONNREFUSED), E(ECONNREFUSED),
                 E(ECONNREFUSED), 0, E(EINVAL), E(EINVAL), E(ENOTCONN), E(ENOTCONN), 0, E(ENOTCONN),
                 0, 2, ECONNREFUSED, 0},
    [CONNECTED] = {E(EAGAIN), E(EAGAIN), 1, 0, E(EISCONN), E(EINVAL), E(EINVAL), E(EINVAL), 0, 0, 0,
                   0, 0, 2, 0, 0},
    [ACCEPTED] = {E(EAGAIN), E(EAGAIN), 1, 0, E(EISCONN), E(EINVAL), E(EINVAL), E(EINVAL), 0, 0, 0,
                  0, 0, 2, 0, 0},
    [PEER_CLOSED] = {0, 0, 1, 0, E(EISCONN), E(EINVAL), E(EINVAL), E(EINVAL), 0, 0, 0, 0, 0, 2, 0,
                     0},
    [SENDING_SHUT] = {E(EAGAIN), E(EAGAIN), E(EPIPE), E(EPIPE), E(EISCONN), E(EINVAL), E(EINVAL),
                      E(EINVAL), 0, 0, 0, 0, 0, 2, 0, 0},
    [READING_SHUT] = {0, 0, 1, 0, E(EISCONN), E(EINVAL), E(EINVAL), E(EINVAL), 0, 0, 0, 0, 0, 2, 0,
                      0},
    [RESET] = {E(ECONNRESET), E(ECONNRESET), E(ECONNRESET), E(ECONNRESET), E(EISCONN), 0, E(EINVAL),
               E(EINVAL), E(ENOTCONN), E(ENOTCONN), 0, E(ENOTCONN), 0, 2, ECONNRESET, 0},
    [RESET_TOLD] = {0, 0, E(EPIPE), E(EPIPE), E(EISCONN), 0, E(EINVAL), E(EINVAL), E(ENOTCONN),
                    E(ENOTCONN), 0, E(ENOTCONN), 0, 2, 0, 0},
    [RESET_IN_CLOSE_WAIT] = {0, 0, E(EPIPE), E(EPIPE), E(EISCONN), 0, E(EINVAL), E(EINVAL),
                             E(ENOTCONN), E(ENOTCONN), 0, E(ENOTCONN), 0, 2, EPIPE, 0},
    [TIMED_OUT] = {E(ETIMEDOUT), E(ETIMEDOUT), E(ETIMEDOUT), E(ETIMEDOUT), E(EISCONN), 0, E(EINVAL),
                   E(EINVAL), E(ENOTCONN), E(ENOTCONN), 0, E(ENOTCONN), 0, 2, ETIMEDOUT, 0},
    [TIME_WAIT] = {0, 0, E(EPIPE), E(EPIPE), E(EISCONN), 0, E(EINVAL), E(EINVAL), E(ENOTCONN),
                   E(ENOTCONN), 0, E(ENOTCONN), 0, 2, 0, 0},
};

#define DEAD (P_IN | P_OUT | SCPS_POLLRDHUP | SCPS_POLLHUP)

static const int poll_table[STATES] = {
    [NO_SOCKET] = SCPS_POLLNVAL,
    [FRESH] = P_OUT | SCPS_POLLHUP,
    [BOUND] = P_OUT | SCPS_POLLHUP,
    [LISTENING] = 0,
    [CONNECTING] = 0,
    [REFUSED] = DEAD | SCPS_POLLERR,
    [CONNECTED] = P_OUT,
    [ACCEPTED] = P_OUT,
    [PEER_CLOSED] = P_IN | P_OUT | SCPS_POLLRDHUP,
    [SENDING_SHUT] = P_OUT,
    [READING_SHUT] = P_IN | P_OUT | SCPS_POLLRDHUP,
    [RESET] = DEAD | SCPS_POLLERR,
    [RESET_TOLD] = DEAD,
    [RESET_IN_CLOSE_WAIT] = DEAD | SCPS_POLLERR,
    [TIMED_OUT] = DEAD | SCPS_POLLERR,
    [TIME_WAIT] = DEAD,
};

static const int tcp_state[STATES] = {
    [FRESH] = SCPS_CLOSED,
    [BOUND] = SCPS_CLOSED,
    [LISTENING] = SCPS_LISTEN,
    [CONNECTING] = SCPS_SYN_SENT,
    [REFUSED] = SCPS_CLOSED,
    [CONNECTED] = SCPS_ESTABLISHED,
    [ACCEPTED] = SCPS_ESTABLISHED,
    [PEER_CLOSED] = SCPS_CLOSE_WAIT,
    [SENDING_SHUT] = SCPS_FIN_WAIT_2,
    [READING_SHUT] = SCPS_ESTABLISHED,
    [RESET] = SCPS_CLOSED,
    [RESET_TOLD] = SCPS_CLOSED,
    [RESET_IN_CLOSE_WAIT] = SCPS_CLOSED,
    [TIMED_OUT] = SCPS_CLOSED,
    [TIME_WAIT] = SCPS_CLOSED,
};

static int enter(struct peer *p, enum state st)
{
    struct scps_addr any = {.family = 4};
    int s;
    peer_open(p, NULL);
    switch (st) {
    case NO_SOCKET:
        s = peer_socket(p);
        assert_int_equal(scps_sock_close(p->ctx, s), 0);
        return s;
    case FRESH:
        return peer_socket(p);
    case BOUND:
        s = peer_socket(p);
        assert_int_equal(peer_bind(p, s, &any, 9999), 0);
        return s;
    case LISTENING:
        return peer_listens(p, 5);
    case CONNECTING:
    case REFUSED:
        s = peer_socket(p);
        peer_is_called(p, s);
        if (st == REFUSED)
            peer_sends(p, SCPS_RST | SCPS_ACK, 0, 1, 0);
        return s;
    case CONNECTED:
        return peer_connected(p);
    case ACCEPTED:
        return peer_accepted(p);
    case PEER_CLOSED:
    case RESET_IN_CLOSE_WAIT:
        s = peer_accepted(p);
        peer_sends(p, SCPS_FIN | SCPS_ACK, 1, 1, 0);
        if (st == RESET_IN_CLOSE_WAIT)
            peer_sends(p, SCPS_RST | SCPS_ACK, 2, 1, 0);
        return s;
    case SENDING_SHUT:
    case TIME_WAIT:
        s = peer_accepted(p);
        assert_int_equal(scps_sock_shutdown(p->ctx, s, SCPS_SHUT_WR), 0);
        peer_sends(p, SCPS_ACK, 1, 2, 0);
        if (st == TIME_WAIT)
            peer_sends(p, SCPS_FIN | SCPS_ACK, 1, 2, 0);
        return s;
    case READING_SHUT:
        s = peer_accepted(p);
        assert_int_equal(scps_sock_shutdown(p->ctx, s, SCPS_SHUT_RD), 0);
        return s;
    case RESET:
    case RESET_TOLD:
        s = peer_accepted(p);
        peer_sends(p, SCPS_RST | SCPS_ACK, 1, 1, 0);
        if (st == RESET_TOLD)
            assert_int_equal(peer_so_error(p, s), ECONNRESET);
        return s;
    case TIMED_OUT:
        s = peer_accepted(p);
        assert_int_equal(peer_setopt(p, s, SCPS_SOL_TCP, SCPS_TCP_USER_TIMEOUT, 1000), 0);
        assert_int_equal(scps_sock_write(p->ctx, s, "x", 1), 1);
        peer_wait(p, SCPS_SEC(10));
        return s;
    default:
        fail();
        return -1;
    }
}

static int64_t make(struct peer *p, int s, enum call c)
{
    struct scps_sockaddr_in in;
    struct scps_addr any = {.family = 4};
    uint32_t len = sizeof in;
    int v = 0;
    char b[4];
    switch (c) {
    case READ:
        return scps_sock_read(p->ctx, s, b, sizeof b);
    case PEEK:
        return scps_sock_recv(p->ctx, s, b, sizeof b, SCPS_MSG_PEEK);
    case WRITE:
        return scps_sock_write(p->ctx, s, "x", 1);
    case WRITE_NOTHING:
        return scps_sock_write(p->ctx, s, "x", 0);
    case CONNECT:
        p->their_port++;
        return peer_connect(p, s);
    case BIND:
        return peer_bind(p, s, &any, 6666);
    case LISTEN:
        return scps_sock_listen(p->ctx, s, 3);
    case ACCEPT:
        return scps_sock_accept(p->ctx, s, NULL, NULL);
    case SHUTDOWN_RD:
        return scps_sock_shutdown(p->ctx, s, SCPS_SHUT_RD);
    case SHUTDOWN_WR:
        return scps_sock_shutdown(p->ctx, s, SCPS_SHUT_WR);
    case GETSOCKNAME:
        return scps_sock_getsockname(p->ctx, s, &in, &len);
    case GETPEERNAME:
        return scps_sock_getpeername(p->ctx, s, &in, &len);
    case IOCTL_FIONREAD:
        return scps_sock_ioctl(p->ctx, s, SCPS_FIONREAD, &v);
    case FCNTL_GETFL:
        return scps_sock_fcntl(p->ctx, s, SCPS_F_GETFL, 0);
    case SO_ERROR_IS:
        len = sizeof v;
        if (scps_sock_getsockopt(p->ctx, s, SCPS_SOL_SOCKET, SCPS_SO_ERROR, &v, &len) < 0)
            return -1;
        return v;
    case CLOSE:
        return scps_sock_close(p->ctx, s);
    default:
        return -2;
    }
}

static void every_call_in_every_state(void **state)
{
    (void)state;
    for (int st = 0; st < STATES; st++)
        for (int c = 0; c < CALLS; c++) {
            struct peer p;
            int s = enter(&p, (enum state)st), want = table[st][c];
            errno = 0;
            int64_t r = make(&p, s, (enum call)c);
            int err = errno;
            if (want < 0 ? r != -1 || err != -want : r != want)
                fail_msg("%s, %s: returned %lld, errno %d (%s); wanted %s %d", state_name[st],
                         call_name[c], (long long)r, err, strerror(err),
                         want < 0 ? "errno" : "return", want < 0 ? -want : want);
            peer_close(&p);
        }
}

static void poll_in_every_state(void **state)
{
    (void)state;
    for (int st = 0; st < STATES; st++) {
        struct peer p;
        int s = enter(&p, (enum state)st), got = peer_poll(&p, s);
        if (got != poll_table[st])
            fail_msg("%s: poll says %#x, wanted %#x", state_name[st], (unsigned)got,
                     (unsigned)poll_table[st]);
        if (st != NO_SOCKET) {
            struct scps_tcp_info ti = peer_tcp_info(&p, s);
            if (ti.tcpi_state != tcp_state[st])
                fail_msg("%s: state %s", state_name[st],
                         scps_state_name((enum scps_state)ti.tcpi_state));
        }
        peer_close(&p);
    }
}

#ifdef __linux__
/* ---- the same calls to the kernel ---- */

struct kernel {
    int others[8], n; /* The descriptors of peers and listeners. */
};

static bool k_loopback(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    int l = socket(AF_INET, SOCK_STREAM, 0), c = socket(AF_INET, SOCK_STREAM, 0);
    bool ok = l >= 0 && c >= 0 && bind(l, (struct sockaddr *)&a, sizeof a) == 0 &&
              listen(l, 1) == 0 && getsockname(l, (struct sockaddr *)&a, &len) == 0 &&
              connect(c, (struct sockaddr *)&a, sizeof a) == 0;
    close(l);
    close(c);
    return ok;
}

static int k_keep(struct kernel *k, int fd)
{
    assert_true(fd >= 0 && k->n < 8);
    k->others[k->n++] = fd;
    return fd;
}

static int k_socket(void)
{
    return socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
}

static struct sockaddr_in k_listen(struct kernel *k, int fd, int backlog)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    (void)k;
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(fd, backlog), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
    return a;
}

static void k_settle(int fd, short ev)
{
    struct pollfd p = {.fd = fd, .events = ev};
    assert_int_equal(poll(&p, 1, 60000), 1);
}

/* Opens a connection. Returns the accepted descriptor, and the connecting one in *peer. */
static int k_pair(struct kernel *k, int *peer)
{
    int l = k_keep(k, k_socket());
    struct sockaddr_in a = k_listen(k, l, 5);
    *peer = k_socket();
    connect(*peer, (struct sockaddr *)&a, sizeof a);
    k_settle(l, POLLIN);
    int s = accept4(l, NULL, NULL, SOCK_NONBLOCK);
    assert_true(s >= 0);
    /* This connect() returns 0, because the handshake is done. */
    connect(*peer, (struct sockaddr *)&a, sizeof a);
    return s;
}

static void k_reset(int fd)
{
    struct linger lg = {1, 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &lg, sizeof lg);
    close(fd);
}

/* Returns a kernel socket in the given state, or -1 if the kernel cannot be brought into that state
 * here. */
static int k_enter(struct kernel *k, enum state st)
{
    int s, peer, v = 0;
    socklen_t len = sizeof v;
    struct sockaddr_in a;
    switch (st) {
    case NO_SOCKET:
        return 999;
    case FRESH:
        return k_socket();
    case BOUND:
    case LISTENING:
        s = k_socket();
        a = (struct sockaddr_in){.sin_family = AF_INET};
        assert_int_equal(bind(s, (struct sockaddr *)&a, sizeof a), 0);
        if (st == LISTENING)
            assert_int_equal(listen(s, 5), 0);
        return s;
    /* The socket connects to a listener whose queue is full, so it stays in SYN-SENT. */
    case CONNECTING: {
        int l = k_keep(k, k_socket());
        a = k_listen(k, l, 0);
        for (int i = 0; i < 3; i++) {
            s = k_keep(k, k_socket());
            connect(s, (struct sockaddr *)&a, sizeof a);
        }
        s = k_socket();
        connect(s, (struct sockaddr *)&a, sizeof a);
        return s;
    }
    case REFUSED: {
        int l = k_socket();
        a = k_listen(k, l, 5);
        close(l);
        s = k_socket();
        if (connect(s, (struct sockaddr *)&a, sizeof a) != -1 || errno != EINPROGRESS)
            fail();
        k_settle(s, POLLIN);
        return s;
    }
    case CONNECTED:
        k_keep(k, k_pair(k, &peer));
        return peer;
    case ACCEPTED:
    case READING_SHUT:
        s = k_pair(k, &peer);
        k_keep(k, peer);
        if (st == READING_SHUT)
            shutdown(s, SHUT_RD);
        return s;
    case PEER_CLOSED:
    case RESET_IN_CLOSE_WAIT:
        s = k_pair(k, &peer);
        shutdown(peer, SHUT_WR);
        k_settle(s, POLLRDHUP);
        if (st == RESET_IN_CLOSE_WAIT) {
            k_reset(peer);
            k_settle(s, 0);
        } else {
            k_keep(k, peer);
        }
        return s;
    case SENDING_SHUT:
    case TIME_WAIT:
        s = k_pair(k, &peer);
        shutdown(s, SHUT_WR);
        k_settle(peer, POLLRDHUP);
        if (st == TIME_WAIT) {
            shutdown(peer, SHUT_WR);
            k_settle(s, 0);
        }
        k_keep(k, peer);
        return s;
    case RESET:
    case RESET_TOLD:
        s = k_pair(k, &peer);
        k_reset(peer);
        k_settle(s, 0);
        if (st == RESET_TOLD)
            getsockopt(s, SOL_SOCKET, SO_ERROR, &v, &len);
        return s;
    default:
        return -1;
    }
}

static int64_t k_make(int s, enum call c)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    int v = 0;
    char b[4];
    switch (c) {
    case READ:
        return read(s, b, sizeof b);
    case PEEK:
        return recv(s, b, sizeof b, MSG_PEEK);
    case WRITE:
        return write(s, "x", 1);
    case WRITE_NOTHING:
        return send(s, "x", 0, 0);
    case CONNECT:
        a.sin_port = htons(9);
        return connect(s, (struct sockaddr *)&a, sizeof a);
    case BIND:
        return bind(s, (struct sockaddr *)&a, sizeof a);
    case LISTEN:
        return listen(s, 3);
    case ACCEPT:
        return accept(s, NULL, NULL);
    case SHUTDOWN_RD:
        return shutdown(s, SHUT_RD);
    case SHUTDOWN_WR:
        return shutdown(s, SHUT_WR);
    case GETSOCKNAME:
        return getsockname(s, (struct sockaddr *)&a, &len);
    case GETPEERNAME:
        return getpeername(s, (struct sockaddr *)&a, &len);
    case IOCTL_FIONREAD:
        return ioctl(s, FIONREAD, &v);
    case FCNTL_GETFL:
        v = fcntl(s, F_GETFL);
        return v < 0 ? v : v & O_ACCMODE;
    case SO_ERROR_IS:
        len = sizeof v;
        if (getsockopt(s, SOL_SOCKET, SO_ERROR, &v, &len) < 0)
            return -1;
        return v;
    case CLOSE:
        return close(s);
    default:
        return -2;
    }
}

static void the_kernel_agrees(void **state)
{
    (void)state;
    struct kernel k = {.n = 0};
    struct utsname u;
    int differ = 0, major = 0, minor = 0;
    if (uname(&u) || sscanf(u.release, "%d.%d", &major, &minor) != 2 ||
        major * 1000 + minor < 4019 || !k_loopback())
        /* This is no Linux kernel of version 4.19 or later, so there is nothing to compare with. */
        skip();
    signal(SIGPIPE, SIG_IGN);
    for (int st = 0; st < STATES; st++)
        for (int c = 0; c <= CALLS; c++) {
            k.n = 0;
            int s = k_enter(&k, (enum state)st);
            if (s >= 0 && c == CALLS) {
                struct pollfd fd = {.fd = s, .events = 0x7fff};
                poll(&fd, 1, 0);
                if ((fd.revents & ~(POLLRDBAND | POLLWRBAND)) != poll_table[st]) {
                    print_message("kernel: %s: poll says %#x, the table %#x\n", state_name[st],
                                  (unsigned)fd.revents, (unsigned)poll_table[st]);
                    differ++;
                }
            } else if (s >= 0) {
                int want = table[st][c];
                errno = 0;
                int64_t r = k_make(s, (enum call)c);
                int err = errno;
                bool same = want < 0 ? r == -1 && err == -want : r == want;
                if (!same) {
                    print_message("kernel: %s, %s: %lld, errno %d (%s); the table %d\n",
                                  state_name[st], call_name[c], (long long)r, err, strerror(err),
                                  want);
                    differ++;
                }
            }
            if (s >= 0)
                close(s);
            for (int i = 0; i < k.n; i++)
                close(k.others[i]);
        }
    assert_int_equal(differ, 0);
}
#endif

static void descriptors(void **state)
{
    (void)state;
    struct peer p;
    peer_open(&p, NULL);
    int bad[] = {-1, 0, 2, 3, 1000000, INT32_MAX};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char c;
        uint32_t len = 1;
        struct scps_pollfd fd = {.fd = bad[i], .events = SCPS_POLLIN, .revents = 1};
        assert_errno(scps_sock_read(p.ctx, bad[i], &c, 1), EBADF);
        assert_errno(scps_sock_close(p.ctx, bad[i]), EBADF);
        assert_errno(scps_sock_getsockopt(p.ctx, bad[i], 1, 1, &c, &len), EBADF);
        assert_errno(scps_sock_setsockopt(p.ctx, bad[i], 1, 1, &c, len), EBADF);
        assert_errno(scps_sock_ioctl(p.ctx, bad[i], SCPS_FIONREAD, &c), EBADF);
        errno = 0;
        assert_null(scps_sock_conn(p.ctx, bad[i]));
        assert_int_equal(errno, EBADF);
        assert_int_equal(scps_sock_poll(p.ctx, &fd, 1, 0), bad[i] >= 0);
        assert_int_equal(fd.revents, bad[i] < 0 ? 0 : SCPS_POLLNVAL);
    }
    assert_errno(scps_sock_poll(p.ctx, NULL, 1, 0), EFAULT);
    assert_int_equal(scps_sock_poll(p.ctx, NULL, 0, 0), 0);
    assert_errno(scps_socket(p.ctx, 1, SCPS_SOCK_STREAM, 0), EAFNOSUPPORT);
    assert_errno(scps_socket(p.ctx, SCPS_AF_INET, 3 /* raw */, 0), ESOCKTNOSUPPORT);
    assert_errno(scps_socket(p.ctx, SCPS_AF_INET, 77, 0), EINVAL);
    assert_errno(scps_socket(p.ctx, SCPS_AF_INET, SCPS_SOCK_STREAM, 17), EPROTONOSUPPORT);
    /* socket() returns the lowest free descriptor, from 3 on. */
    assert_int_equal(peer_socket(&p), 3);
    assert_int_equal(peer_socket(&p), 4);
    assert_int_equal(peer_socket(&p), 5);
    assert_int_equal(scps_sock_close(p.ctx, 4), 0);
    assert_int_equal(peer_socket(&p), 4);
    int s = scps_socket(p.ctx, SCPS_AF_INET,
                        SCPS_SOCK_STREAM | SCPS_SOCK_NONBLOCK | SCPS_SOCK_CLOEXEC, SCPS_SOL_TCP);
    assert_int_equal(s, 6);
    assert_int_equal(scps_sock_fcntl(p.ctx, s, SCPS_F_GETFL, 0), SCPS_O_RDWR | SCPS_O_NONBLOCK);
    assert_int_equal(scps_sock_fcntl(p.ctx, s, SCPS_F_GETFD, 0), SCPS_FD_CLOEXEC);
    peer_close(&p);
}

static void descriptors_run_out(void **state)
{
    (void)state;
    struct scps_ctx_config cfg = scps_ctx_config_linux();
    struct peer p;
    cfg.max_sockets = 20;
    cfg.first_fd = 100;
    peer_open(&p, &cfg);
    int l = peer_listens(&p, 5);
    assert_int_equal(l, 100);
    for (int i = 1; i < 20; i++)
        assert_int_equal(peer_socket(&p), 100 + i);
    assert_errno(scps_socket(p.ctx, SCPS_AF_INET, SCPS_SOCK_STREAM, 0), EMFILE);
    peer_calls(&p, 7001);
    assert_errno(scps_sock_accept(p.ctx, l, NULL, NULL), EMFILE);
    assert_int_equal(peer_poll(&p, l), P_IN); /* The connection still waits to be accepted. */
    assert_int_equal(scps_sock_close(p.ctx, 110), 0);
    assert_int_equal(scps_sock_accept(p.ctx, l, NULL, NULL), 110);
    peer_close(&p);
}

static void binding(void **state)
{
    (void)state;
    struct peer p;
    struct scps_addr any = {.family = 4}, other = peer_addr("10.0.0.9");
    struct scps_addr second = peer_addr("10.0.1.1");
    struct scps_sockaddr_storage ss;
    peer_open(&p, NULL);
    assert_int_equal(scps_ctx_add_addr(p.ctx, &second, 24), 0);
    int a = peer_socket(&p), b = peer_socket(&p), c = peer_socket(&p), d;
    assert_errno(peer_bind(&p, a, &other, 80), EADDRNOTAVAIL);
    uint32_t len = peer_sockaddr(&p, &ss, &any, 80);
    assert_errno(scps_sock_bind(p.ctx, a, &ss, len - 1), EINVAL);
    assert_errno(scps_sock_bind(p.ctx, a, NULL, len), EFAULT);
    ss.ss_family = SCPS_AF_INET6;
    assert_errno(scps_sock_bind(p.ctx, a, &ss, len), EAFNOSUPPORT);
    /* As in Linux, bind() accepts the address 0.0.0.0 of family AF_UNSPEC. */
    ss.ss_family = SCPS_AF_UNSPEC;
    assert_int_equal(scps_sock_bind(p.ctx, a, &ss, len), 0);
    assert_errno(peer_bind(&p, a, &any, 81), EINVAL);
    /* A port of an address can be bound once. */
    assert_errno(peer_bind(&p, b, &any, 80), EADDRINUSE);
    assert_errno(peer_bind(&p, b, &p.us, 80), EADDRINUSE);
    assert_int_equal(peer_bind(&p, b, &p.us, 81), 0);
    /* The same port of another address is free. */
    assert_int_equal(peer_bind(&p, c, &second, 81), 0);
    /* If both sockets have SO_REUSEADDR they may share the port until one of them listens. */
    int e = peer_socket(&p), f = peer_socket(&p), g = peer_socket(&p);
    assert_int_equal(peer_setopt(&p, e, SCPS_SOL_SOCKET, SCPS_SO_REUSEADDR, 1), 0);
    assert_int_equal(peer_setopt(&p, f, SCPS_SOL_SOCKET, SCPS_SO_REUSEADDR, 1), 0);
    assert_int_equal(peer_bind(&p, e, &any, 90), 0);
    assert_errno(peer_bind(&p, g, &any, 90), EADDRINUSE);
    assert_int_equal(peer_bind(&p, f, &any, 90), 0);
    assert_int_equal(scps_sock_listen(p.ctx, e, 1), 0);
    assert_errno(scps_sock_listen(p.ctx, f, 1), EADDRINUSE);
    assert_int_equal(peer_setopt(&p, g, SCPS_SOL_SOCKET, SCPS_SO_REUSEADDR, 1), 0);
    /* A port cannot be shared with a socket that listens. */
    assert_errno(peer_bind(&p, g, &any, 90), EADDRINUSE);
    assert_int_equal(scps_sock_close(p.ctx, e), 0);
    assert_int_equal(scps_sock_listen(p.ctx, f, 1), 0);
    /* A server is started again while connections of its last run still exist. */
    p.our_port = 90;
    peer_sends(&p, SCPS_SYN, 0, 0, 0);
    peer_gets(&p, SCPS_SYN | SCPS_ACK, 0, 1, 0);
    peer_sends(&p, SCPS_ACK, 1, 1, 0);
    assert_true(scps_sock_accept(p.ctx, f, NULL, NULL) >= 0);
    assert_int_equal(scps_sock_close(p.ctx, f), 0);
    d = peer_socket(&p);
    assert_errno(peer_bind(&p, d, &any, 90), EADDRINUSE);
    assert_int_equal(peer_setopt(&p, d, SCPS_SOL_SOCKET, SCPS_SO_REUSEADDR, 1), 0);
    assert_int_equal(peer_bind(&p, d, &any, 90), 0);
    assert_int_equal(scps_sock_listen(p.ctx, d, 1), 0);
    /* listen() without bind() chooses a port. */
    int h = peer_socket(&p);
    assert_int_equal(scps_sock_listen(p.ctx, h, 1), 0);
    struct scps_endpoint ep;
    len = sizeof ss;
    assert_int_equal(scps_sock_getsockname(p.ctx, h, &ss, &len), 0);
    assert_int_equal(scps_sockaddr_get(&ss, len, &ep), 0);
    assert_true(ep.port >= 32768 && ep.port <= 60999);
    peer_close(&p);
}

static void ports_run_out(void **state)
{
    (void)state;
    struct scps_ctx_config cfg = scps_ctx_config_linux();
    struct scps_addr any = {.family = 4};
    struct peer p;
    cfg.stack_config.port_min = 40000;
    cfg.stack_config.port_max = 40009;
    peer_open(&p, &cfg);
    unsigned seen = 0;
    for (int i = 0; i < 10; i++) {
        struct scps_sockaddr_storage ss;
        struct scps_endpoint ep;
        uint32_t len = sizeof ss;
        int s = peer_socket(&p);
        assert_int_equal(peer_bind(&p, s, &any, 0), 0);
        assert_int_equal(scps_sock_getsockname(p.ctx, s, &ss, &len), 0);
        assert_int_equal(scps_sockaddr_get(&ss, len, &ep), 0);
        assert_true(ep.port >= 40000 && ep.port <= 40009);
        seen |= 1u << (ep.port - 40000);
    }
    assert_int_equal(seen, 0x3ff); /* Each port of the range was chosen once. */
    assert_errno(peer_bind(&p, peer_socket(&p), &any, 0), EADDRINUSE);
    peer_close(&p);
}

static void addresses(void **state)
{
    (void)state;
    struct scps_sockaddr_storage ss;
    struct scps_endpoint ep = {peer_addr("192.0.2.7"), 8080}, back;
    uint32_t len = scps_sockaddr_put(&ss, 0, &ep);
    assert_int_equal(len, sizeof(struct scps_sockaddr_in));
    const uint8_t want[8] = {SCPS_AF_INET & 0xff, 0, 0x1f, 0x90, 192, 0, 2, 7};
    assert_memory_equal((uint8_t *)&ss + 2, want + 2, 6);
    assert_int_equal(scps_sockaddr_get(&ss, len, &back), 0);
    assert_true(scps_addr_equal(&back.addr, &ep.addr));
    assert_int_equal(back.port, 8080);
    len = scps_sockaddr_put(&ss, SCPS_AF_INET6, &ep);
    assert_int_equal(len, sizeof(struct scps_sockaddr_in6));
    assert_int_equal(scps_sockaddr_get(&ss, len, &back), 0);
    /* An IPv4-mapped address is parsed as IPv4. */
    assert_true(scps_addr_equal(&back.addr, &ep.addr));
    ep.addr = peer_addr("2001:db8::7");
    assert_int_equal(scps_sockaddr_put(&ss, SCPS_AF_INET, &ep), 0);
    len = scps_sockaddr_put(&ss, 0, &ep);
    assert_int_equal(len, sizeof(struct scps_sockaddr_in6));
    assert_int_equal(scps_sockaddr_get(&ss, len, &back), 0);
    assert_true(scps_addr_equal(&back.addr, &ep.addr));
    assert_errno(scps_sockaddr_get(&ss, 23, &back), EINVAL);
    assert_errno(scps_sockaddr_get(&ss, 1, &back), EINVAL);
    assert_errno(scps_sockaddr_get(NULL, 16, &back), EFAULT);
    ss.ss_family = 99;
    assert_errno(scps_sockaddr_get(&ss, len, &back), EAFNOSUPPORT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_in_every_state),
        cmocka_unit_test(poll_in_every_state),
#ifdef __linux__
        cmocka_unit_test(the_kernel_agrees),
#endif
        cmocka_unit_test(descriptors),
        cmocka_unit_test(descriptors_run_out),
        cmocka_unit_test(binding),
        cmocka_unit_test(ports_run_out),
        cmocka_unit_test(addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
