/* SPDX-License-Identifier: MIT */
/* Loads congestion controllers from shared objects (<scps/cc_plugin.h>). */
#ifndef SCPS_COMMON_PLUGIN_H
#define SCPS_COMMON_PLUGIN_H

#include <scps/cc.h>

/* Loads a congestion controller, given as "FILE.so[,key=value...]", and tries it in a child
 * process. Sets *ops to the controller and param[] to the values of its parameters. The shared
 * object stays loaded. Returns false, with *ops and param[] unchanged and one line in msg, on an
 * error. */
bool plugin_load(const char *text, const struct scps_cc_ops **ops, int64_t param[SCPS_CC_PARAMS],
                 char *msg, size_t msglen);

#endif
