/* SPDX-License-Identifier: MIT */
/* Ends of records (option 22) in data that is written and not sent yet.
 *
 * Invariant: an end belongs to an octet that has not been sent. Once its segment is sent, the end
 * is a flag of the segment's scoreboard record (SCPS_SENT_RECORD).
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
/* Returns how many of the next len octets, from nxt on, go into one segment of at most mss
 * octets. Precondition: a record ends among the octets not sent yet. If that end limits the
 * segment, sets *full to the segment's length; if the segment ends the record, adds
 * SCPS_SENT_RECORD to *flags. */
uint32_t scps_record_cut(const struct scps_rangeset *ends, scps_off nxt, uint32_t mss, uint32_t len,
                         uint32_t *flags, uint32_t *full);

#endif
