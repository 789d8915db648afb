/* SPDX-License-Identifier: MIT */
/* Parsers for the lists KEY[=VALUE],... in interface options, and for their values. */
#ifndef SCPS_IO_IFWORD_H
#define SCPS_IO_IFWORD_H

#include <scps/io.h>

/* Parses a time such as 0.5, 0.5s, 500ms, 500000us or 2min, with at most three decimals and at most
 * 10000 s, into µs; a number without a unit is in seconds. Returns false, with *out unchanged, for
 * any other text. */
bool scps_ifword_seconds(const char *s, scps_dur *out);
/* Parses a size in octets into *out: at most six digits; a K or k behind them multiplies by 1024.
 * Returns false for any other text. */
bool scps_ifword_size(const char *s, uint32_t *out);
/* Parses a decimal number of at most nine digits into *out. Returns false for any other text. */
bool scps_ifword_number(const char *s, uint32_t *out);

/* Largest number of octets of the value of an interface option that is a list KEY[=VALUE],..., its
 * final zero included. */
#define SCPS_IFWORD_ROOM (2 * SCPS_IFOPTS_PATH)

/* Function that applies one item KEY[=VALUE] of an option's list to the options o; value NULL: the
 * item has no equals sign. It returns NULL if the item was valid, else a text that says which items
 * are valid. */
typedef const char *scps_ifword_take(struct scps_ifopts *o, const char *key, const char *value);
/* Calls take for each item of a list ",KEY[=VALUE]...", which has at most SCPS_IFWORD_ROOM octets,
 * and refuses a key that is empty, unknown or repeated. Returns 0, or SCPS_ERR_INVAL with the
 * reason in msg, which begins with the name of the option. */
int scps_ifword_list(const char *option, const char *words, struct scps_ifopts *o,
                     scps_ifword_take *take, char *msg);

#endif
