/* SPDX-License-Identifier: MIT */
/* The observer: the stack reports each event that plots and tests need in a structure of fixed
 * size, struct scps_note. */
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

struct scps_note { /* one event, as the stack passes it to the observer */
    scps_time at;
    /* scps_conn_id() of the connection; 0: the event is one of the stack, not of a connection */
    uint32_t conn;
    uint32_t kind; /* enum scps_note_kind */
    uint64_t arg[4];
};

struct scps_observer {
    /* Called from inside the stack for each event, so it must not call functions of the stack.
     * NULL: no events are reported. */
    void (*note)(void *ctx, const struct scps_note *n);
    void *ctx;
    uint64_t mask; /* kinds of events that are reported: bit 1 << kind for each */
};

/* Returns the name of a kind of events (enum scps_note_kind): "lost" and so on; "?" if unknown. */
SCPS_API const char *scps_note_name(uint32_t kind);
/* Returns the description of a kind of events (enum scps_note_kind), as docs/EVENTS.md has it; "?"
 * if unknown. The text is static. */
SCPS_API const char *scps_note_words(uint32_t kind);
/* Returns the name of scps_note.arg[i] (i from 0 to 3) in events of this kind; NULL: events of this
 * kind have no such argument. */
SCPS_API const char *scps_note_arg(uint32_t kind, unsigned i);

#ifdef __cplusplus
}
#endif
#endif
