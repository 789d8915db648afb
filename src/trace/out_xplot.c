/* SPDX-License-Identifier: MIT */
/* Graphs as xplot files, named and drawn as tcptrace draws them, with marks for SNACK and for why a segment was sent
 * again.  Everything else (gnuplot, PNG, SVG) is made from these files afterwards.
 *
 * Time-sequence: white data, red resent (R; the letter of its cause below it: n SNACK, s SACK, 3 duplicates, t
 * timeout, p tail probe, f first RTT), pink repairs of losses that happened before the capture point, green
 * acknowledgements (3: third duplicate), yellow right edge of the window (Z: zero), purple SACK (S), blue SNACK (N).
 * Outstanding data: the four lines of the published figures: red now, blue average, green weighted average,
 * yellow the receiver's window.
 *
 * A file is open only while a buffer of it is written, so any number may be in progress; at most MAX_PENDING bytes
 * wait in memory, and at most MAX_CONNS connections are drawn.
 */
#define _POSIX_C_SOURCE 200809L /* popen, strdup */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "trace/flow.h"
#include "trace/plot.h"

#define BUFFER      (32u << 10)
#define MAX_PENDING (64u << 20)
#define MAX_CONNS   2000u
#define TPUT_PKTS   10u /* of tcptrace: packets an instantaneous value is averaged over */

const char *const scps_tr_colour_name[COLOURS] = {"white",  "green",  "red",     "blue", "yellow",
                                                  "purple", "orange", "magenta", "pink"};

const struct plot_kind scps_tr_plot_kind[PLOT_KINDS] = {
    {.bit = SCPS_PLOT_TSG,
     .suffix = "tsg",
     .title = "time sequence graph",
     .ylabel = "sequence offset, bytes",
     .legend = {[WHITE] = "data",
                [GREEN] = "acknowledged",
                [RED] = "sent again",
                [BLUE] = "SNACK",
                [YELLOW] = "window",
                [PURPLE] = "SACK",
                [ORANGE] = "SYN, FIN, probe",
                [PINK] = "repair, out of order"}},
    {.bit = SCPS_PLOT_OWIN,
     .suffix = "owin",
     .title = "outstanding data",
     .ylabel = "outstanding data, bytes",
     .legend = {[RED] = "outstanding",
                [BLUE] = "average",
                [GREEN] = "weighted average",
                [YELLOW] = "receiver window"},
     .steps = true},
    {.bit = SCPS_PLOT_TPUT,
     .suffix = "tput",
     .title = "throughput",
     .ylabel = "throughput, bytes/s",
     .legend = {[RED] = "over 10 packets",
                [BLUE] = "since the beginning",
                [YELLOW] = "packet by packet"}},
    {.bit = SCPS_PLOT_RTT,
     .suffix = "rtt",
     .title = "round-trip time samples",
     .ylabel = "round trip, ms",
     .legend = {[RED] = "samples"},
     .points = true},
    {.bit = SCPS_PLOT_SEGS,
     .suffix = "ssize",
     .title = "segment size",
     .ylabel = "segment size, bytes",
     .legend = {[RED] = "segment", [BLUE] = "average"}},
    {.bit = SCPS_PLOT_ACKS,
     .suffix = "acks",
     .title = "ACK spacing",
     .ylabel = "time since the last pure ACK, ms",
     .legend = {[GREEN] = "ACK", [BLUE] = "average"},
     .points = true},
};

struct plot {
    char *base; /* path without suffix; NULL: nothing drawn yet */
    char *title;
    char *buf;
    size_t len, cap;
    enum colour colour;
    bool created;
};

struct side { /* one direction of a connection */
    struct plot plot[PLOT_KINDS];
    bool acked, owin_any, tput_any, rtt_any, seg_any, ackgap_any;
    scps_time ack_t, owin_t, tput_t, tput_last, rtt_t, seg_t, pure_t, gap_t, owin_first;
    int64_t ack_y, win_y;
    uint64_t win;
    uint32_t dups;
    uint64_t owin, owin_sum, owin_n;
    uint64_t rwin;       /* the window this side offers */
    uint64_t rwin_drawn; /* the other side's, at the last point */
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
    uint32_t
        *slot; /* by connection number: index + 1 in d; 0: not looked at; UINT32_MAX: not wanted */
    uint32_t nslot;
    uint64_t skipped; /* connections beyond MAX_CONNS */
    size_t pending;
    int err;
    char err_path[200];
    uint32_t pictures;
};

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

