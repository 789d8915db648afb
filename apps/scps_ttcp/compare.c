/* SPDX-License-Identifier: MIT */
/* Option --compare: makes the same transfer over the same link once with each congestion controller
 * of a list, and prints a table of the results.
 *
 * Each row is the run that "--cc NAME" alone would make, from the same command line, with the same
 * seed. A controller that sends at a configured rate gets the rate of the link if -R gives none.
 */
#include "scps_ttcp/compare.h"

#include "common/stdfds.h"
#include "scps_ttcp/run.h"
#include "scps_ttcp/units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME_WIDTH 24

/* Copies the name of the first controller in `list` (the value of --compare, or the rest of it) to
 * word, cap bytes, and its parameters with it: an item that contains '=' is a parameter of the
 * controller before it. Returns the list behind that controller; NULL: this controller was the
 * last. */
static const char *next_controller(const char *list, char *word, size_t cap)
{
    size_t len = strcspn(list, ",");

    while (list[len] == ',') {
        size_t more = strcspn(list + len + 1, ",");

        if (memchr(list + len + 1, '=', more) == NULL)
            break;
        len += 1 + more;
    }
    snprintf(word, cap, "%.*s", (int)len, list);
    return list[len] == ',' ? list + len + 1 : NULL;
}

/* Parses the command line again into *one, for the run with controller cc; the caller frees it with
 * ttcp_options_fini(). Returns 0, or -1 with one line in msg. */
static int options_for(const struct ttcp_compare *t, const char *cc, struct ttcp_options *one,
                       char msg[TTCP_MSGLEN])
{
    *one = (struct ttcp_options){0};
    return ttcp_options_parse_run(one, t->argc, t->argv, t->env, cc, t->o->fwd.rate_bps, msg);
}

static const char *share(char buf[16], uint64_t bps, uint64_t limit)
{
    if (limit == 0)
        snprintf(buf, 16, "-");
    else
        snprintf(buf, 16, "%.1f%%", 100.0 * (double)bps / (double)limit);
    return buf;
}

static void print_row(const char *cc, const struct ttcp_result *r)
{
    const struct ttcp_total all = ttcp_result_total(r, true);
    const scps_dur time = all.us;
    char rate[48], part[16], seconds[32], rtt[32];

    if (r->outcome != TTCP_DONE) {
        printf("%-*s  %s: %s\n", NAME_WIDTH, cc, ttcp_outcome_name(r->outcome), r->error);
        return;
    }
    printf("%-*s  %18s  %7s  %12s  %8" PRIu64 "  %8" PRIu64 "  %12s  %s\n", NAME_WIDTH, cc,
           units_print_rate(rate, all.bytes, time, r->opt->unit),
           share(part, units_bps(all.bytes, time), r->limit_bps),
           units_print_seconds(seconds, time, 3), all.resent, all.timeouts,
           units_print_seconds(rtt, r->tx.info.srtt, 6),
           all.bytes == 0 ? "-"
           : r->compared  ? "yes"
                          : "no");
}

static int run_one(const struct ttcp_options *o, const char *cc, off_t begin, struct scps_json *j)
{
    struct ttcp_result r;
    int status;

    if (!o->pattern && lseek(STDIN_FILENO, begin, SEEK_SET) < 0) {
        fprintf(stderr, "scps_ttcp: --compare: standard input cannot be read twice: add -s\n");
        return -1;
    }
    ttcp_result_init(&r, o);
    ttcp_run_virtual(o, &r);
    if (o->json)
        ttcp_report_json(&r, j);
    else
        print_row(cc, &r);
    fflush(stdout);
    if (r.outcome != TTCP_DONE)
        fprintf(stderr, "scps_ttcp: --compare %s: %s\n", cc, r.error);
    status = r.outcome == TTCP_INTERRUPTED ? -1 : ttcp_exit_status(r.outcome);
    ttcp_result_fini(&r);
    return status;
}

/* Parses the command line once for every controller before the first transfer runs, so that a wrong
 * name of a controller is reported at once. Returns 0; or -1, after a message on standard error. */
static int check_all(const struct ttcp_compare *t)
{
    char cc[256], msg[TTCP_MSGLEN];

    for (const char *list = t->o->compare; list != NULL;) {
        struct ttcp_options one;
        int rc;

        list = next_controller(list, cc, sizeof(cc));
        rc = options_for(t, cc, &one, msg);
        ttcp_options_fini(&one);
        if (rc != 0) {
            fprintf(stderr, "scps_ttcp: %s\n", msg);
            return -1;
        }
    }
    return 0;
}

int ttcp_compare(const struct ttcp_compare *t)
{
    char cc[256], msg[TTCP_MSGLEN];
    int worst = 0, status = 0;
    off_t begin = lseek(STDIN_FILENO, 0, SEEK_CUR);
    struct scps_json j = {.f = stdout, .indent = "\t"};

    if (check_all(t) != 0)
        return 2;
    if (!t->o->pattern && begin < 0) {
        fputs("scps_ttcp: --compare: standard input cannot be read once for each controller: give "
              "a file, or -s\n",
              stderr);
        return 2;
    }
    if (t->o->json) {
        scps_json_open(&j, NULL, '{');
        scps_json_open(&j, "compare", '[');
    } else {
        printf("%-*s  %18s  %7s  %12s  %8s  %8s  %12s  %s\n", NAME_WIDTH, "controller", "rate",
               "limit", "seconds", "resent", "timeouts", "rtt seconds", "verified");
    }
    for (const char *list = t->o->compare; list != NULL && status >= 0;) {
        struct ttcp_options one;

        list = next_controller(list, cc, sizeof(cc));
        status = options_for(t, cc, &one, msg) == 0 ? run_one(&one, cc, begin, &j) : 1;
        ttcp_options_fini(&one);
        worst = worst != 0 ? worst : status < 0 ? 1 : status;
    }
    if (t->o->json) {
        scps_json_close(&j, ']');
        scps_json_close(&j, '}');
    }
    return stdfds_flush("scps_ttcp", worst);
}
