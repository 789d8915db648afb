/* SPDX-License-Identifier: MIT */
/* The bytes of a capture as they come from a file or a pipe, unpacked where they are gzip'd: a
 * window that moves over them.
 *
 *      while (scps_tr_have(w, n))           n bytes at w->buf + w->pos, contiguous
 *          ... w->pos += n;
 *
 * Nothing seeks, so a pipe is as good as a file, and memory does not grow with the capture.
 */
#ifndef SCPS_TRACE_WINDOW_H
#define SCPS_TRACE_WINDOW_H

#include "trace/flow.h"

#ifdef SCPS_HAVE_ZLIB
#include <zlib.h>
#endif

#define TR_LARGEST (256u << 10) /* a record; libpcap's limit for what is not D-Bus or USB */

#define TR_LATEST ((int64_t)1 << 38) /* s: pcapng has 64 bits for a time, and nonsense fills them */

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
    int err; /* errno, EBADMSG for damaged gzip data */
    struct scps_trace *t;
};

/* "-": standard input. 0, or an error of scps_trace_read with its line in msg. Close it in any
 * case. */
int scps_tr_window_open(struct window *w, struct scps_trace *t, const char *path, char *msg);
void scps_tr_window_close(struct window *w);
/* Another read behind what is there, which may move: take buf + pos anew. */
void scps_tr_window_more(struct window *w);
/* Whatever is left, counted. */
uint64_t scps_tr_window_drain(struct window *w);
/* Goes n bytes on. False: it ends before. */
bool scps_tr_window_skip(struct window *w, uint64_t n);
/* What w->err means. */
const char *scps_tr_window_trouble(const struct window *w);
/* The caller of the analyser wants no more. */
int scps_tr_stop_asked(struct scps_trace *t, uint64_t done, uint64_t total);

/* n bytes at buf + pos? At most TR_LARGEST and a bit. */
static inline bool scps_tr_have(struct window *w, size_t n)
{
    while (TR_UNLIKELY(w->end - w->pos < n)) {
        if (w->eof)
            return false;
        scps_tr_window_more(w);
    }
    return true;
}

static inline uint32_t scps_tr_get32(const uint8_t *p, bool swap)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return swap ? __builtin_bswap32(v) : v;
}

/* The readers: 0, or what scps_trace_read returns, with its line in msg. */
int scps_tr_read_pcapng(struct scps_trace *t, struct window *w, const char *path, char *msg);
int scps_tr_read_libpcap(struct scps_trace *t, struct window *w, const char *path, char *msg);

#endif
