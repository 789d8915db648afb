/* SPDX-License-Identifier: MIT */
/* Graphs as xplot files, named and drawn as tcptrace does it, with marks for SNACK and for the
 * cause of retransmissions. The other formats (gnuplot, PNG, SVG) are made from these files
 * afterwards.
 *
 * Time-sequence: white data, red retransmissions (R; below it the letter of the cause: n SNACK, s
 * SACK, 3 duplicates, t timeout, p tail probe, f first RTT: resent before the shortest round trip
 * had passed, so that no report can have caused it), pink retransmissions after losses before the
 * capture point, green acknowledgements (3: third duplicate), yellow right edge of the window (Z:
 * zero), purple SACK (S), blue SNACK (N). Outstanding data, four lines: red the present value, blue
 * the mean of the values so far, green their mean weighted by time, yellow the receiver's window.
 *
 * At most MAX_CONNS connections are drawn. xplot.c writes the files.
 */
#define _POSIX_C_SOURCE 200809L /* declares popen() and strdup() */
#include "trace/xplot.h"

#include <stdlib.h>
#include <string.h>

#define MAX_CONNS 2000u
/* number of packets over which the instantaneous throughput is averaged, as in tcptrace */
#define TPUT_PKTS 10u

/* ---- functions that draw the marks of one packet ---- */

static const char *cause_letter(const char *cause)
{
    static const char *const of[][2] = {
#define SCPS_TR_CAUSE(id, name, letter, words) {name, letter},
#include "trace/causes.def"
#undef SCPS_TR_CAUSE
    };

    for (size_t i = 0; cause && i < sizeof of / sizeof *of; i++)
        if (!strcmp(cause, of[i][0]))
            return of[i][1];
    return NULL;
}

static void draw_sent(struct scps_trace_plots *p, struct plot *f, const struct scps_trace_seen *s)
{
    scps_time t = s->pkt->at;
    int64_t y = (int64_t)s->off, e = y + s->len;
    if (s->flags & SCPS_SYN) {
        enum colour c = s->rexmit ? RED : ORANGE;
        scps_tr_pen_mark(p, f, c, "diamond", t, y);
        scps_tr_pen_text(p, f, c, 'a', t, y + 1, s->rexmit ? "R SYN" : "SYN");
        scps_tr_pen_line(p, f, c, t, y, t, y + 1);
        return;
    }
    if (s->len) {
        bool repair = !s->rexmit && s->cause;
        enum colour c = s->rexmit                   ? RED
                        : repair || s->out_of_order ? PINK
                        : s->probe                  ? ORANGE
                                                    : WHITE;
        scps_tr_pen_mark(p, f, c, "darrow", t, y);
        scps_tr_pen_mark(p, f, c, s->flags & SCPS_PSH ? "diamond" : "uarrow", t, e);
        scps_tr_pen_line(p, f, c, t, y, t, e);
        if (s->rexmit || repair)
            scps_tr_pen_text(p, f, c, 'a', t, e, s->hw_dup ? "HD" : s->rexmit ? "R" : "r");
        else if (s->out_of_order)
            scps_tr_pen_text(p, f, c, 'a', t, e, "O");
        if (cause_letter(s->cause))
            scps_tr_pen_text(p, f, c, 'b', t, y, cause_letter(s->cause));
        if (s->probe)
            scps_tr_pen_text(p, f, c, 'b', t, e, "P");
    }
    if (s->flags & SCPS_FIN) {
        scps_tr_pen_mark(p, f, ORANGE, "box", t, e + 1);
        scps_tr_pen_text(p, f, ORANGE, 'a', t, e + 1, s->rexmit ? "R FIN" : "FIN");
        scps_tr_pen_line(p, f, ORANGE, t, e, t, e + 1);
    }
    if (s->flags & SCPS_RST)
        scps_tr_pen_text(p, f, MAGENTA, 'a', t, y, "RST_OUT");
}

