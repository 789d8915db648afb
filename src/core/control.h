/* SPDX-License-Identifier: MIT */
/* The congestion controller of a connection: control.c. */
#ifndef SCPS_CORE_CONTROL_H
#define SCPS_CORE_CONTROL_H

#include <scps/cc.h>

struct scps_conn;

void scps_cc_view_of(const struct scps_conn *c, struct scps_cc_view *v);
void scps_cc_begin(struct scps_conn *c);
/* Records whether the window limited sending. */
void scps_cc_limited(struct scps_conn *c, bool limited);
void scps_cc_change(struct scps_conn *c, enum scps_cc_change what);
/* Passes a segment with data that is sent to a controller with an on_sent hook. */
void scps_cc_sent(struct scps_conn *c, uint32_t bytes, bool resent);
/* Limits and notes the controller's numbers, and sets the pacer from them. */
void scps_cc_apply(struct scps_conn *c);

#endif
