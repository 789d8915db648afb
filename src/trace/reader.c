/* SPDX-License-Identifier: MIT */
/* Captures in: files, pipes, gzip'd or not, and live devices.
 *
 *      fd or gzip --> window of bytes --+--> pcap records, read in place
 *                                       +--> libpcap (pcapng and every older format), through a FILE of ours
 *
 * Classic pcap is read here, because libpcap's copy and its call a packet cost more than the analysis of an ordinary
 * packet (docs/TRACE.md has the figures); everything else is libpcap's business.  Nothing seeks, so a pipe is as
 * good as a file, and memory does not grow with the capture.
 *
 * A record whose length makes no sense ends the reading: there is no mark to find the next one by.  What came before is
 * analysed, and the bytes left over are counted.
 *
 * Format: draft-ietf-opsawg-pcap. Times in nanoseconds are cut to µs, as libpcap does for readers that want µs.
 */
#define _GNU_SOURCE /* fopencookie */
#include "trace/flow.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <pcap/pcap.h>
#ifdef SCPS_HAVE_ZLIB
#include <zlib.h>
#endif

#define LARGEST (256u << 10) /* a record; libpcap's limit for what is not D-Bus or USB */
#define PAGE    4096u
#define HEAD                                                                                       \
    (LARGEST + PAGE) /* where the beginning of a record moves whose end is yet to be read */
#define READ                                                                                       \
    (128u << 10) /* at once, to a page's border: several times faster than to just anywhere */
#define WINDOW (HEAD + READ)
#define PACKED (128u << 10)

#define LATEST ((int64_t)1 << 38) /* s: pcapng has 64 bits for a time, and nonsense fills them */

struct window {
    int fd;
#ifdef SCPS_HAVE_ZLIB
    z_stream z;
    uint8_t *packed; /* NULL: not packed */
    bool member_done;
#endif
    uint8_t *buf;
    size_t pos, end;
    uint64_t size; /* of the file; 0: unknown */
    uint64_t done; /* bytes read of it (plain) */
    bool eof, stopped;
    int err;
    struct scps_trace *t;
};

static int stop_asked(struct scps_trace *t, uint64_t done, uint64_t total)
{
    return t->cfg.on_progress && t->cfg.on_progress(t->cfg.ctx, done, total);
}

/* One read into p; 0 at the end, which it notes. */
static size_t fill(struct window *w, uint8_t *p, size_t room)
{
    ssize_t n;
    do
        n = read(w->fd, p, room);
    while (n < 0 && errno == EINTR && !stop_asked(w->t, w->done, w->size));
    if (n < 0 && errno != EINTR)
        w->err = errno;
    if (n <= 0)
        return 0;
    w->done += (uint64_t)n;
    return (size_t)n;
}

#ifdef SCPS_HAVE_ZLIB
/* Unpacks into p; 0 at the end. Several gzip members in a row are one stream. */
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
                    w->err = EBADMSG; /* it ends within a member */
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

static void more(struct window *w)
{
    if (w->pos == w->end || w->end == WINDOW) {
        size_t left = w->end - w->pos; /* below a record */
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
    if (stop_asked(w->t, w->done, w->size))
        w->stopped = true;
}

/* The window begins with gzip's magic: what is in it is packed. */
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

/* n bytes at buf + pos? */
static inline bool have(struct window *w, size_t n)
{
    while (TR_UNLIKELY(w->end - w->pos < n)) {
        if (w->eof)
            return false;
        more(w);
    }
    return true;
}

/* ---- pcap ---------------------------------------------------------------------------------------------- */

static inline uint32_t get32(const uint8_t *p, bool swap)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return swap ? __builtin_bswap32(v) : v;
}

/* Whatever is left, counted. */
static uint64_t drain(struct window *w)
{
    uint64_t n = 0;
    while (!w->stopped) {
        n += w->end - w->pos;
        w->pos = w->end;
        if (w->eof)
            break;
        more(w);
    }
    return n;
}

