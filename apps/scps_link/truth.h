/* SPDX-License-Identifier: MIT */
/* The ground-truth log: one CSV row for each packet offered to the channel, with what became of it. */
#ifndef SCPS_LINK_TRUTH_H
#define SCPS_LINK_TRUTH_H

#include <scps/sim.h>

struct truth;

/* epoch is added to all times. NULL with one line in msg; the file may exist then. */
struct truth *truth_open(const char *path, scps_time epoch, char *msg, size_t msglen);
void truth_row(struct truth *t, scps_time at, int dir /* 0: a to b */, const struct scps_pkt *pkt,
               const struct scps_verdict *v);
/* 0, or -1 with one line in msg when something could not be written. */
int truth_close(struct truth *t, char *msg, size_t msglen);

#endif
