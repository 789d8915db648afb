/* SPDX-License-Identifier: MIT */
/* A buffer that moves over the bytes of a capture, which are read from a file or a pipe and
 * decompressed if need be.
 *
 *      while (scps_tr_have(w, n))           n bytes at w->buf + w->pos, contiguous
 *          ... w->pos += n;
 *
 * The file is read in order only, so a pipe can be read, too, and memory does not grow with the
 * capture.
 */
#ifndef SCPS_TRACE_WINDOW_H
#define SCPS_TRACE_WINDOW_H

#include "trace/flow.h"

#ifdef SCPS_HAVE_ZLIB
#include <zlib.h>
#endif

/* Size of the largest record, bytes, which is libpcap's limit except for D-Bus and USB. */
#define TR_LARGEST (256u << 10)

/* Latest time, s since 1970, that counts as plausible: times in pcapng have 64 bits, and a damaged
 * file may have any value. */
#define TR_LATEST ((int64_t)1 << 38)

struct window {
    int fd;
#ifdef SCPS_HAVE_ZLIB
    z_stream z;
    uint8_t *packed; /* buffer for compressed input; NULL: the file is not compressed */
    bool member_done;
#endif
    uint8_t *buf;
    size_t pos, end;
    uint64_t size; /* size of the file, octets; 0: unknown */
    uint64_t done; /* bytes of the file that were read, before decompression */
    bool eof, stopped;
    int err; /* error of reading: an errno value, or EBADMSG for damaged gzip data; 0: no error */
    struct scps_trace *t;
};

/* Opens a file, or standard input for "-". Returns 0, or an error of scps_trace_read() with one
 * line in msg. Call scps_tr_window_close() in either case. */
int scps_tr_window_open(struct window *w, struct scps_trace *t, const char *path, char *msg);
void scps_tr_window_close(struct window *w);
/* Reads more octets of the file and puts them behind the unused octets in w->buf. Pointers into
 * w->buf become invalid, because the unused octets may be moved. */
void scps_tr_window_more(struct window *w);
/* Reads and discards the rest of the file. Returns the number of bytes discarded. */
uint64_t scps_tr_window_drain(struct window *w);
/* Skips n bytes. Returns false if the capture ends before. */
bool scps_tr_window_skip(struct window *w, uint64_t n);
/* Returns a text that describes w->err, the error that ended the reading. */
const char *scps_tr_window_trouble(const struct window *w);
/* Calls the function on_progress that the user of the analyser has configured, if any, with the
 * number of bytes of the file read (live capture: packets), `done`, and the total, 0: unknown.
 * Returns non-zero if that function asks to stop. */
int scps_tr_stop_asked(struct scps_trace *t, uint64_t done, uint64_t total);

/* Returns true if n bytes of the capture, at most TR_LARGEST and a page, are at w->buf + w->pos;
 * reads more if necessary. False: the capture ends before. */
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

/* These functions read a capture in one format. Both return what scps_trace_read() returns: 0, or,
 * with one line in msg, 1 (the capture is damaged in the middle) or a negative error. */
int scps_tr_read_pcapng(struct scps_trace *t, struct window *w, const char *path, char *msg);
int scps_tr_read_libpcap(struct scps_trace *t, struct window *w, const char *path, char *msg);

#endif
