/* SPDX-License-Identifier: MIT */
/* scps_lab run: runs one cell (combination of swept values) of a scenario and writes a table or a
 * JSON document, plots and captures.
 *
 * A run has the same seed as in a sweep, so that any line of a sweep's rows can be examined packet
 * by packet.
 */
#include "scps_lab/run.h"

#include "common/cells.h"
#include "common/qlog.h"
#include "scps_lab/outputs.h"
#include "scps_lab/record.h"
#include "scps_lab/stats.h"

#include <scps/json.h>
#include <scps/scps.h>
#include <scps_revision.h>

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct sum {
    char name[LAB_NAME + 8];
    struct lab_sample mbps, seconds;
    size_t failed;
};

static int refuse(int status, const char *msg)
{
    fprintf(stderr, "scps_lab: %s\n", msg);
    return status;
}

static void text_head(const struct lab_scenario *sc, const struct lab_cell *cell)
{
    printf("%s%s%s\n", sc->name, sc->about ? ": " : "", sc->about ? sc->about : "");
    if (*cell->id)
        printf("cell  %s\n", cell->id);
    for (size_t i = 0; i < cell->setup->nlinks; i++)
        printf("%s  %s\n", cell->setup->link[i].name, cell->setup->link[i].spec);
    printf("%4s %-16s %-9s %12s %11s %12s %9s %8s %8s %8s\n", "run", "flow", "status", "seconds",
           "Mbit/s", "bytes", "segments", "resent", "timeouts", "dropped");
}

static void text_row(unsigned run, const struct lab_outcome *o, const struct lab_result *r)
{
    const struct scps_link_stats *l = &r->link[o->flow->link][o->flow->back];

    printf("%4u %-16s %-9s %12.6f %11.4f %12" PRIu64 " %9" PRIu64 " %8u %8u %8" PRIu64 "\n", run,
           o->name, o->status, (double)(o->end - o->start) / 1e6, lab_goodput(o), o->bytes,
           o->info.data_segs_out, o->info.resent_segs, o->info.timeouts, lab_dropped(l));
}

static void json_head(struct scps_json *j, const struct lab_scenario *sc,
                      const struct lab_cell *cell)
{
    char hash[17];

    snprintf(hash, sizeof hash, "%016" PRIx64, sc->hash);
    scps_json_open(j, NULL, '{');
    scps_json_string(j, "version", "scps_lab " SCPS_VERSION);
    scps_json_string(j, "git", SCPS_REVISION);
    scps_json_string(j, "scenario", sc->name);
    scps_json_string(j, "hash", hash);
    scps_json_uint(j, "seed", sc->seed);
    scps_json_string(j, "cell", cell->id);
    scps_json_open(j, "links", '[');
    for (size_t i = 0; i < cell->setup->nlinks; i++) {
        scps_json_open(j, NULL, '{');
        scps_json_string(j, "name", cell->setup->link[i].name);
        scps_json_string(j, "spec", cell->setup->link[i].spec);
        scps_json_close(j, '}');
    }
    scps_json_close(j, ']');
    scps_json_open(j, "flows", '[');
}

static void json_row(struct scps_json *j, unsigned run, const struct lab_outcome *o)
{
    scps_json_open(j, NULL, '{');
    scps_json_uint(j, "run", run);
    scps_json_string(j, "flow", o->name);
    scps_json_string(j, "status", o->status);
    scps_json_seconds(j, "start", o->start);
    scps_json_seconds(j, "seconds", o->end - o->start);
    if (strcmp(o->status, "ok") == 0)
        scps_json_fixed(j, "mbps", lab_goodput(o), 6);
    else
        scps_json_null(j, "mbps");
    scps_json_uint(j, "bytes", o->bytes);
    scps_json_uint(j, "segments", o->info.data_segs_out);
    scps_json_uint(j, "resent", o->info.resent_segs);
    scps_json_uint(j, "timeouts", o->info.timeouts);
    scps_json_uint(j, "episodes", o->info.recoveries);
    scps_json_int(j, "srtt_us", o->info.srtt);
    scps_json_uint(j, "max_cwnd", o->info.max_cwnd == SCPS_CWND_OPEN ? 0 : o->info.max_cwnd);
    scps_json_uint(j, "missing", o->missing);
    scps_json_uint(j, "records", o->records);
    scps_json_uint(j, "torn", o->torn);
    scps_json_close(j, '}');
}