static void draw_sacks(struct scps_trace_plots *p, struct plot *f, const struct scps_trace_seen *s)
{
    scps_time t = s->pkt->at;
    int64_t top = INT64_MIN;
    for (uint32_t i = 0; s->opt && i < s->opt_len;) {
        uint8_t kind = s->opt[i];
        if (kind == 0)
            break;
        if (kind == 1) {
            i++;
            continue;
        }
        if (i + 2 > s->opt_len || s->opt[i + 1] < 2 || i + s->opt[i + 1] > s->opt_len)
            break;
        const uint8_t *b = s->opt + i + 2;
        uint32_t n = s->opt[i + 1] - 2u;
        if (kind == SCPS_OPT_SACK)
            for (; n >= 8; b += 8, n -= 8) {
                int64_t l = (int64_t)s->ack_off + (int32_t)(scps_get32(b) - s->ack);
                int64_t r = (int64_t)s->ack_off + (int32_t)(scps_get32(b + 4) - s->ack);
                scps_tr_pen_line(p, f, PURPLE, t, l, t, r);
                scps_tr_pen_mark(p, f, PURPLE, "htick", t, l);
                scps_tr_pen_mark(p, f, PURPLE, "htick", t, r);
                top = SCPS_MAX(top, r);
            }
        i += s->opt[i + 1];
    }
    if (top != INT64_MIN)
        scps_tr_pen_text(p, f, PURPLE, 'a', t, top, "S");
    if (s->snack_to > s->snack_from) {
        scps_tr_pen_line(p, f, BLUE, t, (int64_t)s->snack_from, t, (int64_t)s->snack_to);
        scps_tr_pen_mark(p, f, BLUE, "htick", t, (int64_t)s->snack_from);
        scps_tr_pen_mark(p, f, BLUE, "htick", t, (int64_t)s->snack_to);
        scps_tr_pen_text(p, f, BLUE, 'a', t, (int64_t)s->snack_to, "N");
    }
}

static void draw_ack(struct scps_trace_plots *p, struct plot *f, struct side *o,
                     const struct scps_trace_seen *s)
{
    scps_time t = s->pkt->at;
    int64_t y = (int64_t)s->ack_off, w = y + (int64_t)s->win;
    if (s->flags & SCPS_RST) {
        scps_tr_pen_text(p, f, MAGENTA, 'a', t, y, "RST_IN");
        return;
    }
    if (o->acked) {
        scps_tr_pen_line(p, f, GREEN, o->ack_t, o->ack_y, t, o->ack_y);
        scps_tr_pen_line(p, f, YELLOW, o->ack_t, o->win_y, t, o->win_y);
        if (y != o->ack_y)
            scps_tr_pen_line(p, f, GREEN, t, o->ack_y, t, y);
        else
            scps_tr_pen_mark(p, f, GREEN, "dtick", t, y);
        if (w != o->win_y)
            scps_tr_pen_line(p, f, YELLOW, t, o->win_y, t, w);
        else
            scps_tr_pen_mark(p, f, YELLOW, "utick", t, w);
        o->dups = y == o->ack_y && !s->len && s->win == o->win ? o->dups + 1 : 0;
        if (o->dups == 3)
            scps_tr_pen_text(p, f, GREEN, 'a', t, y, "3");
    }
    if (s->win == 0)
        scps_tr_pen_text(p, f, MAGENTA, 'a', t, w, "Z");
    draw_sacks(p, f, s);
    o->acked = true;
    o->ack_t = t;
    o->ack_y = y;
    o->win_y = w;
    o->win = s->win;
}

