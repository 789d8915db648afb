/* SPDX-License-Identifier: MIT */
/* The ground-truth log: one CSV row with the fate of each packet offered to the channel. */
#ifndef SCPS_LINK_TRUTH_H
#define SCPS_LINK_TRUTH_H

#include <scps/sim.h>

struct truth;

/* Creates the log at a path. Returns NULL with one line in msg; the file may exist then. */
struct truth *truth_open(const char *path, char *msg, size_t msglen);
/* Logs all packets of that direction (0: a to b) from now on, with epoch added to all times. The
 * channel must be freed before the log is closed. */
void truth_watch(struct truth *t, struct scps_channel *ch, int dir, scps_time epoch);
/* Closes the log. Returns 0, or -1 with one line in msg when something could not be written. */
int truth_close(struct truth *t, char *msg, size_t msglen);

#endif
