/* SPDX-License-Identifier: MIT */
/* Converts an xplot file to a gnuplot script with its data: base.xpl to base.gpl and base.dat.
 *
 * A mark is one item of a graph: a line, a point or a letter. The data file has one block for each
 * series (the marks of one of these shapes in one colour), with times in seconds since the first
 * mark. The xplot file is read once for each series instead of being stored in memory. `gnuplot
 * base.gpl` writes base.png; with -e "fmt='svg'" base.svg.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/plot.h"

enum shape { SHAPE_LINES, SHAPE_POINTS, SHAPE_TEXT, SHAPES };

static const char *const rgb[COLOURS] = {
    [WHITE] = "#1a1a1a",  [GREEN] = "#2e8b57",   [RED] = "#d62728",
    [BLUE] = "#1f5fd0",   [YELLOW] = "#d9a400",  [PURPLE] = "#8e44ad",
    [ORANGE] = "#e67e22", [MAGENTA] = "#c2185b", [PINK] = "#e377c2"};

/* Parses a time "seconds.microseconds" at s and returns it in µs. *end: where the text after it
 * begins. */
static int64_t micros(const char *s, char **end)
{
    int64_t v = strtoll(s, end, 10) * 1000000;
    if (**end == '.')
        v += strtoll(*end + 1, end, 10);
    return v;
}

static void seconds(FILE *f, int64_t us)
{
    fprintf(f, "%s%" PRId64 ".%06d", us < 0 ? "-" : "", (us < 0 ? -us : us) / 1000000,
            (int)((us < 0 ? -us : us) % 1000000));
}

static int colour_of(const char *word)
{
    for (int i = 0; i < COLOURS; i++)
        if (!strcmp(word, scps_tr_colour_name[i]))
            return i;
    return -1;
}

/* What the first pass through the xplot file has found, before the second pass writes the data. */
struct series {
    uint64_t seen[COLOURS][SHAPES];
    double top[COLOURS]; /* largest ordinate of each colour */
    double last[COLOURS];
    int64_t t0;
};

/* ---- functions that read the xplot file ---- */

/* One mark, that is, one drawing command of the xplot file: a line, a point or a text of the graph.
 * read_mark() fills in the same structure for one mark after the other. */
struct mark {
    /* index of the mark's colour, which a line of its own in the file sets for all marks that
     * follow, so that read_mark() keeps it from mark to mark; -1: no line has set a colour yet */
    int colour;
    enum shape shape;
    /* true: the mark is a tick or an arrow at the end of a line; the graph shows only the line */
    bool tick;
    int64_t t;
    /* pointer into `line` at the ordinate; if the mark is a line, its other end follows: time,
     * ordinate */
    char *y;
    char line[256], letters[64];
};

/* Begins a pass through the xplot file: skips its header (title and axis labels), which ends with
 * the line after "ylabel", so that read_mark() reads the first drawing command next. Sets *m to no
 * colour. */
static void begin(FILE *in, struct mark *m)
{
    bool label = false;
    m->colour = -1;
    rewind(in);
    while (fgets(m->line, sizeof m->line, in) && !label)
        label = !strcmp(m->line, "ylabel\n");
}

/* Reads the next mark (a line, a point or a text of the graph) of the xplot file into *m. Marks
 * before the first line that sets a colour are left out. Returns false at the end of the file. */
static bool read_mark(FILE *in, struct mark *m)
{
    while (fgets(m->line, sizeof m->line, in)) {
        char *l = m->line, *e;
        l[strcspn(l, "\n")] = '\0';
        size_t n = strcspn(l, " ");
        if (!l[n]) {
            int c = colour_of(l);
            if (c >= 0)
                m->colour = c;
            continue;
        }
        l[n] = '\0'; /* The word before the first blank is the kind of mark. */
        bool is_text = n == 5 && !strcmp(l + 1, "text");
        m->shape = is_text ? SHAPE_TEXT : !strcmp(l, "line") ? SHAPE_LINES : SHAPE_POINTS;
        m->tick = m->shape == SHAPE_POINTS && strcmp(l, "dot") != 0;
        m->t = micros(l + n + 1, &e);
        m->y = e + strspn(e, " ");
        m->letters[0] = '\0';
        if (is_text && fgets(m->letters, sizeof m->letters, in))
            m->letters[strcspn(m->letters, "\n")] = '\0';
        if (m->colour >= 0)
            return true;
    }
    return false;
}

/* Makes the first pass through the xplot file: counts the marks of each series (colour and shape),
 * and finds the first time and the largest ordinates. */
