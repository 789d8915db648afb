/* SPDX-License-Identifier: MIT */
/* A table of the figures that the analyser computes for one direction of a connection. The
 * functions that write reports use it. */
#include "trace/fields.h"

#include <math.h>
#include <string.h>

#define KIND(k) (#k)[0]
const struct field scps_tr_field[F_COUNT] = {
#define FIELD_ROW(k, n, l, u, g)                                                                   \
    {.name = #n,                                                                                   \
     .label = l,                                                                                   \
     .unit = u,                                                                                    \
     .at = offsetof(struct scps_trace_dir, n),                                                     \
     .kind = KIND(k),                                                                              \
     .group = KIND(g)},
    SCPS_TRACE_FIELDS(FIELD_ROW)
#undef FIELD_ROW
};

static const void *place(const struct scps_trace_dir *d, enum field_id i)
{
    return (const char *)d + scps_tr_field[i].at;
}

uint64_t scps_tr_count(const struct scps_trace_dir *d, enum field_id i)
{
    uint64_t v;
    memcpy(&v, place(d, i), sizeof v);
    return v;
}

double scps_tr_number(const struct scps_trace_dir *d, enum field_id i)
{
    double v;
    memcpy(&v, place(d, i), sizeof v);
    return v;
}

const char *scps_tr_words(const struct scps_trace_dir *d, enum field_id i)
{
    return place(d, i);
}

bool scps_tr_wanted(enum field_id i, unsigned what)
{
    switch (scps_tr_field[i].group) {
    case 'L':
        return true;
    case 'W':
        return what & SCPS_TRACE_WINDOWS;
    case 'R':
        return what & SCPS_TRACE_RTT;
    case 'Y':
        return (what & SCPS_TRACE_OURS) && (what & SCPS_TRACE_WINDOWS);
    case 'Z':
        return (what & SCPS_TRACE_OURS) && (what & SCPS_TRACE_RTT);
    default:
        return what & SCPS_TRACE_OURS;
    }
}

bool scps_tr_is_nonzero(const struct scps_trace_dir *d, enum field_id i)
{
    switch (scps_tr_field[i].kind) {
    case 'U':
        return scps_tr_count(d, i) != 0;
    case 'N':
        return scps_tr_count(d, i) != SCPS_TRACE_NA;
    case 'D':
        return !isnan(scps_tr_number(d, i)) && scps_tr_number(d, i) != 0;
    default:
        return scps_tr_words(d, i)[0] && strncmp(scps_tr_words(d, i), "too little", 10) != 0;
    }
}
