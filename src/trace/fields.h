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
    char kind; /* type of the value: 'U', 'N', 'D' or 'S', as in SCPS_TRACE_FIELDS */
    /* group of the figure: 'L', 'W', 'R', 'X', 'Y', 'Z', 'P' or 'Q', as in SCPS_TRACE_FIELDS */
    char group;
};
extern const struct field scps_tr_field[F_COUNT];

uint64_t scps_tr_count(const struct scps_trace_dir *d, enum field_id i);
double scps_tr_number(const struct scps_trace_dir *d, enum field_id i);
const char *scps_tr_words(const struct scps_trace_dir *d, enum field_id i);
/* Returns true if figure i belongs to a report with the parts `what`: flags SCPS_TRACE_WINDOWS and
 * so on. */
bool scps_tr_wanted(enum field_id i, unsigned what);
/* Returns true if figure i of direction d has a value, and the value is not zero. */
bool scps_tr_is_nonzero(const struct scps_trace_dir *d, enum field_id i);

#endif
