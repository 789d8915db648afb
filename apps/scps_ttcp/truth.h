/* SPDX-License-Identifier: MIT */
/* Option --truth: writes a log with the fate of every packet of a virtual link. */
#ifndef SCPS_TTCP_TRUTH_H
#define SCPS_TTCP_TRUTH_H

#include "scps_ttcp/result.h"

struct ttcp_truth {
    /* file of the ground-truth log, with a line for each packet, which says what the virtual link
     * did to it; NULL: --truth was not given */
    FILE *f;
    struct ttcp_truth_side {
        struct ttcp_truth *t;
        int dir;
    } side[2];
    int err; /* errno of the first write that failed; 0: none failed */
};

/* If --truth was given, opens its file and registers a callback for both directions of link l,
 * which writes a line for each packet: whether the link delivered, damaged or dropped it. Returns
 * false, with the reason in r, on failure. */
bool ttcp_truth_open(struct ttcp_truth *t, const struct ttcp_options *o, struct scps_link *l,
                     struct ttcp_result *r);
/* Closes the log and stops observing the link. If the log could not be written completely, r gets
 * an error. */
void ttcp_truth_close(struct ttcp_truth *t, const struct ttcp_options *o, struct ttcp_result *r);

#endif
