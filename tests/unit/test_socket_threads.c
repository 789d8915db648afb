/* SPDX-License-Identifier: MIT */
/* Threads: several programs make blocking calls, each in a thread of its own, two of them in one
 * context; another thread moves packets and advances the virtual time. The time stands still while
 * any program runs, so the times are exact. With the thread sanitizer this tests the lock hook. */
#include "sockpeer.h"

#include <pthread.h>

#define DELAY    SCPS_MS(25)
#define PROGRAMS 6
#define BYTES    200000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct scps_ctx *ca, *cb; /* ca is the context of the clients, cb that of the servers. */
static const struct scps_wait *waiting[PROGRAMS];
static int nwaiting, alive; /* Both are protected by `lock`. */

static void hook_lock(void *user)
{
    (void)user;
    pthread_mutex_lock(&lock);
}

static void hook_unlock(void *user)
{
    (void)user;
    pthread_mutex_unlock(&lock);
}

static void hook_wake(void *user)
{
    (void)user;
    pthread_cond_broadcast(&changed);
}

/* Implements cfg.wait: a program that blocks sleeps until another thread has ended its wait. */
static int hook_wait(const struct scps_wait *w)
{
    pthread_mutex_lock(&lock);
    waiting[nwaiting++] = w;
    pthread_cond_broadcast(&changed);
    while (!scps_wait_over(w))
        pthread_cond_wait(&changed, &lock);
    for (int i = 0; i < nwaiting; i++)
        if (waiting[i] == w)
            waiting[i] = waiting[nwaiting - 1];
    nwaiting--;
    pthread_mutex_unlock(&lock);
    return 0;
}

/* Returns true if every program waits for an event that has not happened yet. */
static bool all_asleep(void)
{
    if (nwaiting < alive)
        return false;
    for (int i = 0; i < nwaiting; i++)
        if (scps_wait_over(waiting[i]))
            return false;
    return true;
}

struct packet {
    struct packet *next;
    struct scps_ctx *to;
    scps_time arrives;
    size_t len;
    uint8_t bytes[1600];
};
static struct packet *air;

static void collect(struct scps_ctx *from, struct scps_ctx *to)
{
    for (;;) {
        struct packet *p = malloc(sizeof *p), **at = &air;
        int64_t n = scps_ctx_take(from, p->bytes, sizeof p->bytes, &p->arrives);
        if (n <= 0) {
            free(p);
            return;
        }
        p->to = to;
        p->len = (size_t)n;
        p->arrives += DELAY;
        while (*at && (*at)->arrives <= p->arrives)
            at = &(*at)->next;
        p->next = *at;
        *at = p;
    }
}

static void world(void)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        while (alive && !all_asleep())
            pthread_cond_wait(&changed, &lock);
        int left = alive;
        pthread_mutex_unlock(&lock);
        if (!left)
            break;
        collect(ca, cb);
        collect(cb, ca);
        scps_time ta = scps_ctx_next_deadline(ca), tb = scps_ctx_next_deadline(cb);
        scps_time t = ta < tb ? ta : tb;
        if (air && air->arrives < t)
            t = air->arrives;
        /* Otherwise the programs would wait for each other for ever. */
        assert_true(t < SCPS_NEVER);
        scps_ctx_advance(ca, t);
        scps_ctx_advance(cb, t);
        /* One packet is delivered at a time, so that the program it wakes runs first. */
        if (air && air->arrives <= t) {
            struct packet *p = air;
            air = p->next;
            scps_ctx_inject(p->to, p->bytes, p->len, p->arrives);
            free(p);
        }
    }
    while (air) {
        struct packet *p = air;
        air = p->next;
        free(p);
    }
}

struct program {
    pthread_t thread;
    int nr, err; /* err is the line in which the program failed; 0: it did not. */
    scps_time took;
};

#define NEED(cond)                                                                                 \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            p->err = __LINE__;                                                                     \
            goto out;                                                                              \
        }                                                                                          \
    } while (0)

