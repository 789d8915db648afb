/* SPDX-License-Identifier: MIT */
/* Writes qlogs from a capture: for each direction with data of each connection a file such as
 * NAME-1-a2b.qlog, with the events that the sender of that data would have logged, as far as
 * packets show them. */
#ifndef SCPS_TRACE_APP_QLOG_H
#define SCPS_TRACE_APP_QLOG_H

#include "scps_trace/options.h"

struct trace_qlogs;
/* Makes an empty set of qlog files. A file is created only when the first data of a direction of a
 * connection is seen. name: beginning of their names. Returns NULL if there is no memory. */
struct trace_qlogs *trace_qlogs_new(const char *name);
void trace_qlogs_see(struct trace_qlogs *q, const struct scps_trace_seen *s);
/* Ends the qlogs of connection number conn, which the analyser discards for lack of memory. */
void trace_qlogs_forget(struct trace_qlogs *q, uint32_t conn);
/* Ends all qlogs and frees q. Returns false, with the reason in msg, if a part of one could not be
 * written. */
bool trace_qlogs_finish(struct trace_qlogs *q, char msg[SCPS_TRACE_MSGLEN]);

#endif
