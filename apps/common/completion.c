/* SPDX-License-Identifier: MIT */
#include "common/completion.h"

#include <string.h>

bool completion_shell(const char *shell)
{
    return strcmp(shell, "bash") == 0;
}

void completion_add(struct completion *c, const char *dashes, const char *name,
                    enum completion_value value, const char *words)
{
    struct completion_option *o = &c->option[c->n];

    if (c->n == COMPLETION_OPTIONS)
        return;
    *o = (struct completion_option){.value = value, .words = words};
    if ((size_t)snprintf(o->name, sizeof(o->name), "%s%s", dashes, name) >= sizeof(o->name))
        return;
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->option[i].name, o->name) == 0)
            return;
    c->n++;
}

void completion_add_getopt(struct completion *c, const struct option *longs, const char *letters)
{
    for (; longs->name != NULL; longs++)
        completion_add(c, "--", longs->name, longs->has_arg == 1 ? COMPLETION_FREE : 0, NULL);
    for (; letters != NULL && *letters != '\0'; letters++)
        if (*letters != ':')
            completion_add(c, "-", (char[]){*letters, '\0'},
                           letters[1] == ':' ? COMPLETION_FREE : COMPLETION_NONE, NULL);
}

void completion_set(struct completion *c, const char *name, enum completion_value value,
                    const char *words)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->option[i].name, name) == 0) {
            c->option[i].value = value;
            c->option[i].words = words;
        }
}

/* Prints one branch of the case statement in the bash completion script, for all options whose
 * value is of the kind `value`. action: the shell command that offers the values. */
static void print_branch(const struct completion *c, FILE *f, enum completion_value value,
                         const char *action)
{
    const char *between = "    ";

    for (size_t i = 0; i < c->n; i++)
        if (c->option[i].value == value) {
            fprintf(f, "%s%s", between, c->option[i].name);
            between = " | \\\n        ";
        }
    if (between[0] != ' ' || between[1] == '|')
        fprintf(f, ")\n        %s\n        return\n        ;;\n", action);
}

/* Prints the last branch of the case statement in the bash completion script: what the shell offers
 * for a word that neither begins with '-' nor is the value of an option. */
static void print_other_words(const struct completion *c, FILE *f)
{
    fputs("    *)\n", f);
    if (c->words != NULL)
        fprintf(f,
                "        if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                "            _scps_offer -W '%s'\n"
                "            return\n"
                "        fi\n",
                c->words);
    if (c->more != NULL)
        fprintf(f, "        _scps_offer -f -W \"$(%s | cut -d' ' -f1)\"\n", c->more);
    else
        fputs("        _scps_offer -f\n", f);
    fputs("        ;;\n", f);
}

void completion_print(const struct completion *c, FILE *f)
{
    fprintf(f,
            "# Completion of %s in bash, printed by '%s --completion bash'.\n"
            "_%s()\n{\n"
            "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} offered\n"
            "    COMPREPLY=()\n"
            "    _scps_offer() { mapfile -t COMPREPLY < <(compgen \"$@\" -- \"$cur\"); }\n"
            "    case $prev in\n",
            c->program, c->program, c->program);
    print_branch(c, f, COMPLETION_FREE, ":");
    print_branch(c, f, COMPLETION_FILE, "_scps_offer -f");
    for (size_t i = 0; i < c->n; i++)
        if (c->option[i].value == COMPLETION_WORDS)
            fprintf(f, "    %s)\n        _scps_offer -W '%s'\n        return\n        ;;\n",
                    c->option[i].name, c->option[i].words);
    fputs("    esac\n    offered='", f);
    for (size_t i = 0; i < c->n; i++)
        fprintf(f, "%s%s", i > 0 ? "\n        " : "", c->option[i].name);
    fprintf(f, "'\n"
               "    case $cur in\n"
               "    -*) _scps_offer -W \"$offered\" ;;\n");
    print_other_words(c, f);
    fprintf(f, "    esac\n}\ncomplete -o filenames -F _%s %s\n", c->program, c->program);
}

void completion_getopt(const char *program, const struct option *longs, const char *letters,
                       const char *file)
{
    struct completion c = {.program = program};

    completion_add_getopt(&c, longs, letters);
    if (file != NULL)
        completion_set(&c, file, COMPLETION_FILE, NULL);
    completion_set(&c, "--completion", COMPLETION_WORDS, "bash");
    completion_print(&c, stdout);
}
