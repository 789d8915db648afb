/* SPDX-License-Identifier: MIT */
/* packetdrill's shared-library interface on the socket layer: scripts for a kernel run against
 * libscps, in virtual time.
 *
 *     packetdrill --so_filename=.../libscps_packetdrill.so [--so_flags=FLAGS]
 *                 --local_ip=192.168.0.2 script.pkt
 *     packetdrill --so_filename=.../libscps_packetdrill.so [--so_flags=FLAGS]
 *                 --ip_version=ipv6 --local_ip=fd3d:fa7b:d17d::2 script.pkt
 *
 * packetdrill has two threads: one executes the script, the other makes the calls that block. The
 * first advances the clock (usleep, netdev_receive), and events at these times end the waits of the
 * second. The clock must not advance further before the call has returned and has read it. So a
 * function that advances the clock stops when a wait is over (scps_ctx_step does), and continues
 * only when the other thread is in no call, or waits again. A script gives the time at which a call
 * of the second thread returns ("0.1...0.4 read(...)"). If a call without that time waits (poll()
 * with a timeout, SO_RCVTIMEO, SO_LINGER), nobody else advances the clock, so the call does that
 * itself; it fails with EDEADLK if no event can end its wait.
 *
 * FLAGS: a comma-separated list of fields of scps_conn_config, which every new socket gets:
 *   sack=0 timestamps=0 wscale=0 rcvbuf=N sndbuf=N initcwnd=N rtomin=USEC ackdelay=USEC
 *   mtu=N (default 1500)
 *   cc=NAME recovery=classic|rack ecn=1 quickacks=N rtoinit=USEC
 *   drops=1 (prints on stderr why a packet of the script had no effect)
 *   doublebufs=1 (SO_SNDBUF and SO_RCVBUF set twice the given value, as in Linux)
 *
 * Needs packetdrill's own packetdrill.h to compile: cmake -DPACKETDRILL=.../gtests/net/packetdrill
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <packetdrill.h>
#include <pthread.h>
#include <scps/socket.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* packetdrill wakes this many µs before an event, and polls the clock until then */
#define SPIN        20
#define SILENCE     SCPS_SEC(10) /* time without a packet, after which a script waits in vain */
#define DESCRIPTORS 32
#define EPOCH       SCPS_SEC(1000000)

struct drill {
    struct scps_ctx *ctx;
    pthread_t script; /* the thread that executes the script, and advances the clock */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* the wait of the thread that blocks; protected by the lock; NULL: none */
    const struct scps_wait *waiting;
    unsigned calls; /* number of blocking calls that have waited and have not returned yet */
    bool tell_drops, double_bufs;
};

/* ---- the context's hooks ---- */

static void hook_lock(void *user)
{
    pthread_mutex_lock(&((struct drill *)user)->lock);
}

static void hook_unlock(void *user)
{
    pthread_mutex_unlock(&((struct drill *)user)->lock);
}

static void hook_wake(void *user)
{
    pthread_cond_broadcast(&((struct drill *)user)->changed);
}

static __thread bool has_waited;

static void pass(struct drill *d, scps_time until, bool packet);

/* Advances the clock from event to event until the wait of the script's own thread is over. */
static int wait_in_script(struct drill *d, const struct scps_wait *w)
{
    while (!scps_wait_over(w)) {
        scps_time next = scps_ctx_next_deadline(d->ctx);
        if (next == SCPS_NEVER)
            return EDEADLK;
        pass(d, next, false);
    }
    return 0;
}

static int hook_wait(const struct scps_wait *w)
{
    struct drill *d = w->user;
    if (pthread_equal(pthread_self(), d->script))
        return wait_in_script(d, w);
    pthread_mutex_lock(&d->lock);
    if (!has_waited)
        d->calls++;
    has_waited = true;
    d->waiting = w;
    pthread_cond_broadcast(&d->changed);
    while (!scps_wait_over(w))
        pthread_cond_wait(&d->changed, &d->lock);
    d->waiting = NULL;
    pthread_mutex_unlock(&d->lock);
    return 0;
}

/* Ends a call that can block: records that it has returned, and returns r. */
static int64_t returned(struct drill *d, int64_t r)
{
    if (has_waited) {
        int err = errno;
        has_waited = false;
        pthread_mutex_lock(&d->lock);
        d->calls--;
        pthread_cond_broadcast(&d->changed);
        pthread_mutex_unlock(&d->lock);
        errno = err;
    }
    return r;
}

/* ---- time ---- */

/* Waits until the other thread is in no call, or waits for an event that has not happened. */
static void let_the_other_run(struct drill *d)
{
    bool woke = false;
    pthread_mutex_lock(&d->lock);
    while (d->calls && !(d->waiting && !scps_wait_over(d->waiting))) {
        woke = true;
        pthread_cond_wait(&d->changed, &d->lock);
    }
    pthread_mutex_unlock(&d->lock);
    /* The other thread reads the clock next, in code of packetdrill that does not signal when it
     * has done so, so this thread waits for 2 ms. */
    if (woke)
        usleep(2000);
}

