/* SPDX-License-Identifier: MIT */
/* Parses the options of scps_trace. An option that tcptrace has, too, has the same letter as there;
 * the others have long names. */
#include "scps_trace/options.h"

#include "common/completion.h"
#include "common/qlog.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

/* ---- functions that parse ranges of connection numbers ---- */

static bool parse_ranges(const char *s, struct ranges *r)
{
    while (*s) {
        char *end;
        unsigned long a = strtoul(s, &end, 10), b = a;
        if (end == s || a == 0 || a > UINT32_MAX)
            return false;
        s = end;
        if (*s == '-') {
            b = strtoul(++s, &end, 10);
            if (end == s || b < a || b > UINT32_MAX)
                return false;
            s = end;
        }
        if (r->n == sizeof r->r / sizeof *r->r)
            return false;
        r->r[r->n].from = (uint32_t)a;
        r->r[r->n++].to = (uint32_t)b;
        if (*s == ',')
            s++;
        else if (*s)
            return false;
    }
    return r->n > 0;
}

static bool in_ranges(const struct ranges *r, uint32_t n)
{
    for (unsigned i = 0; i < r->n; i++)
        if (n >= r->r[i].from && n <= r->r[i].to)
            return true;
    return false;
}

uint32_t trace_lowest(const struct ranges *r)
{
    uint32_t n = r->n ? r->r[0].from : 0;
    for (unsigned i = 1; i < r->n; i++)
        n = r->r[i].from < n ? r->r[i].from : n;
    return n;
}

bool trace_wanted(void *ctx, uint32_t n)
{
    const struct options *o = ctx;
    return !in_ranges(&o->ignore, n) && (!o->only.n || in_ranges(&o->only, n));
}

/* ---- functions that parse the values of options ---- */

static bool parse_size(const char *s, uint64_t *v)
{
    char *end;
    errno = 0;
    unsigned long long n = strtoull(s, &end, 10);
    if (end == s || errno || *s == '-')
        return false;
    unsigned shift = 0;
    switch (*end) {
    case 'k':
    case 'K':
        shift = 10;
        end++;
        break;
    case 'm':
    case 'M':
        shift = 20;
        end++;
        break;
    case 'g':
    case 'G':
        shift = 30;
        end++;
        break;
    default:
        break;
    }
    if (*end || n > UINT64_MAX >> shift)
        return false;
    *v = (uint64_t)n << shift;
    return true;
}

enum {
    OPT_CSV = 256,
    OPT_TSV,
    OPT_JSON,
    OPT_SCHEMA,
    OPT_TRUTH,
    OPT_NO_UDP,
    OPT_NO_TUNNELS,
    OPT_IDLE_SPLIT,
    OPT_GRAPH_DIR,
    OPT_GRAPH_FORMAT,
    OPT_HTML,
    OPT_HTML_MARKS,
    OPT_QLOG,
    OPT_LIVE,
    OPT_FILTER,
    OPT_COUNT,
    OPT_TIME,
    OPT_MAX_MEMORY,
    OPT_MAX_CONNS,
    OPT_PROGRESS,
    OPT_NO_PROGRESS,
    OPT_COMPLETION
};

static const struct option longopts[] = {{"csv", 0, NULL, OPT_CSV},
                                         {"tsv", 0, NULL, OPT_TSV},
                                         {"json", 2, NULL, OPT_JSON},
                                         {"schema", 0, NULL, OPT_SCHEMA},
                                         {"truth", 1, NULL, OPT_TRUTH},
                                         {"no-udp", 0, NULL, OPT_NO_UDP},
                                         {"no-tunnels", 0, NULL, OPT_NO_TUNNELS},
                                         {"idle-split", 1, NULL, OPT_IDLE_SPLIT},
                                         {"graph-dir", 1, NULL, OPT_GRAPH_DIR},
                                         {"graph-format", 1, NULL, OPT_GRAPH_FORMAT},
                                         {"html", 1, NULL, OPT_HTML},
                                         {"html-marks", 1, NULL, OPT_HTML_MARKS},
                                         {"qlog", 1, NULL, OPT_QLOG},
                                         {"live", 1, NULL, OPT_LIVE},
                                         {"filter", 1, NULL, OPT_FILTER},
                                         {"count", 1, NULL, OPT_COUNT},
                                         {"time", 1, NULL, OPT_TIME},
                                         {"max-memory", 1, NULL, OPT_MAX_MEMORY},
                                         {"max-conns", 1, NULL, OPT_MAX_CONNS},
                                         {"progress", 0, NULL, OPT_PROGRESS},
                                         {"no-progress", 0, NULL, OPT_NO_PROGRESS},
                                         {"completion", 1, NULL, OPT_COMPLETION},
                                         {"version", 0, NULL, 'V'},
                                         {"help", 0, NULL, 'h'},
                                         {NULL, 0, NULL, 0}};

