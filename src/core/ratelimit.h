/* SPDX-License-Identifier: MIT */
/* A limit of answers in each second: of challenge ACKs (RFC 5961 section 7), and of resets and ICMP
 * messages to hosts without a connection (RFC 1812 section 4.3.2.8).
 *
 * In each second that begins the limit is a secret random number between half of `limit` and
 * `limit`. With a constant one an attacker could measure how many answers his forged packets have
 * caused, and so learn whether he has guessed the numbers of another host's connection. Only
 * ratelimit.c assigns these fields.
 */
#ifndef SCPS_CORE_RATELIMIT_H
#define SCPS_CORE_RATELIMIT_H

#include <scps/types.h>

struct scps_ratelimit {
    uint32_t limit;  /* the most answers in a second; 0: none is sent */
    uint32_t left;   /* answers that may still be sent in this second */
    scps_time since; /* when this second began */
};

/* Starts with `limit` answers for the second that begins at now. */
void scps_ratelimit_begin(struct scps_ratelimit *r, uint32_t limit, scps_time now);
/* Uses up one answer. Returns false if none may be sent in this second any more. key: the host's
 * secret key. */
bool scps_ratelimit_take(struct scps_ratelimit *r, const uint64_t key[2], scps_time now);

#endif
