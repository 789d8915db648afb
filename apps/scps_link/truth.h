/* SPDX-License-Identifier: MIT */
/* The ground-truth log: one CSV row with the fate of each packet offered to the channel. */
#ifndef SCPS_LINK_TRUTH_H
#define SCPS_LINK_TRUTH_H

#include <scps/sim.h>

struct truth;

/* Creates the ground-truth log in the file `path`. Returns NULL, with one line in msg, on an error;
 * the file may have been created then. */
struct truth *truth_open(const char *path, char *msg, size_t msglen);
/* Logs the fate of all packets of channel ch, direction dir (0: a to b), from now on. epoch is
 * added to the channel's times, µs. After truth_close() no packet may be offered to the channel. */
void truth_watch(struct truth *t, struct scps_channel *ch, int dir, scps_time epoch);
/* Closes the log. Returns 0, or -1 with one line in msg if a part of it could not be written. */
int truth_close(struct truth *t, char *msg, size_t msglen);

#endif
