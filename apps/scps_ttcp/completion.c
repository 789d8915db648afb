/* SPDX-License-Identifier: MIT */
/* Prints the shell completion of scps_ttcp from the tables of its options. */
#include "common/completion.h"
#include "scps_ttcp/option_table.h"

#include <stdlib.h>
#include <string.h>

#define WORDS 1024

static void append(char words[WORDS], const char *word)
{
    size_t len = strlen(words);

    snprintf(words + len, WORDS - len, "%s%s", len > 0 ? " " : "", word);
}

static enum completion_value value_of(const char *arg)
{
    if (arg == NULL)
        return COMPLETION_NONE;
    return strcmp(arg, "FILE") == 0 ? COMPLETION_FILE : COMPLETION_FREE;
}

static void add_tables(struct completion *c)
{
    static const struct option if_long[] = {SCPS_IFOPTS_LONG(0), {NULL, 0, NULL, 0}};

    for (size_t i = 0; i < ttcp_nletters; i++)
        if (ttcp_letters[i].take != NULL)
            completion_add(c, "-", (char[]){ttcp_letters[i].c, '\0'}, value_of(ttcp_letters[i].arg),
                           NULL);
    for (size_t i = 0; i < ttcp_nwords; i++) {
        const struct ttcp_word *w = &ttcp_words[i];

        completion_add(c, "--", w->name, value_of(w->arg), NULL);
        if (w->c != 0)
            completion_add(c, "-", (char[]){w->c, '\0'}, value_of(w->arg), NULL);
    }
    completion_add_getopt(c, if_long, NULL);
}

/* Adds every option that sets a connection setting. If the option's value is one of a fixed list of
 * words, the shell offers these words as values. */
static void add_settings(struct completion *c)
{
    char option[TTCP_NAME];

    for (int i = 0; i < SETTINGS; i++) {
        const struct setting *s = &settings[i];

        if (ttcp_setting_option((enum setting_id)i, option) == NULL)
            continue;
        completion_add(c, "--", option,
                       s->kind == CHOICE ? COMPLETION_WORDS
                                         : value_of(ttcp_setting_arg((enum setting_id)i)),
                       s->words);
        if (s->alias != NULL)
            completion_add(c, "--", s->alias, COMPLETION_FREE, NULL);
    }
}

void ttcp_print_completion(FILE *f)
{
    struct completion *c = calloc(1, sizeof(*c));
    char ccs[WORDS] = "", links[WORDS] = "", features[WORDS] = "";
    const char *name, *help;

    if (c == NULL)
        return;
    c->program = "scps_ttcp";
    add_tables(c);
    add_settings(c);
    for (size_t i = 0; scps_cc_at(i) != NULL; i++)
        append(ccs, scps_cc_at(i)->name);
    for (size_t i = 0; scps_link_preset(i, &name, &help); i++)
        append(links, name);
    for (int i = 0; i < SCPS_FEATURE_COUNT; i++)
        append(features, scps_feature_name((enum scps_feature)i));
    completion_set(c, "--cc", COMPLETION_WORDS, ccs);
    completion_set(c, "--compare", COMPLETION_WORDS, ccs);
    completion_set(c, "--cc-plugin", COMPLETION_FILE, NULL);
    completion_set(c, "-G", COMPLETION_WORDS, ccs);
    completion_set(c, "--link", COMPLETION_WORDS, links);
    completion_set(c, "--require", COMPLETION_WORDS, features);
    completion_set(c, "--completion", COMPLETION_WORDS, "bash");
    completion_print(c, f);
    free(c);
}
