/* SPDX-License-Identifier: MIT */
/* scps_lab: runs scenarios (files that describe simulated links and flows) once or as a sweep (once
 * or more for each combination of the values that the scenario lists), and makes reports. This file
 * reads the command line and implements the subcommands list and keys; each other subcommand is a
 * file in scps_lab/. */
#include "common/completion.h"
#include "common/hangup.h"
#include "common/setup.h"
#include "common/stdfds.h"
#include "scps_lab/run.h"
#include "scps_lab/sweep.h"

#include <scps/scps.h>
#include <scps_revision.h>

#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: scps_lab run FILE [--set KEY=VALUE]... [--run N] [--json] [--pcap FILE] [--truth "
    "FILE]\n"
    "                         [--events FILE] [--series FILE] [--plot NAME] [--qlog NAME]\n"
    "       scps_lab sweep FILE --out DIR [--set KEY=VALUE]... [--shard K/N] [--jobs N] [--quiet]\n"
    "                         [--check]\n"
    "       scps_lab merge DIR... --out DIR\n"
    "       scps_lab compare DIR DIR [--alpha P]\n"
    "       scps_lab report DIR [--out DIR]\n"
    "       scps_lab list          lists the scenarios that are installed with the program\n"
    "       scps_lab keys          lists every key of a scenario file, with its values\n"
    "       scps_lab -h, --help | -V, --version | --completion bash\n"
    "run makes one transfer of each flow in virtual time and prints its figures; sweep runs every\n"
    "combination of the values that a scenario sweeps; merge joins the results of shards; compare\n"
    "tests where two results differ by more than chance explains; report makes a page of graphs.\n"
    "FILE is a scenario, scps_scenario(5), or the name of an installed one: scps_lab run geo\n"
    "All options are explained in scps_lab(1).\n";

struct options {
    struct lab_run_options run;
    struct lab_sweep_options sweep;
    char **set;
    size_t nset;
    const char *out;
    double alpha;
    bool help; /* true: -h or --help was given, so the help is printed and nothing else is done */
};

static int refuse(const char *fmt, const char *what)
{
    fputs("scps_lab: ", stderr);
    fprintf(stderr, fmt, what);
    fputs("\n", stderr);
    return 2;
}

static int refuse_option(const char *cmd, const char *option)
{
    fprintf(stderr, "scps_lab: %s does not take --%s: see scps_lab --help\n", cmd, option);
    return 2;
}

static const struct option words[] = {{"set", required_argument, NULL, 's'},
                                      {"run", required_argument, NULL, 'r'},
                                      {"json", no_argument, NULL, 'j'},
                                      {"pcap", required_argument, NULL, 'p'},
                                      {"events", required_argument, NULL, 'e'},
                                      {"series", required_argument, NULL, 't'},
                                      {"qlog", required_argument, NULL, 'Q'},
                                      {"plot", required_argument, NULL, 'g'},
                                      {"out", required_argument, NULL, 'o'},
                                      {"shard", required_argument, NULL, 'k'},
                                      {"jobs", required_argument, NULL, 'n'},
                                      {"quiet", no_argument, NULL, 'q'},
                                      {"check", no_argument, NULL, 'c'},
                                      {"alpha", required_argument, NULL, 'a'},
                                      {"truth", required_argument, NULL, 'u'},
                                      {"help", no_argument, NULL, 'h'},
                                      {NULL, 0, NULL, 0}};

/* Returns true if the command cmd ("run", "sweep" and so on) accepts option c, a result of
 * getopt_long(). */
static bool belongs(const char *cmd, int c)
{
    static const struct {
        const char *cmd, *options;
    } takes[] = {{"run", "srjpuetQg"},
                 {"sweep", "soknqc"},
                 {"merge", "o"},
                 {"compare", "a"},
                 {"report", "o"}};

    if (c == ':' || c == '?')
        return true;
    for (size_t i = 0; i < sizeof takes / sizeof *takes; i++)
        if (strcmp(cmd, takes[i].cmd) == 0)
            return strchr(takes[i].options, c) != NULL;
    return strcmp(cmd, "list") != 0 && strcmp(cmd, "keys") != 0;
}

/* Applies option c to *o, if it has no value or its value may be any text. Returns false for other
 * options. */
