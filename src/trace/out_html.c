/* SPDX-License-Identifier: MIT */
/* Writes one self-contained HTML page with time-sequence and outstanding-data graphs, on which the
 * user chooses a connection and a direction, and zooms. It needs only plain JavaScript on two
 * canvases, no network and no library.
 *
 * A mark is one item of a graph, such as a segment, an acknowledgement or a SACK block; a track is
 * all marks of one direction of a connection. When there would be more than max_events marks, all
 * tracks are thinned to half, as often as necessary, and marks added later are thinned as much:
 * contiguous segments are merged into one slanted line, and after n thinnings one in 2^n of the
 * acknowledgements, window samples and round trips is kept. The last mark before a visible pause is
 * kept, too, and no line crosses the pause; otherwise acknowledgements would seem to stop where
 * only their marks are missing. Marks of other kinds (retransmissions, SACK blocks) are left out
 * only if this is not enough. The page says if marks were left out.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <scps/json.h>

#include "trace/flow.h"
#include "trace/page.h" /* generated from the files in page/: page_html, page_css, page_js */
#include "trace/track.h"
#include "trace/why.h"

#define DEFAULT_EVENTS 400000u
/* largest number of times that the marks of all graphs are thinned to half, to save memory */
#define LEVELS 15u

struct page_conn {
    uint32_t number;
    struct track d[2];
};

struct scps_trace_html {
    size_t max, total;
    /* number of times that all graphs were thinned to about half their marks (segments and other
     * items) because there were more than `max` */
    unsigned level;
    bool full;
    bool (*wanted)(void *ctx, uint32_t conn);
    void *ctx;
    struct page_conn **c;
    uint32_t n, cap;
    uint32_t *slot, nslot;
};

struct scps_trace_html *scps_trace_html_new(size_t max_events,
                                            bool (*wanted)(void *ctx, uint32_t conn), void *ctx)
{
    struct scps_trace_html *h = calloc(1, sizeof *h);
    if (!h)
        return NULL;
    h->max = max_events ? max_events : DEFAULT_EVENTS;
    h->wanted = wanted;
    h->ctx = ctx;
    return h;
}

static void halve(struct scps_trace_html *h)
{
    size_t before = h->total;
    if (h->level < LEVELS)
        h->level++;
    for (int round = 0; round < 2 && h->total > before - before / 4; round++) {
        h->total = 0;
        for (uint32_t i = 0; i < h->n; i++)
            for (int d = 0; d < 2; d++) {
                scps_tr_track_thin(&h->c[i]->d[d], h->level, round == 1);
                h->total += h->c[i]->d[d].n;
            }
    }
}

static void add_mark(struct scps_trace_html *h, struct track *d, enum mark_kind kind, scps_time t,
                     int64_t y0, int64_t y1, uint8_t cause)
{
    if (h->total + 2 > h->max)
        halve(h);
    /* Thinning all tracks to about half their marks (halve()) has not made room for two more, so
     * this mark, an item of a graph such as a segment, is left out of the page. */
    if (h->total + 2 > h->max) {
        h->full = true;
        return;
    }
    struct mark m = {.t = t, .kind = (uint8_t)kind, .cause = cause, .y0 = y0, .y1 = y1};
    const size_t before = d->n;
    if (scps_tr_track_add(d, &m, h->level))
        h->total += d->n - before;
    else
        h->full = true;
}

static struct page_conn *find_page_conn(struct scps_trace_html *h, uint32_t n)
{
    if (n >= h->nslot) {
        uint32_t cap = h->nslot ? h->nslot * 2 : 256;
        while (cap <= n)
            cap *= 2;
        uint32_t *v = realloc(h->slot, cap * sizeof *v);
        if (!v)
            return NULL;
        memset(v + h->nslot, 0, (cap - h->nslot) * sizeof *v);
        h->slot = v;
        h->nslot = cap;
    }
    if (h->slot[n] == UINT32_MAX)
        return NULL;
    if (h->slot[n])
        return h->c[h->slot[n] - 1];
    if ((h->wanted && !h->wanted(h->ctx, n)) || h->n >= h->max / 16) {
        h->slot[n] = UINT32_MAX;
        return NULL;
    }
    if (h->n == h->cap) {
        uint32_t cap = h->cap ? h->cap * 2 : 16;
        struct page_conn **v = realloc(h->c, cap * sizeof *v);
        if (!v)
            return NULL;
        h->c = v;
        h->cap = cap;
    }
    struct page_conn *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->number = n;
    h->c[h->n++] = c;
    h->slot[n] = h->n;
    return c;
}

