/* SPDX-License-Identifier: MIT */
/* scps_trace: reads captures and reports what the TCP connections in them did.
 *
 * This is the front end: options (scps_trace/options.c), the selection of connections, a progress
 * bar. libscps_trace has the analysis and the reports. When the analyser must discard a connection
 * for lack of memory, the report of that connection is written at that moment. The reports of all
 * other connections are written at the end, ordered by the number that the analyser has given each
 * connection.
 *
 * Exit status: 0 done; 1 a capture could be read only in part, or output failed; 2 wrong usage, or
 * no input is a capture in a known format.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/files.h"
#include "common/hangup.h"
#include "common/stdfds.h"
#include "scps_trace/options.h"
#include "scps_trace/qlog.h"

struct run {
    struct options o;
    struct scps_trace *t;
    struct scps_trace_plots *plots;
    struct scps_trace_html *html;
    struct trace_qlogs *qlogs;
    FILE *out;        /* file or stream to which reports are written, not the lines of -p */
    const char *file; /* the capture that is being read */
    uint64_t written; /* number of connections whose reports were written */
    bool begun;
    scps_time t0;
    bool t0_set;
    /* times at which the analysis began and at which the progress bar was last shown, s; bar: true
     * if the bar is to be shown */
    double began, shown;
    bool bar;
};

static volatile sig_atomic_t interrupted;

/* A second signal that comes less than this time after the first is the same request: timeout(1)
 * sends its signal twice. */
#define ONE_REQUEST 0.5 /* s */

/* The first signal ends the reading, and the report of what was read is written. That can take
 * minutes, or for ever if nobody reads it, so a later signal ends the program at once. */
static void on_signal(int sig)
{
    static struct timespec first;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!interrupted) {
        first = now;
        interrupted = 1;
        return;
    }
    if ((double)(now.tv_sec - first.tv_sec) + (double)(now.tv_nsec - first.tv_nsec) / 1e9 <
        ONE_REQUEST)
        return;
    signal(sig, SIG_DFL);
    raise(sig); /* Its delivery is blocked until this function returns. */
}

