/* SPDX-License-Identifier: MIT */
/* Writes xplot files. A file is open only while its buffer is written, so any number of files may
 * be in progress; at most MAX_PENDING bytes of all files together wait in memory to be written. */
#define _POSIX_C_SOURCE 200809L /* declares strdup() */
#include "trace/xplot.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER      (32u << 10)
#define MAX_PENDING (64u << 20)

void scps_tr_plots_fail(struct scps_trace_plots *p, const char *path)
{
    if (!p->err) {
        p->err = errno ? errno : EIO;
        snprintf(p->err_path, sizeof p->err_path, "%.190s", path);
    }
}

void scps_tr_plot_flush(struct scps_trace_plots *p, struct plot *f)
{
    char path[4096];
    if (!f->base || !f->len || p->err)
        goto done;
    snprintf(path, sizeof path, "%s.xpl", f->base);
    errno = 0;
    FILE *out = fopen(path, f->created ? "a" : "w");
    if (!out) {
        scps_tr_plots_fail(p, path);
        goto done;
    }
    f->created = true;
    fwrite(f->buf, 1, f->len, out);
    if (ferror(out))
        scps_tr_plots_fail(p, path);
    if (fclose(out) != 0)
        scps_tr_plots_fail(p, path);
done:
    p->pending -= f->len;
    f->len = 0;
}

static void flush_all(struct scps_trace_plots *p)
{
    for (uint32_t i = 0; i < p->n; i++)
        for (int d = 0; d < 2; d++)
            for (int k = 0; k < PLOT_KINDS; k++) {
                struct plot *f = &p->d[i]->s[d].plot[k];
                scps_tr_plot_flush(p, f);
                free(f->buf);
                f->buf = NULL;
                f->cap = 0;
            }
}

void scps_tr_plot_put(struct scps_trace_plots *p, struct plot *f, const char *fmt, ...)
{
    va_list ap;
    if (f->len + 512 > f->cap) {
        if (f->cap >= BUFFER) {
            scps_tr_plot_flush(p, f);
        } else {
            size_t cap = f->cap ? f->cap * 4 : 2048;
            char *b = realloc(f->buf, cap);
            if (!b) {
                scps_tr_plot_flush(p, f);
                if (!f->cap)
                    return;
            } else {
                f->buf = b;
                f->cap = cap;
            }
        }
    }
    va_start(ap, fmt);
    int n = vsnprintf(f->buf + f->len, f->cap - f->len, fmt, ap);
    va_end(ap);
    if (n > 0) {
        size_t add = SCPS_MIN((size_t)n, f->cap - f->len - 1);
        f->len += add;
        p->pending += add;
    }
    if (p->pending > MAX_PENDING)
        flush_all(p);
}

struct plot *scps_tr_plot_begin(struct scps_trace_plots *p, struct drawn *d, int dir, int kind,
                                const struct scps_trace_seen *s)
{
    struct plot *f = &d->s[dir].plot[kind];
    const struct plot_kind *k = &scps_tr_plot_kind[kind];
    if (!(p->what & k->bit))
        return NULL;
    if (f->base)
        return f;
    char base[4096], title[256], src[SCPS_ADDR_STRLEN], dst[SCPS_ADDR_STRLEN];
    bool from_src = s->b2a == (dir == 1);
    const struct scps_endpoint *a = from_src ? &s->src : &s->dst, *b = from_src ? &s->dst : &s->src;
    snprintf(base, sizeof base, "%s/%s2%s_%s", p->dir, dir ? d->lb : d->la, dir ? d->la : d->lb,
             k->suffix);
    snprintf(title, sizeof title, "%s:%u_==>_%s:%u (%s)", scps_addr_format(&a->addr, src), a->port,
             scps_addr_format(&b->addr, dst), b->port, k->title);
    f->base = strdup(base);
    f->title = strdup(title);
    if (!f->base || !f->title) {
        free(f->base);
        f->base = NULL;
        return NULL;
    }
    f->colour = COLOURS;
    scps_tr_plot_put(p, f, "timeval %s\ntitle\n%s\nxlabel\ntime\nylabel\n%s\n",
                     k->bit & (SCPS_PLOT_RTT | SCPS_PLOT_ACKS) ? "double" : "unsigned", title,
                     k->ylabel);
    return f;
}

void scps_tr_pen_colour(struct scps_trace_plots *p, struct plot *f, enum colour c)
{
    if (f->colour != c) {
        f->colour = c;
        scps_tr_plot_put(p, f, "%s\n", scps_tr_colour_name[c]);
    }
}

void scps_tr_pen_line(struct scps_trace_plots *p, struct plot *f, enum colour c, scps_time t1,
                      int64_t y1, scps_time t2, int64_t y2)
{
    scps_tr_pen_colour(p, f, c);
    scps_tr_plot_put(p, f, "line " TF " %" PRId64 " " TF " %" PRId64 "\n", T(t1), y1, T(t2), y2);
}

void scps_tr_pen_curve(struct scps_trace_plots *p, struct plot *f, enum colour c, scps_time t1,
                       double y1, scps_time t2, double y2)
{
    scps_tr_pen_colour(p, f, c);
    scps_tr_plot_put(p, f, "line " TF " %.3f " TF " %.3f\n", T(t1), y1, T(t2), y2);
}

void scps_tr_pen_mark(struct scps_trace_plots *p, struct plot *f, enum colour c, const char *what,
                      scps_time t, int64_t y)
{
    scps_tr_pen_colour(p, f, c);
    scps_tr_plot_put(p, f, "%s " TF " %" PRId64 "\n", what, T(t), y);
}

void scps_tr_pen_text(struct scps_trace_plots *p, struct plot *f, enum colour c, char where,
                      scps_time t, int64_t y, const char *words)
{
    scps_tr_pen_colour(p, f, c);
    scps_tr_plot_put(p, f, "%ctext " TF " %" PRId64 "\n%s\n", where, T(t), y, words);
}

void scps_tr_plot_free(struct plot *f, bool remove_xpl)
{
    if (remove_xpl && f->base) {
        char path[4096];
        snprintf(path, sizeof path, "%s.xpl", f->base);
        remove(path);
    }
    free(f->base);
    free(f->title);
    free(f->buf);
}
