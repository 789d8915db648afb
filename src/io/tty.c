/* SPDX-License-Identifier: MIT */
/* A serial line or a pseudo terminal as a device that carries octets.
 *
 * One call of send() passes a block of octets, which is written to the line as far as the line
 * accepts it. The rest is stored, and the next block is refused until the rest has been written.
 * Octets that arrive are passed up as they are read; the boundaries of blocks have no meaning.
 *
 * Sources: termios(3), tty_ioctl(4), pty(7).
 */
#include "base/bytes.h"
#include "base/sized.h"
#include "io/iodev.h"
#include "io/tunaddr.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <termios.h>
#include <unistd.h>

#define TTY_MTU  65536 /* longest block of octets that one call of send() accepts */
#define TTY_READ 4096

struct tty {
    struct scps_iodev dev;
    struct termios before;
    size_t from, to; /* the octets tx[from] to tx[to - 1] wait to be written to the line */
    uint8_t tx[TTY_MTU], rx[TTY_READ];
};

/* Writes the stored octets to the line. Returns false if some are left, or the line is gone. */
static bool write_out(struct tty *t)
{
    while (t->from < t->to) {
        ssize_t n = write(t->dev.fd, t->tx + t->from, t->to - t->from);

        if (n > 0) {
            t->from += (size_t)n;
        } else if (n < 0 && errno == EAGAIN) {
            t->dev.block = SCPS_IO_POLL;
            return false;
        } else if (n == 0 || errno != EINTR) {
            t->dev.failed = SCPS_ERR_LINKDOWN;
            return false;
        }
    }
    t->from = t->to = 0;
    return true;
}

static int tty_send(struct scps_netif *nif, const struct scps_pkt *p)
{
    struct tty *t = (struct tty *)nif;
    size_t len = p->len + p->payload_len;

    if (t->dev.failed)
        return t->dev.failed;
    if (!p->payload && p->payload_len)
        /* Payload that is counted but not stored (hollow) occurs in simulations only, so it is
         * refused. */
        return SCPS_ERR_INVAL;
    if (len > TTY_MTU)
        return SCPS_ERR_MSGSIZE;
    if (!write_out(t))
        return t->dev.failed ? t->dev.failed : SCPS_ERR_AGAIN;
    memcpy(t->tx, p->data, p->len);
    if (p->payload_len)
        memcpy(t->tx + p->len, p->payload, p->payload_len);
    t->to = len;
    write_out(t);
    return t->dev.failed;
}

static int tty_read(struct scps_iodev *d, scps_time at, unsigned max)
{
    struct tty *t = (struct tty *)d;

    if (t->to && t->dev.block == SCPS_IO_FREE)
        write_out(t);
    /* One read() of octets may hold several packets, so it counts as 8 of the `max` packets. */
    for (unsigned i = 0; i < max; i += d->stop ? 1 : 8) {
        size_t most = d->stop ? 1 : sizeof t->rx;

        if (d->stop && d->stop(d->stop_ctx))
            return 0;
        ssize_t n = read(d->fd, t->rx, most);

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return 0;
        /* The line has gone. read() fails with EIO: the program at the other side of a pseudo
         * terminal has closed it; read() returns 0: the line was hung up. */
        if (n <= 0) {
            d->failed = SCPS_ERR_LINKDOWN;
            return d->failed;
        }
        struct scps_pkt p = {.data = t->rx, .len = (size_t)n, .cap = (size_t)n, .at = at};
        scps_netif_recv(&d->nif, &p);
        if ((size_t)n < most)
            return 0;
    }
    return 1;
}

static void tty_flush(struct scps_iodev *d)
{
    if (d->block == SCPS_IO_FREE)
        write_out((struct tty *)d);
}

static void tty_close(struct scps_netif *nif)
{
    struct tty *t = (struct tty *)nif;

    while (!t->dev.failed && !write_out(t) && scps_iodev_room(&t->dev))
        /* Before the line is closed, the octets that wait are written, as far as the line accepts
         * them within SCPS_IO_DRAIN, 1 s. */
        continue;
    tcsetattr(t->dev.fd, TCSANOW, &t->before);
    close(t->dev.fd);
    free(t);
}

const struct scps_netif_ops scps_tty_ops = {.name = "tty", .send = tty_send, .close = tty_close};

static bool speed_code(uint32_t bits, speed_t *out)
{
#define SPEED(n)                                                                                   \
    {                                                                                              \
        n, B##n                                                                                    \
    }
    static const struct {
        uint32_t bits;
        speed_t code;
    } all[] = {SPEED(300),    SPEED(600),     SPEED(1200),    SPEED(2400),
               SPEED(4800),   SPEED(9600),    SPEED(19200),   SPEED(38400),
               SPEED(57600),  SPEED(115200),  SPEED(230400),  SPEED(460800),
               SPEED(921600), SPEED(1000000), SPEED(2000000), SPEED(4000000)};
#undef SPEED
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].bits == bits) {
            *out = all[i].code;
            return true;
        }
    return false;
}