static void survey(FILE *in, struct series *f)
{
    struct mark m;
    for (begin(in, &m); read_mark(in, &m);) {
        if (f->t0 < 0 || m.t < f->t0)
            f->t0 = m.t;
        if (m.tick)
            continue;
        f->seen[m.colour][m.shape]++;
        /* Of a mark that is a line, the ordinate of the second end is used: micros() skips the time
         * of that end, so m.y points at the ordinate. */
        if (m.shape == SHAPE_LINES)
            (void)micros(m.y + strcspn(m.y, " "), &m.y);
        f->last[m.colour] = strtod(m.y, NULL);
        if (f->last[m.colour] > f->top[m.colour])
            f->top[m.colour] = f->last[m.colour];
    }
}

/* ---- functions that write the data file for gnuplot ---- */

struct point {
    int64_t t;
    char y[32];
};

/* Writes mark m, a line, to gnuplot's data file. If m begins at *last, where the line written
 * before ended, it continues the same curve; otherwise it begins another one. Sets *last to the end
 * of m. */
static void put_line(FILE *out, const struct mark *m, int64_t t0, struct point *last)
{
    struct point a = {.t = m->t}, b;
    char *e;
    size_t n = strcspn(m->y, " ");
    snprintf(a.y, sizeof a.y, "%.*s", (int)(n < 31 ? n : 31), m->y);
    b.t = micros(m->y + n, &e);
    snprintf(b.y, sizeof b.y, "%.31s", e + strspn(e, " "));
    if (a.t != last->t || strcmp(a.y, last->y) != 0) {
        if (last->y[0])
            fputc('\n', out);
        seconds(out, a.t - t0);
        fprintf(out, " %s\n", a.y);
    }
    seconds(out, b.t - t0);
    fprintf(out, " %s\n", b.y);
    *last = b;
}

/* Writes to the data file all marks of the xplot file that have this colour and shape, as one block
 * for gnuplot. */
static void put_series(FILE *in, FILE *out, int colour, enum shape shape, int64_t t0)
{
    struct mark m;
    struct point last = {0};
    for (begin(in, &m); read_mark(in, &m);) {
        if (m.colour != colour || m.shape != shape || m.tick)
            continue;
        if (shape == SHAPE_LINES) {
            put_line(out, &m, t0, &last);
            continue;
        }
        m.y[strcspn(m.y, " ")] = '\0';
        seconds(out, m.t - t0);
        if (shape == SHAPE_TEXT)
            fprintf(out, " %s \"%s\"\n", m.y, m.letters);
        else
            fprintf(out, " %s\n", m.y);
    }
    fputs("\n\n", out);
}

/* ---- functions that write the gnuplot script ---- */

static void plain(FILE *f, const char *s)
{
    for (; *s; s++) {
        if (*s == '\'')
            fputc('\'', f);
        fputc(*s == '_' ? ' ' : *s, f);
    }
}

void scps_tr_gnuplot_quoted(FILE *f, const char *s)
{
    fputc('\'', f);
    for (; *s; s++) {
        fputc(*s, f);
        if (*s == '\'')
            fputc('\'', f);
    }
    fputc('\'', f);
}

/* Writes the range of the vertical axis. In graphs of time-sequence and outstanding data the axis
 * ends below the receiver's window if that is more than three times as high as everything else,
 * because it would make the other curves flat; then the function returns text to append to the
 * window's name in the legend, otherwise "". The axis of a throughput graph is logarithmic if a
 * value is more than 20 times the mean. */
static const char *axis(FILE *gpl, const struct plot_kind *k, const struct series *f)
{
    double top = 0;
    for (int c = 0; c < COLOURS; c++)
        if (c != YELLOW && f->top[c] > top)
            top = f->top[c];
    bool window = k->bit == SCPS_PLOT_TSG || k->bit == SCPS_PLOT_OWIN;
    if (window && top > 0 && f->top[YELLOW] > 3 * top) {
        fprintf(gpl, "set yrange [0:%.0f]\n", 1.1 * top);
        return " (above the picture)";
    }
    double mean = f->last[BLUE];
    if (k->bit == SCPS_PLOT_TPUT && mean > 0 && (top > 20 * mean || f->top[YELLOW] > 20 * mean))
        fprintf(gpl, "set logscale y\nset yrange [%.0f:*]\n", mean > 100 ? mean / 100 : 1);
    else
        fprintf(gpl, "set yrange [%s:*]\n", k->bit == SCPS_PLOT_TSG ? "*" : "0");
    return "";
}

