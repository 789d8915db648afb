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

/* One pass: writes what has this colour and shape to out, or with out NULL finds which series there are. */
static void pass(FILE *in, FILE *out, int colour, enum shape shape, int64_t *t0,
                 uint64_t seen[COLOURS][SHAPES])
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
            if (*t0 < 0 || t < *t0)
                *t0 = t;
            /* arrows and ticks are ends of lines that are drawn anyway */
            if (sh != SHAPE_POINTS || !strcmp(word, "dot"))
                seen[cur][sh]++;
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
                seconds(out, t - *t0);
                fprintf(out, " %s\n", y1);
            }
            seconds(out, t2 - *t0);
            fprintf(out, " %s\n", y2);
            last_t = t2;
            snprintf(last_y, sizeof last_y, "%.31s", y2);
        } else {
            y[strcspn(y, " ")] = '\0';
            seconds(out, t - *t0);
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

int tr_gnuplot_convert(const char *base, const struct plot_kind *k, const char *title)
{
    uint64_t seen[COLOURS][SHAPES] = {0};
    char path[4096];
    int64_t t0 = -1;
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
    pass(in, NULL, 0, 0, &t0, seen);

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
            "set grid lc rgb '#dddddd'\nset key outside below horizontal\nset tics nomirror\n"
            "set border 3\nset yrange [%s:*]\n",
            k->ylabel, k->bit == SCPS_PLOT_TSG ? "*" : "0");
    /* far below the data the window of a long fat pipe would flatten everything: leave that to the reader */
    int index = 0;
    uint64_t total = 0;
    const char *cont = "plot ";
    for (int c = 0; c < COLOURS; c++)
        for (int s = 0; s < SHAPES; s++) {
            if (!seen[c][s])
                continue;
            pass(in, dat, c, (enum shape)s, &t0, seen);
            fputs("\n\n", dat);
            const char *legend = k->legend[c];
            fputs(cont, gpl);
            quoted(gpl, base);
            fputs(". '.dat'", gpl);
            bool first_of_colour = s == SHAPE_LINES || !seen[c][SHAPE_LINES];
            fprintf(gpl, " index %d using 1:2", index++);
            if (s == SHAPE_TEXT)
                fprintf(gpl, ":3 with labels font ',8' textcolor rgb '%s' notitle", rgb[c]);
            else if (s == SHAPE_POINTS)
                fprintf(gpl, " with points pt 7 ps %s lc rgb '%s'",
                        seen[c][s] > 20000 ? "0.15" : "0.4", rgb[c]);
            else
                fprintf(gpl, " with %s lw %s lc rgb '%s'",
                        k->steps && c != BLUE && c != GREEN ? "steps" : "lines",
                        c == RED || c == BLUE || c == PURPLE ? "2" : "1.4", rgb[c]);
            if (s != SHAPE_TEXT) {
                if (legend && first_of_colour)
                    fprintf(gpl, " title '%s'", legend);
                else
                    fputs(" notitle", gpl);
            }
            cont = ", \\\n     ";
            total += seen[c][s];
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
