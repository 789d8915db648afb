/* SPDX-License-Identifier: MIT */
/* qlog (draft-ietf-quic-qlog-main-schema, version 0.3) of a connection, from its observer's notes.
 *
 * The file is a sequence of JSON texts (RFC 7464): a head, then one record a note. What was written
 * stays readable if the program is killed: a record that is cut short is the last one, and readers
 * of such sequences skip it. Segments get packet numbers in the order in which they leave, resends
 * their own, so tools made for QUIC can draw them. What TCP alone has is in events named scps:...
 * docs/schema/qlog.schema.json has every record.
 */
#ifndef SCPS_COMMON_QLOG_H
#define SCPS_COMMON_QLOG_H

#include <scps/observe.h>

#include <stdio.h>

struct qlog;
/* Writes the head to f, which stays the caller's: flush with qlog_end, then close it. server: this
 * end was connected to. NULL: out of memory. */
struct qlog *qlog_begin(FILE *f, const char *title, bool server, scps_time t0);
/* The notes that qlog_note wants, 1 << kind. */
uint64_t qlog_mask(void);
void qlog_note(struct qlog *q, const struct scps_note *n);
/* Frees q. False: not all of it could be written. */
bool qlog_end(struct qlog *q);

#endif