static void draw_owin(struct scps_trace_plots *p, struct plot *f, struct side *d,
                      const struct side *o, const struct scps_trace_seen *s)
{
    scps_time t = s->pkt->at;
    if (s->flags & (SCPS_SYN | SCPS_RST) || s->rexmit || s->out_of_order)
        return;
    uint64_t rwin = o->rwin;
    double n = (double)(d->owin_n + 1);
    double avg = (double)(d->owin_sum + s->owin) / n, wavg = 0;
    if (d->owin_any) {
        d->owin_area += (double)d->owin * (double)(t - d->owin_t);
        wavg = t > d->owin_first ? d->owin_area / (double)(t - d->owin_first) : 0;
        scps_tr_pen_curve(p, f, YELLOW, d->owin_t, (double)d->rwin_drawn, t, (double)rwin);
        scps_tr_pen_curve(p, f, RED, d->owin_t, (double)d->owin, t, (double)s->owin);
        scps_tr_pen_curve(p, f, BLUE, d->owin_t, d->avg, t, avg);
        scps_tr_pen_curve(p, f, GREEN, d->owin_t, d->wavg, t, wavg);
    } else {
        d->owin_first = t;
    }
    d->owin_any = true;
    d->owin_t = t;
    d->owin = s->owin;
    d->owin_sum += s->owin;
    d->owin_n++;
    d->avg = avg;
    d->wavg = wavg;
    d->rwin_drawn = rwin;
}

static double per_second(uint64_t bytes, scps_dur t)
{
    return (double)bytes * 1e6 / (double)(t > 0 ? t : 1000);
}

static void draw_tput(struct scps_trace_plots *p, struct plot *f, struct side *d, scps_time first,
                      const struct scps_trace_seen *s)
{
    scps_time t = s->pkt->at;
    if (!d->tput_any) {
        d->tput_any = true;
        d->tput_t = d->tput_last = d->gap_t = t;
        d->tput_bytes = s->len;
        d->tput_pkts = 1;
        return;
    }
    if (d->tput_pkts + 1 >= TPUT_PKTS) {
        double inst = per_second(d->tput_bytes, t - d->tput_t),
               avg = per_second(d->bytes, t - first);
        if (d->tput_avg_y > 0) {
            scps_tr_pen_curve(p, f, RED, d->tput_t, d->tput_inst_y, t, inst);
            scps_tr_pen_curve(p, f, BLUE, d->tput_t, d->tput_avg_y, t, avg);
        }
        d->tput_inst_y = inst;
        d->tput_avg_y = avg;
        d->tput_t = t;
        d->tput_bytes = 0;
        d->tput_pkts = 0;
    }
    scps_tr_pen_mark(p, f, YELLOW, "dot", t, (int64_t)per_second(s->len, t - d->tput_last));
    d->tput_last = t;
    d->tput_pkts++;
    d->tput_bytes += s->len;
}

static void draw_point(struct scps_trace_plots *p, struct plot *f, enum colour c, bool *any,
                       scps_time *t0, double *y0, scps_time t, double y)
{
    if (*any)
        scps_tr_pen_curve(p, f, c, *t0, *y0, t, y);
    scps_tr_pen_colour(p, f, c);
    scps_tr_plot_put(p, f, "dot " TF " %.3f\n", T(t), y);
    *any = true;
    *t0 = t;
    *y0 = y;
}

/* ---- functions that open the graphs of a connection, and draw packets in them ---- */

struct scps_trace_plots *scps_trace_plots_new(const char *dir, unsigned what, unsigned formats,
                                              bool (*wanted)(void *ctx, uint32_t conn), void *ctx)
{
    struct scps_trace_plots *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->dir = strdup(dir ? dir : ".");
    if (!p->dir) {
        free(p);
        return NULL;
    }
    p->what = what;
    p->formats = formats ? formats : SCPS_PLOT_XPLOT;
    p->wanted = wanted;
    p->ctx = ctx;
    return p;
}