static bool take_plain(struct options *o, int c)
{
    const struct {
        int c;
        bool *flag;
        const char **text;
    } plain[] = {{'j', &o->run.json, NULL},    {'q', &o->sweep.quiet, NULL},
                 {'c', &o->sweep.check, NULL}, {'p', NULL, &o->run.pcap},
                 {'u', NULL, &o->run.truth},   {'e', NULL, &o->run.events},
                 {'t', NULL, &o->run.series},  {'Q', NULL, &o->run.qlog},
                 {'g', NULL, &o->run.plot},    {'o', NULL, &o->out}};

    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        if (plain[i].c != c)
            continue;
        if (plain[i].flag)
            *plain[i].flag = true;
        else
            *plain[i].text = optarg;
        return true;
    }
    return false;
}

static int take_shard(struct options *o)
{
    char *slash = strchr(optarg, '/');
    uint64_t k, n;

    if (slash)
        *slash = '\0';
    bool good = slash && lab_count(optarg, UINT_MAX, &k) && lab_count(slash + 1, UINT_MAX, &n);
    if (slash)
        *slash = '/';
    if (!good || k < 1 || k > n)
        return refuse("--shard %s: give K/N with K from 1 to N", optarg);
    o->sweep.shard = (unsigned)k;
    o->sweep.shards = (unsigned)n;
    return 0;
}

/* Applies option c, whose value has to be parsed, to *o. Returns 0; or, after a message, the exit
 * status, if the value is wrong. */
static int take_value(struct options *o, int c, char **argv)
{
    uint64_t n;

    switch (c) {
    case 's':
        o->set[o->nset++] = optarg;
        return 0;
    case 'r':
        if (!lab_count(optarg, 1000000, &n) || n == 0)
            return refuse("--run %s: give a number from 1", optarg);
        o->run.run = (unsigned)n;
        return 0;
    case 'k':
        return take_shard(o);
    case 'n':
        if (!lab_count(optarg, 1024, &n) || n == 0)
            return refuse("--jobs %s: give a number from 1 to 1024", optarg);
        o->sweep.jobs = (unsigned)n;
        return 0;
    case 'a':
        if (!lab_real(optarg, &o->alpha) || o->alpha <= 0 || o->alpha >= 1)
            return refuse("--alpha %s: give a number between 0 and 1", optarg);
        return 0;
    case ':':
        return refuse("%s needs a value: see scps_lab --help", argv[optind - 1]);
    default:
        return refuse("unknown option %s: see scps_lab --help", argv[optind - 1]);
    }
}

static int read_options(struct options *o, const char *cmd, int argc, char **argv)
{
    int c, which, status = 0;

    *o = (struct options){.sweep = {.shard = 1, .shards = 1}, .alpha = 0.01};
    o->set = lab_alloc((size_t)argc * sizeof *o->set);
    opterr = 0;
    while (status == 0 && !o->help && (c = getopt_long(argc, argv, ":h", words, &which)) != -1)
        if (c == 'h')
            o->help = true;
        else if (!belongs(cmd, c))
            status = refuse_option(cmd, words[which].name);
        else if (!take_plain(o, c))
            status = take_value(o, c, argv);
    o->sweep.out = o->out;
    return status;
}

/* ---- commands: each gets the words that follow its name on the command line ---- */

