/* SPDX-License-Identifier: MIT */
/* The words of interface options, KEY[=VALUE],..., and the values behind their equals signs. */
#ifndef SCPS_IO_IFWORD_H
#define SCPS_IO_IFWORD_H

#include <scps/io.h>

/* Parses seconds with at most three decimals, at most 10000. Returns false for anything else. */
bool scps_ifword_seconds(const char *s, scps_dur *out);
/* Parses at most nine digits. */
bool scps_ifword_number(const char *s, uint32_t *out);

/* Octets that an option with its final zero may have. */
#define SCPS_IFWORD_ROOM (2 * SCPS_IFOPTS_PATH)

/* Applies one word to o; value: NULL without an equals sign. Returns NULL if the word was valid,
 * else a text that says what would be. */
typedef const char *scps_ifword_take(struct scps_ifopts *o, const char *key, const char *value);
/* Calls take for each of the words ",KEY[=VALUE]...", which fit SCPS_IFWORD_ROOM. Returns 0, or
 * SCPS_ERR_INVAL with the reason in msg, which begins with the name of the option. */
int scps_ifword_list(const char *option, const char *words, struct scps_ifopts *o,
                     scps_ifword_take *take, char *msg);

#endif
