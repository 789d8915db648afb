/* SPDX-License-Identifier: MIT */
/* Ends of records (option 22) in data that is written and not sent yet.
 *
 * Invariant: an end belongs to an octet that has not been sent; once its segment is sent, the end
 * is a flag of the scoreboard's record (SCPS_SENT_RECORD).
 */
#ifndef SCPS_CORE_RECORD_H
#define SCPS_CORE_RECORD_H

#include "base/rangeset.h"
#include "core/agreed.h"
#include "core/ctx.h"
#include "core/scoreboard.h"

/* Records that the octet before `end`, written and not sent, ends a record. Returns 0 or
 * SCPS_ERR_NOMEM. */
int scps_record_write(struct scps_rangeset *ends, const struct scps_conn_ctx *x, scps_off end);
/* Returns how many of the next len octets, from nxt on, go into one segment. Precondition: a record
 * ends among the octets not sent yet. If a record's end limits the segment, *full is set to its
 * length, and SCPS_SENT_RECORD is added to *flags if the segment ends a record. mss: payload of a
 * full segment, octets. */
uint32_t scps_record_cut(const struct scps_rangeset *ends, scps_off nxt, uint32_t mss, uint32_t len,
                         uint32_t *flags, uint32_t *full);

#endif