static int read_pcap(struct scps_trace *t, struct window *w, const char *path, char *msg)
{
    uint32_t magic = get32(w->buf + w->pos, false);
    bool swap = magic == 0xd4c3b2a1u || magic == 0x4d3cb2a1u;
    bool nano = magic == 0xa1b23c4du || magic == 0x4d3cb2a1u;
    if (!have(w, 24)) {
        snprintf(msg, SCPS_TRACE_MSGLEN, "%s: not a capture: it ends within the file header", path);
        return SCPS_ERR_INVAL;
    }
    struct scps_trace_pkt p = {.link = (int)(get32(w->buf + w->pos + 20, swap) & 0xffff)};
    w->pos += 24;
    uint64_t no = 0;
    for (;;) {
        if (TR_UNLIKELY(!have(w, 16)))
            break;
        const uint8_t *r = w->buf + w->pos;
        uint32_t frac = get32(r + 4, swap);
        p.at = (scps_time)get32(r, swap) * 1000000 + (nano ? frac / 1000 : frac);
        p.caplen = get32(r + 8, swap);
        p.len = get32(r + 12, swap);
        if (TR_UNLIKELY(p.caplen > LARGEST)) {
            t->tot.unread_bytes += drain(w);
            snprintf(msg, SCPS_TRACE_MSGLEN,
                     "%s: after packet %llu comes a record of %u bytes: analysed up to there", path,
                     (unsigned long long)no, p.caplen);
            return 1;
        }
        if (TR_UNLIKELY(!have(w, 16 + (size_t)p.caplen)))
            break;
        p.data = w->buf + w->pos + 16;
        w->pos += 16 + (size_t)p.caplen;
        no++;
#if defined(__GNUC__)
        __builtin_prefetch(w->buf + w->pos + 64);
#endif
        int e = scps_trace_packet(t, &p);
        if (TR_UNLIKELY(e < 0)) {
            snprintf(msg, SCPS_TRACE_MSGLEN, "%s: out of memory at packet %llu", path,
                     (unsigned long long)no);
            return e;
        }
        if (TR_UNLIKELY(w->stopped))
            return 0;
    }
    if (w->err) {
        snprintf(msg, SCPS_TRACE_MSGLEN, "%s: %s after packet %llu: analysed up to there", path,
                 w->err == EBADMSG ? "damaged gzip data" : strerror(w->err),
                 (unsigned long long)no);
        return 1;
    }
    if (w->end > w->pos) {
        t->tot.unread_bytes += w->end - w->pos;
        snprintf(msg, SCPS_TRACE_MSGLEN,
                 "%s: cut off within the record after packet %llu: analysed up to there", path,
                 (unsigned long long)no);
        return 1;
    }
    return 0;
}

/* ---- libpcap --------------------------------------------------------------------------------------------- */

static ssize_t cookie_read(void *ctx, char *buf, size_t n)
{
    struct window *w = ctx;
    if (w->pos == w->end && !w->eof)
        more(w);
    n = SCPS_MIN(n, w->end - w->pos);
    if (n == 0 && w->err) {
        errno = w->err;
        return -1;
    }
    memcpy(buf, w->buf + w->pos, n);
    w->pos += n;
    return (ssize_t)n;
}

static FILE *as_file(struct window *w)
{
#if defined(__GLIBC__) || defined(__linux__)
    return fopencookie(w, "r", (cookie_io_functions_t){.read = cookie_read});
#else
    return NULL;
#endif
}

static void take(struct scps_trace *t, int link, const struct pcap_pkthdr *h, const uint8_t *data,
                 int *err)
{
    struct scps_trace_pkt p = {.at = (scps_time)SCPS_CLAMP(h->ts.tv_sec, 0, LATEST) * 1000000 +
                                     SCPS_CLAMP(h->ts.tv_usec, 0, 999999),
                               .data = data,
                               .caplen = h->caplen,
                               .len = h->len,
                               .link = link};
    int e = scps_trace_packet(t, &p);
    if (e < 0)
        *err = e;
}

static int read_libpcap(struct scps_trace *t, struct window *w, const char *path, char *msg)
{
    char e[PCAP_ERRBUF_SIZE] = "";
    FILE *f = as_file(w);
    pcap_t *p = f ? pcap_fopen_offline(f, e) : NULL;
    if (!p) {
        if (f)
            fclose(f);
        if (w->err)
            snprintf(msg, SCPS_TRACE_MSGLEN, "%s: %s", path,
                     w->err == EBADMSG ? "damaged gzip data" : strerror(w->err));
        else
            snprintf(msg, SCPS_TRACE_MSGLEN, "%s: not a capture (%.120s)", path,
                     f ? e : "and no libpcap stream on this system");
        return w->err && w->err != EBADMSG ? SCPS_ERR_SYSTEM : SCPS_ERR_INVAL;
    }
    int link = pcap_datalink(p), err = 0, r;
    struct pcap_pkthdr *h;
    const u_char *data;
    uint64_t no = 0;
    while ((r = pcap_next_ex(p, &h, &data)) == 1 && !err && !w->stopped) {
        no++;
        take(t, link, h, data, &err);
    }
    int ret = 0;
    if (err) {
        snprintf(msg, SCPS_TRACE_MSGLEN, "%s: out of memory at packet %llu", path,
                 (unsigned long long)no);
        ret = err;
    } else if (r == PCAP_ERROR) {
        snprintf(msg, SCPS_TRACE_MSGLEN, "%s: after packet %llu: %.140s: analysed up to there",
                 path, (unsigned long long)no, pcap_geterr(p));
        t->tot.unread_bytes += drain(w);
        ret = 1;
    }
    pcap_close(p); /* closes f too */
    return ret;
}

/* ---- both -------------------------------------------------------------------------------------------------- */

