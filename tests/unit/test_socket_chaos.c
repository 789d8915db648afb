/* SPDX-License-Identifier: MIT */
/* Random calls on a bad line: two contexts make random calls with random arguments on random
 * sockets, while packets are lost, duplicated and delayed. Nothing may crash or hang, and: a call
 * fails only with an errno of its own list; where poll() reports readable or writable, a
 * non-blocking call does not return EAGAIN, and where it reports neither, it does; the bytes of a
 * stream arrive in order, each once (the bytes of each stream count up from the port of its
 * connector). A failure prints the seed. */
#include "sockpeer.h"

#include "base/prng.h"

#define SOCKETS 8
#define CALLS   8000
#define AIR     256

struct end {
    struct scps_ctx *ctx;
    struct scps_addr addr;
    int fd[SOCKETS];
    uint8_t out[SOCKETS], in[SOCKETS]; /* The value of the next byte of each stream. */
    /* Whether the bytes read can be compared: nothing was discarded or only peeked at. */
    bool clean[SOCKETS];
};

static struct scps_prng rnd;
static uint64_t seed;
/* These counts show that the random calls led to connections at all. */
static uint64_t accepted, bytes, resets, ends;

static uint32_t below(uint32_t n)
{
    return (uint32_t)scps_prng_below(&rnd, n);
}

static struct late {
    struct scps_ctx *to;
    scps_time at;
    size_t len;
    uint8_t bytes[1600];
} air[AIR];
static unsigned flying;

static void collect(struct end *from, struct end *to)
{
    uint8_t b[1600];
    scps_time at;
    int64_t n;
    while ((n = scps_ctx_take(from->ctx, b, sizeof b, &at)) > 0) {
        unsigned copies = below(100) < 3 ? 0 : below(100) < 3 ? 2 : 1;
        while (copies-- && flying < AIR) {
            struct late *l = &air[flying++];
            *l = (struct late){.to = to->ctx, .at = at + 5000 + below(3000), .len = (size_t)n};
            if (below(50) == 0)
                l->at += SCPS_MS(100);
            memcpy(l->bytes, b, (size_t)n);
        }
    }
}

static void time_passes(struct end *a, struct end *b, scps_dur d)
{
    scps_time until = scps_ctx_now(a->ctx) + d;
    for (;;) {
        collect(a, b);
        collect(b, a);
        scps_time t = until, ta = scps_ctx_next_deadline(a->ctx),
                  tb = scps_ctx_next_deadline(b->ctx);
        unsigned first = AIR;
        for (unsigned i = 0; i < flying; i++)
            if (air[i].at < t) {
                t = air[i].at;
                first = i;
            }
        if ((ta < tb ? ta : tb) < t) {
            t = ta < tb ? ta : tb;
            first = AIR;
        }
        scps_ctx_advance(a->ctx, t);
        scps_ctx_advance(b->ctx, t);
        if (first < AIR) {
            struct late l = air[first];
            air[first] = air[--flying];
            scps_ctx_inject(l.to, l.bytes, l.len, l.at);
        } else if (t >= until) {
            return;
        }
    }
}

static void wrong(const char *call, int64_t r, int err)
{
    fail_msg("seed %llu: %s returned %lld, errno %d (%s)", (unsigned long long)seed, call,
             (long long)r, err, strerror(err));
}

/* Asserts that r is not -1, or that errno is in the list, which ends with 0. */
static void among(const char *call, int64_t r, const int *list)
{
    int err = errno;
    if (r != -1)
        return;
    for (; *list; list++)
        if (err == *list)
            return;
    wrong(call, r, err);
}

#define AMONG(call, r, ...) among(call, r, (const int[]){EBADF, __VA_ARGS__, 0})

static int revents(struct end *e, int fd)
{
    struct scps_pollfd p = {.fd = fd, .events = SCPS_POLLIN | SCPS_POLLOUT | SCPS_POLLRDHUP};
    scps_sock_poll(e->ctx, &p, 1, 0);
    return p.revents;
}

static void one_read(struct end *e, int i)
{
    uint8_t b[5000];
    int ev = revents(e, e->fd[i]);
    size_t len = 1 + below(sizeof b);
    int flags =
        SCPS_MSG_DONTWAIT | (below(4) ? 0 : SCPS_MSG_PEEK) | (below(8) ? 0 : SCPS_MSG_WAITALL);
    int64_t r = scps_sock_recv(e->ctx, e->fd[i], b, len, flags);
    AMONG("recv", r, EAGAIN, ENOTCONN, ECONNRESET, ECONNREFUSED, ETIMEDOUT,
          EPIPE /* an error from before a disconnect */);
    if (!(ev & SCPS_POLLNVAL)) {
        bool again = r == -1 && errno == EAGAIN;
        if (ev & SCPS_POLLIN && r == -1 && again)
            wrong("recv after POLLIN", r, errno);
        if (!(ev & (SCPS_POLLIN | SCPS_POLLHUP)) && r >= 0)
            wrong("recv without POLLIN", r, errno);
    }
    if (r > 0 && e->clean[i])
        for (int64_t k = 0; k < r; k++)
            if (b[k] != (uint8_t)(e->in[i] + k))
                wrong("recv: wrong byte", k, 0);
    if (r > 0 && !(flags & SCPS_MSG_PEEK)) {
        e->in[i] += (uint8_t)r;
        bytes += (uint64_t)r;
    }
    resets += r == -1 && errno == ECONNRESET;
    ends += r == 0;
}

