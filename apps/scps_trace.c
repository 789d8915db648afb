/* SPDX-License-Identifier: MIT */
/* scps_trace: captures in, what the connections did out.
 *
 * A front end: options, the selection of connections, a progress bar. Analysis and reports are libscps_trace's.
 * Reports of connections the analyser must forget for lack of room are written at that moment; all others at the
 * end, in order of number.
 *
 * Exit status: 0 done; 1 a capture stopped making sense half-way, or output failed; 2 usage, or no capture.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <scps/analyze.h>
#include <scps/scps.h>

enum format { FORMAT_BRIEF, FORMAT_LONG, FORMAT_CSV, FORMAT_TSV, FORMAT_JSON };

struct ranges {
    struct {
        uint32_t from, to;
    } r[256];
    unsigned n;
};

struct options {
    enum format format;
    unsigned what, plots, plot_formats;
    bool quiet, packets, progress_off, progress_on;
    struct ranges only, ignore;
    const char *json, *html, *graph_dir, *truth, *live, *filter;
    size_t html_events;
    uint64_t count;
    scps_dur time;
    struct scps_trace_config cfg;
};

struct run {
    struct options o;
    struct scps_trace *t;
    struct scps_trace_plots *plots;
    struct scps_trace_html *html;
    FILE *out;        /* reports */
    const char *file; /* being read */
    uint64_t written; /* connections reported */
    bool begun;
    scps_time t0;
    bool t0_set;
    /* progress */
    double began, shown;
    bool bar;
};

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
    (void)sig;
    interrupted = 1;
}