static void json_link(struct scps_json *j, const struct lab_setup *s, const struct lab_result *r)
{
    scps_json_close(j, ']');
    scps_json_open(j, "last_run", '[');
    for (size_t i = 0; i < s->nlinks; i++)
        for (int d = 0; d < 2; d++) {
            const struct scps_link_stats *l = &r->link[i][d];

            scps_json_open(j, NULL, '{');
            scps_json_string(j, "link", s->link[i].name);
            scps_json_string(j, "direction", d ? "back" : "forward");
            scps_json_uint(j, "offered", l->offered);
            scps_json_uint(j, "delivered", l->delivered);
            scps_json_uint(j, "dropped", lab_dropped(l));
            scps_json_uint(j, "duplicated", l->duplicated);
            scps_json_uint(j, "in_flight", l->in_flight);
            scps_json_uint(j, "max_queue_bytes", l->max_queue_bytes);
            scps_json_close(j, '}');
        }
    scps_json_close(j, ']');
    scps_json_close(j, '}');
}

static void sum_up(const struct sum *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s[i].mbps.n == 1)
            printf("mean %-16s 1 ok, %zu failed: %.4f Mbit/s\n", s[i].name, s[i].failed,
                   s[i].mbps.mean);
        else if (s[i].mbps.n > 1)
            printf("mean %-16s %zu ok, %zu failed: %.4f Mbit/s, sd %.4f, 95 %% +- %.4f\n",
                   s[i].name, s[i].mbps.n, s[i].failed, s[i].mbps.mean, lab_sample_sd(&s[i].mbps),
                   lab_sample_ci95(&s[i].mbps));
}

static FILE *file(const char *path, char msg[LAB_MSGLEN])
{
    FILE *f = fopen(path, "w");

    if (!f)
        snprintf(msg, LAB_MSGLEN, "%.300s: %s: write elsewhere", path, strerror(errno));
    return f;
}

/* Closes output file f; NULL: does nothing. Returns false, with the reason in msg, if a part of it
 * could not be written. */
static bool done(FILE *f, const char *path, char msg[LAB_MSGLEN])
{
    bool bad = f && ferror(f);

    if (!f || (fclose(f) == 0 && !bad))
        return true;
    snprintf(msg, LAB_MSGLEN, "%.300s: could not be written whole: make room or write elsewhere",
             path);
    return false;
}

/* Writes text to gnuplot's script as a string in single quotes. Of the characters in such a string
 * only the single quote is special; it is doubled. */
static void put_string(FILE *g, const char *text)
{
    putc('\'', g);
    for (; *text; text++) {
        if (*text == '\'')
            putc('\'', g);
        putc(*text, g);
    }
    putc('\'', g);
}

/* Writes path and suffix to gnuplot's script as one string that names a file. Puts "./" before a
 * relative path, because gnuplot takes "-" and names that begin with < or | for something other
 * than files. */
static void put_path(FILE *g, const char *path, const char *suffix)
{
    struct lab_str all = {0};

    lab_add(&all, "%s%s%s", *path == '/' ? "" : "./", path, suffix);
    put_string(g, all.p);
    lab_free(&all);
}

static void put_plots(FILE *g, const char *series)
{
    fputs("set datafile separator ','\nset grid\nset key left top noenhanced\n"
          /* The rows of all flows alternate in the file. With this setting a row of another flow,
           * which yields NaN, does not interrupt the curve of a flow. */
          "set datafile missing NaN\n"
          "set xlabel 'time, s'\nset ylabel 'delivered, MB'\nplot for [f in flows] ",
          g);
    put_path(g, series, "");
    fputs(" using 1:(stringcolumn(2) eq f ? $4/1e6 : NaN) every ::1 with lines lw 2 title f\n"
          "set ylabel 'kB'\nplot for [f in flows] ",
          g);
    put_path(g, series, "");
    fputs(" using 1:(stringcolumn(2) eq f && $5 > 0 ? $5/1e3 : NaN) every ::1 with lines lw 2 "
          "title f.' window', "
          "for [f in flows] '' using 1:(stringcolumn(2) eq f ? $6/1e3 : NaN) every ::1 with lines "
          "title f.' in flight'\n"
          "unset multiplot\n",
          g);
}