#define LETTERS "blWrtpqo:i:nSNTRFAGVh"

static void print_completion(void)
{
    static const char *const files[] = {"--truth", "--html", "--graph-dir", "--qlog"};
    struct completion c = {.program = "scps_trace"};

    completion_add_getopt(&c, longopts, LETTERS);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        completion_set(&c, files[i], COMPLETION_FILE, NULL);
    completion_set(&c, "--graph-format", COMPLETION_WORDS, "xplot gnuplot png svg");
    completion_set(&c, "--completion", COMPLETION_WORDS, "bash");
    completion_print(&c, stdout);
}

static int bad(const char *what, const char *value, const char *allowed)
{
    fprintf(stderr, "scps_trace: %s '%s': %s\n", what, value, allowed);
    return 2;
}

static int parse_formats(const char *s, unsigned *v)
{
    static const struct {
        const char *name;
        unsigned bit;
    } f[] = {{"xplot", SCPS_PLOT_XPLOT},
             {"gnuplot", SCPS_PLOT_GNUPLOT},
             {"png", SCPS_PLOT_PNG},
             {"svg", SCPS_PLOT_SVG}};
    *v = 0;
    while (*s) {
        size_t n = strcspn(s, ","), i;
        for (i = 0; i < 4; i++)
            if (strlen(f[i].name) == n && !strncmp(s, f[i].name, n))
                break;
        if (i == 4)
            return -1;
        *v |= f[i].bit;
        s += n + (s[n] == ',');
    }
    return *v ? 0 : -1;
}

/* Parses whole seconds, or a number with a unit, into *v, seconds. Returns false on an error. */
static bool parse_seconds(const char *s, uint64_t *v)
{
    static const struct {
        const char *name;
        uint64_t times;
    } units[] = {{"", 1}, {"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}};
    char *end;
    uint64_t n;

    if (*s < '0' || *s > '9')
        return false;
    n = strtoull(s, &end, 10);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].name) == 0 && n <= UINT64_MAX / 86400) {
            *v = n * units[i].times;
            return true;
        }
    return false;
}

/* Parses arg, the value of option c, into *v. Prints a message and returns false if it is no number
 * within the bounds of c. */
static bool parse_number(int c, const char *arg, uint64_t *v)
{
    static const struct {
        int c;
        const char *name;
        uint64_t min, max;
        const char *allowed;
    } numbers[] = {
        {OPT_IDLE_SPLIT, "--idle-split", 0, 1000000000,
         "seconds, or a number with s, min, h or d; 0 for never"},
        {OPT_HTML_MARKS, "--html-marks", 1000, 50000000, "a number from 1000 to 50 million"},
        {OPT_COUNT, "--count", 1, UINT64_MAX, "a number of packets"},
        {OPT_TIME, "--time", 1, 1000000000, "seconds, or a number with s, min, h or d"},
        {OPT_MAX_MEMORY, "--max-memory", 1 << 20, UINT64_MAX, "bytes, 1M or more"},
        {OPT_MAX_CONNS, "--max-conns", 1, UINT32_MAX, "a number of connections"}};
    size_t i = 0;
    while (numbers[i].c != c)
        i++;
    if ((c == OPT_TIME || c == OPT_IDLE_SPLIT ? parse_seconds(arg, v) : parse_size(arg, v)) &&
        *v >= numbers[i].min && *v <= numbers[i].max)
        return true;
    bad(numbers[i].name, arg, numbers[i].allowed);
    return false;
}

