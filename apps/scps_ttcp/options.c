/* SPDX-License-Identifier: MIT */
/* Reads a command line with the tables of short_options.c, long_options.c and fields.c. */
#include "scps_ttcp/option_table.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

/* value that getopt_long() returns for the first row of ttcp_words, the table of long options
 * (--NAME) that are no settings of the connection; row i has this value plus i */
#define WORD_BASE 0x100
/* value that getopt_long() returns for the option of settings[0]; that of settings[i] has this
 * value plus i */
#define FIELD_BASE 0x200
/* value that getopt_long() returns for the second name (alias) of the option of settings[0]; that
 * of settings[i] has this value plus i */
#define ALIAS_BASE 0x300
#define IF_OPTION  0xfff /* value that getopt_long() returns for an interface option */

static const struct option if_long[] = {SCPS_IFOPTS_LONG(IF_OPTION)};

#define N_IF (sizeof(if_long) / sizeof(if_long[0]))

static const struct ttcp_letter *letter_of(int c)
{
    for (size_t i = 0; i < ttcp_nletters; i++)
        if (ttcp_letters[i].c == c)
            return &ttcp_letters[i];
    return NULL;
}

/* Returns a command line with the words of env (value of SCPS_TTCP_OPTIONS; NULL: none) between
 * argv[0] and the rest of argv, and sets *argc to its length. Its memory belongs to o. NULL: there
 * is no memory. */
static char **with_environment(struct ttcp_options *o, int *argc, char **argv, const char *env)
{
    size_t n = env != NULL ? strlen(env) : 0, nwords = 0;

    if (n == 0)
        return argv;
    o->env_text = malloc(n + 1);
    o->env_words = malloc((n / 2 + 2 + (size_t)*argc + 1) * sizeof(*o->env_words));
    if (o->env_text == NULL || o->env_words == NULL)
        return argv;
    memcpy(o->env_text, env, n + 1);
    o->env_words[0] = argv[0];
    for (char *w = strtok(o->env_text, " \t\n"); w != NULL; w = strtok(NULL, " \t\n"))
        o->env_words[++nwords] = w;
    /* argv[1] and the pointers behind it are copied, with the NULL at the end: argc pointers. */
    memcpy(o->env_words + 1 + nwords, argv + 1, (size_t)*argc * sizeof(*argv));
    *argc += (int)nwords;
    return o->env_words;
}

void ttcp_options_fini(struct ttcp_options *o)
{
    free(o->env_text);
    free(o->env_words);
    scps_link_tables_free(o->tables);
    o->tables = NULL;
    o->env_text = NULL;
    o->env_words = NULL;
}

static void set_defaults(struct ttcp_options *o, char msg[TTCP_MSGLEN])
{
    memset(o, 0, sizeof(*o));
    o->action = TTCP_UNSET;
    o->length = 8192;
    o->port = 5001;
    o->align = 16384;
    o->unit = 'a';
    o->streams = 1;
    o->conn = ttcp_begins();
    o->seed = 1;
    ttcp_choose_cc(o, "-G", "1", msg);
}

struct getopt_tables {
    char shorts[2 * TTCP_MAX_LETTERS + 2];
    char names[SETTINGS][TTCP_NAME]; /* names of the options of settings, to which `longs` points */
    struct option longs[TTCP_MAX_WORDS + 2 * SETTINGS + N_IF + 1];
};

/* Fills in the tables of options in the form that getopt_long() reads. */
static void for_getopt(struct getopt_tables *t)
{
    char *s = t->shorts;
    size_t n = 0;

    /* If the list begins with a colon, getopt_long() distinguishes a missing argument from an
     * unknown option. */
    *s++ = ':';
    for (size_t i = 0; i < ttcp_nletters; i++) {
        *s++ = ttcp_letters[i].c;
        if (ttcp_letters[i].arg != NULL)
            *s++ = ':';
    }
    for (size_t i = 0; i < ttcp_nwords; i++) {
        t->longs[n++] = (struct option){ttcp_words[i].name, ttcp_words[i].arg != NULL, NULL,
                                        WORD_BASE + (int)i};
        if (ttcp_words[i].c != 0) {
            *s++ = ttcp_words[i].c;
            if (ttcp_words[i].arg != NULL)
                *s++ = ':';
        }
    }
    *s = '\0';
    for (int i = 0; i < SETTINGS; i++) {
        const int arg = ttcp_setting_arg((enum setting_id)i) != NULL;

        if (ttcp_setting_option((enum setting_id)i, t->names[i]) == NULL)
            continue;
        t->longs[n++] = (struct option){t->names[i], arg, NULL, FIELD_BASE + i};
        if (settings[i].alias != NULL)
            t->longs[n++] = (struct option){settings[i].alias, arg, NULL, ALIAS_BASE + i};
    }
    /* Of the interface options, --mtu is left out: it is in the program's own table, because it
     * applies to virtual links, too. */
    for (size_t i = 0; i < N_IF; i++)
        if (strcmp(if_long[i].name, "mtu") != 0)
            t->longs[n++] = if_long[i];
    memset(&t->longs[n], 0, sizeof(t->longs[n]));
}