bool scps_tty_has_speed(uint32_t bits)
{
    speed_t code;

    return speed_code(bits, &code);
}

/* Returns false if /sys says that a character device is no terminal. The device itself is not
 * opened, which could hang up a modem. */
static bool may_be_terminal(const struct stat *st)
{
    char path[80], class[200];
    ssize_t n;

    if (!S_ISCHR(st->st_mode))
        return false;
    snprintf(path, sizeof path, "/sys/dev/char/%u:%u/subsystem", major(st->st_rdev),
             minor(st->st_rdev));
    n = readlink(path, class, sizeof class - 1);
    if (n < 0)
        /* /sys has no entry for pseudo terminals, so a device without an entry may be one. */
        return true;
    class[n] = 0;
    return strcmp(strrchr(class, '/') ? strrchr(class, '/') + 1 : class, "tty") == 0;
}

int scps_tty_check(const char *option, const char *path, char msg[SCPS_IO_MSGLEN])
{
    struct stat st;

    if (stat(path, &st)) {
        if (errno != ENOENT && errno != ENOTDIR)
            return 0;
        scps_io_message(msg,
                        "%s: there is no %.120s: give a serial line or a pseudo terminal that is",
                        option, path);
    } else if (!may_be_terminal(&st)) {
        scps_io_message(msg,
                        "%s: %.120s is not a terminal: give a serial line or a pseudo terminal",
                        option, path);
    } else {
        return 0;
    }
    return SCPS_ERR_INVAL;
}

struct scps_netif *scps_tty_open_for(const char *option, const struct scps_tty_config *cfg,
                                     char msg[SCPS_IO_MSGLEN])
{
    char why[SCPS_IO_MSGLEN];
    struct scps_netif *nif = scps_tty_open(cfg, why);

    if (!nif)
        scps_io_message(msg, "%s: %.200s", option, why);
    return nif;
}

static const char *open_remedy(int err)
{
    switch (err) {
    case EACCES:
    case EPERM:
        return "join the group that owns it, or run as root";
    case ENOENT:
    case ENOTDIR:
        return "give a serial line or a pseudo terminal that is there";
    case EBUSY:
        return "stop the program that uses it";
    case ENXIO:
    case ENODEV:
    case EIO:
        return "no line is behind it: connect it, or give another";
    default:
        return "give another line";
    }
}

static bool set_raw(struct tty *t, speed_t speed, bool set_speed)
{
    struct termios raw = t->before;

    cfmakeraw(&raw);
    raw.c_cflag |= CLOCAL | CREAD;
    raw.c_iflag &= ~(tcflag_t)(IXOFF | IXANY);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    return (!set_speed || cfsetspeed(&raw, speed) == 0) && tcsetattr(t->dev.fd, TCSANOW, &raw) == 0;
}

static struct scps_netif *failed(int fd, struct tty *t)
{
    close(fd);
    free(t);
    return NULL;
}

struct scps_netif *scps_tty_open_sized(const struct scps_tty_config *asked, size_t size,
                                       char msg[SCPS_IO_MSGLEN])
{
    struct scps_tty_config own = {0};
    const struct scps_tty_config *cfg = &own;
    speed_t speed = B0;
    struct tty *t;
    int fd;

    if (!scps_io_take(&own, sizeof own, asked, size, SCPS_SIZED_TO(scps_tty_config, speed), msg))
        return NULL;
    if (cfg->speed && !speed_code(cfg->speed, &speed)) {
        scps_io_message(msg, "speed %u: give one that lines have, as 9600, 115200 or 921600",
                        cfg->speed);
        return NULL;
    }
    fd = open(cfg->path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        scps_io_message(msg, "cannot open %.100s: %s: %s", cfg->path, strerror(errno),
                        open_remedy(errno));
        return NULL;
    }
    t = calloc(1, sizeof *t);
    if (!t) {
        scps_io_message(msg, "out of memory");
        return failed(fd, t);
    }
    t->dev.fd = fd;
    if (tcgetattr(fd, &t->before)) {
        scps_io_message(msg, "%.120s is not a terminal: give a serial line or a pseudo terminal",
                        cfg->path);
        return failed(fd, t);
    }
    if (flock(fd, LOCK_EX | LOCK_NB)) {
        scps_io_message(msg, "%.120s is in use by another program: stop it, or take another line",
                        cfg->path);
        return failed(fd, t);
    }
    if (!set_raw(t, speed, cfg->speed != 0)) {
        scps_io_message(msg, "cannot set %.120s to raw mode: %s", cfg->path, strerror(errno));
        return failed(fd, t);
    }
    t->dev.read = tty_read;
    t->dev.flush = tty_flush;
    t->dev.nif.ops = &scps_tty_ops;
    t->dev.nif.name = "tty";
    t->dev.nif.mtu = TTY_MTU;
    return &t->dev.nif;
}
