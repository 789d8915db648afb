/* SPDX-License-Identifier: MIT */
/* Where a receiver's bytes go: nowhere, a file, or a pipe. */
#ifndef SCPS_TTCP_OUTPUT_H
#define SCPS_TTCP_OUTPUT_H

#include "scps_ttcp/buffer.h"
#include "scps_ttcp/options.h"
#include "scps_ttcp/verify.h"

struct ttcp_output {
    const struct ttcp_options *opt;
    struct ttcp_buffer buf;
    struct ttcp_verify *verify; /* shown every byte; may be NULL */
    int fd;                     /* -1: discard */
    const char *name;           /* for messages */
    bool direct;                /* a file: writing waits for nobody */
    bool socket;
    bool opened;       /* fd is ours to close */
    size_t have, used; /* bytes in buf; of them already written */
    uint64_t gap;      /* bytes missing behind them */
    uint64_t calls;    /* blocks taken in: ttcp's I/O calls */
    uint64_t touched;
    int sys_errno; /* of the write, open or close that failed */
};

/* --output, standard output with -r, or nothing (-s, --json, a link). 0; SCPS_ERR_SYSTEM with
 * sys_errno; or SCPS_ERR_NOMEM. */
int ttcp_output_init(struct ttcp_output *out, const struct ttcp_options *opt,
                     struct ttcp_verify *verify);
/* Closes what was opened. 0, or SCPS_ERR_SYSTEM: what had been written may not be there. */
int ttcp_output_fini(struct ttcp_output *out);
/* Room for the next read; NULL when hollow. *len is at least 1 unless bytes wait to be written. */
uint8_t *ttcp_output_room(struct ttcp_output *out, size_t *len);
/* len bytes were put there. */
void ttcp_output_took(struct ttcp_output *out, size_t len);
/* len bytes are missing here: zeros in their place, so that the others stay in theirs. */
void ttcp_output_gap(struct ttcp_output *out, uint64_t len);
/* Writes what is due: a block, or with -B a whole one, or at the end whatever there is. 0;
 * SCPS_ERR_AGAIN when the reader is slow (watch fd for writing); SCPS_ERR_SYSTEM with sys_errno. */
int ttcp_output_flush(struct ttcp_output *out, bool end);

#endif