static int with_scenario(const struct options *o, char **arg, int n, bool sweep)
{
    struct lab_scenario *sc;
    char msg[LAB_MSGLEN];
    int status;

    if (n != 1)
        return refuse("%s: give one scenario: see scps_lab --help", sweep ? "sweep" : "run");
    if (sweep && !o->out)
        return refuse("%s: no folder for the results: give --out DIR", "sweep");
    sc = lab_scenario_read(arg[0], o->set, o->nset, msg);
    if (!sc)
        return refuse("%s", msg);
    status = sweep ? lab_sweep(sc, &o->sweep) : lab_run(sc, &o->run);
    lab_scenario_free(sc);
    return status;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_scenario(const struct dirent *d)
{
    size_t n = strlen(d->d_name);

    return n > 4 && strcmp(d->d_name + n - 4, ".ini") == 0;
}

static int list(void)
{
    char dir[PATH_MAX], path[PATH_MAX + 300], msg[LAB_MSGLEN];
    struct dirent **d;

    for (size_t i = 0; lab_scenario_dir(i, dir, sizeof dir); i++) {
        int n = scandir(dir, &d, is_scenario, by_name);

        for (int k = 0; k < n; k++) {
            struct lab_scenario *sc;

            snprintf(path, sizeof path, "%s/%s", dir, d[k]->d_name);
            sc = lab_scenario_read(path, NULL, 0, msg);
            if (sc)
                printf("%-28.*s%s\n", (int)strlen(d[k]->d_name) - 4, d[k]->d_name,
                       sc->about ? sc->about : "");
            else
                fprintf(stderr, "scps_lab: %s\n", msg);
            lab_scenario_free(sc);
            free(d[k]);
        }
        if (n >= 0)
            free(d);
    }
    return 0;
}

/* Runs the script report.py, which writes the HTML report of the results in folder dir; the script
 * is installed beside the shipped scenarios. Returns the exit status; does not return if the script
 * can be run. */
static int report(const char *dir, const char *out)
{
    char folder[PATH_MAX], script[PATH_MAX + 16];

    if (lab_scenario_dir(0, folder, sizeof folder)) {
        *strrchr(folder, '/') = '\0';
        snprintf(script, sizeof script, "%s/report.py", folder);
        if (access(script, R_OK) == 0) {
            execlp("python3", "python3", "-B", script, dir, out ? "--out" : NULL, out, NULL);
            return refuse("python3: %s: install it for reports", strerror(errno));
        }
    }
    return refuse("%s is not where it was installed: install scps_lab again", "report.py");
}

/* Prints the script with which bash completes the command line of scps_lab: first the commands,
 * then names of files and of scenarios. The script gets the names of scenarios from 'scps_lab
 * list'. */
static int completion(const char *shell)
{
    static const char *const files[] = {"--pcap",   "--truth", "--events",
                                        "--series", "--qlog",  "--out"};
    struct completion c = {.program = "scps_lab"};

    if (shell == NULL || !completion_shell(shell))
        return refuse("%s: give bash, the only shell it is made for", "--completion");
    c.words = "run sweep merge compare report list keys";
    c.more = "scps_lab list 2>/dev/null";
    completion_add_getopt(&c, words, "hV");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        completion_set(&c, files[i], COMPLETION_FILE, NULL);
    completion_add(&c, "--", "version", COMPLETION_NONE, NULL);
    completion_add(&c, "--", "completion", COMPLETION_WORDS, "bash");
    completion_print(&c, stdout);
    return 0;
}

int main(int argc, char **argv)
{
    struct options o;
    const char *cmd = argc > 1 ? argv[1] : "";
    char **arg;
    int n, status;

    stdfds_open("scps_lab");
    hangup_init();
    if (strcmp(cmd, "-h") == 0 || strcmp(cmd, "--help") == 0) {
        fputs(usage, stdout);
        return stdfds_flush("scps_lab", 0);
    }
    if (strcmp(cmd, "--completion") == 0)
        return stdfds_flush("scps_lab", completion(argc > 2 ? argv[2] : NULL));
    if (strcmp(cmd, "-V") == 0 || strcmp(cmd, "--version") == 0) {
        puts("scps_lab " SCPS_VERSION " " SCPS_REVISION);
        return stdfds_flush("scps_lab", 0);
    }
    status = read_options(&o, cmd, argc - (argc > 1), argv + (argc > 1));
    arg = argv + (argc > 1) + optind;
    n = argc - (argc > 1) - optind;
    if (status == 0 && o.help)
        fputs(usage, stdout);
    else if (status != 0)
        ;
    else if (strcmp(cmd, "run") == 0)
        status = with_scenario(&o, arg, n, false);
    else if (strcmp(cmd, "sweep") == 0)
        status = with_scenario(&o, arg, n, true);
    else if (strcmp(cmd, "merge") == 0)
        status = n < 1 || !o.out ? refuse("%s: give the shards' folders, and --out DIR", cmd)
                                 : lab_merge(arg, (size_t)n, o.out);
    else if (strcmp(cmd, "compare") == 0)
        status = n != 2 ? refuse("%s: give the folders of two results", cmd)
                        : lab_compare(arg[0], arg[1], o.alpha);
    else if (strcmp(cmd, "report") == 0)
        status = n != 1 ? refuse("%s: give the folder of a result", cmd) : report(arg[0], o.out);
    else if (n > 0 && (strcmp(cmd, "list") == 0 || strcmp(cmd, "keys") == 0))
        status = refuse("%s takes no further words: see scps_lab --help", cmd);
    else if (strcmp(cmd, "list") == 0)
        status = list();
    else if (strcmp(cmd, "keys") == 0)
        lab_setup_print_keys(stdout);
    else
        status = refuse(*cmd ? "no command '%s': see scps_lab --help"
                             : "a command is wanted%s: see scps_lab --help",
                        cmd);
    free(o.set);
    return stdfds_flush("scps_lab", status);
}
