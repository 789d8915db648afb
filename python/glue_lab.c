/* SPDX-License-Identifier: MIT */
/* Scenarios of scps_lab and their runs: see glue.h. */
#include "common/cells.h"
#include "common/scenario_lines.h"
#include "glue_priv.h"
#include "scps_lab/job.h"

#include <scps/error.h>

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* The code of scps_lab does not return when memory runs out; here it comes back to the call. What
 * the call had allocated by then is lost. Meanwhile numbers are read and written as C does. */
struct guard {
    jmp_buf at;
    struct guard *outer; /* of a call that a callback of this one has made; NULL: none */
    locale_t before;
};

static _Thread_local struct guard *innermost;

void lab_no_memory(void)
{
    if (innermost == NULL)
        abort();
    longjmp(innermost->at, 1);
}

static void leave(const struct guard *g)
{
    innermost = g->outer;
    uselocale(g->before);
}

#define NO_MEMORY_RETURNS(value)                                                                   \
    struct guard g = {.outer = innermost, .before = py_c_numbers()};                               \
    if (setjmp(g.at) != 0) {                                                                       \
        leave(&g);                                                                                 \
        return value;                                                                              \
    }                                                                                              \
    innermost = &g

/* ---- a scenario ---- */

struct py_scenario {
    struct lab_reading reading;
    struct lab_scenario *sc; /* NULL: not read to its end */
    struct lab_cells cells;
    char *published; /* the folder of published values, for `reading` */
    char msg[LAB_MSGLEN];
};

static int begin(struct py_scenario *s, const char *path, const char *text, const char *published)
{
    NO_MEMORY_RETURNS(SCPS_ERR_NOMEM);
    lab_reading_begin(&s->reading, path, text, s->msg);
    s->published = lab_copy(published);
    s->reading.published_dir = s->published;
    leave(&g);
    return 0;
}

struct py_scenario *py_scenario_new(const char *path, const char *text, const char *published)
{
    struct py_scenario *s = calloc(1, sizeof(*s));

    if (s == NULL || begin(s, path, text, published) == 0)
        return s;
    free(s);
    return NULL;
}

void py_scenario_free(struct py_scenario *s)
{
    if (s == NULL)
        return;
    lab_cells_free(&s->cells);
    lab_scenario_free(s->sc != NULL ? s->sc : s->reading.s);
    free(s->published);
    free(s);
}

int py_scenario_line(struct py_scenario *s, int line, int continued, const char *section,
                     const char *key, const char *value)
{
    NO_MEMORY_RETURNS(SCPS_ERR_NOMEM);
    s->reading.line = line;
    s->reading.continued = continued != 0;
    const int taken = lab_reading_line(&s->reading, section, key, value);
    leave(&g);
    return taken ? 0 : SCPS_ERR_INVAL;
}

int py_scenario_section(struct py_scenario *s, int line, const char *section)
{
    NO_MEMORY_RETURNS(SCPS_ERR_NOMEM);
    s->reading.line = line;
    const int taken = lab_reading_section(&s->reading, section);
    leave(&g);
    return taken ? 0 : SCPS_ERR_INVAL;
}

void py_scenario_refuse(struct py_scenario *s, int line, const char *why)
{
    lab_reading_refuse(&s->reading, line, "%s", why);
}

int py_scenario_end(struct py_scenario *s, char *const *over, size_t n)
{
    NO_MEMORY_RETURNS(SCPS_ERR_NOMEM);
    s->sc = lab_reading_end(&s->reading, over, n);
    s->reading.s = NULL; /* it is s->sc, or freed */
    const bool ok = s->sc != NULL && lab_cells_make(s->sc, &s->cells, s->msg);
    leave(&g);
    return ok ? 0 : SCPS_ERR_INVAL;
}

const char *py_scenario_message(const struct py_scenario *s)
{
    return s->msg;
}

void py_scenario_facts(const struct py_scenario *s, struct py_scenario_facts *out)
{
    *out = (struct py_scenario_facts){.name = s->sc->name,
                                      .about = s->sc->about,
                                      .published = s->sc->published,
                                      .runs = s->sc->runs,
                                      .seed = s->sc->seed,
                                      .hash = s->sc->hash,
                                      .timeout = s->sc->timeout,
                                      .axes = s->sc->naxes,
                                      .cells = s->cells.n};
}

const char *py_scenario_axis(const struct py_scenario *s, size_t axis)
{
    return s->sc->axis[axis].key;
}

const char *py_scenario_value(const struct py_scenario *s, size_t axis, size_t i)
{
    return i < s->sc->axis[axis].n ? s->sc->axis[axis].value[i] : NULL;
}

uint64_t py_cell_number(const struct py_scenario *s, size_t cell)
{
    return s->cells.v[cell].number;
}

const char *py_cell_id(const struct py_scenario *s, size_t cell)
{
    return s->cells.v[cell].id;
}

const char *py_cell_value(const struct py_scenario *s, size_t cell, size_t axis)
{
    return s->cells.v[cell].value[axis];
}

const char *py_cell_link(const struct py_scenario *s, size_t cell, size_t link, const char **spec)
{
    const struct lab_setup *setup = s->cells.v[cell].setup;

    if (link >= setup->nlinks)
        return NULL;
    *spec = setup->link[link].spec;
    return setup->link[link].name;
}

/* ---- a run of a cell ---- */

#define HOSTS 64 /* whose names are kept; notes of further ones have the number HOSTS */

struct py_job {
    struct lab_watch w;
    struct lab_result r;
    struct py_kept notes, packets[2], all, samples;
    char host[HOSTS][LAB_NAME];
    uint32_t hosts;
    py_go_on_fn *go_on;
    void *ctx;
};

