/* SPDX-License-Identifier: MIT */
/* qlog (draft-ietf-quic-qlog-main-schema, version 0.3) of a connection, from its observer's notes.
 *
 * The file is a sequence of JSON texts (RFC 7464): a head, then one record a note. What was written
 * stays readable if the program is killed: a record that is cut short is the last one, and readers
 * of such sequences skip it. Segments get packet numbers in the order in which they leave, resends
 * their own, so tools made for QUIC can draw them. What TCP alone has is in events named scps:...
 * docs/schema/qlog.schema.json has every record.
 *
 * The notes may also have been made from a capture (scps_trace). Each event whose figures were
 * concluded from packets, not known by an end, then says so: "inferred":true.
 */
#ifndef SCPS_COMMON_QLOG_H
#define SCPS_COMMON_QLOG_H

#include <scps/observe.h>

#include <stdio.h>

struct qlog;
struct qlog_head {
    const char *title;
    bool server;       /* This end is the server, which accepted the connection. */
    bool captured;     /* The notes come from a capture on the path, not from this end's stack. */
    scps_time t0;      /* time 0 of the file */
    scps_time t0_1970; /* captured: the same in µs since 1970 */
};
/* Writes the head to f, which stays the caller's: flush with qlog_end, then close it. NULL: out of
 * memory. */
struct qlog *qlog_begin(FILE *f, const struct qlog_head *h);
/* The notes that qlog_note wants, 1 << kind. */
uint64_t qlog_mask(void);
void qlog_note(struct qlog *q, const struct scps_note *n);
/* For a capture: sets the number of outstanding bytes, which no note carries. */
void qlog_outstanding(struct qlog *q, scps_time at, uint64_t bytes);
/* For a capture: records an RTT sample and the time since its segment was seen. */
void qlog_rtt(struct qlog *q, scps_time at, scps_dur rtt);
/* Returns the reason why `name` cannot begin a file's name, for a message; NULL: it can. */
const char *qlog_refuses(const char *name);
/* Frees q. False: not all of it could be written. */
bool qlog_end(struct qlog *q);

#endif
