/* SPDX-License-Identifier: MIT */
/* What was found of one controller. */
#include "scps_cctest/report.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static const char *standing(const struct scps_cctest_verdict *v)
{
    return !v->run ? "not run" : v->ok ? "ok" : v->exempt ? "exempt" : "failed";
}

/* ---- text ---- */

static void text_params(const struct report *r)
{
    const struct scps_cc_param *p = r->ops->params;

    for (size_t i = 0; p && p[i].name; i++)
        printf("%s%s=%" PRId64, i ? "," : "parameters  ", p[i].name, r->param[i]);
    if (p && p[0].name)
        putchar('\n');
}

static void text_checks(const struct report *r)
{
    printf("\nchecks\n");
    for (size_t i = 0; i < SCPS_CCTEST_CHECKS; i++) {
        const struct scps_cctest_verdict *v = &r->verdict[i];

        if (v->run)
            printf("  %-7s %-12s  %s\n", standing(v), scps_cctest_check_name(v->check), v->msg);
    }
    if (r->expect.why)
        printf("  exempt because %s\n", r->expect.why);
    printf("  %zu failed\n", r->failed);
}

static void text_card(const struct scps_cctest_card *c)
{
    printf("\nscores (10 Mbit/s, 50 ms and a queue of 1 BDP unless it says otherwise)\n");
    for (size_t i = 0; i < c->n; i++) {
        const struct scps_cctest_score *s = &c->v[i];

        printf("  %-7s %-15s ", s->info->group, s->info->name);
        if (s->known)
            printf("%9.2f", s->value);
        else
            printf("%9s", "-");
        printf(" %-2s  %s; %s is better\n", s->info->unit, s->info->help,
               s->info->better == SCPS_CCTEST_MORE ? "more" : "less");
    }
}

void report_text(const struct report *r)
{
    printf("%s: %s\n", r->ops->name, r->ops->help);
    text_params(r);
    if (r->checked)
        text_checks(r);
    if (r->scored)
        text_card(&r->card);
}

/* ---- JSON ---- */

static void json_string(const char *s)
{
    putchar('"');
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;

        if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c < ' ' || c > '~') /* a plug-in's text is in no known encoding */
            printf("\\u%04x", c);
        else
            putchar(c);
    }
    putchar('"');
}

static void json_checks(const struct report *r)
{
    const char *comma = "";

    printf("  \"failed\": %zu,\n  \"exempt_because\": ", r->failed);
    if (r->expect.why)
        json_string(r->expect.why);
    else
        printf("null");
    printf(",\n  \"checks\": [");
    for (size_t i = 0; i < SCPS_CCTEST_CHECKS; i++, comma = ",") {
        const struct scps_cctest_verdict *v = &r->verdict[i];

        printf("%s\n    {\"name\": \"%s\", \"verdict\": \"%s\", \"exempt\": %s, \"text\": ", comma,
               scps_cctest_check_name(v->check), standing(v), v->exempt ? "true" : "false");
        json_string(v->msg);
        putchar('}');
    }
    printf("\n  ],\n");
}

static void json_card(const struct scps_cctest_card *c)
{
    const char *comma = "";

    printf("  \"scores\": [");
    for (size_t i = 0; i < c->n; i++, comma = ",") {
        const struct scps_cctest_score *s = &c->v[i];

        printf(
            "%s\n    {\"group\": \"%s\", \"name\": \"%s\", \"unit\": \"%s\", \"better\": \"%s\", "
            "\"value\": ",
            comma, s->info->group, s->info->name, s->info->unit,
            s->info->better == SCPS_CCTEST_MORE ? "more" : "less");
        if (s->known)
            printf("%.6f}", s->value);
        else
            printf("null}");
    }
    printf("\n  ],\n  \"latecomer\": [");
    for (size_t i = 0; i < c->ncurve; i++)
        printf("%s\n    {\"seconds\": %.3f, \"first_mbps\": %.6f, \"second_mbps\": %.6f, "
               "\"queue_ms\": %.3f}",
               i ? "," : "", c->curve[i].seconds, c->curve[i].first, c->curve[i].second,
               c->curve[i].queue);
    printf("\n  ],\n");
}

void report_json(const struct report *r)
{
    const struct scps_cc_param *p = r->ops->params;

    printf("{\n  \"controller\": ");
    json_string(r->ops->name);
    printf(",\n  \"help\": ");
    json_string(r->ops->help);
    printf(",\n  \"plugin\": ");
    if (r->plugin)
        json_string(r->plugin);
    else
        printf("null");
    printf(",\n");
    if (r->checked)
        json_checks(r);
    if (r->scored)
        json_card(&r->card);
    printf("  \"parameters\": {");
    for (size_t i = 0; p && p[i].name; i++)
        printf("%s\"%s\": %" PRId64, i ? ", " : "", p[i].name, r->param[i]);
    printf("}\n}\n");
}

/* ---- the picture ---- */

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), k = strlen(end);

    return n > k && strcmp(s + n - k, end) == 0;
}

static void plot_curve(FILE *g, const char *name)
{
    fprintf(g,
            "set grid\nset key right top\nset xrange [0:120]\nset yrange [0:*]\n"
            "set multiplot layout 2,1 title \"%s: two flows, 10 Mbit/s, 50 ms, queue 1 BDP\" "
            "noenhanced\nset ylabel 'Mbit/s'\n"
            "plot $curve using 1:2 with lines lw 2 title 'first', "
            "'' using 1:3 with lines lw 2 title 'second, from 30 s on'\n"
            "set xlabel 'time, s'\nset ylabel 'queue, ms'\n"
            "plot $curve using 1:4 with lines lw 1 notitle\nunset multiplot\n",
            name);
}

bool report_plot(const struct report *r, const char *file, char *msg, size_t msglen)
{
    const struct scps_cctest_card *c = &r->card;
    bool svg = ends_with(file, ".svg");
    FILE *g;

    if ((!svg && !ends_with(file, ".png")) || strchr(file, '\'')) {
        snprintf(msg, msglen, "%.200s: give a name that ends in .svg or .png, without quotes",
                 file);
        return false;
    }
    signal(SIGPIPE, SIG_IGN); /* where there is no gnuplot, pclose says so */
    g = popen("gnuplot 2>/dev/null", "w");
    if (!g) {
        snprintf(msg, msglen, "gnuplot: %s", strerror(errno));
        return false;
    }
    fprintf(g, "$curve << EOD\n");
    for (size_t i = 0; i < c->ncurve; i++)
        fprintf(g, "%.3f %.6f %.6f %.3f\n", c->curve[i].seconds, c->curve[i].first,
                c->curve[i].second, c->curve[i].queue);
    fprintf(g, "EOD\nset terminal %s\nset output '%s'\n",
            svg ? "svg size 800,600 dynamic font 'sans,12' background 'white'"
                : "pngcairo size 800,600 font 'sans,10'",
            file);
    plot_curve(g, r->ops->name);
    if (pclose(g) != 0) {
        snprintf(msg, msglen,
                 "gnuplot could not draw %.200s: is gnuplot installed, and may the "
                 "file be written?",
                 file);
        return false;
    }
    return true;
}
