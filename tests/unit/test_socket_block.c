/* SPDX-License-Identifier: MIT */
/* Blocking socket calls in virtual time: two contexts are joined by a line with a delay, and the
 * callback cfg.wait advances the simulated time until the call can return. There is one thread
 * here; test_socket_threads.c has several. */
#include "sockpeer.h"

#define DELAY SCPS_MS(10)
#define AIR   512

struct flight {
    struct scps_ctx *to;
    scps_time arrives;
    size_t len;
    uint8_t bytes[1600];
};

static struct world {
    struct scps_ctx *a, *b;
    struct flight air[AIR]; /* The packets on the line, in order of arrival. */
    unsigned n;
    bool cut; /* While `cut` is true the line loses every packet. */
    /* What the other end does at the time then_at; NULL: nothing. */
    void (*then)(void);
    scps_time then_at;
    int run; /* The value that the callback returns; 0: the wait goes on. */
    unsigned waits;
} w;

static void collect(struct scps_ctx *from, struct scps_ctx *to)
{
    scps_time sent;
    uint8_t buf[1600];
    int64_t n;
    while ((n = scps_ctx_take(from, buf, sizeof buf, &sent)) > 0) {
        if (w.cut)
            continue;
        assert_true(w.n < AIR);
        struct flight f = {.to = to, .arrives = sent + DELAY, .len = (size_t)n};
        memcpy(f.bytes, buf, (size_t)n);
        unsigned i = w.n++;
        for (; i && w.air[i - 1].arrives > f.arrives; i--)
            w.air[i] = w.air[i - 1];
        w.air[i] = f;
    }
}

static scps_time earlier(scps_time x, scps_time y)
{
    return x < y ? x : y;
}

/* Advances to the next event if it comes before `until`. Returns false if there is none. */
static bool happen(scps_time until)
{
    collect(w.a, w.b);
    collect(w.b, w.a);
    scps_time t = earlier(scps_ctx_next_deadline(w.a), scps_ctx_next_deadline(w.b));
    if (w.n)
        t = earlier(t, w.air[0].arrives);
    if (w.then)
        t = earlier(t, w.then_at);
    if (t > until)
        t = until;
    if (t == SCPS_NEVER)
        return false;
    scps_ctx_advance(w.a, t);
    scps_ctx_advance(w.b, t);
    if (w.then && w.then_at <= t) {
        void (*f)(void) = w.then;
        w.then = NULL;
        f();
    }
    while (w.n && w.air[0].arrives <= t) {
        struct flight f = w.air[0];
        memmove(w.air, w.air + 1, --w.n * sizeof *w.air);
        scps_ctx_inject(f.to, f.bytes, f.len, f.arrives);
    }
    return true;
}

static int run_world(const struct scps_wait *wait)
{
    w.waits++;
    if (w.run)
        return w.run;
    while (!scps_wait_over(wait))
        if (!happen(wait->deadline))
            return EDEADLK; /* No event will ever happen, so the call would block for ever. */
    return 0;
}

static void run_for(scps_dur d)
{
    scps_time until = scps_ctx_now(w.a) + d;
    while (scps_ctx_now(w.a) < until)
        happen(until);
}

static void address(struct scps_sockaddr_in *in, const char *text, uint16_t port)
{
    struct scps_sockaddr_storage ss;
    struct scps_endpoint ep = {peer_addr(text), port};
    scps_sockaddr_put(&ss, SCPS_AF_INET, &ep);
    memcpy(in, &ss, sizeof *in);
}