static void sacks(struct scps_trace_html *h, struct track *d, const struct scps_trace_seen *s)
{
    for (uint32_t i = 0; s->opt && i < s->opt_len;) {
        uint8_t kind = s->opt[i];
        if (kind == 0)
            return;
        if (kind == 1) {
            i++;
            continue;
        }
        if (i + 2 > s->opt_len || s->opt[i + 1] < 2 || i + s->opt[i + 1] > s->opt_len)
            return;
        uint32_t n = s->opt[i + 1] - 2u;
        const uint8_t *b = s->opt + i + 2;
        if (kind == SCPS_OPT_SACK)
            for (; n >= 8; b += 8, n -= 8)
                add_mark(h, d, MARK_SACK, s->pkt->at,
                         (int64_t)s->ack_off + (int32_t)(scps_get32(b) - s->ack),
                         (int64_t)s->ack_off + (int32_t)(scps_get32(b + 4) - s->ack), 0);
        i += s->opt[i + 1];
    }
}

void scps_trace_html_see(struct scps_trace_html *h, const struct scps_trace_seen *s)
{
    struct page_conn *c = find_page_conn(h, s->conn);
    if (!c)
        return;
    struct track *d = &c->d[s->b2a], *o = &c->d[!s->b2a];
    scps_time t = s->pkt->at;
    int64_t y = (int64_t)s->off, e = y + s->len;
    uint8_t cause = 0;
    for (size_t i = CAUSE_NONE + 1; s->cause && i < CAUSE_COUNT; i++)
        if (!strcmp(s->cause, scps_tr_cause_name((enum cause)i)))
            cause = (uint8_t)i;
    if (s->len)
        add_mark(h, d,
                 s->rexmit         ? MARK_RESENT
                 : s->cause        ? MARK_REPAIR
                 : s->out_of_order ? MARK_OOO
                 : s->probe        ? MARK_PROBE
                                   : MARK_DATA,
                 t, y, e, cause);
    if (s->flags & (SCPS_SYN | SCPS_FIN))
        add_mark(h, d, MARK_SYNFIN, t, e, e + 1, s->rexmit);
    if (s->flags & SCPS_RST)
        add_mark(h, d, MARK_RST, t, y, y, 0);
    if ((s->flags & SCPS_ACK) && !(s->flags & SCPS_RST)) {
        add_mark(h, o, MARK_ACK, t, (int64_t)s->ack_off, (int64_t)(s->ack_off + s->win), 0);
        sacks(h, o, s);
        if (s->snack_to > s->snack_from)
            add_mark(h, o, MARK_SNACK, t, (int64_t)s->snack_from, (int64_t)s->snack_to, 0);
    }
    if (s->rtt >= 0)
        add_mark(h, o, MARK_RTT, t, s->rtt, 0, 0);
    if (s->len && !s->rexmit && !s->out_of_order)
        add_mark(h, d, MARK_OWIN, t, (int64_t)s->owin, (int64_t)o->rwin, 0);
    d->rwin = s->win;
}

/* ---- functions that write the HTML page ---- */

static void html_text(FILE *f, const char *s)
{
    for (; *s; s++)
        switch (*s) {
        case '<':
            fputs("&lt;", f);
            break;
        case '>':
            fputs("&gt;", f);
            break;
        case '&':
            fputs("&amp;", f);
            break;
        case '"':
            fputs("&quot;", f);
            break;
        default:
            fputc((unsigned char)*s < 0x20 ? '?' : *s, f);
        }
}

/* Writes the marks (items of the graphs) of one direction of a connection as one flat array of
 * integers in JavaScript. Each mark has six: its kind; the time since the previous mark (of the
 * first one: since t0), µs; dt, the duration of the segments merged into the mark, µs; the ordinate
 * y0 and the difference y1 - y0 (list MARKS has their units); and the cause of a retransmission. */
