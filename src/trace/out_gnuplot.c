/* SPDX-License-Identifier: MIT */
/* From an xplot file to a gnuplot script with its data: base.xpl -> base.gpl, base.dat.
 *
 * The data file holds one block a series (a colour's lines, its points, its letters), with seconds since the first
 * mark.  The file is read once for each series instead of being held in memory.  `gnuplot base.gpl` writes
 * base.png; with -e "fmt='svg'" base.svg.
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

/* "sec.usec" in µs */
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
        if (!strcmp(word, tr_colour_name[i]))
            return i;
    return -1;
}

struct series { /* what a first pass finds */
    uint64_t seen[COLOURS][SHAPES];
    double top[COLOURS]; /* highest y */
    double last[COLOURS];
    int64_t t0;
};

/* One pass: writes what has this colour and shape to out, or with out NULL finds which series there are. */
static void pass(FILE *in, FILE *out, int colour, enum shape shape, struct series *f)
{
    char l[256], word[256];
    int cur = -1;
    bool body = false;
    int64_t last_t = 0;
    char last_y[32] = "";
    rewind(in);
    while (fgets(l, sizeof l, in)) {
        l[strcspn(l, "\n")] = '\0';
        if (!body) { /* the header ends with the line after "ylabel" */
            if (!strcmp(l, "ylabel")) {
                if (!fgets(l, sizeof l, in))
                    return;
                body = true;
            }
            continue;
        }
        size_t n = strcspn(l, " ");
        memcpy(word, l, n);
        word[n] = '\0';
        if (!l[n]) {
            int c = colour_of(word);
            if (c >= 0)
                cur = c;
            continue;
        }
        char *e;
        int64_t t = micros(l + n, &e);
        char *y = e + strspn(e, " ");
        bool is_text = n == 5 && !strcmp(word + 1, "text");
        enum shape sh = is_text ? SHAPE_TEXT : !strcmp(word, "line") ? SHAPE_LINES : SHAPE_POINTS;
        char letters[64] = "";
        if (is_text && fgets(letters, sizeof letters, in))
            letters[strcspn(letters, "\n")] = '\0';
        if (cur < 0)
            continue;
        if (!out) {
            if (f->t0 < 0 || t < f->t0)
                f->t0 = t;
            /* arrows and ticks are ends of lines that are drawn anyway */
            if (sh == SHAPE_POINTS && strcmp(word, "dot") != 0)
                continue;
            f->seen[cur][sh]++;
            if (sh == SHAPE_LINES) {
                (void)micros(y + strcspn(y, " "), &e); /* the time of the other end */
                y = e;
            }
            f->last[cur] = strtod(y, NULL);
            if (f->last[cur] > f->top[cur])
                f->top[cur] = f->last[cur];
            continue;
        }
        if (cur != colour || sh != shape || (sh == SHAPE_POINTS && strcmp(word, "dot") != 0))
            continue;
        if (sh == SHAPE_LINES) {
            char y1[32];
            size_t m = strcspn(y, " ");
            snprintf(y1, sizeof y1, "%.*s", (int)(m < 31 ? m : 31), y);
            int64_t t2 = micros(y + m, &e);
            char *y2 = e + strspn(e, " ");
            if (t != last_t || strcmp(y1, last_y) != 0) { /* not the continuation of the last */
                if (last_y[0])
                    fputc('\n', out);
                seconds(out, t - f->t0);
                fprintf(out, " %s\n", y1);
            }
            seconds(out, t2 - f->t0);
            fprintf(out, " %s\n", y2);
            last_t = t2;
            snprintf(last_y, sizeof last_y, "%.31s", y2);
        } else {
            y[strcspn(y, " ")] = '\0';
            seconds(out, t - f->t0);
            if (sh == SHAPE_TEXT)
                fprintf(out, " %s \"%s\"\n", y, letters);
            else
                fprintf(out, " %s\n", y);
        }
    }
}

static void plain(FILE *f, const char *s)
{
    for (; *s; s++) {
        if (*s == '\'')
            fputc('\'', f);
        fputc(*s == '_' ? ' ' : *s, f);
    }
}

static void quoted(FILE *f, const char *s)
{
    fputc('\'', f);
    for (; *s; s++) {
        fputc(*s, f);
        if (*s == '\'')
            fputc('\'', f);
    }
    fputc('\'', f);
}

