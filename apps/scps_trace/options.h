/* SPDX-License-Identifier: MIT */
/* Parses the command line of scps_trace into a structure. */
#ifndef SCPS_TRACE_OPTIONS_H
#define SCPS_TRACE_OPTIONS_H

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
    unsigned formats; /* bit n: the option of format n was given */
    unsigned what, plots, plot_formats;
    bool formats_given; /* --graph-format was given */
    bool quiet, packets, progress_off, progress_on;
    struct ranges only, ignore;
    const char *json, *html, *graph_dir, *truth, *live, *filter, *qlog;
    size_t html_events;
    uint64_t count;
    scps_dur time;
    struct scps_trace_config cfg;
};

/* Parses the options of scps_trace into *o; the capture files begin at argv[optind]. Returns -1 to
 * continue; otherwise the exit status, after all messages have been printed. */
int trace_options_parse(struct options *o, int argc, char **argv);
/* Prints the help of scps_trace, which lists all its options, to f (scps_trace --help). */
void trace_print_help(FILE *f);

/* Returns true if connection number n is to be reported: the user has not excluded it, and has
 * either selected it with -o or selected no connections at all. ctx: the struct options. */
bool trace_wanted(void *ctx, uint32_t n);
/* Returns the lowest connection number in the ranges *r, such as those of -o; 0: there are no
 * ranges. */
uint32_t trace_lowest(const struct ranges *r);

#endif