static void preamble(FILE *gpl, const char *base, const struct plot_kind *k, const char *title)
{
    fputs("# gnuplot script: writes a PNG, or with -e \"fmt='svg'\" an SVG, beside itself\n"
          "if (!exists('fmt')) fmt = 'png'\n"
          "if (fmt eq 'svg') { set terminal svg size 1400,900 dynamic font 'sans,14' background "
          "'white' } else { set terminal pngcairo size 1400,900 font 'sans,11' }\n"
          "set output ",
          gpl);
    scps_tr_gnuplot_quoted(gpl, base);
    fputs(". '.' . fmt\nset title '", gpl);
    plain(gpl, title);
    fprintf(gpl,
            "' noenhanced\nset xlabel 'time, s'\nset ylabel '%s'\nset format y '%%.1s%%c'\n"
            "set grid lc rgb '#dddddd'\nset key below center horizontal samplen 1.5 maxcols 4\n"
            "set bmargin 6\nset tics nomirror\nset border 3\nset autoscale xfix\n"
            "set offsets graph 0.02, graph 0.02, 0, 0\n",
            k->ylabel);
}

/* Writes to the gnuplot script how the series of colour c and shape s is drawn. beyond: text to
 * append to the name of the receiver's window in the legend; "": none. */
static void style(FILE *gpl, const struct plot_kind *k, const struct series *f, int c, int s,
                  const char *beyond)
{
    /* Where a text is drawn relative to its point, by the colour of the text, in gnuplot's form:
     * left of it for red (R: retransmission), right for blue (N: SNACK), above for purple (S:
     * SACK), below for green (3: third duplicate acknowledgement); other colours: centred. */
    static const char *const aside[COLOURS] = {[RED] = " offset -0.9,0",
                                               [BLUE] = " offset 0.9,0",
                                               [PURPLE] = " offset 0,0.6",
                                               [GREEN] = " offset 0,-0.6"};
    if (s == SHAPE_TEXT) {
        fprintf(gpl, ":3 with labels font ',9'%s textcolor rgb '%s' notitle",
                aside[c] ? aside[c] : "", rgb[c]);
        return;
    }
    if (s == SHAPE_POINTS)
        fprintf(gpl, " with points pt 7 ps %s lc rgb '%s'", f->seen[c][s] > 20000 ? "0.15" : "0.4",
                rgb[c]);
    else
        fprintf(gpl, " with %s lw %s lc rgb '%s'",
                k->steps && c != BLUE && c != GREEN ? "steps" : "lines",
                c == RED || c == BLUE || c == PURPLE ? "2" : "1.4", rgb[c]);
    bool first_of_colour = s == SHAPE_LINES || !f->seen[c][SHAPE_LINES];
    if (k->legend[c] && first_of_colour)
        fprintf(gpl, " title '%s%s'", k->legend[c], c == YELLOW ? beyond : "");
    else
        fputs(" notitle", gpl);
}

/* Writes the marks of every series to gnuplot's data file, and the command that draws them to the
 * script. */
static void curves(FILE *in, FILE *dat, FILE *gpl, const char *base, const struct plot_kind *k,
                   const struct series *f)
{
    const char *beyond = axis(gpl, k, f);
    int index = 0;
    for (int c = 0; c < COLOURS; c++)
        for (int s = 0; s < SHAPES; s++) {
            if (!f->seen[c][s])
                continue;
            put_series(in, dat, c, (enum shape)s, f->t0);
            fputs(index ? ", \\\n     " : "plot ", gpl);
            scps_tr_gnuplot_quoted(gpl, base);
            fprintf(gpl, ". '.dat' index %d using 1:2", index++);
            style(gpl, k, f, c, s, beyond);
        }
    if (!index)
        fputs("set yrange [0:1]\nset xrange [0:1]\nplot 0 title 'nothing to draw' lc rgb '#dddddd'",
              gpl);
    fputs("\nset output\n", gpl);
}

/* ---- the function that converts one xplot file to a gnuplot script and its data ---- */

static FILE *open_beside(const char *base, const char *suffix, const char *mode)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.%s", base, suffix);
    return fopen(path, mode);
}

int scps_tr_gnuplot_convert(const char *base, const struct plot_kind *k, const char *title)
{
    struct series found = {.t0 = -1};
    int ret = -1, saved;
    FILE *in = open_beside(base, "xpl", "r");
    FILE *out[2] = {NULL, NULL}; /* [0]: the data file; [1]: the script */
    if (in && (out[0] = open_beside(base, "dat", "w")) &&
        (out[1] = open_beside(base, "gpl", "w"))) {
        survey(in, &found);
        preamble(out[1], base, k, title);
        curves(in, out[0], out[1], base, k, &found);
        errno = 0;
        ret = ferror(out[0]) || ferror(out[1]) ? -1 : 0;
    }
    saved = errno;
    if (in)
        fclose(in);
    for (int i = 0; i < 2; i++)
        if (out[i] && fclose(out[i]) != 0 && ret == 0) {
            saved = errno;
            ret = -1;
        }
    errno = saved;
    return ret;
}
