/* SPDX-License-Identifier: MIT */
/* The observer: the stack reports each event worth plotting or testing as a note of fixed size. */
#ifndef SCPS_OBSERVE_H
#define SCPS_OBSERVE_H

#include <scps/types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum scps_note_kind {
#define SCPS_NOTE(kind, words, a, b, c, d) SCPS_NOTE_##kind,
#include <scps/events.def>
#undef SCPS_NOTE
    SCPS_NOTE_COUNT
};

struct scps_note { /* one observer note: a row of CSV, or an entry of a test */
    scps_time at;
    uint32_t conn; /* scps_conn_id(); 0: the stack */
    uint32_t kind; /* enum scps_note_kind */
    uint64_t arg[4];
};

struct scps_observer {
    /* Called from inside the stack, so it must not call back into it. NULL: no notes. */
    void (*note)(void *ctx, const struct scps_note *n);
    void *ctx;
    uint64_t mask; /* 1 << kind for each kind wanted */
};

SCPS_API const char *scps_note_name(uint32_t kind); /* "lost"; "?" if unknown */
SCPS_API const char *scps_note_words(uint32_t kind);
/* Name of argument i (0..3) of a kind; NULL where it has none. */
SCPS_API const char *scps_note_arg(uint32_t kind, unsigned i);

#ifdef __cplusplus
}
#endif
#endif
