/* SPDX-License-Identifier: MIT */
/* Writes the results of the checks and measurements of one congestion controller. */
#include "scps_cctest/report.h"

#include <scps/json.h>
#include <scps/scps.h>

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static const char *standing(const struct scps_cctest_verdict *v)
{
    return !v->run ? "not run" : v->ok ? "ok" : v->exempt ? "exempt" : "failed";
}

/* ---- functions that write the report as text ---- */

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
        printf(" %-2s  ", s->info->unit);
        if (s->info->limit > 0)
            printf("(at most %.0f) ", s->info->limit);
        printf("%s; %s is better\n", s->info->help,
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

/* ---- functions that write the report as JSON ---- */

static void json_checks(struct scps_json *j, const struct report *r)
{
    scps_json_uint(j, "failed", r->failed);
    scps_json_string(j, "exempt_because", r->expect.why);
    scps_json_open(j, "checks", '[');
    for (size_t i = 0; i < SCPS_CCTEST_CHECKS; i++) {
        const struct scps_cctest_verdict *v = &r->verdict[i];

        scps_json_open(j, NULL, '{');
        scps_json_string(j, "name", scps_cctest_check_name(v->check));
        scps_json_string(j, "verdict", standing(v));
        scps_json_bool(j, "exempt", v->exempt);
        scps_json_string(j, "text", v->msg);
        scps_json_close(j, '}');
    }
    scps_json_close(j, ']');
}

static void json_scores(struct scps_json *j, const struct scps_cctest_card *c)
{
    scps_json_open(j, "scores", '[');
    for (size_t i = 0; i < c->n; i++) {
        const struct scps_cctest_score *s = &c->v[i];

        scps_json_open(j, NULL, '{');
        scps_json_string(j, "group", s->info->group);
        scps_json_string(j, "name", s->info->name);
        scps_json_string(j, "unit", s->info->unit);
        scps_json_string(j, "better", s->info->better == SCPS_CCTEST_MORE ? "more" : "less");
        if (s->known)
            scps_json_fixed(j, "value", s->value, 6);
        else
            scps_json_null(j, "value");
        if (s->info->limit > 0)
            scps_json_fixed(j, "limit", s->info->limit, 0);
        scps_json_close(j, '}');
    }
    scps_json_close(j, ']');
}

static void json_curve(struct scps_json *j, const struct scps_cctest_card *c)
{
    scps_json_open(j, "latecomer", '[');
    for (size_t i = 0; i < c->ncurve; i++) {
        scps_json_open(j, NULL, '{');
        scps_json_fixed(j, "seconds", c->curve[i].seconds, 3);
        scps_json_fixed(j, "first_mbps", c->curve[i].first, 6);
        scps_json_fixed(j, "second_mbps", c->curve[i].second, 6);
        scps_json_fixed(j, "queue_ms", c->curve[i].queue, 3);
        scps_json_close(j, '}');
    }
    scps_json_close(j, ']');
}

void report_json(const struct report *r)
{
    const struct scps_cc_param *p = r->ops->params;
    struct scps_json j = {.f = stdout, .indent = "  "};

    scps_json_open(&j, NULL, '{');
    scps_json_string(&j, "version", "scps_cctest " SCPS_VERSION);
    scps_json_string(&j, "controller", r->ops->name);
    scps_json_string(&j, "help", r->ops->help);
    scps_json_string(&j, "plugin", r->plugin);
    scps_json_open(&j, "parameters", '{');
    for (size_t i = 0; p && p[i].name; i++)
        scps_json_int(&j, p[i].name, r->param[i]);
    scps_json_close(&j, '}');
    if (r->checked)
        json_checks(&j, r);
    if (r->scored) {
        json_scores(&j, &r->card);
        json_curve(&j, &r->card);
    }
    scps_json_close(&j, '}');
}

/* ---- functions that draw a graph of the scores with gnuplot ---- */

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), k = strlen(end);

    return n > k && strcmp(s + n - k, end) == 0;
}

bool report_can_plot(const char *file)
{
    return (ends_with(file, ".svg") || ends_with(file, ".png")) && !strchr(file, '\'');
}

static void plot_curve(FILE *g, const char *name)
{
    fprintf(g,
            "set grid\nset key right top\nset xrange [0:120]\nset yrange [0:*]\n"
            "set multiplot layout 2,1 title '%s: two flows, 10 Mbit/s, 50 ms, queue 1 BDP' "
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

    /* If gnuplot is missing, pclose() returns an error. SIGPIPE, which would end this program
     * before, is ignored. */
    signal(SIGPIPE, SIG_IGN);
    g = popen("gnuplot 2>/dev/null", "w");
    if (!g) {
        snprintf(msg, msglen, "gnuplot: %s", strerror(errno));
        return false;
    }
    fprintf(g, "$curve << EOD\n");
    for (size_t i = 0; i < c->ncurve; i++)
        fprintf(g, "%.3f %.6f %.6f %.3f\n", c->curve[i].seconds, c->curve[i].first,
                c->curve[i].second, c->curve[i].queue);
    fprintf(g, "EOD\nset terminal %s\nset output '%s%s'\n",
            svg ? "svg size 800,600 dynamic font 'sans,12' background 'white'"
                : "pngcairo size 800,600 font 'sans,10'",
            /* gnuplot takes a name that begins with | for a command, so "./" is put before a
             * relative one. */
            *file == '/' ? "" : "./", file);
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
