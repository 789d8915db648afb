/* SPDX-License-Identifier: MIT */
/* Loads congestion controllers from shared objects (<scps/cc_plugin.h>). */
#ifndef SCPS_COMMON_PLUGIN_H
#define SCPS_COMMON_PLUGIN_H

#include <scps/cc.h>

/* Loads "FILE.so[,key=value...]", calls its hooks in a child process, and reads the parameters
 * against the controller's own list. The object stays loaded. Returns false with msg that says what
 * is wrong and what to do; then *ops and param are unchanged. */
bool plugin_load(const char *text, const struct scps_cc_ops **ops, int64_t param[SCPS_CC_PARAMS],
                 char *msg, size_t msglen);

#endif