/* Plots the figures of a run's flows over time, read from the CSV file `series`, with gnuplot:
 * bytes delivered, window, and bytes in flight. Returns false, with the reason in msg, on an
 * error. */
static bool draw(const char *series, const char *out, const char *title, const struct lab_result *r,
                 char msg[LAB_MSGLEN])
{
    static const char *const kinds[][2] = {
        {"svg size 900,700 dynamic font 'sans,12' background 'white'", ".svg"},
        {"pngcairo size 900,700 font 'sans,10'", ".png"}};
    FILE *g;
    int rc;

    /* If gnuplot is missing, pclose() returns an error. SIGPIPE, which would end this program
     * before, is ignored. */
    signal(SIGPIPE, SIG_IGN);
    g = popen("gnuplot 2>/dev/null", "w");
    if (!g) {
        snprintf(msg, LAB_MSGLEN, "gnuplot: %s", strerror(errno));
        return false;
    }
    fputs("flows = '", g);
    /* Names of flows have only letters, digits, '-', '_' and '.', so they need no quotes. */
    for (size_t i = 0; i < r->n; i++)
        fprintf(g, "%s%s", i > 0 ? " " : "", r->flow[i].name);
    fputs("'\n", g);
    for (int k = 0; k < 2; k++) {
        fprintf(g, "set terminal %s\nset output ", kinds[k][0]);
        put_path(g, out, kinds[k][1]);
        fputs("\nset multiplot layout 2,1 title ", g);
        put_string(g, title);
        fputs(" noenhanced\n", g);
        put_plots(g, series);
    }
    rc = pclose(g);
    if (rc != 0)
        snprintf(
            msg, LAB_MSGLEN,
            "gnuplot could not draw %.200s: is gnuplot installed, and may the file be written?",
            out);
    return rc == 0;
}

/* Returns the interval at which the figures of the flows are sampled, µs: 1/400 of the duration of
 * the run, which is made once without samples to measure that. */
static scps_dur interval(const struct lab_setup *s, uint64_t seed)
{
    struct lab_watch w = {0};
    struct lab_result r;
    scps_dur every = SCPS_MS(1);

    if (lab_job(s, seed, &w, &r))
        every = 1 + r.end / 400;
    lab_result_free(&r);
    return every;
}

static int one_run(const struct lab_cells *c, const struct lab_cell *cell, unsigned run,
                   const struct lab_run_options *o, struct lab_result *r, char msg[LAB_MSGLEN])
{
    uint64_t seed = lab_cell_seed(c, cell, run);
    struct lab_watch w = {.pcap = o->pcap, .qlog = o->qlog};
    struct lab_record record = {0};
    struct lab_str series = {0};
    int status = 0;

    if (o->events && !(record.events = file(o->events, msg)))
        status = 2;
    if (o->truth && status == 0 && !(record.truth = file(o->truth, msg)))
        status = 2;
    if (status == 0 && (o->series || o->plot)) {
        lab_add(&series, "%s%s", o->series ? o->series : o->plot, o->series ? "" : ".csv");
        record.series = file(series.p, msg);
        w.every = interval(cell->setup, seed);
        if (!record.series)
            status = 2;
    }
    if (status == 0)
        lab_record_begin(&record, &w);
    if (status == 0 && !lab_job(cell->setup, seed, &w, r)) {
        snprintf(msg, LAB_MSGLEN, "%s", w.msg);
        status = w.refused ? 2 : 1;
    }
    if (!done(record.events, o->events, msg) || !done(record.truth, o->truth, msg) ||
        !done(record.series, series.p, msg))
        status = status ? status : 1;
    if (status == 0 && o->plot &&
        !draw(series.p, o->plot, *cell->id ? cell->id : c->sc->name, r, msg))
        status = 1;
    lab_free(&series);
    return status;
}

