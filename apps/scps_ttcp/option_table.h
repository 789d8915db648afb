/* SPDX-License-Identifier: MIT */
/* The tables of options, and what their rows share: letters.c has the letters of ttcp, words.c the
 * long options, fields.c those that are a setting of the connection; options.c reads a command line
 * with them, help.c prints what they do. */
#ifndef SCPS_TTCP_OPTION_TABLE_H
#define SCPS_TTCP_OPTION_TABLE_H

#include "scps_ttcp/options.h"

#define TTCP_DEFAULT_LINK "geo"
#define TTCP_UDP_LENGTH   1400u /* -u over an interface: fits an Ethernet with any headers */
#define TTCP_UNSET        ((enum ttcp_action) - 1)
#define TTCP_MAX_LETTERS  128 /* both tables' together */
#define TTCP_MAX_WORDS    96
#define TTCP_NAME         (SETTING_NAME + 4)

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

/* How values and names are written here. */
extern const struct setting_style ttcp_style;
/* What a connection begins with. */
struct scps_conn_config ttcp_begins(void);
/* The option of a setting, "no-" in front where it switches off; NULL: it has none. */
const char *ttcp_setting_option(enum setting_id id, char out[TTCP_NAME]);
/* The name of its value in the help; NULL: it takes none. */
const char *ttcp_setting_arg(enum setting_id id);
/* Bounds, default and clause in words. */
void ttcp_setting_facts(enum setting_id id, char *out, size_t len);
/* Takes that option, spelled as in option, as a ttcp_take_fn does. */
int ttcp_take_setting(struct ttcp_options *o, enum setting_id id, const char *option,
                      const char *arg, char msg[TTCP_MSGLEN]);
/* Sets it as if its option had been given. */
void ttcp_set(struct ttcp_options *o, enum setting_id id, int64_t v);

/* What is typed after --cc or -G, a number or a name, with its parameters. */
int ttcp_choose_cc(struct ttcp_options *o, const char *option, const char *arg,
                   char msg[TTCP_MSGLEN]);
/* What is typed after --cc-plugin: FILE.so[,key=value...]. */
int ttcp_load_cc(struct ttcp_options *o, const char *arg, char msg[TTCP_MSGLEN]);
/* Letters that have a long spelling, too. */
ttcp_take_fn ttcp_take_m, ttcp_take_h, ttcp_take_V, ttcp_take_P;

#endif