/* Writes to msg what getopt_long() could not parse. c: result of getopt_long(): ':' if an option
 * lacks its value, '?' if an option is unknown; word: the argument that has the option. Returns
 * -1. */
static int not_an_option(int c, const char *word, char msg[TTCP_MSGLEN])
{
    if (c == ':' && optopt >= WORD_BASE)
        return FAIL("%s needs a value; -h tells which", word);
    if (c == ':')
        return FAIL("-%c needs a value; -h tells which", optopt);
    if (optopt == 0 || optopt >= WORD_BASE)
        return FAIL("%s is no option, or one that takes no value; -h lists them", word);
    return FAIL(optopt > ' ' && optopt < 0x7f ? "-%c is no option; -h lists them"
                                              : "-\\x%02x is no option; -h lists them",
                optopt);
}

/* Applies option c, a result of getopt_long(), with its argument optarg to *o. name: of a long
 * option, for messages. Returns 0, or -1 with one line in msg. */
static int take_option(struct ttcp_options *o, int c, const char *name, char msg[TTCP_MSGLEN])
{
    const struct ttcp_letter *l = letter_of(c);
    ttcp_take_fn *take = NULL;

    if (c >= FIELD_BASE) {
        return ttcp_take_setting(o, (enum setting_id)((c - FIELD_BASE) % (ALIAS_BASE - FIELD_BASE)),
                                 name, optarg, msg);
    } else if (c >= WORD_BASE) {
        take = ttcp_words[c - WORD_BASE].take;
    } else if (l != NULL) {
        if (l->take == NULL)
            return FAIL("-%c: %s", l->c, l->help);
        take = l->take;
    } else {
        for (size_t i = 0; i < ttcp_nwords; i++)
            if (ttcp_words[i].c == c)
                take = ttcp_words[i].take;
    }
    return take(o, optarg, msg);
}

/* Returns true if an option requested help or a list, such as -h or --list-cc, so that the other
 * options do not matter. */
static bool is_question(const struct ttcp_options *o)
{
    return o->action != TTCP_TRANSMIT && o->action != TTCP_RECEIVE && o->action != TTCP_UNSET;
}

/* Applies the options in env (value of the environment variable SCPS_TTCP_OPTIONS; NULL: not set),
 * then those of the command line, one by one to *o; ttcp_settle() checks afterwards that they agree
 * with each other. Returns 0, or -1 with one line in msg. */
static int read_words(struct ttcp_options *o, int argc, char **argv, const char *env,
                      char msg[TTCP_MSGLEN])
{
    struct getopt_tables t;
    int c, index;

    set_defaults(o, msg);
    for_getopt(&t);
    argv = with_environment(o, &argc, argv, env);
    /* getopt_long() is restarted, because another command line may have been parsed before. */
    optind = 0;
    opterr = 0;
    while (index = -1, (c = getopt_long(argc, argv, t.shorts, t.longs, &index)) != -1) {
        if (c == ':' || c == '?')
            return not_an_option(c, argv[optind - 1], msg);
        if (c == IF_OPTION) {
            char why[SCPS_IO_MSGLEN];

            if (scps_ifopts_parse(&o->ifs, t.longs[index].name, optarg, why) < 0)
                return FAIL("%s", why);
            continue;
        }
        if (take_option(o, c, index >= 0 ? t.longs[index].name : NULL, msg) != 0)
            return -1;
        if (is_question(o))
            return 0;
    }
    if (optind < argc)
        o->host = argv[optind++];
    if (optind < argc)
        return FAIL("%s: one HOST only, as the last word", argv[optind]);
    return 0;
}

int ttcp_options_parse(struct ttcp_options *o, int argc, char **argv, const char *env,
                       char msg[TTCP_MSGLEN])
{
    if (read_words(o, argc, argv, env, msg) != 0)
        return -1;
    return is_question(o) ? 0 : ttcp_settle(o, msg);
}

int ttcp_options_parse_run(struct ttcp_options *o, int argc, char **argv, const char *env,
                           const char *cc, uint64_t rate_bps, char msg[TTCP_MSGLEN])
{
    if (read_words(o, argc, argv, env, msg) != 0 || ttcp_choose_cc(o, "--compare", cc, msg) != 0)
        return -1;
    o->compare = NULL;
    if (o->cc->needs_rate && o->rate_bps == 0)
        o->rate_bps = rate_bps;
    return ttcp_settle(o, msg);
}
