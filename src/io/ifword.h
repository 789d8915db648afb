/* SPDX-License-Identifier: MIT */
/* Words of interface options, KEY[=VALUE],..., and the parsers of their values. */
#ifndef SCPS_IO_IFWORD_H
#define SCPS_IO_IFWORD_H

#include <scps/io.h>

/* Parses a time such as 0.5, 0.5s, 500ms, 500000us or 2min, with at most three decimals and at most
 * 10000 s, into µs. Returns false, with *out unchanged, for any other text. */
bool scps_ifword_seconds(const char *s, scps_dur *out);
/* Parses at most six digits; a K behind them multiplies by 1024. */
bool scps_ifword_size(const char *s, uint32_t *out);
/* Parses at most nine digits. */
bool scps_ifword_number(const char *s, uint32_t *out);

/* Octets that an option with its final zero may have. */
#define SCPS_IFWORD_ROOM (2 * SCPS_IFOPTS_PATH)

/* Applies one word to o; value: NULL without an equals sign. Returns NULL if the word was valid,
 * else a text that says which words are valid. */
typedef const char *scps_ifword_take(struct scps_ifopts *o, const char *key, const char *value);
/* Calls take for each of the words ",KEY[=VALUE]...", which have at most SCPS_IFWORD_ROOM octets,
 * and refuses a key that is empty, unknown or repeated. Returns 0, or SCPS_ERR_INVAL with the
 * reason in msg, which begins with the name of the option. */
int scps_ifword_list(const char *option, const char *words, struct scps_ifopts *o,
                     scps_ifword_take *take, char *msg);

#endif
