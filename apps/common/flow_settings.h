/* SPDX-License-Identifier: MIT */
/* Reads and prints the keys of a [flow] section in a scenario file that are settings of the flow's
 * connections. */
#ifndef SCPS_LAB_FLOW_SETTINGS_H
#define SCPS_LAB_FLOW_SETTINGS_H

#include "common/settings.h"
#include "common/text.h"

/* Returns the configuration of a flow's connections before its keys are applied. */
struct scps_conn_config flow_settings_begin(void);
/* Returns the setting that a flow has under this key; SETTINGS: there is none. */
enum setting_id flow_setting(const char *key);
/* Reads text into the setting's field of *c. Returns false, leaving *c unchanged, if the text is no
 * valid value. */
bool flow_setting_read(enum setting_id id, const char *text, struct scps_conn_config *c);
/* Reads text into the setting's field of *c. If text is no valid value, leaves *c unchanged, writes
 * to `why` which values the setting takes, and returns false. */
bool flow_setting_put(enum setting_id id, const char *text, struct scps_conn_config *c,
                      char why[LAB_MSGLEN]);
/* Prints the keys that are settings of connections, with the values that they take, one key after
 * the other. */
void flow_settings_print(FILE *f);

#endif
