/* SPDX-License-Identifier: MIT */
/* The tables of options, and what their rows share: letters.c has the letters of ttcp, words.c the long options, fields.c
 * those that are a field of the connection's configuration; options.c reads a command line with them and prints the help.
 */
#ifndef SCPS_TTCP_OPTION_TABLE_H
#define SCPS_TTCP_OPTION_TABLE_H

#include "scps_ttcp/options.h"

#define TTCP_DEFAULT_LINK "geo"
#define TTCP_UDP_LENGTH   1400u /* -u over an interface: fits an Ethernet with any headers */
#define TTCP_UNSET        ((enum ttcp_action) - 1)
#define TTCP_MAX_LETTERS  128 /* both tables' together */
#define TTCP_MAX_WORDS    96

/* Takes one option with its argument (NULL: it has none) into o. 0, or -1 with one line in msg. */
typedef int ttcp_take_fn(struct ttcp_options *o, const char *arg, char msg[TTCP_MSGLEN]);

#define FAIL(...)  (snprintf(msg, TTCP_MSGLEN, __VA_ARGS__), -1)
#define TAKE(name) static int name(struct ttcp_options *o, const char *arg, char msg[TTCP_MSGLEN])
#define UNUSED     (void)o, (void)arg, (void)msg

struct ttcp_letter {
    char c;
    const char *arg;    /* its name in the help; NULL: none is taken */
    ttcp_take_fn *take; /* NULL: refused, and help is the reason */
    const char *help;
};
extern const struct ttcp_letter ttcp_letters[];
extern const size_t ttcp_nletters;

struct ttcp_word {
    const char *name;
    char c; /* the letter that is its short form; 0: none */
    const char *arg;
    ttcp_take_fn *take;
    const char *help;
};
extern const struct ttcp_word ttcp_words[];
extern const size_t ttcp_nwords;

enum ttcp_kind { TTCP_ON, TTCP_OFF, TTCP_COUNT, TTCP_BYTES, TTCP_SPAN };

struct ttcp_field {
    const char *name;    /* of the option; "no-" in front where it switches off */
    const char *arg;     /* as above */
    enum ttcp_kind kind; /* of what is given, and of the value in a document */
    size_t at, size;     /* in struct scps_conn_config */
    uint64_t min, max;
    const char *allowed; /* for who gives something else */
    const char *help;
};
extern const struct ttcp_field ttcp_fields[];
extern const size_t ttcp_nfields;
/* Takes option i of ttcp_fields, as a ttcp_take_fn does. */
int ttcp_take_field(struct ttcp_options *o, size_t i, const char *arg, char msg[TTCP_MSGLEN]);
bool ttcp_field_given(const struct ttcp_options *o, const char *name);
/* Those that were given, into c. */
void ttcp_fields_apply(const struct ttcp_options *o, struct scps_conn_config *c);
uint64_t ttcp_field_value(const struct ttcp_field *f, const struct scps_conn_config *c);

/* What is typed after --cc or -G, a number or a name, with its parameters. */
int ttcp_choose_cc(struct ttcp_options *o, const char *option, const char *arg,
                   char msg[TTCP_MSGLEN]);
/* Letters that have a long spelling, too. */
ttcp_take_fn ttcp_take_m, ttcp_take_h, ttcp_take_V;

#endif
