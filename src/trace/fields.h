/* SPDX-License-Identifier: MIT */
/* A table of the figures that the analyser computes for one direction of a connection. The
 * functions that write reports use it. */
#ifndef SCPS_TRACE_FIELDS_H
#define SCPS_TRACE_FIELDS_H

#include <scps/analyze.h>

enum field_id {
#define FIELD_ID(kind, name, label, unit, group) F_##name,
    SCPS_TRACE_FIELDS(FIELD_ID)
#undef FIELD_ID
        F_COUNT
};

struct field {
    const char *name, *label, *unit;
    size_t at; /* offset of the figure in struct scps_trace_dir, bytes */
    /* type of the value, as in SCPS_TRACE_FIELDS: 'U' a count; 'N' a count that may not apply; 'D'
     * a number that may be NaN; 'S' a text */
    char kind;
    /* report that contains the figure, as in SCPS_TRACE_FIELDS. Figures of tcptrace: 'L' in the
     * long report, 'W' with option -W, 'R' with option -r. Other figures, which option -t leaves
     * out: 'X', 'P' (SCPS options) and 'Q' (causes of retransmissions) in the long report, 'Y' with
     * -W, 'Z' with -r */
    char group;
};
extern const struct field scps_tr_field[F_COUNT];

uint64_t scps_tr_count(const struct scps_trace_dir *d, enum field_id i);
double scps_tr_number(const struct scps_trace_dir *d, enum field_id i);
const char *scps_tr_words(const struct scps_trace_dir *d, enum field_id i);
/* Returns true if figure i belongs to a report with the optional parts `what`, a set of flags such
 * as SCPS_TRACE_WINDOWS (outstanding data) and SCPS_TRACE_RTT (round trips). */
bool scps_tr_wanted(enum field_id i, unsigned what);
/* Returns true if figure i of direction d has a value, and the value is not zero. */
bool scps_tr_is_nonzero(const struct scps_trace_dir *d, enum field_id i);

#endif