static void one_write(struct end *e, int i)
{
    uint8_t b[9000];
    size_t len = below(sizeof b);
    int ev = revents(e, e->fd[i]);
    for (size_t k = 0; k < len; k++)
        b[k] = (uint8_t)(e->out[i] + k);
    int64_t r = scps_sock_send(e->ctx, e->fd[i], b, len,
                               SCPS_MSG_DONTWAIT | (below(5) ? 0 : SCPS_MSG_MORE));
    AMONG("send", r, EAGAIN, EPIPE, ECONNRESET, ECONNREFUSED, ETIMEDOUT, ECONNABORTED);
    if (ev & SCPS_POLLOUT && r == -1 && errno == EAGAIN)
        wrong("send after POLLOUT", r, errno);
    if (r > 0)
        e->out[i] += (uint8_t)r;
}

static uint16_t some_port(void)
{
    return (uint16_t)(7000 + below(3));
}

static void opened(struct end *e, int i, int fd)
{
    e->fd[i] = fd;
    e->out[i] = e->in[i] = 0;
    e->clean[i] = true;
}

static void any_call(struct end *e, const struct end *far)
{
    struct scps_sockaddr_storage ss;
    int i = (int)below(SOCKETS), fd = e->fd[i], v = (int)below(3);
    uint32_t len = sizeof ss;
    int64_t r;
    unsigned what = below(28);
    /* The first two sockets are mostly left listening, because random calls alone would seldom lead
     * to a connection. */
    if (i < 2 && (what == 8 || what == 9) && below(20))
        return;
    if (fd < 0)
        what = i < 2 || below(2) ? 0 : 6;
    switch (what) {
    case 0:
        if (fd >= 0)
            break;
        r = scps_socket(e->ctx, SCPS_AF_INET, SCPS_SOCK_STREAM, 0);
        AMONG("socket", r, EMFILE);
        opened(e, i, (int)r);
        scps_sock_setsockopt(e->ctx, e->fd[i], SCPS_SOL_SOCKET, SCPS_SO_REUSEADDR, &v, sizeof v);
        if (i < 2 && r >= 0) {
            struct scps_endpoint ep = {{.family = 4}, (uint16_t)(7000 + i)};
            len = scps_sockaddr_put(&ss, 0, &ep);
            scps_sock_bind(e->ctx, e->fd[i], &ss, len);
            scps_sock_listen(e->ctx, e->fd[i], 3);
        }
        break;
    case 1: {
        struct scps_endpoint ep = {{.family = 4}, below(3) ? some_port() : 0};
        len = scps_sockaddr_put(&ss, 0, &ep);
        AMONG("bind", scps_sock_bind(e->ctx, fd, &ss, len), EINVAL, EADDRINUSE);
        break;
    }
    case 2:
        AMONG("listen", scps_sock_listen(e->ctx, fd, (int)below(4) - 1), EINVAL, EADDRINUSE);
        break;
    case 3:
    case 4:
    case 5: {
        struct scps_endpoint ep = {far->addr, some_port()};
        len = scps_sockaddr_put(&ss, 0, &ep);
        if (below(30) == 0)
            ss.ss_family = SCPS_AF_UNSPEC;
        r = scps_sock_connect(e->ctx, fd, &ss, len);
        AMONG("connect", r, EINPROGRESS, EALREADY, EISCONN, ECONNREFUSED, ETIMEDOUT, ECONNRESET,
              ECONNABORTED, EADDRNOTAVAIL, EINVAL, EPIPE);
        if (r == -1 && errno == EINPROGRESS)
            e->out[i] = e->in[i] = 0; /* A new stream begins. */
        break;
    }
    case 6:
    case 7: {
        int slot = (int)below(SOCKETS);
        if (e->fd[slot] >= 0)
            break;
        if (below(10))
            fd = e->fd[below(2)];
        r = scps_sock_accept4(e->ctx, fd, &ss, &len, below(2) ? SCPS_SOCK_NONBLOCK : 0);
        AMONG("accept", r, EAGAIN, EINVAL, EMFILE);
        if (r >= 0) {
            opened(e, slot, (int)r);
            accepted++;
        }
        break;
    }
    case 8:
        AMONG("shutdown", scps_sock_shutdown(e->ctx, fd, (int)below(3)), ENOTCONN);
        break;
    case 9:
        if (below(3))
            break;
        AMONG("close", scps_sock_close(e->ctx, fd), EINTR);
        e->fd[i] = -1;
        break;
    case 10: {
        struct scps_linger lg = {(int)below(2), (int)below(2)};
        scps_sock_setsockopt(e->ctx, fd, SCPS_SOL_SOCKET, SCPS_SO_LINGER, &lg, sizeof lg);
        break;
    }
    case 11: {
        static const int names[] = {SCPS_TCP_NODELAY, SCPS_TCP_CORK, SCPS_TCP_QUICKACK};
        AMONG("setsockopt",
              scps_sock_setsockopt(e->ctx, fd, SCPS_SOL_TCP, names[below(3)], &v, sizeof v), 0);
        break;
    }
    case 12:
        v = 500 + (int)below(30000);
        AMONG("setsockopt buffer",
              scps_sock_setsockopt(e->ctx, fd, SCPS_SOL_SOCKET,
                                   below(2) ? SCPS_SO_SNDBUF : SCPS_SO_RCVBUF, &v, sizeof v),
              0);
        break;
    case 13: {
        struct scps_tcp_info ti;
        len = sizeof ti;
        AMONG("TCP_INFO", scps_sock_getsockopt(e->ctx, fd, SCPS_SOL_TCP, SCPS_TCP_INFO, &ti, &len),
              0);
        break;
    }
    case 14: {
        uint32_t n = sizeof v;
        AMONG("SO_ERROR", scps_sock_getsockopt(e->ctx, fd, SCPS_SOL_SOCKET, SCPS_SO_ERROR, &v, &n),
              0);
        break;
    }
    case 15: {
        int req[] = {SCPS_FIONREAD, SCPS_SIOCOUTQ, SCPS_SIOCOUTQNSD};
        r = scps_sock_ioctl(e->ctx, fd, (unsigned long)req[below(3)], &v);
        AMONG("ioctl", r, EINVAL);
        assert_true(r == -1 || v >= 0);
        break;
    }
    case 16: {
        AMONG("getpeername", scps_sock_getpeername(e->ctx, fd, &ss, &len), ENOTCONN);
        len = sizeof ss;
        AMONG("getsockname", scps_sock_getsockname(e->ctx, fd, &ss, &len), 0);
        break;
    }
    case 17:
        v = 1 + (int)below(3000);
        scps_sock_setsockopt(e->ctx, fd, SCPS_SOL_TCP, SCPS_TCP_NOTSENT_LOWAT, &v, sizeof v);
        break;
    case 18:
    case 19:
    case 20:
    case 21:
    case 22:
        one_write(e, i);
        break;
    default:
        one_read(e, i);
    }
}

