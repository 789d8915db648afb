/* SPDX-License-Identifier: MIT */
/* Captures read by the analyser of scps_trace: see glue.h. */
#include "glue_priv.h"
#include "trace/fields.h"
#include "trace/why.h"
#include "trace/window.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The analyser reads pcap and pcapng itself. For older formats it asks libpcap, without which the
 * module is built. */
int scps_tr_read_libpcap(struct scps_trace *t, struct window *w, const char *path, char *msg)
{
    (void)t, (void)w;
    snprintf(msg, SCPS_TRACE_MSGLEN,
             "%s: neither pcap nor pcapng: convert it, with tcpdump -r FILE -w NEW.pcap", path);
    return SCPS_ERR_INVAL;
}

struct py_capture {
    struct scps_trace *t;
    struct py_kept segments, conns;
    bool keeps_segments;
    py_go_on_fn *go_on;
    void *ctx;
};

static uint32_t cause_number(const char *name)
{
    uint32_t c = 0;

    while (name != NULL && c + 1 < CAUSE_COUNT && strcmp(scps_tr_cause_name(c), name) != 0)
        c++;
    return c;
}

static void on_packet(void *ctx, const struct scps_trace_seen *s)
{
    struct py_segment *p = py_keep(&((struct py_capture *)ctx)->segments);

    if (p == NULL)
        return;
    *p = (struct py_segment){.at = s->pkt->at,
                             .rtt = s->rtt,
                             .packet = s->packet,
                             .off = s->off,
                             .ack_off = s->ack_off,
                             .win = s->win,
                             .owin = s->owin,
                             .snack_from = s->snack_from,
                             .snack_to = s->snack_to,
                             .conn = s->conn,
                             .seq = s->seq,
                             .ack = s->ack,
                             .len = s->len,
                             .flags = s->flags,
                             .proto = s->proto,
                             .direction = s->b2a,
                             .cause = (uint8_t)cause_number(s->cause),
                             .resent = s->rexmit,
                             .out_of_order = s->out_of_order,
                             .probe = s->probe,
                             .hardware_dup = s->hw_dup,
                             .keepalive = s->keepalive,
                             .spurious = s->spurious};
}

static void keep_conn(void *ctx, const struct scps_trace_conn *c)
{
    struct scps_trace_conn *to = py_keep(&((struct py_capture *)ctx)->conns);

    if (to != NULL)
        *to = *c;
}

static int on_progress(void *ctx, uint64_t done, uint64_t total)
{
    const struct py_capture *c = ctx;

    (void)done, (void)total;
    return !c->go_on(c->ctx);
}

struct py_capture *py_capture_new(int segments, py_go_on_fn *go_on, void *ctx)
{
    struct py_capture *c = calloc(1, sizeof(*c));
    struct scps_trace_config cfg = {.on_evict = keep_conn, .on_progress = on_progress, .ctx = c};

    if (c == NULL)
        return NULL;
    c->segments.size = sizeof(struct py_segment);
    c->conns.size = sizeof(struct scps_trace_conn);
    c->go_on = go_on;
    c->ctx = ctx;
    if (segments)
        cfg.on_packet = on_packet;
    c->t = scps_trace_new(&cfg);
    if (c->t != NULL)
        return c;
    free(c);
    return NULL;
}

void py_capture_free(struct py_capture *c)
{
    if (c == NULL)
        return;
    scps_trace_free(c->t);
    free(c->segments.v);
    free(c->conns.v);
    free(c);
}

int py_capture_truth(struct py_capture *c, const char *path, char *msg)
{
    const int64_t n = scps_trace_truth(c->t, path, msg);

    return n < 0 ? (int)n : 0;
}

int py_capture_read(struct py_capture *c, const char *path, char *msg)
{
    return scps_trace_read(c->t, path, msg);
}

static int by_number(const void *a, const void *b)
{
    const struct scps_trace_conn *x = a, *y = b;

    return (x->number > y->number) - (x->number < y->number);
}

