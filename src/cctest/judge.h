/* SPDX-License-Identifier: MIT */
/* Declares the checks of a controller that judge more than a single event: those on the path model,
 * and those that compare with the window formula of a published law. */
#ifndef SCPS_CCTEST_JUDGE_H
#define SCPS_CCTEST_JUDGE_H

#include "cctest/bench.h"

struct scps_cct_case {
    const struct scps_cc_ops *ops;
    int64_t param[SCPS_CC_PARAMS];
};

/* Runs the check v->check on the path model; sets ok, run and msg. */
void scps_cct_path_check(const struct scps_cct_case *c, struct scps_cctest_verdict *v);
void scps_cct_form_check(const struct scps_cct_case *c, const struct scps_cctest_form *f,
                         struct scps_cctest_verdict *v);

#endif