static struct drawn *find_plot(struct scps_trace_plots *p, const struct scps_trace_seen *s)
{
    uint32_t n = s->conn;
    if (n >= p->nslot) {
        uint32_t cap = p->nslot ? p->nslot * 2 : 256;
        while (cap <= n)
            cap *= 2;
        uint32_t *v = realloc(p->slot, cap * sizeof *v);
        if (!v)
            return NULL;
        memset(v + p->nslot, 0, (cap - p->nslot) * sizeof *v);
        p->slot = v;
        p->nslot = cap;
    }
    if (p->slot[n] == UINT32_MAX)
        return NULL;
    if (p->slot[n])
        return p->d[p->slot[n] - 1];
    if (p->wanted && !p->wanted(p->ctx, n)) {
        p->slot[n] = UINT32_MAX;
        return NULL;
    }
    if (p->n == MAX_CONNS) {
        p->skipped++;
        p->slot[n] = UINT32_MAX;
        return NULL;
    }
    if (p->n == p->cap) {
        uint32_t cap = p->cap ? p->cap * 2 : 16;
        struct drawn **v = realloc(p->d, cap * sizeof *v);
        if (!v)
            return NULL;
        p->d = v;
        p->cap = cap;
    }
    struct drawn *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->conn = n;
    d->first = s->pkt->at;
    scps_tr_letter((n - 1) * 2ull, d->la);
    scps_tr_letter((n - 1) * 2ull + 1, d->lb);
    p->d[p->n++] = d;
    p->slot[n] = p->n;
    return d;
}

/* Draws the graph of segment sizes: a dot for each segment, and the average so far as a curve. */
static void draw_size(struct scps_trace_plots *p, struct plot *f, struct side *h,
                      const struct scps_trace_seen *s)
{
    scps_time t = s->pkt->at;
    double avg = (double)h->bytes / (double)h->pkts;
    if (h->seg_any)
        scps_tr_pen_curve(p, f, BLUE, h->seg_t, h->seg_avg, t, avg);
    scps_tr_pen_colour(p, f, RED);
    scps_tr_plot_put(p, f, "dot " TF " %" PRIu32 "\n", T(t), s->len);
    h->seg_any = true;
    h->seg_t = t;
    h->seg_avg = avg;
}

/* Draws the graph of gaps between pure acknowledgements: a dot for each, and the average so far as
 * a curve. */
static void draw_ack_gap(struct scps_trace_plots *p, struct plot *f, struct side *h, scps_time t)
{
    double gap = (double)(t - h->pure_t) / 1000;
    h->gap_sum += gap;
    h->gap_n++;
    double avg = h->gap_sum / (double)h->gap_n;
    if (h->ackgap_any)
        scps_tr_pen_curve(p, f, BLUE, h->pure_t, h->gap_y, t, avg);
    scps_tr_pen_colour(p, f, GREEN);
    scps_tr_plot_put(p, f, "dot " TF " %.3f\n", T(t), gap);
    h->ackgap_any = true;
    h->gap_y = avg;
}

void scps_trace_plots_see(struct scps_trace_plots *p, const struct scps_trace_seen *s)
{
    struct drawn *d = find_plot(p, s);
    struct plot *f;
    if (!d || p->err)
        return;
    struct side *h = &d->s[s->b2a], *o = &d->s[!s->b2a];
    scps_time t = s->pkt->at;
    bool any = s->len || (s->flags & (SCPS_SYN | SCPS_FIN | SCPS_RST));
    if (any && (f = scps_tr_plot_begin(p, d, s->b2a, 0, s)))
        draw_sent(p, f, s);
    if ((s->flags & SCPS_ACK) && (f = scps_tr_plot_begin(p, d, !s->b2a, 0, s)))
        draw_ack(p, f, o, s);
    if ((f = scps_tr_plot_begin(p, d, s->b2a, 1, s)))
        draw_owin(p, f, h, o, s);
    h->rwin = s->win;
    if (s->len) {
        h->bytes += s->len;
        h->pkts++;
        if ((f = scps_tr_plot_begin(p, d, s->b2a, 2, s)))
            draw_tput(p, f, h, d->first, s);
        if ((f = scps_tr_plot_begin(p, d, s->b2a, 4, s)))
            draw_size(p, f, h, s);
    }
    if (s->rtt >= 0 && (f = scps_tr_plot_begin(p, d, !s->b2a, 3, s)))
        draw_point(p, f, RED, &o->rtt_any, &o->rtt_t, &o->rtt_y, t, (double)s->rtt / 1000);
    if (!s->len && (s->flags & SCPS_ACK) && !(s->flags & (SCPS_SYN | SCPS_FIN | SCPS_RST))) {
        if (h->pure_t && (f = scps_tr_plot_begin(p, d, s->b2a, 5, s)))
            draw_ack_gap(p, f, h, t);
        h->pure_t = t;
    }
}

