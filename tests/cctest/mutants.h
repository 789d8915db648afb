/* SPDX-License-Identifier: MIT */
/* Faulty controllers: a description of each mistake, and the check that must find it. */
#ifndef SCPS_TEST_CC_MUTANTS_H
#define SCPS_TEST_CC_MUTANTS_H

#include <scps/cctest.h>

struct cc_mutant {
    const struct scps_cc_ops *ops;
    enum scps_cctest_check found_by;
    const char *form, *story;
};
/* Copies the i-th faulty controller to *out. Returns false past the last. */
bool cc_mutant_at(size_t i, struct cc_mutant *out);
/* The controllers without mistakes from which the faulty ones are made; they are not part of the
 * library. */
extern const struct scps_cc_ops cc_right_reno, cc_right_vegas;

#endif
