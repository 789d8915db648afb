/* SPDX-License-Identifier: MIT */
/* Reads and prints the keys of a [flow] section in a scenario file that are settings of the flow's
 * connections. */
#ifndef SCPS_LAB_FLOW_SETTINGS_H
#define SCPS_LAB_FLOW_SETTINGS_H

#include "common/settings.h"
#include "common/text.h"

/* Returns the default configuration of a flow's connections, before the keys of [flow] are
 * applied. */
struct scps_conn_config flow_settings_begin(void);
/* Returns the connection setting that the key `key` of a [flow] section sets; SETTINGS: the key is
 * none of a connection's settings. */
enum setting_id flow_setting(const char *key);
/* Parses text as a value of setting id, and sets the field of *c that belongs to it. Returns false,
 * leaving *c unchanged, if text is no valid value. */
bool flow_setting_read(enum setting_id id, const char *text, struct scps_conn_config *c);
/* Parses text as a value of setting id, and sets the field of *c that belongs to the setting.
 * Returns false if text is no valid value; then leaves *c unchanged and writes to `why` which
 * values the setting takes. */
bool flow_setting_put(enum setting_id id, const char *text, struct scps_conn_config *c,
                      char why[LAB_MSGLEN]);
/* Prints the keys that are settings of connections, with the values that they take, one key after
 * the other. */
void flow_settings_print(FILE *f);

#endif
