/* SPDX-License-Identifier: MIT */
/* --compare: one transfer, several controllers. */
#ifndef SCPS_TTCP_COMPARE_H
#define SCPS_TTCP_COMPARE_H

#include "scps_ttcp/option_table.h"

struct ttcp_compare {
    const struct ttcp_options *o; /* the command line as it was read */
    int argc;                     /* and as it was given, to be read once more for each */
    char **argv;
    const char *env; /* SCPS_TTCP_OPTIONS; NULL: not set */
};

/* Runs and prints all. Returns the exit status: the first that is not 0. */
int ttcp_compare(const struct ttcp_compare *t);

#endif