static int setup(void **state)
{
    (void)state;
    struct scps_ctx_config cfg = scps_ctx_config_linux();
    struct scps_addr aa = peer_addr("10.0.0.1"), ab = peer_addr("10.0.0.2");
    memset(&w, 0, sizeof w);
    cfg.wait = run_world;
    cfg.conn.sndbuf = cfg.conn.rcvbuf = 20000;
    w.a = scps_ctx_new(&cfg);
    w.b = scps_ctx_new(&cfg);
    assert_int_equal(scps_ctx_add_addr(w.a, &aa, 24), 0);
    assert_int_equal(scps_ctx_add_addr(w.b, &ab, 24), 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    scps_ctx_free(w.a);
    scps_ctx_free(w.b);
    return 0;
}

static int listening(struct scps_ctx *ctx)
{
    struct scps_sockaddr_in in = {.sin_family = SCPS_AF_INET, .sin_port = 0x901f};
    int l = scps_socket(ctx, SCPS_AF_INET, SCPS_SOCK_STREAM, 0), one = 1;
    assert_int_equal(
        scps_sock_setsockopt(ctx, l, SCPS_SOL_SOCKET, SCPS_SO_REUSEADDR, &one, sizeof one), 0);
    assert_int_equal(scps_sock_bind(ctx, l, &in, sizeof in), 0);
    assert_int_equal(scps_sock_listen(ctx, l, 5), 0);
    return l;
}

/* The sockets that connected() opens: sa in context a, sb in context b, and the listener lb. */
static int sa, sb, lb;

static void connected(void)
{
    struct scps_sockaddr_in in;
    lb = listening(w.b);
    address(&in, "10.0.0.2", 8080);
    in.sin_port = 0x901f;
    sa = scps_socket(w.a, SCPS_AF_INET, SCPS_SOCK_STREAM, 0);
    scps_time t0 = scps_ctx_now(w.a);
    assert_int_equal(scps_sock_connect(w.a, sa, &in, sizeof in), 0);
    /* connect() returns after one round trip. */
    assert_int_equal(scps_ctx_now(w.a) - t0, 2 * DELAY);
    assert_errno(scps_sock_connect(w.a, sa, &in, sizeof in), EISCONN);
    /* accept() waits for the third packet of the handshake. */
    sb = scps_sock_accept(w.b, lb, NULL, NULL);
    assert_true(sb >= 0);
    assert_int_equal(scps_ctx_now(w.a) - t0, 3 * DELAY);
}

static void connect_and_accept(void **state)
{
    (void)state;
    connected();
    assert_true(w.waits >= 2);
}

static void refused(void **state)
{
    (void)state;
    struct scps_sockaddr_in in;
    address(&in, "10.0.0.2", 99);
    int s = scps_socket(w.a, SCPS_AF_INET, SCPS_SOCK_STREAM, 0);
    assert_errno(scps_sock_connect(w.a, s, &in, sizeof in), ECONNREFUSED);
    assert_int_equal(scps_ctx_now(w.a), 2 * DELAY);
    w.cut = true;
    assert_errno(scps_sock_connect(w.a, s, &in, sizeof in), ETIMEDOUT);
    assert_int_equal(scps_ctx_now(w.a), 2 * DELAY + SCPS_SEC(127));
    /* SO_SNDTIMEO limits the wait of connect(); the handshake goes on in the background. */
    struct scps_timeval tv = {2, 0};
    assert_int_equal(
        scps_sock_setsockopt(w.a, s, SCPS_SOL_SOCKET, SCPS_SO_SNDTIMEO, &tv, sizeof tv), 0);
    scps_time t0 = scps_ctx_now(w.a);
    assert_errno(scps_sock_connect(w.a, s, &in, sizeof in), EINPROGRESS);
    assert_int_equal(scps_ctx_now(w.a) - t0, SCPS_SEC(2));
    assert_errno(scps_sock_connect(w.a, s, &in, sizeof in), EALREADY);
    assert_int_equal(scps_ctx_now(w.a) - t0, SCPS_SEC(4));
}

static void b_says_hello(void)
{
    assert_int_equal(scps_sock_write(w.b, sb, "hello", 5), 5);
}

static void b_closes(void)
{
    assert_int_equal(scps_sock_close(w.b, sb), 0);
}

static void reading_waits(void **state)
{
    (void)state;
    char b[100];
    connected();
    w.then = b_says_hello;
    w.then_at = scps_ctx_now(w.a) + SCPS_MS(500);
    scps_time t0 = scps_ctx_now(w.a);
    assert_int_equal(scps_sock_read(w.a, sa, b, sizeof b), 5);
    assert_memory_equal(b, "hello", 5);
    assert_int_equal(scps_ctx_now(w.a) - t0, SCPS_MS(500) + DELAY);
    /* MSG_DONTWAIT makes the call return EAGAIN at once. */
    assert_errno(scps_sock_recv(w.a, sa, b, 1, SCPS_MSG_DONTWAIT), EAGAIN);
    assert_int_equal(scps_sock_fcntl(w.a, sa, SCPS_F_SETFL, SCPS_O_NONBLOCK), 0);
    assert_errno(scps_sock_read(w.a, sa, b, 1), EAGAIN);
    assert_int_equal(scps_sock_fcntl(w.a, sa, SCPS_F_SETFL, 0), 0);
    /* SO_RCVTIMEO limits the wait to 300 ms. */
    struct scps_timeval tv = {0, 300000};
    assert_int_equal(
        scps_sock_setsockopt(w.a, sa, SCPS_SOL_SOCKET, SCPS_SO_RCVTIMEO, &tv, sizeof tv), 0);
    t0 = scps_ctx_now(w.a);
    assert_errno(scps_sock_read(w.a, sa, b, 1), EAGAIN);
    assert_int_equal(scps_ctx_now(w.a) - t0, SCPS_MS(300));
    tv = (struct scps_timeval){-1, 0}; /* A negative time means: do not wait. */
    assert_int_equal(
        scps_sock_setsockopt(w.a, sa, SCPS_SOL_SOCKET, SCPS_SO_RCVTIMEO, &tv, sizeof tv), 0);
    assert_errno(scps_sock_read(w.a, sa, b, 1), EAGAIN);
    tv = (struct scps_timeval){0, 0}; /* The time 0 means: wait without a limit. */
    assert_int_equal(
        scps_sock_setsockopt(w.a, sa, SCPS_SOL_SOCKET, SCPS_SO_RCVTIMEO, &tv, sizeof tv), 0);
    /* MSG_WAITALL waits for several segments until the buffer is full; at the end of the stream it
     * returns fewer bytes. */
    w.then = b_says_hello;
    w.then_at = scps_ctx_now(w.a) + SCPS_MS(5);
    assert_int_equal(scps_sock_write(w.b, sb, "one", 3), 3);
    assert_int_equal(scps_sock_recv(w.a, sa, b, 8, SCPS_MSG_PEEK | SCPS_MSG_WAITALL), 8);
    assert_memory_equal(b, "onehello", 8);
    memset(b, 0, sizeof b);
    assert_int_equal(scps_sock_recv(w.a, sa, b, 8, SCPS_MSG_WAITALL), 8);
    assert_memory_equal(b, "onehello", 8);
    assert_int_equal(scps_sock_write(w.b, sb, "end", 3), 3);
    w.then = b_closes;
    w.then_at = scps_ctx_now(w.a) + SCPS_MS(500);
    assert_int_equal(scps_sock_recv(w.a, sa, b, 50, SCPS_MSG_WAITALL), 3);
    assert_int_equal(scps_sock_recv(w.a, sa, b, 50, SCPS_MSG_WAITALL), 0);
}

static uint8_t big[100000], back[100000];
static size_t drained;

static void b_drains(void)
{
    int64_t n;
    while ((n = scps_sock_recv(w.b, sb, back + drained, sizeof back - drained, SCPS_MSG_DONTWAIT)) >
           0)
        drained += (size_t)n;
    w.then = drained < sizeof back ? b_drains : NULL;
    w.then_at = scps_ctx_now(w.b) + SCPS_MS(50);
}

static void writing_waits(void **state)
{
    (void)state;
    connected();
    for (size_t i = 0; i < sizeof big; i++)
        big[i] = (uint8_t)(i * 31 >> 3);
    drained = 0;
    w.then = b_drains;
    w.then_at = scps_ctx_now(w.a) + SCPS_SEC(1);
    /* The write has five times as many bytes as both buffers hold, and blocks until all are
     * taken. */
    assert_int_equal(scps_sock_write(w.a, sa, big, sizeof big), sizeof big);
    assert_true(scps_ctx_now(w.a) > SCPS_SEC(1));
    run_for(SCPS_SEC(5));
    assert_int_equal(drained, sizeof big);
    assert_memory_equal(big, back, sizeof big);
    /* A gathered write of three pieces blocks in the same way. */
    struct scps_iovec v[3] = {{big, 30000}, {big + 30000, 40000}, {big + 70000, 30000}};
    drained = 0;
    w.then = b_drains;
    w.then_at = scps_ctx_now(w.a);
    assert_int_equal(scps_sock_writev(w.a, sa, v, 3), sizeof big);
    run_for(SCPS_SEC(5));
    assert_memory_equal(big, back, sizeof big);
    /* When SO_SNDTIMEO expires the call returns the number of bytes taken so far, the next call
     * EAGAIN. */
    struct scps_timeval tv = {1, 0};
    w.then = NULL;
    assert_int_equal(
        scps_sock_setsockopt(w.a, sa, SCPS_SOL_SOCKET, SCPS_SO_SNDTIMEO, &tv, sizeof tv), 0);
    int64_t n = scps_sock_write(w.a, sa, big, sizeof big);
    assert_true(n > 0 && n <= 40000);
    assert_errno(scps_sock_write(w.a, sa, big, 1), EAGAIN);
    /* A reset arrives while the call waits. */
    tv.tv_sec = 0;
    assert_int_equal(
        scps_sock_setsockopt(w.a, sa, SCPS_SOL_SOCKET, SCPS_SO_SNDTIMEO, &tv, sizeof tv), 0);
    /* The peer closes with unread data, so it sends a reset (RFC 2525 section 2.17). */
    w.then = b_closes;
    w.then_at = scps_ctx_now(w.a) + SCPS_MS(100);
    assert_errno(scps_sock_write(w.a, sa, big, 1), ECONNRESET);
    assert_errno(scps_sock_write(w.a, sa, big, 1), EPIPE);
}

static void sending_waits_for_the_connection(void **state)
{
    (void)state;
    struct scps_sockaddr_in in;
    char b[10];
    lb = listening(w.b);
    address(&in, "10.0.0.2", 8080);
    in.sin_port = 0x901f;
    sa = scps_socket(w.a, SCPS_AF_INET, SCPS_SOCK_STREAM | SCPS_SOCK_NONBLOCK, 0);
    assert_errno(scps_sock_connect(w.a, sa, &in, sizeof in), EINPROGRESS);
    assert_int_equal(scps_sock_fcntl(w.a, sa, SCPS_F_SETFL, 0), 0);
    assert_int_equal(scps_sock_write(w.a, sa, "hi", 2), 2);
    assert_int_equal(scps_ctx_now(w.a), 2 * DELAY);
    sb = scps_sock_accept(w.b, lb, NULL, NULL);
    assert_int_equal(scps_sock_read(w.b, sb, b, sizeof b), 2);
}

static void b_connects(void)
{
    struct scps_sockaddr_in in;
    address(&in, "10.0.0.1", 8080);
    in.sin_port = 0x901f;
    int s = scps_socket(w.b, SCPS_AF_INET, SCPS_SOCK_STREAM | SCPS_SOCK_NONBLOCK, 0);
    assert_errno(scps_sock_connect(w.b, s, &in, sizeof in), EINPROGRESS);
}

static void polling(void **state)
{
    (void)state;
    connected();
    int la = listening(w.a);
    struct scps_pollfd f[3] = {{.fd = la, .events = SCPS_POLLIN},
                               {.fd = -5, .events = SCPS_POLLIN, .revents = 7},
                               {.fd = sa, .events = SCPS_POLLIN | SCPS_POLLRDHUP}};
    scps_time t0 = scps_ctx_now(w.a);
    assert_int_equal(scps_sock_poll(w.a, f, 3, 250), 0);
    assert_int_equal(scps_ctx_now(w.a) - t0, SCPS_MS(250));
    assert_int_equal(f[1].revents, 0);
    w.then = b_says_hello;
    w.then_at = scps_ctx_now(w.a) + SCPS_MS(70);
    t0 = scps_ctx_now(w.a);
    assert_int_equal(scps_sock_poll(w.a, f, 3, -1), 1);
    assert_int_equal(scps_ctx_now(w.a) - t0, SCPS_MS(80));
    assert_int_equal(f[0].revents, 0);
    assert_int_equal(f[2].revents, SCPS_POLLIN);
    f[2].events = SCPS_POLLRDHUP;
    w.then = b_connects;
    w.then_at = scps_ctx_now(w.a) + SCPS_MS(70);
    assert_int_equal(scps_sock_poll(w.a, f, 3, 10000), 1);
    assert_int_equal(f[0].revents, SCPS_POLLIN);
    f[0].events = 0;
    w.then = b_closes;
    w.then_at = scps_ctx_now(w.a) + SCPS_MS(70);
    assert_int_equal(scps_sock_poll(w.a, f, 3, 10000), 1);
    assert_int_equal(f[2].revents, SCPS_POLLRDHUP);
    f[0].fd = 77;
    assert_int_equal(scps_sock_poll(w.a, f, 3, 10000), 2);
    assert_int_equal(f[0].revents, SCPS_POLLNVAL);
}

static void closing_waits(void **state)
{
    (void)state;
    struct scps_linger lg = {1, 30};
    char b[10];
    connected();
    assert_int_equal(scps_sock_setsockopt(w.a, sa, SCPS_SOL_SOCKET, SCPS_SO_LINGER, &lg, sizeof lg),
                     0);
    assert_int_equal(scps_sock_write(w.a, sa, "abc", 3), 3);
    scps_time t0 = scps_ctx_now(w.a);
    assert_int_equal(scps_sock_close(w.a, sa), 0);
    /* close() with SO_LINGER returns when the FIN is acknowledged. */
    assert_int_equal(scps_ctx_now(w.a) - t0, 2 * DELAY);
    assert_int_equal(scps_sock_read(w.b, sb, b, sizeof b), 3);
    assert_int_equal(scps_sock_read(w.b, sb, b, sizeof b), 0);
    assert_int_equal(scps_sock_close(w.b, sb), 0);
    assert_int_equal(scps_sock_close(w.b, lb), 0);
    run_for(SCPS_SEC(100));

    /* Nobody acknowledges: close() waits as long as SO_LINGER says, on a non-blocking socket too,
     * and the connection then closes in the background. */
    connected();
    lg.l_linger = 3;
    assert_int_equal(scps_sock_setsockopt(w.a, sa, SCPS_SOL_SOCKET, SCPS_SO_LINGER, &lg, sizeof lg),
                     0);
    assert_int_equal(scps_sock_fcntl(w.a, sa, SCPS_F_SETFL, SCPS_O_NONBLOCK), 0);
    w.cut = true;
    t0 = scps_ctx_now(w.a);
    int fd = sa;
    assert_int_equal(scps_sock_close(w.a, sa), 0);
    assert_int_equal(scps_ctx_now(w.a) - t0, SCPS_SEC(3));
    w.cut = false;
    run_for(SCPS_SEC(10));
    assert_int_equal(scps_sock_read(w.b, sb, b, sizeof b), 0);
    assert_errno(scps_sock_close(w.a, fd), EBADF);
    /* close() is interrupted: the descriptor is freed all the same. */
    assert_int_equal(scps_sock_close(w.b, lb), 0);
    connected();
    assert_int_equal(scps_sock_setsockopt(w.a, sa, SCPS_SOL_SOCKET, SCPS_SO_LINGER, &lg, sizeof lg),
                     0);
    w.run = EINTR;
    assert_errno(scps_sock_close(w.a, sa), EINTR);
    assert_errno(scps_sock_close(w.a, sa), EBADF);
    w.run = 0;
    assert_int_equal(scps_sock_read(w.b, sb, b, sizeof b), 0);
    /* Data arrives for a socket that was closed: the stack sends a reset, and close() waits no
     * longer. */
    assert_int_equal(scps_sock_close(w.b, lb), 0);
    connected();
    assert_int_equal(scps_sock_setsockopt(w.a, sa, SCPS_SOL_SOCKET, SCPS_SO_LINGER, &lg, sizeof lg),
                     0);
    assert_int_equal(scps_sock_write(w.b, sb, "too late", 8), 8);
    t0 = scps_ctx_now(w.a);
    assert_int_equal(scps_sock_close(w.a, sa), 0);
    assert_true(scps_ctx_now(w.a) - t0 <= 2 * DELAY);
    run_for(4 * DELAY); /* Both the FIN and the reset have arrived, in this order. */
    struct scps_pollfd f = {.fd = sb, .events = 0};
    assert_int_equal(scps_sock_poll(w.b, &f, 1, 0), 1);
    assert_int_equal(f.revents, SCPS_POLLERR | SCPS_POLLHUP);
    assert_int_equal(scps_sock_read(w.b, sb, b, sizeof b), 0);
    assert_errno(scps_sock_write(w.b, sb, b, 1), EPIPE);
}

static void a_closes_its_own(void)
{
    assert_int_equal(scps_sock_close(w.a, sa), 0);
    /* A new socket gets the descriptor that was freed. */
    assert_int_equal(scps_socket(w.a, SCPS_AF_INET, SCPS_SOCK_STREAM, 0), sa);
}

static void closed_while_it_waits(void **state)
{
    (void)state;
    char b[10];
    connected();
    w.then = a_closes_its_own;
    w.then_at = scps_ctx_now(w.a) + SCPS_MS(5);
    assert_errno(scps_sock_read(w.a, sa, b, 1), EBADF);
}

static void a_shuts_its_own(void)
{
    assert_int_equal(scps_sock_shutdown(w.a, sa, SCPS_SHUT_RD), 0);
}

static void shut_while_it_waits(void **state)
{
    (void)state;
    char b[10];
    connected();
    w.then = a_shuts_its_own;
    w.then_at = scps_ctx_now(w.a) + SCPS_MS(5);
    assert_int_equal(scps_sock_read(w.a, sa, b, 1), 0);
    int la = listening(w.a);
    sa = la;
    w.then = a_shuts_its_own;
    w.then_at = scps_ctx_now(w.a) + SCPS_MS(5);
    assert_errno(scps_sock_accept(w.a, la, NULL, NULL), EINVAL);
}

static void a_wait_that_cannot_end_fails(void **state)
{
    (void)state;
    int la = listening(w.a);
    assert_errno(scps_sock_accept(w.a, la, NULL, NULL), EDEADLK);
    w.run = EINTR;
    assert_errno(scps_sock_accept(w.a, la, NULL, NULL), EINTR);
}

/* An echo server and its client, written with blocking calls alone. */
static void echo_server(void)
{
    char b[3000];
    int64_t n = scps_sock_recv(w.b, sb, b, sizeof b, SCPS_MSG_DONTWAIT);
    if (n > 0)
        assert_int_equal(scps_sock_send(w.b, sb, b, (size_t)n, SCPS_MSG_DONTWAIT), n);
    if (n == 0) {
        assert_int_equal(scps_sock_close(w.b, sb), 0);
        return;
    }
    w.then = echo_server;
    w.then_at = scps_ctx_now(w.b) + SCPS_MS(1);
}

static void echo(void **state)
{
    (void)state;
    char out[2000], in[2000];
    connected();
    w.then = echo_server;
    w.then_at = scps_ctx_now(w.a);
    for (int round = 0; round < 50; round++) {
        memset(out, 'a' + round % 26, sizeof out);
        assert_int_equal(scps_sock_write(w.a, sa, out, sizeof out), sizeof out);
        assert_int_equal(scps_sock_recv(w.a, sa, in, sizeof in, SCPS_MSG_WAITALL), sizeof in);
        assert_memory_equal(in, out, sizeof in);
    }
    assert_int_equal(scps_sock_shutdown(w.a, sa, SCPS_SHUT_WR), 0);
    assert_int_equal(scps_sock_read(w.a, sa, in, 1), 0);
    assert_int_equal(scps_sock_close(w.a, sa), 0);
}

static void b_writes_much(void)
{
    static uint8_t much[20000];

    assert_int_equal(scps_sock_write(w.b, sb, much, sizeof much), sizeof much);
}

/* poll() with SO_RCVLOWAT and recv() with MSG_PEEK and MSG_WAITALL do not wait for more octets than
 * memory_limit lets arrive. */
static void memory_runs_out(void **state)
{
    (void)state;
    struct scps_ctx_config cfg = scps_ctx_config_linux();
    struct scps_addr aa = peer_addr("10.0.0.1");
    uint8_t in[16000];
    int least = sizeof in;

    scps_ctx_free(w.a);
    cfg.wait = run_world;
    cfg.stack_config.memory_limit = 24000;
    w.a = scps_ctx_new(&cfg);
    assert_int_equal(scps_ctx_add_addr(w.a, &aa, 24), 0);
    connected();
    assert_int_equal(
        scps_sock_setsockopt(w.a, sa, SCPS_SOL_SOCKET, SCPS_SO_RCVLOWAT, &least, sizeof least), 0);
    w.then = b_writes_much;
    w.then_at = scps_ctx_now(w.a) + DELAY;
    struct scps_pollfd p = {sa, SCPS_POLLIN, 0};
    assert_int_equal(scps_sock_poll(w.a, &p, 1, 5000), 1);
    assert_int_equal(p.revents, SCPS_POLLIN);
    int64_t n = scps_sock_recv(w.a, sa, in, sizeof in, SCPS_MSG_PEEK | SCPS_MSG_WAITALL);
    assert_true(n > 0 && n < (int64_t)sizeof in);
    assert_int_equal(scps_sock_recv(w.a, sa, in, sizeof in, SCPS_MSG_WAITALL), sizeof in);
    assert_true(scps_ctx_now(w.a) < SCPS_SEC(10));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(connect_and_accept),
        T(refused),
        T(reading_waits),
        T(writing_waits),
        T(sending_waits_for_the_connection),
        T(polling),
        T(closing_waits),
        T(closed_while_it_waits),
        T(shut_while_it_waits),
        T(a_wait_that_cannot_end_fails),
        T(echo),
        T(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
