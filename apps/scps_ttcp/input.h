/* SPDX-License-Identifier: MIT */
/* Makes or reads the bytes that the transmitter (-t) sends: a generated pattern of test bytes (-s),
 * or what is read from standard input, a file or a pipe. */
#ifndef SCPS_TTCP_INPUT_H
#define SCPS_TTCP_INPUT_H

#include "scps_ttcp/buffer.h"
#include "scps_ttcp/options.h"
#include "scps_ttcp/verify.h"

#include <signal.h>

struct ttcp_input {
    const struct ttcp_options *opt;
    struct ttcp_buffer buf;
    /* ring to which every byte of the input is copied, to compare what the receiver reads with it;
     * NULL: no comparison */
    struct ttcp_verify *verify;
    /* variable that a signal sets to end the waiting for input; NULL: the functions never wait, but
     * return SCPS_ERR_AGAIN */
    const volatile sig_atomic_t *stop_now;
    int fd;
    bool direct; /* true: the input is a file, which can be read without blocking */
    /* with -B (only full blocks of -l bytes are sent): number of bytes read into the buffer that
     * are not sent yet, because they are no full block and the input has not ended */
    size_t have;
    bool eof, stopped;
    uint64_t total; /* size of the input, bytes; UINT64_MAX: unknown */
    uint64_t pos;   /* number of bytes that ttcp_input_next() has returned so far */
    uint64_t calls; /* number of blocks handed out, which ttcp reports as I/O calls */
    uint64_t touched;
    int sys_errno; /* errno of the read that failed */
};

/* Prepares to read standard input or, with -s, to generate the pattern of test bytes
 * (scps_pattern_fill()). verify, stop_now: copied to the fields of the same names. Returns 0 or
 * SCPS_ERR_NOMEM. */
int ttcp_input_init(struct ttcp_input *in, const struct ttcp_options *opt,
                    struct ttcp_verify *verify, const volatile sig_atomic_t *stop_now);
void ttcp_input_fini(struct ttcp_input *in);
/* Sets *data to the next block of the input, at most -l bytes, valid until the next call; NULL if
 * bytes are only counted (--hollow). Returns its length; 0 at the end; SCPS_ERR_AGAIN if nothing
 * can be read yet (wait until fd is readable) or a signal has set *stop_now; SCPS_ERR_SYSTEM with
 * sys_errno; SCPS_ERR_NOMEM. */
int64_t ttcp_input_next(struct ttcp_input *in, const uint8_t **data);
/* Ends the input, when the time of --time has passed. */
void ttcp_input_stop(struct ttcp_input *in);

#endif
