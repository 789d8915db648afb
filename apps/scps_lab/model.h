/* SPDX-License-Identifier: MIT */
/* A model, not an implementation, of a file transfer as MDP (Multicast Dissemination Protocol) and
 * MFTP (Multicast File Transfer Protocol) make it: the sender sends at a fixed rate, and the
 * receiver lists the packets that it misses in negative acknowledgements (NACK). */
#ifndef SCPS_LAB_MODEL_H
#define SCPS_LAB_MODEL_H

#include "scps_lab/job.h"

/* Simulates the only flow of s, whose kind is LAB_NACK, as a file transfer with negative
 * acknowledgements (NACK) at a fixed rate, without a TCP stack, and fills in *r. seed[0], seed[1]:
 * seeds of the two directions of the link; seed[2]: seed of the model. Returns false, with the
 * reason in w->msg, if the model could not be set up. Call lab_result_free() in either case. */
bool lab_model(const struct lab_setup *s, const uint64_t seed[3], struct lab_watch *w,
               struct lab_result *r);

#endif
