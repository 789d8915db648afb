/* SPDX-License-Identifier: MIT */
/* Writes the results of the checks and measurements of one congestion controller, as text, as JSON
 * and as a graph. */
#ifndef SCPS_CCTEST_REPORT_H
#define SCPS_CCTEST_REPORT_H

#include <scps/cctest.h>

struct report {
    const struct scps_cc_ops *ops;
    int64_t param[SCPS_CC_PARAMS];
    const char *plugin; /* value of --plugin as typed; NULL: the controller is built in */
    struct scps_cctest_expect expect;
    bool checked, scored;
    size_t failed;
    struct scps_cctest_verdict verdict[SCPS_CCTEST_CHECKS];
    struct scps_cctest_card card;
};

void report_text(const struct report *r);
void report_json(const struct report *r);
/* Returns true if a graph may have this file name: it ends in .svg or .png and has no quotes. */
bool report_can_plot(const char *file);
/* Draws the graph of the scores with gnuplot into `file`, whose name ends in .svg or .png. Returns
 * false, with the reason in msg, on an error. */
bool report_plot(const struct report *r, const char *file, char *msg, size_t msglen);

#endif