/* ---- functions that finish the graphs ---- */

/* Passes the script of graph f to gnuplot, which draws it. *gp: pipe to the gnuplot process that
 * draws all graphs; NULL: it is started now. */
static void draw(struct scps_trace_plots *p, const struct plot *f, FILE **gp)
{
    if (!*gp && !(*gp = popen("gnuplot 2>/dev/null", "w"))) {
        scps_tr_plots_fail(p, "gnuplot");
        return;
    }
    for (int v = 0; v < 2; v++) {
        char path[4096];
        if (!(p->formats & (v ? SCPS_PLOT_SVG : SCPS_PLOT_PNG)))
            continue;
        fprintf(*gp, "reset\nfmt = '%s'\nload ", v ? "svg" : "png");
        snprintf(path, sizeof path, "%s.gpl", f->base);
        scps_tr_gnuplot_quoted(*gp, path);
        fputc('\n', *gp);
    }
}

/* Finishes one graph: writes the rest of its xplot file, and converts it to the other formats that
 * were requested. */
static void conclude(struct scps_trace_plots *p, struct plot *f, const struct plot_kind *k,
                     FILE **gp)
{
    scps_tr_plot_put(p, f, "go\n");
    scps_tr_plot_flush(p, f);
    p->pictures++;
    if (p->err || p->formats == SCPS_PLOT_XPLOT)
        return;
    if (scps_tr_gnuplot_convert(f->base, k, f->title) != 0)
        scps_tr_plots_fail(p, f->base);
    else if (p->formats & (SCPS_PLOT_PNG | SCPS_PLOT_SVG))
        draw(p, f, gp);
}

/* Finishes the graphs of all connections. Returns 0, or an error (SCPS_ERR_*) with one line in
 * msg. */
static int conclude_all(struct scps_trace_plots *p, char msg[SCPS_TRACE_MSGLEN])
{
    int ret = 0;
    FILE *gp = NULL;
    for (uint32_t i = 0; i < p->n; i++)
        for (int d = 0; d < 2; d++)
            for (int k = 0; k < PLOT_KINDS; k++)
                if (p->d[i]->s[d].plot[k].base)
                    conclude(p, &p->d[i]->s[d].plot[k], &scps_tr_plot_kind[k], &gp);
    if (gp && pclose(gp) != 0 && !p->err) {
        snprintf(msg, SCPS_TRACE_MSGLEN,
                 "gnuplot failed (is it installed?): no PNG or SVG; its scripts are there");
        ret = SCPS_ERR_SYSTEM;
    }
    if (p->err) {
        snprintf(msg, SCPS_TRACE_MSGLEN, "%.160s: %s: make room or write elsewhere", p->err_path,
                 strerror(p->err));
        ret = SCPS_ERR_SYSTEM;
    } else if (p->skipped) {
        snprintf(msg, SCPS_TRACE_MSGLEN,
                 "graphs of the first %u connections only, %" PRIu64 " left out: choose with -o",
                 MAX_CONNS, p->skipped);
        ret = SCPS_ERR_SYSTEM;
    }
    return ret;
}

int scps_trace_plots_finish(struct scps_trace_plots *p, char msg[SCPS_TRACE_MSGLEN])
{
    int ret = msg ? conclude_all(p, msg) : 0;
    if (ret == 0)
        ret = (int)p->pictures;
    for (uint32_t i = 0; i < p->n; i++) {
        for (int d = 0; d < 2; d++)
            for (int k = 0; k < PLOT_KINDS; k++)
                scps_tr_plot_free(&p->d[i]->s[d].plot[k], msg && !(p->formats & SCPS_PLOT_XPLOT));
        free(p->d[i]);
    }
    free(p->d);
    free(p->slot);
    free(p->dir);
    free(p);
    return ret;
}