/* ---- functions that apply options, one function for each kind ---- */

static void set_format(struct options *o, enum format f)
{
    o->format = f;
    o->formats |= 1u << f;
}

/* The functions set_report() to set_number() each handle one kind of options: they apply option c
 * with its value arg (NULL: none) and return true, or return false if c is of another kind. */

static bool set_report(struct options *o, int c, const char *arg)
{
    switch (c) {
    case 'b':
        set_format(o, FORMAT_BRIEF);
        return true;
    case 'l':
        set_format(o, FORMAT_LONG);
        return true;
    case OPT_CSV:
        set_format(o, FORMAT_CSV);
        return true;
    case OPT_TSV:
        set_format(o, FORMAT_TSV);
        return true;
    case OPT_JSON:
        set_format(o, FORMAT_JSON);
        o->json = arg;
        return true;
    case 'W':
        o->what |= SCPS_TRACE_WINDOWS;
        return true;
    case 'r':
        o->what |= SCPS_TRACE_RTT;
        return true;
    case 't':
        o->what &= ~(unsigned)SCPS_TRACE_OURS;
        return true;
    case 'p':
        o->packets = true;
        return true;
    case 'q':
        o->quiet = true;
        return true;
    default:
        return false;
    }
}

static bool set_graph(struct options *o, int c)
{
    static const struct {
        int c;
        unsigned plot;
    } graphs[] = {{'S', SCPS_PLOT_TSG}, {'N', SCPS_PLOT_OWIN}, {'T', SCPS_PLOT_TPUT},
                  {'R', SCPS_PLOT_RTT}, {'F', SCPS_PLOT_SEGS}, {'A', SCPS_PLOT_ACKS},
                  {'G', SCPS_PLOT_ALL}};
    for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++)
        if (graphs[i].c == c) {
            o->plots |= graphs[i].plot;
            return true;
        }
    return false;
}

static bool set_word(struct options *o, int c, const char *arg)
{
    switch (c) {
    case 'n': /* In tcptrace -n means not to resolve host names. scps_trace never does. */
        return true;
    case OPT_TRUTH:
        o->truth = arg;
        return true;
    case OPT_NO_UDP:
        o->cfg.no_udp = true;
        return true;
    case OPT_NO_TUNNELS:
        o->cfg.no_tunnels = true;
        return true;
    case OPT_GRAPH_DIR:
        o->graph_dir = arg;
        return true;
    case OPT_HTML:
        o->html = arg;
        return true;
    case OPT_QLOG:
        o->qlog = arg;
        return true;
    case OPT_LIVE:
        o->live = arg;
        return true;
    case OPT_FILTER:
        o->filter = arg;
        return true;
    case OPT_PROGRESS:
        o->progress_on = true;
        return true;
    case OPT_NO_PROGRESS:
        o->progress_off = true;
        return true;
    default:
        return false;
    }
}

static bool set_number(struct options *o, int c, const char *arg)
{
    uint64_t v;
    if (!parse_number(c, arg, &v))
        return false;
    if (c == OPT_IDLE_SPLIT)
        o->cfg.idle_split = SCPS_SEC((scps_dur)v);
    else if (c == OPT_HTML_MARKS)
        o->html_events = (size_t)v;
    else if (c == OPT_COUNT)
        o->count = v;
    else if (c == OPT_TIME)
        o->time = SCPS_SEC((scps_dur)v);
    else if (c == OPT_MAX_MEMORY)
        o->cfg.max_memory = v;
    else
        o->cfg.max_conns = (uint32_t)v;
    return true;
}

/* Applies option c if it is one whose value may be refused, or one that ends the program, such as
 * --help. Returns -1 to continue; otherwise the exit status, after all messages have been
 * printed. */
