/* SPDX-License-Identifier: MIT */
/* What was found of one controller, as text, JSON and a picture. */
#ifndef SCPS_CCTEST_REPORT_H
#define SCPS_CCTEST_REPORT_H

#include <scps/cctest.h>

struct report {
    const struct scps_cc_ops *ops;
    int64_t param[SCPS_CC_PARAMS];
    const char *plugin; /* as it was typed; NULL: built in */
    struct scps_cctest_expect expect;
    bool checked, scored;
    size_t failed;
    struct scps_cctest_verdict verdict[SCPS_CCTEST_CHECKS];
    struct scps_cctest_card card;
};

void report_text(const struct report *r);
void report_json(const struct report *r);
/* May the picture have this name: one that ends in .svg or .png, without quotes? */
bool report_can_plot(const char *file);
/* Draws with gnuplot into FILE.svg or FILE.png. False: msg says why not. */
bool report_plot(const struct report *r, const char *file, char *msg, size_t msglen);

#endif
