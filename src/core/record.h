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
/* Returns how many of the next len octets, from SND.NXT (nxt) on, go into one segment whose payload
 * is at most mss octets. Precondition: `ends` has an end of an application record. The cases:
 * - the record ends beyond these len octets: returns len, with *flags and *full unchanged;
 * - the record's last octet and the record boundary option fit into the segment: returns the octets
 *   up to the end of the record, adds SCPS_SENT_RECORD to *flags;
 * - its octets fit, but not the option: returns fewer, mss less the room for the option, so that
 *   the record ends in a later segment.
 * In the last two cases *full becomes the number returned. */
uint32_t scps_record_cut(const struct scps_rangeset *ends, scps_off nxt, uint32_t mss, uint32_t len,
                         uint32_t *flags, uint32_t *full);

#endif
