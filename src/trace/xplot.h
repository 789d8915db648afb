/* SPDX-License-Identifier: MIT */
/* Graphs of a capture that are being drawn: out_xplot.c decides what to draw, xplot.c writes the
 * files. */
#ifndef SCPS_TRACE_XPLOT_H
#define SCPS_TRACE_XPLOT_H

#include <inttypes.h>

#include "trace/flow.h"
#include "trace/plot.h"

struct plot {   /* one graph, which is written to one file */
    char *base; /* path of the file without suffix; NULL: nothing was drawn yet */
    char *title;
    char *buf;
    size_t len, cap;
    enum colour colour;
    bool created;
};

struct side { /* state of one direction of a connection */
    struct plot plot[PLOT_KINDS];
    bool acked, owin_any, tput_any, rtt_any, seg_any, ackgap_any;
    scps_time ack_t, owin_t, tput_t, tput_last, rtt_t, seg_t, pure_t, gap_t, owin_first;
    int64_t ack_y, win_y;
    uint64_t win;
    uint32_t dups;
    uint64_t owin, owin_sum, owin_n;
    uint64_t rwin; /* receive window that this end announced last, octets */
    /* receive window of the opposite end, octets, at time owin_t, the last point drawn in the graph
     * of this direction's outstanding data */
    uint64_t rwin_drawn;
    double owin_area;
    double avg, wavg;
    uint64_t tput_bytes, bytes, pkts;
    uint32_t tput_pkts;
    double tput_inst_y, tput_avg_y;
    double rtt_y, seg_avg, gap_y, gap_sum;
    uint64_t gap_n;
};

struct drawn {
    uint32_t conn;
    char la[8], lb[8];
    scps_time first;
    struct side s[2];
};

struct scps_trace_plots {
    char *dir;
    unsigned what, formats;
    bool (*wanted)(void *ctx, uint32_t conn);
    void *ctx;
    struct drawn **d;
    uint32_t n, cap;
    /* slot[number of a connection] is the connection's index in d, plus 1; 0: not decided yet;
     * UINT32_MAX: the connection is not drawn. */
    uint32_t *slot;
    uint32_t nslot;
    uint64_t skipped; /* number of connections beyond MAX_CONNS, which are not drawn */
    size_t pending;
    int err;
    char err_path[200];
    uint32_t pictures;
};

/* Format and arguments of printf() for a time t, µs, in seconds: printf(TF, T(t)). */
#define T(t) (t) / 1000000, (int)((t) % 1000000)
#define TF   "%" PRId64 ".%06d"

/* Records that writing the file `path` failed, with errno. Only the first error is kept; nothing
 * more is written after it. */
void scps_tr_plots_fail(struct scps_trace_plots *p, const char *path);

/* Returns the graph of this kind (index in scps_tr_plot_kind) for direction dir of connection d,
 * and creates it at the first call. NULL: the kind was not requested, or there is no memory. */
struct plot *scps_tr_plot_begin(struct scps_trace_plots *p, struct drawn *d, int dir, int kind,
                                const struct scps_trace_seen *s);
/* Adds text to the xplot file of graph f, formatted as by printf(). */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void scps_tr_plot_put(struct scps_trace_plots *p, struct plot *f, const char *fmt, ...);
/* Writes the part of the graph that is in memory to its file. */
void scps_tr_plot_flush(struct scps_trace_plots *p, struct plot *f);
void scps_tr_plot_free(struct plot *f, bool remove_xpl);

/* The following functions draw in graph f in colour c; a line that sets the colour is written only
 * when it changes. `where`: place of a text relative to its point: 'a' above, 'b' below, 'r'
 * right. */
void scps_tr_pen_colour(struct scps_trace_plots *p, struct plot *f, enum colour c);
void scps_tr_pen_line(struct scps_trace_plots *p, struct plot *f, enum colour c, scps_time t1,
                      int64_t y1, scps_time t2, int64_t y2);
void scps_tr_pen_curve(struct scps_trace_plots *p, struct plot *f, enum colour c, scps_time t1,
                       double y1, scps_time t2, double y2);
void scps_tr_pen_mark(struct scps_trace_plots *p, struct plot *f, enum colour c, const char *what,
                      scps_time t, int64_t y);
void scps_tr_pen_text(struct scps_trace_plots *p, struct plot *f, enum colour c, char where,
                      scps_time t, int64_t y, const char *words);

#endif