/* ---- files ------------------------------------------------------------------------------------------------ */

static void fail(struct scps_trace_plots *p, const char *path)
{
    if (!p->err) {
        p->err = errno ? errno : EIO;
        snprintf(p->err_path, sizeof p->err_path, "%.190s", path);
    }
}

static void flush(struct scps_trace_plots *p, struct plot *f)
{
    char path[4096];
    if (!f->base || !f->len || p->err)
        goto done;
    snprintf(path, sizeof path, "%s.xpl", f->base);
    errno = 0;
    FILE *out = fopen(path, f->created ? "a" : "w");
    if (!out) {
        fail(p, path);
        goto done;
    }
    f->created = true;
    fwrite(f->buf, 1, f->len, out);
    if (ferror(out))
        fail(p, path);
    if (fclose(out) != 0)
        fail(p, path);
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
                flush(p, f);
                free(f->buf);
                f->buf = NULL;
                f->cap = 0;
            }
}

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static void
put(struct scps_trace_plots *p, struct plot *f, const char *fmt, ...)
{
    va_list ap;
    if (f->len + 512 > f->cap) {
        if (f->cap >= BUFFER) {
            flush(p, f);
        } else {
            size_t cap = f->cap ? f->cap * 4 : 2048;
            char *b = realloc(f->buf, cap);
            if (!b) {
                flush(p, f);
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

static struct plot *begin(struct scps_trace_plots *p, struct drawn *d, int dir, int kind,
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
    put(p, f, "timeval %s\ntitle\n%s\nxlabel\ntime\nylabel\n%s\n",
        k->bit & (SCPS_PLOT_RTT | SCPS_PLOT_ACKS) ? "double" : "unsigned", title, k->ylabel);
    return f;
}

static void colour(struct scps_trace_plots *p, struct plot *f, enum colour c)
{
    if (f->colour != c) {
        f->colour = c;
        put(p, f, "%s\n", scps_tr_colour_name[c]);
    }
}

#define T(t) (t) / 1000000, (int)((t) % 1000000)
#define TF   "%" PRId64 ".%06d"

static void line(struct scps_trace_plots *p, struct plot *f, enum colour c, scps_time t1,
                 int64_t y1, scps_time t2, int64_t y2)
{
    colour(p, f, c);
    put(p, f, "line " TF " %" PRId64 " " TF " %" PRId64 "\n", T(t1), y1, T(t2), y2);
}

static void curve(struct scps_trace_plots *p, struct plot *f, enum colour c, scps_time t1,
                  double y1, scps_time t2, double y2)
{
    colour(p, f, c);
    put(p, f, "line " TF " %.3f " TF " %.3f\n", T(t1), y1, T(t2), y2);
}

static void mark(struct scps_trace_plots *p, struct plot *f, enum colour c, const char *what,
                 scps_time t, int64_t y)
{
    colour(p, f, c);
    put(p, f, "%s " TF " %" PRId64 "\n", what, T(t), y);
}

/* where: 'a' above, 'b' below, 'r' right */
static void text(struct scps_trace_plots *p, struct plot *f, enum colour c, char where, scps_time t,
                 int64_t y, const char *words)
{
    colour(p, f, c);
    put(p, f, "%ctext " TF " %" PRId64 "\n%s\n", where, T(t), y, words);
}

/* ---- drawing ------------------------------------------------------------------------------------------------- */

static const char *cause_letter(const char *cause)
{
    static const char *const of[][2] = {{"snack", "n"},   {"sack", "s"},       {"dupack", "3"},
                                        {"timeout", "t"}, {"tail_probe", "p"}, {"first_rtt", "f"}};
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
        mark(p, f, c, "diamond", t, y);
        text(p, f, c, 'a', t, y + 1, s->rexmit ? "R SYN" : "SYN");
        line(p, f, c, t, y, t, y + 1);
        return;
    }
    if (s->len) {
        bool repair = !s->rexmit && s->cause;
        enum colour c = s->rexmit                   ? RED
                        : repair || s->out_of_order ? PINK
                        : s->probe                  ? ORANGE
                                                    : WHITE;
        mark(p, f, c, "darrow", t, y);
        mark(p, f, c, s->flags & SCPS_PSH ? "diamond" : "uarrow", t, e);
        line(p, f, c, t, y, t, e);
        if (s->rexmit || repair)
            text(p, f, c, 'a', t, e, s->hw_dup ? "HD" : s->rexmit ? "R" : "r");
        else if (s->out_of_order)
            text(p, f, c, 'a', t, e, "O");
        if (cause_letter(s->cause))
            text(p, f, c, 'b', t, y, cause_letter(s->cause));
        if (s->probe)
            text(p, f, c, 'b', t, e, "P");
    }
    if (s->flags & SCPS_FIN) {
        mark(p, f, ORANGE, "box", t, e + 1);
        text(p, f, ORANGE, 'a', t, e + 1, s->rexmit ? "R FIN" : "FIN");
        line(p, f, ORANGE, t, e, t, e + 1);
    }
    if (s->flags & SCPS_RST)
        text(p, f, MAGENTA, 'a', t, y, "RST_OUT");
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
                line(p, f, PURPLE, t, l, t, r);
                mark(p, f, PURPLE, "htick", t, l);
                mark(p, f, PURPLE, "htick", t, r);
                top = SCPS_MAX(top, r);
            }
        i += s->opt[i + 1];
    }
    if (top != INT64_MIN)
        text(p, f, PURPLE, 'a', t, top, "S");
    if (s->snack_to > s->snack_from) {
        line(p, f, BLUE, t, (int64_t)s->snack_from, t, (int64_t)s->snack_to);
        mark(p, f, BLUE, "htick", t, (int64_t)s->snack_from);
        mark(p, f, BLUE, "htick", t, (int64_t)s->snack_to);
        text(p, f, BLUE, 'a', t, (int64_t)s->snack_to, "N");
    }
}

static void draw_ack(struct scps_trace_plots *p, struct plot *f, struct side *o,
                     const struct scps_trace_seen *s)
{
    scps_time t = s->pkt->at;
    int64_t y = (int64_t)s->ack_off, w = y + (int64_t)s->win;
    if (s->flags & SCPS_RST) {
        text(p, f, MAGENTA, 'a', t, y, "RST_IN");
        return;
    }
    if (o->acked) {
        line(p, f, GREEN, o->ack_t, o->ack_y, t, o->ack_y);
        line(p, f, YELLOW, o->ack_t, o->win_y, t, o->win_y);
        if (y != o->ack_y)
            line(p, f, GREEN, t, o->ack_y, t, y);
        else
            mark(p, f, GREEN, "dtick", t, y);
        if (w != o->win_y)
            line(p, f, YELLOW, t, o->win_y, t, w);
        else
            mark(p, f, YELLOW, "utick", t, w);
        o->dups = y == o->ack_y && !s->len && s->win == o->win ? o->dups + 1 : 0;
        if (o->dups == 3)
            text(p, f, GREEN, 'a', t, y, "3");
    }
    if (s->win == 0)
        text(p, f, MAGENTA, 'a', t, w, "Z");
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
        curve(p, f, YELLOW, d->owin_t, (double)d->rwin_drawn, t, (double)rwin);
        curve(p, f, RED, d->owin_t, (double)d->owin, t, (double)s->owin);
        curve(p, f, BLUE, d->owin_t, d->avg, t, avg);
        curve(p, f, GREEN, d->owin_t, d->wavg, t, wavg);
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
            curve(p, f, RED, d->tput_t, d->tput_inst_y, t, inst);
            curve(p, f, BLUE, d->tput_t, d->tput_avg_y, t, avg);
        }
        d->tput_inst_y = inst;
        d->tput_avg_y = avg;
        d->tput_t = t;
        d->tput_bytes = 0;
        d->tput_pkts = 0;
    }
    mark(p, f, YELLOW, "dot", t, (int64_t)per_second(s->len, t - d->tput_last));
    d->tput_last = t;
    d->tput_pkts++;
    d->tput_bytes += s->len;
}