static void write_track(struct scps_json *j, const struct track *d, scps_time t0)
{
    scps_time t = t0;
    scps_json_open(j, NULL, '[');
    for (size_t i = 0; i < d->n; i++) {
        const struct mark *m = &d->m[i];
        scps_json_uint(j, NULL, m->kind);
        scps_json_int(j, NULL, m->t - t);
        scps_json_uint(j, NULL, m->dt);
        scps_json_int(j, NULL, m->y0);
        scps_json_int(j, NULL, m->y1 - m->y0);
        scps_json_uint(j, NULL, m->cause);
        t = m->t;
    }
    scps_json_close(j, ']');
}

/* Writes an array of n strings. */
static void words(struct scps_json *j, const char *const *word, size_t n)
{
    scps_json_open(j, NULL, '[');
    for (size_t i = 0; i < n; i++)
        scps_json_string(j, NULL, word[i]);
    scps_json_close(j, ']');
}

static void figure(struct scps_json *j, const char *name, double v, const char *unit)
{
    char text[64];

    if (v != v)
        return;
    snprintf(text, sizeof text, "%.10g %s", v, unit);
    words(j, (const char *const[]){name, text}, 2);
}

static void figures(struct scps_json *j, const struct scps_trace_dir *d)
{
    scps_json_open(j, NULL, '[');
    figure(j, "packets", (double)d->total_packets, "");
    figure(j, "data packets", (double)d->actual_data_pkts, "");
    figure(j, "unique bytes", (double)d->unique_bytes_sent, "bytes");
    figure(j, "sent again", (double)d->rexmt_data_pkts, "packets");
    figure(j, "sent again", (double)d->rexmt_data_bytes, "bytes");
    figure(j, "repairs of earlier losses", (double)d->repaired_unseen_pkts, "packets");
    figure(j, "asked for by SNACK", (double)d->resent_snack, "packets");
    figure(j, "asked for by SACK", (double)d->resent_sack, "packets");
    figure(j, "three duplicate ACKs", (double)d->resent_dupack, "packets");
    figure(j, "timeout", (double)d->resent_timeout, "packets");
    figure(j, "tail probe", (double)d->resent_tail_probe, "packets");
    figure(j, "within the first RTT", (double)d->resent_first_rtt, "packets");
    figure(j, "no reason seen", (double)d->resent_unexplained, "packets");
    figure(j, "spurious", (double)d->resent_spurious, "packets");
    figure(j, "throughput", d->throughput, "B/s");
    figure(j, "goodput", d->goodput, "B/s");
    figure(j, "RTT min", d->rtt_min, "ms");
    figure(j, "RTT average", d->rtt_avg, "ms");
    figure(j, "RTT 99 %", d->rtt_p99, "ms");
    figure(j, "outstanding max", (double)d->max_outstanding, "bytes");
    figure(j, "window limited", d->window_limited, "of the time");
    figure(j, "application limited", d->app_limited, "of the time");
    figure(j, "congestion limited", d->congestion_limited, "of the time");
    words(j, (const char *const[]){"controller hint", d->controller_hint}, 2);
    scps_json_close(j, ']');
}

static void free_all(struct scps_trace_html *h)
{
    for (uint32_t i = 0; i < h->n; i++) {
        free(h->c[i]->d[0].m);
        free(h->c[i]->d[1].m);
        free(h->c[i]);
    }
    free(h->c);
    free(h->slot);
    free(h);
}

/* Writes the kinds of marks (name, words and colour of each item that the graphs draw, such as
 * data, SACK or RTT) and the causes of retransmissions (words, letter), in the order of their
 * enumerations: the values of enum mark_kind and enum cause are indices for the page's script. */
static void write_names(struct scps_json *j)
{
    static const char *const kind[][3] = {
#define KIND(name, words, colour) {#name, words, colour},
        MARKS(KIND)
#undef KIND
    };
    static const char *const cause[][2] = {
#define SCPS_TR_CAUSE(id, name, letter, words) {words, letter},
#include "trace/causes.def"
#undef SCPS_TR_CAUSE
    };

    scps_json_open(j, "kinds", '[');
    for (size_t i = 0; i < MARK_KINDS; i++)
        words(j, kind[i], 3);
    scps_json_close(j, ']');
    scps_json_open(j, "causes", '[');
    for (size_t i = 0; i < CAUSE_COUNT; i++)
        words(j, (const char *const[]){cause[i][0], cause[i][1] ? cause[i][1] : ""}, 2);
    scps_json_close(j, ']');
}

