/* SPDX-License-Identifier: MIT */
/* A sender and a receiver of numbered UDP packets, to see from outside what a link does.
 *
 *     link_probe send ADDR PORT PPS COUNT BYTES      COUNT packets of BYTES (IP header included),
 *                                                    PPS of them a second
 *     link_probe recv PORT COUNT BYTES DELAY_US RATE ends when COUNT have come, or at SIGINT, when
 *                                                    it has read what had come until then; one
 *                                                    CSV row:
 *                                                    received,lost,repeated,late_p50_us,
 *                                                    late_p99_us,late_p999_us,late_max_us,
 *                                                    late_min_us,rate_bps
 *     link_probe wake PPS COUNT                      no packets: how late the system wakes a
 *                                                    sleeper, one CSV row:
 *                                                    late_p50_us,late_p99_us,late_p999_us,
 *                                                    late_max_us
 *
 * Each packet carries the real-time clock of the moment before it was sent; the receiver takes the
 * kernel's stamp of its arrival (SO_TIMESTAMPNS). Their difference, less the time on the line (RATE
 * bit/s, BYTES and 18 of framing; 0: not counted) and DELAY_US, is the error of the delay. rate_bps
 * counts the bits of all packets, framing included, from DELAY_US after the first was sent until
 * the last stamp: however late the packets are, it is no more than the line's.
 *
 * The sender asks for real-time scheduling, the same as the emulator's, so that its stamps are
 * true. The receiver's are the kernel's: it takes what processor is left.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define FRAMING 18
#define HEADERS 28 /* octets of the IPv4 and UDP headers */

struct mark {
    uint64_t number;
    int64_t sent; /* time of sending, ns since 1970 */
};

static int die(const char *what)
{
    fprintf(stderr, "link_probe: %s: %s\n", what, strerror(errno));
    return 1;
}

static int64_t ns(const struct timespec *t)
{
    return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

static void ask_for_realtime(void)
{
    struct sched_param p = {.sched_priority = sched_get_priority_min(SCHED_FIFO)};

    (void)sched_setscheduler(0, SCHED_FIFO, &p);
    (void)mlockall(MCL_CURRENT | MCL_FUTURE);
}

static int send_all(char **v)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(v[1]))};
    const double pps = atof(v[2]);
    const uint64_t count = strtoull(v[3], NULL, 10);
    const size_t bytes = strtoul(v[4], NULL, 10) - HEADERS;
    static uint8_t buf[65536];
    struct timespec start, now;
    int fd = socket(AF_INET, SOCK_DGRAM, 0), room = 4 << 20;

    if (fd < 0 || inet_pton(AF_INET, v[0], &to.sin_addr) != 1 || bytes < sizeof(struct mark) ||
        bytes > sizeof buf || !(pps > 0))
        return die("send");
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (uint64_t i = 0; i < count; i++) {
        int64_t at = ns(&start) + (int64_t)((double)i * 1e9 / pps);
        struct timespec when = {.tv_sec = at / 1000000000, .tv_nsec = at % 1000000000};
        struct mark m = {.number = i};
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) == EINTR)
            ;
        clock_gettime(CLOCK_REALTIME, &now);
        m.sent = ns(&now);
        memcpy(buf, &m, sizeof m);
        if (sendto(fd, buf, bytes, 0, (struct sockaddr *)&to, sizeof to) < 0 && errno != ENOBUFS)
            return die("sendto");
    }
    return 0;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Returns the kernel's time stamp of the packet just received, ns since 1970; 0: it has none. */
static int64_t stamp(struct msghdr *h)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
            struct timespec t;
            memcpy(&t, CMSG_DATA(c), sizeof t);
            return ns(&t);
        }
    return 0;
}

static void print(int64_t *late, uint64_t n, uint64_t lost, uint64_t twice, double rate)
{
    qsort(late, n, sizeof *late, by_size);
    printf("%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.1f,%.1f,%.1f,%.1f,%.1f,%.0f\n", n, lost, twice,
           (double)late[n / 2] / 1e3, (double)late[n * 99 / 100] / 1e3,
           (double)late[n * 999 / 1000] / 1e3, (double)late[n - 1] / 1e3, (double)late[0] / 1e3,
           rate);
}

static volatile sig_atomic_t interrupted;

static void on_interrupt(int sig)
{
    interrupted = sig;
}