static void finished(void)
{
    pthread_mutex_lock(&lock);
    alive--;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* Serves one client after the other on port 7000 + nr, until one sends "bye". */
static void *server(void *arg)
{
    struct program *p = arg;
    struct scps_sockaddr_storage ss;
    struct scps_endpoint ep = {.port = (uint16_t)(7000 + p->nr), .addr.family = 4};
    uint32_t len = scps_sockaddr_put(&ss, 0, &ep);
    uint8_t buf[5000];
    int c = -1, l = scps_socket(cb, SCPS_AF_INET, SCPS_SOCK_STREAM, 0);
    NEED(scps_sock_bind(cb, l, &ss, len) == 0);
    NEED(scps_sock_listen(cb, l, 5) == 0);
    for (bool bye = false; !bye;) {
        int64_t n;
        c = scps_sock_accept(cb, l, NULL, NULL);
        NEED(c >= 0);
        while ((n = scps_sock_read(cb, c, buf, sizeof buf)) > 0) {
            NEED(scps_sock_write(cb, c, buf, (size_t)n) == n);
            bye = n >= 3 && memcmp(buf + n - 3, "bye", 3) == 0;
        }
        NEED(n == 0);
        NEED(scps_sock_close(cb, c) == 0);
    }
    NEED(scps_sock_close(cb, l) == 0);
out:
    finished();
    return NULL;
}

/* Opens two connections one after the other: the first asks and reads answers, the second sends and
 * receives much data by poll(). */
static void *client(void *arg)
{
    struct program *p = arg;
    struct scps_sockaddr_storage ss;
    struct scps_endpoint ep = {.port = (uint16_t)(7000 + p->nr)};
    uint8_t *out = malloc(BYTES), *in = malloc(BYTES);
    size_t sent = 0, got = 0;
    int s;
    scps_addr_parse("10.0.0.2", &ep.addr);
    uint32_t len = scps_sockaddr_put(&ss, 0, &ep);
    for (size_t i = 0; i < BYTES; i++)
        out[i] = (uint8_t)(i * 7 >> 2) ^ (uint8_t)p->nr;
    memcpy(out + BYTES - 3, "bye", 3);
    for (;;) { /* The server may not listen yet. */
        s = scps_socket(ca, SCPS_AF_INET, SCPS_SOCK_STREAM, 0);
        if (scps_sock_connect(ca, s, &ss, len) == 0)
            break;
        NEED(errno == ECONNREFUSED);
        NEED(scps_sock_close(ca, s) == 0);
    }
    scps_time t0 = scps_ctx_now(ca);
    for (int i = 0; i < 20; i++) {
        NEED(scps_sock_write(ca, s, out, 300) == 300);
        NEED(scps_sock_recv(ca, s, in, 300, SCPS_MSG_WAITALL) == 300);
        NEED(memcmp(in, out, 300) == 0);
    }
    p->took = scps_ctx_now(ca) - t0;
    NEED(scps_sock_shutdown(ca, s, SCPS_SHUT_WR) == 0);
    NEED(scps_sock_read(ca, s, in, 1) == 0);
    NEED(scps_sock_close(ca, s) == 0);

    s = scps_socket(ca, SCPS_AF_INET, SCPS_SOCK_STREAM, 0);
    NEED(scps_sock_connect(ca, s, &ss, len) == 0);
    NEED(scps_sock_fcntl(ca, s, SCPS_F_SETFL, SCPS_O_NONBLOCK) == 0);
    while (got < BYTES) {
        struct scps_pollfd f = {.fd = s, .events = SCPS_POLLIN};
        if (sent < BYTES)
            f.events |= SCPS_POLLOUT;
        NEED(scps_sock_poll(ca, &f, 1, 100000) == 1);
        if (f.revents & SCPS_POLLOUT) {
            int64_t n = scps_sock_write(ca, s, out + sent, BYTES - sent);
            NEED(n > 0);
            sent += (size_t)n;
        }
        if (f.revents & SCPS_POLLIN) {
            int64_t n = scps_sock_read(ca, s, in + got, BYTES - got);
            NEED(n > 0);
            got += (size_t)n;
        }
    }
    NEED(memcmp(in, out, BYTES) == 0);
    NEED(scps_sock_close(ca, s) == 0);
out:
    free(in);
    free(out);
    finished();
    return NULL;
}

static void programs_share_contexts(void **state)
{
    (void)state;
    struct scps_ctx_config cfg = scps_ctx_config_linux();
    struct scps_addr aa = peer_addr("10.0.0.1"), ab = peer_addr("10.0.0.2");
    struct program prog[PROGRAMS] = {{.nr = 0}};
    cfg.lock = hook_lock;
    cfg.unlock = hook_unlock;
    cfg.wake = hook_wake;
    cfg.wait = hook_wait;
    ca = scps_ctx_new(&cfg);
    cb = scps_ctx_new(&cfg);
    assert_int_equal(scps_ctx_add_addr(ca, &aa, 24), 0);
    assert_int_equal(scps_ctx_add_addr(cb, &ab, 24), 0);
    alive = PROGRAMS;
    for (int i = 0; i < PROGRAMS; i++) {
        prog[i].nr = i / 2;
        assert_int_equal(pthread_create(&prog[i].thread, NULL, i % 2 ? client : server, &prog[i]),
                         0);
    }
    world();
    for (int i = 0; i < PROGRAMS; i++) {
        pthread_join(prog[i].thread, NULL);
        if (prog[i].err)
            fail_msg("%s %d failed in line %d", i % 2 ? "client" : "server", prog[i].nr,
                     prog[i].err);
        /* The client took twenty round trips of 50 ms, to the microsecond, whatever the order of
         * the threads. */
        if (i % 2)
            assert_int_equal(prog[i].took, 20 * 2 * DELAY);
    }
    scps_ctx_free(ca);
    scps_ctx_free(cb);
}

/* One thread reads from a socket to whose peer another thread writes, while a third closes a socket
 * on which a thread waits. */
struct closer {
    int fd, err;
    int64_t r;
};

static void *reads_for_ever(void *arg)
{
    struct closer *c = arg;
    char b;
    c->r = scps_sock_read(ca, c->fd, &b, 1);
    c->err = errno;
    return NULL;
}

static void closing_wakes_the_reader(void **state)
{
    (void)state;
    struct scps_ctx_config cfg = scps_ctx_config_linux();
    struct peer p;
    pthread_t t;
    cfg.lock = hook_lock;
    cfg.unlock = hook_unlock;
    cfg.wake = hook_wake;
    cfg.wait = hook_wait;
    peer_open(&p, &cfg);
    ca = p.ctx;
    struct closer c = {.fd = peer_socket(&p)};
    assert_int_equal(scps_sock_fcntl(ca, c.fd, SCPS_F_SETFL, SCPS_O_NONBLOCK), 0);
    peer_handshakes(&p, c.fd);
    assert_int_equal(scps_sock_fcntl(ca, c.fd, SCPS_F_SETFL, 0), 0);
    nwaiting = 0;
    assert_int_equal(pthread_create(&t, NULL, reads_for_ever, &c), 0);
    pthread_mutex_lock(&lock);
    while (!nwaiting)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    assert_int_equal(scps_sock_close(ca, c.fd), 0);
    pthread_join(t, NULL);
    assert_int_equal(c.r, -1);
    assert_int_equal(c.err, EBADF);
    peer_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_share_contexts),
        cmocka_unit_test(closing_wakes_the_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
