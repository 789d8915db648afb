/* SPDX-License-Identifier: MIT */
/* scps_cctest: checks and scores a congestion controller, which is built in or in a shared
 * object. */
#include "common/completion.h"
#include "common/plugin.h"
#include "common/stdfds.h"
#include "scps_cctest/report.h"

#include <scps/scps.h>

#include <ctype.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MSGLEN = 1200 };

struct options {
    const char *cc, *plugin, *plot, *replay;
    uint64_t exempt;
    const struct scps_cctest_form *form;
    unsigned seeds, connection;
    bool json, no_checks, no_scores;
};

static int refuse(const char *msg)
{
    fprintf(stderr, "scps_cctest: %s\n", msg);
    return 2;
}

/* ---- functions that report a controller which crashes or loops in the middle of a check ---- */

static char doing[200];

static void crashed(int sig)
{
    static const char how[] = ": a hook crashed\n",
                      loops[] = ": a hook did not return for 10 minutes\n";
    const char *end = sig == SIGALRM ? loops : how;

    if (write(2, doing, strlen(doing)) < 0 || write(2, end, strlen(end)) < 0)
        _exit(1);
    _exit(1);
}

static void guard(const struct scps_cc_ops *ops, const char *what)
{
    static const int sigs[] = {SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

    snprintf(doing, sizeof doing, "scps_cctest: %.40s, %s", ops->name, what);
    for (size_t i = 0; i < sizeof sigs / sizeof *sigs; i++)
        signal(sigs[i], crashed);
    alarm(600);
}

/* ---- functions for the option --list, which prints controllers, checks and measurements ---- */

static int list(void)
{
    const struct scps_cc_ops *ops;

    for (size_t i = 0; (ops = scps_cc_at(i)) != NULL; i++)
        printf("%-18s %s\n", ops->name, ops->help);
    return 0;
}

static int list_checks(void)
{
    const struct scps_cctest_form *f;

    for (int c = 0; c < SCPS_CCTEST_CHECKS; c++)
        printf("%-13s %s\n", scps_cctest_check_name((enum scps_cctest_check)c),
               scps_cctest_check_help((enum scps_cctest_check)c));
    printf("\nclosed forms for growth and response:\n");
    for (size_t i = 0; (f = scps_cctest_form_at(i)) != NULL; i++)
        printf("%-13s %s\n", f->name, f->help);
    return 0;
}

static int list_scores(void)
{
    const struct scps_cctest_score_info *s;

    for (size_t i = 0; (s = scps_cctest_score_at(i)) != NULL; i++)
        printf("%-8s %-15s %-2s  %s\n", s->group, s->name, s->unit, s->help);
    return 0;
}

static int help(void)
{
    printf(
        "usage: scps_cctest --cc NAME[,KEY=VALUE...] [OPTION...]\n"
        "       scps_cctest --plugin FILE.so[,KEY=VALUE...] [OPTION...]\n"
        "Checks and scores a congestion controller. Defaults are in parentheses.\n"
        "\n"
        "      --cc NAME[,K=V...]      controller of the library (--list), with values of its "
        "parameters\n"
        "      --plugin FILE[,K=V...]  controller from a shared object (<scps/cc_plugin.h>)\n"
        "      --exempt NAME,NAME...   checks that the controller need not pass (--list-checks)\n"
        "      --form NAME             published law with which growth and response are compared\n"
        "                              (reno, cubic, highspeed, scalable or hybla)\n"
        "      --seeds N               number of random histories for each invariant (40)\n"
        "      --no-checks             measure the scores only\n"
        "      --no-scores             make the checks only\n"
        "      --json                  print a JSON document "
        "(docs/schema/scps_cctest.schema.json)\n"
        "      --plot FILE             draw the rates of two flows into FILE.svg or FILE.png (by "
        "gnuplot)\n"
        "      --replay FILE           replay a recording to the controller, and print each call\n"
        "      --connection N          number of the connection in the recording (1)\n"
        "      --list                  list the controllers\n"
        "      --list-checks           list the checks, with what each requires\n"
        "      --list-scores           list the measurements of the scorecard, with their units\n"
        "      --completion bash       print the completion of these options\n"
        "  -h, --help                  print this help\n"
        "  -V, --version               print the version\n"
        "\n"
        "Exit status: 0: the controller passes every check from which it is not exempted; 1: it "
        "fails\n"
        "one; 2: the command line or the shared object is refused.\n");
    return 0;
}

/* ---- functions that read the command line ---- */

static const struct option longs[] = {
    {"cc", required_argument, NULL, 'c'},         {"plugin", required_argument, NULL, 'p'},
    {"exempt", required_argument, NULL, 'e'},     {"form", required_argument, NULL, 'f'},
    {"seeds", required_argument, NULL, 's'},      {"no-checks", no_argument, NULL, 'k'},
    {"no-scores", no_argument, NULL, 'o'},        {"json", no_argument, NULL, 'j'},
    {"plot", required_argument, NULL, 'P'},       {"replay", required_argument, NULL, 'r'},
    {"connection", required_argument, NULL, 'n'}, {"list", no_argument, NULL, 'l'},
    {"list-checks", no_argument, NULL, 'L'},      {"list-scores", no_argument, NULL, 'S'},
    {"completion", required_argument, NULL, 'C'}, {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},          {NULL, 0, NULL, 0}};
static const char letters[] = "hV";

static bool read_number(const char *text, unsigned least, unsigned most, unsigned *out)
{
    char *end;
    unsigned long v = strtoul(text, &end, 10);

    if (!isdigit((unsigned char)*text) || *end || v < least || v > most)
        return false;
    *out = (unsigned)v;
    return true;
}

static bool read_exempt(const char *text, uint64_t *out, char msg[MSGLEN])
{
    for (size_t n = 0; *text; text += n + (text[n] == ',')) {
        enum scps_cctest_check c;

        n = strcspn(text, ",");
        c = scps_cctest_check_find(text, n);
        if (c == SCPS_CCTEST_CHECKS) {
            snprintf(msg, MSGLEN, "--exempt %.40s: no such check; --list-checks shows them", text);
            return false;
        }
        *out |= SCPS_CCTEST_BIT(c);
    }
    return true;
}

static bool take_option(struct options *o, int opt, const char *arg, char msg[MSGLEN])
{
    switch (opt) {
    case 'c':
        o->cc = arg;
        return true;
    case 'p':
        o->plugin = arg;
        return true;
    case 'e':
        return read_exempt(arg, &o->exempt, msg);
    case 'f':
        o->form = scps_cctest_form_find(arg);
        snprintf(msg, MSGLEN, "--form %.40s: no such form; --list-checks shows them", arg);
        return o->form != NULL;
    case 's':
        snprintf(msg, MSGLEN, "--seeds %.40s: give a number from 1 to 100000", arg);
        return read_number(arg, 1, 100000, &o->seeds);
    case 'n':
        snprintf(msg, MSGLEN, "--connection %.40s: give a number from 1 on", arg);
        return read_number(arg, 1, 1000000000, &o->connection);
    case 'P':
        o->plot = arg;
        snprintf(msg, MSGLEN,
                 "--plot %.200s: give a name that ends in .svg or .png, without quotes", arg);
        return report_can_plot(arg);
    case 'r':
        o->replay = arg;
        return true;
    case 'k':
        o->no_checks = true;
        return true;
    case 'o':
        o->no_scores = true;
        return true;
    case 'j':
        o->json = true;
        return true;
    default:
        snprintf(msg, MSGLEN,
                 opt == ':' ? "%.100s needs a value: -h lists the options"
                            : "%.100s is no option: -h lists them",
                 arg);
        return false;
    }
}

static bool choose(const struct options *o, struct report *r, char msg[MSGLEN])
{
    char why[MSGLEN - 100] = "";

    if (!o->cc == !o->plugin) {
        snprintf(msg, MSGLEN, "give either --cc or --plugin; --list shows what is built in");
        return false;
    }
    if (o->cc && scps_cc_parse(o->cc, &r->ops, r->param, why, sizeof why) != 0) {
        snprintf(msg, MSGLEN, "--cc %.60s: %s", o->cc, why);
        return false;
    }
    if (o->plugin && !plugin_load(o->plugin, &r->ops, r->param, why, sizeof why)) {
        snprintf(msg, MSGLEN, "--plugin %s", why);
        return false;
    }
    if (o->replay && o->json) {
        snprintf(msg, MSGLEN, "--replay prints a table: leave out --json");
        return false;
    }
    r->plugin = o->plugin;
    if (o->cc)
        r->expect = scps_cctest_expect_of(r->ops->name);
    r->expect.exempt |= o->exempt;
    if (o->form)
        r->expect.form = o->form;
    return true;
}

/* ---- functions of --replay: call the controller as a recorded connection called its own ---- */

static char *read_file(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    char *p = NULL;
    struct stat st;

    if (!f)
        return NULL;
    if (fstat(fileno(f), &st) == 0 && st.st_size >= 0 && (p = malloc((size_t)st.st_size + 1)))
        *len = fread(p, 1, (size_t)st.st_size, f);
    fclose(f);
    return p;
}

static void print_call(void *ctx, const struct scps_cctest_replayed *e)
{
    static const char *const kind[] = {"ack", "loss", "change", "sent", "start"};

    (void)ctx;
    printf("%" PRIu64 ",%.6f,%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
           ",%" PRIu64 "\n",
           e->line, (double)e->e.view.now * 1e-6, kind[e->e.kind], e->e.after.cwnd,
           e->e.after.ssthresh, e->e.after.rate, e->recorded.cwnd, e->recorded.ssthresh,
           e->recorded.rate);
}

static int replay(const struct options *o, const struct report *r)
{
    struct scps_cctest_replay out;
    char msg[MSGLEN] = "", why[MSGLEN - 300] = "";
    size_t len = 0;
    char *text = read_file(o->replay, &len);
    int err;

    if (!text) {
        snprintf(msg, sizeof msg, "--replay %.200s: %s", o->replay, strerror(errno));
        return refuse(msg);
    }
    guard(r->ops, "replaying");
    printf("line,seconds,call,cwnd,ssthresh,rate,recorded_cwnd,recorded_ssthresh,recorded_rate\n");
    err = scps_cctest_run_recording(text, len, o->connection, r->ops, r->param, r->expect.exempt,
                                    &out, print_call, NULL, why, sizeof why);
    free(text);
    if (err) {
        snprintf(msg, sizeof msg, "--replay %.200s: %s", o->replay, why);
        return refuse(msg);
    }
    fprintf(stderr, "%" PRIu64 " calls, %" PRIu64 " with other results than recorded\n", out.events,
            out.different);
    if (out.broken == SCPS_CCTEST_CHECKS)
        return 0;
    fprintf(stderr, "scps_cctest: %s does not meet %s: %s\n", r->ops->name,
            scps_cctest_check_name(out.broken), out.msg);
    return 1;
}

/* ---- functions that run the checks and write the reports ---- */

static int run(const struct options *o, struct report *r)
{
    char msg[MSGLEN];
    int err, status = 0;

    if (!o->no_checks) {
        guard(r->ops, "checking");
        r->failed = scps_cctest_judge(r->ops, r->param, &r->expect, o->seeds, r->verdict);
        r->checked = true;
        status = r->failed != 0;
    }
    if (!o->no_scores || o->plot) {
        guard(r->ops, "scoring");
        err = scps_cctest_scorecard(r->ops, r->param, &r->card);
        if (err) {
            fprintf(stderr, "scps_cctest: %s: %s\n", r->ops->name, scps_strerror(err));
            return 1;
        }
        r->scored = true;
    }
    alarm(0);
    if (o->json)
        report_json(r);
    else
        report_text(r);
    if (o->plot && !report_plot(r, o->plot, msg, sizeof msg)) {
        fprintf(stderr, "scps_cctest: --plot: %s\n", msg);
        status = 1;
    }
    return status;
}

static int lists(int opt, const char *arg)
{
    switch (opt) {
    case 'l':
        return list();
    case 'L':
        return list_checks();
    case 'S':
        return list_scores();
    case 'h':
        return help();
    case 'V':
        printf("scps_cctest " SCPS_VERSION "\n");
        return 0;
    case 'C':
        if (!completion_shell(arg))
            return refuse("--completion: give bash, the only shell it is made for");
        completion_getopt("scps_cctest", longs, letters, "--plugin");
        return 0;
    default:
        return -1;
    }
}

static int act(int argc, char **argv)
{
    static struct report r;
    struct options o = {.connection = 1};
    char msg[MSGLEN] = "";
    int opt;

    opterr = 0;
    while ((opt = getopt_long(argc, argv, ":hV", longs, NULL)) != -1) {
        int status = lists(opt, optarg);

        if (status >= 0)
            return status;
        if (!take_option(&o, opt, opt == ':' || opt == '?' ? argv[optind - 1] : optarg, msg))
            return refuse(msg);
    }
    if (optind < argc) {
        snprintf(msg, sizeof msg, "%.100s is no option: -h lists them", argv[optind]);
        return refuse(msg);
    }
    if (!choose(&o, &r, msg))
        return refuse(msg);
    return o.replay ? replay(&o, &r) : run(&o, &r);
}

int main(int argc, char **argv)
{
    int status;

    stdfds_open("scps_cctest");
    status = act(argc, argv);
    return stdfds_flush("scps_cctest", status);
}
