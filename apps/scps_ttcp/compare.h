/* SPDX-License-Identifier: MIT */
/* Option --compare: makes the same transfer, over the same virtual link with the same random seed,
 * once with each of several congestion controllers, and prints a table of the results. */
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

/* Makes the transfer that the options describe once with each congestion controller that --compare
 * lists. Prints a table with a row for each controller: rate, share of the physical limit,
 * duration, retransmissions, timeouts and RTT; with --json the reports of all transfers. Returns
 * the exit status of the first transfer that failed; 0: all succeeded. */
int ttcp_compare(const struct ttcp_compare *t);

#endif
