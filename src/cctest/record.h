/* SPDX-License-Identifier: MIT */
/* Describes the columns of a recording of a controller's calls: each is a field of struct
 * scps_cctest_event. */
#ifndef SCPS_CCTEST_RECORD_H
#define SCPS_CCTEST_RECORD_H

#include "cctest/bench.h"

#define SCPS_CCT_HEAD    "scps_cctest recording 1"
#define SCPS_CCT_LINELEN 1200

struct scps_cct_column {
    const char *name;
    uint16_t at, size; /* offset and size of the field in struct scps_cctest_event */
    bool is_signed;
    /* the kinds of calls that have this column, 1 << enum scps_cctest_kind for each */
    uint8_t kinds;
};
extern const struct scps_cct_column scps_cct_columns[];
extern const size_t scps_cct_ncolumns;

/* scps_cct_column_get() returns the field of event e that column c stands for;
 * scps_cct_column_put() sets it to v. */
int64_t scps_cct_column_get(const struct scps_cct_column *c, const struct scps_cctest_event *e);
void scps_cct_column_put(const struct scps_cct_column *c, struct scps_cctest_event *e, uint64_t v);

#endif