static int set_other(struct options *o, int c, const char *arg)
{
    switch (c) {
    case 'o':
    case 'i':
        if (!parse_ranges(arg, c == 'o' ? &o->only : &o->ignore))
            return bad(c == 'o' ? "-o" : "-i", arg,
                       "connection numbers, as in 1,3-5 (at most 256 ranges)");
        return -1;
    case OPT_GRAPH_FORMAT:
        if (parse_formats(arg, &o->plot_formats) != 0)
            return bad("--graph-format", arg, "a list of xplot, gnuplot, png, svg");
        o->formats_given = true;
        return -1;
    case OPT_IDLE_SPLIT:
    case OPT_HTML_MARKS:
    case OPT_COUNT:
    case OPT_TIME:
    case OPT_MAX_MEMORY:
    case OPT_MAX_CONNS:
        return set_number(o, c, arg) ? -1 : 2;
    case OPT_SCHEMA:
        scps_trace_json_schema(stdout);
        return 0;
    case OPT_COMPLETION:
        if (!completion_shell(arg))
            return bad("--completion", arg, "give bash, the only shell it is made for");
        print_completion();
        return 0;
    case 'V':
        puts("scps_trace " SCPS_VERSION);
        return 0;
    case 'h':
        trace_print_help(stdout);
        return 0;
    default:
        return 2;
    }
}

/* Prints a message about an option that does not exist (c is '?') or that lacks its value (c is
 * ':'). Returns the exit status. */
static int wrong_option(int c, const char *word)
{
    if (c == ':')
        fprintf(stderr, "scps_trace: %s needs a value: see scps_trace --help\n", word);
    else if (optopt > 0 && optopt < OPT_CSV)
        fprintf(stderr, "scps_trace: no option -%c: see scps_trace --help\n", optopt);
    else
        fprintf(stderr, "scps_trace: no option %s: see scps_trace --help\n", word);
    return 2;
}

/* Returns true if the report on standard output is one for programs, which lines of text would
 * spoil. */
static bool prints_data(const struct options *o)
{
    if (o->format == FORMAT_JSON)
        return !o->json || strcmp(o->json, "-") == 0;
    return o->format == FORMAT_CSV || o->format == FORMAT_TSV;
}

/* Checks that all options agree with each other. files: true if the command line names capture
 * files. Returns -1 to continue; or the exit status 2, after a message. */
static int check_together(const struct options *o, bool files)
{
    const char *why = NULL;
    if (!o->live && !files)
        why = "no capture named: give a file, '-' for standard input, or --live DEVICE";
    else if (o->live && files)
        why = "--live takes no files";
    else if ((o->filter || o->count || o->time) && !o->live)
        why = "--filter, --count and --time go with --live";
    else if ((o->formats & (o->formats - 1)) != 0)
        why = "-b, -l, --csv, --tsv and --json are one report each: leave out all but one";
    else if (o->packets && prints_data(o))
        why = o->format == FORMAT_JSON
                  ? "-p and --json would mix on standard output: give --json=FILE"
                  : "-p prints lines of text among those of --csv or --tsv: leave out one of them";
    else if ((o->graph_dir || o->formats_given) && o->plots == 0)
        why =
            "--graph-dir and --graph-format have no effect without a graph: add -G, or one of -S, "
            "-N, -T, -R, -F and -A";
    else if (o->html_events != 0 && !o->html)
        why = "--html-marks has no effect without --html: add that";
    if (!why && o->qlog && (why = qlog_refuses(o->qlog)))
        return bad("--qlog", o->qlog, why);
    if (why)
        fprintf(stderr, "scps_trace: %s\n", why);
    return why ? 2 : -1;
}

int trace_options_parse(struct options *o, int argc, char **argv)
{
    int c, status;
    o->format = FORMAT_BRIEF;
    o->what = SCPS_TRACE_OURS;
    o->plot_formats = SCPS_PLOT_XPLOT | SCPS_PLOT_GNUPLOT;
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":" LETTERS, longopts, NULL)) != -1) {
        if (c == ':' || c == '?')
            return wrong_option(c, argv[optind - 1]);
        if (set_report(o, c, optarg) || set_graph(o, c) || set_word(o, c, optarg))
            continue;
        status = set_other(o, c, optarg);
        if (status >= 0)
            return status;
    }
    return check_together(o, optind < argc);
}