/* Blocks SIGINT except while await() waits, so that no SIGINT is missed. */
static sigset_t hold_interrupt(void)
{
    struct sigaction act = {.sa_handler = on_interrupt};
    sigset_t held, before;

    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    sigprocmask(SIG_BLOCK, &held, &before);
    sigaction(SIGINT, &act, NULL);
    sigdelset(&before, SIGINT);
    return before;
}

/* Waits until fd can be read, or SIGINT arrives; returns at once after SIGINT. Returns true if fd
 * can be read. */
static bool await(int fd, const sigset_t *waiting)
{
    const struct timespec none = {0};
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int n = ppoll(&p, 1, interrupted ? &none : NULL, waiting);

    return n > 0 || (n < 0 && ppoll(&p, 1, &none, waiting) > 0);
}

static int receive_all(char **v)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(v[0]))};
    const uint64_t count = strtoull(v[1], NULL, 10), bytes = strtoull(v[2], NULL, 10) + FRAMING;
    const double line = atof(v[4]);
    const int64_t delay = (int64_t)(atof(v[3]) * 1e3);
    const int64_t expected = delay + (int64_t)(line > 0 ? (double)bytes * 8e9 / line : 0);
    int64_t *late = calloc(count, sizeof *late), first = INT64_MAX, last = 0;
    uint8_t *seen = calloc(count, 1), buf[2048];
    uint64_t n = 0, twice = 0;
    const sigset_t waiting = hold_interrupt();
    int fd = socket(AF_INET, SOCK_DGRAM, 0), on = 1, room = 32 << 20;

    if (fd < 0 || !late || !seen || count == 0)
        return die("recv");
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) != 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) != 0)
        return die("recv");
    while (n < count && await(fd, &waiting)) {
        union {
            char room[64];
            struct cmsghdr align;
        } control;
        struct iovec io = {buf, sizeof buf};
        struct msghdr h = {.msg_iov = &io,
                           .msg_iovlen = 1,
                           .msg_control = &control,
                           .msg_controllen = sizeof control};
        struct mark m;
        ssize_t got = recvmsg(fd, &h, 0);
        int64_t when = got < 0 ? 0 : stamp(&h);
        if (got < (ssize_t)sizeof m || !when)
            return die("recvmsg");
        memcpy(&m, buf, sizeof m);
        if (m.number >= count || seen[m.number]++) {
            twice++;
            continue;
        }
        if (m.sent < first)
            first = m.sent;
        last = when;
        late[n++] = when - m.sent - expected;
    }
    if (n == 0) {
        fprintf(stderr, "link_probe: nothing arrived\n");
        return 1;
    }
    print(late, n, count - n, twice, (double)(n * bytes) * 8e9 / (double)(last - first - delay));
    free(late);
    free(seen);
    close(fd);
    return 0;
}

static int wake_often(char **v)
{
    const double pps = atof(v[0]);
    const uint64_t count = strtoull(v[1], NULL, 10);
    int64_t *late = calloc(count, sizeof *late), start;
    struct timespec now;

    if (!late || !(pps > 0) || count == 0)
        return die("wake");
    clock_gettime(CLOCK_MONOTONIC, &now);
    start = ns(&now);
    for (uint64_t i = 0; i < count; i++) {
        int64_t at = start + (int64_t)((double)i * 1e9 / pps);
        struct timespec when = {.tv_sec = at / 1000000000, .tv_nsec = at % 1000000000};
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) == EINTR)
            ;
        clock_gettime(CLOCK_MONOTONIC, &now);
        late[i] = ns(&now) - at;
    }
    qsort(late, count, sizeof *late, by_size);
    printf("%.1f,%.1f,%.1f,%.1f\n", (double)late[count / 2] / 1e3,
           (double)late[count * 99 / 100] / 1e3, (double)late[count * 999 / 1000] / 1e3,
           (double)late[count - 1] / 1e3);
    free(late);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "recv") != 0)
        ask_for_realtime();
    if (argc == 7 && strcmp(argv[1], "send") == 0)
        return send_all(argv + 2);
    if (argc == 7 && strcmp(argv[1], "recv") == 0)
        return receive_all(argv + 2);
    if (argc == 4 && strcmp(argv[1], "wake") == 0)
        return wake_often(argv + 2);
    fprintf(stderr, "usage: link_probe send ADDR PORT PPS COUNT BYTES\n"
                    "       link_probe recv PORT COUNT BYTES DELAY_US RATE_BPS\n"
                    "       link_probe wake PPS COUNT\n");
    return 2;
}
