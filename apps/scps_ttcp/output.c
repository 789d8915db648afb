/* SPDX-License-Identifier: MIT */
/* Writes what a receiver has read to a descriptor, through one buffer of -l bytes.
 *
 * When the reader of the output is slow, the program stops reading from the connection, so that the
 * receive window closes, but the protocol continues. A pipe that poll() reports as writable accepts
 * PIPE_BUF bytes without blocking (POSIX write), so that many bytes are written at a time, and the
 * descriptor need not be made non-blocking for other processes that share it.
 */
#include "scps_ttcp/output.h"

#include <scps/error.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

int ttcp_output_init(struct ttcp_output *out, const struct ttcp_options *opt,
                     struct ttcp_verify *verify)
{
    struct stat st;

    memset(out, 0, sizeof(*out));
    out->opt = opt;
    out->verify = verify;
    out->fd = -1;
    if (opt->output != NULL) {
        out->name = opt->output;
        out->fd = open(opt->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (out->fd < 0) {
            out->sys_errno = errno;
            return SCPS_ERR_SYSTEM;
        }
        out->opened = true;
    } else if (opt->action == TTCP_RECEIVE && !opt->pattern && !opt->json) {
        out->name = "standard output";
        out->fd = STDOUT_FILENO;
    }
    if (out->fd >= 0 && fstat(out->fd, &st) == 0) {
        out->direct = S_ISREG(st.st_mode) || S_ISBLK(st.st_mode);
        out->socket = S_ISSOCK(st.st_mode);
    } else {
        /* fstat() has failed. The descriptor is treated as a file, so that the first write reports
         * the error. */
        out->direct = true;
    }
    if (opt->hollow)
        return 0;
    return ttcp_buffer_init(&out->buf, opt->length, opt->align, opt->offset);
}

int ttcp_output_fini(struct ttcp_output *out)
{
    int err = 0;

    if (out->opened && close(out->fd) != 0) {
        out->sys_errno = errno;
        err = SCPS_ERR_SYSTEM;
    }
    out->opened = false;
    out->fd = -1;
    ttcp_buffer_fini(&out->buf);
    return err;
}

uint8_t *ttcp_output_room(struct ttcp_output *out, size_t *len)
{
    if (out->opt->hollow) {
        *len = SIZE_MAX;
        return NULL;
    }
    *len = out->buf.size - out->have;
    return out->buf.data + out->have;
}

void ttcp_output_took(struct ttcp_output *out, size_t len)
{
    out->calls++;
    if (out->opt->hollow)
        return;
    if (out->opt->touch)
        out->touched = ttcp_touch(out->touched, out->buf.data + out->have, len);
    if (out->verify != NULL)
        ttcp_verify_got(out->verify, out->buf.data + out->have, len);
    if (out->fd >= 0)
        out->have += len;
}

/* Returns how many of len bytes can be written to the output without blocking; 0: none now. */
static size_t room_now(const struct ttcp_output *out, size_t len)
{
    struct pollfd p = {.fd = out->fd, .events = POLLOUT};

    if (out->direct)
        return len;
    if (poll(&p, 1, 0) <= 0)
        return 0;
    return len < PIPE_BUF ? len : PIPE_BUF;
}

void ttcp_output_gap(struct ttcp_output *out, uint64_t len)
{
    if (out->verify != NULL)
        ttcp_verify_skip(out->verify, len);
    if (out->fd >= 0)
        out->gap += len;
}

/* Writes as many of the len bytes at data to the output as is possible without blocking. Returns
 * their number; SCPS_ERR_AGAIN if none can be written now; SCPS_ERR_SYSTEM with out->sys_errno. */
static int64_t put_octets(struct ttcp_output *out, const uint8_t *data, size_t len)
{
    ssize_t n;

    len = room_now(out, len);
    if (len == 0)
        return SCPS_ERR_AGAIN;
    n = out->socket ? send(out->fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL)
                    : write(out->fd, data, len);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return SCPS_ERR_AGAIN;
    if (n < 0) {
        out->sys_errno = errno;
        return SCPS_ERR_SYSTEM;
    }
    return n;
}

int ttcp_output_flush(struct ttcp_output *out, bool end)
{
    static const uint8_t zeros[4096];
    int64_t n;

    if (out->fd < 0)
        return 0;
    if (out->opt->blocks && !end && out->gap == 0 && out->have < out->buf.size)
        return 0;
    for (; out->used < out->have; out->used += (size_t)n)
        if ((n = put_octets(out, out->buf.data + out->used, out->have - out->used)) < 0)
            return (int)n;
    out->have = out->used = 0;
    for (; out->gap > 0; out->gap -= (uint64_t)n)
        if ((n = put_octets(out, zeros,
                            out->gap < sizeof(zeros) ? (size_t)out->gap : sizeof(zeros))) < 0)
            return (int)n;
    return 0;
}