static int run_cell(const struct lab_cells *c, const struct lab_run_options *o,
                    char msg[LAB_MSGLEN])
{
    struct scps_json j = {.f = stdout, .indent = "  "};
    const struct lab_cell *cell = &c->v[0];
    unsigned from = o->run ? o->run : 1, to = o->run ? o->run : (unsigned)c->sc->runs;
    struct sum *sum = NULL;
    size_t flows = 0;
    int status = 0;

    for (unsigned run = from; status == 0 && run <= to; run++) {
        struct lab_result r = {0};

        status = one_run(c, cell, run, o, &r, msg);
        /* The heading is printed only after the first run has succeeded, because a run may be
         * refused, and then nothing but the error is to be printed. */
        if (status == 0 && run == from) {
            if (o->json)
                json_head(&j, c->sc, cell);
            else
                text_head(c->sc, cell);
        }
        if (!sum)
            sum = lab_alloc((r.n + 1) * sizeof *sum);
        flows = r.n;
        for (size_t i = 0; status == 0 && i < r.n; i++) {
            const struct lab_outcome *f = &r.flow[i];

            snprintf(sum[i].name, sizeof sum[i].name, "%s", f->name);
            if (o->json)
                json_row(&j, run, f);
            else
                text_row(run, f, &r);
            if (strcmp(f->status, "ok") == 0)
                lab_sample_add(&sum[i].mbps, lab_goodput(f));
            else
                sum[i].failed++;
        }
        if (status == 0 && o->json && run == to)
            json_link(&j, cell->setup, &r);
        lab_result_free(&r);
    }
    if (status == 0 && !o->json && to > from)
        sum_up(sum, flows);
    for (size_t i = 0; status == 0 && i < flows; i++)
        if (sum[i].failed) {
            snprintf(msg, LAB_MSGLEN, "a flow failed");
            status = 1;
        }
    free(sum);
    return status;
}

/* Refuses outputs about TCP connections and packets if the flow is run by the model of negative
 * acknowledgements (model.h), which has neither. Returns false, with a message, then. */
static bool has_packets(const struct lab_setup *s, const struct lab_run_options *o,
                        char msg[LAB_MSGLEN])
{
    const struct {
        const char *option, *path;
    } one[] = {{"--pcap", o->pcap},     {"--truth", o->truth}, {"--events", o->events},
               {"--series", o->series}, {"--plot", o->plot},   {"--qlog", o->qlog}};

    for (size_t i = 0; s->flow[0].kind == LAB_NACK && i < sizeof one / sizeof *one; i++)
        if (one[i].path) {
            snprintf(msg, LAB_MSGLEN,
                     "%s: flow.model = nack is a model without connections: leave out the option",
                     one[i].option);
            return false;
        }
    return true;
}

int lab_run(const struct lab_scenario *sc, const struct lab_run_options *o)
{
    struct lab_cells cells;
    char msg[LAB_MSGLEN];
    int status;

    if (o->run > 1000000 ||
        ((o->pcap || o->truth || o->events || o->series || o->plot || o->qlog) && !o->run &&
         sc->runs > 1)) {
        snprintf(msg, sizeof msg, "captures and plots show one run: choose it with --run N");
        return refuse(2, msg);
    }
    if (o->qlog && qlog_refuses(o->qlog)) {
        snprintf(msg, sizeof msg, "--qlog '%.200s': %s", o->qlog, qlog_refuses(o->qlog));
        return refuse(2, msg);
    }
    if (o->plot && qlog_refuses(o->plot)) {
        snprintf(msg, sizeof msg, "--plot '%.200s': %s", o->plot, qlog_refuses(o->plot));
        return refuse(2, msg);
    }
    if (!lab_run_files(sc, o, msg) || !lab_cells_single(sc, &cells, msg))
        return refuse(2, msg);
    if (!has_packets(cells.v->setup, o, msg)) {
        lab_cells_free(&cells);
        return refuse(2, msg);
    }
    status = run_cell(&cells, o, msg);
    lab_cells_free(&cells);
    return status ? refuse(status, msg) : 0;
}