static void write_conn(struct scps_json *j, const struct page_conn *p,
                       const struct scps_trace_conn *c)
{
    char a[SCPS_ADDR_STRLEN], b[SCPS_ADDR_STRLEN], name[2 * SCPS_ADDR_STRLEN + 64];

    snprintf(name, sizeof name, "%" PRIu32 ": %s port %u \xe2\x86\x92 %s port %u", c->number,
             scps_addr_format(&c->a.addr, a), c->a.port, scps_addr_format(&c->b.addr, b),
             c->b.port);
    scps_json_open(j, NULL, '{');
    scps_json_uint(j, "number", c->number);
    scps_json_string(j, "name", name);
    scps_json_uint(j, "heavy", c->b2a.actual_data_bytes > c->a2b.actual_data_bytes);
    scps_json_open(j, "figures", '[');
    figures(j, &c->a2b);
    figures(j, &c->b2a);
    scps_json_close(j, ']');
    scps_json_open(j, "d", '[');
    write_track(j, &p->d[0], c->first);
    write_track(j, &p->d[1], c->first);
    scps_json_close(j, ']');
    scps_json_close(j, '}');
}

static void write_data(FILE *f, const struct scps_trace_html *h, const struct scps_trace *t)
{
    char room[4096], note[128] = "";
    struct scps_json j = {.f = f, .room = room, .size = sizeof room};

    if (h->level || h->full)
        snprintf(note, sizeof note, "%s merged %u times to stay below %zu",
                 h->full ? "no room: incomplete; neighbouring marks" : "neighbouring marks",
                 h->level, h->max);
    scps_json_open(&j, NULL, '{');
    scps_json_string(&j, "note", note);
    write_names(&j);
    scps_json_open(&j, "conns", '[');
    for (uint32_t i = 0; i < scps_trace_conns(t); i++) {
        struct scps_trace_conn c;
        scps_trace_conn_info(t, i, &c);
        if (c.number < h->nslot && h->slot[c.number] && h->slot[c.number] != UINT32_MAX)
            write_conn(&j, h->c[h->slot[c.number] - 1], &c);
    }
    scps_json_close(&j, ']');
    scps_json_close(&j, '}');
}

/* Writes the HTML page: the template page_html with data, style and script in its placeholders. */
static void write_page(FILE *f, const struct scps_trace_html *h, const struct scps_trace *t,
                       const char *title)
{
    const char *p = page_html, *name;

    while ((name = strstr(p, "{{")) != NULL) {
        fwrite(p, 1, (size_t)(name - p), f);
        p = strstr(name, "}}") + 2;
        if (strncmp(name, "{{title}}", 9) == 0)
            html_text(f, title);
        else if (strncmp(name, "{{style}}", 9) == 0)
            fputs(page_css, f);
        else if (strncmp(name, "{{script}}", 10) == 0)
            fputs(page_js, f);
        else if (strncmp(name, "{{data}}", 8) == 0)
            write_data(f, h, t);
    }
    fputs(p, f);
}

int scps_trace_html_finish(struct scps_trace_html *h, const struct scps_trace *t, const char *path,
                           const char *title, char msg[SCPS_TRACE_MSGLEN])
{
    if (!t) {
        free_all(h);
        return 0;
    }
    FILE *f = fopen(path, "w");
    int ret = 0;
    if (!f) {
        snprintf(msg, SCPS_TRACE_MSGLEN, "%.180s: %s: write elsewhere", path, strerror(errno));
        free_all(h);
        return SCPS_ERR_SYSTEM;
    }
    write_page(f, h, t, title);
    errno = 0;
    bool failed = ferror(f);
    if (fclose(f) != 0 || failed) {
        snprintf(msg, SCPS_TRACE_MSGLEN, "%.180s: %s: make room or write elsewhere", path,
                 errno ? strerror(errno) : "output error");
        ret = SCPS_ERR_SYSTEM;
    }
    free_all(h);
    return ret;
}