static void keep_note(void *ctx, const char *host, const struct scps_note *n)
{
    struct py_job *j = ctx;
    struct py_listener l = {&j->notes, 0};

    while (l.host < j->hosts && strcmp(j->host[l.host], host) != 0)
        l.host++;
    if (l.host == j->hosts && j->hosts < HOSTS)
        snprintf(j->host[j->hosts++], LAB_NAME, "%s", host);
    py_on_note(&l, n);
}

static void keep_verdict(void *ctx, int dir, const struct scps_verdict *v)
{
    py_keep_packet(&((struct py_job *)ctx)->packets[dir], (uint32_t)dir, v);
}

static void keep_sample(void *ctx, scps_time now, const struct lab_outcome *o, uint64_t received,
                        const struct scps_info *i)
{
    struct py_job *j = ctx;
    struct py_sample *s = py_keep(&j->samples);

    if (s == NULL)
        return;
    *s = (struct py_sample){.at = now,
                            .flow = (uint32_t)(o - j->r.flow),
                            .acked = i->bytes_acked,
                            .received = received,
                            .cwnd = i->cwnd == SCPS_CWND_OPEN ? 0 : i->cwnd,
                            .inflight = i->inflight,
                            .rate_bps = i->rate * 8,
                            .srtt = i->srtt,
                            .resent = i->bytes_resent};
}

static bool go_on(void *ctx)
{
    const struct py_job *j = ctx;

    return j->go_on(j->ctx) != 0;
}

struct py_job *py_job_new(void)
{
    struct py_job *j = calloc(1, sizeof(*j));

    if (j == NULL)
        return NULL;
    j->notes.size = sizeof(struct py_note);
    j->all.size = j->packets[0].size = j->packets[1].size = sizeof(struct py_packet);
    j->samples.size = sizeof(struct py_sample);
    return j;
}

void py_job_free(struct py_job *j)
{
    if (j == NULL)
        return;
    lab_result_free(&j->r);
    free(j->notes.v);
    free(j->packets[0].v);
    free(j->packets[1].v);
    free(j->all.v);
    free(j->samples.v);
    free(j);
}

/* 0, or an error with its reason in the watch. */
static int run(struct py_job *j, const struct py_scenario *s, size_t cell, unsigned number)
{
    NO_MEMORY_RETURNS(SCPS_ERR_NOMEM);
    const struct lab_cell *c = &s->cells.v[cell];
    const bool ok = lab_job(c->setup, lab_cell_seed(&s->cells, c, number), &j->w, &j->r);
    leave(&g);
    return ok ? 0 : SCPS_ERR_INVAL;
}

int py_job_run(struct py_job *j, const struct py_scenario *s, size_t cell, unsigned number,
               const struct py_job_wishes *want, py_go_on_fn *fn, void *ctx, char *msg,
               size_t msglen)
{
    int err;

    j->w = (struct lab_watch){.pcap = want->pcap,
                              .qlog = want->qlog,
                              .ctx = j,
                              .note_mask = want->note_mask,
                              .every = want->every,
                              .go_on = go_on};
    j->w.on_note = want->note_mask != 0 ? keep_note : NULL;
    j->w.on_verdict = want->packets ? keep_verdict : NULL;
    j->w.on_sample = want->every > 0 ? keep_sample : NULL;
    j->go_on = fn;
    j->ctx = ctx;
    snprintf(j->w.msg, sizeof(j->w.msg), "%s", scps_strerror(SCPS_ERR_NOMEM));
    err = run(j, s, cell, number);
    if (err == 0 && !py_merge_packets(j->packets, &j->all))
        err = SCPS_ERR_NOMEM;
    if (err == 0 && (j->notes.lost || j->samples.lost))
        err = SCPS_ERR_NOMEM;
    if (err != 0)
        snprintf(msg, msglen, "%s", j->w.msg);
    return err;
}

size_t py_job_flows(const struct py_job *j)
{
    return j->r.n;
}

void py_job_row(const struct py_job *j, size_t flow, struct py_row *out)
{
    const struct lab_outcome *o = &j->r.flow[flow];
    const struct scps_link_stats *l = &j->r.link[o->flow->link][o->flow->back];
    const uint64_t queue = l->dropped_queue + l->dropped_codel;

    *out = (struct py_row){.flow = o->name,
                           .status = o->status,
                           .start = o->start,
                           .took = o->end - o->start,
                           .mbps = lab_goodput(o),
                           .bytes = o->bytes,
                           .missing = o->missing,
                           .records = o->records,
                           .torn = o->torn,
                           .segments = o->info.data_segs_out,
                           .resent = o->info.resent_segs,
                           .timeouts = o->info.timeouts,
                           .episodes = o->info.recoveries,
                           .errors = lab_dropped(l) - queue,
                           .queue_drops = queue};
}

void py_job_figures(const struct py_job *j, size_t flow, int64_t *out)
{
    py_figures_of(&j->r.flow[flow].info, out);
}

const char *py_job_host(const struct py_job *j, uint32_t i)
{
    return i < j->hosts ? j->host[i] : NULL;
}

const struct py_note *py_job_notes(const struct py_job *j, size_t *n)
{
    *n = j->notes.n;
    return j->notes.v;
}

const struct py_packet *py_job_packets(const struct py_job *j, size_t *n)
{
    *n = j->all.n;
    return j->all.v;
}

const struct py_sample *py_job_samples(const struct py_job *j, size_t *n)
{
    *n = j->samples.n;
    return j->samples.v;
}
