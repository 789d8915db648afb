/* SPDX-License-Identifier: MIT */
/* Declares types for writing graphs as xplot files, and for converting these to gnuplot. */
#ifndef SCPS_TRACE_PLOT_H
#define SCPS_TRACE_PLOT_H

#include <scps/analyze.h>

/* The colours distinguish the series of a graph, in xplot and in gnuplot. */
enum colour { WHITE, GREEN, RED, BLUE, YELLOW, PURPLE, ORANGE, MAGENTA, PINK, COLOURS };
extern const char *const scps_tr_colour_name[COLOURS];

struct plot_kind {
    unsigned bit;       /* the flag SCPS_PLOT_* of this kind of graph */
    const char *suffix; /* suffix of the file name, such as "tsg" */
    const char *title, *ylabel;
    /* names of the series for the legend, by colour; NULL: none */
    const char *legend[COLOURS];
    /* how gnuplot draws the curves of this kind of graph: `steps`: as steps; `points`: with a point
     * at each value */
    bool steps, points;
};
extern const struct plot_kind scps_tr_plot_kind[];
#define PLOT_KINDS 6

/* Writes s as a string of gnuplot: between single quotes, with each single quote in it doubled. */
void scps_tr_gnuplot_quoted(FILE *f, const char *s);
/* Converts the xplot file BASE.xpl to a gnuplot script BASE.gpl and its data BASE.dat. base: path
 * without suffix; k: kind of graph; title: its title. Returns 0, or -1 with errno set. */
int scps_tr_gnuplot_convert(const char *base, const struct plot_kind *k, const char *title);

#endif
