/* SPDX-License-Identifier: MIT */
/* Reads the input one block at a time, as ttcp's own loop of reads and writes does.
 *
 * A file is read directly. Any other descriptor is checked with poll() first. In real time an empty
 * pipe must not block the protocol, so SCPS_ERR_AGAIN is returned and the caller watches the
 * descriptor. In virtual time the program may wait, except that an interrupt must end the waiting.
 * No descriptor is switched to non-blocking, because that would affect other processes that share
 * it.
 */
#include "scps_ttcp/input.h"

#include <scps/error.h>
#include <scps/traffic.h>

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int ttcp_input_init(struct ttcp_input *in, const struct ttcp_options *opt,
                    struct ttcp_verify *verify, const volatile sig_atomic_t *stop_now)
{
    struct stat st;

    memset(in, 0, sizeof(*in));
    in->opt = opt;
    in->verify = verify;
    in->stop_now = stop_now;
    in->fd = STDIN_FILENO;
    in->total = UINT64_MAX;
    if (opt->pattern) {
        in->total = ttcp_pattern_total(opt);
    } else if (fstat(in->fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))) {
        off_t at = lseek(in->fd, 0, SEEK_CUR);

        in->direct = true;
        if (S_ISREG(st.st_mode) && at >= 0 && at <= st.st_size)
            in->total = (uint64_t)(st.st_size - at);
    }
    if (opt->hollow)
        return 0;
    return ttcp_buffer_init(&in->buf, opt->length, opt->align, opt->offset);
}

void ttcp_input_fini(struct ttcp_input *in)
{
    ttcp_buffer_fini(&in->buf);
}

void ttcp_input_stop(struct ttcp_input *in)
{
    in->stopped = true;
}

/* Returns true if the input can be read without blocking. If in->stop_now is not NULL, first waits
 * until it can, or until *stop_now is set. */
static bool ready(struct ttcp_input *in)
{
    struct pollfd p = {.fd = in->fd, .events = POLLIN};

    if (in->direct)
        return true;
    for (;;) {
        if (in->stop_now != NULL && *in->stop_now)
            return false;
        if (poll(&p, 1, in->stop_now != NULL ? 200 : 0) > 0)
            return true;
        if (in->stop_now == NULL)
            return false;
    }
}

/* Reads input into the block in->buf; with -B until it is full. Returns the number of bytes in it;
 * 0 at the end; SCPS_ERR_AGAIN if nothing can be read now; SCPS_ERR_SYSTEM with in->sys_errno. */
static int64_t fill(struct ttcp_input *in)
{
    while (in->have < in->buf.size && !in->eof) {
        ssize_t n;

        if (!ready(in))
            return SCPS_ERR_AGAIN;
        n = read(in->fd, in->buf.data + in->have, in->buf.size - in->have);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            return SCPS_ERR_AGAIN;
        if (n < 0) {
            in->sys_errno = errno;
            return SCPS_ERR_SYSTEM;
        }
        in->eof = n == 0;
        in->have += (size_t)n;
        if (!in->opt->blocks)
            break;
    }
    return (int64_t)in->have;
}

int64_t ttcp_input_next(struct ttcp_input *in, const uint8_t **data)
{
    int64_t n = 0;

    if (in->stopped)
        return 0;
    if (in->opt->pattern) {
        uint64_t left = in->total - in->pos;

        n = (int64_t)(left < in->opt->length ? left : in->opt->length);
        if (n > 0 && !in->opt->hollow)
            scps_pattern_fill(in->buf.data, (size_t)n, in->pos);
    } else {
        n = fill(in);
    }
    if (n <= 0)
        return n;
    in->have = 0;
    if (in->opt->touch && !in->opt->hollow)
        in->touched = ttcp_touch(in->touched, in->buf.data, (size_t)n);
    if (in->verify != NULL && !in->opt->hollow &&
        ttcp_verify_sent(in->verify, in->buf.data, (size_t)n) != 0)
        return SCPS_ERR_NOMEM;
    in->pos += (uint64_t)n;
    in->calls++;
    *data = in->buf.data;
    return n;
}