/* Lets time pass until `until` or, if packet is true, until a packet waits. */
static void pass(struct drill *d, scps_time until, bool packet)
{
    for (;;) {
        let_the_other_run(d);
        if (packet) {
            if (scps_ctx_queued(d->ctx) || scps_ctx_step(d->ctx, until) >= until ||
                scps_ctx_queued(d->ctx))
                return;
        } else {
            /* Packets keep their times while they wait, so time may pass; it must not pass while a
             * wait that is over has not returned. */
            scps_time next = scps_ctx_next_deadline(d->ctx);
            scps_ctx_advance(d->ctx, next < until ? next : until);
            if (scps_ctx_now(d->ctx) >= until)
                return;
        }
    }
}

static int drill_usleep(void *u, useconds_t usec)
{
    struct drill *d = u;
    pass(d, scps_ctx_now(d->ctx) + usec + SPIN, false);
    let_the_other_run(d);
    return 0;
}

/* Returns the time. Each call advances the clock by 1 µs, because packetdrill polls it in a
 * loop. */
static int drill_gettimeofday(void *u, struct timeval *tv, struct timezone *tz)
{
    struct drill *d = u;
    (void)tz;
    scps_time now = scps_ctx_now(d->ctx) + 1;
    scps_ctx_advance(d->ctx, now);
    now += EPOCH;
    tv->tv_sec = now / 1000000;
    tv->tv_usec = now % 1000000;
    return 0;
}

static int drill_netdev_send(void *u, const void *buf, size_t count)
{
    struct drill *d = u;
    int why = scps_ctx_inject(d->ctx, buf, count, scps_ctx_now(d->ctx));
    if (why && d->tell_drops)
        fprintf(stderr, "dropped: %s\n", scps_drop_name((enum scps_drop)why));
    let_the_other_run(d);
    return 0;
}

static int drill_netdev_receive(void *u, void *buf, size_t *count, long long *time_usecs)
{
    struct drill *d = u;
    scps_time at = 0;
    pass(d, scps_ctx_now(d->ctx) + SILENCE, true);
    int64_t n = scps_ctx_take(d->ctx, buf, *count, &at);
    *count = n > 0 ? (size_t)n : 0;
    *time_usecs = at + EPOCH;
    return 0;
}

/* ---- the calls: Linux's values and layouts are the layer's own ---- */

#define D   struct drill *d = u
#define CTX (d->ctx)

static int drill_socket(void *u, int domain, int type, int protocol)
{
    D;
    return scps_socket(CTX, domain, type, protocol);
}

static int drill_bind(void *u, int s, const struct sockaddr *a, socklen_t len)
{
    D;
    return scps_sock_bind(CTX, s, a, len);
}

static int drill_listen(void *u, int s, int backlog)
{
    D;
    return scps_sock_listen(CTX, s, backlog);
}

static int drill_accept(void *u, int s, struct sockaddr *a, socklen_t *len)
{
    D;
    return (int)returned(d, scps_sock_accept(CTX, s, a, len));
}

static int drill_connect(void *u, int s, const struct sockaddr *a, socklen_t len)
{
    D;
    return (int)returned(d, scps_sock_connect(CTX, s, a, len));
}

static ssize_t drill_read(void *u, int s, void *buf, size_t n)
{
    D;
    return (ssize_t)returned(d, scps_sock_read(CTX, s, buf, n));
}

static ssize_t drill_readv(void *u, int s, const struct iovec *v, int n)
{
    D;
    return (ssize_t)returned(d, scps_sock_readv(CTX, s, (const struct scps_iovec *)v, n));
}

static ssize_t drill_recv(void *u, int s, void *buf, size_t n, int flags)
{
    D;
    return (ssize_t)returned(d, scps_sock_recv(CTX, s, buf, n, flags));
}

static ssize_t drill_recvfrom(void *u, int s, void *buf, size_t n, int flags, struct sockaddr *a,
                              socklen_t *len)
{
    D;
    return (ssize_t)returned(d, scps_sock_recvfrom(CTX, s, buf, n, flags, a, len));
}

static ssize_t drill_recvmsg(void *u, int s, struct msghdr *m, int flags)
{
    D;
    return (ssize_t)returned(d, scps_sock_recvmsg(CTX, s, (struct scps_msghdr *)m, flags));
}

static ssize_t drill_write(void *u, int s, const void *buf, size_t n)
{
    D;
    return (ssize_t)returned(d, scps_sock_write(CTX, s, buf, n));
}