static double seconds(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void usage(FILE *f)
{
    fputs(
        "Usage: scps_trace [options] FILE...        ('-' is standard input; gzip'd files are "
        "unpacked)\n"
        "       scps_trace [options] --live DEVICE\n"
        "What every TCP connection of a capture did, SCPS-TP ones too, and why it sent again.\n"
        "\n"
        "Reports\n"
        "  -b             one line a connection (the default)\n"
        "  -l             long: tcptrace's figures in tcptrace's order, then ours\n"
        "  -W             with -l: windows, outstanding data, what held the sender back\n"
        "  -r             with -l: round trips, duplicate acknowledgements, retransmission delays\n"
        "  -t             only tcptrace's own figures\n"
        "  -p             a line a packet, options spelled out (SNACK, capabilities, records)\n"
        "  -q             no report on connections (only graphs, or only --json FILE)\n"
        "      --csv, --tsv     separated values, a line a connection; with -r and -W more "
        "columns\n"
        "      --json[=FILE]    everything, as JSON (docs/schema/scps_trace.schema.json)\n"
        "      --schema         print that schema\n"
        "Which\n"
        "  -o LIST        only these connections, e.g. -o1,3-5\n"
        "  -i LIST        not these\n"
        "  -n             numbers, not names (always so)\n"
        "      --truth FILE     the channel's ground truth: were the resends needed?\n"
        "      --no-udp         do not look for IP inside UDP\n"
        "      --idle-split S   silence after which the same ports are a new connection (tcptrace: "
        "240; 0: never)\n"
        "Graphs (xplot files, gnuplot scripts with data; PNG and SVG through gnuplot)\n"
        "  -S time-sequence   -N outstanding data   -T throughput   -R round trips   -F segment "
        "sizes\n"
        "  -A ACK spacing     -G all of them\n"
        "      --graph-dir DIR  where to (here)\n"
        "      --graph-format LIST   of xplot,gnuplot,png,svg (xplot,gnuplot)\n"
        "      --html FILE      one interactive page\n"
        "      --html-marks N   at most N marks in it (400000)\n"
        "Live\n"
        "      --live DEVICE    capture; --filter EXPR  --count PACKETS  --time SECONDS\n"
        "Limits\n"
        "      --max-memory N   bytes for connections, K M G allowed (2G); --max-conns N\n"
        "      --progress, --no-progress   (on a terminal, for long files)\n"
        "  -V, --version  -h, --help\n",
        f);
}

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

/* The lowest number of any range; 0 if there is none. */
static uint32_t lowest(const struct ranges *r)
{
    uint32_t n = r->n ? r->r[0].from : 0;
    for (unsigned i = 1; i < r->n; i++)
        n = r->r[i].from < n ? r->r[i].from : n;
    return n;
}

static bool wanted(void *ctx, uint32_t n)
{
    const struct options *o = ctx;
    return !in_ranges(&o->ignore, n) && (!o->only.n || in_ranges(&o->only, n));
}

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

/* ---- reports -------------------------------------------------------------------------------------------- */

static void report(struct run *r, const struct scps_trace_conn *c, int width)
{
    if (!wanted(&r->o, c->number))
        return;
    switch (r->o.format) {
    case FORMAT_JSON:
        scps_trace_json_conn(r->out, c, r->written);
        break;
    case FORMAT_CSV:
    case FORMAT_TSV:
        if (!r->o.quiet)
            scps_trace_csv_row(r->out, c, r->o.format == FORMAT_CSV ? ',' : '\t', r->o.what);
        break;
    case FORMAT_LONG:
        if (r->o.quiet)
            break;
        if (r->written)
            fputs("================================\n", r->out);
        scps_trace_text_long(r->out, c, r->file, r->o.what);
        break;
    case FORMAT_BRIEF:
        if (!r->o.quiet)
            scps_trace_text_brief(r->out, c, width);
        break;
    }
    r->written++;
}

static void begin(struct run *r)
{
    if (r->begun)
        return;
    r->begun = true;
    if (r->o.format == FORMAT_JSON)
        scps_trace_json_begin(r->out);
    else if (!r->o.quiet && (r->o.format == FORMAT_CSV || r->o.format == FORMAT_TSV))
        scps_trace_csv_header(r->out, r->o.format == FORMAT_CSV ? ',' : '\t', r->o.what);
}

static void on_evict(void *ctx, const struct scps_trace_conn *c)
{
    struct run *r = ctx;
    begin(r);
    report(r, c, scps_trace_brief_width(c));
}

static void on_packet(void *ctx, const struct scps_trace_seen *s)
{
    struct run *r = ctx;
    if (r->o.packets && wanted(&r->o, s->conn)) {
        if (!r->t0_set) {
            r->t0_set = true;
            r->t0 = s->pkt->at;
        }
        scps_trace_text_packet(r->out, s, r->t0);
    }
    if (r->plots)
        scps_trace_plots_see(r->plots, s);
    if (r->html)
        scps_trace_html_see(r->html, s);
}

static int on_progress(void *ctx, uint64_t done, uint64_t total)
{
    struct run *r = ctx;
    if (r->bar) {
        double now = seconds(), t = now - r->began;
        if (t > 0.5 && now - r->shown > 0.1) {
            struct scps_trace_totals o;
            scps_trace_totals(r->t, &o);
            r->shown = now;
            double part = total ? (double)done / (double)total : 0;
            if (total && part > 0) {
                char bar[31];
                for (int i = 0; i < 30; i++)
                    bar[i] = i < (int)(part * 30) ? '#' : '.';
                bar[30] = '\0';
                fprintf(stderr,
                        "\r[%s] %3.0f %%  %.1f M packets  %" PRIu32 " connections  ETA %.0f s  ",
                        bar, part * 100, (double)o.packets / 1e6, o.conns, t * (1 - part) / part);
            } else {
                fprintf(stderr, "\r%.1f M packets  %.0f MB  %" PRIu32 " connections  %.0f s  ",
                        (double)o.packets / 1e6, (double)done / 1e6, o.conns, t);
            }
            fflush(stderr);
        }
    }
    return interrupted;
}

static void clear_bar(struct run *r)
{
    if (r->bar && r->shown > 0)
        fputs("\r\033[K", stderr);
}

/* What was not understood, one line each, on stderr or above the report. */
static void not_understood(FILE *f, const struct scps_trace_totals *o)
{
    static const struct {
        size_t at;
        const char *words;
    } row[] = {
#define ROW(name, words) {offsetof(struct scps_trace_totals, name), words},
        SCPS_TRACE_COUNTS(ROW)
#undef ROW
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        if (row[i].at < offsetof(struct scps_trace_totals, fragments))
            continue;
        uint64_t v;
        memcpy(&v, (const char *)o + row[i].at, sizeof v);
        if (v)
            fprintf(f, "*** %" PRIu64 " %s\n", v, row[i].words);
    }
}

static void finish(struct run *r, const char *const *files, size_t nfiles, const char *trouble)
{
    struct scps_trace_totals o;
    struct scps_trace_conn c;
    uint32_t n = scps_trace_conns(r->t);
    scps_trace_totals(r->t, &o);
    begin(r);
    bool text = r->o.format == FORMAT_BRIEF || r->o.format == FORMAT_LONG;
    if (text && !r->o.quiet) {
        double wall = seconds() - r->began;
        fprintf(r->out, "%" PRIu64 " packets seen, %" PRIu64 " TCP packets traced\n", o.packets,
                o.tcp_packets);
        fprintf(r->out, "elapsed wallclock time: %.6f s, %.0f pkts/sec analyzed\n", wall,
                wall > 0 ? (double)o.packets / wall : 0);
        not_understood(r->out, &o);
        if (o.conns == 0)
            fputs("no traced TCP packets\n", r->out);
        else
            fprintf(r->out, "TCP connection info:\n");
        if (o.conns && r->o.format == FORMAT_LONG)
            fprintf(r->out, "%" PRIu32 " TCP %s traced:\n", o.conns,
                    o.conns == 1 ? "connection" : "connections");
    }
    int width = 0;
    if (r->o.format == FORMAT_BRIEF && !r->o.quiet)
        for (uint32_t i = 0; i < n; i++) {
            scps_trace_conn(r->t, i, &c);
            int w = scps_trace_brief_width(&c);
            if (w > width && wanted(&r->o, c.number))
                width = w;
        }
    for (uint32_t i = 0; i < n; i++) {
        scps_trace_conn(r->t, i, &c);
        report(r, &c, width);
    }
    if (r->o.format == FORMAT_JSON)
        scps_trace_json_end(r->out, r->t, files, nfiles, trouble);
}

/* ---- options --------------------------------------------------------------------------------------------- */

enum {
    OPT_CSV = 256,
    OPT_TSV,
    OPT_JSON,
    OPT_SCHEMA,
    OPT_TRUTH,
    OPT_NO_UDP,
    OPT_IDLE_SPLIT,
    OPT_GRAPH_DIR,
    OPT_GRAPH_FORMAT,
    OPT_HTML,
    OPT_HTML_MARKS,
    OPT_LIVE,
    OPT_FILTER,
    OPT_COUNT,
    OPT_TIME,
    OPT_MAX_MEMORY,
    OPT_MAX_CONNS,
    OPT_PROGRESS,
    OPT_NO_PROGRESS
};

static const struct option longopts[] = {{"csv", 0, NULL, OPT_CSV},
                                         {"tsv", 0, NULL, OPT_TSV},
                                         {"json", 2, NULL, OPT_JSON},
                                         {"schema", 0, NULL, OPT_SCHEMA},
                                         {"truth", 1, NULL, OPT_TRUTH},
                                         {"no-udp", 0, NULL, OPT_NO_UDP},
                                         {"idle-split", 1, NULL, OPT_IDLE_SPLIT},
                                         {"graph-dir", 1, NULL, OPT_GRAPH_DIR},
                                         {"graph-format", 1, NULL, OPT_GRAPH_FORMAT},
                                         {"html", 1, NULL, OPT_HTML},
                                         {"html-marks", 1, NULL, OPT_HTML_MARKS},
                                         {"live", 1, NULL, OPT_LIVE},
                                         {"filter", 1, NULL, OPT_FILTER},
                                         {"count", 1, NULL, OPT_COUNT},
                                         {"time", 1, NULL, OPT_TIME},
                                         {"max-memory", 1, NULL, OPT_MAX_MEMORY},
                                         {"max-conns", 1, NULL, OPT_MAX_CONNS},
                                         {"progress", 0, NULL, OPT_PROGRESS},
                                         {"no-progress", 0, NULL, OPT_NO_PROGRESS},
                                         {"version", 0, NULL, 'V'},
                                         {"help", 0, NULL, 'h'},
                                         {NULL, 0, NULL, 0}};

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

/* Returns -1 to go on, else the exit status. */
static int parse_args(int argc, char **argv, struct options *o)
{
    bool theirs = false;
    uint64_t v;
    int c;
    o->format = FORMAT_BRIEF;
    o->what = SCPS_TRACE_OURS;
    o->plot_formats = SCPS_PLOT_XPLOT | SCPS_PLOT_GNUPLOT;
    while ((c = getopt_long(argc, argv, "blWrtpqo:i:nSNTRFAGVh", longopts, NULL)) != -1) {
        switch (c) {
        case 'b':
            o->format = FORMAT_BRIEF;
            break;
        case 'l':
            o->format = FORMAT_LONG;
            break;
        case 'W':
            o->what |= SCPS_TRACE_WINDOWS;
            break;
        case 'r':
            o->what |= SCPS_TRACE_RTT;
            break;
        case 't':
            theirs = true;
            break;
        case 'p':
            o->packets = true;
            break;
        case 'q':
            o->quiet = true;
            break;
        case 'o':
            if (!parse_ranges(optarg, &o->only))
                return bad("-o", optarg, "connection numbers, as in 1,3-5 (at most 256 ranges)");
            break;
        case 'i':
            if (!parse_ranges(optarg, &o->ignore))
                return bad("-i", optarg, "connection numbers, as in 1,3-5 (at most 256 ranges)");
            break;
        case 'n':
            break;
        case 'S':
            o->plots |= SCPS_PLOT_TSG;
            break;
        case 'N':
            o->plots |= SCPS_PLOT_OWIN;
            break;
        case 'T':
            o->plots |= SCPS_PLOT_TPUT;
            break;
        case 'R':
            o->plots |= SCPS_PLOT_RTT;
            break;
        case 'F':
            o->plots |= SCPS_PLOT_SEGS;
            break;
        case 'A':
            o->plots |= SCPS_PLOT_ACKS;
            break;
        case 'G':
            o->plots |= SCPS_PLOT_ALL;
            break;
        case OPT_CSV:
            o->format = FORMAT_CSV;
            break;
        case OPT_TSV:
            o->format = FORMAT_TSV;
            break;
        case OPT_JSON:
            o->format = FORMAT_JSON;
            o->json = optarg;
            break;
        case OPT_SCHEMA:
            scps_trace_json_schema(stdout);
            return 0;
        case OPT_TRUTH:
            o->truth = optarg;
            break;
        case OPT_NO_UDP:
            o->cfg.no_udp = true;
            break;
        case OPT_IDLE_SPLIT:
            if (!parse_size(optarg, &v) || v > 1000000000)
                return bad("--idle-split", optarg, "seconds, 0 for never");
            o->cfg.idle_split = SCPS_SEC((scps_dur)v);
            break;
        case OPT_GRAPH_DIR:
            o->graph_dir = optarg;
            break;
        case OPT_GRAPH_FORMAT:
            if (parse_formats(optarg, &o->plot_formats) != 0)
                return bad("--graph-format", optarg, "a list of xplot, gnuplot, png, svg");
            break;
        case OPT_HTML:
            o->html = optarg;
            break;
        case OPT_HTML_MARKS:
            if (!parse_size(optarg, &v) || v < 1000 || v > 50000000)
                return bad("--html-marks", optarg, "a number from 1000 to 50 million");
            o->html_events = (size_t)v;
            break;
        case OPT_LIVE:
            o->live = optarg;
            break;
        case OPT_FILTER:
            o->filter = optarg;
            break;
        case OPT_COUNT:
            if (!parse_size(optarg, &o->count) || !o->count)
                return bad("--count", optarg, "a number of packets");
            break;
        case OPT_TIME:
            if (!parse_size(optarg, &v) || !v || v > 1000000000)
                return bad("--time", optarg, "seconds");
            o->time = SCPS_SEC((scps_dur)v);
            break;
        case OPT_MAX_MEMORY:
            if (!parse_size(optarg, &o->cfg.max_memory) || o->cfg.max_memory < 1 << 20)
                return bad("--max-memory", optarg, "bytes, 1M or more");
            break;
        case OPT_MAX_CONNS:
            if (!parse_size(optarg, &v) || !v || v > UINT32_MAX)
                return bad("--max-conns", optarg, "a number of connections");
            o->cfg.max_conns = (uint32_t)v;
            break;
        case OPT_PROGRESS:
            o->progress_on = true;
            break;
        case OPT_NO_PROGRESS:
            o->progress_off = true;
            break;
        case 'V':
            puts("scps_trace " SCPS_VERSION);
            return 0;
        case 'h':
            usage(stdout);
            return 0;
        default:
            fputs("scps_trace: see scps_trace --help\n", stderr);
            return 2;
        }
    }
    if (theirs)
        o->what &= ~(unsigned)SCPS_TRACE_OURS;
    if (!o->live && optind == argc) {
        fputs(
            "scps_trace: no capture named: give a file, '-' for standard input, or --live DEVICE\n",
            stderr);
        return 2;
    }
    if (o->live && optind < argc) {
        fputs("scps_trace: --live takes no files\n", stderr);
        return 2;
    }
    if ((o->filter || o->count || o->time) && !o->live) {
        fputs("scps_trace: --filter, --count and --time go with --live\n", stderr);
        return 2;
    }
    return -1;
}

int main(int argc, char **argv)
{
    static struct run r;
    char msg[SCPS_TRACE_MSGLEN] = "", first_msg[SCPS_TRACE_MSGLEN] = "";
    struct scps_trace_totals tot;
    int status = parse_args(argc, argv, &r.o);
    if (status >= 0)
        return fflush(stdout) == 0 ? status : 1;
    status = 0;
    struct sigaction sa = {.sa_handler = on_signal};
    sigaction(SIGINT, &sa, NULL);
    sigaction(SIGTERM, &sa, NULL);
    signal(SIGPIPE, SIG_IGN);
    r.out = stdout;
    if (r.o.json && strcmp(r.o.json, "-") != 0 && !(r.out = fopen(r.o.json, "w"))) {
        fprintf(stderr, "scps_trace: %s: %s\n", r.o.json, strerror(errno));
        return 1;
    }
    struct scps_trace_config cfg = r.o.cfg;
    cfg.ctx = &r;
    cfg.on_evict = on_evict;
    cfg.on_progress = on_progress;
    if (r.o.packets || r.o.plots || r.o.html)
        cfg.on_packet = on_packet;
    r.t = scps_trace_new(&cfg);
    if (r.o.plots)
        r.plots = scps_trace_plots_new(r.o.graph_dir, r.o.plots, r.o.plot_formats, wanted, &r.o);
    if (r.o.html)
        r.html = scps_trace_html_new(r.o.html_events, wanted, &r.o);
    if (!r.t || (r.o.plots && !r.plots) || (r.o.html && !r.html)) {
        fputs("scps_trace: out of memory\n", stderr);
        return 1;
    }
    if (r.o.truth && scps_trace_truth(r.t, r.o.truth, msg) < 0) {
        fprintf(stderr, "scps_trace: %s\n", msg);
        scps_trace_free(r.t);
        return 2;
    }
    r.bar = r.o.progress_on || (!r.o.progress_off && isatty(STDERR_FILENO) && !r.o.packets);
    r.began = seconds();

    const char *const *files = (const char *const *)argv + optind;
    size_t nfiles = (size_t)(argc - optind), understood = 0;
    if (r.o.live) {
        r.file = r.o.live;
        files = &r.file;
        nfiles = 1;
        int e = scps_trace_live(r.t, r.o.live, r.o.filter, r.o.count, r.o.time, msg);
        clear_bar(&r);
        if (e) {
            fprintf(stderr, "scps_trace: %s\n", msg);
            snprintf(first_msg, sizeof first_msg, "%s", msg);
            status = e < 0 ? 2 : 1;
        }
        understood += e >= 0;
    } else {
        for (size_t i = 0; i < nfiles && !interrupted; i++) {
            r.file = files[i];
            int e = scps_trace_read(r.t, files[i], msg);
            clear_bar(&r);
            if (e) {
                fprintf(stderr, "scps_trace: %s\n", msg);
                if (!first_msg[0])
                    snprintf(first_msg, sizeof first_msg, "%s", msg);
                status = e < 0 ? 2 : status ? status : 1;
            }
            understood += e >= 0;
        }
    }
    if (!understood) {
        /* nothing was a capture: one line was said, nothing to report */
        if (r.plots)
            scps_trace_plots_finish(r.plots, NULL);
        if (r.html)
            scps_trace_html_finish(r.html, NULL, NULL, NULL, NULL);
        scps_trace_free(r.t);
        return status;
    }
    scps_trace_finish(r.t);
    scps_trace_totals(r.t, &tot);
    uint32_t first = lowest(&r.o.only);
    if (first > tot.conns && !interrupted) {
        fprintf(stderr, "scps_trace: -o %" PRIu32 ": the capture has %" PRIu32 " connection%s\n",
                first, tot.conns, tot.conns == 1 ? "" : "s");
        status = status ? status : 2;
    }
    if (!(r.o.packets && r.o.format == FORMAT_BRIEF))
        finish(&r, files, nfiles, first_msg);
    if (r.plots && scps_trace_plots_finish(r.plots, msg) < 0) {
        fprintf(stderr, "scps_trace: %s\n", msg);
        status = status ? status : 1;
    }
    if (r.html && scps_trace_html_finish(r.html, r.t, r.o.html, r.file, msg) < 0) {
        fprintf(stderr, "scps_trace: %s\n", msg);
        status = status ? status : 1;
    }
    scps_trace_free(r.t);
    errno = 0;
    if (fflush(r.out) != 0 || ferror(r.out) || (r.out != stdout && fclose(r.out) != 0)) {
        if (errno != EPIPE) /* a reader that has seen enough is no trouble */
            fprintf(stderr, "scps_trace: the report could not be written: %s\n",
                    errno ? strerror(errno) : "output error");
        status = status ? status : 1;
    }
    return status;
}