/* The vertical axis. A window far above the data, as long fat pipes have, would flatten everything: it may leave the
 * picture. Throughput from packet to packet is spiky: decades, when it passes the mean by far. Returns where the window goes. */
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

int tr_gnuplot_convert(const char *base, const struct plot_kind *k, const char *title)
{
    /* letters of one mark beside each other: R left, N right, S above, 3 below */
    static const char *const aside[COLOURS] = {[RED] = " offset -0.9,0",
                                               [BLUE] = " offset 0.9,0",
                                               [PURPLE] = " offset 0,0.6",
                                               [GREEN] = " offset 0,-0.6"};
    struct series found = {.t0 = -1};
    char path[4096];
    int ret = -1, saved;
    FILE *in = NULL, *dat = NULL, *gpl = NULL;
    snprintf(path, sizeof path, "%s.xpl", base);
    if (!(in = fopen(path, "r")))
        goto out;
    snprintf(path, sizeof path, "%s.dat", base);
    if (!(dat = fopen(path, "w")))
        goto out;
    snprintf(path, sizeof path, "%s.gpl", base);
    if (!(gpl = fopen(path, "w")))
        goto out;
    pass(in, NULL, 0, 0, &found);

    fputs("# gnuplot script: writes a PNG, or with -e \"fmt='svg'\" an SVG, beside itself\n"
          "if (!exists('fmt')) fmt = 'png'\n"
          "if (fmt eq 'svg') { set terminal svg size 1400,900 dynamic font 'sans,14' background "
          "'white' } else { set terminal pngcairo size 1400,900 font 'sans,11' }\n"
          "set output ",
          gpl);
    quoted(gpl, base);
    fputs(". '.' . fmt\nset title '", gpl);
    plain(gpl, title);
    fprintf(gpl,
            "' noenhanced\nset xlabel 'time, s'\nset ylabel '%s'\nset format y '%%.1s%%c'\n"
            "set grid lc rgb '#dddddd'\nset key below center horizontal samplen 1.5 maxcols 4\n"
            "set bmargin 6\nset tics nomirror\nset border 3\nset autoscale xfix\n"
            "set offsets graph 0.02, graph 0.02, 0, 0\n",
            k->ylabel);
    const char *beyond = axis(gpl, k, &found);
    int index = 0;
    uint64_t total = 0;
    const char *cont = "plot ";
    for (int c = 0; c < COLOURS; c++)
        for (int s = 0; s < SHAPES; s++) {
            if (!found.seen[c][s])
                continue;
            pass(in, dat, c, (enum shape)s, &found);
            fputs("\n\n", dat);
            const char *legend = k->legend[c];
            fputs(cont, gpl);
            quoted(gpl, base);
            fputs(". '.dat'", gpl);
            bool first_of_colour = s == SHAPE_LINES || !found.seen[c][SHAPE_LINES];
            fprintf(gpl, " index %d using 1:2", index++);
            if (s == SHAPE_TEXT)
                fprintf(gpl, ":3 with labels font ',9'%s textcolor rgb '%s' notitle",
                        aside[c] ? aside[c] : "", rgb[c]);
            else if (s == SHAPE_POINTS)
                fprintf(gpl, " with points pt 7 ps %s lc rgb '%s'",
                        found.seen[c][s] > 20000 ? "0.15" : "0.4", rgb[c]);
            else
                fprintf(gpl, " with %s lw %s lc rgb '%s'",
                        k->steps && c != BLUE && c != GREEN ? "steps" : "lines",
                        c == RED || c == BLUE || c == PURPLE ? "2" : "1.4", rgb[c]);
            if (s != SHAPE_TEXT) {
                if (legend && first_of_colour)
                    fprintf(gpl, " title '%s%s'", legend, c == YELLOW ? beyond : "");
                else
                    fputs(" notitle", gpl);
            }
            cont = ", \\\n     ";
            total += found.seen[c][s];
        }
    if (!total)
        fputs("set yrange [0:1]\nset xrange [0:1]\nplot 0 title 'nothing to draw' lc rgb '#dddddd'",
              gpl);
    fputs("\nset output\n", gpl);
    errno = 0;
    if (!ferror(dat) && !ferror(gpl))
        ret = 0;
out:
    saved = errno;
    if (in)
        fclose(in);
    if (dat && fclose(dat) != 0 && ret == 0) {
        saved = errno;
        ret = -1;
    }
    if (gpl && fclose(gpl) != 0 && ret == 0) {
        saved = errno;
        ret = -1;
    }
    errno = saved;
    return ret;
}
