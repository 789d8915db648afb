/* SPDX-License-Identifier: MIT */
/* Limits the number of replies in each second: of challenge ACKs (RFC 5961 section 7), and of
 * resets and ICMP messages to hosts without a connection (RFC 1812 section 4.3.2.8).
 *
 * For each second the limit is a secret random number between half of `limit` and `limit`. With a
 * constant limit an attacker could measure how many replies his forged packets have caused, and so
 * find out whether he has guessed the numbers of another host's connection. Only ratelimit.c
 * assigns the fields of struct scps_ratelimit.
 */
#ifndef SCPS_CORE_RATELIMIT_H
#define SCPS_CORE_RATELIMIT_H

#include <scps/types.h>

struct scps_ratelimit {
    uint32_t limit; /* largest number of replies in a second; 0: no reply is sent */
    uint32_t left;  /* replies that may still be sent in this second */
    /* number that enters the random limits of each second, so that those of one kind of reply
     * differ from those of other kinds on the same host */
    uint32_t salt;
    scps_time since; /* time at which this second began, µs */
};

/* Initialises r: at most `limit` replies in each second; the first second begins at `now`, µs. */
void scps_ratelimit_begin(struct scps_ratelimit *r, uint32_t limit, uint32_t salt, scps_time now);
/* Counts one reply. Returns false if no more may be sent in this second. key: the host's secret
 * key, from which (with r->salt) the random limit of a new second is computed, so that no attacker
 * can predict the limit. */
bool scps_ratelimit_take(struct scps_ratelimit *r, const uint64_t key[2], scps_time now);

#endif