static ssize_t drill_writev(void *u, int s, const struct iovec *v, int n)
{
    D;
    return (ssize_t)returned(d, scps_sock_writev(CTX, s, (const struct scps_iovec *)v, n));
}

static ssize_t drill_send(void *u, int s, const void *buf, size_t n, int flags)
{
    D;
    return (ssize_t)returned(d, scps_sock_send(CTX, s, buf, n, flags));
}

static ssize_t drill_sendto(void *u, int s, const void *buf, size_t n, int flags,
                            const struct sockaddr *a, socklen_t len)
{
    D;
    return (ssize_t)returned(d, scps_sock_sendto(CTX, s, buf, n, flags, a, len));
}

static ssize_t drill_sendmsg(void *u, int s, const struct msghdr *m, int flags)
{
    D;
    return (ssize_t)returned(d, scps_sock_sendmsg(CTX, s, (const struct scps_msghdr *)m, flags));
}

static int drill_fcntl(void *u, int s, int cmd, ...)
{
    D;
    va_list ap;
    va_start(ap, cmd);
    long arg = va_arg(ap, long);
    va_end(ap);
    return scps_sock_fcntl(CTX, s, cmd, arg);
}

static int drill_ioctl(void *u, int s, unsigned long request, ...)
{
    D;
    va_list ap;
    va_start(ap, request);
    void *arg = va_arg(ap, void *);
    va_end(ap);
    return scps_sock_ioctl(CTX, s, request, arg);
}

static int drill_close(void *u, int s)
{
    D;
    return (int)returned(d, scps_sock_close(CTX, s));
}

static int drill_shutdown(void *u, int s, int how)
{
    D;
    return scps_sock_shutdown(CTX, s, how);
}

/* Returns true for a buffer size that is to be doubled, as Linux does to account for its own
 * overhead. */
static bool doubled(const struct drill *d, int level, int name, size_t len)
{
    return d->double_bufs && level == SOL_SOCKET && (name == SO_SNDBUF || name == SO_RCVBUF) &&
           len >= sizeof(int);
}

static int drill_getsockopt(void *u, int s, int level, int name, void *val, socklen_t *len)
{
    D;
    return scps_sock_getsockopt(CTX, s, level, name, val, len);
}

static int drill_setsockopt(void *u, int s, int level, int name, const void *val, socklen_t len)
{
    D;
    int twice;
    if (doubled(d, level, name, len)) {
        memcpy(&twice, val, sizeof twice);
        twice *= 2;
        val = &twice;
    }
    return scps_sock_setsockopt(CTX, s, level, name, val, len);
}

static int drill_poll(void *u, struct pollfd *fds, nfds_t n, int timeout)
{
    D;
    return (int)returned(d, scps_sock_poll(CTX, (struct scps_pollfd *)fds, n, timeout));
}

