/* SPDX-License-Identifier: MIT */
/* The tables of options, and the functions that read them: short_options.c has the letters of ttcp,
 * long_options.c the long options, fields.c the options that are settings of the connection;
 * options.c reads a command line with them, help.c prints them. */
#ifndef SCPS_TTCP_OPTION_TABLE_H
#define SCPS_TTCP_OPTION_TABLE_H

#include "scps_ttcp/options.h"

#define TTCP_DEFAULT_LINK "geo"
/* default size of datagrams (-u) over a real interface, bytes; with any headers they fit an
 * Ethernet frame */
#define TTCP_UDP_LENGTH 1400u
#define TTCP_UNSET      ((enum ttcp_action) - 1)
/* size of an array: upper bound of the number of one-letter options, which are those of
 * ttcp_letters and the short forms of the long options in ttcp_words */
#define TTCP_MAX_LETTERS 128
#define TTCP_MAX_WORDS   96
#define TTCP_NAME        (SETTING_NAME + 4)

/* Applies one option with its argument (NULL: it has none) to o. Returns 0, or -1 with one line in
 * msg. */
typedef int ttcp_take_fn(struct ttcp_options *o, const char *arg, char msg[TTCP_MSGLEN]);

#define FAIL(...)  (snprintf(msg, TTCP_MSGLEN, __VA_ARGS__), -1)
#define TAKE(name) static int name(struct ttcp_options *o, const char *arg, char msg[TTCP_MSGLEN])
#define UNUSED     (void)o, (void)arg, (void)msg

struct ttcp_letter {
    char c;
    const char *arg; /* name of the argument in the help; NULL: the option takes none */
    /* function that applies the option; NULL: the letter is refused, and `help` gives the reason */
    ttcp_take_fn *take;
    const char *help;
};
extern const struct ttcp_letter ttcp_letters[];
extern const size_t ttcp_nletters;

struct ttcp_word {
    const char *name;
    char c; /* letter of the option's short form; 0: it has none */
    const char *arg;
    ttcp_take_fn *take;
    const char *help;
};
extern const struct ttcp_word ttcp_words[];
extern const size_t ttcp_nwords;

/* How scps_ttcp writes values and names of settings: with K, M and G, and "--" before names. */
extern const struct setting_style ttcp_style;
/* Returns the default configuration of a connection, before any option is applied. */
struct scps_conn_config ttcp_begins(void);
/* Writes the name of the option that sets setting id to out, with "no-" in front if the option
 * switches the setting off. Returns out; NULL: no option sets it. */
const char *ttcp_setting_option(enum setting_id id, char out[TTCP_NAME]);
/* Returns the word that stands for the value of setting id's option in the help, such as "TIME";
 * NULL: the option takes no value. */
const char *ttcp_setting_arg(enum setting_id id);
/* Writes a description of the values of setting id to out, len bytes: bounds, default and the
 * clause of a standard. */
void ttcp_setting_facts(enum setting_id id, char *out, size_t len);
/* Sets setting id from arg, as its option does; `option`: the option as the user spelled it, for
 * messages. Returns 0, or -1 with one line in msg. */
int ttcp_take_setting(struct ttcp_options *o, enum setting_id id, const char *option,
                      const char *arg, char msg[TTCP_MSGLEN]);
/* Sets setting id to v as if the user had given its option. */
void ttcp_set(struct ttcp_options *o, enum setting_id id, int64_t v);

/* Chooses the congestion controller by the value of --cc or -G: a number or a name, with
 * parameters. option: the one that was given, for messages. Returns 0, or -1 with one line in
 * msg. */
int ttcp_choose_cc(struct ttcp_options *o, const char *option, const char *arg,
                   char msg[TTCP_MSGLEN]);
/* Loads the congestion controller that --cc-plugin gives as FILE.so[,key=value...]. Returns 0, or
 * -1 with one line in msg. */
int ttcp_load_cc(struct ttcp_options *o, const char *arg, char msg[TTCP_MSGLEN]);
/* Functions that apply the one-letter options -m, -h, -V and -P; long_options.c uses them for the
 * long names of these options. */
ttcp_take_fn ttcp_take_m, ttcp_take_h, ttcp_take_V, ttcp_take_P;

/* Checks and completes the options when all have been read (settle.c). Returns 0, or -1 with one
 * line in msg. */
int ttcp_settle(struct ttcp_options *o, char msg[TTCP_MSGLEN]);
/* Refuses an output that is the same file as the input or another output (files.c). Returns 0, or
 * -1 with one line in msg. */
int ttcp_files_check(const struct ttcp_options *o, char msg[TTCP_MSGLEN]);
/* Reads the file `name`, to which @FILE in the description of the link refers. ctx: the options
 * (struct ttcp_options). Sets *len to its length, and returns its contents, which the caller frees;
 * NULL, with the reason in why: the file cannot be read, or an option names it as an output
 * file. */
char *ttcp_files_read(void *ctx, const char *name, size_t *len, char *why, size_t whylen);

#endif