int py_capture_end(struct py_capture *c)
{
    scps_trace_finish(c->t);
    for (uint32_t i = 0; i < scps_trace_conns(c->t); i++) {
        struct scps_trace_conn *to = py_keep(&c->conns);

        if (to != NULL)
            scps_trace_conn_info(c->t, i, to);
    }
    if (c->segments.lost || c->conns.lost)
        return SCPS_ERR_NOMEM;
    if (c->conns.n != 0)
        qsort(c->conns.v, c->conns.n, sizeof(struct scps_trace_conn), by_number);
    return 0;
}

const struct py_segment *py_capture_segments(const struct py_capture *c, size_t *n)
{
    *n = c->segments.n;
    return c->segments.v;
}

/* ---- totals ---- */

#define COUNT_NAME(name, words)  #name,
#define COUNT_PLACE(name, words) offsetof(struct scps_trace_totals, name),
static const char *const count_names[] = {SCPS_TRACE_COUNTS(COUNT_NAME)};
static const size_t count_places[] = {SCPS_TRACE_COUNTS(COUNT_PLACE)};

const char *py_capture_count_name(size_t i)
{
    return i < sizeof(count_names) / sizeof(*count_names) ? count_names[i] : NULL;
}

void py_capture_totals(const struct py_capture *c, int64_t *first, int64_t *last, uint64_t *counts)
{
    struct scps_trace_totals t;

    scps_trace_get_totals(c->t, &t);
    *first = t.first;
    *last = t.last;
    for (size_t i = 0; i < sizeof(count_places) / sizeof(*count_places); i++)
        memcpy(&counts[i], (const char *)&t + count_places[i], sizeof(*counts));
}

/* ---- connections ---- */

size_t py_capture_conns(const struct py_capture *c)
{
    return c->conns.n;
}

void py_capture_conn(const struct py_capture *c, size_t i, struct py_traced *out)
{
    const struct scps_trace_conn *x = (const struct scps_trace_conn *)c->conns.v + i;

    *out = (struct py_traced){.first = x->first,
                              .last = x->last,
                              .number = x->number,
                              .end = x->end,
                              .port_a = x->a.port,
                              .port_b = x->b.port,
                              .evicted = x->evicted,
                              .began_before = x->began_before};
    scps_addr_format(&x->a.addr, out->host_a);
    scps_addr_format(&x->b.addr, out->host_b);
    memcpy(out->scps_agreed, x->scps_agreed, sizeof(out->scps_agreed));
}

const char *py_traced_name(size_t figure, int *kind, const char **words, const char **unit)
{
    if (figure >= F_COUNT)
        return NULL;
    *kind = scps_tr_field[figure].kind;
    *words = scps_tr_field[figure].label;
    *unit = scps_tr_field[figure].unit;
    return scps_tr_field[figure].name;
}

static const struct scps_trace_dir *direction(const struct py_capture *c, size_t i)
{
    const struct scps_trace_conn *x = (const struct scps_trace_conn *)c->conns.v + i / 2;

    return i % 2 == 0 ? &x->a2b : &x->b2a;
}

void py_traced_counts(const struct py_capture *c, size_t figure, uint64_t *out)
{
    for (size_t i = 0; i < 2 * c->conns.n; i++)
        out[i] = scps_tr_count(direction(c, i), (enum field_id)figure);
}

void py_traced_numbers(const struct py_capture *c, size_t figure, double *out)
{
    for (size_t i = 0; i < 2 * c->conns.n; i++) {
        const struct scps_trace_dir *d = direction(c, i);
        uint64_t n;

        if (scps_tr_field[figure].kind == 'D') {
            out[i] = scps_tr_number(d, (enum field_id)figure);
            continue;
        }
        n = scps_tr_count(d, (enum field_id)figure);
        out[i] = n == SCPS_TRACE_NA ? NAN : (double)n;
    }
}

const char *py_traced_words(const struct py_capture *c, size_t figure, size_t i)
{
    return scps_tr_words(direction(c, i), (enum field_id)figure);
}

const char *py_cause(int cause)
{
    return cause < CAUSE_COUNT ? scps_tr_cause_name((enum cause)cause) : NULL;
}
