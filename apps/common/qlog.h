/* SPDX-License-Identifier: MIT */
/* qlog (draft-ietf-quic-qlog-main-schema, version 0.3) of a connection, from observer events.
 *
 * The file is a sequence of JSON texts (RFC 7464): a head, then one record for each event. If the
 * program is killed, the file stays readable: only the last record can be cut short, and readers of
 * such sequences skip it. Segments get packet numbers in the order in which they are sent,
 * retransmissions new numbers, so tools made for QUIC can draw them. What only TCP has is in events
 * named scps:... docs/schema/qlog.schema.json describes every record.
 *
 * The events may also have been inferred from a capture (scps_trace). A record whose values were
 * inferred from packets, not measured at an end, then has "inferred":true.
 */
#ifndef SCPS_COMMON_QLOG_H
#define SCPS_COMMON_QLOG_H

#include <scps/observe.h>

#include <stdio.h>

struct qlog;
struct qlog_head {
    const char *title;
    bool server; /* true: this end is the server, which accepted the connection */
    /* true: the events were inferred from a capture on the path, not observed in this end's
     * stack */
    bool captured;
    scps_time t0;      /* time on the clock of the events that is time 0 of the file, µs */
    scps_time t0_1970; /* only if captured: the time t0 as µs since 1970 (UTC) */
};
/* Begins a qlog in f: writes its head. The caller calls qlog_end() at the end, and then closes f.
 * Returns NULL if there is no memory. */
struct qlog *qlog_begin(FILE *f, const struct qlog_head *h);
/* Returns the set of kinds of observer events (struct scps_note) that qlog_note() processes: the
 * bit 1 << kind for each. */
uint64_t qlog_mask(void);
void qlog_note(struct qlog *q, const struct scps_note *n);
/* For a capture: sets the number of bytes that were sent and not acknowledged at time `at`, µs,
 * because the inferred events do not contain it. */
void qlog_outstanding(struct qlog *q, scps_time at, uint64_t bytes);
/* For a capture: records an RTT sample. rtt: time, µs, from the capture of a segment to the capture
 * of the acknowledgement that covers the segment; at: capture time of that acknowledgement, µs. */
void qlog_rtt(struct qlog *q, scps_time at, scps_dur rtt);
/* Returns the reason, for a message, why `name` cannot be the beginning of a qlog file's name;
 * NULL: it can. */
const char *qlog_refuses(const char *name);
/* Ends the qlog and frees q. Returns false if a part of it could not be written to the file. */
bool qlog_end(struct qlog *q);

#endif
