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

/* Make the check v->check of controller c, and set v->ok (the check is met) and v->msg; v->run
 * becomes false if the check does not apply to c. scps_cct_path_check() lets c send over the path
 * model of line.c. scps_cct_form_check() compares the window of c with the published formula f
 * (NULL: there is none, and the check does not apply). */
void scps_cct_path_check(const struct scps_cct_case *c, struct scps_cctest_verdict *v);
void scps_cct_form_check(const struct scps_cct_case *c, const struct scps_cctest_form *f,
                         struct scps_cctest_verdict *v);

#endif