static void draw_point(struct scps_trace_plots *p, struct plot *f, enum colour c, bool *any,
                       scps_time *t0, double *y0, scps_time t, double y)
{
    if (*any)
        curve(p, f, c, *t0, *y0, t, y);
    colour(p, f, c);
    put(p, f, "dot " TF " %.3f\n", T(t), y);
    *any = true;
    *t0 = t;
    *y0 = y;
}

static struct drawn *find(struct scps_trace_plots *p, const struct scps_trace_seen *s)
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

void scps_trace_plots_see(struct scps_trace_plots *p, const struct scps_trace_seen *s)
{
    struct drawn *d = find(p, s);
    struct plot *f;
    if (!d || p->err)
        return;
    struct side *h = &d->s[s->b2a], *o = &d->s[!s->b2a];
    scps_time t = s->pkt->at;
    bool any = s->len || (s->flags & (SCPS_SYN | SCPS_FIN | SCPS_RST));
    if (any && (f = begin(p, d, s->b2a, 0, s)))
        draw_sent(p, f, s);
    if ((s->flags & SCPS_ACK) && (f = begin(p, d, !s->b2a, 0, s)))
        draw_ack(p, f, o, s);
    if ((f = begin(p, d, s->b2a, 1, s)))
        draw_owin(p, f, h, o, s);
    h->rwin = s->win;
    if (s->len) {
        h->bytes += s->len;
        h->pkts++;
        if ((f = begin(p, d, s->b2a, 2, s)))
            draw_tput(p, f, h, d->first, s);
        if ((f = begin(p, d, s->b2a, 4, s))) {
            double avg = (double)h->bytes / (double)h->pkts;
            if (h->seg_any)
                curve(p, f, BLUE, h->seg_t, h->seg_avg, t, avg);
            colour(p, f, RED);
            put(p, f, "dot " TF " %" PRIu32 "\n", T(t), s->len);
            h->seg_any = true;
            h->seg_t = t;
            h->seg_avg = avg;
        }
    }
    if (s->rtt >= 0 && (f = begin(p, d, !s->b2a, 3, s)))
        draw_point(p, f, RED, &o->rtt_any, &o->rtt_t, &o->rtt_y, t, (double)s->rtt / 1000);
    if (!s->len && (s->flags & SCPS_ACK) && !(s->flags & (SCPS_SYN | SCPS_FIN | SCPS_RST))) {
        if (h->pure_t && (f = begin(p, d, s->b2a, 5, s))) {
            double gap = (double)(t - h->pure_t) / 1000;
            h->gap_sum += gap;
            h->gap_n++;
            double avg = h->gap_sum / (double)h->gap_n;
            if (h->ackgap_any)
                curve(p, f, BLUE, h->pure_t, h->gap_y, t, avg);
            colour(p, f, GREEN);
            put(p, f, "dot " TF " %.3f\n", T(t), gap);
            h->ackgap_any = true;
            h->gap_y = avg;
        }
        h->pure_t = t;
    }
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

/* Has gnuplot draw the pictures of a script. *gp: the one gnuplot that draws them all, begun when first needed. */
static void draw(struct scps_trace_plots *p, const struct plot *f, FILE **gp)
{
    if (!*gp && !(*gp = popen("gnuplot 2>/dev/null", "w"))) {
        fail(p, "gnuplot");
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

/* The end of one plot, in every format asked for. */
static void conclude(struct scps_trace_plots *p, struct plot *f, const struct plot_kind *k,
                     FILE **gp)
{
    put(p, f, "go\n");
    flush(p, f);
    p->pictures++;
    if (p->err || p->formats == SCPS_PLOT_XPLOT)
        return;
    if (scps_tr_gnuplot_convert(f->base, k, f->title) != 0)
        fail(p, f->base);
    else if (p->formats & (SCPS_PLOT_PNG | SCPS_PLOT_SVG))
        draw(p, f, gp);
}

/* Concludes what was begun. Returns 0, or an error with its one line in msg. */
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
        snprintf(msg, SCPS_TRACE_MSGLEN, "%.160s: %s", p->err_path, strerror(p->err));
        ret = SCPS_ERR_SYSTEM;
    } else if (p->skipped) {
        snprintf(msg, SCPS_TRACE_MSGLEN,
                 "graphs of the first %u connections only, %" PRIu64 " left out: choose with -o",
                 MAX_CONNS, p->skipped);
        ret = SCPS_ERR_SYSTEM;
    }
    return ret;
}

static void plot_free(struct plot *f, bool remove_xpl)
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

int scps_trace_plots_finish(struct scps_trace_plots *p, char msg[SCPS_TRACE_MSGLEN])
{
    int ret = msg ? conclude_all(p, msg) : 0;
    if (ret == 0)
        ret = (int)p->pictures;
    for (uint32_t i = 0; i < p->n; i++) {
        for (int d = 0; d < 2; d++)
            for (int k = 0; k < PLOT_KINDS; k++)
                plot_free(&p->d[i]->s[d].plot[k], msg && !(p->formats & SCPS_PLOT_XPLOT));
        free(p->d[i]);
    }
    free(p->d);
    free(p->slot);
    free(p->dir);
    free(p);
    return ret;
}