static void drill_free(void *u)
{
    struct drill *d = u;
    scps_ctx_free(d->ctx);
    pthread_cond_destroy(&d->changed);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

/* ---- the beginning ---- */

static void read_flags(const char *flags, struct scps_ctx_config *cfg, struct drill *d)
{
    char *copy = strdup(flags ? flags : ""), *save = NULL;
    struct scps_conn_config *c = &cfg->conn;
    for (char *f = strtok_r(copy, ",", &save); f; f = strtok_r(NULL, ",", &save)) {
        char key[32];
        long v;
        if (!strncmp(f, "cc=", 3)) {
            if (scps_conn_config_parse_cc(c, f + 3, NULL, 0)) {
                fprintf(stderr, "so_flags: no such controller '%s'\n", f + 3);
                exit(2);
            }
            continue;
        }
        if (!strcmp(f, "recovery=rack") || !strcmp(f, "recovery=classic")) {
            c->recovery = f[9] == 'r' ? SCPS_RECOVERY_RACK : SCPS_RECOVERY_CLASSIC;
            continue;
        }
        if (sscanf(f, "%31[^=]=%ld", key, &v) != 2) {
            fprintf(stderr, "so_flags: '%s' is not key=number\n", f);
            exit(2);
        }
        if (!strcmp(key, "drops"))
            d->tell_drops = v;
        else if (!strcmp(key, "doublebufs"))
            d->double_bufs = v;
        else if (!strcmp(key, "sack"))
            c->sack = v;
        else if (!strcmp(key, "ecn"))
            c->ecn = v;
        else if (!strcmp(key, "timestamps"))
            c->timestamps = v;
        else if (!strcmp(key, "wscale"))
            c->wscale = v;
        else if (!strcmp(key, "rcvbuf"))
            c->rcvbuf = (uint32_t)v;
        else if (!strcmp(key, "sndbuf"))
            c->sndbuf = (uint32_t)v;
        else if (!strcmp(key, "initcwnd"))
            c->init_cwnd_segs = (uint32_t)v;
        else if (!strcmp(key, "rtoinit"))
            c->rto_initial = v;
        else if (!strcmp(key, "rtomin"))
            c->rto_min = v;
        else if (!strcmp(key, "ackdelay"))
            c->ack_delay = v;
        else if (!strcmp(key, "quickacks"))
            c->quick_acks = (uint16_t)v;
        else if (!strcmp(key, "mtu"))
            cfg->mtu = (uint32_t)v;
        else {
            fprintf(stderr, "so_flags: no such key '%s'\n", key);
            exit(2);
        }
    }
    free(copy);
}

/* What the socket layer does not offer. packetdrill calls whatever a script names, asking for no
 * pointer: each member of its interface must be a function. */
static int drill_epoll_create(void *user, int size)
{
    (void)user, (void)size;
    errno = ENOSYS;
    return -1;
}

static int drill_epoll_ctl(void *user, int epfd, int op, int fd, struct epoll_event *event)
{
    (void)user, (void)epfd, (void)op, (void)fd, (void)event;
    errno = ENOSYS;
    return -1;
}

static int drill_epoll_wait(void *user, int epfd, struct epoll_event *events, int max, int timeout)
{
    (void)user, (void)epfd, (void)events, (void)max, (void)timeout;
    errno = ENOSYS;
    return -1;
}

static int drill_pipe(void *user, int fd[2])
{
    (void)user, (void)fd;
    errno = ENOSYS;
    return -1;
}

static int drill_splice(void *user, int in, loff_t *off_in, int out, loff_t *off_out, size_t len,
                        unsigned flags)
{
    (void)user, (void)in, (void)off_in, (void)out, (void)off_out, (void)len, (void)flags;
    errno = ENOSYS;
    return -1;
}

/* Adds a further address. packetdrill chooses one at random unless --local_ip gives it; the
 * environment variable gives the other. */
static void add_address(struct drill *d, const char *variable, const char *otherwise,
                        unsigned prefix)
{
    const char *text = getenv(variable);
    struct scps_addr a;
    if (scps_addr_parse(text ? text : otherwise, &a) || scps_ctx_add_addr(d->ctx, &a, prefix)) {
        fprintf(stderr, "%s: no address\n", variable);
        exit(2);
    }
}

/* Opens descriptors that packetdrill can close at its end: it closes every descriptor that a script
 * left open, with the system's close(). */
static void reserve_descriptors(void)
{
    int fd = open("/dev/null", O_RDONLY);
    for (int to = 3; to < 3 + DESCRIPTORS; to++)
        if (fcntl(to, F_GETFD) < 0)
            dup2(fd, to);
}

__attribute__((visibility("default"))) void
packetdrill_interface_init(const char *flags, struct packetdrill_interface *ifc);

void packetdrill_interface_init(const char *flags, struct packetdrill_interface *ifc)
{
    struct scps_ctx_config cfg = scps_ctx_config_linux();
    struct drill *d = calloc(1, sizeof *d);
    reserve_descriptors();
    d->script = pthread_self();
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->changed, NULL);
    cfg.lock = hook_lock;
    cfg.unlock = hook_unlock;
    cfg.wake = hook_wake;
    cfg.wait = hook_wait;
    cfg.user = d;
    read_flags(flags, &cfg, d);
    d->ctx = scps_ctx_new(&cfg);
    add_address(d, "PACKETDRILL_LOCAL_IP", "192.168.0.2", 16);
    add_address(d, "PACKETDRILL_LOCAL_IP6", "fd3d:fa7b:d17d::2", 48);

    *ifc = (struct packetdrill_interface){
        .userdata = d,
        .free = drill_free,
        .socket = drill_socket,
        .bind = drill_bind,
        .listen = drill_listen,
        .accept = drill_accept,
        .connect = drill_connect,
        .read = drill_read,
        .readv = drill_readv,
        .recv = drill_recv,
        .recvfrom = drill_recvfrom,
        .recvmsg = drill_recvmsg,
        .write = drill_write,
        .writev = drill_writev,
        .send = drill_send,
        .sendto = drill_sendto,
        .sendmsg = drill_sendmsg,
        .fcntl = drill_fcntl,
        .ioctl = drill_ioctl,
        .close = drill_close,
        .shutdown = drill_shutdown,
        .getsockopt = drill_getsockopt,
        .setsockopt = drill_setsockopt,
        .poll = drill_poll,
        .netdev_send = drill_netdev_send,
        .netdev_receive = drill_netdev_receive,
        .usleep = drill_usleep,
        .gettimeofday = drill_gettimeofday,
        .epoll_create = drill_epoll_create,
        .epoll_ctl = drill_epoll_ctl,
        .epoll_wait = drill_epoll_wait,
        .pipe = drill_pipe,
        .splice = drill_splice,
    };
}