int scps_trace_read(struct scps_trace *t, const char *path, char msg[SCPS_TRACE_MSGLEN])
{
    struct window w = {.t = t};
    struct stat st;
    msg[0] = '\0';
    bool std = !strcmp(path, "-");
    w.fd = std ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (w.fd < 0 || fstat(w.fd, &st) != 0) {
        snprintf(msg, SCPS_TRACE_MSGLEN, "%s: %s", path, strerror(errno));
        if (w.fd > 0 && !std)
            close(w.fd);
        return SCPS_ERR_SYSTEM;
    }
    if (S_ISDIR(st.st_mode)) {
        snprintf(msg, SCPS_TRACE_MSGLEN, "%s: not a capture: it is a directory", path);
        if (!std)
            close(w.fd);
        return SCPS_ERR_INVAL;
    }
    w.size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
    int ret = SCPS_ERR_NOMEM;
    w.buf = aligned_alloc(PAGE, WINDOW);
    w.pos = w.end = HEAD;
    if (!w.buf) {
        snprintf(msg, SCPS_TRACE_MSGLEN, "%s: out of memory", path);
        goto out;
    }
#ifdef POSIX_FADV_SEQUENTIAL
    (void)posix_fadvise(w.fd, 0, 0, POSIX_FADV_SEQUENTIAL);
#endif
    have(&w, 2);
    if (w.end - w.pos >= 2 && w.buf[w.pos] == 0x1f && w.buf[w.pos + 1] == 0x8b &&
        unpack_begin(&w, path, msg, &ret) != 0)
        goto out;
    if (!have(&w, 4)) {
        if (w.err && w.err != EBADMSG) {
            snprintf(msg, SCPS_TRACE_MSGLEN, "%s: %s", path, strerror(w.err));
            ret = SCPS_ERR_SYSTEM;
        } else {
            snprintf(msg, SCPS_TRACE_MSGLEN, "%s: not a capture: %s", path,
                     w.end > w.pos ? "too short for one" : "it is empty");
            ret = SCPS_ERR_INVAL;
        }
        goto out;
    }
    uint32_t magic = get32(w.buf + w.pos, false);
    if (magic == 0xa1b2c3d4u || magic == 0xd4c3b2a1u || magic == 0xa1b23c4du ||
        magic == 0x4d3cb2a1u)
        ret = read_pcap(t, &w, path, msg);
    else
        ret = read_libpcap(t, &w, path, msg);
out:
    unpack_end(&w);
    free(w.buf);
    if (!std)
        close(w.fd);
    return ret;
}

struct live {
    struct scps_trace *t;
    int link, err;
};

static void live_packet(u_char *ctx, const struct pcap_pkthdr *h, const u_char *data)
{
    struct live *l = (void *)ctx;
    take(l->t, l->link, h, data, &l->err);
}

static scps_time monotonic(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (scps_time)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

int scps_trace_live(struct scps_trace *t, const char *device, const char *filter, uint64_t packets,
                    scps_dur until, char msg[SCPS_TRACE_MSGLEN])
{
    char e[PCAP_ERRBUF_SIZE] = "";
    struct bpf_program prog;
    int ret = SCPS_ERR_SYSTEM;
    msg[0] = '\0';
    pcap_t *p = pcap_open_live(device, 262144, 1, 100, e);
    if (!p) {
        snprintf(msg, SCPS_TRACE_MSGLEN, "%.250s", e); /* it names the device */
        return SCPS_ERR_SYSTEM;
    }
    if (filter) {
        if (pcap_compile(p, &prog, filter, 1, PCAP_NETMASK_UNKNOWN) != 0) {
            snprintf(msg, SCPS_TRACE_MSGLEN, "filter '%.60s': %.140s", filter, pcap_geterr(p));
            ret = SCPS_ERR_INVAL;
            goto out;
        }
        int r = pcap_setfilter(p, &prog);
        pcap_freecode(&prog);
        if (r != 0) {
            snprintf(msg, SCPS_TRACE_MSGLEN, "%.40s: %.180s", device, pcap_geterr(p));
            goto out;
        }
    }
    /* libpcap may wait for ever on a silent line, whatever its timeout: so the waiting is ours */
    if (pcap_setnonblock(p, 1, e) != 0) {
        snprintf(msg, SCPS_TRACE_MSGLEN, "%.250s", e);
        goto out;
    }
    struct live l = {.t = t, .link = pcap_datalink(p)};
    scps_time end = until ? monotonic() + until : SCPS_NEVER;
    uint64_t from = t->tot.packets;
    ret = 0;
    while (!l.err && monotonic() < end) {
        uint64_t left = packets ? packets - (t->tot.packets - from) : 10000;
        if (packets && left == 0)
            break;
        int n = pcap_dispatch(p, (int)SCPS_MIN(left, 10000u), live_packet, (void *)&l);
        if (n < 0) {
            snprintf(msg, SCPS_TRACE_MSGLEN, "%.40s: %.180s", device, pcap_geterr(p));
            ret = n == PCAP_ERROR_BREAK ? 0 : 1;
            break;
        }
        if (stop_asked(t, t->tot.packets - from, packets))
            break;
        struct pollfd fd = {.fd = pcap_get_selectable_fd(p), .events = POLLIN};
        if (n == 0)
            (void)poll(&fd, fd.fd >= 0, 50); /* an interrupt only makes it shorter */
    }
    if (l.err) {
        snprintf(msg, SCPS_TRACE_MSGLEN, "%.40s: out of memory", device);
        ret = l.err;
    }
out:
    pcap_close(p);
    return ret;
}
