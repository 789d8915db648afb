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
    struct ttcp_verify *verify; /* ring with which every received byte is compared; may be NULL */
    int fd; /* descriptor to which received bytes are written; -1: the bytes are discarded */
    const char *name; /* name of the output, for messages */
    bool direct;      /* true: the output is a file, to which writing does not block */
    bool socket;
    bool opened; /* true: fd was opened by ttcp_output_init(), so ttcp_output_fini() closes it */
    size_t have, used; /* have: bytes in buf; used: bytes of them already written */
    uint64_t gap;      /* number of missing bytes behind those in buf */
    uint64_t calls;    /* number of blocks received, which ttcp reports as I/O calls */
    uint64_t touched;
    int sys_errno; /* errno of the write, open or close that failed */
};

/* Opens --output, standard output with -r, or nothing (-s, --json, a link). Returns 0;
 * SCPS_ERR_SYSTEM with sys_errno; or SCPS_ERR_NOMEM. */
int ttcp_output_init(struct ttcp_output *out, const struct ttcp_options *opt,
                     struct ttcp_verify *verify);
/* Closes what was opened. Returns 0, or SCPS_ERR_SYSTEM: data written before may be lost. */
int ttcp_output_fini(struct ttcp_output *out);
/* Returns the room for the next read and its size in *len: at least 1, unless bytes in the buffer
 * wait to be written. NULL: the connection is hollow (bytes are counted, not stored). */
uint8_t *ttcp_output_room(struct ttcp_output *out, size_t *len);
/* Records that len bytes were written to the room that ttcp_output_room() returned. */
void ttcp_output_took(struct ttcp_output *out, size_t len);
/* Writes zeros in place of len missing bytes, so that later bytes keep their positions. */
void ttcp_output_gap(struct ttcp_output *out, uint64_t len);
/* Writes what is due: all bytes in the buffer; with -B only full blocks, and at the end the rest.
 * Returns 0; SCPS_ERR_AGAIN when the reader is slow (watch fd for writing); SCPS_ERR_SYSTEM with
 * sys_errno. */
int ttcp_output_flush(struct ttcp_output *out, bool end);

#endif
