/* SPDX-License-Identifier: MIT */
/* Completion of a program's options in bash, made from the table with which the program reads its
 * command line. PROGRAM --completion bash prints it. */
#ifndef SCPS_COMMON_COMPLETION_H
#define SCPS_COMMON_COMPLETION_H

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>

/* largest number of options of one program; an option with a long and a short name counts twice */
#define COMPLETION_OPTIONS 512

enum completion_value {
    COMPLETION_NONE,  /* the option takes no value, so nothing is completed behind it */
    COMPLETION_FREE,  /* the option takes a number or a free name, so no value is offered */
    COMPLETION_FILE,  /* names of files are offered as the option's value */
    COMPLETION_WORDS, /* the words of `words` are offered as the option's value */
};

struct completion {
    const char *program;
    /* words that are offered as the program's first argument (such as the names of its commands),
     * separated by blanks; NULL: files are offered there, as for all other arguments */
    const char *words;
    /* shell command, whose output gives more values to offer for the arguments that are no options:
     * the first word of each line that it prints, besides the names of files. If `words` is not
     * NULL, this does not apply to the first argument. NULL: only files are offered. */
    const char *more;
    size_t n;
    struct completion_option {
        char name[48]; /* name of the option with its dashes */
        enum completion_value value;
        /* for COMPLETION_WORDS: the values, separated by blanks, which must stay valid until they
         * are printed */
        const char *words;
    } option[COMPLETION_OPTIONS];
};

/* Adds an option to c; does nothing if it was added before or there are COMPLETION_OPTIONS already.
 * dashes: "-" or "--", which is put before name; words: the values for COMPLETION_WORDS, separated
 * by blanks; NULL for any other kind. */
void completion_add(struct completion *c, const char *dashes, const char *name,
                    enum completion_value value, const char *words);
/* Adds all options of a program: longs and letters are the arguments of getopt_long(); letters may
 * be NULL. Options that take a value are COMPLETION_FREE until completion_set() is called for
 * them. */
void completion_add_getopt(struct completion *c, const struct option *longs, const char *letters);
/* Sets the kind of value of the option `name` (with its dashes), which was added before; does
 * nothing if it was not. words: the values for COMPLETION_WORDS, separated by blanks; NULL for any
 * other kind. */
void completion_set(struct completion *c, const char *name, enum completion_value value,
                    const char *words);
/* Prints the bash completion script of a program on standard output. longs, letters: the arguments
 * of getopt_long(), which contain all options; file: the one option whose value is a file, or
 * NULL. */
void completion_getopt(const char *program, const struct option *longs, const char *letters,
                       const char *file);
void completion_print(const struct completion *c, FILE *f);
/* Returns true if completion can be printed for this shell, given by name: only for "bash". */
bool completion_shell(const char *shell);

#endif
