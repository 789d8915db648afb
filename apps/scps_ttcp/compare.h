/* SPDX-License-Identifier: MIT */
/* Option --compare: makes one transfer with each of several congestion controllers, and prints a
 * table. */
#ifndef SCPS_TTCP_COMPARE_H
#define SCPS_TTCP_COMPARE_H

#include "scps_ttcp/option_table.h"

struct ttcp_compare {
    const struct ttcp_options *o; /* options as parsed from the command line */
    /* the command line, which is parsed again for each controller */
    int argc;
    char **argv;
    const char *env; /* value of the environment variable SCPS_TTCP_OPTIONS; NULL: not set */
};

/* Runs all transfers and prints the table. Returns the exit status of the first transfer that
 * failed; 0: all succeeded. */
int ttcp_compare(const struct ttcp_compare *t);

#endif