static double seconds(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* ---- functions that print the reports ---- */

static void report(struct run *r, const struct scps_trace_conn *c, int width)
{
    if (!trace_wanted(&r->o, c->number))
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
    if (r->qlogs)
        trace_qlogs_forget(r->qlogs, c->number);
}

static void on_packet(void *ctx, const struct scps_trace_seen *s)
{
    struct run *r = ctx;
    if (r->o.packets && trace_wanted(&r->o, s->conn)) {
        if (!r->t0_set) {
            r->t0_set = true;
            r->t0 = s->pkt->at;
        }
        scps_trace_text_packet(stdout, s, r->t0);
    }
    if (r->plots)
        scps_trace_plots_see(r->plots, s);
    if (r->html)
        scps_trace_html_see(r->html, s);
    if (r->qlogs && trace_wanted(&r->o, s->conn))
        trace_qlogs_see(r->qlogs, s);
}

static int on_progress(void *ctx, uint64_t done, uint64_t total)
{
    struct run *r = ctx;
    if (r->bar) {
        double now = seconds(), t = now - r->began;
        if (t > 0.5 && now - r->shown > 0.1) {
            struct scps_trace_totals o;
            scps_trace_get_totals(r->t, &o);
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
    if (!r->bar || r->shown <= 0)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
}

/* Prints to f one line for each reason why packets were not analysed, with the number of
 * packets. */
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

/* Prints the head of the text report, before the connections, as tcptrace prints it. */
static void print_head(struct run *r, const struct scps_trace_totals *o)
{
    double wall = seconds() - r->began;
    fprintf(r->out, "%" PRIu64 " packets seen, %" PRIu64 " TCP packets traced\n", o->packets,
            o->tcp_packets);
    fprintf(r->out, "elapsed wallclock time: %.6f s, %.0f pkts/sec analyzed\n", wall,
            wall > 0 ? (double)o->packets / wall : 0);
    not_understood(r->out, o);
    if (o->conns == 0)
        fputs("no traced TCP packets\n", r->out);
    else
        fprintf(r->out, "TCP connection info:\n");
    if (o->conns && r->o.format == FORMAT_LONG)
        fprintf(r->out, "%" PRIu32 " TCP %s traced:\n", o->conns,
                o->conns == 1 ? "connection" : "connections");
}

static void finish(struct run *r, const char *const *files, size_t nfiles, const char *failure)
{
    struct scps_trace_totals o;
    struct scps_trace_conn c;
    uint32_t n = scps_trace_conns(r->t);
    scps_trace_get_totals(r->t, &o);
    begin(r);
    bool text = r->o.format == FORMAT_BRIEF || r->o.format == FORMAT_LONG;
    if (text && !r->o.quiet)
        print_head(r, &o);
    int width = 0;
    if (r->o.format == FORMAT_BRIEF && !r->o.quiet)
        for (uint32_t i = 0; i < n; i++) {
            scps_trace_conn_info(r->t, i, &c);
            int w = scps_trace_brief_width(&c);
            if (w > width && trace_wanted(&r->o, c.number))
                width = w;
        }
    for (uint32_t i = 0; i < n; i++) {
        scps_trace_conn_info(r->t, i, &c);
        report(r, &c, width);
    }
    if (r->o.format == FORMAT_JSON)
        scps_trace_json_end(r->out, r->t, files, nfiles, failure);
}

/* ---- functions that read the captures and write the reports ---- */

/* Prints msg as one line on stderr. Sets *status, the exit status, to `is` if it is still 0 (no
 * earlier failure). */
static void report_failure(int *status, int is, const char *msg)
{
    fprintf(stderr, "scps_trace: %s\n", msg);
    *status = *status ? *status : is;
}

static void catch_signals(void)
{
    struct sigaction sa = {.sa_handler = on_signal};
    sigaction(SIGINT, &sa, NULL);
    sigaction(SIGTERM, &sa, NULL);
    signal(SIGPIPE, SIG_IGN);
}

/* Checks the options that write several files whose names depend on the connections: --qlog and
 * those for graphs. Returns false, with a message in msg, if such a file may be an input or another
 * output; otherwise true. */
static bool check_families(const struct options *o, const struct files *f,
                           char msg[SCPS_TRACE_MSGLEN])
{
    char prefix[PATH_MAX];
    const struct files_family logs = {prefix, "-", {".qlog"}};
    const struct files_family graphs = {prefix, "_", {".xpl", ".gpl", ".dat"}};
    bool ok = true;

    if (o->qlog) {
        snprintf(prefix, sizeof prefix, "%s-", o->qlog);
        ok = files_check_family(f, "--qlog", &logs, msg, SCPS_TRACE_MSGLEN);
    }
    if (ok && o->plots) {
        snprintf(prefix, sizeof prefix, "%s/", o->graph_dir ? o->graph_dir : ".");
        ok = files_check_family(f, "--graph-dir", &graphs, msg, SCPS_TRACE_MSGLEN);
    }
    return ok;
}

/* Refuses an output file that is also one of the n inputs, or another output. Returns 0, or the
 * exit status after a message. */
static int check_files(const struct options *o, const char *const *in, size_t n)
{
    struct files f = {.n = 0};
    const bool to_file = o->json && strcmp(o->json, "-") != 0;
    const bool reports = o->packets || (!to_file && (o->format == FORMAT_JSON || !o->quiet));
    char msg[SCPS_TRACE_MSGLEN] = "";
    bool ok = !reports ||
              files_add_fd(&f, "standard output", STDOUT_FILENO, FILES_WRITTEN, msg, sizeof msg);

    ok = ok && files_add(&f, "--json", to_file ? o->json : NULL, FILES_WRITTEN, msg, sizeof msg) &&
         files_add(&f, "--html", o->html, FILES_WRITTEN, msg, sizeof msg) &&
         files_add(&f, "--truth", o->truth, FILES_READ, msg, sizeof msg);
    for (size_t i = 0; ok && i < n; i++)
        ok = strcmp(in[i], "-") == 0
                 ? files_add_fd(&f, "standard input", STDIN_FILENO, FILES_READ, msg, sizeof msg)
                 : files_add(&f, "capture", in[i], FILES_READ, msg, sizeof msg);
    ok = ok && check_families(o, &f, msg);
    if (!ok)
        fprintf(stderr, "scps_trace: %s\n", msg);
    return ok ? 0 : 2;
}

/* Opens all output files that the options name, before the first packet is read. Returns 0, or the
 * exit status after a message. */
static int set_up(struct run *r)
{
    const struct options *o = &r->o;
    char msg[SCPS_TRACE_MSGLEN] = "";
    int status = 0;
    r->out = stdout;
    if (o->json && strcmp(o->json, "-") != 0 && !(r->out = fopen(o->json, "w"))) {
        fprintf(stderr, "scps_trace: %s: %s: write elsewhere\n", o->json, strerror(errno));
        return 1;
    }
    struct scps_trace_config cfg = o->cfg;
    cfg.ctx = r;
    cfg.on_evict = on_evict;
    cfg.on_progress = on_progress;
    if (o->packets || o->plots || o->html || o->qlog)
        cfg.on_packet = on_packet;
    r->t = scps_trace_new(&cfg);
    if (o->plots)
        r->plots =
            scps_trace_plots_new(o->graph_dir, o->plots, o->plot_formats, trace_wanted, &r->o);
    if (o->html)
        r->html = scps_trace_html_new(o->html_events, trace_wanted, &r->o);
    if (o->qlog)
        r->qlogs = trace_qlogs_new(o->qlog);
    if (!r->t || (o->plots && !r->plots) || (o->html && !r->html) || (o->qlog && !r->qlogs)) {
        report_failure(&status, 1, "out of memory");
    } else if (o->truth && scps_trace_truth(r->t, o->truth, msg) < 0) {
        report_failure(&status, 2, msg);
        scps_trace_free(r->t);
    }
    r->bar = o->progress_on || (!o->progress_off && isatty(STDERR_FILENO) && !o->packets);
    r->began = seconds();
    return status;
}

/* Reads one capture file, or captures packets from a network device. first_msg gets the message of
 * the first failure. Returns true if the input could be read as a capture, at least in part. */
static bool take_file(struct run *r, const char *file, char first_msg[SCPS_TRACE_MSGLEN],
                      int *status)
{
    char msg[SCPS_TRACE_MSGLEN] = "";
    r->file = file;
    int e = r->o.live ? scps_trace_live(r->t, r->o.live, r->o.filter, r->o.count, r->o.time, msg)
                      : scps_trace_read(r->t, file, msg);
    clear_bar(r);
    if (e) {
        report_failure(status, 1, msg);
        if (!first_msg[0])
            snprintf(first_msg, SCPS_TRACE_MSGLEN, "%s", msg);
        if (e < 0)
            *status = 2;
    }
    return e >= 0;
}

/* Called if no input file was a capture: the error has been printed, and there is nothing to
 * report, so only memory and files are released. */
static void end_without_capture(struct run *r)
{
    if (r->plots)
        scps_trace_plots_finish(r->plots, NULL);
    if (r->html)
        scps_trace_html_finish(r->html, NULL, NULL, NULL, NULL);
    if (r->qlogs)
        trace_qlogs_finish(r->qlogs, (char[SCPS_TRACE_MSGLEN]){0});
    scps_trace_free(r->t);
}

/* Writes the reports, the graphs and the HTML page at the end of the run. */
static void conclude(struct run *r, const char *const *files, size_t nfiles, const char *first_msg,
                     int *status)
{
    char msg[SCPS_TRACE_MSGLEN] = "";
    struct scps_trace_totals tot;
    scps_trace_finish(r->t);
    scps_trace_get_totals(r->t, &tot);
    uint32_t first = trace_lowest(&r->o.only);
    if (first > tot.conns && !interrupted) {
        snprintf(msg, sizeof msg, "-o %" PRIu32 ": the capture has %" PRIu32 " connection%s", first,
                 tot.conns, tot.conns == 1 ? "" : "s");
        report_failure(status, 2, msg);
    }
    if (!(r->o.packets && r->o.format == FORMAT_BRIEF))
        finish(r, files, nfiles, first_msg);
    if (r->plots && scps_trace_plots_finish(r->plots, msg) < 0)
        report_failure(status, 1, msg);
    if (r->html && scps_trace_html_finish(r->html, r->t, r->o.html, r->file, msg) < 0)
        report_failure(status, 1, msg);
    if (r->qlogs && !trace_qlogs_finish(r->qlogs, msg))
        report_failure(status, 1, msg);
    scps_trace_free(r->t);
}

static void close_output(FILE *out, int *status)
{
    errno = 0;
    if (fflush(out) == 0 && !ferror(out) && (out == stdout || fclose(out) == 0))
        return;
    /* EPIPE is no failure: the reader of the pipe, such as head(1), has closed it. */
    if (errno != EPIPE)
        fprintf(stderr, "scps_trace: the report could not be written: %s\n",
                errno ? strerror(errno) : "output error");
    *status = *status ? *status : 1;
}

int main(int argc, char **argv)
{
    static struct run r;
    char first_msg[SCPS_TRACE_MSGLEN] = "";
    stdfds_open("scps_trace");
    hangup_init();
    int status = trace_options_parse(&r.o, argc, argv);
    if (status >= 0)
        return stdfds_flush("scps_trace", status);
    catch_signals();
    const char *const *files = r.o.live ? &r.o.live : (const char *const *)argv + optind;
    size_t nfiles = r.o.live ? 1 : (size_t)(argc - optind), understood = 0;
    status = check_files(&r.o, files, r.o.live ? 0 : nfiles);
    if (!status)
        status = set_up(&r);
    if (status)
        return status;
    for (size_t i = 0; i < nfiles && (r.o.live || !interrupted); i++)
        understood += take_file(&r, files[i], first_msg, &status);
    if (!understood) {
        end_without_capture(&r);
        return status;
    }
    conclude(&r, files, nfiles, first_msg, &status);
    if (r.out != stdout)
        close_output(r.out, &status);
    close_output(stdout, &status);
    return status;
}
