/* SPDX-License-Identifier: MIT */
/* KEY=VALUE items upon the configuration of a running direction. */
#ifndef SCPS_LINK_CHANGE_H
#define SCPS_LINK_CHANGE_H

#include <scps/sim.h>

/* Reads items (cut by commas or blanks) with the keys and units of a SPEC: rate delay ber loss dup reorder queue
 * overhead, each for this direction alone, flip and flip=off. What is not named stays; *other is the opposite direction,
 * whose delay counts for queues in round trips. 0, or -1 with one line in msg and *own as it was. */
int change_apply(const char *items, struct scps_link_config *own,
                 const struct scps_link_config *other, char *msg, size_t msglen);
/* The configuration in the same words, e.g. "rate=10000000 delay=280000us ...". Returns buf. */
#define CHANGE_TEXTLEN 256
char *change_print(const struct scps_link_config *c, char buf[CHANGE_TEXTLEN]);

#endif
