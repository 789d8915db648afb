/* SPDX-License-Identifier: MIT */
/* Writes the bytes that a receiver has read: to a file, to a pipe, or nowhere. */
#ifndef SCPS_TTCP_OUTPUT_H
#define SCPS_TTCP_OUTPUT_H

#include "scps_ttcp/buffer.h"
#include "scps_ttcp/options.h"
#include "scps_ttcp/verify.h"

struct ttcp_output {
    const struct ttcp_options *opt;
    struct ttcp_buffer buf;
    /* Ring of the bytes that the sender in this process has written; only over a virtual link,
     * where both ends are in one process. Every byte that the receiver reads is compared with it at
     * once. NULL: no comparison. */
    struct ttcp_verify *verify;
    int fd; /* descriptor to which received bytes are written; -1: the bytes are discarded */
    const char *name; /* name of the output, for messages */
    bool direct;      /* true: the output is a file, to which writing does not block */
    bool socket;
    bool opened; /* true: fd was opened by ttcp_output_init(), so ttcp_output_fini() closes it */
    size_t have, used; /* have: bytes in buf; used: bytes of them already written */
    /* number of bytes of the stream, behind those in buf, that the receiver skipped (best effort,
     * -E: they did not arrive in time); zeros are written in their place */
    uint64_t gap;
    /* number of times that the receiver has read data from the connection (ttcp_output_took()),
     * with -u of datagrams; ttcp reports it as I/O calls */
    uint64_t calls;
    uint64_t touched;
    int sys_errno; /* errno of the write, open or close that failed */
};

/* Prepares the output of received bytes: the file of --output; without it, with -r standard output,
 * but none with -s, with --json or over a virtual link. verify: ring of the bytes sent, with which
 * every received byte will be compared; NULL: no comparison. Returns 0; SCPS_ERR_SYSTEM with
 * sys_errno; or SCPS_ERR_NOMEM. */
int ttcp_output_init(struct ttcp_output *out, const struct ttcp_options *opt,
                     struct ttcp_verify *verify);
/* Closes the output if ttcp_output_init() opened it. Returns 0, or SCPS_ERR_SYSTEM if close()
 * failed, so that data written before may be lost. */
int ttcp_output_fini(struct ttcp_output *out);
/* Returns the part of the buffer into which the next bytes are read, and sets *len to its size: at
 * least 1, unless the buffer is full of bytes that wait to be written. NULL: the connection is
 * hollow (bytes are counted, not stored). */
uint8_t *ttcp_output_room(struct ttcp_output *out, size_t *len);
/* Records that len bytes were read into the place that ttcp_output_room() returned. */
void ttcp_output_took(struct ttcp_output *out, size_t len);
/* Called when the receiver has skipped len bytes of the stream, which did not arrive in time (best
 * effort, -E): zeros will be written in their place, so that later bytes keep their positions. */
void ttcp_output_gap(struct ttcp_output *out, uint64_t len);
/* Writes all bytes in the buffer to the output; with -B only a full block and, if `end` is true,
 * the rest. Returns 0; SCPS_ERR_AGAIN if the reader of the output is slow (wait until fd is
 * writable); SCPS_ERR_SYSTEM with sys_errno. */
int ttcp_output_flush(struct ttcp_output *out, bool end);

#endif