static void run(uint64_t with)
{
    struct scps_ctx_config cfg = scps_ctx_config_linux();
    struct end a = {.addr = peer_addr("10.0.0.1")}, b = {.addr = peer_addr("10.0.0.2")};
    seed = with;
    scps_prng_seed(&rnd, seed);
    flying = 0;
    cfg.conn.sndbuf = cfg.conn.rcvbuf = 20000;
    cfg.max_sockets = SOCKETS;
    cfg.queue_packets = 32;
    cfg.stack_config.max_half_open = 3;
    cfg.stack_config.seed[0] = seed;
    a.ctx = scps_ctx_new(&cfg);
    cfg.stack_config.seed[0] = ~seed;
    b.ctx = scps_ctx_new(&cfg);
    scps_ctx_add_addr(a.ctx, &a.addr, 24);
    scps_ctx_add_addr(b.ctx, &b.addr, 24);
    for (int i = 0; i < SOCKETS; i++)
        a.fd[i] = b.fd[i] = -1;
    for (int n = 0; n < CALLS; n++) {
        if (below(2))
            any_call(&a, &b);
        else
            any_call(&b, &a);
        if (below(3) == 0)
            time_passes(&a, &b, below(10) ? below(20000) : below(50) ? SCPS_MS(500) : SCPS_SEC(70));
    }
    /* In the end all sockets are closed; only connections in TIME-WAIT remain, and later none. */
    for (int i = 0; i < SOCKETS; i++) {
        if (a.fd[i] >= 0)
            scps_sock_close(a.ctx, a.fd[i]);
        if (b.fd[i] >= 0)
            scps_sock_close(b.ctx, b.fd[i]);
    }
    time_passes(&a, &b, SCPS_SEC(3600));
    struct scps_stack_stats st;
    scps_stack_get_stats(scps_ctx_stack(a.ctx), &st);
    if (st.conns || st.listeners)
        fail_msg("seed %llu: %u connections, %u listeners left", (unsigned long long)seed, st.conns,
                 st.listeners);
    scps_ctx_free(a.ctx);
    scps_ctx_free(b.ctx);
}

static void random_programs(void **state)
{
    (void)state;
    const char *one = getenv("SEED");
    if (one) {
        run(strtoull(one, NULL, 0));
        return;
    }
    for (uint64_t s = 1; s <= 30; s++)
        run(s);
    print_message("%llu accepted, %llu bytes, %llu resets, %llu ends\n",
                  (unsigned long long)accepted, (unsigned long long)bytes,
                  (unsigned long long)resets, (unsigned long long)ends);
    assert_true(accepted > 100 && bytes > 500000 && resets > 100 && ends > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
