/* SPDX-License-Identifier: MIT */
/* Prints the help of scps_ttcp: its options (-h), its congestion controllers (--list-cc), and its
 * presets of virtual links (--list-links). */
#include "scps_ttcp/option_table.h"

#include <string.h>

/* column of the help in which the description of a one-letter option begins */
#define LETTER_LEFT 12
#define LEFT        24  /* column in which the description of a long option begins */
#define LEFT_CC     19  /* column in which --list-cc begins to describe a controller or parameter */
#define RIGHT       100 /* column before which every line of the help ends */

/* Prints the left column of the help: a long option, its second name (NULL: none), its argument
 * (NULL: none), and its short form, letter c (0: none). If this text reaches into the column of the
 * descriptions, the description begins on the next line. */
static void left_side(FILE *f, const char *name, const char *alias, const char *arg, char c)
{
    char left[64], letter[6] = "";

    if (c != 0)
        snprintf(letter, sizeof(letter), ", -%c", c);
    snprintf(left, sizeof(left), "--%s%s%s%s%s%s", name, alias != NULL ? ", --" : "",
             alias != NULL ? alias : "", arg != NULL ? " " : "", arg != NULL ? arg : "", letter);
    fprintf(f, "  %-*s ", LEFT - 3, left);
    if (strlen(left) > LEFT - 3)
        fprintf(f, "\n%*s", LEFT, "");
}

/* Prints the right column of the help for a setting: what it does, its bounds, its default, the
 * meaning of 0 and the clause of a standard that it follows. */
static void setting_lines(FILE *f, enum setting_id id)
{
    const struct setting *s = &settings[id];
    char option[TTCP_NAME], text[TTCP_MSGLEN], facts[TTCP_MSGLEN], all[3 * TTCP_MSGLEN];

    if (ttcp_setting_option(id, option) == NULL)
        return;
    setting_text(strncmp(option, "no-", 3) == 0 ? s->off : s->help, &ttcp_style, text,
                 sizeof(text));
    ttcp_setting_facts(id, facts, sizeof(facts));
    if (s->kind == FLAG)
        snprintf(all, sizeof(all), s->clause != NULL ? "%s (%s)" : "%s", text, s->clause);
    else
        snprintf(all, sizeof(all), "%s (%s)", text, facts);
    left_side(f, option, s->alias, ttcp_setting_arg(id), s->letter);
    setting_wrap(f, all, LEFT, RIGHT);
}

void ttcp_print_help(FILE *f)
{
    fputs("usage: scps_ttcp -t [-s] [options] [--link SPEC]                < file\n"
          "       scps_ttcp -t [-s] [options] INTERFACE HOST              < file\n"
          "       scps_ttcp -r [-s] [options] INTERFACE                   > file\n"
          "Measures TCP with the SCPS extensions, or UDP (-u). Sizes take K M G (1024), rates k m "
          "g (1000).\n\n",
          f);
    for (size_t i = 0; i < ttcp_nletters; i++) {
        const struct ttcp_letter *l = &ttcp_letters[i];

        if (l->take == NULL)
            continue;
        fprintf(f, "  -%c %-6s ", l->c, l->arg != NULL ? l->arg : "");
        setting_wrap(f, l->help, LETTER_LEFT, RIGHT);
    }
    fputs("\n", f);
    for (size_t i = 0; i < ttcp_nwords; i++) {
        const struct ttcp_word *w = &ttcp_words[i];

        left_side(f, w->name, NULL, w->arg, w->c);
        setting_wrap(f, w->help, LEFT, RIGHT);
    }
    fputs("\nSettings of the connection, at this end (over a link at both):\n", f);
    for (int i = 0; i < SETTINGS; i++)
        setting_lines(f, (enum setting_id)i);
    fprintf(f, "\nINTERFACE:\n%s", scps_ifopts_help());
    fputs("\nExit status: 0 done, 1 failed, 2 usage, 3 ended early with partial data, 4 the peer "
          "lacks what\n"
          "--require names, 124 timeout.\n",
          f);
}

void ttcp_print_cc(FILE *f)
{
    const struct scps_cc_ops *ops;
    char text[TTCP_MSGLEN];

    for (size_t i = 0; (ops = scps_cc_at(i)) != NULL; i++) {
        fprintf(f, "%-18s ", ops->name);
        setting_wrap(f, ops->help, LEFT_CC, RIGHT);
        for (const struct scps_cc_param *p = ops->params; p != NULL && p->name != NULL; p++) {
            snprintf(text, sizeof(text), "%s (default %lld; %lld to %lld)", p->help,
                     (long long)p->def, (long long)p->min, (long long)p->max);
            fprintf(f, "    %-14s ", p->name);
            setting_wrap(f, text, LEFT_CC, RIGHT);
        }
    }
}

void ttcp_print_links(FILE *f)
{
    const char *name, *help;

    for (size_t i = 0; scps_link_preset(i, &name, &help); i++)
        fprintf(f, "%-14s %s\n", name, help);
}
