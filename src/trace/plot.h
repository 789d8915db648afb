/* SPDX-License-Identifier: MIT */
/* Types for writing xplot files, and for translating them for gnuplot. */
#ifndef SCPS_TRACE_PLOT_H
#define SCPS_TRACE_PLOT_H

#include <scps/analyze.h>

/* Colours distinguish the series of a picture, in xplot and in the translation. */
enum colour { WHITE, GREEN, RED, BLUE, YELLOW, PURPLE, ORANGE, MAGENTA, PINK, COLOURS };
extern const char *const scps_tr_colour_name[COLOURS];

struct plot_kind {
    unsigned bit;       /* SCPS_PLOT_* */
    const char *suffix; /* "tsg" */
    const char *title, *ylabel;
    /* name of the series of each colour; NULL: the colour is not used */
    const char *legend[COLOURS];
    bool steps, points; /* how gnuplot draws curves */
};
extern const struct plot_kind scps_tr_plot_kind[];
#define PLOT_KINDS 6

/* Writes s between gnuplot's single quotes. */
void scps_tr_gnuplot_quoted(FILE *f, const char *s);
/* Writes base.gpl and base.dat from base.xpl. Returns 0, or -1 with errno. */
int scps_tr_gnuplot_convert(const char *base, const struct plot_kind *k, const char *title);

#endif
