/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* declares posix_fadvise() and O_CLOEXEC */
#include "trace/window.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096u
/* Offset in buf at which new octets are stored; the octets of an incomplete record are moved to
 * just before it. */
#define HEAD (TR_LARGEST + PAGE)
/* Largest number of octets of one read. A read ends at a page border of the file, because aligned
 * reads are several times as fast as others. */
#define READ   (128u << 10)
#define WINDOW (HEAD + READ)
#define PACKED (128u << 10)

int scps_tr_stop_asked(struct scps_trace *t, uint64_t done, uint64_t total)
{
    return t->cfg.on_progress && t->cfg.on_progress(t->cfg.ctx, done, total);
}

/* Reads at most `room` octets of the file into p. Returns their number; 0 at the end, or on an
 * error, which is stored in w->err. */
static size_t fill(struct window *w, uint8_t *p, size_t room)
{
    ssize_t n;
    do
        n = read(w->fd, p, room);
    while (n < 0 && errno == EINTR && !scps_tr_stop_asked(w->t, w->done, w->size));
    if (n < 0 && errno != EINTR)
        w->err = errno;
    if (n <= 0)
        return 0;
    w->done += (uint64_t)n;
    return (size_t)n;
}

#ifdef SCPS_HAVE_ZLIB
/* Decompresses at most `room` octets of the file into p. Returns their number; 0 at the end, or on
 * an error, which is stored in w->err. A file of several gzip members is read as one stream. */
static size_t unpack(struct window *w, uint8_t *p, size_t room)
{
    w->z.next_out = p;
    w->z.avail_out = (uInt)room;
    while (w->z.avail_out == room) {
        if (!w->z.avail_in) {
            w->z.next_in = w->packed;
            w->z.avail_in = (uInt)fill(w, w->packed, PACKED);
            if (!w->z.avail_in) {
                if (!w->err && !w->member_done)
                    w->err = EBADMSG; /* The file ends before the end of its gzip data. */
                break;
            }
        }
        int r = w->member_done ? inflateReset(&w->z) : Z_OK;
        w->member_done = false;
        if (r == Z_OK)
            r = inflate(&w->z, Z_NO_FLUSH);
        if (r == Z_STREAM_END) {
            w->member_done = true;
        } else if (r != Z_OK && r != Z_BUF_ERROR) {
            w->err = EBADMSG;
            break;
        }
    }
    return room - w->z.avail_out;
}
#endif

void scps_tr_window_more(struct window *w)
{
    if (w->pos == w->end || w->end == WINDOW) {
        size_t left = w->end - w->pos; /* octets that are not used yet: the beginning of a record */
        memmove(w->buf + HEAD - left, w->buf + w->pos, left);
        w->pos = HEAD - left;
        w->end = HEAD;
    }
    if (w->eof)
        return;
#ifdef SCPS_HAVE_ZLIB
    size_t n = w->packed ? unpack(w, w->buf + w->end, WINDOW - w->end)
                         : fill(w, w->buf + w->end, WINDOW - w->end);
#else
    size_t n = fill(w, w->buf + w->end, WINDOW - w->end);
#endif
    if (n == 0)
        w->eof = true;
    w->end += n;
    if (scps_tr_stop_asked(w->t, w->done, w->size))
        w->stopped = true;
}

/* Called for a file that begins with the magic number of gzip: prepares to decompress it. Returns
 * 0, or -1 with the error in *ret and one line in msg. */
static int unpack_begin(struct window *w, const char *path, char *msg, int *ret)
{
#ifdef SCPS_HAVE_ZLIB
    w->packed = malloc(SCPS_MAX(PACKED, READ));
    if (!w->packed || inflateInit2(&w->z, 15 + 16) != Z_OK) {
        free(w->packed);
        w->packed = NULL;
        snprintf(msg, SCPS_TRACE_MSGLEN, "%s: out of memory", path);
        *ret = SCPS_ERR_NOMEM;
        return -1;
    }
    w->z.next_in = w->packed;
    w->z.avail_in = (uInt)(w->end - w->pos);
    memcpy(w->packed, w->buf + w->pos, w->z.avail_in);
    w->pos = w->end = HEAD;
    w->eof = false;
    return 0;
#else
    (void)w;
    snprintf(msg, SCPS_TRACE_MSGLEN,
             "%s: packed with gzip, and this build has no zlib: unpack it with gzip -dc", path);
    *ret = SCPS_ERR_INVAL;
    return -1;
#endif
}

static void unpack_end(struct window *w)
{
#ifdef SCPS_HAVE_ZLIB
    if (w->packed)
        inflateEnd(&w->z);
    free(w->packed);
#else
    (void)w;
#endif
}

uint64_t scps_tr_window_drain(struct window *w)
{
    uint64_t n = 0;
    while (!w->stopped) {
        n += w->end - w->pos;
        w->pos = w->end;
        if (w->eof)
            break;
        scps_tr_window_more(w);
    }
    return n;
}

bool scps_tr_window_skip(struct window *w, uint64_t n)
{
    while (n > w->end - w->pos) {
        n -= w->end - w->pos;
        w->pos = w->end;
        if (w->eof || w->stopped)
            return false;
        scps_tr_window_more(w);
    }
    w->pos += n;
    return true;
}

const char *scps_tr_window_trouble(const struct window *w)
{
    return w->err == EBADMSG ? "damaged gzip data" : strerror(w->err);
}

/* Writes to msg why the file is not a capture: its first octets could not be read, or are too few.
 * Returns the error. */
static int no_capture(const struct window *w, const char *path, char *msg)
{
    if (w->err && w->err != EBADMSG) {
        snprintf(msg, SCPS_TRACE_MSGLEN, "%s: %s: give a pcap or pcapng file", path,
                 strerror(w->err));
        return SCPS_ERR_SYSTEM;
    }
    snprintf(msg, SCPS_TRACE_MSGLEN, "%s: not a capture: %s: give a pcap or pcapng file", path,
             w->end > w->pos ? "too short for one" : "it is empty");
    return SCPS_ERR_INVAL;
}

int scps_tr_window_open(struct window *w, struct scps_trace *t, const char *path, char *msg)
{
    struct stat st;
    int ret = 0;
    *w = (struct window){.t = t, .pos = HEAD, .end = HEAD};
    w->fd = !strcmp(path, "-") ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (w->fd < 0 || fstat(w->fd, &st) != 0) {
        snprintf(msg, SCPS_TRACE_MSGLEN, "%s: %s: give a pcap or pcapng file", path,
                 strerror(errno));
        return SCPS_ERR_SYSTEM;
    }
    if (S_ISDIR(st.st_mode)) {
        snprintf(msg, SCPS_TRACE_MSGLEN, "%s: not a capture: it is a directory: give a file in it",
                 path);
        return SCPS_ERR_INVAL;
    }
    w->size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
    w->buf = aligned_alloc(PAGE, WINDOW);
    if (!w->buf) {
        snprintf(msg, SCPS_TRACE_MSGLEN, "%s: out of memory", path);
        return SCPS_ERR_NOMEM;
    }
#ifdef POSIX_FADV_SEQUENTIAL
    (void)posix_fadvise(w->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
#endif
    if (scps_tr_have(w, 2) && w->buf[w->pos] == 0x1f && w->buf[w->pos + 1] == 0x8b &&
        unpack_begin(w, path, msg, &ret) != 0)
        return ret;
    return scps_tr_have(w, 4) ? 0 : no_capture(w, path, msg);
}

void scps_tr_window_close(struct window *w)
{
    unpack_end(w);
    free(w->buf);
    if (w->fd > STDIN_FILENO)
        close(w->fd);
}
