/* SPDX-License-Identifier: MIT */
/* qlog from a capture: a file NAME-1-a2b.qlog and so on for each direction of a connection that
 * carries data, as its sender would have written it, as far as the packets show it. */
#ifndef SCPS_TRACE_APP_QLOG_H
#define SCPS_TRACE_APP_QLOG_H

#include "scps_trace/options.h"

struct trace_qlogs;
/* Opens the set of files, which are created when a direction has data. Returns NULL when out of
 * memory. */
struct trace_qlogs *trace_qlogs_new(const char *name);
void trace_qlogs_see(struct trace_qlogs *q, const struct scps_trace_seen *s);
/* Ends the files of a connection, because the analyser removes the connection. */
void trace_qlogs_forget(struct trace_qlogs *q, uint32_t conn);
/* Ends all files and frees q. Returns false, with the reason in msg, when part of them could not be
 * written. */
bool trace_qlogs_finish(struct trace_qlogs *q, char msg[SCPS_TRACE_MSGLEN]);

#endif
