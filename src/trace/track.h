/* SPDX-License-Identifier: MIT */
/* Marks and tracks of the graphs on the HTML page that out_html.c writes. A mark is one item of a
 * graph, such as a segment, an acknowledgement or a SACK block; a track is all marks of one
 * direction of a connection. */
#ifndef SCPS_TRACE_TRACK_H
#define SCPS_TRACE_TRACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <scps/types.h>

/* The kinds of marks: X(kind, words on the page, colour). The page's script gets this list in its
 * variable DATA. ACK: y0 is the acknowledgement, y1 the right edge of the window. OWIN: y0 is the
 * outstanding data, y1 the receiver's window, bytes. RTT: y0 is in µs. */
#define MARKS(X)                                                                                   \
    X(DATA, "data", "#1a1a1a")                                                                     \
    X(RESENT, "sent again", "#d62728")                                                             \
    X(REPAIR, "repair (lost before the capture point)", "#e377c2")                                 \
    X(OOO, "out of order", "#c2185b")                                                              \
    X(ACK, "acknowledged", "#2e8b57")                                                              \
    X(SACK, "SACK", "#8e44ad")                                                                     \
    X(SNACK, "SNACK", "#1f5fd0")                                                                   \
    X(SYNFIN, "SYN, FIN", "#e67e22")                                                               \
    X(RST, "reset", "#000")                                                                        \
    X(PROBE, "zero-window probe", "#e67e22")                                                       \
    X(OWIN, "outstanding", "#d62728")                                                              \
    X(RTT, "round trip", "#555")
#define KIND(name, words, colour) MARK_##name,
enum mark_kind { MARKS(KIND) MARK_KINDS };
#undef KIND

struct mark {
    scps_time t;
    /* time, µs, from the first to the last of the segments merged into this mark; 0: one segment */
    uint32_t dt;
    uint8_t kind, cause;
    uint16_t merged; /* number of segments merged into this mark, beside the first */
    int64_t y0, y1;
};

/* State of the marks (items of a graph, such as segments) of one kind in a track (all marks of one
 * direction), used while marks are added, or left out to save memory. */
struct run {
    uint32_t skipped; /* number of marks of this kind left out since the last one kept */
    /* index + 1 in track.m of the last mark of this kind that was kept; 0: none */
    uint32_t end;
};

/* The marks (segments, acknowledgements and other items of the graphs) of one direction of a
 * connection. */
struct track {
    struct mark *m;
    size_t n, cap;
    uint64_t rwin;
    scps_time first, latest;
    /* number of marks of each kind that were added, those included that the page leaves out to save
     * memory */
    uint32_t seen[MARK_KINDS];
    struct run run[MARK_KINDS];
    /* the latest acknowledgement, if it was left out of the array m to save memory
     * (run[MARK_ACK].skipped > 0); it is put into the array if a pause follows */
    struct mark ack;
};

/* Adds mark m to track d. Contiguous data is merged into the last data mark; of acknowledgements,
 * outstanding data and round trips one in 2^level is kept. level: how many times all tracks were
 * thinned so far. Returns false on lack of memory: then m is left out. */
bool scps_tr_track_add(struct track *d, const struct mark *m, unsigned level);
/* Thins track d (the marks of one direction of a connection) to about half its marks, in place:
 * never more marks are written than were read. all false: only of acknowledgements, outstanding
 * data and round trips every second mark is left out; all true: of every kind. Contiguous data is
 * merged. level: how many times all tracks were thinned, this time included. */
void scps_tr_track_thin(struct track *d, unsigned level, bool all);

#endif
