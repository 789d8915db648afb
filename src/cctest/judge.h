/* SPDX-License-Identifier: MIT */
/* Declares the checks of a congestion controller that need more than one event: the checks on a
 * simulated path, and those that compare the controller's window with the published formula of its
 * algorithm. */
#ifndef SCPS_CCTEST_JUDGE_H
#define SCPS_CCTEST_JUDGE_H

#include "cctest/bench.h"

struct scps_cct_case {
    const struct scps_cc_ops *ops;
    int64_t param[SCPS_CC_PARAMS];
};

/* Run the check v->check of controller c on the path model of line.c, and set v->ok, v->run and
 * v->msg. scps_cct_form_check() compares with the published formula f. */
void scps_cct_path_check(const struct scps_cct_case *c, struct scps_cctest_verdict *v);
void scps_cct_form_check(const struct scps_cct_case *c, const struct scps_cctest_form *f,
                         struct scps_cctest_verdict *v);

#endif
