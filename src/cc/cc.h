/* SPDX-License-Identifier: MIT */
/* Declares the built-in congestion controllers, which cc.c lists. Each is in the file of its
 * name. */
#ifndef SCPS_CC_CC_H
#define SCPS_CC_CC_H

#include <scps/cc.h>

extern const struct scps_cc_ops scps_cc_vj, scps_cc_rate, scps_cc_vegas, scps_cc_vegas_corruption,
    scps_cc_highspeed, scps_cc_scalable, scps_cc_cubic, scps_cc_hybla, scps_cc_bbr;

#endif
