/* SPDX-License-Identifier: MIT */
/* Congestion controllers from shared objects (<scps/cc_plugin.h>). */
#ifndef SCPS_COMMON_PLUGIN_H
#define SCPS_COMMON_PLUGIN_H

#include <scps/cc.h>

/* Loads "FILE.so[,key=value...]", tries its hooks in a child process, and reads the parameters
 * against its own list. The object stays loaded. False: msg says what is wrong and what to do;
 * *ops and param are left alone. */
bool plugin_load(const char *text, const struct scps_cc_ops **ops, int64_t param[SCPS_CC_PARAMS],
                 char *msg, size_t msglen);

#endif
